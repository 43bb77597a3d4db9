/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plot of a chart as SVG: axes, then bands, then dots and bars, then lines.
 *
 * Size is bounded whatever comes in: at most MOST_POINTS points a series and MOST_TOGETHER a
 * chart, so that a page of a million agents opens as quickly as one of ten.
 */
#include "report/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The drawing, in SVG units. */
enum { WIDTH = TACIT_PLOT_WIDTH, HEIGHT = TACIT_PLOT_HEIGHT, LEFT = TACIT_PLOT_LEFT };
enum { RIGHT = 18, TOP = 12, BOTTOM = 46 };
enum { MOST_POINTS = 2000, MOST_TOGETHER = 8000, MOST_TITLES = 400 };

typedef tacit_drawing drawing;

uint32_t tacit_series_colour(const tacit_chart *chart, uint32_t k)
{
    return chart->of[k].colour ? chart->of[k].colour - 1 : k;
}

static bool has_band(const tacit_series *s)
{
    return s->low && s->high && s->mark == TACIT_MARK_LINE;
}

static bool fits(const drawing *d, const tacit_series *s, size_t i)
{
    return tacit_axis_takes(&d->x, s->x[i]) && tacit_axis_takes(&d->y, s->y[i]);
}

/* ---- which points ---- */

/* Of each of `buckets` runs of points: the lowest and the highest, in their order; one if
 * `single`. The first and the last point of all stay. */
static void thin(drawing *d, const tacit_series *s, size_t buckets, bool single)
{
    size_t all = d->kept, out = 0;
    for (size_t b = 0; b < buckets; b++) {
        size_t begin = b * all / buckets, end = (b + 1) * all / buckets;
        size_t low = begin, high = begin;
        for (size_t i = begin; i < end; i++) {
            low = s->y[d->keep[i]] < s->y[d->keep[low]] ? i : low;
            high = s->y[d->keep[i]] > s->y[d->keep[high]] ? i : high;
        }
        if (b == 0)
            low = begin;
        if (b + 1 == buckets)
            high = end - 1;
        size_t first = low < high ? low : high, second = low < high ? high : low;
        if (single)
            second = first = s->mark == TACIT_MARK_BARS ? high : begin;
        size_t one = d->keep[first], two = d->keep[second];
        d->keep[out++] = one;
        if (one != two)
            d->keep[out++] = two;
    }
    d->kept = out;
}

static bool choose_points(drawing *d, const tacit_series *s)
{
    size_t bytes;
    free(d->keep);
    d->keep = NULL;
    d->kept = 0;
    if (!tacit_mul_size(s->count + 1, sizeof *d->keep, &bytes) || !(d->keep = malloc(bytes)))
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (fits(d, s, i))
            d->keep[d->kept++] = i;
    size_t most = MOST_TOGETHER / d->chart->series;
    most = most < MOST_POINTS ? most : MOST_POINTS;
    if (d->kept > most) {
        bool pairs = s->mark == TACIT_MARK_LINE && !has_band(s);
        thin(d, s, pairs ? most / 2 : most, !pairs);
    }
    return true;
}

/* ---- axes ---- */

/* Bars are as wide as the closest two of them allow. */
static void widen_for_bars(drawing *d)
{
    double gap = INFINITY, low = INFINITY, high = -INFINITY;
    for (uint32_t k = 0; k < d->chart->series; k++) {
        const tacit_series *s = &d->chart->of[k];
        if (s->mark != TACIT_MARK_BARS)
            continue;
        d->bars++;
        double last = NAN;
        for (size_t i = 0; i < s->count; i++) {
            if (!fits(d, s, i))
                continue;
            double at = d->x.log ? log10(s->x[i]) : s->x[i];
            if (fabs(at - last) > 0)
                gap = fmin(gap, fabs(at - last));
            last = at;
            low = fmin(low, at);
            high = fmax(high, at);
        }
    }
    if (d->bars == 0 || low > high)
        return;
    if (!isfinite(gap))
        gap = d->x.log ? 0.3 : fmax(1, 0.1 * fabs(low));
    d->bar = gap;
    tacit_axis_widen(&d->x, d->x.log ? pow(10, low - gap / 2) : low - gap / 2);
    tacit_axis_widen(&d->x, d->x.log ? pow(10, high + gap / 2) : high + gap / 2);
    if (!d->y.log)
        tacit_axis_widen(&d->y, 0);
}

bool tacit_drawing_fit(drawing *d, const tacit_chart *c)
{
    *d = (drawing){.chart = c};
    if (c->series == 0 || c->series > TACIT_CHART_SERIES)
        return false;
    tacit_axis_init(&d->x, c->log_x, LEFT, WIDTH - RIGHT);
    tacit_axis_init(&d->y, c->log_y, HEIGHT - BOTTOM, TOP);
    for (uint32_t k = 0; k < c->series; k++)
        for (size_t i = 0; i < c->of[k].count; i++) {
            if (!fits(d, &c->of[k], i))
                continue;
            tacit_axis_widen(&d->x, c->of[k].x[i]);
            tacit_axis_widen(&d->y, c->of[k].y[i]);
            if (has_band(&c->of[k])) {
                tacit_axis_widen(&d->y, c->of[k].low[i]);
                tacit_axis_widen(&d->y, c->of[k].high[i]);
            }
        }
    widen_for_bars(d);
    return tacit_axis_round(&d->x, 6) && tacit_axis_round(&d->y, 5);
}

static void write_grid(tacit_writer *out, const drawing *d)
{
    char label[TACIT_LABEL_MAX];
    for (uint32_t i = 0; i < d->y.ticks; i++) {
        const tacit_tick *t = &d->y.tick[i];
        double at = tacit_axis_place(&d->y, t->value);
        tacit_write_format(out, "<path class=\"%s\" d=\"M%d %.1fH%d\"/>", t->minor ? "m" : "g",
                           LEFT, at, WIDTH - RIGHT);
        if (t->minor)
            continue;
        tacit_axis_label(&d->y, t->value, label);
        tacit_write_format(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                           LEFT - 8, at + 4, label);
    }
    for (uint32_t i = 0; i < d->x.ticks; i++) {
        const tacit_tick *t = &d->x.tick[i];
        double at = tacit_axis_place(&d->x, t->value);
        if (t->minor) {
            tacit_write_format(out, "<path class=\"m\" d=\"M%.1f %dV%d\"/>", at, TOP,
                               HEIGHT - BOTTOM);
            continue;
        }
        tacit_axis_label(&d->x, t->value, label);
        tacit_write_format(out,
                           "<path class=\"g\" d=\"M%.1f %dv5\"/><text x=\"%.1f\" y=\"%d\" "
                           "text-anchor=\"middle\">%s</text>\n",
                           at, HEIGHT - BOTTOM, at, HEIGHT - BOTTOM + 19, label);
    }
}

static void write_labels(tacit_writer *out, const drawing *d)
{
    tacit_write_format(out, "<path class=\"a\" d=\"M%d %dH%d\"/>", LEFT, HEIGHT - BOTTOM,
                       WIDTH - RIGHT);
    tacit_write_format(out, "<text class=\"n\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                       (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6);
    tacit_page_escape(out, d->chart->x_label);
    tacit_write_format(out,
                       "</text>\n<text class=\"n\" transform=\"translate(13 %d) rotate(-90)\" "
                       "text-anchor=\"middle\">",
                       (TOP + HEIGHT - BOTTOM) / 2);
    tacit_page_escape(out, d->chart->y_label);
    tacit_write_text(out, "</text>\n");
}

/* ---- marks ---- */

static void write_title(tacit_writer *out, const tacit_series *s, size_t i)
{
    char x[TACIT_LABEL_MAX], y[TACIT_LABEL_MAX];
    tacit_number_words(s->x[i], 4, x);
    tacit_number_words(s->y[i], 4, y);
    tacit_write_text(out, "<title>");
    tacit_page_escape(out, s->name);
    tacit_write_format(out, ": %s at %s</title>", y, x);
}

/* A coordinate, without zeros behind the point. */
static void write_at(tacit_writer *out, double at, int decimals)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%.*f", decimals, at);
    while (len > 1 && text[len - 1] == '0')
        len--;
    if (len > 1 && text[len - 1] == '.')
        len--;
    tacit_write_bytes(out, text, (size_t)len);
}

static void write_point(tacit_writer *out, const drawing *d, double x, double y, int decimals)
{
    write_at(out, tacit_axis_place(&d->x, x), decimals);
    tacit_write_text(out, ",");
    write_at(out, tacit_axis_place(&d->y, y), decimals);
    tacit_write_text(out, " ");
}

/* What leaves a log axis downwards ends at its border. */
static double onto(const tacit_axis *axis, double value)
{
    return tacit_axis_takes(axis, value) ? value : axis->low;
}

static void write_band(tacit_writer *out, const drawing *d, const tacit_series *s)
{
    tacit_write_text(out, "<polygon class=\"b\" points=\"");
    for (size_t k = 0; k < d->kept; k++)
        if (isfinite(s->low[d->keep[k]]) && isfinite(s->high[d->keep[k]]))
            write_point(out, d, s->x[d->keep[k]], onto(&d->y, s->high[d->keep[k]]), 1);
    for (size_t k = d->kept; k-- > 0;)
        if (isfinite(s->low[d->keep[k]]) && isfinite(s->high[d->keep[k]]))
            write_point(out, d, s->x[d->keep[k]], onto(&d->y, s->low[d->keep[k]]), 1);
    tacit_write_text(out, "\"/>");
}

static void write_line(tacit_writer *out, const drawing *d, const tacit_series *s, bool second)
{
    tacit_write_format(out, "<polyline class=\"l%s\" points=\"", second ? " l2" : "");
    for (size_t k = 0; k < d->kept; k++)
        write_point(out, d, s->x[d->keep[k]], s->y[d->keep[k]], 2); /* the script reads them */
    tacit_write_text(out, "\"><title>");
    tacit_page_escape(out, s->name);
    tacit_write_text(out, "</title></polyline>");
    if (d->kept == 1) /* a line of one point cannot be seen */
        tacit_write_format(out, "<circle r=\"4\" class=\"r\" cx=\"%.1f\" cy=\"%.1f\"/>",
                           tacit_axis_place(&d->x, s->x[d->keep[0]]),
                           tacit_axis_place(&d->y, s->y[d->keep[0]]));
}

static void write_dots(tacit_writer *out, const drawing *d, const tacit_series *s, bool second)
{
    const char *size = d->kept > 600 ? "2" : "3";
    tacit_write_format(out, "<g class=\"d%s\">", second ? " d2" : "");
    for (size_t k = 0; k < d->kept; k++) {
        size_t i = d->keep[k];
        tacit_write_text(out, "<circle cx=\"");
        write_at(out, tacit_axis_place(&d->x, s->x[i]), 1);
        tacit_write_text(out, "\" cy=\"");
        write_at(out, tacit_axis_place(&d->y, s->y[i]), 1);
        tacit_write_format(out, "\" r=\"%s\"", size);
        if (d->kept <= MOST_TITLES) {
            tacit_write_text(out, ">");
            write_title(out, s, i);
            tacit_write_text(out, "</circle>");
        } else
            tacit_write_text(out, "/>");
    }
    tacit_write_text(out, "</g>");
}

/* `place` of d->bars at the same x. */
static void write_bars(tacit_writer *out, const drawing *d, const tacit_series *s, uint32_t place,
                       bool second)
{
    double span = d->x.log ? log10(d->x.high) - log10(d->x.low) : d->x.high - d->x.low;
    double all = 0.9 * d->bar / span * (d->x.to - d->x.from), one = all / d->bars;
    double ground =
        tacit_axis_place(&d->y, d->y.log || d->y.low > 0 ? d->y.low : fmin(d->y.high, 0));
    tacit_write_format(out, "<g class=\"r%s\">", second ? " r2" : "");
    for (size_t k = 0; k < d->kept; k++) {
        size_t i = d->keep[k];
        double x = tacit_axis_place(&d->x, s->x[i]) - all / 2 + place * one;
        double y = tacit_axis_place(&d->y, s->y[i]);
        tacit_write_format(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"", x,
                           fmin(y, ground), fmax(one, 0.5), fabs(y - ground));
        if (d->kept <= MOST_TITLES) {
            tacit_write_text(out, ">");
            write_title(out, s, i);
            tacit_write_text(out, "</rect>");
        } else
            tacit_write_text(out, "/>");
    }
    tacit_write_text(out, "</g>");
}

/* Bands lie under all lines, lines over dots. */
static void write_marks(tacit_writer *out, drawing *d)
{
    uint32_t place = 0;
    for (int layer = 0; layer < 3; layer++)
        for (uint32_t k = 0; k < d->chart->series; k++) {
            const tacit_series *s = &d->chart->of[k];
            int own = s->mark == TACIT_MARK_LINE ? 2 : 1;
            if (layer == 0 ? !has_band(s) : layer != own)
                continue;
            if (!choose_points(d, s)) {
                out->failed = true;
                return;
            }
            uint32_t colour = tacit_series_colour(d->chart, k);
            bool second = colour >= TACIT_COLOURS;
            tacit_write_format(out, "<g class=\"c%u\">", colour % TACIT_COLOURS);
            if (layer == 0)
                write_band(out, d, s);
            else if (s->mark == TACIT_MARK_LINE)
                write_line(out, d, s, second);
            else if (s->mark == TACIT_MARK_DOTS)
                write_dots(out, d, s, second);
            else
                write_bars(out, d, s, place++, second);
            tacit_write_text(out, "</g>\n");
        }
}

bool tacit_drawing_has(const drawing *d, const tacit_series *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (fits(d, s, i))
            return true;
    return false;
}

void tacit_drawing_write(tacit_writer *out, drawing *d)
{
    write_grid(out, d);
    write_marks(out, d);
    write_labels(out, d);
    free(d->keep);
    d->keep = NULL;
}
