/* SPDX-License-Identifier: Apache-2.0 */
/* Slow or dead: silence, loss, hysteresis, clocks that jump, and that each change is told once. */
#include <math.h>
#include <stdlib.h>

#include "net/suspect.h"
#include "testing.h"

static tacit_suspect *watch(double now)
{
    tacit_error err;
    tacit_suspect *s;
    tacit_suspect_options o;
    tacit_suspect_defaults(&o);
    check_ok(tacit_suspect_create(&s, &o, now, &err), &err);
    return s;
}

static uint32_t add(tacit_suspect *s, double now)
{
    tacit_error err;
    uint32_t slot;
    check_ok(tacit_suspect_add(s, &slot, now, &err), &err);
    return slot;
}

static void silence(tacit_suspect *s, double *now, double seconds)
{
    for (double end = *now + seconds; *now < end - 1e-9;)
        tacit_suspect_tick(s, *now += 0.25);
}

/* Signs of life every `gap` seconds. */
static void regular(tacit_suspect *s, uint32_t slot, double *now, int count, double gap)
{
    for (int k = 0; k < count; k++) {
        silence(s, now, gap);
        tacit_suspect_heard(s, slot, *now);
    }
}

static void expect(tacit_suspect *s, uint32_t slot, tacit_health before, tacit_health after)
{
    tacit_suspect_change c;
    assert_true(tacit_suspect_next(s, &c));
    assert_int_equal(c.slot, slot);
    assert_int_equal(c.before, before);
    assert_int_equal(c.after, after);
}

static void expect_nothing(tacit_suspect *s)
{
    tacit_suspect_change c;
    assert_false(tacit_suspect_next(s, &c));
}

static void test_silence_is_slow_then_down(void **state)
{
    (void)state;
    double now = 1e6;
    tacit_suspect *s = watch(now);
    uint32_t a = add(s, now), b = add(s, now);
    for (int k = 0; k < 20; k++) {
        regular(s, a, &now, 1, 1);
        tacit_suspect_heard(s, b, now);
    }
    expect_nothing(s);
    silence(s, &now, 2.5);
    tacit_suspect_heard(s, b, now);
    assert_int_equal(tacit_suspect_health(s, a), TACIT_HEALTH_UP);
    silence(s, &now, 0.25);
    expect(s, a, TACIT_HEALTH_UP, TACIT_HEALTH_SLOW);
    expect_nothing(s);
    regular(s, b, &now, 3, 1);
    assert_int_equal(tacit_suspect_health(s, a), TACIT_HEALTH_SLOW);
    assert_true(fabs(tacit_suspect_silence(s, a) - 5.75) < 1e-6);
    regular(s, b, &now, 1, 1);
    expect(s, a, TACIT_HEALTH_SLOW, TACIT_HEALTH_DOWN);
    regular(s, b, &now, 100, 1);
    expect_nothing(s); /* once */
    tacit_suspect_free(s);
}

static void test_up_again_after_two(void **state)
{
    (void)state;
    double now = 0;
    tacit_suspect *s = watch(now);
    uint32_t a = add(s, now);
    silence(s, &now, 20);
    expect(s, a, TACIT_HEALTH_UP, TACIT_HEALTH_DOWN);
    tacit_suspect_heard(s, a, now);
    expect_nothing(s);
    assert_int_equal(tacit_suspect_health(s, a), TACIT_HEALTH_DOWN);
    silence(s, &now, 4); /* one sign of life now and then is not enough */
    tacit_suspect_heard(s, a, now);
    silence(s, &now, 4);
    tacit_suspect_heard(s, a, now);
    expect_nothing(s);
    silence(s, &now, 1);
    tacit_suspect_heard(s, a, now);
    expect(s, a, TACIT_HEALTH_DOWN, TACIT_HEALTH_UP);
    expect_nothing(s);
    /* Away and back between two looks: nothing to tell. */
    silence(s, &now, 20);
    regular(s, a, &now, 3, 1);
    expect_nothing(s);
    tacit_suspect_free(s);
}

/* An outage must not teach that the peer is irregular; its limit stays what it was. */
static void test_outage_is_no_gap(void **state)
{
    (void)state;
    double now = 0;
    tacit_suspect *s = watch(now);
    uint32_t a = add(s, now);
    regular(s, a, &now, 30, 1);
    double before = tacit_suspect_limit(s, a);
    silence(s, &now, 50);
    tacit_suspect_heard(s, a, now);
    assert_true(fabs(tacit_suspect_limit(s, a) - before) < 0.2);
    tacit_suspect_free(s);
}

/* A peer that speaks every four intervals is slow at first, and then simply like that. */
static void test_slow_peer_is_learned(void **state)
{
    (void)state;
    double now = 0;
    tacit_suspect *s = watch(now);
    uint32_t a = add(s, now);
    regular(s, a, &now, 1, 4);
    expect(s, a, TACIT_HEALTH_UP, TACIT_HEALTH_SLOW);
    regular(s, a, &now, 40, 4);
    expect(s, a, TACIT_HEALTH_SLOW, TACIT_HEALTH_UP);
    regular(s, a, &now, 40, 4);
    expect_nothing(s);
    double limit = tacit_suspect_limit(s, a);
    assert_true(limit >= 6.5);
    silence(s, &now, limit + 0.5);
    expect(s, a, TACIT_HEALTH_UP, TACIT_HEALTH_DOWN);
    tacit_suspect_free(s);
}

/* However irregular, silence of a minute is the end. */
static void test_longest(void **state)
{
    (void)state;
    double now = 0;
    tacit_suspect *s = watch(now);
    uint32_t a = add(s, now);
    for (int k = 0; k < 40; k++) /* gaps of 1 to 30 s, growing so that none is an outage */
        regular(s, a, &now, 1, k % 2 ? 1 : fmin(5 + k, 30));
    assert_true(tacit_suspect_limit(s, a) <= 60);
    assert_true(tacit_suspect_limit(s, a) > 30);
    silence(s, &now, 60.5);
    assert_int_equal(tacit_suspect_health(s, a), TACIT_HEALTH_DOWN);
    tacit_suspect_free(s);
}

static void test_clock_jumps(void **state)
{
    (void)state;
    double now = 100;
    tacit_suspect *s = watch(now);
    uint32_t slot[50];
    for (int i = 0; i < 50; i++)
        slot[i] = add(s, now);
    for (int k = 0; k < 10; k++) {
        now += 1;
        for (int i = 0; i < 50; i++)
            tacit_suspect_heard(s, slot[i], now);
        tacit_suspect_tick(s, now);
    }
    tacit_suspect_tick(s, now += 3600); /* the lid was closed */
    tacit_suspect_heard(s, slot[0], now += 86400);
    expect_nothing(s);
    tacit_suspect_tick(s, now -= 7200); /* no monotonic clock does that; nobody dies of it */
    tacit_suspect_tick(s, NAN);
    tacit_suspect_tick(s, INFINITY);
    tacit_suspect_tick(s, -INFINITY);
    expect_nothing(s);
    double before = tacit_suspect_silence(s, slot[1]);
    tacit_suspect_tick(s, now += 0.25);
    assert_true(tacit_suspect_silence(s, slot[1]) == before + 0.25);
    for (int i = 0; i < 25; i++)
        tacit_suspect_heard(s, slot[i], now);
    silence(s, &now, 10); /* and it still works */
    for (int i = 0; i < 50; i++)
        assert_int_equal(tacit_suspect_health(s, slot[i]), TACIT_HEALTH_DOWN);
    tacit_suspect_free(s);
}

/*
 * Messages every second, each lost with probability 1/20, delays of 50 ms and a jitter: over
 * 20,000 s of ten peers nobody is down (seven losses in a row: 2e5 * 0.05^7 = 2e-4 expected);
 * slow now and then (two or three in a row: 0.05^2 to 0.05^3 of all).
 */
static void test_loss_is_not_death(void **state)
{
    (void)state;
    dice d = {11};
    double now = 0;
    int slow = 0, seconds = SLOW ? 4000 : 20000;
    tacit_suspect *s = watch(now);
    for (uint32_t i = 0; i < 10; i++)
        add(s, now);
    for (int t = 1; t <= seconds; t++) {
        for (uint32_t i = 0; i < 10; i++) {
            if (dice_unit(&d) >= 0.05)
                tacit_suspect_heard(s, i, t + 0.05 + 0.02 * dice_unit(&d));
        }
        tacit_suspect_change c;
        for (double part = 0.25; part < 1; part += 0.25)
            tacit_suspect_tick(s, t + part);
        while (tacit_suspect_next(s, &c)) {
            assert_int_not_equal(c.after, TACIT_HEALTH_DOWN);
            slow += c.after == TACIT_HEALTH_SLOW;
        }
    }
    assert_in_range(slow, 1, seconds / 20);
    tacit_suspect_free(s);
}

static void test_slots(void **state)
{
    (void)state;
    double now = 0;
    tacit_suspect *s = watch(now);
    uint32_t a = add(s, now), b = add(s, now);
    silence(s, &now, 20);
    tacit_suspect_remove(s, a); /* what nobody was told goes with it */
    expect(s, b, TACIT_HEALTH_UP, TACIT_HEALTH_DOWN);
    expect_nothing(s);
    assert_int_equal(add(s, now), a);
    assert_int_equal(tacit_suspect_health(s, a), TACIT_HEALTH_UP);
    assert_true(tacit_suspect_silence(s, a) == 0);
    for (uint32_t i = 2; i < 1000; i++)
        assert_int_equal(add(s, now), i);
    silence(s, &now, 20);
    int told = 0;
    for (tacit_suspect_change c; tacit_suspect_next(s, &c); told++)
        assert_int_equal(c.after, TACIT_HEALTH_DOWN);
    assert_int_equal(told, 999);
    tacit_suspect_free(s);
    tacit_suspect_free(NULL);
}

static void test_options(void **state)
{
    (void)state;
    tacit_error err;
    tacit_suspect *s;
    tacit_suspect_options o;
    static const double bad[][4] = {{0, 2, 6, 60},   {NAN, 2, 6, 60},    {1e6, 2, 6, 60},
                                    {1, 1, 6, 60},   {1, 7, 6, 60},      {1, 2, 6, 5},
                                    {1, 2, NAN, 60}, {1, 2, 6, INFINITY}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tacit_suspect_defaults(&o);
        o.interval = bad[k][0], o.slow = bad[k][1], o.down = bad[k][2], o.longest = bad[k][3];
        check_fails(tacit_suspect_create(&s, &o, 0, &err), TACIT_EINPUT, &err,
                    k < 3 ? "interval" : "limits");
        assert_null(s);
    }
    tacit_suspect_defaults(&o);
    check_fails(tacit_suspect_create(&s, &o, NAN, &err), TACIT_EINPUT, &err, "time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silence_is_slow_then_down),
        cmocka_unit_test(test_up_again_after_two),
        cmocka_unit_test(test_outage_is_no_gap),
        cmocka_unit_test(test_slow_peer_is_learned),
        cmocka_unit_test(test_longest),
        cmocka_unit_test(test_clock_jumps),
        cmocka_unit_test(test_loss_is_not_death),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
