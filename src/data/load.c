/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The section "data" of a configuration, and the way from it to records. Files are read, not
 * mapped: a file that shrinks while mapped would end the process.
 */
#include "data/dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const sources[] = {"linear-separators", "csv", "libsvm", "idx", "npy", "mat",
                                      "ratings",           NULL};
static const char *const separators[] = {"comma", "tab", "semicolon", "blanks", NULL};
static const char *const missing_rules[] = {"refuse", "drop", "zero", "mean", NULL};
static const char *const partitions[] = {"own",      "iid",     "dirichlet", "shards",
                                         "quantity", "classes", NULL};
static const char *const standards[] = {"none", "agent", "public", "pooled", NULL};
static const char *const profiles[] = {"ratings", "centred", NULL};
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
          "linear-separators and partitions other than \"own\": agents"),
    COUNT("dimension", "100", 2, 1 << 20, dimension, "linear-separators: features of a record"),
    COUNT("min-records", "10", 1, 1e9, min_records,
          "linear-separators: least training records of an agent"),
    COUNT("max-records", "100", 1, 1e9, max_records,
          "linear-separators: most training records of an agent"),
    COUNT("test-records", "100", 0, 1e9, test_records,
          "linear-separators: test records of an agent, labels without noise"),
    COUNT("validation-records", "100", 0, 1e9, validation_records,
          "linear-separators: validation records of an agent"),
    REAL("label-noise", "0.05", 0, 1, label_noise,
         "linear-separators: probability that a training or validation label is flipped"),
    TEXT("folder", "", folder, "where files are looked for that are not found as named"),
    TEXT("path", "", path, "file to read, or several separated by commas; .gz and .xz too"),
    TEXT("labels-path", "", labels_path, "labels in a file of their own, in the same order"),
    TEXT("agents-path", "", agents_path, "whose record it is, a word a line, in the same order"),
    FLAG("header", "true", header, "csv: the first line names the columns"),
    CHOICE("separator", "comma", separators, separator, "csv: what stands between values"),
    TEXT("agent-column", "agent", agent_column, "csv: column that says whose record it is"),
    TEXT("label-column", "label", label_column, "csv: column to predict"),
    TEXT("ignore", "", ignore, "csv: columns to leave out, separated by commas"),
    TEXT("categories", "", categories,
         "csv: columns of words, as in \"colour=red|green; size=s|m|l\": a feature each word"),
    TEXT("missing", "?", missing, "csv: how a missing value is written, beside nothing at all"),
    CHOICE("missing-rule", "refuse", missing_rules, missing_rule,
           "a missing value: an error, drop the record, zero, or the agent's own mean"),
    TEXT("x-name", "X", x_name, "mat: variable with the records; a cell of matrices: one an agent"),
    TEXT("y-name", "Y", y_name, "mat: variable with the labels"),
    TEXT("positive", "", positive,
         "labels that count as +1, separated by commas, all others as -1; empty: numbers"),
    TEXT("threshold", "", threshold, "labels above this number count as +1, others as -1"),
    FLAG("bias", "false", bias, "append a feature that is 1"),
    CHOICE("partition", "own", partitions, partition,
           "who gets which record: as the file says, or dealt to \"agents\" agents"),
    REAL("alpha", "0.5", 1e-6, 1e6, alpha, "dirichlet, quantity: small is uneven"),
    COUNT("shards", "2", 1, 1e9, shards, "shards: how many each agent gets"),
    REAL("t", "0.5", 0, 1, t, "classes: 0 equal shares of every class, 1 classes of one's own"),
    REAL("test-fraction", "0.2", 0, 1, test_fraction, "share of an agent's records for test"),
    REAL("validation-fraction", "0", 0, 1, validation_fraction,
         "share of an agent's records for validation; ratings: of those not for test"),
    CHOICE("standardise", "none", standards, standardise,
           "features to mean 0 and deviation 1: by each agent's own training records, by public "
           "constants, or by all records (which leaks)"),
    TEXT("constants", "", constants,
         "standardise public: a file with \"mean,deviation\" a feature"),
    COUNT("factors", "20", 1, 1000, factors, "ratings: features of an item"),
    REAL("als-lambda", "0.1", 1e-9, 1e9, als_lambda, "ratings: regulariser of the item features"),
    COUNT("als-sweeps", "20", 1, 10000, als_sweeps, "ratings: sweeps of alternating least squares"),
    CHOICE("profile", "ratings", profiles, profile,
           "ratings: what a graph compares: the ratings, or the ratings less the user's mean"),
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

static tacit_status cannot(const char *verb, const char *path, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT, "cannot %s \"%.300s\": %s", verb, path, strerror(errno));
}

/* All of a file or pipe; `expected` is a guess of its size. */
static tacit_status read_all(int fd, const char *path, size_t expected, char **out, size_t *len,
                             tacit_error *err)
{
    size_t capacity = expected, used = 0;
    char *text = malloc(capacity);
    for (;;) {
        if (text && used == capacity) {
            char *grown = tacit_mul_size(capacity, 2, &capacity) ? realloc(text, capacity) : NULL;
            if (!grown)
                free(text);
            text = grown;
        }
        if (!text)
            return tacit_fail(err, TACIT_EINTERNAL, "no memory to read \"%.300s\"", path);
        ssize_t n = read(fd, text + used, capacity - used);
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR) {
            tacit_status status = cannot("read", path, err);
            free(text);
            return status;
        }
        used += n > 0 ? (size_t)n : 0;
    }
    *out = text;
    *len = used;
    return TACIT_OK;
}

static tacit_status read_file(const char *path, char **out, size_t *len, tacit_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cannot("open", path, err);
    struct stat about;
    tacit_status status;
    if (fstat(fd, &about) != 0)
        status = cannot("read", path, err);
    else if (S_ISDIR(about.st_mode))
        status = tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is a folder; expected a CSV file", path);
    else if (about.st_size < 0 || (uint64_t)about.st_size > TACIT_DATASET_MAX_BYTES)
        status = tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is too large", path);
    else /* one byte more: so that the end is met without growing */
        status = read_all(fd, path, about.st_size > 0 ? (size_t)about.st_size + 1 : 65536, out, len,
                          err);
    close(fd);
    return status;
}

static tacit_status load_csv(tacit_source *out, const tacit_data_options *o, tacit_scalar scalar,
                             uint64_t seed, tacit_error *err)
{
    char *text = NULL;
    size_t len = 0;
    if (!o->path[0])
        return tacit_fail(err, TACIT_EINPUT,
                          "data.path is empty; source \"csv\" needs the file to read");
    tacit_status status = read_file(o->path, &text, &len, err);
    if (!status)
        status = tacit_data_csv_text(out, o, o->path, text, len, scalar, seed, err);
    free(text);
    return status;
}

tacit_status tacit_data_load(tacit_source *out, const tacit_data_options *data_options,
                             tacit_scalar scalar, uint64_t seed, tacit_error *err)
{
    *out = (tacit_source){0};
    switch (data_options->source) {
    case TACIT_SOURCE_LINEAR_SEPARATORS:
        return tacit_data_linear_separators(out, data_options, scalar, seed, err);
    case TACIT_SOURCE_CSV:
        return load_csv(out, data_options, scalar, seed, err);
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
