/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear regression with one target for all: the task of paper 003, section IV-A (eq. 8).
 *
 * A record is u ~ N(0, R I) and d = u . w* + o, with w* ~ N(0, I) for all agents and
 * o ~ N(0, V_p), where V_p differs by agent: uniform in noise-variance * (1 +- noise-spread).
 *
 * Choices the paper leaves open:
 *  - R_u is "randomly set" there; here it is a number times the identity, so that the step that
 *    is stable does not hang on the seed (MATH section 6: consensus diverges near 1 at step 0.4).
 *  - Test labels have no noise: a score says how near a model is to the target. Training and
 *    validation labels have it.
 *  - With a bound, a record is divided by max(1, its norm) before its label is made, so that the
 *    model stays linear.
 *
 * Streams: (seed, nobody, TACIT_FOR_DATA, 0) draws w*, (seed, agent, TACIT_FOR_DATA, 0) the agent's
 * variance, then its number of training records, (seed, agent, TACIT_FOR_DATA, 1 + split + 3 k)
 * rows 64 k .. 64 k + 63 of a split, p + 1 normals each, the last one for the noise.
 */
#include "data/dataset.h"
#include "tacit/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define ROWS_A_STREAM 64
#define MAX_DIMENSION (1 << 20)

typedef struct drawing {
    const tacit_data_options *options;
    tacit_random random;
    size_t dimension;
    double *target, *x;
    double *deviation; /* of an agent's noise */
    uint32_t *counts[TACIT_SPLITS];
} drawing;

static tacit_status check(const tacit_data_options *o, tacit_scalar scalar, tacit_error *err)
{
    if (o->dimension < 1 || o->dimension > MAX_DIMENSION)
        return tacit_fail(err, TACIT_EINPUT, "data.dimension is \"%" PRId64 "\"; expected 1 to %d",
                          o->dimension, MAX_DIMENSION);
    tacit_status status = tacit_drawn_check(o, err);
    if (status != TACIT_OK)
        return status;
    if (!(o->variance > 0 && o->variance <= 1e9) ||
        !(o->noise_variance >= 0 && o->noise_variance <= 1e9) ||
        !(o->noise_spread >= 0 && o->noise_spread <= 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "data: variance must be above 0, noise-variance at least 0 (both at most "
                          "1e9), noise-spread from 0 to 1");
    size_t rows, each = (size_t)(o->min_records + o->test_records + o->validation_records);
    if (!tacit_mul_size((size_t)(o->agents - o->without), each, &rows))
        rows = SIZE_MAX;
    return tacit_dataset_check_size((uint64_t)o->agents, rows, (size_t)o->dimension, scalar, err);
}

static void draw_target(drawing *d)
{
    tacit_stream s;
    tacit_stream_open(&s, &d->random, TACIT_NOBODY, TACIT_FOR_DATA, 0);
    for (size_t k = 0; k < d->dimension; k++)
        d->target[k] = tacit_stream_normal(&s);
    tacit_stream_clear(&s);
}

static void draw_agent(drawing *d, uint32_t agent)
{
    const tacit_data_options *o = d->options;
    tacit_stream s;
    tacit_stream_open(&s, &d->random, agent, TACIT_FOR_DATA, 0);
    double share = 1 + o->noise_spread * (2 * tacit_stream_unit(&s) - 1);
    d->deviation[agent] = sqrt(o->noise_variance * share);
    uint64_t choices = (uint64_t)(o->max_records - o->min_records) + 1;
    const uint64_t records = (uint64_t)o->min_records + tacit_stream_below(&s, choices);
    const bool has = agent >= (uint64_t)o->without;
    d->counts[TACIT_TRAIN][agent] = has ? (uint32_t)records : 0;
    d->counts[TACIT_VALIDATION][agent] = has ? (uint32_t)o->validation_records : 0;
    d->counts[TACIT_TEST][agent] = has ? (uint32_t)o->test_records : 0;
    tacit_stream_clear(&s);
}

/* One row into d->x; returns its label. */
static double make_row(drawing *d, tacit_stream *s, double noise, tacit_scalar scalar)
{
    const double deviation = sqrt(d->options->variance);
    for (size_t k = 0; k < d->dimension; k++)
        d->x[k] = deviation * tacit_stream_normal(s);
    double y = noise * tacit_stream_normal(s);
    tacit_bound_row(d->x, d->dimension, (tacit_bound)d->options->bound, scalar);
    for (size_t k = 0; k < d->dimension; k++)
        y += d->target[k] * d->x[k];
    return y;
}

static tacit_status draw_split(drawing *d, tacit_dataset *data, uint32_t agent, tacit_split split,
                               tacit_error *err)
{
    const double noise = split == TACIT_TEST ? 0 : d->deviation[agent];
    tacit_status status = TACIT_OK;
    tacit_stream s;
    for (uint32_t row = 0; row < d->counts[split][agent] && !status; row++) {
        if (row % ROWS_A_STREAM == 0) {
            uint64_t counter = 1 + (uint64_t)split + 3 * (uint64_t)(row / ROWS_A_STREAM);
            tacit_stream_open(&s, &d->random, agent, TACIT_FOR_DATA, counter);
        }
        double y = make_row(d, &s, noise, tacit_dataset_scalar(data));
        status = tacit_dataset_put(data, agent, split, row, d->x, y, err);
    }
    return status;
}

static tacit_status draw_records(drawing *d, tacit_dataset *data, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (uint32_t agent = 0; agent < tacit_dataset_agents(data) && !status; agent++) {
        for (int split = 0; split < TACIT_SPLITS && !status; split++)
            status = draw_split(d, data, agent, (tacit_split)split, err);
    }
    return status;
}

tacit_status tacit_data_regression(tacit_source *out, const tacit_data_options *options,
                                   tacit_scalar scalar, uint64_t seed, tacit_error *err)
{
    *out = (tacit_source){0};
    tacit_status status = check(options, scalar, err);
    if (status)
        return status;
    uint32_t agents = (uint32_t)options->agents;
    tacit_source made = {0};
    drawing d = {.options = options, .dimension = (size_t)options->dimension};
    tacit_random_init(&d.random, seed);
    d.target = calloc(d.dimension, sizeof *d.target);
    d.x = calloc(d.dimension, sizeof *d.x);
    d.deviation = calloc(agents, sizeof *d.deviation);
    bool enough = d.target && d.x && d.deviation;
    for (int split = 0; split < TACIT_SPLITS; split++)
        enough &= (d.counts[split] = calloc(agents, sizeof *d.counts[split])) != NULL;
    if (!enough) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    draw_target(&d);
    for (uint32_t i = 0; i < agents; i++)
        draw_agent(&d, i);
    const uint32_t *const counts[] = {d.counts[0], d.counts[1], d.counts[2]};
    status = tacit_dataset_create_in(&made.data, tacit_data_scratch(options), agents, d.dimension,
                                     scalar, counts, err);
    if (!status)
        status = draw_records(&d, made.data, err);
out:
    for (int split = 0; split < TACIT_SPLITS; split++)
        free(d.counts[split]);
    free(d.deviation);
    free(d.x);
    free(d.target);
    tacit_random_clear(&d.random);
    if (status)
        tacit_source_clear(&made);
    else
        *out = made;
    return status;
}
