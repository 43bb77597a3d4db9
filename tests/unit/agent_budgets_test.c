/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets of agents: read from a file that is not trusted, kept to by each agent's own ledger,
 * spent by cd along schedules, and what agents do when nothing is left of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/session.h"
#include "privacy/costs.h"
#include "problem.h"
#include "protocol/personal.h"
#include "protocol/spending.h"
#include "testing.h"

/* ---- the file ---- */

static tacit_dataset *three_wards(bool named)
{
    tacit_error err = {0};
    tacit_dataset *data = NULL;
    static const uint32_t rows[3] = {1, 1, 1};
    const uint32_t *const counts[TACIT_SPLITS] = {rows};
    check_ok(tacit_dataset_create(&data, 3, 2, TACIT_F64, counts, &err), &err);
    static const char *const names[] = {"north", "ward, east", "0"};
    for (uint32_t k = 0; k < 3 && named; k++)
        check_ok(tacit_dataset_set_name(data, k, names[k], &err), &err);
    return data;
}

static tacit_status parse(double epsilon[3], bool named, const char *text, tacit_error *err)
{
    tacit_dataset *data = three_wards(named);
    tacit_status status = tacit_budgets_parse(epsilon, data, 7, "b.csv", text, strlen(text), err);
    tacit_dataset_free(data);
    return status;
}

static void test_good_files(void **state)
{
    (void)state;
    static const struct {
        bool named;
        const char *text;
        double want[3];
    } cases[] = {
        {false, "agent,epsilon\n1,0.5\n", {7, 0.5, 7}},
        {false,
         "\xEF\xBB\xBF"
         "agent,epsilon\r\n2,1e-3\r\n\r\n0, 2 \r\n1,3",
         {2, 3, 1e-3}},
        {true, "north,1\n\"ward, east\",2\n", {1, 2, 7}},
        {true, "ward, east,2\n1,3\n", {0}}, /* the name and the number of the same agent */
        {true, "0,5\n", {7, 7, 5}},         /* a name goes before a number */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double epsilon[3];
        tacit_error err = {0};
        const tacit_status status = parse(epsilon, cases[k].named, cases[k].text, &err);
        if (cases[k].want[0] == 0) {
            check_fails(status, TACIT_EINPUT, &err, "line 1 already");
            continue;
        }
        check_ok(status, &err);
        assert_memory_equal(epsilon, cases[k].want, sizeof epsilon);
    }
}

static void test_bad_files(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"", "b.csv: no budget in it"},
        {"agent,epsilon\n", "b.csv: no budget in it"},
        {"who,epsilon\n0,1\n", "unknown agent \"who\""},
        {"0,0\n", "b.csv:1: epsilon \"0\""},
        {"0,1\n1,-2\n", "b.csv:2: epsilon \"-2\""},
        {"0,nan\n", "finite number above 0"},
        {"0,inf\n", "finite number above 0"},
        {"0,0x10\n", "epsilon \"0x10\""},
        {"0,1e999\n", "finite number above 0"},
        {"0,1e-999\n", "finite number above 0"},
        {"0,1 2\n", "epsilon \"1 2\""},
        {"0,\n", "epsilon \"\""},
        {"0,11111111111111111111111111111111111111111111\n", "epsilon \"1111"},
        {"3,1\n", "unknown agent \"3\""},
        {"-1,1\n", "unknown agent \"-1\""},
        {"4294967296,1\n", "unknown agent"},
        {"18446744073709551616,1\n", "unknown agent"},
        {",1\n", "unknown agent \"\""},
        {"north,1\n", "unknown agent \"north\""},
        {"agent,epsilon\nagent,epsilon\n", "b.csv:2: unknown agent \"agent\""},
        {"0,1\n\n0,1\n", "b.csv:3: agent \"0\" has a budget on line 1 already"},
        {"just words\n", "expected \"agent,epsilon\""},
        {"\x01\x02\xff\n", "expected \"agent,epsilon\""},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        double epsilon[3];
        tacit_error err = {0};
        check_fails(parse(epsilon, false, bad[k][0], &err), TACIT_EINPUT, &err, bad[k][1]);
    }
}

static void test_too_many_different_budgets(void **state)
{
    (void)state;
    enum { AGENTS = 4097 };
    tacit_error err = {0};
    tacit_dataset *data = NULL;
    uint32_t *rows = calloc(AGENTS, sizeof *rows);
    const uint32_t *const counts[TACIT_SPLITS] = {rows};
    double *epsilon = calloc(AGENTS, sizeof *epsilon);
    char *text = malloc(AGENTS * 32), *at = text;
    check_ok(tacit_dataset_create(&data, AGENTS, 1, TACIT_F64, counts, &err), &err);
    for (int k = 0; k < AGENTS; k++)
        at += snprintf(at, 32, "%d,%d\n", k, k + 1);
    check_fails(tacit_budgets_parse(epsilon, data, 1, "b.csv", text, (size_t)(at - text), &err),
                TACIT_EINPUT, &err, "4097 different budgets");
    at[-3] = '6', at[-2] = '7'; /* ...67 instead of ...97: one of them twice */
    check_ok(tacit_budgets_parse(epsilon, data, 1, "b.csv", text, (size_t)(at - text), &err), &err);
    free(text);
    free(epsilon);
    free(rows);
    tacit_dataset_free(data);
}

/* ---- runs ---- */

enum { TIMES = 8 };
static const tacit_privacy_options late = {.mechanism = TACIT_MECHANISM_GAUSSIAN,
                                           .epsilon = 2,
                                           .delta = 1e-5,
                                           .clip = 0.5,
                                           .sampling = 1,
                                           .releases = TIMES,
                                           .policy = TACIT_POLICY_OPTIMAL,
                                           .ratio = 0.7,
                                           .accountant = TACIT_BY_GDP};

static tacit_status make(tacit_runtime **out, const problem *q, const tacit_privacy_options *o,
                         const double *epsilon, const char *after, const tacit_network_options *net,
                         tacit_error *err)
{
    const tacit_protocol *cd = tacit_protocol_find("cd");
    static double room[512];
    tacit_world world = world_defaults(&q->graph, cd);
    assert_true(cd->options.size <= sizeof room);
    check_ok(tacit_options_defaults(&cd->options, room, err), err);
    check_ok(tacit_option_set(tacit_section_find(&cd->options, "after", 5), room, after, err), err);
    world.data = q->data;
    world.model = q->model;
    world.privacy = *o;
    world.epsilon = epsilon;
    world.protocol_options = room;
    world.seed = 3;
    if (net)
        world.network = *net;
    return tacit_simulator.create(out, &world, err);
}

static tacit_runtime *run(const problem *q, const tacit_privacy_options *o, const double *epsilon,
                          const char *after, double time)
{
    tacit_runtime *rt = NULL;
    tacit_error err = {0};
    check_ok(make(&rt, q, o, epsilon, after, NULL, &err), &err);
    world_run(rt, time);
    return rt;
}

/* The k-th release costs what the schedule of the agent's own budget says, and is its last but the
 * T-th; no ledger exceeds its own budget. */
static void test_each_keeps_to_its_own_budget(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 4, 0, TACIT_F64);
    double epsilon[PROBLEM_AGENTS];
    for (uint32_t i = 0; i < q.n; i++)
        epsilon[i] = i % 3 == 0 ? 0.5 : i % 3 == 1 ? 2 : 4;
    for (int policy = 0; policy < TACIT_POLICIES; policy++) {
        tacit_privacy_options o = late;
        o.policy = policy;
        o.epsilon = INFINITY; /* all are listed */
        tacit_runtime *rt = run(&q, &o, epsilon, "relay", 40);
        for (uint32_t i = 0; i < q.n; i++) {
            const tacit_ledger *ledger = rt->ops->agent_ledger(rt, i);
            const tacit_budget budget = {epsilon[i], 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_GDP};
            tacit_cost cost[TIMES];
            tacit_error err = {0};
            check_ok(tacit_schedule_plan(cost, TIMES, &o, epsilon[i], NULL, 0, PROBLEM_FEATURES,
                                         "gradient", &err),
                     &err);
            const double spent = tacit_ledger_epsilon(ledger, &budget);
            assert_true(spent <= epsilon[i] && spent > 0.999 * epsilon[i]);
            assert_int_equal(tacit_ledger_releases(ledger), TIMES);
            assert_int_equal(ledger->count, policy == TACIT_POLICY_UNIFORM ? 1 : TIMES);
            for (uint32_t k = 0; k < ledger->count; k++)
                assert_true(tacit_cost_same(ledger->entries[k].cost, &cost[k]));
        }
        rt->ops->destroy(rt);
    }
    problem_clear(&q);
}

/* Each budget has its own schedule, and every schedule an end. */
static void test_schedules_end(void **state)
{
    (void)state;
    double epsilon[2] = {0.5, 2};
    tacit_cost cost[6] = {{0}};
    const spending plan = {.groups = 2, .epsilon = epsilon, .length = 3, .cost = cost};
    for (uint64_t made = 0; made < 3; made++) {
        assert_ptr_equal(spending_next(&plan, 0.5, made), &cost[made]);
        assert_ptr_equal(spending_next(&plan, 2, made), &cost[3 + made]);
    }
    assert_null(spending_next(&plan, 0.5, 3));
    assert_null(spending_next(&plan, 2, 3));
    assert_null(spending_next(&plan, 2, UINT64_MAX));
    assert_null(spending_next(&plan, 1, 0)); /* nobody planned for it */
    const spending always = {.groups = 1, .epsilon = epsilon, .length = 1, .cost = cost};
    assert_ptr_equal(spending_next(&always, 7, 1000), &cost[0]);
}

/* With noise that is given, who has less to spend speaks less often. */
static void test_given_noise_ends_by_own_budget(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 4, 0, TACIT_F64);
    double epsilon[PROBLEM_AGENTS];
    for (uint32_t i = 0; i < q.n; i++)
        epsilon[i] = i == 0 ? 1 : 2;
    tacit_privacy_options o = late;
    o.policy = TACIT_POLICY_UNIFORM;
    o.noise = 20;
    tacit_runtime *rt = run(&q, &o, epsilon, "rest", 400);
    const uint64_t poor = tacit_ledger_releases(rt->ops->agent_ledger(rt, 0));
    const uint64_t rich = tacit_ledger_releases(rt->ops->agent_ledger(rt, 1));
    assert_true(poor > 2 && rich > 3 * poor); /* about four times in GDP's squares */
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* Relaying ends at the fixed point of (16), with the models that were left as anchors; resting
 * leaves them; neither releases anything more. */
static void test_relays_when_spent(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 6, 0, TACIT_F64);
    models rested, relayed, want;
    double mean[PROBLEM_FEATURES];
    tacit_runtime *rest = run(&q, &late, NULL, "rest", 3000);
    tacit_runtime *relay = run(&q, &late, NULL, "relay", 3000);
    problem_models(&q, rest, rested);
    problem_models(&q, relay, relayed);
    assert_int_equal(rest->ops->traffic(rest).releases, TIMES * q.n);
    assert_int_equal(relay->ops->traffic(relay).releases, TIMES * q.n);
    assert_int_equal(rest->ops->traffic(rest).broadcasts, TIMES * q.n);
    assert_true(relay->ops->traffic(relay).broadcasts > 2000 * q.n);
    /* Solve (16) for the anchors, which the agents' states hold. */
    const personal_agent *agent[PROBLEM_AGENTS];
    for (uint32_t i = 0; i < q.n; i++)
        agent[i] = relay->ops->agent_state(relay, i);
    memset(want, 0, sizeof want);
    for (int turn = 0; turn < 3000; turn++)
        for (uint32_t i = 0; i < q.n; i++) {
            const double a = 5 * problem_confidence(&q, i);
            memset(mean, 0, sizeof mean);
            for (uint32_t j = 0; j < q.n; j++)
                for (int k = 0; k < PROBLEM_FEATURES; k++)
                    mean[k] += q.w[i][j] / problem_degree(&q, i) * want[j][k];
            for (int k = 0; k < PROBLEM_FEATURES; k++)
                want[i][k] =
                    (mean[k] + a * tacit_public_get(agent[i]->anchor, 0, (size_t)k)) / (1 + a);
        }
    double moved = 0;
    for (uint32_t i = 0; i < q.n; i++)
        for (int k = 0; k < PROBLEM_FEATURES; k++) {
            assert_true(fabs(relayed[i][k] - want[i][k]) < 1e-9);
            moved = fmax(moved, fabs(relayed[i][k] - rested[i][k]));
        }
    assert_true(moved > 1e-3);
    rest->ops->destroy(rest);
    relay->ops->destroy(relay);
    problem_clear(&q);
}

/* Saved in the middle of the schedule or after it, a run goes on as if nothing had happened. */
static void test_resumed_schedules_go_on(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 5, 0, TACIT_F64);
    static const double stops[] = {3, 20};
    for (int k = 0; k < 2; k++) {
        tacit_runtime *whole = run(&q, &late, NULL, "relay", 40);
        tacit_runtime *part = run(&q, &late, NULL, "relay", stops[k]), *other = NULL;
        tacit_saver *saver = NULL;
        size_t len = 0;
        tacit_error err = {0};
        const uint8_t *bytes = save_bytes(part, &saver, &len);
        check_ok(make(&other, &q, &late, NULL, "relay", NULL, &err), &err);
        check_ok(load_bytes(other, bytes, len, &err), &err);
        world_run(other, 40);
        models a, b;
        problem_models(&q, whole, a);
        problem_models(&q, other, b);
        assert_memory_equal(a, b, sizeof a);
        for (uint32_t i = 0; i < q.n; i++)
            assert_int_equal(tacit_ledger_releases(other->ops->agent_ledger(other, i)), TIMES);
        tacit_saver_free(saver);
        whole->ops->destroy(whole);
        part->ops->destroy(part);
        other->ops->destroy(other);
    }
    problem_clear(&q);
}

static void test_impossible_budgets_are_refused(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 4, 0, TACIT_F64);
    double epsilon[PROBLEM_AGENTS];
    static const struct {
        double epsilon;
        int policy;
        const char *word;
    } bad[] = {{0, TACIT_POLICY_OPTIMAL, "above 0"},
               {0, TACIT_POLICY_UNIFORM, "above 0"},
               {INFINITY, TACIT_POLICY_OPTIMAL, "finite"},
               {INFINITY, TACIT_POLICY_UNIFORM, "finite"},
               {1e-9, TACIT_POLICY_OPTIMAL, "raise epsilon (\"privacy.epsilon\")"},
               {1e-9, TACIT_POLICY_OPTIMAL, "agent 2 (\"privacy.budgets\")"},
               {1e-9, TACIT_POLICY_UNIFORM, "agent 2 (\"privacy.budgets\")"},
               {NAN, TACIT_POLICY_UNIFORM, "agent 2"},
               {-1, TACIT_POLICY_UNIFORM, "agent 2"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tacit_privacy_options o = late;
        tacit_error err = {0};
        tacit_runtime *rt = NULL;
        o.policy = bad[k].policy;
        o.delta = 1e-15; /* or a tiny budget would be covered by it */
        for (uint32_t i = 0; i < q.n; i++)
            epsilon[i] = i == 2 ? bad[k].epsilon : 1;
        check_fails(make(&rt, &q, &o, epsilon, "relay", NULL, &err), TACIT_EINPUT, &err,
                    bad[k].word);
    }
    tacit_privacy_options o = late;
    tacit_error err = {0};
    tacit_runtime *rt = NULL;
    o.releases = 0;
    check_fails(make(&rt, &q, &o, NULL, "relay", NULL, &err), TACIT_EINPUT, &err,
                "privacy.releases");
    problem_clear(&q);
}

/* An agent with one record spends like the others, and its noise does not shrink by any mean. */
static void test_agent_with_one_record(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 4, 0, TACIT_F64);
    q.m[1] = 1;
    problem_build(&q, TACIT_F64);
    tacit_runtime *rt = run(&q, &late, NULL, "relay", 40);
    const tacit_budget budget = {2, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_GDP};
    assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, 1)), TIMES);
    assert_true(tacit_ledger_epsilon(rt->ops->agent_ledger(rt, 1), &budget) <= 2);
    models found;
    problem_models(&q, rt, found);
    for (uint32_t i = 0; i < q.n; i++)
        for (int k = 0; k < PROBLEM_FEATURES; k++)
            assert_true(isfinite(found[i][k]));
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* Nobody there: nothing is released, nothing spent, nothing hangs. */
static void test_all_offline(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 4, 0, TACIT_F64);
    tacit_error err = {0};
    tacit_runtime *rt = NULL;
    tacit_network_options net = world_defaults(&q.graph, tacit_protocol_find("cd")).network;
    net.mean_up = 1e-6, net.mean_down = 1e9;
    check_ok(make(&rt, &q, &late, NULL, "relay", &net, &err), &err);
    world_run(rt, 50);
    assert_int_equal(rt->ops->traffic(rt).releases, 0);
    for (uint32_t i = 0; i < q.n; i++)
        assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, i)), 0);
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* ---- what is said of it ---- */

static void test_summaries_say_whose(void **state)
{
    (void)state;
    static const char yaml[] =
        "run: {time: 20, every: 0}\n"
        "data: {agents: 12, dimension: 4, min-records: 5, max-records: 20, bound: l2}\n"
        "privacy: {mechanism: gaussian, clip: 0.5, releases: 4, policy: optimal, epsilon: 1,"
        " budgets: agent_budgets_test.csv}\n";
    FILE *file = fopen("agent_budgets_test.csv", "w");
    assert_non_null(file);
    fputs("agent,epsilon\n3,0.25\n5,2.5\n", file);
    fclose(file);
    tacit_error err = {0};
    tacit_config config;
    tacit_experiment x;
    tacit_session *session = NULL;
    tacit_config_init(&config);
    check_ok(tacit_config_parse(&config, "test", yaml, strlen(yaml), &err), &err);
    check_ok(tacit_experiment_init(&x, &config, &err), &err);
    tacit_config_clear(&config);
    check_ok(tacit_session_create(&session, &x, 2, &err), &err);
    check_ok(tacit_session_run(session, &(tacit_run_request){0}, &err), &err);
    double least, most;
    assert_true(tacit_session_budgets(session, &least, &most));
    assert_true(least == 0.25 && most == 2.5);
    const double epsilon = tacit_session_epsilon(session);
    assert_true(epsilon <= 2.5 && epsilon > 2.49); /* of agent 5 */
    char *text = tacit_session_summary(session, true);
    assert_non_null(strstr(text, "\"epsilon_budget_least\": 0.25"));
    assert_non_null(strstr(text, "\"epsilon_budget_most\": 2.5"));
    free(text);
    tacit_session_free(session);
    tacit_experiment_clear(&x);
    remove("agent_budgets_test.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_files),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_too_many_different_budgets),
        cmocka_unit_test(test_each_keeps_to_its_own_budget),
        cmocka_unit_test(test_schedules_end),
        cmocka_unit_test(test_given_noise_ends_by_own_budget),
        cmocka_unit_test(test_relays_when_spent),
        cmocka_unit_test(test_resumed_schedules_go_on),
        cmocka_unit_test(test_impossible_budgets_are_refused),
        cmocka_unit_test(test_agent_with_one_record),
        cmocka_unit_test(test_all_offline),
        cmocka_unit_test(test_summaries_say_whose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
