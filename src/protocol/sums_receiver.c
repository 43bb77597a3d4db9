/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiver of a sum: keys, then words, then seeds.
 *
 * The set of an attempt is fixed when it begins. Who makes no word is out for the round, and the
 * others are called again, once it is clear of all of them what they do; an attempt whose words
 * are all there is opened, and then there is no way back: a seed that does not come costs the
 * round. So no member is ever asked for seeds of two attempts.
 */
#include <math.h>

#include "protocol/sums_inside.h"

static bool has_key(const tacit_sums *s, uint32_t slot)
{
    return s->slot[slot].key && s->slot[slot].key_epoch == s->epoch;
}

static bool is_member(const tacit_sums *s, uint32_t slot)
{
    return s->slot[slot].up && has_key(s, slot) && !s->slot[slot].out;
}

static uint32_t count_members(const tacit_sums *s)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < s->neighbours; k++)
        count += is_member(s, k);
    return count;
}

/* Who withheld a seed has cost everybody a round: for some rounds it does without it, if it can. */
static void leave_out_shunned(tacit_sums *s, const tacit_sums_plan *plan)
{
    uint32_t others = 0;
    for (uint32_t k = 0; k < s->neighbours; k++)
        others += is_member(s, k) && s->slot[k].shunned < s->round;
    for (uint32_t k = 0; k < s->neighbours && others >= plan->least; k++)
        s->slot[k].out = s->slot[k].out || s->slot[k].shunned >= s->round;
}

/* A neighbour with a key of a later epoch will not tell one of this. */
static bool lacks_key(const tacit_sums *s, uint32_t slot)
{
    const sums_slot *n = &s->slot[slot];
    return n->up && !n->out && (!n->key || n->key_epoch < s->epoch);
}

/* No key that may still come is missing, and there are members enough; or there are not, because
 * others have gone past this round: then nobody will come back for it. */
bool sums_can_call(const tacit_sums *s, const tacit_sums_plan *plan)
{
    bool ahead = false;
    for (uint32_t k = 0; k < s->neighbours; k++) {
        if (lacks_key(s, k))
            return false;
        ahead = ahead || s->slot[k].passed >= s->round;
    }
    return ahead || count_members(s) >= plan->least;
}

/* ---- going without ---- */

/* To those of no use in this round: nobody need wait. */
static tacit_status release_others(sums_at *a, bool all)
{
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < a->s->neighbours && status == TACIT_OK; k++)
        if (a->s->slot[k].up && (all || !a->s->slot[k].in))
            status = sums_say(a, k, TACIT_SUMS_CANNOT, a->s->round, a->s->attempt, SUMS_WITHOUT, 0,
                              NULL);
    return status;
}

static tacit_status go_without(sums_at *a)
{
    a->s->phase = SUMS_NONE;
    a->s->without++;
    tacit_drop(&a->env, a->s->sum);
    a->s->sum = NULL;
    return release_others(a, true);
}

/* ---- calling ---- */

static void weigh(sums_at *a, uint32_t slot)
{
    sums_slot *n = &a->s->slot[slot];
    n->weight = a->user->weight(a->shared, a->s->round, tacit_facts_of(&a->env)->neighbours,
                                tacit_sums_degree(a->s, slot));
}

static tacit_status call(sums_at *a, uint32_t slot)
{
    tacit_status status;
    const tacit_sums *s = a->s;
    tacit_public *v = sums_new(a, &a->plan->call, &status);
    if (status != TACIT_OK)
        return status;
    uint64_t bits[SUMS_BITS] = {0};
    for (uint32_t k = 0; k < s->neighbours; k++)
        if (s->slot[k].in)
            sums_bit_set(bits, k);
    tacit_public_set_int(v, 0, 0, (int64_t)s->round);
    tacit_public_set_int(v, 0, 1, s->attempt);
    tacit_public_set_int(v, 0, 2, (int64_t)s->epoch);
    tacit_public_set_int(v, 0, 3, a->plan->fraction);
    tacit_public_set_int(v, 0, 4, a->plan->split);
    for (uint32_t k = 0; k < sums_words(a->plan); k++)
        tacit_public_set_int(v, 1, k, (int64_t)bits[k]);
    return sums_send(a, slot, TACIT_SUMS_CALL, v, status);
}

static tacit_status attempt(sums_at *a)
{
    tacit_sums *s = a->s;
    tacit_status status = TACIT_OK;
    if (s->attempt == 0)
        leave_out_shunned(s, a->plan);
    for (uint32_t k = 0; k < s->neighbours; k++) {
        sums_slot *n = &s->slot[k];
        n->in = is_member(s, k);
        n->worded = n->seeded = n->helped = false;
        if (n->in && s->attempt == 0)
            weigh(a, k);
    }
    if (count_members(s) < a->plan->least)
        return go_without(a);
    s->again += s->attempt > 0;
    s->attempt++;
    s->phase = SUMS_WORDS;
    tacit_drop(&a->env, s->sum);
    s->sum = sums_new(a, &a->plan->number, &status);
    if (status == TACIT_OK)
        status = sums_tell_page(a);
    for (uint32_t k = 0; k < s->neighbours && status == TACIT_OK; k++)
        if (s->slot[k].in)
            status = call(a, k);
    return status == TACIT_OK ? sums_timer(a, SUMS_WORDS, true) : status;
}

static tacit_status open(sums_at *a)
{
    tacit_sums *s = a->s;
    tacit_status status = TACIT_OK;
    s->phase = SUMS_SEEDS;
    for (uint32_t k = 0; k < s->neighbours && status == TACIT_OK; k++)
        if (s->slot[k].in)
            status = sums_say(a, k, TACIT_SUMS_OPEN, s->round, s->attempt, 0, 0, NULL);
    if (status == TACIT_OK)
        status = release_others(a, false);
    return status == TACIT_OK ? sums_timer(a, SUMS_SEEDS, true) : status;
}

/* ---- going on ---- */

static tacit_status look_at_words(sums_at *a)
{
    bool complete = true;
    for (uint32_t k = 0; k < a->s->neighbours; k++) {
        const sums_slot *n = &a->s->slot[k];
        if (n->in && !n->out && !n->worded)
            return TACIT_OK;
        complete = complete && !(n->in && n->out);
    }
    return complete ? open(a) : attempt(a);
}

static tacit_status look_at_seeds(sums_at *a)
{
    bool complete = true, missing = false;
    for (uint32_t k = 0; k < a->s->neighbours; k++) {
        sums_slot *n = &a->s->slot[k];
        missing = missing || (n->in && !n->seeded && n->out);
        n->shunned =
            n->in && !n->seeded && n->out && n->up ? a->s->round + SUMS_SHUNNED : n->shunned;
        complete = complete && (!n->in || n->seeded);
    }
    if (missing)
        return go_without(a);
    if (complete)
        a->s->phase = SUMS_HAVE;
    return TACIT_OK;
}

/* A try that needs no message to fail (all are gone) is followed by the next one at once. */
tacit_status sums_receive(sums_at *a)
{
    tacit_status status = TACIT_OK;
    uint32_t before;
    do {
        before = a->s->attempt;
        if (a->s->phase == SUMS_KEYS && sums_can_call(a->s, a->plan))
            status = attempt(a);
        else if (a->s->phase == SUMS_WORDS)
            status = look_at_words(a);
        else if (a->s->phase == SUMS_SEEDS)
            status = look_at_seeds(a);
    } while (status == TACIT_OK && a->s->attempt != before);
    return status;
}

/* ---- what comes ---- */

/* Of the attempt under way, by a member that is still in it. */
static sums_slot *current(sums_at *a, uint32_t slot, const tacit_public *v, sums_phase phase)
{
    sums_slot *n = &a->s->slot[slot];
    const bool now = a->s->phase == phase && n->in && !n->out &&
                     (uint64_t)tacit_public_get_int(v, 0, 0) == a->s->round &&
                     tacit_public_get_int(v, 0, 1) == (int64_t)a->s->attempt;
    return now ? n : NULL;
}

tacit_status sums_on_word(sums_at *a, uint32_t slot, const tacit_public *word)
{
    sums_slot *n = current(a, slot, word, SUMS_WORDS);
    if (!n || n->worded)
        return TACIT_OK;
    tacit_mask_gather(a->s->sum, word, 1);
    n->worded = n->met = true;
    return TACIT_OK;
}

tacit_status sums_on_seed(sums_at *a, uint32_t slot, const tacit_public *seed)
{
    sums_slot *n = current(a, slot, seed, SUMS_SEEDS);
    if (!n || n->seeded)
        return TACIT_OK;
    uint8_t own[TACIT_MASK_KEY];
    sums_get(seed, 1, 0, own, sizeof own);
    tacit_mask_uncover(a->s->sum, own, a->s->round, a->s->attempt);
    tacit_mask_wipe(own, sizeof own);
    n->seeded = true;
    return TACIT_OK;
}

/* One neighbour may lie, all of them hardly do: then it is this agent that was set up otherwise. */
static bool all_differ(const tacit_sums *s)
{
    bool all = true;
    for (uint32_t k = 0; k < s->neighbours; k++)
        all = all && (s->slot[k].differs || !s->slot[k].up);
    return all;
}

/* Settings that must be equal and are not: people have to know. */
static tacit_status disagree(sums_at *a, uint32_t slot, sums_reason reason, int64_t detail)
{
    tacit_error *err = tacit_own_error(&a->env);
    const unsigned who = tacit_facts_of(&a->env)->neighbour[slot];
    if (reason == SUMS_SCALE)
        return tacit_fail(err, TACIT_EPEER,
                          "neighbour %u counts in steps of 2^%lld, this agent in steps of 2^%d: "
                          "masked sums need one scale; run both with the same settings",
                          who, -(long long)detail, -(int)a->plan->fraction);
    if (reason == SUMS_EPOCH)
        return tacit_fail(err, TACIT_EPEER,
                          "neighbour %u makes new keys every %lld rounds, this agent every %llu "
                          "(0: never); run both with the same settings",
                          who, (long long)detail, (unsigned long long)a->plan->epoch_rounds);
    return tacit_fail(err, TACIT_EPEER,
                      "neighbour %u and this agent do not mask between the same pairs (\"split\"); "
                      "run both with the same settings",
                      who);
}

tacit_status sums_on_cannot(sums_at *a, uint32_t slot, const tacit_public *cannot)
{
    const sums_reason reason = (sums_reason)tacit_public_get_int(cannot, 0, 2);
    const int64_t detail = tacit_public_get_int(cannot, 0, 3);
    if (reason == SUMS_WITHOUT)
        sums_pass(a->s, slot, (uint64_t)tacit_public_get_int(cannot, 0, 0));
    sums_slot *n = reason == SUMS_WITHOUT ? NULL : current(a, slot, cannot, SUMS_WORDS);
    if (!n || n->worded)
        return TACIT_OK;
    switch (reason) {
    case SUMS_LACKS: {
        if (n->helped)
            return TACIT_OK;
        n->helped = true;
        n->paged = false;
        const tacit_status status = sums_tell_key(a, slot, 0);
        return status == TACIT_OK ? sums_tell_page(a) : status;
    }
    case SUMS_SCALE:
    case SUMS_SPLIT:
    case SUMS_EPOCH:
        n->out = true;
        n->differs = !n->met;
        return all_differ(a->s) ? disagree(a, slot, reason, detail) : TACIT_OK;
    case SUMS_OVER:
        sums_pass(a->s, slot, (uint64_t)detail);
        n->out = true;
        return TACIT_OK;
    default:
        n->out = true;
        return TACIT_OK;
    }
}

void sums_lose(sums_at *a, uint32_t slot)
{
    const bool asked = a->s->phase == SUMS_WORDS || a->s->phase == SUMS_SEEDS;
    a->s->slot[slot].out = a->s->slot[slot].out || asked;
    a->s->slot[slot].gone = true;
}

/* ---- patience ---- */

static tacit_status remind(sums_at *a, uint32_t slot)
{
    sums_slot *n = &a->s->slot[slot];
    if (a->s->phase == SUMS_KEYS)
        return lacks_key(a->s, slot) ? sums_tell_key(a, slot, SUMS_ANSWER) : TACIT_OK;
    if (!n->in || n->out)
        return TACIT_OK;
    if (a->s->phase == SUMS_WORDS) {
        n->helped = false;
        return n->worded ? TACIT_OK : call(a, slot);
    }
    return n->seeded ? TACIT_OK
                     : sums_say(a, slot, TACIT_SUMS_OPEN, a->s->round, a->s->attempt, 0, 0, NULL);
}

tacit_status sums_on_late(sums_at *a, bool half)
{
    tacit_status status = TACIT_OK;
    tacit_sums *s = a->s;
    for (uint32_t k = 0; k < s->neighbours && status == TACIT_OK; k++) {
        sums_slot *n = &s->slot[k];
        if (half)
            status = remind(a, k);
        else if (s->phase == SUMS_KEYS)
            n->out = n->out || lacks_key(s, k);
        else if (n->in && !(s->phase == SUMS_WORDS ? n->worded : n->seeded))
            n->out = true;
    }
    if (half && status == TACIT_OK)
        return sums_timer(a, (sums_phase)s->phase, false);
    return status == TACIT_OK && s->phase == SUMS_KEYS ? attempt(a) : status;
}

uint32_t tacit_sums_degree(const tacit_sums *sums, uint32_t slot)
{
    const tacit_public *key = slot < sums->neighbours ? sums->slot[slot].key : NULL;
    return key ? (uint32_t)tacit_public_get_int(key, 0, 2) : 0;
}
