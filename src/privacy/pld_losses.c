/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a pair to a law on the grid h Z.
 *
 * From above ("connect the dots", Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022): a mass at
 * loss l between the grid points a and b is split so that its P-mass and its Q-mass stay,
 *
 *     share of b = (1 - e^-(l-a)) / (1 - e^-(b-a)).
 *
 * In the ratio e^l this is a mean-preserving spread, so every hockey-stick divergence grows or
 * stays: the law dominates, and domination survives composition. The bias is O(h^2), not O(h).
 *
 * From below: outcomes are merged, which is post-processing. Panels are one outcome each; then,
 * by increasing loss, outcomes are collected until their common loss log(P/Q) is a grid point;
 * of the last one only the share that is needed is taken (to split an outcome into two with the
 * same ratio changes nothing). Also O(h^2).
 *
 * Tails beyond the spans: from above, their mass goes to the least grid point that is not below
 * their losses, or to infinity; from below it is dropped.
 */
#include "base/array.h"
#include "privacy/pld.h"

#include <math.h>
#include <stdlib.h>

/* Losses this near to a grid point are on it; pld_curve_* allows for it. */
#define ON_GRID 1e-12

static void put(pld_law *law, int64_t index, double mass)
{
    if (!(mass > 0) || law->out_of_memory)
        return;
    if (law->size > 0 && law->index[law->size - 1] == index) {
        law->mass[law->size - 1] += mass;
        return;
    }
    void *indices =
        tacit_array_grow(law->index, &law->index_room, law->size + 1, sizeof *law->index);
    if (indices)
        law->index = indices;
    void *masses = tacit_array_grow(law->mass, &law->room, law->size + 1, sizeof *law->mass);
    if (masses)
        law->mass = masses;
    if (!indices || !masses) {
        law->out_of_memory = true;
        return;
    }
    law->index[law->size] = index;
    law->mass[law->size++] = mass;
}

/* 1 - e^-x, x >= 0, a few digits faster than expm1 where x is small. */
static double fall(double x)
{
    if (x > 0.01)
        return -expm1(-x);
    return x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6)))));
}

/* ---- from above ---- */

typedef struct spreader {
    pld_law *law;
    const pld_grid *grid;
    double rise;    /* of a tilted mass that moves up by one step */
    double carried; /* for the cell's upper end: may be the next one's lower */
    int64_t upper;
} spreader;

static void spread(void *state, const pld_panel *panel)
{
    spreader *s = state;
    const double width = (double)panel->width * s->grid->step, whole = fall(width);
    double lower = 0, upper = 0, variance = 0;
    for (int k = 0; k < panel->nodes; k++) {
        const double x = panel->above[k], share = panel->mass[k] * (fall(x) / whole);
        upper += share;
        lower += panel->mass[k] - share;
        variance += panel->mass[k] * x * (width - x);
    }
    if (s->grid->exact)
        variance = 0;
    const double up = panel->width == 1 ? s->rise : exp(s->grid->tilt * width);
    s->law->spread += variance;
    if (s->upper != panel->cell + panel->width) { /* panels of one cell share it */
        put(s->law, s->upper, s->carried);
        s->upper = panel->cell + panel->width;
        s->carried = 0;
    }
    put(s->law, panel->cell, lower);
    s->carried += upper * up;
}

static void spread_point(spreader *s, pld_point point, double offset, bool up)
{
    if (!(point.mass > 0))
        return;
    if (isinf(point.loss)) {
        s->law->infinite += point.mass;
        return;
    }
    const double h = s->grid->step, at = point.loss / h, near = round(at);
    pld_panel panel = {.width = 1, .nodes = 1};
    if (up || fabs(at - near) <= ON_GRID * fabs(near))
        panel.cell = (int64_t)(up ? ceil(at) : near);
    else {
        panel.cell = (int64_t)floor(at);
        panel.above[0] = fmin(fmax(point.loss - (double)panel.cell * h, 0), h);
    }
    panel.mass[0] = point.mass * exp(s->grid->tilt * (double)panel.cell * h - offset);
    spread(s, &panel);
}

/* ---- from below ---- */

typedef struct merger {
    pld_law *law;
    const pld_grid *grid;
    bool open;
    int64_t target;
    double mass;   /* tilted as at the target */
    double excess; /* sum of mass times (e^(target - loss) - 1) */
} merger;

/* An outcome of tilted mass `mass` (as at `cell`) and loss `above` the cell's lower end. */
static void merge(merger *m, int64_t cell, double mass, double above)
{
    const double h = m->grid->step, tilt = m->grid->tilt;
    const double at = above / h, near = round(at), steps = ceil(at);
    if (fabs(at - near) <= ON_GRID * (1 + fabs((double)cell + near))) {
        put(m->law, cell + (int64_t)near, mass * exp(tilt * near * h));
        return;
    }
    while (mass > 0) {
        if (!m->open) {
            const double scaled = mass * exp(tilt * steps * h);
            m->target = cell + (int64_t)steps;
            m->mass = scaled;
            m->excess = scaled * expm1(steps * h - above);
            m->open = true;
            return;
        }
        const double up = (double)(m->target - cell) * h, rise = expm1(up - above);
        const double scaled = mass * exp(tilt * up);
        const double needed = rise < 0 ? m->excess / -rise : INFINITY;
        if (!(needed < scaled)) {
            m->mass += scaled;
            m->excess += scaled * rise;
            return;
        }
        put(m->law, m->target, m->mass + needed);
        m->open = false;
        mass *= 1 - needed / scaled;
    }
}

static void merge_panel(void *state, const pld_panel *panel)
{
    merger *m = state;
    double mass = 0, fallen = 0, variance = 0, mean = 0;
    for (int k = 0; k < panel->nodes; k++) {
        mass += panel->mass[k];
        mean += panel->mass[k] * panel->above[k];
        fallen += panel->mass[k] * fall(panel->above[k]);
    }
    if (!(mass > 0))
        return;
    for (int k = 0; k < panel->nodes; k++)
        variance +=
            panel->mass[k] * (panel->above[k] - mean / mass) * (panel->above[k] - mean / mass);
    m->law->spread += variance;
    merge(m, panel->cell, mass, -log1p(-fallen / mass));
}

static void merge_point(merger *m, pld_point point, double offset)
{
    const double h = m->grid->step, at = floor(point.loss / h);
    const double mass = point.mass * exp(m->grid->tilt * at * h - offset);
    merge(m, (int64_t)at, mass, fmax(point.loss - at * h, 0));
}

/* What never reached its target is merged with outcomes of lower loss that were placed before,
 * down to the grid point below; if there are too few, it is rounded down, Q-mass kept. */
static void merge_rest(merger *m)
{
    if (!m->open || !(m->mass > 0))
        return;
    const double h = m->grid->step, tilt = m->grid->tilt;
    const double close = ON_GRID * (1 + fabs((double)m->target));
    const double steps = ceil(fmax(log1p(m->excess / m->mass) / h - close, 0));
    const double lift = exp(-tilt * steps * h);
    const int64_t target = m->target - (int64_t)steps;
    const double q_mass = (m->mass + m->excess) * exp(-steps * h) * lift; /* times e^target */
    double mass = m->mass * lift, missing = mass - q_mass;
    for (size_t k = m->law->size; k-- > 0 && missing > 0;) {
        if (m->law->index[k] >= target)
            continue;
        const double up = (double)(target - m->law->index[k]) * h;
        const double scaled = m->law->mass[k] * exp(tilt * up), rise = expm1(up);
        const double share = scaled * rise > missing ? missing / (scaled * rise) : 1;
        mass += share * scaled;
        missing = share < 1 ? 0 : missing - scaled * rise;
        m->law->mass[k] *= 1 - share;
    }
    put(m->law, target, mass - fmax(missing, 0));
}

/* ---- both ---- */

static void normalise(pld_law *law, double offset)
{
    double sum = 0;
    for (size_t k = 0; k < law->size; k++)
        sum += law->mass[k];
    law->log_mgf = sum > 0 ? offset + log(sum) : -INFINITY;
    for (size_t k = 0; k < law->size; k++)
        law->mass[k] /= sum;
    law->spread /= sum;
}

static void build_from_above(pld_law *law, const pld_pair *pair, const pld_shape *shape,
                             const pld_grid *grid, double offset)
{
    spreader s = {.law = law, .grid = grid, .rise = exp(grid->tilt * grid->step)};
    for (int k = 0; k < pair->points; k++)
        spread_point(&s, pair->point[k], offset, false);
    spread_point(&s, shape->bottom, offset, !shape->exact);
    pld_walk(pair, shape, grid, offset, spread, &s);
    spread_point(&s, shape->top, offset, !shape->exact);
    put(law, s.upper, s.carried);
}

static void build_from_below(pld_law *law, const pld_pair *pair, const pld_shape *shape,
                             const pld_grid *grid, double offset)
{
    merger m = {.law = law, .grid = grid};
    for (int k = 0; k < pair->points; k++)
        merge_point(&m, pair->point[k], offset);
    if (shape->exact)
        merge_point(&m, shape->bottom, offset);
    pld_walk(pair, shape, grid, offset, merge_panel, &m);
    if (shape->exact)
        merge_point(&m, shape->top, offset);
    merge_rest(&m);
}

void pld_law_build(pld_law *law, const pld_pair *pair, const pld_shape *shape, const pld_grid *grid,
                   double offset, bool optimistic)
{
    *law = (pld_law){0};
    if (optimistic)
        build_from_below(law, pair, shape, grid, offset);
    else
        build_from_above(law, pair, shape, grid, offset);
    if (!law->out_of_memory)
        normalise(law, offset);
}

void pld_law_clear(pld_law *law)
{
    free(law->index);
    free(law->mass);
    *law = (pld_law){0};
}
