/* SPDX-License-Identifier: Apache-2.0 */
/* What report.html says of a search: the winner, what the choice cost, and how it was found. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiment/tune.h"
#include "report/page.h"

static void epsilon_figure(tacit_writer *out, const char *label, double epsilon, const char *words)
{
    char number[40];
    snprintf(number, sizeof number, "%.6g", epsilon);
    if (strtod(number, NULL) < epsilon) /* rounded to the safe side */
        snprintf(number, sizeof number, "%.6g", epsilon * (1 + 5e-6));
    if (isinf(epsilon))
        tacit_page_figure(out, label, "unbounded, %s", words);
    else if (!isnan(epsilon))
        tacit_page_figure(out, label, "%s, %s", number, words);
}

static void interval_figure(tacit_writer *out, const char *label, const tacit_interval *i,
                            const char *words)
{
    if (isnan(i->mean))
        return;
    if (isnan(i->low))
        tacit_page_figure(out, label, "%.4f, %s", i->mean, words);
    else
        tacit_page_figure(out, label, "%.4f ± %.4f, %s", i->mean, i->high - i->mean, words);
}

/* The best score so far over the settings in the order of trying, and each one's own. */
static void curve(tacit_writer *out, const tacit_sweep *sweep)
{
    const tacit_tuner *t = sweep->tuner;
    double *x = calloc(3 * (t->tried + 1), sizeof *x), *own, *best, record = NAN;
    if (!x) {
        out->failed = true;
        return;
    }
    own = x + t->tried + 1;
    best = own + t->tried + 1;
    for (size_t i = 0; i < t->tried; i++) {
        x[i] = (double)i + 1;
        own[i] = tacit_tune_mean(sweep, t->order[i], t->few);
        record = tacit_tune_better(sweep, own[i], record) ? own[i] : record;
        best[i] = record;
    }
    const char *score = tacit_sweep_score(sweep);
    const tacit_chart chart = {
        .title = "the search",
        .x_label = "settings tried",
        .y_label = tacit_tuner_charges(t) ? "score as told, with noise"
                   : score                ? score
                                          : "score",
        .note = "Means over the seeds that every setting had first.",
        .series = 2,
        .of = {
            {.name = "best so far", .mark = TACIT_MARK_LINE, .count = t->tried, .x = x, .y = best},
            {.name = "each setting",
             .mark = TACIT_MARK_DOTS,
             .count = t->tried,
             .x = x,
             .y = own}}};
    tacit_page_grid(out);
    tacit_page_chart(out, &chart);
    tacit_page_grid_end(out);
    free(x);
}

static void steps_table(tacit_writer *out, const tacit_sweep *sweep)
{
    const tacit_tune_step *steps;
    const size_t count = tacit_tune_steps(sweep, &steps);
    tacit_page_table(out);
    for (size_t k = 0; k < count; k++)
        tacit_page_figure(out, tacit_tune_kind_name(steps[k].kind),
                          "%zu settings; %zu tried and %zu runs so far; best %.6g", steps[k].alive,
                          steps[k].tried, steps[k].runs, steps[k].mean);
    tacit_page_table_end(out);
}

void tacit_tune_page(tacit_writer *out, const tacit_sweep *sweep)
{
    const tacit_tune_options *o = &sweep->tuner->options;
    tacit_tuned found;
    tacit_sweep_tuned(sweep, &found);
    tacit_page_heading(out, "The search");
    tacit_page_words(out, tacit_tuned_words(o->on), o->on == TACIT_TUNED_UNCHARGED);
    if (found.winner == SIZE_MAX)
        tacit_page_words(out, "No setting has a score for all its seeds.", true);
    else {
        char *settings = tacit_sweep_settings(sweep, found.winner);
        tacit_page_table(out);
        tacit_page_figure(out, "winner", "%s", settings ? settings : "");
        interval_figure(out, "validation", &found.validation,
                        tacit_tuner_charges(sweep->tuner)
                            ? "for its owner alone: it was chosen by what was told of it with noise"
                            : "what it was chosen by");
        interval_figure(out, "test", &found.test, "opened once, for the winner alone");
        if (o->on == TACIT_TUNED_UNCHARGED)
            epsilon_figure(out, "epsilon", INFINITY, "with the search, which nothing covers");
        epsilon_figure(out, "epsilon of one run", found.run_epsilon,
                       tacit_sweep_guarantee(sweep, found.winner));
        epsilon_figure(out, "epsilon of the search", found.search_epsilon,
                       found.unsound ? "a claim: some of the tries are UNSOUND"
                       : found.leaks ? "all tries and what was told of their scores, but not what "
                                       "the notes below call not counted"
                                     : "all tries and what was told of their scores");
        epsilon_figure(out, "and one more run", found.after_epsilon,
                       "the search, and the winner run once more");
        tacit_page_table_end(out);
        free(settings);
    }
    curve(out, sweep);
    steps_table(out, sweep);
}
