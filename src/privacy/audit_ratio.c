/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bound on the ratio of two rates from one exact test.
 *
 * Of n1 trials with the canary x1 were said to have it, and of n0 without it x0, with rates p1 and
 * p0. Two Clopper-Pearson bounds treat the luck of both counts as if it could be bad at once.
 * Given x0 + x1 the count x1 has Fisher's noncentral hypergeometric law, which depends on the odds
 * ratio psi = p1 (1 - p0) / (p0 (1 - p1)) alone, so that its tail gives an exact lower bound on
 * psi (Cornfield 1956), and
 *
 *     (p1 - delta) / p0 = psi * (1 - p1) / (1 - p0) * (1 - delta / p1).
 *
 * The factors behind psi are near 1 where p0 and p1 are small and are known well anyway: three
 * Clopper-Pearson bounds at a tenth of the allowed error cost little. All four hold together with
 * the confidence asked for. An (epsilon, delta)-DP mechanism has (p1 - delta) / p0 <= e^epsilon.
 */
#include <math.h>

#include "math/special.h"
#include "privacy/audit.h"

#define SPARE 0.1        /* of the allowed error, for the factors */
#define NEGLIGIBLE 1e-25 /* of the largest term */

typedef struct tables {
    double n1, x1, n0, x0;
} tables;

static tables arrange(double fp, double n0, double fn, double n1, bool mirrored)
{
    return mirrored ? (tables){n0, n0 - fp, n1, fn} : (tables){n1, n1 - fn, n0, fp};
}

/* ---- the odds ratio ---- */

/* P(k + 1) / P(k) at odds ratio psi: falls with k. */
static double step(const tables *t, double psi, double k)
{
    const double total = t->x0 + t->x1;
    return psi * (t->n1 - k) * (total - k) / ((k + 1) * (t->n0 - total + k + 1));
}

static double mode(const tables *t, double psi, double least, double most)
{
    while (least < most) {
        const double middle = floor(least + (most - least) / 2);
        if (step(t, psi, middle) >= 1)
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

/* P(X1 >= x1 | x0 + x1), adding up from the likeliest count to both sides. */
static double tail(const tables *t, double psi)
{
    const double total = t->x0 + t->x1;
    const double least = fmax(0, total - t->n0), most = fmin(t->n1, total);
    const double top = mode(t, psi, least, most);
    double all = 0, beyond = 0, term = 1;
    for (double k = top; term > NEGLIGIBLE; k++) {
        all += term;
        beyond += k >= t->x1 ? term : 0;
        if (k >= most)
            break;
        term *= step(t, psi, k);
    }
    term = 1;
    for (double k = top - 1; k >= least; k--) {
        term /= step(t, psi, k);
        if (!(term > NEGLIGIBLE))
            break;
        all += term;
        beyond += k >= t->x1 ? term : 0;
    }
    return beyond / all;
}

/* The logarithm of the largest odds ratio at which so many are too unlikely. */
static double log_odds_below(const tables *t, double miss)
{
    double low = -60, high = 60;
    if (t->x1 <= fmax(0, t->x0 + t->x1 - t->n0))
        return -INFINITY;
    for (int tries = 0; tries < 60; tries++) {
        const double middle = (low + high) / 2;
        if (tail(t, exp(middle)) <= miss)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- from odds to epsilon ---- */

static double to_epsilon(double log_odds, double p1_above, double p1_below, double p0_below,
                         double delta)
{
    if (p1_above >= 1 || delta >= p1_below || isinf(log_odds))
        return 0;
    return fmax(0, log_odds + log1p(-p1_above) - log1p(-p0_below) + log1p(-delta / p1_below));
}

double tacit_audit_ratio(const tacit_guesses *g, bool mirrored, double delta, double confidence)
{
    if (!tacit_guesses_sensible(g, delta, confidence))
        return NAN;
    const tables t = arrange((double)g->fp, (double)g->n0, (double)g->fn, (double)g->n1, mirrored);
    const double miss = 1 - confidence, spare = SPARE * miss / 3;
    return to_epsilon(log_odds_below(&t, miss - SPARE * miss), tacit_rate_above(t.x1, t.n1, spare),
                      1 - tacit_rate_above(t.n1 - t.x1, t.n1, spare),
                      1 - tacit_rate_above(t.n0 - t.x0, t.n0, spare), delta);
}

double tacit_rates_ratio(tacit_rates r, double n, bool mirrored, double delta, double confidence)
{
    const tables t = arrange(r.fp * n, n, r.fn * n, n, mirrored);
    const double p1 = t.x1 / n, p0 = t.x0 / n, miss = 1 - confidence;
    if (t.x1 < 5 || t.x0 < 5 || p1 >= 1 || p0 >= 1)
        return 0;
    const double main = tacit_normal_quantile(miss * (1 - SPARE)),
                 side = tacit_normal_quantile(SPARE * miss / 3);
    const double d1 = sqrt(p1 * (1 - p1) / n), d0 = sqrt(p0 * (1 - p0) / n);
    const double spread = sqrt(1 / (n * p1 * (1 - p1)) + 1 / (n * p0 * (1 - p0)));
    const double odds = log(p1 / (1 - p1)) - log(p0 / (1 - p0)) + main * spread;
    return to_epsilon(odds, p1 - side * d1, p1 + side * d1, fmax(0, p0 + side * d0), delta);
}
