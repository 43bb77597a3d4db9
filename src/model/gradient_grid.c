/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gradient of a release with noise: a sum of integers.
 *
 * Each record's gradient, slope(z) * x, is clipped, rounded towards zero to the grid, and its norm
 * is checked again as integers; then the integers are added up. So neighbouring data differ in the
 * sum by what the cost was planned for, exactly: a float sum would differ in the rounding of every
 * addition after the record too, by an amount that grows with the number of records.
 *
 * With sampling, each record is in or out by a draw of its own (Poisson), and the sum is divided by
 * the expected size of the lot: the size of the lot itself is a secret.
 *
 * Unit user: the mean of the records' gradients (each clipped, so that one record cannot speak
 * for all) is itself one part, bounded as a whole. Then the number of records does not matter.
 */
#include <math.h>
#include <string.h>

#include "base/scratch.h"
#include "math/kernels.h"
#include "model/linear.h"
#include "privacy/release.h"

#define TILE_ROWS 64

typedef struct grid_sum {
    const tacit_model *model;
    const tacit_cost *cost;
    const void *theta;
    int32_t limit;
    double step;
    int32_t *row;  /* one part */
    int32_t *tile; /* the sum of TILE_ROWS parts at most */
    int64_t *sum;  /* unit record */
    double *mean;  /* unit user */
    double weight; /* unit user: 1 / records */
    tacit_lot *lot;
} grid_sum;

/* By what slope * x is multiplied to be in steps and within the limit. */
static double clipped(const grid_sum *g, double slope, double length)
{
    const double radius = TACIT_GRID_AIM * g->limit, a = slope / g->step;
    const double size = fabs(a) * length;
    return size <= radius ? a : a * (radius / size);
}

static void add_row(const grid_sum *g, const void *x, double slope, double length)
{
    const tacit_real_kernels *kernels = tacit_kernels_for(g->model->shape.segment[0].scalar);
    const size_t p = g->model->features;
    const bool l1 = g->cost->norm == TACIT_L1;
    const double a = clipped(g, slope, length);
    const double limit = g->limit, most = l1 ? limit : limit * limit;
    /* Beyond `most` only perhaps: the exact norm decides. */
    if (!(kernels->to_grid(p, isfinite(a) ? a : 0, g->limit, l1, x, g->row) <= most))
        tacit_grid_shrink(g->cost->norm, g->limit, p, g->row);
    if (g->mean)
        for (size_t k = 0; k < p; k++)
            g->mean[k] += g->weight * g->row[k];
    else
        for (size_t k = 0; k < p; k++)
            g->tile[k] += g->row[k];
}

/* The sums of a tile, at most 64 times 2^24, into those of all. */
static void close_tile(const grid_sum *g)
{
    for (size_t k = 0; k < g->model->features; k++)
        g->sum[k] += g->tile[k];
    memset(g->tile, 0, g->model->features * sizeof *g->tile);
}

static double slope_at(tacit_scalar scalar, const void *coef, size_t r)
{
    return scalar == TACIT_F64 ? ((const double *)coef)[r] : (double)((const float *)coef)[r];
}

static void add_batch(const grid_sum *g, const tacit_batch *batch)
{
    const tacit_model *model = g->model;
    const tacit_scalar scalar = model->shape.segment[0].scalar;
    const tacit_real_kernels *kernels = tacit_kernels_for(scalar);
    const size_t p = model->features, value = tacit_scalar_size(scalar);
    double z[TILE_ROWS], coef[TILE_ROWS], length[TILE_ROWS]; /* z, coef: of either scalar */
    for (size_t at = 0; at < batch->rows; at += TILE_ROWS) {
        size_t rows = batch->rows - at < TILE_ROWS ? batch->rows - at : TILE_ROWS;
        const char *x = (const char *)batch->x + at * p * value;
        kernels->dots(rows, p, x, g->theta, z);
        (model->loss == TACIT_LOGISTIC ? kernels->logistic : kernels->squared)(
            rows, z, (const char *)batch->y + at * value, coef);
        kernels->lengths(rows, p, g->cost->norm == TACIT_L1, x, length);
        for (size_t r = 0; r < rows; r++)
            if (tacit_lot_takes(g->lot))
                add_row(g, x + r * p * value, slope_at(scalar, coef, r), length[r]);
        close_tile(g);
    }
}

/* The mean, as one part. */
static void close_user(const grid_sum *g)
{
    for (size_t k = 0; k < g->model->features; k++) {
        double v = g->mean[k];
        g->row[k] = v >= g->limit ? g->limit : v <= -g->limit ? -g->limit : (int32_t)v;
    }
    tacit_grid_shrink(g->cost->norm, g->limit, g->model->features, g->row);
    for (size_t k = 0; k < g->model->features; k++)
        g->sum[k] = g->row[k];
    memset(g->mean, 0, g->model->features * sizeof *g->mean);
}

static tacit_status check_size(const tacit_cost *cost, size_t records, tacit_error *err)
{
    if (records < UINT64_C(1) << 36)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT, "\"%s\" of %zu records does not fit the grid", cost->what,
                      records);
}

/* The sum becomes a mean where the number of records is public: over the expected lot. */
static double factor(const tacit_cost *cost, size_t records)
{
    if (cost->unit == TACIT_UNIT_USER || cost->adjacency == TACIT_ADD_REMOVE || records == 0)
        return 1;
    return 1 / ((double)records * (cost->sampling > 0 ? cost->sampling : 1));
}

tacit_status tacit_gradient_on_grid(const tacit_model *model, tacit_permit *permit,
                                    const tacit_shard *shard, const tacit_public *at,
                                    tacit_scratch *scratch, tacit_bounded **out, tacit_error *err)
{
    const size_t records = tacit_shard_rows(shard), p = model->features;
    tacit_lot lot;
    tacit_status status = check_size(&permit->cost, records, err);
    if (status == TACIT_OK)
        status = tacit_lot_open(&lot, permit, records, err);
    if (status == TACIT_OK)
        status = tacit_bounded_on_grid(out, permit, &model->shape, scratch, err);
    if (status != TACIT_OK)
        return status;
    const bool user = permit->cost.unit == TACIT_UNIT_USER;
    grid_sum g = {.model = model,
                  .cost = &permit->cost,
                  .theta = tacit_vector_segment(tacit_vector_of_public(at), 0),
                  .limit = tacit_cost_limit(&permit->cost),
                  .step = tacit_cost_step(&permit->cost),
                  .row = tacit_scratch_alloc(scratch, p * sizeof *g.row),
                  .tile = tacit_scratch_alloc(scratch, p * sizeof *g.tile),
                  .sum = (*out)->steps,
                  .weight = records ? 1 / (double)records : 0,
                  .lot = &lot};
    if (user && (g.mean = tacit_scratch_alloc(scratch, p * sizeof *g.mean)))
        memset(g.mean, 0, p * sizeof *g.mean);
    if (!g.row || !g.tile || (user && !g.mean))
        return tacit_out_of_memory(err);
    memset(g.tile, 0, p * sizeof *g.tile);
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        add_batch(&g, &batch);
    if (user)
        close_user(&g);
    tacit_lot_close(&lot);
    memset(g.row, 0, p * sizeof *g.row);
    (*out)->factor = factor(&permit->cost, records);
    return TACIT_OK;
}
