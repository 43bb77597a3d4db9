/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit: the program. Finds the verb, parses its flags, runs it, and turns what came of it
 * into an exit code. Results go to stdout, everything else to stderr; a result that could
 * not be written is an error like any other.
 */
#include "terminal.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cli_verb *const cli_verbs[] = {
    &cli_demo,    &cli_run,    &cli_sweep,    &cli_data,  &cli_graph,   &cli_report, &cli_reproduce,
    &cli_account, &cli_advise, &cli_forecast, &cli_audit, &cli_average, &cli_keygen, &cli_node,
    &cli_up,      &cli_status, &cli_ledger,   &cli_model, &cli_help,    NULL};

const cli_verb *cli_verb_find(const char *name)
{
    for (size_t i = 0; cli_verbs[i]; i++) {
        if (strcmp(cli_verbs[i]->name, name) == 0)
            return cli_verbs[i];
    }
    return NULL;
}

void cli_verb_hint(const char *word, char *out, size_t size)
{
    const char *names[sizeof cli_verbs / sizeof *cli_verbs];
    size_t n = 0;
    for (const cli_verb *const *verb = cli_verbs; *verb; verb++)
        names[n++] = (*verb)->name;
    const char *near = tacit_nearest(word, names, n);
    out[0] = '\0';
    if (near)
        snprintf(out, size, "; did you mean \"%s\"?", near);
}

/* If a standard stream was closed by the caller, the next file we open would take its
 * number, and results would end up in it. Stand-ins that fail keep the numbers taken. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF) {
            int stand_in = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
            if (stand_in > fd)
                close(stand_in);
        }
    }
}

static tacit_status run_verb(const cli_verb *verb, int argc, char **argv, tacit_error *err)
{
    tacit_status status;
    cli_args args = {0};
    void *flags = calloc(1, verb->flags->size);
    args.words = calloc((size_t)argc + 1, sizeof *args.words);
    args.repeated = calloc((size_t)argc + 1, sizeof *args.repeated);
    args.also_repeated = calloc((size_t)argc + 1, sizeof *args.also_repeated);
    if (!flags || !args.words || !args.repeated || !args.also_repeated) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    args.flags = flags;
    status = cli_parse(verb, argc, argv, flags, &args, err);
    if (args.help) {
        cli_print_verb(verb);
        status = TACIT_OK;
    } else if (status == TACIT_OK) {
        status = verb->run(&args, err);
    }
out:
    free(flags);
    free(args.words);
    free(args.repeated);
    free(args.also_repeated);
    return status;
}

static tacit_status dispatch(int argc, char **argv, tacit_error *err)
{
    if (argc < 2) {
        cli_print_overview();
        return tacit_fail(err, TACIT_EUSAGE, "no verb; try \"tacit demo\"");
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("tacit %s\n", TACIT_VERSION);
        return TACIT_OK;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        cli_print_overview();
        return TACIT_OK;
    }
    const cli_verb *verb = cli_verb_find(word);
    if (verb)
        return run_verb(verb, argc - 2, argv + 2, err);
    if (word[0] == '-')
        return tacit_fail(err, TACIT_EUSAGE,
                          "unknown flag \"%.100s\" before the verb; expected --help or --version",
                          word);
    char hint[80];
    cli_verb_hint(word, hint, sizeof hint);
    return tacit_fail(err, TACIT_EUSAGE, "unknown verb \"%.100s\"%s", word,
                      *hint ? hint : "; see \"tacit --help\"");
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    cli_ignore_signals();
    tacit_error err = {0};
    tacit_status status = dispatch(argc, argv, &err);
    if (status != TACIT_OK && err.text[0])
        cli_complain(err.text);
    bool lost = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) != 0 || lost) {
        char text[200];
        snprintf(text, sizeof text, "cannot write the result to standard output%s%s",
                 errno ? ": " : "", errno ? strerror(errno) : "");
        cli_complain(text);
        if (status == TACIT_OK)
            status = TACIT_EINPUT;
    }
    return (int)status;
}
