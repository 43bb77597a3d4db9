/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NET_LINK_INTERNAL_H
#define TACIT_NET_LINK_INTERNAL_H
/* What the files of a link share: its sockets, the table of peers, the watch over connections. */
#include <sys/socket.h>
#include <zmq.h>

#include "net/link.h"
#include "net/rate.h"

enum {
    LINK_TEXT = 2 * TACIT_CURVE_BYTES,
    LINK_OVERHEAD = 33,    /* of CURVE: name, nonce, authenticator and flags of a message */
    LINK_STRANGERS = 1024, /* open mode: keys remembered that nobody has named */
    LINK_FLOOD = 256,      /* frames dropped in one call before others get a turn */
    LINK_TURNS = 64,       /* frames taken before handshakes get one */
    LINK_SOURCE = 16,      /* bytes of an address */
};

#define LINK_LOOK 0.1    /* seconds between looks at connections */
#define LINK_REVIVAL 1.0 /* ... and between attempts to make one anew */

typedef enum link_standing {
    LINK_STRANGER, /* open mode: let in without being on the list */
    LINK_ALLOWED,
    LINK_FORBIDDEN
} link_standing;

typedef struct link_peer {
    char user[LINK_TEXT]; /* its link key as text: the User-Id of its connections */
    uint8_t curve[TACIT_CURVE_BYTES];
    size_t index;
    link_standing standing;
    void *push; /* NULL: not connected to it */
    char endpoint[TACIT_ENDPOINT_MAX + 1];
    uint64_t since;  /* frames given to this socket */
    double writable; /* when it last was, or began */
    tacit_rate frames, bytes;
    uint64_t left;    /* bytes that came over connections that have ended, and were not taken */
    uint64_t tails;   /* ... that may have come after the last look at them; these fade */
    uint64_t waiting; /* ... over all its connections, at the last look */
    uint64_t heard;   /* when, in frames of the link: the stranger silent for longest makes room */
    tacit_link_peer_counts counts; /* its identity as well, if `known` */
} link_peer;

/* Peers by identity and by link key. Keys come from outside, so the hash is keyed. */
typedef struct link_table {
    link_peer **peer;
    size_t count, capacity, strangers;
    uint32_t *by_identity, *by_user; /* number of a peer plus one; 0: free */
    size_t slots;                    /* of each, a power of two */
    uint8_t hash_key[16];
} link_table;

tacit_status link_table_init(link_table *t, tacit_error *err);
void link_table_clear(link_table *t);
link_peer *link_find(const link_table *t, const uint8_t identity[TACIT_IDENTITY_BYTES]);
link_peer *link_find_user(const link_table *t, const char user[LINK_TEXT]);
/* The peer with this identity, a new one if need be. Refuses an identity whose link key is known
 * to be another's. */
tacit_status link_add(link_table *t, const uint8_t identity[TACIT_IDENTITY_BYTES], link_peer **out,
                      tacit_error *err);
/* Somebody of whom only the link key is known; NULL without memory. */
link_peer *link_add_stranger(link_table *t, const char user[LINK_TEXT]);

/* A connection that another made to us. */
typedef struct link_connection {
    uint64_t number;  /* which one it is, in order from 1; 0: there is none */
    uint64_t arrived; /* bytes of its stream that came, when they were last counted */
    uint64_t taken;   /* bytes of its stream that we have looked at, or less */
    bool passed;      /* its key has passed the handshake */
    bool named;       /* `user` is whose it is: as its last frame proves, or a guess before */
    bool spoke;       /* a frame of it arrived */
    bool closing;     /* by us */
    uint8_t source[LINK_SOURCE];
    char user[LINK_TEXT];
} link_connection;

typedef struct link_watch {
    void *monitor;         /* tells of connections that come and go */
    link_connection *item; /* by file descriptor */
    size_t count, capacity;
    uint64_t numbers;
    uint64_t refused_keys; /* of connections that are still there */
    uint64_t left;         /* bytes of ended connections that were not taken; nobody knows whose */
    uint64_t tails;        /* as those of a peer */
    bool owes;             /* there is something left of ended connections, perhaps */
    double looked;         /* when tails faded last, */
    uint64_t received;     /* and how many frames had been taken in by then */
} link_watch;

struct tacit_link {
    tacit_link_options o;
    uint8_t curve_public[TACIT_CURVE_BYTES];
    uint8_t curve_secret[TACIT_CURVE_BYTES];
    void *context, *zap, *pull;
    char endpoint[256];
    link_table peers;
    link_watch watch;
    tacit_link_counts counts;
    uint64_t received; /* frames that were taken in, good or bad */
    unsigned turns;
    double next_look, next_revival;
    zmq_pollitem_t *items; /* for waiting */
    size_t items_capacity;
};

/* The peer of a connection with this link key, if it may send to us; NULL otherwise. */
link_peer *link_admit(tacit_link *link, const char user[LINK_TEXT]);
/* Answer the handshakes that wait. */
void link_answer(tacit_link *link);

/* Connections of ours that ended for good are made anew. */
void link_revive(tacit_link *link, double now);
/* Of the machine, not the caller's. */
double link_clock(void);

/* ---- link_guests.c ---- */
/* What counts as one address: all of IPv4, the first half of IPv6. */
void link_source(const struct sockaddr *from, uint8_t source[LINK_SOURCE]);
void link_source_of(int fd, uint8_t source[LINK_SOURCE]); /* of a connection */
/* So many bytes came, and so many different ones were sent. */
void link_note_progress(link_connection *c, uint64_t arrived, uint64_t sent);
/* Which connection without a key is to be closed, so that there is room; -1: none. */
int link_guest_to_go(tacit_link *link, size_t room);

/* ---- link_bytes.c ---- */
/* This key has just passed the handshake, from this address. */
void link_bytes_name(tacit_link *link, const char user[LINK_TEXT], const char *address, size_t len);
/* The connection has ended. */
void link_bytes_leave(tacit_link *link, const link_connection *c, bool by_us);
/* A frame of `len` bytes was taken, of this user; `c` is who has the descriptor now, or NULL. */
void link_bytes_take(tacit_link *link, int fd, link_connection *c, const char user[LINK_TEXT],
                     uint64_t len);
/* Nothing waits to be taken. */
void link_bytes_none(tacit_link *link);
/* Look for peers that eat memory; `now` by the link's clock. */
void link_bytes_look(tacit_link *link, double now);
/* May this peer make another connection? */
bool link_bytes_room(const tacit_link *link, const link_peer *p);

/* ---- link_watch.c ---- */
void link_close(tacit_link *link, int fd);
/* Ask the kernel how far a connection is; false if that cannot be told. */
bool link_look_at(int fd, link_connection *c);
tacit_status link_watch_start(tacit_link *link, tacit_error *err);
void link_watch_stop(tacit_link *link);
/* Take in what the monitor says. */
void link_watch_drain(tacit_link *link);
/* A frame, or a part of one, was taken. */
void link_watch_took(tacit_link *link, zmq_msg_t *msg);

#endif
