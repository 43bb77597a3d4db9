/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a search. Every decision is a function of results that are there, and is taken
 * anew from the first step whenever runs have ended: so neither the number of threads nor an
 * interruption can change one.
 *
 *   spread  all settings, or some spread over the grid, with few seeds each
 *   near    while settings may still be tried: neighbours of the best, half as far as the first
 *           ones are from each other; where that finds nothing better, half as far again
 *   seeds   twice as many seeds for all that are not clearly worse: those whose differences from
 *           the best, seed by seed, have a 95 % interval that reaches 0
 *   test    the winner alone, on test records
 *
 * A search that is charged has the first step and the last: what its tries cost must be fixed
 * before anything is heard of them (docs/sweeps.md). It chooses by what agents told with noise.
 *
 * Invariant: test scores are NaN in every result until the winner is known.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "experiment/tune.h"

typedef struct search {
    tacit_sweep *sweep;
    tacit_tuner *tuner;
    size_t *list; /* settings of the step at hand */
    size_t count;
    double *values; /* room for one number a seed */
    bool waits;     /* for runs that are wanted */
    tacit_status status;
    tacit_error *err;
} search;

const char *tacit_tune_kind_name(tacit_tune_kind kind)
{
    static const char *const names[] = {"spread", "near", "seeds", "test"};
    return names[kind];
}

size_t tacit_tune_steps(const tacit_sweep *sweep, const tacit_tune_step **steps)
{
    *steps = sweep->tuner ? sweep->tuner->steps : NULL;
    return sweep->tuner ? sweep->tuner->step_count : 0;
}

size_t tacit_tune_most(const tacit_sweep *sweep)
{
    const size_t tries = sweep->tuner->options.tries;
    const size_t settings = tries < sweep->point_count ? tries : sweep->point_count;
    return settings * sweep->seed_count + sweep->seed_count;
}

/* ---- scores ---- */

/* What a run is judged by; NaN: it failed. */
static double score_of(const tacit_sweep *sweep, size_t point, size_t seed)
{
    const tacit_sweep_result *r = &sweep->results[point * sweep->seed_count + seed];
    if (r->state != TACIT_SWEEP_DONE)
        return NAN;
    return tacit_tuner_charges(sweep->tuner) ? r->released : r->value[TACIT_SWEEP_VALIDATION];
}

double tacit_tune_mean(const tacit_sweep *sweep, size_t point, size_t seeds)
{
    double sum = 0;
    for (size_t k = 0; k < seeds; k++)
        sum += score_of(sweep, point, k);
    return seeds ? sum / (double)seeds : NAN;
}

bool tacit_tune_better(const tacit_sweep *sweep, double mean, double other)
{
    if (isnan(mean) || isnan(other))
        return !isnan(mean);
    return tacit_sweep_up(sweep, TACIT_SWEEP_VALIDATION) ? mean > other : mean < other;
}

/* The best of those with at least `seeds` seeds; the first of equals. What is unsound is worse
 * than whatever is not. */
static size_t best_of(const search *s, size_t seeds, double *mean)
{
    size_t best = SIZE_MAX;
    bool claim = false;
    *mean = NAN;
    for (size_t p = 0; p < s->sweep->point_count; p++) {
        if (s->tuner->level[p] == 0 || s->tuner->level[p] < seeds)
            continue;
        const double here = tacit_tune_mean(s->sweep, p, s->tuner->level[p]);
        const bool unsound = tacit_sweep_unsound(s->sweep, p);
        if (isnan(here))
            continue;
        if (best == SIZE_MAX ||
            (unsound == claim ? tacit_tune_better(s->sweep, here, *mean) : claim)) {
            best = p;
            claim = unsound;
            *mean = here;
        }
    }
    return best;
}

/* Are its differences from the best, on the same seeds, surely not 0? Equal data and equal
 * clocks make them scatter less than the scores do. */
static bool clearly_worse(const search *s, size_t point, size_t best, size_t seeds)
{
    const double sign = tacit_sweep_up(s->sweep, TACIT_SWEEP_VALIDATION) ? 1 : -1;
    for (size_t k = 0; k < seeds; k++)
        s->values[k] = sign * (score_of(s->sweep, best, k) - score_of(s->sweep, point, k));
    const tacit_interval gap = tacit_interval_of(s->values, seeds);
    return isnan(gap.mean) || gap.low > 0;
}

/* ---- steps ---- */

static bool is_over(const search *s, size_t run)
{
    const tacit_sweep_result *r = &s->sweep->results[run];
    return s->tuner->testing ? r->state == TACIT_SWEEP_FAILED || r->opened
                             : r->state != TACIT_SWEEP_WAITING;
}

/* Give every setting of the list so many seeds. */
static void want(search *s, size_t seeds)
{
    s->tuner->wanted_count = 0;
    for (size_t i = 0; i < s->count; i++) {
        const size_t point = s->list[i];
        if (s->tuner->level[point] == 0)
            s->tuner->order[s->tuner->tried++] = point;
        if (s->tuner->level[point] < seeds)
            s->tuner->level[point] = seeds;
        for (size_t k = 0; k < seeds; k++) {
            const size_t run = point * s->sweep->seed_count + k;
            if (is_over(s, run))
                continue;
            s->tuner->wanted[run] = true;
            s->tuner->wanted_count++;
        }
    }
    s->waits = s->tuner->wanted_count > 0;
}

/* Results are not put in order by who finished first: what is wrong with one is wrong with all,
 * or ends the search whichever it was. */
tacit_status tacit_tune_accepts(const tacit_sweep *sweep, const tacit_sweep_result *result,
                                tacit_error *err)
{
    const bool failed = result->state == TACIT_SWEEP_FAILED;
    if (failed && sweep->tuner->testing)
        return tacit_fail(err, TACIT_EINPUT, "the winner failed when it was run again: %.300s",
                          result->message ? result->message : "no memory");
    if (failed && tacit_tuner_charges(sweep->tuner))
        return tacit_fail(err, TACIT_EINPUT,
                          "a try failed (%.200s), and which ones do tells something that no "
                          "epsilon here covers; take those settings out of the grid",
                          result->message ? result->message : "no memory");
    if (!failed && isnan(result->value[TACIT_SWEEP_VALIDATION]))
        return tacit_fail(err, TACIT_EINPUT,
                          "there are no validation records to choose by, and test records are for "
                          "the winner; set \"data.validation-fraction\"");
    return TACIT_OK;
}

static void check_scores(search *s)
{
    if (!tacit_sweep_score(s->sweep) && tacit_sweep_count(s->sweep, TACIT_SWEEP_DONE) > 0)
        s->status = tacit_fail(s->err, TACIT_EINPUT,
                               "the settings have different scores, and an accuracy is neither "
                               "above nor below an error; vary something else");
}

static void close_step(search *s, tacit_tune_kind kind, size_t seeds)
{
    tacit_tuner *t = s->tuner;
    if (s->waits || s->status)
        return;
    check_scores(s);
    if (s->status)
        return;
    tacit_tune_step *steps =
        tacit_array_grow(t->steps, &t->step_capacity, t->step_count + 1, sizeof *steps);
    if (!steps) {
        s->status = tacit_out_of_memory(s->err);
        return;
    }
    t->steps = steps;
    tacit_tune_step *step = &t->steps[t->step_count++];
    *step = (tacit_tune_step){.kind = kind, .alive = s->count};
    step->tried = t->tried;
    for (size_t i = 0; i < t->tried; i++)
        step->runs += t->level[t->order[i]];
    step->best = best_of(s, seeds, &step->mean);
    if (step->best != SIZE_MAX)
        step->mean = tacit_tune_mean(s->sweep, step->best, t->level[step->best]);
}

static void spread(search *s)
{
    s->count = s->tuner->spread_count;
    memcpy(s->list, s->tuner->spread, s->count * sizeof *s->list);
    want(s, s->tuner->few);
    close_step(s, TACIT_TUNE_SPREAD, s->tuner->few);
}

static void near(search *s)
{
    const size_t tries = s->tuner->options.tries;
    size_t tried = s->tuner->spread_count;
    const double axes = (double)s->sweep->axis_count;
    double share = 0.5 / pow((double)tried, 1 / axes), mean;
    for (bool finest = false; tried < tries && !s->waits && !s->status;) {
        const size_t centre = best_of(s, s->tuner->few, &mean);
        if (centre == SIZE_MAX)
            return; /* all failed */
        s->count = tacit_tune_near(s->sweep, centre, share, s->list, tries - tried, &finest);
        if (s->count == SIZE_MAX) {
            s->status = tacit_out_of_memory(s->err);
            return;
        }
        tried += s->count;
        if (s->count > 0) {
            want(s, s->tuner->few);
            close_step(s, TACIT_TUNE_NEAR, s->tuner->few);
        } else if (finest)
            return;
        if (!s->waits && best_of(s, s->tuner->few, &mean) == centre)
            share /= 2;
    }
}

static void more_seeds(search *s)
{
    for (size_t seeds = s->tuner->few; seeds < s->sweep->seed_count && !s->waits && !s->status;) {
        double mean;
        const size_t best = best_of(s, seeds, &mean);
        s->count = 0;
        for (size_t p = 0; p < s->sweep->point_count && best != SIZE_MAX; p++)
            if (s->tuner->level[p] >= seeds && (p == best || !clearly_worse(s, p, best, seeds)))
                s->list[s->count++] = p;
        if (s->count == 0)
            return;
        seeds = 2 * seeds < s->sweep->seed_count ? 2 * seeds : s->sweep->seed_count;
        want(s, seeds);
        close_step(s, TACIT_TUNE_SEEDS, seeds);
    }
}

static void open_test(search *s)
{
    double mean;
    s->tuner->winner = best_of(s, s->sweep->seed_count, &mean);
    if (s->tuner->winner == SIZE_MAX)
        return;
    s->tuner->testing = true;
    s->list[0] = s->tuner->winner;
    s->count = 1;
    want(s, s->sweep->seed_count);
    close_step(s, TACIT_TUNE_TEST, s->sweep->seed_count);
}

tacit_status tacit_tune_next(tacit_sweep *sweep, bool *more, tacit_error *err)
{
    tacit_tuner *t = sweep->tuner;
    search s = {.sweep = sweep, .tuner = t, .err = err, .status = TACIT_OK};
    *more = false;
    s.list = calloc(sweep->point_count, sizeof *s.list);
    s.values = calloc(sweep->seed_count, sizeof *s.values);
    memset(t->level, 0, sweep->point_count * sizeof *t->level);
    memset(t->wanted, 0, tacit_sweep_runs(sweep) * sizeof *t->wanted);
    t->step_count = t->tried = 0;
    t->testing = false;
    t->winner = SIZE_MAX;
    if (!s.list || !s.values)
        s.status = tacit_out_of_memory(err);
    static void (*const steps[])(search *) = {spread, near, more_seeds, open_test};
    for (size_t k = 0; k < sizeof steps / sizeof *steps && !s.status && !s.waits; k++)
        if (k != 1 || !tacit_tuner_charges(t))
            steps[k](&s);
    *more = !s.status && s.waits;
    t->over = !s.status && !s.waits;
    free(s.list);
    free(s.values);
    return s.status;
}
