/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The picture of a network: where the dots go is layout.c, what they look like is here.
 * Lines are gathered in a few paths by strength, each path one opacity; dots carry a title that
 * browsers show under the pointer.
 */
#include "report/network.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/chart.h"
#include "report/layout.h"
#include "report/page.h"

enum { WIDTH = 720, HEIGHT = 540, MARGIN = 24, COLOURS = 7, LEVELS = 8 };

/* On a page the colours are the page's own, which follow its light or dark setting. */
static const char page_style[] =
    ".net .e{fill:none;stroke:var(--soft)}.net .d{fill:currentColor;stroke:var(--card)}"
    ".net .d:hover{stroke:var(--ink);stroke-width:2}";
/* A file of its own says them plainly, for viewers that know no variables. */
static const char file_style[] =
    "text{font:15px system-ui,sans-serif;font-weight:600;fill:#1b1f24}.p{fill:#fff}"
    ".e{fill:none;stroke:#59616b}.d{fill:currentColor;stroke:#fff}"
    ".d:hover{stroke:#1b1f24;stroke-width:2}"
    ".c0{color:" TACIT_LIGHT_0 "}.c1{color:" TACIT_LIGHT_1 "}.c2{color:" TACIT_LIGHT_2 "}"
    ".c3{color:" TACIT_LIGHT_3 "}.c4{color:" TACIT_LIGHT_4 "}.c5{color:" TACIT_LIGHT_5 "}"
    ".c6{color:" TACIT_LIGHT_6 "}"
    "@media screen and (prefers-color-scheme:dark){text{fill:#e6e9ec}.p{fill:#191d21}"
    ".e{stroke:#a7b0ba}.d{stroke:#191d21}.d:hover{stroke:#e6e9ec}"
    ".c0{color:#56b4e9}.c1{color:#ff8a4c}.c2{color:#35c79a}.c3{color:#e08fc0}.c4{color:#f0b429}"
    ".c5{color:#a5d8ff}.c6{color:#cdd3da}}";

typedef struct picture {
    const tacit_network *net;
    tacit_point *at; /* one an agent, in the picture */
    uint32_t *degree;
    double strongest;
} picture;

static bool is_drawn(const tacit_network *net, size_t e)
{
    return net->a[e] < net->agents && net->b[e] < net->agents && net->a[e] != net->b[e];
}

static uint32_t count_degrees(const tacit_network *net, uint32_t *degree)
{
    uint32_t most = 0;
    for (size_t e = 0; e < net->edges; e++) {
        if (!is_drawn(net, e))
            continue;
        degree[net->a[e]]++;
        degree[net->b[e]]++;
    }
    for (uint32_t i = 0; i < net->agents; i++)
        most = degree[i] > most ? degree[i] : most;
    return most;
}

/* ---- dots and lines ---- */

/* Strength of an edge among the others, 0 to LEVELS - 1. */
static int level_of(const picture *p, size_t e)
{
    double weight = p->net->weight ? p->net->weight[e] : 1;
    if (!(weight > 0) || !(p->strongest > 0))
        return 0;
    double share = weight / p->strongest * LEVELS;
    return share >= LEVELS ? LEVELS - 1 : (int)share;
}

static void draw_lines(tacit_writer *out, const picture *p)
{
    const tacit_network *net = p->net;
    /* The more lines, the fainter each. */
    double crowd = (double)net->edges / (net->agents + 1.0);
    double full = fmax(0.12, fmin(0.75, 1.1 / sqrt(1 + crowd)));
    double width = crowd > 8 ? 0.8 : 1.3;
    for (int level = 0; level < LEVELS; level++) {
        bool open = false;
        for (size_t e = 0; e < net->edges; e++) {
            if (!is_drawn(net, e) || level_of(p, e) != level)
                continue;
            if (!open)
                tacit_write_format(
                    out, "<path class=\"e\" stroke-opacity=\"%.2f\" stroke-width=\"%.1f\" d=\"",
                    full * (level + 1) / LEVELS, width);
            open = true;
            tacit_point a = p->at[net->a[e]], b = p->at[net->b[e]];
            tacit_write_format(out, "M%.1f %.1fL%.1f %.1f", a.x, a.y, b.x, b.y);
        }
        if (open)
            tacit_write_text(out, "\"/>\n");
    }
}

static void draw_dot(tacit_writer *out, const picture *p, uint32_t i, double radius)
{
    const tacit_network *net = p->net;
    tacit_write_format(out, "<circle class=\"d c%" PRIu32 "\"",
                       net->group ? net->group[i] % COLOURS : 0);
    tacit_write_format(out, " cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>", p->at[i].x, p->at[i].y,
                       radius);
    if (net->label)
        tacit_page_escape(out, net->label[i]);
    else
        tacit_write_format(out, "agent %" PRIu32, i);
    tacit_write_format(out, ": %" PRIu32 " neighbour%s", p->degree[i],
                       p->degree[i] == 1 ? "" : "s");
    if (net->group)
        tacit_write_format(out, ", group %" PRIu32, net->group[i]);
    tacit_write_text(out, "</title></circle>\n");
}

static int by_value(const void *left, const void *right)
{
    double x = *(const double *)left, y = *(const double *)right;
    return (x > y) - (x < y);
}

/* How far agents are from the next one, usually; `near` is scratch. */
static double usual_distance(const picture *p, double *near)
{
    uint32_t n = p->net->agents;
    for (uint32_t i = 0; i < n; i++) {
        near[i] = INFINITY;
        for (uint32_t j = 0; j < n; j++) {
            if (j != i)
                near[i] = fmin(near[i], hypot(p->at[i].x - p->at[j].x, p->at[i].y - p->at[j].y));
        }
    }
    qsort(near, n, sizeof *near, by_value);
    return near[n / 2];
}

/* More neighbours make a larger dot, within what keeps dots apart. */
static void draw_dots(tacit_writer *out, const picture *p, uint32_t most, double distance)
{
    double large = fmax(2, fmin(10, 0.4 * distance)), small = fmax(1.5, large * 0.5);
    for (uint32_t i = 0; i < p->net->agents; i++) {
        double share = most > 0 ? sqrt((double)p->degree[i] / most) : 0;
        draw_dot(out, p, i, small + (large - small) * share);
    }
}

static void write_title(tacit_writer *out, const char *open, const char *title, const char *close)
{
    tacit_write_text(out, open);
    tacit_page_escape(out, title);
    tacit_write_text(out, close);
}

static void open_picture(tacit_writer *out, const tacit_network *net, bool standalone)
{
    int top = standalone && net->title ? 30 : 0;
    if (standalone)
        tacit_write_format(out,
                           "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                           "viewBox=\"0 %d %d %d\" role=\"img\">\n",
                           WIDTH, HEIGHT + top, -top, WIDTH, HEIGHT + top);
    else
        tacit_write_format(out, "<svg class=\"net\" viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH,
                           HEIGHT);
    if (net->title)
        write_title(out, "<title>", net->title, "</title>\n");
    tacit_write_format(out, "<style>%s</style>\n", standalone ? file_style : page_style);
    if (standalone)
        tacit_write_format(out, "<rect class=\"p\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", -top,
                           WIDTH, HEIGHT + top);
    if (top)
        write_title(out, "<text x=\"14\" y=\"-8\">", net->title, "</text>\n");
}

static void draw_agents(tacit_writer *out, picture *p, uint32_t most, bool standalone)
{
    const tacit_box box = {MARGIN, MARGIN, WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN};
    const tacit_network *net = p->net;
    double *near = calloc(net->agents, sizeof *near);
    p->at = calloc(net->agents, sizeof *p->at);
    if (!near || !p->at || !tacit_network_layout(net, box, p->at)) {
        out->failed = true;
        goto out;
    }
    p->strongest = net->weight ? 0 : 1;
    for (size_t e = 0; e < net->edges && net->weight; e++) {
        if (isfinite(net->weight[e]))
            p->strongest = fmax(p->strongest, net->weight[e]);
    }
    open_picture(out, net, standalone);
    draw_lines(out, p);
    draw_dots(out, p, most, usual_distance(p, near));
    tacit_write_text(out, "</svg>\n");
out:
    free(near);
    free(p->at);
}

/* ---- degrees ---- */

static void draw_degrees(tacit_writer *out, const picture *p, uint32_t most, bool standalone)
{
    enum { BINS = 60 };
    double x[BINS], y[BINS] = {0};
    uint32_t least = most;
    for (uint32_t i = 0; i < p->net->agents; i++)
        least = p->degree[i] < least ? p->degree[i] : least;
    uint32_t step = (most - least) / BINS + 1, bins = (most - least) / step + 1;
    char note[120];
    for (uint32_t k = 0; k < bins; k++)
        x[k] = least + (double)k * step + 0.5 * (step - 1);
    for (uint32_t i = 0; i < p->net->agents; i++)
        y[(p->degree[i] - least) / step]++;
    tacit_chart chart = {.title = p->net->title ? p->net->title : "neighbours of an agent",
                         .x_label = "neighbours",
                         .y_label = "agents",
                         .note = note,
                         .series = 1};
    snprintf(note, sizeof note,
             "%" PRIu32 " agents, too many to draw: how many neighbours each has", p->net->agents);
    chart.of[0] =
        (tacit_series){.name = "agents", .mark = TACIT_MARK_BARS, .count = bins, .x = x, .y = y};
    if (standalone)
        tacit_chart_svg(out, &chart);
    else
        tacit_page_chart(out, &chart);
}

void tacit_draw_network(tacit_writer *out, const tacit_network *network, bool standalone)
{
    picture p = {.net = network};
    p.degree = calloc(network->agents ? network->agents : 1, sizeof *p.degree);
    if (!p.degree) {
        out->failed = true;
        return;
    }
    uint32_t most = count_degrees(network, p.degree);
    if (network->agents > TACIT_NETWORK_AGENTS || network->edges > TACIT_NETWORK_EDGES)
        draw_degrees(out, &p, most, standalone);
    else if (network->agents > 0)
        draw_agents(out, &p, most, standalone);
    free(p.degree);
}
