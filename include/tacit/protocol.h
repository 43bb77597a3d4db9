/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_H
#define TACIT_PROTOCOL_H
/*
 * A protocol is one const struct in one file of src/protocol/, and one line in
 * src/protocol/registry.c. See docs/adding-a-protocol.md.
 */
#include "tacit/checkpoint.h"
#include "tacit/env.h"
#include "tacit/graph.h"

struct tacit_board;

/* What a protocol may know before agents exist. */
typedef struct tacit_setup {
    uint64_t agents;
    const tacit_model *model;
    size_t max_records;        /* largest m_i: simulator only, 0 on a node */
    const tacit_shard *pooled; /* all training data: trust `central` in the simulator only */
    tacit_secret *oracle;      /* with `pooled`: room for one model, kept until teardown */
    const tacit_privacy_options *privacy;
    const double *epsilon;    /* one an agent, if budgets differ; NULL: privacy->epsilon for all */
    tacit_costs *costs;       /* for tacit_costs_vouch; NULL on a node */
    const tacit_graph *graph; /* who is near whom, as far as it is public; NULL on a node unless
                                 the protocol is TACIT_WHOLE */
    const uint32_t *records;  /* m_i of every agent, public for unit record under
                               * `replace` only; NULL on a node */
    double until;             /* when the run ends, if that is settled; 0: it is not */
} tacit_setup;

/* tacit_protocol.flags */
enum {
    TACIT_WAKES = 1,  /* wants a Poisson clock */
    TACIT_CHATTY = 2, /* sends while handling messages or to strangers, has timers or requests */
    TACIT_ORACLE = 4, /* needs pooled data: simulator only */
    TACIT_GROUPS = 8, /* gives to sums over all agents (tacit_give) */
    TACIT_OWN_BOUND = 16, /* bounds records by protocol.radius: privacy.clip has no effect */
    TACIT_WHOLE = 32,     /* must know the whole graph (setup.graph), on a node, too */
    TACIT_EVERYBODY = 64, /* everybody may talk to everybody, and a start or an end that some miss
                             hurts: a node meets all members, not only those of its neighbours */
    TACIT_NETS = 128      /* learns neural nets, too: all it asks of a model is its gradient */
};

typedef struct tacit_protocol {
    const char *name;
    const char *summary; /* one lower-case line for --help */
    uint32_t wire_id;    /* never reused */
    tacit_trust trust;
    /* Optional: the trust model where it depends on the options; `trust` is that of the defaults.
     */
    tacit_trust (*trust_for)(const void *options);
    /* Optional: what that adversary sees, more exactly than the trust model's words; `options`
     * NULL: with defaults, and by the names of the options that matter. */
    void (*sees)(char *out, size_t size, const void *options);
    /* Optional, after setup: the chance that something else than noise fails, such as sums over a
     * random graph of partners. A statement's delta is that of the noise and this. */
    double (*more_delta)(const void *shared);
    uint32_t flags;
    /* Optional: the flags where they depend on the options; `flags` are those of the defaults. */
    uint32_t (*flags_for)(const void *options);
    tacit_section options; /* section name "protocol"; struct size in .size */

    /* Once a run: check options against the setup; may fill `shared` (shared_size bytes,
     * zeroed, read-only afterwards). */
    size_t shared_size;
    tacit_status (*setup)(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err);
    void (*teardown)(void *shared);

    /* What a message of this address holds, NULL if there is none such: so a runtime can
     * check, decode and restore payloads. Not needed by protocols that never speak. */
    const tacit_shape *(*payload)(const void *shared, tacit_address at);

    /* Bytes of one agent's state; zeroed before TACIT_START. */
    size_t (*agent_size)(const void *shared, uint32_t neighbours);
    tacit_status (*on)(tacit_env *env, const void *shared, void *self, const tacit_event *event);
    void (*save)(const void *shared, const void *self, uint32_t neighbours, tacit_saver *saver);
    void (*load)(const void *shared, void *self, uint32_t neighbours, tacit_loader *loader);
    /* Drop every vector `self` holds. */
    void (*end)(tacit_env *env, const void *shared, void *self);
    /* The agent's current model, NULL if it has none yet (a zero model). */
    const tacit_secret *(*model)(const void *shared, const void *self);
    /* Optional hint: this agent ticks soon; call tacit_public_expect on what it will read. */
    void (*expect)(const void *shared, const void *self, uint32_t neighbours);
    /* Optional: true if the protocol minimises Q (docs/protocols/cd.md), and with which mu and
     * confidence c_i for an agent of `records` records. */
    bool (*coupling)(const void *shared, size_t records, double *mu, double *confidence);
    /* Optional: nothing more will come of this agent. A node whose agents are all done does not
     * wait for run.time, but for the others, and answers them as before. */
    bool (*done)(const void *shared, const void *self);
    /* Optional: what was published of the last sum (board.h), for who wants to add it up again;
     * tacit_board_clear when done. TACIT_NO: there is nothing. */
    tacit_status (*board)(const void *shared, const void *self, struct tacit_board *out);
} tacit_protocol;

/* All protocols, NULL-terminated; by name. */
extern const tacit_protocol *const tacit_protocols[];
const tacit_protocol *tacit_protocol_find(const char *name);

/* What runtimes call instead of protocol->setup: refuses models the protocol is not for. */
tacit_status tacit_protocol_set_up(const tacit_protocol *protocol, void *shared,
                                   const void *options, const tacit_setup *setup, tacit_error *err);

static inline uint32_t tacit_protocol_flags(const tacit_protocol *protocol, const void *options)
{
    return protocol->flags_for && options ? protocol->flags_for(options) : protocol->flags;
}

static inline tacit_trust tacit_protocol_trust(const tacit_protocol *protocol, const void *options)
{
    return protocol->trust_for && options ? protocol->trust_for(options) : protocol->trust;
}

static inline double tacit_protocol_more_delta(const tacit_protocol *protocol, const void *shared)
{
    return protocol->more_delta ? protocol->more_delta(shared) : 0;
}

/* What the adversary sees, for a reader: with options, and with the numbers that they state (how
 * many collude); without, by the names of the options. Returns `out`. */
#define TACIT_SEES 700
const char *tacit_protocol_sees(const tacit_protocol *protocol, const void *options,
                                char out[TACIT_SEES]);

/* ---- a view: the latest message of each neighbour, by reference ----
 * An array of one pointer a neighbour, the last member of a protocol's state; NULL means that
 * nothing was heard yet. */
void tacit_view_put(tacit_env *env, const tacit_public **view, uint32_t slot,
                    const tacit_public *vector);
void tacit_view_end(tacit_env *env, const tacit_public **view, uint32_t neighbours);
void tacit_view_save(const tacit_public *const *view, uint32_t neighbours, tacit_saver *saver);
void tacit_view_load(const tacit_public **view, uint32_t neighbours, tacit_loader *loader,
                     const tacit_shape *shape);

/* ---- rounds: local synchrony for protocols that think in steps ----
 *
 * Each agent speaks once a round and goes on when it has heard every neighbour's word of
 * that round, or when `patience` is over: then the missing ones are NULL. Nobody counts for
 * all, so that it works on real peers with stragglers. The payload's last segment must be
 * one TACIT_I64: the round number, written here. */
typedef struct tacit_rounds {
    uint64_t round;
    uint32_t count;
    uint32_t missing;          /* neighbours not heard in this round */
    double patience;           /* infinity: wait for ever */
    const tacit_public **word; /* two a neighbour: of this round, of a later one */
} tacit_rounds;
/* `words`: room for 2 * neighbours pointers, all NULL, in the protocol's own state. */
void tacit_rounds_init(tacit_rounds *rounds, const tacit_public **words, uint32_t neighbours,
                       double patience);
/* Say this round's word to all neighbours. */
tacit_status tacit_rounds_say(tacit_env *env, tacit_rounds *rounds, uint32_t kind,
                              tacit_public *payload);
/* The same, neighbour by neighbour, where each is told something else: tell them all, then wait. */
tacit_status tacit_rounds_tell(tacit_env *env, const tacit_rounds *rounds, tacit_agent to,
                               uint32_t kind, tacit_public *payload);
tacit_status tacit_rounds_wait(tacit_env *env, const tacit_rounds *rounds);
/* The word of neighbour `slot` for the current round, NULL if it is missing. */
const tacit_public *tacit_rounds_word(const tacit_rounds *rounds, uint32_t slot);
/* Feed MESSAGE and TIMER events. Whenever a round is complete, `on` is called with a
 * TACIT_ROUND event (id = the round that ended, words readable), in which the protocol
 * computes; it may say its next word after tacit_rounds_next. Stop feeding after the last
 * round: a late word would complete it again. */
tacit_status tacit_rounds_feed(tacit_env *env, tacit_rounds *rounds, const tacit_event *event,
                               tacit_status (*on)(tacit_env *, const void *, void *,
                                                  const tacit_event *),
                               const void *shared, void *self);
void tacit_rounds_next(tacit_env *env, tacit_rounds *rounds);
void tacit_rounds_end(tacit_env *env, tacit_rounds *rounds);
void tacit_rounds_save(const tacit_rounds *rounds, tacit_saver *saver);
void tacit_rounds_load(tacit_rounds *rounds, const tacit_public **words, uint32_t neighbours,
                       tacit_loader *loader, const tacit_shape *shape);

#endif
