/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accountants with closed forms: against values computed elsewhere (tests/golden), against
 * the exact composition of randomized response, and by properties that hold whatever the values:
 * order does not matter, more is never cheaper, splitting a count changes nothing, NAN and
 * INFINITY where account.h says.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "golden.h"
#include "testing.h"

static double ask(tacit_accountant by, const tacit_loss *loss, size_t count, double delta)
{
    tacit_error err = {0};
    double epsilon = -1;
    check_ok(tacit_account_epsilon(by, loss, count, delta, &epsilon, &err), &err);
    return epsilon;
}

static double ask_delta(tacit_accountant by, const tacit_loss *loss, size_t count, double epsilon)
{
    tacit_error err = {0};
    double delta = -1;
    check_ok(tacit_account_delta(by, loss, count, epsilon, &delta, &err), &err);
    return delta;
}

/* Relative distance, one-sided slack below. */
static void near(double got, double want, double below, double above, const golden_row *row)
{
    if (!(got >= want - below * want - 1e-15 && got <= want + above * want + 1e-15))
        fail_msg("%.17g, not %.17g: %s, %s", got, want, row->name, row->source);
}

/* ---- golden values ---- */

/* Closed forms must agree: the accountant whose formula the row has. */
static void closed_forms_agree(void **state)
{
    (void)state;
    golden g = golden_read("epsilon.csv");
    int seen[5] = {0};
    for (size_t k = 0; k < g.count; k++) {
        const golden_row *row = &g.row[k];
        tacit_loss loss[4];
        size_t count;
        if (!golden_losses(row, loss, &count))
            continue;
        if (strncmp(row->mechanism, "gaussian", 8) == 0) {
            /* sigma is printed with 17 digits: so much may be below */
            near(ask(TACIT_BY_GDP, loss, 1, row->delta), row->epsilon, 1e-14, 1e-11, row),
                seen[0]++;
        } else if (golden_says(row, "cdp_eps")) {
            near(ask(TACIT_BY_ZCDP, loss, 1, row->delta), row->epsilon, 1e-9, 1e-9, row), seen[1]++;
        } else if (golden_says(row, "Thm 3.4 min") || golden_says(row, "Thm 3.5 min")) {
            near(ask(TACIT_BY_KOV, loss, count, row->delta), row->epsilon, 1e-14, 1e-12, row);
            seen[2]++;
        } else if (golden_says(row, "\"basic\"")) {
            near(ask(TACIT_BY_SUM, loss, 1, row->delta), row->epsilon, 0, 1e-15, row), seen[3]++;
        } else if (strcmp(row->mechanism, "k_ary_randomized_response") == 0) {
            near(ask(TACIT_BY_SUM, loss, 1, row->delta), row->epsilon, 1e-14, 1e-14, row),
                seen[4]++;
        }
    }
    assert_int_equal(seen[0], 42);
    assert_int_equal(seen[1], 50);
    assert_int_equal(seen[2], 23);
    assert_int_equal(seen[3], 13);
    assert_int_equal(seen[4], 15);
    golden_free(&g);
}

/* No answer of any accountant is below what is known to be true. */
static void nothing_is_below_the_truth(void **state)
{
    (void)state;
    golden g = golden_read("epsilon.csv");
    int seen = 0, spoke[TACIT_ACCOUNTANTS] = {0};
    for (size_t k = 0; k < g.count; k++) {
        const golden_row *row = &g.row[k];
        tacit_loss loss[4];
        size_t count;
        const bool truth = strcmp(row->kind, "lower") == 0 || strcmp(row->kind, "exact") == 0;
        if (!truth || !golden_losses(row, loss, &count))
            continue;
        for (int by = 0; by <= TACIT_BY_RDP; by++) {
            const double epsilon = ask((tacit_accountant)by, loss, count, row->delta);
            if (isnan(epsilon))
                continue;
            spoke[by]++;
            if (!(epsilon >= row->epsilon * (1 - 1e-14)))
                fail_msg("accountant %d: %.17g below %.17g: %s", by, epsilon, row->epsilon,
                         row->name);
        }
        seen++;
    }
    assert_true(seen > 250);
    assert_int_equal(spoke[TACIT_BY_RDP], seen);
    assert_true(spoke[TACIT_BY_KOV] > 80 && spoke[TACIT_BY_ZCDP] > 120);
    golden_free(&g);
}

/* ---- the exact composition of randomized response ---- */

/* log delta(eps) of n0 releases of e0 and n1 of e1, by adding up all outcomes. */
static double exact_log_delta(double e0, int n0, double e1, int n1, double eps)
{
    double most = -INFINITY, sum = 0;
    for (int i = 0; i <= n0; i++)
        for (int j = 0; j <= n1; j++) {
            const double loss = (n0 - 2 * i) * e0 + (n1 - 2 * j) * e1;
            if (loss <= eps)
                continue;
            const double ways = lgamma(n0 + 1) - lgamma(i + 1) - lgamma(n0 - i + 1) +
                                lgamma(n1 + 1) - lgamma(j + 1) - lgamma(n1 - j + 1);
            const double p = -n0 * log1p(exp(-e0)) - i * e0 - n1 * log1p(exp(-e1)) - j * e1;
            const double term = ways + p + log1p(-exp(eps - loss));
            if (term > most) {
                sum = sum * exp(most - term) + 1;
                most = term;
            } else {
                sum += exp(term - most);
            }
        }
    return most + log(sum);
}

/* The second term of theorem 3.5 as it is sometimes printed: sqrt(B / delta). */
static double misprint(double e0, int n0, double e1, int n1, double delta)
{
    const double a = n0 * e0 * tanh(e0 / 2) + n1 * e1 * tanh(e1 / 2);
    const double b = n0 * e0 * e0 + n1 * e1 * e1;
    return a + sqrt(2 * b * log(exp(1) + sqrt(b / delta)));
}

static void kov_holds_where_the_misprint_does_not(void **state)
{
    (void)state;
    static const struct {
        double e0, e1;
        int n0, n1;
    } lists[] = {{0.1, 0, 100, 0},    {0.1, 0, 30, 0},       {0.01, 0, 1000, 0},
                 {0.5, 0, 50, 0},     {0.01, 0.1, 100, 100}, {0.01, 0.1, 20, 200},
                 {0.2, 0.05, 40, 99}, {1, 0.1, 10, 200},     {2, 0, 20, 0}};
    int wrong = 0;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (double exponent = 0.2; exponent < 13; exponent += 0.4) {
            const double delta = pow(10, -exponent);
            const tacit_loss list[] = {{.kind = TACIT_LOSS_PURE,
                                        .sampling = 1,
                                        .epsilon = lists[k].e0,
                                        .count = (uint64_t)lists[k].n0},
                                       {.kind = TACIT_LOSS_PURE,
                                        .sampling = 1,
                                        .epsilon = lists[k].e1,
                                        .count = (uint64_t)lists[k].n1}};
            const double ours = ask(TACIT_BY_KOV, list, 2, delta);
            const double truth =
                exact_log_delta(lists[k].e0, lists[k].n0, lists[k].e1, lists[k].n1, ours);
            if (!(truth <= log(delta)))
                fail_msg("list %zu at delta %g: %g is too small", k, delta, ours);
            const double false_one =
                misprint(lists[k].e0, lists[k].n0, lists[k].e1, lists[k].n1, delta);
            wrong += exact_log_delta(lists[k].e0, lists[k].n0, lists[k].e1, lists[k].n1,
                                     false_one) > log(delta);
        }
    assert_true(wrong > 100);
    for (double delta = 1e-3; delta > 1e-13; delta /= 10) /* at 1e-2 it happens to hold */
        assert_true(exact_log_delta(0.01, 1000, 0, 0, misprint(0.01, 1000, 0, 0, delta)) >
                    log(delta));
    /* The figures of the reference: 4.217 printed, 4.775 exact, 5.756 ours. */
    const tacit_loss hundred = {
        .kind = TACIT_LOSS_PURE, .sampling = 1, .epsilon = 0.1, .count = 100};
    assert_float_equal(misprint(0.1, 100, 0, 0, 1e-6), 4.217, 6e-4);
    assert_true(exact_log_delta(0.1, 100, 0, 0, 4.776) < log(1e-6));
    assert_true(exact_log_delta(0.1, 100, 0, 0, 4.774) > log(1e-6));
    assert_float_equal(ask(TACIT_BY_KOV, &hundred, 1, 1e-6), 5.756, 6e-4);
}

/* The rows that must be rejected are below the exact composition, and ours is not. */
static void invalid_rows_are_rejected(void **state)
{
    (void)state;
    golden g = golden_read("epsilon_extra.csv");
    int seen = 0;
    for (size_t k = 0; k < g.count; k++) {
        tacit_loss l[4];
        size_t count;
        if (strcmp(g.row[k].kind, "invalid") != 0 || !golden_losses(&g.row[k], l, &count))
            continue;
        assert_int_equal(count, 2);
        const int n0 = (int)l[0].count, n1 = (int)l[1].count;
        const double limit = log(g.row[k].delta);
        assert_true(exact_log_delta(l[0].epsilon, n0, l[1].epsilon, n1, g.row[k].epsilon) > limit);
        for (int by = 0; by <= TACIT_BY_RDP; by++) {
            const double ours = ask((tacit_accountant)by, l, 2, g.row[k].delta);
            if (by == TACIT_BY_GDP)
                assert_true(isnan(ours));
            else
                assert_true(exact_log_delta(l[0].epsilon, n0, l[1].epsilon, n1, ours) <= limit);
        }
        seen++;
    }
    assert_int_equal(seen, 4);
    golden_free(&g);
}

/* ---- properties ---- */

static const tacit_loss mixed[] = {
    {.kind = TACIT_LOSS_PURE,
     .adjacency = TACIT_REPLACE,
     .sampling = 1,
     .epsilon = 0.1,
     .count = 7},
    {.kind = TACIT_LOSS_LAPLACE, .sampling = 1, .shift = 1, .noise = 20, .count = 30},
    {.kind = TACIT_LOSS_DISCRETE_LAPLACE, .sampling = 1, .shift = 3, .noise = 50, .count = 11},
    {.kind = TACIT_LOSS_RESPONSE, .sampling = 1, .epsilon = 0.3, .categories = 5, .count = 4},
    {.kind = TACIT_LOSS_GAUSSIAN, .sampling = 1, .shift = 2, .noise = 30, .count = 90},
    {.kind = TACIT_LOSS_DISCRETE_GAUSSIAN, .sampling = 1, .shift = 1, .noise = 9, .count = 20},
    {.kind = TACIT_LOSS_ZCDP, .sampling = 1, .epsilon = 0.001, .count = 12},
    {.kind = TACIT_LOSS_APPROXIMATE, .sampling = 1, .epsilon = 0.05, .delta = 1e-8, .count = 3},
    {.kind = TACIT_LOSS_GAUSSIAN,
     .adjacency = TACIT_ADD_REMOVE,
     .sampling = 0.02,
     .shift = 1,
     .noise = 1.1,
     .count = 200},
};
#define MIXED (sizeof mixed / sizeof *mixed)
/* What each accountant can read of `mixed`, by kind. */
static size_t readable(tacit_accountant by, tacit_loss *out)
{
    size_t n = 0;
    for (size_t k = 0; k < MIXED; k++)
        if (!isnan(ask(by, &mixed[k], 1, 1e-6)))
            out[n++] = mixed[k];
    return n;
}

static void each_reads_what_it_should(void **state)
{
    (void)state;
    static const bool want[][MIXED] = {[TACIT_BY_SUM] = {1, 1, 1, 1, 0, 0, 0, 1, 0},
                                       [TACIT_BY_KOV] = {1, 1, 1, 1, 0, 0, 0, 1, 0},
                                       [TACIT_BY_ZCDP] = {1, 1, 1, 1, 1, 1, 1, 1, 0},
                                       [TACIT_BY_GDP] = {0, 0, 0, 0, 1, 0, 0, 0, 0},
                                       [TACIT_BY_RDP] = {1, 1, 1, 1, 1, 1, 1, 1, 1}};
    for (int by = 0; by <= TACIT_BY_RDP; by++)
        for (size_t k = 0; k < MIXED; k++)
            assert_int_equal(!isnan(ask((tacit_accountant)by, &mixed[k], 1, 1e-6)), want[by][k]);
}

static void order_and_splitting_do_not_matter(void **state)
{
    (void)state;
    dice d = {4};
    for (int by = 0; by <= TACIT_BY_RDP; by++) {
        tacit_loss list[2 * MIXED + 1];
        size_t n = readable((tacit_accountant)by, list);
        const double want = ask((tacit_accountant)by, list, n, 1e-6);
        const double want_delta = ask_delta((tacit_accountant)by, list, n, want);
        for (int round = 0; round < 5; round++) {
            for (size_t k = 0; k < n; k++) { /* the same releases in two entries each */
                list[n + k] = list[k];
                list[n + k].count = dice_below(&d, list[k].count);
                list[k].count -= list[n + k].count;
            }
            for (size_t k = 2 * n; k > 1; k--) {
                const size_t j = dice_below(&d, k);
                const tacit_loss other = list[j];
                list[j] = list[k - 1], list[k - 1] = other;
            }
            assert_true(ask((tacit_accountant)by, list, 2 * n, 1e-6) == want);
            assert_true(ask_delta((tacit_accountant)by, list, 2 * n, want) == want_delta);
            n = readable((tacit_accountant)by, list);
        }
        assert_true(want_delta <= 1e-6 * (1 + 1e-6));
    }
}

/* Fields that a kind does not use are not looked at. */
static void unused_fields_are_ignored(void **state)
{
    (void)state;
    tacit_loss loss[2] = {mixed[0], mixed[0]};
    loss[1].noise = NAN, loss[1].shift = -3, loss[1].categories = 9;
    tacit_loss twice = mixed[0];
    twice.count *= 2;
    for (int by = 0; by <= TACIT_BY_RDP; by++) {
        const double a = ask((tacit_accountant)by, loss, 2, 1e-5);
        const double b = ask((tacit_accountant)by, &twice, 1, 1e-5);
        assert_true(a == b || (isnan(a) && isnan(b)));
    }
}

static void more_costs_more(void **state)
{
    (void)state;
    for (int by = 0; by <= TACIT_BY_RDP; by++) {
        tacit_loss list[MIXED];
        const size_t n = readable((tacit_accountant)by, list);
        double before = 0;
        for (uint64_t times = 1; times < 3000; times *= 3) {
            tacit_loss more[MIXED];
            for (size_t k = 0; k < n; k++) {
                more[k] = list[k];
                more[k].count *= times;
            }
            const double epsilon = ask((tacit_accountant)by, more, n, 1e-4);
            assert_true(epsilon >= before);
            before = epsilon;
        }
        before = INFINITY;
        for (double delta = 1e-7; delta < 1; delta *= 2.5) {
            const double epsilon = ask((tacit_accountant)by, list, n, delta);
            assert_true(epsilon <= before * (1 + 1e-12));
            before = epsilon;
            /* delta is the inverse of epsilon */
            if (by != TACIT_BY_SUM && epsilon > 0) {
                const double back = ask_delta((tacit_accountant)by, list, n, epsilon);
                assert_true(back <= delta * (1 + 1e-9));
                if (by == TACIT_BY_GDP || by == TACIT_BY_ZCDP)
                    assert_true(back >= delta * (1 - 1e-6));
            }
        }
    }
}

/* More noise, less shift, less sampling, smaller epsilon: each cheaper. */
static void milder_losses_cost_less(void **state)
{
    (void)state;
    for (int by = 0; by <= TACIT_BY_RDP; by++)
        for (size_t k = 0; k < MIXED; k++) {
            const double whole = ask((tacit_accountant)by, &mixed[k], 1, 1e-6);
            if (isnan(whole))
                continue;
            tacit_loss milder = mixed[k];
            milder.noise *= 1.1, milder.epsilon *= 0.9;
            assert_true(ask((tacit_accountant)by, &milder, 1, 1e-6) < whole);
            milder = mixed[k], milder.sampling *= 0.5, milder.adjacency = TACIT_ADD_REMOVE;
            const double sampled = ask((tacit_accountant)by, &milder, 1, 1e-6);
            assert_true(isnan(sampled) || sampled < whole);
        }
}

static void infinity_where_nothing_finite_exists(void **state)
{
    (void)state;
    tacit_loss list[] = {mixed[4], {.kind = TACIT_LOSS_BARE, .sampling = 1, .count = 1}};
    for (int by = 0; by <= TACIT_BY_RDP; by++) {
        const tacit_accountant a = (tacit_accountant)by;
        assert_true(ask(a, list, 2, 0.1) == INFINITY);
        assert_true(ask_delta(a, list, 2, 3) == 1);
        assert_true(ask(a, list, 0, 0) == 0);
        assert_true(ask_delta(a, list, 0, 0) == 0);
    }
    list[1].count = 0; /* never released: not there */
    assert_true(isfinite(ask(TACIT_BY_GDP, list, 2, 0.1)));
    assert_true(isnan(ask(TACIT_BY_SUM, list, 2, 0.1)));
    for (int by = TACIT_BY_ZCDP; by <= TACIT_BY_RDP; by++)
        assert_true(ask((tacit_accountant)by, list, 1, 0) == INFINITY);
    assert_true(ask(TACIT_BY_RDP, &mixed[0], 1, 0) == ask(TACIT_BY_SUM, &mixed[0], 1, 0));
    /* deltas of releases eat the budget's */
    tacit_loss approximate = mixed[7];
    approximate.count = 101;
    for (int by = 0; by <= TACIT_BY_RDP; by++)
        if (by != TACIT_BY_GDP) {
            assert_true(ask((tacit_accountant)by, &approximate, 1, 1e-6) == INFINITY);
            assert_true(isfinite(ask((tacit_accountant)by, &approximate, 1, 1.02e-6)));
        }
    tacit_loss bell = mixed[4];
    bell.delta = 1e-9;
    bell.count = 1000;
    assert_true(ask(TACIT_BY_GDP, &bell, 1, 1e-6 * (1 - 1e-12)) == INFINITY);
    tacit_loss exact = bell;
    exact.delta = 0;
    assert_true(ask(TACIT_BY_GDP, &bell, 1, 1e-5) >= ask(TACIT_BY_GDP, &exact, 1, 9e-6));
}

/* ---- sums, gdp: digits ---- */

static void sums_are_rounded_up(void **state)
{
    (void)state;
    const tacit_loss tenths = {
        .kind = TACIT_LOSS_PURE, .sampling = 1, .epsilon = 0.1, .count = 1000000001};
    const double sum = ask(TACIT_BY_SUM, &tenths, 1, 0);
    assert_true((long double)sum >= 1000000001 * (long double)0.1);
    assert_true(nextafter(sum, 0) < 1000000001 * (long double)0.1);
    /* pure amplification */
    tacit_loss sampled = {.kind = TACIT_LOSS_PURE,
                          .adjacency = TACIT_ADD_REMOVE,
                          .sampling = 0.01,
                          .epsilon = 2,
                          .count = 1};
    assert_float_equal(ask(TACIT_BY_SUM, &sampled, 1, 0), 0.0619325294163318134, 1e-14);
    sampled.epsilon = 1000; /* e^1000 overflows */
    assert_float_equal(ask(TACIT_BY_SUM, &sampled, 1, 0), 1000 + log(0.01), 1e-10);
    sampled.adjacency = TACIT_REPLACE; /* nothing is known to be gained */
    assert_true(ask(TACIT_BY_SUM, &sampled, 1, 0) == 1000);
    const tacit_loss lap = {.kind = TACIT_LOSS_LAPLACE,
                            .adjacency = TACIT_REPLACE,
                            .sampling = 0.1,
                            .shift = 2,
                            .noise = 1,
                            .count = 1};
    /* the ratio of the two mixtures is largest left of both peaks */
    const double ratio = (0.9 + 0.1 * exp(1)) / (0.9 + 0.1 * exp(-1));
    assert_float_equal(ask(TACIT_BY_SUM, &lap, 1, 0), log(ratio), 1e-14);
}

/* Solved elsewhere with 60 digits. */
static void gdp_is_exact_over_all_scales(void **state)
{
    (void)state;
    static const struct {
        double mu, delta, epsilon;
    } want[] = {
        {5e-06, 1e-07, 8.3152633434841967706e-6}, {1e-05, 1e-08, 0.000027178096508871449886},
        {1e-05, 3e-06, 2.1651428160399418747e-6}, {0.001, 1e-05, 0.0019387249698601099812},
        {0.001, 1e-30, 0.01063042467940325622},   {0.05, 1e-06, 0.18921317272644961844},
        {0.05, 0.01, 0.025041110444832025251},    {0.3, 1e-09, 1.6912523121961990834},
        {1.0, 1e-05, 4.3771780956812246086},      {1.0, 1e-200, 30.591649916020485236},
        {3.0, 0.5, 3.5292757809317399027},        {7.5, 1e-12, 80.179174404570790476},
        {40.0, 1e-06, 989.19222071767355371},     {200.0, 1e-05, 20851.988679700928076},
        {446.0, 1e-09, 102132.02859462892511},    {0.19, 0.07, 0.012582015576651128695},
        {0.01, 1e-300, 0.36829899001380948472},
    };
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        const tacit_loss bell = {.kind = TACIT_LOSS_GAUSSIAN,
                                 .sampling = 1,
                                 .shift = want[k].mu,
                                 .noise = 1,
                                 .count = 1};
        const double epsilon = ask(TACIT_BY_GDP, &bell, 1, want[k].delta);
        if (!(epsilon >= want[k].epsilon && epsilon <= want[k].epsilon * (1 + 1e-12)))
            fail_msg("mu %g, delta %g: %.17g, not %.17g", want[k].mu, want[k].delta, epsilon,
                     want[k].epsilon);
    }
}

/* Many small Gaussians are one large one. */
static void gaussians_compose_to_one(void **state)
{
    (void)state;
    const tacit_loss many[] = {
        {.kind = TACIT_LOSS_GAUSSIAN, .sampling = 1, .shift = 3, .noise = 10, .count = 100},
        {.kind = TACIT_LOSS_GAUSSIAN, .sampling = 1, .shift = 4, .noise = 1, .count = 1}};
    const tacit_loss one = {
        .kind = TACIT_LOSS_GAUSSIAN, .sampling = 1, .shift = 5, .noise = 1, .count = 1};
    assert_float_equal(ask(TACIT_BY_GDP, many, 2, 1e-6), ask(TACIT_BY_GDP, &one, 1, 1e-6), 1e-12);
    assert_float_equal(ask(TACIT_BY_ZCDP, many, 2, 1e-6), ask(TACIT_BY_ZCDP, &one, 1, 1e-6), 1e-11);
    assert_float_equal(ask(TACIT_BY_RDP, many, 2, 1e-6), ask(TACIT_BY_RDP, &one, 1, 1e-6), 1e-10);
}

/* What stands for what in concentrated DP. */
static void rho_of_each_kind(void **state)
{
    (void)state;
    const tacit_loss rho = {.kind = TACIT_LOSS_ZCDP, .sampling = 1, .epsilon = 0.125, .count = 9};
    const double want = ask(TACIT_BY_ZCDP, &rho, 1, 1e-6);
    for (int kind = TACIT_LOSS_PURE; kind < TACIT_LOSS_KINDS; kind++) {
        const tacit_loss same = {.kind = (tacit_loss_kind)kind,
                                 .sampling = 1,
                                 .epsilon = kind == TACIT_LOSS_ZCDP ? 0.125 : 0.5,
                                 .shift = 1,
                                 .noise = 2,
                                 .categories = 3,
                                 .count = 9};
        assert_true(ask(TACIT_BY_ZCDP, &same, 1, 1e-6) == want);
    }
}

/* ---- bad input ---- */

static void nonsense_is_refused(void **state)
{
    (void)state;
    const tacit_loss good = mixed[8];
    static const double bad[] = {NAN, -1, INFINITY, -INFINITY};
    tacit_error err = {0};
    for (size_t k = 0; k < 4; k++) {
        tacit_loss loss = good;
        loss.noise = bad[k];
        check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "\"noise\"");
        loss = good, loss.shift = bad[k];
        check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "\"shift\"");
        loss = good, loss.sampling = bad[k];
        check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "\"sampling\"");
        loss = good, loss.delta = bad[k];
        check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "\"delta\"");
        loss = mixed[0], loss.epsilon = bad[k];
        check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "\"epsilon\"");
        double out;
        check_fails(tacit_account_epsilon(TACIT_BY_RDP, &good, 1, bad[k], &out, &err), TACIT_EINPUT,
                    &err, "\"delta\"");
        check_fails(tacit_account_delta(TACIT_BY_RDP, &good, 1, bad[k], &out, &err), TACIT_EINPUT,
                    &err, "\"epsilon\"");
    }
    tacit_loss loss = good;
    loss.noise = 0;
    check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "above 0");
    loss = good, loss.sampling = 0;
    check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "\"sampling\"");
    loss.sampling = 1.0000001;
    check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "at most 1");
    loss = good, loss.count = UINT64_MAX;
    check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "\"count\"");
    loss = mixed[3], loss.categories = 1;
    check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "\"categories\"");
    loss = mixed[2], loss.shift = 1.5;
    check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "whole number");
    loss = mixed[5], loss.shift = 1e300;
    check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "2^53");
    loss = good, loss.kind = TACIT_LOSS_KINDS;
    check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "kind");
    loss = good, loss.adjacency = (tacit_adjacency)7;
    check_fails(tacit_loss_check(&loss, &err), TACIT_EINPUT, &err, "\"adjacency\"");
    check_ok(tacit_loss_check(&good, &err), &err);
}

static void the_door_refuses_too(void **state)
{
    (void)state;
    tacit_error err = {0};
    double out;
    check_fails(tacit_account_epsilon(TACIT_BY_SUM, mixed, 1, 1, &out, &err), TACIT_EINPUT, &err,
                "below 1");
    check_fails(tacit_account_epsilon(TACIT_ACCOUNTANTS, mixed, 1, 0.1, &out, &err), TACIT_EINPUT,
                &err, "accountant");
    check_fails(tacit_account_optimistic(mixed, 1, NAN, &out, &err), TACIT_EINPUT, &err, "delta");
    tacit_loss list[] = {mixed[0], mixed[8]};
    list[1].count = 0, list[1].noise = NAN; /* checked although it never happened */
    check_fails(tacit_account_epsilon(TACIT_BY_SUM, list, 2, 0.1, &out, &err), TACIT_EINPUT, &err,
                "\"noise\"");
    tacit_loss huge[] = {mixed[0], mixed[1], mixed[0]}; /* equal ones are found and merged */
    huge[0].count = huge[2].count = UINT64_C(1) << 53;
    check_fails(tacit_account_epsilon(TACIT_BY_SUM, huge, 3, 0.1, &out, &err), TACIT_EINPUT, &err,
                "2^53");
    huge[2].noise = 7; /* which says nothing about a pure loss */
    check_fails(tacit_account_epsilon(TACIT_BY_SUM, huge, 3, 0.1, &out, &err), TACIT_EINPUT, &err,
                "2^53");
}

/* Extremes give some answer, quickly, and never a NaN by accident. */
static void extremes_are_survived(void **state)
{
    (void)state;
    static const double sizes[] = {1e-300, 1e-9, 1e-3, 1, 1e3, 1e9, 1e300};
    static const double rates[] = {1e-300, 1e-6, 0.3, 1};
    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 4; j++)
            for (int kind = TACIT_LOSS_PURE; kind < TACIT_LOSS_KINDS; kind++)
                for (int adjacency = 0; adjacency < 2; adjacency++) {
                    const tacit_loss loss = {.kind = (tacit_loss_kind)kind,
                                             .adjacency = (tacit_adjacency)adjacency,
                                             .noise = sizes[i],
                                             .epsilon = sizes[i],
                                             .categories = 3,
                                             .shift = 2,
                                             .sampling = rates[j],
                                             .count = 1 + 1000 * i};
                    const double epsilon = ask(TACIT_BY_RDP, &loss, 1, 1e-5);
                    assert_true(epsilon >= 0);
                    const double delta = ask_delta(TACIT_BY_RDP, &loss, 1, 1);
                    assert_true(delta >= 0 && delta <= 1);
                    for (int by = 0; by < TACIT_BY_RDP; by++) {
                        const double e = ask((tacit_accountant)by, &loss, 1, 1e-5);
                        assert_true(isnan(e) || e >= 0);
                    }
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms_agree),
        cmocka_unit_test(nothing_is_below_the_truth),
        cmocka_unit_test(kov_holds_where_the_misprint_does_not),
        cmocka_unit_test(invalid_rows_are_rejected),
        cmocka_unit_test(each_reads_what_it_should),
        cmocka_unit_test(order_and_splitting_do_not_matter),
        cmocka_unit_test(unused_fields_are_ignored),
        cmocka_unit_test(more_costs_more),
        cmocka_unit_test(milder_losses_cost_less),
        cmocka_unit_test(infinity_where_nothing_finite_exists),
        cmocka_unit_test(sums_are_rounded_up),
        cmocka_unit_test(gdp_is_exact_over_all_scales),
        cmocka_unit_test(gaussians_compose_to_one),
        cmocka_unit_test(rho_of_each_kind),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(the_door_refuses_too),
        cmocka_unit_test(extremes_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
