/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of a spectrum by ARPACK's implicitly restarted Lanczos iteration.
 *
 * ARPACK keeps state between calls in static variables and stands on BLAS, so only one iteration
 * runs at a time in a process, and no other user of BLAS; its own random start would depend on
 * earlier calls, so we bring one, from a stream with a fixed seed. What comes in and out is
 * centred, lest rounding lead back to the constant vector.
 */
#include "graph/laplacian.h"
#include "math/lapack.h"
#include "tacit/random.h"

#include <arpack.h>
#include <stdlib.h>
#include <string.h>

typedef struct iteration {
    double *start, *basis, *work, *small;
    a_int n, columns, small_size;
    a_int param[11], place[14];
    a_int info;
} iteration;

static tacit_status claim(iteration *it, const tacit_lanczos *z, tacit_error *err)
{
    size_t vectors, columns = z->basis < z->n ? z->basis : z->n;
    *it = (iteration){.n = (a_int)z->n, .columns = (a_int)columns, .info = 1};
    size_t small = columns * (columns + 8);
    if (z->n > INT32_MAX / 4 || !tacit_mul_size(z->n, columns, &vectors))
        return tacit_out_of_memory(err);
    it->small_size = (a_int)small;
    it->start = calloc(z->n, sizeof *it->start);
    it->basis = calloc(vectors, sizeof *it->basis);
    it->work = calloc(3 * (size_t)z->n, sizeof *it->work);
    it->small = calloc(small, sizeof *it->small);
    it->param[0] = 1; /* exact shifts */
    it->param[2] = (a_int)z->restarts;
    it->param[3] = 1;
    it->param[6] = 1; /* A x = lambda x */
    return it->start && it->basis && it->work && it->small ? TACIT_OK : tacit_out_of_memory(err);
}

static void draw_start(double *start, uint32_t n)
{
    tacit_random random;
    tacit_stream s;
    tacit_random_init(&random, 1);
    tacit_stream_open(&s, &random, 0, TACIT_FOR_GRAPH, 0);
    for (uint32_t i = 0; i < n; i++)
        start[i] = tacit_stream_unit(&s) - 0.5;
    tacit_centre(start, n);
}

/* True: ARPACK says that it has converged. */
static bool iterate(iteration *it, const tacit_lanczos *z)
{
    a_int ido = 0;
    for (;;) {
        dsaupd_c(&ido, "I", it->n, "LA", 1, z->tolerance, it->start, it->columns, it->basis, it->n,
                 it->param, it->place, it->work, it->small, it->small_size, &it->info);
        if (ido != 1 && ido != -1)
            return ido == 99 && it->info == 0;
        double *x = it->work + it->place[0] - 1, *y = it->work + it->place[1] - 1;
        tacit_centre(x, z->n);
        if (!z->apply(z->ctx, x, y))
            return false;
        tacit_centre(y, z->n);
    }
}

static bool extract(iteration *it, const tacit_lanczos *z, double *value, double *vector)
{
    a_int *select = calloc((size_t)it->columns, sizeof *select), info = 0;
    if (!select)
        return false;
    dseupd_c(1, "A", select, value, vector, it->n, 0, "I", it->n, "LA", 1, z->tolerance, it->start,
             it->columns, it->basis, it->n, it->param, it->place, it->work, it->small,
             it->small_size, &info);
    free(select);
    return info == 0;
}

tacit_status tacit_lanczos_largest(const tacit_lanczos *z, double *value, double *vector,
                                   tacit_error *err)
{
    iteration it;
    tacit_status status = claim(&it, z, err);
    if (!status) {
        draw_start(it.start, z->n);
        tacit_lapack_take();
        if (!iterate(&it, z) || !extract(&it, z, value, vector))
            status = tacit_fail(err, TACIT_NO, "the Lanczos iteration did not converge");
        tacit_lapack_give();
    }
    free(it.start);
    free(it.basis);
    free(it.work);
    free(it.small);
    return status;
}
