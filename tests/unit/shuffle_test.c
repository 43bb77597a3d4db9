/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Amplification by shuffling: against values computed elsewhere, against the definition summed
 * over all outcomes, and by what must hold for any numbers.
 */
#include <math.h>
#include <string.h>

#include "golden.h"
#include "testing.h"

static double shuffled(uint64_t agents, double local, double delta)
{
    tacit_error err = {0};
    double epsilon = -1;
    check_ok(tacit_account_shuffled(agents, local, delta, &epsilon, &err), &err);
    return epsilon;
}

static void golden_values_are_met(void **state)
{
    (void)state;
    golden g = golden_read("epsilon.csv");
    int exact = 0, others = 0;
    for (size_t k = 0; k < g.count; k++) {
        const golden_row *row = &g.row[k];
        if (strcmp(row->mechanism, "shuffled_local_dp") != 0)
            continue;
        const double got =
            shuffled((uint64_t)golden_number(row, "n"), golden_number(row, "eps0"), row->delta);
        const bool summed = golden_says(row, "summed exactly");
        /* the same bound: neither below (but for its rounding) nor much above; others are looser */
        if (!(got <= row->epsilon * (summed ? 1.0005 : 1)) ||
            (summed && !(got >= row->epsilon * (1 - 1e-9))))
            fail_msg("%s: %.12g, not %.12g (%s)", row->name, got, row->epsilon, row->source);
        exact += summed, others += !summed;
    }
    assert_int_equal(exact, 18);
    assert_true(others > 20);
    golden_free(&g);
}

static double choose(int n, int k)
{
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1));
}

/* The hockey stick over every (number of clones, first pile). */
static double slow_delta(int agents, double local, double epsilon)
{
    const double clone = exp(-local), p = exp(local) / (1 + exp(local));
    double sum = 0;
    for (int c = 0; c < agents; c++) {
        const double mass = choose(agents - 1, c) * pow(clone, c) * pow(1 - clone, agents - 1 - c);
        for (int a = 0; a <= c + 1; a++) {
            const double here = a <= c ? choose(c, a) * pow(0.5, c) : 0;
            const double below = a > 0 ? choose(c, a - 1) * pow(0.5, c) : 0;
            const double first = p * below + (1 - p) * here, second = p * here + (1 - p) * below;
            sum += mass * fmax(0, first - exp(epsilon) * second);
        }
    }
    return sum;
}

static void small_crowds_by_the_definition(void **state)
{
    (void)state;
    static const int crowds[] = {2, 3, 10, 60, 250};
    static const double locals[] = {0.05, 0.7, 1.5, 3, 6};
    static const double deltas[] = {0.2, 1e-2, 1e-4, 1e-7};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            for (size_t k = 0; k < 4; k++) {
                const double got = shuffled((uint64_t)crowds[i], locals[j], deltas[k]);
                assert_true(slow_delta(crowds[i], locals[j], got) <= deltas[k]);
                if (got > 0) /* and it is the least one */
                    assert_true(slow_delta(crowds[i], locals[j], got * (1 - 1e-6)) >
                                deltas[k] * (1 - 1e-8));
            }
}

static void more_agents_and_less_epsilon_are_better(void **state)
{
    (void)state;
    double before = INFINITY;
    for (uint64_t agents = 1; agents < UINT64_C(1) << 62; agents *= 19) {
        const double got = shuffled(agents, 1.2, 1e-7);
        assert_true(got <= before && got <= 1.2);
        before = got;
    }
    assert_true(before < 1e-6);
    before = 0;
    for (double local = 0.01; local < 30; local *= 1.5) {
        const double got = shuffled(40000, local, 1e-6);
        assert_true(got >= before && got <= local);
        before = got;
    }
    before = INFINITY;
    for (double delta = 1e-30; delta < 1; delta *= 300) {
        const double got = shuffled(40000, 2, delta);
        assert_true(got <= before);
        before = got;
    }
}

static void borders(void **state)
{
    (void)state;
    assert_true(shuffled(1, 2, 1e-6) == 2);
    assert_true(shuffled(1000, 2, 0) == 2);
    assert_true(shuffled(1000, 0, 1e-6) == 0);
    assert_true(shuffled(1000, 800, 1e-6) == 800);
    assert_true(shuffled(UINT64_MAX, 30, 1e-300) <= 30);
    tacit_error err = {0};
    double out;
    check_fails(tacit_account_shuffled(0, 1, 1e-6, &out, &err), TACIT_EINPUT, &err, "\"agents\"");
    static const double bad[] = {NAN, -1, INFINITY};
    for (size_t k = 0; k < 3; k++) {
        check_fails(tacit_account_shuffled(9, bad[k], 1e-6, &out, &err), TACIT_EINPUT, &err,
                    "\"local\"");
        check_fails(tacit_account_shuffled(9, 1, bad[k], &out, &err), TACIT_EINPUT, &err,
                    "\"delta\"");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_values_are_met),
        cmocka_unit_test(small_crowds_by_the_definition),
        cmocka_unit_test(more_agents_and_less_epsilon_are_better),
        cmocka_unit_test(borders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
