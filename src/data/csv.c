/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records from a text table.
 *
 * One pass. How many rows there can be is known before: no more than lines, and no more than
 * bytes / columns, for a record of n values has n - 1 separators and a line break. So room is
 * claimed once, and a file cannot make it claim more than 8 bytes a byte (one-hot columns aside,
 * which the user declares).
 *
 * Nearly every cell is a number without quotes or blanks that ends where the next cell starts:
 * such a cell is converted straight from the text. All others take the slow way through the
 * scanner, which also knows what to complain about.
 */
#include "data/bytes.h"
#include "data/csv_plan.h"
#include "data/dataset.h"
#include "data/label.h"
#include "data/table.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const tacit_data_options *options;
    tacit_scalar scalar;
    tacit_csv_scan scan;
    tacit_csv_plan plan;
    tacit_label_rule rule;
    tacit_table *table;
    double *x;
    double y;
    uint32_t owner;
    size_t rows;
    size_t missing_len;
    bool takes_missing; /* the rule is not "refuse" */
} reader;

/* ---- complaints ---- */

/* About one cell, as `file:17: column "age" is "n/a"; expected ...`. */
static tacit_status bad_cell(const reader *r, const tacit_csv_field *field, uint32_t column,
                             const char *expected, tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4], name_shown[TACIT_CSV_SHOWN_MAX + 4];
    const char *name = tacit_names_get(&r->plan.names, column);
    tacit_csv_shown(name, strlen(name), name_shown);
    if (field->len == 0)
        return tacit_fail(err, TACIT_EINPUT, "%s:%" PRIu64 ": column \"%s\" is empty; expected %s",
                          r->scan.name, field->line, name_shown, expected);
    return tacit_fail(err, TACIT_EINPUT, "%s:%" PRIu64 ": column \"%s\" is \"%s\"; expected %s",
                      r->scan.name, field->line, name_shown,
                      tacit_csv_shown(field->text, field->len, shown), expected);
}

static tacit_status wrong_width(const reader *r, uint64_t line, uint32_t seen, bool more,
                                tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "%s:%" PRIu64 ": %s%" PRIu32 " values; the %s has %" PRIu32 " columns",
                      r->scan.name, line, more ? "more than " : "", seen,
                      r->options->header ? "header" : "first line", r->plan.columns);
}

/* ---- cells ---- */

static bool is_missing(const reader *r, const tacit_csv_field *field)
{
    return field->len == 0 || (field->len == r->missing_len && r->missing_len > 0 &&
                               memcmp(field->text, r->options->missing, field->len) == 0);
}

static bool fits(const reader *r, double value)
{
    return r->scalar == TACIT_F64 || fabs(value) <= (double)FLT_MAX;
}

static tacit_status read_number(const reader *r, const tacit_csv_field *field, uint32_t column,
                                double *out, tacit_error *err)
{
    bool hint =
        field->len > 0 && is_missing(r, field) && r->plan.column[column].role == TACIT_CSV_NUMBER;
    if (!tacit_csv_number(field->text, field->len, out))
        return bad_cell(r, field, column,
                        hint ? "a finite number (or set data.missing-rule)" : "a finite number",
                        err);
    if (!fits(r, *out))
        return bad_cell(r, field, column, "a number that fits in f32 (or set model.scalar to f64)",
                        err);
    return TACIT_OK;
}

static tacit_status read_feature(reader *r, const tacit_csv_field *field, uint32_t column,
                                 tacit_error *err)
{
    double *x = &r->x[r->plan.column[column].feature];
    if (r->takes_missing && is_missing(r, field)) {
        *x = NAN;
        return TACIT_OK;
    }
    return read_number(r, field, column, x, err);
}

static tacit_status read_word(reader *r, const tacit_csv_field *field, uint32_t column,
                              tacit_error *err)
{
    char words[300], expected[340];
    const tacit_csv_column *plan = &r->plan.column[column];
    double *x = &r->x[plan->feature];
    uint32_t word = tacit_names_find(&plan->words, field->text, field->len);
    bool missing = word == UINT32_MAX && is_missing(r, field);
    if (word == UINT32_MAX && !(missing && r->takes_missing)) {
        tacit_csv_words(&plan->words, words, sizeof words);
        snprintf(expected, sizeof expected, "one of %s%s", words,
                 missing ? " (or set data.missing-rule)" : "");
        return bad_cell(r, field, column, expected, err);
    }
    if (plan->role == TACIT_CSV_PLACE)
        *x = missing ? NAN : (double)word;
    for (uint32_t k = 0; plan->role == TACIT_CSV_WORD && k < plan->words.count; k++)
        x[k] = missing ? NAN : k == word ? 1 : 0;
    return TACIT_OK;
}

/* Any word will do: it falls into one of the buckets. */
static void read_hashed(reader *r, const tacit_csv_field *field, uint32_t column)
{
    const tacit_csv_column *plan = &r->plan.column[column];
    const bool missing = r->takes_missing && is_missing(r, field);
    const uint32_t word = tacit_csv_bucket(tacit_names_get(&r->plan.names, column), field->text,
                                           field->len, plan->words.count);
    for (uint32_t k = 0; k < plan->words.count; k++)
        r->x[plan->feature + k] = missing ? NAN : k == word ? 1 : 0;
}

static tacit_status read_label(reader *r, const tacit_csv_field *field, uint32_t column,
                               tacit_error *err)
{
    if (r->rule.words == 0)
        return read_number(r, field, column, &r->y, err);
    uint64_t bits = tacit_label_match(&r->rule, field->text, field->len);
    if (!bits && is_missing(r, field))
        return bad_cell(r, field, column, "a label", err);
    if (!bits && r->rule.classes)
        return bad_cell(r, field, column, "a label that data.classes lists", err);
    r->table->positives |= bits;
    r->y = tacit_label_of(&r->rule, bits);
    return TACIT_OK;
}

static tacit_status read_agent(reader *r, const tacit_csv_field *field, uint32_t column,
                               tacit_error *err)
{
    char name[TACIT_NAME_MAX];
    tacit_names *owners = &r->table->owners;
    bool added, short_enough = field->len < sizeof name;
    r->owner = tacit_names_find(owners, field->text, field->len);
    if (r->owner != UINT32_MAX)
        return TACIT_OK;
    memcpy(name, field->text, short_enough ? field->len : 0);
    name[short_enough ? field->len : 0] = '\0';
    if (is_missing(r, field) || !tacit_name_is_good(name))
        return bad_cell(r, field, column,
                        "an agent's name, at most 255 bytes of UTF-8 without control characters",
                        err);
    return tacit_names_intern(owners, field->text, field->len, &r->owner, &added, err);
}

static tacit_status read_cell(reader *r, const tacit_csv_field *field, uint32_t column,
                              tacit_error *err)
{
    switch (r->plan.column[column].role) {
    case TACIT_CSV_NUMBER:
        return read_feature(r, field, column, err);
    case TACIT_CSV_WORD:
    case TACIT_CSV_PLACE:
        return read_word(r, field, column, err);
    case TACIT_CSV_HASHED:
        read_hashed(r, field, column);
        return TACIT_OK;
    case TACIT_CSV_LABEL:
        return read_label(r, field, column, err);
    case TACIT_CSV_AGENT:
        return read_agent(r, field, column, err);
    default:
        return TACIT_OK;
    }
}

/* ---- records ---- */

/* The cell at hand, if it is a number that needs no further look. */
static inline bool quick_cell(reader *r, bool last, double *out)
{
    tacit_csv_scan *scan = &r->scan;
    const char *end = scan->end, *at = tacit_csv_quick_number(scan->at, end, out);
    if (!at || at == end || !fits(r, *out))
        return false;
    if (last) {
        if (*at != '\n')
            return false;
        scan->at = at + 1;
        scan->line++;
        return true;
    }
    if (*at != scan->separator)
        return false;
    for (at++; scan->separator == ' ' && at < end && (*at == ' ' || *at == '\t'); at++)
        ;
    if (at == end || (scan->separator == ' ' && (*at == '\n' || *at == '\r')))
        return false; /* the record ends here, too early */
    scan->at = at;
    return true;
}

static tacit_status read_record(reader *r, tacit_error *err)
{
    tacit_csv_field field = {0};
    uint64_t line = r->scan.line;
    uint32_t columns = r->plan.columns;
    for (uint32_t column = 0; column < columns; column++) {
        const tacit_csv_column *plan = &r->plan.column[column];
        if (plan->role == TACIT_CSV_NUMBER &&
            quick_cell(r, column + 1 == columns, &r->x[plan->feature])) {
            field.last = column + 1 == columns;
            continue;
        }
        tacit_status status = tacit_csv_next(&r->scan, &field, err);
        if (status)
            return status;
        if (field.last && column + 1 < columns)
            return wrong_width(r, line, column + 1, false, err);
        if ((status = read_cell(r, &field, column, err)))
            return status;
    }
    return field.last ? TACIT_OK : wrong_width(r, line, columns, true, err);
}

static tacit_status read_records(reader *r, tacit_error *err)
{
    tacit_table *table = r->table;
    while (tacit_csv_more(&r->scan)) {
        tacit_status status = read_record(r, err);
        if (!status)
            status = tacit_table_put(table, r->rows, r->x, r->y, err);
        if (status)
            return status;
        if (table->owner)
            table->owner[r->rows] = r->owner;
        r->rows++;
    }
    table->rows = r->rows;
    if (r->rows == 0)
        return tacit_fail(err, TACIT_EINPUT, "%s: no records after the header", r->scan.name);
    return TACIT_OK;
}

/* ---- room ---- */

static size_t count_lines(const char *at, const char *end)
{
    size_t lines = 1; /* the last may lack its break */
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at++;
        lines++;
    }
    return lines;
}

static tacit_status claim(reader *r, tacit_error *err)
{
    size_t most = (size_t)(r->scan.end - r->scan.at) / r->plan.columns + 1;
    size_t rows = count_lines(r->scan.at, r->scan.end);
    rows = rows < most ? rows : most;
    if (rows >= UINT32_MAX)
        return tacit_fail(err, TACIT_EINPUT, "%s: more than %" PRIu32 " records", r->scan.name,
                          UINT32_MAX - 1);
    tacit_status status =
        tacit_table_create(r->table, rows, r->plan.features, r->scalar, r->options, err);
    if (!status && r->plan.has_agent)
        status = tacit_table_own(r->table, err);
    if (!status)
        status = tacit_csv_plan_features(&r->plan, &r->table->columns, err);
    r->table->by_words = r->rule.words > 0;
    r->x = calloc(r->plan.features + 1, sizeof *r->x);
    return status || r->x ? status : tacit_out_of_memory(err);
}

tacit_status tacit_read_csv(tacit_table *out, const tacit_data_options *options, const char *name,
                            const char *bytes, size_t len, tacit_scalar scalar, tacit_error *err)
{
    static const char separators[] = {',', '\t', ';', ' '};
    reader r = {.options = options,
                .scalar = scalar,
                .table = out,
                .missing_len = strlen(options->missing),
                .takes_missing = options->missing_rule != TACIT_MISSING_REFUSE};
    tacit_status status;
    *out = (tacit_table){0};
    if ((status = tacit_refuse_binary(name, "CSV", bytes, len, err)) ||
        (status = tacit_label_rule_read(&r.rule, options, err)) ||
        (status = tacit_csv_open(&r.scan, name, bytes, len, err)))
        return status;
    r.scan.separator = separators[(unsigned)options->separator % 4];
    if (!(status = tacit_csv_plan_read(&r.plan, &r.scan, options, err)) &&
        !(status = claim(&r, err)))
        status = read_records(&r, err);
    tacit_csv_close(&r.scan);
    tacit_csv_plan_clear(&r.plan);
    free(r.x);
    if (status)
        tacit_table_clear(out);
    return status;
}
