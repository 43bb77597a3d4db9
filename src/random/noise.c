/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discrete Laplace, discrete Gaussian and Skellam noise: parameters in, laws to layers.c, words
 * from the stream. Also Bernoulli trials.
 *
 * Laplace:  f(z) = exp(-z den / num), and exp(-B / b) <= 1/2 for B >= b ln 2.
 * Gaussian: f(z) = exp(-z^2 den / (2 num)); from z on, B >= s2 ln 2 / z steps halve f, because
 *           f(z + B) / f(z) <= exp(-z B / s2).
 * Skellam:  difference of two Poisson (poisson.c), whose modes cancel.
 */
#include "tacit/noise.h"

#include <endian.h>
#include <sodium.h>
#include <stdlib.h>

#include "random/layers.h"

struct tacit_noise {
    bool difference; /* of two draws */
    tacit_layers layers;
};

/* ---- exp(-distance / b) and exp(-distance^2 / (2 s2)) ---- */

static int bits_of(u128 v)
{
    uint64_t top = (uint64_t)(v >> 64);
    if (top)
        return 128 - __builtin_clzll(top);
    return v ? 64 - __builtin_clzll((uint64_t)v) : 0;
}

/* rate 2^-rate_down = den / num (halved for the Gaussian), rounded down by less than 2^-63. */
static void set_rate(tacit_law *law, tacit_ratio ratio, int halvings)
{
    int shift = 128 - bits_of(ratio.den);
    u128 quotient = ((u128)ratio.den << shift) / ratio.num; /* at least 2^63 */
    int down = bits_of(quotient) - 64;
    law->rate = (uint64_t)(down >= 0 ? quotient >> down : quotient << -down);
    law->rate_down = shift - down + halvings;
    law->ratio = ratio;
}

/* exp(-factor rate). Rounding loses 2^-63 of x < 128 twice (rate, factor) and one unit of 2^-57:
 * the x taken is too small by less than 2^-54, as tacit_guess_exp wants it. */
static inline bool guess_exp(const tacit_law *law, u128 factor,
                             tacit_guess (*minus_exp)(uint64_t fixed), tacit_guess *f)
{
    int up = bits_of(factor) - 64;
    uint64_t leading = (uint64_t)(up > 0 ? factor >> up : factor);
    u128 product = (u128)leading * law->rate;
    int down = law->rate_down - (up > 0 ? up : 0) - 57;
    if (down < 0 || bits_of(product) - down > 64)
        return false; /* x >= 128: f < 2^-184 */
    *f = minus_exp(down < 128 ? (uint64_t)(product >> down) : 0);
    return true;
}

static bool laplace_guess(const tacit_law *law, uint64_t distance, bool minus, tacit_guess *f)
{
    (void)minus;
    return guess_exp(law, distance, tacit_guess_exp, f);
}

static bool laplace_glance(const tacit_law *law, uint64_t distance, tacit_guess *f)
{
    return guess_exp(law, distance, tacit_glance_exp, f);
}

static bool gaussian_guess(const tacit_law *law, uint64_t distance, bool minus, tacit_guess *f)
{
    (void)minus;
    return guess_exp(law, (u128)distance * distance, tacit_guess_exp, f);
}

static bool gaussian_glance(const tacit_law *law, uint64_t distance, tacit_guess *f)
{
    return guess_exp(law, (u128)distance * distance, tacit_glance_exp, f);
}

static void laplace_exact(const tacit_law *law, uint64_t distance, bool minus, tacit_big *f)
{
    (void)minus;
    tacit_big_exp(f, distance, (tacit_ratio){law->ratio.den, law->ratio.num}, 0);
}

static void gaussian_exact(const tacit_law *law, uint64_t distance, bool minus, tacit_big *f)
{
    (void)minus;
    tacit_big_exp(f, (u128)distance * distance, (tacit_ratio){law->ratio.den, law->ratio.num}, 1);
}

/* At least num ln 2, rounded up. */
static u128 times_ln2(uint64_t num)
{
    return ((u128)num * 6931471806u) / 10000000000u + 1;
}

static uint64_t laplace_halving(const tacit_law *law, uint64_t distance)
{
    (void)distance;
    return (uint64_t)(times_ln2(law->ratio.num) / law->ratio.den) + 1;
}

static uint64_t gaussian_halving(const tacit_law *law, uint64_t distance)
{
    return (uint64_t)(times_ln2(law->ratio.num) / ((u128)law->ratio.den * distance)) + 1;
}

void tacit_law_laplace(tacit_law *law, tacit_ratio scale)
{
    *law = (tacit_law){.guess = laplace_guess,
                       .glance = laplace_glance,
                       .exact = laplace_exact,
                       .halving = laplace_halving,
                       .even = true};
    set_rate(law, scale, 0);
}

void tacit_law_gaussian(tacit_law *law, tacit_ratio variance)
{
    *law = (tacit_law){.guess = gaussian_guess,
                       .glance = gaussian_glance,
                       .exact = gaussian_exact,
                       .halving = gaussian_halving,
                       .even = true};
    set_rate(law, variance, 1);
}

/* ---- making ---- */

static tacit_status check_ratio(tacit_ratio ratio, const char *what, double most, tacit_error *err)
{
    if (ratio.den == 0)
        return tacit_fail(err, TACIT_EINPUT, "the \"%s\" of the noise has denominator 0", what);
    if (ratio.num == 0)
        return tacit_fail(err, TACIT_EINPUT, "the \"%s\" of the noise is 0; it must be positive",
                          what);
    if (ratio.num > (u128)most * ratio.den)
        return tacit_fail(err, TACIT_EINPUT,
                          "the \"%s\" of the noise is %g, counted in grid steps; at most %g is "
                          "drawn exactly, so take a coarser grid",
                          what, (double)ratio.num / (double)ratio.den, most);
    return TACIT_OK;
}

static uint64_t root(uint64_t v)
{
    uint64_t r = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit > 0; bit >>= 1)
        if ((r + bit) * (r + bit) <= v)
            r += bit;
    return r;
}

static tacit_status build(tacit_noise *noise, tacit_noise **out, uint64_t half, tacit_error *err)
{
    if (!tacit_layers_build(&noise->layers, half)) {
        tacit_noise_free(noise);
        return tacit_fail(err, TACIT_EINTERNAL, "no boxes were found for this noise");
    }
    *out = noise;
    return TACIT_OK;
}

tacit_status tacit_noise_laplace(tacit_noise **out, tacit_ratio scale, tacit_error *err)
{
    tacit_status status = check_ratio(scale, "scale", TACIT_NOISE_SCALE_MAX, err);
    if (status != TACIT_OK)
        return status;
    tacit_noise *noise = calloc(1, sizeof *noise);
    if (!noise)
        return tacit_out_of_memory(err);
    tacit_law_laplace(&noise->layers.law, scale);
    return build(noise, out, scale.num / scale.den + 1, err);
}

tacit_status tacit_noise_gaussian(tacit_noise **out, tacit_ratio variance, tacit_error *err)
{
    tacit_status status =
        check_ratio(variance, "variance", TACIT_NOISE_SIGMA_MAX * TACIT_NOISE_SIGMA_MAX, err);
    if (status != TACIT_OK)
        return status;
    tacit_noise *noise = calloc(1, sizeof *noise);
    if (!noise)
        return tacit_out_of_memory(err);
    tacit_law_gaussian(&noise->layers.law, variance);
    return build(noise, out, root(variance.num / variance.den) + 1, err);
}

tacit_status tacit_noise_skellam(tacit_noise **out, tacit_ratio variance, tacit_error *err)
{
    double most = TACIT_NOISE_SKELLAM_SIGMA_MAX * TACIT_NOISE_SKELLAM_SIGMA_MAX;
    tacit_status status = check_ratio(variance, "variance", most, err);
    if (status != TACIT_OK)
        return status;
    tacit_noise *noise = calloc(1, sizeof *noise);
    if (!noise)
        return tacit_out_of_memory(err);
    noise->difference = true;
    if (!tacit_law_poisson(&noise->layers.law, variance)) {
        tacit_noise_free(noise);
        return tacit_out_of_memory(err);
    }
    return build(noise, out, root(variance.num / variance.den / 2) + 1, err);
}

void tacit_noise_free(tacit_noise *noise)
{
    if (noise)
        tacit_law_clear(&noise->layers.law);
    free(noise);
}

double tacit_noise_distance(const tacit_noise *noise)
{
    (void)noise;
    return 0; /* below 2^-1800, which no double can say: real.c */
}

/* ---- drawing ---- */

enum { BATCH = 1024, PAIRS = BATCH / 2 };

static void fetch(tacit_stream *stream, size_t count, uint64_t *word)
{
    tacit_stream_bytes(stream, word, count * sizeof *word);
    for (size_t k = 0; k < count; k++)
        word[k] = le64toh(word[k]);
}

/* A draw takes a word or more: as many as draws are missing are certain to be used. */
static void draw(const tacit_layers *layers, tacit_stream *stream, size_t count, int64_t *out)
{
    uint64_t batch[BATCH];
    const size_t most = count < BATCH ? count : BATCH;
    while (count > 0) {
        const size_t now = count < BATCH ? count : BATCH;
        tacit_words words = {.at = batch, .end = batch + now, .stream = stream};
        fetch(stream, now, batch);
        const size_t made = tacit_layers_draw(layers, &words, out);
        out += made;
        count -= made;
    }
    sodium_memzero(batch, most * sizeof *batch);
}

static void draw_differences(const tacit_layers *layers, tacit_stream *stream, size_t count,
                             int64_t *out)
{
    int64_t z[2 * PAIRS];
    const size_t most = count < PAIRS ? count : PAIRS;
    while (count > 0) {
        const size_t now = count < PAIRS ? count : PAIRS;
        draw(layers, stream, 2 * now, z);
        for (size_t k = 0; k < now; k++)
            out[k] = z[2 * k] - z[2 * k + 1];
        out += now;
        count -= now;
    }
    sodium_memzero(z, 2 * most * sizeof *z);
}

void tacit_noise_draw(const tacit_noise *noise, tacit_stream *stream, size_t count, int64_t *out)
{
    (noise->difference ? draw_differences : draw)(&noise->layers, stream, count, out);
}
