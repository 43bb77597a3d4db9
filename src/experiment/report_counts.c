/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures that count: agents by their final score, agents by their neighbours, the graph. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/report.h"
#include "experiment/report_quantiles.h"

enum { BINS = 25, MOST_NETWORKS = 4, SIDE_BY_SIDE = 3 };

/* ---- final scores ---- */

typedef struct bins {
    double low, width;
    size_t count;
} bins;

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Bins of a round width. Scores on few records come in steps; a bin then holds whole steps,
 * or the picture would show a comb that is not there. */
static bins choose_bins(double *scores, size_t n)
{
    qsort(scores, n, sizeof *scores, ascending);
    double range = scores[n - 1] - scores[0], step = INFINITY;
    for (size_t i = 1; i < n; i++)
        if (scores[i] - scores[i - 1] > 1e-9 * fmax(1, fabs(scores[i])))
            step = fmin(step, scores[i] - scores[i - 1]);
    if (!(range > 0) || !isfinite(step))
        return (bins){scores[0] - 0.005, 0.01, 1};
    double rough = range / BINS, power = pow(10, floor(log10(rough))), lead = rough / power;
    double width = power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
    if (step >= width / 20)
        width = step * ceil(width / step - 1e-9);
    bins b = {.low = scores[0] - fmin(step, width) / 2, .width = width};
    b.count = (size_t)((scores[n - 1] - b.low) / width) + 1;
    return b;
}

/* The scores in agents.csv of a group's runs, appended to `scores`; returns how many. */
static size_t scores_of(const tacit_report *report, size_t g, double *scores)
{
    size_t n = 0;
    for (size_t k = 0; k < report->group[g].count; k++) {
        const tacit_report_run *run = &report->run[report->group[g].run[k]];
        for (size_t i = 0; i < run->rows_of_agents.rows; i++) {
            double score = tacit_cell(&run->rows_of_agents, i, AGENT_SCORE);
            if (isfinite(score) && strcmp(run->score, report->score) == 0)
                scores[n++] = score;
        }
    }
    return n;
}

static size_t most_scores(const tacit_report *report)
{
    size_t n = 1;
    for (size_t r = 0; r < report->runs; r++)
        n += report->run[r].rows_of_agents.rows;
    return n;
}

static void count_scores(const bins *b, const double *scores, size_t n, double *x, double *y)
{
    for (size_t i = 0; i < b->count; i++) {
        x[i] = b->low + ((double)i + 0.5) * b->width;
        y[i] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        size_t k = (size_t)((scores[i] - b->low) / b->width);
        y[k < b->count ? k : b->count - 1] += 100.0 / (double)n;
    }
}

static bool is_sampled(const tacit_report *report)
{
    for (size_t r = 0; r < report->runs; r++)
        if (report->run[r].rows_of_agents.rows < report->run[r].agents)
            return true;
    return false;
}

void tacit_report_histogram(tacit_writer *out, const tacit_report *report)
{
    double *scores = calloc(most_scores(report), sizeof *scores), *cells = NULL;
    size_t n = 0;
    bins b = {0};
    for (size_t g = 0; g < report->groups && scores; g++)
        n += scores_of(report, g, scores + n);
    if (n > 0)
        b = choose_bins(scores, n);
    if (b.count > 0 && b.count <= 10 * BINS)
        cells = calloc(b.count, 2 * report->groups * sizeof *cells);
    out->failed = out->failed || !scores || (n > 0 && b.count <= 10 * BINS && !cells);
    char title[80];
    snprintf(title, sizeof title, "Agents by their final test %s", report->score);
    tacit_chart chart = {.title = title, .x_label = report->score, .y_label = "% of agents"};
    if (is_sampled(report))
        chart.note = "Of agents that were sampled evenly.";
    for (size_t g = 0; g < report->groups && cells; g++) {
        double *x = cells + 2 * g * b.count, *y = x + b.count;
        size_t own = scores_of(report, g, scores);
        if (own == 0)
            continue;
        count_scores(&b, scores, own, x, y);
        chart.of[chart.series++] = (tacit_series){
            .name = report->runs == 1 ? chart.y_label : report->group[g].label,
            .mark = report->groups <= SIDE_BY_SIDE ? TACIT_MARK_BARS : TACIT_MARK_LINE,
            .count = b.count,
            .x = x,
            .y = y,
            .colour = (uint32_t)g + 1};
    }
    tacit_page_chart(out, &chart);
    free(scores);
    free(cells);
}

/* ---- graphs ---- */

static bool same_graph(const tacit_report_run *a, const tacit_report_run *b)
{
    return tacit_report_same(a, b, "graph.") && tacit_report_same(a, b, "data.") &&
           !strcmp(tacit_report_value(a, "run.seed", ""), tacit_report_value(b, "run.seed", ""));
}

/* Has no run before this one the same graph? */
static bool is_first(const tacit_report *report, size_t r)
{
    for (size_t o = 0; o < r; o++)
        if (same_graph(&report->run[o], &report->run[r]))
            return false;
    return true;
}

/* Agents in a picture of a network: who is among the best and the worst, and what to say of
 * each when the pointer is over it. */
typedef struct crowd {
    uint32_t group[TACIT_NETWORK_AGENTS];
    char words[TACIT_NETWORK_AGENTS][60];
    const char *label[TACIT_NETWORK_AGENTS];
    bool scored; /* all have a score */
} crowd;
enum { MIDDLE, LOWEST, HIGHEST };

static void know_crowd(crowd *c, const tacit_report_run *run)
{
    const tacit_columns *t = &run->rows_of_agents;
    double scores[TACIT_NETWORK_AGENTS], q[TACIT_QUANTILES] = {0};
    c->scored = t->rows == run->agents && t->rows >= 8;
    for (size_t i = 0; i < t->rows && c->scored; i++) {
        scores[i] = tacit_cell(t, i, AGENT_SCORE);
        c->scored = isfinite(scores[i]) && tacit_cell(t, i, AGENT_NUMBER) == (double)i;
    }
    if (c->scored)
        tacit_quantiles(scores, t->rows, q);
    for (size_t i = 0; i < run->agents; i++) {
        double score = c->scored ? tacit_cell(t, i, AGENT_SCORE) : NAN;
        c->label[i] = c->words[i];
        if (c->scored)
            snprintf(c->words[i], sizeof c->words[i], "agent %zu: %.4g", i, score);
        else
            snprintf(c->words[i], sizeof c->words[i], "agent %zu", i);
        c->group[i] = score < q[1] ? LOWEST : score > q[3] ? HIGHEST : MIDDLE;
    }
}

static void network_legend(tacit_writer *out, const char *score)
{
    static const char *const words[] = {
        [MIDDLE] = "middle half", [LOWEST] = "lowest quarter", [HIGHEST] = "highest quarter"};
    tacit_write_text(out, "<ul class=\"legend\">");
    for (int k = 0; k < 3; k++) {
        tacit_write_format(out, "<li class=\"c%d\"><i class=\"dot\"></i><span>%s by ", k, words[k]);
        tacit_page_escape(out, score);
        tacit_write_text(out, "</span></li>");
    }
    tacit_write_text(out, "</ul>\n");
}

/* edges.csv in the arrays of tacit_network; `ends` has room for both ends of each. */
static void read_edges(const tacit_columns *edges, uint32_t *ends, double *weight)
{
    for (size_t i = 0; i < edges->rows; i++) {
        ends[i] = (uint32_t)tacit_cell(edges, i, EDGE_A);
        ends[edges->rows + i] = (uint32_t)tacit_cell(edges, i, EDGE_B);
        weight[i] = tacit_cell(edges, i, EDGE_WEIGHT);
    }
}

static void network(tacit_writer *out, const tacit_report_run *run, const char *title)
{
    const tacit_columns *edges = &run->edge_list;
    uint32_t *ends = calloc(edges->rows + 1, 2 * sizeof *ends);
    double *weight = calloc(edges->rows + 1, sizeof *weight);
    crowd *c = calloc(1, sizeof *c);
    if (!ends || !weight || !c) {
        out->failed = true;
        goto out;
    }
    read_edges(edges, ends, weight);
    know_crowd(c, run);
    tacit_write_text(out, "<figure class=\"chart\">\n<figcaption><h3>");
    tacit_page_escape(out, title);
    tacit_write_format(out, "</h3><p class=\"note\">%llu agents, %llu edges</p></figcaption>\n",
                       (unsigned long long)run->agents, (unsigned long long)run->edges);
    tacit_draw_network(out,
                       &(tacit_network){.agents = (uint32_t)run->agents,
                                        .edges = edges->rows,
                                        .a = ends,
                                        .b = ends + edges->rows,
                                        .weight = weight,
                                        .group = c->scored ? c->group : NULL,
                                        .label = c->label},
                       false);
    if (c->scored)
        network_legend(out, run->score);
    tacit_write_text(out, "</figure>\n");
out:
    free(ends);
    free(weight);
    free(c);
}

static void degrees(tacit_writer *out, const tacit_report_run *run, const char *title)
{
    const tacit_columns *t = &run->degrees;
    const size_t n = t->rows;
    double *x = calloc(n + 1, 2 * sizeof *x);
    if (!x) {
        out->failed = true;
        return;
    }
    double *y = x + n;
    for (size_t i = 0; i < n; i++) {
        x[i] = (tacit_cell(t, i, DEGREE_LOW) + tacit_cell(t, i, DEGREE_HIGH)) / 2;
        y[i] = tacit_cell(t, i, DEGREE_AGENTS);
    }
    /* Few agents with very many neighbours: only logarithms show both ends. */
    const bool heavy = n > 0 && x[n - 1] > 50 * fmax(1, x[0]);
    tacit_chart chart = {.title = title,
                         .x_label = "neighbours",
                         .y_label = "agents",
                         .log_x = heavy,
                         .log_y = heavy,
                         .series = 1,
                         .of = {{.name = "agents",
                                 .mark = heavy ? TACIT_MARK_DOTS : TACIT_MARK_BARS,
                                 .count = n,
                                 .x = x,
                                 .y = y}}};
    tacit_page_chart(out, &chart);
    free(x);
}

void tacit_report_graphs(tacit_writer *out, const tacit_report *report)
{
    size_t drawn = 0, distinct = 0;
    for (size_t r = 0; r < report->runs; r++)
        distinct += is_first(report, r);
    for (size_t r = 0; r < report->runs && drawn < MOST_NETWORKS; r++) {
        const tacit_report_run *run = &report->run[r];
        if (!is_first(report, r))
            continue;
        char title[200], counts[200];
        snprintf(title, sizeof title, "The graph%s%.100s", distinct > 1 ? " of " : "",
                 distinct > 1 ? run->label : "");
        snprintf(counts, sizeof counts, "Agents by number of neighbours%s%.100s",
                 distinct > 1 ? ": " : "", distinct > 1 ? run->label : "");
        if (run->edge_list.found)
            network(out, run, title);
        degrees(out, run, counts);
        drawn++;
    }
}
