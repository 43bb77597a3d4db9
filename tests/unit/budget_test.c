/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets: what would exceed one is refused before data is touched, exactly when an accountant
 * says so; a private run stops where its budget ends, and what one can see of it from outside
 * (who spoke, when, how much) does not depend on what the records say.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/costs.h"
#include "privacy/release.h"
#include "problem.h"
#include "testing.h"

static tacit_cost planned(tacit_mechanism mechanism, double noise)
{
    tacit_cost cost = {.mechanism = mechanism, .coordinates = 4, .what = "gradient"};
    tacit_error err = {0};
    check_ok(tacit_cost_on_grid(&cost, 1, noise, &err), &err);
    return cost;
}

/* Release as often as the ledger lets us; what it then says must be within, and one more not. */
static uint64_t spend_all(const tacit_budget *budget, const tacit_cost *costs, size_t kinds)
{
    tacit_costs *kept = tacit_costs_create();
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_error err = {0};
    tacit_status status;
    uint64_t count = 0;
    while ((status = tacit_ledger_reserve(&ledger, kept, budget, &costs[count / 3 % kinds], 0,
                                          &permit, &err)) == TACIT_OK) {
        count++;
        assert_true(tacit_ledger_epsilon(&ledger, budget) <= budget->epsilon);
        assert_int_equal(tacit_ledger_releases(&ledger), count);
        assert_true(count < 100000);
    }
    assert_int_equal(status, TACIT_EBUDGET);
    assert_non_null(strstr(err.text, "nothing was released"));
    assert_int_equal(tacit_ledger_releases(&ledger), count); /* a refusal costs nothing */
    double after = 0;
    check_ok(tacit_entries_epsilon(ledger.entries, ledger.count, &costs[count / 3 % kinds], 1,
                                   budget, &after, &err),
             &err);
    assert_true(after > budget->epsilon);
    tacit_ledger_clear(&ledger);
    tacit_costs_free(kept);
    return count;
}

static void test_budgets_end_where_accountants_say(void **state)
{
    (void)state;
    const tacit_cost gaussian[] = {planned(TACIT_MECHANISM_GAUSSIAN, 20),
                                   planned(TACIT_MECHANISM_GAUSSIAN, 9)};
    const tacit_cost laplace[] = {planned(TACIT_MECHANISM_LAPLACE, 20),
                                  planned(TACIT_MECHANISM_LAPLACE, 50)};
    const tacit_budget gdp = {2, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_GDP};
    const tacit_budget zcdp = {2, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_ZCDP};
    const tacit_budget sum = {2 + 1e-9, 0, TACIT_TRUST_LOCAL, TACIT_BY_SUM};
    const tacit_budget kov = {2, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_KOV};
    assert_int_equal(spend_all(&sum, laplace, 1), 20); /* 20 times 2 / 20, to the last one */
    uint64_t exact = spend_all(&gdp, gaussian, 1), loose = spend_all(&zcdp, gaussian, 1);
    assert_true(exact > loose && loose > 10);
    assert_true(spend_all(&gdp, gaussian, 2) < exact); /* mixed costs */
    const tacit_cost small[] = {planned(TACIT_MECHANISM_GAUSSIAN, 60),
                                planned(TACIT_MECHANISM_GAUSSIAN, 45)};
    assert_true(spend_all(&gdp, small, 2) > 100); /* so many that counts are rounded */
    assert_true(spend_all(&sum, laplace, 2) > 20);
    assert_true(spend_all(&kov, laplace, 1) >= 19); /* at worst a plain sum */
}

static void test_pld_is_never_beaten(void **state)
{
    (void)state;
    const tacit_cost laplace = planned(TACIT_MECHANISM_LAPLACE, 20);
    const tacit_budget kov = {2, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_KOV};
    const tacit_budget pld = {2, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_PLD};
    assert_true(spend_all(&pld, &laplace, 1) > spend_all(&kov, &laplace, 1));
}

static void test_silent_accountants_are_not_zero(void **state)
{
    (void)state;
    /* nor is a budget of no number without limit */
    const tacit_budget nothing = {NAN, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_SUM};
    const tacit_cost any = planned(TACIT_MECHANISM_LAPLACE, 20);
    tacit_costs *some = tacit_costs_create();
    tacit_ledger empty = {0};
    tacit_permit none;
    assert_int_equal(tacit_ledger_reserve(&empty, some, &nothing, &any, 0, &none, NULL),
                     TACIT_EBUDGET);
    tacit_costs_free(some);
    tacit_ledger_clear(&empty);
    const tacit_cost laplace = planned(TACIT_MECHANISM_LAPLACE, 20);
    const tacit_budget gdp = {2, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_GDP};
    tacit_costs *kept = tacit_costs_create();
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_error err = {0};
    check_fails(tacit_ledger_reserve(&ledger, kept, &gdp, &laplace, 0, &permit, &err), TACIT_EINPUT,
                &err, "nothing to say");
    assert_int_equal(ledger.count, 0);
    const tacit_budget open = {INFINITY, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_GDP};
    check_ok(tacit_ledger_reserve(&ledger, kept, &open, &laplace, 0, &permit, &err), &err);
    assert_true(isinf(tacit_ledger_epsilon(&ledger, &gdp)));
    tacit_ledger_clear(&ledger);
    tacit_costs_free(kept);
}

/* ---- plans from a budget ---- */

static void test_found_noise_spends_the_budget_and_no_more(void **state)
{
    (void)state;
    static const tacit_accountant by[] = {TACIT_BY_GDP, TACIT_BY_ZCDP, TACIT_BY_RDP, TACIT_BY_PLD};
    for (size_t k = 0; k < 4; k++)
        for (int64_t releases = 1; releases <= 30; releases += 29) {
            const tacit_privacy_options options = {.mechanism = TACIT_MECHANISM_GAUSSIAN,
                                                   .epsilon = 1.05,
                                                   .delta = 1e-5,
                                                   .clip = 0.3,
                                                   .releases = releases,
                                                   .accountant = (int)by[k]};
            tacit_cost cost;
            tacit_error err = {0};
            check_ok(tacit_cost_plan(&cost, &options, 10, "gradient", &err), &err);
            const tacit_budget budget = {1.05, 1e-5, TACIT_TRUST_LOCAL, by[k]};
            assert_int_equal(spend_all(&budget, &cost, 1), releases);
            tacit_loss loss;
            double epsilon;
            tacit_cost_loss(&cost, (uint64_t)releases, &loss);
            check_ok(tacit_account_epsilon(by[k], &loss, 1, 1e-5, &epsilon, &err), &err);
            assert_true(epsilon <= 1.05 && epsilon > 1.05 * (1 - 1e-4));
        }
}

static void test_plans_need_wishes(void **state)
{
    (void)state;
    tacit_privacy_options options = {.mechanism = TACIT_MECHANISM_GAUSSIAN,
                                     .epsilon = INFINITY,
                                     .delta = 1e-5,
                                     .clip = 1,
                                     .releases = 3,
                                     .accountant = TACIT_BY_GDP};
    tacit_cost cost;
    tacit_error err = {0};
    check_fails(tacit_cost_plan(&cost, &options, 4, "g", &err), TACIT_EINPUT, &err,
                "privacy.noise");
    options.epsilon = 1;
    options.releases = 0;
    check_fails(tacit_cost_plan(&cost, &options, 4, "g", &err), TACIT_EINPUT, &err, "releases");
    options.releases = 3;
    options.clip = 0;
    check_fails(tacit_cost_plan(&cost, &options, 4, "g", &err), TACIT_EINPUT, &err, "privacy.clip");
    options.clip = 1;
    options.delta = 0; /* no Gaussian noise is enough then */
    assert_int_equal(tacit_cost_plan(&cost, &options, 4, "g", &err), TACIT_EINPUT);
}

/* ---- private runs ---- */

static tacit_status private_make(tacit_runtime **out, const problem *q,
                                 const tacit_privacy_options *privacy, tacit_error *err)
{
    tacit_world world = world_defaults(&q->graph, tacit_protocol_find("cd"));
    static double options[512];
    assert_true(world.protocol->options.size <= sizeof options);
    check_ok(tacit_options_defaults(&world.protocol->options, options, err), err);
    world.data = q->data;
    world.model = q->model;
    world.privacy = *privacy;
    world.protocol_options = options;
    world.seed = 3;
    return tacit_simulator.create(out, &world, err);
}

static tacit_runtime *private_run(const problem *q, const tacit_privacy_options *privacy,
                                  double time)
{
    tacit_runtime *rt = NULL;
    tacit_error err = {0};
    check_ok(private_make(&rt, q, privacy, &err), &err);
    world_run(rt, time);
    return rt;
}

static const tacit_privacy_options ten_words = {.mechanism = TACIT_MECHANISM_GAUSSIAN,
                                                .epsilon = 3,
                                                .delta = 1e-5,
                                                .clip = 0.5,
                                                .releases = 10,
                                                .accountant = TACIT_BY_GDP};

static void test_agents_stop_where_their_budget_ends(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 4, 0, TACIT_F64);
    tacit_runtime *rt = private_run(&q, &ten_words, 30);
    const tacit_budget budget = {3, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_GDP};
    for (uint32_t i = 0; i < q.n; i++) {
        const tacit_ledger *ledger = rt->ops->agent_ledger(rt, i);
        assert_int_equal(tacit_ledger_releases(ledger), 10);
        assert_int_equal(ledger->count, 1); /* the step size came from a public bound */
        assert_true(tacit_ledger_epsilon(ledger, &budget) <= 3);
    }
    const tacit_traffic traffic = rt->ops->traffic(rt);
    assert_int_equal(traffic.refused, q.n); /* asked once in vain ... */
    assert_true(traffic.releases == 10 * q.n && traffic.ticks > 15 * q.n);
    assert_int_equal(traffic.broadcasts, traffic.ticks); /* ... and went on, relaying */
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* One record replaced: as many messages, bytes, ticks, refusals and ledger entries, at the same
 * times; only numbers differ. */
static void test_transcripts_do_not_depend_on_records(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 4, 0, TACIT_F64);
    tacit_runtime *before = private_run(&q, &ten_words, 30);
    models a, b;
    problem_models(&q, before, a);
    tacit_error err = {0};
    const double x[PROBLEM_FEATURES] = {1e6, -1e6, 1e6, 0};
    check_ok(tacit_dataset_put(q.data, 0, TACIT_TRAIN, 0, x, -q.y[0][0], &err), &err);
    tacit_runtime *after = private_run(&q, &ten_words, 30);
    problem_models(&q, after, b);
    assert_true(memcmp(a, b, sizeof a) != 0); /* it did change what was learned */
    const tacit_traffic t = before->ops->traffic(before), u = after->ops->traffic(after);
    assert_memory_equal(&t, &u, sizeof t);
    for (uint32_t i = 0; i < q.n; i++) {
        const tacit_ledger *l = before->ops->agent_ledger(before, i);
        const tacit_ledger *m = after->ops->agent_ledger(after, i);
        assert_int_equal(l->count, m->count);
        assert_true(l->entries[0].releases == m->entries[0].releases &&
                    l->entries[0].first == m->entries[0].first &&
                    l->entries[0].last == m->entries[0].last);
        assert_true(tacit_cost_same(l->entries[0].cost, m->entries[0].cost));
    }
    before->ops->destroy(before);
    after->ops->destroy(after);
    problem_clear(&q);
}

/* A run that is saved and goes on elsewhere draws the noise it would have drawn, not that of its
 * beginning again. */
static void test_resumed_runs_do_not_repeat_noise(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 5, 0, TACIT_F64);
    tacit_runtime *whole = private_run(&q, &ten_words, 30);
    tacit_runtime *part = private_run(&q, &ten_words, 3), *rest = NULL;
    tacit_saver *saver = NULL;
    size_t len = 0;
    tacit_error err = {0};
    const uint8_t *bytes = save_bytes(part, &saver, &len);
    check_ok(private_make(&rest, &q, &ten_words, &err), &err);
    check_ok(load_bytes(rest, bytes, len, &err), &err);
    assert_true(rest->ops->agent_ledger(rest, 1)->next > 0);
    world_run(rest, 30);
    models a, b;
    problem_models(&q, whole, a);
    problem_models(&q, rest, b);
    assert_memory_equal(a, b, sizeof a);
    tacit_saver_free(saver);
    part->ops->destroy(part);
    rest->ops->destroy(rest);
    whole->ops->destroy(whole);
    problem_clear(&q);
}

static void test_what_has_no_bound_is_refused(void **state)
{
    (void)state;
    static const char *const starts[] = {"admm"};
    problem q;
    problem_init(&q, 4, 0, TACIT_F64);
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        tacit_world world = world_defaults(&q.graph, tacit_protocol_find(starts[k]));
        static double options[512];
        tacit_error err = {0};
        tacit_runtime *rt = NULL;
        check_ok(tacit_options_defaults(&world.protocol->options, options, &err), &err);
        world.data = q.data;
        world.model = q.model;
        world.privacy = ten_words;
        world.protocol_options = options;
        check_ok(tacit_simulator.create(&rt, &world, &err), &err);
        check_fails(rt->ops->run(rt, 1, NULL, &err), TACIT_EINPUT, &err, "nothing bounds");
        rt->ops->destroy(rt);
    }
    problem_clear(&q);
}

static void test_add_remove_is_refused_by_cd(void **state)
{
    (void)state;
    problem q;
    tacit_error err = {0};
    tacit_runtime *rt = NULL;
    problem_init(&q, 4, 0, TACIT_F64);
    tacit_privacy_options privacy = ten_words;
    privacy.adjacency = TACIT_ADD_REMOVE;
    check_fails(private_make(&rt, &q, &privacy, &err), TACIT_EINPUT, &err, "add-remove");
    problem_clear(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budgets_end_where_accountants_say),
        cmocka_unit_test(test_pld_is_never_beaten),
        cmocka_unit_test(test_silent_accountants_are_not_zero),
        cmocka_unit_test(test_found_noise_spends_the_budget_and_no_more),
        cmocka_unit_test(test_plans_need_wishes),
        cmocka_unit_test(test_agents_stop_where_their_budget_ends),
        cmocka_unit_test(test_transcripts_do_not_depend_on_records),
        cmocka_unit_test(test_resumed_runs_do_not_repeat_noise),
        cmocka_unit_test(test_what_has_no_bound_is_refused),
        cmocka_unit_test(test_add_remove_is_refused_by_cd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
