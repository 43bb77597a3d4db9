/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_PROBE_H
#define TACIT_TEST_PROBE_H
/*
 * A protocol without an algorithm: every agent writes down the events it is handed, and a
 * test says by a callback what it does about them. Payloads of kind PROBE_WORD, on any
 * channel, are a number and a counter; what is given to sums (PROBE_SUM) are three numbers, with
 * two whole ones beside them.
 */
#include "testing.h"

enum {
    PROBE_WORD = 1,
    PROBE_ANSWER = 2,
    PROBE_SUM = 3,
    PROBE_OTHER = 9,
    PROBE_LOG = 60,
    PROBE_PEERS = 8
};

typedef struct probe_entry {
    double time;
    uint32_t type, slot, channel, kind;
    uint64_t from, id;
    double value;        /* of the payload */
    const void *payload; /* where it was: equal means shared; not saved */
} probe_entry;

typedef struct probe_agent {
    uint64_t count; /* events so far, also beyond the log's room */
    uint64_t of_type[TACIT_FINISH + 1];
    uint64_t number;           /* for the callback's own use, saved */
    uint64_t status;           /* the same: usually what a call answered */
    double heard[PROBE_PEERS]; /* value of the last message of agents 0, 1, ... */
    uint64_t twice;            /* messages whose value was not above the one before, of one agent */
    probe_entry log[PROBE_LOG];
} probe_agent;

typedef struct probe {
    tacit_status (*on)(tacit_env *env, const struct probe *probe, probe_agent *self,
                       const tacit_event *event); /* NULL: only listen */
    void *ctx;
    tacit_shape word, other; /* what is declared, and what is not */
    tacit_shape sum, beside;
} probe;

/* The protocol with the given flags; both live as long as the test. */
void probe_init(probe *p);
tacit_protocol probe_protocol(uint32_t flags);

/* A new payload holding `value`; NULL never (the test fails). */
tacit_public *probe_word(tacit_env *env, const probe *p, double value);
/* Send a word and drop it; `to` TACIT_NOBODY broadcasts. */
tacit_status probe_say(tacit_env *env, const probe *p, tacit_agent to, double value);
/* How many entries of the log have this type. */
uint64_t probe_seen(const probe_agent *agent, tacit_event_type type);

#endif
