/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace sees all that crosses an environment and changes nothing; what it wrote down is
 * enough to replay one agent by itself and get the same words, byte for byte.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../conformance/protocols.h"
#include "base/pool.h"
#include "base/scratch.h"
#include "probe.h"
#include "problem.h"
#include "testing.h"

enum { TRACED_THREADS = 4 };

typedef struct scene {
    problem q;
    unsigned char options[4096];
    tacit_world world;
    tacit_runtime *rt;
    const tacit_trace_row *rows;
    size_t count;
} scene;

static void scene_init(scene *s, const char *protocol)
{
    tacit_error err = {0};
    const tacit_protocol *p = tacit_protocol_find(protocol);
    memset(s, 0, sizeof *s);
    problem_init(&s->q, 31, 0, TACIT_F64);
    check_ok(tacit_options_defaults(&p->options, s->options, &err), &err);
    s->world = world_defaults(&s->q.graph, p);
    s->world.data = s->q.data;
    s->world.model = s->q.model;
    s->world.protocol_options = s->options;
}

static void scene_run(scene *s, double time, bool traced)
{
    s->rt = world_create(&tacit_simulator, &s->world);
    if (traced)
        s->rt->trace = tacit_trace_create();
    world_run(s->rt, time);
    if (traced)
        s->count = tacit_trace_rows(s->rt->trace, &s->rows);
}

/* The trace goes first: payloads it keeps live in the runtime's memory. */
static void scene_clear(scene *s)
{
    tacit_trace_free(s->rt->trace);
    s->rt->ops->destroy(s->rt);
    problem_clear(&s->q);
}

static bool is_event(const tacit_trace_row *row, tacit_event_type type)
{
    return row->kind == TACIT_TRACE_EVENT && row->event == type;
}

static void test_every_crossing_has_a_row(void **state)
{
    (void)state;
    scene s;
    scene_init(&s, "cd");
    scene_run(&s, 20, true);
    tacit_traffic t = s.rt->ops->traffic(s.rt);
    uint64_t sends = 0, messages = 0, wakes = 0, starts = 0, releases = 0, reserves = 0;
    double last = 0;
    for (size_t k = 0; k < s.count; k++) {
        const tacit_trace_row *row = &s.rows[k];
        sends += row->kind == TACIT_TRACE_SEND;
        reserves += row->kind == TACIT_TRACE_RESERVE;
        releases += row->kind == TACIT_TRACE_RELEASE;
        messages += is_event(row, TACIT_MESSAGE);
        wakes += is_event(row, TACIT_WAKE);
        starts += is_event(row, TACIT_START);
        assert_true(row->time >= last);
        last = row->time;
        assert_int_equal(row->status, TACIT_OK);
    }
    assert_int_equal(starts, s.q.n);
    assert_int_equal(wakes, t.ticks);
    assert_int_equal(sends, t.broadcasts);
    assert_int_equal(messages, t.delivered);
    assert_int_equal(releases, t.releases);
    assert_int_equal(reserves, t.releases);
    assert_true(sends > 100);
    scene_clear(&s);
}

/* A broadcast is one buffer: all its receivers were handed the sender's pointer. */
static void test_payloads_are_shared(void **state)
{
    (void)state;
    for (int latency = 0; latency < 2; latency++) {
        scene s;
        scene_init(&s, "cd");
        s.world.network.latency = latency;
        scene_run(&s, 10, true);
        size_t broadcasts = 0;
        for (size_t k = 0; k < s.count; k++) {
            if (s.rows[k].kind != TACIT_TRACE_SEND || s.rows[k].time > 9)
                continue;
            uint32_t a = (uint32_t)s.rows[k].agent;
            uint64_t degree = s.q.graph.row[a + 1] - s.q.graph.row[a], receivers = 0;
            assert_int_equal(s.rows[k].peer, TACIT_NOBODY);
            for (size_t j = k + 1; j < s.count; j++)
                receivers += is_event(&s.rows[j], TACIT_MESSAGE) && s.rows[j].peer == a &&
                             s.rows[j].payload == s.rows[k].payload;
            assert_int_equal(receivers, degree);
            broadcasts++;
        }
        assert_true(broadcasts > 50);
        scene_clear(&s);
    }
}

/* Charge, release, speak: in every tick and in this order. */
static void test_reserve_release_send(void **state)
{
    (void)state;
    static const tacit_trace_kind order[] = {TACIT_TRACE_RESERVE, TACIT_TRACE_RELEASE,
                                             TACIT_TRACE_SEND};
    scene s;
    size_t ticks = 0;
    scene_init(&s, "cd");
    s.q.m[3] = 0; /* one that has nothing to release */
    problem_build(&s.q, TACIT_F64);
    s.world.data = s.q.data;
    s.world.model = s.q.model;
    scene_run(&s, 20, true);
    for (size_t k = 0; k < s.count; k++) {
        if (!is_event(&s.rows[k], TACIT_WAKE))
            continue;
        tacit_agent a = s.rows[k].agent;
        size_t step = a == 3 ? 2 : 0;
        ticks++;
        for (size_t j = k + 1; step < 3; j++) {
            assert_true(j < s.count && s.rows[j].time == s.rows[k].time);
            if (s.rows[j].agent != a)
                continue;
            assert_int_equal(s.rows[j].kind, order[step++]);
            if (s.rows[j].kind != TACIT_TRACE_SEND)
                assert_string_equal(s.rows[j].name, "gradient");
        }
    }
    assert_true(ticks > 100);
    scene_clear(&s);
}

static void test_refusal_is_seen(void **state)
{
    (void)state;
    tacit_error err = {0};
    scene s;
    scene_init(&s, "cd");
    s.world.privacy.epsilon = 1;
    s.rt = world_create(&tacit_simulator, &s.world);
    s.rt->trace = tacit_trace_create();
    assert_int_equal(s.rt->ops->run(s.rt, 10, NULL, &err), TACIT_EBUDGET);
    s.count = tacit_trace_rows(s.rt->trace, &s.rows);
    size_t refused = 0;
    for (size_t k = 0; k < s.count; k++) {
        assert_true(s.rows[k].kind == TACIT_TRACE_EVENT || s.rows[k].kind == TACIT_TRACE_RESERVE);
        refused += s.rows[k].status == TACIT_EBUDGET;
    }
    assert_true(refused > 0);
    scene_clear(&s);
}

static void test_watching_changes_nothing(void **state)
{
    (void)state;
    for (int latency = 0; latency < 3; latency++)
        for (uint32_t threads = 1; threads <= TRACED_THREADS; threads += 3) {
            scene plain, traced;
            models a, b;
            scene_init(&plain, "cd");
            plain.world.network.latency = latency;
            plain.world.network.loss = 0.1;
            plain.world.network.mean_up = 5;
            scene_init(&traced, "cd");
            traced.world.network = plain.world.network;
            traced.world.threads = threads;
            scene_run(&plain, 20, false);
            scene_run(&traced, 20, true);
            problem_models(&plain.q, plain.rt, a);
            problem_models(&traced.q, traced.rt, b);
            assert_memory_equal(a, b, sizeof a);
            tacit_traffic t = plain.rt->ops->traffic(plain.rt);
            tacit_traffic u = traced.rt->ops->traffic(traced.rt);
            assert_memory_equal(&t, &u, sizeof t);
            assert_true(traced.count > 500);
            scene_clear(&plain);
            scene_clear(&traced);
        }
}

/* ---- requests, timers, metrics ---- */

static void test_requests_have_rows(void **state)
{
    (void)state;
    ask_options options = {2};
    scene s;
    scene_init(&s, "cd");
    s.world.protocol = &ask_protocol;
    s.world.protocol_options = &options;
    scene_run(&s, 10, true);
    size_t requests[4] = {0}, replies[4] = {0}, other = 0;
    for (size_t k = 0; k < s.count; k++) {
        const tacit_trace_row *row = &s.rows[k];
        uint32_t path = row->at.channel == 0x31 ? 3 : row->at.channel;
        if (row->kind == TACIT_TRACE_REQUEST) {
            requests[path]++;
            assert_true(row->value == 2 && row->at.kind == 1 && row->peer < s.q.n);
        } else if (row->kind == TACIT_TRACE_REPLY) {
            replies[path]++;
            assert_true(row->at.kind == 2 && row->payload);
        } else {
            other += row->kind != TACIT_TRACE_EVENT;
        }
    }
    assert_int_equal(other, 0);
    assert_int_equal(requests[0], 0);
    for (int path = 1; path <= 3; path++) {
        assert_true(requests[path] > 20);
        assert_int_equal(requests[path], replies[path]);
    }
    scene_clear(&s);
}

static tacit_status busy(tacit_env *env, const probe *p, probe_agent *self,
                         const tacit_event *event)
{
    (void)p;
    (void)self;
    if (event->type != TACIT_START)
        return TACIT_OK;
    tacit_metric(env, "height", 1.5);
    tacit_metric(env, "weight", ((tacit_private_metric){2.5}));
    tacit_env nested = tacit_nest(env, 2);
    return tacit_timer(&nested, 0.5, 77);
}

static void test_timers_and_metrics_have_rows(void **state)
{
    (void)state;
    scene s;
    probe p;
    tacit_protocol protocol = probe_protocol(TACIT_CHATTY);
    probe_init(&p);
    p.on = busy;
    scene_init(&s, "cd");
    s.world.protocol = &protocol;
    s.world.protocol_options = &p;
    scene_run(&s, 1, true);
    size_t timers = 0, rings = 0, height = 0, weight = 0;
    for (size_t k = 0; k < s.count; k++) {
        const tacit_trace_row *row = &s.rows[k];
        timers += row->kind == TACIT_TRACE_TIMER && row->id == 77 && row->value == 0.5 &&
                  row->at.channel == 2;
        rings += is_event(row, TACIT_TIMER) && row->id == 77 && row->at.channel == 2;
        if (row->kind == TACIT_TRACE_METRIC && strcmp(row->name, "height") == 0)
            height += row->value == 1.5;
        else if (row->kind == TACIT_TRACE_METRIC)
            weight += row->value == 2.5;
    }
    assert_true(timers == s.q.n && rings == s.q.n && height == s.q.n && weight == s.q.n);
    scene_clear(&s);
}

/* ---- replay ---- */

/* An environment with one agent in it: it has its data, and collects what is said. */
typedef struct replay {
    tacit_facts facts;
    const tacit_world *world;
    tacit_pool *pool;
    tacit_scratch *scratch;
    tacit_costs *costs;
    tacit_ledger ledger;
    tacit_error error;
    const tacit_public *said[8];
    tacit_agent to[8];
    size_t count;
} replay;

static const tacit_facts *replay_facts(void *ctx)
{
    return &((replay *)ctx)->facts;
}

static tacit_status replay_send(void *ctx, tacit_agent to, tacit_address at,
                                const tacit_public *payload)
{
    replay *r = ctx;
    (void)at;
    assert_true(r->count < 8);
    r->to[r->count] = to;
    r->said[r->count++] = tacit_keep(payload);
    return TACIT_OK;
}

static tacit_public *replay_new_public(void *ctx, const tacit_shape *shape)
{
    return tacit_vector_public(tacit_pool_vector(((replay *)ctx)->pool, shape, 0));
}

static tacit_secret *replay_new_secret(void *ctx, const tacit_shape *shape)
{
    return tacit_vector_secret(
        tacit_pool_vector(((replay *)ctx)->pool, shape, TACIT_VECTOR_SECRET));
}

static void replay_drop(void *ctx, const void *vector)
{
    tacit_vector_drop(((replay *)ctx)->pool, (tacit_vector *)(uintptr_t)vector);
}

static tacit_status replay_reserve(void *ctx, const tacit_cost *cost, tacit_permit **permit)
{
    replay *r = ctx;
    tacit_budget budget = {INFINITY, 0, TACIT_TRUST_LOCAL, TACIT_BY_SUM};
    *permit = tacit_scratch_alloc(r->scratch, tacit_permit_size());
    return tacit_ledger_reserve(&r->ledger, r->costs, &budget, cost, r->facts.now, *permit,
                                &r->error);
}

static tacit_status replay_release(void *ctx, tacit_permit *permit, tacit_bounded *bounded,
                                   tacit_public **out)
{
    return tacit_mechanism_apply(permit, bounded, NULL, out, &((replay *)ctx)->error);
}

static const tacit_shard *replay_shard(void *ctx, tacit_split split)
{
    replay *r = ctx;
    return tacit_dataset_shard(r->world->data, (uint32_t)r->facts.self, split);
}

static const tacit_model *replay_model(void *ctx)
{
    return ((replay *)ctx)->world->model;
}

static tacit_scratch *replay_scratch(void *ctx)
{
    return ((replay *)ctx)->scratch;
}

static void *replay_temporary(void *ctx, size_t bytes)
{
    return tacit_scratch_alloc(((replay *)ctx)->scratch, bytes);
}

static tacit_error *replay_error(void *ctx)
{
    return &((replay *)ctx)->error;
}

static const tacit_env_ops replay_ops = {
    .facts = replay_facts,
    .send = replay_send,
    .new_public = replay_new_public,
    .new_secret = replay_new_secret,
    .drop = replay_drop,
    .reserve = replay_reserve,
    .release = replay_release,
    .shard = replay_shard,
    .model = replay_model,
    .scratch = replay_scratch,
    .temporary = replay_temporary,
    .error = replay_error,
};

static void replay_init(replay *r, const tacit_world *world, uint32_t agent)
{
    const tacit_graph *g = world->graph;
    memset(r, 0, sizeof *r);
    r->world = world;
    r->pool = tacit_pool_create(true);
    r->scratch = tacit_scratch_create();
    r->facts = (tacit_facts){.self = agent,
                             .records = tacit_dataset_rows(world->data, agent, TACIT_TRAIN),
                             .neighbours = (uint32_t)(g->row[agent + 1] - g->row[agent]),
                             .neighbour = g->neighbour + g->row[agent],
                             .weight = g->weight + g->row[agent],
                             .degree = g->degree[agent]};
}

/* Hand the agent the event of a row. The payload comes from the other run: it is copied, as
 * if it had come over a wire. */
static void replay_event(replay *r, const void *shared, void *self, const tacit_trace_row *row)
{
    tacit_env env = {&replay_ops, r, 0};
    tacit_event event = {.type = row->event, .at = row->at, .from = row->peer, .id = row->id};
    event.slot = TACIT_NO_SLOT;
    for (uint32_t k = 0; k < r->facts.neighbours; k++)
        if (r->facts.neighbour[k] == row->peer)
            event.slot = k;
    tacit_public *copy = NULL;
    if (row->payload) {
        copy = tacit_new_public(&env, tacit_public_shape(row->payload));
        tacit_public_copy(copy, row->payload);
        event.payload = copy;
    }
    r->facts.now = row->time;
    tacit_scratch_mark mark = tacit_scratch_now(r->scratch);
    check_ok(r->world->protocol->on(&env, shared, self, &event), &r->error);
    tacit_scratch_rewind(r->scratch, mark);
    tacit_drop(&env, copy);
}

static size_t replay_agent(const scene *s, uint32_t agent)
{
    const tacit_protocol *p = s->world.protocol;
    const void *shared = s->rt->ops->shared(s->rt);
    replay r;
    size_t words = 0;
    replay_init(&r, &s->world, agent);
    tacit_env env = {&replay_ops, &r, 0};
    r.costs = tacit_costs_create();
    void *self = calloc(1, p->agent_size(shared, r.facts.neighbours));
    for (size_t k = 0; k < s->count; k++) {
        const tacit_trace_row *row = &s->rows[k];
        if (row->agent != agent)
            continue;
        if (row->kind == TACIT_TRACE_EVENT) {
            assert_int_equal(words, r.count); /* no word more than in the other run */
            for (size_t j = 0; j < r.count; j++)
                tacit_drop(&env, r.said[j]);
            r.count = words = 0;
            replay_event(&r, shared, self, row);
        } else if (row->kind == TACIT_TRACE_SEND) {
            assert_true(words < r.count); /* and no word less */
            const tacit_vector *a = tacit_vector_of_public(r.said[words]);
            const tacit_vector *b = tacit_vector_of_public(row->payload);
            assert_true(r.to[words++] == row->peer);
            assert_memory_equal(a->data, b->data, b->shape->bytes);
        }
    }
    size_t releases = tacit_ledger_releases(&r.ledger);
    for (size_t j = 0; j < r.count; j++)
        tacit_drop(&env, r.said[j]);
    p->end(&env, shared, self);
    free(self);
    tacit_ledger_clear(&r.ledger);
    tacit_costs_free(r.costs);
    tacit_scratch_free(r.scratch);
    tacit_pool_free(r.pool);
    return releases;
}

static void test_one_agent_replayed_says_the_same(void **state)
{
    (void)state;
    static const char *const protocols[] = {"cd", "model-propagation"};
    for (int p = 0; p < 2; p++) {
        scene s;
        scene_init(&s, protocols[p]);
        s.world.network = (tacit_network_options){.latency = TACIT_LATENCY_EXPONENTIAL,
                                                  .latency_floor = 0.1,
                                                  .latency_mean = 0.4,
                                                  .loss = 0.1,
                                                  .mean_up = 8,
                                                  .mean_down = 1};
        scene_run(&s, 25, true);
        for (uint32_t a = 0; a < s.q.n; a++)
            assert_int_equal(replay_agent(&s, a),
                             tacit_ledger_releases(s.rt->ops->agent_ledger(s.rt, a)));
        scene_clear(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_crossing_has_a_row),
        cmocka_unit_test(test_payloads_are_shared),
        cmocka_unit_test(test_reserve_release_send),
        cmocka_unit_test(test_refusal_is_seen),
        cmocka_unit_test(test_watching_changes_nothing),
        cmocka_unit_test(test_requests_have_rows),
        cmocka_unit_test(test_timers_and_metrics_have_rows),
        cmocka_unit_test(test_one_agent_replayed_says_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
