/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Basic composition: epsilons add up, deltas add up (Dwork, Kenthapadi et al. 2006, theorem 1).
 * Losses that are not pure up to a stated delta are none of its business.
 */
#include "math/total.h"
#include "privacy/account.h"
#include "privacy/loss.h"

#include <math.h>

/* NAN when anything is not pure. */
static double total_epsilon(const tacit_loss *loss, size_t count)
{
    tacit_total total = {0};
    for (size_t k = 0; k < count; k++) {
        double pure = tacit_loss_pure(&loss[k]);
        if (!isfinite(pure))
            return NAN;
        tacit_total_add(&total, (double)loss[k].count, pure);
    }
    return tacit_total_up(&total);
}

static tacit_status sum_epsilon(const tacit_loss *loss, size_t count, double delta, double *epsilon,
                                tacit_error *err)
{
    (void)err;
    *epsilon = total_epsilon(loss, count);
    if (!isnan(*epsilon) && tacit_losses_failure(loss, count) > delta)
        *epsilon = INFINITY;
    return TACIT_OK;
}

static tacit_status sum_delta(const tacit_loss *loss, size_t count, double epsilon, double *delta,
                              tacit_error *err)
{
    (void)err;
    const double total = total_epsilon(loss, count);
    *delta = total <= epsilon ? fmin(tacit_losses_failure(loss, count), 1) : 1;
    if (isnan(total))
        *delta = NAN;
    return TACIT_OK;
}

const tacit_account_ops tacit_account_sum = {.epsilon = sum_epsilon, .delta = sum_delta};
