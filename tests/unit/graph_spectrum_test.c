/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mixing weights and spectra. Where a spectrum has a closed form it is the oracle, for LAPACK's
 * sizes and for Lanczos' alike; elsewhere the two check each other. tests/oracle compares with
 * networkx.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/laplacian.h"
#include "testing.h"

static const double pi = 3.14159265358979323846;

/* In doubles: cmocka's assert_float_equal rounds to float first. */
static void check_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
}

/* ---- mixing ---- */

static void check_mixing(const tacit_graph *g, tacit_mixing_kind kind)
{
    tacit_error err = {0};
    double *weight = calloc(g->entries + 1, sizeof *weight);
    double *self = calloc(g->agents, sizeof *self), *column = calloc(g->agents, sizeof *column);
    assert_true(weight && self && column);
    check_ok(tacit_graph_mixing(g, kind, weight, self, &err), &err);
    uint64_t largest = 0;
    for (uint32_t i = 0; i < g->agents; i++) {
        uint64_t degree = g->row[i + 1] - g->row[i];
        largest = degree > largest ? degree : largest;
    }
    for (uint32_t i = 0; i < g->agents; i++) {
        uint64_t degree = g->row[i + 1] - g->row[i];
        double sum = self[i];
        assert_true(self[i] >= 1 / (1 + (double)degree) - 1e-12);
        column[i] += self[i];
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            uint32_t j = g->neighbour[e];
            uint64_t other = g->row[j + 1] - g->row[j];
            assert_true(weight[e] > 0);
            assert_true(weight[e] == weight[g->row[j] + g->mirror[e]]);
            uint64_t expected = kind == TACIT_MIXING_UNIFORM ? largest
                                : degree > other             ? degree
                                                             : other;
            check_near(weight[e], 1 / (1 + (double)expected), 1e-15);
            sum += weight[e];
            column[j] += weight[e];
        }
        check_near(sum, 1, 1e-12);
    }
    for (uint32_t i = 0; i < g->agents; i++)
        check_near(column[i], 1, 1e-12);
    free(weight);
    free(self);
    free(column);
}

static void test_mixing_is_doubly_stochastic(void **state)
{
    (void)state;
    tacit_error err = {0};
    for (uint64_t seed = 0; seed < 12; seed++) {
        tacit_graph g;
        uint32_t n = (uint32_t)(2 + 13 * seed);
        if (seed % 3 == 0)
            check_ok(tacit_graph_star(&g, n, &err), &err);
        else if (seed % 3 == 1)
            check_ok(tacit_graph_erdos_renyi(&g, n, 0.1, seed, &err), &err); /* in pieces */
        else
            graph_ring(&g, n, n, seed); /* uneven weights */
        check_mixing(&g, TACIT_MIXING_METROPOLIS);
        check_mixing(&g, TACIT_MIXING_UNIFORM);
        tacit_graph_clear(&g);
    }
    tacit_graph g;
    double weight[20], self[5];
    check_ok(tacit_graph_complete(&g, 5, &err), &err);
    check_ok(tacit_graph_mixing(&g, TACIT_MIXING_UNIFORM, weight, self, &err), &err);
    for (int i = 0; i < 5; i++)
        check_near(self[i], 0.2, 1e-15); /* the uniform W of paper 004 */
    check_fails(tacit_graph_mixing(&g, (tacit_mixing_kind)7, weight, self, &err), TACIT_EINPUT,
                &err, "mixing \"7\"");
    tacit_graph_clear(&g);
}

/* ---- closed forms ---- */

static double fiedler(const tacit_graph *g)
{
    tacit_error err = {0};
    double weighted, plain;
    check_ok(tacit_graph_fiedler(g, true, &weighted, &err), &err);
    check_ok(tacit_graph_fiedler(g, false, &plain, &err), &err);
    check_near(weighted, plain, 1e-10); /* all weights are 1 here */
    return plain;
}

static double gap(const tacit_graph *g, tacit_mixing_kind kind)
{
    tacit_error err = {0};
    double value;
    check_ok(tacit_graph_spectral_gap(g, kind, &value, &err), &err);
    return value;
}

/* A path, which no generator makes. */
static void make_path(tacit_graph *g, uint32_t n)
{
    tacit_error err = {0};
    tacit_edge *edges = calloc(n, sizeof *edges);
    assert_non_null(edges);
    for (uint32_t i = 0; i + 1 < n; i++)
        edges[i] = (tacit_edge){i, i + 1, 1};
    check_ok(tacit_graph_from_edges(g, n, edges, n - 1, &err), &err);
    free(edges);
}

static void check_known(uint32_t n)
{
    tacit_error err = {0};
    tacit_graph g;
    check_ok(tacit_graph_ring(&g, n, &err), &err);
    double ring = 2 - 2 * cos(2 * pi / n); /* M = I - L/3 */
    check_near(fiedler(&g), ring, 1e-10);
    check_near(gap(&g, TACIT_MIXING_METROPOLIS), ring / 3, 1e-10);
    tacit_graph_clear(&g);

    make_path(&g, n);
    double path = 2 - 2 * cos(pi / n);
    check_near(fiedler(&g), path, 1e-10);
    check_near(gap(&g, TACIT_MIXING_UNIFORM), path / 3, 1e-10);
    tacit_graph_clear(&g);

    check_ok(tacit_graph_star(&g, n, &err), &err);
    check_near(fiedler(&g), 1, 1e-10);
    /* M = I - L/n: eigenvalues 1 - 1/n and 0 */
    check_near(gap(&g, TACIT_MIXING_METROPOLIS), 1.0 / n, 1e-10);
    check_near(gap(&g, TACIT_MIXING_UNIFORM), 1.0 / n, 1e-10);
    tacit_graph_clear(&g);

    uint32_t side = (uint32_t)sqrt(n);
    check_ok(tacit_graph_grid(&g, side * side, &err), &err);
    double grid = 2 - 2 * cos(pi / side); /* the product of two paths */
    check_near(fiedler(&g), grid, 1e-10);
    /* uniform: M = I - L/5 */
    check_near(gap(&g, TACIT_MIXING_UNIFORM), grid / 5, 1e-10);
    tacit_graph_clear(&g);
}

static void test_known_spectra(void **state)
{
    (void)state;
    tacit_error err = {0};
    const uint32_t sizes[] = {16, 100, 1444, 1521, 4096}; /* the last two by Lanczos */
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++)
        check_known(sizes[c]);
    const uint32_t small[] = {2, 3, 30, 400, 1600};
    for (size_t c = 0; c < sizeof small / sizeof *small; c++) {
        tacit_graph g;
        uint32_t n = small[c];
        check_ok(tacit_graph_complete(&g, n, &err), &err);
        check_near(fiedler(&g), n, 1e-9);
        check_near(fiedler(&g) / n, 1, 1e-10);
        check_near(gap(&g, TACIT_MIXING_METROPOLIS), 1, 1e-10);
        tacit_graph_clear(&g);
    }
}

/* The negative end of the spectrum decides: in K_{m,m} with M = I - L/(m + 1), the eigenvalues of
 * L are 0, m and 2m, so those of M are 1, 1/(m + 1) and (1 - m)/(m + 1). */
static void test_gap_looks_at_both_ends(void **state)
{
    (void)state;
    tacit_error err = {0};
    const uint32_t sizes[] = {2, 5, 40, 800}; /* the last one by Lanczos */
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
        uint32_t m = sizes[c];
        size_t count = 0;
        tacit_edge *edges = calloc((size_t)m * m, sizeof *edges);
        tacit_graph g;
        assert_non_null(edges);
        for (uint32_t i = 0; i < m; i++) {
            for (uint32_t j = 0; j < m; j++)
                edges[count++] = (tacit_edge){i, m + j, 1};
        }
        check_ok(tacit_graph_from_edges(&g, 2 * m, edges, count, &err), &err);
        double expected = fmin(m / (m + 1.0), 2 - 2 * m / (m + 1.0));
        check_near(gap(&g, TACIT_MIXING_METROPOLIS), expected, 1e-10);
        check_near(fiedler(&g), m, 1e-9);
        tacit_graph_clear(&g);
        free(edges);
    }
}

static void test_pieces_and_single_agents(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_graph g;
    check_ok(tacit_graph_ring(&g, 1, &err), &err);
    assert_true(fiedler(&g) == 0 && gap(&g, TACIT_MIXING_METROPOLIS) == 1);
    tacit_graph_clear(&g);
    const uint32_t sizes[] = {2, 50, 3000};
    for (size_t c = 0; c < 3; c++) {
        check_ok(tacit_graph_erdos_renyi(&g, sizes[c], 0.1 / sizes[c], 1, &err), &err);
        assert_true(fiedler(&g) == 0 && gap(&g, TACIT_MIXING_UNIFORM) == 0); /* exactly */
        tacit_graph_clear(&g);
    }
    const uint32_t halves[] = {5, 900}; /* two rings */
    for (size_t c = 0; c < 2; c++) {
        uint32_t n = halves[c];
        tacit_edge *edges = calloc(2 * (size_t)n, sizeof *edges);
        assert_non_null(edges);
        for (uint32_t i = 0; i < n; i++) {
            edges[i] = (tacit_edge){i, (i + 1) % n, 1};
            edges[n + i] = (tacit_edge){n + i, n + (i + 1) % n, 1};
        }
        check_ok(tacit_graph_from_edges(&g, 2 * n, edges, 2 * (size_t)n, &err), &err);
        assert_true(fiedler(&g) == 0 && gap(&g, TACIT_MIXING_METROPOLIS) == 0);
        tacit_graph_clear(&g);
        free(edges);
    }
}

/* ---- the two ways agree ---- */

static void check_both_ways(const tacit_graph *g, const double *weight)
{
    tacit_error err = {0};
    tacit_laplacian l;
    double small_dense, large_dense, small, large;
    tacit_laplacian_init(&l, g, weight);
    check_ok(tacit_laplacian_dense(&l, &small_dense, &large_dense, &err), &err);
    check_ok(tacit_laplacian_smallest(&l, &small, &err), &err);
    check_ok(tacit_laplacian_largest(&l, &large, &err), &err);
    check_near(small, small_dense, 1e-9 * l.scale);
    check_near(large, large_dense, 1e-9 * l.scale);
}

static void test_lanczos_agrees_with_lapack(void **state)
{
    (void)state;
    tacit_error err = {0};
    for (uint64_t seed = 0; seed < 12; seed++) {
        tacit_graph g;
        uint32_t n = (uint32_t)(60 + 30 * seed);
        if (seed % 4 == 0)
            check_ok(tacit_graph_k_regular(&g, n, 6, seed, &err), &err);
        else if (seed % 4 == 1)
            check_ok(tacit_graph_watts_strogatz(&g, n, 4, 0.05, seed, &err), &err);
        else
            graph_ring(&g, n, seed % 4 == 2 ? n : 3, seed);
        check_both_ways(&g, NULL);
        check_both_ways(&g, g.weight);
        tacit_graph_clear(&g);
    }
}

/* Weights scale the value and nothing else, also far from 1. */
static void test_fiedler_scales(void **state)
{
    (void)state;
    tacit_error err = {0};
    const double factors[] = {1e-200, 1e-8, 1e8, 1e200};
    const uint32_t sizes[] = {40, 1700};
    for (size_t s = 0; s < 2; s++) {
        tacit_graph g;
        double first, value;
        graph_ring(&g, sizes[s], sizes[s], 5);
        check_ok(tacit_graph_fiedler(&g, true, &first, &err), &err);
        assert_true(first > 1e-3);
        for (size_t c = 0; c < 4; c++) {
            for (size_t e = 0; e < g.entries; e++)
                g.weight[e] *= factors[c];
            check_ok(tacit_graph_fiedler(&g, true, &value, &err), &err);
            check_near(value / factors[c], first, 1e-8 * first);
            for (size_t e = 0; e < g.entries; e++)
                g.weight[e] /= factors[c];
        }
        tacit_graph_clear(&g);
    }
}

/* A long ring: far beyond what plain Lanczos resolves, relative to the value itself. */
static void test_long_ring(void **state)
{
    (void)state;
    enum { LENGTH = 30000 };
    tacit_error err = {0};
    tacit_graph g;
    double value;
    check_ok(tacit_graph_ring(&g, LENGTH, &err), &err);
    check_ok(tacit_graph_fiedler(&g, false, &value, &err), &err);
    double expected = 4 * sin(pi / LENGTH) * sin(pi / LENGTH);
    check_near(value / expected, 1, 1e-7);
    tacit_graph_clear(&g);
}

/* ---- a wanted value ---- */

static void test_wanted_fiedler(void **state)
{
    (void)state;
    tacit_error err = {0};
    const struct {
        uint32_t agents;
        double wanted;
    } cases[] = {{10, 0.06}, {10, 0.39}, {10, 0.7},    {10, 1},   {30, 0.1},
                 {30, 0.5},  {100, 0.3}, {3, 1.0 / 3}, {300, 0.2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (uint64_t seed = 1; seed <= 4; seed++) {
            tacit_graph g, again;
            double wanted = cases[c].wanted;
            check_ok(tacit_graph_wanted_fiedler(&g, cases[c].agents, wanted, seed, &err), &err);
            check_near(fiedler(&g) / cases[c].agents, wanted, fmin(0.01, 0.1 * wanted) + 1e-12);
            check_ok(tacit_graph_wanted_fiedler(&again, cases[c].agents, wanted, seed, &err), &err);
            assert_int_equal(g.entries, again.entries);
            assert_memory_equal(g.neighbour, again.neighbour, g.entries * sizeof *g.neighbour);
            tacit_graph_clear(&g);
            tacit_graph_clear(&again);
        }
    }
    tacit_graph g;
    /* 0.8 and 1 are all there is near it; in their middle, rounding would say which. */
    check_fails(tacit_graph_wanted_fiedler(&g, 10, 0.88, 1, &err), TACIT_EINPUT, &err,
                "the nearest had 0.8");
    check_fails(tacit_graph_wanted_fiedler(&g, 10, 0, 1, &err), TACIT_EINPUT, &err, "above 0");
    check_fails(tacit_graph_wanted_fiedler(&g, 10, 1.1, 1, &err), TACIT_EINPUT, &err, "at most 1");
    check_fails(tacit_graph_wanted_fiedler(&g, 1, 0.5, 1, &err), TACIT_EINPUT, &err, "2 to 2000");
    check_fails(tacit_graph_wanted_fiedler(&g, 3000, 0.5, 1, &err), TACIT_EINPUT, &err,
                "not \"3000\"");
    assert_null(g.row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixing_is_doubly_stochastic),
        cmocka_unit_test(test_known_spectra),
        cmocka_unit_test(test_gap_looks_at_both_ends),
        cmocka_unit_test(test_pieces_and_single_agents),
        cmocka_unit_test(test_lanczos_agrees_with_lapack),
        cmocka_unit_test(test_fiedler_scales),
        cmocka_unit_test(test_long_ring),
        cmocka_unit_test(test_wanted_fiedler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
