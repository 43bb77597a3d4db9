/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_GRAPH_COSINE_H
#define TACIT_GRAPH_COSINE_H
/*
 * Cosines between the rows of targets, a few rows against all others at a time. A pair's
 * products are added up in order of the columns, dense or compressed, so both give the same
 * numbers and the same ties.
 */
#include "tacit/targets.h"

#define TACIT_COSINE_ROWS 16

typedef struct tacit_cosines {
    uint32_t agents;
    size_t dimension;
    double *packed;  /* dense: unit rows, a block of agents at a time, columns outside */
    double *unit;    /* compressed: the values of unit rows, by row */
    uint64_t *start; /* compressed: by column, offsets into the two below */
    uint32_t *member;
    double *share;
    const tacit_targets *targets;
    bool *is_zero; /* rows without a direction; their cosines are 0 */
} tacit_cosines;

/* Refuses numbers that are not finite and columns out of order. `cosines` borrows `targets`. */
tacit_status tacit_cosines_init(tacit_cosines *cosines, uint32_t agents,
                                const tacit_targets *targets, tacit_error *err);
void tacit_cosines_clear(tacit_cosines *cosines);
/* out[r * agents + j] for rows first to first + count - 1 (count <= TACIT_COSINE_ROWS) and every
 * j >= from; what is before `from` is left as it was or written, never to be read. */
void tacit_cosines_rows(const tacit_cosines *cosines, uint32_t first, uint32_t count, uint32_t from,
                        double *out);
/* One of them: the same number as in a row. */
double tacit_cosines_pair(const tacit_cosines *cosines, uint32_t i, uint32_t j);

#endif
