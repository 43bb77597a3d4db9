/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run folder read back. Whoever wrote it may have been an older program, a crash or an
 * enemy: summary.json, config.yaml and metrics.csv must be there and whole; the tables for
 * pictures may be missing, but not be broken.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment/report.h"

#define SCHEMA "tacit.run/1"
#define MOST_YAML ((size_t)1 << 20)

/* Results that are staged have temporary names; config.yaml has been there from the start. */
static int open_file(const tacit_folder *folder, const char *name, bool staged)
{
    char temporary[64];
    snprintf(temporary, sizeof temporary, "%s.tmp", name);
    if (staged && !strcmp(name, "metrics.csv"))
        snprintf(temporary, sizeof temporary, TACIT_ROWS_PARTIAL);
    const bool early = !strcmp(name, "config.yaml");
    return openat(folder->dir, staged && !early ? temporary : name,
                  O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static void shown_name(const tacit_folder *folder, const char *name, char out[400])
{
    snprintf(out, 400, "%.300s/%s", folder->path, name);
}

static tacit_status read_whole(const tacit_folder *folder, const char *name, bool staged,
                               size_t most, char **text, size_t *len, tacit_error *err)
{
    char shown[400];
    shown_name(folder, name, shown);
    int fd = open_file(folder, name, staged);
    if (fd < 0 && errno == ENOENT)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\" is not the folder of a run that ended: it has no %s; give "
                          "folders that \"tacit run\" wrote",
                          folder->path, name);
    if (fd < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot open \"%s\": %s", shown, strerror(errno));
    tacit_status status = tacit_file_read_fd(fd, shown, most, text, len, err);
    close(fd);
    return status;
}

tacit_status tacit_report_scan(const tacit_folder *folder, const char *name, bool staged,
                               tacit_table_reader *reader, bool *found, tacit_error *err)
{
    struct stat info;
    char buffer[1 << 16];
    int fd = open_file(folder, name, staged);
    *found = fd >= 0;
    if (fd < 0 && errno == ENOENT)
        return TACIT_OK;
    tacit_status status = TACIT_OK;
    if (fd < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot open \"%.300s/%s\": %s", folder->path, name,
                          strerror(errno));
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        status = tacit_fail(err, TACIT_EINPUT, "\"%.300s/%s\" is not a regular file", folder->path,
                            name);
    while (!status) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            status = tacit_fail(err, TACIT_EINPUT, "cannot read \"%.300s/%s\": %s", folder->path,
                                name, strerror(errno));
        else if (n == 0)
            break;
        else
            status = tacit_table_feed(reader, buffer, (size_t)n, err);
    }
    close(fd);
    return status ? status : tacit_table_end(reader, err);
}

/* ---- summary.json ---- */

/* metrics: {"test_accuracy": ..., "test_accuracy_deviation": ...} names the score. */
static void find_score(tacit_report_run *run, const tacit_json_value *metrics)
{
    const tacit_json_tree *t = &run->summary;
    for (const tacit_json_value *v = tacit_json_first(t, metrics); v; v = tacit_json_next(t, v))
        if (!strncmp(v->key, "test_", 5) && !strstr(v->key, "_deviation")) {
            snprintf(run->score, sizeof run->score, "%s", v->key + 5);
            run->test = tacit_json_to_real(v, NAN);
            return;
        }
}

static void take_metrics(tacit_report_run *run, const tacit_json_value *top)
{
    const tacit_json_tree *t = &run->summary;
    const tacit_json_value *metrics = tacit_json_member(t, top, "metrics");
    char name[64];
    run->test = NAN;
    find_score(run, metrics);
    snprintf(name, sizeof name, "test_%s_deviation", run->score);
    run->deviation = tacit_json_to_real(tacit_json_member(t, metrics, name), NAN);
    run->objective = tacit_json_to_real(tacit_json_member(t, metrics, "objective"), NAN);
    const tacit_json_value *optimum = tacit_json_member(t, metrics, "optimum");
    run->optimum =
        tacit_json_to_real(optimum ? optimum : tacit_json_member(t, top, "optimum"), NAN);
}

static void take_privacy(tacit_report_run *run, const tacit_json_value *top)
{
    const tacit_json_tree *t = &run->summary;
    const tacit_json_value *p = tacit_json_member(t, top, "privacy");
    run->adversary = tacit_json_to_text(tacit_json_member(t, p, "adversary"), "");
    run->sees = tacit_json_to_text(tacit_json_member(t, p, "adversary_sees"), "");
    run->unit = tacit_json_to_text(tacit_json_member(t, p, "unit"), "");
    run->adjacency = tacit_json_to_text(tacit_json_member(t, p, "adjacency"), "");
    run->mechanism = tacit_json_to_text(tacit_json_member(t, p, "mechanism"), "");
    run->epsilon = tacit_json_to_real(tacit_json_member(t, p, "epsilon"), NAN);
    run->unbounded = tacit_json_to_bool(tacit_json_member(t, p, "unbounded"), false);
    run->delta = tacit_json_to_real(tacit_json_member(t, p, "delta"), NAN);
    run->least_budget = tacit_json_to_real(tacit_json_member(t, p, "epsilon_budget_least"), NAN);
    run->most_budget = tacit_json_to_real(tacit_json_member(t, p, "epsilon_budget_most"), NAN);
    run->refused = tacit_json_to_count(tacit_json_member(t, p, "refused"), 0);
    run->keep = tacit_json_to_text(tacit_json_member(t, p, "keep"), NULL);
    run->leaks = tacit_json_member(t, p, "leaks");
    if (!run->leaks)
        run->leaks = tacit_json_member(t, top, "leaks");
    if (run->leaks && run->leaks->kind != TACIT_JSON_ARRAY)
        run->leaks = NULL;
}

static void take_counts(tacit_report_run *run, const tacit_json_value *top)
{
    const tacit_json_tree *t = &run->summary;
    const tacit_json_value *graph = tacit_json_member(t, top, "graph");
    run->time = tacit_json_to_real(tacit_json_member(t, top, "time"), NAN);
    run->agents = tacit_json_to_count(tacit_json_member(t, top, "agents"), 0);
    run->records = tacit_json_to_count(tacit_json_member(t, top, "records"), 0);
    run->tested = tacit_json_to_count(tacit_json_member(t, top, "test_records"), 0);
    run->features = tacit_json_to_count(tacit_json_member(t, top, "features"), 0);
    run->messages = tacit_json_to_count(tacit_json_member(t, top, "messages"), 0);
    run->bytes = tacit_json_to_count(tacit_json_member(t, top, "bytes"), 0);
    run->lost = tacit_json_to_count(tacit_json_member(t, top, "lost"), 0);
    run->edges = tacit_json_to_count(tacit_json_member(t, graph, "edges"), 0);
    run->components = tacit_json_to_count(tacit_json_member(t, graph, "components"), 0);
}

static tacit_status load_summary(tacit_report_run *run, const tacit_folder *folder, bool staged,
                                 tacit_error *err)
{
    char *text, shown[400];
    size_t len;
    shown_name(folder, "summary.json", shown);
    tacit_status status =
        read_whole(folder, "summary.json", staged, TACIT_JSON_BYTES, &text, &len, err);
    if (status)
        return status;
    status = tacit_json_read(&run->summary, shown, text, len, err);
    free(text);
    if (status)
        return status;
    const tacit_json_tree *t = &run->summary;
    const tacit_json_value *top = &t->values[0];
    const char *schema = tacit_json_to_text(tacit_json_member(t, top, "schema"), "");
    if (strcmp(schema, SCHEMA) != 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%s\" says schema \"%.60s\"; this program reads " SCHEMA, shown,
                          schema);
    run->name = tacit_json_to_text(tacit_json_member(t, top, "name"), "run");
    run->protocol = tacit_json_to_text(tacit_json_member(t, top, "protocol"), "?");
    run->complete = tacit_json_to_bool(tacit_json_member(t, top, "complete"), false);
    take_metrics(run, top);
    take_privacy(run, top);
    take_counts(run, top);
    return TACIT_OK;
}

static tacit_status load_config(tacit_report_run *run, const tacit_folder *folder, bool staged,
                                tacit_error *err)
{
    char shown[400];
    size_t len;
    shown_name(folder, "config.yaml", shown);
    tacit_status status =
        read_whole(folder, "config.yaml", staged, MOST_YAML, &run->yaml, &len, err);
    return status ? status : tacit_config_parse(&run->config, shown, run->yaml, len, err);
}

tacit_status tacit_report_load(tacit_report_run *run, const tacit_folder *folder, bool staged,
                               tacit_error *err)
{
    *run = (tacit_report_run){.path = strdup(folder->path)};
    tacit_config_init(&run->config);
    tacit_status status = run->path ? TACIT_OK : tacit_out_of_memory(err);
    if (!status)
        status = load_summary(run, folder, staged, err);
    if (!status)
        status = load_config(run, folder, staged, err);
    if (!status)
        status = tacit_report_load_metrics(run, folder, staged, err);
    if (!status)
        status = tacit_report_load_tables(run, folder, staged, err);
    if (status)
        tacit_report_run_clear(run);
    return status;
}

void tacit_report_run_clear(tacit_report_run *run)
{
    free(run->path);
    free(run->yaml);
    free(run->moments);
    free(run->rows_of_agents.cell);
    free(run->sizes.cell);
    free(run->degrees.cell);
    free(run->edge_list.cell);
    tacit_json_clear(&run->summary);
    tacit_config_clear(&run->config);
    *run = (tacit_report_run){0};
}
