/* SPDX-License-Identifier: Apache-2.0 */
/* Throw-away protocols, in rounds, asking, and with masked sums, on the runtime under test. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocols.h"
#include "scene.h"
#include "sums_toy.h"
#include "testing.h"

enum { RING = 12 };

typedef struct averaged {
    double x[RING];
    uint64_t missing;
    uint32_t done, known;
} averaged;

static averaged run_rounds(const rounds_options *options, const tacit_network_options *network,
                           double time, double cut)
{
    averaged out = {.missing = 0};
    scene s;
    scene_init(&s, RING, 0);
    s.world.protocol = &rounds_protocol;
    s.world.protocol_options = options;
    if (network)
        s.world.network = *network;
    if (cut > 0)
        scene_reload(&s, cut);
    scene_run(&s, time);
    for (uint32_t a = 0; a < RING; a++) {
        const rounds_agent *agent = runtime->ops->agent_state(s.rt, a);
        if (!agent)
            continue;
        out.known++;
        out.x[a] = agent->x;
        out.missing += agent->missing;
        out.done += agent->done != 0;
    }
    scene_clear(&s);
    return out;
}

/* The same by multiplying with the matrix, plainly. */
static void power(uint64_t rounds, double x[RING])
{
    scene s;
    scene_init(&s, RING, 0);
    const tacit_graph *g = &s.graph;
    for (uint32_t a = 0; a < RING; a++)
        x[a] = rounds_start(a);
    for (uint64_t r = 0; r < rounds; r++) {
        double next[RING];
        for (uint32_t a = 0; a < RING; a++) {
            double sum = 0;
            for (uint64_t e = g->row[a]; e < g->row[a + 1]; e++)
                sum += g->weight[e] / g->degree[a] * x[g->neighbour[e]];
            next[a] = 0.5 * x[a] + 0.5 * sum;
        }
        memcpy(x, next, sizeof next);
    }
    scene_clear(&s);
}

static void test_rounds_are_a_matrix_power(void **state)
{
    (void)state;
    for (uint64_t rounds = 1; rounds < 40; rounds += 9) {
        rounds_options options = {rounds, INFINITY};
        double want[RING];
        averaged got = run_rounds(&options, NULL, 10, 0);
        power(rounds, want);
        assert_int_equal(got.done, got.known);
        assert_int_equal(got.missing, 0);
        for (uint32_t a = 0; a < RING && got.known == RING; a++)
            assert_true(fabs(got.x[a] - want[a]) < 1e-12);
    }
}

static void test_rounds_with_stragglers(void **state)
{
    (void)state;
    if (!runtime->simulates_network)
        skip();
    rounds_options options = {15, INFINITY};
    tacit_network_options slow = {.latency = TACIT_LATENCY_EXPONENTIAL,
                                  .latency_floor = 0.05,
                                  .latency_mean = 1,
                                  .mean_up = INFINITY,
                                  .mean_down = 1};
    averaged quick = run_rounds(&options, NULL, 10, 0);
    averaged late = run_rounds(&options, &slow, 400, 0);
    assert_int_equal(late.done, RING);
    assert_int_equal(late.missing, 0);
    assert_memory_equal(quick.x, late.x, sizeof quick.x); /* the very same numbers */
    averaged unfinished = run_rounds(&options, &slow, 5, 0);
    assert_true(unfinished.done < RING);
    for (double cut = 1; cut < 30; cut += 6.7) { /* words for later rounds are kept, too */
        averaged resumed = run_rounds(&options, &slow, 400, cut);
        assert_memory_equal(quick.x, resumed.x, sizeof quick.x);
    }
}

static void test_rounds_lose_patience(void **state)
{
    (void)state;
    if (!runtime->simulates_network)
        skip();
    tacit_network_options lossy = {.latency = TACIT_LATENCY_EXPONENTIAL,
                                   .latency_floor = 0.05,
                                   .latency_mean = 0.1,
                                   .loss = 0.3,
                                   .mean_up = INFINITY,
                                   .mean_down = 1};
    rounds_options patient = {10, INFINITY}, hasty = {10, 1.5};
    averaged stuck = run_rounds(&patient, &lossy, 100, 0);
    assert_true(stuck.done < RING); /* a lost word is waited for for ever */
    averaged got = run_rounds(&hasty, &lossy, 100, 0);
    assert_int_equal(got.done, RING);
    assert_true(got.missing > 0);
    for (uint32_t a = 0; a < RING; a++) /* still averages of what was there */
        assert_true(got.x[a] > -3 && got.x[a] < 14);
}

typedef struct answers {
    ask_agent agent[RING];
    bool known[RING];
} answers;

static void run_ask(double deadline, const tacit_network_options *network, double cut, answers *out)
{
    ask_options options = {deadline};
    scene s;
    scene_init(&s, RING, 0);
    s.world.protocol = &ask_protocol;
    s.world.protocol_options = &options;
    if (network)
        s.world.network = *network;
    memset(out, 0, sizeof *out);
    if (cut > 0)
        scene_reload(&s, cut);
    scene_run(&s, 30);
    for (uint32_t a = 0; a < RING; a++) {
        const ask_agent *agent = runtime->ops->agent_state(s.rt, a);
        out->known[a] = agent != NULL;
        if (agent)
            out->agent[a] = *agent;
    }
    scene_clear(&s);
}

static void test_nested_children_do_not_mix(void **state)
{
    (void)state;
    answers got;
    uint64_t served[ASKERS] = {0}, asked_all[ASKERS] = {0};
    run_ask(2, NULL, 0, &got);
    for (uint32_t a = 0; a < RING; a++) {
        const ask_agent *p = &got.agent[a];
        for (int w = 0; got.known[a] && w < ASKERS; w++) {
            const asker *c = &p->asker[w];
            assert_int_equal(c->wrong, 0);
            assert_int_equal(c->silent, 0);
            assert_int_equal(c->asked, c->answered + (c->pending != 0));
            assert_true(c->asked > 5);
            assert_int_equal(p->reports[w], c->answered);
            assert_true(w == 1 ? p->total[w] < 0 : p->total[w] > 0);
            served[w] += c->served;
            asked_all[w] += c->asked;
            for (int v = 0; v < w; v++)
                assert_true(p->asker[v].first_draw != c->first_draw);
        }
    }
    for (int w = 0; w < ASKERS && runtime->shares_memory; w++)
        assert_int_equal(served[w], asked_all[w]);
}

static void test_requests_under_loss(void **state)
{
    (void)state;
    if (!runtime->simulates_network)
        skip();
    static answers got, again;
    tacit_network_options lossy = {.latency = TACIT_LATENCY_EXPONENTIAL,
                                   .latency_floor = 0.05,
                                   .latency_mean = 0.2,
                                   .loss = 0.2,
                                   .mean_up = 10,
                                   .mean_down = 1};
    uint64_t answered = 0, silent = 0;
    run_ask(1, &lossy, 0, &got);
    for (uint32_t a = 0; a < RING; a++)
        for (int w = 0; w < ASKERS; w++) {
            const asker *c = &got.agent[a].asker[w];
            assert_int_equal(c->wrong, 0);
            assert_int_equal(c->asked, c->answered + c->silent + (c->pending != 0));
            answered += c->answered;
            silent += c->silent;
        }
    assert_true(answered > 100 && silent > 50);
    for (double cut = 0.5; cut < 30; cut += 7.3) { /* open requests survive a checkpoint */
        run_ask(1, &lossy, cut, &again);
        assert_memory_equal(&got, &again, sizeof got);
    }
    lossy = (tacit_network_options){.latency = TACIT_LATENCY_CONSTANT,
                                    .latency_floor = 0.15,
                                    .mean_up = INFINITY,
                                    .mean_down = 1};
    run_ask(0.25, &lossy, 0, &got); /* all replies come late and are dropped */
    for (uint32_t a = 0; a < RING; a++)
        for (int w = 0; w < ASKERS; w++) {
            const asker *c = &got.agent[a].asker[w];
            assert_int_equal(c->answered, 0);
            assert_int_equal(c->asked, c->silent + (c->pending != 0));
            assert_true(c->silent > 0 && c->served > 0);
        }
}

static void test_addresses(void **state)
{
    (void)state;
    tacit_address inner;
    tacit_env top = {0}, third = tacit_nest(&top, 3), first = tacit_nest(&third, 1);
    assert_int_equal(first.channel, 0x31);
    assert_int_equal(tacit_address_child((tacit_address){0, 5}, &inner), 0);
    assert_int_equal(tacit_address_child((tacit_address){0x315, 8}, &inner), 3);
    assert_true(inner.channel == 0x15 && inner.kind == 8);
    assert_int_equal(tacit_address_child((tacit_address){0xf, 8}, &inner), 15);
    assert_int_equal(inner.channel, 0);
    tacit_event event = {.at = {0x31, 1}};
    assert_int_equal(tacit_event_child(&top, &event), 3);
    assert_int_equal(tacit_event_child(&third, &event), 1);
    assert_int_equal(tacit_event_child(&first, &event), 0); /* for itself */
}

/* Signatures, timers, nested channels and numbers of 64 bits, all at once: every sum that an agent
 * hears of its neighbours is the plain one, and over all of them. */
static void test_masked_sums(void **state)
{
    (void)state;
    const sums_toy_options toy = {.plan = {.numbers = 9,
                                           .fraction = 32,
                                           .neighbours = RING,
                                           .least = 2,
                                           .epoch_rounds = 2,
                                           .patience = INFINITY,
                                           .child = 5},
                                  .rounds = 5,
                                  .refuses = UINT32_MAX};
    scene s;
    scene_init(&s, RING, 0);
    s.world.protocol = &sums_toy;
    s.world.protocol_options = &toy;
    scene_run(&s, 10);
    for (uint32_t a = 0; a < RING; a++) {
        const sums_toy_agent *agent = runtime->ops->agent_state(s.rt, a);
        if (!agent)
            continue;
        assert_int_equal(agent->last, toy.rounds);
        assert_int_equal(agent->full, toy.rounds);
        assert_int_equal(agent->wrong, 0);
    }
    scene_clear(&s);
}

void conformance_protocol_tests(struct CMUnitTest *tests, size_t room)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_rounds_are_a_matrix_power),
        cmocka_unit_test(test_rounds_with_stragglers),
        cmocka_unit_test(test_rounds_lose_patience),
        cmocka_unit_test(test_nested_children_do_not_mix),
        cmocka_unit_test(test_requests_under_loss),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_masked_sums),
    };
    assert_true(sizeof all <= room * sizeof *all);
    memcpy(tests, all, sizeof all);
}
