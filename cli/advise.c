/* SPDX-License-Identifier: Apache-2.0 */
/* tacit advise: is collaborating worth it at this budget, how, and how often to speak. */
#include "tacit/advise.h"

#include "terminal.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>

typedef struct advise_flags {
    double signal, alike, gain;
    bool json;
} advise_flags;

#define AT(member) .offset = offsetof(advise_flags, member)
static const tacit_option options[] = {
    {.key = "signal",
     .type = TACIT_OPT_REAL,
     .fallback = "0.5",
     .min = 1e-6,
     .max = 1,
     .help =
         "a guess: how much a record tells of the direction of a model; 0.64 for labels without "
         "error, 0.5 with one in twenty wrong",
     AT(signal)},
    {.key = "alike",
     .type = TACIT_OPT_REAL,
     .fallback = "0.5",
     .min = 1e-6,
     .max = 0.999999,
     .help = "a guess, for graphs whose weights are no angles: correlation of models across the "
             "strongest edge",
     AT(alike)},
    {.key = "gain",
     .type = TACIT_OPT_REAL,
     .fallback = "0.005",
     .min = 1e-6,
     .max = 0.999999,
     .help = "the least gain that is worth it",
     AT(gain)},
    CLI_FLAG_SWITCH("json", 'j', "print schema tacit.advice/1 instead of words", AT(json)),
};
static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(advise_flags)};

/* ---- words ---- */

enum { INDENT = 14 };

static void say(const char *what, const char *words)
{
    printf("  %-*s", INDENT - 2, what);
    cli_wrap(words, INDENT, INDENT);
}

static void say_public(const tacit_advice *a)
{
    char text[600];
    snprintf(text, sizeof text,
             "%u agents with %.3g to %.3g records each (%.3g on average), %zu features, %.3g "
             "neighbours on average",
             a->agents, a->least_records, a->most_records, a->mean_records, a->features,
             a->mean_neighbours);
    say("known", text);
    snprintf(text, sizeof text,
             "epsilon %g at delta %g for one record (adjacency replace), against the adversary of "
             "each strategy's trust: one release that spends it all has noise of %.3g times the "
             "clip radius; of what a neighbour's records tell, "
             "%.2g %% get through",
             a->epsilon, a->delta, a->sigma, 100 * a->through);
    say("budget", text);
    if (a->budgets) {
        snprintf(text, sizeof text,
                 "they are the agents' own (\"privacy.budgets\"), from %g to %g: this is the "
                 "median, and all below is as if everybody had it. In a chorus who has less than "
                 "\"privacy.epsilon\" only listens",
                 a->least_budget, a->most_budget);
        say("budgets", text);
    }
    if (a->claimed)
        say("UNSOUND", "with \"privacy.claimed\" nothing clips records: the epsilon of such a run "
                       "is a claim and no guarantee. What follows is for records that are clipped");
}

static void say_needed(double needed, char *out, size_t size)
{
    if (isnan(needed))
        snprintf(out, size, "%s", "");
    else if (isinf(needed))
        snprintf(out, size, "none is enough");
    else
        snprintf(out, size, "%.2g%s", needed, needed <= TACIT_ADVISE_LEAST ? " or less" : "");
}

static void say_table(const tacit_advice *a)
{
    printf("\n  %s%-12s %-8s %6s %9s %8s   %s%s\n", cli_faint(), "strategy", "trust", "ticks",
           a->score ? "accuracy" : "known", "gain", "epsilon it needs", cli_plain());
    for (int s = 0; s < TACIT_STRATEGIES; s++) {
        const tacit_prospect *p = &a->prospect[s];
        char needed[40], ticks[24] = "";
        say_needed(p->needed, needed, sizeof needed);
        if (p->ticks && s != TACIT_STRATEGY_BARE)
            snprintf(ticks, sizeof ticks, "%llu", (unsigned long long)p->ticks);
        const bool best = s != 0 && (s == (int)a->best[0] || s == (int)a->best[1]);
        printf("  %s%-12s %-8s %6s %9.3f %+8.3f   %s%s\n", best ? cli_bold() : "",
               tacit_strategy_name((tacit_strategy)s),
               s == TACIT_STRATEGY_BARE ? "-"
                                        : tacit_trust_name(tacit_strategy_trust((tacit_strategy)s)),
               ticks, a->score ? p->score : p->informed, p->gain, needed, best ? cli_plain() : "");
    }
    putchar('\n');
}

static void say_best(const tacit_advice *a, int secure, double gain)
{
    char text[700];
    const tacit_strategy best = a->best[secure];
    const tacit_prospect *p = &a->prospect[best];
    if (best == TACIT_STRATEGY_ALONE)
        snprintf(text, sizeof text,
                 "learn alone: epsilon %g is too small for collaboration to help here (no strategy "
                 "gains %g); \"epsilon it needs\" says from when on",
                 a->epsilon, gain);
    else
        snprintf(text, sizeof text,
                 "%s, %llu release%s of each agent, then the private finish: about %+.3f over "
                 "learning alone",
                 tacit_strategy_name(best), (unsigned long long)p->ticks, p->ticks == 1 ? "" : "s",
                 p->gain);
    say(secure ? "with sums" : "local", text);
}

static void say_voices(const tacit_voices *v)
{
    char text[400];
    snprintf(text, sizeof text,
             "kernel spectral, protocol.rank %u, protocol.alpha %g, protocol.kappa %g, "
             "protocol.rounds %llu: a voice is heard %.2g times as loud as the noise after one "
             "round, and more rounds pay from about 5 on",
             v->rank, v->alpha, v->kappa, (unsigned long long)v->rounds, sqrt(v->clarity));
    say("chorus", text);
}

static void say_words(const tacit_advice *a, const tacit_assumed *guess)
{
    say_public(a);
    say_table(a);
    say_best(a, 0, guess->gain);
    say_best(a, 1, guess->gain);
    if (a->best[1] == TACIT_STRATEGY_CHORUS)
        say_voices(&a->voices);
    char text[500];
    snprintf(
        text, sizeof text,
        "a record tells %g of a direction%s; features of equal spread; an error shrinks to "
        "%.2g a tick. Predictions from sizes, graph and budget alone: nothing was learned, and "
        "nothing was spent",
        guess->signal, "", a->ratio);
    say("guesses", text);
    say("trust", "local: an adversary sees every message; secure: only sums over all agents, "
                 "which somebody must compute without looking");
}

/* ---- the verb ---- */

static tacit_status load(const cli_args *args, tacit_experiment *experiment, tacit_error *err)
{
    tacit_config config;
    tacit_config_init(&config);
    tacit_status status =
        cli_load_config(&config, args->words[0], args->repeated, args->repeated_count, err);
    if (!status)
        status = tacit_experiment_init(experiment, &config, err);
    tacit_config_clear(&config);
    return status;
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const advise_flags *flags = args->flags;
    const tacit_assumed guess = {flags->signal, flags->alike, flags->gain};
    tacit_experiment experiment = {0};
    tacit_advice advice;
    if (args->word_count != 1)
        return tacit_fail(err, TACIT_EUSAGE, "%s",
                          args->word_count ? "one experiment at a time"
                                           : "which experiment? give a file, as in \"tacit advise "
                                             "examples/private.yaml\"");
    tacit_status status = load(args, &experiment, err);
    if (status)
        return status;
    status = tacit_advise(&advice, &experiment, &guess, err);
    if (!status && flags->json)
        status = cli_print_text(tacit_advice_json(&advice, &guess), err);
    else if (!status)
        say_words(&advice, &guess);
    tacit_experiment_clear(&experiment);
    return status;
}

static const cli_example examples[] = {
    {"tacit advise examples/private.yaml", "is epsilon 5 enough, and for what?"},
    {"tacit advise examples/private.yaml --set privacy.epsilon=0.1", "and a tenth?"},
    {"tacit advise examples/private.yaml --signal 0.2 --json", "noisier labels; for programs"},
};

const cli_verb cli_advise = {
    .name = "advise",
    .argument = "EXPERIMENT.yaml",
    .summary = "say whether collaborating is worth the budget, and how",
    .prose =
        "Predicts from public numbers alone (agents, records of each, features, graph, budget) "
        "what each strategy would gain over learning alone, how often agents should speak, "
        "and from which epsilon on it helps. Nothing is learned and nothing is spent; "
        "docs/advise.md derives the formulas.",
    .flags = &section,
    .repeated = &cli_set_option,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .takes_keys = false,
    .run = run,
};
