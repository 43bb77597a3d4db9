/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage of records: one block of memory (or of a nameless file) for a whole data set.
 *
 *     x: train of agent 0, 1, 2, ... | validation of 0, 1, ... | test of 0, 1, ..., of nobody
 *     y: the same order
 *
 * so that one agent's split, and everybody's split, are each consecutive rows. A shard is a
 * window of 24 bytes onto it; a split without rows has no windows at all.
 *
 * Invariants
 *  1. Every size was computed with checked arithmetic before the block was claimed.
 *  2. Every number in the block is finite.
 *  3. The block never moves: a shard stays good as long as its data set.
 */
#include "data/dataset.h"

#include "base/pages.h"
#include "data/block.h"
#include "data/names.h"
#include "data/shard.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64 /* bytes of a cache line */

struct tacit_shard {
    const tacit_dataset *data;
    uint64_t first; /* row in the block */
    uint64_t rows;
};

struct tacit_dataset {
    uint32_t agents;
    tacit_scalar scalar;
    size_t features;
    size_t value_bytes, row_bytes;
    unsigned char *x, *y; /* both inside `block` */
    tacit_block block;
    tacit_shard pooled[TACIT_SPLITS];
    tacit_shard *shards[TACIT_SPLITS]; /* NULL: nobody has rows of this split */
    tacit_shard common;                /* test rows that are nobody's, the last ones */
    bool scores_on_all;
    tacit_shard nothing; /* what stands in for such a shard */
    char **names;        /* NULL until an agent is named */
};

/* Total rows of each split; false if they overflow. */
static bool count_rows(uint64_t rows[TACIT_SPLITS], uint64_t *total, uint32_t agents,
                       const uint32_t *const counts[TACIT_SPLITS])
{
    *total = 0;
    for (int split = 0; split < TACIT_SPLITS; split++) {
        rows[split] = 0; /* 2^32 agents of 2^32 rows fit in 64 bits */
        for (uint32_t i = 0; counts[split] && i < agents; i++)
            rows[split] += counts[split][i];
        if (*total > UINT64_MAX - rows[split])
            return false;
        *total += rows[split];
    }
    return true;
}

/* Bytes of x (rounded up so that y starts on a cache line) and of the block. */
static bool block_size(uint64_t rows, size_t features, size_t value, size_t *x_bytes, size_t *bytes)
{
    size_t y_bytes;
    return rows <= SIZE_MAX && tacit_mul_size((size_t)rows, value, &y_bytes) &&
           tacit_mul_size(y_bytes, features, x_bytes) && tacit_add_size(*x_bytes, LINE, x_bytes) &&
           (*x_bytes -= *x_bytes % LINE, tacit_add_size(*x_bytes, y_bytes, bytes));
}

tacit_status tacit_dataset_check_size(uint64_t agents, uint64_t rows, size_t features,
                                      tacit_scalar scalar, tacit_error *err)
{
    size_t x_bytes = 0, bytes = 0;
    if (agents == 0 || features == 0)
        return tacit_fail(err, TACIT_EINPUT, "a data set needs at least one agent and one feature");
    if (agents > TACIT_DATASET_MAX_AGENTS)
        return tacit_fail(err, TACIT_EINPUT, "%" PRIu64 " agents are too many; at most %u", agents,
                          TACIT_DATASET_MAX_AGENTS);
    if (scalar != TACIT_F32 && scalar != TACIT_F64)
        return tacit_fail(err, TACIT_EINPUT, "records are stored as f32 or f64 only");
    if (!block_size(rows, features, tacit_scalar_size(scalar), &x_bytes, &bytes) ||
        bytes > TACIT_DATASET_MAX_BYTES)
        return tacit_fail(err, TACIT_EINPUT,
                          "%" PRIu64 " records of %zu features need more than the %" PRIu64
                          " GiB a data set may have; ask for fewer agents, records or features",
                          rows, features, (uint64_t)TACIT_DATASET_MAX_BYTES >> 30);
    return TACIT_OK;
}

static tacit_status claim_block(tacit_dataset *data, uint64_t rows, const char *scratch,
                                tacit_error *err)
{
    size_t x_bytes = 0, bytes = 0;
    if (!block_size(rows, data->features, data->value_bytes, &x_bytes, &bytes))
        return tacit_out_of_memory(err);
    tacit_status status = tacit_block_claim(&data->block, bytes, scratch, err);
    if (status)
        return status;
    data->x = data->block.bytes;
    data->y = data->x + x_bytes;
    return TACIT_OK;
}

static tacit_status make_shards(tacit_dataset *data, int split, const uint32_t *counts,
                                tacit_error *err)
{
    if (!counts || data->pooled[split].rows == 0)
        return TACIT_OK;
    tacit_shard *shards = tacit_pages_alloc(data->agents, sizeof *shards);
    if (!shards)
        return tacit_out_of_memory(err);
    uint64_t first = data->pooled[split].first;
    for (uint32_t i = 0; i < data->agents; i++) {
        shards[i] = (tacit_shard){.data = data, .first = first, .rows = counts[i]};
        first += counts[i];
    }
    data->shards[split] = shards;
    return TACIT_OK;
}

tacit_status tacit_dataset_create(tacit_dataset **out, uint32_t agents, size_t features,
                                  tacit_scalar scalar, const uint32_t *const counts[TACIT_SPLITS],
                                  tacit_error *err)
{
    return tacit_dataset_create_in(out, NULL, agents, features, scalar, counts, err);
}

tacit_status tacit_dataset_create_in(tacit_dataset **out, const char *scratch, uint32_t agents,
                                     size_t features, tacit_scalar scalar,
                                     const uint32_t *const counts[TACIT_SPLITS], tacit_error *err)
{
    return tacit_dataset_create_common(out, scratch, agents, features, scalar, counts, 0, err);
}

tacit_status tacit_dataset_create_common(tacit_dataset **out, const char *scratch, uint32_t agents,
                                         size_t features, tacit_scalar scalar,
                                         const uint32_t *const counts[TACIT_SPLITS],
                                         uint32_t common, tacit_error *err)
{
    uint64_t rows[TACIT_SPLITS], total;
    tacit_status status;

    if (!count_rows(rows, &total, agents, counts) || total > UINT64_MAX - common)
        total = UINT64_MAX;
    else
        total += common;
    if ((status = tacit_dataset_check_size(agents, total, features, scalar, err)))
        return status;

    tacit_dataset *data = calloc(1, sizeof *data);
    if (!data)
        return tacit_out_of_memory(err);
    data->agents = agents;
    data->scalar = scalar;
    data->features = features;
    data->value_bytes = tacit_scalar_size(scalar);
    data->row_bytes = features * data->value_bytes;
    data->nothing.data = data;
    if ((status = claim_block(data, total, scratch, err)))
        goto out;
    uint64_t first = 0;
    rows[TACIT_TEST] += common;
    data->common = (tacit_shard){.data = data, .first = total - common, .rows = common};
    for (int split = 0; split < TACIT_SPLITS; split++) {
        data->pooled[split] = (tacit_shard){.data = data, .first = first, .rows = rows[split]};
        first += rows[split];
        if ((status = make_shards(data, split, counts[split], err)))
            goto out;
    }
out:
    if (status) {
        tacit_dataset_free(data);
        return status;
    }
    *out = data;
    return TACIT_OK;
}

void tacit_dataset_free(tacit_dataset *data)
{
    if (!data)
        return;
    for (uint32_t i = 0; data->names && i < data->agents; i++)
        free(data->names[i]);
    free(data->names);
    for (int split = 0; split < TACIT_SPLITS; split++)
        tacit_pages_free(data->shards[split], data->agents, sizeof *data->shards[split]);
    tacit_block_release(&data->block);
    free(data);
}

/* ---- writing ---- */

/* Returns the index of the first value that cannot be stored, or `count`. The good case has
 * no branch a value, so that the compiler can vectorise it. */
static size_t store(void *to, tacit_scalar scalar, const double *from, size_t count)
{
    bool good = true;
    if (scalar == TACIT_F32) {
        float *f = to;
        for (size_t k = 0; k < count; k++) {
            f[k] = (float)from[k];
            good &= fabsf(f[k]) <= 3.40282347e+38F;
        }
    } else {
        double *d = to;
        for (size_t k = 0; k < count; k++) {
            d[k] = from[k];
            good &= fabs(d[k]) <= 1.7976931348623157e+308;
        }
    }
    if (good)
        return count;
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(scalar == TACIT_F32 ? (double)((float *)to)[k] : ((double *)to)[k]))
            return k;
    }
    return count;
}

tacit_status tacit_dataset_put(tacit_dataset *data, uint32_t agent, tacit_split split, size_t row,
                               const double *x, double y, tacit_error *err)
{
    if (row >= tacit_dataset_rows(data, agent, split))
        return tacit_fail(err, TACIT_EINPUT, "agent \"%" PRIu32 "\" has no row %zu in split %d",
                          agent, row, (int)split);
    uint64_t at = tacit_dataset_shard(data, agent, split)->first + row;
    unsigned char *to_x = data->x + at * data->row_bytes;
    unsigned char *to_y = data->y + at * data->value_bytes;
    size_t bad = store(to_x, data->scalar, x, data->features);
    if (bad == data->features && store(to_y, data->scalar, &y, 1) == 1)
        return TACIT_OK;

    /* Leave zeros behind, not the value refused: invariant 2. */
    memset(to_x, 0, data->row_bytes);
    memset(to_y, 0, data->value_bytes);
    bool label = bad == data->features;
    return tacit_fail(err, TACIT_EINPUT,
                      "row %zu of agent \"%" PRIu32 "\": %s %zu is \"%g\"; expected a finite "
                      "number that fits in %s",
                      row, agent, label ? "label" : "feature", label ? (size_t)0 : bad,
                      label ? y : x[bad], data->scalar == TACIT_F32 ? "f32" : "f64");
}

/* ---- names ---- */

const char *tacit_dataset_name(const tacit_dataset *data, uint32_t agent,
                               char number[TACIT_NUMBER_MAX])
{
    if (data->names && agent < data->agents && data->names[agent])
        return data->names[agent];
    snprintf(number, TACIT_NUMBER_MAX, "%" PRIu32, agent);
    return number;
}

tacit_status tacit_dataset_set_name(tacit_dataset *data, uint32_t agent, const char *name,
                                    tacit_error *err)
{
    if (agent >= data->agents)
        return tacit_fail(err, TACIT_EINPUT, "there is no agent \"%" PRIu32 "\"", agent);
    if (!tacit_name_is_good(name))
        return tacit_fail(err, TACIT_EINPUT,
                          "the name of agent \"%" PRIu32 "\" must be 1 to %d bytes of UTF-8 "
                          "without control characters",
                          agent, TACIT_NAME_MAX - 1);
    if (!data->names && !(data->names = calloc(data->agents, sizeof *data->names)))
        return tacit_out_of_memory(err);
    char *copy = strdup(name);
    if (!copy)
        return tacit_out_of_memory(err);
    free(data->names[agent]);
    data->names[agent] = copy;
    return TACIT_OK;
}

/* ---- reading ---- */

uint32_t tacit_dataset_agents(const tacit_dataset *data)
{
    return data->agents;
}

size_t tacit_dataset_features(const tacit_dataset *data)
{
    return data->features;
}

tacit_scalar tacit_dataset_scalar(const tacit_dataset *data)
{
    return data->scalar;
}

const tacit_shard *tacit_dataset_shard(const tacit_dataset *data, uint32_t agent, tacit_split split)
{
    if (agent == TACIT_DATASET_NOBODY && split == TACIT_TEST)
        return &data->common;
    if (agent >= data->agents || (unsigned)split >= TACIT_SPLITS || !data->shards[split])
        return &data->nothing;
    return &data->shards[split][agent];
}

const tacit_shard *tacit_dataset_pooled(const tacit_dataset *data, tacit_split split)
{
    return (unsigned)split < TACIT_SPLITS ? &data->pooled[split] : &data->nothing;
}

size_t tacit_dataset_common(const tacit_dataset *data)
{
    return (size_t)data->common.rows;
}

void tacit_dataset_score_on_all(tacit_dataset *data)
{
    data->scores_on_all = true;
}

bool tacit_dataset_scores_on_all(const tacit_dataset *data)
{
    return data->scores_on_all;
}

const tacit_shard *tacit_dataset_scored(const tacit_dataset *data, uint32_t agent,
                                        tacit_split split)
{
    return data->scores_on_all ? tacit_dataset_pooled(data, split)
                               : tacit_dataset_shard(data, agent, split);
}

uint32_t tacit_dataset_rows(const tacit_dataset *data, uint32_t agent, tacit_split split)
{
    return (uint32_t)tacit_dataset_shard(data, agent, split)->rows;
}

uint64_t tacit_dataset_bytes(const tacit_dataset *data)
{
    uint64_t bytes = sizeof *data + data->block.len;
    for (int split = 0; split < TACIT_SPLITS; split++)
        bytes += data->shards[split] ? data->agents * sizeof(tacit_shard) : 0;
    for (uint32_t i = 0; data->names && i < data->agents; i++)
        bytes += sizeof *data->names + (data->names[i] ? strlen(data->names[i]) + 1 : 0);
    return bytes;
}

size_t tacit_shard_rows(const tacit_shard *shard)
{
    return shard ? (size_t)shard->rows : 0;
}

size_t tacit_shard_features(const tacit_shard *shard)
{
    return shard->data->features;
}

tacit_scalar tacit_shard_scalar(const tacit_shard *shard)
{
    return shard->data->scalar;
}

bool tacit_shard_next(const tacit_shard *shard, size_t *cursor, tacit_batch *batch)
{
    if (!shard || *cursor >= shard->rows)
        return false;
    const tacit_dataset *data = shard->data;
    size_t at = (size_t)shard->first + *cursor;
    size_t left = (size_t)shard->rows - *cursor;
    batch->rows = left < TACIT_BATCH_ROWS ? left : TACIT_BATCH_ROWS;
    batch->x = data->x + at * data->row_bytes;
    batch->y = data->y + at * data->value_bytes;
    *cursor += batch->rows;
    return true;
}
