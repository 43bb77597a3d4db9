/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public records, and what is made of them before anybody's private record is looked at: means
 * that stand in for missing values, means and deviations of features and labels, and the
 * directions in which features vary most (principal components, as paper 002 takes them from the
 * last records of its sets). Since nobody owns a public record, nothing of this has to be charged:
 * when an agent's record changes, not a bit of it does.
 *
 *     z_k = v_k . (s - centre) [ / sqrt(w_k) under data.whiten ],   s = (x - mean) / deviation,
 *
 * where w_1 >= w_2 >= ... are eigenvalues of the covariance of the public s and v_k their vectors.
 * A vector is known up to its sign: the one whose largest entry is positive is taken, so that
 * another LAPACK gives the same features but for rounding.
 *
 * Invariants
 *  1. Rows are summed in the order of slice->row, so that equal tables give equal bits.
 *  2. A component that the public records do not vary in is refused, never divided by zero.
 */
#include "data/slice.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/dataset.h"
#include "data/partition.h"
#include "data/shares.h"
#include "tacit/eigen.h"

#define FLAT 1e-12 /* below this part of the largest eigenvalue a direction is rounding */

void tacit_slice_clear(tacit_slice *slice)
{
    free(slice->row);
    free(slice->stand_in);
    free(slice->centre);
    free(slice->basis);
    free(slice->room);
    *slice = (tacit_slice){0};
}

/* ---- which rows ---- */

static tacit_status needs_public(const char *key, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "data.%s is made of public records, and there are none; say how many of the "
                      "last records are public with data.public",
                      key);
}

static tacit_status check_components(const tacit_data_options *o, size_t features, tacit_error *err)
{
    if ((uint64_t)o->components > features)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.components is \"%" PRId64 "\", but records have %zu features; ask "
                          "for at most as many",
                          o->components, features);
    if (features > TACIT_COMPONENTS_MOST)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.components of %zu features; at most %d features can be reduced so",
                          features, TACIT_COMPONENTS_MOST);
    if (o->standardise == TACIT_STANDARDISE_AGENT || o->standardise == TACIT_STANDARDISE_POOLED)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.components come from public records, and agents would scale theirs "
                          "otherwise; set data.standardise to \"public\" or \"none\"");
    return TACIT_OK;
}

tacit_status tacit_slice_check(const tacit_data_options *o, size_t features, tacit_error *err)
{
    if (o->public_records < 0 || o->components < 0 || o->records < 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.public, data.components and data.records are counts; expected 0 or "
                          "more");
    if (o->public_records == 0 && o->components > 0)
        return needs_public("components", err);
    if (o->public_records == 0 && o->standardise_labels)
        return needs_public("standardise-labels", err);
    if (o->public_records == 0 && o->missing_rule == TACIT_MISSING_PUBLIC)
        return needs_public("missing-rule \"public\"", err);
    if (o->standardise_labels && (o->positive[0] || o->threshold[0] || o->classes[0]))
        return tacit_fail(
            err, TACIT_EINPUT,
            "data.standardise-labels is for numbers; with data.positive or "
            "data.threshold labels are +1 and -1, with data.classes they are classes");
    if (o->cut > 0 && o->standardise == TACIT_STANDARDISE_NONE)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.cut counts deviations, and features are not standardised; set "
                          "data.standardise");
    return o->components > 0 ? check_components(o, features, err) : TACIT_OK;
}

static tacit_status check_counts(const tacit_data_options *o, uint32_t rows, tacit_error *err)
{
    if (o->public_records >= rows)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.public is \"%" PRId64 "\", but there are %" PRIu32
                          " records; some must be left for agents",
                          o->public_records, rows);
    if (o->records > rows - o->public_records)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.records is \"%" PRId64 "\", but %" PRId64
                          " records are there to deal",
                          o->records, rows - o->public_records);
    return TACIT_OK;
}

tacit_status tacit_slice_take(tacit_slice *slice, uint32_t *owner, size_t rows,
                              const tacit_data_options *o, const tacit_random *random,
                              tacit_error *err)
{
    if (o->public_records == 0 && o->records == 0)
        return TACIT_OK;
    uint32_t *order = malloc(rows * sizeof *order), count = 0;
    if (!order)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < rows; k++) {
        if (owner[k] != TACIT_NOT_DEALT)
            order[count++] = (uint32_t)k;
    }
    tacit_status status = check_counts(o, count, err);
    if (status)
        goto out;
    if (o->shuffle)
        tacit_deal_shuffle(order, count, random, TACIT_DRAW_SLICE);
    const uint32_t public = (uint32_t)o->public_records, first = count - public;
    for (uint32_t k = o->records > 0 ? (uint32_t)o->records : first; k < count; k++)
        owner[order[k]] = TACIT_NOT_DEALT;
    slice->row = malloc(((size_t) public + 1) * sizeof *slice->row);
    if (!slice->row) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    memcpy(slice->row, order + first, public * sizeof *slice->row);
    slice->rows = public;
out:
    free(order);
    return status;
}

/* ---- means ---- */

static void load(tacit_slice *slice, const tacit_table *table, const tacit_data_options *o,
                 uint32_t k)
{
    tacit_table_get(table, slice->row[k], slice->room);
    bool zero = o->missing_rule == TACIT_MISSING_ZERO;
    for (size_t f = 0; table->missing && f < slice->features; f++) {
        if (isnan(slice->room[f]))
            slice->room[f] = zero ? 0 : slice->stand_in[f];
    }
}

/* Labels by Welford, as features are (standardise.c): equal labels have deviation 1. */
static void measure_labels(tacit_slice *slice, const tacit_table *table)
{
    double mean = 0, squares = 0;
    for (uint32_t k = 0; k < slice->rows; k++) {
        double y = table->y[slice->row[k]], off = y - mean;
        mean += off / (k + 1.0);
        squares += off * (y - mean);
    }
    double deviation = sqrt(squares / slice->rows);
    slice->label_mean = mean;
    slice->label_deviation = deviation > 0 ? deviation : 1;
}

tacit_status tacit_slice_measure(tacit_slice *slice, const tacit_table *table,
                                 const tacit_data_options *o, tacit_error *err)
{
    const size_t features = slice->features = table->features;
    slice->stand_in = calloc(features + 1, sizeof *slice->stand_in);
    slice->room = calloc(features + 1, sizeof *slice->room);
    uint32_t *present = calloc(features + 1, sizeof *present);
    if (!slice->stand_in || !slice->room || !present) {
        free(present);
        return tacit_out_of_memory(err);
    }
    /* Test records of their own may have holes where this table has none. */
    const bool wanted = table->missing || o->missing_rule == TACIT_MISSING_PUBLIC;
    for (uint32_t k = 0; wanted && k < slice->rows; k++) {
        tacit_table_get(table, slice->row[k], slice->room);
        for (size_t f = 0; f < features; f++) {
            if (!isnan(slice->room[f]))
                slice->stand_in[f] += (slice->room[f] - slice->stand_in[f]) / ++present[f];
        }
    }
    free(present);
    measure_labels(slice, table);
    if (o->standardise_labels &&
        (!isfinite(slice->label_mean) || !isfinite(slice->label_deviation)))
        return tacit_fail(err, TACIT_EINPUT,
                          "public labels are too large for data.standardise-labels; divide them "
                          "before");
    return TACIT_OK;
}

void tacit_slice_scale(tacit_slice *slice, const tacit_table *table, const tacit_data_options *o,
                       tacit_scale *scale)
{
    for (uint32_t k = 0; k < slice->rows; k++) {
        load(slice, table, o, k);
        tacit_scale_add(scale, slice->room);
    }
}

/* ---- components ---- */

/* The next row, scaled. */
static void load_scaled(tacit_slice *slice, const tacit_table *table, const tacit_data_options *o,
                        const tacit_scale *scale, uint32_t k)
{
    load(slice, table, o, k);
    if (scale)
        tacit_scale_apply(scale, o->cut, slice->room);
}

/* Covariance of the scaled rows, its lower half by columns. */
static void gather(tacit_slice *slice, const tacit_table *table, const tacit_data_options *o,
                   const tacit_scale *scale, double *covariance)
{
    const size_t n = slice->features;
    for (uint32_t k = 0; k < slice->rows; k++) {
        load_scaled(slice, table, o, scale, k);
        for (size_t f = 0; f < n; f++)
            slice->centre[f] += (slice->room[f] - slice->centre[f]) / (k + 1.0);
    }
    for (uint32_t k = 0; k < slice->rows; k++) {
        load_scaled(slice, table, o, scale, k);
        for (size_t f = 0; f < n; f++)
            slice->room[f] -= slice->centre[f];
        for (size_t c = 0; c < n; c++) {
            double *column = covariance + c * n;
            for (size_t r = c; r < n; r++)
                column[r] += slice->room[c] * slice->room[r] / slice->rows;
        }
    }
}

static bool all_finite(const double *x, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += fabs(x[k]);
    return isfinite(sum);
}

/* Vector `v` of eigenvalue `w` as component `k`: its largest entry positive, whitened if asked. */
static void adopt(tacit_slice *slice, size_t k, const double *v, double w, bool whiten)
{
    size_t top = 0;
    for (size_t f = 1; f < slice->features; f++)
        top = fabs(v[f]) > fabs(v[top]) ? f : top;
    double by = (v[top] < 0 ? -1 : 1) / (whiten ? sqrt(w) : 1);
    for (size_t f = 0; f < slice->features; f++)
        slice->basis[k * slice->features + f] = v[f] * by;
}

static tacit_status keep_leading(tacit_slice *slice, const tacit_data_options *o,
                                 double *covariance, double *value, double *vector,
                                 tacit_error *err)
{
    const size_t n = slice->features, wanted = (size_t)o->components;
    size_t varying = 0;
    if (!all_finite(covariance, n * n))
        return tacit_fail(err, TACIT_EINPUT,
                          "features are too large for data.components; set data.standardise to "
                          "\"public\"");
    if (!tacit_eigen_largest(n, wanted, covariance, value, vector))
        return tacit_fail(err, TACIT_EINTERNAL, "no principal components were found");
    for (size_t k = 0; k < wanted; k++)
        varying += value[k] > FLAT * value[wanted - 1] && value[k] > 0;
    if (varying < wanted)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.components is \"%zu\", but the %" PRIu32
                          " public records vary in %zu directions only; ask for fewer components "
                          "or make more records public",
                          wanted, slice->rows, varying);
    for (size_t k = 0; k < wanted; k++) /* eigenvalues ascend */
        adopt(slice, k, vector + (wanted - 1 - k) * n, value[wanted - 1 - k], o->whiten);
    slice->components = wanted;
    return TACIT_OK;
}

tacit_status tacit_slice_decompose(tacit_slice *slice, const tacit_table *table,
                                   const tacit_data_options *o, const tacit_scale *scale,
                                   tacit_error *err)
{
    const size_t n = slice->features, wanted = (size_t)o->components;
    if (wanted == 0)
        return TACIT_OK;
    /* At most TACIT_COMPONENTS_MOST squared: no product of these overflows. */
    double *covariance = calloc(n * n, sizeof *covariance), *value = calloc(n, sizeof *value);
    double *vector = calloc(n * wanted, sizeof *vector);
    slice->centre = calloc(n, sizeof *slice->centre);
    slice->basis = calloc(n * wanted, sizeof *slice->basis);
    tacit_status status = TACIT_OK;
    if (!covariance || !value || !vector || !slice->centre || !slice->basis)
        status = tacit_out_of_memory(err);
    if (!status) {
        gather(slice, table, o, scale, covariance);
        status = keep_leading(slice, o, covariance, value, vector, err);
    }
    free(covariance);
    free(value);
    free(vector);
    return status;
}

void tacit_slice_project(tacit_slice *slice, double *x)
{
    const size_t n = slice->features;
    if (slice->components == 0)
        return;
    for (size_t f = 0; f < n; f++)
        slice->room[f] = x[f] - slice->centre[f];
    for (size_t k = 0; k < slice->components; k++) {
        const double *v = slice->basis + k * n;
        double sum = 0;
        for (size_t f = 0; f < n; f++)
            sum += v[f] * slice->room[f];
        x[k] = sum;
    }
}
