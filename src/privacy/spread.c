/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded value times a public column of numbers: what an agent gives to a sum that will be
 * read through a matrix (the matrix mechanism; docs/protocols/chorus.md).
 *
 * With noise it stays a fact about integers. The column becomes whole numbers q_k of 2^-30, and
 * coordinate (k, i) of the product is floor(q_k s_i / 2^30). For neighbouring data with s - s' = d,
 * |d|_2 <= D, the coordinates of T - T' are q_k d_i / 2^30 and a difference of two fractions, which
 * is below 1 in size. So |T - T'|_2 < |q|_2 / 2^30 * D + sqrt(rank * p), and it is below D if
 *
 *     |q|_2 <= Q = floor(2^30 (L - a) / L),   a = ceil(sqrt(rank * p)),
 *
 * where L, the radius of one record, is at most D. (With L for D there is room for the lots of
 * sampling too, where a record comes or goes alone.) The column is shrunk until the sum of squares
 * of its integers is at most Q^2; a / L is some parts in a million, and the cost, sensitivity and
 * noise alike, remains what it was.
 */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "privacy/release.h"

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

#define COLUMN_LOG2 30
#define COLUMN_ONE (INT64_C(1) << COLUMN_LOG2)
#define LEAST_KEPT 0.5 /* of the column, after making room for the rounding */

/* Q, or 0 if the rounding would take more than it should. */
static int64_t room_for(const tacit_cost *cost, uint64_t coordinates)
{
    const int64_t limit = tacit_cost_limit(cost);
    const double lost = ceil(sqrt((double)coordinates)) + 1;
    if (!(lost <= (1 - LEAST_KEPT) * (double)limit))
        return 0;
    return COLUMN_ONE * (limit - (int64_t)lost) / limit;
}

static tacit_status check_cost(const tacit_cost *cost, uint64_t coordinates, tacit_error *err)
{
    if (cost->norm != TACIT_L2 || cost->claimed || cost->coordinates < coordinates ||
        cost->mechanism == TACIT_MECHANISM_RESPONSE)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"%s\" cannot be spread: that needs mechanism \"gaussian\", records "
                          "that are clipped, and a cost planned by tacit_cost_widen",
                          cost->what);
    if (room_for(cost, coordinates) == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "%llu coordinates are too many for the grid of \"%s\"; lower the rank, "
                          "or raise epsilon",
                          (unsigned long long)coordinates, cost->what);
    return TACIT_OK;
}

tacit_status tacit_cost_widen(tacit_cost *cost, size_t rank, tacit_error *err)
{
    uint64_t coordinates;
    if (rank < 1 || __builtin_mul_overflow(cost->coordinates, (uint64_t)rank, &coordinates) ||
        coordinates > UINT64_C(1) << 40)
        return tacit_fail(err, TACIT_EINPUT, "rank %zu is no rank for \"%s\"", rank, cost->what);
    tacit_cost wide = *cost;
    wide.coordinates = coordinates;
    tacit_status status =
        cost->mechanism == TACIT_MECHANISM_NONE ? TACIT_OK : check_cost(&wide, coordinates, err);
    if (status == TACIT_OK)
        *cost = wide;
    return status;
}

/* ---- the column ---- */

static u128 squares(const int64_t *q, size_t rank)
{
    u128 sum = 0;
    for (size_t k = 0; k < rank; k++)
        sum += (u128)((i128)q[k] * q[k]);
    return sum;
}

/* Whole numbers of 2^-30, towards zero, whose squares sum to at most most^2. */
static void to_integers(const double *column, size_t rank, int64_t most, int64_t *q)
{
    double sum = 0;
    for (size_t k = 0; k < rank; k++)
        sum += column[k] * column[k];
    double factor = (double)COLUMN_ONE;
    if (!(factor * sqrt(sum) <= (double)most))
        factor = (double)most / sqrt(sum);
    for (int tries = 0; tries < 8; tries++, factor *= 1 - 0x1p-28) {
        for (size_t k = 0; k < rank; k++)
            q[k] = (int64_t)(factor * column[k]);
        if (squares(q, rank) <= (u128)((i128)most * most))
            return;
    }
    memset(q, 0, rank * sizeof *q);
}

static tacit_status check_column(const double *column, size_t rank, const tacit_cost *cost,
                                 tacit_error *err)
{
    for (size_t k = 0; k < rank; k++)
        if (!(fabs(column[k]) <= 0x1p60))
            return tacit_fail(err, TACIT_EUSAGE, "the column of \"%s\" holds %g", cost->what,
                              column[k]);
    return TACIT_OK;
}

/* ---- products ---- */

static int64_t *integer_products(const tacit_bounded *b, const double *column, size_t rank,
                                 tacit_scratch *scratch)
{
    const size_t p = b->coordinates;
    int64_t *q = tacit_scratch_alloc(scratch, rank * sizeof *q);
    int64_t *out = tacit_scratch_alloc(scratch, rank * p * sizeof *out);
    if (!q || !out)
        return NULL;
    to_integers(column, rank, room_for(&b->permit->cost, rank * p), q);
    for (size_t k = 0; k < rank; k++)
        for (size_t i = 0; i < p; i++) /* >> of negative numbers is a floor in gcc and clang */
            out[k * p + i] = (int64_t)(((i128)q[k] * b->steps[i]) >> COLUMN_LOG2);
    return out;
}

#define FAR 0x1p53

/* Without noise. Whole numbers count steps of the cost's grid; NaN, a secret, is 0. */
static void real_products(const tacit_vector *from, const double *column, size_t rank, size_t p,
                          int grid, tacit_vector *to)
{
    const bool whole = to->shape->segment[0].scalar == TACIT_I64;
    int64_t *steps = whole ? tacit_vector_segment(to, 0) : NULL;
    for (size_t k = 0; k < rank; k++)
        for (size_t i = 0; i < p; i++) {
            const double x = column[k] * tacit_vector_get(from, 0, i);
            if (!whole)
                tacit_vector_set(to, 0, k * p + i, x);
            else
                steps[k * p + i] =
                    isnan(x) ? 0 : (int64_t)rint(fmax(-FAR, fmin(FAR, ldexp(x, -grid))));
        }
}

static size_t count_of(const tacit_shape *shape)
{
    size_t count = 0;
    for (uint32_t s = 0; s < shape->segments; s++)
        count += shape->segment[s].count;
    return count;
}

tacit_status tacit_bounded_spread(tacit_bounded *bounded, const double *column, size_t rank,
                                  const tacit_shape *shape, tacit_scratch *scratch,
                                  tacit_error *err)
{
    const tacit_cost *cost = &bounded->permit->cost;
    const bool noisy = cost->mechanism != TACIT_MECHANISM_NONE;
    size_t count = 0, bytes;
    const size_t p = bounded->value ? count_of(bounded->value->shape) : 0;
    if (!bounded->value || bounded->offset != 0 || !tacit_mul_size(rank, p, &count) ||
        !tacit_mul_size(count, sizeof(int64_t), &bytes) || count != count_of(shape) ||
        (!noisy && (shape->segments != 1 || bounded->value->shape->segments != 1)))
        return tacit_fail(err, TACIT_EUSAGE, "\"%s\" and a column of %zu do not make %zu numbers",
                          cost->what, rank, count_of(shape));
    tacit_status status = noisy ? check_cost(cost, count, err) : TACIT_OK;
    if (status == TACIT_OK)
        status = check_column(column, rank, cost, err);
    if (status != TACIT_OK)
        return status;
    tacit_vector *value = tacit_scratch_vector(scratch, shape, TACIT_VECTOR_SECRET);
    int64_t *steps = noisy ? integer_products(bounded, column, rank, scratch) : NULL;
    if (!value || (noisy && !steps))
        return tacit_out_of_memory(err);
    memset(value->data, 0, shape->bytes);
    if (noisy)
        sodium_memzero(bounded->steps, p * sizeof *steps);
    else
        real_products(bounded->value, column, rank, p, cost->grid, value);
    bounded->value = value;
    bounded->steps = steps;
    bounded->coordinates = noisy ? count : 0;
    bounded->factor = 1;
    return TACIT_OK;
}
