/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_TUNE_H
#define TACIT_EXPERIMENT_TUNE_H
/* Inside of a search, shared by its files. */
#include "experiment/sweep.h"
#include "tacit/account.h"
#include "tacit/tune.h"

/* Values of a key in their order: by size where they are numbers. */
typedef struct tacit_tune_axis {
    uint32_t *order; /* the value at each place */
    uint32_t *place; /* and back */
    size_t count;
    bool ordered; /* neighbours mean something */
} tacit_tune_axis;

typedef struct tacit_tuner {
    tacit_tune_options options; /* nothing unsaid */
    size_t few;                 /* seeds that a setting gets when it is first tried */
    tacit_tune_axis *axes;
    size_t *spread; /* the settings that are tried first */
    size_t spread_count;
    /* private: what all points agree on, and what one agent's score of one try costs */
    tacit_budget budget;
    tacit_unit unit;
    tacit_adjacency adjacency;
    tacit_cost score;
    bool on_file; /* some records are read, not drawn */
    /* the search so far, as tacit_tune_next last saw it */
    size_t *level; /* of each point: seeds that it was given; 0: not tried */
    size_t *order; /* points in the order they were first tried */
    size_t tried;
    bool *wanted; /* of each run: to be done next */
    size_t wanted_count;
    bool testing; /* those are the winner's, with test records */
    tacit_tune_step *steps;
    size_t step_count, step_capacity;
    size_t winner; /* SIZE_MAX: not known yet */
    bool over;     /* nothing more will be wanted */
} tacit_tuner;

/* ---- tune_plan.c ---- */
/* Check what the options ask of every point, and plan the first tries. */
tacit_status tacit_tuner_create(tacit_sweep *sweep, const tacit_tune_options *options,
                                tacit_error *err);
void tacit_tuner_free(tacit_sweep *sweep);
/* A private search: what is chosen by was told with noise. */
static inline bool tacit_tuner_charges(const tacit_tuner *tuner)
{
    return tuner && tuner->options.on == TACIT_TUNED_PRIVATE;
}

/* ---- tune_grid.c ---- */
bool tacit_tune_axes(tacit_tuner *tuner, const tacit_sweep *sweep);
/* `count` points spread over the grid, all if there are no more; false without memory. */
bool tacit_tune_spread(tacit_tuner *tuner, const tacit_sweep *sweep, size_t count);
/* Untried neighbours of `centre`, a `share` of each ordered key away (at least one value), and
 * its twins with other words: at most `room` of them. `*finest`: no step can be shorter. */
size_t tacit_tune_near(const tacit_sweep *sweep, size_t centre, double share, size_t *out,
                       size_t room, bool *finest);

/* ---- tune_steps.c ---- */
/* Which runs come next, from the results so far: tuner->wanted. `*more` is false when the search
 * is over. */
tacit_status tacit_tune_next(tacit_sweep *sweep, bool *more, tacit_error *err);
/* May the search go on with such a result? */
tacit_status tacit_tune_accepts(const tacit_sweep *sweep, const tacit_sweep_result *result,
                                tacit_error *err);
/* The most runs it can take, for a progress bar. */
size_t tacit_tune_most(const tacit_sweep *sweep);

/* ---- tune_charge.c ---- */
/* Seeds of what must differ between tries, though their run.seed is the same: composition is
 * about noise that is drawn anew. */
typedef enum tacit_tune_stream { TACIT_TUNE_NOISE, TACIT_TUNE_SCORES } tacit_tune_stream;
uint64_t tacit_tune_seed(const tacit_sweep *sweep, size_t run, tacit_tune_stream stream);
/* The losses of who told most in a session, as text; NULL without memory. */
char *tacit_tune_spent(const tacit_session *session);
/* Such a text back, appended to a list; false if it is none. */
typedef struct tacit_losses {
    tacit_loss *all;
    size_t count, capacity;
} tacit_losses;
bool tacit_losses_read(tacit_losses *list, const char *text);
/* Every agent tells its score with noise of its own; the mean of what they say. */
tacit_status tacit_tune_release(const tacit_sweep *sweep, tacit_session *session, size_t run,
                                double *mean, tacit_error *err);
/* The noise with which the scores of all `tries` cost choice_epsilon, and that cost. */
tacit_status tacit_tune_price(tacit_tuner *tuner, tacit_mechanism mechanism, size_t tries,
                              tacit_error *err);

/* What a point was judged by, over its first seeds: the mean of scores, or of what was told of
 * them; as the score is, not turned round. NaN if one failed. */
double tacit_tune_mean(const tacit_sweep *sweep, size_t point, size_t seeds);
/* Is one such mean better than another? NaN is worse than all. */
bool tacit_tune_better(const tacit_sweep *sweep, double mean, double other);

/* ---- tune_text.c, tune_page.c ---- */
char *tacit_tune_csv(const tacit_sweep *sweep);                     /* search.csv */
void tacit_tune_json(tacit_json *json, const tacit_sweep *sweep);   /* "tuning" */
void tacit_tune_page(tacit_writer *out, const tacit_sweep *sweep);  /* how the search went */
void tacit_tune_words(tacit_writer *out, const tacit_sweep *sweep); /* behind every guarantee */

#endif
