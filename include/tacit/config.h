/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_CONFIG_H
#define TACIT_CONFIG_H
/*
 * One kind of option table feeds everything: the YAML check, --set, command-line
 * flags, --help, the man page and shell completion. A module declares a plain struct
 * and a const table that says, for each field, its key, type, default, range and one
 * line of help.
 */
#include "tacit/base.h"

#define TACIT_TEXT_MAX 1024

typedef enum tacit_option_type {
    TACIT_OPT_BOOL,   /* bool */
    TACIT_OPT_INT,    /* int64_t; min..max inclusive */
    TACIT_OPT_REAL,   /* double; min..max inclusive, NaN never, infinity only if max is */
    TACIT_OPT_TEXT,   /* char[TACIT_TEXT_MAX]; UTF-8 without control characters */
    TACIT_OPT_CHOICE, /* int: index into choices */
} tacit_option_type;

typedef struct tacit_option {
    const char *key; /* "mu"; on the command line "--mu" */
    tacit_option_type type;
    const char *fallback; /* default, as a user would write it */
    double min, max;
    const char *const *choices; /* NULL-terminated, CHOICE only */
    size_t offset;
    const char *help;       /* one lower-case line, no full stop */
    char letter;            /* -t; 0 if none; command line only */
    const char *value_name; /* "N", "FILE"; NULL: from the type; command line only */
} tacit_option;

/* A named group of options, stored in one struct of `size` bytes. */
typedef struct tacit_section {
    const char *name; /* "data", "protocol"; "" for top level and the command line */
    const tacit_option *options;
    size_t count;
    size_t size;
} tacit_section;

/* Write every default of `section` into `values` (a struct of section->size bytes). */
tacit_status tacit_options_defaults(const tacit_section *section, void *values, tacit_error *err);
/* Parse `text` into the field of `option`. The error names option->key, says what was
 * expected and, for a choice, what was probably meant. Fields are unchanged on failure. */
tacit_status tacit_option_set(const tacit_option *option, void *values, const char *text,
                              tacit_error *err);
/* The field as a user would write it (round-trips through tacit_option_set). */
void tacit_option_format(const tacit_option *option, const void *values, char *out, size_t size);
const tacit_option *tacit_section_find(const tacit_section *section, const char *key, size_t len);
/* "at least 0", "one of a, b", ... : for errors and help. */
void tacit_option_expects(const tacit_option *option, char *out, size_t size);
/* The nearest of `count` names to `word`, or NULL if none is near. */
const char *tacit_nearest(const char *word, const char *const *names, size_t count);

/* ---- a configuration: what a YAML file and --set say, before tables read it ---- */

typedef struct tacit_setting {
    char *key;                /* dotted: "protocol.mu"; no dot for the top level */
    char *value;              /* scalar text */
    int line, column;         /* of the value, from 1; 0 for --set */
    int key_line, key_column; /* of the key, from 1; 0 for --set */
    bool used;
} tacit_setting;

typedef struct tacit_config {
    char *source; /* file name for messages */
    tacit_setting *settings;
    size_t count, capacity;
} tacit_config;

void tacit_config_init(tacit_config *config);
void tacit_config_clear(tacit_config *config);
/* Two levels of mappings with scalar leaves; anchors, sequences, duplicate keys, more
 * than 1 MiB or 1000 keys are refused with file, line and column. On success `config`
 * holds what the text says and nothing else; on failure it is unchanged. */
tacit_status tacit_config_parse(tacit_config *config, const char *source, const char *text,
                                size_t len, tacit_error *err);
tacit_status tacit_config_read(tacit_config *config, const char *path, tacit_error *err);
/* --set key=value; replaces what the file said. */
tacit_status tacit_config_set(tacit_config *config, const char *assignment, tacit_error *err);
const tacit_setting *tacit_config_get(const tacit_config *config, const char *key);
/* Fill `values` with defaults, then with every setting "<section name>.<key>" whose key
 * is in the table; marks those used and leaves the others to tacit_config_unused. So
 * several tables may share one section name. */
tacit_status tacit_config_apply(tacit_config *config, const tacit_section *section, void *values,
                                tacit_error *err);
/* After all sections were applied: an error for the first setting nobody used, with
 * the nearest known key among `sections`. A section without keys is fine. */
tacit_status tacit_config_unused(const tacit_config *config, const tacit_section *const *sections,
                                 size_t count, tacit_error *err);

#endif
