/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combination weights against their formulas, and Perron vectors against closed forms and against
 * elimination: the oracle builds dense matrices of its own and solves (A1 A0 A2 - I) q = 0.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define MOST 40

typedef double dense[MOST][MOST];

static double degree_of(const tacit_graph *g, uint32_t p)
{
    return (double)(g->row[p + 1] - g->row[p]);
}

static bool linked(const tacit_graph *g, uint32_t a, uint32_t b)
{
    for (uint64_t e = g->row[a]; e < g->row[a + 1]; e++) {
        if (g->neighbour[e] == b)
            return true;
    }
    return a == b;
}

static double entry(const tacit_graph *g, tacit_combination kind, uint32_t m, uint32_t p)
{
    if (m != p && !linked(g, m, p))
        return 0;
    if (kind == TACIT_COMBINE_NONE)
        return m == p;
    double largest = 0, closed = 0, others = 0;
    for (uint32_t k = 0; k < g->agents; k++) {
        largest = fmax(largest, degree_of(g, k));
        closed += linked(g, k, p) ? degree_of(g, k) + 1 : 0;
        if (m == p && k != p)
            others += entry(g, kind, k, p);
    }
    if (kind == TACIT_COMBINE_AVERAGING)
        return 1 / (degree_of(g, p) + 1);
    if (kind == TACIT_COMBINE_RELATIVE_DEGREE)
        return (degree_of(g, m) + 1) / closed;
    if (m == p)
        return 1 - others;
    if (kind == TACIT_COMBINE_UNIFORM)
        return 1 / (largest + 1);
    return 1 / (1 + fmax(degree_of(g, m), degree_of(g, p)));
}

static void fill(const tacit_graph *g, tacit_combination kind, dense a)
{
    for (uint32_t m = 0; m < g->agents; m++) {
        for (uint32_t p = 0; p < g->agents; p++)
            a[m][p] = entry(g, kind, m, p);
    }
}

/* c = a b */
static void multiply(uint32_t n, dense a, dense b, dense c)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            c[i][j] = 0;
            for (uint32_t k = 0; k < n; k++)
                c[i][j] += a[i][k] * b[k][j];
        }
    }
}

/* (A1 A0 A2 - I) q = 0, its last row replaced by: the sum is 1. */
static void oracle(const tacit_graph *g, const tacit_combination kinds[3], double *q)
{
    static dense a[3], half, all;
    uint32_t n = g->agents;
    for (int j = 0; j < 3; j++)
        fill(g, kinds[j], a[j]);
    multiply(n, a[1], a[0], half);
    multiply(n, half, a[2], all);
    double *system = calloc((size_t)n * n, sizeof *system);
    assert_non_null(system);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++)
            system[i * n + j] = i + 1 == n ? 1 : all[i][j] - (i == j);
        q[i] = i + 1 == n;
    }
    eliminate(n, system, q);
    free(system);
}

static void check_columns(const tacit_graph *g, tacit_combination kind)
{
    tacit_error err = {0};
    double *weight = calloc(g->entries + 1, sizeof *weight),
           *self = calloc(g->agents, sizeof *self);
    assert_true(weight && self);
    check_ok(tacit_graph_combination(g, kind, weight, self, &err), &err);
    for (uint32_t p = 0; p < g->agents; p++) {
        double sum = 0;
        for (uint64_t e = g->row[p]; e < g->row[p + 1]; e++) {
            assert_true(fabs(weight[e] - entry(g, kind, g->neighbour[e], p)) < 1e-15);
            assert_true(kind == TACIT_COMBINE_NONE ? weight[e] == 0 : weight[e] > 0);
            sum += weight[e];
        }
        assert_true(fabs(sum + self[p] - 1) <= 4e-16);
        assert_true(fabs(self[p] - entry(g, kind, p, p)) < 1e-14);
        assert_true(self[p] > 0);
    }
    free(weight);
    free(self);
}

static void test_columns(void **state)
{
    (void)state;
    tacit_error err = {0};
    for (int shape = 0; shape < 5; shape++) {
        tacit_graph g = {0};
        check_ok(shape == 0   ? tacit_graph_star(&g, 25, &err)
                 : shape == 1 ? tacit_graph_grid(&g, 17, &err)
                 : shape == 2 ? tacit_graph_complete(&g, 9, &err)
                 : shape == 3 ? tacit_graph_erdos_renyi(&g, MOST, 0.1, 3, &err)
                              : tacit_graph_ring(&g, 1, &err),
                 &err);
        for (int kind = 0; kind <= TACIT_COMBINE_NONE; kind++)
            check_columns(&g, (tacit_combination)kind);
        tacit_graph_clear(&g);
    }
}

/* A peer, which sees degrees only, weighs as the matrix does. */
static void test_peer_sees_the_same(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_graph g = {0};
    check_ok(tacit_graph_watts_strogatz(&g, MOST, 6, 0.5, 8, &err), &err);
    double *weight = calloc(g.entries, sizeof *weight), self[MOST];
    assert_non_null(weight);
    for (int kind = 0; kind < TACIT_COMBINE_UNIFORM; kind++) {
        check_ok(tacit_graph_combination(&g, (tacit_combination)kind, weight, self, &err), &err);
        for (uint32_t p = 0; p < g.agents; p++) {
            tacit_combination_sight sight = {.degree = g.row[p + 1] - g.row[p]};
            sight.closed = sight.degree + 1;
            for (uint64_t e = g.row[p]; e < g.row[p + 1]; e++)
                sight.closed += (uint64_t)degree_of(&g, g.neighbour[e]) + 1;
            for (uint64_t e = g.row[p]; e < g.row[p + 1]; e++)
                assert_true(tacit_combination_weight((tacit_combination)kind, &sight,
                                                     (uint64_t)degree_of(&g, g.neighbour[e])) ==
                            weight[e]);
        }
    }
    free(weight);
    tacit_graph_clear(&g);
}

/* One matrix, in each of the three places: q is n_p, n_p S_p or the same for all. */
static void test_closed_forms(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_graph g = {0};
    graph_ring(&g, MOST, 30, 5);
    for (int kind = 0; kind < TACIT_COMBINE_NONE; kind++) {
        double form[MOST], sum = 0, q[MOST];
        for (uint32_t p = 0; p < MOST; p++) {
            double closed = degree_of(&g, p) + 1;
            for (uint64_t e = g.row[p]; e < g.row[p + 1]; e++)
                closed += degree_of(&g, g.neighbour[e]) + 1;
            form[p] = kind == TACIT_COMBINE_AVERAGING         ? degree_of(&g, p) + 1
                      : kind == TACIT_COMBINE_RELATIVE_DEGREE ? (degree_of(&g, p) + 1) * closed
                                                              : 1;
            sum += form[p];
        }
        for (int place = 0; place < 3; place++) {
            tacit_combination kinds[3] = {TACIT_COMBINE_NONE, TACIT_COMBINE_NONE,
                                          TACIT_COMBINE_NONE};
            kinds[place] = (tacit_combination)kind;
            check_ok(tacit_graph_perron(&g, kinds, q, &err), &err);
            for (uint32_t p = 0; p < MOST; p++)
                assert_true(fabs(q[p] - form[p] / sum) < 1e-14);
        }
    }
    tacit_graph_clear(&g);
}

/* All 124 products of three policies, on small uneven graphs, against elimination. */
static void test_products(void **state)
{
    (void)state;
    tacit_error err = {0};
    for (int shape = 0; shape < 3; shape++) {
        tacit_graph g = {0};
        if (shape == 0)
            check_ok(tacit_graph_star(&g, 7, &err), &err);
        else
            graph_ring(&g, shape == 1 ? 9 : 13, shape == 1 ? 3 : 12, (uint64_t)shape);
        for (int code = 0; code < 124; code++) {
            tacit_combination kinds[3] = {(tacit_combination)(code % 5),
                                          (tacit_combination)(code / 5 % 5),
                                          (tacit_combination)(code / 25)};
            double q[MOST], expected[MOST], sum = 0;
            check_ok(tacit_graph_perron(&g, kinds, q, &err), &err);
            oracle(&g, kinds, expected);
            for (uint32_t p = 0; p < g.agents; p++) {
                assert_true(q[p] > 0);
                assert_true(fabs(q[p] - expected[p]) < 2e-12);
                sum += q[p];
            }
            assert_true(fabs(sum - 1) < 1e-14);
        }
        tacit_graph_clear(&g);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    tacit_error err = {0};
    const tacit_edge edges[] = {{0, 1, 1}, {2, 3, 1}};
    tacit_graph g = {0};
    double q[4], weight[4], self[4];
    tacit_combination kinds[3] = {TACIT_COMBINE_NONE, TACIT_COMBINE_NONE, TACIT_COMBINE_AVERAGING};
    check_ok(tacit_graph_from_edges(&g, 4, edges, 2, &err), &err);
    check_fails(tacit_graph_perron(&g, kinds, q, &err), TACIT_EINPUT, &err,
                "not strongly connected");
    kinds[2] = TACIT_COMBINE_NONE;
    check_fails(tacit_graph_perron(&g, kinds, q, &err), TACIT_EINPUT, &err, "never mix");
    check_fails(tacit_graph_combination(&g, (tacit_combination)77, weight, self, &err),
                TACIT_EINPUT, &err, "\"77\" is unknown");
    tacit_graph_clear(&g);

    check_ok(tacit_graph_ring(&g, 1, &err), &err);
    check_ok(tacit_graph_perron(&g, kinds, q, &err), &err);
    assert_true(q[0] == 1);
    tacit_graph_clear(&g);
}

static void test_names(void **state)
{
    (void)state;
    int count = 0;
    while (tacit_combination_kinds[count])
        count++;
    assert_int_equal(count, TACIT_COMBINE_NONE + 1);
    assert_string_equal(tacit_combination_kinds[TACIT_COMBINE_RELATIVE_DEGREE], "relative-degree");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),      cmocka_unit_test(test_peer_sees_the_same),
        cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_products),
        cmocka_unit_test(test_refusals),     cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
