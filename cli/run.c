/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit run: an experiment from its file to its folder. Everything that can be wrong with
 * the configuration, the data or the graph is found before a folder is made.
 */
#include "terminal.h"
#include "verbs.h"

#include "base/writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct run_flags {
    int64_t threads;
    bool json, force, quiet;
    char out[TACIT_TEXT_MAX];
    char resume[TACIT_TEXT_MAX];
    char trace[TACIT_TEXT_MAX];
} run_flags;

#define AT(member) .offset = offsetof(run_flags, member)
static const tacit_option options[] = {
    CLI_FLAG_THREADS(AT(threads)),
    CLI_FLAG_SWITCH("json", 'j', "print summary.json instead of words", AT(json)),
    {.key = "out",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'o',
     .value_name = "DIR",
     .help = "the run folder; otherwise the first free runs/NAME-K",
     AT(out)},
    CLI_FLAG_SWITCH("force", 'f', "replace the run that is in the folder of --out", AT(force)),
    {.key = "resume",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'r',
     .value_name = "DIR",
     .help = "go on with an interrupted run in this folder, with its own configuration",
     AT(resume)},
    {.key = "trace",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "FILE",
     .help = "write what crossed the agents' environments as JSON lines, never what it said; one "
             "thread, small runs only",
     AT(trace)},
    CLI_FLAG_QUIET(AT(quiet)),
};

static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(run_flags)};

static const cli_example examples[] = {
    {"tacit run examples/separators.yaml", "run it; the folder is named at the end"},
    {"tacit run examples/separators.yaml --set protocol.mu=0.5 --set run.seed=2",
     "the same with other values"},
    {"tacit run examples/separators.yaml --json | python3 -m json.tool", "for programs"},
    {"tacit run --resume runs/separators-1", "go on after Ctrl-C"},
    {"tacit run examples/csv.yaml --trace trace.jsonl", "who said how much to whom, and when"},
};

/* ---- words about the result ---- */

static void say_score(const char *split, const char *name, double value, double deviation)
{
    if (isnan(value))
        return;
    char label[60];
    snprintf(label, sizeof label, "%s %s", split, name);
    printf("  %-22s%.4f", label, value);
    if (!isnan(deviation))
        printf(" %s %.4f over agents", cli_has_unicode() ? "±" : "+-", deviation);
    putchar('\n');
}

/* What an agent was charged for: with a learned kernel it releases something beside its gifts. */
static const char *releases_of(const tacit_experiment *x)
{
    const uint32_t flags = tacit_experiment_flags(x);
    return !(flags & TACIT_GROUPS) ? "releases"
           : flags & TACIT_CHATTY  ? "releases and gifts to sums"
                                   : "gifts to sums";
}

static void say_privacy(const tacit_experiment *x, const cli_outcome *outcome)
{
    char epsilon[40], sees[TACIT_SEES], text[TACIT_SEES + 400], count[40];
    cli_epsilon(outcome->epsilon, epsilon, sizeof epsilon);
    cli_count(outcome->releases, count, sizeof count);
    const char *unit = tacit_unit_name((tacit_unit)x->privacy.unit);
    const char *adjacency = tacit_adjacency_name((tacit_adjacency)x->privacy.adjacency);
    snprintf(text, sizeof text,
             "epsilon %s at delta %g for one %s (adjacency %s), against an adversary \"%s\" that "
             "sees %s; "
             "%s %s, mechanism %s",
             epsilon, tacit_rounded_up(outcome->delta), unit, adjacency,
             tacit_trust_name(tacit_protocol_trust(x->protocol, x->protocol_options)),
             tacit_protocol_sees(x->protocol, x->protocol_options, sees), count, releases_of(x),
             tacit_mechanism_name((tacit_mechanism)x->privacy.mechanism));
    printf("  %-22s", "privacy");
    cli_wrap(text, 24, 24);
}

static void say_budgets(const tacit_session *session)
{
    double least, most;
    char text[200], low[40], high[40];
    if (tacit_session_budgets(session, &least, &most)) {
        cli_epsilon(least, low, sizeof low);
        cli_epsilon(most, high, sizeof high);
        snprintf(
            text, sizeof text,
            "from epsilon %s to %s, by agent, for the delta, unit and adversary above; the epsilon "
            "there is of the agent that spent most",
            low, high);
        printf("  %-22s", "budgets");
        cli_wrap(text, 24, 24);
    }
    const uint32_t listeners = tacit_session_listeners(session);
    if (listeners == 0)
        return;
    cli_count(listeners, low, sizeof low);
    snprintf(text, sizeof text,
             "%s agent%s only listened: %s budget is below what one release costs here", low,
             listeners == 1 ? "" : "s", listeners == 1 ? "its" : "their");
    printf("  %-22s", "listeners");
    cli_wrap(text, 24, 24);
}

/* What the epsilon above does not cover. */
/* And what of the folder it covers: nothing. */
static void say_keep(const tacit_session *session)
{
    const char *keep = tacit_session_keep(session);
    if (!keep)
        return;
    printf("  %-22s", "keep secret");
    cli_wrap(keep, 24, 24);
}

static tacit_status say_words(tacit_session *session, const tacit_experiment *x, bool complete,
                              tacit_error *err)
{
    cli_outcome outcome;
    tacit_status status = cli_outcome_read(&outcome, session, err);
    if (status != TACIT_OK)
        return status;
    const tacit_dataset *data = tacit_session_data(session);
    char agents[40], messages[40], bytes[40];
    cli_count(tacit_dataset_agents(data), agents, sizeof agents);
    cli_count(outcome.traffic.messages, messages, sizeof messages);
    cli_bytes(outcome.traffic.bytes, bytes, sizeof bytes);
    printf("%s%s%s: %s, %s agents, time %g%s%g, seed %lld\n", cli_bold(), x->run.name, cli_plain(),
           x->protocol->name, agents, outcome.end.time, complete ? " of " : " (interrupted) of ",
           x->run.time, (long long)x->run.seed);
    say_score("test", outcome.score, outcome.end.test, outcome.end.test_deviation);
    say_score("validation", outcome.score, outcome.end.validation, NAN);
    cli_say_scored(session);
    if (!isnan(outcome.end.train_loss))
        printf("  %-22s%.6g\n", "training loss", outcome.end.train_loss);
    if (!isnan(outcome.end.objective))
        printf("  %-22s%.10g\n", "objective", outcome.end.objective);
    printf("  %-22s%s (%s)\n", "messages", messages, bytes);
    say_privacy(x, &outcome);
    say_budgets(session);
    cli_say_leaks(session);
    say_keep(session);
    return TACIT_OK;
}

static void say_folder(const char *folder)
{
    printf("  %-22s%s/\n", "folder", folder);
    printf("  %-22s", "holds");
    cli_wrap(cli_folder_has(folder, "model.tacit")
                 ? "report.html, summary.json, metrics.csv, ledger.jsonl, models.npy, model.tacit "
                   "(see \"tacit help model\"), config.yaml, and tables for reports"
                 : "report.html, summary.json, metrics.csv, ledger.jsonl, models.npy, config.yaml, "
                   "and tables for reports",
             24, 24);
    printf("  %-22s", "next");
    cli_wrap("change a key with --set (see \"tacit help run\"), then compare with \"tacit report\"",
             24, 24);
}

static tacit_status say_json(tacit_session *session, bool complete, tacit_error *err)
{
    char *summary = tacit_session_summary(session, complete);
    if (!summary)
        return tacit_out_of_memory(err);
    size_t len = strlen(summary);
    fputs(summary, stdout);
    if (len == 0 || summary[len - 1] != '\n')
        putchar('\n');
    free(summary);
    return TACIT_OK;
}

/* ---- the run ---- */

static tacit_status check_words(const cli_args *args, const run_flags *flags, tacit_error *err)
{
    bool resume = *flags->resume != '\0';
    if (!resume && args->word_count == 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "no experiment; expected a file, as in \"tacit run "
                          "examples/separators.yaml\"");
    if (args->word_count > (resume ? 0u : 1u))
        return tacit_fail(
            err, TACIT_EUSAGE, "unexpected word \"%.100s\"; %s", args->words[resume ? 0 : 1],
            resume ? "--resume reads the configuration in its folder" : "one experiment at a time");
    if (resume && args->repeated_count > 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--set does not go with --resume: a resumed run keeps its configuration; "
                          "start a new run instead");
    if (resume && (*flags->out || flags->force))
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"--%s\" does not go with --resume: the run goes on in its own folder",
                          *flags->out ? "out" : "force");
    if (resume && *flags->trace)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--trace does not go with --resume: the beginning would be missing; "
                          "start a new run instead");
    if (flags->force && !*flags->out)
        return tacit_fail(err, TACIT_EUSAGE, "--force needs --out DIR: which run to replace");
    return TACIT_OK;
}

static tacit_status read_config(tacit_config *config, const cli_args *args, const run_flags *flags,
                                tacit_error *err)
{
    if (*flags->resume)
        return tacit_folder_config(config, flags->resume, err);
    return cli_load_config(config, args->words[0], args->repeated, args->repeated_count, err);
}

static tacit_status run_session(tacit_session *session, const tacit_experiment *experiment,
                                const run_flags *flags, tacit_error *err)
{
    char folder[CLI_PATH_MAX];
    bool resume = *flags->resume != '\0';
    tacit_status status = TACIT_OK;
    if (resume)
        snprintf(folder, sizeof folder, "%s", flags->resume);
    else
        status = cli_folder_claim(experiment->run.name, flags->out, flags->force, folder,
                                  sizeof folder, err);
    if (status != TACIT_OK)
        return status;
    cli_progress progress;
    cli_progress_begin(&progress, experiment->run.name, flags->quiet);
    const tacit_run_request request = {.folder = folder,
                                       .resume = resume,
                                       .stop = cli_stop(),
                                       .progress = cli_progress_step,
                                       .progress_ctx = &progress};
    cli_catch_signals();
    status = tacit_session_run(session, &request, err);
    cli_progress_end(&progress);
    bool complete = status == TACIT_OK;
    if (!complete && status != TACIT_EINTERRUPTED) {
        if (!resume && !*flags->out) { /* only if nothing was written to it */
            rmdir(folder);
            rmdir("runs");
        }
        return status;
    }
    tacit_error late = {0};
    tacit_status said = flags->json ? say_json(session, complete, &late)
                                    : say_words(session, experiment, complete, &late);
    if (said != TACIT_OK)
        return tacit_fail(err, said, "%s", late.text);
    if (complete && !flags->json)
        say_folder(folder);
    if (complete && !flags->quiet)
        cli_remark_silent(session, experiment);
    if (!complete)
        return tacit_fail(err, TACIT_EINTERRUPTED,
                          "interrupted; go on with \"tacit run --resume %.300s\"", folder);
    return TACIT_OK;
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const run_flags *flags = args->flags;
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_session *session = NULL;
    cli_trace trace = {0};
    tacit_config_init(&config);
    tacit_status status = check_words(args, flags, err);
    if (status != TACIT_OK)
        goto out;
    status = read_config(&config, args, flags, err);
    if (status != TACIT_OK)
        goto out;
    status = tacit_experiment_init(&experiment, &config, err);
    if (status != TACIT_OK)
        goto out;
    /* A trace is written in order, so a traced run has one thread. */
    uint32_t threads = *flags->trace ? 1 : cli_threads(flags->threads);
    status = tacit_session_create(&session, &experiment, threads, err);
    if (status != TACIT_OK)
        goto out;
    cli_warn_delta(session, &experiment);
    if (!flags->quiet) {
        cli_remark_lonely(session, &experiment);
        cli_remark_idle(&experiment);
    }
    if (*flags->trace)
        status = cli_trace_open(&trace, flags->trace, session, &experiment, err);
    if (status != TACIT_OK)
        goto out;
    status = run_session(session, &experiment, flags, err);
    tacit_status traced =
        cli_trace_close(&trace, status == TACIT_OK || status == TACIT_EINTERRUPTED, err);
    if (traced != TACIT_OK)
        status = traced;
out:
    tacit_session_free(session);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return status;
}

const cli_verb cli_run = {
    .name = "run",
    .argument = "EXPERIMENT.yaml",
    .summary = "simulate an experiment and write a run folder",
    .prose = "Reads the experiment, checks it, simulates it and writes a run folder: the "
             "configuration as run, metrics.csv (time,agent,name,value), summary.json, "
             "ledger.jsonl, models.npy and report.html, a page to look at. The same "
             "configuration and seed give the same bytes "
             "for any number of threads. Ctrl-C ends cleanly with a checkpoint to resume from; "
             "a second Ctrl-C ends at once.",
    .flags = &section,
    .repeated = &cli_set_option,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .takes_keys = true,
    .run = run,
};
