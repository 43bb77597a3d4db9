/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DENSE_H
#define TACIT_DENSE_H
/* Small dense linear algebra in doubles, for oracles and constants: not for hot loops. */
#include "tacit/base.h"

/* Solve A x = b for symmetric positive definite A (n x n, row-major; its lower triangle is
 * overwritten by the Cholesky factor); b becomes x. False if A is not positive definite. */
bool tacit_dense_solve(size_t n, double *a, double *b);

/* Largest eigenvalue of a symmetric positive semidefinite matrix, by Lanczos with full
 * reorthogonalisation until the residual is below 1e-12 of it; `work` holds
 * tacit_dense_work(n) doubles. */
double tacit_dense_largest(size_t n, const double *a, double *work);
size_t tacit_dense_work(size_t n);

#endif
