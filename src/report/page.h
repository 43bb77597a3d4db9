/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPORT_PAGE_H
#define TACIT_REPORT_PAGE_H
/*
 * One self-contained HTML page: figures in a table, charts as inline SVG. It asks nothing of
 * the network (and tells the browser to refuse), follows the reader's light or dark setting,
 * and prints well. A few lines of script add a light/dark button and a read-out under the
 * pointer; without script the page says the same.
 */
#include "report/writer.h"

#define TACIT_CHART_SERIES 12

typedef enum tacit_mark { TACIT_MARK_LINE, TACIT_MARK_DOTS, TACIT_MARK_BARS } tacit_mark;

typedef struct tacit_series {
    const char *name; /* "": belongs to another, not in the legend */
    tacit_mark mark;
    size_t count;
    const double *x, *y;      /* not finite: left out; on a log axis what is <= 0 too */
    const double *low, *high; /* a band around y, or NULL */
    uint32_t colour;          /* 0: by its place; k: like the k-th series, to go with it */
} tacit_series;

typedef struct tacit_chart {
    const char *title, *x_label, *y_label;
    const char *note; /* a line under the title, or NULL */
    bool log_x, log_y;
    uint32_t series;
    tacit_series of[TACIT_CHART_SERIES];
} tacit_chart;

void tacit_page_open(tacit_writer *out, const char *title, const char *subtitle);
/* Text with &, <, > and quotes made harmless and broken UTF-8 replaced. */
void tacit_page_escape(tacit_writer *out, const char *text);
/* A heading; charts between _grid and _grid_end stand side by side where there is room. */
void tacit_page_heading(tacit_writer *out, const char *text);
void tacit_page_grid(tacit_writer *out);
void tacit_page_grid_end(tacit_writer *out);
/* A paragraph; `warning` makes it stand out. */
void tacit_page_words(tacit_writer *out, const char *text, bool warning);
/* A row of the table; text is escaped. Begin with tacit_page_table, end with _end. */
void tacit_page_table(tacit_writer *out);
void tacit_page_figure(tacit_writer *out, const char *label, const char *fmt, ...)
    TACIT_PRINTF(3, 4);
void tacit_page_table_end(tacit_writer *out);
/* Nothing is drawn if no point fits its axes. A series of more than about 2000 points is
 * thinned: of neighbouring points of a line the lowest and the highest stay. */
void tacit_page_chart(tacit_writer *out, const tacit_chart *chart);
void tacit_page_close(tacit_writer *out);

/* The same chart as an SVG file of its own, with its title and legend inside; an SVG without
 * marks when there is nothing to draw. */
void tacit_chart_svg(tacit_writer *out, const tacit_chart *chart);

#endif
