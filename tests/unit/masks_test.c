/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masked sums against plain ones, bit for bit; keys and their bytes against a program in another
 * language (hashes of a library, X25519 and ChaCha20 written from their RFCs); what is refused.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "masking.h"

static circle all;

static int make_circle(void **state)
{
    (void)state;
    circle_make(&all, MASKERS);
    return 0;
}

static void shuffle(dice *d, size_t *order, size_t n)
{
    for (size_t k = 0; k < n; k++)
        order[k] = k;
    for (size_t k = n; k > 1; k--) {
        const size_t other = dice_below(d, k), keep = order[k - 1];
        order[k - 1] = order[other];
        order[other] = keep;
    }
}

/* Everything as agents would do it, in any order; `total` is what comes out, `plain` what should.
 */
typedef struct round_of {
    numbers total, plain;
} round_of;

static void add_up(round_of *r, const masked_sum *s, tacit_mask_turn *turn, dice *d)
{
    const size_t n = s->party.numbers;
    numbers_make(&r->total, n);
    numbers_make(&r->plain, n);
    size_t order[MASKERS];
    shuffle(d, order, s->count);
    for (size_t k = 0; k < s->count; k++) {
        numbers held, word;
        numbers_make(&held, n);
        numbers_make(&word, n);
        for (size_t i = 0; i < n; i++) {
            numbers_at(&held)[i] = any_number(d);
            numbers_at(&r->plain)[i] =
                (int64_t)((uint64_t)numbers_at(&r->plain)[i] + (uint64_t)numbers_at(&held)[i]);
        }
        masked_sum_word(s, order[k], &turn[order[k]], &held, &word);
        tacit_mask_gather(r->total.vector, word.vector, 0);
        numbers_free(&held);
        numbers_free(&word);
    }
}

static void open_all(const masked_sum *s, tacit_mask_turn *turn, dice *d, numbers *total)
{
    size_t order[MASKERS];
    shuffle(d, order, s->count);
    for (size_t k = 0; k < s->count; k++) {
        uint8_t seed[TACIT_MASK_KEY];
        assert_int_equal(tacit_mask_turn_open(&turn[order[k]], s->round, s->attempt), TACIT_OK);
        masked_sum_seed(s, order[k], seed);
        tacit_mask_uncover(total->vector, seed, s->round, s->attempt);
    }
}

static void check_sum(masked_sum *s, dice *d)
{
    tacit_mask_turn turn[MASKERS] = {0};
    round_of r;
    add_up(&r, s, turn, d);
    assert_memory_not_equal(numbers_at(&r.total), numbers_at(&r.plain), r.plain.shape.bytes);
    open_all(s, turn, d, &r.total);
    assert_memory_equal(numbers_at(&r.total), numbers_at(&r.plain), r.plain.shape.bytes);
    numbers_free(&r.total);
    numbers_free(&r.plain);
}

static void test_masks_cancel(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 7, 8, 9, 100, 131};
    dice d = {1};
    for (size_t members = 2; members <= MASKERS; members++)
        for (int split = 0; split < 2; split++) {
            masked_sum s;
            masked_sum_make(&s, &all, (UINT64_C(1) << members) - 1, lengths[members % 6], split);
            s.round = dice_below(&d, UINT64_C(1) << 40);
            check_sum(&s, &d);
        }
}

static void test_any_subset_after_drop_outs(void **state)
{
    (void)state;
    enum { AGENTS = 12 };
    dice d = {2};
    for (int turns = 0; turns < (SLOW ? 40 : 400); turns++) {
        tacit_mask_turn turn[AGENTS] = {0}, now[AGENTS];
        uint64_t present = (1 << AGENTS) - 1;
        masked_sum s;
        for (uint32_t attempt = 0;; attempt++) {
            masked_sum_make(&s, &all, present, 9, turns % 2);
            s.attempt = attempt;
            for (size_t k = 0; k < s.count; k++)
                now[k] = turn[s.who[k]];
            round_of r;
            add_up(&r, &s, now, &d);
            for (size_t k = 0; k < s.count; k++)
                turn[s.who[k]] = now[k];
            const uint64_t left =
                present & ~(UINT64_C(1) << s.who[dice_below(&d, s.count)]); /* one drops out */
            const bool all_came = dice_below(&d, 3) == 0 || s.count == 2;
            if (all_came) {
                open_all(&s, now, &d, &r.total);
                assert_memory_equal(numbers_at(&r.total), numbers_at(&r.plain),
                                    r.plain.shape.bytes);
            }
            numbers_free(&r.total);
            numbers_free(&r.plain);
            if (all_came)
                break;
            present = left;
        }
    }
}

/* One seed too few, or one word: what is left is noise. False alarm below 1e-6. */
static void test_without_one_it_is_garbage(void **state)
{
    (void)state;
    dice d = {3};
    masked_sum s;
    masked_sum_make(&s, &all, 0xff, MASKED_MOST, false);
    tacit_mask_turn turn[MASKERS] = {0};
    round_of r;
    add_up(&r, &s, turn, &d);
    numbers rest, word;
    numbers_make(&rest, MASKED_MOST);
    numbers_make(&word, MASKED_MOST);
    open_all(&s, turn, &d, &r.total);
    assert_memory_equal(numbers_at(&r.total), numbers_at(&r.plain), r.plain.shape.bytes);
    for (size_t k = 0; k < s.count; k++) {
        uint8_t seed[TACIT_MASK_KEY];
        tacit_mask_turn fresh = {0};
        masked_sum_seed(&s, k, seed);
        memset(numbers_at(&rest), 0, rest.shape.bytes);
        tacit_mask_uncover(rest.vector, seed, s.round, s.attempt);
        assert_true(not_uniform(numbers_at(&rest), rest.shape.bytes) < 6);
        memset(numbers_at(&rest), 0, rest.shape.bytes);
        masked_sum_word(&s, k, &fresh, &rest, &word); /* the masks of a word of zeros */
        tacit_mask_uncover(word.vector, seed, s.round, s.attempt);
        assert_true(not_uniform(numbers_at(&word), word.shape.bytes) < 6);
    }
    numbers_free(&rest);
    numbers_free(&word);
    numbers_free(&r.total);
    numbers_free(&r.plain);
}

static void check_hex(const void *bytes, size_t len, const char *want)
{
    char hex[400];
    assert_string_equal(sodium_bin2hex(hex, sizeof hex, bytes, len), want);
}

static void count_up(uint8_t *bytes, size_t len, int from)
{
    for (size_t k = 0; k < len; k++)
        bytes[k] = (uint8_t)(from + (int)k);
}

static void test_bytes_are_pinned(void **state)
{
    (void)state;
    tacit_error err;
    tacit_mask_keys a, b;
    uint8_t seed[32], secret[32], shared[32], again[32], own[32];
    count_up(seed, 32, 0);
    tacit_mask_keys_make(&a, seed);
    count_up(seed, 32, 100);
    tacit_mask_keys_make(&b, seed);
    count_up(secret, 32, 200);
    check_hex(a.open, 32, "a093b79d76949513b309170ddfa5e2c757efade4d63ced0d821d8eaa170c5d4a");
    check_ok(tacit_mask_agree(shared, &a, b.open, &err), &err);
    check_ok(tacit_mask_agree(again, &b, a.open, &err), &err);
    assert_memory_equal(shared, again, 32);
    check_hex(shared, 32, "4257ab9c32f7f3768cffb2eaaaed8a7fe5265825a5ee66f4017c9fd4a250bc03");
    const tacit_agent members[] = {3, 7, (UINT64_C(1) << 40) + 1};
    const tacit_mask_party party = {
        .member = members, .count = 3, .numbers = 10, .fraction = -5, .split = true};
    tacit_mask_place place = {.epoch = 4, .receiver = 9};
    count_up(place.run, sizeof place.run, 50);
    check_ok(tacit_mask_set(place.set, &party, &err), &err);
    check_hex(place.set, 32, "557931f98d4e6130127e018a0e3fa800ef50b5300b8b199d474f850319b50f46");
    tacit_mask mask = {.minus = true};
    tacit_mask_derive(mask.key, shared, &place, members[2], members[0]);
    check_hex(mask.key, 32, "1288ac56a3f667a1d8c04713a215712050682edd2e2209022034e87d85538337");
    tacit_mask_turn turn = {0};
    assert_int_equal(tacit_mask_turn_call(&turn, 0x0102030405060708, 0x11121314), TACIT_OK);
    tacit_mask_own(own, secret, &place, turn.round, turn.attempt);
    check_hex(own, 32, "d11de3635b5da9c412657f0710f64de9121a901c2437b52a204543b4f857cc21");
    static const int64_t values[] = {1, -1, INT64_MAX, INT64_MIN, 0, 12345, -987654321, 7, 8, 9};
    numbers held, word;
    numbers_make(&held, 10);
    numbers_make(&word, 10);
    memcpy(numbers_at(&held), values, sizeof values);
    check_ok(tacit_mask_word(&turn, word.vector, 0, numbers_secret(&held), &mask, 1, own, &err),
             &err);
    check_hex(numbers_at(&word), 80,
              "58007667560a6562de547dcc8ac2735dddeec16bb6262a778502956ef1302d31"
              "faf23f7ef8b87b8828e6eb093006accdeb05fd42e81125a9875e558a3e667d1a"
              "54e96b4d02ee1b0fd57ceba6b842fa21");
    numbers_free(&held);
    numbers_free(&word);
}

/* Points of small order (RFC 7748, section 6.1, warns of them), as X25519 reads them, and other
 * ways to write good points. */
static const char *const hostile[] = {
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "f6ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", /* 9 again */
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"};

static void refused(const uint8_t open[32], const char *word)
{
    static const uint8_t nothing[32];
    tacit_error err;
    uint8_t shared[32];
    memset(shared, 7, sizeof shared);
    check_fails(tacit_mask_agree(shared, &all.keys[0], open, &err), TACIT_EINPUT, &err, word);
    assert_memory_equal(shared, nothing, sizeof shared);
}

static void test_hostile_keys_are_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof hostile / sizeof *hostile; k++) {
        uint8_t open[32];
        size_t len;
        assert_int_equal(sodium_hex2bin(open, 32, hostile[k], 64, NULL, &len, NULL), 0);
        refused(open, "open key");
        open[31] ^= 0x80;
        refused(open, "open key");
    }
    refused(all.keys[0].open, "own");
    uint8_t open[32];
    memcpy(open, all.keys[0].open, 32);
    open[31] ^= 0x80; /* the same point to X25519 */
    refused(open, "open key");
    memcpy(open, all.keys[1].open, 32);
    tacit_error err;
    uint8_t shared[32];
    check_ok(tacit_mask_agree(shared, &all.keys[0], open, &err), &err);
    assert_memory_equal(shared, all.shared[1][0], 32);
}

static void test_parties_are_checked(void **state)
{
    (void)state;
    tacit_error err;
    uint8_t set[32];
    static const tacit_agent good[] = {1, 2, 5}, twice[] = {1, 2, 2}, falls[] = {1, 5, 2};
    tacit_mask_party party = {.member = good, .count = 3, .numbers = 1};
    check_ok(tacit_mask_set(set, &party, &err), &err);
    party.count = 1;
    check_fails(tacit_mask_set(set, &party, &err), TACIT_EINPUT, &err, "1 members");
    party.count = 0;
    check_fails(tacit_mask_set(set, &party, &err), TACIT_EINPUT, &err, "0 members");
    party = (tacit_mask_party){.member = twice, .count = 3};
    check_fails(tacit_mask_set(set, &party, &err), TACIT_EINPUT, &err, "2 does not follow 2");
    party.member = falls;
    check_fails(tacit_mask_set(set, &party, &err), TACIT_EINPUT, &err, "2 does not follow 5");
}

static void test_words_that_are_refused(void **state)
{
    (void)state;
    tacit_error err;
    numbers held, word, longer, out;
    numbers_make(&held, 4);
    numbers_make(&word, 4);
    numbers_make(&longer, 5);
    numbers_make(&out, 4);
    const tacit_secret *in = numbers_secret(&held);
    const tacit_mask mask = {.key = {1}};
    const uint8_t own[32] = {2};
    tacit_mask_turn turn = {0};
    check_fails(tacit_mask_word(&turn, word.vector, 0, in, &mask, 1, own, &err), TACIT_EUSAGE, &err,
                "call");
    assert_int_equal(tacit_mask_turn_call(&turn, 1, 0), TACIT_OK);
    check_fails(tacit_mask_word(&turn, word.vector, 0, in, &mask, 0, own, &err), TACIT_EUSAGE, &err,
                "without a partner");
    word.shape.segment[1] = word.shape.segment[0]; /* left over, not one of its segments */
    check_fails(tacit_mask_word(&turn, word.vector, 1, in, &mask, 1, own, &err), TACIT_EUSAGE, &err,
                "whole numbers");
    check_fails(tacit_mask_word(&turn, longer.vector, 0, in, &mask, 1, own, &err), TACIT_EUSAGE,
                &err, "as many");
    word.shape.segment[0].scalar = TACIT_F64;
    check_fails(tacit_mask_word(&turn, word.vector, 0, in, &mask, 1, own, &err), TACIT_EUSAGE, &err,
                "whole numbers");
    word.shape.segment[0].scalar = TACIT_I64;
    tacit_vector_of_public(word.vector)->flags = TACIT_VECTOR_FROZEN;
    check_fails(tacit_mask_word(&turn, word.vector, 0, in, &mask, 1, own, &err), TACIT_EUSAGE, &err,
                "new vector");
    tacit_vector_of_public(word.vector)->flags = 0;
    assert_memory_equal(numbers_at(&word), numbers_at(&out), word.shape.bytes);
    assert_int_equal(turn.state, TACIT_MASK_CALLED);
    check_ok(tacit_mask_word(&turn, word.vector, 0, in, &mask, 1, own, &err), &err);
    assert_memory_not_equal(numbers_at(&word), numbers_at(&out), word.shape.bytes);
    check_fails(tacit_mask_word(&turn, out.vector, 0, in, &mask, 1, own, &err), TACIT_EUSAGE, &err,
                "again");
    numbers_free(&held);
    numbers_free(&word);
    numbers_free(&longer);
    numbers_free(&out);
}

static void test_fits_exactly(void **state)
{
    (void)state;
    assert_true(tacit_mask_fits(0, 1000, 62));
    assert_true(tacit_mask_fits(0x1p62, 1, 0));
    assert_false(tacit_mask_fits(0x1p62, 2, 0)); /* 2^63 is one too many */
    assert_false(tacit_mask_fits(0x1p63, 1, 0));
    assert_true(tacit_mask_fits(nextafter(0x1p62, 0), 2, 0));
    assert_true(tacit_mask_fits(nextafter(0x1p63, 0), 1, 0));
    assert_true(tacit_mask_fits(1, 0x7fffffff, 32));
    assert_false(tacit_mask_fits(1, 0x80000000, 32));
    assert_true(tacit_mask_fits(1, 0xffffffff, 31));
    assert_false(tacit_mask_fits(nextafter(1, 2), 0xffffffff, 31)); /* may be rounded up a step */
    /* INT64_MAX = 7 * 7 * 73 * 127 * 337 * 92737 * 649657 */
    assert_true(tacit_mask_fits((double)(INT64_MAX / 92737 / 649657), (size_t)92737 * 649657, 0));
    assert_false(
        tacit_mask_fits((double)(INT64_MAX / 92737 / 649657), (size_t)92737 * 649657 + 1, 0));
    assert_true(tacit_mask_fits(5e-324, INT64_MAX, -1074));
    assert_false(tacit_mask_fits(5e-324, (size_t)INT64_MAX + 1, -1074));
    assert_true(tacit_mask_fits(5e-324, 1, 1074 + 62));
    assert_false(tacit_mask_fits(5e-324, 1, 1074 + 63));
    assert_false(tacit_mask_fits(1, SIZE_MAX, 1));
    assert_false(tacit_mask_fits(1, 1, INT32_MAX));
    assert_true(tacit_mask_fits(1e300, 1, INT32_MIN));
    assert_false(tacit_mask_fits(INFINITY, 1, -2000));
    assert_false(tacit_mask_fits(NAN, 1, 0));
    assert_false(tacit_mask_fits(-1, 1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_masks_cancel),
                                       cmocka_unit_test(test_any_subset_after_drop_outs),
                                       cmocka_unit_test(test_without_one_it_is_garbage),
                                       cmocka_unit_test(test_bytes_are_pinned),
                                       cmocka_unit_test(test_hostile_keys_are_refused),
                                       cmocka_unit_test(test_parties_are_checked),
                                       cmocka_unit_test(test_words_that_are_refused),
                                       cmocka_unit_test(test_fits_exactly)};
    return cmocka_run_group_tests(tests, make_circle, NULL);
}
