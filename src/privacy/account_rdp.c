/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renyi DP (Mironov 2017): divergences of one order add up, and the best real order is chosen in
 * the end (convert.c). What one release costs, and how well that is known:
 *
 *   gaussian           exact; sampled: exact for both adjacencies (rdp_sampled.c)
 *   discrete gaussian  at most that of the Gaussian (Canonne, Kamath, Steinke 2020, proposition 5);
 *                      sampled: exact
 *   laplace, discrete  exact; sampled: exact for add-remove (rdp_pure.c)
 *   response           exact for replace. Under add-remove nothing is said of an absent record's
 *                      report, so the worst epsilon-DP pair stands for it, as for `pure`: binary
 *                      randomized response, of which every such pair is a function
 *   zcdp               order times rho
 *
 * Wherever no exact form is known under sampling, joint convexity is used: with (1-q) R + q P
 * against (1-q) R + q Q the moment is at most 1 - q + q times that of P against Q, whatever R.
 *
 * Order infinity belongs to it: pure losses add up.
 */
#include "math/special.h"
#include "math/total.h"
#include "privacy/account.h"
#include "privacy/convert.h"
#include "privacy/loss.h"
#include "privacy/renyi.h"

#include <math.h>

#define MOST_TERMS 4096 /* of the binomial sum */
#define UP (1 + 1e-12)  /* what quadrature and rounding may be short of */

/* Joint convexity, from the divergence without sampling. */
static double convex(double q, double whole, double alpha)
{
    if (q == 1 || whole == 0 || isinf(whole))
        return whole;
    return tacit_renyi_of(log(q) + tacit_log_sub((alpha - 1) * whole, 0), alpha);
}

/* Between whole orders (alpha - 1) D is convex, so a chord is above it. */
static double chord(double q, double s, double alpha)
{
    const double low = floor(alpha), part = alpha - low;
    const double below = low > 1 ? (low - 1) * tacit_renyi_binomial(q, s, low) : 0;
    const double above = low * tacit_renyi_binomial(q, s, low + 1);
    return ((1 - part) * below + part * above) / (alpha - 1);
}

static double gaussian(const tacit_loss *loss, double alpha)
{
    const double q = loss->sampling, s = loss->shift / loss->noise;
    if (s == 0)
        return 0;
    const double whole = alpha * s * s / 2;
    if (q == 1)
        return whole;
    const bool replace = loss->adjacency == TACIT_REPLACE;
    const bool grid = loss->kind == TACIT_LOSS_DISCRETE_GAUSSIAN;
    if (!replace && alpha == floor(alpha) && alpha <= MOST_TERMS)
        return tacit_renyi_binomial(q, s, alpha);
    const tacit_renyi_pair pair = {.q = q,
                                   .shift = replace ? tacit_loss_half_shift(loss) / loss->noise : s,
                                   .step = grid ? 1 / loss->noise : 0,
                                   .replace = replace};
    const double exact = tacit_renyi_quadrature(&pair, alpha);
    if (isfinite(exact))
        return exact;
    const double bound = convex(q, whole, alpha);
    return replace || alpha > MOST_TERMS ? bound : fmin(bound, chord(q, s, alpha));
}

static double laplace(const tacit_loss *loss, double alpha)
{
    const double q = loss->sampling, s = loss->shift / loss->noise;
    const double steps = loss->kind == TACIT_LOSS_DISCRETE_LAPLACE ? loss->shift : 0;
    if (loss->adjacency == TACIT_ADD_REMOVE || q == 1)
        return tacit_renyi_laplace(q, s, steps, alpha);
    const double two_sided = tacit_renyi_response(1, tacit_loss_pure(loss), 2, alpha);
    return fmin(two_sided, convex(q, tacit_renyi_laplace(1, s, steps, alpha), alpha));
}

static double pure(const tacit_loss *loss, double alpha)
{
    const double q = loss->sampling, s = loss->epsilon;
    if (s == 0)
        return 0;
    if (loss->adjacency == TACIT_ADD_REMOVE)
        return tacit_renyi_response(q, s, 2, alpha);
    const double categories = loss->kind == TACIT_LOSS_RESPONSE ? loss->categories : 2;
    return convex(q, tacit_renyi_response(1, s, categories, alpha), alpha);
}

/* Squares that overflow would end as differences of infinities. */
static bool beyond_numbers(const tacit_loss *loss)
{
    const double ratio = loss->shift / loss->noise;
    const bool gaussian_kind =
        loss->kind == TACIT_LOSS_GAUSSIAN || loss->kind == TACIT_LOSS_DISCRETE_GAUSSIAN;
    return gaussian_kind && loss->shift > 0 && !(ratio < 1e100);
}

double tacit_loss_renyi(const tacit_loss *loss, double alpha)
{
    if (!(alpha > 1))
        return NAN;
    if (beyond_numbers(loss))
        return INFINITY;
    if (loss->kind == TACIT_LOSS_BARE)
        return INFINITY;
    if (isinf(alpha))
        return loss->kind == TACIT_LOSS_ZCDP ? (loss->epsilon > 0 ? INFINITY : 0)
                                             : tacit_loss_pure(loss);
    switch (loss->kind) {
    case TACIT_LOSS_GAUSSIAN:
    case TACIT_LOSS_DISCRETE_GAUSSIAN:
        return gaussian(loss, alpha);
    case TACIT_LOSS_LAPLACE:
    case TACIT_LOSS_DISCRETE_LAPLACE:
        return laplace(loss, alpha);
    case TACIT_LOSS_PURE:
    case TACIT_LOSS_APPROXIMATE:
    case TACIT_LOSS_RESPONSE:
        return pure(loss, alpha);
    case TACIT_LOSS_ZCDP:
        return convex(loss->sampling, alpha * loss->epsilon, alpha);
    default:
        return NAN;
    }
}

typedef struct list {
    const tacit_loss *loss;
    size_t count;
} list;

double tacit_losses_renyi(const tacit_loss *loss, size_t count, double alpha)
{
    tacit_total sum = {0};
    for (size_t k = 0; k < count; k++)
        tacit_total_add(&sum, (double)loss[k].count, tacit_loss_renyi(&loss[k], alpha));
    const double renyi = tacit_total_up(&sum);
    return isinf(alpha) ? renyi : UP * renyi;
}

static double total(double alpha, const void *context)
{
    const list *all = context;
    return tacit_losses_renyi(all->loss, all->count, alpha);
}

static tacit_status rdp_epsilon(const tacit_loss *loss, size_t count, double delta, double *epsilon,
                                tacit_error *err)
{
    (void)err;
    const list all = {loss, count};
    const double share = delta - tacit_losses_failure(loss, count);
    *epsilon = INFINITY;
    if (share < 0)
        return TACIT_OK;
    *epsilon = total(INFINITY, &all);
    if (share > 0 && *epsilon > 0)
        *epsilon = fmin(*epsilon, tacit_convert_epsilon(total, &all, share));
    return TACIT_OK;
}

static tacit_status rdp_delta(const tacit_loss *loss, size_t count, double epsilon, double *delta,
                              tacit_error *err)
{
    (void)err;
    const list all = {loss, count};
    const double failure = tacit_losses_failure(loss, count);
    if (total(INFINITY, &all) <= epsilon)
        *delta = fmin(1, failure);
    else
        *delta = fmin(1, failure + tacit_convert_delta(total, &all, epsilon));
    return TACIT_OK;
}

const tacit_account_ops tacit_account_rdp = {.epsilon = rdp_epsilon, .delta = rdp_delta};
