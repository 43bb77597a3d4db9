/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit reproduce: a figure of a paper, run again. Everything is computed before anything is
 * written, so that an interrupted one leaves nothing behind.
 */
#include "tacit/reproduce.h"

#include "terminal.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct reproduce_flags {
    int64_t seed, seeds, threads;
    bool json, quick, full, quiet;
    char out[TACIT_TEXT_MAX], only[TACIT_TEXT_MAX];
} reproduce_flags;

#define AT(member) .offset = offsetof(reproduce_flags, member)
static const tacit_option options[] = {
    {.key = "out",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'o',
     .value_name = "DIR",
     .help = "where to write; otherwise the first free runs/NAME-K",
     AT(out)},
    CLI_FLAG_SWITCH("json", 'j', "print summary.json, schema tacit.reproduce/1, instead of words",
                    AT(json)),
    {.key = "quick",
     .type = TACIT_OPT_BOOL,
     .fallback = "false",
     .help = "a much smaller task, to see that all works; not the figure",
     AT(quick)},
    {.key = "full",
     .type = TACIT_OPT_BOOL,
     .fallback = "false",
     .help = "all that the paper has, where a figure is shortened otherwise: hours",
     AT(full)},
    {.key = "only",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "WORDS",
     .help = "of a table with cells (004-table1, 004-table2) those whose names hold these words",
     AT(only)},
    {.key = "seed",
     .type = TACIT_OPT_INT,
     .fallback = "1",
     .min = 0,
     .max = 9007199254000000.0,
     .letter = 's',
     .help = "of the first run; the others follow",
     AT(seed)},
    {.key = "seeds",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000,
     .help = "runs to average over, 0 for as many as the paper took",
     AT(seeds)},
    CLI_FLAG_THREADS(AT(threads)),
    CLI_FLAG_SWITCH("quiet", 'q', "no progress bar", AT(quiet)),
};
static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(reproduce_flags)};

/* ---- without a name: what there is ---- */

static tacit_status list(const reproduce_flags *flags, tacit_error *err)
{
    if (flags->json || *flags->out)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"--%s\" needs a figure, as in \"tacit reproduce %s\"",
                          flags->json ? "json" : "out", tacit_reproductions[0]->name);
    printf("%sFigures that can be run again%s\n", cli_bold(), cli_plain());
    for (size_t k = 0; tacit_reproductions[k]; k++) {
        const tacit_reproduction *r = tacit_reproductions[k];
        char text[400];
        snprintf(text, sizeof text, "%s (%s)", r->title, r->paper);
        printf("  %-17s", r->name);
        cli_wrap(text, 19, 19);
    }
    return TACIT_OK;
}

enum { MOST = 64 };

/* All figures of a paper, "000", or one, "000-fig1". */
typedef struct choice {
    const char *name;
    const tacit_reproduction *of[MOST];
    size_t count;
} choice;

static void find_paper(const char *word, choice *out)
{
    const size_t len = strlen(word);
    for (size_t k = 0; tacit_reproductions[k] && out->count < MOST && len > 0; k++) {
        const char *name = tacit_reproductions[k]->name;
        if (strncmp(name, word, len) == 0 && name[len] == '-')
            out->of[out->count++] = tacit_reproductions[k];
    }
}

static tacit_status find(const cli_args *args, choice *out, tacit_error *err)
{
    const char *names[MOST];
    size_t n = 0;
    *out = (choice){.name = args->words[0]};
    if (args->word_count > 1)
        return tacit_fail(err, TACIT_EUSAGE, "unexpected word \"%.100s\"; one figure at a time",
                          args->words[1]);
    if ((out->of[0] = tacit_reproduction_find(args->words[0])))
        out->count = 1;
    else
        find_paper(args->words[0], out);
    if (out->count > 0)
        return TACIT_OK;
    for (; n < MOST && tacit_reproductions[n]; n++)
        names[n] = tacit_reproductions[n]->name;
    const char *near = tacit_nearest(args->words[0], names, n);
    if (near)
        return tacit_fail(err, TACIT_EUSAGE, "no figure \"%.100s\"; did you mean \"%s\"?",
                          args->words[0], near);
    return tacit_fail(err, TACIT_EUSAGE,
                      "no figure \"%.100s\"; \"tacit reproduce\" alone lists them", args->words[0]);
}

static tacit_status check_full(const choice *c, const reproduce_flags *flags, tacit_error *err)
{
    if (!flags->full)
        return TACIT_OK;
    if (flags->quick)
        return tacit_fail(err, TACIT_EUSAGE, "\"--quick\" and \"--full\" are opposites");
    for (size_t k = 0; k < c->count; k++)
        if (c->of[k]->full_seeds > 0)
            return TACIT_OK;
    return tacit_fail(err, TACIT_EUSAGE,
                      "\"--full\" is for figures that are shortened, and \"%.100s\" is not; leave "
                      "it out",
                      c->name);
}

static tacit_status check_only(const choice *c, const reproduce_flags *flags, tacit_error *err)
{
    if (!*flags->only || (c->count == 1 && c->of[0]->has_cells))
        return TACIT_OK;
    return tacit_fail(err, TACIT_EUSAGE,
                      "\"--only\" is for tables with cells, and \"%.100s\" is none; leave it out",
                      c->name);
}

/* Of a whole paper, leave out what needs files that are not there, and say so. */
static void leave_out(choice *c, const char *data, char *note, size_t size)
{
    size_t kept = 0, used = 0;
    *note = '\0';
    if (c->count < 2 || (data && *data))
        return;
    for (size_t k = 0; k < c->count; k++) {
        if (!c->of[k]->needs_data)
            c->of[kept++] = c->of[k];
        else if (used < size)
            used += (size_t)snprintf(note + used, size - used,
                                     "%s is left out: it needs data files, and TACIT_DATA is not "
                                     "set. ",
                                     c->of[k]->name);
    }
    c->count = kept;
}

/* ---- words ---- */

static void say_rows(const tacit_reproduced *result)
{
    const tacit_reproduced_row *rows;
    size_t count = tacit_reproduced_rows(result, &rows);
    printf("  %s%-58s %9s   %s%s\n", cli_faint(), "", "mean", "and its spread", cli_plain());
    for (size_t k = 0; k < count; k++) {
        char ours[40], low[40], high[40], paper[40];
        tacit_reproduced_number(rows[k].ours, ours, sizeof ours);
        tacit_reproduced_number(rows[k].low, low, sizeof low);
        tacit_reproduced_number(rows[k].high, high, sizeof high);
        tacit_reproduced_number(rows[k].paper, paper, sizeof paper);
        printf("  %-58s %9s", rows[k].what, ours);
        if (rows[k].low < rows[k].high)
            printf("   %s to %s", low, high);
        if (!isnan(rows[k].paper))
            printf("   paper: %s%s", paper, tacit_reproduced_verdict(&rows[k]));
        putchar('\n');
    }
}

static void say_words(const tacit_reproduction *of, const tacit_reproduced *result, bool quick)
{
    char spread[200];
    printf("%s%s%s: %s\n", cli_bold(), of->name, cli_plain(), of->title);
    cli_wrap(of->paper, 0, 0);
    if (quick)
        cli_wrap("A quick look at a smaller task: these numbers are not the figure's.", 0, 0);
    if (*tacit_reproduced_warning(result)) {
        putchar('\n');
        cli_wrap(tacit_reproduced_warning(result), 0, 0);
    }
    putchar('\n');
    say_rows(result);
    snprintf(spread, sizeof spread, "Spread: %s.", tacit_reproduced_spread(result));
    cli_wrap(spread, 2, 2);
    putchar('\n');
    const char *const *findings;
    size_t count = tacit_reproduced_findings(result, &findings);
    for (size_t k = 0; k < count; k++)
        cli_wrap(findings[k], 0, 0);
    putchar('\n');
}

static void say_folder(const char *folder)
{
    printf("  %-10s%s/\n  %-10s", "folder", folder, "holds");
    cli_wrap("reproduce.html (look at it), data.csv, summary.json", 12, 12);
}

/* ---- the verb ---- */

static tacit_status claim(const char *name, const reproduce_flags *flags, char *path, size_t size,
                          tacit_error *err)
{
    struct stat info;
    if (*flags->out && lstat(flags->out, &info) == 0)
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" exists; remove it or use another --out",
                          flags->out);
    return cli_folder_claim(name, flags->out, false, path, size, err);
}

static tacit_status reproduce(const tacit_reproduction *of, const reproduce_flags *flags,
                              tacit_reproduced **result, tacit_error *err)
{
    cli_progress progress;
    cli_progress_begin(&progress, of->name, flags->quiet);
    const tacit_reproduce_request request = {.seed = flags->seed,
                                             .seeds = (uint32_t)flags->seeds,
                                             .threads = cli_threads(flags->threads),
                                             .quick = flags->quick,
                                             .full = flags->full,
                                             .only = flags->only,
                                             .data = getenv("TACIT_DATA"),
                                             .stop = cli_stop(),
                                             .progress = cli_progress_step,
                                             .progress_ctx = &progress};
    tacit_status status = tacit_reproduce(result, of, &request, err);
    cli_progress_end(&progress);
    if (status == TACIT_EINTERRUPTED)
        return tacit_fail(err, status, "interrupted; nothing was written");
    return status;
}

static void say(const choice *c, const reproduce_flags *flags, tacit_reproduced *const *results,
                const char *note, const char *folder)
{
    for (size_t k = 0; k < c->count; k++)
        say_words(c->of[k], results[k], flags->quick);
    if (*note)
        cli_wrap(note, 0, 0);
    say_folder(folder);
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const reproduce_flags *flags = args->flags;
    choice c;
    tacit_reproduced *results[MOST] = {0};
    const tacit_reproduced *all[MOST] = {0};
    char folder[CLI_PATH_MAX], note[1000];
    if (args->word_count == 0)
        return list(flags, err);
    tacit_status status = find(args, &c, err);
    if (status == TACIT_OK)
        status = check_full(&c, flags, err);
    if (status == TACIT_OK)
        status = check_only(&c, flags, err);
    if (status == TACIT_OK)
        status = claim(c.name, flags, folder, sizeof folder, err);
    if (status != TACIT_OK)
        return status;
    leave_out(&c, getenv("TACIT_DATA"), note, sizeof note);
    cli_catch_signals();
    for (size_t k = 0; k < c.count && status == TACIT_OK; k++) {
        status = reproduce(c.of[k], flags, &results[k], err);
        all[k] = results[k];
    }
    if (status == TACIT_OK)
        status = tacit_reproduced_write_all(all, c.count, note, folder, err);
    if (status != TACIT_OK && !*flags->out) { /* only if nothing is in it */
        rmdir(folder);
        rmdir("runs");
    }
    if (status == TACIT_OK && flags->json)
        status = cli_print_text(tacit_reproduced_json_all(all, c.count), err);
    else if (status == TACIT_OK)
        say(&c, flags, results, note, folder);
    for (size_t k = 0; k < c.count; k++)
        tacit_reproduced_free(results[k]);
    return status;
}

static const cli_example examples[] = {
    {"tacit reproduce", "which figures there are"},
    {"tacit reproduce 000-fig1", "run it again; about a minute on two cores"},
    {"tacit reproduce 000", "all figures and tables of paper 000, on one page"},
    {"tacit reproduce 000-fig1 --quick --json", "a smaller task, for programs"},
    {"tacit reproduce 004-table1 --quick --only dsgt", "some cells of a table"},
};

const cli_verb cli_reproduce = {
    .name = "reproduce",
    .argument = "FIGURE",
    .summary = "run a figure of a paper again, and put it beside the paper",
    .prose = "Runs what a figure of one of the papers shows, over several seeds, and writes "
             "reproduce.html (a page to look at), data.csv (panel,series,x,y,low,high) and "
             "summary.json. Where the paper prints numbers they stand beside ours; what it prints "
             "that is unsound is run too, and labelled so. The number of a paper runs all of "
             "its figures, on one page. Studies and checks of our own are run the same way. "
             "Without a name it lists the figures there are. "
             "TACIT_DATA is the folder of data files, which some tables need.",
    .flags = &section,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
