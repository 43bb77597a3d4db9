/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel learned by real nodes, frames through the test's hands: all are there, frames get lost,
 * a node dies and comes back, one never comes. Whoever sings has the same words as all others who
 * do, wherever it is; a word is charged once, whatever crashed.
 */
#include <math.h>
#include <string.h>

#include "nodes.h"
#include "protocol/chorus.h"
#include "stage.h"

enum { N = PROBLEM_AGENTS, NODES = 4, NOBODY_LEFT = NODES };

typedef struct scene {
    stage s;
    nodes all;
} scene;

static void scene_init(scene *c)
{
    tacit_error err = {0};
    stage_init(&c->s, "chorus", 3, 0);
    stage_noise(&c->s, 4);
    stage_set(&c->s, "kernel", "learned");
    stage_set(&c->s, "kernel-neighbours", "3");
    stage_set(&c->s, "sum", "masks");
    stage_set(&c->s, "spares", "3");
    stage_set(&c->s, "quorum", "0.6");
    stage_set(&c->s, "absent", "0.3");
    check_ok(nodes_init(&c->all, &c->s.world, NODES, false, &err), &err);
    c->all.until = 400;
}

static void open_node(scene *c, uint32_t k)
{
    tacit_error err = {0};
    check_ok(nodes_open(&c->all, k, &err), &err);
}

static void run(scene *c, double clock)
{
    tacit_error err = {0};
    check_ok(nodes_run(&c->all, clock, &err), &err);
}

static void scene_clear(scene *c)
{
    nodes_clear(&c->all);
    stage_clear(&c->s);
}

static const chorus_shared *shared_of(const scene *c, uint32_t agent)
{
    return nodes_host(&c->all, agent)->shared;
}

static const chorus_agent *agent_of(const scene *c, uint32_t agent)
{
    return nodes_agent(&c->all, agent)->state;
}

static uint64_t charged(const scene *c, uint32_t agent, const char *what)
{
    const node_agent *a = nodes_agent(&c->all, agent);
    const tacit_ledger *ledger =
        tacit_ledger_file_ledger(node_store_ledger(nodes_host(&c->all, agent)->store, a->index));
    uint64_t count = 0;
    for (uint32_t k = 0; k < ledger->count; k++)
        count += strcmp(ledger->entries[k].cost->what, what) ? 0 : ledger->entries[k].releases;
    return count;
}

static void check_same_words(const scene *c, uint32_t a, uint32_t b)
{
    const chorus_learning *one = chorus_learning_of(shared_of(c, a), agent_of(c, a));
    const chorus_learning *two = chorus_learning_of(shared_of(c, b), agent_of(c, b));
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(one->word[i] == NULL, two->word[i] == NULL);
        for (size_t k = 0; one->word[i] && k < PROBLEM_FEATURES; k++)
            assert_int_equal(tacit_public_get_int(one->word[i], 0, k),
                             tacit_public_get_int(two->word[i], 0, k));
    }
}

/* Everybody but the agents of node `without` sings in the same columns, and heard the sum. */
static void check_all_sing(const scene *c, uint32_t without)
{
    uint32_t first = N;
    for (uint32_t i = 0; i < N; i++) {
        if (i % NODES == without)
            continue;
        first = first == N ? i : first;
        assert_int_equal(agent_of(c, i)->phase, CHORUS_SETTLED);
        assert_int_equal(agent_of(c, i)->heard, 1);
        assert_int_equal(charged(c, i, "likeness"), 1);
        assert_in_range(charged(c, i, "voice"), 1, 4);
        check_same_words(c, first, i);
        for (uint32_t j = 0; j < N; j++)
            assert_memory_equal(chorus_column(shared_of(c, first), j),
                                chorus_column(shared_of(c, i), j),
                                shared_of(c, first)->rank * sizeof(double));
    }
}

static void test_all_there(void **state)
{
    (void)state;
    scene c;
    scene_init(&c);
    for (uint32_t k = 0; k < NODES; k++)
        open_node(&c, k);
    run(&c, 60);
    check_all_sing(&c, NOBODY_LEFT);
    scene_clear(&c);
}

static dice coin;

static bool lose_some(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len)
{
    (void)all, (void)from, (void)to, (void)bytes, (void)len;
    return dice_unit(&coin) >= 0.1;
}

/* Frames that get lost are asked for, and said again. A try of the sum that fails is paid for, and
 * here nothing is left for another: that ends no node. */
static void test_lost_frames(void **state)
{
    (void)state;
    scene c;
    uint32_t singing = 0, first = N;
    scene_init(&c);
    stage_set(&c.s, "spares", "0");
    coin = (dice){7};
    c.all.hand = lose_some;
    for (uint32_t k = 0; k < NODES; k++)
        open_node(&c, k);
    run(&c, 200);
    for (uint32_t i = 0; i < N; i++) {
        assert_true(agent_of(&c, i)->phase >= CHORUS_SETTLED);
        assert_int_equal(charged(&c, i, "likeness"), 1);
        if (agent_of(&c, i)->phase != CHORUS_SETTLED)
            continue;
        first = first == N ? i : first;
        check_same_words(&c, first, i);
        singing++;
    }
    assert_true(singing > N / 2);
    scene_clear(&c);
}

/* It dies with its words said and before it knows its columns, or when it knows them: when it is
 * back it sings what it would have sung, and pays for no second word. */
static void test_back_again(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        scene c;
        scene_init(&c);
        for (uint32_t k = 0; k < NODES; k++)
            open_node(&c, k);
        double clock = 0; /* until its first word is paid for, or it knows its columns */
        while (clock < 60 && (charged(&c, 2, "likeness") == 0 ||
                              (late && agent_of(&c, 2)->phase != CHORUS_SETTLED)))
            run(&c, clock += 0.05);
        assert_int_equal(charged(&c, 2, "likeness"), 1);
        nodes_crash(&c.all, 2);
        run(&c, clock += 0.5);
        open_node(&c, 2);
        run(&c, clock + 100);
        check_all_sing(&c, late ? NOBODY_LEFT : 2);
        for (uint32_t i = 2; i < N; i += NODES) {
            assert_int_equal(charged(&c, i, "likeness"), 1);
            assert_true(agent_of(&c, i)->phase >= CHORUS_SETTLED);
        }
        scene_clear(&c);
    }
}

/* Three of four nodes: after some patience they go on without the fourth, whose agents have no
 * column with anybody. */
static void test_one_stays_away(void **state)
{
    (void)state;
    scene c;
    scene_init(&c);
    for (uint32_t k = 0; k < NODES - 1; k++)
        open_node(&c, k);
    run(&c, 200);
    check_all_sing(&c, NODES - 1);
    for (uint32_t j = NODES - 1; j < N; j += NODES)
        for (size_t k = 0; k < shared_of(&c, 0)->rank; k++)
            assert_true(chorus_column(shared_of(&c, 0), j)[k] == 0);
    scene_clear(&c);
}

/* Two of four nodes are no majority: their agents learn alone, were charged for a word each, and do
 * not wait for ever. */
static void test_a_minority_learns_alone(void **state)
{
    (void)state;
    scene c;
    scene_init(&c);
    open_node(&c, 0);
    open_node(&c, 1);
    run(&c, 399);
    for (uint32_t i = 0; i < N; i += NODES) {
        assert_int_equal(agent_of(&c, i)->phase, CHORUS_APART);
        assert_int_equal(charged(&c, i, "voice"), 0);
        assert_int_equal(charged(&c, i, "likeness"), 1);
    }
    scene_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_there),
        cmocka_unit_test(test_lost_frames),
        cmocka_unit_test(test_back_again),
        cmocka_unit_test(test_one_stays_away),
        cmocka_unit_test(test_a_minority_learns_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
