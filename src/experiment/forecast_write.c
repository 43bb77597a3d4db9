/* SPDX-License-Identifier: Apache-2.0 */
/* A forecast as JSON and CSV, and the folder with its page. Nothing of it depends on the machine
 * or the hour. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/files.h"
#include "experiment/forecast_page.h"

/* ---- JSON ---- */

static void json_outlook(tacit_json *json, const char *key, const tacit_outlook *o)
{
    tacit_json_begin(json, key, '{');
    tacit_json_real(json, "psi", o->psi);
    tacit_json_real(json, "low", o->low);
    tacit_json_real(json, "high", o->high);
    tacit_json_bool(json, "outside", o->outside);
    tacit_json_end(json, '}');
}

static void json_law(tacit_json *json, const char *key, const tacit_fitness_law *law)
{
    tacit_json_begin(json, key, '{');
    tacit_json_real(json, "c0", law->c[0]);
    tacit_json_real(json, "c1", law->c[1]);
    tacit_json_real(json, "c2", law->c[2]);
    tacit_json_real(json, "crowd", law->crowd);
    tacit_json_bool(json, "fitted", law->freedom > 0);
    if (law->freedom > 0) {
        tacit_json_count(json, "runs", law->points);
        tacit_json_count(json, "settings", law->settings);
        tacit_json_count(json, "freedom", law->freedom);
        tacit_json_real(json, "within", law->within);
        tacit_json_real(json, "between", law->between);
        tacit_json_real(json, "worst", law->worst);
        tacit_json_real(json, "least", law->least);
        tacit_json_real(json, "most", law->most);
        tacit_json_bool(json, "floor_seen", tacit_fitness_law_floor_seen(law));
        tacit_json_bool(json, "bad", tacit_fitness_law_is_bad(law));
    }
    tacit_json_end(json, '}');
}

static void json_owners(tacit_json *json, const tacit_forecast_view *view)
{
    tacit_json_begin(json, "owners", '[');
    for (size_t i = 0; i < view->count; i++) {
        const tacit_stake *stake = &view->stakes[i];
        tacit_json_begin(json, NULL, '{');
        tacit_json_text(json, "owner", view->owners[i].name);
        tacit_json_real(json, "records", view->owners[i].records);
        tacit_json_real(json, "epsilon", view->owners[i].epsilon);
        json_outlook(json, "alone", &stake->alone);
        json_outlook(json, "together", &stake->together);
        tacit_json_real(json, "chance", stake->chance);
        tacit_json_real(json, "least_own_epsilon", stake->own);
        tacit_json_real(json, "least_common_epsilon", stake->everyone);
        tacit_json_real(json, "least_partners", stake->partners);
        tacit_json_bool(json, "least_own_epsilon_outside", stake->own_outside);
        tacit_json_bool(json, "least_common_epsilon_outside", stake->everyone_outside);
        tacit_json_bool(json, "least_partners_outside", stake->partners_outside);
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, ']');
}

static void json_map(tacit_json *json, const char *key, const char *by, const double *x,
                     const double *border, const double *sure, const double *hopeless,
                     const bool *outside)
{
    tacit_json_begin(json, key, '[');
    for (int k = 0; k < TACIT_MAP_COLUMNS; k++) {
        tacit_json_begin(json, NULL, '{');
        tacit_json_real(json, by, x[k]);
        tacit_json_real(json, "epsilon", border[k]);
        tacit_json_real(json, "epsilon_95", sure[k]);
        tacit_json_real(json, "epsilon_5", hopeless[k]);
        tacit_json_bool(json, "outside", outside[k]);
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, ']');
}

static void json_pilots(tacit_json *json, const tacit_pilots *pilots)
{
    tacit_json_begin(json, "pilots", '{');
    tacit_json_text(json, "experiment", pilots->name);
    tacit_json_bool(json, "from_file", pilots->from_file);
    if (pilots->from_file)
        tacit_json_text(json, "remark",
                        "pilots are charged to nobody: the records of the file must be public or "
                        "made up; pilots on private records would be a leak");
    tacit_json_count(json, "hopeless", pilots->hopeless);
    tacit_json_begin(json, "runs", '[');
    for (size_t k = 0; k < pilots->count; k++) {
        tacit_json_begin(json, NULL, '{');
        tacit_json_real(json, "owners", pilots->run[k].owners);
        tacit_json_real(json, "records", pilots->run[k].records);
        tacit_json_real(json, "noise", pilots->run[k].noise);
        tacit_json_real(json, "psi", pilots->run[k].psi);
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, ']');
    tacit_json_begin(json, "alone", '[');
    for (size_t k = 0; k < pilots->lone_count; k++) {
        tacit_json_begin(json, NULL, '{');
        tacit_json_real(json, "own", pilots->lone[k].own);
        tacit_json_real(json, "pooled", pilots->lone[k].pooled);
        tacit_json_real(json, "psi", pilots->lone[k].psi);
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, ']');
    tacit_json_end(json, '}');
}

static void json_checked(tacit_json *json, const tacit_forecast_view *view)
{
    tacit_json_begin(json, "checked", '[');
    for (size_t k = 0; k < view->checks; k++) {
        tacit_json_begin(json, NULL, '{');
        tacit_json_real(json, "together", view->checked[k].together);
        tacit_json_real(json, "alone", view->checked[k].alone);
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, ']');
}

char *tacit_forecast_json(const tacit_forecast_view *view)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    const tacit_forecast_map map = tacit_forecast_draw(view);
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.forecast/1");
    tacit_json_real(&json, "coverage", view->coverage);
    tacit_json_bool(&json, "reliable",
                    !tacit_fitness_law_is_bad(view->together) &&
                        !tacit_fitness_law_is_bad(view->alone));
    json_law(&json, "together", view->together);
    json_law(&json, "alone", view->alone);
    json_owners(&json, view);
    json_map(&json, "by_owners", "owners", map.owners, map.border, map.sure, map.hopeless,
             map.outside);
    json_map(&json, "by_records", "records", map.records, map.by_records, map.records_sure,
             map.records_hopeless, map.records_outside);
    if (view->checks > 0)
        json_checked(&json, view);
    if (view->pilots)
        json_pilots(&json, view->pilots);
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}

/* ---- CSV ---- */

static char *csv_text(const tacit_forecast_view *view)
{
    tacit_writer out = {0};
    tacit_write_text(&out, "owner,records,epsilon,alone,alone_low,alone_high,together,together_low,"
                           "together_high,chance,least_own_epsilon,least_common_epsilon,"
                           "least_partners,least_own_epsilon_outside,"
                           "least_common_epsilon_outside,least_partners_outside\n");
    for (size_t i = 0; i < view->count; i++) {
        const tacit_joiner *owner = &view->owners[i];
        const tacit_stake *s = &view->stakes[i];
        const double cells[] = {owner->records,  owner->epsilon,      s->alone.psi,
                                s->alone.low,    s->alone.high,       s->together.psi,
                                s->together.low, s->together.high,    s->chance,
                                s->own,          s->everyone,         s->partners,
                                s->own_outside,  s->everyone_outside, s->partners_outside};
        tacit_csv_text(&out, owner->name);
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
            tacit_write_text(&out, ",");
            tacit_csv_cell(&out, cells[k]);
        }
        tacit_write_text(&out, "\n");
    }
    return tacit_writer_take(&out);
}

/* ---- the folder ---- */

static const char *const names[] = {"forecast.html", "forecast.csv", "map.svg", "summary.json"};
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

tacit_status tacit_forecast_write(const tacit_forecast_view *view, const char *path,
                                  tacit_error *err)
{
    tacit_folder folder;
    tacit_status status = tacit_folder_create(&folder, path, err);
    if (status)
        return status;
    status = stage(&folder, names[0], tacit_forecast_page(view), err);
    if (!status)
        status = stage(&folder, names[1], csv_text(view), err);
    if (!status)
        status = stage(&folder, names[2], tacit_forecast_svg(view), err);
    if (!status)
        status = stage(&folder, names[3], tacit_forecast_json(view), err);
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
