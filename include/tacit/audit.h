/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_AUDIT_H
#define TACIT_AUDIT_H
/*
 * What was told, measured from outside: a lower bound on epsilon to put beside the claim.
 *
 * A trial plants a canary or leaves it out, lets the mechanism or the training run, and turns
 * what an adversary saw into one number, the score. Whoever can tell from scores whether the
 * canary was there has shown that epsilon is not small. An audit never shows that a mechanism
 * is private: a low bound may mean a weak attack. docs/audit.md says what the numbers mean.
 *
 * Every bound below holds with the probability `confidence` it was asked for, whatever the
 * mechanism does: thresholds come from pilot trials that are not counted afterwards.
 */
#include "tacit/base.h"
#include "tacit/privacy.h"
#include "tacit/random.h"

/* ---- bounds from counts ---- */

/* Trials without the canary of which `fp` were taken for one with it; with it, and `fn` missed. */
typedef struct tacit_guesses {
    uint64_t fp, n0;
    uint64_t fn, n1;
} tacit_guesses;

/* Both directions of log((1 - fnr - delta) / fpr) with Clopper-Pearson bounds on the rates, each
 * at (1 - confidence) / 2 (Jagielski, Ullman, Oprea 2020); at least 0, NAN for absurd counts. */
double tacit_audit_clopper_pearson(const tacit_guesses *guesses, double delta, double confidence);

/* One direction of the same from both kinds of errors in one test: tighter where few trials are
 * said to have the canary (`mirrored`: to lack it). Conditional on how many those are, the odds
 * ratio has an exact bound (Fisher, Cornfield); Clopper-Pearson bounds at a tenth of 1 - confidence
 * turn odds into probabilities. */
double tacit_audit_ratio(const tacit_guesses *guesses, bool mirrored, double delta,
                         double confidence);

/* What else is known of the mechanism: how far the error rates of any test trade off. The claim
 * is then about a shift of such noise, and a bound on the shift is a bound on epsilon. Laplace
 * means one release; many Gaussian releases are one Gaussian. */
typedef enum tacit_audit_curve {
    TACIT_CURVE_NONE, /* nothing: no such bound */
    TACIT_CURVE_GAUSSIAN,
    TACIT_CURVE_LAPLACE
} tacit_audit_curve;

/* The largest shift that the same two Clopper-Pearson bounds exclude, as epsilon at delta (Nasr
 * et al. 2023, for the Gaussian). */
double tacit_audit_trade_off(const tacit_guesses *guesses, tacit_audit_curve curve, double delta,
                             double confidence);
/* The same from both kinds of errors together; needs n0 == n1 and a confidence of at least 0.8.
 * One bound instead of two, hence tighter when errors are about equally many. */
double tacit_audit_trade_off_pooled(const tacit_guesses *guesses, tacit_audit_curve curve,
                                    double delta, double confidence);

/* One training with `canaries`, each planted or not by a fair coin; `correct` of `guesses` about
 * them were right, the others abstained (Steinke, Nasr, Jagielski 2023): how likely that is at
 * most if training is (epsilon, delta)-DP, and the largest epsilon for which that is below
 * `p`. */
double tacit_audit_one_run_p(uint64_t canaries, uint64_t guesses, uint64_t correct, double epsilon,
                             double delta);
double tacit_audit_one_run(uint64_t canaries, uint64_t guesses, uint64_t correct, double delta,
                           double p);

/* ---- trials ---- */

typedef struct tacit_audit_trial {
    uint64_t number;
    bool with;            /* is the canary there? */
    uint32_t worker;      /* below plan->threads: for memory of its own */
    tacit_stream *stream; /* of this trial alone */
} tacit_audit_trial;

/* One trial; called from many threads at a time. What is not a number counts as -INFINITY. */
typedef tacit_status tacit_audit_score(void *ctx, const tacit_audit_trial *trial, double *score,
                                       tacit_error *err);

typedef struct tacit_audit_plan {
    uint64_t trials;         /* with the canary, and as many without */
    uint64_t pilot;          /* of each kind before those; 0: half as many */
    double delta;            /* of the claim */
    double confidence;       /* at least 0.8 */
    tacit_audit_curve curve; /* of the claimed mechanism */
    uint64_t seed;
    uint32_t threads; /* the result does not depend on it */
    const tacit_stop *stop;
    void (*progress)(void *ctx, double done, double total); /* from the calling thread */
    void *progress_ctx;
} tacit_audit_plan;

#define TACIT_AUDIT_MAX_TRIALS (UINT64_C(1) << 30)

/* How errors become a bound; like thresholds, chosen on the pilot. */
typedef enum tacit_audit_method {
    TACIT_SEPARATE, /* a Clopper-Pearson bound for each kind of errors */
    TACIT_RATIO,    /* tacit_audit_ratio */
    TACIT_MIRRORED,
    TACIT_POOLED /* tacit_audit_trade_off_pooled */
} tacit_audit_method;
extern const char *const tacit_audit_methods[]; /* "separate", ... and NULL */

typedef struct tacit_audit_bound {
    double epsilon;   /* at delta, with the confidence asked for; NAN: there is no such bound */
    double together;  /* a little less: all bounds of an audit hold together with it */
    double threshold; /* chosen on the pilot: the canary is said to be there if the score is */
    bool above;       /* above it (below it otherwise) */
    tacit_audit_method method;
    tacit_guesses guesses;
} tacit_audit_bound;

typedef struct tacit_audit {
    uint64_t pilot, trials;
    double *with, *without; /* pilot + trials scores of each kind, in order */
    double delta, confidence;
    tacit_audit_bound clopper_pearson, trade_off;
} tacit_audit;

/* Run all trials and find the bounds; clear afterwards in any case. */
tacit_status tacit_audit_run(tacit_audit *out, const tacit_audit_plan *plan,
                             tacit_audit_score *score, void *ctx, tacit_error *err);
/* The bounds alone, from the scores in `audit`. */
tacit_status tacit_audit_find(tacit_audit *audit, tacit_audit_curve curve, tacit_error *err);
/* What the audit has shown, with its confidence: the largest of `together`. */
double tacit_audit_shown(const tacit_audit *audit);
void tacit_audit_clear(tacit_audit *audit);

/* ---- one mechanism, by the same road as every release ---- */

/* Ways to get it wrong, to see that an audit notices. */
typedef enum tacit_audit_break {
    TACIT_UNBROKEN,
    TACIT_HALF_NOISE,  /* half the noise that was paid for */
    TACIT_NO_CLIPPING, /* the canary comes in ten times too large, and stays so */
    TACIT_WRONG_NORM,  /* Laplace noise for a vector that was clipped in l2 */
    TACIT_REUSED_SEED, /* a known vector is released with the same noise */
    TACIT_BREAKS
} tacit_audit_break;
extern const char *const tacit_audit_breaks[]; /* "none", "half-noise", ... and NULL */

typedef struct tacit_audited {
    tacit_mechanism mechanism; /* Laplace or Gaussian */
    double epsilon, delta;     /* that the noise is calibrated for; Laplace: delta may be 0 */
    tacit_adjacency adjacency;
    uint64_t coordinates;
    tacit_audit_break broken;
} tacit_audited;

/* The curve, delta and seed of `plan` are those of `what` and of the noise. `cost` is what each
 * release was planned to cost, `claimed` what the ledger says of one. */
tacit_status tacit_audit_mechanism(tacit_audit *out, const tacit_audited *what,
                                   const tacit_audit_plan *plan, tacit_cost *cost, double *claimed,
                                   tacit_error *err);

#endif
