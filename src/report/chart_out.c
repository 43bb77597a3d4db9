/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chart on a page and a chart as a file. The legend never lies over the data: it is a list
 * under the plot on a page, which the browser wraps, and rows under the plot in a file.
 */
#include "report/chart.h"

#include <string.h>

/* ---- the chart on a page ---- */

/* A line that says what the axis says needs no legend. */
static bool is_listed(const tacit_drawing *d, const tacit_series *s)
{
    return s->name[0] && tacit_drawing_has(d, s) &&
           (d->chart->series > 1 || strcmp(s->name, d->chart->y_label) != 0);
}

static void write_legend(tacit_writer *out, const tacit_drawing *d)
{
    static const char *const mark[] = {"line", "dot", "bar"};
    tacit_write_text(out, "<ul class=\"legend\">");
    for (uint32_t k = 0; k < d->chart->series; k++) {
        const tacit_series *s = &d->chart->of[k];
        if (!is_listed(d, s))
            continue;
        uint32_t colour = tacit_series_colour(d->chart, k);
        tacit_write_format(out, "<li class=\"c%u\"><i class=\"%s%s\"></i><span>",
                           colour % TACIT_COLOURS, mark[s->mark],
                           colour >= TACIT_COLOURS ? " second" : "");
        tacit_page_escape(out, s->name);
        tacit_write_text(out, "</span></li>");
    }
    tacit_write_text(out, "</ul>\n");
}

/* What the script needs to read values off the drawing. */
static void axis_attribute(tacit_writer *out, const char *name, const tacit_axis *a)
{
    tacit_write_format(out, " %s=\"%.9g %.9g %.0f %.0f %d\"", name, a->low, a->high, a->from, a->to,
                       a->log);
}

void tacit_page_chart(tacit_writer *out, const tacit_chart *c)
{
    tacit_drawing d;
    if (!tacit_drawing_fit(&d, c))
        return;
    tacit_write_text(out, "<figure class=\"chart\">\n<figcaption><h3>");
    tacit_page_escape(out, c->title);
    tacit_write_text(out, "</h3>");
    if (c->note) {
        tacit_write_text(out, "<p class=\"note\">");
        tacit_page_escape(out, c->note);
        tacit_write_text(out, "</p>");
    }
    tacit_write_format(out, "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\"",
                       TACIT_PLOT_WIDTH, TACIT_PLOT_HEIGHT);
    axis_attribute(out, "data-x", &d.x);
    axis_attribute(out, "data-y", &d.y);
    tacit_write_text(out, " aria-label=\"");
    tacit_page_escape(out, c->title);
    tacit_write_text(out, "\" data-label=\"");
    tacit_page_escape(out, c->x_label);
    tacit_write_text(out, "\">\n");
    tacit_drawing_write(out, &d);
    tacit_write_text(out, "</svg>\n");
    write_legend(out, &d);
    tacit_write_text(out, "</figure>\n");
}

/* ---- the chart as a file ---- */

static const char file_style[] =
    "text{font:12px system-ui,sans-serif;fill:#59616b}.t{font-size:15px;font-weight:600;"
    "fill:#1b1f24}.g{stroke:#dfe3e8}.m{stroke:#eff1f4}.a{stroke:#9aa3ad}"
    ".c0{color:" TACIT_LIGHT_0 "}.c1{color:" TACIT_LIGHT_1 "}.c2{color:" TACIT_LIGHT_2 "}"
    ".c3{color:" TACIT_LIGHT_3 "}.c4{color:" TACIT_LIGHT_4 "}.c5{color:" TACIT_LIGHT_5 "}"
    ".c6{color:" TACIT_LIGHT_6 "}" TACIT_MARK_STYLE;

/* About as wide as the text will be; fonts differ, so generously. */
static double text_width(const char *text)
{
    double width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80 ? 7 : 0;
    return width;
}

static void legend_mark(tacit_writer *out, const tacit_series *s, double x, double y, bool second)
{
    if (s->mark == TACIT_MARK_LINE)
        tacit_write_format(out, "<path class=\"l%s\" d=\"M%.0f %.0fh18\"/>", second ? " l2" : "", x,
                           y - 4);
    else if (s->mark == TACIT_MARK_DOTS)
        tacit_write_format(out, "<circle class=\"d%s\" cx=\"%.0f\" cy=\"%.0f\" r=\"4\"/>",
                           second ? " d2" : "", x + 9, y - 4);
    else
        tacit_write_format(out,
                           "<rect class=\"r%s\" x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"10\"/>",
                           second ? " r2" : "", x + 3, y - 9);
}

/* Rows of the legend from `top`; returns where they end. Without `out` it only measures. */
static double file_legend(tacit_writer *out, const tacit_drawing *d, double top)
{
    double x = TACIT_PLOT_LEFT, y = top;
    for (uint32_t k = 0; k < d->chart->series; k++) {
        const tacit_series *s = &d->chart->of[k];
        double width = 40 + text_width(s->name);
        if (!is_listed(d, s))
            continue;
        if (x > TACIT_PLOT_LEFT && x + width > TACIT_PLOT_WIDTH) {
            x = TACIT_PLOT_LEFT;
            y += 19;
        }
        if (out) {
            uint32_t colour = tacit_series_colour(d->chart, k);
            tacit_write_format(out, "<g class=\"c%u\">", colour % TACIT_COLOURS);
            legend_mark(out, s, x, y, colour >= TACIT_COLOURS);
            tacit_write_format(out, "<text x=\"%.0f\" y=\"%.0f\">", x + 24, y);
            tacit_page_escape(out, s->name);
            tacit_write_text(out, "</text></g>\n");
        }
        x += width;
    }
    return y;
}

void tacit_chart_svg(tacit_writer *out, const tacit_chart *c)
{
    enum { HEAD = 30 };
    tacit_drawing d;
    bool drawn = tacit_drawing_fit(&d, c);
    const double head = HEAD + (c->note ? 18 : 0);
    const double legend = TACIT_PLOT_HEIGHT + 22;
    const double height = head + (drawn ? file_legend(NULL, &d, legend) : TACIT_PLOT_HEIGHT) + 14;
    tacit_write_format(out,
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
                       "viewBox=\"0 0 %d %.0f\" role=\"img\">\n<style>%s</style>\n"
                       "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                       "<text class=\"t\" x=\"14\" y=\"22\">",
                       TACIT_PLOT_WIDTH, height, TACIT_PLOT_WIDTH, height, file_style);
    tacit_page_escape(out, c->title);
    tacit_write_text(out, "</text>\n");
    if (c->note) {
        tacit_write_text(out, "<text x=\"14\" y=\"40\">");
        tacit_page_escape(out, c->note);
        tacit_write_text(out, "</text>\n");
    }
    tacit_write_format(out, "<g transform=\"translate(0 %.0f)\">\n", head);
    if (drawn) {
        tacit_drawing_write(out, &d);
        file_legend(out, &d, legend);
    }
    tacit_write_text(out, "</g>\n</svg>\n");
}
