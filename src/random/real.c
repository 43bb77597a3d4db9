/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a uniform random number below a real number f? The bits of the random number are drawn as
 * they are needed, and f is computed as exactly as the question needs: first to 16
 * bits, then to 52, and where that does not decide (with probability 2^-50), to 256, 512, 1024 and
 * 2048 bits. The answer is that of infinitely many bits, unless 1900 random bits in a row all agree
 * with those of f: with probability below 2^-1800, less than the least positive double.
 *
 * Error of tacit_guess_exp, in units of 2^-64. With x = k ln 2 + r, the constant LN2 is too small
 * by less than 1, so r is too large by less than k < 186, and x may be off by 1024 itself: with
 * e^-r <= 1 this moves the result by less than 1210. Horner's rule for e^-r with r < 0.7: each
 * step truncates a product (1) and a coefficient (1), and r shrinks what came before, so less
 * than 2 / (1 - 0.7) < 7 in all; the first term left out is 0.7^20 / 20! < 2^-70. Since the
 * mantissa is above 0.49 2^64, the relative error is below 1218 / (0.49 2^64) < 2^-52.
 *
 * Error of tacit_glance_exp. With x = k (ln 2)/16 + r, r < 0.04333 (k may be one less than the
 * floor by a rounding, where r is larger by less than 2^-20 of it), 1 - r + r^2/2 is above e^-r by
 * less than r^3/6, a part of 2^-16.1 of e^-r; x, k and the products move it by 2^-50. So it lies
 * between e^-x (1 - 2^-50) and e^-x (1 + 2^-16). tacit_glance_below allows for 2^-15 either way:
 * where that decides, the bounds of a guess, which are nearer, decide too, without the fraction. So
 * a glance changes neither an answer nor the number of words. It does not decide once in some
 * hundred times.
 *
 * Error of tacit_big_exp, in units of the last limb. r = x 2^-j < 1/16 is too small by less than
 * 3 (a division, a halving, a shift). Horner's rule with 16 n + 2 terms truncates below 3 a step,
 * r / k <= 1/16 shrinks it: less than 4; the series left out is below 1. Together below 8. A
 * squaring makes e to at most 2 e + 1 + (a little), so after j of them at most 16 2^j.
 */
#include "random/real.h"

#include <string.h>

/* ---- 64 bits ---- */

#define LN2 UINT64_C(0xb17217f7d1cf79ab)             /* floor(2^64 ln 2) */
#define LOG2E_32 UINT64_C(6196328018)                /* floor(2^32 / ln 2) */
#define TURN(n) (UINT64_C(0xffffffffffffffff) / (n)) /* floor((2^64 - 1) / n) */

/* floor(2^64 / k!), but 2^64 - 1 for k = 1. */
static const uint64_t reciprocal[20] = {
    0,
    TURN(1),
    TURN(2) + 1,
    TURN(6),
    TURN(24),
    TURN(120),
    TURN(720),
    TURN(5040),
    TURN(40320),
    TURN(362880),
    TURN(3628800),
    TURN(39916800),
    TURN(479001600),
    TURN(6227020800),
    TURN(87178291200),
    TURN(1307674368000),
    TURN(20922789888000),
    TURN(355687428096000),
    TURN(6402373705728000),
    TURN(121645100408832000),
};

static inline uint64_t high(uint64_t a, uint64_t b)
{
    return (uint64_t)(((u128)a * b) >> 64);
}

tacit_guess tacit_guess_exp(uint64_t fixed)
{
    uint64_t k = (uint64_t)(((u128)fixed * LOG2E_32) >> (57 + 32)); /* floor or one less */
    uint64_t r = (uint64_t)(((u128)fixed << 7) - (u128)k * LN2);
    uint64_t p = reciprocal[19];
    for (int n = 18; n > 0; n--)
        p = reciprocal[n] - high(r, p);
    return (tacit_guess){.m = UINT64_MAX - high(r, p), .down = (uint32_t)k};
}

/* floor(2^(64 - k/16)), but 2^64 - 1 for k = 0. */
static const uint64_t sixteenth[16] = {
    0xffffffffffffffff, 0xf5257d152486cc2c, 0xeac0c6e7dd24392e, 0xe0ccdeec2a94e111,
    0xd744fccad69d6af4, 0xce248c151f8480e3, 0xc5672a115506dadd, 0xbd08a39f580c36be,
    0xb504f333f9de6484, 0xad583eea42a14ac6, 0xa5fed6a9b15138ea, 0x9ef5326091a111ad,
    0x9837f0518db8a96f, 0x91c3d373ab11c336, 0x8b95c1e3ea8bd6e6, 0x85aac367cc487b14,
};

tacit_guess tacit_glance_exp(uint64_t fixed)
{
    uint64_t k = (uint64_t)(((u128)fixed * LOG2E_32) >> (57 + 32 - 4)); /* floor or one less */
    uint64_t r = (uint64_t)(((u128)fixed << 7) - (((u128)k * LN2) >> 4));
    uint64_t m = sixteenth[k % 16];
    return (tacit_guess){.m = m - high(m, r - high(r, r) / 2), .down = (uint32_t)(k / 16)};
}

/* ---- as many bits as it takes ---- */

void tacit_big_mul(tacit_big *big, uint64_t by)
{
    u128 carry = 0;
    for (int k = 0; k <= big->n; k++) {
        carry += (u128)big->limb[k] * by;
        big->limb[k] = (uint64_t)carry;
        carry >>= 64;
    }
}

static void divide(uint64_t *limb, int count, uint64_t by)
{
    uint64_t rest = 0;
    for (int k = count - 1; k >= 0; k--) {
        u128 part = (u128)rest << 64 | limb[k];
        limb[k] = (uint64_t)(part / by);
        rest = (uint64_t)(part % by);
    }
}

void tacit_big_div(tacit_big *big, uint64_t by)
{
    divide(big->limb, big->n + 1, by);
}

/* to = a b, truncated; numbers below 1 but for the integer limb, which is 0 or 1 with no rest. */
static void multiply(tacit_big *to, const tacit_big *a, const tacit_big *b)
{
    uint64_t product[2 * TACIT_BIG_LIMBS + 2] = {0};
    int n = to->n;
    for (int i = 0; i <= n; i++) {
        uint64_t carry = 0;
        for (int j = 0; j <= n; j++) {
            u128 sum = (u128)a->limb[i] * b->limb[j] + product[i + j] + carry;
            product[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        product[i + n + 1] = carry;
    }
    memcpy(to->limb, product + n, (size_t)(n + 1) * sizeof *product);
}

static void shift_down(uint64_t *limb, int count, int bits)
{
    for (int k = 0; k < count && bits > 0; k++)
        limb[k] = limb[k] >> bits | (k + 1 < count ? limb[k + 1] << (64 - bits) : 0);
}

/* big = 1 - big, for big <= 1. */
static void from_one(tacit_big *big)
{
    uint64_t borrow = 0;
    for (int k = 0; k <= big->n; k++) {
        uint64_t whole = k == big->n;
        u128 difference = (u128)whole - big->limb[k] - borrow;
        big->limb[k] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
}

/* limb[0 .. n+3] = factor num / (den 2^halvings) in units of the last limb. */
static void ratio_limbs(uint64_t *limb, int n, u128 factor, tacit_ratio x, int halvings)
{
    memset(limb, 0, (size_t)(n + 4) * sizeof *limb);
    u128 low = (u128)(uint64_t)factor * x.num;
    u128 top = (u128)(uint64_t)(factor >> 64) * x.num + (uint64_t)(low >> 64);
    limb[n] = (uint64_t)low;
    limb[n + 1] = (uint64_t)top;
    limb[n + 2] = (uint64_t)(top >> 64);
    divide(limb, n + 4, x.den);
    shift_down(limb, n + 4, halvings);
}

void tacit_big_exp(tacit_big *big, u128 factor, tacit_ratio x, int halvings)
{
    enum { MOST = 4096 };
    int n = big->n;
    tacit_big r = {.n = n};
    ratio_limbs(r.limb, n, factor, x, halvings);
    big->error = 1;
    if (r.limb[n + 3] || r.limb[n + 2] || r.limb[n + 1] || r.limb[n] >= MOST) {
        memset(big->limb, 0, sizeof big->limb); /* exp(-4096) < 2^-5900 */
        return;
    }
    int squarings = 4;
    for (uint64_t whole = r.limb[n]; whole > 0; whole >>= 1)
        squarings++;
    shift_down(r.limb, n + 1, squarings);
    memset(big->limb, 0, sizeof big->limb);
    big->limb[n] = 1;
    for (int k = 16 * n + 2; k > 0; k--) {
        multiply(big, big, &r);
        tacit_big_div(big, (uint64_t)k);
        from_one(big);
    }
    for (int k = 0; k < squarings; k++)
        multiply(big, big, big);
    big->error = UINT64_C(16) << squarings;
}

bool tacit_big_guess(const tacit_big *big, tacit_guess *guess)
{
    if (big->limb[big->n] > 0) { /* one, or above by rounding */
        *guess = (tacit_guess){.m = UINT64_MAX, .down = 0};
        return true;
    }
    int top = big->n - 1;
    while (top > 0 && big->limb[top] == 0)
        top--;
    if (big->limb[top] == 0)
        return false;
    int zeros = __builtin_clzll(big->limb[top]);
    uint64_t m = big->limb[top] << zeros;
    if (zeros > 0 && top > 0)
        m |= big->limb[top - 1] >> (64 - zeros);
    *guess = (tacit_guess){.m = m, .down = (uint32_t)(64 * (big->n - 1 - top) + zeros)};
    return guess->down < 160;
}

/* ---- the comparison ---- */

/* x[0..n] + plus < y[0..n]? */
static bool less(const uint64_t *x, u128 plus, const uint64_t *y, int n)
{
    uint64_t sum[TACIT_BIG_LIMBS + 1] = {0};
    u128 carry = plus;
    for (int k = 0; k <= n; k++) {
        u128 part = (u128)(uint64_t)carry + x[k];
        sum[k] = (uint64_t)part;
        carry = (carry >> 64) + (part >> 64);
    }
    if (carry > 0)
        return false;
    for (int k = n; k >= 0; k--)
        if (sum[k] != y[k])
            return sum[k] < y[k];
    return false;
}

/* 1: below, 0: not below, -1: these limbs do not say. */
static int decide(const tacit_question *q, const uint64_t *fraction, int n)
{
    tacit_big f = {.n = n};
    q->exact(q->ctx, &f);
    uint64_t random[2 * TACIT_BIG_LIMBS + 1] = {0};
    for (int k = 0; k < n; k++)
        random[k] = fraction[n - 1 - k];
    random[n] = q->height;
    int whole = (int)(q->blocks / 64);
    for (int k = 0; k <= n; k++)
        random[k] = whole <= n - k ? random[k + whole] : 0;
    shift_down(random, n + 1, (int)(q->blocks % 64));
    tacit_big_mul(&f, q->scale);               /* below 2^64: f < 1, or f = 1 and nothing else */
    u128 error = (u128)q->scale * f.error + 2; /* 2: shift and bits not drawn */
    if (less(random, error, f.limb, n))
        return 1;
    return less(f.limb, error, random, n) ? 0 : -1;
}

bool tacit_below_exact(const tacit_question *question, uint64_t first, tacit_words *words)
{
    uint64_t fraction[TACIT_BIG_LIMBS] = {first};
    int have = 1;
    for (int n = 4; n <= TACIT_BIG_LIMBS; n *= 2) {
        while (have < n)
            fraction[have++] = tacit_words_next(words);
        int answer = decide(question, fraction, n);
        if (answer >= 0)
            return answer == 1;
    }
    return false; /* with probability below 2^-1800 */
}

/* scale f 2^(64 + blocks), which the caller knows to be below 2^127. */
static u128 scaled(const tacit_question *q)
{
    u128 product = (u128)q->scale * q->f.m;
    if (q->blocks >= q->f.down)
        return product << (q->blocks - q->f.down);
    uint32_t down = q->f.down - q->blocks;
    return down < 128 ? product >> down : 0;
}

/* Is what lies between height and height + more below the limit, which may be wrong by a part in
 * 2^bits? 1: yes, 0: no, -1: perhaps. */
static inline int compare(u128 height, u128 more, u128 limit, int bits)
{
    u128 error = (limit >> bits) + 2;
    bool below = height + more + error <= limit, above = height >= limit + error;
    return below - !(below | above);
}

int tacit_glance_below(const tacit_question *question)
{
    return compare((u128)question->height << 64, (u128)1 << 64, scaled(question), 15);
}

bool tacit_below(const tacit_question *question, tacit_words *words)
{
    if (!question->guessed)
        return tacit_below_exact(question, tacit_words_next(words), words);
    if (question->f.m == 0)
        return false;
    u128 limit = scaled(question), height = (u128)question->height << 64;
    int answer = compare(height, (u128)1 << 64, limit, 51);
    if (answer >= 0)
        return answer;
    uint64_t fraction = tacit_words_next(words);
    answer = compare(height | fraction, 1, limit, 51);
    if (answer >= 0)
        return answer;
    return tacit_below_exact(question, fraction, words);
}
