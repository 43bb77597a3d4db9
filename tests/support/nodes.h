/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_NODES_H
#define TACIT_TEST_NODES_H
/*
 * A few real nodes in this process, each with its own keys, ledgers and store, the world's agents
 * dealt to them in turn. Frames travel over real links (TCP over loopback, CURVE), or, where a test
 * wants to lose, keep, change and repeat them, through its own hands. The clock is not real: it
 * stands still while a frame is under way and then goes to the next thing that is due, so that
 * nothing depends on how fast the machine is.
 */
#include "net/link.h"
#include "runtime/node/node.h"
#include "testing.h"

enum { NODES_MOST = 8 };

typedef struct nodes nodes;

/* What the test's hands do with a frame on its way: false loses it. */
typedef bool nodes_hand(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len);

typedef struct nodes_log_line {
    char event[32];
    char fields[400];
} nodes_log_line;

typedef struct nodes_place {
    nodes *all;
    uint32_t index;
    tacit_identity identity;
    tacit_link *link; /* NULL: through the test's hands */
    tacit_node *node; /* NULL: it is not there */
    tacit_node_options options;
    uint32_t *agents;
    tacit_node_agent *hosted;
    char (*names)[16];
    uint32_t count;
    uint64_t accept_spent;  /* of the plan */
    bool closed;            /* it has closed its links */
    nodes_log_line log[64]; /* the last ones */
    uint64_t lines;
} nodes_place;

typedef struct nodes_frame {
    uint32_t from, to;
    size_t len;
    uint8_t *bytes;
} nodes_frame;

struct nodes {
    tacit_world world;
    tacit_consortium_options consortium;
    uint8_t run[TACIT_NODE_RUN];
    double until; /* of the run; 0: it has no end of its own */
    tacit_node_member members[NODES_MOST];
    nodes_place place[NODES_MOST];
    uint32_t count;
    bool links;
    nodes_hand *hand; /* may be NULL */
    void *ctx;
    nodes_frame *frames; /* under way, oldest first */
    size_t frame_count, frame_capacity;
    double clock;
    uint64_t sent, received, lives;
    char folder[96];
    tacit_metric_sink *metric;
    void *metric_ctx;
};

/* Keys, members, folder; no node yet. `count` 1 to NODES_MOST. */
tacit_status nodes_init(nodes *all, const tacit_world *world, uint32_t count, bool links,
                        tacit_error *err);
/* Start node k, for the first time or again. */
tacit_status nodes_open(nodes *all, uint32_t k, tacit_error *err);
tacit_status nodes_open_all(nodes *all, tacit_error *err);
/* It is gone, without a word and without a checkpoint. */
void nodes_crash(nodes *all, uint32_t k);
/* All are gone, and the folder too. */
void nodes_clear(nodes *all);

/* Let time pass to `clock` (seconds); the status of the first node that failed. */
tacit_status nodes_run(nodes *all, double clock, tacit_error *err);
/* Deliver what is under way, without letting time pass. */
void nodes_settle(nodes *all);
/* A frame as if node `from` had sent it. */
void nodes_inject(nodes *all, uint32_t from, uint32_t to, const void *bytes, size_t len);

/* Whether a line of that event was logged lately, and with this text in its fields. */
bool nodes_logged(const nodes *all, uint32_t k, const char *event, const char *text);
tacit_node *nodes_host(const nodes *all, tacit_agent agent); /* NULL: not there */
node_agent *nodes_agent(const nodes *all, tacit_agent agent);

#endif
