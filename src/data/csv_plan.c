/* SPDX-License-Identifier: Apache-2.0 */
#include "data/csv_plan.h"

#include "data/bytes.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tacit_csv_plan_clear(tacit_csv_plan *plan)
{
    for (uint32_t k = 0; plan->column && k < plan->columns; k++)
        tacit_names_clear(&plan->column[k].words);
    free(plan->column);
    tacit_names_clear(&plan->names);
    *plan = (tacit_csv_plan){0};
}

/* ---- names of the columns ---- */

static tacit_status add_column(tacit_csv_plan *plan, const char *name, const tacit_csv_field *field,
                               tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4];
    uint32_t number;
    bool added;
    if (field->len == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:%" PRIu64 ": column %" PRIu32 " has no name; the first line must "
                          "name every column",
                          name, field->line, plan->names.count + 1);
    tacit_status status =
        tacit_names_intern(&plan->names, field->text, field->len, &number, &added, err);
    if (!status && !added)
        status = tacit_fail(err, TACIT_EINPUT,
                            "%s:%" PRIu64 ": column \"%s\" is there twice; give each its own name",
                            name, field->line, tacit_csv_shown(field->text, field->len, shown));
    return status;
}

static tacit_status number_column(tacit_csv_plan *plan, tacit_error *err)
{
    char text[16];
    uint32_t number;
    bool added;
    int len = snprintf(text, sizeof text, "%" PRIu32, plan->names.count + 1);
    return tacit_names_intern(&plan->names, text, (size_t)len, &number, &added, err);
}

static tacit_status read_names(tacit_csv_plan *plan, tacit_csv_scan *scan, bool header,
                               tacit_error *err)
{
    tacit_csv_field field;
    tacit_status status;
    bool row_names = false;
    if (!tacit_csv_more(scan))
        return tacit_fail(err, TACIT_EINPUT, "%s: empty; expected %s", scan->name,
                          header ? "a line with the column names" : "records");
    tacit_csv_scan start = *scan;
    do {
        if ((status = tacit_csv_next(scan, &field, err)))
            return status;
        if (plan->names.count >= TACIT_CSV_MAX_COLUMNS)
            return tacit_fail(err, TACIT_EINPUT, "%s:%" PRIu64 ": more than %d columns", scan->name,
                              field.line, TACIT_CSV_MAX_COLUMNS);
        /* Row names as R writes them: a first column that the header leaves nameless. */
        bool nameless = header && plan->names.count == 0 && field.len == 0 && !field.last;
        row_names |= nameless;
        if ((status = header && !nameless ? add_column(plan, scan->name, &field, err)
                                          : number_column(plan, err)))
            return status;
    } while (!field.last);
    if (!header)
        *scan = start; /* it was a record */
    plan->columns = plan->names.count;
    plan->column = calloc(plan->columns, sizeof *plan->column);
    if (!plan->column)
        return tacit_out_of_memory(err);
    if (row_names)
        plan->column[0].role = TACIT_CSV_IGNORED;
    return TACIT_OK;
}

/* ---- roles ---- */

/* Words that may help with a header that lacks a column: "" if there are none. */
static void hint(const tacit_csv_plan *plan, const char *wanted, char *out, size_t size)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4];
    out[0] = '\0';
    const char *first = tacit_names_get(&plan->names, 0);
    if (tacit_looks_like_libsvm(first, strlen(first))) {
        snprintf(out, size, "; the file looks like libsvm: set data.source");
        return;
    }
    if (plan->columns == 1 && strpbrk(first, ";\t|")) {
        snprintf(out, size, "; values must be separated by commas (or set data.separator)");
        return;
    }
    const char **names = calloc(plan->columns, sizeof *names);
    if (!names)
        return;
    for (uint32_t k = 0; k < plan->columns; k++)
        names[k] = tacit_names_get(&plan->names, k);
    const char *near = tacit_nearest(wanted, names, plan->columns);
    if (near)
        snprintf(out, size, "; did you mean \"%s\"?", tacit_csv_shown(near, strlen(near), shown));
    free(names);
}

tacit_status tacit_csv_find(const tacit_csv_plan *plan, const char *name, const char *key,
                            const char *wanted, size_t len, uint32_t *at, tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4], text[TACIT_TEXT_MAX], words[128];
    *at = tacit_names_find(&plan->names, wanted, len);
    if (*at != UINT32_MAX)
        return TACIT_OK;
    snprintf(text, sizeof text, "%.*s", (int)(len < sizeof text ? len : sizeof text - 1), wanted);
    hint(plan, text, words, sizeof words);
    return tacit_fail(err, TACIT_EINPUT, "%s:1: no column \"%s\" for data.%s%s", name,
                      tacit_csv_shown(wanted, len, shown), key, words);
}

static tacit_status check(const tacit_data_options *o, bool need_agent, tacit_error *err)
{
    bool no_agent = need_agent && !o->agent_column[0];
    if (no_agent || (!o->labels_path[0] && !o->label_column[0]))
        return tacit_fail(err, TACIT_EINPUT, "data.%s is empty; name the column that holds the %s",
                          no_agent ? "agent-column" : "label-column", no_agent ? "agent" : "label");
    if (o->agent_column[0] && strcmp(o->agent_column, o->label_column) == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.agent-column and data.label-column are both \"%.200s\"; name two "
                          "columns",
                          o->agent_column);
    return TACIT_OK;
}

/* A column that a file of its own stands in for is left out where it exists. */
static tacit_status give_role(tacit_csv_plan *plan, const char *name, const char *key,
                              const char *wanted, bool needed, bool replaced, tacit_csv_role role,
                              tacit_error *err)
{
    uint32_t at = tacit_names_find(&plan->names, wanted, strlen(wanted));
    if (at == UINT32_MAX)
        return needed ? tacit_csv_find(plan, name, key, wanted, strlen(wanted), &at, err)
                      : TACIT_OK;
    plan->column[at].role = replaced ? TACIT_CSV_IGNORED : role;
    plan->has_agent |= role == TACIT_CSV_AGENT && !replaced;
    plan->has_label |= role == TACIT_CSV_LABEL && !replaced;
    return TACIT_OK;
}

static tacit_status ignore(tacit_csv_plan *plan, const char *name, const char *list,
                           tacit_error *err)
{
    for (const char *at = list; *at;) {
        const char *from = at + strspn(at, " ");
        size_t len = strcspn(from, ",");
        at = from + len + (from[len] == ',');
        while (len > 0 && from[len - 1] == ' ')
            len--;
        uint32_t column;
        tacit_status status = tacit_csv_find(plan, name, "ignore", from, len, &column, err);
        if (status)
            return status;
        if (plan->column[column].role == TACIT_CSV_LABEL)
            return tacit_fail(err, TACIT_EINPUT,
                              "data.ignore has column \"%.200s\", which is the label",
                              tacit_names_get(&plan->names, column));
        if (plan->column[column].role == TACIT_CSV_AGENT)
            plan->has_agent = false;
        plan->column[column].role = TACIT_CSV_IGNORED;
    }
    return TACIT_OK;
}

static tacit_status count_features(tacit_csv_plan *plan, const char *name,
                                   const tacit_data_options *o, tacit_error *err)
{
    for (uint32_t k = 0; k < plan->columns; k++) {
        tacit_csv_column *column = &plan->column[k];
        column->feature = plan->features;
        if (column->role == TACIT_CSV_NUMBER || column->role == TACIT_CSV_PLACE)
            plan->features++;
        else if (column->role == TACIT_CSV_WORD || column->role == TACIT_CSV_HASHED)
            plan->features += column->words.count;
    }
    if (plan->features > 0 || o->bias)
        return TACIT_OK;
    if (plan->has_agent && plan->has_label)
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:1: no feature columns beside \"%.200s\" and \"%.200s\"", name,
                          o->agent_column, o->label_column);
    return tacit_fail(err, TACIT_EINPUT, "%s:1: no feature columns", name);
}

tacit_status tacit_csv_plan_read(tacit_csv_plan *plan, tacit_csv_scan *scan,
                                 const tacit_data_options *o, tacit_error *err)
{
    bool need_agent = o->partition == TACIT_PARTITION_OWN && !o->agents_path[0];
    bool named = strcmp(o->agent_column, "agent") != 0 && o->agent_column[0] && !o->nobodys;
    const char *name = scan->name;
    tacit_status status;
    *plan = (tacit_csv_plan){0};
    if ((status = check(o, need_agent, err)) || (status = read_names(plan, scan, o->header, err)) ||
        (status = give_role(plan, name, "agent-column", o->agent_column,
                            need_agent || (named && !o->agents_path[0]),
                            o->agents_path[0] || o->nobodys, TACIT_CSV_AGENT, err)) ||
        (status = give_role(plan, name, "label-column", o->label_column, !o->labels_path[0],
                            o->labels_path[0], TACIT_CSV_LABEL, err)) ||
        (status = ignore(plan, name, o->ignore, err)) ||
        (status =
             tacit_csv_declare(plan, name, "categories", o->categories, TACIT_CSV_WORD, err)) ||
        (status = tacit_csv_declare(plan, name, "ordinal", o->ordinal, TACIT_CSV_PLACE, err)) ||
        (status = tacit_csv_declare_hashed(plan, name, o->hashed, (uint32_t)o->buckets, err)))
        return status;
    if (need_agent && !plan->has_agent)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.ignore has column \"%.200s\", which says whose record it is",
                          o->agent_column);
    return count_features(plan, name, o, err);
}

/* ---- names of the features ---- */

static tacit_status add_feature(tacit_names *features, const char *column, const char *word,
                                tacit_error *err)
{
    uint32_t number;
    bool added;
    size_t len = strlen(column), word_len = word ? strlen(word) : 0;
    char *text = malloc(len + word_len + 2);
    if (!text)
        return tacit_out_of_memory(err);
    memcpy(text, column, len);
    if (word) {
        text[len] = '=';
        memcpy(text + len + 1, word, word_len);
        len += 1 + word_len;
    }
    tacit_status status = tacit_names_intern(features, text, len, &number, &added, err);
    if (!status && !added)
        status =
            tacit_fail(err, TACIT_EINPUT, "two features would be called \"%.*s\"; rename a column",
                       (int)(len < 200 ? len : 200), text);
    free(text);
    return status;
}

tacit_status tacit_csv_plan_features(const tacit_csv_plan *plan, tacit_names *features,
                                     tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < plan->columns && !status; k++) {
        const tacit_csv_column *column = &plan->column[k];
        const char *name = tacit_names_get(&plan->names, k);
        if (column->role == TACIT_CSV_NUMBER || column->role == TACIT_CSV_PLACE)
            status = add_feature(features, name, NULL, err);
        const bool each = column->role == TACIT_CSV_WORD || column->role == TACIT_CSV_HASHED;
        for (uint32_t w = 0; each && w < column->words.count && !status; w++)
            status = add_feature(features, name, tacit_names_get(&column->words, w), err);
    }
    return status;
}
