/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/streams.h"

#include <sodium.h>

#define BATCH 128 /* numbers, a whole count of blocks */

static uint64_t get_le64(const uint8_t in[8])
{
    uint64_t v = 0;
    for (int k = 0; k < 8; k++)
        v |= (uint64_t)in[k] << (8 * k);
    return v;
}

static void add_one(uint64_t *sum, size_t n, const tacit_mask *mask, const uint8_t nonce[12])
{
    uint8_t bytes[8 * BATCH];
    const uint64_t minus = -(uint64_t)mask->minus;
    for (size_t at = 0; at < n; at += BATCH) {
        const size_t some = n - at < BATCH ? n - at : BATCH;
        sodium_memzero(bytes, 8 * some);
        crypto_stream_chacha20_ietf_xor_ic(bytes, bytes, 8 * some, nonce, (uint32_t)(at / 8),
                                           mask->key);
        for (size_t k = 0; k < some; k++)
            sum[at + k] += (get_le64(bytes + 8 * k) ^ minus) - minus;
    }
    sodium_memzero(bytes, sizeof bytes);
}

void tacit_streams_add(uint64_t *sum, size_t n, const tacit_mask *masks, size_t count,
                       uint64_t round, uint32_t attempt)
{
    uint8_t nonce[12];
    for (int k = 0; k < 8; k++)
        nonce[k] = (uint8_t)(round >> (8 * k));
    for (int k = 0; k < 4; k++)
        nonce[8 + k] = (uint8_t)(attempt >> (8 * k));
    for (size_t k = 0; k < count; k++)
        add_one(sum, n, &masks[k], nonce);
}
