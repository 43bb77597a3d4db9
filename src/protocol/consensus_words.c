/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What agents of dsgd, dsgt and dinno hear of each other.
 *
 * A neighbour that is late counts with its last word. One that is gone (TACIT_PEER_DOWN) is not
 * waited for and does not count: a word that is repeated for ever would draw everybody towards the
 * model of somebody who learns no more. Its weight stays with the agent, as that of a neighbour
 * that was never heard, so weights sum to one and remain those of a symmetric matrix among who is
 * there. Whoever speaks is back.
 */
#include "protocol/consensus.h"

/* ---- memory behind an agent ---- */

const tacit_public **consensus_words(consensus_agent *self)
{
    return (const tacit_public **)(void *)(self + 1);
}

static const tacit_public **last_of(consensus_agent *self, uint32_t neighbours)
{
    return consensus_words(self) + 2 * (size_t)neighbours;
}

static uint8_t *gone_of(consensus_agent *self, uint32_t neighbours)
{
    return (uint8_t *)(consensus_words(self) + 3 * (size_t)neighbours);
}

size_t consensus_agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    return sizeof(consensus_agent) + (size_t)neighbours * (3 * sizeof(const tacit_public *) + 1);
}

/* ---- who is there ---- */

void consensus_come_and_go(tacit_env *env, consensus_agent *self, const tacit_event *event)
{
    const uint32_t n = tacit_facts_of(env)->neighbours;
    if (event->slot == TACIT_NO_SLOT)
        return;
    const bool gone = event->type == TACIT_PEER_DOWN;
    gone_of(self, n)[event->slot] = gone;
    if (!gone)
        return;
    const tacit_public **last = &last_of(self, n)[event->slot];
    tacit_drop(env, *last);
    *last = NULL;
}

bool consensus_complete(tacit_env *env, consensus_agent *self)
{
    const uint32_t n = tacit_facts_of(env)->neighbours;
    const uint8_t *gone = gone_of(self, n);
    uint32_t heard = 0;
    for (uint32_t m = 0; m < n; m++) {
        const bool spoke = tacit_rounds_word(&self->rounds, m) != NULL;
        if (!spoke && !gone[m])
            return false;
        heard += spoke;
    }
    return heard > 0 ||
           n == 0; /* cut off from all it waits: to go on alone would waste its budget */
}

/* ---- words ---- */

tacit_status consensus_make_word(tacit_env *env, const consensus_shared *s,
                                 const consensus_agent *self, tacit_public **word)
{
    *word = tacit_new_public(env, &s->word);
    if (!*word)
        return tacit_out_of_memory(tacit_own_error(env));
    for (uint32_t part = 0; part < s->way->parts; part++)
        s->way->tell(s, self, part, *word);
    tacit_public_set_int(*word, s->way->parts, 0, tacit_facts_of(env)->neighbours);
    return TACIT_OK;
}

/* This round's word of a neighbour, else its last one; NULL: it never said any. */
static const tacit_public *latest(tacit_env *env, consensus_agent *self, uint32_t slot)
{
    const tacit_public *word = tacit_rounds_word(&self->rounds, slot);
    const tacit_public **last = &last_of(self, tacit_facts_of(env)->neighbours)[slot];
    if (word && word != *last) {
        tacit_drop(env, *last);
        *last = tacit_keep(word);
    }
    return *last;
}

static uint64_t degree_in(const consensus_shared *s, const tacit_public *word)
{
    const int64_t degree = tacit_public_get_int(word, s->way->parts, 0);
    return degree > 0 && degree < UINT32_MAX ? (uint64_t)degree : 1;
}

tacit_status consensus_listen(tacit_env *env, const consensus_shared *s, consensus_agent *self,
                              consensus_heard *heard)
{
    const uint32_t n = tacit_facts_of(env)->neighbours;
    heard->count = n + 1;
    heard->weight = tacit_temporary(env, (n + 1) * sizeof *heard->weight);
    heard->word = tacit_temporary(env, (n + 1) * sizeof *heard->word);
    tacit_public *own;
    if (!heard->weight || !heard->word)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_status status = consensus_make_word(env, s, self, &own);
    if (status != TACIT_OK)
        return status;
    tacit_combination_sight sight = {.degree = n, .closed = (uint64_t)n + 1, .largest = s->largest};
    for (uint32_t m = 0; m < n; m++) {
        heard->word[m + 1] = latest(env, self, m);
        sight.closed += heard->word[m + 1] ? degree_in(s, heard->word[m + 1]) + 1 : 0;
    }
    heard->word[0] = own;
    heard->weight[0] = 1;
    for (uint32_t m = 1; m <= n; m++) {
        heard->weight[m] = heard->word[m]
                               ? tacit_combination_weight((tacit_combination)s->options.policy,
                                                          &sight, degree_in(s, heard->word[m]))
                               : 0;
        heard->weight[0] -= heard->weight[m];
    }
    return TACIT_OK;
}

/* ---- state ---- */

void consensus_words_save(const consensus_agent *self, uint32_t neighbours, tacit_saver *saver)
{
    consensus_agent *own = (consensus_agent *)(uintptr_t)self;
    tacit_rounds_save(&self->rounds, saver);
    tacit_view_save(last_of(own, neighbours), neighbours, saver);
    for (uint32_t m = 0; m < neighbours; m++)
        tacit_save_u64(saver, gone_of(own, neighbours)[m]);
}

void consensus_words_load(const consensus_shared *s, consensus_agent *self, uint32_t neighbours,
                          tacit_loader *loader)
{
    tacit_rounds_load(&self->rounds, consensus_words(self), neighbours, loader, &s->word);
    tacit_view_load(last_of(self, neighbours), neighbours, loader, &s->word);
    for (uint32_t m = 0; m < neighbours; m++)
        gone_of(self, neighbours)[m] = tacit_load_u64(loader) != 0;
}

void consensus_words_end(tacit_env *env, consensus_agent *self)
{
    const uint32_t n = tacit_facts_of(env)->neighbours;
    if (self->rounds.word)
        tacit_rounds_end(env, &self->rounds);
    tacit_view_end(env, last_of(self, n), n);
}
