/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantiles by selection (Hoare's quickselect with three-way partition: scores have many
 * ties). Each quantile is searched for only to the right of the one before. Should the pivots
 * be unlucky, what is left is sorted, so no input takes more than n log n.
 */
#include "experiment/report_quantiles.h"

#include <math.h>
#include <stdlib.h>

const double tacit_quantile_share[TACIT_QUANTILES] = {0.05, 0.25, 0.5, 0.75, 0.95};
const char *const tacit_quantile_name[TACIT_QUANTILES] = {"q05", "q25", "q50", "q75", "q95"};

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median3(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

static void swap(double *a, double *b)
{
    double kept = *a;
    *a = *b;
    *b = kept;
}

/* Afterwards x[k] is what it would be if x were sorted, with nothing larger before it. */
static void select_rank(double *x, size_t begin, size_t end, size_t k)
{
    for (int tries = 0; end - begin > 1; tries++) {
        if (tries > 60) {
            qsort(x + begin, end - begin, sizeof *x, ascending);
            return;
        }
        double pivot = median3(x[begin], x[begin + (end - begin) / 2], x[end - 1]);
        size_t below = begin, at = begin, above = end; /* [begin, below) < pivot <= ... */
        while (at < above)
            if (x[at] < pivot)
                swap(&x[at++], &x[below++]);
            else if (x[at] > pivot)
                swap(&x[at], &x[--above]);
            else
                at++;
        if (k < below)
            end = below;
        else if (k >= above)
            begin = above;
        else
            return;
    }
}

void tacit_quantiles(double *values, size_t n, double out[TACIT_QUANTILES])
{
    size_t from = 0;
    for (size_t q = 0; q < TACIT_QUANTILES; q++) {
        out[q] = NAN;
        if (n == 0)
            continue;
        double rank = tacit_quantile_share[q] * (double)(n - 1);
        size_t k = (size_t)rank;
        select_rank(values, from, n, k);
        double next = values[k];
        if (k + 1 < n) {
            next = values[k + 1];
            for (size_t i = k + 2; i < n; i++)
                next = fmin(next, values[i]);
        }
        out[q] = values[k] + (rank - (double)k) * (next - values[k]);
        from = k;
    }
}
