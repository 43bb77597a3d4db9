/* SPDX-License-Identifier: Apache-2.0 */
/* How much noise a private sum needs: the thesis' table, the exact law against a dense inverse and
 * closed forms, the noise that is enough, and sums term by term against blocks of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/gopa.h"
#include "testing.h"

static void check_near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%.12g is not within %g of %.12g", got, relative, want);
}

/* ---- the thesis ---- */

static void test_table(void **state)
{
    (void)state;
    static const struct {
        double rho, kappa, pair;
        uint64_t partners;
    } want[] = {{1, 14.49, 44.72, 105}, {0.5, 13.33, 45.99, 192}};
    for (size_t k = 0; k < 2; k++) {
        const double honest = want[k].rho * 10000, inner = 1 / (honest * honest);
        tacit_gopa_corollary plan;
        tacit_error err = {0};
        check_ok(tacit_gopa_corollary_plan(&plan, 10000, want[k].rho, 0.1, inner, 10 * inner, &err),
                 &err);
        assert_int_equal(plan.partners, want[k].partners);
        check_near(plan.pair, want[k].pair, 0.005 / 44);
        check_near(plan.kappa, want[k].kappa, 0.005 / 13);
        check_near(3.75 * pow(inner / 1.25, plan.kappa / (plan.kappa + 1)), 10 * inner, 1e-9);
        check_near(plan.own * plan.own * honest, 2 * log(1.25 / inner) / 0.01, 1e-12);
        /* The corollary is one solution of the theorem's conditions. */
        const double theta =
            tacit_gopa_theorem_theta(10000, want[k].rho, plan.partners, plan.own, plan.pair);
        check_near(theta, (1 + 1 / plan.kappa) / (honest * plan.own * plan.own), 1e-12);
        assert_true(tacit_gopa_theorem_holds(theta, 0.1, 10 * inner / 3));
        assert_false(tacit_gopa_theorem_holds(theta, 0.1, inner / 10));
        assert_false(tacit_gopa_theorem_holds(theta, 0.05, 10 * inner / 3));
    }
}

static void test_theorem_edges(void **state)
{
    (void)state;
    tacit_gopa_corollary plan;
    tacit_error err = {0};
    assert_int_equal(tacit_gopa_theorem_partners(80, 1, 1e-3), 0);
    assert_int_equal(tacit_gopa_theorem_partners(1000, 0.08, 1e-3), 0);
    assert_int_equal(tacit_gopa_theorem_partners(10000, 1, 0), 0);
    assert_int_equal(tacit_gopa_theorem_partners(NAN, 1, 0.1), 0);
    assert_int_equal(tacit_gopa_theorem_partners(90, 1, 1e-9), 0); /* more than n */
    assert_true(isinf(tacit_gopa_theorem_theta(10000, 1, 6, 1, 1)));
    assert_true(isfinite(tacit_gopa_theorem_theta(10000, 1, 7, 1, 1)));
    /* Each of the three conditions on k can be the one that counts. */
    assert_int_equal(tacit_gopa_theorem_partners(1000, 1, 1e-3), 54); /* 4 log(2n / 3 delta) */
    assert_int_equal(tacit_gopa_theorem_partners(1e8, 1, 0.9), 104);  /* 6 log(n / 3) */
    check_fails(tacit_gopa_corollary_plan(&plan, 10000, 1.5, 0.1, 1e-8, 1e-7, &err), TACIT_EINPUT,
                &err, "rho");
    check_fails(tacit_gopa_corollary_plan(&plan, 10000, 1, 1, 1e-8, 1e-7, &err), TACIT_EINPUT, &err,
                "epsilon");
    check_fails(tacit_gopa_corollary_plan(&plan, 10000, 1, 0.1, 1e-8, 0, &err), TACIT_EINPUT, &err,
                "delta");
    check_fails(tacit_gopa_corollary_plan(&plan, 10000, 1, 0.1, 1e-8, 3e-8, &err), TACIT_EINPUT,
                &err, "three times");
    check_fails(tacit_gopa_corollary_plan(&plan, 50, 1, 0.1, 1e-4, 1e-3, &err), TACIT_EINPUT, &err,
                "81");
}

/* ---- the exact law ---- */

/* max_v of the inverse's diagonal by Cholesky: no components, no bounds, no iteration. */
static double dense_square(const tacit_graph *g, const bool *honest, double own, double pair)
{
    const size_t n = g->agents;
    double *a = calloc(n * n, sizeof *a), *x = calloc(n, sizeof *x), worst = 0;
    assert_non_null(a);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) {
        a[i * n + i] = honest && !honest[i] ? 1 : own * own;
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            const size_t j = g->neighbour[e];
            if (honest && (!honest[i] || !honest[j]))
                continue;
            a[i * n + i] += pair * pair;
            a[i * n + j] -= pair * pair;
        }
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    for (size_t v = 0; v < n; v++) { /* |G^-1 e_v|^2 */
        double square = 0;
        for (size_t i = v; i < n; i++) {
            double sum = i == v;
            for (size_t k = v; k < i; k++)
                sum -= a[i * n + k] * x[k];
            x[i] = sum / a[i * n + i];
            square += x[i] * x[i];
        }
        if (!honest || honest[v])
            worst = fmax(worst, square);
    }
    free(a);
    free(x);
    return worst;
}

static void check_dense(const tacit_graph *g, const bool *honest, double own, double pair)
{
    tacit_error err = {0};
    double mu;
    check_ok(tacit_gopa_mu(&mu, g, honest, own, pair, &err), &err);
    const double want = sqrt(dense_square(g, honest, own, pair));
    if (!(mu >= want * (1 - 1e-9) && mu <= want * (1 + 1e-6)))
        fail_msg("%u users, own %g, pair %g: mu is %.12g and should be %.12g", g->agents, own, pair,
                 mu, want);
}

static void open_stream(tacit_stream *s, uint64_t seed)
{
    tacit_random random;
    tacit_random_init(&random, seed);
    tacit_stream_open(s, &random, 0, TACIT_FOR_TEST, 0);
    tacit_random_clear(&random);
}

static void test_dense(void **state)
{
    (void)state;
    static const struct {
        uint32_t users, partners;
    } kinds[] = {{2, 1}, {3, 1}, {9, 2}, {40, 1}, {60, 3}, {90, 30}, {SLOW ? 120 : 400, 8}};
    static const double noise[][2] = {{1, 1}, {0.6, 5}, {0.1, 0.05}, {2, 1e3}, {3, 1e-3}};
    bool honest[400];
    dice d = {11};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        tacit_graph g;
        tacit_stream s;
        tacit_error err = {0};
        open_stream(&s, k);
        check_ok(tacit_gopa_graph(&g, kinds[k].users, kinds[k].partners, &s, &err), &err);
        for (uint32_t u = 0; u < g.agents; u++)
            honest[u] = u == 0 || dice_unit(&d) < 0.6;
        for (size_t n = 0; n < (g.agents > 100 ? 2 : 5); n++) {
            check_dense(&g, NULL, noise[n][0], noise[n][1]);
            check_dense(&g, honest, noise[n][0], noise[n][1]);
        }
        tacit_graph_clear(&g);
    }
}

/* Graphs on which iterations take long, and the bounds that spare solves are poor. */
static void test_poor_graphs(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_graph ring, grid, odd;
    check_ok(tacit_graph_ring(&ring, 300, &err), &err);
    check_ok(tacit_graph_grid(&grid, 120, &err), &err);
    graph_ring(&odd, 70, 10, 3); /* uneven weights, which do not count */
    static const double noise[][2] = {{1, 1}, {0.05, 3}, {0.3, 40}};
    for (size_t n = 0; n < 3; n++) {
        check_dense(&ring, NULL, noise[n][0], noise[n][1]);
        check_dense(&grid, NULL, noise[n][0], noise[n][1]);
        check_dense(&odd, NULL, noise[n][0], noise[n][1]);
    }
    tacit_graph_clear(&ring);
    tacit_graph_clear(&grid);
    tacit_graph_clear(&odd);
}

static double complete_square(double s, double own, double pair)
{
    return 1 / (s * own * own) + (1 - 1 / s) / (own * own + s * pair * pair);
}

static void test_closed_forms(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_graph g;
    const double n = 800, own = 0.3, pair = 2;
    double mu;
    check_ok(tacit_graph_complete(&g, 800, &err), &err);
    check_ok(tacit_gopa_mu(&mu, &g, NULL, own, pair, &err), &err);
    check_near(mu * mu, complete_square(n, own, pair), 2e-6);
    tacit_graph_clear(&g);
    /* A star's Laplacian has the values 0, 1 (n - 2 times) and n: leaves are worst. */
    check_ok(tacit_graph_star(&g, 800, &err), &err);
    check_ok(tacit_gopa_mu(&mu, &g, NULL, own, pair, &err), &err);
    const double far = 1 / (n * (n - 1)), a = own * own, b = pair * pair;
    check_near(mu * mu, 1 / (n * a) + far / (a + n * b) + (1 - 1 / n - far) / (a + b), 2e-6);
    /* Without the middle everyone is alone. */
    bool honest[800];
    for (int u = 0; u < 800; u++)
        honest[u] = u > 0;
    check_ok(tacit_gopa_mu(&mu, &g, honest, own, pair, &err), &err);
    check_near(mu, 1 / own, 1e-12);
    check_ok(tacit_gopa_mu(&mu, &g, NULL, own, INFINITY, &err), &err);
    check_near(mu, 1 / (own * sqrt(n)), 1e-12);
    check_ok(tacit_gopa_mu(&mu, &g, NULL, own, 1e200, &err), &err);
    check_near(mu, 1 / (own * sqrt(n)), 1e-12);
    check_ok(tacit_gopa_mu(&mu, &g, NULL, own, 0, &err), &err);
    check_near(mu, 1 / own, 1e-12);
    tacit_graph_clear(&g);
    /* Masks in two pieces: the smaller one counts. */
    const tacit_edge edges[] = {{0, 1, 1}, {1, 2, 1}, {3, 4, 1}};
    check_ok(tacit_graph_from_edges(&g, 5, edges, 3, &err), &err);
    check_ok(tacit_gopa_mu(&mu, &g, NULL, own, INFINITY, &err), &err);
    check_near(mu, 1 / (own * sqrt(2)), 1e-12);
    check_dense(&g, NULL, own, pair);
    check_dense(&g, NULL, own, 1e3);
    check_fails(tacit_gopa_mu(&mu, &g, NULL, 0, 1, &err), TACIT_EINPUT, &err, "own noise");
    check_fails(tacit_gopa_mu(&mu, &g, NULL, NAN, 1, &err), TACIT_EINPUT, &err, "own noise");
    check_fails(tacit_gopa_mu(&mu, &g, NULL, 1, -1, &err), TACIT_EINPUT, &err, "pair noise");
    memset(honest, 0, sizeof honest);
    check_fails(tacit_gopa_mu(&mu, &g, honest, 1, 1, &err), TACIT_EINPUT, &err, "honest");
    tacit_graph_clear(&g);
}

static void test_graph(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_stream s;
    tacit_graph g;
    open_stream(&s, 5);
    uint64_t edges = 0, next = 0;
    for (int n = 0; n < 20; n++) {
        check_ok(tacit_gopa_graph(&g, 100, 10, &s, &err), &err);
        for (uint32_t u = 0; u < 100; u++) {
            assert_true(g.row[u + 1] - g.row[u] >= 10);
            for (uint64_t e = g.row[u]; e < g.row[u + 1]; e++)
                next += g.neighbour[e] == u + 1;
        }
        edges += g.entries / 2;
        tacit_graph_clear(&g);
    }
    /* A pair is an edge with probability 1 - (1 - 10/99)^2, neighbours in number no less than
     * others; the number of edges varies less than a binomial one: five deviations, a false alarm
     * in a million. */
    const double p = 1 - pow(1 - 10 / 99., 2), pairs = 20 * 4950;
    assert_true(fabs((double)next - 20 * 99 * p) < 5 * sqrt(20 * 99 * p * (1 - p)));
    assert_true(fabs((double)edges - pairs * p) < 5 * sqrt(pairs * p * (1 - p)));
    check_ok(tacit_gopa_graph(&g, 6, 5, &s, &err), &err);
    assert_int_equal(g.entries, 30);
    tacit_graph_clear(&g);
    check_fails(tacit_gopa_graph(&g, 6, 6, &s, &err), TACIT_EINPUT, &err, "partners");
    check_fails(tacit_gopa_graph(&g, 6, 0, &s, &err), TACIT_EINPUT, &err, "partners");
    check_fails(tacit_gopa_graph(&g, 4000000000, 3999999999, &s, &err), TACIT_EINPUT, &err,
                "edges");
}

/* ---- enough noise ---- */

static double pair_of(tacit_gopa_question q)
{
    tacit_error err = {0};
    double pair;
    check_ok(tacit_gopa_pair(&pair, &q, &err), &err);
    return pair;
}

static void test_pair(void **state)
{
    (void)state;
    tacit_gopa_question q = {
        .users = 60, .partners = 59, .rho = 0.5, .own = 1, .wanted = 0.3, .graphs = 2, .seed = 1};
    /* Everybody knows everybody: a closed form of 30 honest users. */
    const double rest = q.wanted * q.wanted - 1. / 30;
    check_near(pair_of(q), sqrt(((1 - 1 / 30.) / rest - 1) / 30), 2e-6);
    q.rho = 1;
    const double more = q.wanted * q.wanted - 1. / 60;
    check_near(pair_of(q), sqrt(((1 - 1 / 60.) / more - 1) / 60), 2e-6);
    /* More graphs never need less, fewer partners need more. */
    q.partners = 6;
    q.rho = 0.7;
    q.graphs = 3;
    const double three = pair_of(q);
    q.graphs = 12;
    const double twelve = pair_of(q);
    assert_true(twelve >= three && three > 0 && isfinite(twelve));
    q.partners = 12;
    assert_true(pair_of(q) < three);
    /* None is enough; none is needed. */
    q.wanted = 0.1;
    assert_true(isinf(pair_of(q)));
    q.wanted = 1;
    assert_true(pair_of(q) == 0);
    q.partners = 1; /* somebody is left alone */
    q.rho = 0.2;
    q.wanted = 0.9;
    assert_true(isinf(pair_of(q)));
    tacit_error err = {0};
    double pair;
    q.rho = 0;
    check_fails(tacit_gopa_pair(&pair, &q, &err), TACIT_EINPUT, &err, "rho");
    q.rho = 1;
    q.graphs = 0;
    check_fails(tacit_gopa_pair(&pair, &q, &err), TACIT_EINPUT, &err, "graphs");
    q.graphs = 1;
    q.own = INFINITY;
    check_fails(tacit_gopa_pair(&pair, &q, &err), TACIT_EINPUT, &err, "own noise");
    q.own = 1;
    q.wanted = NAN;
    check_fails(tacit_gopa_pair(&pair, &q, &err), TACIT_EINPUT, &err, "mu");
    q.wanted = 0.5;
    q.users = 0;
    check_fails(tacit_gopa_pair(&pair, &q, &err), TACIT_EINPUT, &err, "partners");
}

/* The noise that is enough is the least, on the very graph it was found for. */
static void test_pair_is_least(void **state)
{
    (void)state;
    tacit_gopa_question q = {.users = SLOW ? 300 : 2000,
                             .partners = 20,
                             .rho = 1,
                             .own = 0.6,
                             .wanted = 0.05,
                             .graphs = 1,
                             .seed = 9};
    q.wanted = 1.2 / (q.own * sqrt(q.users));
    const double pair = pair_of(q);
    tacit_random random;
    tacit_stream s;
    tacit_graph g;
    tacit_error err = {0};
    double mu;
    tacit_random_init(&random, q.seed);
    tacit_stream_open(&s, &random, 0, TACIT_FOR_GRAPH, 0);
    check_ok(tacit_gopa_graph(&g, q.users, q.partners, &s, &err), &err);
    check_ok(tacit_gopa_mu(&mu, &g, NULL, q.own, pair, &err), &err);
    assert_true(mu <= q.wanted);
    check_ok(tacit_gopa_mu(&mu, &g, NULL, q.own, pair * (1 - 1e-4), &err), &err);
    assert_true(mu > q.wanted);
    tacit_graph_clear(&g);
    tacit_random_clear(&random);
}

/* ---- enough noise, by proof ---- */

/* Honest partners of whoever has fewest and most, the first `honest` users being honest. */
static void find_degrees(const tacit_graph *g, uint32_t honest, double *fewest, double *most)
{
    *fewest = INFINITY;
    *most = 0;
    for (uint32_t u = 0; u < honest; u++) {
        double d = 0;
        for (uint64_t e = g->row[u]; e < g->row[u + 1]; e++)
            d += g->neighbour[e] < honest;
        *fewest = fmin(*fewest, d);
        *most = fmax(*most, d);
    }
}

/* The tails of degrees, by drawing: each may be passed by one graph in 32. Of 2000 graphs 62.5 at
 * most, 103 are five deviations more; one step inside there are many more. */
static void test_proof_tails(void **state)
{
    (void)state;
    const tacit_gopa_question q = {.users = 60, .partners = 8, .rho = 0.5, .own = 1, .wanted = 1};
    enum { GRAPHS = SLOW ? 500 : 2000 };
    gopa_proof proof;
    tacit_stream s;
    tacit_error err = {0};
    int below = 0, nearly = 0, above = 0, almost = 0;
    gopa_prove(&proof, &q, 3);
    open_stream(&s, 77);
    for (int n = 0; n < GRAPHS; n++) {
        tacit_graph g;
        double fewest, most;
        check_ok(tacit_gopa_graph(&g, q.users, q.partners, &s, &err), &err);
        find_degrees(&g, 30, &fewest, &most);
        tacit_graph_clear(&g);
        below += fewest < proof.fewest;
        nearly += fewest < proof.fewest + 1;
        above += most > proof.most;
        almost += most > proof.most - 1;
    }
    const double share = GRAPHS / 2000.;
    assert_true(below <= 103 * share && nearly >= 62 * share);
    assert_true(above <= 103 * share && almost >= 62 * share);
}

/* What is proved holds on graphs that are drawn, and asks for more than those need. */
static void test_proved(void **state)
{
    (void)state;
    tacit_gopa_question q = {.users = 400,
                             .partners = 60,
                             .rho = 0.6,
                             .own = 1,
                             .wanted = 1.3 / sqrt(240),
                             .graphs = 5,
                             .seed = 2};
    const double pair = tacit_gopa_pair_proved(&q, 20);
    gopa_proof proof;
    gopa_prove(&proof, &q, 20);
    assert_true(isfinite(pair) && proof.part.gap > 0 && proof.leaving > 0);
    check_near(sqrt(gopa_proof_square(&proof, q.own, pair)), q.wanted, 2e-6);
    assert_true(pair > pair_of(q) && pair < 3 * pair_of(q));
    assert_true(tacit_gopa_pair_proved(&q, 40) > pair);
    tacit_stream s;
    open_stream(&s, 78);
    for (int n = 0; n < 3; n++) {
        tacit_error err = {0};
        tacit_graph g;
        gopa_view view;
        bool honest[400];
        double fewest, most;
        for (int u = 0; u < 400; u++)
            honest[u] = u < 240;
        check_ok(tacit_gopa_graph(&g, q.users, q.partners, &s, &err), &err);
        find_degrees(&g, 240, &fewest, &most);
        assert_true(fewest >= proof.fewest && most <= proof.most);
        check_ok(gopa_view_open(&view, &g, honest, &err), &err);
        assert_int_equal(view.parts, 1);
        assert_true(proof.part.gap < view.part[0].gap);
        gopa_view_close(&view);
        tacit_graph_clear(&g);
    }
    q.partners = 2; /* nothing can be proved of so few */
    assert_true(isinf(tacit_gopa_pair_proved(&q, 20)));
    q.partners = 400;
    assert_true(isinf(tacit_gopa_pair_proved(&q, 20)));
    q.partners = 60;
    q.wanted = 0.9 / sqrt(240);
    assert_true(isinf(tacit_gopa_pair_proved(&q, 20)));
    q.wanted = 1;
    assert_true(tacit_gopa_pair_proved(&q, 20) == 0);
    q.rho = NAN;
    assert_true(isinf(tacit_gopa_pair_proved(&q, 20)));
}

/* ---- sets that could be told a sum of their own ---- */

/* log2 of the sum, term by term and each tail from its first term to its last. */
static double plain_risk(uint32_t n, uint32_t k, uint32_t quorum, uint32_t colluders)
{
    const double honest = n - colluders;
    double most = -INFINITY, total = 0;
    for (int pass = 0; pass < 2; pass++) /* the largest term first, then all of them beside it */
        for (double a = 1; a <= floor(honest / 2); a++) {
            const double good = a - 1 + colluders, bad = n - 1 - good;
            double tail = 0;
            for (double j = quorum; j <= k; j++)
                if (j <= good && k - j <= bad)
                    tail += exp(lgamma(good + 1) - lgamma(j + 1) - lgamma(good - j + 1) +
                                lgamma(bad + 1) - lgamma(k - j + 1) - lgamma(bad - k + j + 1) -
                                lgamma(n) + lgamma(k + 1.) + lgamma(n - 1. - k + 1));
            const double term =
                lgamma(honest + 1) - lgamma(a + 1) - lgamma(honest - a + 1) + a * log(tail);
            most = fmax(most, pass == 0 ? term : most);
            total += pass && most > -INFINITY ? exp(term - most) : 0;
        }
    return fmin((most + log(total)) / log(2), 0);
}

static void test_split_risk(void **state)
{
    (void)state;
    static const uint32_t cases[][4] = {{10, 4, 4, 0},    {10, 9, 6, 0},       {10, 9, 4, 0},
                                        {40, 12, 9, 3},   {100, 30, 20, 10},   {101, 30, 20, 10},
                                        {300, 60, 45, 0}, {1000, 50, 34, 100}, {1000, 100, 80, 200},
                                        {3000, 40, 30, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const uint32_t *c = cases[k];
        const double got = tacit_gopa_split_risk(c[0], c[1], c[2], c[3]);
        const double want = plain_risk(c[0], c[1], c[2], c[3]);
        if (isinf(want) ? got != want : !(got >= want - 1e-9 && got <= want + 1e-6 * (1 - want)))
            fail_msg("case %zu: %.12g instead of %.12g", k, got, want);
    }
    assert_true(tacit_gopa_split_risk(10, 10, 3, 0) == 0); /* nonsense promises nothing */
    assert_true(tacit_gopa_split_risk(10, 5, 0, 0) == 0);
    assert_true(tacit_gopa_split_risk(0, 0, 0, 0) == 0);
    assert_true(tacit_gopa_split_risk(10, 5, 3, 9) == 0);
    assert_true(tacit_gopa_split_risk(10, 5, 3, 11) == 0);
    assert_true(tacit_gopa_split_risk(UINT64_MAX, 5, 3, 0) == 0);
    /* Large ones end, and say something. */
    const double large = tacit_gopa_split_risk(1000000, 80, 60, 100000);
    assert_true(large < -40 && large > -1000);
    assert_true(tacit_gopa_split_risk(UINT64_C(1) << 50, 200, 150, 0) < -40);
}

/* The chance itself, by drawing: never above the bound (five deviations: 3e-7). */
static void test_split_drawn(void **state)
{
    (void)state;
    enum { N = 9, K = 4, QUORUM = 3, COLLUDERS = 1, H = N - COLLUDERS, TRIALS = 20000 };
    dice d = {21};
    int split = 0;
    for (int t = 0; t < TRIALS; t++) {
        uint32_t chose[H];
        for (uint32_t u = 0; u < H; u++) { /* the colluder is the last */
            chose[u] = 0;
            while (__builtin_popcount(chose[u]) < K) {
                const uint32_t other = (uint32_t)dice_below(&d, N);
                chose[u] |= other == u ? 0 : UINT32_C(1) << other;
            }
        }
        bool found = false;
        for (uint32_t set = 1; set < UINT32_C(1) << H && !found; set++) {
            if (__builtin_popcount(set) > H / 2)
                continue;
            const uint32_t in = set | UINT32_C(1) << H;
            found = true;
            for (uint32_t u = 0; u < H; u++)
                if (set >> u & 1 && __builtin_popcount(chose[u] & in) < QUORUM)
                    found = false;
        }
        split += found;
    }
    const double rate = split / (double)TRIALS;
    const double bound = exp2(tacit_gopa_split_risk(N, K, QUORUM, COLLUDERS));
    assert_true(split > 50 && bound < 1);
    assert_true(rate <= bound + 5 * sqrt(bound / TRIALS));
    assert_true(rate >= bound / 3); /* and the bound is not far off */
}

/* ---- the same if who adds up lies ---- */

static double plain_tail(double others, double k, double good, double wanted)
{
    double tail = 0;
    for (double j = wanted; j <= k; j++)
        if (j <= good && k - j <= others - good)
            tail += exp(lgamma(good + 1) - lgamma(j + 1) - lgamma(good - j + 1) +
                        lgamma(others - good + 1) - lgamma(k - j + 1) -
                        lgamma(others - good - k + j + 1) - lgamma(others + 1) + lgamma(k + 1) +
                        lgamma(others - k + 1));
    return fmin(tail, 1);
}

/* Over sets of up to `size`, s of them opened by themselves: every term. */
static double plain_lying(const uint32_t c[5], double size)
{
    const double others = c[0] - 1., k = c[1], t = c[2], lost = c[3], colluders = c[4];
    const double honest = c[0] - colluders;
    double total = 0;
    for (double a = 1; a <= size; a++)
        for (double s = 0; s <= a; s++) {
            const double x = plain_tail(others, k, a - 1 + colluders, t);
            const double y = s < a ? plain_tail(others, k, s + colluders, t - lost) : 1;
            total +=
                exp(lgamma(honest + 1) - lgamma(honest - a + 1) - lgamma(s + 1) -
                    lgamma(a - s + 1) + (s > 0 ? s * log(x) : 0) + (s < a ? (a - s) * log(y) : 0));
        }
    return fmin(log2(total), 0);
}

static void test_lying_risk(void **state)
{
    (void)state;
    static const uint32_t cases[][5] = {
        {12, 8, 7, 1, 0},    {40, 16, 13, 3, 3},  {60, 24, 18, 5, 0},  {60, 32, 24, 6, 6},
        {100, 20, 16, 4, 0}, {100, 40, 30, 9, 5}, {100, 40, 30, 9, 40}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        const uint32_t *c = cases[n];
        const double honest = c[0] - (double)c[4];
        const double got = tacit_gopa_lying_risk(c[0], c[1], c[2], c[3], c[4]);
        const double want = plain_lying(c, floor(honest / 2));
        const double curious = tacit_gopa_split_risk(c[0], c[1], c[2], c[4]);
        if (!(got >= want - 1e-9 && got <= fmin(0.7 * want + 20, 0) && got >= curious))
            fail_msg("case %zu: %.12g instead of %.12g", n, got, want);
        const uint64_t sure = tacit_gopa_sure(c[0], c[1], c[2], c[3], c[4], 20);
        assert_int_equal(sure > 0, got <= -20);
        assert_true(sure == 0 || (double)sure > honest / 2);
        assert_true(sure == 0 || plain_lying(c, (double)sure - 1) <= -20);
        assert_true(sure <= honest && tacit_gopa_sure(c[0], c[1], c[2], c[3], c[4], 30) <= sure);
    }
    assert_true(tacit_gopa_lying_risk(100, 40, 10, 10, 0) == 0); /* nothing is left of a quorum */
    assert_true(tacit_gopa_lying_risk(100, 40, 10, 11, 0) == 0);
    assert_true(tacit_gopa_lying_risk(0, 0, 0, 0, 0) == 0);
    assert_int_equal(tacit_gopa_sure(100, 40, 10, 11, 0, 20), 0);
    assert_true(tacit_gopa_lying_risk(1000000, 32, 24, 8, 0) < -40);
    assert_true(tacit_gopa_sure(1000000, 32, 24, 8, 0, 40) > 600000);
}

static void test_partners(void **state)
{
    (void)state;
    static const struct {
        uint64_t agents, colluders;
        double share, bits;
    } cases[] = {{10, 0, 0.7, 20},      {50, 0, 0.7, 20}, {200, 20, 0.75, 30},
                 {1000, 100, 0.67, 40}, {1000, 0, 1, 40}, {10000, 2000, 0.8, 40}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        const uint64_t all = cases[n].agents, c = cases[n].colluders;
        const double share = cases[n].share;
        const uint64_t k = tacit_gopa_partners(all, share, c, cases[n].bits);
        assert_true(k > 1 && k < all);
        for (uint64_t less = 1; less <= k; less++) {
            const uint64_t quorum = (uint64_t)ceil(share * (double)less - 1e-9);
            const bool enough = tacit_gopa_split_risk(all, less, quorum, c) < -cases[n].bits;
            assert_int_equal(enough, less == k);
        }
    }
    assert_int_equal(tacit_gopa_partners(1000, 0.5, 500, 40), 0); /* half of all collude */
    assert_int_equal(tacit_gopa_partners(1000000, 0.5, 500000, 40), 0);
    assert_int_equal(tacit_gopa_partners(1, 0.7, 0, 20), 0);
    assert_int_equal(tacit_gopa_partners(10, 0, 0, 20), 0);
    assert_int_equal(tacit_gopa_partners(10, NAN, 0, 20), 0);
    assert_int_equal(tacit_gopa_partners(0, 0.5, 0, 20), 0);
    assert_true(tacit_gopa_partners(1000000, 0.75, 100000, 40) < 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),        cmocka_unit_test(test_theorem_edges),
        cmocka_unit_test(test_dense),        cmocka_unit_test(test_poor_graphs),
        cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_graph),
        cmocka_unit_test(test_pair),         cmocka_unit_test(test_pair_is_least),
        cmocka_unit_test(test_proof_tails),  cmocka_unit_test(test_proved),
        cmocka_unit_test(test_split_risk),   cmocka_unit_test(test_split_drawn),
        cmocka_unit_test(test_lying_risk),   cmocka_unit_test(test_partners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
