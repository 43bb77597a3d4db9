/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renyi divergences of losses whose likelihood ratio is bounded: randomized response, Laplace,
 * discrete Laplace, each sampled with rate q as in add-remove. All are sums (or one integral) of
 * the nonnegative terms of renyi.h over the ratio's values e^y, mixed: 1 + q (e^y - 1).
 *
 * Sampling makes two directions; exchanging the two distributions of a pair that mirrors itself
 * gives the same pair, and then the mixture in front is the worse one (Mironov, Talwar, Zhang
 * 2019, theorem 5).
 *
 * The discrete Laplace on a fine grid is the one on an m times coarser grid plus independent
 * noise: the generating functions divide to a product of two polynomials with positive
 * coefficients, (1 + p z + ... + (p z)^(m-1)) and its mirror. So the coarser one is an upper bound
 * by post-processing, used when the shift has more steps than matter: what is lost is about
 * (s / steps)^2 / 12 of the divergence, so 1 / 8192 of the scale is fine enough for every shift,
 * and a small one needs few of them. (The continuous one is a lower bound, the limit of finer
 * grids; one step is randomized response.)
 */
#include "math/special.h"
#include "privacy/renyi.h"

#include <math.h>

#define MOST_STEPS 4096
#define LEAST_STEPS 64
#define NODES 8

/* Gauss-Legendre on [-1, 1], 16 points: the positive half. */
static const double node[NODES] = {
    0.0950125098376374401853193354250, 0.281603550779258913230460501460,
    0.458016777657227386342419442984,  0.617876244402643748446671764049,
    0.755404408355003033895101194847,  0.865631202387831743880467897712,
    0.944575023073232576077988415535,  0.989400934991649932596154173450};
static const double weight[NODES] = {
    0.189450610455068496285396723208,  0.182603415044923588866763667969,
    0.169156519395002538189312079030,  0.149595988816576732081501730547,
    0.124628971255533872052476282192,  0.0951585116824927848099251076022,
    0.0622535239386478928628438369944, 0.0271524594117540948517805724560};

/* A running sum of exponentials, and the order the terms are for. */
typedef struct terms {
    double alpha, q, most, sum;
} terms;

static void add(terms *t, double log_weight, double y)
{
    const double u = t->q * expm1(y);
    const double log_ratio = t->q == 1 ? y : y > 600 ? log(t->q) + y : log1p(u);
    if (y == 0)
        return;
    const double value = log_weight + tacit_renyi_term(t->alpha, u, log_ratio);
    if (value > t->most) {
        t->sum = t->sum * exp(t->most - value) + 1;
        t->most = value;
    } else {
        t->sum += exp(value - t->most);
    }
}

static double divergence(const terms *t)
{
    if (isnan(t->sum))
        return INFINITY; /* no number is better than a wrong one */
    return t->sum > 0 ? tacit_renyi_of(t->most + log(t->sum), t->alpha) : 0;
}

double tacit_renyi_response(double q, double s, double categories, double alpha)
{
    terms t = {.alpha = alpha, .q = q, .most = -INFINITY};
    const double log_truth = -log1p((categories - 1) * exp(-s));
    add(&t, log_truth - s, s);
    add(&t, log_truth, -s);
    return divergence(&t);
}

static double discrete(double q, double s, double steps, double alpha)
{
    const double enough = fmax(LEAST_STEPS, fmin(MOST_STEPS, 2 * MOST_STEPS * s));
    if (steps > enough) {
        const double m = ceil(steps / enough), coarse = ceil(steps / m);
        s *= coarse * m / steps;
        steps = coarse;
    }
    terms t = {.alpha = alpha, .q = q, .most = -INFINITY};
    const double rate = s / steps, ends = -log1p(exp(-rate));
    const double inside = ends + log(-expm1(-rate));
    add(&t, ends, -s);
    add(&t, ends - s, s);
    for (double x = 1; x < steps; x++)
        add(&t, inside - x * rate, (2 * x - steps) * rate);
    return divergence(&t);
}

/* The integral over the slope between the plateaus, panel by panel. */
static double continuous(double q, double s, double alpha)
{
    terms t = {.alpha = alpha, .q = q, .most = -INFINITY};
    const double half = log(0.5);
    add(&t, half, -s);
    add(&t, half - s, s);
    const int panels = 1 + (int)(alpha * s);
    const double width = s / panels;
    for (int k = 0; k < panels; k++)
        for (int j = 0; j < 2 * NODES; j++) {
            const double at = j < NODES ? node[j] : -node[j - NODES];
            const double x = width * (k + 0.5 + at / 2);
            add(&t, half - x + log(weight[j % NODES] * width / 2), 2 * x - s);
        }
    return divergence(&t);
}

/* For all alpha s: the closed form (Mironov 2017, table II), which cancels where s is small. */
static double whole_laplace(double s, double alpha)
{
    const double odd = 2 * alpha - 1;
    return tacit_log_add(log(alpha / odd) + (alpha - 1) * s, log((alpha - 1) / odd) - alpha * s) /
           (alpha - 1);
}

double tacit_renyi_laplace(double q, double s, double steps, double alpha)
{
    if (s == 0)
        return 0;
    if (steps > 0)
        return discrete(q, s, steps, alpha);
    if (alpha * s < 512)
        return continuous(q, s, alpha);
    /* Convexity: sampling leaves at most q of the excess. */
    const double whole = (alpha - 1) * s < 0.01 ? s : whole_laplace(s, alpha);
    const double moment = (alpha - 1) * whole;
    return q == 1 ? whole : tacit_renyi_of(log(q) + tacit_log_sub(moment, 0), alpha);
}
