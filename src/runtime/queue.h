/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_RUNTIME_QUEUE_H
#define TACIT_RUNTIME_QUEUE_H
/*
 * Everything that will happen and is not a tick: messages under way, timers, agents that go
 * and come back. Ordered by (time, receiver, sender, sender's counter), which is total: no
 * two events of a run are equal, so the order never depends on who inserted first.
 */
#include "base/vector_internal.h"
#include "tacit/env.h"

enum { SIM_CHURN = 100 }; /* an event type of our own, beside tacit_event_type */

typedef struct runtime_event {
    double time;
    uint32_t to, from;
    uint64_t counter; /* of the sender */
    uint32_t type;
    tacit_address at;
    uint64_t id;
    tacit_vector *payload; /* one reference, or NULL */
    tacit_vector *beside;  /* the same: TACIT_GROUP_RESULT only */
} runtime_event;

typedef struct runtime_queue {
    runtime_event *heap;
    size_t count, capacity;
} runtime_queue;

bool runtime_event_before(const runtime_event *a, const runtime_event *b);
bool runtime_queue_push(runtime_queue *queue,
                        const runtime_event *event);   /* false: out of memory */
runtime_event runtime_queue_pop(runtime_queue *queue); /* queue must not be empty */
double runtime_queue_next(const runtime_queue *queue); /* infinity when empty */

#endif
