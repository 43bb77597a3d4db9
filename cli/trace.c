/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit run --trace FILE: what crossed the environments of a run, one JSON object a line.
 *
 * A line says that something crossed, between whom and how large it was. It never says what
 * it was: no payload, no value of a metric. So a trace of a run on private records may be
 * read by somebody who may not see the records, as far as sizes and times give nothing away.
 */
#include "report/writer.h"
#include "verbs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MAX_ROWS 5e6 /* about half a gigabyte */
#define FLUSH_AT 65536

static const char *const kinds[] = {
    [TACIT_TRACE_EVENT] = "event",     [TACIT_TRACE_SEND] = "send",
    [TACIT_TRACE_REQUEST] = "request", [TACIT_TRACE_REPLY] = "reply",
    [TACIT_TRACE_TIMER] = "timer",     [TACIT_TRACE_RESERVE] = "reserve",
    [TACIT_TRACE_RELEASE] = "release", [TACIT_TRACE_METRIC] = "metric",
    [TACIT_TRACE_GIVE] = "give",
};

static const char *const events[] = {
    [TACIT_START] = "start",
    [TACIT_WAKE] = "wake",
    [TACIT_TIMER] = "timer",
    [TACIT_ROUND] = "round",
    [TACIT_MESSAGE] = "message",
    [TACIT_REQUEST] = "request",
    [TACIT_REPLY] = "reply",
    [TACIT_NO_REPLY] = "no-reply",
    [TACIT_PEER_UP] = "peer-up",
    [TACIT_PEER_DOWN] = "peer-down",
    [TACIT_GROUP_RESULT] = "group-result",
    [TACIT_FINISH] = "finish",
};

/* A tick is four rows (wake, reserve, release, send) and one message for each neighbour. */
static double expected_rows(const tacit_session *session, const tacit_experiment *experiment)
{
    const tacit_graph *graph = tacit_session_graph(session);
    double ends = (double)graph->row[graph->agents], agents = graph->agents;
    double ticks = tacit_experiment_flags(experiment) & TACIT_WAKES ? experiment->run.time : 1;
    return (ticks + 1) * (4 * agents + ends);
}

tacit_status cli_trace_open(cli_trace *t, const char *path, tacit_session *session,
                            const tacit_experiment *experiment, tacit_error *err)
{
    *t = (cli_trace){.path = path};
    double rows = expected_rows(session, experiment);
    if (rows > MAX_ROWS)
        return tacit_fail(err, TACIT_EINPUT,
                          "--trace would write about %.2g lines, and at most %.0g fit in memory; "
                          "use fewer agents or a shorter \"run.time\"",
                          rows, MAX_ROWS);
    t->file = fopen(path, "wx");
    if (!t->file)
        return tacit_fail(err, TACIT_EINPUT, "cannot make the trace \"%.300s\": %s", path,
                          strerror(errno));
    t->trace = tacit_trace_create();
    if (!t->trace) {
        cli_trace_close(t, false, NULL);
        return tacit_out_of_memory(err);
    }
    tacit_session_runtime(session)->trace = t->trace;
    return TACIT_OK;
}

static void put_agent(tacit_json *json, const char *key, tacit_agent agent)
{
    if (agent == TACIT_NOBODY)
        tacit_json_null(json, key);
    else
        tacit_json_count(json, key, agent);
}

static void put_row(tacit_writer *out, const tacit_trace_row *row)
{
    bool speaks = row->kind == TACIT_TRACE_SEND || row->kind == TACIT_TRACE_REQUEST ||
                  row->kind == TACIT_TRACE_REPLY;
    tacit_json json = {.out = out, .compact = true};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_real(&json, "time", row->time);
    tacit_json_count(&json, "agent", row->agent);
    tacit_json_text(&json, "what", kinds[row->kind]);
    if (row->kind == TACIT_TRACE_EVENT)
        tacit_json_text(&json, "event", events[row->event]);
    if (row->name)
        tacit_json_text(&json, "name", row->name);
    if (speaks || row->peer != TACIT_NOBODY) /* null: to all neighbours */
        put_agent(&json, "peer", row->peer);
    if (speaks || row->payload) {
        tacit_json_count(&json, "channel", row->at.channel);
        tacit_json_count(&json, "kind", row->at.kind);
    }
    if (row->id)
        tacit_json_count(&json, "id", row->id);
    if (row->status != TACIT_OK)
        tacit_json_count(&json, "status", (uint64_t)row->status);
    if (row->payload)
        tacit_json_count(&json, "bytes", tacit_public_shape(row->payload)->bytes);
    tacit_json_end(&json, '}');
}

static bool put_rows(const cli_trace *t)
{
    const tacit_trace_row *row;
    size_t count = tacit_trace_rows(t->trace, &row);
    tacit_writer out = {0};
    bool good = true;
    for (size_t k = 0; k < count && good; k++) {
        put_row(&out, &row[k]);
        if (out.len < FLUSH_AT && k + 1 < count)
            continue;
        good = !out.failed && fwrite(out.text, 1, out.len, t->file) == out.len;
        out.len = 0;
    }
    tacit_writer_clear(&out);
    return good;
}

tacit_status cli_trace_close(cli_trace *t, bool keep, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (t->file) {
        errno = 0;
        bool good = keep && put_rows(t);
        good = fclose(t->file) == 0 && good;
        if (keep && !good)
            status = tacit_fail(err, TACIT_EINPUT, "cannot write the trace \"%.300s\": %s", t->path,
                                strerror(errno ? errno : ENOMEM));
        if (!good)
            unlink(t->path);
    }
    tacit_trace_free(t->trace);
    *t = (cli_trace){0};
    return status;
}
