/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed rows from edges that are heard twice.
 *
 * The first hearing counts the rows, the second enters every edge in both of them, in whatever
 * order the edges come; rows are then sorted one by one, which needs a buffer of one row.
 * Walking the sorted rows in order of i meets, for each j, its neighbours i in ascending order:
 * so a counter for each j is the position of i in the row of j, which is the mirror.
 *
 * Invariants of a finished graph, e in row i, j = neighbour[e]:
 *  1. rows are strictly ascending and never hold i itself;
 *  2. weight[e] is finite, positive and equals the weight of i in the row of j;
 *  3. neighbour[row[j] + mirror[e]] == i;
 *  4. degree[i] is the sum of row i and finite.
 */
#include "graph/build.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

#define SHORT_ROW 24

typedef struct entry {
    uint32_t neighbour;
    double weight;
} entry;

typedef struct filler {
    tacit_graph *graph;
    uint64_t *at; /* where the next neighbour of each agent goes */
} filler;

static void count_edge(void *to, uint32_t a, uint32_t b, double weight)
{
    uint64_t *row = to;
    (void)weight;
    row[a + 1]++;
    row[b + 1]++;
}

static void fill_edge(void *to, uint32_t a, uint32_t b, double weight)
{
    const filler *f = to;
    uint64_t at_a = f->at[a]++, at_b = f->at[b]++;
    f->graph->neighbour[at_a] = b;
    f->graph->weight[at_a] = weight;
    f->graph->neighbour[at_b] = a;
    f->graph->weight[at_b] = weight;
}

static tacit_status claim_rows(tacit_graph *graph, uint32_t agents, tacit_error *err)
{
    size_t rows;
    if (!tacit_add_size(agents, 1, &rows))
        return tacit_out_of_memory(err);
    graph->agents = agents;
    graph->row = tacit_pages_alloc(rows, sizeof *graph->row);
    graph->degree = tacit_pages_alloc(agents, sizeof *graph->degree);
    return graph->row && graph->degree ? TACIT_OK : tacit_out_of_memory(err);
}

static tacit_status claim_entries(tacit_graph *graph, tacit_error *err)
{
    for (uint32_t i = 0; i < graph->agents; i++)
        graph->row[i + 1] += graph->row[i];
    size_t entries = graph->row[graph->agents];
    graph->neighbour = tacit_pages_alloc(entries, sizeof *graph->neighbour);
    graph->weight = tacit_pages_alloc(entries, sizeof *graph->weight);
    graph->mirror = tacit_pages_alloc(entries, sizeof *graph->mirror);
    graph->entries = entries;
    return graph->neighbour && graph->weight && graph->mirror ? TACIT_OK : tacit_out_of_memory(err);
}

static int by_neighbour(const void *left, const void *right)
{
    const entry *x = left, *y = right;
    return (x->neighbour > y->neighbour) - (x->neighbour < y->neighbour);
}

static void sort_short(uint32_t *neighbour, double *weight, size_t count)
{
    for (size_t k = 1; k < count; k++) {
        uint32_t j = neighbour[k];
        double w = weight[k];
        size_t at = k;
        for (; at > 0 && neighbour[at - 1] > j; at--) {
            neighbour[at] = neighbour[at - 1];
            weight[at] = weight[at - 1];
        }
        neighbour[at] = j;
        weight[at] = w;
    }
}

static void sort_long(uint32_t *neighbour, double *weight, size_t count, entry *buffer)
{
    for (size_t k = 0; k < count; k++)
        buffer[k] = (entry){neighbour[k], weight[k]};
    qsort(buffer, count, sizeof *buffer, by_neighbour);
    for (size_t k = 0; k < count; k++) {
        neighbour[k] = buffer[k].neighbour;
        weight[k] = buffer[k].weight;
    }
}

static bool is_sorted(const uint32_t *neighbour, size_t count)
{
    for (size_t k = 1; k < count; k++) {
        if (neighbour[k - 1] > neighbour[k])
            return false;
    }
    return true;
}

static tacit_status sort_rows(tacit_graph *graph, tacit_error *err)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < graph->agents; i++) {
        size_t count = graph->row[i + 1] - graph->row[i];
        longest = count > longest ? count : longest;
    }
    entry *buffer = calloc(longest ? longest : 1, sizeof *buffer);
    if (!buffer)
        return tacit_out_of_memory(err);
    for (uint32_t i = 0; i < graph->agents; i++) {
        uint32_t *neighbour = graph->neighbour + graph->row[i];
        double *weight = graph->weight + graph->row[i];
        size_t count = graph->row[i + 1] - graph->row[i];
        if (count <= SHORT_ROW)
            sort_short(neighbour, weight, count);
        else if (!is_sorted(neighbour, count))
            sort_long(neighbour, weight, count, buffer);
    }
    free(buffer);
    return TACIT_OK;
}

static void fill_mirror(tacit_graph *graph, uint64_t *met)
{
    memset(met, 0, graph->agents * sizeof *met);
    for (uint32_t i = 0; i < graph->agents; i++) {
        for (uint64_t e = graph->row[i]; e < graph->row[i + 1]; e++)
            graph->mirror[e] = (uint32_t)met[graph->neighbour[e]]++;
    }
}

static tacit_status sum_rows(tacit_graph *graph, tacit_error *err)
{
    for (uint32_t i = 0; i < graph->agents; i++) {
        for (uint64_t e = graph->row[i]; e < graph->row[i + 1]; e++) {
            if (e > graph->row[i] && graph->neighbour[e] == graph->neighbour[e - 1])
                return tacit_fail(err, TACIT_EINPUT,
                                  "edge \"%" PRIu32 " %" PRIu32 "\" is given twice", i,
                                  graph->neighbour[e]);
            graph->degree[i] += graph->weight[e];
        }
        if (!isfinite(graph->degree[i]))
            return tacit_fail(err, TACIT_EINPUT,
                              "the weights of agent \"%" PRIu32 "\" add up to infinity; scale "
                              "them down",
                              i);
    }
    return TACIT_OK;
}

tacit_status tacit_graph_check_size(uint32_t agents, double edges, tacit_error *err)
{
    if (agents == 0 || agents == UINT32_MAX)
        return tacit_fail(err, TACIT_EINPUT, "a graph needs 1 to %" PRIu32 " agents",
                          UINT32_MAX - 1);
    if (edges > (double)TACIT_GRAPH_MAX_EDGES)
        return tacit_fail(err, TACIT_EINPUT,
                          "this graph of %" PRIu32 " agents would have about %.3g edges; at most "
                          "%" PRIu64 ": choose fewer agents or neighbours",
                          agents, edges, TACIT_GRAPH_MAX_EDGES);
    return TACIT_OK;
}

tacit_status tacit_graph_build(tacit_graph *graph, uint32_t agents, const tacit_edge_source *source,
                               tacit_error *err)
{
    tacit_graph made = {0};
    uint64_t *at = NULL;
    tacit_status status;

    *graph = (tacit_graph){0};
    if ((status = tacit_graph_check_size(agents, 0, err)))
        return status;
    if ((status = claim_rows(&made, agents, err)))
        goto out;
    source->each(source->ctx, count_edge, made.row);
    if ((status = claim_entries(&made, err)))
        goto out;
    at = tacit_pages_alloc(agents, sizeof *at);
    if (!at) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    memcpy(at, made.row, agents * sizeof *at);
    source->each(source->ctx, fill_edge, &(filler){&made, at});
    if ((status = sort_rows(&made, err)))
        goto out;
    fill_mirror(&made, at);
    status = sum_rows(&made, err);
out:
    tacit_pages_free(at, agents, sizeof *at);
    if (status)
        tacit_graph_clear(&made);
    else
        *graph = made;
    return status;
}

/* ---- choices ---- */

static uint32_t choices_of(const tacit_choices *c, uint32_t i)
{
    return c->count ? c->count[i] : c->k;
}

static bool has_chosen(const tacit_choices *c, uint32_t i, uint32_t j)
{
    const uint32_t *chosen = c->chosen + (size_t)i * c->k;
    uint32_t low = 0, high = choices_of(c, i);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (chosen[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < choices_of(c, i) && chosen[low] == j;
}

/* An edge that both ends chose is named by the smaller one only. */
static void each_choice(const void *ctx, tacit_emit *emit, void *to)
{
    const tacit_choices *c = ctx;
    for (uint32_t i = 0; i < c->agents; i++) {
        for (uint32_t n = 0; n < choices_of(c, i); n++) {
            uint32_t j = c->chosen[(size_t)i * c->k + n];
            if (j > i || !has_chosen(c, j, i))
                emit(to, i, j, 1);
        }
    }
}

tacit_status tacit_graph_from_choices(tacit_graph *graph, const tacit_choices *choices,
                                      tacit_error *err)
{
    const tacit_edge_source source = {each_choice, choices};
    return tacit_graph_build(graph, choices->agents, &source, err);
}
