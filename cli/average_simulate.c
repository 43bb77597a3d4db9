/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit average simulate: what would come out, and how exact it would be. All peers are agents of
 * one process, which sees what they hold. Their records go through a file in memory: however this
 * ends, nothing of them is left on a disk. Noise, masks and keys are the system's, so that the
 * printed epsilon holds; with --seed they can be repeated and subtracted by anybody, which is said.
 */
#include "average.h"
#include "terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Records and no edges. */
typedef struct paper {
    int records, edges;
} paper;

#define PAPER_PATH "/proc/self/fd/%d"

static tacit_status put(int *file, const char *name, char *text, tacit_error *err)
{
    char path[40];
    *file = memfd_create(name, MFD_CLOEXEC);
    if (*file < 0) {
        free(text);
        return tacit_fail(err, TACIT_EINPUT, "cannot make a file in memory: %s", strerror(errno));
    }
    snprintf(path, sizeof path, PAPER_PATH, *file);
    return cli_write_secret(path, text, true, err);
}

static tacit_status put_paper(paper *p, const tacit_held *values, const tacit_question *q,
                              tacit_error *err)
{
    tacit_status status = put(&p->records, "values", tacit_held_records(values, q, true), err);
    return status ? status : put(&p->edges, "edges", strdup("# none\n"), err);
}

static void take_paper(const paper *p)
{
    if (p->records >= 0)
        close(p->records);
    if (p->edges >= 0)
        close(p->edges);
}

static tacit_status configure(tacit_experiment *x, const paper *p, const tacit_average_plan *plan,
                              int64_t seed, tacit_error *err)
{
    tacit_config config;
    char set[6][120];
    snprintf(set[0], sizeof set[0], "data.source=csv");
    snprintf(set[1], sizeof set[1], "data.path=" PAPER_PATH, p->records);
    snprintf(set[2], sizeof set[2], "data.test-fraction=0");
    snprintf(set[3], sizeof set[3], "graph.kind=edges");
    snprintf(set[4], sizeof set[4], "graph.path=" PAPER_PATH, p->edges);
    snprintf(set[5], sizeof set[5], "run.seed=%" PRId64, seed < 0 ? 0 : seed);
    tacit_config_init(&config);
    tacit_status status = tacit_average_config(&config, plan, err);
    for (size_t k = 0; k < sizeof set / sizeof *set && !status; k++)
        status = tacit_config_set(&config, set[k], err);
    if (!status)
        status = tacit_experiment_init(x, &config, err);
    tacit_config_clear(&config);
    return status;
}

static tacit_status tell(tacit_session *session, const tacit_experiment *x, const tacit_question *q,
                         const average_flags *flags, tacit_error *err)
{
    tacit_answer answer;
    const uint64_t peers = tacit_session_graph(session)->agents;
    tacit_status status = tacit_answer_of_session(&answer, q, session, err);
    if (status == TACIT_NO)
        return tacit_fail(err, TACIT_EPEER,
                          "no sum came out: too few of %" PRIu64 " peers stayed to the end", peers);
    if (status)
        return status;
    char sees[TACIT_AVERAGE_SEES];
    tacit_average_sees(sees, sizeof sees, x);
    const average_result result = {
        .question = q,
        .peers = peers,
        .members = answer.members,
        .records = x->privacy.unit == TACIT_UNIT_RECORD ? answer.records : 0,
        .value = answer.value,
        .error = answer.noise,
        .epsilon = tacit_session_epsilon(session),
        .delta = x->privacy.delta + answer.more_delta,
        .unit = tacit_unit_name((tacit_unit)x->privacy.unit),
        .adjacency = tacit_adjacency_name((tacit_adjacency)x->privacy.adjacency),
        .adversary = tacit_trust_name(tacit_protocol_trust(x->protocol, x->protocol_options)),
        .sees = sees,
        .rehearsal = flags->seed >= 0};
    if (flags->json)
        status = cli_print_text(average_json(&result), err);
    else
        average_say(&result);
    tacit_answer_clear(&answer);
    return status;
}

static tacit_status simulate(const tacit_held *values, const tacit_question *q,
                             const average_flags *flags, tacit_error *err)
{
    tacit_average_plan plan = average_plan(flags);
    tacit_experiment x = {0};
    tacit_session *session = NULL;
    paper p = {.records = -1, .edges = -1};
    plan.peers = (uint32_t)values->rows;
    tacit_status status = put_paper(&p, values, q, err);
    if (!status)
        status = configure(&x, &p, &plan, flags->seed, err);
    if (!status)
        status = tacit_session_create(&session, &x, cli_threads(flags->threads), err);
    take_paper(&p);
    if (!status)
        cli_warn_delta(session, &x);
    if (!status && flags->seed < 0)
        status = tacit_session_hide(session, err);
    if (!status) {
        cli_progress progress;
        cli_progress_begin(&progress, "average", flags->quiet);
        const tacit_run_request request = {
            .stop = cli_stop(), .progress = cli_progress_step, .progress_ctx = &progress};
        cli_catch_signals();
        status = tacit_session_run(session, &request, err);
        cli_progress_end(&progress);
        if (status == TACIT_EINTERRUPTED)
            status = tacit_fail(err, status, "interrupted; no average came out");
    }
    if (!status)
        status = tell(session, &x, q, flags, err);
    tacit_session_free(session);
    tacit_experiment_clear(&x);
    return status;
}

tacit_status average_simulate(const char *path, const average_flags *flags, tacit_error *err)
{
    const tacit_average_plan plan = average_plan(flags);
    tacit_question q;
    tacit_held values;
    tacit_status status = tacit_question_make(&q, &plan.question, err);
    if (status)
        return status;
    status = tacit_held_read(&values, &q, path, err);
    if (!status && values.rows < 3)
        status = tacit_fail(err, TACIT_EINPUT,
                            "\"%.300s\" has %zu row%s; expected 3 or more, a row a peer: of two, "
                            "each would know what the other holds",
                            path, values.rows, values.rows == 1 ? "" : "s");
    if (!status) {
        if (!flags->quiet)
            average_remark_clipped(&values, &q);
        status = simulate(&values, &q, flags, err);
    }
    tacit_held_clear(&values);
    tacit_question_clear(&q);
    return status;
}
