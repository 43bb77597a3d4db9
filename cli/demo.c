/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit demo: the linear-separator task of paper 000 section 5.1, five ways, with nothing
 * but the program itself. Agents have between 10 and 100 records each, and similar agents
 * have similar targets: those with few records have most to gain from their neighbours.
 */
#include "report/writer.h"
#include "terminal.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char demo_yaml[] = "run:\n"
                                "  name: demo\n"
                                "  time: 100\n"
                                "  every: 0\n"
                                "data:\n"
                                "  source: linear-separators\n"
                                "  agents: 100\n"
                                "  dimension: 100\n"
                                "  min-records: 10\n"
                                "  max-records: 100\n"
                                "  bound: l2\n"
                                "graph:\n"
                                "  kind: similarity\n"
                                "model:\n"
                                "  loss: logistic\n";

/* A protocol, and what it needs beside the common part. */
#define MOST_SETS 6
static const struct {
    const char *label, *name, *set[MOST_SETS], *says;
} contestants[] = {
    {"alone",
     "alone",
     {"model.lambda-records=0.1"}, /* tuned: docs/studies/personalized-private.md */
     "each agent learns from its own records"},
    {"global", "global", {NULL}, "one model from all records, pooled in one place"},
    {"cd",
     "cd",
     {"protocol.mu=5"},
     "agents keep their records and exchange models with similar agents, bare"},
    {"one-shot",
     "one-shot",
     {"privacy.mechanism=gaussian", "privacy.epsilon=5"},
     "each says one vector about its records, under exact discrete noise, and makes its model at "
     "home"},
    {"chorus",
     "chorus",
     {"privacy.mechanism=gaussian", "privacy.clip=0.5", "privacy.epsilon=1"},
     "the vectors are only ever seen as sums over all agents (computed here by an ideal function), "
     "with the same noise once"},
};
enum { ALONE, GLOBAL, CD, ONE_SHOT, CHORUS, CONTESTANTS };

static const struct {
    uint32_t least, most;
} groups[] = {{10, 32}, {33, 55}, {56, 77}, {78, 100}};
#define GROUPS (sizeof groups / sizeof *groups)

typedef struct row {
    cli_outcome outcome;
    double group[GROUPS]; /* mean score of the agents with that many records */
    uint32_t members[GROUPS];
    tacit_trust trust;
    char sees[TACIT_SEES];
    tacit_privacy_options privacy;
} row;

typedef struct demo_flags {
    int64_t seed, threads;
    bool json;
} demo_flags;

static const tacit_option options[] = {
    {.key = "seed",
     .type = TACIT_OPT_INT,
     .fallback = "1",
     .min = 0,
     .max = 9007199254740992.0,
     .letter = 's',
     .help = "another draw of agents, records and clocks",
     .offset = offsetof(demo_flags, seed)},
    CLI_FLAG_THREADS(.offset = offsetof(demo_flags, threads)),
    CLI_FLAG_SWITCH("json", 'j', "print one object, schema tacit.demo/1, instead of the table",
                    .offset = offsetof(demo_flags, json)),
};
static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(demo_flags)};

/* ---- running ---- */

static tacit_status score_groups(row *out, tacit_session *session, tacit_error *err)
{
    const tacit_dataset *data = tacit_session_data(session);
    uint32_t agents = tacit_dataset_agents(data);
    double *scores = calloc(agents, sizeof *scores);
    if (!scores)
        return tacit_out_of_memory(err);
    tacit_session_scores(session, TACIT_TEST, scores);
    for (size_t g = 0; g < GROUPS; g++) {
        double sum = 0;
        for (uint32_t i = 0; i < agents; i++) {
            uint32_t records = tacit_dataset_rows(data, i, TACIT_TRAIN);
            if (records >= groups[g].least && records <= groups[g].most && !isnan(scores[i])) {
                sum += scores[i];
                out->members[g]++;
            }
        }
        out->group[g] = out->members[g] ? sum / out->members[g] : NAN;
    }
    free(scores);
    return TACIT_OK;
}

static tacit_status configure(tacit_config *config, size_t which, int64_t seed, tacit_error *err)
{
    char name[80], number[60];
    snprintf(name, sizeof name, "protocol.name=%s", contestants[which].name);
    snprintf(number, sizeof number, "run.seed=%lld", (long long)seed);
    tacit_status status =
        tacit_config_parse(config, "demo.yaml", demo_yaml, sizeof demo_yaml - 1, err);
    if (status == TACIT_OK)
        status = tacit_config_set(config, name, err);
    if (status == TACIT_OK)
        status = tacit_config_set(config, number, err);
    for (size_t k = 0; k < MOST_SETS && contestants[which].set[k] && status == TACIT_OK; k++)
        status = tacit_config_set(config, contestants[which].set[k], err);
    return status;
}

static tacit_status run_one(row *out, size_t which, const demo_flags *flags, tacit_error *err)
{
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_session *session = NULL;
    cli_progress progress;
    tacit_config_init(&config);
    tacit_status status = configure(&config, which, flags->seed, err);
    if (status != TACIT_OK)
        goto out;
    status = tacit_experiment_init(&experiment, &config, err);
    if (status != TACIT_OK)
        goto out;
    status = tacit_session_create(&session, &experiment, cli_threads(flags->threads), err);
    if (status != TACIT_OK)
        goto out;
    cli_progress_begin(&progress, contestants[which].label, false);
    const tacit_run_request request = {
        .stop = cli_stop(), .progress = cli_progress_step, .progress_ctx = &progress};
    status = tacit_session_run(session, &request, err);
    cli_progress_end(&progress);
    if (status == TACIT_OK)
        status = cli_outcome_read(&out->outcome, session, err);
    if (status == TACIT_OK)
        status = score_groups(out, session, err);
    out->trust = tacit_protocol_trust(experiment.protocol, experiment.protocol_options);
    tacit_protocol_sees(experiment.protocol, experiment.protocol_options, out->sees);
    out->privacy = experiment.privacy;
out:
    tacit_session_free(session);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return status;
}

/* ---- showing ---- */

/* Half of all answers are right by guessing, so that is where bars begin. */
static double above_guessing(double accuracy)
{
    return 2 * (accuracy - 0.5);
}

static void show_table(const row *rows)
{
    const char *sign = cli_has_unicode() ? "±" : "+-";
    printf("%s%-10s %-15s  %-18s %11s %10s  %s%s\n", cli_bold(), "protocol", "test accuracy",
           "0.5            1.0", "messages", "sent", "epsilon", cli_plain());
    for (size_t i = 0; i < CONTESTANTS; i++) {
        const cli_outcome *o = &rows[i].outcome;
        char messages[40], bytes[40], epsilon[40];
        cli_count(o->traffic.messages, messages, sizeof messages);
        cli_bytes(o->traffic.bytes, bytes, sizeof bytes);
        cli_epsilon(o->epsilon, epsilon, sizeof epsilon);
        printf("%-10s %.3f %s %.3f%*s  ", contestants[i].label, o->end.test, sign,
               o->end.test_deviation, cli_has_unicode() ? 2 : 1, "");
        cli_bar(above_guessing(o->end.test), 18, false);
        printf(" %11s %10s  %s\n", messages, bytes, epsilon);
    }
}

static void show_privacy(const row *rows)
{
    const tacit_privacy_options *privacy = &rows[0].privacy;
    printf("\n%sWho learns what%s (epsilon is for one %s, adjacency %s, at delta %g)\n", cli_bold(),
           cli_plain(), tacit_unit_name((tacit_unit)privacy->unit),
           tacit_adjacency_name((tacit_adjacency)privacy->adjacency), privacy->delta);
    for (size_t i = 0; i < CONTESTANTS; i++) {
        char text[TACIT_SEES + 300], epsilon[40];
        cli_epsilon(rows[i].outcome.epsilon, epsilon, sizeof epsilon);
        snprintf(text, sizeof text, "%s; epsilon %s against an adversary (%s) who sees %s",
                 contestants[i].says, epsilon, tacit_trust_name(rows[i].trust), rows[i].sees);
        printf("%-10s ", contestants[i].label);
        cli_wrap(text, 11, 11);
    }
}

static void show_groups(const row *rows)
{
    printf("\n%sAccuracy by the number of records an agent has%s (bars: 0.5 to 1)\n", cli_bold(),
           cli_plain());
    for (size_t g = 0; g < GROUPS; g++) {
        static const size_t shown[] = {ALONE, CD, ONE_SHOT, CHORUS};
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
            const row *r = &rows[shown[k]];
            char label[40] = "";
            if (k == 0)
                snprintf(label, sizeof label, "%3u to %3u", groups[g].least, groups[g].most);
            if (r->members[g] == 0)
                continue;
            printf("%-12s %-10s %.3f  ", label, contestants[shown[k]].label, r->group[g]);
            cli_bar(above_guessing(r->group[g]), 40, true);
            putchar('\n');
        }
    }
}

static void show_sentence(const row *rows, int64_t seed)
{
    const row *alone = &rows[ALONE], *cd = &rows[CD];
    const row *one_shot = &rows[ONE_SHOT], *chorus = &rows[CHORUS];
    size_t few = 0;
    while (few + 1 < GROUPS && alone->members[few] == 0)
        few++;
    char text[1200];
    snprintf(text, sizeof text,
             "What one sees: agents with few records gain most (%.2f alone, %.2f with cd), because "
             "they learn from others with a similar task, while one model for all (%.2f) suits "
             "%s. No record left its owner, but with cd models did, and without noise: that is why "
             "its epsilon is unbounded. Said once and noisily to each neighbour, within epsilon "
             "%.3g, it is %.2f (%.2f alone); summed over all agents before anyone looks, within "
             "epsilon %.3g, %.2f. For those with few records: %.2f and %.2f, %.2f alone.",
             alone->group[few], cd->group[few], rows[GLOBAL].outcome.end.test,
             rows[GLOBAL].outcome.end.test < cd->outcome.end.test ? "few" : "many",
             one_shot->outcome.epsilon, one_shot->outcome.end.test, alone->outcome.end.test,
             chorus->outcome.epsilon, chorus->outcome.end.test, one_shot->group[few],
             chorus->group[few], alone->group[few]);
    putchar('\n');
    cli_wrap(text, 0, 0);
    printf("\n%sNext%s\n", cli_bold(), cli_plain());
    puts("  tacit run examples/separators.yaml    the same as a file to change");
    puts("  tacit advise examples/private.yaml    is collaborating worth a budget?");
    puts("  tacit help run                        all keys, with defaults and ranges");
    printf("  tacit demo --seed %-6lld              other agents, other records\n",
           (long long)(seed + 1));
}

static void show(const row *rows, int64_t seed)
{
    printf(
        "%sLinear separators%s: 100 agents with 10 to 100 records of 100 features, seed %lld\n\n",
        cli_bold(), cli_plain(), (long long)seed);
    show_table(rows);
    show_privacy(rows);
    show_groups(rows);
    show_sentence(rows, seed);
}

static void json_row(tacit_json *json, size_t which, const row *r)
{
    const cli_outcome *o = &r->outcome;
    tacit_json_begin(json, NULL, '{');
    tacit_json_text(json, "protocol", contestants[which].name);
    tacit_json_text(json, "label", contestants[which].label);
    tacit_json_real(json, "test_accuracy", o->end.test);
    tacit_json_real(json, "test_accuracy_deviation", o->end.test_deviation);
    tacit_json_count(json, "messages", o->traffic.messages);
    tacit_json_count(json, "bytes", o->traffic.bytes);
    tacit_json_begin(json, "privacy", '{');
    tacit_json_text(json, "adversary", tacit_trust_name(r->trust));
    tacit_json_text(json, "unit", tacit_unit_name((tacit_unit)r->privacy.unit));
    tacit_json_text(json, "adjacency", tacit_adjacency_name((tacit_adjacency)r->privacy.adjacency));
    tacit_json_real(json, "epsilon", o->epsilon); /* infinity is null */
    tacit_json_bool(json, "unbounded", isinf(o->epsilon));
    tacit_json_real(json, "delta", r->privacy.delta);
    tacit_json_text(json, "mechanism", tacit_mechanism_name((tacit_mechanism)r->privacy.mechanism));
    tacit_json_end(json, '}');
    tacit_json_begin(json, "by_records", '[');
    for (size_t g = 0; g < GROUPS; g++) {
        tacit_json_begin(json, NULL, '{');
        tacit_json_count(json, "least", groups[g].least);
        tacit_json_count(json, "most", groups[g].most);
        tacit_json_count(json, "agents", r->members[g]);
        tacit_json_real(json, "test_accuracy", r->group[g]);
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, ']');
    tacit_json_end(json, '}');
}

static tacit_status show_json(const row *rows, int64_t seed, tacit_error *err)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.demo/1");
    tacit_json_count(&json, "seed", (uint64_t)seed);
    tacit_json_begin(&json, "rows", '[');
    for (size_t i = 0; i < CONTESTANTS; i++)
        json_row(&json, i, &rows[i]);
    tacit_json_end(&json, ']');
    tacit_json_end(&json, '}');
    return cli_print_text(tacit_writer_take(&out), err);
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const demo_flags *flags = args->flags;
    row rows[CONTESTANTS] = {0};
    if (args->word_count > 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "unexpected word \"%.100s\"; the demo needs no file, \"tacit run\" does",
                          args->words[0]);
    cli_catch_signals();
    for (size_t i = 0; i < CONTESTANTS; i++) {
        tacit_status status = run_one(&rows[i], i, flags, err);
        if (status == TACIT_EINTERRUPTED)
            return tacit_fail(err, status, "interrupted");
        if (status != TACIT_OK)
            return status;
    }
    if (flags->json)
        return show_json(rows, flags->seed, err);
    show(rows, flags->seed);
    return TACIT_OK;
}

static const cli_example examples[] = {
    {"tacit demo", "the table; takes seconds and writes nothing"},
    {"tacit demo --seed 2 --json", "another draw, for programs"},
};

const cli_verb cli_demo = {
    .name = "demo",
    .summary = "alone, pooled and among peers side by side; needs no files",
    .prose = "Runs a made-up task of 100 agents five times: alone (each from its own records), "
             "global (one model from all records, an oracle), cd (peers that exchange models with "
             "similar peers, bare), and privately: one-shot (one noisy vector to each neighbour, "
             "epsilon 5) and chorus (sums over all agents, epsilon 1). Shows what each reaches, "
             "sends and gives away.",
    .flags = &section,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
