/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private average (thesis 001, section 4.1, algorithm 4.1; docs/protocols/gopa.md): agents hold
 * vectors x_u, and everybody learns their mean or sum with the noise of one release.
 *
 *     word_u = x_u + sum over partners v of Delta_uv + eta_u    (4.1)
 *
 * Partners are drawn while running (a k-out graph). `masks: gaussian` has Delta_uv ~ N(0, sigma^2)
 * as printed, with sigma from the exact law of what an adversary sees (gopa.h); `masks: uniform`
 * has Delta_uv uniform modulo 2^64, which hides words altogether. eta_u are shares of discrete
 * noise such that the honest members who stay make up the whole. Whose word is missing is rolled
 * back by its partners. All of that is src/protocol/totals*.c; here is what goes in and what comes
 * out.
 *
 * Deviations from the thesis: words are covered by an own seed until all agree on who is in (a
 * board that hides a word would else learn it by rolling its author back); noise is discrete and
 * values are clipped to their range on a grid; vectors as well as numbers.
 */
#include <math.h>

#include "protocol/gopa_inside.h"

enum { BESIDE_MEMBERS, BESIDE_RECORDS, BESIDE };

static tacit_totals *totals_of(const gopa_agent *self)
{
    return (tacit_totals *)(uintptr_t)(self + 1);
}

/* ---- giving ---- */

static uint32_t parts_of(const gopa_shared *s, uint32_t parts)
{
    const double fewer = floor((double)parts / (1 + s->slack));
    return fewer >= 1 ? (uint32_t)fewer : 1;
}

static tacit_status hold(tacit_env *env, const void *shared, void *state, uint32_t parts,
                         tacit_secret **out, int64_t *beside)
{
    const gopa_shared *s = shared;
    gopa_agent *self = state;
    const tacit_facts *facts = tacit_facts_of(env);
    tacit_permit *permit;
    tacit_bounded *bounded;
    if (facts->records == 0)
        return TACIT_NO;
    tacit_status status =
        s->by_record ? totals_check_records(env, s->options.most_records) : TACIT_OK;
    if (status == TACIT_OK)
        status = tacit_reserve(env, &s->cost, &permit);
    if (status == TACIT_EBUDGET && s->cost.mechanism != TACIT_MECHANISM_NONE) {
        self->poor = true;
        return TACIT_NO;
    }
    const tacit_rows_way how = {.centre = s->centre, .clip = s->clip, .shape = &s->plan.number};
    if (status == TACIT_OK)
        status = tacit_model_rows(tacit_own_model(env), permit, tacit_own_data(env, TACIT_TRAIN),
                                  &how, tacit_own_scratch(env), &bounded, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_conceal(env, permit, bounded, parts_of(s, parts), out);
    beside[BESIDE_MEMBERS] = 1;
    beside[BESIDE_RECORDS] = s->by_record ? (int64_t)facts->records : 1;
    self->given += status == TACIT_OK;
    return status;
}

/* ---- hearing ---- */

/* Numbers are (x - centre) / step, summed. */
static tacit_status learn(tacit_env *env, const gopa_shared *s, gopa_agent *self,
                          const tacit_event *event)
{
    const double count = (double)tacit_public_get_int(event->beside, 0, BESIDE_RECORDS);
    tacit_public *next = tacit_new_public(env, s->model);
    if (!next)
        return tacit_out_of_memory(tacit_own_error(env));
    for (size_t k = 0; k < s->features; k++) {
        const double sum = (double)tacit_public_get_int(event->payload, 0, k) * s->plan.step;
        const double mean = count > 0 ? s->centre[k] + sum / count : 0;
        tacit_public_set(next, 0, k, s->options.what == GOPA_SUM ? mean * count : mean);
    }
    tacit_drop(env, self->mean);
    self->mean = next;
    self->members = tacit_totals_members(totals_of(self));
    self->records = (uint64_t)count;
    self->heard = event->id;
    tacit_metric(env, "members", (double)self->members);
    return TACIT_OK;
}

static tacit_status over(tacit_env *env, const void *shared, void *state, const tacit_event *event,
                         tacit_totals_outcome outcome);
static const tacit_totals_user user = {.hold = hold, .on = over};

static tacit_status over(tacit_env *env, const void *shared, void *state, const tacit_event *event,
                         tacit_totals_outcome outcome)
{
    const gopa_shared *s = shared;
    gopa_agent *self = state;
    self->outcome = (uint8_t)outcome;
    self->rounds = event->id;
    tacit_status status = outcome == TACIT_TOTAL_HEARD ? learn(env, s, self, event) : TACIT_OK;
    if (status != TACIT_OK || event->id >= (uint64_t)s->options.rounds)
        return status;
    return tacit_totals_next(env, &s->plan, totals_of(self), event->id + 1, &user, s, self);
}

tacit_status gopa_on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    const gopa_shared *s = shared;
    gopa_agent *self = state;
    switch (event->type) {
    case TACIT_START: {
        memcpy(self->run, tacit_facts_of(env)->run, sizeof self->run);
        tacit_status status = tacit_totals_start(env, &s->plan, totals_of(self));
        return status == TACIT_OK
                   ? tacit_totals_next(env, &s->plan, totals_of(self), 1, &user, s, self)
                   : status;
    }
    case TACIT_MESSAGE:
    case TACIT_TIMER:
        return tacit_totals_feed(env, &s->plan, totals_of(self), event, &user, s, self);
    case TACIT_FINISH:
        tacit_totals_forget(&s->plan, totals_of(self));
        return TACIT_OK;
    default:
        return TACIT_OK;
    }
}

/* ---- state ---- */

const tacit_shape *gopa_payload(const void *shared, tacit_address at)
{
    const gopa_shared *s = shared;
    tacit_address inner;
    return tacit_address_child(at, &inner) == s->plan.child ? tacit_totals_payload(&s->plan, inner)
                                                            : NULL;
}

size_t gopa_agent_size(const void *shared, uint32_t neighbours)
{
    (void)neighbours;
    return sizeof(gopa_agent) + tacit_totals_size(&((const gopa_shared *)shared)->plan);
}

void gopa_save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    (void)neighbours;
    const gopa_shared *s = shared;
    const gopa_agent *self = state;
    tacit_save_bytes(saver, self->run, sizeof self->run);
    tacit_save_u64(saver, self->heard);
    tacit_save_u64(saver, self->rounds);
    tacit_save_u64(saver, self->members);
    tacit_save_u64(saver, self->records);
    tacit_save_u64(saver, self->given);
    tacit_save_u64(saver, self->poor);
    tacit_save_u64(saver, self->outcome);
    tacit_save_public(saver, self->mean);
    tacit_totals_save(&s->plan, totals_of(self), saver);
}

void gopa_load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    (void)neighbours;
    const gopa_shared *s = shared;
    gopa_agent *self = state;
    tacit_load_bytes(loader, self->run, sizeof self->run);
    self->heard = tacit_load_u64(loader);
    self->rounds = tacit_load_u64(loader);
    self->members = tacit_load_u64(loader);
    self->records = tacit_load_u64(loader);
    self->given = tacit_load_u64(loader);
    self->poor = tacit_load_u64(loader) != 0;
    self->outcome = (uint8_t)tacit_load_u64(loader);
    self->mean = tacit_load_public(loader, s->model);
    tacit_totals_load(&s->plan, totals_of(self), loader);
}

void gopa_end(tacit_env *env, const void *shared, void *state)
{
    gopa_agent *self = state;
    tacit_drop(env, self->mean);
    tacit_totals_end(env, &((const gopa_shared *)shared)->plan, totals_of(self));
}

const tacit_secret *gopa_model(const void *shared, const void *state)
{
    (void)shared;
    const gopa_agent *self = state;
    return self->mean ? tacit_public_as_secret(self->mean) : NULL;
}

bool gopa_done(const void *shared, const void *state)
{
    const gopa_shared *s = shared;
    return ((const gopa_agent *)state)->rounds >= (uint64_t)s->options.rounds;
}

tacit_status gopa_board(const void *shared, const void *state, tacit_board *out)
{
    const gopa_shared *s = shared;
    const gopa_agent *self = state;
    return tacit_totals_board(&s->plan, totals_of(self), self->run, out);
}
