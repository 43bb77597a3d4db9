/* SPDX-License-Identifier: Apache-2.0 */
#include "model/curvature.h"

#include "model/linear.h"

static double value_at(const tacit_batch *batch, tacit_scalar scalar, size_t at)
{
    return scalar == TACIT_F64 ? ((const double *)batch->x)[at]
                               : (double)((const float *)batch->x)[at];
}

static double label_at(const tacit_batch *batch, tacit_scalar scalar, size_t row)
{
    return scalar == TACIT_F64 ? ((const double *)batch->y)[row]
                               : (double)((const float *)batch->y)[row];
}

static double margin(const tacit_batch *batch, tacit_scalar scalar, size_t p, size_t row,
                     const double *v)
{
    double z = 0;
    for (size_t k = 0; k < p; k++)
        z += value_at(batch, scalar, row * p + k) * v[k];
    return z;
}

static void add_row(const tacit_batch *batch, tacit_scalar scalar, size_t p, size_t row,
                    double scale, double *out)
{
    for (size_t k = 0; k < p; k++)
        out[k] += scale * value_at(batch, scalar, row * p + k);
}

double tacit_linear_derive(const tacit_model *model, const tacit_shard *shard, const double *theta,
                           double *gradient, double *curve)
{
    size_t p = model->features, m = tacit_shard_rows(shard), at = 0;
    tacit_scalar scalar = tacit_shard_scalar(shard);
    double lambda = tacit_model_lambda(model, m), mean = m ? 1 / (double)m : 0;
    double loss = 0, norm2 = 0;
    for (size_t k = 0; k < p; k++) {
        gradient[k] = 2 * lambda * theta[k];
        norm2 += theta[k] * theta[k];
    }
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++) {
            double z = margin(&batch, scalar, p, r, theta), y = label_at(&batch, scalar, r);
            loss += tacit_loss_value(model->loss, z, y);
            add_row(&batch, scalar, p, r, mean * tacit_loss_slope(model->loss, z, y), gradient);
            if (curve)
                curve[at++] = mean * tacit_loss_curve(model->loss, z, y);
        }
    return mean * loss + lambda * norm2;
}

void tacit_linear_bend(const tacit_model *model, const tacit_shard *shard, const double *curve,
                       double scale, const double *v, double *out)
{
    size_t p = model->features, at = 0;
    tacit_scalar scalar = tacit_shard_scalar(shard);
    double lambda = tacit_model_lambda(model, tacit_shard_rows(shard));
    for (size_t k = 0; k < p; k++)
        out[k] += scale * 2 * lambda * v[k];
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++)
            add_row(&batch, scalar, p, r, scale * curve[at++] * margin(&batch, scalar, p, r, v),
                    out);
}

void tacit_linear_diagonal(const tacit_model *model, const tacit_shard *shard, const double *curve,
                           double scale, double *out)
{
    size_t p = model->features, at = 0;
    tacit_scalar scalar = tacit_shard_scalar(shard);
    double lambda = tacit_model_lambda(model, tacit_shard_rows(shard));
    for (size_t k = 0; k < p; k++)
        out[k] += scale * 2 * lambda;
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++, at++)
            for (size_t k = 0; k < p; k++) {
                double x = value_at(&batch, scalar, r * p + k);
                out[k] += scale * curve[at] * x * x;
            }
}
