/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of diffusion, looked at on the way: fig_003.h. */
#include "reproduce/fig_003.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"

#define LEAST 1e-30 /* of a squared distance, for logarithms */
#define APART 1.1   /* points of a curve, at least */

const char *const spread_noises[SPREAD_NOISES] = {"none", "independent", "homomorphic",
                                                  "local-homomorphic"};
const char *const spread_strategies[SPREAD_STRATEGIES] = {"consensus", "cta", "atc"};

/* ---- a run ---- */

typedef struct looking {
    spread_run *run;
    tacit_session *session;
    tacit_vector *vector; /* scratch */
    double *best;         /* minimiser of the mean loss */
    double *q;            /* what agents count in the centroid */
    size_t parameters;
    uint32_t agents;
} looking;

static tacit_status configure(tacit_config *config, const spread_run *r,
                              const tacit_reproduce_request *request, tacit_error *err)
{
    char yaml[4000], folder[TACIT_TEXT_MAX + 20];
    int len = snprintf(
        yaml, sizeof yaml,
        "%srun: {seed: %lld, time: %lld, every: 0}\n"
        "protocol: {name: diffusion, strategy: %s, noise: %s, step: %.17g, "
        "sigma: %.17g, iterations: %lld, batch: %lld, order: random, radius: %.17g, reach: %.17g, "
        "patience: 0}\n",
        r->task, (long long)r->seed, (long long)r->iterations + 1, spread_strategies[r->strategy],
        spread_noises[r->noise], r->step, r->sigma, (long long)r->iterations, (long long)r->batch,
        r->radius, r->reach);
    if (r->noise == SPREAD_INDEPENDENT || r->noise == SPREAD_HOMOMORPHIC)
        len += snprintf(yaml + len, sizeof yaml - (size_t)len,
                        "privacy: {mechanism: gaussian, clip: %.17g, epsilon: %g}\n", r->clip,
                        r->epsilon);
    tacit_status status = tacit_config_parse(config, "a figure", yaml, (size_t)len, err);
    if (!status && request->data && *request->data) {
        snprintf(folder, sizeof folder, "data.folder=%s", request->data);
        status = tacit_config_set(config, folder, err);
    }
    return status;
}

static tacit_status weigh(looking *l, tacit_error *err)
{
    tacit_combination kinds[3] = {TACIT_COMBINE_NONE, TACIT_COMBINE_NONE, TACIT_COMBINE_NONE};
    kinds[l->run->strategy] = TACIT_COMBINE_METROPOLIS; /* A0, A1, A2: in the order of names */
    return tacit_graph_perron(tacit_session_graph(l->session), kinds, l->q, err);
}

static tacit_status solve(looking *l, const tacit_shard *shard, double *out, tacit_error *err)
{
    tacit_status status = tacit_model_solve(tacit_session_model(l->session), shard,
                                            tacit_vector_secret(l->vector), err);
    for (size_t k = 0; k < l->parameters && !status; k++)
        out[k] = tacit_vector_get(l->vector, 0, k);
    return status;
}

static double square_between(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += (x[k] - y[k]) * (x[k] - y[k]);
    return sum;
}

/* The best common model (all have as many records), and how far from it agents get alone. */
static tacit_status find_best(looking *l, tacit_error *err)
{
    const tacit_dataset *data = tacit_session_data(l->session);
    double *own = calloc(l->parameters, sizeof *own);
    if (!own)
        return tacit_out_of_memory(err);
    tacit_status status = solve(l, tacit_dataset_pooled(data, TACIT_TRAIN), l->best, err);
    for (uint32_t p = 0; p < l->agents && !status; p++) {
        status = solve(l, tacit_dataset_shard(data, p, TACIT_TRAIN), own, err);
        l->run->alone += square_between(l->parameters, own, l->best) / l->agents;
    }
    free(own);
    return status;
}

static void put(looking *l, const double *model)
{
    for (size_t k = 0; k < l->parameters; k++)
        tacit_vector_set(l->vector, 0, k, model[k]);
}

static const tacit_shard *test_records(const looking *l)
{
    return tacit_dataset_pooled(tacit_session_data(l->session), TACIT_TEST);
}

/* Test error of a common model, over all agents' test records. */
static double error_of(looking *l, const double *model)
{
    put(l, model);
    return 1 - tacit_model_score(tacit_session_model(l->session), test_records(l),
                                 tacit_vector_secret(l->vector))
                   .owner_only;
}

static double loss_of(looking *l, const double *model)
{
    const tacit_model *of = tacit_session_model(l->session);
    const tacit_shard *shard = test_records(l);
    double square = 0;
    put(l, model);
    for (size_t k = 0; k < l->parameters; k++)
        square += model[k] * model[k];
    return tacit_model_loss(of, shard, tacit_vector_secret(l->vector)).owner_only -
           tacit_model_lambda(of, tacit_shard_rows(shard)) * square;
}

/* The last feature is the constant: a model that always says -1. */
static void find_never(looking *l)
{
    l->best[l->parameters - 1] = -1;
    l->run->never = error_of(l, l->best);
}

static double judge(looking *l, const double *model)
{
    return l->run->distances ? square_between(l->parameters, model, l->best) : error_of(l, model);
}

static tacit_status look(looking *l, size_t k, tacit_error *err)
{
    spread_run *r = l->run;
    const tacit_runtime *rt = tacit_session_runtime(l->session);
    double *models = r->models + k * r->numbers;
    double *centroid = calloc(l->parameters, sizeof *centroid);
    if (!centroid)
        return tacit_out_of_memory(err);
    for (uint32_t p = 0; p < l->agents; p++) {
        double *own = models + p * l->parameters;
        const tacit_vector *model = tacit_vector_of_secret(rt->ops->agent_model(rt, p));
        for (size_t i = 0; i < l->parameters; i++) {
            own[i] = tacit_vector_get(model, 0, i);
            centroid[i] += l->q[p] * own[i];
        }
        r->seen[SPREAD_SINGLE][k] += judge(l, own) / l->agents;
        if (!r->distances)
            r->seen[SPREAD_SINGLE_LOSS][k] += loss_of(l, own) / l->agents;
    }
    r->seen[SPREAD_CENTROID][k] = judge(l, centroid);
    if (!r->distances)
        r->seen[SPREAD_LOSS][k] = loss_of(l, centroid);
    free(centroid);
    return TACIT_OK;
}

static tacit_status make_room(looking *l, tacit_error *err)
{
    spread_run *r = l->run;
    const tacit_shape *shape = tacit_model_shape(tacit_session_model(l->session));
    l->agents = tacit_dataset_agents(tacit_session_data(l->session));
    l->parameters = shape->segment[0].count;
    r->numbers = l->agents * l->parameters;
    l->vector = calloc(1, sizeof *l->vector + shape->bytes);
    l->best = calloc(l->parameters, sizeof *l->best);
    l->q = calloc(l->agents, sizeof *l->q);
    r->seen[0] = calloc(SPREAD_SEEN * r->looks, sizeof *r->seen[0]);
    r->models = calloc(r->looks * r->numbers, sizeof *r->models);
    if (!l->vector || !l->best || !l->q || !r->seen[0] || !r->models)
        return tacit_out_of_memory(err);
    for (int what = 1; what < SPREAD_SEEN; what++)
        r->seen[what] = r->seen[0] + (size_t)what * r->looks;
    tacit_vector_init(l->vector, shape, TACIT_VECTOR_SECRET);
    return TACIT_OK;
}

/* An iteration begins and, with no latency, ends when the clock says its number. */
static tacit_status follow(looking *l, const figure_worker *worker, tacit_error *err)
{
    tacit_runtime *rt = tacit_session_runtime(l->session);
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < l->run->looks && !status; k++) {
        status = rt->ops->run(rt, l->run->at[k] + 0.5, worker->work->request->stop, err);
        if (!status)
            status = look(l, k, err);
    }
    l->run->spent = tacit_session_epsilon(l->session);
    return status;
}

static tacit_status perform(void *ctx, size_t k, const figure_worker *worker, tacit_error *err)
{
    looking l = {.run = (spread_run *)ctx + k};
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_config_init(&config);
    tacit_status status = configure(&config, l.run, worker->work->request, err);
    if (!status)
        status = tacit_experiment_init(&experiment, &config, err);
    if (!status)
        status = tacit_session_create(&l.session, &experiment, 1, err);
    if (!status)
        status = make_room(&l, err);
    if (!status)
        status = weigh(&l, err);
    if (!status && l.run->distances)
        status = find_best(&l, err);
    else if (!status)
        find_never(&l);
    if (!status)
        status = follow(&l, worker, err);
    tacit_session_free(l.session);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    free(l.vector);
    free(l.best);
    free(l.q);
    return status ? status : figure_done(worker, (double)l.run->iterations);
}

tacit_status spread_perform(spread_run *runs, size_t count, const tacit_reproduce_request *request,
                            tacit_error *err)
{
    figure_work work = {.request = request};
    for (size_t k = 0; k < count; k++)
        work.total += (double)runs[k].iterations;
    return figure_run(&work, count, perform, runs, err);
}

void spread_free(spread_run *runs, size_t count)
{
    for (size_t k = 0; runs && k < count; k++) {
        free(runs[k].seen[0]); /* with the others behind it */
        free(runs[k].models);
    }
    free(runs);
}

/* ---- numbers over runs ---- */

double spread_late(const spread_run *r, const double *seen, double from)
{
    double sum = 0;
    size_t count = 0;
    for (size_t k = 0; k < r->looks; k++)
        if (r->at[k] >= from) {
            sum += seen[k];
            count++;
        }
    return sum / (double)count;
}

tacit_interval spread_interval(const double *value, size_t n)
{
    tacit_interval i = tacit_interval_of(value, n);
    i.low = isnan(i.low) ? i.mean : i.low;
    i.high = isnan(i.high) ? i.mean : i.high;
    return i;
}

static double shown(double value, bool decibel)
{
    return decibel ? 10 * log10(fmax(value, LEAST)) : value;
}

void spread_curve(tacit_reproduced *out, size_t panel, const char *name, uint32_t colour,
                  const spread_run *runs, size_t seeds, int what, bool decibel)
{
    const size_t looks = runs[0].looks;
    double *line = calloc(4 * looks + seeds, sizeof *line);
    size_t n = 0;
    if (!line) {
        out->failed = true;
        return;
    }
    double *y = line + looks, *low = y + looks, *high = low + looks, *value = high + looks;
    for (size_t k = 0; k < looks; k++) {
        if (n > 0 && runs[0].at[k] < APART * line[n - 1] && k + 1 < looks)
            continue; /* looks that are for averages only would be a scribble */
        for (size_t s = 0; s < seeds; s++)
            value[s] = runs[s].seen[what][k];
        tacit_interval i = spread_interval(value, seeds);
        line[n] = runs[0].at[k];
        y[n] = shown(i.mean, decibel);
        low[n] = shown(decibel ? fmax(i.low, i.mean / 10) : i.low, decibel);
        high[n++] = shown(i.high, decibel);
    }
    figure_add_series(out, panel, name, n, line, y, low, high);
    figure_draw(out, colour, false);
    free(line);
}
