/* SPDX-License-Identifier: Apache-2.0 */
/* The table at the end of a sweep: a line a point, the best one marked. */
#include "sweep.h"
#include "terminal.h"
#include "verbs.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LINES 100 /* beyond, the best SOME of them */
#define SOME 20
#define CELL 64
#define MOST_FAILURES 5

/* One column: a key, or a metric. */
typedef struct column {
    char title[CELL];
    size_t key; /* of the sweep, or SIZE_MAX */
    tacit_sweep_metric metric;
    int width;
    bool words; /* to the left; numbers go to the right */
} column;

typedef struct table {
    const tacit_sweep *sweep;
    size_t best;
    const char **notes; /* what epsilons are about, each once */
    size_t note_count;
    size_t *points; /* which, in which order */
    size_t point_count;
    column *columns;
    size_t column_count;
} table;

/* Characters as they show: bytes that continue one are not counted. */
static int shown_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* ---- cells ---- */

static void say_score(const tacit_interval *i, char *out, size_t size)
{
    if (isnan(i->mean))
        snprintf(out, size, "-");
    else if (isnan(i->low))
        snprintf(out, size, "%.4f", i->mean);
    else
        snprintf(out, size, "%.4f %s %.4f", i->mean, cli_has_unicode() ? "±" : "+-",
                 i->high - i->mean);
}

static void say_figure(const tacit_interval *i, char *out, size_t size)
{
    if (isnan(i->mean))
        snprintf(out, size, "-");
    else if (isnan(i->low) || i->low >= i->high)
        snprintf(out, size, "%.5g", i->mean);
    else
        snprintf(out, size, "%.5g %s %.2g", i->mean, cli_has_unicode() ? "±" : "+-",
                 i->high - i->mean);
}

/* With the number of its note, see say_guarantees. */
static void say_epsilon(const table *t, size_t point, double epsilon, char *out, size_t size)
{
    const char *guarantee = tacit_sweep_guarantee(t->sweep, point);
    size_t count = t->note_count;
    char number[40];
    cli_epsilon(epsilon, number, sizeof number);
    snprintf(out, size, "%s [%zu]%s", number, tacit_sweep_note(t->notes, &count, guarantee),
             tacit_sweep_unsound(t->sweep, point) ? " UNSOUND" : "");
}

static void say_cell(const table *t, const column *c, size_t point, char *out, size_t size)
{
    if (c->key != SIZE_MAX) {
        const char *value = tacit_sweep_value(t->sweep, point, c->key);
        snprintf(out, size, "%s", value ? value : "-");
        return;
    }
    const tacit_interval i = tacit_sweep_interval(t->sweep, point, c->metric);
    if (c->metric == TACIT_SWEEP_EPSILON && !isnan(i.mean))
        say_epsilon(t, point, i.mean, out, size);
    else if (c->metric == TACIT_SWEEP_MESSAGES && !isnan(i.mean))
        cli_count((uint64_t)llround(i.mean), out, size);
    else if (c->metric <= TACIT_SWEEP_VALIDATION)
        say_score(&i, out, size);
    else
        say_figure(&i, out, size);
}

/* ---- columns ---- */

static void add_column(table *t, size_t key, tacit_sweep_metric metric, const char *title)
{
    column *c = &t->columns[t->column_count++];
    *c = (column){.key = key, .metric = metric};
    snprintf(c->title, sizeof c->title, "%s", title);
    c->width = shown_width(c->title);
    for (size_t p = 0; p < t->point_count; p++) {
        char cell[CELL];
        say_cell(t, c, t->points[p], cell, sizeof cell);
        const int width = shown_width(cell);
        c->width = width > c->width ? width : c->width;
        c->words = c->words ||
                   (key != SIZE_MAX && isalpha((unsigned char)cell[0]) && strcmp(cell, "inf") != 0);
    }
}

/* The last part of a key, unless another column would then have the same name. */
static const char *short_key(const tacit_sweep *sweep, size_t key)
{
    const char *whole = tacit_sweep_key(sweep, key), *last = strrchr(whole, '.');
    if (!last || strcmp(whole, "protocol.name") == 0)
        return whole;
    for (size_t k = 0; k < tacit_sweep_keys(sweep); k++) {
        const char *other = strrchr(tacit_sweep_key(sweep, k), '.');
        if (k != key && other && strcmp(other, last) == 0)
            return whole;
    }
    for (int m = 0; m < TACIT_SWEEP_METRICS; m++)
        if (strcmp(last + 1, tacit_sweep_metric_name((tacit_sweep_metric)m)) == 0)
            return whole;
    return last + 1;
}

static bool any(const table *t, tacit_sweep_metric metric)
{
    for (size_t p = 0; p < t->point_count; p++)
        if (!isnan(tacit_sweep_interval(t->sweep, t->points[p], metric).mean))
            return true;
    return false;
}

static void add_columns(table *t, tacit_sweep_metric metric)
{
    static const tacit_sweep_metric usual[] = {TACIT_SWEEP_VALIDATION, TACIT_SWEEP_TEST,
                                               TACIT_SWEEP_MESSAGES, TACIT_SWEEP_EPSILON};
    const char *score = tacit_sweep_score(t->sweep);
    bool there = false;
    for (size_t k = 0; k < tacit_sweep_keys(t->sweep); k++)
        add_column(t, k, TACIT_SWEEP_METRICS, short_key(t->sweep, k));
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        char title[CELL];
        const bool is_score = usual[i] <= TACIT_SWEEP_VALIDATION;
        there = there || usual[i] == metric;
        if (!any(t, usual[i]))
            continue;
        snprintf(title, sizeof title, "%s%s%s", tacit_sweep_metric_name(usual[i]),
                 is_score ? " " : "", is_score ? (score ? score : "score") : "");
        add_column(t, SIZE_MAX, usual[i], title);
    }
    if (!there && any(t, metric))
        add_column(t, SIZE_MAX, metric, tacit_sweep_metric_name(metric));
}

/* ---- lines ---- */

static void say_padded(const column *c, const char *text, bool first)
{
    const int blanks = c->width - shown_width(text);
    printf("%s%*s%s%*s", first ? "" : "  ", c->words || blanks < 0 ? 0 : blanks, "", text,
           c->words && blanks > 0 ? blanks : 0, "");
}

static void say_line(const table *t, size_t point)
{
    const bool best = point == t->best;
    printf("  %s%s", best ? cli_bold() : "", best ? "* " : "  ");
    for (size_t k = 0; k < t->column_count; k++) {
        const column *c = &t->columns[k];
        char cell[CELL];
        say_cell(t, c, point, cell, sizeof cell);
        say_padded(c, cell, k == 0);
    }
    printf("%s\n", best ? cli_plain() : "");
}

static void say_titles(const table *t)
{
    printf("  %s  ", cli_faint());
    for (size_t k = 0; k < t->column_count; k++)
        say_padded(&t->columns[k], t->columns[k].title, k == 0);
    printf("%s\n", cli_plain());
}

/* What is unsound comes after whatever is not, and what has no figure last. */
static bool is_before(const table *t, const double *mean, size_t a, size_t b)
{
    if (isnan(mean[a]) || isnan(mean[b]))
        return !isnan(mean[a]);
    const bool x = tacit_sweep_unsound(t->sweep, a), y = tacit_sweep_unsound(t->sweep, b);
    return x == y ? mean[a] < mean[b] : y;
}

/* The distinct guarantees of the points that are shown, in their order. */
static bool number_guarantees(table *t)
{
    t->notes = calloc(t->point_count + 1, sizeof *t->notes);
    for (size_t k = 0; t->notes && k < t->point_count; k++)
        tacit_sweep_note(t->notes, &t->note_count, tacit_sweep_guarantee(t->sweep, t->points[k]));
    return t->notes != NULL;
}

/* All points, or those that are best by `metric`. */
static bool choose_points(table *t, tacit_sweep_metric metric)
{
    const size_t points = tacit_sweep_points(t->sweep);
    size_t all = 0; /* that were tried */
    for (size_t p = 0; p < points; p++)
        all += tacit_sweep_tried(t->sweep, p);
    t->points = calloc(points, sizeof *t->points);
    double *mean = calloc(points, sizeof *mean);
    if (!t->points || !mean) {
        free(mean);
        return false;
    }
    const double sign = tacit_sweep_up(t->sweep, metric) ? -1 : 1;
    const size_t wanted = all > MOST_LINES ? SOME : all;
    for (size_t p = 0; p < points; p++) {
        if (!tacit_sweep_tried(t->sweep, p))
            continue;
        mean[p] = sign * tacit_sweep_interval(t->sweep, p, metric).mean;
        if (all <= MOST_LINES) {
            t->points[t->point_count++] = p;
            continue;
        }
        size_t at = t->point_count;
        while (at > 0 && is_before(t, mean, p, t->points[at - 1]))
            at--;
        if (at == wanted)
            continue;
        t->point_count += t->point_count < wanted;
        memmove(&t->points[at + 1], &t->points[at], (t->point_count - at - 1) * sizeof *t->points);
        t->points[at] = p;
    }
    free(mean);
    return true;
}

static void say_failures(const tacit_sweep *sweep)
{
    const size_t seeds = tacit_sweep_seeds(sweep);
    size_t said = 0;
    for (size_t r = 0; r < tacit_sweep_runs(sweep) && said < MOST_FAILURES; r++) {
        const tacit_sweep_result *result = tacit_sweep_result_of(sweep, r);
        if (result->state != TACIT_SWEEP_FAILED)
            continue;
        printf("  run %zu, seed %lld: ", r + 1, (long long)tacit_sweep_seed(sweep, r % seeds));
        cli_wrap(result->message ? result->message : "no memory", 24, 6);
        said++;
    }
    if (tacit_sweep_count(sweep, TACIT_SWEEP_FAILED) > said)
        puts("  ... more in runs.csv");
}

static void say_guarantees(const table *t)
{
    for (size_t k = 0; k < t->note_count; k++) {
        char label[40];
        snprintf(label, sizeof label, "[%zu] epsilon at", k + 1);
        printf("  %s ", label);
        cli_wrap(t->notes[k], 3 + (int)strlen(label), 6);
    }
}

static void say_best(const table *t, tacit_sweep_metric metric, bool chosen)
{
    const char *name = tacit_sweep_metric_name(metric);
    char text[300];
    if (tacit_sweep_points(t->sweep) < 2)
        return;
    if (t->best == SIZE_MAX)
        snprintf(text, sizeof text, "no best point: %s",
                 chosen                        ? "no point has the metric for all its seeds"
                 : tacit_sweep_score(t->sweep) ? "there are no validation records; choose a "
                                                 "metric with --best"
                                               : "the points have different scores");
    else if (metric == TACIT_SWEEP_TEST)
        snprintf(text, sizeof text,
                 "the best point was chosen on test records, so its test score flatters it; "
                 "validation records are for choosing");
    else if (metric == TACIT_SWEEP_VALIDATION)
        snprintf(text, sizeof text,
                 "the best point was chosen on validation records; the test records had no part "
                 "in it");
    else
        snprintf(text, sizeof text, "the best point has the smallest %s", name);
    cli_remark(text);
    if (t->best != SIZE_MAX && tacit_sweep_unsound(t->sweep, t->best))
        cli_remark("all points are UNSOUND, the best one too: their epsilon is a claim, not a "
                   "guarantee");
}

static void say_title(const tacit_sweep *sweep)
{
    const size_t points = tacit_sweep_points(sweep), seeds = tacit_sweep_seeds(sweep);
    const tacit_tune_step *steps;
    const size_t count = tacit_tune_steps(sweep, &steps);
    printf("%s%s%s: %zu point%s, ", cli_bold(), tacit_sweep_name(sweep), cli_plain(), points,
           points == 1 ? "" : "s");
    if (count > 0)
        printf("%zu tried with up to ", steps[count - 1].tried);
    printf("%zu seed%s each, 95 %% intervals of the mean\n", seeds, seeds == 1 ? "" : "s");
}

tacit_status sweep_say_words(const tacit_sweep *sweep, const sweep_flags *flags,
                             tacit_sweep_metric metric, const char *folder, tacit_error *err)
{
    table t = {.sweep = sweep, .best = tacit_sweep_best(sweep, metric)};
    tacit_status status = TACIT_OK;
    const size_t points = tacit_sweep_points(sweep);
    const size_t failed = tacit_sweep_count(sweep, TACIT_SWEEP_FAILED);
    t.columns = calloc(tacit_sweep_keys(sweep) + 8, sizeof *t.columns);
    if (!t.columns || !choose_points(&t, metric) || !number_guarantees(&t)) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    say_title(sweep);
    add_columns(&t, metric);
    say_titles(&t);
    if (points < 2)
        t.best = SIZE_MAX;
    for (size_t p = 0; p < t.point_count; p++)
        say_line(&t, t.points[p]);
    if (t.point_count < points && !tacit_sweep_tuning(sweep))
        printf("    ... the best %zu of %zu; means.csv has them all\n", t.point_count, points);
    say_guarantees(&t);
    if (failed > 0)
        say_failures(sweep);
    if (tacit_sweep_tuning(sweep) && (status = sweep_say_tuned(sweep, err)))
        goto out;
    if (tacit_sweep_keep(sweep)) {
        printf("  %-12s", "keep secret");
        cli_wrap(tacit_sweep_keep(sweep), 14, 14);
    }
    printf("  %-12s%s/\n", "folder", folder);
    printf("  %-12s", "holds");
    cli_wrap(tacit_sweep_tuning(sweep) ? "report.html, search.csv, means.csv, runs.csv, sweep.yaml"
                                       : "report.html, means.csv, runs.csv, sweep.yaml",
             14, 14);
    fflush(stdout);
    if (!flags->quiet && !tacit_sweep_tuning(sweep))
        say_best(&t, metric, *flags->best != '\0');
out:
    free(t.points);
    free(t.notes);
    free(t.columns);
    return status;
}

tacit_status sweep_say_json(const tacit_sweep *sweep, tacit_sweep_metric metric, tacit_error *err)
{
    return cli_print_text(tacit_sweep_json(sweep, metric), err);
}
