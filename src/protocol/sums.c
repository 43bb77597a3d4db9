/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masked sums over neighbours: the order of things (sums.h says what for, docs/masks.md why).
 *
 * In a round an agent does two things beside each other: it hears a sum of its neighbours, as a
 * receiver (keys, words, seeds), and answers the calls of each of them, as a member. The round is
 * over when the first is done and nobody needs a word of it any more. Every event changes a little
 * of the state; then `settle` does whatever has become possible, until nothing has.
 *
 * Nobody waits for ever, unless patience is infinite and nobody says that a peer is gone:
 *  - a receiver waits `patience` for keys, for the words of each attempt and for seeds, and
 *    each attempt has fewer members than the one before; half-way it asks again whom it misses;
 *  - a member waits for a receiver until that opens its word, says that it needs none, calls for a
 *    later round, is gone, or says nothing for three times `patience`: longer than
 *    a receiver may wait between two words of its own;
 *  - a round without members for a sum lasts `patience`, so that rounds do not rush by.
 */
#include <math.h>
#include <string.h>

#include "protocol/sums_inside.h"

/* ---- plan ---- */

static tacit_status check_plan(const tacit_sums_plan *plan, tacit_error *err)
{
    if (plan->neighbours > TACIT_SUMS_MOST)
        return tacit_fail(err, TACIT_EINPUT, "masked sums are over at most %u neighbours, not %u",
                          (unsigned)TACIT_SUMS_MOST, (unsigned)plan->neighbours);
    if (plan->least < 2 || plan->least > plan->neighbours)
        return tacit_fail(err, TACIT_EINPUT,
                          "a masked sum needs at least 2 members and at most as many as an agent "
                          "has neighbours, not %u",
                          (unsigned)plan->least);
    if (plan->fraction < 0 || plan->fraction > 62)
        return tacit_fail(err, TACIT_EINPUT, "masked numbers cannot count in steps of 2^%d",
                          -(int)plan->fraction);
    if (!(plan->patience > 0))
        return tacit_fail(err, TACIT_EINPUT, "patience for masked sums must be above 0, not %g",
                          plan->patience);
    if (plan->child == 0 || plan->child > TACIT_CHILDREN)
        return tacit_fail(err, TACIT_EUSAGE, "there is no nested channel %u", plan->child);
    return TACIT_OK;
}

tacit_status tacit_sums_prepare(tacit_sums_plan *plan, tacit_error *err)
{
    if (plan->neighbours == 0)
        plan->neighbours = TACIT_SUMS_MOST;
    tacit_status status = check_plan(plan, err);
    if (status != TACIT_OK)
        return status;
    const size_t words = sums_words(plan), most = plan->neighbours;
    const struct {
        tacit_shape *shape;
        tacit_segment segment[3];
    } all[] = {
        {&plan->number, {{"numbers", TACIT_I64, plan->numbers}}},
        {&plan->key, {{"head", TACIT_I64, 5}, {"open", TACIT_I64, 4}, {"signature", TACIT_I64, 8}}},
        {&plan->page, {{"head", TACIT_I64, 2}, {"entries", TACIT_I64, 15 * most}}},
        {&plan->call, {{"head", TACIT_I64, 5}, {"set", TACIT_I64, words}}},
        {&plan->word, {{"head", TACIT_I64, 2}, {"numbers", TACIT_I64, plan->numbers}}},
        {&plan->turn, {{"head", TACIT_I64, 4}, {"set", TACIT_I64, words}}},
        {&plan->seed, {{"head", TACIT_I64, 2}, {"seed", TACIT_I64, 4}}},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all && status == TACIT_OK; k++) {
        size_t count = 0;
        while (count < 3 && all[k].segment[count].name)
            count++;
        status = tacit_shape_init(all[k].shape, all[k].segment, count, err);
        all[k].shape->any = UINT32_MAX; /* what matters is checked where it is read */
    }
    return status;
}

const tacit_shape *tacit_sums_payload(const tacit_sums_plan *plan, tacit_address at)
{
    const tacit_shape *const shape[] = {
        [TACIT_SUMS_KEY] = &plan->key,     [TACIT_SUMS_PAGE] = &plan->page,
        [TACIT_SUMS_CALL] = &plan->call,   [TACIT_SUMS_WORD] = &plan->word,
        [TACIT_SUMS_OPEN] = &plan->turn,   [TACIT_SUMS_SEED] = &plan->seed,
        [TACIT_SUMS_CANNOT] = &plan->turn,
    };
    return at.channel == 0 && at.kind < sizeof shape / sizeof *shape ? shape[at.kind] : NULL;
}

/* ---- room ---- */

/* Refused at the start: no room for more. */
static size_t room_for(const tacit_sums_plan *plan, uint32_t neighbours)
{
    return neighbours < plan->neighbours ? neighbours : plan->neighbours;
}

size_t tacit_sums_size(const tacit_sums_plan *plan, uint32_t neighbours)
{
    const size_t n = room_for(plan, neighbours);
    const size_t bytes =
        sizeof(tacit_sums) +
        n * (sizeof(sums_slot) + plan->neighbours * (sizeof(sums_partner) + sizeof(tacit_mask)));
    return (bytes + 15) / 16 * 16;
}

sums_partner *sums_directory(const tacit_sums_plan *plan, const tacit_sums *s, uint32_t slot)
{
    sums_partner *all = (sums_partner *)(uintptr_t)&s->slot[s->neighbours];
    return all + (size_t)slot * plan->neighbours;
}

tacit_mask *sums_masks(const tacit_sums_plan *plan, const tacit_sums *s, uint32_t slot)
{
    tacit_mask *all = (tacit_mask *)sums_directory(plan, s, s->neighbours);
    return all + (size_t)slot * plan->neighbours;
}

/* ---- speaking ---- */

void sums_put(tacit_public *v, uint32_t segment, size_t at, const uint8_t *bytes, size_t len)
{
    for (size_t k = 0; k < len / 8; k++) {
        uint64_t word = 0;
        for (size_t b = 0; b < 8; b++)
            word |= (uint64_t)bytes[8 * k + b] << 8 * b;
        tacit_public_set_int(v, segment, at + k, (int64_t)word);
    }
}

void sums_get(const tacit_public *v, uint32_t segment, size_t at, uint8_t *bytes, size_t len)
{
    for (size_t k = 0; k < len / 8; k++) {
        const uint64_t word = (uint64_t)tacit_public_get_int(v, segment, at + k);
        for (size_t b = 0; b < 8; b++)
            bytes[8 * k + b] = (uint8_t)(word >> 8 * b);
    }
}

tacit_public *sums_new(sums_at *a, const tacit_shape *shape, tacit_status *status)
{
    tacit_public *v = tacit_new_public(&a->env, shape);
    *status = v ? TACIT_OK : tacit_out_of_memory(tacit_own_error(&a->env));
    return v;
}

tacit_status sums_send(sums_at *a, uint32_t slot, uint32_t kind, tacit_public *payload,
                       tacit_status status)
{
    if (status == TACIT_OK)
        status = tacit_send(&a->env, tacit_facts_of(&a->env)->neighbour[slot], kind, payload);
    tacit_drop(&a->env, payload);
    return status;
}

tacit_status sums_say(sums_at *a, uint32_t slot, uint32_t kind, uint64_t round, uint32_t attempt,
                      sums_reason reason, int64_t detail, const uint64_t *bits)
{
    tacit_status status;
    tacit_public *v = sums_new(a, &a->plan->turn, &status);
    if (status != TACIT_OK)
        return status;
    tacit_public_set_int(v, 0, 0, (int64_t)round);
    tacit_public_set_int(v, 0, 1, attempt);
    tacit_public_set_int(v, 0, 2, (int64_t)reason);
    tacit_public_set_int(v, 0, 3, detail);
    for (uint32_t k = 0; bits && k < sums_words(a->plan); k++)
        tacit_public_set_int(v, 1, k, (int64_t)bits[k]);
    return sums_send(a, slot, kind, v, status);
}

/* ---- timers: (round, attempt, phase, half) ---- */

static uint64_t timer_id(const tacit_sums *s, sums_phase phase, bool half)
{
    const uint32_t attempt = phase == SUMS_MEMBER ? 0 : s->attempt;
    return s->round << 16 | (uint64_t)attempt << 4 | (uint64_t)phase << 1 | half;
}

tacit_status sums_timer(sums_at *a, sums_phase phase, bool half)
{
    if (!isfinite(a->plan->patience))
        return TACIT_OK;
    const double delay = phase == SUMS_MEMBER ? a->plan->patience : a->plan->patience / 2;
    return tacit_timer(&a->env, delay, timer_id(a->s, phase, half));
}

/* Patience began anew: whom nothing was heard of for long is waited for no longer. */
static tacit_status on_member_timer(sums_at *a)
{
    for (uint32_t k = 0; k < a->s->neighbours; k++) {
        sums_slot *slot = &a->s->slot[k];
        if (slot->passed < a->s->round && ++slot->age >= SUMS_AGE)
            slot->gone = true;
    }
    return sums_timer(a, SUMS_MEMBER, false);
}

static tacit_status on_timer(sums_at *a, uint64_t id)
{
    if (a->s->phase == SUMS_IDLE)
        return TACIT_OK;
    if (id == timer_id(a->s, SUMS_MEMBER, false))
        return on_member_timer(a);
    const sums_phase phase = (sums_phase)a->s->phase;
    if (phase != SUMS_KEYS && phase != SUMS_WORDS && phase != SUMS_SEEDS)
        return TACIT_OK;
    const bool half = id == timer_id(a->s, phase, true);
    return half || id == timer_id(a->s, phase, false) ? sums_on_late(a, half) : TACIT_OK;
}

/* ---- rounds ---- */

static tacit_status begin(sums_at *a)
{
    tacit_sums *s = a->s;
    s->round = s->next;
    s->next = 0;
    s->attempt = 0;
    s->phase = SUMS_KEYS;
    for (uint32_t k = 0; k < s->neighbours; k++) {
        sums_slot *slot = &s->slot[k];
        slot->in = slot->out = slot->worded = slot->seeded = false;
        slot->gone = !slot->up;
        slot->age = slot->resets = 0;
        slot->ready = slot->call.round == s->round;
    }
    tacit_status status = TACIT_OK;
    if (sums_epoch(a->plan, s->round) != s->epoch)
        status = sums_keys_renew(a, sums_epoch(a->plan, s->round));
    if (status == TACIT_OK && !sums_can_call(s, a->plan))
        status = sums_timer(a, SUMS_KEYS, true);
    return status == TACIT_OK ? sums_timer(a, SUMS_MEMBER, false) : status;
}

/* The last round before one that two neighbours have called for, if that is out of reach for this
 * agent: one alone may lie. */
static uint64_t behind(const tacit_sums *s)
{
    uint64_t first = 0, second = 0;
    for (uint32_t k = 0; k < s->neighbours; k++) {
        const uint64_t called = s->slot[k].call.round;
        if (called > first) {
            second = first;
            first = called;
        } else if (called > second) {
            second = called;
        }
    }
    return second > s->round + 1 ? second - 1 : 0;
}

static bool is_over(const tacit_sums *s)
{
    if (s->phase != SUMS_HAVE && s->phase != SUMS_NONE)
        return false;
    for (uint32_t k = 0; k < s->neighbours; k++)
        if (!s->slot[k].gone && s->slot[k].passed < s->round)
            return false;
    return true;
}

/* Nothing more is said for rounds up to `last`: whoever still waits for a word is told so. */
static tacit_status close_calls(sums_at *a, uint64_t last)
{
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < a->s->neighbours && status == TACIT_OK; k++) {
        sums_slot *slot = &a->s->slot[k];
        const sums_call *call = &slot->call;
        const bool answered =
            slot->turn.round == call->round && slot->turn.attempt == call->attempt;
        sums_drop_held(&a->env, slot);
        if (call->round == 0 || call->round > last)
            continue;
        if (!answered)
            status = sums_say(a, k, TACIT_SUMS_CANNOT, call->round, call->attempt, SUMS_OVER,
                              (int64_t)last, NULL);
        slot->call.round = 0;
    }
    return status;
}

/* Rounds up to `last` are over. */
static tacit_status finish(sums_at *a, uint64_t last)
{
    tacit_sums *s = a->s;
    tacit_public *sum = s->phase == SUMS_HAVE ? s->sum : NULL;
    if (!sum) {
        s->without += last - s->round + (s->phase != SUMS_NONE); /* that one was counted */
        tacit_drop(&a->env, s->sum);
    }
    s->sum = sum;
    s->round = last;
    s->phase = SUMS_IDLE;
    tacit_status status = close_calls(a, last);
    if (status != TACIT_OK)
        return status;
    const tacit_event over = {.type = TACIT_ROUND,
                              .at = {a->outer->channel, 0},
                              .from = TACIT_NOBODY,
                              .slot = TACIT_NO_SLOT,
                              .id = last,
                              .payload = sum};
    status = a->user->on(a->outer, a->shared, a->self, &over);
    s->sum = NULL;
    tacit_drop(&a->env, sum);
    return status;
}

/* Do what can be done. Every turn begins or ends a round, or nothing is left to do. */
static tacit_status settle(sums_at *a)
{
    tacit_sums *s = a->s;
    tacit_status status = TACIT_OK;
    s->busy = true;
    while (status == TACIT_OK) {
        if (s->next) {
            status = begin(a);
            continue;
        }
        if (s->phase == SUMS_IDLE)
            break;
        const uint64_t skipped = behind(s);
        if (skipped) { /* a sum that is there is of its own round */
            status = finish(a, s->phase == SUMS_HAVE ? s->round : skipped);
            continue;
        }
        status = sums_answer(a);
        if (status == TACIT_OK)
            status = sums_receive(a);
        if (status != TACIT_OK || !is_over(s))
            break;
        status = finish(a, s->round);
    }
    s->busy = false;
    return status;
}

/* ---- the doors ---- */

static sums_at at_of(tacit_env *env, const tacit_sums_plan *plan, tacit_sums *s)
{
    return (sums_at){.outer = env, .env = tacit_nest(env, plan->child), .plan = plan, .s = s};
}

tacit_status tacit_sums_start(tacit_env *env, const tacit_sums_plan *plan, tacit_sums *sums)
{
    const tacit_facts *facts = tacit_facts_of(env);
    sums_at a = at_of(env, plan, sums);
    if (facts->neighbours < plan->least)
        return tacit_fail(tacit_own_error(env), TACIT_EINPUT,
                          "agent %llu has %u neighbour%s, and masks hide a word among at least %u; "
                          "give it more neighbours",
                          (unsigned long long)facts->self, (unsigned)facts->neighbours,
                          facts->neighbours == 1 ? "" : "s", (unsigned)plan->least);
    if (facts->neighbours > plan->neighbours)
        return tacit_fail(tacit_own_error(env), TACIT_EINPUT,
                          "agent %llu has %u neighbours, and masked sums were planned for %u",
                          (unsigned long long)facts->self, (unsigned)facts->neighbours,
                          (unsigned)plan->neighbours);
    sums->neighbours = facts->neighbours;
    for (uint32_t k = 0; k < sums->neighbours; k++)
        sums->slot[k].up = true;
    return sums_keys_renew(&a, sums_epoch(plan, 1));
}

tacit_status tacit_sums_next(tacit_env *env, const tacit_sums_plan *plan, tacit_sums *sums,
                             uint64_t round, const tacit_sums_user *user, const void *shared,
                             void *self)
{
    if (sums->phase != SUMS_IDLE || sums->next || round <= sums->round || round >= SUMS_ROUNDS)
        return tacit_fail(tacit_own_error(env), TACIT_EUSAGE,
                          "round %llu of masked sums cannot follow round %llu",
                          (unsigned long long)round, (unsigned long long)sums->round);
    sums->next = round;
    if (sums->busy)
        return TACIT_OK;
    sums_at a = at_of(env, plan, sums);
    a.user = user;
    a.shared = shared;
    a.self = self;
    return settle(&a);
}

static tacit_status on_message(sums_at *a, const tacit_event *event)
{
    switch (event->at.kind) {
    case TACIT_SUMS_KEY:
        return sums_on_key(a, event->slot, event->from, event->payload);
    case TACIT_SUMS_PAGE:
        return sums_on_page(a, event->slot, event->payload);
    case TACIT_SUMS_CALL:
        return sums_on_call(a, event->slot, event->payload);
    case TACIT_SUMS_WORD:
        return sums_on_word(a, event->slot, event->payload);
    case TACIT_SUMS_OPEN:
        return sums_on_open(a, event->slot, event->payload);
    case TACIT_SUMS_SEED:
        return sums_on_seed(a, event->slot, event->payload);
    case TACIT_SUMS_CANNOT:
        return sums_on_cannot(a, event->slot, event->payload);
    default:
        return TACIT_OK;
    }
}

/* It missed what was said meanwhile, and may have lost what it said itself. */
static tacit_status on_up(sums_at *a, uint32_t slot)
{
    sums_lose(a, slot);
    a->s->slot[slot].up = true;
    a->s->slot[slot].paged = false;
    return a->s->keyed ? sums_tell_key(a, slot, SUMS_ANSWER | SUMS_AWAY) : TACIT_OK;
}

static tacit_status take_in(sums_at *a, const tacit_event *event)
{
    const bool known = event->slot < a->s->neighbours;
    switch (event->type) {
    case TACIT_MESSAGE:
        return known && event->payload && tacit_event_child(a->outer, event) == a->plan->child &&
                       event->at.channel == a->env.channel
                   ? on_message(a, event)
                   : TACIT_OK;
    case TACIT_TIMER:
        return event->at.channel == a->env.channel ? on_timer(a, event->id) : TACIT_OK;
    case TACIT_PEER_UP:
        return known ? on_up(a, event->slot) : TACIT_OK;
    case TACIT_PEER_DOWN:
        if (known) {
            sums_lose(a, event->slot);
            a->s->slot[event->slot].up = false;
        }
        return TACIT_OK;
    default:
        return TACIT_OK;
    }
}

tacit_status tacit_sums_feed(tacit_env *env, const tacit_sums_plan *plan, tacit_sums *sums,
                             const tacit_event *event, const tacit_sums_user *user,
                             const void *shared, void *self)
{
    sums_at a = at_of(env, plan, sums);
    if (!sums->keyed) /* the run is over: nothing is left to answer with */
        return TACIT_OK;
    a.user = user;
    a.shared = shared;
    a.self = self;
    const tacit_status status = take_in(&a, event);
    return status == TACIT_OK ? settle(&a) : status;
}

/* ---- what users ask ---- */

uint64_t tacit_sums_round(const tacit_sums *sums)
{
    return sums->round;
}

bool tacit_sums_has(const tacit_sums *sums, uint32_t slot, double *weight)
{
    const bool has = sums->sum && slot < sums->neighbours && sums->slot[slot].in;
    if (weight)
        *weight = has ? sums->slot[slot].weight : 0;
    return has;
}

double tacit_sums_value(const tacit_sums_plan *plan, const tacit_public *sum, size_t index)
{
    return ldexp((double)tacit_public_get_int(sum, 0, index), -plan->fraction);
}

void tacit_sums_counts(const tacit_sums *sums, uint64_t *again, uint64_t *without)
{
    *again = sums->again;
    *without = sums->without;
}
