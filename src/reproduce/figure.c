/* SPDX-License-Identifier: Apache-2.0 */
#include "reproduce/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define TEXT_MAX 1200

static char *format(tacit_reproduced *f, const char *fmt, va_list args) TACIT_PRINTF(2, 0);
static char *format(tacit_reproduced *f, const char *fmt, va_list args)
{
    char text[TEXT_MAX];
    vsnprintf(text, sizeof text, fmt, args);
    char *copy = strdup(text);
    if (!copy)
        f->failed = true;
    return copy;
}

/* Room for one more item of an array; NULL, and remembered, when memory is out. */
static void *one_more(tacit_reproduced *f, void *array, size_t count, size_t *capacity, size_t item)
{
    void *grown = tacit_array_grow(array, capacity, count + 1, item);
    if (!grown)
        f->failed = true;
    return grown;
}

void figure_set(tacit_reproduced *f, const char *key, const char *fmt, ...)
{
    figure_setting *grown =
        one_more(f, f->settings, f->setting_count, &f->setting_capacity, sizeof *grown);
    if (!grown)
        return;
    f->settings = grown;
    figure_setting *setting = &f->settings[f->setting_count++];
    va_list args;
    va_start(args, fmt);
    setting->value = format(f, fmt, args);
    va_end(args);
    setting->key = strdup(key);
    if (!setting->key)
        f->failed = true;
}

size_t figure_add_panel(tacit_reproduced *f, const figure_panel *panel)
{
    figure_panel *grown = one_more(f, f->panels, f->panel_count, &f->panel_capacity, sizeof *grown);
    if (!grown)
        return 0;
    f->panels = grown;
    f->panels[f->panel_count] = *panel;
    return f->panel_count++;
}

void figure_add_series(tacit_reproduced *f, size_t panel, const char *name, size_t count,
                       const double *x, const double *y, const double *low, const double *high)
{
    figure_series *grown =
        one_more(f, f->series, f->series_count, &f->series_capacity, sizeof *grown);
    if (!grown)
        return;
    f->series = grown;
    figure_series *s = &f->series[f->series_count++];
    *s = (figure_series){.panel = panel, .name = strdup(name)};
    s->x = calloc(count ? 4 * count : 1, sizeof *s->x);
    if (!s->x || !s->name) {
        f->failed = true;
        return;
    }
    s->count = count;
    s->y = s->x + count;
    s->low = s->y + count;
    s->high = s->low + count;
    memcpy(s->x, x, count * sizeof *x);
    memcpy(s->y, y, count * sizeof *y);
    memcpy(s->low, low ? low : y, count * sizeof *y);
    memcpy(s->high, high ? high : y, count * sizeof *y);
}

void figure_draw(tacit_reproduced *f, uint32_t colour, bool dashed)
{
    if (f->series_count == 0)
        return;
    f->series[f->series_count - 1].colour = colour + 1;
    f->series[f->series_count - 1].dashed = dashed;
}

void figure_add_row(tacit_reproduced *f, double ours, double low, double high, double paper,
                    const char *fmt, ...)
{
    tacit_reproduced_row *grown =
        one_more(f, f->rows, f->row_count, &f->row_capacity, sizeof *grown);
    if (!grown)
        return;
    f->rows = grown;
    va_list args;
    va_start(args, fmt);
    char *what = format(f, fmt, args);
    va_end(args);
    f->rows[f->row_count++] = (tacit_reproduced_row){what, ours, low, high, paper, NAN};
}

void figure_judge(tacit_reproduced *f, double least)
{
    if (f->row_count > 0)
        f->rows[f->row_count - 1].least = least;
}

void figure_find(tacit_reproduced *f, const char *fmt, ...)
{
    const char **grown =
        one_more(f, f->findings, f->finding_count, &f->finding_capacity, sizeof *grown);
    if (!grown)
        return;
    f->findings = grown;
    va_list args;
    va_start(args, fmt);
    f->findings[f->finding_count++] = format(f, fmt, args);
    va_end(args);
}

void tacit_reproduced_free(tacit_reproduced *f)
{
    if (!f)
        return;
    for (size_t k = 0; k < f->setting_count; k++) {
        free(f->settings[k].key);
        free(f->settings[k].value);
    }
    for (size_t k = 0; k < f->series_count; k++) {
        free(f->series[k].name);
        free(f->series[k].x);
    }
    for (size_t k = 0; k < f->row_count; k++)
        free((char *)(uintptr_t)f->rows[k].what);
    for (size_t k = 0; k < f->finding_count; k++)
        free((char *)(uintptr_t)f->findings[k]);
    free(f->settings);
    free(f->panels);
    free(f->series);
    free(f->rows);
    free(f->findings);
    free(f);
}

size_t tacit_reproduced_rows(const tacit_reproduced *f, const tacit_reproduced_row **rows)
{
    *rows = f->rows;
    return f->row_count;
}

const char *tacit_reproduced_spread(const tacit_reproduced *f)
{
    return f->spread ? f->spread : "the least and the largest of them";
}

const char *tacit_reproduced_warning(const tacit_reproduced *f)
{
    return f->warning ? f->warning : "";
}

/* A whole number with a comma every three digits. */
static void with_commas(double value, char *out, size_t size)
{
    char digits[40];
    int len = snprintf(digits, sizeof digits, "%.0f", fabs(value));
    size_t used = 0;
    if (value < 0 && size > 1)
        out[used++] = '-';
    for (int k = 0; k < len && used + 2 < size; k++) {
        if (k > 0 && (len - k) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[k];
    }
    out[used] = '\0';
}

void tacit_reproduced_number(double value, char *out, size_t size)
{
    if (isnan(value))
        snprintf(out, size, "not reached");
    else if (value != 0 && fabs(value) < 1e-3)
        snprintf(out, size, "%.1e", value);
    else if (fabs(value) >= 999.5 && fabs(value) < 1e15)
        with_commas(value, out, size);
    else /* four decimals from 0.001 to 10 */
        snprintf(out, size, fabs(value) >= 1 && fabs(value) < 10 ? "%.5g" : "%.4g", value);
}

const char *tacit_reproduced_verdict(const tacit_reproduced_row *row)
{
    if (isnan(row->least))
        return "";
    return row->ours >= row->least ? ", reached" : ", NOT REACHED";
}

size_t tacit_reproduced_findings(const tacit_reproduced *f, const char *const **findings)
{
    *findings = f->findings;
    return f->finding_count;
}
