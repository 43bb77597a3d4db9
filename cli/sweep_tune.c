/* SPDX-License-Identifier: Apache-2.0 */
/* tacit sweep --optimize: what its flags ask for, and the winner in words. */
#include "sweep.h"
#include "terminal.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- flags ---- */

static const tacit_option tries_option = {
    .key = "--tries", .type = TACIT_OPT_INT, .min = 1, .max = TACIT_SWEEP_MOST};
static const tacit_option epsilon_option = {
    .key = "--choice-epsilon", .type = TACIT_OPT_REAL, .min = 1e-6, .max = 1e6};
static const tacit_option bound_option = {
    .key = "--score-bound", .type = TACIT_OPT_REAL, .min = 1e-12, .max = 1e12};

static tacit_status check_metric(const char *name, tacit_error *err)
{
    tacit_error why = {0};
    tacit_sweep_metric metric;
    if (tacit_sweep_metric_find(&metric, name, &why))
        return tacit_fail(err, TACIT_EUSAGE, "--optimize: %s", why.text);
    if (metric == TACIT_SWEEP_TEST || metric == TACIT_SWEEP_TEST_DEVIATION)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--optimize: test records are opened once, for the winner: who chooses "
                          "by them has none left; choose by \"validation\"");
    if (metric != TACIT_SWEEP_VALIDATION)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--optimize: \"%s\" does not say how good a setting is; choose by "
                          "\"validation\", or mark a point with --best",
                          tacit_sweep_metric_name(metric));
    return TACIT_OK;
}

static tacit_status read_number(const tacit_option *option, const char *text, void *out,
                                tacit_error *err)
{
    return *text && tacit_option_set(option, out, text, err) ? TACIT_EUSAGE : TACIT_OK;
}

tacit_status sweep_read_tuning(const sweep_flags *flags, tacit_tune_options *options,
                               const tacit_tune_options **out, tacit_error *err)
{
    const char *const needs[][2] = {{flags->tries, "tries"},
                                    {flags->tuned_on ? "said" : "", "tuned-on"},
                                    {flags->choice_epsilon, "choice-epsilon"},
                                    {flags->score_bound, "score-bound"}};
    int64_t tries = 0;
    *out = NULL;
    *options = (tacit_tune_options){.on = (tacit_tuned_on)flags->tuned_on};
    for (size_t k = 0; k < sizeof needs / sizeof *needs && !*flags->optimize; k++)
        if (*needs[k][0])
            return tacit_fail(err, TACIT_EUSAGE, "\"--%s\" is for --optimize", needs[k][1]);
    if (!*flags->optimize)
        return TACIT_OK;
    if (*flags->best)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--best does not go with --optimize, which says what is best");
    tacit_status status = check_metric(flags->optimize, err);
    if (!status)
        status = read_number(&tries_option, flags->tries, &tries, err);
    if (!status)
        status = read_number(&epsilon_option, flags->choice_epsilon, &options->choice_epsilon, err);
    if (!status)
        status = read_number(&bound_option, flags->score_bound, &options->score_bound, err);
    options->tries = (size_t)tries;
    *out = options;
    return status;
}

/* ---- words ---- */

#define LABEL 12

static void say(const char *label, const char *words)
{
    printf("  %-*s", LABEL, label);
    cli_wrap(words, LABEL + 2, LABEL + 2);
}

static void say_score(const char *label, const tacit_sweep *sweep, const tacit_interval *i,
                      const char *words)
{
    char text[300], half[40] = "";
    const char *score = tacit_sweep_score(sweep);
    if (isnan(i->mean))
        return;
    if (!isnan(i->low))
        snprintf(half, sizeof half, " %s %.4f", cli_has_unicode() ? "±" : "+-", i->high - i->mean);
    snprintf(text, sizeof text, "%s %.4f%s over %zu seed%s, %s", score ? score : "score", i->mean,
             half, i->n, i->n == 1 ? "" : "s", words);
    say(label, text);
}

/* One run by itself: never without what it does not cover. */
static void say_one_run(const tacit_sweep *sweep, const tacit_tuned *found)
{
    char number[40];
    const tacit_tuned_on on = tacit_sweep_tuning(sweep)->on;
    const char *guarantee = tacit_sweep_guarantee(sweep, found->winner);
    char *text = NULL;
    cli_epsilon(found->run_epsilon, number, sizeof number);
    const size_t size = strlen(guarantee) + 200;
    if (!(text = malloc(size)))
        return;
    snprintf(text, size, "%s%s at %s",
             on == TACIT_TUNED_UNCHARGED ? "unbounded with the search; " : "", number, guarantee);
    say("epsilon", text);
    free(text);
}

static void say_charges(const tacit_tuned *found)
{
    char number[4][40], delta[60] = "the same delta", text[600], more[80] = "";
    cli_epsilon(found->search_epsilon, number[0], sizeof number[0]);
    cli_epsilon(found->tries_epsilon, number[1], sizeof number[1]);
    cli_epsilon(found->choice_epsilon, number[2], sizeof number[2]);
    cli_epsilon(found->after_epsilon, number[3], sizeof number[3]);
    if (found->more_delta > 0)
        snprintf(delta, sizeof delta, "\"privacy.delta\" and %.2g more", found->more_delta);
    if (!isnan(found->after_epsilon))
        snprintf(more, sizeof more, "; %s with one more run of the winner", number[3]);
    snprintf(text, sizeof text,
             "epsilon %s for all of it, at %s and against %s: %s for what"
             " %zu tries release and %s for what is told of their scores, composed%s%s",
             number[0], delta,
             found->trust == TACIT_TRUST_SILENT ? "who hears the scores" : "the same adversary",
             number[1], found->runs, number[2], more,
             found->unsound ? "; UNSOUND, for some of the tries are claims"
             : found->leaks ? "; not counting what the notes above name"
                            : "");
    say("search", text);
}

/* What it was chosen by is not the score. */
static void say_told(const tacit_tuned *found)
{
    char text[200];
    snprintf(text, sizeof text,
             "%.4f, the mean of what agents tell of their scores: each with noise of deviation "
             "%.3g; by this it was chosen",
             found->released, found->noise);
    say("told", text);
}

tacit_status sweep_say_tuned(const tacit_sweep *sweep, tacit_error *err)
{
    const tacit_tune_options *o = tacit_sweep_tuning(sweep);
    tacit_tuned found;
    tacit_sweep_tuned(sweep, &found);
    if (found.winner == SIZE_MAX) {
        say("winner", "none: no setting has a score for all its seeds");
        return TACIT_OK;
    }
    char *settings = tacit_sweep_settings(sweep, found.winner);
    if (!settings)
        return tacit_out_of_memory(err);
    const bool charged = o->on == TACIT_TUNED_PRIVATE;
    say_score("validation", sweep, &found.validation,
              charged ? "for its owner alone" : "which the winner was chosen by");
    if (charged)
        say_told(&found);
    say_score("test", sweep, &found.test, "opened once, for the winner alone");
    say_one_run(sweep, &found);
    say("tuning", found.rehearsal ? "a rehearsal on simulated records, charged as on private ones: "
                                    "every message of every try, and every agent's score of it, "
                                    "with noise"
                                  : tacit_tuned_words(o->on));
    if (charged)
        say_charges(&found);
    say("use it", settings);
    free(settings);
    return TACIT_OK;
}

void sweep_warn_tuned(const tacit_sweep *sweep)
{
    if (tacit_sweep_tuning(sweep)->on == TACIT_TUNED_UNCHARGED)
        cli_complain("NO EPSILON COVERS THIS SEARCH: which setting won is made of private records; "
                     "--tuned-on private charges it");
}
