/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NET_LINK_H
#define TACIT_NET_LINK_H
/*
 * Frames between peers over ZeroMQ with CURVE: every connection is encrypted under keys of its
 * own and authenticated by the long-term keys of both ends. There is no other mode.
 *
 * One PULL socket takes in what all peers send, one PUSH socket a peer takes what goes out to it.
 * Who sent a frame is the key that the handshake proved (the User-Id that our ZAP handler gave),
 * never what the frame says.
 *
 * Nothing grows without bound: a frame above `frame_max` closes its connection before it is read;
 * `queue` frames wait for a peer, then the sender is told TACIT_NO; what a peer has sent and nobody
 * has received yet is at most as much (and 16 MiB, the kernel's buffers among them) over all its
 * connections, those that have ended too, then it is cut off; all peers together have at most
 * `input`; what a peer sends above its rate is dropped right after decryption, before anybody looks
 * at it.
 *
 * One thread uses a link. The handshakes of others are answered while it waits or receives, so it
 * must do either often.
 */
#include "net/keys.h"
#include "tacit/base.h"

typedef struct tacit_link_options {
    const char *listen; /* "tcp://127.0.0.1:*", "tcp://0.0.0.0:7400", "tcp://[::]:7400" */
    size_t frame_max;   /* bytes of a frame, in and out */
    int queue;          /* frames a peer and direction */
    double rate;        /* frames a second from one peer, on average */
    double burst;       /* ... and at once */
    double byte_rate;   /* the same in bytes; 0: as follows from rate and frame_max */
    uint64_t input;     /* bytes of all peers that came and were not taken; 0: four peers' share */
    bool open;          /* any key may connect; else those of tacit_link_allow alone */
    double heartbeat;   /* seconds between TCP's probes of a silent connection: dead after five */
} tacit_link_options;
void tacit_link_defaults(tacit_link_options *o);

typedef struct tacit_link tacit_link;

/* Listens from now on. */
tacit_status tacit_link_create(tacit_link **out, const tacit_identity *self,
                               const tacit_link_options *o, tacit_error *err);
void tacit_link_free(tacit_link *link); /* what is queued gets a moment to leave */
/* Where it listens, with the port it was given: "tcp://127.0.0.1:40123". */
const char *tacit_link_endpoint(const tacit_link *link);

/* Who may connect. Taking it back closes nothing, but what the peer sends is dropped. */
tacit_status tacit_link_allow(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES],
                              tacit_error *err);
void tacit_link_forbid(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES]);

/* Send to this peer at that endpoint from now on: ZeroMQ connects, and connects again whenever it
 * must. A new endpoint replaces the old one. Allows the peer to connect to us, too. */
tacit_status tacit_link_connect(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES],
                                const char *endpoint, tacit_error *err);
void tacit_link_disconnect(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES]);

/* One frame in two pieces (the second may be empty). TACIT_NO: the queue is full, or there is no
 * connection to that peer, and nothing was sent. */
tacit_status tacit_link_send(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES],
                             const void *head, size_t head_len, const void *body, size_t body_len,
                             tacit_error *err);

typedef struct tacit_frame {
    uint8_t from[TACIT_IDENTITY_BYTES]; /* proven */
    bool known;                         /* it is an identity; false: a link key (open mode) */
    const uint8_t *bytes;
    size_t len;
    void *keep; /* the link's own */
} tacit_frame;
/* The next frame that is within its sender's rate at time `now` (seconds, monotonic); TACIT_NO if
 * there is none. What was received is freed by tacit_frame_free. In open mode the key of somebody
 * not known as an identity (only links prove X25519 keys) is told by tacit_link_meet. */
tacit_status tacit_link_receive(tacit_link *link, double now, tacit_frame *frame, tacit_error *err);
void tacit_frame_free(tacit_frame *frame);
/* A frame of this peer held several: so many more count towards its rate. */
void tacit_link_charge(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES], double frames);

/* Open mode: a frame's sender whose identity is not known yet has its link key in `from`, and
 * `known` is false. This says which identity has that link key (it is
 * checked), so that later frames come from it. */
tacit_status tacit_link_meet(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES],
                             tacit_error *err);

/* Until there is a frame, one of `count` descriptors (may be NULL) is readable, or so many seconds
 * have passed; readable[i] tells which. False when interrupted by a signal. */
bool tacit_link_wait(tacit_link *link, double seconds, const int *fds, size_t count,
                     bool *readable);

/* ---- what happened, for /metrics ---- */
typedef struct tacit_link_peer_counts {
    uint8_t key[TACIT_IDENTITY_BYTES];
    bool known; /* key is an identity; false: a link key (open mode) */
    uint64_t frames_in, bytes_in, frames_out, bytes_out;
    uint64_t over_rate;  /* dropped on arrival */
    uint64_t queue_full; /* not sent */
} tacit_link_peer_counts;
typedef struct tacit_link_counts {
    uint64_t accepted;  /* handshakes */
    uint64_t refused;   /* ... of keys not on the list; connections without a frame, or too much */
    uint64_t strangers; /* frames of keys no longer allowed */
    uint64_t waiting;   /* bytes that came and were not taken yet, at the last look */
} tacit_link_counts;
tacit_link_counts tacit_link_totals(const tacit_link *link);
/* By index 0, 1, ...; false past the last. */
bool tacit_link_peer(const tacit_link *link, size_t index, tacit_link_peer_counts *out);

#endif
