/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kairouz, Oh, Viswanath 2015, theorem 3.5, for pure losses of different size. With
 *
 *     A = sum eps (e^eps - 1) / (e^eps + 1),    B = sum eps^2
 *
 * and the share s of delta that is left, epsilon is the least of
 *
 *     sum eps,   A + sqrt(2 B log(e + sqrt(B) / s)),   A + sqrt(2 B log(1 / s)).
 *
 * A print of the second one with sqrt(B / s) is in circulation; it is up to a third too small and
 * false from delta = 1e-3 downwards (tests/unit/account_test.c). Each release may also fail
 * entirely with its own delta_t; then 1 - delta = (1 - s) prod (1 - delta_t).
 */
#include "math/total.h"
#include "privacy/account.h"
#include "privacy/loss.h"

#include <math.h>

#define E 2.718281828459045235360287471353
#define UP (1 + 1e-14) /* covers the rounding of the few operations below */

typedef struct parts {
    double sum, a, b;
    double fail; /* log prod (1 - delta_t) */
} parts;

static bool add_up(parts *p, const tacit_loss *loss, size_t count)
{
    tacit_total sum = {0}, a = {0}, b = {0}, fail = {0};
    for (size_t k = 0; k < count; k++) {
        const double n = (double)loss[k].count, pure = tacit_loss_pure(&loss[k]);
        if (!isfinite(pure))
            return false;
        tacit_total_add(&sum, n, pure);
        tacit_total_add(&a, n, pure * tanh(pure / 2));
        tacit_total_add(&b, n, pure * pure);
        tacit_total_add(&fail, n, -log1p(-tacit_loss_failure(&loss[k])));
    }
    *p = (parts){.sum = tacit_total_up(&sum),
                 .a = tacit_total_up(&a),
                 .b = tacit_total_up(&b),
                 .fail = -tacit_total_up(&fail)};
    return true;
}

static tacit_status kov_epsilon(const tacit_loss *loss, size_t count, double delta, double *epsilon,
                                tacit_error *err)
{
    (void)err;
    parts p;
    *epsilon = NAN;
    if (!add_up(&p, loss, count))
        return TACIT_OK;
    /* 1 - s = (1 - delta) / prod (1 - delta_t) */
    const double share = p.fail < 0 ? -expm1(log1p(-delta) - p.fail) : delta;
    *epsilon = share < 0 ? INFINITY : p.sum;
    if (!(share > 0))
        return TACIT_OK;
    const double second = p.a + sqrt(2 * p.b * log(E + sqrt(p.b) / share));
    const double third = p.a + sqrt(2 * p.b * log(1 / share));
    *epsilon = fmin(p.sum, UP * fmin(second, third));
    return TACIT_OK;
}

static tacit_status kov_delta(const tacit_loss *loss, size_t count, double epsilon, double *delta,
                              tacit_error *err)
{
    (void)err;
    parts p;
    *delta = NAN;
    if (!add_up(&p, loss, count))
        return TACIT_OK;
    double share = 1;
    if (p.sum <= epsilon) {
        share = 0;
    } else if (epsilon > UP * p.a) {
        const double room = epsilon / UP - p.a, s = room * room / (2 * p.b);
        share = fmin(1, UP * exp(-s));
        if (s > 1)
            share = fmin(share, UP * sqrt(p.b) / (exp(s) - E));
    }
    *delta = share < 1 ? fmin(1, share - expm1(p.fail) * (1 - share)) : 1;
    return TACIT_OK;
}

const tacit_account_ops tacit_account_kov = {.epsilon = kov_epsilon, .delta = kov_delta};
