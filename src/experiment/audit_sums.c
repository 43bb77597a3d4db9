/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an adversary makes of a sum over all agents (protocol "chorus"). It knows the protocol,
 * every record but the one in question, the public columns and, from earlier sums, the priors of
 * all; so it knows the sum without its noise, with the canary and without. (A learned kernel: the
 * columns are a function of what agents released before, which audit_score.c scores.) The score is
 * the log-likelihood ratio of the sum as it was heard, round by round (Neyman and Pearson: nobody
 * can do better against Gaussian noise, and all else that is public is a function of sums).
 *
 * The statistics come from the kernel that agents use, spread over the column by the same integer
 * arithmetic. That a score has the law which the claim gives it is what canary_test checks.
 *
 * Everybody is taken to give to every sum: who is offline, late or out of budget would be missing
 * from what is heard, and tacit_canary_sums_check refuses such experiments.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"
#include "experiment/audit.h"
#include "privacy/audit.h"
#include "privacy/release.h"
#include "protocol/chorus.h"

tacit_status tacit_canary_sums_check(const tacit_experiment *e, tacit_error *err)
{
    const tacit_network_options *network = &e->network;
    const bool chorus = strcmp(e->protocol->name, "chorus") == 0;
    if (!(tacit_experiment_flags(e) & TACIT_GROUPS)) {
        if (!chorus)
            return TACIT_OK;
        return tacit_fail(err, TACIT_EINPUT,
                          "the audit does not follow sums under masks; what is heard of them has "
                          "the noise of the ideal sum or more: set \"protocol.sum: ideal\"");
    }
    if (!chorus)
        return tacit_fail(err, TACIT_EINPUT,
                          "of protocol \"%s\" only sums over all agents are seen, which the audit "
                          "does not know; audit its mechanism with \"tacit audit gaussian\"",
                          e->protocol->name);
    const chorus_options *options = e->protocol_options;
    const bool learned = options->kernel.kind == CHORUS_KERNEL_LEARNED;
    if (isfinite(network->mean_up) || network->latency != TACIT_LATENCY_ZERO ||
        e->privacy.budgets[0] || options->opt_out[0] || (learned && network->loss > 0))
        return tacit_fail(
            err, TACIT_EINPUT,
            "an audit of sums takes it that everybody gives to each of them; leave "
            "out \"privacy.budgets\", \"protocol.opt-out\", and of \"network\" latency, absence "
            "and, with \"protocol.kernel: learned\", loss");
    return TACIT_OK;
}

/* One agent's part of the sum, as it is given, added to `into`. */
static tacit_status add_voice(tacit_canary_score *s, const tacit_cost *cost, uint32_t agent,
                              const tacit_shard *shard, const tacit_shape *shape, double *into)
{
    const chorus_shared *chorus = s->runtime->ops->shared(s->runtime);
    const double *c = chorus_column(chorus, agent); /* learned ones: from what was said before */
    const tacit_secret *prior = s->runtime->ops->agent_model(s->runtime, agent);
    const size_t rows = tacit_shard_rows(shard);
    const bool noisy = cost->mechanism != TACIT_MECHANISM_NONE;
    tacit_permit permit = {.cost = *cost, .state = TACIT_PERMIT_RESERVED};
    tacit_bounded *bounded = NULL;
    if (rows == 0 || !c)
        return TACIT_OK;
    double *column = tacit_scratch_alloc(s->scratch, chorus->rank * sizeof *column);
    if (!column)
        return tacit_out_of_memory(s->error);
    for (size_t k = 0; k < chorus->rank; k++)
        column[k] = -c[k] * (noisy ? 1 : (double)rows);
    tacit_status status = tacit_model_gradient(s->model, &permit, shard,
                                               tacit_vector_public(tacit_vector_of_secret(prior)),
                                               chorus->clip, s->scratch, &bounded, s->error);
    if (!status)
        status = tacit_bounded_spread(bounded, column, chorus->rank, shape, s->scratch, s->error);
    const size_t count = shape->segment[0].count;
    for (size_t k = 0; !status && k < count; k++)
        into[k] += bounded->steps ? (double)bounded->steps[k] * tacit_cost_step(cost)
                                  : tacit_vector_get(bounded->value, 0, k);
    return status;
}

static tacit_status make_room(tacit_canary_score *s, size_t count, tacit_error *err)
{
    if (s->sum_count == count)
        return TACIT_OK;
    for (int k = 0; k < 3; k++) {
        double *grown = realloc(s->sums[k], (count ? count : 1) * sizeof *grown);
        if (!grown)
            return tacit_out_of_memory(err);
        s->sums[k] = grown;
    }
    s->sum_count = count;
    return TACIT_OK;
}

/* The sum without its noise: of all others, and with the target's two statistics. */
static tacit_status refer(tacit_canary_score *s, const tacit_cost *cost, const tacit_shape *shape,
                          double *with, double *without)
{
    const uint32_t agents = tacit_dataset_agents(s->data->with);
    const size_t bytes = s->sum_count * sizeof *with;
    tacit_status status = TACIT_OK;
    memset(with, 0, bytes);
    for (uint32_t i = 0; i < agents && !status; i++) {
        const tacit_scratch_mark mark = tacit_scratch_now(s->scratch);
        if (i != s->agent)
            status = add_voice(s, cost, i, tacit_dataset_shard(s->data->with, i, TACIT_TRAIN),
                               shape, with);
        tacit_scratch_rewind(s->scratch, mark);
    }
    memcpy(without, with, bytes);
    const uint32_t target = s->agent;
    if (!status)
        status = add_voice(s, cost, target, tacit_dataset_shard(s->data->with, target, TACIT_TRAIN),
                           shape, with);
    if (!status)
        status =
            add_voice(s, cost, target, tacit_dataset_shard(s->data->without, target, TACIT_TRAIN),
                      shape, without);
    return status;
}

tacit_status tacit_canary_score_sum(tacit_canary_score *s, const tacit_cost *cost,
                                    const tacit_public *sum)
{
    const size_t count = tacit_public_count(sum, 0);
    tacit_status status = make_room(s, count, s->error);
    double *seen = s->sums[2];
    for (size_t k = 0; !status && k < count; k++)
        seen[k] = tacit_public_get(sum, 0, k);
    if (!status)
        status = refer(s, cost, tacit_public_shape(sum), s->sums[0], s->sums[1]);
    if (!status)
        s->sum += tacit_audit_likelihood(cost->mechanism, cost->noise, count, seen, s->sums[0],
                                         s->sums[1]);
    return status;
}
