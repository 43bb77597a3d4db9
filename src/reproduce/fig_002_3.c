/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figure 3 of paper 002: percentiles of relative fitness by iterations, three owners, at three
 * budgets; with our split of a budget (a cap on answers) and the paper's (over all iterations)
 * side by side. The paper's set has 890,000 loans; ours 10,000, so that the same budget means
 * 83 times the noise. Two larger sets stand beside it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/owners.h"

#define OWNERS 3
#define MOST_POINTS 40
#define OTHERS_SHARE 5 /* of the other sets a fifth as many runs */

static const double budgets[] = {0.1, 1, 10};
#define BUDGETS (sizeof budgets / sizeof *budgets)

/* Runs that differ in their seed only. */
typedef struct group {
    int set;
    owners_split split;
    double epsilon;
    size_t first, count;
} group;

typedef struct figure {
    const tacit_reproduce_request *request;
    uint32_t iterations;
    double at[MOST_POINTS];
    size_t points;
    group group[OWNERS_SETS * OWNERS_SPLITS * BUDGETS];
    size_t groups;
    owners_run *runs;
    size_t count;
    double *psi;
} figure;

/* ---- what is run ---- */

static void add_group(figure *f, int set, owners_split split, double epsilon, size_t count)
{
    f->group[f->groups++] = (group){set, split, epsilon, f->count, count};
    f->count += count;
}

static uint32_t records_of(const figure *f, int set)
{
    if (f->request->quick)
        return 300;
    return owners_sets[set].file ? owners_sets[set].records / OWNERS : 3000;
}

static tacit_status plan(figure *f, tacit_error *err)
{
    const bool lending = owners_has(f->request, OWNERS_LENDING);
    const int main_set = lending ? OWNERS_LENDING : OWNERS_DRAWN;
    const size_t seeds = f->request->seeds, fewer = (seeds + OTHERS_SHARE - 1) / OTHERS_SHARE;
    for (int set = 0; set < OWNERS_SETS; set++) {
        const bool other = set != OWNERS_DRAWN && owners_has(f->request, set) && !f->request->quick;
        for (int split = 0; split < OWNERS_SPLITS; split++)
            for (size_t b = 0; b < BUDGETS && (set == main_set || other); b++)
                add_group(f, set, (owners_split)split, budgets[b], set == main_set ? seeds : fewer);
    }
    f->points = owners_times(f->at, MOST_POINTS, f->iterations);
    f->runs = calloc(f->count, sizeof *f->runs);
    f->psi = calloc(f->count * f->points, sizeof *f->psi);
    if (!f->runs || !f->psi)
        return tacit_out_of_memory(err);
    for (size_t g = 0; g < f->groups; g++)
        for (size_t k = 0; k < f->group[g].count; k++) {
            const size_t at = f->group[g].first + k;
            f->runs[at] = (owners_run){.set = f->group[g].set,
                                       .split = f->group[g].split,
                                       .owners = OWNERS,
                                       .records = records_of(f, f->group[g].set),
                                       .iterations = f->iterations,
                                       .epsilon = f->group[g].epsilon,
                                       .seed = f->request->seed + (int64_t)k,
                                       .at = f->at,
                                       .points = f->points,
                                       .psi = f->psi + at * f->points};
        }
    return TACIT_OK;
}

/* ---- what is shown ---- */

typedef struct quartiles {
    double low, median, high;
} quartiles;

/* Of the runs' psi at point `k`, or at the end. */
static quartiles quartiles_of(const figure *f, const group *g, size_t k)
{
    double *value = calloc(g->count, sizeof *value);
    if (!value)
        return (quartiles){NAN, NAN, NAN};
    for (size_t s = 0; s < g->count; s++) {
        const owners_run *r = &f->runs[g->first + s];
        value[s] = k < f->points ? r->psi[k] : r->last;
    }
    quartiles q = {owners_percentile(value, g->count, 0.25),
                   owners_percentile(value, g->count, 0.5),
                   owners_percentile(value, g->count, 0.75)};
    free(value);
    return q;
}

static void add_curve(tacit_reproduced *out, const figure *f, size_t panel, const group *g,
                      const char *name, uint32_t colour)
{
    double y[MOST_POINTS], low[MOST_POINTS], high[MOST_POINTS];
    for (size_t k = 0; k < f->points; k++) {
        const quartiles q = quartiles_of(f, g, k);
        y[k] = q.median;
        low[k] = q.low;
        high[k] = q.high;
    }
    figure_add_series(out, panel, name, f->points, f->at, y, low, high);
    figure_draw(out, colour, false);
}

static const group *group_of(const figure *f, int set, owners_split split, double epsilon)
{
    for (size_t g = 0; g < f->groups; g++)
        if (f->group[g].set == set && f->group[g].split == split && f->group[g].epsilon == epsilon)
            return &f->group[g];
    return NULL;
}

/* A panel a budget for the paper's set, a panel a set for the others. */
static void add_panels(tacit_reproduced *out, const figure *f, int main_set)
{
    static const char x[] = "iterations k", y[] = "relative fitness psi(theta_L,k)";
    static const char note[] = "median and quartiles over runs";
    static const figure_panel by_budget[BUDGETS] = {
        {"epsilon-0.1", "Each owner spends epsilon = 0.1", x, y, note, true, true},
        {"epsilon-1", "Each owner spends epsilon = 1", x, y, note, true, true},
        {"epsilon-10", "Each owner spends epsilon = 10", x, y, note, true, true},
    };
    static const figure_panel by_set[OWNERS_SETS] = {
        [OWNERS_DIABETES] = {"diabetes", "Diabetes 130 (33,588 records an owner)", x, y,
                             "median and quartiles; budgets with a cap", true, true},
        [OWNERS_HOUSING] = {"housing", "California housing (6,546 records an owner)", x, y,
                            "median and quartiles; budgets with a cap", true, true},
    };
    for (size_t b = 0; b < BUDGETS; b++) {
        size_t panel = figure_add_panel(out, &by_budget[b]);
        for (uint32_t split = 0; split < OWNERS_SPLITS; split++)
            add_curve(out, f, panel, group_of(f, main_set, (owners_split)split, budgets[b]),
                      owners_splits[split], split);
    }
    for (int set = 0; set < OWNERS_SETS; set++) {
        if (set == main_set || !by_set[set].id || !group_of(f, set, OWNERS_CAP, budgets[0]))
            continue;
        size_t panel = figure_add_panel(out, &by_set[set]);
        static const char *const names[BUDGETS] = {"epsilon 0.1", "epsilon 1", "epsilon 10"};
        for (uint32_t b = 0; b < BUDGETS; b++)
            add_curve(out, f, panel, group_of(f, set, OWNERS_CAP, budgets[b]), names[b], b);
    }
}

static void add_rows(tacit_reproduced *out, const figure *f)
{
    for (size_t g = 0; g < f->groups; g++) {
        const group *of = &f->group[g];
        const quartiles q = quartiles_of(f, of, f->points);
        figure_add_row(out, q.median, q.low, q.high, NAN, "%s: median psi after %u, epsilon %g, %s",
                       owners_sets[of->set].name, f->iterations, of->epsilon,
                       owners_splits[of->split]);
    }
    for (size_t g = 0; g < f->groups; g++) {
        const group *of = &f->group[g];
        const owners_run *r = &f->runs[of->first];
        if (of->epsilon == 1)
            figure_add_row(out, r->scale, NAN, NAN, NAN,
                           "%s: scale of the noise on a gradient, epsilon 1, %s",
                           owners_sets[of->set].name, owners_splits[of->split]);
        if (of->epsilon == 1 && of->split == OWNERS_CAP)
            figure_add_row(out, r->least, NAN, NAN, NAN,
                           "%s: f(theta*), labels of variance 1 (run 1)",
                           owners_sets[of->set].name);
    }
}

/* Does the median fall, and does more budget help? In words that follow from the numbers. */
static void find_set(tacit_reproduced *out, const figure *f, int set)
{
    double end[BUDGETS], printed[BUDGETS], start = NAN;
    for (size_t b = 0; b < BUDGETS; b++) {
        const group *cap = group_of(f, set, OWNERS_CAP, budgets[b]);
        end[b] = quartiles_of(f, cap, f->points).median;
        printed[b] =
            quartiles_of(f, group_of(f, set, OWNERS_PRINTED, budgets[b]), f->points).median;
        start = b == 0 ? quartiles_of(f, cap, 0).median : start;
    }
    const bool falls = end[BUDGETS - 1]<start, ordered = end[0]> end[1] && end[1] > end[2];
    figure_find(out,
                "%s: after %u iterations the median psi is %.3g, %.3g and %.3g at epsilon 0.1, 1 "
                "and 10 with a cap on answers, and %.3g, %.3g and %.3g with the paper's split "
                "(zero model: %.3g). %s",
                owners_sets[set].label, f->iterations, end[0], end[1], end[2], printed[0],
                printed[1], printed[2], start,
                ordered && falls ? end[0] < start && end[1] < start
                                       ? "More budget helps, and all end below the start, as in "
                                         "the paper."
                                       : "More budget helps, as in the paper; but a small budget "
                                         "ends above the start: the zero model is better than "
                                         "that."
                : falls ? "The largest budget ends below the start; the order of the others is "
                          "not that of the paper."
                        : "No budget here ends below the start.");
}

static tacit_status reproduce(tacit_reproduced *out, const tacit_reproduce_request *request,
                              tacit_error *err)
{
    figure f = {.request = request, .iterations = request->quick ? 60 : OWNERS_HORIZON};
    tacit_status status = plan(&f, err);
    if (!status)
        status = owners_perform(f.runs, f.count, request, err);
    if (!status) {
        const bool lending = owners_has(request, OWNERS_LENDING);
        out->spread = "for a median its quartiles";
        out->paper_numbers = "The paper shows curves and prints no numbers for this figure.";
        out->warning =
            lending ? "The paper's 890,000 loans could not be had: 10,000 loans of the same lender "
                      "stand in, 3,000 an owner instead of 250,000, so that the same epsilon "
                      "means 83 times the noise. Compare shapes, not heights."
                    : "No folder of data was given (TACIT_DATA): these are drawn records, not the "
                      "paper's loans.";
        for (int set = 0; set < OWNERS_SETS; set++)
            if (group_of(&f, set, OWNERS_CAP, budgets[0]))
                find_set(out, &f, set);
        add_panels(out, &f, lending ? OWNERS_LENDING : OWNERS_DRAWN);
        add_rows(out, &f);
        figure_set(out, "owners", "3, with equal numbers of records");
        figure_set(out, "runs", "%u: seeds %lld to %lld (other sets: a fifth of them)",
                   request->seeds, (long long)request->seed,
                   (long long)request->seed + request->seeds - 1);
        owners_settings(out, request);
    }
    free(f.runs);
    free(f.psi);
    return status;
}

const tacit_reproduction tacit_reproduction_002_fig3 = {
    .name = "002-fig3",
    .paper = "paper 002: Asynchronous Differentially-Private Learning on Distributed Private Data, "
             "figure 3",
    .title = "Relative fitness by iterations, three owners",
    .seeds = 100,
    .run = reproduce,
};
