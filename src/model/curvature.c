/* SPDX-License-Identifier: Apache-2.0 */
#include "model/curvature.h"

#include "model/softmax.h"

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

size_t tacit_linear_curves(const tacit_model *model)
{
    return model->classes;
}

static void add_row(const tacit_batch *batch, tacit_scalar scalar, size_t p, size_t row,
                    double scale, double *out)
{
    for (size_t k = 0; k < p; k++)
        out[k] += scale * value_at(batch, scalar, row * p + k);
}

/* Of one record, at the margins in `curve`, which become its probabilities; returns the loss. */
static double derive_softmax(const tacit_model *model, const tacit_batch *batch,
                             tacit_scalar scalar, size_t row, double mean, double *curve,
                             double *gradient)
{
    const size_t p = model->features, classes = model->classes;
    const size_t own = tacit_softmax_class(classes, label_at(batch, scalar, row));
    const double z = curve[own], loss = tacit_softmax(classes, 1, curve, curve) - z;
    for (size_t k = 0; k < classes; k++)
        add_row(batch, scalar, p, row, mean * (curve[k] - (k == own)), gradient + k * p);
    return loss;
}

double tacit_linear_derive(const tacit_model *model, const tacit_shard *shard, const double *theta,
                           double *gradient, double *curve)
{
    const size_t p = model->features, m = tacit_shard_rows(shard), classes = model->classes;
    tacit_scalar scalar = tacit_shard_scalar(shard);
    double lambda = tacit_model_lambda(model, m), mean = m ? 1 / (double)m : 0;
    double loss = 0, norm2 = 0;
    for (size_t k = 0; k < model->parameters; k++) {
        gradient[k] = 2 * lambda * theta[k];
        norm2 += theta[k] * theta[k];
    }
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++, curve += classes) {
            for (size_t k = 0; k < classes; k++)
                curve[k] = margin(&batch, scalar, p, r, theta + k * p);
            if (model->loss == TACIT_SOFTMAX) {
                loss += derive_softmax(model, &batch, scalar, r, mean, curve, gradient);
                continue;
            }
            const double z = curve[0], y = label_at(&batch, scalar, r);
            loss += tacit_loss_value(model->loss, z, y);
            add_row(&batch, scalar, p, r, mean * tacit_loss_slope(model->loss, z, y), gradient);
            curve[0] = mean * tacit_loss_curve(model->loss, z, y);
        }
    return mean * loss + lambda * norm2;
}

/* out += scale * (diag(q) - q q^T) (x) x x^T v, for one record. */
static void bend_softmax(const tacit_model *model, const tacit_batch *batch, tacit_scalar scalar,
                         size_t row, const double *q, double scale, const double *v, double *out)
{
    const size_t p = model->features;
    double mean = 0;
    for (size_t k = 0; k < model->classes; k++)
        mean += q[k] * margin(batch, scalar, p, row, v + k * p);
    for (size_t k = 0; k < model->classes; k++) /* margins anew: there is no room to keep them */
        add_row(batch, scalar, p, row,
                scale * q[k] * (margin(batch, scalar, p, row, v + k * p) - mean), out + k * p);
}

void tacit_linear_bend(const tacit_model *model, const tacit_shard *shard, const double *curve,
                       double scale, const double *v, double *out)
{
    const size_t p = model->features, m = tacit_shard_rows(shard), classes = model->classes;
    tacit_scalar scalar = tacit_shard_scalar(shard);
    double lambda = tacit_model_lambda(model, m), mean = m ? 1 / (double)m : 0;
    for (size_t k = 0; k < model->parameters; k++)
        out[k] += scale * 2 * lambda * v[k];
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++, curve += classes)
            if (model->loss == TACIT_SOFTMAX)
                bend_softmax(model, &batch, scalar, r, curve, scale * mean, v, out);
            else
                add_row(&batch, scalar, p, r, scale * curve[0] * margin(&batch, scalar, p, r, v),
                        out);
}

void tacit_linear_diagonal(const tacit_model *model, const tacit_shard *shard, const double *curve,
                           double scale, double *out)
{
    const size_t p = model->features, m = tacit_shard_rows(shard), classes = model->classes;
    const bool soft = model->loss == TACIT_SOFTMAX;
    tacit_scalar scalar = tacit_shard_scalar(shard);
    double lambda = tacit_model_lambda(model, m), mean = m ? 1 / (double)m : 0;
    for (size_t k = 0; k < model->parameters; k++)
        out[k] += scale * 2 * lambda;
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++, curve += classes)
            for (size_t j = 0; j < classes; j++) {
                const double by = scale * (soft ? mean * curve[j] * (1 - curve[j]) : curve[j]);
                for (size_t k = 0; k < p; k++) {
                    double x = value_at(&batch, scalar, r * p + k);
                    out[j * p + k] += by * x * x;
                }
            }
}
