/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator: all agents of a world in one process, in simulated time, reproducible to
 * the byte for any number of threads. See sim.h for which file does what.
 */
#include "runtime/sim/sim.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

#define MAX_THREADS 1024
#define LEDGER_ROOM 2 /* entries an agent has from the start: most never need more */

static tacit_status check_world(const tacit_world *world, tacit_error *err)
{
    if (world->graph->agents == 0)
        return tacit_fail(err, TACIT_EINPUT, "there are no agents");
    if (world->data && tacit_dataset_agents(world->data) != world->graph->agents)
        return tacit_fail(err, TACIT_EINPUT, "the data has %u agents, the graph %u",
                          tacit_dataset_agents(world->data), world->graph->agents);
    if (world->threads < 1 || world->threads > MAX_THREADS)
        return tacit_fail(err, TACIT_EINPUT, "threads must be 1 to %d, not %u", MAX_THREADS,
                          world->threads);
    for (uint32_t k = 0; world->epsilon && k < world->graph->agents; k++)
        if (!(world->epsilon[k] >= 0))
            return tacit_fail(err, TACIT_EINPUT, "the budget of agent %u is epsilon %g", k,
                              world->epsilon[k]);
    const tacit_protocol *p = world->protocol;
    if (!p->on || !p->agent_size || !p->save || !p->load || !p->end)
        return tacit_fail(err, TACIT_EINTERNAL,
                          "protocol \"%s\" lacks a handler: on, agent_size, save, load and end "
                          "are mandatory",
                          p->name);
    return TACIT_OK;
}

static size_t largest_shard(const tacit_world *world)
{
    size_t most = 0;
    for (uint32_t k = 0; world->data && k < world->graph->agents; k++) {
        size_t rows = tacit_dataset_rows(world->data, k, TACIT_TRAIN);
        most = rows > most ? rows : most;
    }
    return most;
}

/* m_i of all agents, while protocols are set up; NULL where they are secrets, or nobody needs them.
 */
static tacit_status count_records(const sim *s, uint32_t **out, tacit_error *err)
{
    const tacit_privacy_options *privacy = &s->world.privacy;
    const bool secret =
        privacy->mechanism != TACIT_MECHANISM_NONE && privacy->adjacency != TACIT_REPLACE;
    *out = NULL;
    if (secret || !s->world.data || !(s->flags & (TACIT_GROUPS | TACIT_WHOLE)))
        return TACIT_OK;
    if (!(*out = malloc((size_t)s->agents * sizeof **out)))
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < s->agents; k++)
        (*out)[k] = tacit_dataset_rows(s->world.data, k, TACIT_TRAIN);
    return TACIT_OK;
}

static tacit_status set_up_protocol(sim *s, tacit_error *err)
{
    const tacit_protocol *p = s->world.protocol;
    bool oracle = s->flags & TACIT_ORACLE;
    s->shared = calloc(1, p->shared_size ? p->shared_size : 1);
    if (!s->shared)
        return tacit_out_of_memory(err);
    if (oracle) {
        const tacit_shape *shape = tacit_model_shape(s->world.model);
        s->oracle =
            tacit_vector_secret(tacit_pool_vector(s->worker[0].pool, shape, TACIT_VECTOR_SECRET));
        if (!s->oracle)
            return tacit_out_of_memory(err);
    }
    s->costs = s->world.costs ? s->world.costs : tacit_costs_create();
    if (!s->costs)
        return tacit_out_of_memory(err);
    tacit_setup setup = {
        .agents = s->agents,
        .model = s->world.model,
        .max_records = largest_shard(&s->world),
        .pooled = oracle ? tacit_dataset_pooled(s->world.data, TACIT_TRAIN) : NULL,
        .oracle = s->oracle,
        .privacy = &s->world.privacy,
        .epsilon = s->world.epsilon,
        .costs = s->costs,
        .graph = s->world.graph,
        .until = s->world.until,
    };
    uint32_t *records;
    tacit_status status = count_records(s, &records, err);
    setup.records = records;
    if (status == TACIT_OK)
        status = tacit_protocol_set_up(p, s->shared, s->world.protocol_options, &setup, err);
    free(records);
    return status;
}

static tacit_status make_workers(sim *s, tacit_error *err)
{
    uint32_t count = s->world.threads;
    s->threads = tacit_threads_create(count);
    s->worker = calloc(count, sizeof *s->worker);
    if (!s->threads || !s->worker)
        return tacit_fail(err, TACIT_EINTERNAL, "cannot start %u threads", count);
    for (uint32_t k = 0; k < count; k++) {
        sim_worker *w = &s->worker[k];
        w->sim = s;
        w->facts.self = TACIT_NOBODY;
        w->window_end = -INFINITY;
        w->env = (tacit_env){&sim_env_ops, w, 0};
        w->pool = tacit_pool_create(count == 1);
        w->scratch = tacit_scratch_create();
        if (!w->pool || !w->scratch)
            return tacit_out_of_memory(err);
    }
    return TACIT_OK;
}

static tacit_status make_agents(sim *s, tacit_error *err)
{
    const tacit_protocol *p = s->world.protocol;
    const tacit_graph *g = s->world.graph;
    size_t n = s->agents;
    s->agent = tacit_pages_alloc(n, sizeof *s->agent);
    s->ledger = tacit_pages_alloc(n, sizeof *s->ledger);
    s->entries = tacit_pages_alloc(n, LEDGER_ROOM * sizeof *s->entries);
    s->state_at = tacit_pages_alloc(n + 1, sizeof *s->state_at);
    if (s->flags & TACIT_CHATTY)
        s->request = tacit_pages_alloc(n, sizeof(sim_request *));
    if (!s->agent || !s->ledger || !s->entries || !s->state_at ||
        (s->flags & TACIT_CHATTY && !s->request))
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < n; k++) {
        size_t size = p->agent_size(s->shared, (uint32_t)(g->row[k + 1] - g->row[k]));
        size_t unit = size > 64 ? 64 : 16; /* a state never straddles more lines than it must */
        s->state_at[k + 1] = s->state_at[k] + ((size + unit - 1) & ~(unit - 1));
    }
    for (uint32_t k = 0; k < n; k++)
        tacit_ledger_lend(&s->ledger[k], s->entries + (size_t)k * LEDGER_ROOM, LEDGER_ROOM);
    s->state = tacit_pages_alloc(s->state_at[n], 1);
    return s->state ? TACIT_OK : tacit_out_of_memory(err);
}

/* Every agent starts online; its first absence is drawn like all later ones. */
static tacit_status plan_churn(sim *s, tacit_error *err)
{
    s->churn = isfinite(s->world.network.mean_up);
    for (uint32_t k = 0; k < s->agents; k++) {
        s->agent[k].toggle_at = s->churn ? sim_next_toggle(s, k) : INFINITY;
        if (!s->churn)
            continue;
        runtime_event event = {.time = s->agent[k].toggle_at,
                               .to = k,
                               .from = k,
                               .counter = s->agent[k].counter++,
                               .type = SIM_CHURN};
        if (!runtime_queue_push(&s->queue, &event))
            return tacit_out_of_memory(err);
    }
    return TACIT_OK;
}

static void sim_destroy(tacit_runtime *rt)
{
    sim *s = (sim *)rt;
    if (!s)
        return;
    const tacit_protocol *p = s->world.protocol;
    if (s->state && s->phase != SIM_NEW)
        for (uint32_t k = 0; k < s->agents; k++) {
            s->worker[0].agent = k;
            p->end(&s->worker[0].env, s->shared, sim_state(s, k));
        }
    if (s->shared && p->teardown)
        p->teardown(s->shared);
    for (uint32_t k = 0; s->ledger && k < s->agents; k++)
        tacit_ledger_clear(&s->ledger[k]);
    for (uint32_t k = 0; s->request && k < s->agents; k++)
        while (s->request[k]) {
            sim_request *next = s->request[k]->next;
            free(s->request[k]);
            s->request[k] = next;
        }
    for (uint32_t k = 0; s->worker && k < s->world.threads; k++) {
        tacit_pool_free(s->worker[k].pool);
        tacit_scratch_free(s->worker[k].scratch);
        tacit_share_law_clear(&s->worker[k].share);
        free(s->worker[k].out);
        free(s->worker[k].metric);
        free(s->worker[k].soon.heap);
        free(s->worker[k].turn);
    }
    if (!s->world.costs)
        tacit_costs_free(s->costs);
    free(s->worker);
    tacit_threads_free(s->threads);
    sim_clock_free(s->clock);
    free(s->queue.heap);
    sim_engine_clear(s);
    sim_lanes_free(s->lanes);
    sim_groups_free(s->groups);
    sim_signatures_free(s->signatures);
    free(s->shared);
    size_t n = s->agents;
    if (s->state)
        tacit_pages_free(s->state, s->state_at[n], 1);
    tacit_pages_free(s->state_at, n + 1, sizeof *s->state_at);
    tacit_pages_free(s->agent, n, sizeof *s->agent);
    tacit_pages_free(s->ledger, n, sizeof *s->ledger);
    tacit_pages_free(s->entries, n, LEDGER_ROOM * sizeof *s->entries);
    tacit_pages_free(s->request, n, sizeof(sim_request *));
    tacit_random_clear(&s->random);
    free(s);
}

/* An audit repeats a run with the same clocks and other noise. */
static tacit_status init_random(sim *s, tacit_error *err)
{
    if (s->world.secret)
        return tacit_random_system(&s->random, err);
    tacit_random_init(&s->random, s->world.seed);
    if (s->world.noise_seed == 0)
        return TACIT_OK;
    tacit_random other;
    tacit_random_init(&other, s->world.noise_seed);
    memcpy(s->random.key[TACIT_FOR_NOISE], other.key[TACIT_FOR_NOISE], sizeof other.key[0]);
    memcpy(s->random.key[TACIT_FOR_LOTS], other.key[TACIT_FOR_LOTS], sizeof other.key[0]);
    tacit_random_clear(&other);
    return TACIT_OK;
}

static tacit_status sim_create(tacit_runtime **out, const tacit_world *world, tacit_error *err)
{
    tacit_status status = check_world(world, err);
    if (status != TACIT_OK)
        return status;
    sim *s = calloc(1, sizeof *s);
    if (!s)
        return tacit_out_of_memory(err);
    s->runtime.ops = &tacit_simulator;
    s->world = *world;
    s->flags = tacit_protocol_flags(world->protocol, world->protocol_options);
    s->agents = world->graph->agents;
    s->budget = (tacit_budget){world->privacy.epsilon, world->privacy.delta,
                               tacit_protocol_trust(world->protocol, world->protocol_options),
                               (tacit_accountant)world->privacy.accountant};
    s->direct = world->network.latency == TACIT_LATENCY_ZERO && !(s->flags & TACIT_CHATTY);
    status = init_random(s, err);
    crypto_generichash(s->run, sizeof s->run, s->random.key[TACIT_FOR_KEYS],
                       sizeof s->random.key[0], (const unsigned char *)"tacit run", 9);
    if (status == TACIT_OK)
        status = make_workers(s, err);
    if (status == TACIT_OK && !(s->signatures = sim_signatures_create(s->agents)))
        status = tacit_out_of_memory(err);
    if (status == TACIT_OK)
        status = set_up_protocol(s, err);
    if (status == TACIT_OK)
        status = make_agents(s, err);
    if (status == TACIT_OK)
        status = plan_churn(s, err);
    if (status == TACIT_OK && s->flags & TACIT_WAKES &&
        !(s->clock = sim_clock_create(s->agents, &s->random)))
        status = tacit_out_of_memory(err);
    const bool groups = s->flags & TACIT_GROUPS; /* lanes know of no rounds */
    if (status == TACIT_OK && groups && !(s->groups = sim_groups_create()))
        status = tacit_out_of_memory(err);
    if (status == TACIT_OK && s->clock && s->direct && world->threads > 1 && !groups &&
        !(s->lanes = sim_lanes_create(s->agents, world->threads)))
        status = tacit_out_of_memory(err);
    if (status != TACIT_OK) {
        sim_destroy(&s->runtime);
        return status;
    }
    *out = &s->runtime;
    return TACIT_OK;
}

/* ---- start, run, finish ---- */

static void handle_all(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    sim *s = ctx;
    tacit_event event = {.type = s->phase == SIM_FINISHED ? TACIT_FINISH : TACIT_START,
                         .from = TACIT_NOBODY,
                         .slot = TACIT_NO_SLOT};
    for (size_t k = begin; k < end; k++)
        sim_handle(&s->worker[worker], (uint32_t)k, s->now, &event);
}

/* Wrapping is decided when the run starts: a trace may be set after create. */
static void choose_environment(sim *s)
{
    for (uint32_t k = 0; k < s->world.threads; k++) {
        sim_worker *w = &s->worker[k];
        w->env = (tacit_env){&sim_env_ops, w, 0};
        if (s->runtime.trace)
            w->env = tacit_trace_wrap(&w->traced, s->runtime.trace, w->env);
    }
}

/* A trace is written in order, so a traced run has one thread. */
static size_t grain(const sim *s)
{
    return s->runtime.trace ? s->agents : tacit_model_net(s->world.model) ? 1 : 16;
}

static tacit_status sim_run(tacit_runtime *rt, double time, const tacit_stop *stop,
                            tacit_error *err)
{
    sim *s = (sim *)rt;
    if (s->phase == SIM_FINISHED)
        return tacit_fail(err, TACIT_EUSAGE, "the run has ended");
    choose_environment(s);
    if (s->phase == SIM_NEW) {
        s->phase = SIM_RUNNING;
        s->together = true;
        tacit_threads_run(s->threads, s->agents, grain(s), handle_all, s);
        s->together = false;
        tacit_status status = sim_collect(s, err);
        if (status != TACIT_OK)
            return status;
    }
    return sim_run_until(s, time, stop, err);
}

static tacit_status sim_finish(tacit_runtime *rt, tacit_error *err)
{
    sim *s = (sim *)rt;
    if (s->phase != SIM_RUNNING)
        return tacit_fail(err, TACIT_EUSAGE, "only a running simulation can finish");
    tacit_status status = sim_groups_finish(s, err);
    if (status != TACIT_OK)
        return status;
    choose_environment(s);
    s->phase = SIM_FINISHED;
    tacit_threads_run(s->threads, s->agents, grain(s), handle_all, s);
    return sim_collect(s, err);
}

/* ---- looking in ---- */

static double sim_now(const tacit_runtime *rt)
{
    return ((const sim *)rt)->now;
}

static tacit_traffic sim_traffic(const tacit_runtime *rt)
{
    const sim *s = (const sim *)rt;
    tacit_traffic sum = {0};
    for (uint32_t k = 0; k < s->world.threads; k++) {
        const tacit_traffic *t = &s->worker[k].traffic;
        sum.ticks += t->ticks;
        sum.broadcasts += t->broadcasts;
        sum.messages += t->messages;
        sum.delivered += t->delivered;
        sum.lost += t->lost;
        sum.bytes += t->bytes;
        sum.releases += t->releases;
        sum.refused += t->refused;
    }
    return sum;
}

static const tacit_secret *sim_agent_model(const tacit_runtime *rt, tacit_agent agent)
{
    const sim *s = (const sim *)rt;
    const tacit_protocol *p = s->world.protocol;
    return p->model ? p->model(s->shared, sim_state(s, (uint32_t)agent)) : NULL;
}

static const tacit_ledger *sim_agent_ledger(const tacit_runtime *rt, tacit_agent agent)
{
    return &((const sim *)rt)->ledger[agent];
}

static void *sim_agent_state(const tacit_runtime *rt, tacit_agent agent)
{
    return sim_state((const sim *)rt, (uint32_t)agent);
}

static const void *sim_shared(const tacit_runtime *rt)
{
    return ((const sim *)rt)->shared;
}

const tacit_runtime_ops tacit_simulator = {
    .name = "simulator",
    .create = sim_create,
    .run = sim_run,
    .finish = sim_finish,
    .now = sim_now,
    .traffic = sim_traffic,
    .shared = sim_shared,
    .agent_model = sim_agent_model,
    .agent_ledger = sim_agent_ledger,
    .agent_state = sim_agent_state,
    .agent_key = sim_agent_key,
    .save = sim_save,
    .load = sim_load,
    .destroy = sim_destroy,
};
