/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_WIRE_H
#define TACIT_WIRE_H
/*
 * What real peers say to each other, as bytes: an envelope of TACIT_WIRE_HEADER bytes and a
 * payload (docs/wire.md has every byte). Functions of bytes only: no sockets, no clock, no state.
 *
 * An envelope is a claim. `from` and `to` are agents, not peers, and nothing here proves that the
 * sender hosts `from`: the sender is whoever holds the key that the link authenticated, and a node
 * checks that this key hosts `from`, that it hosts `to` itself, and that run, protocol,
 * incarnation and sequence are the ones it expects. Nor are links protected here: that is the
 * transport's work. What is promised is that any bytes whatever give either an error in words
 * or values that are finite, within bounds and of the declared shape.
 *
 * A broadcast is encoded once: the payload does not depend on who it is for, the header does.
 */
#include "net/mark.h"
#include "tacit/base.h"
#include "tacit/env.h"
#include "tacit/vector.h"

#define TACIT_WIRE_VERSION 2
#define TACIT_WIRE_HEADER 176 /* bytes before the payload */
#define TACIT_WIRE_PREFIX 8   /* of these, what all versions, past and future, have in common */
#define TACIT_WIRE_RUN 16
#define TACIT_WIRE_TOGETHER 64 /* frames in a batch, at most */

/* Numbers on the wire: never reused. */
typedef enum tacit_wire_kind {
    TACIT_WIRE_MESSAGE = 1, /* from agent to agent, as the next two */
    TACIT_WIRE_REQUEST = 2,
    TACIT_WIRE_REPLY = 3,
    TACIT_WIRE_HELLO = 4, /* from node to node, as all that follow */
    TACIT_WIRE_HELLO_ACK = 5,
    TACIT_WIRE_PING = 6,
    TACIT_WIRE_PONG = 7,
    TACIT_WIRE_MEMBERSHIP = 8,
    TACIT_WIRE_BYE = 9,   /* in every version: I go, or I do not speak yours. Never answered */
    TACIT_WIRE_BATCH = 10 /* several frames between agents, one behind the other */
} tacit_wire_kind;

typedef struct tacit_wire_header {
    tacit_wire_kind kind;
    uint8_t run[TACIT_WIRE_RUN];
    uint32_t protocol;    /* tacit_protocol's wire_id */
    tacit_agent from, to; /* between agents: never TACIT_NOBODY */
    uint64_t incarnation; /* of the sending node: larger after every start */
    uint64_t sequence;    /* of `from` in this incarnation, from 1 */
    uint64_t releases;    /* charged by `from` when it said this: less is a rolled-back ledger */
    uint64_t request;     /* which request this is or answers; 0 in a message */
    tacit_address at;     /* channel and kind, the protocol's own */
    uint32_t payload;     /* bytes that follow the header */
    tacit_mark mark;      /* between agents: the latest of `from` when this left, if it has one */
} tacit_wire_header;

/* ---- envelopes ---- */

/* The header's bytes. It is the caller's own: a wrong one is a mistake of ours (assertion). */
void tacit_wire_write(uint8_t out[TACIT_WIRE_HEADER], const tacit_wire_header *header);

/* What stands before any version's own layout, if it is a frame of ours at all. False: garbage. */
bool tacit_wire_peek(const uint8_t *bytes, size_t len, uint8_t *version, uint8_t *kind);

/*
 * Read a header of `len` bytes that came with a payload of `payload` bytes (another part of the
 * same message, for instance). TACIT_EPEER: one of ours in another version, which err names beside
 * our own; a node answers with a bye, except to a bye (tacit_wire_peek). TACIT_EINPUT: garbage, or
 * cut, or too long; no answer. *out is untouched unless all is well.
 */
tacit_status tacit_wire_read(tacit_wire_header *out, const uint8_t *bytes, size_t len,
                             size_t payload, tacit_error *err);

/* As above for header and payload in one piece; *payload points into `bytes`. */
tacit_status tacit_wire_open(tacit_wire_header *out, const uint8_t **payload, const uint8_t *bytes,
                             size_t len, tacit_error *err);

/*
 * A batch: its payload is 2 to TACIT_WIRE_TOGETHER frames between agents (kinds 1 to 3), whole, of
 * its own run and protocol, and nothing else. This checks all of that, so that either the whole
 * batch is read or nothing of it; how many there are goes to *count (may be NULL).
 */
tacit_status tacit_wire_check_batch(const tacit_wire_header *batch, const uint8_t *payload,
                                    uint32_t *count, tacit_error *err);
/* Walk through one that was checked: the frame at *at, of *len bytes, and on to the next. False:
 * that was the last. */
bool tacit_wire_next(const tacit_wire_header *batch, const uint8_t *payload, size_t *at,
                     const uint8_t **frame, size_t *len);

/* How many bytes of payload a header of our own announces: to walk a row of frames. */
uint32_t tacit_wire_payload(const uint8_t header[TACIT_WIRE_HEADER]);

/* ---- payloads: a public vector of a shape that both sides know ---- */

/* The most bytes a payload of `shape` (NULL: none) can have, from us or from anybody; a shape for
 * which that is past UINT32_MAX cannot be sent. */
tacit_status tacit_wire_bound(size_t *bytes, const tacit_shape *shape, tacit_error *err);

/* `v` (NULL: nothing) as bytes, in the fewest the format has for it. `out` has room for
 * tacit_wire_bound. Refuses NaN and infinities: a peer would. */
tacit_status tacit_wire_encode(uint8_t *out, size_t room, size_t *len, const tacit_public *v,
                               tacit_error *err);

/*
 * Fill `out`, fresh (not yet sent) and of the shape that the protocol declares for the address;
 * NULL where it declares none. All of `len` must be used up. No number may exceed `limit` in
 * absolute value (INFINITY: any finite one). On failure the numbers in `out` mean nothing.
 */
tacit_status tacit_wire_decode(tacit_public *out, const uint8_t *bytes, size_t len, double limit,
                               tacit_error *err);

#endif
