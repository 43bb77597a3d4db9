/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zero-concentrated DP (Bun, Steinke 2016): the Renyi divergence of every order a is at most
 * a rho, and rho adds up. What is known:
 *
 *   gaussian           shift^2 / (2 noise^2), for all orders an equality
 *   discrete gaussian  the same (Canonne, Kamath, Steinke 2020, theorem 4)
 *   pure epsilon       epsilon^2 / 2 (Bun, Steinke, proposition 1.4)
 *   zcdp               what it says
 *
 * Sampling is not expressible (no straight line dominates a sampled Gaussian usefully), so any
 * sampled loss silences this accountant. One conversion at the end, at the best real order.
 */
#include "math/total.h"
#include "privacy/account.h"
#include "privacy/convert.h"
#include "privacy/loss.h"

#include <math.h>

static double rho_of(const tacit_loss *loss)
{
    if (loss->sampling < 1)
        return NAN;
    switch (loss->kind) {
    case TACIT_LOSS_ZCDP:
        return loss->epsilon;
    case TACIT_LOSS_GAUSSIAN:
    case TACIT_LOSS_DISCRETE_GAUSSIAN: {
        const double ratio = loss->shift / loss->noise;
        return ratio * ratio / 2;
    }
    default: {
        const double pure = tacit_loss_pure(loss);
        return pure * pure / 2;
    }
    }
}

double tacit_losses_rho(const tacit_loss *loss, size_t count)
{
    tacit_total total = {0};
    for (size_t k = 0; k < count; k++) {
        const double rho = rho_of(&loss[k]);
        if (isnan(rho))
            return NAN;
        tacit_total_add(&total, (double)loss[k].count, rho);
    }
    return tacit_total_up(&total);
}

static double line(double alpha, const void *context)
{
    return alpha * *(const double *)context;
}

static tacit_status zcdp_epsilon(const tacit_loss *loss, size_t count, double delta,
                                 double *epsilon, tacit_error *err)
{
    (void)err;
    const double rho = tacit_losses_rho(loss, count),
                 share = delta - tacit_losses_failure(loss, count);
    if (isnan(rho))
        *epsilon = NAN;
    else if (share < 0)
        *epsilon = INFINITY;
    else if (rho == 0)
        *epsilon = 0;
    else
        *epsilon = share > 0 ? tacit_convert_epsilon(line, &rho, share) : INFINITY;
    return TACIT_OK;
}

static tacit_status zcdp_delta(const tacit_loss *loss, size_t count, double epsilon, double *delta,
                               tacit_error *err)
{
    (void)err;
    const double rho = tacit_losses_rho(loss, count), failure = tacit_losses_failure(loss, count);
    if (isnan(rho))
        *delta = NAN;
    else if (rho == 0)
        *delta = fmin(1, failure);
    else
        *delta = fmin(1, failure + tacit_convert_delta(line, &rho, epsilon));
    return TACIT_OK;
}

const tacit_account_ops tacit_account_zcdp = {.epsilon = zcdp_epsilon, .delta = zcdp_delta};
