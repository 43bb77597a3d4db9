/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_GRAPH_BUILD_H
#define TACIT_GRAPH_BUILD_H
/*
 * Compressed rows from anything that can name its edges twice. What is heard first is counted,
 * what is heard again is entered: edges need not be stored, and nothing of the graph's own size
 * is allocated beside it.
 */
#include "tacit/graph.h"

/* Calls `emit(to, a, b, weight)` for every edge, the same ones in the same order each time. */
typedef void tacit_emit(void *to, uint32_t a, uint32_t b, double weight);
typedef struct tacit_edge_source {
    void (*each)(const void *ctx, tacit_emit *emit, void *to);
    const void *ctx;
} tacit_edge_source;

/* Ends must be below `agents` and differ, weights be finite and positive; an edge that comes
 * twice and a row without a finite sum are refused here. */
tacit_status tacit_graph_build(tacit_graph *graph, uint32_t agents, const tacit_edge_source *source,
                               tacit_error *err);

/* What agents chose: agent i chose `count[i]` others (NULL: `k` each), in ascending order, at
 * chosen[i * k]. An edge of weight 1 if either end chose the other. */
typedef struct tacit_choices {
    uint32_t agents, k;
    const uint32_t *count;
    const uint32_t *chosen;
} tacit_choices;
tacit_status tacit_graph_from_choices(tacit_graph *graph, const tacit_choices *choices,
                                      tacit_error *err);

/* Refuses agent counts no graph has, and more than TACIT_GRAPH_MAX_EDGES edges. */
tacit_status tacit_graph_check_size(uint32_t agents, double edges, tacit_error *err);

#endif
