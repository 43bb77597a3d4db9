/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The most probable model under a Gaussian prior with independent weights:
 *
 *     argmin sum_r loss(theta; x_r, y_r) + 1/2 sum_c precision_c (theta_c - mean_c)^2
 *
 * Counted in units of 1/sqrt(precision_c), every weight has precision 1, and what is left is the
 * problem of near.c with weight 1/2: in the span of the records where they are fewer than the
 * features. Prior and result were computed from records: secrets, wiped.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>

#include "base/vector_internal.h"
#include "model/near.h"

#define TOLERANCE 1e-13

/* Mean and units as doubles; false if they cannot be used. */
static bool read_prior(size_t p, const tacit_secret *mean, const tacit_secret *precision,
                       double *center, double *unit)
{
    bool good = true;
    for (size_t k = 0; k < p; k++) {
        const double precise = tacit_vector_get(tacit_vector_of_secret(precision), 0, k);
        center[k] = tacit_vector_get(tacit_vector_of_secret(mean), 0, k);
        unit[k] = 1 / sqrt(precise);
        good = good && isfinite(center[k]) && precise > 0 && isfinite(precise);
    }
    return good;
}

/* As precisely as doubles allow: precisions that are far apart leave less than others. */
static bool solve(near_fit *n)
{
    for (double tolerance = TOLERANCE; tolerance < 1e-3; tolerance *= 1e3)
        if (near_solve(n, &(near_aim){.scale = 1, .weight = 0.5, .tolerance = tolerance}))
            return true;
    return false;
}

static tacit_status fit(const tacit_model *model, const tacit_shard *shard, double *center,
                        const double *unit, tacit_error *err)
{
    near_fit n;
    tacit_status status = near_init_at(&n, model, shard, center, unit, err);
    if (status == TACIT_OK && !solve(&n))
        status = tacit_fail(err, TACIT_EINPUT,
                            "no model near the prior could be found in doubles; bound the records, "
                            "or use a prior of their size");
    if (status == TACIT_OK)
        near_theta(&n, 1, center);
    near_clear(&n);
    return status;
}

tacit_status tacit_model_map(const tacit_model *model, const tacit_shard *shard,
                             const tacit_secret *mean, const tacit_secret *precision,
                             tacit_secret *out, tacit_error *err)
{
    const size_t p = model->features;
    size_t bytes;
    tacit_status status = tacit_refuse_softmax(model, "a prior with a precision a weight", err);
    if (status != TACIT_OK)
        return status;
    if (!tacit_mul_size(2 * sizeof(double), p, &bytes))
        return tacit_out_of_memory(err);
    double *center = calloc(1, bytes);
    if (!center)
        return tacit_out_of_memory(err);
    double *unit = center + p;
    if (!read_prior(p, mean, precision, center, unit))
        status = tacit_fail(err, TACIT_EINPUT,
                            "a prior needs finite means and positive, finite precisions");
    else if (tacit_shard_rows(shard) > 0)
        status = fit(model, shard, center, unit, err);
    for (size_t k = 0; status == TACIT_OK && k < p; k++)
        tacit_vector_set(tacit_vector_of_secret(out), 0, k, center[k]);
    sodium_memzero(center, bytes);
    free(center);
    return status;
}
