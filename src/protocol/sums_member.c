/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A member of its neighbours' sums: calls are answered by words, openings by seeds.
 *
 * A receiver may lie; what it is told does not depend on its honesty:
 *  - a word is made only in a set of at least `least` agents with this one among them, each of
 *    whom has signed its key; the masks depend on who they are, not on what the receiver calls
 *    them, so words of different sets do not cancel;
 *  - tacit_mask_turn lets (round, attempt) only grow, makes one word for each and gives the seed
 *    of one attempt a round. A call that cannot be answered yet does not use up its turn;
 *  - what the protocol holds is asked for once a round, so all attempts hide the same numbers;
 *  - how much a member weighs follows from signed degrees, not from what the receiver wishes, and
 *    masks depend on the receiver's: members who heard different ones share none.
 */
#include <math.h>
#include <string.h>

#include "protocol/sums_inside.h"

void sums_pass(tacit_sums *s, uint32_t slot, uint64_t round)
{
    if (round < SUMS_ROUNDS && round <= s->round + SUMS_AHEAD && round > s->slot[slot].passed)
        s->slot[slot].passed = round;
}

void sums_drop_held(tacit_env *env, sums_slot *slot)
{
    tacit_drop(env, slot->held);
    slot->held = NULL;
}

/* ---- a call ---- */

/* What makes no sense whoever says it. */
static bool read_call(const sums_at *a, const tacit_public *v, sums_call *call)
{
    const int64_t round = tacit_public_get_int(v, 0, 0), tried = tacit_public_get_int(v, 0, 1);
    if (round < 1 || round >= (int64_t)SUMS_ROUNDS || tried < 1 || tried > SUMS_ATTEMPTS ||
        (uint64_t)round > a->s->round + SUMS_AHEAD ||
        (a->plan->rounds && (uint64_t)round > a->plan->rounds))
        return false;
    *call = (sums_call){.round = (uint64_t)round, .attempt = (uint32_t)tried};
    for (uint32_t k = 0; k < sums_words(a->plan); k++)
        call->bits[k] = (uint64_t)tacit_public_get_int(v, 1, k);
    for (uint32_t k = a->plan->neighbours; k < TACIT_SUMS_MOST; k++)
        if (sums_bit(call->bits, k))
            return false;
    return true;
}

/* Settings that both ends must share; 0: they do. */
static sums_reason compare(const sums_at *a, const tacit_public *v, int64_t *detail)
{
    const uint64_t round = (uint64_t)tacit_public_get_int(v, 0, 0);
    *detail = 0;
    if (tacit_public_get_int(v, 0, 3) != a->plan->fraction) {
        *detail = a->plan->fraction;
        return SUMS_SCALE;
    }
    if (tacit_public_get_int(v, 0, 4) != (int64_t)a->plan->split)
        return SUMS_SPLIT;
    if ((uint64_t)tacit_public_get_int(v, 0, 2) != sums_epoch(a->plan, round)) {
        *detail = (int64_t)a->plan->epoch_rounds;
        return SUMS_EPOCH;
    }
    return 0;
}

static tacit_status refuse(sums_at *a, uint32_t slot, const sums_call *call, sums_reason reason,
                           int64_t detail, const uint64_t *bits)
{
    return sums_say(a, slot, TACIT_SUMS_CANNOT, call->round, call->attempt, reason, detail, bits);
}

/* Later than the call at hand, if there is one. */
static bool is_later(const sums_call *call, const sums_call *than)
{
    return call->round > than->round ||
           (call->round == than->round && call->attempt > than->attempt);
}

tacit_status sums_on_call(sums_at *a, uint32_t slot, const tacit_public *v)
{
    sums_slot *receiver = &a->s->slot[slot];
    sums_call call;
    if (!read_call(a, v, &call)) {
        a->s->refused++;
        return TACIT_OK;
    }
    int64_t detail;
    const sums_reason reason = compare(a, v, &detail);
    if (reason)
        return refuse(a, slot, &call, reason, detail, NULL);
    sums_pass(a->s, slot, call.round - 1);
    if (call.round <= sums_over(a->s))
        return refuse(a, slot, &call, SUMS_OVER, (int64_t)sums_over(a->s), NULL);
    if (is_later(&call, &receiver->call)) { /* who only repeats itself is not waited for */
        receiver->call = call;
        receiver->age = receiver->resets++ < SUMS_RESETS ? 0 : receiver->age;
    }
    receiver->ready = receiver->call.round == a->s->round;
    return TACIT_OK;
}

/* ---- masks ---- */

typedef struct party {
    tacit_agent member[TACIT_SUMS_MOST];
    uint32_t slot[TACIT_SUMS_MOST]; /* of the receiver */
    uint32_t count, own;            /* own: the position of this agent, `count` if it is none */
} party;

/* The receiver's degree as it told this agent, with its signature; 0: it did not yet. */
static uint32_t degree_of(const sums_at *a, uint32_t slot)
{
    return tacit_sums_degree(a->s, slot);
}

static void party_of(const sums_at *a, uint32_t slot, const sums_call *call, party *p)
{
    const uint64_t self = tacit_facts_of(&a->env)->self;
    const sums_partner *partner = sums_directory(a->plan, a->s, slot);
    p->count = 0;
    p->own = UINT32_MAX;
    for (uint32_t k = 0; k < a->s->slot[slot].partners; k++) {
        if (!sums_bit(call->bits, k))
            continue;
        if (partner[k].agent == self)
            p->own = p->count;
        p->slot[p->count] = k;
        p->member[p->count++] = partner[k].agent;
    }
}

static tacit_mask_place place_of(const sums_at *a, uint32_t slot, const uint8_t *set)
{
    const tacit_facts *facts = tacit_facts_of(&a->env);
    tacit_mask_place place = {.epoch = a->s->epoch, .receiver = facts->neighbour[slot]};
    memcpy(place.run, facts->run, sizeof place.run);
    memcpy(place.set, set, sizeof place.set);
    return place;
}

/* Whose keys of this epoch are missing, as bits; true if there are any. */
static bool find_missing(const sums_at *a, uint32_t slot, const party *p, uint64_t *bits)
{
    const sums_partner *partner = sums_directory(a->plan, a->s, slot);
    bool any = false;
    for (uint32_t k = 0; k < p->count; k++) {
        const sums_partner *other = &partner[p->slot[k]];
        if (k == p->own || (other->epoch == a->s->epoch &&
                            (other->knows == SUMS_OPEN_HALF || other->knows == SUMS_AGREED)))
            continue;
        sums_bit_set(bits, p->slot[k]);
        any = true;
    }
    return any;
}

/* Masks with all partners, kept for as long as the set stays the same. TACIT_NO: not with all. */
static tacit_status make_masks(sums_at *a, uint32_t slot, const sums_call *call, const party *p)
{
    sums_slot *receiver = &a->s->slot[slot];
    if (receiver->cached && receiver->set_epoch == a->s->epoch &&
        memcmp(receiver->set_bits, call->bits, sizeof call->bits) == 0)
        return TACIT_OK;
    const uint32_t degree = degree_of(a, slot);
    const uint8_t terms[] = {(uint8_t)degree, (uint8_t)(degree >> 8)}; /* TACIT_SUMS_MOST at most */
    const tacit_mask_party all = {.member = p->member,
                                  .count = p->count,
                                  .numbers = a->plan->numbers,
                                  .fraction = a->plan->fraction,
                                  .split = a->plan->split,
                                  .terms = terms,
                                  .terms_len = sizeof terms};
    tacit_error quiet = {0};
    receiver->cached = false;
    tacit_status status = tacit_mask_set(receiver->set, &all, &quiet);
    receiver->set_epoch = a->s->epoch;
    memcpy(receiver->set_bits, call->bits, sizeof call->bits);
    receiver->masks = 0;
    const tacit_mask_place place = place_of(a, slot, receiver->set);
    sums_partner *partner = sums_directory(a->plan, a->s, slot);
    tacit_mask *mask = sums_masks(a->plan, a->s, slot);
    for (uint32_t k = 0; k < p->count && status == TACIT_OK; k++) {
        bool adds;
        if (!tacit_mask_pair(&all, p->own, k, &adds))
            continue;
        status = sums_agree(a, &partner[p->slot[k]]);
        if (status != TACIT_OK)
            break;
        tacit_mask *one = &mask[receiver->masks++];
        one->minus = !adds;
        tacit_mask_derive(one->key, partner[p->slot[k]].key, &place, p->member[p->own],
                          p->member[k]);
    }
    receiver->cached = status == TACIT_OK;
    return status == TACIT_OK ? TACIT_OK : TACIT_NO;
}

/* ---- a word ---- */

static tacit_status hold(sums_at *a, uint32_t slot)
{
    sums_slot *receiver = &a->s->slot[slot];
    if (receiver->held_round == a->s->round)
        return receiver->held ? TACIT_OK : TACIT_NO;
    const double weight = a->user->weight(a->shared, a->s->round, degree_of(a, slot),
                                          tacit_facts_of(&a->env)->neighbours);
    if (!(weight > 0 && weight <= 1))
        return tacit_fail(tacit_own_error(&a->env), TACIT_EUSAGE,
                          "a member of a masked sum has a weight above 0 and up to 1, not %g",
                          weight);
    sums_drop_held(&a->env, receiver);
    receiver->held_round = a->s->round;
    tacit_status status =
        a->user->hold(a->outer, a->shared, a->self, slot, weight, &receiver->held);
    return status == TACIT_OK && !receiver->held ? TACIT_NO : status;
}

/* The own seed of a word, drawn anew: two continuations of one memory image hide their numbers
 * under different ones. It stays in the slot, to be told when the word is opened. */
static void draw_own(sums_at *a, uint32_t slot, const sums_call *call)
{
    sums_slot *receiver = &a->s->slot[slot];
    uint8_t fresh[TACIT_MASK_KEY];
    const tacit_mask_place place = place_of(a, slot, receiver->set);
    tacit_draw(&a->env, SUMS_DRAW_OWN(slot, call->round, call->attempt), fresh, sizeof fresh);
    for (size_t k = 0; k < sizeof fresh; k++)
        fresh[k] ^= a->s->secret[k];
    tacit_mask_own(receiver->own, fresh, &place, call->round, call->attempt);
    tacit_mask_wipe(fresh, sizeof fresh);
}

static tacit_status send_word(sums_at *a, uint32_t slot, const sums_call *call)
{
    sums_slot *receiver = &a->s->slot[slot];
    tacit_status status;
    tacit_public *word = sums_new(a, &a->plan->word, &status);
    if (status != TACIT_OK)
        return status;
    tacit_public_set_int(word, 0, 0, (int64_t)call->round);
    tacit_public_set_int(word, 0, 1, call->attempt);
    draw_own(a, slot, call);
    status = tacit_mask_turn_call(&receiver->turn, call->round, call->attempt);
    if (status == TACIT_OK)
        status = tacit_mask_word(&receiver->turn, word, 1, receiver->held,
                                 sums_masks(a->plan, a->s, slot), receiver->masks, receiver->own,
                                 tacit_own_error(&a->env));
    receiver->worded_epoch = a->s->epoch;
    return sums_send(a, slot, TACIT_SUMS_WORD, word, status);
}

/* The call at hand, of this round. */
static tacit_status answer(sums_at *a, uint32_t slot)
{
    sums_slot *receiver = &a->s->slot[slot];
    const sums_call *call = &receiver->call;
    tacit_mask_turn turn = receiver->turn;
    if (tacit_mask_turn_call(&turn, call->round, call->attempt) != TACIT_OK)
        return TACIT_OK; /* answered, or not to be answered any more */
    party p;
    uint64_t missing[SUMS_BITS] = {0};
    party_of(a, slot, call, &p);
    if (receiver->partners == 0 || degree_of(a, slot) == 0 || find_missing(a, slot, &p, missing))
        return refuse(a, slot, call, SUMS_LACKS, 0, missing);
    uint64_t beyond = 0;
    for (uint32_t k = receiver->partners; k < TACIT_SUMS_MOST; k++)
        beyond += sums_bit(call->bits, k);
    if (p.own >= p.count || beyond) {
        a->s->refused++;
        return TACIT_OK;
    }
    if (p.count < a->plan->least)
        return refuse(a, slot, call, SUMS_SMALL, a->plan->least, NULL);
    tacit_status status = make_masks(a, slot, call, &p);
    if (status == TACIT_NO)
        return refuse(a, slot, call, SUMS_LACKS, 0, NULL);
    status = hold(a, slot);
    if (status == TACIT_NO)
        return refuse(a, slot, call, SUMS_NOTHING, 0, NULL);
    receiver->gone = receiver->gone && status != TACIT_OK;
    return status == TACIT_OK ? send_word(a, slot, call) : status;
}

tacit_status sums_answer(sums_at *a)
{
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < a->s->neighbours && status == TACIT_OK; k++) {
        sums_slot *receiver = &a->s->slot[k];
        if (!receiver->ready)
            continue;
        receiver->ready = false;
        if (receiver->call.round == a->s->round)
            status = answer(a, k);
    }
    return status;
}

/* ---- a seed ---- */

/* After that, nothing more for this round: what was held is not needed any more. */
tacit_status sums_on_open(sums_at *a, uint32_t slot, const tacit_public *v)
{
    sums_slot *receiver = &a->s->slot[slot];
    const int64_t round = tacit_public_get_int(v, 0, 0), tried = tacit_public_get_int(v, 0, 1);
    if (round < 1 || round >= (int64_t)SUMS_ROUNDS || tried < 1 || tried > SUMS_ATTEMPTS ||
        receiver->worded_epoch != a->s->epoch ||
        tacit_mask_turn_open(&receiver->turn, (uint64_t)round, (uint32_t)tried) != TACIT_OK)
        return TACIT_OK;
    tacit_status status;
    tacit_public *seed = sums_new(a, &a->plan->seed, &status);
    if (status != TACIT_OK)
        return status;
    tacit_public_set_int(seed, 0, 0, round);
    tacit_public_set_int(seed, 0, 1, tried);
    sums_put(seed, 1, 0, receiver->own, sizeof receiver->own);
    if (receiver->held_round == (uint64_t)round)
        sums_drop_held(&a->env, receiver);
    sums_pass(a->s, slot, (uint64_t)round);
    return sums_send(a, slot, TACIT_SUMS_SEED, seed, status);
}
