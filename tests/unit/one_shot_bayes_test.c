/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One-shot from the words that were heard, noise and all: correlations by paths added up here,
 * a joint Gaussian conditioned by elimination, for both losses; whom an agent listens to; and what
 * it does not believe.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "charged.h"
#include "problem.h"
#include "protocol/one_shot.h"
#include "tacit/eigen.h"

enum { P = PROBLEM_FEATURES, N = PROBLEM_AGENTS, ALL = N * P };

static const tacit_privacy_options noisy = {
    .mechanism = TACIT_MECHANISM_GAUSSIAN, .epsilon = 3, .delta = 1e-3, .accountant = TACIT_BY_GDP};

/* A finished run, and what it was told. */
typedef struct scene {
    problem q;
    tacit_world world;
    double options[256];
    tacit_runtime *rt;
    models theta;
} scene;

static void scene_set(scene *s, const char *settings)
{
    tacit_error err = {0};
    const tacit_protocol *protocol = s->world.protocol;
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
        check_ok(tacit_option_set(option, s->options, equals + 1, &err), &err);
    }
}

static void scene_init(scene *s, uint64_t seed, int loss, const char *settings)
{
    tacit_error err = {0};
    memset(s, 0, sizeof *s);
    problem_init(&s->q, seed, loss, TACIT_F64);
    const tacit_protocol *protocol = tacit_protocol_find("one-shot");
    assert_true(protocol->options.size <= sizeof s->options);
    check_ok(tacit_options_defaults(&protocol->options, s->options, &err), &err);
    s->world = world_defaults(&s->q.graph, protocol);
    scene_set(s, settings);
    s->world.privacy = noisy;
    s->world.seed = 3;
}

static void scene_run(scene *s, double time)
{
    tacit_error err = {0};
    s->world.data = s->q.data;
    s->world.model = s->q.model;
    s->world.protocol_options = s->options;
    s->rt = world_create(&tacit_simulator, &s->world);
    world_run(s->rt, time);
    check_ok(s->rt->ops->finish(s->rt, &err), &err);
    problem_models(&s->q, s->rt, s->theta);
}

static void scene_clear(scene *s)
{
    s->rt->ops->destroy(s->rt);
    problem_clear(&s->q);
}

static uint64_t releases(const scene *s, uint32_t agent)
{
    return tacit_ledger_releases(s->rt->ops->agent_ledger(s->rt, agent));
}

/* ---- whom an agent heard ---- */

typedef struct told {
    size_t count;
    uint32_t who[N];
    double records[N], noise[N];
    double sums[N][P + P * (P + 1) / 2];
    double kernel[N][N]; /* oneself first */
} told;

static const tacit_public *word_of(const scene *s, uint32_t i, uint32_t j, bool all)
{
    const one_shot_agent *agent = s->rt->ops->agent_state(s->rt, i);
    if (all)
        return agent->heard[j];
    for (uint64_t e = s->q.graph.row[i]; e < s->q.graph.row[i + 1]; e++)
        if (s->q.graph.neighbour[e] == j)
            return agent->heard[e - s->q.graph.row[i]];
    return NULL;
}

static told listen(const scene *s, uint32_t i, bool all)
{
    told t = {.count = 0};
    for (uint32_t j = 0; j < s->q.n; j++) {
        const tacit_public *word = word_of(s, i, j, all);
        if (!word)
            continue;
        t.who[t.count] = j;
        t.records[t.count] = tacit_public_get(word, WORD_ABOUT, ABOUT_RECORDS);
        t.noise[t.count] = tacit_public_get(word, WORD_ABOUT, ABOUT_NOISE);
        assert_true(t.records[t.count] == s->q.m[j] && t.noise[t.count] > 0);
        for (size_t k = 0; k < tacit_public_count(word, WORD_SUMS); k++)
            t.sums[t.count][k] = tacit_public_get(word, WORD_SUMS, k);
        t.count++;
    }
    return t;
}

/* ---- correlations ---- */

typedef struct rules {
    bool all;     /* paths over the whole graph, else among oneself and those who were heard */
    double power; /* of weights; 0: angles along paths */
    double gamma, likeness, common;
} rules;

static uint32_t agent_at(const told *t, uint32_t i, size_t k)
{
    return k ? t->who[k - 1] : i;
}

static double cosine_of(const rules *r, double weight)
{
    const double cosine = r->power > 0 ? pow(weight, r->power) : 1 + r->gamma * log(weight);
    return fmax(-1, fmin(1, r->likeness * cosine));
}

static void shortest_paths(const scene *s, const rules *r, const told *t, uint32_t i,
                           double d[N][N])
{
    bool in[N] = {false};
    for (size_t k = 0; k <= t->count; k++)
        in[agent_at(t, i, k)] = true;
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++) {
            const bool there = s->q.w[a][b] > 0 && (r->all || (in[a] && in[b]));
            d[a][b] = a == b ? 0 : there ? acos(cosine_of(r, s->q.w[a][b])) + 1e-9 : INFINITY;
        }
    for (int round = 0; round < N; round++)
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++)
                for (int via = 0; via < N; via++)
                    d[a][b] = fmin(d[a][b], d[a][via] + d[via][b]);
}

/* The nearest matrix without negative eigenvalues, diagonal back to one; returns how negative they
 * were. */
static double repair(size_t n, double k[N][N])
{
    double u[N * N], value[N];
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            u[a * n + b] = k[a][b];
    assert_true(tacit_eigen_all(n, u, value));
    if (value[0] >= 0)
        return 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            k[a][b] = 0;
            for (size_t l = 0; l < n; l++)
                k[a][b] += fmax(0, value[l]) * u[l * n + a] * u[l * n + b];
        }
    double size[N];
    for (size_t a = 0; a < n; a++)
        size[a] = sqrt(k[a][a]);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            k[a][b] /= size[a] * size[b];
    return -value[0];
}

static double correlate(const scene *s, const rules *r, uint32_t i, told *t)
{
    static double d[N][N];
    shortest_paths(s, r, t, i, d);
    for (size_t x = 0; x <= t->count; x++)
        for (size_t y = 0; y <= t->count; y++) {
            const uint32_t a = agent_at(t, i, x), b = agent_at(t, i, y);
            double k = isinf(d[a][b]) ? 0 : cos(fmin(d[a][b], acos(-1)));
            if (r->power > 0)
                k = s->q.w[a][b] > 0 ? cosine_of(r, s->q.w[a][b]) : 0;
            t->kernel[x][y] = a == b ? 1 : r->common + (1 - r->common) * k;
        }
    return repair(t->count + 1, t->kernel);
}

/* ---- Bayes ---- */

/* Mean and covariance of g_0 in R^P, if g ~ N(0, K x V) and s_j = m_j C g_j + noise of the variance
 * noise_j^2 + m_j chance in each number. */
static void condition(const told *t, double v, double c[P][P], double chance, double *mean,
                      double left[P][P])
{
    static double cov[ALL * ALL], copy[ALL * ALL];
    const size_t n = t->count * P;
    double square[P][P] = {{0}}, b[ALL];
    for (int x = 0; x < P; x++)
        for (int y = 0; y < P; y++)
            for (int k = 0; k < P; k++)
                square[x][y] += c[x][k] * c[k][y];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const size_t a = i / P, e = j / P;
            cov[i * n + j] =
                v * t->kernel[a + 1][e + 1] * t->records[a] * t->records[e] * square[i % P][j % P];
            if (i == j)
                cov[i * n + j] += t->noise[a] * t->noise[a] + t->records[a] * chance;
        }
    for (int x = 0; x < P; x++) {
        for (size_t j = 0; j < n; j++)
            b[j] = v * t->kernel[0][1 + j / P] * t->records[j / P] * c[x][j % P];
        memcpy(copy, cov, n * n * sizeof *cov);
        eliminate(n, copy, b);
        mean[x] = 0;
        for (size_t j = 0; j < n; j++)
            mean[x] += b[j] * t->sums[j / P][j % P];
        for (int y = 0; y < P; y++) {
            left[x][y] = x == y ? v : 0;
            for (size_t j = 0; j < n; j++)
                left[x][y] -= b[j] * v * t->kernel[0][1 + j / P] * t->records[j / P] * c[y][j % P];
        }
    }
}

/* The largest number of the gradient of the logistic objective at `theta`. */
static double gradient_logistic(const problem *q, uint32_t i, const told *t, const double *theta)
{
    const double m = q->m[i], a = 0.25 / (P * P), beta2 = 1 / (2 * a);
    double square[P] = {0}, all = 0, worst = 0;
    for (uint32_t r = 0; r < q->m[i]; r++)
        for (int c = 0; c < P; c++) {
            square[c] += q->x[i][r][c] * q->x[i][r][c];
            all += q->x[i][r][c] * q->x[i][r][c] / m / P;
        }
    for (int c = 0; c < P; c++) {
        const double scale = P * (square[c] + 10 * all) / (m + 10);
        double one[P][P] = {{0}}, mean[P], left[P][P], g = 0;
        for (int k = 0; k < P; k++)
            one[k][k] = 1;
        condition(t, a * scale * scale, one, 1.0 / P, mean, left);
        for (uint32_t r = 0; r < q->m[i]; r++) {
            double z = 0;
            for (int k = 0; k < P; k++)
                z += theta[k] * q->x[i][r][k];
            g -= q->y[i][r] * q->x[i][r][c] / (1 + exp(q->y[i][r] * z));
        }
        g += scale * scale / (beta2 * left[c][c]) * (theta[c] - sqrt(beta2) * mean[c] / scale);
        worst = fmax(worst, fabs(g));
    }
    return worst;
}

/* E[x x^T] as heard: radius and bound of labels are those of the test below. */
static void mean_products(const told *t, double radius, double most, double c[P][P])
{
    const double unit = sqrt(2) * radius / most;
    double records = 0, noise = 0, trace = 0, square = 0;
    memset(c, 0, P * sizeof *c);
    for (size_t j = 0; j < t->count; j++) {
        records += t->records[j];
        noise += unit * unit * t->noise[j] * t->noise[j];
        for (int a = 0, at = P; a < P; a++)
            for (int b = a; b < P; b++, at++) {
                c[a][b] += unit * t->sums[j][at];
                c[b][a] = c[a][b];
            }
    }
    for (int a = 0; a < P; a++)
        trace += c[a][a] / records;
    const double usual = fmax(trace / P, 1e-3 * radius * radius / P);
    for (int a = 0; a < P; a++)
        for (int b = 0; b < P; b++) {
            c[a][b] /= records;
            square += pow(c[a][b] - (a == b ? usual : 0), 2);
        }
    const double keep = fmax(0, 1 - noise / (records * records) * P * P / square);
    for (int a = 0; a < P; a++)
        for (int b = 0; b < P; b++)
            c[a][b] = keep * c[a][b] + (a == b ? (1 - keep) * usual : 0);
}

/* Directions in which noise made records vary by less than nothing tell nothing. */
static void cut_negative(double c[P][P])
{
    double u[P * P], value[P];
    memcpy(u, c, sizeof u);
    assert_true(tacit_eigen_all(P, u, value));
    for (int a = 0; a < P; a++)
        for (int b = 0; b < P; b++) {
            c[a][b] = 0;
            for (int l = 0; l < P; l++)
                c[a][b] += fmax(0, value[l]) * u[l * P + a] * u[l * P + b];
        }
}

/* The same for the squared loss: 2 X^T (X theta - y) + 2 v left^-1 (theta - mean). */
static double gradient_squared(const problem *q, uint32_t i, const told *t, const double *theta,
                               double radius, double most)
{
    const double v = most * most / 4; /* size 1, and m lambda is 1 */
    double c[P][P], mean[P], left[P][P], pulled[P], worst = 0;
    mean_products(t, radius, most, c);
    for (int a = 0; a < P; a++)
        for (int b = 0; b < P; b++) {
            double gram = 0;
            for (uint32_t r = 0; r < q->m[i]; r++)
                gram += q->x[i][r][a] * q->x[i][r][b];
            c[a][b] = (gram + 20 * c[a][b]) / (q->m[i] + 20);
        }
    cut_negative(c);
    condition(t, v, c, most * most / 4 * radius * radius / P, mean, left);
    for (int k = 0; k < P; k++)
        pulled[k] = v * (theta[k] - mean[k]);
    eliminate(P, &left[0][0], pulled);
    for (int k = 0; k < P; k++) {
        double g = pulled[k];
        for (uint32_t r = 0; r < q->m[i]; r++) {
            double z = 0;
            for (int f = 0; f < P; f++)
                z += theta[f] * q->x[i][r][f];
            g += (z - q->y[i][r]) * q->x[i][r][k];
        }
        worst = fmax(worst, fabs(g));
    }
    return worst;
}

/* Every agent's model is the most probable one; returns the most that a kernel was repaired. */
static double check_all(const scene *s, const rules *r)
{
    double repaired = 0;
    for (uint32_t i = 0; i < s->q.n; i++) {
        told t = listen(s, i, r->all);
        assert_true(t.count > 0);
        repaired = fmax(repaired, correlate(s, r, i, &t));
        const double off = s->q.loss ? gradient_squared(&s->q, i, &t, s->theta[i], 2, 10)
                                     : gradient_logistic(&s->q, i, &t, s->theta[i]);
        assert_true(off < 1e-6);
    }
    return repaired;
}

static const struct {
    const char *settings;
    rules rules;
} ways[] = {
    {"gamma=0.3", {.gamma = 0.3, .likeness = 1}},
    {"gamma=0.3 reach=all", {.all = true, .gamma = 0.3, .likeness = 1}},
    {"gamma=1.5 reach=all", {.all = true, .gamma = 1.5, .likeness = 1}},
    {"gamma=0.3 likeness=0.7 common=0.4", {.gamma = 0.3, .likeness = 0.7, .common = 0.4}},
    {"kernel=power kappa=1.5", {.power = 1.5, .likeness = 1}},
    {"kernel=power kappa=1.5 reach=all likeness=0.8", {.all = true, .power = 1.5, .likeness = 0.8}},
};

static void test_models_are_the_most_probable(void **state)
{
    (void)state;
    double repaired = 0;
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        for (int loss = 0; loss < 2; loss++) {
            scene s;
            scene_init(&s, 14, loss, ways[k].settings);
            if (loss)
                scene_set(&s, "radius=2 label-bound=10");
            scene_run(&s, 5);
            repaired = fmax(repaired, check_all(&s, &ways[k].rules));
            scene_clear(&s);
        }
    assert_true(repaired > 0.01); /* correlations of paths are none as they come */
}

/* On a line, where ends are further apart than half a circle: as far as can be, and no nearer. */
static void test_nobody_is_round_the_corner(void **state)
{
    (void)state;
    scene s;
    const rules along = {.all = true, .gamma = 0.5, .likeness = 1};
    scene_init(&s, 8, 0, "reach=all gamma=0.5");
    memset(s.q.w, 0, sizeof s.q.w);
    for (uint32_t i = 1; i < N; i++)
        s.q.w[i][i - 1] = s.q.w[i - 1][i] = exp((cos(0.6 + 0.01 * i) - 1) / 0.5);
    problem_clear(&s.q);
    problem_build(&s.q, TACIT_F64);
    scene_run(&s, 5);
    check_all(&s, &along);
    /* on a tree a word crosses every edge once, and never back */
    assert_int_equal(s.rt->ops->traffic(s.rt).messages, N * (N - 1));
    scene_clear(&s);
}

/* Only the most alike count. */
static void test_the_most_alike_are_listened_to(void **state)
{
    (void)state;
    scene s;
    const rules by = {.power = 1.5, .likeness = 0.3};
    scene_init(&s, 14, 0, "kernel=power kappa=1.5 likeness=0.3 sources=2");
    scene_run(&s, 5);
    uint32_t cut = 0;
    for (uint32_t i = 0; i < N; i++) {
        told t = listen(&s, i, false);
        while (t.count > 2) {
            size_t least = 0;
            for (size_t k = 1; k < t.count; k++)
                if (s.q.w[i][t.who[k]] < s.q.w[i][t.who[least]])
                    least = k;
            const size_t last = --t.count;
            t.who[least] = t.who[last];
            t.records[least] = t.records[last];
            t.noise[least] = t.noise[last];
            memcpy(t.sums[least], t.sums[last], sizeof t.sums[last]);
            cut++;
        }
        correlate(&s, &by, i, &t);
        assert_true(gradient_logistic(&s.q, i, &t, s.theta[i]) < 1e-6);
    }
    assert_true(cut > 0);
    scene_clear(&s);
}

/* Where all weights are the same they stand for no angle, and neighbours are 0.3 alike. */
static void test_equal_weights_say_little(void **state)
{
    (void)state;
    models usual;
    for (int k = 0; k < 2; k++) {
        scene s;
        scene_init(&s, 14, 0, k ? "likeness=0.3" : "");
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t j = 0; j < N; j++)
                s.q.w[i][j] = s.q.w[i][j] > 0;
        problem_clear(&s.q);
        problem_build(&s.q, TACIT_F64);
        scene_run(&s, 5);
        if (k)
            assert_memory_equal(usual, s.theta, sizeof usual);
        memcpy(usual, s.theta, sizeof usual);
        scene_clear(&s);
    }
}

/* ---- who comes and goes, and who lies ---- */

/* Whoever is back is told again what was said, not anew: nobody is charged twice, though the budget
 * would allow for it. */
static void test_one_release_however_often_somebody_is_back(void **state)
{
    (void)state;
    scene s;
    scene_init(&s, 4, 0, "");
    s.world.privacy.epsilon = INFINITY;
    s.world.privacy.noise = 1;
    s.world.network.mean_up = 1, s.world.network.mean_down = 1;
    scene_run(&s, 30);
    for (uint32_t i = 0; i < N; i++) {
        const one_shot_agent *agent = s.rt->ops->agent_state(s.rt, i);
        assert_int_equal(releases(&s, i), 1);
        for (uint64_t e = s.q.graph.row[i]; e < s.q.graph.row[i + 1]; e++)
            assert_non_null(agent->heard[e - s.q.graph.row[i]]);
    }
    scene_clear(&s);
}

/* One-shot, but agent 0 has a word to say for somebody else before its own, and one without the
 * noise that everybody has. */
static tacit_status lie(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    const one_shot_shared *s = shared;
    const tacit_facts *facts = tacit_facts_of(env);
    for (uint32_t j = 0;
         event->type == TACIT_START && facts->self == 0 && j < 2 * facts->neighbours; j++) {
        tacit_public *word = tacit_new_public(env, &s->word);
        assert_non_null(word);
        for (size_t k = 0; k < tacit_public_count(word, WORD_SUMS); k++)
            tacit_public_set(word, WORD_SUMS, k, 0.125);
        tacit_public_set(word, WORD_ABOUT, ABOUT_RECORDS, 7);
        tacit_public_set(word, WORD_ABOUT, ABOUT_NOISE, j % 2 ? 0 : 0.5);
        tacit_public_set_int(word, WORD_AGENT, 0, j % 2 ? 0 : 1 + (int64_t)j / 2);
        const tacit_status status = tacit_send(env, facts->neighbour[j / 2], ONE_SHOT_WORD, word);
        tacit_drop(env, word);
        if (status != TACIT_OK)
            return status;
    }
    return tacit_protocol_find("one-shot")->on(env, shared, state, event);
}

static void test_lies_are_not_kept(void **state)
{
    (void)state;
    scene s;
    scene_init(&s, 4, 0, "");
    tacit_protocol liar = *s.world.protocol;
    liar.on = lie;
    s.world.protocol = &liar;
    scene_run(&s, 5);
    uint32_t heard = 0;
    for (uint32_t i = 1; i < N; i++) {
        const tacit_public *word = word_of(&s, i, 0, false);
        if (!word)
            continue;
        heard++; /* what agent 0 said of itself, with its noise */
        assert_int_equal(tacit_public_get_int(word, WORD_AGENT, 0), 0);
        assert_true(tacit_public_get(word, WORD_ABOUT, ABOUT_NOISE) > 0);
        assert_true(tacit_public_get(word, WORD_SUMS, 0) != 0.125);
    }
    assert_true(heard > 1);
    scene_clear(&s);
}

static void test_numbers_of_records_are_public(void **state)
{
    (void)state;
    scene s;
    tacit_error err = {0};
    scene_init(&s, 4, 0, "");
    s.world.privacy.adjacency = TACIT_ADD_REMOVE;
    s.world.data = s.q.data;
    s.world.model = s.q.model;
    s.world.protocol_options = s.options;
    check_fails(tacit_simulator.create(&s.rt, &s.world, &err), TACIT_EINPUT, &err,
                "one-shot says it with its sums");
    problem_clear(&s.q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_are_the_most_probable),
        cmocka_unit_test(test_nobody_is_round_the_corner),
        cmocka_unit_test(test_the_most_alike_are_listened_to),
        cmocka_unit_test(test_equal_weights_say_little),
        cmocka_unit_test(test_one_release_however_often_somebody_is_back),
        cmocka_unit_test(test_lies_are_not_kept),
        cmocka_unit_test(test_numbers_of_records_are_public),
    };
    return cmocka_run_group_tests(tests, charged_setup, charged_teardown);
}
