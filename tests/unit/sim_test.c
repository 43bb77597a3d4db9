/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator as a whole: the same bytes for any number of threads and any interruptions,
 * under every kind of network; and a network that does to messages what was configured.
 */
#include <limits.h>
#include <math.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "probe.h"
#include "problem.h"
#include "testing.h"

enum { AGENTS = 300, DIMENSION = 4 };

/* 300 agents learning linear separators on a random graph of about eight neighbours. */
typedef struct village {
    tacit_source source;
    tacit_graph graph;
    tacit_model *model;
    unsigned char options[4096];
    tacit_world world;
} village;

static void village_init(village *v, const tacit_protocol *protocol)
{
    tacit_error err = {0};
    tacit_data_options data;
    memset(v, 0, sizeof *v);
    check_ok(tacit_options_defaults(&tacit_data_section, &data, &err), &err);
    data.agents = AGENTS;
    data.dimension = DIMENSION;
    data.min_records = 2;
    data.max_records = 6;
    data.test_records = 1;
    data.validation_records = 0;
    check_ok(tacit_data_linear_separators(&v->source, &data, TACIT_F32, 1, &err), &err);
    check_ok(tacit_graph_k_out(&v->graph, AGENTS, 4, 2, &err), &err);
    tacit_model_options model = {.scalar = TACIT_F32};
    check_ok(tacit_model_create(&v->model, &model, tacit_dataset_features(v->source.data), &err),
             &err);
    check_ok(tacit_options_defaults(&protocol->options, v->options, &err), &err);
    v->world = world_defaults(&v->graph, protocol);
    v->world.data = v->source.data;
    v->world.model = v->model;
    v->world.protocol_options = v->options;
}

static void village_clear(village *v)
{
    tacit_source_clear(&v->source);
    tacit_graph_clear(&v->graph);
    tacit_model_free(v->model);
}

/* What must not depend on threads or interruptions. */
typedef struct result {
    float theta[AGENTS][DIMENSION];
    uint64_t charged[AGENTS];
    double last[AGENTS];
    tacit_traffic traffic;
} result;

static void read_result(const tacit_runtime *rt, result *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t a = 0; a < AGENTS; a++) {
        const tacit_secret *model = rt->ops->agent_model(rt, a);
        const tacit_ledger *ledger = rt->ops->agent_ledger(rt, a);
        if (model)
            memcpy(out->theta[a], tacit_vector_of_secret(model)->data, sizeof out->theta[a]);
        out->charged[a] = tacit_ledger_releases(ledger);
        out->last[a] = ledger->count ? ledger->entries[ledger->count - 1].last : 0;
    }
    out->traffic = rt->ops->traffic(rt);
}

static void check_equal(const result *a, const result *b, const char *what)
{
    if (memcmp(a->theta, b->theta, sizeof a->theta) != 0)
        fail_msg("%s: models differ", what);
    if (memcmp(a->charged, b->charged, sizeof a->charged) != 0 ||
        memcmp(a->last, b->last, sizeof a->last) != 0)
        fail_msg("%s: ledgers differ", what);
    if (memcmp(&a->traffic, &b->traffic, sizeof a->traffic) != 0)
        fail_msg("%s: traffic differs", what);
}

/* The twelve networks: latency x loss x churn. */
static tacit_network_options network(int k)
{
    return (tacit_network_options){.latency = k % 3,
                                   .latency_floor = 0.1,
                                   .latency_mean = 0.3,
                                   .loss = k / 3 % 2 ? 0.2 : 0,
                                   .mean_up = k / 6 ? 3 : INFINITY,
                                   .mean_down = 1};
}
enum { NETWORKS = 12 };

static void run_straight(const village *v, uint32_t threads, double time, result *out)
{
    tacit_world world = v->world;
    world.threads = threads;
    tacit_runtime *rt = world_create(&tacit_simulator, &world);
    world_run(rt, time);
    read_result(rt, out);
    rt->ops->destroy(rt);
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    static const char *const protocols[] = {"cd", "model-propagation"};
    static const uint32_t threads[] = {2, 8};
    for (int p = 0; p < 2; p++) {
        village v;
        village_init(&v, tacit_protocol_find(protocols[p]));
        for (int k = 0; k < NETWORKS; k++) {
            static result one, many;
            v.world.network = network(k);
            run_straight(&v, 1, 12, &one);
            assert_true(one.traffic.ticks > AGENTS * 7);
            for (int t = 0; t < 2; t++) {
                char what[64];
                snprintf(what, sizeof what, "%s, network %d, %u threads", protocols[p], k,
                         threads[t]);
                run_straight(&v, threads[t], 12, &many);
                check_equal(&one, &many, what);
            }
        }
        village_clear(&v);
    }
}

static void test_seeds_do_matter(void **state)
{
    (void)state;
    static result one, other;
    village v;
    village_init(&v, tacit_protocol_find("cd"));
    run_straight(&v, 1, 5, &one);
    v.world.seed = 2;
    run_straight(&v, 1, 5, &other);
    assert_memory_not_equal(one.theta, other.theta, sizeof one.theta);
    village_clear(&v);
}

/* ---- interruptions ---- */

/* cd with a counter: at the given number of events it pulls the brake. */
static _Atomic long events_left;
static tacit_stop brake;

static tacit_status braking_on(tacit_env *env, const void *shared, void *self,
                               const tacit_event *event)
{
    if (atomic_fetch_sub(&events_left, 1) == 1)
        brake = 1;
    return tacit_protocol_find("cd")->on(env, shared, self, event);
}

/* Run to `time` with a stop after every `every` events; each time the state moves through a
 * checkpoint into a fresh runtime, with the next number of threads. */
static int run_interrupted(const village *v, double time, long every, result *out)
{
    static const uint32_t threads[] = {1, 8, 2};
    tacit_world world = v->world;
    tacit_error err = {0};
    int stops = 0;
    tacit_runtime *rt = world_create(&tacit_simulator, &world);
    for (;;) {
        brake = 0;
        atomic_store(&events_left, every);
        tacit_status status = rt->ops->run(rt, time, &brake, &err);
        if (status == TACIT_OK)
            break;
        assert_int_equal(status, TACIT_EINTERRUPTED);
        stops++;
        tacit_saver *saver;
        size_t len;
        const uint8_t *bytes = save_bytes(rt, &saver, &len);
        rt->ops->destroy(rt);
        world.threads = threads[stops % 3];
        rt = world_create(&tacit_simulator, &world);
        check_ok(load_bytes(rt, bytes, len, &err), &err);
        tacit_saver_free(saver);
    }
    assert_true(rt->ops->now(rt) == time);
    read_result(rt, out);
    rt->ops->destroy(rt);
    return stops;
}

static void test_stop_save_load_go_on(void **state)
{
    (void)state;
    static result straight, broken;
    tacit_protocol braking = *tacit_protocol_find("cd");
    braking.on = braking_on;
    village v;
    village_init(&v, &braking);
    static const long every[] = {40, 1700, 9001};
    for (int k = 0; k < NETWORKS; k++) {
        char what[64];
        snprintf(what, sizeof what, "network %d", k);
        v.world.network = network(k);
        atomic_store(&events_left, LONG_MAX);
        run_straight(&v, 1, 6, &straight);
        assert_true(run_interrupted(&v, 6, every[k % 3], &broken) > 0);
        check_equal(&straight, &broken, what);
    }
    village_clear(&v);
}

/* Running to many times on the way is no interruption at all. */
static void test_run_in_pieces(void **state)
{
    (void)state;
    static result straight, pieces;
    village v;
    village_init(&v, tacit_protocol_find("cd"));
    for (int k = 0; k < NETWORKS; k += 5) {
        v.world.network = network(k);
        run_straight(&v, 1, 8, &straight);
        v.world.threads = 2;
        tacit_runtime *rt = world_create(&tacit_simulator, &v.world);
        v.world.threads = 1;
        dice d = {3};
        for (double t = 0; t < 8; t += dice_between(&d, 0, 0.3)) {
            world_run(rt, t);
            assert_true(rt->ops->now(rt) == t);
        }
        world_run(rt, 8);
        world_run(rt, 8); /* there is nothing left to do */
        read_result(rt, &pieces);
        check_equal(&straight, &pieces, "pieces");
        rt->ops->destroy(rt);
    }
    village_clear(&v);
}

/* A checkpoint belongs to its run. */
static void test_checkpoint_of_another_run_is_refused(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_saver *saver;
    size_t len;
    village v;
    village_init(&v, tacit_protocol_find("cd"));
    tacit_runtime *rt = world_create(&tacit_simulator, &v.world);
    world_run(rt, 3);
    const uint8_t *bytes = save_bytes(rt, &saver, &len);
    assert_int_equal(load_bytes(rt, bytes, len, &err), TACIT_EVERIFY); /* it runs already */
    rt->ops->destroy(rt);
    v.world.seed++;
    rt = world_create(&tacit_simulator, &v.world);
    check_fails(load_bytes(rt, bytes, len, &err), TACIT_EVERIFY, &err, "another run");
    rt->ops->destroy(rt);
    v.world.seed--;
    unsigned char options[4096];
    const tacit_protocol *mp = tacit_protocol_find("model-propagation");
    check_ok(tacit_options_defaults(&mp->options, options, &err), &err);
    v.world.protocol = mp;
    v.world.protocol_options = options;
    rt = world_create(&tacit_simulator, &v.world);
    check_fails(load_bytes(rt, bytes, len, &err), TACIT_EVERIFY, &err, "another run");
    rt->ops->destroy(rt);
    tacit_saver_free(saver);
    village_clear(&v);
}

/* Anybody can compute a checksum. What is under it may then be refused, or loaded and run to
 * some end; it must not take the process down. */
static void test_forged_checkpoints_do_no_harm(void **state)
{
    (void)state;
    enum { HEADER = 8, CHECKSUM = 32, ROUNDS = 400 };
    tacit_error err = {0};
    tacit_saver *saver;
    size_t len;
    problem q;
    unsigned char options[4096];
    const tacit_protocol *cd = tacit_protocol_find("cd");
    problem_init(&q, 3, 0, TACIT_F64);
    check_ok(tacit_options_defaults(&cd->options, options, &err), &err);
    tacit_world world = world_defaults(&q.graph, cd);
    world.data = q.data;
    world.model = q.model;
    world.protocol_options = options;
    world.network = network(8);
    tacit_runtime *rt = world_create(&tacit_simulator, &world);
    world_run(rt, 5);
    const uint8_t *bytes = save_bytes(rt, &saver, &len);
    uint8_t *copy = malloc(len);
    dice d = {2};
    int loaded = 0;
    for (int k = 0; k < ROUNDS; k++) {
        memcpy(copy, bytes, len);
        for (uint64_t edits = 1 + dice_below(&d, 3); edits-- > 0;)
            copy[HEADER + dice_below(&d, len - HEADER - CHECKSUM)] =
                (uint8_t)dice_below(&d, dice_unit(&d) < 0.5 ? 8 : 256);
        crypto_generichash(copy + len - CHECKSUM, CHECKSUM, copy, len - CHECKSUM, NULL, 0);
        tacit_runtime *other = world_create(&tacit_simulator, &world);
        if (load_bytes(other, copy, len, &err) == TACIT_OK) {
            loaded++;
            other->ops->run(other, 6, NULL, &err);
        }
        other->ops->destroy(other);
    }
    assert_in_range(loaded, 1, ROUNDS - 1);
    free(copy);
    tacit_saver_free(saver);
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* ---- what the network does ---- */

static void test_loss_and_offline_shares(void **state)
{
    (void)state;
    village v;
    village_init(&v, tacit_protocol_find("cd"));
    v.world.network.loss = 0.2;
    tacit_runtime *rt = world_create(&tacit_simulator, &v.world);
    world_run(rt, 40);
    tacit_traffic t = rt->ops->traffic(rt);
    /* about 90,000 messages: five deviations of the binomial, false alarm 6e-7 */
    double n = (double)t.messages;
    assert_true(fabs((double)t.lost - 0.2 * n) < 5 * sqrt(0.16 * n));
    assert_int_equal(t.delivered + t.lost, t.messages); /* zero latency: none under way */
    /* ticks: Poisson(300 * 40) */
    assert_true(fabs((double)t.ticks - 12000) < 5 * sqrt(12000));
    rt->ops->destroy(rt);

    /* Up for 3, down for 1: online three quarters of the time. The time average of an agent
     * over T = 100 has variance 2 p q tau / T = 0.0028 (tau = 3/4), all ticks together a
     * deviation of 0.005 of the share, and starting online adds q tau / T = 0.002. */
    v.world.network.loss = 0;
    v.world.network.mean_up = 3;
    v.world.network.mean_down = 1;
    rt = world_create(&tacit_simulator, &v.world);
    world_run(rt, 100);
    t = rt->ops->traffic(rt);
    assert_true(fabs((double)t.ticks / (AGENTS * 100.0) - 0.752) < 0.025);
    /* A receiver is down a quarter of the time, whoever sends. An edge carries 3/4 messages of
     * ticks a unit of time, and 1/4 * 3/4 that greet a peer which is just back and gets them. */
    assert_true(fabs((double)t.lost / (double)t.messages - 0.2) < 0.02);
    rt->ops->destroy(rt);
    village_clear(&v);
}

/* When an agent goes and comes back, from the definition: the k-th stay, at home or away, is
 * drawn from stream (agent, churn, k). */
static size_t absences(const village *v, uint32_t agent, double until, double *toggle, size_t room)
{
    tacit_random random;
    tacit_random_init(&random, v->world.seed);
    double now = 0;
    size_t count = 0;
    for (; now < until && count < room; count++) {
        tacit_stream s;
        tacit_stream_open(&s, &random, agent, TACIT_FOR_CHURN, count);
        now += tacit_stream_exponential(&s) *
               (count % 2 ? v->world.network.mean_down : v->world.network.mean_up);
        toggle[count] = now;
    }
    return count;
}

/* While an agent is away nothing reaches it and it does nothing; its neighbours are told. */
static void check_nobody_acts_while_away(int latency)
{
    village v;
    village_init(&v, tacit_protocol_find("cd"));
    v.world.network = network(6 + latency);
    tacit_runtime *rt = world_create(&tacit_simulator, &v.world);
    rt->trace = tacit_trace_create();
    world_run(rt, 10);
    const tacit_trace_row *rows;
    size_t count = tacit_trace_rows(rt->trace, &rows), notices = 0;
    double delay = latency ? v.world.network.latency_floor : 0; /* of the notices */
    static double toggle[AGENTS][100];
    size_t toggles[AGENTS], acted[AGENTS] = {0};
    for (uint32_t a = 0; a < AGENTS; a++)
        toggles[a] = absences(&v, a, 10, toggle[a], 100);
    for (size_t k = 0; k < count; k++) {
        tacit_agent a = rows[k].agent, peer = rows[k].peer;
        size_t stay = 0; /* even: at home */
        while (toggle[a][stay] < rows[k].time)
            stay++;
        bool border = stay < toggles[a] && toggle[a][stay] == rows[k].time;
        assert_true(stay % 2 == 0 || border);
        acted[a]++;
        if (rows[k].event != TACIT_PEER_UP && rows[k].event != TACIT_PEER_DOWN)
            continue;
        stay = 0;
        while (toggle[peer][stay] + delay < rows[k].time)
            stay++;
        assert_true(toggle[peer][stay] + delay == rows[k].time);
        assert_int_equal(rows[k].event, stay % 2 ? TACIT_PEER_UP : TACIT_PEER_DOWN);
        notices++;
    }
    for (uint32_t a = 0; a < AGENTS; a++)
        assert_true(acted[a] > 0);
    assert_true(notices > 5000);
    tacit_trace_free(rt->trace);
    rt->ops->destroy(rt);
    village_clear(&v);
}

static void test_nothing_reaches_who_is_away(void **state)
{
    (void)state;
    for (int latency = 0; latency < 3; latency++)
        check_nobody_acts_while_away(latency);
}

/* ---- latency, seen from outside ---- */

typedef struct flights {
    double *delay;
    size_t count;
    size_t overtaken; /* arrived after the sender had already said something newer */
} flights;

/* Match every arrival with the sending of the same buffer. */
static flights watch(int latency)
{
    village v;
    village_init(&v, tacit_protocol_find("cd"));
    v.world.network = network(latency);
    tacit_runtime *rt = world_create(&tacit_simulator, &v.world);
    rt->trace = tacit_trace_create();
    world_run(rt, 5);
    const tacit_trace_row *rows;
    size_t count = tacit_trace_rows(rt->trace, &rows);
    flights f = {.delay = calloc(count, sizeof(double))};
    static size_t sent[AGENTS][200];
    static size_t sends[AGENTS];
    memset(sends, 0, sizeof sends);
    for (size_t k = 0; k < count; k++) {
        if (rows[k].kind == TACIT_TRACE_SEND)
            sent[rows[k].agent][sends[rows[k].agent]++] = k;
        if (rows[k].kind != TACIT_TRACE_EVENT || rows[k].event != TACIT_MESSAGE)
            continue;
        tacit_agent from = rows[k].peer;
        size_t at = sends[from];
        while (at > 0 && rows[sent[from][at - 1]].payload != rows[k].payload)
            at--;
        assert_true(at > 0); /* said by whom it says, and before it arrived */
        double delay = rows[k].time - rows[sent[from][at - 1]].time;
        for (size_t later = at; later < sends[from]; later++)
            f.overtaken += rows[sent[from][later]].time < rows[k].time - 1e-12 && later == at;
        f.delay[f.count++] = delay;
    }
    assert_true(f.count > 5000);
    tacit_trace_free(rt->trace);
    rt->ops->destroy(rt);
    village_clear(&v);
    return f;
}

static void test_latency_delays(void **state)
{
    (void)state;
    flights none = watch(TACIT_LATENCY_ZERO);
    for (size_t k = 0; k < none.count; k++)
        assert_true(none.delay[k] == 0);
    assert_int_equal(none.overtaken, 0);
    free(none.delay);
    flights constant = watch(TACIT_LATENCY_CONSTANT);
    for (size_t k = 0; k < constant.count; k++)
        assert_true(fabs(constant.delay[k] - 0.1) < 1e-12);
    assert_true(constant.overtaken > 100); /* views are stale now and then */
    free(constant.delay);
    flights random = watch(TACIT_LATENCY_EXPONENTIAL);
    size_t n = 0;
    for (size_t k = 0; k < random.count; k++)
        assert_true(random.delay[k] >= 0.1 - 1e-12);
    assert_true(random.overtaken > constant.overtaken);
    /* Kolmogorov-Smirnov on those sent early enough to have arrived, nearly all: the run
     * ends 5 after its start, the mean is 0.3. False alarm 0.001, and room for the cut. */
    for (size_t k = 0; k < random.count; k++)
        random.delay[n++] = -expm1(-(random.delay[k] - 0.1) / 0.3);
    double statistic = kolmogorov(n, random.delay);
    assert_true(statistic < 1.95 + 0.08 * sqrt((double)n));
    free(random.delay);
}

/* ---- rules for protocols ---- */

typedef struct small {
    tacit_graph graph;
    probe probe;
    tacit_protocol protocol;
    tacit_world world;
} small;

static void small_init(small *s, uint32_t flags)
{
    probe_init(&s->probe);
    s->protocol = probe_protocol(flags);
    graph_ring(&s->graph, 6, 1, 1);
    s->world = world_defaults(&s->graph, &s->protocol);
    s->world.protocol_options = &s->probe;
}

/* Run until 3 and finish; the status of whatever failed first. */
static tacit_status small_run(small *s, tacit_error *err)
{
    memset(err, 0, sizeof *err);
    tacit_runtime *rt = world_create(&tacit_simulator, &s->world);
    tacit_status status = rt->ops->run(rt, 3, NULL, err);
    if (status == TACIT_OK)
        status = rt->ops->finish(rt, err);
    rt->ops->destroy(rt);
    tacit_graph_clear(&s->graph);
    return status;
}

static tacit_status echo(tacit_env *env, const probe *p, probe_agent *self,
                         const tacit_event *event)
{
    if (event->type == TACIT_WAKE && self->number++ == 0)
        return probe_say(env, p, TACIT_NOBODY, 1);
    if (event->type == TACIT_MESSAGE && tacit_public_get(event->payload, 0, 0) < 3)
        return probe_say(env, p, event->from, tacit_public_get(event->payload, 0, 0) + 1);
    return TACIT_OK;
}

static void test_quiet_protocols_do_not_answer(void **state)
{
    (void)state;
    tacit_error err;
    small s;
    small_init(&s, TACIT_WAKES);
    s.probe.on = echo;
    check_fails(small_run(&s, &err), TACIT_EUSAGE, &err, "TACIT_CHATTY");
    assert_non_null(strstr(err.text, "\"probe\""));
    small_init(&s, TACIT_WAKES | TACIT_CHATTY);
    s.probe.on = echo;
    check_ok(small_run(&s, &err), &err);
}

static tacit_status wrong_shape(tacit_env *env, const probe *p, probe_agent *self,
                                const tacit_event *event)
{
    (void)self;
    if (event->type != TACIT_WAKE)
        return TACIT_OK;
    tacit_public *v = tacit_new_public(env, &p->other);
    tacit_status status = tacit_broadcast(env, PROBE_WORD, v);
    tacit_drop(env, v);
    return status;
}

static tacit_status unknown_kind(tacit_env *env, const probe *p, probe_agent *self,
                                 const tacit_event *event)
{
    (void)self;
    if (event->type != TACIT_WAKE)
        return TACIT_OK;
    tacit_public *v = probe_word(env, p, 1);
    tacit_status status = tacit_broadcast(env, PROBE_OTHER, v);
    tacit_drop(env, v);
    return status;
}

static tacit_status last_words(tacit_env *env, const probe *p, probe_agent *self,
                               const tacit_event *event)
{
    (void)self;
    return event->type == TACIT_FINISH ? probe_say(env, p, TACIT_NOBODY, 1) : TACIT_OK;
}

static tacit_status talk_to_self(tacit_env *env, const probe *p, probe_agent *self,
                                 const tacit_event *event)
{
    (void)self;
    return event->type == TACIT_WAKE ? probe_say(env, p, tacit_facts_of(env)->self, 1) : TACIT_OK;
}

static tacit_status talk_to_stranger(tacit_env *env, const probe *p, probe_agent *self,
                                     const tacit_event *event)
{
    (void)self;
    return event->type == TACIT_WAKE ? probe_say(env, p, 1000, 1) : TACIT_OK;
}

/* The one across the ring: an agent, but no neighbour. */
static tacit_status talk_to_non_neighbour(tacit_env *env, const probe *p, probe_agent *self,
                                          const tacit_event *event)
{
    const tacit_facts *facts = tacit_facts_of(env);
    tacit_agent to = 0;
    (void)self;
    for (uint32_t k = 0; k < facts->neighbours; k++)
        to += to == facts->self || to == facts->neighbour[k];
    to += to == facts->self;
    return event->type == TACIT_WAKE && to < 6 ? probe_say(env, p, to, 1) : TACIT_OK;
}

static tacit_status set_timer(tacit_env *env, const probe *p, probe_agent *self,
                              const tacit_event *event)
{
    (void)p;
    (void)self;
    return event->type == TACIT_WAKE ? tacit_timer(env, 0.5, 1) : TACIT_OK;
}

static tacit_status ask(tacit_env *env, const probe *p, probe_agent *self, const tacit_event *event)
{
    (void)self;
    if (event->type != TACIT_WAKE)
        return TACIT_OK;
    uint64_t id;
    tacit_public *v = probe_word(env, p, 1);
    tacit_status status =
        tacit_request(env, tacit_facts_of(env)->neighbour[0], PROBE_WORD, v, 0.5, &id);
    tacit_drop(env, v);
    return status;
}

static tacit_status bad_timer(tacit_env *env, const probe *p, probe_agent *self,
                              const tacit_event *event)
{
    (void)p;
    (void)self;
    return event->type == TACIT_WAKE ? tacit_timer(env, -1, 1) : TACIT_OK;
}

static tacit_status fail_silently(tacit_env *env, const probe *p, probe_agent *self,
                                  const tacit_event *event)
{
    (void)env;
    (void)p;
    (void)self;
    return event->type == TACIT_WAKE ? TACIT_EPEER : TACIT_OK;
}

static void test_misuse_is_refused(void **state)
{
    (void)state;
    static const struct {
        tacit_status (*on)(tacit_env *, const probe *, probe_agent *, const tacit_event *);
        uint32_t flags;
        tacit_status status;
        const char *word;
    } cases[] = {
        {wrong_shape, TACIT_WAKES, TACIT_EUSAGE, "did not declare"},
        {unknown_kind, TACIT_WAKES, TACIT_EUSAGE, "kind 9"},
        {last_words, TACIT_WAKES, TACIT_EUSAGE, "ended"},
        {talk_to_self, TACIT_WAKES, TACIT_EUSAGE, "cannot send"},
        {talk_to_stranger, TACIT_WAKES, TACIT_EUSAGE, "\"1000\""},
        {set_timer, TACIT_WAKES, TACIT_EUSAGE, "TACIT_CHATTY"},
        {ask, TACIT_WAKES, TACIT_EUSAGE, "TACIT_CHATTY"},
        {bad_timer, TACIT_WAKES | TACIT_CHATTY, TACIT_EUSAGE, "-1"},
        {fail_silently, TACIT_WAKES, TACIT_EPEER, "handler failed"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (uint32_t threads = 1; threads <= 2; threads++)
            for (int latency = 0; latency < 2; latency++) {
                tacit_error err;
                small s;
                small_init(&s, cases[k].flags);
                s.probe.on = cases[k].on;
                s.world.threads = threads;
                s.world.network.latency = latency;
                check_fails(small_run(&s, &err), cases[k].status, &err, cases[k].word);
            }
}

/* At zero latency ticks run together if their neighbourhoods do not touch: a quiet protocol
 * must not reach further. With latency, or chatty, anybody may be spoken to. */
static void test_quiet_protocols_speak_to_neighbours(void **state)
{
    (void)state;
    for (int chatty = 0; chatty < 2; chatty++)
        for (int latency = 0; latency < 2; latency++) {
            tacit_error err;
            small s;
            small_init(&s, TACIT_WAKES | (chatty ? TACIT_CHATTY : 0));
            s.probe.on = talk_to_non_neighbour;
            s.world.network.latency = latency;
            if (chatty || latency)
                check_ok(small_run(&s, &err), &err);
            else
                check_fails(small_run(&s, &err), TACIT_EUSAGE, &err, "no neighbour");
        }
}

static void test_worlds_that_make_no_sense(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_runtime *rt = NULL;
    small s;
    small_init(&s, TACIT_WAKES);
    tacit_world world = s.world;
    world.threads = 0;
    check_fails(tacit_simulator.create(&rt, &world, &err), TACIT_EINPUT, &err, "threads");
    world.threads = 100000;
    check_fails(tacit_simulator.create(&rt, &world, &err), TACIT_EINPUT, &err, "threads");
    tacit_protocol forgetful = s.protocol;
    forgetful.save = NULL; /* save and load are mandatory */
    world = s.world;
    world.protocol = &forgetful;
    check_fails(tacit_simulator.create(&rt, &world, &err), TACIT_EINTERNAL, &err, "mandatory");
    tacit_graph nobody = {0};
    world = s.world;
    world.graph = &nobody;
    check_fails(tacit_simulator.create(&rt, &world, &err), TACIT_EINPUT, &err, "no agents");
    assert_null(rt);
    tacit_graph_clear(&s.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_seeds_do_matter),
        cmocka_unit_test(test_stop_save_load_go_on),
        cmocka_unit_test(test_run_in_pieces),
        cmocka_unit_test(test_checkpoint_of_another_run_is_refused),
        cmocka_unit_test(test_forged_checkpoints_do_no_harm),
        cmocka_unit_test(test_loss_and_offline_shares),
        cmocka_unit_test(test_nothing_reaches_who_is_away),
        cmocka_unit_test(test_latency_delays),
        cmocka_unit_test(test_quiet_protocols_do_not_answer),
        cmocka_unit_test(test_quiet_protocols_speak_to_neighbours),
        cmocka_unit_test(test_misuse_is_refused),
        cmocka_unit_test(test_worlds_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
