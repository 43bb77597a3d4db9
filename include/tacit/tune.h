/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TUNE_H
#define TACIT_TUNE_H
/*
 * A search over the grid of a sweep for the setting with the best validation score.
 *
 * Which setting won is itself told about the records it was tried on. So a search says on whose
 * records it was made, and what that costs; docs/sweeps.md has the argument:
 *
 *   simulated  records drawn from a seed are nobody's: the choice costs nothing
 *   public     the same, on the user's word
 *   private    charged: what all tries release, and every agent's score with noise of its own,
 *              composed by the run's accountant; tries and costs are fixed before the first
 *   uncharged  private records, and nothing is charged: no epsilon covers the search
 *
 * The test records are opened once, at the end, for the winner.
 */
#include "tacit/sweep.h"

#define TACIT_TUNE_TRIES 40

typedef enum tacit_tuned_on {
    TACIT_TUNED_UNSAID, /* simulated if all records are drawn; otherwise refused */
    TACIT_TUNED_SIMULATED,
    TACIT_TUNED_PUBLIC,
    TACIT_TUNED_PRIVATE,
    TACIT_TUNED_UNCHARGED
} tacit_tuned_on;
extern const char *const tacit_tuned_on_names[]; /* "auto", "simulated", ... and NULL */

typedef struct tacit_tune_options {
    tacit_tuned_on on;
    size_t tries; /* settings at most; 0: TACIT_TUNE_TRIES */
    /* private alone: */
    double choice_epsilon; /* what all scores together may cost by themselves; 0: 1 */
    double score_bound;    /* a score is moved into 0 .. this; 0: 1, for accuracies only */
} tacit_tune_options;

/* What a sweep searches with; NULL: it is a plain one. */
const tacit_tune_options *tacit_sweep_tuning(const tacit_sweep *sweep);
/* Was the point tried at all? In a plain sweep all are. */
bool tacit_sweep_tried(const tacit_sweep *sweep, size_t point);
/* On whose records, and what that means for an epsilon: one line. */
const char *tacit_tuned_words(tacit_tuned_on on);

/* ---- how the search went: a function of the results, for any number of threads ---- */
typedef enum tacit_tune_kind {
    TACIT_TUNE_SPREAD, /* all settings, or some spread over the grid */
    TACIT_TUNE_NEAR,   /* neighbours of the best */
    TACIT_TUNE_SEEDS,  /* more seeds for who is not clearly worse */
    TACIT_TUNE_TEST    /* the winner on test records */
} tacit_tune_kind;
const char *tacit_tune_kind_name(tacit_tune_kind kind);

typedef struct tacit_tune_step {
    tacit_tune_kind kind;
    size_t runs;  /* done by its end, those of the test not counted again */
    size_t tried; /* settings so far */
    size_t alive; /* settings that it ran */
    size_t best;  /* a point; SIZE_MAX: none yet */
    double mean;  /* its score: the mean over its seeds so far */
} tacit_tune_step;
size_t tacit_tune_steps(const tacit_sweep *sweep, const tacit_tune_step **steps);

/* ---- what it found ---- */
typedef struct tacit_tuned {
    size_t winner; /* SIZE_MAX: none */
    size_t tried, runs;
    tacit_interval validation, test; /* of the winner, over its seeds */
    double released;                 /* private: the mean score it won by; otherwise NaN */
    double noise;                    /* private: deviation of the noise on an agent's score */
    double run_epsilon;              /* of one run of the winner; never told without what follows */
    /* private alone, otherwise NaN; all at the run's delta by its accountant: */
    double tries_epsilon;  /* what all tries released */
    double choice_epsilon; /* what the scores tell */
    double search_epsilon; /* both: of the whole search, the winner's models included */
    double after_epsilon;  /* and with one more run, whichever had won; NaN: not known */
    double more_delta;     /* beside privacy.delta: what but noise may fail in any of these runs */
    bool leaks;            /* of some tries something is not counted: their guarantees say what */
    bool unsound;          /* and of some the epsilon is a claim */
    bool rehearsal;        /* the records are simulated, and charged as if they were not */
    tacit_trust trust;     /* against whom */
} tacit_tuned;
void tacit_sweep_tuned(const tacit_sweep *sweep, tacit_tuned *out);
/* "--set protocol.mu=10 --set graph.k=5", quoted for a shell where need be (caller frees). */
char *tacit_sweep_settings(const tacit_sweep *sweep, size_t point);

#endif
