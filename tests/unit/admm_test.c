/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admm against an independent solver, and both ends of every edge against each other: on a
 * perfect network, and with latency, loss and agents that go away. tools/mutants.sh turns the
 * sign of the dual, forgets Z, doubles the bond and lets one end forget its update, and expects
 * these tests to fail.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vector_internal.h"
#include "problem.h"
#include "protocol/admm.h"
#include "testing.h"

enum { P = PROBLEM_FEATURES, OPTIONS = 4096 };

/* A run with any network: what problem_run does, with more to choose. */
typedef struct scene {
    tacit_network_options network;
    uint32_t threads;
    uint64_t seed;
    const char *options[6];
} scene;

static const tacit_network_options rough = {.latency = TACIT_LATENCY_EXPONENTIAL,
                                            .latency_floor = 0.05,
                                            .latency_mean = 0.5,
                                            .loss = 0.2,
                                            .mean_up = 20,
                                            .mean_down = 2};
static const tacit_network_options slow = {.latency = TACIT_LATENCY_EXPONENTIAL,
                                           .latency_floor = 0.05,
                                           .latency_mean = 1.5,
                                           .mean_up = INFINITY,
                                           .mean_down = 1};

static tacit_runtime *scene_create(const problem *q, const scene *s, unsigned char *options)
{
    tacit_error err = {0};
    const tacit_protocol *admm = tacit_protocol_find("admm");
    check_ok(tacit_options_defaults(&admm->options, options, &err), &err);
    for (size_t k = 0; k < 6 && s->options[k]; k++) {
        const char *equals = strchr(s->options[k], '=');
        const tacit_option *o =
            tacit_section_find(&admm->options, s->options[k], (size_t)(equals - s->options[k]));
        assert_non_null(o);
        check_ok(tacit_option_set(o, options, equals + 1, &err), &err);
    }
    tacit_world world = world_defaults(&q->graph, admm);
    world.data = q->data;
    world.model = q->model;
    world.protocol_options = options;
    world.network = s->network;
    world.threads = s->threads;
    world.seed = s->seed;
    return world_create(&tacit_simulator, &world);
}

static double gap_of(const problem *q, double mu, const tacit_runtime *rt)
{
    models best, found;
    problem_solve(q, mu, best);
    problem_models(q, rt, found);
    double least = problem_objective(q, mu, best);
    return (problem_objective(q, mu, found) - least) / fabs(least);
}

static double gap_after(int loss, tacit_scalar scalar, double time, const char *option)
{
    problem q;
    problem_init(&q, 3, loss, scalar);
    tacit_runtime *rt = problem_run(&q, "admm", time, 7, "mu=2", option, NULL);
    double gap = gap_of(&q, 2, rt);
    rt->ops->destroy(rt);
    problem_clear(&q);
    return gap;
}

/* ---- the optimum ---- */

static void test_reaches_optimum(void **state)
{
    (void)state;
    static const char *const options[] = {"steps=10", "steps=1", "rho=1"};
    for (int loss = 0; loss < 2; loss++)
        for (int k = 0; k < 3; k++) {
            assert_true(gap_after(loss, TACIT_F64, 5, options[k]) > 1e-5); /* not by magic */
            if ((SLOW && k > 0) || SLOW_THREADS)
                continue; /* nothing new is to be run until the end */
            double gap = gap_after(loss, TACIT_F64, 4000, options[k]);
            assert_true(gap > -1e-12);
            assert_true(gap <= 1e-8);
        }
}

static void test_reaches_optimum_in_single_precision(void **state)
{
    (void)state;
    if (SLOW_THREADS)
        return; /* one thread, and long */
    for (int loss = 0; loss < 2; loss++)
        assert_true(fabs(gap_after(loss, TACIT_F32, 4000, "steps=10")) <= 1e-6);
}

static void test_public_bound_reaches_it_too(void **state)
{
    (void)state;
    if (SLOW_THREADS)
        return; /* one thread, and long */
    problem q;
    problem_init(&q, 3, 0, TACIT_F64);
    tacit_runtime *rt =
        problem_run(&q, "admm", 4000, 7, "mu=2", "smoothness=bound", "radius=2", NULL);
    assert_true(gap_of(&q, 2, rt) <= 1e-8);
    assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, 0)) % 10, 1); /* greeting */
    rt->ops->destroy(rt);
    problem_clear(&q);
}

static void test_same_optimum_as_cd(void **state)
{
    (void)state;
    if (SLOW_THREADS)
        return; /* one thread, and long */
    problem q;
    models by_admm, by_cd;
    problem_init(&q, 5, 0, TACIT_F64);
    tacit_runtime *admm = problem_run(&q, "admm", 6000, 1, "mu=0.5", NULL);
    tacit_runtime *cd = problem_run(&q, "cd", 6000, 1, "mu=0.5", NULL);
    problem_models(&q, admm, by_admm);
    problem_models(&q, cd, by_cd);
    for (uint32_t i = 0; i < q.n; i++)
        for (int k = 0; k < P; k++)
            assert_true(fabs(by_admm[i][k] - by_cd[i][k]) < 1e-6);
    admm->ops->destroy(admm);
    cd->ops->destroy(cd);
    problem_clear(&q);
}

/* ---- what it costs ---- */

static uint64_t edge_ends(const problem *q)
{
    return q->graph.row[q->n];
}

static void test_four_vectors_a_tick(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 4, 0, TACIT_F64);
    tacit_runtime *rt = problem_run(&q, "admm", 200, 1, NULL);
    tacit_traffic t = rt->ops->traffic(rt);
    assert_true(t.ticks > 2000);
    assert_int_equal(t.messages, edge_ends(&q) + 2 * t.ticks);
    assert_int_equal(t.bytes, edge_ends(&q) * 8 * P + t.ticks * (4 * 8 * P + 2 * 8));
    assert_int_equal(t.delivered, t.messages);
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* Both ends of an exchange take `steps` steps, a release each; smoothness and local model are
 * one each at the start. */
static void test_ledger_counts_every_release(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 9, 0, TACIT_F64);
    tacit_runtime *rt = problem_run(&q, "admm", 40, 1, "steps=3", NULL);
    tacit_traffic traffic = rt->ops->traffic(rt);
    tacit_budget budget = {INFINITY, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_SUM};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < q.n; i++) {
        const tacit_ledger *ledger = rt->ops->agent_ledger(rt, i);
        sum += tacit_ledger_releases(ledger);
        assert_true(isinf(tacit_ledger_epsilon(ledger, &budget)));
    }
    assert_int_equal(sum, traffic.ticks * 6 + 2 * q.n);
    rt->ops->destroy(rt);
    problem_clear(&q);
}

static void test_finite_budget_refuses_bare_releases(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 12, 0, TACIT_F64);
    const tacit_protocol *admm = tacit_protocol_find("admm");
    tacit_error err = {0};
    unsigned char options[OPTIONS];
    check_ok(tacit_options_defaults(&admm->options, options, &err), &err);
    tacit_world world = world_defaults(&q.graph, admm);
    world.data = q.data;
    world.model = q.model;
    world.protocol_options = options;
    world.privacy.epsilon = 100;
    tacit_runtime *rt = world_create(&tacit_simulator, &world);
    check_fails(rt->ops->run(rt, 10, NULL, &err), TACIT_EBUDGET, &err, "privacy.epsilon");
    assert_int_equal(rt->ops->traffic(rt).messages, 0);
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* ---- both ends of an edge ---- */

typedef struct ends {
    uint64_t together, apart; /* edges whose versions agree, and differ by one */
    uint64_t updates;
} ends;

static bool same(const tacit_public *a, const tacit_public *b, double sign)
{
    for (size_t k = 0; k < P; k++)
        if (tacit_public_get(a, 0, k) != sign * tacit_public_get(b, 0, k))
            return false;
    return true;
}

/* Invariants 3 and 4 of admm.c at this moment, for every edge. */
static ends check_ends(const problem *q, const tacit_runtime *rt)
{
    ends out = {0};
    const tacit_graph *g = &q->graph;
    for (uint32_t i = 0; i < q->n; i++)
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            const admm_agent *one = rt->ops->agent_state(rt, i);
            const admm_agent *two = rt->ops->agent_state(rt, g->neighbour[e]);
            const admm_edge *a = &one->edge[e - g->row[i]], *b = &two->edge[g->mirror[e]];
            out.updates += a->version;
            if (a->version != b->version) {
                const admm_edge *behind = a->version < b->version ? a : b;
                const admm_edge *ahead = a->version < b->version ? b : a;
                assert_int_equal(behind->version + 1, ahead->version);
                assert_non_null(behind->asked);
                assert_non_null(ahead->answered);
                out.apart++;
                continue;
            }
            out.together++;
            for (int side = 0; side < ADMM_SIDES && a->version > 0; side++) {
                assert_true(same(a->z[side], b->z[!side], 1));
                assert_true(same(a->u[side], b->u[!side], -1));
            }
        }
    return out;
}

static void test_ends_agree(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 6, 0, TACIT_F64);
    tacit_runtime *rt = problem_run(&q, "admm", 0, 3, NULL);
    for (double t = 1; t < 60; t += 1) {
        world_run(rt, t);
        ends found = check_ends(&q, rt);
        assert_int_equal(found.apart, 0);
        assert_int_equal(found.updates, 2 * rt->ops->traffic(rt).ticks);
    }
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* Latency brings overlapping exchanges, loss brings halves of them, absences bring both. */
static void test_ends_agree_on_a_rough_network(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        problem q;
        unsigned char options[OPTIONS];
        uint64_t apart = 0, updates = 0;
        problem_init(&q, 6, 0, seed % 2 ? TACIT_F64 : TACIT_F32);
        scene s = {.network = seed % 3 ? rough : slow, .threads = 1, .seed = seed};
        tacit_runtime *rt = scene_create(&q, &s, options);
        for (double t = 0.5; t < 150; t += 0.5) {
            world_run(rt, t);
            ends found = check_ends(&q, rt);
            apart += found.apart;
            assert_true(found.updates >= updates);
            updates = found.updates;
        }
        assert_true(apart > 50);    /* the hard case was there ... */
        assert_true(updates > 800); /* ... and did not stop the edges */
        rt->ops->destroy(rt);
        problem_clear(&q);
    }
}

static void test_converges_on_a_rough_network(void **state)
{
    (void)state;
    if (SLOW_THREADS)
        return; /* one thread, and long */
    for (int loss = SLOW; loss < 2; loss++)
        for (int k = SLOW; k < 2; k++) { /* the roughest alone where that takes long */
            problem q;
            unsigned char options[OPTIONS];
            problem_init(&q, 3, loss, TACIT_F64);
            scene s = {.network = k ? rough : slow, .threads = 1, .seed = 5, .options = {"mu=2"}};
            tacit_runtime *rt = scene_create(&q, &s, options);
            world_run(rt, 10000);
            assert_true(gap_of(&q, 2, rt) <= 1e-6);
            check_ends(&q, rt);
            rt->ops->destroy(rt);
            problem_clear(&q);
        }
}

/* ---- lonely agents ---- */

static void test_agent_without_records_averages(void **state)
{
    (void)state;
    problem q;
    models found;
    problem_init(&q, 8, 0, TACIT_F64);
    q.m[3] = 0;
    problem_build(&q, TACIT_F64);
    tacit_runtime *rt = problem_run(&q, "admm", 6000, 1, "mu=2", NULL);
    problem_models(&q, rt, found);
    for (int k = 0; k < P; k++) {
        double mean = 0;
        for (uint32_t j = 0; j < q.n; j++)
            mean += q.w[3][j] / problem_degree(&q, 3) * found[j][k];
        assert_true(fabs(found[3][k] - mean) < 1e-7);
    }
    assert_true(gap_of(&q, 2, rt) < 1e-8);
    assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, 3)), 0);
    rt->ops->destroy(rt);
    problem_clear(&q);
}

static void test_agent_without_neighbours_learns_alone_and_silently(void **state)
{
    (void)state;
    problem q;
    models found;
    double local[P];
    problem_init(&q, 8, 0, TACIT_F64);
    for (uint32_t j = 0; j < q.n; j++)
        q.w[2][j] = q.w[j][2] = 0;
    problem_build(&q, TACIT_F64);
    tacit_runtime *rt = problem_run(&q, "admm", 50, 1, "mu=2", NULL);
    problem_models(&q, rt, found);
    problem_solve_local(&q, 2, local);
    for (int k = 0; k < P; k++)
        assert_true(fabs(found[2][k] - local[k]) < 1e-10);
    assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, 2)), 0);
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* ---- threads and checkpoints ---- */

static void run_to_models(const problem *q, const scene *s, double cut, double time, models found)
{
    unsigned char options[OPTIONS];
    tacit_runtime *rt = scene_create(q, s, options);
    if (cut > 0) {
        tacit_error err = {0};
        tacit_saver *saver;
        size_t len;
        world_run(rt, cut);
        const uint8_t *bytes = save_bytes(rt, &saver, &len);
        rt->ops->destroy(rt);
        rt = scene_create(q, s, options);
        check_ok(load_bytes(rt, bytes, len, &err), &err);
        tacit_saver_free(saver);
    }
    world_run(rt, time);
    problem_models(q, rt, found);
    rt->ops->destroy(rt);
}

static void test_same_bytes_for_any_threads_and_cuts(void **state)
{
    (void)state;
    problem q;
    models one, other;
    problem_init(&q, 13, 0, TACIT_F64);
    scene quick = {.threads = 1, .seed = 3};
    quick.network = world_defaults(&q.graph, tacit_protocol_find("admm")).network;
    scene late = {.network = rough, .threads = 1, .seed = 3};
    scene *scenes[] = {&quick, &late};
    for (int k = 0; k < 2; k++) {
        scenes[k]->threads = 1;
        run_to_models(&q, scenes[k], 0, 80, one);
        for (uint32_t threads = 1; threads <= 4; threads += 3)
            for (double cut = 0; cut < 70; cut += 23.7) {
                scenes[k]->threads = threads;
                run_to_models(&q, scenes[k], cut, 80, other);
                assert_memory_equal(one, other, sizeof one);
            }
    }
    problem_clear(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reaches_optimum),
        cmocka_unit_test(test_reaches_optimum_in_single_precision),
        cmocka_unit_test(test_public_bound_reaches_it_too),
        cmocka_unit_test(test_same_optimum_as_cd),
        cmocka_unit_test(test_four_vectors_a_tick),
        cmocka_unit_test(test_ledger_counts_every_release),
        cmocka_unit_test(test_finite_budget_refuses_bare_releases),
        cmocka_unit_test(test_ends_agree),
        cmocka_unit_test(test_ends_agree_on_a_rough_network),
        cmocka_unit_test(test_converges_on_a_rough_network),
        cmocka_unit_test(test_agent_without_records_averages),
        cmocka_unit_test(test_agent_without_neighbours_learns_alone_and_silently),
        cmocka_unit_test(test_same_bytes_for_any_threads_and_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
