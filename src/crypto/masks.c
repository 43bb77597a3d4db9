/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words and sums modulo 2^64. A word is made in its own memory and nowhere else: what is there
 * before the last mask was added is the secret, so the masks go in first and the secret last.
 */
#include "tacit/masks.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "crypto/streams.h"
#include "crypto/word.h"

uint64_t *tacit_word_numbers(tacit_vector *v, uint32_t segment)
{
    if (segment >= v->shape->segments || v->shape->segment[segment].scalar != TACIT_I64)
        return NULL;
    return tacit_vector_segment(v, segment);
}

tacit_status tacit_word_check(const tacit_mask_turn *turn, tacit_vector *out, uint32_t out_segment,
                              tacit_vector *in, size_t count, tacit_error *err)
{
    if (turn->state != TACIT_MASK_CALLED)
        return tacit_fail(err, TACIT_EUSAGE,
                          "a second word for round %llu would use its masks again; wait for a call",
                          (unsigned long long)turn->round);
    if (count == 0)
        return tacit_fail(err, TACIT_EUSAGE, "a word without a partner's mask hides nothing");
    if (!tacit_word_numbers(out, out_segment) || !tacit_word_numbers(in, 0) ||
        out->shape->segment[out_segment].count != in->shape->segment[0].count ||
        (out->flags & TACIT_VECTOR_FROZEN))
        return tacit_fail(err, TACIT_EUSAGE,
                          "a word must be a new vector of as many whole numbers as it hides");
    return TACIT_OK;
}

tacit_status tacit_mask_word(tacit_mask_turn *turn, tacit_public *out, uint32_t out_segment,
                             const tacit_secret *number, const tacit_mask *masks, size_t count,
                             const uint8_t own[TACIT_MASK_KEY], tacit_error *err)
{
    tacit_vector *to = tacit_vector_of_public(out), *from = tacit_vector_of_secret(number);
    const tacit_status status = tacit_word_check(turn, to, out_segment, from, count, err);
    if (status != TACIT_OK)
        return status;
    turn->state = TACIT_MASK_WORDED;
    uint64_t *word = tacit_word_numbers(to, out_segment);
    const uint64_t *secret = tacit_word_numbers(from, 0);
    const size_t n = from->shape->segment[0].count;
    tacit_mask last = {.minus = false};
    memcpy(last.key, own, sizeof last.key);
    memset(word, 0, n * sizeof *word);
    tacit_streams_add(word, n, &last, 1, turn->round, turn->attempt);
    tacit_streams_add(word, n, masks, count, turn->round, turn->attempt);
    for (size_t k = 0; k < n; k++)
        word[k] += secret[k];
    tacit_mask_wipe(&last, sizeof last);
    return TACIT_OK;
}

void tacit_mask_gather(tacit_public *sum, const tacit_public *word, uint32_t word_segment)
{
    uint64_t *to = tacit_word_numbers(tacit_vector_of_public(sum), 0);
    const uint64_t *from = tacit_word_numbers(tacit_vector_of_public(word), word_segment);
    const size_t n = tacit_public_count(sum, 0);
    assert(to && from && tacit_public_count(word, word_segment) == n);
    for (size_t k = 0; k < n; k++)
        to[k] += from[k];
}

void tacit_mask_uncover(tacit_public *sum, const uint8_t own[TACIT_MASK_KEY], uint64_t round,
                        uint32_t attempt)
{
    tacit_mask mask = {.minus = true};
    memcpy(mask.key, own, sizeof mask.key);
    uint64_t *to = tacit_word_numbers(tacit_vector_of_public(sum), 0);
    assert(to);
    tacit_streams_add(to, tacit_public_count(sum, 0), &mask, 1, round, attempt);
    tacit_mask_wipe(&mask, sizeof mask);
}

/* Exact: the scaled bound is a power of two away from `most`, and rounded up to a whole number. */
bool tacit_mask_fits(double most, size_t members, int32_t fraction)
{
    if (!(most >= 0))
        return false;
    const double steps = most > 0 ? fmax(1, ceil(ldexp(most, fraction))) : 0;
    uint64_t total;
    return steps < 0x1p63 && !__builtin_mul_overflow((uint64_t)steps, (uint64_t)members, &total) &&
           total <= INT64_MAX;
}
