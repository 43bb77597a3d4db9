/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few smooth functions on a graph, as coordinates of its agents: who is near whom has nearly the
 * same ones. With V the leading eigenvectors of a kernel over agents and s their weights, agent i
 * gets c_i = (s_1 V_i1, ..., s_r V_ir) / norm, so that what is a smooth function of agents (models
 * that are alike for neighbours) is about linear in c_i, and |c_i| = 1.
 *
 * Agents that the leading vectors do not reach, isolated ones first of all, get zeros.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/basis.h"
#include "graph/eigen.h"

const char *const tacit_kernel_kinds[] = {"spectral", "power", "heat", "given", NULL};

#define UNREACHED 1e-7
#define CONSTANT 1e-6 /* eigenvalues of modes that are constant on a component, up to degrees */

typedef struct parts {
    double *weight, *diagonal, *degree;
} parts;

static tacit_status check(const tacit_graph *g, const tacit_kernel *kernel, size_t rank,
                          tacit_error *err)
{
    tacit_status status = tacit_basis_rank(g, rank, err);
    if (status != TACIT_OK)
        return status;
    if (kernel->kind == TACIT_KERNEL_GIVEN)
        return tacit_fail(err, TACIT_EINPUT, "kernel \"given\" is a matrix, not made of a graph");
    if (!(kernel->kappa >= 0 && kernel->kappa <= 100) || !(kernel->alpha >= 0) ||
        !isfinite(kernel->alpha) || !(kernel->decay >= 0 && kernel->decay <= 100) ||
        !(kernel->constant >= 0 && kernel->constant <= 1e6))
        return tacit_fail(err, TACIT_EINPUT, "a kernel's numbers must not be negative");
    for (size_t e = 0; e < g->entries; e++)
        if (!(g->weight[e] > 0) || !isfinite(g->weight[e]))
            return tacit_fail(err, TACIT_EINPUT, "the graph has an edge of weight %g",
                              g->weight[e]);
    return TACIT_OK;
}

/* The matrix whose largest eigenvalues are the kernel's. */
static tacit_status fill(parts *m, const tacit_graph *g, const tacit_kernel *kernel,
                         tacit_error *err)
{
    const double kappa = kernel->kind == TACIT_KERNEL_HEAT ? 1 : kernel->kappa;
    for (uint32_t i = 0; i < g->agents; i++)
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            m->weight[e] = pow(g->weight[e], kappa);
            m->degree[i] += m->weight[e];
        }
    for (uint32_t i = 0; i < g->agents; i++) {
        if (!isfinite(m->degree[i]) || (g->row[i + 1] > g->row[i] && !(m->degree[i] > 1e-300)))
            return tacit_fail(err, TACIT_EINPUT,
                              "weights to the power of %g are beyond what can be computed; choose "
                              "another kappa",
                              kappa);
        m->diagonal[i] = kernel->kind == TACIT_KERNEL_POWER  ? 1
                         : kernel->kind == TACIT_KERNEL_HEAT ? -m->degree[i]
                                                             : 0;
    }
    for (uint32_t i = 0; kernel->kind == TACIT_KERNEL_SPECTRAL && i < g->agents; i++)
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++)
            m->weight[e] /= sqrt(m->degree[i] * m->degree[g->neighbour[e]]);
    return TACIT_OK;
}

/* How much an eigenvector counts, from its eigenvalue. */
static double weight_of(const tacit_kernel *kernel, double value)
{
    switch (kernel->kind) {
    case TACIT_KERNEL_POWER:
        return sqrt(fmax(value, 0));
    case TACIT_KERNEL_HEAT:
        return 1 / sqrt(1 + kernel->alpha * fmax(-value, 0));
    default:
        return pow(1 + kernel->alpha * fmax(1 - value, 0), -kernel->decay) *
               (1 - value < CONSTANT ? kernel->constant : 1);
    }
}

tacit_status tacit_basis_rank(const tacit_graph *g, size_t rank, tacit_error *err)
{
    if (rank < 1 || rank > g->agents)
        return tacit_fail(err, TACIT_EINPUT, "rank %zu is not between 1 and the %u agents", rank,
                          g->agents);
    return TACIT_OK;
}

/* The longest gets length 1. */
static void shorten(size_t n, size_t rank, double *basis)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double squares = 0;
        for (size_t k = 0; k < rank; k++)
            squares += basis[i * rank + k] * basis[i * rank + k];
        most = fmax(most, squares);
    }
    for (size_t k = 0; most > 0 && k < n * rank; k++)
        basis[k] /= sqrt(most);
}

void tacit_basis_rows(const tacit_graph *g, size_t rank, bool raw, const double *scale,
                      const double *vector, double *basis)
{
    const size_t n = g->agents;
    for (size_t i = 0; i < n; i++) {
        double *row = basis + i * rank, squares = 0;
        for (size_t k = 0; k < rank; k++) {
            row[k] = scale[k] * vector[k * n + i];
            squares += row[k] * row[k];
        }
        const double length = sqrt(squares) * sqrt((double)n);
        const bool reached = g->row[i + 1] > g->row[i] && length > UNREACHED;
        for (size_t k = 0; k < rank; k++)
            row[k] = !reached ? 0 : raw ? row[k] : row[k] / sqrt(squares);
    }
    if (raw)
        shorten(n, rank, basis);
}

tacit_status tacit_graph_basis(const tacit_graph *g, const tacit_kernel *kernel, size_t rank,
                               double *basis, tacit_error *err)
{
    tacit_status status = check(g, kernel, rank, err);
    if (status != TACIT_OK)
        return status;
    const size_t n = g->agents;
    size_t numbers;
    if (!tacit_mul_size(n, rank, &numbers) || numbers > SIZE_MAX / 16)
        return tacit_out_of_memory(err);
    parts m = {calloc(g->entries + 1, sizeof(double)), calloc(n, sizeof(double)),
               calloc(n, sizeof(double))};
    double *value = calloc(rank, sizeof *value), *vector = calloc(numbers, sizeof *vector);
    status =
        m.weight && m.diagonal && m.degree && value && vector ? TACIT_OK : tacit_out_of_memory(err);
    if (status == TACIT_OK)
        status = fill(&m, g, kernel, err);
    if (status == TACIT_OK)
        status = tacit_sparse_largest(&(tacit_sparse){g, m.weight, m.diagonal}, rank, value, vector,
                                      err);
    if (status == TACIT_OK) {
        for (size_t k = 0; k < rank; k++)
            value[k] = weight_of(kernel, value[k]);
        tacit_basis_rows(g, rank, kernel->raw, value, vector, basis);
    }
    free(m.weight);
    free(m.diagonal);
    free(m.degree);
    free(value);
    free(vector);
    return status;
}
