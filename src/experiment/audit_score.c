/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an adversary makes of an agent's releases. It knows the protocol, every record but the one
 * in question and the agent's model, which is a function of messages; so it knows what would be
 * released without noise with the canary and without it, and adds up how much likelier each
 * release is with it. For Gaussian and Laplace noise nobody can do better (Neyman and Pearson).
 *
 * The two values come from the kernels the agent uses itself. With sampling the adversary does
 * not know the lot: it takes the other records' mean for their sum, and the canary's presence for
 * a coin of the sampling rate. That is a weaker attack than the accountants allow for.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"
#include "experiment/audit.h"
#include "math/special.h"
#include "privacy/audit.h"
#include "privacy/release.h"
#include "protocol/one_shot.h"

enum { WITH, WITHOUT, REST };

static bool is_statistics(const tacit_cost *cost)
{
    return strcmp(cost->what, "statistics") == 0;
}

tacit_status tacit_canary_score_init(tacit_canary_score *out, const tacit_session *session,
                                     const tacit_canary_data *data, uint32_t agent,
                                     tacit_error *err)
{
    *out = (tacit_canary_score){.data = data,
                                .model = session->model,
                                .privacy = &session->experiment->privacy,
                                .agent = agent,
                                .scratch = tacit_scratch_create()};
    size_t numbers = tacit_dataset_features(data->with);
    if (strcmp(session->experiment->protocol->name, "one-shot") == 0) {
        const one_shot_options *o = session->experiment->protocol_options;
        const tacit_shape *shape = tacit_model_statistics_shape(session->model);
        out->radius = o->radius;
        out->most = o->most;
        numbers = shape ? shape->segment[0].count : numbers;
    }
    bool good = out->scratch && (out->seen = calloc(numbers, sizeof *out->seen));
    for (int k = 0; k < 3; k++)
        good = (out->reference[k] = calloc(numbers, sizeof *out->seen)) && good;
    return good ? TACIT_OK : tacit_out_of_memory(err);
}

void tacit_canary_score_clear(tacit_canary_score *score)
{
    if (score->scratch)
        tacit_scratch_free(score->scratch);
    free(score->seen);
    for (int k = 0; k < 3; k++) {
        free(score->reference[k]);
        free(score->sums[k]);
    }
    *score = (tacit_canary_score){0};
}

/* ---- what would come out without noise ---- */

static tacit_status run_kernel(const tacit_canary_score *s, tacit_permit *permit,
                               const tacit_shard *shard, tacit_bounded **out, tacit_error *err)
{
    const char *what = permit->cost.what;
    if (strcmp(what, "smoothness") == 0)
        return tacit_model_smoothness(s->model, permit, shard, s->scratch, out, err);
    if (strcmp(what, "local model") == 0)
        return tacit_model_local(s->model, permit, shard, s->scratch, out, err);
    if (is_statistics(&permit->cost))
        return tacit_model_statistics(s->model, permit, shard, s->radius, s->most, s->scratch, out,
                                      err);
    const bool noisy = permit->cost.mechanism != TACIT_MECHANISM_NONE;
    const double radius = s->privacy->clip > 0 ? s->privacy->clip : INFINITY;
    const tacit_secret *at = s->runtime->ops->agent_model(s->runtime, s->agent);
    return tacit_model_gradient(
        s->model, permit, shard, tacit_vector_public(tacit_vector_of_secret(at)),
        noisy ? tacit_cost_clip(&permit->cost) : (tacit_clip){TACIT_L2, radius}, s->scratch, out,
        err);
}

static tacit_status refer(tacit_canary_score *s, const tacit_cost *cost, const tacit_shard *shard,
                          size_t count, double *out)
{
    tacit_permit permit = {.cost = *cost, .state = TACIT_PERMIT_RESERVED};
    tacit_bounded *bounded = NULL;
    permit.cost.sampling = 0; /* the mean over all */
    tacit_status status = run_kernel(s, &permit, shard, &bounded, s->error);
    for (size_t k = 0; !status && k < count; k++)
        out[k] = bounded->steps
                     ? (double)bounded->steps[k] * tacit_cost_step(cost) * bounded->factor +
                           bounded->offset
                     : tacit_vector_get(bounded->value, 0, k);
    s->factor = status ? 1 : bounded->factor;
    return status;
}

/* ---- scores ---- */

/* With sampling: by how much the canary of `where` makes the release likelier than nobody. */
static double maybe(const tacit_canary_score *s, const tacit_cost *cost, size_t count, double share,
                    double *where)
{
    for (size_t k = 0; k < count; k++) /* when it takes part, it counts 1 / sampling */
        where[k] = s->reference[REST][k] * share +
                   (where[k] - s->reference[REST][k] * share) / cost->sampling;
    double *nobody = s->reference[REST];
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        const double base = nobody[k] * share;
        sum +=
            tacit_audit_likelihood(cost->mechanism, cost->noise, 1, &s->seen[k], &where[k], &base);
    }
    return tacit_log_add(log1p(-cost->sampling), log(cost->sampling) + sum);
}

/* The noise of a mean is that of the sum over as many; statistics are sums in units of their own.
 */
static tacit_cost scaled(const tacit_cost *cost, size_t records, double factor)
{
    tacit_cost out = *cost;
    if (is_statistics(cost)) {
        out.noise *= factor;
        return out;
    }
    const bool mean = cost->unit == TACIT_UNIT_RECORD && cost->adjacency == TACIT_REPLACE;
    if (mean && records > 0)
        out.noise /= (double)records * (cost->sampling > 0 ? cost->sampling : 1);
    return out;
}

static tacit_status score_release(tacit_canary_score *s, const tacit_cost *cost,
                                  const tacit_public *released)
{
    const size_t count = tacit_public_count(released, 0);
    const size_t records = tacit_dataset_rows(s->data->without, s->agent, TACIT_TRAIN);
    const bool lots = cost->sampling > 0 && cost->sampling < 1;
    const tacit_shard *shard[] = {tacit_dataset_shard(s->data->with, s->agent, TACIT_TRAIN),
                                  tacit_dataset_shard(s->data->without, s->agent, TACIT_TRAIN),
                                  tacit_dataset_shard(s->data->rest, 0, TACIT_TRAIN)};
    tacit_status status = TACIT_OK;
    for (int k = 0; k < (lots ? 3 : 2) && !status; k++)
        status = refer(s, cost, shard[k], count, s->reference[k]);
    if (status)
        return status;
    for (size_t k = 0; k < count; k++)
        s->seen[k] = tacit_public_get(released, 0, k);
    const tacit_cost noise = scaled(cost, records, s->factor);
    if (!lots) {
        s->sum += tacit_audit_likelihood(cost->mechanism, noise.noise, count, s->seen,
                                         s->reference[WITH], s->reference[WITHOUT]);
        return TACIT_OK;
    }
    const double share =
        cost->adjacency == TACIT_REPLACE ? (double)(records - 1) / (double)records : 1;
    s->sum += maybe(s, &noise, count, share, s->reference[WITH]) -
              maybe(s, &noise, count, share, s->reference[WITHOUT]);
    return TACIT_OK;
}

/* A sum over all agents, before anybody heard it. */
static void watch_sum(tacit_canary_score *s, const tacit_cost *cost, const tacit_public *sum)
{
    const tacit_scratch_mark mark = tacit_scratch_now(s->scratch);
    s->releases++;
    s->scored++;
    s->status = tacit_canary_score_sum(s, cost, sum);
    tacit_scratch_rewind(s->scratch, mark);
}

/* Noise that went into what is minimised leaves no likelihood to compute; but a model still leans
 * towards the canary. */
static void lean_of(tacit_canary_score *s, const tacit_public *model)
{
    s->leaned++;
    for (size_t k = 0; k < tacit_dataset_features(s->data->with); k++)
        s->lean += s->data->x[k] * tacit_public_get(model, 0, k);
}

void tacit_canary_watch(void *ctx, tacit_agent agent, const tacit_cost *cost,
                        const tacit_public *released)
{
    tacit_canary_score *s = ctx;
    if (agent == TACIT_NOBODY && !s->status) {
        watch_sum(s, cost, released);
        return;
    }
    if (agent != s->agent || s->status)
        return;
    s->releases++;
    const bool noisy = cost->mechanism != TACIT_MECHANISM_NONE;
    const bool local = strcmp(cost->what, "local model") == 0;
    if (local && noisy)
        lean_of(s, released);
    if (s->only_counts)
        return;
    const bool gradient =
        strcmp(cost->what, "gradient") == 0 || strcmp(cost->what, "likeness") == 0;
    if (!gradient && !is_statistics(cost) && strcmp(cost->what, "smoothness") != 0 &&
        (!local || noisy))
        return;
    if (gradient && !s->runtime->ops->agent_model(s->runtime, s->agent))
        return;
    s->scored++;
    const tacit_scratch_mark mark = tacit_scratch_now(s->scratch);
    s->status = score_release(s, cost, released);
    tacit_scratch_rewind(s->scratch, mark);
}
