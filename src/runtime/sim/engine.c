/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events run when, and which at the same time. The result is that of handling all
 * events one by one in the order of sim_event_before, whatever the number of threads.
 *
 *   merged    one thread, any protocol: ticks and queue merged by time.
 *   levels    zero latency, quiet protocols (handlers of messages do not send). A tick of
 *             agent i touches i and its neighbours, nothing else. Ticks of a window get
 *             levels: one more than the highest level of an earlier tick that touches a
 *             common agent. Ticks of one level touch disjoint agents and run together;
 *             levels run one after the other, so that conflicting ticks keep their order.
 *   windows   positive latency: what is sent inside a window no longer than the least
 *             latency arrives after it. So inside the window agents are independent, each
 *             handles its own events in order.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "runtime/sim/sim.h"

#define EVENTS_BETWEEN_STOPS 4096
#define FETCHED 6400     /* bytes of the next agent's records that the gradient asks for */
#define FETCH_MOST 16000 /* ... and that are asked for while its neighbours are told */

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
        if (w->status != TACIT_OK && (!first || w->failed_at < first->failed_at))
            first = w;
    }
    if (!first)
        return TACIT_OK;
    return tacit_fail(err, first->status, "%s", first->error.text);
}

tacit_status sim_collect(sim *s, tacit_error *err)
{
    for (uint32_t k = 0; k < tacit_threads_count(s->threads); k++) {
        sim_worker *w = &s->worker[k];
        for (size_t j = 0; j < w->out_count; j++)
            if (!sim_queue_push(&s->queue, &w->out[j]))
                return tacit_out_of_memory(err);
        w->out_count = 0;
    }
    flush_metrics(s);
    return first_failure(s, err);
}

/* ---- ticks ---- */

static void wake(sim_worker *w, const sim_tick *tick)
{
    static const tacit_event event = {
        .type = TACIT_WAKE, .from = TACIT_NOBODY, .slot = TACIT_NO_SLOT};
    if (!sim_online(w->sim, tick->agent))
        return;
    w->traffic.ticks++;
    sim_handle(w, tick->agent, tick->time, &event);
}

/*
 * Memory is slow and the future is known. Between two ticks of one agent the records of all
 * others pass through the caches, so that whatever belongs to an agent is always cold; each
 * fetch would stall the tick for longer than its arithmetic takes. So it is asked for some
 * ticks before, a step of indirection at a time:
 *
 *     three ticks ahead   the tables that say where things are
 *     two ahead           state, ledger, the row of the graph
 *     one ahead           what the protocol expects to read, and the states of neighbours
 *     now                 the records of the next agent (model/gradient.c, deliver.c)
 *
 * gcc takes a function that only prefetches for one without effects and drops the call; what
 * is inlined stays.
 */
#define FETCHES static inline __attribute__((always_inline)) void

FETCHES fetch_tables(const sim *s, uint32_t agent)
{
    const tacit_graph *g = s->world.graph;
    __builtin_prefetch(&s->state_at[agent]);
    __builtin_prefetch(&s->agent[agent]);
    __builtin_prefetch(&s->ledger[agent]);
    __builtin_prefetch(&g->row[agent]);
    __builtin_prefetch(&g->degree[agent]);
    if (s->world.data)
        __builtin_prefetch(tacit_dataset_shard(s->world.data, agent, TACIT_TRAIN));
}

FETCHES fetch_lines(const void *from, size_t bytes)
{
    for (const char *line = from, *end = line + bytes; line < end; line += 64)
        __builtin_prefetch(line);
}

FETCHES fetch_own(const sim *s, uint32_t agent)
{
    const tacit_graph *g = s->world.graph;
    uint64_t from = g->row[agent], degree = g->row[agent + 1] - from;
    fetch_lines(sim_state(s, agent), s->state_at[agent + 1] - s->state_at[agent]);
    fetch_lines(s->ledger[agent].entries, s->ledger[agent].count * sizeof(tacit_ledger_entry));
    fetch_lines(g->neighbour + from, degree * sizeof *g->neighbour);
    fetch_lines(g->weight + from, degree * sizeof *g->weight);
    fetch_lines(g->mirror + from, degree * sizeof *g->mirror);
}

FETCHES fetch_others(const sim *s, uint32_t agent)
{
    const tacit_graph *g = s->world.graph;
    const tacit_protocol *p = s->world.protocol;
    uint64_t from = g->row[agent], end = g->row[agent + 1];
    if (p->expect)
        p->expect(s->shared, sim_state(s, agent), (uint32_t)(end - from));
    for (uint64_t e = from; s->direct && e < end; e++) {
        const char *state = sim_state(s, g->neighbour[e]);
        __builtin_prefetch(state);
        __builtin_prefetch(state + 64);
    }
}

/* `next` are the three agents that tick after this one. */
FETCHES look_ahead(sim_worker *w, const uint32_t next[3])
{
    const sim *s = w->sim;
    fetch_tables(s, next[2]);
    fetch_own(s, next[1]);
    fetch_others(s, next[0]);
    tacit_scratch_set_next_rows(w->scratch, NULL);
    if (!s->world.data)
        return;
    const tacit_shard *shard = tacit_dataset_shard(s->world.data, next[0], TACIT_TRAIN);
    tacit_batch batch;
    size_t cursor = 0;
    if (tacit_shard_next(shard, &cursor, &batch)) {
        tacit_scratch_set_next_rows(w->scratch, batch.x);
        size_t bytes =
            batch.rows * tacit_shard_features(shard) * tacit_scalar_size(tacit_shard_scalar(shard));
        w->fetch = (const char *)batch.x + (bytes < FETCHED ? bytes : FETCHED);
        w->fetch_end = (const char *)batch.x + (bytes < FETCH_MOST ? bytes : FETCH_MOST);
        fetch_lines(batch.y, batch.rows * tacit_scalar_size(tacit_shard_scalar(shard)));
    }
}

/* ---- merged ---- */

/* Handle queue and ticks before `end` in order of time; the queue comes first in a tie. */
static tacit_status merge(sim *s, const sim_tick *tick, size_t count, double end, tacit_error *err)
{
    sim_worker *w = &s->worker[0];
    tacit_status status = TACIT_OK;
    size_t k = 0;
    while (status == TACIT_OK) {
        double queued = sim_queue_next(&s->queue);
        if (k < count && tick[k].time < queued) {
            uint32_t next[3];
            for (size_t d = 0; d < 3; d++)
                next[d] = tick[k + 1 + d < count ? k + 1 + d : count - 1].agent;
            look_ahead(w, next);
            wake(w, &tick[k++]);
        } else if (queued < end) {
            sim_event event = sim_queue_pop(&s->queue);
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
        if (!(sim_queue_next(&s->queue) < end))
            break;
        sim_event event = sim_queue_pop(&s->queue);
        sim_deliver(&s->worker[0], &event);
        status = sim_collect(s, err);
    }
    return status;
}

static tacit_status run_merged(sim *s, double *end, tacit_error *err)
{
    if (!s->clock) {
        tacit_status status = drain(s, *end, err);
        if (sim_queue_next(&s->queue) < *end)
            *end = sim_queue_next(&s->queue);
        return status;
    }
    size_t count;
    const sim_tick *tick = sim_clock_take(s->clock, end, &count);
    return tick ? merge(s, tick, count, *end, err) : tacit_out_of_memory(err);
}

/* ---- levels ---- */

static bool make_room(sim *s, size_t count)
{
    if (!s->level && !(s->level = calloc(s->agents, sizeof *s->level)))
        return false;
    if (count <= s->order_capacity)
        return true;
    uint32_t *order = realloc(s->order, 2 * count * sizeof *order);
    s->order = order ? order : s->order;
    uint32_t *level_of = realloc(s->level_of, 2 * count * sizeof *level_of);
    s->level_of = level_of ? level_of : s->level_of;
    if (!order || !level_of)
        return false;
    s->order_capacity = 2 * count;
    return true;
}

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

/* Level of each tick, from 0; returns how many levels there are. */
static uint32_t assign_levels(sim *s, const sim_tick *tick, size_t count)
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
        s->level_of[k] = (uint32_t)(level - base - 1);
        if (level > top)
            top = level;
    }
    s->level_base = top; /* older levels count as untouched from now on */
    return (uint32_t)(top - base);
}

typedef struct level_job {
    sim *s;
    const sim_tick *tick;
    const uint32_t *order; /* ticks of this level */
    size_t count;
} level_job;

static void run_level(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    const level_job *job = ctx;
    sim_worker *w = &job->s->worker[worker];
    for (size_t k = begin; k < end; k++) {
        const sim_tick *tick = &job->tick[job->order[k]];
        uint32_t next[3];
        for (size_t d = 0; d < 3; d++) {
            size_t at = k + 1 + d < end ? k + 1 + d : end - 1; /* others' agents are not ours */
            next[d] = job->tick[job->order[at]].agent;
        }
        look_ahead(w, next);
        wake(w, tick);
    }
}

/* Ticks in order of their level, by counting; start[l] is where level l begins. */
static void sort_by_level(sim *s, size_t count, size_t *start, uint32_t levels)
{
    memset(start, 0, (levels + 1) * sizeof *start);
    for (size_t k = 0; k < count; k++)
        start[s->level_of[k] + 1]++;
    for (uint32_t l = 0; l < levels; l++)
        start[l + 1] += start[l];
    for (size_t k = 0; k < count; k++)
        s->order[start[s->level_of[k]]++] = (uint32_t)k;
    for (uint32_t l = levels; l > 0; l--)
        start[l] = start[l - 1];
    start[0] = 0;
}

static tacit_status run_ticks(sim *s, const sim_tick *tick, size_t count, tacit_error *err)
{
    if (!make_room(s, count))
        return tacit_out_of_memory(err);
    uint32_t levels = assign_levels(s, tick, count);
    if ((size_t)levels * 2 > count) /* too entangled to gain anything */
        return merge(s, tick, count, -INFINITY, err);
    size_t *start = malloc((levels + 1) * sizeof *start);
    if (!start)
        return tacit_out_of_memory(err);
    sort_by_level(s, count, start, levels);
    for (uint32_t l = 0; l < levels; l++) {
        level_job job = {s, tick, s->order + start[l], start[l + 1] - start[l]};
        size_t grain = job.count / (4 * tacit_threads_count(s->threads));
        tacit_threads_run(s->threads, job.count, grain > 12 ? grain : 12, run_level, &job);
    }
    free(start);
    return sim_collect(s, err);
}

static tacit_status run_levels(sim *s, double *end, tacit_error *err)
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

/* ---- windows ---- */

static bool batch_add(sim *s, const sim_event *event)
{
    sim_event *batch =
        tacit_array_grow(s->batch, &s->batch_capacity, s->batch_count + 1, sizeof *batch);
    if (!batch)
        return false;
    s->batch = batch;
    s->batch[s->batch_count++] = *event;
    return true;
}

static bool fill_batch(sim *s, const sim_tick *tick, size_t count, double end)
{
    s->batch_count = 0;
    while (sim_queue_next(&s->queue) < end) {
        sim_event event = sim_queue_pop(&s->queue);
        if (!batch_add(s, &event))
            return false;
    }
    for (size_t k = 0; k < count; k++) {
        sim_event event = {.time = tick[k].time,
                           .to = tick[k].agent,
                           .from = tick[k].agent,
                           .counter = UINT64_MAX,
                           .type = TACIT_WAKE};
        if (!batch_add(s, &event))
            return false;
    }
    return true;
}

static int by_receiver(const void *x, const void *y)
{
    const sim_event *a = x, *b = y;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return sim_event_before(a, b) ? -1 : sim_event_before(b, a);
}

/* group[k] is where the events of the k-th receiver begin in the sorted batch. */
static bool group_batch(sim *s)
{
    if (s->batch_count > 0)
        qsort(s->batch, s->batch_count, sizeof *s->batch, by_receiver);
    s->group_count = 0;
    for (size_t k = 0; k < s->batch_count; k++) {
        if (k > 0 && s->batch[k].to == s->batch[k - 1].to)
            continue;
        size_t *group =
            tacit_array_grow(s->group, &s->group_capacity, s->group_count + 2, sizeof *group);
        if (!group)
            return false;
        s->group = group;
        s->group[s->group_count++] = k;
    }
    if (s->group_count > 0)
        s->group[s->group_count] = s->batch_count;
    return true;
}

/* All events of one agent in the window, with those it makes for itself meanwhile. */
static void run_agent(sim_worker *w, const sim_event *event, size_t count)
{
    size_t k = 0;
    w->agent = event[0].to;
    while (k < count || w->soon.count > 0) {
        bool own = w->soon.count > 0 && (k == count || sim_event_before(w->soon.heap, &event[k]));
        if (own) {
            sim_event next = sim_queue_pop(&w->soon);
            sim_deliver(w, &next);
        } else {
            sim_deliver(w, &event[k++]);
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
        run_agent(w, s->batch + s->group[k], s->group[k + 1] - s->group[k]);
    w->window_end = -INFINITY;
}

static tacit_status run_windows(sim *s, double *end, tacit_error *err)
{
    double begin = sim_queue_next(&s->queue);
    if (s->clock)
        begin = fmin(begin, sim_clock_next(s->clock));
    begin = fmax(begin, s->now);
    *end = fmin(*end, begin + s->world.network.latency_floor);
    size_t count = 0;
    const sim_tick *tick = NULL;
    if (s->clock && !(tick = sim_clock_take(s->clock, end, &count)))
        return tacit_out_of_memory(err);
    if (!fill_batch(s, tick, count, *end) || !group_batch(s))
        return tacit_out_of_memory(err);
    window_job job = {s, *end};
    /* A trace is written in order, so a traced run has one thread. */
    size_t grain = s->runtime.trace ? s->group_count : 8;
    tacit_threads_run(s->threads, s->group_count, grain, run_groups, &job);
    return sim_collect(s, err);
}

/* ---- the loop ---- */

tacit_status sim_run_until(sim *s, double until, const tacit_stop *stop, tacit_error *err)
{
    bool latency = s->world.network.latency != TACIT_LATENCY_ZERO;
    bool parallel =
        s->direct && s->clock && tacit_threads_count(s->threads) > 1 && !s->runtime.trace;
    double beyond = nextafter(until, INFINITY); /* `until` itself is included */
    while (s->now < beyond) {
        if (stop && *stop)
            return tacit_fail(err, TACIT_EINTERRUPTED, "interrupted at time %g", s->now);
        double end = beyond;
        tacit_status status = latency    ? run_windows(s, &end, err)
                              : parallel ? run_levels(s, &end, err)
                                         : run_merged(s, &end, err);
        if (status != TACIT_OK)
            return status;
        s->now = end;
    }
    s->now = until;
    return TACIT_OK;
}

void sim_engine_clear(sim *s)
{
    free(s->level);
    free(s->order);
    free(s->level_of);
    free(s->batch);
    free(s->group);
}
