/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a similarity graph compares when the source itself knows nothing of its agents: the
 * models they learn alone, or their mean training records. Only a simulator can look at both,
 * and both tell of records: a graph made of them leaks, and the run says so.
 *
 * Means are taken relative to the mean over all agents: features that are far from zero for
 * everybody would otherwise make all agents alike.
 */
#include <stdlib.h>

#include "data/shard.h"
#include "experiment/session.h"

typedef struct comparing {
    const tacit_session *session;
    tacit_targets *targets;
    tacit_status *status; /* one an agent */
} comparing;

/* Row `i` of the targets: the model agent i learns alone. */
static tacit_status learn(const comparing *c, size_t i)
{
    const tacit_session *s = c->session;
    const tacit_shape *shape = tacit_model_shape(s->model);
    tacit_vector *theta = calloc(1, sizeof *theta + shape->bytes);
    if (!theta)
        return TACIT_EINTERNAL;
    tacit_vector_init(theta, shape, TACIT_VECTOR_SECRET);
    const tacit_shard *shard = tacit_dataset_shard(s->source.data, (uint32_t)i, TACIT_TRAIN);
    tacit_status status = tacit_model_solve(s->model, shard, tacit_vector_secret(theta), NULL);
    double *row = c->targets->dense + i * c->targets->dimension;
    for (size_t k = 0; !status && k < c->targets->dimension; k++)
        row[k] = tacit_vector_get(theta, 0, k);
    free(theta);
    return status;
}

static void learn_some(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    (void)worker;
    const comparing *c = ctx;
    for (size_t i = begin; i < end; i++)
        c->status[i] = learn(c, i);
}

static void average_some(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    (void)worker;
    const comparing *c = ctx;
    const size_t p = c->targets->dimension;
    const tacit_dataset *data = c->session->source.data;
    const bool single = tacit_dataset_scalar(data) == TACIT_F32;
    for (size_t i = begin; i < end; i++) {
        const tacit_shard *shard = tacit_dataset_shard(data, (uint32_t)i, TACIT_TRAIN);
        const double m = (double)tacit_shard_rows(shard);
        double *row = c->targets->dense + i * p;
        size_t cursor = 0;
        tacit_batch batch;
        while (tacit_shard_next(shard, &cursor, &batch))
            for (size_t r = 0; r < batch.rows; r++)
                for (size_t k = 0; k < p; k++)
                    row[k] += (single ? (double)((const float *)batch.x)[r * p + k]
                                      : ((const double *)batch.x)[r * p + k]) /
                              m;
    }
}

/* Subtract the mean over agents that have records; the others stay at zero. */
static void centre(const comparing *c)
{
    const size_t p = c->targets->dimension;
    const uint32_t agents = tacit_dataset_agents(c->session->source.data);
    for (size_t k = 0; k < p; k++) {
        double sum = 0;
        uint32_t count = 0;
        for (uint32_t i = 0; i < agents; i++)
            if (tacit_dataset_rows(c->session->source.data, i, TACIT_TRAIN) > 0) {
                sum += c->targets->dense[i * p + k];
                count++;
            }
        for (uint32_t i = 0; i < agents; i++)
            if (tacit_dataset_rows(c->session->source.data, i, TACIT_TRAIN) > 0)
                c->targets->dense[i * p + k] -= sum / count;
    }
}

tacit_status tacit_compare_agents(tacit_targets *out, const tacit_session *s, tacit_compare by,
                                  tacit_error *err)
{
    const uint32_t agents = tacit_dataset_agents(s->source.data);
    tacit_status status = TACIT_OK;
    size_t values;
    *out = (tacit_targets){.dimension = by == TACIT_COMPARE_MODELS
                                            ? tacit_model_parameters(s->model)
                                            : tacit_dataset_features(s->source.data)};
    if (!tacit_mul_size(agents, out->dimension, &values))
        return tacit_out_of_memory(err);
    out->dense = calloc(values, sizeof *out->dense);
    comparing c = {s, out, calloc(agents, sizeof *c.status)};
    if (!out->dense || !c.status) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    tacit_job *job = by == TACIT_COMPARE_MODELS ? learn_some : average_some;
    if (s->threads)
        tacit_threads_run(s->threads, agents, 16, job, &c);
    else
        job(&c, 0, 0, agents);
    for (uint32_t i = 0; i < agents && !status; i++)
        if (c.status[i])
            status = tacit_fail(err, c.status[i],
                                "agent \"%u\" cannot learn alone, so \"graph.compare: models\" has "
                                "nothing to compare; try \"means\"",
                                i);
    if (!status && by == TACIT_COMPARE_MEANS)
        centre(&c);
out:
    free(c.status);
    if (status)
        tacit_targets_clear(out);
    return status;
}
