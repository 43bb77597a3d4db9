/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Amplification by shuffling (Feldman, McMillan, Talwar 2021, arXiv 2012.12803, theorem 3.2).
 * With C ~ Bin(n-1, e^-e0) clones of the victim's report, A ~ Bin(C, 1/2) and D a coin with
 * p = e^e0 / (e^e0 + 1), n shuffled e0-DP reports are no better told apart than
 *
 *     (A + D, C - A + 1 - D)   and   (A + 1 - D, C - A + D),
 *
 * a pair that mirrors itself, so one direction is enough. Given C = c the likelihood ratio of
 * "the first entry is a" grows with a, and the best event is {a >= k} for some k:
 *
 *     delta_c = b (p - e^eps (1-p)) - T (e^eps - 1),  T = P(A >= k), b = P(A = k-1).
 *
 * delta_c falls with c (one more clone is an independent coin thrown on either pile:
 * post-processing), so the values of c are taken in BLOCKS blocks, each with the delta of its
 * least c: an upper bound, and exact for small n. The same monotony lets a number of agents above
 * MOST_AGENTS be counted as MOST_AGENTS; the closed form of theorem 3.1 is better there.
 */
#include "math/special.h"
#include "tacit/account.h"

#include <float.h>
#include <math.h>

#define BLOCKS 1024
#define MOST_LOCAL 60 /* e^-60 of 2^64 reports: not one clone, and nothing to gain */
#define MOST_AGENTS 1e9
#define LOG_HALF (-0.69314718055994530942)
#define SLACK (1 + 1e-9) /* of delta: binomial tails are good to 1e-11 */

typedef struct clones {
    int blocks;
    double local;
    double least[BLOCKS + 2];    /* the least number of clones of each block */
    double log_mass[BLOCKS + 2]; /* its probability */
} clones;

/* log P(first <= C < end) by whichever tail is the smaller one. */
static double log_between(double n, double p, double first, double end)
{
    if (end - first == 1)
        return tacit_log_binomial(first, n, p);
    if (first > n * p)
        return tacit_log_sub(tacit_log_binomial_tail(first, n, p),
                             tacit_log_binomial_tail(end, n, p));
    const double upto = tacit_log_binomial_tail(n - end + 1, n, 1 - p); /* P(C < end) */
    const double below = first > 0 ? tacit_log_binomial_tail(n - first + 1, n, 1 - p) : -INFINITY;
    return tacit_log_sub(fmax(upto, below), below);
}

/* Blocks of equal width over as many standard deviations as delta can notice, and the rest. */
static void cut(clones *c, double agents, double local, double delta)
{
    const double n = agents - 1, p = exp(-local), mean = n * p;
    const double reach = (sqrt(-2 * log(delta)) + 7) * (sqrt(mean * (1 - p)) + 1) + 40;
    const double low = fmax(0, floor(mean - reach)), high = fmin(n, ceil(mean + reach));
    const double width = ceil((high - low + 1) / BLOCKS);
    *c = (clones){.local = local};
    double first = 0;
    for (double end = low; first <= n; end += width) {
        if (end <= first)
            continue;
        if (end > high)
            end = n + 1;
        c->least[c->blocks] = first;
        c->log_mass[c->blocks++] = log_between(n, p, first, end);
        first = end;
    }
}

/* delta_c(eps): the ratio r = b(k-1)/b(k) = k / (c - k + 1) at which one more value of a pays. */
static double delta_given(double c, double local, double eps)
{
    const double p = 1 / (1 + exp(-local)), other = 1 / (1 + exp(local));
    const double gain = p - exp(eps) * other, cost = exp(eps) * p - other;
    if (!(gain > 0))
        return 0;
    const double r = cost / gain, guess = floor(r * (c + 1) / (1 + r)) + 1;
    double k = fmin(fmax(guess - 1, 1), c + 1), best = 0;
    double tail = exp(tacit_log_binomial_tail(k, c, 0.5));
    double at = exp(tacit_log_binomial(k - 1, c, 0.5));
    for (int tried = 0; tried < 3; tried++, k++) { /* rounding may miss the best by one */
        best = fmax(best, at * gain - tail * expm1(eps));
        at *= (c - k + 1) / k;
        tail = fmax(0, tail - at);
    }
    return best;
}

static double delta_of(const clones *c, double eps)
{
    double sum = 0;
    for (int k = 0; k < c->blocks; k++) {
        const double mass = exp(c->log_mass[k]);
        if (mass > 0)
            sum += mass * delta_given(c->least[k], c->local, eps);
    }
    return SLACK * sum;
}

/* Theorem 3.1; INFINITY where it says nothing. */
static double closed_form(double agents, double local, double delta)
{
    if (!(local <= log(agents / (16 * log(2 / delta)))))
        return INFINITY;
    const double e = exp(local);
    return (1 + 1e-14) *
           log1p(tanh(local / 2) * (8 * sqrt(e * log(4 / delta) / agents) + 8 * e / agents));
}

/* delta_of falls and is convex in eps; regula falsi on its logarithm, kept honest by halving. */
static double solve(const clones *c, double most, double delta)
{
    double low = 0, high = most, at_low = log(delta_of(c, 0) / delta), at_high = -1;
    if (at_low <= 0)
        return 0;
    for (int k = 0; k < 200 && high - low > 1e-10 * high; k++) {
        double middle = low + (high - low) / 2;
        if (k % 3 && isfinite(at_high))
            middle = low + (high - low) * fmin(fmax(at_low / (at_low - at_high), 1e-4), 1 - 1e-4);
        const double at = log(delta_of(c, middle) / delta);
        if (at <= 0)
            high = middle, at_high = at;
        else
            low = middle, at_low = at;
    }
    return high;
}

tacit_status tacit_account_shuffled(uint64_t agents, double local, double delta, double *epsilon,
                                    tacit_error *err)
{
    if (agents == 0)
        return tacit_fail(err, TACIT_EINPUT, "\"agents\" is 0; nobody's reports are shuffled");
    if (!(local >= 0 && isfinite(local)))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"local\" epsilon is %g; it must be a finite number, 0 or more", local);
    if (!(delta >= 0 && delta < 1))
        return tacit_fail(err, TACIT_EINPUT, "\"delta\" is %g; it must be at least 0 and below 1",
                          delta);
    *epsilon = local;
    if (delta < DBL_MIN || local == 0 || local > MOST_LOCAL || agents == 1)
        return TACIT_OK; /* a report alone, or all equal: nothing is gained without delta */
    clones c;
    const double n = fmin((double)agents, MOST_AGENTS);
    cut(&c, n, local, delta);
    *epsilon = fmin(solve(&c, local, delta), closed_form((double)agents, local, delta));
    return TACIT_OK;
}
