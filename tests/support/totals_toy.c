/* SPDX-License-Identifier: Apache-2.0 */
#include "totals_toy.h"

#include <string.h>

#include "base/vector_internal.h"

typedef struct toy_shared {
    totals_toy_options options;
} toy_shared;

#define MOST 0x1p40

int64_t totals_toy_number(uint64_t agent, uint64_t round, size_t k)
{
    uint64_t x = (agent + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ round * UINT64_C(0xbf58476d1ce4e5b9) ^
                 (k + 1) * UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 31;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 29;
    return (int64_t)(x >> 24) - (INT64_C(1) << 39);
}

static tacit_status setup(void *shared, const void *options, const tacit_setup *world,
                          tacit_error *err)
{
    toy_shared *s = shared;
    s->options = *(const totals_toy_options *)options;
    s->options.plan.agents = world->agents;
    s->options.plan.beside = (size_t)world->agents;
    s->options.plan.step = 1;
    s->options.plan.most = MOST;
    s->options.plan.beside_most = 1;
    return tacit_totals_prepare(&s->options.plan, err);
}

static void teardown(void *shared)
{
    tacit_totals_clear(&((toy_shared *)shared)->options.plan);
}

static const tacit_shape *payload(const void *shared, tacit_address at)
{
    const toy_shared *s = shared;
    tacit_address inner;
    return tacit_address_child(at, &inner) == s->options.plan.child
               ? tacit_totals_payload(&s->options.plan, inner)
               : NULL;
}

static tacit_totals *totals_of(const totals_toy_agent *self)
{
    return (tacit_totals *)(uintptr_t)(self + 1);
}

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    (void)neighbours;
    return sizeof(totals_toy_agent) +
           tacit_totals_size(&((const toy_shared *)shared)->options.plan);
}

static tacit_status hold(tacit_env *env, const void *shared, void *state, uint32_t parts,
                         tacit_secret **out, int64_t *beside)
{
    const toy_shared *s = shared;
    totals_toy_agent *self = state;
    const tacit_agent agent = tacit_facts_of(env)->self;
    self->wrong += parts == 0;
    if (agent == s->options.silent)
        return TACIT_NO;
    self->holds++;
    tacit_secret *number = tacit_new_secret(env, &s->options.plan.number);
    if (!number)
        return tacit_out_of_memory(tacit_own_error(env));
    int64_t *x = tacit_vector_segment(tacit_vector_of_secret(number), 0);
    for (size_t k = 0; k < s->options.plan.numbers; k++) {
        x[k] = totals_toy_number(agent, tacit_totals_round(totals_of(self)), k);
        if (agent == s->options.liar)
            x[k] = (int64_t)((uint64_t)x[k] * UINT64_C(0x9e3779b97f4a7c15));
    }
    beside[agent] = 1;
    *out = number;
    return TACIT_OK;
}

static bool is_wrong(tacit_env *env, const toy_shared *s, totals_toy_agent *self,
                     const tacit_event *event)
{
    uint64_t members = 0;
    bool wrong = false;
    for (uint64_t u = 0; u < s->options.plan.agents; u++) {
        const int64_t in = tacit_public_get_int(event->beside, 0, u);
        wrong |= in != 0 && in != 1;
        members += in == 1;
    }
    for (size_t k = 0; k < s->options.plan.numbers; k++) {
        uint64_t plain = 0;
        for (uint64_t u = 0; u < s->options.plan.agents; u++)
            if (tacit_public_get_int(event->beside, 0, u) == 1)
                plain += (uint64_t)totals_toy_number(u, event->id, k);
        wrong |= plain != (uint64_t)tacit_public_get_int(event->payload, 0, k);
    }
    self->members += members;
    self->least = self->heard == 1 || members < self->least ? members : self->least;
    self->in += tacit_public_get_int(event->beside, 0, tacit_facts_of(env)->self) == 1;
    return wrong || members != tacit_totals_members(totals_of(self));
}

static tacit_status over(tacit_env *env, const void *shared, void *state, const tacit_event *event,
                         tacit_totals_outcome outcome);
static const tacit_totals_user user = {.hold = hold, .on = over};

static tacit_status over(tacit_env *env, const void *shared, void *state, const tacit_event *event,
                         tacit_totals_outcome outcome)
{
    const toy_shared *s = shared;
    totals_toy_agent *self = state;
    self->wrong += event->id <= self->last;
    self->events++;
    self->last = event->id;
    self->heard += outcome == TACIT_TOTAL_HEARD;
    self->refused += outcome == TACIT_TOTAL_REFUSED;
    self->lost += outcome == TACIT_TOTAL_LOST;
    self->spoiled += outcome == TACIT_TOTAL_SPOILED;
    self->wrong += (outcome == TACIT_TOTAL_HEARD) != (event->payload != NULL);
    if (event->payload)
        self->wrong += is_wrong(env, s, self, event);
    self->expelled = tacit_totals_expelled(&s->options.plan, totals_of(self));
    if (event->id >= s->options.rounds)
        return TACIT_OK;
    return tacit_totals_next(env, &s->options.plan, totals_of(self), event->id + 1, &user, s, self);
}

/* What a runtime remembers of a payload is what the payload is. */
static tacit_status check_gists(tacit_env *env, const tacit_event *event)
{
    const uint32_t segments = event->payload ? tacit_public_shape(event->payload)->segments : 0;
    for (uint32_t k = 0; k < segments; k++) {
        tacit_gist told, right;
        tacit_gist_of(env, &told, event->payload, k);
        tacit_public_gist(&right, event->payload, k);
        if (told.ones != right.ones || memcmp(told.hash, right.hash, sizeof right.hash) != 0)
            return tacit_fail(tacit_own_error(env), TACIT_EINTERNAL, "a gist is of another vector");
    }
    return TACIT_OK;
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    const toy_shared *s = shared;
    totals_toy_agent *self = state;
    if (check_gists(env, event) != TACIT_OK)
        return TACIT_EINTERNAL;
    self->totals = totals_of(self);
    if (event->type != TACIT_START)
        return tacit_totals_feed(env, &s->options.plan, totals_of(self), event, &user, s, self);
    tacit_status status = tacit_totals_start(env, &s->options.plan, totals_of(self));
    return status == TACIT_OK
               ? tacit_totals_next(env, &s->options.plan, totals_of(self), 1, &user, s, self)
               : status;
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    const toy_shared *s = shared;
    (void)neighbours;
    tacit_save_bytes(saver, state, offsetof(totals_toy_agent, totals));
    tacit_totals_save(&s->options.plan, totals_of(state), saver);
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    const toy_shared *s = shared;
    (void)neighbours;
    tacit_load_bytes(loader, state, offsetof(totals_toy_agent, totals));
    tacit_totals_load(&s->options.plan, totals_of(state), loader);
}

static void end(tacit_env *env, const void *shared, void *state)
{
    tacit_totals_end(env, &((const toy_shared *)shared)->options.plan, totals_of(state));
}

const tacit_protocol totals_toy = {
    .name = "totals-toy",
    .summary = "sums over all agents of known numbers",
    .wire_id = 1003,
    .trust = TACIT_TRUST_LOCAL,
    .flags = TACIT_CHATTY,
    .options = {.name = "protocol"},
    .shared_size = sizeof(toy_shared),
    .setup = setup,
    .teardown = teardown,
    .payload = payload,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
};
