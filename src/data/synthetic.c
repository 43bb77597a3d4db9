/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear separators: the task of paper 000, section 5.1.
 *
 * Agent i has a target separator in R^p that is zero but for its first two coordinates, drawn
 * N(0, 1), and m_i training records, uniform in min_records..max_records. A record is uniform in
 * [-1, 1]^p (and, with a bound, divided by max(1, its norm)); its label is sign(target . x).
 * Labels of train and validation are then flipped with probability label_noise.
 *
 * Choices the paper leaves open:
 *  - Test labels are not flipped: a score says how often the agent agrees with its target.
 *    Measured with ||x||_2 <= 1 and n = p = 100, mean of 5 seeds: alone 0.674, cd 0.881 (mu = 5),
 *    the figures of the first study; with flipped test labels it would be 0.657 and 0.843.
 *  - Validation is a sample of its own, drawn and flipped like train: what an agent could hold
 *    out in earnest.
 *  - sign(0) is +1.
 *
 * Where randomness comes from (so that an agent's records depend on nobody else, and its test
 * records not on how many training records it has), streams (seed, agent, TACIT_FOR_DATA, c):
 *  - c = 0: the two target coordinates, then m_i;
 *  - c = 1 + split + 3 k: rows 64 k .. 64 k + 63 of a split; a row takes p + 1 little-endian
 *    32-bit words, one a coordinate and one for the flip.
 */
#include "data/dataset.h"
#include "tacit/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define ROWS_A_STREAM 64 /* times MAX_DIMENSION words: 256 MiB of the stream's 1 GiB */
#define MAX_DIMENSION (1 << 20)

/* What is needed while drawing. */
typedef struct drawing {
    const tacit_data_options *options;
    tacit_random random;
    size_t dimension;
    uint64_t flip_below; /* a word below this flips the label */
    uint32_t *words;     /* of up to `ahead` rows, drawn at one go */
    uint32_t ahead;
    double *x;
    uint32_t *counts[TACIT_SPLITS];
} drawing;

/* Numbers of agents and records of sources that draw them. */
tacit_status tacit_drawn_check(const tacit_data_options *o, tacit_error *err)
{
    if (o->agents < 1 || o->min_records < 1 || o->test_records < 0 || o->validation_records < 0 ||
        o->max_records > UINT32_MAX || o->test_records > UINT32_MAX ||
        o->validation_records > UINT32_MAX)
        return tacit_fail(err, TACIT_EINPUT,
                          "data: agents and min-records must be at least 1, no count negative or "
                          "above %" PRIu32,
                          UINT32_MAX);
    if (o->without < 0 || o->without >= o->agents)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.without is \"%" PRId64 "\" of %" PRId64
                          " agents (data.agents); somebody must have records",
                          o->without, o->agents);
    if (o->min_records > o->max_records)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.min-records \"%" PRId64 "\" is above data.max-records \"%" PRId64
                          "\"; swap them or raise max-records",
                          o->min_records, o->max_records);
    return TACIT_OK;
}

static tacit_status check(const tacit_data_options *o, tacit_scalar scalar, tacit_error *err)
{
    if (o->dimension < 2 || o->dimension > MAX_DIMENSION)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.dimension is \"%" PRId64 "\"; expected 2 to %d (a target lives in "
                          "the first two coordinates)",
                          o->dimension, MAX_DIMENSION);
    tacit_status status = tacit_drawn_check(o, err);
    if (status != TACIT_OK)
        return status;
    if (!(o->label_noise >= 0 && o->label_noise <= 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "data.label-noise is \"%g\"; expected a probability from 0 to 1",
                          o->label_noise);
    /* The least this can come to, before any of it is drawn. */
    size_t rows, each = (size_t)(o->min_records + o->test_records + o->validation_records);
    if (!tacit_mul_size((size_t)(o->agents - o->without), each, &rows))
        rows = SIZE_MAX;
    return tacit_dataset_check_size((uint64_t)o->agents, rows, (size_t)o->dimension, scalar, err);
}

static void draw_agent(drawing *d, uint32_t agent, double target[2])
{
    const tacit_data_options *o = d->options;
    tacit_stream s;
    tacit_stream_open(&s, &d->random, agent, TACIT_FOR_DATA, 0);
    target[0] = tacit_stream_normal(&s);
    target[1] = tacit_stream_normal(&s);
    uint64_t choices = (uint64_t)(o->max_records - o->min_records) + 1;
    const uint64_t records = (uint64_t)o->min_records + tacit_stream_below(&s, choices);
    const bool has = agent >= (uint64_t)o->without;
    d->counts[TACIT_TRAIN][agent] = has ? (uint32_t)records : 0;
    d->counts[TACIT_VALIDATION][agent] = has ? (uint32_t)o->validation_records : 0;
    d->counts[TACIT_TEST][agent] = has ? (uint32_t)o->test_records : 0;
    tacit_stream_clear(&s);
}

/* The next `rows` rows' worth of words, little-endian in the stream. */
static void draw_words(drawing *d, tacit_stream *s, uint32_t rows)
{
    size_t count = rows * (d->dimension + 1);
    tacit_stream_bytes(s, d->words, count * sizeof *d->words);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t k = 0; k < count; k++)
        d->words[k] = __builtin_bswap32(d->words[k]);
#endif
}

/* One row into d->x; returns its label. */
static double make_row(drawing *d, const uint32_t *words, const double target[2], tacit_split split,
                       tacit_scalar scalar)
{
    for (size_t k = 0; k < d->dimension; k++) /* centres of 2^32 cells of [-1, 1] */
        d->x[k] = ((double)(int32_t)(words[k] ^ 0x80000000U) + 0.5) * 0x1p-31;
    double y = target[0] * d->x[0] + target[1] * d->x[1] >= 0 ? 1 : -1;
    if (split != TACIT_TEST && words[d->dimension] < d->flip_below)
        y = -y;
    tacit_bound_row(d->x, d->dimension, (tacit_bound)d->options->bound, scalar);
    return y;
}

static tacit_status draw_split(drawing *d, tacit_dataset *data, uint32_t agent, tacit_split split,
                               const double target[2], tacit_error *err)
{
    tacit_status status = TACIT_OK;
    tacit_stream s;
    uint32_t rows = d->counts[split][agent], drawn = 0;
    for (uint32_t row = 0; row < rows && !status; row++) {
        if (row % ROWS_A_STREAM == 0) {
            uint64_t counter = 1 + (uint64_t)split + 3 * (uint64_t)(row / ROWS_A_STREAM);
            tacit_stream_open(&s, &d->random, agent, TACIT_FOR_DATA, counter);
        }
        if (row % d->ahead == 0) { /* `ahead` divides ROWS_A_STREAM */
            drawn = row;
            draw_words(d, &s, rows - row < d->ahead ? rows - row : d->ahead);
        }
        const uint32_t *words = d->words + (row - drawn) * (d->dimension + 1);
        double y = make_row(d, words, target, split, tacit_dataset_scalar(data));
        status = tacit_dataset_put(data, agent, split, row, d->x, y, err);
    }
    return status;
}

static tacit_status draw_records(drawing *d, tacit_dataset *data, uint32_t agent,
                                 const double target[2], tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (int split = 0; split < TACIT_SPLITS && !status; split++)
        status = draw_split(d, data, agent, (tacit_split)split, target, err);
    return status;
}

tacit_status tacit_data_linear_separators(tacit_source *out, const tacit_data_options *options,
                                          tacit_scalar scalar, uint64_t seed, tacit_error *err)
{
    *out = (tacit_source){0};
    tacit_status status = check(options, scalar, err);
    if (status)
        return status;

    uint32_t agents = (uint32_t)options->agents;
    tacit_source made = {.targets = {.dimension = 2}};
    drawing d = {.options = options, .dimension = (size_t)options->dimension};
    d.flip_below = (uint64_t)ldexp(options->label_noise, 32);
    tacit_random_init(&d.random, seed);
    double *targets = made.targets.dense = calloc(agents, 2 * sizeof *targets);
    d.ahead = d.dimension < 1024 ? 16 : 1; /* words of a few rows stay in the cache */
    d.words = calloc(d.ahead * (d.dimension + 1), sizeof *d.words);
    d.x = calloc(d.dimension, sizeof *d.x);
    bool enough = targets && d.words && d.x;
    for (int split = 0; split < TACIT_SPLITS; split++)
        enough &= (d.counts[split] = calloc(agents, sizeof *d.counts[split])) != NULL;
    if (!enough) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    for (uint32_t i = 0; i < agents; i++)
        draw_agent(&d, i, &targets[2 * (size_t)i]);
    const uint32_t *const counts[] = {d.counts[0], d.counts[1], d.counts[2]};
    if ((status = tacit_dataset_create_in(&made.data, tacit_data_scratch(options), agents,
                                          d.dimension, scalar, counts, err)))
        goto out;
    for (uint32_t i = 0; i < agents; i++) {
        if ((status = draw_records(&d, made.data, i, &targets[2 * (size_t)i], err)))
            goto out;
    }
out:
    for (int split = 0; split < TACIT_SPLITS; split++)
        free(d.counts[split]);
    free(d.x);
    free(d.words);
    tacit_random_clear(&d.random);
    if (status)
        tacit_source_clear(&made);
    else
        *out = made;
    return status;
}
