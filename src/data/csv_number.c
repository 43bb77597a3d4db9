/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decimal text to double. Nearly all numbers in files have at most 15 digits and a small
 * exponent: then mantissa and power of ten are both exact doubles, and one multiplication or
 * division rounds correctly (Clinger 1990). Everything else goes to strtod, after the grammar
 * was checked here, so that hexadecimal, infinities, NaN and blanks never get through.
 */
#include "data/csv_scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* What the grammar found: value = mantissa * 10^exponent if digits <= 15. */
typedef struct decimal {
    bool negative;
    uint64_t mantissa;
    int digits; /* after leading zeros; saturates */
    int exponent;
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *read_digits(const char *at, const char *end, decimal *d, bool fraction)
{
    for (; at < end && is_digit(*at); at++) {
        if (d->digits < 16) {
            d->mantissa = 10 * d->mantissa + (uint64_t)(*at - '0');
            d->digits += d->mantissa > 0;
            d->exponent -= fraction;
        }
    }
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

/* sign? digits* (. digits*)? (e sign? digits+)?, at least one digit before the exponent */
static bool parse(const char *text, size_t len, decimal *d)
{
    const char *at = text, *end = text + len;
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
    return any && at == end;
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
    if (!parse(text, len, &d))
        return false;
    if (d.digits > 15 || d.exponent < -22 || d.exponent > 22)
        return by_strtod(text, len, out);
    double value = (double)d.mantissa;
    value = d.exponent < 0 ? value / power_of_ten[-d.exponent] : value * power_of_ten[d.exponent];
    *out = d.negative ? -value : value;
    return true;
}
