/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Means and deviations, measured in one pass (Welford), or read from a file of public constants.
 *
 * The deviation is that of the records themselves (divided by m, not m - 1). A feature that is
 * the same in all records has deviation 1, so that it becomes 0: Welford's sum of squares is
 * exactly 0 then, whatever rounding does, because the first mean is the value itself.
 */
#include "data/standardise.h"

#include "data/bytes.h"
#include "data/csv_scan.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

tacit_status tacit_scale_create(tacit_scale *scale, size_t features, tacit_error *err)
{
    *scale = (tacit_scale){.features = features};
    size_t count = features > 0 ? features : 1;
    scale->mean = calloc(count, sizeof *scale->mean);
    scale->deviation = calloc(count, sizeof *scale->deviation);
    if (scale->mean && scale->deviation)
        return TACIT_OK;
    tacit_scale_clear(scale);
    return tacit_out_of_memory(err);
}

void tacit_scale_clear(tacit_scale *scale)
{
    free(scale->mean);
    free(scale->deviation);
    *scale = (tacit_scale){0};
}

void tacit_scale_begin(tacit_scale *scale)
{
    scale->rows = 0;
    memset(scale->mean, 0, scale->features * sizeof *scale->mean);
    memset(scale->deviation, 0, scale->features * sizeof *scale->deviation);
}

void tacit_scale_add(tacit_scale *scale, const double *x)
{
    double *mean = scale->mean, *squares = scale->deviation;
    double share = 1 / (double)++scale->rows;
    for (size_t k = 0; k < scale->features; k++) {
        double off = x[k] - mean[k];
        mean[k] += off * share;
        squares[k] += off * (x[k] - mean[k]);
    }
}

tacit_status tacit_scale_settle(tacit_scale *scale, tacit_error *err)
{
    double rows = scale->rows > 0 ? (double)scale->rows : 1;
    for (size_t k = 0; k < scale->features; k++) {
        double squares = scale->deviation[k];
        double deviation = sqrt(squares / rows);
        scale->deviation[k] = deviation > 0 ? deviation : 1;
        if (!isfinite(scale->mean[k]) || !isfinite(squares))
            return tacit_fail(err, TACIT_EINPUT,
                              "feature %zu has numbers too large for data.standardise; divide them "
                              "before",
                              k + 1);
    }
    return TACIT_OK;
}

void tacit_scale_apply(const tacit_scale *scale, double cut, double *x)
{
    for (size_t k = 0; k < scale->features; k++) {
        x[k] = (x[k] - scale->mean[k]) / scale->deviation[k];
        if (cut > 0)
            x[k] = x[k] > cut ? cut : x[k] < -cut ? -cut : x[k];
    }
}

/* ---- public constants ---- */

/* A field of a line, which must be a number and the last one or not. */
static tacit_status read_constant(tacit_csv_scan *scan, bool last, double *out, tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4];
    tacit_csv_field field;
    tacit_status status = tacit_csv_next(scan, &field, err);
    if (status)
        return status;
    if (field.last != last)
        return tacit_fail(err, TACIT_EINPUT, "%s:%" PRIu64 ": expected two numbers, mean,deviation",
                          scan->name, field.line);
    if (!tacit_csv_number(field.text, field.len, out))
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:%" PRIu64 ": \"%s\"; expected two finite numbers, mean,deviation",
                          scan->name, field.line, tacit_csv_shown(field.text, field.len, shown));
    if (last && !(*out > 0))
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:%" PRIu64 ": deviation \"%s\"; expected a number above 0", scan->name,
                          field.line, tacit_csv_shown(field.text, field.len, shown));
    return TACIT_OK;
}

static tacit_status wrong_count(const tacit_csv_scan *scan, size_t seen, const char *more,
                                size_t features, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "%s: %s%zu lines of constants for %zu features; expected one a feature, "
                      "without a header (a bias has none)",
                      scan->name, more, seen, features);
}

tacit_status tacit_scale_parse(tacit_scale *scale, const char *name, const char *text, size_t len,
                               tacit_error *err)
{
    tacit_csv_scan scan = {0};
    size_t k = 0;
    tacit_status status = tacit_csv_open(&scan, name, text, len, err);
    while (!status && tacit_csv_more(&scan)) {
        if (k == scale->features) {
            status = wrong_count(&scan, k, "more than ", scale->features, err);
            break;
        }
        status = read_constant(&scan, false, &scale->mean[k], err);
        if (!status)
            status = read_constant(&scan, true, &scale->deviation[k], err);
        k++;
    }
    if (!status && k < scale->features)
        status = wrong_count(&scan, k, "", scale->features, err);
    tacit_csv_close(&scan);
    return status;
}

tacit_status tacit_scale_read(tacit_scale *scale, const char *path, const char *folder,
                              tacit_error *err)
{
    tacit_bytes bytes;
    if (!path[0])
        return tacit_fail(err, TACIT_EINPUT,
                          "data.constants is empty; data.standardise \"public\" needs a file with "
                          "\"mean,deviation\" a feature");
    tacit_status status = tacit_bytes_load(&bytes, path, folder, NULL, err);
    if (!status)
        status = tacit_scale_parse(scale, path, tacit_bytes_at(&bytes), bytes.len, err);
    tacit_bytes_clear(&bytes);
    return status;
}
