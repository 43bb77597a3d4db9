/* SPDX-License-Identifier: Apache-2.0 */
#include "math/lapack.h"

#include <lapacke.h>
#include <pthread.h>
#include <stdlib.h>

#include "tacit/eigen.h"

#define MOST 30000 /* a side: products of two such still fit LAPACK's integers */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

void tacit_lapack_take(void)
{
    pthread_mutex_lock(&turn);
}

void tacit_lapack_give(void)
{
    pthread_mutex_unlock(&turn);
}

bool tacit_eigen_all(size_t n, double *a, double *value)
{
    if (n == 0 || n > MOST)
        return n == 0;
    const lapack_int side = (lapack_int)n;
    tacit_lapack_take();
    const lapack_int info = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', side, a, side, value);
    tacit_lapack_give();
    return info == 0;
}

bool tacit_eigen_values(size_t n, double *a, double *value)
{
    if (n == 0 || n > MOST)
        return n == 0;
    /* All of them: asked for one, dsyevr bisects, and gives up on multiple eigenvalues. */
    const lapack_int side = (lapack_int)n;
    lapack_int found = 0, support[2];
    double unused;
    tacit_lapack_take();
    const lapack_int info = LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'N', 'A', 'L', side, a, side, 0, 0, 0,
                                           0, 0, &found, value, &unused, 1, support);
    tacit_lapack_give();
    return info == 0;
}

bool tacit_eigen_largest(size_t n, size_t count, double *a, double *value, double *vector)
{
    if (n == 0 || n > MOST || count == 0 || count > n)
        return count == 0;
    const lapack_int side = (lapack_int)n, first = (lapack_int)(n - count + 1);
    lapack_int *support = calloc(2 * n, sizeof *support), found = 0;
    if (!support)
        return false;
    tacit_lapack_take();
    const lapack_int info = LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'L', side, a, side, 0, 0,
                                           first, side, 0, &found, value, vector, side, support);
    tacit_lapack_give();
    free(support);
    return info == 0 && found == (lapack_int)count;
}

bool tacit_eigen_pencil(size_t n, double *a, double *b, double *value)
{
    if (n == 0 || n > MOST)
        return n == 0;
    const lapack_int side = (lapack_int)n;
    tacit_lapack_take();
    const lapack_int info =
        LAPACKE_dsygvd(LAPACK_COL_MAJOR, 1, 'V', 'L', side, a, side, b, side, value);
    tacit_lapack_give();
    return info == 0;
}
