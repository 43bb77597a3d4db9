/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a table to agents: which records are public (slice.c), who gets which of the others
 * (partition.c), for which split (split.c), what stands in for missing values, the scale of
 * features (standardise.c), their principal components (slice.c), the bias, the bound.
 *
 * Rows are sorted by agent first, keeping their order within an agent; then each agent's rows
 * are finished and put, one agent after the other, so that an agent's mean and scale need room
 * for one agent only. What an agent is given depends on its own training records and on public
 * constants; only `pooled` looks at everybody's. Both are made from training records without
 * being charged to anybody, and `leaks` says so.
 *
 * The order of the steps matters: missing values get the mean of the raw feature, then features
 * are scaled and reduced to components, then the bias is appended (so it stays 1), then the row is
 * bounded (so the bound holds for what is kept).
 */
#include "data/dataset.h"
#include "data/partition.h"
#include "data/slice.h"
#include "data/split.h"
#include "data/standardise.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of the next few agents, fetched from a table that lies in a file. An agent's rows are all
 * over the table, and a page fetched for each would be gone before its next row is wanted; so the
 * table is read from front to back, once for every so many agents. */
typedef struct shelf {
    unsigned char *bytes; /* NULL: the table is in memory */
    uint64_t room;        /* rows */
    uint64_t *next;       /* of each agent: where its next row goes, as in `order` */
    uint32_t begin, end;  /* agents whose rows are there */
} shelf;
#define SHELF_LEAST ((size_t)1 << 20)
#define SHELF_SHARE 16 /* or this part of the table: at most about so many readings */

typedef struct dealing {
    const tacit_table *table;
    const tacit_data_options *options;
    tacit_random random;
    uint32_t agents;
    uint32_t *owner; /* of each row */
    uint32_t *order; /* rows, sorted by agent */
    uint8_t *split;  /* of each entry of `order` */
    uint64_t *first; /* of each agent, in `order`; one more at the end */
    uint32_t *counts[TACIT_SPLITS];
    shelf shelf;
    uint64_t dropped;
    bool fills;        /* there are missing features to fill */
    double *x;         /* a row, with room for the bias */
    double *stand_in;  /* for the agent's missing features */
    uint32_t *present; /* of each feature: training values of the agent */
    tacit_scale scale;
    tacit_slice slice; /* public records */
    tacit_dataset *data;
} dealing;

static void dealing_clear(dealing *d)
{
    free(d->owner);
    free(d->order);
    free(d->split);
    free(d->first);
    for (int split = 0; split < TACIT_SPLITS; split++)
        free(d->counts[split]);
    free(d->x);
    free(d->shelf.bytes);
    free(d->shelf.next);
    free(d->stand_in);
    free(d->present);
    tacit_scale_clear(&d->scale);
    tacit_slice_clear(&d->slice);
    tacit_dataset_free(d->data);
    tacit_random_clear(&d->random);
}

static size_t row_bytes(const tacit_table *table)
{
    return table->features * tacit_scalar_size(table->scalar);
}

static void unpack_row(const tacit_table *table, const void *bytes, double *x)
{
    const float *narrow = bytes;
    for (size_t k = 0; table->scalar == TACIT_F32 && k < table->features; k++)
        x[k] = (double)narrow[k];
    if (table->scalar == TACIT_F64 && table->features > 0)
        memcpy(x, bytes, row_bytes(table));
}

/* ---- which rows, whose, for what ---- */

/* A record without a label teaches nothing: it goes under every rule. */
static bool leave_out(dealing *d, size_t row)
{
    const tacit_table *table = d->table;
    if (isnan(table->y[row]))
        return true;
    tacit_table_get(table, row, d->x);
    for (size_t k = 0; k < table->features; k++) {
        if (isnan(d->x[k])) {
            d->fills = true;
            return d->options->missing_rule == TACIT_MISSING_DROP;
        }
    }
    return false;
}

static tacit_status drop_rows(dealing *d, tacit_error *err)
{
    const tacit_table *table = d->table;
    for (size_t row = 0; table->missing && row < table->rows; row++) {
        if (leave_out(d, row)) {
            d->owner[row] = TACIT_NOT_DEALT;
            d->dropped++;
        }
    }
    if (d->dropped == table->rows)
        return tacit_fail(err, TACIT_EINPUT,
                          "no record is left: every one has a missing value; set "
                          "data.missing-rule to \"zero\" or \"mean\", or leave columns out");
    return TACIT_OK;
}

static tacit_status claim_for_rows(dealing *d, tacit_error *err)
{
    size_t rows = d->table->rows, width = d->table->features;
    if (rows == 0 || rows >= UINT32_MAX)
        return tacit_fail(err, TACIT_EINPUT, "%zu records; expected 1 to %" PRIu32, rows,
                          UINT32_MAX - 1);
    bool enough = (d->owner = calloc(rows, sizeof *d->owner)) != NULL;
    enough &= (d->order = calloc(rows, sizeof *d->order)) != NULL;
    enough &= (d->split = calloc(rows, 1)) != NULL;
    enough &= (d->x = calloc(width + 1, sizeof *d->x)) != NULL;
    enough &= (d->stand_in = calloc(width + 1, sizeof *d->stand_in)) != NULL;
    enough &= (d->present = calloc(width + 1, sizeof *d->present)) != NULL;
    return enough ? TACIT_OK : tacit_out_of_memory(err);
}

/* Counting sort: `first` and `order`. */
static tacit_status sort_by_agent(dealing *d, tacit_error *err)
{
    d->first = calloc((size_t)d->agents + 1, sizeof *d->first);
    uint64_t *next = calloc(d->agents, sizeof *next);
    if (!d->first || !next) {
        free(next);
        return tacit_out_of_memory(err);
    }
    for (size_t row = 0; row < d->table->rows; row++) {
        if (d->owner[row] != TACIT_NOT_DEALT)
            d->first[d->owner[row] + 1]++;
    }
    for (uint32_t i = 0; i < d->agents; i++) {
        d->first[i + 1] += d->first[i];
        next[i] = d->first[i];
    }
    for (size_t row = 0; row < d->table->rows; row++) {
        if (d->owner[row] != TACIT_NOT_DEALT)
            d->order[next[d->owner[row]]++] = (uint32_t)row;
    }
    free(next);
    return TACIT_OK;
}

static tacit_status deal_splits(dealing *d, tacit_error *err)
{
    for (int split = 0; split < TACIT_SPLITS; split++) {
        d->counts[split] = calloc(d->agents, sizeof *d->counts[split]);
        if (!d->counts[split])
            return tacit_out_of_memory(err);
    }
    for (uint32_t i = 0; i < d->agents; i++) {
        uint32_t counts[TACIT_SPLITS], records = (uint32_t)(d->first[i + 1] - d->first[i]);
        tacit_split_deal(d->split + d->first[i], counts, i, records, d->options, &d->random);
        for (int split = 0; split < TACIT_SPLITS; split++)
            d->counts[split][i] = counts[split];
    }
    return TACIT_OK;
}

/* ---- rows from a file ---- */

static tacit_status claim_shelf(dealing *d, tacit_error *err)
{
    size_t bytes = d->table->x.len / SHELF_SHARE, row = row_bytes(d->table);
    if (!d->table->x.in_file || row == 0)
        return TACIT_OK;
    bytes = bytes > SHELF_LEAST ? bytes : SHELF_LEAST;
    d->shelf.room = bytes / row;
    d->shelf.bytes = malloc(bytes);
    d->shelf.next = calloc(d->agents, sizeof *d->shelf.next);
    return d->shelf.bytes && d->shelf.next ? TACIT_OK : tacit_out_of_memory(err);
}

/* Before an agent's rows are loaded: fetch them, and those of the agents behind it that fit. An
 * agent that does not fit at all is loaded from the table. */
static void fetch(dealing *d, uint32_t agent)
{
    shelf *s = &d->shelf;
    const unsigned char *from = d->table->x.bytes;
    size_t row = row_bytes(d->table);
    if (!s->bytes || (agent >= s->begin && agent < s->end))
        return;
    s->begin = s->end = agent;
    while (s->end < d->agents && d->first[s->end + 1] - d->first[agent] <= s->room)
        s->end++;
    for (uint32_t i = s->begin; i < s->end; i++)
        s->next[i] = d->first[i] - d->first[agent];
    for (size_t k = 0; s->end > s->begin && k < d->table->rows; k++) {
        if (d->owner[k] >= s->begin && d->owner[k] < s->end)
            memcpy(s->bytes + s->next[d->owner[k]]++ * row, from + k * row, row);
    }
}

/* Row `at` of `order`, which is the agent's. */
static void load_at(dealing *d, uint32_t agent, uint64_t at)
{
    const shelf *s = &d->shelf;
    if (s->bytes && agent >= s->begin && agent < s->end)
        unpack_row(d->table, s->bytes + (at - d->first[s->begin]) * row_bytes(d->table), d->x);
    else
        tacit_table_get(d->table, d->order[at], d->x);
}

/* ---- one agent ---- */

/* What stands in for its missing features: 0, the mean of those its training records have, or that
 * of public records. */
static void find_stand_ins(dealing *d, uint32_t agent)
{
    size_t width = d->table->features;
    if (d->options->missing_rule == TACIT_MISSING_PUBLIC) {
        memcpy(d->stand_in, d->slice.stand_in, width * sizeof *d->stand_in);
        return;
    }
    memset(d->stand_in, 0, width * sizeof *d->stand_in);
    if (d->options->missing_rule != TACIT_MISSING_MEAN)
        return;
    memset(d->present, 0, width * sizeof *d->present);
    for (uint64_t at = d->first[agent]; at < d->first[agent + 1]; at++) {
        if (d->split[at] != TACIT_TRAIN)
            continue;
        load_at(d, agent, at);
        for (size_t k = 0; k < width; k++) {
            if (!isnan(d->x[k]))
                d->stand_in[k] += (d->x[k] - d->stand_in[k]) / ++d->present[k];
        }
    }
}

static void load_filled(dealing *d, uint32_t agent, uint64_t at)
{
    load_at(d, agent, at);
    for (size_t k = 0; d->fills && k < d->table->features; k++) {
        if (isnan(d->x[k]))
            d->x[k] = d->stand_in[k];
    }
}

static void measure(dealing *d, uint32_t agent)
{
    for (uint64_t at = d->first[agent]; at < d->first[agent + 1]; at++) {
        if (d->split[at] == TACIT_TRAIN) {
            load_filled(d, agent, at);
            tacit_scale_add(&d->scale, d->x);
        }
    }
}

/* Features of a record as an agent gets it, without a bias. */
static size_t width_kept(const dealing *d)
{
    return d->options->components > 0 ? (size_t)d->options->components : d->table->features;
}

static double label_at(const dealing *d, uint64_t at)
{
    double y = d->table->y[d->order[at]];
    return d->options->standardise_labels ? (y - d->slice.label_mean) / d->slice.label_deviation
                                          : y;
}

static tacit_status put_agent(dealing *d, uint32_t agent, tacit_error *err)
{
    const tacit_data_options *o = d->options;
    size_t width = width_kept(d), row[TACIT_SPLITS] = {0};
    tacit_status status = TACIT_OK;
    fetch(d, agent);
    if (d->fills)
        find_stand_ins(d, agent);
    if (o->standardise == TACIT_STANDARDISE_AGENT) {
        tacit_scale_begin(&d->scale);
        measure(d, agent);
        status = tacit_scale_settle(&d->scale, err);
    }
    for (uint64_t at = d->first[agent]; at < d->first[agent + 1] && !status; at++) {
        load_filled(d, agent, at);
        if (o->standardise != TACIT_STANDARDISE_NONE)
            tacit_scale_apply(&d->scale, o->cut, d->x);
        tacit_slice_project(&d->slice, d->x);
        if (o->bias)
            d->x[width] = 1;
        tacit_bound_row(d->x, width + (o->bias ? 1U : 0U), (tacit_bound)o->bound, d->table->scalar);
        tacit_split split = (tacit_split)d->split[at];
        status = tacit_dataset_put(d->data, agent, split, row[split]++, d->x, label_at(d, at), err);
    }
    return status;
}

/* ---- all agents ---- */

static tacit_status prepare_scale(dealing *d, tacit_error *err)
{
    const tacit_data_options *o = d->options;
    if (o->standardise == TACIT_STANDARDISE_NONE)
        return TACIT_OK;
    tacit_status status = tacit_scale_create(&d->scale, d->table->features, err);
    if (!status && o->standardise == TACIT_STANDARDISE_PUBLIC && d->slice.rows > 0 &&
        !o->constants[0]) {
        tacit_slice_scale(&d->slice, d->table, o, &d->scale);
        return tacit_scale_settle(&d->scale, err);
    }
    if (!status && o->standardise == TACIT_STANDARDISE_PUBLIC)
        return tacit_scale_read(&d->scale, o->constants, o->folder, err);
    if (status || o->standardise != TACIT_STANDARDISE_POOLED)
        return status;
    for (uint32_t i = 0; i < d->agents; i++) {
        fetch(d, i);
        if (d->fills)
            find_stand_ins(d, i);
        measure(d, i);
    }
    return tacit_scale_settle(&d->scale, err);
}

/* Names that say no more than the agent's number are not kept. Who has no records is in no table:
 * its name must not be one of those. */
static tacit_status name_agents(dealing *d, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    const uint32_t first = (uint32_t)d->options->without;
    if (d->options->partition != TACIT_PARTITION_OWN)
        return status;
    for (uint32_t i = 0; i < d->agents && !status; i++) {
        char number[TACIT_NUMBER_MAX], nobody[TACIT_NUMBER_MAX + 16];
        snprintf(nobody, sizeof nobody, "without-%" PRIu32, i);
        const char *name = i < first ? nobody : tacit_names_get(&d->table->owners, i - first);
        if (strcmp(name, tacit_dataset_name(d->data, i, number)) != 0)
            status = tacit_dataset_set_name(d->data, i, name, err);
    }
    return status;
}

static tacit_status put_all(dealing *d, tacit_error *err)
{
    const tacit_data_options *o = d->options;
    const uint32_t *const counts[] = {d->counts[0], d->counts[1], d->counts[2]};
    tacit_status status =
        tacit_dataset_create_in(&d->data, tacit_data_scratch(o), d->agents,
                                width_kept(d) + (o->bias ? 1U : 0U), d->table->scalar, counts, err);
    if (!status)
        status = claim_shelf(d, err);
    if (!status && d->slice.rows > 0)
        status = tacit_slice_measure(&d->slice, d->table, o, err);
    if (!status)
        status = prepare_scale(d, err);
    if (!status)
        status =
            tacit_slice_decompose(&d->slice, d->table, o,
                                  o->standardise == TACIT_STANDARDISE_NONE ? NULL : &d->scale, err);
    for (uint32_t i = 0; i < d->agents && !status; i++)
        status = put_agent(d, i, err);
    return status ? status : name_agents(d, err);
}

/* Changing one record moves the agent's means and scale, and with them all its other records: no
 * sensitivity counts that. Public constants and zeros depend on no record. */
static unsigned leaks(const dealing *d)
{
    const tacit_data_options *o = d->options;
    bool scale =
        o->standardise == TACIT_STANDARDISE_AGENT || o->standardise == TACIT_STANDARDISE_POOLED;
    bool fill = d->fills && o->missing_rule == TACIT_MISSING_MEAN;
    return (scale ? TACIT_LEAK_SCALE : 0U) | (fill ? TACIT_LEAK_FEATURES : 0U);
}

tacit_status tacit_table_deal(tacit_source *out, const tacit_table *table,
                              const tacit_data_options *options, uint64_t seed, tacit_error *err)
{
    dealing d = {.table = table, .options = options};
    tacit_status status;

    *out = (tacit_source){0};
    tacit_random_init(&d.random, seed);
    if ((status = tacit_split_check(options, err)) ||
        (status = tacit_slice_check(options, table->features, err)) ||
        (status = claim_for_rows(&d, err)) || (status = drop_rows(&d, err)) ||
        (status = tacit_slice_take(&d.slice, d.owner, table->rows, options, &d.random, err)) ||
        (status = tacit_partition_deal(d.owner, &d.agents, table, options, &d.random, err)) ||
        (status = sort_by_agent(&d, err)) || (status = deal_splits(&d, err)) ||
        (status = put_all(&d, err)))
        goto out;
    out->data = d.data;
    d.data = NULL;
    out->leaks = leaks(&d);
    out->dropped = d.dropped;
    out->public_records = d.slice.rows;
out:
    dealing_clear(&d);
    return status;
}
