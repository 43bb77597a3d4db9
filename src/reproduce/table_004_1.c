/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table 1 of paper 004: accuracy on MNIST by method, budget and connectivity, every agent holding
 * one digit (t = 1). By default one trial on the complete and the sparsest graph; --full is all of
 * it, five trials.
 *
 * The paper's accountant counts a record more or less, its definition one replaced (slip S14):
 * both are run, and the former by RDP, too, as the paper has it. What it calls non-private has no
 * noise here either.
 */
#include <math.h>
#include <stdio.h>

#include "reproduce/deep.h"

#define BUDGETS 5
#define GRAPHS 4
static const double budgets[BUDGETS] = {INFINITY, 100, 10, 1, 0.5};
static const double graphs[GRAPHS] = {1, 0.7, 0.39, 0.06};

/* As printed: mean and deviation over five trials. */
static const deep_figure central[BUDGETS] = {
    {98.22, 0.19}, {96.16, 0.62}, {94.73, 0.74}, {92.04, 0.84}, {90.82, 1.14}};
static const deep_figure printed[GRAPHS][DEEP_METHODS][BUDGETS] = {
    {[DEEP_DSGD] = {{95.38, 0.37}, {92.34, 0.9}, {91.27, 0.92}, {87.26, 1.16}, {84.07, 1.89}},
     [DEEP_DSGT] = {{98.13, 0.11}, {96.13, 0.84}, {96.54, 0.17}, {89.24, 0.27}, {85.41, 0.54}},
     [DEEP_DINNO] = {{97.81, 0.2}, {95.41, 0.36}, {93.21, 0.24}, {89.66, 0.51}, {86.22, 0.58}}},
    {[DEEP_DSGD] = {{95.19, 0.37}, {92.03, 0.64}, {91.27, 1.1}, {87.16, 1.58}, {84.09, 2.23}},
     [DEEP_DSGT] = {{97.76, 0.83}, {96.16, 0.77}, {96.62, 0.11}, {89.75, 0.77}, {84.98, 1.13}},
     [DEEP_DINNO] = {{97.94, 0.21}, {95.51, 0.43}, {93.41, 0.37}, {89.13, 0.34}, {85.7, 0.25}}},
    {[DEEP_DSGD] = {{94.77, 0.87}, {91.56, 0.68}, {90.61, 0.93}, {87.68, 0.74}, {85.22, 1.21}},
     [DEEP_DSGT] = {{97.36, 1.43}, {96.28, 0.7}, {96.42, 0.21}, {89.84, 0.39}, {84.79, 1.07}},
     [DEEP_DINNO] = {{97.91, 0.25}, {95.6, 0.35}, {93.25, 0.34}, {89.02, 0.35}, {85.91, 0.46}}},
    {[DEEP_DSGD] = {{90.55, 2.06}, {88.36, 3.75}, {84.12, 2.49}, {82.49, 1.23}, {80.57, 1.47}},
     [DEEP_DSGT] = {{97.73, 0.48}, {95.97, 1.67}, {96.26, 0.17}, {89.16, 0.82}, {84.53, 1.29}},
     [DEEP_DINNO] = {{97.73, 0.28}, {95.03, 0.79}, {91.99, 0.67}, {85.68, 1.13}, {78.44, 2}}},
};

/* ---- what is run ---- */

static bool has_graph(const tacit_reproduce_request *request, size_t g)
{
    return g == 0 || request->full || (graphs[g] == 0.06 && !request->quick);
}

static bool has_budget(const tacit_reproduce_request *request, size_t b)
{
    if (request->quick)
        return !isfinite(budgets[b]) || budgets[b] == 10;
    return request->full || budgets[b] != 100;
}

static void plan_counting(deep_table *t, deep_counting counting)
{
    for (size_t g = 0; g < GRAPHS; g++)
        for (int m = 0; m < DEEP_METHODS; m++)
            for (size_t b = 0; b < BUDGETS; b++) {
                const deep_run like = {.method = (deep_method)m,
                                       .epsilon = budgets[b],
                                       .counting = counting,
                                       .fiedler = graphs[g],
                                       .t = 1};
                const bool twice = (m == DEEP_CENTRAL && g > 0) ||
                                   (counting != DEEP_ADD_REMOVE && !isfinite(budgets[b]));
                if (has_graph(t->request, g) && has_budget(t->request, b) && !twice)
                    deep_add(t, &like, m == DEEP_CENTRAL ? central[b] : printed[g][m][b]);
            }
}

/* ---- what is shown ---- */

static void name_line(char *out, size_t size, int method, double fiedler, const char *whose)
{
    if (method == DEEP_CENTRAL)
        snprintf(out, size, "%s", whose);
    else if (fiedler >= 1)
        snprintf(out, size, "complete, %s", whose);
    else
        snprintf(out, size, "Fiedler %g, %s", fiedler, whose);
}

static void add_by_epsilon(tacit_reproduced *out, const deep_table *t, int method)
{
    static const char x[] = "epsilon (delta 1e-5)", y[] = "test accuracy, %";
    static const char note[] = "add-remove: as the paper's accountant; replace: its definition; "
                               "noise by pld";
    static const figure_panel panels[DEEP_METHODS] = {
        {"central-by-epsilon", "Central DP-SGD", x, y, note, true, false},
        {"dsgd-by-epsilon", "DP-DSGD", x, y, note, true, false},
        {"dsgt-by-epsilon", "DP-DSGT", x, y, note, true, false},
        {"dinno-by-epsilon", "DP-DiNNO", x, y, note, true, false},
    };
    static const double finite[] = {0.5, 1, 10, 100};
    const size_t count = sizeof finite / sizeof *finite;
    const size_t at = figure_add_panel(out, &panels[method]);
    for (size_t g = 0; g < (method == DEEP_CENTRAL ? 1 : GRAPHS); g++)
        for (int line = 0; line < 3; line++) { /* both countings, and the paper */
            const char *whose = line < 2 ? deep_countings[line] : "the paper";
            deep_run like = {.method = (deep_method)method,
                             .counting = line == 1 ? DEEP_REPLACE : DEEP_ADD_REMOVE,
                             .fiedler = graphs[g],
                             .t = 1};
            char name[80];
            name_line(name, sizeof name, method, graphs[g], whose);
            deep_line(out, at, name, t, &like, &like.epsilon, count, finite, line == 2);
        }
}

static void add_by_graph(tacit_reproduced *out, const deep_table *t)
{
    static const figure_panel panel = {"bare-by-fiedler",
                                       "Without noise, by connectivity",
                                       "Fiedler value / n",
                                       "test accuracy, %",
                                       "central has no graph",
                                       false,
                                       false};
    const size_t at = figure_add_panel(out, &panel);
    for (int m = 0; m < DEEP_METHODS; m++)
        for (int line = 0; line < 2; line++) {
            deep_run like = {.method = (deep_method)m, .epsilon = INFINITY, .t = 1};
            char name[80];
            snprintf(name, sizeof name, "%s%s", deep_names[m], line ? ", the paper" : "");
            deep_line(out, at, name, t, &like, &like.fiedler, GRAPHS, graphs, line == 1);
        }
}

/* By how much the graph matters to a method: the widest range over graphs at one budget. */
static double range_over_graphs(const deep_table *t, deep_method method)
{
    double most = NAN;
    for (size_t b = 0; b < BUDGETS; b++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t g = 0; g < GRAPHS; g++) {
            const deep_run like = {
                .method = method, .epsilon = budgets[b], .fiedler = graphs[g], .t = 1};
            const size_t cell = deep_cell(t, &like), seeds = t->request->seeds;
            if (cell == t->cells)
                continue;
            const double mean = deep_mean(&t->runs[cell * seeds], seeds).mean;
            low = fmin(low, mean);
            high = fmax(high, mean);
        }
        if (high > low)
            most = isnan(most) ? high - low : fmax(most, high - low);
    }
    return most;
}

static void show(tacit_reproduced *out, const deep_table *t)
{
    double range[DEEP_METHODS];
    for (int m = 0; m < DEEP_METHODS; m++)
        range[m] = range_over_graphs(t, (deep_method)m);
    deep_find_ranges(out,
                     "From the complete to the sparsest graph accuracy changes at most (the "
                     "largest over budgets)",
                     range);
    if (!t->request->full && !t->request->quick)
        figure_set(out, "left out",
                   "four of five trials, epsilon 100, and graphs of Fiedler value 0.7 and 0.39: "
                   "--full runs them");
    for (int m = 0; m < DEEP_METHODS; m++)
        add_by_epsilon(out, t, m);
    add_by_graph(out, t);
}

static tacit_status run(tacit_reproduced *out, const tacit_reproduce_request *request,
                        tacit_error *err)
{
    deep_table t = {.request = request};
    plan_counting(&t, DEEP_ADD_REMOVE);
    plan_counting(&t, DEEP_REPLACE);
    plan_counting(&t, DEEP_RDP);
    tacit_status status = deep_make(out, &t, err);
    if (!status)
        show(out, &t);
    deep_clear(&t);
    return status;
}

const tacit_reproduction tacit_reproduction_004_table1 = {
    .name = "004-table1",
    .paper = "paper 004: Bayrooti, Gao, Prorok (2023), table 1",
    .title = "MNIST by consensus: accuracy by method, budget and graph",
    .seeds = 1,
    .full_seeds = 5,
    .has_cells = true,
    .run = run,
};
