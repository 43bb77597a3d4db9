/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NEAR_H
#define TACIT_NEAR_H
/*
 * One agent's records, ready to be fitted many times: near any multiple of a prior, with any
 * strength, on any subset. All of it is computed from records: it is wiped by near_clear.
 */
#include "model/linear.h"

typedef struct near_fit {
    tacit_row_loss loss;
    size_t m, p, k;      /* k = min(m, p): dimensions of what is fitted */
    size_t classes;      /* K of the softmax loss, else 1: what is per class lies class by class */
    size_t unknowns;     /* K k */
    const double *y;     /* m labels */
    const double *z;     /* m x k: the records in a basis of their span */
    const double *basis; /* k x p, orthonormal or zero rows; NULL: z are the records themselves */
    const double *prior; /* K p */
    const double *pull;  /* K m: x_r . prior */
    const double *unit;  /* p: what a feature is counted in; NULL: 1 */

    double *c;      /* K k: theta = scale prior + unit basis^T c. Every fit starts here */
    double *margin; /* K m: theta . x_r of the last fit, of records that were held out, too */
    bool stiff;     /* conjugate gradients were too slow here: factorise */

    double *slope, *curve, *move;                          /* K m; softmax: curve holds q */
    double *gradient, *step, *residual, *direction, *bent; /* K k */
    double *hessian;                                       /* k x k, if there is one class */
    double *memory;
    size_t bytes;
} near_fit;

/* What to fit: argmin sum over records with fold[r] != out of
 * loss(theta; x_r, y_r) + weight ||(theta - scale prior) / unit||^2. */
typedef struct near_aim {
    double scale, weight;
    const uint32_t *fold; /* NULL: all records */
    uint32_t out;
    double tolerance; /* of the gradient, relative to its two parts */
} near_aim;

/* `prior` NULL or with a number that is not finite: zero. At least one record. `last` is the unit
 * of the last feature, that of others is 1. */
tacit_status near_init(near_fit *n, const tacit_model *model, const tacit_shard *shard,
                       const tacit_public *prior, double last, tacit_error *err);
/* The same near `center`, p numbers that are finite, with a unit for each feature (NULL: 1). */
tacit_status near_init_at(near_fit *n, const tacit_model *model, const tacit_shard *shard,
                          const double *center, const double *unit, tacit_error *err);
void near_clear(near_fit *n);
/* False if there is no minimiser that doubles could find: c is of no use then. */
bool near_solve(near_fit *n, const near_aim *aim);
/* theta[0..K p) of the last fit with this scale. */
void near_theta(const near_fit *n, double scale, double *theta);
/* What record r loses by the last fit, held out or not; `spare` holds K numbers. */
double near_loss(const near_fit *n, size_t r, double *spare);

#endif
