/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over all agents: the doors, and when a try begins and a round is over (totals.h says what
 * happens in a try, docs/totals.md why that is enough).
 *
 * A round is tried until it gives a sum, or until `tries` are over. Nobody waits for ever: adders
 * and speakers lose patience with whom they wait for, members with both. What an agent missed it
 * hears from the adder it turns to next.
 */
#include "protocol/totals_inside.h"

/* ---- room ---- */

totals_row *totals_rows(const tacit_totals_plan *plan, const tacit_totals *s)
{
    return (totals_row *)(uintptr_t)&s->partner[plan->room];
}

uint64_t *totals_later(const tacit_totals_plan *plan, const tacit_totals *s)
{
    return (uint64_t *)&totals_rows(plan, s)[plan->span];
}

uint8_t *totals_heard(const tacit_totals_plan *plan, const tacit_totals *s)
{
    return (uint8_t *)&totals_later(plan, s)[totals_later_words(plan)];
}

size_t tacit_totals_size(const tacit_totals_plan *plan)
{
    const size_t bytes = sizeof(tacit_totals) + plan->room * sizeof(totals_partner) +
                         plan->span * sizeof(totals_row) + 8 * totals_later_words(plan) +
                         plan->blocks;
    return (bytes + 15) / 16 * 16;
}

/* ---- speaking ---- */

void totals_put(tacit_public *v, uint32_t segment, size_t at, const uint8_t *bytes, size_t len)
{
    for (size_t k = 0; k < len / 8; k++) {
        uint64_t word = 0;
        for (size_t b = 0; b < 8; b++)
            word |= (uint64_t)bytes[8 * k + b] << 8 * b;
        tacit_public_set_int(v, segment, at + k, (int64_t)word);
    }
}

void totals_get(const tacit_public *v, uint32_t segment, size_t at, uint8_t *bytes, size_t len)
{
    for (size_t k = 0; k < len / 8; k++) {
        const uint64_t word = (uint64_t)tacit_public_get_int(v, segment, at + k);
        for (size_t b = 0; b < 8; b++)
            bytes[8 * k + b] = (uint8_t)(word >> 8 * b);
    }
}

tacit_public *totals_new(totals_at *a, uint32_t kind, tacit_status *status)
{
    tacit_public *v = tacit_new_public(&a->env, &a->plan->kind[kind]);
    *status = v ? TACIT_OK : tacit_out_of_memory(tacit_own_error(&a->env));
    return v;
}

static tacit_status take_in(totals_at *a, tacit_agent from, uint32_t kind, const tacit_public *v);

tacit_status totals_tell(totals_at *a, tacit_agent to, uint32_t kind, const tacit_public *payload)
{
    if (to == tacit_facts_of(&a->env)->self)
        return take_in(a, to, kind, payload);
    return tacit_send(&a->env, to, kind, payload);
}

tacit_status totals_send(totals_at *a, tacit_agent to, uint32_t kind, tacit_public *payload)
{
    const tacit_status status = totals_tell(a, to, kind, payload);
    tacit_drop(&a->env, payload);
    return status;
}

/* ---- timers: (try, step, whose) ---- */

tacit_status totals_timer(totals_at *a, totals_clock clock, uint64_t trial, uint32_t step,
                          double delay)
{
    return tacit_timer(&a->env, delay, trial << 20 | (uint64_t)(step & 0xffff) << 4 | clock);
}

tacit_status totals_watch(totals_at *a, double delay)
{
    totals_member *m = &a->s->member;
    return totals_timer(a, TOTALS_CLOCK_MEMBER, m->trial, ++m->mark, delay);
}

static tacit_status on_timer(totals_at *a, uint64_t id)
{
    tacit_totals *s = a->s;
    const uint64_t trial = id >> 20;
    const uint32_t step = (uint32_t)(id >> 4 & 0xffff);
    switch ((totals_clock)(id & 15)) {
    case TOTALS_CLOCK_MEMBER:
        return trial == s->member.trial && step == (s->member.mark & 0xffff) &&
                       s->phase > TOTALS_EDGES
                   ? totals_fail_try(a, TOTALS_FAILED)
                   : TACIT_OK;
    case TOTALS_CLOCK_JITTER:
        return trial == s->member.trial ? totals_speak(a) : TACIT_OK;
    case TOTALS_CLOCK_ADDER:
        return trial == s->adder.trial &&
                       (step == s->adder.step || (s->adder.waits && step == s->adder.step + 1))
                   ? totals_adder_late(a)
                   : TACIT_OK;
    case TOTALS_CLOCK_SPEAKER:
        return trial == s->speaker.trial && step == s->speaker.step ? totals_speaker_late(a)
                                                                    : TACIT_OK;
    case TOTALS_CLOCK_AGAIN:
        return s->phase == TOTALS_EDGES && trial == TOTALS_TRY(s->round, s->attempt)
                   ? totals_begin_try(a)
                   : TACIT_OK;
    case TOTALS_CLOCK_HELLO:
        return totals_on_hello_late(a);
    }
    return TACIT_OK;
}

/* ---- rounds ---- */

static tacit_status wait_before(totals_at *a, double patience)
{
    a->s->phase = TOTALS_EDGES;
    return totals_timer(a, TOTALS_CLOCK_AGAIN, TOTALS_TRY(a->s->round, a->s->attempt), 0,
                        patience * a->plan->patience);
}

static tacit_status begin(totals_at *a)
{
    tacit_totals *s = a->s;
    s->round = s->next;
    s->next = 0;
    s->attempt = 0;
    s->over = s->ready = s->spent = false;
    totals_drop_number(a);
    s->search.blamed[0] = s->search.blamed[1] = 0;
    s->outcome = TOTALS_GOES_ON;
    const tacit_status status = totals_adder_recount(a);
    if (status != TACIT_OK)
        return status;
    /* Edges may be there before the first round is; else the last of them ends the waiting as soon
     * (totals_edges.c): so all begin about when the last of them is ready. */
    return s->tries > 0 ? totals_begin_try(a) : wait_before(a, totals_edges_ready(a) ? 0.5 : 2);
}

/* `what` TOTALS_DONE: there was a sum, and it was nonsense. */
tacit_status totals_fail_try(totals_at *a, totals_what what)
{
    tacit_totals *s = a->s;
    s->outcome = (uint8_t)what;
    s->missed |= what == TOTALS_FAILED;
    if (++s->attempt >= a->plan->tries) {
        s->over = true;
        s->phase = TOTALS_ASIDE;
        return TACIT_OK;
    }
    if (what == TOTALS_TOO_FEW)
        return wait_before(a, 2);
    const tacit_status status = what == TOTALS_FAILED ? totals_greet_again(a) : TACIT_OK;
    return status == TACIT_OK ? totals_begin_try(a) : status;
}

static tacit_totals_outcome outcome_of(const tacit_totals *s)
{
    if (s->ready)
        return TACIT_TOTAL_HEARD;
    return s->outcome == TOTALS_TOO_FEW && !s->spent ? TACIT_TOTAL_REFUSED
           : s->outcome == TOTALS_DONE               ? TACIT_TOTAL_SPOILED
                                                     : TACIT_TOTAL_LOST;
}

/* What users see are two vectors of their own shapes; the result has both in one. */
static tacit_status finish(totals_at *a)
{
    tacit_totals *s = a->s;
    tacit_public *sum = NULL, *beside = NULL;
    const tacit_totals_outcome outcome = outcome_of(s);
    if (outcome == TACIT_TOTAL_HEARD) {
        sum = tacit_new_public(&a->env, &a->plan->number);
        beside = a->plan->beside ? tacit_new_public(&a->env, &a->plan->open) : NULL;
        if (!sum || (a->plan->beside && !beside)) {
            tacit_drop(&a->env, sum);
            return tacit_out_of_memory(tacit_own_error(&a->env));
        }
        tacit_public_copy_segment(sum, 0, s->result, 1);
        if (beside)
            tacit_public_copy_segment(beside, 0, s->result, 2);
    }
    s->phase = TOTALS_IDLE;
    s->over = s->ready = false;
    totals_drop_number(a);
    const tacit_event over = {.type = TACIT_ROUND,
                              .at = {a->outer->channel, 0},
                              .from = TACIT_NOBODY,
                              .slot = TACIT_NO_SLOT,
                              .id = s->round,
                              .payload = sum,
                              .beside = beside};
    const tacit_status status = a->user->on(a->outer, a->shared, a->self, &over, outcome);
    tacit_drop(&a->env, sum);
    tacit_drop(&a->env, beside);
    return status;
}

tacit_status totals_settle(totals_at *a)
{
    tacit_totals *s = a->s;
    tacit_status status = TACIT_OK;
    s->busy = true;
    while (status == TACIT_OK && (s->next || s->over || s->ready))
        status = s->next ? begin(a) : finish(a);
    s->busy = false;
    return status;
}

/* ---- the doors ---- */

static tacit_status on_set(totals_at *a, tacit_agent from, const tacit_public *v)
{
    const totals_roles roles =
        totals_roles_of(a->plan, tacit_facts_of(&a->env)->run, totals_head(v, 0));
    tacit_status status = TACIT_OK;
    if (from == totals_agent_at(&roles, 0))
        status = totals_is_deputy(a, totals_head(v, 0)) ? totals_deputy_set(a, v)
                                                        : totals_adder_set(a, v);
    else if (from == totals_deputy_of(a->plan, &roles))
        status = totals_speaker_echo(a, v);
    return status == TACIT_OK ? totals_on_set(a, from, v) : status;
}

static tacit_status take_in(totals_at *a, tacit_agent from, uint32_t kind, const tacit_public *v)
{
    switch (kind) {
    case TOTALS_HELLO:
        return totals_on_hello(a, from, v);
    case TOTALS_HERE:
        return totals_on_here(a, from, v);
    case TOTALS_WORD:
        return totals_on_word(a, from, v);
    case TOTALS_PAID:
        return totals_on_paid(a, from, v);
    case TOTALS_SEED:
        return totals_on_seed(a, from, v);
    case TOTALS_LIST:
        return totals_on_list(a, from, v);
    case TOTALS_SET:
        return on_set(a, from, v);
    case TOTALS_CONFIRM:
        return totals_on_confirm(a, from, v);
    case TOTALS_ASK:
        return totals_on_ask(a, from, v);
    case TOTALS_PAD:
        return totals_on_pad(a, from, v);
    case TOTALS_PART:
        return totals_on_part(a, from, v);
    case TOTALS_RESULT:
        return totals_on_result(a, from, v);
    case TOTALS_BOARD:
        return totals_on_board(a, from, v);
    default:
        return TACIT_OK;
    }
}

static totals_at at_of(tacit_env *env, const tacit_totals_plan *plan, tacit_totals *s,
                       const tacit_totals_user *user, const void *shared, void *self)
{
    return (totals_at){.outer = env,
                       .env = tacit_nest(env, plan->child),
                       .plan = plan,
                       .s = s,
                       .user = user,
                       .shared = shared,
                       .self = self};
}

tacit_status tacit_totals_feed(tacit_env *env, const tacit_totals_plan *plan, tacit_totals *totals,
                               const tacit_event *event, const tacit_totals_user *user,
                               const void *shared, void *self)
{
    totals_at a = at_of(env, plan, totals, user, shared, self);
    if (event->at.channel != a.env.channel || !totals->keyed)
        return TACIT_OK;
    tacit_status status = TACIT_OK;
    if (event->type == TACIT_TIMER)
        status = on_timer(&a, event->id);
    else if (event->type == TACIT_MESSAGE && event->payload && event->from < plan->agents)
        status = take_in(&a, event->from, event->at.kind, event->payload);
    return status == TACIT_OK ? totals_settle(&a) : status;
}

tacit_status tacit_totals_next(tacit_env *env, const tacit_totals_plan *plan, tacit_totals *totals,
                               uint64_t round, const tacit_totals_user *user, const void *shared,
                               void *self)
{
    if (totals->phase != TOTALS_IDLE || totals->next || round <= totals->round ||
        round >= TOTALS_ROUNDS)
        return tacit_fail(tacit_own_error(env), TACIT_EUSAGE,
                          "round %llu of sums over all agents cannot follow round %llu",
                          (unsigned long long)round, (unsigned long long)totals->round);
    totals->next = round;
    if (totals->busy)
        return TACIT_OK;
    totals_at a = at_of(env, plan, totals, user, shared, self);
    return totals_settle(&a);
}

uint64_t tacit_totals_round(const tacit_totals *totals)
{
    return totals->round;
}

uint32_t tacit_totals_members(const tacit_totals *totals)
{
    return totals->members;
}

void tacit_totals_counts(const tacit_totals *totals, uint64_t *tries, uint64_t *opened)
{
    *tries = totals->tries;
    *opened = totals->opened;
}

void tacit_totals_forget(const tacit_totals_plan *plan, tacit_totals *totals)
{
    totals->keyed = false;
    tacit_mask_wipe(&totals->keys, sizeof totals->keys);
    tacit_mask_wipe(totals->secret, sizeof totals->secret);
    for (uint32_t k = 0; k < plan->room; k++)
        tacit_mask_wipe(totals->partner[k].shared, TACIT_MASK_KEY);
}

void tacit_totals_end(tacit_env *env, const tacit_totals_plan *plan, tacit_totals *totals)
{
    totals_at a = at_of(env, plan, totals, NULL, NULL, NULL);
    totals_adder_clear(&a);
    totals_speaker_clear(&a);
    totals_drop_number(&a);
    tacit_drop(env, totals->member.set);
    tacit_drop(env, totals->result);
    tacit_drop(env, totals->early);
    tacit_drop(env, totals->board);
    tacit_totals_forget(plan, totals);
}
