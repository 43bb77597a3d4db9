/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaussian DP, only where it is exact: Gaussians without sampling compose to one Gaussian with
 * mu^2 = sum shift^2 / noise^2 (Dong, Roth, Su 2019), whose curve is (Balle, Wang 2018, theorem 8)
 *
 *     delta(eps) = Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2).
 *
 * Limit theorems for sampled Gaussians lie below rigorous lower bounds and are not offered.
 *
 * With t = eps/mu, h = mu/2 and Mills' ratio M both terms share the density at t - h, and
 *
 *     delta = phi(t - h) (M(t - h) - M(t + h)),
 *
 * which neither overflows nor underflows in the logarithm. For small h the difference cancels;
 * then it is the Taylor series 2 (h D1 + h^3/6 D3 + ...) with Dk = -M^(k)(t), where M' = t M - 1
 * and M^(k+1) = k M^(k-1) + t M^(k).
 *
 * Every value comes with a bound of its own rounding, and epsilon is the least double whose
 * delta, rounding included, is small enough: never below the truth.
 */
#include "math/special.h"
#include "math/total.h"
#include "privacy/account.h"
#include "privacy/loss.h"

#include <float.h>
#include <math.h>

#define HALF_LOG_TWO_PI 0.918938533204672741780329736406
#define TERMS 13

/* M(t - h) - M(t + h) for t >= 0 and h small against 1. */
static double mills_gap(double t, double h)
{
    double before = tacit_mills(t), now = t * before - 1; /* M and its derivative */
    double power = h, sum = 0;
    for (int k = 1; k <= TERMS; k += 2) {
        sum -= power * now;
        double next = k * before + t * now;
        before = next;
        next = (k + 1) * now + t * before;
        now = next;
        power *= h * h / ((k + 1) * (k + 2));
    }
    return 2 * sum;
}

/* log delta(eps); *slack bounds what rounding may have done to it. */
static double log_delta(double mu, double eps, double *slack)
{
    const double t = eps / mu, h = mu / 2;
    const bool series = h < 0.1 && (t < 2 || h < 1e-3);
    *slack = 8 * DBL_EPSILON * (2 + fabs(t - h) * (t + h));
    if (t < h - 3) { /* delta near 1 */
        const double ratio = tacit_mills(t + h) / tacit_mills(t - h);
        const double value = tacit_log_normal_cdf(h - t) + log1p(-ratio);
        *slack *= -value; /* both parts are small and of one sign */
        return value;
    }
    const double high = tacit_mills(t - h), low = tacit_mills(t + h);
    const double gap = series ? mills_gap(t, h) : high - low;
    /* The series starts from 1 - t M, which loses t^2 digits. */
    *slack += 8 * DBL_EPSILON * (series ? 1 + t * t : high / gap);
    const double d = t - h;
    return -d * d / 2 - HALF_LOG_TWO_PI + log(gap);
}

static bool total_mu(const tacit_loss *loss, size_t count, double *mu)
{
    tacit_total total = {0};
    for (size_t k = 0; k < count; k++) {
        if (loss[k].kind != TACIT_LOSS_GAUSSIAN || loss[k].sampling < 1)
            return false;
        const double ratio = loss[k].shift / loss[k].noise;
        tacit_total_add(&total, (double)loss[k].count * ratio, ratio);
    }
    *mu = sqrt(tacit_total_up(&total));
    return true;
}

static bool small_enough(double mu, double eps, double log_share)
{
    double slack, value = log_delta(mu, eps, &slack);
    return value + slack <= log_share;
}

static double solve(double mu, double share)
{
    const double log_share = log(share);
    if (mu == 0 || small_enough(mu, 0, log_share))
        return 0;
    /* Bun and Steinke 2016: rho + 2 sqrt(rho log(1/delta)) is enough, but for rounding. */
    double low = 0, high = mu * mu / 2 + mu * sqrt(-2 * log_share);
    while (isfinite(high) && !small_enough(mu, high, log_share))
        high *= 2;
    while (isfinite(high)) {
        double middle = low < high / 16 ? high / 16 : low + (high - low) / 2;
        if (!(middle > low && middle < high) || high - low < 2 * DBL_EPSILON * high)
            break;
        if (small_enough(mu, middle, log_share))
            high = middle;
        else
            low = middle;
        if (high < DBL_MIN)
            return DBL_MIN;
    }
    return high;
}

static tacit_status gdp_epsilon(const tacit_loss *loss, size_t count, double delta, double *epsilon,
                                tacit_error *err)
{
    (void)err;
    double mu;
    *epsilon = NAN;
    if (!total_mu(loss, count, &mu))
        return TACIT_OK;
    const double share = delta - tacit_losses_failure(loss, count);
    if (share < 0 || (share == 0 && mu > 0) || !isfinite(mu))
        *epsilon = INFINITY;
    else
        *epsilon = solve(mu, share);
    return TACIT_OK;
}

static tacit_status gdp_delta(const tacit_loss *loss, size_t count, double epsilon, double *delta,
                              tacit_error *err)
{
    (void)err;
    double mu, slack;
    *delta = NAN;
    if (!total_mu(loss, count, &mu))
        return TACIT_OK;
    const double failure = tacit_losses_failure(loss, count);
    *delta = fmin(1, failure);
    if (!isfinite(mu)) {
        *delta = 1;
    } else if (mu > 0) {
        double value = log_delta(mu, epsilon, &slack);
        *delta = fmin(1, failure + exp(value + slack));
    }
    return TACIT_OK;
}

const tacit_account_ops tacit_account_gdp = {.epsilon = gdp_epsilon, .delta = gdp_delta};
