/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table 2 of paper 004: accuracy on MNIST by how classes are dealt, from equal shares (t = 0) to
 * one digit an agent (t = 1), on the sparsest graph. By default one trial; --full is five.
 */
#include <math.h>
#include <stdio.h>

#include "reproduce/deep.h"

#define BUDGETS 2
#define SPLITS 5
#define SPARSE 0.06
static const double budgets[BUDGETS] = {0.5, 10};
static const double splits[SPLITS] = {0, 0.25, 0.5, 0.75, 1};

/* As printed. At t = 1 and epsilon 10 it differs a little from table 1. */
static const deep_figure printed[BUDGETS][DEEP_METHODS][SPLITS] = {
    {[DEEP_DSGD] = {{88.9, 0.99}, {88.3, 0.31}, {87.65, 0.28}, {86.06, 0.24}, {80.57, 1.47}},
     [DEEP_DSGT] = {{85.78, 0.63}, {86, 0.96}, {85.79, 0.96}, {85.3, 0.9}, {84.53, 1.29}},
     [DEEP_DINNO] = {{86.76, 0.96}, {86.19, 0.79}, {85.28, 0.39}, {83.55, 0.71}, {78.44, 2}}},
    {[DEEP_DSGD] = {{94.08, 0.41}, {93.89, 0.35}, {93.63, 0.31}, {92.56, 0.24}, {84.92, 2.26}},
     [DEEP_DSGT] = {{95.97, 0.35}, {96.04, 0.33}, {95.72, 0.34}, {96.10, 0.41}, {96.06, 0.24}},
     [DEEP_DINNO] = {{93.42, 0.53}, {93.34, 0.49}, {93.28, 0.48}, {93.03, 0.33}, {92, 0.54}}},
};

static deep_run like(int method, size_t budget, size_t split)
{
    return (deep_run){.method = (deep_method)method,
                      .epsilon = budgets[budget],
                      .fiedler = SPARSE,
                      .t = splits[split]};
}

static void plan(deep_table *t)
{
    for (size_t b = 0; b < BUDGETS; b++)
        for (int m = DEEP_DSGD; m < DEEP_METHODS; m++)
            for (size_t s = 0; s < SPLITS; s++) {
                const deep_run run = like(m, b, s);
                const bool quick = budgets[b] == 10 && (s == 0 || s == SPLITS - 1);
                if (!t->request->quick || quick)
                    deep_add(t, &run, printed[b][m][s]);
            }
}

/* ---- what is shown ---- */

static double range_over_splits(const deep_table *t, int method, size_t budget)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t s = 0; s < SPLITS; s++) {
        const deep_run run = like(method, budget, s);
        const size_t cell = deep_cell(t, &run), seeds = t->request->seeds;
        if (cell == t->cells)
            continue;
        const double mean = deep_mean(&t->runs[cell * seeds], seeds).mean;
        low = fmin(low, mean);
        high = fmax(high, mean);
    }
    return high > low ? high - low : NAN;
}

static void add_panels(tacit_reproduced *out, const deep_table *t)
{
    static const char x[] = "t (0: equal shares, 1: one digit an agent)", y[] = "test accuracy, %";
    static const char note[] = "Fiedler value 0.06; add-remove";
    static const figure_panel panels[BUDGETS] = {
        {"by-t-epsilon-0.5", "epsilon = 0.5", x, y, note, false, false},
        {"by-t-epsilon-10", "epsilon = 10", x, y, note, false, false},
    };
    for (size_t b = 0; b < BUDGETS; b++) {
        const size_t at = figure_add_panel(out, &panels[b]);
        for (int m = DEEP_DSGD; m < DEEP_METHODS; m++)
            for (int line = 0; line < 2; line++) {
                deep_run run = like(m, b, 0);
                char name[80];
                snprintf(name, sizeof name, "%s%s", deep_names[m], line ? ", the paper" : "");
                deep_line(out, at, name, t, &run, &run.t, SPLITS, splits, line == 1);
            }
    }
}

static void show(tacit_reproduced *out, const deep_table *t)
{
    for (size_t b = 0; b < BUDGETS && !t->request->quick; b++) {
        double range[DEEP_METHODS] = {[DEEP_CENTRAL] = NAN};
        char what[100];
        for (int m = DEEP_DSGD; m < DEEP_METHODS; m++)
            range[m] = range_over_splits(t, m, b);
        snprintf(what, sizeof what, "At epsilon %g accuracy varies with t", budgets[b]);
        deep_find_ranges(out, what, range);
    }
    add_panels(out, t);
}

static tacit_status run(tacit_reproduced *out, const tacit_reproduce_request *request,
                        tacit_error *err)
{
    deep_table t = {.request = request};
    plan(&t);
    tacit_status status = deep_make(out, &t, err);
    if (!status)
        show(out, &t);
    deep_clear(&t);
    return status;
}

const tacit_reproduction tacit_reproduction_004_table2 = {
    .name = "004-table2",
    .paper = "paper 004: Bayrooti, Gao, Prorok (2023), table 2",
    .title = "MNIST by consensus: accuracy by who holds which digits",
    .seeds = 1,
    .full_seeds = 5,
    .has_cells = true,
    .run = run,
};
