/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration between the text and the tables: a list of settings in the order they
 * were written, each with its place, so that every complaint can point at it.
 *
 * Invariants: keys are unique; a setting of --set has line 0; the list is short (at most
 * 1000), so that plain scans are fine.
 */
#include "tacit/config.h"
#include "config/settings.h"
#include "config/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tacit_config_init(tacit_config *config)
{
    *config = (tacit_config){0};
}

void tacit_config_clear(tacit_config *config)
{
    for (size_t i = 0; i < config->count; i++) {
        free(config->settings[i].key);
        free(config->settings[i].value);
    }
    free(config->settings);
    free(config->source);
    *config = (tacit_config){0};
}

char *tacit_text_copy(const char *text, size_t len)
{
    char *copy = malloc(len + 1);
    if (copy) {
        if (len > 0)
            memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

tacit_setting *tacit_settings_find(const tacit_config *config, const char *key)
{
    for (size_t i = 0; i < config->count; i++) {
        if (strcmp(config->settings[i].key, key) == 0)
            return &config->settings[i];
    }
    return NULL;
}

const tacit_setting *tacit_config_get(const tacit_config *config, const char *key)
{
    return tacit_settings_find(config, key);
}

tacit_setting *tacit_settings_add(tacit_config *config, const char *key, const char *value,
                                  size_t value_len)
{
    if (config->count == config->capacity) {
        size_t capacity = config->capacity ? 2 * config->capacity : 32;
        tacit_setting *more = realloc(config->settings, capacity * sizeof *more);
        if (!more)
            return NULL;
        config->settings = more;
        config->capacity = capacity;
    }
    tacit_setting *setting = &config->settings[config->count];
    *setting = (tacit_setting){.key = tacit_text_copy(key, strlen(key)),
                               .value = tacit_text_copy(value, value_len)};
    if (!setting->key || !setting->value) {
        free(setting->key);
        free(setting->value);
        return NULL;
    }
    config->count++;
    return setting;
}

tacit_status tacit_config_set(tacit_config *config, const char *assignment, tacit_error *err)
{
    char shown[120];
    tacit_show(assignment, strlen(assignment), shown, sizeof shown);
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--set: \"%s\" is not key=value; expected something like "
                          "\"protocol.mu=0.5\"",
                          shown);
    if (!tacit_text_is_clean(assignment, strlen(assignment)))
        return tacit_fail(err, TACIT_EUSAGE,
                          "--set: \"%s\" has control characters or broken UTF-8; leave them out",
                          shown);
    char *key = tacit_text_copy(assignment, (size_t)(equals - assignment));
    if (!key)
        return tacit_out_of_memory(err);
    tacit_status status = TACIT_OK;
    tacit_setting *setting = tacit_settings_find(config, key);
    if (setting) {
        char *value = tacit_text_copy(equals + 1, strlen(equals + 1));
        if (!value) {
            status = tacit_out_of_memory(err);
            goto out;
        }
        free(setting->value);
        setting->value = value;
        setting->line = setting->column = setting->key_line = setting->key_column = 0;
        setting->used = false;
    } else if (config->count >= TACIT_MAX_SETTINGS) {
        status = tacit_fail(err, TACIT_EINPUT, "--set: \"%s\" is one key too many; at most %d fit",
                            shown, TACIT_MAX_SETTINGS);
    } else if (!tacit_settings_add(config, key, equals + 1, strlen(equals + 1))) {
        status = tacit_out_of_memory(err);
    }
out:
    free(key);
    return status;
}

void tacit_place(const char *source, int line, int column, char *out, size_t size)
{
    char shown[200];
    if (line == 0) {
        snprintf(out, size, "--set");
        return;
    }
    tacit_show(source ? source : "", source ? strlen(source) : 0, shown, sizeof shown);
    snprintf(out, size, "%s:%d:%d", shown, line, column);
}

/* The part of a dotted key behind "section.", or NULL if it is not of that section. */
static const char *key_in(const tacit_section *section, const char *key)
{
    size_t len = strlen(section->name);
    if (len == 0)
        return strchr(key, '.') ? NULL : key;
    return strncmp(key, section->name, len) == 0 && key[len] == '.' ? key + len + 1 : NULL;
}

tacit_status tacit_config_apply(tacit_config *config, const tacit_section *section, void *values,
                                tacit_error *err)
{
    tacit_status status = tacit_options_defaults(section, values, err);
    for (size_t i = 0; i < config->count && status == TACIT_OK; i++) {
        tacit_setting *setting = &config->settings[i];
        const char *key = key_in(section, setting->key);
        const tacit_option *found = key ? tacit_section_find(section, key, strlen(key)) : NULL;
        if (!found)
            continue;
        setting->used = true;
        tacit_option option = *found;
        option.key = setting->key; /* messages name the whole key */
        tacit_error why = {0};
        status = tacit_option_set(&option, values, setting->value, &why);
        if (status != TACIT_OK) {
            char place[260];
            tacit_place(config->source, setting->line, setting->column, place, sizeof place);
            tacit_fail(err, status, "%s: %s", place, why.text);
        }
    }
    return status;
}

/* ---- keys nobody knows ---- */

#define MAX_NAMES 256

static size_t keys_of(const tacit_section *const *sections, size_t count, const char *name,
                      size_t name_len, const char **out)
{
    size_t n = 0;
    for (size_t s = 0; s < count; s++) {
        if (strlen(sections[s]->name) != name_len || memcmp(sections[s]->name, name, name_len))
            continue;
        for (size_t i = 0; i < sections[s]->count && n < MAX_NAMES; i++)
            out[n++] = sections[s]->options[i].key;
    }
    return n;
}

/* A section that has exactly this key. */
static const tacit_section *owner_of(const tacit_section *const *sections, size_t count,
                                     const char *key)
{
    for (size_t s = 0; s < count; s++) {
        if (tacit_section_find(sections[s], key, strlen(key)))
            return sections[s];
    }
    return NULL;
}

static void join(const char *const *names, size_t count, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen = seen || strcmp(names[i], names[j]) == 0;
        size_t need = strlen(names[i]) + 2;
        if (seen || used + need >= size)
            continue;
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", names[i]);
    }
}

/* What to write instead of `key`; "" if nothing comes to mind. */
static void suggest(const tacit_section *const *sections, size_t count, const char *key, char *out,
                    size_t size)
{
    const char *names[MAX_NAMES];
    const char *dot = strchr(key, '.');
    const char *last = dot ? dot + 1 : key;
    size_t head = dot ? (size_t)(dot - key) : 0;
    const tacit_section *owner;
    out[0] = '\0';

    size_t n = keys_of(sections, count, key, head, names);
    const char *near = tacit_nearest(last, names, n);
    if (near) {
        snprintf(out, size, "; did you mean \"%.*s%s%s\"?", (int)head, key, dot ? "." : "", near);
        return;
    }
    if (n > 0 && dot) {
        owner = owner_of(sections, count, last);
        char known[300];
        join(names, n, known, sizeof known);
        if (owner)
            snprintf(out, size, "; did you mean \"%s%s%s\"?", owner->name, *owner->name ? "." : "",
                     last);
        else
            snprintf(out, size, "; \"%.*s\" knows %s", (int)head, key, known);
        return;
    }
    /* No such section: it may be mistyped, or missing. */
    char section[80];
    size_t sections_named = 0;
    for (size_t s = 0; s < count && sections_named < MAX_NAMES; s++) {
        if (*sections[s]->name)
            names[sections_named++] = sections[s]->name;
    }
    snprintf(section, sizeof section, "%.*s", dot ? (int)(head < 79 ? head : 79) : 79, key);
    near = tacit_nearest(section, names, sections_named);
    owner = owner_of(sections, count, last);
    if (near && dot) {
        size_t m = keys_of(sections, count, near, strlen(near), names);
        const char *near_key = tacit_nearest(last, names, m);
        snprintf(out, size, "; did you mean \"%s.%s\"?", near, near_key ? near_key : last);
    } else if (owner) {
        snprintf(out, size, "; did you mean \"%s%s%s\"?", owner->name, *owner->name ? "." : "",
                 last);
    } else if (near) {
        snprintf(out, size, "; did you mean the section \"%s\"?", near);
    } else {
        char known[300];
        join(names, sections_named, known, sizeof known);
        snprintf(out, size, "; the sections are %s", known);
    }
}

static bool names_section(const tacit_section *const *sections, size_t count, const char *key)
{
    for (size_t s = 0; s < count; s++) {
        if (*key && strcmp(sections[s]->name, key) == 0)
            return true;
    }
    return false;
}

tacit_status tacit_config_unused(const tacit_config *config, const tacit_section *const *sections,
                                 size_t count, tacit_error *err)
{
    for (size_t i = 0; i < config->count; i++) {
        const tacit_setting *setting = &config->settings[i];
        bool section = names_section(sections, count, setting->key);
        if (setting->used || (section && *setting->value == '\0'))
            continue;
        char place[260], shown[120], hint[420];
        tacit_place(config->source, setting->key_line, setting->key_column, place, sizeof place);
        tacit_show(setting->key, strlen(setting->key), shown, sizeof shown);
        if (section && setting->line > 0)
            return tacit_fail(err, TACIT_EINPUT,
                              "%s: \"%s\" is a section; write its keys on the lines below it, "
                              "indented",
                              place, shown);
        if (section)
            return tacit_fail(err, TACIT_EINPUT,
                              "%s: \"%s\" is a section; expected a key of it, such as \"%s.KEY\"",
                              place, shown, shown);
        suggest(sections, count, setting->key, hint, sizeof hint);
        return tacit_fail(err, TACIT_EINPUT, "%s: unknown key \"%s\"%s", place, shown, hint);
    }
    return TACIT_OK;
}
