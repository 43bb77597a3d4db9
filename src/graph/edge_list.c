/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/edge_list.h"

#include <stdlib.h>

tacit_status tacit_edge_list_add(tacit_edge_list *list, tacit_edge edge, tacit_error *err)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity : 128, bytes;
        if (!tacit_mul_size(capacity, 2, &capacity) ||
            !tacit_mul_size(capacity, sizeof edge, &bytes))
            return tacit_out_of_memory(err);
        tacit_edge *grown = realloc(list->edges, bytes);
        if (!grown)
            return tacit_out_of_memory(err);
        list->edges = grown;
        list->capacity = capacity;
    }
    list->edges[list->count++] = edge;
    return TACIT_OK;
}

void tacit_edge_list_clear(tacit_edge_list *list)
{
    free(list->edges);
    *list = (tacit_edge_list){0};
}
