/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Curves of a group. Its runs have the same configuration but for the seed, so their rows
 * stand at the same times; where one lacks a time, the group has no point there. The band of
 * several seeds is the 95 % interval of the mean by Student's t. Gaps are averaged as
 * logarithms, as they are drawn: seeds differ in them by factors.
 */
#include <math.h>
#include <stdlib.h>

#include "experiment/report.h"
#include "math/student.h"

typedef struct point {
    double x, y, low, high;
} point;

static point point_of(const tacit_report *report, size_t r, const tacit_moment *m,
                      const tacit_line_spec *spec)
{
    const double *v = m->value;
    point p = {.x = spec->by_messages ? v[TACIT_CURVE_MESSAGES] : m->time,
               .y = v[spec->y],
               .low = NAN,
               .high = NAN};
    if (spec->gap)
        p.y = p.y > report->lowest[r] ? log10(p.y - report->lowest[r]) : NAN;
    if (spec->band == TACIT_BAND_DEVIATION) {
        p.low = p.y - v[TACIT_CURVE_DEVIATION];
        p.high = p.y + v[TACIT_CURVE_DEVIATION];
    } else if (spec->band == TACIT_BAND_HALF) {
        p.low = v[TACIT_CURVE_Q25];
        p.high = v[TACIT_CURVE_Q75];
    } else if (spec->band == TACIT_BAND_MOST) {
        p.low = v[TACIT_CURVE_Q05];
        p.high = v[TACIT_CURVE_Q95];
    }
    return p;
}

/* Each run's moment at `time`, moving its cursor there; false if one has none. */
static bool line_up(const tacit_report *report, const tacit_report_group *g, double time,
                    size_t cursor[TACIT_REPORT_RUNS])
{
    bool all = true;
    for (size_t k = 0; k < g->count; k++) {
        const tacit_report_run *run = &report->run[g->run[k]];
        while (cursor[k] < run->moment_count && run->moments[cursor[k]].time < time)
            cursor[k]++;
        all = all && cursor[k] < run->moment_count && run->moments[cursor[k]].time == time;
    }
    return all;
}

static point mean_point(const tacit_report *report, const tacit_report_group *g,
                        const size_t cursor[TACIT_REPORT_RUNS], const tacit_line_spec *spec)
{
    point mean = {0}, each[TACIT_REPORT_RUNS];
    const double n = (double)g->count;
    for (size_t k = 0; k < g->count; k++) {
        const tacit_report_run *run = &report->run[g->run[k]];
        each[k] = point_of(report, g->run[k], &run->moments[cursor[k]], spec);
        mean.x += each[k].x / n;
        mean.y += each[k].y / n;
        mean.low += each[k].low / n;
        mean.high += each[k].high / n;
    }
    if (g->count == 1 || spec->band == TACIT_BAND_HALF || spec->band == TACIT_BAND_MOST)
        return mean;
    double squares = 0;
    for (size_t k = 0; k < g->count; k++)
        squares += (each[k].y - mean.y) * (each[k].y - mean.y);
    double half = tacit_student_reach(0.95, g->count - 1) * sqrt(squares / (n - 1) / n);
    mean.low = mean.y - half;
    mean.high = mean.y + half;
    return mean;
}

bool tacit_report_line_make(tacit_report_line *line, const tacit_report *report, size_t group,
                            const tacit_line_spec *spec)
{
    const tacit_report_group *g = &report->group[group];
    const tacit_report_run *first = &report->run[g->run[0]];
    size_t cursor[TACIT_REPORT_RUNS] = {0}, n = first->moment_count;
    *line = (tacit_report_line){0};
    double *all = calloc(n + 1, 4 * sizeof *all);
    if (!all)
        return false;
    line->x = all;
    line->y = all + n;
    double *low = all + 2 * n, *high = all + 3 * n;
    bool band = false;
    for (size_t i = 0; i < n; i++) {
        if (!line_up(report, g, first->moments[i].time, cursor))
            continue;
        point p = mean_point(report, g, cursor, spec);
        if (spec->gap)
            p = (point){p.x, pow(10, p.y), pow(10, p.low), pow(10, p.high)};
        line->x[line->count] = p.x;
        line->y[line->count] = p.y;
        low[line->count] = p.low;
        high[line->count++] = p.high;
        band = band || isfinite(p.low);
    }
    if (band) {
        line->low = low;
        line->high = high;
    }
    return true;
}

void tacit_report_line_clear(tacit_report_line *line)
{
    free(line->x);
    *line = (tacit_report_line){0};
}
