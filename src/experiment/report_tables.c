/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.csv and the small tables, as numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "experiment/report.h"
#include "experiment/report_quantiles.h"

/* ---- metrics.csv ---- */

/* Of a long file every stride-th time is kept, and the last. */
typedef struct gathering {
    tacit_report_run *run;
    char name[TACIT_CURVES][64];
    uint64_t index, stride; /* of `now` among all times */
    bool begun;
    tacit_moment now;
} gathering;

static bool keep_moment(gathering *g, bool last)
{
    tacit_report_run *run = g->run;
    if (!g->begun)
        return true;
    if (run->moment_count == TACIT_REPORT_MOMENTS && !last) {
        for (size_t i = 0; 2 * i < run->moment_count; i++)
            run->moments[i] = run->moments[2 * i];
        run->moment_count /= 2;
        g->stride *= 2;
    }
    if (!last && g->index % g->stride != 0)
        return true;
    tacit_moment *moments = tacit_array_grow(run->moments, &run->moment_capacity,
                                             run->moment_count + 1, sizeof *moments);
    if (!moments)
        return false;
    run->moments = moments;
    run->moments[run->moment_count++] = g->now;
    return true;
}

static tacit_status take_metric(void *ctx, const tacit_metric_row *row, tacit_error *err)
{
    gathering *g = ctx;
    if (row->agent != TACIT_NOBODY)
        return TACIT_OK;
    if (!g->begun || row->time != g->now.time) {
        if (!keep_moment(g, false))
            return tacit_out_of_memory(err);
        g->index += g->begun;
        g->begun = true;
        g->now.time = row->time;
        for (size_t k = 0; k < TACIT_CURVES; k++)
            g->now.value[k] = NAN;
    }
    for (size_t k = 0; k < TACIT_CURVES; k++)
        if (strcmp(g->name[k], row->name) == 0)
            g->now.value[k] = row->value;
    return TACIT_OK;
}

static void name_curves(gathering *g, const char *score)
{
    static const char *const plain[TACIT_CURVES] = {[TACIT_CURVE_LOSS] = "train_loss",
                                                    [TACIT_CURVE_OBJECTIVE] = "objective",
                                                    [TACIT_CURVE_MESSAGES] = "messages",
                                                    [TACIT_CURVE_BYTES] = "bytes"};
    for (size_t k = 0; k < TACIT_CURVES; k++)
        snprintf(g->name[k], sizeof g->name[k], "%s", plain[k] ? plain[k] : "");
    snprintf(g->name[TACIT_CURVE_SCORE], sizeof g->name[0], "test_%s", score);
    snprintf(g->name[TACIT_CURVE_DEVIATION], sizeof g->name[0], "test_%s_deviation", score);
    snprintf(g->name[TACIT_CURVE_VALIDATION], sizeof g->name[0], "validation_%s", score);
    for (size_t q = 0; q < TACIT_QUANTILES; q++)
        snprintf(g->name[TACIT_CURVE_Q05 + q], sizeof g->name[0], "test_%s_%s", score,
                 tacit_quantile_name[q]);
}

tacit_status tacit_report_load_metrics(tacit_report_run *run, const tacit_folder *folder,
                                       bool staged, tacit_error *err)
{
    char shown[400];
    bool found;
    gathering g = {.run = run, .stride = 1};
    tacit_metrics_reader reader;
    snprintf(shown, sizeof shown, "%.300s/metrics.csv", folder->path);
    name_curves(&g, run->score);
    tacit_metrics_open(&reader, shown, take_metric, &g);
    tacit_status status =
        tacit_report_scan(folder, "metrics.csv", staged, &reader.table, &found, err);
    if (status)
        return status;
    if (!found)
        return tacit_fail(err, TACIT_EINPUT, "\"%s\" is missing, so there is nothing to draw",
                          shown);
    return keep_moment(&g, true) ? TACIT_OK : tacit_out_of_memory(err);
}

/* ---- the small tables ---- */

/* Where the fields of a row go: column k of the file to cell from[k], or nowhere. */
typedef struct loading {
    tacit_columns *table;
    const int *to; /* one a field; NOWHERE */
    size_t fields;
} loading;
enum { NOWHERE = -1 };

static tacit_status take_row(void *ctx, const tacit_table_reader *reader, char *const *fields,
                             tacit_error *err)
{
    const loading *l = ctx;
    tacit_columns *t = l->table;
    size_t needed;
    double *cell = NULL;
    if (tacit_mul_size(t->rows + 1, t->columns, &needed))
        cell = tacit_array_grow(t->cell, &t->capacity, needed, sizeof *cell);
    if (!cell)
        return tacit_out_of_memory(err);
    t->cell = cell;
    for (size_t k = 0; k < l->fields; k++) {
        if (l->to[k] == NOWHERE)
            continue;
        tacit_status status = tacit_table_real(
            reader, fields[k], &t->cell[t->rows * t->columns + (size_t)l->to[k]], err);
        if (status)
            return status;
    }
    t->rows++;
    return TACIT_OK;
}

static tacit_status load_table(loading *l, const tacit_folder *folder, const char *name,
                               const char *header, uint64_t most, bool staged, tacit_error *err)
{
    char shown[400];
    snprintf(shown, sizeof shown, "%.300s/%s", folder->path, name);
    tacit_table_reader reader = {
        .shown = shown, .header = header, .row = take_row, .ctx = l, .most = most};
    return tacit_report_scan(folder, name, staged, &reader, &l->table->found, err);
}

/* Ends of edges that are agents, and few enough of them to draw. */
static tacit_status check_edges(const tacit_report_run *run, const tacit_folder *folder,
                                tacit_error *err)
{
    const tacit_columns *t = &run->edge_list;
    for (size_t i = 0; i < t->rows; i++)
        for (size_t end = EDGE_A; end <= EDGE_B; end++) {
            double agent = tacit_cell(t, i, end);
            if (!(agent >= 0 && agent < (double)run->agents && agent == floor(agent)))
                return tacit_fail(err, TACIT_EINPUT,
                                  "\"%.300s/edges.csv\", line %zu: an edge that leads to no agent",
                                  folder->path, i + 2);
        }
    if (t->found && run->agents > TACIT_NETWORK_AGENTS)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s/edges.csv\" belongs to a smaller run; remove it", folder->path);
    return TACIT_OK;
}

tacit_status tacit_report_load_tables(tacit_report_run *run, const tacit_folder *folder,
                                      bool staged, tacit_error *err)
{
    static const int agents[] = {AGENT_NUMBER, NOWHERE,     AGENT_RECORDS, AGENT_NEIGHBOURS,
                                 AGENT_DEGREE, AGENT_SCORE, NOWHERE,       NOWHERE};
    static const int straight[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    run->rows_of_agents.columns = AGENT_COLUMNS;
    run->sizes.columns = SIZE_COLUMNS;
    run->degrees.columns = DEGREE_COLUMNS;
    run->edge_list.columns = EDGE_COLUMNS;
    tacit_status status =
        load_table(&(loading){&run->rows_of_agents, agents, 8}, folder, "agents.csv",
                   TACIT_AGENTS_HEADER, TACIT_REPORT_AGENTS, staged, err);
    if (!status)
        status = load_table(&(loading){&run->sizes, straight, SIZE_COLUMNS}, folder, "sizes.csv",
                            TACIT_SIZES_HEADER, TACIT_REPORT_BINS, staged, err);
    if (!status)
        status =
            load_table(&(loading){&run->degrees, straight, DEGREE_COLUMNS}, folder, "degrees.csv",
                       TACIT_DEGREES_HEADER, 2 * TACIT_REPORT_DEGREES, staged, err);
    if (!status)
        status = load_table(&(loading){&run->edge_list, straight, EDGE_COLUMNS}, folder,
                            "edges.csv", TACIT_EDGES_HEADER, TACIT_NETWORK_EDGES, staged, err);
    return status ? status : check_edges(run, folder, err);
}
