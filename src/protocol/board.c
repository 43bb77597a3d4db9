/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was published of one sum, added up again (thesis 001, section 4.1.4).
 *
 * A member's word is signed together with everything that says what it is a word of: run, round,
 * try, speaker, sizes, step, noise, terms. So no word can be carried into another sum, and no
 * number of a board is free: words, commitments and beside by the member's signature, seeds by
 * the commitments, keys by the signature of who told them, totals by the sum. Of the order of
 * words and keys exactly one is right, so that a board of given words is one text, not many.
 *
 *   commitment  BLAKE2b-256 of "tacit board seed 1" and the seed
 *   word        BLAKE2b-256 of "tacit board word 1", head, agent, commitment, numbers, beside
 *   key         BLAKE2b-256 of "tacit board key 1", head, from, gone, key
 *   head        run, round, attempt, speaker, numbers, beside, step, pair, terms
 *
 * Labels with their final zero; numbers are 8 bytes, the lowest first; step and pair as their bits.
 *
 * Streams are those of round 256 round + attempt, attempt 0: each try has words of its own
 * (totals.h), for which masks.h counts as if it were a round.
 *
 * Of two agents who share a stream the lower one adds it: so a key's sign follows from its names.
 */
#include "tacit/board.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { NOISY = 1 << 24 }; /* numbers that can be drawn from one stream: noise.h */

typedef crypto_generichash_state hashing;

static void put_u64(hashing *h, uint64_t value)
{
    uint8_t le[8];
    for (int k = 0; k < 8; k++)
        le[k] = (uint8_t)(value >> 8 * k);
    crypto_generichash_update(h, le, sizeof le);
}

static void put_real(hashing *h, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u64(h, bits);
}

/* Many numbers, some at a time. */
static void put_numbers(hashing *h, const int64_t *number, size_t count)
{
    enum { SOME = 64 };
    uint8_t le[8 * SOME];
    for (size_t at = 0; at < count; at += SOME) {
        const size_t n = count - at < SOME ? count - at : SOME;
        for (size_t k = 0; k < n; k++)
            for (int byte = 0; byte < 8; byte++)
                le[8 * k + (size_t)byte] = (uint8_t)((uint64_t)number[at + k] >> 8 * byte);
        crypto_generichash_update(h, le, 8 * n);
    }
}

static void begin(hashing *h, const char *label, size_t len)
{
    crypto_generichash_init(h, NULL, 0, TACIT_MASK_KEY);
    crypto_generichash_update(h, (const uint8_t *)label, len);
}

static void put_head(hashing *h, const tacit_board *board)
{
    crypto_generichash_update(h, board->run, sizeof board->run);
    put_u64(h, board->round);
    put_u64(h, board->attempt);
    put_u64(h, board->speaker);
    put_u64(h, board->numbers);
    put_u64(h, board->beside);
    put_real(h, board->step);
    put_real(h, board->pair);
    crypto_generichash_update(h, board->terms, sizeof board->terms);
}

void tacit_board_commit(uint8_t commit[TACIT_MASK_KEY], const uint8_t seed[TACIT_MASK_KEY])
{
    static const char label[] = "tacit board seed 1";
    hashing h;
    begin(&h, label, sizeof label);
    crypto_generichash_update(&h, seed, TACIT_MASK_KEY);
    crypto_generichash_final(&h, commit, TACIT_MASK_KEY);
    sodium_memzero(&h, sizeof h);
}

void tacit_board_word_text(uint8_t text[TACIT_MASK_KEY], const tacit_board *board,
                           const tacit_board_word *word)
{
    static const char label[] = "tacit board word 1";
    hashing h;
    begin(&h, label, sizeof label);
    put_head(&h, board);
    put_u64(&h, word->agent);
    crypto_generichash_update(&h, word->commit, sizeof word->commit);
    put_numbers(&h, word->number, board->numbers);
    put_numbers(&h, word->beside, board->beside);
    crypto_generichash_final(&h, text, TACIT_MASK_KEY);
}

void tacit_board_key_text(uint8_t text[TACIT_MASK_KEY], const tacit_board *board,
                          const tacit_board_key *key)
{
    static const char label[] = "tacit board key 1";
    hashing h;
    begin(&h, label, sizeof label);
    put_head(&h, board);
    put_u64(&h, key->from);
    put_u64(&h, key->gone);
    crypto_generichash_update(&h, key->key, sizeof key->key);
    crypto_generichash_final(&h, text, TACIT_MASK_KEY);
    sodium_memzero(&h, sizeof h);
}

void tacit_board_clear(tacit_board *board)
{
    free(board->memory);
    *board = (tacit_board){.memory = NULL};
}

tacit_status tacit_board_noise(tacit_noise **out, double pair, tacit_error *err)
{
    *out = NULL;
    if (pair == 0)
        return TACIT_OK;
    if (!(pair > 0) || !(pair < TACIT_NOISE_SIGMA_MAX))
        return tacit_fail(err, TACIT_EINPUT,
                          "noise between pairs must be at least 0 and below 2^32 steps, not %g",
                          pair);
    const double variance = pair * pair;
    if (!(variance > 0))
        return tacit_fail(err, TACIT_EINPUT, "noise of %g steps between pairs is none", pair);
    return tacit_noise_gaussian(out, tacit_ratio_below(variance), err);
}

/* ---- checking ---- */

static tacit_status refuse_order(tacit_error *err, const char *what, uint64_t one, uint64_t other)
{
    return tacit_fail(err, TACIT_EVERIFY,
                      "%s of a board must rise: agent %" PRIu64 " does not follow agent %" PRIu64,
                      what, other, one);
}

static tacit_status check_head(const tacit_board *board, tacit_error *err)
{
    if (board->numbers == 0 || board->words == 0)
        return tacit_fail(err, TACIT_EVERIFY, "a board of %zu words of %zu numbers says nothing",
                          board->words, board->numbers);
    if (board->attempt > 255 || board->round >> 56)
        return tacit_fail(err, TACIT_EVERIFY,
                          "a board of try %" PRIu32 " of round %" PRIu64 ": there is none such",
                          board->attempt, board->round);
    if (!(board->step > 0) || !isfinite(board->step) || !(board->pair >= 0) ||
        !(board->pair < TACIT_NOISE_SIGMA_MAX))
        return tacit_fail(err, TACIT_EVERIFY,
                          "a board's step must be above 0 and its noise not below, not %g and %g",
                          board->step, board->pair);
    if (board->pair > 0 && board->numbers > NOISY)
        return tacit_fail(err, TACIT_EVERIFY,
                          "a board with noise between pairs has %zu numbers at most, not %zu",
                          (size_t)NOISY, board->numbers);
    return TACIT_OK;
}

static bool has_word(const tacit_board *board, tacit_agent agent)
{
    size_t low = 0, high = board->words;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (board->word[middle].agent < agent)
            low = middle + 1;
        else
            high = middle;
    }
    return low < board->words && board->word[low].agent == agent;
}

static tacit_status check_order(const tacit_board *board, tacit_error *err)
{
    for (size_t k = 1; k < board->words; k++)
        if (board->word[k - 1].agent >= board->word[k].agent)
            return refuse_order(err, "words", board->word[k - 1].agent, board->word[k].agent);
    for (size_t k = 0; k < board->keys; k++) {
        const tacit_board_key *key = &board->key[k], *last = k ? key - 1 : NULL;
        if (last && last->from > key->from)
            return refuse_order(err, "keys", last->from, key->from);
        if (last && last->from == key->from && last->gone >= key->gone)
            return refuse_order(err, "keys", last->gone, key->gone);
        if (!has_word(board, key->from) || has_word(board, key->gone))
            return tacit_fail(err, TACIT_EVERIFY,
                              "a key of agents %" PRIu64 " and %" PRIu64
                              " is on the board, but it is not the first only who has a word there",
                              key->from, key->gone);
    }
    return TACIT_OK;
}

static tacit_status check_signature(tacit_status verdict, const char *what, tacit_agent agent,
                                    tacit_error *err)
{
    if (verdict != TACIT_NO)
        return verdict;
    return tacit_fail(err, TACIT_EVERIFY,
                      "the %s of agent %" PRIu64 " does not bear its signature: it was changed, is "
                      "of another sum, or was never its own",
                      what, agent);
}

static tacit_status check_words(const tacit_board *board, tacit_board_verify *verify, void *ctx,
                                tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < board->words && status == TACIT_OK; k++) {
        const tacit_board_word *word = &board->word[k];
        uint8_t text[TACIT_MASK_KEY];
        tacit_board_commit(text, word->seed);
        if (memcmp(text, word->commit, sizeof text) != 0)
            return tacit_fail(err, TACIT_EVERIFY,
                              "the seed of agent %" PRIu64 " is not the one it committed to",
                              word->agent);
        tacit_board_word_text(text, board, word);
        status = check_signature(verify(ctx, word->agent, text, sizeof text, word->signature),
                                 "word", word->agent, err);
    }
    return status;
}

static tacit_status check_keys(const tacit_board *board, tacit_board_verify *verify, void *ctx,
                               tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < board->keys && status == TACIT_OK; k++) {
        const tacit_board_key *key = &board->key[k];
        uint8_t text[TACIT_MASK_KEY];
        tacit_board_key_text(text, board, key);
        status = check_signature(verify(ctx, key->from, text, sizeof text, key->signature), "key",
                                 key->from, err);
    }
    return status;
}

static uint64_t trial_of(const tacit_board *board)
{
    return board->round << 8 | board->attempt;
}

/* Modulo 2^64, as words are. */
static void add_words(const tacit_board *board, tacit_public *sum)
{
    for (size_t k = 0; k < board->words; k++)
        for (size_t i = 0; i < board->numbers; i++)
            tacit_public_set_int(sum, 0, i,
                                 (int64_t)((uint64_t)tacit_public_get_int(sum, 0, i) +
                                           (uint64_t)board->word[k].number[i]));
    for (size_t k = 0; k < board->words; k++)
        tacit_mask_uncover(sum, board->word[k].seed, trial_of(board), 0);
}

static void take_keys(const tacit_board *board, const tacit_noise *noise, tacit_public *sum)
{
    for (size_t k = 0; k < board->keys; k++) {
        const tacit_board_key *key = &board->key[k];
        tacit_mask mask = {.minus = key->from > key->gone};
        memcpy(mask.key, key->key, sizeof mask.key);
        tacit_mask_undo(sum, &mask, noise, trial_of(board), 0);
    }
}

static tacit_status check_sum(const tacit_board *board, tacit_error *err)
{
    tacit_noise *noise = NULL;
    tacit_public *sum = NULL;
    tacit_status status = tacit_board_noise(&noise, board->pair, err);
    if (status != TACIT_OK)
        return status;
    if (!(sum = tacit_mask_sum_create(board->numbers))) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    add_words(board, sum);
    take_keys(board, noise, sum);
    for (size_t i = 0; i < board->numbers && status == TACIT_OK; i++)
        if (tacit_public_get_int(sum, 0, i) != board->total[i])
            status = tacit_fail(err, TACIT_EVERIFY,
                                "number %zu of the total is %" PRId64
                                ", but the words add up to %" PRId64,
                                i, board->total[i], tacit_public_get_int(sum, 0, i));
out:
    tacit_mask_sum_free(sum);
    tacit_noise_free(noise);
    return status;
}

static tacit_status check_beside(const tacit_board *board, tacit_error *err)
{
    for (size_t i = 0; i < board->beside; i++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < board->words; k++)
            sum += (uint64_t)board->word[k].beside[i];
        if ((int64_t)sum != board->beside_total[i])
            return tacit_fail(err, TACIT_EVERIFY,
                              "open number %zu of the total is %" PRId64
                              ", but the words add up to %" PRId64,
                              i, board->beside_total[i], (int64_t)sum);
    }
    return TACIT_OK;
}

tacit_status tacit_board_check(const tacit_board *board, tacit_board_verify *verify, void *ctx,
                               tacit_error *err)
{
    tacit_status status = check_head(board, err);
    if (status == TACIT_OK)
        status = check_order(board, err);
    if (status == TACIT_OK)
        status = check_words(board, verify, ctx, err);
    if (status == TACIT_OK)
        status = check_keys(board, verify, ctx, err);
    if (status == TACIT_OK)
        status = check_sum(board, err);
    return status == TACIT_OK ? check_beside(board, err) : status;
}
