/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bars do not add up alone: a run costs less after others than by itself. So each bar is what it
 * added to all before it, and where it ends is what was spent by then.
 */
#include "report/life.h"

#include "report/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 780,
    LEFT = 270, /* of bars */
    RIGHT = 680,
    HEAD = 50, /* name and note of a data set */
    ROW = 24,
    FOOT = 44, /* the axis below */
    TITLE = 34
};

static const char style[] =
    "text{font:12px system-ui,sans-serif;fill:#59616b}.t{font-size:15px;font-weight:600;"
    "fill:#1b1f24}.n{font-size:13px;font-weight:600;fill:#1b1f24}.g{stroke:#dfe3e8}"
    ".b{stroke:#b3261e;stroke-width:2}.bt{fill:#b3261e;font-weight:600}.s{fill:#f6f7f9}"
    ".p{fill:#fff}.h{fill:currentColor;fill-opacity:.15;stroke:currentColor;"
    "stroke-dasharray:4 3}.r{fill:currentColor;fill-opacity:.85}.k{stroke:#b6bdc6;"
    "stroke-dasharray:2 3}.c0{color:" TACIT_LIGHT_0 "}.c1{color:" TACIT_LIGHT_1
    "}.c2{color:" TACIT_LIGHT_2 "}.c3{color:" TACIT_LIGHT_3 "}.c4{color:" TACIT_LIGHT_4
    "}.c5{color:" TACIT_LIGHT_5 "}.c6{color:" TACIT_LIGHT_6 "}"
    "@media screen and (prefers-color-scheme:dark){text{fill:#a7b0ba}.t,.n{fill:#e6e9ec}"
    ".g{stroke:#343c45}.s{fill:#20252a}.p{fill:#191d21}.k{stroke:#59616b}.b{stroke:#ff8a80}"
    ".bt{fill:#ff8a80}.c0{color:#56b4e9}.c1{color:#ff8a4c}.c2{color:#35c79a}.c3{color:#e08fc0}"
    ".c4{color:#f0b429}.c5{color:#a5d8ff}.c6{color:#cdd3da}}";

static double height_of(const tacit_life *l)
{
    return HEAD + ROW * (double)(l->count > 0 ? l->count : 1) + FOOT;
}

static void write_words(tacit_writer *out, const char *class_name, double x, double y,
                        const char *anchor, const char *text)
{
    tacit_write_format(out, "<text%s x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class_name, x, y,
                       anchor);
    tacit_page_escape(out, text);
    tacit_write_text(out, "</text>\n");
}

/* At most `most` bytes of whole letters. */
static void write_cut(tacit_writer *out, double x, double y, const char *text, size_t most)
{
    char kept[80];
    size_t end = 0, len = strlen(text);
    while (end < len && end < most) {
        const size_t n = tacit_character_length(text + end, len - end);
        if (end + (n ? n : 1) > most)
            break;
        end += n ? n : 1;
    }
    snprintf(kept, sizeof kept, "%.*s%s", (int)end, text, end < len ? "…" : "");
    write_words(out, "", x, y, "start", kept);
}

/* Runs of one kind look alike: the place of the first of its kind among kinds. */
static unsigned colour_of(const tacit_life *l, size_t run)
{
    unsigned kinds = 0;
    for (size_t k = 0; k < run; k++) {
        size_t before = 0;
        while (before < k && strcmp(l->runs[before].kind, l->runs[k].kind) != 0)
            before++;
        if (strcmp(l->runs[k].kind, l->runs[run].kind) == 0)
            return kinds % TACIT_COLOURS;
        kinds += before == k;
    }
    return kinds % TACIT_COLOURS;
}

/* ---- the axis ---- */

static bool fit(tacit_axis *axis, const tacit_life *l)
{
    tacit_axis_init(axis, false, LEFT, RIGHT);
    tacit_axis_widen(axis, 0);
    if (isfinite(l->budget) && l->budget > 0)
        tacit_axis_widen(axis, l->budget);
    for (size_t k = 0; k < l->count; k++)
        if (tacit_axis_takes(axis, l->runs[k].until))
            tacit_axis_widen(axis, l->runs[k].until);
    if (axis->high <= 0)
        tacit_axis_widen(axis, 1);
    return tacit_axis_round(axis, 6);
}

static void write_axis(tacit_writer *out, const tacit_axis *axis, double top, double bottom)
{
    for (uint32_t k = 0; k < axis->ticks; k++) {
        char label[TACIT_LABEL_MAX];
        const double x = tacit_axis_place(axis, axis->tick[k].value);
        if (axis->tick[k].minor)
            continue;
        tacit_axis_label(axis, axis->tick[k].value, label);
        tacit_write_format(out, "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/>", x, top, bottom + 4);
        write_words(out, "", x, bottom + 18, "middle", label);
    }
    write_words(out, "", LEFT - 10, bottom + 18, "end", "epsilon spent");
}

static void write_budget(tacit_writer *out, const tacit_axis *axis, double budget, double top,
                         double bottom)
{
    char label[TACIT_LABEL_MAX], text[TACIT_LABEL_MAX + 16];
    if (!isfinite(budget))
        return;
    const double x = tacit_axis_place(axis, budget);
    tacit_number_words(budget, 4, label);
    snprintf(text, sizeof text, "budget %s", label);
    tacit_write_format(out, "<path class=\"b\" d=\"M%.1f %.1fV%.1f\"/>", x, top - 6, bottom + 4);
    write_words(out, " class=\"bt\"", x, top - 10, x > RIGHT - 40 ? "end" : "middle", text);
}

/* ---- runs ---- */

static void write_run(tacit_writer *out, const tacit_life *l, size_t k, const tacit_axis *axis,
                      double top)
{
    const tacit_life_run *run = &l->runs[k];
    const double before = k > 0 ? l->runs[k - 1].until : 0;
    const double y = top + ROW * (double)k, middle = y + ROW / 2.0 + 4;
    const bool bounded = isfinite(run->until);
    const double from = isfinite(before) ? tacit_axis_place(axis, before) : RIGHT;
    const double to = bounded ? tacit_axis_place(axis, run->until) : RIGHT;
    char label[TACIT_LABEL_MAX] = "unbounded";
    if (bounded)
        tacit_number_words(run->until, 4, label);
    write_words(out, "", 14, middle, "start", run->when);
    write_cut(out, 136, middle, run->name, 18);
    tacit_write_text(out, "<g><title>");
    tacit_page_escape(out, run->name);
    tacit_write_format(out, "%s</title><g class=\"c%u\">",
                       run->open ? ": reserved, not settled" : "", colour_of(l, k));
    tacit_write_format(
        out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" rx=\"2\"/>",
        run->open ? "h" : "r", from, y + 4, fmax(to - from, 1.5), ROW - 8);
    tacit_write_text(out, "</g></g>\n");
    if (k + 1 < l->count && bounded) /* where the next one begins */
        tacit_write_format(out, "<path class=\"k\" d=\"M%.2f %.1fV%.1f\"/>", to, y + ROW - 4,
                           y + ROW + 4);
    write_words(out, "", RIGHT + 14, middle, "start", label);
}

static void write_life(tacit_writer *out, const tacit_life *l, double top)
{
    tacit_axis axis;
    const double rows = top + HEAD, bottom = height_of(l) - HEAD - FOOT + rows;
    write_words(out, " class=\"n\"", 14, top + 14, "start", l->name);
    write_words(out, "", 14, top + 31, "start", l->note);
    if (!fit(&axis, l))
        return;
    tacit_write_format(out,
                       "<rect class=\"s\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>\n",
                       LEFT, rows, RIGHT - LEFT, bottom - rows);
    write_axis(out, &axis, rows, bottom);
    for (size_t k = 0; k < l->count; k++)
        write_run(out, l, k, &axis, rows);
    if (l->count == 0)
        write_words(out, "", LEFT + 12, rows + ROW / 2.0 + 4, "start", "no run yet");
    write_budget(out, &axis, l->budget, rows, bottom);
}

void tacit_draw_lives(tacit_writer *out, const char *title, const tacit_life *lives, size_t count)
{
    double height = TITLE + 26, top = TITLE;
    for (size_t k = 0; k < count; k++)
        height += height_of(&lives[k]);
    tacit_write_format(out,
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" "
                       "width=\"%d\" height=\"%.0f\" role=\"img\" aria-label=\"",
                       WIDTH, height, WIDTH, height);
    tacit_page_escape(out, title);
    tacit_write_format(out,
                       "\">\n<style>%s</style>\n<rect class=\"p\" width=\"100%%\" "
                       "height=\"100%%\"/>\n",
                       style);
    write_words(out, " class=\"t\"", 14, 22, "start", title);
    for (size_t k = 0; k < count; k++) {
        write_life(out, &lives[k], top);
        top += height_of(&lives[k]);
    }
    tacit_write_format(out,
                       "<g class=\"c6\"><rect class=\"r\" x=\"14\" y=\"%.1f\" width=\"16\" "
                       "height=\"10\" rx=\"2\"/><rect class=\"h\" x=\"%d\" y=\"%.1f\" "
                       "width=\"16\" height=\"10\" rx=\"2\"/></g>\n",
                       top + 1, LEFT, top + 1);
    write_words(out, "", 36, top + 10, "start", "what a run released");
    write_words(out, "", LEFT + 22, top + 10, "start",
                "reserved: runs, or ended without a clean end");
    tacit_write_text(out, "</svg>\n");
}
