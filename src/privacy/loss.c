/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One loss: what is refused, and what is known of it in pure terms.
 *
 * Amplification of a pure guarantee by Poisson sampling with rate q:
 *
 *   add-remove  log(1 + q (e^eps - 1)), the best possible (Balle, Barthe, Gaboardi 2018, thm 8).
 *   replace     The sampled data is one of S, S + x, S + x'. Nothing relates S to S + x if only
 *               replacement is known to be eps-DP: outputs that S never gives keep the whole
 *               eps, so a PURE loss is not amplified at all. With additive noise a record adds at
 *               most half the shift, S is h = eps/2 away from either, and the ratio is at most
 *               (1 - q + q e^h) / (1 - q + q e^-h), which is attained.
 */
#include "privacy/loss.h"

#include "math/total.h"

#include <math.h>

#define WHOLE 9007199254740992.0 /* 2^53: all whole numbers below are doubles */

static const char *const kind_names[TACIT_LOSS_KINDS] = {
    [TACIT_LOSS_BARE] = "bare",
    [TACIT_LOSS_PURE] = "pure",
    [TACIT_LOSS_APPROXIMATE] = "approximate",
    [TACIT_LOSS_ZCDP] = "zcdp",
    [TACIT_LOSS_GAUSSIAN] = "gaussian",
    [TACIT_LOSS_LAPLACE] = "laplace",
    [TACIT_LOSS_DISCRETE_GAUSSIAN] = "discrete gaussian",
    [TACIT_LOSS_DISCRETE_LAPLACE] = "discrete laplace",
    [TACIT_LOSS_RESPONSE] = "response",
};

static bool on_grid(tacit_loss_kind kind)
{
    return kind == TACIT_LOSS_DISCRETE_GAUSSIAN || kind == TACIT_LOSS_DISCRETE_LAPLACE;
}

static bool noisy(tacit_loss_kind kind)
{
    return kind == TACIT_LOSS_GAUSSIAN || kind == TACIT_LOSS_LAPLACE || on_grid(kind);
}

static tacit_status check_noise(const tacit_loss *loss, const char *name, tacit_error *err)
{
    if (!(loss->noise > 0 && isfinite(loss->noise)))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"noise\" of a %s loss is %g; it must be a finite number above 0", name,
                          loss->noise);
    if (!(loss->shift >= 0 && isfinite(loss->shift)))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"shift\" of a %s loss is %g; it must be a finite number, 0 or more",
                          name, loss->shift);
    if (on_grid(loss->kind) && !(loss->shift == floor(loss->shift) && loss->shift < WHOLE))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"shift\" of a %s loss is %.17g; it must be a whole number of grid "
                          "steps below 2^53",
                          name, loss->shift);
    return TACIT_OK;
}

tacit_status tacit_loss_check(const tacit_loss *loss, tacit_error *err)
{
    if ((unsigned)loss->kind >= TACIT_LOSS_KINDS)
        return tacit_fail(err, TACIT_EINPUT, "loss of unknown kind \"%d\"; take one of account.h",
                          (int)loss->kind);
    const char *name = kind_names[loss->kind];
    if (loss->adjacency != TACIT_REPLACE && loss->adjacency != TACIT_ADD_REMOVE)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"adjacency\" of a %s loss is %d; it must be replace or add-remove",
                          name, (int)loss->adjacency);
    if (!(loss->sampling > 0 && loss->sampling <= 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"sampling\" of a %s loss is %g; it must be above 0 and at most 1", name,
                          loss->sampling);
    if (!(loss->delta >= 0 && loss->delta <= 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"delta\" of a %s loss is %g; it must be between 0 and 1", name,
                          loss->delta);
    if (loss->count > (uint64_t)WHOLE)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"count\" of a %s loss is %llu; at most 2^53 releases are accounted for",
                          name, (unsigned long long)loss->count);
    if (noisy(loss->kind))
        return check_noise(loss, name, err);
    if (loss->kind != TACIT_LOSS_BARE && !(loss->epsilon >= 0 && isfinite(loss->epsilon)))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"epsilon\" of a %s loss is %g; it must be a finite number, 0 or more",
                          name, loss->epsilon);
    if (loss->kind == TACIT_LOSS_RESPONSE && loss->categories < 2)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"categories\" of a response loss is %u; there must be 2 or more",
                          loss->categories);
    return TACIT_OK;
}

double tacit_loss_half_shift(const tacit_loss *loss)
{
    return on_grid(loss->kind) ? ceil(loss->shift / 2) : loss->shift / 2;
}

/* log(1 + q (e^eps - 1)), also where e^eps overflows. */
static double amplified(double q, double eps)
{
    if (q == 1)
        return eps;
    const double up = 1 + 1e-15; /* what the functions below may round off */
    return up * (eps > 700 ? eps + log(q + (1 - q) * exp(-eps)) : log1p(q * expm1(eps)));
}

static double two_sided(double q, double half)
{
    return amplified(q, half) - log1p(q * expm1(-half));
}

double tacit_loss_pure(const tacit_loss *loss)
{
    const double q = loss->sampling;
    switch (loss->kind) {
    case TACIT_LOSS_PURE:
    case TACIT_LOSS_APPROXIMATE:
    case TACIT_LOSS_RESPONSE:
        return loss->adjacency == TACIT_REPLACE ? loss->epsilon : amplified(q, loss->epsilon);
    case TACIT_LOSS_LAPLACE:
    case TACIT_LOSS_DISCRETE_LAPLACE:
        if (q < 1 && loss->adjacency == TACIT_REPLACE)
            return fmin(loss->shift / loss->noise,
                        two_sided(q, tacit_loss_half_shift(loss) / loss->noise));
        return amplified(q, loss->shift / loss->noise);
    case TACIT_LOSS_GAUSSIAN:
    case TACIT_LOSS_DISCRETE_GAUSSIAN:
        return loss->shift > 0 ? INFINITY : 0;
    default:
        return NAN;
    }
}

double tacit_loss_failure(const tacit_loss *loss)
{
    /* Sampling lowers the delta of an approximate guarantee too (the same theorem). What other
     * kinds carry is the distance of a real sampler from an ideal one, which it does not. */
    const bool lowered =
        loss->kind == TACIT_LOSS_APPROXIMATE && loss->adjacency == TACIT_ADD_REMOVE;
    return lowered ? loss->delta * loss->sampling : loss->delta;
}

double tacit_losses_failure(const tacit_loss *loss, size_t count)
{
    tacit_total total = {0};
    for (size_t k = 0; k < count; k++)
        tacit_total_add(&total, (double)loss[k].count, tacit_loss_failure(&loss[k]));
    return tacit_total_up(&total);
}
