/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Audits without a mechanism: bounds from counts against values computed elsewhere and against
 * slow sums, and the driver's promises (any number of threads, first failure, stopping).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tacit/audit.h"
#include "testing.h"

/* ---- tests/golden/audit_vectors.csv ---- */

/* The number behind ""key"": in a quoted JSON object. */
static double field(const char *row, const char *key)
{
    char name[32];
    snprintf(name, sizeof name, "\"\"%s\"\": ", key);
    const char *at = strstr(row, name);
    assert_non_null(at);
    return strtod(at + strlen(name), NULL);
}

static uint64_t whole(const char *row, const char *key)
{
    return (uint64_t)field(row, key);
}

static double ours(const char *row)
{
    if (strncmp(row, "steinke23_pvalue,", 17) == 0)
        return tacit_audit_one_run_p(whole(row, "m"), whole(row, "r"), whole(row, "v"),
                                     field(row, "eps"), field(row, "delta"));
    if (strncmp(row, "steinke23_eps_lower_p0.05,", 26) == 0)
        return tacit_audit_one_run(whole(row, "m"), whole(row, "r"), whole(row, "v"),
                                   field(row, "delta"), 0.05);
    const tacit_guesses g = {.fp = whole(row, "fp"),
                             .n0 = whole(row, "n0"),
                             .fn = whole(row, "fn"),
                             .n1 = whole(row, "n1")};
    if (strncmp(row, "jagielski20_cp_eps_lower_0.95,", 30) == 0)
        return tacit_audit_clopper_pearson(&g, field(row, "delta"), 0.95);
    assert_int_equal(strncmp(row, "nasr23_gdp_eps_lower_0.95,", 26), 0);
    return tacit_audit_trade_off(&g, TACIT_CURVE_GAUSSIAN, field(row, "delta"), 0.95);
}

static void golden_values_are_met(void **state)
{
    (void)state;
    char path[600], row[400];
    snprintf(path, sizeof path, "%s/tests/golden/audit_vectors.csv", getenv("TACIT_SOURCE_DIR"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(row, sizeof row, file));
    int rows = 0;
    for (; fgets(row, sizeof row, file); rows++) {
        const double want = strtod(strrchr(row, ',') + 1, NULL), got = ours(row);
        /* The lower bounds there come from 30 halvings. */
        const double near = strstr(row, "eps_lower") ? 2e-8 : 1e-9 * want;
        if (!(fabs(got - want) <= near))
            fail_msg("%.17g, not %.17g: %s", got, want, row);
    }
    assert_int_equal(rows, 72);
    fclose(file);
}

/* ---- bounds against what they are made of ---- */

/* P(Bin(n, p) <= k) by adding up, from a ratio of neighbours. */
static double slow_cdf(uint64_t k, uint64_t n, double p)
{
    double term = pow(1 - p, (double)n), sum = term;
    for (uint64_t i = 0; i < k; i++) {
        term *= (double)(n - i) / (double)(i + 1) * p / (1 - p);
        sum += term;
    }
    return sum;
}

/* The pooled bound is where seeing so few errors among 2n becomes likelier than 1 - confidence. */
static void pooled_bound_inverts_the_binomial(void **state)
{
    (void)state;
    for (uint64_t errors = 0; errors < 80; errors += 7) {
        const tacit_guesses g = {.fp = errors / 3, .n0 = 100, .fn = errors - errors / 3, .n1 = 100};
        const double e = tacit_audit_trade_off_pooled(&g, TACIT_CURVE_LAPLACE, 0, 0.95);
        const double rate = 0.5 * exp(-e / 2); /* error rate of the best test at that shift */
        assert_true(fabs(slow_cdf(errors, 200, rate) - 0.05) < 1e-9);
    }
}

/* With an error rate known without doubt each formula must give back the shift it came from. */
static void curves_are_those_of_the_noise(void **state)
{
    (void)state;
    const uint64_t n = UINT64_C(1) << 50;
    for (double shift = 0.25; shift < 6; shift *= 1.5)
        for (double at = -1; at <= 2; at += 0.5) { /* threshold, in units of the noise */
            const double fp = at > 0 ? 0.5 * exp(-at) : 1 - 0.5 * exp(at);
            const double miss = at - shift;
            const double fn = miss < 0 ? 0.5 * exp(miss) : 1 - 0.5 * exp(-miss);
            const tacit_guesses g = {.fp = (uint64_t)(fp * (double)n),
                                     .n0 = n,
                                     .fn = (uint64_t)(fn * (double)n),
                                     .n1 = n};
            const double e = tacit_audit_trade_off(&g, TACIT_CURVE_LAPLACE, 0, 0.95);
            assert_true(fabs(e - shift) < 1e-4);
            /* Pure DP knows less: log((1 - fn) / fp) is the shift only beyond both centres. */
            const double pure = tacit_audit_clopper_pearson(&g, 0, 0.95);
            assert_true(pure <= shift + 1e-4);
            if (at >= shift || at <= 0)
                assert_true(fabs(pure - shift) < 1e-4);
        }
}

/* ---- how often each bound is wrong, exactly ---- */

static double binomial(uint64_t k, uint64_t n, double p)
{
    return slow_cdf(k, n, p) - (k ? slow_cdf(k - 1, n, p) : 0);
}

typedef double bound_function(const tacit_guesses *g, double delta, double confidence);

static double ratio(const tacit_guesses *g, double delta, double confidence)
{
    return tacit_audit_ratio(g, false, delta, confidence);
}
static double mirrored(const tacit_guesses *g, double delta, double confidence)
{
    return tacit_audit_ratio(g, true, delta, confidence);
}
static double laplace_pooled(const tacit_guesses *g, double delta, double confidence)
{
    return tacit_audit_trade_off_pooled(g, TACIT_CURVE_LAPLACE, delta, confidence);
}
static double laplace_separate(const tacit_guesses *g, double delta, double confidence)
{
    return tacit_audit_trade_off(g, TACIT_CURVE_LAPLACE, delta, confidence);
}

/* The probability that the bound of 25 + 25 trials is above `truth`. */
static double error_of(bound_function *bound, double fpr, double fnr, double delta, double truth)
{
    enum { N = 25 };
    double wrong = 0;
    for (uint64_t fp = 0; fp <= N; fp++)
        for (uint64_t fn = 0; fn <= N; fn++) {
            const tacit_guesses g = {.fp = fp, .n0 = N, .fn = fn, .n1 = N};
            const double chance = binomial(fp, N, fpr) * binomial(fn, N, fnr);
            if (chance > 1e-9 && bound(&g, delta, 0.9) > truth + 1e-9)
                wrong += chance;
        }
    return wrong;
}

/* Over all outcomes: no bound is wrong with more than 1 - confidence, and none is so shy that it
 * never errs (they could all be zero). */
static void bounds_err_as_often_as_they_may(void **state)
{
    (void)state;
    const double delta = 0.01;
    double worst[5] = {0};
    for (double at = -1.5; at <= 2.5; at += 0.5)
        for (double shift = 0.3; shift < 3; shift *= 2) {
            const double fpr = at > 0 ? 0.5 * exp(-at) : 1 - 0.5 * exp(at), miss = at - shift;
            const double fnr = miss < 0 ? 0.5 * exp(miss) : 1 - 0.5 * exp(-miss);
            const double up = log((1 - fnr - delta) / fpr), down = log((1 - fpr - delta) / fnr);
            const double error[5] = {
                error_of(tacit_audit_clopper_pearson, fpr, fnr, delta, fmax(0, fmax(up, down))),
                error_of(ratio, fpr, fnr, delta, fmax(0, up)),
                error_of(mirrored, fpr, fnr, delta, fmax(0, down)),
                error_of(laplace_separate, fpr, fnr, 0, shift),
                error_of(laplace_pooled, fpr, fnr, 0, shift),
            };
            for (int k = 0; k < 5; k++) {
                assert_true(error[k] <= 0.1);
                worst[k] = fmax(worst[k], error[k]);
            }
        }
    for (int k = 0; k < 5; k++) {
        print_message("wrong with %.4f\n", worst[k]);
        assert_true(worst[k] > 0.001);
    }
}

/* The rate at which seeing so few becomes as unlikely as `miss`, by halving. */
static double slow_rate_above(uint64_t k, uint64_t n, double miss)
{
    double low = 0, high = 1;
    for (int step = 0; step < 100; step++) {
        const double middle = (low + high) / 2;
        *(slow_cdf(k, n, middle) > miss ? &low : &high) = middle;
    }
    return low;
}

/* P(X1 >= x1 | x0 + x1) from products of binomial coefficients. */
static double slow_tail(uint64_t x1, uint64_t n1, uint64_t x0, uint64_t n0, double psi)
{
    const uint64_t total = x0 + x1;
    double all = 0, beyond = 0;
    for (uint64_t k = total > n0 ? total - n0 : 0; k <= n1 && k <= total; k++) {
        const double other = (double)(total - k);
        const double term =
            exp(lgamma((double)n1 + 1) - lgamma((double)k + 1) - lgamma((double)(n1 - k) + 1) +
                lgamma((double)n0 + 1) - lgamma(other + 1) - lgamma((double)n0 - other + 1) +
                (double)k * log(psi) - 100);
        all += term;
        beyond += k >= x1 ? term : 0;
    }
    return beyond / all;
}

/* Undo what the ratio does beside the odds, and the tail must be what was left for it. */
static void ratio_inverts_the_hypergeometric(void **state)
{
    (void)state;
    const uint64_t n1 = 60, n0 = 80;
    const double delta = 0.001, spare = 0.1 * 0.1 / 3;
    for (uint64_t x1 = 20; x1 <= 50; x1 += 10)
        for (uint64_t x0 = 2; x0 <= 12; x0 += 5) {
            const tacit_guesses g = {.fp = x0, .n0 = n0, .fn = n1 - x1, .n1 = n1};
            const double e = tacit_audit_ratio(&g, false, delta, 0.9);
            const double p1_above = slow_rate_above(x1, n1, spare);
            const double p1_below = 1 - slow_rate_above(n1 - x1, n1, spare);
            const double p0_below = 1 - slow_rate_above(n0 - x0, n0, spare);
            const double odds = e - log1p(-p1_above) + log1p(-p0_below) - log1p(-delta / p1_below);
            if (e > 0)
                assert_true(fabs(slow_tail(x1, n1, x0, n0, exp(odds)) - 0.09) < 1e-7);
        }
}

/* In the tail, where few trials are said to have the canary, the ratio is tighter. */
static void ratio_beats_two_bounds_in_the_tail(void **state)
{
    (void)state;
    const tacit_guesses g = {.fp = 287, .n0 = 10000, .fn = 9487, .n1 = 10000};
    const double two = tacit_audit_clopper_pearson(&g, 1e-5, 0.95);
    const double one = tacit_audit_ratio(&g, false, 1e-5, 0.95);
    assert_true(one > two + 0.04 && one < log(513.0 / 287));
    const tacit_guesses turned = {.fp = 9487, .n0 = 10000, .fn = 287, .n1 = 10000};
    assert_true(fabs(tacit_audit_ratio(&turned, true, 1e-5, 0.95) - one) < 1e-12);
    assert_true(tacit_audit_ratio(&g, true, 1e-5, 0.95) < 0.1);
    /* Nothing said, everything said, no errors: a number, never NaN. */
    const tacit_guesses ends[] = {
        {0, 50, 50, 50}, {50, 50, 0, 50}, {0, 50, 0, 50}, {50, 50, 50, 50}};
    for (int k = 0; k < 4; k++)
        for (int turn = 0; turn < 2; turn++)
            assert_true(tacit_audit_ratio(&ends[k], turn, 1e-5, 0.95) >= 0);
    const tacit_guesses bad = {51, 50, 0, 50};
    assert_true(isnan(tacit_audit_ratio(&bad, false, 0, 0.95)));
}

static void absurd_counts_have_no_bound(void **state)
{
    (void)state;
    const tacit_guesses good = {1, 100, 2, 100};
    tacit_guesses bad = good;
    bad.fp = 101;
    assert_true(isnan(tacit_audit_clopper_pearson(&bad, 0, 0.95)));
    assert_true(isnan(tacit_audit_trade_off(&bad, TACIT_CURVE_GAUSSIAN, 1e-5, 0.95)));
    bad = (tacit_guesses){0, 0, 0, 100};
    assert_true(isnan(tacit_audit_clopper_pearson(&bad, 0, 0.95)));
    assert_true(isnan(tacit_audit_clopper_pearson(&good, NAN, 0.95)));
    assert_true(isnan(tacit_audit_clopper_pearson(&good, 0, 1)));
    assert_true(isnan(tacit_audit_clopper_pearson(&good, 0, NAN)));
    assert_true(isnan(tacit_audit_trade_off(&good, TACIT_CURVE_NONE, 0, 0.95)));
    assert_true(isnan(tacit_audit_trade_off_pooled(&good, TACIT_CURVE_LAPLACE, 0, 0.5)));
    bad = (tacit_guesses){1, 100, 2, 99};
    assert_true(isnan(tacit_audit_trade_off_pooled(&bad, TACIT_CURVE_LAPLACE, 0, 0.95)));
    assert_true(isnan(tacit_audit_one_run_p(10, 11, 5, 1, 0)));
    assert_true(isnan(tacit_audit_one_run_p(10, 10, 11, 1, 0)));
    assert_true(isnan(tacit_audit_one_run_p(10, 10, 5, -1, 0)));
    assert_true(isnan(tacit_audit_one_run(10, 10, 5, NAN, 0.05)));
    /* Guesses no better than a coin show nothing. */
    const tacit_guesses coin = {500, 1000, 500, 1000};
    assert_true(tacit_audit_clopper_pearson(&coin, 0, 0.95) == 0);
    assert_true(tacit_audit_trade_off(&coin, TACIT_CURVE_GAUSSIAN, 1e-5, 0.95) == 0);
    assert_true(tacit_audit_trade_off_pooled(&coin, TACIT_CURVE_GAUSSIAN, 1e-5, 0.95) == 0);
    assert_true(tacit_audit_one_run(100, 100, 50, 0, 0.05) == 0);
    assert_true(tacit_audit_one_run(100, 0, 0, 0, 0.05) == 0);
}

/* ---- the driver ---- */

typedef struct scene {
    double shift;
    uint64_t fails_at, fails_too; /* trials; 0: none */
    tacit_stop stop;
    uint64_t stop_at;
    uint32_t threads;
    _Atomic uint64_t seen;
} scene;

static tacit_status normal_score(void *ctx, const tacit_audit_trial *trial, double *score,
                                 tacit_error *err)
{
    scene *s = ctx;
    assert_true(trial->worker < s->threads);
    s->seen++;
    if (s->stop_at && trial->number >= s->stop_at)
        s->stop = 1;
    if (trial->with && (trial->number == s->fails_at || trial->number == s->fails_too) &&
        trial->number)
        return tacit_fail(err, TACIT_EINPUT, "trial %llu went wrong",
                          (unsigned long long)trial->number);
    *score = tacit_stream_normal(trial->stream) + (trial->with ? s->shift : 0);
    return TACIT_OK;
}

static tacit_audit_plan plan_of(scene *s, uint64_t trials, uint32_t threads)
{
    s->threads = threads;
    return (tacit_audit_plan){.trials = trials,
                              .delta = 1e-5,
                              .confidence = 0.95,
                              .curve = TACIT_CURVE_GAUSSIAN,
                              .seed = 11,
                              .threads = threads,
                              .stop = &s->stop};
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_audit one, many;
    scene s = {.shift = 1};
    tacit_audit_plan plan = plan_of(&s, 300, 1);
    check_ok(tacit_audit_run(&one, &plan, normal_score, &s, &err), &err);
    assert_int_equal(s.seen, 2 * (300 + 150));
    assert_int_equal(one.pilot, 150);
    plan = plan_of(&s, 300, 4);
    check_ok(tacit_audit_run(&many, &plan, normal_score, &s, &err), &err);
    assert_memory_equal(one.with, many.with, 450 * sizeof(double));
    assert_memory_equal(one.without, many.without, 450 * sizeof(double));
    assert_true(one.trade_off.epsilon == many.trade_off.epsilon);
    assert_true(one.clopper_pearson.epsilon == many.clopper_pearson.epsilon);
    /* With and without the canary the noise is not the same, nor from trial to trial. */
    for (int k = 0; k < 449; k++)
        assert_true(one.with[k] - one.without[k] != 1 && one.with[k] != one.with[k + 1]);
    tacit_audit_clear(&one);
    tacit_audit_clear(&many);
}

static void first_failure_is_told(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        scene s = {.fails_at = 9, .fails_too = 8};
        tacit_error err = {0};
        tacit_audit audit;
        tacit_audit_plan plan = plan_of(&s, 100, threads);
        check_fails(tacit_audit_run(&audit, &plan, normal_score, &s, &err), TACIT_EINPUT, &err,
                    "trial 8 went wrong");
        tacit_audit_clear(&audit);
    }
}

static void it_stops_when_told(void **state)
{
    (void)state;
    scene s = {.stop_at = 20};
    tacit_error err = {0};
    tacit_audit audit;
    tacit_audit_plan plan = plan_of(&s, 100000, 2);
    assert_int_equal(tacit_audit_run(&audit, &plan, normal_score, &s, &err), TACIT_EINTERRUPTED);
    assert_true(s.seen < 100);
    tacit_audit_clear(&audit);
}

static void absurd_plans_are_refused(void **state)
{
    (void)state;
    scene s = {0};
    tacit_error err = {0};
    tacit_audit audit;
    tacit_audit_plan plan = plan_of(&s, 0, 1);
    check_fails(tacit_audit_run(&audit, &plan, normal_score, &s, &err), TACIT_EINPUT, &err,
                "at least one trial");
    plan = plan_of(&s, UINT64_MAX, 1);
    check_fails(tacit_audit_run(&audit, &plan, normal_score, &s, &err), TACIT_EINPUT, &err,
                "at most");
    plan = plan_of(&s, 10, 1);
    plan.confidence = 1;
    check_fails(tacit_audit_run(&audit, &plan, normal_score, &s, &err), TACIT_EINPUT, &err,
                "confidence");
    plan.confidence = NAN;
    check_fails(tacit_audit_run(&audit, &plan, normal_score, &s, &err), TACIT_EINPUT, &err,
                "confidence");
    plan.confidence = 0.95;
    plan.delta = -1;
    check_fails(tacit_audit_run(&audit, &plan, normal_score, &s, &err), TACIT_EINPUT, &err,
                "delta");
    assert_int_equal(s.seen, 0);
    tacit_audit_clear(&audit);
}

/* The threshold comes from the pilot: trials that look different cannot choose their own. */
static void trials_do_not_choose_the_threshold(void **state)
{
    (void)state;
    enum { PILOT = 100, TRIALS = 200 };
    double with[PILOT + TRIALS], without[PILOT + TRIALS];
    for (int k = 0; k < PILOT + TRIALS; k++) {
        without[k] = k < PILOT ? 0 : 10;
        with[k] = k < PILOT ? 1 : 9;
    }
    tacit_audit audit = {.pilot = PILOT,
                         .trials = TRIALS,
                         .with = with,
                         .without = without,
                         .delta = 1e-5,
                         .confidence = 0.95};
    tacit_error err = {0};
    check_ok(tacit_audit_find(&audit, TACIT_CURVE_GAUSSIAN, &err), &err);
    assert_true(audit.clopper_pearson.epsilon == 0 && audit.trade_off.epsilon == 0);
    assert_int_equal(audit.trade_off.guesses.fp, TRIALS);
    assert_true(audit.trade_off.threshold == 0 && audit.trade_off.above);
    /* In either direction: with the canary the scores may be lower. */
    for (int k = 0; k < PILOT + TRIALS; k++) {
        without[k] = 5;
        with[k] = 4;
    }
    check_ok(tacit_audit_find(&audit, TACIT_CURVE_GAUSSIAN, &err), &err);
    assert_false(audit.trade_off.above);
    assert_true(audit.trade_off.guesses.fp == 0 && audit.trade_off.guesses.fn == 0);
    assert_true(audit.clopper_pearson.epsilon > 3 && audit.trade_off.epsilon > 20);
    /* Alone at 0.95, both together at 0.95. */
    const tacit_guesses *g = &audit.trade_off.guesses;
    for (int both = 0; both < 2; both++) {
        const double c = both ? 0.975 : 0.95;
        const double pearson = tacit_audit_clopper_pearson(g, 1e-5, c);
        const double curve = tacit_audit_trade_off_pooled(g, TACIT_CURVE_GAUSSIAN, 1e-5, c);
        const tacit_audit_bound *b = &audit.clopper_pearson, *t = &audit.trade_off;
        assert_true(fabs((both ? b->together : b->epsilon) - pearson) < 1e-12);
        assert_true(fabs((both ? t->together : t->epsilon) - curve) < 1e-12);
    }
    assert_true(tacit_audit_shown(&audit) == audit.trade_off.together);
    check_ok(tacit_audit_find(&audit, TACIT_CURVE_NONE, &err), &err);
    assert_true(isnan(audit.trade_off.epsilon));
    assert_true(audit.clopper_pearson.together == audit.clopper_pearson.epsilon);
    assert_true(tacit_audit_shown(&audit) == audit.clopper_pearson.epsilon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_values_are_met),
        cmocka_unit_test(pooled_bound_inverts_the_binomial),
        cmocka_unit_test(curves_are_those_of_the_noise),
        cmocka_unit_test(bounds_err_as_often_as_they_may),
        cmocka_unit_test(ratio_inverts_the_hypergeometric),
        cmocka_unit_test(ratio_beats_two_bounds_in_the_tail),
        cmocka_unit_test(absurd_counts_have_no_bound),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(first_failure_is_told),
        cmocka_unit_test(it_stops_when_told),
        cmocka_unit_test(absurd_plans_are_refused),
        cmocka_unit_test(trials_do_not_choose_the_threshold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
