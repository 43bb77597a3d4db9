/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records from a MAT file (versions 5 to 7): a cell array of matrices, one agent a cell, with the
 * labels in a cell array beside it; or one matrix and one vector.
 *
 * Whether records are rows or columns of a matrix the file does not say. The number of labels
 * does: if every matrix has as many rows as there are labels, and all have the same number of
 * columns, records are rows; otherwise they must be columns in the same sense.
 *
 * One matrix of records beside a matrix of labels: everybody was asked about the same records
 * (the rows), and the labels have a column, or else a row, an agent.
 */
#include "data/mat.h"

#include "data/bytes.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL ((size_t)64 << 20)
#define MOST_TIMES 1024

typedef struct reader {
    const tacit_data_options *options;
    const char *name;
    tacit_mat_array x, y;
    bool has_y;
    size_t rows, features;
    bool in_columns;     /* a record is a column */
    size_t people;       /* who share the records; 0: nobody does */
    bool people_in_rows; /* of the labels */
    double *labels;
} reader;

static size_t numbers_of(const tacit_grid *grid)
{
    return grid->rows * grid->width;
}

/* Labels of cell `k`: what is no vector holds none, so that it will not fit. */
static size_t labels_of(const reader *r, size_t k)
{
    const tacit_grid *y = &r->y.cell[k];
    return y->rows == 1 || y->width == 1 ? numbers_of(y) : 0;
}

/* Records and features of cell `k`, if records are rows (or columns). */
static size_t records_of(const reader *r, size_t k, bool in_columns)
{
    return in_columns ? r->x.cell[k].width : r->x.cell[k].rows;
}

static size_t features_of(const reader *r, size_t k, bool in_columns)
{
    return in_columns ? r->x.cell[k].rows : r->x.cell[k].width;
}

/* The first cell that speaks against it, or the number of cells. Empty cells say nothing. */
static size_t speaks_against(const reader *r, bool in_columns)
{
    size_t features = 0;
    for (size_t k = 0; k < r->x.count; k++) {
        size_t here = features_of(r, k, in_columns), labels = labels_of(r, k);
        if (numbers_of(&r->x.cell[k]) == 0 && labels == 0)
            continue;
        features = features ? features : here;
        if (here != features || records_of(r, k, in_columns) != labels)
            return k;
    }
    return r->x.count;
}

/* A matrix of labels for one matrix of records. */
static tacit_status share(reader *r, tacit_error *err)
{
    const tacit_grid *x = &r->x.cell[0], *y = &r->y.cell[0];
    r->people_in_rows = y->rows != x->rows;
    r->people = r->people_in_rows ? y->rows : y->width;
    if (y->rows == x->rows || y->width == x->rows)
        return TACIT_OK;
    return tacit_fail(
        err, TACIT_EINPUT,
        "%.300s: \"%.100s\" has %zu rows and \"%.100s\" is %zu x %zu; one side of the "
        "labels must be as long as there are records",
        r->name, r->options->x_name, x->rows, r->options->y_name, y->rows, y->width);
}

static tacit_status orient(reader *r, tacit_error *err)
{
    if (!r->has_y)
        return TACIT_OK; /* rows */
    if (!r->x.is_cell && !r->y.is_cell && r->y.cell[0].rows > 1 && r->y.cell[0].width > 1)
        return share(r, err);
    if (r->x.is_cell != r->y.is_cell)
        return tacit_fail(
            err, TACIT_EINPUT,
            "%.300s: one of \"%.100s\" and \"%.100s\" is a cell array and the other a "
            "matrix; both must be the same",
            r->name, r->options->x_name, r->options->y_name);
    if (r->x.count != r->y.count)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: \"%.100s\" has %zu cells and \"%.100s\" %zu; there must be as "
                          "many",
                          r->name, r->options->x_name, r->x.count, r->options->y_name, r->y.count);
    size_t against = speaks_against(r, false);
    if (against == r->x.count)
        return TACIT_OK;
    r->in_columns = true;
    if (speaks_against(r, true) == r->x.count)
        return TACIT_OK;
    const tacit_grid *x = &r->x.cell[against];
    return tacit_fail(
        err, TACIT_EINPUT,
        "%.300s: cell %zu of \"%.100s\" is %zu x %zu and \"%.100s\" has %zu labels for "
        "it; neither rows nor columns of all cells can be records",
        r->name, against + 1, r->options->x_name, x->rows, x->width, r->options->y_name,
        numbers_of(&r->y.cell[against]));
}

static tacit_status count(reader *r, tacit_error *err)
{
    for (size_t k = 0; k < r->x.count; k++) {
        size_t rows = records_of(r, k, r->in_columns), here = features_of(r, k, r->in_columns);
        if (numbers_of(&r->x.cell[k]) == 0)
            continue;
        r->features = r->features ? r->features : here;
        if (here != r->features)
            return tacit_fail(err, TACIT_EINPUT,
                              "%.300s: cell %zu of \"%.100s\" has %zu features; the first has %zu",
                              r->name, k + 1, r->options->x_name, here, r->features);
        if (!tacit_add_size(r->rows, rows, &r->rows))
            return tacit_out_of_memory(err);
    }
    r->labels = calloc(r->rows + 1, sizeof *r->labels);
    if (!r->labels || (r->people > 0 && !tacit_mul_size(r->rows, r->people, &r->rows)))
        return tacit_out_of_memory(err);
    if (r->rows == 0 || r->rows >= UINT32_MAX)
        return tacit_fail(err, TACIT_EINPUT, "%.300s: \"%.100s\" has %zu records; expected some",
                          r->name, r->options->x_name, r->rows);
    return TACIT_OK;
}

/* Shared records are copied: a small file must not ask for a large table that way. */
static tacit_status check_copies(const reader *r, size_t len, tacit_scalar scalar, tacit_error *err)
{
    size_t bytes;
    if (r->people > 0 && (!tacit_mul_size(r->rows, r->features, &bytes) ||
                          !tacit_mul_size(bytes, tacit_scalar_size(scalar), &bytes) ||
                          (bytes > SMALL && bytes / MOST_TIMES > len)))
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: %zu agents with the same %zu records of %zu features are too "
                          "many for a file of %zu bytes",
                          r->name, r->people, r->rows / r->people, r->features, len);
    return TACIT_OK;
}

/* Columns become rows: the same numbers, read in the other order. */
static tacit_grid turned(const tacit_grid *grid)
{
    tacit_grid t = *grid;
    t.rows = t.dim[0] = grid->dim[1];
    t.width = t.dim[1] = grid->dim[0];
    t.column_major = !grid->column_major;
    return t;
}

static tacit_status put_cell(const reader *r, tacit_table *out, size_t k, size_t first,
                             tacit_error *err)
{
    char name[360];
    const tacit_grid *y = r->has_y ? &r->y.cell[k] : NULL;
    tacit_grid x = r->in_columns ? turned(&r->x.cell[k]) : r->x.cell[k];
    for (size_t row = 0; y && row < x.rows; row++)
        r->labels[row] = y->width == 1 ? tacit_grid_at(y, row, 0) : tacit_grid_at(y, 0, row);
    snprintf(name, sizeof name, "%.300s, cell %zu", r->name, k + 1);
    return tacit_grid_put(&x, out, first, y ? r->labels : NULL, r->options,
                          r->x.is_cell ? name : r->name, err);
}

/* Agents are called by the number of their cell. */
static tacit_status own_rows(tacit_table *out, size_t first, size_t rows, size_t number,
                             tacit_error *err)
{
    char text[24];
    uint32_t owner;
    bool added;
    int len = snprintf(text, sizeof text, "%zu", number + 1);
    tacit_status status = tacit_names_intern(&out->owners, text, (size_t)len, &owner, &added, err);
    for (size_t row = 0; row < rows && !status; row++)
        out->owner[first + row] = owner;
    return status;
}

static tacit_status fill_shared(const reader *r, tacit_table *out, tacit_error *err)
{
    const tacit_grid *x = &r->x.cell[0], *y = &r->y.cell[0];
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < r->people && !status; k++) {
        for (size_t row = 0; row < x->rows; row++)
            r->labels[row] =
                r->people_in_rows ? tacit_grid_at(y, k, row) : tacit_grid_at(y, row, k);
        status = tacit_grid_put(x, out, k * x->rows, r->labels, r->options, r->name, err);
        if (!status)
            status = own_rows(out, k * x->rows, x->rows, k, err);
    }
    return status;
}

static tacit_status fill(const reader *r, tacit_table *out, tacit_error *err)
{
    size_t first = 0;
    tacit_status status = TACIT_OK;
    if (r->people > 0)
        return fill_shared(r, out, err);
    for (size_t k = 0; k < r->x.count && !status; k++) {
        size_t rows = numbers_of(&r->x.cell[k]) ? records_of(r, k, r->in_columns) : 0;
        if (rows == 0)
            continue;
        status = put_cell(r, out, k, first, err);
        if (!status && r->x.is_cell)
            status = own_rows(out, first, rows, k, err);
        first += rows;
    }
    return status;
}

tacit_status tacit_read_mat(tacit_table *out, const tacit_data_options *options, const char *name,
                            const char *bytes, size_t len, tacit_scalar scalar, tacit_error *err)
{
    reader r = {.options = options, .name = name, .has_y = !options->labels_path[0]};
    tacit_status status;
    *out = (tacit_table){0};
    if ((status = tacit_mat_find(&r.x, options->x_name, name, bytes, len, options, err)) ||
        (r.has_y &&
         (status = tacit_mat_find(&r.y, options->y_name, name, bytes, len, options, err))) ||
        (status = orient(&r, err)) || (status = count(&r, err)) ||
        (status = check_copies(&r, len, scalar, err)) ||
        (status = tacit_table_create(out, r.rows, r.features, scalar, options, err)) ||
        ((r.x.is_cell || r.people > 0) && (status = tacit_table_own(out, err))))
        goto out;
    status = fill(&r, out, err);
out:
    tacit_mat_clear(&r.x);
    tacit_mat_clear(&r.y);
    free(r.labels);
    if (status)
        tacit_table_clear(out);
    return status;
}
