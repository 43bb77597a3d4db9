/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From wishes to a cost: which grid, how much noise, and what an accountant is told.
 *
 * The grid is the power of two that puts the clip radius C between 2^23 and 2^24 steps (a float's
 * worth of precision, and products that fit machine words), coarser if the noise would exceed
 * 2^30 steps. C is rounded down to the grid and noise is rounded up, so both only gain privacy.
 *
 * Vectors and the discrete Gaussian. Let tau = 2 steps and sigma the noise in steps. Draw X from
 * the continuous N(mu, sigma^2 - tau^2), mu a grid point, then Z from the discrete Gaussian of
 * parameter tau centred at X. By Poisson summation the normaliser of the second step is
 * tau sqrt(2 pi) (1 +- 2.1 exp(-2 pi^2 tau^2)) wherever X lies, so Z has the law of our noise,
 * mu plus a discrete Gaussian of parameter sigma, up to a factor 1 +- 1.1e-34 at every point and
 * coordinate. Z is a function of X and of chance alone: what holds for the continuous Gaussian of
 * variance sigma^2 - tau^2, composed and sampled as one likes, holds for what we release, with
 * 1e-33 a coordinate added to delta for the factors. (sigma = 2^20 steps: 2e-12 is lost.) This
 * needs sigma > tau; a scalar with less noise is accounted for by its exact law.
 *
 * Vectors and the discrete Laplace. For integer shifts s1 + s2 = s the pair of two coordinates
 * shifted by s1 and s2 is dominated by one coordinate shifted by s (docs/release.md), so a vector
 * is accounted for as a scalar with its l1 sensitivity.
 */
#include <math.h>
#include <stdio.h>

#include "privacy/costs.h"
#include "privacy/release.h"
#include "tacit/account.h"

#define RADIUS_LOG2 23
#define CLAIMED_LOG2 14 /* times TACIT_CLAIM_ROOM is as much */
#define NOISE_MOST 0x1p30
#define LIMIT_LEAST 256
#define TAU2 4.0
#define VECTOR_NOISE_LEAST 64
#define EXACT_BELOW 4096 /* a scalar's noise, in steps, whose exact law is used */
#define FINE_BELOW 0x1p18
#define FINE 1024.0 /* parts of a step, for small noise */

void tacit_cost_loss(const tacit_cost *cost, uint64_t releases, tacit_loss *loss)
{
    const double step = ldexp(1, cost->grid), noise = cost->noise / step;
    *loss = (tacit_loss){
        .adjacency = cost->adjacency,
        .noise = noise,
        .shift = cost->sensitivity / step,
        .sampling = cost->sampling > 0 && cost->sampling < 1 ? cost->sampling : 1,
        .count = releases,
    };
    switch (cost->mechanism) {
    case TACIT_MECHANISM_LAPLACE:
        loss->kind = TACIT_LOSS_DISCRETE_LAPLACE;
        break;
    case TACIT_MECHANISM_GAUSSIAN:
        loss->kind = TACIT_LOSS_DISCRETE_GAUSSIAN;
        if (cost->coordinates == 1 && noise < EXACT_BELOW)
            break;
        loss->kind = TACIT_LOSS_GAUSSIAN;
        loss->noise = sqrt(noise * noise - TAU2);
        loss->delta = 1e-33 * (double)cost->coordinates;
        break;
    case TACIT_MECHANISM_RESPONSE:
        *loss = (tacit_loss){.kind = TACIT_LOSS_RESPONSE,
                             .adjacency = cost->adjacency,
                             .sampling = 1,
                             .epsilon = cost->noise,
                             .categories = cost->categories,
                             .count = releases};
        break;
    default:
        *loss = (tacit_loss){.kind = TACIT_LOSS_BARE, .sampling = 1, .count = releases};
    }
}

/* ---- grid ---- */

static tacit_status check_wishes(const tacit_cost *cost, double radius, double noise,
                                 tacit_error *err)
{
    if (cost->mechanism != TACIT_MECHANISM_LAPLACE && cost->mechanism != TACIT_MECHANISM_GAUSSIAN)
        return tacit_fail(err, TACIT_EUSAGE, "mechanism \"%s\" needs no grid",
                          tacit_mechanism_name(cost->mechanism));
    if (!(radius >= 0x1p-900 && radius <= 0x1p900))
        return tacit_fail(
            err, TACIT_EINPUT,
            "noise can only cover \"%s\" if it is clipped: \"privacy.clip\" must be a "
            "positive number, not %g",
            cost->what, radius);
    if (!(noise > 0) || isinf(noise))
        return tacit_fail(err, TACIT_EINPUT, "the noise of \"%s\" must be positive, not %g",
                          cost->what, noise);
    return TACIT_OK;
}

/* `noise` in steps, up to what can be drawn exactly. */
static double round_up(double noise)
{
    return noise < FINE_BELOW ? ceil(noise * FINE) / FINE : ceil(noise);
}

tacit_status tacit_cost_on_grid(tacit_cost *cost, double radius, double noise, tacit_error *err)
{
    tacit_status status = check_wishes(cost, radius, noise, err);
    if (status != TACIT_OK)
        return status;
    int grid = ilogb(radius) - (cost->claimed ? CLAIMED_LOG2 : RADIUS_LOG2);
    while (noise / ldexp(1, grid) > NOISE_MOST)
        grid++;
    const double step = ldexp(1, grid), limit = floor(radius / step);
    const double steps = round_up(noise / step);
    if (limit < LIMIT_LEAST)
        return tacit_fail(err, TACIT_EINPUT,
                          "the noise of \"%s\" (%g) is more than the grid of its clip (%g) can "
                          "hold; raise epsilon (\"privacy.epsilon\"), or release less often",
                          cost->what, noise, radius);
    if (steps < VECTOR_NOISE_LEAST && cost->coordinates > 1)
        return tacit_fail(err, TACIT_EINPUT,
                          "the noise of \"%s\" (%g) is nothing beside its clip (%g); mechanism "
                          "\"none\" says so more honestly",
                          cost->what, noise, radius);
    cost->norm = cost->mechanism == TACIT_MECHANISM_LAPLACE ? TACIT_L1 : TACIT_L2;
    cost->grid = grid;
    cost->sensitivity = (cost->adjacency == TACIT_REPLACE ? 2 : 1) * limit * step;
    cost->noise = steps * step;
    return TACIT_OK;
}

tacit_status tacit_cost_count(tacit_cost *cost, double noise, tacit_error *err)
{
    tacit_status status = check_wishes(cost, 1, noise, err);
    if (status != TACIT_OK)
        return status;
    if (cost->unit != TACIT_UNIT_RECORD)
        return tacit_fail(err, TACIT_EINPUT,
                          "one user may have any number of records: no noise covers the count "
                          "\"%s\" for unit \"user\"",
                          cost->what);
    cost->norm = cost->mechanism == TACIT_MECHANISM_LAPLACE ? TACIT_L1 : TACIT_L2;
    cost->grid = 0;
    cost->coordinates = 1;
    cost->sensitivity = 1;
    cost->noise = round_up(noise);
    return TACIT_OK;
}

tacit_status tacit_cost_choice(tacit_cost *cost, uint32_t categories, double epsilon,
                               tacit_error *err)
{
    if (categories < 2 || !(epsilon >= 1e-9 && epsilon <= 40))
        return tacit_fail(err, TACIT_EINPUT,
                          "randomized response needs 2 or more categories and an epsilon between "
                          "1e-9 and 40, not %u and %g",
                          categories, epsilon);
    cost->mechanism = TACIT_MECHANISM_RESPONSE;
    cost->categories = categories;
    cost->coordinates = 1;
    cost->noise = epsilon;
    return TACIT_OK;
}

/* ---- is it a cost at all? ---- */

static bool whole(double x, double least, double most)
{
    return x >= least && x <= most && x == floor(x);
}

/* Whatever its maker says: what a kernel could not honour is not charged for. */
static const char *wrong(const tacit_cost *c)
{
    const bool lots = c->sampling > 0 && c->sampling < 1;
    if (!(c->sampling >= 0 && c->sampling <= 1) || (lots && c->unit == TACIT_UNIT_USER) ||
        (lots && !whole(c->sampling * 0x1p32, 1, 0x1p32)))
        return "sampling";
    if (c->mechanism == TACIT_MECHANISM_RESPONSE)
        return c->categories < 2                       ? "categories"
               : !(c->noise >= 1e-9 && c->noise <= 40) ? "epsilon"
               : lots                                  ? "sampling"
                                                       : NULL;
    if (c->norm != (c->mechanism == TACIT_MECHANISM_LAPLACE ? TACIT_L1 : TACIT_L2))
        return "norm";
    if (c->grid < -1000 || c->grid > 1000 || c->coordinates < 1)
        return "grid";
    const double room = c->claimed ? TACIT_CLAIM_ROOM : 1;
    if (!whole(ldexp(c->sensitivity, -c->grid), 1, 0x1p26 / room))
        return "sensitivity";
    const double noise = ldexp(c->noise, -c->grid);
    if (!whole(noise * FINE, 1, 0x1p41) || (noise > 0x1p20 && !whole(noise, 1, 0x1p31)) ||
        (c->coordinates > 1 && c->mechanism == TACIT_MECHANISM_GAUSSIAN &&
         noise < VECTOR_NOISE_LEAST))
        return "noise";
    return NULL;
}

tacit_status tacit_cost_check(const tacit_cost *cost, tacit_error *err)
{
    const char *what = cost->mechanism == TACIT_MECHANISM_NONE ? NULL : wrong(cost);
    if (!what)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EUSAGE,
                      "the cost of \"%s\" has a %s that no release can keep to; plan costs with "
                      "tacit_cost_on_grid, tacit_cost_count or tacit_cost_choice",
                      cost->what, what);
}

/* ---- a run's options ---- */

static tacit_status epsilon_of(const tacit_privacy_options *o, const tacit_cost *cost,
                               double *epsilon, tacit_error *err)
{
    tacit_loss loss;
    tacit_cost_loss(cost, (uint64_t)o->releases, &loss);
    return tacit_account_epsilon((tacit_accountant)o->accountant, &loss, 1, o->delta, epsilon, err);
}

/* All that is missing to find the noise, at once. */
static tacit_status check_complete(const tacit_privacy_options *o, const char *what,
                                   tacit_error *err)
{
    const struct {
        bool missing;
        const char *words;
    } keys[] = {
        {!(o->clip > 0), "\"privacy.clip\" (the norm to which each record's part is clipped)"},
        {isinf(o->epsilon), "a finite \"privacy.epsilon\""},
        {o->releases < 1, "\"privacy.releases\" (how often each agent will speak)"},
    };
    char list[300] = "";
    size_t len = 0;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (keys[k].missing)
            len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", len ? " and " : "",
                                    keys[k].words);
    if (len == 0)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "how much noise for \"%s\"? beside \"privacy.mechanism\" set %s and it will "
                      "be found%s",
                      what, list, o->clip > 0 ? ", or set \"privacy.noise\" (over the clip)" : "");
}

/* Sigma or scale, over C, with which the planned releases fit the budget. */
static tacit_status find_noise(const tacit_privacy_options *o, const tacit_cost *cost,
                               double *noise, tacit_error *err)
{
    const bool laplace = cost->mechanism == TACIT_MECHANISM_LAPLACE;
    const tacit_loss loss = {.kind = laplace ? TACIT_LOSS_LAPLACE : TACIT_LOSS_GAUSSIAN,
                             .adjacency = cost->adjacency,
                             .shift = cost->adjacency == TACIT_REPLACE ? 2 : 1,
                             .sampling = cost->sampling > 0 ? cost->sampling : 1,
                             .delta = laplace ? 0 : 1e-33 * (double)cost->coordinates,
                             .count = (uint64_t)o->releases};
    return tacit_account_calibrate((tacit_accountant)o->accountant, &loss, NULL, 0, o->epsilon,
                                   o->delta, noise, err);
}

/* The grid changes the law by parts in a million: lift the noise until the budget holds again. */
static tacit_status settle(tacit_cost *cost, const tacit_privacy_options *o, double noise,
                           tacit_error *err)
{
    double lift = 0;
    for (int tries = 0; tries < 40; tries++) {
        double epsilon = INFINITY;
        tacit_status status = tacit_cost_on_grid(cost, o->clip, noise * (1 + lift) * o->clip, err);
        if (status == TACIT_OK)
            status = epsilon_of(o, cost, &epsilon, err);
        if (status != TACIT_OK || epsilon <= o->epsilon)
            return status;
        lift = lift > 0 ? 2 * lift : 1e-8;
    }
    return tacit_fail(err, TACIT_EINTERNAL, "found no noise for \"%s\" within epsilon = %g",
                      cost->what, o->epsilon);
}

tacit_status tacit_cost_plan(tacit_cost *cost, const tacit_privacy_options *options,
                             uint64_t coordinates, const char *what, tacit_error *err)
{
    const double lots = ceil(options->sampling * 0x1p32) * 0x1p-32; /* as they are drawn */
    *cost = (tacit_cost){.mechanism = (tacit_mechanism)options->mechanism,
                         .norm = TACIT_L2,
                         .unit = (tacit_unit)options->unit,
                         .adjacency = (tacit_adjacency)options->adjacency,
                         .coordinates = coordinates,
                         .sampling = lots < 1 ? lots : 0,
                         .claimed = options->claimed && options->mechanism != TACIT_MECHANISM_NONE,
                         .what = what};
    if (cost->sampling > 0 &&
        (options->mechanism == TACIT_MECHANISM_NONE || options->unit == TACIT_UNIT_USER))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"privacy.sampling\" hides which records took part, so it needs a "
                          "mechanism with noise and \"privacy.unit: record\"");
    if (options->mechanism == TACIT_MECHANISM_NONE)
        return TACIT_OK;
    if (options->noise > 0)
        return tacit_cost_on_grid(cost, options->clip, options->noise * options->clip, err);
    double noise = 0;
    tacit_status status = check_complete(options, what, err);
    if (status == TACIT_OK)
        status = check_wishes(cost, options->clip, 1, err);
    if (status == TACIT_OK)
        status = find_noise(options, cost, &noise, err);
    return status == TACIT_OK ? settle(cost, options, noise, err) : status;
}
