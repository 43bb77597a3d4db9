/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_MATH_TOTAL_H
#define TACIT_MATH_TOTAL_H
/*
 * A sum of products of nonnegative doubles, kept to twice the usual precision and rounded up in
 * the end: a budget is a bound, and a sum that is short by one unit in the last place is none.
 */
#include <math.h>

typedef struct tacit_total {
    double high, low;
} tacit_total;

static inline void tacit_total_add(tacit_total *total, double a, double b)
{
    const double product = a * b, sum = total->high + product;
    const double part = sum - total->high;
    total->low += fma(a, b, -product) + ((total->high - (sum - part)) + (product - part));
    total->high = sum;
}

static inline double tacit_total_up(const tacit_total *total)
{
    if (!isfinite(total->high))
        return INFINITY;
    const double sum = total->high + total->low;
    return (total->high - sum) + total->low > 0 ? nextafter(sum, INFINITY) : sum;
}

#endif
