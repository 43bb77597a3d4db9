/* SPDX-License-Identifier: Apache-2.0 */
#include "math/kernels.h"

#include <string.h>

#include "math/kernels_tables.h"

/* The answer is the same in every thread and every time, so no lock is needed. */
const tacit_kernels *tacit_kernels_get(void)
{
#ifdef TACIT_HAVE_X86_KERNELS
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
        return &tacit_kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &tacit_kernels_avx2;
#endif
    return &tacit_kernels_base;
}

const tacit_kernels *tacit_kernels_named(const char *name)
{
    const tacit_kernels *best = tacit_kernels_get();
    if (strcmp(name, best->name) == 0)
        return best;
    if (strcmp(name, "base") == 0)
        return &tacit_kernels_base;
#ifdef TACIT_HAVE_X86_KERNELS
    if (strcmp(name, "avx2") == 0 && best != &tacit_kernels_base)
        return &tacit_kernels_avx2;
#endif
    return NULL;
}
