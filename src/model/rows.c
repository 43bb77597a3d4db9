/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records themselves, added up: what an average of many agents is made of.
 *
 *     unit record   sum_r clip(x_r - c)           unit user   clip(mean_r (x_r - c))
 *
 * c, the centre, is public: the middle of the range that people expect. Parts (records, or a user's
 * mean) are clipped in floats to a little less than the cost's radius, rounded towards zero to its
 * grid, and measured again as integers, as those of gradients are (gradient_grid.c). What differs
 * between neighbouring data is one part: an integer vector of at most tacit_cost_limit steps, so
 * the sum moves by the cost's sensitivity at most, whatever floats did. Rounding moves a part
 * towards the centre, by less than a step a number: 2^-23 of the radius as costs are planned.
 *
 * Without noise it is the plain sum, in doubles, brought to the grid at the end.
 *
 * Invariants:
 *  1. With noise no error depends on what is in the records.
 *  2. Integers stay below 2^36 2^24 in size.
 */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "math/kernels.h"
#include "model/linear.h"
#include "privacy/release.h"

#define MOST_RECORDS (UINT64_C(1) << 36)
#define MOST_LIMIT (1 << 24)
#define MOST_STEPS 0x1p53 /* of a sum without noise: doubles count so far */

typedef struct rows {
    const tacit_model *model;
    const tacit_rows_way *how;
    const tacit_cost *cost;
    int64_t *out;
    double *x;    /* a record, less the centre */
    double *sum;  /* of records: unit user, or without noise */
    int32_t *row; /* a part in steps */
} rows;

static double length_of(tacit_norm norm, size_t p, const double *x)
{
    double length;
    tacit_kernels_for(TACIT_F64)->lengths(1, p, norm == TACIT_L1, x, &length);
    return length;
}

/* x becomes at most `radius` long, up to what doubles get wrong. */
static void clip(tacit_norm norm, double radius, size_t p, double *x)
{
    double length = length_of(norm, p, x);
    if (length <= radius)
        return;
    if (!isfinite(length)) { /* squares of huge numbers: first to numbers of moderate size */
        double most = 0;
        for (size_t k = 0; k < p; k++) {
            x[k] = isfinite(x[k]) ? x[k] : 0;
            most = fmax(most, fabs(x[k]));
        }
        for (size_t k = 0; k < p; k++)
            x[k] /= most > 0 ? most : 1;
        length = length_of(norm, p, x);
        if (length == 0)
            return;
    }
    for (size_t k = 0; k < p; k++)
        x[k] *= radius / length;
}

/* A part: to the grid, measured, added. */
static void add_part(const rows *s, double *x)
{
    const size_t p = s->model->features;
    const int32_t limit = tacit_cost_limit(s->cost);
    const double step = tacit_cost_step(s->cost);
    clip(s->cost->norm, TACIT_GRID_AIM * limit * step, p, x);
    tacit_kernels_for(TACIT_F64)->to_grid(p, 1 / step, limit, s->cost->norm == TACIT_L1, x, s->row);
    tacit_grid_shrink(s->cost->norm, limit, p, s->row);
    for (size_t k = 0; k < p; k++)
        s->out[k] += s->row[k];
}

static void add_records(const rows *s, const tacit_shard *shard)
{
    const size_t p = s->model->features;
    const bool bare = s->cost->mechanism == TACIT_MECHANISM_NONE;
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++) {
            double y;
            tacit_row_doubles(&batch, tacit_shard_scalar(shard), p, r, s->x, &y);
            for (size_t k = 0; s->how->centre && k < p; k++)
                s->x[k] -= s->how->centre[k];
            if (!s->sum) {
                add_part(s, s->x);
                continue;
            }
            if (bare && s->cost->unit == TACIT_UNIT_RECORD)
                clip(s->how->clip.norm, s->how->clip.radius, p, s->x);
            for (size_t k = 0; k < p; k++)
                s->sum[k] += s->x[k];
        }
}

/* Without noise nothing is a secret, and a sum that does not fit is told. */
static tacit_status close_bare(const rows *s, tacit_error *err)
{
    for (size_t k = 0; k < s->model->features; k++) {
        const double steps = rint(ldexp(s->sum[k], -s->cost->grid));
        if (!(fabs(steps) <= MOST_STEPS))
            return tacit_fail(err, TACIT_EINPUT,
                              "feature %zu of \"%s\" adds up to %g, which is too many steps of %g; "
                              "clip records, or take a coarser grid",
                              k, s->cost->what, s->sum[k], tacit_cost_step(s->cost));
        s->out[k] = (int64_t)steps;
    }
    return TACIT_OK;
}

static tacit_status finish(const rows *s, size_t records, tacit_error *err)
{
    const size_t p = s->model->features;
    const bool bare = s->cost->mechanism == TACIT_MECHANISM_NONE;
    const bool user = s->cost->unit == TACIT_UNIT_USER;
    for (size_t k = 0; user && records > 0 && k < p; k++)
        s->sum[k] /= (double)records;
    if (!bare && user)
        add_part(s, s->sum);
    if (bare && user)
        clip(s->how->clip.norm, s->how->clip.radius, p, s->sum);
    return bare ? close_bare(s, err) : TACIT_OK;
}

static tacit_status check(const tacit_model *model, const tacit_cost *cost,
                          const tacit_shard *shard, const tacit_rows_way *how, tacit_error *err)
{
    const tacit_shape *shape = how->shape;
    const bool bare = cost->mechanism == TACIT_MECHANISM_NONE;
    if (shape->segments != 1 || shape->segment[0].scalar != TACIT_I64 ||
        shape->segment[0].count != model->features)
        return tacit_fail(err, TACIT_EUSAGE, "\"%s\" is told in %zu whole numbers", cost->what,
                          model->features);
    if (tacit_shard_rows(shard) >= MOST_RECORDS)
        return tacit_fail(err, TACIT_EINPUT, "\"%s\" of %zu records does not fit the grid",
                          cost->what, tacit_shard_rows(shard));
    if (bare && !(how->clip.radius > 0))
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"%s\" would be clipped to %g; infinity is not to clip", cost->what,
                          how->clip.radius);
    if (!bare && cost->sampling > 0 && cost->sampling < 1)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%s\" is a sum over all records: remove \"privacy.sampling\"",
                          cost->what);
    if (!bare && tacit_cost_limit(cost) >= MOST_LIMIT)
        return tacit_fail(err, TACIT_EUSAGE,
                          "a record of \"%s\" may be %d steps long, more than sums hold; plan its "
                          "cost with tacit_cost_plan",
                          cost->what, tacit_cost_limit(cost));
    return TACIT_OK;
}

tacit_status tacit_model_rows(const tacit_model *model, tacit_permit *permit,
                              const tacit_shard *shard, const tacit_rows_way *how,
                              tacit_scratch *scratch, tacit_bounded **out, tacit_error *err)
{
    if (model->net)
        return tacit_refuse_net(model, "a sum of records", err);
    const tacit_cost *cost = &permit->cost;
    const bool bare = cost->mechanism == TACIT_MECHANISM_NONE;
    const size_t p = model->features, bytes = p * sizeof(double);
    tacit_status status = check(model, cost, shard, how, err);
    if (status == TACIT_OK)
        status = bare ? tacit_bounded_create(out, permit, how->clip.norm, INFINITY, how->shape,
                                             scratch, err)
                      : tacit_bounded_on_grid(out, permit, how->shape, scratch, err);
    if (status != TACIT_OK)
        return status;
    const bool summed = bare || cost->unit == TACIT_UNIT_USER;
    rows s = {.model = model,
              .how = how,
              .cost = cost,
              .out = bare ? tacit_vector_segment((*out)->value, 0) : (*out)->steps,
              .x = tacit_scratch_alloc(scratch, bytes),
              .sum = summed ? tacit_scratch_alloc(scratch, bytes) : NULL,
              .row = tacit_scratch_alloc(scratch, p * sizeof *s.row)};
    if (!s.x || !s.row || (summed && !s.sum))
        return tacit_out_of_memory(err);
    if (summed)
        memset(s.sum, 0, bytes);
    add_records(&s, shard);
    status = finish(&s, tacit_shard_rows(shard), err);
    sodium_memzero(s.x, bytes);
    if (summed)
        sodium_memzero(s.sum, bytes);
    sodium_memzero(s.row, p * sizeof *s.row);
    return status;
}
