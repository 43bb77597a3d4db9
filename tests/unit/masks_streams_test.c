/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of several masks side by side against libsodium's, one by one, for every width of
 * registers; streams of different places, rounds and tries have nothing in common; what a receiver
 * sees without the pairs' secrets is as good as uniform, and a mask used twice is not. With
 * valgrind also: nothing branches on secrets, or uses them as an address.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/streams_kernels.h"
#include "masking.h"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_COUNT_ERRORS 0
#define VALGRIND_MAKE_MEM_UNDEFINED(at, len) ((void)(at))
#endif

enum { MOST_MASKS = 45, MOST_NUMBERS = 300 };

static void fill(dice *d, void *bytes, size_t len)
{
    for (size_t k = 0; k < len; k++)
        ((uint8_t *)bytes)[k] = (uint8_t)dice_below(d, 256);
}

static uint64_t number_at(const uint8_t *bytes)
{
    uint64_t v = 0;
    for (int k = 0; k < 8; k++)
        v |= (uint64_t)bytes[k] << (8 * k);
    return v;
}

/* The slow way: one stream after the other, by libsodium. */
static void expect(uint64_t *sum, size_t n, const tacit_mask *masks, size_t count,
                   const uint8_t nonce[12])
{
    uint8_t *bytes = malloc(8 * n + 1);
    assert_non_null(bytes);
    for (size_t k = 0; k < count; k++) {
        crypto_stream_chacha20_ietf(bytes, 8 * n, nonce, masks[k].key);
        for (size_t i = 0; i < n; i++)
            sum[i] += masks[k].minus ? -number_at(bytes + 8 * i) : number_at(bytes + 8 * i);
    }
    free(bytes);
}

static void test_every_width_is_chacha20(void **state)
{
    (void)state;
    static const char *const names[] = {"base", "avx2", "avx512"};
    assert_non_null(tacit_streams_named("base"));
    assert_null(tacit_streams_named("none"));
    for (size_t w = 0; w < 3; w++) {
        tacit_streams_kernel *kernel = tacit_streams_named(names[w]);
        dice d = {7};
        for (int turn = 0; kernel && turn < (SLOW ? 200 : 2000); turn++) {
            tacit_mask masks[MOST_MASKS];
            uint64_t sum[MOST_NUMBERS + 1], want[MOST_NUMBERS + 1];
            const size_t n = dice_below(&d, MOST_NUMBERS), count = dice_below(&d, MOST_MASKS + 1);
            uint8_t nonce[12];
            fill(&d, nonce, sizeof nonce);
            fill(&d, sum, sizeof sum);
            memcpy(want, sum, sizeof sum);
            for (size_t k = 0; k < count; k++) {
                fill(&d, masks[k].key, sizeof masks[k].key);
                masks[k].minus = dice_below(&d, 2);
            }
            expect(want, n, masks, count, nonce);
            kernel(sum, n, masks, count,
                   (uint32_t[]){tacit_le32(nonce), tacit_le32(nonce + 4), tacit_le32(nonce + 8)});
            assert_memory_equal(sum, want, sizeof sum);
        }
    }
}

/* Keys from secrets, side by side: against libsodium, one by one; nothing beside them is touched.
 */
static void test_every_width_expands(void **state)
{
    (void)state;
    static const char *const names[] = {"base", "avx2", "avx512"};
    enum { STRIDE = 33, ROOM = STRIDE * MOST_MASKS + 1 };
    for (size_t w = 0; w < 3; w++) {
        tacit_expand_kernel *kernel = tacit_expand_named(names[w]);
        dice d = {8};
        for (int turn = 0; kernel && turn < (SLOW ? 100 : 1000); turn++) {
            uint8_t secret[MOST_MASKS][32], key[ROOM], want[ROOM];
            tacit_mask_source from[MOST_MASKS];
            const size_t count = dice_below(&d, MOST_MASKS + 1);
            uint64_t number;
            fill(&d, &number, sizeof number);
            fill(&d, secret, sizeof secret);
            fill(&d, key, sizeof key);
            memcpy(want, key, sizeof key);
            for (size_t k = 0; k < count; k++) {
                uint8_t nonce[12];
                from[k] = (tacit_mask_source){secret[k], (uint32_t)dice_below(&d, 5)};
                for (int b = 0; b < 12; b++)
                    nonce[b] = (uint8_t)(b < 8 ? number >> 8 * b : from[k].label >> 8 * (b - 8));
                crypto_stream_chacha20_ietf(want + k * STRIDE, 32, nonce, secret[k]);
            }
            kernel(key, STRIDE, from, count, number);
            assert_memory_equal(key, want, sizeof key);
        }
    }
}

static void test_long_streams(void **state)
{
    (void)state;
    enum { N = 100003 };
    uint64_t *sum = calloc(2 * N, sizeof *sum), *want = sum + N;
    assert_non_null(sum);
    const tacit_mask masks[3] = {{.key = {1}}, {.key = {2}, .minus = true}, {.key = {3}}};
    static const uint8_t nonce[12] = {8, 7, 6, 5, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11};
    tacit_streams_add(sum, N, masks, 3, 0x0102030405060708, 0x11121314);
    expect(want, N, masks, 3, nonce);
    assert_memory_equal(sum, want, N * sizeof *sum);
    free(sum);
}

/* ---- different places, different streams ---- */
enum { VARIANTS = 32, SOME = 64 };
typedef struct variants {
    size_t count;
    uint64_t stream[VARIANTS][SOME];
} variants;

typedef struct name { /* of a stream */
    tacit_mask_place place;
    tacit_mask_party party;
    tacit_agent member[3], one, other;
    uint8_t shared[32];
    uint64_t round;
    uint32_t attempt;
} name;

static void add_variant(variants *v, name n)
{
    tacit_error err;
    tacit_mask mask = {.minus = false};
    n.party.member = n.member;
    check_ok(tacit_mask_set(n.place.set, &n.party, &err), &err);
    tacit_mask_derive(mask.key, n.shared, &n.place, n.one, n.other);
    memset(v->stream[v->count], 0, sizeof v->stream[0]);
    tacit_streams_add(v->stream[v->count++], SOME, &mask, 1, n.round, n.attempt);
    tacit_mask_own(mask.key, n.shared, &n.place, n.round, n.attempt);
    memset(v->stream[v->count], 0, sizeof v->stream[0]);
    tacit_streams_add(v->stream[v->count++], SOME, &mask, 1, n.round, n.attempt);
}

#define VARY(change)       \
    do {                   \
        name n = base;     \
        change;            \
        add_variant(v, n); \
    } while (0)

static void vary(variants *v)
{
    const name base = {.party = {.count = 3, .numbers = 4, .fraction = 5},
                       .member = {1, 2, 3},
                       .one = 1,
                       .other = 2,
                       .round = 6};
    add_variant(v, base);
    VARY(n.place.run[15] = 1);
    VARY(n.place.epoch = 1);
    VARY(n.place.receiver = 1);
    VARY(n.member[2] = 4);
    VARY(n.party.count = 2);
    VARY(n.party.numbers = 5);
    VARY(n.party.fraction = -5);
    VARY(n.party.split = true);
    VARY(n.round = 7);
    VARY(n.round = UINT64_C(6) << 32);
    VARY(n.attempt = 1);
    VARY(n.round = 0; n.attempt = 6);
    VARY(n.shared[31] = 1);
    v->count--; /* an own seed does not know the pair */
    VARY(n.other = 3);
    v->count--;
}

/* No block of one is a block of another, and differences have as many ones as zeros: of 4096 bits,
 * off by 7 standard deviations (224) with probability 2.6e-12 a pair, 1e-9 for all. */
static void test_places_have_nothing_in_common(void **state)
{
    (void)state;
    static variants v;
    v.count = 0;
    vary(&v);
    assert_true(v.count >= 25);
    for (size_t a = 0; a < v.count; a++)
        for (size_t b = 0; b < a; b++) {
            int ones = 0;
            for (size_t k = 0; k < SOME; k++) {
                ones += __builtin_popcountll(v.stream[a][k] ^ v.stream[b][k]);
                for (size_t l = 0; l < SOME; l++)
                    assert_int_not_equal(v.stream[a][k], v.stream[b][l]);
            }
            assert_in_range(ones, 2048 - 224, 2048 + 224);
        }
    name n = {.party = {.count = 2, .numbers = 4}, .member = {1, 2}, .one = 1, .other = 2};
    static variants same;
    same.count = 0;
    add_variant(&same, n);
    n.one = 2;
    n.other = 1;
    add_variant(&same, n);
    assert_memory_equal(same.stream[0], same.stream[2], sizeof same.stream[0]);
}

/* ---- what a receiver sees ---- */
static circle all;

/* Words of all members in four rounds, all values small, as models are; own seeds told, so that
 * only pairs' masks hide them. False alarm below 1e-6 for each of the statistics. */
static void test_transcript_is_uniform(void **state)
{
    (void)state;
    static int64_t seen[8 * 4 * MASKED_MOST];
    int64_t *at = seen;
    dice d = {11};
    masked_sum s;
    masked_sum_make(&s, &all, 0xff, MASKED_MOST, true);
    numbers held, word;
    numbers_make(&held, MASKED_MOST);
    numbers_make(&word, MASKED_MOST);
    tacit_mask_turn turn[8] = {0};
    for (s.round = 1; s.round <= 4; s.round++)
        for (size_t k = 0; k < s.count; k++, at += MASKED_MOST) {
            uint8_t seed[TACIT_MASK_KEY];
            for (size_t i = 0; i < MASKED_MOST; i++)
                numbers_at(&held)[i] = (int64_t)dice_below(&d, 2000) - 1000;
            assert_true(not_uniform(numbers_at(&held), held.shape.bytes) > 100);
            masked_sum_word(&s, k, &turn[k], &held, &word);
            assert_true(not_uniform(numbers_at(&word), word.shape.bytes) < 6);
            masked_sum_seed(&s, k, seed);
            tacit_mask_uncover(word.vector, seed, s.round, s.attempt);
            assert_true(not_uniform(numbers_at(&word), word.shape.bytes) < 6);
            memcpy(at, numbers_at(&word), word.shape.bytes);
        }
    assert_true(not_uniform(seen, sizeof seen) < 6);
    numbers_free(&held);
    numbers_free(&word);
}

/* Two words with the same masks: only somebody who goes round the turn gets them, and their
 * difference shows it. Two words as they should be do not. */
static void test_a_mask_used_twice_is_seen(void **state)
{
    (void)state;
    dice d = {12};
    masked_sum s;
    masked_sum_make(&s, &all, 0xf, MASKED_MOST, false);
    numbers held[2], word[3];
    for (int k = 0; k < 2; k++) {
        numbers_make(&held[k], MASKED_MOST);
        for (size_t i = 0; i < MASKED_MOST; i++)
            numbers_at(&held[k])[i] = (int64_t)dice_below(&d, UINT64_C(1) << 40);
    }
    for (int k = 0; k < 3; k++)
        numbers_make(&word[k], MASKED_MOST);
    tacit_mask_turn turn = {0}, copy = {0};
    masked_sum_word(&s, 1, &turn, &held[0], &word[0]);
    assert_int_equal(tacit_mask_turn_call(&turn, s.round, s.attempt), TACIT_NO);
    masked_sum_word(&s, 1, &copy, &held[1], &word[1]); /* a member with two memories */
    s.attempt++;
    masked_sum_word(&s, 1, &turn, &held[1], &word[2]);
    for (size_t i = 0; i < MASKED_MOST; i++) {
        const uint64_t first = (uint64_t)numbers_at(&word[0])[i];
        numbers_at(&word[1])[i] = (int64_t)((uint64_t)numbers_at(&word[1])[i] - first);
        numbers_at(&word[2])[i] = (int64_t)((uint64_t)numbers_at(&word[2])[i] - first);
    }
    assert_true(not_uniform(numbers_at(&word[1]), word[1].shape.bytes) > 100);
    assert_true(not_uniform(numbers_at(&word[2]), word[2].shape.bytes) < 6);
    for (int k = 0; k < 3; k++)
        numbers_free(&word[k]);
    for (int k = 0; k < 2; k++)
        numbers_free(&held[k]);
}

/* memcheck complains when a jump or an address depends on memory that is not defined: so all
 * secrets are declared undefined. (The one branch on a secret is in tacit_mask_agree, on whether
 * X25519 gave zero, which is no secret.) */
static void test_nothing_branches_on_secrets(void **state)
{
    (void)state;
    if (!RUNNING_ON_VALGRIND)
        skip();
    const unsigned before = (unsigned)VALGRIND_COUNT_ERRORS;
    tacit_error err;
    tacit_mask_keys keys;
    uint8_t seed[32] = {1}, shared[32] = {2}, own[32];
    tacit_mask masks[21] = {{.minus = false}};
    const tacit_mask_place place = {.epoch = 1};
    numbers held, word;
    numbers_make(&held, 100);
    numbers_make(&word, 100);
    VALGRIND_MAKE_MEM_UNDEFINED(seed, sizeof seed);
    VALGRIND_MAKE_MEM_UNDEFINED(shared, sizeof shared);
    VALGRIND_MAKE_MEM_UNDEFINED(numbers_at(&held), held.shape.bytes);
    tacit_mask_keys_make(&keys, seed);
    for (size_t k = 0; k < 21; k++)
        tacit_mask_derive(masks[k].key, shared, &place, 1, 2 + k);
    tacit_mask_own(own, seed, &place, 1, 0);
    tacit_mask_turn turn = {0};
    assert_int_equal(tacit_mask_turn_call(&turn, 1, 0), TACIT_OK);
    check_ok(tacit_mask_word(&turn, word.vector, 0, numbers_secret(&held), masks, 21, own, &err),
             &err);
    tacit_mask_gather(held.vector, word.vector, 0);
    tacit_mask_uncover(held.vector, own, 1, 0);
    assert_int_equal((unsigned)VALGRIND_COUNT_ERRORS, before);
    numbers_free(&held);
    numbers_free(&word);
}

int main(void)
{
    circle_make(&all, 8);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_width_is_chacha20),
                                       cmocka_unit_test(test_every_width_expands),
                                       cmocka_unit_test(test_long_streams),
                                       cmocka_unit_test(test_places_have_nothing_in_common),
                                       cmocka_unit_test(test_transcript_is_uniform),
                                       cmocka_unit_test(test_a_mask_used_twice_is_seen),
                                       cmocka_unit_test(test_nothing_branches_on_secrets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
