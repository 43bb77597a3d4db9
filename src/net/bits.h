/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NET_BITS_H
#define TACIT_NET_BITS_H
/*
 * Little-endian words, and rows of numbers of `width` bits: number i has bits i*width and up of
 * the row, the lowest first, bit b being bit b%8 of byte b/8. Shifts instead of memcpy, so that
 * a machine's own order of bytes does not matter; compilers make one load or store of them.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void tacit_put_u32(uint8_t *at, uint32_t v)
{
    at[0] = (uint8_t)v, at[1] = (uint8_t)(v >> 8);
    at[2] = (uint8_t)(v >> 16), at[3] = (uint8_t)(v >> 24);
}
static inline void tacit_put_u64(uint8_t *at, uint64_t v)
{
    at[0] = (uint8_t)v, at[1] = (uint8_t)(v >> 8);
    at[2] = (uint8_t)(v >> 16), at[3] = (uint8_t)(v >> 24);
    at[4] = (uint8_t)(v >> 32), at[5] = (uint8_t)(v >> 40);
    at[6] = (uint8_t)(v >> 48), at[7] = (uint8_t)(v >> 56);
}
static inline uint32_t tacit_get_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}
static inline uint64_t tacit_get_u64(const uint8_t *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 |
           (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 |
           (uint64_t)at[7] << 56;
}

/* A row being written: whole words go to `at`, the rest waits in `word`. */
typedef struct tacit_bit_writer {
    uint8_t *at;
    uint64_t word;
    unsigned fill; /* bits of `word` in use: below 64 */
} tacit_bit_writer;

/* n numbers, each below 2^width; width 1..63 */
static inline void tacit_bits_write(tacit_bit_writer *to, const uint64_t *v, size_t n,
                                    unsigned width)
{
    tacit_bit_writer w = *to;
    for (size_t i = 0; i < n; i++) {
        w.word |= v[i] << w.fill;
        w.fill += width;
        if (w.fill >= 64) {
            tacit_put_u64(w.at, w.word);
            w.at += 8;
            w.fill -= 64;
            w.word = v[i] >> (width - w.fill); /* what did not fit; width - fill is 1..63 */
        }
    }
    *to = w;
}
/* The last bytes; unused bits are zero. */
static inline uint8_t *tacit_bits_finish(tacit_bit_writer *to)
{
    for (; to->fill > 0; to->fill = to->fill > 8 ? to->fill - 8 : 0, to->word >>= 8)
        *to->at++ = (uint8_t)to->word;
    return to->at;
}

/* Number `i` of a row that ends at byte `len`, near which whole words cannot be read. */
static inline uint64_t tacit_bits_last(const uint8_t *row, size_t len, size_t i, unsigned width)
{
    size_t bit = i * width, first = bit >> 3;
    unsigned shift = (unsigned)(bit & 7);
    uint8_t some[9] = {0};
    memcpy(some, row + first, len - first < sizeof some ? len - first : sizeof some);
    uint64_t v = tacit_get_u64(some) >> shift;
    if (shift > 0)
        v |= (uint64_t)some[8] << (64 - shift);
    return v & ((UINT64_C(1) << width) - 1);
}

/* Numbers from..from+n-1 of a row of `len` bytes that holds them; width 1..63 */
static inline void tacit_bits_read(uint64_t *v, const uint8_t *row, size_t len, size_t from,
                                   size_t n, unsigned width)
{
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    size_t i = 0;
    /* One load has at least 57 bits of a number that starts anywhere in its first byte. */
    if (width <= 57 && len >= 8) {
        size_t safe = ((len - 8) * 8 + 7) / width + 1; /* how many start in byte len-8 or before */
        size_t fast = safe <= from ? 0 : safe - from < n ? safe - from : n;
        for (; i < fast; i++) {
            size_t bit = (from + i) * width;
            v[i] = tacit_get_u64(row + (bit >> 3)) >> (bit & 7) & mask;
        }
    }
    for (; i < n; i++)
        v[i] = tacit_bits_last(row, len, from + i, width);
}

#endif
