/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads at zero latency, for quiet protocols: handlers of messages do not send.
 *
 * A tick of agent i touches i and its neighbours, nothing else. Ticks of a window get levels:
 * one more than the highest level of an earlier tick that touches a common agent. Ticks of one
 * level touch disjoint agents and run together; levels run one after the other, so that
 * conflicting ticks keep their order, and the result is that of one thread.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "runtime/sim/tick.h"

/* As look_ahead, for the loop below: it is the part that only one thread does. */
FETCHES fetch_levels(const sim *s, const sim_tick *tick, size_t count, size_t k)
{
    const tacit_graph *g = s->world.graph;
    if (k + 16 < count)
        __builtin_prefetch(&g->row[tick[k + 16].agent]);
    if (k + 8 < count)
        __builtin_prefetch(&g->neighbour[g->row[tick[k + 8].agent]]);
    if (k + 4 < count) {
        uint32_t a = tick[k + 4].agent;
        for (uint64_t e = g->row[a]; e < g->row[a + 1]; e++)
            __builtin_prefetch(&s->level[g->neighbour[e]], 1);
    }
}

/* Level of each tick, from 0. */
static void assign_levels(sim *s, sim_plan *p, const sim_tick *tick, size_t count)
{
    const tacit_graph *g = s->world.graph;
    uint64_t base = s->level_base, top = base;
    for (size_t k = 0; k < count; k++) {
        fetch_levels(s, tick, count, k);
        uint32_t a = tick[k].agent;
        uint64_t level = s->level[a] > base ? s->level[a] : base;
        for (uint64_t e = g->row[a]; e < g->row[a + 1]; e++)
            if (s->level[g->neighbour[e]] > level)
                level = s->level[g->neighbour[e]];
        level++;
        s->level[a] = level;
        for (uint64_t e = g->row[a]; e < g->row[a + 1]; e++)
            s->level[g->neighbour[e]] = level;
        p->level_of[k] = (uint32_t)(level - base - 1);
        if (level > top)
            top = level;
    }
    s->level_base = top; /* older levels count as untouched from now on */
    p->levels = (size_t)(top - base);
}

/* order[start[l]] to order[start[l + 1] - 1] are the ticks of level l, by counting. */
static void sort_by_level(sim_plan *p, size_t count)
{
    size_t *start = p->start;
    memset(start, 0, (p->levels + 1) * sizeof *start);
    for (size_t k = 0; k < count; k++)
        start[p->level_of[k] + 1]++;
    for (size_t l = 0; l < p->levels; l++)
        start[l + 1] += start[l];
    for (size_t k = 0; k < count; k++)
        p->order[start[p->level_of[k]]++] = (uint32_t)k;
    for (size_t l = p->levels; l > 0; l--)
        start[l] = start[l - 1];
    start[0] = 0;
}

static bool make_room(sim *s, sim_plan *p, size_t count)
{
    uint32_t *order = tacit_array_grow(p->order, &p->order_room, count, sizeof *order);
    p->order = order ? order : p->order;
    uint32_t *level_of = tacit_array_grow(p->level_of, &p->level_room, count, sizeof *level_of);
    p->level_of = level_of ? level_of : p->level_of;
    size_t *start = tacit_array_grow(p->start, &p->start_room, count + 2, sizeof *start);
    p->start = start ? start : p->start;
    if (!s->level)
        s->level = calloc(s->agents, sizeof *s->level);
    return order && level_of && start && s->level;
}

/* ---- running ---- */

typedef struct level_job {
    sim *s;
    const sim_tick *tick;
    const uint32_t *order; /* ticks of this level */
} level_job;

static void run_some(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    const level_job *job = ctx;
    sim_worker *w = &job->s->worker[worker];
    for (size_t k = begin; k < end; k++) {
        uint32_t next[3];
        for (size_t d = 0; d < 3; d++) {
            size_t at = k + 1 + d < end ? k + 1 + d : end - 1; /* others' agents are not ours */
            next[d] = job->tick[job->order[at]].agent;
        }
        look_ahead(w, next);
        wake(w, &job->tick[job->order[k]]);
    }
}

/* Pieces of a level should be long, since nothing was fetched for the first ticks of one, and
 * several for each thread, since ticks differ in length. */
static size_t grain(const sim *s, size_t ticks)
{
    size_t piece = ticks / (4 * tacit_threads_count(s->threads));
    return piece > 12 ? piece : 12;
}

static tacit_status run_ticks(sim *s, const sim_tick *tick, size_t count, tacit_error *err)
{
    sim_plan *p = &s->plan;
    if (!make_room(s, p, count))
        return tacit_out_of_memory(err);
    assign_levels(s, p, tick, count);
    if (p->levels * 2 > count) /* too entangled to gain anything */
        return sim_merge(s, tick, count, -INFINITY, err);
    sort_by_level(p, count);
    for (size_t l = 0; l < p->levels; l++) {
        level_job job = {s, tick, p->order + p->start[l]};
        size_t ticks = p->start[l + 1] - p->start[l];
        tacit_threads_run(s->threads, ticks, grain(s, ticks), run_some, &job);
    }
    return sim_collect(s, err);
}

tacit_status sim_run_levels(sim *s, double *end, tacit_error *err)
{
    double queued = sim_queue_next(&s->queue);
    if (queued < *end)
        *end = queued;
    size_t count;
    const sim_tick *tick = sim_clock_take(s->clock, end, &count);
    if (!tick)
        return tacit_out_of_memory(err);
    tacit_status status = count ? run_ticks(s, tick, count, err) : TACIT_OK;
    while (status == TACIT_OK && sim_queue_next(&s->queue) <= *end) {
        sim_event event = sim_queue_pop(&s->queue);
        sim_deliver(&s->worker[0], &event);
        status = sim_collect(s, err);
    }
    return status;
}

void sim_levels_clear(sim *s)
{
    free(s->plan.order);
    free(s->plan.level_of);
    free(s->plan.start);
    free(s->level);
}
