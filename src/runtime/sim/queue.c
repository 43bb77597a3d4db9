/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/sim/queue.h"

#include <math.h>

#include "base/array.h"

#define WAYS 4 /* children a node: fewer cache misses than two */

bool sim_event_before(const sim_event *a, const sim_event *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->to != b->to)
        return a->to < b->to;
    if (a->from != b->from)
        return a->from < b->from;
    return a->counter < b->counter;
}

bool sim_queue_push(sim_queue *q, const sim_event *event)
{
    sim_event *heap = tacit_array_grow(q->heap, &q->capacity, q->count + 1, sizeof *heap);
    if (!heap)
        return false;
    q->heap = heap;
    size_t at = q->count++;
    while (at > 0) {
        size_t parent = (at - 1) / WAYS;
        if (!sim_event_before(event, &q->heap[parent]))
            break;
        q->heap[at] = q->heap[parent];
        at = parent;
    }
    q->heap[at] = *event;
    return true;
}

sim_event sim_queue_pop(sim_queue *q)
{
    sim_event top = q->heap[0];
    sim_event last = q->heap[--q->count];
    size_t at = 0;
    for (;;) {
        size_t first = at * WAYS + 1, best = at;
        const sim_event *least = &last;
        for (size_t k = first; k < first + WAYS && k < q->count; k++)
            if (sim_event_before(&q->heap[k], least)) {
                least = &q->heap[k];
                best = k;
            }
        if (best == at)
            break;
        q->heap[at] = q->heap[best];
        at = best;
    }
    if (q->count > 0)
        q->heap[at] = last;
    return top;
}

double sim_queue_next(const sim_queue *q)
{
    return q->count ? q->heap[0].time : INFINITY;
}
