/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NODE_INTERNAL_H
#define TACIT_NODE_INTERNAL_H
/*
 * A node's own structures. The core is a state machine: frames and the time come in by calls,
 * frames go out by node_io, and the disk is the store. So the same code runs under a real clock
 * and real links (drive.c), under a clock that a test moves, and under a fuzzer.
 *
 *   node.c       create, destroy, start, end
 *   env.c        what agents see: the environment
 *   handle.c     one event, one agent; then what it said is charged, written down and sent
 *   receive.c    a frame of a peer: everything that is checked before an agent hears of it
 *   peers.c      who hosts whom, who is there
 *   pack.c       frames on their way to the links
 *   greet.c      hello, ping and pong; what was lost is said again
 *   marks.c      what proves that a ledger is an old copy
 *   gossip.c     membership: where peers are
 *   begin.c      when agents may begin to speak
 *   advance.c    time passes: ticks, timers, pings, phases, the end
 *   persist.c    an agent as bytes
 *   look.c       tacit_node_look
 *   drive.c      tacit_node_run: clock, link, status server around the core
 *   store.c, http.c, words.c, log.c   see their headers
 *
 * Three times are kept apart: `now`, seconds of a monotonic clock; the protocol's time, units
 * since the agents started; and the wall clock, which nothing here reads.
 */
#include "base/pool.h"
#include "base/scratch.h"
#include "net/greeting.h"
#include "net/keys.h"
#include "net/members.h"
#include "net/suspect.h"
#include "net/wire.h"
#include "runtime/node/log.h"
#include "runtime/node/store.h"
#include "runtime/queue.h"
#include "tacit/node.h"
#include "tacit/random.h"

/* What carries frames to peers. */
typedef struct node_io {
    void *ctx;
    /* One frame in two pieces. TACIT_NO: not now, and nothing was sent. */
    tacit_status (*send)(void *ctx, const uint8_t key[TACIT_NODE_KEY], const void *head,
                         size_t head_len, const void *body, size_t body_len);
    /* From now on this peer is found there. */
    void (*connect)(void *ctx, const uint8_t key[TACIT_NODE_KEY], const char *endpoint);
    /* Open mode: frames so far came from a link key; this is whose it is. */
    void (*meet)(void *ctx, const uint8_t key[TACIT_NODE_KEY]);
    /* Links are closed as soon as what was sent has left; nothing is sent from here on. NULL: there
     * are none. */
    void (*close)(void *ctx);
} node_io;

/* Bytes that several frames share. */
typedef struct node_bytes {
    uint32_t refs;
    uint32_t len;
    uint8_t bytes[];
} node_bytes;

/* The last thing an agent told all its neighbours under an address: who missed it is told again,
 * in the same bytes. */
typedef struct node_word {
    tacit_address at;
    uint64_t incarnation, sequence, releases;
    uint64_t stamp; /* pings with a larger one left after it */
    node_bytes *payload;
} node_word;

/* The highest mark of a life (incarnation) of an agent's node. */
typedef struct node_kept {
    uint64_t life;
    tacit_mark mark;
} node_kept;

/* What an agent has heard of another. */
typedef struct node_heard {
    uint32_t from;
    uint64_t incarnation, sequence, releases;
    uint64_t asked;            /* releases made at its request */
    node_kept latest, earlier; /* of its last two lives: the later may not go on from the other */
} node_heard;

typedef struct node_request {
    uint64_t id;
    uint32_t to;
} node_request;

typedef struct node_agent {
    const tacit_node_agent *plan;
    uint32_t index;
    double degree;
    void *state;
    uint64_t wakes, drawn; /* times woken; gaps drawn */
    uint64_t sequence;     /* of its frames, in this incarnation */
    uint64_t counter;      /* of timers and requests */
    bool resumed;          /* its state came from the store */
    bool started;          /* it has been told so, and what it then released is paid for */
    bool spent;            /* its ledger refused something */
    tacit_mark mark;       /* its latest, as told to others */
    uint64_t mark_stamp;   /* pings with a larger one carried it */
    double change;         /* of its last word from the one before, relative; infinity: unknown */
    tacit_vector *said;    /* that word, while agreement is looked for */
    node_word *words;
    size_t word_count, word_capacity;
    node_heard *heard; /* sorted by `from` */
    size_t heard_count, heard_capacity;
    node_request *requests; /* that wait for their replies */
    size_t request_count, request_capacity;
    uint64_t messages_in, messages_out;
} node_agent;

/* Messages for one peer that leave together. */
typedef struct node_pack {
    uint8_t *bytes; /* frames, one behind the other */
    size_t len, capacity;
    uint32_t count, fresh; /* messages, and those among them that are said for the first time */
} node_pack;

enum { NODE_BATCH = 65536 }; /* bytes of a frame with several messages: every node takes those */
enum { NODE_NOTES = 20 };    /* lines a peer gets in the log for coming and going, before debug */

typedef struct node_peer {
    uint8_t key[TACIT_NODE_KEY];
    char name[64];
    char endpoint[64];
    uint64_t found;   /* stamp of the descriptor that told the endpoint; 0: the list of members */
    uint32_t *agents; /* sorted */
    uint32_t count;
    bool self;
    bool listed;    /* a member; else somebody who came (open mode) */
    bool moved;     /* it is not where it was when that was written down */
    bool strayed;   /* it was told that it says it is somewhere else */
    bool watched;   /* hosts a neighbour of ours */
    uint32_t slot;  /* in the failure detector; UINT32_MAX: not watched */
    bool met;       /* heard in this life of ours */
    bool known;     /* met in any: node.db has it */
    bool testified; /* what it knows of our ledgers was compared with them in this life */
    bool greeted;   /* has told what it heard of our agents */
    bool left;      /* said goodbye */
    bool ended, mute;
    bool lied;         /* showed a mark that we never signed */
    bool connected;    /* a link to it was asked for */
    uint32_t reported; /* kinds of refusals that were logged, as bits */
    uint64_t quiet;
    uint64_t ping;     /* stamp of the last hello or ping; 0: none */
    uint64_t answered; /* the latest one of these that was answered */
    uint64_t claimed;  /* the latest life of ours it says it has heard of */
    uint32_t notes;    /* lines logged about its coming and going */
    double ping_sent;  /* when */
    double round_trip;
    uint64_t refused, resent;
    node_pack pack;
    uint64_t unsent; /* messages that were packed and could not be sent */
} node_peer;

/* A frame of the last release of an earlier life, for one receiver: sent again, as it was, once
 * its peer has told what it heard. */
typedef struct node_again {
    tacit_wire_header header;
    node_bytes *payload;
} node_again;

/* A frame that came before our agents had started. */
typedef struct node_early {
    uint32_t peer;
    node_bytes *frame;
} node_early;

/* Where an agent lives. */
typedef struct node_place {
    uint32_t agent, peer;
} node_place;

typedef enum node_phase {
    NODE_MEETING, /* neighbours are greeted, agents wait */
    NODE_RUNNING,
    NODE_WAITING, /* its agents are done, some neighbours' may not be */
    NODE_ENDED
} node_phase;

/* Something a handler said, until it has returned. */
typedef struct node_saying {
    tacit_event_type type; /* TACIT_MESSAGE, REQUEST or REPLY */
    tacit_agent to;        /* TACIT_NOBODY: all neighbours */
    tacit_address at;
    uint64_t id;
    tacit_vector *payload;
} node_saying;

struct tacit_node {
    tacit_node_plan plan;
    uint32_t flags; /* the protocol's, with these options */
    node_io io;
    node_phase phase;
    double born; /* when this life began: seconds */
    double now;
    double origin;    /* when the protocol's time was zero */
    double time;      /* the protocol's, never backwards */
    double meet_by;   /* meeting ends, or waiting: seconds */
    double next_beat; /* seconds */
    double next_save;
    uint64_t beats;
    uint64_t incarnation;
    uint64_t stamps;     /* that of the last ping */
    uint64_t born_stamp; /* up to here they are of earlier lives, whose answers may still come */
    uint64_t quiet;
    tacit_random random;
    tacit_stream chance; /* of membership */
    node_store *store;
    uint64_t checkpoints;
    double retry_at;  /* a mute store is tried again */
    double next_rise; /* before that no peer's memory makes us begin another life */
    bool was_mute;
    bool resumed_end; /* an earlier life reached the end */
    bool unsure;      /* it has released before, so its ledgers may be old copies */
    bool forgot;      /* its node.db is new: nobody knows whom it met before */
    double give_up;   /* when the run is over, by the clock, for who could not begin */
    char waits[600];  /* why it has not begun though it might have, as logged; "": nothing */
    void *shared;
    tacit_pool *pool;
    tacit_scratch *scratch;
    node_agent *agents;
    node_peer *peers;
    size_t peer_count, peer_capacity;
    uint32_t *by_key; /* peers, sorted by key */
    node_place *places;
    size_t place_count, place_capacity;
    node_early *early;
    size_t early_count, early_capacity, early_bytes;
    node_again *again;
    size_t again_count, again_capacity;
    uint32_t *packing; /* peers with something packed */
    size_t packing_count, packing_capacity;
    tacit_suspect *suspect;
    tacit_members *members;
    runtime_queue queue;
    uint64_t shed; /* ticks that were skipped because they were late */
    tacit_traffic traffic;
    uint64_t refusals[TACIT_REFUSALS];
    /* the handler that runs now */
    node_agent *at;
    tacit_event_type handling;
    tacit_facts facts;
    tacit_env env;
    node_saying *said;
    size_t said_count, said_capacity;
    tacit_permit **permits;
    size_t permit_count, permit_capacity;
    /* the first failure */
    tacit_status status;
    tacit_error failure;
    tacit_error error; /* of the handler at hand */
    void *drive;       /* drive.c's own */
};

/* ---- node.c ---- */
/* Everything but links: `now` is the time it begins. */
tacit_status node_create(tacit_node **out, const tacit_node_plan *plan, const node_io *io,
                         double now, tacit_error *err);
void node_destroy(tacit_node *node);
/* Agents start, or go on where they were. */
void node_start(tacit_node *node);
/* Those that could not, because the disk was full, try again. */
void node_start_late(tacit_node *node);
/* The run is over here: goodbye, links closed, then TACIT_FINISH to all agents, once. */
void node_finish(tacit_node *node);
/* The same for a node that never started in this life, because nobody answered. */
void node_end_unheard(tacit_node *node);
/* Saved, and said goodbye. */
void node_leave(tacit_node *node);
void node_fail(tacit_node *node, tacit_status status, const char *why);
/* Peers remember a later life of this node than its store does: begin one that is later still. */
void node_rise(tacit_node *node, uint64_t above);
/* To the plan's log; `fields` by log.h. */
void node_note(const tacit_node *node, tacit_log_level level, const char *event,
               log_fields *fields);

/* ---- env.c ---- */
extern const tacit_env_ops node_env_ops;

/* ---- handle.c ---- */
/* False if it failed. */
bool node_handle(tacit_node *node, node_agent *agent, double time, const tacit_event *event);
node_bytes *node_bytes_of(const uint8_t *from, size_t len); /* NULL when memory is out */
void node_bytes_drop(node_bytes *bytes);
/* The agent's place for its last word under an address; NULL when memory is out. */
node_word *node_word_at(node_agent *agent, tacit_address at);

/* ---- pack.c ---- */
/* A message for the peer that hosts its receiver: it leaves with others at the end of the turn.
 * `fresh`: said for the first time. */
void node_pack_frame(tacit_node *node, node_peer *peer, const tacit_wire_header *header,
                     const uint8_t *payload, bool fresh);
void node_send_packed(tacit_node *node, node_peer *peer);
void node_send_all_packed(tacit_node *node);
/* A frame from node to node, now, behind what is packed. */
tacit_status node_transmit(tacit_node *node, node_peer *peer, const tacit_wire_header *header,
                           const uint8_t *payload);

/* ---- receive.c ---- */
/* A frame from the peer whose key the link proved (a link key, if nobody of it is `known`).
 * Whatever it holds, the node lives. */
void node_receive(tacit_node *node, const uint8_t key[TACIT_NODE_KEY], bool known,
                  const uint8_t *bytes, size_t len, double now);
/* After a restart, or silence: agents of this node may not have heard each other's last words, of
 * lives before this one. */
void node_say_at_home(tacit_node *node, uint64_t before);
/* What came before the start is heard now. */
void node_hear_early(tacit_node *node);
node_heard *node_heard_of(node_agent *agent, uint32_t from);
void node_refuse(tacit_node *node, node_peer *peer, tacit_node_refusal why, const char *words);

/* ---- peers.c ---- */
tacit_status node_peers_init(tacit_node *node, tacit_error *err);
void node_peers_clear(tacit_node *node);
node_peer *node_peer_by_key(const tacit_node *node, const uint8_t key[TACIT_NODE_KEY]);
node_peer *node_peer_of(const tacit_node *node, tacit_agent agent); /* NULL: nobody hosts it */
node_agent *node_hosted(const tacit_node *node, tacit_agent agent); /* NULL: not here */
uint32_t node_watched(const tacit_node *node); /* how many peers host neighbours of ours */
uint32_t node_slot(const node_agent *agent, tacit_agent neighbour); /* TACIT_NO_SLOT: none */
/* A sign of life. */
void node_hear(tacit_node *node, node_peer *peer);
/* Somebody who is on no list, in open mode. NULL: no more of those. */
node_peer *node_peer_add(tacit_node *node, const uint8_t key[TACIT_NODE_KEY]);
tacit_status node_add_place(tacit_node *node, uint32_t agent, uint32_t peer, tacit_error *err);
void node_on_bye(tacit_node *node, node_peer *peer);
/* Pings, and what the failure detector found. */
void node_beat(tacit_node *node);
/* Are all neighbours that live met (or, at the end, done)? */
bool node_all_met(const tacit_node *node);
bool node_all_ended(const tacit_node *node);
/* The least `quiet` of the neighbours that are there and not done. */
uint64_t node_quiet_around(const tacit_node *node);

/* ---- greet.c ---- */
/* A frame from node to node. */
void node_send_plain(tacit_node *node, node_peer *peer, tacit_wire_kind kind, const uint8_t *bytes,
                     size_t len);
void node_bye(tacit_node *node, node_peer *peer);
void node_greet(tacit_node *node, node_peer *peer, tacit_wire_kind kind, uint64_t stamp);
/* The largest greeting this node can have to send or take: pairs of agents decide. */
size_t node_greeting_room(const tacit_node *node);
/* The most pairs of an agent of ours and one of a peer's that talk. */
size_t node_pairs(const tacit_node *node);
void node_on_greeting(tacit_node *node, node_peer *peer, const tacit_wire_header *header,
                      const uint8_t *payload);
/* The agent's last word that comes after `after` (NULL: the first) and left before the ping of that
 * stamp; NULL if there is none. */
const node_word *node_next_word(const node_agent *agent, const node_word *after, uint64_t stamp);

/* ---- marks.c ---- */
/* The agent's own, of what its ledger holds now. */
const tacit_mark *node_mark(tacit_node *node, node_agent *agent);
void node_keep_mark(node_heard *heard, uint64_t life, const tacit_mark *mark);
/* For a greeting to `peer`: those of our agents (all in a hello, else what it may not have), and
 * `theirs` as we know them. The caller frees it. */
tacit_marked *node_list_marks(tacit_node *node, const node_peer *peer, bool hello, bool theirs,
                              uint32_t *count);
/* Those of our own agents: fails the node if one of them proves that its ledger is an old copy.
 * False: the ledger could not be read, so they prove nothing either way. */
bool node_check_marks(tacit_node *node, node_peer *peer, const tacit_greeting *greeting);
/* Those of the peer's agents, which is in that life. */
void node_keep_marks(tacit_node *node, const node_peer *peer, uint64_t life,
                     const tacit_greeting *greeting);

/* ---- begin.c ---- */
/* While meeting: agents start as soon as they may. */
void node_try_begin(tacit_node *node);
/* When it should be called again, at the latest. */
double node_begin_by(const tacit_node *node);
/* What the owner accepted as spent is charged (tacit_node_plan.accept_spent). */
tacit_status node_accept_spent(tacit_node *node, tacit_error *err);
/* Has somebody been met who can hear it? */
bool node_is_heard(const tacit_node *node, const node_agent *agent);
/* Why agents wait beyond patience, written to `words`; NULL: they do not. */
const char *node_begins_not(const tacit_node *node, char *words, size_t room);

/* ---- gossip.c ---- */
/* Once it is known where this node is reached. */
tacit_status node_gossip_init(tacit_node *node, tacit_error *err);
/* Members that had moved in an earlier life of this node are looked for where they were last. */
tacit_status node_recall_peers(tacit_node *node, tacit_error *err);
/* ... which is written down with checkpoints. */
void node_keep_peers(tacit_node *node);
void node_gossip_cycle(tacit_node *node);
void node_on_membership(tacit_node *node, node_peer *peer, const uint8_t *payload, size_t len);
/* Open mode: who sent this frame, if a stranger introduces itself by it; NULL otherwise. */
node_peer *node_introduction(tacit_node *node, const uint8_t link_key[TACIT_CURVE_BYTES],
                             const uint8_t *bytes, size_t len);

/* ---- advance.c ---- */
/* Time is now `now`: whatever is due happens. */
void node_advance(tacit_node *node, double now);
/* When it wants to be advanced again, at the latest. */
double node_next(const tacit_node *node);
/* Before the start: is the run over for the agents of an earlier life? False if there are none. */
bool node_is_over(const tacit_node *node);
tacit_status node_post(tacit_node *node, const runtime_event *event);
/* An event whose time has come, to the agent it is for; takes over the payload. */
void node_deliver(tacit_node *node, const runtime_event *event);
void node_plan_wake(tacit_node *node, node_agent *agent, double after);

/* ---- persist.c ---- */
/* The agent as bytes, in a saver the caller frees; NULL when memory is out. */
tacit_saver *node_save_agent(const tacit_node *node, const node_agent *agent, const uint8_t **bytes,
                             size_t *len);
tacit_status node_load_agent(tacit_node *node, node_agent *agent, const uint8_t *bytes, size_t len,
                             tacit_error *err);
/* Frames of the last release, out of the store: last words, and what is to be sent again. */
tacit_status node_load_frames(tacit_node *node, node_agent *agent, const uint8_t *bytes, size_t len,
                              tacit_error *err);
/* One agent to the store, before what it said leaves though nothing was released: agents that take
 * turns must not forget whose it is. */
tacit_status node_save_first(tacit_node *node, const node_agent *agent);
/* All agents to the store. A failure is logged, not fatal; TACIT_NO: the store is mute. */
tacit_status node_checkpoint(tacit_node *node);

/* ---- look.c ---- */
/* All but what links know. */
tacit_status node_look(const tacit_node *node, tacit_node_status *out, tacit_error *err);

static inline bool node_is_silent(const tacit_node *node, const node_agent *agent)
{
    return node_store_silent(node->store, agent->index);
}
static inline double node_time_at(const tacit_node *node, double now)
{
    return (now - node->origin) / node->plan.consortium->unit;
}
static inline double node_seconds_at(const tacit_node *node, double time)
{
    return node->origin + time * node->plan.consortium->unit;
}

#endif
