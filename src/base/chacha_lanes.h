/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BASE_CHACHA_LANES_H
#define TACIT_BASE_CHACHA_LANES_H
/*
 * Included with LANES (32-bit numbers a vector register holds) by those who compute LANES blocks
 * of ChaCha20 at once, one in each lane of sixteen registers: the rounds, and the way from lanes
 * back to blocks. Neither branches nor addresses depend on keys or streams.
 *
 * Loops over vectors are unrolled by order: only so are they all kept in registers.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/chacha.h"

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
#pragma GCC unroll 16
    for (int w = 0; w < 16; w++)
        x[w] = start[w];
    ROUNDS(x);
#pragma GCC unroll 16
    for (int w = 0; w < 16; w++)
        x[w] += start[w];
}

/* Where halves() brings lane l: to which of its two vectors, and where there. */
INLINE size_t half_of(size_t l)
{
    return l / 2 % 2;
}

INLINE size_t place_of(size_t l)
{
    return l / 4 * 2 + l % 2;
}

/* 64-bit numbers of low and high words. */
INLINE void halves(pairs out[2], lanes low, lanes high)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    lanes swap = low;
    low = high;
    high = swap;
#endif
    out[0] = (pairs)__builtin_shufflevector(low, high, LOW32);
    out[1] = (pairs)__builtin_shufflevector(low, high, HIGH32);
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

/* A step of fold(): `count` vectors in, and how many are left. */
INLINE size_t fold_once(pairs v[2 * WORDS], size_t count, size_t step, bool add)
{
    pairs even[WORDS], odd[WORDS];
#pragma GCC unroll 8
    for (size_t k = 0; k < WORDS; k++)
        if (2 * k < count)
            part(&even[k], &odd[k], v[2 * k], v[2 * k + 1], step);
#pragma GCC unroll 8
    for (size_t k = 0; k < WORDS; k++)
        if (2 * k < count) {
            v[k] = add ? even[k] + odd[k] : even[k];
            if (!add)
                v[count / 2 + k] = odd[k];
        }
    return add ? count / 2 : count;
}

/*
 * Sums over lanes, and numbers of one block brought together, at once. Rows are blocks; `wide`
 * lanes have the same block, of different streams. At first a vector holds one of the eight numbers
 * of a block, of HALF lanes: v[0] to v[7], and the other halves behind them if wide < LANES. A step
 * makes one vector of two numbers out of two, and lanes that differ in one bit are added up if they
 * are of one block, or become two rows. In the end a row's vectors hold its eight numbers in order;
 * how many vectors these are in all is returned.
 */
INLINE size_t fold(pairs v[2 * WORDS], size_t wide)
{
    size_t count = wide == LANES ? WORDS : 2 * WORDS;
#pragma GCC unroll 3
    for (size_t step = 1; step < HALF; step *= 2)
        count = fold_once(v, count, step, wide > step);
    return count;
}

#endif
