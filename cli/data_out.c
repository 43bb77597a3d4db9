/* SPDX-License-Identifier: Apache-2.0 */
/* tacit data for programs: JSON, CSV and the picture. */
#include "data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const split_names[TACIT_SPLITS] = {"train", "validation", "test"};

/* ---- JSON ---- */

static void json_sizes(tacit_json *json, const char *key, const tacit_sizes *sizes)
{
    tacit_json_begin(json, key, '{');
    tacit_json_count(json, "records", sizes->rows);
    tacit_json_count(json, "min", sizes->least);
    tacit_json_real(json, "median", sizes->median);
    tacit_json_real(json, "mean", sizes->mean);
    tacit_json_count(json, "max", sizes->most);
    tacit_json_end(json, '}');
}

static void json_files(tacit_json *json, const cli_data_facts *facts)
{
    tacit_json_begin(json, "files", '[');
    for (size_t k = 0; k < facts->file_count; k++) {
        const cli_data_file *file = &facts->files[k];
        const tacit_known_file *known = file->facts.known;
        tacit_json_begin(json, NULL, '{');
        tacit_json_text(json, "key", file->key);
        tacit_json_text(json, "path", file->path);
        if (file->facts.sha256[0]) {
            tacit_json_count(json, "bytes", file->facts.bytes);
            tacit_json_text(json, "sha256", file->facts.sha256);
        }
        if (known)
            tacit_json_text(json, "known_set", known->set->name);
        else
            tacit_json_null(json, "known_set");
        tacit_json_bool(json, "differs", file->facts.named != NULL);
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, ']');
}

static void json_labels(tacit_json *json, const tacit_description *about)
{
    tacit_json_begin(json, "labels", '{');
    tacit_json_real(json, "min", about->label_least);
    tacit_json_real(json, "mean", about->label_mean);
    tacit_json_real(json, "max", about->label_most);
    tacit_json_end(json, '}');
    tacit_json_begin(json, "classes", '[');
    for (uint32_t c = 0; c < about->classes; c++) {
        tacit_json_begin(json, NULL, '{');
        tacit_json_real(json, "label", about->class[c]);
        tacit_json_count(json, "records", about->class_rows[c]);
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, ']');
    tacit_json_begin(json, "norms", '{');
    tacit_json_real(json, "max", about->norm_most);
    tacit_json_real(json, "mean", about->norm_mean);
    tacit_json_end(json, '}');
}

static void json_leaks(tacit_json *json, const cli_data_facts *facts)
{
    const char *leak[TACIT_LEAKS];
    size_t leaks = cli_data_leaks(facts, leak);
    tacit_json_begin(json, "leaks", '[');
    for (size_t k = 0; k < leaks; k++)
        tacit_json_text(json, NULL, leak[k]);
    tacit_json_end(json, ']');
}

char *cli_data_json(const cli_data_facts *facts)
{
    static const char *const choices[] = {"source",      "partition", "missing-rule",
                                          "standardise", "bound",     "storage"};
    const tacit_description *about = &facts->about;
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.data/1");
    tacit_json_text(&json, "name", facts->experiment->run.name);
    for (size_t k = 0; k < sizeof choices / sizeof *choices; k++) {
        char value[TACIT_TEXT_MAX], key[20];
        cli_data_choice(facts, choices[k], value, sizeof value);
        snprintf(key, sizeof key, "%s", choices[k]);
        for (char *at = key; (at = strchr(at, '-'));)
            *at = '_';
        tacit_json_text(&json, key, value);
    }
    json_files(&json, facts);
    tacit_json_count(&json, "agents", about->agents);
    tacit_json_count(&json, "features", about->features);
    tacit_json_count(&json, "bytes", tacit_dataset_bytes(facts->source.data));
    tacit_json_count(&json, "dropped", facts->source.dropped);
    tacit_json_count(&json, "blank", facts->source.blank);
    tacit_json_count(&json, "public_records", facts->source.public_records);
    tacit_json_count(&json, "common_test_records", about->common);
    tacit_json_text(&json, "scored_on",
                    tacit_dataset_scores_on_all(facts->source.data) ? "all" : "own");
    tacit_json_count(&json, "empty_agents", about->empty);
    json_sizes(&json, "records", &about->all);
    tacit_json_begin(&json, "splits", '{');
    for (int split = 0; split < TACIT_SPLITS; split++)
        json_sizes(&json, split_names[split], &about->split[split]);
    tacit_json_end(&json, '}');
    json_labels(&json, about);
    json_leaks(&json, facts);
    tacit_json_end(&json, '}');
    tacit_write_text(&out, "\n");
    return tacit_writer_take(&out);
}

/* ---- CSV ---- */

/* RFC 4180: quotes around, quotes inside doubled. */
static void csv_text(tacit_writer *out, const char *text)
{
    tacit_write_text(out, "\"");
    for (; *text; text++) {
        if (*text == '"')
            tacit_write_text(out, "\"");
        tacit_write_bytes(out, text, 1);
    }
    tacit_write_text(out, "\"");
}

char *cli_data_csv(const cli_data_facts *facts)
{
    const tacit_description *about = &facts->about;
    const tacit_dataset *data = facts->source.data;
    uint32_t counts[TACIT_DESCRIBED_CLASSES];
    tacit_writer out = {0};
    tacit_write_text(&out, "agent,name,train,validation,test");
    for (uint32_t c = 0; c < about->classes; c++) {
        tacit_write_text(&out, ",label ");
        tacit_write_real(&out, about->class[c]);
    }
    tacit_write_text(&out, "\n");
    for (uint32_t i = 0; i < about->agents; i++) {
        char number[TACIT_NUMBER_MAX];
        tacit_write_format(&out, "%" PRIu32 ",", i);
        csv_text(&out, tacit_dataset_name(data, i, number));
        for (int split = 0; split < TACIT_SPLITS; split++)
            tacit_write_format(&out, ",%" PRIu32, tacit_dataset_rows(data, i, (tacit_split)split));
        tacit_describe_agent(about, data, i, counts);
        for (uint32_t c = 0; c < about->classes; c++)
            tacit_write_format(&out, ",%" PRIu32, counts[c]);
        tacit_write_text(&out, "\n");
    }
    return tacit_writer_take(&out);
}

/* ---- the picture ---- */

char *cli_data_svg(const cli_data_facts *facts)
{
    const tacit_description *about = &facts->about;
    const char *class_names[TACIT_PARTITION_CLASSES_DRAWN];
    const char *labels[TACIT_PARTITION_AGENTS];
    char numbers[TACIT_PARTITION_AGENTS][TACIT_NUMBER_MAX];
    char title[TACIT_TEXT_MAX + 40], note[300], partition[100];
    tacit_writer out = {0};
    for (uint32_t c = 0; c < facts->columns; c++)
        class_names[c] = facts->column_names[c];
    bool few = about->agents <= TACIT_PARTITION_AGENTS;
    for (uint32_t i = 0; few && i < about->agents; i++)
        labels[i] = tacit_dataset_name(facts->source.data, i, numbers[i]);
    cli_data_partition(facts, partition, sizeof partition);
    snprintf(title, sizeof title, "%s: who has which records", facts->experiment->run.name);
    snprintf(note, sizeof note, "%" PRIu64 " records of %" PRIu32 " agents; %s", about->all.rows,
             about->agents, partition);
    if (about->empty > 0)
        snprintf(note + strlen(note), sizeof note - strlen(note), "; %" PRIu32 " without records",
                 about->empty);
    const tacit_partition_picture picture = {.title = title,
                                             .note = note,
                                             .agents = about->agents,
                                             .classes = facts->columns,
                                             .counts = facts->counts,
                                             .class_name = about->classes > 0 ? class_names : NULL,
                                             .label = few ? labels : NULL};
    tacit_draw_partition(&out, &picture, true);
    return tacit_writer_take(&out);
}
