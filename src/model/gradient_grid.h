/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_GRADIENT_GRID_H
#define TACIT_GRADIENT_GRID_H
/* Shared by gradient_grid.c and softmax_gradient.c: a sum of records' gradients in whole steps. */
#include "math/kernels.h"
#include "model/softmax.h"
#include "privacy/release.h"

#define TACIT_TILE_ROWS 16 /* measured and added before the next are looked at */

typedef struct grid_sum {
    const tacit_model *model;
    const tacit_real_kernels *kernels;
    const tacit_cost *cost;
    const void *theta;
    const char *next; /* what is read after the shard */
    int32_t limit;
    double radius;   /* that clipping in floats aims at, in steps */
    double per_step; /* 1 / step, a power of two */
    int32_t *row;    /* one part */
    int32_t *tile;   /* the sum of TACIT_GRID_ROWS parts at most */
    bool tiled;      /* row and tile were used */
    int64_t *sum;    /* unit record */
    double *mean;    /* unit user */
    double weight;   /* unit user: 1 / records */
    tacit_lot *lot;
    tacit_softmax_tile soft;
} grid_sum;

/* g->row, all parameters of it, into the tile or the mean. */
void grid_add_part(const grid_sum *g);
/* softmax_gradient.c: rows whose gradients are added to the tile, or to the mean. */
void grid_add_softmax(grid_sum *g, const tacit_grid_rows *in);

#endif
