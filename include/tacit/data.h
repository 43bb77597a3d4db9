/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_H
#define TACIT_DATA_H
/*
 * Records, kept agent by agent. A protocol never sees a record: it holds an opaque
 * tacit_shard and hands it to the kernels of model.h, which walk it batch by batch.
 */
#include "tacit/base.h"
#include "tacit/config.h"

typedef struct tacit_dataset tacit_dataset;
typedef struct tacit_shard tacit_shard; /* one agent's records of one split */

/* Larger data sets are refused before anything is allocated. */
#ifndef TACIT_DATASET_MAX_BYTES
#define TACIT_DATASET_MAX_BYTES (UINT64_C(1) << 40)
#endif
#define TACIT_DATASET_MAX_AGENTS (UINT32_MAX - 1)
#define TACIT_BATCH_ROWS 4096 /* a batch never has more */
#define TACIT_NAME_MAX 256    /* of an agent, with the final NUL */

typedef enum tacit_split { TACIT_TRAIN, TACIT_VALIDATION, TACIT_TEST, TACIT_SPLITS } tacit_split;

/* ---- building: say how many rows, then put them ---- */
/* `counts[split][agent]` says how many rows each agent will get (counts[split] == NULL:
 * none); all memory is claimed, and absurd sizes refused, here. Rows start as zero. */
tacit_status tacit_dataset_create(tacit_dataset **out, uint32_t agents, size_t features,
                                  tacit_scalar scalar, const uint32_t *const counts[TACIT_SPLITS],
                                  tacit_error *err);
/* Write row `row` of an agent's split; refuses NaN, infinity and what overflows the scalar.
 * Different rows may be written from different threads. */
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

/* ---- a shard: its size; what is in it only kernels can read (src/data/shard.h) ---- */
size_t tacit_shard_rows(const tacit_shard *shard);
size_t tacit_shard_features(const tacit_shard *shard);
tacit_scalar tacit_shard_scalar(const tacit_shard *shard);

/* ---- sources ---- */
typedef enum tacit_bound { TACIT_BOUND_NONE, TACIT_BOUND_L2, TACIT_BOUND_L1 } tacit_bound;

/* Options of the YAML section "data". */
typedef struct tacit_data_options {
    int source; /* 0 linear-separators, 1 csv */
    /* linear-separators: paper 000 section 5.1 */
    int64_t agents, dimension, min_records, max_records, test_records, validation_records;
    double label_noise;
    /* csv */
    char path[TACIT_TEXT_MAX];
    char agent_column[TACIT_TEXT_MAX]; /* one agent a distinct value */
    char label_column[TACIT_TEXT_MAX];
    char positive[TACIT_TEXT_MAX]; /* label value that counts as +1; "" = labels are numbers */
    bool bias;                     /* append a constant 1 feature */
    double test_fraction, validation_fraction;
    /* both */
    int bound; /* tacit_bound: divide rows by max(1, norm) */
} tacit_data_options;
extern const tacit_section tacit_data_section;

/* What a source knows beside the records. */
typedef struct tacit_source {
    tacit_dataset *data;
    size_t target_dimension; /* columns of `targets`, 0 if the source has none */
    double *targets;         /* agents x target_dimension: what a similarity graph compares */
} tacit_source;

tacit_status tacit_data_load(tacit_source *out, const tacit_data_options *options,
                             tacit_scalar scalar, uint64_t seed, tacit_error *err);
void tacit_source_clear(tacit_source *source);

/* The pieces behind tacit_data_load, for tests and fuzzers. */
tacit_status tacit_data_linear_separators(tacit_source *out, const tacit_data_options *options,
                                          tacit_scalar scalar, uint64_t seed, tacit_error *err);
tacit_status tacit_data_csv_text(tacit_source *out, const tacit_data_options *options,
                                 const char *name, const char *text, size_t len,
                                 tacit_scalar scalar, uint64_t seed, tacit_error *err);

#endif
