/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many shares make up the noise of a sum: those of the honest that are in it for sure, counted
 * by hand. Ten agents, all of whom share masks with all: a quorum of 3/4 is 7 of 9 others.
 */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curious),
        cmocka_unit_test(test_lying),
        cmocka_unit_test(test_nobody_honest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
