/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit average join: one real peer, from what it holds to the result.
 *
 * What it holds is written to values.csv in its folder once, readable for its owner alone, and
 * never replaced: who is started again goes on with the same, so that nothing is told twice with
 * fresh noise. The result is taken from the board, which is added up here again: no word of whoever
 * added up is believed. It stays in state/average.json; who joins again when all is over reads it.
 */
#include "average.h"
#include "log_lines.h"
#include "node.h"
#include "terminal.h"

#include "base/file.h"
#include "base/writer.h"
#include "report/json_read.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VALUES "values.csv"
#define GIVEN "given.txt" /* before ranges and bins: what they are known by in other runs */
#define ANSWER "average.json"
#define BOARD "board.jsonl"
#define VALUES_MOST ((size_t)1 << 30)

typedef struct joining {
    const char *folder; /* of this peer */
    char *common;       /* of the consortium */
    const average_flags *flags;
    tacit_question question;
    tacit_peer *peer;
    tacit_node_plan plan;
    cli_log_lines log;
    uint32_t met; /* peers */
    bool shown;   /* a line of progress stands on the screen */
} joining;

static tacit_status path_in(char *out, const char *folder, const char *name, tacit_error *err)
{
    const int n = snprintf(out, CLI_PATH_MAX, "%s/%s", folder, name);
    if (n < 0 || n >= CLI_PATH_MAX)
        return tacit_fail(err, TACIT_EINPUT, "the path \"%.200s...\" is too long", folder);
    return TACIT_OK;
}

/* ---- what it holds ---- */

/* What was said before stays: `text` must be the same. It is freed. */
static tacit_status keep_values(const joining *j, char *text, tacit_error *err)
{
    char path[CLI_PATH_MAX], *old = NULL;
    size_t len;
    tacit_status status = text ? path_in(path, j->folder, VALUES, err) : tacit_out_of_memory(err);
    if (!status && access(path, F_OK) == 0) {
        status = tacit_file_read(&old, &len, path, VALUES_MOST, err);
        if (!status && strcmp(old, text) != 0)
            status = tacit_fail(err, TACIT_EINPUT,
                                "this peer has joined before and held something else: to go on "
                                "leave --values out; another number needs another folder, and its "
                                "epsilon comes on top");
        free(old);
    } else if (!status)
        status = tacit_file_create(path, 0600, text, strlen(text), "file of values", err);
    free(text);
    return status;
}

/* The numbers as they were given, a row a line. Written before the values: who has those has it. */
static tacit_status keep_given(const joining *j, const tacit_held *values, tacit_error *err)
{
    char path[CLI_PATH_MAX];
    tacit_writer out = {0};
    for (size_t k = 0; k < values->rows * values->columns; k++) {
        tacit_write_real(&out, values->given[k]);
        tacit_write_text(&out, (k + 1) % values->columns ? "," : "\n");
    }
    tacit_status status = path_in(path, j->folder, VALUES, err);
    const bool joined = !status && access(path, F_OK) == 0;
    if (!status)
        status = path_in(path, j->folder, GIVEN, err);
    if (!status && !joined) {
        unlink(path); /* of a try that did not get far */
        status = out.failed || !out.text
                     ? tacit_out_of_memory(err)
                     : tacit_file_create(path, 0600, out.text, out.len, "file of values", err);
    }
    tacit_writer_clear(&out);
    return status;
}

static tacit_status settle_values(const joining *j, tacit_error *err)
{
    char path[CLI_PATH_MAX];
    tacit_held values;
    tacit_status status = path_in(path, j->folder, VALUES, err);
    if (status)
        return status;
    if (!*j->flags->values && access(path, F_OK) == 0)
        return TACIT_OK; /* it goes on */
    status = average_read_held(&values, &j->question, j->flags->values, j->folder, err);
    if (status)
        return status;
    if (!j->flags->quiet)
        average_remark_clipped(&values, &j->question);
    status = keep_given(j, &values, err);
    if (!status)
        status = keep_values(j, tacit_held_records(&values, &j->question, false), err);
    tacit_held_clear(&values);
    return status;
}

/* ---- what happens ---- */

static void show(joining *j, const char *words)
{
    if (j->flags->quiet || !cli_is_screen(stderr))
        return;
    fprintf(stderr, "\r%s\033[K", words);
    fflush(stderr);
    j->shown = true;
}

static void on_log(void *ctx, tacit_log_level level, const char *event, const char *fields)
{
    joining *j = ctx;
    char words[100];
    cli_log_line(&j->log, level, event, fields);
    if (strcmp(event, "peer_met") == 0) {
        j->met++;
        snprintf(words, sizeof words, "%" PRIu32 " of %" PRIu32 " other peers are here", j->met,
                 j->plan.member_count - 1);
        show(j, words);
    } else if (strcmp(event, "started") == 0) {
        show(j, "adding up");
    } else if (strcmp(event, "agents_done") == 0) {
        show(j, "done; waiting for the others to be");
    }
}

static void clear_line(joining *j)
{
    if (j->shown)
        fputs("\r\033[K", stderr);
    j->shown = false;
}

/* ---- what came of it ---- */

static tacit_status say(const joining *j, const tacit_answer *answer, double epsilon,
                        const char *board, bool keep, tacit_error *err)
{
    const tacit_experiment *x = &tacit_peer_agreement(j->peer)->experiment;
    char sees[TACIT_AVERAGE_SEES];
    tacit_average_sees(sees, sizeof sees, x);
    const average_result result = {
        .question = &j->question,
        .peers = j->plan.member_count,
        .members = answer->members,
        .records = x->privacy.unit == TACIT_UNIT_RECORD ? answer->records : 0,
        .value = answer->value,
        .error = answer->noise,
        .epsilon = epsilon,
        .delta = x->privacy.delta + answer->more_delta,
        .unit = tacit_unit_name((tacit_unit)x->privacy.unit),
        .adjacency = tacit_adjacency_name((tacit_adjacency)x->privacy.adjacency),
        .adversary = tacit_trust_name(tacit_protocol_trust(x->protocol, x->protocol_options)),
        .sees = sees,
        .board = board};
    tacit_status status = TACIT_OK;
    if (keep)
        status = cli_node_put(j->plan.options->folder, ANSWER, average_json(&result), err);
    if (!status && j->flags->json)
        status = cli_print_text(average_json(&result), err);
    else if (!status)
        average_say(&result);
    return status;
}

/* From the board as it is in its file, added up and its signatures checked by the list of members
 * that this peer has. */
static tacit_status read_answer(tacit_answer *answer, const joining *j, const char *path,
                                uint64_t releases, tacit_error *err)
{
    tacit_board_file f;
    tacit_roster known;
    const tacit_agreement *a = tacit_peer_agreement(j->peer);
    tacit_status status = tacit_roster_read(&known, a->consortium.members, err);
    if (status)
        return status;
    status = tacit_board_file_read(&f, path, err);
    if (!status) {
        status = tacit_board_file_check(&f, &known, err);
        if (!status && memcmp(f.board.run, j->plan.run, sizeof f.board.run) != 0)
            status = tacit_fail(err, TACIT_EVERIFY, "\"%.300s\" is the board of another run", path);
        if (!status) /* it hosts one */
            status = tacit_average_paid(&f.board, j->plan.hosted[0].agent, releases, err);
        if (!status)
            status = tacit_answer_of_board(answer, &j->question, &a->experiment, j->plan.agents,
                                           &f.board, err);
        tacit_board_file_clear(&f);
    }
    tacit_roster_clear(&known);
    return status;
}

/* Why there is no answer, and what that cost. */
static tacit_status say_none(const joining *j, const tacit_node *node, tacit_error *err)
{
    tacit_node_status look;
    tacit_status status = tacit_node_look(node, &look, err);
    if (status)
        return status;
    const bool paid = look.agents[0].releases > 0; /* it hosts one */
    tacit_node_status_clear(&look);
    return tacit_fail(err, TACIT_EPEER,
                      "no sum came out: too few peers were there, or too many got lost before the "
                      "end; %s; what happened is in \"%.300s/log.jsonl\"",
                      paid ? "this peer had said its word, under masks, and its budget is spent"
                           : "nothing was spent",
                      j->folder);
}

static tacit_status tell(void *ctx, const tacit_node *node, const char *summary, tacit_error *err)
{
    joining *j = ctx;
    char path[CLI_PATH_MAX];
    tacit_answer answer;
    tacit_node_status look;
    (void)summary;
    clear_line(j);
    if (*cli_stop())
        return TACIT_OK; /* it may go on later */
    tacit_status status = path_in(path, j->plan.options->folder, BOARD, err);
    if (!status && access(path, F_OK) != 0)
        return say_none(j, node, err);
    if (!status)
        status = tacit_node_look(node, &look, err);
    if (status)
        return status;
    status = read_answer(&answer, j, path, look.agents[0].releases, err); /* it hosts one */
    if (!status) {
        status = say(j, &answer, look.agents[0].epsilon, path, true, err);
        tacit_answer_clear(&answer);
    }
    tacit_node_status_clear(&look);
    return status;
}

/* ---- once more ---- */

/* What was spent, as average.json says. TACIT_NO: there is none. */
static tacit_status read_epsilon(double *epsilon, const char *path, tacit_error *err)
{
    char *text;
    size_t len;
    tacit_json_tree tree;
    if (access(path, F_OK) != 0)
        return TACIT_NO;
    tacit_status status = tacit_file_read(&text, &len, path, TACIT_JSON_BYTES, err);
    if (status)
        return status;
    status = tacit_json_read(&tree, path, text, len, err);
    if (!status)
        *epsilon = tacit_json_to_real(tacit_json_member(&tree, tree.values, "epsilon"), INFINITY);
    tacit_json_clear(&tree);
    free(text);
    return status;
}

/* Over already: the same answer again. TACIT_NO: it is not. */
static tacit_status tell_again(const joining *j, tacit_error *err)
{
    char path[CLI_PATH_MAX];
    double epsilon;
    tacit_answer answer;
    tacit_status status = path_in(path, j->plan.options->folder, ANSWER, err);
    if (!status)
        status = read_epsilon(&epsilon, path, err);
    if (!status)
        status = path_in(path, j->plan.options->folder, BOARD, err);
    if (!status)
        status = read_answer(&answer, j, path, epsilon > 0, err);
    if (status)
        return status;
    if (!j->flags->quiet)
        cli_remark("this peer took part before; here is what it heard then, nothing more is spent");
    status = say(j, &answer, epsilon, path, false, err);
    tacit_answer_clear(&answer);
    return status;
}

/* ---- all of it ---- */

static tacit_status open_peer(joining *j, tacit_error *err)
{
    char path[CLI_PATH_MAX], given[CLI_PATH_MAX + 16], life[TACIT_TEXT_MAX + 16],
        set[TACIT_TEXT_MAX + 16];
    const char *sets[3];
    size_t count = 0;
    tacit_status status = path_in(path, j->folder, GIVEN, err);
    if (!status && access(path, F_OK) == 0) {
        snprintf(given, sizeof given, "node.records=%s", path);
        sets[count++] = given;
    }
    if (*j->flags->lifetime) {
        snprintf(life, sizeof life, "node.lifetime=%s", j->flags->lifetime);
        sets[count++] = life;
    }
    if (*j->flags->data_set) {
        snprintf(set, sizeof set, "node.data-set=%s", j->flags->data_set);
        sets[count++] = set;
    }
    if (!status)
        status = path_in(path, j->folder, "node.yaml", err);
    if (!status)
        status = tacit_peer_open(&j->peer, path, sets, count, err);
    if (status)
        return status;
    j->plan = *tacit_peer_plan(j->peer);
    status = tacit_average_agrees(j->common, tacit_peer_agreement(j->peer), err);
    if (status)
        return status;
    if (strcmp(j->plan.protocol->name, "gopa") == 0 &&
        tacit_dataset_features(j->plan.data) == j->question.numbers && j->plan.hosted_count == 1)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "\"%.300s\" is no peer of an average; expected a folder that \"tacit average "
                      "prepare\" made",
                      j->folder);
}

static tacit_status run(joining *j, tacit_error *err)
{
    char path[CLI_PATH_MAX];
    tacit_status status = path_in(path, j->folder, "log.jsonl", err);
    if (status)
        return status;
    FILE *file = fopen(path, "ae");
    if (!file)
        return tacit_fail(err, TACIT_EINPUT, "cannot open the log \"%.300s\": %s", path,
                          strerror(errno));
    j->log = (cli_log_lines){.file = file,
                             .node = j->plan.members[j->plan.self].name,
                             .least = (tacit_log_level)j->plan.options->log};
    j->plan.log = on_log;
    j->plan.log_ctx = j;
    status = cli_node_run(j->peer, &j->plan, tell, j, err);
    clear_line(j);
    fclose(file);
    return status;
}

tacit_status average_join(const char *folder, const average_flags *flags, tacit_error *err)
{
    joining j = {.folder = folder, .flags = flags};
    char *own = NULL;
    cli_node_process();
    tacit_status status = TACIT_OK;
    if (*flags->key && !(status = tacit_average_enter(&own, folder, flags->key, flags->wait, err)))
        j.folder = own;
    if (!status)
        status = tacit_average_place(&j.common, j.folder, err);
    if (!status)
        status = tacit_question_read(&j.question, j.common, err);
    if (!status)
        status = settle_values(&j, err);
    if (!status)
        status = open_peer(&j, err);
    if (!status && (status = tell_again(&j, err)) == TACIT_NO)
        status = run(&j, err);
    tacit_peer_close(j.peer);
    tacit_question_clear(&j.question);
    free(j.common);
    free(own);
    return status;
}
