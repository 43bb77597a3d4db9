/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many shares make up the noise of a sum: those of the honest that are in it for sure, counted
 * by hand. Ten agents, all of whom share masks with all: a quorum of 3/4 is 7 of 9 others.
 */
#include <math.h>
#include <string.h>

#include "tacit/gopa.h"
#include "tacit/totals.h"
#include "testing.h"

static tacit_status prepare(tacit_totals_plan *p, bool curious, uint32_t colluders, double absent,
                            tacit_error *err)
{
    *p = (tacit_totals_plan){.agents = 10,
                             .numbers = 1,
                             .beside = 1,
                             .step = 1,
                             .most = 1000,
                             .beside_most = 1,
                             .quorum = 0.75,
                             .colluders = colluders,
                             .curious = curious,
                             .absent = absent,
                             .patience = 1,
                             .tries = 1,
                             .rounds = 1,
                             .child = 1};
    return tacit_totals_prepare(p, err);
}

static uint32_t parts(bool curious, uint32_t colluders, double absent)
{
    tacit_totals_plan p;
    tacit_error err = {0};
    if (prepare(&p, curious, colluders, absent, &err) != TACIT_OK)
        fail_msg("%u colluders: %s", colluders, err.text);
    assert_int_equal(p.threshold, 7);
    const uint32_t got = tacit_totals_parts(&p, 10);
    tacit_totals_clear(&p);
    return got;
}

/* Everybody knows its own share: one less than members, though nobody colludes. */
static void test_curious(void **state)
{
    (void)state;
    assert_int_equal(parts(true, 0, 0), 9);
    assert_int_equal(parts(true, 0, 0.2), 7);
    assert_int_equal(parts(true, 1, 0), 9);
    assert_int_equal(parts(true, 1, 0.2), 7);
    assert_int_equal(parts(true, 3, 0), 7);
}

/* Somebody in the sum told its seed, so 7 others were in it or collude; who lies counts as one. */
static void test_lying(void **state)
{
    (void)state;
    assert_int_equal(parts(false, 0, 0), 7);
    assert_int_equal(parts(false, 1, 0), 7);
    assert_int_equal(parts(false, 2, 0), 6);
    assert_int_equal(parts(false, 0, 0.2), 7);
    assert_int_equal(parts(false, 2, 0.2), 6);
}

static void test_nobody_honest(void **state)
{
    (void)state;
    static const uint32_t colluders[] = {9, 10, 1000};
    for (size_t k = 0; k < 3; k++)
        for (int curious = 0; curious < 2; curious++) {
            tacit_totals_plan p;
            tacit_error err = {0};
            check_fails(prepare(&p, curious != 0, colluders[k], 0, &err), TACIT_EINPUT, &err,
                        "of 10 agents may collude");
        }
}

/* A thousand agents, a fifth of whom may collude, with k partners each (0: chosen). */
static tacit_status plan_for(tacit_totals_plan *p, bool curious, uint32_t partners, double delta,
                             tacit_error *err)
{
    *p = (tacit_totals_plan){.agents = 1000,
                             .numbers = 1,
                             .step = 1,
                             .most = 1000,
                             .beside_most = 1,
                             .quorum = 0.8,
                             .partners = partners,
                             .colluders = 200,
                             .curious = curious,
                             .absent = 0.1,
                             .patience = 1,
                             .tries = 1,
                             .rounds = 1,
                             .delta = delta,
                             .child = 1};
    return tacit_totals_prepare(p, err);
}

/* Who chose whom is drawn, and with a small chance so that some could be cut off, or that fewer
 * members are in a sum than shares of noise were made for. That chance is told (it belongs to
 * delta), it is small beside delta, and plans for which it is not are refused: those of any number
 * of partners, against the bounds of gopa.h. */
static void test_chances_beside_delta(void **state)
{
    (void)state;
    static const double deltas[] = {0, 1e-3, 1e-5, 1e-9, 1e-13};
    size_t refused = 0, taken = 0, by_default = 0;
    for (int curious = 0; curious < 2; curious++) {
        for (size_t d = 0; d < sizeof deltas / sizeof *deltas; d++) {
            for (uint32_t k = 0; k <= 96; k += 3) {
                tacit_totals_plan p;
                tacit_error err = {0};
                const tacit_status status = plan_for(&p, curious != 0, k, deltas[d], &err);
                if (status == TACIT_EINPUT) {
                    assert_true(deltas[d] <= 0 || deltas[d] >= 1e-3 ||
                                strstr(err.text, "\"privacy.delta\""));
                    assert_non_null(strstr(err.text, "raise \"protocol.partners\""));
                    refused++;
                    continue;
                }
                check_ok(status, &err);
                const double split =
                    curious ? tacit_gopa_split_risk(1000, p.partners, p.threshold, 200)
                            : tacit_gopa_lying_risk(1000, p.partners, p.threshold, p.losses, 200);
                const double most = deltas[d] > 0 ? deltas[d] / 200 : 0x1p-20;
                assert_true(p.more_delta >= exp2(split));
                assert_true(p.more_delta <= most * (1 + 1e-9));
                if (!curious) /* it covers the number of members, too */
                    assert_true(p.sure <= tacit_gopa_sure(1000, p.partners, p.threshold, p.losses,
                                                          200, -log2(p.more_delta)));
                by_default += k == 0;
                taken++;
                tacit_totals_clear(&p);
            }
        }
    }
    assert_true(refused > 20 && taken > 20);
    assert_int_equal(by_default, 10); /* the default is sound for every delta */
}

/* What 2^-20 is good enough for without a delta is not beside one of 1e-9; with all pairs nothing
 * is left to chance. */
static void test_refused_beside_delta(void **state)
{
    (void)state;
    tacit_totals_plan p;
    uint32_t between = 0;
    for (uint32_t k = 8; k <= 96 && between == 0; k++) {
        tacit_error err = {0};
        if (plan_for(&p, true, k, 0, &err) != TACIT_OK)
            continue;
        between = p.split_risk > -30 ? k : 0;
        tacit_totals_clear(&p);
    }
    assert_int_not_equal(between, 0);
    tacit_error err = {0};
    check_fails(plan_for(&p, true, between, 1e-9, &err), TACIT_EINPUT, &err,
                "a two-hundredth of \"privacy.delta\"");
    for (int curious = 0; curious < 2; curious++) {
        check_ok(prepare(&p, curious != 0, 0, 0, &err), &err);
        assert_true(p.more_delta == 0);
        tacit_totals_clear(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curious),
        cmocka_unit_test(test_lying),
        cmocka_unit_test(test_nobody_honest),
        cmocka_unit_test(test_chances_beside_delta),
        cmocka_unit_test(test_refused_beside_delta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
