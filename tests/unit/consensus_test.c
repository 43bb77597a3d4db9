/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dsgd, dsgt, dinno and dp-sgd against paper 004's algorithms as plain loops over plain arrays; the
 * invariant of gradient tracking with noise; averaging after adapting on a complete graph as
 * central DP-SGD; cut and resumed, one thread and two; what is refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector_internal.h"
#include "data/shard.h"
#include "protocol/consensus.h"
#include "runtime/sim/sim.h"
#include "testing.h"

enum { AGENTS = 6, RECORDS = 20, FEATURES = 4, MOST = 200 };
#define LAMBDA 0.01

typedef struct scene {
    tacit_config config;
    tacit_experiment experiment;
    tacit_session *session;
    tacit_runtime *rt;
} scene;

static tacit_status try_open(scene *s, const char *yaml, uint32_t threads, tacit_error *err)
{
    memset(s, 0, sizeof *s);
    tacit_config_init(&s->config);
    tacit_status status = tacit_config_parse(&s->config, "test", yaml, strlen(yaml), err);
    if (status == TACIT_OK)
        status = tacit_experiment_init(&s->experiment, &s->config, err);
    if (status == TACIT_OK)
        status = tacit_session_create(&s->session, &s->experiment, threads, err);
    s->rt = status == TACIT_OK ? tacit_session_runtime(s->session) : NULL;
    return status;
}

static void open_scene(scene *s, const char *yaml, uint32_t threads)
{
    tacit_error err = {0};
    check_ok(try_open(s, yaml, threads, &err), &err);
}

static void close_scene(scene *s)
{
    tacit_session_free(s->session);
    tacit_experiment_clear(&s->experiment);
    tacit_config_clear(&s->config);
}

static void run_to(scene *s, double time)
{
    tacit_error err = {0};
    check_ok(s->rt->ops->run(s->rt, time, NULL, &err), &err);
}

static double model_at(const scene *s, uint32_t agent, size_t k)
{
    return tacit_vector_get(tacit_vector_of_secret(s->rt->ops->agent_model(s->rt, agent)), 0, k);
}

/* The little regression task, and `protocol` in it. */
static const char *task(const char *graph, const char *protocol, const char *more)
{
    static char yaml[2000];
    snprintf(yaml, sizeof yaml,
             "run: {seed: 5, time: 1e6, every: 0}\n"
             "data: {source: regression, agents: %d, dimension: %d, min-records: %d, "
             "max-records: %d, test-records: 0, validation-records: 0}\n"
             "graph: {%s}\nmodel: {loss: squared, lambda: %g, scalar: f64}\n"
             "protocol: {%s}\n%s",
             AGENTS, FEATURES, RECORDS, RECORDS, graph, LAMBDA, protocol, more);
    return yaml;
}

/* ---- the same as plain loops ---- */

typedef double vec[FEATURES];
typedef struct plain {
    double x[AGENTS][RECORDS][FEATURES], y[AGENTS][RECORDS];
    double w[AGENTS][AGENTS]; /* mixing */
    bool knows[AGENTS][AGENTS];
    vec theta[AGENTS], dual[AGENTS], gradient[AGENTS], first[AGENTS], second[AGENTS];
    int adam;
    double momentum; /* of adam: its beta 1 */
    bool weighted;   /* dinno: rho times w */
} plain;

static void copy_task(plain *p, const scene *s)
{
    const tacit_dataset *data = tacit_session_data(s->session);
    const tacit_graph *g = tacit_session_graph(s->session);
    memset(p, 0, sizeof *p);
    for (uint32_t i = 0; i < AGENTS; i++) {
        size_t cursor = 0;
        tacit_batch batch;
        assert_true(tacit_shard_next(tacit_dataset_shard(data, i, TACIT_TRAIN), &cursor, &batch));
        assert_int_equal(batch.rows, RECORDS);
        memcpy(p->x[i], batch.x, sizeof p->x[i]);
        memcpy(p->y[i], batch.y, sizeof p->y[i]);
        double own = 1;
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            const uint32_t j = g->neighbour[e];
            const double mine = (double)(g->row[i + 1] - g->row[i]);
            const double theirs = (double)(g->row[j + 1] - g->row[j]);
            p->knows[i][j] = true;
            p->w[i][j] = 1 / (1 + fmax(mine, theirs));
            own -= p->w[i][j];
        }
        p->w[i][i] = own;
    }
}

static void slope(const plain *p, int i, const double *theta, double *out)
{
    for (int k = 0; k < FEATURES; k++)
        out[k] = 2 * LAMBDA * theta[k];
    for (int r = 0; r < RECORDS; r++) {
        double z = -p->y[i][r];
        for (int k = 0; k < FEATURES; k++)
            z += theta[k] * p->x[i][r][k];
        for (int k = 0; k < FEATURES; k++)
            out[k] += 2 * z * p->x[i][r][k] / RECORDS;
    }
}

/* sum_j w_ij v_j */
static double mixed(const plain *p, vec *v, int i, int k)
{
    double sum = 0;
    for (int j = 0; j < AGENTS; j++)
        sum += p->w[i][j] * v[j][k];
    return sum;
}

static void plain_dsgd(plain *p, double eta, bool adapt_first, double momentum)
{
    vec next[AGENTS];
    for (int i = 0; i < AGENTS; i++) {
        vec g;
        slope(p, i, p->theta[i], g);
        for (int k = 0; k < FEATURES; k++)
            p->gradient[i][k] = momentum * p->gradient[i][k] + g[k];
        for (int k = 0; adapt_first && k < FEATURES; k++)
            p->theta[i][k] -= eta * p->gradient[i][k];
    }
    for (int i = 0; i < AGENTS; i++)
        for (int k = 0; k < FEATURES; k++)
            next[i][k] = mixed(p, p->theta, i, k) - (adapt_first ? 0 : eta * p->gradient[i][k]);
    memcpy(p->theta, next, sizeof next);
}

static void plain_dsgt(plain *p, double eta, bool first)
{
    vec next[AGENTS], dual[AGENTS];
    for (int i = 0; i < AGENTS && first; i++) {
        slope(p, i, p->theta[i], p->gradient[i]);
        memcpy(p->dual[i], p->gradient[i], sizeof(vec));
    }
    for (int i = 0; i < AGENTS; i++)
        for (int k = 0; k < FEATURES; k++)
            next[i][k] = mixed(p, p->theta, i, k) - eta * mixed(p, p->dual, i, k);
    for (int i = 0; i < AGENTS; i++) {
        vec g;
        slope(p, i, next[i], g);
        for (int k = 0; k < FEATURES; k++) {
            dual[i][k] = mixed(p, p->dual, i, k) + g[k] - p->gradient[i][k];
            p->gradient[i][k] = g[k];
        }
    }
    memcpy(p->theta, next, sizeof next);
    memcpy(p->dual, dual, sizeof dual);
}

static void plain_adam(plain *p, int i, int step, double eta, const double *g)
{
    const double beta = p->momentum;
    for (int k = 0; k < FEATURES; k++) {
        p->first[i][k] = beta * p->first[i][k] + (1 - beta) * g[k];
        p->second[i][k] = 0.999 * p->second[i][k] + 0.001 * g[k] * g[k];
        const double m = p->first[i][k] / (1 - pow(beta, step));
        const double v = p->second[i][k] / (1 - pow(0.999, step));
        p->theta[i][k] -= eta * m / (sqrt(v) + 1e-8);
    }
}

/* What holds two agents together. */
static double edge(const plain *p, double rho, int i, int j)
{
    return !p->knows[i][j] ? 0 : p->weighted ? rho * p->w[i][j] : rho;
}

static void plain_dinno(plain *p, double eta, double rho, int primal, bool adam)
{
    vec old[AGENTS];
    memcpy(old, p->theta, sizeof old);
    for (int i = 0; i < AGENTS; i++) {
        for (int j = 0; j < AGENTS; j++)
            for (int k = 0; k < FEATURES; k++)
                p->dual[i][k] += edge(p, rho, i, j) * (old[i][k] - old[j][k]);
        for (int t = 0; t < primal; t++) {
            vec g;
            slope(p, i, p->theta[i], g);
            for (int k = 0; k < FEATURES; k++) {
                g[k] += p->dual[i][k];
                for (int j = 0; j < AGENTS; j++)
                    g[k] += 2 * edge(p, rho, i, j) * (p->theta[i][k] - (old[i][k] + old[j][k]) / 2);
            }
            if (adam)
                plain_adam(p, i, p->adam + t + 1, eta, g);
            for (int k = 0; k < FEATURES && !adam; k++)
                p->theta[i][k] -= eta * g[k];
        }
    }
    p->adam += primal;
}

static double apart(const scene *s, const plain *p)
{
    double most = 0;
    for (uint32_t i = 0; i < AGENTS; i++)
        for (size_t k = 0; k < FEATURES; k++)
            most = fmax(most, fabs(model_at(s, i, k) - p->theta[i][k]));
    return most;
}

static void test_they_are_the_papers_algorithms(void **state)
{
    (void)state;
    static const struct {
        const char *protocol;
        double eta, more;
        int which;
    } all[] = {
        {"name: dsgd, step: 0.1", 0.1, 0, 0},
        {"name: dsgd, step: 0.1, order: adapt-first", 0.1, 0, 1},
        {"name: dsgd, step: 0.05, momentum: 0.5", 0.05, 0.5, 0},
        {"name: dsgt, step: 0.05", 0.05, 0, 2},
        {"name: dinno, step: 0.05, rho: 0.3, primal: 2, steps: plain", 0.05, 0.3, 3},
        {"name: dinno, step: 0.01, rho: 0.2, primal: 2", 0.01, 0.2, 4},
        {"name: dinno, step: 0.01, rho: 0.2, primal: 2, momentum: 0.9", 0.01, 0.2, 5},
        {"name: dinno, step: 0.01, rho: 0.7, primal: 2, coupling: weighted", 0.01, 0.7, 6},
        {"name: dinno, step: 0.01, rho: 0.2, rho-last: 2, primal: 2", 0.01, 0.2, 7},
    };
    for (size_t c = 0; c < sizeof all / sizeof *all; c++) {
        scene s;
        plain p;
        char protocol[200];
        snprintf(protocol, sizeof protocol, "%s, iterations: 60", all[c].protocol);
        open_scene(&s, task("kind: k-out, k: 2", protocol, ""), 1);
        copy_task(&p, &s);
        p.momentum = all[c].which == 5 ? 0.9 : 0;
        p.weighted = all[c].which == 6;
        for (int k = 0; k < 50; k++) {
            const double grown = all[c].which == 7 ? pow(10, k / 59.0) : 1;
            if (all[c].which <= 1)
                plain_dsgd(&p, all[c].eta, all[c].which == 1, all[c].more);
            else if (all[c].which == 2)
                plain_dsgt(&p, all[c].eta, k == 0);
            else
                plain_dinno(&p, all[c].eta, all[c].more * grown, 2, all[c].which >= 4);
            run_to(&s, k + 1.5);
            const double d = apart(&s, &p);
            if (!(d < 1e-10))
                fail_msg("%s: %g apart after iteration %d", all[c].protocol, d, k + 1);
        }
        assert_true(fabs(p.theta[0][0]) > 0.01); /* it has moved */
        close_scene(&s);
    }
}

/* How far two agents' models are apart, the largest difference of a number. */
static double spread(const scene *s)
{
    double most = 0;
    for (uint32_t i = 1; i < AGENTS; i++)
        for (size_t k = 0; k < FEATURES; k++)
            most = fmax(most, fabs(model_at(s, i, k) - model_at(s, 0, k)));
    return most;
}

static double spread_with(const char *momentum)
{
    scene s;
    char protocol[200];
    snprintf(protocol, sizeof protocol,
             "name: dinno, step: 0.002, rho: 1, iterations: 400, momentum: %s", momentum);
    open_scene(&s, task("kind: complete", protocol, ""), 1);
    run_to(&s, 401);
    const double found = spread(&s);
    close_scene(&s);
    return found;
}

/* The criterion of docs/protocols/consensus.md: with one primal step, momentum of 1/2 or more
 * drives agents apart. */
static void test_momentum_drives_dinno_apart(void **state)
{
    (void)state;
    const double without = spread_with("0"), little = spread_with("0.3"), much = spread_with("0.9");
    assert_true(without < 0.02 && little < 0.02);
    assert_true(much > 5 * fmax(without, little));
}

static void test_rates_follow_their_schedules(void **state)
{
    (void)state;
    consensus_shared s = {.options = {.iterations = 11, .step = 1, .step_last = 0.01}};
    assert_true(consensus_rate(&s, 7) == 1);
    static const struct {
        int schedule;
        double middle;
    } all[] = {{RATE_LINEAR, 0.505}, {RATE_COSINE, 0.505}, {RATE_EXPONENTIAL, 0.1}};
    for (size_t k = 0; k < 3; k++) {
        s.options.schedule = all[k].schedule;
        assert_float_equal(consensus_rate(&s, 1), 1, 1e-12);
        assert_float_equal(consensus_rate(&s, 6), all[k].middle, 1e-12);
        assert_float_equal(consensus_rate(&s, 11), 0.01, 1e-12);
    }
    s.options.step_last = 0; /* a tenth */
    assert_float_equal(consensus_rate(&s, 11), 0.1, 1e-12);
}

/* The mean with decay d after k models is sum d^(k-i) theta_i / sum d^(k-i). */
static void test_means_of_models(void **state)
{
    (void)state;
    scene s, mean;
    open_scene(&s, task("kind: ring", "name: dsgd, step: 0.1, iterations: 30", ""), 1);
    char yaml[2000];
    snprintf(yaml, sizeof yaml, "%s",
             task("kind: ring", "name: dsgd, step: 0.1, iterations: 30, average: 0.8", ""));
    open_scene(&mean, yaml, 1);
    double sum = 0, weight = 0;
    for (int k = 1; k <= 20; k++) {
        run_to(&s, k + 0.5);
        sum = 0.8 * sum + model_at(&s, 2, 1);
        weight = 0.8 * weight + 1;
    }
    run_to(&mean, 20.5);
    assert_float_equal(model_at(&mean, 2, 1), sum / weight, 1e-12);
    close_scene(&s);
    close_scene(&mean);
}

/* ---- gradient tracking ---- */

static const double *held(const scene *s, uint32_t agent, enum consensus_vector which)
{
    const consensus_agent *a = sim_state((const sim *)s->rt, agent);
    return tacit_vector_segment(tacit_vector_of_public(a->vector[which]), 0);
}

/* sum_i y_i = sum_i G_i in every round: noise included, since it is the same vector. */
static void test_tracking_keeps_its_sum(void **state)
{
    (void)state;
    static const char *const privacy[] = {
        "", "privacy: {mechanism: gaussian, clip: 1, noise: 3}\n",
        "privacy: {mechanism: gaussian, clip: 1, noise: 3, epsilon: 2}\n"}; /* ends in the middle */
    for (size_t c = 0; c < 3; c++) {
        scene s;
        open_scene(
            &s,
            task("kind: k-out, k: 2", "name: dsgt, step: 0.05, iterations: 60, lot: 8", privacy[c]),
            1);
        for (int round = 1; round < 60; round++) {
            run_to(&s, round + 0.5);
            for (size_t k = 0; k < FEATURES; k++) {
                double y = 0, g = 0, size = 0;
                for (uint32_t i = 0; i < AGENTS; i++) {
                    y += held(&s, i, DUAL)[k];
                    g += held(&s, i, GRADIENT)[k];
                    size += fabs(held(&s, i, GRADIENT)[k]) + fabs(held(&s, i, DUAL)[k]);
                }
                if (!(fabs(y - g) <= 1e-12 * size))
                    fail_msg("round %d: sum of y %g, of gradients %g", round, y, g);
            }
        }
        if (c == 2)
            assert_true(s.rt->ops->traffic(s.rt).refused > 0);
        close_scene(&s);
    }
}

/* ---- as a curator would ---- */

static void test_adapting_first_is_central_where_all_know_all(void **state)
{
    (void)state;
    scene all, one;
    open_scene(&all,
               task("kind: complete",
                    "name: dsgd, step: 0.2, iterations: 40, "
                    "order: adapt-first",
                    ""),
               1);
    open_scene(&one, task("kind: complete", "name: dp-sgd, step: 0.2, iterations: 40", ""), 1);
    for (int round = 1; round <= 30; round++) {
        run_to(&all, round + 0.5);
        run_to(&one, round + 0.5);
        for (uint32_t i = 0; i < AGENTS; i++)
            for (size_t k = 0; k < FEATURES; k++)
                assert_float_equal(model_at(&all, i, k), model_at(&one, 0, k), 1e-12);
    }
    assert_true(model_at(&one, AGENTS - 1, 0) == model_at(&one, 0, 0)); /* all hold it */
    close_scene(&all);
    close_scene(&one);
}

/* Variance of one noisy step over 2,000 coordinates of a model that begins at zero. */
static double step_variance(const char *protocol, const char *privacy)
{
    enum { WIDE = 2000 };
    char yaml[1500];
    double bare[WIDE], sum = 0;
    for (int noisy = 0; noisy < 2; noisy++) {
        scene s;
        snprintf(yaml, sizeof yaml,
                 "run: {seed: 9, time: 1e6, every: 0}\n"
                 "data: {source: regression, agents: 5, dimension: %d, min-records: 10, "
                 "max-records: 10, test-records: 0, validation-records: 0}\n"
                 "graph: {kind: complete}\nmodel: {loss: squared, lambda: 1e-9, scalar: f64}\n"
                 "protocol: {%s, iterations: 2, step: 1}\n"
                 "privacy: {clip: 1, %s}\n",
                 WIDE, protocol, noisy ? privacy : "mechanism: none");
        open_scene(&s, yaml, 1);
        run_to(&s, 1.5);
        for (size_t k = 0; k < WIDE; k++) {
            const double v = model_at(&s, 0, k);
            if (!noisy)
                bare[k] = v;
            else
                sum += (v - bare[k]) * (v - bare[k]);
        }
        close_scene(&s);
    }
    return sum / WIDE;
}

/* n agents with noise sigma C, each over L, average to noise sigma C / (sqrt(n) L): a curator's
 * with lot n L and noise sqrt(n) sigma. False alarm below 1e-6: five deviations of a chi square. */
static void test_noise_is_that_of_a_curator(void **state)
{
    (void)state;
    const double expected = 2.0 * 2.0 / (5 * 10 * 10), room = 5 * sqrt(2.0 / 2000);
    const double many =
        step_variance("name: dsgd, order: adapt-first", "mechanism: gaussian, noise: 2");
    const double one =
        step_variance("name: dp-sgd", "mechanism: gaussian, noise: 4.47213595499958");
    assert_true(fabs(many / expected - 1) < room);
    assert_true(fabs(one / expected - 1) < room);
}

/* ---- lots, ledgers, cut and resumed ---- */

static void test_as_many_releases_as_planned(void **state)
{
    (void)state;
    static const struct {
        const char *protocol;
        uint64_t releases;
    } all[] = {{"name: dsgd, iterations: 12", 12},
               {"name: dsgt, iterations: 12", 12},
               {"name: dinno, iterations: 6, primal: 3", 18}};
    for (size_t c = 0; c < 3; c++) {
        scene s;
        char protocol[200];
        snprintf(protocol, sizeof protocol, "%s, step: 0.01, lot: 5", all[c].protocol);
        open_scene(&s,
                   task("kind: ring", protocol,
                        "privacy: {mechanism: gaussian, clip: 1, epsilon: 1, delta: 1e-5}\n"),
                   1);
        run_to(&s, 100);
        const tacit_budget budget = {.epsilon = 1, .delta = 1e-5, .accountant = TACIT_BY_PLD};
        for (uint32_t i = 0; i < AGENTS; i++) {
            const tacit_ledger *ledger = s.rt->ops->agent_ledger(s.rt, i);
            assert_int_equal(tacit_ledger_releases(ledger), all[c].releases);
            assert_int_equal(ledger->count, 1);
            assert_float_equal(ledger->entries[0].cost->sampling, 0.25, 1e-9);
            const double epsilon = tacit_ledger_epsilon(ledger, &budget);
            assert_true(epsilon <= 1 && epsilon > 0.98); /* all of it, and no more */
        }
        assert_int_equal(s.rt->ops->traffic(s.rt).refused, 0);
        close_scene(&s);
    }
}

/* Records of two classes for nets: labels 0 and 1 in a file. */
static void write_pictures(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    dice d = {7};
    fprintf(file, "agent,label");
    for (int k = 0; k < 36; k++)
        fprintf(file, ",x%d", k);
    for (int r = 0; r < 160; r++) {
        double x[36], sum = 0;
        for (int k = 0; k < 36; k++)
            sum += (k % 6 < 3 ? 1 : -1) * (x[k] = dice_normal(&d));
        fprintf(file, "\n%d,%d", r % 4, sum > 0);
        for (int k = 0; k < 36; k++)
            fprintf(file, ",%.6f", x[k]);
    }
    fputc('\n', file);
    fclose(file);
}

static const char *net_task(const char *protocol, const char *more)
{
    static char yaml[2000];
    snprintf(yaml, sizeof yaml,
             "run: {seed: 3, time: 1e6, every: 0}\n"
             "data: {source: csv, path: consensus_test.csv}\n"
             "graph: {kind: ring}\nnetwork: {latency: constant}\n"
             "model: {layers: 'conv 2 3x3, mish, pool 2, dense 2', input: 1x6x6}\n"
             "protocol: {%s, lot: 12}\n%s",
             protocol, more);
    return yaml;
}

static const char *const noise = "privacy: {mechanism: gaussian, clip: 1, epsilon: 5}\n";
static const char *const ways[] = {"name: dsgd, iterations: 20, average: 0.9, momentum: 0.5",
                                   "name: dsgt, iterations: 20", "name: dinno, iterations: 20",
                                   "name: dp-sgd, iterations: 20"};

static void test_cut_resumed_and_on_two_threads(void **state)
{
    (void)state;
    tacit_error err = {0};
    write_pictures("consensus_test.csv");
    for (size_t c = 0; c < 4; c++) {
        scene whole, cut, rest;
        open_scene(&whole, net_task(ways[c], noise), 1);
        run_to(&whole, 30);
        open_scene(&cut, net_task(ways[c], noise), 2);
        run_to(&cut, 9.05); /* words are under way */
        tacit_saver *saver;
        size_t len;
        const uint8_t *bytes = save_bytes(cut.rt, &saver, &len);
        open_scene(&rest, net_task(ways[c], noise), 2);
        check_ok(load_bytes(rest.rt, bytes, len, &err), &err);
        run_to(&rest, 30);
        run_to(&cut, 30);
        for (uint32_t i = 0; i < 4; i++)
            for (size_t k = 0; k < 38; k++) {
                assert_true(model_at(&whole, i, k) == model_at(&rest, i, k));
                assert_true(model_at(&whole, i, k) == model_at(&cut, i, k));
            }
        tacit_saver_free(saver);
        close_scene(&whole);
        close_scene(&cut);
        close_scene(&rest);
    }
}

static void test_nets_learn(void **state)
{
    (void)state;
    write_pictures("consensus_test.csv");
    for (size_t c = 0; c < 4; c++) {
        scene s;
        char protocol[200];
        tacit_error err = {0};
        tacit_snapshot before, after;
        snprintf(protocol, sizeof protocol, "%.*s, iterations: 300, step: %g%s",
                 (int)strcspn(ways[c], ","), ways[c], c == 2 ? 0.01 : 0.3,
                 c == 2 ? ", rho: 0.001" : "");
        open_scene(&s, net_task(protocol, ""), 1);
        run_to(&s, 0.5);
        check_ok(tacit_session_measure(s.session, &before, &err), &err);
        run_to(&s, 301.5);
        check_ok(tacit_session_measure(s.session, &after, &err), &err);
        if (!(after.train_loss < 0.6 * before.train_loss))
            fail_msg("%s: loss %g, then %g", protocol, before.train_loss, after.train_loss);
        close_scene(&s);
    }
}

/* ---- refusals ---- */

static void test_what_is_refused(void **state)
{
    (void)state;
    write_pictures("consensus_test.csv");
    static const struct {
        const char *protocol, *more, *word;
        tacit_status status;
    } all[] = {
        {"name: cd", "", "learns linear models", TACIT_EINPUT},
        {"name: dsgd", "model: {layers: 'dense 2', input: 1x5x5}\n", "36 features", TACIT_EINPUT},
        {"name: dsgd", "model: {layers: 'dense 2', input: 6by6}\n", "planes x height",
         TACIT_EINPUT},
        {"name: dsgd", "model: {layers: 'dense 1'}\n", "two or more", TACIT_EINPUT},
        {"name: dsgd", "model: {layers: 'dense 3, foo'}\n", "is none", TACIT_EINPUT},
        {"name: dsgd", "model: {layers: 'dense 2', classes: 3}\n", "model.classes", TACIT_EINPUT},
        {"name: dsgd, policy: none", "", "nobody would listen", TACIT_EINPUT},
        {"name: dinno, policy: averaging, coupling: weighted", "", "pull alike", TACIT_EINPUT},
        {"name: dsgd, iterations: 10, period: 1", "run: {time: 5}\n", "run.time", TACIT_EINPUT},
        {"name: dsgd", "privacy: {mechanism: gaussian, epsilon: 1, clip: 1, unit: user}\n", "user",
         TACIT_EINPUT},
        {"name: dsgd",
         "privacy: {mechanism: gaussian, epsilon: 1, clip: 1, adjacency: add-remove}\n"
         "protocol: {name: dsgd}\n",
         "protocol.lot", TACIT_EINPUT},
        {"name: dsgd", "privacy: {mechanism: gaussian, epsilon: 1}\n", "privacy.clip",
         TACIT_EINPUT},
        {"name: dsgd", "privacy: {mechanism: laplace, epsilon: 100, clip: 1}\n", "l2",
         TACIT_EINPUT},
    };
    for (size_t c = 0; c < sizeof all / sizeof *all; c++) {
        scene s;
        tacit_error err = {0};
        char yaml[3000];
        const bool model = strstr(all[c].more, "model:"), run = strstr(all[c].more, "run:");
        const bool lot = strstr(all[c].more, "protocol:") || strstr(all[c].protocol, "cd");
        snprintf(yaml, sizeof yaml,
                 "%sdata: {source: csv, path: consensus_test.csv}\ngraph: {kind: ring}\n%s%s%s",
                 run ? "" : "run: {time: 1000}\n",
                 model ? "" : "model: {layers: 'dense 2', input: 1x6x6}\n", all[c].more,
                 strstr(all[c].more, "protocol:") ? "" : "protocol: {");
        if (!strstr(all[c].more, "protocol:"))
            snprintf(yaml + strlen(yaml), sizeof yaml - strlen(yaml), "%s%s}\n", all[c].protocol,
                     lot ? "" : ", lot: 12");
        tacit_status status = try_open(&s, yaml, 1, &err);
        if (status == TACIT_OK)
            status = s.rt->ops->run(s.rt, 2, NULL, &err);
        check_fails(status, all[c].status, &err, all[c].word);
        close_scene(&s);
    }
}

static void test_labels_out_of_range(void **state)
{
    (void)state;
    scene s;
    tacit_error err = {0};
    FILE *file = fopen("consensus_labels.csv", "w");
    assert_non_null(file);
    fputs("agent,label,x\n0,0,1\n0,1,2\n1,2,3\n1,0,4\n", file);
    fclose(file);
    check_fails(try_open(&s,
                         "run: {time: 10}\ndata: {source: csv, path: consensus_labels.csv}\n"
                         "graph: {kind: ring}\nmodel: {layers: 'dense 2'}\n"
                         "protocol: {name: dsgd, iterations: 5}\n",
                         1, &err),
                TACIT_EINPUT, &err, "label 2");
    close_scene(&s);
}

/* A learning rate that makes the model run away: an error with words, not NaN. */
static void test_running_away(void **state)
{
    (void)state;
    scene s;
    tacit_error err = {0};
    write_pictures("consensus_test.csv");
    open_scene(&s,
               "run: {time: 600}\ndata: {source: csv, path: consensus_test.csv}\n"
               "graph: {kind: ring}\n"
               "model: {layers: 'dense 8, relu, dense 8, relu, dense 8, relu, dense 8, relu, "
               "dense 2'}\nprotocol: {name: dsgd, iterations: 500, step: 1e9}\n",
               1);
    check_fails(s.rt->ops->run(s.rt, 600, NULL, &err), TACIT_EINPUT, &err, "run away");
    close_scene(&s);
}

static char place[] = "/tmp/consensus_testXXXXXX";

static int enter(void **state)
{
    (void)state;
    return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    unlink("consensus_test.csv");
    unlink("consensus_labels.csv");
    return chdir("/") == 0 && rmdir(place) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_they_are_the_papers_algorithms),
        cmocka_unit_test(test_momentum_drives_dinno_apart),
        cmocka_unit_test(test_rates_follow_their_schedules),
        cmocka_unit_test(test_means_of_models),
        cmocka_unit_test(test_tracking_keeps_its_sum),
        cmocka_unit_test(test_adapting_first_is_central_where_all_know_all),
        cmocka_unit_test(test_noise_is_that_of_a_curator),
        cmocka_unit_test(test_as_many_releases_as_planned),
        cmocka_unit_test(test_cut_resumed_and_on_two_threads),
        cmocka_unit_test(test_nets_learn),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_labels_out_of_range),
        cmocka_unit_test(test_running_away),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
