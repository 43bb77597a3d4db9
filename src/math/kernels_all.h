/* SPDX-License-Identifier: Apache-2.0 */
/* The body of each kernels_*.c; F32_LANES and TABLE come from there. */
#include <math.h>
#include <string.h>

#include "base/chacha.h"
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

/* ---- ChaCha20, eight blocks side by side, one lane each ---- */
typedef uint32_t lanes8 __attribute__((vector_size(32)));

static void chacha_words8(const uint32_t key[8], const uint64_t nonce[8], const uint64_t block[8],
                          uint64_t word[8])
{
    static const uint32_t constant[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    lanes8 x[16];
    for (int w = 0; w < 4; w++)
        x[w] = (lanes8){0} + constant[w];
    for (int w = 0; w < 8; w++)
        x[4 + w] = (lanes8){0} + key[w];
    for (int k = 0; k < 8; k++) {
        x[12][k] = (uint32_t)block[k];
        x[13][k] = (uint32_t)(block[k] >> 32);
        x[14][k] = (uint32_t)nonce[k];
        x[15][k] = (uint32_t)(nonce[k] >> 32);
    }
    for (int round = 0; round < 10; round++) {
        QUARTER(x[0], x[4], x[8], x[12]);
        QUARTER(x[1], x[5], x[9], x[13]);
        QUARTER(x[2], x[6], x[10], x[14]);
        QUARTER(x[3], x[7], x[11], x[15]);
        QUARTER(x[0], x[5], x[10], x[15]);
        QUARTER(x[1], x[6], x[11], x[12]);
        QUARTER(x[2], x[7], x[8], x[13]);
        QUARTER(x[3], x[4], x[9], x[14]);
    }
    lanes8 low = x[0] + constant[0], high = x[1] + constant[1];
    for (int k = 0; k < 8; k++)
        word[k] = (uint64_t)high[k] << 32 | low[k];
}

static void chacha_words(const uint32_t key[8], size_t n, const uint64_t *nonce,
                         const uint64_t *block, uint64_t *word)
{
    size_t k = 0;
    for (; k + 8 <= n; k += 8)
        chacha_words8(key, nonce + k, block + k, word + k);
    if (k == n)
        return;
    uint64_t some_nonce[8] = {0}, some_block[8] = {0}, some_word[8];
    memcpy(some_nonce, nonce + k, (n - k) * sizeof *nonce);
    memcpy(some_block, block + k, (n - k) * sizeof *block);
    chacha_words8(key, some_nonce, some_block, some_word);
    memcpy(word + k, some_word, (n - k) * sizeof *word);
}

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
                             .chacha_words = chacha_words};
