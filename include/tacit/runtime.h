/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_RUNTIME_H
#define TACIT_RUNTIME_H
/*
 * A runtime gives agents time, neighbours and messages. The simulator is one; MPI and
 * real nodes are others. tests/conformance/ holds what all of them must do.
 */
#include "tacit/data.h"
#include "tacit/graph.h"
#include "tacit/model.h"
#include "tacit/privacy.h"
#include "tacit/protocol.h"

typedef enum tacit_latency_kind {
    TACIT_LATENCY_ZERO,
    TACIT_LATENCY_CONSTANT,
    TACIT_LATENCY_EXPONENTIAL /* floor + exponential */
} tacit_latency_kind;

/* Options of the YAML section "network": what a simulated network does to messages. */
typedef struct tacit_network_options {
    int latency;          /* tacit_latency_kind */
    double latency_floor; /* the constant, or the least */
    double latency_mean;  /* mean of the exponential part */
    double loss;          /* probability that a message does not arrive */
    double mean_up;       /* mean time an agent stays online; infinity: always */
    double mean_down;
} tacit_network_options;
extern const tacit_section tacit_network_section;

/* All of it is borrowed and must outlive the runtime. */
typedef struct tacit_world {
    const tacit_graph *graph;
    const tacit_dataset *data; /* NULL: agents without records (conformance tests) */
    const tacit_model *model;  /* NULL with data */
    const tacit_protocol *protocol;
    const void *protocol_options;
    tacit_network_options network;
    tacit_privacy_options privacy;
    uint64_t seed;
    uint64_t noise_seed; /* of noise and lots alone; 0: those of `seed` */
    bool secret; /* all streams have keys of the system instead, and no number repeats them */
    uint32_t threads;
    const double *epsilon; /* budget of each agent; NULL: privacy.epsilon for all */
    tacit_costs *costs;    /* shared by runs that cost alike, for audits; NULL: the runtime's own */
    double until;          /* the time to which it will be run, if that is settled; 0: it is not */
} tacit_world;

typedef struct tacit_traffic {
    uint64_t ticks; /* wake events handled */
    uint64_t broadcasts;
    uint64_t messages; /* one for each receiver */
    uint64_t delivered;
    uint64_t lost;  /* by the network or because the receiver was offline */
    uint64_t bytes; /* payload bytes of `messages` */
    uint64_t releases;
    uint64_t refused; /* releases the ledger refused */
} tacit_traffic;

/* Called for every public or private metric a protocol emits. */
typedef void tacit_metric_sink(void *ctx, double time, tacit_agent agent, const char *name,
                               double value, bool is_private);

#define TACIT_AGENT_KEY 32 /* bytes of a public key (Ed25519) */

/* As what a simulated agent signs: "agent-7". */
#define TACIT_SIMULATED_NAME 20
void tacit_simulated_name(char name[TACIT_SIMULATED_NAME], uint32_t agent);

typedef struct tacit_runtime tacit_runtime;
typedef struct tacit_runtime_ops {
    const char *name;
    tacit_status (*create)(tacit_runtime **out, const tacit_world *world, tacit_error *err);
    /* Run until `time` (inclusive) or until *stop becomes non-zero (then
     * TACIT_EINTERRUPTED, at a point from which save and a later run go on with the same
     * bytes). The first call starts the agents. */
    tacit_status (*run)(tacit_runtime *rt, double time, const tacit_stop *stop, tacit_error *err);
    tacit_status (*finish)(tacit_runtime *rt, tacit_error *err); /* TACIT_FINISH to all */
    double (*now)(const tacit_runtime *rt);
    tacit_traffic (*traffic)(const tacit_runtime *rt);
    const void *(*shared)(const tacit_runtime *rt); /* the protocol's, after setup */
    const tacit_secret *(*agent_model)(const tacit_runtime *rt, tacit_agent agent);
    const tacit_ledger *(*agent_ledger)(const tacit_runtime *rt, tacit_agent agent);
    void *(*agent_state)(const tacit_runtime *rt, tacit_agent agent);
    /* What its signatures are checked by. */
    void (*agent_key)(const tacit_runtime *rt, tacit_agent agent, uint8_t key[TACIT_AGENT_KEY]);
    tacit_status (*save)(const tacit_runtime *rt, tacit_saver *saver);
    tacit_status (*load)(tacit_runtime *rt, tacit_loader *loader);
    void (*destroy)(tacit_runtime *rt);
} tacit_runtime_ops;

struct tacit_runtime {
    const tacit_runtime_ops *ops;
    tacit_metric_sink *metric; /* may be NULL */
    void *metric_ctx;
    struct tacit_trace *trace; /* may be NULL; records all that crosses environments */
};

extern const tacit_runtime_ops tacit_simulator;

/* ---- trace: an environment around an environment ---- */
typedef enum tacit_trace_kind {
    TACIT_TRACE_EVENT, /* came in */
    TACIT_TRACE_SEND,
    TACIT_TRACE_REQUEST,
    TACIT_TRACE_REPLY,
    TACIT_TRACE_TIMER,
    TACIT_TRACE_RESERVE,
    TACIT_TRACE_RELEASE,
    TACIT_TRACE_METRIC,
    TACIT_TRACE_GIVE
} tacit_trace_kind;

typedef struct tacit_trace_row {
    double time;
    tacit_agent agent;
    tacit_trace_kind kind;
    tacit_event_type event; /* TACIT_TRACE_EVENT only */
    tacit_agent peer;
    tacit_address at;
    uint64_t id;
    tacit_status status;         /* what the inner environment answered */
    const tacit_public *payload; /* kept: equal pointers mean the shared buffer */
    const char *name;            /* metric or cost */
    double value;
} tacit_trace_row;

typedef struct tacit_trace tacit_trace;
tacit_trace *tacit_trace_create(void);
void tacit_trace_free(tacit_trace *trace);
size_t tacit_trace_rows(const tacit_trace *trace, const tacit_trace_row **rows);
/* Record an event that is about to be handled. */
void tacit_trace_event(tacit_trace *trace, const tacit_env *inner, const tacit_event *event);
/* Look at what agents release, as it happens (`released` is good during the call), instead of
 * keeping rows. Of what they give to sums only the sums are seen, released by TACIT_NOBODY. */
typedef void tacit_release_watcher(void *ctx, tacit_agent agent, const tacit_cost *cost,
                                   const tacit_public *released);
void tacit_trace_watch(tacit_trace *trace, tacit_release_watcher *watch, void *ctx);
/* A sum over all agents became public. */
void tacit_trace_sum(tacit_trace *trace, const tacit_cost *cost, const tacit_public *sum);
/* `wrapper` must live as long as the returned environment is used. */
typedef struct tacit_traced {
    tacit_trace *trace;
    tacit_env inner;
} tacit_traced;
tacit_env tacit_trace_wrap(tacit_traced *wrapper, tacit_trace *trace, tacit_env inner);

#endif
