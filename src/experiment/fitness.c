/* SPDX-License-Identifier: Apache-2.0 */
/* Relative fitness of models in a simulation (experiment/fitness.h). */
#include "experiment/fitness.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>

#include "experiment/session.h"

static const tacit_shard *pooled(const tacit_session *s)
{
    return tacit_dataset_pooled(s->source.data, TACIT_TRAIN);
}

static double loss_at(const tacit_session *s, const tacit_secret *theta)
{
    return tacit_model_loss(s->model, pooled(s), theta).owner_only;
}

static double relative(const tacit_fitness *f, double loss)
{
    return fmax(loss / f->least - 1, 0);
}

tacit_status tacit_fitness_open(tacit_fitness *fitness, tacit_session *session, tacit_error *err)
{
    *fitness = (tacit_fitness){.session = session};
    const tacit_shape *shape = tacit_model_shape(session->model);
    tacit_vector *vector = calloc(1, sizeof *vector + shape->bytes);
    if (!vector)
        return tacit_out_of_memory(err);
    tacit_vector_init(vector, shape, TACIT_VECTOR_SECRET);
    fitness->scratch = tacit_vector_secret(vector);
    if (tacit_shard_rows(pooled(session)) == 0) {
        tacit_fitness_close(fitness);
        return tacit_fail(err, TACIT_EINPUT,
                          "nobody has training records, so there is no fitness to speak of");
    }
    tacit_status status = tacit_model_solve(session->model, pooled(session), fitness->scratch, err);
    if (!status) {
        fitness->least = loss_at(session, fitness->scratch);
        if (!(fitness->least > 0) || isinf(fitness->least))
            status = tacit_fail(err, TACIT_EINPUT,
                                "the best model of all records has a loss of \"%g\": nothing can "
                                "be relative to it",
                                fitness->least);
    }
    if (status)
        tacit_fitness_close(fitness);
    return status;
}

void tacit_fitness_close(tacit_fitness *fitness)
{
    tacit_vector *vector = tacit_vector_of_secret(fitness->scratch);
    if (vector)
        sodium_memzero(vector->data, vector->shape->bytes);
    free(vector);
    *fitness = (tacit_fitness){0};
}

double tacit_fitness_now(const tacit_fitness *fitness, uint32_t agent)
{
    const tacit_session *s = fitness->session;
    const tacit_secret *model = s->runtime->ops->agent_model(s->runtime, agent);
    return relative(fitness, loss_at(s, model ? model : tacit_vector_secret(s->zero)));
}

tacit_status tacit_fitness_alone(const tacit_fitness *fitness, uint32_t agent, double *psi,
                                 tacit_error *err)
{
    const tacit_session *s = fitness->session;
    const tacit_shard *shard = tacit_dataset_shard(s->source.data, agent, TACIT_TRAIN);
    if (tacit_shard_rows(shard) == 0)
        return tacit_fail(err, TACIT_EINPUT, "agent %u has no records to learn from alone", agent);
    tacit_status status = tacit_model_solve(s->model, shard, fitness->scratch, err);
    if (!status)
        *psi = relative(fitness, loss_at(s, fitness->scratch));
    return status;
}
