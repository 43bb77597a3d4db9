/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a search found, for other programs: search.csv, a row a setting in the order of trying;
 * "tuning" in tacit.sweep/1; and flags for a shell.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/tune.h"

/* ---- search.csv ---- */

char *tacit_tune_csv(const tacit_sweep *sweep)
{
    const tacit_tuner *t = sweep->tuner;
    tacit_writer out = {0};
    double best = NAN;
    tacit_write_text(&out, "try,");
    for (size_t k = 0; k < sweep->axis_count; k++)
        tacit_write_format(&out, "%s,", sweep->axes[k].key);
    tacit_write_text(&out, "seeds,first,best_so_far,mean,winner\n");
    for (size_t i = 0; i < t->tried; i++) {
        const size_t point = t->order[i];
        const double first = tacit_tune_mean(sweep, point, t->few);
        const double numbers[] = {first, 0, tacit_tune_mean(sweep, point, t->level[point])};
        if (tacit_tune_better(sweep, first, best))
            best = first;
        tacit_write_format(&out, "%zu,", i + 1);
        for (size_t k = 0; k < sweep->axis_count; k++) {
            const char *value = tacit_sweep_value(sweep, point, k);
            tacit_sweep_field(&out, value ? value : "");
            tacit_write_text(&out, ",");
        }
        tacit_write_format(&out, "%zu,", t->level[point]);
        for (size_t k = 0; k < 3; k++) {
            tacit_sweep_number(&out, k == 1 ? best : numbers[k]);
            tacit_write_text(&out, ",");
        }
        tacit_write_text(&out, point == t->winner ? "yes\n" : "no\n");
    }
    return tacit_writer_take(&out);
}

/* ---- tacit.sweep/1 ---- */

static void json_interval(tacit_json *json, const char *key, const tacit_interval *i)
{
    tacit_json_begin(json, key, '{');
    tacit_json_count(json, "n", i->n);
    tacit_json_real(json, "mean", i->mean);
    tacit_json_real(json, "low", i->low);
    tacit_json_real(json, "high", i->high);
    tacit_json_end(json, '}');
}

/* An infinite one is null and "unbounded". */
static void json_epsilon(tacit_json *json, const char *key, double epsilon)
{
    tacit_json_begin(json, key, '{');
    tacit_json_real(json, "epsilon", epsilon);
    tacit_json_bool(json, "unbounded", isinf(epsilon));
    tacit_json_end(json, '}');
}

static void json_steps(tacit_json *json, const tacit_sweep *sweep)
{
    const tacit_tune_step *steps;
    const size_t count = tacit_tune_steps(sweep, &steps);
    tacit_json_begin(json, "steps", '[');
    for (size_t k = 0; k < count; k++) {
        tacit_json_begin(json, NULL, '{');
        tacit_json_text(json, "step", tacit_tune_kind_name(steps[k].kind));
        tacit_json_count(json, "settings", steps[k].alive);
        tacit_json_count(json, "tried", steps[k].tried);
        tacit_json_count(json, "runs", steps[k].runs);
        tacit_json_real(json, "best", steps[k].mean);
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, ']');
}

static void json_winner(tacit_json *json, const tacit_sweep *sweep, const tacit_tuned *found)
{
    if (found->winner == SIZE_MAX) {
        tacit_json_null(json, "winner");
        return;
    }
    char *settings = tacit_sweep_settings(sweep, found->winner);
    tacit_json_begin(json, "winner", '{');
    tacit_json_text(json, "set", settings ? settings : "");
    json_interval(json, "validation", &found->validation);
    json_interval(json, "test", &found->test);
    tacit_json_real(json, "released", found->released);
    tacit_json_end(json, '}');
    free(settings);
}

void tacit_tune_json(tacit_json *json, const tacit_sweep *sweep)
{
    const tacit_tune_options *o = &sweep->tuner->options;
    tacit_tuned found;
    tacit_sweep_tuned(sweep, &found);
    tacit_json_begin(json, "tuning", '{');
    tacit_json_text(json, "by", "validation");
    tacit_json_text(json, "tuned_on", tacit_tuned_on_names[o->on]);
    tacit_json_text(json, "says", tacit_tuned_words(o->on));
    tacit_json_bool(json, "search_covered", o->on != TACIT_TUNED_UNCHARGED);
    tacit_json_count(json, "tries", o->tries);
    tacit_json_count(json, "tried", found.tried);
    tacit_json_count(json, "runs", found.runs);
    json_winner(json, sweep, &found);
    if (found.winner != SIZE_MAX) {
        tacit_json_begin(json, "epsilon", '{');
        json_epsilon(json, "one_run", found.run_epsilon);
        tacit_json_text(json, "guarantee", tacit_sweep_guarantee(sweep, found.winner));
        if (o->on == TACIT_TUNED_PRIVATE) {
            json_epsilon(json, "tries", found.tries_epsilon);
            json_epsilon(json, "choice", found.choice_epsilon);
            json_epsilon(json, "search", found.search_epsilon);
            tacit_json_real(json, "more_delta", found.more_delta);
            json_epsilon(json, "search_and_one_more_run", found.after_epsilon);
            tacit_json_bool(json, "rehearsal", found.rehearsal);
            tacit_json_bool(json, "leaks", found.leaks);
            tacit_json_bool(json, "unsound", found.unsound);
        }
        tacit_json_end(json, '}');
    }
    json_steps(json, sweep);
    tacit_json_end(json, '}');
}

/* ---- flags ---- */

/* A word as a shell takes it; in quotes unless it is plainly harmless. */
static void write_word(tacit_writer *out, const char *text)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789-_=+.,:/@%";
    if (text[strspn(text, harmless)] == '\0') {
        tacit_write_text(out, text);
        return;
    }
    tacit_write_text(out, "'");
    for (; *text; text++)
        if (*text == '\'')
            tacit_write_text(out, "'\\''");
        else
            tacit_write_bytes(out, text, 1);
    tacit_write_text(out, "'");
}

char *tacit_sweep_settings(const tacit_sweep *sweep, size_t point)
{
    tacit_writer out = {0};
    for (size_t k = 0; k < sweep->axis_count; k++) {
        const char *value = tacit_sweep_value(sweep, point, k);
        tacit_writer pair = {0};
        if (!value)
            continue;
        tacit_write_format(&pair, "%s=%s", sweep->axes[k].key, value);
        tacit_write_text(&out, out.len ? " --set " : "--set ");
        if (pair.failed)
            out.failed = true;
        else
            write_word(&out, pair.text);
        tacit_writer_clear(&pair);
    }
    return tacit_writer_take(&out);
}
