/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fitting a linear model near a prior, fast enough to do it a hundred times an agent.
 *
 *     F(theta) = sum_r loss(theta . x_r; y_r) + weight ||(theta - scale prior) / unit||^2
 *
 * 0. Units of features, where there are any, go into the records: x_r times unit.
 * 1. The minimiser differs from scale * prior by a combination of records. With fewer records
 *    than features, records are therefore written in an orthonormal basis of their span
 *    (Gram-Schmidt, twice), once: k = min(m, p) unknowns c remain, and ||theta - scale prior|| is
 *    ||c||.
 * 2. Newton's method. A step is solved by conjugate gradients, no further than it deserves; where
 *    they would be slower than a Cholesky factor, by that.
 * 3. For the logistic loss |loss'''| <= loss'', so a step that moves no margin by more than 1 meets
 *    no more than e times the curvature it was made for, and lowers F by more than a quarter of
 *    step . gradient. That needs step . gradient = step . H step, which conjugate gradients from
 *    zero keep however early they are stopped. So only longer steps, which are the first
 *    few, need a line search. For the squared loss a full step is exact.
 * 4. The softmax loss (softmax.h) has K margins a record and a row of k unknowns a class. Along
 *    margins z + t u its second derivative is the variance of u under q, and its third the third
 *    central moment, which is at most the range of u times the variance: 3. holds with a record's
 *    range, max u - min u, for how far it moves. H has K k rows and is never formed: conjugate
 *    gradients only.
 *
 * Held-out records have slope and curvature zero; their margins come out all the same.
 */
#include "model/near.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "math/kernels.h"
#include "model/dense.h"
#include "model/softmax.h"

#define MAX_UNKNOWNS 5000 /* as for the exact solver: a Hessian of 200 MB */
#define NEWTON_STEPS 100
#define TILE_ROWS 32    /* with several classes: rows that are looked at for all of them */
#define TINY 1e-120     /* a gradient whose square soon underflows */
#define DEPENDENT 1e-12 /* of a record's norm: what is left of it is rounding */

static const tacit_real_kernels *f64(void)
{
    return tacit_kernels_for(TACIT_F64);
}

static double dot(size_t n, const double *x, const double *y)
{
    double sum;
    f64()->dots(1, n, x, y, &sum);
    return sum;
}

/* ---- records ---- */

static void read_records(const tacit_shard *shard, size_t p, double *x, double *y)
{
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++, x += p, y++)
            tacit_row_doubles(&batch, tacit_shard_scalar(shard), p, r, x, y);
}

static bool all_finite(size_t n, const double *x)
{
    for (size_t k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

static void read_prior(const tacit_public *prior, size_t p, double *out)
{
    for (size_t k = 0; prior && k < p; k++)
        out[k] = tacit_vector_get(tacit_vector_of_public(prior), 0, k);
    if (!all_finite(p, out)) /* a neighbour may say anything */
        memset(out, 0, p * sizeof *out);
}

/* A change of theta by `unit` is now one of length one. */
static void count_in_units(size_t m, size_t p, const double *unit, double *x)
{
    for (size_t r = 0; r < m; r++)
        for (size_t k = 0; k < p; k++)
            x[r * p + k] *= unit[k];
}

/* The rows of `x` become an orthonormal basis, z (m x m, zeroed) their coordinates. What depends
 * on earlier rows leaves a row of zeros. `work` holds m numbers. */
static void orthonormalise(size_t m, size_t p, double *x, double *z, double *work)
{
    for (size_t r = 0; r < m; r++) {
        double *row = x + r * p, *own = z + r * m;
        const double before = sqrt(dot(p, row, row));
        for (int pass = 0; pass < 2; pass++) { /* twice is enough */
            f64()->dots(r, p, x, row, work);
            for (size_t j = 0; j < r; j++) {
                own[j] += work[j];
                work[j] = -work[j];
            }
            f64()->accumulate(r, p, x, work, row);
        }
        const double left = sqrt(dot(p, row, row));
        const bool fresh = left > DEPENDENT * before;
        own[r] = fresh ? left : 0;
        f64()->scale(p, fresh ? 1 / left : 0, row);
    }
}

/* ---- memory ---- */

static bool count_doubles(const near_fit *n, size_t *out)
{
    const size_t m = n->m, p = n->p, k = n->k, classes = n->classes;
    size_t records, square = 0, coordinates = 0, vectors, unknowns, prior;
    if (!tacit_mul_size(m, p, &records) || (classes == 1 && !tacit_mul_size(k, k, &square)) ||
        (m < p && !tacit_mul_size(m, k, &coordinates)) ||
        !tacit_mul_size(m, 1 + 5 * classes, &vectors) || !tacit_mul_size(p, classes, &prior) ||
        !tacit_mul_size(6 * k, classes, &unknowns))
        return false;
    const size_t part[] = {square, coordinates, vectors, unknowns, prior, p};
    *out = records;
    for (size_t j = 0; j < sizeof part / sizeof *part; j++)
        if (!tacit_add_size(*out, part[j], out))
            return false;
    return true;
}

static double *take(double **from, size_t count)
{
    double *at = *from;
    *from += count;
    return at;
}

static void lay_out(near_fit *n, double *x, double *y, double *prior, double *pull, double *free)
{
    n->y = y;
    n->prior = prior;
    n->pull = pull;
    const size_t margins = n->m * n->classes, unknowns = n->k * n->classes;
    n->margin = take(&free, margins);
    n->slope = take(&free, margins);
    n->curve = take(&free, margins);
    n->move = take(&free, margins);
    n->c = take(&free, unknowns);
    n->gradient = take(&free, unknowns);
    n->step = take(&free, unknowns);
    n->residual = take(&free, unknowns);
    n->direction = take(&free, unknowns);
    n->bent = take(&free, unknowns);
    n->unknowns = unknowns;
    if (n->classes == 1)
        n->hessian = take(&free, n->k * n->k);
    n->z = x;
    if (n->m < n->p) {
        double *z = take(&free, n->m * n->k);
        orthonormalise(n->m, n->p, x, z, n->move);
        n->z = z;
        n->basis = x;
    }
}

static tacit_status get_memory(near_fit *n, const tacit_model *model, const tacit_shard *shard,
                               tacit_error *err)
{
    const size_t m = tacit_shard_rows(shard), p = model->features, k = m < p ? m : p;
    *n = (near_fit){.loss = model->loss, .m = m, .p = p, .k = k, .classes = model->classes};
    if (k > MAX_UNKNOWNS)
        return tacit_fail(err, TACIT_EINPUT,
                          "the private finish takes at most %d features or records, whichever is "
                          "fewer; here are %zu and %zu",
                          MAX_UNKNOWNS, p, m);
    size_t doubles;
    if (!count_doubles(n, &doubles) || !tacit_mul_size(doubles, sizeof(double), &n->bytes) ||
        !(n->memory = calloc(doubles, sizeof(double))))
        return tacit_out_of_memory(err);
    return TACIT_OK;
}

/* With the prior and the units in their places, at the start of the memory. */
static void take_records(near_fit *n, const tacit_shard *shard, bool units)
{
    const size_t m = n->m, p = n->p, classes = n->classes;
    double *free = n->memory, *center = take(&free, p * classes), *unit = take(&free, p);
    double *x = take(&free, m * p), *y = take(&free, m), *pull = take(&free, m * classes);
    read_records(shard, p, x, y);
    for (size_t j = 0; j < classes; j++)
        f64()->dots(m, p, x, center + j * p, pull + j * m);
    if (!all_finite(m * classes, pull)) { /* a prior so large is none */
        memset(center, 0, p * classes * sizeof *center);
        memset(pull, 0, m * classes * sizeof *pull);
    }
    if (units) {
        count_in_units(m, p, unit, x);
        n->unit = unit;
    }
    lay_out(n, x, y, center, pull, free);
}

tacit_status near_init(near_fit *n, const tacit_model *model, const tacit_shard *shard,
                       const tacit_public *prior, double last, tacit_error *err)
{
    tacit_status status = get_memory(n, model, shard, err);
    if (status != TACIT_OK)
        return status;
    const size_t numbers = n->p * n->classes;
    read_prior(prior, numbers, n->memory);
    for (size_t k = 0; k < n->p; k++)
        n->memory[numbers + k] = k + 1 < n->p ? 1 : last;
    take_records(n, shard, last != 1);
    return TACIT_OK;
}

tacit_status near_init_at(near_fit *n, const tacit_model *model, const tacit_shard *shard,
                          const double *center, const double *unit, tacit_error *err)
{
    tacit_status status = get_memory(n, model, shard, err);
    if (status != TACIT_OK)
        return status;
    const size_t numbers = n->p * n->classes;
    memcpy(n->memory, center, numbers * sizeof(double));
    if (unit)
        memcpy(n->memory + numbers, unit, n->p * sizeof(double));
    take_records(n, shard, unit != NULL);
    return TACIT_OK;
}

void near_clear(near_fit *n)
{
    if (n->memory)
        sodium_memzero(n->memory, n->bytes);
    free(n->memory);
    *n = (near_fit){0};
}

/* ---- Newton ---- */

static bool is_used(const near_aim *aim, size_t r)
{
    return !aim->fold || aim->fold[r] != aim->out;
}

/* out = z v, class by class; records in tiles, so that they come from memory once. */
static void move_margins(const near_fit *n, const double *v, double *out)
{
    const size_t tile = n->classes == 1 ? n->m : TILE_ROWS;
    for (size_t at = 0; at < n->m; at += tile)
        for (size_t j = 0; j < n->classes; j++)
            f64()->dots(n->m - at < tile ? n->m - at : tile, n->k, n->z + at * n->k, v + j * n->k,
                        out + j * n->m + at);
}

/* out += z^T coef. */
static void gather(const near_fit *n, const double *coef, double *out)
{
    const size_t tile = n->classes == 1 ? n->m : TILE_ROWS;
    for (size_t at = 0; at < n->m; at += tile)
        for (size_t j = 0; j < n->classes; j++)
            f64()->accumulate(n->m - at < tile ? n->m - at : tile, n->k, n->z + at * n->k,
                              coef + j * n->m + at, out + j * n->k);
}

/* Slopes and, for bend(), q of a record. */
static void look_softmax(near_fit *n, size_t r, bool used)
{
    double *q = n->curve + r, *slope = n->slope + r;
    tacit_softmax(n->classes, n->m, n->margin + r, q);
    for (size_t j = 0; j < n->classes * n->m; j += n->m)
        slope[j] = q[j] = used ? q[j] : 0;
    if (used)
        slope[tacit_softmax_class(n->classes, n->y[r]) * n->m] -= 1;
}

/* Margins, slopes and curvatures at c. */
static void look(near_fit *n, const near_aim *aim)
{
    move_margins(n, n->c, n->margin);
    f64()->axpy(n->m * n->classes, aim->scale, n->pull, n->margin);
    for (size_t r = 0; r < n->m; r++) {
        const bool used = is_used(aim, r);
        if (n->loss == TACIT_SOFTMAX) {
            look_softmax(n, r, used);
            continue;
        }
        const double slope = used ? tacit_loss_slope(n->loss, n->margin[r], n->y[r]) : 0;
        n->slope[r] = slope;
        n->curve[r] = n->loss == TACIT_SQUARED ? (used ? 2 : 0) : fabs(slope) * (1 - fabs(slope));
    }
}

/* The gradient of F by c; returns the norms of its two parts, data and prior, together. */
static double derive(near_fit *n, const near_aim *aim)
{
    const double ridge = 2 * aim->weight;
    memset(n->gradient, 0, n->unknowns * sizeof(double));
    gather(n, n->slope, n->gradient);
    const double data = sqrt(dot(n->unknowns, n->gradient, n->gradient));
    f64()->axpy(n->unknowns, ridge, n->c, n->gradient);
    return data + ridge * sqrt(dot(n->unknowns, n->c, n->c));
}

/* move = (diag(q) - q q^T) move, record by record. */
static void bend_softmax(near_fit *n)
{
    for (size_t r = 0; r < n->m; r++) {
        const double *q = n->curve + r;
        double *u = n->move + r, mean = 0;
        for (size_t j = 0; j < n->classes * n->m; j += n->m)
            mean += q[j] * u[j];
        for (size_t j = 0; j < n->classes * n->m; j += n->m)
            u[j] = q[j] * (u[j] - mean);
    }
}

/* out = H v */
static void bend(near_fit *n, double ridge, const double *v, double *out)
{
    move_margins(n, v, n->move);
    if (n->loss == TACIT_SOFTMAX)
        bend_softmax(n);
    else
        for (size_t r = 0; r < n->m; r++)
            n->move[r] *= n->curve[r];
    memset(out, 0, n->unknowns * sizeof(double));
    gather(n, n->move, out);
    f64()->axpy(n->unknowns, ridge, v, out);
}

/* H step = gradient up to a residual of `enough`; false if it takes more steps than a Cholesky
 * factor would be worth. Where there is none, what has been found by then is the step. */
static bool step_by_gradients(near_fit *n, double ridge, double enough)
{
    const size_t k = n->unknowns, most = 8 + (n->classes == 1 ? k / 3 : k);
    memset(n->step, 0, k * sizeof(double));
    memcpy(n->residual, n->gradient, k * sizeof(double));
    memcpy(n->direction, n->gradient, k * sizeof(double));
    double left = dot(k, n->residual, n->residual);
    for (size_t j = 0; j < most; j++) {
        bend(n, ridge, n->direction, n->bent);
        const double along = left / dot(k, n->direction, n->bent);
        f64()->axpy(k, along, n->direction, n->step);
        f64()->axpy(k, -along, n->bent, n->residual);
        const double now = dot(k, n->residual, n->residual);
        if (now <= enough * enough)
            return true;
        f64()->scale(k, now / left, n->direction);
        f64()->axpy(k, 1, n->residual, n->direction);
        left = now;
    }
    return n->classes > 1;
}

static bool step_by_factor(near_fit *n, double ridge)
{
    const size_t k = n->k;
    memset(n->hessian, 0, k * k * sizeof(double));
    for (size_t j = 0; j < k; j++) {
        for (size_t r = 0; r < n->m; r++)
            n->move[r] = n->curve[r] * n->z[r * k + j];
        f64()->accumulate(n->m, k, n->z, n->move, n->hessian + j * k);
        n->hessian[j * k + j] += ridge;
    }
    memcpy(n->step, n->gradient, k * sizeof(double));
    return tacit_dense_solve(k, n->hessian, n->step);
}

/* u . (q - e_y) of a record at margins z - t u: a mean of u with weights that need no division
 * before the end. */
static double moved_slope(const near_fit *n, size_t r, double t)
{
    const double *z = n->margin + r, *u = n->move + r;
    double most = -INFINITY, sum = 0, mean = 0;
    for (size_t j = 0; j < n->classes * n->m; j += n->m)
        most = fmax(most, z[j] - t * u[j]);
    for (size_t j = 0; j < n->classes * n->m; j += n->m) {
        const double e = exp(z[j] - t * u[j] - most);
        sum += e;
        mean += e * u[j];
    }
    return mean / sum - u[tacit_softmax_class(n->classes, n->y[r]) * n->m];
}

/* How far margins of a record move. */
static double range_of(const near_fit *n, size_t r)
{
    if (n->classes == 1)
        return fabs(n->move[r]);
    double least = INFINITY, most = -INFINITY;
    for (size_t j = r; j < n->classes * n->m; j += n->m) {
        least = fmin(least, n->move[j]);
        most = fmax(most, n->move[j]);
    }
    return most - least;
}

/* dF/dt along c - t step; n->move is how margins move. */
static double slope_along(const near_fit *n, const near_aim *aim, double t)
{
    const double ridge = 2 * aim->weight;
    double sum = 0;
    for (size_t r = 0; r < n->m; r++)
        if (is_used(aim, r))
            sum -= n->loss == TACIT_SOFTMAX
                       ? moved_slope(n, r, t)
                       : n->move[r] *
                             tacit_loss_slope(n->loss, n->margin[r] - t * n->move[r], n->y[r]);
    return sum - ridge * (dot(n->unknowns, n->c, n->step) - t * dot(n->unknowns, n->step, n->step));
}

/* How far along the step: see the top. F is convex along it, so its slope changes sign once. */
static double length_of_step(near_fit *n, const near_aim *aim)
{
    if (n->loss == TACIT_SQUARED)
        return 1;
    move_margins(n, n->step, n->move);
    double x = 0;
    for (size_t r = 0; r < n->m; r++)
        if (is_used(aim, r))
            x = fmax(x, range_of(n, r));
    if (x <= 1 || slope_along(n, aim, 1) <= 0)
        return 1;
    const double enough = dot(n->unknowns, n->step, n->gradient) / 4;
    double low = 0, high = 1;
    for (int j = 0; j < 40; j++) {
        const double middle = (low + high) / 2, slope = slope_along(n, aim, middle);
        if (fabs(slope) <= enough)
            return middle;
        *(slope > 0 ? &high : &low) = middle;
    }
    return high;
}

/* Rounding hides what is left: the gradient is small and no longer shrinks. */
static bool is_rounding(double relative, double size, double before)
{
    return relative < 1e-6 && size > before / 2;
}

bool near_solve(near_fit *n, const near_aim *aim)
{
    const double ridge = 2 * aim->weight;
    double before = INFINITY;
    for (int j = 0; j < NEWTON_STEPS; j++) {
        look(n, aim);
        const double whole = derive(n, aim),
                     size = sqrt(dot(n->unknowns, n->gradient, n->gradient));
        if (!isfinite(size))
            return false;
        const double target = aim->tolerance * whole;
        if (size <= target || size < TINY || is_rounding(size / whole, size, before))
            return true;
        /* Far from the minimum a tenth will do; close to it the error is squared anyway. */
        const double part = n->loss == TACIT_SQUARED ? 0 : 0.1 * fmin(1, size / whole);
        if (!n->stiff && !step_by_gradients(n, ridge, fmax(target / 2, part * size)))
            n->stiff = true;
        if (n->stiff && !step_by_factor(n, ridge))
            return false;
        f64()->axpy(n->unknowns, -length_of_step(n, aim), n->step, n->c);
        before = size;
    }
    return false;
}

void near_theta(const near_fit *n, double scale, double *theta)
{
    memset(theta, 0, n->p * n->classes * sizeof(double));
    for (size_t j = 0; j < n->classes; j++) {
        double *own = theta + j * n->p;
        if (n->basis)
            f64()->accumulate(n->k, n->p, n->basis, n->c + j * n->k, own);
        else
            f64()->axpy(n->p, 1, n->c + j * n->k, own);
        for (size_t k = 0; k < n->p; k++)
            own[k] = scale * n->prior[j * n->p + k] + (n->unit ? n->unit[k] : 1) * own[k];
    }
}

double near_loss(const near_fit *n, size_t r, double *spare)
{
    if (n->loss != TACIT_SOFTMAX)
        return tacit_loss_value(n->loss, n->margin[r], n->y[r]);
    const double own = n->margin[tacit_softmax_class(n->classes, n->y[r]) * n->m + r];
    for (size_t j = 0; j < n->classes; j++)
        spare[j] = n->margin[j * n->m + r];
    return tacit_softmax(n->classes, 1, spare, spare) - own;
}
