/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_STREAMS_KERNELS_H
#define TACIT_STREAMS_KERNELS_H
/* tacit_streams_add for each kind of CPU; `nonce` as ChaCha20 takes it. */
#include "crypto/streams.h"

typedef void tacit_streams_kernel(uint64_t *sum, size_t n, const tacit_mask *masks, size_t count,
                                  const uint32_t nonce[3]);
tacit_streams_kernel tacit_streams_base;
#ifdef TACIT_HAVE_X86_KERNELS
tacit_streams_kernel tacit_streams_avx2, tacit_streams_avx512;
#endif
/* NULL if this CPU or build has none: "base", "avx2", "avx512". For tests. */
tacit_streams_kernel *tacit_streams_named(const char *name);

static inline uint32_t tacit_le32(const uint8_t in[4])
{
    return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

#endif
