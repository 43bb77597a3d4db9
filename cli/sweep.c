/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit sweep: an experiment over a grid, several seeds each, all cores. The whole plan is
 * checked before a folder is made.
 */
#include "sweep.h"
#include "terminal.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(member) .offset = offsetof(sweep_flags, member)
static const tacit_option options[] = {
    {.key = "seeds",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "N",
     .help = "how many seeds a point has, from run.seed on, or which: 3..7 (default 5)",
     AT(seeds)},
    {.key = "threads",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 256,
     .letter = 't',
     .help = "runs at once, 0 for one a core; the result does not depend on it",
     AT(threads)},
    {.key = "best",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'b',
     .value_name = "METRIC",
     .help = "mark the point that is best by this; otherwise by the validation score",
     AT(best)},
    {.key = "optimize",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'O',
     .value_name = "METRIC",
     .help = "search the grid for the best validation score instead of running all of it; the "
             "test records are opened once, for the winner",
     AT(optimize)},
    {.key = "tries",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "N",
     .help = "--optimize: how many settings to try at most (default 40)",
     AT(tries)},
    {.key = "tuned-on",
     .type = TACIT_OPT_CHOICE,
     .fallback = "auto",
     .choices = tacit_tuned_on_names,
     .value_name = "WHOSE",
     .help = "--optimize: whose the records are: simulated, public (your word), private (the "
             "search is charged), private-uncharged (no epsilon covers it)",
     AT(tuned_on)},
    {.key = "choice-epsilon",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "E",
     .help = "--tuned-on private: what the scores of all tries may cost by themselves (default 1)",
     AT(choice_epsilon)},
    {.key = "score-bound",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "B",
     .help = "--tuned-on private: the largest score that counts (default 1, for accuracies)",
     AT(score_bound)},
    CLI_FLAG_SWITCH("json", 'j', "print schema tacit.sweep/1 instead of a table", AT(json)),
    {.key = "out",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'o',
     .value_name = "DIR",
     .help = "the folder; otherwise the first free runs/NAME-sweep-K",
     AT(out)},
    CLI_FLAG_SWITCH("force", 'f', "replace the sweep that is in the folder of --out", AT(force)),
    {.key = "resume",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'r',
     .value_name = "DIR",
     .help = "go on with the sweep in this folder, and try again what failed in it",
     AT(resume)},
    {.key = "keep-runs",
     .type = TACIT_OPT_BOOL,
     .fallback = "false",
     .letter = 'k',
     .help = "also leave a run folder for each run, DIR/runs/000001 and so on",
     AT(keep_runs)},
    CLI_FLAG_QUIET(AT(quiet)),
};

static const tacit_option vary_option = {
    .key = "vary",
    .type = TACIT_OPT_TEXT,
    .letter = 'v',
    .value_name = "KEY=VALUES",
    .help = "the values of a key: 0.1,1,10 or 5..50:5 (steps of 5) or 0.01..100:x10 (factors of "
            "10); may come again, for a grid",
};
static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(sweep_flags)};

static const cli_example examples[] = {
    {"tacit sweep examples/separators.yaml --vary protocol.mu=0.1..1000:x10",
     "how much to trust neighbours"},
    {"tacit sweep examples/csv.yaml -v protocol.name=cd,alone -v protocol.mu=1,10",
     "a grid; alone has no mu, so it is there once"},
    {"tacit sweep examples/separators.yaml -v data.agents=20..100:20 --seeds 3..12",
     "ten seeds, the same for each point"},
    {"tacit sweep --resume runs/separators-sweep-1", "go on after Ctrl-C"},
    {"tacit sweep examples/separators.yaml -v protocol.mu=1..99:x1.2 -O validation",
     "search a fine range for the best mu"},
    {"tacit sweep mine.yaml -v protocol.mu=1,9 -O validation --tuned-on private",
     "on private records: every try is charged"},
};

/* ---- words on the command line ---- */

static tacit_status check_words(const cli_args *args, const sweep_flags *flags, tacit_error *err)
{
    const bool resume = *flags->resume != '\0';
    if (!resume && args->word_count == 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "no experiment; expected a file, as in \"tacit sweep "
                          "examples/separators.yaml --vary protocol.mu=1,10\"");
    if (args->word_count > 1)
        return tacit_fail(err, TACIT_EUSAGE, "unexpected word \"%.100s\"; one experiment at a time",
                          args->words[1]);
    if (resume && args->word_count == 0 &&
        (args->repeated_count || args->also_repeated_count || *flags->seeds || flags->keep_runs ||
         *flags->optimize))
        return tacit_fail(err, TACIT_EUSAGE,
                          "--resume reads the plan in its folder; flags that plan go with the "
                          "experiment's file, and must then be the same as before");
    if (resume && (*flags->out || flags->force))
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"--%s\" does not go with --resume: the sweep goes on in its own folder",
                          *flags->out ? "out" : "force");
    if (flags->force && !*flags->out)
        return tacit_fail(err, TACIT_EUSAGE, "--force needs --out DIR: which sweep to replace");
    return TACIT_OK;
}

static tacit_status read_best(const sweep_flags *flags, tacit_sweep_metric *out, tacit_error *err)
{
    tacit_error why = {0};
    *out = TACIT_SWEEP_VALIDATION;
    if (*flags->best && tacit_sweep_metric_find(out, flags->best, &why))
        return tacit_fail(err, TACIT_EUSAGE, "--best: %s", why.text);
    return TACIT_OK;
}

static tacit_status make_plan(tacit_sweep **out, const cli_args *args, const sweep_flags *flags,
                              tacit_error *err)
{
    tacit_tune_options wishes;
    const tacit_tune_options *tune;
    tacit_status status = sweep_read_tuning(flags, &wishes, &tune, err);
    if (status || args->word_count == 0)
        return status ? status : tacit_sweep_read(out, flags->resume, err);
    tacit_config config;
    tacit_config_init(&config);
    /* What is charged is charged for every seed. */
    const char *seeds = tune && tune->on == TACIT_TUNED_PRIVATE ? "1" : "5";
    const tacit_sweep_grid grid = {.vary = args->also_repeated,
                                   .vary_count = args->also_repeated_count,
                                   .seeds = *flags->seeds ? flags->seeds : seeds,
                                   .keep_runs = flags->keep_runs,
                                   .tune = tune};
    status = cli_load_config(&config, args->words[0], args->repeated, args->repeated_count, err);
    if (!status)
        status = tacit_sweep_plan(out, &config, &grid, err);
    tacit_config_clear(&config);
    return status;
}

/* A grid over a key that does nothing would look like a result. */
static tacit_status remark_idle(const tacit_sweep *sweep, tacit_error *err)
{
    tacit_config config;
    tacit_config_init(&config);
    tacit_status status = TACIT_OK;
    bool said = false;
    for (size_t p = 0; p < tacit_sweep_points(sweep) && !said && !status; p++) {
        tacit_experiment experiment = {0};
        status = tacit_sweep_config(sweep, p * tacit_sweep_seeds(sweep), &config, err);
        if (!status)
            status = tacit_experiment_init(&experiment, &config, err);
        said = !status && cli_remark_idle(&experiment);
        tacit_experiment_clear(&experiment);
    }
    tacit_config_clear(&config);
    return status;
}

/* ---- the sweep ---- */

typedef struct watching {
    cli_progress bar;
    bool search; /* how many runs it will be is not known before */
} watching;

static void on_progress(void *ctx, size_t finished, size_t total, double share)
{
    watching *w = ctx;
    snprintf(w->bar.label, sizeof w->bar.label, "%zu of %s%zu runs", finished,
             w->search ? "at most " : "", total);
    cli_progress_step(&w->bar, share, 1);
}

static tacit_status claim(const tacit_sweep *sweep, const sweep_flags *flags, char *folder,
                          size_t size, tacit_error *err)
{
    char name[TACIT_TEXT_MAX + 8];
    snprintf(name, sizeof name, "%s-sweep", tacit_sweep_name(sweep));
    if (*flags->resume) {
        snprintf(folder, size, "%s", flags->resume);
        return TACIT_OK;
    }
    if (flags->force) {
        tacit_status status = sweep_remove(flags->out, err);
        if (status)
            return status;
    }
    return cli_folder_claim(name, flags->out, false, folder, size, err);
}

static tacit_status run_sweep(tacit_sweep *sweep, const sweep_flags *flags,
                              tacit_sweep_metric metric, tacit_error *err)
{
    char folder[CLI_PATH_MAX];
    tacit_status status = claim(sweep, flags, folder, sizeof folder, err);
    if (status)
        return status;
    watching watch = {.search = tacit_sweep_tuning(sweep) != NULL};
    cli_progress_begin(&watch.bar, "sweep", flags->quiet);
    const tacit_sweep_request request = {.folder = folder,
                                         .resume = *flags->resume != '\0',
                                         .threads = cli_threads(flags->threads),
                                         .stop = cli_stop(),
                                         .progress = on_progress,
                                         .progress_ctx = &watch};
    cli_catch_signals();
    status = tacit_sweep_run(sweep, &request, err);
    cli_progress_end(&watch.bar);
    const size_t done = tacit_sweep_runs(sweep) - tacit_sweep_count(sweep, TACIT_SWEEP_WAITING);
    if (status == TACIT_EINTERRUPTED && tacit_sweep_tuning(sweep))
        tacit_fail(err, status,
                   "%zu runs of the search are done; go on with \"tacit sweep --resume %.300s\"",
                   done, folder);
    else if (status == TACIT_EINTERRUPTED)
        tacit_fail(err, status,
                   "%zu of %zu runs are done; go on with \"tacit sweep --resume "
                   "%.300s\"",
                   done, tacit_sweep_runs(sweep), folder);
    if (status && status != TACIT_NO) {
        if (status != TACIT_EINTERRUPTED && !*flags->out && !*flags->resume) {
            rmdir(folder); /* only if nothing was written to it */
            rmdir("runs");
        }
        return status;
    }
    tacit_status said = flags->json ? sweep_say_json(sweep, metric, err)
                                    : sweep_say_words(sweep, flags, metric, folder, err);
    if (!said && tacit_sweep_tuning(sweep))
        sweep_warn_tuned(sweep);
    return said ? said : status;
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const sweep_flags *flags = args->flags;
    tacit_sweep *sweep = NULL;
    tacit_sweep_metric metric;
    tacit_status status = check_words(args, flags, err);
    if (!status)
        status = read_best(flags, &metric, err);
    if (!status)
        status = make_plan(&sweep, args, flags, err);
    if (!status && !flags->quiet)
        status = remark_idle(sweep, err);
    if (!status)
        status = run_sweep(sweep, flags, metric, err);
    tacit_sweep_free(sweep);
    return status;
}

const cli_verb cli_sweep = {
    .name = "sweep",
    .argument = "EXPERIMENT.yaml",
    .summary = "run an experiment over a grid of keys and seeds",
    .prose = "Runs an experiment for every combination of the values of --vary, each with several "
             "seeds, one run a core. Writes a folder: runs.csv, a row a run; means.csv, a row a "
             "point with means and 95 % intervals over its seeds; report.html, a page to look at. "
             "Everything is checked before the first run. A run that fails is a row with its "
             "message, and the exit code is 1 in the end. Neither the number of threads nor an "
             "interruption changes a byte. A key that some of the varied protocols do not have "
             "is left out there. With --optimize it is a search: settings are tried, those clearly "
             "worse dropped, and the winner by validation score is run once on test records; "
             "beside its epsilon stands whether that covers the search.",
    .flags = &section,
    .repeated = &cli_set_option,
    .also_repeated = &vary_option,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
