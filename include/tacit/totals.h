/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TOTALS_H
#define TACIT_TOTALS_H
/*
 * Masked sums over all agents: in every round everybody hears the sum of what all who took part
 * hold, and nobody hears more (docs/totals.md). Like tacit_sums it is state within an agent's
 * state, fed with events, on a nested channel, and the same on simulated and real peers.
 *
 * Masks: everybody chooses k partners at random (thesis 001, section 4.1: a k-out graph, built
 * while running) and shares a secret with them and with those who chose it. A word is the number,
 * plus or minus a stream of each pair, plus the stream of an own seed. Instead of uniform streams
 * pairs may add Gaussian noise (GOPA as printed).
 *
 * Who adds up: nobody in particular. For each try of a round a public hash names one speaker and,
 * for every `span` agents, one adder. Members tell their adder, adders the speaker; nobody sees
 * more than `span` words or parts, and nobody of them is trusted with anything but the result.
 *
 *   step 0   HERE   who is there; nothing was computed, nothing is charged
 *            SET    the speaker: these are (too few: the round is refused)
 *   step 1   WORD   masked for the partners in that set; with shares of the own seed for the k
 *                   partners one chose, under keys only they know
 *            SET    these words came
 *   step 2.. PAID   for partners who went missing since: the pair's key of this try, whereby what
 *                   it added is taken out again; asked of those who have such partners
 *            SET    without those who did not pay; until nobody owes
 *   last     CONFIRM  to those who chose me: the final set, as a hash
 *            SEED   when a quorum of those I chose confirmed the same set
 *            (a SEED is missing: PAD, from those it chose, gives it back)
 *   PART, RESULT    adders to the speaker; the speaker to everybody
 *
 * At most one sum of a try comes out, over at least half of the honest, but for a chance that
 * tacit_gopa_lying_risk bounds, whatever speaker, adders and colluders do (docs/totals.md); for
 * less noise and more drop-outs `curious` plans for speakers and adders that keep to the rules.
 * Each number enters one try only; or, in plans with `again`, further ones until its member has
 * confirmed a set, which it does once: still at most one sum comes out of it. A sum with numbers
 * that no honest members could have is *spoiled*: the round is tried again without half of the
 * suspects, until the liar is alone (totals_search.c).
 */
#include "tacit/board.h"
#include "tacit/masks.h"
#include "tacit/protocol.h"

#define TACIT_TOTALS_PARTNERS 96 /* k at most; as many again may choose an agent, and some more */

/* Of a run: read-only after tacit_totals_prepare. */
typedef struct tacit_totals_plan {
    /* for the caller to fill: */
    uint64_t agents;
    size_t numbers, beside; /* of a word, hidden and open */
    double step;            /* value = number * step: of the cost's grid */
    double most;            /* no honest member's number is larger in size, noise included: steps */
    double beside_most;     /* the same for what is beside */
    uint32_t partners;      /* k; 0: as many as tacit_gopa_partners says */
    double quorum;          /* part of the k that must take part for an agent to do so */
    uint32_t colluders;     /* stated */
    bool curious;           /* who adds up keeps to the rules; else it may lie */
    double absent;          /* planned: this part of those who said HERE may get lost on the way */
    uint32_t least;         /* fewer take part: the round is refused; 3 or more, 0: chosen */
    uint32_t span;          /* words that meet at one adder, at most */
    double patience;        /* with anybody who is silent */
    double jitter;          /* HERE and WORD wait for a random part of this */
    uint32_t tries;         /* of a round, at most */
    uint64_t rounds;        /* there is none after this one */
    double pair;            /* Gaussian pair noise, steps; 0: masks */
    bool board;             /* everybody gets a board; one adder only */
    bool again;             /* a number may be said in further tries until its set is confirmed, and
                               somebody stands by for the speaker: wished for; kept if it is safe */
    double delta;           /* of the budget; 0: nothing is charged */
    uint32_t child;         /* of the protocol's channel */
    /* filled in: */
    uint32_t room;             /* partners of an agent at most: chosen, and been chosen by */
    uint32_t threshold;        /* ceil(quorum * partners) */
    uint32_t losses;           /* of those it chose an agent takes so many for gone, at most */
    uint32_t sure;             /* honest members are in any sum; UINT32_MAX: as many as it says */
    uint32_t blocks;           /* adders */
    double split_risk;         /* log2, tacit_gopa_split_risk or tacit_gopa_lying_risk */
    double bits;               /* minus log2 of a chance that is small beside delta */
    double more_delta;         /* the chance, over who chose whom, that a sum has less noise than
                                * was charged: what the delta of a statement gets beside the noise's */
    struct tacit_noise *noise; /* of pairs, or NULL */
    uint8_t terms[TACIT_MASK_KEY];
    tacit_shape number; /* TACIT_I64: what members hold, and totals */
    tacit_shape open;   /* the same for what is beside, if anything is */
    tacit_shape kind[16];
} tacit_totals_plan;
/* Fills in; refuses what cannot be kept: k too small for the stated colluders or beside delta, a
 * ring that could overflow, fewer agents than `least`. Clear when done. */
tacit_status tacit_totals_prepare(tacit_totals_plan *plan, tacit_error *err);
void tacit_totals_clear(tacit_totals_plan *plan);
/* For tacit_protocol.payload: `at` as the child sees it (tacit_address_child). */
const tacit_shape *tacit_totals_payload(const tacit_totals_plan *plan, tacit_address at);
/* Honest members that surely are in a sum of at least `present` who said HERE: how many shares make
 * up the noise (tacit_conceal's `parts`). */
uint32_t tacit_totals_parts(const tacit_totals_plan *plan, uint32_t present);

typedef enum tacit_totals_outcome {
    TACIT_TOTAL_HEARD,   /* payload: the sum; beside: the open one */
    TACIT_TOTAL_REFUSED, /* too few were there: nothing was computed */
    TACIT_TOTAL_LOST,    /* all tries are over; payload NULL */
    TACIT_TOTAL_SPOILED  /* the same, and the last total was nonsense */
} tacit_totals_outcome;

/* What the protocol does for its totals. */
typedef struct tacit_totals_user {
    /* What this agent gives to the current round: whole numbers of plan->number, concealed with
     * `parts` (tacit_conceal), and plan->beside open numbers. Asked for when a word is needed and
     * none is held: once a round, and (not with `again`) after a try that failed or was spoiled. A
     * new reference, the callee's to drop. TACIT_NO: nothing (any more); it listens on. */
    tacit_status (*hold)(tacit_env *env, const void *shared, void *self, uint32_t parts,
                         tacit_secret **number, int64_t *beside);
    /* The round is over: event TACIT_ROUND with id, payload and beside. The protocol calls
     * tacit_totals_next for a later round, now or later. Ids rise, not always by one. */
    tacit_status (*on)(tacit_env *env, const void *shared, void *self, const tacit_event *event,
                       tacit_totals_outcome outcome);
} tacit_totals_user;

typedef struct tacit_totals tacit_totals; /* tacit_totals_size bytes in an agent's state, zeroed */
size_t tacit_totals_size(const tacit_totals_plan *plan);
/* Chooses partners and greets them. */
tacit_status tacit_totals_start(tacit_env *env, const tacit_totals_plan *plan,
                                tacit_totals *totals);
/* Feed every MESSAGE and TIMER event of the child. */
tacit_status tacit_totals_feed(tacit_env *env, const tacit_totals_plan *plan, tacit_totals *totals,
                               const tacit_event *event, const tacit_totals_user *user,
                               const void *shared, void *self);
/* This agent is ready for round `round`, the first being 1. */
tacit_status tacit_totals_next(tacit_env *env, const tacit_totals_plan *plan, tacit_totals *totals,
                               uint64_t round, const tacit_totals_user *user, const void *shared,
                               void *self);
uint64_t tacit_totals_round(const tacit_totals *totals);
/* During `on`, after TACIT_TOTAL_HEARD: how many members the sum has. */
uint32_t tacit_totals_members(const tacit_totals *totals);
/* How many tries this agent began, and how many of its numbers were opened. */
void tacit_totals_counts(const tacit_totals *totals, uint64_t *tries, uint64_t *opened);
/* Agents that are out because sums with them were spoiled: how many of the plan's. */
uint64_t tacit_totals_expelled(const tacit_totals_plan *plan, const tacit_totals *totals);
/* `run` names the run, as in tacit_facts; tacit_board_clear when done. */
tacit_status tacit_totals_board(const tacit_totals_plan *plan, const tacit_totals *totals,
                                const uint8_t run[TACIT_RUN_ID], tacit_board *out);
void tacit_totals_save(const tacit_totals_plan *plan, const tacit_totals *totals,
                       tacit_saver *saver);
void tacit_totals_load(const tacit_totals_plan *plan, tacit_totals *totals, tacit_loader *loader);
/* The run is over (TACIT_FINISH): own keys and secrets of pairs are wiped, so that no state that is
 * kept from now on holds them. What comes later is not answered. */
void tacit_totals_forget(const tacit_totals_plan *plan, tacit_totals *totals);
void tacit_totals_end(tacit_env *env, const tacit_totals_plan *plan, tacit_totals *totals);

#endif
