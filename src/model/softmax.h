/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_SOFTMAX_H
#define TACIT_SOFTMAX_H
/*
 * The softmax loss: labels y in 0 .. K-1, a row of weights theta_k a class, margins
 * z_k = theta_k . x, q = exp(z) / sum_j exp(z_j):
 *
 *     loss = log sum_k exp(z_k) - z_y
 *     d loss / d theta_k = (q_k - [k = y]) x               so a record's gradient is of rank one,
 *     d^2 loss / dz dz^T = diag(q) - q q^T = B             with |q - e_y| |x| as its norm
 *
 * B is the covariance of a class drawn from q: u . B u = Var_q(u), which is at most half of |u|^2
 * (a variance is at most a quarter of the squared range, and the range is at most sqrt(2) |u|), so
 * its eigenvalues are between 0 and 1/2. Its rows add up to zero: adding the same vector to all
 * theta_k changes no q, gradients add up to zero over classes, and only the regulariser says
 * where the rows lie together. At q = 1/K, B is (I - 1 1^T / K) / K: curvature 1/K in every
 * direction that gradients can have.
 *
 * With two classes it is the logistic loss at w = theta_1 - theta_0; lambda |theta|^2 is then
 * lambda |w|^2 / 2 at least.
 */
#include "model/linear.h"

#define TACIT_CLASSES_MOST 1000

/* q of `classes` margins that lie `stride` apart (q as well; it may be z itself); returns
 * log sum exp(z). */
double tacit_softmax(size_t classes, size_t stride, const double *z, double *q);
/* Which row of weights a label means; one that is none (tacit_model_check lets none pass) is 0. */
size_t tacit_softmax_class(size_t classes, double y);

/* Over records: the sum of losses, or how many are told right. theta NULL: zero. NaN: no memory. */
double tacit_softmax_sum(const tacit_model *model, const tacit_shard *shard, const double *theta,
                         bool score);

/* softmax_gradient.c: a few records at a time. */
typedef struct tacit_softmax_tile {
    size_t rows;    /* at most */
    size_t numbers; /* rows x classes */
    void *z;        /* classes x rows, of the model's scalar: margins, then slopes */
    double *q;      /* rows x classes: q - e_y */
    double *part;   /* rows */
} tacit_softmax_tile;
/* Memory of the scratch; false if there is none. Wiping one that was never got does nothing. */
bool tacit_softmax_tile_get(tacit_softmax_tile *tile, const tacit_model *model,
                            tacit_scratch *scratch);
void tacit_softmax_tile_wipe(tacit_softmax_tile *tile);
/* g += sum over a batch of gradients, each clipped. */
void tacit_softmax_add(const tacit_softmax_tile *tile, const tacit_model *model,
                       const tacit_batch *batch, const void *theta, tacit_clip clip, void *g);

#endif
