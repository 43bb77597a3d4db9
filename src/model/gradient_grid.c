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
#include "model/gradient_grid.h"

#include <math.h>
#include <string.h>

#define TILE_ROWS TACIT_TILE_ROWS

void grid_add_part(const grid_sum *g)
{
    const size_t n = g->model->parameters;
    if (g->mean)
        for (size_t k = 0; k < n; k++)
            g->mean[k] += g->weight * g->row[k];
    else
        for (size_t k = 0; k < n; k++)
            g->tile[k] += g->row[k];
}

/* A row whose bound is not proved beforehand, or that is a part of a mean. */
static void add_row(const grid_sum *g, const void *x, double a)
{
    const size_t p = g->model->features;
    const bool l1 = g->cost->norm == TACIT_L1;
    const double limit = g->limit, most = l1 ? limit : limit * limit;
    /* Beyond `most` only perhaps: the exact norm decides. */
    if (!(g->kernels->to_grid(p, isfinite(a) ? a : 0, g->limit, l1, x, g->row) <= most))
        tacit_grid_shrink(g->cost->norm, g->limit, p, g->row);
    grid_add_part(g);
}

/* The sums of TACIT_GRID_ROWS parts below 2^24 each into those of all. */
static void close_tile(const grid_sum *g)
{
    for (size_t k = 0; k < g->model->parameters; k++)
        g->sum[k] += g->tile[k];
    memset(g->tile, 0, g->model->parameters * sizeof *g->tile);
}

/* Rows whose slopes `coef` and sizes are known: clipped, to the grid, into the tile. */
static void add_parts(const grid_sum *g, size_t rows, const char *x, const char *coef,
                      const double *size)
{
    const tacit_real_kernels *kernels = g->kernels;
    const bool l1 = g->cost->norm == TACIT_L1, whole = !g->mean && tacit_lot_is_all(g->lot);
    const size_t p = g->model->features;
    const size_t value = tacit_scalar_size(g->model->shape.segment[0].scalar);
    double a[TILE_ROWS];
    if (kernels->clip(rows, p, l1, g->radius, g->per_step, coef, size, a) && whole) {
        kernels->add_to_grid(rows, p, a, x, g->tile);
        return;
    }
    for (size_t r = 0; r < rows; r++, x += p * value) {
        if (!tacit_lot_takes(g->lot))
            continue;
        if (!g->mean &&
            kernels->clip(1, p, l1, g->radius, g->per_step, coef + r * value, size + r, a + r))
            kernels->add_to_grid(1, p, a + r, x, g->tile);
        else
            add_row(g, x, a[r]);
    }
}

/* Step by step: for rows that the one pass does not take, and for lots and means. */
static void add_tiles(grid_sum *g, const tacit_grid_rows *in)
{
    const tacit_real_kernels *kernels = g->kernels;
    const size_t p = in->p, value = tacit_scalar_size(g->model->shape.segment[0].scalar);
    const char *end = (const char *)in->x + in->rows * p * value;
    double z[TILE_ROWS], coef[TILE_ROWS], size[TILE_ROWS]; /* z, coef: of either scalar */
    for (size_t at = 0; at < in->rows; at += TILE_ROWS) {
        const size_t rows = in->rows - at < TILE_ROWS ? in->rows - at : TILE_ROWS;
        const char *x = (const char *)in->x + at * p * value;
        kernels->margins(rows, p, in->l1, x, g->theta, end, in->next, z, size);
        (in->squared ? kernels->squared
                     : kernels->logistic)(rows, z, (const char *)in->y + at * value, coef);
        add_parts(g, rows, x, (const char *)coef, size);
    }
}

static void add_batch(grid_sum *g, const tacit_batch *batch)
{
    const tacit_model *model = g->model;
    const size_t p = model->features, value = tacit_scalar_size(model->shape.segment[0].scalar);
    const bool whole = !g->mean && tacit_lot_is_all(g->lot);
    const char *x = batch->x, *y = batch->y, *next = g->next ? g->next : x;
    for (size_t left = batch->rows; left > 0;) {
        const size_t rows = left < TACIT_GRID_ROWS ? left : TACIT_GRID_ROWS;
        left -= rows;
        const tacit_grid_rows in = {.rows = rows,
                                    .p = p,
                                    .x = x,
                                    .y = y,
                                    .next = left ? x + rows * p * value : next,
                                    .l1 = g->cost->norm == TACIT_L1,
                                    .squared = model->loss == TACIT_SQUARED,
                                    .radius = g->radius,
                                    .per_step = g->per_step};
        x += rows * p * value;
        y += rows * value;
        const bool soft = model->loss == TACIT_SOFTMAX;
        if (!soft && whole && g->kernels->gradient_on_grid(&in, g->theta, g->sum))
            continue;
        memset(g->tile, 0, model->parameters * sizeof *g->tile);
        g->tiled = true;
        (soft ? grid_add_softmax : add_tiles)(g, &in);
        close_tile(g);
    }
}

/* The mean, as one part. */
static void close_user(const grid_sum *g)
{
    for (size_t k = 0; k < g->model->parameters; k++) {
        double v = g->mean[k];
        g->row[k] = v >= g->limit ? g->limit : v <= -g->limit ? -g->limit : (int32_t)v;
    }
    tacit_grid_shrink(g->cost->norm, g->limit, g->model->parameters, g->row);
    for (size_t k = 0; k < g->model->parameters; k++)
        g->sum[k] = g->row[k];
    memset(g->mean, 0, g->model->parameters * sizeof *g->mean);
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
    const size_t records = tacit_shard_rows(shard), n = model->parameters;
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
                  .kernels = tacit_kernels_for(model->shape.segment[0].scalar),
                  .cost = &permit->cost,
                  .theta = tacit_vector_segment(tacit_vector_of_public(at), 0),
                  .next = tacit_scratch_next_rows(scratch),
                  .limit = tacit_cost_limit(&permit->cost),
                  .radius = TACIT_GRID_AIM * tacit_cost_limit(&permit->cost),
                  .per_step = 1 / tacit_cost_step(&permit->cost),
                  .row = tacit_scratch_alloc(scratch, n * sizeof *g.row),
                  .tile = tacit_scratch_alloc(scratch, n * sizeof *g.tile),
                  .sum = (*out)->steps,
                  .weight = records ? 1 / (double)records : 0,
                  .lot = &lot};
    if (user && (g.mean = tacit_scratch_alloc(scratch, n * sizeof *g.mean)))
        memset(g.mean, 0, n * sizeof *g.mean);
    if (!g.row || !g.tile || (user && !g.mean) ||
        (model->loss == TACIT_SOFTMAX && !tacit_softmax_tile_get(&g.soft, model, scratch)))
        return tacit_out_of_memory(err);
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        add_batch(&g, &batch);
    if (user)
        close_user(&g);
    tacit_lot_close(&lot);
    tacit_softmax_tile_wipe(&g.soft);
    if (g.tiled)
        memset(g.row, 0, n * sizeof *g.row);
    (*out)->factor = factor(&permit->cost, records);
    return TACIT_OK;
}
