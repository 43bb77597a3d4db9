/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an edge list, the number of agents given or not: an error with words, or a sound,
 * symmetric graph. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "tacit/graph.h"

#define AGENTS 12

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(const tacit_graph *g)
{
    uint32_t *component = calloc(g->agents, sizeof *component);
    if (!component)
        abort();
    uint32_t components = tacit_graph_components(g, component);
    if (components == 0 || components > g->agents)
        abort();
    for (uint32_t i = 0; i < g->agents; i++) {
        if (!isfinite(g->degree[i]))
            abort();
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            uint64_t back = g->row[g->neighbour[e]] + g->mirror[e];
            if (g->neighbour[back] != i || g->weight[back] != g->weight[e] || !(g->weight[e] > 0) ||
                component[g->neighbour[e]] != component[i])
                abort();
        }
    }
    free(component);
}

static void try_agents(uint32_t agents, const char *text, size_t len)
{
    tacit_graph g;
    tacit_error err = {0};
    tacit_status status = tacit_graph_read_edges(&g, agents, "fuzz.txt", text, len, &err);
    if (status ? g.row != NULL || err.text[0] == '\0' : g.row == NULL)
        abort();
    if (!status)
        check(&g);
    tacit_graph_clear(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    try_agents(AGENTS, (const char *)bytes, len);
    try_agents(0, (const char *)bytes, len);
    return 0;
}
