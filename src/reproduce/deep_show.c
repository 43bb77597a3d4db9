/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of trainings: cells with their seeds, beside what the paper prints. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reproduce/deep.h"

/* ---- cells ---- */

static void name_cell(const deep_run *r, char *out, size_t size)
{
    char graph[40] = "", budget[60] = "no noise";
    if (r->method != DEEP_CENTRAL && r->fiedler < 1)
        snprintf(graph, sizeof graph, ", Fiedler %g", r->fiedler);
    else if (r->method != DEEP_CENTRAL)
        snprintf(graph, sizeof graph, ", complete");
    if (isfinite(r->epsilon))
        snprintf(budget, sizeof budget, "epsilon %g, %s", r->epsilon, deep_countings[r->counting]);
    snprintf(out, size, "%s%s, t = %g, %s", deep_names[r->method], graph, r->t, budget);
}

/* Did the request ask for this cell? */
static bool is_wanted(const deep_table *table, const deep_run *like)
{
    char name[200];
    const char *only = table->request->only;
    name_cell(like, name, sizeof name);
    return !only || strstr(name, only);
}

void deep_add(deep_table *table, const deep_run *like, deep_figure printed)
{
    const size_t seeds = table->request->seeds;
    if (!is_wanted(table, like))
        return;
    if (table->cells == table->capacity && !table->failed) {
        size_t room = table->capacity;
        deep_figure *figures =
            tacit_array_grow(table->printed, &room, table->cells + 1, sizeof *figures);
        table->printed = figures ? figures : table->printed;
        deep_run *runs = figures ? realloc(table->runs, room * seeds * sizeof *runs) : NULL;
        table->runs = runs ? runs : table->runs;
        table->capacity = runs ? room : table->capacity;
        table->failed = !runs;
    }
    if (table->failed)
        return;
    table->printed[table->cells] = printed;
    for (size_t k = 0; k < seeds; k++) {
        deep_run *run = &table->runs[table->cells * seeds + k];
        *run = *like;
        run->seed = table->request->seed + (int64_t)k;
    }
    table->cells++;
}

void deep_clear(deep_table *table)
{
    free(table->runs);
    free(table->printed);
    *table = (deep_table){0};
}

static bool alike(const deep_run *a, const deep_run *b)
{
    const bool bare = !isfinite(a->epsilon) && !isfinite(b->epsilon);
    return a->method == b->method && (bare || a->epsilon == b->epsilon) && a->t == b->t &&
           (bare || a->counting == b->counting) &&
           (a->method == DEEP_CENTRAL || a->fiedler == b->fiedler);
}

size_t deep_cell(const deep_table *table, const deep_run *like)
{
    size_t k = 0;
    while (k < table->cells && !alike(&table->runs[k * table->request->seeds], like))
        k++;
    return k;
}

deep_figure deep_mean(const deep_run *runs, size_t seeds)
{
    deep_figure out = {0};
    double square = 0;
    for (size_t k = 0; k < seeds; k++)
        out.mean += 100 * runs[k].accuracy / (double)seeds;
    for (size_t k = 0; k < seeds; k++)
        square += (100 * runs[k].accuracy - out.mean) * (100 * runs[k].accuracy - out.mean);
    out.deviation = seeds > 1 ? sqrt(square / (double)(seeds - 1)) : 0;
    return out;
}

static deep_figure figure_of(const deep_table *table, size_t cell)
{
    const size_t seeds = table->request->seeds;
    return deep_mean(&table->runs[cell * seeds], seeds);
}

void deep_line(tacit_reproduced *out, size_t panel, const char *name, const deep_table *table,
               deep_run *like, double *at, size_t count, const double *x, bool printed)
{
    enum { MOST = 16 };
    double where[MOST], y[MOST], low[MOST], high[MOST];
    size_t n = 0;
    for (size_t k = 0; k < count && n < MOST; k++) {
        *at = x[k];
        const size_t cell = deep_cell(table, like);
        if (cell == table->cells || (printed && isnan(table->printed[cell].mean)))
            continue;
        const deep_figure of = printed ? table->printed[cell] : figure_of(table, cell);
        where[n] = x[k];
        y[n] = of.mean;
        low[n] = of.mean - of.deviation;
        high[n++] = of.mean + of.deviation;
    }
    if (n > 0)
        figure_add_series(out, panel, name, n, where, y, low, high);
}

void deep_find_ranges(tacit_reproduced *out, const char *what, const double range[DEEP_METHODS])
{
    char list[300] = "";
    size_t used = 0;
    for (int m = DEEP_DSGD; m < DEEP_METHODS; m++)
        if (isfinite(range[m]) && used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.2f points for %s",
                                     used ? ", " : "", range[m], deep_names[m]);
    if (used > 0)
        figure_find(out, "%s by %s; the paper finds dsgt invariant.", what, list);
}

/* ---- rows ---- */

/* Judged are figures of the paper's own task, and of its accountant's neighbours. */
static bool is_judged(const deep_table *table, size_t cell)
{
    const deep_run *r = &table->runs[cell * table->request->seeds];
    return !table->request->quick && deep_has_data(table->request) && r->counting != DEEP_REPLACE &&
           !isnan(table->printed[cell].mean);
}

static double least_of(const deep_table *table, size_t cell)
{
    return table->printed[cell].mean - table->printed[cell].deviation;
}

static void add_rows(tacit_reproduced *out, const deep_table *table)
{
    char name[200];
    for (size_t k = 0; k < table->cells; k++) {
        const deep_figure of = figure_of(table, k);
        name_cell(&table->runs[k * table->request->seeds], name, sizeof name);
        figure_add_row(out, of.mean, of.mean - of.deviation, of.mean + of.deviation,
                       table->printed[k].mean, "%s", name);
        if (is_judged(table, k))
            figure_judge(out, least_of(table, k));
    }
}

/* Runs that cost the same: agents' releases and chances depend neither on method nor on graph. */
static bool same_cost(const deep_run *a, const deep_run *b)
{
    return (a->method == DEEP_CENTRAL) == (b->method == DEEP_CENTRAL) && a->epsilon == b->epsilon &&
           a->counting == b->counting && a->noise == b->noise;
}

static void add_accounts(tacit_reproduced *out, const deep_table *table)
{
    for (size_t k = 0; k < table->cells * table->request->seeds; k++) {
        const deep_run *r = &table->runs[k];
        const char *who = r->method == DEEP_CENTRAL ? "central" : "agents";
        size_t first = 0;
        while (!same_cost(&table->runs[first], r))
            first++;
        if (first < k || !isfinite(r->epsilon))
            continue;
        figure_add_row(out, r->noise, NAN, NAN, NAN, "sigma/C: %s, epsilon %g, %s", who, r->epsilon,
                       deep_countings[r->counting]);
        figure_add_row(out, r->pld, NAN, NAN, NAN, "that noise by pld: %s, epsilon %g, %s", who,
                       r->epsilon, deep_countings[r->counting]);
        figure_add_row(out, r->rdp, NAN, NAN, NAN, "that noise by RDP: %s, epsilon %g, %s", who,
                       r->epsilon, deep_countings[r->counting]);
    }
}

/* ---- what one sees ---- */

static void find_below(tacit_reproduced *out, const deep_table *table)
{
    char list[700] = "", name[200];
    size_t used = 0, judged = 0, below = 0;
    for (size_t k = 0; k < table->cells; k++) {
        const deep_figure of = figure_of(table, k);
        judged += is_judged(table, k);
        if (!is_judged(table, k) || of.mean >= least_of(table, k))
            continue;
        below++;
        name_cell(&table->runs[k * table->request->seeds], name, sizeof name);
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s (%.2f, the paper %.2f)",
                                     used ? "; " : "", name, of.mean, table->printed[k].mean);
    }
    if (judged == 0)
        return;
    figure_find(out,
                "%zu of %zu accuracies under add-remove are at least the paper's less one of its "
                "standard deviations.%s%s",
                judged - below, judged, below ? " Below: " : "", list);
}

/* What another counting than add-remove by pld costs; `words` begin the sentence. */
static void find_cost(tacit_reproduced *out, const deep_table *table, deep_counting counting,
                      const char *words)
{
    double most = -INFINITY, mean = 0, noise = 0;
    size_t count = 0;
    for (size_t k = 0; k < table->cells; k++) {
        deep_run like = table->runs[k * table->request->seeds];
        if (like.counting != counting)
            continue;
        like.counting = DEEP_ADD_REMOVE;
        const size_t twin = deep_cell(table, &like);
        if (twin == table->cells)
            continue;
        const double less = figure_of(table, twin).mean - figure_of(table, k).mean;
        most = fmax(most, less);
        noise += table->runs[k * table->request->seeds].noise /
                 table->runs[twin * table->request->seeds].noise;
        mean += less;
        count++;
    }
    if (count > 0)
        figure_find(out,
                    "%s noise is %.2f times as large on average, and accuracy lower by %.2f "
                    "points, by %.2f at most.",
                    words, noise / (double)count, mean / (double)count, most);
}

static void state(tacit_reproduced *out, const tacit_reproduce_request *request)
{
    const bool data = deep_has_data(request);
    const long long first = request->seed, seeds = request->seeds;
    out->spread = "one standard deviation over trials to either side (none for one trial)";
    out->paper_numbers = "The paper's means stand beside ours; \"reached\" is at least its mean "
                         "less one of its standard deviations.";
    if (!data)
        out->warning = "These are drawn digits of 12 x 12 pixels, not MNIST, since TACIT_DATA is "
                       "not set: nothing here can be compared with the paper's numbers.";
    figure_set(out, "task",
               data ? "MNIST, 10 agents, classes dealt by A(t); every agent's model is scored on "
                      "all test records; 2,000 iterations, lots of 256 on average (Poisson)"
                    : "drawn digits, 10 agents, classes dealt by A(t)");
    figure_set(out, "net", "%s",
               data ? "the paper's: conv 3 5x5, mish, pool 2, dense 64, mish, dense 10; a "
                      "border of 2 instead of 32 x 32 pixels; 38,424 parameters"
                    : "conv 3 5x5, mish, pool 2, dense 32, mish, dense 10");
    if (request->only && *request->only)
        figure_set(out, "cells", "those whose names hold \"%s\"; the others were left out",
                   request->only);
    figure_set(out, "trials", "%lld: seeds %lld to %lld", seeds, first, first + seeds - 1);
    figure_set(out, "privacy",
               "unit: one record of one agent; delta %g; agents: adversary \"local\", who hears "
               "every word on every link; central: the model alone, by a trusted curator",
               DEEP_DELTA);
    figure_set(out, "add-remove",
               "as the paper's accountant has it: every record takes part with probability 0.0427 "
               "(central: 0.00427), sums are divided by 256, so nobody learns how many records an "
               "agent has; noise by pld, which needs a little less of it than the paper's RDP");
    figure_set(out, "add-remove by RDP", "the same with noise by the paper's own accountant");
    figure_set(out, "replace",
               "numbers of records are public, records take part with probability "
               "256 / m; one record can move a sum by twice the clip");
    figure_set(out, "choices",
               "clip, learning rate and the like by method and budget (deep_settings.c), chosen on "
               "validation records of MNIST, which is not charged, as in the paper; weights: "
               "metropolis");
}

tacit_status deep_make(tacit_reproduced *out, deep_table *table, tacit_error *err)
{
    if (table->failed)
        return tacit_out_of_memory(err);
    if (table->cells == 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "no cell's name holds \"%.100s\"; names are as in \"dsgt, complete, "
                          "t = 1, epsilon 10, add-remove\"",
                          table->request->only);
    tacit_status status =
        deep_perform(table->runs, table->cells * table->request->seeds, table->request, err);
    if (status)
        return status;
    state(out, table->request);
    find_below(out, table);
    find_cost(out, table, DEEP_REPLACE,
              "Where a neighbour has a record replaced, as the paper's definition says though its "
              "accountant does not (slip S14),");
    find_cost(out, table, DEEP_RDP,
              "Found by RDP, the paper's accountant, instead of pld, which is closer,");
    add_rows(out, table);
    add_accounts(out, table);
    return TACIT_OK;
}
