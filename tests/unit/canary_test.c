/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Audits of experiments: what is planted, that trainings differ in noise alone, that the score
 * sees the canary, and that a training with too little noise for its claim is caught.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/shard.h"
#include "experiment/audit.h"
#include "privacy/release.h"
#include "testing.h"

static const char small[] = "run: {name: small, time: 8}\n"
                            "data: {agents: 6, dimension: 4, min-records: 5, max-records: 9, "
                            "test-records: 0, bound: l2}\n"
                            "graph: {kind: complete}\n"
                            "protocol: {name: cd}\n"
                            "privacy: {mechanism: gaussian, clip: 0.25, noise: 4, epsilon: inf}\n";

static void open_experiment(tacit_experiment *x, const char *const *sets, size_t count)
{
    tacit_config config;
    tacit_error err = {0};
    tacit_config_init(&config);
    check_ok(tacit_config_parse(&config, "small.yaml", small, strlen(small), &err), &err);
    for (size_t k = 0; k < count; k++)
        check_ok(tacit_config_set(&config, sets[k], &err), &err);
    check_ok(tacit_experiment_init(x, &config, &err), &err);
    tacit_config_clear(&config);
}

typedef struct outcome {
    tacit_audit audit;
    tacit_audit_facts facts;
} outcome;

static tacit_status audit(outcome *out, const char *const *sets, size_t count, uint64_t trials,
                          uint32_t threads, tacit_canary canary, tacit_error *err)
{
    tacit_experiment x;
    open_experiment(&x, sets, count);
    const tacit_audit_plan plan = {.trials = trials, .confidence = 0.95, .threads = threads};
    tacit_status status = tacit_audit_experiment(&out->audit, &out->facts, &x, &canary, &plan, err);
    tacit_experiment_clear(&x);
    return status;
}

static const tacit_canary anybody = {.agent = TACIT_NOBODY, .kind = TACIT_CANARY_WORST};

/* ---- what is planted ---- */

/* How many rows of the two sets differ, and where. */
static size_t differing(const tacit_dataset *a, const tacit_dataset *b, uint32_t agent, size_t p)
{
    tacit_batch x, y;
    size_t cx = 0, cy = 0, count = 0;
    const bool some = tacit_shard_next(tacit_dataset_shard(a, agent, TACIT_TRAIN), &cx, &x);
    assert_true(tacit_shard_next(tacit_dataset_shard(b, agent, TACIT_TRAIN), &cy, &y) == some);
    for (size_t r = 0; some && r < (x.rows < y.rows ? x.rows : y.rows); r++)
        count += memcmp((const double *)x.x + r * p, (const double *)y.x + r * p,
                        p * sizeof(double)) != 0 ||
                 ((const double *)x.y)[r] != ((const double *)y.y)[r];
    return count;
}

static void one_record_of_one_agent_differs(void **state)
{
    (void)state;
    static const char *const plants[][2] = {
        {"privacy.unit=record", "privacy.adjacency=replace"},
        {"privacy.unit=user", "privacy.adjacency=replace"},
        {"privacy.unit=record", "privacy.adjacency=add-remove"}};
    for (int kind = 0; kind < 2; kind++)
        for (int k = 0; k < 3; k++) {
            const char *const sets[] = {plants[k][0], plants[k][1], "privacy.mechanism=none"};
            tacit_experiment x;
            tacit_session *s;
            tacit_error err = {0};
            tacit_canary_data d;
            open_experiment(&x, sets, 3);
            check_ok(tacit_session_create(&s, &x, 1, &err), &err);
            check_ok(tacit_canary_data_make(&d, s, 2, (tacit_canary_kind)kind, &err), &err);
            const size_t p = tacit_dataset_features(d.with);
            const size_t rows = tacit_dataset_rows(s->source.data, 2, TACIT_TRAIN);
            for (uint32_t i = 0; i < 6; i++)
                assert_int_equal(differing(d.with, d.without, i, p), i != 2   ? 0
                                                                     : k == 0 ? 1
                                                                     : k == 1 ? rows
                                                                              : 0);
            assert_int_equal(tacit_dataset_rows(d.with, 2, TACIT_TRAIN), rows + (k == 2));
            assert_int_equal(tacit_dataset_rows(d.without, 2, TACIT_TRAIN), rows);
            assert_int_equal(tacit_dataset_rows(d.rest, 0, TACIT_TRAIN), k == 0   ? rows - 1
                                                                         : k == 1 ? 0
                                                                                  : rows);
            double norm = 0;
            for (size_t j = 0; j < p; j++)
                norm += d.x[j] * d.x[j];
            assert_true(norm <= 1 + 1e-12 && norm > 0);
            tacit_canary_data_clear(&d);
            tacit_session_free(s);
            tacit_experiment_clear(&x);
        }
}

/* ---- whole audits ---- */

static void threads_do_not_matter(void **state)
{
    (void)state;
    outcome one, two;
    tacit_error err = {0};
    check_ok(audit(&one, NULL, 0, 12, 1, anybody, &err), &err);
    check_ok(audit(&two, NULL, 0, 12, 3, anybody, &err), &err);
    assert_memory_equal(one.audit.with, two.audit.with, 18 * sizeof(double));
    assert_memory_equal(one.audit.without, two.audit.without, 18 * sizeof(double));
    for (int k = 0; k < 17; k++)
        assert_true(one.audit.with[k] != one.audit.with[k + 1]);
    char *a = tacit_audit_json(&one.audit, &one.facts),
         *b = tacit_audit_json(&two.audit, &two.facts);
    assert_string_equal(a, b);
    assert_non_null(strstr(a, "\"schema\": \"tacit.audit/1\""));
    free(a);
    free(b);
    tacit_audit_clear(&one.audit);
    tacit_audit_clear(&two.audit);
}

/* A log-likelihood ratio has mean mu^2/2 with the canary and -mu^2/2 without, and variance mu^2:
 * the score is that of the claim, no more and no less. The canary is clipped in both worlds here,
 * so that its shift is the whole sensitivity, 2C: with R releases mu = 2 sqrt(R) / noise. Means of
 * 400 scores are off by five of their standard deviations with probability below 1e-6. */
static void scores_have_the_law_of_the_claim(void **state)
{
    (void)state;
    enum { TRIALS = 400 };
    outcome o;
    tacit_error err = {0};
    check_ok(audit(&o, NULL, 0, TRIALS, 2, anybody, &err), &err);
    assert_int_equal(o.facts.curve, TACIT_CURVE_GAUSSIAN);
    assert_true(o.facts.releases > 3);
    const double mu = 2 * sqrt((double)o.facts.releases) / 4;
    const double *const scores[] = {o.audit.without, o.audit.with};
    for (int with = 0; with < 2; with++) {
        double sum = 0, squares = 0;
        for (int k = 0; k < TRIALS; k++)
            sum += scores[with][k] / TRIALS;
        for (int k = 0; k < TRIALS; k++)
            squares += (scores[with][k] - sum) * (scores[with][k] - sum) / TRIALS;
        print_message("mean %.4f, deviation %.4f, mu %.4f\n", sum, sqrt(squares), mu);
        assert_true(fabs(sum - (with ? 1 : -1) * mu * mu / 2) < 5 * mu / sqrt(TRIALS));
        assert_true(fabs(sqrt(squares) - mu) < 5 * mu / sqrt(2 * TRIALS));
    }
    assert_true(tacit_audit_shown(&o.audit) < o.facts.claimed);
    assert_true(o.audit.trade_off.epsilon > 0.6 * o.facts.claimed);
    assert_false(tacit_audit_refutes(&o.audit, &o.facts));
    o.facts.claimed *= 0.4; /* as if there were twice the noise */
    assert_true(tacit_audit_refutes(&o.audit, &o.facts));
    char *page = tacit_audit_page(&o.audit, &o.facts);
    assert_non_null(strstr(page, "The claim does not hold"));
    assert_non_null(strstr(page, "<svg"));
    free(page);
    tacit_audit_clear(&o.audit);
}

static void laplace_lots_and_users_are_scored(void **state)
{
    (void)state;
    static const struct {
        const char *sets[5];
        tacit_audit_curve curve;
        double least; /* Clopper-Pearson bound with 150 trials */
    } worlds[] = {
        {{"privacy.mechanism=laplace", "privacy.noise=1", "run.time=8"}, TACIT_CURVE_NONE, 1},
        {{"privacy.sampling=0.5", "privacy.noise=0.5", "run.time=8"}, TACIT_CURVE_NONE, 1},
        {{"privacy.unit=user", "privacy.noise=0.5", "run.time=8", "protocol.full-confidence=1",
          "model.lambda=0.1"},
         TACIT_CURVE_GAUSSIAN,
         3},
    };
    for (size_t k = 0; k < sizeof worlds / sizeof *worlds; k++) {
        outcome o;
        tacit_error err = {0};
        size_t count = 0;
        while (count < 5 && worlds[k].sets[count])
            count++;
        check_ok(audit(&o, worlds[k].sets, count, 150, 2, anybody, &err), &err);
        print_message("%s: claimed %.4g, shown %.4g\n", worlds[k].sets[0], o.facts.claimed,
                      tacit_audit_shown(&o.audit));
        assert_int_equal(o.facts.curve, worlds[k].curve);
        assert_true(o.audit.clopper_pearson.epsilon >= worlds[k].least);
        assert_false(tacit_audit_refutes(&o.audit, &o.facts));
        tacit_audit_clear(&o.audit);
    }
}

/* Lots are drawn anew for each training: with hardly any noise the canary shows when it takes
 * part, about every other time in one release, and not always or never. Of 75 fair coins fewer
 * than 15 or more than 60 show heads with probability 1e-7. */
static void lots_are_drawn_anew(void **state)
{
    (void)state;
    const char *const sets[] = {"privacy.sampling=0.5", "privacy.noise=0.02", "run.time=0.8"};
    outcome o;
    tacit_error err = {0};
    check_ok(audit(&o, sets, 3, 50, 2, anybody, &err), &err);
    int shows = 0;
    for (int k = 0; k < 75; k++)
        shows += o.audit.with[k] > 0.5;
    print_message("%llu releases, shows in %d of 75\n", (unsigned long long)o.facts.releases,
                  shows);
    assert_int_equal(o.facts.releases, 1);
    assert_true(shows >= 15 && shows <= 60);
    tacit_audit_clear(&o.audit);
}

/* ---- sums over all agents ---- */

static const char *const sums[] = {"protocol.name=chorus", "protocol.finish=none",
                                   "protocol.rounds=1", "run.time=1"};
static const char *const more_sums[] = {
    "protocol.name=chorus",  "protocol.finish=none", "protocol.rounds=3", "run.time=3",
    "graph.kind=similarity", "graph.gamma=0.5",      "graph.cutoff=0"};
static const char *const learned_sums[] = {
    "protocol.name=chorus",    "protocol.finish=none",         "protocol.rounds=2",
    "protocol.kernel=learned", "protocol.kernel-neighbours=2", "run.time=3"};

/* The same law as above for what is seen of a sum: one record moves it by 2C, however many agents
 * are in it. In later rounds statistics are taken at priors made from earlier sums, others' too:
 * an adversary that forgot either would see a larger deviation than the claim has. With a learned
 * kernel the agent's own word counts as one more release, and columns are made of what was seen of
 * all words. Means of 400 scores are off by five of their standard deviations with probability
 * below 1e-6, each. */
static void scores_of_sums_have_the_law_of_the_claim(void **state)
{
    (void)state;
    enum { TRIALS = 400 };
    static const struct {
        const char *const *sets;
        size_t count;
        int releases;
    } worlds[] = {{sums, 4, 1}, {more_sums, 7, 3}, {learned_sums, 6, 3}};
    for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++) {
        outcome o;
        tacit_error err = {0};
        check_ok(audit(&o, worlds[w].sets, worlds[w].count, TRIALS, 2, anybody, &err), &err);
        assert_int_equal(o.facts.curve, TACIT_CURVE_GAUSSIAN);
        assert_int_equal(o.facts.releases, worlds[w].releases);
        assert_int_equal(o.facts.trust, TACIT_TRUST_SECURE);
        const double mu = 2 * sqrt(worlds[w].releases) / 4;
        const double *const scores[] = {o.audit.without, o.audit.with};
        for (int with = 0; with < 2; with++) {
            double sum = 0, squares = 0;
            for (int k = 0; k < TRIALS; k++)
                sum += scores[with][k] / TRIALS;
            for (int k = 0; k < TRIALS; k++)
                squares += (scores[with][k] - sum) * (scores[with][k] - sum) / TRIALS;
            print_message("%d releases: mean %.4f, deviation %.4f, mu %.4f\n", worlds[w].releases,
                          sum, sqrt(squares), mu);
            assert_true(fabs(sum - (with ? 1 : -1) * mu * mu / 2) < 5 * mu / sqrt(TRIALS));
            assert_true(fabs(sqrt(squares) - mu) < 5 * mu / sqrt(2 * TRIALS));
        }
        assert_false(tacit_audit_refutes(&o.audit, &o.facts));
        tacit_audit_clear(&o.audit);
    }
}

/* Without noise the adversary knows the sum of every round to its last bits: everybody's column,
 * records and prior are those of the run. */
typedef struct listener {
    tacit_canary_score score;
    int rounds;
    double furthest, apart;
} listener;

static void compare_sum(void *ctx, tacit_agent agent, const tacit_cost *cost,
                        const tacit_public *released)
{
    listener *l = ctx;
    tacit_canary_watch(&l->score, agent, cost, released);
    assert_int_equal(agent, TACIT_NOBODY);
    assert_int_equal(l->score.status, TACIT_OK);
    for (size_t k = 0; k < l->score.sum_count; k++) {
        l->furthest = fmax(l->furthest, fabs(l->score.sums[2][k] - l->score.sums[0][k]));
        l->apart = fmax(l->apart, fabs(l->score.sums[1][k] - l->score.sums[0][k]));
    }
    l->rounds++;
}

static void what_is_expected_is_what_is_summed(void **state)
{
    (void)state;
    tacit_experiment x;
    tacit_session *s;
    tacit_error err = {0};
    tacit_canary_data d;
    listener l = {.rounds = 0};
    const char *sets[9];
    memcpy(sets, more_sums, sizeof more_sums);
    sets[7] = "privacy.mechanism=none";
    sets[8] = "privacy.noise=0";
    open_experiment(&x, sets, 9);
    check_ok(tacit_session_create(&s, &x, 1, &err), &err);
    check_ok(tacit_canary_data_make(&d, s, 2, TACIT_CANARY_WORST, &err), &err);
    check_ok(tacit_canary_score_init(&l.score, s, &d, 2, &err), &err);
    tacit_world world = s->world;
    world.data = d.with;
    tacit_runtime *rt;
    check_ok(tacit_simulator.create(&rt, &world, &err), &err);
    l.score.runtime = rt;
    l.score.error = &err;
    tacit_trace *trace = tacit_trace_create();
    tacit_trace_watch(trace, compare_sum, &l);
    rt->trace = trace;
    check_ok(rt->ops->run(rt, x.run.time, NULL, &err), &err);
    rt->trace = NULL;
    print_message("furthest %.2g, worlds apart by %.2g\n", l.furthest, l.apart);
    assert_int_equal(l.rounds, 3);
    assert_true(l.furthest < 1e-7 && l.apart > 0.05);
    tacit_trace_free(trace);
    rt->ops->destroy(rt);
    tacit_canary_score_clear(&l.score);
    tacit_canary_data_clear(&d);
    tacit_session_free(s);
    tacit_experiment_clear(&x);
}

/* A chorus whose sums get half the noise that was paid for: everything is as claimed but for what
 * draws it. */
static const tacit_protocol *whole_chorus;
static tacit_noise *half_noise;

static tacit_status half_give(void *ctx, tacit_address at, uint64_t round, double closes,
                              tacit_permit *permit, tacit_bounded *bounded,
                              const tacit_public *beside);

static _Thread_local tacit_env_ops half_ops;
static _Thread_local const tacit_env_ops *whole_ops;

static tacit_status half_on(tacit_env *env, const void *shared, void *self,
                            const tacit_event *event)
{
    whole_ops = env->ops;
    half_ops = *env->ops;
    half_ops.give = half_give;
    tacit_env broken = *env;
    broken.ops = &half_ops;
    return whole_chorus->on(&broken, shared, self, event);
}

static tacit_status half_give(void *ctx, tacit_address at, uint64_t round, double closes,
                              tacit_permit *permit, tacit_bounded *bounded,
                              const tacit_public *beside)
{
    if (!half_noise) {
        const double steps = permit->cost.noise / tacit_cost_step(&permit->cost) / 2;
        const tacit_ratio variance = {(uint64_t)(steps * steps), 1};
        tacit_error err = {0};
        check_ok(tacit_noise_gaussian(&half_noise, variance, &err), &err);
    }
    permit->noise = half_noise;
    return whole_ops->give(ctx, at, round, closes, permit, bounded, beside);
}

static void half_the_noise_of_a_sum_is_caught(void **state)
{
    (void)state;
    const tacit_audit_plan plan = {.trials = 400, .confidence = 0.95, .threads = 1};
    tacit_experiment x;
    tacit_error err = {0};
    outcome o[2];
    open_experiment(&x, sums, 4);
    whole_chorus = x.protocol;
    tacit_protocol broken = *whole_chorus;
    broken.on = half_on;
    for (int half = 0; half < 2; half++) {
        x.protocol = half ? &broken : whole_chorus;
        check_ok(tacit_audit_experiment(&o[half].audit, &o[half].facts, &x, &anybody, &plan, &err),
                 &err);
        print_message("claimed %.3f, shown %.3f\n", o[half].facts.claimed,
                      tacit_audit_shown(&o[half].audit));
        assert_int_equal(tacit_audit_refutes(&o[half].audit, &o[half].facts), half);
    }
    assert_true(o[0].facts.claimed == o[1].facts.claimed);
    for (int half = 0; half < 2; half++)
        tacit_audit_clear(&o[half].audit);
    tacit_noise_free(half_noise);
    half_noise = NULL;
    x.protocol = whole_chorus;
    tacit_experiment_clear(&x);
}

/* ---- any other protocol: ghosts of the agent ---- */

/* The same protocol with a tenth of the noise it pays for: permits draw from another law, ledgers
 * say what they said. */
static const tacit_protocol *whole;
static tacit_noise *tenth_noise;
static _Thread_local tacit_env_ops tenth_ops;

static tacit_status tenth_reserve(void *ctx, const tacit_cost *cost, tacit_permit **permit)
{
    const tacit_status status = whole_ops->reserve(ctx, cost, permit);
    if (status != TACIT_OK)
        return status;
    if (!tenth_noise) {
        const double steps = cost->noise / tacit_cost_step(cost) / 10;
        tacit_error err = {0};
        check_ok(
            tacit_noise_gaussian(&tenth_noise, (tacit_ratio){(uint64_t)(steps * steps), 1}, &err),
            &err);
    }
    (*permit)->noise = tenth_noise;
    return TACIT_OK;
}

static tacit_status tenth_on(tacit_env *env, const void *shared, void *self,
                             const tacit_event *event)
{
    whole_ops = env->ops;
    tenth_ops = *env->ops;
    tenth_ops.reserve = tenth_reserve;
    tacit_env broken = *env;
    broken.ops = &tenth_ops;
    return whole->on(&broken, shared, self, event);
}

static const struct {
    const char *sets[10];
    bool curve; /* there is a likelihood, and a trade-off with it */
} others[] = {
    {{"protocol.name=perturbed", "run.time=2"}, true},
    {{"protocol.name=model-propagation", "run.time=2"}, true},
    {{"protocol.name=model-propagation", "run.time=2", "protocol.perturbation=objective"}, false},
    {{"protocol.name=diffusion", "run.time=3", "privacy.noise=0", "protocol.noise=independent",
      "protocol.sigma=0.2", "protocol.step=0.5", "protocol.radius=1", "protocol.reach=3",
      "protocol.iterations=3"},
     true},
    {{"protocol.name=diffusion", "run.time=3", "privacy.noise=0", "protocol.noise=homomorphic",
      "protocol.sigma=0.2", "protocol.step=0.5", "protocol.radius=1", "protocol.reach=3",
      "protocol.iterations=3"},
     true},
};

/* A sound build stays below its claim (it is accused with a probability of at most 5 %, and seeds
 * are fixed), one with a tenth of the noise does not. */
static void other_protocols_are_audited(void **state)
{
    (void)state;
    const tacit_audit_plan plan = {.trials = 300, .confidence = 0.95, .threads = 1};
    for (size_t w = 0; w < sizeof others / sizeof *others; w++) {
        tacit_experiment x;
        tacit_error err = {0};
        size_t count = 0;
        double claimed = 0;
        while (count < 10 && others[w].sets[count])
            count++;
        open_experiment(&x, others[w].sets, count);
        whole = x.protocol;
        tacit_protocol broken = *whole;
        broken.on = tenth_on;
        for (int tenth = 0; tenth < 2; tenth++) {
            outcome o;
            x.protocol = tenth ? &broken : whole;
            check_ok(tacit_audit_experiment(&o.audit, &o.facts, &x, &anybody, &plan, &err), &err);
            print_message("%s%s: claimed %.3f, shown %.3f\n", others[w].sets[0],
                          tenth ? ", a tenth of the noise" : "", o.facts.claimed,
                          tacit_audit_shown(&o.audit));
            assert_int_equal(o.facts.curve,
                             others[w].curve ? TACIT_CURVE_GAUSSIAN : TACIT_CURVE_NONE);
            assert_true(isfinite(o.facts.claimed) && (!tenth || o.facts.claimed == claimed));
            assert_int_equal(tacit_audit_refutes(&o.audit, &o.facts), tenth);
            claimed = o.facts.claimed;
            tacit_audit_clear(&o.audit);
        }
        tacit_noise_free(tenth_noise);
        tenth_noise = NULL;
        x.protocol = whole;
        tacit_experiment_clear(&x);
    }
}

/* Ghosts follow the agent to the last bit: without lots, cd's scores are those that its kernels
 * give, but for rounding. */
static void ghosts_agree_with_kernels(void **state)
{
    (void)state;
    tacit_experiment x;
    tacit_session *s;
    tacit_error err = {0};
    tacit_canary_data d;
    tacit_canary_score score;
    tacit_ghosts *ghosts;
    tacit_runtime *rt;
    double sum;
    uint64_t scored;
    open_experiment(&x, NULL, 0);
    check_ok(tacit_session_create(&s, &x, 1, &err), &err);
    check_ok(tacit_canary_data_make(&d, s, 2, TACIT_CANARY_WORST, &err), &err);
    check_ok(tacit_canary_score_init(&score, s, &d, 2, &err), &err);
    for (int with = 0; with < 2; with++) {
        tacit_world world = s->world;
        world.data = with ? d.with : d.without;
        check_ok(tacit_ghosts_begin(&ghosts, &world, &d, 2, &err), &err);
        check_ok(tacit_simulator.create(&rt, &world, &err), &err);
        score.runtime = rt;
        score.error = &err;
        score.sum = 0;
        score.releases = 0;
        tacit_trace *trace = tacit_trace_create();
        tacit_trace_watch(trace, tacit_canary_watch, &score);
        rt->trace = trace;
        check_ok(rt->ops->run(rt, x.run.time, NULL, &err), &err);
        rt->trace = NULL;
        check_ok(tacit_ghosts_score(ghosts, &sum, &scored), &err);
        assert_true(scored == score.releases && scored > 3);
        assert_true(fabs(sum - score.sum) < 1e-9 * (1 + fabs(sum)) && sum != 0);
        tacit_trace_free(trace);
        rt->ops->destroy(rt);
        tacit_ghosts_end(ghosts);
    }
    tacit_canary_score_clear(&score);
    tacit_canary_data_clear(&d);
    tacit_session_free(s);
    tacit_experiment_clear(&x);
}

static void what_cannot_be_audited_is_refused(void **state)
{
    (void)state;
    outcome o;
    tacit_error err = {0};
    const char *const silent[] = {"protocol.name=alone", "privacy.mechanism=none",
                                  "privacy.noise=0"};
    check_fails(audit(&o, silent, 3, 10, 1, anybody, &err), TACIT_EINPUT, &err, "never speaks");
    check_fails(audit(&o, NULL, 0, 0, 1, anybody, &err), TACIT_EINPUT, &err, "at least one trial");
    check_fails(audit(&o, NULL, 0, 10, 1, (tacit_canary){.agent = 6}, &err), TACIT_EINPUT, &err,
                "no agent \"6\"");
    const char *const short_run[] = {"run.time=0.001"};
    check_fails(audit(&o, short_run, 1, 10, 1, anybody, &err), TACIT_EINPUT, &err,
                "nothing to audit");
    const char *const late[] = {"protocol.name=chorus", "network.latency=constant",
                                "network.latency-floor=0.1"};
    check_fails(audit(&o, late, 3, 10, 1, anybody, &err), TACIT_EINPUT, &err,
                "everybody gives to each of them");
    const char *const masks[] = {"protocol.name=chorus", "protocol.sum=masks"};
    check_fails(audit(&o, masks, 2, 10, 1, anybody, &err), TACIT_EINPUT, &err,
                "does not follow sums under masks");
    const char *const hidden[] = {"protocol.name=diffusion", "protocol.noise=local-homomorphic",
                                  "protocol.sigma=1",        "privacy.noise=0",
                                  "protocol.least=3",        "protocol.iterations=2"};
    check_fails(audit(&o, hidden, 6, 10, 1, anybody, &err), TACIT_EINPUT, &err,
                "does not follow sums under masks");
    /* Without noise nothing is claimed: answered before any training, whatever the protocol. */
    static const char *const bare[] = {
        "cd", "model-propagation", "perturbed", "diffusion", "admm", "global", "chorus"};
    for (size_t k = 0; k < sizeof bare / sizeof *bare; k++) {
        char name[60];
        snprintf(name, sizeof name, "protocol.name=%s", bare[k]);
        const char *const none[] = {name, "privacy.mechanism=none", "privacy.noise=0",
                                    "run.time=1000000"};
        check_fails(audit(&o, none, 4, 10, 1, anybody, &err), TACIT_EINPUT, &err,
                    "there is no claim to audit");
    }
    const char *const admm[] = {"protocol.name=admm"};
    check_fails(audit(&o, admm, 1, 10, 1, anybody, &err), TACIT_EINPUT, &err,
                "so no noise covers it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_record_of_one_agent_differs),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(scores_have_the_law_of_the_claim),
        cmocka_unit_test(laplace_lots_and_users_are_scored),
        cmocka_unit_test(lots_are_drawn_anew),
        cmocka_unit_test(scores_of_sums_have_the_law_of_the_claim),
        cmocka_unit_test(what_is_expected_is_what_is_summed),
        cmocka_unit_test(half_the_noise_of_a_sum_is_caught),
        cmocka_unit_test(other_protocols_are_audited),
        cmocka_unit_test(ghosts_agree_with_kernels),
        cmocka_unit_test(what_cannot_be_audited_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
