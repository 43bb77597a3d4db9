/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed rows from edges in linear time.
 *
 * Every edge is entered in both rows, in whatever order the edges came. Walking those rows in
 * order of i and appending i to the row of each neighbour writes the transpose, and since W is
 * symmetric the transpose is the same graph with sorted rows. The same walk over the sorted
 * rows meets, for each j, its neighbours i in ascending order: so a counter for each j is the
 * position of i in the row of j, which is the mirror.
 *
 * Invariants of a finished graph, e in row i, j = neighbour[e]:
 *  1. rows are strictly ascending and never hold i itself;
 *  2. weight[e] is finite, positive and equals the weight of i in the row of j;
 *  3. neighbour[row[j] + mirror[e]] == i;
 *  4. degree[i] is the sum of row i and finite.
 */
#include "tacit/graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

void tacit_graph_clear(tacit_graph *graph)
{
    size_t rows = (size_t)graph->agents + 1, entries = graph->entries;
    tacit_pages_free(graph->row, rows, sizeof *graph->row);
    tacit_pages_free(graph->neighbour, entries, sizeof *graph->neighbour);
    tacit_pages_free(graph->weight, entries, sizeof *graph->weight);
    tacit_pages_free(graph->mirror, entries, sizeof *graph->mirror);
    tacit_pages_free(graph->degree, graph->agents, sizeof *graph->degree);
    *graph = (tacit_graph){0};
}

static tacit_status check_edges(uint32_t agents, const tacit_edge *edges, size_t count,
                                tacit_error *err)
{
    for (size_t k = 0; k < count; k++) {
        const tacit_edge *e = &edges[k];
        if (e->a >= agents || e->b >= agents)
            return tacit_fail(err, TACIT_EINPUT,
                              "edge \"%" PRIu32 " %" PRIu32 "\" leads out of the %" PRIu32
                              " agents 0 to %" PRIu32,
                              e->a, e->b, agents, agents - 1);
        if (e->a == e->b)
            return tacit_fail(err, TACIT_EINPUT,
                              "edge \"%" PRIu32 " %" PRIu32 "\" is a self-loop; leave it out", e->a,
                              e->b);
        if (!(e->weight > 0) || !isfinite(e->weight))
            return tacit_fail(err, TACIT_EINPUT,
                              "edge \"%" PRIu32 " %" PRIu32 "\" has weight \"%g\"; expected a "
                              "finite number above 0",
                              e->a, e->b, e->weight);
    }
    return TACIT_OK;
}

/* calloc that knows an empty array from no memory. */
static void *array(size_t count, size_t item)
{
    return calloc(count ? count : 1, item);
}

static tacit_status claim(tacit_graph *graph, uint32_t agents, size_t count, tacit_error *err)
{
    size_t entries, rows;
    if (!tacit_mul_size(count, 2, &entries) || !tacit_add_size(agents, 1, &rows))
        return tacit_out_of_memory(err);
    graph->agents = agents;
    graph->entries = entries;
    graph->row = tacit_pages_alloc(rows, sizeof *graph->row);
    graph->neighbour = tacit_pages_alloc(entries, sizeof *graph->neighbour);
    graph->weight = tacit_pages_alloc(entries, sizeof *graph->weight);
    graph->mirror = tacit_pages_alloc(entries, sizeof *graph->mirror);
    graph->degree = tacit_pages_alloc(agents, sizeof *graph->degree);
    bool enough = graph->row && graph->neighbour && graph->weight && graph->mirror && graph->degree;
    return enough ? TACIT_OK : tacit_out_of_memory(err);
}

static void count_rows(tacit_graph *graph, const tacit_edge *edges, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        graph->row[edges[k].a + 1]++;
        graph->row[edges[k].b + 1]++;
    }
    for (uint32_t i = 0; i < graph->agents; i++)
        graph->row[i + 1] += graph->row[i];
}

/* Rows in the order of the edges, into `loose`; `at` is scratch. */
static void fill_loose(const tacit_graph *graph, uint64_t *at, tacit_edge *loose,
                       const tacit_edge *edges, size_t count)
{
    memcpy(at, graph->row, graph->agents * sizeof *at);
    for (size_t k = 0; k < count; k++) {
        loose[at[edges[k].a]++] = edges[k];
        loose[at[edges[k].b]++] = edges[k];
    }
}

/* The transpose of `loose`: rows sorted. */
static void fill_sorted(tacit_graph *graph, uint64_t *at, const tacit_edge *loose)
{
    memcpy(at, graph->row, graph->agents * sizeof *at);
    for (uint32_t i = 0; i < graph->agents; i++) {
        for (uint64_t e = graph->row[i]; e < graph->row[i + 1]; e++) {
            uint32_t j = loose[e].a == i ? loose[e].b : loose[e].a;
            graph->neighbour[at[j]] = i;
            graph->weight[at[j]++] = loose[e].weight;
        }
    }
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

tacit_status tacit_graph_from_edges(tacit_graph *graph, uint32_t agents, const tacit_edge *edges,
                                    size_t count, tacit_error *err)
{
    tacit_graph made = {0};
    tacit_edge *loose = NULL;
    uint64_t *at = NULL;
    tacit_status status;

    *graph = (tacit_graph){0};
    if (agents == 0 || agents == UINT32_MAX)
        return tacit_fail(err, TACIT_EINPUT, "a graph needs 1 to %" PRIu32 " agents",
                          UINT32_MAX - 1);
    if ((status = check_edges(agents, edges, count, err)))
        return status;
    if ((status = claim(&made, agents, count, err)))
        goto out;
    loose = array(2 * count, sizeof *loose); /* claim() saw that it does not overflow */
    at = array(agents, sizeof *at);
    if (!loose || !at) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    count_rows(&made, edges, count);
    fill_loose(&made, at, loose, edges, count);
    fill_sorted(&made, at, loose);
    fill_mirror(&made, at);
    status = sum_rows(&made, err);
out:
    free(at);
    free(loose);
    if (status)
        tacit_graph_clear(&made);
    else
        *graph = made;
    return status;
}

/* Union-find whose roots are the smallest index of their set; paths are halved on the way. */
static uint32_t find_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

uint32_t tacit_graph_components(const tacit_graph *graph, uint32_t *component)
{
    uint32_t components = graph->agents;
    for (uint32_t i = 0; i < graph->agents; i++)
        component[i] = i;
    for (uint32_t i = 0; i < graph->agents; i++) {
        for (uint64_t e = graph->row[i]; e < graph->row[i + 1]; e++) {
            uint32_t a = find_root(component, i);
            uint32_t b = find_root(component, graph->neighbour[e]);
            component[a > b ? a : b] = a > b ? b : a;
            components -= a != b;
        }
    }
    for (uint32_t i = 0; i < graph->agents; i++)
        component[i] = find_root(component, i);
    return components;
}
