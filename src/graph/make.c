/* SPDX-License-Identifier: Apache-2.0 */
/* The section "graph" of a configuration, and the way from it to a graph. */
#include <stdlib.h>

#include "base/file.h"
#include "tacit/graph.h"

#define MAX_EDGE_FILE ((size_t)1 << 32)
#define FIELD(name) offsetof(tacit_graph_options, name)

const char *const tacit_graph_kinds[] = {"similarity",  "nearest",        "k-out",    "k-regular",
                                         "ring",        "grid",           "complete", "star",
                                         "erdos-renyi", "watts-strogatz", "edges",    NULL};
static const char *const compares[] = {"targets", "models", "means", NULL};

static const tacit_option options[] = {
    {.key = "kind",
     .type = TACIT_OPT_CHOICE,
     .fallback = "similarity",
     .choices = tacit_graph_kinds,
     .offset = FIELD(kind),
     .help = "who talks to whom"},
    {.key = "compare",
     .type = TACIT_OPT_CHOICE,
     .fallback = "targets",
     .choices = compares,
     .offset = FIELD(compare),
     .help = "similarity, nearest: what is compared; models and means tell of training records"},
    {.key = "gamma",
     .type = TACIT_OPT_REAL,
     .fallback = "0.1",
     .min = 1e-6,
     .max = 1e6,
     .offset = FIELD(gamma),
     .help = "similarity: W = exp((cos(angle) - 1) / gamma)"},
    {.key = "cutoff",
     .type = TACIT_OPT_REAL,
     .fallback = "0.01",
     .min = 0,
     .max = 1,
     .offset = FIELD(cutoff),
     .help = "similarity: weights below are left out"},
    {.key = "draws",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 1e6,
     .offset = FIELD(draws),
     .help = "similarity: compare each agent with this many others, drawn at random; 0: with all"},
    {.key = "k",
     .type = TACIT_OPT_INT,
     .fallback = "10",
     .min = 1,
     .max = 1e6,
     .offset = FIELD(k),
     .help = "nearest, k-out: neighbours each agent chooses; k-regular, watts-strogatz: degree"},
    {.key = "probability",
     .type = TACIT_OPT_REAL,
     .fallback = "0.1",
     .min = 0,
     .max = 1,
     .offset = FIELD(probability),
     .help = "erdos-renyi: of an edge; watts-strogatz: that an edge is rewired"},
    {.key = "fiedler",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1,
     .offset = FIELD(fiedler),
     .help =
         "erdos-renyi: as many edges as give this Fiedler value divided by n; 0: see probability"},
    {.key = "path",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .offset = FIELD(path),
     .value_name = "FILE",
     .help = "edges: a text file with \"a b\" or \"a b weight\" a line"},
};

const tacit_section tacit_graph_section = {.name = "graph",
                                           .options = options,
                                           .count = sizeof options / sizeof *options,
                                           .size = sizeof(tacit_graph_options)};

static tacit_status edges_from_file(tacit_graph *graph, uint32_t agents, const char *path,
                                    tacit_error *err)
{
    if (!path[0])
        return tacit_fail(err, TACIT_EINPUT,
                          "graph.kind \"edges\" needs a file; give it with graph.path");
    char *text = NULL;
    size_t len = 0;
    tacit_status status = tacit_file_read(&text, &len, path, MAX_EDGE_FILE, err);
    if (!status)
        status = tacit_graph_read_edges(graph, agents, path, text, len, err);
    free(text);
    return status;
}

static tacit_status by_angles(tacit_graph *graph, const tacit_graph_options *o, uint32_t agents,
                              const tacit_targets *targets, uint64_t seed, tacit_error *err)
{
    if (!targets || targets->dimension == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "graph.kind \"%s\" compares targets, which these data do not have; "
                          "set graph.compare to \"models\" or \"means\", or take another kind",
                          tacit_graph_kinds[o->kind]);
    if (o->kind == TACIT_GRAPH_NEAREST)
        return tacit_graph_nearest(graph, agents, targets, (uint32_t)o->k, err);
    if (o->draws > 0)
        return tacit_graph_similarity_drawn(graph, agents, targets, o->gamma, o->cutoff,
                                            (uint32_t)o->draws, seed, err);
    return tacit_graph_similarity(graph, agents, targets, o->gamma, o->cutoff, err);
}

tacit_status tacit_graph_make(tacit_graph *graph, const tacit_graph_options *o, uint32_t agents,
                              const tacit_targets *targets, uint64_t seed, tacit_error *err)
{
    const uint32_t k = (uint32_t)o->k;
    *graph = (tacit_graph){0};
    if (o->fiedler > 0 && o->kind != TACIT_GRAPH_ERDOS_RENYI)
        return tacit_fail(err, TACIT_EINPUT,
                          "graph.fiedler goes with graph.kind \"erdos-renyi\", not with \"%s\"",
                          tacit_graph_kinds[o->kind]);
    if (o->draws > 0 && o->kind != TACIT_GRAPH_SIMILARITY)
        return tacit_fail(err, TACIT_EINPUT,
                          "graph.draws goes with graph.kind \"similarity\", not with \"%s\"",
                          tacit_graph_kinds[o->kind]);
    switch ((tacit_graph_kind)o->kind) {
    case TACIT_GRAPH_SIMILARITY:
    case TACIT_GRAPH_NEAREST:
        return by_angles(graph, o, agents, targets, seed, err);
    case TACIT_GRAPH_K_OUT:
        return tacit_graph_k_out(graph, agents, k, seed, err);
    case TACIT_GRAPH_K_REGULAR:
        return tacit_graph_k_regular(graph, agents, k, seed, err);
    case TACIT_GRAPH_RING:
        return tacit_graph_ring(graph, agents, err);
    case TACIT_GRAPH_GRID:
        return tacit_graph_grid(graph, agents, err);
    case TACIT_GRAPH_COMPLETE:
        return tacit_graph_complete(graph, agents, err);
    case TACIT_GRAPH_STAR:
        return tacit_graph_star(graph, agents, err);
    case TACIT_GRAPH_ERDOS_RENYI:
        if (o->fiedler > 0)
            return tacit_graph_wanted_fiedler(graph, agents, o->fiedler, seed, err);
        return tacit_graph_erdos_renyi(graph, agents, o->probability, seed, err);
    case TACIT_GRAPH_WATTS_STROGATZ:
        return tacit_graph_watts_strogatz(graph, agents, k, o->probability, seed, err);
    case TACIT_GRAPH_EDGES:
        return edges_from_file(graph, agents, o->path, err);
    }
    return tacit_fail(err, TACIT_EINPUT, "graph.kind \"%d\" is unknown", o->kind);
}
