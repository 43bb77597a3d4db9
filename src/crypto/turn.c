/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who masks whom, and what a member may still tell a receiver.
 *
 * A turn is the last call that was answered. Calls only go forwards, in (round, attempt), and no
 * further within a round once a seed of it was told: so for every round a receiver holds the seed
 * of at most one word, and no word has the masks of another.
 */
#include "tacit/masks.h"

static size_t lower_half(const tacit_mask_party *party)
{
    return party->count / 2;
}

bool tacit_mask_pair(const tacit_mask_party *party, size_t one, size_t other, bool *adds)
{
    const size_t half = lower_half(party);
    *adds = one < other;
    return one != other && (!party->split || (one < half) != (other < half));
}

size_t tacit_mask_breaks_at(size_t members, bool split)
{
    if (members < 2)
        return 0;
    return split ? members / 2 : members - 1;
}

tacit_status tacit_mask_turn_call(tacit_mask_turn *turn, uint64_t round, uint32_t attempt)
{
    const bool again =
        round == turn->round && attempt > turn->attempt && turn->state < TACIT_MASK_OPENED;
    if (turn->state != TACIT_MASK_IDLE && round <= turn->round && !again)
        return TACIT_NO;
    *turn = (tacit_mask_turn){.round = round, .attempt = attempt, .state = TACIT_MASK_CALLED};
    return TACIT_OK;
}

tacit_status tacit_mask_turn_open(tacit_mask_turn *turn, uint64_t round, uint32_t attempt)
{
    if ((turn->state != TACIT_MASK_WORDED && turn->state != TACIT_MASK_OPENED) ||
        turn->round != round || turn->attempt != attempt)
        return TACIT_NO;
    turn->state = TACIT_MASK_OPENED;
    return TACIT_OK;
}
