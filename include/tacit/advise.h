/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_ADVISE_H
#define TACIT_ADVISE_H
/*
 * Before anything is spent: what would collaborating be worth? From public knowledge alone (how
 * many agents, how many records each, how many features, who is near whom, the budget) to the
 * strategy that should do best, and how often agents should speak. docs/advise.md derives it.
 */
#include "tacit/experiment.h"

typedef enum tacit_strategy {
    TACIT_STRATEGY_ALONE,    /* nothing is said */
    TACIT_STRATEGY_CD,       /* noisy gradients, `ticks` times; then the private finish */
    TACIT_STRATEGY_ONE_SHOT, /* noisy statistics, once; then the private finish */
    TACIT_STRATEGY_CHORUS,   /* statistics in sums over all agents, once; then the finish */
    TACIT_STRATEGY_BARE,     /* no privacy: what the rest is measured against */
    TACIT_STRATEGIES
} tacit_strategy;
const char *tacit_strategy_name(tacit_strategy strategy); /* "alone", "cd", ... */
tacit_trust tacit_strategy_trust(tacit_strategy strategy);

/* What nobody knows before learning; the guesses are printed with the advice. */
typedef struct tacit_assumed {
    double signal; /* S: how much one record tells about the direction of a model, 0 to 1;
                      2/pi for labels that a linear separator explains without error */
    double alike;  /* graphs without angles: correlation of models across the strongest edge */
    double gain;   /* from which on collaborating is called worth it: of the score, or of what is
                      not known alone */
} tacit_assumed;
extern const tacit_assumed tacit_assumed_usually;

#define TACIT_ADVISE_LEAST 1e-3 /* no smaller epsilon is asked for */

typedef struct tacit_prospect {
    double informed; /* mean over agents: share of the model that is known in the end, cos^2 */
    double score;    /* mean accuracy this means; NaN for the squared loss */
    double gain;     /* over alone: of the score, of `informed` for the squared loss */
    double needed;   /* least epsilon at which the gain is guess->gain; INFINITY: none is enough */
    uint64_t ticks;  /* releases of each agent */
} tacit_prospect;

/* How a chorus should be sung. */
typedef struct tacit_voices {
    uint32_t rank;
    double alpha, kappa;
    uint64_t rounds;
    double clarity; /* signal over noise of one voice, in squares, after one round */
} tacit_voices;

typedef struct tacit_advice {
    uint32_t agents, looked_at; /* prospects are means over so many of them */
    size_t features;
    double least_records, mean_records, most_records;
    double mean_neighbours;
    double epsilon, delta; /* what is advised on; with budgets: their median */
    bool budgets;          /* agents have budgets of their own (privacy.budgets) */
    double least_budget, most_budget;
    bool claimed;   /* nothing clips records: epsilon is a claim, and this advice for no such run */
    double sigma;   /* of one release that spends all, over the clip radius */
    double through; /* share of a record's worth that passes the noise to a neighbour */
    double ratio;   /* contraction by one tick of cd, as planned with */
    bool score;     /* `score` is a number */
    tacit_prospect prospect[TACIT_STRATEGIES];
    tacit_voices voices;
    tacit_strategy best[2]; /* under trust local, and with secure sums; ALONE: not worth it */
} tacit_advice;

/* Needs a finite privacy.epsilon > 0 (or median of privacy.budgets) and a delta below 1. Whatever
 * the protocol: only its data's sizes, its graph and its budget are looked at, and no record's
 * values but for a graph that is itself made of them (which leaks, as a run would say). */
tacit_status tacit_advise(tacit_advice *out, const tacit_experiment *experiment,
                          const tacit_assumed *guess, tacit_error *err);
/* Schema tacit.advice/1 (caller frees). */
char *tacit_advice_json(const tacit_advice *advice, const tacit_assumed *guess);

#endif
