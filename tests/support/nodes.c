/* SPDX-License-Identifier: Apache-2.0 */
#include "nodes.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"

#define GIVE_UP 20.0 /* real seconds after which a frame counts as lost */

static double real_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what a node gets ---- */

static uint32_t index_of(const nodes *all, const uint8_t key[TACIT_NODE_KEY])
{
    for (uint32_t k = 0; k < all->count; k++)
        if (memcmp(all->members[k].key, key, TACIT_NODE_KEY) == 0)
            return k;
    return UINT32_MAX;
}

static void put_frame(nodes *all, uint32_t from, uint32_t to, const void *head, size_t head_len,
                      const void *body, size_t body_len)
{
    nodes_frame f = {.from = from, .to = to, .len = head_len + body_len};
    f.bytes = malloc(f.len ? f.len : 1);
    all->frames = tacit_array_grow(all->frames, &all->frame_capacity, all->frame_count + 1,
                                   sizeof *all->frames);
    assert_true(f.bytes && all->frames);
    memcpy(f.bytes, head, head_len);
    if (body_len)
        memcpy(f.bytes + head_len, body, body_len);
    all->frames[all->frame_count++] = f;
    all->sent++;
}

static tacit_status io_send(void *ctx, const uint8_t key[TACIT_NODE_KEY], const void *head,
                            size_t head_len, const void *body, size_t body_len)
{
    nodes_place *p = ctx;
    assert_false(p->closed);
    if (!p->link) {
        const uint32_t to = index_of(p->all, key);
        if (to == UINT32_MAX)
            return TACIT_NO;
        put_frame(p->all, p->index, to, head, head_len, body, body_len);
        return TACIT_OK;
    }
    tacit_status status = tacit_link_send(p->link, key, head, head_len, body, body_len, NULL);
    p->all->sent += status == TACIT_OK;
    return status;
}

static void io_connect(void *ctx, const uint8_t key[TACIT_NODE_KEY], const char *endpoint)
{
    nodes_place *p = ctx;
    if (p->link)
        tacit_link_connect(p->link, key, endpoint, NULL);
}

static void io_meet(void *ctx, const uint8_t key[TACIT_NODE_KEY])
{
    nodes_place *p = ctx;
    if (p->link)
        tacit_link_meet(p->link, key, NULL);
}

static void io_close(void *ctx)
{
    ((nodes_place *)ctx)->closed = true;
}

static void keep_line(void *ctx, tacit_log_level level, const char *event, const char *fields)
{
    nodes_place *p = ctx;
    nodes_log_line *line = &p->log[p->lines++ % (sizeof p->log / sizeof *p->log)];
    (void)level;
    snprintf(line->event, sizeof line->event, "%s", event);
    snprintf(line->fields, sizeof line->fields, "%s", fields);
}

static void forward_metric(void *ctx, double time, tacit_agent agent, const char *name,
                           double value, bool is_private)
{
    const nodes *all = ctx;
    if (all->metric)
        all->metric(all->metric_ctx, time, agent, name, value, is_private);
}

/* ---- making them ---- */

static tacit_status open_link(nodes_place *p, tacit_error *err)
{
    tacit_link_options o;
    tacit_link_defaults(&o);
    o.listen = "tcp://127.0.0.1:*";
    o.rate = o.burst = 1e9;
    o.queue = 100000;
    return tacit_link_create(&p->link, &p->identity, &o, err);
}

static void deal(nodes *all, uint32_t k)
{
    const tacit_graph *g = all->world.graph;
    nodes_place *p = &all->place[k];
    p->agents = calloc(g->agents, sizeof *p->agents);
    p->hosted = calloc(g->agents, sizeof *p->hosted);
    p->names = calloc(g->agents, sizeof *p->names);
    assert_true(p->agents && p->hosted && p->names);
    const tacit_world *w = &all->world;
    for (uint32_t a = k; a < g->agents; a += all->count) {
        const uint32_t at = p->count++;
        p->agents[at] = a;
        snprintf(p->names[at], sizeof p->names[at], "%u", a);
        p->hosted[at] =
            (tacit_node_agent){.agent = a,
                               .shard = a,
                               .name = p->names[at],
                               .epsilon = w->epsilon ? w->epsilon[a] : w->privacy.epsilon,
                               .neighbours = (uint32_t)(g->row[a + 1] - g->row[a]),
                               .neighbour = g->neighbour + g->row[a],
                               .weight = g->weight + g->row[a]};
    }
    tacit_node_member *m = &all->members[k];
    *m = (tacit_node_member){.agents = p->agents, .count = p->count};
    snprintf(m->name, sizeof m->name, "node-%u", k);
    snprintf(m->endpoint, sizeof m->endpoint, "%s",
             p->link ? tacit_link_endpoint(p->link) : "tcp://127.0.0.1:7400");
    memcpy(m->key, p->identity.public_key, sizeof m->key);
}

tacit_status nodes_init(nodes *all, const tacit_world *world, uint32_t count, bool links,
                        tacit_error *err)
{
    memset(all, 0, sizeof *all);
    all->world = *world;
    all->count = count;
    all->links = links;
    memcpy(all->run, "a run of a test", TACIT_NODE_RUN);
    const char *scratch = getenv("TMPDIR"); /* tools/e2e.sh: in memory, if it can be */
    const int len = snprintf(all->folder, sizeof all->folder, "%s/tacit-nodes-XXXXXX",
                             scratch ? scratch : "/tmp");
    assert_true(len > 0 && (size_t)len < sizeof all->folder);
    assert_non_null(mkdtemp(all->folder));
    tacit_status status = tacit_options_defaults(&tacit_consortium_section, &all->consortium, err);
    all->consortium.unit = 1;
    for (uint32_t k = 0; k < count && status == TACIT_OK; k++) {
        nodes_place *p = &all->place[k];
        p->all = all;
        p->index = k;
        status = tacit_identity_fresh(&p->identity, err);
        if (status == TACIT_OK)
            status = tacit_options_defaults(&tacit_node_section, &p->options, err);
        if (status == TACIT_OK && links)
            status = open_link(p, err);
        if (status != TACIT_OK)
            break;
        snprintf(p->options.folder, sizeof p->options.folder, "%s/%u", all->folder, k);
        p->options.checkpoint = 0;
        deal(all, k);
    }
    for (uint32_t k = 0; k < count && status == TACIT_OK && links; k++)
        for (uint32_t j = 0; j < count && status == TACIT_OK; j++)
            if (j != k)
                status = tacit_link_allow(all->place[k].link, all->members[j].key, err);
    return status;
}

/* Clocks and choices of peers that are the same in every run of a test. */
static void make_repeatable(nodes *all, tacit_node *n)
{
    tacit_random same;
    tacit_random_init(&same, all->world.seed + 1000 * ++all->lives);
    memcpy(n->random.key[TACIT_FOR_CLOCK], same.key[TACIT_FOR_CLOCK], sizeof same.key[0]);
    memcpy(n->random.key[TACIT_FOR_PROTOCOL], same.key[TACIT_FOR_PROTOCOL], sizeof same.key[0]);
    tacit_stream_open(&n->chance, &same, 0, TACIT_FOR_PEERS, 0);
    tacit_random_clear(&same);
}

tacit_status nodes_open(nodes *all, uint32_t k, tacit_error *err)
{
    nodes_place *p = &all->place[k];
    tacit_node_plan plan = {.options = &p->options,
                            .consortium = &all->consortium,
                            .identity = &p->identity,
                            .members = all->members,
                            .member_count = all->count,
                            .self = k,
                            .agents = all->world.graph->agents,
                            .graph = all->world.graph,
                            .hosted = p->hosted,
                            .hosted_count = p->count,
                            .data = all->world.data,
                            .model = all->world.model,
                            .protocol = all->world.protocol,
                            .protocol_options = all->world.protocol_options,
                            .privacy = all->world.privacy,
                            .until = all->until,
                            .accept_spent = p->accept_spent,
                            .log = keep_line,
                            .log_ctx = p,
                            .metric = forward_metric,
                            .metric_ctx = all};
    memcpy(plan.run, all->run, sizeof plan.run);
    p->closed = false;
    const node_io io = {
        .ctx = p, .send = io_send, .connect = io_connect, .meet = io_meet, .close = io_close};
    tacit_status status = node_create(&p->node, &plan, &io, all->clock, err);
    if (status != TACIT_OK)
        return status;
    make_repeatable(all, p->node);
    return node_gossip_init(p->node, err);
}

tacit_status nodes_open_all(nodes *all, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < all->count && status == TACIT_OK; k++)
        status = nodes_open(all, k, err);
    return status;
}

void nodes_crash(nodes *all, uint32_t k)
{
    node_destroy(all->place[k].node);
    all->place[k].node = NULL;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

void nodes_clear(nodes *all)
{
    for (uint32_t k = 0; k < all->count; k++) {
        nodes_place *p = &all->place[k];
        node_destroy(p->node);
        tacit_link_free(p->link);
        tacit_identity_wipe(&p->identity);
        free(p->agents);
        free(p->hosted);
        free(p->names);
    }
    for (size_t k = 0; k < all->frame_count; k++)
        free(all->frames[k].bytes);
    free(all->frames);
    nftw(all->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- time ---- */

void nodes_inject(nodes *all, uint32_t from, uint32_t to, const void *bytes, size_t len)
{
    tacit_node *n = all->place[to].node;
    if (n)
        node_receive(n, all->members[from].key, true, bytes, len, all->clock);
}

/* A test's hands see the messages of a batch one by one. If they lose none it arrives as it is. */
static void hand_over_batch(nodes *all, const nodes_frame *f, const tacit_wire_header *h)
{
    bool keep[TACIT_WIRE_TOGETHER], all_kept = true;
    uint32_t count = 0;
    size_t at = 0, len;
    uint8_t *payload = f->bytes + TACIT_WIRE_HEADER;
    const uint8_t *frame;
    while (tacit_wire_next(h, payload, &at, &frame, &len)) {
        keep[count] = all->hand(all, f->from, f->to, payload + (frame - payload), len);
        all_kept = keep[count++] && all_kept;
    }
    if (all_kept) {
        nodes_inject(all, f->from, f->to, f->bytes, f->len);
        return;
    }
    at = count = 0;
    while (tacit_wire_next(h, payload, &at, &frame, &len))
        if (keep[count++])
            nodes_inject(all, f->from, f->to, frame, len);
}

/* The oldest frame that is under way arrives, or does not. */
static void hand_over(nodes *all)
{
    nodes_frame f = all->frames[0];
    tacit_wire_header h;
    const uint8_t *payload;
    memmove(all->frames, all->frames + 1, --all->frame_count * sizeof f);
    all->received++;
    if (all->hand && tacit_wire_open(&h, &payload, f.bytes, f.len, NULL) == TACIT_OK &&
        h.kind == TACIT_WIRE_BATCH && tacit_wire_check_batch(&h, payload, NULL, NULL) == TACIT_OK)
        hand_over_batch(all, &f, &h);
    else if (!all->hand || all->hand(all, f.from, f.to, f.bytes, f.len))
        nodes_inject(all, f.from, f.to, f.bytes, f.len);
    free(f.bytes);
}

static bool take_in(nodes *all)
{
    bool any = false;
    for (uint32_t k = 0; k < all->count; k++) {
        tacit_frame frame;
        nodes_place *p = &all->place[k];
        while (tacit_link_receive(p->link, all->clock, &frame, NULL) == TACIT_OK) {
            any = true;
            all->received++;
            if (p->node)
                node_receive(p->node, frame.from, frame.known, frame.bytes, frame.len, all->clock);
            tacit_frame_free(&frame);
        }
    }
    return any;
}

/* Links answer handshakes only while they are asked. */
static void settle_links(nodes *all)
{
    double last = real_seconds();
    while (all->received < all->sent) {
        if (take_in(all))
            last = real_seconds();
        else if (real_seconds() - last > GIVE_UP)
            all->received = all->sent;
        else
            for (uint32_t k = 0; k < all->count; k++)
                tacit_link_wait(all->place[k].link, 0.0002, NULL, 0, NULL);
    }
}

/* As at the end of a turn. */
static void send_packed(nodes *all)
{
    for (uint32_t k = 0; k < all->count; k++)
        if (all->place[k].node && all->place[k].node->phase != NODE_ENDED)
            node_send_all_packed(all->place[k].node);
}

void nodes_settle(nodes *all)
{
    send_packed(all);
    if (all->links)
        settle_links(all);
    while (all->frame_count > 0) {
        hand_over(all);
        send_packed(all);
    }
}

static tacit_status failure(const nodes *all, tacit_error *err)
{
    for (uint32_t k = 0; k < all->count; k++) {
        const tacit_node *n = all->place[k].node;
        if (!n || n->status == TACIT_OK)
            continue;
        if (err)
            *err = n->failure;
        return n->status;
    }
    return TACIT_OK;
}

tacit_status nodes_run(nodes *all, double clock, tacit_error *err)
{
    for (;;) {
        double next = INFINITY;
        const uint64_t sent = all->sent;
        for (uint32_t k = 0; k < all->count; k++)
            if (all->place[k].node)
                node_advance(all->place[k].node, all->clock);
        nodes_settle(all);
        if (failure(all, err) != TACIT_OK)
            return failure(all, err);
        for (uint32_t k = 0; k < all->count; k++) {
            const tacit_node *n = all->place[k].node;
            if (n && n->phase != NODE_ENDED)
                next = fmin(next, node_next(n));
        }
        if (next <= all->clock || all->sent > sent)
            continue;
        if (next > clock) {
            all->clock = fmax(all->clock, clock);
            return TACIT_OK;
        }
        all->clock = next;
    }
}

/* ---- looking in ---- */

bool nodes_logged(const nodes *all, uint32_t k, const char *event, const char *text)
{
    const nodes_place *p = &all->place[k];
    const size_t room = sizeof p->log / sizeof *p->log;
    for (size_t i = 0; i < room && i < p->lines; i++)
        if (strcmp(p->log[i].event, event) == 0 && strstr(p->log[i].fields, text))
            return true;
    return false;
}

tacit_node *nodes_host(const nodes *all, tacit_agent agent)
{
    return all->place[agent % all->count].node;
}

node_agent *nodes_agent(const nodes *all, tacit_agent agent)
{
    const tacit_node *n = nodes_host(all, agent);
    return n ? node_hosted(n, agent) : NULL;
}
