/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quadrature along a pair's line. A span is cut where the loss crosses a grid point, and again
 * where a panel would be too wide for its rule, so that whatever is integrated later (a smooth
 * function of the loss between two grid points) is integrated to about 16 digits.
 *
 * Rules: Gauss-Legendre with 3, 4 or 6 nodes, by how much the logarithm of the integrand changes
 * over the panel. On the integers: a sum over n of them by the three-point rule
 * with nodes c, c -+ d, d^2 = (3 n^2 - 7)/20, weights n - 2w, w, w = n (n^2 - 1) / (24 d^2),
 * which is exact for polynomials of degree five: it has the sums of 1, k^2 and k^4 right. So
 * noise of 2^30 steps costs no more than continuous noise. Up to three integers are taken as
 * they are.
 *
 * Where hardly any mass lies, cells of many grid steps do: what spreading a mass m over a cell
 * of width H adds to the variance is at most m H^2 / 4, so H may grow as m shrinks. But delta
 * changes by a factor e^-slope per unit of loss, and within a cell it is interpolated: so cells
 * are kept narrow on that scale too, or a single release would be read off inaccurately.
 */
#include "privacy/pld.h"

#include <math.h>

/* Changes of the logarithm (slope times width) up to which a rule is good to 1e-16. */
#define THREE 0.012
#define FOUR 0.07
#define SIX 0.25
#define ROUGH 1.0 /* a few digits, three nodes */
#define LOG_NOWHERE 25.0
#define SHARE 16.0 /* see light() */

static const double node3[3] = {-0.77459666924148337704, 0, 0.77459666924148337704};
static const double weight3[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
static const double node4[4] = {-0.86113631159405257522, -0.33998104358485626480,
                                0.33998104358485626480, 0.86113631159405257522};
static const double weight4[4] = {0.34785484513745385737, 0.65214515486254614263,
                                  0.65214515486254614263, 0.34785484513745385737};
static const double node6[6] = {-0.93246951420315202781, -0.66120938646626451366,
                                -0.23861918608319690863, 0.23861918608319690863,
                                0.66120938646626451366,  0.93246951420315202781};
static const double weight6[6] = {0.17132449237917034504, 0.36076157304813860757,
                                  0.46791393457269104739, 0.46791393457269104739,
                                  0.36076157304813860757, 0.17132449237917034504};

static int integers(double z, double n, double *at, double *weight)
{
    if (n <= 3) {
        for (int k = 0; k < (int)n; k++) {
            at[k] = z + k;
            weight[k] = 1;
        }
        return (int)n;
    }
    const double centre = z + (n - 1) / 2, square = (3 * n * n - 7) / 20, d = sqrt(square);
    const double w = n * ((n * n - 1) / square / 24);
    for (int k = 0; k < 3; k++) {
        at[k] = centre + (k - 1) * d;
        weight[k] = k == 1 ? n - 2 * w : w;
    }
    return 3;
}

int pld_nodes(const pld_pair *pair, double z, double width, bool coarse, double *at, double *weight)
{
    if (pair->lattice)
        return integers(z, width, at, weight);
    const double change = width * fmax(pld_slope(pair, z), pld_slope(pair, z + width));
    const int n = coarse || change <= THREE ? 3 : change <= FOUR ? 4 : 6;
    const double *node = n == 3 ? node3 : n == 4 ? node4 : node6;
    const double *share = n == 3 ? weight3 : n == 4 ? weight4 : weight6;
    const double half = width / 2, centre = z + half;
    for (int k = 0; k < n; k++) {
        at[k] = centre + half * node[k];
        weight[k] = half * share[k];
    }
    return n;
}

double pld_reach(const pld_pair *pair, double z, bool coarse)
{
    const double change = coarse ? ROUGH : pair->lattice ? THREE : SIX;
    const double width = change / pld_slope(pair, z);
    return pair->lattice ? fmax(floor(width), coarse ? 1 : 3) : width;
}

typedef struct walker {
    const pld_pair *pair;
    const pld_grid *grid;
    double offset, range;
    pld_sink *sink;
    void *state;
    pld_panel panel;
} walker;

static double log_tilted(const walker *w, double z)
{
    double log_mass, loss;
    pld_at(w->pair, z, &log_mass, &loss);
    return log_mass + w->grid->tilt * loss - w->offset;
}

static double cell_end(const walker *w)
{
    return pld_place(w->pair, (double)(w->panel.cell + w->panel.width) * w->grid->step);
}

/* Whether the cell from z to `end` holds so little that its width adds next to nothing: and if
 * it is wide on delta's scale, so little that it does not matter where. */
static bool light(const walker *w, double z, double end)
{
    const bool narrow = (double)w->panel.width * w->grid->step <= w->grid->widest;
    if (!narrow && (double)w->panel.width * w->grid->step > 1)
        return false;
    const double middle = z + (end - z) / 2, width = (double)w->panel.width;
    const double most = fmax(fmax(log_tilted(w, z), log_tilted(w, end)), log_tilted(w, middle));
    const double lift = w->grid->tilt * width * w->grid->step;
    const double limit = -log(SHARE * w->range) - (narrow ? 0 : LOG_NOWHERE);
    return most + lift + 2 * log(width) < limit;
}

/* The cell that starts at or below the loss at z; as wide as may be, up to twice the last one.
 * Returns where it ends. */
static double enter_cell(walker *w, pld_span span, double z, bool anew)
{
    const double h = w->grid->step;
    if (anew) {
        double unused, loss;
        pld_at(w->pair, z, &unused, &loss);
        w->panel.cell = (int64_t)floor(loss / h);
    } else {
        w->panel.cell += w->panel.width;
    }
    w->panel.width = w->grid->exact ? 1 : 2 * w->panel.width;
    while (w->panel.width > 1) {
        const double end = cell_end(w);
        if (light(w, z, fmin(end, span.to)))
            return end;
        w->panel.width /= 2;
    }
    w->panel.width = 1;
    return cell_end(w);
}

static void give_panel(walker *w, double z, double width)
{
    double at[PLD_MOST_NODES], weight[PLD_MOST_NODES];
    pld_panel *panel = &w->panel;
    const double lower = (double)panel->cell * w->grid->step;
    const double most = (double)panel->width * w->grid->step;
    const double scale = w->grid->tilt * lower - w->offset;
    panel->nodes = pld_nodes(w->pair, z, width, false, at, weight);
    for (int k = 0; k < panel->nodes; k++) {
        double log_mass, loss;
        pld_at(w->pair, at[k], &log_mass, &loss);
        panel->mass[k] = weight[k] * exp(log_mass + scale);
        panel->above[k] = fmin(fmax(loss - lower, 0), most);
    }
    w->sink(w->state, panel);
}

static void walk_line(walker *w, pld_span span)
{
    bool anew = true;
    for (double z = span.from; z < span.to; anew = false) {
        const double stop = fmin(enter_cell(w, span, z, anew), span.to);
        while (z < stop) {
            double next = z + pld_reach(w->pair, z, false);
            if (!(next < stop))
                next = stop;
            give_panel(w, z, next - z);
            z = next;
        }
    }
}

static void walk_integers(walker *w, pld_span span)
{
    for (double z = span.from; z <= span.to;) {
        const double end = ceil(enter_cell(w, span, z, true));
        const double stop = fmin(fmax(end, z + 1), span.to + 1);
        while (z < stop) {
            const double count = fmin(pld_reach(w->pair, z, false), stop - z);
            give_panel(w, z, count);
            z += count;
        }
    }
}

void pld_walk(const pld_pair *pair, const pld_shape *shape, const pld_grid *grid, double offset,
              pld_sink *sink, void *state)
{
    walker w = {.pair = pair,
                .grid = grid,
                .offset = offset,
                .sink = sink,
                .state = state,
                .panel.width = 1};
    for (int k = 0; k < shape->spans; k++)
        w.range += fmax(shape->span[k].to - shape->span[k].from, 1);
    for (int k = 0; k < shape->spans; k++) {
        if (pair->lattice)
            walk_integers(&w, shape->span[k]);
        else
            walk_line(&w, shape->span[k]);
    }
}
