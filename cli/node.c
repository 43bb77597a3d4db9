/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit node: one real peer, from its file to the end of its run. What happens goes to a log;
 * what came of it into the node's folder, readable by its owner alone where no epsilon covers it.
 */
#include "node.h"
#include "lifetime.h"
#include "log_lines.h"
#include "terminal.h"
#include "verbs.h"

#include "base/writer.h"
#include "report/json_read.h"
#include "runtime/node/log.h"
#include "tacit/consortium.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct node_flags {
    bool json, quiet;
    char config[TACIT_TEXT_MAX];
    char json_log[TACIT_TEXT_MAX];
    char accept_spent[TACIT_TEXT_MAX];
} node_flags;

#define AT(member) .offset = offsetof(node_flags, member)
static const tacit_option options[] = {
    {.key = "config",
     .type = TACIT_OPT_TEXT,
     .fallback = "node.yaml",
     .letter = 'c',
     .value_name = "FILE",
     .help = "what this node is: its key, its records, its folder, what was agreed on",
     AT(config)},
    {.key = "json-log",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'l',
     .value_name = "FILE",
     .help = "append what happens to this file, one JSON object a line",
     AT(json_log)},
    {.key = "accept-spent",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "RELEASES",
     .help = "charge each agent up to so many releases in all, or \"all\" that its budget has, and "
             "do not wait for neighbours to tell whether the ledgers are the latest",
     AT(accept_spent)},
    CLI_FLAG_SWITCH("json", 'j', "print summary.json at the end instead of words", AT(json)),
    CLI_FLAG_SWITCH("quiet", 'q', "on standard error only warnings and errors", AT(quiet)),
};
static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(node_flags)};

static const tacit_option set_option = {
    .key = "set",
    .type = TACIT_OPT_TEXT,
    .fallback = "",
    .letter = 's',
    .value_name = "KEY=VALUE",
    .help = "replace what the file says, as in node.log=debug; may come again"};

static const tacit_section *const sections[] = {&tacit_node_section, &tacit_consortium_section,
                                                NULL};

static const cli_example examples[] = {
    {"tacit node --config ward-b/node.yaml", "take part; Ctrl-C ends it, the same words go on"},
    {"tacit node --config node.yaml --set node.log=debug", "and say more"},
    {"tacit node -c node.yaml --json-log node.jsonl --quiet", "as a service, with a log to search"},
};

/* ---- the log ---- */

/* Lines for people on a screen, JSON where nobody looks; a file of JSON lines beside it. */
typedef struct node_logs {
    cli_log_lines lines; /* of the file, or of standard error if that is no screen */
    bool json;           /* ... is in use */
    bool screen;
    tacit_log_level least; /* on the screen */
} node_logs;

/* "peer":"ward-b","silence_seconds":4.2 as peer=ward-b silence_seconds=4.2 */
static void say_fields(const char *fields)
{
    char text[LOG_BYTES + 3];
    tacit_json_tree tree;
    const int len = snprintf(text, sizeof text, "{%s}", fields);
    if (len < 0 || (size_t)len >= sizeof text ||
        tacit_json_read(&tree, "log", text, (size_t)len, NULL) != TACIT_OK)
        return;
    for (const tacit_json_value *v = tacit_json_first(&tree, tree.values); v;
         v = tacit_json_next(&tree, v)) {
        if (v->kind == TACIT_JSON_TEXT)
            fprintf(stderr, strpbrk(v->text, " =") ? " %s=\"%s\"" : " %s=%s", v->key, v->text);
        else if (v->kind == TACIT_JSON_NUMBER)
            fprintf(stderr, " %s=%.6g", v->key, v->number);
        else if (v->kind == TACIT_JSON_BOOL)
            fprintf(stderr, " %s=%s", v->key, v->number != 0 ? "yes" : "no");
    }
    tacit_json_clear(&tree);
}

static void say_line(tacit_log_level level, const char *event, const char *fields)
{
    static const char *const names[] = {"", "", "warning: ", "error: "};
    char clock[16] = "";
    const time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(clock, sizeof clock, "%H:%M:%S", &local);
    const bool loud = level >= TACIT_LOG_WARN && cli_has_style(stderr);
    fprintf(stderr, "%s %s%s%s%s", clock, loud ? "\033[1m" : "", names[level], event,
            loud ? "\033[0m" : "");
    say_fields(fields);
    fputc('\n', stderr);
}

static void on_log(void *ctx, tacit_log_level level, const char *event, const char *fields)
{
    node_logs *logs = ctx;
    if (logs->json)
        cli_log_line(&logs->lines, level, event, fields);
    if (logs->screen && level >= logs->least)
        say_line(level, event, fields);
}

/* The file is opened before anything is started: a service without its log is not wanted. */
static tacit_status open_logs(node_logs *logs, const node_flags *flags, const char *name,
                              tacit_log_level level, tacit_error *err)
{
    *logs = (node_logs){.screen = cli_is_screen(stderr),
                        .least = flags->quiet ? TACIT_LOG_WARN : level};
    if (!*flags->json_log && logs->screen)
        return TACIT_OK;
    logs->json = true;
    FILE *file = *flags->json_log ? cli_append_secret(flags->json_log) : stderr;
    if (!file)
        return tacit_fail(err, TACIT_EINPUT, "cannot open the log \"%.300s\": %s", flags->json_log,
                          strerror(errno));
    logs->lines =
        (cli_log_lines){.file = file, .node = name, .least = file == stderr ? logs->least : level};
    return TACIT_OK;
}

static void close_logs(node_logs *logs)
{
    if (logs->json && logs->lines.file && logs->lines.file != stderr)
        fclose(logs->lines.file);
}

/* ---- the node ---- */

static void log_leaks(const tacit_peer *peer, const tacit_node_plan *plan)
{
    const char *words[TACIT_LEAKS];
    const size_t count = tacit_peer_leaks(peer, words);
    for (size_t k = 0; k < count; k++) {
        log_fields f;
        log_begin(&f);
        log_text(&f, "what", words[k]);
        plan->log(plan->log_ctx, TACIT_LOG_WARN, "uncharged", log_end(&f));
    }
}

/* Of a record among those of this node: with others' there are more, and delta should be less. */
static void warn_delta(const tacit_peer *peer, const tacit_node_plan *plan)
{
    char text[120];
    log_fields f;
    if (plan->privacy.mechanism == TACIT_MECHANISM_NONE || plan->privacy.unit == TACIT_UNIT_USER ||
        plan->privacy.delta * (double)tacit_peer_records(peer) < 1)
        return;
    snprintf(text, sizeof text, "delta %g is not below 1/records; agree on 1e-5 or less",
             plan->privacy.delta);
    log_begin(&f);
    log_text(&f, "what", text);
    plan->log(plan->log_ctx, TACIT_LOG_WARN, "large_delta", log_end(&f));
}

static void say_summary(const tacit_node_status *s, const tacit_node_plan *plan)
{
    char messages[40], bytes[40], epsilon[40];
    double most = 0;
    uint64_t refused = 0;
    for (uint32_t k = 0; k < s->agent_count; k++)
        most = s->agents[k].epsilon > most ? s->agents[k].epsilon : most;
    for (int k = 0; k < TACIT_REFUSALS; k++)
        refused += s->refused[k];
    cli_count(s->traffic.messages, messages, sizeof messages);
    cli_bytes(s->traffic.bytes, bytes, sizeof bytes);
    cli_epsilon(most, epsilon, sizeof epsilon);
    printf("%s%s%s: %s, %s at time %.4g of %g, %u agent%s here\n", cli_bold(), s->name, cli_plain(),
           s->protocol, s->phase, s->time, s->until, s->agent_count,
           s->agent_count == 1 ? "" : "s");
    printf("  %-22s%s (%s)\n", "messages sent", messages, bytes);
    cli_count(refused, messages, sizeof messages);
    printf("  %-22s%s\n", "frames refused", messages);
    char text[700];
    snprintf(text, sizeof text,
             "epsilon %s at delta %g for one %s (adjacency %s), against an adversary \"%s\"",
             epsilon,
             tacit_rounded_up(s->agent_count > 0 ? s->agents[0].delta : plan->privacy.delta),
             s->unit, s->adjacency, s->adversary);
    printf("  %-22s", "privacy");
    cli_wrap(text, 24, 24);
    if (s->lifetime) {
        cli_lifetime_words(s->lifetime, text, sizeof text);
        printf("  %-22s", "all runs");
        cli_wrap(text, 24, 24);
    }
    printf("  %-22s%s/\n", "folder", plan->options->folder);
}

typedef struct ending {
    const tacit_node_plan *plan;
    const node_flags *flags;
} ending;

/* summary.json on standard output, or what it says in words. */
static tacit_status tell(void *ctx, const tacit_node *node, const char *summary, tacit_error *err)
{
    const ending *e = ctx;
    tacit_node_status look;
    if (e->flags->json) {
        fputs(summary, stdout);
        return TACIT_OK;
    }
    if (e->flags->quiet || !isatty(STDOUT_FILENO))
        return TACIT_OK;
    tacit_status status = tacit_node_look(node, &look, err);
    if (status)
        return status;
    say_summary(&look, e->plan);
    tacit_node_status_clear(&look);
    return TACIT_OK;
}

/* A number of releases, or all of them. */
static tacit_status read_accepted(const char *text, uint64_t *out, tacit_error *err)
{
    char *end = NULL;
    *out = 0;
    if (*text == '\0')
        return TACIT_OK;
    if (strcmp(text, "all") == 0) {
        *out = UINT64_MAX;
        return TACIT_OK;
    }
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (errno || *text < '0' || *text > '9' || *end != '\0' || number == 0 || number > INT64_MAX)
        return tacit_fail(
            err, TACIT_EUSAGE,
            "\"--accept-spent\" takes a number of releases or \"all\", not \"%.100s\"", text);
    *out = number;
    return TACIT_OK;
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const node_flags *flags = args->flags;
    node_logs logs;
    tacit_peer *peer = NULL;
    if (args->word_count > 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "unexpected word \"%.100s\"; did you mean \"--config %.100s\"?",
                          args->words[0], args->words[0]);
    uint64_t accepted;
    tacit_status status = read_accepted(flags->accept_spent, &accepted, err);
    if (status)
        return status;
    cli_node_process();
    status = tacit_peer_open(&peer, flags->config, args->repeated, args->repeated_count, err);
    if (status)
        return status;
    tacit_node_plan plan = *tacit_peer_plan(peer);
    status = open_logs(&logs, flags, plan.members[plan.self].name,
                       (tacit_log_level)plan.options->log, err);
    if (status)
        goto out;
    plan.accept_spent = accepted;
    plan.log = on_log;
    plan.log_ctx = &logs;
    log_leaks(peer, &plan);
    warn_delta(peer, &plan);
    status = cli_node_run(peer, &plan, tell, &(ending){&plan, flags}, err);
    close_logs(&logs);
out:
    tacit_peer_close(peer);
    return status;
}

const cli_verb cli_node = {
    .name = "node",
    .summary = "be one real peer: host agents and speak with others",
    .prose = "Hosts the agents that a consortium's list gives to this node, with their records "
             "and ledgers, and speaks to the other nodes over encrypted links until the run ends. "
             "What must not be forgotten is on the disk before it is said: killed at any moment "
             "and started again with the same words, it goes on where it was and never speaks with "
             "fresh noise about what it has spoken of. Ctrl-C ends it cleanly, a second Ctrl-C "
             "at once. Its file has the sections node and data; what was agreed on is in the file "
             "that node.consortium names. Its folder holds the ledgers, models.npy (for its owner "
             "alone) and "
             "summary.json at the end, and while it runs status.port, the port at which /metrics, "
             "/health and /status are shown. The log is for people on a terminal and JSON lines "
             "elsewhere; nothing secret is ever in it.",
    .flags = &section,
    .repeated = &set_option,
    .sections = sections,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
