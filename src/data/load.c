/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The section "data" of a configuration, and the way from it to records:
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

static const char *const sources[] = {
    "linear-separators", "csv",    "libsvm",     "idx", "npy", "mat",
    "ratings",           "shards", "regression", NULL};
static const char *const separators[] = {"comma", "tab", "semicolon", "blanks", NULL};
static const char *const missing_rules[] = {"refuse", "drop", "zero", "mean", "public", NULL};
static const char *const partitions[] = {"own",      "iid",     "dirichlet", "shards",
                                         "quantity", "classes", NULL};
static const char *const standards[] = {"none", "agent", "public", "pooled", NULL};
static const char *const profiles[] = {"ratings", "centred", "users", "none", NULL};
static const char *const features[] = {"als", "items", "als-public", "both", NULL};
static const char *const offsets[] = {"user", "global", "constant", "public", "public-items", NULL};
static const char *const storages[] = {"memory", "file", NULL};
static const char *const bounds[] = {"none", "l2", "l1", NULL};

#define FIELD(name) offsetof(tacit_data_options, name)
#define COUNT(key, fallback, least, most, name, help)                               \
    {                                                                               \
        key, TACIT_OPT_INT, fallback, least, most, NULL, FIELD(name), help, 0, NULL \
    }
#define REAL(key, fallback, least, most, name, help)                                 \
    {                                                                                \
        key, TACIT_OPT_REAL, fallback, least, most, NULL, FIELD(name), help, 0, NULL \
    }
#define TEXT(key, fallback, name, help)                                       \
    {                                                                         \
        key, TACIT_OPT_TEXT, fallback, 0, 0, NULL, FIELD(name), help, 0, NULL \
    }
#define CHOICE(key, fallback, choices, name, help)                                 \
    {                                                                              \
        key, TACIT_OPT_CHOICE, fallback, 0, 0, choices, FIELD(name), help, 0, NULL \
    }

#define FLAG(key, fallback, name, help)                                       \
    {                                                                         \
        key, TACIT_OPT_BOOL, fallback, 0, 0, NULL, FIELD(name), help, 0, NULL \
    }

static const tacit_option options[] = {
    CHOICE("source", "linear-separators", sources, source, "where records come from"),
    COUNT("agents", "100", 1, TACIT_DATASET_MAX_AGENTS, agents,
          "linear-separators, regression, and partitions other than \"own\": agents"),
    COUNT("dimension", "100", 1, 1 << 20, dimension,
          "linear-separators, regression: features of a record"),
    COUNT("min-records", "10", 1, 1e9, min_records,
          "linear-separators, regression: least training records of an agent"),
    COUNT("max-records", "100", 1, 1e9, max_records,
          "linear-separators, regression: most training records of an agent"),
    COUNT("test-records", "100", 0, 1e9, test_records,
          "linear-separators, regression: test records of an agent, labels without noise"),
    COUNT("validation-records", "100", 0, 1e9, validation_records,
          "linear-separators, regression: validation records of an agent"),
    REAL("label-noise", "0.05", 0, 1, label_noise,
         "linear-separators: probability that a training or validation label is flipped"),
    REAL("variance", "0.5", 1e-9, 1e9, variance, "regression: of a feature"),
    REAL("noise-variance", "0.055", 0, 1e9, noise_variance,
         "regression: of what is added to a training or validation label, mean over agents"),
    REAL("noise-spread", "0.8", 0, 1, noise_spread,
         "regression: an agent's is up to this share larger or smaller"),
    TEXT("folder", "", folder, "where files are looked for that are not found as named"),
    TEXT("path", "", path,
         "file to read, or several separated by commas; .gz and .xz too; shards: a folder"),
    TEXT("labels-path", "", labels_path, "labels in a file of their own, in the same order"),
    TEXT("agents-path", "", agents_path,
         "whose record it is, a word a line, in the same order; ratings: a list of all users"),
    FLAG("header", "true", header, "csv: the first line names the columns"),
    CHOICE("separator", "comma", separators, separator, "csv: what stands between values"),
    TEXT("agent-column", "agent", agent_column, "csv: column that says whose record it is"),
    TEXT("label-column", "label", label_column, "csv: column to predict"),
    TEXT("ignore", "", ignore, "csv: columns to leave out, separated by commas"),
    TEXT("categories", "", categories,
         "csv: columns of words, as in \"colour=red|green; size=s|m|l\": a feature each word"),
    TEXT("ordinal", "", ordinal,
         "csv: columns of words that become numbers, as in \"size=s|m|l\": 0, 1, 2"),
    TEXT("hashed", "", hashed,
         "csv: columns of any words, separated by commas: a feature each bucket of words"),
    COUNT("buckets", "16", 2, TACIT_BUCKETS_MOST, buckets, "csv: of each column in \"hashed\""),
    TEXT("missing", "?", missing, "csv: how a missing value is written, beside nothing at all"),
    CHOICE("missing-rule", "refuse", missing_rules, missing_rule,
           "a missing value: an error, drop the record, zero, the agent's own mean, or that of "
           "public records"),
    TEXT("x-name", "X", x_name, "mat: variable with the records; a cell of matrices: one an agent"),
    TEXT("y-name", "Y", y_name, "mat: variable with the labels"),
    TEXT("positive", "", positive,
         "labels that count as +1, separated by commas, all others as -1; empty: numbers"),
    TEXT("threshold", "", threshold, "labels above this number count as +1, others as -1"),
    TEXT("classes", "", classes,
         "all labels there are, separated by commas: they become 0, 1, 2, ...; empty: numbers"),
    FLAG("bias", "false", bias, "append a feature that is 1"),
    COUNT("public", "0", 0, UINT32_MAX, public_records,
          "so many of the last records of a table are public: no agent owns them"),
    COUNT("records", "0", 0, UINT32_MAX, records,
          "use only so many of the other records, the first ones; 0: all"),
    FLAG("shuffle", "false", shuffle, "shuffle a table before first and last records are told"),
    COUNT("components", "0", 0, TACIT_COMPONENTS_MOST, components,
          "replace features by so many principal components of the public records; 0: do not"),
    FLAG("standardise-labels", "false", standardise_labels,
         "labels to mean 0 and deviation 1, by the public records"),
    CHOICE("partition", "own", partitions, partition,
           "who gets which record: as the file says, or dealt to \"agents\" agents"),
    COUNT("without", "0", 0, TACIT_WITHOUT_MOST, without,
          "so many first agents get no records, such as a learner; they count in \"agents\""),
    REAL("alpha", "0.5", 1e-6, 1e6, alpha, "dirichlet, quantity: small is uneven"),
    COUNT("shards", "2", 1, 1e9, shards, "shards: how many each agent gets"),
    REAL("t", "0.5", 0, 1, t, "classes: 0 equal shares of every class, 1 classes of one's own"),
    REAL("test-fraction", "0.2", 0, 1, test_fraction, "share of an agent's records for test"),
    REAL("validation-fraction", "0", 0, 1, validation_fraction,
         "share of an agent's records for validation; ratings: of those not for test"),
    CHOICE("standardise", "none", standards, standardise,
           "features to mean 0 and deviation 1: by each agent's own training records, by public "
           "constants or public records, or by all records (which leaks)"),
    REAL("cut", "0", 0, 1e9, cut,
         "standardised features beyond so many deviations are cut to that; 0: they stay"),
    TEXT("constants", "", constants,
         "standardise public: a file with \"mean,deviation\" a feature; empty: public records"),
    CHOICE("features", "als", features, features,
           "ratings: an item's features: factors of all training ratings (which leaks), facts "
           "from \"items\", factors of public users' ratings, or both of these"),
    TEXT("items", "", items, "ratings: a table of facts about items, an item a line, name first"),
    TEXT("users", "", users, "ratings: a table of public facts about users, likewise"),
    REAL("public-users", "0", 0, 1, public_users,
         "ratings: share of users whose ratings are public; they are no agents"),
    CHOICE("offset", "user", offsets, offset,
           "ratings: what is subtracted: the user's own mean or that of all (both leak), "
           "\"offset-value\", the mean of public users, or of public users by item"),
    REAL("offset-value", "3", -1e9, 1e9, offset_value, "ratings: offset constant"),
    REAL("shrinkage", "5", 0, 1e9, shrinkage,
         "ratings: an item's public mean counts as if it had this many ratings more, all average"),
    REAL("facts-scale", "1", 1e-6, 1e6, facts_scale,
         "ratings: multiplies features from \"items\"; small ones are held back more by a ridge"),
    FLAG("whiten", "false", whiten,
         "turn public features of ratings so that they are alike in all directions; tables: "
         "components of deviation 1"),
    REAL("whiten-ridge", "0.01", 0, 1e6, whiten_ridge,
         "ratings: added to features' second moments first, in parts of their mean"),
    REAL("bias-scale", "1", 1e-6, 1e6, bias_scale,
         "ratings: the constant feature; a large one is held back less by a ridge"),
    COUNT("factors", "20", 1, 1000, factors, "ratings: factors of an item"),
    REAL("als-lambda", "0.1", 1e-9, 1e9, als_lambda, "ratings: regulariser of the factors"),
    COUNT("als-sweeps", "20", 1, 10000, als_sweeps, "ratings: sweeps of alternating least squares"),
    CHOICE("profile", "ratings", profiles, profile,
           "ratings: what a graph compares: training ratings, those less the user's mean (both "
           "leak), facts from \"users\", or nothing"),
    CHOICE("bound", "none", bounds, bound, "divide each record by max(1, its norm)"),
    CHOICE("storage", "memory", storages, storage,
           "keep records in memory, or in a nameless file for sets larger than memory"),
    TEXT("scratch", "", scratch, "storage file: the folder for it; empty: the current one"),
};

const tacit_section tacit_data_section = {
    .name = "data",
    .options = options,
    .count = sizeof options / sizeof *options,
    .size = sizeof(tacit_data_options),
};

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
    tacit_paths paths;
    tacit_status status = tacit_paths_split(&paths, o->path, o->folder, "path", err);
    *out = (tacit_table){0};
    if (status)
        return status;
    if (!f->has_labels && !o->labels_path[0])
        return tacit_fail(err, TACIT_EINPUT,
                          "data.labels-path is empty; source \"%s\" has its labels in a file of "
                          "their own",
                          f->name);
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

static tacit_status load_table(tacit_source *out, const tacit_data_options *o, tacit_scalar scalar,
                               uint64_t seed, tacit_error *err)
{
    tacit_table table;
    tacit_status status = tacit_data_table(&table, o, scalar, err);
    if (!status)
        status = tacit_table_deal(out, &table, o, seed, err);
    tacit_table_clear(&table);
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
                {o->standardise_labels, "standardise-labels"},
                {o->missing_rule == TACIT_MISSING_PUBLIC, "missing-rule \"public\""}};
    const bool table = !tacit_source_is_drawn(o->source) && o->source != TACIT_SOURCE_RATINGS &&
                       o->source != TACIT_SOURCE_SHARDS;
    for (size_t k = 0; !table && k < sizeof keys / sizeof *keys; k++) {
        if (keys[k].set)
            return tacit_fail(err, TACIT_EINPUT,
                              "data.%s is for tables of records, such as csv; leave it out",
                              keys[k].key);
    }
    if (o->whiten && o->source != TACIT_SOURCE_RATINGS && o->components == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.whiten is for ratings, whose items have public features, and for "
                          "data.components; leave it out (data.standardise scales the features of "
                          "tables)");
    return TACIT_OK;
}

tacit_status tacit_data_load(tacit_source *out, const tacit_data_options *data_options,
                             tacit_scalar scalar, uint64_t seed, tacit_error *err)
{
    *out = (tacit_source){0};
    tacit_status status = check_for_tables(data_options, err);
    if (status)
        return status;
    switch (data_options->source) {
    case TACIT_SOURCE_LINEAR_SEPARATORS:
        return tacit_data_linear_separators(out, data_options, scalar, seed, err);
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

void tacit_source_clear(tacit_source *source)
{
    tacit_dataset_free(source->data);
    tacit_targets_clear(&source->targets);
    *source = (tacit_source){0};
}
