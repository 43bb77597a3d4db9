/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pair along the line of its outputs y. With t(y) = log N_shift(y) / N_0(y) and
 * mix(t) = log(1 - q + q e^t):
 *
 *   removed   loss = mix(t(y)),            P = N_0 e^mix(t)
 *   added     loss = -mix(t(y)),           P = N_0,  z = -y so that the loss increases with z
 *   replaced  loss = mix(t(y)) - mix(t(-y)), P = N_0 e^mix(t), shift being half the distance
 *
 * Gaussian: t is linear and everything smooth; one span, tails bounded. Laplace: t is constant
 * outside (0, shift), which gives two atoms, and linear inside. On the integers the ends of the
 * spans are the integers next to the atoms.
 */
#include "privacy/pld.h"

#include <math.h>

#define ROOT_HALF 0.707106781186547524400844362105

double pld_mix(double q, double t)
{
    if (q == 1)
        return t;
    if (t > 700)
        return t + log(q) + log1p((1 - q) / q * exp(-t));
    return log1p(q * expm1(t));
}

/* The t with mix(t) = l; minus infinity below log(1 - q). */
static double unmix(double q, double l)
{
    if (q == 1)
        return l;
    if (l > 700)
        return l - log(q) + log1p(-(1 - q) * exp(-l));
    const double x = expm1(l) / q;
    return x <= -1 ? -INFINITY : log1p(x);
}

static double ratio_at(const pld_pair *pair, double y)
{
    const double s = pair->shift, b = pair->noise;
    if (pair->family == PLD_GAUSSIAN)
        return s / b * ((y - s / 2) / b);
    if (y <= 0)
        return -s / b;
    return y >= s ? s / b : (2 * y - s) / b;
}

/* The inverse where t is not constant. */
static double place_of_ratio(const pld_pair *pair, double t)
{
    const double s = pair->shift, b = pair->noise;
    if (pair->family == PLD_GAUSSIAN)
        return t * b / s * b + s / 2;
    return (t * b + s) / 2;
}

static double log_density(const pld_pair *pair, double y)
{
    const double x = y / pair->noise;
    return (pair->family == PLD_GAUSSIAN ? -x * x / 2 : -fabs(x)) - pair->log_norm;
}

void pld_at(const pld_pair *pair, double z, double *log_mass, double *loss)
{
    const double q = pair->rate;
    if (pair->way == PLD_ADD) {
        *loss = -pld_mix(q, ratio_at(pair, -z));
        *log_mass = log_density(pair, -z);
        return;
    }
    const double with = pld_mix(q, ratio_at(pair, z));
    *loss = pair->way == PLD_REMOVE ? with : with - pld_mix(q, ratio_at(pair, -z));
    *log_mass = log_density(pair, z) + with;
}

/* Replaced, Gaussian, l > 0: with w = e^(y s / b^2) and c = s^2 / (2 b^2),
 * 1 - q + q e^-c w = e^l (1 - q + q e^-c / w) is quadratic in w; w e^(-l/2) = x + sqrt(x^2 + 1). */
static double place_replaced_gaussian(const pld_pair *pair, double l)
{
    const double q = pair->rate, s = pair->shift, b = pair->noise;
    const double c = s / b * (s / b) / 2;
    const double log_rise = l > 30 ? l : log(expm1(l));
    const double log_x = log((1 - q) / (2 * q)) + log_rise + c - l / 2;
    const double u = l / 2 + (log_x > 300 ? log_x + log(2) : asinh(exp(log_x)));
    return u * b / s * b;
}

double pld_place(const pld_pair *pair, double loss)
{
    const double q = pair->rate;
    if (pair->way == PLD_REMOVE)
        return place_of_ratio(pair, unmix(q, loss));
    if (pair->way == PLD_ADD)
        return -place_of_ratio(pair, unmix(q, -loss));
    if (loss == 0)
        return 0;
    const double l = fabs(loss);
    const double y =
        pair->family == PLD_GAUSSIAN
            ? place_replaced_gaussian(pair, l)
            : place_of_ratio(pair, unmix(q, l + pld_mix(q, -pair->shift / pair->noise)));
    return loss < 0 ? -y : y;
}

double pld_slope(const pld_pair *pair, double z)
{
    const double b = pair->noise;
    if (pair->family == PLD_LAPLACE)
        return 2 / b;
    if (pair->rate == 1) /* P is normal around the shift, and the loss linear */
        return fmax(fabs(z - pair->shift) / b, 1) / b;
    return fmax((fabs(z) + pair->shift) / b, 1) / b;
}

/* P(N_0 >= y) from above, y > 0. */
static double gaussian_tail(const pld_pair *pair, double y)
{
    const double x = y / pair->noise;
    if (!pair->lattice)
        return 0.5 * erfc(x * ROOT_HALF) * (1 + 1e-12);
    /* A geometric series from the first integer on. */
    return exp(log_density(pair, y)) / -expm1(-y / pair->noise / pair->noise) * (1 + 1e-12);
}

/* P is N(0) and N(s) mixed, or one of them: spans around both, one if they touch. */
static void shape_gaussian(pld_shape *shape, const pld_pair *pair, double cut)
{
    const double q = pair->way == PLD_ADD ? 0 : pair->rate, s = pair->shift;
    double reach = pair->noise * sqrt(2 * cut), unused;
    if (pair->lattice)
        reach = ceil(reach + 1);
    const double past = pair->lattice ? 1 : 0; /* a span includes its ends */
    const double out = gaussian_tail(pair, reach + past);
    const double low = q == 1 ? s - reach : -reach, high = q == 0 ? reach : s + reach;
    shape->exact = false;
    shape->spans = 1;
    shape->span[0] = (pld_span){low, high};
    shape->bottom.mass = q == 1 ? out : (1 - q) * out + q * gaussian_tail(pair, s + reach + past);
    pld_at(pair, low, &unused, &shape->bottom.loss);
    /* Under ADD losses end at -log(1 - q), but so far beyond the rest when q is near 1 that an atom
     * there would lead the tilt astray; e^-12 of delta at infinity costs less. */
    shape->top = (pld_point){out, INFINITY};
    if (q > 0 && q < 1 && s > 2 * (reach + past)) {
        shape->spans = 2;
        shape->span[0].to = reach;
        shape->span[1] = (pld_span){s - reach, high};
        shape->top.mass += out; /* between the spans: beyond one or the other */
    }
}

static void shape_laplace(pld_shape *shape, const pld_pair *pair)
{
    const double s = pair->shift, b = pair->noise, q = pair->rate;
    const double half = pair->lattice ? 1 / (1 + exp(-1 / b)) : 0.5; /* N_0 at or below 0 */
    const double past = half * exp(-s / b);                          /* N_0 at or above s */
    const double with = pld_mix(q, s / b), without = pld_mix(q, -s / b);
    const double top = half * exp(with - s / b);
    const double inside = pair->lattice ? 1 : 0;
    shape->exact = true;
    shape->spans = 1;
    if (pair->way == PLD_REMOVE) {
        shape->bottom = (pld_point){half * exp(without), without};
        shape->top = (pld_point){top, with};
        shape->span[0] = (pld_span){inside, s - inside};
    } else if (pair->way == PLD_ADD) {
        shape->bottom = (pld_point){past, -with};
        shape->top = (pld_point){half, -without};
        shape->span[0] = (pld_span){inside - s, -inside};
    } else {
        shape->bottom = (pld_point){past * exp(without), without - with};
        shape->top = (pld_point){top, with - without};
        shape->spans = 2; /* a kink at 0 */
        shape->span[0] = (pld_span){inside - s, 0};
        shape->span[1] = (pld_span){inside, s - inside};
    }
}

void pld_shape_of(pld_shape *shape, const pld_pair *pair, double cut)
{
    *shape = (pld_shape){.exact = true};
    if (pair->family == PLD_GAUSSIAN)
        shape_gaussian(shape, pair, cut);
    else if (pair->family == PLD_LAPLACE)
        shape_laplace(shape, pair);
}
