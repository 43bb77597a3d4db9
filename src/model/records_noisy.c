/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records themselves with noise, and learning from them: the local-DP baseline of paper 000,
 * appendix D.
 *
 * What the logistic loss sees of a record is u = -y x. Each record's u, cut to |x|_2 <= R, is a
 * block of one long vector. Replacing a record changes one block, by at most 2C in the norm of the
 * noise (C = R in l2, sqrt(p) R in l1), and no other: the whole vector has the sensitivity of one
 * block, so all blocks together cost what one does. There is no 1/m in it, which is why it is bad.
 *
 * Once released, records are public like any released value; what is learned from them costs
 * nothing more.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/dense.h"
#include "model/linear.h"
#include "model/logit.h"
#include "privacy/release.h"

tacit_status tacit_model_records_cost(const tacit_model *model, tacit_cost *cost,
                                      const tacit_privacy_options *options, double epsilon,
                                      double radius, size_t most, tacit_error *err)
{
    size_t coordinates;
    tacit_privacy_options o = *options;
    o.epsilon = epsilon;
    o.releases = 1;
    o.clip =
        o.mechanism == TACIT_MECHANISM_LAPLACE ? radius * sqrt((double)model->features) : radius;
    tacit_status status = tacit_refuse_softmax(model, "records with noise", err);
    if (status != TACIT_OK)
        return status;
    if (model->loss != TACIT_LOGISTIC)
        return tacit_fail(
            err, TACIT_EINPUT,
            "records with noise are for \"model.loss: logistic\"; for numbers publish "
            "statistics of the records instead");
    if (o.mechanism != TACIT_MECHANISM_NONE &&
        (o.unit != TACIT_UNIT_RECORD || o.adjacency != TACIT_REPLACE ||
         (o.sampling > 0 && o.sampling < 1)))
        return tacit_fail(
            err, TACIT_EINPUT,
            "records with noise hide one record that is replaced: they need "
            "\"privacy.unit: record\", \"privacy.adjacency: replace\" and no sampling");
    if (!tacit_mul_size(most, model->features, &coordinates) || coordinates > SIZE_MAX / 64)
        return tacit_fail(err, TACIT_EINPUT, "%zu records with noise are too many", most);
    return tacit_cost_plan(cost, &o, coordinates, "records", err);
}

/* ---- out ---- */

static void put_row(tacit_bounded *b, const tacit_cost *cost, size_t p, size_t at, int32_t *row,
                    const double *u)
{
    const double step = tacit_cost_step(cost);
    const int32_t limit = tacit_cost_limit(cost);
    for (size_t k = 0; k < p; k++) {
        const double steps = u[k] / step;
        row[k] = steps >= limit ? limit : steps <= -limit ? -limit : (int32_t)steps;
    }
    tacit_grid_shrink(cost->norm, limit, p, row);
    for (size_t k = 0; k < p; k++)
        b->steps[at + k] = row[k];
}

static tacit_status open_records(tacit_bounded **out, tacit_permit *permit,
                                 const tacit_shape *shape, tacit_scratch *scratch, tacit_error *err)
{
    if (permit->cost.mechanism == TACIT_MECHANISM_NONE)
        return tacit_bounded_create(out, permit, TACIT_L2, INFINITY, shape, scratch, err);
    if (permit->cost.unit != TACIT_UNIT_RECORD || permit->cost.adjacency != TACIT_REPLACE ||
        (permit->cost.sampling > 0 && permit->cost.sampling < 1))
        return tacit_fail(err, TACIT_EUSAGE, "the cost of \"%s\" was not planned for records",
                          permit->cost.what);
    return tacit_bounded_on_grid(out, permit, shape, scratch, err);
}

tacit_status tacit_model_records(const tacit_model *model, tacit_permit *permit,
                                 const tacit_shard *shard, double radius, const tacit_shape *shape,
                                 tacit_scratch *scratch, tacit_bounded **out, tacit_error *err)
{
    const size_t p = model->features, records = tacit_shard_rows(shard);
    const bool noisy = permit->cost.mechanism != TACIT_MECHANISM_NONE;
    if (shape->segments != 1 || shape->segment[0].count / p < records)
        return tacit_fail(err, TACIT_EUSAGE, "there is no room for %zu records", records);
    tacit_status status = open_records(out, permit, shape, scratch, err);
    double *u = tacit_scratch_alloc(scratch, p * sizeof *u);
    int32_t *row = tacit_scratch_alloc(scratch, p * sizeof *row);
    if (status == TACIT_OK && (!u || !row))
        status = tacit_out_of_memory(err);
    if (status != TACIT_OK)
        return status;
    tacit_batch batch;
    size_t at = 0;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++, at += p) {
            double y;
            tacit_row_doubles(&batch, tacit_shard_scalar(shard), p, r, u, &y);
            tacit_logit_take(p, permit->cost.claimed || !noisy ? INFINITY : radius, y, u);
            if (noisy)
                put_row(*out, &permit->cost, p, at, row, u);
            else
                for (size_t k = 0; k < p; k++)
                    tacit_vector_set((*out)->value, 0, at + k, u[k]);
        }
    memset(u, 0, p * sizeof *u);
    memset(row, 0, p * sizeof *row);
    return TACIT_OK;
}

/* ---- what can be made of them: public from public ---- */

static double *as_doubles(const tacit_public *records, size_t count)
{
    const tacit_vector *v = tacit_vector_of_public(records);
    double *out = calloc(count + 1, sizeof *out);
    for (size_t k = 0; out && k < count; k++)
        out[k] = tacit_vector_get(v, 0, k);
    return out;
}

tacit_status tacit_model_of_records(const tacit_model *model, const tacit_public *records,
                                    size_t count, tacit_public *out, tacit_error *err)
{
    const size_t p = model->features;
    double *u = as_doubles(records, count * p), *theta = calloc(p, sizeof *theta), *work = NULL;
    tacit_logit f = {.rows = count,
                     .p = p,
                     .u = u,
                     .ridge = 2 * (double)count * tacit_model_lambda(model, count)};
    size_t room;
    tacit_status status = TACIT_OK;
    if (tacit_logit_room(&f, &room))
        work = calloc(room, sizeof *work);
    if (!u || !theta || !work) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    f.radius = tacit_logit_longest(&f);
    /* Nothing rests on the promise here: where Newton ends is good enough. */
    tacit_logit_newton(&f, tacit_logit_gap(&f, 1e-9 * tacit_logit_span(&f)), theta, work);
    for (size_t k = 0; k < p; k++)
        tacit_public_set(out, 0, k, theta[k]);
out:
    free(u);
    free(theta);
    free(work);
    return status;
}

tacit_status tacit_model_gradient_of_records(const tacit_model *model, const tacit_public *records,
                                             size_t count, const tacit_public *at,
                                             tacit_public *out, tacit_error *err)
{
    const size_t p = model->features;
    double *u = as_doubles(records, count * p), *g = calloc(2 * p, sizeof *g);
    double *theta = g ? g + p : NULL;
    for (size_t k = 0; u && g && k < p; k++)
        theta[k] = at ? tacit_public_get(at, 0, k) : 0;
    for (size_t r = 0; u && g && r < count; r++) {
        double z = 0;
        for (size_t k = 0; k < p; k++)
            z += u[r * p + k] * theta[k];
        const double slope = 1 / (1 + exp(-z)) / (double)count;
        for (size_t k = 0; k < p; k++)
            g[k] += slope * u[r * p + k];
    }
    tacit_status status = u && g ? TACIT_OK : tacit_out_of_memory(err);
    for (size_t k = 0; status == TACIT_OK && k < p; k++)
        tacit_public_set(out, 0, k, g[k]);
    free(u);
    free(g);
    return status;
}

tacit_status tacit_model_smoothness_of_records(const tacit_model *model,
                                               const tacit_public *records, size_t count,
                                               double *out, tacit_error *err)
{
    const size_t p = model->features, n = count < p ? count : p;
    double *u = as_doubles(records, count * p), *gram = NULL;
    size_t square, room;
    *out = 0;
    if (tacit_mul_size(n, n, &square) && tacit_add_size(square, tacit_dense_work(n), &room))
        gram = calloc(room + 1, sizeof *gram);
    if (!u || !gram) {
        free(u);
        free(gram);
        return tacit_out_of_memory(err);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < (count < p ? p : count); k++)
                gram[i * n + j] +=
                    count < p ? u[i * p + k] * u[j * p + k] : u[k * p + i] * u[k * p + j];
    if (n > 0)
        *out = tacit_dense_largest(n, gram, gram + square) / (4 * (double)count);
    free(u);
    free(gram);
    return TACIT_OK;
}
