/* SPDX-License-Identifier: Apache-2.0 */
/* Leading eigenvectors and the coordinates of agents made of them. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/eigen.h"

/* M x for the pattern of a graph, written from the definition. */
static double residual(const tacit_sparse *m, double value, const double *x)
{
    double sum = 0;
    for (uint32_t i = 0; i < m->graph->agents; i++) {
        double y = (m->diagonal[i] - value) * x[i];
        for (uint64_t e = m->graph->row[i]; e < m->graph->row[i + 1]; e++)
            y += m->weight[e] * x[m->graph->neighbour[e]];
        sum += y * y;
    }
    return sqrt(sum);
}

static double inner(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += x[k] * y[k];
    return sum;
}

/* Eigenvalues of a ring are known: 2 cos(2 pi j / n), all but the first twice. */
static void test_ring(void **state)
{
    (void)state;
    enum { COUNT = 5 };
    static const uint32_t sizes[] = {9, 200, TACIT_EIGEN_DENSE + 300};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const uint32_t n = sizes[s];
        tacit_graph g = {0};
        tacit_error err = {0};
        check_ok(tacit_graph_ring(&g, n, &err), &err);
        double *diagonal = calloc(n, sizeof *diagonal), value[COUNT];
        double *vector = calloc((size_t)COUNT * n, sizeof *vector);
        const tacit_sparse m = {&g, g.weight, diagonal};
        check_ok(tacit_sparse_largest(&m, COUNT, value, vector, &err), &err);
        for (size_t k = 0; k < COUNT; k++) {
            const double want = 2 * cos(2 * acos(-1) * (double)((k + 1) / 2) / n);
            assert_true(fabs(value[k] - want) < 1e-6);
            assert_true(residual(&m, value[k], vector + k * n) < 1e-5);
            double largest = 0;
            for (size_t i = 0; i < n; i++)
                largest = fabs(vector[k * n + i]) > fabs(largest) * (1 + 1e-9) ? vector[k * n + i]
                                                                               : largest;
            assert_true(largest > 0);
            for (size_t l = 0; l <= k; l++)
                assert_true(fabs(inner(n, vector + k * n, vector + l * n) - (l == k)) < 1e-9);
        }
        free(diagonal);
        free(vector);
        tacit_graph_clear(&g);
    }
}

/* Several components, as many eigenvalues 1: iteration from one vector would miss them. */
static void test_pieces(void **state)
{
    (void)state;
    enum { PIECES = 4, EACH = 400, COUNT = 6 };
    static tacit_edge edge[PIECES * EACH];
    for (uint32_t p = 0, at = 0; p < PIECES; p++)
        for (uint32_t k = 0; k < EACH; k++, at++)
            edge[at] = (tacit_edge){p * EACH + k, p * EACH + (k + 1) % EACH, 1 + k % 3};
    tacit_graph g = {0};
    tacit_error err = {0};
    check_ok(tacit_graph_from_edges(&g, PIECES * EACH, edge, PIECES * EACH, &err), &err);
    double *weight = calloc(g.entries, sizeof *weight);
    double *diagonal = calloc(g.agents, sizeof *diagonal), value[COUNT];
    double *vector = calloc((size_t)COUNT * g.agents, sizeof *vector);
    for (uint32_t i = 0; i < g.agents; i++)
        for (uint64_t e = g.row[i]; e < g.row[i + 1]; e++)
            weight[e] = g.weight[e] / sqrt(g.degree[i] * g.degree[g.neighbour[e]]);
    const tacit_sparse m = {&g, weight, diagonal};
    check_ok(tacit_sparse_largest(&m, COUNT, value, vector, &err), &err);
    for (size_t k = 0; k < PIECES; k++)
        assert_true(fabs(value[k] - 1) < 1e-6);
    assert_true(value[PIECES] < 1 - 1e-5);
    for (size_t k = 0; k < COUNT; k++)
        assert_true(residual(&m, value[k], vector + k * g.agents) < 1e-5);
    free(weight);
    free(diagonal);
    free(vector);
    tacit_graph_clear(&g);
}

/* ---- coordinates ---- */

static const tacit_kernel plain = {TACIT_KERNEL_SPECTRAL, 1, 10, 1, 0.25};

/* Agents on a circle, similar if near: two coordinates beside the constant one are a circle, so
 * neighbours have nearly equal columns and opposites nearly opposite ones. */
static void test_circle(void **state)
{
    (void)state;
    enum { N = 60, R = 3 };
    static double basis[N * R];
    for (int kind = 0; kind < 3; kind++) {
        tacit_graph g = {0};
        tacit_error err = {0};
        check_ok(tacit_graph_ring(&g, N, &err), &err);
        tacit_kernel kernel = plain;
        kernel.kind = kind;
        check_ok(tacit_graph_basis(&g, &kernel, R, basis, &err), &err);
        for (size_t i = 0; i < N; i++) {
            const double *c = basis + i * R, *next = basis + (i + 1) % N * R;
            const double *across = basis + (i + N / 2) % N * R;
            assert_true(fabs(inner(R, c, c) - 1) < 1e-12);
            assert_true(inner(R, c, next) > 0.98);
            assert_true(inner(R, c, across) < (kind == TACIT_KERNEL_SPECTRAL ? -0.8 : -0.2));
        }
        tacit_graph_clear(&g);
    }
}

static void test_isolated_and_tiny(void **state)
{
    (void)state;
    tacit_error err = {0};
    double basis[12];
    tacit_graph g = {0};
    const tacit_edge edge[] = {{0, 1, 0.5}, {1, 3, 2}};
    check_ok(tacit_graph_from_edges(&g, 4, edge, 2, &err), &err);
    for (int kind = 0; kind < 3; kind++) {
        tacit_kernel kernel = plain;
        kernel.kind = kind;
        check_ok(tacit_graph_basis(&g, &kernel, 3, basis, &err), &err);
        for (size_t k = 0; k < 3; k++)
            assert_true(basis[2 * 3 + k] == 0);
        assert_true(fabs(inner(3, basis, basis) - 1) < 1e-12);
    }
    check_fails(tacit_graph_basis(&g, &plain, 5, basis, &err), TACIT_EINPUT, &err, "rank 5");
    check_fails(tacit_graph_basis(&g, &plain, 0, basis, &err), TACIT_EINPUT, &err, "rank 0");
    tacit_kernel bad = plain;
    bad.alpha = NAN;
    check_fails(tacit_graph_basis(&g, &bad, 1, basis, &err), TACIT_EINPUT, &err, "negative");
    bad = plain;
    bad.kappa = -1;
    check_fails(tacit_graph_basis(&g, &bad, 1, basis, &err), TACIT_EINPUT, &err, "negative");
    g.weight[0] = NAN;
    check_fails(tacit_graph_basis(&g, &plain, 1, basis, &err), TACIT_EINPUT, &err, "weight");
    g.weight[0] = 1e-200;
    bad = plain;
    bad.kappa = 50;
    g.weight[g.row[1] + g.mirror[0]] = 1e-200;
    check_fails(tacit_graph_basis(&g, &bad, 1, basis, &err), TACIT_EINPUT, &err, "kappa");
    tacit_graph_clear(&g);
    check_ok(tacit_graph_from_edges(&g, 1, NULL, 0, &err), &err);
    check_ok(tacit_graph_basis(&g, &plain, 1, basis, &err), &err);
    assert_true(basis[0] == 0);
    tacit_graph_clear(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_circle),
        cmocka_unit_test(test_isolated_and_tiny),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
