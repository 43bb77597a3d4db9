/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_STREAMS_H
#define TACIT_STREAMS_H
/*
 * ChaCha20 keystreams as vectors of numbers modulo 2^64, added up.
 *
 * The stream of a key, a round and an attempt is that of RFC 8439: 96-bit nonce, 32-bit block
 * number, from block 0. Nonce: round in the first eight bytes, attempt in the last four, lowest
 * byte first. Eight bytes a number, the lowest first.
 */
#include "tacit/masks.h"

/* sum[i] +/-= number i of every stream. At most 2^35 numbers. */
void tacit_streams_add(uint64_t *sum, size_t n, const tacit_mask *masks, size_t count,
                       uint64_t round, uint32_t attempt);

#endif
