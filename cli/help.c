/* SPDX-License-Identifier: Apache-2.0 */
/* tacit help: everything that can be said, from the tables that also do the checking. */
#include "terminal.h"
#include "verbs.h"

#include <string.h>

#define COLUMN 30

const cli_exit_code cli_exit_codes[] = {
    {TACIT_OK, "done"},
    {TACIT_NO, "ran, and the answer is no"},
    {TACIT_EUSAGE, "wrong words on the command line"},
    {TACIT_EINPUT, "bad input: a file, a value, no room on the disk"},
    {TACIT_EPEER, "network or peer"},
    {TACIT_EBUDGET, "the privacy budget refuses"},
    {TACIT_EVERIFY, "something was edited, cut or forged"},
    {TACIT_EINTERNAL, "an error of ours, or no memory"},
    {TACIT_EINTERRUPTED, "interrupted; what was reached can be resumed"},
};
const size_t cli_exit_code_count = sizeof cli_exit_codes / sizeof *cli_exit_codes;

static void title(const char *text)
{
    printf("\n%s%s%s\n", cli_bold(), text, cli_plain());
}

/* "  left            right, wrapped" */
static void entry(const char *left, const char *right)
{
    int used = printf("  %s", left);
    if (used > COLUMN - 2) {
        putchar('\n');
        used = 0;
    }
    printf("%*s", COLUMN - used, "");
    cli_wrap(right, COLUMN, COLUMN);
}

static void print_exit_codes(void)
{
    title("Exit codes");
    for (size_t i = 0; i < cli_exit_code_count; i++) {
        char code[12];
        snprintf(code, sizeof code, "%d", (int)cli_exit_codes[i].code);
        entry(code, cli_exit_codes[i].meaning);
    }
}

void cli_print_overview(void)
{
    printf("%stacit %s%s: machine learning among peers that keep their data to themselves\n",
           cli_bold(), TACIT_VERSION, cli_plain());
    title("Usage");
    puts("  tacit VERB [FLAGS] [WORDS]");
    title("Verbs");
    for (size_t i = 0; cli_verbs[i]; i++)
        entry(cli_verbs[i]->name, cli_verbs[i]->summary);
    title("Flags");
    entry("-h, --help", "this text, or that of a verb");
    entry("-V, --version", "which tacit this is");
    title("Examples");
    puts("  tacit demo");
    puts("  tacit run examples/separators.yaml");
    puts("  tacit help run");
    print_exit_codes();
}

/* ---- keys of a configuration ---- */

/* The table of protocol.name says "text", because it cannot know the registry. */
static bool is_protocol_name(const tacit_section *section, const tacit_option *option)
{
    return strcmp(section->name, "protocol") == 0 && strcmp(option->key, "name") == 0;
}

void cli_key_expects(const tacit_section *section, const tacit_option *option, char *out,
                     size_t size)
{
    if (!is_protocol_name(section, option)) {
        if (option->type == TACIT_OPT_TEXT)
            snprintf(out, size, "text");
        else
            tacit_option_expects(option, out, size);
        return;
    }
    size_t used = (size_t)snprintf(out, size, "one of");
    for (size_t i = 0; tacit_protocols[i] && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s %s", i ? "," : "",
                                 tacit_protocols[i]->name);
}

static void print_key(const tacit_section *section, const tacit_option *option)
{
    char left[TACIT_TEXT_MAX], expects[400], right[900];
    const char *fallback = option->fallback && *option->fallback ? option->fallback : "\"\"";
    snprintf(left, sizeof left, "  %s: %s", option->key, fallback);
    cli_key_expects(section, option, expects, sizeof expects);
    snprintf(right, sizeof right, "%s (%s)", option->help ? option->help : "", expects);
    entry(left, right);
}

static void print_section(const tacit_section *section)
{
    printf("  %s%s:%s\n", cli_bold(), section->name, cli_plain());
    for (size_t i = 0; i < section->count; i++)
        print_key(section, &section->options[i]);
}

static void print_protocols(void)
{
    for (size_t i = 0; tacit_protocols[i]; i++) {
        const tacit_protocol *protocol = tacit_protocols[i];
        char sees[TACIT_SEES], right[TACIT_SEES + 200];
        snprintf(right, sizeof right, "%s; trust %s: the adversary sees %s", protocol->summary,
                 tacit_trust_name(protocol->trust), tacit_protocol_sees(protocol, NULL, sees));
        printf("%s", i ? "\n" : "");
        entry(protocol->name, right);
        for (size_t k = 0; k < protocol->options.count; k++)
            print_key(&protocol->options, &protocol->options.options[k]);
    }
}

static void print_keys(void)
{
    title("Keys of an experiment, with defaults");
    for (size_t i = 0; i < tacit_experiment_section_count; i++)
        print_section(tacit_experiment_sections[i]);
    title("Protocols, and their own keys in the section \"protocol\"");
    print_protocols();
}

/* ---- a verb ---- */

static void print_flag(const tacit_option *option)
{
    if (!option->help)
        return;
    char left[120], name[60], right[600], letter[5] = "    ";
    cli_value_name(option, name, sizeof name);
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option->key, *name ? " " : "", name);
    bool numeric = option->type == TACIT_OPT_INT || option->type == TACIT_OPT_REAL;
    snprintf(right, sizeof right, "%s%s%s%s", option->help, numeric ? " (default " : "",
             numeric ? option->fallback : "", numeric ? ")" : "");
    entry(left, right);
}

void cli_print_verb(const cli_verb *verb)
{
    printf("%stacit %s%s: %s\n", cli_bold(), verb->name, cli_plain(), verb->summary);
    title("Usage");
    printf("  tacit %s%s%s [FLAGS]\n\n  ", verb->name, verb->argument ? " " : "",
           verb->argument ? verb->argument : "");
    cli_wrap(verb->prose, 2, 2);
    title("Flags");
    if (verb->repeated)
        print_flag(verb->repeated);
    if (verb->also_repeated)
        print_flag(verb->also_repeated);
    for (size_t i = 0; i < verb->flags->count; i++)
        print_flag(&verb->flags->options[i]);
    entry("-h, --help", "this text");
    title("Examples");
    for (size_t i = 0; i < verb->example_count; i++)
        printf("  %s\n      %s%s%s\n", verb->examples[i].command, cli_faint(),
               verb->examples[i].says, cli_plain());
    if (verb->sections)
        title("Keys of a consortium and of a node, with defaults");
    for (size_t i = 0; verb->sections && verb->sections[i]; i++)
        print_section(verb->sections[i]);
    if (verb->takes_keys)
        print_keys();
    print_exit_codes();
}

/* ---- the verb help itself ---- */

typedef struct help_flags {
    bool man;
    char completion[TACIT_TEXT_MAX];
} help_flags;

/* Without help: for packagers, not for readers. */
static const tacit_option options[] = {
    {.key = "man",
     .type = TACIT_OPT_BOOL,
     .fallback = "false",
     .offset = offsetof(help_flags, man)},
    {.key = "completion",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "SHELL",
     .offset = offsetof(help_flags, completion)},
};
static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(help_flags)};

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const help_flags *flags = args->flags;
    if (args->word_count > 1)
        return tacit_fail(err, TACIT_EUSAGE, "unexpected word \"%.100s\"; one topic at a time",
                          args->words[1]);
    if (flags->man) {
        cli_print_manual();
        return TACIT_OK;
    }
    if (*flags->completion) {
        if (strcmp(flags->completion, "bash") != 0)
            return tacit_fail(err, TACIT_EUSAGE, "\"--completion\" is \"%.100s\"; expected bash",
                              flags->completion);
        cli_print_completion();
        return TACIT_OK;
    }
    const char *topic = args->word_count ? args->words[0] : NULL;
    if (!topic) {
        cli_print_overview();
        return TACIT_OK;
    }
    if (strcmp(topic, "protocols") == 0) {
        print_protocols();
        return TACIT_OK;
    }
    const cli_verb *verb = cli_verb_find(topic);
    if (!verb) {
        char hint[80];
        cli_verb_hint(topic, hint, sizeof hint);
        return tacit_fail(err, TACIT_EUSAGE, "no help on \"%.100s\"%s", topic,
                          *hint ? hint : "; expected a verb or \"protocols\"");
    }
    cli_print_verb(verb);
    return TACIT_OK;
}

static const cli_example examples[] = {
    {"tacit help run", "the flags of a verb, and all keys of an experiment"},
    {"tacit help protocols", "what agents can do, and what that tells others"},
};

const cli_verb cli_help = {
    .name = "help",
    .argument = "[VERB | protocols]",
    .summary = "explain a verb, or the protocols",
    .prose = "Prints what a verb does, its flags, examples and, for run, all keys of an "
             "experiment.",
    .flags = &section,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
