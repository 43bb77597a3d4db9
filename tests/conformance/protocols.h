/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_CONFORMANCE_PROTOCOLS_H
#define TACIT_CONFORMANCE_PROTOCOLS_H
/* Two throw-away protocols that prove the seams: one thinks in rounds, one nests others that
 * ask and wait. No part of the library. */
#include "tacit/protocol.h"

/* ---- rounds_protocol.c: synchronous averaging ---- */
typedef struct rounds_options {
    uint64_t rounds;
    double patience;
} rounds_options;

typedef struct rounds_agent {
    double x;         /* the number that is averaged */
    uint64_t missing; /* words that were not there when patience was over */
    uint64_t done;    /* all rounds are over */
    tacit_rounds rounds;
    const tacit_public *word[]; /* room for tacit_rounds: two a neighbour */
} rounds_agent;

double rounds_start(tacit_agent agent); /* x before the first round */
extern const tacit_protocol rounds_protocol;

/* ---- ask_protocol.c: a parent with children on channels 1 and 2, and a grandchild ---- */
typedef struct ask_options {
    double deadline;
} ask_options;

typedef struct asker {
    uint64_t asked, answered, silent; /* requests, replies, deadlines */
    uint64_t served;                  /* requests of others */
    uint64_t wrong;                   /* replies that do not belong to the question */
    uint64_t pending;                 /* id of the request under way plus one, 0: none */
    uint64_t whom;
    uint64_t first_draw; /* the stream is the child's own */
    double report;       /* what the parent may read ... */
    uint64_t ready;      /* ... when this is set */
} asker;

enum { ASKERS = 3 }; /* on channel 1, on channel 2, and on channel 1 of the relay on 3 */

typedef struct ask_agent {
    asker asker[ASKERS];
    uint64_t reports[ASKERS];
    double total[ASKERS];
} ask_agent;

/* What asker `which` of `agent` answers: each family has its own numbers. */
double ask_answer(int which, tacit_agent agent);
extern const tacit_protocol ask_protocol;

#endif
