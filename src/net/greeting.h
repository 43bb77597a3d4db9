/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NET_GREETING_H
#define TACIT_NET_GREETING_H
/*
 * What nodes tell each other about themselves: the payload of hello, hello-ack, ping and pong.
 *
 * A ping is answered by a pong with the ping's stamp, which tells what was heard of the asker's
 * agents: up to which message, and the highest marks of each (mark.h). From that the asker learns
 * which of its last words got lost, and whether its own ledger is older than what it told.
 */
#include "net/mark.h"
#include "tacit/base.h"

/* What one of our agents has heard of one of theirs. */
typedef struct tacit_heard {
    uint32_t from, to; /* their agent, ours */
    uint64_t incarnation, sequence;
} tacit_heard;

/* The mark of an agent of the sender's, or of the receiver's as the sender knows it. */
typedef struct tacit_marked {
    uint32_t agent;
    tacit_mark mark;
} tacit_marked;

enum {
    TACIT_GREETING_ENDED = 1, /* its agents will not tick any more */
    TACIT_GREETING_MUTE = 2   /* it cannot write its ledger: it only listens */
};
#define TACIT_GREETING_AGENTS 65536 /* at most; as many for what was heard, and marks */

typedef struct tacit_greeting {
    uint64_t stamp; /* of a hello or ping; its answer repeats it */
    uint64_t quiet; /* for agreement: see docs/peers.md */
    uint32_t flags;
    uint32_t agents; /* hosted by the sender */
    uint32_t heard_count, mark_count;
    const uint32_t *agent;    /* sorted */
    const tacit_heard *heard; /* sorted by from, then to */
    const tacit_marked *mark; /* sorted by tacit_marked_order, at most two of an agent */
} tacit_greeting;

/* By agent, then releases, then head; below 0, 0, above 0. */
int tacit_marked_order(const tacit_marked *a, const tacit_marked *b);

size_t tacit_greeting_bytes(const tacit_greeting *g);
void tacit_greeting_encode(uint8_t *out, const tacit_greeting *g);
/* Strict: one encoding each, lists sorted without doubles, unknown flags refused. Arrays are
 * allocated; tacit_greeting_clear frees them. */
tacit_status tacit_greeting_decode(tacit_greeting *g, const uint8_t *bytes, size_t len,
                                   tacit_error *err);
void tacit_greeting_clear(tacit_greeting *g);
/* How many agents, pairs and marks a greeting announces, without looking at any of them: whoever
 * knows that this is too many refuses it before it costs anything. False: it is too short to say.
 */
bool tacit_greeting_peek(const uint8_t *bytes, size_t len, uint32_t *agents, uint32_t *heard,
                         uint32_t *marks);

#endif
