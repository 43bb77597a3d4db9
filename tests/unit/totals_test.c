/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over all agents in the simulator: every total is the plain sum of who is in it. */
#include <math.h>
#include <string.h>

#include "problem.h"
#include "testing.h"
#include "totals_toy.h"

static totals_toy_options options(void)
{
    return (totals_toy_options){.plan = {.numbers = 5,
                                         .quorum = 0.7,
                                         .least = 3,
                                         .absent = 0.3,
                                         .patience = 10,
                                         .tries = 4,
                                         .child = 2},
                                .rounds = 6,
                                .silent = UINT32_MAX,
                                .liar = UINT32_MAX};
}

typedef struct scene {
    tacit_graph graph;
    totals_toy_options toy;
    tacit_world world;
    tacit_runtime *rt;
} scene;

static void open(scene *s, uint32_t agents, const totals_toy_options *toy, int latency)
{
    memset(s, 0, sizeof *s);
    graph_ring(&s->graph, agents, 0, 1);
    s->toy = *toy;
    s->world = world_defaults(&s->graph, &totals_toy);
    s->world.protocol_options = &s->toy;
    s->world.network.latency = latency;
    s->world.network.latency_floor = 0.01;
    s->world.network.latency_mean = 0.3;
}

static void run(scene *s, double time)
{
    if (!s->rt)
        s->rt = world_create(&tacit_simulator, &s->world);
    world_run(s->rt, time);
}

static const totals_toy_agent *at(const scene *s, uint32_t agent)
{
    return s->rt->ops->agent_state(s->rt, agent);
}

static void close_scene(scene *s)
{
    s->rt->ops->destroy(s->rt);
    tacit_graph_clear(&s->graph);
}

/* Nobody is missing: every round gives the sum of all, and each agent was asked once a round. */
static void check_full(const scene *s, uint32_t agents)
{
    for (uint32_t k = 0; k < agents; k++) {
        const totals_toy_agent *a = at(s, k);
        assert_int_equal(a->last, s->toy.rounds);
        assert_int_equal(a->wrong, 0);
        assert_int_equal(a->heard, s->toy.rounds);
        assert_int_equal(a->in, s->toy.rounds);
        assert_int_equal(a->least, agents);
        assert_int_equal(a->holds, s->toy.rounds);
    }
}

static void test_everybody(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {3, 4, 7, 30, 60};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
        for (int latency = 0; latency < 3; latency++) {
            scene s;
            totals_toy_options toy = options();
            open(&s, sizes[n], &toy, latency);
            run(&s, 1e4);
            check_full(&s, sizes[n]);
            close_scene(&s);
        }
}

/* Several adders, few partners, and a little waiting before a word. */
static void test_blocks(void **state)
{
    (void)state;
    for (uint32_t span = 3; span <= 40; span += 9) {
        scene s;
        totals_toy_options toy = options();
        toy.plan.span = span;
        toy.plan.partners = 24;
        toy.plan.quorum = 0.9;
        toy.plan.absent = 0;
        toy.plan.jitter = 3;
        open(&s, 60, &toy, 1);
        run(&s, 1e4);
        check_full(&s, 60);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everybody),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
