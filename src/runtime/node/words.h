/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NODE_WORDS_H
#define TACIT_NODE_WORDS_H
/*
 * What a node looks like, as text: JSON for programs and tables, the text format of Prometheus
 * (version 0.0.4) for graphs and alarms, and whether it is well. All of it comes from a
 * tacit_node_status, which holds nothing secret. An epsilon is never told without adversary,
 * unit, adjacency and delta; one without bound is null with "unbounded": true in JSON and +Inf in
 * metrics. Texts of peers are escaped, and so are names that are no UTF-8.
 *
 * A node may have thousands of peers and agents. Rows are limited, so that an answer fits into
 * HTTP_ANSWER; counts, sums and the largest epsilon are of all.
 */
#include "base/writer.h"
#include "tacit/node.h"

enum { NODE_WORDS_ROWS = 1000, NODE_WORDS_SERIES = 200 }; /* peers and agents: JSON, metrics */

/* Schema tacit.node/1. */
void node_words_json(tacit_writer *out, const tacit_node_status *s);
void node_words_metrics(tacit_writer *out, const tacit_node_status *s);
/* {"status": "ok"}, or "mute" with why. Returns 200 or 503. */
int node_words_health(tacit_writer *out, const tacit_node_status *s);

/* The answer to `path` of the status port; see http_answer. */
int node_words_page(const tacit_node_status *s, const char *path, tacit_writer *body,
                    const char **type);

/* ---- what is said of all agents or peers together ---- */
typedef struct node_sums {
    uint64_t messages_in, messages_out, refused;
    uint32_t health[3];   /* peers: up, slow, down */
    uint32_t exhausted;   /* agents whose ledger refused */
    double epsilon;       /* the most an agent has spent, */
    double budget, delta; /* and its budget and delta; NaN: no agent */
} node_sums;
void node_words_sums(node_sums *out, const tacit_node_status *s);
/* 0, 1 or 2 for tacit_health, whatever the number says. */
uint32_t node_words_health_of(const tacit_node_peer_row *row);
extern const char *const node_words_health_names[3];
/* 16 bytes: a run, or the beginning of a key, which tells peers apart even if they choose the same
 * name. */
void node_words_hex(char text[33], const uint8_t bytes[16]);

#endif
