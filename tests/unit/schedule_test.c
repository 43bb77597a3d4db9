/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets over time: parts have the shape theory asks for, plans never cost more than the budget
 * by an accountant that looks again, ledgers let exactly the planned releases through, and the
 * noise that is left on a quadratic differs between policies by the factor theory predicts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "charged.h"
#include "privacy/costs.h"
#include "tacit/account.h"

enum { MOST = TACIT_SCHEDULE_MOST };
static tacit_cost planned[MOST];
static tacit_loss losses[MOST + 8];

static tacit_privacy_options options_of(tacit_mechanism mechanism, tacit_accountant by,
                                        tacit_policy policy, double ratio)
{
    return (tacit_privacy_options){.mechanism = (int)mechanism,
                                   .epsilon = NAN, /* the argument counts */
                                   .delta = 1e-5,
                                   .clip = 0.3,
                                   .sampling = 1,
                                   .accountant = (int)by,
                                   .policy = (int)policy,
                                   .ratio = ratio};
}

/* ---- parts ---- */

static void test_parts(void **state)
{
    (void)state;
    double part[9];
    for (int m = TACIT_MECHANISM_LAPLACE; m <= TACIT_MECHANISM_GAUSSIAN; m++) {
        const double root = m == TACIT_MECHANISM_LAPLACE ? 3 : 4;
        tacit_policy_parts(TACIT_POLICY_UNIFORM, (tacit_mechanism)m, 0.5, 9, part);
        for (int k = 0; k < 9; k++)
            assert_true(part[k] == 1);
        tacit_policy_parts(TACIT_POLICY_OPTIMAL, (tacit_mechanism)m, 0.5, 9, part);
        for (int k = 0; k < 9; k++) /* more late */
            assert_true(fabs(part[k] - pow(0.5, (8 - k) / root)) < 1e-14);
        tacit_policy_parts(TACIT_POLICY_PAPER, (tacit_mechanism)m, 0.5, 9, part);
        for (int k = 0; k < 9; k++) /* more early */
            assert_true(fabs(part[k] - pow(0.5, k / root)) < 1e-14);
    }
}

/* No other split of the same budget leaves less: moving any part either way makes it worse. */
static double left_over(const double *part, int count, double ratio, bool laplace)
{
    double sum = 0, noise = 0;
    for (int k = 0; k < count; k++)
        sum += laplace ? part[k] : part[k] * part[k];
    for (int k = 0; k < count; k++) {
        const double x = laplace ? part[k] / sum : part[k] / sqrt(sum);
        noise += pow(ratio, count - 1 - k) / (x * x);
    }
    return noise;
}

static void test_optimal_parts_are_optimal(void **state)
{
    (void)state;
    for (int m = TACIT_MECHANISM_LAPLACE; m <= TACIT_MECHANISM_GAUSSIAN; m++)
        for (int k = 0; k < 7; k++)
            for (int turn = -1; turn <= 1; turn += 2) {
                const bool laplace = m == TACIT_MECHANISM_LAPLACE;
                double part[7];
                tacit_policy_parts(TACIT_POLICY_OPTIMAL, (tacit_mechanism)m, 0.7, 7, part);
                const double best = left_over(part, 7, 0.7, laplace);
                part[k] *= 1 + turn * 0.01;
                assert_true(left_over(part, 7, 0.7, laplace) > best * (1 + 1e-7));
            }
}

/* ---- plans ---- */

static double epsilon_of(const tacit_cost *cost, size_t count, tacit_accountant by, double delta)
{
    double epsilon = NAN;
    tacit_error err = {0};
    for (size_t k = 0; k < count; k++)
        tacit_cost_loss(&cost[k], 1, &losses[k]);
    check_ok(tacit_account_epsilon(by, losses, count, delta, &epsilon, &err), &err);
    return epsilon;
}

/* Within the budget to the last bit, all of it used, noise inverse to the parts. */
static void check_plan(const tacit_privacy_options *o, uint64_t count, double epsilon)
{
    static double part[MOST];
    tacit_error err = {0};
    check_ok(tacit_schedule_plan(planned, count, o, epsilon, NULL, 0, 20, "gradient", &err), &err);
    const double spent = epsilon_of(planned, count, (tacit_accountant)o->accountant, o->delta);
    assert_true(spent <= epsilon);
    assert_true(spent > epsilon * (1 - 1e-4));
    tacit_policy_parts((tacit_policy)o->policy, (tacit_mechanism)o->mechanism, o->ratio, count,
                       part);
    const double scale = planned[0].noise * part[0], slack = count > 32 ? 0.1 : 1e-4;
    for (uint64_t k = 0; k < count; k++) {
        check_ok(tacit_cost_check(&planned[k], &err), &err);
        const double want = scale / part[k];
        if (planned[k].noise < 0x1p21 * o->clip && planned[0].noise < 0x1p21 * o->clip)
            assert_true(fabs(planned[k].noise / want - 1) < slack);
    }
}

static void test_plans_never_exceed_the_budget(void **state)
{
    (void)state;
    static const struct {
        tacit_mechanism mechanism;
        tacit_accountant by;
    } ways[] = {{TACIT_MECHANISM_LAPLACE, TACIT_BY_SUM},  {TACIT_MECHANISM_LAPLACE, TACIT_BY_KOV},
                {TACIT_MECHANISM_LAPLACE, TACIT_BY_ZCDP}, {TACIT_MECHANISM_GAUSSIAN, TACIT_BY_ZCDP},
                {TACIT_MECHANISM_GAUSSIAN, TACIT_BY_GDP}, {TACIT_MECHANISM_GAUSSIAN, TACIT_BY_RDP},
                {TACIT_MECHANISM_GAUSSIAN, TACIT_BY_PLD}};
    static const uint64_t counts[] = {2, 7, 32, 33, 200, 10000};
    static const double ratios[] = {0.5, 0.8, 0.999, 1}, budgets[] = {0.05, 1.05, 9};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (int policy = TACIT_POLICY_PAPER; policy <= TACIT_POLICY_OPTIMAL; policy++)
            for (size_t t = 0; t < 6; t++)
                for (size_t r = 0; r < 4; r++)
                    for (size_t e = 0; e < 3; e++) {
                        tacit_privacy_options o = options_of(ways[w].mechanism, ways[w].by,
                                                             (tacit_policy)policy, ratios[r]);
                        o.delta = e == 1 ? exp(-5) : 1e-6;
                        /* 10000 whispers cost more than 0.05 in plain sums */
                        if (!(counts[t] > 200 && budgets[e] < 1 &&
                              ways[w].mechanism == TACIT_MECHANISM_LAPLACE))
                            check_plan(&o, counts[t], budgets[e]);
                    }
}

/* The slow ones, on fewer points. */
static void test_plans_by_slow_accountants(void **state)
{
    (void)state;
    tacit_privacy_options o =
        options_of(TACIT_MECHANISM_LAPLACE, TACIT_BY_PLD, TACIT_POLICY_OPTIMAL, 0.8);
    check_plan(&o, 3, 1.05);
    check_plan(&o, 40, 0.5);
    o.accountant = TACIT_BY_RDP;
    check_plan(&o, 5, 2);
    o.mechanism = TACIT_MECHANISM_GAUSSIAN;
    o.sampling = 0.25;
    check_plan(&o, 4, 1);
    o.policy = TACIT_POLICY_PAPER;
    o.accountant = TACIT_BY_PLD;
    check_plan(&o, 3, 1);
}

/* Where part of the budget was spent before, all together stays within. */
static void test_what_was_spent_counts(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_cost all[10];
    const tacit_budget budget = {1, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_GDP};
    for (int policy = 0; policy < TACIT_POLICIES; policy++) {
        const tacit_privacy_options o =
            options_of(TACIT_MECHANISM_GAUSSIAN, TACIT_BY_GDP, (tacit_policy)policy, 0.8);
        all[0] = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 14, 5);
        check_ok(tacit_schedule_plan(&all[1], 9, &o, 1, all, 1, 20, "gradient", &err), &err);
        for (int k = 2; policy == TACIT_POLICY_UNIFORM && k < 10; k++)
            all[k] = all[1];
        const double spent = epsilon_of(all, 10, TACIT_BY_GDP, 1e-5);
        assert_true(spent <= budget.epsilon && spent > 1 - 1e-4);
        all[0].noise /= 8; /* more than there is */
        check_fails(tacit_schedule_plan(&all[1], 9, &o, 1, all, 1, 20, "gradient", &err),
                    TACIT_EBUDGET, &err, "spent before");
    }
}

static void test_impossible_budgets_are_refused(void **state)
{
    (void)state;
    static const double budgets[] = {0, -1, INFINITY, NAN};
    tacit_error err = {0};
    for (int m = TACIT_MECHANISM_LAPLACE; m <= TACIT_MECHANISM_GAUSSIAN; m++) {
        tacit_privacy_options o =
            options_of((tacit_mechanism)m, TACIT_BY_PLD, TACIT_POLICY_OPTIMAL, 0.8);
        for (int k = 0; k < 4; k++)
            check_fails(tacit_schedule_plan(planned, 5, &o, budgets[k], NULL, 0, 20, "g", &err),
                        TACIT_EINPUT, &err, "finite number above 0");
        o.accountant = m == TACIT_MECHANISM_LAPLACE ? TACIT_BY_SUM : TACIT_BY_GDP;
        o.delta = m == TACIT_MECHANISM_LAPLACE ? 0 : 1e-12;
        check_fails(tacit_schedule_plan(planned, 5, &o, 1e-8, NULL, 0, 20, "g", &err), TACIT_EINPUT,
                    &err, "too small for 5 releases");
        check_fails(tacit_schedule_plan(planned, 0, &o, 1, NULL, 0, 20, "g", &err), TACIT_EINPUT,
                    &err, "privacy.releases");
        check_fails(tacit_schedule_plan(planned, MOST + 1, &o, 1, NULL, 0, 20, "g", &err),
                    TACIT_EINPUT, &err, "privacy.releases");
        o.ratio = 1.5;
        check_fails(tacit_schedule_plan(planned, 5, &o, 1, NULL, 0, 20, "g", &err), TACIT_EINPUT,
                    &err, "privacy.ratio");
        o.ratio = 0.8, o.clip = 0;
        check_fails(tacit_schedule_plan(planned, 5, &o, 1, NULL, 0, 20, "g", &err), TACIT_EINPUT,
                    &err, "privacy.clip");
        o.clip = 1, o.noise = 1;
        check_fails(tacit_schedule_plan(planned, 5, &o, 1, NULL, 0, 20, "g", &err), TACIT_EINPUT,
                    &err, "privacy.noise");
        o.noise = 0, o.mechanism = TACIT_MECHANISM_NONE;
        check_fails(tacit_schedule_plan(planned, 5, &o, 1, NULL, 0, 20, "g", &err), TACIT_EINPUT,
                    &err, "no noise");
    }
    tacit_privacy_options o =
        options_of(TACIT_MECHANISM_LAPLACE, TACIT_BY_GDP, TACIT_POLICY_OPTIMAL, 0.8);
    check_fails(tacit_schedule_plan(planned, 5, &o, 1, NULL, 0, 20, "g", &err), TACIT_EINPUT, &err,
                "nothing to say");
}

/* ---- ledgers ---- */

/* All planned releases pass, whether vouched for or not; the last one again does not. */
static void test_ledgers_let_exactly_the_plan_through(void **state)
{
    (void)state;
    enum { COUNT = 12 };
    const tacit_budget budget = {1.05, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_GDP};
    const tacit_privacy_options o =
        options_of(TACIT_MECHANISM_GAUSSIAN, TACIT_BY_GDP, TACIT_POLICY_OPTIMAL, 0.7);
    tacit_error err = {0};
    check_ok(tacit_schedule_plan(planned, COUNT, &o, 1.05, NULL, 0, 20, "gradient", &err), &err);
    for (int vouched = 0; vouched < 2; vouched++) {
        tacit_costs *costs = tacit_costs_create();
        tacit_ledger ledger = {0};
        tacit_permit permit;
        if (vouched)
            check_ok(tacit_costs_vouch(costs, &budget, planned, COUNT, &err), &err);
        for (int k = 0; k < COUNT; k++) {
            const tacit_cost *kept = tacit_costs_keep(costs, &planned[k]);
            assert_int_equal(tacit_costs_vouched(costs, &ledger, kept, &budget), vouched);
            check_ok(tacit_ledger_reserve(&ledger, costs, &budget, &planned[k], k, &permit, &err),
                     &err);
        }
        assert_true(tacit_ledger_epsilon(&ledger, &budget) <= 1.05);
        check_fails(tacit_ledger_reserve(&ledger, costs, &budget, &planned[COUNT - 1], COUNT,
                                         &permit, &err),
                    TACIT_EBUDGET, &err, "exceed the budget");
        assert_int_equal(tacit_ledger_releases(&ledger), COUNT);
        tacit_ledger_clear(&ledger);
        tacit_costs_free(costs);
    }
}

static void test_vouching_believes_nobody(void **state)
{
    (void)state;
    const tacit_budget budget = {1, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_GDP};
    const tacit_budget other = {0.5, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_GDP};
    const tacit_budget rarer = {1, 1e-9, TACIT_TRUST_LOCAL, TACIT_BY_GDP};
    tacit_cost list[6];
    for (int k = 0; k < 6; k++)
        list[k] = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, k % 3 == 2 ? 30 : 40, 5);
    tacit_costs *costs = tacit_costs_create();
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_error err = {0};
    check_ok(tacit_costs_vouch(costs, &budget, list, 6, &err), &err); /* a a b a a b */
    const tacit_cost *a = tacit_costs_keep(costs, &list[0]), *b = tacit_costs_keep(costs, &list[2]);
    const char *order = "abaab"; /* a part of it, in its order */
    for (const char *c = order; *c; c++) {
        const tacit_cost *next = *c == 'a' ? a : b;
        assert_true(tacit_costs_vouched(costs, &ledger, next, &budget));
        assert_false(tacit_costs_vouched(costs, &ledger, next, &other));
        assert_false(tacit_costs_vouched(costs, &ledger, next, &rarer));
        check_ok(tacit_ledger_reserve(&ledger, costs, &budget, next, 0, &permit, &err), &err);
    }
    assert_false(tacit_costs_vouched(costs, &ledger, a, &budget)); /* nothing is left of it */
    assert_false(tacit_costs_vouched(costs, &ledger, b, &budget));
    tacit_ledger_clear(&ledger);
    for (int k = 0; k < 2; k++)
        check_ok(tacit_ledger_reserve(&ledger, costs, &budget, a, 0, &permit, &err), &err);
    assert_true(tacit_costs_vouched(costs, &ledger, b, &budget));
    for (int k = 0; k < 2; k++) /* "aabb": the second b is the last one's */
        check_ok(tacit_ledger_reserve(&ledger, costs, &budget, b, 0, &permit, &err), &err);
    assert_false(tacit_costs_vouched(costs, &ledger, a, &budget));
    tacit_cost loud = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 2, 5);
    check_fails(tacit_costs_vouch(costs, &budget, &loud, 1, &err), TACIT_EBUDGET, &err,
                "more than the budget");
    tacit_ledger fresh = {0};
    assert_false(tacit_costs_vouched(costs, &fresh, tacit_costs_keep(costs, &loud), &budget));
    loud.sensitivity *= 0.3; /* off the grid: no cost at all */
    assert_int_equal(tacit_costs_vouch(costs, &budget, &loud, 1, &err), TACIT_EUSAGE);
    tacit_ledger_clear(&ledger);
    tacit_costs_free(costs);
}

/* ---- the noise that is left on a quadratic ---- */

/*
 * Minimise |theta - y|^2 / 2 by theta <- theta - eta (theta - y + noise_k): sigma = L = 1, so an
 * error shrinks by r = (1 - eta)^2 a step, exactly, and the clip is wide enough never to bind.
 * What is left of all noises at the end, over that of another policy, must be the ratio of
 *
 *     laplace, sum of epsilon_k fixed:  optimal (sum r^(j/3))^3,  uniform T^2 sum r^j,
 *                                       paper (sum r^(j/3))^2 sum_k r^(T-k) r^(-2(k-1)/3)
 *     gaussian, sum of mu_k^2 fixed:    optimal (sum r^(j/2))^2,  uniform T sum r^j,
 *                                       paper (sum r^(j/2)) sum_k r^(T-k) r^(-(k-1)/2)
 *
 * with j = 0..T-1, k = 1..T. RUNS * SIZE = 24000 independent coordinates: a mean square has a
 * relative deviation of sqrt(5 / 24000) = 1.5 % at most (Laplace), a ratio 2.1 %. The allowance is
 * 12 %, 5.8 deviations: once in 10^8. Spending late instead of early is off by a factor of 4.
 */
enum { SIZE = 400, RUNS = 60, STEPS = 10 };
#define ETA 0.2
#define RATIO ((1 - ETA) * (1 - ETA))
#define WIDE 1000.0

typedef struct descent {
    tacit_pool *pool;
    tacit_scratch *scratch;
    tacit_shape shape;
    tacit_ledger ledger;
} descent;

static void step_down(descent *d, const tacit_cost *cost, const double *y, double *theta)
{
    tacit_error err = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_public *released;
    tacit_scratch_mark mark = tacit_scratch_now(d->scratch);
    tacit_vector *gradient = tacit_pool_vector(d->pool, &d->shape, TACIT_VECTOR_SECRET);
    double length = 0;
    for (size_t k = 0; k < SIZE; k++) {
        tacit_vector_set(gradient, 0, k, theta[k] - y[k]);
        length += fabs(theta[k] - y[k]);
    }
    assert_true(length < WIDE * 0.9); /* l1, and so l2: nothing was clipped */
    charged_reserve(&d->ledger, cost, &permit);
    check_ok(tacit_bound_vector(&permit, tacit_vector_secret(gradient), d->scratch, &bounded, &err),
             &err);
    check_ok(tacit_mechanism_apply(&permit, bounded,
                                   &(tacit_noise_source){&charged_random, 1, NULL}, &released,
                                   &err),
             &err);
    for (size_t k = 0; k < SIZE; k++)
        theta[k] -= ETA * tacit_public_get(released, 0, k);
    tacit_vector_drop(d->pool, gradient);
    tacit_scratch_rewind(d->scratch, mark);
}

/* Mean square of theta_T less what it is without noise. */
static double noise_left(tacit_mechanism mechanism, tacit_policy policy)
{
    descent d = {.pool = tacit_pool_create(false), .scratch = tacit_scratch_create()};
    const bool laplace = mechanism == TACIT_MECHANISM_LAPLACE;
    tacit_privacy_options o =
        options_of(mechanism, laplace ? TACIT_BY_SUM : TACIT_BY_ZCDP, policy, RATIO);
    o.clip = WIDE;
    tacit_error err = {0};
    check_ok(tacit_shape_init(&d.shape, &(tacit_segment){"value", TACIT_F64, SIZE}, 1, &err), &err);
    check_ok(tacit_schedule_plan(planned, STEPS, &o, laplace ? 1e5 : 1e6, NULL, 0, SIZE, "gradient",
                                 &err),
             &err);
    double y[SIZE], theta[SIZE], sum = 0;
    for (int run = 0; run < RUNS; run++) {
        for (int k = 0; k < SIZE; k++)
            y[k] = k % 3 - 1, theta[k] = 0;
        for (int t = 0; t < STEPS; t++)
            step_down(&d, &planned[policy == TACIT_POLICY_UNIFORM ? 0 : t], y, theta);
        for (int k = 0; k < SIZE; k++) {
            const double noise = theta[k] - y[k] * (1 - pow(1 - ETA, STEPS));
            sum += noise * noise / SIZE / RUNS;
        }
    }
    tacit_ledger_clear(&d.ledger);
    tacit_scratch_free(d.scratch);
    tacit_pool_free(d.pool);
    return sum;
}

static double theory(tacit_mechanism mechanism, tacit_policy policy)
{
    const bool laplace = mechanism == TACIT_MECHANISM_LAPLACE;
    double all = 0, roots = 0, late = 0;
    for (int j = 0; j < STEPS; j++) {
        all += pow(RATIO, j);
        roots += pow(RATIO, laplace ? j / 3. : j / 2.);
        late += pow(RATIO, STEPS - 1 - j) * pow(RATIO, laplace ? -2 * j / 3. : -j / 2.);
    }
    if (policy == TACIT_POLICY_UNIFORM)
        return all * (laplace ? STEPS * STEPS : STEPS);
    const double once = laplace ? roots * roots : roots;
    return policy == TACIT_POLICY_OPTIMAL ? once * roots : once * late;
}

static void test_noise_left_on_a_quadratic(void **state)
{
    (void)state;
    for (int m = TACIT_MECHANISM_LAPLACE; m <= TACIT_MECHANISM_GAUSSIAN; m++) {
        const tacit_mechanism mechanism = (tacit_mechanism)m;
        const double best = noise_left(mechanism, TACIT_POLICY_OPTIMAL);
        for (int p = TACIT_POLICY_UNIFORM; p <= TACIT_POLICY_PAPER; p++) {
            const double factor =
                theory(mechanism, (tacit_policy)p) / theory(mechanism, TACIT_POLICY_OPTIMAL);
            const double found = noise_left(mechanism, (tacit_policy)p) / best;
            print_message("%s, %s over optimal: %.3f, theory %.3f\n",
                          tacit_mechanism_name(mechanism), tacit_policy_names[p], found, factor);
            assert_true(factor > 1.2);
            assert_true(fabs(found / factor - 1) < 0.12);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_optimal_parts_are_optimal),
        cmocka_unit_test(test_plans_never_exceed_the_budget),
        cmocka_unit_test(test_plans_by_slow_accountants),
        cmocka_unit_test(test_what_was_spent_counts),
        cmocka_unit_test(test_impossible_budgets_are_refused),
        cmocka_unit_test(test_ledgers_let_exactly_the_plan_through),
        cmocka_unit_test(test_vouching_believes_nobody),
        cmocka_unit_test(test_noise_left_on_a_quadratic),
    };
    return cmocka_run_group_tests(tests, charged_setup, charged_teardown);
}
