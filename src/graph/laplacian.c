/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ends of the spectrum of a Laplacian.
 *
 * Small graphs: LAPACK, with 2/n added to every number of L / scale. That lifts the eigenvalue
 * of the constant vector from 0 to 2, which no other one exceeds, and leaves the others alone.
 *
 * Large graphs: Lanczos on 2 - L / scale first, which is quick where the spectrum has a gap
 * above zero (expanders). Where it has none to speak of (rings, grids), that would take for
 * ever; then Lanczos on the inverse, a linear system a step (solve.c), and few steps. Either way
 * the value is the Rayleigh quotient of the vector found, as a sum of squares over the edges,
 * which is accurate relative to the value itself; and the vector must satisfy L x = value x, or
 * the result is TACIT_NO.
 */
#include "graph/laplacian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tacit/eigen.h"

#define QUICK_BASIS 32
#define QUICK_RESTARTS 80
#define QUICK_TOLERANCE 1e-8
#define SLOW_BASIS 12
#define SLOW_RESTARTS 30
#define SLOW_TOLERANCE 1e-8
#define TOP_RESTARTS 300
/* Residual of a vector that is believed, relative to its value. The value is off by the square
 * of the residual over the distance to the next value: relatively 1e-8 if that distance is of
 * the size of the value itself, and usually far less, as the tolerances are tighter than this. */
#define BELIEVED 1e-4

void tacit_centre(double *x, uint32_t n)
{
    double mean = 0;
    for (uint32_t i = 0; i < n; i++)
        mean += x[i];
    mean /= n;
    for (uint32_t i = 0; i < n; i++)
        x[i] -= mean;
}

void tacit_laplacian_init(tacit_laplacian *l, const tacit_graph *g, const double *weight)
{
    *l = (tacit_laplacian){.graph = g, .weight = weight};
    for (uint32_t i = 0; i < g->agents; i++) {
        double degree = 0;
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++)
            degree += weight ? weight[e] : 1;
        l->scale = fmax(l->scale, degree);
    }
}

double tacit_laplacian_weight(const tacit_laplacian *l, uint64_t e)
{
    return (l->weight ? l->weight[e] : 1) / l->scale;
}

void tacit_laplacian_apply(const tacit_laplacian *l, const double *x, double *y)
{
    const tacit_graph *g = l->graph;
    for (uint32_t i = 0; i < g->agents; i++) {
        double sum = 0;
        if (l->weight) {
            for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++)
                sum += l->weight[e] * (x[i] - x[g->neighbour[e]]);
        } else {
            for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++)
                sum += x[i] - x[g->neighbour[e]];
        }
        y[i] = sum / l->scale;
    }
}

/* ---- small graphs ---- */

/* L / scale + 2 / n */
static void fill_dense(const tacit_laplacian *l, double *matrix)
{
    const tacit_graph *g = l->graph;
    size_t n = g->agents;
    for (size_t k = 0; k < n * n; k++)
        matrix[k] = 2 / (double)n;
    for (uint32_t i = 0; i < n; i++) {
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            double weight = tacit_laplacian_weight(l, e);
            matrix[i * n + g->neighbour[e]] -= weight;
            matrix[i * n + i] += weight;
        }
    }
}

tacit_status tacit_laplacian_dense(const tacit_laplacian *l, double *smallest, double *largest,
                                   tacit_error *err)
{
    size_t n = l->graph->agents;
    double *matrix = calloc(n * n, sizeof *matrix); /* n is small */
    double *value = calloc(n, sizeof *value);
    tacit_status status = matrix && value ? TACIT_OK : tacit_out_of_memory(err);
    if (!status) {
        fill_dense(l, matrix);
        if (!tacit_eigen_values(n, matrix, value))
            status = tacit_fail(err, TACIT_NO, "LAPACK did not find the eigenvalues of the graph");
    }
    if (!status) {
        *smallest = value[0] * l->scale;
        *largest = value[n - 2] * l->scale; /* the last one is the constant vector's */
    }
    free(matrix);
    free(value);
    return status;
}

/* ---- large graphs ---- */

static bool apply_turned(void *ctx, const double *x, double *y)
{
    const tacit_laplacian *l = ctx;
    tacit_laplacian_apply(l, x, y);
    for (uint32_t i = 0; i < l->graph->agents; i++)
        y[i] = 2 * x[i] - y[i];
    return true;
}

static bool apply_plain(void *ctx, const double *x, double *y)
{
    tacit_laplacian_apply(ctx, x, y);
    return true;
}

static bool apply_inverse(void *ctx, const double *x, double *y)
{
    return tacit_solver_run(ctx, x, y);
}

/* The value that belongs to a vector of mean zero (of L / scale), and how far the vector is
 * from an eigenvector; `scratch` is n numbers. */
static double rayleigh(const tacit_laplacian *l, const double *x, double *scratch, double *residual)
{
    const tacit_graph *g = l->graph;
    double energy = 0, square = 0, off = 0;
    for (uint32_t i = 0; i < g->agents; i++) {
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            double d = x[i] - x[g->neighbour[e]];
            energy += 0.5 * tacit_laplacian_weight(l, e) * d * d;
        }
        square += x[i] * x[i];
    }
    double value = energy / square;
    tacit_laplacian_apply(l, x, scratch);
    for (uint32_t i = 0; i < g->agents; i++)
        off += (scratch[i] - value * x[i]) * (scratch[i] - value * x[i]);
    *residual = sqrt(off / square);
    return value;
}

/* One run, and its vector put to the test. */
static tacit_status look(const tacit_laplacian *l, const tacit_lanczos *lanczos, double *value,
                         tacit_error *err)
{
    uint32_t n = l->graph->agents;
    double *vector = calloc(2 * (size_t)n, sizeof *vector), ritz, residual;
    if (!vector)
        return tacit_out_of_memory(err);
    tacit_status status = tacit_lanczos_largest(lanczos, &ritz, vector, err);
    if (!status) {
        tacit_centre(vector, n);
        *value = rayleigh(l, vector, vector + n, &residual);
        if (!(residual <= BELIEVED * *value))
            status = tacit_fail(err, TACIT_NO, "the Lanczos iteration converged to no eigenvector");
        *value *= l->scale;
    }
    free(vector);
    return status;
}

static tacit_status look_quickly(const tacit_laplacian *l, double *value, tacit_error *err)
{
    tacit_laplacian copy = *l; /* operators take no const */
    const tacit_lanczos quick = {.n = l->graph->agents,
                                 .apply = apply_turned,
                                 .ctx = &copy,
                                 .basis = QUICK_BASIS,
                                 .restarts = QUICK_RESTARTS,
                                 .tolerance = QUICK_TOLERANCE};
    return look(l, &quick, value, err);
}

static tacit_status look_slowly(const tacit_laplacian *l, tacit_solver *solver, double *value,
                                tacit_error *err)
{
    const tacit_lanczos slow = {.n = l->graph->agents,
                                .apply = apply_inverse,
                                .ctx = solver,
                                .basis = SLOW_BASIS,
                                .restarts = SLOW_RESTARTS,
                                .tolerance = SLOW_TOLERANCE};
    return look(l, &slow, value, err);
}

tacit_status tacit_laplacian_smallest(const tacit_laplacian *l, double *value, tacit_error *err)
{
    tacit_solver solver;
    tacit_status status = tacit_solver_init(&solver, l, err);
    if (status)
        return status;
    status = TACIT_NO;
    if (!solver.parent) /* where a tree serves, the inverse is the quick one */
        status = look_quickly(l, value, err);
    if (status == TACIT_NO)
        status = look_slowly(l, &solver, value, err);
    tacit_solver_clear(&solver);
    if (status == TACIT_NO)
        return tacit_fail(err, TACIT_NO,
                          "the second smallest eigenvalue of this graph did not converge: it is "
                          "too close to 0 or to the next one");
    return status;
}

tacit_status tacit_laplacian_largest(const tacit_laplacian *l, double *value, tacit_error *err)
{
    tacit_laplacian copy = *l;
    const tacit_lanczos top = {.n = l->graph->agents,
                               .apply = apply_plain,
                               .ctx = &copy,
                               .basis = QUICK_BASIS,
                               .restarts = TOP_RESTARTS,
                               .tolerance = QUICK_TOLERANCE};
    tacit_status status = look(l, &top, value, err);
    if (status == TACIT_NO)
        return tacit_fail(err, TACIT_NO,
                          "the largest eigenvalue of this graph did not converge: it is too "
                          "close to the next one");
    return status;
}
