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

/* ---- who is missing ---- */

typedef struct tally {
    uint64_t heard, lost, refused, spoiled, holds, in, members;
} tally;

/* Nothing that was heard is wrong, and everybody came to the last round. */
static tally look(const scene *s, uint32_t agents)
{
    tally t = {0};
    for (uint32_t k = 0; k < agents; k++) {
        const totals_toy_agent *a = at(s, k);
        assert_int_equal(a->wrong, 0);
        assert_int_equal(a->last, s->toy.rounds);
        t.heard += a->heard;
        t.lost += a->lost;
        t.refused += a->refused;
        t.spoiled += a->spoiled;
        t.holds += a->holds;
        t.in += a->in;
        t.members += a->members;
    }
    return t;
}

/* One that never gives, from the start: everybody else is in, and nobody waits for long. */
static void test_silent(void **state)
{
    (void)state;
    scene s;
    totals_toy_options toy = options();
    toy.silent = 4;
    open(&s, 12, &toy, 1);
    run(&s, 2000);
    const tally t = look(&s, 12);
    assert_int_equal(t.heard, 12 * 6);
    assert_int_equal(t.holds, 11 * 6);
    assert_int_equal(t.in, 11 * 6);
    close_scene(&s);
}

/* Agents come and go in the middle of everything. */
static void churn(uint32_t agents, double online, double offline, uint64_t seed, tally *t)
{
    scene s;
    totals_toy_options toy = options();
    toy.rounds = 20;
    toy.plan.absent = 0.45;
    toy.plan.quorum = 0.55;
    toy.plan.partners = agents - 1;
    open(&s, agents, &toy, 1);
    s.world.seed = seed;
    s.world.network.mean_up = online;
    s.world.network.mean_down = offline;
    run(&s, 20000);
    *t = look(&s, agents);
    close_scene(&s);
}

static void test_churn(void **state)
{
    (void)state;
    uint64_t heard = 0, all = 0, members = 0;
    for (uint64_t seed = 1; seed <= (uint64_t)(SLOW ? 3 : 8); seed++) {
        tally t;
        churn(16, 120, 15, seed, &t);
        heard += t.heard;
        members += t.members;
        all += 16 * 20;
    }
    print_message("%.2f of the rounds heard, %.1f members of 16\n", (double)heard / (double)all,
                  (double)members / (double)heard);
    assert_true(heard > all * 6 / 10);
}

/* Too few from the start: refused, and nobody was asked for a number. */
static void test_refused(void **state)
{
    (void)state;
    scene s;
    totals_toy_options toy = options();
    toy.rounds = 2;
    toy.plan.least = 11;
    open(&s, 12, &toy, 0);
    s.world.network.mean_up = 1e-3;
    s.world.network.mean_down = 1e7;
    run(&s, 5000);
    uint64_t holds = 0;
    for (uint32_t k = 0; k < 12; k++) {
        assert_int_equal(at(&s, k)->wrong, 0);
        holds += at(&s, k)->holds;
    }
    assert_int_equal(holds, 0);
    close_scene(&s);
}

/* One that gives nonsense: rounds go on, and in the end it is out, alone. */
static void test_liar(void **state)
{
    (void)state;
    for (uint32_t liar = 0; liar < 12; liar += 5) {
        scene s;
        totals_toy_options toy = options();
        toy.rounds = 12;
        toy.liar = liar;
        toy.plan.tries = 8;
        open(&s, 12, &toy, 1);
        run(&s, 50000);
        const tally t = look(&s, 12);
        assert_int_equal(t.heard, 12 * 12);
        for (uint32_t k = 0; k < 12; k++) {
            assert_int_equal(at(&s, k)->expelled, 1);
            assert_true(k == liar ? at(&s, k)->in == 0 : at(&s, k)->in >= 6);
            assert_true(at(&s, k)->holds <= 12 + 8);
        }
        close_scene(&s);
    }
}

/* Where not all share masks with all, too, and several blocks add up. */
static void test_liar_among_many(void **state)
{
    (void)state;
    for (uint32_t liar = 3; liar < 60; liar += SLOW ? 50 : 17) {
        scene s;
        totals_toy_options toy = options();
        toy.rounds = 16;
        toy.liar = liar;
        toy.plan.quorum = 0.75;
        toy.plan.absent = 0.1;
        toy.plan.span = 20;
        toy.plan.tries = 20;
        open(&s, 60, &toy, 0);
        run(&s, 50000);
        const tally t = look(&s, 60);
        assert_int_equal(t.heard, 60 * 16);
        for (uint32_t k = 0; k < 60; k++) {
            assert_int_equal(at(&s, k)->expelled, 1);
            assert_true(k == liar ? at(&s, k)->in == 0 : at(&s, k)->in >= 10);
            assert_true(at(&s, k)->holds <= 16 + 20);
        }
        close_scene(&s);
    }
}

/* Everybody must be there, always. */
static void test_strict_quorum(void **state)
{
    (void)state;
    for (uint32_t agents = 12; agents <= 60; agents += 48) {
        scene s;
        totals_toy_options toy = options();
        toy.plan.quorum = 1;
        toy.plan.absent = 0;
        open(&s, agents, &toy, 1);
        run(&s, 1e4);
        check_full(&s, agents);
        close_scene(&s);
    }
}

/* Gaussian noise between pairs cancels as masks do. */
static void test_gaussian(void **state)
{
    (void)state;
    scene s;
    totals_toy_options toy = options();
    toy.plan.pair = 1e6;
    toy.plan.curious = true;
    open(&s, 20, &toy, 1);
    run(&s, 1e4);
    check_full(&s, 20);
    close_scene(&s);
}

/* A checkpoint in the middle of anything changes nothing; nor do threads. */
static void run_cut(uint32_t threads, bool cut, tally *t)
{
    scene s;
    tacit_error err = {0};
    totals_toy_options toy = options();
    toy.plan.absent = 0.4;
    toy.plan.quorum = 0.55;
    toy.plan.partners = 13;
    toy.plan.board = true;
    open(&s, 14, &toy, 1);
    s.world.threads = threads;
    s.world.network.mean_up = 120;
    s.world.network.mean_down = 15;
    for (int k = 1; k <= 60; k++) {
        run(&s, k < 60 ? k * 5.3 : 20000);
        if (!cut)
            continue;
        tacit_saver *saver = tacit_saver_create();
        const uint8_t *bytes;
        size_t len;
        check_ok(s.rt->ops->save(s.rt, saver), &err);
        check_ok(tacit_saver_finish(saver, &bytes, &len, &err), &err);
        tacit_runtime *next = world_create(&tacit_simulator, &s.world);
        tacit_loader *loader;
        check_ok(tacit_loader_create(&loader, bytes, len, &err), &err);
        check_ok(next->ops->load(next, loader), &err);
        tacit_loader_free(loader);
        tacit_saver_free(saver);
        s.rt->ops->destroy(s.rt);
        s.rt = next;
    }
    *t = look(&s, 14);
    close_scene(&s);
}

static void test_checkpoint(void **state)
{
    (void)state;
    tally plain, other;
    run_cut(1, false, &plain);
    run_cut(1, true, &other);
    assert_memory_equal(&plain, &other, sizeof plain);
    run_cut(3, true, &other);
    assert_memory_equal(&plain, &other, sizeof plain);
}

/* ---- what is refused ---- */

static void refused(totals_toy_options toy, uint64_t agents, const char *words)
{
    tacit_error err = {0};
    toy.plan.agents = agents;
    toy.plan.most = toy.plan.most > 0 ? toy.plan.most : 1;
    assert_int_equal(tacit_totals_prepare(&toy.plan, &err), TACIT_EINPUT);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void test_refusals(void **state)
{
    (void)state;
    totals_toy_options toy = options();
    refused(toy, 2, "at least 3");
    toy.plan.quorum = 0.5;
    refused(toy, 20, "quorum");
    toy = options();
    toy.plan.partners = 2;
    refused(toy, 1000, "raise \"protocol.partners\"");
    toy = options();
    toy.plan.partners = 20;
    toy.plan.colluders = 600;
    refused(toy, 1000, "colluders");
    toy = options();
    toy.plan.most = 0x1p62;
    refused(toy, 20, "2^63");
    toy = options();
    toy.plan.colluders = 3;
    toy.plan.quorum = 1;
    refused(toy, 5, "nobody honest");
    toy = options();
    toy.plan.board = true;
    toy.plan.span = 10;
    refused(toy, 40, "board");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everybody),     cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_silent),        cmocka_unit_test(test_churn),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_liar),
        cmocka_unit_test(test_strict_quorum), cmocka_unit_test(test_liar_among_many),
        cmocka_unit_test(test_gaussian),      cmocka_unit_test(test_checkpoint),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
