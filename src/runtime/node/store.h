/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NODE_STORE_H
#define TACIT_NODE_STORE_H
/*
 * What a node must not forget, in one folder (0700) that one process uses at a time:
 *
 *     node.db               SQLite: which run and identity, incarnation, time, checkpoints, peers
 *     agent-ID.ledger(.key) the ledger of each hosted agent (tacit/ledger.h)
 *     state.key             what states are encrypted under while the run goes on (store_seal.c)
 *
 * A release is one transaction of the agent's ledger: the charge, the frames that tell it and, if
 * it is small enough, the agent's state after it. That blob stays pending in the ledger until the
 * next release replaces it. So after a crash the last frames are there to be sent again as they
 * were, and the state is the one that goes with them. A state that is too large, and what happens
 * between releases, is kept by checkpoints into node.db; restore finds the newer of the two.
 *
 * When a write fails the store is mute: nothing can be released, and no state may be kept, until
 * node_store_revive has opened everything again and charged for what was computed and not
 * written.
 *
 * Without node.db a folder starts a new life from its ledgers: the last words if they are of the
 * same run, and what was spent in any case.
 */
#include "tacit/ledger.h"

typedef struct node_store node_store;

typedef struct node_store_agent {
    tacit_agent agent;
    const char *name;
    tacit_budget budget;
} node_store_agent;

typedef struct node_store_plan {
    const char *folder; /* made if it is not there */
    uint8_t run[16];    /* a folder of another run, identity or set of agents is refused */
    uint8_t identity[32];
    const node_store_agent *agents;
    uint32_t count;
    size_t state_max; /* larger states are not written with every release */
} node_store_plan;

tacit_status node_store_open(node_store **out, const node_store_plan *plan, tacit_error *err);
/* Closes ledgers and database; what must still be charged is. NULL is fine. */
tacit_status node_store_close(node_store *store, double now, tacit_error *err);

/* Larger at every opening, durable before open returns; by wall clock (ms) where that is ahead. */
uint64_t node_store_incarnation(const node_store *store);
/* Larger than `above` from now on, durably: peers remember a later life than we do. */
tacit_status node_store_rise(node_store *store, uint64_t above, tacit_error *err);

/* Was its node.db made by this opening? */
bool node_store_is_new(const node_store *store);

/* Seconds since the run began here, at the time of opening; 0 the first time. Counted by the
 * machine's clock since boot if it did not reboot, else by the wall clock, never backwards, and
 * never by more than `most` past the last checkpoint (0: no limit). */
double node_store_elapsed(node_store *store, double most);

/* The ledger of agent `index` of the plan, for reserve, give_back and looking. Reviving may put
 * another in its place, and ends all its permits. */
tacit_ledger_file *node_store_ledger(node_store *store, uint32_t index);

/* Charge all permits; frames and state in one transaction with the last of them. `state` may be
 * NULL. Without frames and state it only charges: what was released before stays the last. On
 * failure the store is mute, nothing may be sent, and what the permits would have cost is owed;
 * the permits are the store's then, and gone once it is revived. */
tacit_status node_store_release(node_store *store, uint32_t index, tacit_permit *const *permits,
                                size_t count, const void *frames, size_t frames_len,
                                const void *state, size_t state_len, double now, tacit_error *err);
/* The newest state (NULL if there is none), and the frames of the last release (NULL likewise);
 * the caller frees both. `current`: the state goes with that release or comes after it; else it
 * is older than what was told. */
tacit_status node_store_restore(node_store *store, uint32_t index, void **state, size_t *state_len,
                                void **frames, size_t *frames_len, bool *current, tacit_error *err);

/* What a ledger was after so many entries: the beginning of the seal of the last of them. */
#define NODE_STORE_HEAD 16
/* How many entries there are now, and the head; 0 and zeroes before the first, or while mute. */
uint64_t node_store_entries(const node_store *store, uint32_t index, uint8_t head[NODE_STORE_HEAD]);
/* The head after `entries` of them (at least 1). *accepted: that entry stands for one that the
 * owner accepted as spent without knowing it. TACIT_NO: there are not so many. */
tacit_status node_store_past(node_store *store, uint32_t index, uint64_t entries,
                             uint8_t head[NODE_STORE_HEAD], bool *accepted, tacit_error *err);

/* Can so many entries be accepted as spent, for all agents? Refuses, before anything is charged, if
 * nobody knows what a release of some agent costs, and UINT64_MAX without a limit. */
tacit_status node_store_may_accept(const node_store *store, uint64_t entries, tacit_error *err);
/* Charge as often as the costliest release so far costs (of the node's other agents, if this one
 * has none), until there are `entries` of them or the budget allows no more: that many may have
 * been made that the ledger does not know. *charged: how many that were. */
tacit_status node_store_accept(node_store *store, uint32_t index, uint64_t entries, double now,
                               uint64_t *charged, tacit_error *err);

/* A checkpoint: begin, put for each agent, end. One transaction. Refused while mute. What is put
 * for an agent that must stay silent for good is dropped; after node_store_last a state of no bytes
 * takes the place of what was kept of it. */
tacit_status node_store_begin(node_store *store, double elapsed, tacit_error *err);
tacit_status node_store_put(node_store *store, uint32_t index, const void *state, size_t len,
                            tacit_error *err);
tacit_status node_store_end(node_store *store, tacit_error *err);

/* The run has ended. First `last`: states that are put from now on hold no secrets of the run, and
 * need no key. Then, when such a state of every agent is on the disk, `forget`: the key is
 * overwritten and removed, so that nobody can read what was kept before. */
void node_store_last(node_store *store);
tacit_status node_store_forget(node_store *store, tacit_error *err);

/* Why nothing can be written, or NULL. */
const char *node_store_mute(const node_store *store);
/* Try again: opens what broke, and charges what is owed. TACIT_OK: no longer mute. TACIT_EBUDGET:
 * a debt is more than the budget allows, and that agent must stay silent for good. */
tacit_status node_store_revive(node_store *store, double now, tacit_error *err);

/* Does this agent owe more than its budget allows? Then it has said its last word. */
bool node_store_silent(const node_store *store, uint32_t index);

/* Where peers were found last (descriptors as bytes of members_bytes.c or text; opaque here). */
tacit_status node_store_put_peer(node_store *store, const uint8_t identity[32], const void *bytes,
                                 size_t len, tacit_error *err);
typedef tacit_status node_store_peer_visit(void *ctx, const uint8_t identity[32], const void *bytes,
                                           size_t len, tacit_error *err);
tacit_status node_store_each_peer(node_store *store, node_store_peer_visit *visit, void *ctx,
                                  tacit_error *err);

#endif
