/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit average: a private mean, sum or histogram of what N peers hold, and nothing else. Four
 * words: prepare a folder in which they meet, join as one of them, verify what was published, and
 * simulate all of it beforehand.
 */
#include "average.h"
#include "terminal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) .offset = offsetof(average_flags, member)
static const char *const whats[] = {"mean", "sum", NULL};
static const char *const units[] = {"record", "user", NULL};
static const char *const masks[] = {"uniform", "gaussian", NULL};
static const char *const adders[] = {"lying", "curious", NULL};

static const tacit_option options[] = {
    {.key = "peers",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .letter = 'n',
     .help = "prepare: how many there are",
     AT(peers)},
    {.key = "range",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'r',
     .value_name = "LEAST:MOST",
     .help = "prepare, simulate: what a number may be, as in 0:100, known without looking at data",
     AT(range)},
    {.key = "bins",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'b',
     .value_name = "EDGES",
     .help = "prepare, simulate: a histogram with these edges, as in 0,10,20,50",
     AT(bins)},
    {.key = "columns",
     .type = TACIT_OPT_INT,
     .fallback = "1",
     .min = 1,
     .max = TACIT_AVERAGE_COLUMNS,
     .letter = 'c',
     .help = "prepare, simulate: numbers in a row, each averaged for itself",
     AT(columns)},
    {.key = "what",
     .type = TACIT_OPT_CHOICE,
     .fallback = "mean",
     .choices = whats,
     .letter = 'w',
     .help = "prepare, simulate: what is asked for",
     AT(what)},
    {.key = "epsilon",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e6,
     .letter = 'e',
     .help = "prepare, simulate: the budget of each peer",
     AT(epsilon)},
    {.key = "delta",
     .type = TACIT_OPT_REAL,
     .fallback = "1e-6",
     .min = 1e-300,
     .max = 0.5,
     .letter = 'd',
     .help = "prepare, simulate: and its delta",
     AT(delta)},
    {.key = "unit",
     .type = TACIT_OPT_CHOICE,
     .fallback = "user",
     .choices = units,
     .letter = 'u',
     .help = "prepare, simulate: what is protected, all that a peer holds or one of its rows",
     AT(unit)},
    {.key = "colluders",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .help = "prepare, simulate: so many peers may tell each other all they know",
     AT(colluders)},
    {.key = "absent",
     .type = TACIT_OPT_REAL,
     .fallback = "0.2",
     .min = 0,
     .max = 0.4,
     .help = "prepare, simulate: this part of the peers may get lost on the way",
     AT(absent)},
    {.key = "masks",
     .type = TACIT_OPT_CHOICE,
     .fallback = "uniform",
     .choices = masks,
     .help = "prepare, simulate: what pairs hide words by, masks or noise as in the paper on GOPA "
             "(which is for those who keep to the rules: --adders curious)",
     AT(masks)},
    {.key = "adders",
     .type = TACIT_OPT_CHOICE,
     .fallback = "lying",
     .choices = adders,
     .help = "prepare, simulate: what whoever adds up is taken for",
     AT(adders)},
    {.key = "wait",
     .type = TACIT_OPT_REAL,
     .fallback = "600",
     .min = 1,
     .max = 1e6,
     .value_name = "SECONDS",
     .help = "prepare, join with --key: how long peers wait for each other to come",
     AT(wait)},
    {.key = "patience",
     .type = TACIT_OPT_REAL,
     .fallback = "5",
     .min = 0.01,
     .max = 1e6,
     .value_name = "SECONDS",
     .help = "prepare, simulate: and, once they have begun, for one who is silent",
     AT(patience)},
    {.key = "port",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 65535,
     .letter = 'p',
     .value_name = "BASE",
     .help = "prepare: the first peer's port, the others' follow; 0: free ones are found",
     AT(port)},
    {.key = "value",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'v',
     .value_name = "NUMBER",
     .help = "refused: everybody on the machine can list command lines; see --values",
     AT(value)},
    {.key = "values",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "FILE",
     .help =
         "join: what this peer holds, a row a line, with columns numbers separated by commas; - "
         "or nothing: from standard input, where a terminal is asked without showing it",
     AT(values)},
    {.key = "members",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'm',
     .value_name = "FILE",
     .help =
         "prepare: members.csv of peers who have made keys of their own (tacit keygen), instead "
         "of --peers; verify: a list from somebody you trust, whose keys must be those of the "
         "board",
     AT(members)},
    {.key = "key",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'k',
     .value_name = "FILE",
     .help = "join: the peer's own key, where the folder was prepared with --members",
     AT(key)},
    {.key = "data-set",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "NAME",
     .help = "join: how you call what you hold, over all runs; otherwise it is known again by its "
             "numbers",
     AT(data_set)},
    {.key = "lifetime",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "FILE",
     .help = "join: the ledger that counts all runs over what you hold (see \"tacit help "
             "ledger\"); off: none, for numbers that are made up",
     AT(lifetime)},
    {.key = "seed",
     .type = TACIT_OPT_INT,
     .fallback = "-1",
     .min = -1,
     .max = 1e15,
     .letter = 's',
     .help = "simulate: a rehearsal that can be repeated: its noise follows from this number, so "
             "that the epsilon does not hold for what it prints; -1: noise from the system",
     AT(seed)},
    CLI_FLAG_THREADS(AT(threads)),
    CLI_FLAG_SWITCH("json", 'j', "print the result as JSON", AT(json)),
    CLI_FLAG_SWITCH("quiet", 'q', "no progress and no remarks", AT(quiet)),
};

static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(average_flags)};

static const cli_example examples[] = {
    {"tacit average simulate salaries.csv --range 0:200000 --epsilon 1",
     "how exact would it be? a number a line, a line a peer"},
    {"tacit average prepare talk --peers 10 --range 0:100 --epsilon 1",
     "a folder in which ten peers meet"},
    {"tacit average join talk/node-003",
     "one of them: it asks what the peer holds, and the result comes when all have joined"},
    {"tacit average verify talk/node-003/state/board.jsonl -m talk/members.csv",
     "add up what they published; exit code 6 if anything is wrong"},
    {"tacit average prepare pay --members members.csv --range 0:200000 --epsilon 1",
     "peers with keys of their own, on machines of their own"},
    {"tacit average join pay --key alice.key --values salary.csv", "and one of them"},
    {"tacit average prepare ages --peers 30 --bins 0,18,30,45,60,120 --epsilon 2", "a histogram"},
};

/* ---- prepare ---- */

tacit_average_plan average_plan(const average_flags *f)
{
    tacit_average_plan plan = {
        .question = {.columns = f->columns, .what = f->what},
        .peers = f->peers > UINT32_MAX ? UINT32_MAX : (uint32_t)f->peers,
        .epsilon = f->epsilon,
        .delta = f->delta,
        .unit = f->unit == 0 ? TACIT_UNIT_RECORD : TACIT_UNIT_USER,
        .gaussian_masks = f->masks == 1,
        .curious = f->adders == 1,
        .colluders = f->colluders,
        .absent = f->absent,
        .patience = f->patience,
        .wait = f->wait,
        .port = (uint16_t)f->port,
        .members = *f->members ? f->members : NULL,
    };
    snprintf(plan.question.range, sizeof plan.question.range, "%s", f->range);
    snprintf(plan.question.bins, sizeof plan.question.bins, "%s", f->bins);
    return plan;
}

static void say_next(const char *folder, bool own_keys)
{
    char text[1400];
    if (own_keys)
        snprintf(
            text, sizeof text,
            "give everybody these files; each peer on its machine: \"tacit average join %.300s "
            "--key FILE\", which asks for its number",
            folder);
    else
        snprintf(
            text, sizeof text,
            "each peer: \"tacit average join %.300s/node-000\", node-001 and so on; it asks for "
            "the number. Who has this folder has the keys of all of them: to try it out. Peers who "
            "do "
            "not trust each other make their own keys (tacit keygen, then --members).",
            folder);
    printf("  %-22s", "next");
    cli_wrap(text, 24, 24);
}

static void say_prepared(const char *folder, const average_flags *f)
{
    char text[200];
    printf("%s%s%s: peers may meet here\n", cli_bold(), folder, cli_plain());
    printf("  %-22s%s\n", "asked for",
           *f->bins                       ? "a histogram"
           : f->what == TACIT_AVERAGE_SUM ? "a sum"
                                          : "a mean");
    printf("  %-22s", "budget");
    snprintf(text, sizeof text, "epsilon %g at delta %g of its noise for %s (adjacency replace)",
             f->epsilon, f->delta, f->unit == 0 ? "one row of a peer" : "all that a peer holds");
    cli_wrap(text, 24, 24);
    say_next(folder, *f->members);
}

static tacit_status prepare(const char *folder, const average_flags *flags, tacit_error *err)
{
    const tacit_average_plan plan = average_plan(flags);
    if ((flags->peers == 0) == !*flags->members)
        return tacit_fail(err, TACIT_EUSAGE,
                          "%s? as in \"tacit average prepare %.100s --peers 10 --range 0:100 "
                          "--epsilon 1\"",
                          flags->peers == 0 ? "how many peers are there"
                                            : "--peers or --members, which of them",
                          folder);
    tacit_status status = tacit_average_prepare(folder, &plan, err);
    if (!status && !flags->quiet)
        say_prepared(folder, flags);
    return status;
}

/* ---- words ---- */

static const char *const words[] = {"prepare", "join", "simulate", "verify", NULL};
enum { PREPARE, JOIN, SIMULATE, VERIFY };

static tacit_status check_flags(int word, const average_flags *f, tacit_error *err)
{
    if (*f->value)
        return tacit_fail(
            err, TACIT_EUSAGE,
            "--value would show the number to everybody who can list the processes of this "
            "machine; "
            "leave it out and type the number when asked, or give it on standard input or in a "
            "file, as in \"tacit average join DIR --values FILE\"");
    const struct {
        const char *flag;
        bool given, wanted;
    } all[] = {
        {"range", *f->range, word == PREPARE || word == SIMULATE},
        {"bins", *f->bins, word == PREPARE || word == SIMULATE},
        {"epsilon", f->epsilon != 0, word == PREPARE || word == SIMULATE},
        {"peers", f->peers != 0, word == PREPARE},
        {"values", *f->values, word == JOIN},
        {"members", *f->members, word == VERIFY || word == PREPARE},
        {"key", *f->key, word == JOIN},
        {"lifetime", *f->lifetime, word == JOIN},
        {"data-set", *f->data_set, word == JOIN},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].given && !all[k].wanted)
            return tacit_fail(err, TACIT_EUSAGE, "--%s does not go with \"tacit average %s\"",
                              all[k].flag, words[word]);
    const bool asks = word == PREPARE || word == SIMULATE;
    if (asks && !*f->range && !*f->bins)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--range or --bins is missing: what a number may be, as in --range "
                          "0:100; noise is made for that range, so it must be known without "
                          "looking at the data");
    if (asks && !(f->epsilon > 0))
        return tacit_fail(
            err, TACIT_EUSAGE,
            "--epsilon is missing, or 0: how much the result may tell of one peer, as in "
            "--epsilon 1");
    return TACIT_OK;
}

/* What a plan is refused for is said in keys of an experiment. */
static tacit_status in_flags(tacit_status status, tacit_error *err)
{
    if (status == TACIT_EINPUT && strstr(err->text, "\"protocol.")) {
        const tacit_error why = *err;
        tacit_fail(
            err, status,
            "%.480s (here: --absent, --colluders, --adders; partners and quorum are for \"tacit "
            "run\")",
            why.text);
    }
    return status;
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    static const char *const expected[] = {
        "prepare DIR --peers 10 --range 0:100 --epsilon 1", "join DIR/node-000",
        "simulate VALUES.csv --range 0:100 --epsilon 1", "verify DIR/node-000/state/board.jsonl"};
    const average_flags *flags = args->flags;
    int word = 0;
    while (args->word_count > 0 && words[word] && strcmp(args->words[0], words[word]) != 0)
        word++;
    if (args->word_count == 0 || !words[word])
        return tacit_fail(err, TACIT_EUSAGE,
                          "expected prepare, join, simulate or verify%s%.60s%s, as in \"tacit "
                          "average %s\"",
                          args->word_count ? ", not \"" : "",
                          args->word_count ? args->words[0] : "", args->word_count ? "\"" : "",
                          expected[PREPARE]);
    if (args->word_count != 2)
        return tacit_fail(err, TACIT_EUSAGE, "expected one %s, as in \"tacit average %s\"",
                          word == PREPARE || word == JOIN ? "folder" : "file", expected[word]);
    tacit_status status = check_flags(word, flags, err);
    if (status)
        return status;
    switch (word) {
    case PREPARE:
        return in_flags(prepare(args->words[1], flags, err), err);
    case JOIN:
        return average_join(args->words[1], flags, err);
    case SIMULATE:
        return in_flags(average_simulate(args->words[1], flags, err), err);
    default:
        return average_verify(args->words[1], flags, err);
    }
}

const cli_verb cli_average = {
    .name = "average",
    .argument = "prepare|join|simulate|verify PATH",
    .summary = "a private mean, sum or histogram of what peers hold",
    .prose =
        "N peers each hold a number, a row of numbers or several rows. All of them learn the mean "
        "(or sum, or histogram) over those who took part, with noise for epsilon, and nobody "
        "learns more, not even who adds up and lies; the noise is made of shares, and there is "
        "about a fifth more of it than somebody trusted would add. prepare writes a folder in "
        "which they meet, with a key for each; join is one real peer, from what it holds to the "
        "result; killed and started again with "
        "the same words, it goes on. simulate does all of it in one process. verify adds up what "
        "was published, signed, and checks who signed: exit code 6 if anything is wrong. Numbers "
        "out of range are brought to its nearer end by their owner. docs/average.md says what an "
        "adversary sees.",
    .flags = &section,
    .words = words,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
