/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels are taken for classes if there are at most TACIT_DESCRIBED_CLASSES different ones and
 * each is there twice on average. Nothing here is charged to anybody: it is what the person who
 * holds all the records of a simulation may look at.
 */
#include "data/describe.h"

#include "data/partition.h"
#include "data/shard.h"
#include <math.h>
#include <stdlib.h>

static double value_at(tacit_scalar scalar, const void *values, size_t k)
{
    return scalar == TACIT_F32 ? (double)((const float *)values)[k] : ((const double *)values)[k];
}

/* ---- sizes ---- */

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts `size`. */
static tacit_sizes sum_up(uint32_t *size, uint32_t agents)
{
    tacit_sizes s = {0};
    qsort(size, agents, sizeof *size, by_size);
    for (uint32_t i = 0; i < agents; i++)
        s.rows += size[i];
    s.least = size[0];
    s.most = size[agents - 1];
    const uint32_t below = size[(agents - 1) / 2], above = size[agents / 2];
    s.median = ((double)below + (double)above) / 2;
    s.mean = (double)s.rows / agents;
    return s;
}

static tacit_status describe_sizes(tacit_description *d, const tacit_dataset *data,
                                   tacit_error *err)
{
    uint32_t *size = calloc(d->agents, sizeof *size), *all = calloc(d->agents, sizeof *all);
    bool enough = size && all;
    for (int split = 0; split < TACIT_SPLITS && enough; split++) {
        for (uint32_t i = 0; i < d->agents; i++) {
            size[i] = tacit_dataset_rows(data, i, (tacit_split)split);
            all[i] += size[i];
            d->empty += split == TACIT_TRAIN && size[i] == 0;
        }
        d->split[split] = sum_up(size, d->agents);
    }
    if (enough)
        d->all = sum_up(all, d->agents);
    free(size);
    free(all);
    return enough ? TACIT_OK : tacit_out_of_memory(err);
}

/* ---- labels and norms ---- */

static double norm(tacit_scalar scalar, const void *x, size_t first, size_t features)
{
    double sum = 0;
    for (size_t k = 0; k < features; k++) {
        double value = value_at(scalar, x, first + k);
        sum += value * value;
    }
    return sqrt(sum);
}

/* Running sums of describe_values. */
typedef struct sums {
    double labels, norms;
    bool classes; /* few enough so far */
} sums;

static void describe_batch(tacit_description *d, sums *s, const tacit_batch *batch,
                           tacit_scalar scalar)
{
    for (size_t r = 0; r < batch->rows; r++) {
        double y = value_at(scalar, batch->y, r);
        double length = norm(scalar, batch->x, r * d->features, d->features);
        s->labels += y;
        s->norms += length;
        d->label_least = fmin(d->label_least, y);
        d->label_most = fmax(d->label_most, y);
        d->norm_most = fmax(d->norm_most, length);
        bool known = d->classes > 0 && d->class[tacit_class_of(d->class, d->classes - 1, y)] == y;
        if (s->classes && !known) {
            s->classes = d->classes < TACIT_DESCRIBED_CLASSES;
            if (s->classes)
                (void)tacit_class_add(d->class, &d->classes, y);
        }
    }
}

static void describe_values(tacit_description *d, const tacit_dataset *data)
{
    sums s = {.classes = true};
    d->label_least = INFINITY;
    d->label_most = -INFINITY;
    for (int split = 0; split < TACIT_SPLITS; split++) {
        const tacit_shard *shard = tacit_dataset_pooled(data, (tacit_split)split);
        size_t cursor = 0;
        tacit_batch batch;
        while (tacit_shard_next(shard, &cursor, &batch))
            describe_batch(d, &s, &batch, tacit_shard_scalar(shard));
    }
    const uint64_t rows = d->all.rows + d->common;
    if (rows == 0)
        d->label_least = d->label_most = NAN;
    d->label_mean = s.labels / (double)rows;
    d->norm_mean = s.norms / (double)rows;
    if (!s.classes || 2 * (uint64_t)d->classes > rows)
        d->classes = 0;
}

/* ---- classes of an agent ---- */

/* Add the records of a shard to the counts of their classes, wide or narrow (NULL: not those). */
static void count_classes(const tacit_description *d, const tacit_shard *shard, uint64_t *wide,
                          uint32_t *narrow)
{
    size_t cursor = 0;
    tacit_batch batch;
    while (tacit_shard_next(shard, &cursor, &batch)) {
        for (size_t r = 0; r < batch.rows; r++) {
            double y = value_at(tacit_shard_scalar(shard), batch.y, r);
            uint32_t c = d->classes > 0 ? tacit_class_of(d->class, d->classes, y) : 0;
            if (wide)
                wide[c]++;
            if (narrow)
                narrow[c]++;
        }
    }
}

void tacit_describe_agent(const tacit_description *of, const tacit_dataset *data, uint32_t agent,
                          uint32_t *counts)
{
    for (uint32_t c = 0; c < of->classes || c < 1; c++)
        counts[c] = 0;
    for (int split = 0; split < TACIT_SPLITS; split++)
        count_classes(of, tacit_dataset_shard(data, agent, (tacit_split)split), NULL, counts);
}

tacit_status tacit_describe(tacit_description *out, const tacit_dataset *data, tacit_error *err)
{
    *out = (tacit_description){.agents = tacit_dataset_agents(data),
                               .features = tacit_dataset_features(data),
                               .common = tacit_dataset_common(data)};
    tacit_status status = describe_sizes(out, data, err);
    if (status)
        return status;
    describe_values(out, data);
    for (int split = 0; split < TACIT_SPLITS && out->classes > 0; split++)
        count_classes(out, tacit_dataset_pooled(data, (tacit_split)split), out->class_rows, NULL);
    return TACIT_OK;
}
