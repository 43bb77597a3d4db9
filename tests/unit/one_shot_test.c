/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One-shot: what agents learn is what Bayes' rule says, written down here once more by conditioning
 * a joint Gaussian; one release an agent, or none; words reach all; and a run that was cut goes on
 * as if it had not been.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "charged.h"
#include "problem.h"
#include "protocol/one_shot.h"

enum { P = PROBLEM_FEATURES, N = PROBLEM_AGENTS };

static const tacit_privacy_options bare = {.mechanism = TACIT_MECHANISM_NONE, .epsilon = INFINITY};
static const tacit_privacy_options noisy = {
    .mechanism = TACIT_MECHANISM_GAUSSIAN, .epsilon = 1, .delta = 1e-3, .accountant = TACIT_BY_GDP};

static void set(const tacit_protocol *protocol, void *options, const char *settings)
{
    tacit_error err = {0};
    char text[256];
    assert_true(strlen(settings) < sizeof text);
    memcpy(text, settings, strlen(settings) + 1);
    for (char *at = text, *next; *at; at = next) {
        next = at + strcspn(at, " ");
        next += *next ? (*next = 0, 1) : 0;
        const char *equals = strchr(at, '=');
        const tacit_option *option =
            tacit_section_find(&protocol->options, at, (size_t)(equals - at));
        assert_non_null(option);
        check_ok(tacit_option_set(option, options, equals + 1, &err), &err);
    }
}

typedef struct world {
    double options[256];
    tacit_world world;
} world;

static void world_make(world *w, const problem *q, const tacit_privacy_options *privacy,
                       const char *settings)
{
    tacit_error err = {0};
    const tacit_protocol *protocol = tacit_protocol_find("one-shot");
    assert_true(protocol->options.size <= sizeof w->options);
    check_ok(tacit_options_defaults(&protocol->options, w->options, &err), &err);
    set(protocol, w->options, settings);
    w->world = world_defaults(&q->graph, protocol);
    w->world.data = q->data;
    w->world.model = q->model;
    w->world.privacy = *privacy;
    w->world.protocol_options = w->options;
    w->world.seed = 3;
}

static void finish(tacit_runtime *rt)
{
    tacit_error err = {0};
    check_ok(rt->ops->finish(rt, &err), &err);
}

static tacit_runtime *run(const problem *q, const tacit_privacy_options *privacy,
                          const char *settings)
{
    world w;
    world_make(&w, q, privacy, settings);
    tacit_runtime *rt = world_create(&tacit_simulator, &w.world);
    world_run(rt, 5);
    finish(rt);
    return rt;
}

/* ---- Bayes ---- */

/* x = A^-1 b by elimination with pivots. */
static void solve(size_t n, double a[N][N], double *b)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t r = k; r < n; r++)
            best = fabs(a[r][k]) > fabs(a[best][k]) ? r : best;
        for (size_t c = 0; c < n; c++) {
            const double t = a[k][c];
            a[k][c] = a[best][c];
            a[best][c] = t;
        }
        const double t = b[k];
        b[k] = b[best];
        b[best] = t;
        for (size_t r = 0; r < n; r++) {
            const double f = r == k ? 0 : a[r][k] / a[k][k];
            for (size_t c = 0; c < n; c++)
                a[r][c] -= f * a[k][c];
            b[r] -= f * b[k];
        }
    }
    for (size_t k = 0; k < n; k++)
        b[k] /= a[k][k];
}

/* Mean and variance of g_i given s_j = m_j g_j + noise of variance m_j v, j in `from`, where g has
 * the covariance a K. */
static void condition(const problem *q, double kernel[N][N], uint32_t i, const bool *from, double a,
                      double v, int c, double *mean, double *left)
{
    uint32_t at[N], n = 0;
    for (uint32_t j = 0; j < q->n; j++)
        if (from[j])
            at[n++] = j;
    double cov[N][N] = {{0}}, copy[N][N], s[N] = {0}, k[N] = {0};
    for (uint32_t x = 0; x < n; x++) {
        const uint32_t j = at[x];
        s[x] = 0;
        for (uint32_t r = 0; r < q->m[j]; r++)
            s[x] += q->y[j][r] * q->x[j][r][c];
        k[x] = a * kernel[i][j] * q->m[j];
        for (uint32_t y = 0; y < n; y++)
            cov[x][y] = a * kernel[j][at[y]] * q->m[j] * q->m[at[y]] + (x == y ? q->m[j] * v : 0);
    }
    memcpy(copy, cov, sizeof cov);
    double weights[N];
    memcpy(weights, k, sizeof k);
    solve(n, cov, s);
    solve(n, copy, weights);
    *mean = 0;
    *left = a;
    for (uint32_t x = 0; x < n; x++) {
        *mean += k[x] * s[x];
        *left -= k[x] * weights[x];
    }
}

/* The gradient of the objective at `theta`, its prior by the above. Features' scales as in
 * docs/protocols/one-shot.md. */
static double gradient_size(const problem *q, double kernel[N][N], uint32_t i, const bool *from,
                            const double *theta)
{
    const double m = q->m[i], a = 0.25 / (P * P), beta2 = 1 / (2 * 1.0 * a);
    double square[P] = {0}, all = 0, worst = 0;
    for (uint32_t r = 0; r < q->m[i]; r++)
        for (int c = 0; c < P; c++) {
            square[c] += q->x[i][r][c] * q->x[i][r][c];
            all += q->x[i][r][c] * q->x[i][r][c] / m / P;
        }
    for (int c = 0; c < P; c++) {
        const double scale = P * (square[c] + 10 * all) / (m + 10);
        double mean, left, g = 0;
        condition(q, kernel, i, from, a * scale * scale, 1.0 / P, c, &mean, &left);
        left = fmax(left, 1e-3 * a * scale * scale);
        for (uint32_t r = 0; r < q->m[i]; r++) {
            double z = 0;
            for (int k = 0; k < P; k++)
                z += theta[k] * q->x[i][r][k];
            g -= q->y[i][r] * q->x[i][r][c] / (1 + exp(q->y[i][r] * z));
        }
        g += scale * scale / (beta2 * left) * (theta[c] - sqrt(beta2) * mean / scale);
        worst = fmax(worst, fabs(g));
    }
    return worst;
}

static void check_bayes(const problem *q, double kernel[N][N], bool all, const char *settings)
{
    models theta;
    tacit_runtime *rt = run(q, &bare, settings);
    problem_models(q, rt, theta);
    for (uint32_t i = 0; i < q->n; i++) {
        bool from[N] = {false};
        for (uint32_t j = 0; j < q->n; j++)
            from[j] = j != i && q->m[j] > 0 && (all || q->w[i][j] > 0);
        assert_true(gradient_size(q, kernel, i, from, theta[i]) < 1e-8);
        from[(i + 1) % q->n] ^= true; /* the check sees who was heard */
        if ((i + 1) % q->n != i && q->m[(i + 1) % q->n] > 0 && kernel[i][(i + 1) % q->n] != 0)
            assert_true(gradient_size(q, kernel, i, from, theta[i]) > 1e-6);
    }
    rt->ops->destroy(rt);
}

/* Powers of weights times 0.2 are diagonally dominant: nothing has to be repaired. */
static void test_power_kernel_is_bayes(void **state)
{
    (void)state;
    problem q;
    double kernel[N][N];
    problem_init(&q, 6, 0, TACIT_F64);
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = 0; j < N; j++) {
            const double w = q.w[i][j];
            kernel[i][j] = i == j ? 1 : w > 0 ? fmin(1, 0.15 * w * w) : 0;
        }
    check_bayes(&q, kernel, false, "kernel=power kappa=2 likeness=0.15");
    problem_clear(&q);
}

/* Agents on a line of angles are points of a half circle: cosines of distances are a Gram
 * matrix. */
static void test_geodesic_kernel_is_bayes(void **state)
{
    (void)state;
    problem q;
    double kernel[N][N], place[N] = {0};
    problem_init(&q, 8, 0, TACIT_F64);
    memset(q.w, 0, sizeof q.w);
    for (uint32_t i = 1; i < N; i++) {
        q.w[i][i - 1] = q.w[i - 1][i] = exp((cos(0.05 + 0.02 * i) - 1) / 0.1);
        place[i] = place[i - 1] + 0.05 + 0.02 * i + 1e-9;
    }
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = 0; j < N; j++)
            kernel[i][j] = cos(place[i] - place[j]);
    problem_build(&q, TACIT_F64);
    check_bayes(&q, kernel, true, "reach=all");
    check_bayes(&q, kernel, false, "");
    problem_clear(&q);
}

/* ---- alone ---- */

static void check_alone(const problem *q, uint32_t i, const double *theta)
{
    double want[P];
    problem_solve_local(q, i, want);
    for (int k = 0; k < P; k++)
        assert_true(fabs(theta[k] - want[k]) < 1e-7);
}

static void test_without_words_it_is_learning_alone(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++) {
        problem q;
        models theta;
        problem_init(&q, 2, loss, TACIT_F64);
        for (uint32_t j = 0; j < N; j++) /* agent 5 has no neighbours */
            q.w[5][j] = q.w[j][5] = 0;
        problem_build(&q, TACIT_F64);
        tacit_runtime *rt = run(&q, &noisy, "share=false");
        problem_models(&q, rt, theta);
        for (uint32_t i = 0; i < q.n; i++)
            check_alone(&q, i, theta[i]);
        assert_int_equal(rt->ops->traffic(rt).messages, 0);
        rt->ops->destroy(rt);
        rt = run(&q, &noisy, "");
        problem_models(&q, rt, theta);
        check_alone(&q, 5, theta[5]);
        assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, 5)), 0);
        assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, 4)), 1);
        rt->ops->destroy(rt);
        problem_clear(&q);
    }
}

/* With one record an agent learns mostly from others; with none, from nobody else. */
static void test_few_records(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++) {
        problem q;
        models theta;
        problem_init(&q, 2, loss, TACIT_F64);
        q.m[3] = 0;
        q.m[4] = 1;
        problem_build(&q, TACIT_F64);
        tacit_runtime *rt = run(&q, &noisy, "likeness=0.5");
        problem_models(&q, rt, theta);
        double size = 0;
        for (int k = 0; k < P; k++) {
            assert_true(isfinite(theta[3][k]) && isfinite(theta[4][k]));
            size += fabs(theta[3][k]);
        }
        assert_true(size > 0);
        assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, 3)), 0);
        assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, 4)), 1);
        rt->ops->destroy(rt);
        problem_clear(&q);
    }
}

/* ---- the ledger ---- */

static void test_one_release_within_its_own_budget(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++) {
        problem q;
        world w;
        double epsilon[N];
        problem_init(&q, 4, loss, TACIT_F64);
        world_make(&w, &q, &noisy, "reach=all");
        for (int i = 0; i < N; i++)
            epsilon[i] = 0.2 * (1 + i % 3);
        w.world.epsilon = epsilon;
        tacit_runtime *rt = world_create(&tacit_simulator, &w.world);
        world_run(rt, 5);
        finish(rt);
        for (uint32_t i = 0; i < q.n; i++) {
            const tacit_budget budget = {epsilon[i], 1e-3, TACIT_TRUST_LOCAL, TACIT_BY_GDP};
            const tacit_ledger *ledger = rt->ops->agent_ledger(rt, i);
            assert_int_equal(tacit_ledger_releases(ledger), 1);
            assert_true(tacit_ledger_epsilon(ledger, &budget) <= epsilon[i]);
            assert_true(tacit_ledger_epsilon(ledger, &budget) > 0.999 * epsilon[i]);
        }
        rt->ops->destroy(rt);
        problem_clear(&q);
    }
}

/* Agent 7 may spend less than the noise of the run costs: silent, but it listens. */
static void test_who_may_not_speak_listens(void **state)
{
    (void)state;
    problem q;
    world w;
    models theta;
    double epsilon[N], apart = 0, want[P];
    tacit_privacy_options privacy = noisy;
    privacy.noise = 1;
    problem_init(&q, 4, 0, TACIT_F64);
    world_make(&w, &q, &privacy, "");
    for (int i = 0; i < N; i++)
        epsilon[i] = i == 7 ? 0.01 : 100;
    w.world.epsilon = epsilon;
    tacit_runtime *rt = world_create(&tacit_simulator, &w.world);
    world_run(rt, 5);
    finish(rt);
    problem_models(&q, rt, theta);
    problem_solve_local(&q, 7, want);
    for (int k = 0; k < P; k++)
        apart += fabs(want[k] - theta[7][k]);
    assert_true(apart > 1e-3);
    assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, 7)), 0);
    for (uint32_t i = 0; i < q.n; i++) {
        const one_shot_agent *agent = rt->ops->agent_state(rt, i);
        for (uint64_t e = q.graph.row[i]; e < q.graph.row[i + 1]; e++)
            assert_true((agent->heard[e - q.graph.row[i]] == NULL) == (q.graph.neighbour[e] == 7));
    }
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* With one budget for all that does not allow for one word, settings are wrong: the error says
 * whose ledger refused first and what to change, and nothing was said. */
static void test_a_budget_too_small_for_all_is_an_error(void **state)
{
    (void)state;
    problem q;
    world w;
    tacit_error err = {0};
    tacit_privacy_options privacy = noisy;
    privacy.noise = 1;
    privacy.epsilon = 0.01;
    problem_init(&q, 4, 0, TACIT_F64);
    world_make(&w, &q, &privacy, "");
    for (uint32_t threads = 1; threads < 4; threads++) { /* the same words, whoever was first */
        w.world.threads = threads;
        tacit_runtime *rt = world_create(&tacit_simulator, &w.world);
        check_fails(rt->ops->run(rt, 5, NULL, &err), TACIT_EBUDGET, &err,
                    "raise \"privacy.epsilon\" or \"privacy.noise\"");
        assert_non_null(strstr(err.text, "agent \"0\": releasing"));
        assert_int_equal(rt->ops->traffic(rt).messages, 0);
        assert_int_equal(rt->ops->traffic(rt).releases, 0);
        rt->ops->destroy(rt);
    }
    problem_clear(&q);
}

/* Budgets for which there is no noise, or none that the grid holds, before anybody starts. */
static void test_budgets_that_are_none_are_refused(void **state)
{
    (void)state;
    static const struct {
        double epsilon;
        const char *word;
    } bad[] = {{0, "agent 2"},
               {-1, "agent 2"},
               {NAN, "agent 2"},
               {INFINITY, "agent 2 (\"privacy.budgets\")"},
               {1e-12, "agent 2 (\"privacy.budgets\")"}};
    for (int loss = 0; loss < 2; loss++) {
        problem q;
        world w;
        double epsilon[N];
        tacit_privacy_options privacy = noisy;
        privacy.delta = 1e-15; /* or a tiny budget would be covered by it */
        problem_init(&q, 4, loss, TACIT_F64);
        world_make(&w, &q, &privacy, "");
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            tacit_error err = {0};
            tacit_runtime *rt = NULL;
            for (int i = 0; i < N; i++)
                epsilon[i] = i == 2 ? bad[k].epsilon : 1;
            w.world.epsilon = epsilon;
            check_fails(tacit_simulator.create(&rt, &w.world, &err), TACIT_EINPUT, &err,
                        bad[k].word);
        }
        problem_clear(&q);
    }
}

/* Nobody there: who was online at the very start has spoken, to nobody; all learn alone. */
static void test_all_offline(void **state)
{
    (void)state;
    problem q;
    world w;
    models theta;
    problem_init(&q, 4, 0, TACIT_F64);
    world_make(&w, &q, &noisy, "reach=all");
    w.world.network.mean_up = 1e-6, w.world.network.mean_down = 1e9;
    w.world.network.latency = TACIT_LATENCY_CONSTANT, w.world.network.latency_floor = 1;
    tacit_runtime *rt = world_create(&tacit_simulator, &w.world);
    world_run(rt, 50);
    finish(rt);
    problem_models(&q, rt, theta);
    for (uint32_t i = 0; i < q.n; i++) {
        const one_shot_agent *agent = rt->ops->agent_state(rt, i);
        for (uint32_t j = 0; j < q.n; j++)
            assert_null(agent->heard[j]);
        assert_true(tacit_ledger_releases(rt->ops->agent_ledger(rt, i)) <= 1);
        for (int k = 0; k < P; k++)
            assert_true(isfinite(theta[i][k]));
    }
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* ---- words ---- */

static void test_words_reach_all_and_nobody_says_them_twice(void **state)
{
    (void)state;
    problem q;
    world w;
    static uint32_t said[N][N][N]; /* from, to, whose */
    memset(said, 0, sizeof said);
    problem_init(&q, 4, 0, TACIT_F64);
    world_make(&w, &q, &noisy, "reach=all");
    w.world.network.latency = TACIT_LATENCY_EXPONENTIAL;
    w.world.network.latency_mean = 0.1;
    tacit_runtime *rt = world_create(&tacit_simulator, &w.world);
    rt->trace = tacit_trace_create();
    world_run(rt, 100);
    const tacit_trace_row *row;
    const size_t rows = tacit_trace_rows(rt->trace, &row);
    for (size_t k = 0; k < rows; k++) {
        if (row[k].kind != TACIT_TRACE_EVENT || row[k].event != TACIT_MESSAGE)
            continue;
        const int64_t whose = tacit_public_get_int(row[k].payload, WORD_AGENT, 0);
        assert_int_equal(++said[row[k].peer][row[k].agent][whose], 1);
        assert_int_not_equal(row[k].agent, whose); /* who knows best */
    }
    for (uint32_t i = 0; i < q.n; i++) {
        const one_shot_agent *agent = rt->ops->agent_state(rt, i);
        for (uint32_t j = 0; j < q.n; j++)
            assert_true((agent->heard[j] != NULL) == (i != j));
    }
    tacit_trace_free(rt->trace);
    rt->trace = NULL;
    finish(rt);
    rt->ops->destroy(rt);
    problem_clear(&q);
}

static void test_neighbours_hear_each_word_once(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 4, 0, TACIT_F64);
    tacit_runtime *rt = run(&q, &noisy, "");
    assert_int_equal(rt->ops->traffic(rt).messages, q.graph.entries);
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* A word that nobody's records can have made is as none. */
static void test_impossible_words_are_dropped(void **state)
{
    (void)state;
    problem q;
    models theta;
    problem_init(&q, 4, 0, TACIT_F64);
    q.x[2][0][1] = 1e300;
    problem_build(&q, TACIT_F64);
    tacit_runtime *rt = run(&q, &bare, "likeness=0.5");
    problem_models(&q, rt, theta);
    for (uint32_t i = 0; i < q.n; i++) {
        const one_shot_agent *agent = rt->ops->agent_state(rt, i);
        for (uint64_t e = q.graph.row[i]; e < q.graph.row[i + 1]; e++)
            assert_true((agent->heard[e - q.graph.row[i]] == NULL) == (q.graph.neighbour[e] == 2));
        for (int k = 0; k < P; k++)
            assert_true(isfinite(theta[i][k]));
    }
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* ---- squared loss ---- */

/* All agents have the weights 1, 2, 3, 4. How far off they are, squared, all together. */
static double distance_to_truth(const problem *q, const tacit_runtime *rt)
{
    models theta;
    double sum = 0;
    problem_models(q, rt, theta);
    for (uint32_t i = 0; i < q->n; i++)
        for (int k = 0; k < P; k++)
            sum += (theta[i][k] - k - 1) * (theta[i][k] - k - 1);
    return sum;
}

static void test_numbers_are_learned_together(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 4, 1, TACIT_F64);
    tacit_runtime *alone = run(&q, &bare, "share=false");
    tacit_runtime *together =
        run(&q, &bare, "reach=all likeness=0.999 radius=2 label-bound=10 gamma=0.001");
    assert_true(distance_to_truth(&q, together) < 0.5 * distance_to_truth(&q, alone));
    alone->ops->destroy(alone);
    together->ops->destroy(together);
    problem_clear(&q);
}

/* ---- checkpoints ---- */

static void test_a_cut_run_goes_on(void **state)
{
    (void)state;
    for (int all = 0; all < 2; all++) {
        problem q;
        world w;
        models want, got;
        size_t len;
        tacit_saver *saver;
        tacit_error err = {0};
        problem_init(&q, 4, all, TACIT_F64);
        world_make(&w, &q, &noisy, all ? "reach=all" : "prior=sparse");
        w.world.network.latency = TACIT_LATENCY_EXPONENTIAL;
        w.world.network.latency_mean = 1;
        tacit_runtime *whole = world_create(&tacit_simulator, &w.world);
        tacit_runtime *cut = world_create(&tacit_simulator, &w.world);
        tacit_runtime *rest = world_create(&tacit_simulator, &w.world);
        world_run(whole, 20);
        finish(whole);
        world_run(cut, 0.7); /* words are on their way */
        const uint8_t *bytes = save_bytes(cut, &saver, &len);
        check_ok(load_bytes(rest, bytes, len, &err), &err);
        tacit_saver_free(saver);
        world_run(rest, 20);
        finish(rest);
        problem_models(&q, whole, want);
        problem_models(&q, rest, got);
        assert_memory_equal(want, got, sizeof want);
        assert_int_equal(tacit_ledger_releases(rest->ops->agent_ledger(rest, 0)), 1);
        assert_non_null(((const one_shot_agent *)rest->ops->agent_state(rest, 0))->own);
        whole->ops->destroy(whole);
        cut->ops->destroy(cut);
        rest->ops->destroy(rest);
        problem_clear(&q);
    }
}

/* ---- worth it ---- */

/* 50 agents, 20 features, epsilon 1.05: 3 seeds gain 0.05 to 0.09 each; one below 0.02 has less
 * than 1e-4 of chance. */
static double mean_accuracy(uint64_t seed, const char *protocol)
{
    char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "run: {seed: %llu, time: 1, every: 0}\n"
             "data: {agents: 50, dimension: 20, min-records: 10, max-records: 100, bound: l2}\n"
             "model: {lambda-records: 0.1}\n"
             "privacy: {mechanism: gaussian, epsilon: 1.05, delta: 0.006737946999085467}\n"
             "protocol: {name: one-shot, %s}\n",
             (unsigned long long)seed, protocol);
    tacit_error err = {0};
    tacit_config config;
    tacit_experiment x;
    tacit_session *session;
    tacit_snapshot shot;
    tacit_config_init(&config);
    check_ok(tacit_config_parse(&config, "test", yaml, strlen(yaml), &err), &err);
    check_ok(tacit_experiment_init(&x, &config, &err), &err);
    tacit_config_clear(&config);
    check_ok(tacit_session_create(&session, &x, 1, &err), &err);
    check_ok(tacit_session_run(session, &(tacit_run_request){.folder = NULL}, &err), &err);
    check_ok(tacit_session_measure(session, &shot, &err), &err);
    tacit_session_free(session);
    tacit_experiment_clear(&x);
    return shot.test;
}

static void test_it_is_better_than_alone(void **state)
{
    (void)state;
    for (uint64_t seed = 31; seed < 34; seed++) {
        const double alone = mean_accuracy(seed, "share: false");
        const double near = mean_accuracy(seed, "reach: neighbours");
        const double all = mean_accuracy(seed, "reach: all");
        assert_true(near > alone + 0.02);
        assert_true(all > alone + 0.02);
        assert_true(mean_accuracy(seed, "share: false, prior: sparse") > alone + 0.01);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power_kernel_is_bayes),
        cmocka_unit_test(test_geodesic_kernel_is_bayes),
        cmocka_unit_test(test_without_words_it_is_learning_alone),
        cmocka_unit_test(test_few_records),
        cmocka_unit_test(test_one_release_within_its_own_budget),
        cmocka_unit_test(test_who_may_not_speak_listens),
        cmocka_unit_test(test_a_budget_too_small_for_all_is_an_error),
        cmocka_unit_test(test_budgets_that_are_none_are_refused),
        cmocka_unit_test(test_all_offline),
        cmocka_unit_test(test_words_reach_all_and_nobody_says_them_twice),
        cmocka_unit_test(test_neighbours_hear_each_word_once),
        cmocka_unit_test(test_impossible_words_are_dropped),
        cmocka_unit_test(test_numbers_are_learned_together),
        cmocka_unit_test(test_a_cut_run_goes_on),
        cmocka_unit_test(test_it_is_better_than_alone),
    };
    return cmocka_run_group_tests_name("one-shot", tests, charged_setup, charged_teardown);
}
