/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of norm at most 1: x / max(1, ||x||). Rounding to f32 moves a coordinate by a factor of
 * 1 +- 2^-24 and the sum below has a relative error under features * 2^-52, so the limit is
 * kept a hair below 1; the stored row then has norm <= 1 in exact arithmetic.
 */
#include "data/dataset.h"

#include <math.h>

/* Four sums side by side: one chain of additions would wait for each. */
static double sum_of_squares(const double *x, size_t n)
{
    double sum[4] = {0};
    size_t k = 0;
    for (; k + 4 <= n; k += 4) {
        for (size_t j = 0; j < 4; j++)
            sum[j] += x[k + j] * x[k + j];
    }
    for (; k < n; k++)
        sum[0] += x[k] * x[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double norm(const double *x, size_t features, tacit_bound bound)
{
    double largest = 0, sum = 0;
    if (bound == TACIT_BOUND_L1) {
        for (size_t k = 0; k < features; k++)
            sum += fabs(x[k]);
        return sum;
    }
    sum = sum_of_squares(x, features);
    if (isfinite(sum) && sum > 1e-290)
        return sqrt(sum);
    /* Squares overflowed or vanished: scale first. */
    for (size_t k = 0; k < features; k++)
        largest = fmax(largest, fabs(x[k]));
    if (largest == 0)
        return 0;
    sum = 0;
    for (size_t k = 0; k < features; k++)
        sum += (x[k] / largest) * (x[k] / largest);
    return largest * sqrt(sum);
}

void tacit_bound_row(double *x, size_t features, tacit_bound bound, tacit_scalar scalar)
{
    if (bound == TACIT_BOUND_NONE)
        return;
    double limit = 1 - (scalar == TACIT_F32 ? 0x1p-22 : 0) - (double)(features + 4) * 0x1p-50;
    double length = norm(x, features, bound);
    if (length <= limit)
        return;
    if (!(length < 0x1p900)) { /* near the largest double: bring it within reach */
        for (size_t k = 0; k < features; k++)
            x[k] *= 0x1p-600;
        length = norm(x, features, bound);
    }
    double factor = limit / length;
    for (size_t k = 0; k < features; k++)
        x[k] *= factor;
}
