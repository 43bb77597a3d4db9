/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NODE_H
#define TACIT_NODE_H
/*
 * A node: one real peer. It hosts some of a consortium's agents with their records and ledgers,
 * and speaks to the peers that host the others over encrypted links. Protocols are the same as in
 * the simulator. docs/peers.md says what it promises.
 *
 * A program fills in a tacit_node_plan (or reads node.yaml into one: tacit/consortium.h), creates
 * the node and runs it. One thread uses a node.
 */
#include "tacit/runtime.h"

#define TACIT_NODE_KEY 32 /* bytes of a public key */
#define TACIT_NODE_RUN 16

/* ---- what all members of a consortium agree on ---- */

typedef enum tacit_node_end {
    TACIT_END_TIME,     /* at run.time, by each node's own clock */
    TACIT_END_TICKS,    /* when each of its agents has woken run.time times */
    TACIT_END_AGREEMENT /* when what agents say has stopped changing, or at run.time */
} tacit_node_end;

/* YAML section "consortium". */
typedef struct tacit_consortium_options {
    char members[TACIT_TEXT_MAX]; /* file: name,key,endpoint,agents */
    char edges[TACIT_TEXT_MAX];   /* file: who is whose neighbour, as for graph.path */
    double unit;                  /* seconds that a unit of time lasts: an agent's mean wait */
    int end;                      /* tacit_node_end */
    double tolerance;             /* agreement: how much a word may differ from the one before */
    int64_t hops;                 /* agreement: so many hops around must be quiet */
    double largest;               /* no number in a message may be larger in size */
} tacit_consortium_options;
extern const tacit_section tacit_consortium_section;

/* One peer of the consortium; its agents' numbers are sorted. */
typedef struct tacit_node_member {
    char name[64];
    uint8_t key[TACIT_NODE_KEY];
    char endpoint[64]; /* "tcp://host:port"; "": it will find us */
    const uint32_t *agents;
    uint32_t count;
} tacit_node_member;

/* ---- what a node decides for itself: YAML section "node" ---- */

typedef struct tacit_node_options {
    char name[TACIT_TEXT_MAX];       /* which member it is; "": found by its key */
    char consortium[TACIT_TEXT_MAX]; /* file: the agreement */
    char key[TACIT_TEXT_MAX];        /* file: its identity, made by tacit keygen */
    char folder[TACIT_TEXT_MAX];     /* ledgers, checkpoints, log, models */
    char listen[TACIT_TEXT_MAX];     /* "tcp://0.0.0.0:7400"; "": its endpoint in the list */
    char advertise[TACIT_TEXT_MAX];  /* where others reach it; "": its endpoint in the list */
    char status[TACIT_TEXT_MAX];     /* "127.0.0.1:7401": /metrics, /health, /status; "": none */
    bool open;                       /* peers that are not on the list may connect, too */
    bool moved;                      /* members may be found where the list does not say */
    int64_t frame;                   /* largest frame, bytes; 0: what the protocol needs */
    int64_t queue;                   /* frames that wait for one peer */
    double rate, burst;              /* frames a second from one peer */
    int64_t asked;                   /* releases of an agent at another's request, in all */
    double heartbeat;                /* seconds between pings */
    double patience;                 /* seconds to wait for neighbours at the start and the end */
    double checkpoint;               /* seconds between checkpoints */
    int log;                         /* tacit_log_level: what is not logged below */
    /* Its records' budget over all runs (tacit/lifetime.h): */
    char lifetime[TACIT_TEXT_MAX]; /* file; "": where the program keeps it; "off": not counted */
    char data_set[TACIT_TEXT_MAX]; /* the owner's name for the records; "": found or made up */
    char records[TACIT_TEXT_MAX];  /* file: the records as they were given; "": data.path */
    double lifetime_epsilon, lifetime_delta; /* set once; 0: what is there, or the run's own */
} tacit_node_options;
extern const tacit_section tacit_node_section;

typedef enum tacit_log_level {
    TACIT_LOG_DEBUG,
    TACIT_LOG_INFO,
    TACIT_LOG_WARN,
    TACIT_LOG_ERROR
} tacit_log_level;
/* Something happened: `event` is a stable id ("peer_down"), `fields` the inside of a JSON object
 * ("\"peer\":\"ward-b\",\"silence\":4.2"). Never anything secret. */
typedef void tacit_node_log(void *ctx, tacit_log_level level, const char *event,
                            const char *fields);

/* How the run counts in the lifetime ledger of its records, for status and results. */
#define TACIT_NODE_LIFETIME_WORDS 160
typedef struct tacit_node_lifetime {
    bool counted;
    char why_not[TACIT_NODE_LIFETIME_WORDS];
    char data_set[TACIT_NAME_MAX]; /* its name in that ledger */
    double epsilon, delta;         /* the budget of the data set */
    double before;                 /* epsilon of all other runs over it, at that delta */
    double spent;                  /* with this one: reserved, at the end what it took */
} tacit_node_lifetime;

/* ---- a plan: all of it is borrowed and must outlive the node ---- */

/* A hosted agent; neighbours are sorted by number. */
typedef struct tacit_node_agent {
    uint32_t agent; /* its number in the consortium */
    uint32_t shard; /* and in `data` */
    const char *name;
    double epsilon;
    uint32_t neighbours;
    const uint32_t *neighbour;
    const double *weight;
} tacit_node_agent;

typedef struct tacit_node_plan {
    const tacit_node_options *options;
    const tacit_consortium_options *consortium;
    uint8_t run[TACIT_NODE_RUN]; /* names what was agreed on: another run's messages are refused */
    const struct tacit_identity *identity;
    const tacit_node_member *members; /* all, this one included */
    uint32_t member_count, self;
    uint32_t agents;          /* in the whole consortium */
    const tacit_graph *graph; /* of all agents, for protocols that are TACIT_WHOLE; else NULL */
    const tacit_node_agent *hosted;
    uint32_t hosted_count;
    const tacit_dataset *data; /* NULL: agents without records */
    const tacit_model *model;  /* NULL with data */
    const tacit_protocol *protocol;
    const void *protocol_options;
    tacit_privacy_options privacy;
    double until; /* run.time */
    /* Each agent's ledger is charged up to so many releases before anything else, and the node does
     * not wait for its neighbours to tell whether its ledgers are the latest. 0: it waits;
     * UINT64_MAX: everything is charged. */
    uint64_t accept_spent;
    tacit_node_log *log;
    void *log_ctx;
    tacit_metric_sink *metric; /* may be NULL; private ones are for the owner */
    void *metric_ctx;
    const tacit_node_lifetime *lifetime; /* shown with its status; NULL: not known */
} tacit_node_plan;

typedef struct tacit_node tacit_node;

/* Checks the plan, opens or resumes the folder, listens. A node counts its own run only: what other
 * runs over the same records have spent is counted by tacit_peer_reserve, before tacit_node_run,
 * and tacit_peer_settle, after it (tacit/consortium.h). */
tacit_status tacit_node_create(tacit_node **out, const tacit_node_plan *plan, tacit_error *err);
/* To the end of the run, or until *stop: then TACIT_EINTERRUPTED, everything saved. TACIT_EVERIFY:
 * peers have heard more of us than our ledger knows. */
tacit_status tacit_node_run(tacit_node *node, const tacit_stop *stop, tacit_error *err);
void tacit_node_destroy(tacit_node *node);
/* The port its status is shown at, once created; 0: none. */
uint16_t tacit_node_status_port(const tacit_node *node);

/* The model of hosted agent `index`, NULL if it has none yet. */
const tacit_secret *tacit_node_model(const tacit_node *node, uint32_t index);
/* What hosted agent `index` has released and was charged for. */
const struct tacit_ledger_file *tacit_node_ledger(const tacit_node *node, uint32_t index);
/* The chance that something else than noise fails (tacit_protocol.more_delta). */
double tacit_node_more_delta(const tacit_node *node);
/* What was published of the last sum that it heard (tacit_protocol.board); tacit_board_clear when
 * done. TACIT_NO: there is nothing. */
tacit_status tacit_node_board(const tacit_node *node, uint32_t index, struct tacit_board *out);

/* ---- what it looks like: for /metrics, /status and tables ---- */

typedef struct tacit_node_peer_row {
    const char *name;
    uint8_t key[TACIT_NODE_KEY];
    char endpoint[64];
    int health;        /* tacit_health: 0 up, 1 slow, 2 down */
    bool met;          /* ever heard in this life */
    bool ended;        /* says that its agents are done */
    double silence;    /* seconds since it was heard */
    double round_trip; /* of the last ping, seconds; NaN: none yet */
    uint64_t frames_in, bytes_in, frames_out, bytes_out;
    uint64_t over_rate, queue_full, resent;
    uint64_t refused; /* frames of it that were not what they should be */
} tacit_node_peer_row;

typedef struct tacit_node_agent_row {
    uint32_t agent;
    const char *name;
    uint64_t ticks, releases, messages_in, messages_out;
    double epsilon, budget, delta; /* spent so far, at delta; infinity: unbounded */
    bool spent;                    /* the ledger refused */
} tacit_node_agent_row;

/* Frames that were refused, by why. */
typedef enum tacit_node_refusal {
    TACIT_REFUSED_GARBAGE,  /* no frame of ours, or cut */
    TACIT_REFUSED_VERSION,  /* another version of the wire */
    TACIT_REFUSED_RUN,      /* another run or protocol */
    TACIT_REFUSED_SENDER,   /* speaks for an agent it does not host */
    TACIT_REFUSED_RECEIVER, /* for an agent that is not here, or not its neighbour */
    TACIT_REFUSED_REPLAY,   /* heard before */
    TACIT_REFUSED_PAYLOAD,  /* not of the declared shape, not finite, or too large */
    TACIT_REFUSED_ROLLBACK, /* its ledger is older than what it told before */
    TACIT_REFUSED_REQUEST,  /* asks for more than it may, or answers what nobody asked */
    TACIT_REFUSALS
} tacit_node_refusal;
extern const char *const tacit_node_refusal_names[TACIT_REFUSALS]; /* "garbage", ... */

typedef struct tacit_node_status {
    const char *name, *protocol;
    const char *phase;                        /* "meeting", "running", "waiting", "ended" */
    const char *mute;                         /* why it only listens or waits, or NULL */
    const char *adversary, *unit, *adjacency; /* what the epsilon of its agents is about */
    uint8_t run[TACIT_NODE_RUN];
    uint64_t incarnation;
    double time, until; /* in units of the protocol */
    uint64_t quiet;
    tacit_traffic traffic;
    uint64_t refused[TACIT_REFUSALS];
    uint64_t handshakes, handshakes_refused;
    uint64_t input_waiting; /* bytes that peers have sent and this node has not taken yet */
    uint64_t checkpoints;
    uint64_t ticks_shed; /* skipped, unpaid, because the node was late for them */
    tacit_node_peer_row *peers;
    uint32_t peer_count;
    tacit_node_agent_row *agents;
    uint32_t agent_count;
    const tacit_node_lifetime *lifetime; /* NULL: not known */
} tacit_node_status;
/* Texts are the node's and good until its next call. */
tacit_status tacit_node_look(const tacit_node *node, tacit_node_status *out, tacit_error *err);
void tacit_node_status_clear(tacit_node_status *status);

#endif
