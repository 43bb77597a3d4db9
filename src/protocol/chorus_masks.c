/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chorus over a sum that nobody in particular adds up (totals.h): what an agent sings is concealed
 * with its share of the noise, masked, and added up by whoever's turn it is. The same statistics,
 * the same steps, the same cost as over the ideal sum; only the noise is a little more than it, by
 * what colluders do not bring and absent members might have brought.
 */
#include <math.h>

#include "protocol/chorus.h"

#define BARE_GRID (-32)
#define FAR 16 /* standard deviations: a draw beyond has a chance below 1e-55 */

tacit_status chorus_masks_plan(chorus_shared *s, tacit_error *err)
{
    tacit_totals_plan *plan = &s->totals;
    const bool noisy = s->privacy.mechanism != TACIT_MECHANISM_NONE;
    const double records = (double)s->options.most_records;
    double noise = 0;
    for (size_t k = 0; k < s->cost_count; k++) {
        if (!noisy)
            s->costs[k].grid = BARE_GRID;
        if (s->costs[k].grid != s->costs[0].grid)
            return tacit_fail(err, TACIT_EINPUT,
                              "rounds with budgets so different have different grids; use "
                              "\"privacy.policy: uniform\"");
        noise = noisy ? fmax(noise, s->costs[k].noise) : 0;
    }
    const double longest = isfinite(s->clip.radius) ? s->clip.radius : 1e3 * s->options.radius;
    totals_plan_of(plan, &s->options.totals);
    plan->agents = s->agents;
    plan->numbers = s->rank * s->features;
    plan->beside = s->rank * (s->rank + 1) / 2;
    plan->step = ldexp(1, s->costs[0].grid);
    plan->most = ceil((records * longest + FAR * noise) / plan->step) + 1;
    plan->beside_most = records * CHORUS_BESIDE_ONE + 1;
    plan->rounds = s->rounds;
    plan->delta = noisy ? s->privacy.delta : 0;
    plan->child = 1;
    return tacit_totals_prepare(plan, err);
}

/* ---- giving ---- */

static tacit_status hold(tacit_env *env, const void *shared, void *state, uint32_t parts,
                         tacit_secret **out, int64_t *beside)
{
    const chorus_shared *s = shared;
    chorus_agent *self = state;
    const uint64_t round = tacit_totals_round(chorus_totals(self));
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_status status = totals_check_records(env, s->options.most_records);
    if (status == TACIT_OK)
        status = chorus_voice(env, s, self, round, &s->totals.number, &permit, &bounded);
    if (status == TACIT_OK)
        status = tacit_conceal(env, permit, bounded, parts, out);
    if (status == TACIT_OK)
        chorus_weights(env, s, self, beside);
    return status;
}

/* ---- hearing ---- */

/* All members' shares are in the sum, those of colluders too if they are as told; parts of them
 * would have been enough. */
static double noise_of(const chorus_shared *s, uint64_t round, uint32_t members)
{
    const tacit_cost *cost = chorus_cost(s, round);
    const uint32_t parts = tacit_totals_parts(&s->totals, members);
    if (cost->mechanism == TACIT_MECHANISM_NONE || parts == 0)
        return 0;
    return cost->noise * sqrt((double)members / parts);
}

static tacit_status over(tacit_env *env, const void *shared, void *state, const tacit_event *event,
                         tacit_totals_outcome outcome);
static const tacit_totals_user user = {.hold = hold, .on = over};

static tacit_status over(tacit_env *env, const void *shared, void *state, const tacit_event *event,
                         tacit_totals_outcome outcome)
{
    const chorus_shared *s = shared;
    chorus_agent *self = state;
    tacit_status status = TACIT_OK;
    self->over = event->id;
    if (outcome == TACIT_TOTAL_HEARD && event->id <= s->rounds) {
        const uint32_t members = tacit_totals_members(chorus_totals(self));
        const chorus_news news = {.round = event->id,
                                  .sum = event->payload,
                                  .beside = event->beside,
                                  .step = s->totals.step,
                                  .noise = noise_of(s, event->id, members)};
        status = chorus_listen(env, s, self, &news);
    }
    if (status != TACIT_OK || event->id >= s->rounds)
        return status;
    return tacit_totals_next(env, &s->totals, chorus_totals(self), event->id + 1, &user, s, self);
}

tacit_status chorus_masks_start(tacit_env *env, const chorus_shared *s, chorus_agent *self)
{
    return tacit_totals_start(env, &s->totals, chorus_totals(self));
}

tacit_status chorus_masks_begin(tacit_env *env, const chorus_shared *s, chorus_agent *self)
{
    return tacit_totals_next(env, &s->totals, chorus_totals(self), 1, &user, s, self);
}

tacit_status chorus_masks_feed(tacit_env *env, const chorus_shared *s, chorus_agent *self,
                               const tacit_event *event)
{
    return tacit_totals_feed(env, &s->totals, chorus_totals(self), event, &user, s, self);
}

bool chorus_done(const void *shared, const void *state)
{
    const chorus_shared *s = shared;
    return chorus_masked(s) && ((const chorus_agent *)state)->over >= s->rounds;
}
