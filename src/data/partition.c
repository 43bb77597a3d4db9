/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records to agents.
 *
 *   own        as the table says
 *   iid        shuffled; everybody gets the same number, the first ones one more
 *   quantity   shuffled; sizes by one draw of Dirichlet(alpha)
 *   dirichlet  each class shuffled and dealt by a draw of Dirichlet(alpha) of its own
 *   classes    each class shuffled and dealt by the matrix A(t) of paper 004
 *   shards     sorted by label, cut into agents x shards pieces of the same size (the first ones
 *              one more), which are shuffled; each agent gets its number of them
 *
 * Invariants: every record that is not left out goes to exactly one agent; counts are the shares
 * rounded by largest remainder (shares.c); the seed decides everything. There is at least one
 * record an agent on the whole, but with dirichlet, quantity and classes an agent may still end
 * up with none: it stays, with an empty shard.
 */
#include "data/partition.h"

#include "data/shares.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a partition works on. */
typedef struct plan {
    const tacit_table *table;
    const tacit_data_options *options;
    const tacit_random *random;
    uint32_t *owner;
    uint32_t *order; /* the rows to deal, shuffled */
    uint32_t rows, agents;
    uint32_t *counts; /* of each agent */
    double *share;    /* likewise */
    uint32_t start;   /* whose turn it is when shares are rounded */
} plan;

static tacit_status keep_owners(uint32_t *owner, uint32_t *agents, const tacit_table *table,
                                tacit_error *err)
{
    if (!table->owner)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.partition is \"own\", but nothing says whose record is whose; name "
                          "data.agent-column (csv) or data.agents-path, or choose another "
                          "data.partition, such as \"iid\"");
    *agents = table->owners.count;
    for (size_t row = 0; row < table->rows; row++) {
        if (owner[row] != TACIT_NOT_DEALT)
            owner[row] = table->owner[row];
    }
    return TACIT_OK;
}

/* The next counts[i] rows of `order` to each agent; returns where it stopped. */
static const uint32_t *give(plan *p, const uint32_t *order)
{
    for (uint32_t i = 0; i < p->agents; i++) {
        for (uint32_t k = 0; k < p->counts[i]; k++)
            p->owner[*order++] = i;
    }
    return order;
}

static tacit_status deal_iid(plan *p, tacit_error *err)
{
    (void)err;
    for (uint32_t i = 0; i < p->agents; i++)
        p->counts[i] = p->rows / p->agents + (i < p->rows % p->agents ? 1U : 0U);
    give(p, p->order);
    return TACIT_OK;
}

static tacit_status deal_quantity(plan *p, tacit_error *err)
{
    tacit_draw_dirichlet(p->share, p->agents, p->options->alpha, p->random, 0);
    tacit_status status =
        tacit_round_shares(p->counts, p->share, p->agents, p->rows, &p->start, err);
    if (!status)
        give(p, p->order);
    return status;
}

/* ---- by class ---- */

static const double *find_place(const double *class, uint32_t classes, double y)
{
    const double *low = class, *end = class + classes;
    while (low < end) {
        const double *middle = low + (end - low) / 2;
        if (*middle < y)
            low = middle + 1;
        else
            end = middle;
    }
    return low;
}

uint32_t tacit_class_of(const double *class, uint32_t classes, double y)
{
    return (uint32_t)(find_place(class, classes, y) - class);
}

bool tacit_class_add(double *class, uint32_t *classes, double y)
{
    uint32_t at = tacit_class_of(class, *classes, y);
    if (at < *classes && class[at] == y)
        return true;
    if (*classes == TACIT_CLASSES_MAX)
        return false;
    memmove(class + at + 1, class + at, (*classes - at) * sizeof *class);
    class[at] = y;
    ++*classes;
    return true;
}

static bool find_classes(const plan *p, double *class, uint32_t *classes)
{
    *classes = 0;
    for (uint32_t k = 0; k < p->rows; k++) {
        if (!tacit_class_add(class, classes, p->table->y[p->order[k]]))
            return false;
    }
    return true;
}

/* Sort `order` by class, keeping the shuffled order within one; ends[c] is where class c ends. */
static tacit_status sort_by_class(plan *p, const double *class, uint32_t classes, uint32_t *ends,
                                  tacit_error *err)
{
    const double *y = p->table->y;
    uint32_t *sorted = malloc((size_t)p->rows * sizeof *sorted);
    if (!sorted)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < p->rows; k++)
        ends[tacit_class_of(class, classes, y[p->order[k]])]++;
    for (uint32_t c = 1; c < classes; c++)
        ends[c] += ends[c - 1];
    for (uint32_t k = p->rows; k-- > 0;)
        sorted[--ends[tacit_class_of(class, classes, y[p->order[k]])]] = p->order[k];
    for (uint32_t c = 0; c < classes; c++) /* starts so far */
        ends[c] = c + 1 < classes ? ends[c + 1] : p->rows;
    free(p->order);
    p->order = sorted;
    return TACIT_OK;
}

static tacit_status deal_classes(plan *p, tacit_error *err)
{
    const tacit_data_options *o = p->options;
    bool drawn = o->partition == TACIT_PARTITION_DIRICHLET;
    double class[TACIT_CLASSES_MAX];
    uint32_t ends[TACIT_CLASSES_MAX] = {0};
    uint32_t classes;
    if (!find_classes(p, class, &classes))
        return tacit_fail(err, TACIT_EINPUT,
                          "labels have more than %d different values and look continuous; for "
                          "data.partition \"%s\" set data.threshold or data.positive",
                          TACIT_CLASSES_MAX, drawn ? "dirichlet" : "classes");
    tacit_status status = sort_by_class(p, class, classes, ends, err);
    const uint32_t *next = p->order;
    for (uint32_t c = 0; c < classes && !status; c++) {
        if (drawn)
            tacit_draw_dirichlet(p->share, p->agents, o->alpha, p->random, c);
        for (uint32_t i = 0; !drawn && i < p->agents; i++)
            p->share[i] = tacit_class_share(i, p->agents, c, classes, o->t);
        uint32_t rows = (uint32_t)(p->order + ends[c] - next);
        status = tacit_round_shares(p->counts, p->share, p->agents, rows, &p->start, err);
        if (!status)
            next = give(p, next);
    }
    return status;
}

/* ---- shards ---- */

typedef struct labelled {
    double y;
    uint32_t turn, row;
} labelled;

static int by_label(const void *a, const void *b)
{
    const labelled *x = a, *y = b;
    if (x->y != y->y)
        return x->y < y->y ? -1 : 1;
    return (x->turn > y->turn) - (x->turn < y->turn);
}

static tacit_status sort_by_label(plan *p, tacit_error *err)
{
    labelled *row = calloc(p->rows, sizeof *row);
    if (!row)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < p->rows; k++)
        row[k] = (labelled){.y = p->table->y[p->order[k]], .turn = k, .row = p->order[k]};
    qsort(row, p->rows, sizeof *row, by_label);
    for (uint32_t k = 0; k < p->rows; k++)
        p->order[k] = row[k].row;
    free(row);
    return TACIT_OK;
}

static tacit_status deal_shards(plan *p, tacit_error *err)
{
    size_t pieces = 0;
    if (p->options->shards < 1 || !tacit_mul_size(p->agents, (size_t)p->options->shards, &pieces) ||
        pieces > p->rows)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.shards \"%" PRId64 "\" for each of %" PRIu32
                          " agents are more shards than the %" PRIu32
                          " records; ask for fewer agents or shards",
                          p->options->shards, p->agents, p->rows);
    uint32_t each = p->rows / (uint32_t)pieces, more = p->rows % (uint32_t)pieces;
    uint32_t *piece = calloc(pieces, sizeof *piece);
    if (!piece)
        return tacit_out_of_memory(err);
    tacit_status status = sort_by_label(p, err);
    for (uint32_t k = 0; k < pieces; k++)
        piece[k] = k;
    tacit_deal_shuffle(piece, (uint32_t)pieces, p->random, TACIT_DRAW_SHARDS);
    for (uint32_t k = 0; k < pieces && !status; k++) {
        uint32_t s = piece[k], first = s * each + (s < more ? s : more);
        for (uint32_t at = first; at < first + each + (s < more ? 1U : 0U); at++)
            p->owner[p->order[at]] = k / (uint32_t)p->options->shards;
    }
    free(piece);
    return status;
}

/* ---- all ---- */

static tacit_status check(const plan *p, tacit_error *err)
{
    const tacit_data_options *o = p->options;
    if (o->agents < 1 || o->agents > p->rows)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.agents is \"%" PRId64 "\"; expected 1 to %" PRIu32
                          ", the records there are to deal",
                          o->agents, p->rows);
    bool drawn =
        o->partition == TACIT_PARTITION_DIRICHLET || o->partition == TACIT_PARTITION_QUANTITY;
    if (drawn && !(o->alpha > 0 && isfinite(o->alpha)))
        return tacit_fail(err, TACIT_EINPUT, "data.alpha is \"%g\"; expected a number above 0",
                          o->alpha);
    if (o->partition == TACIT_PARTITION_CLASSES && !(o->t >= 0 && o->t <= 1))
        return tacit_fail(err, TACIT_EINPUT, "data.t is \"%g\"; expected a number from 0 to 1",
                          o->t);
    return TACIT_OK;
}

static tacit_status prepare(plan *p, tacit_error *err)
{
    for (size_t row = 0; row < p->table->rows; row++)
        p->rows += p->owner[row] != TACIT_NOT_DEALT;
    tacit_status status = check(p, err);
    if (status)
        return status;
    p->agents = (uint32_t)p->options->agents;
    p->order = calloc(p->rows, sizeof *p->order);
    p->counts = calloc(p->agents, sizeof *p->counts);
    p->share = calloc(p->agents, sizeof *p->share);
    if (!p->order || !p->counts || !p->share)
        return tacit_out_of_memory(err);
    uint32_t k = 0;
    for (size_t row = 0; row < p->table->rows; row++) {
        if (p->owner[row] != TACIT_NOT_DEALT)
            p->order[k++] = (uint32_t)row;
    }
    tacit_deal_shuffle(p->order, p->rows, p->random, TACIT_DRAW_ROWS);
    return TACIT_OK;
}

static tacit_status deal_among(uint32_t *owner, uint32_t *agents, const tacit_table *table,
                               const tacit_data_options *options, const tacit_random *random,
                               tacit_error *err)
{
    static tacit_status (*const deal[])(plan *, tacit_error *) = {
        [TACIT_PARTITION_IID] = deal_iid,         [TACIT_PARTITION_DIRICHLET] = deal_classes,
        [TACIT_PARTITION_SHARDS] = deal_shards,   [TACIT_PARTITION_QUANTITY] = deal_quantity,
        [TACIT_PARTITION_CLASSES] = deal_classes,
    };
    if (options->partition == TACIT_PARTITION_OWN)
        return keep_owners(owner, agents, table, err);
    if (options->partition < 0 || (size_t)options->partition >= sizeof deal / sizeof *deal)
        return tacit_fail(err, TACIT_EINPUT, "unknown data.partition \"%d\"", options->partition);
    plan p = {.table = table, .options = options, .random = random, .owner = owner};
    tacit_status status = prepare(&p, err);
    if (!status)
        status = deal[options->partition](&p, err);
    *agents = p.agents;
    free(p.order);
    free(p.counts);
    free(p.share);
    return status;
}

/* Those without records come first and change nothing about who gets what of the others. */
tacit_status tacit_partition_deal(uint32_t *owner, uint32_t *agents, const tacit_table *table,
                                  const tacit_data_options *options, const tacit_random *random,
                                  tacit_error *err)
{
    const bool own = options->partition == TACIT_PARTITION_OWN;
    tacit_data_options others = *options;
    if (options->without < 0 || options->without > TACIT_WITHOUT_MOST ||
        (!own && options->without >= options->agents))
        return tacit_fail(err, TACIT_EINPUT,
                          "data.without is \"%" PRId64 "\" of %" PRId64
                          " agents (data.agents); somebody must have records",
                          options->without, options->agents);
    others.agents -= own ? 0 : options->without;
    tacit_status status = deal_among(owner, agents, table, &others, random, err);
    if (status || options->without == 0)
        return status;
    if (options->without > (int64_t)TACIT_DATASET_MAX_AGENTS - *agents)
        return tacit_fail(err, TACIT_EINPUT, "data.without is \"%" PRId64 "\"; that is too many",
                          options->without);
    const uint32_t first = (uint32_t)options->without;
    *agents += first;
    for (size_t row = 0; row < table->rows; row++)
        owner[row] += owner[row] != TACIT_NOT_DEALT ? first : 0;
    return TACIT_OK;
}

tacit_status tacit_partition_sort(uint32_t *order, uint64_t *first, const uint32_t *owner,
                                  size_t rows, uint32_t agents, tacit_error *err)
{
    uint64_t *next = calloc(agents, sizeof *next);
    if (!next)
        return tacit_out_of_memory(err);
    for (size_t row = 0; row < rows; row++) {
        if (owner[row] != TACIT_NOT_DEALT)
            first[owner[row] + 1]++;
    }
    for (uint32_t i = 0; i < agents; i++) {
        first[i + 1] += first[i];
        next[i] = first[i];
    }
    for (size_t row = 0; row < rows; row++) {
        if (owner[row] != TACIT_NOT_DEALT)
            order[next[owner[row]]++] = (uint32_t)row;
    }
    free(next);
    return TACIT_OK;
}

tacit_status tacit_partition_name(tacit_dataset *data, const tacit_table *table,
                                  const tacit_data_options *options, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    const uint32_t agents = tacit_dataset_agents(data), first = (uint32_t)options->without;
    if (options->partition != TACIT_PARTITION_OWN)
        return status;
    for (uint32_t i = 0; i < agents && !status; i++) {
        char number[TACIT_NUMBER_MAX], nobody[TACIT_NUMBER_MAX + 16];
        snprintf(nobody, sizeof nobody, "without-%" PRIu32, i);
        const char *name = i < first ? nobody : tacit_names_get(&table->owners, i - first);
        if (strcmp(name, tacit_dataset_name(data, i, number)) != 0)
            status = tacit_dataset_set_name(data, i, name, err);
    }
    return status;
}
