/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of the command line against a table:
 *
 *     --key value   --key=value   -k value   -kvalue   -qj (switches in one word)
 *     --switch      --switch=false                     -- (no flags behind it)
 *
 * A flag that comes twice counts the last time, as everywhere; only the verb's repeated
 * flags (--set, --vary) collect.
 */
#include "verbs.h"

#include <stdio.h>
#include <string.h>

const tacit_option cli_set_option = {
    .key = "set",
    .type = TACIT_OPT_TEXT,
    .letter = 's',
    .value_name = "KEY=VALUE",
    .help = "replace what the file of an experiment says, as in protocol.mu=0.5; may come again",
};

void cli_value_name(const tacit_option *option, char *out, size_t size)
{
    if (option->type == TACIT_OPT_BOOL)
        snprintf(out, size, "%s", "");
    else if (option->value_name)
        snprintf(out, size, "%s", option->value_name);
    else if (option->type == TACIT_OPT_INT)
        snprintf(out, size, "N");
    else if (option->type == TACIT_OPT_REAL)
        snprintf(out, size, "X");
    else if (option->type == TACIT_OPT_TEXT)
        snprintf(out, size, "TEXT");
    else {
        size_t used = 0;
        out[0] = '\0';
        for (size_t i = 0; option->choices[i] && used < size; i++)
            used +=
                (size_t)snprintf(out + used, size - used, "%s%s", i ? "|" : "", option->choices[i]);
    }
}

typedef struct parser {
    const cli_verb *verb;
    int argc;
    char **argv;
    int at;
    void *flags;
    cli_args *args;
    tacit_error *err;
} parser;

/* `label` is the flag as written, for messages. */
static tacit_status set_flag(parser *p, const tacit_option *option, const char *label,
                             const char *value)
{
    if (option == p->verb->repeated) {
        p->args->repeated[p->args->repeated_count++] = value;
        return TACIT_OK;
    }
    if (option == p->verb->also_repeated) {
        p->args->also_repeated[p->args->also_repeated_count++] = value;
        return TACIT_OK;
    }
    tacit_option named = *option;
    named.key = label;
    return tacit_option_set(&named, p->flags, value, p->err) == TACIT_OK ? TACIT_OK : TACIT_EUSAGE;
}

/* The value in the next word. One that looks like a flag is more likely a forgotten value. */
static tacit_status next_value(parser *p, const tacit_option *option, const char *label,
                               const char **value)
{
    char name[60];
    cli_value_name(option, name, sizeof name);
    const char *next = p->at + 1 < p->argc ? p->argv[p->at + 1] : NULL;
    if (!next || strncmp(next, "--", 2) == 0)
        return tacit_fail(p->err, TACIT_EUSAGE, "\"%s\" needs a value: %s %s", label, label, name);
    p->at++;
    *value = next;
    return TACIT_OK;
}

static bool is_named(const tacit_option *option, const char *key, size_t len)
{
    return option && strlen(option->key) == len && memcmp(option->key, key, len) == 0;
}

static const tacit_option *find_long(const cli_verb *verb, const char *key, size_t len)
{
    if (is_named(verb->repeated, key, len))
        return verb->repeated;
    if (is_named(verb->also_repeated, key, len))
        return verb->also_repeated;
    return tacit_section_find(verb->flags, key, len);
}

static const tacit_option *find_letter(const cli_verb *verb, char letter)
{
    if (verb->repeated && verb->repeated->letter == letter)
        return verb->repeated;
    if (verb->also_repeated && verb->also_repeated->letter == letter)
        return verb->also_repeated;
    for (size_t i = 0; i < verb->flags->count; i++) {
        if (verb->flags->options[i].letter == letter)
            return &verb->flags->options[i];
    }
    return NULL;
}

static tacit_status unknown_long(parser *p, const char *word, size_t len)
{
    const char *names[40] = {"help"};
    size_t n = 1;
    if (p->verb->repeated)
        names[n++] = p->verb->repeated->key;
    if (p->verb->also_repeated)
        names[n++] = p->verb->also_repeated->key;
    for (size_t i = 0; i < p->verb->flags->count && n < sizeof names / sizeof *names; i++) {
        if (p->verb->flags->options[i].help)
            names[n++] = p->verb->flags->options[i].key;
    }
    char key[80];
    snprintf(key, sizeof key, "%.*s", (int)(len < 79 ? len : 79), word);
    const char *near = tacit_nearest(key, names, n);
    if (near)
        return tacit_fail(p->err, TACIT_EUSAGE, "unknown flag \"--%s\"; did you mean \"--%s\"?",
                          key, near);
    return tacit_fail(p->err, TACIT_EUSAGE, "unknown flag \"--%s\"; see \"tacit help %s\"", key,
                      p->verb->name);
}

static tacit_status parse_long(parser *p)
{
    const char *word = p->argv[p->at] + 2;
    size_t len = strcspn(word, "=");
    const char *value = word[len] == '=' ? word + len + 1 : NULL;
    if (!value && strcmp(word, "help") == 0) {
        p->args->help = true;
        return TACIT_OK;
    }
    const tacit_option *option = find_long(p->verb, word, len);
    if (!option)
        return unknown_long(p, word, len);
    char label[80];
    snprintf(label, sizeof label, "--%s", option->key);
    if (!value && option->type == TACIT_OPT_BOOL)
        value = "true";
    if (!value) {
        tacit_status status = next_value(p, option, label, &value);
        if (status != TACIT_OK)
            return status;
    }
    return set_flag(p, option, label, value);
}

static tacit_status parse_letters(parser *p)
{
    const char *word = p->argv[p->at];
    for (const char *c = word + 1; *c; c++) {
        if (*c == 'h') {
            p->args->help = true;
            continue;
        }
        const tacit_option *option = find_letter(p->verb, *c);
        char label[3] = {'-', *c, '\0'};
        if (!option)
            return tacit_fail(p->err, TACIT_EUSAGE,
                              "unknown flag \"%.20s\" in \"%.60s\"; see \"tacit help %s\"",
                              (unsigned char)*c < 0x80 ? label : word, word, p->verb->name);
        if (option->type == TACIT_OPT_BOOL) {
            tacit_status status = set_flag(p, option, label, "true");
            if (status != TACIT_OK)
                return status;
            continue;
        }
        const char *value = c[1] ? c + 1 : NULL;
        if (!value) {
            tacit_status status = next_value(p, option, label, &value);
            if (status != TACIT_OK)
                return status;
        }
        return set_flag(p, option, label, value);
    }
    return TACIT_OK;
}

tacit_status cli_parse(const cli_verb *verb, int argc, char **argv, void *flags, cli_args *args,
                       tacit_error *err)
{
    parser p = {verb, argc, argv, 0, flags, args, err};
    tacit_status status = tacit_options_defaults(verb->flags, flags, err);
    bool only_words = false;
    for (; p.at < argc && status == TACIT_OK && !args->help; p.at++) {
        const char *word = argv[p.at];
        if (only_words || word[0] != '-' || word[1] == '\0')
            args->words[args->word_count++] = word;
        else if (strcmp(word, "--") == 0)
            only_words = true;
        else if (word[1] == '-')
            status = parse_long(&p);
        else
            status = parse_letters(&p);
    }
    return status;
}
