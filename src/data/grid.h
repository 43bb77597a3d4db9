/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_GRID_H
#define TACIT_DATA_GRID_H
/*
 * An array of numbers as binary formats store it: any of ten types, either byte order, either
 * order of the indices. The first index counts records; the others, flattened, features.
 */
#include "data/table.h"

typedef enum tacit_kind {
    TACIT_KIND_U8,
    TACIT_KIND_I8,
    TACIT_KIND_U16,
    TACIT_KIND_I16,
    TACIT_KIND_U32,
    TACIT_KIND_I32,
    TACIT_KIND_U64,
    TACIT_KIND_I64,
    TACIT_KIND_F32,
    TACIT_KIND_F64
} tacit_kind;

#define TACIT_GRID_RANK 32

typedef struct tacit_grid {
    const unsigned char *bytes;
    tacit_kind kind;
    bool big;          /* most significant byte first */
    bool column_major; /* the first index runs fastest (Fortran, MATLAB) */
    unsigned rank;
    size_t dim[TACIT_GRID_RANK];
    size_t rows, width; /* dim[0], and the product of the others */
} tacit_grid;

size_t tacit_kind_size(tacit_kind kind);
/* After kind, rank and dim are set: sets rows and width, and says how many bytes the numbers
 * need; false if that overflows. */
bool tacit_grid_measure(tacit_grid *grid, size_t *bytes);
double tacit_grid_at(const tacit_grid *grid, size_t row, size_t column);

/* Rows of a grid to rows of a table from `first` on, with NaN for missing. `y` has a label a
 * row; NULL: 0. `name` is the file for messages. */
tacit_status tacit_grid_put(const tacit_grid *grid, tacit_table *table, size_t first,
                            const double *y, const tacit_data_options *options, const char *name,
                            tacit_error *err);
/* A whole table from a grid of records. */
tacit_status tacit_grid_table(tacit_table *out, const tacit_grid *grid,
                              const tacit_data_options *options, const char *name,
                              tacit_scalar scalar, tacit_error *err);

/* ---- idx.c, npy.c: headers ---- */
bool tacit_is_idx(const char *bytes, size_t len);
bool tacit_is_npy(const char *bytes, size_t len);
/* The grid points into `bytes`. */
tacit_status tacit_idx_open(tacit_grid *grid, const char *name, const char *bytes, size_t len,
                            tacit_error *err);
tacit_status tacit_npy_open(tacit_grid *grid, const char *name, const char *bytes, size_t len,
                            tacit_error *err);

#endif
