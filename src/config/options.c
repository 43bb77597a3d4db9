/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Option tables: text in, typed field out, and back.
 *
 * Numbers are read strictly, because a half-read number in an experiment is worse than
 * an error: no white space, no hexadecimal, no NaN, nothing after the last digit.
 * Integers are read digit by digit, so that 9007199254740993 stays itself and 1e3 is
 * welcome while 1.5, 1e-1 and 1e40 are not.
 *
 * Invariants: a field changes only when its new value is complete and in range; what
 * tacit_option_format writes, tacit_option_set reads back to the same value.
 */
#include "config/text.h"
#include "tacit/config.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *field(const tacit_option *option, void *values)
{
    return (char *)values + option->offset;
}

static const void *const_field(const tacit_option *option, const void *values)
{
    return (const char *)values + option->offset;
}

/* ---- numbers ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number in pieces: sign, the places of its digits, and the power of ten. */
typedef struct decimal {
    bool negative;
    const char *digits; /* digits with at most one point among them */
    size_t len;
    long fraction; /* digits behind the point */
    long exponent; /* clamped: far beyond every type that follows */
} decimal;

/* [+-] digits [. digits] [e [+-] digits], with a digit before or behind the point. */
static bool scan_decimal(const char *text, decimal *out)
{
    *out = (decimal){.negative = *text == '-'};
    if (*text == '-' || *text == '+')
        text++;
    out->digits = text;
    size_t seen = 0;
    for (; is_digit(*text); text++)
        seen++;
    if (*text == '.') {
        for (text++; is_digit(*text); text++, out->fraction++)
            seen++;
    }
    out->len = (size_t)(text - out->digits);
    if (seen == 0)
        return false;
    if (*text != 'e' && *text != 'E')
        return *text == '\0';
    text++;
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    if (!is_digit(*text))
        return false;
    for (; is_digit(*text); text++) {
        if (out->exponent < 100000)
            out->exponent = out->exponent * 10 + (*text - '0');
    }
    if (negative)
        out->exponent = -out->exponent;
    return *text == '\0';
}

static bool parse_int(const char *text, int64_t *out)
{
    decimal d;
    if (!scan_decimal(text, &d))
        return false;
    const uint64_t limit = d.negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t value = 0;
    long waiting = 0; /* zeros seen but not yet multiplied in: they may be a fraction's tail */
    long places = d.exponent - d.fraction;
    for (size_t i = 0; i <= d.len; i++) {
        bool end = i == d.len;
        if (!end && d.digits[i] == '.')
            continue;
        if (!end && d.digits[i] == '0') {
            waiting++;
            continue;
        }
        /* At the end the power of ten joins the waiting zeros. */
        if (end)
            waiting += places;
        if (value == 0)
            waiting = 0;
        if (waiting < 0)
            return false; /* a fraction is left */
        for (; waiting > 0; waiting--) {
            if (value > limit / 10)
                return false;
            value *= 10;
        }
        if (end)
            break;
        uint64_t digit = (uint64_t)(d.digits[i] - '0');
        if (value > limit / 10 || value * 10 > limit - digit)
            return false;
        value = value * 10 + digit;
    }
    *out = d.negative ? (value == 0 ? 0 : -(int64_t)(value - 1) - 1) : (int64_t)value;
    return true;
}

static bool parse_infinity(const char *text, double *out)
{
    double value = *text == '-' ? -INFINITY : INFINITY;
    if (*text == '-' || *text == '+')
        text++;
    if (*text == '.')
        text++;
    if (!tacit_same_word(text, "inf") && !tacit_same_word(text, "infinity"))
        return false;
    *out = value;
    return true;
}

static bool parse_real(const char *text, double *out)
{
    if (parse_infinity(text, out))
        return true;
    decimal d;
    if (!scan_decimal(text, &d))
        return false;
    char *end;
    double value = strtod(text, &end);
    /* `end` also guards against an embedding program with a decimal comma. */
    if (*end != '\0' || !isfinite(value))
        return false;
    *out = value;
    return true;
}

static int64_t lowest(const tacit_option *option)
{
    return option->min <= (double)INT64_MIN ? INT64_MIN : (int64_t)ceil(option->min);
}

static int64_t highest(const tacit_option *option)
{
    return option->max >= (double)INT64_MAX ? INT64_MAX : (int64_t)floor(option->max);
}

static bool parse_bool(const char *text, bool *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (tacit_same_word(text, words[i])) {
            *out = i % 2 == 1;
            return true;
        }
    }
    return false;
}

static size_t choice_count(const tacit_option *option)
{
    size_t n = 0;
    while (option->choices && option->choices[n])
        n++;
    return n;
}

static bool set_field(const tacit_option *option, void *values, const char *text)
{
    switch (option->type) {
    case TACIT_OPT_BOOL:
        return parse_bool(text, field(option, values));
    case TACIT_OPT_INT: {
        int64_t value;
        if (!parse_int(text, &value) || value < lowest(option) || value > highest(option))
            return false;
        *(int64_t *)field(option, values) = value;
        return true;
    }
    case TACIT_OPT_REAL: {
        double value;
        if (!parse_real(text, &value) || !(value >= option->min && value <= option->max))
            return false;
        *(double *)field(option, values) = value;
        return true;
    }
    case TACIT_OPT_TEXT: {
        size_t len = strlen(text);
        if (len >= TACIT_TEXT_MAX || !tacit_text_is_clean(text, len))
            return false;
        char *to = field(option, values);
        memset(to, 0, TACIT_TEXT_MAX);
        memcpy(to, text, len);
        return true;
    }
    case TACIT_OPT_CHOICE:
        for (size_t i = 0; i < choice_count(option); i++) {
            if (strcmp(text, option->choices[i]) == 0) {
                *(int *)field(option, values) = (int)i;
                return true;
            }
        }
        return false;
    }
    return false;
}

tacit_status tacit_option_set(const tacit_option *option, void *values, const char *text,
                              tacit_error *err)
{
    if (set_field(option, values, text))
        return TACIT_OK;
    char expects[300], shown[80], hint[100] = "";
    tacit_option_expects(option, expects, sizeof expects);
    tacit_show(text, strlen(text), shown, sizeof shown);
    if (option->type == TACIT_OPT_CHOICE) {
        const char *near = tacit_nearest(text, option->choices, choice_count(option));
        if (near)
            snprintf(hint, sizeof hint, "; did you mean \"%s\"?", near);
    }
    if (*text == '\0')
        return tacit_fail(err, TACIT_EINPUT, "\"%s\" is empty; expected %s%s", option->key, expects,
                          hint);
    return tacit_fail(err, TACIT_EINPUT, "\"%s\" is \"%s\"; expected %s%s", option->key, shown,
                      expects, hint);
}

tacit_status tacit_options_defaults(const tacit_section *section, void *values, tacit_error *err)
{
    memset(values, 0, section->size);
    for (size_t i = 0; i < section->count; i++) {
        const tacit_option *option = &section->options[i];
        tacit_error why = {0};
        if (tacit_option_set(option, values, option->fallback ? option->fallback : "", &why))
            return tacit_fail(err, TACIT_EINTERNAL, "the default of \"%s%s%s\" is wrong: %s",
                              section->name, *section->name ? "." : "", option->key, why.text);
    }
    return TACIT_OK;
}

/* 1e+09 -> 1e9, 1e-06 -> 1e-6: as people write it. */
static void shorten_exponent(char *text)
{
    char *from = strchr(text, 'e');
    if (!from)
        return;
    char *to = ++from;
    if (*from == '-')
        to++;
    from++; /* C always writes a sign */
    while (*from == '0' && from[1] != '\0')
        from++;
    memmove(to, from, strlen(from) + 1);
}

static void format_real(double value, char *out, size_t size)
{
    if (isinf(value)) {
        snprintf(out, size, "%sinf", value < 0 ? "-" : "");
        return;
    }
    /* The shortest of the forms that reads back as the same number. */
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    shorten_exponent(text);
    snprintf(out, size, "%s", text);
}

void tacit_option_format(const tacit_option *option, const void *values, char *out, size_t size)
{
    const void *from = const_field(option, values);
    switch (option->type) {
    case TACIT_OPT_BOOL:
        snprintf(out, size, "%s", *(const bool *)from ? "true" : "false");
        return;
    case TACIT_OPT_INT:
        snprintf(out, size, "%" PRId64, *(const int64_t *)from);
        return;
    case TACIT_OPT_REAL:
        format_real(*(const double *)from, out, size);
        return;
    case TACIT_OPT_TEXT:
        snprintf(out, size, "%s", (const char *)from);
        return;
    case TACIT_OPT_CHOICE: {
        int index = *(const int *)from;
        bool known = index >= 0 && (size_t)index < choice_count(option);
        snprintf(out, size, "%s", known ? option->choices[index] : "");
        return;
    }
    }
}

const tacit_option *tacit_section_find(const tacit_section *section, const char *key, size_t len)
{
    for (size_t i = 0; i < section->count; i++) {
        const char *name = section->options[i].key;
        if (strlen(name) == len && memcmp(name, key, len) == 0)
            return &section->options[i];
    }
    return NULL;
}

static void expects_number(const tacit_option *option, char *out, size_t size)
{
    bool whole = option->type == TACIT_OPT_INT;
    const char *noun = whole ? "an integer" : "a number";
    bool has_min = whole ? lowest(option) != INT64_MIN : option->min > -DBL_MAX;
    bool has_max = whole ? highest(option) != INT64_MAX : option->max < DBL_MAX;
    char min[40], max[40];
    if (whole) {
        snprintf(min, sizeof min, "%" PRId64, lowest(option));
        snprintf(max, sizeof max, "%" PRId64, highest(option));
    } else {
        format_real(option->min, min, sizeof min);
        format_real(option->max, max, sizeof max);
    }
    const char *infinite = !whole && isinf(option->max) ? ", or inf" : "";
    if (has_min && has_max)
        snprintf(out, size, "%s from %s to %s", noun, min, max);
    else if (has_min)
        snprintf(out, size, "%s at least %s%s", noun, min, infinite);
    else if (has_max)
        snprintf(out, size, "%s at most %s", noun, max);
    else
        snprintf(out, size, "%s%s", noun, infinite);
}

void tacit_option_expects(const tacit_option *option, char *out, size_t size)
{
    switch (option->type) {
    case TACIT_OPT_BOOL:
        snprintf(out, size, "true or false");
        return;
    case TACIT_OPT_INT:
    case TACIT_OPT_REAL:
        expects_number(option, out, size);
        return;
    case TACIT_OPT_TEXT:
        snprintf(out, size, "text of at most %d bytes without control characters",
                 TACIT_TEXT_MAX - 1);
        return;
    case TACIT_OPT_CHOICE: {
        size_t n = choice_count(option);
        size_t used = 0;
        for (size_t i = 0; i < n && used < size; i++) {
            int wrote = snprintf(out + used, size - used, "%s%s",
                                 i == 0 ? (n > 1 ? "one of " : "") : ", ", option->choices[i]);
            used += wrote > 0 ? (size_t)wrote : 0;
        }
        return;
    }
    }
}
