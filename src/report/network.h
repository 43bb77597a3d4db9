/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPORT_NETWORK_H
#define TACIT_REPORT_NETWORK_H
/*
 * A graph as a picture: agents as dots, edges as lines, from plain arrays. The layout follows
 * from the edges alone, so the same graph always gives the same bytes. Above
 * TACIT_NETWORK_AGENTS agents or TACIT_NETWORK_EDGES edges lines say nothing any more, and the
 * degrees are drawn as a histogram instead.
 */
#include "report/writer.h"

#define TACIT_NETWORK_AGENTS 400
#define TACIT_NETWORK_EDGES 20000

typedef struct tacit_network {
    const char *title; /* told to screen readers and above the picture; NULL: none */
    uint32_t agents;
    size_t edges;
    const uint32_t *a, *b;    /* the two ends of each edge, below `agents` */
    const double *weight;     /* of each edge, or NULL: all alike */
    const uint32_t *group;    /* of each agent, for colour; or NULL: one colour */
    const char *const *label; /* of each agent, shown on hover; or NULL: its number */
} tacit_network;

/* `standalone`: a file of its own (XML header and styles); otherwise a piece of a page. Edges
 * that lead out of the agents or from an agent to itself are left out. */
void tacit_draw_network(tacit_writer *out, const tacit_network *network, bool standalone);

#endif
