/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets that know how far data could have moved them: tracked.h; proofs in docs/tracked.md.
 *
 * Let s bound |w - w'|_2, where w and w' come of neighbouring data and the same public words. Then
 *
 *  1. mix: keep w + (public) is |keep| s apart.
 *  2. descend: T(w) = k w - eta G(w), k = keep - 2 eta lambda, G the mean over b records of
 *     clip(slope(x . w) x). For a linear model clipping only cuts the slope, a rising function of
 *     x . w, to another one: G is the gradient of a convex function whose curvature is between 0
 *     and L = (largest slope of the slope) R^2, rows being cut to R. So T stretches distances by
 *     at most f = max(|k|, |k - eta L|), and another record in the batch adds 2 eta C / b:
 *
 *         record   s <- f s + 2 eta C / b        user   s <- |k| s + 2 eta C
 *
 *     (for a user all of G may differ, by 2C; that is true of a record as well, and the smaller
 *     bound is taken).
 *  3. Projection to |w| <= B brings points no further apart, and no two of them are more than 2B
 *     apart.
 *
 * Each line is about exact arithmetic. What doubles get wrong is below ROUNDING times the sizes of
 * what is added up, in either trajectory, and is added to s. Without noise nothing of this matters,
 * and single precision will do.
 */
#include "tacit/tracked.h"

#include <math.h>
#include <string.h>

#include "base/scratch.h"
#include "base/vector_internal.h"
#include "math/kernels.h"
#include "model/linear.h"
#include "privacy/release.h"

#define TILE_ROWS 64
#define ROUNDING 0x1p-50    /* of a double's operation, both ends and some room */
#define SLOPE_ERROR 0x1p-40 /* of the kernels' slope */
#define CUT (1 + 0x1p-24)   /* lengths that rows and gradients are cut by are about right */
#define MOST_STEPS 0x1p50   /* a coordinate: doubles hold it to a quarter */
#define ROUNDED 1.25        /* steps that rounding moves a difference of two coordinates by */
#define ABOVE (1 + 0x1p-28) /* bounds are rounded up */
#define USER_RECORDS 0x1p24 /* unit user: all agents round as if they had so many, the most */

static double *numbers(const tacit_tracked *w)
{
    return tacit_vector_segment(tacit_vector_of_secret(w->value), 0);
}

static tacit_scalar scalar_of(const tacit_tracked *w)
{
    return tacit_vector_of_secret(w->value)->shape->segment[0].scalar;
}

static size_t count_of(const tacit_tracked *w)
{
    return tacit_vector_of_secret(w->value)->shape->segment[0].count;
}

static double length_of(tacit_scalar scalar, size_t p, const void *x)
{
    double length;
    tacit_kernels_for(scalar)->lengths(1, p, false, x, &length);
    return length;
}

/* ---- bounds ---- */

static double settle(const tacit_tracking *how, double moved)
{
    moved *= ABOVE;
    return isnan(moved) ? INFINITY : fmin(moved, 2 * how->reach);
}

double tacit_tracked_moved(const tacit_tracking *how, const tacit_model *model, double moved,
                           double keep, double step, size_t records, size_t all_records)
{
    if (records == 0)
        return settle(how, fabs(keep) * moved);
    const double clip = how->clip * CUT, radius = how->radius * CUT;
    const double curve = tacit_model_smoothness_bound(model, radius);
    const double k = keep - 2 * step * tacit_model_lambda(model, all_records);
    const double stretch = fmax(fabs(k), fabs(k - step * curve));
    const bool of_user = how->unit == TACIT_UNIT_USER; /* whose bound must not tell b */
    const double p = (double)model->features + 8;
    const double b = (of_user ? USER_RECORDS : (double)records) + 8;
    const double wrong = ROUNDING * ((fabs(k) + step * curve) * p * how->reach + step * b * clip) +
                         SLOPE_ERROR * step * radius;
    const double user = fabs(k) * moved + 2 * step * clip;
    const double record = stretch * moved + 2 * step * clip / (double)records;
    return settle(how, (of_user ? user : fmin(user, record)) + 2 * wrong);
}

/* ---- moving ---- */

/* Within reach; what is not finite any more starts again. */
static void project(tacit_tracked *w, const tacit_tracking *how)
{
    const size_t p = count_of(w);
    const double length = length_of(scalar_of(w), p, numbers(w));
    if (!isfinite(length) && isfinite(how->reach))
        memset(numbers(w), 0, p * tacit_scalar_size(scalar_of(w)));
    else if (length > how->reach)
        tacit_kernels_for(scalar_of(w))->scale(p, how->reach / length, numbers(w));
}

double tacit_tracked_mixed(const tacit_tracking *how, double moved, double keep, size_t terms)
{
    const double wrong = ROUNDING * ((double)terms + 2) * (fabs(keep) * how->reach + how->longest);
    return settle(how, fabs(keep) * moved + 2 * (double)(terms + 1) * wrong);
}

bool tacit_tracked_takes(const tacit_tracking *how, const tacit_public *term)
{
    const tacit_vector *v = tacit_vector_of_public(term);
    const tacit_segment *first = &v->shape->segment[0];
    if (isinf(how->longest)) /* nothing is promised, and a pass over memory saved */
        return true;
    const double length = length_of(first->scalar, first->count, v->data + v->shape->offset[0]);
    return isfinite(length) && length <= how->longest;
}

/* Coefficients are at most one in size each, as weights of a combination are. */
void tacit_tracked_mix(tacit_tracked *w, const tacit_tracking *how, double keep, size_t terms,
                       const double *coef, const tacit_public *const *term)
{
    const tacit_real_kernels *kernels = tacit_kernels_for(scalar_of(w));
    const size_t p = count_of(w);
    kernels->scale(p, keep, numbers(w));
    for (size_t k = 0; k < terms; k++)
        if (term[k] && fabs(coef[k]) <= 1 && tacit_tracked_takes(how, term[k]))
            kernels->axpy(p, coef[k], tacit_vector_segment(tacit_vector_of_public(term[k]), 0),
                          numbers(w));
    w->moved = tacit_tracked_mixed(how, w->moved, keep, terms);
    project(w, how);
}

/* Slopes of a tile: rows cut to the radius, gradients clipped. */
static void clip_tile(const tacit_model *model, const tacit_tracking *how, size_t rows,
                      const double *length, double *z, const double *y, double *coef)
{
    for (size_t r = 0; r < rows; r++)
        if (length[r] > how->radius)
            z[r] *= how->radius / length[r];
    const tacit_real_kernels *kernels = tacit_kernels_for(TACIT_F64);
    const bool signs = model->loss == TACIT_LOGISTIC; /* labels; larger ones would be steeper */
    (model->loss == TACIT_LOGISTIC ? kernels->logistic : kernels->squared)(rows, z, y, coef);
    for (size_t r = 0; r < rows; r++) {
        const double cut = length[r] > how->radius ? how->radius / length[r] : 1;
        const double longest = length[r] * cut;
        const double most = longest > 0 ? how->clip / longest : INFINITY;
        coef[r] = fmax(-most, fmin(most, coef[r])) * cut;
        if (!isfinite(coef[r]) || (signs && fabs(y[r]) > 1)) /* a broken record has no say */
            coef[r] = 0;
    }
}

static void add_clipped(const tacit_model *model, const tacit_tracking *how, size_t rows,
                        const double *x, const double *y, const double *w, double *g)
{
    const tacit_real_kernels *kernels = tacit_kernels_for(TACIT_F64);
    const size_t p = model->features;
    double z[TILE_ROWS], coef[TILE_ROWS], length[TILE_ROWS];
    for (size_t at = 0; at < rows; at += TILE_ROWS) {
        const size_t tile = rows - at < TILE_ROWS ? rows - at : TILE_ROWS;
        kernels->lengths(tile, p, false, x + at * p, length);
        kernels->dots(tile, p, x + at * p, w, z);
        clip_tile(model, how, tile, length, z, y + at, coef);
        for (size_t r = 0; r < tile; r++) /* a row that is not finite would spoil the sum */
            if (isfinite(length[r]))
                kernels->accumulate(1, p, x + (at + r) * p, coef + r, g);
    }
}

/* Sum of gradients of rows [from, to) of a batch. */
static void add_rows(const tacit_model *model, const tacit_tracking *how, const tacit_batch *batch,
                     size_t from, size_t to, const void *w, const void *next, void *g)
{
    const tacit_scalar scalar = model->shape.segment[0].scalar;
    const tacit_real_kernels *kernels = tacit_kernels_for(scalar);
    const size_t p = model->features, size = tacit_scalar_size(scalar);
    const char *x = (const char *)batch->x + from * p * size;
    const char *y = (const char *)batch->y + from * size;
    if (isfinite(how->clip) || isfinite(how->radius))
        add_clipped(model, how, to - from, (const double *)(const void *)x,
                    (const double *)(const void *)y, w, g);
    else
        (model->loss == TACIT_LOGISTIC ? kernels->gradient_logistic : kernels->gradient_squared)(
            to - from, p, x, y, w, next ? next : x, g);
}

/* `count` records from `first` on, going round. */
static void add_some(const tacit_model *model, const tacit_tracking *how, const tacit_shard *shard,
                     tacit_some_records some, const void *w, const void *next, void *g)
{
    const size_t all = tacit_shard_rows(shard);
    const size_t end = some.first + some.count;
    tacit_batch batch;
    size_t begin = 0;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch); begin += batch.rows)
        for (int lap = 0; lap < 2; lap++) {
            const size_t low = begin + (size_t)lap * all, high = low + batch.rows;
            const size_t from = some.first > low ? some.first : low, to = end < high ? end : high;
            if (from < to)
                add_rows(model, how, &batch, from - low, to - low, w, next, g);
        }
}

static tacit_status check_descent(const tacit_tracking *how, const tacit_model *model, size_t all,
                                  tacit_some_records some, tacit_error *err)
{
    tacit_status status = tacit_refuse_softmax(
        model, "how far records move a model that is kept from step to step", err);
    if (status != TACIT_OK)
        return status;
    if (some.count > all || (some.count > 0 && some.first >= all))
        return tacit_fail(err, TACIT_EUSAGE, "there are %zu records, not %zu from %zu on", all,
                          some.count, some.first);
    if (how->unit == TACIT_UNIT_USER && (double)some.count > USER_RECORDS)
        return tacit_fail(err, TACIT_EINPUT,
                          "for \"privacy.unit: user\" a step takes at most %.0f records, not %zu",
                          USER_RECORDS, some.count);
    if ((isfinite(how->clip) || isfinite(how->radius)) &&
        model->shape.segment[0].scalar != TACIT_F64)
        return tacit_fail(err, TACIT_EINPUT,
                          "how far records move a model is bounded in double precision only: set "
                          "\"model.scalar: f64\"");
    return TACIT_OK;
}

tacit_status tacit_tracked_descend(tacit_tracked *w, const tacit_tracking *how,
                                   const tacit_model *model, const tacit_shard *shard,
                                   tacit_some_records some, double keep, double step,
                                   tacit_scratch *scratch, tacit_error *err)
{
    const size_t all = shard ? tacit_shard_rows(shard) : 0, p = model->features;
    tacit_status status = check_descent(how, model, all, some, err);
    if (status != TACIT_OK)
        return status;
    tacit_vector *g = tacit_scratch_vector(scratch, &model->shape, TACIT_VECTOR_SECRET);
    if (!g)
        return tacit_out_of_memory(err);
    memset(g->data, 0, model->shape.bytes);
    const double lambda = some.count ? tacit_model_lambda(model, all) : 0;
    if (some.count)
        add_some(model, how, shard, some, numbers(w), tacit_scratch_next_rows(scratch),
                 tacit_vector_segment(g, 0));
    const tacit_real_kernels *kernels = tacit_kernels_for(scalar_of(w));
    kernels->scale(p, keep - 2 * step * lambda, numbers(w));
    if (some.count)
        kernels->axpy(p, -step / (double)some.count, tacit_vector_segment(g, 0), numbers(w));
    w->moved = tacit_tracked_moved(how, model, w->moved, keep, step, some.count, all);
    project(w, how);
    return TACIT_OK;
}

/* ---- telling ---- */

/* Steps that rounding adds to the norm of a difference. */
static double rounding_steps(tacit_norm norm, size_t p)
{
    return ROUNDED * (norm == TACIT_L1 ? (double)p : sqrt((double)p)) + 1;
}

static double in_norm(tacit_norm norm, size_t p, double moved)
{
    return moved * (norm == TACIT_L1 ? sqrt((double)p) : 1) * ABOVE;
}

static tacit_status check_cost(const tacit_privacy_options *options, const char *what,
                               tacit_error *err)
{
    if (options->adjacency != TACIT_REPLACE || (options->sampling > 0 && options->sampling < 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%s\" is a function of all records and of their number: it needs "
                          "\"privacy.adjacency: replace\" and no sampling",
                          what);
    return TACIT_OK;
}

static tacit_cost cost_for(const tacit_privacy_options *options, const tacit_model *model)
{
    return (tacit_cost){.mechanism = (tacit_mechanism)options->mechanism,
                        .norm = options->mechanism == TACIT_MECHANISM_LAPLACE ? TACIT_L1 : TACIT_L2,
                        .unit = (tacit_unit)options->unit,
                        .adjacency = (tacit_adjacency)options->adjacency,
                        .coordinates = model->features,
                        .what = "model"};
}

tacit_status tacit_tracked_cost(tacit_cost *cost, const tacit_model *model,
                                const tacit_privacy_options *options, double moved, double noise,
                                tacit_error *err)
{
    *cost = cost_for(options, model);
    tacit_status status = check_cost(options, cost->what, err);
    if (status != TACIT_OK || cost->mechanism == TACIT_MECHANISM_NONE)
        return status;
    const double steps = rounding_steps(cost->norm, model->features);
    const double least = in_norm(cost->norm, model->features, moved);
    double need = least;
    for (int tries = 0; tries < 40; tries++) {
        if ((status = tacit_cost_on_grid(cost, need / 2, noise, err)) != TACIT_OK)
            return status;
        const double step = tacit_cost_step(cost);
        if (cost->sensitivity >= least + steps * step)
            return TACIT_OK;
        need = (least + (steps + 4) * step) * ABOVE;
    }
    return tacit_fail(err, TACIT_EINPUT, "the noise %g of \"%s\" is out of proportion to %g", noise,
                      cost->what, moved);
}

tacit_status tacit_tracked_cost_fixed(tacit_cost *cost, const tacit_model *model,
                                      const tacit_privacy_options *options, double moved,
                                      double noise, int32_t fraction, tacit_error *err)
{
    *cost = cost_for(options, model);
    cost->what = "weighted model";
    tacit_status status = check_cost(options, cost->what, err);
    if (status != TACIT_OK || cost->mechanism == TACIT_MECHANISM_NONE)
        return status;
    const double steps = ceil(ldexp(in_norm(TACIT_L2, model->features, moved), fraction) +
                              rounding_steps(TACIT_L2, model->features));
    const double sigma = ceil(ldexp(noise, fraction));
    if (cost->mechanism != TACIT_MECHANISM_GAUSSIAN || !(steps <= 0x1p26) || !(sigma <= 0x1p30) ||
        !(sigma >= 64))
        return tacit_fail(
            err, TACIT_EINPUT,
            "noise %g on a masked sum that data move by %g does not fit steps of "
            "2^-%d: it takes \"privacy.mechanism: gaussian\", and \"protocol.fraction\" "
            "of at most %d",
            noise, moved, fraction, (int)fmin(floor(26 - log2(moved)), floor(30 - log2(noise))));
    cost->grid = -fraction;
    cost->sensitivity = ldexp(steps, -fraction);
    cost->noise = ldexp(sigma, -fraction);
    return TACIT_OK;
}

static tacit_status check_paid(const tacit_cost *cost, double moved, size_t p, tacit_error *err)
{
    const double need =
        in_norm(cost->norm, p, moved) + rounding_steps(cost->norm, p) * tacit_cost_step(cost);
    if (need <= cost->sensitivity)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EBUDGET,
                      "\"%s\" has sensitivity %g, more than the %g that was "
                      "paid for",
                      cost->what, need, cost->sensitivity);
}

static void to_steps(const tacit_tracked *w, double per_step, int64_t *steps)
{
    for (size_t k = 0; k < count_of(w); k++) {
        const double x = tacit_vector_get(tacit_vector_of_secret(w->value), 0, k) * per_step;
        steps[k] = isnan(x) ? 0 : (int64_t)rint(fmax(-MOST_STEPS, fmin(MOST_STEPS, x)));
    }
}

tacit_status tacit_tracked_bound(const tacit_tracked *w, tacit_permit *permit,
                                 tacit_scratch *scratch, tacit_bounded **out, tacit_error *err)
{
    const tacit_vector *v = tacit_vector_of_secret(w->value);
    if (permit->cost.mechanism == TACIT_MECHANISM_NONE) {
        tacit_status status =
            tacit_bounded_create(out, permit, TACIT_L2, w->moved, v->shape, scratch, err);
        if (status == TACIT_OK)
            memcpy((*out)->value->data, v->data, v->shape->bytes);
        return status;
    }
    tacit_status status = check_paid(&permit->cost, w->moved, count_of(w), err);
    if (status == TACIT_OK)
        status = tacit_bounded_on_grid(out, permit, v->shape, scratch, err);
    if (status == TACIT_OK)
        to_steps(w, 1 / tacit_cost_step(&permit->cost), (*out)->steps);
    return status;
}

tacit_status tacit_tracked_bound_fixed(const tacit_tracked *w, tacit_permit *permit, double weight,
                                       int32_t fraction, const tacit_shape *shape,
                                       tacit_scratch *scratch, tacit_bounded **out,
                                       tacit_error *err)
{
    const bool bare = permit->cost.mechanism == TACIT_MECHANISM_NONE;
    if (shape->segments != 1 || shape->segment[0].scalar != TACIT_I64 ||
        shape->segment[0].count != count_of(w) || (!bare && permit->cost.grid != -fraction))
        return tacit_fail(err, TACIT_EUSAGE, "\"%s\" is told in %zu whole numbers of 2^-%d",
                          permit->cost.what, count_of(w), fraction);
    tacit_status status =
        bare ? tacit_bounded_create(out, permit, TACIT_L2, INFINITY, shape, scratch, err)
             : check_paid(&permit->cost, fabs(weight) * w->moved, count_of(w), err);
    if (status == TACIT_OK && !bare)
        status = tacit_bounded_on_grid(out, permit, shape, scratch, err);
    if (status == TACIT_OK)
        to_steps(w, ldexp(weight, fraction),
                 bare ? tacit_vector_segment((*out)->value, 0) : (*out)->steps);
    return status;
}
