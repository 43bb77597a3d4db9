/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BOARD_H
#define TACIT_BOARD_H
/*
 * What was published of one sum, signed, so that anybody can add it up again: the bulletin board
 * of thesis 001, section 4.1.4 (without its zero-knowledge proofs: a board proves that the total is
 * the sum of what members published, not that they told the truth about themselves).
 *
 *     total = sum of words - streams of the members' own seeds - what pairs with members who went
 *             missing had added (their keys for this try, told by the partner)
 */
#include "tacit/env.h"
#include "tacit/masks.h"

typedef struct tacit_board_word {
    tacit_agent agent;
    uint8_t commit[TACIT_MASK_KEY]; /* tacit_board_commit of its seed */
    uint8_t seed[TACIT_MASK_KEY];   /* told by the member, or joined from shares */
    uint8_t signature[TACIT_SIGNATURE];
    const int64_t *number; /* board->numbers */
    const int64_t *beside; /* board->beside, openly */
} tacit_board_word;

/* `from` is in the sum, `gone` is not; what they had in common is taken out. */
typedef struct tacit_board_key {
    tacit_agent from, gone;
    uint8_t key[TACIT_MASK_KEY];
    uint8_t signature[TACIT_SIGNATURE];
} tacit_board_key;

typedef struct tacit_board {
    uint8_t run[TACIT_RUN_ID];
    uint64_t round;
    uint32_t attempt; /* below 256 */
    tacit_agent speaker;
    size_t numbers, beside;
    double step;                   /* value = number * step */
    double pair;                   /* steps: sigma of Gaussian pair noise; 0: uniform masks */
    uint8_t terms[TACIT_MASK_KEY]; /* hash of what all agreed on */
    const tacit_board_word *word;  /* by rising agent */
    size_t words;
    const tacit_board_key *key; /* by (from, gone) */
    size_t keys;
    const int64_t *total;        /* numbers */
    const int64_t *beside_total; /* beside */
    void *memory;                /* all of the above, if tacit_board_clear shall free it */
} tacit_board;
void tacit_board_clear(tacit_board *board);

/* What a member commits to when it publishes its word, and what it signs by tacit_sign: 32 bytes.
 */
void tacit_board_commit(uint8_t commit[TACIT_MASK_KEY], const uint8_t seed[TACIT_MASK_KEY]);
void tacit_board_word_text(uint8_t text[TACIT_MASK_KEY], const tacit_board *board,
                           const tacit_board_word *word);
void tacit_board_key_text(uint8_t text[TACIT_MASK_KEY], const tacit_board *board,
                          const tacit_board_key *key);

/* The noise of pairs that `pair` means, the same for who made words and who adds up again;
 * NULL for 0. tacit_noise_free when done. */
tacit_status tacit_board_noise(tacit_noise **out, double pair, tacit_error *err);

typedef tacit_status tacit_board_verify(void *ctx, tacit_agent agent, const void *text, size_t len,
                                        const uint8_t signature[TACIT_SIGNATURE]);
/* Order, commitments, signatures, and the sum itself. TACIT_EVERIFY says what does not hold. */
tacit_status tacit_board_check(const tacit_board *board, tacit_board_verify *verify, void *ctx,
                               tacit_error *err);

#endif
