/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of random streams are a promise: results of a seed must not change from one
 * version to the next. They are pinned here as computed from the definition in random.h by
 * a program that shares nothing with the library, not even the cipher.
 *
 * Statistical tests have fixed seeds: they pass always or never. "False alarm" below is the
 * chance that a right generator would have failed when the test was written.
 */
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

typedef struct pin {
    uint64_t seed, agent;
    int purpose;
    uint64_t counter;
    const char *first; /* bytes 0 to 31 */
    const char *later; /* bytes 384 to 399 */
} pin;

static const pin pins[] = {
    {0, 0, TACIT_FOR_CLOCK, 0, "2398422757208117976202e143ece68aac2cbaadc0578ae3f9cc2b5a499ce1de",
     "aa617de402edd320b491fcaa3a215e27"},
    {1, 0, TACIT_FOR_CLOCK, 0, "64fb9c0c197383840c66a17dfea02c4518edfbeb477b4a641f4c1a4ab45c533c",
     "b6ffa4dc12e64a314538de610dd16ab3"},
    {1, 1, TACIT_FOR_CLOCK, 0, "0e51c6809b367cd2d0cf24f4e9d6c588c603f89cd17395fbe3038ce54fb03fd9",
     "209de61e60b91776f31dfc4e3d4ea2d7"},
    {1, 1, TACIT_FOR_LATENCY, 0, "cf1ce81c84cd50e4d7a5dc8f4dba9d51ff8b13b49b6b01084c2b5c02699ee603",
     "00ec19da122bd1ca698a1eddfa89e06f"},
    {1, 1, TACIT_FOR_CLOCK, 1, "65942c8c04ea01f4308943ab0d8fe12b98871d370f2d36327ecaf6981de5765c",
     "0d672cd13ddd1c329c1b00f29442827c"},
    {42, 7, TACIT_FOR_PROTOCOL, 3,
     "28cbc966739fbe2c4adc3824ce7c5de0b7f9c6a1f98b11aad840fb2f763d6b4e",
     "f944fc66012eee9d8cea45fccc8aa1b1"},
    {UINT64_MAX, UINT64_MAX - 1, TACIT_FOR_TEST, (UINT64_C(1) << 40) - 1,
     "fe0ec42a92ed8fbc29211432dda0a81be42b65ee745bb7e59c0f52eff5c5b78d",
     "207d81f10a679429a1272423e875c816"},
    {2024, 123456789012, TACIT_FOR_NOISE, 77,
     "d80228f5540194fdc2d50cb7a56fd1fefe4676dc149621f589bb1d96e09a4ea4",
     "03d21f18a428d146a286ac0b06449ed6"},
};
enum { PINS = sizeof pins / sizeof *pins };

static void open_stream(tacit_stream *s, uint64_t seed, tacit_agent agent, int purpose,
                        uint64_t counter)
{
    tacit_random random;
    tacit_random_init(&random, seed);
    tacit_stream_open(s, &random, agent, (tacit_purpose)purpose, counter);
    tacit_random_clear(&random);
}

static tacit_stream test_stream(uint64_t counter)
{
    tacit_stream s;
    open_stream(&s, 1, 1, TACIT_FOR_TEST, counter);
    return s;
}

static void test_bytes_are_pinned(void **state)
{
    (void)state;
    for (int k = 0; k < PINS; k++) {
        uint8_t bytes[400];
        char hex[65];
        tacit_stream s;
        open_stream(&s, pins[k].seed, pins[k].agent, pins[k].purpose, pins[k].counter);
        tacit_stream_bytes(&s, bytes, sizeof bytes);
        assert_string_equal(sodium_bin2hex(hex, sizeof hex, bytes, 32), pins[k].first);
        assert_string_equal(sodium_bin2hex(hex, sizeof hex, bytes + 384, 16), pins[k].later);
    }
}

static void put_le(uint8_t out[8], uint64_t v)
{
    for (int k = 0; k < 8; k++)
        out[k] = (uint8_t)(v >> (8 * k));
}

/* The definition, once more in libsodium's own calls. */
static void test_bytes_follow_the_definition(void **state)
{
    (void)state;
    for (int k = 0; k < PINS; k++) {
        enum { LEN = 1000 };
        uint8_t want[LEN] = {0}, found[LEN], key[32], number[8];
        crypto_generichash_state hash;
        crypto_generichash_init(&hash, NULL, 0, sizeof key);
        crypto_generichash_update(&hash, (const uint8_t *)"tacit stream 1", 14);
        put_le(number, pins[k].seed);
        crypto_generichash_update(&hash, number, 8);
        put_le(number, (uint64_t)pins[k].purpose);
        crypto_generichash_update(&hash, number, 8);
        crypto_generichash_final(&hash, key, sizeof key);
        put_le(number, pins[k].agent);
        crypto_stream_chacha20_xor_ic(want, want, LEN, number, pins[k].counter << 24, key);
        tacit_stream s;
        open_stream(&s, pins[k].seed, pins[k].agent, pins[k].purpose, pins[k].counter);
        tacit_stream_bytes(&s, found, LEN);
        assert_memory_equal(found, want, LEN);
    }
}

/* Any length from any place, on both sides of block 2^32: few blocks and many take different ways.
 */
static void test_lengths_and_places(void **state)
{
    (void)state;
    enum { MOST = 12000 };
    static uint8_t want[MOST + 600], found[MOST + 1];
    dice d = {5};
    for (int turn = 0; turn < 400; turn++) {
        tacit_stream s = test_stream(0);
        uint8_t name[8];
        s.agent = dice_below(&d, UINT64_C(1) << 60);
        s.block = (UINT64_C(1) << 32) - dice_below(&d, 200);
        put_le(name, s.agent);
        memset(want, 0, sizeof want);
        crypto_stream_chacha20_xor_ic(want, want, sizeof want, name, s.block, s.key);
        size_t before = dice_below(&d, 600), len = dice_below(&d, turn % 2 ? MOST : 1500);
        tacit_stream_bytes(&s, found, before);
        found[len] = 0x5a;
        tacit_stream_bytes(&s, found, len);
        assert_memory_equal(found, want + before, len);
        assert_int_equal(found[len], 0x5a);
    }
}

static void test_each_name_matters(void **state)
{
    (void)state;
    const uint64_t names[5][4] = {
        {5, 5, 5, 5}, {6, 5, 5, 5}, {5, 6, 5, 5}, {5, 5, 6, 5}, {5, 5, 5, 6}};
    uint64_t word[5];
    for (int k = 0; k < 5; k++) {
        tacit_stream s;
        open_stream(&s, names[k][0], names[k][1], (int)names[k][2], names[k][3]);
        word[k] = tacit_stream_u64(&s);
        for (int j = 0; j < k; j++)
            assert_true(word[j] != word[k]);
    }
}

static void test_pieces_make_the_whole(void **state)
{
    (void)state;
    enum { LEN = 20000 };
    static uint8_t whole[LEN], pieces[LEN];
    tacit_stream s = test_stream(0);
    tacit_stream_bytes(&s, whole, LEN);
    dice d = {4};
    for (int round = 0; round < 50; round++) {
        memset(pieces, 0, LEN);
        s = test_stream(0);
        for (size_t at = 0; at < LEN;) {
            size_t n = dice_below(&d, round % 2 ? 1200 : 70);
            n = n > LEN - at ? LEN - at : n;
            tacit_stream_bytes(&s, pieces + at, n);
            at += n;
        }
        assert_memory_equal(pieces, whole, LEN);
    }
    s = test_stream(0);
    for (size_t at = 0; at + 8 <= 800; at += 8) {
        uint8_t number[8];
        put_le(number, tacit_stream_u64(&s));
        assert_memory_equal(number, whole + at, 8);
    }
}

static void test_first_words(void **state)
{
    (void)state;
    tacit_random random;
    tacit_random_init(&random, 99);
    uint64_t agent[200], counter[200], word[201];
    dice d = {1};
    for (size_t n = 0; n <= 200; n += n < 20 ? 1 : 45) {
        for (size_t k = 0; k < n; k++) {
            agent[k] = dice_below(&d, UINT64_C(1) << 50);
            counter[k] = dice_below(&d, UINT64_C(1) << 40);
        }
        word[n] = 17;
        tacit_random_first_words(&random, TACIT_FOR_CLOCK, n, agent, counter, word);
        assert_true(word[n] == 17);
        for (size_t k = 0; k < n; k++) {
            tacit_stream s;
            tacit_stream_open(&s, &random, agent[k], TACIT_FOR_CLOCK, counter[k]);
            assert_true(tacit_stream_u64(&s) == word[k]);
        }
    }
    tacit_random_clear(&random);
}

/* Counters that agree in their lower 40 bits have first blocks of the same number. */
static void test_large_counters_have_streams_of_their_own(void **state)
{
    (void)state;
    static const uint64_t counter[] = {0,
                                       1,
                                       257,
                                       UINT64_C(1) << 40,
                                       UINT64_C(1) << 40 | 1,
                                       UINT64_C(1) << 40 | 257,
                                       UINT64_C(1) << 41,
                                       UINT64_C(1) << 62 | 257,
                                       UINT64_C(1) << 63 | 257};
    enum { COUNTERS = sizeof counter / sizeof *counter };
    tacit_random random;
    tacit_random_init(&random, 3);
    uint64_t word[COUNTERS];
    for (int k = 0; k < COUNTERS; k++) {
        tacit_stream s;
        const tacit_agent agent = 6;
        uint64_t first;
        tacit_stream_open(&s, &random, agent, TACIT_FOR_PROTOCOL, counter[k]);
        word[k] = tacit_stream_u64(&s);
        tacit_random_first_words(&random, TACIT_FOR_PROTOCOL, 1, &agent, &counter[k], &first);
        assert_true(word[k] == first);
        for (int j = 0; j < k; j++)
            assert_true(word[j] != word[k]);
    }
}

static void test_clear_wipes(void **state)
{
    (void)state;
    tacit_random random;
    tacit_random_init(&random, 1);
    tacit_stream s = test_stream(0);
    tacit_stream_u64(&s);
    tacit_random_clear(&random);
    tacit_stream_clear(&s);
    assert_true(sodium_is_zero((const uint8_t *)&random, sizeof random));
    assert_true(sodium_is_zero((const uint8_t *)&s, sizeof s));
}

/* below(n) may use exactly those words of the stream that are at least 2^64 mod n. */
static void check_refusal(uint64_t n, int draws, int *refused)
{
    uint64_t rest = (UINT64_MAX % n + 1) % n;
    tacit_stream s = test_stream(1), words = test_stream(1);
    *refused = 0;
    for (int k = 0; k < draws; k++) {
        uint64_t word = tacit_stream_u64(&words);
        for (; word < rest; word = tacit_stream_u64(&words))
            ++*refused;
        assert_true(tacit_stream_below(&s, n) == word % n);
    }
}

static void test_below_refuses_what_would_be_biased(void **state)
{
    (void)state;
    int refused;
    /* just above 2^63 nearly half of all words must go: 1000 +- 45 (one deviation) */
    check_refusal((UINT64_C(1) << 63) + 1, 1000, &refused);
    assert_in_range(refused, 800, 1200);
    check_refusal(UINT64_C(1) << 63, 1000, &refused);
    assert_int_equal(refused, 0);
    check_refusal(UINT64_MAX, 1000, &refused);
    assert_int_equal(refused, 0);
    check_refusal((UINT64_C(1) << 62) * 3, 1000, &refused); /* a quarter: 333 +- 21 */
    assert_in_range(refused, 240, 430);
    check_refusal(1, 10, &refused);
    check_refusal(6, 1000, &refused);
}

/* Chi-square with 5 degrees of freedom; false alarm 0.001. */
static void test_below_six_is_even(void **state)
{
    (void)state;
    enum { DRAWS = 60000 };
    tacit_stream s = test_stream(2);
    double seen[6] = {0}, chi = 0;
    for (int k = 0; k < DRAWS; k++)
        seen[tacit_stream_below(&s, 6)]++;
    for (int k = 0; k < 6; k++)
        chi += (seen[k] - DRAWS / 6.0) * (seen[k] - DRAWS / 6.0) / (DRAWS / 6.0);
    assert_true(chi < 20.52);
    assert_true(chi > 0.21); /* too even is suspicious, too: 0.001 */
}

typedef struct moments {
    double m[5]; /* mean of x^k */
    double least, most;
} moments;
enum { MANY = 200000 };

static moments sample(double (*draw)(tacit_stream *), uint64_t counter)
{
    moments out = {.least = INFINITY, .most = -INFINITY};
    tacit_stream s = test_stream(counter);
    for (int k = 0; k < MANY; k++) {
        double x = draw(&s), power = 1;
        for (int j = 0; j < 5; j++, power *= x)
            out.m[j] += power / MANY;
        out.least = fmin(out.least, x);
        out.most = fmax(out.most, x);
    }
    return out;
}

/* Within four deviations of the mean of MANY draws of variance `variance`: false alarm 6e-5. */
static void check_moment(double found, double want, double variance)
{
    if (!(fabs(found - want) < 4 * sqrt(variance / MANY)))
        fail_msg("%g instead of %g +- %g", found, want, sqrt(variance / MANY));
}

static void test_moments(void **state)
{
    (void)state;
    moments unit = sample(tacit_stream_unit, 3);
    check_moment(unit.m[1], 0.5, 1.0 / 12);
    check_moment(unit.m[2], 1.0 / 3, 1.0 / 5 - 1.0 / 9);
    check_moment(unit.m[3], 1.0 / 4, 1.0 / 7 - 1.0 / 16);
    assert_true(unit.least >= 0 && unit.least < 1e-4 && unit.most < 1 && unit.most > 0.9999);
    moments gap = sample(tacit_stream_exponential, 4);
    check_moment(gap.m[1], 1, 1);
    check_moment(gap.m[2], 2, 24 - 4);
    check_moment(gap.m[3], 6, 720 - 36);
    assert_true(gap.least >= 0 && isfinite(gap.most));
    moments normal = sample(tacit_stream_normal, 5);
    check_moment(normal.m[1], 0, 1);
    check_moment(normal.m[2], 1, 2);
    check_moment(normal.m[3], 0, 15);
    check_moment(normal.m[4], 3, 96);
}

/* Kolmogorov-Smirnov on the probabilities; false alarm 0.001 each. */
static void test_distributions(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    static double value[DRAWS];
    tacit_stream s = test_stream(6);
    for (int k = 0; k < DRAWS; k++)
        value[k] = -expm1(-tacit_stream_exponential(&s));
    assert_true(kolmogorov(DRAWS, value) < 1.95);
    for (int k = 0; k < DRAWS; k++)
        value[k] = 0.5 * erfc(-tacit_stream_normal(&s) / sqrt(2));
    assert_true(kolmogorov(DRAWS, value) < 1.95);
    for (int k = 0; k < DRAWS; k++)
        value[k] = tacit_stream_unit(&s);
    assert_true(kolmogorov(DRAWS, value) < 1.95);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_are_pinned),
        cmocka_unit_test(test_bytes_follow_the_definition),
        cmocka_unit_test(test_lengths_and_places),
        cmocka_unit_test(test_each_name_matters),
        cmocka_unit_test(test_pieces_make_the_whole),
        cmocka_unit_test(test_first_words),
        cmocka_unit_test(test_large_counters_have_streams_of_their_own),
        cmocka_unit_test(test_clear_wipes),
        cmocka_unit_test(test_below_refuses_what_would_be_biased),
        cmocka_unit_test(test_below_six_is_even),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_distributions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
