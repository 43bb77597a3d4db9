/* SPDX-License-Identifier: Apache-2.0 */
/* The body of each kernels_*.c; F32_LANES and TABLE come from there. */
#include <math.h>
#include <string.h>

#include "math/kernels.h"
#include "math/kernels_tables.h"

/* Vectors of theta, and as many of g, that fit the registers beside all else. */
#define NARROW (F32_LANES == 16 ? 7 : 3)
/* ... and of theta alone. */
#define HELD (F32_LANES == 16 ? 12 : 7)

/* ... and of theta with integers, in kernels_pass.h; an exponential in double precision is a call,
 * which leaves nothing in vector registers. */
#define PASS_HELD (sizeof(REAL) == 4 ? NARROW : 0)

/* Under sanitizers, only some of the widths that have a copy of their own: they are all alike, and
 * each takes seconds to compile. */
#ifdef TACIT_FEW_WIDTHS
#define SOME(copy)
#else
#define SOME(copy) copy
#endif

#define REAL float
#define INDEX int32_t
#define LANES F32_LANES
#define NAME(x) x##_f32
#include "math/kernels_impl.h"
#undef REAL
#undef INDEX
#undef LANES
#undef NAME

#define REAL double
#define INDEX int64_t
#define LANES (F32_LANES / 2)
#define NAME(x) x##_f64
#include "math/kernels_impl.h"
#undef REAL
#undef INDEX
#undef LANES
#undef NAME

/*
 * exp in single precision, four at a time and without a branch:
 * exp(t) = 2^n exp(r), r = t - n ln 2 in [-ln2/2, ln2/2], degree-6 polynomial, relative
 * error below 2e-7 (tests/unit/kernels_test.c). t is clamped to +-87, where 1/(1+exp(t))
 * is 0 or 1 in single precision anyway.
 */
typedef int32_t int4 __attribute__((vector_size(16)));

static inline vec4_f32 choose4(int4 mask, vec4_f32 yes, vec4_f32 no)
{
    return (vec4_f32)(((int4)yes & mask) | ((int4)no & ~mask));
}

static inline vec4_f32 exp4(vec4_f32 t)
{
    const vec4_f32 top = {87, 87, 87, 87};
    t = choose4(t > top, top, t);
    t = choose4(t < -top, -top, t);
    vec4_f32 shifted = t * 1.44269504f + 12582912.0f; /* 1.5 * 2^23: rounds to an integer */
    vec4_f32 n = shifted - 12582912.0f;
    vec4_f32 r = t - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    vec4_f32 q = r * 1.3888889e-3f + 8.3333333e-3f;
    q = q * r + 4.1666667e-2f;
    q = q * r + 1.6666667e-1f;
    q = q * r + 0.5f;
    q = q * r + 1.0f;
    q = q * r + 1.0f;
    int4 power = (__builtin_convertvector(n, int4) + 127) << 23;
    return q * (vec4_f32)power;
}

static inline vec4_f32 logistic4_f32(vec4_f32 z, vec4_f32 y)
{
    return -y / (exp4(y * z) + 1.0f);
}

static inline vec4_f64 logistic4_f64(vec4_f64 z, vec4_f64 y)
{
    vec4_f64 e = {exp(y[0] * z[0]), exp(y[1] * z[1]), exp(y[2] * z[2]), exp(y[3] * z[3])};
    return -y / (e + 1.0);
}

/* The table's entries: one copy for each loss and scalar, so that slopes are in line. */
#define LOSS(loss, suffix)                                                                      \
    static void loss##_##suffix(size_t rows, const void *z, const void *y, void *coef)          \
    {                                                                                           \
        slopes_##suffix(loss##4_##suffix, rows, z, y, coef);                                    \
    }                                                                                           \
    static void gradient_##loss##_##suffix(size_t rows, size_t p, const void *x, const void *y, \
                                           const void *theta, const void *next, void *g)        \
    {                                                                                           \
        gradient_##suffix(loss##4_##suffix, rows, p, x, y, theta, next, g);                     \
    }
LOSS(logistic, f32)
LOSS(squared, f32)
LOSS(logistic, f64)
LOSS(squared, f64)

/* Here the loss is asked for group by group: with p and norm there are copies enough. */
#define GRID(suffix)                                                                      \
    static bool gradient_on_grid_##suffix(const tacit_grid_rows *rows, const void *theta, \
                                          int64_t *sum)                                   \
    {                                                                                     \
        return pass_##suffix(logistic4_##suffix, rows, theta, sum);                       \
    }
GRID(f32)
GRID(f64)

/* Words of streams and what is drawn from them: integers, alike in every table. */
#define LANES F32_LANES
#include "base/chacha_lanes.h"

#include "math/kernels_boxes.h"
#include "math/kernels_chacha.h"

#define REAL_KERNELS(suffix)                                                                       \
    {                                                                                              \
        .axpy = axpy_##suffix, .scale = scale_##suffix, .combine = combine_##suffix,               \
        .distance2 = distance2_##suffix, .dots = dots_##suffix, .accumulate = accumulate_##suffix, \
        .logistic = logistic_##suffix, .squared = squared_##suffix,                                \
        .gradient_logistic = gradient_logistic_##suffix, .lengths = lengths_##suffix,              \
        .to_grid = to_grid_##suffix, .gradient_squared = gradient_squared_##suffix,                \
        .margins = margins_##suffix, .clip = clip_##suffix, .add_to_grid = add_to_grid_##suffix,   \
        .from_grid = from_grid_##suffix, .gradient_on_grid = gradient_on_grid_##suffix,            \
    }

const tacit_kernels TABLE = {.name = TABLE_NAME,
                             .f32 = REAL_KERNELS(f32),
                             .f64 = REAL_KERNELS(f64),
                             .chacha_words = chacha_words,
                             .chacha_blocks = chacha_blocks,
                             .box_candidates = box_candidates};
