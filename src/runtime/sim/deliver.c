/* SPDX-License-Identifier: Apache-2.0 */
/* One event, one agent. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/sim.h"

uint32_t sim_slot(const sim *s, uint32_t agent, uint32_t peer)
{
    const tacit_graph *g = s->world.graph;
    uint64_t low = g->row[agent], high = g->row[agent + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (g->neighbour[middle] < peer)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < g->row[agent + 1] && g->neighbour[low] == peer;
    return found ? (uint32_t)(low - g->row[agent]) : TACIT_NO_SLOT;
}

/* Before all that failed on this worker so far, in the order of a sequential run? */
static bool fails_first(const sim_worker *w, double now)
{
    return w->status == TACIT_OK || now < w->failed_at ||
           (now == w->failed_at && w->agent < w->failed);
}

/* Remember the earliest failure: it is the one a sequential run would have met. What later handlers
 * say does not change its words. */
void sim_fail(sim_worker *w, double now, tacit_status status, const char *why)
{
    if (!fails_first(w, now))
        return;
    w->status = status;
    w->failed_at = now;
    w->failed = w->agent;
    if (why)
        tacit_fail(&w->failure, status, "%s", why);
    else
        w->failure = w->error;
}

/* A budget that ends a run: whose, and what to change. */
static void name_refused(sim_worker *w, uint32_t agent)
{
    const tacit_world *world = &w->sim->world;
    const tacit_error why = w->error;
    char number[TACIT_NUMBER_MAX];
    snprintf(number, sizeof number, "%" PRIu32, agent);
    const char *name = world->data ? tacit_dataset_name(world->data, agent, number) : number;
    const bool bare = world->privacy.mechanism == TACIT_MECHANISM_NONE; /* `why` says what to do */
    if (world->epsilon)
        tacit_fail(&w->error, why.code,
                   "agent \"%.60s\": %.380s; its budget is set by \"privacy.budgets\"%s%.80s", name,
                   why.text, *world->privacy.budgets ? ", file " : "", world->privacy.budgets);
    else
        tacit_fail(&w->error, why.code, "agent \"%.60s\": %.380s%s%s", name, why.text,
                   bare ? "" : "; raise \"privacy.epsilon\"",
                   world->privacy.noise > 0 ? " or \"privacy.noise\"" : "");
}

/* Telling the neighbours leaves memory idle: use the time for the next agent's records. (Inlined,
 * since gcc drops calls of functions that only prefetch.) */
static inline __attribute__((always_inline)) void fetch_some(sim_worker *w)
{
    for (int line = 0; line < 12 && w->fetch < w->fetch_end; line++, w->fetch += 64)
        __builtin_prefetch(w->fetch, 0, 2);
}

void sim_handle(sim_worker *w, uint32_t agent, double now, const tacit_event *event)
{
    sim *s = w->sim;
    fetch_some(w);
    uint32_t outer = w->agent;
    tacit_event_type outer_type = w->handling;
    tacit_scratch_mark mark = tacit_scratch_now(w->scratch);
    w->agent = agent;
    w->now = now;
    w->handling = event->type;
    if (s->runtime.trace)
        tacit_trace_event(s->runtime.trace, &w->env, event);
    tacit_status status = s->world.protocol->on(&w->env, s->shared, sim_state(s, agent), event);
    if (status != TACIT_OK && fails_first(w, now)) {
        if (status == TACIT_EBUDGET && w->error.code == status)
            name_refused(w, agent);
        sim_fail(w, now, status, w->error.code == status ? NULL : "a protocol's handler failed");
    }
    tacit_scratch_rewind(w->scratch, mark);
    w->agent = outer;
    w->handling = outer_type;
}

/* True, and forgotten, if `agent` still waits for the reply to request `id`. */
static bool take_request(sim *s, uint32_t agent, uint64_t id)
{
    for (sim_request **link = &s->request[agent]; *link; link = &(*link)->next) {
        if ((*link)->id != id)
            continue;
        sim_request *done = *link;
        *link = done->next;
        free(done);
        return true;
    }
    return false;
}

/* Tell the neighbours, after the time a message would take. */
static void announce(sim_worker *w, uint32_t agent, tacit_event_type type, double now)
{
    sim *s = w->sim;
    const tacit_graph *g = s->world.graph;
    double delay =
        s->world.network.latency == TACIT_LATENCY_ZERO ? 0 : s->world.network.latency_floor;
    for (uint64_t e = g->row[agent]; e < g->row[agent + 1]; e++) {
        runtime_event notice = {.time = now + delay,
                                .to = g->neighbour[e],
                                .from = agent,
                                .counter = s->agent[agent].counter++,
                                .type = type};
        if (sim_post(w, &notice) != TACIT_OK)
            sim_fail(w, now, TACIT_EINTERNAL, "out of memory");
    }
}

static void toggle(sim_worker *w, uint32_t agent, double now)
{
    sim *s = w->sim;
    sim_agent *a = &s->agent[agent];
    a->toggles++;
    a->toggle_at = now + sim_next_toggle(s, agent);
    runtime_event next = {.time = a->toggle_at,
                          .to = agent,
                          .from = agent,
                          .counter = a->counter++,
                          .type = SIM_CHURN};
    uint32_t outer = w->agent;
    w->agent = agent; /* it is this agent's window the events may fall into */
    if (sim_post(w, &next) != TACIT_OK)
        sim_fail(w, now, TACIT_EINTERNAL, "out of memory");
    announce(w, agent, sim_online(s, agent) ? TACIT_PEER_UP : TACIT_PEER_DOWN, now);
    w->agent = outer;
}

/* A sleeping agent's alarms ring when it wakes up. */
static void postpone(sim_worker *w, const runtime_event *event)
{
    runtime_event later = *event;
    later.time = w->sim->agent[event->to].toggle_at;
    later.counter = w->sim->agent[event->to].counter++; /* after the return, at the same time */
    uint32_t outer = w->agent;
    w->agent = event->to;
    if (sim_post(w, &later) != TACIT_OK)
        sim_fail(w, event->time, TACIT_EINTERNAL, "out of memory");
    w->agent = outer;
}

static bool is_own(uint32_t type)
{
    return type == TACIT_TIMER || type == TACIT_NO_REPLY || type == TACIT_GROUP_RESULT;
}

static bool travels(uint32_t type)
{
    return type == TACIT_MESSAGE || type == TACIT_REQUEST || type == TACIT_REPLY;
}

void sim_deliver(sim_worker *w, const runtime_event *event)
{
    sim *s = w->sim;
    if (event->type == SIM_CHURN) {
        toggle(w, event->to, event->time);
        return;
    }
    bool online = sim_online(s, event->to);
    if (!online && is_own(event->type)) {
        postpone(w, event);
        return;
    }
    bool wanted = online;
    if (wanted && (event->type == TACIT_REPLY || event->type == TACIT_NO_REPLY))
        wanted = take_request(s, event->to, event->id);
    if (travels(event->type)) {
        if (online)
            w->traffic.delivered++;
        else
            w->traffic.lost++;
    }
    if (wanted && event->type == TACIT_WAKE)
        w->traffic.ticks++;
    if (wanted) {
        bool own = is_own(event->type) || event->type == TACIT_WAKE;
        tacit_event e = {.type = (tacit_event_type)event->type,
                         .at = event->at,
                         .from = event->type == TACIT_GROUP_RESULT ? TACIT_NOBODY : event->from,
                         .slot = own ? TACIT_NO_SLOT : sim_slot(s, event->to, event->from),
                         .id = event->id,
                         .payload = event->payload ? tacit_vector_public(event->payload) : NULL,
                         .beside = event->beside ? tacit_vector_public(event->beside) : NULL};
        sim_handle(w, event->to, event->time, &e);
    }
    if (event->payload)
        tacit_vector_drop(w->pool, event->payload);
    if (event->beside)
        tacit_vector_drop(w->pool, event->beside);
}
