/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit audit: what trials with a canary show, beside what is claimed; of an experiment, or of a
 * mechanism alone. Nothing is written before all trials are done.
 */
#include "base/writer.h"
#include "tacit/canary.h"

#include "terminal.h"
#include "verbs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct audit_flags {
    int64_t trials, agent, coordinates, seed, threads;
    double confidence, epsilon, delta;
    int canary, adjacency, broken;
    bool json, force, quiet;
    char page[TACIT_TEXT_MAX];
} audit_flags;

static const char *const adjacencies[] = {"replace", "add-remove", NULL};

#define AT(member) .offset = offsetof(audit_flags, member)
static const tacit_option options[] = {
    {.key = "trials",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 1e8,
     .letter = 'n',
     .help = "with the canary, and as many without; 0 for 1000 trainings, or 10000 releases of a "
             "mechanism",
     AT(trials)},
    {.key = "confidence",
     .type = TACIT_OPT_REAL,
     .fallback = "0.95",
     .min = 0.8,
     .max = 0.999999999,
     .letter = 'c',
     .help = "probability with which a bound holds",
     AT(confidence)},
    {.key = "agent",
     .type = TACIT_OPT_INT,
     .fallback = "-1",
     .min = -1,
     .max = 4294967294.0,
     .letter = 'a',
     .help = "experiment: whose record the canary is; -1 for the first with records and neighbours",
     AT(agent)},
    {.key = "canary",
     .type = TACIT_OPT_CHOICE,
     .fallback = "worst",
     .choices = tacit_canary_kinds,
     .help = "experiment: the record that shows most, or a true one with its label turned round",
     AT(canary)},
    {.key = "epsilon",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 1e-6,
     .max = 1e3,
     .letter = 'e',
     .help = "mechanism: what its noise is calibrated for",
     AT(epsilon)},
    {.key = "delta",
     .type = TACIT_OPT_REAL,
     .fallback = "1e-5",
     .min = 0,
     .max = 0.999,
     .letter = 'd',
     .help = "mechanism: likewise",
     AT(delta)},
    {.key = "coordinates",
     .type = TACIT_OPT_INT,
     .fallback = "10",
     .min = 1,
     .max = 1e6,
     .help = "mechanism: of the vector that is released",
     AT(coordinates)},
    {.key = "adjacency",
     .type = TACIT_OPT_CHOICE,
     .fallback = "replace",
     .choices = adjacencies,
     .help = "mechanism: the canary instead of its opposite, or instead of nothing",
     AT(adjacency)},
    {.key = "break",
     .type = TACIT_OPT_CHOICE,
     .fallback = "none",
     .choices = tacit_audit_breaks,
     .help = "mechanism: get it wrong on purpose, to see that the audit notices",
     AT(broken)},
    {.key = "seed",
     .type = TACIT_OPT_INT,
     .fallback = "1",
     .min = 0,
     .max = 9007199254000000.0,
     .help = "mechanism: of the trials; an experiment has run.seed",
     AT(seed)},
    CLI_FLAG_THREADS(AT(threads)),
    {.key = "page",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'p',
     .value_name = "FILE",
     .help = "write a page with a histogram of the scores",
     AT(page)},
    CLI_FLAG_SWITCH("force", 'f', "replace the file of --page", AT(force)),
    CLI_FLAG_SWITCH("json", 'j', "print the result, schema tacit.audit/1, instead of words",
                    AT(json)),
    CLI_FLAG_QUIET(AT(quiet)),
};

static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(audit_flags)};

/* ---- words ---- */

static void say_claim(const tacit_audit_facts *f)
{
    char epsilon[40], text[500];
    cli_epsilon(f->claimed, epsilon, sizeof epsilon);
    snprintf(text, sizeof text,
             "epsilon %s at delta %g for one %s (adjacency %s), against an adversary \"%s\" that "
             "sees %s; mechanism %s, %llu release%s",
             epsilon, tacit_rounded_up(f->delta), tacit_unit_name(f->unit),
             tacit_adjacency_name(f->adjacency), tacit_trust_name(f->trust),
             tacit_trust_words(f->trust), tacit_mechanism_name(f->mechanism),
             (unsigned long long)f->releases, f->releases == 1 ? "" : "s");
    printf("  %-22s", "claimed");
    cli_wrap(text, 24, 24);
}

static void say_bound(const char *name, const tacit_audit_bound *bound)
{
    char fp[40], fn[40], text[300];
    if (isnan(bound->epsilon))
        return;
    cli_count(bound->guesses.fp, fp, sizeof fp);
    cli_count(bound->guesses.fn, fn, sizeof fn);
    snprintf(text, sizeof text, "epsilon at least %.3f (%s false alarms, %s misses)",
             bound->epsilon, fp, fn);
    printf("  %-22s", name);
    cli_wrap(text, 24, 24);
}

static void say_confidence(const tacit_audit *a)
{
    char text[200];
    if (isnan(a->trade_off.epsilon))
        snprintf(text, sizeof text, "%g %%", 100 * a->confidence);
    else
        snprintf(text, sizeof text,
                 "%g %% for each bound; with %g %% for both, epsilon is at "
                 "least %.3f",
                 100 * a->confidence, 100 * a->confidence, tacit_audit_shown(a));
    printf("  %-22s", "confidence");
    cli_wrap(text, 24, 24);
}

static void say_subject(const tacit_audit *a, const tacit_audit_facts *f)
{
    char trials[40], pilot[40], text[300];
    cli_count(a->trials, trials, sizeof trials);
    cli_count(a->pilot, pilot, sizeof pilot);
    printf("%s%s%s: ", cli_bold(), f->title, cli_plain());
    if (f->protocol)
        snprintf(text, sizeof text, "%s, canary \"%s\" among the %u records of agent %.150s",
                 f->protocol, tacit_canary_kinds[f->canary], f->records, f->agent_name);
    else
        snprintf(text, sizeof text, "noise %.6g for sensitivity %.6g%s%s", f->noise, f->sensitivity,
                 f->broken == TACIT_UNBROKEN ? "" : ", broken on purpose: ",
                 f->broken == TACIT_UNBROKEN ? "" : tacit_audit_breaks[f->broken]);
    cli_wrap(text, (int)strlen(f->title) + 2, 2);
    say_claim(f);
    snprintf(text, sizeof text,
             "%s with the canary and as many without, after %s of each to choose thresholds on",
             trials, pilot);
    printf("  %-22s", "trials");
    cli_wrap(text, 24, 24);
}

static void say_words(const tacit_audit *a, const tacit_audit_facts *f)
{
    say_subject(a, f);
    say_bound("Clopper-Pearson", &a->clopper_pearson);
    say_bound(f->curve == TACIT_CURVE_LAPLACE ? "Laplace trade-off" : "Gaussian trade-off",
              &a->trade_off);
    say_confidence(a);
    for (size_t k = 0; k < f->leaks; k++) {
        printf("  %-22s", k == 0 ? "leaks, uncharged" : "");
        cli_wrap(f->leak[k], 24, 24);
    }
    if (f->keep) {
        printf("  %-22s", "keep secret");
        cli_wrap(f->keep, 24, 24);
    }
    printf("  %-22s", "so");
    if (isinf(f->claimed))
        cli_wrap("no bound is claimed, and none could be refuted", 24, 24);
    else
        cli_wrap(tacit_audit_refutes(a, f)
                     ? "the claim does not hold"
                     : "nothing contradicts the claim, which is no proof of it",
                 24, 24);
}

/* ---- files ---- */

static tacit_status check_page(const audit_flags *flags, tacit_error *err)
{
    struct stat info;
    if (!*flags->page)
        return flags->force ? tacit_fail(err, TACIT_EUSAGE, "--force needs --page FILE") : TACIT_OK;
    if (lstat(flags->page, &info) != 0)
        return TACIT_OK;
    if (S_ISDIR(info.st_mode))
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is a folder; name a file in it",
                          flags->page);
    return flags->force
               ? TACIT_OK
               : tacit_fail(err, TACIT_EINPUT, "\"%.300s\" exists; use another --page or --force",
                            flags->page);
}

static tacit_status write_page(const audit_flags *flags, const tacit_audit *a,
                               const tacit_audit_facts *f, tacit_error *err)
{
    return cli_write_secret(flags->page, tacit_audit_page(a, f), flags->force, err);
}

/* ---- the verb ---- */

static tacit_status audit_mechanism(tacit_audit *out, tacit_audit_facts *facts,
                                    tacit_mechanism mechanism, const audit_flags *flags,
                                    tacit_audit_plan *plan, tacit_error *err)
{
    const tacit_audited what = {.mechanism = mechanism,
                                .epsilon = flags->epsilon,
                                .delta = flags->delta,
                                .adjacency = (tacit_adjacency)flags->adjacency,
                                .coordinates = (uint64_t)flags->coordinates,
                                .broken = (tacit_audit_break)flags->broken};
    tacit_cost cost = {0};
    plan->trials = plan->trials ? plan->trials : 10000;
    plan->seed = (uint64_t)flags->seed;
    *facts = (tacit_audit_facts){
        .broken = what.broken,
        .mechanism = mechanism,
        .trust = TACIT_TRUST_LOCAL,
        .unit = TACIT_UNIT_USER,
        .adjacency = what.adjacency,
        .delta = what.delta,
        .releases = 1,
        .curve = mechanism == TACIT_MECHANISM_LAPLACE ? TACIT_CURVE_LAPLACE : TACIT_CURVE_GAUSSIAN,
        .seed = plan->seed};
    snprintf(facts->title, sizeof facts->title, "%s", tacit_mechanism_name(mechanism));
    tacit_status status = tacit_audit_mechanism(out, &what, plan, &cost, &facts->claimed, err);
    facts->noise = cost.noise;
    facts->sensitivity = cost.sensitivity;
    return status;
}

static tacit_status audit_experiment(tacit_audit *out, tacit_audit_facts *facts,
                                     const cli_args *args, tacit_audit_plan *plan, tacit_error *err)
{
    const audit_flags *flags = args->flags;
    const tacit_canary canary = {.agent = flags->agent < 0 ? TACIT_NOBODY : (uint64_t)flags->agent,
                                 .kind = (tacit_canary_kind)flags->canary};
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_config_init(&config);
    plan->trials = plan->trials ? plan->trials : 1000;
    tacit_status status =
        cli_load_config(&config, args->words[0], args->repeated, args->repeated_count, err);
    if (!status)
        status = tacit_experiment_init(&experiment, &config, err);
    if (!status)
        status = tacit_audit_experiment(out, facts, &experiment, &canary, plan, err);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return status;
}

/* A flag that is about the other kind of audit would be ignored silently. */
static tacit_status check_flags(const cli_args *args, bool mechanism, tacit_error *err)
{
    const audit_flags *f = args->flags;
    const char *wrong = NULL;
    if (mechanism)
        wrong = f->agent >= 0          ? "agent"
                : f->canary            ? "canary"
                : args->repeated_count ? "set"
                                       : NULL;
    else
        wrong = f->epsilon != 1        ? "epsilon"
                : f->delta != 1e-5     ? "delta"
                : f->coordinates != 10 ? "coordinates"
                : f->adjacency         ? "adjacency"
                : f->broken            ? "break"
                : f->seed != 1         ? "seed"
                                       : NULL;
    if (!wrong)
        return check_page(f, err);
    return tacit_fail(err, TACIT_EUSAGE, "\"--%s\" is about %s; %s", wrong,
                      mechanism ? "experiments" : "mechanisms",
                      mechanism ? "leave it out"
                                : "say it in the file, or with --set, as in \"--set "
                                  "privacy.epsilon=1\"");
}

static tacit_status conclude(const tacit_audit *a, const tacit_audit_facts *f,
                             const audit_flags *flags, tacit_error *err)
{
    tacit_status status = *flags->page ? write_page(flags, a, f, err) : TACIT_OK;
    if (status)
        return status;
    if (flags->json) {
        char *text = tacit_audit_json(a, f);
        if (!text)
            return tacit_out_of_memory(err);
        puts(text);
        free(text);
    } else {
        say_words(a, f);
        if (*flags->page)
            printf("  %-22s%s\n", "page", flags->page);
    }
    if (!tacit_audit_refutes(a, f))
        return TACIT_OK;
    return tacit_fail(
        err, TACIT_NO,
        "the claim does not hold: epsilon is at least %.3f with confidence %g %%, and "
        "%.4g was claimed, at delta %g for one %s (adjacency %s), against an adversary \"%s\"",
        tacit_audit_shown(a), 100 * a->confidence, f->claimed, tacit_rounded_up(f->delta),
        tacit_unit_name(f->unit), tacit_adjacency_name(f->adjacency), tacit_trust_name(f->trust));
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const audit_flags *flags = args->flags;
    if (args->word_count != 1)
        return tacit_fail(err, TACIT_EUSAGE,
                          "%s%.100s%s; expected one experiment, as in \"tacit "
                          "audit examples/private.yaml\", or gaussian or laplace",
                          args->word_count ? "unexpected word \"" : "nothing to audit",
                          args->word_count ? args->words[1] : "", args->word_count ? "\"" : "");
    const char *word = args->words[0];
    const tacit_mechanism mechanism = strcmp(word, "gaussian") == 0  ? TACIT_MECHANISM_GAUSSIAN
                                      : strcmp(word, "laplace") == 0 ? TACIT_MECHANISM_LAPLACE
                                                                     : TACIT_MECHANISM_NONE;
    tacit_status status = check_flags(args, mechanism != TACIT_MECHANISM_NONE, err);
    if (status)
        return status;
    tacit_audit audit = {0};
    tacit_audit_facts facts;
    cli_progress progress;
    cli_progress_begin(&progress, "audit", flags->quiet);
    tacit_audit_plan plan = {.trials = (uint64_t)flags->trials,
                             .confidence = flags->confidence,
                             .threads = cli_threads(flags->threads),
                             .stop = cli_stop(),
                             .progress = cli_progress_step,
                             .progress_ctx = &progress};
    cli_catch_signals();
    status = mechanism == TACIT_MECHANISM_NONE
                 ? audit_experiment(&audit, &facts, args, &plan, err)
                 : audit_mechanism(&audit, &facts, mechanism, flags, &plan, err);
    cli_progress_end(&progress);
    if (status == TACIT_EINTERRUPTED)
        status = tacit_fail(err, status, "interrupted; nothing was written");
    else if (!status)
        status = conclude(&audit, &facts, flags, err);
    tacit_audit_clear(&audit);
    return status;
}

static const cli_example examples[] = {
    {"tacit audit gaussian --epsilon 1 --delta 1e-5 --trials 10000", "how near the claim it gets"},
    {"tacit audit gaussian --break half-noise", "a mistake is noticed: exit code 1"},
    {"tacit audit examples/private.yaml --trials 2000 --page audit.html",
     "trainings with a canary among one agent's records, and a picture"},
    {"tacit audit examples/private.yaml --canary flipped --json", "for programs"},
};

const cli_verb cli_audit = {
    .name = "audit",
    .argument = "EXPERIMENT.yaml|gaussian|laplace",
    .summary = "a lower bound on epsilon beside the claim, by trials with a canary",
    .prose = "Repeats a training, or one release of a mechanism, many times with a canary and as "
             "often without, lets an adversary who knows everything else guess which it was, and "
             "turns the errors into a lower bound on epsilon. Exit code 1 if a bound is above the "
             "claim. Below it nothing is proved: another attack might show more. Thresholds are "
             "chosen on further trials, half as many, that are not counted. Without noise nothing "
             "is claimed: that is refused at once, exit code 3.",
    .flags = &section,
    .repeated = &cli_set_option,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .takes_keys = true,
    .run = run,
};
