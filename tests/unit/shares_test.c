/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of a secret: bytes from a program in another language (bit by bit, Horner's scheme), all
 * subsets of small sets, and the count of what too few shares leave open, which is everything.
 */
#include "tacit/shares.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

typedef uint8_t key[TACIT_MASK_KEY];

/* Before C23 an array of bytes does not become one of const bytes by itself. */
static tacit_status split(key *share, size_t count, size_t threshold, const key secret, key *coins,
                          tacit_error *err)
{
    return tacit_shares_split(share, count, threshold, secret, (const key *)coins, err);
}

static tacit_status join(key secret, key *share, const uint8_t *point, size_t threshold,
                         tacit_error *err)
{
    return tacit_shares_join(secret, (const key *)share, point, threshold, err);
}

static void any_key(dice *d, key out)
{
    for (int b = 0; b < TACIT_MASK_KEY; b++)
        out[b] = (uint8_t)dice_below(d, 256);
}

static void test_bytes(void **state)
{
    (void)state;
    static const struct {
        size_t point;
        key share;
    } known[] = {
        {1, {0xf0, 0xf6, 0xe4, 0x96, 0x58, 0x46, 0xc4, 0xa6, 0xe0, 0x66, 0xb4,
             0xc6, 0x18, 0xd6, 0x74, 0xd6, 0x30, 0x36, 0xc4, 0x16, 0x18, 0xa6,
             0x24, 0x46, 0x80, 0x06, 0xf4, 0xe6, 0x58, 0x16, 0x34, 0x96}},
        {16, {0xac, 0x66, 0x7f, 0xbd, 0xc7, 0x5d, 0x21, 0xa2, 0x4d, 0xab, 0x55,
              0xbc, 0x28, 0xff, 0x8d, 0xa7, 0x7b, 0xb0, 0x5f, 0x22, 0xc8, 0x29,
              0xa2, 0x21, 0x10, 0x19, 0xd8, 0xa8, 0xb2, 0x21, 0x9d, 0x56}},
        {83, {0x59, 0x0c, 0x41, 0x2d, 0x92, 0x94, 0xf6, 0x10, 0x12, 0x9c, 0x9f,
              0xef, 0x36, 0x10, 0xd9, 0xed, 0xcb, 0x40, 0x5e, 0x13, 0x0e, 0x89,
              0x90, 0x6b, 0x69, 0xcd, 0x58, 0xcc, 0x81, 0xb0, 0xee, 0x12}},
        {255, {0xb3, 0x03, 0xf1, 0xcd, 0x97, 0xc7, 0x7c, 0x7f, 0x62, 0xd8, 0xef,
               0x01, 0x68, 0xe1, 0x73, 0x28, 0x48, 0x38, 0xd3, 0x44, 0x09, 0xde,
               0xb6, 0xbe, 0x5f, 0x64, 0x86, 0x7b, 0x33, 0xe8, 0x13, 0x62}},
    };
    key secret, coins[3], share[TACIT_SHARES_MOST];
    for (int i = 0; i < TACIT_MASK_KEY; i++) {
        secret[i] = (uint8_t)(17 * i + 3);
        for (int c = 0; c < 3; c++)
            coins[c][i] = (uint8_t)(91 * i + 57 * c + 200 + i * i * (c + 1));
    }
    tacit_error err;
    check_ok(split(share, TACIT_SHARES_MOST, 4, secret, coins, &err), &err);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        assert_memory_equal(share[known[k].point - 1], known[k].share, TACIT_MASK_KEY);
}

/* The shares whose bits are set in `subset`; returns how many. */
static size_t pick(unsigned subset, size_t count, key *share, key *some, uint8_t *point)
{
    size_t n = 0;
    for (size_t k = 0; k < count; k++)
        if (subset >> k & 1) {
            memcpy(some[n], share[k], sizeof(key));
            point[n++] = (uint8_t)(k + 1);
        }
    return n;
}

/* Every set of at least `threshold` gives the secret, no smaller one does (with the dice's coins;
 * by chance it would, once in 2^256). */
static void test_subsets(void **state)
{
    (void)state;
    dice d = {11};
    tacit_error err;
    for (size_t count = 1; count <= 7; count++)
        for (size_t threshold = 1; threshold <= count; threshold++) {
            key secret, coins[7], share[7], some[7], back;
            uint8_t point[7];
            any_key(&d, secret);
            for (size_t c = 0; c < 7; c++)
                any_key(&d, coins[c]);
            check_ok(split(share, count, threshold, secret, coins, &err), &err);
            for (unsigned subset = 1; subset < 1U << count; subset++) {
                const size_t n = pick(subset, count, share, some, point);
                check_ok(join(back, some, point, n, &err), &err);
                assert_int_equal(memcmp(back, secret, sizeof back) == 0, n >= threshold);
            }
        }
}

/* Far points in any order; the largest set there is; one wrong bit in one share is one wrong key.
 */
static void test_many(void **state)
{
    (void)state;
    dice d = {12};
    tacit_error err;
    static key coins[TACIT_SHARES_MOST], share[TACIT_SHARES_MOST], some[TACIT_SHARES_MOST];
    key secret, back;
    uint8_t point[TACIT_SHARES_MOST];
    for (size_t threshold = 1; threshold <= TACIT_SHARES_MOST; threshold += 127) {
        any_key(&d, secret);
        for (size_t c = 0; c + 1 < threshold; c++)
            any_key(&d, coins[c]);
        check_ok(split(share, TACIT_SHARES_MOST, threshold, secret, coins, &err), &err);
        const size_t turn = dice_below(&d, TACIT_SHARES_MOST);
        for (size_t k = 0; k < threshold; k++) {
            const size_t from = (turn + 254 * k) % TACIT_SHARES_MOST; /* 254 = -1: downwards */
            memcpy(some[k], share[from], sizeof(key));
            point[k] = (uint8_t)(from + 1);
        }
        check_ok(join(back, some, point, threshold, &err), &err);
        assert_memory_equal(back, secret, sizeof back);
        some[threshold / 2][5] ^= 0x10;
        check_ok(join(back, some, point, threshold, &err), &err);
        assert_memory_not_equal(back, secret, sizeof back);
    }
}

/* Threshold 2, whatever the secret byte: over the 256 coins, the share at every point takes each of
 * 256 values once. So one share says nothing. The 32 bytes of a key are 32 experiments. */
static void test_one_of_two(void **state)
{
    (void)state;
    tacit_error err;
    static bool seen[TACIT_SHARES_MOST][256];
    static key share[TACIT_SHARES_MOST];
    static const uint8_t secrets[] = {0, 1, 0x8e, 0xff};
    for (size_t s = 0; s < sizeof secrets; s++) {
        memset(seen, 0, sizeof seen);
        for (int from = 0; from < 256; from += TACIT_MASK_KEY) {
            key secret, coin;
            memset(secret, secrets[s], sizeof secret);
            for (int b = 0; b < TACIT_MASK_KEY; b++)
                coin[b] = (uint8_t)(from + b);
            check_ok(split(share, TACIT_SHARES_MOST, 2, secret, &coin, &err), &err);
            for (size_t k = 0; k < TACIT_SHARES_MOST; k++)
                for (int b = 0; b < TACIT_MASK_KEY; b++) {
                    assert_false(seen[k][share[k][b]]);
                    seen[k][share[k][b]] = true;
                }
        }
    }
}

/* Threshold 3: over the 65536 pairs of coins, the shares at any two points take each pair of values
 * once. */
static void test_two_of_three(void **state)
{
    (void)state;
    enum { COUNT = 4, PAIRS = COUNT * (COUNT - 1) / 2 };
    tacit_error err;
    bool(*seen)[65536] = calloc(PAIRS, sizeof *seen);
    assert_non_null(seen);
    for (unsigned from = 0; from < 65536; from += TACIT_MASK_KEY) {
        key secret, coins[2], share[COUNT];
        memset(secret, 0x53, sizeof secret);
        for (unsigned b = 0; b < TACIT_MASK_KEY; b++) {
            coins[0][b] = (uint8_t)(from + b);
            coins[1][b] = (uint8_t)((from + b) >> 8);
        }
        check_ok(split(share, COUNT, 3, secret, coins, &err), &err);
        for (unsigned b = 0; b < TACIT_MASK_KEY; b++)
            for (size_t k = 0, pair = 0; k < COUNT; k++)
                for (size_t l = 0; l < k; l++, pair++) {
                    bool *mark = &seen[pair][share[k][b] << 8 | share[l][b]];
                    assert_false(*mark);
                    *mark = true;
                }
    }
    free(seen);
}

static void test_refusals(void **state)
{
    (void)state;
    tacit_error err;
    static key coins[TACIT_SHARES_MOST + 1], share[TACIT_SHARES_MOST + 1];
    key secret = {7}, back = {9};
    static const uint8_t twice[] = {3, 200, 3}, zero[] = {1, 0, 2};
    check_fails(split(share, 3, 0, secret, coins, &err), TACIT_EUSAGE, &err, "0 of 3");
    check_fails(split(share, 3, 4, secret, coins, &err), TACIT_EUSAGE, &err, "4 of 3");
    check_fails(split(share, 256, 4, secret, coins, &err), TACIT_EUSAGE, &err, "256");
    check_fails(split(share, 0, 0, secret, coins, &err), TACIT_EUSAGE, &err, "0");
    check_ok(split(share, 2, 1, secret, NULL, &err), &err);
    assert_memory_equal(share[1], secret, sizeof secret);
    check_fails(join(back, share, twice, 3, &err), TACIT_EINPUT, &err, "\"3\"");
    check_fails(join(back, share, zero, 3, &err), TACIT_EINPUT, &err, "\"0\"");
    check_fails(join(back, share, zero, 0, &err), TACIT_EUSAGE, &err, "not 0");
    check_fails(join(back, share, zero, 256, &err), TACIT_EUSAGE, &err, "not 256");
    assert_int_equal(back[0], 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),        cmocka_unit_test(test_subsets),
        cmocka_unit_test(test_many),         cmocka_unit_test(test_one_of_two),
        cmocka_unit_test(test_two_of_three), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
