/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of a simulation. Random streams have no state and workers none that outlives
 * a window, so what is kept is little: clocks, counters, ledgers, agents, events to come.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/saver.h"
#include "privacy/costs.h"
#include "runtime/sim/sim.h"

#define LAYOUT 2

static void save_traffic(tacit_saver *saver, const tacit_traffic *t)
{
    const uint64_t figures[] = {t->ticks, t->broadcasts, t->messages, t->delivered,
                                t->lost,  t->bytes,      t->releases, t->refused};
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
        tacit_save_u64(saver, figures[k]);
}

static void load_traffic(tacit_loader *loader, tacit_traffic *t)
{
    uint64_t *figures[] = {&t->ticks, &t->broadcasts, &t->messages, &t->delivered,
                           &t->lost,  &t->bytes,      &t->releases, &t->refused};
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
        *figures[k] = tacit_load_u64(loader);
}

static void save_event(tacit_saver *saver, const runtime_event *e)
{
    tacit_save_f64(saver, e->time);
    tacit_save_u64(saver, e->to);
    tacit_save_u64(saver, e->from);
    tacit_save_u64(saver, e->counter);
    tacit_save_u64(saver, e->type);
    tacit_save_u64(saver, e->at.channel);
    tacit_save_u64(saver, e->at.kind);
    tacit_save_u64(saver, e->id);
    tacit_save_u64(saver, e->payload != NULL);
    if (e->payload)
        tacit_save_vector(saver, e->payload);
    tacit_save_u64(saver, e->beside != NULL);
    if (e->beside)
        tacit_save_vector(saver, e->beside);
}

/* Could the simulator have queued this? What it then does with it trusts that it did. */
static bool makes_sense(const sim *s, const runtime_event *e, bool carries)
{
    bool sum = e->type == TACIT_GROUP_RESULT;
    bool travels = e->type == TACIT_MESSAGE || e->type == TACIT_REQUEST || e->type == TACIT_REPLY;
    bool asked = e->type == TACIT_REQUEST || e->type == TACIT_REPLY || e->type == TACIT_NO_REPLY ||
                 e->type == TACIT_TIMER;
    bool churn = e->type == TACIT_PEER_UP || e->type == TACIT_PEER_DOWN || e->type == SIM_CHURN;
    return e->to < s->agents && e->from < s->agents && e->time >= s->now && isfinite(e->time) &&
           (travels || sum) == carries && (travels || asked || churn || sum) &&
           (!asked || s->request) && (!(churn || sum) || s->churn) && (!sum || s->groups);
}

static runtime_event load_event(sim *s, tacit_loader *loader)
{
    runtime_event e = {.time = tacit_load_f64(loader)};
    e.to = (uint32_t)tacit_load_u64(loader);
    e.from = (uint32_t)tacit_load_u64(loader);
    e.counter = tacit_load_u64(loader);
    e.type = (uint32_t)tacit_load_u64(loader);
    e.at.channel = (uint32_t)tacit_load_u64(loader);
    e.at.kind = (uint32_t)tacit_load_u64(loader);
    e.id = tacit_load_u64(loader);
    bool carries = tacit_load_u64(loader) != 0;
    const tacit_protocol *p = s->world.protocol;
    const tacit_shape *shape = carries && p->payload ? p->payload(s->shared, e.at) : NULL;
    if (!makes_sense(s, &e, carries) || (carries && !shape))
        tacit_loader_refuse(loader, "an event makes no sense");
    else if (carries)
        e.payload = tacit_load_vector(loader, shape);
    if (tacit_load_u64(loader) != 0) {
        const tacit_address aside = {e.at.channel, e.at.kind | TACIT_BESIDE};
        shape = e.type == TACIT_GROUP_RESULT && p->payload ? p->payload(s->shared, aside) : NULL;
        if (shape)
            e.beside = tacit_load_vector(loader, shape);
        else
            tacit_loader_refuse(loader, "an event makes no sense");
    }
    return e;
}

void sim_save_cost(tacit_saver *saver, const tacit_cost *c)
{
    tacit_save_u64(saver, (uint64_t)c->mechanism | (uint64_t)c->norm << 8 |
                              (uint64_t)c->unit << 16 | (uint64_t)c->adjacency << 24 |
                              (uint64_t)c->claimed << 32);
    tacit_save_f64(saver, c->sensitivity);
    tacit_save_f64(saver, c->noise);
    tacit_save_f64(saver, c->sampling);
    tacit_save_u64(saver, (uint64_t)(int64_t)c->grid);
    tacit_save_u64(saver, c->categories);
    tacit_save_u64(saver, c->coordinates);
    tacit_save_u64(saver, strlen(c->what));
    tacit_save_bytes(saver, c->what, strlen(c->what));
}

const tacit_cost *sim_load_cost(sim *s, tacit_loader *loader)
{
    char name[64] = {0};
    uint64_t kinds = tacit_load_u64(loader);
    tacit_cost cost = {.mechanism = (tacit_mechanism)(kinds & 255),
                       .norm = (tacit_norm)(kinds >> 8 & 255),
                       .unit = (tacit_unit)(kinds >> 16 & 255),
                       .adjacency = (tacit_adjacency)(kinds >> 24 & 255),
                       .claimed = kinds >> 32 & 1,
                       .what = name};
    cost.sensitivity = tacit_load_f64(loader);
    cost.noise = tacit_load_f64(loader);
    cost.sampling = tacit_load_f64(loader);
    const int64_t grid = (int64_t)tacit_load_u64(loader);
    const uint64_t categories = tacit_load_u64(loader);
    cost.coordinates = tacit_load_u64(loader);
    cost.grid = (int)grid;
    cost.categories = (uint32_t)categories;
    uint64_t len = tacit_load_u64(loader);
    if (len >= sizeof name || cost.mechanism >= TACIT_MECHANISMS || cost.norm > TACIT_L2 ||
        cost.unit > TACIT_UNIT_USER || cost.adjacency > TACIT_ADD_REMOVE || grid < -2000 ||
        grid > 2000 || categories > UINT32_MAX)
        return NULL;
    tacit_load_bytes(loader, name, len);
    return tacit_costs_keep(s->costs, &cost);
}

static void save_ledger(tacit_saver *saver, const tacit_ledger *ledger)
{
    tacit_save_u64(saver, ledger->next);
    tacit_save_u64(saver, ledger->count);
    for (uint32_t k = 0; k < ledger->count; k++) {
        const tacit_ledger_entry *e = &ledger->entries[k];
        sim_save_cost(saver, e->cost);
        tacit_save_f64(saver, e->first);
        tacit_save_f64(saver, e->last);
        tacit_save_u64(saver, e->releases);
    }
}

static bool load_entry(sim *s, tacit_loader *loader, tacit_ledger_entry *e)
{
    e->cost = sim_load_cost(s, loader);
    e->first = tacit_load_f64(loader);
    e->last = tacit_load_f64(loader);
    e->releases = tacit_load_u64(loader);
    return e->cost != NULL;
}

static void load_ledger(sim *s, tacit_loader *loader, tacit_ledger *ledger)
{
    ledger->next = tacit_load_u64(loader);
    uint64_t count = tacit_load_u64(loader);
    if (count > tacit_loader_left(loader) || !tacit_ledger_room(ledger, count)) {
        tacit_loader_refuse(loader, "a ledger is too long");
        return;
    }
    for (ledger->count = 0; ledger->count < count; ledger->count++)
        if (!load_entry(s, loader, &ledger->entries[ledger->count])) {
            tacit_loader_refuse(loader, "a ledger entry makes no sense");
            return;
        }
}

static void save_agent(const sim *s, tacit_saver *saver, uint32_t k)
{
    const sim_agent *a = &s->agent[k];
    const tacit_graph *g = s->world.graph;
    double next = 0;
    uint64_t drawn = 0;
    if (s->clock)
        sim_clock_get(s->clock, k, &next, &drawn);
    tacit_save_f64(saver, next);
    tacit_save_u64(saver, drawn);
    tacit_save_u64(saver, a->counter);
    tacit_save_u64(saver, a->peers);
    tacit_save_u64(saver, a->toggles);
    tacit_save_f64(saver, a->toggle_at);
    save_ledger(saver, &s->ledger[k]);
    for (const sim_request *r = s->request ? s->request[k] : NULL; r; r = r->next) {
        tacit_save_u64(saver, 1);
        tacit_save_u64(saver, r->id);
    }
    tacit_save_u64(saver, 0);
    s->world.protocol->save(s->shared, sim_state(s, k), (uint32_t)(g->row[k + 1] - g->row[k]),
                            saver);
}

/* Saved newest first: append, so that the list keeps its order. */
static void load_requests(sim *s, tacit_loader *loader, uint32_t k)
{
    sim_request **tail = s->request ? &s->request[k] : NULL;
    while (tacit_load_u64(loader) == 1) {
        uint64_t id = tacit_load_u64(loader);
        sim_request *r = tail ? malloc(sizeof *r) : NULL;
        if (!r) {
            tacit_loader_refuse(loader, "a request makes no sense");
            return;
        }
        *r = (sim_request){id, NULL};
        *tail = r;
        tail = &r->next;
    }
}

static void load_agent(sim *s, tacit_loader *loader, uint32_t k)
{
    sim_agent *a = &s->agent[k];
    const tacit_graph *g = s->world.graph;
    double next = tacit_load_f64(loader);
    uint64_t drawn = tacit_load_u64(loader);
    if (!(next >= (s->clock ? s->now : 0)) || drawn > UINT32_MAX)
        tacit_loader_refuse(loader, "a clock makes no sense");
    else if (s->clock)
        sim_clock_put(s->clock, k, next, drawn);
    a->counter = tacit_load_u64(loader);
    a->peers = (uint32_t)tacit_load_u64(loader);
    a->toggles = (uint32_t)tacit_load_u64(loader);
    a->toggle_at = tacit_load_f64(loader);
    if (!(a->toggle_at >= s->now) || isfinite(a->toggle_at) != s->churn)
        tacit_loader_refuse(loader, "an absence makes no sense");
    load_ledger(s, loader, &s->ledger[k]);
    load_requests(s, loader, k);
    s->world.protocol->load(s->shared, sim_state(s, k), (uint32_t)(g->row[k + 1] - g->row[k]),
                            loader);
}

tacit_status sim_save(const tacit_runtime *rt, tacit_saver *saver)
{
    const sim *s = (const sim *)rt;
    if (s->world.secret)
        return TACIT_EUSAGE; /* its keys are kept nowhere, so that it could not go on */
    tacit_traffic traffic = rt->ops->traffic(rt);
    tacit_save_u64(saver, LAYOUT);
    tacit_save_u64(saver, s->world.protocol->wire_id);
    tacit_save_u64(saver, s->agents);
    tacit_save_u64(saver, s->world.seed);
    tacit_save_u64(saver, (uint64_t)s->phase);
    tacit_save_f64(saver, s->now);
    save_traffic(saver, &traffic);
    for (uint32_t k = 0; k < s->agents; k++)
        save_agent(s, saver, k);
    tacit_save_u64(saver, s->queue.count);
    for (size_t k = 0; k < s->queue.count; k++)
        save_event(saver, &s->queue.heap[k]);
    if (s->groups)
        sim_groups_save(s, saver);
    return TACIT_OK;
}

static bool load_head(sim *s, tacit_loader *loader)
{
    if (s->phase != SIM_NEW || tacit_load_u64(loader) != LAYOUT ||
        tacit_load_u64(loader) != s->world.protocol->wire_id ||
        tacit_load_u64(loader) != s->agents || tacit_load_u64(loader) != s->world.seed) {
        tacit_loader_refuse(loader, "it comes from another run");
        return false;
    }
    uint64_t phase = tacit_load_u64(loader);
    s->now = tacit_load_f64(loader);
    if (phase > SIM_FINISHED || !(s->now >= 0))
        tacit_loader_refuse(loader, "its head makes no sense");
    else
        s->phase = (sim_phase)phase;
    return tacit_loader_status(loader, NULL) == TACIT_OK;
}

tacit_status sim_load(tacit_runtime *rt, tacit_loader *loader)
{
    sim *s = (sim *)rt;
    tacit_loader_use(loader, s->worker[0].pool);
    if (!load_head(s, loader))
        return TACIT_EVERIFY;
    load_traffic(loader, &s->worker[0].traffic);
    for (uint32_t k = 0; k < s->agents && tacit_loader_status(loader, NULL) == TACIT_OK; k++)
        load_agent(s, loader, k);
    s->queue.count = 0; /* what create planned is in the checkpoint, too */
    uint64_t events = tacit_load_u64(loader);
    for (uint64_t k = 0; k < events && tacit_loader_status(loader, NULL) == TACIT_OK; k++) {
        runtime_event event = load_event(s, loader);
        if (!runtime_queue_push(&s->queue, &event))
            tacit_loader_refuse(loader, "out of memory");
    }
    if (s->groups)
        sim_groups_load(s, loader);
    if (s->clock && !sim_clock_seek(s->clock, s->now))
        tacit_loader_refuse(loader, "out of memory");
    return tacit_loader_status(loader, NULL);
}
