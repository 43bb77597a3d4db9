/* SPDX-License-Identifier: Apache-2.0 */
#include "model/softmax.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>

#include "math/kernels.h"

double tacit_softmax(size_t classes, size_t stride, const double *z, double *q)
{
    double most = z[0];
    for (size_t k = 1; k < classes; k++)
        most = fmax(most, z[k * stride]);
    double sum = q[0] = exp(z[0] - most);
    for (size_t k = 1; k < classes; k++)
        sum += q[k * stride] = exp(z[k * stride] - most); /* one of them is 1 */
    for (size_t k = 0; k < classes; k++)
        q[k * stride] /= sum;
    return most + log(sum);
}

size_t tacit_softmax_class(size_t classes, double y)
{
    return y >= 0 && y < (double)classes ? (size_t)y : 0;
}

static size_t largest(size_t n, const double *z)
{
    size_t at = 0;
    for (size_t k = 1; k < n; k++)
        if (z[k] > z[at])
            at = k;
    return at;
}

double tacit_softmax_sum(const tacit_model *model, const tacit_shard *shard, const double *theta,
                         bool score)
{
    const size_t p = model->features, classes = model->classes;
    const tacit_real_kernels *f64 = tacit_kernels_for(TACIT_F64);
    double *z = calloc(p + 2 * classes, sizeof *z), sum = 0;
    if (!z)
        return NAN;
    double *q = z + classes, *x = q + classes;
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++) {
            double y;
            tacit_row_doubles(&batch, tacit_shard_scalar(shard), p, r, x, &y);
            if (theta)
                f64->dots(classes, p, theta, x, z);
            const size_t own = tacit_softmax_class(classes, y);
            sum += score ? largest(classes, z) == own : tacit_softmax(classes, 1, z, q) - z[own];
        }
    sodium_memzero(z, (p + 2 * classes) * sizeof *z);
    free(z);
    return sum;
}
