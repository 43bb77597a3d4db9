/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_SIM_TICK_H
#define TACIT_SIM_TICK_H
/*
 * One tick, and what is done so that the next ones find their memory.
 *
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
#include "data/shard.h"
#include "runtime/sim/sim.h"

#define FETCHED 6400     /* bytes of the next agent's records that the gradient asks for */
#define FETCH_MOST 16000 /* ... and that are asked for while its neighbours are told */

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

/* The agents that tick after this one on the same thread. */
enum { SIM_AHEAD = 3 };
typedef struct sim_ahead {
    uint32_t agent[SIM_AHEAD];
    bool ours[SIM_AHEAD]; /* no other thread can touch it: its state may be read */
} sim_ahead;

FETCHES look_ahead(sim_worker *w, const sim_ahead *ahead)
{
    const sim *s = w->sim;
    const uint32_t *next = ahead->agent;
    fetch_tables(s, next[2]);
    if (ahead->ours[1])
        fetch_own(s, next[1]);
    if (ahead->ours[0])
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

static inline void wake(sim_worker *w, const sim_tick *tick)
{
    static const tacit_event event = {
        .type = TACIT_WAKE, .from = TACIT_NOBODY, .slot = TACIT_NO_SLOT};
    if (!sim_online(w->sim, tick->agent))
        return;
    w->traffic.ticks++;
    sim_handle(w, tick->agent, tick->time, &event);
}

#endif
