/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What thesis 001 says about the noise of a private sum: Theorem 4.1, conditions (4.2) and (4.3),
 * and Corollary 4.1, which solves them for the noise.
 *
 * theta is a bound on mu^2 that holds for all but a part delta of random k-out graphs: the sum's
 * own part 1 / (n_H own^2), and what a spanning tree with many branches lets through. (4.2) and
 * (4.3) turn it into (epsilon, delta) by a tail bound. gopa_exact.c needs neither.
 *
 * The corollary's result is (epsilon, delta) with delta = 3.75 (inner / 1.25)^(kappa/(kappa+1)), so
 * the theorem is used with delta / 3 in its conditions: that gives the k = 105 of Table 4.1. The
 * table's second column follows from no reading of the formulas that we found (slip S19).
 */
#include <math.h>

#include "tacit/gopa.h"

#define LEAST_HONEST 81
#define LARGEST_COUNT 9007199254740992.0 /* 2^53 */

uint64_t tacit_gopa_theorem_partners(double users, double rho, double delta)
{
    const double honest = rho * users;
    if (!(users <= LARGEST_COUNT && rho > 0 && rho <= 1 && delta > 0 && delta < 1) ||
        honest < LEAST_HONEST)
        return 0;
    double most = 4 * log(2 * honest / (3 * delta));
    most = fmax(most, 6 * log(honest / 3));
    most = fmax(most, 1.5 + 2.25 * log(2 * exp(1) / delta));
    const double k = ceil(most / rho);
    return k <= users ? (uint64_t)k : 0; /* the theorem asks for k <= n */
}

/* What stands in brackets behind 1 / pair^2. */
static double spread(double honest, double rho, double partners)
{
    const double branches = floor((partners - 1) * rho / 3) - 1;
    return branches > 0 ? 1 / branches + (12 + 6 * log(honest)) / honest : INFINITY;
}

double tacit_gopa_theorem_theta(double users, double rho, uint64_t partners, double own,
                                double pair)
{
    const double honest = rho * users;
    if (!(honest >= 1 && own > 0 && pair > 0))
        return INFINITY;
    const double bracket = spread(honest, rho, (double)partners);
    if (isinf(bracket))
        return INFINITY;
    return 1 / (honest * own * own) + bracket / (pair * pair);
}

bool tacit_gopa_theorem_holds(double theta, double epsilon, double delta)
{
    if (!(theta >= 0 && epsilon >= theta / 2 + sqrt(theta)))
        return false;
    const double room = epsilon - theta / 2;
    return room * room >= 2 * log(2 / (delta * sqrt(2 * acos(-1)))) * theta;
}

/* kappa / (kappa + 1) = q from delta = 3.75 (inner / 1.25)^q. */
static tacit_status find_kappa(double *kappa, double inner, double delta, tacit_error *err)
{
    const double q = log(delta / 3.75) / log(inner / 1.25);
    if (!(q < 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "delta is \"%g\"; expected more than three times the inner delta \"%g\", "
                          "which is what the sum alone costs",
                          delta, inner);
    *kappa = q / (1 - q);
    return TACIT_OK;
}

tacit_status tacit_gopa_corollary_plan(tacit_gopa_corollary *out, double users, double rho,
                                       double epsilon, double inner, double delta, tacit_error *err)
{
    *out = (tacit_gopa_corollary){0};
    if (!(rho > 0 && rho <= 1))
        return tacit_fail(err, TACIT_EINPUT, "rho is \"%g\"; expected above 0 and at most 1", rho);
    if (!(epsilon > 0 && epsilon < 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "epsilon is \"%g\"; the corollary holds between 0 and 1 only", epsilon);
    if (!(inner > 0 && inner < 1) || !(delta > 0 && delta < 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "delta is \"%g\" and the inner one \"%g\"; expected both between 0 and 1",
                          delta, inner);
    const uint64_t k = tacit_gopa_theorem_partners(users, rho, delta / 3);
    if (k == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "the theorem says nothing about \"%g\" users with a part of \"%g\" "
                          "honest: it needs %d honest ones and k <= n; use the exact numbers",
                          users, rho, LEAST_HONEST);
    tacit_gopa_corollary plan = {.partners = k};
    tacit_status status = find_kappa(&plan.kappa, inner, delta, err);
    if (status)
        return status;
    const double honest = rho * users;
    plan.own = sqrt(2 * log(1.25 / inner) / honest) / epsilon;
    plan.pair = plan.own * sqrt(plan.kappa * honest * spread(honest, rho, (double)k));
    *out = plan;
    return TACIT_OK;
}
