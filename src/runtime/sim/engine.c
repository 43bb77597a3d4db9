/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events run when, and which at the same time. The result is that of handling all
 * events one by one in the order of runtime_event_before, whatever the number of threads.
 *
 *   merged    one thread, any protocol: ticks and queue merged by time.
 *   lanes     zero latency, quiet protocols (handlers of messages do not send): lanes.c.
 *   windows   positive latency: what is sent inside a window no longer than the least
 *             latency arrives after it. So inside the window agents are independent, each
 *             handles its own events in order. What is sent for the next window, most of it, never
 *             sees the queue: it is sorted by receiver in a few passes, and by the rest of
 *             runtime_event_before on the threads that handle it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "runtime/sim/sim.h"
#include "runtime/sim/tick.h"

#define EVENTS_BETWEEN_STOPS 4096

/* ---- what workers produced ---- */

static int compare_metrics(const void *x, const void *y)
{
    const sim_metric *a = x, *b = y;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->agent != b->agent)
        return a->agent < b->agent ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* One agent's metrics of one time all come from one worker, in order, so sorting a copy of
 * all by (time, agent, place) gives the same sequence for any number of threads. */
static void flush_metrics(sim *s)
{
    size_t total = 0, at = 0;
    for (uint32_t k = 0; k < tacit_threads_count(s->threads); k++)
        total += s->worker[k].metric_count;
    if (total == 0)
        return;
    sim_metric *all = malloc(total * sizeof *all);
    for (uint32_t k = 0; k < tacit_threads_count(s->threads); k++) {
        sim_worker *w = &s->worker[k];
        for (size_t j = 0; all && j < w->metric_count; j++, at++) {
            all[at] = w->metric[j];
            all[at].place = at;
        }
        w->metric_count = 0;
    }
    if (!all)
        return; /* lost metrics are better than a lost run */
    qsort(all, total, sizeof *all, compare_metrics);
    for (size_t k = 0; k < total; k++)
        s->runtime.metric(s->runtime.metric_ctx, all[k].time, all[k].agent, all[k].name,
                          all[k].value, all[k].is_private);
    free(all);
}

static tacit_status first_failure(sim *s, tacit_error *err)
{
    const sim_worker *first = NULL;
    for (uint32_t k = 0; k < tacit_threads_count(s->threads); k++) {
        const sim_worker *w = &s->worker[k];
        if (w->status != TACIT_OK &&
            (!first || w->failed_at < first->failed_at ||
             (w->failed_at == first->failed_at && w->failed < first->failed)))
            first = w;
    }
    if (!first)
        return TACIT_OK;
    return tacit_fail(err, first->status, "%s", first->failure.text);
}

static bool batch_add(sim *s, const runtime_event *event)
{
    runtime_event *batch =
        tacit_array_grow(s->batch, &s->batch_capacity, s->batch_count + 1, sizeof *batch);
    if (!batch || s->batch_count == UINT32_MAX)
        return false;
    s->batch = batch;
    s->batch[s->batch_count++] = *event;
    s->batch_begin = fmin(s->batch_begin, event->time);
    return true;
}

static void batch_clear(sim *s)
{
    s->batch_count = 0;
    s->batch_begin = INFINITY;
}

/* What comes before `soon` goes to the batch, all else to the queue. */
static tacit_status collect(sim *s, double soon, tacit_error *err)
{
    for (uint32_t k = 0; k < tacit_threads_count(s->threads); k++) {
        sim_worker *w = &s->worker[k];
        for (size_t j = 0; j < w->out_count; j++)
            if (!(w->out[j].time < soon ? batch_add(s, &w->out[j])
                                        : runtime_queue_push(&s->queue, &w->out[j])))
                return tacit_out_of_memory(err);
        w->out_count = 0;
    }
    flush_metrics(s);
    return first_failure(s, err);
}

tacit_status sim_collect(sim *s, tacit_error *err)
{
    return collect(s, -INFINITY, err);
}

/* ---- merged ---- */

/* Handle queue and ticks before `end` in order of time; in a tie sums close first, then comes the
 * queue. */
tacit_status sim_merge(sim *s, const sim_tick *tick, size_t count, double end, tacit_error *err)
{
    sim_worker *w = &s->worker[0];
    tacit_status status = TACIT_OK;
    size_t k = 0;
    while (status == TACIT_OK) {
        double queued = runtime_queue_next(&s->queue), closing = sim_groups_next(s);
        if (closing < end && closing <= queued && !(k < count && tick[k].time < closing)) {
            status = sim_groups_close(s, err);
        } else if (k < count && tick[k].time < queued) {
            sim_ahead ahead;
            for (size_t d = 0; d < SIM_AHEAD; d++) {
                ahead.agent[d] = tick[k + 1 + d < count ? k + 1 + d : count - 1].agent;
                ahead.ours[d] = true;
            }
            look_ahead(w, &ahead);
            wake(w, &tick[k++]);
        } else if (queued < end) {
            runtime_event event = runtime_queue_pop(&s->queue);
            sim_deliver(w, &event);
        } else {
            break;
        }
        if (w->out_count > 0 || w->status != TACIT_OK || w->metric_count > 0)
            status = sim_collect(s, err);
    }
    return status;
}

/* A protocol without a clock: everything comes from the queue, taken a slice at a time. */
static tacit_status drain(sim *s, double end, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (int k = 0; k < EVENTS_BETWEEN_STOPS && status == TACIT_OK; k++) {
        double queued = runtime_queue_next(&s->queue), closing = sim_groups_next(s);
        if (!(fmin(queued, closing) < end))
            break;
        if (closing <= queued) {
            status = sim_groups_close(s, err);
            continue;
        }
        runtime_event event = runtime_queue_pop(&s->queue);
        sim_deliver(&s->worker[0], &event);
        status = sim_collect(s, err);
    }
    return status;
}

static tacit_status run_merged(sim *s, double *end, tacit_error *err)
{
    if (!s->clock) {
        tacit_status status = drain(s, *end, err);
        *end = fmin(*end, fmin(runtime_queue_next(&s->queue), sim_groups_next(s)));
        return status;
    }
    size_t count;
    const sim_tick *tick = sim_clock_take(s->clock, end, &count);
    return tick ? sim_merge(s, tick, count, *end, err) : tacit_out_of_memory(err);
}

/* ---- windows ---- */

/* Nothing of the batch from `end` on stays there. */
static bool put_back(sim *s, double end)
{
    size_t kept = 0;
    for (size_t k = 0; k < s->batch_count; k++)
        if (s->batch[k].time < end)
            s->batch[kept++] = s->batch[k];
        else if (!runtime_queue_push(&s->queue, &s->batch[k]))
            return false;
    s->batch_count = kept;
    return true;
}

static bool fill_batch(sim *s, const sim_tick *tick, size_t count, double end)
{
    if (!put_back(s, end))
        return false;
    while (runtime_queue_next(&s->queue) < end) {
        runtime_event event = runtime_queue_pop(&s->queue);
        if (!batch_add(s, &event))
            return false;
    }
    for (size_t k = 0; k < count; k++) {
        runtime_event event = {.time = tick[k].time,
                               .to = tick[k].agent,
                               .from = tick[k].agent,
                               .counter = UINT64_MAX,
                               .type = TACIT_WAKE};
        if (!batch_add(s, &event))
            return false;
    }
    return true;
}

/* By receiver, the lowest digit first; `from` and `to` change places at every pass. */
static sim_place *sort_places(sim_place *from, sim_place *to, size_t count, uint32_t agents)
{
    enum { BITS = 11, DIGITS = 1 << BITS };
    for (int shift = 0; shift < 32 && (agents - 1) >> shift > 0; shift += BITS) {
        size_t first[DIGITS] = {0}, at = 0;
        for (size_t k = 0; k < count; k++)
            first[from[k].to >> shift & (DIGITS - 1)]++;
        for (size_t d = 0; d < DIGITS; d++) {
            const size_t here = first[d];
            first[d] = at;
            at += here;
        }
        for (size_t k = 0; k < count; k++)
            to[first[from[k].to >> shift & (DIGITS - 1)]++] = from[k];
        sim_place *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static int by_receiver(const void *x, const void *y)
{
    const sim_place *a = x, *b = y;
    return a->to < b->to ? -1 : a->to > b->to;
}

/* group[k] is where the events of the k-th receiver begin in s->sorted. */
static bool group_batch(sim *s)
{
    const size_t few = 512; /* then the passes' tables are the larger part */
    const size_t count = s->batch_count;
    sim_place *place = tacit_array_grow(s->place, &s->place_capacity, 2 * count + 1, sizeof *place);
    size_t *group = tacit_array_grow(s->group, &s->group_capacity, count + 1, sizeof *group);
    s->place = place ? place : s->place;
    s->group = group ? group : s->group;
    if (!place || !group)
        return false;
    for (size_t k = 0; k < count; k++)
        place[k] = (sim_place){s->batch[k].to, (uint32_t)k};
    s->sorted = place;
    if (count > few)
        s->sorted = sort_places(place, place + count, count, s->agents);
    else if (count > 0)
        qsort(place, count, sizeof *place, by_receiver);
    s->group_count = 0;
    for (size_t k = 0; k < count; k++)
        if (k == 0 || s->sorted[k].to != s->sorted[k - 1].to)
            group[s->group_count++] = k;
    group[s->group_count] = count;
    return true;
}

static int by_order(const void *x, const void *y)
{
    const runtime_event *a = *(const runtime_event *const *)x;
    const runtime_event *b = *(const runtime_event *const *)y;
    return runtime_event_before(a, b) ? -1 : runtime_event_before(b, a);
}

/* One receiver's events in order, in the worker's own room. */
static const runtime_event **in_order(sim_worker *w, const sim_place *place, size_t count)
{
    const runtime_event **event =
        tacit_array_grow(w->turn, &w->turn_capacity, count, sizeof *event);
    if (!event)
        return NULL;
    w->turn = event;
    bool sorted = true;
    for (size_t k = 0; k < count; k++) {
        event[k] = &w->sim->batch[place[k].event];
        sorted = sorted && (k == 0 || runtime_event_before(event[k - 1], event[k]));
    }
    if (!sorted)
        qsort(event, count, sizeof *event, by_order);
    return event;
}

/* All events of one agent in the window, with those it makes for itself meanwhile. */
static void run_agent(sim_worker *w, const sim_place *place, size_t count)
{
    size_t k = 0;
    const runtime_event **event = in_order(w, place, count);
    w->agent = place->to;
    if (!event) {
        sim_fail(w, w->sim->now, TACIT_EINTERNAL, "out of memory");
        return;
    }
    while (k < count || w->soon.count > 0) {
        bool own =
            w->soon.count > 0 && (k == count || runtime_event_before(w->soon.heap, event[k]));
        if (own) {
            runtime_event next = runtime_queue_pop(&w->soon);
            sim_deliver(w, &next);
        } else {
            sim_deliver(w, event[k++]);
        }
    }
}

typedef struct window_job {
    sim *s;
    double end;
} window_job;

static void run_groups(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    const window_job *job = ctx;
    const sim *s = job->s;
    sim_worker *w = &s->worker[worker];
    w->window_end = job->end;
    for (size_t k = begin; k < end; k++)
        run_agent(w, s->sorted + s->group[k], s->group[k + 1] - s->group[k]);
    w->window_end = -INFINITY;
}

static tacit_status run_windows(sim *s, double *end, tacit_error *err)
{
    double begin = fmin(s->batch_begin, runtime_queue_next(&s->queue));
    if (s->clock)
        begin = fmin(begin, sim_clock_next(s->clock));
    begin = fmax(begin, s->now);
    const double beyond = *end;
    *end = fmin(fmin(*end, sim_groups_next(s)), begin + s->world.network.latency_floor);
    size_t count = 0;
    const sim_tick *tick = NULL;
    if (s->clock && !(tick = sim_clock_take(s->clock, end, &count)))
        return tacit_out_of_memory(err);
    if (!fill_batch(s, tick, count, *end) || !group_batch(s))
        return tacit_out_of_memory(err);
    window_job job = {s, *end};
    /* A trace is written in order, so a traced run has one thread. */
    size_t grain = s->runtime.trace ? s->group_count : tacit_model_net(s->world.model) ? 1 : 8;
    tacit_threads_run(s->threads, s->group_count, grain, run_groups, &job);
    batch_clear(s);
    tacit_status status = collect(s, *end + s->world.network.latency_floor, err);
    /* A round is never opened in a window in which it would close: gifts take the latency, too. */
    while (status == TACIT_OK && sim_groups_next(s) <= *end && sim_groups_next(s) < beyond)
        status = sim_groups_close(s, err);
    return status;
}

/* ---- the loop ---- */

static tacit_status run_loop(sim *s, double until, const tacit_stop *stop, tacit_error *err)
{
    bool latency = s->world.network.latency != TACIT_LATENCY_ZERO;
    bool parallel = s->lanes && !s->runtime.trace;
    double beyond = nextafter(until, INFINITY); /* `until` itself is included */
    while (s->now < beyond) {
        if (stop && *stop)
            return tacit_fail(err, TACIT_EINTERRUPTED, "interrupted at time %g", s->now);
        double end = beyond;
        tacit_status status = latency    ? run_windows(s, &end, err)
                              : parallel ? sim_run_lanes(s, &end, err)
                                         : run_merged(s, &end, err);
        if (status != TACIT_OK)
            return status;
        s->now = end;
    }
    s->now = until;
    return TACIT_OK;
}

/* Between runs all that is to come is in the queue: checkpoints look there. */
tacit_status sim_run_until(sim *s, double until, const tacit_stop *stop, tacit_error *err)
{
    batch_clear(s);
    const tacit_status status = run_loop(s, until, stop, err);
    const bool kept = put_back(s, -INFINITY);
    return status == TACIT_OK && !kept ? tacit_out_of_memory(err) : status;
}

void sim_engine_clear(sim *s)
{
    free(s->batch);
    free(s->place);
    free(s->group);
}
