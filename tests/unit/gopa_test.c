/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protocol "gopa" in the simulator: the mean it tells is right to the grid, its noise is what was
 * planned whoever drops out, and it is charged once.
 */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "problem.h"
#include "protocol/gopa_inside.h"
#include "protocol/totals_inside.h"
#include "tacit/audit.h"

typedef struct stage {
    uint32_t agents, features;
    tacit_dataset *data;
    tacit_model *model;
    tacit_graph graph;
    gopa_options options;
    tacit_world world;
    tacit_runtime *rt;
} stage;

/* Agent u's value of feature k; `same`: all hold the same. */
static double value(uint32_t u, uint32_t k, bool same)
{
    const uint32_t mixed = same ? k * 37 % 64 : (u * 29 + k * 37) % 64;
    return mixed / 64.0;
}

static void set(stage *s, const char *key, const char *text)
{
    tacit_error err = {0};
    const tacit_option *option = tacit_section_find(&s->world.protocol->options, key, strlen(key));
    assert_non_null(option);
    check_ok(tacit_option_set(option, &s->options, text, &err), &err);
}

static void open(stage *s, uint32_t agents, uint32_t features, bool same)
{
    tacit_error err = {0};
    memset(s, 0, sizeof *s);
    s->agents = agents;
    s->features = features;
    uint32_t *ones = malloc(agents * sizeof *ones);
    double *x = malloc(features * sizeof *x);
    assert_true(ones && x);
    for (uint32_t u = 0; u < agents; u++)
        ones[u] = 1;
    const uint32_t *counts[TACIT_SPLITS] = {ones, NULL, NULL};
    check_ok(tacit_dataset_create(&s->data, agents, features, TACIT_F64, counts, &err), &err);
    for (uint32_t u = 0; u < agents; u++) {
        for (uint32_t k = 0; k < features; k++)
            x[k] = value(u, k, same);
        check_ok(tacit_dataset_put(s->data, u, TACIT_TRAIN, 0, x, 0, &err), &err);
    }
    free(ones);
    free(x);
    const tacit_model_options model = {.loss = 1, .scalar = TACIT_F64};
    check_ok(tacit_model_create(&s->model, &model, features, &err), &err);
    graph_ring(&s->graph, agents, 0, 1);
    const tacit_protocol *p = tacit_protocol_find("gopa");
    assert_non_null(p);
    assert_int_equal(p->options.size, sizeof s->options);
    check_ok(tacit_options_defaults(&p->options, &s->options, &err), &err);
    s->world = world_defaults(&s->graph, p);
    s->world.data = s->data;
    s->world.model = s->model;
    s->world.protocol_options = &s->options;
    s->world.network.latency = 1;
    s->world.network.latency_floor = 0.01;
    s->world.network.latency_mean = 0.1;
}

static void noisy(stage *s, double epsilon)
{
    s->world.privacy.mechanism = TACIT_MECHANISM_GAUSSIAN;
    s->world.privacy.unit = TACIT_UNIT_USER;
    s->world.privacy.adjacency = TACIT_REPLACE;
    s->world.privacy.epsilon = epsilon;
    s->world.privacy.delta = 1e-5;
}

static void run(stage *s, uint64_t seed, double time)
{
    if (s->rt)
        s->rt->ops->destroy(s->rt);
    s->world.seed = seed;
    s->rt = world_create(&tacit_simulator, &s->world);
    world_run(s->rt, time);
}

static void close_stage(stage *s)
{
    if (s->rt)
        s->rt->ops->destroy(s->rt);
    tacit_dataset_free(s->data);
    tacit_model_free(s->model);
    tacit_graph_clear(&s->graph);
}

static const gopa_agent *at(const stage *s, uint32_t agent)
{
    return s->rt->ops->agent_state(s->rt, agent);
}

static double mean_at(const gopa_agent *a, uint32_t k)
{
    return tacit_vector_get(tacit_vector_of_public(a->mean), 0, k);
}

static uint64_t releases(const stage *s, uint32_t agent)
{
    const tacit_ledger *ledger = s->rt->ops->agent_ledger(s->rt, agent);
    uint64_t count = 0;
    for (uint32_t k = 0; k < ledger->count; k++)
        count += ledger->entries[k].releases;
    return count;
}

/* What tacit_cost_plan says of an average under these settings. */
static tacit_cost planned(const stage *s)
{
    tacit_error err = {0};
    tacit_cost cost;
    tacit_privacy_options privacy = s->world.privacy;
    privacy.clip = 0.5 * sqrt(s->features);
    privacy.releases = s->options.rounds;
    check_ok(tacit_cost_plan(&cost, &privacy, s->features, "average", &err), &err);
    return cost;
}

/* ---- without noise ---- */

static void test_mean(void **state)
{
    (void)state;
    static const char *const what[] = {"mean", "sum"};
    for (int sum = 0; sum < 2; sum++) {
        stage s;
        open(&s, 9, 5, false);
        set(&s, "what", what[sum]);
        run(&s, 1, 1000);
        for (uint32_t u = 0; u < s.agents; u++) {
            assert_int_equal(at(&s, u)->members, s.agents);
            assert_int_equal(at(&s, u)->rounds, 1);
            for (uint32_t k = 0; k < s.features; k++) {
                double right = 0;
                for (uint32_t v = 0; v < s.agents; v++)
                    right += value(v, k, false) / (sum ? 1 : s.agents);
                assert_true(fabs(mean_at(at(&s, u), k) - right) < 9 * 0x1p-24);
            }
        }
        close_stage(&s);
    }
}

/* ---- noise ---- */

typedef struct tally {
    double count, sum, squares;
    uint64_t runs, heard, members, present;
} tally;

/* Whoever was in the last try of a sum knows for how many it made its share. */
static uint32_t present_of(const stage *s, uint64_t *judged)
{
    for (uint32_t u = 0; u < s->agents; u++) {
        const tacit_totals *t = (const tacit_totals *)(at(s, u) + 1);
        if (at(s, u)->heard == (uint64_t)s->options.rounds && t->member.trial == t->judged &&
            t->member.present) {
            *judged = t->judged;
            return t->member.present;
        }
    }
    return 0;
}

/* (sum - members x) / standard deviation that the shares of its members have. */
static void weigh(const stage *s, const tacit_cost *cost, double slack, tally *t)
{
    uint64_t judged = 0;
    const uint32_t present = present_of(s, &judged);
    t->runs++;
    if (present == 0)
        return;
    tacit_totals_plan plan = {.agents = s->agents, .numbers = 1, .most = 1, .child = 1};
    tacit_error err = {0};
    totals_plan_of(&plan, &s->options.totals);
    check_ok(tacit_totals_prepare(&plan, &err), &err);
    const double parts = floor(tacit_totals_parts(&plan, present) / (1 + slack));
    tacit_totals_clear(&plan);
    const gopa_agent *a = NULL;
    for (uint32_t u = 0; u < s->agents && !a; u++)
        if (at(s, u)->heard && ((const tacit_totals *)(at(s, u) + 1))->judged == judged)
            a = at(s, u);
    const double members = (double)a->members;
    const double deviation = cost->noise * sqrt(members / parts);
    assert_true(members >= parts && parts >= 1);
    for (uint32_t k = 0; k < s->features; k++) {
        const double z = (mean_at(a, k) - value(0, k, true)) * members / deviation;
        t->sum += z;
        t->squares += z * z;
    }
    t->count += s->features;
    t->heard++;
    t->members += a->members;
    t->present += present;
}

/* 5 standard errors: a false alarm in 2e6 for each of the two, with seeds that are fixed anyway. */
static void check_noise(const tally *t)
{
    const double variance = t->squares / t->count, error = sqrt(2 / t->count);
    print_message("%llu of %llu heard, %.1f members of %.1f who were there; variance %.4f of what "
                  "was planned (standard error %.4f), mean %.4f\n",
                  (unsigned long long)t->heard, (unsigned long long)t->runs,
                  (double)t->members / (double)t->heard, (double)t->present / (double)t->heard,
                  variance, error, t->sum / t->count);
    assert_true(fabs(t->sum / t->count) < 5 / sqrt(t->count));
    assert_true(fabs(variance - 1) < fmax(0.03, 5 * error));
}

static void allow_drop_outs(stage *s)
{
    set(s, "absent", "0.45");
    set(s, "quorum", "0.55");
}

/* A third of those who were there leave before they say a word, and others take out what they share
 * with them. All hold the same, so that the sum is known whoever is in it. */
static void test_drop_outs(void **state)
{
    (void)state;
    double epsilon[12];
    stage s;
    tally t = {0};
    open(&s, 12, 1000, true);
    noisy(&s, 1);
    allow_drop_outs(&s);
    for (uint32_t u = 0; u < 12; u++)
        epsilon[u] = u % 3 == 1 ? 0.01 : 1; /* too little for a word */
    s.world.epsilon = epsilon;
    const tacit_cost cost = planned(&s);
    for (uint64_t seed = 1; seed <= (uint64_t)(SLOW ? 8 : 45); seed++) {
        run(&s, seed, 100);
        weigh(&s, &cost, 0, &t);
        assert_int_equal(at(&s, 0)->members, 8);
    }
    assert_int_equal(t.present, 12 * t.runs);
    check_noise(&t);
    close_stage(&s);
}

/* Agents come and go in the middle of anything. Sums that come out have the noise they should. */
static void test_churn(void **state)
{
    (void)state;
    const uint64_t runs = SLOW ? 12 : 60;
    stage s;
    tally t = {0};
    open(&s, 12, 1000, true);
    noisy(&s, INFINITY); /* a failed try costs too, and none is to be refused here */
    s.world.privacy.noise = 1;
    allow_drop_outs(&s);
    set(&s, "tries", "40");
    set(&s, "patience", "1");
    set(&s, "rounds", "6");
    s.world.network.mean_up = 14;
    s.world.network.mean_down = 6;
    const tacit_cost cost = planned(&s);
    for (uint64_t seed = 1; seed <= runs; seed++) {
        run(&s, seed, 400);
        weigh(&s, &cost, 0, &t);
    }
    assert_true(t.heard > runs / 2);
    assert_true(t.members < t.heard * 12);
    check_noise(&t);
    close_stage(&s);
}

/* Gaussian pair noise cancels as masks do; own noise is larger by the slack. */
static void test_gaussian_masks(void **state)
{
    (void)state;
    stage s;
    tally t = {0};
    open(&s, 12, 1000, true);
    noisy(&s, 1);
    set(&s, "masks", "gaussian");
    set(&s, "adders", "curious");
    const tacit_cost cost = planned(&s);
    for (uint64_t seed = 1; seed <= (uint64_t)(SLOW ? 4 : 20); seed++) {
        run(&s, seed, 200);
        assert_int_equal(at(&s, 0)->members, s.agents);
        weigh(&s, &cost, s.options.slack, &t);
    }
    check_noise(&t);
    close_stage(&s);
}

/* ---- what it costs ---- */

static void test_ledger(void **state)
{
    (void)state;
    stage s;
    open(&s, 8, 3, false);
    noisy(&s, 2);
    set(&s, "rounds", "3");
    run(&s, 3, 1000);
    for (uint32_t u = 0; u < s.agents; u++) {
        assert_int_equal(at(&s, u)->heard, 3);
        assert_int_equal(releases(&s, u), 3); /* once a round */
        assert_int_equal(at(&s, u)->given, 3);
        assert_false(at(&s, u)->poor);
    }
    close_stage(&s);
}

/* One has a budget for nothing: it gives nothing, is charged nothing, and hears all. */
static void test_poor(void **state)
{
    (void)state;
    double epsilon[8];
    stage s;
    open(&s, 8, 3, false);
    noisy(&s, 2);
    for (uint32_t u = 0; u < 8; u++)
        epsilon[u] = u == 5 ? 0.01 : 2;
    s.world.epsilon = epsilon;
    set(&s, "rounds", "2");
    set(&s, "absent", "0.3");
    run(&s, 3, 1000);
    for (uint32_t u = 0; u < s.agents; u++) {
        assert_int_equal(at(&s, u)->heard, 2);
        assert_int_equal(at(&s, u)->members, 7);
        assert_int_equal(releases(&s, u), u == 5 ? 0 : 2);
        assert_int_equal(at(&s, u)->poor, u == 5);
    }
    close_stage(&s);
}

/* ---- what a coalition sees ---- */

enum { FIVE = 5, COORDINATES = 4000, PILOT = 1000 };

/* The noise of a sum without those who have no budget. An agent's noise follows from the seed, not
 * from what others do: the difference of two such sums is one member's share. */
static void noise_of(stage *s, uint32_t without, uint64_t seed, double *out)
{
    double epsilon[FIVE];
    for (uint32_t u = 0; u < FIVE; u++)
        epsilon[u] = without >> u & 1 ? 0.01 : s->world.privacy.epsilon;
    s->world.epsilon = epsilon;
    run(s, seed, 100);
    const gopa_agent *a = at(s, 0);
    assert_int_equal(a->members, FIVE - (uint32_t)__builtin_popcount(without));
    for (uint32_t k = 0; k < COORDINATES; k++)
        out[k] = (mean_at(a, k) - value(0, k, true)) * (double)a->members;
}

/* Of five, one is lost and another colludes, as planned: the sum less what the coalition brought
 * itself. `broken`: one more brings no noise. */
static void view_of(stage *s, bool broken, uint64_t seed, double *view)
{
    static double all[COORDINATES], less[COORDINATES];
    noise_of(s, 0, seed, all);
    noise_of(s, 1 << 4, seed, view);
    for (uint32_t u = 2 + !broken; u < 4; u++) {
        noise_of(s, 1u << u, seed, less);
        for (uint32_t k = 0; k < COORDINATES; k++)
            view[k] -= all[k] - less[k];
    }
}

/* Each coordinate is a trial: the canary is as far away as neighbouring inputs can be. */
static double shown(stage *s, const tacit_cost *cost, bool broken)
{
    static double with[COORDINATES], without[COORDINATES];
    tacit_error err = {0};
    view_of(s, broken, 1, without);
    view_of(s, broken, 2, with);
    for (uint32_t k = 0; k < COORDINATES; k++)
        with[k] += cost->sensitivity;
    tacit_audit audit = {.pilot = PILOT,
                         .trials = COORDINATES - PILOT,
                         .with = with,
                         .without = without,
                         .delta = s->world.privacy.delta,
                         .confidence = 0.999};
    check_ok(tacit_audit_find(&audit, TACIT_CURVE_GAUSSIAN, &err), &err);
    return tacit_audit_shown(&audit);
}

/* A false alarm of the first in a thousand seeds; these are fixed. */
static void test_audit(void **state)
{
    (void)state;
    stage s;
    open(&s, FIVE, COORDINATES, true);
    noisy(&s, 8);
    set(&s, "absent", "0.2");
    set(&s, "colluders", "1");
    set(&s, "quorum", "0.75");
    const tacit_cost cost = planned(&s);
    const double right = shown(&s, &cost, false), wrong = shown(&s, &cost, true);
    print_message("claimed 8, shown %.2f; with a share missing %.2f\n", right, wrong);
    assert_true(right < 8 && right > 6);
    assert_true(wrong > 8);
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean),   cmocka_unit_test(test_drop_outs),
        cmocka_unit_test(test_churn),  cmocka_unit_test(test_gaussian_masks),
        cmocka_unit_test(test_ledger), cmocka_unit_test(test_poor),
        cmocka_unit_test(test_audit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
