/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_CONSORTIUM_H
#define TACIT_CONSORTIUM_H
/*
 * How people describe real peers, from files to a tacit_node_plan, and back. Everybody has the
 * same
 *
 *     consortium.yaml   run, model, protocol, privacy, consortium: what was agreed on
 *     members.csv       name,key,endpoint,agents: who takes part
 *     graph.edges       who is whose neighbour, by numbers of agents
 *
 * and each peer its own
 *
 *     node.yaml         node, data: what concerns nobody else
 *
 * beside its key and its records. A relative path is relative to the file it stands in.
 */
#include "tacit/experiment.h"
#include "tacit/node.h"

/* ---- consortium.yaml ---- */

typedef struct tacit_agreement {
    tacit_experiment
        experiment; /* run, model, protocol and privacy of it; no data, graph, network */
    tacit_consortium_options consortium;
    uint8_t run[TACIT_NODE_RUN];
} tacit_agreement;

/* Files named in it are made paths from here. On failure there is nothing to clear. */
tacit_status tacit_agreement_read(tacit_agreement *agreement, const char *path, tacit_error *err);
void tacit_agreement_clear(tacit_agreement *agreement);
/* As YAML text, complete with defaults (caller frees). */
char *tacit_agreement_yaml(const tacit_agreement *agreement);
/* BLAKE2b over name, seed and time of the run, model, protocol, privacy and consortium, every
 * default written out and without names of files, and the version of the wire. Members and edges
 * are no part of it: they may change during a run. */
tacit_status tacit_agreement_name(tacit_agreement *agreement, tacit_error *err);

/* ---- members.csv ---- */

#define TACIT_ROSTER_AGENTS ((uint32_t)1 << 20) /* numbers of agents are below */
#define TACIT_ROSTER_MEMBERS ((uint32_t)1 << 16)

typedef struct tacit_roster {
    tacit_node_member *members;
    uint32_t count;
    uint32_t agents;   /* the largest number and one */
    uint32_t *host;    /* of each agent: the member; TACIT_ROSTER_MEMBERS: nobody */
    uint32_t *numbers; /* the members' agents, behind each other */
} tacit_roster;

/* The header "name,key,endpoint,agents", then a line a member; agents as in "0-4 7". Lines that
 * are empty or start with # are skipped. Nothing is guessed: what is unclear is refused with file
 * and line. On failure there is nothing to clear. */
tacit_status tacit_roster_parse(tacit_roster *roster, const char *name, const char *text,
                                size_t len, tacit_error *err);
tacit_status tacit_roster_read(tacit_roster *roster, const char *path, tacit_error *err);
void tacit_roster_clear(tacit_roster *roster);
/* The same as text (caller frees; NULL when memory ran out). */
char *tacit_roster_text(const tacit_node_member *members, uint32_t count);

/* ---- a peer ---- */

typedef struct tacit_peer tacit_peer;

/* Reads node.yaml, what it names, the key and the records, and makes a plan of it. `sets` replace
 * settings of node.yaml, as in "node.log=debug"; paths in those are as the caller sees them.
 *
 * The records of a node have as many agents as it hosts. Where records say by numbers whose they
 * are (an agent column with the consortium's numbers), they go to those agents; else the k-th
 * agent of the records is the k-th that is hosted. */
tacit_status tacit_peer_open(tacit_peer **out, const char *path, const char *const *sets,
                             size_t set_count, tacit_error *err);
void tacit_peer_close(tacit_peer *peer);
/* Without log and metrics: copy it and fill them in. */
const tacit_node_plan *tacit_peer_plan(const tacit_peer *peer);
const tacit_agreement *tacit_peer_agreement(const tacit_peer *peer);
/* Its training records, all agents of the node together. */
uint64_t tacit_peer_records(const tacit_peer *peer);
/* What was made of its training records and charged to nobody, in words; returns how many. */
size_t tacit_peer_leaks(const tacit_peer *peer, const char *words[TACIT_LEAKS]);

/* Where its records come from. */
const tacit_data_options *tacit_peer_data(const tacit_peer *peer);

/* ---- its run in the lifetime ledger of its records (tacit/lifetime.h, docs/lifetime.md) ---- */

typedef struct tacit_peer_lifetime {
    char path[4 * TACIT_TEXT_MAX];
    uint64_t reservation;
    tacit_node_lifetime shown; /* for tacit_node_plan.lifetime */
} tacit_peer_lifetime;

/* Whether the run is to be counted: not with "node.lifetime: off", nor if records were drawn. If
 * not, l->shown says why, and nothing else is to be done. */
bool tacit_peer_counts(tacit_peer_lifetime *lifetime, const tacit_peer *peer);
/* When the node was made and before it runs: reserves the budget of the run in the ledger at
 * `path`, or goes on with what was reserved before for the same ledgers. TACIT_EBUDGET: all runs
 * over these records together would exceed their budget; the node must not run. */
tacit_status tacit_peer_reserve(tacit_peer_lifetime *lifetime, const tacit_peer *peer,
                                const tacit_node *node, const char *path, double now,
                                tacit_error *err);
/* When the run has ended well: what it did not spend returns. */
tacit_status tacit_peer_settle(tacit_peer_lifetime *lifetime, const tacit_peer *peer,
                               const tacit_node *node, double now, tacit_error *err);

/* FOLDER/models.npy (0600): the hosted agents' models in their order, a row each, as f64; a NULL
 * model is zero. */
tacit_status tacit_models_save(const char *folder, const tacit_model *model,
                               const tacit_secret *const *models, uint32_t count, tacit_error *err);

/* FOLDER/board.jsonl (board_file.h): what was published of the latest sum that an agent of this
 * node has heard. TACIT_NO: there is none, and nothing was written. */
tacit_status tacit_node_board_save(const tacit_node *node, const tacit_node_plan *plan,
                                   tacit_error *err);

/* ---- many peers on this machine, from an experiment ---- */

#define TACIT_UP_NODES 10000

typedef struct tacit_up_request {
    const char *folder; /* must not exist or be empty */
    uint32_t nodes;
    uint16_t port;                              /* of the first; 0: free ones are found */
    const tacit_consortium_options *consortium; /* unit, end, ...; NULL: defaults */
    const tacit_node_options *node;             /* queue, rate, ...; NULL: defaults */
} tacit_up_request;

/* Writes consortium.yaml, members.csv, graph.edges, budgets.csv (if budgets differ) and
 * node-000/, node-001/, ... with node.yaml, identity.key and data/: the session's agents dealt to
 * nodes in blocks, each with the bits a simulation would give it. What a simulator would find out
 * by looking at everybody is written into the protocol's options. Each node keeps its state in
 * node-000/state/. After a failure nothing is left. */
tacit_status tacit_up_prepare(tacit_session *session, const tacit_up_request *request,
                              tacit_error *err);

typedef struct tacit_up_result {
    tacit_snapshot now; /* objective and scores of the models; `time` is 0 */
    uint32_t missing;   /* agents without a model: they count as zero */
    double optimum;     /* the least objective there is; NaN if there is none */
    double distance;    /* the largest |theta_i - theta_i*| / |theta_i*|; NaN likewise */
} tacit_up_result;

/* Looks at what the nodes of such a folder left in state/models.npy, with the eyes of the
 * simulator. */
tacit_status tacit_up_measure(tacit_session *session, const char *folder, tacit_up_result *out,
                              tacit_error *err);

#endif
