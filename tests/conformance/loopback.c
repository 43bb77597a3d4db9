/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

#include <stdlib.h>

#include "nodes.h"

enum { NODES = 4 };

typedef struct loopback {
    tacit_runtime runtime; /* first */
    nodes all;
    bool finished;
} loopback;

static void destroy(tacit_runtime *rt)
{
    if (rt)
        nodes_clear(&((loopback *)rt)->all);
    free(rt);
}

/* A test sets it after the world was made. */
static void forward_metric(void *ctx, double time, tacit_agent agent, const char *name,
                           double value, bool is_private)
{
    const tacit_runtime *rt = ctx;
    if (rt->metric)
        rt->metric(rt->metric_ctx, time, agent, name, value, is_private);
}

static tacit_status create(tacit_runtime **out, const tacit_world *world, tacit_error *err)
{
    loopback *l = calloc(1, sizeof *l);
    if (!l)
        return tacit_out_of_memory(err);
    const uint32_t agents = world->graph->agents;
    tacit_status status = nodes_init(&l->all, world, agents < NODES ? agents : NODES, true, err);
    l->runtime.ops = &tacit_loopback;
    l->all.metric = forward_metric;
    l->all.metric_ctx = &l->runtime;
    for (uint32_t k = 0; k < l->all.count; k++)
        l->all.place[k].options.asked = 1 << 20;
    if (status == TACIT_OK)
        status = nodes_open_all(&l->all, err);
    if (status != TACIT_OK) {
        destroy(&l->runtime);
        return status;
    }
    *out = &l->runtime;
    return TACIT_OK;
}

static tacit_status run(tacit_runtime *rt, double time, const tacit_stop *stop, tacit_error *err)
{
    loopback *l = (loopback *)rt;
    (void)stop;
    if (l->finished)
        return tacit_fail(err, TACIT_EUSAGE, "the run has ended");
    return nodes_run(&l->all, time, err);
}

static tacit_status finish(tacit_runtime *rt, tacit_error *err)
{
    loopback *l = (loopback *)rt;
    if (l->finished)
        return tacit_fail(err, TACIT_EUSAGE, "the run has ended");
    l->finished = true;
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < l->all.count; k++) {
        tacit_node *n = l->all.place[k].node;
        node_finish(n);
        status = status == TACIT_OK ? n->status : status;
    }
    return status;
}

/* ---- looking in ---- */

static const nodes *all_of(const tacit_runtime *rt)
{
    return &((const loopback *)rt)->all;
}

static double now(const tacit_runtime *rt)
{
    return all_of(rt)->clock;
}

static tacit_traffic traffic(const tacit_runtime *rt)
{
    tacit_traffic sum = {0};
    for (uint32_t k = 0; k < all_of(rt)->count; k++) {
        const tacit_traffic *t = &all_of(rt)->place[k].node->traffic;
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

static const void *shared(const tacit_runtime *rt)
{
    return nodes_host(all_of(rt), 0)->shared;
}

static const tacit_secret *agent_model(const tacit_runtime *rt, tacit_agent agent)
{
    return tacit_node_model(nodes_host(all_of(rt), agent), nodes_agent(all_of(rt), agent)->index);
}

static const tacit_ledger *agent_ledger(const tacit_runtime *rt, tacit_agent agent)
{
    return tacit_ledger_file_ledger(node_store_ledger(nodes_host(all_of(rt), agent)->store,
                                                      nodes_agent(all_of(rt), agent)->index));
}

static void *agent_state(const tacit_runtime *rt, tacit_agent agent)
{
    return nodes_agent(all_of(rt), agent)->state;
}

/* A node keeps its own checkpoints: tests/unit/node_crash_test.c. */
static tacit_status save(const tacit_runtime *rt, tacit_saver *saver)
{
    (void)rt, (void)saver;
    return TACIT_EUSAGE;
}

static tacit_status load(tacit_runtime *rt, tacit_loader *loader)
{
    (void)rt, (void)loader;
    return TACIT_EUSAGE;
}

const tacit_runtime_ops tacit_loopback = {
    .name = "node",
    .create = create,
    .run = run,
    .finish = finish,
    .now = now,
    .traffic = traffic,
    .shared = shared,
    .agent_model = agent_model,
    .agent_ledger = agent_ledger,
    .agent_state = agent_state,
    .save = save,
    .load = load,
    .destroy = destroy,
};
