/* SPDX-License-Identifier: Apache-2.0 */
/* A graph from an array of edges, and what hangs together in it. */
#include "tacit/graph.h"

#include <inttypes.h>
#include <math.h>

#include "base/pages.h"
#include "graph/build.h"

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

typedef struct edge_array {
    const tacit_edge *edges;
    size_t count;
} edge_array;

static void each_edge(const void *ctx, tacit_emit *emit, void *to)
{
    const edge_array *array = ctx;
    for (size_t k = 0; k < array->count; k++)
        emit(to, array->edges[k].a, array->edges[k].b, array->edges[k].weight);
}

tacit_status tacit_graph_from_edges(tacit_graph *graph, uint32_t agents, const tacit_edge *edges,
                                    size_t count, tacit_error *err)
{
    const edge_array array = {edges, count};
    const tacit_edge_source source = {each_edge, &array};
    *graph = (tacit_graph){0};
    tacit_status status = tacit_graph_check_size(agents, 0, err);
    if (!status)
        status = check_edges(agents, edges, count, err);
    if (!status)
        status = tacit_graph_build(graph, agents, &source, err);
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
