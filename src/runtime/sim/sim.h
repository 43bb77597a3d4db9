/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_SIM_H
#define TACIT_SIM_H
/*
 * The simulator's own structures.
 *
 *   sim.c         create, destroy, start, finish, the operations of tacit_runtime_ops
 *   world.c       what agents see: the environment, sending, the simulated network
 *   deliver.c     handing one event to one agent
 *   engine.c      which events run when; windows of latency on many threads
 *   lanes.c       ticks at zero latency on many threads
 *   groups.c      sums over all agents
 *   signatures.c  keys that agents sign with
 *   tick.h        one tick, and fetching what the next ones need
 *   persist.c     checkpoints
 *   clock.c       ticks that are to come (everything else: runtime/queue.h)
 */
#include "base/pool.h"
#include "base/scratch.h"
#include "base/threads.h"
#include "privacy/release.h"
#include "runtime/queue.h"
#include "runtime/sim/clock.h"
#include "tacit/random.h"
#include "tacit/runtime.h"

typedef struct sim sim;
typedef struct sim_lanes sim_lanes;
typedef struct sim_groups sim_groups;
typedef struct sim_signatures sim_signatures;

/* A request that waits for its reply; a list for each agent. */
typedef struct sim_request {
    uint64_t id;
    struct sim_request *next;
} sim_request;

/* What the runtime remembers of an agent beside its clock, state and ledger. */
typedef struct sim_agent {
    uint64_t counter; /* messages, requests and timers so far: names their random draws */
    uint32_t peers;   /* peers sampled so far */
    uint32_t toggles; /* times it went or came back: odd = offline */
    double toggle_at; /* next time; infinity without churn */
} sim_agent;

typedef struct sim_metric {
    double time;
    uint32_t agent;
    bool is_private;
    const char *name;
    double value;
    size_t place; /* keeps one agent's metrics of one time in order */
} sim_metric;

/* What a payload was found to be, while it is kept: many agents ask the same. */
typedef struct sim_known {
    tacit_vector *of; /* one reference; NULL: nothing */
    uint32_t segment;
    tacit_gist gist;
} sim_known;

/* A thread's own things. An environment's ctx points here. */
typedef struct sim_worker {
    sim *sim;
    tacit_pool *pool;
    tacit_scratch *scratch;
    /* the handler that runs now */
    uint32_t agent;
    tacit_event_type handling;
    double now;
    tacit_facts facts;
    tacit_env env;
    tacit_traced traced;
    tacit_share_law share; /* of the sum that agents give to */
    sim_known known;
    /* records of the next agent that are still to be asked for, a few at every event */
    const char *fetch, *fetch_end;
    /* what it produced */
    runtime_event *out; /* for the queue, at the end of the window */
    size_t out_count, out_capacity;
    sim_metric *metric;
    size_t metric_count, metric_capacity;
    tacit_traffic traffic;
    /* the first failure */
    tacit_status status;
    double failed_at;
    uint32_t failed; /* agent */
    tacit_error failure;
    tacit_error error; /* of the handler at hand */
    /* events of the agent at hand that fall into the window at hand */
    double window_end;
    runtime_queue soon;
    const runtime_event **turn; /* in order; room of its own */
    size_t turn_capacity;
} sim_worker;

/* Whom an event of the batch is for, and where it is there. */
typedef struct sim_place {
    uint32_t to, event;
} sim_place;

typedef enum sim_phase { SIM_NEW, SIM_RUNNING, SIM_FINISHED } sim_phase;

struct sim {
    tacit_runtime runtime; /* first: a tacit_runtime* is a sim* */
    tacit_world world;
    uint32_t flags; /* the protocol's, with these options */
    uint32_t agents;
    sim_phase phase;
    double now;
    tacit_random random;
    uint8_t run[TACIT_RUN_ID]; /* names it: a hash of its keys */
    sim_signatures *signatures;
    tacit_budget budget;
    sim_clock *clock; /* NULL: the protocol has no clock */
    runtime_queue queue;
    void *shared;
    unsigned char *state;
    uint64_t *state_at; /* agents + 1 offsets */
    sim_agent *agent;
    tacit_costs *costs;
    tacit_ledger *ledger;
    tacit_ledger_entry *entries; /* what ledgers start with */
    sim_request **request;       /* NULL unless the protocol is chatty */
    tacit_secret *oracle;
    tacit_threads *threads;
    sim_worker *worker; /* one a thread */
    bool direct;        /* zero latency and not chatty: deliver inside send */
    bool churn;
    bool together; /* all are told of something (the start, a sum): sends wait until all were */
    /* room for the engine */
    sim_lanes *lanes;     /* NULL unless many threads share the ticks */
    sim_groups *groups;   /* NULL unless the protocol gives to sums */
    runtime_event *batch; /* of the window at hand, or what is known of the next */
    size_t batch_count, batch_capacity;
    double batch_begin; /* its earliest time; infinity when empty */
    sim_place *place, *sorted;
    size_t place_capacity;
    size_t *group;
    size_t group_count, group_capacity;
};

static inline void *sim_state(const sim *s, uint32_t agent)
{
    return s->state + s->state_at[agent];
}
/* What `agent` may spend in all. */
static inline tacit_budget sim_budget(const sim *s, uint32_t agent)
{
    tacit_budget budget = s->budget;
    if (s->world.epsilon)
        budget.epsilon = s->world.epsilon[agent];
    return budget;
}
static inline bool sim_online(const sim *s, uint32_t agent)
{
    return !(s->agent[agent].toggles & 1);
}

/* world.c */
extern const tacit_env_ops sim_env_ops;
/* Queue an event, or keep it for the window at hand; takes over the payload reference. */
tacit_status sim_post(sim_worker *w, const runtime_event *event);
double sim_next_toggle(const sim *s, uint32_t agent);

/* deliver.c */
/* Run the handler of `agent`; failures are noted in the worker. */
void sim_handle(sim_worker *w, uint32_t agent, double now, const tacit_event *event);
/* An event whose time has come: checks that the receiver is online, unwraps, handles, drops. */
void sim_deliver(sim_worker *w, const runtime_event *event);
uint32_t sim_slot(const sim *s, uint32_t agent, uint32_t peer);
void sim_fail(sim_worker *w, double now, tacit_status status, const char *why);

/* engine.c */
tacit_status sim_run_until(sim *s, double until, const tacit_stop *stop, tacit_error *err);
void sim_engine_clear(sim *s);
/* Ticks and queue before `end` one by one, in order of time. */
tacit_status sim_merge(sim *s, const sim_tick *tick, size_t count, double end, tacit_error *err);
/* Move what workers produced to the queue and the metric sink; report the first failure. */
tacit_status sim_collect(sim *s, tacit_error *err);

/* lanes.c */
sim_lanes *sim_lanes_create(uint32_t agents, uint32_t count);
void sim_lanes_free(sim_lanes *lanes);
/* Run a window before *end on many threads; *end is lowered to where it ended. */
tacit_status sim_run_lanes(sim *s, double *end, tacit_error *err);

/* groups.c */
#define SIM_NOBODYS_NOISE (TACIT_NOBODY - 1) /* whose stream the noise of sums is drawn from */
sim_groups *sim_groups_create(void);
void sim_groups_free(sim_groups *groups);
tacit_status sim_give(void *ctx, tacit_address at, uint64_t round, double closes,
                      tacit_permit *permit, tacit_bounded *bounded, const tacit_public *beside);
/* When the next round closes; infinity if none is open. */
/* An error if no sum was ever heard although agents gave to one: budgets spent on nothing. */
tacit_status sim_groups_finish(const sim *s, tacit_error *err);
double sim_groups_next(const sim *s);
/* Close that round and tell everybody. */
tacit_status sim_groups_close(sim *s, tacit_error *err);
void sim_groups_save(const sim *s, tacit_saver *saver);
void sim_groups_load(sim *s, tacit_loader *loader);

/* signatures.c */
sim_signatures *sim_signatures_create(uint32_t agents);
void sim_signatures_free(sim_signatures *signatures);
void sim_agent_key(const tacit_runtime *rt, tacit_agent agent, uint8_t key[TACIT_AGENT_KEY]);
tacit_status sim_sign(void *ctx, const void *text, size_t len, uint8_t signature[TACIT_SIGNATURE]);
tacit_status sim_verify(void *ctx, tacit_agent agent, const void *text, size_t len,
                        const uint8_t signature[TACIT_SIGNATURE]);

/* persist.c */
void sim_save_cost(tacit_saver *saver, const tacit_cost *cost);
const tacit_cost *sim_load_cost(sim *s, tacit_loader *loader); /* kept; NULL: no such cost */
tacit_status sim_save(const tacit_runtime *rt, tacit_saver *saver);
tacit_status sim_load(tacit_runtime *rt, tacit_loader *loader);

#endif
