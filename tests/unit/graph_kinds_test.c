/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generators: shapes, degree laws, what is refused. Statistical tests have fixed seeds; "false
 * alarm" is the chance that a right generator would have failed when the test was written.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/pair_set.h"
#include "testing.h"

/* In doubles: cmocka's assert_float_equal rounds to float first. */
static void check_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
}

/* Rows ascending, no loops, mirrors and weights that agree, degrees that add up. */
static void check_sound(const tacit_graph *g)
{
    assert_int_equal(g->row[g->agents], g->entries);
    for (uint32_t i = 0; i < g->agents; i++) {
        double degree = 0;
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            uint32_t j = g->neighbour[e];
            uint64_t back = g->row[j] + g->mirror[e];
            assert_true(j < g->agents && j != i && (e == g->row[i] || g->neighbour[e - 1] < j));
            assert_true(back < g->row[j + 1] && g->neighbour[back] == i);
            assert_true(g->weight[back] == g->weight[e]);
            degree += g->weight[e];
        }
        check_near(g->degree[i], degree, 1e-9 * (1 + degree));
    }
}

static uint64_t neighbours(const tacit_graph *g, uint32_t i)
{
    return g->row[i + 1] - g->row[i];
}

static bool has_edge(const tacit_graph *g, uint32_t i, uint32_t j)
{
    for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
        if (g->neighbour[e] == j)
            return true;
    }
    return false;
}

static bool same_graph(const tacit_graph *g, const tacit_graph *h)
{
    return g->entries == h->entries &&
           memcmp(g->neighbour, h->neighbour, g->entries * sizeof *g->neighbour) == 0;
}

/* ---- fixed shapes ---- */

static void test_shapes(void **state)
{
    (void)state;
    tacit_error err = {0};
    for (uint32_t n = 1; n <= 40; n++) {
        tacit_graph g;
        check_ok(tacit_graph_ring(&g, n, &err), &err);
        check_sound(&g);
        assert_int_equal(g.entries / 2, n < 3 ? n - 1 : n);
        assert_true(n < 3 || has_edge(&g, 0, n - 1));
        tacit_graph_clear(&g);

        check_ok(tacit_graph_star(&g, n, &err), &err);
        check_sound(&g);
        assert_int_equal(neighbours(&g, 0), n - 1);
        assert_int_equal(g.entries, 2 * (n - 1));
        tacit_graph_clear(&g);

        check_ok(tacit_graph_complete(&g, n, &err), &err);
        check_sound(&g);
        assert_int_equal(g.entries, n * (n - 1));
        tacit_graph_clear(&g);
    }
}

static void test_grid_is_a_grid(void **state)
{
    (void)state;
    tacit_error err = {0};
    for (uint32_t n = 1; n <= 150; n++) {
        tacit_graph g;
        uint32_t width = 1, of[150];
        while (width * width < n)
            width++;
        check_ok(tacit_graph_grid(&g, n, &err), &err);
        check_sound(&g);
        assert_int_equal(tacit_graph_components(&g, of), 1);
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t j = 0; j < n; j++) {
                int dx = abs((int)(i % width) - (int)(j % width));
                int dy = abs((int)(i / width) - (int)(j / width));
                assert_int_equal(has_edge(&g, i, j), dx + dy == 1);
            }
        }
        tacit_graph_clear(&g);
    }
}

/* ---- k-regular ---- */

static void test_k_regular_is_regular(void **state)
{
    (void)state;
    tacit_error err = {0};
    for (uint32_t n = 2; n <= 14; n++) {
        for (uint32_t k = 1; k < n; k++) {
            for (uint64_t seed = 0; seed < 20 && n * k % 2 == 0; seed++) {
                tacit_graph g;
                check_ok(tacit_graph_k_regular(&g, n, k, seed, &err), &err);
                check_sound(&g);
                for (uint32_t i = 0; i < n; i++)
                    assert_int_equal(neighbours(&g, i), k);
                tacit_graph_clear(&g);
            }
        }
    }
    const uint32_t sizes[][2] = {{50000, 10}, {1000, 100}, {501, 250}, {300, 297}};
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
        tacit_graph g, again, other;
        check_ok(tacit_graph_k_regular(&g, sizes[c][0], sizes[c][1], 5, &err), &err);
        check_sound(&g);
        for (uint32_t i = 0; i < g.agents; i++)
            assert_int_equal(neighbours(&g, i), sizes[c][1]);
        check_ok(tacit_graph_k_regular(&again, sizes[c][0], sizes[c][1], 5, &err), &err);
        check_ok(tacit_graph_k_regular(&other, sizes[c][0], sizes[c][1], 6, &err), &err);
        assert_true(same_graph(&g, &again) && !same_graph(&g, &other));
        tacit_graph_clear(&g);
        tacit_graph_clear(&again);
        tacit_graph_clear(&other);
    }
}

/* Of 6 agents in a 2-regular graph there are 60 hexagons and 10 pairs of triangles; uniform
 * draws find the triangles in 1/7 of the cases: 4000 draws, 571 expected, 22 a deviation, bounds
 * of 5: false alarm 6e-7. Every edge must be equally likely by symmetry: 2/5 of 4000 = 1600,
 * deviation 31, 15 edges, bounds of 5 deviations: false alarm 1e-5. */
static void test_k_regular_is_uniform(void **state)
{
    (void)state;
    tacit_error err = {0};
    int triangles = 0, edges[6][6] = {{0}};
    for (uint64_t seed = 0; seed < 4000; seed++) {
        tacit_graph g;
        uint32_t of[6];
        check_ok(tacit_graph_k_regular(&g, 6, 2, seed, &err), &err);
        triangles += tacit_graph_components(&g, of) == 2;
        for (uint32_t i = 0; i < 6; i++) {
            for (uint32_t j = i + 1; j < 6; j++)
                edges[i][j] += has_edge(&g, i, j);
        }
        tacit_graph_clear(&g);
    }
    assert_in_range(triangles, 571 - 111, 571 + 111);
    for (int i = 0; i < 6; i++) {
        for (int j = i + 1; j < 6; j++)
            assert_in_range(edges[i][j], 1600 - 155, 1600 + 155);
    }
}

/* ---- Erdos-Renyi ---- */

/* Degrees are binomial(n - 1, p): chi-square over their histogram. Degrees of one graph hang
 * together a little; so one agent of each of many small graphs is looked at. Cells of at least 5
 * expected. The 1 - 1e-4 quantile of chi-square with d degrees is below d + 4 sqrt(2 d) + 10
 * (Laurent and Massart: d + 2 sqrt(d x) + 2 x with x = 9.2): false alarm below 1e-4. */
static void test_erdos_renyi_degrees_are_binomial(void **state)
{
    (void)state;
    enum { AGENTS = 21, DRAWS = 6000 };
    const double p = 0.3;
    tacit_error err = {0};
    double seen[AGENTS] = {0};
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        tacit_graph g;
        check_ok(tacit_graph_erdos_renyi(&g, AGENTS, p, seed, &err), &err);
        seen[neighbours(&g, (uint32_t)(seed % AGENTS))]++;
        tacit_graph_clear(&g);
    }
    double chi = 0, rest_seen = 0, rest_expected = 0, cells = 0;
    for (int k = 0; k < AGENTS; k++) {
        double expected = DRAWS * exp(lgamma(AGENTS) - lgamma(k + 1) - lgamma(AGENTS - k) +
                                      k * log(p) + (AGENTS - 1 - k) * log(1 - p));
        if (expected < 5) {
            rest_seen += seen[k];
            rest_expected += expected;
            continue;
        }
        chi += (seen[k] - expected) * (seen[k] - expected) / expected;
        cells++;
    }
    chi += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
    assert_true(cells > 8);
    assert_true(chi < cells + 2 * sqrt(cells * 9.2) + 2 * 9.2);
}

/* Every pair is an edge equally often, also the last ones of a row: 4000 graphs, p = 0.2,
 * deviation 25, 45 pairs, 5.3 deviations: false alarm 1e-5. */
static void test_erdos_renyi_pairs_are_alike(void **state)
{
    (void)state;
    tacit_error err = {0};
    int edges[10][10] = {{0}};
    for (uint64_t seed = 0; seed < 4000; seed++) {
        tacit_graph g;
        check_ok(tacit_graph_erdos_renyi(&g, 10, 0.2, seed, &err), &err);
        for (uint32_t i = 0; i < 10; i++) {
            for (uint32_t j = i + 1; j < 10; j++)
                edges[i][j] += has_edge(&g, i, j);
        }
        tacit_graph_clear(&g);
    }
    for (int i = 0; i < 10; i++) {
        for (int j = i + 1; j < 10; j++)
            assert_in_range(edges[i][j], 800 - 134, 800 + 134);
    }
}

static void test_erdos_renyi_limits(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_graph g;
    check_ok(tacit_graph_erdos_renyi(&g, 50, 0, 1, &err), &err);
    assert_int_equal(g.entries, 0);
    tacit_graph_clear(&g);
    check_ok(tacit_graph_erdos_renyi(&g, 50, 1, 1, &err), &err);
    assert_int_equal(g.entries, 50 * 49);
    tacit_graph_clear(&g);
    check_ok(tacit_graph_erdos_renyi(&g, 1, 0.5, 1, &err), &err);
    tacit_graph_clear(&g);
    check_ok(tacit_graph_erdos_renyi(&g, 100000, 1e-4, 1, &err), &err);
    check_sound(&g);
    /* 5e9 pairs: 499,995 edges expected, deviation 707; six: false alarm 2e-9 */
    assert_in_range(g.entries / 2, 499995 - 4243, 499995 + 4243);
    tacit_graph_clear(&g);
    check_ok(tacit_graph_erdos_renyi(&g, 100000, 1e-300, 1, &err), &err);
    assert_int_equal(g.entries, 0);
    tacit_graph_clear(&g);
}

/* ---- Watts-Strogatz ---- */

static void test_watts_strogatz(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_graph g;
    check_ok(tacit_graph_watts_strogatz(&g, 100, 6, 0, 1, &err), &err);
    check_sound(&g);
    for (uint32_t i = 0; i < 100; i++) {
        for (uint32_t j = 0; j < 100; j++) {
            uint32_t apart = i > j ? i - j : j - i;
            apart = apart > 50 ? 100 - apart : apart;
            assert_int_equal(has_edge(&g, i, j), apart > 0 && apart <= 3);
        }
    }
    tacit_graph_clear(&g);
    const double probabilities[] = {0.1, 0.5, 1};
    for (size_t c = 0; c < 3; c++) {
        check_ok(tacit_graph_watts_strogatz(&g, 5000, 6, probabilities[c], 3, &err), &err);
        check_sound(&g);
        assert_int_equal(g.entries, 5000 * 6); /* the mean degree stays */
        uint64_t ring = 0;
        for (uint32_t i = 0; i < 5000; i++) {
            assert_true(neighbours(&g, i) >= 3); /* own ends stay */
            for (uint32_t d = 1; d <= 3; d++)
                ring += has_edge(&g, i, (i + d) % 5000);
        }
        /* 15,000 edges stay with 1 - p (few others fall on the ring by chance: 15,000 * 6/5000);
         * deviation at most 62, bounds of 6: false alarm 2e-9 */
        double stay = 15000 * (1 - probabilities[c]);
        assert_true(fabs((double)ring - stay - 18 * probabilities[c]) < 6 * 62);
        tacit_graph_clear(&g);
    }
    /* With p = 1 nothing of the ring is left: degrees are k/2 and a binomial number of the
     * others' 15,000 draws, so about Poisson: variance about 3; deviation of the estimate from
     * 5000 agents below 0.08, bounds of 6. */
    check_ok(tacit_graph_watts_strogatz(&g, 5000, 6, 1, 4, &err), &err);
    double variance = 0;
    for (uint32_t i = 0; i < 5000; i++)
        variance += ((double)neighbours(&g, i) - 6) * ((double)neighbours(&g, i) - 6) / 5000;
    check_near(variance, 3, 0.5);
    tacit_graph_clear(&g);
    /* Nowhere to go: everybody knows everybody. */
    check_ok(tacit_graph_watts_strogatz(&g, 7, 6, 1, 1, &err), &err);
    assert_int_equal(g.entries, 7 * 6);
    check_sound(&g);
    tacit_graph_clear(&g);
}

/* ---- k-out ---- */

/* How many draw agent i is binomial(n - 1, k/(n - 1)); its degree is k plus those it did not
 * draw itself: k + binomial(n - 1 - k, k/(n - 1)). Agent 0 of 6000 graphs; chi-square as above,
 * false alarm below 1e-4. */
static void test_k_out_degrees(void **state)
{
    (void)state;
    enum { AGENTS = 17, K = 4, OTHERS = AGENTS - 1 - K, DRAWS = 6000 };
    const double p = (double)K / (AGENTS - 1);
    tacit_error err = {0};
    double seen[AGENTS] = {0}, chi = 0, rest_seen = 0, rest_expected = 0, cells = 0;
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        tacit_graph g;
        check_ok(tacit_graph_k_out(&g, AGENTS, K, seed, &err), &err);
        seen[neighbours(&g, 0)]++;
        tacit_graph_clear(&g);
    }
    for (int k = 0; k < K; k++)
        assert_true(seen[k] == 0);
    for (int k = 0; k <= OTHERS; k++) {
        double expected = DRAWS * exp(lgamma(OTHERS + 1) - lgamma(k + 1) - lgamma(OTHERS - k + 1) +
                                      k * log(p) + (OTHERS - k) * log(1 - p));
        if (expected < 5) {
            rest_seen += seen[K + k];
            rest_expected += expected;
            continue;
        }
        chi += (seen[K + k] - expected) * (seen[K + k] - expected) / expected;
        cells++;
    }
    chi += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
    assert_true(cells > 6 && chi < cells + 2 * sqrt(cells * 9.2) + 2 * 9.2);
}

/* ---- nearest, similarity ---- */

typedef struct sparse {
    tacit_targets dense, compressed;
} sparse;

static void make_targets(sparse *s, uint32_t agents, size_t dimension, double full, uint64_t seed)
{
    dice d = {seed};
    size_t entries = 0;
    s->dense = (tacit_targets){.dimension = dimension};
    s->compressed = (tacit_targets){.dimension = dimension};
    s->dense.dense = calloc(agents * dimension, sizeof(double));
    s->compressed.row = calloc(agents + 1, sizeof(uint64_t));
    s->compressed.column = calloc(agents * dimension, sizeof(uint32_t));
    s->compressed.value = calloc(agents * dimension, sizeof(double));
    assert_true(s->dense.dense && s->compressed.row && s->compressed.column && s->compressed.value);
    for (uint32_t i = 0; i < agents; i++) {
        for (size_t k = 0; k < dimension; k++) {
            if (i % 17 == 5 || dice_unit(&d) >= full) /* some rows are empty */
                continue;
            double value = (double)(1 + dice_below(&d, 5)); /* ratings: ties are common */
            s->dense.dense[i * dimension + k] = value;
            s->compressed.column[entries] = (uint32_t)k;
            s->compressed.value[entries++] = value;
        }
        s->compressed.row[i + 1] = entries;
    }
}

static void clear_targets(sparse *s)
{
    free(s->dense.dense);
    free(s->compressed.row);
    free(s->compressed.column);
    free(s->compressed.value);
}

static bool is_zero(const sparse *s, uint32_t i)
{
    return s->compressed.row[i] == s->compressed.row[i + 1];
}

static double cosine(const sparse *s, uint32_t i, uint32_t j)
{
    const double *x = s->dense.dense + i * s->dense.dimension;
    const double *y = s->dense.dense + j * s->dense.dimension;
    double xy = 0, xx = 0, yy = 0;
    for (size_t k = 0; k < s->dense.dimension; k++) {
        xy += x[k] * y[k];
        xx += x[k] * x[k];
        yy += y[k] * y[k];
    }
    return xy / sqrt(xx * yy);
}

/* Has i chosen j? Fewer than k others are nearer; a cosine within rounding of the last one's is
 * left open (-1). */
static int chose(const sparse *s, uint32_t agents, uint32_t k, uint32_t i, uint32_t j)
{
    uint32_t nearer = 0, level = 0;
    if (is_zero(s, i) || is_zero(s, j))
        return 0;
    for (uint32_t other = 0; other < agents; other++) {
        if (other == i || other == j || is_zero(s, other))
            continue;
        double difference = cosine(s, i, other) - cosine(s, i, j);
        nearer += difference > 1e-12;
        level += fabs(difference) <= 1e-12;
    }
    return nearer >= k ? 0 : nearer + level < k ? 1 : -1;
}

static void test_nearest(void **state)
{
    (void)state;
    enum { AGENTS = 150, K = 6 };
    tacit_error err = {0};
    sparse s;
    tacit_graph g, h;
    make_targets(&s, AGENTS, 40, 0.2, 3);
    check_ok(tacit_graph_nearest(&g, AGENTS, &s.dense, K, &err), &err);
    check_ok(tacit_graph_nearest(&h, AGENTS, &s.compressed, K, &err), &err);
    check_sound(&g);
    assert_true(same_graph(&g, &h)); /* ties and all */
    int open = 0;
    for (uint32_t i = 0; i < AGENTS; i++) {
        assert_true(is_zero(&s, i) ? neighbours(&g, i) == 0 : neighbours(&g, i) >= K);
        for (uint32_t j = i + 1; j < AGENTS; j++) {
            int one = chose(&s, AGENTS, K, i, j), two = chose(&s, AGENTS, K, j, i);
            if (one == 1 || two == 1)
                assert_true(has_edge(&g, i, j));
            else if (one == 0 && two == 0)
                assert_false(has_edge(&g, i, j));
            else
                open++;
        }
    }
    assert_true(open < 300);
    tacit_graph_clear(&g);
    tacit_graph_clear(&h);
    clear_targets(&s);
}

static void test_nearest_breaks_ties_by_index(void **state)
{
    (void)state;
    tacit_error err = {0};
    double same[] = {1, 1, 1, 1, 1, 1, 0, 3};
    tacit_targets targets = {.dimension = 1, .dense = same};
    tacit_graph g;
    check_ok(tacit_graph_nearest(&g, 8, &targets, 2, &err), &err);
    /* 0 and 1 choose 1, 2 and 0, 2; all others 0, 1. Agent 6 has no direction. */
    assert_int_equal(neighbours(&g, 0), 6);
    assert_int_equal(neighbours(&g, 1), 6);
    assert_int_equal(neighbours(&g, 5), 2);
    assert_int_equal(neighbours(&g, 6), 0);
    tacit_graph_clear(&g);
    /* A row of zeros is not even chosen where all others are at a right angle. */
    double right[] = {0, 0, 1, 0, 0, 1, 0, 2};
    targets = (tacit_targets){.dimension = 2, .dense = right};
    check_ok(tacit_graph_nearest(&g, 4, &targets, 2, &err), &err);
    assert_int_equal(neighbours(&g, 0), 0);
    assert_true(has_edge(&g, 1, 2) && has_edge(&g, 1, 3) && has_edge(&g, 2, 3));
    tacit_graph_clear(&g);
}

static void test_similarity_of_compressed_rows(void **state)
{
    (void)state;
    enum { AGENTS = 100 };
    tacit_error err = {0};
    sparse s;
    make_targets(&s, AGENTS, 30, 0.3, 4);
    for (uint32_t i = 5; i < AGENTS; i += 17) { /* fill the empty rows of the dense copy */
        s.dense.dense[i * 30] = 1;
        assert_true(is_zero(&s, i));
    }
    tacit_graph g;
    check_fails(tacit_graph_similarity(&g, AGENTS, &s.compressed, 0.1, 1e-3, &err), TACIT_EINPUT,
                &err, "the target of agent \"5\" is zero");
    clear_targets(&s);
    make_targets(&s, 5, 30, 0.5, 4); /* agents 0 to 4 are not empty */
    const double cutoffs[] = {0, 1e-6, 0.01};
    for (size_t c = 0; c < 3; c++) {
        tacit_graph h;
        check_ok(tacit_graph_similarity(&g, 5, &s.dense, 0.1, cutoffs[c], &err), &err);
        check_ok(tacit_graph_similarity(&h, 5, &s.compressed, 0.1, cutoffs[c], &err), &err);
        assert_true(same_graph(&g, &h));
        assert_memory_equal(g.weight, h.weight, g.entries * sizeof *g.weight);
        assert_true(c > 0 || g.entries == 20);
        tacit_graph_clear(&g);
        tacit_graph_clear(&h);
    }
    clear_targets(&s);
}

/* Pairs that were drawn are all there, with the weights of the whole graph, dense and compressed
 * alike, and each pair that is alike enough is drawn with chance 1 - (1 - k/(n-1))^2. With 400
 * agents and 20 draws the number of edges is within 6 of its standard deviations but with
 * probability below 1e-8. */
static void test_similarity_of_drawn_pairs(void **state)
{
    (void)state;
    enum { AGENTS = 400, P = 20, DRAWS = 20 };
    tacit_error err = {0};
    dice d = {11};
    double *rows = calloc(AGENTS * P, sizeof *rows);
    uint64_t *row = calloc(AGENTS + 1, sizeof *row);
    uint32_t *column = calloc(AGENTS * P, sizeof *column);
    for (size_t k = 0; k < AGENTS * P; k++) {
        rows[k] = dice_unit(&d) - 0.3;
        column[k] = k % P;
    }
    for (size_t i = 0; i <= AGENTS; i++)
        row[i] = i * P;
    const tacit_targets dense = {.dimension = P, .dense = rows};
    const tacit_targets compressed = {.dimension = P, .row = row, .column = column, .value = rows};
    tacit_graph whole, g, h;
    check_ok(tacit_graph_similarity(&whole, AGENTS, &dense, 0.5, 0.3, &err), &err);
    check_ok(tacit_graph_similarity_drawn(&g, AGENTS, &dense, 0.5, 0.3, DRAWS, 7, &err), &err);
    check_ok(tacit_graph_similarity_drawn(&h, AGENTS, &compressed, 0.5, 0.3, DRAWS, 7, &err), &err);
    assert_true(same_graph(&g, &h));
    assert_memory_equal(g.weight, h.weight, g.entries * sizeof *g.weight);
    tacit_graph met;
    size_t both = 0;
    check_ok(tacit_graph_k_out(&met, AGENTS, DRAWS, 7, &err), &err);
    for (uint32_t i = 0; i < AGENTS; i++)
        for (uint64_t w = whole.row[i], e = g.row[i]; w < whole.row[i + 1]; w++) {
            const uint32_t j = whole.neighbour[w];
            if (!has_edge(&met, i, j))
                continue;
            both++;
            assert_true(e < g.row[i + 1] && g.neighbour[e] == j);
            assert_true(g.weight[e++] == whole.weight[w]);
        }
    assert_int_equal(both, g.entries);
    tacit_graph_clear(&met);
    const double miss = 1 - (double)DRAWS / (AGENTS - 1), chance = 1 - miss * miss;
    const double mean = chance * (double)whole.entries / 2;
    print_message("%zu of %zu edges, expected %.0f\n", g.entries / 2, whole.entries / 2, mean);
    assert_true(fabs((double)g.entries / 2 - mean) < 6 * sqrt(mean));
    tacit_graph_clear(&h);
    check_ok(tacit_graph_similarity_drawn(&h, AGENTS, &dense, 0.5, 0.3, AGENTS - 1, 7, &err), &err);
    assert_true(same_graph(&whole, &h));
    rows[0] = NAN;
    tacit_graph_clear(&h);
    check_fails(tacit_graph_similarity_drawn(&h, AGENTS, &dense, 0.5, 0.3, DRAWS, 7, &err),
                TACIT_EINPUT, &err, "not finite");
    memset(rows, 0, P * sizeof *rows);
    check_fails(tacit_graph_similarity_drawn(&h, AGENTS, &dense, 0.5, 0.3, DRAWS, 7, &err),
                TACIT_EINPUT, &err, "is zero");
    tacit_graph_clear(&whole);
    tacit_graph_clear(&g);
    free(rows);
    free(row);
    free(column);
}

/* ---- a set of pairs ---- */

static void test_pair_set(void **state)
{
    (void)state;
    enum { AGENTS = 40 };
    dice d = {9};
    tacit_error err = {0};
    tacit_pair_set set;
    bool known[AGENTS][AGENTS] = {{false}};
    size_t count = 0;
    check_ok(tacit_pair_set_init(&set, 300, &err), &err);
    for (int step = 0; step < 200000; step++) {
        uint32_t a = (uint32_t)dice_below(&d, AGENTS), b = (uint32_t)dice_below(&d, AGENTS);
        uint32_t low = a < b ? a : b, high = a < b ? b : a;
        assert_int_equal(tacit_pair_set_has(&set, a, b), known[low][high]);
        if (known[low][high]) {
            tacit_pair_set_remove(&set, a, b);
            known[low][high] = false;
            count--;
        } else if (count < 300 && a != b) {
            assert_true(tacit_pair_set_add(&set, a, b));
            assert_false(tacit_pair_set_add(&set, b, a));
            known[low][high] = true;
            count++;
        }
        assert_false(tacit_pair_set_add(&set, a, a));
    }
    tacit_pair_set_clear(&set);
}

/* ---- refusals ---- */

static void test_bad_input(void **state)
{
    (void)state;
    tacit_graph g;
    tacit_error err = {0};
    const tacit_status bad = TACIT_EINPUT;
    check_fails(tacit_graph_k_regular(&g, 5, 3, 1, &err), bad, &err, "an even product");
    check_fails(tacit_graph_k_regular(&g, 5, 5, 1, &err), bad, &err, "k is \"5\"");
    check_fails(tacit_graph_k_regular(&g, 5, 0, 1, &err), bad, &err, "k is \"0\"");
    check_fails(tacit_graph_watts_strogatz(&g, 9, 3, 0, 1, &err), bad, &err, "an even number");
    check_fails(tacit_graph_watts_strogatz(&g, 9, 10, 0, 1, &err), bad, &err, "k is \"10\"");
    check_fails(tacit_graph_watts_strogatz(&g, 9, 4, -0.1, 1, &err), bad, &err, "expected 0 to 1");
    check_fails(tacit_graph_erdos_renyi(&g, 9, NAN, 1, &err), bad, &err, "expected 0 to 1");
    check_fails(tacit_graph_erdos_renyi(&g, 9, 1.5, 1, &err), bad, &err, "expected 0 to 1");
    check_fails(tacit_graph_ring(&g, 0, &err), bad, &err, "a graph needs 1 to");
    check_fails(tacit_graph_grid(&g, UINT32_MAX, &err), bad, &err, "a graph needs 1 to");
    /* Sizes no machine has are refused before anything is tried. */
    check_fails(tacit_graph_complete(&g, 4000000000u, &err), bad, &err, "would have about 8e+18");
    check_fails(tacit_graph_erdos_renyi(&g, 4000000000u, 0.5, 1, &err), bad, &err, "would have");
    check_fails(tacit_graph_k_out(&g, 4000000000u, 1000000, 1, &err), bad, &err, "would have");
    check_fails(tacit_graph_k_regular(&g, 4000000000u, 1000000, 1, &err), bad, &err, "would have");
    check_fails(tacit_graph_watts_strogatz(&g, 4000000000u, 1000000, 0.5, 1, &err), bad, &err,
                "would have");
    double one[] = {1, 2, 3};
    const tacit_targets targets = {.dimension = 1, .dense = one}, none = {0};
    check_fails(tacit_graph_nearest(&g, 3, &targets, 3, &err), bad, &err, "k is \"3\"");
    check_fails(tacit_graph_nearest(&g, 3, &none, 1, &err), bad, &err, "needs targets");
    uint64_t row[] = {0, 2, 2};
    uint32_t column[] = {1, 1};
    const tacit_targets twice = {.dimension = 2, .row = row, .column = column, .value = one};
    check_fails(tacit_graph_nearest(&g, 2, &twice, 1, &err), bad, &err, "out of order");
    column[0] = 0;
    column[1] = 2;
    check_fails(tacit_graph_nearest(&g, 2, &twice, 1, &err), bad, &err, "column \"2\"");
    one[1] = INFINITY;
    check_fails(tacit_graph_nearest(&g, 3, &targets, 1, &err), bad, &err, "not finite");
    assert_null(g.row);
}

/* Every kind by its options, as an experiment asks for it. */
static void test_make(void **state)
{
    (void)state;
    tacit_error err = {0};
    double values[30];
    for (int i = 0; i < 30; i++)
        values[i] = 1 + i % 7;
    const tacit_targets targets = {.dimension = 3, .dense = values};
    tacit_graph_options o;
    for (int kind = 0; tacit_graph_kinds[kind]; kind++) {
        tacit_graph g;
        check_ok(tacit_options_defaults(&tacit_graph_section, &o, &err), &err);
        o.kind = kind;
        o.k = 4;
        if (kind == TACIT_GRAPH_EDGES) {
            check_fails(tacit_graph_make(&g, &o, 10, NULL, 1, &err), TACIT_EINPUT, &err,
                        "graph.path");
            continue;
        }
        check_ok(tacit_graph_make(&g, &o, 10, &targets, 1, &err), &err);
        check_sound(&g);
        tacit_graph_clear(&g);
        o.fiedler = 0.5;
        tacit_status status = tacit_graph_make(&g, &o, 10, &targets, 1, &err);
        if (kind == TACIT_GRAPH_ERDOS_RENYI)
            check_ok(status, &err);
        else
            check_fails(status, TACIT_EINPUT, &err, "graph.fiedler goes with");
        tacit_graph_clear(&g);
    }
    tacit_graph g;
    o.fiedler = 0;
    o.kind = TACIT_GRAPH_NEAREST;
    check_fails(tacit_graph_make(&g, &o, 10, NULL, 1, &err), TACIT_EINPUT, &err, "graph.compare");
    o.draws = 3;
    check_fails(tacit_graph_make(&g, &o, 10, &targets, 1, &err), TACIT_EINPUT, &err,
                "graph.draws goes with");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_grid_is_a_grid),
        cmocka_unit_test(test_k_regular_is_regular),
        cmocka_unit_test(test_k_regular_is_uniform),
        cmocka_unit_test(test_erdos_renyi_degrees_are_binomial),
        cmocka_unit_test(test_erdos_renyi_pairs_are_alike),
        cmocka_unit_test(test_erdos_renyi_limits),
        cmocka_unit_test(test_watts_strogatz),
        cmocka_unit_test(test_k_out_degrees),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_nearest_breaks_ties_by_index),
        cmocka_unit_test(test_similarity_of_compressed_rows),
        cmocka_unit_test(test_similarity_of_drawn_pairs),
        cmocka_unit_test(test_pair_set),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_make),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
