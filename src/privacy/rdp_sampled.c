/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renyi divergences of the Poisson-sampled Gaussian (Mironov, Talwar, Zhang 2019), exactly, at
 * any real order. In units of sigma, with s the shift and q the rate, the likelihood ratio of the
 * mixture to N(0, 1) is
 *
 *     L(x) = 1 - q + q exp(s x - s^2/2),     E[L] = 1,
 *
 * and the divergence of order a is log(E[L^a]) / (a - 1), back and forth with 1 - a for a. Two
 * ways, neither of which adds terms of changing sign:
 *
 *   whole orders  E[L^a] - 1 = sum_k Bin(a, q)(k) (exp(k (k-1) s^2 / 2) - 1)   (their eq. 5)
 *   real orders   E[L^a] - 1 = E[L^a - 1 - a (L - 1)], an integrand that is never negative, by
 *                 the trapezoidal rule on the whole line. It is analytic in a strip of half width
 *                 pi/s around the real line, where L has its zeros, and so with a step h the
 *                 error is of the order exp(-2 pi d/h + d^2/2) for any d inside (Trefethen and
 *                 Weideman 2014, theorem 5.1). h is chosen so that this is e^-38 of the value.
 *
 * Subtracting the 1 before the sum keeps all digits when q^2 is 1e-10. The fractional series of
 * the paper (two erfc for each term, summed until it is small) needs signed terms; summing their
 * absolute values, as is sometimes done, is up to 139 % too large.
 *
 * The discrete Gaussian is the same sum with the lattice as the points: exact where the lattice
 * is coarser than the step wanted, and equal to the integral to e^-38 where it is finer.
 *
 * `replace`: the mixtures with +s and -s, weighted and divided alike; the strip is halved because
 * the denominator must stay away from its zeros.
 */
#include "math/special.h"
#include "privacy/renyi.h"

#include <math.h>

#define PI 3.14159265358979323846
#define HALF_LOG_TWO_PI 0.918938533204672741780329736406
#define REACH 9.5 /* exp(-9.5^2 / 2) = 2.5e-20 */
#define DIGITS 38
#define MOST_POINTS 3e4

double tacit_renyi_of(double log_excess, double alpha)
{
    const double m = log_excess;
    return (m > 0 ? m + log1p(exp(-m)) : log1p(exp(m))) / (alpha - 1);
}

double tacit_renyi_term(double order, double u, double log_ratio)
{
    const double b = order - 1;
    if (fabs(u) * fmax(1, fabs(order)) < 0.1) { /* binomial series from its square */
        double term = 1, sum = 1;
        for (int j = 2; j < 40; j++) {
            term *= (order - j) * u / (j + 1);
            sum += term;
            if (fabs(term) < 1e-17)
                break;
        }
        return log(order * b / 2 * sum) + 2 * log(fabs(u));
    }
    /* r^a - 1 - a (r - 1) = r ((r^b - 1) - b (1 - 1/r)) */
    const double tilt = b * log_ratio;
    if (tilt > 700)
        return log_ratio + tilt;
    if (log_ratio < -700) /* r is nothing beside what is subtracted */
        return log(b);
    return log_ratio + log(expm1(tilt) + b * expm1(-log_ratio));
}

/* log(1 + u) for u = q (e^y - 1). */
static double mixed(double q, double y, double *u)
{
    *u = q * expm1(y);
    return y > 600 ? log(q) + y : log1p(*u);
}

/* The logarithm of the integrand without the density of x. */
static double integrand(const tacit_renyi_pair *pair, double order, double x)
{
    const double s = pair->shift, bend = s * s / 2;
    double u, below;
    const double log_q = mixed(pair->q, s * x - bend, &u);
    if (!pair->replace)
        return tacit_renyi_term(order, u, log_q);
    const double log_ratio = mixed(pair->q, -s * x - bend, &below) - log_q;
    if (fabs(s * x) < 1)
        u = -2 * pair->q * sinh(s * x) * exp(-bend - log_q);
    else
        u = expm1(log_ratio);
    return log_q + tacit_renyi_term(order, u, log_ratio);
}

typedef struct span {
    double low, high, step;
} span;

static span plan(const tacit_renyi_pair *pair, double alpha)
{
    const double s = pair->shift;
    const bool divides = pair->replace || pair->backward;
    const double d = fmin(8, PI / s * (divides ? 0.5 : 0.95));
    /* where a mixture divides, its size in the strip may be 2^-1/2 of that on the line */
    const double extra = divides ? 0.35 * alpha : 0;
    span line = {.low = -REACH, .high = alpha * s + REACH};
    if (pair->backward)
        line.high = 2 * s + REACH;
    if (pair->replace)
        line = (span){.low = -(2 * alpha - 1) * s - REACH, .high = s + REACH};
    line.step = 2 * PI * d / (DIGITS + d * d / 2 + extra);
    return line;
}

/* log of the sum of the normal density over the lattice. */
static double lattice_mass(double step)
{
    double sum = 0.5;
    for (int j = 1; j * step < 40; j++)
        sum += exp(-j * step * (j * step) / 2);
    return log(2 * sum) - HALF_LOG_TWO_PI;
}

double tacit_renyi_quadrature(const tacit_renyi_pair *pair, double alpha)
{
    span line = plan(pair, alpha);
    const bool lattice = pair->step > line.step;
    if (lattice)
        line.step = pair->step;
    if (!((line.high - line.low) / line.step < MOST_POINTS))
        return NAN;
    const double order = pair->backward ? 1 - alpha : alpha;
    const int first = (int)floor(line.low / line.step), last = (int)ceil(line.high / line.step);
    double most = -INFINITY, sum = 0;
    for (int j = first; j <= last; j++) {
        const double x = j * line.step;
        const double value = integrand(pair, order, x) - x * x / 2;
        if (value > most) {
            sum = sum * exp(most - value) + 1;
            most = value;
        } else if (value > most - 45) {
            sum += exp(value - most);
        }
    }
    const double mass = lattice ? lattice_mass(line.step) : -log(line.step);
    return tacit_renyi_of(most + log(sum) - HALF_LOG_TWO_PI - mass, alpha);
}

double tacit_renyi_binomial(double q, double shift, double alpha)
{
    double most = -INFINITY, sum = 0;
    for (double k = 2; k <= alpha; k++) {
        const double y = k * (k - 1) / 2 * shift * shift;
        const double value = tacit_log_binomial(k, alpha, q) + (y > 40 ? y : log(expm1(y)));
        if (value > most) {
            sum = sum * exp(most - value) + 1;
            most = value;
        } else {
            sum += exp(value - most);
        }
    }
    return sum > 0 ? tacit_renyi_of(most + log(sum), alpha) : 0;
}
