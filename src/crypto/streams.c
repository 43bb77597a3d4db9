/* SPDX-License-Identifier: Apache-2.0 */
#include "crypto/streams.h"

#include <string.h>

#include "crypto/streams_kernels.h"

/* ---- which one ---- */

typedef struct kernels {
    const char *name;
    tacit_streams_kernel *streams;
    tacit_expand_kernel *expand;
} kernels;

/* The widest first. */
static const kernels all[] = {
#ifdef TACIT_HAVE_X86_KERNELS
    {"avx512", tacit_streams_avx512, tacit_expand_avx512},
    {"avx2", tacit_streams_avx2, tacit_expand_avx2},
#endif
    {"base", tacit_streams_base, tacit_expand_base},
};
enum { KERNELS = sizeof all / sizeof *all };

static bool runs_here(const kernels *k)
{
#ifdef TACIT_HAVE_X86_KERNELS
    if (k->streams == tacit_streams_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    if (k->streams == tacit_streams_avx2)
        return __builtin_cpu_supports("avx2");
#endif
    (void)k;
    return true;
}

static const kernels *named(const char *name)
{
    for (size_t k = 0; k < KERNELS; k++)
        if (strcmp(all[k].name, name) == 0 && runs_here(&all[k]))
            return &all[k];
    return NULL;
}

tacit_streams_kernel *tacit_streams_named(const char *name)
{
    const kernels *k = named(name);
    return k ? k->streams : NULL;
}

tacit_expand_kernel *tacit_expand_named(const char *name)
{
    const kernels *k = named(name);
    return k ? k->expand : NULL;
}

/* The answer is the same every time, so no lock is needed. */
static const kernels *fastest(void)
{
    size_t k = 0;
    while (!runs_here(&all[k]))
        k++;
    return &all[k];
}

/* ---- doors ---- */

void tacit_streams_add(uint64_t *sum, size_t n, const tacit_mask *masks, size_t count,
                       uint64_t round, uint32_t attempt)
{
    const uint32_t nonce[3] = {(uint32_t)round, (uint32_t)(round >> 32), attempt};
    fastest()->streams(sum, n, masks, count, nonce);
}

void tacit_mask_expand(uint8_t *key, size_t stride, const tacit_mask_source *from, size_t count,
                       uint64_t number)
{
    fastest()->expand(key, stride, from, count, number);
}
