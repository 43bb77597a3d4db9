/* SPDX-License-Identifier: Apache-2.0 */
/* Single trials, and ratios of doubles. */
#include <math.h>

#include "random/real.h"

static void exp_at(const void *ctx, tacit_big *f)
{
    tacit_big_exp(f, 1, *(const tacit_ratio *)ctx, 0);
}

bool tacit_bernoulli_exp(tacit_stream *stream, tacit_ratio x)
{
    if (x.den == 0)
        return false;
    if (x.num == 0)
        return true;
    tacit_words words = {.stream = stream};
    tacit_question question = {.scale = 1, .exact = exp_at, .ctx = &x};
    if (x.num / x.den < 128) {
        /* 57 bits after the point: the whole part, then the rest */
        u128 rest = (u128)(x.num % x.den) << 57;
        question.f = tacit_guess_exp((x.num / x.den << 57) + (uint64_t)(rest / x.den));
        question.guessed = true;
    }
    return tacit_below(&question, &words);
}

bool tacit_bernoulli(tacit_stream *stream, tacit_ratio p)
{
    return p.den > 0 && tacit_stream_below(stream, p.den) < p.num;
}

tacit_ratio tacit_ratio_below(double value)
{
    enum { SIGNIFICANT = 52, MOST = 63 };
    if (!(value > 0))
        return (tacit_ratio){0, 1};
    int exponent;
    uint64_t digits = isfinite(value) ? (uint64_t)ldexp(frexp(value, &exponent), SIGNIFICANT) : 0;
    if (!isfinite(value) || exponent > 64) { /* the largest there is */
        digits = (UINT64_C(1) << SIGNIFICANT) - 1;
        exponent = 64;
    }
    int down = SIGNIFICANT - exponent; /* value is digits 2^-down, but for its last bit */
    for (; down > 0 && (digits & 1) == 0 && digits > 0; down--)
        digits >>= 1;
    if (down > MOST)
        digits = down - MOST < 64 ? digits >> (down - MOST) : 0;
    down = down > MOST ? MOST : down;
    if (digits == 0)
        return (tacit_ratio){0, 1};
    return down >= 0 ? (tacit_ratio){digits, UINT64_C(1) << down}
                     : (tacit_ratio){digits << -down, 1};
}
