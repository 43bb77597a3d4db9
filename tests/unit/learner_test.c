/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learner's steps are those of paper 002's algorithm 1, written down here once more in plain
 * arrays; they end at the optimum of all owners' records; budgets go as far as was planned; and
 * what comes twice, late or unasked changes nothing.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "banks.h"
#include "protocol/learner.h"

enum { P = BANK_FEATURES, MOST = 4000 };

/* ---- who answered ---- */

typedef struct heard {
    uint32_t agent[MOST];
    size_t count;
    double noise[BANKS]; /* of the last cost of each */
} heard;

static void watch(void *ctx, tacit_agent agent, const tacit_cost *cost,
                  const tacit_public *released)
{
    heard *h = ctx;
    (void)released;
    assert_true(agent < BANKS && h->count < MOST);
    h->agent[h->count++] = (uint32_t)agent;
    h->noise[agent] = cost->noise;
}

static tacit_runtime *run(const banks *b, double time, heard *h)
{
    memset(h, 0, sizeof *h);
    tacit_trace *trace = tacit_trace_create();
    tacit_trace_watch(trace, watch, h);
    tacit_runtime *rt = world_create(&tacit_simulator, &b->world);
    rt->trace = trace;
    world_run(rt, time);
    rt->trace = NULL;
    tacit_trace_free(trace);
    return rt;
}

static const learner_agent *agent_of(const tacit_runtime *rt, uint32_t agent)
{
    return rt->ops->agent_state(rt, agent);
}

/* ---- algorithm 1, plainly ---- */

typedef struct plain {
    double alpha, range;
    int inertia;
    tacit_unit unit;
    double left[P], copy[BANKS][P]; /* theta_L, theta_i */
} plain;

static double cut(double x, double range)
{
    return x > range ? range : x < -range ? -range : x;
}

static void plain_step(plain *a, const banks *b, uint32_t i)
{
    const bool user = a->unit == TACIT_UNIT_USER; /* owners count alike */
    const double owners = BANKS - 1, sigma = 2 * b->lambda;
    const double n = user ? owners : b->m[1] + b->m[2] + b->m[3], own_records = user ? 1 : b->m[i];
    double bar[P], q[P];
    for (int k = 0; k < P; k++)
        bar[k] = a->inertia == INERTIA_NONE ? a->left[k] : (a->left[k] + a->copy[i][k]) / 2;
    banks_gradient(b, i, bar, q);
    for (int k = 0; k < P; k++) {
        const double dg = 2 * b->lambda * bar[k], data = own_records / n * q[k];
        if (a->inertia == INERTIA_NONE) {
            a->left[k] = cut(bar[k] - a->alpha / sigma * (dg + owners * data), a->range);
            continue;
        }
        const double own = a->inertia == INERTIA_SOUND ? 0.5 : (owners - 1) / owners;
        a->copy[i][k] =
            cut(bar[k] - owners * a->alpha / sigma * (dg / (2 * owners) + data), a->range);
        a->left[k] = cut(bar[k] - a->alpha / sigma * own * dg, a->range);
    }
}

static void check_plain_of(tacit_unit unit, int loss, const char *settings, double alpha,
                           double range, int inertia)
{
    banks b;
    heard h;
    double theta[P];
    plain a = {.alpha = alpha, .range = range, .inertia = inertia, .unit = unit};
    banks_init(&b, loss, settings);
    b.world.privacy.unit = unit;
    tacit_runtime *rt = run(&b, 60, &h);
    const learner_agent *learner = agent_of(rt, 0);
    assert_true(h.count > 100);
    assert_int_equal(learner->made, h.count);
    for (size_t k = 0; k < h.count; k++)
        plain_step(&a, &b, h.agent[k]);
    banks_model(rt, 0, theta);
    double size = 0;
    for (int k = 0; k < P; k++) {
        size += fabs(a.left[k]);
        assert_true(fabs(theta[k] - a.left[k]) < 1e-13);
        for (uint32_t i = 1; i < BANKS && inertia != INERTIA_NONE; i++)
            assert_true(fabs(tacit_public_get(learner->owner[i - 1].theta, 0, (size_t)k) -
                             a.copy[i][k]) < 1e-13);
    }
    assert_true(size > 1e-3);
    rt->ops->destroy(rt);
    banks_clear(&b);
}

static void check_plain(int loss, const char *settings, double alpha, double range, int inertia)
{
    check_plain_of(TACIT_UNIT_RECORD, loss, settings, alpha, range, inertia);
}

/* Nobody tells how many records it has, and all weigh the same. */
static void test_users_weigh_the_same(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++) {
        check_plain_of(TACIT_UNIT_USER, loss, "step=0.02", 0.02, 10, INERTIA_SOUND);
        check_plain_of(TACIT_UNIT_USER, loss, "step=0.01 inertia=none mode=broadcast", 0.01, 10,
                       INERTIA_NONE);
    }
}

static void test_steps_are_algorithm_1(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++) {
        check_plain(loss, "step=0.02", 0.02, 10, INERTIA_SOUND);
        check_plain(loss, "step=0.02 mode=broadcast", 0.02, 10, INERTIA_SOUND);
        check_plain(loss, "step=0.02 inertia=printed", 0.02, 10, INERTIA_PRINTED);
        check_plain(loss, "step=0.01 inertia=none", 0.01, 10, INERTIA_NONE);
        check_plain(loss, "step=0.01 inertia=none mode=broadcast", 0.01, 10, INERTIA_NONE);
        check_plain(loss, "step=0.02 range=0.05", 0.02, 0.05, INERTIA_SOUND); /* it is reached */
    }
}

static void test_range_holds(void **state)
{
    (void)state;
    banks b;
    heard h;
    banks_init(&b, 1, "step=0.02 range=0.05");
    tacit_runtime *rt = run(&b, 200, &h);
    bool reached = false;
    for (uint32_t i = 0; i < BANKS; i++) {
        double theta[P];
        banks_model(rt, i, theta);
        for (int k = 0; k < P; k++) {
            assert_true(fabs(theta[k]) <= 0.05);
            reached |= fabs(theta[k]) > 0.049;
        }
    }
    assert_true(reached);
    rt->ops->destroy(rt);
    banks_clear(&b);
}

/* ---- where it ends ---- */

/* |theta_L - optimum| after many small steps. */
static double gap(int loss, const char *settings)
{
    banks b;
    heard h;
    double theta[P], best[P];
    banks_init(&b, loss, settings);
    tacit_runtime *rt = run(&b, 1300, &h);
    banks_model(rt, 0, theta);
    banks_optimum(&b, 1, best);
    const double apart = banks_apart(theta, best) / banks_apart(best, (double[P]){0});
    rt->ops->destroy(rt);
    banks_clear(&b);
    return apart;
}

static void test_ends_at_the_optimum(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++) {
        assert_true(gap(loss, "iterations=100000 step=0.01") < 0.05);
        assert_true(gap(loss, "iterations=100000 step=0.01 mode=broadcast") < 0.05);
        assert_true(gap(loss, "iterations=100000 step=0.003 inertia=none") < 0.05);
        /* S17: as printed, the parts of g add up to more than g. */
        assert_true(gap(loss, "iterations=100000 step=0.01 inertia=printed") > 0.07);
    }
}

/* The owners are handed the result, and nothing is asked any more. */
static void test_says_when_it_is_over(void **state)
{
    (void)state;
    static const char *const modes[] = {"iterations=50", "iterations=50 mode=broadcast"};
    for (size_t k = 0; k < 2; k++) {
        banks b;
        heard h;
        double last[P], theta[P];
        banks_init(&b, 1, modes[k]);
        tacit_runtime *rt = run(&b, 100, &h);
        assert_int_equal(h.count, 50);
        banks_model(rt, 0, last);
        for (uint32_t i = 1; i < BANKS; i++) {
            banks_model(rt, i, theta);
            assert_memory_equal(theta, last, sizeof theta);
            assert_true(agent_of(rt, i)->over);
        }
        rt->ops->destroy(rt);
        banks_clear(&b);
    }
}

/* ---- budgets ---- */

/* P(Bin(n, p) > k) by adding trials one at a time. */
static double tail_of(int n, double p, int k)
{
    double mass[64] = {1}, tail = 0;
    assert_true(n < 64);
    for (int t = 0; t < n; t++)
        for (int j = t + 1; j >= 0; j--)
            mass[j] = mass[j] * (1 - p) + (j > 0 ? mass[j - 1] * p : 0);
    for (int j = n; j > k; j--)
        tail += mass[j];
    return tail;
}

static void test_cap_is_the_binomial_quantile(void **state)
{
    (void)state;
    static const double betas[] = {0.4, 0.1, 1e-3, 1e-9};
    for (int n = 1; n < 60; n += 7)
        for (uint64_t owners = 2; owners < 20; owners += 5)
            for (size_t k = 0; k < 4; k++) {
                const uint64_t cap = learner_cap((uint64_t)n, owners, betas[k]);
                assert_true(cap >= 1 && cap <= (uint64_t)n);
                assert_true(tail_of(n, 1.0 / (double)owners, (int)cap) <= betas[k] * (1 + 1e-9));
                if (cap > 1)
                    assert_true(tail_of(n, 1.0 / (double)owners, (int)cap - 1) > betas[k]);
            }
    assert_int_equal(learner_cap(1000, 3, 1e-3), 380);
    assert_int_equal(learner_cap(1000, 1, 1e-3), 1000);
    assert_int_equal(learner_cap(1, 86, 1e-3), 1);
    assert_int_equal(learner_cap(1000000, 1000000, 1e-3), 5);
}

static tacit_privacy_options laplace(void)
{
    return (tacit_privacy_options){.mechanism = TACIT_MECHANISM_LAPLACE,
                                   .epsilon = 3,
                                   .clip = 1,
                                   .unit = TACIT_UNIT_RECORD,
                                   .adjacency = TACIT_REPLACE,
                                   .accountant = TACIT_BY_SUM};
}

/* Noise of an owner's answers, over what its clip is: 2 C k / epsilon for k answers. */
static double noise_of(const char *settings, double epsilon)
{
    banks b;
    banks_init(&b, 1, settings);
    b.world.privacy = laplace();
    b.world.privacy.epsilon = epsilon;
    tacit_runtime *rt = world_create(&tacit_simulator, &b.world);
    const learner_shared *s = rt->ops->shared(rt);
    const double noise = spending_next(&s->costs, epsilon, 0)->noise;
    rt->ops->destroy(rt);
    banks_clear(&b);
    return noise;
}

static void test_a_cap_needs_less_noise(void **state)
{
    (void)state;
    const double cap = noise_of("iterations=1000", 3);
    const double horizon = noise_of("iterations=1000 split=horizon", 3);
    assert_true(fabs(horizon - 2 * 1000 / 3.0) < 1e-4 * horizon);
    assert_true(fabs(cap - 2 * 380 / 3.0) < 1e-4 * cap);
    assert_true(fabs(horizon / cap - 1000.0 / 380) < 1e-4);
    assert_true(fabs(noise_of("iterations=1000 answers=10", 3) - 20 / 3.0) < 1e-4);
    assert_true(fabs(noise_of("iterations=1000", 6) - cap / 2) < 1e-4 * cap);
}

static void check_spent(const banks *b, const char *settings, uint64_t answers)
{
    heard h;
    banks copy = *b;
    copy.world.protocol_options = copy.options;
    banks_set(&copy, settings);
    tacit_runtime *rt = run(&copy, 200, &h);
    const learner_shared *s = rt->ops->shared(rt);
    const tacit_budget budget = {.epsilon = copy.world.privacy.epsilon,
                                 .delta = copy.world.privacy.delta,
                                 .trust = TACIT_TRUST_LEARNER,
                                 .accountant = (tacit_accountant)copy.world.privacy.accountant};
    assert_int_equal(h.count, answers * (BANKS - 1));
    assert_true(agent_of(rt, 0)->over); /* nobody is left to ask */
    assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, 0)), 0);
    tacit_costs *costs = tacit_costs_create();
    for (uint32_t i = 1; i < BANKS; i++) {
        const tacit_ledger *ledger = rt->ops->agent_ledger(rt, i);
        assert_int_equal(tacit_ledger_releases(ledger), answers);
        assert_true(agent_of(rt, i)->spent);
        assert_true(tacit_ledger_epsilon(ledger, &budget) <= budget.epsilon);
        /* It is the ledger that says no, not only the owner's manners. */
        max_align_t permit[64];
        tacit_error err = {0};
        tacit_ledger again = *ledger;
        assert_true(tacit_permit_size() <= sizeof permit);
        const tacit_cost *cost = spending_next(&s->costs, budget.epsilon, 0);
        check_fails(tacit_ledger_reserve(&again, costs, &budget, cost, 1e3, (void *)permit, &err),
                    TACIT_EBUDGET, &err, "gradient");
    }
    tacit_costs_free(costs);
    rt->ops->destroy(rt);
}

static void test_refuses_beyond_the_cap(void **state)
{
    (void)state;
    banks b;
    banks_init(&b, 1, "iterations=1000");
    b.world.privacy = laplace();
    check_spent(&b, "answers=7", 7);
    check_spent(&b, "answers=7 mode=broadcast", 7);
    b.world.privacy.mechanism = TACIT_MECHANISM_GAUSSIAN;
    b.world.privacy.accountant = TACIT_BY_RDP;
    b.world.privacy.delta = 1e-5;
    check_spent(&b, "answers=5", 5);
    banks_clear(&b);
}

/* The smallest budget has the most noise; all spend their own. */
static void test_budgets_may_differ(void **state)
{
    (void)state;
    static const double epsilon[BANKS] = {INFINITY, 1, 2, 4}; /* the learner's matters to nobody */
    banks b;
    heard h;
    banks_init(&b, 1, "iterations=300 answers=20");
    b.world.privacy = laplace();
    b.world.epsilon = epsilon;
    tacit_runtime *rt = run(&b, 60, &h);
    assert_int_equal(h.count, 60);
    assert_true(fabs(h.noise[1] / h.noise[2] - 2) < 1e-4);
    assert_true(fabs(h.noise[2] / h.noise[3] - 2) < 1e-4);
    rt->ops->destroy(rt);
    banks_clear(&b);
}

/* Owner 1's ledger says no after 20 answers; the others have no limit. */
static void test_one_rests_and_others_go_on(void **state)
{
    (void)state;
    static const double epsilon[BANKS] = {1e9, 2.05, 1e9, 1e9};
    banks b;
    heard h;
    banks_init(&b, 1, "iterations=100000 step=0.01 answers=1000000");
    b.world.privacy = laplace();
    b.world.privacy.noise = 20; /* each costs 0.1 */
    b.world.epsilon = epsilon;
    tacit_runtime *rt = run(&b, 300, &h);
    assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, 1)), 20);
    assert_int_equal(agent_of(rt, 0)->owner[0].standing, OWNER_DONE);
    assert_true(agent_of(rt, 1)->spent && !agent_of(rt, 2)->spent);
    assert_true(h.count > 400);
    rt->ops->destroy(rt);
    banks_clear(&b);
}

/* Owner 1 leaves at its first tick. */
static tacit_status leave(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    const learner_shared *s = shared;
    learner_agent *self = state;
    if (tacit_facts_of(env)->self != 1 || event->type != TACIT_WAKE || self->spent)
        return tacit_protocol_find("learner")->on(env, shared, state, event);
    self->spent = true;
    tacit_public *word = tacit_new_public(env, &s->wish);
    tacit_public_set_int(word, 0, WISH_RECORDS, (int64_t)tacit_facts_of(env)->records);
    tacit_public_set_int(word, 0, WISH_WHAT, WISH_REST);
    tacit_status status = tacit_send(env, 0, LEARNER_WISH, word);
    tacit_drop(env, word);
    return status;
}

/* What is learned then is the optimum of those who are left. */
static void test_ends_at_the_optimum_of_the_others(void **state)
{
    (void)state;
    static const char *const modes[] = {"iterations=100000 step=0.01",
                                        "iterations=100000 step=0.01 mode=broadcast"};
    for (size_t mode = 0; mode < 2; mode++) {
        banks b;
        heard h;
        double theta[P], best[P], all[P];
        banks_init(&b, 1, modes[mode]);
        tacit_protocol left = *b.world.protocol;
        left.on = leave;
        b.world.protocol = &left;
        tacit_runtime *rt = run(&b, 1500, &h);
        banks_model(rt, 0, theta);
        banks_optimum(&b, 1, all);
        banks_optimum(&b, 2, best);
        assert_true(banks_apart(theta, best) < 0.5 * banks_apart(theta, all));
        rt->ops->destroy(rt);
        banks_clear(&b);
    }
}

/* ---- who does not keep to the rules ---- */

enum { HONEST, TWICE, LATE, FORGED, NOT_A_NUMBER, LIES };
static int lie;

static tacit_status say_so(tacit_env *env, const learner_shared *s, int64_t number, double value)
{
    tacit_public *word = tacit_new_public(env, &s->answer);
    tacit_public_set_int(word, ANSWER_NUMBER, 0, number);
    for (size_t k = 0; k < P; k++)
        tacit_public_set(word, ANSWER_GRADIENT, k, value);
    tacit_status status = tacit_send(env, 0, LEARNER_ANSWER, word);
    tacit_drop(env, word);
    return status;
}

/* Owner 2 does as it should, and says something it should not: right after an answer (twice), on
 * every tick, or (no number) before every answer. */
static tacit_status two_tongues(tacit_env *env, const void *shared, void *state,
                                const tacit_event *event)
{
    const tacit_protocol *honest = tacit_protocol_find("learner");
    const learner_agent *self = state;
    const bool liar = tacit_facts_of(env)->self == 2;
    const uint64_t before = self->answered;
    tacit_status status = TACIT_OK;
    if (liar && lie == NOT_A_NUMBER && event->type == TACIT_MESSAGE)
        status =
            say_so(env, shared, tacit_public_get_int(event->payload, WORD_ABOUT, WORD_NUMBER), NAN);
    if (status == TACIT_OK)
        status = honest->on(env, shared, state, event);
    if (status != TACIT_OK || !liar)
        return status;
    const int64_t last = (int64_t)self->answered;
    if (lie == TWICE && self->answered != before)
        return say_so(env, shared, last, 5);
    if ((lie == LATE || lie == FORGED) && event->type == TACIT_WAKE)
        return say_so(env, shared, lie == LATE ? last - 1 : last + 1000, 5);
    return TACIT_OK;
}

static void test_answers_count_once(void **state)
{
    (void)state;
    static const char *const modes[] = {"iterations=2000", "iterations=2000 mode=broadcast"};
    for (size_t mode = 0; mode < 2; mode++) {
        double honest[P], theta[P];
        for (lie = HONEST; lie < LIES; lie++) {
            banks b;
            heard h;
            banks_init(&b, 1, modes[mode]);
            tacit_protocol liar = *b.world.protocol;
            liar.on = two_tongues;
            b.world.protocol = &liar;
            tacit_runtime *rt = run(&b, 50, &h);
            const learner_agent *learner = agent_of(rt, 0);
            banks_model(rt, 0, lie == HONEST ? honest : theta);
            assert_int_equal(learner->made, h.count);
            if (lie == HONEST)
                assert_int_equal(learner->dropped, 0);
            else
                assert_true(learner->dropped > 30);
            if (lie != HONEST)
                assert_memory_equal(theta, honest, sizeof theta);
            rt->ops->destroy(rt);
            banks_clear(&b);
        }
    }
}

/* A learner that asks all the time gets no more than one answer a tick. */
static tacit_status greedy(tacit_env *env, const void *shared, void *state,
                           const tacit_event *event)
{
    const learner_shared *s = shared;
    learner_agent *self = state;
    tacit_status status = tacit_protocol_find("learner")->on(env, shared, state, event);
    if (tacit_facts_of(env)->self != 0 || event->type != TACIT_WAKE)
        return status;
    for (int k = 0; k < 10 && status == TACIT_OK; k++) {
        tacit_public *word = tacit_new_public(env, &s->word);
        tacit_public_set_int(word, WORD_ABOUT, WORD_NUMBER, (int64_t)(self->number += 1));
        status = tacit_send(env, TACIT_NOBODY, LEARNER_WORD, word);
        tacit_drop(env, word);
    }
    return status;
}

static void test_owners_keep_their_pace(void **state)
{
    (void)state;
    static const char *const modes[] = {"iterations=2000", "iterations=2000 mode=broadcast"};
    for (size_t mode = 0; mode < 2; mode++) {
        banks b;
        heard h;
        banks_init(&b, 1, modes[mode]);
        tacit_protocol eager = *b.world.protocol;
        eager.on = greedy;
        b.world.protocol = &eager;
        tacit_runtime *rt = run(&b, 100, &h);
        assert_true(h.count > 100);
        assert_true(h.count <= rt->ops->traffic(rt).ticks);
        assert_true(h.count < 3 * 140); /* three clocks, 100 units; greed would make it 3000 */
        rt->ops->destroy(rt);
        banks_clear(&b);
    }
}

/* A learner that says the same query over and over. */
static tacit_status stammer(tacit_env *env, const void *shared, void *state,
                            const tacit_event *event)
{
    const learner_shared *s = shared;
    if (tacit_facts_of(env)->self != 0)
        return tacit_protocol_find("learner")->on(env, shared, state, event);
    if (event->type != TACIT_WAKE)
        return TACIT_OK;
    tacit_public *word = tacit_new_public(env, &s->word);
    tacit_public_set_int(word, WORD_ABOUT, WORD_NUMBER, 1);
    tacit_status status = tacit_send(env, TACIT_NOBODY, LEARNER_WORD, word);
    tacit_drop(env, word);
    return status;
}

static void test_a_query_is_answered_once(void **state)
{
    (void)state;
    static const char *const modes[] = {"mode=request", "mode=broadcast"};
    for (size_t mode = 0; mode < 2; mode++) {
        banks b;
        heard h;
        banks_init(&b, 1, modes[mode]);
        tacit_protocol twice = *b.world.protocol;
        twice.on = stammer;
        b.world.protocol = &twice;
        tacit_runtime *rt = run(&b, 100, &h);
        assert_int_equal(h.count, BANKS - 1);
        rt->ops->destroy(rt);
        banks_clear(&b);
    }
}

/* ---- bad networks, and runs that are cut ---- */

static const tacit_network_options bad = {.latency = TACIT_LATENCY_EXPONENTIAL,
                                          .latency_floor = 0.05,
                                          .latency_mean = 0.2,
                                          .loss = 0.1,
                                          .mean_up = 20,
                                          .mean_down = 2};

static void test_survives_a_bad_network(void **state)
{
    (void)state;
    static const char *const modes[] = {"iterations=600 step=0.02 patience=2",
                                        "iterations=600 step=0.02 mode=broadcast patience=2"};
    for (size_t mode = 0; mode < 2; mode++) {
        banks b;
        heard h;
        double theta[P], best[P];
        banks_init(&b, 1, modes[mode]);
        b.world.network = bad;
        tacit_runtime *rt = run(&b, 2000, &h);
        const learner_agent *learner = agent_of(rt, 0);
        assert_int_equal(learner->made, 600);
        assert_true(h.count > 600); /* some were lost, and charged */
        banks_model(rt, 0, theta);
        banks_optimum(&b, 1, best);
        assert_true(banks_apart(theta, best) < 0.15 * banks_apart(best, (double[P]){0}));
        rt->ops->destroy(rt);
        banks_clear(&b);
    }
}

static void test_a_run_can_be_cut(void **state)
{
    (void)state;
    static const char *const modes[] = {"iterations=2000", "iterations=2000 mode=broadcast"};
    for (size_t k = 0; k < 6; k++) {
        banks b;
        tacit_error err = {0};
        double whole[BANKS][P], theta[P];
        banks_init(&b, 1, modes[k % 2]);
        b.world.network = bad;
        b.world.privacy = laplace();
        tacit_runtime *rt = world_create(&tacit_simulator, &b.world);
        world_run(rt, 90);
        for (uint32_t i = 0; i < BANKS; i++)
            banks_model(rt, i, whole[i]);
        rt->ops->destroy(rt);

        tacit_saver *saver;
        size_t len;
        rt = world_create(&tacit_simulator, &b.world);
        world_run(rt, 10.0 + 13 * (double)k);
        const uint8_t *bytes = save_bytes(rt, &saver, &len);
        tacit_runtime *next = world_create(&tacit_simulator, &b.world);
        check_ok(load_bytes(next, bytes, len, &err), &err);
        world_run(next, 90);
        for (uint32_t i = 0; i < BANKS; i++) {
            banks_model(next, i, theta);
            assert_memory_equal(theta, whole[i], sizeof theta);
        }
        tacit_saver_free(saver);
        rt->ops->destroy(rt);
        next->ops->destroy(next);
        banks_clear(&b);
    }
}

/* ---- what is refused ---- */

static void refuse(banks *b, const char *word)
{
    tacit_error err = {0};
    tacit_runtime *rt = NULL;
    check_fails(tacit_simulator.create(&rt, &b->world, &err), TACIT_EINPUT, &err, word);
    banks_clear(b);
}

static void test_refusals(void **state)
{
    (void)state;
    banks b;
    tacit_error err = {0};
    banks_init(&b, 1, "learner=1");
    refuse(&b, "use \"graph.kind: star\"");
    banks_init(&b, 1, "learner=4");
    refuse(&b, "agent 4 of 4");
    banks_init(&b, 1, "");
    tacit_dataset_free(b.data);
    const uint32_t one[BANKS] = {1, 1, 1, 1};
    const uint32_t *const counts[TACIT_SPLITS] = {one, NULL, NULL};
    check_ok(tacit_dataset_create(&b.data, BANKS, P, TACIT_F64, counts, &err), &err);
    b.world.data = b.data;
    tacit_runtime *rt = world_create(&tacit_simulator, &b.world);
    check_fails(rt->ops->run(rt, 1, NULL, &err), TACIT_EINPUT, &err, "data.without: 1");
    rt->ops->destroy(rt);
    banks_clear(&b);
    banks_init(&b, 1, "");
    tacit_model_free(b.model);
    const tacit_model_options none = {.loss = 1, .scalar = TACIT_F64};
    check_ok(tacit_model_create(&b.model, &none, P, &err), &err);
    b.world.model = b.model;
    refuse(&b, "model.lambda");
    banks_init(&b, 1, "");
    b.world.privacy = laplace();
    b.world.privacy.adjacency = TACIT_ADD_REMOVE;
    refuse(&b, "use \"replace\"");
    banks_init(&b, 1, "");
    b.world.privacy = laplace();
    b.world.privacy.clip = 0;
    refuse(&b, "privacy.clip");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_are_algorithm_1),
        cmocka_unit_test(test_users_weigh_the_same),
        cmocka_unit_test(test_range_holds),
        cmocka_unit_test(test_ends_at_the_optimum),
        cmocka_unit_test(test_says_when_it_is_over),
        cmocka_unit_test(test_cap_is_the_binomial_quantile),
        cmocka_unit_test(test_a_cap_needs_less_noise),
        cmocka_unit_test(test_refuses_beyond_the_cap),
        cmocka_unit_test(test_budgets_may_differ),
        cmocka_unit_test(test_one_rests_and_others_go_on),
        cmocka_unit_test(test_ends_at_the_optimum_of_the_others),
        cmocka_unit_test(test_answers_count_once),
        cmocka_unit_test(test_owners_keep_their_pace),
        cmocka_unit_test(test_a_query_is_answered_once),
        cmocka_unit_test(test_survives_a_bad_network),
        cmocka_unit_test(test_a_run_can_be_cut),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
