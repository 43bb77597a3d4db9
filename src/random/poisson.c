/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Poisson law counted from its mode N = floor(mean), mean = N + e = num / (2 den):
 *
 *     f(d)  = P(N + d) / P(N) = product of mean / (N + i), i = 1 .. d
 *     f(-d) = P(N - d) / P(N) = product of (N - i) / mean, i = 0 .. d - 1
 *
 * Both are products of ratios of integers, so f can be had to any number of bits. For means
 * below 4096 such products, made once, are the guesses. Above, the guess is exp(-x) with Stirling's
 * series, t = d / N, L = log(mean / N) and c(n) = 1 / (12 n) - 1 / (360 n^3):
 *
 *     x(+d) = N phi(t)  + log(1 + t) / 2 + c(N + d) - c(N) - d L
 *     x(-d) = N phi(-t) + log(1 - t) / 2 + c(N - d) - c(N) + d L
 *     phi(t) = (1 + t) log(1 + t) - t = t^2 / 2 - t^3 / 6 + t^4 / 12 - ...
 *
 * Error, in units of 2^-64, for N >= 4096, t <= 1/4, d^2 / N < 256: N phi is summed from
 * q = d^2 / N (1 off) with factors t (1 off): term n is off by at most 256 n t^(n-3) / (n (n-1)),
 * together below 200; the logarithm and dL below 2 a term, together below 200; c without its
 * third term 1 / (1260 n^5) below 1, each quotient 1. So x is off by less than 2^-54 (1024 units),
 * as tacit_guess_exp wants it.
 *
 * For t > 1/4 or d^2 / N >= 256 no guess is made: there x > 104, f < 2^-150. (x(d) grows with d,
 * and on the plus side, at t = 1/4, N phi(t) = 0.0289 N > 118; at d^2 = 256 N with t <= 1/4,
 * N phi(t) >= 256 (1/2 - t/6) > 117; what is left is below 1/2.)
 *
 * From d on, f falls by r = mean / (N + d + 1) or r = (N - d) / mean a step or faster, and
 * -log r >= 1 - r >= d / (N + d + 1) on both sides: ln 2 (N + d + 1) / d steps halve it.
 */
#include <stdlib.h>

#include "random/layers.h"

enum { TABLE_BELOW = 4096, TABLE_LIMBS = 4 };

/* ---- to any number of bits ---- */

/* One factor more: f(d) from f(d - 1). */
static void step(const tacit_law *law, uint64_t d, bool minus, tacit_big *f)
{
    if (minus) { /* (N - d + 1) 2 den / num */
        tacit_big_mul(f, law->mode - d + 1);
        tacit_big_mul(f, law->ratio.den);
        tacit_big_mul(f, 2);
        tacit_big_div(f, law->ratio.num);
        f->error += 1;
    } else { /* num / den / (2 (N + d)) */
        tacit_big_mul(f, law->ratio.num);
        tacit_big_div(f, law->ratio.den);
        tacit_big_div(f, 2 * (law->mode + d));
        f->error += 2;
    }
}

static void poisson_exact(const tacit_law *law, uint64_t distance, bool minus, tacit_big *f)
{
    *f = (tacit_big){.n = f->n};
    if (minus && distance > law->mode)
        return;
    f->limb[f->n] = 1;
    for (uint64_t d = 1; d <= distance; d++)
        step(law, d, minus, f);
}

/* ---- guesses ---- */

static bool table_guess(const tacit_law *law, uint64_t distance, bool minus, tacit_guess *f)
{
    if (minus && distance > law->mode) {
        *f = (tacit_guess){0};
        return true;
    }
    if (distance > law->known[minus])
        return false;
    *f = law->table[minus][distance - 1];
    return true;
}

/* a 2^-64 of b, rounded down. */
static u128 part(u128 b, uint64_t a)
{
    return (u128)(uint64_t)(b >> 64) * a + (((u128)(uint64_t)b * a) >> 64);
}

/* N phi(+-t) + log(1 +- t) / 2 in units of 2^-64. */
static i128 phi_and_log(u128 q, uint64_t t, bool minus)
{
    i128 sum = 0;
    uint64_t power = t;
    for (int n = 2; n < 64 && (q > 0 || power > 0); n++) {
        i128 term = (i128)(q / (unsigned)(n * (n - 1)));
        i128 log_term = power / (unsigned)(2 * (n - 1)); /* t^(n-1) / (2 (n-1)) */
        sum += minus || n % 2 == 0 ? term : -term;
        sum += minus || n % 2 == 1 ? -log_term : log_term;
        q = part(q, t);
        power = (uint64_t)part(power, t);
    }
    return sum;
}

static i128 stirling(uint64_t n)
{
    u128 one = (u128)1 << 64;
    return (i128)(one / 12 / n) - (i128)(one / 360 / n / n / n);
}

/* d log(1 + e / N) in units of 2^-64. */
static i128 shift_by(const tacit_law *law, uint64_t t)
{
    i128 sum = 0;
    u128 term = part(law->epsilon, t);
    for (int n = 1; n < 12 && term > 0; n++) {
        i128 now = (i128)(term / (unsigned)n);
        sum += n % 2 ? now : -now;
        term = part(term, law->epsilon) / law->mode;
    }
    return sum;
}

static bool series_guess(const tacit_law *law, uint64_t distance, bool minus, tacit_guess *f)
{
    uint64_t mode = law->mode;
    if (minus && distance > mode) {
        *f = (tacit_guess){0};
        return true;
    }
    if (distance > mode / 4 || (u128)distance * distance / mode >= 256)
        return false;
    u128 square = (u128)distance * distance;
    u128 q = (square / mode) << 64 | ((square % mode) << 64) / mode;
    uint64_t t = (uint64_t)(((u128)distance << 64) / mode);
    i128 x = phi_and_log(q, t, minus);
    x += stirling(minus ? mode - distance : mode + distance) - stirling(mode);
    x += minus ? shift_by(law, t) : -shift_by(law, t);
    if (x >> (64 + 7) > 0)
        return false; /* x >= 128 */
    *f = tacit_guess_exp(x > 0 ? (uint64_t)(x >> 7) : 0);
    return true;
}

static uint64_t poisson_halving(const tacit_law *law, uint64_t distance)
{
    u128 beyond = (u128)law->mode + distance + 1;
    return (uint64_t)(beyond * 6931471806u / 10000000000u / distance) + 2;
}

/* ---- making ---- */

static bool make_table(tacit_law *law, bool minus)
{
    size_t room = 64;
    law->table[minus] = malloc(room * sizeof **law->table);
    if (!law->table[minus])
        return false;
    tacit_big f = {.n = TABLE_LIMBS};
    f.limb[TABLE_LIMBS] = 1;
    for (uint64_t d = 1; !minus || d <= law->mode; d++) {
        tacit_guess guess;
        step(law, d, minus, &f);
        if (!tacit_big_guess(&f, &guess))
            return true;
        if (law->known[minus] == room) {
            tacit_guess *more = realloc(law->table[minus], 2 * room * sizeof *more);
            if (!more)
                return false;
            law->table[minus] = more;
            room *= 2;
        }
        law->table[minus][law->known[minus]++] = guess;
    }
    return true;
}

bool tacit_law_poisson(tacit_law *law, tacit_ratio twice_mean)
{
    u128 twice = (u128)twice_mean.den * 2;
    *law = (tacit_law){.guess = series_guess,
                       .exact = poisson_exact,
                       .halving = poisson_halving,
                       .ratio = twice_mean};
    law->mode = (uint64_t)(twice_mean.num / twice);
    u128 rest = twice_mean.num - law->mode * twice; /* below 2 den: 65 bits */
    law->epsilon = (uint64_t)(((rest << 62) / twice) << 2);
    if (law->mode >= TABLE_BELOW)
        return true;
    law->guess = table_guess;
    return make_table(law, false) && make_table(law, true);
}

void tacit_law_clear(tacit_law *law)
{
    free(law->table[0]);
    free(law->table[1]);
    law->table[0] = law->table[1] = NULL;
}
