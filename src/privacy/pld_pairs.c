/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From losses to pairs of distributions that dominate them.
 *
 *   noise        P = (1 - q) N(0) + q N(shift), Q = N(0) when a record is removed; the two
 *                exchanged when it is added (Zhu, Dong, Wang 2022, theorem 11); replaced:
 *                (1 - q) N(0) + q N(+-shift/2), which is its own mirror image. Without sampling
 *                all three are N(shift) against N(0).
 *   pure         randomized response, which dominates everything eps-DP (Kairouz, Oh,
 *                Viswanath 2015). With sampling under add-remove as above. Under replace nothing
 *                is known of the output without the record; by convexity the worst is an output
 *                that tells nothing with probability 1 - q, and all else with probability q.
 *   response     three losses, eps, 0, -eps, whatever the number of categories
 *   approximate  as pure; its delta is counted elsewhere
 *
 * Gaussians without sampling have Gaussian losses, so that any number of them is one.
 */
#include "privacy/loss.h"
#include "privacy/pld.h"

#include <math.h>

#define MOST_RATIO 2000.0 /* shift over noise: beyond, nobody will miss the digits */
/* Noise of so many steps is continuous to the last digit of a double, and steps of 1 are lost on
 * doubles of its size. */
#define WIDE_GAUSSIAN 0x1p40
#define WIDE_LAPLACE 0x1p44
#define HALF_LOG_TWO_PI 0.918938533204672741780329736406

/* log of sum over all integers of exp(-k^2 / (2 s^2)). Poisson summation makes it a Gaussian
 * integral for wide noise; the first image is below 1e-17 from s = 1.5 on. */
static double log_theta(double s)
{
    if (s >= 1.5)
        return log(s) + HALF_LOG_TWO_PI;
    double sum = 0;
    for (int k = 1; k <= 20; k++)
        sum += exp(-0.5 * k * k / (s * s));
    return log1p(2 * sum);
}

static double log_norm_of(const pld_pair *pair)
{
    if (pair->family == PLD_GAUSSIAN)
        return pair->lattice ? log_theta(pair->noise) : log(pair->noise) + HALF_LOG_TWO_PI;
    if (!pair->lattice)
        return log(2 * pair->noise);
    return log((1 + exp(-1 / pair->noise)) / -expm1(-1 / pair->noise));
}

/* Two or three outcomes: chances under Q at log ratios -e, 0, e, then sampled. */
static void points_of(pld_pair *pair, double e, double categories)
{
    const double q = pair->rate, small = exp(-e), all = 1 + (categories - 1) * small;
    const double chance[3] = {1 / all, (categories - 2) * small / all, small / all};
    const double mirror[3] = {chance[2], chance[1], chance[0]};
    pair->family = PLD_POINTS;
    pair->points = 0;
    for (int k = 0; k < 3; k++) {
        const double t = (k - 1) * e;
        pld_point point;
        if (pair->way == PLD_REPLACE)
            point = (pld_point){q * mirror[k] + (k == 1 ? 1 - q : 0), t};
        else if (pair->way == PLD_REMOVE)
            point = (pld_point){(1 - q) * chance[k] + q * mirror[k], pld_mix(q, t)};
        else
            point = (pld_point){mirror[k], -pld_mix(q, -t)};
        if (point.mass > 0)
            pair->point[pair->points++] = point;
    }
    pair->step = pair->way == PLD_REPLACE || q == 1 ? e : 0;
    pair->anchor = pair->point[pair->points - 1].loss;
}

static bool noise_of(pld_pair *pair, const tacit_loss *loss, bool optimistic)
{
    pair->family = loss->kind == TACIT_LOSS_GAUSSIAN || loss->kind == TACIT_LOSS_DISCRETE_GAUSSIAN
                       ? PLD_GAUSSIAN
                       : PLD_LAPLACE;
    pair->lattice =
        loss->kind == TACIT_LOSS_DISCRETE_GAUSSIAN || loss->kind == TACIT_LOSS_DISCRETE_LAPLACE;
    pair->noise = loss->noise;
    pair->shift = pair->way == PLD_REPLACE ? tacit_loss_half_shift(loss) : loss->shift;
    if (pair->way == PLD_REPLACE && pair->lattice && optimistic)
        pair->shift = floor(loss->shift / 2);
    if (pair->shift == 0)
        return false;
    if (loss->noise > (pair->family == PLD_GAUSSIAN ? WIDE_GAUSSIAN : WIDE_LAPLACE))
        pair->lattice = false;
    const double ratio = loss->shift / loss->noise;
    if (ratio > MOST_RATIO) {
        if (optimistic || pair->family == PLD_GAUSSIAN)
            return false;
        points_of(pair, ratio, 2);
        return true;
    }
    if (pair->lattice && pair->rate == 1)
        pair->step = pair->family == PLD_GAUSSIAN ? ratio / loss->noise / 2 : 1 / loss->noise;
    pair->log_norm = log_norm_of(pair);
    if (pair->family == PLD_LAPLACE) {
        pld_shape shape;
        pld_shape_of(&shape, pair, 0);
        pair->anchor = shape.top.loss;
    }
    return isfinite(pair->log_norm) && isfinite(1 / (loss->noise * loss->noise));
}

static bool pair_of(pld_pair *pair, const tacit_loss *loss, bool add, bool optimistic)
{
    *pair = (pld_pair){.rate = loss->sampling, .count = loss->count, .times = (double)loss->count};
    if (loss->adjacency == TACIT_REPLACE && loss->sampling < 1)
        pair->way = PLD_REPLACE;
    else
        pair->way = add && loss->sampling < 1 ? PLD_ADD : PLD_REMOVE;
    switch (loss->kind) {
    case TACIT_LOSS_PURE:
    case TACIT_LOSS_APPROXIMATE:
        points_of(pair, loss->epsilon, 2);
        return true;
    case TACIT_LOSS_RESPONSE:
        points_of(pair, loss->epsilon, loss->categories);
        return true;
    default:
        return noise_of(pair, loss, optimistic);
    }
}

static bool silent(const tacit_loss *loss)
{
    if (loss->kind == TACIT_LOSS_PURE || loss->kind == TACIT_LOSS_APPROXIMATE ||
        loss->kind == TACIT_LOSS_RESPONSE)
        return loss->epsilon == 0;
    return loss->shift == 0;
}

size_t pld_pairs(pld_pair *room, const tacit_loss *loss, size_t count, bool add, bool optimistic,
                 bool *complete)
{
    size_t size = 0;
    double squares = 0;
    *complete = true;
    for (size_t k = 0; k < count; k++) {
        if (silent(&loss[k]))
            continue;
        if (loss[k].kind == TACIT_LOSS_GAUSSIAN && loss[k].sampling == 1) {
            const double ratio = loss[k].shift / loss[k].noise;
            squares += (double)loss[k].count * ratio * ratio;
            continue;
        }
        if (pair_of(&room[size], &loss[k], add, optimistic))
            size++;
        else
            *complete = false;
    }
    if (squares > 0) {
        const tacit_loss all = {.kind = TACIT_LOSS_GAUSSIAN,
                                .noise = 1,
                                .shift = sqrt(squares),
                                .sampling = 1,
                                .count = 1};
        if (pair_of(&room[size], &all, add, optimistic))
            size++;
        else
            *complete = false;
    }
    return size;
}
