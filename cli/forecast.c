/* SPDX-License-Identifier: Apache-2.0 */
/* tacit forecast: is it worth joining? Sizes and budgets in, relative fitness out. */
#include "forecast.h"
#include "terminal.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CHECKS_MOST = 100 };

typedef struct forecast_flags {
    int64_t owners;
    double records, epsilon;
    char join[TACIT_TEXT_MAX];
    double c0, c1, c2, alone;
    double coverage;
    int64_t repeats, check;
    int map;
    char out[TACIT_TEXT_MAX];
    int64_t threads;
    bool json, quiet;
} forecast_flags;

static const char *const maps[] = {"owners", "records", NULL};

#define AT(member) .offset = offsetof(forecast_flags, member)
#define CONSTANT(name, words, member)                                                 \
    {                                                                                 \
        .key = name, .type = TACIT_OPT_REAL, .fallback = "0", .min = 0, .max = 1e300, \
        .help = words, AT(member)                                                     \
    }
static const tacit_option options[] = {
    {.key = "owners",
     .type = TACIT_OPT_INT,
     .fallback = "3",
     .min = 2,
     .max = TACIT_JOINERS,
     .letter = 'n',
     .help = "how many would join",
     AT(owners)},
    {.key = "records",
     .type = TACIT_OPT_REAL,
     .fallback = "10000",
     .min = 1,
     .max = TACIT_JOIN_RECORDS,
     .help = "records of each",
     AT(records)},
    {.key = "epsilon",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = TACIT_JOIN_EPSILON_LEAST,
     .max = TACIT_JOIN_EPSILON_MOST,
     .letter = 'e',
     .help = "privacy budget of each",
     AT(epsilon)},
    {.key = "join",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "FILE",
     .help = "who would join, in place of the above: lines \"owner,records,epsilon\" under that "
             "header",
     AT(join)},
    CONSTANT("c0", "no pilots: constants of the law, a floor,", c0),
    CONSTANT("c1", "... times s,", c1),
    CONSTANT("c2", "... and times s squared", c2),
    CONSTANT("alone", "no pilots: psi of a model of one's own, times (1/own - 1/n)", alone),
    {.key = "coverage",
     .type = TACIT_OPT_REAL,
     .fallback = "0.9",
     .min = 0.01,
     .max = 0.9999,
     .help = "of prediction intervals",
     AT(coverage)},
    {.key = "repeats",
     .type = TACIT_OPT_INT,
     .fallback = "3",
     .min = 1,
     .max = 100,
     .help = "pilots of equal settings",
     AT(repeats)},
    {.key = "check",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = CHECKS_MOST,
     .help = "then run what is predicted so often, where the data allow it, and compare",
     AT(check)},
    {.key = "map",
     .type = TACIT_OPT_CHOICE,
     .fallback = "owners",
     .choices = maps,
     .help = "what stands under the map of the terminal; the page has both",
     AT(map)},
    {.key = "out",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'o',
     .value_name = "DIR",
     .help = "also write forecast.html, forecast.csv, map.svg and summary.json to this new folder",
     AT(out)},
    CLI_FLAG_THREADS(AT(threads)),
    CLI_FLAG_SWITCH("json", 'j', "print schema tacit.forecast/1 instead of words", AT(json)),
    CLI_FLAG_QUIET(AT(quiet)),
};
static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(forecast_flags)};

/* ---- who would join ---- */

typedef struct forecast {
    tacit_joiner *owners;
    tacit_stake *stakes;
    size_t count;
    tacit_fitness_law together, alone;
    tacit_pilots pilots;
    bool fitted;
    tacit_checked checked[CHECKS_MOST];
    size_t checks;
} forecast;

static tacit_status find_owners(forecast *f, const forecast_flags *flags, tacit_error *err)
{
    if (*flags->join)
        return tacit_joiners_read(&f->owners, &f->count, flags->join, err);
    f->count = (size_t)flags->owners;
    f->owners = calloc(f->count, sizeof *f->owners);
    if (!f->owners)
        return tacit_out_of_memory(err);
    for (size_t i = 0; i < f->count; i++) {
        f->owners[i].records = flags->records;
        f->owners[i].epsilon = flags->epsilon;
        snprintf(f->owners[i].name, sizeof f->owners[i].name, "owner-%zu", i + 1);
    }
    return TACIT_OK;
}

/* ---- laws ---- */

static tacit_status load(tacit_config *config, const cli_args *args, tacit_error *err)
{
    if (args->word_count == 1)
        return cli_load_config(config, args->words[0], args->repeated, args->repeated_count, err);
    tacit_status status = tacit_config_parse(config, "stand-in", tacit_forecast_stand_in,
                                             strlen(tacit_forecast_stand_in), err);
    for (size_t k = 0; k < args->repeated_count && !status; k++)
        status = tacit_config_set(config, args->repeated[k], err);
    return status;
}

/* Files may be anybody's; what is drawn from a seed is nobody's. */
static void remark_data(const tacit_config *config)
{
    const tacit_setting *path = tacit_config_get(config, "data.path");
    if (path && *path->value)
        cli_remark("pilots are charged to nobody: the records of \"data.path\" must be public or "
                   "made up. Pilots on private records would be a leak");
}

static double typical_epsilon(const forecast *f)
{
    double sum = 0;
    for (size_t i = 0; i < f->count; i++)
        sum += 1 / (f->owners[i].epsilon * f->owners[i].epsilon);
    return 1 / sqrt(sum / (double)f->count);
}

static tacit_status run_pilots(forecast *f, const cli_args *args, tacit_error *err)
{
    const forecast_flags *flags = args->flags;
    tacit_config config;
    tacit_config_init(&config);
    tacit_status status = load(&config, args, err);
    if (!status && !flags->quiet)
        remark_data(&config);
    cli_progress progress;
    cli_progress_begin(&progress, "pilots", flags->quiet);
    cli_catch_signals();
    tacit_pilots_request request = {.experiment = &config,
                                    .owners = (double)f->count,
                                    .epsilon = typical_epsilon(f),
                                    .repeats = (uint32_t)flags->repeats,
                                    .threads = cli_threads(flags->threads),
                                    .stop = cli_stop(),
                                    .progress = cli_progress_step,
                                    .progress_ctx = &progress};
    for (size_t i = 0; i < f->count; i++)
        request.records += f->owners[i].records;
    if (!status)
        status = tacit_pilots_run(&f->pilots, &request, err);
    if (!status)
        status = tacit_pilots_fit(&f->pilots, &f->together, &f->alone, err);
    f->fitted = !status;
    cli_progress_end(&progress);
    cli_progress_begin(&progress, "check", flags->quiet);
    if (!status && flags->check > 0)
        status = tacit_pilots_check(f->checked, (uint32_t)flags->check, &request, err);
    f->checks = status ? 0 : (size_t)flags->check;
    cli_progress_end(&progress);
    tacit_config_clear(&config);
    return status == TACIT_EINTERRUPTED
               ? tacit_fail(err, status, "interrupted; nothing was written")
               : status;
}

static tacit_status find_laws(forecast *f, const cli_args *args, tacit_error *err)
{
    const forecast_flags *flags = args->flags;
    const bool given = flags->c0 > 0 || flags->c1 > 0 || flags->c2 > 0 || flags->alone > 0;
    if (!given)
        return run_pilots(f, args, err);
    if (args->word_count > 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "constants or an experiment for pilots: give one of them, not both");
    if (flags->check > 0)
        return tacit_fail(err, TACIT_EUSAGE, "--check needs pilots, not constants");
    if (!(flags->c1 > 0 || flags->c2 > 0) || !(flags->alone > 0))
        return tacit_fail(err, TACIT_EUSAGE,
                          "without pilots a forecast needs both laws: --c1 or --c2, and --alone");
    f->together = tacit_fitness_law_given(flags->c0, flags->c1, flags->c2);
    f->alone = tacit_fitness_law_given(0, flags->alone, 0);
    return TACIT_OK;
}

/* ---- the verb ---- */

static tacit_status check(const cli_args *args, tacit_error *err)
{
    const forecast_flags *flags = args->flags;
    struct stat info;
    if (args->word_count > 1)
        return tacit_fail(err, TACIT_EUSAGE, "one experiment at a time");
    if (flags->check > 0 && *flags->join)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--check takes owners that are alike: --owners, --records and --epsilon "
                          "in place of --join");
    if (*flags->out && lstat(flags->out, &info) == 0)
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" exists; remove it or use another --out",
                          flags->out);
    return TACIT_OK;
}

static tacit_status show(const forecast *f, const forecast_flags *flags, tacit_error *err)
{
    const tacit_forecast_view view = {.owners = f->owners,
                                      .stakes = f->stakes,
                                      .count = f->count,
                                      .together = &f->together,
                                      .alone = &f->alone,
                                      .coverage = flags->coverage,
                                      .pilots = f->fitted ? &f->pilots : NULL,
                                      .checked = f->checked,
                                      .checks = f->checks};
    tacit_status status = *flags->out ? tacit_forecast_write(&view, flags->out, err) : TACIT_OK;
    if (status)
        return status;
    if (flags->json)
        return cli_print_text(tacit_forecast_json(&view), err);
    cli_forecast_say(&view, flags->map);
    if (*flags->out)
        printf("  %-12s%s/forecast.html\n", "page", flags->out);
    return TACIT_OK;
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const forecast_flags *flags = args->flags;
    forecast f = {0};
    tacit_status status = check(args, err);
    if (!status)
        status = find_owners(&f, flags, err);
    if (!status && !(f.stakes = calloc(f.count, sizeof *f.stakes)))
        status = tacit_out_of_memory(err);
    if (!status)
        status = find_laws(&f, args, err);
    if (!status)
        status = tacit_forecast_until(f.stakes, f.owners, f.count, &f.together, &f.alone,
                                      flags->coverage, cli_stop(), err);
    if (!status)
        status = show(&f, flags, err);
    tacit_pilots_clear(&f.pilots);
    free(f.stakes);
    free(f.owners);
    return status;
}

static const cli_example examples[] = {
    {"tacit forecast", "three owners of 10,000 records each, epsilon 1; pilots on made-up records"},
    {"tacit forecast examples/forecast.yaml --owners 10 --records 1e5 --epsilon 0.5",
     "pilots of an experiment, for ten owners"},
    {"tacit forecast --join examples/joiners.csv --out forecast",
     "owners that differ, and a page to look at"},
    {"tacit forecast --records 20000 --epsilon 20 --check 5", "is it true? Ask, then run it"},
    {"tacit forecast --c2 2.1e9 --alone 400 --owners 3 --records 250000",
     "constants that are known already"},
};

const cli_verb cli_forecast = {
    .name = "forecast",
    .argument = "EXPERIMENT.yaml",
    .summary = "say whether joining a learner beats learning alone",
    .prose =
        "Predicts from owners' sizes and budgets how good a model would be that a learner makes "
        "with all of them under differential privacy (protocol learner), and whether that beats a "
        "model of an owner's own records without noise. The constants of the law come from pilots: "
        "small runs of the experiment, without one of a stand-in drawn from a seed. Pilots are "
        "charged to nobody, so their records must be public or made up; on private records they "
        "would be a leak. docs/forecast.md says what the law is and how far to believe it.",
    .flags = &section,
    .repeated = &cli_set_option,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .takes_keys = false,
    .run = run,
};
