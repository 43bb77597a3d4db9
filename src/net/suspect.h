/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NET_SUSPECT_H
#define TACIT_NET_SUSPECT_H
/*
 * Who is slow and who is dead, from when each peer was last heard.
 *
 * A pure state machine: times come in as seconds of a monotonic clock. Everything authenticated
 * that a peer sends counts as a sign of life; a peer that sends at least every `interval` is up.
 * Changes are told once each, by tacit_suspect_next, in the shape of TACIT_PEER_UP and
 * TACIT_PEER_DOWN: slow is for the eyes of a person, a slow peer is still there.
 */
#include "tacit/base.h"

typedef enum tacit_health { TACIT_HEALTH_UP, TACIT_HEALTH_SLOW, TACIT_HEALTH_DOWN } tacit_health;

typedef struct tacit_suspect_options {
    double interval; /* seconds between signs of life that a peer is asked for */
    double slow;     /* silence of so many intervals at least before a peer is slow */
    double down;     /* ... before it is down */
    double longest;  /* silence of so many intervals is down, however irregular the peer was */
    uint32_t steady; /* signs of life in time, one after the other, before it is up again */
} tacit_suspect_options;

void tacit_suspect_defaults(tacit_suspect_options *o); /* interval of 1 s */

typedef struct tacit_suspect tacit_suspect;

tacit_status tacit_suspect_create(tacit_suspect **out, const tacit_suspect_options *o, double now,
                                  tacit_error *err);
void tacit_suspect_free(tacit_suspect *s);

/* A peer to watch, up from now on; slots of those removed are used again. */
tacit_status tacit_suspect_add(tacit_suspect *s, uint32_t *slot, double now, tacit_error *err);
void tacit_suspect_remove(tacit_suspect *s, uint32_t slot);
/* A sign of life. */
void tacit_suspect_heard(tacit_suspect *s, uint32_t slot, double now);
/* Time passes. Call it a few times an interval: a step counts for at most half of one. */
void tacit_suspect_tick(tacit_suspect *s, double now);

typedef struct tacit_suspect_change {
    uint32_t slot;
    tacit_health before, after; /* they differ */
} tacit_suspect_change;

/* The next change nobody was told of; false when there is none. What went away and came back
 * between two calls is no change. */
bool tacit_suspect_next(tacit_suspect *s, tacit_suspect_change *change);

tacit_health tacit_suspect_health(const tacit_suspect *s, uint32_t slot);
/* For tables and /metrics: seconds since the peer was heard, and those after which it is down. */
double tacit_suspect_silence(const tacit_suspect *s, uint32_t slot);
double tacit_suspect_limit(const tacit_suspect *s, uint32_t slot);

#endif
