/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decimal text to double, correctly rounded. A number is mantissa * 10^exponent.
 *
 *  - Mantissa below 2^53 and |exponent| <= 22: both are exact doubles, and one multiplication
 *    or division rounds correctly (Clinger 1990). Nearly all numbers in files.
 *  - Up to 19 digits and |exponent| <= 27: 5^27 fits in 64 bits, so mantissa * 5^e, or the
 *    quotient mantissa / 5^-e with its remainder, is exact in 128 bits, and is rounded once by
 *    hand. This is what programs print that want a double to survive.
 *  - Everything else goes to strtod, after the grammar was checked here, so that hexadecimal,
 *    infinities, NaN and blanks never get through.
 */
#include "data/csv_scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QUICK_DIGITS 19
#define QUICK_EXPONENT 27

__extension__ typedef unsigned __int128 wide;

static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const uint64_t power_of_five[QUICK_EXPONENT + 1] = {
    UINT64_C(1),
    UINT64_C(5),
    UINT64_C(25),
    UINT64_C(125),
    UINT64_C(625),
    UINT64_C(3125),
    UINT64_C(15625),
    UINT64_C(78125),
    UINT64_C(390625),
    UINT64_C(1953125),
    UINT64_C(9765625),
    UINT64_C(48828125),
    UINT64_C(244140625),
    UINT64_C(1220703125),
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125),
};

/* What the grammar found: value = mantissa * 10^exponent if there are at most 19 digits. */
typedef struct decimal {
    bool negative;
    uint64_t mantissa;
    int digits; /* after leading zeros; saturates above 19 */
    int exponent;
} decimal;

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* ---- the grammar ---- */

/* How many of the eight bytes of `word`, from the first in memory, are digits. */
static unsigned leading_digits(uint64_t word)
{
    const uint64_t highs = UINT64_C(0xf0f0f0f0f0f0f0f0), zeros = UINT64_C(0x3030303030303030),
                   sixes = UINT64_C(0x0606060606060606);
    /* A digit is 0x30 to 0x39: its high half is 3, and still is when 6 is added. A byte above
     * 0xf9 carries into the next, but is itself no digit, so the count ends before that. */
    uint64_t wrong = ((word & highs) ^ zeros) | (((word + sixes) & highs) ^ zeros);
    return wrong ? (unsigned)__builtin_ctzll(wrong) / 8 : 8;
}

/* The number that eight digits make, the first in memory the most significant: pairs, then
 * fours, then eights. */
static uint64_t eight_digits(uint64_t word)
{
    word -= UINT64_C(0x3030303030303030);
    word = word * 10 + (word >> 8);
    return (((word & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064)) +
            ((word >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001))) >>
           32;
}

/* Up to eight digits at once, with at least one digit left out for the loop below to see that
 * the run ended. `digits` may count some zeros too many, never a digit too few. */
static inline const char *read_eight(const char *at, const char *end, decimal *d)
{
    static const uint64_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    while (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        unsigned n = leading_digits(word);
        if (n == 0 || d->digits + (int)n > QUICK_DIGITS)
            break;
        word = n == 8 ? word : word << (64 - 8 * n) | UINT64_C(0x3030303030303030) >> 8 * n;
        d->mantissa = d->mantissa * power[n] + eight_digits(word);
        d->digits += d->mantissa > 0 ? (int)n : 0;
        at += n;
        if (n < 8)
            break;
    }
    return at;
}

static inline const char *read_digits(const char *at, const char *end, decimal *d, bool fraction)
{
    const char *first = at;
    if (fraction || (end - at > 2 && is_digit(at[1]) && is_digit(at[2])))
        at = read_eight(at, end, d); /* not worth it for a lone digit before the point */
    for (; at < end && is_digit(*at) && d->digits <= QUICK_DIGITS; at++) {
        d->mantissa = 10 * d->mantissa + (uint64_t)(*at - '0'); /* the 20th may wrap: no matter */
        d->digits += d->mantissa > 0 || d->digits > 0;
    }
    bool endless = at - first > 100000; /* zeros: leave them to strtod */
    d->exponent -= fraction && !endless ? (int)(at - first) : 0;
    d->digits = endless ? QUICK_DIGITS + 1 : d->digits;
    while (at < end && is_digit(*at))
        at++;
    return at;
}

static const char *read_exponent(const char *at, const char *end, decimal *d)
{
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    const char *first = at;
    int value = 0;
    for (; at < end && is_digit(*at); at++)
        value = value < 100000 ? 10 * value + (*at - '0') : value;
    d->exponent += negative ? -value : value;
    return at > first ? at : NULL;
}

/* sign? digits* (. digits*)? (e sign? digits+)?, at least one digit before the exponent. Where
 * it ends, NULL if there is no number. */
static inline const char *parse(const char *at, const char *end, decimal *d)
{
    *d = (decimal){0};
    if (at < end && (*at == '-' || *at == '+'))
        d->negative = *at++ == '-';
    const char *first = at;
    at = read_digits(at, end, d, false);
    bool any = at > first;
    if (at < end && *at == '.') {
        first = ++at;
        at = read_digits(at, end, d, true);
        any |= at > first;
    }
    if (any && at < end && (*at == 'e' || *at == 'E'))
        at = read_exponent(at + 1, end, d);
    return any ? at : NULL;
}

/* ---- values ---- */

/* bits * 2^exponent to the nearest double, ties to even; `rest`: a little more than that. The
 * top bit of `bits` is set, and the result is far from the ends of the range. */
static double round_once(uint64_t bits, bool rest, int exponent)
{
    uint64_t kept = bits >> 11, cut = bits & 0x7ff;
    bool up = cut > 0x400 || (cut == 0x400 && (rest || kept & 1));
    return ldexp((double)(kept + up), exponent + 11);
}

/* mantissa * 10^exponent for what does not fit in two doubles. */
static double by_128_bits(uint64_t mantissa, int exponent)
{
    if (mantissa == 0)
        return 0;
    uint64_t five = power_of_five[exponent < 0 ? -exponent : exponent];
    int shift = __builtin_clzll(mantissa), five_shift = __builtin_clzll(five);
    mantissa <<= shift;
    five <<= five_shift;
    if (exponent >= 0) {
        wide product = (wide)mantissa * five;
        int lead = (uint64_t)(product >> 127) ? 0 : 1;
        product <<= lead;
        return round_once((uint64_t)(product >> 64), (uint64_t)product != 0,
                          exponent + 64 - shift - five_shift - lead);
    }
    /* The quotient of two numbers with the top bit set, times 2^63: 63 or 64 bits. */
    wide dividend = (wide)mantissa << 63;
    uint64_t quotient = (uint64_t)(dividend / five), remainder = (uint64_t)(dividend % five);
    int lead = __builtin_clzll(quotient);
    return round_once(quotient << lead, remainder != 0, exponent - 63 - shift + five_shift - lead);
}

static bool is_quick(const decimal *d)
{
    return d->digits <= QUICK_DIGITS && d->exponent >= -QUICK_EXPONENT &&
           d->exponent <= QUICK_EXPONENT;
}

static double quick_value(const decimal *d)
{
    double value;
    if (d->mantissa >> 53 || d->exponent < -22 || d->exponent > 22)
        value = by_128_bits(d->mantissa, d->exponent);
    else if (d->exponent < 0)
        value = (double)d->mantissa / power_of_ten[-d->exponent];
    else
        value = (double)d->mantissa * power_of_ten[d->exponent];
    return d->negative ? -value : value;
}

static bool by_strtod(const char *text, size_t len, double *out)
{
    char small[128], *copy = len < sizeof small ? small : malloc(len + 1), *stop;
    if (!copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    *out = strtod(copy, &stop);
    bool whole = stop == copy + len;
    if (copy != small)
        free(copy);
    return whole && isfinite(*out);
}

bool tacit_csv_number(const char *text, size_t len, double *out)
{
    decimal d;
    if (parse(text, text + len, &d) != text + len || len == 0)
        return false;
    if (!is_quick(&d))
        return by_strtod(text, len, out);
    *out = quick_value(&d);
    return true;
}

const char *tacit_csv_quick_number(const char *at, const char *end, double *out)
{
    decimal d;
    const char *stop = parse(at, end, &d);
    if (!stop || !is_quick(&d))
        return NULL;
    *out = quick_value(&d);
    return stop;
}
