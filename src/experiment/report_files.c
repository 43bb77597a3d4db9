/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run leaves for its report beside metrics.csv and summary.json, of bounded size
 * however many agents there are:
 *
 *     agents.csv   at most TACIT_REPORT_AGENTS agents, evenly spaced
 *     sizes.csv    all agents, in at most TACIT_REPORT_BINS bins by number of training records
 *     degrees.csv  how many agents have how many neighbours, TACIT_REPORT_DEGREES rows or so
 *     edges.csv    the graph itself, while it is small enough to be drawn
 *
 * An empty cell means that there is nothing to measure.
 */
#include <math.h>
#include <stdlib.h>

#include "experiment/report.h"
#include "experiment/report_quantiles.h"

/* ---- agents.csv ---- */

static void write_agent(tacit_writer *out, const tacit_session *s, const tacit_measure *m,
                        uint32_t agent)
{
    char number[TACIT_NUMBER_MAX];
    const double cells[] = {tacit_dataset_rows(s->source.data, agent, TACIT_TRAIN),
                            (double)(s->graph.row[agent + 1] - s->graph.row[agent]),
                            s->graph.degree[agent],
                            m->test[agent],
                            m->validation[agent],
                            m->loss[agent]};
    tacit_write_format(out, "%u,", agent);
    tacit_csv_text(out, tacit_dataset_name(s->source.data, agent, number));
    for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
        tacit_write_text(out, ",");
        tacit_csv_cell(out, cells[k]);
    }
    tacit_write_text(out, "\n");
}

static char *agents_text(const tacit_session *s, const tacit_measure *measure)
{
    tacit_writer out = {0};
    tacit_write_text(&out, TACIT_AGENTS_HEADER "\n");
    uint32_t agents = s->graph.agents;
    uint32_t count = agents < TACIT_REPORT_AGENTS ? agents : TACIT_REPORT_AGENTS;
    for (uint32_t k = 0; k < count; k++)
        write_agent(&out, s, measure, tacit_sampled(agents, count, k));
    return tacit_writer_take(&out);
}

/* ---- sizes.csv ---- */

typedef struct sized {
    uint32_t records, agent;
} sized;

static int by_records(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->records != y->records)
        return x->records < y->records ? -1 : 1;
    return x->agent < y->agent ? -1 : x->agent > y->agent;
}

/* Agents all[begin..end), which have all[begin].records to all[end - 1].records. */
static void write_bin(tacit_writer *out, const sized *all, size_t begin, size_t end,
                      const double *score, double *spare)
{
    double q[TACIT_QUANTILES];
    size_t count = 0;
    for (size_t i = begin; i < end; i++)
        if (!isnan(score[all[i].agent]))
            spare[count++] = score[all[i].agent];
    double mean = count ? tacit_pairwise_sum(spare, count) / (double)count : NAN;
    tacit_quantiles(spare, count, q);
    tacit_write_format(out, "%u,%u,%zu,", all[begin].records, all[end - 1].records, end - begin);
    tacit_csv_cell(out, mean);
    for (size_t k = 0; k < TACIT_QUANTILES; k++) {
        tacit_write_text(out, ",");
        tacit_csv_cell(out, q[k]);
    }
    tacit_write_text(out, "\n");
}

/* Every size a bin of its own if there are few; else bins of about as many agents each, and
 * agents with the same number of records in the same bin. */
static void write_bins(tacit_writer *out, const sized *all, size_t n, const double *score,
                       double *spare)
{
    size_t distinct = 0;
    for (size_t i = 0; i < n; i++)
        distinct += i == 0 || all[i].records != all[i - 1].records;
    size_t wanted = distinct <= TACIT_REPORT_BINS ? 1 : n / TACIT_REPORT_BINS + 1;
    for (size_t begin = 0, end; begin < n; begin = end) {
        end = begin + wanted < n ? begin + wanted : n;
        while (end < n && all[end].records == all[end - 1].records)
            end++;
        write_bin(out, all, begin, end, score, spare);
    }
}

static char *sizes_text(const tacit_session *s, const tacit_measure *measure)
{
    const size_t n = s->graph.agents;
    tacit_writer out = {0};
    sized *all = calloc(n + 1, sizeof *all);
    double *spare = calloc(n + 1, sizeof *spare);
    out.failed = !all || !spare;
    for (uint32_t i = 0; i < n && !out.failed; i++)
        all[i] = (sized){tacit_dataset_rows(s->source.data, i, TACIT_TRAIN), i};
    tacit_write_text(&out, TACIT_SIZES_HEADER "\n");
    if (!out.failed) {
        qsort(all, n, sizeof *all, by_records);
        write_bins(&out, all, n, measure->test, spare);
    }
    free(all);
    free(spare);
    return tacit_writer_take(&out);
}

/* ---- degrees.csv ---- */

static size_t neighbours(const tacit_graph *g, uint32_t agent)
{
    return (size_t)(g->row[agent + 1] - g->row[agent]);
}

static char *degrees_text(const tacit_graph *g)
{
    tacit_writer out = {0};
    size_t most = 0;
    for (uint32_t i = 0; i < g->agents; i++)
        most = neighbours(g, i) > most ? neighbours(g, i) : most;
    const size_t width = most / TACIT_REPORT_DEGREES + 1, bins = most / width + 1;
    uint32_t *count = calloc(bins, sizeof *count);
    out.failed = !count;
    for (uint32_t i = 0; i < g->agents && count; i++)
        count[neighbours(g, i) / width]++;
    tacit_write_text(&out, TACIT_DEGREES_HEADER "\n");
    for (size_t k = 0; k < bins && count; k++)
        if (count[k] > 0)
            tacit_write_format(&out, "%zu,%zu,%u\n", k * width, (k + 1) * width - 1, count[k]);
    free(count);
    return tacit_writer_take(&out);
}

/* ---- edges.csv ---- */

static bool is_drawn(const tacit_graph *g)
{
    return g->agents <= TACIT_NETWORK_AGENTS && g->row[g->agents] / 2 <= TACIT_NETWORK_EDGES;
}

static char *edges_text(const tacit_graph *g)
{
    tacit_writer out = {0};
    tacit_write_text(&out, TACIT_EDGES_HEADER "\n");
    for (uint32_t i = 0; i < g->agents; i++)
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++)
            if (g->neighbour[e] > i) {
                tacit_write_format(&out, "%u,%u,", i, g->neighbour[e]);
                tacit_csv_cell(&out, g->weight[e]);
                tacit_write_text(&out, "\n");
            }
    return tacit_writer_take(&out);
}

tacit_status tacit_run_stage_tables(tacit_run *r, const tacit_measure *measure, tacit_error *err)
{
    const tacit_session *s = r->session;
    tacit_status status = tacit_run_stage_text(r, "agents.csv", agents_text(s, measure), err);
    if (!status)
        status = tacit_run_stage_text(r, "sizes.csv", sizes_text(s, measure), err);
    if (!status)
        status = tacit_run_stage_text(r, "degrees.csv", degrees_text(&s->graph), err);
    if (!status && is_drawn(&s->graph))
        status = tacit_run_stage_text(r, "edges.csv", edges_text(&s->graph), err);
    return status;
}

tacit_status tacit_run_publish_tables(tacit_run *r, tacit_error *err)
{
    const char *const names[] = {"agents.csv", "sizes.csv", "degrees.csv",
                                 is_drawn(&r->session->graph) ? "edges.csv" : NULL, NULL};
    return tacit_run_publish(r, names, err);
}
