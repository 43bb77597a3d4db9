/* SPDX-License-Identifier: Apache-2.0 */
#include "model/dense.h"

#include <math.h>

#include "math/kernels.h"

bool tacit_dense_solve(size_t n, double *a, double *b)
{
    const tacit_real_kernels *f64 = tacit_kernels_for(TACIT_F64);
    for (size_t j = 0; j < n; j++) {
        double *row = a + j * n, sum;
        for (size_t i = 0; i < j; i++) { /* row j of the factor, left to right */
            f64->dots(1, i, a + i * n, row, &sum);
            row[i] = (row[i] - sum) / a[i * n + i];
        }
        f64->dots(1, j, row, row, &sum);
        double pivot = row[j] - sum;
        if (!(pivot > 0))
            return false;
        row[j] = sqrt(pivot);
    }
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < j; k++)
            b[j] -= a[j * n + k] * b[k];
        b[j] /= a[j * n + j];
    }
    for (size_t j = n; j-- > 0;) {
        for (size_t k = j + 1; k < n; k++)
            b[j] -= a[k * n + j] * b[k];
        b[j] /= a[j * n + j];
    }
    return true;
}

#define LANCZOS_STEPS 200
#define CHECK_EVERY 8 /* an eigenvalue of the small matrix costs more than a step */

size_t tacit_dense_work(size_t n)
{
    size_t steps = n < LANCZOS_STEPS ? n : LANCZOS_STEPS;
    return (steps + 2) * n + 2 * (steps + 1);
}

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += x[k] * y[k];
    return sum;
}

/* Is every eigenvalue of the tridiagonal (diagonal d, off-diagonal e) below t? All pivots
 * of T - t I are then negative (Sturm). */
static bool all_below(size_t n, const double *d, const double *e, double t)
{
    double pivot = d[0] - t;
    for (size_t k = 1; k < n && pivot < 0; k++)
        pivot = d[k] - t - e[k - 1] * e[k - 1] / pivot;
    return pivot < 0;
}

static double tridiagonal_largest(size_t n, const double *d, const double *e)
{
    double low = d[0], high = 0;
    for (size_t k = 0; k < n; k++) { /* Gershgorin */
        double radius = (k > 0 ? fabs(e[k - 1]) : 0) + (k + 1 < n ? fabs(e[k]) : 0);
        low = fmax(low, d[k]);
        high = fmax(high, d[k] + radius);
    }
    high += 1e-14 * fabs(high) + 1e-300;
    for (int step = 0; step < 100 && high - low > 1e-15 * fabs(high); step++) {
        double middle = (low + high) / 2;
        if (all_below(n, d, e, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

double tacit_dense_largest(size_t n, const double *a, double *work)
{
    size_t steps = n < LANCZOS_STEPS ? n : LANCZOS_STEPS;
    double *basis = work, *w = basis + (steps + 1) * n, *d = w + n, *e = d + steps + 1;
    for (size_t k = 0; k < n; k++) /* a start that no structure of the data is orthogonal to */
        basis[k] = 1 + 0.5 * sin(1.0 + 12.9898 * (double)k);
    double length = sqrt(dot(n, basis, basis)), largest = 0, size = 0;
    for (size_t k = 0; k < n; k++)
        basis[k] /= length;
    for (size_t step = 0; step < steps; step++) {
        const double *v = basis + step * n;
        for (size_t i = 0; i < n; i++)
            w[i] = dot(n, a + i * n, v);
        d[step] = dot(n, w, v);
        for (int pass = 0; pass < 2; pass++) /* twice is enough */
            for (size_t j = 0; j <= step; j++) {
                double c = dot(n, w, basis + j * n);
                for (size_t i = 0; i < n; i++)
                    w[i] -= c * basis[j * n + i];
            }
        e[step] = sqrt(dot(n, w, w));
        size = fmax(size, fmax(d[step], e[step]));
        const bool last = step + 1 == steps || e[step] <= 1e-13 * size;
        if (last || step % CHECK_EVERY == CHECK_EVERY - 1) {
            double before = largest;
            largest = tridiagonal_largest(step + 1, d, e);
            if (last || largest - before <= 1e-13 * largest)
                break;
        }
        for (size_t i = 0; i < n; i++)
            basis[(step + 1) * n + i] = w[i] / e[step];
    }
    return largest;
}
