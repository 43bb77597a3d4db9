/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words with noise between pairs: what two ends draw cancels to the bit, is what the sampler makes
 * of the stream of RFC 8439, has the variance it should and nothing to do with other rounds, tries
 * and pairs; and what one pair added can be taken out of a sum again.
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

static tacit_noise *gaussian(uint64_t variance)
{
    tacit_error err;
    tacit_noise *noise;
    check_ok(tacit_noise_gaussian(&noise, (tacit_ratio){variance, 1}, &err), &err);
    return noise;
}

/* What a member says, and its seed; the number is added to `plain`. */
static void tell(const masked_sum *s, size_t member, const tacit_noise *noise, dice *d,
                 numbers *word, numbers *plain)
{
    tacit_error err;
    tacit_mask masks[MASKERS];
    uint8_t seed[TACIT_MASK_KEY];
    tacit_mask_turn turn = {0};
    numbers held;
    numbers_make(&held, s->party.numbers);
    for (size_t i = 0; i < s->party.numbers; i++)
        numbers_at(&held)[i] = any_number(d);
    tacit_mask_gather(plain->vector, held.vector, 0);
    const size_t count = masked_sum_masks(s, member, masks);
    masked_sum_seed(s, member, seed);
    assert_int_equal(tacit_mask_turn_call(&turn, s->round, s->attempt), TACIT_OK);
    check_ok(tacit_mask_word_noisy(&turn, word->vector, 0, numbers_secret(&held), noise, masks,
                                   count, seed, &err),
             &err);
    assert_int_equal(turn.state, TACIT_MASK_WORDED);
    tacit_mask_uncover(word->vector, seed, s->round, s->attempt);
    if (noise) /* what is left is near the number: the seed hid it, not the pairs */
        for (size_t i = 0; i < s->party.numbers; i++)
            assert_true(llabs((int64_t)((uint64_t)numbers_at(word)[i] -
                                        (uint64_t)numbers_at(&held)[i])) < 1 << 20);
    numbers_free(&held);
}

/* All tell but `missing` (SIZE_MAX: nobody), whose pairs are undone. */
static void check_sum(const masked_sum *s, const tacit_noise *noise, size_t missing, dice *d)
{
    const size_t n = s->party.numbers;
    numbers total, plain, word;
    numbers_make(&total, n);
    numbers_make(&plain, n);
    numbers_make(&word, n);
    for (size_t k = 0; k < s->count; k++)
        if (k != missing) {
            tell(s, k, noise, d, &word, &plain);
            tacit_mask_gather(total.vector, word.vector, 0);
        }
    if (missing < s->count)
        assert_memory_not_equal(numbers_at(&total), numbers_at(&plain), plain.shape.bytes);
    for (size_t k = 0; k < s->count && missing < s->count; k++) {
        bool adds;
        tacit_mask mask;
        if (!tacit_mask_pair(&s->party, k, missing, &adds))
            continue;
        mask.minus = !adds; /* as the one who is there added it */
        tacit_mask_derive(mask.key, s->all->shared[s->who[k]][s->who[missing]], &s->place,
                          s->name[k], s->name[missing]);
        tacit_mask_undo(total.vector, &mask, noise, s->round, s->attempt);
    }
    assert_memory_equal(numbers_at(&total), numbers_at(&plain), plain.shape.bytes);
    numbers_free(&total);
    numbers_free(&plain);
    numbers_free(&word);
}

static void test_ends_cancel(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 7, 100, 255, 256, 257, 600};
    dice d = {21};
    tacit_noise *noise = gaussian(1000000);
    for (size_t members = 2; members <= 12; members++) {
        masked_sum s;
        masked_sum_make(&s, &all, (UINT64_C(1) << members) - 1, lengths[members % 7], members % 2);
        s.round = dice_below(&d, UINT64_C(1) << 40);
        s.attempt = (uint32_t)dice_below(&d, 5);
        check_sum(&s, noise, SIZE_MAX, &d);
    }
    tacit_noise_free(noise);
}

static void test_missing_is_undone(void **state)
{
    (void)state;
    dice d = {22};
    tacit_noise *noise = gaussian(1000000);
    for (size_t missing = 0; missing < 8; missing++)
        for (int kind = 0; kind < 4; kind++) {
            masked_sum s;
            masked_sum_make(&s, &all, 0xff, 300, kind % 2);
            s.round = UINT64_MAX - missing;
            s.attempt = UINT32_MAX;
            check_sum(&s, kind < 2 ? noise : NULL, missing, &d);
        }
    tacit_noise_free(noise);
}

/* The draws of one pair. */
static void draws(numbers *out, size_t n, const tacit_noise *noise, const uint8_t key[32],
                  uint64_t round, uint32_t attempt)
{
    tacit_mask mask = {.minus = true};
    memcpy(mask.key, key, 32);
    numbers_make(out, n);
    tacit_mask_undo(out->vector, &mask, noise, round, attempt);
}

/* The sampler, reading bytes that libsodium made by the RFC's function, gives the same. */
static void test_stream_is_the_rfcs(void **state)
{
    (void)state;
    enum { N = 6 };
    static const uint8_t nonce[12] = {8, 7, 6, 5, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11};
    uint8_t key[32];
    for (int k = 0; k < 32; k++)
        key[k] = (uint8_t)(5 * k + 1);
    tacit_noise *noise = gaussian(100000000);
    numbers got;
    draws(&got, N, noise, key, 0x0102030405060708, 0x11121314);
    tacit_stream stream = {.used = 0};
    assert_int_equal(crypto_stream_chacha20_ietf(stream.buffer, sizeof stream.buffer, nonce, key),
                     0);
    int64_t want[N];
    tacit_noise_draw(noise, &stream, N, want);
    assert_int_equal(stream.block, 0); /* it did not read on */
    assert_memory_equal(numbers_at(&got), want, sizeof want);
    /* Pinned: peers of different builds must draw the same. */
    static const int64_t pinned[N] = {19915, 9775, 14626, -5018, -10025, -892};
    for (int k = 0; k < N; k++)
        assert_int_equal(numbers_at(&got)[k], pinned[k]);
    numbers_free(&got);
    tacit_noise_free(noise);
}

static double moment(const int64_t *a, const int64_t *b, size_t n, double variance)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += (double)a[k] * (double)b[k];
    return sum / ((double)n * variance);
}

/* Of n draws, the mean square over the variance is 1 within sqrt(2 / n) standard deviations, the
 * mean product of two streams 0 within sqrt(1 / n). 13 looks at 5.5 standard deviations: false
 * alarm below 13 * 4e-8 = 5e-7. */
static void test_variance_and_independence(void **state)
{
    (void)state;
    const size_t n = SLOW ? 1 << 13 : 1 << 16;
    const double sigma = 1234, root = sqrt((double)n);
    static const struct {
        uint8_t key[32];
        uint64_t round;
        uint32_t attempt;
    } where[] = {{{1}, 5, 0},
                 {{2}, 5, 0},
                 {{1}, 6, 0},
                 {{1}, 5, 1},
                 {{1}, 5 + (UINT64_C(1) << 32), 0},
                 {{1}, 0, 5},
                 {{1}, UINT64_C(5) << 32, 0}};
    enum { STREAMS = sizeof where / sizeof *where };
    tacit_noise *noise = gaussian(1234 * 1234);
    numbers z[STREAMS];
    for (int s = 0; s < STREAMS; s++) {
        draws(&z[s], n, noise, where[s].key, where[s].round, where[s].attempt);
        const double square = moment(numbers_at(&z[s]), numbers_at(&z[s]), n, sigma * sigma);
        assert_true(fabs(square - 1) * root < 5.5 * sqrt(2));
        if (s > 0)
            assert_true(
                fabs(moment(numbers_at(&z[0]), numbers_at(&z[s]), n, sigma * sigma)) * root < 5.5);
    }
    for (int s = 0; s < STREAMS; s++)
        numbers_free(&z[s]);
    tacit_noise_free(noise);
}

/* A member with k partners: k times the variance, and no less because of who adds and who
 * subtracts. False alarm 4e-8. */
static void test_word_has_the_noise_of_all_pairs(void **state)
{
    (void)state;
    const size_t n = SLOW ? 1 << 11 : 1 << 13, member = 7;
    tacit_error err;
    masked_sum s;
    masked_sum_make(&s, &all, (UINT64_C(1) << 20) - 1, n, false);
    tacit_noise *noise = gaussian(250000);
    tacit_mask masks[MASKERS];
    uint8_t seed[TACIT_MASK_KEY];
    const size_t count = masked_sum_masks(&s, member, masks);
    assert_int_equal(count, 19);
    masked_sum_seed(&s, member, seed);
    tacit_mask_turn turn = {0};
    assert_int_equal(tacit_mask_turn_call(&turn, s.round, s.attempt), TACIT_OK);
    numbers held, word;
    numbers_make(&held, n);
    numbers_make(&word, n);
    check_ok(tacit_mask_word_noisy(&turn, word.vector, 0, numbers_secret(&held), noise, masks,
                                   count, seed, &err),
             &err);
    assert_true(not_uniform(numbers_at(&word), word.shape.bytes) < 6); /* the seed covers it */
    tacit_mask_uncover(word.vector, seed, s.round, s.attempt);
    const double square = moment(numbers_at(&word), numbers_at(&word), n, 250000 * (double)count);
    assert_true(fabs(square - 1) < 5.5 * sqrt(2 / (double)n));
    numbers_free(&held);
    numbers_free(&word);
    tacit_noise_free(noise);
}

static void test_refusals(void **state)
{
    (void)state;
    tacit_error err;
    numbers held, word, longer, zero;
    numbers_make(&held, 4);
    numbers_make(&word, 4);
    numbers_make(&zero, 4);
    numbers_make(&longer, 5);
    tacit_noise *noise = gaussian(10000);
    const tacit_secret *in = numbers_secret(&held);
    const tacit_mask mask = {.key = {1}};
    const uint8_t own[32] = {2};
    tacit_mask_turn turn = {0};
#define WORD(to, count) \
    tacit_mask_word_noisy(&turn, (to).vector, 0, in, noise, &mask, count, own, &err)
    check_fails(WORD(word, 1), TACIT_EUSAGE, &err, "call");
    assert_int_equal(tacit_mask_turn_call(&turn, 1, 0), TACIT_OK);
    check_fails(WORD(word, 0), TACIT_EUSAGE, &err, "without a partner");
    check_fails(WORD(longer, 1), TACIT_EUSAGE, &err, "as many");
    tacit_vector_of_public(word.vector)->flags = TACIT_VECTOR_FROZEN;
    check_fails(WORD(word, 1), TACIT_EUSAGE, &err, "new vector");
    tacit_vector_of_public(word.vector)->flags = 0;
    held.shape.segment[0].count = word.shape.segment[0].count = (1 << 24) + 1;
    check_fails(WORD(word, 1), TACIT_EINPUT, &err, "use masks");
    held.shape.segment[0].count = word.shape.segment[0].count = 4;
    assert_memory_equal(numbers_at(&word), numbers_at(&zero), word.shape.bytes);
    assert_int_equal(turn.state, TACIT_MASK_CALLED);
    check_ok(WORD(word, 1), &err);
    check_fails(WORD(zero, 1), TACIT_EUSAGE, &err, "again");
#undef WORD
    numbers_free(&held);
    numbers_free(&word);
    numbers_free(&zero);
    numbers_free(&longer);
    tacit_noise_free(noise);
}

/* Without noise it is a word with masks. */
static void test_no_noise_is_masks(void **state)
{
    (void)state;
    tacit_error err;
    numbers held, one, other;
    numbers_make(&held, 50);
    numbers_make(&one, 50);
    numbers_make(&other, 50);
    const tacit_secret *in = numbers_secret(&held);
    const tacit_mask masks[2] = {{.key = {1}}, {.key = {3}, .minus = true}};
    const uint8_t own[32] = {2};
    tacit_mask_turn a = {.round = 3, .state = TACIT_MASK_CALLED}, b = a;
    check_ok(tacit_mask_word(&a, one.vector, 0, in, masks, 2, own, &err), &err);
    check_ok(tacit_mask_word_noisy(&b, other.vector, 0, in, NULL, masks, 2, own, &err), &err);
    assert_memory_equal(numbers_at(&one), numbers_at(&other), one.shape.bytes);
    assert_memory_equal(&a, &b, sizeof a);
    numbers_free(&held);
    numbers_free(&one);
    numbers_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends_cancel),
                                       cmocka_unit_test(test_missing_is_undone),
                                       cmocka_unit_test(test_stream_is_the_rfcs),
                                       cmocka_unit_test(test_variance_and_independence),
                                       cmocka_unit_test(test_word_has_the_noise_of_all_pairs),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_no_noise_is_masks)};
    return cmocka_run_group_tests(tests, make_circle, NULL);
}
