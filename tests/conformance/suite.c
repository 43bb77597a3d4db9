/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"
#include "testing.h"

/* ---- start, clock, finish ---- */

static void test_start_comes_once_and_first(void **state)
{
    (void)state;
    scene s;
    scene_init(&s, 20, TACIT_WAKES);
    scene_run(&s, 0);
    for (uint32_t a = 0; a < 20; a++)
        if (probe_at(&s, a))
            assert_int_equal(probe_at(&s, a)->of_type[TACIT_START], 1);
    scene_run(&s, 5);
    for (uint32_t a = 0; a < 20; a++) {
        const probe_agent *p = probe_at(&s, a);
        if (!p)
            continue;
        assert_int_equal(p->of_type[TACIT_START], 1);
        assert_int_equal(p->log[0].type, TACIT_START);
        assert_true(near(p->log[0].time, 0));
    }
    scene_clear(&s);
}

/* 2000 wakes expected of 50 agents in 40: five deviations, false alarm 6e-7. */
static void test_wakes_come_at_rate_one(void **state)
{
    (void)state;
    scene s;
    scene_init(&s, 50, TACIT_WAKES);
    scene_run(&s, 40);
    uint64_t wakes = 0, known = 0;
    for (uint32_t a = 0; a < 50; a++) {
        const probe_agent *p = probe_at(&s, a);
        if (!p)
            continue;
        known++;
        wakes += p->of_type[TACIT_WAKE];
        for (uint64_t k = 1; k < p->count && k < PROBE_LOG; k++) {
            assert_true(p->log[k].time >= p->log[k - 1].time);
            assert_int_equal(p->log[k].slot, TACIT_NO_SLOT);
        }
    }
    double mean = 40 * (double)known;
    assert_true(fabs((double)wakes - mean) < 5 * sqrt(mean));
    if (known == 50)
        assert_int_equal(runtime->ops->traffic(s.rt).ticks, wakes);
    scene_clear(&s);
    scene_init(&s, 10, 0); /* who wants no clock gets none */
    scene_run(&s, 10);
    for (uint32_t a = 0; a < 10; a++)
        if (probe_at(&s, a))
            assert_int_equal(probe_at(&s, a)->of_type[TACIT_WAKE], 0);
    scene_clear(&s);
}

static tacit_status speak_at_the_end(tacit_env *env, const probe *p, probe_agent *self,
                                     const tacit_event *event)
{
    if (event->type == TACIT_FINISH)
        self->status = probe_say(env, p, TACIT_NOBODY, 1);
    return TACIT_OK;
}

static void test_finish_comes_once_and_last(void **state)
{
    (void)state;
    tacit_error err = {0};
    scene s;
    scene_init(&s, 10, TACIT_WAKES);
    s.probe.on = speak_at_the_end;
    scene_run(&s, 6);
    check_ok(runtime->ops->finish(s.rt, &err), &err);
    assert_int_equal(runtime->ops->finish(s.rt, &err), TACIT_EUSAGE);
    assert_int_equal(runtime->ops->run(s.rt, 9, NULL, &err), TACIT_EUSAGE);
    for (uint32_t a = 0; a < 10; a++) {
        const probe_agent *p = probe_at(&s, a);
        if (!p)
            continue;
        assert_int_equal(p->of_type[TACIT_FINISH], 1);
        if (p->count <= PROBE_LOG)
            assert_int_equal(p->log[p->count - 1].type, TACIT_FINISH);
        assert_int_equal(p->status, TACIT_EUSAGE); /* nothing can be said any more */
        assert_int_equal(p->of_type[TACIT_MESSAGE], 0);
    }
    scene_clear(&s);
}

/* ---- timers ---- */

enum { TIMERS = 6 };
static const double delays[TIMERS] = {0.5, 0.25, 0.25, 1.5, 0, 0.75};
static const uint32_t timer_channel[TIMERS] = {0, 0, 3, 0, 0, 3};

static tacit_status set_timers(tacit_env *env, const probe *p, probe_agent *self,
                               const tacit_event *event)
{
    (void)p;
    (void)self;
    tacit_env nested = tacit_nest(env, 3);
    for (uint64_t k = 0; event->type == TACIT_START && k < TIMERS; k++) {
        tacit_status status = tacit_timer(timer_channel[k] ? &nested : env, delays[k], 100 + k);
        if (status != TACIT_OK)
            return status;
    }
    return TACIT_OK;
}

static void test_timers_ring_once_in_order(void **state)
{
    (void)state;
    static const int order[TIMERS] = {4, 1, 2, 0, 5, 3}; /* of equal ones the first set first */
    for (int latency = 0; latency < 2; latency++) {
        scene s;
        scene_init(&s, 8, TACIT_CHATTY);
        s.probe.on = set_timers;
        s.world.network.latency = latency;
        scene_run(&s, 3);
        for (uint32_t a = 0; a < 8; a++) {
            const probe_agent *p = probe_at(&s, a);
            if (!p)
                continue;
            assert_int_equal(p->count, 1 + TIMERS);
            for (int k = 0; k < TIMERS; k++) {
                const probe_entry *e = &p->log[1 + k];
                assert_int_equal(e->type, TACIT_TIMER);
                assert_int_equal(e->id, 100 + order[k]);
                assert_int_equal(e->channel, timer_channel[order[k]]);
                assert_true(near(e->time, delays[order[k]]));
            }
        }
        scene_clear(&s);
    }
}

/* ---- messages ---- */

static tacit_status greet(tacit_env *env, const probe *p, probe_agent *self,
                          const tacit_event *event)
{
    (void)self;
    double me = (double)tacit_facts_of(env)->self;
    return event->type == TACIT_START ? probe_say(env, p, TACIT_NOBODY, 10 + me) : TACIT_OK;
}

static void test_broadcast_reaches_each_neighbour_once(void **state)
{
    (void)state;
    for (uint32_t flags = 0; flags <= TACIT_CHATTY; flags += TACIT_CHATTY) {
        scene s;
        scene_init(&s, 12, flags);
        s.probe.on = greet;
        scene_run(&s, 1);
        const tacit_graph *g = &s.graph;
        const void *buffer[12] = {NULL};
        for (uint32_t a = 0; a < 12; a++) {
            const probe_agent *p = probe_at(&s, a);
            if (!p)
                continue;
            uint64_t degree = g->row[a + 1] - g->row[a];
            assert_int_equal(p->of_type[TACIT_MESSAGE], degree);
            bool heard[12] = {false};
            for (uint64_t k = 1; k < p->count; k++) {
                const probe_entry *e = &p->log[k];
                assert_int_equal(e->type, TACIT_MESSAGE);
                assert_true(e->slot < degree);
                assert_int_equal(g->neighbour[g->row[a] + e->slot], e->from);
                assert_false(heard[e->from]);
                heard[e->from] = true;
                assert_true(e->value == 10 + (double)e->from);
                assert_int_equal(e->kind, PROBE_WORD);
                if (runtime->shares_memory && buffer[e->from])
                    assert_ptr_equal(buffer[e->from], e->payload);
                buffer[e->from] = e->payload;
            }
        }
        tacit_traffic t = runtime->ops->traffic(s.rt);
        assert_int_equal(t.broadcasts, 12);
        assert_int_equal(t.messages, g->row[12]);
        assert_int_equal(t.delivered, g->row[12]);
        assert_int_equal(t.lost, 0);
        assert_int_equal(t.bytes, g->row[12] * s.probe.word.bytes);
        scene_clear(&s);
    }
}

/* Agent 0 speaks to one that is not its neighbour; everybody samples a peer. */
static tacit_status speak_to_one(tacit_env *env, const probe *p, probe_agent *self,
                                 const tacit_event *event)
{
    const tacit_facts *facts = tacit_facts_of(env);
    if (event->type == TACIT_START)
        self->number = tacit_sample_peer(env);
    if (event->type != TACIT_START || facts->self != 0)
        return TACIT_OK;
    return probe_say(env, p, *(const tacit_agent *)p->ctx, 5);
}

static void test_direct_send_and_peer_sampling(void **state)
{
    (void)state;
    scene s;
    scene_init(&s, 12, TACIT_CHATTY);
    tacit_agent stranger = 1;
    for (bool known = true; known; stranger += known) {
        known = false;
        for (uint64_t e = s.graph.row[0]; e < s.graph.row[1]; e++)
            known |= s.graph.neighbour[e] == stranger;
        if (!known)
            break;
    }
    assert_in_range(stranger, 2, 11);
    s.probe.on = speak_to_one;
    s.probe.ctx = &stranger;
    scene_run(&s, 1);
    uint64_t different = 0, last = TACIT_NOBODY;
    for (tacit_agent a = 0; a < 12; a++) {
        const probe_agent *p = probe_at(&s, a);
        if (!p)
            continue;
        assert_int_equal(p->of_type[TACIT_MESSAGE], a == stranger);
        assert_true(p->number < 12 && p->number != a);
        different += p->number != last;
        last = p->number;
        if (a != stranger)
            continue;
        const probe_entry *e = &p->log[1];
        assert_true(e->from == 0 && e->slot == TACIT_NO_SLOT && e->value == 5);
    }
    assert_true(different > 3);
    scene_clear(&s);
}

static void test_absences(void **state)
{
    (void)state;
    if (!runtime->simulates_network)
        skip();
    scene s;
    scene_init(&s, 12, TACIT_WAKES);
    s.world.network.mean_up = 4;
    s.world.network.mean_down = 2;
    scene_run(&s, 8);
    uint64_t notices = 0;
    for (uint32_t a = 0; a < 12; a++) {
        const probe_agent *p = probe_at(&s, a);
        for (uint64_t k = 0; p && k < p->count && k < PROBE_LOG; k++) {
            const probe_entry *e = &p->log[k];
            if (e->type != TACIT_PEER_UP && e->type != TACIT_PEER_DOWN)
                continue;
            notices++;
            uint64_t at = s.graph.row[a] + e->slot;
            assert_true(at < s.graph.row[a + 1]);
            assert_int_equal(s.graph.neighbour[at], e->from);
        }
    }
    assert_true(notices > 20);
    scene_clear(&s);
}

/* ---- requests ---- */

/* Agent 0 asks its first neighbour, which answers questions above zero only. */
static tacit_status ask_once(tacit_env *env, const probe *p, probe_agent *self,
                             const tacit_event *event)
{
    const tacit_facts *facts = tacit_facts_of(env);
    const double *question = p->ctx; /* value, deadline */
    tacit_status status = TACIT_OK;
    if (event->type == TACIT_START && facts->self == 0) {
        tacit_public *word = probe_word(env, p, question[0]);
        status =
            tacit_request(env, facts->neighbour[0], PROBE_WORD, word, question[1], &self->number);
        tacit_drop(env, word);
    } else if (event->type == TACIT_REQUEST) {
        double value = tacit_public_get(event->payload, 0, 0);
        tacit_public *word = probe_word(env, p, 2 * value);
        if (value > 0)
            status = tacit_reply(env, event, PROBE_ANSWER, word);
        tacit_drop(env, word);
    }
    return status;
}

/* What agent 0 saw of its question (value, deadline): one entry after the start. */
static probe_agent asked(int latency, double value, double deadline, uint64_t *served)
{
    scene s;
    double question[2] = {value, deadline};
    scene_init(&s, 6, TACIT_CHATTY);
    s.probe.on = ask_once;
    s.probe.ctx = question;
    s.world.network.latency = latency;
    s.world.network.latency_floor = 0.15;
    scene_run(&s, 10);
    probe_agent out = {0};
    *served = 0;
    for (uint32_t a = 0; a < 6; a++)
        if (probe_at(&s, a))
            *served += probe_at(&s, a)->of_type[TACIT_REQUEST];
    if (probe_at(&s, 0))
        out = *probe_at(&s, 0);
    scene_clear(&s);
    return out;
}

static void test_requests(void **state)
{
    (void)state;
    uint64_t served;
    probe_agent in_time = asked(TACIT_LATENCY_ZERO, 4, 5, &served);
    if (in_time.count == 0)
        skip(); /* agent 0 lives elsewhere */
    assert_int_equal(served, 1);
    assert_int_equal(in_time.count, 2);
    assert_int_equal(in_time.log[1].type, TACIT_REPLY);
    assert_true(in_time.log[1].value == 8);
    assert_int_equal(in_time.log[1].kind, PROBE_ANSWER);
    assert_int_equal(in_time.log[1].id, in_time.number);
    probe_agent never = asked(TACIT_LATENCY_ZERO, -4, 5, &served);
    assert_int_equal(served, 1);
    assert_int_equal(never.count, 2);
    assert_int_equal(never.log[1].type, TACIT_NO_REPLY);
    assert_int_equal(never.log[1].id, never.number);
    assert_true(near(never.log[1].time, 5));
    if (!runtime->simulates_network)
        return;
    probe_agent late = asked(TACIT_LATENCY_CONSTANT, 4, 0.2, &served); /* the way takes 0.3 */
    assert_int_equal(served, 1);
    assert_int_equal(late.count, 2); /* the late reply was dropped */
    assert_int_equal(late.log[1].type, TACIT_NO_REPLY);
    probe_agent slow = asked(TACIT_LATENCY_CONSTANT, 4, 0.4, &served);
    assert_int_equal(slow.count, 2);
    assert_int_equal(slow.log[1].type, TACIT_REPLY);
    assert_true(near(slow.log[1].time, 0.3));
}

/* ---- privacy ---- */

static tacit_status release_or_not(tacit_env *env, const probe *p, probe_agent *self,
                                   const tacit_event *event)
{
    if (event->type != TACIT_WAKE)
        return TACIT_OK;
    tacit_permit *permit;
    tacit_cost cost = {.what = "secret"};
    tacit_status status = tacit_reserve(env, &cost, &permit);
    self->status = status;
    return status == TACIT_OK ? probe_say(env, p, TACIT_NOBODY, 1) : status;
}

static void test_refused_budget_sends_nothing(void **state)
{
    (void)state;
    tacit_error err = {0};
    scene s;
    scene_init(&s, 6, TACIT_WAKES);
    s.probe.on = release_or_not;
    s.world.privacy.epsilon = 3;
    s.rt = world_create(runtime->ops, &s.world);
    check_fails(runtime->ops->run(s.rt, 10, NULL, &err), TACIT_EBUDGET, &err, "\"secret\"");
    tacit_traffic t = runtime->ops->traffic(s.rt);
    assert_int_equal(t.messages, 0);
    assert_int_equal(t.releases, 0);
    assert_true(t.refused >= 1);
    for (uint32_t a = 0; a < 6; a++)
        if (probe_at(&s, a))
            assert_int_equal(tacit_ledger_releases(runtime->ops->agent_ledger(s.rt, a)), 0);
    scene_clear(&s);
    scene_init(&s, 6, TACIT_WAKES); /* without a limit it is written down, and said */
    s.probe.on = release_or_not;
    scene_run(&s, 5);
    for (uint32_t a = 0; a < 6; a++)
        if (probe_at(&s, a))
            assert_int_equal(tacit_ledger_releases(runtime->ops->agent_ledger(s.rt, a)),
                             probe_at(&s, a)->of_type[TACIT_WAKE]);
    assert_true(runtime->ops->traffic(s.rt).messages > 0);
    scene_clear(&s);
}

static tacit_status measure(tacit_env *env, const probe *p, probe_agent *self,
                            const tacit_event *event)
{
    (void)p;
    (void)self;
    if (event->type != TACIT_START)
        return TACIT_OK;
    tacit_metric(env, "degree", tacit_facts_of(env)->degree);
    tacit_metric(env, "loss", ((tacit_private_metric){0.25}));
    return TACIT_OK;
}

typedef struct heard {
    int open, closed, wrong;
} heard;

static void hear_metric(void *ctx, double time, tacit_agent agent, const char *name, double value,
                        bool is_private)
{
    heard *h = ctx;
    bool loss = strcmp(name, "loss") == 0;
    h->wrong += time != 0 || agent >= 6 || is_private != loss || (loss && value != 0.25);
    h->open += !is_private;
    h->closed += is_private;
}

static void test_private_metrics_are_marked(void **state)
{
    (void)state;
    heard h = {0};
    scene s;
    scene_init(&s, 6, TACIT_WAKES);
    s.probe.on = measure;
    s.rt = world_create(runtime->ops, &s.world);
    s.rt->metric = hear_metric;
    s.rt->metric_ctx = &h;
    world_run(s.rt, 1);
    assert_int_equal(h.wrong, 0);
    assert_int_equal(h.open, h.closed);
    assert_true(h.open > 0 && (h.open == 6 || !runtime->shares_memory));
    scene_clear(&s);
}

/* ---- same seed, same result; also through a checkpoint ---- */

static tacit_status chatter(tacit_env *env, const probe *p, probe_agent *self,
                            const tacit_event *event)
{
    uint64_t draw;
    switch (event->type) {
    case TACIT_WAKE:
        tacit_draw(env, self->number++, &draw, sizeof draw);
        self->status ^= draw + tacit_sample_peer(env);
        if (draw % 3 == 0)
            return tacit_timer(env, 0.37, draw % 1000);
        return probe_say(env, p, draw % 3 == 1 ? TACIT_NOBODY : tacit_sample_peer(env),
                         (double)(draw % 64));
    case TACIT_TIMER:
        return probe_say(env, p, TACIT_NOBODY, (double)event->id);
    case TACIT_MESSAGE: /* a few echoes */
        if (tacit_public_get(event->payload, 0, 0) < 4)
            return probe_say(env, p, event->from, tacit_public_get(event->payload, 0, 0) + 1);
        return TACIT_OK;
    default:
        return TACIT_OK;
    }
}

/* All agents after 9 units of time, checkpointed into a fresh runtime at `cut` if above 0. */
static void run_chatter(uint64_t seed, int latency, double cut, probe_agent out[12],
                        tacit_traffic *traffic)
{
    scene s;
    scene_init(&s, 12, TACIT_WAKES | TACIT_CHATTY);
    s.probe.on = chatter;
    s.world.seed = seed;
    s.world.network = (tacit_network_options){.latency = latency,
                                              .latency_floor = 0.2,
                                              .latency_mean = 0.5,
                                              .loss = 0.1,
                                              .mean_up = 5,
                                              .mean_down = 1};
    if (cut > 0)
        scene_reload(&s, cut);
    scene_run(&s, 9);
    *traffic = runtime->ops->traffic(s.rt);
    for (uint32_t a = 0; a < 12; a++) {
        memset(&out[a], 0, sizeof out[a]);
        if (probe_at(&s, a))
            out[a] = *probe_at(&s, a);
        for (int k = 0; k < PROBE_LOG; k++)
            out[a].log[k].payload = NULL;
    }
    scene_clear(&s);
}

static void test_same_seed_same_result(void **state)
{
    (void)state;
    if (!runtime->repeats)
        skip();
    static probe_agent one[12], two[12];
    for (int latency = 0; latency < 3; latency++) {
        tacit_traffic first, second;
        run_chatter(3, latency, 0, one, &first);
        assert_true(first.messages > 50 && first.lost > 0);
        run_chatter(3, latency, 0, two, &second);
        assert_memory_equal(one, two, sizeof one);
        assert_memory_equal(&first, &second, sizeof first);
        run_chatter(4, latency, 0, two, &second);
        assert_memory_not_equal(one, two, sizeof one);
    }
}

static void test_checkpoint_in_the_middle(void **state)
{
    (void)state;
    if (!runtime->repeats)
        skip();
    static probe_agent one[12], two[12];
    const double cuts[] = {0.01, 1.234, 4, 8.999};
    for (int latency = 0; latency < 3; latency++)
        for (int k = 0; k < 4; k++) {
            tacit_traffic first, second;
            run_chatter(5, latency, 0, one, &first);
            run_chatter(5, latency, cuts[k], two, &second);
            assert_memory_equal(one, two, sizeof one);
            assert_memory_equal(&first, &second, sizeof first);
        }
}

static const struct CMUnitTest core_tests[] = {
    cmocka_unit_test(test_start_comes_once_and_first),
    cmocka_unit_test(test_wakes_come_at_rate_one),
    cmocka_unit_test(test_finish_comes_once_and_last),
    cmocka_unit_test(test_timers_ring_once_in_order),
    cmocka_unit_test(test_broadcast_reaches_each_neighbour_once),
    cmocka_unit_test(test_direct_send_and_peer_sampling),
    cmocka_unit_test(test_absences),
    cmocka_unit_test(test_requests),
    cmocka_unit_test(test_refused_budget_sends_nothing),
    cmocka_unit_test(test_private_metrics_are_marked),
    cmocka_unit_test(test_same_seed_same_result),
    cmocka_unit_test(test_checkpoint_in_the_middle),
};
enum { CORE_TESTS = sizeof core_tests / sizeof *core_tests, GROUP_TESTS = 16, MOST_TESTS = 80 };

int conformance_run(const conformance *under_test)
{
    struct CMUnitTest tests[MOST_TESTS] = {{0}}; /* cmocka passes over those without a name */
    memcpy(tests, core_tests, sizeof core_tests);
    conformance_group_tests(tests + CORE_TESTS, GROUP_TESTS);
    conformance_protocol_tests(tests + CORE_TESTS + GROUP_TESTS,
                               MOST_TESTS - CORE_TESTS - GROUP_TESTS);
    runtime = under_test;
    return cmocka_run_group_tests_name(under_test->ops->name, tests, NULL, NULL);
}
