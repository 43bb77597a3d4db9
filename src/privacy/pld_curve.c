/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading epsilon and delta off the law of the sum. With masses m_i tilted by s, l_i = i h, C =
 * e^K(s), and an epsilon r below l_j but above l_(j-1),
 *
 *     delta(eps) = C e^(-s l_j) [D_j + (1 - e^-r) E_j],
 *     D_j = sum_(i>=j) m_i e^(-s (l_i - l_j)) (1 - e^-(l_i - l_j)),
 *     E_j = sum_(i>=j) m_i e^(-(1+s) (l_i - l_j)),
 *
 * from the top down: D_j = e^(-s h) (D_(j+1) + (1 - e^-h) E_(j+1)), E_j = m_j + e^(-(1+s) h)
 * E_(j+1). Nothing cancels and nothing overflows: epsilon may be in the thousands, delta 1e-300.
 *
 * Errors, all relative to C e^(-s eps) and added (from above) or subtracted (from below):
 *   rounding   |sum w_i err_i| <= |w|_2 |err|_2, w being (1 - e^-x) e^(-s x)
 *   the window from above what lies above it, at most C e^(-s top) P(above); from below also
 *              what came back in from outside, at most max w times the mass outside
 *   masses     a relative error of a few roundings each, times their number
 * Where rounding makes the answer worthless (counts of 10^12 and more) Chernoff's own bound
 * (C e^(-s eps) max w) still holds, and the better of the two is taken.
 */
#include "privacy/pld.h"

#include <math.h>

#define LOSSES_ARE_OFF 1e-11 /* relative: grid points and losses that differ by rounding */

/* max over x >= 0 of (1 - e^-x) e^(-s x), in logs. */
static double log_most_weight(double s)
{
    return s > 0 ? -s * log1p(1 / s) - log1p(s) : 0;
}

/* The l2 norm of the weights at the grid points, from above. */
static double weight_norm(const pld_curve *c)
{
    const double s = c->grid.tilt, h = c->grid.step;
    double square = (double)c->length;
    if (s > 0) {
        square = fmin(square, 1 + 1 / (2 * s * h));
        square = fmin(square, 1 / (4 * s * s * s * h) + 0.14 / (s * s));
    }
    return sqrt(square);
}

/* What is added to the bracket at a grid point: from below it is negative. */
static double allowance(const pld_curve *c, bool optimistic)
{
    const double rounding = weight_norm(c) * c->noise;
    if (!optimistic)
        return rounding;
    return -rounding - exp(log_most_weight(c->grid.tilt)) * (c->above + c->below);
}

/* Mass that counts whatever epsilon is. */
static double lost(const pld_curve *c, bool optimistic)
{
    if (optimistic)
        return c->infinite;
    const double top = (double)c->first + (double)c->length;
    return c->infinite + exp(c->log_mgf - c->grid.tilt * top * c->grid.step) * c->above;
}

static double chernoff_epsilon(const pld_curve *c, double log_share)
{
    if (!(c->grid.tilt > 0))
        return INFINITY;
    return (c->log_mgf + log_most_weight(c->grid.tilt) - log_share) / c->grid.tilt;
}

/* The sums at one grid point. */
typedef struct sums {
    double at, d, e;
} sums;

/* How far below the grid point the bracket, with `extra` e^(s r), is `wanted`. An allowance that
 * is positive makes r smaller: so taken at too large an r first it errs on the right side; one
 * that is negative makes it larger, and is taken at the cell's end. */
static double solve_cell(const sums *x, double wanted, double extra, double tilt, double step)
{
    double r = step;
    for (int round = 0; round < 2; round++) {
        const double fall = (wanted - x->d - extra * exp(tilt * r)) / x->e;
        const double next = fall > 0 ? -log1p(-fmin(fall, -expm1(-step))) : 0;
        if (extra < 0)
            return fmin(next, step);
        if (round == 0) { /* with the least allowance: the largest r */
            const double most = (wanted - x->d - extra) / x->e;
            r = most > 0 ? fmin(-log1p(-fmin(most, -expm1(-step))), step) : 0;
        } else {
            r = fmin(next, step);
        }
    }
    return r;
}

/* The epsilon at which the bracket is worth log_share. */
static double cross(const pld_curve *c, double log_share, bool optimistic, double *slope)
{
    enum { BLOCK = 16 };
    const double h = c->grid.step, s = c->grid.tilt;
    const double down = exp(-s * h), far = exp(-(1 + s) * h), gain = -expm1(-h);
    const double extra = allowance(c, optimistic), most = extra * exp(s * h);
    const bool steep = s * h * BLOCK > 50;
    double wanted = 0;
    sums x = {0};
    for (size_t j = c->length; j-- > 0;) {
        x.at = (double)(c->first + (int64_t)j) * h;
        x.d = down * (x.d + gain * x.e);
        x.e = c->mass[(c->start + j) & (c->length - 1)] + far * x.e;
        if (steep || j % BLOCK == BLOCK - 1)
            wanted = exp(log_share + s * x.at - c->log_mgf);
        else
            wanted *= down;
        if (x.d + gain * x.e + most >= wanted) {
            const double r = solve_cell(&x, wanted, extra, s, h);
            *slope = x.e * exp(-r) / (x.d - expm1(-r) * x.e);
            return x.at - r;
        }
        if (x.at < 0)
            return 0;
    }
    return optimistic ? 0 : (double)c->first * h; /* below the window nothing is known */
}

double pld_curve_epsilon(const pld_curve *c, double delta, bool optimistic, double *slope)
{
    if (optimistic && !(c->slack < 0.5))
        return 0; /* all digits are lost */
    const double share = (delta - lost(c, optimistic)) / (1 + (optimistic ? -1 : 1) * c->slack);
    /* Chernoff's bound holds for the laws themselves: it knows of no window. */
    const double whole = (delta - c->infinite) / (1 + c->slack);
    if (!(share > 0))
        return !optimistic && whole > 0
                   ? fmax(0, chernoff_epsilon(c, log(whole)) * (1 + LOSSES_ARE_OFF))
                   : INFINITY;
    const double found = cross(c, log(share), optimistic, slope);
    if (optimistic)
        return fmax(0, found * (1 - LOSSES_ARE_OFF));
    double epsilon = chernoff_epsilon(c, log(whole));
    const double top = ((double)c->first + (double)c->length - 1) * c->grid.step;
    if (found < top)
        epsilon = fmin(epsilon, found);
    return fmax(0, epsilon * (1 + LOSSES_ARE_OFF));
}

/* The sums at the grid point at or above epsilon. */
static sums sums_at(const pld_curve *c, double epsilon)
{
    const double h = c->grid.step, s = c->grid.tilt;
    const double down = exp(-s * h), far = exp(-(1 + s) * h), gain = -expm1(-h);
    sums x = {.at = ((double)c->first + (double)c->length) * h};
    for (size_t j = c->length; j-- > 0;) {
        const double next = (double)(c->first + (int64_t)j) * h;
        if (next < epsilon)
            break;
        x.at = next;
        x.d = down * (x.d + gain * x.e);
        x.e = c->mass[(c->start + j) & (c->length - 1)] + far * x.e;
    }
    return x;
}

double pld_curve_delta(const pld_curve *c, double epsilon, bool optimistic, double *slope)
{
    const double s = c->grid.tilt, away = optimistic ? 1 : -1;
    const double wanted = epsilon * (1 + away * LOSSES_ARE_OFF);
    const double end = ((double)c->first + (double)c->length - 1) * c->grid.step;
    const double least = (double)c->first * c->grid.step;
    const double chernoff = exp(c->log_mgf - s * wanted + log_most_weight(s));
    if (!optimistic && wanted >= end)
        return fmin(1, c->infinite + chernoff);
    if (!optimistic && wanted < least)
        return fmin(1, c->infinite + chernoff);
    const double there = fmax(wanted, least); /* delta decreases */
    const sums x = sums_at(c, there);
    const double r = fmax(x.at - there, 0), bracket = x.d - expm1(-r) * x.e;
    const double value = fmax(bracket + allowance(c, optimistic) * exp(s * r), 0);
    const double delta = exp(c->log_mgf - s * x.at + log(value)) * (1 - away * c->slack);
    *slope = x.e * exp(-r) / bracket;
    if (optimistic)
        return fmin(1, c->infinite + fmax(0, delta));
    return fmin(1, fmin(lost(c, false) + delta, c->infinite + chernoff));
}
