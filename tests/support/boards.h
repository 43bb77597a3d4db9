/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BOARDS_H
#define TACIT_BOARDS_H
/* A small board, made as members would make it: all pairs share masks, some members go missing
 * after the words were made, the others tell their keys. */
#include "masking.h"
#include "net/keys.h"
#include "tacit/board.h"

enum { BOARD_AGENTS = 5, BOARD_NUMBERS = 3, BOARD_BESIDE = 2, BOARD_KEYS = 16 };

typedef struct boards {
    tacit_identity identity[BOARD_AGENTS];
    tacit_board board;
    tacit_board_word word[BOARD_AGENTS];
    tacit_board_key key[BOARD_KEYS];
    int64_t number[BOARD_AGENTS][BOARD_NUMBERS], beside[BOARD_AGENTS][BOARD_BESIDE];
    int64_t total[BOARD_NUMBERS], beside_total[BOARD_BESIDE];
    struct {
        tacit_agent agent;
        uint8_t text[TACIT_MASK_KEY], signature[TACIT_SIGNATURE];
    } known[BOARD_AGENTS + BOARD_KEYS]; /* what was signed: need not be checked again */
    size_t known_count;
} boards;

/* `gone`: bit k, agent k goes missing. `pair`: Gaussian noise of so many steps instead of masks.
 * What is on the board adds up to `total`, computed from what they hold without any mask. */
void boards_make(boards *b, uint64_t gone, double pair);
/* As what they sign: agent circle_name(k) is "ward-k". */
void boards_name(char name[64], tacit_agent agent);
/* Agents sign what is on the board now. */
void boards_sign(boards *b);
/* A tacit_board_verify with the boards as its context. */
tacit_status boards_verify(void *ctx, tacit_agent agent, const void *text, size_t len,
                           const uint8_t signature[TACIT_SIGNATURE]);

#endif
