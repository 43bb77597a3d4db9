/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A field is written behind the last one, in room that keeps a place for the mark that something
 * is missing; if it does not fit as a whole the length goes back to where it was. So what is
 * there is complete at any time.
 */
#include "runtime/node/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/writer.h"

static const char cut_mark[] = "\"cut\":true";
static const char dots[] = "...";

/* Room for fields: a comma and the mark fit behind it, and the NUL. */
enum { ROOM = LOG_BYTES - (int)sizeof cut_mark - 1 };

void log_begin(log_fields *f)
{
    f->text[0] = '\0';
    f->len = 0;
    f->cut = false;
}

/* false: there is no room, and nothing was written. */
static bool put(log_fields *f, const char *bytes, size_t len)
{
    if (len > ROOM - f->len)
        return false;
    memcpy(f->text + f->len, bytes, len);
    f->len += len;
    return true;
}

static bool put_quoted(log_fields *f, const char *text)
{
    size_t len = strnlen(text, LOG_TEXT + 1), at = 0;
    /* A character that begins within the limit is taken whole. */
    const size_t left = len > LOG_TEXT ? strnlen(text, LOG_TEXT + 4) : len;
    const size_t end = len > LOG_TEXT ? LOG_TEXT : len;
    if (!put(f, "\"", 1))
        return false;
    while (at < end) {
        char character[TACIT_JSON_CHARACTER + 1];
        size_t wrote;
        at += tacit_json_character(character, &wrote, text + at, left - at);
        if (!put(f, character, wrote))
            return false;
    }
    return (at >= left || put(f, dots, sizeof dots - 1)) && put(f, "\"", 1);
}

static void close_field(log_fields *f, size_t before, bool fits)
{
    if (!fits) {
        f->len = before;
        f->cut = true;
    }
    f->text[f->len] = '\0';
}

static bool put_key(log_fields *f, const char *key)
{
    return (f->len == 0 || put(f, ",", 1)) && put_quoted(f, key) && put(f, ":", 1);
}

/* A value that needs no quotes. */
static void put_plain(log_fields *f, const char *key, const char *value)
{
    const size_t before = f->len;
    close_field(f, before, put_key(f, key) && put(f, value, strlen(value)));
}

void log_text(log_fields *f, const char *key, const char *text)
{
    const size_t before = f->len;
    if (text)
        close_field(f, before, put_key(f, key) && put_quoted(f, text));
    else
        put_plain(f, key, "null");
}

void log_number(log_fields *f, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", value);
    put_plain(f, key, isfinite(value) ? text : "null");
}

void log_u64(log_fields *f, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    put_plain(f, key, text);
}

void log_bool(log_fields *f, const char *key, bool value)
{
    put_plain(f, key, value ? "true" : "false");
}

const char *log_end(log_fields *f)
{
    if (f->cut)
        snprintf(f->text + f->len, sizeof f->text - f->len, "%s%s", f->len > 0 ? "," : "",
                 cut_mark);
    return f->text;
}
