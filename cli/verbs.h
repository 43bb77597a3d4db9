/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H
/*
 * A verb is one const struct in one file and one line in main.c. The parser, --help, the
 * man page and the completion all read it, so that they cannot disagree.
 */
#include "tacit/config.h"
#include "tacit/experiment.h"

#include <stdio.h>

/* What the parser found: the verb's own struct of flags, and the words beside them. */
typedef struct cli_args {
    const void *flags;
    const char **words;
    size_t word_count;
    const char **repeated; /* values of the verb's repeated flag, in order */
    size_t repeated_count;
    const char **also_repeated; /* of its second one */
    size_t also_repeated_count;
    bool help; /* --help was among them */
} cli_args;

typedef struct cli_example {
    const char *command;
    const char *says;
} cli_example;

typedef struct cli_verb {
    const char *name;
    const char *argument;         /* "EXPERIMENT.yaml", NULL if it takes none */
    const char *summary;          /* one lower-case line */
    const char *prose;            /* a paragraph */
    const tacit_section *flags;   /* an option without help is not shown */
    const tacit_option *repeated; /* a flag that may come again, or NULL */
    const tacit_option *also_repeated;
    const char *const *words; /* what the first argument may be, for completion; or NULL */
    const cli_example *examples;
    size_t example_count;
    bool takes_keys;                      /* help lists the keys of a configuration */
    const tacit_section *const *sections; /* and of these, NULL-terminated; or NULL */
    tacit_status (*run)(const cli_args *args, tacit_error *err);
} cli_verb;

extern const cli_verb cli_demo, cli_run, cli_sweep, cli_data, cli_graph, cli_report, cli_reproduce,
    cli_account, cli_advise, cli_forecast, cli_audit, cli_average, cli_keygen, cli_node, cli_up,
    cli_status, cli_ledger, cli_model, cli_help;
extern const cli_verb *const cli_verbs[]; /* NULL-terminated, in the order help shows */
const cli_verb *cli_verb_find(const char *name);
/* "; did you mean ...?" or "". */
void cli_verb_hint(const char *word, char *out, size_t size);

/* ---- flags.c ---- */
/* Rows that verbs have in common; `where` is the member's .offset. */
#define CLI_FLAG_THREADS(where)                                                         \
    {                                                                                   \
        .key = "threads", .type = TACIT_OPT_INT, .fallback = "0", .min = 0, .max = 256, \
        .letter = 't',                                                                  \
        .help = "threads to use, 0 for all cores; the result does not depend "          \
                "on it",                                                                \
        where                                                                           \
    }
#define CLI_FLAG_SWITCH(name, short_name, words, where)                                 \
    {                                                                                   \
        .key = name, .type = TACIT_OPT_BOOL, .fallback = "false", .letter = short_name, \
        .help = words, where                                                            \
    }
#define CLI_FLAG_QUIET(where) CLI_FLAG_SWITCH("quiet", 'q', "no progress bar and no remarks", where)
extern const tacit_option cli_set_option; /* --set KEY=VALUE, again and again */

/* `flags` is a struct of verb->flags->size bytes; `args` has room for argc words. */
tacit_status cli_parse(const cli_verb *verb, int argc, char **argv, void *flags, cli_args *args,
                       tacit_error *err);
/* "N", "FILE", "a|b"; "" for a switch. */
void cli_value_name(const tacit_option *option, char *out, size_t size);

/* ---- help.c, manual.c, completion.c ---- */
typedef struct cli_exit_code {
    tacit_status code;
    const char *meaning;
} cli_exit_code;
extern const cli_exit_code cli_exit_codes[];
extern const size_t cli_exit_code_count;
/* What a key of a configuration expects; knows the registry behind protocol.name. */
void cli_key_expects(const tacit_section *section, const tacit_option *option, char *out,
                     size_t size);
void cli_print_overview(void);
void cli_print_verb(const cli_verb *verb);
void cli_print_manual(void);
void cli_print_completion(void);

/* ---- config.c ---- */
/* The file, then each KEY=VALUE of --set, then the environment: TACIT_DATA is the default of
 * data.folder. Every verb that reads a configuration reads it so. */
tacit_status cli_load_config(tacit_config *config, const char *path, const char *const *sets,
                             size_t count, tacit_error *err);

/* ---- signals.c ---- */
/* A reader that left and a file that may not grow are write errors, with words of their own. */
void cli_ignore_signals(void);
/* The first SIGINT or SIGTERM sets the flag, the second ends the process. */
void cli_catch_signals(void);
const tacit_stop *cli_stop(void);

/* ---- file.c ---- */
/* Write the text, which is freed, to a new file, or with `force` over an old one. No text: memory
 * ran out. */
tacit_status cli_write_file(const char *path, char *text, bool force, tacit_error *err);
/* The same for what was made from records, scores, models or a seed: for its owner alone (0600). */
tacit_status cli_write_secret(const char *path, char *text, bool force, tacit_error *err);
/* To append to; a new one is its owner's alone. NULL: errno. */
FILE *cli_append_secret(const char *path);
/* The same to standard output, ending with a new line. */
tacit_status cli_print_text(char *text, tacit_error *err);

/* ---- folder.c ---- */
#define CLI_PATH_MAX 4096
/* Whether there is such a file in the folder. */
bool cli_folder_has(const char *folder, const char *name);
/* Make the folder of a run: `out` if given, else the first free runs/NAME-K. */
tacit_status cli_folder_claim(const char *name, const char *out, bool force, char *path,
                              size_t size, tacit_error *err);

/* ---- trace.c ---- */
/* What crossed the environments of a run, as JSON lines. Rows stay in memory until the end,
 * so large runs are refused before they start. */
typedef struct cli_trace {
    const char *path;
    FILE *file;
    tacit_trace *trace;
} cli_trace;
tacit_status cli_trace_open(cli_trace *trace, const char *path, tacit_session *session,
                            const tacit_experiment *experiment, tacit_error *err);
/* Write the rows; without `keep`, remove the file. Must come before the session's end. */
tacit_status cli_trace_close(cli_trace *trace, bool keep, tacit_error *err);

/* ---- outcome.c ---- */
/* What a run found, in the words and numbers that run and demo show. */
typedef struct cli_outcome {
    tacit_snapshot end;
    tacit_traffic traffic;
    uint64_t releases; /* charged to ledgers */
    double epsilon;    /* the largest of all agents */
    double delta;      /* and the delta that goes with it */
    const char *score; /* "accuracy" or "rmse" */
} cli_outcome;
tacit_status cli_outcome_read(cli_outcome *out, tacit_session *session, tacit_error *err);
/* A line of the result if agents are scored on everybody's records. */
void cli_say_scored(const tacit_session *session);
/* What its epsilon does not cover, a line each; nothing if it covers all. */
void cli_say_leaks(const tacit_session *session);
/* A delta that is not below 1/records is warned of, whatever is quiet. */
void cli_warn_delta(const tacit_session *session, const tacit_experiment *experiment);
/* "unbounded", "0", "1.5". */
void cli_epsilon(double epsilon, char *out, size_t size);
/* "123.4 MB" */
void cli_bytes(uint64_t bytes, char *out, size_t size);
/* "12,345,678" */
void cli_count(uint64_t count, char *out, size_t size);
/* Remarks on stderr about agents that cannot learn from others. */
void cli_remark_lonely(tacit_session *session, const tacit_experiment *experiment);
/* Remarks on stderr about settings that do nothing; whether there were any. */
bool cli_remark_idle(const tacit_experiment *experiment);
/* A remark on stderr if a private run ended before anybody said anything. */
void cli_remark_silent(tacit_session *session, const tacit_experiment *experiment);
/* How many threads `wanted` means; 0: all cores. */
uint32_t cli_threads(int64_t wanted);

#endif
