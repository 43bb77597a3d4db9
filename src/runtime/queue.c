/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/queue.h"

#include <math.h>

#include "base/array.h"

#define WAYS 4 /* children a node: fewer cache misses than two */

bool runtime_event_before(const runtime_event *a, const runtime_event *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->to != b->to)
        return a->to < b->to;
    if (a->from != b->from)
        return a->from < b->from;
    return a->counter < b->counter;
}

bool runtime_queue_push(runtime_queue *q, const runtime_event *event)
{
    runtime_event *heap = tacit_array_grow(q->heap, &q->capacity, q->count + 1, sizeof *heap);
    if (!heap)
        return false;
    q->heap = heap;
    size_t at = q->count++;
    while (at > 0) {
        size_t parent = (at - 1) / WAYS;
        if (!runtime_event_before(event, &q->heap[parent]))
            break;
        q->heap[at] = q->heap[parent];
        at = parent;
    }
    q->heap[at] = *event;
    return true;
}

runtime_event runtime_queue_pop(runtime_queue *q)
{
    runtime_event top = q->heap[0];
    runtime_event last = q->heap[--q->count];
    size_t at = 0;
    for (;;) {
        size_t first = at * WAYS + 1, best = at;
        const runtime_event *least = &last;
        for (size_t k = first; k < first + WAYS && k < q->count; k++)
            if (runtime_event_before(&q->heap[k], least)) {
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

double runtime_queue_next(const runtime_queue *q)
{
    return q->count ? q->heap[0].time : INFINITY;
}
