/* SPDX-License-Identifier: Apache-2.0 */
/* tacit model predict: records from files, the class of each to CSV or JSON. */
#include "model.h"
#include "terminal.h"

#include "data/records.h"
#include "report/writer.h"

#include <stdlib.h>
#include <string.h>

typedef struct answer {
    const tacit_net_model *model;
    size_t records, classes;
    bool scored, labelled; /* with scores of all classes; right and wrong are known */
    float *scores;
    uint32_t *best;
    double accuracy;
} answer;

/* ---- how records are read ---- */

/* Keys of section "data" that say how a file is read. The others say who gets what, or do things
 * to records that the model has constants for. */
static tacit_status check_keys(const tacit_config *config, tacit_error *err)
{
    static const char *const fit[] = {"source",     "folder",       "labels-path",  "header",
                                      "separator",  "agent-column", "label-column", "ignore",
                                      "categories", "ordinal",      "hashed",       "buckets",
                                      "missing",    "classes"};
    for (size_t k = 0; k < config->count; k++) {
        const char *key = config->settings[k].key;
        bool found = false;
        for (size_t i = 0; !found && i < sizeof fit / sizeof *fit; i++)
            found = strncmp(key, "data.", 5) == 0 && strcmp(key + 5, fit[i]) == 0;
        if (!found)
            return tacit_fail(
                err, TACIT_EUSAGE,
                "--set %.100s does not say how records are read; expected data.header, "
                "data.separator, data.ignore, data.labels-path or another of "
                "docs/formats.md",
                key);
    }
    return TACIT_OK;
}

static tacit_status read_records(tacit_table *table, bool *labels, const cli_args *args,
                                 tacit_error *err)
{
    const char *folder = getenv("TACIT_DATA");
    tacit_config config;
    tacit_data_options *o = calloc(1, sizeof *o);
    tacit_config_init(&config);
    tacit_status status = o ? TACIT_OK : tacit_out_of_memory(err);
    for (size_t k = 0; k < args->repeated_count && !status; k++)
        status = tacit_config_set(&config, args->repeated[k], err);
    if (!status)
        status = check_keys(&config, err);
    if (!status)
        status = tacit_config_apply(&config, &tacit_data_section, o, err);
    if (status)
        goto out;
    if (folder && !tacit_config_get(&config, "data.folder") &&
        snprintf(o->folder, sizeof o->folder, "%s", folder) >= (int)sizeof o->folder) {
        status =
            tacit_fail(err, TACIT_EINPUT, "TACIT_DATA has more than %d bytes", TACIT_TEXT_MAX - 1);
        goto out;
    }
    *labels = *o->labels_path || tacit_config_get(&config, "data.label-column");
    status = tacit_records_read(table, o, !tacit_config_get(&config, "data.source"), *labels,
                                args->words + 2, args->word_count - 2, err);
out:
    tacit_config_clear(&config);
    free(o);
    return status;
}

static tacit_status check_shape(const tacit_table *table, const char *path, const char *records,
                                const tacit_net *net, tacit_error *err)
{
    char shape[100];
    if (table->features == tacit_net_inputs(net))
        return TACIT_OK;
    model_volume(tacit_net_input(net), shape, sizeof shape);
    return tacit_fail(err, TACIT_EINPUT,
                      "\"%.200s\" has records of %zu numbers, but \"%.200s\" takes %zu (%s); give "
                      "it records of that shape, or leave columns of a text table out by --set "
                      "data.ignore=NAMES",
                      records, table->features, path, tacit_net_inputs(net), shape);
}

/* Rows of floats, however the table keeps them (caller frees); NULL without memory. */
static float *floats_of(const tacit_table *table)
{
    size_t cells;
    double *row = calloc(table->features, sizeof *row);
    float *x =
        tacit_mul_size(table->rows, table->features, &cells) ? calloc(cells, sizeof *x) : NULL;
    for (size_t r = 0; x && row && r < table->rows; r++) {
        tacit_table_get(table, r, row);
        for (size_t k = 0; k < table->features; k++)
            x[r * table->features + k] = (float)row[k];
    }
    if (!row) {
        free(x);
        x = NULL;
    }
    free(row);
    return x;
}

/* ---- out ---- */

static void write_class(tacit_writer *out, const answer *a, size_t class)
{
    if (a->model->names)
        tacit_csv_text(out, a->model->names[class]);
    else
        tacit_write_format(out, "%zu", class);
}

static char *csv_of(const answer *a)
{
    tacit_writer out = {0};
    tacit_write_text(&out, "record,class");
    for (size_t k = 0; a->scored && k < a->classes; k++) {
        tacit_write_text(&out, ",");
        write_class(&out, a, k);
    }
    tacit_write_text(&out, "\n");
    for (size_t r = 0; r < a->records; r++) {
        tacit_write_format(&out, "%zu,", r + 1);
        write_class(&out, a, a->best[r]);
        for (size_t k = 0; a->scored && k < a->classes; k++)
            tacit_write_format(&out, ",%.9g", (double)a->scores[r * a->classes + k]);
        tacit_write_text(&out, "\n");
    }
    return tacit_writer_take(&out);
}

static void json_scores(tacit_json *json, const answer *a, size_t record)
{
    tacit_json_begin(json, "scores", '[');
    for (size_t k = 0; k < a->classes; k++) {
        char text[32];
        const int len =
            snprintf(text, sizeof text, "%.9g", (double)a->scores[record * a->classes + k]);
        tacit_json_raw(json, NULL, text, (size_t)len);
    }
    tacit_json_end(json, ']');
}

static char *json_of(const answer *a)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.predictions/1");
    tacit_json_count(&json, "records", a->records);
    tacit_json_count(&json, "classes", a->classes);
    if (a->labelled)
        tacit_json_real(&json, "accuracy", a->accuracy);
    tacit_json_begin(&json, "predictions", '[');
    for (size_t r = 0; r < a->records; r++) {
        tacit_json_begin(&json, NULL, '{');
        tacit_json_count(&json, "class", a->best[r]);
        if (a->model->names)
            tacit_json_text(&json, "name", a->model->names[a->best[r]]);
        if (a->scored)
            json_scores(&json, a, r);
        tacit_json_end(&json, '}');
    }
    tacit_json_end(&json, ']');
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}

static tacit_status tell(const answer *a, const model_flags *flags, tacit_error *err)
{
    char text[100], count[40];
    char *all = flags->json ? json_of(a) : csv_of(a);
    tacit_status status = *flags->out ? cli_write_secret(flags->out, all, flags->force, err)
                                      : cli_print_text(all, err);
    if (status || flags->quiet || !a->labelled)
        return status;
    cli_count(a->records, count, sizeof count);
    snprintf(text, sizeof text, "accuracy %.4f over %s records", a->accuracy, count);
    cli_remark(text);
    return TACIT_OK;
}

/* ---- all of it ---- */

static void compare(answer *a, const double *label)
{
    size_t right = 0;
    for (size_t r = 0; r < a->records; r++)
        right += label[r] == (double)a->best[r];
    a->accuracy = (double)right / (double)a->records;
}

tacit_status model_predict(const char *path, const tacit_net_model *model, const cli_args *args,
                           tacit_error *err)
{
    const model_flags *flags = args->flags;
    tacit_table table = {0};
    answer a = {.model = model, .classes = tacit_net_classes(model->net), .scored = flags->scores};
    float *x = NULL;
    size_t cells;
    tacit_status status = read_records(&table, &a.labelled, args, err);
    if (!status)
        status = check_shape(&table, path, args->words[2], model->net, err);
    if (status)
        goto out;
    a.records = table.rows;
    x = floats_of(&table);
    a.best = calloc(a.records, sizeof *a.best);
    if (a.scored && tacit_mul_size(a.records, a.classes, &cells))
        a.scores = calloc(cells, sizeof *a.scores);
    if (!x || !a.best || (a.scored && !a.scores)) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    status = tacit_net_predict(model, a.records, x, a.scores, a.best, err);
    if (!status && a.labelled)
        compare(&a, table.y);
    if (!status)
        status = tell(&a, flags, err);
out:
    tacit_table_clear(&table);
    free(x);
    free(a.scores);
    free(a.best);
    return status;
}
