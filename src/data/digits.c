/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digits of seven segments, for neural nets where no pictures are at hand: 12 x 12 pixels, label
 * 0 to 9. A digit is 5 pixels wide and 9 high and stands somewhere in the picture; each segment is
 * drawn with a strength of its own between 0.5 and 1, and every pixel has normal noise of
 * noise-variance.
 *
 * Who has which: a training or validation record of agent i is of digit i mod 10 with probability
 * t and else of any, like A(t) of paper 004 (there shares are exact). Test records are of any
 * digit.
 *
 * Streams: (seed, agent, TACIT_FOR_DATA, 0) draws the number of training records, (seed, agent,
 * TACIT_FOR_DATA, 1 + split + 3 k) rows 64 k .. 64 k + 63 of a split.
 */
#include "data/dataset.h"
#include "tacit/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 12, PIXELS = SIDE * SIDE, WIDE = 5, HIGH = 9, DIGITS = 10, ROWS_A_STREAM = 64 };

/* From the top, bits: top, upper left, upper right, middle, lower left, lower right, bottom. */
static const unsigned char segments[DIGITS] = {0x77, 0x24, 0x5d, 0x6d, 0x2e,
                                               0x6b, 0x7b, 0x25, 0x7f, 0x6f};

typedef struct drawing {
    const tacit_data_options *options;
    tacit_random random;
    uint32_t *counts[TACIT_SPLITS];
    double x[PIXELS];
} drawing;

static tacit_status check(const tacit_data_options *o, tacit_scalar scalar, tacit_error *err)
{
    tacit_status status = tacit_drawn_check(o, err);
    if (status != TACIT_OK)
        return status;
    if (!(o->noise_variance >= 0 && o->noise_variance <= 1e9) || !(o->t >= 0 && o->t <= 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "data: noise-variance must be from 0 to 1e9, t from 0 to 1");
    size_t rows, each = (size_t)(o->max_records + o->test_records + o->validation_records);
    if (!tacit_mul_size((size_t)(o->agents - o->without), each, &rows))
        rows = SIZE_MAX;
    return tacit_dataset_check_size((uint64_t)o->agents, rows, PIXELS, scalar, err);
}

static void count_records(drawing *d, uint32_t agent)
{
    const tacit_data_options *o = d->options;
    const bool has = agent >= (uint64_t)o->without;
    tacit_stream s;
    tacit_stream_open(&s, &d->random, agent, TACIT_FOR_DATA, 0);
    const uint64_t choices = (uint64_t)(o->max_records - o->min_records) + 1;
    const uint64_t records = (uint64_t)o->min_records + tacit_stream_below(&s, choices);
    d->counts[TACIT_TRAIN][agent] = has ? (uint32_t)records : 0;
    d->counts[TACIT_VALIDATION][agent] = has ? (uint32_t)o->validation_records : 0;
    d->counts[TACIT_TEST][agent] = has ? (uint32_t)o->test_records : 0;
    tacit_stream_clear(&s);
}

/* Pixels along one segment of a digit whose upper left corner is at (top, left). */
static void draw_segment(double *x, int which, size_t top, size_t left, double strength)
{
    static const struct {
        unsigned char row, column, across;
    } at[] = {{0, 0, 1}, {0, 0, 0}, {0, 4, 0}, {4, 0, 1}, {4, 0, 0}, {4, 4, 0}, {8, 0, 1}};
    for (size_t k = 0; k < WIDE; k++) { /* segments are 5 long either way: 4 steps and both ends */
        const size_t row = top + at[which].row + (at[which].across ? 0 : k);
        const size_t column = left + at[which].column + (at[which].across ? k : 0);
        x[row * SIDE + column] = fmax(x[row * SIDE + column], strength);
    }
}

static void draw_digit(drawing *d, tacit_stream *s, unsigned digit)
{
    const size_t top = tacit_stream_below(s, SIDE - HIGH + 1);
    const size_t left = tacit_stream_below(s, SIDE - WIDE + 1);
    const double noise = sqrt(d->options->noise_variance);
    memset(d->x, 0, sizeof d->x);
    for (int k = 0; k < 7; k++) {
        const double strength = 0.5 + 0.5 * tacit_stream_unit(s);
        if (segments[digit] >> k & 1)
            draw_segment(d->x, k, top, left, strength);
    }
    for (size_t k = 0; k < PIXELS; k++)
        d->x[k] += noise * tacit_stream_normal(s);
}

static unsigned choose(const drawing *d, tacit_stream *s, uint32_t agent, tacit_split split)
{
    const bool own = tacit_stream_unit(s) < d->options->t && split != TACIT_TEST;
    const unsigned any = (unsigned)tacit_stream_below(s, DIGITS);
    return own ? agent % DIGITS : any;
}

static tacit_status draw_split(drawing *d, tacit_dataset *data, uint32_t agent, tacit_split split,
                               tacit_error *err)
{
    tacit_status status = TACIT_OK;
    tacit_stream s;
    for (uint32_t row = 0; row < d->counts[split][agent] && !status; row++) {
        if (row % ROWS_A_STREAM == 0)
            tacit_stream_open(&s, &d->random, agent, TACIT_FOR_DATA,
                              1 + (uint64_t)split + 3 * (uint64_t)(row / ROWS_A_STREAM));
        const unsigned digit = choose(d, &s, agent, split);
        draw_digit(d, &s, digit);
        tacit_bound_row(d->x, PIXELS, (tacit_bound)d->options->bound, tacit_dataset_scalar(data));
        status = tacit_dataset_put(data, agent, split, row, d->x, digit, err);
    }
    return status;
}

static tacit_status draw_all(drawing *d, tacit_dataset *data, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (uint32_t agent = 0; agent < tacit_dataset_agents(data) && !status; agent++)
        for (int split = 0; split < TACIT_SPLITS && !status; split++)
            status = draw_split(d, data, agent, (tacit_split)split, err);
    return status;
}

tacit_status tacit_data_digits(tacit_source *out, const tacit_data_options *options,
                               tacit_scalar scalar, uint64_t seed, tacit_error *err)
{
    *out = (tacit_source){0};
    tacit_status status = check(options, scalar, err);
    if (status)
        return status;
    const uint32_t agents = (uint32_t)options->agents;
    tacit_source made = {0};
    drawing d = {.options = options};
    uint32_t *counts = calloc((size_t)agents * TACIT_SPLITS, sizeof *counts);
    if (!counts)
        return tacit_out_of_memory(err);
    tacit_random_init(&d.random, seed);
    for (int split = 0; split < TACIT_SPLITS; split++)
        d.counts[split] = counts + (size_t)split * agents;
    for (uint32_t i = 0; i < agents; i++)
        count_records(&d, i);
    const uint32_t *const all[] = {d.counts[0], d.counts[1], d.counts[2]};
    status = tacit_dataset_create_in(&made.data, tacit_data_scratch(options), agents, PIXELS,
                                     scalar, all, err);
    if (!status)
        status = draw_all(&d, made.data, err);
    free(counts);
    tacit_random_clear(&d.random);
    if (status)
        tacit_source_clear(&made);
    else
        *out = made;
    return status;
}
