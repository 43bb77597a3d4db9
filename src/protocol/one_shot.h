/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_ONE_SHOT_H
#define TACIT_PROTOCOL_ONE_SHOT_H
/* Inside of the protocol one-shot: one_shot.c speaks and listens, one_shot_finish.c learns. */
#include <stddef.h>

#include "protocol/kriging.h"
#include "protocol/spending.h"

enum { ONE_SHOT_WORD = 1 }; /* kind of a message */
/* Its segments, and what stands in the second. */
enum { WORD_SUMS, WORD_ABOUT, WORD_AGENT, WORD_SEGMENTS };
enum { ABOUT_RECORDS, ABOUT_NOISE, ABOUT_NUMBERS };

enum { REACH_NEIGHBOURS, REACH_ALL };
enum { PRIOR_DENSE, PRIOR_SPARSE };

typedef struct one_shot_options {
    bool share;
    int reach;
    kriging_rules rules;
    int prior;
    double dense;
    double size;
    double radius, most;
    int64_t sources;
} one_shot_options;

typedef struct one_shot_shared {
    one_shot_options options;
    const tacit_graph *graph;
    double *distance; /* reach: all and a geodesic kernel */
    size_t agents;    /* reach: all */
    size_t features;
    bool squared;
    bool noisy, budgets; /* the run; agents' own, that differ */
    const tacit_shape *model;
    tacit_shape word;
    spending costs;
} one_shot_shared;

typedef struct one_shot_agent {
    const tacit_public *own;     /* what was said; NULL: nothing */
    const tacit_secret *kept;    /* what was learned */
    const tacit_public *heard[]; /* words: one a neighbour; reach: all: one an agent */
} one_shot_agent;

/* What protocol.likeness is by default: 1, but less where all weights are the same. */
double one_shot_likeness(const tacit_graph *graph);
size_t one_shot_room(const one_shot_shared *s, uint32_t neighbours);
/* Learn, from what was heard and own records. */
tacit_status one_shot_finish(tacit_env *env, const one_shot_shared *s, one_shot_agent *self);

#endif
