/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPORT_PAGE_H
#define TACIT_REPORT_PAGE_H
/*
 * One self-contained HTML page: figures in a table, curves and dots as inline SVG. It asks
 * nothing of the network, follows the reader's light or dark setting, and prints well.
 */
#include "report/writer.h"

#define TACIT_CHART_SERIES 4

typedef struct tacit_chart {
    const char *title, *x_label, *y_label;
    uint32_t series;
    struct {
        const char *name;
        bool dots; /* else a line */
        size_t count;
        const double *x, *y; /* not finite: left out */
    } of[TACIT_CHART_SERIES];
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
