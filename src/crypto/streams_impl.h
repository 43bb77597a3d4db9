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

#include "base/chacha.h"
#include "crypto/streams_kernels.h"

enum { HALF = LANES / 2, WORDS = 8 }; /* 64-bit numbers of a block */

typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));
typedef uint64_t pairs __attribute__((vector_size(4 * LANES)));
typedef uint64_t loose __attribute__((vector_size(4 * LANES), aligned(8), may_alias));

#define INLINE static inline __attribute__((always_inline))

/* Both vectors' even 64-bit (128-bit, 256-bit) parts by turns, and the odd ones. */
#if LANES == 16
#define LOW32 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define HIGH32 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define EVEN1 0, 8, 2, 10, 4, 12, 6, 14
#define ODD1 1, 9, 3, 11, 5, 13, 7, 15
#define EVEN2 0, 1, 8, 9, 4, 5, 12, 13
#define ODD2 2, 3, 10, 11, 6, 7, 14, 15
#define EVEN4 0, 1, 2, 3, 8, 9, 10, 11
#define ODD4 4, 5, 6, 7, 12, 13, 14, 15
#elif LANES == 8
#define LOW32 0, 8, 1, 9, 4, 12, 5, 13
#define HIGH32 2, 10, 3, 11, 6, 14, 7, 15
#define EVEN1 0, 4, 2, 6
#define ODD1 1, 5, 3, 7
#define EVEN2 0, 1, 4, 5
#define ODD2 2, 3, 6, 7
#else
#define LOW32 0, 4, 1, 5
#define HIGH32 2, 6, 3, 7
#define EVEN1 0, 2
#define ODD1 1, 3
#endif

static const uint32_t constant[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

typedef struct tile {
    lanes start[16]; /* what the blocks start from: constants, keys, block numbers, nonce */
    pairs minus[2];  /* all ones where a stream is to be taken away, in the order of halves() */
    size_t wide;
    uint64_t last[LANES * WORDS]; /* here, and not beside, so that it is wiped with the rest */
} tile;

#if LANES == 8
/* AVX2 cannot rotate, but moves bytes in one step where shifts take three. */
typedef uint8_t bytes __attribute__((vector_size(4 * LANES)));
#define EACH(a, b, c, d)                                                                        \
    a, b, c, d, a + 4, b + 4, c + 4, d + 4, a + 8, b + 8, c + 8, d + 8, a + 12, b + 12, c + 12, \
        d + 12, a + 16, b + 16, c + 16, d + 16, a + 20, b + 20, c + 20, d + 20, a + 24, b + 24, \
        c + 24, d + 24, a + 28, b + 28, c + 28, d + 28
#define TURN16(v) ((lanes)__builtin_shufflevector((bytes)(v), (bytes)(v), EACH(2, 3, 0, 1)))
#define TURN8(v) ((lanes)__builtin_shufflevector((bytes)(v), (bytes)(v), EACH(3, 0, 1, 2)))
#undef QUARTER
#define QUARTER(a, b, c, d)    \
    do {                       \
        a += b;                \
        d = TURN16(d ^ a);     \
        c += d;                \
        b = ROTATE(b ^ c, 12); \
        a += b;                \
        d = TURN8(d ^ a);      \
        c += d;                \
        b = ROTATE(b ^ c, 7);  \
    } while (0)
#endif

INLINE void rounds(lanes x[16], const lanes start[16])
{
    for (int w = 0; w < 16; w++)
        x[w] = start[w];
    for (int round = 0; round < 10; round++) {
        QUARTER(x[0], x[4], x[8], x[12]);
        QUARTER(x[1], x[5], x[9], x[13]);
        QUARTER(x[2], x[6], x[10], x[14]);
        QUARTER(x[3], x[7], x[11], x[15]);
        QUARTER(x[0], x[5], x[10], x[15]);
        QUARTER(x[1], x[6], x[11], x[12]);
        QUARTER(x[2], x[7], x[8], x[13]);
        QUARTER(x[3], x[4], x[9], x[14]);
    }
    for (int w = 0; w < 16; w++)
        x[w] += start[w];
}

/* 64-bit numbers of low and high words, with their signs. */
INLINE void halves(pairs out[2], lanes low, lanes high, const pairs minus[2])
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    lanes swap = low;
    low = high;
    high = swap;
#endif
    out[0] = (pairs)__builtin_shufflevector(low, high, LOW32);
    out[1] = (pairs)__builtin_shufflevector(low, high, HIGH32);
    for (int h = 0; h < 2; h++)
        out[h] = (out[h] ^ minus[h]) - minus[h];
}

/* The even and the odd parts of two vectors. */
INLINE void part(pairs *even, pairs *odd, pairs a, pairs b, size_t step)
{
    *even = __builtin_shufflevector(a, b, EVEN1);
    *odd = __builtin_shufflevector(a, b, ODD1);
#if LANES >= 8
    if (step == 2) {
        *even = __builtin_shufflevector(a, b, EVEN2);
        *odd = __builtin_shufflevector(a, b, ODD2);
    }
#endif
#if LANES >= 16
    if (step == 4) {
        *even = __builtin_shufflevector(a, b, EVEN4);
        *odd = __builtin_shufflevector(a, b, ODD4);
    }
#endif
    (void)step;
}

/*
 * Sums over lanes, and numbers of one block brought together, at once. Rows are blocks. At first a
 * vector holds one of the eight numbers of a block, of HALF lanes; a step makes one vector of two
 * numbers out of two, and lanes that differ in one bit are added up if they are of one block, or
 * become two rows. In the end a row's vectors hold its eight numbers in order.
 */
INLINE void fold(uint64_t *sum, const lanes x[16], const pairs minus[2], size_t wide)
{
    pairs v[2 * WORDS];
    size_t rows = wide == LANES ? 1 : 2, vectors = WORDS;
    for (size_t w = 0; w < WORDS; w++) {
        pairs half[2];
        halves(half, x[2 * w], x[2 * w + 1], minus);
        v[w] = wide == LANES ? half[0] + half[1] : half[0];
        if (wide < LANES)
            v[WORDS + w] = half[1];
    }
    for (size_t step = 1; step < HALF; step *= 2, vectors /= 2) {
        pairs to[2 * WORDS];
        for (size_t k = 0; k < rows * vectors / 2; k++) {
            pairs even, odd;
            part(&even, &odd, v[2 * k], v[2 * k + 1], step);
            to[k] = wide > step ? even + odd : even;
            if (wide <= step)
                to[rows * vectors / 2 + k] = odd;
        }
        rows = wide > step ? rows : 2 * rows;
        for (size_t k = 0; k < rows * vectors / 2; k++)
            v[k] = to[k]; /* cppcheck-suppress uninitvar ; all of them were written above */
    }
    for (size_t k = 0; k < rows * vectors; k++)
        *(loose *)(sum + k * HALF) += v[k];
}

/* One copy for each width: a tile's steps are settled when it is compiled. */
INLINE void add_tile(uint64_t *sum, const lanes x[16], const tile *t)
{
    switch (t->wide) {
#if LANES >= 16
    case 8:
        fold(sum, x, t->minus, 8);
        break;
#endif
#if LANES >= 8
    case 4:
        fold(sum, x, t->minus, 4);
        break;
#endif
    case 2:
        fold(sum, x, t->minus, 2);
        break;
    case 1:
        fold(sum, x, t->minus, 1);
        break;
    default:
        fold(sum, x, t->minus, LANES);
    }
}

/* Which mask and which block a lane has follows from where halves() will bring it. */
static void tile_start(tile *t, const tacit_mask *masks, size_t wide, const uint32_t nonce[3])
{
    t->wide = wide;
    for (int w = 0; w < 4; w++)
        t->start[w] = (lanes){0} + constant[w];
    for (int w = 0; w < 8; w++)
        t->start[4 + w] = (lanes){0} + tacit_le32(masks->key + 4 * w);
    for (int w = 0; w < 3; w++)
        t->start[13 + w] = (lanes){0} + nonce[w];
    for (size_t l = 0; l < LANES; l++) {
        const size_t half = l / 2 % 2, at = l / 4 * 2 + l % 2;
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
        block[w] = (lanes){0} + constant[w];
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
