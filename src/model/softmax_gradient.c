/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradients of the softmax loss, records clipped one by one.
 *
 * A record's gradient is s x^T, s = q - e_y (K numbers), so in l2 and in l1 its norm is |s| |x|:
 * clipping scales s, and no K x p numbers of one record are ever formed. Records come in tiles
 * that stay in the first-level cache while the kernels go over them once a class for margins and
 * once for sums: from memory a record is read once. Exponentials are in double precision, K a
 * record beside the K p multiplications.
 *
 * On the grid (gradient_grid.c) class k adds trunc(f_k x) with f = a s / |s|, and clip() says for
 * a what it says for a record of one class: a sqrt(S) is within the radius. kernels_grid.h proves
 * that trunc(a x) then keeps to the limit; there every error is a factor on a coordinate, so the
 * same holds for K vectors with factors f_k whose norm is a, up to (K + 4) 2^-53 more, for which
 * 2^-16 has room (K <= 1000). Factors below 2^-90 leave nothing of rows below 2^45 anyway and
 * are taken as 0. What clip() does not vouch for is measured as integers, all K p of them.
 */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "model/gradient_grid.h"

#define TILE_BYTES 16384 /* of records, half of a first-level cache */

static tacit_scalar scalar_of(const tacit_model *model)
{
    return model->shape.segment[0].scalar;
}

bool tacit_softmax_tile_get(tacit_softmax_tile *tile, const tacit_model *model,
                            tacit_scratch *scratch)
{
    size_t fit = TILE_BYTES / tacit_scalar_size(scalar_of(model)) / model->features;
    fit = fit < 4 ? 4 : fit > TACIT_TILE_ROWS ? TACIT_TILE_ROWS : fit;
    tile->rows = fit;
    tile->numbers = fit * model->classes;
    tile->z = tacit_scratch_alloc(scratch, tile->numbers * sizeof(double));
    tile->q = tacit_scratch_alloc(scratch, tile->numbers * sizeof(double));
    tile->part = tacit_scratch_alloc(scratch, fit * sizeof(double));
    return tile->z && tile->q && tile->part;
}

void tacit_softmax_tile_wipe(tacit_softmax_tile *tile)
{
    if (tile->numbers == 0)
        return;
    sodium_memzero(tile->z, tile->numbers * sizeof(double));
    sodium_memzero(tile->q, tile->numbers * sizeof(double));
    sodium_memzero(tile->part, tile->rows * sizeof(double));
}

static double number_at(tacit_scalar scalar, const void *x, size_t at)
{
    return scalar == TACIT_F64 ? ((const double *)x)[at] : (double)((const float *)x)[at];
}

static void set_number(tacit_scalar scalar, void *x, size_t at, double value)
{
    if (scalar == TACIT_F64)
        ((double *)x)[at] = value;
    else
        ((float *)x)[at] = (float)value;
}

static void *class_at(const tacit_model *model, const void *vector, size_t k)
{
    return (char *)vector + k * model->features * tacit_scalar_size(scalar_of(model));
}

static void *margins_at(const tacit_softmax_tile *tile, tacit_scalar scalar, size_t k)
{
    return (char *)tile->z + k * tile->rows * tacit_scalar_size(scalar);
}

/* Margins of classes from `first` on. */
static void find_margins(const tacit_softmax_tile *tile, const tacit_model *model, size_t first,
                         size_t rows, const void *x, const void *theta)
{
    const tacit_real_kernels *kernels = tacit_kernels_for(scalar_of(model));
    for (size_t k = first; k < model->classes; k++)
        kernels->dots(rows, model->features, x, class_at(model, theta, k),
                      margins_at(tile, scalar_of(model), k));
}

/* tile->q becomes q - e_y. */
static void find_slopes(const tacit_softmax_tile *tile, const tacit_model *model, size_t rows,
                        const void *y)
{
    const tacit_scalar scalar = scalar_of(model);
    const size_t classes = model->classes;
    for (size_t r = 0; r < rows; r++) {
        double *q = tile->q + r * classes;
        for (size_t k = 0; k < classes; k++)
            q[k] = number_at(scalar, tile->z, k * tile->rows + r);
        tacit_softmax(classes, 1, q, q);
        q[tacit_softmax_class(classes, number_at(scalar, y, r))] -= 1;
    }
}

static double size_of(bool l1, size_t n, const double *s)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += l1 ? fabs(s[k]) : s[k] * s[k];
    return l1 ? sum : sqrt(sum);
}

/* ---- without noise ---- */

static void clip_slopes(const tacit_softmax_tile *tile, const tacit_model *model, tacit_clip clip,
                        size_t rows, const void *x)
{
    const bool l1 = clip.norm == TACIT_L1;
    tacit_kernels_for(scalar_of(model))->lengths(rows, model->features, l1, x, tile->part);
    for (size_t r = 0; r < rows; r++) {
        double *s = tile->q + r * model->classes;
        const double length = size_of(l1, model->classes, s) * tile->part[r];
        for (size_t k = 0; length > clip.radius && k < model->classes; k++)
            s[k] *= clip.radius / length;
    }
}

void tacit_softmax_add(const tacit_softmax_tile *tile, const tacit_model *model,
                       const tacit_batch *batch, const void *theta, tacit_clip clip, void *g)
{
    const tacit_scalar scalar = scalar_of(model);
    const tacit_real_kernels *kernels = tacit_kernels_for(scalar);
    const size_t p = model->features, value = tacit_scalar_size(scalar);
    for (size_t at = 0; at < batch->rows; at += tile->rows) {
        const size_t rows = batch->rows - at < tile->rows ? batch->rows - at : tile->rows;
        const char *x = (const char *)batch->x + at * p * value;
        find_margins(tile, model, 0, rows, x, theta);
        find_slopes(tile, model, rows, (const char *)batch->y + at * value);
        if (isfinite(clip.radius))
            clip_slopes(tile, model, clip, rows, x);
        for (size_t k = 0; k < model->classes; k++) {
            for (size_t r = 0; r < rows; r++)
                set_number(scalar, margins_at(tile, scalar, k), r, tile->q[r * model->classes + k]);
            kernels->accumulate(rows, p, x, margins_at(tile, scalar, k), class_at(model, g, k));
        }
    }
}

/* ---- on the grid ---- */

/* The factor of class k; 0 for one that is none, or smaller than `least`. */
static double factor_of(double a, double slope, double norm, double least)
{
    const double f = a * (slope / norm);
    return isfinite(f) && fabs(f) >= least ? f : 0;
}

/* Rows that clip() vouches for, with factors a. */
static void add_proved(const grid_sum *g, size_t rows, const char *x, const double *slope,
                       const double *norm, const double *a)
{
    const size_t p = g->model->features, classes = g->model->classes;
    double f[TACIT_TILE_ROWS];
    for (size_t k = 0; k < classes; k++) {
        for (size_t r = 0; r < rows; r++)
            f[r] = factor_of(a[r], slope[r * classes + k], norm[r], 0x1p-90);
        g->kernels->add_to_grid(rows, p, f, x, g->tile + k * p);
    }
}

/* A row whose bound is not proved beforehand, or that is a part of a mean. */
static void add_measured(const grid_sum *g, const char *x, const double *slope, double norm,
                         double a)
{
    const size_t p = g->model->features, classes = g->model->classes;
    const bool l1 = g->cost->norm == TACIT_L1;
    const double limit = g->limit, most = l1 ? limit : limit * limit;
    double size = 0;
    for (size_t k = 0; k < classes; k++)
        size += g->kernels->to_grid(p, factor_of(a, slope[k], norm, 0), g->limit, l1, x,
                                    g->row + k * p);
    /* Beyond `most` only perhaps: the exact norm decides. */
    if (!(size * (1 + (double)classes * 0x1p-50) <= most))
        tacit_grid_shrink(g->cost->norm, g->limit, g->model->parameters, g->row);
    grid_add_part(g);
}

static void add_parts(const grid_sum *g, size_t rows, const char *x, const double *size)
{
    const bool l1 = g->cost->norm == TACIT_L1, whole = !g->mean && tacit_lot_is_all(g->lot);
    const tacit_scalar scalar = scalar_of(g->model);
    const size_t p = g->model->features, classes = g->model->classes;
    const size_t value = tacit_scalar_size(scalar);
    const double *slope = g->soft.q, *norm = g->soft.part;
    double a[TACIT_TILE_ROWS], coef[TACIT_TILE_ROWS]; /* coef: of either scalar */
    for (size_t r = 0; r < rows; r++) {
        g->soft.part[r] = size_of(l1, classes, slope + r * classes);
        set_number(scalar, coef, r, norm[r]);
    }
    if (g->kernels->clip(rows, p, l1, g->radius, g->per_step, coef, size, a) && whole) {
        add_proved(g, rows, x, slope, norm, a);
        return;
    }
    for (size_t r = 0; r < rows; r++, x += p * value, slope += classes) {
        if (!tacit_lot_takes(g->lot))
            continue;
        const char *own = (const char *)coef + r * value;
        if (!g->mean && g->kernels->clip(1, p, l1, g->radius, g->per_step, own, size + r, a + r))
            add_proved(g, 1, x, slope, norm + r, a + r);
        else
            add_measured(g, x, slope, norm[r], a[r]);
    }
}

void grid_add_softmax(grid_sum *g, const tacit_grid_rows *in)
{
    const tacit_scalar scalar = scalar_of(g->model);
    const size_t p = in->p, value = tacit_scalar_size(scalar), most = g->soft.rows;
    const char *end = (const char *)in->x + in->rows * p * value;
    double size[TACIT_TILE_ROWS];
    for (size_t at = 0; at < in->rows; at += most) {
        const size_t rows = in->rows - at < most ? in->rows - at : most;
        const char *x = (const char *)in->x + at * p * value;
        g->kernels->margins(rows, p, in->l1, x, g->theta, end, in->next, g->soft.z, size);
        find_margins(&g->soft, g->model, 1, rows, x, g->theta);
        find_slopes(&g->soft, g->model, rows, (const char *)in->y + at * value);
        add_parts(g, rows, x, size);
    }
}
