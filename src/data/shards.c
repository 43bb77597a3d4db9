/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source "shards": records that were dealt before, bit for bit. A folder with
 *
 *     train.npy  validation.npy  test.npy     f64: agent, label, features; the last two may lack
 *     agents.txt                              who there is, a number a line; without it, who has
 *                                             records
 *
 * What a peer of "tacit up" gets. Nothing is done to a record on the way: who made the shards has
 * bounded and scaled, and doing it again would change bits.
 *
 * Agents are named by their numbers in the files and stand in that order, whatever the order of
 * the rows; an agent's rows keep theirs.
 */
#include "data/shards.h"
#include "data/bytes.h"
#include "data/dataset.h"
#include "data/grid.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 2 /* columns before the features: agent, label */
#define MOST_LIST ((size_t)64 << 20)

const char *const tacit_shards_files[TACIT_SPLITS] = {"train.npy", "validation.npy", "test.npy"};

typedef struct shards {
    const tacit_data_options *options;
    tacit_bytes bytes[TACIT_SPLITS];
    tacit_grid grid[TACIT_SPLITS];
    char name[TACIT_SPLITS][TACIT_TEXT_MAX + 20];
    uint32_t *agent; /* numbers, rising */
    size_t agents;
    bool listed; /* by agents.txt, not by who has rows */
    uint32_t *counts[TACIT_SPLITS];
    double *x; /* a row's features */
    size_t features;
    tacit_dataset *data;
} shards;

/* ---- options ---- */

static tacit_status check_options(const tacit_data_options *o, tacit_error *err)
{
    const struct {
        bool set;
        const char *key;
    } refused[] = {
        {o->bound != TACIT_BOUND_NONE, "bound"},
        {o->bias, "bias"},
        {o->standardise != TACIT_STANDARDISE_NONE, "standardise"},
        {o->partition != TACIT_PARTITION_OWN, "partition"},
        {o->without != 0, "without"},
        {o->positive[0] != '\0', "positive"},
        {o->threshold[0] != '\0', "threshold"},
        {o->classes[0] != '\0', "classes"},
        {o->labels_path[0] != '\0', "labels-path"},
        {o->agents_path[0] != '\0', "agents-path"},
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
        if (refused[k].set)
            return tacit_fail(err, TACIT_EINPUT,
                              "data.source \"shards\" takes records as they are; leave out "
                              "\"data.%s\"",
                              refused[k].key);
    if (!o->path[0])
        return tacit_fail(err, TACIT_EINPUT,
                          "data.path is empty; name the folder with train.npy in it");
    return TACIT_OK;
}

/* ---- files ---- */

static tacit_status open_split(shards *s, int split, tacit_error *err)
{
    const tacit_data_options *o = s->options;
    tacit_grid *grid = &s->grid[split];
    snprintf(s->name[split], sizeof s->name[split], "%s/%s", o->path, tacit_shards_files[split]);
    if (split != TACIT_TRAIN && !tacit_bytes_exist(s->name[split], o->folder))
        return TACIT_OK;
    tacit_status status = tacit_bytes_load(&s->bytes[split], s->name[split], o->folder, o, err);
    if (!status)
        status = tacit_npy_open(grid, s->name[split], tacit_bytes_at(&s->bytes[split]),
                                s->bytes[split].len, err);
    if (status)
        return status;
    if (grid->rank != 2 || grid->kind != TACIT_KIND_F64 || grid->width <= AHEAD)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: expected rows of f64: agent, label and at least one feature",
                          s->name[split]);
    if (grid->rows >= UINT32_MAX)
        return tacit_fail(err, TACIT_EINPUT, "%.300s: %zu records are too many", s->name[split],
                          grid->rows);
    if (split != TACIT_TRAIN && grid->width != s->features + AHEAD)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s has %zu features, but train.npy has %zu; they are not of one "
                          "data set",
                          s->name[split], grid->width - AHEAD, s->features);
    s->features = grid->width - AHEAD;
    return TACIT_OK;
}

/* ---- agents ---- */

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static tacit_status agent_of(const shards *s, int split, size_t row, uint32_t *out,
                             tacit_error *err)
{
    const double value = tacit_grid_at(&s->grid[split], row, 0);
    if (!(value >= 0 && value < TACIT_DATASET_MAX_AGENTS) || value != floor(value))
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: row %zu: agent \"%g\"; expected a whole number from 0",
                          s->name[split], row, value);
    *out = (uint32_t)value;
    return TACIT_OK;
}

/* Numbers from a text, a line each. */
static tacit_status parse_list(shards *s, const char *name, const char *text, size_t len,
                               tacit_error *err)
{
    size_t lines = 1;
    for (size_t k = 0; k < len; k++)
        lines += text[k] == '\n';
    if (len > MOST_LIST || !(s->agent = calloc(lines, sizeof *s->agent)))
        return len > MOST_LIST ? tacit_fail(err, TACIT_EINPUT, "%.300s is too long", name)
                               : tacit_out_of_memory(err);
    for (size_t at = 0, line = 1; at < len; line++) {
        uint64_t number = 0;
        const size_t from = at;
        for (; at < len && text[at] >= '0' && text[at] <= '9' && at - from < 11; at++)
            number = number * 10 + (uint64_t)(text[at] - '0');
        if (at == from || (at < len && text[at] != '\n') || number >= TACIT_DATASET_MAX_AGENTS)
            return tacit_fail(err, TACIT_EINPUT,
                              "%.300s:%zu: expected a line with the number of an agent", name,
                              line);
        s->agent[s->agents++] = (uint32_t)number;
        at += at < len;
    }
    return TACIT_OK;
}

static tacit_status read_list(shards *s, const char *name, tacit_error *err)
{
    tacit_bytes bytes = {0};
    tacit_status status = tacit_bytes_load(&bytes, name, s->options->folder, NULL, err);
    if (!status)
        status = parse_list(s, name, tacit_bytes_at(&bytes), bytes.len, err);
    tacit_bytes_clear(&bytes);
    if (status)
        return status;
    qsort(s->agent, s->agents, sizeof *s->agent, by_number);
    for (size_t k = 1; k < s->agents; k++)
        if (s->agent[k] == s->agent[k - 1])
            return tacit_fail(err, TACIT_EINPUT, "%.300s: agent \"%" PRIu32 "\" is there twice",
                              name, s->agent[k]);
    return TACIT_OK;
}

/* Without a list: everybody who has a row. */
static tacit_status gather_agents(shards *s, tacit_error *err)
{
    size_t rows = 0, kept = 0;
    for (int split = 0; split < TACIT_SPLITS; split++)
        rows += s->grid[split].rows; /* three times 2^32 at most */
    if (!(s->agent = calloc(rows + 1, sizeof *s->agent)))
        return tacit_out_of_memory(err);
    tacit_status status = TACIT_OK;
    for (int split = 0; split < TACIT_SPLITS; split++)
        for (size_t row = 0; row < s->grid[split].rows && !status; row++)
            status = agent_of(s, split, row, &s->agent[s->agents++], err);
    if (status)
        return status;
    qsort(s->agent, s->agents, sizeof *s->agent, by_number);
    for (size_t k = 0; k < s->agents; k++)
        if (k == 0 || s->agent[k] != s->agent[kept - 1])
            s->agent[kept++] = s->agent[k];
    s->agents = kept;
    return TACIT_OK;
}

static tacit_status list_agents(shards *s, tacit_error *err)
{
    char name[TACIT_TEXT_MAX + 20];
    snprintf(name, sizeof name, "%s/" TACIT_SHARDS_LIST, s->options->path);
    s->listed = tacit_bytes_exist(name, s->options->folder);
    tacit_status status = s->listed ? read_list(s, name, err) : gather_agents(s, err);
    if (!status && s->agents == 0)
        status =
            tacit_fail(err, TACIT_EINPUT, "%.300s: there is no agent in it", s->name[TACIT_TRAIN]);
    return status;
}

/* ---- rows ---- */

static tacit_status place_of(const shards *s, int split, size_t row, uint32_t *at, tacit_error *err)
{
    uint32_t agent = 0;
    tacit_status status = agent_of(s, split, row, &agent, err);
    if (status)
        return status;
    const uint32_t *found = bsearch(&agent, s->agent, s->agents, sizeof agent, by_number);
    if (!found)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: row %zu is of agent \"%" PRIu32 "\", who is not in " //
                          TACIT_SHARDS_LIST,
                          s->name[split], row, agent);
    *at = (uint32_t)(found - s->agent);
    return TACIT_OK;
}

static tacit_status count_rows(shards *s, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (int split = 0; split < TACIT_SPLITS && !status; split++) {
        if (!(s->counts[split] = calloc(s->agents, sizeof **s->counts)))
            return tacit_out_of_memory(err);
        for (size_t row = 0; row < s->grid[split].rows && !status; row++) {
            uint32_t at = 0;
            if (!(status = place_of(s, split, row, &at, err)))
                s->counts[split][at]++;
        }
    }
    return status;
}

static tacit_status put_split(shards *s, int split, tacit_error *err)
{
    const tacit_grid *grid = &s->grid[split];
    tacit_status status = TACIT_OK;
    memset(s->counts[split], 0, s->agents * sizeof **s->counts); /* of rows put, from here on */
    for (size_t row = 0; row < grid->rows && !status; row++) {
        uint32_t at = 0;
        if ((status = place_of(s, split, row, &at, err)))
            break;
        for (size_t k = 0; k < s->features; k++)
            s->x[k] = tacit_grid_at(grid, row, AHEAD + k);
        status = tacit_dataset_put(s->data, at, (tacit_split)split, s->counts[split][at]++, s->x,
                                   tacit_grid_at(grid, row, 1), err);
    }
    return status;
}

static tacit_status name_agents(shards *s, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (uint32_t i = 0; i < s->agents && !status; i++) {
        char number[TACIT_NUMBER_MAX];
        snprintf(number, sizeof number, "%" PRIu32, s->agent[i]);
        if (s->agent[i] != i)
            status = tacit_dataset_set_name(s->data, i, number, err);
    }
    return status;
}

static tacit_status make_data(shards *s, tacit_scalar scalar, tacit_error *err)
{
    const uint32_t *const counts[] = {s->counts[0], s->counts[1], s->counts[2]};
    tacit_status status =
        tacit_dataset_create_in(&s->data, tacit_data_scratch(s->options), (uint32_t)s->agents,
                                s->features, scalar, counts, err);
    if (!status && !(s->x = calloc(s->features, sizeof *s->x)))
        status = tacit_out_of_memory(err);
    for (int split = 0; split < TACIT_SPLITS && !status; split++)
        status = put_split(s, split, err);
    return status ? status : name_agents(s, err);
}

tacit_status tacit_data_shards(tacit_source *out, const tacit_data_options *options,
                               tacit_scalar scalar, tacit_error *err)
{
    shards *s = calloc(1, sizeof *s); /* the names of the files are long */
    *out = (tacit_source){0};
    if (!s)
        return tacit_out_of_memory(err);
    s->options = options;
    tacit_status status = check_options(options, err);
    for (int split = 0; split < TACIT_SPLITS && !status; split++)
        status = open_split(s, split, err);
    if (!status)
        status = list_agents(s, err);
    if (!status)
        status = count_rows(s, err);
    if (!status)
        status = make_data(s, scalar, err);
    if (!status) {
        out->data = s->data;
        out->leaks_number = s->listed ? 0 : TACIT_LEAK_AGENTS;
        s->data = NULL;
    }
    for (int split = 0; split < TACIT_SPLITS; split++) {
        tacit_bytes_clear(&s->bytes[split]);
        free(s->counts[split]);
    }
    free(s->agent);
    free(s->x);
    tacit_dataset_free(s->data);
    free(s);
    return status;
}
