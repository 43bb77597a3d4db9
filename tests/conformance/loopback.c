/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "net/link.h"
#include "runtime/node/node.h"

enum { MOST_NODES = 4 };
#define GIVE_UP 20.0 /* real seconds after which a frame counts as lost */

typedef struct loopback loopback;

typedef struct place {
    loopback *world;
    tacit_identity identity;
    tacit_link *link;
    tacit_node *node;
    tacit_node_options options;
    uint32_t *agents;
    tacit_node_agent *hosted;
    char (*names)[16];
    uint32_t count;
} place;

struct loopback {
    tacit_runtime runtime; /* first */
    tacit_world world;
    tacit_consortium_options consortium;
    tacit_node_member members[MOST_NODES];
    place place[MOST_NODES];
    uint32_t count;
    double clock;
    uint64_t sent, received;
    char folder[64];
    bool finished;
};

static double real_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tacit_status io_send(void *ctx, const uint8_t key[TACIT_NODE_KEY], const void *head,
                            size_t head_len, const void *body, size_t body_len)
{
    place *p = ctx;
    tacit_status status = tacit_link_send(p->link, key, head, head_len, body, body_len, NULL);
    p->world->sent += status == TACIT_OK;
    return status;
}

static void io_connect(void *ctx, const uint8_t key[TACIT_NODE_KEY], const char *endpoint)
{
    tacit_link_connect(((place *)ctx)->link, key, endpoint, NULL);
}

static void io_meet(void *ctx, const uint8_t key[TACIT_NODE_KEY])
{
    tacit_link_meet(((place *)ctx)->link, key, NULL);
}

static void forward_metric(void *ctx, double time, tacit_agent agent, const char *name,
                           double value, bool is_private)
{
    const loopback *l = ctx;
    if (l->runtime.metric)
        l->runtime.metric(l->runtime.metric_ctx, time, agent, name, value, is_private);
}

/* ---- making them ---- */

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static void destroy(tacit_runtime *rt)
{
    loopback *l = (loopback *)rt;
    if (!l)
        return;
    for (uint32_t k = 0; k < l->count; k++) {
        place *p = &l->place[k];
        node_destroy(p->node);
        tacit_link_free(p->link);
        tacit_identity_wipe(&p->identity);
        free(p->agents);
        free(p->hosted);
        free(p->names);
    }
    if (l->folder[0])
        nftw(l->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(l);
}

static tacit_status open_link(place *p, tacit_error *err)
{
    tacit_link_options o;
    tacit_status status = tacit_identity_fresh(&p->identity, err);
    tacit_link_defaults(&o);
    o.listen = "tcp://127.0.0.1:*";
    o.rate = o.burst = 1e9;
    o.queue = 100000;
    return status == TACIT_OK ? tacit_link_create(&p->link, &p->identity, &o, err) : status;
}

static void deal(loopback *l, uint32_t k)
{
    const tacit_graph *g = l->world.graph;
    place *p = &l->place[k];
    p->agents = calloc(g->agents, sizeof *p->agents);
    p->hosted = calloc(g->agents, sizeof *p->hosted);
    p->names = calloc(g->agents, sizeof *p->names);
    for (uint32_t a = k; a < g->agents; a += l->count) {
        const uint32_t at = p->count++;
        p->agents[at] = a;
        snprintf(p->names[at], sizeof p->names[at], "%u", a);
        p->hosted[at] = (tacit_node_agent){.agent = a,
                                           .shard = a,
                                           .name = p->names[at],
                                           .epsilon = l->world.epsilon ? l->world.epsilon[a]
                                                                       : l->world.privacy.epsilon,
                                           .neighbours = (uint32_t)(g->row[a + 1] - g->row[a]),
                                           .neighbour = g->neighbour + g->row[a],
                                           .weight = g->weight + g->row[a]};
    }
    tacit_node_member *m = &l->members[k];
    *m = (tacit_node_member){.agents = p->agents, .count = p->count};
    snprintf(m->name, sizeof m->name, "node-%u", k);
    snprintf(m->endpoint, sizeof m->endpoint, "%s", tacit_link_endpoint(p->link));
    memcpy(m->key, p->identity.public_key, sizeof m->key);
}

static tacit_status make_node(loopback *l, uint32_t k, tacit_error *err)
{
    place *p = &l->place[k];
    tacit_status status = tacit_options_defaults(&tacit_node_section, &p->options, err);
    if (status != TACIT_OK)
        return status;
    snprintf(p->options.folder, sizeof p->options.folder, "%s/%u", l->folder, k);
    p->options.checkpoint = 0;
    p->options.asked = 1 << 20;
    for (uint32_t j = 0; j < l->count && status == TACIT_OK; j++)
        if (j != k)
            status = tacit_link_allow(p->link, l->members[j].key, err);
    const tacit_node_plan plan = {.options = &p->options,
                                  .consortium = &l->consortium,
                                  .run = "conformance-run",
                                  .identity = &p->identity,
                                  .members = l->members,
                                  .member_count = l->count,
                                  .self = k,
                                  .agents = l->world.graph->agents,
                                  .hosted = p->hosted,
                                  .hosted_count = p->count,
                                  .data = l->world.data,
                                  .model = l->world.model,
                                  .protocol = l->world.protocol,
                                  .protocol_options = l->world.protocol_options,
                                  .privacy = l->world.privacy,
                                  .metric = forward_metric,
                                  .metric_ctx = l};
    const node_io io = {.ctx = p, .send = io_send, .connect = io_connect, .meet = io_meet};
    if (status == TACIT_OK)
        status = node_create(&p->node, &plan, &io, l->clock, err);
    return status == TACIT_OK ? node_gossip_init(p->node, err) : status;
}

static tacit_status create(tacit_runtime **out, const tacit_world *world, tacit_error *err)
{
    loopback *l = calloc(1, sizeof *l);
    if (!l)
        return tacit_out_of_memory(err);
    l->runtime.ops = &tacit_loopback;
    l->world = *world;
    l->count = world->graph->agents < MOST_NODES ? world->graph->agents : MOST_NODES;
    snprintf(l->folder, sizeof l->folder, "/tmp/tacit-loopback-XXXXXX");
    tacit_status status = tacit_options_defaults(&tacit_consortium_section, &l->consortium, err);
    if (!mkdtemp(l->folder))
        status = tacit_fail(err, TACIT_EINPUT, "cannot make a folder in /tmp");
    l->consortium.unit = 1;
    for (uint32_t k = 0; k < l->count && status == TACIT_OK; k++) {
        l->place[k].world = l;
        status = open_link(&l->place[k], err);
    }
    for (uint32_t k = 0; k < l->count && status == TACIT_OK; k++)
        deal(l, k);
    for (uint32_t k = 0; k < l->count && status == TACIT_OK; k++)
        status = make_node(l, k, err);
    if (status != TACIT_OK) {
        destroy(&l->runtime);
        return status;
    }
    *out = &l->runtime;
    return TACIT_OK;
}

/* ---- time ---- */

static bool take_in(loopback *l)
{
    bool any = false;
    for (uint32_t k = 0; k < l->count; k++) {
        tacit_frame frame;
        while (tacit_link_receive(l->place[k].link, l->clock, &frame, NULL) == TACIT_OK) {
            any = true;
            l->received++;
            node_receive(l->place[k].node, frame.from, frame.known, frame.bytes, frame.len,
                         l->clock);
            tacit_frame_free(&frame);
        }
    }
    return any;
}

/* Until nothing is under way any more. Links answer handshakes only while they are asked. */
static void settle(loopback *l)
{
    double last = real_seconds();
    while (l->received < l->sent) {
        if (take_in(l))
            last = real_seconds();
        else if (real_seconds() - last > GIVE_UP)
            l->received = l->sent;
        else
            for (uint32_t k = 0; k < l->count; k++)
                tacit_link_wait(l->place[k].link, 0.0002, NULL, 0, NULL);
    }
}

static tacit_status failure(const loopback *l, tacit_error *err)
{
    for (uint32_t k = 0; k < l->count; k++) {
        const tacit_node *n = l->place[k].node;
        if (n->status == TACIT_OK)
            continue;
        if (err)
            *err = n->failure;
        return n->status;
    }
    return TACIT_OK;
}

static tacit_status run(tacit_runtime *rt, double time, const tacit_stop *stop, tacit_error *err)
{
    loopback *l = (loopback *)rt;
    (void)stop;
    if (l->finished)
        return tacit_fail(err, TACIT_EUSAGE, "the run has ended");
    for (;;) {
        double next = INFINITY;
        const uint64_t sent = l->sent;
        for (uint32_t k = 0; k < l->count; k++)
            node_advance(l->place[k].node, l->clock);
        settle(l);
        if (failure(l, err) != TACIT_OK)
            return failure(l, err);
        for (uint32_t k = 0; k < l->count; k++)
            next = fmin(next, node_next(l->place[k].node));
        if (next > l->clock && l->sent == sent) {
            if (next > time) {
                l->clock = fmax(l->clock, time);
                return TACIT_OK;
            }
            l->clock = next;
        }
    }
}

static tacit_status finish(tacit_runtime *rt, tacit_error *err)
{
    loopback *l = (loopback *)rt;
    if (l->finished)
        return tacit_fail(err, TACIT_EUSAGE, "the run has ended");
    l->finished = true;
    for (uint32_t k = 0; k < l->count; k++)
        node_finish(l->place[k].node);
    return failure(l, err);
}

/* ---- looking in ---- */

static const node_agent *agent_of(const tacit_runtime *rt, tacit_agent agent)
{
    const loopback *l = (const loopback *)rt;
    return node_hosted(l->place[agent % l->count].node, agent);
}

static const tacit_node *node_of(const tacit_runtime *rt, tacit_agent agent)
{
    const loopback *l = (const loopback *)rt;
    return l->place[agent % l->count].node;
}

static double now(const tacit_runtime *rt)
{
    return ((const loopback *)rt)->clock;
}

static tacit_traffic traffic(const tacit_runtime *rt)
{
    const loopback *l = (const loopback *)rt;
    tacit_traffic sum = {0};
    for (uint32_t k = 0; k < l->count; k++) {
        const tacit_traffic *t = &l->place[k].node->traffic;
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
    return node_of(rt, 0)->shared;
}

static const tacit_secret *agent_model(const tacit_runtime *rt, tacit_agent agent)
{
    return tacit_node_model(node_of(rt, agent), agent_of(rt, agent)->index);
}

static const tacit_ledger *agent_ledger(const tacit_runtime *rt, tacit_agent agent)
{
    return tacit_ledger_file_ledger(
        node_store_ledger(node_of(rt, agent)->store, agent_of(rt, agent)->index));
}

static void *agent_state(const tacit_runtime *rt, tacit_agent agent)
{
    return agent_of(rt, agent)->state;
}

static tacit_status save(const tacit_runtime *rt, tacit_saver *saver)
{
    (void)rt, (void)saver;
    return TACIT_EUSAGE; /* a node keeps its own checkpoints: tests/unit/node_crash_test.c */
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
