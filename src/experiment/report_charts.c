/* SPDX-License-Identifier: Apache-2.0 */
/* The pictures over time, and those of agents by what they have. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/report.h"

#define TIME_LABEL "time (mean ticks of an agent)"
enum { MOST_BANDS = 4 }; /* more would hide each other */

/* A chart under construction, with the numbers it borrows. */
typedef struct sheet {
    tacit_chart chart;
    tacit_report_line line[TACIT_CHART_SERIES];
    char note[400];
} sheet;

static bool single(const tacit_report *report)
{
    return report->runs == 1;
}

static bool shows_score(const tacit_report *report, size_t g)
{
    return strcmp(report->run[report->group[g].run[0]].score, report->score) == 0;
}

static void add_line(tacit_writer *out, sheet *s, const tacit_report *report, size_t g,
                     const char *name, const tacit_line_spec *spec, uint32_t colour)
{
    if (s->chart.series == TACIT_CHART_SERIES)
        return;
    tacit_report_line *line = &s->line[s->chart.series];
    if (!tacit_report_line_make(line, report, g, spec)) {
        out->failed = true;
        return;
    }
    s->chart.of[s->chart.series++] = (tacit_series){.name = name,
                                                    .count = line->count,
                                                    .x = line->x,
                                                    .y = line->y,
                                                    .low = line->low,
                                                    .high = line->high,
                                                    .colour = colour};
}

static void finish(tacit_writer *out, sheet *s)
{
    s->chart.note = s->note[0] ? s->note : NULL;
    tacit_page_chart(out, &s->chart);
    for (uint32_t k = 0; k < s->chart.series; k++)
        tacit_report_line_clear(&s->line[k]);
}

static const char *group_name(const tacit_report *report, size_t g, const char *alone)
{
    return single(report) ? alone : report->group[g].label;
}

static bool has_seeds(const tacit_report *report)
{
    for (size_t g = 0; g < report->groups; g++)
        if (report->group[g].count > 1)
            return true;
    return false;
}

/* ---- over time ---- */

static void gap_chart(tacit_writer *out, const tacit_report *report)
{
    sheet s = {.chart = {.title = "Objective gap",
                         .x_label = TIME_LABEL,
                         .y_label = "objective gap",
                         .log_y = true}};
    for (size_t g = 0; g < report->groups; g++)
        add_line(out, &s, report, g, group_name(report, g, "objective gap"),
                 &(tacit_line_spec){.y = TACIT_CURVE_OBJECTIVE, .gap = true}, (uint32_t)g + 1);
    const char *seeds =
        has_seeds(report) ? " Of several seeds: geometric mean and its 95 % interval." : "";
    if (report->has_optimum)
        snprintf(s.note, sizeof s.note, "What the objective is above its optimum.%s", seeds);
    else
        snprintf(s.note, sizeof s.note,
                 "What the objective is above the lowest value seen %s; a line ends where its run "
                 "reached that.%s",
                 single(report)
                     ? "in this run"
                     : "among the runs here with the same data, graph, model, seed and mu",
                 seeds);
    finish(out, &s);
}

/* What a band around a mean score means. */
static void note_band(const tacit_report *report, sheet *s, bool bands)
{
    if (!bands)
        return;
    bool seeds = has_seeds(report), alone = false;
    for (size_t g = 0; g < report->groups; g++)
        alone = alone || report->group[g].count == 1;
    snprintf(s->note, sizeof s->note, "Bands: %s%s%s.",
             alone ? "mean ± standard deviation over agents" : "", alone && seeds ? "; " : "",
             seeds ? "of several seeds, 95 % interval of the mean" : "");
}

static void score_chart(tacit_writer *out, const tacit_report *report, bool by_messages)
{
    char title[120];
    snprintf(title, sizeof title, "Test %s against %s", report->score,
             by_messages ? "messages sent" : "time");
    sheet s = {.chart = {.title = title,
                         .x_label = by_messages ? "messages sent by all agents" : TIME_LABEL,
                         .y_label = report->score}};
    const bool bands = report->groups <= MOST_BANDS && !by_messages;
    note_band(report, &s, bands);
    double least = INFINITY, most = 0;
    for (size_t g = 0; g < report->groups; g++) {
        const double messages = (double)report->run[report->group[g].run[0]].messages;
        if (!shows_score(report, g) || (by_messages && messages == 0))
            continue;
        least = fmin(least, messages);
        most = fmax(most, messages);
        add_line(out, &s, report, g,
                 group_name(report, g, by_messages ? report->score : "test, mean over agents"),
                 &(tacit_line_spec){.y = TACIT_CURVE_SCORE,
                                    .by_messages = by_messages,
                                    .band = bands ? TACIT_BAND_DEVIATION : TACIT_BAND_NONE},
                 (uint32_t)g + 1);
    }
    if (single(report) && !by_messages)
        add_line(out, &s, report, 0, "validation, mean over agents",
                 &(tacit_line_spec){.y = TACIT_CURVE_VALIDATION}, 2);
    s.chart.log_x = by_messages && most > 30 * least;
    finish(out, &s);
}

static void spread_chart(tacit_writer *out, const tacit_report *report)
{
    sheet s = {
        .chart = {.title = "Spread over agents", .x_label = TIME_LABEL, .y_label = report->score}};
    if (single(report)) {
        add_line(out, &s, report, 0, "median agent",
                 &(tacit_line_spec){.y = TACIT_CURVE_Q50, .band = TACIT_BAND_MOST}, 1);
        add_line(out, &s, report, 0, "",
                 &(tacit_line_spec){.y = TACIT_CURVE_Q50, .band = TACIT_BAND_HALF}, 1);
        snprintf(s.note, sizeof s.note,
                 "Bands: the middle half, and 5 %% to 95 %%, of all agents.");
    }
    const bool bands = report->groups <= MOST_BANDS;
    for (size_t g = 0; g < report->groups && !single(report); g++)
        if (shows_score(report, g))
            add_line(out, &s, report, g, report->group[g].label,
                     &(tacit_line_spec){.y = TACIT_CURVE_Q50,
                                        .band = bands ? TACIT_BAND_HALF : TACIT_BAND_NONE},
                     (uint32_t)g + 1);
    if (!single(report))
        snprintf(s.note, sizeof s.note, "Median agent%s.",
                 bands ? "; bands: the middle half of all agents" : "");
    finish(out, &s);
}

static void traffic_chart(tacit_writer *out, const tacit_report *report, const char *title,
                          tacit_curve curve, const char *y_label)
{
    sheet s = {.chart = {.title = title, .x_label = TIME_LABEL, .y_label = y_label}};
    for (size_t g = 0; g < report->groups; g++)
        add_line(out, &s, report, g, group_name(report, g, y_label), &(tacit_line_spec){.y = curve},
                 (uint32_t)g + 1);
    finish(out, &s);
}

/* ---- by local data ---- */

/* The rows of sizes.csv as a line; `all` holds four numbers a row. */
static tacit_series size_line(const tacit_columns *sizes, double *all, const char *name, bool band)
{
    size_t n = sizes->rows;
    for (size_t i = 0; i < n; i++) {
        all[i] = (tacit_cell(sizes, i, SIZE_LOW) + tacit_cell(sizes, i, SIZE_HIGH)) / 2;
        all[n + i] = tacit_cell(sizes, i, SIZE_MEAN);
        all[2 * n + i] = tacit_cell(sizes, i, SIZE_Q05);
        all[3 * n + i] = tacit_cell(sizes, i, SIZE_Q95);
    }
    return (tacit_series){.name = name,
                          .count = n,
                          .x = all,
                          .y = all + n,
                          .low = band ? all + 2 * n : NULL,
                          .high = band ? all + 3 * n : NULL};
}

/* One dot an agent of agents.csv; `all` holds two numbers a row. */
static tacit_series agent_dots(const tacit_report_run *run, double *all)
{
    const tacit_columns *agents = &run->rows_of_agents;
    for (size_t i = 0; i < agents->rows; i++) {
        all[i] = tacit_cell(agents, i, AGENT_RECORDS);
        all[agents->rows + i] = tacit_cell(agents, i, AGENT_SCORE);
    }
    return (tacit_series){.name = agents->rows < run->agents ? "a sampled agent" : "an agent",
                          .mark = TACIT_MARK_DOTS,
                          .count = agents->rows,
                          .x = all,
                          .y = all + agents->rows,
                          .colour = 6};
}

static void size_chart(tacit_writer *out, const tacit_report *report)
{
    char title[80];
    snprintf(title, sizeof title, "Test %s by local data", report->score);
    tacit_chart chart = {
        .title = title, .x_label = "training records an agent has", .y_label = report->score};
    double *held[TACIT_CHART_SERIES + 1] = {0}, least = INFINITY, most = 0;
    const bool bands = report->groups <= 3;
    for (size_t g = 0; g < report->groups; g++) {
        const tacit_report_run *run = &report->run[report->group[g].run[0]];
        if (!shows_score(report, g) || run->sizes.rows == 0)
            continue;
        if (!(held[g] = calloc(run->sizes.rows, 4 * sizeof(double)))) {
            out->failed = true;
            break;
        }
        tacit_series line = size_line(
            &run->sizes, held[g], group_name(report, g, "mean, and 5 % to 95 % of agents"), bands);
        line.colour = (uint32_t)g + 1;
        chart.of[chart.series++] = line;
        least = fmin(least, fmax(1, line.x[0]));
        most = fmax(most, line.x[line.count - 1]);
    }
    const tacit_report_run *first = &report->run[0];
    double **dots = &held[TACIT_CHART_SERIES];
    if (single(report) && first->rows_of_agents.rows > 0 && chart.series == 1 &&
        (*dots = calloc(first->rows_of_agents.rows, 2 * sizeof(double))))
        chart.of[chart.series++] = agent_dots(first, *dots);
    chart.log_x = most > 50 * least;
    chart.note = bands && !single(report) ? has_seeds(report)
                                                ? "Mean, and 5 % to 95 % of agents; of several "
                                                  "seeds the first."
                                                : "Mean, and 5 % to 95 % of agents."
                                          : NULL;
    if (most > least) /* else all agents have as many records */
        tacit_page_chart(out, &chart);
    for (size_t k = 0; k <= TACIT_CHART_SERIES; k++)
        free(held[k]);
}

static void curves(tacit_writer *out, const tacit_report *report)
{
    gap_chart(out, report);
    score_chart(out, report, false);
    score_chart(out, report, true);
    spread_chart(out, report);
}

static void gains(tacit_writer *out, const tacit_report *report)
{
    size_chart(out, report);
    tacit_report_histogram(out, report);
}

static void costs(tacit_writer *out, const tacit_report *report)
{
    traffic_chart(out, report, "Messages", TACIT_CURVE_MESSAGES, "messages sent");
    traffic_chart(out, report, "Bytes", TACIT_CURVE_BYTES, "bytes sent");
}

/* No heading over nothing. */
static void section(tacit_writer *out, const tacit_report *report, const char *heading,
                    void (*draw)(tacit_writer *, const tacit_report *))
{
    tacit_writer pictures = {0};
    draw(&pictures, report);
    out->failed = out->failed || pictures.failed;
    if (pictures.len > 0) {
        tacit_page_heading(out, heading);
        tacit_page_grid(out);
        tacit_write_bytes(out, pictures.text, pictures.len);
        tacit_page_grid_end(out);
    }
    tacit_writer_clear(&pictures);
}

void tacit_report_charts(tacit_writer *out, const tacit_report *report)
{
    section(out, report, "How it went", curves);
    section(out, report, "Who gained", gains);
    section(out, report, "What it cost", costs);
    section(out, report, "Who talks to whom", tacit_report_graphs);
}
