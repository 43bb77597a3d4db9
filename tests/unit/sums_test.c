/* SPDX-License-Identifier: Apache-2.0 */
/* Masked sums in the simulator: every sum that is heard is the plain sum, bit for bit. */
#include <math.h>
#include <string.h>

#include "problem.h"
#include "sums_toy.h"
#include "testing.h"

enum { ROUNDS = 12 };

static sums_toy_options options(double patience)
{
    return (sums_toy_options){.plan = {.numbers = 7,
                                       .fraction = 32,
                                       .neighbours = 23,
                                       .least = 2,
                                       .patience = patience,
                                       .child = 3},
                              .rounds = ROUNDS,
                              .refuses = UINT32_MAX};
}

static tacit_world world_of(const tacit_graph *graph, const sums_toy_options *toy)
{
    tacit_world world = world_defaults(graph, &sums_toy);
    world.protocol_options = toy;
    return world;
}

static const sums_toy_agent *agent_at(const tacit_runtime *rt, uint32_t agent)
{
    return rt->ops->agent_state(rt, agent);
}

/* All agents have gone through all rounds, and each had the sum of all its neighbours. */
static void check_full(const tacit_runtime *rt, uint32_t agents)
{
    for (uint32_t k = 0; k < agents; k++) {
        const sums_toy_agent *a = agent_at(rt, k);
        uint64_t again, without;
        tacit_sums_counts(a->sums_at, &again, &without);
        assert_int_equal(a->last, ROUNDS);
        assert_int_equal(a->wrong, 0);
        assert_int_equal(a->twice, 0);
        assert_int_equal(a->full, ROUNDS);
        assert_int_equal(again, 0);
        assert_int_equal(without, 0);
    }
}

static void run_full(uint32_t chords, bool split, uint64_t epoch, int latency, double patience)
{
    tacit_graph graph;
    graph_ring(&graph, 20, chords, 5 + chords);
    sums_toy_options toy = options(patience);
    toy.plan.split = split;
    toy.plan.epoch_rounds = epoch;
    tacit_world world = world_of(&graph, &toy);
    world.network.latency = latency;
    world.network.latency_floor = 0.01;
    world.network.latency_mean = 0.3;
    tacit_runtime *rt = world_create(&tacit_simulator, &world);
    world_run(rt, 1e5);
    check_full(rt, 20);
    rt->ops->destroy(rt);
    tacit_graph_clear(&graph);
}

static void test_plain_sums(void **state)
{
    (void)state;
    for (uint32_t chords = 0; chords <= 40; chords += 20)
        for (int split = 0; split < 2; split++)
            for (int latency = 0; latency < 3; latency++) {
                run_full(chords, split, 0, latency, INFINITY);
                run_full(chords, split, 5, latency, 1000);
                run_full(chords, split, 1, latency, INFINITY);
            }
}

/* ---- a bad network ---- */

typedef struct weather {
    double loss, up, down;
    double patience;
    uint64_t epoch;
    bool split;
    uint32_t least;
} weather;

/* Everybody comes to the end, and whatever sum is heard is right; returns how many there were of
 * those that could have been. */
static double run_in(const weather *w, uint64_t seed)
{
    tacit_graph graph;
    graph_ring(&graph, 24, 90, seed);
    sums_toy_options toy = options(w->patience);
    toy.plan.split = w->split;
    toy.plan.epoch_rounds = w->epoch;
    toy.plan.least = w->least;
    tacit_world world = world_of(&graph, &toy);
    world.seed = seed;
    world.network = (tacit_network_options){.latency = TACIT_LATENCY_EXPONENTIAL,
                                            .latency_floor = 0.01,
                                            .latency_mean = 0.1,
                                            .loss = w->loss,
                                            .mean_up = w->up,
                                            .mean_down = w->down};
    tacit_runtime *rt = world_create(&tacit_simulator, &world);
    world_run(rt, 2000);
    uint64_t sums = 0;
    for (uint32_t k = 0; k < 24; k++) {
        const sums_toy_agent *a = agent_at(rt, k);
        uint64_t again, without;
        tacit_sums_counts(a->sums_at, &again, &without);
        assert_int_equal(a->wrong, 0);
        assert_int_equal(a->twice, 0);
        assert_true(a->last >= ROUNDS);
        assert_int_equal(a->sums + without, a->last);
        sums += a->sums;
    }
    rt->ops->destroy(rt);
    tacit_graph_clear(&graph);
    return (double)sums / (24 * ROUNDS);
}

static void test_lost_messages(void **state)
{
    (void)state;
    const weather all[] = {
        {.loss = 0.01, .up = INFINITY, .patience = 4, .least = 2},
        {.loss = 0.05, .up = INFINITY, .patience = 4, .least = 3, .split = true},
        {.loss = 0.05, .up = INFINITY, .patience = 4, .least = 2, .epoch = 3},
        {.loss = 0.3, .up = INFINITY, .patience = 4, .least = 2, .epoch = 2},
    };
    const double at_least[] = {0.9, 0.5, 0.5, 0.01};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            const double part = run_in(&all[k], seed);
            assert_true(part >= at_least[k]);
        }
}

static void test_agents_away(void **state)
{
    (void)state;
    const weather all[] = {
        {.up = 40, .down = 4, .patience = 4, .least = 2},
        {.up = 40, .down = 4, .patience = INFINITY, .least = 2, .split = true},
        {.up = 10, .down = 3, .patience = INFINITY, .least = 2, .epoch = 2},
        {.up = 10, .down = 3, .patience = 2, .least = 3, .loss = 0.05, .epoch = 4},
    };
    const double at_least[] = {0.5, 0.5, 0.2, 0.01};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            const double part = run_in(&all[k], seed);
            assert_true(part >= at_least[k]);
        }
}

/* ---- cut and resumed, one thread or several: the same bytes ---- */

static tacit_world busy_world(const tacit_graph *graph, const sums_toy_options *toy)
{
    tacit_world world = world_of(graph, toy);
    world.network = (tacit_network_options){.latency = TACIT_LATENCY_EXPONENTIAL,
                                            .latency_floor = 0.05,
                                            .latency_mean = 0.1,
                                            .loss = 0.02,
                                            .mean_up = 30,
                                            .mean_down = 2};
    return world;
}

/* All agents' states; what is on its way lies in the order in which it was sent, by threads. */
static const uint8_t *states(const tacit_runtime *rt, const tacit_graph *graph, tacit_saver **saver,
                             size_t *len)
{
    const uint8_t *bytes;
    *saver = tacit_saver_create();
    assert_non_null(*saver);
    for (uint32_t k = 0; k < graph->agents; k++)
        sums_toy.save(rt->ops->shared(rt), agent_at(rt, k),
                      (uint32_t)(graph->row[k + 1] - graph->row[k]), *saver);
    assert_int_equal(tacit_saver_finish(*saver, &bytes, len, NULL), TACIT_OK);
    return bytes;
}

static void test_cut_and_resumed(void **state)
{
    (void)state;
    tacit_graph graph;
    graph_ring(&graph, 16, 30, 3);
    sums_toy_options toy = options(3);
    toy.plan.epoch_rounds = 4;
    tacit_world world = busy_world(&graph, &toy);
    tacit_runtime *whole = world_create(&tacit_simulator, &world);
    tacit_saver *wanted, *saver;
    size_t wanted_len, len;
    world_run(whole, 12);
    const uint8_t *bytes, *want = states(whole, &graph, &wanted, &wanted_len);
    world.threads = 3;
    tacit_runtime *rt = world_create(&tacit_simulator, &world);
    for (double cut = 0.13; cut < 12; cut += SLOW ? 1.1 : 0.29) { /* in the middle of everything */
        tacit_error err = {0};
        world_run(rt, cut);
        bytes = save_bytes(rt, &saver, &len);
        rt->ops->destroy(rt);
        rt = world_create(&tacit_simulator, &world);
        check_ok(load_bytes(rt, bytes, len, &err), &err);
        tacit_saver_free(saver);
    }
    world_run(rt, 12);
    bytes = states(rt, &graph, &saver, &len);
    assert_int_equal(len, wanted_len);
    assert_memory_equal(bytes, want, len);
    uint64_t sums = 0;
    for (uint32_t k = 0; k < 16; k++) {
        assert_int_equal(agent_at(rt, k)->wrong, 0);
        sums += agent_at(rt, k)->sums;
    }
    assert_true(sums > 16); /* it was worth while */
    rt->ops->destroy(rt);
    whole->ops->destroy(whole);
    tacit_saver_free(saver);
    tacit_saver_free(wanted);
    tacit_graph_clear(&graph);
}

/* ---- members that have nothing, and agents with too few neighbours ---- */

static void test_nothing_to_give(void **state)
{
    (void)state;
    tacit_graph graph;
    graph_ring(&graph, 12, 30, 4);
    sums_toy_options toy = options(INFINITY);
    toy.refuses = 5;
    tacit_world world = world_of(&graph, &toy);
    tacit_runtime *rt = world_create(&tacit_simulator, &world);
    world_run(rt, 10);
    for (uint32_t k = 0; k < 12; k++) {
        const sums_toy_agent *a = agent_at(rt, k);
        bool near = false;
        for (uint64_t e = graph.row[k]; e < graph.row[k + 1]; e++)
            near |= graph.neighbour[e] == toy.refuses;
        assert_int_equal(a->last, ROUNDS);
        assert_int_equal(a->sums, ROUNDS);
        assert_int_equal(a->wrong, 0);
        assert_int_equal(a->twice, 0);
        assert_int_equal(a->full, near ? ROUNDS / 2 : ROUNDS);
    }
    rt->ops->destroy(rt);
    tacit_graph_clear(&graph);
}

static void test_too_few_neighbours(void **state)
{
    (void)state;
    tacit_graph graph;
    tacit_error err = {0};
    graph_ring(&graph, 8, 0, 1);
    sums_toy_options toy = options(INFINITY);
    toy.plan.least = 3;
    tacit_world world = world_of(&graph, &toy);
    tacit_runtime *rt = world_create(&tacit_simulator, &world);
    check_fails(rt->ops->run(rt, 1, NULL, &err), TACIT_EINPUT, &err,
                "agent 0 has 2 neighbours, and masks hide a word among at least 3");
    rt->ops->destroy(rt);
    toy.plan.least = 2;
    toy.plan.neighbours = 2;
    tacit_graph_clear(&graph);
    graph_ring(&graph, 8, 4, 1);
    rt = world_create(&tacit_simulator, &world);
    check_fails(rt->ops->run(rt, 1, NULL, &err), TACIT_EINPUT, &err, "were planned for 2");
    rt->ops->destroy(rt);
    tacit_graph_clear(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_sums),      cmocka_unit_test(test_lost_messages),
        cmocka_unit_test(test_agents_away),     cmocka_unit_test(test_cut_and_resumed),
        cmocka_unit_test(test_nothing_to_give), cmocka_unit_test(test_too_few_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
