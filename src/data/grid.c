/* SPDX-License-Identifier: Apache-2.0 */
#include "data/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t tacit_kind_size(tacit_kind kind)
{
    static const unsigned char sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return sizes[kind];
}

bool tacit_grid_measure(tacit_grid *grid, size_t *bytes)
{
    grid->rows = grid->dim[0];
    grid->width = 1;
    for (unsigned k = 1; k < grid->rank; k++) {
        if (!tacit_mul_size(grid->width, grid->dim[k], &grid->width))
            return false;
    }
    return tacit_mul_size(grid->rows, grid->width, bytes) &&
           tacit_mul_size(*bytes, tacit_kind_size(grid->kind), bytes);
}

/* ---- one number ---- */

static uint64_t load_bits(const unsigned char *at, size_t size, bool big)
{
    uint64_t bits = 0;
    for (size_t k = 0; k < size; k++)
        bits = bits << 8 | at[big ? k : size - 1 - k];
    return bits;
}

static double load_f32(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

static double load_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double load(const tacit_grid *grid, size_t index)
{
    size_t size = tacit_kind_size(grid->kind);
    uint64_t bits = load_bits(grid->bytes + index * size, size, grid->big);
    switch (grid->kind) {
    case TACIT_KIND_U8:
    case TACIT_KIND_U16:
    case TACIT_KIND_U32:
    case TACIT_KIND_U64:
        return (double)bits;
    case TACIT_KIND_I8:
        return (double)(int8_t)bits;
    case TACIT_KIND_I16:
        return (double)(int16_t)bits;
    case TACIT_KIND_I32:
        return (double)(int32_t)bits;
    case TACIT_KIND_I64:
        return (double)(int64_t)bits;
    case TACIT_KIND_F32:
        return load_f32(bits);
    default:
        return load_f64(bits);
    }
}

/* Where feature `column` of row 0 lies; features are counted with the last index fastest,
 * whatever the order of storage, so that both orders of one array give the same records. */
static size_t offset_of(const tacit_grid *grid, size_t column)
{
    if (!grid->column_major)
        return column;
    size_t offset = 0, below = grid->rows * grid->width;
    for (unsigned k = grid->rank; k-- > 1;) {
        size_t index = column % grid->dim[k];
        column /= grid->dim[k];
        below /= grid->dim[k]; /* numbers that one step of index k passes */
        offset += index * below;
    }
    return offset;
}

double tacit_grid_at(const tacit_grid *grid, size_t row, size_t column)
{
    return load(grid, offset_of(grid, column) + row * (grid->column_major ? 1 : grid->width));
}

/* ---- rows ---- */

static tacit_status complain(const tacit_grid *grid, const char *name, size_t row, const double *x,
                             tacit_error *err)
{
    size_t k = 0;
    while (k < grid->width && isfinite(x[k]))
        k++;
    if (k < grid->width && isnan(x[k]))
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: record %zu, feature %zu is missing (NaN); set "
                          "data.missing-rule to say what to do",
                          name, row + 1, k + 1);
    return tacit_fail(err, TACIT_EINPUT,
                      "%.300s: record %zu has a number that is infinite or does not fit in f32 "
                      "(or set model.scalar to f64)",
                      name, row + 1);
}

static tacit_status put_row(const tacit_grid *grid, tacit_table *table, size_t first, size_t row,
                            double label, bool refuse, double *x, const char *name,
                            tacit_error *err)
{
    if (tacit_table_put(table, first + row, x, label, NULL)) {
        if (!isfinite(label))
            return tacit_fail(err, TACIT_EINPUT,
                              "%.300s: record %zu has label \"%g\"; expected a finite number", name,
                              row + 1, label);
        return complain(grid, name, row, x, err);
    }
    return table->missing && refuse ? complain(grid, name, row, x, err) : TACIT_OK;
}

tacit_status tacit_grid_put(const tacit_grid *grid, tacit_table *table, size_t first,
                            const double *y, const tacit_data_options *options, const char *name,
                            tacit_error *err)
{
    bool refuse = options->missing_rule == TACIT_MISSING_REFUSE;
    double *x = calloc(grid->width + 1, sizeof *x);
    size_t *offset = calloc(grid->width + 1, sizeof *offset);
    size_t step = grid->column_major ? 1 : grid->width;
    tacit_status status = x && offset ? TACIT_OK : tacit_out_of_memory(err);
    for (size_t k = 0; k < grid->width && !status; k++)
        offset[k] = offset_of(grid, k);
    for (size_t row = 0; row < grid->rows && !status; row++) {
        for (size_t k = 0; k < grid->width; k++)
            x[k] = load(grid, offset[k] + row * step);
        status = put_row(grid, table, first, row, y ? y[row] : 0, refuse, x, name, err);
    }
    free(x);
    free(offset);
    return status;
}

tacit_status tacit_grid_table(tacit_table *out, const tacit_grid *grid,
                              const tacit_data_options *options, const char *name,
                              tacit_scalar scalar, tacit_error *err)
{
    *out = (tacit_table){0};
    if (grid->rows == 0 || grid->width == 0)
        return tacit_fail(err, TACIT_EINPUT, "%.300s: no records: %zu rows of %zu features", name,
                          grid->rows, grid->width);
    tacit_status status =
        (grid->kind == TACIT_KIND_U8 ? tacit_table_create_narrow : tacit_table_create)(
            out, grid->rows, grid->width, scalar, options, err);
    if (!status)
        status = tacit_grid_put(grid, out, 0, NULL, options, name, err);
    if (status)
        tacit_table_clear(out);
    return status;
}
