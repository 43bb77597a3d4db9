/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records from CSV text, one agent for each distinct value of a column.
 *
 * Two passes. The first counts: it checks the shape of every line and numbers the agents in
 * order of first appearance. Then each agent's records are dealt to train, validation and test,
 * the memory is claimed once, and the second pass converts the numbers straight into place.
 *
 * Of m records, round(test_fraction m) go to test and round(validation_fraction m) to
 * validation, but one always stays in train. Which ones: a Fisher-Yates shuffle of the labels
 * by stream (seed, agent, TACIT_FOR_SPLIT, 0), so an agent's split does not depend on the
 * others. Within a split the order of the file is kept.
 */
#include "data/csv_scan.h"
#include "data/dataset.h"
#include "data/names.h"
#include "tacit/random.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 100000

typedef struct reader {
    const tacit_data_options *options;
    tacit_scalar scalar;
    tacit_csv_scan scan;
    tacit_names columns, agents;
    uint32_t agent_at, label_at; /* columns */
    size_t features;
    uint32_t *owner; /* agent of each record */
    size_t records, owner_capacity;
    uint8_t *split; /* of each record, grouped by agent */
    uint64_t *next; /* of each agent: where in `split` its next record is */
    uint32_t *counts[TACIT_SPLITS];
    uint32_t *filled[TACIT_SPLITS]; /* rows already put */
    double *x;
    bool seen_positive;
} reader;

static void reader_clear(reader *r)
{
    tacit_csv_close(&r->scan);
    tacit_names_clear(&r->columns);
    tacit_names_clear(&r->agents);
    free(r->owner);
    free(r->split);
    free(r->next);
    for (int split = 0; split < TACIT_SPLITS; split++) {
        free(r->counts[split]);
        free(r->filled[split]);
    }
    free(r->x);
}

static tacit_status check(const tacit_data_options *o, tacit_error *err)
{
    if (!o->agent_column[0] || !o->label_column[0])
        return tacit_fail(err, TACIT_EINPUT, "data.%s is empty; name the column that holds the %s",
                          o->agent_column[0] ? "label-column" : "agent-column",
                          o->agent_column[0] ? "label" : "agent");
    if (strcmp(o->agent_column, o->label_column) == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.agent-column and data.label-column are both \"%.200s\"; name two "
                          "columns",
                          o->agent_column);
    double rest = 1 - o->test_fraction - o->validation_fraction;
    if (!(o->test_fraction >= 0 && o->validation_fraction >= 0 && rest > 0))
        return tacit_fail(err, TACIT_EINPUT,
                          "data.test-fraction \"%g\" and data.validation-fraction \"%g\" leave "
                          "nothing to train on; their sum must be below 1",
                          o->test_fraction, o->validation_fraction);
    return TACIT_OK;
}

/* ---- header ---- */

static tacit_status add_column(reader *r, const tacit_csv_field *field, tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4];
    uint32_t number;
    bool added;
    if (r->columns.count >= MAX_COLUMNS)
        return tacit_fail(err, TACIT_EINPUT, "%s:%" PRIu64 ": more than %d columns", r->scan.name,
                          field->line, MAX_COLUMNS);
    if (field->len == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:%" PRIu64 ": column %" PRIu32 " has no name; the first line must "
                          "name every column",
                          r->scan.name, field->line, r->columns.count + 1);
    tacit_status status =
        tacit_names_intern(&r->columns, field->text, field->len, &number, &added, err);
    if (!status && !added)
        status =
            tacit_fail(err, TACIT_EINPUT,
                       "%s:%" PRIu64 ": column \"%s\" is there twice; give each its own name",
                       r->scan.name, field->line, tacit_csv_shown(field->text, field->len, shown));
    return status;
}

/* Words that may help with a header that lacks a column: "" if there are none. */
static void hint(const reader *r, const char *wanted, char *out, size_t size)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4];
    out[0] = '\0';
    const char *first = tacit_names_get(&r->columns, 0);
    if (r->columns.count == 1 && strpbrk(first, ";\t|")) {
        snprintf(out, size, "; values must be separated by commas");
        return;
    }
    const char **names = calloc(r->columns.count, sizeof *names);
    if (!names)
        return;
    for (uint32_t k = 0; k < r->columns.count; k++)
        names[k] = tacit_names_get(&r->columns, k);
    const char *near = tacit_nearest(wanted, names, r->columns.count);
    if (near)
        snprintf(out, size, "; did you mean \"%s\"?", tacit_csv_shown(near, strlen(near), shown));
    free(names);
}

static tacit_status find_column(const reader *r, const char *key, const char *wanted, uint32_t *at,
                                tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4], words[128];
    size_t len = strlen(wanted);
    *at = tacit_names_find(&r->columns, wanted, len);
    if (*at != UINT32_MAX)
        return TACIT_OK;
    hint(r, wanted, words, sizeof words);
    return tacit_fail(err, TACIT_EINPUT, "%s:1: no column \"%s\" for data.%s%s", r->scan.name,
                      tacit_csv_shown(wanted, len, shown), key, words);
}

static tacit_status read_header(reader *r, tacit_error *err)
{
    const tacit_data_options *o = r->options;
    tacit_csv_field field;
    tacit_status status;
    if (!tacit_csv_more(&r->scan))
        return tacit_fail(err, TACIT_EINPUT, "%s: empty; expected a line with the column names",
                          r->scan.name);
    do {
        if ((status = tacit_csv_next(&r->scan, &field, err)) ||
            (status = add_column(r, &field, err)))
            return status;
    } while (!field.last);
    if ((status = find_column(r, "agent-column", o->agent_column, &r->agent_at, err)) ||
        (status = find_column(r, "label-column", o->label_column, &r->label_at, err)))
        return status;
    r->features = r->columns.count - 2 + (o->bias ? 1U : 0U);
    if (r->features == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:1: no feature columns beside \"%.200s\" and \"%.200s\"", r->scan.name,
                          o->agent_column, o->label_column);
    return TACIT_OK;
}

/* ---- first pass: shape and agents ---- */

/* A complaint about one cell, as `file:17: column "age" is "n/a"; expected ...`. */
static tacit_status bad_cell(const reader *r, const tacit_csv_field *field, uint32_t column,
                             const char *expected, tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4], name_shown[TACIT_CSV_SHOWN_MAX + 4];
    const char *name = tacit_names_get(&r->columns, column);
    tacit_csv_shown(name, strlen(name), name_shown);
    if (field->len == 0)
        return tacit_fail(err, TACIT_EINPUT, "%s:%" PRIu64 ": column \"%s\" is empty; expected %s",
                          r->scan.name, field->line, name_shown, expected);
    return tacit_fail(err, TACIT_EINPUT, "%s:%" PRIu64 ": column \"%s\" is \"%s\"; expected %s",
                      r->scan.name, field->line, name_shown,
                      tacit_csv_shown(field->text, field->len, shown), expected);
}

static tacit_status find_agent(reader *r, const tacit_csv_field *field, uint32_t *agent,
                               tacit_error *err)
{
    char name[TACIT_NAME_MAX];
    bool added;
    bool fits = field->len < sizeof name;
    memcpy(name, field->text, fits ? field->len : 0);
    name[fits ? field->len : 0] = '\0';
    if (!tacit_name_is_good(name))
        return bad_cell(r, field, r->agent_at,
                        "an agent's name, at most 255 bytes of UTF-8 without control characters",
                        err);
    return tacit_names_intern(&r->agents, field->text, field->len, agent, &added, err);
}

static tacit_status wrong_width(const reader *r, uint64_t line, uint32_t seen, bool more,
                                tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "%s:%" PRIu64 ": %s%" PRIu32 " values; the header has %" PRIu32 " columns",
                      r->scan.name, line, more ? "more than " : "", seen, r->columns.count);
}

static tacit_status count_record(reader *r, uint32_t *agent, tacit_error *err)
{
    tacit_csv_field field = {0};
    uint64_t line = r->scan.line;
    for (uint32_t column = 0; column < r->columns.count; column++) {
        tacit_status status = tacit_csv_next(&r->scan, &field, err);
        if (!status && column == r->agent_at)
            status = find_agent(r, &field, agent, err);
        if (status)
            return status;
        if (field.last && column + 1 < r->columns.count)
            return wrong_width(r, line, column + 1, false, err);
    }
    return field.last ? TACIT_OK : wrong_width(r, line, r->columns.count, true, err);
}

static tacit_status add_owner(reader *r, uint32_t agent, tacit_error *err)
{
    if (r->records == r->owner_capacity) {
        size_t capacity = r->owner_capacity ? r->owner_capacity : 512, bytes;
        if (r->records >= UINT32_MAX)
            return tacit_fail(err, TACIT_EINPUT, "%s: more than %" PRIu32 " records", r->scan.name,
                              UINT32_MAX);
        if (!tacit_mul_size(capacity, 2, &capacity) ||
            !tacit_mul_size(capacity, sizeof *r->owner, &bytes))
            return tacit_out_of_memory(err);
        uint32_t *grown = realloc(r->owner, bytes);
        if (!grown)
            return tacit_out_of_memory(err);
        r->owner = grown;
        r->owner_capacity = capacity;
    }
    r->owner[r->records++] = agent;
    return TACIT_OK;
}

static tacit_status count_records(reader *r, tacit_error *err)
{
    while (tacit_csv_more(&r->scan)) {
        uint32_t agent = 0;
        tacit_status status = count_record(r, &agent, err);
        if (status || (status = add_owner(r, agent, err)))
            return status;
    }
    if (r->records == 0)
        return tacit_fail(err, TACIT_EINPUT, "%s: no records after the header", r->scan.name);
    return TACIT_OK;
}

/* ---- between the passes: deal the records to the splits ---- */

static void deal(reader *r, uint32_t agent, uint64_t first, uint32_t records,
                 const tacit_random *random)
{
    uint32_t test = (uint32_t)floor(r->options->test_fraction * records + 0.5);
    uint32_t validation = (uint32_t)floor(r->options->validation_fraction * records + 0.5);
    if (test >= records)
        test = records - 1;
    if (validation >= records - test)
        validation = records - test - 1;
    r->counts[TACIT_TRAIN][agent] = records - test - validation;
    r->counts[TACIT_VALIDATION][agent] = validation;
    r->counts[TACIT_TEST][agent] = test;
    if (test + validation == 0)
        return; /* all are TACIT_TRAIN: 0 */

    uint8_t *split = r->split + first;
    memset(split, TACIT_TEST, test);
    memset(split + test, TACIT_VALIDATION, validation);
    tacit_stream s;
    tacit_stream_open(&s, random, agent, TACIT_FOR_SPLIT, 0);
    for (uint32_t k = records - 1; k > 0; k--) {
        uint32_t j = (uint32_t)tacit_stream_below(&s, (uint64_t)k + 1);
        uint8_t swap = split[k];
        split[k] = split[j];
        split[j] = swap;
    }
    tacit_stream_clear(&s);
}

static tacit_status deal_all(reader *r, uint64_t seed, tacit_error *err)
{
    uint32_t agents = r->agents.count;
    bool enough = (r->split = calloc(r->records, 1)) != NULL;
    enough &= (r->next = calloc(agents, sizeof *r->next)) != NULL;
    enough &= (r->x = calloc(r->features, sizeof *r->x)) != NULL;
    for (int split = 0; split < TACIT_SPLITS; split++) {
        enough &= (r->counts[split] = calloc(agents, sizeof *r->counts[split])) != NULL;
        enough &= (r->filled[split] = calloc(agents, sizeof *r->filled[split])) != NULL;
    }
    if (!enough)
        return tacit_out_of_memory(err);

    tacit_random random;
    tacit_random_init(&random, seed);
    for (size_t k = 0; k < r->records; k++)
        r->counts[TACIT_TRAIN][r->owner[k]]++;
    uint64_t first = 0;
    for (uint32_t i = 0; i < agents; i++) {
        uint32_t records = r->counts[TACIT_TRAIN][i];
        r->next[i] = first;
        deal(r, i, first, records, &random);
        first += records;
    }
    tacit_random_clear(&random);
    return TACIT_OK;
}

/* ---- second pass: numbers ---- */

static tacit_status read_number(const reader *r, const tacit_csv_field *field, uint32_t column,
                                double *out, tacit_error *err)
{
    if (!tacit_csv_number(field->text, field->len, out))
        return bad_cell(r, field, column, "a finite number", err);
    if (r->scalar == TACIT_F32 && fabs(*out) > (double)FLT_MAX)
        return bad_cell(r, field, column, "a number that fits in f32 (or set model.scalar to f64)",
                        err);
    return TACIT_OK;
}

static tacit_status read_label(reader *r, const tacit_csv_field *field, double *out,
                               tacit_error *err)
{
    const char *positive = r->options->positive;
    if (!positive[0])
        return read_number(r, field, r->label_at, out, err);
    if (field->len == 0)
        return bad_cell(r, field, r->label_at, "a label", err);
    bool is = strlen(positive) == field->len && memcmp(positive, field->text, field->len) == 0;
    r->seen_positive |= is;
    *out = is ? 1 : -1;
    return TACIT_OK;
}

static tacit_status fill_record(reader *r, tacit_dataset *data, uint32_t agent, tacit_error *err)
{
    size_t feature = 0;
    double y = 0;
    for (uint32_t column = 0; column < r->columns.count; column++) {
        tacit_csv_field field;
        tacit_status status = tacit_csv_next(&r->scan, &field, err);
        if (!status && column == r->label_at)
            status = read_label(r, &field, &y, err);
        else if (!status && column != r->agent_at)
            status = read_number(r, &field, column, &r->x[feature++], err);
        if (status)
            return status;
    }
    if (r->options->bias)
        r->x[feature] = 1;
    tacit_bound_row(r->x, r->features, (tacit_bound)r->options->bound, r->scalar);
    tacit_split split = (tacit_split)r->split[r->next[agent]++];
    return tacit_dataset_put(data, agent, split, r->filled[split][agent]++, r->x, y, err);
}

static tacit_status skip_header(reader *r, const char *text, size_t len, tacit_error *err)
{
    tacit_csv_field field = {0};
    tacit_csv_rewind(&r->scan, text, len);
    tacit_status status = TACIT_OK;
    (void)tacit_csv_more(&r->scan);
    while (!field.last && !status)
        status = tacit_csv_next(&r->scan, &field, err);
    return status;
}

/* Names that say no more than the agent's number are not kept. */
static tacit_status name_agents(const reader *r, tacit_dataset *data, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (uint32_t i = 0; i < r->agents.count && !status; i++) {
        char number[TACIT_NUMBER_MAX];
        const char *name = tacit_names_get(&r->agents, i);
        if (strcmp(name, tacit_dataset_name(data, i, number)) != 0)
            status = tacit_dataset_set_name(data, i, name, err);
    }
    return status;
}

static tacit_status fill(reader *r, tacit_dataset *data, const char *text, size_t len,
                         tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4];
    const tacit_data_options *o = r->options;
    tacit_status status = skip_header(r, text, len, err);
    for (size_t k = 0; k < r->records && !status; k++) {
        (void)tacit_csv_more(&r->scan);
        status = fill_record(r, data, r->owner[k], err);
    }
    if (!status && o->positive[0] && !r->seen_positive)
        status = tacit_fail(err, TACIT_EINPUT,
                            "%s: no label is \"%s\"; data.positive must be a value of column "
                            "\"%.200s\"",
                            r->scan.name, tacit_csv_shown(o->positive, strlen(o->positive), shown),
                            o->label_column);
    return status;
}

tacit_status tacit_data_csv_text(tacit_source *out, const tacit_data_options *options,
                                 const char *name, const char *text, size_t len,
                                 tacit_scalar scalar, uint64_t seed, tacit_error *err)
{
    reader r = {.options = options, .scalar = scalar};
    tacit_dataset *data = NULL;
    tacit_status status;

    *out = (tacit_source){0};
    if ((status = check(options, err)) ||
        (status = tacit_csv_open(&r.scan, name, text, len, err)) ||
        (status = read_header(&r, err)) || (status = count_records(&r, err)) ||
        (status = deal_all(&r, seed, err)))
        goto out;
    const uint32_t *const counts[] = {r.counts[0], r.counts[1], r.counts[2]};
    if ((status = tacit_dataset_create(&data, r.agents.count, r.features, scalar, counts, err)) ||
        (status = fill(&r, data, text, len, err)) || (status = name_agents(&r, data, err)))
        goto out;
    out->data = data;
    data = NULL;
out:
    tacit_dataset_free(data);
    reader_clear(&r);
    return status;
}
