/* SPDX-License-Identifier: Apache-2.0 */
/* The section "data" of a configuration. */
#include "data/slice.h"
#include "tacit/data.h"

static const char *const sources[] = {
    "linear-separators", "csv",    "libsvm",     "idx",    "npy", "mat",
    "ratings",           "shards", "regression", "digits", NULL};
static const char *const separators[] = {"comma", "tab", "semicolon", "blanks", NULL};
static const char *const missing_rules[] = {"refuse", "drop", "zero", "mean", "public", NULL};
static const char *const partitions[] = {"own",      "iid",     "dirichlet", "shards",
                                         "quantity", "classes", NULL};
static const char *const scored[] = {"auto", "own", "all", NULL};
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
          "linear-separators, regression, digits, and partitions other than \"own\": agents"),
    COUNT("dimension", "100", 1, 1 << 20, dimension,
          "linear-separators, regression: features of a record"),
    COUNT("min-records", "10", 1, 1e9, min_records,
          "linear-separators, regression, digits: least training records of an agent"),
    COUNT("max-records", "100", 1, 1e9, max_records,
          "linear-separators, regression, digits: most training records of an agent"),
    COUNT("test-records", "100", 0, 1e9, test_records,
          "linear-separators, regression, digits: test records of an agent, labels without noise"),
    COUNT("validation-records", "100", 0, 1e9, validation_records,
          "linear-separators, regression, digits: validation records of an agent"),
    REAL("label-noise", "0.05", 0, 1, label_noise,
         "linear-separators: probability that a training or validation label is flipped"),
    REAL("variance", "0.5", 1e-9, 1e9, variance, "regression: of a feature"),
    REAL(
        "noise-variance", "0.055", 0, 1e9, noise_variance,
        "regression: of what is added to a training or validation label, mean over agents; digits: "
        "of what is added to a pixel"),
    REAL("noise-spread", "0.8", 0, 1, noise_spread,
         "regression: an agent's is up to this share larger or smaller"),
    TEXT("folder", "", folder, "where files are looked for that are not found as named"),
    TEXT("path", "", path,
         "file to read, or several separated by commas; .gz and .xz too; shards: a folder"),
    TEXT("labels-path", "", labels_path, "labels in a file of their own, in the same order"),
    TEXT("test-path", "", test_path,
         "test records that are nobody's, in the format of \"path\"; every agent is scored on all "
         "of them, and \"test-fraction\" is not used"),
    TEXT("test-labels-path", "", test_labels_path, "their labels, as in \"labels-path\""),
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
    FLAG("keep-count", "false", keep_count,
         "training records that \"missing-rule\" would leave out (always those without a label) "
         "stay as records of zeros, so that their number tells nothing of them"),
    COUNT("width", "0", 0, 1 << 24, width,
          "libsvm: features of a record, larger indices are an error; 0: the largest index of the "
          "file (which leaks)"),
    TEXT("x-name", "X", x_name, "mat: variable with the records; a cell of matrices: one an agent"),
    TEXT("y-name", "Y", y_name, "mat: variable with the labels"),
    TEXT("positive", "", positive,
         "labels that count as +1, separated by commas, all others as -1; empty: numbers"),
    TEXT("threshold", "", threshold, "labels above this number count as +1, others as -1"),
    TEXT("classes", "", classes,
         "all labels there are, separated by commas: they become 0, 1, 2, ...; empty: numbers"),
    REAL("subtract", "0", -1e9, 1e9, subtract,
         "this public number is subtracted from every feature of a table first"),
    REAL("divide", "1", 1e-9, 1e9, divide,
         "and then every feature is divided by this one, as in 255 for pixels"),
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
    CHOICE("score-on", "auto", scored, score_on,
           "which test and validation records an agent's model is scored on: its own, or those of "
           "all; auto: its own, but all with \"test-path\""),
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
