/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_MATH_LAPACK_H
#define TACIT_MATH_LAPACK_H

/* Turns for libraries that stand on BLAS (tacit/eigen.h says why), such as ARPACK. Nothing of
 * tacit/eigen.h may be called between take and give. */
void tacit_lapack_take(void);
void tacit_lapack_give(void);

#endif
