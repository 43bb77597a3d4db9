/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_SUMS_H
#define TACIT_SUMS_H
/*
 * Masked sums over an agent's neighbours, for protocols that think in rounds: in every round each
 * agent hears the weighted sum of what its neighbours hold, and no single one of them (masks.h).
 * Like tacit_rounds it is state within an agent's state, fed with events; it speaks on a nested
 * channel, so the protocol's own kinds stay its own. The same on simulated and real peers.
 *
 * Every agent is a receiver to its neighbours, and a member to each of them:
 *
 *   KEY    to all neighbours, at the start of an epoch: own open half, signed (tacit_sign); degree
 *   PAGE   a receiver hands on its neighbours' KEYs to each other of them: the directory for those
 *          two hops apart. Members believe signatures, not the receiver.
 *   CALL   receiver to a member: round, attempt, set (bits by the receiver's slots), scale
 *   WORD   member to receiver: masked numbers
 *   OPEN   receiver to the members: all words of this attempt are here
 *   SEED   member to receiver
 *   CANNOT member to receiver: this member will not make a word for that call (another scale, the
 *          round is over, nothing to give): it is left out at once; or it lacks keys, and is sent
 *          the PAGE again. Receiver to a neighbour: no word of this round is needed any more
 *
 * What weight a member has both ends work out, from the degrees they told and signed: a receiver
 * that chose weights could let one member drown out the others. Members who were told different
 * degrees of their receiver have different masks, which do not cancel.
 *
 * Who is missing when `patience` is over is left out, and the round is tried again among the
 * others, as long as there are `least` of them. A receiver that cannot get a sum goes without:
 * payload NULL. If a SEED is missing, the round is lost to that receiver, too: trying again could
 * show a single word. docs/masks.md has the argument.
 *
 * An agent's round is over when it has its sum (or none) and every neighbour has either opened
 * its word or been silent for three times `patience`. Whoever is called for later rounds by two
 * neighbours has fallen behind and skips: one alone may lie.
 */
#include "tacit/masks.h"
#include "tacit/protocol.h"

#define TACIT_SUMS_MOST 256 /* neighbours of an agent */

enum {
    TACIT_SUMS_KEY = 1,
    TACIT_SUMS_PAGE,
    TACIT_SUMS_CALL,
    TACIT_SUMS_WORD,
    TACIT_SUMS_OPEN,
    TACIT_SUMS_SEED,
    TACIT_SUMS_CANNOT
};

/* Of a run: read-only after tacit_sums_prepare. */
typedef struct tacit_sums_plan {
    /* for the caller to fill: */
    size_t numbers;        /* of a word */
    int32_t fraction;      /* value = number * 2^-fraction */
    uint32_t neighbours;   /* an agent has at most so many; 0: TACIT_SUMS_MOST */
    uint32_t least;        /* members of a set, at least; 2 or more */
    bool split;            /* masks across two halves only, as in 003; else between all pairs */
    double patience;       /* infinity: wait for ever */
    uint64_t epoch_rounds; /* keys are new after so many rounds; 0: never */
    uint64_t rounds;       /* there is none after this one; 0: no such limit */
    uint32_t child;        /* of the protocol's channel */
    /* filled in: */
    tacit_shape number; /* TACIT_I64: what members hold, and sums */
    tacit_shape key, page, call, word, turn, seed;
} tacit_sums_plan;
/* Fills in; refuses what cannot be masked. */
tacit_status tacit_sums_prepare(tacit_sums_plan *plan, tacit_error *err);
/* For tacit_protocol.payload: `at` as the child sees it (tacit_address_child). */
const tacit_shape *tacit_sums_payload(const tacit_sums_plan *plan, tacit_address at);

/* What the protocol does for its sums. */
typedef struct tacit_sums_user {
    /* The weight that a receiver with so many neighbours gives a member with so many, in this
     * round: in (0, 1], the same at both ends. */
    double (*weight)(const void *shared, uint64_t round, uint32_t receiver, uint32_t member);
    /* What this agent holds for the current round, for receiver `slot` who gives it `weight`: a
     * concealed value (tacit_conceal) of plan->number. Asked for once a round and receiver. A new
     * reference, the callee's to drop. TACIT_NO: nothing for this receiver in this round. */
    tacit_status (*hold)(tacit_env *env, const void *shared, void *self, uint32_t slot,
                         double weight, tacit_secret **out);
    /* The round is over: event TACIT_ROUND, id the round, payload the sum of plan->number or NULL,
     * to be asked about with tacit_sums_has. The protocol computes, and calls tacit_sums_next for
     * round id + 1 when it holds something for it (now or later). An agent that had fallen behind
     * is told of the last round it skips: ids rise, but not always by one. */
    tacit_status (*on)(tacit_env *env, const void *shared, void *self, const tacit_event *event);
} tacit_sums_user;

typedef struct tacit_sums tacit_sums; /* tacit_sums_size bytes in an agent's state, zeroed */
size_t tacit_sums_size(const tacit_sums_plan *plan, uint32_t neighbours);
/* Refuses fewer than `least` neighbours: an agent of one neighbour would hear its very words. */
tacit_status tacit_sums_start(tacit_env *env, const tacit_sums_plan *plan, tacit_sums *sums);
/* Feed every MESSAGE and TIMER event of the child, and every PEER_UP and PEER_DOWN (they belong to
 * no channel). */
tacit_status tacit_sums_feed(tacit_env *env, const tacit_sums_plan *plan, tacit_sums *sums,
                             const tacit_event *event, const tacit_sums_user *user,
                             const void *shared, void *self);
/* The agent holds something for round `round` from here on; the first is 1. */
tacit_status tacit_sums_next(tacit_env *env, const tacit_sums_plan *plan, tacit_sums *sums,
                             uint64_t round, const tacit_sums_user *user, const void *shared,
                             void *self);
uint64_t tacit_sums_round(const tacit_sums *sums);
/* During `on`: neighbour `slot` is in the sum, with this weight. */
bool tacit_sums_has(const tacit_sums *sums, uint32_t slot, double *weight);
/* The degree that neighbour `slot` told with its key; 0: nothing was heard of it yet. */
uint32_t tacit_sums_degree(const tacit_sums *sums, uint32_t slot);
/* A number of a sum as a value: number * 2^-fraction. */
double tacit_sums_value(const tacit_sums_plan *plan, const tacit_public *sum, size_t index);
/* How often this agent tried again, and went without a sum. */
void tacit_sums_counts(const tacit_sums *sums, uint64_t *again, uint64_t *without);
void tacit_sums_save(const tacit_sums_plan *plan, const tacit_sums *sums, uint32_t neighbours,
                     tacit_saver *saver);
void tacit_sums_load(const tacit_sums_plan *plan, tacit_sums *sums, uint32_t neighbours,
                     tacit_loader *loader);
/* The run is over (TACIT_FINISH): own keys, secrets of pairs and what was held for sums under way
 * are wiped, so that no state that is kept from now on holds them. What comes later is not
 * answered. */
void tacit_sums_forget(tacit_env *env, const tacit_sums_plan *plan, tacit_sums *sums);
void tacit_sums_end(tacit_env *env, const tacit_sums_plan *plan, tacit_sums *sums);

#endif
