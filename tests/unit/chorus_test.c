/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chorus against formulas written here from the definitions: what agents make of the sums, what
 * the sums are, what they cost, and who hears what.
 */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "privacy/costs.h"
#include "problem.h"
#include "protocol/chorus.h"

enum { P = PROBLEM_FEATURES, N = PROBLEM_AGENTS };

/* A run of chorus on a problem, as far as tests want to change it. */
typedef struct stage {
    problem q;
    unsigned char options[8192];
    tacit_world world;
    tacit_runtime *rt;
} stage;

static void stage_init(stage *s, uint64_t seed, int loss)
{
    tacit_error err = {0};
    memset(s, 0, sizeof *s);
    problem_init(&s->q, seed, loss, TACIT_F64);
    const tacit_protocol *p = tacit_protocol_find("chorus");
    assert_non_null(p);
    assert_true(p->options.size <= sizeof s->options);
    check_ok(tacit_options_defaults(&p->options, s->options, &err), &err);
    s->world = world_defaults(&s->q.graph, p);
    s->world.data = s->q.data;
    s->world.model = s->q.model;
    s->world.protocol_options = s->options;
}

static void stage_set(stage *s, const char *key, const char *value)
{
    tacit_error err = {0};
    const tacit_option *option = tacit_section_find(&s->world.protocol->options, key, strlen(key));
    assert_non_null(option);
    check_ok(tacit_option_set(option, s->options, value, &err), &err);
}

static void stage_noise(stage *s, double epsilon)
{
    s->world.privacy.mechanism = TACIT_MECHANISM_GAUSSIAN;
    s->world.privacy.epsilon = epsilon;
    s->world.privacy.delta = 1e-3;
    s->world.privacy.clip = 0.5;
}

static void stage_run(stage *s, double time)
{
    if (!s->rt)
        s->rt = world_create(&tacit_simulator, &s->world);
    world_run(s->rt, time);
}

static void stage_finish(stage *s)
{
    tacit_error err = {0};
    check_ok(s->rt->ops->finish(s->rt, &err), &err);
}

static void stage_clear(stage *s)
{
    if (s->rt)
        s->rt->ops->destroy(s->rt);
    problem_clear(&s->q);
}

/* Sum over records of the negative gradient at zero. */
static void statistic(const problem *q, uint32_t i, double out[P])
{
    memset(out, 0, P * sizeof *out);
    for (uint32_t r = 0; r < q->m[i]; r++)
        for (int k = 0; k < P; k++)
            out[k] += q->y[i][r] * q->x[i][r][k] * (q->loss ? 2 : 0.5);
}

/* Solve a x = b of size n for `columns` right-hand sides, by elimination with pivots. */
static void solve(size_t n, double *a, size_t columns, double *b)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k]))
                best = i;
        for (size_t j = 0; j < n; j++) {
            double swap = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = swap;
        }
        for (size_t j = 0; j < columns; j++) {
            double swap = b[k * columns + j];
            b[k * columns + j] = b[best * columns + j];
            b[best * columns + j] = swap;
        }
        for (size_t i = 0; i < n; i++) {
            if (i == k)
                continue;
            const double f = a[i * n + k] / a[k * n + k];
            for (size_t j = 0; j < n; j++)
                a[i * n + j] -= f * a[k * n + j];
            for (size_t j = 0; j < columns; j++)
                b[i * columns + j] -= f * b[k * columns + j];
        }
    }
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < columns; j++)
            b[k * columns + j] /= a[k * n + k];
}

/* ---- what agents make of it ---- */

/* Without noise and next to no sampling variance the voices are fitted by weighted least squares:
 * H = (sum_j m_j c_j c_j^T)^-1 sum_j c_j s_j^T, and theta_i = step H^T c_i / curvature. */
static void direct(const stage *s, size_t rank, double scale, models out)
{
    static double c[N * N], q[N * N], h[N * P];
    tacit_error err = {0};
    const tacit_kernel kernel = {TACIT_KERNEL_SPECTRAL, 1, 10, 1, 0.25, false};
    check_ok(tacit_graph_basis(&s->q.graph, &kernel, rank, c, &err), &err);
    memset(q, 0, sizeof q);
    memset(h, 0, sizeof h);
    for (uint32_t j = 0; j < s->q.n; j++) {
        double stat[P];
        statistic(&s->q, j, stat);
        for (size_t k = 0; k < rank; k++) {
            for (size_t l = 0; l < rank; l++)
                q[k * rank + l] += s->q.m[j] * c[j * rank + k] * c[j * rank + l];
            for (int i = 0; i < P; i++)
                h[k * P + (size_t)i] += c[j * rank + k] * stat[i];
        }
    }
    solve(rank, q, P, h);
    for (uint32_t i = 0; i < s->q.n; i++)
        for (int k = 0; k < P; k++) {
            out[i][k] = 0;
            for (size_t l = 0; l < rank; l++)
                out[i][k] += scale * c[i * rank + l] * h[l * P + (size_t)k];
        }
}

static double apart(const problem *q, models a, models b)
{
    double most = 0, size = 0;
    for (uint32_t i = 0; i < q->n; i++)
        for (int k = 0; k < P; k++) {
            most = fmax(most, fabs(a[i][k] - b[i][k]));
            size = fmax(size, fabs(b[i][k]));
        }
    return most / size;
}

static void test_direct_formula(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++)
        for (int full = 0; full < 2; full++) {
            stage s;
            models found, want;
            stage_init(&s, 3, loss);
            stage_set(&s, "rank", full ? "12" : "4");
            stage_set(&s, "variance", "1e-10");
            stage_set(&s, "finish", "none");
            stage_run(&s, 2);
            problem_models(&s.q, s.rt, found);
            /* Newton's step from zero for rows of length 1: curvature 1/4 or 2 over p */
            const double scale = loss ? 1 / (2.0 / P) : 1.5 / (0.25 / P);
            direct(&s, full ? 12 : 4, scale, want);
            assert_true(apart(&s.q, found, want) < 1e-4);
            for (uint32_t i = 0; full && i < s.q.n; i++) {
                double stat[P]; /* as many voices as agents: each hears but itself */
                statistic(&s.q, i, stat);
                for (int k = 0; k < P; k++)
                    assert_true(fabs(found[i][k] - scale * stat[k] / s.q.m[i]) < 1e-3);
            }
            stage_clear(&s);
        }
}

/* A second round starts where the first ended: for the squared loss with as many voices as agents
 * it is one more step of gradient descent with the public curvature. */
static void test_second_round(void **state)
{
    (void)state;
    stage s;
    models one, two;
    stage_init(&s, 3, 1);
    stage_set(&s, "rank", "12");
    stage_set(&s, "variance", "1e-10");
    stage_set(&s, "finish", "none");
    stage_set(&s, "rounds", "2");
    stage_set(&s, "radius", "2");
    stage_run(&s, 1.5);
    problem_models(&s.q, s.rt, one);
    stage_run(&s, 2.5);
    problem_models(&s.q, s.rt, two);
    for (uint32_t i = 0; i < s.q.n; i++)
        for (int k = 0; k < P; k++) {
            double gradient = 0;
            for (uint32_t r = 0; r < s.q.m[i]; r++) {
                double z = 0;
                for (int j = 0; j < P; j++)
                    z += one[i][j] * s.q.x[i][r][j];
                gradient += 2 * (z - s.q.y[i][r]) * s.q.x[i][r][k] / s.q.m[i];
            }
            assert_true(fabs(two[i][k] - (one[i][k] - gradient / (2 * 4.0 / P))) < 1e-3);
        }
    stage_clear(&s);
}

/* ---- what the sums are ---- */

typedef struct heard {
    int sums, singles;
    double y[64];
} heard;

static void watch(void *ctx, tacit_agent agent, const tacit_cost *cost,
                  const tacit_public *released)
{
    heard *h = ctx;
    assert_string_equal(cost->what, "voice");
    h->sums += agent == TACIT_NOBODY;
    h->singles += agent != TACIT_NOBODY;
    assert_true(tacit_public_count(released, 0) <= 64);
    for (size_t k = 0; k < tacit_public_count(released, 0); k++)
        h->y[k] = tacit_public_get(released, 0, k);
}

static heard overhear(stage *s)
{
    heard h = {0};
    tacit_trace *trace = tacit_trace_create();
    tacit_trace_watch(trace, watch, &h);
    s->rt = world_create(&tacit_simulator, &s->world);
    s->rt->trace = trace;
    stage_run(s, 2);
    s->rt->trace = NULL;
    tacit_trace_free(trace);
    return h;
}

/* Turn all labels of one agent around: the noise is the same, so sums differ by twice its column
 * times its statistic, up to a step for each rounding. */
static void test_sum_of_statistics(void **state)
{
    (void)state;
    enum { R = 3, WHO = 5 };
    stage s;
    tacit_error err = {0};
    double c[N * R], stat[P];
    stage_init(&s, 3, 0);
    stage_noise(&s, 1);
    for (uint32_t i = 0; i < N; i++) /* within the clip, so that formulas are simple */
        for (uint32_t r = 0; r < s.q.m[i]; r++)
            for (int k = 0; k < P; k++)
                s.q.x[i][r][k] /= 8;
    problem_clear(&s.q);
    problem turned = s.q;
    for (uint32_t r = 0; r < turned.m[WHO]; r++)
        turned.y[WHO][r] = -turned.y[WHO][r];
    problem_build(&s.q, TACIT_F64);
    problem_build(&turned, TACIT_F64);
    s.world.data = s.q.data;
    s.world.model = s.q.model;
    const tacit_kernel kernel = {TACIT_KERNEL_SPECTRAL, 1, 10, 1, 0.25, false};
    check_ok(tacit_graph_basis(&s.q.graph, &kernel, R, c, &err), &err);
    statistic(&s.q, WHO, stat);
    heard one = overhear(&s);
    const tacit_cost cost = *s.rt->ops->agent_ledger(s.rt, WHO)->entries[0].cost;
    s.rt->ops->destroy(s.rt);
    s.world.data = turned.data;
    heard two = overhear(&s);
    assert_int_equal(one.sums, 1);
    assert_int_equal(one.singles + two.singles, 0); /* nobody's own gift is ever seen */
    const double step = ldexp(1, cost.grid);
    for (size_t k = 0; k < R; k++)
        for (size_t i = 0; i < P; i++) {
            const double want = 2 * c[WHO * R + k] * stat[i];
            const double got = one.y[k * P + i] - two.y[k * P + i];
            assert_true(fabs(got - want) <= (2 + 2 * s.q.m[WHO]) * step + 1e-5 * fabs(want));
            assert_true(fabs(one.y[k * P + i]) > 0 &&
                        one.y[k * P + i] / step == floor(one.y[k * P + i] / step));
        }
    assert_true(fabs(stat[0]) > 1e-3);
    problem_clear(&turned);
    stage_clear(&s);
}

/* An attacker who knows the graph and everybody's records but one looks along that record, in the
 * voices of its owner. Over 400 runs (200 with it, 200 with its opposite; other noise each time)
 * the two cases are apart by mu = sensitivity / noise deviations and no more: five standard errors
 * of the difference are 0.5 (false alarm 6e-7, seeds fixed). With noise from every agent it would
 * be a third of it, without clipping hundreds. */
static void test_attacker(void **state)
{
    (void)state;
    enum { R = 3, WHO = 5, RUNS = 200 };
    stage s;
    tacit_error err = {0};
    double c[N * R], mean[2] = {0}, square[2] = {0}, mu = 0;
    for (int side = 0; side < 2; side++) {
        stage_init(&s, 3, 0);
        stage_noise(&s, 8);
        const double x[P] = {1000};
        memcpy(s.q.x[WHO][0], x, sizeof x);
        s.q.y[WHO][0] = side ? 1 : -1;
        problem_build(&s.q, TACIT_F64);
        s.world.data = s.q.data;
        s.world.model = s.q.model;
        const tacit_kernel kernel = {TACIT_KERNEL_SPECTRAL, 1, 10, 1, 0.25, false};
        check_ok(tacit_graph_basis(&s.q.graph, &kernel, R, c, &err), &err);
        for (uint64_t run = 0; run < RUNS; run++) {
            s.world.noise_seed = 1 + 2 * run + (uint64_t)side;
            heard h = overhear(&s);
            const tacit_cost *cost = s.rt->ops->agent_ledger(s.rt, WHO)->entries[0].cost;
            double z = 0;
            for (size_t k = 0; k < R; k++)
                z += c[WHO * R + k] * h.y[k * P] / cost->noise;
            mean[side] += z / RUNS;
            square[side] += z * z / RUNS;
            mu = cost->sensitivity / cost->noise;
            s.rt->ops->destroy(s.rt);
            s.rt = NULL;
        }
        assert_true(fabs(square[side] - mean[side] * mean[side] - 1) < 0.5);
        stage_clear(&s);
    }
    assert_true(mu > 1);
    assert_true(fabs(mean[1] - mean[0] - mu) < 0.5);
}

/* ---- what it costs ---- */

static void test_charges(void **state)
{
    (void)state;
    for (int policy = 0; policy < TACIT_POLICIES; policy++) {
        stage s;
        stage_init(&s, 3, 0);
        problem_clear(&s.q);
        s.q.m[4] = 0; /* an agent without records has nothing to say */
        problem_build(&s.q, TACIT_F64);
        s.world.data = s.q.data;
        s.world.model = s.q.model;
        stage_noise(&s, 0.8);
        s.world.privacy.policy = policy;
        s.world.privacy.ratio = 0.8;
        stage_set(&s, "rounds", "3");
        stage_run(&s, 5);
        const tacit_budget budget = {0.8, 1e-3, TACIT_TRUST_SECURE,
                                     (tacit_accountant)s.world.privacy.accountant};
        for (uint32_t i = 0; i < N; i++) {
            const tacit_ledger *ledger = s.rt->ops->agent_ledger(s.rt, i);
            const double epsilon = tacit_ledger_epsilon(ledger, &budget);
            assert_int_equal(tacit_ledger_releases(ledger), i == 4 ? 0 : 3);
            assert_true(epsilon <= 0.8 && (i == 4 ? epsilon == 0 : epsilon > 0.799));
            for (uint32_t k = 0; k < ledger->count; k++)
                assert_int_equal(ledger->entries[k].cost->coordinates, 3 * P);
        }
        assert_int_equal(s.rt->ops->traffic(s.rt).releases, 3 * (N - 1));
        stage_finish(&s);
        assert_non_null(s.rt->ops->agent_model(s.rt, 4));
        stage_clear(&s);
    }
}

/* One record counts like any other: one charge, the same noise, and a model in the end. */
static void test_agent_with_one_record(void **state)
{
    (void)state;
    stage s;
    models theta;
    stage_init(&s, 3, 0);
    problem_clear(&s.q);
    s.q.m[4] = 1;
    problem_build(&s.q, TACIT_F64);
    s.world.data = s.q.data;
    s.world.model = s.q.model;
    stage_noise(&s, 0.8);
    stage_run(&s, 2);
    stage_finish(&s);
    problem_models(&s.q, s.rt, theta);
    const tacit_ledger *few = s.rt->ops->agent_ledger(s.rt, 4),
                       *many = s.rt->ops->agent_ledger(s.rt, 5);
    assert_int_equal(tacit_ledger_releases(few), 1);
    assert_true(tacit_cost_same(few->entries[0].cost, many->entries[0].cost));
    for (int k = 0; k < P; k++)
        assert_true(isfinite(theta[4][k]));
    stage_clear(&s);
}

/* All are gone before the first sum closes: nobody is charged for a second one, nothing hangs, and
 * everybody learns alone. */
static void test_all_offline(void **state)
{
    (void)state;
    stage s;
    models theta;
    stage_init(&s, 3, 0);
    stage_noise(&s, 0.8);
    stage_set(&s, "rounds", "3");
    s.world.network.mean_up = 1e-6, s.world.network.mean_down = 1e9;
    stage_run(&s, 50);
    stage_finish(&s);
    problem_models(&s.q, s.rt, theta);
    for (uint32_t i = 0; i < N; i++) {
        double own[P];
        problem_solve_local(&s.q, i, own);
        assert_true(tacit_ledger_releases(s.rt->ops->agent_ledger(s.rt, i)) <= 1);
        for (int k = 0; k < P; k++)
            assert_true(fabs(theta[i][k] - own[k]) < 1e-6);
    }
    stage_clear(&s);
}

/* Budgets for which there is no noise are refused before anybody starts. */
static void test_budgets_that_are_none(void **state)
{
    (void)state;
    static const struct {
        double epsilon;
        const char *word;
    } bad[] = {{INFINITY, "privacy.epsilon"}, {NAN, "epsilon"}, {0, "epsilon"}, {1e-12, "epsilon"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        for (int policy = 0; policy < TACIT_POLICIES; policy++) {
            stage s;
            tacit_error err = {0};
            stage_init(&s, 3, 0);
            stage_noise(&s, bad[k].epsilon);
            s.world.privacy.delta = 1e-15;
            s.world.privacy.policy = policy;
            s.world.privacy.ratio = 0.8;
            stage_set(&s, "rounds", "2");
            check_fails(tacit_simulator.create(&s.rt, &s.world, &err), TACIT_EINPUT, &err,
                        bad[k].word);
            s.rt = NULL;
            stage_clear(&s);
        }
}

/* An agent whose budget does not allow for a round gives nothing, and listens. */
static void test_opting_out(void **state)
{
    (void)state;
    stage s;
    double budget[N];
    models theta;
    stage_init(&s, 3, 0);
    stage_noise(&s, 40);
    for (uint32_t i = 0; i < N; i++)
        budget[i] = i % 3 ? 40 : 0.1;
    s.world.epsilon = budget;
    stage_set(&s, "finish", "none");
    stage_run(&s, 2);
    problem_models(&s.q, s.rt, theta);
    double told = 0;
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(tacit_ledger_releases(s.rt->ops->agent_ledger(s.rt, i)), i % 3 != 0);
        told += i % 3 ? 0 : fabs(theta[i][0]);
    }
    assert_true(told > 0);
    stage_clear(&s);
    /* Where all have the same budget and it allows for nothing, settings are wrong. */
    tacit_error err = {0};
    stage_init(&s, 3, 0);
    stage_noise(&s, 0.01);
    s.world.privacy.noise = 1;
    s.rt = world_create(&tacit_simulator, &s.world);
    check_fails(s.rt->ops->run(s.rt, 2, NULL, &err), TACIT_EBUDGET, &err, "voice");
    assert_non_null(strstr(err.text, "agent \"0\": "));
    assert_non_null(strstr(err.text, "raise \"privacy.epsilon\" or \"privacy.noise\""));
    stage_clear(&s);
}

/* ---- runtimes, sizes, words ---- */

static void finished(stage *s, double cut, uint32_t threads, models out)
{
    tacit_error err = {0};
    s->world.threads = threads;
    s->rt = world_create(&tacit_simulator, &s->world);
    if (cut > 0) {
        tacit_saver *saver;
        size_t len;
        world_run(s->rt, cut);
        const uint8_t *bytes = save_bytes(s->rt, &saver, &len);
        s->rt->ops->destroy(s->rt);
        s->rt = world_create(&tacit_simulator, &s->world);
        check_ok(load_bytes(s->rt, bytes, len, &err), &err);
        tacit_saver_free(saver);
    }
    stage_run(s, 20);
    stage_finish(s);
    problem_models(&s->q, s->rt, out);
    s->rt->ops->destroy(s->rt);
    s->rt = NULL;
}

static void test_cut_and_resumed(void **state)
{
    (void)state;
    static const double cuts[] = {0.5, 1, 1.2, 2.9, 3.5};
    for (int absent = 0; absent < 2; absent++) {
        stage s;
        models one, two;
        stage_init(&s, 3, 0);
        stage_noise(&s, 40);
        stage_set(&s, "rounds", "3");
        stage_set(&s, "misfit", absent ? "0.1" : "0");
        stage_set(&s, "finish-choice", "first");
        if (absent) {
            s.world.network.mean_up = 2;
            s.world.network.mean_down = 1;
            s.world.network.latency = TACIT_LATENCY_CONSTANT;
            s.world.network.latency_floor = 0.1;
        }
        finished(&s, 0, 1, one);
        for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
            finished(&s, cuts[k], 1, two);
            assert_memory_equal(one, two, sizeof one);
        }
        finished(&s, 0, 3, two);
        assert_memory_equal(one, two, sizeof one);
        stage_clear(&s);
    }
}

/* One agent, two, and one whom nobody knows: they learn alone where nobody sings with them. */
static void test_few_agents(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 3; n++) {
        stage s;
        models theta;
        stage_init(&s, 3, 0);
        problem_clear(&s.q);
        s.q.n = n;
        memset(s.q.w, 0, sizeof s.q.w);
        if (n > 1)
            s.q.w[0][1] = s.q.w[1][0] = 0.5;
        problem_build(&s.q, TACIT_F64);
        s.world.graph = &s.q.graph;
        s.world.data = s.q.data;
        s.world.model = s.q.model;
        stage_noise(&s, 1);
        stage_run(&s, 2);
        stage_finish(&s);
        problem_models(&s.q, s.rt, theta);
        const uint32_t alone = n == 2 ? n : n - 1;
        for (uint32_t i = 0; i < n; i++) {
            double own[P];
            problem_solve_local(&s.q, i, own);
            assert_int_equal(tacit_ledger_releases(s.rt->ops->agent_ledger(s.rt, i)),
                             n > 1 && i < 2);
            for (int k = 0; k < P; k++) {
                assert_true(isfinite(theta[i][k]));
                if (i == alone)
                    assert_true(fabs(theta[i][k] - own[k]) < 1e-6);
            }
        }
        stage_clear(&s);
    }
}

static void refused(int what, const char *word)
{
    stage s;
    tacit_error err = {0};
    stage_init(&s, 3, 0);
    stage_noise(&s, 1);
    tacit_privacy_options *privacy = &s.world.privacy;
    if (what == 0)
        privacy->mechanism = TACIT_MECHANISM_LAPLACE;
    else if (what == 1)
        privacy->unit = TACIT_UNIT_USER;
    else if (what == 2)
        privacy->adjacency = TACIT_ADD_REMOVE;
    else if (what == 3)
        privacy->sampling = 0.5;
    else if (what == 4)
        privacy->claimed = true;
    else if (what == 5)
        privacy->epsilon = INFINITY;
    else if (what == 6)
        privacy->clip = 0;
    else if (what == 7)
        stage_set(&s, "rank", "13");
    else {
        stage_set(&s, "rounds", "3");
        stage_set(&s, "period", what == 10 ? "0.1" : "0.7");
        s.world.until = what == 8 ? 2 : 0.3;
    }
    check_fails(tacit_simulator.create(&s.rt, &s.world, &err), TACIT_EINPUT, &err, word);
    s.rt = NULL;
    stage_clear(&s);
}

static void test_refusals(void **state)
{
    (void)state;
    refused(0, "gaussian");
    refused(1, "privacy.unit");
    refused(2, "replace");
    refused(3, "privacy.sampling");
    refused(4, "privacy.claimed");
    refused(5, "privacy.epsilon");
    refused(6, "privacy.clip");
    refused(7, "protocol.rank");
    refused(8, "raise \"run.time\" to 2.1");
    refused(9, "ends at 0.3");
    refused(10, "raise \"run.time\" to 0.30000000000000004");
}

/* All rounds close if the last one does at the very end, and each is heard. */
static void test_rounds_that_just_fit(void **state)
{
    (void)state;
    stage s;
    stage_init(&s, 3, 0);
    stage_noise(&s, 1);
    stage_set(&s, "rounds", "3");
    stage_set(&s, "period", "0.7");
    s.world.until = 0.7 * 3;
    stage_run(&s, s.world.until);
    for (uint32_t i = 0; i < N; i++) {
        const chorus_agent *agent = s.rt->ops->agent_state(s.rt, i);
        assert_int_equal(tacit_ledger_releases(s.rt->ops->agent_ledger(s.rt, i)), 3);
        assert_int_equal(agent->heard, 3);
    }
    stage_finish(&s);
    stage_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct_formula),
        cmocka_unit_test(test_second_round),
        cmocka_unit_test(test_sum_of_statistics),
        cmocka_unit_test(test_attacker),
        cmocka_unit_test(test_charges),
        cmocka_unit_test(test_opting_out),
        cmocka_unit_test(test_cut_and_resumed),
        cmocka_unit_test(test_few_agents),
        cmocka_unit_test(test_agent_with_one_record),
        cmocka_unit_test(test_all_offline),
        cmocka_unit_test(test_budgets_that_are_none),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_rounds_that_just_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
