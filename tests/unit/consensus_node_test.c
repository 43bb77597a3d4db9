/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dsgd, dsgt and dinno among real nodes, one agent each, all neighbours of each other: they compute
 * what the simulator computes; one that dies is neither waited for nor counted, one that comes back
 * is; and nobody ever pays for more gradients than were planned.
 */
#include <math.h>
#include <string.h>

#include "nodes.h"
#include "problem.h"
#include "protocol/consensus.h"

enum { P = PROBLEM_FEATURES, AGENTS = 4, DEAD = 1 };

typedef struct scene {
    problem q;
    consensus_options options;
    tacit_world world;
    nodes all;
} scene;

static void scene_init(scene *s, const char *protocol)
{
    tacit_error err = {0};
    const tacit_protocol *p = tacit_protocol_find(protocol);
    memset(s, 0, sizeof *s);
    problem_init(&s->q, 11, 1, TACIT_F64);
    s->q.n = AGENTS;
    for (uint32_t i = 0; i < AGENTS; i++) {
        s->q.m[i] = PROBLEM_RECORDS;
        for (uint32_t j = 0; j < AGENTS; j++)
            s->q.w[i][j] = i != j;
        for (uint32_t r = 0; r < PROBLEM_RECORDS; r++)
            s->q.y[i][r] = 1 + s->q.x[i][r][0]; /* what zero is far from */
    }
    problem_build(&s->q, TACIT_F64);
    check_ok(tacit_options_defaults(&p->options, &s->options, &err), &err);
    s->options.iterations = 60;
    s->options.step = 0.05;
    s->world = world_defaults(&s->q.graph, p);
    s->world.data = s->q.data;
    s->world.model = s->q.model;
    s->world.protocol_options = &s->options;
    s->world.seed = 3;
}

static void scene_open(scene *s)
{
    tacit_error err = {0};
    check_ok(nodes_init(&s->all, &s->world, AGENTS, false, &err), &err);
    check_ok(nodes_open_all(&s->all, &err), &err);
}

static void scene_run(scene *s, double clock)
{
    tacit_error err = {0};
    check_ok(nodes_run(&s->all, clock, &err), &err);
}

static void scene_clear(scene *s)
{
    nodes_clear(&s->all);
    problem_clear(&s->q);
}

static const consensus_agent *agent_of(const scene *s, uint32_t agent)
{
    return nodes_agent(&s->all, agent)->state;
}

static uint64_t paid(const scene *s, uint32_t agent)
{
    const node_agent *a = nodes_agent(&s->all, agent);
    return tacit_ledger_releases(
        tacit_ledger_file_ledger(node_store_ledger(nodes_host(&s->all, agent)->store, a->index)));
}

static void model_of(const scene *s, uint32_t agent, double *theta)
{
    for (size_t k = 0; k < P; k++)
        theta[k] = tacit_public_get(agent_of(s, agent)->vector[THETA], 0, k);
}

static void test_as_in_a_simulation(void **state)
{
    (void)state;
    static const char *const protocols[] = {"dsgd", "dsgt", "dinno"};
    for (size_t k = 0; k < 3; k++) {
        scene s;
        models expected;
        double theta[P];
        scene_init(&s, protocols[k]);
        tacit_runtime *rt = world_create(&tacit_simulator, &s.world);
        world_run(rt, 100);
        problem_models(&s.q, rt, expected);
        scene_open(&s);
        scene_run(&s, 100);
        for (uint32_t i = 0; i < AGENTS; i++) {
            assert_int_equal(agent_of(&s, i)->iteration, 60);
            model_of(&s, i, theta);
            assert_true(fabs(theta[0]) > 0.01);
            for (int c = 0; c < P; c++)
                assert_true(fabs(theta[c] - expected[i][c]) < 1e-12);
        }
        rt->ops->destroy(rt);
        scene_clear(&s);
    }
}

/* |gradient of what all but the dead one want|, by differences. */
static double slope_without(const scene *s, const double *theta)
{
    double square = 0;
    for (int k = 0; k < P; k++) {
        double slope = 0;
        for (int side = -1; side <= 1; side += 2) {
            double at[P];
            memcpy(at, theta, sizeof at);
            at[k] += side * 1e-5;
            for (uint32_t i = 0; i < AGENTS; i++)
                slope += i == DEAD ? 0 : side * problem_local_loss(&s->q, i, at) / 2e-5;
        }
        square += slope * slope;
    }
    return sqrt(square);
}

/* It dies in the beginning, with a model near zero. The others are done soon, though they would
 * wait for ever, and hold the minimiser of their own losses: nothing draws them to the dead one. */
static void test_the_dead_do_not_count(void **state)
{
    (void)state;
    scene s;
    double theta[P];
    scene_init(&s, "dsgd");
    s.options.patience = 0;
    s.options.order = ORDER_ADAPT_FIRST;
    s.options.iterations = 400;
    s.options.step = 0.3;
    s.options.schedule = RATE_EXPONENTIAL;
    s.options.step_last = 3e-3;
    scene_open(&s);
    scene_run(&s, 2.5);
    assert_true(agent_of(&s, 0)->iteration > 0 && agent_of(&s, 0)->iteration < 10);
    nodes_crash(&s.all, DEAD);
    scene_run(&s, 500);
    for (uint32_t i = 0; i < AGENTS; i++) {
        if (i == DEAD)
            continue;
        assert_int_equal(agent_of(&s, i)->iteration, 400);
        assert_false(agent_of(&s, i)->waiting);
        model_of(&s, i, theta);
        assert_true(slope_without(&s, theta) < 0.02 * slope_without(&s, (double[P]){0}));
    }
    scene_clear(&s);
}

/* Gone long enough to be known as gone, and back: it catches up, it is listened to again, and its
 * ledger has as many gradients as all have. */
static void test_back_again(void **state)
{
    (void)state;
    static const char *const protocols[] = {"dsgd", "dsgt", "dinno"};
    for (size_t k = 0; k < 3; k++) {
        scene s;
        tacit_error err = {0};
        scene_init(&s, protocols[k]);
        s.options.patience = 2;
        s.world.privacy = (tacit_privacy_options){.mechanism = TACIT_MECHANISM_GAUSSIAN,
                                                  .epsilon = 3,
                                                  .delta = 1e-5,
                                                  .clip = 1,
                                                  .accountant = TACIT_BY_RDP};
        scene_open(&s);
        scene_run(&s, 8);
        const uint64_t before = paid(&s, DEAD);
        assert_true(before > 0);
        nodes_crash(&s.all, DEAD);
        scene_run(&s, 30);
        assert_true(agent_of(&s, 0)->iteration > 20);
        check_ok(nodes_open(&s.all, DEAD, &err), &err);
        assert_int_equal(paid(&s, DEAD), before);
        scene_run(&s, 45);
        assert_true(agent_of(&s, DEAD)->iteration + 3 >= agent_of(&s, 0)->iteration);
        scene_run(&s, 200);
        for (uint32_t i = 0; i < AGENTS; i++) {
            assert_int_equal(agent_of(&s, i)->iteration, 60);
            assert_int_equal(paid(&s, i), 60);
        }
        scene_clear(&s);
    }
}

/* All others are gone: by its clock it would be through in no time, and its budget spent on a model
 * that nobody hears of. It waits out its patience in each round. */
static void test_alone_it_takes_its_time(void **state)
{
    (void)state;
    scene s;
    scene_init(&s, "dsgd");
    s.options.period = 0.1;
    s.options.iterations = 100000;
    s.options.patience = 5;
    scene_open(&s);
    scene_run(&s, 2);
    assert_true(agent_of(&s, 0)->iteration > 10);
    for (uint32_t i = 1; i < AGENTS; i++)
        nodes_crash(&s.all, i);
    scene_run(&s, 60);
    const uint64_t then = agent_of(&s, 0)->iteration;
    scene_run(&s, 110);
    const uint64_t made = agent_of(&s, 0)->iteration - then;
    assert_true(made >= 9 && made <= 11);
    scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_in_a_simulation),
        cmocka_unit_test(test_the_dead_do_not_count),
        cmocka_unit_test(test_back_again),
        cmocka_unit_test(test_alone_it_takes_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
