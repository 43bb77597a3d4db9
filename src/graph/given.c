/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel over agents that comes as a matrix. It is turned into a graph with a diagonal, so that
 * everything that is done with graphs (components, eigenvectors of sparse matrices) can be done
 * with it.
 */
#include <math.h>
#include <stdlib.h>

#include "graph/basis.h"
#include "graph/eigen.h"

#define SYMMETRIC 1e-9

static tacit_status check_entry(const double *kernel, size_t n, size_t i, size_t j,
                                tacit_error *err)
{
    const double one = kernel[i * n + j], two = kernel[j * n + i];
    if (!(one >= 0) || !isfinite(one))
        return tacit_fail(err, TACIT_EINPUT,
                          "the kernel is %g in row %zu, column %zu (from 0); every number must be "
                          "finite and at least 0",
                          one, i, j);
    if (j > i && two >= 0 && fabs(one - two) > SYMMETRIC * fmax(one, two))
        return tacit_fail(err, TACIT_EINPUT,
                          "the kernel is not symmetric: agents %zu and %zu have %g in one "
                          "direction and %g in the other; take the mean, for example",
                          i, j, one, two);
    return TACIT_OK;
}

/* Counts pairs that are not 0 on the way. */
static tacit_status check_kernel(const double *kernel, size_t n, size_t *pairs, tacit_error *err)
{
    *pairs = 0;
    for (size_t i = 0; i < n; i++) {
        bool any = false;
        for (size_t j = 0; j < n; j++) {
            tacit_status status = check_entry(kernel, n, i, j, err);
            if (status != TACIT_OK)
                return status;
            any = any || kernel[i * n + j] > 0;
            *pairs += j > i && kernel[i * n + j] > 0;
        }
        if (!any)
            return tacit_fail(err, TACIT_EINPUT,
                              "row %zu of the kernel is nothing but zeros; give that agent a "
                              "number of its own on the diagonal at least",
                              i);
    }
    return TACIT_OK;
}

tacit_status tacit_kernel_graph(tacit_graph *graph, double *diagonal, uint32_t agents,
                                const double *kernel, tacit_error *err)
{
    const size_t n = agents;
    size_t pairs, bytes, at = 0;
    *graph = (tacit_graph){0};
    if (n == 0 || n > TACIT_KERNEL_MOST_AGENTS)
        return tacit_fail(err, TACIT_EINPUT,
                          "a kernel of %zu agents; expected 1 to %d: for more, give a graph of "
                          "who is near whom",
                          n, TACIT_KERNEL_MOST_AGENTS);
    tacit_status status = check_kernel(kernel, n, &pairs, err);
    if (status != TACIT_OK)
        return status;
    if (!tacit_mul_size(pairs + 1, sizeof(tacit_edge), &bytes))
        return tacit_out_of_memory(err);
    tacit_edge *edge = malloc(bytes);
    if (!edge)
        return tacit_out_of_memory(err);
    for (uint32_t i = 0; i < agents; i++) {
        diagonal[i] = kernel[i * n + i];
        for (uint32_t j = i + 1; j < agents; j++)
            if (kernel[i * n + j] > 0)
                edge[at++] = (tacit_edge){i, j, kernel[i * n + j] / 2 + kernel[j * n + i] / 2};
    }
    status = tacit_graph_from_edges(graph, agents, edge, at, err);
    free(edge);
    return status;
}

tacit_status tacit_kernel_basis(const tacit_graph *g, const double *diagonal, bool raw, size_t rank,
                                double *basis, tacit_error *err)
{
    tacit_status status = tacit_basis_rank(g, rank, err);
    size_t numbers;
    if (status != TACIT_OK)
        return status;
    if (!tacit_mul_size(g->agents, rank, &numbers) || numbers > SIZE_MAX / 16)
        return tacit_out_of_memory(err);
    double *value = calloc(rank, sizeof *value), *vector = calloc(numbers, sizeof *vector);
    status = value && vector ? TACIT_OK : tacit_out_of_memory(err);
    if (status == TACIT_OK)
        status =
            tacit_sparse_largest(&(tacit_sparse){g, g->weight, diagonal}, rank, value, vector, err);
    if (status == TACIT_OK) {
        for (size_t k = 0; k < rank; k++)
            value[k] = sqrt(fmax(value[k], 0));
        tacit_basis_rows(g, rank, raw, value, vector, basis);
    }
    free(value);
    free(vector);
    return status;
}
