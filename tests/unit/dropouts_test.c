/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of "gopa" from which agents drop out at random moments (src/reproduce/dropouts.h), in
 * small: who falls silent is left out and nobody else, a refused round costs nothing, noise is what
 * was planned, and a coalition's scores have the law that its claim is about, for sound and broken
 * builds. Seeds are fixed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/dropouts.h"
#include "tacit/account.h"
#include "testing.h"

enum { AGENTS = 16, NUMBERS = 400, ROUNDS = SLOW ? 3 : 12 };

static dropouts_task small(bool gaussian)
{
    return (dropouts_task){.agents = AGENTS,
                           .numbers = NUMBERS,
                           .colluders = 2,
                           .partners = AGENTS - 1,
                           .least = 10,
                           .chance = 0.3,
                           .absent = 0.4,
                           .quorum = 0.6,
                           .epsilon = 5,
                           .delta = 1e-5,
                           .gaussian = gaussian};
}

/* What was said and charged fits who fell silent when. */
static void check_round(const dropouts_round *r)
{
    if (r->outcome != TACIT_TOTAL_HEARD)
        return;
    const uint32_t there = AGENTS - r->gone[DROPOUTS_HERE];
    const uint32_t worded = there - r->gone[DROPOUTS_WORD];
    assert_true(r->charged <= there); /* nobody twice */
    if (r->present < worded || r->charged > r->present) {
        /* who adds up was lost after words, and a further try took the same numbers */
        assert_true(r->members <= r->present && r->charged >= r->present);
        return;
    }
    /* who adds up may have been lost before words, and another took over */
    assert_true(r->present <= there);
    assert_int_equal(r->charged, r->present); /* each once, also who never got to say its word */
    assert_true(r->members <= worded);
    assert_true(r->members >= worded - r->gone[DROPOUTS_ANSWER]);
}

static void test_silence(void **state)
{
    (void)state;
    tacit_error err = {0};
    dropouts_task t = small(false);
    uint32_t heard = 0, gone[DROPOUTS_MOMENTS] = {0};
    check_ok(dropouts_open(&t, &err), &err);
    for (uint64_t seed = 1; seed <= 2 * ROUNDS; seed++) {
        dropouts_round r;
        check_ok(dropouts_run(&r, &t, seed, DROPOUTS_SOUND, &err), &err);
        check_round(&r);
        heard += r.outcome == TACIT_TOTAL_HEARD;
        for (size_t m = 0; m < DROPOUTS_MOMENTS; m++)
            gone[m] += r.gone[m];
        dropouts_round_clear(&r);
    }
    assert_true(heard >= ROUNDS);
    for (size_t m = 0; m < DROPOUTS_MOMENTS && !SLOW; m++)
        assert_true(gone[m] > 0);
    dropouts_close(&t);
}

/* One agent is not there, and all must be: nothing is computed and nothing charged. */
static void test_refused(void **state)
{
    (void)state;
    tacit_error err = {0};
    dropouts_task t = small(false);
    uint32_t refused = 0;
    t.least = AGENTS;
    check_ok(dropouts_open(&t, &err), &err);
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        dropouts_round r;
        check_ok(dropouts_run(&r, &t, seed, DROPOUTS_SOUND, &err), &err);
        refused += r.outcome == TACIT_TOTAL_REFUSED;
        if (r.gone[DROPOUTS_HERE] > 0) {
            assert_int_not_equal(r.outcome, TACIT_TOTAL_HEARD);
            assert_int_equal(r.charged, 0);
            assert_false(r.worded);
        }
        dropouts_round_clear(&r);
    }
    assert_true(refused > 0);
    dropouts_close(&t);
}

/* Standard normal in mean and variance to five standard errors: a false alarm in 2e6 each. */
static void check_normal(double count, double sum, double squares)
{
    assert_true(count > 0);
    assert_true(fabs(sum / count) < 5 / sqrt(count));
    assert_true(fabs(squares / count - 1) < 5 * sqrt(2 / count));
}

static double claimed_mu(const dropouts_task *t)
{
    tacit_error err = {0};
    const tacit_loss one = {
        .kind = TACIT_LOSS_GAUSSIAN, .noise = 1, .shift = 1, .sampling = 1, .count = 1};
    double noise;
    check_ok(
        tacit_account_calibrate(TACIT_BY_GDP, &one, NULL, 0, t->epsilon, t->delta, &noise, &err),
        &err);
    return 1 / noise;
}

/* Errors have the deviation that was planned; and without the canary, scores of the best test are
 * normal with variance `lift` around -lift / 2, if the view is complete and the plan kept. What
 * decides between sound and broken is whether lift stays below mu^2 of the claim. */
static void check_build(const dropouts_task *t, dropouts_break broken)
{
    tacit_error err = {0};
    double count = 0, error[2] = {0}, score[2] = {0};
    const double claimed = claimed_mu(t) * claimed_mu(t);
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        dropouts_round r;
        check_ok(dropouts_run(&r, t, 100 * (broken + 1) + seed, broken, &err), &err);
        for (uint32_t k = 0; k < t->numbers && r.outcome == TACIT_TOTAL_HEARD; k++, count++) {
            const double z = r.error[k] / r.planned, s = (r.score[k] + r.lift / 2) / sqrt(r.lift);
            error[0] += z;
            error[1] += z * z;
            score[0] += s;
            score[1] += s * s;
        }
        if (r.outcome == TACIT_TOTAL_HEARD)
            assert_true(broken == DROPOUTS_SOUND ? r.lift <= claimed * (1 + 1e-6)
                                                 : r.lift > claimed);
        dropouts_round_clear(&r);
    }
    check_normal(count, score[0], score[1]);
    if (broken == DROPOUTS_SOUND)
        check_normal(count, error[0], error[1]);
    else
        assert_true(error[1] / count < 0.8);
}

static void test_builds(void **state)
{
    (void)state;
    tacit_error err = {0};
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        dropouts_task t = small(gaussian);
        check_ok(dropouts_open(&t, &err), &err);
        for (int broken = 0; broken < DROPOUTS_BREAKS; broken++)
            check_build(&t, (dropouts_break)broken);
        dropouts_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_builds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
