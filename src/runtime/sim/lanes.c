/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads at zero latency, for quiet protocols: handlers of messages do not send.
 *
 * A tick of agent i touches i and its neighbours, nothing else. The ticks of a window are dealt
 * out to lanes in turn, and each thread runs a lane in order. A tick waits until every earlier
 * tick of another lane that touches a common agent is done. Since lanes run in order, it is
 * enough to know, for each other lane, the latest such tick: one number a lane. So conflicting
 * ticks keep their order, all others commute, and the result is that of one thread.
 *
 * Nobody waits for ever: a tick waits for earlier ones only, and the earliest that is not done
 * waits for nobody. (Levels with a barrier between them were tried first: with ten neighbours
 * a level of 10,000 agents holds 45 ticks, and threads waited a fifth of the time.)
 *
 * Invariant: once all a tick waits for is done, nobody but its lane touches its agent or the
 * neighbours until it is done itself: whoever would, has to wait for it.
 */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "runtime/sim/tick.h"

#define CACHE_LINE 64
#define PATIENCE 2000 /* looks before a waiting thread lets others have its core */

/* How far a lane is: ticks with a smaller number are done. On a cache line of its own. */
typedef struct progress {
    _Atomic uint32_t done;
    char padding[CACHE_LINE - sizeof(_Atomic uint32_t)];
} progress;

struct sim_lanes {
    uint32_t count;
    progress *progress;
    uint64_t *last; /* the latest tick that touches an agent, counted over all windows */
    uint64_t base;  /* ticks of all windows before this one */
    uint32_t *need; /* for each tick and lane: how far that lane must be */
    size_t room;
};

typedef struct lanes_job {
    sim *s;
    const sim_tick *tick;
    uint32_t count;
} lanes_job;

sim_lanes *sim_lanes_create(uint32_t agents, uint32_t count)
{
    sim_lanes *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->count = count;
    l->progress = calloc(count, sizeof *l->progress);
    l->last = calloc(agents, sizeof *l->last);
    if (!l->progress || !l->last) {
        sim_lanes_free(l);
        return NULL;
    }
    return l;
}

void sim_lanes_free(sim_lanes *l)
{
    if (!l)
        return;
    free(l->progress);
    free(l->last);
    free(l->need);
    free(l);
}

/* ---- who waits for whom ---- */

FETCHES fetch_last(const sim *s, const sim_tick *tick, size_t count, size_t k)
{
    const tacit_graph *g = s->world.graph;
    if (k + 16 < count)
        __builtin_prefetch(&g->row[tick[k + 16].agent]);
    if (k + 8 < count)
        __builtin_prefetch(&g->neighbour[g->row[tick[k + 8].agent]]);
    if (k + 4 < count) {
        uint32_t a = tick[k + 4].agent;
        for (uint64_t e = g->row[a]; e < g->row[a + 1]; e++)
            __builtin_prefetch(&s->lanes->last[g->neighbour[e]], 1);
    }
}

/* Tick k touches `agent`: it needs whoever touched it before, and is the latest now. Returns
 * whether that was the tick just before it. */
static bool touch(sim_lanes *l, uint32_t agent, uint32_t k, uint32_t *need)
{
    uint64_t before = l->last[agent];
    l->last[agent] = l->base + k + 1;
    if (before <= l->base)
        return false;                               /* in an earlier window: done */
    uint32_t number = (uint32_t)(before - l->base); /* of the tick, from 1 */
    uint32_t *lane = &need[(number - 1) % l->count];
    if (number > *lane)
        *lane = number;
    return number == k;
}

/* Fill in need[]; returns how many ticks must wait for the one just before them. */
static size_t find_needs(sim *s, const sim_tick *tick, uint32_t count)
{
    const tacit_graph *g = s->world.graph;
    sim_lanes *l = s->lanes;
    size_t entangled = 0;
    memset(l->need, 0, (size_t)count * l->count * sizeof *l->need);
    for (uint32_t k = 0; k < count; k++) {
        fetch_last(s, tick, count, k);
        uint32_t a = tick[k].agent, *need = l->need + (size_t)k * l->count;
        bool waits = touch(l, a, k, need);
        for (uint64_t e = g->row[a]; e < g->row[a + 1]; e++)
            waits |= touch(l, g->neighbour[e], k, need);
        entangled += waits;
    }
    l->base += count;
    return entangled;
}

/* ---- running ---- */

static bool ready(const sim_lanes *l, uint32_t own, uint32_t k)
{
    const uint32_t *need = l->need + (size_t)k * l->count;
    for (uint32_t lane = 0; lane < l->count; lane++)
        if (lane != own &&
            atomic_load_explicit(&l->progress[lane].done, memory_order_acquire) < need[lane])
            return false;
    return true;
}

static void await(const sim_lanes *l, uint32_t own, uint32_t k)
{
    for (int look = 0; !ready(l, own, k); look++) {
        if (look > PATIENCE) /* there may be more threads than cores */
            sched_yield();
#if defined(__x86_64__)
        else
            __builtin_ia32_pause();
#endif
    }
}

/* The next ticks of a lane whose tick k may run. A tick further on is ours only if those before
 * it are: what they wait for is not in its own list. */
static sim_ahead ahead_of(const lanes_job *job, uint32_t lane, uint32_t k)
{
    const sim_lanes *l = job->s->lanes;
    sim_ahead ahead;
    bool ours = true;
    for (uint32_t d = 0; d < SIM_AHEAD; d++) {
        uint64_t then = k + (uint64_t)(d + 1) * l->count;
        bool there = then < job->count;
        ours = ours && there && ready(l, lane, (uint32_t)then);
        ahead.agent[d] = job->tick[there ? then : k].agent;
        ahead.ours[d] = ours;
    }
    return ahead;
}

static void run_lane(sim_worker *w, const lanes_job *job, uint32_t lane)
{
    sim_lanes *l = job->s->lanes;
    for (uint32_t k = lane; k < job->count; k += l->count) {
        await(l, lane, k);
        sim_ahead ahead = ahead_of(job, lane, k);
        look_ahead(w, &ahead);
        wake(w, &job->tick[k]);
        atomic_store_explicit(&l->progress[lane].done, k + 1, memory_order_release);
    }
}

static void run_lanes(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    const lanes_job *job = ctx;
    for (size_t lane = begin; lane < end; lane++)
        run_lane(&job->s->worker[worker], job, (uint32_t)lane);
}

static tacit_status run_ticks(sim *s, const sim_tick *tick, size_t count, tacit_error *err)
{
    sim_lanes *l = s->lanes;
    uint32_t *need = tacit_array_grow(l->need, &l->room, count * l->count, sizeof *need);
    if (!need || count > UINT32_MAX / 2)
        return tacit_out_of_memory(err);
    l->need = need;
    if (find_needs(s, tick, (uint32_t)count) * 2 > count) /* too entangled to gain anything */
        return sim_merge(s, tick, count, -INFINITY, err);
    for (uint32_t lane = 0; lane < l->count; lane++)
        atomic_store_explicit(&l->progress[lane].done, 0, memory_order_relaxed);
    lanes_job job = {s, tick, (uint32_t)count};
    tacit_threads_run(s->threads, l->count, 1, run_lanes, &job);
    return sim_collect(s, err);
}

tacit_status sim_run_lanes(sim *s, double *end, tacit_error *err)
{
    double queued = runtime_queue_next(&s->queue);
    if (queued < *end)
        *end = queued;
    size_t count;
    const sim_tick *tick = sim_clock_take(s->clock, end, &count);
    if (!tick)
        return tacit_out_of_memory(err);
    tacit_status status = count ? run_ticks(s, tick, count, err) : TACIT_OK;
    while (status == TACIT_OK && runtime_queue_next(&s->queue) <= *end) {
        runtime_event event = runtime_queue_pop(&s->queue);
        sim_deliver(&s->worker[0], &event);
        status = sim_collect(s, err);
    }
    return status;
}
