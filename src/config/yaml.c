/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The YAML front: libyaml's events, reduced to what an experiment needs.
 *
 *     section:
 *       key: value
 *
 * Everything else YAML can say (sequences, anchors, tags, several documents) is refused
 * by name, because an experiment that means something other than it seems to is worse
 * than an error. Bytes are checked before libyaml sees them: size, UTF-8 and control
 * characters, so that these errors too have a line and a column.
 *
 * Invariants: `config` changes only on success; every message starts with
 * file:line:column; columns count characters from 1, as editors do.
 */
#include "config/settings.h"
#include "config/text.h"
#include "tacit/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#define MAX_KEY 64

typedef struct reader {
    tacit_config config; /* being built */
    yaml_parser_t parser;
    tacit_error *err;
    char section[2 * MAX_KEY]; /* "" at the top level */
} reader;

static tacit_status fail_at(reader *r, size_t line, size_t column, const char *fmt, ...)
    TACIT_PRINTF(4, 5);

/* `line` and `column` count from 0, as libyaml does. */
static tacit_status fail_at(reader *r, size_t line, size_t column, const char *fmt, ...)
{
    char place[260], text[360];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    tacit_place(r->config.source, (int)line + 1, (int)column + 1, place, sizeof place);
    return tacit_fail(r->err, TACIT_EINPUT, "%s: %s", place, text);
}

static tacit_status fail_mark(reader *r, const yaml_event_t *event, const char *what)
{
    return fail_at(r, event->start_mark.line, event->start_mark.column, "%s", what);
}

static tacit_status check_bytes(reader *r, const char *text, size_t len)
{
    size_t line = 0, column = 0;
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)text[i];
        size_t n = tacit_utf8_length(text + i, len - i);
        if (n == 0)
            return fail_at(r, line, column, "byte 0x%02X is not UTF-8; save the file as UTF-8", c);
        bool blank = c == '\t' || c == '\n' || c == '\r';
        if (!blank && !tacit_text_is_clean(text + i, n))
            return fail_at(r, line, column,
                           "control character 0x%02X; expected plain text without it", c);
        bool crlf = c == '\r' && i + 1 < len && text[i + 1] == '\n';
        if (c == '\n' || (c == '\r' && !crlf)) {
            line++;
            column = 0;
        } else if (!crlf) {
            column++;
        }
        i += n;
    }
    return TACIT_OK;
}

static tacit_status next(reader *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event))
        return TACIT_OK;
    if (r->parser.error == YAML_MEMORY_ERROR)
        return tacit_out_of_memory(r->err);
    const char *problem = r->parser.problem ? r->parser.problem : "it cannot be read";
    yaml_mark_t mark = r->parser.problem_mark;
    if (r->parser.error == YAML_READER_ERROR)
        mark = r->parser.mark;
    if (r->parser.context)
        return fail_at(r, mark.line, mark.column, "not YAML: %s (%s, line %zu)", problem,
                       r->parser.context, r->parser.context_mark.line + 1);
    return fail_at(r, mark.line, mark.column, "not YAML: %s", problem);
}

/* Anchors and tags hide behind any event that carries a value. */
static tacit_status refuse_extras(reader *r, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return fail_mark(r, event, "an alias (\"*name\"); write the value itself");
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    default:
        break;
    }
    if (anchor)
        return fail_mark(r, event, "an anchor (\"&name\"); write the value out where it is used");
    if (tag)
        return fail_mark(r, event, "a tag (\"!name\"); write the plain value");
    return TACIT_OK;
}

/* "section.key" (or "key") of a key event into `out`; checks that it can be one. */
static tacit_status read_key(reader *r, const yaml_event_t *event, char *out, size_t size)
{
    if (event->type != YAML_SCALAR_EVENT)
        return fail_mark(r, event, "a key is a list or a mapping; expected a name");
    const char *text = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    char shown[80];
    tacit_show(text, len, shown, sizeof shown);
    size_t line = event->start_mark.line, column = event->start_mark.column;
    if (len == 0)
        return fail_at(r, line, column, "a key is empty; expected a name before \":\"");
    if (len > MAX_KEY || !tacit_text_is_clean(text, len))
        return fail_at(r, line, column,
                       "key \"%s\" is too long or has control characters; expected a name", shown);
    if (memchr(text, '.', len))
        return fail_at(r, line, column,
                       "key \"%s\" has a dot; write the section, \":\", and the key indented on "
                       "the next line",
                       shown);
    snprintf(out, size, "%s%s%s", r->section, *r->section ? "." : "", text);
    return TACIT_OK;
}

/* Is there a setting with this key, or, for a section's name, any below it? */
static const tacit_setting *seen_before(const reader *r, const char *key)
{
    size_t len = strlen(key);
    for (size_t i = 0; i < r->config.count; i++) {
        const char *other = r->config.settings[i].key;
        if (strncmp(other, key, len) == 0 && (other[len] == '\0' || other[len] == '.'))
            return &r->config.settings[i];
    }
    return NULL;
}

static tacit_status add(reader *r, const char *key, const yaml_event_t *key_event,
                        const yaml_event_t *event, const char *value, size_t len)
{
    if (r->config.count >= TACIT_MAX_SETTINGS)
        return fail_at(r, key_event->start_mark.line, key_event->start_mark.column,
                       "key \"%s\" is one too many; at most %d keys are read", key,
                       TACIT_MAX_SETTINGS);
    tacit_setting *setting = tacit_settings_add(&r->config, key, value, len);
    if (!setting)
        return tacit_out_of_memory(r->err);
    setting->line = (int)event->start_mark.line + 1;
    setting->column = (int)event->start_mark.column + 1;
    setting->key_line = (int)key_event->start_mark.line + 1;
    setting->key_column = (int)key_event->start_mark.column + 1;
    return TACIT_OK;
}

static tacit_status read_mapping(reader *r);

static tacit_status read_section(reader *r, const char *key, const yaml_event_t *key_event,
                                 const yaml_event_t *event)
{
    size_t before = r->config.count;
    snprintf(r->section, sizeof r->section, "%.*s", MAX_KEY, key); /* read_key saw to it */
    tacit_status status = read_mapping(r);
    r->section[0] = '\0';
    /* `name: {}` is remembered too, so that a second one is found and a wrong one refused. */
    if (status == TACIT_OK && r->config.count == before)
        status = add(r, key, key_event, event, "", 0);
    return status;
}

static tacit_status read_value(reader *r, const char *key, const yaml_event_t *key_event)
{
    yaml_event_t event;
    tacit_status status = next(r, &event);
    if (status != TACIT_OK)
        return status;
    size_t line = event.start_mark.line, column = event.start_mark.column;
    status = refuse_extras(r, &event);
    if (status != TACIT_OK)
        goto out;
    if (event.type == YAML_SCALAR_EVENT) {
        const char *text = (const char *)event.data.scalar.value;
        size_t len = event.data.scalar.length;
        if (memchr(text, '\0', len)) /* "\0" between double quotes */
            status = fail_at(r, line, column, "\"%s\" has a NUL character; leave it out", key);
        else
            status = add(r, key, key_event, &event, text, len);
    } else if (event.type == YAML_SEQUENCE_START_EVENT) {
        status = fail_at(r, line, column, "\"%s\" is a list; expected a single value", key);
    } else if (event.type == YAML_MAPPING_START_EVENT && *r->section) {
        status =
            fail_at(r, line, column,
                    "\"%s\" has keys of its own; expected a single value, two levels are all", key);
    } else {
        status = read_section(r, key, key_event, &event);
    }
out:
    yaml_event_delete(&event);
    return status;
}

/* After the start of a mapping: keys and values to its end. */
static tacit_status read_mapping(reader *r)
{
    for (;;) {
        yaml_event_t event;
        tacit_status status = next(r, &event);
        if (status != TACIT_OK)
            return status;
        bool end = event.type == YAML_MAPPING_END_EVENT;
        char key[4 * MAX_KEY];
        if (!end)
            status = refuse_extras(r, &event);
        if (!end && status == TACIT_OK)
            status = read_key(r, &event, key, sizeof key);
        if (!end && status == TACIT_OK) {
            const tacit_setting *twin = seen_before(r, key);
            if (twin)
                status =
                    fail_at(r, event.start_mark.line, event.start_mark.column,
                            "duplicate key \"%s\"; it is already at line %d", key, twin->key_line);
            else
                status = read_value(r, key, &event);
        }
        yaml_event_delete(&event);
        if (end || status != TACIT_OK)
            return status;
    }
}

static tacit_status read_root(reader *r, const yaml_event_t *event)
{
    tacit_status status = refuse_extras(r, event);
    if (status != TACIT_OK)
        return status;
    if (event->type == YAML_MAPPING_START_EVENT)
        return read_mapping(r);
    /* A document with comments only. */
    if (event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 0 &&
        event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return TACIT_OK;
    return fail_mark(r, event,
                     "expected sections with keys, such as \"protocol:\" and below it "
                     "\"  mu: 0.5\"");
}

static tacit_status read_stream(reader *r)
{
    int documents = 0;
    for (;;) {
        yaml_event_t event;
        tacit_status status = next(r, &event);
        if (status != TACIT_OK)
            return status;
        yaml_event_type_t type = event.type;
        switch (type) {
        case YAML_STREAM_START_EVENT:
        case YAML_STREAM_END_EVENT:
        case YAML_DOCUMENT_END_EVENT:
            break;
        case YAML_DOCUMENT_START_EVENT:
            if (++documents > 1)
                status = fail_mark(r, &event, "a second document (\"---\"); expected one a file");
            break;
        default:
            status = read_root(r, &event);
        }
        yaml_event_delete(&event);
        if (status != TACIT_OK || type == YAML_STREAM_END_EVENT)
            return status;
    }
}

tacit_status tacit_config_parse(tacit_config *config, const char *source, const char *text,
                                size_t len, tacit_error *err)
{
    reader r = {.err = err};
    bool parser = false;
    tacit_status status;
    r.config.source = tacit_text_copy(source, strlen(source));
    if (!r.config.source) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    if (len > TACIT_MAX_YAML) {
        status = fail_at(&r, 0, 0, "the file is larger than 1 MiB (%u bytes); expected a short one",
                         TACIT_MAX_YAML);
        goto out;
    }
    status = check_bytes(&r, text, len);
    if (status != TACIT_OK)
        goto out;
    if (!yaml_parser_initialize(&r.parser)) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    parser = true;
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    status = read_stream(&r);
    if (status == TACIT_OK) {
        tacit_config_clear(config);
        *config = r.config;
        r.config = (tacit_config){0};
    }
out:
    if (parser)
        yaml_parser_delete(&r.parser);
    tacit_config_clear(&r.config);
    return status;
}

tacit_status tacit_config_read(tacit_config *config, const char *path, tacit_error *err)
{
    char shown[260];
    tacit_show(path, strlen(path), shown, sizeof shown);
    char *text = NULL;
    tacit_status status = TACIT_OK;
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (!file)
        return tacit_fail(err, TACIT_EINPUT, "cannot open \"%s\": %s", shown, strerror(errno));
    if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode)) {
        status = tacit_fail(err, TACIT_EINPUT, "\"%s\" is a folder; expected a YAML file", shown);
        goto out;
    }
    /* One byte more than allowed tells a file that is too large, even if it is a pipe. */
    size_t room = (size_t)TACIT_MAX_YAML + 1;
    text = malloc(room);
    if (!text) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    size_t len = fread(text, 1, room, file);
    if (ferror(file))
        status = tacit_fail(err, TACIT_EINPUT, "cannot read \"%s\": %s", shown, strerror(errno));
    else
        status = tacit_config_parse(config, path, text, len, err);
out:
    free(text);
    fclose(file);
    return status;
}
