/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recursive descent; the recursion is as deep as the text, at most TACIT_JSON_DEPTH. Texts
 * never grow when their escapes are resolved, so one buffer as long as the input holds all.
 */
#include "report/json_read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/writer.h"

typedef struct reader {
    tacit_json_tree *tree;
    const char *shown, *text, *at, *end;
    char *out; /* free room in tree->text */
    tacit_error *err;
} reader;

static tacit_status wrong(const reader *r, const char *what)
{
    size_t line = 1, column = 1;
    for (const char *c = r->text; c < r->at && c < r->end; c++) {
        column++;
        if (*c == '\n') {
            line++;
            column = 1;
        }
    }
    return tacit_fail(r->err, TACIT_EINPUT, "\"%.300s\", line %zu, column %zu: %s", r->shown, line,
                      column, what);
}

static void skip_blanks(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

static bool take(reader *r, char c)
{
    if (r->at >= r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* ---- texts ---- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Four hexadecimal digits; -1 if they are none. */
static long hex4(reader *r)
{
    long value = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        int digit = r->at < r->end ? hex_digit(*r->at) : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static void put_utf8(reader *r, long code)
{
    if (code < 0x80)
        *r->out++ = (char)code;
    else if (code < 0x800) {
        *r->out++ = (char)(0xc0 | code >> 6);
        *r->out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *r->out++ = (char)(0xe0 | code >> 12);
        *r->out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *r->out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *r->out++ = (char)(0xf0 | code >> 18);
        *r->out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *r->out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *r->out++ = (char)(0x80 | (code & 0x3f));
    }
}

/* After "\u": at most 6 or 12 bytes of input become at most 3 or 4. */
static tacit_status read_unicode(reader *r)
{
    long code = hex4(r);
    if (code >= 0xd800 && code < 0xdc00) {
        long low = take(r, '\\') && take(r, 'u') ? hex4(r) : -1;
        code =
            low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : -1;
    } else if (code >= 0xdc00 && code < 0xe000)
        code = -1;
    if (code <= 0)
        return wrong(r, "\"\\u\" names no character; expected four hexadecimal digits, not 0000, "
                        "surrogates in pairs");
    put_utf8(r, code);
    return TACIT_OK;
}

static tacit_status read_escape(reader *r)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (take(r, 'u'))
        return read_unicode(r);
    const char *which = r->at < r->end && *r->at ? strchr(from, *r->at) : NULL;
    if (!which)
        return wrong(r, "unknown escape in a text");
    *r->out++ = to[which - from];
    r->at++;
    return TACIT_OK;
}

static tacit_status read_text(reader *r, const char **text)
{
    *text = r->out;
    if (!take(r, '"'))
        return wrong(r, "expected a text in double quotes");
    while (!take(r, '"')) {
        size_t left = (size_t)(r->end - r->at);
        size_t n = left ? tacit_character_length(r->at, left) : 0;
        tacit_status status = TACIT_OK;
        if (left == 0)
            status = wrong(r, "the text in double quotes does not end");
        else if (n == 0)
            status = wrong(r, "not UTF-8");
        else if ((unsigned char)*r->at < 0x20)
            status = wrong(r, "a control character inside a text");
        else if (take(r, '\\'))
            status = read_escape(r);
        else {
            memcpy(r->out, r->at, n);
            r->out += n;
            r->at += n;
        }
        if (status)
            return status;
    }
    *r->out++ = '\0';
    return TACIT_OK;
}

/* ---- numbers ---- */

static size_t digits(reader *r)
{
    const char *from = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return (size_t)(r->at - from);
}

static tacit_status read_number(reader *r, tacit_json_value *value)
{
    const char *from = r->at;
    take(r, '-');
    bool good = take(r, '0') || digits(r) > 0;
    if (good && take(r, '.'))
        good = digits(r) > 0;
    if (good && r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        if (!take(r, '+'))
            take(r, '-');
        good = digits(r) > 0;
    }
    if (!good)
        return wrong(r, "expected a value: a text, a number, true, false, null, [ or {");
    size_t len = (size_t)(r->at - from);
    memcpy(r->out, from, len);
    r->out[len] = '\0';
    value->kind = TACIT_JSON_NUMBER;
    value->text = r->out;
    value->number = strtod(r->out, NULL);
    r->out += len + 1;
    return isfinite(value->number) ? TACIT_OK : wrong(r, "a number beyond the range of a double");
}

/* ---- values ---- */

static tacit_status read_value(reader *r, uint32_t depth, const char *key, uint32_t *index);

static bool is_known(const reader *r, uint32_t first, const char *key)
{
    for (uint32_t i = first; i; i = r->tree->values[i].next)
        if (strcmp(r->tree->values[i].key, key) == 0)
            return true;
    return false;
}

static tacit_status read_key(reader *r, uint32_t first, uint32_t count, const char **key)
{
    skip_blanks(r);
    tacit_status status = read_text(r, key);
    if (status)
        return status;
    if (count >= TACIT_JSON_MEMBERS)
        return wrong(r, "an object with too many members");
    if (is_known(r, first, *key))
        return wrong(r, "this key was there before");
    skip_blanks(r);
    return take(r, ':') ? TACIT_OK : wrong(r, "expected \":\" after the key");
}

/* Behind the opening bracket of values[self]. */
static tacit_status read_members(reader *r, uint32_t depth, uint32_t self, char close)
{
    if (depth >= TACIT_JSON_DEPTH)
        return wrong(r, "nested too deeply");
    uint32_t last = 0, count = 0;
    skip_blanks(r);
    if (take(r, close))
        return TACIT_OK;
    for (;; count++) {
        const char *key = NULL;
        uint32_t index;
        tacit_status status = TACIT_OK;
        if (close == '}')
            status = read_key(r, r->tree->values[self].first, count, &key);
        if (!status)
            status = read_value(r, depth + 1, key, &index);
        if (status)
            return status;
        if (last)
            r->tree->values[last].next = index;
        else
            r->tree->values[self].first = index;
        last = index;
        skip_blanks(r);
        if (take(r, close))
            return TACIT_OK;
        if (!take(r, ','))
            return wrong(r, close == '}' ? "expected \",\" or \"}\"" : "expected \",\" or \"]\"");
    }
}

static bool take_word(reader *r, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
        return false;
    r->at += len;
    return true;
}

static tacit_status read_value(reader *r, uint32_t depth, const char *key, uint32_t *index)
{
    tacit_json_tree *tree = r->tree;
    tacit_json_value *values =
        tacit_array_grow(tree->values, &tree->capacity, tree->count + 1, sizeof *values);
    if (!values)
        return tacit_out_of_memory(r->err);
    tree->values = values;
    *index = (uint32_t)tree->count++;
    tacit_json_value *value = &values[*index];
    *value = (tacit_json_value){.key = key};
    skip_blanks(r);
    if (take(r, '{')) {
        value->kind = TACIT_JSON_OBJECT;
        return read_members(r, depth, *index, '}');
    }
    if (take(r, '[')) {
        value->kind = TACIT_JSON_ARRAY;
        return read_members(r, depth, *index, ']');
    }
    if (r->at < r->end && *r->at == '"') {
        value->kind = TACIT_JSON_TEXT;
        return read_text(r, &value->text);
    }
    if (take_word(r, "null"))
        return TACIT_OK;
    if (take_word(r, "true") || take_word(r, "false")) {
        value->kind = TACIT_JSON_BOOL;
        value->number = r->at[-2] == 'u'; /* tr-u-e */
        return TACIT_OK;
    }
    return read_number(r, value);
}

tacit_status tacit_json_read(tacit_json_tree *tree, const char *shown, const char *text, size_t len,
                             tacit_error *err)
{
    *tree = (tacit_json_tree){0};
    if (len > TACIT_JSON_BYTES)
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is too large: at most %d bytes", shown,
                          TACIT_JSON_BYTES);
    /* A number needs its NUL in addition: at most one byte for each byte of the text. */
    tree->text = malloc(2 * len + 2);
    if (!tree->text)
        return tacit_out_of_memory(err);
    reader r = {.tree = tree,
                .shown = shown,
                .text = text,
                .at = text,
                .end = text + len,
                .out = tree->text,
                .err = err};
    uint32_t top;
    tacit_status status = read_value(&r, 0, NULL, &top);
    if (!status) {
        skip_blanks(&r);
        if (r.at < r.end)
            status = wrong(&r, "something follows the end");
    }
    if (status)
        tacit_json_clear(tree);
    return status;
}

void tacit_json_clear(tacit_json_tree *tree)
{
    free(tree->values);
    free(tree->text);
    *tree = (tacit_json_tree){0};
}

/* ---- looking things up ---- */

const tacit_json_value *tacit_json_first(const tacit_json_tree *tree, const tacit_json_value *of)
{
    return of && of->first ? &tree->values[of->first] : NULL;
}

const tacit_json_value *tacit_json_next(const tacit_json_tree *tree, const tacit_json_value *value)
{
    return value->next ? &tree->values[value->next] : NULL;
}

const tacit_json_value *tacit_json_member(const tacit_json_tree *tree, const tacit_json_value *of,
                                          const char *key)
{
    if (!of || of->kind != TACIT_JSON_OBJECT)
        return NULL;
    for (const tacit_json_value *v = tacit_json_first(tree, of); v; v = tacit_json_next(tree, v))
        if (strcmp(v->key, key) == 0)
            return v;
    return NULL;
}

double tacit_json_to_real(const tacit_json_value *value, double fallback)
{
    return value && value->kind == TACIT_JSON_NUMBER ? value->number : fallback;
}

const char *tacit_json_to_text(const tacit_json_value *value, const char *fallback)
{
    return value && value->kind == TACIT_JSON_TEXT ? value->text : fallback;
}

bool tacit_json_to_bool(const tacit_json_value *value, bool fallback)
{
    return value && value->kind == TACIT_JSON_BOOL ? value->number != 0 : fallback;
}

uint64_t tacit_json_to_count(const tacit_json_value *value, uint64_t fallback)
{
    if (!value || value->kind != TACIT_JSON_NUMBER ||
        value->text[strspn(value->text, "0123456789")])
        return fallback;
    errno = 0;
    unsigned long long n = strtoull(value->text, NULL, 10);
    return errno ? fallback : n;
}
