/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPORT_CHART_H
#define TACIT_REPORT_CHART_H
/* Inside of pages: what the drawing of charts shares with the page around them. */
#include "report/axis.h"
#include "report/page.h"

/* Seven colours that people who see colours differently can tell apart (after Okabe and Ito,
 * the light ones darker for white paper); further series come dashed. Class names c0...c6. */
#define TACIT_LIGHT_0 "#0072b2"
#define TACIT_LIGHT_1 "#d55e00"
#define TACIT_LIGHT_2 "#00875f"
#define TACIT_LIGHT_3 "#b4568c"
#define TACIT_LIGHT_4 "#c98500"
#define TACIT_LIGHT_5 "#3a9bd9"
#define TACIT_LIGHT_6 "#4a4f57"
#define TACIT_MARK_STYLE                                                       \
    ".l{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}"   \
    ".l2{stroke-dasharray:7 4}.b{fill:currentColor;fill-opacity:.17}"          \
    ".d{fill:currentColor;fill-opacity:.45}.d2{fill:none;stroke:currentColor}" \
    ".r{fill:currentColor;fill-opacity:.85}.r2{fill-opacity:.45}"

/* The plot of a chart, in SVG units. */
enum { TACIT_PLOT_WIDTH = 640, TACIT_PLOT_HEIGHT = 330, TACIT_PLOT_LEFT = 70 };
enum { TACIT_COLOURS = 7 };

typedef struct tacit_drawing {
    const tacit_chart *chart;
    tacit_axis x, y;
    double bar;    /* width of the bars at one x together, in values (log10 on a log axis) */
    uint32_t bars; /* series of bars */
    size_t *keep;  /* points of the series in hand that are drawn */
    size_t kept;
} tacit_drawing;

/* False: nothing to draw. */
bool tacit_drawing_fit(tacit_drawing *drawing, const tacit_chart *chart);
/* Does any point of the series fit? */
bool tacit_drawing_has(const tacit_drawing *drawing, const tacit_series *series);
/* Grid, marks and labels. */
void tacit_drawing_write(tacit_writer *out, tacit_drawing *drawing);
uint32_t tacit_series_colour(const tacit_chart *chart, uint32_t k);

/* look.c: CSS in three pieces, and the script. */
extern const char tacit_page_colours[], tacit_page_style[], tacit_page_details[];
extern const char tacit_page_script[];

#endif
