/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page.h"

#include <math.h>
#include <stdio.h>

/* The drawing, in SVG units. */
enum { WIDTH = 640, HEIGHT = 300, LEFT = 70, RIGHT = 20, TOP = 20, BOTTOM = 48 };

static const char style[] =
    ":root{--ink:#1b1f24;--soft:#5b6570;--line:#d5dae0;--paper:#fff;--c0:#0b63c5;--c1:#c2410c;"
    "--c2:#0f766e;--c3:#7c3aed}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#a3acb6;--line:#3a424b;"
    "--paper:#14171a;--c0:#6cb0ff;--c1:#ff9d66;--c2:#5fd3c4;--c3:#b79cff}}"
    "@media print{:root{--ink:#000;--soft:#333;--line:#bbb;--paper:#fff}}"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:44rem;margin:2rem auto;padding:0 1rem}"
    "h1{margin-bottom:0}h2{font-size:1.05rem;margin:1.6rem 0 .3rem}p.sub{color:var(--soft);"
    "margin-top:.2rem}table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);"
    "vertical-align:top}th{font-weight:500;color:var(--soft);white-space:nowrap}"
    "svg{width:100%;height:auto;break-inside:avoid}text{fill:var(--soft);font-size:12px}"
    ".grid{stroke:var(--line)}.s0{--c:var(--c0)}.s1{--c:var(--c1)}.s2{--c:var(--c2)}"
    ".s3{--c:var(--c3)}polyline{fill:none;stroke:var(--c);stroke-width:2}"
    "circle{fill:var(--c);fill-opacity:.55}.key{fill:var(--c);font-size:13px}";

static void escape(tacit_writer *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            tacit_write_text(out, "&amp;");
            break;
        case '<':
            tacit_write_text(out, "&lt;");
            break;
        case '>':
            tacit_write_text(out, "&gt;");
            break;
        case '"':
            tacit_write_text(out, "&quot;");
            break;
        default:
            tacit_write_bytes(out, text, 1);
        }
}

void tacit_page_open(tacit_writer *out, const char *title, const char *subtitle)
{
    tacit_write_text(out, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
                          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    escape(out, title);
    tacit_write_format(out, "</title>\n<style>%s</style>\n<h1>", style);
    escape(out, title);
    tacit_write_text(out, "</h1>\n<p class=\"sub\">");
    escape(out, subtitle);
    tacit_write_text(out, "</p>\n");
}

void tacit_page_table(tacit_writer *out)
{
    tacit_write_text(out, "<table>\n");
}

void tacit_page_figure(tacit_writer *out, const char *label, const char *fmt, ...)
{
    char value[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(value, sizeof value, fmt, args);
    va_end(args);
    tacit_write_text(out, "<tr><th>");
    escape(out, label);
    tacit_write_text(out, "</th><td>");
    escape(out, value);
    tacit_write_text(out, "</td></tr>\n");
}

void tacit_page_table_end(tacit_writer *out)
{
    tacit_write_text(out, "</table>\n");
}

/* ---- charts ---- */

typedef struct axis {
    double low, high, step;
} axis;

static void widen(axis *a, double v)
{
    if (!isfinite(v))
        return;
    a->low = fmin(a->low, v);
    a->high = fmax(a->high, v);
}

/* Round borders and a step of 1, 2 or 5 times a power of ten, about `ticks` of them. */
static void round_axis(axis *a, int ticks)
{
    if (a->high - a->low < 1e-12 * fmax(1, fabs(a->high))) {
        double room = fmax(1e-3, 0.05 * fabs(a->high));
        a->low -= room;
        a->high += room;
    }
    double rough = (a->high - a->low) / ticks, power = pow(10, floor(log10(rough)));
    double lead = rough / power;
    a->step = power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
    a->low = a->step * floor(a->low / a->step + 1e-9);
    a->high = a->step * ceil(a->high / a->step - 1e-9);
}

static double place(const axis *a, double v, double from, double to)
{
    return from + (v - a->low) / (a->high - a->low) * (to - from);
}

static void draw_axes(tacit_writer *out, const tacit_chart *c, const axis *x, const axis *y)
{
    for (double v = y->low; v <= y->high + y->step / 2; v += y->step) {
        double at = place(y, v, HEIGHT - BOTTOM, TOP);
        tacit_write_format(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, at,
                           WIDTH - RIGHT);
        tacit_write_format(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n",
                           LEFT - 8, at + 4, fabs(v) < y->step / 2 ? 0 : v);
    }
    for (double v = x->low; v <= x->high + x->step / 2; v += x->step)
        tacit_write_format(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.6g</text>\n",
                           place(x, v, LEFT, WIDTH - RIGHT), HEIGHT - BOTTOM + 18, v);
    tacit_write_format(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                       (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8);
    escape(out, c->x_label);
    tacit_write_format(out,
                       "</text>\n<text transform=\"translate(14 %d) rotate(-90)\" "
                       "text-anchor=\"middle\">",
                       (TOP + HEIGHT - BOTTOM) / 2);
    escape(out, c->y_label);
    tacit_write_text(out, "</text>\n");
}

static void draw_series(tacit_writer *out, const tacit_chart *c, uint32_t k, const axis *x,
                        const axis *y)
{
    tacit_write_format(out, "<g class=\"s%u\">%s", k,
                       c->of[k].mark == TACIT_MARK_DOTS ? "" : "<polyline points=\"");
    for (size_t i = 0; i < c->of[k].count; i++) {
        if (!isfinite(c->of[k].x[i]) || !isfinite(c->of[k].y[i]))
            continue;
        tacit_write_format(out,
                           c->of[k].mark == TACIT_MARK_DOTS
                               ? "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>"
                               : "%.1f,%.1f ",
                           place(x, c->of[k].x[i], LEFT, WIDTH - RIGHT),
                           place(y, c->of[k].y[i], HEIGHT - BOTTOM, TOP));
    }
    tacit_write_format(out, "%s<text class=\"key\" x=\"%d\" y=\"%u\" text-anchor=\"end\">",
                       c->of[k].mark == TACIT_MARK_DOTS ? "" : "\"/>", WIDTH - RIGHT - 4,
                       (unsigned)(HEIGHT - BOTTOM - 8 - 16 * (c->series - 1 - k)));
    escape(out, c->of[k].name);
    tacit_write_text(out, "</text></g>\n");
}

void tacit_page_chart(tacit_writer *out, const tacit_chart *c)
{
    axis x = {INFINITY, -INFINITY, 0}, y = x;
    for (uint32_t k = 0; k < c->series; k++)
        for (size_t i = 0; i < c->of[k].count; i++)
            if (isfinite(c->of[k].x[i]) && isfinite(c->of[k].y[i])) {
                widen(&x, c->of[k].x[i]);
                widen(&y, c->of[k].y[i]);
            }
    if (x.low > x.high)
        return;
    round_axis(&x, 6);
    round_axis(&y, 5);
    tacit_write_text(out, "<h2>");
    escape(out, c->title);
    tacit_write_format(out, "</h2>\n<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH, HEIGHT);
    draw_axes(out, c, &x, &y);
    for (uint32_t k = 0; k < c->series; k++)
        draw_series(out, c, k, &x, &y);
    tacit_write_text(out, "</svg>\n");
}

void tacit_page_close(tacit_writer *out)
{
    tacit_write_text(out, "</html>\n");
}
