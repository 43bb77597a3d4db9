/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renyi divergences, order by order: against values computed elsewhere (tests/golden), against
 * slow sums and integrals of densities that share no code with the library, and the epsilons that
 * follow from them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "privacy/renyi.h"
#include "testing.h"

static const double orders[] = {1.0001, 1.1, 1.5, 2, 2.7, 4, 6.3, 11, 24.5, 60};
#define ORDERS (sizeof orders / sizeof *orders)

static void close_to(double got, double want, double relative, const char *what, double alpha)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%s at order %g: %.17g, not %.17g", what, alpha, got, want);
}

/* ---- the sampled Gaussian ---- */

static void golden_orders_are_met(void **state)
{
    (void)state;
    char path[600], line[300];
    snprintf(path, sizeof path, "%s/tests/golden/rdp_orders.csv", getenv("TACIT_SOURCE_DIR"));
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    int rows = 0;
    assert_non_null(fgets(line, sizeof line, in));
    while (fgets(line, sizeof line, in)) {
        double q, sigma, alpha, want;
        assert_int_equal(sscanf(line, "%lf,%lf,%lf,%lf", &q, &sigma, &alpha, &want), 4);
        const tacit_loss loss = {.kind = TACIT_LOSS_GAUSSIAN,
                                 .adjacency = TACIT_ADD_REMOVE,
                                 .noise = 3 * sigma,
                                 .shift = 3,
                                 .sampling = q,
                                 .count = 77};
        close_to(tacit_loss_renyi(&loss, alpha), want, 1e-12, line, alpha);
        /* a whole order has a neighbour that is not, which goes the other way */
        close_to(tacit_loss_renyi(&loss, alpha * (1 + 1e-15)), want, 1e-12, line, alpha);
        rows++;
    }
    assert_int_equal(rows, 320);
    fclose(in);
}

/* Two distributions as densities at x. */
typedef struct densities {
    long double p, q;
} densities;
typedef densities pair_at(long double x, const tacit_loss *loss);

static long double bell(long double x)
{
    return expl(-x * x / 2);
}

static densities mixture_first(long double x, const tacit_loss *l)
{
    const long double q = l->sampling, s = l->noise;
    const long double base = bell(x / s) / s, far = bell((x - l->shift) / s) / s;
    return (densities){(1 - q) * base + q * far, base};
}

static densities mixture_last(long double x, const tacit_loss *l)
{
    const densities d = mixture_first(x, l);
    return (densities){d.q, d.p};
}

static densities two_mixtures(long double x, const tacit_loss *l)
{
    const long double q = l->sampling, s = l->noise;
    const long double base = (1 - q) * bell(x / s) / s;
    return (densities){base + q * bell((x + l->shift / 2) / s) / s,
                       base + q * bell((x - l->shift / 2) / s) / s};
}

/* r^a - 1 - a (r - 1) at r = 1 + u. */
static long double excess(long double u, long double a)
{
    if (fabsl(u) * a > 0.05L)
        return powl(1 + u, a) - 1 - a * u;
    long double term = a * (a - 1) / 2 * u * u, sum = 0;
    for (int j = 3; j < 20; j++) {
        sum += term;
        term *= (a - j + 1) * u / j;
    }
    return sum;
}

/* The divergence of the pair by adding up x = k step over [-reach, reach]. Of the moment, 1 is
 * taken away before the sum: E_Q[r^a - 1 - a (r - 1)] with r = P/Q. */
static double slow(pair_at *pair, const tacit_loss *l, double alpha, double reach, double step)
{
    long double sum = 0, mass = 0;
    const long n = (long)(reach / step);
    for (long k = -n; k <= n; k++) {
        const densities d = pair(k * (long double)step, l);
        mass += d.q;
        if (d.q <= 0)
            continue;
        sum += d.q * excess((d.p - d.q) / d.q, alpha);
    }
    return (double)(log1pl(sum / mass) / (alpha - 1));
}

static void both_directions_by_slow_sums(void **state)
{
    (void)state;
    static const double rates[] = {1e-4, 0.03, 0.4, 0.97}, sigmas[] = {0.7, 1.3, 5};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++)
            for (size_t k = 0; k < 8; k++) {
                const double alpha = orders[k];
                const tacit_loss loss = {.kind = TACIT_LOSS_GAUSSIAN,
                                         .adjacency = TACIT_ADD_REMOVE,
                                         .noise = sigmas[j],
                                         .shift = 1,
                                         .sampling = rates[i],
                                         .count = 1};
                const double reach = 2 * alpha + 12 * sigmas[j], step = sigmas[j] / 16;
                const double first = slow(mixture_first, &loss, alpha, reach, step);
                const double last = slow(mixture_last, &loss, alpha, reach, step);
                close_to(tacit_loss_renyi(&loss, alpha), first, 1e-9, "mixture first", alpha);
                const tacit_renyi_pair backward = {
                    .q = rates[i], .shift = 1 / sigmas[j], .backward = true};
                close_to(tacit_renyi_quadrature(&backward, alpha), last, 1e-9, "mixture last",
                         alpha);
                /* the direction that is accounted for is the worse one */
                assert_true(first >= last * (1 - 1e-12));
            }
}

static void replace_by_slow_sums(void **state)
{
    (void)state;
    static const double rates[] = {1e-3, 0.1, 0.5, 0.999}, sigmas[] = {1, 2.5, 8};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++)
            for (size_t k = 0; k < 8; k++) {
                const double alpha = orders[k];
                tacit_loss loss = {.kind = TACIT_LOSS_GAUSSIAN,
                                   .adjacency = TACIT_REPLACE,
                                   .noise = sigmas[j],
                                   .shift = 2,
                                   .sampling = rates[i],
                                   .count = 1};
                const double want =
                    slow(two_mixtures, &loss, alpha, 4 * alpha + 12 * sigmas[j], sigmas[j] / 16);
                const double got = tacit_loss_renyi(&loss, alpha);
                close_to(got, want, 1e-9, "replace", alpha);
                /* between the curve of add-remove and that of no sampling */
                loss.sampling = 1;
                assert_true(got < tacit_loss_renyi(&loss, alpha));
                loss.sampling = rates[i], loss.shift = 1, loss.adjacency = TACIT_ADD_REMOVE;
                assert_true(got > tacit_loss_renyi(&loss, alpha));
            }
}

/* On a lattice: coarse ones are sums of their own, fine ones are the integral. */
static void lattices_by_slow_sums(void **state)
{
    (void)state;
    static const double sigmas[] = {0.4, 0.8, 1.5, 6};
    for (size_t j = 0; j < 4; j++)
        for (size_t k = 0; k < 8; k++) {
            const double alpha = orders[k];
            tacit_loss loss = {.kind = TACIT_LOSS_DISCRETE_GAUSSIAN,
                               .adjacency = TACIT_ADD_REMOVE,
                               .noise = sigmas[j],
                               .shift = 1,
                               .sampling = 0.05,
                               .count = 1};
            const double reach = 4 * alpha + 14 * sigmas[j] + 2;
            close_to(tacit_loss_renyi(&loss, alpha), slow(mixture_first, &loss, alpha, reach, 1),
                     1e-8, "lattice", alpha);
            loss.adjacency = TACIT_REPLACE, loss.shift = 2;
            close_to(tacit_loss_renyi(&loss, alpha), slow(two_mixtures, &loss, alpha, reach, 1),
                     1e-8, "lattice, replace", alpha);
            const double even = tacit_loss_renyi(&loss, alpha);
            loss.shift = 1; /* half a step is off the grid: a whole one stands for it */
            assert_true(tacit_loss_renyi(&loss, alpha) == even);
        }
}

/* Where the exact ways are too long, bounds take over: no jump down at the border. */
static void bounds_take_over_from_above(void **state)
{
    (void)state;
    static const double noises[] = {0.004, 0.02, 0.1, 0.5, 3};
    for (size_t i = 0; i < 5; i++)
        for (int adjacency = 0; adjacency < 2; adjacency++) {
            const tacit_loss loss = {.kind = TACIT_LOSS_GAUSSIAN,
                                     .adjacency = (tacit_adjacency)adjacency,
                                     .noise = noises[i],
                                     .shift = 1,
                                     .sampling = 0.01,
                                     .count = 1};
            tacit_loss all = loss;
            all.sampling = 1;
            double before = 0, moment = 0, slope = 0;
            for (double above = 1e-4; above < 2e4; above *= 1.7) {
                const double alpha = 1 + above, d = tacit_loss_renyi(&loss, alpha);
                assert_true(isfinite(d) && d <= tacit_loss_renyi(&all, alpha));
                assert_true(d >= before * (1 - 1e-9)); /* a divergence grows with the order */
                /* all of it is above the last exact chord: the moment is convex */
                assert_true(above * d >= moment + slope * (above - above / 1.7) - 1e-9 * above * d);
                slope = (above * d - moment) / (above - above / 1.7) * (above > 1e-3 ? 0.99 : 0);
                before = d, moment = above * d;
            }
        }
}

/* ---- bounded ratios ---- */

/* The divergence between two lists of probabilities. */
static double listed(size_t n, const long double *p, const long double *q, double alpha)
{
    long double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += powl(p[k], alpha) * powl(q[k], 1 - (long double)alpha);
    return (double)(logl(sum) / (alpha - 1));
}

static void responses_by_their_tables(void **state)
{
    (void)state;
    for (uint32_t n = 2; n < 9; n += 3)
        for (size_t k = 1; k < ORDERS; k++) {
            const double epsilon = 0.2 * n;
            long double p[9], q[9];
            for (uint32_t c = 0; c < n; c++) {
                p[c] = (c == 0 ? expl(epsilon) : 1) / (expl(epsilon) + n - 1);
                q[c] = (c == 1 ? expl(epsilon) : 1) / (expl(epsilon) + n - 1);
            }
            tacit_loss loss = {.kind = TACIT_LOSS_RESPONSE,
                               .sampling = 1,
                               .epsilon = epsilon,
                               .categories = n,
                               .count = 1};
            const double exact = listed(n, p, q, orders[k]);
            close_to(tacit_loss_renyi(&loss, orders[k]), exact, 1e-10, "response", orders[k]);
            loss.kind = TACIT_LOSS_PURE; /* nothing is worse than two categories */
            assert_true(tacit_loss_renyi(&loss, orders[k]) >= exact * (1 - 1e-12));
            /* sampled: the mixture of two answers */
            for (int c = 0; c < 2; c++) {
                p[c] = (c == 0 ? expl(epsilon) : 1) / (expl(epsilon) + 1);
                q[c] = (c == 1 ? expl(epsilon) : 1) / (expl(epsilon) + 1);
            }
            for (int c = 0; c < 2; c++)
                p[c] = 0.9L * q[c] + 0.1L * p[c];
            loss.sampling = 0.1, loss.adjacency = TACIT_ADD_REMOVE;
            const double forward = listed(2, p, q, orders[k]), back = listed(2, q, p, orders[k]);
            close_to(tacit_loss_renyi(&loss, orders[k]), forward, 1e-10, "sampled", orders[k]);
            assert_true(forward >= back);
        }
}

/* Replaced and sampled, the worst is an output that tells nothing with probability 1 - q: then
 * joint convexity is an equality. */
static void convexity_is_met_by_the_worst(void **state)
{
    (void)state;
    const long double q = 0.125L, truth = expl(0.75L) / (1 + expl(0.75L));
    const long double first[] = {1 - q, q * truth, q * (1 - truth)};
    const long double second[] = {1 - q, q * (1 - truth), q * truth};
    const tacit_loss pure = {.kind = TACIT_LOSS_PURE, .sampling = 0.125, .epsilon = 0.75};
    const tacit_loss rho = {.kind = TACIT_LOSS_ZCDP, .sampling = 0.125, .epsilon = 0.25};
    for (size_t k = 1; k < ORDERS; k++) {
        const double a = orders[k];
        close_to(tacit_loss_renyi(&pure, a), listed(3, first, second, a), 1e-10, "pure", a);
        const long double moment = 1 - q + q * expl((a - 1) * (long double)a / 4);
        close_to(tacit_loss_renyi(&rho, a), (double)(logl(moment) / (a - 1)), 1e-10, "zcdp", a);
    }
}

static densities laplace_mixture(long double x, const tacit_loss *l)
{
    const long double q = l->sampling, b = l->noise;
    const long double base = expl(-fabsl(x) / b), far = expl(-fabsl(x - l->shift) / b);
    return (densities){(1 - q) * base + q * far, base};
}

static densities laplace_mixture_last(long double x, const tacit_loss *l)
{
    const densities d = laplace_mixture(x, l);
    return (densities){d.q, d.p};
}

static densities laplace_mixtures(long double x, const tacit_loss *l)
{
    const long double q = l->sampling, b = l->noise, c = l->shift / 2;
    const long double base = (1 - q) * expl(-fabsl(x) / b);
    return (densities){base + q * expl(-fabsl(x + c) / b), base + q * expl(-fabsl(x - c) / b)};
}

static void laplace_by_closed_form_and_sums(void **state)
{
    (void)state;
    static const double scales[] = {0.5, 2, 12};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 1; k < ORDERS; k++) {
            const double a = orders[k], b = scales[i];
            tacit_loss loss = {
                .kind = TACIT_LOSS_LAPLACE, .sampling = 1, .shift = 1, .noise = b, .count = 1};
            const long double w = 2 * (long double)a - 1;
            const double closed = (double)(logl(a / w * expl((a - 1) / (long double)b) +
                                                (a - 1) / w * expl(-a / (long double)b)) /
                                           (a - 1));
            close_to(tacit_loss_renyi(&loss, a), closed, 1e-9, "laplace", a);
            /* on the integers, by adding up: worse than on the line */
            loss.kind = TACIT_LOSS_DISCRETE_LAPLACE, loss.shift = 3, loss.noise = 3 * b;
            const double discrete = slow(laplace_mixture, &loss, a, 200 * b + 10, 1);
            close_to(tacit_loss_renyi(&loss, a), discrete, 1e-8, "discrete laplace", a);
            assert_true(discrete > closed);
            loss.sampling = 0.2, loss.adjacency = TACIT_ADD_REMOVE;
            const double sampled = slow(laplace_mixture, &loss, a, 200 * b + 10, 1);
            close_to(tacit_loss_renyi(&loss, a), sampled, 1e-8, "sampled", a);
            assert_true(sampled >= slow(laplace_mixture_last, &loss, a, 200 * b + 10, 1));
            /* a fine grid is the line, for sampled ones too */
            loss.kind = TACIT_LOSS_LAPLACE, loss.shift = 1, loss.noise = b;
            if (k % 3)
                continue;
            const double step = 1.0 / 128;
            close_to(tacit_loss_renyi(&loss, a), slow(laplace_mixture, &loss, a, 50 * b, step),
                     1e-4, "sampled on the line", a);
            /* replace: a bound */
            loss.adjacency = TACIT_REPLACE;
            assert_true(tacit_loss_renyi(&loss, a) >=
                        slow(laplace_mixtures, &loss, a, 50 * b, step) * (1 - 1e-4));
        }
}

/* A shift of too many steps is coarsened: above the truth, and little. */
static void fine_grids_are_coarsened(void **state)
{
    (void)state;
    for (size_t k = 0; k < ORDERS; k++) {
        tacit_loss loss = {
            .kind = TACIT_LOSS_DISCRETE_LAPLACE, .sampling = 1, .shift = 4096, .noise = 5000};
        const double coarse = tacit_loss_renyi(&loss, orders[k]);
        loss.shift = 4096 * 64, loss.noise = 5000 * 64; /* the same on a finer grid */
        assert_true(tacit_loss_renyi(&loss, orders[k]) == coarse);
        loss.shift -= 63; /* just as many coarse steps */
        assert_true(tacit_loss_renyi(&loss, orders[k]) >= coarse * (1 - 1e-12));
        const tacit_loss line = {
            .kind = TACIT_LOSS_LAPLACE, .sampling = 1, .shift = 4096, .noise = 5000};
        const double limit = tacit_loss_renyi(&line, orders[k]);
        assert_true(coarse >= limit && coarse <= limit * 1.001);
    }
}

/* Nearly equal distributions keep their digits: D = alpha/2 E[loss^2] to first order. */
static void small_losses_keep_their_digits(void **state)
{
    (void)state;
    const double tiny = 1e-7;
    for (size_t k = 0; k < ORDERS; k++) {
        const double a = orders[k], want = a * tiny * tiny / 2;
        const tacit_loss lap = {
            .kind = TACIT_LOSS_LAPLACE, .sampling = 1, .shift = tiny, .noise = 1};
        const tacit_loss pure = {.kind = TACIT_LOSS_PURE, .sampling = 1, .epsilon = tiny};
        const tacit_loss grid = {
            .kind = TACIT_LOSS_DISCRETE_LAPLACE, .sampling = 1, .shift = 100, .noise = 1e9};
        close_to(tacit_loss_renyi(&lap, a), want, 1e-5, "laplace", a);
        close_to(tacit_loss_renyi(&pure, a), want, 1e-5, "pure", a);
        close_to(tacit_loss_renyi(&grid, a), want, 1e-5, "discrete laplace", a);
        const double q = 1e-9;
        const tacit_loss sampled = {.kind = TACIT_LOSS_GAUSSIAN,
                                    .adjacency = TACIT_ADD_REMOVE,
                                    .sampling = q,
                                    .shift = 1,
                                    .noise = 3};
        if (a < 7)
            close_to(tacit_loss_renyi(&sampled, a), a / 2 * q * q * expm1(1.0 / 9), 1e-4, "q", a);
    }
}

static void what_has_no_divergence(void **state)
{
    (void)state;
    const tacit_loss bare = {.kind = TACIT_LOSS_BARE, .sampling = 1};
    const tacit_loss pure = {.kind = TACIT_LOSS_PURE, .sampling = 1, .epsilon = 0.5};
    const tacit_loss rho = {.kind = TACIT_LOSS_ZCDP, .sampling = 1, .epsilon = 0.5};
    tacit_loss still = {.kind = TACIT_LOSS_GAUSSIAN, .sampling = 0.5, .noise = 1};
    assert_true(tacit_loss_renyi(&bare, 2) == INFINITY);
    assert_true(isnan(tacit_loss_renyi(&pure, 1)));
    assert_true(isnan(tacit_loss_renyi(&pure, NAN)));
    assert_true(tacit_loss_renyi(&pure, INFINITY) == 0.5);
    assert_true(tacit_loss_renyi(&rho, 3) == 1.5);
    assert_true(tacit_loss_renyi(&rho, INFINITY) == INFINITY);
    assert_true(tacit_loss_renyi(&still, 3) == 0);
    still.shift = 1;
    assert_true(tacit_loss_renyi(&still, INFINITY) == INFINITY);
}

/* ---- epsilons ---- */

static double epsilon_of(const golden_row *row)
{
    tacit_loss loss[4];
    size_t count;
    tacit_error err = {0};
    double epsilon;
    assert_true(golden_losses(row, loss, &count));
    check_ok(tacit_account_epsilon(TACIT_BY_RDP, loss, count, row->delta, &epsilon, &err), &err);
    return epsilon;
}

/* As good as the best real order found elsewhere, and no worse than any table of orders. */
static void epsilons_at_the_best_order(void **state)
{
    (void)state;
    golden g = golden_read("epsilon.csv");
    int best = 0, tables = 0;
    for (size_t k = 0; k < g.count; k++) {
        const golden_row *row = &g.row[k];
        if (golden_says(row, "real-valued optimal order")) {
            close_to(epsilon_of(row), row->epsilon, 1e-6, row->name, 0);
            best++;
        } else if (golden_says(row, "RDPAccountant") || golden_says(row, "RdpAccountant") ||
                   (golden_says(row, "RDP default orders") &&
                    strcmp(row->mechanism, "laplace_composed") == 0)) {
            if (!(epsilon_of(row) <= row->epsilon * (1 + 1e-6) + 1e-12))
                fail_msg("%s: %.12g, above %.12g", row->name, epsilon_of(row), row->epsilon);
            tables++;
        }
    }
    assert_true(best > 50 && tables > 200);
    golden_free(&g);
}

/* Where squares overflow nothing is claimed, least of all zero. */
static void test_absurd_ratios_are_unbounded(void **state)
{
    (void)state;
    for (int kind = TACIT_LOSS_GAUSSIAN; kind <= TACIT_LOSS_DISCRETE_GAUSSIAN; kind++)
        for (double noise = 1e-300; noise < 1e-90; noise *= 1e20) {
            if (kind != TACIT_LOSS_GAUSSIAN && kind != TACIT_LOSS_DISCRETE_GAUSSIAN)
                continue;
            const tacit_loss loss = {.kind = (tacit_loss_kind)kind,
                                     .adjacency = TACIT_ADD_REMOVE,
                                     .noise = noise,
                                     .shift = 1,
                                     .sampling = 0.5,
                                     .count = 1};
            for (double alpha = 1.5; alpha < 1000; alpha *= 1.9)
                assert_true(tacit_loss_renyi(&loss, alpha) > 1e170);
            assert_true(tacit_loss_renyi(&loss, 2) > 1e170);
            assert_true(tacit_loss_renyi(&loss, 64) > 1e170);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absurd_ratios_are_unbounded),
        cmocka_unit_test(golden_orders_are_met),
        cmocka_unit_test(both_directions_by_slow_sums),
        cmocka_unit_test(replace_by_slow_sums),
        cmocka_unit_test(lattices_by_slow_sums),
        cmocka_unit_test(bounds_take_over_from_above),
        cmocka_unit_test(responses_by_their_tables),
        cmocka_unit_test(convexity_is_met_by_the_worst),
        cmocka_unit_test(laplace_by_closed_form_and_sums),
        cmocka_unit_test(fine_grids_are_coarsened),
        cmocka_unit_test(small_losses_keep_their_digits),
        cmocka_unit_test(what_has_no_divergence),
        cmocka_unit_test(epsilons_at_the_best_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
