/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alternating least squares with weighted-lambda regularisation (Zhou, Wilkinson, Schreiber and
 * Pan 2008, section 3), which paper 000 section 5.2 takes its item features from. Minimises
 *
 *     sum_(u,i) (r_ui - p_u . q_i)^2 + lambda (sum_u n_u ||p_u||^2 + sum_i n_i ||q_i||^2)
 *
 * over users' vectors p and items' vectors q; n_u and n_i count ratings. With one side held the
 * other falls apart into small systems, one a user or item:
 *
 *     (sum_i q_i q_i^T + lambda n_u I) p_u = sum_i r_ui q_i.
 *
 * Where we differ: the ratings come with the users' means removed, so the first coordinate of
 * an item does not start as its mean rating; all start as N(0, 1/factors). A fixed number of
 * sweeps instead of a stopping rule, so that a seed stands for the same features everywhere.
 *
 * Invariants
 *  1. The objective never rises: each half of a sweep is the exact minimiser given the other.
 *  2. Who has no ratings has a zero vector (its system would be 0 = 0).
 */
#include "data/als.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ratings dealt to their owners, in the order given. */
static bool side_create(tacit_als_side *side, uint32_t count, size_t factors, size_t ratings,
                        const uint32_t *owner, const uint32_t *other, const double *value)
{
    size_t numbers;
    side->count = count;
    if (!tacit_mul_size(count, factors, &numbers))
        return false;
    side->first = calloc((size_t)count + 2, sizeof *side->first);
    side->other = calloc(ratings + 1, sizeof *side->other);
    side->value = calloc(ratings + 1, sizeof *side->value);
    side->vector = calloc(numbers + 1, sizeof *side->vector);
    if (!side->first || !side->other || !side->value || !side->vector)
        return false;
    /* first[k + 1] starts as where k begins and ends as where it stops. */
    for (size_t r = 0; r < ratings; r++)
        side->first[(size_t)owner[r] + 2]++;
    for (size_t k = 2; k <= (size_t)count + 1; k++)
        side->first[k] += side->first[k - 1];
    for (size_t r = 0; r < ratings; r++) {
        size_t at = side->first[(size_t)owner[r] + 1]++;
        side->other[at] = other[r];
        side->value[at] = value[r];
    }
    return true;
}

static void side_clear(tacit_als_side *side)
{
    free(side->first);
    free(side->other);
    free(side->value);
    free(side->vector);
}

tacit_status tacit_als_create(tacit_als *als, uint32_t users, uint32_t items, size_t factors,
                              double lambda, size_t ratings, const uint32_t *user,
                              const uint32_t *item, const double *value, tacit_error *err)
{
    size_t square, spare;
    *als = (tacit_als){.factors = factors, .lambda = lambda, .ratings = ratings};
    if (factors == 0 || !(lambda > 0) || !isfinite(lambda))
        return tacit_fail(err, TACIT_EINPUT,
                          "data.factors must be at least 1 and data.als-lambda a number above 0");
    bool enough = tacit_mul_size(factors, factors, &square) &&
                  tacit_mul_size(ratings, sizeof *value, &spare) &&
                  side_create(&als->user, users, factors, ratings, user, item, value) &&
                  side_create(&als->item, items, factors, ratings, item, user, value) &&
                  (als->matrix = calloc(square, sizeof *als->matrix)) &&
                  (als->right = calloc(factors, sizeof *als->right));
    if (enough)
        return TACIT_OK;
    tacit_als_clear(als);
    return tacit_out_of_memory(err);
}

void tacit_als_clear(tacit_als *als)
{
    side_clear(&als->user);
    side_clear(&als->item);
    free(als->matrix);
    free(als->right);
    *als = (tacit_als){0};
}

void tacit_als_start(tacit_als *als, const tacit_random *random)
{
    const tacit_als_side *item = &als->item;
    double scale = 1 / sqrt((double)als->factors);
    for (uint32_t k = 0; k < item->count; k++) {
        if (item->first[k] == item->first[k + 1])
            continue;
        tacit_stream s;
        tacit_stream_open(&s, random, k, TACIT_FOR_DATA, 0);
        for (size_t f = 0; f < als->factors; f++)
            item->vector[k * als->factors + f] = scale * tacit_stream_normal(&s);
        tacit_stream_clear(&s);
    }
}

/* Solve a x = b by Cholesky; only the lower triangle of a (n x n) is read, and overwritten; b
 * becomes x. False if a is not positive definite to working precision. */
static bool solve(size_t n, double *a, double *b)
{
    for (size_t j = 0; j < n; j++) {
        double *row = a + j * n;
        for (size_t i = 0; i <= j; i++) {
            const double *above = a + i * n;
            double sum = row[i];
            for (size_t k = 0; k < i; k++)
                sum -= row[k] * above[k];
            if (i == j && !(sum > 0))
                return false;
            row[i] = i == j ? sqrt(sum) : sum / above[i];
        }
        for (size_t k = 0; k < j; k++)
            b[j] -= row[k] * b[k];
        b[j] /= row[j];
    }
    for (size_t j = n; j-- > 0;) {
        b[j] /= a[j * n + j];
        for (size_t k = 0; k < j; k++)
            b[k] -= a[j * n + k] * b[j];
    }
    return true;
}

/* The vector of number k of `side`, best for the vectors that the other side has now. */
static bool renew(tacit_als *als, tacit_als_side *side, const double *others, uint32_t k)
{
    size_t p = als->factors, begin = side->first[k], end = side->first[k + 1];
    if (begin == end)
        return true;
    memset(als->matrix, 0, p * p * sizeof *als->matrix);
    memset(als->right, 0, p * sizeof *als->right);
    for (size_t r = begin; r < end; r++) {
        const double *v = others + (size_t)side->other[r] * p;
        for (size_t i = 0; i < p; i++) {
            als->right[i] += side->value[r] * v[i];
            for (size_t j = 0; j <= i; j++)
                als->matrix[i * p + j] += v[i] * v[j];
        }
    }
    for (size_t i = 0; i < p; i++)
        als->matrix[i * p + i] += als->lambda * (double)(end - begin);
    if (!solve(p, als->matrix, als->right))
        return false;
    memcpy(side->vector + (size_t)k * p, als->right, p * sizeof *als->right);
    return true;
}

tacit_status tacit_als_sweep(tacit_als *als, tacit_error *err)
{
    bool fine = true;
    for (uint32_t k = 0; k < als->user.count && fine; k++)
        fine = renew(als, &als->user, als->item.vector, k);
    for (uint32_t k = 0; k < als->item.count && fine; k++)
        fine = renew(als, &als->item, als->user.vector, k);
    if (fine)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "data.als-lambda is \"%g\", too small for these ratings: a system could "
                      "not be solved; raise it",
                      als->lambda);
}

static double penalty(const tacit_als *als, const tacit_als_side *side)
{
    double sum = 0;
    for (uint32_t k = 0; k < side->count; k++) {
        double norm2 = 0;
        for (size_t f = 0; f < als->factors; f++) {
            double v = side->vector[k * als->factors + f];
            norm2 += v * v;
        }
        sum += (double)(side->first[k + 1] - side->first[k]) * norm2;
    }
    return als->lambda * sum;
}

double tacit_als_objective(const tacit_als *als)
{
    double sum = 0;
    for (uint32_t k = 0; k < als->user.count; k++)
        for (size_t r = als->user.first[k]; r < als->user.first[k + 1]; r++) {
            const double *p = als->user.vector + k * als->factors;
            const double *q = als->item.vector + als->user.other[r] * als->factors;
            double rest = als->user.value[r];
            for (size_t f = 0; f < als->factors; f++)
                rest -= p[f] * q[f];
            sum += rest * rest;
        }
    return sum + penalty(als, &als->user) + penalty(als, &als->item);
}
