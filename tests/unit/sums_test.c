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
                                       .neighbours = 16,
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
