/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPORT_PAGE_H
#define TACIT_REPORT_PAGE_H
/*
 * One self-contained HTML page: figures in a table, curves and dots as inline SVG. It asks
 * nothing of the network, follows the reader's light or dark setting, and prints well.
 */
#include "report/writer.h"

#define TACIT_CHART_SERIES 12

typedef enum tacit_mark { TACIT_MARK_LINE, TACIT_MARK_DOTS, TACIT_MARK_BARS } tacit_mark;

typedef struct tacit_series {
    const char *name;
    tacit_mark mark;
    size_t count;
    const double *x, *y;      /* not finite: left out; on a log axis what is <= 0 too */
    const double *low, *high; /* a band around y, or NULL */
} tacit_series;

typedef struct tacit_chart {
    const char *title, *x_label, *y_label;
    const char *note; /* a line under the title, or NULL */
    bool log_x, log_y;
    uint32_t series;
    tacit_series of[TACIT_CHART_SERIES];
} tacit_chart;

void tacit_page_open(tacit_writer *out, const char *title, const char *subtitle);
/* A row of the table; text is escaped. Begin with tacit_page_table, end with _end. */
void tacit_page_table(tacit_writer *out);
void tacit_page_figure(tacit_writer *out, const char *label, const char *fmt, ...)
    TACIT_PRINTF(3, 4);
void tacit_page_table_end(tacit_writer *out);
/* Nothing is drawn if no point is finite. */
void tacit_page_chart(tacit_writer *out, const tacit_chart *chart);
void tacit_page_close(tacit_writer *out);

#endif
