/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_MASKING_H
#define TACIT_MASKING_H
/* Agents with keys who make masked words: what tests of masks share. */
#include "tacit/masks.h"
#include "testing.h"

enum { MASKERS = 40, MASKED_MOST = 4096 };

/* A vector of whole numbers; free() it. */
typedef struct numbers {
    tacit_shape shape;
    tacit_public *vector;
} numbers;
void numbers_make(numbers *x, size_t count);
void numbers_free(numbers *x);
int64_t *numbers_at(numbers *x);
const tacit_secret *numbers_secret(const numbers *x);

/* Any 64 bits, the extremes among them oftener than they would be. */
int64_t any_number(dice *d);

/* Keys of all agents, and what every two of them share. Agent k is called 10 + 3 k. */
typedef struct circle {
    tacit_mask_keys keys[MASKERS];
    uint8_t shared[MASKERS][MASKERS][TACIT_MASK_KEY];
    uint8_t secret[MASKERS][TACIT_MASK_KEY]; /* for own seeds */
} circle;
void circle_make(circle *c, size_t agents);
tacit_agent circle_name(size_t k);

/* One sum: who takes part (numbers of agents, rising) and where. */
typedef struct masked_sum {
    const circle *all;
    size_t who[MASKERS], count;
    tacit_agent name[MASKERS];
    tacit_mask_party party;
    tacit_mask_place place;
    uint64_t round;
    uint32_t attempt;
} masked_sum;
/* The first `count` agents; or, with `of`, those whose bit is set there. */
void masked_sum_make(masked_sum *s, const circle *all, uint64_t of, uint64_t numbers, bool split);
size_t masked_sum_masks(const masked_sum *s, size_t member, tacit_mask masks[MASKERS]);
void masked_sum_seed(const masked_sum *s, size_t member, uint8_t seed[TACIT_MASK_KEY]);
/* What a member says; the turn is called first. */
void masked_sum_word(const masked_sum *s, size_t member, tacit_mask_turn *turn, const numbers *held,
                     numbers *word);

/* How far bytes are from uniform: byte counts, bits, one byte and the next; each in standard
 * deviations of truly uniform bytes. The largest of the three is returned: above 6 with probability
 * below 1e-6 for thousands of bytes. */
double not_uniform(const void *bytes, size_t len);

#endif
