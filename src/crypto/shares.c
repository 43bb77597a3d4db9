/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shamir's secret sharing (1979) over GF(2^8) with the polynomial x^8 + x^4 + x^3 + x + 1. Byte b
 * of share k is the value at the point x = k + 1 of
 *
 *     secret[b] + coins[0][b] x + coins[1][b] x^2 + ...          (threshold - 1 coins)
 *
 * and any `threshold` values give the polynomial back; joined by Lagrange's formula at 0. With
 * uniform coins the values at fewer points are uniform whatever the secret is.
 *
 * Points, their powers and Lagrange's weights are public, secret, coins and shares are not: a
 * product always has one factor of each kind. The public one may choose branches and places in
 * tables; the secret one goes through shifts and exclusive ors only, eight bytes at a time. So a
 * coin's products with all of GF(2^8) are looked up as two of 16 multiples each, at a public place.
 */
#include "tacit/shares.h"

#include <sodium.h>
#include <string.h>

enum { WORDS = TACIT_MASK_KEY / 8, ORDER = 255, NIBBLE = 16 };

/* 32 elements side by side; which byte of a word is which does not matter. */
typedef struct bundle {
    uint64_t word[WORDS];
} bundle;

static bundle load(const uint8_t from[TACIT_MASK_KEY])
{
    bundle b;
    memcpy(b.word, from, sizeof b.word);
    return b;
}

static void add(bundle *to, const bundle *from)
{
    for (int w = 0; w < WORDS; w++)
        to->word[w] ^= from->word[w];
}

/* Times x. */
static void twice(bundle *b)
{
    for (int w = 0; w < WORDS; w++) {
        const uint64_t top = (b->word[w] >> 7) & UINT64_C(0x0101010101010101);
        b->word[w] = ((b->word[w] & UINT64_C(0x7f7f7f7f7f7f7f7f)) << 1) ^ top * 0x1b;
    }
}

/* ---- public elements ---- */

/* Powers of the generator 3, twice over, and their exponents: of public elements only. */
typedef struct powers {
    uint8_t power[2 * ORDER];
    uint8_t exponent[ORDER + 1];
} powers;

static void list_powers(powers *p)
{
    unsigned value = 1;
    p->exponent[0] = 0; /* zero is no power; nobody asks */
    for (unsigned k = 0; k < ORDER; k++) {
        p->power[k] = p->power[k + ORDER] = (uint8_t)value;
        p->exponent[value] = (uint8_t)k;
        value ^= value << 1;
        if (value > 0xff)
            value ^= 0x11b;
    }
}

/* Of nonzero elements. */
static uint8_t times(const powers *p, uint8_t a, uint8_t b)
{
    return p->power[p->exponent[a] + p->exponent[b]];
}

static uint8_t over(const powers *p, uint8_t a, uint8_t b)
{
    return p->power[p->exponent[a] + ORDER - p->exponent[b]];
}

/* ---- splitting ---- */

/* multiple[0][e] = e times b, multiple[1][e] = 16 e times b. */
static void list_multiples(bundle multiple[2][NIBBLE], bundle b)
{
    for (int half = 0; half < 2; half++) {
        memset(&multiple[half][0], 0, sizeof(bundle));
        for (size_t bit = 1; bit < NIBBLE; bit *= 2) {
            for (size_t e = 0; e < bit; e++) {
                multiple[half][bit + e] = multiple[half][e];
                add(&multiple[half][bit + e], &b);
            }
            twice(&b);
        }
    }
    sodium_memzero(&b, sizeof b);
}

tacit_status tacit_shares_split(uint8_t (*share)[TACIT_MASK_KEY], size_t count, size_t threshold,
                                const uint8_t secret[TACIT_MASK_KEY],
                                const uint8_t (*coins)[TACIT_MASK_KEY], tacit_error *err)
{
    if (count > TACIT_SHARES_MOST || threshold == 0 || threshold > count)
        return tacit_fail(err, TACIT_EUSAGE,
                          "%zu of %zu shares cannot be enough: take 1 to %d shares, and a "
                          "threshold from 1 to as many",
                          threshold, count, TACIT_SHARES_MOST);
    powers p;
    bundle value[TACIT_SHARES_MOST], multiple[2][NIBBLE];
    uint8_t power[TACIT_SHARES_MOST]; /* point^(c + 1), for coin c */
    list_powers(&p);
    for (size_t k = 0; k < count; k++) {
        value[k] = load(secret);
        power[k] = (uint8_t)(k + 1);
    }
    for (size_t c = 0; c + 1 < threshold; c++) {
        list_multiples(multiple, load(coins[c]));
        for (size_t k = 0; k < count; k++) {
            add(&value[k], &multiple[0][power[k] % NIBBLE]);
            add(&value[k], &multiple[1][power[k] / NIBBLE]);
            power[k] = times(&p, power[k], (uint8_t)(k + 1));
        }
    }
    for (size_t k = 0; k < count; k++)
        memcpy(share[k], value[k].word, TACIT_MASK_KEY);
    sodium_memzero(value, count * sizeof *value);
    sodium_memzero(multiple, sizeof multiple);
    return TACIT_OK;
}

/* ---- joining ---- */

static tacit_status check_points(const uint8_t *point, size_t count, tacit_error *err)
{
    bool seen[TACIT_SHARES_MOST + 1] = {false};
    if (count == 0 || count > TACIT_SHARES_MOST)
        return tacit_fail(err, TACIT_EUSAGE, "a secret is joined from 1 to %d shares, not %zu",
                          TACIT_SHARES_MOST, count);
    for (size_t k = 0; k < count; k++) {
        if (point[k] == 0 || seen[point[k]])
            return tacit_fail(err, TACIT_EINPUT,
                              "the point \"%d\" of a share is %s; shares of one secret have "
                              "different points from 1 to %d",
                              point[k], point[k] ? "there twice" : "the secret's own",
                              TACIT_SHARES_MOST);
        seen[point[k]] = true;
    }
    return TACIT_OK;
}

/* Lagrange at 0: the product over other points j of x_j / (x_j - x_k); minus is plus here. */
static uint8_t weight(const powers *p, const uint8_t *point, size_t count, size_t k)
{
    uint8_t w = 1;
    for (size_t j = 0; j < count; j++)
        if (j != k)
            w = times(p, w, over(p, point[j], point[j] ^ point[k]));
    return w;
}

tacit_status tacit_shares_join(uint8_t secret[TACIT_MASK_KEY],
                               const uint8_t (*share)[TACIT_MASK_KEY], const uint8_t *point,
                               size_t threshold, tacit_error *err)
{
    const tacit_status status = check_points(point, threshold, err);
    if (status != TACIT_OK)
        return status;
    powers p;
    bundle sum = {{0}}, b;
    list_powers(&p);
    for (size_t k = 0; k < threshold; k++) {
        b = load(share[k]);
        for (unsigned w = weight(&p, point, threshold, k); w > 0; w /= 2) {
            if (w % 2)
                add(&sum, &b);
            twice(&b);
        }
    }
    memcpy(secret, sum.word, TACIT_MASK_KEY);
    sodium_memzero(&sum, sizeof sum);
    sodium_memzero(&b, sizeof b);
    return TACIT_OK;
}
