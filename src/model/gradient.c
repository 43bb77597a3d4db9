/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hot loop of personalized learning: the mean over an agent's records of the clipped
 * gradient. For a linear model a record's gradient is slope(z) * x, so clipping only scales
 * the slope: no per-record vector is ever formed.
 *
 * Without clipping one fused kernel passes once over the rows. Meanwhile it asks for rows
 * further on, and near the agent's end for those of the agent that ticks next (the runtime
 * knows): the hardware prefetcher stops at page borders and cannot guess who that will be.
 */
#include <math.h>

#include "base/scratch.h"
#include "math/kernels.h"
#include "model/softmax.h"
#include "privacy/release.h"

#define TILE_ROWS 64

/* Norm of row r as the adversary's adjacency needs it: the whole record's gradient. */
static double row_norm(tacit_norm norm, tacit_scalar scalar, size_t p, const void *x, size_t r)
{
    double sum = 0;
    for (size_t k = 0; k < p; k++) {
        double v = scalar == TACIT_F64 ? ((const double *)x)[r * p + k]
                                       : (double)((const float *)x)[r * p + k];
        sum += norm == TACIT_L1 ? fabs(v) : v * v;
    }
    return norm == TACIT_L1 ? sum : sqrt(sum);
}

/* coef[r] x[r] is the gradient of record r: shrink it to norm `radius` at most. */
static void clip_slopes(tacit_clip clip, tacit_scalar scalar, size_t rows, size_t p, const void *x,
                        void *coef)
{
    for (size_t r = 0; r < rows; r++) {
        double c = scalar == TACIT_F64 ? ((double *)coef)[r] : (double)((float *)coef)[r];
        double length = fabs(c) * row_norm(clip.norm, scalar, p, x, r);
        if (length <= clip.radius)
            continue;
        c *= clip.radius / length;
        if (scalar == TACIT_F64)
            ((double *)coef)[r] = c;
        else
            ((float *)coef)[r] = (float)c;
    }
}

static void add_clipped(const tacit_model *model, const tacit_batch *batch, const void *theta,
                        tacit_clip clip, void *g)
{
    tacit_scalar scalar = model->shape.segment[0].scalar;
    const tacit_real_kernels *kernels = tacit_kernels_for(scalar);
    size_t p = model->features, value = tacit_scalar_size(scalar);
    double z[TILE_ROWS], coef[TILE_ROWS]; /* of either scalar */
    for (size_t at = 0; at < batch->rows; at += TILE_ROWS) {
        size_t rows = batch->rows - at < TILE_ROWS ? batch->rows - at : TILE_ROWS;
        const char *x = (const char *)batch->x + at * p * value;
        kernels->dots(rows, p, x, theta, z);
        (model->loss == TACIT_LOGISTIC ? kernels->logistic : kernels->squared)(
            rows, z, (const char *)batch->y + at * value, coef);
        clip_slopes(clip, scalar, rows, p, x, coef);
        kernels->accumulate(rows, p, x, coef, g);
    }
}

/* Sum of the clipped gradients of a batch. `next` is what will be read after it. */
static void add_batch(const tacit_model *model, const tacit_batch *batch, const void *theta,
                      tacit_clip clip, const void *next, void *g)
{
    const tacit_real_kernels *kernels = tacit_kernels_for(model->shape.segment[0].scalar);
    if (isfinite(clip.radius))
        add_clipped(model, batch, theta, clip, g);
    else if (model->loss == TACIT_LOGISTIC)
        kernels->gradient_logistic(batch->rows, model->features, batch->x, batch->y, theta,
                                   next ? next : batch->x, g);
    else
        kernels->gradient_squared(batch->rows, model->features, batch->x, batch->y, theta,
                                  next ? next : batch->x, g);
}

typedef struct bare_sum {
    const tacit_model *model;
    tacit_clip clip;
    const void *theta, *next;
    void *g;
    tacit_softmax_tile tile;
    tacit_lot lot;
} bare_sum;

static void add_rows(bare_sum *s, const tacit_batch *batch)
{
    if (s->model->loss == TACIT_SOFTMAX)
        tacit_softmax_add(&s->tile, s->model, batch, s->theta, s->clip, s->g);
    else
        add_batch(s->model, batch, s->theta, s->clip, s->next, s->g);
}

/* All of a batch, or who of it takes part. */
static void add_lot(bare_sum *s, const tacit_batch *batch)
{
    if (tacit_lot_is_all(&s->lot)) {
        add_rows(s, batch);
        return;
    }
    const size_t value = tacit_scalar_size(s->model->shape.segment[0].scalar);
    for (size_t r = 0; r < batch->rows; r++)
        if (tacit_lot_takes(&s->lot))
            add_rows(s, &(tacit_batch){.rows = 1,
                                       .x = (const char *)batch->x + r * s->model->features * value,
                                       .y = (const char *)batch->y + r * value});
}

/*
 * How far the mean of clipped gradients can move. One record replaced: 2C/m. A whole agent's
 * records replaced: 2C. Under add-remove the number of records is itself a secret that a mean
 * shows, so no bound is claimed: a mechanism with noise will refuse it.
 */
static double mean_sensitivity(const tacit_cost *cost, tacit_clip clip, size_t records)
{
    if (records == 0)
        return 0;
    if (cost->adjacency == TACIT_ADD_REMOVE)
        return INFINITY;
    return 2 * clip.radius / (cost->unit == TACIT_UNIT_USER ? 1 : (double)records);
}

tacit_status tacit_model_gradient(const tacit_model *model, tacit_permit *permit,
                                  const tacit_shard *shard, const tacit_public *at, tacit_clip clip,
                                  tacit_scratch *scratch, tacit_bounded **out, tacit_error *err)
{
    /* Kernels add up so many rows in 32 bits; tacit_cost_on_grid plans no more. */
    if (permit->cost.mechanism != TACIT_MECHANISM_NONE &&
        tacit_cost_limit(&permit->cost) >= 1 << 24)
        return tacit_fail(err, TACIT_EUSAGE,
                          "a record of \"%s\" may be %d steps long, more than sums of gradients "
                          "hold; plan its cost with tacit_cost_plan",
                          permit->cost.what, tacit_cost_limit(&permit->cost));
    if (model->net)
        return tacit_net_model_gradient(model, permit, shard, at, clip, scratch, out, err);
    if (permit->cost.mechanism != TACIT_MECHANISM_NONE)
        return tacit_gradient_on_grid(model, permit, shard, at, scratch, out, err);
    size_t records = tacit_shard_rows(shard);
    double sensitivity = mean_sensitivity(&permit->cost, clip, records);
    tacit_status status =
        tacit_bounded_create(out, permit, clip.norm, sensitivity, &model->shape, scratch, err);
    if (status != TACIT_OK)
        return status;
    unsigned char *g = (*out)->value->data;
    const void *theta = tacit_vector_segment(tacit_vector_of_public(at), 0);
    bare_sum sum = {.model = model, .clip = clip, .theta = theta, .g = g};
    sum.next = tacit_scratch_next_rows(scratch);
    if (model->loss == TACIT_SOFTMAX && !tacit_softmax_tile_get(&sum.tile, model, scratch))
        return tacit_out_of_memory(err);
    status = tacit_lot_open(&sum.lot, permit, records, err);
    if (status != TACIT_OK)
        return status;
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        add_lot(&sum, &batch);
    tacit_lot_close(&sum.lot);
    tacit_softmax_tile_wipe(&sum.tile);
    const double q = permit->cost.sampling > 0 ? permit->cost.sampling : 1;
    if (records)
        tacit_kernels_for(model->shape.segment[0].scalar)
            ->scale(model->parameters, 1 / (q * (double)records), g);
    return TACIT_OK;
}
