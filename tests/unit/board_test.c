/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boards: an honest one adds up to what its members hold, and of one that passes no bit can be
 * turned. What a signature covers is shown by signing again: then only the sum can object.
 */
#include <math.h>
#include <string.h>

#include "boards.h"

static tacit_status check(boards *b, tacit_error *err)
{
    return tacit_board_check(&b->board, boards_verify, b, err);
}

static void test_honest_boards_pass(void **state)
{
    (void)state;
    static const uint64_t gone[] = {0, 1, 4, 16, 1 | 2, 4 | 16, 1 | 8 | 16, 2 | 4 | 8 | 16};
    static const double pair[] = {0, 0.5, 1000, 1e6};
    tacit_error err;
    for (size_t k = 0; k < sizeof gone / sizeof *gone; k++)
        for (size_t p = 0; p < sizeof pair / sizeof *pair; p++) {
            boards b;
            boards_make(&b, gone[k], pair[p]);
            check_ok(check(&b, &err), &err);
        }
}

/* Turn one bit after the other and ask; all bits are as before afterwards. */
static void turn_bits(boards *b, void *at, size_t len, const char *what)
{
    uint8_t *bytes = at;
    for (size_t bit = 0; bit < 8 * len; bit++) {
        tacit_error err = {0};
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (check(b, &err) != TACIT_EVERIFY)
            fail_msg("bit %zu of %s was turned: \"%s\"", bit, what, err.text);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    tacit_error err;
    check_ok(check(b, &err), &err);
}

static void turn_words(boards *b)
{
    for (size_t k = 0; k < b->board.words; k += SLOW + 1) {
        tacit_board_word *w = &b->word[k];
        turn_bits(b, &w->agent, sizeof w->agent, "a word's agent");
        turn_bits(b, w->commit, sizeof w->commit, "a commitment");
        turn_bits(b, w->seed, sizeof w->seed, "a seed");
        turn_bits(b, w->signature, sizeof w->signature, "a word's signature");
    }
    for (size_t k = 0; k < BOARD_AGENTS; k++)
        if (k != 2) { /* who is not on the board */
            turn_bits(b, b->number[k], sizeof b->number[k], "a word");
            turn_bits(b, b->beside[k], sizeof b->beside[k], "what is beside");
        }
}

static void turn_keys(boards *b)
{
    for (size_t k = 0; k < b->board.keys; k += 2 * SLOW + 2) {
        tacit_board_key *key = &b->key[k];
        turn_bits(b, &key->from, sizeof key->from, "a key's owner");
        turn_bits(b, &key->gone, sizeof key->gone, "who is gone");
        turn_bits(b, key->key, sizeof key->key, "a key");
        turn_bits(b, key->signature, sizeof key->signature, "a key's signature");
    }
}

static void test_no_bit_can_be_turned(void **state)
{
    (void)state;
    for (int noisy = 0; noisy < (SLOW ? 1 : 2); noisy++) {
        boards b;
        boards_make(&b, 4, noisy ? 100 : 0);
        turn_words(&b);
        turn_keys(&b);
        turn_bits(&b, b.board.run, sizeof b.board.run, "the run");
        turn_bits(&b, &b.board.round, sizeof b.board.round, "the round");
        turn_bits(&b, &b.board.attempt, sizeof b.board.attempt, "the try");
        turn_bits(&b, &b.board.speaker, sizeof b.board.speaker, "the speaker");
        turn_bits(&b, &b.board.step, sizeof b.board.step, "the step");
        turn_bits(&b, &b.board.pair, sizeof b.board.pair, "the pairs' noise");
        turn_bits(&b, b.board.terms, sizeof b.board.terms, "the terms");
        turn_bits(&b, b.total, sizeof b.total, "the total");
        turn_bits(&b, b.beside_total, sizeof b.beside_total, "the open total");
    }
}

static void check_refused(boards *b, const char *word)
{
    tacit_error err = {0};
    check_fails(check(b, &err), TACIT_EVERIFY, &err, word);
}

static void test_order(void **state)
{
    (void)state;
    boards b;
    boards_make(&b, 4 | 16, 0);
    const tacit_board_word word = b.word[1];
    b.word[1] = b.word[2];
    b.word[2] = word;
    check_refused(&b, "words of a board must rise");
    boards_make(&b, 4 | 16, 0);
    b.word[1] = b.word[0]; /* twice the same */
    check_refused(&b, "words of a board must rise");
    boards_make(&b, 4 | 16, 0);
    const tacit_board_key key = b.key[0];
    b.key[0] = b.key[1];
    b.key[1] = key;
    check_refused(&b, "keys of a board must rise");
    boards_make(&b, 4 | 16, 0);
    b.key[1] = b.key[0];
    check_refused(&b, "keys of a board must rise");
    boards_make(&b, 4 | 16, 0);
    const tacit_board_key last = b.key[b.board.keys - 1];
    b.key[b.board.keys - 1] = b.key[0];
    b.key[0] = last;
    check_refused(&b, "keys of a board must rise");
}

/* A word, a key or all of them left out, and signed as if nothing had been. */
static void test_left_out(void **state)
{
    (void)state;
    boards b;
    boards_make(&b, 4, 0);
    b.board.words--;
    check_refused(&b, "who has a word");
    boards_make(&b, 0, 0);
    b.board.words--;
    check_refused(&b, "add up to");
    boards_make(&b, 4, 0);
    b.board.keys--;
    check_refused(&b, "add up to");
    boards_make(&b, 4, 0);
    b.board.words = b.board.keys = 0;
    check_refused(&b, "says nothing");
    boards_make(&b, 4, 0);
    b.board.numbers = 0;
    check_refused(&b, "says nothing");
}

/* Keys of two who are both there, or of one who is not. */
static void test_keys_of_others(void **state)
{
    (void)state;
    boards b;
    boards_make(&b, 4, 0);
    b.key[0].gone = b.word[2].agent;
    boards_sign(&b);
    check_refused(&b, "who has a word");
    boards_make(&b, 4 | 16, 0);
    b.board.keys = 1;
    b.key[0] = (tacit_board_key){.from = circle_name(2), .gone = circle_name(4)};
    boards_sign(&b);
    check_refused(&b, "who has a word");
}

/* Members who sign what is wrong: the sum objects, whoever signed. */
static void test_signed_lies(void **state)
{
    (void)state;
    boards b;
    boards_make(&b, 4, 0);
    b.number[0][1] += 1;
    boards_sign(&b);
    check_refused(&b, "number 1 of the total");
    boards_make(&b, 4, 0);
    b.beside[3][1] -= 1;
    boards_sign(&b);
    check_refused(&b, "open number 1");
    boards_make(&b, 4, 0);
    b.word[1].seed[0] ^= 1;
    boards_sign(&b);
    check_refused(&b, "committed to");
    boards_make(&b, 4, 0);
    b.key[1].key[31] ^= 1;
    boards_sign(&b);
    check_refused(&b, "number 0 of the total");
    boards_make(&b, 4, 0);
    b.board.round++;
    boards_sign(&b);
    check_refused(&b, "number 0 of the total");
}

static void test_absurd_heads(void **state)
{
    (void)state;
    const double bad[] = {0, -1, NAN, INFINITY, -INFINITY};
    boards b;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        boards_make(&b, 4, 0);
        b.board.step = bad[k];
        boards_sign(&b);
        check_refused(&b, "step");
        boards_make(&b, 4, 0);
        b.board.pair = bad[k] == 0 ? 0x1p40 : bad[k]; /* none is none */
        boards_sign(&b);
        check_refused(&b, "noise");
    }
}

/* One signs for another: what an agent's key says of other agents is not believed. */
static void test_signatures_are_ones_own(void **state)
{
    (void)state;
    boards b;
    boards_make(&b, 4, 0);
    const tacit_identity keep = b.identity[1];
    b.identity[1] = b.identity[0];
    boards_sign(&b);
    b.identity[1] = keep;
    b.known_count = 0;
    check_refused(&b, "does not bear its signature");
    boards_make(&b, 4, 0);
    memcpy(b.word[1].signature, b.word[0].signature, sizeof b.word[0].signature);
    check_refused(&b, "does not bear its signature");
    boards_make(&b, 4, 0);
    memcpy(b.key[1].signature, b.key[0].signature, sizeof b.key[0].signature);
    check_refused(&b, "does not bear its signature");
}

/* Every bit of what says what a word is of is in the text that is signed, whatever the sum says. */
static void cover(boards *b, void *at, size_t len, bool of_key)
{
    uint8_t before[2][TACIT_MASK_KEY], after[2][TACIT_MASK_KEY], *bytes = at;
    tacit_board_word_text(before[0], &b->board, &b->word[0]);
    tacit_board_key_text(before[1], &b->board, &b->key[0]);
    for (size_t k = 0; k < len; k++) {
        bytes[k] ^= 16;
        tacit_board_word_text(after[0], &b->board, &b->word[0]);
        tacit_board_key_text(after[1], &b->board, &b->key[0]);
        bytes[k] ^= 16;
        assert_memory_not_equal(before[of_key], after[of_key], TACIT_MASK_KEY);
    }
}

static void test_texts_cover_all(void **state)
{
    (void)state;
    boards b;
    boards_make(&b, 16, 0);
    for (int of_key = 0; of_key < 2; of_key++) {
        cover(&b, b.board.run, sizeof b.board.run, of_key);
        cover(&b, &b.board.round, sizeof b.board.round, of_key);
        cover(&b, &b.board.attempt, sizeof b.board.attempt, of_key);
        cover(&b, &b.board.speaker, sizeof b.board.speaker, of_key);
        cover(&b, &b.board.step, sizeof b.board.step, of_key);
        cover(&b, &b.board.pair, sizeof b.board.pair, of_key);
        cover(&b, b.board.terms, sizeof b.board.terms, of_key);
    }
    cover(&b, &b.word[0].agent, sizeof b.word[0].agent, false);
    cover(&b, b.word[0].commit, sizeof b.word[0].commit, false);
    cover(&b, b.number[0], sizeof b.number[0], false);
    cover(&b, b.beside[0], sizeof b.beside[0], false);
    cover(&b, &b.key[0].from, sizeof b.key[0].from, true);
    cover(&b, &b.key[0].gone, sizeof b.key[0].gone, true);
    cover(&b, b.key[0].key, sizeof b.key[0].key, true);
}

static tacit_status no_memory(void *ctx, tacit_agent agent, const void *text, size_t len,
                              const uint8_t signature[TACIT_SIGNATURE])
{
    (void)ctx, (void)agent, (void)text, (void)len, (void)signature;
    return TACIT_EINTERNAL;
}

static void test_other_failures_pass_through(void **state)
{
    (void)state;
    boards b;
    tacit_error err = {0};
    boards_make(&b, 4, 0);
    assert_int_equal(tacit_board_check(&b.board, no_memory, NULL, &err), TACIT_EINTERNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest_boards_pass),
        cmocka_unit_test(test_no_bit_can_be_turned),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_keys_of_others),
        cmocka_unit_test(test_signed_lies),
        cmocka_unit_test(test_absurd_heads),
        cmocka_unit_test(test_signatures_are_ones_own),
        cmocka_unit_test(test_texts_cover_all),
        cmocka_unit_test(test_other_failures_pass_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
