/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_SWEEP_H
#define TACIT_SWEEP_H
/*
 * A sweep: one experiment over a grid of keys, each point of the grid with several seeds.
 *
 * The plan is complete and checked before anything runs. Runs are independent, so all cores
 * have one each; what comes out depends neither on their number nor on who finishes first.
 */
#include "tacit/experiment.h"

#define TACIT_SWEEP_MOST 100000 /* runs; and values of a key */

/* What to vary. A list of values is "0.1,1,10", and for numbers also ranges, ends included:
 *
 *     5..9        5,6,7,8,9        5..50:5     steps of 5       0.01..100:x10    factors of 10
 *
 * `seeds` is how many ("5": run.seed and the four after it) or which ("3..7", "1,5,9"). */
typedef struct tacit_sweep_grid {
    const char *const *vary; /* "protocol.mu=0.1,1,10" */
    size_t vary_count;
    const char *seeds;
    bool keep_runs;                        /* leave a run folder for each run */
    const struct tacit_tune_options *tune; /* search the grid (tune.h); NULL: run all of it */
} tacit_sweep_grid;

typedef struct tacit_sweep tacit_sweep;

/* Expand the grid over `base`, which is copied, and check every configuration in it. Keys of
 * protocols are welcome beside protocols that do not have them: such a point is there once,
 * without the key. So is what `base` says of one protocol beside another that is varied. */
tacit_status tacit_sweep_plan(tacit_sweep **out, const tacit_config *base,
                              const tacit_sweep_grid *grid, tacit_error *err);
/* The plan that an earlier sweep wrote to its folder. TACIT_EVERIFY if it was edited. */
tacit_status tacit_sweep_read(tacit_sweep **out, const char *folder, tacit_error *err);
void tacit_sweep_free(tacit_sweep *sweep);
/* Would both do the same runs? */
bool tacit_sweep_same(const tacit_sweep *a, const tacit_sweep *b);

const char *tacit_sweep_name(const tacit_sweep *sweep); /* run.name */
size_t tacit_sweep_keys(const tacit_sweep *sweep);
const char *tacit_sweep_key(const tacit_sweep *sweep, size_t key);
size_t tacit_sweep_points(const tacit_sweep *sweep);
/* NULL where the point's protocol has no such key. */
const char *tacit_sweep_value(const tacit_sweep *sweep, size_t point, size_t key);
size_t tacit_sweep_seeds(const tacit_sweep *sweep);
int64_t tacit_sweep_seed(const tacit_sweep *sweep, size_t seed);
/* Run r is point r / seeds with seed r % seeds. */
size_t tacit_sweep_runs(const tacit_sweep *sweep);
/* The configuration of a run; clears what `config` held. */
tacit_status tacit_sweep_config(const tacit_sweep *sweep, size_t run, tacit_config *config,
                                tacit_error *err);

/* ---- running ---- */

/* Called by one thread at a time; `share` counts parts of unfinished runs too. */
typedef void tacit_sweep_progress(void *ctx, size_t finished, size_t total, double share);

/* Writes to `folder` (NULL: nothing):
 *
 *     sweep.yaml    the plan             runs.csv     one row a run; grows as runs finish
 *     means.csv     one row a point      report.html  pictures; both when all is done
 *     runs/000001/  run folders, if the plan keeps them
 *
 * A run that fails is a row with its message and stops nobody. TACIT_OK, or TACIT_NO if runs
 * failed, or TACIT_EINTERRUPTED: then `resume` goes on, repeating what was under way and what
 * failed. The files' bytes are the same however often a sweep was cut, kill -9 included. */
typedef struct tacit_sweep_request {
    const char *folder;
    bool resume;
    uint32_t threads;
    const tacit_stop *stop;
    tacit_sweep_progress *progress;
    void *progress_ctx;
} tacit_sweep_request;
tacit_status tacit_sweep_run(tacit_sweep *sweep, const tacit_sweep_request *request,
                             tacit_error *err);

/* ---- results ---- */

typedef enum tacit_sweep_metric {
    TACIT_SWEEP_TEST, /* scores: see tacit_sweep_score */
    TACIT_SWEEP_TEST_DEVIATION,
    TACIT_SWEEP_VALIDATION,
    TACIT_SWEEP_TRAIN_LOSS,
    TACIT_SWEEP_OBJECTIVE,
    TACIT_SWEEP_EPSILON,
    TACIT_SWEEP_RELEASES,
    TACIT_SWEEP_REFUSED,
    TACIT_SWEEP_MESSAGES,
    TACIT_SWEEP_BYTES,
    TACIT_SWEEP_TICKS,
    TACIT_SWEEP_LOST,
    TACIT_SWEEP_EDGES,
    TACIT_SWEEP_COMPONENTS,
    TACIT_SWEEP_METRICS
} tacit_sweep_metric;
const char *tacit_sweep_metric_name(tacit_sweep_metric metric);
/* By name; "validation_accuracy" is "validation". The error lists what there is. */
tacit_status tacit_sweep_metric_find(tacit_sweep_metric *out, const char *name, tacit_error *err);

typedef enum tacit_sweep_state {
    TACIT_SWEEP_WAITING,
    TACIT_SWEEP_DONE,
    TACIT_SWEEP_FAILED
} tacit_sweep_state;

typedef struct tacit_sweep_result {
    tacit_sweep_state state;
    bool score_up;                     /* larger scores are better */
    char score[16];                    /* "accuracy", "rmse" */
    double value[TACIT_SWEEP_METRICS]; /* NaN: nothing to measure */
    char *guarantee;                   /* what `epsilon` is about: an epsilon is never told alone */
    char *message;                     /* why it failed, or NULL */
    /* of a search (tune.h): */
    bool opened;     /* its test records were looked at */
    double released; /* private: the mean score as agents told it, with noise */
    char *spent;     /* private: the losses of who told most, for accountants; or NULL */
} tacit_sweep_result;
const tacit_sweep_result *tacit_sweep_result_of(const tacit_sweep *sweep, size_t run);
size_t tacit_sweep_count(const tacit_sweep *sweep, tacit_sweep_state state);
/* The score of all runs that are done, NULL if there is none or if they differ. */
const char *tacit_sweep_score(const tacit_sweep *sweep);

/* Mean over the seeds that are done and its 95 % interval by Student's t, which believes that
 * seeds scatter like a normal. NaN where it cannot be said: one seed has no interval, and
 * neither has an infinite mean. */
typedef struct tacit_interval {
    size_t n;
    double mean, low, high;
} tacit_interval;
tacit_interval tacit_interval_of(const double *values, size_t n);
tacit_interval tacit_sweep_interval(const tacit_sweep *sweep, size_t point,
                                    tacit_sweep_metric metric);
/* What a point's epsilon is about; "" if no run of it is done. */
const char *tacit_sweep_guarantee(const tacit_sweep *sweep, size_t point);
/* Is its epsilon a mere claim (privacy.claimed)? */
bool tacit_sweep_unsound(const tacit_sweep *sweep, size_t point);
/* The number from 1 of a guarantee among `*count` distinct ones in `notes`, to which it is added
 * if it is new; 0 for "". The caller has room for it. */
size_t tacit_sweep_note(const char **notes, size_t *count, const char *guarantee);
/* The point with the best mean among those of which every run is done, the first of equals;
 * SIZE_MAX if there is none. What is unsound is worse than whatever is not. Of a search: its
 * winner, whatever the metric. */
size_t tacit_sweep_best(const tacit_sweep *sweep, tacit_sweep_metric metric);
/* Is a larger mean better? */
bool tacit_sweep_up(const tacit_sweep *sweep, tacit_sweep_metric metric);
/* What must be said of the folder, as tacit_session_keep does of a run's; NULL: nothing. */
const char *tacit_sweep_keep(const tacit_sweep *sweep);
/* Schema tacit.sweep/1 (caller frees); the best point by `metric`, TACIT_SWEEP_METRICS for
 * none. */
char *tacit_sweep_json(const tacit_sweep *sweep, tacit_sweep_metric metric);

#endif
