/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_MAT_H
#define TACIT_DATA_MAT_H
/* Variables of MAT files, versions 5 to 7: real matrices, and cell arrays of such. */
#include "data/bytes.h"
#include "data/grid.h"

typedef struct tacit_mat_array {
    bool is_cell;
    size_t count;     /* cells; 1 for a matrix */
    tacit_grid *cell; /* rank 2; point into the file or into `unpacked` */
    tacit_bytes unpacked;
} tacit_mat_array;

/* The variable called `wanted`; `bytes` must outlive it. */
tacit_status tacit_mat_find(tacit_mat_array *out, const char *wanted, const char *name,
                            const char *bytes, size_t len, const tacit_data_options *options,
                            tacit_error *err);
void tacit_mat_clear(tacit_mat_array *array); /* {0} is empty */

#endif
