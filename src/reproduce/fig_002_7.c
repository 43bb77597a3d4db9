/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figure 7 of paper 002: who gains by joining. N owners with equal numbers of records learn
 * together under epsilon each; any of them could also learn alone, from its own records and without
 * noise. Joining pays where the mean of psi(theta_L,T) is below psi(theta_i*). The paper looks at
 * the first owner; here it is the median owner (of at most 20), since a few wild records make some
 * of them much worse off alone.
 *
 * The paper draws two surfaces over (epsilon, N). Here are curves over epsilon, one an N, and the
 * border: the least epsilon at which joining pays, by N, measured (straight lines between
 * logarithms) and as tacit/forecast.h predicts it from a fit to all these runs.
 *
 * An owner answers about T/N times, so that its budget is split over fewer answers the more owners
 * there are: with a cap, company is worth more than the paper's law for a fixed N says.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reproduce/owners.h"
#include "tacit/forecast.h"

#define MOST 8

typedef struct grid {
    int set;
    uint32_t records; /* of an owner */
    size_t counts, budgets;
    uint32_t owners[MOST];
    double epsilon[MOST];
} grid;
static const grid grids[] = {
    {OWNERS_LENDING, 300, 6, 7, {2, 3, 5, 10, 20, 30}, {1, 2, 5, 10, 20, 50, 100}},
    {OWNERS_DIABETES, 300, 5, 7, {3, 10, 30, 60, 100}, {0.5, 1, 2, 5, 10, 20, 50}},
    {OWNERS_HOUSING, 300, 5, 7, {3, 6, 12, 30, 65}, {0.5, 1, 2, 5, 10, 20, 50}},
    {OWNERS_DRAWN, 300, 5, 7, {3, 10, 30, 60, 100}, {0.5, 1, 2, 5, 10, 20, 50}},
};
#define GRIDS (sizeof grids / sizeof *grids)
static const grid quick = {OWNERS_DRAWN, 60, 3, 4, {3, 6, 12}, {5, 20, 80, 320}};

typedef struct figure {
    const tacit_reproduce_request *request;
    const grid *grid[GRIDS];
    size_t grids;
    uint32_t iterations;
    owners_run *runs; /* grid by grid, N by N, budget by budget, seed by seed */
    size_t count;
} figure;

/* ---- what is run ---- */

static size_t cells_of(const grid *g)
{
    return g->counts * g->budgets;
}

static owners_run *cell_of(const figure *f, size_t which, size_t n, size_t e)
{
    size_t before = 0;
    for (size_t k = 0; k < which; k++)
        before += cells_of(f->grid[k]);
    return f->runs + (before + n * f->grid[which]->budgets + e) * f->request->seeds;
}

static tacit_status plan(figure *f, tacit_error *err)
{
    const bool data = owners_has(f->request, OWNERS_LENDING);
    for (size_t k = 0; k < GRIDS && !f->request->quick; k++)
        if ((grids[k].set == OWNERS_DRAWN) != data && owners_has(f->request, grids[k].set))
            f->grid[f->grids++] = &grids[k];
    if (f->request->quick)
        f->grid[f->grids++] = &quick;
    for (size_t k = 0; k < f->grids; k++)
        f->count += cells_of(f->grid[k]) * f->request->seeds;
    f->runs = calloc(f->count, sizeof *f->runs);
    if (!f->runs)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < f->grids; k++)
        for (size_t c = 0; c < cells_of(f->grid[k]); c++) {
            const grid *g = f->grid[k];
            owners_run *run = cell_of(f, k, c / g->budgets, c % g->budgets);
            for (uint32_t s = 0; s < f->request->seeds; s++)
                run[s] = (owners_run){.set = g->set,
                                      .owners = g->owners[c / g->budgets],
                                      .records = g->records,
                                      .iterations = f->iterations,
                                      .epsilon = g->epsilon[c % g->budgets],
                                      .seed = f->request->seed + s};
        }
    return TACIT_OK;
}

/* ---- numbers ---- */

static tacit_interval together(const figure *f, size_t which, size_t n, size_t e)
{
    return owners_mean(cell_of(f, which, n, e), f->request->seeds);
}

/* Who has what hangs on the seed: the mean over runs (any budget: the same). */
static double alone(const figure *f, size_t which, size_t n)
{
    const owners_run *run = cell_of(f, which, n, 0);
    double sum = 0;
    for (uint32_t s = 0; s < f->request->seeds; s++)
        sum += run[s].alone;
    return sum / f->request->seeds;
}

/* The least epsilon from which on joining pays; INFINITY: none of those tried is enough. What lies
 * below the first is not looked for. */
static double border(const figure *f, size_t which, size_t n)
{
    const grid *g = f->grid[which];
    const double least = alone(f, which, n);
    size_t e = g->budgets;
    while (e > 0 && together(f, which, n, e - 1).mean <= least)
        e--;
    if (e == g->budgets)
        return INFINITY;
    if (e == 0)
        return g->epsilon[0];
    const double above = log(together(f, which, n, e - 1).mean);
    const double below = log(together(f, which, n, e).mean);
    const double share = (above - log(least)) / (above - below);
    return g->epsilon[e - 1] * pow(g->epsilon[e] / g->epsilon[e - 1], share);
}

/* Both laws, from all runs whose settings end below the zero model. */
static tacit_status fit(const figure *f, size_t which, tacit_fitness_law *joint,
                        tacit_fitness_law *lone, tacit_error *err)
{
    const grid *g = f->grid[which];
    const size_t seeds = f->request->seeds;
    tacit_pilot *pilot = calloc(cells_of(g) * seeds, sizeof *pilot);
    tacit_lone_pilot *one = calloc(g->counts * seeds, sizeof *one);
    size_t count = 0, ones = 0;
    tacit_status status = pilot && one ? TACIT_OK : tacit_out_of_memory(err);
    for (size_t c = 0; c < cells_of(g) && !status; c++) {
        const owners_run *run = cell_of(f, which, c / g->budgets, c % g->budgets);
        const double n = run->owners, pooled = n * run->records;
        const bool counts = owners_mean(run, seeds).mean < run->zero;
        for (size_t s = 0; s < seeds && counts; s++)
            pilot[count++] =
                (tacit_pilot){n, pooled, n / (run->epsilon * run->epsilon), run[s].last};
        for (size_t s = 0; s < seeds && c % g->budgets == 0; s++)
            one[ones++] = (tacit_lone_pilot){run->records, pooled, run[s].alone};
    }
    if (!status)
        status = tacit_fitness_law_fit(
            joint, pilot, count, &(tacit_fitness_law_options){.floor = true, .crowd = true}, err);
    if (!status)
        status = tacit_fitness_law_fit_alone(lone, one, ones, err);
    free(pilot);
    free(one);
    return status;
}

/* ---- what is shown ---- */

static void add_curves(tacit_reproduced *out, const figure *f, size_t which, size_t panel)
{
    const grid *g = f->grid[which];
    double y[MOST], low[MOST], high[MOST];
    for (size_t n = 0; n < g->counts; n++) {
        char name[40];
        snprintf(name, sizeof name, "N = %u together", g->owners[n]);
        for (size_t e = 0; e < g->budgets; e++) {
            const tacit_interval psi = together(f, which, n, e);
            y[e] = psi.mean;
            low[e] = owners_low(psi);
            high[e] = psi.high;
        }
        figure_add_series(out, panel, name, g->budgets, g->epsilon, y, low, high);
        figure_draw(out, (uint32_t)n, false);
    }
    for (size_t e = 0; e < g->budgets; e++)
        y[e] = alone(f, which, g->counts - 1);
    figure_add_series(out, panel, "an owner alone, no noise", g->budgets, g->epsilon, y, NULL,
                      NULL);
    figure_draw(out, 6, false);
}

static void add_border(tacit_reproduced *out, const figure *f, size_t which, size_t panel,
                       const tacit_fitness_law *joint, const tacit_fitness_law *lone)
{
    const grid *g = f->grid[which];
    double x[MOST], y[MOST], law[MOST];
    for (size_t n = 0; n < g->counts; n++) {
        x[n] = g->owners[n];
        y[n] = border(f, which, n);
        law[n] = tacit_forecast_border(joint, lone, x[n], g->records, x[n] * g->records);
    }
    figure_add_series(out, panel, "measured: above, joining pays", g->counts, x, y, NULL, NULL);
    figure_draw(out, 0, false);
    figure_add_series(out, panel, "by the fitted law", g->counts, x, law, NULL, NULL);
    figure_draw(out, 6, false);
}

static void add_panels(tacit_reproduced *out, const figure *f, size_t which,
                       const tacit_fitness_law *joint, const tacit_fitness_law *lone)
{
    static const char psi[] = "relative fitness psi", epsilon[] = "epsilon of each owner";
    static const char owners[] = "owners N", pays[] = "least epsilon at which joining pays";
    static const char note[] = "mean and its 95 % interval; the dark line is an owner alone among "
                               "the most owners (with fewer it "
                               "is lower: rows say how far)";
    static const char edge[] =
        "the region above the line gains; no point: no budget tried is enough";
    static const figure_panel panels[OWNERS_SETS][2] = {
        [OWNERS_LENDING] = {{"lending", "Lending, 300 records an owner", epsilon, psi, note, true,
                             true},
                            {"lending-border", "Lending: who gains", owners, pays, edge, true,
                             true}},
        [OWNERS_DIABETES] = {{"diabetes", "Diabetes 130, 300 records an owner", epsilon, psi, note,
                              true, true},
                             {"diabetes-border", "Diabetes 130: who gains", owners, pays, edge,
                              true, true}},
        [OWNERS_HOUSING] = {{"housing", "California housing, 300 records an owner", epsilon, psi,
                             note, true, true},
                            {"housing-border", "California housing: who gains", owners, pays, edge,
                             true, true}},
        [OWNERS_DRAWN] = {{"drawn", "Drawn records", epsilon, psi, note, true, true},
                          {"drawn-border", "Drawn records: who gains", owners, pays, edge, true,
                           true}},
    };
    const int set = f->grid[which]->set;
    add_curves(out, f, which, figure_add_panel(out, &panels[set][0]));
    add_border(out, f, which, figure_add_panel(out, &panels[set][1]), joint, lone);
}

static void add_rows(tacit_reproduced *out, const figure *f, size_t which,
                     const tacit_fitness_law *joint, const tacit_fitness_law *lone)
{
    const grid *g = f->grid[which];
    const char *name = owners_sets[g->set].name;
    for (size_t n = 0; n < g->counts; n++) {
        const double owners = g->owners[n];
        const double edge = border(f, which, n);
        const double law =
            tacit_forecast_border(joint, lone, owners, g->records, owners * g->records);
        figure_add_row(out, alone(f, which, n), NAN, NAN, NAN,
                       "%s: psi of an owner alone, "
                       "N = %g",
                       name, owners);
        figure_add_row(out, isinf(edge) ? NAN : edge, NAN, NAN, NAN,
                       "%s: least epsilon at which joining pays, N = %g", name, owners);
        figure_add_row(out, isinf(law) ? NAN : law, NAN, NAN, NAN,
                       "%s: the same by the fitted law, N = %g", name, owners);
    }
    for (size_t n = 0; n < g->counts; n++)
        for (size_t e = 0; e < g->budgets; e++) {
            const tacit_interval psi = together(f, which, n, e);
            figure_add_row(out, psi.mean, psi.low, psi.high, NAN,
                           "%s: psi together, N = %u, epsilon %g", name, g->owners[n],
                           g->epsilon[e]);
        }
    figure_add_row(out, joint->crowd, NAN, NAN, NAN, "%s: exponent of N in the fitted law", name);
    figure_add_row(out, joint->worst, NAN, NAN, NAN,
                   "%s: largest factor by which a mean misses the law", name);
}

/* N of the least border, and what that says of company. */
static void find_company(char *text, size_t size, const figure *f, size_t which)
{
    const grid *g = f->grid[which];
    size_t best = 0;
    for (size_t n = 1; n < g->counts; n++)
        best = border(f, which, n) < border(f, which, best) ? n : best;
    if (isinf(border(f, which, best)))
        snprintf(text, size, "Nobody gains here: staying alone is better at every budget tried.");
    else if (best + 1 == g->counts)
        snprintf(text, size,
                 "The more owners, the smaller the budget that is enough, as in the "
                 "paper.");
    else if (best > 0)
        snprintf(text, size,
                 "The budget that is enough falls up to N = %u, as in the paper, and not beyond "
                 "(of %u iterations an owner answers %u at N = %u).",
                 g->owners[best], f->iterations, f->iterations / g->owners[g->counts - 1],
                 g->owners[g->counts - 1]);
    else
        snprintf(text, size, "More owners do not lower that budget here.");
}

static void find_set(tacit_reproduced *out, const figure *f, size_t which,
                     const tacit_fitness_law *joint)
{
    const grid *g = f->grid[which];
    char text[500], company[300];
    size_t used = 0;
    for (size_t n = 0; n < g->counts && used < sizeof text; n++) {
        const double edge = border(f, which, n);
        const char *comma = n ? ", " : "";
        if (isinf(edge))
            used += (size_t)snprintf(text + used, sizeof text - used, "%snone at N = %u", comma,
                                     g->owners[n]);
        else
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%.2g at N = %u", comma,
                                     edge <= g->epsilon[0] ? "at most " : "", edge, g->owners[n]);
    }
    find_company(company, sizeof company, f, which);
    figure_find(out,
                "%s, %u records an owner: the least epsilon at which joining pays is %s (up to %g "
                "was tried). %s",
                owners_sets[g->set].label, g->records, text, g->epsilon[g->budgets - 1], company);
    figure_find(out,
                "%s: in the fitted law N has the exponent %.2f beside the paper's terms; the mean "
                "of equal runs misses it by a factor of %.2f at worst%s.",
                owners_sets[g->set].label, joint->crowd, joint->worst,
                tacit_fitness_law_is_bad(joint) ? ", so that it should not be believed" : "");
}

static tacit_status show(tacit_reproduced *out, const figure *f, tacit_error *err)
{
    const tacit_reproduce_request *request = f->request;
    out->spread = "its 95 % interval (Student)";
    out->paper_numbers =
        "The paper (10,000 records an owner) names two points in words: joining pays for more than "
        "5 owners with epsilon 10 or more, and for more than 100 with 2.5 or more.";
    out->warning =
        owners_has(request, OWNERS_LENDING) && !request->quick
            ? "The paper's 890,000 loans could not be had: 10,000 loans of the same lender stand "
              "in, with 300 records an owner instead of 10,000. Compare shapes, not heights."
            : "These are drawn records, not the paper's loans.";
    for (size_t k = 0; k < f->grids; k++) {
        tacit_fitness_law joint, lone;
        tacit_status status = fit(f, k, &joint, &lone, err);
        if (status)
            return status;
        find_set(out, f, k, &joint);
        add_panels(out, f, k, &joint, &lone);
        add_rows(out, f, k, &joint, &lone);
    }
    figure_set(out, "runs", "%u a point: seeds %lld to %lld", request->seeds,
               (long long)request->seed, (long long)request->seed + request->seeds - 1);
    figure_set(out, "alone",
               "the best model of an owner's own records (closed form), judged like the others on "
               "all owners' records; the median owner of at most 20 (the paper: the first), mean "
               "over runs, which deal records anew");
    figure_set(out, "border",
               "where the mean of psi together falls to that alone, by straight lines between "
               "logarithms; budgets are split over T_i answers (cap)");
    owners_settings(out, request);
    return TACIT_OK;
}

static tacit_status reproduce(tacit_reproduced *out, const tacit_reproduce_request *request,
                              tacit_error *err)
{
    figure f = {.request = request, .iterations = request->quick ? 100 : OWNERS_HORIZON};
    tacit_status status = plan(&f, err);
    if (!status)
        status = owners_perform(f.runs, f.count, request, err);
    if (!status)
        status = show(out, &f, err);
    free(f.runs);
    return status;
}

const tacit_reproduction tacit_reproduction_002_fig7 = {
    .name = "002-fig7",
    .paper = "paper 002: Asynchronous Differentially-Private Learning on Distributed Private Data, "
             "figure 7",
    .title = "Who gains by joining: many owners against one alone",
    .seeds = 10,
    .run = reproduce,
};
