/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way from the section "data" of a configuration to records:
 *
 *     path -> bytes, unpacked -> a table for each file -> one table -> labels and owners -> agents
 */
#include "data/bytes.h"
#include "data/label.h"
#include "data/shards.h"
#include "data/side.h"
#include "data/slice.h"
#include "data/table.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

typedef struct format {
    tacit_reader *read;
    bool widens;      /* a file may have fewer features than another */
    bool has_labels;  /* its files can hold labels themselves */
    const char *name; /* as in data.source */
} format;

static const format formats[] = {
    [TACIT_SOURCE_CSV] = {tacit_read_csv, false, true, "csv"},
    [TACIT_SOURCE_LIBSVM] = {tacit_read_libsvm, true, true, "libsvm"},
    [TACIT_SOURCE_IDX] = {tacit_read_idx, false, false, "idx"},
    [TACIT_SOURCE_NPY] = {tacit_read_npy, false, false, "npy"},
    [TACIT_SOURCE_MAT] = {tacit_read_mat, false, true, "mat"},
};

tacit_status tacit_table_finish(tacit_table *table, const tacit_data_options *o, const char *name,
                                tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (o->labels_path[0])
        status = tacit_side_labels(table, o, name, err);
    if (!status && o->agents_path[0])
        status = tacit_side_owners(table, o, name, err);
    bool in_column = o->source == TACIT_SOURCE_CSV && !o->labels_path[0];
    return status ? status
                  : tacit_table_label(table, o, name, in_column ? o->label_column : NULL, err);
}

static tacit_status read_one(tacit_table *out, const format *f, const char *path,
                             const tacit_data_options *o, tacit_scalar scalar, tacit_error *err)
{
    tacit_bytes bytes;
    tacit_status status = tacit_bytes_load(&bytes, path, o->folder, o, err);
    if (!status)
        status = f->read(out, o, path, tacit_bytes_at(&bytes), bytes.len, scalar, err);
    tacit_bytes_clear(&bytes);
    return status;
}

static tacit_status read_table(tacit_table *out, const tacit_data_options *o, tacit_scalar scalar,
                               tacit_error *err)
{
    const format *f = &formats[o->source];
    const char *key = o->nobodys ? "test-path" : "path";
    tacit_paths paths;
    tacit_status status = tacit_paths_split(&paths, o->path, o->folder, key, err);
    *out = (tacit_table){0};
    if (status)
        return status;
    if (!f->has_labels && !o->labels_path[0])
        return tacit_fail(err, TACIT_EINPUT,
                          "data.%slabels-path is empty; source \"%s\" has its labels in a file of "
                          "their own",
                          o->nobodys ? "test-" : "", f->name);
    tacit_table *parts = calloc(paths.count, sizeof *parts);
    if (!parts)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < paths.count && !status; k++)
        status = read_one(&parts[k], f, paths.item[k], o, scalar, err);
    if (!status)
        status = tacit_table_join(out, parts, paths.item, paths.count, f->widens, o, err);
    for (size_t k = 0; k < paths.count; k++)
        tacit_table_clear(&parts[k]);
    free(parts);
    return status ? status : tacit_table_finish(out, o, o->path, err);
}

tacit_status tacit_data_table(tacit_table *out, const tacit_data_options *o, tacit_scalar scalar,
                              tacit_error *err)
{
    tacit_status status = read_table(out, o, scalar, err);
    if (status)
        tacit_table_clear(out);
    return status;
}

/* ---- test records of their own ---- */

static tacit_status check_test(const tacit_data_options *o, tacit_error *err)
{
    if (!o->test_path[0] && o->test_labels_path[0])
        return tacit_fail(err, TACIT_EINPUT,
                          "data.test-labels-path is given without data.test-path; name the file of "
                          "the test records");
    if (!o->test_path[0])
        return TACIT_OK;
    if (o->score_on == TACIT_SCORE_ON_OWN)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.score-on is \"own\", but the records of data.test-path are "
                          "nobody's own; leave it out");
    if (o->standardise == TACIT_STANDARDISE_AGENT)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.standardise is \"agent\", but the records of data.test-path are "
                          "nobody's, so nobody's scale fits them; set it to \"public\", or "
                          "data.divide");
    return TACIT_OK;
}

tacit_status tacit_data_test_table(tacit_table *out, tacit_table *table,
                                   const tacit_data_options *o, tacit_scalar scalar,
                                   tacit_error *err)
{
    *out = (tacit_table){0};
    tacit_data_options *t = malloc(sizeof *t);
    if (!t)
        return tacit_out_of_memory(err);
    *t = *o;
    t->nobodys = true;
    t->partition = TACIT_PARTITION_IID; /* so nobody looks for owners */
    t->agents_path[0] = '\0';
    memcpy(t->path, o->test_path, sizeof t->path);
    memcpy(t->labels_path, o->test_labels_path, sizeof t->labels_path);
    tacit_status status = tacit_data_table(out, t, scalar, err);
    free(t);
    if (!status)
        status =
            tacit_table_match(table, o->path, out, o->test_path, formats[o->source].widens, err);
    if (!status && out->missing && o->missing_rule == TACIT_MISSING_MEAN)
        status = tacit_fail(err, TACIT_EINPUT,
                            "\"%.300s\" has missing values, and data.missing-rule \"mean\" is that "
                            "of an agent, but test records are nobody's; set it to \"drop\", "
                            "\"zero\" or \"public\"",
                            o->test_path);
    if (status)
        tacit_table_clear(out);
    return status;
}

static tacit_status load_table(tacit_source *out, const tacit_data_options *o, tacit_scalar scalar,
                               uint64_t seed, tacit_error *err)
{
    tacit_table table = {0}, test = {0};
    const bool tested = o->test_path[0] != '\0';
    tacit_status status = check_test(o, err);
    if (!status)
        status = tacit_data_table(&table, o, scalar, err);
    if (!status && tested)
        status = tacit_data_test_table(&test, &table, o, scalar, err);
    if (!status)
        status = tacit_table_deal_tested(out, &table, tested ? &test : NULL, o, seed, err);
    tacit_table_clear(&table);
    tacit_table_clear(&test);
    return status;
}

tacit_status tacit_data_csv_text(tacit_source *out, const tacit_data_options *given,
                                 const char *name, const char *text, size_t len,
                                 tacit_scalar scalar, uint64_t seed, tacit_error *err)
{
    tacit_table table = {0};
    tacit_data_options o = *given;
    o.source = TACIT_SOURCE_CSV;
    *out = (tacit_source){0};
    tacit_status status = tacit_read_csv(&table, &o, name, text, len, scalar, err);
    if (!status)
        status = tacit_table_finish(&table, &o, name, err);
    if (!status)
        status = tacit_table_deal(out, &table, &o, seed, err);
    tacit_table_clear(&table);
    return status;
}

/* ---- ratings ---- */

/* Add a file behind others, on a line of its own. */
static tacit_status add_text(tacit_bytes *all, const char *path, const tacit_data_options *o,
                             tacit_error *err)
{
    tacit_bytes one;
    tacit_status status = tacit_bytes_load(&one, path, o->folder, o, err);
    if (!status)
        status = tacit_bytes_reserve(all, one.len + 1, path, o, err);
    if (!status) {
        char *to = all->block.bytes;
        if (all->len > 0 && to[all->len - 1] != '\n')
            to[all->len++] = '\n';
        if (one.len > 0)
            memcpy(to + all->len, one.block.bytes, one.len);
        all->len += one.len;
    }
    tacit_bytes_clear(&one);
    return status;
}

static tacit_status load_ratings(tacit_source *out, const tacit_data_options *o,
                                 tacit_scalar scalar, uint64_t seed, tacit_error *err)
{
    tacit_paths paths;
    tacit_bytes text = {0};
    tacit_status status = tacit_paths_split(&paths, o->path, o->folder, "path", err);
    if (!status && paths.count == 1)
        status = tacit_bytes_load(&text, paths.item[0], o->folder, o, err);
    for (size_t k = 0; k < paths.count && paths.count > 1 && !status; k++)
        status = add_text(&text, paths.item[k], o, err);
    if (!status)
        status =
            tacit_data_ratings(out, o, o->path, tacit_bytes_at(&text), text.len, scalar, seed, err);
    tacit_bytes_clear(&text);
    return status;
}

/* Keys that mean something for tables only would be ignored elsewhere, and nobody would notice. */
static tacit_status check_for_tables(const tacit_data_options *o, tacit_error *err)
{
    const struct {
        bool set;
        const char *key;
    } keys[] = {{o->public_records != 0, "public"},
                {o->records != 0, "records"},
                {o->shuffle, "shuffle"},
                {o->components != 0, "components"},
                {o->test_path[0] != '\0', "test-path"},
                {o->test_labels_path[0] != '\0', "test-labels-path"},
                {o->subtract != 0, "subtract"},
                {o->divide > 0 && o->divide != 1, "divide"},
                {o->standardise_labels, "standardise-labels"},
                {o->keep_count, "keep-count"},
                {o->missing_rule == TACIT_MISSING_PUBLIC, "missing-rule \"public\""}};
    const bool table = !tacit_source_is_drawn(o->source) && o->source != TACIT_SOURCE_RATINGS &&
                       o->source != TACIT_SOURCE_SHARDS;
    for (size_t k = 0; !table && k < sizeof keys / sizeof *keys; k++) {
        if (keys[k].set)
            return tacit_fail(err, TACIT_EINPUT,
                              "data.%s is for tables of records, such as csv; leave it out",
                              keys[k].key);
    }
    if (o->width != 0 && o->source != TACIT_SOURCE_LIBSVM)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.width is for libsvm, whose files do not say it; leave it out");
    if (o->whiten && o->source != TACIT_SOURCE_RATINGS && o->components == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.whiten is for ratings, whose items have public features, and for "
                          "data.components; leave it out (data.standardise scales the features of "
                          "tables)");
    return TACIT_OK;
}

static tacit_status load_source(tacit_source *out, const tacit_data_options *data_options,
                                tacit_scalar scalar, uint64_t seed, tacit_error *err)
{
    switch (data_options->source) {
    case TACIT_SOURCE_LINEAR_SEPARATORS:
        return tacit_data_linear_separators(out, data_options, scalar, seed, err);
    case TACIT_SOURCE_DIGITS:
        return tacit_data_digits(out, data_options, scalar, seed, err);
    case TACIT_SOURCE_REGRESSION:
        return tacit_data_regression(out, data_options, scalar, seed, err);
    case TACIT_SOURCE_CSV:
    case TACIT_SOURCE_LIBSVM:
    case TACIT_SOURCE_IDX:
    case TACIT_SOURCE_NPY:
    case TACIT_SOURCE_MAT:
        return load_table(out, data_options, scalar, seed, err);
    case TACIT_SOURCE_RATINGS:
        return load_ratings(out, data_options, scalar, seed, err);
    case TACIT_SOURCE_SHARDS:
        return tacit_data_shards(out, data_options, scalar, err);
    default:
        return tacit_fail(err, TACIT_EINPUT, "unknown data.source \"%d\"", data_options->source);
    }
}

tacit_status tacit_data_load(tacit_source *out, const tacit_data_options *o, tacit_scalar scalar,
                             uint64_t seed, tacit_error *err)
{
    *out = (tacit_source){0};
    tacit_status status = check_for_tables(o, err);
    if (!status)
        status = load_source(out, o, scalar, seed, err);
    if (!status && tacit_data_scores_on_all(o))
        tacit_dataset_score_on_all(out->data);
    return status;
}

void tacit_source_clear(tacit_source *source)
{
    tacit_dataset_free(source->data);
    tacit_targets_clear(&source->targets);
    *source = (tacit_source){0};
}
