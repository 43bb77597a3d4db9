/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Privacy filters: budgets that hold although each cost is chosen by what was said before.
 * docs/lifetime.md has the proofs; in short, with L the privacy loss of all that was released:
 *
 *   sum   pure losses: L is at most the sum of their epsilons, whoever chose them.
 *   gdp   Gaussians (and pure losses, which are functions of Gaussians): if mu_i^2 add up to mu^2
 *         on every path, L is dominated by one Gaussian of mu.
 *   zcdp  if rho_i add up to at most rho on every path, all of it is rho-zCDP.
 *   rdp   at one order a, the process that stops where the sum of divergences would pass B(a) has
 *         a divergence of at most B(a) (Feldman, Zrnic 2021). With a few orders fixed beforehand
 *         and delta divided among them it is enough that one of them has not stopped.
 *   any   delta divided once more, between gdp and rdp.
 *
 * Deltas of the losses themselves add up, and come from a share of delta that is fixed beforehand:
 * to take from one share what another does not need would be a choice made by earlier outputs.
 *
 * The orders 1 + 2^k lie around the one that is best for Gaussians which use up the budget; lower
 * ones serve sampled Gaussians, higher ones pure losses.
 */
#include <math.h>
#include <stdlib.h>

#include "math/total.h"
#include "privacy/account.h"
#include "privacy/convert.h"
#include "privacy/lifetime_inside.h"
#include "privacy/loss.h"
#include "tacit/lifetime.h"

enum { ORDERS = 6, LOWEST = -3 }; /* 2^LOWEST to 2^(LOWEST + ORDERS - 1) times the best one */
#define ROOT_HALF_PI 1.25331413731550025120788264241
#define TAU2 4.0     /* plan.c: a Gaussian on a grid as a continuous one with less variance, */
#define FACTOR 1e-33 /* and what that adds to delta */
#define UP (1 + 1e-13)

const char *const tacit_filter_names[] = {"any", "sum", "zcdp", "gdp", "rdp", NULL};

/* Losses as a filter sees them. */
typedef struct amount {
    const tacit_loss *loss;
    size_t count;
    double failure; /* deltas of the losses themselves */
} amount;

/* ---- what adds up ---- */

static double sum_pure(const amount *a)
{
    tacit_total total = {0};
    for (size_t k = 0; k < a->count; k++) {
        const double pure = tacit_loss_pure(&a->loss[k]);
        if (!isfinite(pure))
            return INFINITY;
        tacit_total_add(&total, (double)a->loss[k].count, pure);
    }
    return tacit_total_up(&total);
}

/* mu of a Gaussian pair of which this one is a function; NAN if none is known. Every epsilon-DP
 * pair is a function of binary response (Kairouz, Oh, Viswanath 2015), that is the sign of a
 * Gaussian with Phi(mu/2) = 1 / (1 + e^-eps), and mu is at most eps sqrt(pi/2). */
static double mu_of(const tacit_loss *loss)
{
    const bool continuous = loss->kind == TACIT_LOSS_GAUSSIAN;
    if (continuous || loss->kind == TACIT_LOSS_DISCRETE_GAUSSIAN) {
        const double variance = loss->noise * loss->noise - (continuous ? 0 : TAU2);
        if (loss->shift == 0)
            return 0;
        return loss->sampling == 1 && variance > TAU2 / 4 ? loss->shift / sqrt(variance) : NAN;
    }
    const double pure = tacit_loss_pure(loss);
    return isfinite(pure) ? ROOT_HALF_PI * pure : NAN;
}

/* The square of mu of all together; NAN if unknown. */
static double sum_mu2(const amount *a)
{
    tacit_total total = {0};
    for (size_t k = 0; k < a->count; k++) {
        const double mu = mu_of(&a->loss[k]);
        if (isnan(mu))
            return NAN;
        tacit_total_add(&total, (double)a->loss[k].count, mu * mu);
    }
    return UP * tacit_total_up(&total);
}

static double sum_failure(const tacit_loss *loss, size_t count)
{
    tacit_total total = {0};
    for (size_t k = 0; k < count; k++)
        if (loss[k].kind == TACIT_LOSS_DISCRETE_GAUSSIAN)
            tacit_total_add(&total, (double)loss[k].count, FACTOR);
    return tacit_losses_failure(loss, count) + tacit_total_up(&total);
}

/* ---- what follows, at a fixed share of delta ---- */

static double line(double alpha, const void *context)
{
    return alpha * *(const double *)context;
}

static double by_zcdp(const amount *a, double delta)
{
    const double rho = tacit_losses_rho(a->loss, a->count);
    if (isnan(rho) || rho == 0)
        return rho;
    return delta > 0 ? tacit_convert_epsilon(line, &rho, delta) : INFINITY;
}

static tacit_status by_gdp(const amount *a, double delta, double *epsilon, tacit_error *err)
{
    const double mu2 = sum_mu2(a);
    *epsilon = isnan(mu2) || mu2 == 0 ? mu2 : INFINITY;
    if (isnan(mu2) || mu2 == 0 || !(delta > 0) || !isfinite(mu2))
        return TACIT_OK;
    const tacit_loss one = {.kind = TACIT_LOSS_GAUSSIAN,
                            .shift = UP * sqrt(mu2),
                            .noise = 1,
                            .sampling = 1,
                            .count = 1};
    return tacit_account_epsilon(TACIT_BY_GDP, &one, 1, delta, epsilon, err);
}

/* Which power of two above 1 the best order for Gaussians is next to, when all of (epsilon, delta)
 * is used up: epsilon = rho + 2 sqrt(rho log(1/delta)) at order 1 + sqrt(log(1/delta) / rho). */
static int best_order(double epsilon, double delta)
{
    const double bits = -log(delta), root = sqrt(bits + (isfinite(epsilon) ? epsilon : 1));
    const double gap = fmax(root - sqrt(bits), 1e-6);
    return (int)fmin(12, fmax(-6, round(log2(sqrt(bits) / gap))));
}

/* Canonne, Kamath, Steinke 2020, proposition 12, at one order, rounded up. */
static double at_order(const amount *a, double above, double log_delta)
{
    const double renyi = tacit_losses_renyi(a->loss, a->count, 1 + above);
    const double gain = (log_delta + log1p(above)) / above, more = log1p(1 / above);
    return renyi - gain - more + 1e-14 * (renyi + fabs(gain) + more);
}

static double by_rdp(const amount *a, double epsilon, double delta)
{
    double least = INFINITY;
    if (!(delta > 0))
        return least;
    const double share = delta / ORDERS;
    const int best = best_order(epsilon, share);
    for (int k = 0; k < ORDERS; k++)
        least = fmin(least, at_order(a, ldexp(1, best + LOWEST + k), log(share)));
    return fmax(0, UP * least);
}

/* ---- the filters ---- */

tacit_status lifetime_check_terms(const tacit_lifetime_terms *terms, tacit_error *err)
{
    if (!(terms->epsilon >= 0) || !(terms->delta >= 0 && terms->delta < 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "a lifetime budget of epsilon = %g, delta = %g makes no sense; epsilon "
                          "is at least 0, delta at least 0 and below 1",
                          terms->epsilon, terms->delta);
    if (!(terms->aside >= 0 && terms->aside < 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "the share of delta that is put aside is %g; it must be at least 0 and "
                          "below 1",
                          terms->aside);
    if ((unsigned)terms->filter >= TACIT_FILTERS || (unsigned)terms->unit > TACIT_UNIT_USER ||
        (unsigned)terms->adjacency > TACIT_ADD_REMOVE)
        return tacit_fail(err, TACIT_EUSAGE,
                          "a lifetime budget needs a filter, a unit and an adjacency");
    return TACIT_OK;
}

/* What of delta the losses' own deltas may take. */
static double put_aside(const tacit_lifetime_terms *terms)
{
    if (terms->filter == TACIT_FILTER_SUM)
        return terms->delta;
    return terms->delta * (terms->aside > 0 ? terms->aside : TACIT_LIFETIME_ASIDE);
}

static double least_of(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : fmin(a, b);
}

static tacit_status ask(const tacit_lifetime_terms *terms, const amount *a, double *epsilon,
                        tacit_error *err)
{
    const double pure = sum_pure(a), rest = (terms->delta - put_aside(terms)) / UP;
    const tacit_filter filter = terms->filter;
    const double half = filter == TACIT_FILTER_ANY ? rest / 2 : rest;
    double found = NAN;
    tacit_status status = TACIT_OK;
    if (filter == TACIT_FILTER_ZCDP)
        found = by_zcdp(a, rest);
    if (filter == TACIT_FILTER_GDP || filter == TACIT_FILTER_ANY)
        status = by_gdp(a, half, &found, err);
    if (filter == TACIT_FILTER_RDP || filter == TACIT_FILTER_ANY)
        found = least_of(found, by_rdp(a, terms->epsilon, half));
    *epsilon = isinf(pure) ? found : least_of(found, pure);
    if (!(a->failure <= put_aside(terms)))
        *epsilon = INFINITY;
    return status;
}

tacit_status tacit_filter_epsilon(const tacit_lifetime_terms *terms, const tacit_loss *loss,
                                  size_t count, double *epsilon, tacit_error *err)
{
    tacit_loss *list = NULL;
    amount a = {0};
    bool bare;
    *epsilon = NAN;
    tacit_status status = lifetime_check_terms(terms, err);
    if (!status)
        status = tacit_losses_gather(&list, &a.count, &bare, loss, count, err);
    if (!status && bare) {
        *epsilon = INFINITY;
    } else if (!status) {
        a.loss = list;
        a.failure = sum_failure(list, a.count);
        status = ask(terms, &a, epsilon, err);
    }
    free(list);
    return status;
}

/* ---- plans and what became of them ---- */

/* What is not known of a plan (NAN) was no reason to allow it. */
static bool no_more(double actual, double planned)
{
    return !(planned < INFINITY) || actual <= planned * (1 + 1e-12);
}

tacit_status lifetime_filter_covers(const tacit_lifetime_terms *terms, const lifetime_losses *plan,
                                    const lifetime_losses *actual, bool *covers, tacit_error *err)
{
    const amount p = {plan->loss, plan->count, sum_failure(plan->loss, plan->count)};
    const amount a = {actual->loss, actual->count, sum_failure(actual->loss, actual->count)};
    const double rest = (terms->delta - put_aside(terms)) / UP;
    *covers = a.failure <= p.failure && no_more(sum_pure(&a), sum_pure(&p)) &&
              no_more(sum_mu2(&a), sum_mu2(&p)) &&
              no_more(tacit_losses_rho(a.loss, a.count), tacit_losses_rho(p.loss, p.count));
    if (!(rest > 0) || !*covers)
        return TACIT_OK;
    const double share = terms->filter == TACIT_FILTER_ANY ? rest / 2 / ORDERS : rest / ORDERS;
    const int best = best_order(terms->epsilon, share);
    for (int k = 0; k < ORDERS && *covers; k++) {
        const double alpha = 1 + ldexp(1, best + LOWEST + k);
        *covers = no_more(tacit_losses_renyi(a.loss, a.count, alpha),
                          tacit_losses_renyi(p.loss, p.count, alpha));
    }
    (void)err;
    return TACIT_OK;
}
