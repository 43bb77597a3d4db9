/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_GRAPH_H
#define TACIT_GRAPH_H
/*
 * A weighted, undirected similarity graph over agents, in compressed rows.
 * W_ij = W_ji >= 0, no self-loops; a row's neighbours are sorted by index.
 */
#include "tacit/base.h"
#include "tacit/config.h"
#include "tacit/targets.h"

typedef struct tacit_graph {
    uint32_t agents;
    size_t entries; /* of the arrays below: two for each edge */
    uint64_t *row;  /* agents + 1 offsets into the arrays below */
    uint32_t *neighbour;
    double *weight;
    uint32_t *mirror; /* for e in row i, j = neighbour[e]: neighbour[row[j] + mirror[e]] == i */
    double *degree;   /* D_i = sum_j W_ij */
} tacit_graph;

typedef struct tacit_edge {
    uint32_t a, b;
    double weight;
} tacit_edge;

/* Build from edges, each given once in any order and direction. Refuses self-loops,
 * duplicates, indices out of range and weights that are not finite and positive. */
tacit_status tacit_graph_from_edges(tacit_graph *graph, uint32_t agents, const tacit_edge *edges,
                                    size_t count, tacit_error *err);
/* Paper 000 section 5.1: W_ij = exp((cos(phi_ij) - 1) / gamma) for rows of `targets`
 * (agents x dimension, row-major); weights below `cutoff` are left out. */
tacit_status tacit_graph_similarity(tacit_graph *graph, uint32_t agents, size_t dimension,
                                    const double *targets, double gamma, double cutoff,
                                    tacit_error *err);
/* Each agent draws k neighbours (Erdos-like); symmetrised, weight 1. */
tacit_status tacit_graph_k_out(tacit_graph *graph, uint32_t agents, uint32_t k, uint64_t seed,
                               tacit_error *err);
/* An edge list as text: "a b" or "a b weight" a line (blanks, tabs or commas between; weight 1
 * if left out; '#' starts a comment). An edge may be given once or, with the same weight, in
 * both directions. `name` is the file for messages. */
tacit_status tacit_graph_read_edges(tacit_graph *graph, uint32_t agents, const char *name,
                                    const char *text, size_t len, tacit_error *err);
void tacit_graph_clear(tacit_graph *graph);

/* ---- from the YAML section "graph" ---- */
typedef enum tacit_graph_kind {
    TACIT_GRAPH_SIMILARITY,
    TACIT_GRAPH_NEAREST, /* k nearest by cosine, either end may have chosen */
    TACIT_GRAPH_K_OUT,
    TACIT_GRAPH_K_REGULAR,
    TACIT_GRAPH_RING,
    TACIT_GRAPH_GRID,
    TACIT_GRAPH_COMPLETE,
    TACIT_GRAPH_STAR,
    TACIT_GRAPH_ERDOS_RENYI,
    TACIT_GRAPH_WATTS_STROGATZ,
    TACIT_GRAPH_EDGES, /* a file */
} tacit_graph_kind;

/* What similarity and nearest neighbours compare. */
typedef enum tacit_compare {
    TACIT_COMPARE_TARGETS, /* what the source knows of its agents */
    TACIT_COMPARE_MODELS,  /* models each agent learned alone: says something of its records */
    TACIT_COMPARE_MEANS,   /* mean training record: likewise */
} tacit_compare;

typedef struct tacit_graph_options {
    int kind;    /* tacit_graph_kind */
    int compare; /* tacit_compare */
    double gamma, cutoff;
    int64_t k;
    double probability; /* erdos-renyi: of an edge; watts-strogatz: of rewiring */
    double fiedler;     /* > 0: draw until the Fiedler value divided by n is this */
    char path[TACIT_TEXT_MAX];
} tacit_graph_options;
extern const tacit_section tacit_graph_section;

/* `targets` is for similarity and nearest neighbours; the other kinds need none (NULL). */
tacit_status tacit_graph_make(tacit_graph *graph, const tacit_graph_options *options,
                              uint32_t agents, const tacit_targets *targets, uint64_t seed,
                              tacit_error *err);

/* component[i] = smallest agent index reachable from i; returns how many components. */
uint32_t tacit_graph_components(const tacit_graph *graph, uint32_t *component);

#endif
