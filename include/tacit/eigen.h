/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EIGEN_H
#define TACIT_EIGEN_H
/*
 * Eigenvalues of small symmetric matrices, from any thread, to the same bits every time.
 *
 * LAPACK itself promises neither. Which one is used is the machine's choice, and a common one,
 * OpenBLAS built without threads, shares its work space between callers without a lock: two
 * threads at once get wrong numbers, not just differently rounded ones, about once in ten
 * thousand calls (tests/unit/eigen_test.c). So whoever calls BLAS in here takes turns.
 *
 * Matrices are n x n by columns, all of them or the lower half; eigenvalues ascend; `false` where
 * LAPACK finds none or `n` is absurd.
 */
#include "tacit/base.h"

/* All n, and in the columns of `a` their vectors. */
bool tacit_eigen_all(size_t n, double *a, double *value);
/* The values alone; `a` is used up. */
bool tacit_eigen_values(size_t n, double *a, double *value);
/* The largest `count`, and their vectors of n; `a` is used up, `value` has room for n. */
bool tacit_eigen_largest(size_t n, size_t count, double *a, double *value, double *vector);
/* a u = value b u with b positive definite and u^T b u = 1; vectors in `a`, `b` is used up. */
bool tacit_eigen_pencil(size_t n, double *a, double *b, double *value);

#endif
