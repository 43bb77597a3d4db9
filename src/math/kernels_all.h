/* SPDX-License-Identifier: Apache-2.0 */
/* The body of each kernels_*.c; F32_LANES and TABLE come from there. */
#include <math.h>
#include <string.h>

#include "math/kernels.h"
#include "math/kernels_tables.h"

#define REAL float
#define LANES F32_LANES
#define NAME(x) x##_f32
#include "math/kernels_impl.h"
#undef REAL
#undef LANES
#undef NAME

#define REAL double
#define LANES (F32_LANES / 2)
#define NAME(x) x##_f64
#include "math/kernels_impl.h"
#undef REAL
#undef LANES
#undef NAME

/*
 * exp in single precision without a branch, so that the loop below vectorises:
 * exp(t) = 2^n exp(r), r = t - n ln 2 in [-ln2/2, ln2/2], degree-6 polynomial, relative
 * error below 2e-7 (tests/unit/kernels_test.c). t is clamped to +-87, where 1/(1+exp(t))
 * is 0 or 1 in single precision anyway.
 */
static inline float exp_f32(float t)
{
    t = t > 87.0f ? 87.0f : t;
    t = t < -87.0f ? -87.0f : t;
    float shifted = t * 1.44269504f + 12582912.0f; /* 1.5 * 2^23: rounds to an integer */
    float n = shifted - 12582912.0f;
    float r = t - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    float q = 1.3888889e-3f;
    q = q * r + 8.3333333e-3f;
    q = q * r + 4.1666667e-2f;
    q = q * r + 1.6666667e-1f;
    q = q * r + 0.5f;
    q = q * r + 1.0f;
    q = q * r + 1.0f;
    int32_t bits = (int32_t)n;
    union {
        int32_t i;
        float f;
    } power = {.i = (bits + 127) * (1 << 23)};
    return q * power.f;
}

static void logistic_f32(size_t rows, const void *zv, const void *yv, void *coefv)
{
    const float *z = zv, *y = yv;
    float *coef = coefv;
    for (size_t r = 0; r < rows; r++)
        coef[r] = -y[r] / (1.0f + exp_f32(y[r] * z[r]));
}

static void logistic_f64(size_t rows, const void *zv, const void *yv, void *coefv)
{
    const double *z = zv, *y = yv;
    double *coef = coefv;
    for (size_t r = 0; r < rows; r++)
        coef[r] = -y[r] / (1.0 + exp(y[r] * z[r]));
}

/* ---- ChaCha20, eight blocks side by side, one lane each ---- */
typedef uint32_t lanes8 __attribute__((vector_size(32)));

#define ROTATE(v, n) ((v) << (n) | (v) >> (32 - (n)))
#define QUARTER(a, b, c, d)    \
    do {                       \
        a += b;                \
        d = ROTATE(d ^ a, 16); \
        c += d;                \
        b = ROTATE(b ^ c, 12); \
        a += b;                \
        d = ROTATE(d ^ a, 8);  \
        c += d;                \
        b = ROTATE(b ^ c, 7);  \
    } while (0)

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
    }

const tacit_kernels TABLE = {.name = TABLE_NAME,
                             .f32 = REAL_KERNELS(f32),
                             .f64 = REAL_KERNELS(f64),
                             .chacha_words = chacha_words};
