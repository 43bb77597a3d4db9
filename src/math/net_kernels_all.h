/* SPDX-License-Identifier: Apache-2.0 */
/* The body of each net_kernels_*.c; LANES, ROWS and the table's name come from there. No include
 * guard on purpose. */
#include <math.h>
#include <string.h>

#include "math/net_kernels.h"

typedef float vec __attribute__((vector_size(4 * LANES)));
typedef float vec_load __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
#define HALF (LANES / 2)
typedef float few __attribute__((vector_size(4 * HALF)));
typedef double doubles __attribute__((vector_size(8 * HALF)));
typedef int32_t ivec __attribute__((vector_size(4 * LANES)));
#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define LOAD(p) ((vec)(*(const vec_load *)(const void *)(p)))
#define STORE(p, v) (*(vec_load *)(void *)(p) = (v))

INLINE vec choose(ivec mask, vec yes, vec no)
{
    return (vec)(((ivec)yes & mask) | ((ivec)no & ~mask));
}

/* The sum of a vector's numbers, halves first. */
INLINE float total(vec v)
{
    float part[LANES];
    memcpy(part, &v, sizeof part);
    UNROLL
    for (size_t half = LANES / 2; half; half /= 2)
        UNROLL
    for (size_t l = 0; l < half; l++)
        part[l] += part[l + half];
    return part[0];
}

/* All bits set in the last `count` lanes. */
INLINE ivec last_lanes(size_t count)
{
    static const int32_t order[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    ivec lane;
    memcpy(&lane, order, sizeof lane);
    return lane >= (int32_t)(LANES - count);
}

#include "math/net_curves.h"
#include "math/net_planes.h"
#include "math/net_product.h"

const tacit_net_kernels TABLE = {.name = TABLE_NAME,
                                 .lanes = LANES,
                                 .product = product,
                                 .pack = pack,
                                 .sum = sum,
                                 .square = square,
                                 .axpy = axpy,
                                 .exponentials = exponentials,
                                 .relu = relu,
                                 .tanh = hyperbolic,
                                 .mish = mish,
                                 .times = times,
                                 .convolve = convolve,
                                 .correlate = correlate,
                                 .pool2 = pool2,
                                 .unpool2 = unpool2};
