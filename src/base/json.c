/* SPDX-License-Identifier: Apache-2.0 */
#include "base/writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t tacit_character_length(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n > len)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xed && s[1] > 0x9f;
    bool beyond = s[0] == 0xf4 && s[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : n;
}

size_t tacit_json_character(char out[TACIT_JSON_CHARACTER + 1], size_t *wrote, const char *text,
                            size_t len)
{
    const size_t room = TACIT_JSON_CHARACTER + 1;
    const char c = *text;
    size_t n = tacit_character_length(text, len);
    int size;
    if (n == 0)
        size = snprintf(out, room, "\xef\xbf\xbd");
    else if (c == '"' || c == '\\')
        size = snprintf(out, room, "\\%c", c);
    else if (c == '\n' || c == '\t')
        size = snprintf(out, room, "\\%c", c == '\n' ? 'n' : 't');
    else if ((unsigned char)c < 0x20 || c == 0x7f)
        size = snprintf(out, room, "\\u%04x", (unsigned)c);
    else {
        memcpy(out, text, n);
        size = (int)n;
    }
    *wrote = (size_t)size;
    return n == 0 ? 1 : n;
}

static void quoted(tacit_writer *out, const char *text)
{
    size_t left = strlen(text);
    tacit_write_text(out, "\"");
    while (left > 0) {
        char character[TACIT_JSON_CHARACTER + 1];
        size_t wrote, took = tacit_json_character(character, &wrote, text, left);
        tacit_write_bytes(out, character, wrote);
        text += took;
        left -= took;
    }
    tacit_write_text(out, "\"");
}

static void line_break(tacit_json *json)
{
    if (json->compact || json->depth > 2)
        return;
    tacit_write_text(json->out, "\n");
    for (uint32_t i = 0; i < json->depth; i++)
        tacit_write_text(json->out, "  ");
}

static void member(tacit_json *json, const char *key)
{
    if (json->depth > 0) {
        if (!json->empty)
            tacit_write_text(json->out, json->depth > 2 && !json->compact ? ", " : ",");
        line_break(json);
    }
    json->empty = false;
    if (key) {
        quoted(json->out, key);
        tacit_write_text(json->out, json->compact ? ":" : ": ");
    }
}

void tacit_json_begin(tacit_json *json, const char *key, char bracket)
{
    member(json, key);
    tacit_write_bytes(json->out, &bracket, 1);
    json->depth++;
    json->empty = true;
}

void tacit_json_end(tacit_json *json, char bracket)
{
    uint32_t inner = json->depth--;
    if (!json->empty && inner <= 2)
        line_break(json);
    tacit_write_bytes(json->out, &bracket, 1);
    json->empty = false;
    if (json->depth == 0)
        tacit_write_text(json->out, "\n");
}

void tacit_json_text(tacit_json *json, const char *key, const char *value)
{
    member(json, key);
    quoted(json->out, value);
}

void tacit_json_real(tacit_json *json, const char *key, double value)
{
    member(json, key);
    if (isfinite(value))
        tacit_write_real(json->out, value);
    else
        tacit_write_text(json->out, "null");
}

void tacit_json_count(tacit_json *json, const char *key, uint64_t value)
{
    member(json, key);
    tacit_write_format(json->out, "%llu", (unsigned long long)value);
}

void tacit_json_bool(tacit_json *json, const char *key, bool value)
{
    member(json, key);
    tacit_write_text(json->out, value ? "true" : "false");
}

void tacit_json_null(tacit_json *json, const char *key)
{
    member(json, key);
    tacit_write_text(json->out, "null");
}

void tacit_json_raw(tacit_json *json, const char *key, const char *text, size_t len)
{
    member(json, key);
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' '))
        len--;
    tacit_write_bytes(json->out, text, len);
}
