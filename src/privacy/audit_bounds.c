/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From counts of wrong guesses to a lower bound on epsilon.
 *
 * An (epsilon, delta)-DP mechanism forces on every test of "was the canary there?"
 *
 *     fnr + e^epsilon fpr >= 1 - delta   and   fpr + e^epsilon fnr >= 1 - delta,
 *
 * so upper bounds on both error rates give a lower bound on epsilon (Jagielski, Ullman, Oprea
 * 2020). Clopper-Pearson at (1 - confidence) / 2 for each of the two rates serves both
 * directions: they use the same two events.
 *
 * A mechanism that adds noise with distribution function F to a value that moves by at most `s`
 * (in units of the noise) is bounded everywhere, not only at one epsilon:
 *
 *     fnr >= F(F^-1(1 - fpr) - s),     so   s >= F^-1(1 - fpr) - F^-1(fnr),
 *
 * for Gaussian noise in any number of dimensions and releases (Dong, Roth, Su 2019; as an audit
 * Nasr et al. 2023), and for one release of Laplace noise. What the shift means is read off as
 * epsilon at delta.
 *
 * Pooled: for symmetric F the sum fpr + fnr is least where both are F(-s/2). With n trials of
 * each kind the errors are a sum of 2n independent coins of mean at least F(-s/2), and such a sum
 * is below its mean less often than a binomial of that mean (Hoeffding 1956, theorem 4, as long
 * as the count lies at least 1 below the mean, which it does wherever a bound at confidence 0.8
 * or more bites). So one Clopper-Pearson bound on 2n trials at the full 1 - confidence suffices.
 */
#include "tacit/audit.h"

#include <math.h>

#include "math/special.h"
#include "privacy/audit.h"
#include "tacit/account.h"

#define LEAST_POOLED 0.8

/* ---- rates ---- */

double tacit_rate_above(double count, double trials, double miss)
{
    return count >= trials ? 1 : tacit_beta_quantile(1 - miss, count + 1, trials - count);
}

bool tacit_guesses_sensible(const tacit_guesses *g, double delta, double confidence)
{
    return g->n0 > 0 && g->n1 > 0 && g->fp <= g->n0 && g->fn <= g->n1 && delta >= 0 && delta < 1 &&
           confidence > 0 && confidence < 1;
}

/* Upper bounds on both rates that hold together with the confidence asked for. */
static tacit_rates rates_above(const tacit_guesses *g, double confidence)
{
    const double miss = (1 - confidence) / 2;
    return (tacit_rates){tacit_rate_above((double)g->fp, (double)g->n0, miss),
                         tacit_rate_above((double)g->fn, (double)g->n1, miss)};
}

/* ---- any mechanism ---- */

double tacit_rates_epsilon(tacit_rates r, double delta)
{
    const double one = 1 - r.fn - delta, other = 1 - r.fp - delta;
    const double up = one > 0 ? log(one / r.fp) : 0, down = other > 0 ? log(other / r.fn) : 0;
    return fmax(0, fmax(up, down));
}

double tacit_audit_clopper_pearson(const tacit_guesses *g, double delta, double confidence)
{
    if (!tacit_guesses_sensible(g, delta, confidence))
        return NAN;
    return tacit_rates_epsilon(rates_above(g, confidence), delta);
}

/* ---- noise of a known kind ---- */

static double quantile(tacit_audit_curve curve, double p)
{
    if (curve == TACIT_CURVE_GAUSSIAN)
        return tacit_normal_quantile(p);
    return p < 0.5 ? log(2 * p) : -log(2 * (1 - p));
}

double tacit_shift_epsilon(tacit_audit_curve curve, double shift, double delta)
{
    if (!(shift > 0))
        return 0;
    if (curve == TACIT_CURVE_LAPLACE) /* delta = 1 - e^((epsilon - shift) / 2) */
        return fmax(0, shift + 2 * log1p(-delta));
    const tacit_loss loss = {
        .kind = TACIT_LOSS_GAUSSIAN, .noise = 1, .shift = shift, .sampling = 1, .count = 1};
    double epsilon = NAN;
    if (!(delta > 0) || tacit_account_epsilon(TACIT_BY_GDP, &loss, 1, delta, &epsilon, NULL))
        return delta > 0 ? NAN : INFINITY;
    return fmax(0, epsilon);
}

double tacit_rates_shift(tacit_audit_curve curve, tacit_rates r)
{
    return -quantile(curve, r.fp) - quantile(curve, r.fn); /* -F^-1(p) is F^-1(1 - p) */
}

double tacit_pooled_shift(tacit_audit_curve curve, double rate)
{
    return -2 * quantile(curve, rate);
}

double tacit_audit_trade_off(const tacit_guesses *g, tacit_audit_curve curve, double delta,
                             double confidence)
{
    if (!tacit_guesses_sensible(g, delta, confidence) || curve == TACIT_CURVE_NONE)
        return NAN;
    return tacit_shift_epsilon(curve, tacit_rates_shift(curve, rates_above(g, confidence)), delta);
}

double tacit_audit_trade_off_pooled(const tacit_guesses *g, tacit_audit_curve curve, double delta,
                                    double confidence)
{
    if (!tacit_guesses_sensible(g, delta, confidence) || curve == TACIT_CURVE_NONE ||
        g->n0 != g->n1 || confidence < LEAST_POOLED)
        return NAN;
    const double errors = (double)g->fp + (double)g->fn, trials = 2 * (double)g->n0;
    const double rate = tacit_rate_above(errors, trials, 1 - confidence);
    return tacit_shift_epsilon(curve, tacit_pooled_shift(curve, rate), delta);
}

/* ---- one run ---- */

/*
 * Were training epsilon-DP, each guess would be right with probability at most
 * q = 1 / (1 + e^-epsilon), whatever the others said, so the number of right guesses would be
 * below Bin(guesses, q). Delta lets it be larger: by 2 m delta max_i P(v - i <= Bin < v) / i.
 */
double tacit_audit_one_run_p(uint64_t canaries, uint64_t guesses, uint64_t correct, double epsilon,
                             double delta)
{
    if (correct > guesses || guesses > canaries || !(epsilon >= 0) || !(delta >= 0) || delta > 1)
        return NAN;
    const double q = 1 / (1 + exp(-epsilon)), r = (double)guesses, v = (double)correct;
    const double tail = exp(tacit_log_binomial_tail(v, r, q));
    double sum = 0, most = 0;
    for (double i = 1; delta > 0 && i <= v; i++) {
        const double term = exp(tacit_log_binomial(v - i, r, q));
        sum += term;
        most = fmax(most, sum / i);
        if (term < 0x1p-60 * sum && v - i < q * r) /* what is left is smaller still */
            break;
    }
    return fmin(1, tail + 2 * (double)canaries * delta * most);
}

double tacit_audit_one_run(uint64_t canaries, uint64_t guesses, uint64_t correct, double delta,
                           double p)
{
    double low = 0, high = 1;
    const double at_zero = tacit_audit_one_run_p(canaries, guesses, correct, 0, delta);
    if (isnan(at_zero) || !(p > 0) || !(p < 1))
        return NAN;
    if (at_zero >= p)
        return 0;
    while (high < 1024 && tacit_audit_one_run_p(canaries, guesses, correct, high, delta) < p)
        high *= 2;
    for (int step = 0; step < 60 && high - low > 1e-13; step++) {
        const double middle = low + (high - low) / 2;
        if (tacit_audit_one_run_p(canaries, guesses, correct, middle, delta) < p)
            low = middle;
        else
            high = middle;
    }
    return low;
}
