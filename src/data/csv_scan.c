/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a field without quotes is looked for eight bytes at a time. Every read is guarded
 * by `end`: the text has no final NUL.
 */
#include "data/csv_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that end, or have no place in, a field without quotes, beside the separator. */
static const bool special[256] = {
    ['\0'] = true,
    ['\n'] = true,
    ['\r'] = true,
    ['"'] = true,
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void tacit_csv_rewind(tacit_csv_scan *scan, const char *text, size_t len)
{
    static const char mark[3] = {'\xef', '\xbb', '\xbf'};
    size_t skip = len >= sizeof mark && memcmp(text, mark, sizeof mark) == 0 ? sizeof mark : 0;
    scan->at = text + skip;
    scan->end = text + len;
    scan->line = 1;
}

tacit_status tacit_csv_open(tacit_csv_scan *scan, const char *name, const char *text, size_t len,
                            tacit_error *err)
{
    *scan = (tacit_csv_scan){.name = name, .separator = ','};
    tacit_csv_rewind(scan, text, len);
    scan->unquoted = malloc(TACIT_CSV_FIELD_MAX);
    return scan->unquoted ? TACIT_OK : tacit_out_of_memory(err);
}

void tacit_csv_close(tacit_csv_scan *scan)
{
    free(scan->unquoted);
    *scan = (tacit_csv_scan){0};
}

/* Bytes of the line break at `at`, 0 if there is none. */
static size_t line_break(const tacit_csv_scan *scan, const char *at)
{
    if (at < scan->end && *at == '\n')
        return 1;
    return scan->end - at >= 2 && at[0] == '\r' && at[1] == '\n' ? 2 : 0;
}

bool tacit_csv_more(tacit_csv_scan *scan)
{
    for (;;) {
        size_t n;
        while (scan->separator == ' ' && scan->at < scan->end && is_blank(*scan->at))
            scan->at++;
        if ((n = line_break(scan, scan->at)) == 0)
            return scan->at < scan->end;
        scan->at += n;
        scan->line++;
    }
}

static tacit_status fail(const tacit_csv_scan *scan, uint64_t line, tacit_error *err,
                         const char *what)
{
    return tacit_fail(err, TACIT_EINPUT, "%s:%" PRIu64 ": %s", scan->name, line, what);
}

static tacit_status too_long(const tacit_csv_scan *scan, uint64_t line, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "%s:%" PRIu64 ": a field is longer than %d bytes; is a quote missing?",
                      scan->name, line, TACIT_CSV_FIELD_MAX);
}

static tacit_status bad_end(const tacit_csv_scan *scan, char found, tacit_error *err)
{
    switch (found) {
    case '\0':
        return fail(scan, scan->line, err, "a NUL byte; expected a text file");
    case '\r':
        return fail(scan, scan->line, err, "a carriage return that ends no line; use LF or CRLF");
    case '"':
        return fail(scan, scan->line, err,
                    "a quote inside a field; put the whole field in quotes and double the quote");
    default:
        break;
    }
    const char *wanted = scan->separator == ','    ? "comma"
                         : scan->separator == '\t' ? "tab"
                         : scan->separator == ';'  ? "semicolon"
                                                   : "blank";
    return tacit_fail(err, TACIT_EINPUT,
                      "%s:%" PRIu64
                      ": text after a closing quote; expected a %s or the end of the line",
                      scan->name, scan->line, wanted);
}

/* Step over the separator or line break after a field that ended at `at`. */
static tacit_status finish_field(tacit_csv_scan *scan, tacit_csv_field *field, const char *at,
                                 tacit_error *err)
{
    const char *after = at;
    if (scan->separator == ' ') {
        while (after < scan->end && is_blank(*after))
            after++;
    } else if (after < scan->end && *after == scan->separator) {
        scan->at = after + 1;
        field->last = false;
        return TACIT_OK;
    }
    size_t n = line_break(scan, after);
    field->last = n > 0 || after == scan->end;
    if (field->last) {
        scan->at = after + n;
        scan->line += n > 0;
        return TACIT_OK;
    }
    scan->at = after;
    return after > at ? TACIT_OK : bad_end(scan, *at, err);
}

/* The first special byte or separator from `at`, or `end`. All of them but the semicolon are
 * below '-', and the characters of numbers are not: a word without a byte below '-' is stepped
 * over whole. */
static const char *find_special(const tacit_csv_scan *scan)
{
    const char *at = scan->at, *end = scan->end;
    char separator = scan->separator;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    while (separator != ';' && end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        uint64_t below = (word - ones * '-') & ~word & tops; /* exact up to the first such byte */
        if (!below) {
            at += 8;
            continue;
        }
        at += __builtin_ctzll(below) / 8;
        if (special[(unsigned char)*at] || *at == separator || (separator == ' ' && *at == '\t'))
            return at;
        at++; /* a blank or the like */
    }
#endif
    while (at < end && !special[(unsigned char)*at] && *at != separator &&
           !(separator == ' ' && *at == '\t'))
        at++;
    return at;
}

/* The same where quotes mean nothing and any byte may be the separator. */
static const char *find_plain(const tacit_csv_scan *scan)
{
    const char *at = scan->at;
    while (at < scan->end && *at != scan->separator && *at != '\0' && *at != '\n' && *at != '\r')
        at++;
    return at;
}

static tacit_status plain_field(tacit_csv_scan *scan, tacit_csv_field *field, tacit_error *err)
{
    const char *at = scan->plain ? find_plain(scan) : find_special(scan);
    const char *from = scan->at, *to = at;
    if (to - from > TACIT_CSV_FIELD_MAX)
        return too_long(scan, field->line, err);
    while (from < to && is_blank(*from))
        from++;
    while (from < to && is_blank(to[-1]))
        to--;
    field->text = from;
    field->len = (size_t)(to - from);
    return finish_field(scan, field, at, err);
}

static tacit_status quoted_field(tacit_csv_scan *scan, tacit_csv_field *field, tacit_error *err)
{
    const char *at = scan->at + 1;
    size_t len = 0;
    for (;; at++) {
        if (at == scan->end)
            return fail(scan, field->line, err, "a quote is opened here and never closed");
        if (*at == '\0')
            return fail(scan, scan->line, err, "a NUL byte; expected a text file");
        if (*at == '"') {
            if (at + 1 == scan->end || at[1] != '"')
                break;
            at++;
        }
        if (len == TACIT_CSV_FIELD_MAX)
            return too_long(scan, field->line, err);
        scan->line += *at == '\n';
        scan->unquoted[len++] = *at;
    }
    field->text = scan->unquoted;
    field->len = len;
    return finish_field(scan, field, at + 1, err);
}

tacit_status tacit_csv_next(tacit_csv_scan *scan, tacit_csv_field *field, tacit_error *err)
{
    field->line = scan->line;
    field->quoted = !scan->plain && scan->at < scan->end && *scan->at == '"';
    return field->quoted ? quoted_field(scan, field, err) : plain_field(scan, field, err);
}

const char *tacit_csv_shown(const char *text, size_t len, char out[TACIT_CSV_SHOWN_MAX + 4])
{
    bool cut = len > TACIT_CSV_SHOWN_MAX;
    if (cut) {
        len = TACIT_CSV_SHOWN_MAX;
        while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
            len--; /* not in the middle of a UTF-8 character */
    }
    for (size_t k = 0; k < len; k++) {
        unsigned char c = (unsigned char)text[k];
        out[k] = c < 0x20 || c == 0x7f ? '?' : text[k];
    }
    snprintf(out + len, 4, "%s", cut ? "..." : "");
    return out;
}
