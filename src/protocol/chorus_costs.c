/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the releases of an agent cost, planned before the first. A learned kernel takes one release:
 * with sigma the noise of a release that takes the whole budget, it has sigma / sqrt(share). What
 * Gaussians tell adds up by 1 / sigma^2, so that is `share` of the budget, and the sums are planned
 * after it for the rest: all of them together, by the run's accountant and with rounding, cost no
 * more than epsilon. With "privacy.noise" all have that noise, and the ledger says what it comes
 * to.
 */
#include <math.h>
#include <stdlib.h>

#include "protocol/chorus.h"

static tacit_status plan_word(chorus_shared *s, tacit_error *err)
{
    tacit_privacy_options whole = s->privacy;
    whole.releases = 1;
    tacit_status status = tacit_cost_plan(&s->likeness, &whole, s->features, "likeness", err);
    if (status != TACIT_OK || whole.noise > 0)
        return status;
    return tacit_cost_on_grid(&s->likeness, whole.clip,
                              s->likeness.noise / sqrt(s->options.kernel_share), err);
}

/* Too large a share leaves sums with more noise than any grid holds. */
static tacit_status blame_share(const chorus_shared *s, tacit_status status, tacit_error *err)
{
    if (status != TACIT_EBUDGET || !err)
        return status;
    const tacit_error why = *err;
    return tacit_fail(err, status,
                      "after \"protocol.kernel-share: %g\", which may be too much: %.520s",
                      s->options.kernel_share, why.text);
}

static tacit_status plan_sums(chorus_shared *s, uint64_t coordinates, tacit_error *err)
{
    const tacit_privacy_options *privacy = &s->privacy;
    const bool found = privacy->mechanism != TACIT_MECHANISM_NONE && privacy->noise == 0;
    const bool over_time = found && privacy->policy != TACIT_POLICY_UNIFORM;
    const bool after = found && chorus_learned(s);
    const uint64_t releases = over_time ? s->rounds : (uint64_t)privacy->releases;
    s->cost_count = over_time ? (size_t)s->rounds : 1;
    s->costs = calloc(s->cost_count, sizeof *s->costs);
    if (!s->costs)
        return tacit_out_of_memory(err);
    if (!over_time && !after)
        return tacit_cost_plan(s->costs, privacy, coordinates, "voice", err);
    tacit_status status =
        tacit_schedule_plan(s->costs, releases, privacy, privacy->epsilon,
                            after ? &s->likeness : NULL, after ? 1 : 0, coordinates, "voice", err);
    return after ? blame_share(s, status, err) : status;
}

tacit_status chorus_plan_costs(chorus_shared *s, tacit_error *err)
{
    const uint64_t coordinates = (uint64_t)s->features * s->rank; /* shapes checked it */
    tacit_status status = chorus_learned(s) ? plan_word(s, err) : TACIT_OK;
    if (status == TACIT_OK)
        status = plan_sums(s, coordinates, err);
    for (size_t k = 0; k < s->cost_count && status == TACIT_OK; k++)
        status = tacit_cost_widen(&s->costs[k], 1, err); /* room for products on the grid */
    return status;
}

const tacit_cost *chorus_cost(const chorus_shared *s, uint64_t round)
{
    return &s->costs[s->cost_count == 1 ? 0 : round - 1];
}
