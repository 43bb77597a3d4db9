/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NOISE_H
#define TACIT_NOISE_H
/*
 * Exact noise on the integers.
 *
 *   discrete Laplace    P(z) ~ exp(-|z| / b)                       b = scale, a ratio
 *   discrete Gaussian   P(z) ~ exp(-z^2 / (2 s2))                  s2 = variance parameter, a ratio
 *   Skellam             difference of two Poisson of equal mean    its variance, a ratio
 *
 * after Canonne, Kamath and Steinke 2020 (2004.00010). Everything that decides which integer
 * comes out is integer arithmetic on bits of a ChaCha20 stream: what a draw is distributed as is
 * a theorem, not a floating-point accident. Where a table stands in for the exact law, the total
 * variation distance of one draw is at most tacit_noise_distance(), and whoever accounts for the
 * noise adds it to delta.
 *
 * A tacit_noise is prepared once for a parameter, never changes and may be drawn from by many
 * threads, each with a stream of its own.
 */
#include "tacit/random.h"

/* num / den; den > 0. Kept as given: no reduction is needed. */
typedef struct tacit_ratio {
    uint64_t num, den;
} tacit_ratio;

/* The largest ratio not above `value` (positive, finite) with denominator a power of two and at
 * most 52 significant bits, so that (double)num / den == the result exactly. */
tacit_ratio tacit_ratio_below(double value);

/* The limits of what is drawn exactly: a scale up to 2^48; a standard deviation below 2^32 (its
 * square is a ratio of 64-bit integers); for Skellam up to 2^30. No limit below: tiny is 0. */
#define TACIT_NOISE_SCALE_MAX 0x1p48
#define TACIT_NOISE_SIGMA_MAX 0x1p32
#define TACIT_NOISE_SKELLAM_SIGMA_MAX 0x1p30

typedef struct tacit_noise tacit_noise;
tacit_status tacit_noise_laplace(tacit_noise **out, tacit_ratio scale, tacit_error *err);
tacit_status tacit_noise_gaussian(tacit_noise **out, tacit_ratio variance, tacit_error *err);
tacit_status tacit_noise_skellam(tacit_noise **out, tacit_ratio variance, tacit_error *err);
void tacit_noise_free(tacit_noise *noise);
/* The same integers, whether they are drawn in one call or in many. A stream holds 2^27 words and
 * a draw takes 1 to 5 on average: draw at most 2^24 integers from one stream. */
void tacit_noise_draw(const tacit_noise *noise, tacit_stream *stream, size_t count, int64_t *out);
/* Total variation between one draw and the exact law; 0 where there is none, or none that a
 * double could say (docs/noise.md: below 2^-1800). */
double tacit_noise_distance(const tacit_noise *noise);

/* A sum of `shares` discrete Gaussians of standard deviation (parameter) sigma is no discrete
 * Gaussian, but nearly: at every integer the logarithm of the two probabilities' ratio is at most
 * half of this, tau = 10 sum_{k < shares} exp(-2 pi^2 sigma^2 k / (k + 1)) (Kairouz, Liu, Steinke
 * 2021; tau.c). What is (epsilon, delta)-private with the Gaussian is so with the sum for
 * (epsilon + d tau, e^(d tau / 2) delta), d coordinates. Rounded up; infinity below 1/2; 0 where no
 * double can say it: from 64 on that is below 1e-17000 for 2^32 shares. */
double tacit_noise_sum_tau(double sigma, uint64_t shares);

/* True with probability exp(-x); never for a denominator 0. */
bool tacit_bernoulli_exp(tacit_stream *stream, tacit_ratio x);
/* True with probability p = num / den <= 1; never for a denominator 0. */
bool tacit_bernoulli(tacit_stream *stream, tacit_ratio p);

#endif
