/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planning: where epsilon will be, how to tilt, how fine and how wide the grid must be. All of
 * it is done on sketches, a few hundred quadrature nodes for each pair, good to a few digits.
 * Nothing here decides whether an answer is valid; a bad plan gives a loose answer.
 *
 * With K(s) = log E e^(sL) of the sum of all losses and the tilted law e^(sL - K(s)) dP,
 *
 *     delta(eps) = e^(K(s) - s eps) E_s[(1 - e^-(L - eps))+ e^-s(L - eps)].
 *
 * At the saddle point eps = K'(s), L is about normal under the tilted law with variance K''(s),
 * and the expectation is (M(s d) - M((1 + s) d)) / sqrt(2 pi), d^2 = K'', M being Mills' ratio:
 * exact for Gaussians. The tilt is where this delta is the wanted one.
 *
 * Spreading a loss over a cell of width h adds h^2/6 to its variance on average and, as Q-masses
 * stay, half of that to its mean; under the tilt (1 + s)/2 times the variance is what epsilon
 * grows by. Where a loss is much smaller than h, the variance is only h E|L|.
 */
#include "math/fft.h"
#include "math/special.h"
#include "privacy/pld.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define ROOT_TWO_PI 2.506628274631000502415765284811
#define LOG_OUTSIDE -13.0 /* log of what the window may cut off, relative to delta */
#define MOST_TILT 1e6
#define WIDEST 0.02 /* delta is off by its square / 8 */
#define GOOD_LENGTH ((double)(1 << 18))
#define EXACT_LENGTH ((double)(1 << 20))
#define MOST_LENGTH ((double)(1 << 22))

/* ---- sketches ---- */

static void add_node(pld_sketch *sketch, double log_mass, double loss)
{
    if (!(log_mass > -INFINITY))
        return;
    sketch->log_mass[sketch->size] = log_mass;
    sketch->loss[sketch->size++] = loss;
}

static size_t count_panels(const pld_pair *pair, const pld_shape *shape)
{
    size_t panels = 0;
    for (int k = 0; k < shape->spans; k++)
        for (double z = shape->span[k].from; z <= shape->span[k].to; panels++)
            z += pld_reach(pair, z, true);
    return panels;
}

static void sketch_span(pld_sketch *sketch, const pld_pair *pair, pld_span span)
{
    const double past = pair->lattice ? 1 : 0;
    double at[PLD_MOST_NODES], weight[PLD_MOST_NODES];
    for (double z = span.from; z < span.to + past;) {
        const double width = fmin(pld_reach(pair, z, true), span.to + past - z);
        const int nodes = pld_nodes(pair, z, width, true, at, weight);
        for (int k = 0; k < nodes; k++) {
            double log_mass, loss;
            pld_at(pair, at[k], &log_mass, &loss);
            add_node(sketch, log_mass + log(weight[k]), loss);
        }
        z += width;
    }
}

/* log E e^(tilt L) of one release; mean and variance of the tilted loss. */
static double raw_moments(const pld_sketch *sketch, double tilt, double *mean, double *variance)
{
    double most = -INFINITY, sum = 0, first = 0, second = 0;
    for (size_t k = 0; k < sketch->size; k++)
        most = fmax(most, sketch->log_mass[k] + tilt * sketch->loss[k]);
    const double centre = *mean; /* somewhere near: keeps the variance from cancelling */
    for (size_t k = 0; k < sketch->size; k++) {
        const double p = exp(sketch->log_mass[k] + tilt * sketch->loss[k] - most);
        const double x = sketch->loss[k] - centre;
        sum += p;
        first += p * x;
        second += p * x * x;
    }
    first /= sum;
    *mean = centre + first;
    *variance = fmax(second / sum - first * first, 0);
    return sum > 0 ? most + log(sum) : -INFINITY;
}

tacit_status pld_sketch_build(pld_sketch *sketch, const pld_pair *pair, const pld_shape *shape,
                              bool optimistic, tacit_error *err)
{
    const size_t room = 3 * count_panels(pair, shape) + PLD_MOST_POINTS + 2;
    *sketch = (pld_sketch){.times = pair->times};
    sketch->loss = malloc(room * sizeof(double));
    sketch->log_mass = malloc(room * sizeof(double));
    if (!sketch->loss || !sketch->log_mass)
        return tacit_out_of_memory(err);
    for (int k = 0; k < pair->points; k++)
        add_node(sketch, log(pair->point[k].mass), pair->point[k].loss);
    for (int k = 1; k < pair->points && optimistic; k++)
        sketch->apart += pair->point[k - 1].mass * (pair->point[k].loss - pair->point[k - 1].loss);
    if (shape->spans > 0)
        add_node(sketch, log(shape->bottom.mass), shape->bottom.loss);
    for (int k = 0; k < shape->spans; k++)
        sketch_span(sketch, pair, shape->span[k]);
    if (shape->spans > 0 && isfinite(shape->top.loss))
        add_node(sketch, log(shape->top.mass), shape->top.loss);
    double mean = 0, variance;
    sketch->at_zero = raw_moments(sketch, 0, &mean, &variance);
    sketch->at_minus_one = raw_moments(sketch, -1, &mean, &variance);
    if (fabs(sketch->at_zero) + fabs(sketch->at_minus_one) > 0.01) /* tails are cut too short */
        sketch->at_zero = sketch->at_minus_one = 0;
    return TACIT_OK;
}

void pld_sketch_clear(pld_sketch *sketch)
{
    free(sketch->loss);
    free(sketch->log_mass);
    *sketch = (pld_sketch){0};
}

/* The same, put right by what is known: E e^0 = 1 (P has mass 1) and E e^-L = 1 (Q has). A billion
 * releases make something of an error in the ninth digit. */
static double moments(const pld_sketch *sketch, double tilt, double *mean, double *variance)
{
    const double log_mgf = raw_moments(sketch, tilt, mean, variance);
    *mean -= sketch->at_zero - sketch->at_minus_one;
    return log_mgf - sketch->at_zero * (1 + tilt) + sketch->at_minus_one * tilt;
}

static pld_tilt tilt_at(const pld_sketch *sketch, size_t count, double tilt)
{
    pld_tilt t = {.tilt = tilt};
    double variances = 0;
    for (size_t k = 0; k < count; k++) {
        double mean = 0, variance;
        t.log_mgf += sketch[k].times * moments(&sketch[k], tilt, &mean, &variance);
        if (variance < 1e-6 * mean * mean)
            moments(&sketch[k], tilt, &mean, &variance);
        t.mean += sketch[k].times * mean;
        variances += sketch[k].times * variance;
    }
    t.deviation = sqrt(variances);
    return t;
}

/* log of the expectation above: what is left of delta at the mean when the exponential is
 * taken off. */
static double log_bracket(const pld_tilt *t)
{
    const double near = tacit_mills(t->tilt * t->deviation);
    const double far = tacit_mills((1 + t->tilt) * t->deviation);
    return log((near - far) / ROOT_TWO_PI);
}

double pld_tilt_log_delta(const pld_tilt *t)
{
    return t->log_mgf - t->tilt * t->mean + log_bracket(t);
}

static double greatest_loss(const pld_sketch *sketch, size_t count)
{
    double most = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t j = 0; j < sketch[k].size; j++)
            most = fmax(most, fabs(sketch[k].loss[j]));
    return most;
}

/* The tilt at which `measure` comes down to `wanted`; it decreases. */
static pld_tilt search(const pld_sketch *sketch, size_t count, double wanted,
                       double measure(const pld_tilt *))
{
    const double cap = MOST_TILT / greatest_loss(sketch, count);
    double low = 0, high = fmin(1, cap);
    pld_tilt best = tilt_at(sketch, count, 0);
    if (measure(&best) <= wanted)
        return best;
    for (;;) {
        best = tilt_at(sketch, count, high);
        if (measure(&best) <= wanted || high >= cap)
            break;
        low = high;
        high = fmin(4 * high, cap);
    }
    while (high - low > 1e-3 * high && high > 1e-9 * cap) {
        const double middle = low > 0 ? sqrt(low * high) : high / 8;
        pld_tilt t = tilt_at(sketch, count, middle);
        if (measure(&t) <= wanted) {
            high = middle;
            best = t;
        } else {
            low = middle;
        }
    }
    return best;
}

static double minus_mean(const pld_tilt *tilt)
{
    return -tilt->mean;
}

pld_tilt pld_tilt_for_delta(const pld_sketch *sketch, size_t count, double log_delta)
{
    return search(sketch, count, log_delta, pld_tilt_log_delta);
}

pld_tilt pld_tilt_for_epsilon(const pld_sketch *sketch, size_t count, double epsilon)
{
    return search(sketch, count, -epsilon, minus_mean);
}

/* ---- the window ---- */

/* log E_tilt e^(s L) of the sum. */
static double log_rise(const pld_sketch *sketch, size_t count, double tilt, double s)
{
    double total = 0;
    for (size_t k = 0; k < count; k++) {
        double mean = 0, variance;
        const double base = moments(&sketch[k], tilt, &mean, &variance);
        total += sketch[k].times * (moments(&sketch[k], tilt + s, &mean, &variance) - base);
    }
    return total;
}

/* One end of the window: where Chernoff, at `order`, leaves little enough beyond, and where the
 * losses end. */
typedef struct edge {
    double chernoff, order, support;
} edge;

static edge find_edge(const pld_sketch *sketch, size_t count, const pld_tilt *t, double sign)
{
    const double little = LOG_OUTSIDE + fmin(fmax(log_bracket(t), -15), 0);
    double bound = 0, best = INFINITY;
    for (size_t k = 0; k < count; k++) {
        double most = -INFINITY;
        for (size_t j = 0; j < sketch[k].size; j++)
            most = fmax(most, sign * sketch[k].loss[j]);
        bound += sketch[k].times * most;
    }
    const double range = fmax(bound - sign * t->mean, 1e-9 * fabs(bound));
    edge e = {.order = 100 / fmax(fmin(t->deviation, range), 1e-6 * range)};
    for (double s = 1 / range, most = e.order; s < most; s *= 1.4) {
        const double reach = (log_rise(sketch, count, t->tilt, sign * s) - little) / s;
        if (reach < best) {
            best = reach;
            e.order = s;
        } else if (reach > 2 * fabs(best) + best) {
            break;
        }
    }
    e.chernoff = sign * best;
    e.support = sign * bound;
    return e;
}

/* ---- the grid ---- */

double pld_predicted_error(const pld_sketch *sketch, size_t count, double tilt, double slope,
                           double step)
{
    double variance = 0, releases = 0;
    for (size_t k = 0; k < count; k++) {
        double mean = 0, own;
        moments(&sketch[k], tilt, &mean, &own);
        const double size = sqrt(own + mean * mean);
        variance += sketch[k].times * fmin(step * step / 6, step * size);
        variance += sketch[k].times * sketch[k].apart * step / 2;
        releases += sketch[k].times;
    }
    return fmin((1 + slope) / 2 * variance, releases * step);
}

/* A step that divides all losses, or 0. */
static double common_step(const pld_pair *pair, size_t count)
{
    double least = INFINITY;
    for (size_t k = 0; k < count; k++)
        least = fmin(least, pair[k].step);
    for (size_t k = 0; k < count && least > 0; k++) {
        const double ratio = pair[k].step / least;
        if (fabs(ratio - round(ratio)) > 1e-13 * ratio)
            return 0;
    }
    return least;
}

static size_t length_for(double points)
{
    size_t length = 64;
    while ((double)length < points)
        length *= 2;
    return length;
}

/* Steps are this times a power of 2^(1/4): answers at the same step are as monotone as the truth,
 * because the curve is only compared at grid points; so steps should not change all the time. */
static double unit_of(const pld_pair *pair, size_t count)
{
    const pld_pair *most = NULL;
    for (size_t k = 0; k < count; k++)
        if (pair[k].anchor > 0 && (!most || pair[k].times > most->times))
            most = &pair[k];
    return most ? most->anchor : 1;
}

double pld_lenience(double length)
{
    if (length <= GOOD_LENGTH)
        return 1;
    return length <= 4 * GOOD_LENGTH ? 10 : length <= 8 * GOOD_LENGTH ? 30 : 100;
}

/* The largest step that is fine enough, as long as the window holds it. */
static double choose_step(const pld_sketch *sketch, size_t count, double tilt, const pld_wish *wish,
                          double width, double unit)
{
    const double finer = exp2(-0.25), room = 1.05 * width;
    double h = unit * exp2(floor(log2(width / unit / 16)));
    while (pld_predicted_error(sketch, count, tilt, wish->slope, h) > wish->error &&
           width / h < 2 * MOST_LENGTH)
        h *= finer;
    while (room / h > GOOD_LENGTH && pld_predicted_error(sketch, count, tilt, wish->slope, 2 * h) <=
                                         pld_lenience(room / h) * wish->error)
        h *= 2;
    while (room / h + 16 > MOST_LENGTH)
        h *= 2;
    const double length = (double)length_for(room / h + 16);
    while (room / (h * finer) + 16 <= length) /* costs nothing */
        h *= finer;
    return unit == 1 || h > unit ? h : unit / ceil(unit / h);
}

/* A grid that has all losses on it, if there is one: fine enough for the tilt to change little
 * from one point to the next. */
static bool exact_grid(pld_grid *grid, const pld_pair *pair, size_t count, double width)
{
    const double step = common_step(pair, count);
    if (!(step > 0) || width / step + 16 > EXACT_LENGTH)
        return false;
    const double most = fmax(EXACT_LENGTH / 16 * step / fmax(width, step), 1);
    grid->step = step / ceil(fmin(fmax(grid->tilt * step, 1), most));
    return true;
}

bool pld_plan_make(pld_plan *plan, const pld_tilt *t, const pld_wish *wish, const pld_pair *pair,
                   const pld_sketch *sketch, size_t count)
{
    const edge low = find_edge(sketch, count, t, -1), high = find_edge(sketch, count, t, 1);
    double from = fmax(low.chernoff, low.support), to = fmin(high.chernoff, high.support);
    const double width = fmax(to - from, 1e-6 * fmax(fabs(to), fabs(from)));
    if (!isfinite(width) || !(width > 0) || fabs(t->mean) > 1e12)
        return false;
    plan->up = high.order;
    plan->down = low.order;
    plan->grid.tilt = t->tilt;
    plan->grid.widest = WIDEST / (1 + fmax(t->tilt, wish->slope));
    plan->grid.exact = exact_grid(&plan->grid, pair, count, width);
    if (!plan->grid.exact)
        plan->grid.step = choose_step(sketch, count, t->tilt, wish, width, unit_of(pair, count));
    const double h = plan->grid.step;
    double moved = 0; /* rounding to the grid may move the end of the losses by a step each */
    for (size_t k = 0; k < count; k++)
        moved += sketch[k].times * h;
    from = fmax(low.chernoff, low.support - moved);
    to = fmin(high.chernoff, high.support + moved);
    plan->length = length_for(1.02 * (to - from) / h + 12);
    plan->first = (int64_t)floor((from + to) / 2 / h) - (int64_t)(plan->length / 2);
    return fabs(to / h) < 1e15 && fabs(from / h) < 1e15 && plan->length <= TACIT_FFT_MOST;
}
