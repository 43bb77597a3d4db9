/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The law of a sum: Fourier transforms of the tilted laws, to the power of their counts,
 * multiplied, transformed back. The transform is circular, so that mass outside the window comes
 * back in at the other end. Chernoff's bound at the orders of the plan, taken on the laws
 * themselves, says how much that can be:
 *
 *     P(sum >= edge) <= e^(-s edge) prod E[e^(s L)]^count.
 *
 * What comes back in only adds to delta: harmless from above; from below it is subtracted.
 *
 * Rounding. A bin of the transform is off by at most c log2(n) u, as the tilted masses add up to
 * 1; to the power of n it is off by n times that, relative to the power n - 1. By Parseval the
 * l2 norm of the error of the masses is at most (sum of counts) c log2(n) u times the norm of
 * the masses (twice, for n - 1 against n). Bins whose power is below e^-75 are set to 0.
 */
#include "math/fft.h"
#include "privacy/pld.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOG_NOTHING -75.0
#define ROUNDINGS 6.0 /* of each level of the transform; fft_test.c finds fewer */

typedef struct composer {
    tacit_fft *plan;
    size_t length;
    double *mass, *re, *im, *total_re, *total_im;
    bool started;
} composer;

static void composer_clear(composer *c)
{
    tacit_fft_free(c->plan);
    free(c->mass);
    free(c->re);
    free(c->im);
    free(c->total_re);
    free(c->total_im);
    *c = (composer){0};
}

static tacit_status composer_open(composer *c, size_t length, bool many, tacit_error *err)
{
    const size_t bins = length / 2 + 1;
    *c = (composer){.length = length};
    tacit_status status = tacit_fft_create(&c->plan, length, err);
    if (status)
        return status;
    c->mass = malloc(length * sizeof(double));
    c->total_re = malloc(bins * sizeof(double));
    c->total_im = malloc(bins * sizeof(double));
    if (!c->mass || !c->total_re || !c->total_im)
        return tacit_out_of_memory(err);
    if (!many)
        return TACIT_OK;
    c->re = malloc(bins * sizeof(double));
    c->im = malloc(bins * sizeof(double));
    return c->re && c->im ? TACIT_OK : tacit_out_of_memory(err);
}

/* Each bin to the power of `count`. */
static void raise_power(double *re, double *im, size_t bins, uint64_t count)
{
    const double nothing = exp(2 * LOG_NOTHING / (double)count);
    for (size_t k = 0; k < bins; k++) {
        double ar = re[k], ai = im[k], pr = 1, pi = 0;
        if (ar * ar + ai * ai < nothing) {
            re[k] = im[k] = 0;
            continue;
        }
        for (uint64_t n = count;; n >>= 1) {
            if (n & 1) {
                const double r = pr * ar - pi * ai;
                pi = pr * ai + pi * ar;
                pr = r;
            }
            if (n <= 1)
                break;
            const double r = (ar - ai) * (ar + ai);
            ai = 2 * ar * ai;
            ar = r;
        }
        re[k] = pr;
        im[k] = pi;
    }
}

static void multiply(composer *c)
{
    for (size_t k = 0; k <= c->length / 2; k++) {
        const double r = c->total_re[k] * c->re[k] - c->total_im[k] * c->im[k];
        c->total_im[k] = c->total_re[k] * c->im[k] + c->total_im[k] * c->re[k];
        c->total_re[k] = r;
    }
}

static void multiply_law(composer *c, const pld_law *law, uint64_t count)
{
    const int64_t n = (int64_t)c->length;
    const bool first = !c->started;
    double *re = first ? c->total_re : c->re, *im = first ? c->total_im : c->im;
    memset(c->mass, 0, c->length * sizeof(double));
    for (size_t k = 0; k < law->size; k++) {
        const int64_t place = law->index[k] % n;
        c->mass[place < 0 ? place + n : place] += law->mass[k];
    }
    tacit_fft_forward(c->plan, c->mass, re, im);
    raise_power(re, im, c->length / 2 + 1, count);
    if (!first)
        multiply(c);
    c->started = true;
}

/* What bounds the sum: Chernoff's exponents, and the ends of its support, in steps. */
typedef struct outside {
    double rise_up, rise_down, most, least;
} outside;

/* log of E e^(s L) under the tilted law. */
static double log_rise(const pld_law *law, double step, double s)
{
    double most = -INFINITY, small = 0, sum = 0;
    for (size_t k = 0; k < law->size; k++) {
        const double x = s * step * (double)law->index[k];
        most = fmax(most, x);
        small += law->mass[k] * expm1(fmin(x, 100));
    }
    if (most < 100 && small > -0.5)
        return log1p(small); /* keeps the digits of a result near 0 */
    for (size_t k = 0; k < law->size; k++)
        sum += law->mass[k] * exp(s * step * (double)law->index[k] - most);
    return sum > 0 ? most + log(sum) : -INFINITY;
}

static void add_outside(outside *o, const pld_law *law, double times, const pld_plan *plan)
{
    int64_t most = INT64_MIN, least = INT64_MAX;
    for (size_t k = 0; k < law->size; k++) {
        most = law->index[k] > most ? law->index[k] : most;
        least = law->index[k] < least ? law->index[k] : least;
    }
    o->most += times * (double)most;
    o->least += times * (double)least;
    o->rise_up += times * log_rise(law, plan->grid.step, plan->up);
    o->rise_down += times * log_rise(law, plan->grid.step, -plan->down);
}

static void bound_outside(pld_curve *curve, const outside *o, const pld_plan *plan)
{
    const double h = plan->grid.step, first = (double)plan->first;
    const double end = first + (double)plan->length; /* the first point above the window */
    const double above = o->rise_up - plan->up * end * h;
    const double below = o->rise_down + plan->down * (first - 1) * h;
    curve->above = o->most < end ? 0 : above < 0 ? exp(above) : 1;
    curve->below = o->least >= first ? 0 : below < 0 ? exp(below) : 1;
}

/* Back from the spectrum; the curve takes the masses over. */
static void unfold(pld_curve *curve, composer *c)
{
    const int64_t n = (int64_t)c->length, place = curve->first % n;
    curve->start = (size_t)(place < 0 ? place + n : place);
    tacit_fft_inverse(c->plan, c->total_re, c->total_im, c->mass);
    curve->mass = c->mass;
    c->mass = NULL;
}

static void bound_rounding(pld_curve *curve, double releases)
{
    const double unit = DBL_EPSILON / 2, levels = log2((double)curve->length) + 2;
    double square = 0;
    for (size_t k = 0; k < curve->length; k++)
        square += curve->mass[k] * curve->mass[k];
    curve->noise = 2 * sqrt(square) * (releases + 2) * ROUNDINGS * levels * unit +
                   sqrt((double)curve->length) * exp(LOG_NOTHING);
    curve->slack = 64 * unit * (releases + 2);
}

/* One pair's law into the product and into the curve's sums. */
static tacit_status add_pair(pld_curve *curve, composer *c, const pld_pair *pair,
                             const pld_shape *shape, double offset, const pld_plan *plan,
                             outside *o, bool optimistic, tacit_error *err)
{
    pld_law law;
    pld_law_build(&law, pair, shape, &plan->grid, offset, optimistic);
    tacit_status status = law.out_of_memory ? tacit_out_of_memory(err) : TACIT_OK;
    if (!status) {
        multiply_law(c, &law, pair->count);
        curve->log_mgf += pair->times * law.log_mgf;
        curve->infinite += pair->times * law.infinite;
        curve->error += pair->times * law.spread * (1 + plan->grid.tilt) / 2;
        add_outside(o, &law, pair->times, plan);
    }
    pld_law_clear(&law);
    return status;
}

/* Where the masses of a pair are of order 1: its own log_mgf, roughly. */
static double offset_of(const pld_sketch *sketch, double tilt)
{
    double most = -INFINITY;
    for (size_t k = 0; k < sketch->size; k++)
        most = fmax(most, sketch->log_mass[k] + tilt * sketch->loss[k]);
    double sum = 0;
    for (size_t k = 0; k < sketch->size; k++)
        sum += exp(sketch->log_mass[k] + tilt * sketch->loss[k] - most);
    return sum > 0 ? most + log(sum) : -INFINITY;
}

tacit_status pld_curve_build(pld_curve *curve, const pld_pair *pair, const pld_shape *shape,
                             const pld_sketch *sketch, size_t count, const pld_plan *plan,
                             bool optimistic, tacit_error *err)
{
    composer c;
    outside o = {0};
    double releases = 0;
    *curve = (pld_curve){.grid = plan->grid, .first = plan->first, .length = plan->length};
    tacit_status status = composer_open(&c, plan->length, count > 1, err);
    for (size_t k = 0; k < count && !status; k++) {
        const double offset = offset_of(&sketch[k], plan->grid.tilt);
        status = add_pair(curve, &c, &pair[k], &shape[k], offset, plan, &o, optimistic, err);
        releases += pair[k].times;
    }
    if (!status) {
        unfold(curve, &c);
        bound_outside(curve, &o, plan);
        bound_rounding(curve, releases);
    }
    composer_clear(&c);
    return status;
}

void pld_curve_clear(pld_curve *curve)
{
    free(curve->mass);
    curve->mass = NULL;
}
