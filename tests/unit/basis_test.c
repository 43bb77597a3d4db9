/* SPDX-License-Identifier: Apache-2.0 */
/* Leading eigenvectors and the coordinates of agents made of them. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/eigen.h"
#include "tacit/random.h"

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

static const tacit_kernel plain = {TACIT_KERNEL_SPECTRAL, 1, 10, 1, 0.25, false};

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

/* ---- a kernel that is given ---- */

/* A block of agents that are alike, another one, and an agent by itself: columns within a block
 * are the same, between blocks orthogonal, and the last is apart. */
static void test_given(void **state)
{
    (void)state;
    enum { N = 7, R = 2 };
    double kernel[N * N] = {0}, diagonal[N], basis[N * R];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            kernel[i * N + j] = i == j ? 2 : (i < 3) == (j < 3) && i < 6 && j < 6 ? 1 : 0;
    kernel[1] += 1e-11; /* rounding is forgiven */
    tacit_graph g;
    tacit_error err = {0};
    check_ok(tacit_kernel_graph(&g, diagonal, N, kernel, &err), &err);
    assert_int_equal(g.entries, 12);
    check_ok(tacit_kernel_basis(&g, diagonal, false, R, basis, &err), &err);
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            assert_true(fabs(fabs(inner(R, basis + i * R, basis + j * R)) - ((i < 3) == (j < 3))) <
                        1e-6);
    assert_true(basis[6 * R] == 0 && basis[6 * R + 1] == 0);
    check_fails(tacit_kernel_basis(&g, diagonal, false, 8, basis, &err), TACIT_EINPUT, &err,
                "rank 8");
    tacit_graph_clear(&g);
}

/* With as many voices as agents, the columns are a root of the kernel scaled to a diagonal of 1. */
static void test_given_in_full(void **state)
{
    (void)state;
    enum { N = 5 };
    double kernel[N * N], diagonal[N], basis[N * N];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) /* positive definite: of a Laplace process */
            kernel[i * N + j] =
                (double)(1 + i) * (double)(1 + j) * exp(-fabs((double)i - (double)j));
    tacit_graph g;
    tacit_error err = {0};
    check_ok(tacit_kernel_graph(&g, diagonal, N, kernel, &err), &err);
    check_ok(tacit_kernel_basis(&g, diagonal, false, N, basis, &err), &err);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            assert_true(fabs(inner(N, basis + i * N, basis + j * N) -
                             exp(-fabs((double)i - (double)j))) < 1e-9);
    tacit_graph_clear(&g);
}

static void test_given_badly(void **state)
{
    (void)state;
    enum { N = 3 };
    static const struct {
        size_t at;
        double value;
        const char *word;
    } bad[] = {{1, -0.5, "row 0, column 1"},
               {5, NAN, "row 1, column 2"},
               {8, INFINITY, "finite"},
               {1, 0.6, "not symmetric: agents 0 and 1"},
               {6, 0, "not symmetric: agents 0 and 2"}};
    double diagonal[N];
    tacit_graph g;
    tacit_error err = {0};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        double kernel[N * N] = {1, 0.5, 0.2, 0.5, 1, 0.1, 0.2, 0.1, 1};
        kernel[bad[k].at] = bad[k].value;
        check_fails(tacit_kernel_graph(&g, diagonal, N, kernel, &err), TACIT_EINPUT, &err,
                    bad[k].word);
        assert_null(g.row);
    }
    const double zeros[N * N] = {1, 0, 0.5, 0, 0, 0, 0.5, 0, 1};
    check_fails(tacit_kernel_graph(&g, diagonal, N, zeros, &err), TACIT_EINPUT, &err,
                "row 1 of the kernel is nothing but zeros");
    check_fails(tacit_kernel_graph(&g, diagonal, 0, zeros, &err), TACIT_EINPUT, &err, "0 agents");
    check_fails(tacit_kernel_graph(&g, diagonal, TACIT_KERNEL_MOST_AGENTS + 1, zeros, &err),
                TACIT_EINPUT, &err, "graph of who is near whom");
    double basis[N];
    tacit_kernel given = plain;
    given.kind = TACIT_KERNEL_GIVEN;
    check_ok(tacit_graph_ring(&g, N, &err), &err);
    check_fails(tacit_graph_basis(&g, &given, 1, basis, &err), TACIT_EINPUT, &err, "matrix");
    tacit_graph_clear(&g);
}

/* ---- factorisations ---- */

/* The error as its definition has it, for B = (old columns)^T G^-1 with G from old to new columns
 * by least squares, which is exact: the sum over i of |row i of B|^2 / (A m)_i^2. */
static double error_of(size_t n, size_t r, const double *old, const double *new, const double *m)
{
    double a[8 * 8] = {0}, b[8 * 8] = {0}, total[8] = {0}, sum = 0;
    assert_true(r <= 8);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < r; k++) {
            total[k] += (m ? m[i] : 1) * old[i * r + k];
            for (size_t l = 0; l < r; l++) {
                a[k * r + l] += new[i * r + k] * new[i * r + l];
                b[k * r + l] += new[i * r + k] * old[i * r + l];
            }
        }
    /* G^-1 maps new to old: (G^-1)^T solves (sum new new^T) X = sum new old^T */
    for (size_t k = 0; k < r; k++)
        for (size_t i = 0; i < r; i++) {
            const double f = i == k ? 0 : a[i * r + k] / a[k * r + k];
            for (size_t j = 0; j < r; j++) {
                a[i * r + j] -= f * a[k * r + j];
                b[i * r + j] -= f * b[k * r + j];
            }
        }
    for (size_t k = 0; k < r; k++)
        for (size_t j = 0; j < r; j++)
            b[k * r + j] /= a[k * r + k];
    for (size_t i = 0; i < n; i++) {
        const double mass = inner(r, total, old + i * r);
        for (size_t k = 0; k < r; k++) {
            const double row = inner(r, old + i * r, b + k * r);
            sum += row * row / (mass * mass);
        }
    }
    return sqrt(sum);
}

/* Agents of unlike weight about a direction that all share, so that (A m)_i is far above 0; the
 * longest column has length 1. */
static void draw_columns(size_t n, size_t r, uint64_t seed, double *basis, double *m)
{
    tacit_random random;
    tacit_stream stream;
    double longest = 0;
    tacit_random_init(&random, seed);
    tacit_stream_open(&stream, &random, 0, TACIT_FOR_GRAPH, 1);
    for (size_t i = 0; i < n; i++) {
        double *c = basis + i * r;
        for (size_t k = 0; k < r; k++)
            c[k] = k == 0 ? 1 : 1.5 * (tacit_stream_unit(&stream) - 0.5) / (double)k;
        longest = fmax(longest, sqrt(inner(r, c, c)));
        m[i] = 1 + 9 * tacit_stream_unit(&stream);
    }
    for (size_t k = 0; k < n * r; k++)
        basis[k] /= longest;
}

static void test_optimal(void **state)
{
    (void)state;
    enum { N = 40, MOST = 6 };
    double old[N * MOST], new[N * MOST], m[N];
    tacit_error err = {0};
    for (size_t r = 1; r <= MOST; r++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            tacit_factored error;
            draw_columns(N, r, seed, old, m);
            memcpy(new, old, sizeof new);
            check_ok(tacit_basis_optimise(N, r, m, new, &error, &err), &err);
            /* what it says is what it is */
            assert_true(fabs(error_of(N, r, old, old, m) / error.before - 1) < 1e-9);
            assert_true(fabs(error_of(N, r, old, new, m) / error.after - 1) < 1e-6);
            /* never worse, and as good as can be: weak duality bounds every G */
            assert_true(error.after <= error.before * (1 + 1e-12));
            assert_true(error.bound <= error.after * (1 + 1e-9));
            assert_true(error.after <= error.bound * 1.001);
            assert_true(r == 1 || error.after < 0.98 * error.before);
            double longest = 0;
            for (size_t i = 0; i < N; i++)
                longest = fmax(longest, inner(r, new + i *r, new + i *r));
            assert_true(longest <= 1 + 1e-12 && longest > 0.999);
        }
}

/* Columns of length 1 are the best there are, whatever the weights: with multipliers 1/(A m)_j^2
 * the identity solves the problem. Directions that no column has, and agents without a column, do
 * no harm. */
static void test_optimal_is_svd(void **state)
{
    (void)state;
    enum { N = 48, R = 4 };
    double old[N * R] = {0}, new[N * R], m[N];
    tacit_factored error;
    tacit_error err = {0};
    for (size_t i = 0; i + 1 < N; i++) {
        old[i * R + 1] = cos(0.5 * (double)(i * i) / (N * N));
        old[i * R + 3] = sin(0.5 * (double)(i * i) / (N * N));
        m[i] = (double)(1 + i % 7);
    }
    m[N - 1] = 3;
    memcpy(new, old, sizeof new);
    check_ok(tacit_basis_optimise(N, R, m, new, &error, &err), &err);
    assert_true(error.before - error.bound < 1e-6 * error.before);
    for (size_t k = 0; k < (size_t)N * R; k++)
        assert_true(fabs(new[k] - old[k]) < 1e-6);
    memset(new, 0, sizeof new);
    check_ok(tacit_basis_optimise(N, R, NULL, new, &error, &err), &err);
    assert_true(error.before == 0 && error.after == 0 && new[5] == 0);
}

/* Of graphs, by every kernel: never worse than the kernel's own columns, and better than them. */
static void test_optimal_on_graphs(void **state)
{
    (void)state;
    enum { N = 60, R = 5 };
    static double basis[N * R];
    for (int kind = 0; kind < 3; kind++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            tacit_graph g = {0};
            tacit_error err = {0};
            tacit_factored error;
            check_ok(tacit_graph_watts_strogatz(&g, N, 4, 0.2, seed, &err), &err);
            tacit_kernel kernel = plain;
            kernel.kind = kind;
            kernel.raw = true;
            check_ok(tacit_graph_basis(&g, &kernel, R, basis, &err), &err);
            double longest = 0;
            for (size_t i = 0; i < N; i++)
                longest = fmax(longest, inner(R, basis + i * R, basis + i * R));
            assert_true(fabs(longest - 1) < 1e-12);
            check_ok(tacit_basis_optimise(N, R, NULL, basis, &error, &err), &err);
            assert_true(error.after < 0.999 * error.before);
            assert_true(error.bound <= error.after * (1 + 1e-9));
            tacit_graph_clear(&g);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring),           cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_circle),         cmocka_unit_test(test_isolated_and_tiny),
        cmocka_unit_test(test_given),          cmocka_unit_test(test_given_in_full),
        cmocka_unit_test(test_given_badly),    cmocka_unit_test(test_optimal),
        cmocka_unit_test(test_optimal_is_svd), cmocka_unit_test(test_optimal_on_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
