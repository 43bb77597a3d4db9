/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words with Gaussian noise between pairs: GOPA as printed (thesis 001, section 4.1). What u tells
 * is
 *
 *     word_u = x_u + sum over partners v of Delta_uv + stream(own seed),     Delta_uv = -Delta_vu
 *
 * (the independent eta_u is in x_u already). Deviations: Delta is a discrete Gaussian, and an own
 * seed hides the word until the set it belongs to is settled.
 *
 * Both ends of a pair must draw the same integers: the sampler is integer arithmetic on words of a
 * stream, and the stream is the pair's, the same RFC 8439 one that masks are (streams.h). A
 * tacit_stream is Bernstein's ChaCha20: its block number has 64 bits, and its nonce 64. The
 * low half of that block number is the RFC's block number, the high half the nonce's first word, so
 * round and attempt take the same places, and a stream is as far from its neighbours as masks are.
 *
 * Unlike masks.c, the sampler's time depends on what it draws, as that of all noise here does.
 */
#include <assert.h>
#include <string.h>

#include "crypto/streams.h"
#include "crypto/word.h"

#define DRAWS_MOST (UINT64_C(1) << 24) /* of one stream: noise.h */

static void open_stream(tacit_stream *stream, const uint8_t key[TACIT_MASK_KEY], uint64_t round,
                        uint32_t attempt)
{
    *stream = (tacit_stream){.agent = (uint64_t)attempt << 32 | round >> 32,
                             .block = round << 32,
                             .used = sizeof stream->buffer};
    memcpy(stream->key, key, sizeof stream->key);
}

/* number[i] +/-= draw i of the pair. */
static void add_noise(uint64_t *number, size_t n, const tacit_noise *noise, const tacit_mask *mask,
                      uint64_t round, uint32_t attempt)
{
    enum { PIECE = 256 };
    int64_t z[PIECE];
    tacit_stream stream;
    open_stream(&stream, mask->key, round, attempt);
    const uint64_t turn = mask->minus ? UINT64_MAX : 0; /* -z = (z ^ ~0) - ~0 */
    for (size_t at = 0; at < n; at += PIECE) {
        const size_t now = n - at < PIECE ? n - at : PIECE;
        tacit_noise_draw(noise, &stream, now, z);
        for (size_t k = 0; k < now; k++)
            number[at + k] += ((uint64_t)z[k] ^ turn) - turn;
    }
    tacit_stream_clear(&stream);
    tacit_mask_wipe(z, (n < PIECE ? n : PIECE) * sizeof *z);
}

/* As in tacit_mask_word, the secret comes last: before, the own seed's stream alone is there. */
tacit_status tacit_mask_word_noisy(tacit_mask_turn *turn, tacit_public *out, uint32_t out_segment,
                                   const tacit_secret *number, const tacit_noise *noise,
                                   const tacit_mask *masks, size_t count,
                                   const uint8_t own[TACIT_MASK_KEY], tacit_error *err)
{
    if (!noise)
        return tacit_mask_word(turn, out, out_segment, number, masks, count, own, err);
    tacit_vector *to = tacit_vector_of_public(out), *from = tacit_vector_of_secret(number);
    const tacit_status status = tacit_word_check(turn, to, out_segment, from, count, err);
    if (status != TACIT_OK)
        return status;
    const size_t n = from->shape->segment[0].count;
    if (n > DRAWS_MOST)
        return tacit_fail(err, TACIT_EINPUT,
                          "noise between two agents is drawn for %llu numbers at most, not %zu; "
                          "use masks",
                          (unsigned long long)DRAWS_MOST, n);
    turn->state = TACIT_MASK_WORDED;
    uint64_t *word = tacit_word_numbers(to, out_segment);
    const uint64_t *secret = tacit_word_numbers(from, 0);
    tacit_mask last = {.minus = false};
    memcpy(last.key, own, sizeof last.key);
    memset(word, 0, n * sizeof *word);
    tacit_streams_add(word, n, &last, 1, turn->round, turn->attempt);
    for (size_t k = 0; k < count; k++)
        add_noise(word, n, noise, &masks[k], turn->round, turn->attempt);
    for (size_t k = 0; k < n; k++)
        word[k] += secret[k];
    tacit_mask_wipe(&last, sizeof last);
    return TACIT_OK;
}

void tacit_mask_undo(tacit_public *sum, const tacit_mask *mask, const tacit_noise *noise,
                     uint64_t round, uint32_t attempt)
{
    uint64_t *to = tacit_word_numbers(tacit_vector_of_public(sum), 0);
    const size_t n = tacit_public_count(sum, 0);
    assert(to && (!noise || n <= DRAWS_MOST));
    tacit_mask back = *mask;
    back.minus = !mask->minus;
    if (noise)
        add_noise(to, n, noise, &back, round, attempt);
    else
        tacit_streams_add(to, n, &back, 1, round, attempt);
    tacit_mask_wipe(&back, sizeof back);
}
