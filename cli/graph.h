/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_GRAPH_H
#define CLI_GRAPH_H
/* Inside of tacit graph: what was measured, and the ways to show it. */
#include "tacit/graph.h"

#define CLI_GRAPH_NAMED 5

typedef struct cli_component {
    uint32_t first, agents; /* smallest member, size */
} cli_component;

/* A figure that may not have been found: then `why` says so and the value is NaN. */
typedef struct cli_figure {
    double value;
    char why[200];
} cli_figure;

typedef struct cli_graph_facts {
    const tacit_graph *graph;
    const char *kind, *mixing; /* names */
    int64_t seed;
    uint64_t least, most; /* neighbours */
    double mean;
    uint32_t components, isolated;
    cli_component largest[CLI_GRAPH_NAMED]; /* largest first */
    uint32_t named;
    bool weighted; /* not all weights are 1 */
    cli_figure fiedler, unweighted, gap;
} cli_graph_facts;

/* Measure everything; the graph is borrowed. */
tacit_status cli_graph_measure(cli_graph_facts *facts, const tacit_graph *graph,
                               tacit_mixing_kind mixing, tacit_error *err);

/* ---- graph_words.c ---- */
void cli_graph_words(const cli_graph_facts *facts);
/* Texts that the caller frees; NULL when memory ran out. */
char *cli_graph_json(const cli_graph_facts *facts);
char *cli_graph_svg(const cli_graph_facts *facts);
char *cli_graph_edges(const cli_graph_facts *facts);

#endif
