/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a search may claim, checked before the first run: on whose records it is made, that there
 * is something to choose by, and, where it is charged, that all tries can be added up.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/session.h"
#include "experiment/tune.h"
#include "model/linear.h"

#define FEW 3 /* with two seeds, an interval is 13 standard errors wide: it would drop nobody */

const char *const tacit_tuned_on_names[] = {"auto",    "simulated",         "public",
                                            "private", "private-uncharged", NULL};

const char *tacit_tuned_words(tacit_tuned_on on)
{
    static const char *const words[] = {
        [TACIT_TUNED_UNSAID] = "",
        [TACIT_TUNED_SIMULATED] =
            "tuned on simulated records, which are nobody's: the choice costs nothing",
        [TACIT_TUNED_PUBLIC] = "tuned on records that are public by the word of who ran this: if "
                               "that is true, the choice costs nothing",
        [TACIT_TUNED_PRIVATE] = "tuned on private records, and charged: every message of every "
                                "try, and every agent's score of it, with noise",
        [TACIT_TUNED_UNCHARGED] = "NOT COVERING THE SEARCH: tuned on private records, and neither "
                                  "the other tries nor the choice are charged to anybody",
    };
    return words[on];
}

void tacit_tune_words(tacit_writer *out, const tacit_sweep *sweep)
{
    static const char *const words[] = {
        [TACIT_TUNED_UNSAID] = "",
        [TACIT_TUNED_SIMULATED] = "; of one run, tuned on simulated records",
        [TACIT_TUNED_PUBLIC] = "; of one run, tuned on records said to be public",
        [TACIT_TUNED_PRIVATE] = "; of one try alone, the search costs more",
        [TACIT_TUNED_UNCHARGED] = "; of one run, NOT COVERING THE SEARCH on private records",
    };
    if (sweep->tuner)
        tacit_write_text(out, words[sweep->tuner->options.on]);
}

/* ---- every point ---- */

typedef struct terms {
    tacit_sweep *sweep;
    tacit_tuner *tuner;
    bool first;  /* nothing to compare with yet */
    bool spoken; /* a trust other than silence was met */
    bool squares;
    tacit_mechanism mechanism;
} terms;

static tacit_status check_source(terms *t, const tacit_experiment *x, tacit_error *err)
{
    tacit_tune_options *o = &t->tuner->options;
    const bool drawn = tacit_source_is_drawn(x->data.source);
    t->tuner->on_file = t->tuner->on_file || !drawn;
    if (o->on == TACIT_TUNED_SIMULATED && !drawn)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--tuned-on simulated: \"data.source\" reads a file, and its records are "
                          "not drawn from a seed; say \"public\", \"private\" or "
                          "\"private-uncharged\"");
    if (o->on == TACIT_TUNED_UNSAID && !drawn)
        return tacit_fail(
            err, TACIT_EUSAGE,
            "which setting wins tells something of the records it was tried on; say whose they "
            "are: --tuned-on public (your word for it), private (all tries are charged) or "
            "private-uncharged (no epsilon covers the search)");
    /* `private` is fine there: a rehearsal of what it would cost. */
    if ((o->on == TACIT_TUNED_PUBLIC || o->on == TACIT_TUNED_UNCHARGED) && drawn)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--tuned-on %s: \"data.source\" draws its records from a seed, and those "
                          "are nobody's; say \"simulated\"",
                          tacit_tuned_on_names[o->on]);
    if (x->data.source != TACIT_SOURCE_SHARDS &&
        (drawn ? x->data.validation_records == 0 : !(x->data.validation_fraction > 0)))
        return tacit_fail(err, TACIT_EINPUT,
                          "there are no validation records to choose by, and test records are for "
                          "the winner; set \"data.validation-%s\"",
                          drawn ? "records" : "fraction");
    return TACIT_OK;
}

static tacit_status differ(const char *what, tacit_error *err)
{
    return tacit_fail(err, TACIT_EUSAGE,
                      "--tuned-on private: the settings differ in %s, so that what they cost does "
                      "not add up; vary something else",
                      what);
}

/* A score's noise covers one score. A record that is in everybody's moves all of them at once. */
static tacit_status check_own_scores(const tacit_experiment *x, tacit_error *err)
{
    if (!tacit_data_scores_on_all(&x->data))
        return TACIT_OK;
    return tacit_fail(
        err, TACIT_EUSAGE,
        "--tuned-on private: %s, so one validation record is in the score of every agent, and the "
        "noise of a score covers its owner's records only; %s",
        x->data.score_on == TACIT_SCORE_ON_ALL
            ? "\"data.score-on\" is \"all\""
            : "with \"data.test-path\" scores are on all records",
        x->data.test_path[0] ? "leave \"data.test-path\" out and set \"data.score-on\" to \"own\""
                             : "set \"data.score-on\" to \"own\"");
}

/* One statement for all tries: the same delta, unit, adjacency and accountant, and the same
 * adversary; who is silent adds nothing to what any adversary sees. */
static tacit_status check_terms(terms *t, const tacit_experiment *x, tacit_error *err)
{
    tacit_tuner *tuner = t->tuner;
    const tacit_privacy_options *p = &x->privacy;
    const tacit_trust trust = tacit_protocol_trust(x->protocol, x->protocol_options);
    t->squares = t->squares || x->model.loss == TACIT_SQUARED;
    if (t->first) {
        tuner->budget = (tacit_budget){.epsilon = INFINITY,
                                       .delta = p->delta,
                                       .trust = trust,
                                       .accountant = (tacit_accountant)p->accountant};
        tuner->unit = (tacit_unit)p->unit;
        tuner->adjacency = (tacit_adjacency)p->adjacency;
        t->first = false;
    }
    if (p->mechanism != TACIT_MECHANISM_NONE)
        t->mechanism = (tacit_mechanism)p->mechanism;
    if (p->delta < tuner->budget.delta || p->delta > tuner->budget.delta)
        return differ("privacy.delta", err);
    if (p->unit != (int)tuner->unit || p->adjacency != (int)tuner->adjacency)
        return differ("unit or adjacency", err);
    if (p->accountant != (int)tuner->budget.accountant)
        return differ("privacy.accountant", err);
    if (trust == TACIT_TRUST_SILENT)
        return TACIT_OK;
    if (t->spoken && trust != tuner->budget.trust)
        return differ("what their adversaries see", err);
    t->spoken = true;
    tuner->budget.trust = trust;
    return TACIT_OK;
}

static tacit_status check_points(terms *t, tacit_error *err)
{
    tacit_config config;
    tacit_config_init(&config);
    tacit_status status = TACIT_OK;
    for (size_t p = 0; p < t->sweep->point_count && !status; p++) {
        tacit_experiment x = {0};
        status = tacit_sweep_config(t->sweep, p * t->sweep->seed_count, &config, err);
        if (!status)
            status = tacit_experiment_init(&x, &config, err);
        if (!status) {
            status = check_source(t, &x, err);
            if (!status && tacit_tuner_charges(t->tuner))
                status = check_own_scores(&x, err);
            if (!status && tacit_tuner_charges(t->tuner))
                status = check_terms(t, &x, err);
            tacit_experiment_clear(&x);
        }
    }
    tacit_config_clear(&config);
    return status;
}

/* ---- the plan ---- */

static tacit_status check_options(const tacit_sweep *sweep, const tacit_tune_options *o,
                                  tacit_error *err)
{
    const bool private = o->on == TACIT_TUNED_PRIVATE;
    if (sweep->point_count < 2)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--optimize: there is one setting and nothing to choose from; give a "
                          "--vary with several values");
    if (sweep->keep_runs)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--keep-runs does not go with --optimize: run folders would hold the "
                          "test scores of every try");
    if (!private && (o->choice_epsilon > 0 || o->score_bound > 0))
        return tacit_fail(err, TACIT_EUSAGE, "\"--%s\" is for --tuned-on private",
                          o->choice_epsilon > 0 ? "choice-epsilon" : "score-bound");
    return TACIT_OK;
}

static tacit_status price(const terms *t, tacit_error *err)
{
    tacit_tune_options *o = &t->tuner->options;
    if (t->squares && !(o->score_bound > 0))
        return tacit_fail(err, TACIT_EUSAGE,
                          "--tuned-on private: an rmse has no largest value, so that no noise "
                          "covers it; give one with --score-bound, larger ones are moved to it");
    o->choice_epsilon = o->choice_epsilon > 0 ? o->choice_epsilon : 1;
    o->score_bound = o->score_bound > 0 ? o->score_bound : 1;
    return tacit_tune_price(t->tuner, t->mechanism, t->tuner->spread_count * t->sweep->seed_count,
                            err);
}

static tacit_status plan(terms *t, tacit_error *err)
{
    tacit_tuner *tuner = t->tuner;
    const size_t points = t->sweep->point_count;
    tacit_status status = check_points(t, err);
    if (status)
        return status;
    if (tuner->options.on == TACIT_TUNED_UNSAID)
        tuner->options.on = TACIT_TUNED_SIMULATED;
    const bool charges = tacit_tuner_charges(tuner);
    const size_t tries = tuner->options.tries =
        tuner->options.tries ? tuner->options.tries : TACIT_TUNE_TRIES;
    /* What is charged must not depend on what was heard: all tries, all seeds, at once. */
    tuner->few = charges || t->sweep->seed_count < FEW ? t->sweep->seed_count : FEW;
    tuner->level = calloc(points, sizeof *tuner->level);
    tuner->order = calloc(points, sizeof *tuner->order);
    tuner->wanted = calloc(tacit_sweep_runs(t->sweep), sizeof *tuner->wanted);
    if (!tuner->level || !tuner->order || !tuner->wanted || !tacit_tune_axes(tuner, t->sweep) ||
        !tacit_tune_spread(tuner, t->sweep, charges || points <= tries ? tries : tries - tries / 3))
        return tacit_out_of_memory(err);
    return charges ? price(t, err) : TACIT_OK;
}

tacit_status tacit_tuner_create(tacit_sweep *sweep, const tacit_tune_options *options,
                                tacit_error *err)
{
    tacit_status status = check_options(sweep, options, err);
    if (status)
        return status;
    tacit_tuner *tuner = sweep->tuner = calloc(1, sizeof *tuner);
    if (!tuner)
        return tacit_out_of_memory(err);
    tuner->options = *options;
    tuner->winner = SIZE_MAX;
    terms t = {.sweep = sweep, .tuner = tuner, .first = true, .mechanism = TACIT_MECHANISM_NONE};
    return plan(&t, err);
}

void tacit_tuner_free(tacit_sweep *sweep)
{
    tacit_tuner *tuner = sweep->tuner;
    if (!tuner)
        return;
    for (size_t k = 0; tuner->axes && k < sweep->axis_count; k++) {
        free(tuner->axes[k].order);
        free(tuner->axes[k].place);
    }
    free(tuner->axes);
    free(tuner->spread);
    free(tuner->level);
    free(tuner->order);
    free(tuner->wanted);
    free(tuner->steps);
    free(tuner);
    sweep->tuner = NULL;
}

const tacit_tune_options *tacit_sweep_tuning(const tacit_sweep *sweep)
{
    return sweep->tuner ? &sweep->tuner->options : NULL;
}

bool tacit_sweep_tried(const tacit_sweep *sweep, size_t point)
{
    return !sweep->tuner || sweep->tuner->level[point] > 0;
}
