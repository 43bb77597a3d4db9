/* SPDX-License-Identifier: Apache-2.0 */
/* A figure as JSON, CSV and a page, and the folder they go to. Nothing of it depends on the
 * machine or the hour, so equal runs have equal files. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/files.h"
#include "report/chart.h"
#include "reproduce/figure.h"

/* ---- JSON ---- */

static void json_numbers(tacit_json *json, const char *key, size_t count, const double *x)
{
    tacit_json_begin(json, key, '[');
    for (size_t k = 0; k < count; k++)
        tacit_json_real(json, NULL, x[k]);
    tacit_json_end(json, ']');
}

static void json_series(tacit_json *json, const tacit_reproduced *f, const figure_series *s)
{
    const figure_panel *panel = &f->panels[s->panel];
    tacit_json_begin(json, NULL, '{');
    tacit_json_text(json, "panel", panel->id);
    tacit_json_text(json, "name", s->name);
    tacit_json_text(json, "x_label", panel->x_label);
    tacit_json_text(json, "y_label", panel->y_label);
    json_numbers(json, "x", s->count, s->x);
    json_numbers(json, "y", s->count, s->y);
    json_numbers(json, "low", s->count, s->low);
    json_numbers(json, "high", s->count, s->high);
    tacit_json_bool(json, "unsound", s->dashed);
    tacit_json_end(json, '}');
}

static void json_rows(tacit_json *json, const tacit_reproduced *f)
{
    tacit_json_begin(json, "rows", '[');
    for (size_t k = 0; k < f->row_count; k++) {
        const tacit_reproduced_row *row = &f->rows[k];
        tacit_json_begin(json, NULL, '{');
        tacit_json_text(json, "what", row->what);
        tacit_json_real(json, "ours", row->ours);
        tacit_json_real(json, "low", row->low);
        tacit_json_real(json, "high", row->high);
        tacit_json_real(json, "paper", row->paper);
        if (!isnan(row->least)) {
            tacit_json_real(json, "least", row->least);
            tacit_json_bool(json, "reached", row->ours >= row->least);
        }
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, ']');
}

static void json_figure(tacit_json *json, const tacit_reproduced *f)
{
    tacit_json_begin(json, NULL, '{');
    tacit_json_text(json, "schema", "tacit.reproduce/1");
    tacit_json_text(json, "name", f->of->name);
    tacit_json_text(json, "paper", f->of->paper);
    tacit_json_text(json, "title", f->of->title);
    tacit_json_bool(json, "quick", f->quick);
    tacit_json_begin(json, "settings", '{');
    for (size_t k = 0; k < f->setting_count; k++)
        tacit_json_text(json, f->settings[k].key, f->settings[k].value);
    tacit_json_end(json, '}');
    tacit_json_text(json, "paper_numbers", f->paper_numbers ? f->paper_numbers : "");
    tacit_json_text(json, "warning", tacit_reproduced_warning(f));
    tacit_json_text(json, "spread", tacit_reproduced_spread(f));
    json_rows(json, f);
    tacit_json_begin(json, "findings", '[');
    for (size_t k = 0; k < f->finding_count; k++)
        tacit_json_text(json, NULL, f->findings[k]);
    tacit_json_end(json, ']');
    tacit_json_begin(json, "series", '[');
    for (size_t k = 0; k < f->series_count; k++)
        json_series(json, f, &f->series[k]);
    tacit_json_end(json, ']');
    tacit_json_end(json, '}');
}

char *tacit_reproduced_json_all(const tacit_reproduced *const *all, size_t count)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    if (count == 1) {
        json_figure(&json, all[0]);
        return tacit_writer_take(&out);
    }
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.reproductions/1");
    tacit_json_begin(&json, "figures", '[');
    for (size_t k = 0; k < count; k++)
        json_figure(&json, all[k]);
    tacit_json_end(&json, ']');
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}

char *tacit_reproduced_json(const tacit_reproduced *f)
{
    return tacit_reproduced_json_all(&f, 1);
}

/* ---- CSV: one line a point ---- */

static void csv_number(tacit_writer *out, char before, double value)
{
    tacit_write_bytes(out, &before, 1);
    if (isfinite(value)) /* nothing between two commas is nothing */
        tacit_write_real(out, value);
}

static void csv_figure(tacit_writer *out, const tacit_reproduced *f, const char *prefix)
{
    for (size_t k = 0; k < f->series_count; k++) {
        const figure_series *s = &f->series[k];
        for (size_t i = 0; i < s->count; i++) {
            tacit_write_format(out, "%s%s%s,\"%s\"", prefix, *prefix ? ":" : "",
                               f->panels[s->panel].id, s->name);
            csv_number(out, ',', s->x[i]);
            csv_number(out, ',', s->y[i]);
            csv_number(out, ',', s->low[i]);
            csv_number(out, ',', s->high[i]);
            tacit_write_text(out, "\n");
        }
    }
}

static char *csv_text(const tacit_reproduced *const *all, size_t count)
{
    tacit_writer out = {0};
    tacit_write_text(&out, "panel,series,x,y,low,high\n");
    for (size_t k = 0; k < count; k++)
        csv_figure(&out, all[k], count > 1 ? all[k]->of->name : "");
    return tacit_writer_take(&out);
}

/* ---- the page ---- */

static void page_row(tacit_writer *out, const tacit_reproduced_row *row)
{
    char ours[40], low[40], high[40], number[40], paper[80] = "";
    tacit_reproduced_number(row->ours, ours, sizeof ours);
    tacit_reproduced_number(row->low, low, sizeof low);
    tacit_reproduced_number(row->high, high, sizeof high);
    tacit_reproduced_number(row->paper, number, sizeof number);
    if (!isnan(row->paper))
        snprintf(paper, sizeof paper, "; the paper: %s%s", number, tacit_reproduced_verdict(row));
    if (row->low < row->high)
        tacit_page_figure(out, row->what, "%s (%s to %s)%s", ours, low, high, paper);
    else
        tacit_page_figure(out, row->what, "%s%s", ours, paper);
}

/* Charts draw the colours after the first seven dashed. */
static uint32_t colour_of(const figure_series *s)
{
    return s->colour ? s->colour + (s->dashed ? TACIT_COLOURS : 0) : 0;
}

static void page_panel(tacit_writer *out, const tacit_reproduced *f, size_t which)
{
    const figure_panel *panel = &f->panels[which];
    tacit_chart chart = {.title = panel->title,
                         .x_label = panel->x_label,
                         .y_label = panel->y_label,
                         .note = panel->note,
                         .log_x = panel->log_x,
                         .log_y = panel->log_y};
    for (size_t k = 0; k < f->series_count; k++) {
        const figure_series *s = &f->series[k];
        if (s->panel == which && chart.series < TACIT_CHART_SERIES)
            chart.of[chart.series++] = (tacit_series){.name = s->name,
                                                      .count = s->count,
                                                      .x = s->x,
                                                      .y = s->y,
                                                      .low = s->low,
                                                      .high = s->high,
                                                      .colour = colour_of(s)};
    }
    if (chart.series > 0) /* of a table all of whose cells of this panel were left out, nothing */
        tacit_page_chart(out, &chart);
}

static void page_figure(tacit_writer *out, const tacit_reproduced *f)
{
    char spread[200];
    if (f->quick)
        tacit_page_words(out,
                         "A quick look: the task is smaller than the paper's and the numbers are "
                         "not comparable.",
                         true);
    if (f->warning)
        tacit_page_words(out, f->warning, true);
    for (size_t k = 0; k < f->finding_count; k++)
        tacit_page_words(out, f->findings[k], false);
    tacit_page_grid(out);
    for (size_t k = 0; k < f->panel_count; k++)
        page_panel(out, f, k);
    tacit_page_grid_end(out);
    tacit_page_heading(out, "In numbers");
    snprintf(spread, sizeof spread, "Mean over the runs, and %s.", tacit_reproduced_spread(f));
    tacit_page_words(out, spread, false);
    if (f->paper_numbers)
        tacit_page_words(out, f->paper_numbers, false);
    tacit_page_table(out);
    for (size_t k = 0; k < f->row_count; k++)
        page_row(out, &f->rows[k]);
    tacit_page_table_end(out);
    tacit_page_heading(out, "Settings");
    tacit_page_table(out);
    for (size_t k = 0; k < f->setting_count; k++)
        tacit_page_figure(out, f->settings[k].key, "%s", f->settings[k].value);
    tacit_page_table_end(out);
}

static char *page_text(const tacit_reproduced *const *all, size_t count, const char *note)
{
    tacit_writer out = {0};
    if (count == 1)
        tacit_page_open(&out, all[0]->of->title, all[0]->of->paper);
    else
        tacit_page_open(&out, "Figures and tables, run again", all[0]->of->paper);
    if (note && *note)
        tacit_page_words(&out, note, true);
    for (size_t k = 0; k < count; k++) {
        char heading[300];
        snprintf(heading, sizeof heading, "%s: %s", all[k]->of->name, all[k]->of->title);
        if (count > 1)
            tacit_page_heading(&out, heading);
        page_figure(&out, all[k]);
    }
    tacit_page_close(&out);
    return tacit_writer_take(&out);
}

/* ---- the folder ---- */

static const char *const names[] = {"reproduce.html", "data.csv", "summary.json"};
enum { FILES = sizeof names / sizeof *names };

static tacit_status stage(const tacit_folder *folder, const char *name, char *text,
                          tacit_error *err)
{
    if (!text)
        return tacit_out_of_memory(err);
    tacit_outfile file;
    tacit_status status = tacit_outfile_open(&file, folder, name, err);
    if (!status) {
        tacit_write_text(&file.text, text);
        status = tacit_outfile_stage(&file, err);
    }
    free(text);
    return status;
}

static void remove_files(const tacit_folder *folder)
{
    for (size_t k = 0; k < FILES && folder->dir >= 0; k++) {
        char temporary[64];
        snprintf(temporary, sizeof temporary, "%s.tmp", names[k]);
        unlinkat(folder->dir, temporary, 0);
        unlinkat(folder->dir, names[k], 0);
    }
}

tacit_status tacit_reproduced_write_all(const tacit_reproduced *const *all, size_t count,
                                        const char *note, const char *path, tacit_error *err)
{
    if (count == 0)
        return tacit_fail(err, TACIT_EINPUT, "there is no figure to write");
    tacit_folder folder;
    tacit_status status = tacit_folder_create(&folder, path, err);
    if (status)
        return status;
    status = stage(&folder, names[0], page_text(all, count, note), err);
    if (!status)
        status = stage(&folder, names[1], csv_text(all, count), err);
    if (!status)
        status = stage(&folder, names[2], tacit_reproduced_json_all(all, count), err);
    for (size_t k = 0; k < FILES && !status; k++)
        status = tacit_outfile_publish(&folder, names[k], err);
    if (!status)
        status = tacit_folder_sync(&folder, err);
    if (status) {
        remove_files(&folder);
        tacit_folder_abandon(&folder);
    }
    tacit_folder_close(&folder);
    return status;
}

tacit_status tacit_reproduced_write(const tacit_reproduced *f, const char *path, tacit_error *err)
{
    return tacit_reproduced_write_all(&f, 1, NULL, path, err);
}
