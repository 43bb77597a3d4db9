/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by each streams_*.c with LANES (32-bit numbers a vector register holds), NAME and
 * EXPAND.
 *
 * A block of ChaCha20 is sixteen 32-bit words; here LANES blocks are computed at once, one in each
 * lane of sixteen registers. Masks are short (a hundred numbers are 12.5 blocks) and many, so the
 * lanes are shared out as a tile: `wide` masks, LANES / wide blocks of each. Masks are taken off
 * the list by the largest power of two that fits, so that 21 masks of 13 blocks in 16 lanes are
 * 13 + 4 + 1 passes: 288 lanes for 273 blocks. Nothing is stored but sums: the streams of a tile
 * are added up, with their signs, in the registers.
 *
 * Neither branches nor addresses depend on keys or streams.
 */
#include <string.h>

#include "base/chacha_lanes.h"
#include "crypto/streams_kernels.h"

typedef struct tile {
    lanes start[16]; /* what the blocks start from: constants, keys, block numbers, nonce */
    pairs minus[2];  /* all ones where a stream is to be taken away, in the order of halves() */
    size_t wide;
    uint64_t last[LANES * WORDS]; /* here, and not beside, so that it is wiped with the rest */
} tile;

INLINE void add_folded(uint64_t *sum, const lanes x[16], const pairs minus[2], size_t wide)
{
    pairs v[2 * WORDS];
#pragma GCC unroll 8
    for (size_t w = 0; w < WORDS; w++) {
        pairs half[2];
        halves(half, x[2 * w], x[2 * w + 1]);
        for (int h = 0; h < 2; h++)
            half[h] = (half[h] ^ minus[h]) - minus[h];
        v[w] = wide == LANES ? half[0] + half[1] : half[0];
        if (wide < LANES)
            v[WORDS + w] = half[1];
    }
    const size_t vectors = fold(v, wide);
    for (size_t k = 0; k < vectors; k++)
        *(loose *)(sum + k * HALF) += v[k];
}

/* One copy for each width: a tile's steps are settled when it is compiled. */
INLINE void add_tile(uint64_t *sum, const lanes x[16], const tile *t)
{
    switch (t->wide) {
#if LANES >= 16
    case 8:
        add_folded(sum, x, t->minus, 8);
        break;
#endif
#if LANES >= 8
    case 4:
        add_folded(sum, x, t->minus, 4);
        break;
#endif
    case 2:
        add_folded(sum, x, t->minus, 2);
        break;
    case 1:
        add_folded(sum, x, t->minus, 1);
        break;
    default:
        add_folded(sum, x, t->minus, LANES);
    }
}

/* Which mask and which block a lane has follows from where halves() will bring it. */
static void tile_start(tile *t, const tacit_mask *masks, size_t wide, const uint32_t nonce[3])
{
    t->wide = wide;
    for (int w = 0; w < 4; w++)
        t->start[w] = (lanes){0} + tacit_chacha_constant[w];
    for (int w = 0; w < 8; w++)
        t->start[4 + w] = (lanes){0} + tacit_le32(masks->key + 4 * w);
    for (int w = 0; w < 3; w++)
        t->start[13 + w] = (lanes){0} + nonce[w];
    for (size_t l = 0; l < LANES; l++) {
        const size_t half = half_of(l), at = place_of(l);
        const bool all = wide == LANES;
        const size_t k = all ? half * HALF + at : at & (wide - 1);
        for (int w = 0; w < 8 && k > 0; w++)
            t->start[4 + w][l] = tacit_le32(masks[k].key + 4 * w);
        t->start[12][l] = (uint32_t)(all ? 0 : half + at / wide * 2);
        t->minus[half][at] = -(uint64_t)masks[k].minus;
    }
}

static void tile_add(uint64_t *sum, size_t n, tile *t)
{
    const size_t blocks = LANES / t->wide, numbers = WORDS * blocks;
    for (size_t at = 0; at < n; at += numbers) {
        lanes x[16];
        rounds(x, t->start);
        t->start[12] += (uint32_t)blocks;
        const size_t left = n - at;
        uint64_t *to = left < numbers ? t->last : sum + at; /* less than was computed is wanted */
        if (left < numbers)
            memcpy(t->last, sum + at, left * sizeof *sum);
        add_tile(to, x, t);
        if (left < numbers)
            memcpy(sum + at, t->last, left * sizeof *sum);
    }
}

void NAME(uint64_t *sum, size_t n, const tacit_mask *masks, size_t count, const uint32_t nonce[3])
{
    tile t;
    memset(t.last, 0, sizeof t.last);
    while (count > 0) {
        size_t wide = LANES;
        while (wide > count)
            wide /= 2;
        tile_start(&t, masks, wide, nonce);
        tile_add(sum, n, &t);
        masks += wide;
        count -= wide;
    }
    tacit_mask_wipe(&t, sizeof t);
}

/* ---- keys ---- */

/* LANES secrets side by side, one block of each; what is over repeats the last. */
static void expand_some(uint8_t *key, size_t stride, const tacit_mask_source *from, size_t count,
                        lanes block[16], uint64_t number)
{
    lanes x[16];
    for (int w = 0; w < 4; w++)
        block[w] = (lanes){0} + tacit_chacha_constant[w];
    block[12] = (lanes){0};
    block[13] = (lanes){0} + (uint32_t)number;
    block[14] = (lanes){0} + (uint32_t)(number >> 32);
    for (size_t l = 0; l < LANES; l++) {
        const tacit_mask_source *one = &from[l < count ? l : count - 1];
        for (int w = 0; w < 8; w++)
            block[4 + w][l] = tacit_le32(one->secret + 4 * w);
        block[15][l] = one->label;
    }
    rounds(x, block);
    for (int w = 0; w < 8; w++)
        block[w] = x[w];
    for (size_t l = 0; l < count; l++)
        for (int w = 0; w < 8; w++) {
            const uint32_t word = block[w][l];
            for (int b = 0; b < 4; b++)
                key[l * stride + 4 * (size_t)w + (size_t)b] = (uint8_t)(word >> 8 * b);
        }
}

void EXPAND(uint8_t *key, size_t stride, const tacit_mask_source *from, size_t count,
            uint64_t number)
{
    lanes block[16]; /* here, so that it is wiped once */
    for (size_t at = 0; at < count; at += LANES)
        expand_some(key + at * stride, stride, from + at, count - at < LANES ? count - at : LANES,
                    block, number);
    tacit_mask_wipe(block, sizeof block);
}
