/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For every order a > 1 (Canonne, Kamath, Steinke 2020, proposition 12), with R the divergence,
 *
 *     log delta = (a - 1) (R(a) - epsilon + log(1 - 1/a)) - log a.
 *
 * (a - 1) R(a) is a cumulant generating function, hence convex, and so is all of log delta. The
 * epsilon that belongs to a fixed delta has intervals for level sets. Either way golden sections
 * over t = log(a - 1) find the one minimum, and any order tried is valid, so that an inexact
 * search costs some tightness (of second order) and never validity.
 */
#include "privacy/convert.h"

#include <math.h>
#include <stddef.h>

/* Orders from 1 + 1e-7 to 1e7; 40 sections leave 1e-7 of a factor, 1e-14 of the value. */
#define LEAST_LOG (-16.2)
#define MOST_LOG 16.2
#define SECTIONS 40
#define GOLDEN 0.618033988749894848204586834366
#define UP (1 + 1e-13)

typedef struct search {
    tacit_renyi_curve *curve;
    const void *context;
    double log_delta, epsilon;
} search;

typedef double objective(const search *s, double t);

static double epsilon_at(const search *s, double t)
{
    const double alpha = 1 + exp(t), above = alpha - 1; /* as rounded */
    const double renyi = s->curve(alpha, s->context);
    return renyi - (s->log_delta + log1p(above)) / above - log1p(1 / above);
}

static double log_delta_at(const search *s, double t)
{
    const double alpha = 1 + exp(t), above = alpha - 1; /* as rounded */
    const double renyi = s->curve(alpha, s->context);
    return above * (renyi - s->epsilon - log1p(1 / above)) - log1p(above);
}

static double least(objective *f, const search *s)
{
    double low = LEAST_LOG, high = MOST_LOG;
    double left = high - GOLDEN * (high - low), right = low + GOLDEN * (high - low);
    double at_left = f(s, left), at_right = f(s, right);
    double best = fmin(at_left, at_right);
    for (int k = 0; k < SECTIONS; k++) {
        /* A divergence that overflows does so at all higher orders: then look below. */
        if (at_left < at_right || !isfinite(at_right)) {
            high = right, right = left, at_right = at_left;
            left = high - GOLDEN * (high - low);
            at_left = f(s, left);
            best = fmin(best, at_left);
        } else {
            low = left, left = right, at_left = at_right;
            right = low + GOLDEN * (high - low);
            at_right = f(s, right);
            best = fmin(best, at_right);
        }
    }
    return best;
}

double tacit_convert_epsilon(tacit_renyi_curve *curve, const void *context, double delta)
{
    const search s = {.curve = curve, .context = context, .log_delta = log(delta)};
    return fmax(0, UP * least(epsilon_at, &s));
}

double tacit_convert_delta(tacit_renyi_curve *curve, const void *context, double epsilon)
{
    const search s = {.curve = curve, .context = context, .epsilon = epsilon};
    const double log_delta = least(log_delta_at, &s);
    return fmin(1, exp(log_delta + 1e-13 * (1 + fabs(log_delta))));
}
