/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BASE_WRITER_H
#define TACIT_BASE_WRITER_H
/*
 * Text that grows, and JSON.
 *
 * A writer remembers that memory ran out, so that a long text is written without a check at
 * every word: ask `failed` once, at the end.
 */
#include "tacit/base.h"

typedef struct tacit_writer {
    char *text; /* always ends in NUL once anything was written */
    size_t len, capacity;
    bool failed;
} tacit_writer;

void tacit_writer_clear(tacit_writer *writer);
void tacit_write_bytes(tacit_writer *writer, const void *bytes, size_t len);
void tacit_write_text(tacit_writer *writer, const char *text);
void tacit_write_format(tacit_writer *writer, const char *fmt, ...) TACIT_PRINTF(2, 3);
/* The shortest decimal that reads back as the same double; "nan", "inf", "-inf". */
void tacit_write_real(tacit_writer *writer, double value);
/* The text itself, which the caller frees; NULL when memory ran out. The writer is empty
 * afterwards. */
char *tacit_writer_take(tacit_writer *writer);

/* Length of the well-formed UTF-8 character (RFC 3629) `text` begins with, 0 if there is none. */
size_t tacit_character_length(const char *text, size_t len);

/* ---- JSON ---- */
/* The character `text` (of `len` > 0 bytes) begins with as it stands between quotes: *wrote bytes
 * in `out`. Returns how many bytes of the text it was. */
#define TACIT_JSON_CHARACTER 6
size_t tacit_json_character(char out[TACIT_JSON_CHARACTER + 1], size_t *wrote, const char *text,
                            size_t len);

/* Commas and quotes by themselves; `key` is NULL inside an array and at the top. Not finite
 * numbers become null. A line break after every member at depth one, so that people can read
 * and diff what machines parse; a `compact` text is one line. */
typedef struct tacit_json {
    tacit_writer *out;
    uint32_t depth;
    bool compact;
    bool empty; /* nothing yet in the innermost object or array */
} tacit_json;

void tacit_json_begin(tacit_json *json, const char *key, char bracket); /* '{' or '[' */
void tacit_json_end(tacit_json *json, char bracket);                    /* '}' or ']' */
/* Broken UTF-8 is replaced by U+FFFD, so that the result always parses. */
void tacit_json_text(tacit_json *json, const char *key, const char *value);
void tacit_json_real(tacit_json *json, const char *key, double value);
void tacit_json_count(tacit_json *json, const char *key, uint64_t value);
void tacit_json_bool(tacit_json *json, const char *key, bool value);
void tacit_json_null(tacit_json *json, const char *key);
/* A value that is JSON already. */
void tacit_json_raw(tacit_json *json, const char *key, const char *text, size_t len);

/* The least number of six digits that is not below `value`: what "%g" can print of a delta without
 * saying less than it is. */
double tacit_rounded_up(double value);

#endif
