/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sum costs whose noise came in shares, when shares are missing or known to the adversary.
 *
 * tacit_conceal gives each of `parts` members sigma / sqrt(parts) or a little more. A share that
 * its owner tells the adversary, or that never came, is as good as none: what protects the others
 * is the sum of the honest shares that are in, a discrete Gaussian of parameter sigma^2 honest /
 * parts, up to tacit_noise_sum_tau. Shares of 64 steps or more are the only ones that are made; tau
 * is below 1e-17000 for them and any number of members, and is covered by what tacit_cost_loss adds
 * to delta for each coordinate (plan.c).
 *
 * Noise is rounded down to what a cost can say: 1/1024 of a step, or a step where there are many.
 */
#include <math.h>

#include "privacy/costs.h"
#include "privacy/release.h"

#define FINE_BELOW 0x1p18
#define FINE 1024.0

static tacit_status check(const tacit_cost *cost, uint32_t parts, tacit_error *err)
{
    if (parts == 0)
        return tacit_fail(err, TACIT_EUSAGE, "a sum of no members has no noise");
    if (cost->mechanism != TACIT_MECHANISM_GAUSSIAN || cost->claimed)
        return tacit_fail(err, TACIT_EUSAGE,
                          "the noise of \"%s\" does not come in shares: that takes "
                          "\"privacy.mechanism: gaussian\" and a bound that was paid for",
                          cost->what);
    const double share = ldexp(cost->noise, -cost->grid) / sqrt(parts);
    if (!(share >= TACIT_SHARE_LEAST * (1 - 0x1p-40)))
        return tacit_fail(err, TACIT_EINPUT,
                          "shares of %.3g steps of the noise of \"%s\" are too coarse to add up; "
                          "take a finer grid, or fewer parts",
                          share, cost->what);
    return TACIT_OK;
}

tacit_status tacit_cost_of_shares(tacit_cost *out, const tacit_cost *cost, uint32_t parts,
                                  uint32_t honest, tacit_error *err)
{
    const tacit_status status = check(cost, parts, err);
    if (status != TACIT_OK)
        return status;
    *out = *cost;
    const double most = 0x1p31; /* more noise than a cost can say is accounted for as this much */
    const double all = ldexp(cost->noise, -cost->grid) * sqrt((double)honest / parts);
    const double steps = fmin(all * (1 - 0x1p-50), most);
    out->noise = ldexp(steps < FINE_BELOW ? floor(steps * FINE) / FINE : floor(steps), cost->grid);
    if (honest == parts)
        out->noise = cost->noise;
    if (honest == 0) {
        out->mechanism = TACIT_MECHANISM_NONE;
        out->noise = 0;
    }
    return tacit_cost_check(out, err);
}
