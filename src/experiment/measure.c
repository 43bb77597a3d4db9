/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run looks like from above. Only the simulator may look: it holds all models and all
 * records. An agent is scored on its own test and validation records, or on those of all if the
 * data set says so (data.score-on). Every agent's figure is computed by itself, by whichever
 * thread, and written to its own place; sums over agents then go along a fixed tree. So the result
 * is the same for any number of threads.
 *
 * Objective (paper 000, equation 2):
 *
 *     Q(Theta) = 1/2 sum_{i<j} W_ij ||theta_i - theta_j||^2 + mu sum_i D_i c_i L_i(theta_i)
 *
 * in double precision whatever the models' scalar; mu and c_i are the protocol's.
 */
#include <math.h>
#include <stdlib.h>

#include "experiment/session.h"

double tacit_pairwise_sum(const double *x, size_t n)
{
    if (n <= 64) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += x[i];
        return sum;
    }
    size_t half = n / 2;
    return tacit_pairwise_sum(x, half) + tacit_pairwise_sum(x + half, n - half);
}

static const tacit_secret *model_of(const tacit_session *s, uint32_t agent)
{
    if (s->given)
        return tacit_vector_secret((tacit_vector *)(void *)(s->given + agent * s->given_step));
    const tacit_secret *model = s->runtime->ops->agent_model(s->runtime, agent);
    return model ? model : tacit_vector_secret(s->zero);
}

static double distance2(const tacit_secret *a, const tacit_secret *b)
{
    tacit_vector *x = tacit_vector_of_secret(a), *y = tacit_vector_of_secret(b);
    double sum = 0;
    for (uint32_t k = 0; k < x->shape->segments; k++) {
        const size_t n = x->shape->segment[k].count;
        if (x->shape->segment[k].scalar == TACIT_F32) {
            const float *u = tacit_vector_segment(x, k), *v = tacit_vector_segment(y, k);
            for (size_t i = 0; i < n; i++) {
                double d = (double)u[i] - (double)v[i];
                sum += d * d;
            }
        } else if (x->shape->segment[k].scalar == TACIT_F64) {
            const double *u = tacit_vector_segment(x, k), *v = tacit_vector_segment(y, k);
            for (size_t i = 0; i < n; i++)
                sum += (u[i] - v[i]) * (u[i] - v[i]);
        }
    }
    return sum;
}

typedef struct work {
    tacit_session *session;
    tacit_split split;
    double *scores;
    double *loss;
    double *objective;
} work;

static void score_some(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    (void)worker;
    const work *w = ctx;
    const tacit_session *s = w->session;
    for (size_t i = begin; i < end; i++) {
        const tacit_shard *shard = tacit_dataset_scored(s->source.data, (uint32_t)i, w->split);
        w->scores[i] = NAN;
        if (tacit_shard_rows(shard) > 0)
            w->scores[i] = tacit_model_score(s->model, shard, model_of(s, (uint32_t)i)).owner_only;
    }
}

static void lose_some(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    (void)worker;
    const work *w = ctx;
    const tacit_session *s = w->session;
    bool (*couples)(const void *, size_t, double *, double *) = s->experiment->protocol->coupling;
    for (size_t i = begin; i < end; i++) {
        const uint32_t agent = (uint32_t)i;
        const size_t records = tacit_dataset_rows(s->source.data, agent, TACIT_TRAIN);
        const tacit_secret *model = model_of(s, agent);
        w->loss[i] = NAN;
        if (records > 0)
            w->loss[i] =
                tacit_model_loss(s->model, tacit_dataset_shard(s->source.data, agent, TACIT_TRAIN),
                                 model)
                    .owner_only;
        w->objective[i] = NAN;
        double mu, confidence;
        if (!couples || !couples(s->runtime->ops->shared(s->runtime), records, &mu, &confidence))
            continue;
        double q = 0;
        for (uint64_t e = s->graph.row[i]; e < s->graph.row[i + 1]; e++)
            if (s->graph.neighbour[e] > agent)
                q +=
                    0.5 * s->graph.weight[e] * distance2(model, model_of(s, s->graph.neighbour[e]));
        if (records > 0)
            q += mu * s->graph.degree[i] * confidence * w->loss[i];
        w->objective[i] = q;
    }
}

/* Who is scored on everybody's records is a piece of work of its own. */
static void each_agent(tacit_session *s, tacit_job *job, work *w)
{
    const size_t agents = s->graph.agents;
    const bool dear = tacit_model_net(s->model) || tacit_dataset_scores_on_all(s->source.data);
    if (s->threads)
        tacit_threads_run(s->threads, agents, dear ? 1 : 16, job, w);
    else
        job(w, 0, 0, agents);
}

/* Mean and standard deviation of what is not NaN; `spare` holds n numbers. */
static double mean_of(const double *x, size_t n, double *spare, double *deviation)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i]))
            spare[count++] = x[i];
    if (deviation)
        *deviation = NAN;
    if (count == 0)
        return NAN;
    double mean = tacit_pairwise_sum(spare, count) / (double)count;
    if (deviation) {
        for (size_t i = 0; i < count; i++)
            spare[i] = (spare[i] - mean) * (spare[i] - mean);
        *deviation = sqrt(tacit_pairwise_sum(spare, count) / (double)count);
    }
    return mean;
}

void tacit_session_scores(tacit_session *session, tacit_split split, double *scores)
{
    work w = {.session = session, .split = split, .scores = scores};
    each_agent(session, score_some, &w);
}

/* Scores of a split into `room`, or the array of NaN if nobody has records of it. */
static double *score_split(tacit_session *s, tacit_split split, double *room, double *nothing)
{
    if (tacit_shard_rows(tacit_dataset_pooled(s->source.data, split)) == 0)
        return nothing;
    tacit_session_scores(s, split, room);
    return room;
}

/* A million agents are measured with the memory for five numbers each at most, and for three
 * if nobody has records to validate or test on. */
tacit_status tacit_measure_take(tacit_measure *out, tacit_session *session, tacit_error *err)
{
    const size_t n = session->graph.agents;
    size_t bytes;
    *out = (tacit_measure){0};
    double *all = NULL;
    if (tacit_mul_size(n ? n : 1, 5 * sizeof *all, &bytes))
        all = malloc(bytes); /* pages that are never touched cost nothing */
    if (!all)
        return tacit_out_of_memory(err);
    double *spare = all + n, *nothing = all + 2 * n;
    for (size_t i = 0; i < n; i++)
        nothing[i] = NAN;
    out->loss = all;
    work w = {.session = session, .loss = out->loss, .objective = spare};
    each_agent(session, lose_some, &w);
    out->now.time = session->runtime->ops->now(session->runtime);
    out->now.objective = tacit_pairwise_sum(w.objective, n); /* NaN if any is */
    out->validation = score_split(session, TACIT_VALIDATION, all + 3 * n, nothing);
    out->test = score_split(session, TACIT_TEST, all + 4 * n, nothing);
    out->now.train_loss = mean_of(out->loss, n, spare, NULL);
    out->now.validation = mean_of(out->validation, n, spare, NULL);
    out->now.test = mean_of(out->test, n, spare, &out->now.test_deviation);
    return TACIT_OK;
}

void tacit_measure_clear(tacit_measure *measure)
{
    free(measure->loss);
    *measure = (tacit_measure){0};
}

tacit_status tacit_session_measure(tacit_session *session, tacit_snapshot *out, tacit_error *err)
{
    tacit_measure measure;
    tacit_status status = tacit_measure_take(&measure, session, err);
    if (!status)
        *out = measure.now;
    tacit_measure_clear(&measure);
    return status;
}
