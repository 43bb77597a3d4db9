/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runs of a report have in common and what not, by their configurations: runs that
 * differ in their seed only are one group; runs of the same problem share a lowest objective;
 * a group is called by what sets it apart.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment/report.h"

/* Keys that say where and how often something is written, not how the run goes. */
static bool matters(const char *key)
{
    static const char *const idle[] = {"run.name", "run.checkpoint", "run.sample", "data.scratch"};
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (strcmp(key, idle[i]) == 0)
            return false;
    return true;
}

const char *tacit_report_value(const tacit_report_run *run, const char *key, const char *fallback)
{
    const tacit_setting *setting = tacit_config_get(&run->config, key);
    return setting ? setting->value : fallback;
}

static bool same_value(const tacit_report_run *a, const tacit_report_run *b, const char *key)
{
    const char *x = tacit_report_value(a, key, NULL), *y = tacit_report_value(b, key, NULL);
    return x && y ? strcmp(x, y) == 0 : x == y;
}

/* All keys of `a` that begin with `prefix`, but not `except`. */
static bool agrees(const tacit_report_run *a, const tacit_report_run *b, const char *prefix,
                   const char *except)
{
    for (size_t i = 0; i < a->config.count; i++) {
        const char *key = a->config.settings[i].key;
        if (strncmp(key, prefix, strlen(prefix)) == 0 && matters(key) && strcmp(key, except) != 0 &&
            !same_value(a, b, key))
            return false;
    }
    return true;
}

bool tacit_report_same(const tacit_report_run *a, const tacit_report_run *b, const char *prefix)
{
    return agrees(a, b, prefix, "") && agrees(b, a, prefix, "");
}

static bool differs(const tacit_report *report, const char *key)
{
    for (size_t r = 1; r < report->runs; r++)
        if (!same_value(&report->run[0], &report->run[r], key))
            return true;
    return false;
}

/* Is this the first place where the key appears? */
static bool is_new(const tacit_report *report, size_t r, const char *key)
{
    for (size_t earlier = 0; earlier < r; earlier++)
        if (tacit_report_value(&report->run[earlier], key, NULL))
            return false;
    return true;
}

const char *tacit_report_difference(const tacit_report *report, size_t k)
{
    for (size_t r = 0; r < report->runs; r++)
        for (size_t i = 0; i < report->run[r].config.count; i++) {
            const char *key = report->run[r].config.settings[i].key;
            if (matters(key) && is_new(report, r, key) && differs(report, key) && k-- == 0)
                return key;
        }
    return NULL;
}

/* ---- names ---- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void label_runs(tacit_report *report)
{
    for (size_t r = 0; r < report->runs; r++) {
        report->run[r].label = last_part(report->run[r].path);
        for (size_t o = 0; o < report->runs; o++)
            if (o != r && !strcmp(last_part(report->run[o].path), report->run[r].label))
                report->run[r].label = report->run[r].path;
    }
}

/* " mu=5" behind what the label says already; the protocol without its key. */
static void add_key(char label[TACIT_REPORT_LABEL], const tacit_report_run *run, const char *key)
{
    const char *value = tacit_report_value(run, key, NULL), *dot = strrchr(key, '.');
    const bool bare = !strcmp(key, "protocol.name");
    const size_t len = strlen(label);
    if (value)
        snprintf(label + len, TACIT_REPORT_LABEL - len, "%s%s%s%.60s", len ? ", " : "",
                 bare ? "" : (dot ? dot + 1 : key), bare ? "" : "=", value);
}

static bool are_distinct(const tacit_report *report)
{
    for (size_t g = 0; g < report->groups; g++)
        for (size_t o = 0; o < g; o++)
            if (!strcmp(report->group[g].label, report->group[o].label))
                return false;
    return true;
}

/* By as few of the keys they differ in as tell all groups apart, the protocol first; false if
 * that is too long to read. */
static bool label_by_keys(tacit_report *report)
{
    const char *key = "protocol.name";
    for (size_t g = 0; g < report->groups; g++)
        report->group[g].label[0] = '\0';
    for (size_t k = 0; key; key = tacit_report_difference(report, k++)) {
        if (!differs(report, key) || !strcmp(key, "run.seed") ||
            (k > 0 && !strcmp(key, "protocol.name")))
            continue;
        for (size_t g = 0; g < report->groups; g++) {
            add_key(report->group[g].label, &report->run[report->group[g].run[0]], key);
            if (strlen(report->group[g].label) > 44)
                return false;
        }
        if (are_distinct(report))
            break;
    }
    for (size_t g = 0; g < report->groups; g++)
        if (!report->group[g].label[0])
            return false;
    return are_distinct(report);
}

static void label_groups(tacit_report *report)
{
    const bool by_keys = label_by_keys(report);
    for (size_t g = 0; g < report->groups; g++) {
        tacit_report_group *group = &report->group[g];
        if (!by_keys)
            snprintf(group->label, sizeof group->label, "%.80s", report->run[group->run[0]].label);
        const size_t len = strlen(group->label);
        if (group->count > 1)
            snprintf(group->label + len, sizeof group->label - len, " (%zu seeds)", group->count);
    }
}

/* ---- groups ---- */

static bool belongs(const tacit_report_run *a, const tacit_report_run *b)
{
    return a->complete && b->complete && agrees(a, b, "", "run.seed") &&
           agrees(b, a, "", "run.seed") && !same_value(a, b, "run.seed");
}

static void group_runs(tacit_report *report)
{
    for (size_t r = 0; r < report->runs; r++) {
        size_t g = 0;
        for (; g < report->groups; g++) {
            bool fits = true;
            for (size_t k = 0; k < report->group[g].count; k++)
                fits = fits && belongs(&report->run[report->group[g].run[k]], &report->run[r]);
            if (fits)
                break;
        }
        if (g == report->groups)
            report->group[report->groups++] = (tacit_report_group){0};
        report->group[g].run[report->group[g].count++] = r;
    }
}

/* ---- lowest objectives ---- */

static bool same_problem(const tacit_report_run *a, const tacit_report_run *b)
{
    return tacit_report_same(a, b, "data.") && tacit_report_same(a, b, "graph.") &&
           tacit_report_same(a, b, "model.") && same_value(a, b, "run.seed") &&
           same_value(a, b, "protocol.mu") && same_value(a, b, "protocol.full-confidence");
}

static double lowest_of(const tacit_report_run *run)
{
    double lowest = isnan(run->objective) ? INFINITY : run->objective;
    for (size_t i = 0; i < run->moment_count; i++)
        lowest = fmin(lowest, run->moments[i].value[TACIT_CURVE_OBJECTIVE]);
    return lowest;
}

static void find_lowest(tacit_report *report)
{
    report->has_optimum = true;
    for (size_t r = 0; r < report->runs; r++) {
        const tacit_report_run *run = &report->run[r];
        report->lowest[r] = run->optimum;
        if (!isnan(run->optimum) || isnan(run->objective))
            continue;
        report->has_optimum = false;
        report->lowest[r] = lowest_of(run);
        for (size_t o = 0; o < report->runs; o++)
            if (same_problem(run, &report->run[o]))
                report->lowest[r] = fmin(report->lowest[r], lowest_of(&report->run[o]));
    }
}

void tacit_report_compare(tacit_report *report)
{
    label_runs(report);
    group_runs(report);
    label_groups(report);
    find_lowest(report);
    snprintf(report->score, sizeof report->score, "%s", report->run[0].score);
}
