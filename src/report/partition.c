/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours and class names are those of charts (chart.h), so a picture on a page follows the
 * page's light or dark setting; a file of its own is white, and dark in a browser that asks for
 * it. A cell of the heat map is as strong as the square root of its share of the fullest cell:
 * a class of which an agent has few records can still be told from one it has none of.
 */
#include "report/partition.h"

#include "report/chart.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 640,
    LEFT = 100,  /* of bars and cells */
    RIGHT = 620, /* where bars end */
    BARS = 130,  /* width of the sizes beside a heat map */
    HISTOGRAM = 130,
    BINS = 40,
    NAME_LETTERS = 11
};

/* The rows that are drawn, and where. */
typedef struct layout {
    const tacit_partition_picture *picture;
    uint32_t rows;
    double row_height, top;
    uint32_t fullest_row; /* records */
    uint32_t fullest_cell;
    bool heat;
} layout;

static uint32_t agent_of(const layout *l, uint32_t row)
{
    return (uint32_t)((uint64_t)row * l->picture->agents / l->rows);
}

static const uint32_t *counts_of(const tacit_partition_picture *p, uint32_t agent)
{
    return p->counts + (size_t)agent * p->classes;
}

static uint32_t size_of(const tacit_partition_picture *p, uint32_t agent)
{
    uint64_t sum = 0;
    for (uint32_t c = 0; c < p->classes; c++)
        sum += counts_of(p, agent)[c];
    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

static void lay_out(layout *l, const tacit_partition_picture *p, double top)
{
    *l = (layout){.picture = p, .top = top, .heat = p->classes > TACIT_COLOURS};
    l->rows = p->agents <= TACIT_PARTITION_AGENTS ? p->agents : TACIT_PARTITION_SAMPLE;
    l->row_height = l->rows <= 20 ? 18 : l->rows <= 40 ? 14 : l->rows <= 60 ? 10 : 7;
    for (uint32_t row = 0; row < l->rows; row++) {
        uint32_t agent = agent_of(l, row), size = size_of(p, agent);
        l->fullest_row = size > l->fullest_row ? size : l->fullest_row;
        for (uint32_t c = 0; c < p->classes; c++) {
            uint32_t count = counts_of(p, agent)[c];
            l->fullest_cell = count > l->fullest_cell ? count : l->fullest_cell;
        }
    }
}

/* ---- words ---- */

/* At most `most` letters, the last one three dots. */
static void write_cut(tacit_writer *out, const char *text, size_t most)
{
    size_t letters = 0, end = 0, len = strlen(text);
    char kept[4 * 64 + 1];
    while (end < len && letters < most && letters < 64) {
        size_t n = tacit_character_length(text + end, len - end);
        end += n ? n : 1;
        letters++;
        if (letters + 1 == most && end < len) {
            n = tacit_character_length(text + end, len - end);
            if (end + (n ? n : 1) < len)
                break;
        }
    }
    end = end < sizeof kept ? end : sizeof kept - 1;
    memcpy(kept, text, end);
    kept[end] = '\0';
    tacit_page_escape(out, kept);
    if (end < len)
        tacit_write_text(out, "…");
}

static void write_name(tacit_writer *out, const tacit_partition_picture *p, uint32_t agent,
                       size_t most)
{
    if (p->label)
        write_cut(out, p->label[agent], most);
    else
        tacit_write_format(out, "%" PRIu32, agent);
}

/* Every row has a name if there is room, otherwise every fifth or tenth. */
static void write_row_names(tacit_writer *out, const layout *l)
{
    uint32_t step = l->row_height >= 14 ? 1 : l->row_height >= 10 ? 5 : 10;
    for (uint32_t row = 0; row < l->rows; row += step) {
        tacit_write_format(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 8,
                           l->top + (row + 0.5) * l->row_height + 4);
        write_name(out, l->picture, agent_of(l, row), NAME_LETTERS);
        tacit_write_text(out, "</text>\n");
    }
}

/* What a pointer that rests on a row is told. */
static void open_row(tacit_writer *out, const layout *l, uint32_t row)
{
    uint32_t agent = agent_of(l, row);
    tacit_write_text(out, "<g><title>");
    write_name(out, l->picture, agent, 60);
    tacit_write_format(out, ": %" PRIu32 " records</title>", size_of(l->picture, agent));
}

/* ---- bars ---- */

static void write_rect(tacit_writer *out, double x, double y, double width, double height)
{
    tacit_write_format(out,
                       "<rect class=\"r\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>",
                       x, y, width, height);
}

/* Grid and labels of a horizontal axis of records; returns false if there is nothing. */
static bool write_axis(tacit_writer *out, const layout *l, tacit_axis *axis, double from, double to)
{
    double bottom = l->top + l->rows * l->row_height;
    tacit_axis_init(axis, false, from, to);
    tacit_axis_widen(axis, 0);
    tacit_axis_widen(axis, l->fullest_row > 0 ? l->fullest_row : 1);
    if (!tacit_axis_round(axis, to - from > 300 ? 6 : 2))
        return false;
    for (uint32_t k = 0; k < axis->ticks; k++) {
        char label[TACIT_LABEL_MAX];
        double x = tacit_axis_place(axis, axis->tick[k].value);
        if (axis->tick[k].minor || floor(axis->tick[k].value) != axis->tick[k].value)
            continue; /* there are no halves of records */
        tacit_axis_label(axis, axis->tick[k].value, label);
        tacit_write_format(out,
                           "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/>"
                           "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                           x, l->top, bottom + 3, x, bottom + 17, label);
    }
    return true;
}

static void write_stacks(tacit_writer *out, const layout *l)
{
    tacit_axis axis;
    if (!write_axis(out, l, &axis, LEFT, RIGHT))
        return;
    double thick = l->row_height - (l->row_height >= 10 ? 3 : 1);
    for (uint32_t row = 0; row < l->rows; row++) {
        const uint32_t *counts = counts_of(l->picture, agent_of(l, row));
        double before = 0, y = l->top + row * l->row_height + (l->row_height - thick) / 2;
        open_row(out, l, row);
        for (uint32_t c = 0; c < l->picture->classes; c++) {
            double x = tacit_axis_place(&axis, before), end;
            before += counts[c];
            end = tacit_axis_place(&axis, before);
            if (counts[c] == 0)
                continue;
            tacit_write_format(out, "<g class=\"c%u\">", c % TACIT_COLOURS);
            write_rect(out, x, y, end - x, thick);
            tacit_write_text(out, "</g>");
        }
        tacit_write_text(out, "</g>\n");
    }
}

/* ---- heat map ---- */

static double cell_width(const layout *l)
{
    return fmin(40, (double)(RIGHT - BARS - 20 - LEFT) / l->picture->classes);
}

static double strength(double count, uint32_t most)
{
    return count > 0 ? 0.08 + 0.92 * sqrt(count / most) : 0;
}

static void write_column_names(tacit_writer *out, const layout *l)
{
    double width = cell_width(l);
    size_t letters = (size_t)(width / 7);
    for (uint32_t c = 0; c < l->picture->classes; c++) {
        tacit_write_format(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                           LEFT + (c + 0.5) * width, l->top - 6);
        write_cut(out, l->picture->class_name[c], letters > 1 ? letters : 2);
        tacit_write_text(out, "</text>\n");
    }
}

static void write_heat(tacit_writer *out, const layout *l)
{
    tacit_axis axis;
    const double width = cell_width(l), bars = LEFT + width * l->picture->classes + 20;
    if (!write_axis(out, l, &axis, bars, bars + BARS))
        return;
    write_column_names(out, l);
    tacit_write_format(out, "<text x=\"%.1f\" y=\"%.1f\">records</text>\n", bars, l->top - 6);
    double gap = l->row_height >= 10 ? 1 : 0.5;
    tacit_write_format(out,
                       "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"o\"/>\n",
                       LEFT, l->top, width * l->picture->classes, l->rows * l->row_height);
    for (uint32_t row = 0; row < l->rows; row++) {
        uint32_t agent = agent_of(l, row);
        double y = l->top + row * l->row_height, x;
        open_row(out, l, row);
        tacit_write_text(out, "<g class=\"c0\">");
        for (uint32_t c = 0; c < l->picture->classes; c++) {
            uint32_t count = counts_of(l->picture, agent)[c];
            if (count > 0)
                tacit_write_format(out,
                                   "<rect fill=\"currentColor\" fill-opacity=\"%.3f\" x=\"%.2f\" "
                                   "y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>",
                                   strength(count, l->fullest_cell), LEFT + c * width, y + gap / 2,
                                   width - 1, l->row_height - gap);
        }
        x = tacit_axis_place(&axis, size_of(l->picture, agent));
        tacit_write_text(out, "</g><g class=\"c6\">");
        write_rect(out, bars, y + 1, x - bars, l->row_height - 2);
        tacit_write_text(out, "</g></g>\n");
    }
}

/* ---- legend under the picture ---- */

static void write_heat_legend(tacit_writer *out, const layout *l, double y)
{
    enum { STEPS = 5 };
    tacit_write_format(
        out, "<text x=\"%d\" y=\"%.1f\">records of a class: 0</text><g class=\"c0\">", LEFT, y);
    for (int k = 0; k < STEPS; k++) {
        double count = (double)l->fullest_cell * k * k / ((STEPS - 1) * (STEPS - 1));
        tacit_write_format(
            out,
            "<rect fill=\"currentColor\" fill-opacity=\"%.3f\" stroke=\"currentColor\""
            " stroke-opacity=\".4\" x=\"%d\" y=\"%.1f\" width=\"20\" height=\"10\"/>",
            strength(count, l->fullest_cell > 0 ? l->fullest_cell : 1), LEFT + 142 + 22 * k, y - 9);
    }
    tacit_write_format(out, "</g><text x=\"%d\" y=\"%.1f\">%" PRIu32 "</text>\n",
                       LEFT + 142 + 22 * STEPS + 6, y, l->fullest_cell);
}

static void write_class_legend(tacit_writer *out, const layout *l, double y)
{
    double x = LEFT;
    for (uint32_t c = 0; c < l->picture->classes; c++) {
        tacit_write_format(out, "<g class=\"c%u\">", c % TACIT_COLOURS);
        write_rect(out, x, y - 9, 12, 10);
        tacit_write_format(out, "</g><text x=\"%.1f\" y=\"%.1f\">", x + 17, y);
        write_cut(out, l->picture->class_name[c], 8);
        tacit_write_text(out, "</text>\n");
        x += 76;
    }
}

/* ---- sizes of many agents ---- */

static void write_histogram(tacit_writer *out, const tacit_partition_picture *p, double top)
{
    uint32_t bins[BINS] = {0}, most = 0, fullest = 0;
    for (uint32_t i = 0; i < p->agents; i++) {
        uint32_t size = size_of(p, i);
        most = size > most ? size : most;
    }
    double each = fmax(1, ceil(((double)most + 1) / BINS));
    for (uint32_t i = 0; i < p->agents; i++) {
        uint32_t *bin = &bins[(uint32_t)(size_of(p, i) / each)];
        if (++*bin > fullest)
            fullest = *bin;
    }
    tacit_axis x, y;
    double bottom = top + HISTOGRAM - 34;
    tacit_axis_init(&x, false, LEFT, RIGHT);
    tacit_axis_init(&y, false, bottom, top + 14);
    tacit_axis_widen(&x, 0);
    tacit_axis_widen(&x, each * (floor(most / each) + 1));
    tacit_axis_widen(&y, 0);
    tacit_axis_widen(&y, fullest);
    if (!tacit_axis_round(&x, 6) || !tacit_axis_round(&y, 3))
        return;
    for (int vertical = 0; vertical < 2; vertical++) {
        const tacit_axis *a = vertical ? &y : &x;
        for (uint32_t k = 0; k < a->ticks; k++) {
            char label[TACIT_LABEL_MAX];
            double at = tacit_axis_place(a, a->tick[k].value);
            if (floor(a->tick[k].value) != a->tick[k].value)
                continue;
            tacit_axis_label(a, a->tick[k].value, label);
            if (vertical)
                tacit_write_format(out,
                                   "<path class=\"g\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
                                   "text-anchor=\"end\">%s</text>\n",
                                   LEFT, at, RIGHT, LEFT - 8, at + 4, label);
            else
                tacit_write_format(out,
                                   "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                                   at, bottom + 16, label);
        }
    }
    tacit_write_text(out, "<g class=\"c6\">");
    for (uint32_t b = 0; b < BINS; b++) {
        double from = tacit_axis_place(&x, b * each), to = tacit_axis_place(&x, (b + 1) * each);
        double height = bottom - tacit_axis_place(&y, bins[b]);
        if (bins[b] > 0)
            write_rect(out, from, bottom - height, fmax(to - from - 1, 0.5), height);
    }
    tacit_write_format(out,
                       "</g><text x=\"%d\" y=\"%.1f\">agents by their number of records</text>\n",
                       LEFT, top + 6);
}

/* ---- the whole ---- */

static const char file_style[] =
    "text{font:12px system-ui,sans-serif;fill:#59616b}.t{font-size:15px;font-weight:600;"
    "fill:#1b1f24}.g{stroke:#dfe3e8}.o{fill:#f0f2f5}.p{fill:#fff}"
    ".c0{color:" TACIT_LIGHT_0 "}.c1{color:" TACIT_LIGHT_1 "}.c2{color:" TACIT_LIGHT_2 "}"
    ".c3{color:" TACIT_LIGHT_3 "}.c4{color:" TACIT_LIGHT_4 "}.c5{color:" TACIT_LIGHT_5 "}"
    ".c6{color:" TACIT_LIGHT_6 "}.r{fill:currentColor;fill-opacity:.85}"
    "@media screen and (prefers-color-scheme:dark){text{fill:#a7b0ba}.t{fill:#e6e9ec}"
    ".g{stroke:#343c45}.o{fill:#252b31}.p{fill:#191d21}.c0{color:#56b4e9}.c1{color:#ff8a4c}"
    ".c2{color:#35c79a}.c3{color:#e08fc0}.c4{color:#f0b429}.c5{color:#a5d8ff}.c6{color:#cdd3da}}";
static const char page_style[] = ".o{fill:var(--faint)}";

static void open_picture(tacit_writer *out, const tacit_partition_picture *p, double height,
                         bool standalone)
{
    tacit_write_format(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" ",
                       WIDTH, height);
    if (standalone)
        tacit_write_format(out, "width=\"%d\" height=\"%.0f\" ", WIDTH, height);
    tacit_write_text(out, "role=\"img\" aria-label=\"");
    tacit_page_escape(out, p->title);
    tacit_write_format(out, "\">\n<style>%s</style>\n", standalone ? file_style : page_style);
    if (standalone) {
        tacit_write_text(out, "<rect class=\"p\" width=\"100%\" height=\"100%\"/>\n"
                              "<text class=\"t\" x=\"14\" y=\"22\">");
        tacit_page_escape(out, p->title);
        tacit_write_text(out, "</text>\n");
    }
    if (p->note) {
        tacit_write_format(out, "<text x=\"14\" y=\"%d\">", standalone ? 40 : 14);
        tacit_page_escape(out, p->note);
        tacit_write_text(out, "</text>\n");
    }
}

void tacit_draw_partition(tacit_writer *out, const tacit_partition_picture *picture,
                          bool standalone)
{
    layout l;
    bool many = picture->agents > TACIT_PARTITION_AGENTS;
    double top = (standalone ? 30 : 6) + (picture->note ? 20 : 0), histogram = top;
    top += many ? HISTOGRAM + 26 : 0;
    lay_out(&l, picture, top + (picture->classes > TACIT_COLOURS ? 16 : 4));
    double bottom = l.top + l.rows * l.row_height;
    open_picture(out, picture, bottom + 52, standalone);
    if (many) {
        write_histogram(out, picture, histogram + 8);
        tacit_write_format(out,
                           "<text x=\"%d\" y=\"%.1f\">%" PRIu32 " of the %" PRIu32
                           " agents, taken evenly</text>\n",
                           LEFT, top - 8, l.rows, picture->agents);
    }
    if (l.heat)
        write_heat(out, &l);
    else
        write_stacks(out, &l);
    write_row_names(out, &l);
    if (l.heat)
        write_heat_legend(out, &l, bottom + 40);
    else if (picture->class_name)
        write_class_legend(out, &l, bottom + 40);
    else
        tacit_write_format(out, "<text x=\"%d\" y=\"%.1f\">records of each agent</text>\n", LEFT,
                           bottom + 40);
    tacit_write_text(out, "</svg>\n");
}
