/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/streams.h"

#include <string.h>

#include "crypto/streams_kernels.h"

tacit_streams_kernel *tacit_streams_named(const char *name)
{
#ifdef TACIT_HAVE_X86_KERNELS
    if (strcmp(name, "avx512") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
                   ? tacit_streams_avx512
                   : NULL;
    if (strcmp(name, "avx2") == 0)
        return __builtin_cpu_supports("avx2") ? tacit_streams_avx2 : NULL;
#endif
    return strcmp(name, "base") == 0 ? tacit_streams_base : NULL;
}

/* The widest that this CPU has. The answer is the same every time, so no lock is needed. */
static tacit_streams_kernel *fastest(void)
{
    tacit_streams_kernel *kernel = tacit_streams_named("avx512");
    if (!kernel)
        kernel = tacit_streams_named("avx2");
    return kernel ? kernel : tacit_streams_base;
}

void tacit_streams_add(uint64_t *sum, size_t n, const tacit_mask *masks, size_t count,
                       uint64_t round, uint32_t attempt)
{
    const uint32_t nonce[3] = {(uint32_t)round, (uint32_t)(round >> 32), attempt};
    fastest()(sum, n, masks, count, nonce);
}
