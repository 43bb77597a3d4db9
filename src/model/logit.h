/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_LOGIT_H
#define TACIT_LOGIT_H
/*
 * The regularised logistic problem as a sum over vectors u_r = -y_r x_r,
 *
 *     F(theta) = sum_r log(1 + exp(u_r . theta)) + b . theta + (ridge / 2) |theta|^2,
 *
 * solved with a promise: the result is within `gap` of the exact minimiser, floating point
 * included. Kernels that release a minimiser need the promise, because what they tell their
 * accountant rests on it; every number it depends on is public (rows, p, ridge and bounds).
 */
#include "tacit/base.h"

typedef struct tacit_logit {
    size_t rows, p;
    const double *u;    /* rows x p */
    const double *tilt; /* b, or NULL for zero */
    double ridge;       /* > 0 */
    double radius;      /* |u_r| is at most this */
    double tilt_most;   /* |b| is at most this */
} tacit_logit;

/* A row x becomes u = -y x with |x|_2 cut to `radius`, up to a factor TACIT_LOGIT_CUT; rows with
 * NaN or infinities become zeros, labels count as signs. */
#define TACIT_LOGIT_CUT (1 + 0x1p-30)
void tacit_logit_take(size_t p, double radius, double y, double *row);
/* No less than the longest row. */
double tacit_logit_longest(const tacit_logit *f);

/* Twice the size the minimiser can have. */
double tacit_logit_span(const tacit_logit *f);
/* The least distance, `want` or more, that doubles can promise. */
double tacit_logit_gap(const tacit_logit *f, double want);
/* Multiplications in the worst case: a public number, to refuse what would take days. */
double tacit_logit_work(const tacit_logit *f, double gap);
/* theta (p numbers), within `gap` of the minimiser; the gap is one that tacit_logit_gap gave. */
tacit_status tacit_logit_solve(const tacit_logit *f, double gap, double *theta, tacit_error *err);

/* The two ways, for tests. Newton: false if it did not get there, whatever is in theta then. */
bool tacit_logit_newton(const tacit_logit *f, double gap, double *theta, double *work);
void tacit_logit_descend(const tacit_logit *f, double gap, double *theta, double *work);
/* Doubles of `work`; false if it cannot be said in a size_t. */
bool tacit_logit_room(const tacit_logit *f, size_t *doubles);

#endif
