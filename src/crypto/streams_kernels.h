/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_STREAMS_KERNELS_H
#define TACIT_STREAMS_KERNELS_H
/* tacit_streams_add and tacit_mask_expand for each kind of CPU; `nonce` as ChaCha20 takes it. */
#include "crypto/streams.h"

typedef void tacit_streams_kernel(uint64_t *sum, size_t n, const tacit_mask *masks, size_t count,
                                  const uint32_t nonce[3]);
typedef void tacit_expand_kernel(uint8_t *key, size_t stride, const tacit_mask_source *from,
                                 size_t count, uint64_t number);
tacit_streams_kernel tacit_streams_base;
tacit_expand_kernel tacit_expand_base;
#ifdef TACIT_HAVE_X86_KERNELS
tacit_streams_kernel tacit_streams_avx2, tacit_streams_avx512;
tacit_expand_kernel tacit_expand_avx2, tacit_expand_avx512;
#endif
/* NULL if this CPU or build has none: "base", "avx2", "avx512". For tests. */
tacit_streams_kernel *tacit_streams_named(const char *name);
tacit_expand_kernel *tacit_expand_named(const char *name);

static inline uint32_t tacit_le32(const uint8_t in[4])
{
    return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

#endif
