/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each form of tacit account means to an accountant.
 *
 * A noise multiplier is sigma over the norm C that a record is clipped to. With add-remove one
 * record moves the sum by C, so the shift is 1; with replace one contribution goes and another
 * comes, so it is 2. A sensitivity is taken as it is said: how far apart neighbours are.
 *
 * A user with K records (group privacy): noise that hides a shift of d must hide K d; a pure
 * epsilon becomes K epsilon; rho becomes K^2 rho (Bun and Steinke 2016); (epsilon,
 * delta) becomes (K epsilon, delta (e^(K epsilon) - 1) / (e^epsilon - 1)); randomized response is
 * answered once a record, so K times as often. With sampling the number of a user's records in a
 * sample is itself random: nothing is claimed.
 */
#include "account.h"

#include <inttypes.h>
#include <math.h>

#define BIT(NAME) (1u << CLI_ACCOUNT_##NAME)
#define ALWAYS (BIT(DELTA) | BIT(STEPS) | BIT(ADJACENCY))
#define SOLVED (BIT(TARGET) | BIT(BY))

const cli_account_form cli_account_forms[] = {
    {.name = "gaussian",
     .kind = TACIT_LOSS_GAUSSIAN,
     .words = "Gaussian noise",
     .takes = ALWAYS | SOLVED | BIT(MULTIPLIER) | BIT(SIGMA) | BIT(SENSITIVITY) | BIT(SAMPLING) |
              BIT(GROUP),
     .noise = BIT(MULTIPLIER) | BIT(SIGMA)},
    {.name = "laplace",
     .kind = TACIT_LOSS_LAPLACE,
     .words = "Laplace noise",
     .takes = ALWAYS | SOLVED | BIT(SCALE) | BIT(SENSITIVITY) | BIT(SAMPLING) | BIT(GROUP),
     .noise = BIT(SCALE)},
    {.name = "discrete-gaussian",
     .kind = TACIT_LOSS_DISCRETE_GAUSSIAN,
     .words = "discrete Gaussian noise on the integers",
     .takes = ALWAYS | SOLVED | BIT(SIGMA) | BIT(SENSITIVITY) | BIT(SAMPLING) | BIT(GROUP),
     .noise = BIT(SIGMA)},
    {.name = "discrete-laplace",
     .kind = TACIT_LOSS_DISCRETE_LAPLACE,
     .words = "discrete Laplace noise on the integers",
     .takes = ALWAYS | SOLVED | BIT(SCALE) | BIT(SENSITIVITY) | BIT(SAMPLING) | BIT(GROUP),
     .noise = BIT(SCALE)},
    {.name = "randomized-response",
     .kind = TACIT_LOSS_RESPONSE,
     .words = "randomized response",
     .takes =
         ALWAYS | SOLVED | BIT(CATEGORIES) | BIT(TRUTH) | BIT(EPSILON) | BIT(SAMPLING) | BIT(GROUP),
     .noise = BIT(TRUTH) | BIT(EPSILON)},
    {.name = "pure",
     .kind = TACIT_LOSS_PURE,
     .words = "any epsilon-DP mechanism",
     .takes = ALWAYS | SOLVED | BIT(EPSILON) | BIT(SAMPLING) | BIT(GROUP),
     .noise = BIT(EPSILON)},
    {.name = "approximate",
     .kind = TACIT_LOSS_APPROXIMATE,
     .words = "any (epsilon, delta)-DP mechanism",
     .takes = ALWAYS | BIT(EPSILON) | BIT(RELEASE_DELTA) | BIT(SAMPLING) | BIT(GROUP),
     .noise = BIT(EPSILON)},
    {.name = "zcdp",
     .kind = TACIT_LOSS_ZCDP,
     .words = "any rho-zCDP mechanism",
     .takes = ALWAYS | SOLVED | BIT(RHO) | BIT(GROUP),
     .noise = BIT(RHO)},
    {.name = "shuffle",
     .kind = TACIT_LOSS_PURE,
     .words = "shuffled reports, each epsilon-DP by itself",
     .takes = ALWAYS | BIT(TARGET) | BIT(EPSILON) | BIT(AGENTS),
     .noise = BIT(EPSILON),
     .shuffle = true},
    {.name = "compose",
     .words = "a ledger",
     .takes = BIT(DELTA) | BIT(GROUP) | BIT(AGENT) | BIT(KEY),
     .ledger = true},
};
const size_t cli_account_form_count = sizeof cli_account_forms / sizeof *cli_account_forms;

/* log(P(truth) / P(one other)), the others being equally likely. */
static tacit_status response_epsilon(double *epsilon, const cli_account_request *request,
                                     tacit_error *err)
{
    const double k = (double)request->categories, truth = request->truth;
    *epsilon = request->epsilon;
    if (!CLI_GIVEN(request, TRUTH))
        return TACIT_OK;
    if (truth < 1 / k)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"--truth\" is %g, less than by chance; of %" PRId64
                          " answers the true one comes with probability 1/%" PRId64 " at least",
                          truth, request->categories, request->categories);
    if (truth == 1)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"--truth\" is 1: always the true answer hides nothing");
    *epsilon = log(truth * (k - 1) / (1 - truth));
    return TACIT_OK;
}

tacit_status cli_account_loss(tacit_loss *loss, const cli_account_request *request,
                              tacit_error *err)
{
    *loss = (tacit_loss){.kind = request->form->kind,
                         .adjacency = (tacit_adjacency)request->adjacency,
                         .sampling = request->sampling,
                         .epsilon = request->epsilon,
                         .count = (uint64_t)request->steps};
    tacit_status status = TACIT_OK;
    switch (loss->kind) {
    case TACIT_LOSS_GAUSSIAN:
    case TACIT_LOSS_DISCRETE_GAUSSIAN:
    case TACIT_LOSS_LAPLACE:
    case TACIT_LOSS_DISCRETE_LAPLACE:
        loss->noise = CLI_GIVEN(request, MULTIPLIER) ? request->multiplier
                      : CLI_GIVEN(request, SIGMA)    ? request->sigma
                                                     : request->scale;
        loss->shift = CLI_GIVEN(request, SENSITIVITY)       ? request->sensitivity
                      : request->adjacency == TACIT_REPLACE ? 2
                                                            : 1;
        break;
    case TACIT_LOSS_RESPONSE:
        loss->categories = (uint32_t)request->categories;
        status = response_epsilon(&loss->epsilon, request, err);
        break;
    case TACIT_LOSS_APPROXIMATE:
        loss->delta = request->release_delta;
        break;
    case TACIT_LOSS_ZCDP:
        loss->epsilon = request->rho;
        break;
    default:
        break;
    }
    return status ? status : cli_account_group(loss, (uint64_t)request->group, err);
}

tacit_status cli_account_group(tacit_loss *loss, uint64_t records, tacit_error *err)
{
    const double k = (double)records;
    if (records == 1 || loss->kind == TACIT_LOSS_BARE)
        return TACIT_OK;
    if (loss->sampling < 1)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"--group\" does not go with sampling: how many of a user's records are "
                          "in a sample is random; sample users instead, and clip per user");
    switch (loss->kind) {
    case TACIT_LOSS_RESPONSE:
        if (loss->count > UINT64_MAX / records)
            return tacit_fail(err, TACIT_EUSAGE, "too many releases for a group of %" PRIu64,
                              records);
        loss->count *= records;
        break;
    case TACIT_LOSS_ZCDP:
        loss->epsilon *= k * k;
        break;
    case TACIT_LOSS_APPROXIMATE:
        loss->delta *= loss->epsilon > 0 ? expm1(k * loss->epsilon) / expm1(loss->epsilon) : k;
        loss->epsilon *= k;
        if (!(loss->delta < 1))
            return tacit_fail(err, TACIT_EUSAGE,
                              "a group of %" PRIu64 " leaves nothing of this guarantee: its delta "
                              "is 1 or more",
                              records);
        break;
    case TACIT_LOSS_PURE:
        loss->epsilon *= k;
        break;
    default:
        loss->shift *= k;
    }
    return TACIT_OK;
}
