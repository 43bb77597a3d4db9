/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learner among real nodes, one agent each: frames get lost, an owner dies for good or comes
 * back, the learner itself dies. Nobody ever pays for more than was planned. Clocks of nodes are
 * drawn from the system's randomness, so what is asserted about models is loose: many times what
 * was ever seen.
 */
#include <math.h>
#include <string.h>

#include "banks.h"
#include "base/vector_internal.h"
#include "nodes.h"
#include "protocol/learner.h"

enum { P = BANK_FEATURES };

typedef struct scene {
    banks b;
    nodes all;
} scene;

static void scene_init(scene *s, const char *settings)
{
    banks_init(&s->b, 1, settings);
    s->b.world.seed = 1;
}

static void scene_open(scene *s)
{
    tacit_error err = {0};
    check_ok(nodes_init(&s->all, &s->b.world, BANKS, false, &err), &err);
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
    banks_clear(&s->b);
}

static void reopen(scene *s, uint32_t k)
{
    tacit_error err = {0};
    check_ok(nodes_open(&s->all, k, &err), &err);
}

static const learner_agent *agent_of(const scene *s, uint32_t agent)
{
    return nodes_agent(&s->all, agent)->state;
}

static void model_of(const scene *s, uint32_t agent, double *theta)
{
    const tacit_public *model = agent_of(s, agent)->theta;
    for (size_t k = 0; k < P; k++)
        theta[k] = model ? tacit_public_get(model, 0, k) : 0;
}

static const tacit_ledger *ledger_of(const scene *s, uint32_t agent)
{
    const node_agent *a = nodes_agent(&s->all, agent);
    return tacit_ledger_file_ledger(node_store_ledger(nodes_host(&s->all, agent)->store, a->index));
}

/* |theta_L - optimum of the owners from `first` on|, relative. */
static double gap(const scene *s, uint32_t first)
{
    double theta[P], best[P];
    model_of(s, 0, theta);
    banks_optimum(&s->b, first, best);
    return banks_apart(theta, best) / banks_apart(best, (double[P]){0});
}

static dice coin;
static double lose;
static bool toss(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len)
{
    (void)all, (void)from, (void)to, (void)bytes, (void)len;
    return dice_unit(&coin) >= lose;
}

/* Steps are those of the simulator; so is the end. */
static void test_learns(void **state)
{
    (void)state;
    static const char *const modes[] = {"step=0.1 iterations=60 patience=1",
                                        "step=0.1 iterations=60 patience=1 mode=broadcast"};
    for (size_t k = 0; k < 4; k++) {
        scene s;
        double theta[P], last[P];
        scene_init(&s, modes[k % 2]);
        scene_open(&s);
        coin.state = 3;
        lose = k < 2 ? 0 : 0.1;
        s.all.hand = toss;
        scene_run(&s, k < 2 ? 40 : 100);
        assert_int_equal(agent_of(&s, 0)->made, 60);
        assert_true(gap(&s, 1) < 0.5);
        model_of(&s, 0, last);
        for (uint32_t i = 1; i < BANKS; i++) { /* the last word is one that gets through */
            model_of(&s, i, theta);
            assert_memory_equal(theta, last, sizeof theta);
            assert_true(agent_of(&s, i)->made >= agent_of(&s, 0)->owner[i - 1].answers);
        }
        scene_clear(&s);
    }
}

/* It never comes back: the others' records are learned from all the same. */
static void test_an_owner_dies(void **state)
{
    (void)state;
    scene s;
    scene_init(&s, "step=0.05 iterations=100000");
    scene_open(&s);
    scene_run(&s, 15);
    const uint64_t before = agent_of(&s, 0)->made;
    nodes_crash(&s.all, 1);
    scene_run(&s, 80);
    assert_int_equal(agent_of(&s, 0)->owner[0].standing, OWNER_AWAY);
    assert_true(agent_of(&s, 0)->made > before + 40);
    assert_true(gap(&s, 2) < 0.4);
    scene_clear(&s);
}

/* Whoever dies how often: at most as many answers as planned, each charged, and not one lost from
 * the ledger. */
static void test_deaths_do_not_cost_more(void **state)
{
    (void)state;
    enum { ANSWERS = 8 };
    for (uint64_t seed = 1; seed <= 2; seed++) {
        scene s;
        dice d = {seed};
        scene_init(&s, "iterations=1000 answers=8");
        s.b.world.privacy = (tacit_privacy_options){.mechanism = TACIT_MECHANISM_LAPLACE,
                                                    .epsilon = 3,
                                                    .clip = 1,
                                                    .accountant = TACIT_BY_SUM};
        const tacit_budget budget = {.epsilon = 3, .accountant = TACIT_BY_SUM};
        scene_open(&s);
        double clock = 0;
        for (int death = 0; death < 6; death++) {
            scene_run(&s, clock += dice_between(&d, 0.3, 2));
            const uint32_t who = (uint32_t)dice_below(&d, BANKS);
            const uint64_t paid = tacit_ledger_releases(ledger_of(&s, who));
            nodes_crash(&s.all, who);
            scene_run(&s, clock += dice_between(&d, 0.1, 1));
            reopen(&s, who);
            assert_true(tacit_ledger_releases(ledger_of(&s, who)) == paid);
        }
        scene_run(&s, clock + 40);
        uint64_t counted = 0;
        for (uint32_t i = 1; i < BANKS; i++) {
            assert_int_equal(tacit_ledger_releases(ledger_of(&s, i)), ANSWERS);
            assert_int_equal(agent_of(&s, i)->made, ANSWERS);
            assert_true(tacit_ledger_epsilon(ledger_of(&s, i), &budget) <= 3);
            counted += agent_of(&s, 0)->owner[i - 1].answers;
        }
        assert_int_equal(tacit_ledger_releases(ledger_of(&s, 0)), 0);
        assert_true(counted <= (BANKS - 1) * ANSWERS && counted > (BANKS - 1) * ANSWERS - 10);
        scene_clear(&s);
    }
}

/* A node knows the budgets of its own agents; the learner needs none, an owner does. */
static void test_budgets_of_nodes(void **state)
{
    (void)state;
    for (int listed = 0; listed < 2; listed++) {
        const double epsilon[BANKS] = {INFINITY, 4, 2, listed ? 1 : INFINITY};
        scene s;
        tacit_error err = {0};
        scene_init(&s, "answers=5");
        s.b.world.privacy = (tacit_privacy_options){.mechanism = TACIT_MECHANISM_LAPLACE,
                                                    .epsilon = INFINITY,
                                                    .clip = 1,
                                                    .accountant = TACIT_BY_SUM};
        s.b.world.epsilon = epsilon;
        scene_open(&s);
        tacit_status status = nodes_run(&s.all, listed ? 30 : 3, &err);
        if (!listed)
            check_fails(status, TACIT_EINPUT, &err, "agent 3 has records but no budget");
        for (uint32_t i = 1; listed && i < BANKS; i++) {
            const tacit_budget budget = {.epsilon = epsilon[i], .accountant = TACIT_BY_SUM};
            const double spent = tacit_ledger_epsilon(ledger_of(&s, i), &budget);
            assert_true(spent <= epsilon[i] && spent > 0.999 * epsilon[i]);
        }
        scene_clear(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_an_owner_dies),
        cmocka_unit_test(test_deaths_do_not_cost_more),
        cmocka_unit_test(test_budgets_of_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
