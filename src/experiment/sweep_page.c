/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.html of a sweep: each metric against the numeric key with most values, one line for
 * each combination of the other keys, with its 95 % band. A protocol that does not have the key
 * is a level line: that is what the others are to be compared with. Without a numeric key, the
 * points stand side by side.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/sweep.h"
#include "experiment/tune.h"
#include "report/page.h"

#define MOST_LINES 200 /* rows of the table: more are for means.csv */

typedef struct line {
    size_t point;       /* its first one */
    const uint32_t *at; /* of that one */
    char name[200];
    double *x, *y, *low, *high;
    size_t count;
} line;

typedef struct picture {
    const tacit_sweep *sweep;
    size_t axis; /* sweep->axis_count: none */
    bool log;
    double from, to; /* of the axis' values */
    line lines[TACIT_CHART_SERIES];
    uint32_t count;
    bool more; /* combinations than lines */
} picture;

/* ---- which key ---- */

static void choose_axis(picture *p)
{
    const tacit_sweep *sweep = p->sweep;
    size_t most = 1;
    p->axis = sweep->axis_count;
    for (size_t k = 0; k < sweep->axis_count; k++) {
        size_t finite = 0;
        for (size_t i = 0; i < sweep->axes[k].values.count && sweep->axes[k].numeric; i++)
            finite += isfinite(sweep->axes[k].values.number[i]) != 0;
        if (finite > most) {
            most = finite;
            p->axis = k;
        }
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Are the values spread more evenly by factors than by differences? */
static bool is_log(const double *sorted, size_t n)
{
    if (n < 2 || !(sorted[0] > 0))
        return false;
    if (n == 2)
        return sorted[1] / sorted[0] >= 10;
    double least[2] = {INFINITY, INFINITY}, most[2] = {0, 0};
    for (size_t i = 1; i < n; i++) {
        const double step[2] = {sorted[i] - sorted[i - 1], log(sorted[i]) - log(sorted[i - 1])};
        for (int k = 0; k < 2; k++) {
            least[k] = fmin(least[k], step[k]);
            most[k] = fmax(most[k], step[k]);
        }
    }
    return most[1] / least[1] < most[0] / least[0];
}

static bool look_at_axis(picture *p)
{
    const tacit_values *values = &p->sweep->axes[p->axis].values;
    double *sorted = malloc(values->count * sizeof *sorted);
    if (!sorted)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < values->count; i++)
        if (isfinite(values->number[i]))
            sorted[n++] = values->number[i];
    qsort(sorted, n, sizeof *sorted, compare);
    p->log = is_log(sorted, n);
    p->from = sorted[0];
    p->to = sorted[n - 1];
    free(sorted);
    return true;
}

/* ---- lines ---- */

static bool same_line(const picture *p, const uint32_t *a, const uint32_t *b)
{
    for (size_t k = 0; k < p->sweep->axis_count; k++)
        if (k == p->axis ? (a[k] == TACIT_SWEEP_FOREIGN) != (b[k] == TACIT_SWEEP_FOREIGN)
                         : a[k] != b[k])
            return false;
    return true;
}

/* The last part of a key is enough if no other key has it. */
static const char *short_key(const tacit_sweep *sweep, size_t key)
{
    const char *last = strrchr(sweep->axes[key].key, '.');
    for (size_t k = 0; last && k < sweep->axis_count; k++) {
        const char *other = strrchr(sweep->axes[k].key, '.');
        if (k != key && other && strcmp(other, last) == 0)
            return sweep->axes[key].key;
    }
    return last ? last + 1 : sweep->axes[key].key;
}

static void name_line(const picture *p, line *l)
{
    size_t used = 0;
    l->name[0] = '\0';
    for (size_t k = 0; k < p->sweep->axis_count && used < sizeof l->name; k++) {
        if (k == p->axis || l->at[k] == TACIT_SWEEP_FOREIGN)
            continue;
        const char *value = p->sweep->axes[k].values.text[l->at[k]];
        const bool protocol = strcmp(p->sweep->axes[k].key, "protocol.name") == 0;
        int wrote = snprintf(l->name + used, sizeof l->name - used, "%s%s%s%s", used ? ", " : "",
                             protocol ? "" : short_key(p->sweep, k), protocol ? "" : " ", value);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    if (used == 0)
        used = (size_t)snprintf(l->name, sizeof l->name, "mean over seeds");
    if (used < sizeof l->name && tacit_sweep_unsound(p->sweep, l->point))
        snprintf(l->name + used, sizeof l->name - used, ", UNSOUND");
}

static line *line_of(picture *p, size_t point)
{
    const uint32_t *at = &p->sweep->at[point * p->sweep->axis_count];
    for (uint32_t k = 0; k < p->count; k++)
        if (same_line(p, p->lines[k].at, at))
            return &p->lines[k];
    if (p->count == TACIT_CHART_SERIES) {
        p->more = true;
        return NULL;
    }
    line *l = &p->lines[p->count++];
    *l = (line){.point = point, .at = at};
    name_line(p, l);
    return l;
}

static void add_to(line *l, double x, const tacit_interval *i)
{
    const size_t k = l->count++;
    l->x[k] = x;
    l->y[k] = i->mean;
    l->low[k] = i->low;
    l->high[k] = i->high;
}

/* By x: values may have been given in any order. Insertion: they mostly are in order. */
static void sort_line(line *l)
{
    double *columns[] = {l->x, l->y, l->low, l->high};
    for (size_t i = 1; i < l->count; i++)
        for (size_t k = i; k > 0 && l->x[k] < l->x[k - 1]; k--)
            for (size_t c = 0; c < 4; c++) {
                const double keep = columns[c][k];
                columns[c][k] = columns[c][k - 1];
                columns[c][k - 1] = keep;
            }
}

static bool make_room(line *l, size_t points)
{
    if (l->x)
        return true;
    l->x = calloc(4 * (points + 1), sizeof *l->x);
    if (!l->x)
        return false;
    l->y = l->x + points + 1;
    l->low = l->y + points + 1;
    l->high = l->low + points + 1;
    return true;
}

/* Two places for what has no place of its own: a level line between them. */
static bool fill_lines(picture *p, tacit_sweep_metric metric)
{
    const tacit_sweep *sweep = p->sweep;
    const bool keyed = p->axis < sweep->axis_count;
    for (uint32_t k = 0; k < p->count; k++)
        p->lines[k].count = 0;
    for (size_t point = 0; point < sweep->point_count; point++) {
        const uint32_t *at = &sweep->at[point * sweep->axis_count];
        line *l = tacit_sweep_tried(sweep, point) ? line_of(p, point) : NULL;
        if (!l)
            continue;
        if (!make_room(l, keyed ? sweep->axes[p->axis].values.count : 2))
            return false;
        const tacit_interval i = tacit_sweep_interval(sweep, point, metric);
        if (keyed && at[p->axis] != TACIT_SWEEP_FOREIGN)
            add_to(l, sweep->axes[p->axis].values.number[at[p->axis]], &i);
        else {
            const double place = (double)(l - p->lines) + 1;
            add_to(l, keyed ? p->from : place - 0.3, &i);
            add_to(l, keyed ? p->to : place + 0.3, &i);
        }
    }
    for (uint32_t k = 0; k < p->count; k++)
        sort_line(&p->lines[k]);
    return true;
}

static void draw(tacit_writer *out, picture *p, tacit_sweep_metric metric, const char *title,
                 const char *y_label)
{
    if (!fill_lines(p, metric)) {
        out->failed = true;
        return;
    }
    tacit_chart chart = {
        .title = title,
        .x_label = p->axis < p->sweep->axis_count ? p->sweep->axes[p->axis].key : "point",
        .y_label = y_label,
        .note = p->more ? "The first of many combinations; means.csv has them all." : NULL,
        .log_x = p->log,
        .series = p->count};
    for (uint32_t k = 0; k < p->count; k++)
        chart.of[k] = (tacit_series){.name = p->lines[k].name,
                                     .mark = TACIT_MARK_LINE,
                                     .count = p->lines[k].count,
                                     .x = p->lines[k].x,
                                     .y = p->lines[k].y,
                                     .low = p->lines[k].low,
                                     .high = p->lines[k].high};
    tacit_page_chart(out, &chart);
}

/* ---- words ---- */

/* Four decimals are what a score over some hundred records is good for. */
static void words_of(const tacit_interval *i, char *out, size_t size)
{
    if (isnan(i->mean))
        snprintf(out, size, "-");
    else if (isnan(i->low))
        snprintf(out, size, "%.4f", i->mean);
    else
        snprintf(out, size, "%.4f ± %.4f", i->mean, i->high - i->mean);
}

/* An epsilon, and which note says what it is about: it is never told alone. */
static void epsilon_words(const tacit_sweep *sweep, size_t point, size_t note, char *out,
                          size_t size)
{
    const double epsilon = tacit_sweep_interval(sweep, point, TACIT_SWEEP_EPSILON).mean;
    const char *unsound = tacit_sweep_unsound(sweep, point) ? " UNSOUND" : "";
    out[0] = '\0';
    if (note > 0 && isinf(epsilon))
        snprintf(out, size, "epsilon unbounded [%zu]%s, ", note, unsound);
    else if (note > 0 && !isnan(epsilon))
        snprintf(out, size, "epsilon %.6g [%zu]%s, ", epsilon, note, unsound);
}

/* Pictures may have epsilons for their axis, or for the names of lines. */
static void unsound_words(tacit_writer *out, const tacit_sweep *sweep)
{
    char text[300];
    size_t count = 0;
    for (size_t p = 0; p < sweep->point_count; p++)
        count += tacit_sweep_unsound(sweep, p);
    if (count == 0)
        return;
    snprintf(
        text, sizeof text,
        "%zu of %zu points are UNSOUND: nothing clips their records (privacy.claimed), so that "
        "their epsilon is a claim and no guarantee.",
        count, sweep->point_count);
    tacit_page_words(out, text, true);
}

static void table(tacit_writer *out, const tacit_sweep *sweep, const char *score)
{
    const char *notes[MOST_LINES];
    size_t note_count = 0;
    tacit_page_table(out);
    for (size_t p = 0, lines = 0; p < sweep->point_count && lines < MOST_LINES; p++) {
        if (!tacit_sweep_tried(sweep, p))
            continue;
        lines++;
        const tacit_interval test = tacit_sweep_interval(sweep, p, TACIT_SWEEP_TEST);
        const tacit_interval validation = tacit_sweep_interval(sweep, p, TACIT_SWEEP_VALIDATION);
        char label[300], a[60], b[60], epsilon[120];
        tacit_sweep_describe(sweep, p, label, sizeof label);
        words_of(&validation, a, sizeof a);
        words_of(&test, b, sizeof b);
        epsilon_words(sweep, p,
                      tacit_sweep_note(notes, &note_count, tacit_sweep_guarantee(sweep, p)),
                      epsilon, sizeof epsilon);
        tacit_page_figure(out, *label ? label : "as configured",
                          "validation %s %s, test %s %s, %s%zu of %zu seeds", score, a, score, b,
                          epsilon, test.n, sweep->seed_count);
    }
    tacit_page_table_end(out);
    for (size_t k = 0; k < note_count; k++) {
        tacit_write_format(out, "<p class=\"note\">[%zu] epsilon at ", k + 1);
        tacit_page_escape(out, notes[k]);
        tacit_write_text(out, "</p>\n");
    }
    if (sweep->point_count > MOST_LINES)
        tacit_page_words(out, "More points are in means.csv.", false);
    if (tacit_sweep_keep(sweep)) {
        tacit_write_text(out, "<p class=\"note\">keep secret: ");
        tacit_page_escape(out, tacit_sweep_keep(sweep));
        tacit_write_text(out, "</p>\n");
    }
}

static void best_words(tacit_writer *out, const tacit_sweep *sweep, const char *score)
{
    const size_t best = tacit_sweep_best(sweep, TACIT_SWEEP_VALIDATION);
    if (best == SIZE_MAX || sweep->point_count < 2 || sweep->tuner)
        return; /* a search says more */
    char label[300], a[60], b[60], text[600];
    const tacit_interval test = tacit_sweep_interval(sweep, best, TACIT_SWEEP_TEST);
    const tacit_interval validation = tacit_sweep_interval(sweep, best, TACIT_SWEEP_VALIDATION);
    tacit_sweep_describe(sweep, best, label, sizeof label);
    words_of(&validation, a, sizeof a);
    words_of(&test, b, sizeof b);
    snprintf(text, sizeof text,
             "Best by validation %s%s: %s, with %s; its test %s is %s. The choice was made on "
             "validation records, so the test records have not seen it.",
             score, tacit_sweep_unsound(sweep, best) ? " (all are UNSOUND)" : "", label, a, score,
             b);
    tacit_page_words(out, text, false);
}

char *tacit_sweep_page(const tacit_sweep *sweep)
{
    tacit_writer out = {0};
    picture p = {.sweep = sweep};
    char subtitle[200], title[60];
    const char *score = tacit_sweep_score(sweep);
    const size_t failed = tacit_sweep_count(sweep, TACIT_SWEEP_FAILED);
    score = score ? score : "score";
    snprintf(subtitle, sizeof subtitle,
             "a %s over %zu point%s, %s%zu seed%s each; bands and ± are 95 %% intervals of the "
             "mean over seeds",
             sweep->tuner ? "search" : "sweep", sweep->point_count,
             sweep->point_count == 1 ? "" : "s", sweep->tuner ? "up to " : "", sweep->seed_count,
             sweep->seed_count == 1 ? "" : "s");
    tacit_page_open(&out, sweep->name, subtitle);
    if (failed > 0) {
        snprintf(title, sizeof title, "%zu runs failed; runs.csv says why.", failed);
        tacit_page_words(&out, title, true);
    }
    unsound_words(&out, sweep);
    best_words(&out, sweep, score);
    if (sweep->tuner)
        tacit_tune_page(&out, sweep);
    choose_axis(&p);
    if (p.axis < sweep->axis_count && !look_at_axis(&p))
        out.failed = true;
    if (!out.failed) {
        tacit_page_grid(&out);
        snprintf(title, sizeof title, "validation %s", score);
        draw(&out, &p, TACIT_SWEEP_VALIDATION, title, score);
        snprintf(title, sizeof title, "test %s", score);
        draw(&out, &p, TACIT_SWEEP_TEST, title, score);
        draw(&out, &p, TACIT_SWEEP_TRAIN_LOSS, "training loss", "mean over agents");
        draw(&out, &p, TACIT_SWEEP_MESSAGES, "messages", "messages a run");
        tacit_page_grid_end(&out);
    }
    tacit_page_words(&out, "What an epsilon is about, also one on an axis: the notes below.",
                     false);
    tacit_page_heading(&out, "All points");
    table(&out, sweep, score);
    tacit_page_close(&out);
    for (uint32_t k = 0; k < p.count; k++)
        free(p.lines[k].x);
    return tacit_writer_take(&out);
}
