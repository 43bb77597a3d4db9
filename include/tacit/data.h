/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_H
#define TACIT_DATA_H
/*
 * Records, kept agent by agent. A protocol never sees a record: it holds an opaque
 * tacit_shard and hands it to the kernels of model.h, which walk it batch by batch.
 */
#include "tacit/base.h"
#include "tacit/config.h"
#include "tacit/targets.h"

typedef struct tacit_dataset tacit_dataset;
typedef struct tacit_shard tacit_shard; /* one agent's records of one split */

/* Larger data sets are refused before anything is allocated. */
#ifndef TACIT_DATASET_MAX_BYTES
#define TACIT_DATASET_MAX_BYTES (UINT64_C(1) << 40)
#endif
#define TACIT_DATASET_MAX_AGENTS (UINT32_MAX - 1)
#define TACIT_DATASET_NOBODY UINT32_MAX /* owner of common test rows */
#define TACIT_BATCH_ROWS 4096           /* a batch never has more */
#define TACIT_WITHOUT_MOST 1000000
#define TACIT_BUCKETS_MOST 4096
#define TACIT_NAME_MAX 256 /* of an agent, with the final NUL */

typedef enum tacit_split { TACIT_TRAIN, TACIT_VALIDATION, TACIT_TEST, TACIT_SPLITS } tacit_split;

/* ---- building: say how many rows, then put them ---- */
/* `counts[split][agent]` says how many rows each agent will get (counts[split] == NULL:
 * none); all memory is claimed, and absurd sizes refused, here. Rows start as zero. */
tacit_status tacit_dataset_create(tacit_dataset **out, uint32_t agents, size_t features,
                                  tacit_scalar scalar, const uint32_t *const counts[TACIT_SPLITS],
                                  tacit_error *err);
/* Write row `row` of an agent's split (or of TACIT_DATASET_NOBODY's TACIT_TEST); refuses NaN,
 * infinity and what overflows the scalar. Different rows may be written from different threads. */
tacit_status tacit_dataset_put(tacit_dataset *data, uint32_t agent, tacit_split split, size_t row,
                               const double *x, double y, tacit_error *err);
void tacit_dataset_free(tacit_dataset *data);

/* ---- reading ---- */
uint32_t tacit_dataset_agents(const tacit_dataset *data);
size_t tacit_dataset_features(const tacit_dataset *data);
tacit_scalar tacit_dataset_scalar(const tacit_dataset *data);
uint32_t tacit_dataset_rows(const tacit_dataset *data, uint32_t agent, tacit_split split);
uint64_t tacit_dataset_bytes(const tacit_dataset *data);
/* "ward-b" if the agent was given a name, otherwise its number, written to `number`. A
 * million unnamed agents so cost no memory. */
#define TACIT_NUMBER_MAX 16
const char *tacit_dataset_name(const tacit_dataset *data, uint32_t agent,
                               char number[TACIT_NUMBER_MAX]);
/* Names are UTF-8 without control characters, 1 to TACIT_NAME_MAX - 1 bytes. */
tacit_status tacit_dataset_set_name(tacit_dataset *data, uint32_t agent, const char *name,
                                    tacit_error *err);
const tacit_shard *tacit_dataset_shard(const tacit_dataset *data, uint32_t agent,
                                       tacit_split split);
/* All agents' rows of a split as one shard: for oracles under trust `central` only. */
const tacit_shard *tacit_dataset_pooled(const tacit_dataset *data, tacit_split split);

/* Test rows that are nobody's: after those of all agents in the pooled shard. */
size_t tacit_dataset_common(const tacit_dataset *data);
/* What an agent's model is scored on: its own rows of the split, or all of them if so decided. */
void tacit_dataset_score_on_all(tacit_dataset *data);
bool tacit_dataset_scores_on_all(const tacit_dataset *data);
const tacit_shard *tacit_dataset_scored(const tacit_dataset *data, uint32_t agent,
                                        tacit_split split);

/* ---- a shard: its size; what is in it only kernels can read (src/data/shard.h) ---- */
size_t tacit_shard_rows(const tacit_shard *shard);
size_t tacit_shard_features(const tacit_shard *shard);
tacit_scalar tacit_shard_scalar(const tacit_shard *shard);

/* ---- sources ---- */
typedef enum tacit_bound { TACIT_BOUND_NONE, TACIT_BOUND_L2, TACIT_BOUND_L1 } tacit_bound;

typedef enum tacit_data_source {
    TACIT_SOURCE_LINEAR_SEPARATORS,
    TACIT_SOURCE_CSV, /* any text table: commas, tabs, semicolons or blanks; header or not */
    TACIT_SOURCE_LIBSVM,
    TACIT_SOURCE_IDX,
    TACIT_SOURCE_NPY,
    TACIT_SOURCE_MAT,     /* a cell an agent, or one matrix */
    TACIT_SOURCE_RATINGS, /* user, item, rating */
    TACIT_SOURCE_SHARDS,  /* a folder of records as they were dealt: nothing is done to them */
    TACIT_SOURCE_REGRESSION,
    TACIT_SOURCE_DIGITS, /* pictures of seven segments */
} tacit_data_source;
/* Its records are drawn from the seed; no file is read. */
static inline bool tacit_source_is_drawn(int source)
{
    return source == TACIT_SOURCE_LINEAR_SEPARATORS || source == TACIT_SOURCE_REGRESSION ||
           source == TACIT_SOURCE_DIGITS;
}

/* Which test and validation records an agent's model is scored on. */
typedef enum tacit_score_on {
    TACIT_SCORE_ON_AUTO, /* its own, but those of all with `test_path` */
    TACIT_SCORE_ON_OWN,
    TACIT_SCORE_ON_ALL,
} tacit_score_on;

/* Who gets which records of a table. */
typedef enum tacit_partition {
    TACIT_PARTITION_OWN,       /* the table says: agent column, agents file, cell of a MAT file */
    TACIT_PARTITION_IID,       /* equal shares of shuffled records */
    TACIT_PARTITION_DIRICHLET, /* each class dealt by a draw of Dirichlet(alpha) */
    TACIT_PARTITION_SHARDS,    /* sorted by class, cut into shards, each agent gets some */
    TACIT_PARTITION_QUANTITY,  /* shuffled, sizes by a draw of Dirichlet(alpha) */
    TACIT_PARTITION_CLASSES,   /* paper 004's A(t): from equal shares (t = 0) to own classes (1) */
} tacit_partition;

typedef enum tacit_missing_rule {
    TACIT_MISSING_REFUSE,
    TACIT_MISSING_DROP, /* the record */
    TACIT_MISSING_ZERO,
    TACIT_MISSING_MEAN,   /* of the agent's own training records */
    TACIT_MISSING_PUBLIC, /* the mean of public records */
} tacit_missing_rule;

typedef enum tacit_standardise {
    TACIT_STANDARDISE_NONE,
    TACIT_STANDARDISE_AGENT,  /* each agent by its own training records */
    TACIT_STANDARDISE_PUBLIC, /* by constants from a file, or by public records */
    TACIT_STANDARDISE_POOLED, /* by everybody's training records: an oracle, it leaks */
} tacit_standardise;

/* Options of the YAML section "data". */
typedef struct tacit_data_options {
    int source; /* tacit_data_source */
    /* linear-separators: paper 000 section 5.1; `agents` also for partitions */
    int64_t agents, dimension, min_records, max_records, test_records, validation_records;
    double label_noise;
    /* regression: paper 003 section IV-A; counts as above */
    double variance, noise_variance, noise_spread;
    /* files: a path may name several, separated by commas, whose records follow each other;
     * one that is not found is looked for in `folder`; gz and xz are unpacked on the way */
    char folder[TACIT_TEXT_MAX];
    char path[TACIT_TEXT_MAX];
    char labels_path[TACIT_TEXT_MAX]; /* labels in files of their own */
    char agents_path[TACIT_TEXT_MAX]; /* likewise whose record it is: a word a line */
    char test_path[TACIT_TEXT_MAX];   /* test records that are nobody's */
    char test_labels_path[TACIT_TEXT_MAX];
    bool nobodys; /* no option: set while the files above are read, in which owners do not count */
    /* csv */
    bool header;
    int separator;                     /* 0 comma, 1 tab, 2 semicolon, 3 blanks */
    char agent_column[TACIT_TEXT_MAX]; /* one agent a distinct value; without header: "1", ... */
    char label_column[TACIT_TEXT_MAX];
    char ignore[TACIT_TEXT_MAX];     /* columns to leave out, separated by commas */
    char categories[TACIT_TEXT_MAX]; /* "colour=red|green|blue; size=s|m|l": one feature a word */
    char ordinal[TACIT_TEXT_MAX];    /* likewise, but one feature a column: 0, 1, 2, ... */
    char hashed[TACIT_TEXT_MAX];     /* columns of any words: a feature a bucket */
    int64_t buckets;                 /* of each of them */
    char missing[TACIT_TEXT_MAX];    /* how a missing value is written, beside "" */
    int missing_rule;                /* tacit_missing_rule */
    bool keep_count;                 /* records it leaves out stay as records of zeros */
    /* libsvm */
    int64_t width; /* features of a record; 0: the largest index that was seen */
    /* mat */
    char x_name[TACIT_TEXT_MAX], y_name[TACIT_TEXT_MAX]; /* variables */
    /* labels */
    char positive[TACIT_TEXT_MAX];  /* labels that count as +1, separated by commas */
    char threshold[TACIT_TEXT_MAX]; /* a number: labels above count as +1, others as -1 */
    char classes[TACIT_TEXT_MAX];   /* labels that become 0, 1, 2, ...: for the softmax loss */
    double subtract, divide;        /* a feature of a table becomes (x - subtract) / divide */
    bool bias;                      /* append a constant 1 feature */
    /* of a table: what is public, what is used at all, and in which directions */
    int64_t public_records;  /* the last ones: nobody owns them */
    int64_t records;         /* of the others, the first ones; 0: all */
    bool shuffle;            /* before first and last are told */
    int64_t components;      /* principal ones of the public records; 0: features stay */
    bool standardise_labels; /* by public labels */
    /* from a table to agents */
    int64_t without; /* so many agents come first, without records: a learner */
    int partition;   /* tacit_partition */
    double alpha;
    int64_t shards; /* of each agent */
    double t;
    double test_fraction, validation_fraction;
    int score_on;                   /* tacit_score_on */
    int standardise;                /* tacit_standardise */
    double cut;                     /* standardised features are at most so large; 0: any */
    char constants[TACIT_TEXT_MAX]; /* file: "mean,deviation" a feature */
    /* ratings: paper 000 section 5.2 */
    int64_t factors; /* features of an item */
    double als_lambda;
    int64_t als_sweeps;
    int profile;  /* what a graph compares: 0 the ratings, 1 the ratings less the user's mean,
                   * 2 facts about users, 3 nothing */
    int features; /* of items: 0 als, 1 facts from a file, 2 als of public users, 3 both */
    int offset;   /* taken off ratings: 0 the user's mean, 1 that of all, 2 offset_value, 3 the
                   * mean of public users' ratings, 4 that and public effects of items */
    double offset_value;
    double public_users;        /* share of users whose ratings are everybody's: no agents */
    double shrinkage;           /* ratings that an item's public effect is shrunk by */
    double facts_scale;         /* features from facts are multiplied by this */
    bool whiten;                /* features alike in all directions, by public moments; tables:
                                 * components of deviation 1 */
    double whiten_ridge;        /* of their mean second moment */
    double bias_scale;          /* the constant feature */
    char items[TACIT_TEXT_MAX]; /* file: facts about items */
    char users[TACIT_TEXT_MAX]; /* file: facts about users */
    /* all */
    int bound;                    /* tacit_bound: divide rows by max(1, norm) */
    int storage;                  /* 0 memory, 1 a nameless file in `scratch` */
    char scratch[TACIT_TEXT_MAX]; /* folder */
} tacit_data_options;
extern const tacit_section tacit_data_section;
/* Everybody's model is scored on everybody's records: asked for, or test records are nobody's. */
static inline bool tacit_data_scores_on_all(const tacit_data_options *o)
{
    return o->score_on == TACIT_SCORE_ON_ALL || o->test_path[0] != '\0';
}

/* What of a world was made from training records without being charged to anybody. A run that
 * leaks says so wherever it says an epsilon. */
enum {
    TACIT_LEAK_FEATURES = 1, /* the features of records */
    TACIT_LEAK_OFFSET = 2,   /* what was subtracted from labels */
    TACIT_LEAK_SCALE = 4,    /* standardisation by an agent's own or by everybody's records */
    TACIT_LEAK_GRAPH = 8,    /* who talks to whom */
    TACIT_LEAK_CLAIM = 16,   /* nothing is clipped (privacy.claimed): epsilon is a mere claim */
    TACIT_LEAK_WIDTH = 32,   /* how many features there are: the largest index seen */
    TACIT_LEAK_CLASSES = 64, /* how many classes there are: the largest label seen */
    /* where numbers of records are public (replace): */
    TACIT_LEAK_COUNT = 128, /* records are left out for what is missing in them */
    /* where they are not (add-remove): */
    TACIT_LEAK_AGENTS = 256, /* agents are who has records in the file */
    TACIT_LEAK_SPLIT = 512,  /* which records train, drawn by their number */
    TACIT_LEAKS = 10         /* how many bits there are */
};

/* What a source knows beside the records. */
typedef struct tacit_source {
    tacit_dataset *data;
    tacit_targets targets;   /* what a similarity graph compares; dimension 0: nothing */
    bool targets_leak;       /* they were made from training records */
    unsigned leaks;          /* TACIT_LEAK_ bits, where numbers of records are public */
    unsigned leaks_number;   /* and those to be added where they are not */
    uint64_t dropped;        /* records left out for a missing value */
    uint64_t blank;          /* records that count, but of zeros, for a missing value */
    uint64_t public_records; /* that nobody owns */
} tacit_source;

tacit_status tacit_data_load(tacit_source *out, const tacit_data_options *options,
                             tacit_scalar scalar, uint64_t seed, tacit_error *err);
void tacit_source_clear(tacit_source *source);

/* The pieces behind tacit_data_load, for tests and fuzzers. */
tacit_status tacit_data_linear_separators(tacit_source *out, const tacit_data_options *options,
                                          tacit_scalar scalar, uint64_t seed, tacit_error *err);
tacit_status tacit_data_regression(tacit_source *out, const tacit_data_options *options,
                                   tacit_scalar scalar, uint64_t seed, tacit_error *err);
tacit_status tacit_data_digits(tacit_source *out, const tacit_data_options *options,
                               tacit_scalar scalar, uint64_t seed, tacit_error *err);
tacit_status tacit_data_csv_text(tacit_source *out, const tacit_data_options *options,
                                 const char *name, const char *text, size_t len,
                                 tacit_scalar scalar, uint64_t seed, tacit_error *err);

/* ---- a plain matrix from a file ---- */
typedef struct tacit_matrix {
    size_t rows, columns; /* both at least 1 after reading */
    double *value;        /* row by row, all finite */
} tacit_matrix;
/* NPY of two dimensions, or text: a row a line, numbers between commas, blanks or tabs, '#' before
 * a comment; gzip and xz are unpacked. `header`: a first line that is skipped if it says exactly
 * this; NULL: none. `out` is empty on failure. */
tacit_status tacit_matrix_read(tacit_matrix *out, const char *path, const char *header,
                               tacit_error *err);
/* The same from memory; `name` is the file for messages. */
tacit_status tacit_matrix_parse(tacit_matrix *out, const char *name, const char *header,
                                const char *bytes, size_t len, tacit_error *err);
void tacit_matrix_clear(tacit_matrix *matrix); /* {0} is empty */

#endif
