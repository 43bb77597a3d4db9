/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent can find out exactly from its own records: the minimiser of L_i (Newton
 * with Cholesky; one step for the squared loss) and the smoothness constant of its loss
 * (largest eigenvalue of the smaller Gram matrix). In doubles whatever the run's scalar,
 * because these are oracles.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"
#include "math/kernels.h"
#include "model/dense.h"
#include "model/near.h"
#include "privacy/release.h"

#define MAX_FEATURES 5000 /* a Hessian of 200 MB; beyond, an exact solver is the wrong tool */
#define NEWTON_STEPS 100
#define SOFTMAX_TOLERANCE 1e-13
#define CHUNK 64 /* rows that are added to the Hessian together */

typedef struct newton {
    size_t p;
    double *theta, *gradient, *hessian, *step, *trial;
    double *rows; /* CHUNK rows as doubles */
    double y[CHUNK];
    double *memory;
    size_t doubles;
} newton;

static tacit_status newton_init(newton *w, size_t p, tacit_error *err)
{
    *w = (newton){.p = p, .doubles = (4 + CHUNK) * p + p * p};
    w->memory = calloc(w->doubles, sizeof(double));
    if (!w->memory)
        return tacit_out_of_memory(err);
    w->theta = w->memory;
    w->gradient = w->theta + p;
    w->step = w->gradient + p;
    w->trial = w->step + p;
    w->rows = w->trial + p;
    w->hessian = w->rows + CHUNK * p;
    return TACIT_OK;
}

static void newton_clear(newton *w)
{
    if (w->memory)
        sodium_memzero(w->memory, w->doubles * sizeof(double));
    free(w->memory);
}

/* Add rows of doubles, `rows` of them, to the gradient and the Hessian. Whole rows of the Hessian
 * are touched, not only its lower triangle: twice the work, but all of it in wide registers. */
static void add_rows(newton *w, const tacit_model *model, size_t rows, double scale)
{
    const tacit_real_kernels *f64 = tacit_kernels_for(TACIT_F64);
    size_t p = w->p;
    double z[CHUNK], curve[CHUNK] = {0}, coef[CHUNK];
    f64->dots(rows, p, w->rows, w->theta, z);
    for (size_t r = 0; r < rows; r++) {
        coef[r] = scale * tacit_loss_slope(model->loss, z[r], w->y[r]);
        curve[r] = scale * tacit_loss_curve(model->loss, z[r], w->y[r]);
    }
    f64->accumulate(rows, p, w->rows, coef, w->gradient);
    for (size_t k = 0; k < p; k++) {
        for (size_t r = 0; r < rows; r++)
            coef[r] = curve[r] * w->rows[r * p + k];
        f64->accumulate(rows, p, w->rows, coef, w->hessian + k * p);
    }
}

/* Gradient and Hessian of L_i at w->theta. */
static void derivatives(newton *w, const tacit_model *model, const tacit_shard *shard)
{
    size_t p = w->p, m = tacit_shard_rows(shard);
    double lambda = tacit_model_lambda(model, m), scale = m ? 1 / (double)m : 0;
    memset(w->hessian, 0, p * p * sizeof(double));
    for (size_t k = 0; k < p; k++) {
        w->gradient[k] = 2 * lambda * w->theta[k];
        w->hessian[k * p + k] = 2 * lambda;
    }
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t from = 0; from < batch.rows; from += CHUNK) {
            size_t rows = batch.rows - from < CHUNK ? batch.rows - from : CHUNK;
            for (size_t r = 0; r < rows; r++)
                tacit_row_doubles(&batch, tacit_shard_scalar(shard), p, from + r, w->rows + r * p,
                                  &w->y[r]);
            add_rows(w, model, rows, scale);
        }
}

/* One damped Newton step; false when there is nothing left to gain. */
static bool newton_step(newton *w, const tacit_model *model, const tacit_shard *shard, double *loss,
                        bool *broken)
{
    size_t p = w->p;
    derivatives(w, model, shard);
    double *step = w->step;
    memcpy(step, w->gradient, p * sizeof(double));
    *broken = !tacit_dense_solve(p, w->hessian, step);
    if (*broken)
        return false;
    double decrement = 0;
    for (size_t k = 0; k < p; k++)
        decrement += step[k] * w->gradient[k];
    if (!(decrement > 1e-30 * (1 + fabs(*loss))))
        return false;
    for (double t = 1; t > 1e-10; t /= 2) {
        for (size_t k = 0; k < p; k++)
            w->trial[k] = w->theta[k] - t * step[k];
        double after = tacit_linear_loss(model, shard, w->trial);
        /* Near the minimum rounding hides the decrease: then a full step is right. */
        if (after <= *loss - 1e-4 * t * decrement || decrement < 1e-12 * (1 + fabs(*loss))) {
            memcpy(w->theta, w->trial, p * sizeof(double));
            *loss = after;
            return true;
        }
    }
    return false;
}

static tacit_status minimise(newton *w, const tacit_model *model, const tacit_shard *shard,
                             tacit_error *err)
{
    double loss = tacit_linear_loss(model, shard, w->theta);
    bool broken = false;
    for (int k = 0; k < NEWTON_STEPS && newton_step(w, model, shard, &loss, &broken); k++)
        continue;
    if (broken)
        return tacit_fail(err, TACIT_EINPUT,
                          "the local problem has no unique minimiser; set \"model.lambda\"");
    return TACIT_OK;
}

/* The softmax loss: K p unknowns are too many for a Hessian; near.c does without. */
static tacit_status solve_softmax(const tacit_model *model, const tacit_shard *shard,
                                  tacit_secret *out, tacit_error *err)
{
    const size_t m = tacit_shard_rows(shard), n = model->parameters;
    const near_aim aim = {.weight = (double)m * tacit_model_lambda(model, m),
                          .tolerance = SOFTMAX_TOLERANCE};
    near_fit fit = {0};
    double *theta = calloc(n, sizeof *theta);
    tacit_status status = !theta ? tacit_out_of_memory(err)
                          : m    ? near_init(&fit, model, shard, NULL, 1, err)
                                 : TACIT_OK;
    if (status == TACIT_OK && m > 0 && !near_solve(&fit, &aim))
        status = tacit_fail(err, TACIT_EINPUT,
                            "the minimiser of the softmax loss was not found; set or raise "
                            "\"model.lambda\", or bound the records");
    if (status == TACIT_OK && m > 0)
        near_theta(&fit, 0, theta);
    for (size_t k = 0; status == TACIT_OK && k < n; k++)
        tacit_vector_set(tacit_vector_of_secret(out), 0, k, theta[k]);
    near_clear(&fit);
    if (theta)
        sodium_memzero(theta, n * sizeof *theta);
    free(theta);
    return status;
}

tacit_status tacit_model_solve(const tacit_model *model, const tacit_shard *shard,
                               tacit_secret *out, tacit_error *err)
{
    if (model->net)
        return tacit_refuse_net(model, "an exact solution", err);
    if (model->loss == TACIT_SOFTMAX)
        return solve_softmax(model, shard, out, err);
    if (model->features > MAX_FEATURES)
        return tacit_fail(err, TACIT_EINPUT,
                          "the exact local solver takes at most %d features, the data has %zu",
                          MAX_FEATURES, model->features);
    newton w;
    tacit_status status = newton_init(&w, model->features, err);
    if (status != TACIT_OK)
        return status;
    if (tacit_shard_rows(shard) > 0)
        status = minimise(&w, model, shard, err);
    if (status == TACIT_OK)
        for (size_t k = 0; k < model->features; k++)
            tacit_vector_set(tacit_vector_of_secret(out), 0, k, w.theta[k]);
    newton_clear(&w);
    return status;
}

tacit_status tacit_model_local(const tacit_model *model, tacit_permit *permit,
                               const tacit_shard *shard, tacit_scratch *scratch,
                               tacit_bounded **out, tacit_error *err)
{
    if (model->net)
        return tacit_refuse_net(model, "a local solution", err);
    tacit_status status =
        tacit_bounded_create(out, permit, TACIT_L2, INFINITY, &model->shape, scratch, err);
    if (status == TACIT_OK)
        status = tacit_model_solve(model, shard, tacit_vector_secret((*out)->value), err);
    return status;
}

/* X X^T or X^T X, whichever is smaller: same largest eigenvalue. Rows are `x`, m x p. */
static void gram(size_t m, size_t p, const double *x, double *g)
{
    size_t n = m < p ? m : p;
    memset(g, 0, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            if (m < p)
                for (size_t k = 0; k < p; k++)
                    sum += x[i * p + k] * x[j * p + k];
            else
                for (size_t r = 0; r < m; r++)
                    sum += x[r * p + i] * x[r * p + j];
            g[i * n + j] = g[j * n + i] = sum;
        }
}

static tacit_status largest_eigenvalue(const tacit_shard *shard, double *out, tacit_error *err)
{
    size_t m = tacit_shard_rows(shard), p = tacit_shard_features(shard), n = m < p ? m : p;
    if (n > MAX_FEATURES)
        return tacit_fail(err, TACIT_EINPUT,
                          "the exact smoothness of %zu records with %zu features is too large to "
                          "compute; set \"protocol.smoothness: bound\"",
                          m, p);
    size_t doubles = m * p + n * n + tacit_dense_work(n);
    double *memory = malloc(doubles * sizeof *memory), *row = memory;
    if (!memory)
        return tacit_out_of_memory(err);
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++, row += p) {
            double y;
            tacit_row_doubles(&batch, tacit_shard_scalar(shard), p, r, row, &y);
        }
    double *g = memory + m * p;
    gram(m, p, memory, g);
    *out = tacit_dense_largest(n, g, g + n * n);
    sodium_memzero(memory, doubles * sizeof *memory);
    free(memory);
    return TACIT_OK;
}

tacit_status tacit_model_smoothness(const tacit_model *model, tacit_permit *permit,
                                    const tacit_shard *shard, tacit_scratch *scratch,
                                    tacit_bounded **out, tacit_error *err)
{
    if (model->net)
        return tacit_refuse_net(model, "a smoothness constant", err);
    tacit_status status =
        tacit_bounded_create(out, permit, TACIT_L2, INFINITY, &model->scalar_shape, scratch, err);
    size_t m = tacit_shard_rows(shard);
    double value = 0;
    if (status == TACIT_OK && m > 0)
        status = largest_eigenvalue(shard, &value, err);
    if (status != TACIT_OK)
        return status;
    double factor = tacit_loss_steepest(model->loss);
    tacit_vector_set((*out)->value, 0, 0, m ? factor * value / (double)m : 0);
    return TACIT_OK;
}
