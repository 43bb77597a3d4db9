/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words to candidates, without a branch (random/layers.c has the method). Included by kernels_all.h
 * after base/chacha_lanes.h, whose vectors and shuffles it uses.
 *
 * A slot is found word by word, with two loads and a comparison; what is known of it is one load
 * of 32 bytes. HALF of these are turned into vectors of their starts, sures, lefts and masks by the
 * shuffles that bring ChaCha20's lanes together, and the rest is arithmetic.
 */
#if F32_LANES >= 8
typedef uint64_t record __attribute__((vector_size(32)));
typedef uint64_t loose_record __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t signed_pairs __attribute__((vector_size(8 * HALF)));

/* The slots of words k, and k + 4 if that fits. */
INLINE pairs records_of(const tacit_boxes *boxes, const uint64_t *word, size_t k)
{
    const record low = *(const loose_record *)tacit_slot_of(boxes, word[k]);
#if F32_LANES >= 16
    const record high = *(const loose_record *)tacit_slot_of(boxes, word[k + 4]);
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#else
    return low;
#endif
}

/* HALF candidates; all ones where one is not sure. */
INLINE pairs candidates(const tacit_boxes *boxes, const uint64_t *word, int64_t *out)
{
    pairs start, sure, left, mask, a, b, c, d;
    part(&a, &b, records_of(boxes, word, 0), records_of(boxes, word, 1), 1);
    part(&c, &d, records_of(boxes, word, 2), records_of(boxes, word, 3), 1);
    part(&start, &left, a, c, 2);
    part(&sure, &mask, b, d, 2);
    const pairs w = *(const loose *)word, minus = w & 1, rest = (w >> 1) - start;
    *(loose *)out = ((left + (rest & mask)) ^ -minus) + minus;
    return (pairs)((signed_pairs)rest >= (signed_pairs)sure); /* both are below 2^63 */
}
#endif

static uint64_t box_candidates(const tacit_boxes *boxes, size_t n, const uint64_t *word,
                               int64_t *out)
{
    uint64_t doubtful = 0;
    size_t k = 0;
#if F32_LANES >= 8
    static const uint64_t each[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    pairs bit = *(const loose *)each, bits = {0};
    for (; k + HALF <= n; k += HALF, bit <<= HALF)
        bits |= candidates(boxes, word + k, out + k) & bit;
    for (size_t l = 0; l < HALF; l++)
        doubtful |= bits[l];
#endif
    for (; k < n; k++) {
        const tacit_slot *slot = tacit_slot_of(boxes, word[k]);
        const uint64_t minus = word[k] & 1, rest = (word[k] >> 1) - slot->start;
        out[k] = (int64_t)(((slot->left + (rest & slot->mask)) ^ -minus) + minus);
        doubtful |= (uint64_t)(rest >= slot->sure) << k;
    }
    return doubtful;
}
