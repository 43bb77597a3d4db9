/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Local synchrony. An agent in round r needs from each neighbour a word of round r or, if
 * that neighbour lost patience and went ahead, of a later one; the newest word is kept and
 * counts for every round up to its own. So nobody waits for a word that will never come,
 * and with infinite patience neighbours are at most one round apart.
 */
#include <math.h>

#include "tacit/protocol.h"

/* A word may still be needed while the neighbour's next one is already here, so two are kept
 * a neighbour: word[2k] for this round, word[2k+1] for a later one. */
void tacit_rounds_init(tacit_rounds *rounds, const tacit_public **words, uint32_t neighbours,
                       double patience)
{
    *rounds = (tacit_rounds){
        .count = neighbours, .missing = neighbours, .patience = patience, .word = words};
}

static uint64_t round_of(const tacit_public *word)
{
    uint32_t last = tacit_public_shape(word)->segments - 1;
    return (uint64_t)tacit_public_get_int(word, last, 0);
}

tacit_status tacit_rounds_tell(tacit_env *env, const tacit_rounds *rounds, tacit_agent to,
                               uint32_t kind, tacit_public *payload)
{
    uint32_t last = tacit_public_shape(payload)->segments - 1;
    tacit_public_set_int(payload, last, 0, (int64_t)rounds->round);
    return tacit_send(env, to, kind, payload);
}

tacit_status tacit_rounds_wait(tacit_env *env, const tacit_rounds *rounds)
{
    return isfinite(rounds->patience) ? tacit_timer(env, rounds->patience, rounds->round)
                                      : TACIT_OK;
}

tacit_status tacit_rounds_say(tacit_env *env, tacit_rounds *rounds, uint32_t kind,
                              tacit_public *payload)
{
    tacit_status status = tacit_rounds_tell(env, rounds, TACIT_NOBODY, kind, payload);
    return status == TACIT_OK ? tacit_rounds_wait(env, rounds) : status;
}

const tacit_public *tacit_rounds_word(const tacit_rounds *rounds, uint32_t slot)
{
    return rounds->word[2 * slot];
}

static void hear(tacit_env *env, tacit_rounds *rounds, uint32_t slot, const tacit_public *word)
{
    uint64_t said = round_of(word);
    if (said < rounds->round)
        return; /* too late: that round is over */
    bool now = said == rounds->round;
    const tacit_public **place = &rounds->word[2 * slot + !now];
    if (now && !*place)
        rounds->missing--;
    tacit_drop(env, *place);
    *place = tacit_keep(word);
}

/* This round's words are used up: make room for the next. */
static void forget(tacit_env *env, tacit_rounds *rounds)
{
    for (uint32_t k = 0; k < rounds->count; k++) {
        tacit_drop(env, rounds->word[2 * k]);
        rounds->word[2 * k] = NULL;
    }
}

void tacit_rounds_next(tacit_env *env, tacit_rounds *rounds)
{
    forget(env, rounds);
    rounds->round++;
    rounds->missing = rounds->count;
    for (uint32_t k = 0; k < rounds->count; k++) {
        const tacit_public *later = rounds->word[2 * k + 1];
        if (!later)
            continue;
        rounds->missing--;
        rounds->word[2 * k] = later;
        if (round_of(later) > rounds->round) /* it went ahead: counts now and again later */
            tacit_keep(later);
        else
            rounds->word[2 * k + 1] = NULL;
    }
}

tacit_status tacit_rounds_feed(tacit_env *env, tacit_rounds *rounds, const tacit_event *event,
                               tacit_status (*on)(tacit_env *, const void *, void *,
                                                  const tacit_event *),
                               const void *shared, void *self)
{
    bool over = false;
    if (event->type == TACIT_MESSAGE && event->slot != TACIT_NO_SLOT)
        hear(env, rounds, event->slot, event->payload);
    else if (event->type == TACIT_TIMER)
        over = event->id == rounds->round;
    while (rounds->missing == 0 || over) {
        uint64_t ended = rounds->round;
        tacit_event round = {.type = TACIT_ROUND,
                             .at = {env->channel, 0},
                             .from = TACIT_NOBODY,
                             .slot = TACIT_NO_SLOT,
                             .id = ended};
        tacit_status status = on(env, shared, self, &round);
        if (status != TACIT_OK || rounds->round == ended)
            return status; /* the protocol did not go on: it has finished */
        over = false;
    }
    return TACIT_OK;
}

void tacit_rounds_end(tacit_env *env, tacit_rounds *rounds)
{
    forget(env, rounds);
    for (uint32_t k = 0; k < rounds->count; k++) {
        tacit_drop(env, rounds->word[2 * k + 1]);
        rounds->word[2 * k + 1] = NULL;
    }
}

void tacit_rounds_save(const tacit_rounds *rounds, tacit_saver *saver)
{
    tacit_save_u64(saver, rounds->round);
    tacit_save_u64(saver, rounds->missing);
    tacit_save_f64(saver, rounds->patience);
    for (uint32_t k = 0; k < 2 * rounds->count; k++)
        tacit_save_public(saver, rounds->word[k]);
}

void tacit_rounds_load(tacit_rounds *rounds, const tacit_public **words, uint32_t neighbours,
                       tacit_loader *loader, const tacit_shape *shape)
{
    rounds->word = words;
    rounds->count = neighbours;
    rounds->round = tacit_load_u64(loader);
    rounds->missing = (uint32_t)tacit_load_u64(loader);
    rounds->patience = tacit_load_f64(loader);
    for (uint32_t k = 0; k < 2 * neighbours; k++)
        rounds->word[k] = tacit_load_public(loader, shape);
}
