/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_GRAPH_EDGE_LIST_H
#define TACIT_GRAPH_EDGE_LIST_H
/* A growing array of edges: memory follows the edges there are, not the pairs there could be. */
#include "tacit/graph.h"

typedef struct tacit_edge_list {
    tacit_edge *edges;
    size_t count, capacity;
} tacit_edge_list;

tacit_status tacit_edge_list_add(tacit_edge_list *list, tacit_edge edge, tacit_error *err);
void tacit_edge_list_clear(tacit_edge_list *list);

#endif
