/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figure 6 of paper 002: relative fitness after T iterations by budget and by records, three
 * owners, both axes logarithmic, with the law of eq. (6) fitted to it (tacit/forecast.h):
 *
 *     psi = c0 + c1 s + c2 s^2,   s = sqrt(sum of 1/epsilon_i^2) / n,
 *
 * where c0 is what is left without noise (clipping, the step), which the paper's law lacks.
 *
 * Slopes are of log(psi - psi without noise) by least squares, over points where that excess is at
 * least a fifth of psi without noise (below, it is chance) and psi is less than that of the zero
 * model (beyond, weights are held by their range, and the law is not about that).
 */
#include <math.h>
#include <stdlib.h>

#include "reproduce/owners.h"
#include "tacit/forecast.h"

#define OWNERS 3
#define MOST_POINTS 10
#define FREE 1e6 /* epsilon: hardly any noise, but all else as it is */
#define LEAST_EXCESS 0.2

/* What is looked at of a set: budgets at all its records, and records at one budget. */
typedef struct scan {
    int set;
    size_t budgets, sizes;
    double epsilon[MOST_POINTS];
    uint32_t records[MOST_POINTS]; /* of an owner; the largest for the budgets */
    double at;                     /* epsilon of the sizes */
} scan;
static const scan scans[] = {
    {OWNERS_LENDING,
     9,
     6,
     {0.2, 0.5, 1, 2, 5, 10, 20, 50, 100},
     {94, 188, 375, 750, 1500, 3000},
     20},
    {OWNERS_DIABETES,
     8,
     6,
     {0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 3},
     {1000, 2000, 4000, 8000, 16000, 32000},
     1},
    {OWNERS_HOUSING, 8, 6, {0.1, 0.2, 0.5, 1, 2, 5, 10, 20}, {200, 400, 800, 1600, 3200, 6400}, 5},
    {OWNERS_DRAWN, 8, 6, {0.1, 0.2, 0.5, 1, 2, 5, 10, 20}, {100, 200, 400, 800, 1600, 3200}, 5},
};
#define SCANS (sizeof scans / sizeof *scans)
static const scan quick = {OWNERS_DRAWN, 4, 3, {3, 10, 30, 100}, {100, 200, 400}, 30};

/* Runs that differ in their seed only. */
typedef struct group {
    const owners_run *runs;
    tacit_interval psi;
    double free; /* the same without noise */
} group;

typedef struct figure {
    const tacit_reproduce_request *request;
    const scan *scan[SCANS];
    size_t scans;
    uint32_t iterations;
    owners_run *runs;
    size_t count;
} figure;

/* ---- what is run: for a scan, a group for each place and split, and one without noise a size */

static size_t places_of(const scan *s)
{
    return s->budgets + s->sizes;
}

static size_t groups_of(const scan *s)
{
    return OWNERS_SPLITS * places_of(s) + s->sizes;
}

/* The place: first budgets, then sizes. */
static void place(const scan *s, size_t k, double *epsilon, uint32_t *records)
{
    *epsilon = k < s->budgets ? s->epsilon[k] : s->at;
    *records = s->records[k < s->budgets ? s->sizes - 1 : k - s->budgets];
}

static void plan_scan(figure *f, const scan *s, size_t first)
{
    const size_t seeds = f->request->seeds, places = places_of(s);
    for (size_t g = 0; g < groups_of(s); g++) {
        const bool noise = g < OWNERS_SPLITS * places;
        owners_run r = {.set = s->set, .owners = OWNERS, .iterations = f->iterations};
        if (noise)
            place(s, g % places, &r.epsilon, &r.records);
        else
            r.records = s->records[g - OWNERS_SPLITS * places];
        r.epsilon = noise ? r.epsilon : FREE;
        r.split = noise ? (owners_split)(g / places) : OWNERS_CAP;
        for (size_t k = 0; k < seeds; k++) {
            r.seed = f->request->seed + (int64_t)k;
            f->runs[first + g * seeds + k] = r;
        }
    }
}

static tacit_status plan(figure *f, tacit_error *err)
{
    const bool data = owners_has(f->request, OWNERS_LENDING);
    for (size_t k = 0; k < SCANS && !f->request->quick; k++)
        if ((scans[k].set == OWNERS_DRAWN) != data && owners_has(f->request, scans[k].set))
            f->scan[f->scans++] = &scans[k];
    if (f->request->quick)
        f->scan[f->scans++] = &quick;
    for (size_t k = 0; k < f->scans; k++)
        f->count += groups_of(f->scan[k]) * f->request->seeds;
    f->runs = calloc(f->count, sizeof *f->runs);
    if (!f->runs)
        return tacit_out_of_memory(err);
    for (size_t k = 0, first = 0; k < f->scans; k++) {
        plan_scan(f, f->scan[k], first);
        first += groups_of(f->scan[k]) * f->request->seeds;
    }
    return TACIT_OK;
}

static group group_of(const figure *f, size_t which, owners_split split, size_t k)
{
    const scan *s = f->scan[which];
    const size_t seeds = f->request->seeds, places = places_of(s);
    size_t first = 0;
    for (size_t j = 0; j < which; j++)
        first += groups_of(f->scan[j]) * seeds;
    const size_t size = k < s->budgets ? s->sizes - 1 : k - s->budgets;
    group g = {.runs = f->runs + first + (split * places + k) * seeds};
    g.psi = owners_mean(g.runs, seeds);
    g.free = owners_mean(f->runs + first + (OWNERS_SPLITS * places + size) * seeds, seeds).mean;
    return g;
}

/* ---- slopes and the law ---- */

static bool is_counted(const group *g)
{
    return g->psi.mean - g->free >= LEAST_EXCESS * g->free && g->psi.mean < g->runs->zero;
}

typedef struct slope {
    double of;
    size_t points;
} slope;

/* By budgets or by sizes. */
static slope slope_of(const figure *f, size_t which, owners_split split, bool sizes)
{
    const scan *s = f->scan[which];
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t k = sizes ? s->budgets : 0; k < (sizes ? places_of(s) : s->budgets); k++) {
        const group g = group_of(f, which, split, k);
        const double u = log(sizes ? g.runs->records : g.runs->epsilon);
        const double v = log(g.psi.mean - g.free);
        if (!is_counted(&g))
            continue;
        n += 1;
        x += u;
        y += v;
        xx += u * u;
        xy += u * v;
    }
    return (slope){n < 2 ? NAN : (n * xy - x * y) / (n * xx - x * x), (size_t)n};
}

/* Fitted on all runs with a cap of the places that count. */
static tacit_status fit(const figure *f, size_t which, tacit_fitness_law *law, tacit_error *err)
{
    const scan *s = f->scan[which];
    const size_t seeds = f->request->seeds;
    tacit_pilot *pilot = calloc(places_of(s) * seeds, sizeof *pilot);
    size_t count = 0;
    if (!pilot)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < places_of(s); k++) {
        const group g = group_of(f, which, OWNERS_CAP, k);
        const double epsilon = g.runs->epsilon;
        for (size_t j = 0; j < seeds && g.psi.mean < g.runs->zero; j++)
            pilot[count++] = (tacit_pilot){.owners = OWNERS,
                                           .records = (double)OWNERS * g.runs->records,
                                           .noise = OWNERS / (epsilon * epsilon),
                                           .psi = g.runs[j].last};
    }
    tacit_status status =
        tacit_fitness_law_fit(law, pilot, count, &(tacit_fitness_law_options){.floor = true}, err);
    free(pilot);
    return status;
}

static double law_at(const tacit_fitness_law *law, const owners_run *r)
{
    const double s = sqrt(OWNERS / (r->epsilon * r->epsilon)) / ((double)OWNERS * r->records);
    return law->c[0] + law->c[1] * s + law->c[2] * s * s;
}

/* ---- what is shown ---- */

static void add_curves(tacit_reproduced *out, const figure *f, size_t which, size_t panel,
                       bool sizes, const tacit_fitness_law *law)
{
    const scan *s = f->scan[which];
    const size_t from = sizes ? s->budgets : 0, count = sizes ? s->sizes : s->budgets;
    double x[MOST_POINTS], y[MOST_POINTS], low[MOST_POINTS], high[MOST_POINTS];
    for (uint32_t split = 0; split < OWNERS_SPLITS; split++) {
        for (size_t k = 0; k < count; k++) {
            const group g = group_of(f, which, (owners_split)split, from + k);
            x[k] = sizes ? g.runs->records : g.runs->epsilon;
            y[k] = g.psi.mean;
            low[k] = owners_low(g.psi);
            high[k] = g.psi.high;
        }
        figure_add_series(out, panel, owners_splits[split], count, x, y, low, high);
        figure_draw(out, split, false);
    }
    for (size_t k = 0; k < count; k++)
        y[k] = law_at(law, group_of(f, which, OWNERS_CAP, from + k).runs);
    figure_add_series(out, panel, "law of eq. (6), fitted", count, x, y, NULL, NULL);
    figure_draw(out, 6, false);
}

static void add_panels(tacit_reproduced *out, const figure *f, size_t which,
                       const tacit_fitness_law *law)
{
    static const char y[] = "relative fitness psi(theta_L,T)";
    static const char by_epsilon[] = "epsilon of each owner",
                      by_records[] = "records of each owner";
    static const char note[] = "mean and its 95 % interval";
    static const figure_panel panels[OWNERS_SETS][2] = {
        [OWNERS_LENDING] = {{"lending-epsilon", "Lending, 3,000 records an owner", by_epsilon, y,
                             note, true, true},
                            {"lending-records", "Lending, epsilon = 20", by_records, y, note, true,
                             true}},
        [OWNERS_DIABETES] = {{"diabetes-epsilon", "Diabetes 130, 32,000 records an owner",
                              by_epsilon, y, note, true, true},
                             {"diabetes-records", "Diabetes 130, epsilon = 1", by_records, y, note,
                              true, true}},
        [OWNERS_HOUSING] = {{"housing-epsilon", "California housing, 6,400 records an owner",
                             by_epsilon, y, note, true, true},
                            {"housing-records", "California housing, epsilon = 5", by_records, y,
                             note, true, true}},
        [OWNERS_DRAWN] = {{"drawn-epsilon", "Drawn records, by budget", by_epsilon, y, note, true,
                           true},
                          {"drawn-records", "Drawn records, by size", by_records, y, note, true,
                           true}},
    };
    for (int k = 0; k < 2; k++) {
        size_t panel = figure_add_panel(out, &panels[f->scan[which]->set][k]);
        add_curves(out, f, which, panel, k == 1, law);
    }
}

/* Over places where both splits count: how many times the paper's psi is ours, by excess. */
static double cost_of_split(const figure *f, size_t which)
{
    double sum = 0;
    size_t count = 0;
    for (size_t k = 0; k < places_of(f->scan[which]); k++) {
        const group ours = group_of(f, which, OWNERS_CAP, k);
        const group paper = group_of(f, which, OWNERS_PRINTED, k);
        if (!is_counted(&ours) || !is_counted(&paper))
            continue;
        sum += log((paper.psi.mean - paper.free) / (ours.psi.mean - ours.free));
        count++;
    }
    return count > 0 ? exp(sum / (double)count) : NAN;
}

static void add_rows(tacit_reproduced *out, const figure *f, size_t which,
                     const tacit_fitness_law *law)
{
    const scan *s = f->scan[which];
    const char *name = owners_sets[s->set].name;
    for (size_t k = 0; k < places_of(s); k++)
        for (int split = 0; split < OWNERS_SPLITS; split++) {
            const group g = group_of(f, which, (owners_split)split, k);
            figure_add_row(out, g.psi.mean, g.psi.low, g.psi.high, NAN,
                           "%s: psi, epsilon %g, %u records an owner, %s", name, g.runs->epsilon,
                           g.runs->records, owners_splits[split]);
        }
    for (int split = 0; split < OWNERS_SPLITS; split++)
        for (int sizes = 0; sizes < 2; sizes++)
            figure_add_row(out, slope_of(f, which, (owners_split)split, sizes).of, NAN, NAN, -2,
                           "%s: slope by %s, %s", name, sizes ? "records" : "epsilon",
                           owners_splits[split]);
    const group ours = group_of(f, which, OWNERS_CAP, 0);
    const group paper = group_of(f, which, OWNERS_PRINTED, 0);
    figure_add_row(out, paper.runs->scale / ours.runs->scale, NAN, NAN, NAN,
                   "%s: scale of the noise, the paper's split over ours", name);
    figure_add_row(out, cost_of_split(f, which), NAN, NAN, NAN,
                   "%s: excess psi, the paper's split over ours", name);
    figure_add_row(out, ours.free, NAN, NAN, NAN, "%s: psi without noise", name);
    figure_add_row(out, ours.runs->zero, NAN, NAN, NAN, "%s: psi of the zero model", name);
    static const char *const terms[] = {"c0 (floor)", "c1", "c2"};
    for (int k = 0; k < TACIT_LAW_TERMS; k++)
        figure_add_row(out, law->c[k], NAN, NAN, NAN, "%s: %s of the law", name, terms[k]);
    figure_add_row(out, law->worst, NAN, NAN, NAN,
                   "%s: largest factor by which a mean misses the law", name);
}

static void find_set(tacit_reproduced *out, const figure *f, size_t which,
                     const tacit_fitness_law *law)
{
    const scan *s = f->scan[which];
    const slope e = slope_of(f, which, OWNERS_CAP, false);
    const slope n = slope_of(f, which, OWNERS_CAP, true);
    const group ours = group_of(f, which, OWNERS_CAP, 0);
    const group paper = group_of(f, which, OWNERS_PRINTED, 0);
    const double ratio = paper.runs->scale / ours.runs->scale;
    const bool near = fabs(e.of + 2) < 0.25 && fabs(n.of + 2) < 0.25;
    figure_find(
        out,
        "%s: what noise adds to psi falls with epsilon by a slope of %.2f (%zu budgets) and "
        "with records by %.2f (%zu sizes); the paper's law says -2. %s Fitted: c0 = %.2g, "
        "c1 = %.2g, c2 = %.2g; the mean of equal runs misses it by a factor of %.2f at "
        "worst.",
        owners_sets[s->set].label, e.of, e.points, n.of, n.points,
        near ? "It holds here." : "It does not quite hold here.", law->c[0], law->c[1], law->c[2],
        law->worst);
    figure_find(out,
                "%s: at equal epsilon the cap T_i needs %.2f times less noise than the split over "
                "T, by the "
                "scales in the ledgers, and psi gains by a factor of %.1f beyond what is left "
                "without noise (the square would be %.1f).",
                owners_sets[s->set].label, ratio, cost_of_split(f, which), ratio * ratio);
}

static tacit_status show(tacit_reproduced *out, const figure *f, tacit_error *err)
{
    const tacit_reproduce_request *request = f->request;
    out->spread = "its 95 % interval (Student)";
    out->paper_numbers =
        "The paper prints c1 = 0 and c2 = 2.1e9 for its 890,000 loans, whose labels, clip and step "
        "it does not state; -2 is the slope of its law for small budgets.";
    out->warning =
        owners_has(request, OWNERS_LENDING) && !request->quick
            ? "The paper's 890,000 loans could not be had: 10,000 loans of the same lender stand "
              "in. Slopes can be compared, heights cannot."
            : "These are drawn records, not the paper's loans.";
    for (size_t k = 0; k < f->scans; k++) {
        tacit_fitness_law law;
        tacit_status status = fit(f, k, &law, err);
        if (status)
            return status;
        find_set(out, f, k, &law);
        add_panels(out, f, k, &law);
        add_rows(out, f, k, &law);
    }
    figure_set(out, "owners", "3, with equal numbers of records and budgets");
    figure_set(out, "runs", "%u a point: seeds %lld to %lld", request->seeds,
               (long long)request->seed, (long long)request->seed + request->seeds - 1);
    figure_set(out, "slopes",
               "least squares of log(psi - psi at epsilon 1e6) where that excess is at least a "
               "fifth of psi at epsilon 1e6, and psi is below that of the zero model");
    figure_set(out, "law",
               "psi = c0 + c1 s + c2 s^2, s = sqrt(sum of 1/epsilon_i^2)/n, n of all owners; "
               "fitted as tacit forecast does, on runs with a cap whose mean is below that of the "
               "zero model");
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

const tacit_reproduction tacit_reproduction_002_fig6 = {
    .name = "002-fig6",
    .paper = "paper 002: Asynchronous Differentially-Private Learning on Distributed Private Data, "
             "figure 6",
    .title = "Relative fitness by budget and by records, three owners",
    .seeds = 10,
    .run = reproduce,
};
