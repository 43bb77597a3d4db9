/* SPDX-License-Identifier: Apache-2.0 */
/* The man page, tacit(1), written in roff from the same tables as --help. */
#include "verbs.h"

#include <stdio.h>
#include <string.h>

/* Text as roff: a backslash is \e, a hyphen that may be typed is \-, and a line must not
 * begin with a control character. */
static void put(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
}

static void heading(const char *text)
{
    printf(".SH %s\n", text);
}

static void item_begin(void)
{
    puts(".TP");
}

static void put_bold(const char *text)
{
    fputs("\\fB", stdout);
    put(text);
    fputs("\\fP", stdout);
}

static void put_flag(const tacit_option *option)
{
    if (!option->help)
        return;
    char name[60], text[120];
    cli_value_name(option, name, sizeof name);
    item_begin();
    if (option->letter) {
        snprintf(text, sizeof text, "-%c", option->letter);
        put_bold(text);
        fputs(", ", stdout);
    }
    snprintf(text, sizeof text, "--%s", option->key);
    put_bold(text);
    if (*name) {
        fputs(" \\fI", stdout);
        put(name);
        fputs("\\fP", stdout);
    }
    putchar('\n');
    put(option->help);
    putchar('\n');
}

static void put_verb(const cli_verb *verb)
{
    fputs(".SS \"tacit ", stdout);
    put(verb->name);
    if (verb->argument) {
        putchar(' ');
        put(verb->argument);
    }
    fputs("\"\n", stdout);
    put(verb->prose);
    putchar('\n');
    if (verb->repeated)
        put_flag(verb->repeated);
    if (verb->also_repeated)
        put_flag(verb->also_repeated);
    for (size_t i = 0; i < verb->flags->count; i++)
        put_flag(&verb->flags->options[i]);
}

static void put_key(const tacit_section *section, const tacit_option *option)
{
    char text[400];
    item_begin();
    snprintf(text, sizeof text, "%s.%s", section->name, option->key);
    put_bold(text);
    fputs(": ", stdout);
    put(option->fallback && *option->fallback ? option->fallback : "\"\"");
    putchar('\n');
    put(option->help ? option->help : "");
    fputs(" (", stdout);
    cli_key_expects(section, option, text, sizeof text);
    put(text);
    puts(")");
}

static void put_protocol(const tacit_protocol *protocol)
{
    fputs(".SS ", stdout);
    put(protocol->name);
    putchar('\n');
    put(protocol->summary);
    fputs("; trust ", stdout);
    put(tacit_trust_name(protocol->trust));
    char sees[TACIT_SEES];
    fputs(": the adversary sees ", stdout);
    put(tacit_protocol_sees(protocol, NULL, sees));
    puts(".");
    for (size_t i = 0; i < protocol->options.count; i++)
        put_key(&protocol->options, &protocol->options.options[i]);
}

static void put_examples(void)
{
    heading("EXAMPLES");
    for (size_t v = 0; cli_verbs[v]; v++) {
        for (size_t i = 0; i < cli_verbs[v]->example_count; i++) {
            item_begin();
            put_bold(cli_verbs[v]->examples[i].command);
            putchar('\n');
            put(cli_verbs[v]->examples[i].says);
            putchar('\n');
        }
    }
}

void cli_print_manual(void)
{
    printf(".TH TACIT 1 \"\" \"tacit %s\" \"User Commands\"\n", TACIT_VERSION);
    heading("NAME");
    puts("tacit \\- machine learning among peers that keep their data to themselves");
    heading("SYNOPSIS");
    for (size_t i = 0; cli_verbs[i]; i++) {
        printf("%s", i ? ".br\n" : "");
        put_bold("tacit ");
        put_bold(cli_verbs[i]->name);
        fputs(" [\\fIflags\\fP]", stdout);
        if (cli_verbs[i]->argument) {
            putchar(' ');
            put(cli_verbs[i]->argument);
        }
        putchar('\n');
    }
    heading("VERBS");
    for (size_t i = 0; cli_verbs[i]; i++)
        put_verb(cli_verbs[i]);
    heading("CONFIGURATION");
    puts("An experiment is a YAML file with one level of sections, each with keys and values.");
    puts("The same names with a dot between them go with \\fB\\-\\-set\\fP. Defaults are shown.");
    for (size_t s = 0; s < tacit_experiment_section_count; s++) {
        const tacit_section *section = tacit_experiment_sections[s];
        for (size_t i = 0; i < section->count; i++)
            put_key(section, &section->options[i]);
    }
    heading("PROTOCOLS");
    for (size_t i = 0; tacit_protocols[i]; i++)
        put_protocol(tacit_protocols[i]);
    heading("EXIT STATUS");
    for (size_t i = 0; i < cli_exit_code_count; i++) {
        printf(".TP\n%d\n", (int)cli_exit_codes[i].code);
        put(cli_exit_codes[i].meaning);
        putchar('\n');
    }
    heading("ENVIRONMENT");
    puts(".TP\nNO_COLOR\nif set and not empty, no bold and no colour on a terminal");
    put_examples();
}
