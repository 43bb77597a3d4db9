/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ChaCha20 with a 64-bit nonce and a 64-bit block number, many blocks side by side: the first
 * words of many streams, or many blocks of one. Included by kernels_all.h after
 * base/chacha_lanes.h.
 */
#include <sodium.h>

/* ---- first words, eight blocks side by side whatever the registers: often few are wanted ---- */

typedef uint32_t lanes8 __attribute__((vector_size(32)));

static void chacha_words8(const uint32_t key[8], const uint64_t nonce[8], const uint64_t block[8],
                          uint64_t word[8])
{
    lanes8 x[16];
    for (int w = 0; w < 4; w++)
        x[w] = (lanes8){0} + tacit_chacha_constant[w];
    for (int w = 0; w < 8; w++)
        x[4 + w] = (lanes8){0} + key[w];
    for (int k = 0; k < 8; k++) {
        x[12][k] = (uint32_t)block[k];
        x[13][k] = (uint32_t)(block[k] >> 32);
        x[14][k] = (uint32_t)nonce[k];
        x[15][k] = (uint32_t)(nonce[k] >> 32);
    }
    ROUNDS(x);
    lanes8 low = x[0] + tacit_chacha_constant[0], high = x[1] + tacit_chacha_constant[1];
    for (int k = 0; k < 8; k++)
        word[k] = (uint64_t)high[k] << 32 | low[k];
}

static void chacha_words(const uint32_t key[8], size_t n, const uint64_t *nonce,
                         const uint64_t *block, uint64_t *word)
{
    size_t k = 0;
    for (; k + 8 <= n; k += 8)
        chacha_words8(key, nonce + k, block + k, word + k);
    if (k == n)
        return;
    uint64_t some_nonce[8] = {0}, some_block[8] = {0}, some_word[8];
    memcpy(some_nonce, nonce + k, (n - k) * sizeof *nonce);
    memcpy(some_block, block + k, (n - k) * sizeof *block);
    chacha_words8(key, some_nonce, some_block, some_word);
    memcpy(word + k, some_word, (n - k) * sizeof *word);
}

/* ---- blocks of one stream ---- */

/* What the blocks start from, and room for a last few; together, so that both are wiped. */
typedef struct side_by_side {
    lanes start[16], index; /* index: which of LANES blocks a lane has */
    uint8_t last[LANES * 64];
} side_by_side;

static void begin_blocks(side_by_side *s, const uint32_t key[8], uint64_t nonce)
{
    for (int w = 0; w < 4; w++)
        s->start[w] = (lanes){0} + tacit_chacha_constant[w];
    for (int w = 0; w < 8; w++)
        s->start[4 + w] = (lanes){0} + key[w];
    s->start[14] = (lanes){0} + (uint32_t)nonce;
    s->start[15] = (lanes){0} + (uint32_t)(nonce >> 32);
    for (size_t l = 0; l < LANES; l++)
        s->index[l] = (uint32_t)(half_of(l) + 2 * place_of(l));
}

INLINE void some_blocks(side_by_side *s, uint64_t block, uint8_t *out)
{
    lanes x[16];
    s->start[12] = s->index + (uint32_t)block;
    s->start[13] = (uint32_t)(block >> 32) - (lanes)(s->start[12] < s->index); /* the carry */
    rounds(x, s->start);
    pairs v[2 * WORDS];
#pragma GCC unroll 8
    for (size_t w = 0; w < WORDS; w++) {
        pairs half[2];
        halves(half, x[2 * w], x[2 * w + 1]);
        v[w] = half[0];
        v[WORDS + w] = half[1];
    }
    const size_t vectors = fold(v, 1);
    for (size_t k = 0; k < vectors; k++)
        memcpy(out + k * sizeof *v, &v[k], sizeof *v);
}

static void chacha_blocks(const uint32_t key[8], uint64_t nonce, uint64_t block, size_t count,
                          uint8_t *out)
{
    side_by_side s;
    begin_blocks(&s, key, nonce);
    for (; count >= LANES; count -= LANES, block += LANES, out += LANES * 64)
        some_blocks(&s, block, out);
    if (count > 0) {
        some_blocks(&s, block, s.last);
        memcpy(out, s.last, count * 64);
    }
    sodium_memzero(&s, sizeof s);
}
