/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_SIM_QUEUE_H
#define TACIT_SIM_QUEUE_H
/*
 * Everything that will happen and is not a tick: messages under way, timers, agents that go
 * and come back. Ordered by (time, receiver, sender, sender's counter), which is total: no
 * two events of a run are equal, so the order never depends on who inserted first.
 */
#include "base/vector_internal.h"
#include "tacit/env.h"

enum { SIM_CHURN = 100 }; /* an event type of our own, beside tacit_event_type */

typedef struct sim_event {
    double time;
    uint32_t to, from;
    uint64_t counter; /* of the sender */
    uint32_t type;
    tacit_address at;
    uint64_t id;
    tacit_vector *payload; /* one reference, or NULL */
    tacit_vector *beside;  /* the same: TACIT_GROUP_RESULT only */
} sim_event;

typedef struct sim_queue {
    sim_event *heap;
    size_t count, capacity;
} sim_queue;

bool sim_event_before(const sim_event *a, const sim_event *b);
bool sim_queue_push(sim_queue *queue, const sim_event *event); /* false: out of memory */
sim_event sim_queue_pop(sim_queue *queue);                     /* queue must not be empty */
double sim_queue_next(const sim_queue *queue);                 /* infinity when empty */

#endif
