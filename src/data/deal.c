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
 *
 * Test records of files of their own (data.test-path) are nobody's. They take the same steps, but
 * nothing is ever made of them.
 */
#include "data/dataset.h"
#include "data/partition.h"
#include "data/shelf.h"
#include "data/slice.h"
#include "data/split.h"
#include "data/standardise.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    tacit_shelf shelf;
    const tacit_table *test; /* that nobody owns, or NULL */
    uint32_t *kept;          /* rows of it */
    uint32_t kept_count;
    uint64_t dropped;
    uint8_t *blank; /* data.keep-count: rows that count and say nothing; NULL: none */
    uint64_t blanks;
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
    free(d->kept);
    free(d->blank);
    tacit_shelf_clear(&d->shelf);
    free(d->stand_in);
    free(d->present);
    tacit_scale_clear(&d->scale);
    tacit_slice_clear(&d->slice);
    tacit_dataset_free(d->data);
    tacit_random_clear(&d->random);
}

/* ---- which rows, whose, for what ---- */

#define LEFT_OUT TACIT_SPLITS /* the split of a blank row that nobody would be scored on */

/* A record without a label teaches nothing: it goes under every rule. */
static bool leave_out(dealing *d, const tacit_table *table, size_t row)
{
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

/* Records that would be left out stay and count, as records of zeros: nothing comes of them in a
 * linear model, and nothing of how many there are. */
static tacit_status claim_blanks(dealing *d, tacit_error *err)
{
    const int way = d->options->partition;
    if (!d->options->keep_count)
        return TACIT_OK;
    if (way == TACIT_PARTITION_DIRICHLET || way == TACIT_PARTITION_SHARDS ||
        way == TACIT_PARTITION_CLASSES)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.keep-count keeps records without a label, and this data.partition "
                          "deals by labels; leave one of them out");
    d->blank = calloc(d->table->rows, 1);
    return d->blank ? TACIT_OK : tacit_out_of_memory(err);
}

static tacit_status drop_rows(dealing *d, tacit_error *err)
{
    const tacit_table *table = d->table;
    tacit_status status = claim_blanks(d, err);
    for (size_t row = 0; !status && table->missing && row < table->rows; row++) {
        if (!leave_out(d, table, row))
            continue;
        if (d->blank) {
            d->blank[row] = 1;
            d->blanks++;
        } else {
            d->owner[row] = TACIT_NOT_DEALT;
            d->dropped++;
        }
    }
    if (status)
        return status;
    if (d->dropped + d->blanks == table->rows)
        return tacit_fail(err, TACIT_EINPUT,
                          "no record is left: every one has a missing value; set "
                          "data.missing-rule to \"zero\" or \"mean\", or leave columns out");
    return TACIT_OK;
}

/* Public records are chosen by place, so that no private one moves them; those that say nothing
 * are left out of what is made of them. */
static tacit_status drop_public(dealing *d, tacit_error *err)
{
    uint32_t kept = 0;
    if (!d->blank || d->slice.rows == 0)
        return TACIT_OK;
    for (uint32_t k = 0; k < d->slice.rows; k++)
        if (!d->blank[d->slice.row[k]])
            d->slice.row[kept++] = d->slice.row[k];
    d->slice.rows = kept;
    return kept > 0 ? TACIT_OK
                    : tacit_fail(err, TACIT_EINPUT,
                                 "every public record (data.public) has a missing value; make more "
                                 "of them public");
}

/* Which of the common test records stay. */
static tacit_status keep_test(dealing *d, tacit_error *err)
{
    const tacit_table *test = d->test;
    if (test->rows == 0 || test->rows >= UINT32_MAX)
        return tacit_fail(err, TACIT_EINPUT, "%zu test records; expected 1 to %" PRIu32, test->rows,
                          UINT32_MAX - 1);
    if (!(d->kept = calloc(test->rows, sizeof *d->kept)))
        return tacit_out_of_memory(err);
    for (size_t row = 0; row < test->rows; row++) {
        if (test->missing && leave_out(d, test, row))
            d->dropped++;
        else
            d->kept[d->kept_count++] = (uint32_t)row;
    }
    if (d->kept_count == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\": no test record is left: every one has a missing value; set "
                          "data.missing-rule to \"zero\"",
                          d->options->test_path);
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

static tacit_status sort_by_agent(dealing *d, tacit_error *err)
{
    d->first = calloc((size_t)d->agents + 1, sizeof *d->first);
    return d->first
               ? tacit_partition_sort(d->order, d->first, d->owner, d->table->rows, d->agents, err)
               : tacit_out_of_memory(err);
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
        for (uint64_t at = d->first[i]; d->blank && at < d->first[i + 1]; at++) {
            if (d->blank[d->order[at]] && d->split[at] != TACIT_TRAIN) {
                counts[d->split[at]]--;
                d->split[at] = LEFT_OUT;
            }
        }
        for (int split = 0; split < TACIT_SPLITS; split++)
            d->counts[split][i] = counts[split];
    }
    return TACIT_OK;
}

/* ---- one agent ---- */

/* Row `at` of `order`, which is the agent's. */
static void load_at(dealing *d, uint32_t agent, uint64_t at)
{
    const void *bytes = tacit_shelf_row(&d->shelf, agent, at);
    if (bytes)
        tacit_table_unpack(d->table, bytes, d->x);
    else
        tacit_table_get(d->table, d->order[at], d->x);
}

static bool is_blank(const dealing *d, uint64_t at)
{
    return d->blank && d->blank[d->order[at]];
}

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
    if (d->options->missing_rule != TACIT_MISSING_MEAN || agent == TACIT_DATASET_NOBODY)
        return;
    memset(d->present, 0, width * sizeof *d->present);
    for (uint64_t at = d->first[agent]; at < d->first[agent + 1]; at++) {
        if (d->split[at] != TACIT_TRAIN || is_blank(d, at))
            continue;
        load_at(d, agent, at);
        for (size_t k = 0; k < width; k++) {
            if (!isnan(d->x[k]))
                d->stand_in[k] += (d->x[k] - d->stand_in[k]) / ++d->present[k];
        }
    }
}

static void fill(dealing *d)
{
    for (size_t k = 0; d->fills && k < d->table->features; k++) {
        if (isnan(d->x[k]))
            d->x[k] = d->stand_in[k];
    }
}

static void load_filled(dealing *d, uint32_t agent, uint64_t at)
{
    load_at(d, agent, at);
    fill(d);
}

static void measure(dealing *d, uint32_t agent)
{
    for (uint64_t at = d->first[agent]; at < d->first[agent + 1]; at++) {
        if (d->split[at] == TACIT_TRAIN && !is_blank(d, at)) {
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

static double label_of(const dealing *d, double y)
{
    return d->options->standardise_labels ? (y - d->slice.label_mean) / d->slice.label_deviation
                                          : y;
}

/* From raw features without holes to what is kept, in place. */
static void finish_row(dealing *d)
{
    const tacit_data_options *o = d->options;
    const size_t width = width_kept(d);
    if (o->standardise != TACIT_STANDARDISE_NONE)
        tacit_scale_apply(&d->scale, o->cut, d->x);
    tacit_slice_project(&d->slice, d->x);
    if (o->bias)
        d->x[width] = 1;
    tacit_bound_row(d->x, width + (o->bias ? 1U : 0U), (tacit_bound)o->bound, d->table->scalar);
}

static tacit_status put_agent(dealing *d, uint32_t agent, tacit_error *err)
{
    const tacit_data_options *o = d->options;
    size_t row[TACIT_SPLITS] = {0};
    tacit_status status = TACIT_OK;
    tacit_shelf_fetch(&d->shelf, agent);
    if (d->fills)
        find_stand_ins(d, agent);
    if (o->standardise == TACIT_STANDARDISE_AGENT) {
        tacit_scale_begin(&d->scale);
        measure(d, agent);
        status = tacit_scale_settle(&d->scale, err);
    }
    for (uint64_t at = d->first[agent]; at < d->first[agent + 1] && !status; at++) {
        if (d->split[at] == LEFT_OUT)
            continue;
        const bool blank = is_blank(d, at);
        if (blank) {
            memset(d->x, 0, (width_kept(d) + (o->bias ? 1U : 0U)) * sizeof *d->x);
        } else {
            load_filled(d, agent, at);
            finish_row(d);
        }
        tacit_split split = (tacit_split)d->split[at];
        status = tacit_dataset_put(d->data, agent, split, row[split]++, d->x,
                                   blank ? 1 : label_of(d, d->table->y[d->order[at]]), err);
    }
    return status;
}

/* Common test records go the way of all others, with nobody's means to fill them. */
static tacit_status put_test(dealing *d, tacit_error *err)
{
    const tacit_table *test = d->test;
    tacit_status status = TACIT_OK;
    if (d->fills && d->kept_count > 0)
        find_stand_ins(d, TACIT_DATASET_NOBODY);
    for (uint32_t k = 0; k < d->kept_count && !status; k++) {
        tacit_table_get(test, d->kept[k], d->x);
        fill(d);
        finish_row(d);
        status = tacit_dataset_put(d->data, TACIT_DATASET_NOBODY, TACIT_TEST, k, d->x,
                                   label_of(d, test->y[d->kept[k]]), err);
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
        tacit_shelf_fetch(&d->shelf, i);
        if (d->fills)
            find_stand_ins(d, i);
        measure(d, i);
    }
    return tacit_scale_settle(&d->scale, err);
}

static tacit_status put_all(dealing *d, tacit_error *err)
{
    const tacit_data_options *o = d->options;
    const uint32_t *const counts[] = {d->counts[0], d->counts[1], d->counts[2]};
    tacit_status status = tacit_dataset_create_common(&d->data, tacit_data_scratch(o), d->agents,
                                                      width_kept(d) + (o->bias ? 1U : 0U),
                                                      d->table->scalar, counts, d->kept_count, err);
    if (!status)
        status = tacit_shelf_claim(&d->shelf, d->table, d->owner, d->first, d->agents, err);
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
    if (!status)
        status = put_test(d, err);
    return status ? status : tacit_partition_name(d->data, d->table, o, err);
}

/* Labels in CSV that are numbers may be missing under every rule but "refuse". */
static bool loses_unlabelled(const tacit_data_options *o)
{
    return o->missing_rule != TACIT_MISSING_REFUSE && o->source == TACIT_SOURCE_CSV &&
           !o->labels_path[0] && !o->positive[0] && !o->classes[0];
}

/* Changing one record moves the agent's means and scale, and with them all its other records: no
 * sensitivity counts that. Public constants and zeros depend on no record. Likewise one record may
 * change how many there are and of what width; with one more or less, who there is and which of
 * the others train. Of records that were dealt by a draw the dealing stands for the world they
 * come from. */
static unsigned leaks(const dealing *d)
{
    const tacit_data_options *o = d->options;
    bool scale =
        o->standardise == TACIT_STANDARDISE_AGENT || o->standardise == TACIT_STANDARDISE_POOLED;
    bool fill = d->fills && o->missing_rule == TACIT_MISSING_MEAN;
    bool count = !o->keep_count && (o->missing_rule == TACIT_MISSING_DROP || loses_unlabelled(o));
    bool width = o->source == TACIT_SOURCE_LIBSVM && o->width == 0 && o->components == 0;
    return (scale ? TACIT_LEAK_SCALE : 0U) | (fill ? TACIT_LEAK_FEATURES : 0U) |
           (count ? TACIT_LEAK_COUNT : 0U) | (width ? TACIT_LEAK_WIDTH : 0U);
}

/* Where one record more or less is to be hidden. */
static unsigned leaks_of_number(const tacit_data_options *o)
{
    const bool split = o->test_fraction > 0 || o->validation_fraction > 0;
    return o->partition == TACIT_PARTITION_OWN ? TACIT_LEAK_AGENTS | (split ? TACIT_LEAK_SPLIT : 0U)
                                               : 0U;
}

tacit_status tacit_table_deal(tacit_source *out, const tacit_table *table,
                              const tacit_data_options *options, uint64_t seed, tacit_error *err)
{
    return tacit_table_deal_tested(out, table, NULL, options, seed, err);
}

tacit_status tacit_table_deal_tested(tacit_source *out, const tacit_table *table,
                                     const tacit_table *test, const tacit_data_options *given,
                                     uint64_t seed, tacit_error *err)
{
    tacit_data_options *options = malloc(sizeof *options); /* large, for its many paths */
    dealing d = {.table = table, .test = test, .options = options};
    tacit_status status;

    *out = (tacit_source){0};
    if (!options)
        return tacit_out_of_memory(err);
    *options = *given;
    options->test_fraction = test ? 0 : given->test_fraction;
    tacit_random_init(&d.random, seed);
    if ((status = tacit_split_check(options, err)) ||
        (status = tacit_slice_check(options, table->features, err)) ||
        (status = claim_for_rows(&d, err)) || (status = drop_rows(&d, err)) ||
        (test && (status = keep_test(&d, err))) ||
        (status = tacit_slice_take(&d.slice, d.owner, table->rows, options, &d.random, err)) ||
        (status = drop_public(&d, err)) ||
        (status = tacit_partition_deal(d.owner, &d.agents, table, options, &d.random, err)) ||
        (status = sort_by_agent(&d, err)) || (status = deal_splits(&d, err)) ||
        (status = put_all(&d, err)))
        goto out;
    out->data = d.data;
    d.data = NULL;
    out->leaks = leaks(&d);
    out->leaks_number = leaks_of_number(options);
    out->dropped = d.dropped;
    out->blank = d.blanks;
    out->public_records = d.slice.rows;
out:
    dealing_clear(&d);
    free(options);
    return status;
}
