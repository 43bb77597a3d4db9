/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_KRIGING_H
#define TACIT_PROTOCOL_KRIGING_H
/*
 * Learning about one agent from what others published, by how alike agents are on the public graph
 * (docs/protocols/one-shot.md). Everything here is arithmetic on public values.
 */
#include "tacit/protocol.h"

enum { KRIGING_GEODESIC, KRIGING_POWER };

typedef struct kriging_rules {
    int kernel;
    double gamma;    /* geodesic: an edge W stands for the cosine 1 + gamma log W */
    double kappa;    /* power: W^kappa */
    double likeness; /* a factor for both: the correlation of an edge of weight 1 */
    double common;   /* what any two agents have in common */
} kriging_rules;

/* Somebody who was heard. */
typedef struct kriging_source {
    tacit_agent agent;
    double weight; /* of the edge to it; 0: none */
    double records;
    double noise; /* standard deviation of that on each number */
    const tacit_public *sums;
} kriging_source;

/* Who wants to know, and of what. */
typedef struct kriging_target {
    const kriging_rules *rules;
    const tacit_graph *graph; /* NULL: only own edges are known */
    const double *distance;   /* between all pairs of its agents, or NULL: by edges among those
                                 who were heard and oneself */
    tacit_agent self;
    size_t features; /* numbers of `sums` that matter, from the first */
    double variance; /* of one record's part of such a number */
} kriging_target;

/* Angles along shortest paths between all pairs: agents x agents numbers, infinite where there is
 * no path. For geodesic kernels. */
tacit_status kriging_distances(const tacit_graph *graph, const kriging_rules *rules,
                               double *distance, tacit_error *err);
/* The correlations between oneself (first) and `count` sources: (count + 1)^2 numbers, positive
 * semidefinite, with ones on the diagonal. */
tacit_status kriging_kernel(tacit_env *env, const kriging_target *target,
                            const kriging_source *source, size_t count, double *k);
/* Directions over sources: fills in count, root, pull and seen of `out`, in the event's memory. */
tacit_status kriging_evidence(tacit_env *env, const kriging_target *target,
                              const kriging_source *source, size_t count, const double *k,
                              tacit_evidence *out);

#endif
