/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed rows, generators, components, edge lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tacit/graph.h"
#include "tacit/random.h"

/* In doubles: cmocka's assert_float_equal rounds to float first. */
static void check_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
}

/* The invariants that graph.c promises. */
static void assert_sound(const tacit_graph *g)
{
    for (uint32_t i = 0; i < g->agents; i++) {
        double degree = 0;
        assert_true(g->row[i] <= g->row[i + 1]);
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            uint32_t j = g->neighbour[e];
            assert_true(j < g->agents && j != i);
            assert_true(e == g->row[i] || g->neighbour[e - 1] < j);
            assert_true(g->weight[e] > 0 && isfinite(g->weight[e]));
            uint64_t back = g->row[j] + g->mirror[e];
            assert_true(back < g->row[j + 1]);
            assert_int_equal(g->neighbour[back], i);
            assert_true(g->weight[back] == g->weight[e]); /* W is symmetric */
            assert_int_equal(g->row[i] + g->mirror[back], e);
            degree += g->weight[e];
        }
        check_near(g->degree[i], degree, 1e-12 * (1 + degree));
    }
}

static double weight(const tacit_graph *g, uint32_t i, uint32_t j)
{
    for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
        if (g->neighbour[e] == j)
            return g->weight[e];
    }
    return 0;
}

static void test_rows_are_sorted_whatever_the_order(void **state)
{
    (void)state;
    const tacit_edge edges[] = {{4, 0, 0.5}, {1, 4, 2}, {0, 1, 3}, {3, 4, 4}, {0, 3, 5}};
    tacit_graph g;
    assert_int_equal(tacit_graph_from_edges(&g, 6, edges, 5, NULL), TACIT_OK);
    assert_sound(&g);
    assert_int_equal(g.row[6], 10);
    for (size_t k = 0; k < 5; k++)
        assert_true(weight(&g, edges[k].a, edges[k].b) == edges[k].weight);
    assert_true(g.degree[4] == 6.5);
    assert_true(g.degree[5] == 0);
    assert_int_equal(g.row[3], g.row[2]); /* agent 2 has nobody */
    tacit_graph_clear(&g);
    tacit_graph_clear(&g);
    assert_int_equal(tacit_graph_from_edges(&g, 2, NULL, 0, NULL), TACIT_OK);
    assert_int_equal(g.row[2], 0);
    tacit_graph_clear(&g);
}

static void test_bad_edges_are_refused(void **state)
{
    (void)state;
    const struct {
        tacit_edge edges[2];
        const char *message;
    } cases[] = {
        {{{0, 1, 1}, {1, 0, 1}}, "edge \"0 1\" is given twice"},
        {{{0, 1, 1}, {2, 2, 1}}, "edge \"2 2\" is a self-loop; leave it out"},
        {{{0, 1, 1}, {0, 3, 1}}, "edge \"0 3\" leads out of the 3 agents 0 to 2"},
        {{{0, 1, 1}, {0, 2, 0}}, "edge \"0 2\" has weight \"0\"; expected a finite number above 0"},
        {{{0, 1, 1}, {0, 2, -1}},
         "edge \"0 2\" has weight \"-1\"; expected a finite number above 0"},
        {{{0, 1, 1}, {0, 2, NAN}},
         "edge \"0 2\" has weight \"nan\"; expected a finite number above 0"},
        {{{0, 1, 1}, {0, 2, INFINITY}},
         "edge \"0 2\" has weight \"inf\"; expected a finite number above 0"},
        {{{0, 1, 1.7e308}, {0, 2, 1.7e308}},
         "the weights of agent \"0\" add up to infinity; scale them down"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tacit_graph g;
        tacit_error err;
        assert_int_equal(tacit_graph_from_edges(&g, 3, cases[k].edges, 2, &err), TACIT_EINPUT);
        assert_string_equal(err.text, cases[k].message);
        assert_null(g.row);
    }
    tacit_graph g;
    assert_int_equal(tacit_graph_from_edges(&g, 0, NULL, 0, NULL), TACIT_EINPUT);
    assert_int_equal(tacit_graph_from_edges(&g, UINT32_MAX, NULL, 0, NULL), TACIT_EINPUT);
}

static void test_similarity(void **state)
{
    (void)state;
    enum { AGENTS = 60 };
    double targets[AGENTS][2];
    tacit_random random;
    tacit_stream s;
    tacit_random_init(&random, 1);
    tacit_stream_open(&s, &random, 0, TACIT_FOR_TEST, 0);
    for (int i = 0; i < AGENTS; i++) {
        targets[i][0] = tacit_stream_normal(&s);
        targets[i][1] = tacit_stream_normal(&s);
    }
    const double gamma = 0.1, cutoff = 1e-3;
    tacit_graph g;
    const tacit_targets dense = {.dimension = 2, .dense = targets[0]};
    assert_int_equal(tacit_graph_similarity(&g, AGENTS, &dense, gamma, cutoff, NULL), 0);
    assert_sound(&g);
    int kept = 0, left = 0;
    for (uint32_t i = 0; i < AGENTS; i++) {
        for (uint32_t j = 0; j < AGENTS; j++) {
            double angle =
                atan2(targets[i][1], targets[i][0]) - atan2(targets[j][1], targets[j][0]);
            double expected = i == j ? 0 : exp((cos(angle) - 1) / gamma);
            if (fabs(expected - cutoff) < 1e-9)
                continue;
            kept += expected >= cutoff;
            left += expected < cutoff;
            check_near(weight(&g, i, j), expected < cutoff ? 0 : expected, 1e-12);
        }
    }
    assert_true(kept > 500 && left > 500);
    tacit_graph_clear(&g);

    double same[] = {1, 1, 3, 3, 1e-200, 1e-200, 1e200, 1e200}; /* one direction */
    const tacit_targets one = {.dimension = 2, .dense = same};
    assert_int_equal(tacit_graph_similarity(&g, 4, &one, gamma, 0, NULL), TACIT_OK);
    for (uint32_t i = 0; i < 4; i++)
        check_near(g.degree[i], 3, 1e-12);
    tacit_graph_clear(&g);
}

static void test_similarity_refuses(void **state)
{
    (void)state;
    tacit_graph g;
    tacit_error err;
    double zero[] = {1, 0, 0, 0}, bad[] = {1, 0, NAN, 1};
    const tacit_targets zeros = {.dimension = 2, .dense = zero};
    const tacit_targets infinite = {.dimension = 2, .dense = bad}, none = {0};
    assert_int_equal(tacit_graph_similarity(&g, 2, &zeros, 0.1, 0, &err), TACIT_EINPUT);
    assert_string_equal(err.text,
                        "the target of agent \"1\" is zero; its angle to others is undefined");
    assert_int_equal(tacit_graph_similarity(&g, 2, &infinite, 0.1, 0, &err), TACIT_EINPUT);
    assert_int_equal(tacit_graph_similarity(&g, 2, &none, 0.1, 0, &err), TACIT_EINPUT);
    assert_int_equal(tacit_graph_similarity(&g, 1, &zeros, 0, 0, &err), TACIT_EINPUT);
    assert_int_equal(tacit_graph_similarity(&g, 1, &zeros, NAN, 0, &err), TACIT_EINPUT);
    assert_int_equal(tacit_graph_similarity(&g, 1, &zeros, 1, NAN, &err), TACIT_EINPUT);
}

static void test_k_out(void **state)
{
    (void)state;
    tacit_graph g, same;
    assert_int_equal(tacit_graph_k_out(&g, 2000, 5, 7, NULL), TACIT_OK);
    assert_sound(&g);
    uint64_t edges = g.row[2000] / 2;
    /* 10,000 draws, about 2000 * 25 / (2 * 2000) = 12.5 of them drawn from both ends */
    assert_in_range(edges, 9950, 10000);
    for (uint32_t i = 0; i < 2000; i++)
        assert_true(g.degree[i] >= 5);
    assert_int_equal(tacit_graph_k_out(&same, 2000, 5, 7, NULL), TACIT_OK);
    assert_memory_equal(g.neighbour, same.neighbour, 2 * edges * sizeof *g.neighbour);
    tacit_graph_clear(&g);
    tacit_graph_clear(&same);

    /* k = n - 1 is the complete graph. */
    assert_int_equal(tacit_graph_k_out(&g, 30, 29, 7, NULL), TACIT_OK);
    assert_sound(&g);
    assert_int_equal(g.row[30], 30 * 29);
    tacit_graph_clear(&g);
    assert_int_equal(tacit_graph_k_out(&g, 30, 30, 7, NULL), TACIT_EINPUT);
    assert_int_equal(tacit_graph_k_out(&g, 30, 0, 7, NULL), TACIT_EINPUT);
}

/* Every other agent is drawn equally often: of 2 drawn from 3 others, each is left out a third
 * of the time (an edge is missing if neither end drew it: 1/9). */
static void test_k_out_is_uniform(void **state)
{
    (void)state;
    int missing[4][4] = {{0}};
    for (uint64_t seed = 0; seed < 5000; seed++) {
        tacit_graph g;
        assert_int_equal(tacit_graph_k_out(&g, 4, 2, seed, NULL), TACIT_OK);
        for (uint32_t i = 0; i < 4; i++) {
            for (uint32_t j = i + 1; j < 4; j++)
                missing[i][j] += weight(&g, i, j) == 0;
        }
        tacit_graph_clear(&g);
    }
    for (int i = 0; i < 4; i++) {
        for (int j = i + 1; j < 4; j++)
            assert_in_range(missing[i][j], 445, 666); /* 555.6 +- 5 deviations */
    }
}

static void test_components(void **state)
{
    (void)state;
    const tacit_edge edges[] = {{7, 3, 1}, {3, 5, 1}, {1, 6, 1}, {6, 2, 1}, {5, 7, 1}};
    const uint32_t expected[] = {0, 1, 1, 3, 4, 3, 1, 3};
    uint32_t component[8];
    tacit_graph g;
    assert_int_equal(tacit_graph_from_edges(&g, 8, edges, 5, NULL), TACIT_OK);
    assert_int_equal(tacit_graph_components(&g, component), 4);
    assert_memory_equal(component, expected, sizeof expected);
    tacit_graph_clear(&g);

    /* A long path, given backwards. */
    enum { PATH = 20000 };
    tacit_edge *path = calloc(PATH - 1, sizeof *path);
    uint32_t *of = calloc(PATH, sizeof *of);
    assert_true(path && of);
    for (uint32_t k = 0; k + 1 < PATH; k++)
        path[k] = (tacit_edge){PATH - 1 - k, PATH - 2 - k, 1};
    assert_int_equal(tacit_graph_from_edges(&g, PATH, path, PATH - 1, NULL), TACIT_OK);
    assert_sound(&g);
    assert_int_equal(tacit_graph_components(&g, of), 1);
    for (uint32_t k = 0; k < PATH; k++)
        assert_int_equal(of[k], 0);
    tacit_graph_clear(&g);
    free(path);
    free(of);
}

static tacit_status read_text(tacit_graph *g, uint32_t agents, const char *text, size_t len,
                              tacit_error *err)
{
    char *copy = malloc(len ? len : 1); /* exactly its size: a sanitizer sees any read past it */
    assert_non_null(copy);
    memcpy(copy, text, len);
    tacit_status status = tacit_graph_read_edges(g, agents, "g.txt", copy, len, err);
    free(copy);
    return status;
}

static const char edge_list[] = "# who knows whom\n"
                                "0 1 0.5\n"
                                "\n"
                                "1\t2\r\n"
                                "3,0,2e0 # comma\n"
                                "  1,  0, .5\n"
                                "0 3 2";

static void test_edge_list(void **state)
{
    (void)state;
    tacit_graph g;
    tacit_error err = {0};
    assert_int_equal(read_text(&g, 4, edge_list, sizeof edge_list - 1, &err), TACIT_OK);
    assert_sound(&g);
    assert_int_equal(g.row[4], 6);
    assert_true(weight(&g, 0, 1) == 0.5 && weight(&g, 2, 1) == 1 && weight(&g, 0, 3) == 2);
    tacit_graph_clear(&g);
    for (size_t len = 0; len < sizeof edge_list; len++) {
        if (read_text(&g, 4, edge_list, len, &err) == TACIT_OK)
            assert_sound(&g);
        tacit_graph_clear(&g);
    }
}

static void test_edge_list_errors(void **state)
{
    (void)state;
    const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"0\n", "g.txt:1: only one value; expected two agents and perhaps a weight"},
        {"0 1 2 3\n", "g.txt:1: more than three values; expected two agents and perhaps a weight"},
        {"0 1\n0 4\n", "g.txt:2: agent \"4\"; expected a number from 0 to 3"},
        {"0 -1\n", "g.txt:1: agent \"-1\"; expected a number from 0 to 3"},
        {"a 1\n", "g.txt:1: agent \"a\"; expected a number from 0 to 3"},
        {"99999999999999999999 1\n",
         "g.txt:1: agent \"99999999999999999999\"; expected a number from 0 to 3"},
        {"1 1\n", "g.txt:1: edge \"1 1\" is a self-loop; leave it out"},
        {"0 1 0\n", "g.txt:1: weight \"0\"; expected a finite number above 0"},
        {"0 1 -2\n", "g.txt:1: weight \"-2\"; expected a finite number above 0"},
        {"0 1 nan\n", "g.txt:1: weight \"nan\"; expected a finite number above 0"},
        {"0 1 inf\n", "g.txt:1: weight \"inf\"; expected a finite number above 0"},
        {"0 1 1e999\n", "g.txt:1: weight \"1e999\"; expected a finite number above 0"},
        {"0 1 0x2\n", "g.txt:1: weight \"0x2\"; expected a finite number above 0"},
        {"0 1 1-2\n", "g.txt:1: weight \"1-2\"; expected a finite number above 0"},
        {"0 1\n2 3\n0 1\n", "g.txt:3: edge \"0 1\" was already given on line 1"},
        {"0 1\n1 0\n1 0\n", "g.txt:3: edge \"1 0\" was already given on line 2"},
        {"0 1\n\n1 0 2\n", "g.txt:3: asymmetric: edge \"1 0\" has weight 2 but 1 on line 1; both "
                           "directions need the same"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tacit_graph g;
        tacit_error err = {0};
        assert_int_equal(read_text(&g, 4, cases[k].text, strlen(cases[k].text), &err),
                         TACIT_EINPUT);
        assert_string_equal(err.text, cases[k].message);
        assert_null(g.row);
    }
}

static void test_edge_list_tells_how_many(void **state)
{
    (void)state;
    tacit_graph g;
    tacit_error err = {0};
    const char text[] = "0 1\n7 2 0.5\n";
    assert_int_equal(read_text(&g, 0, text, strlen(text), &err), TACIT_OK);
    assert_int_equal(g.agents, 8);
    assert_int_equal(g.entries, 4);
    tacit_graph_clear(&g);
    assert_int_equal(read_text(&g, 0, "# none\n", 7, &err), TACIT_EINPUT);
    assert_string_equal(err.text, "g.txt: no edges; say how many agents there are, or add some");
    /* A slip of the pen must not become a graph of billions. */
    const char slip[] = "0 4000000000\n";
    assert_int_equal(read_text(&g, 0, slip, strlen(slip), &err), TACIT_EINPUT);
    assert_string_equal(err.text, "g.txt: agent \"4000000000\" in a list of 1 edges; say how many "
                                  "agents there are if this is no slip");
    assert_null(g.row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_sorted_whatever_the_order),
        cmocka_unit_test(test_bad_edges_are_refused),
        cmocka_unit_test(test_similarity),
        cmocka_unit_test(test_similarity_refuses),
        cmocka_unit_test(test_k_out),
        cmocka_unit_test(test_k_out_is_uniform),
        cmocka_unit_test(test_components),
        cmocka_unit_test(test_edge_list),
        cmocka_unit_test(test_edge_list_errors),
        cmocka_unit_test(test_edge_list_tells_how_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
