/* SPDX-License-Identifier: Apache-2.0 */
/* What a run found, in words and numbers for people. */
#include "terminal.h"
#include "verbs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

tacit_status cli_outcome_read(cli_outcome *out, tacit_session *session, tacit_error *err)
{
    *out = (cli_outcome){.score = tacit_model_score_name(tacit_session_model(session))};
    tacit_status status = tacit_session_measure(session, &out->end, err);
    if (status != TACIT_OK)
        return status;
    const tacit_runtime *runtime = tacit_session_runtime(session);
    out->traffic = runtime->ops->traffic(runtime);
    out->releases = tacit_session_releases(session);
    out->epsilon = tacit_session_epsilon(session);
    out->delta = tacit_session_delta(session);
    return TACIT_OK;
}

void cli_epsilon(double epsilon, char *out, size_t size)
{
    if (isinf(epsilon))
        snprintf(out, size, "unbounded");
    else
        snprintf(out, size, "%.4g", epsilon);
}

void cli_bytes(uint64_t bytes, char *out, size_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    size_t u = 0;
    while (value >= 999.5 && u + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        u++;
    }
    snprintf(out, size, u == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s", value, units[u]);
}

void cli_count(uint64_t count, char *out, size_t size)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t used = 0;
    for (int i = 0; i < len && used + 2 < size; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
}

void cli_say_scored(const tacit_session *session)
{
    const tacit_dataset *data = tacit_session_data(session);
    const size_t tests = tacit_shard_rows(tacit_dataset_pooled(data, TACIT_TEST));
    const size_t checks = tacit_shard_rows(tacit_dataset_pooled(data, TACIT_VALIDATION));
    char test[40], check[40];
    if (!tacit_dataset_scores_on_all(data) || tests + checks == 0)
        return;
    cli_count(tests, test, sizeof test);
    cli_count(checks, check, sizeof check);
    if (checks == 0)
        snprintf(check, sizeof check, "no");
    printf("  %-22sall of %s test and %s validation records, every agent\n", "scored on", test,
           check);
}

/* Parts of the graph with at least two agents. */
static uint32_t count_parts(const tacit_graph *graph)
{
    uint32_t *component = malloc((size_t)graph->agents * sizeof *component);
    if (!component)
        return 1; /* a remark is not worth an error */
    tacit_graph_components(graph, component);
    uint32_t parts = 0;
    for (uint32_t i = 0; i < graph->agents; i++)
        parts += component[i] == i && graph->row[i + 1] > graph->row[i];
    free(component);
    return parts;
}

void cli_remark_lonely(tacit_session *session, const tacit_experiment *experiment)
{
    const tacit_graph *graph = tacit_session_graph(session);
    const tacit_dataset *data = tacit_session_data(session);
    uint32_t lonely = 0, empty = 0;
    for (uint32_t i = 0; i < graph->agents; i++) {
        lonely += graph->row[i + 1] == graph->row[i];
        empty += tacit_dataset_rows(data, i, TACIT_TRAIN) == 0;
    }
    char count[40], text[160];
    if (empty > 0) {
        cli_count(empty, count, sizeof count);
        snprintf(text, sizeof text, "%s agent%s no records to learn from", count,
                 empty == 1 ? " has" : "s have");
        cli_remark(text);
    }
    if (!experiment->protocol->payload) /* nobody speaks, so nobody misses a neighbour */
        return;
    if (lonely > 0) {
        cli_count(lonely, count, sizeof count);
        snprintf(text, sizeof text, "%s agent%s", count,
                 lonely == 1 ? " has no neighbours and learns alone"
                             : "s have no neighbours and learn alone");
        cli_remark(text);
    }
    uint32_t parts = count_parts(graph);
    if (parts > 1) {
        cli_count(parts, count, sizeof count);
        snprintf(text, sizeof text,
                 "the graph falls into %s parts that learn nothing from each other", count);
        cli_remark(text);
    }
}

bool cli_remark_idle(const tacit_experiment *experiment)
{
    const tacit_protocol *protocol = experiment->protocol;
    if (!(tacit_experiment_flags(experiment) & TACIT_OWN_BOUND) || !(experiment->privacy.clip > 0))
        return false;
    char text[200];
    snprintf(text, sizeof text,
             "\"privacy.clip\" has no effect on %s: what it publishes is bounded by "
             "\"protocol.radius\"%s",
             protocol->name,
             tacit_section_find(&protocol->options, "label-bound", strlen("label-bound"))
                 ? " and \"protocol.label-bound\""
                 : "");
    cli_remark(text);
    return true;
}

void cli_remark_silent(tacit_session *session, const tacit_experiment *experiment)
{
    if (!experiment->protocol->payload || experiment->privacy.mechanism == TACIT_MECHANISM_NONE ||
        tacit_session_releases(session) > 0)
        return;
    char text[200];
    snprintf(text, sizeof text,
             "nobody released anything until time %g, so nobody learned from others and nothing "
             "was spent; raise \"run.time\" if %s needs longer",
             experiment->run.time, experiment->protocol->name);
    cli_remark(text);
}

uint32_t cli_threads(int64_t wanted)
{
    if (wanted > 0)
        return (uint32_t)wanted;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > 256 ? 256 : (uint32_t)cores;
}

void cli_say_leaks(const tacit_session *session)
{
    const char *leak[TACIT_LEAKS];
    const size_t leaks = tacit_session_leaks(session, leak);
    for (size_t i = 0; i < leaks; i++) {
        printf("  %-22s", i == 0 ? "leaks, uncharged" : "");
        cli_wrap(leak[i], 24, 24);
    }
}

void cli_warn_delta(const tacit_session *session, const tacit_experiment *experiment)
{
    uint64_t units;
    char count[40], text[300];
    if (!tacit_session_delta_is_large(session, &units))
        return;
    cli_count(units, count, sizeof count);
    snprintf(text, sizeof text,
             "warning: \"privacy.delta\" is %g, and there are %s %s: telling one of them bare "
             "would keep to it; set it below 1/%s, to 1e-5 or less",
             experiment->privacy.delta, count,
             experiment->privacy.unit == TACIT_UNIT_USER ? "agents" : "training records", count);
    cli_complain(text);
}
