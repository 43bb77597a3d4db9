/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_LEARNER_H
#define TACIT_PROTOCOL_LEARNER_H
/* Inside of the protocol learner: learner.c has options and state, learner_center.c is the learner,
 * learner_owner.c a data owner. */
#include <stddef.h>

#include "protocol/spending.h"

enum { LEARNER_REQUEST, LEARNER_BROADCAST };             /* mode */
enum { INERTIA_SOUND, INERTIA_PRINTED, INERTIA_NONE };   /* inertia */
enum { LEARNER_SPLIT_CAP, LEARNER_SPLIT_HORIZON };       /* split */
enum { LEARNER_WORD = 1, LEARNER_WISH, LEARNER_ANSWER }; /* kinds of messages */

/* Segments of a word, learner to owner. Number 0 asks for nothing. */
enum { WORD_POINT, WORD_MODEL, WORD_ABOUT, WORD_PARTS };
enum { WORD_NUMBER, WORD_OVER, WORD_FIGURES };
/* Of a wish, owner to learner. */
enum { WISH_RECORDS, WISH_WHAT, WISH_FIGURES };
enum {
    WISH_NOTHING, /* here is who I am; or: do not wait for my answer */
    WISH_QUERY,   /* ask me */
    WISH_REST     /* never ask me again: my budget is spent */
};
/* Of an answer. */
enum { ANSWER_GRADIENT, ANSWER_NUMBER, ANSWER_PARTS };

typedef struct learner_options {
    int64_t learner;
    int mode, inertia, split;
    int64_t iterations;
    int64_t answers;
    double beta;
    double step;
    double range;
    double patience;
} learner_options;

typedef struct learner_shared {
    learner_options options;
    tacit_privacy_options privacy;
    const tacit_shape *model;
    size_t features;
    tacit_shape word, wish, answer;
    bool noisy;
    spending costs; /* no groups: no budget was found to plan for */
    uint64_t cap;   /* answers of an owner; 0: as many as its ledger lets it */
    double alpha;   /* options.step, or what stands for it */
    double lambda;  /* g = lambda |theta|^2 */
} learner_shared;

typedef enum learner_standing {
    OWNER_UNKNOWN, /* nothing was heard of it */
    OWNER_IN,
    OWNER_AWAY,
    OWNER_DONE, /* its budget is spent */
    OWNER_STANDINGS
} learner_standing;

/* What the learner keeps of an owner. */
typedef struct learner_owner {
    const tacit_public *theta; /* theta_i; NULL: zero */
    const tacit_public *point; /* where its gradient was asked for */
    uint64_t number;           /* of the query it may answer; 0: none */
    uint64_t waits;            /* its turn among those who wait; 0: it does not */
    uint64_t records;          /* n_i, as it said first; unit user: 1 */
    uint64_t answers;          /* that counted */
    uint64_t standing;         /* learner_standing */
    double asked;              /* when `number` was */
} learner_owner;

typedef struct learner_agent {
    const tacit_public *theta; /* theta_L; an owner's: as last heard, NULL if never */
    const tacit_public *point; /* owner: where it may answer */
    uint64_t number;           /* learner: of the last query; owner: of `point` */
    uint64_t answered;         /* owner: the last query it answered */
    uint64_t made;             /* learner: iterations; owner: answers */
    uint64_t dropped;          /* learner: answers that came late, twice or unasked */
    uint64_t turns;            /* learner: given to those who wait */
    uint64_t open;             /* learner, mode request: whose answer it waits for, plus one */
    bool ticked;               /* owner: its clock has ticked since it last answered */
    bool over;                 /* learner: it asks no more, or has said so */
    bool spent;                /* owner */
    learner_owner owner[];     /* learner: one a neighbour */
} learner_agent;

/* T_i: the smallest k with P(Bin(iterations, 1/owners) > k) <= beta, at least 1. */
uint64_t learner_cap(uint64_t iterations, uint64_t owners, double beta);

tacit_status learner_center_on(tacit_env *env, const learner_shared *s, learner_agent *self,
                               const tacit_event *event);
tacit_status learner_owner_on(tacit_env *env, const learner_shared *s, learner_agent *self,
                              const tacit_event *event);
/* A new vector of the model's shape, from a segment of a message; NULL when memory is out. */
tacit_public *learner_copy(tacit_env *env, const learner_shared *s, const tacit_public *from,
                           uint32_t segment);
void learner_put(tacit_public *to, uint32_t segment, const tacit_public *from);

#endif
