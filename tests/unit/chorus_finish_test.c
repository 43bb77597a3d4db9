/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a singer of chorus makes of the sums with noise that everybody heard: its prior, its doubt
 * and how strongly it holds to it in the end, from the released sums and public numbers only. What
 * the smoothing itself says is tested in smooth_test.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"
#include "protocol/chorus.h"
#include "testing.h"

enum { P = PROBLEM_FEATURES, N = PROBLEM_AGENTS, R = 3, ROUNDS = 2 };

static const double clip = 0.5, radius = 1.5, misfit = 0.2, strength = 2;

typedef struct heard {
    int sums;
    double y[ROUNDS][R * P], noise[ROUNDS];
} heard;

static void watch(void *ctx, tacit_agent agent, const tacit_cost *cost,
                  const tacit_public *released)
{
    heard *h = ctx;
    assert_true(agent == TACIT_NOBODY && h->sums < ROUNDS);
    for (size_t k = 0; k < (size_t)R * P; k++)
        h->y[h->sums][k] = tacit_public_get(released, 0, k);
    h->noise[h->sums++] = cost->noise;
}

typedef struct stage {
    problem q;
    unsigned char options[8192];
    tacit_runtime *rt;
    heard heard;
    double column[N * R];
} stage;

static void set(stage *s, const tacit_protocol *protocol, const char *key, const char *value)
{
    tacit_error err = {0};
    const tacit_option *option = tacit_section_find(&protocol->options, key, strlen(key));
    assert_non_null(option);
    check_ok(tacit_option_set(option, s->options, value, &err), &err);
}

static void perform(stage *s, int loss)
{
    static const char *const settings[][2] = {
        {"rounds", "2"},           {"radius", "1.5"},          {"misfit", "0.2"},
        {"finish-strengths", "2"}, {"finish-choice", "first"}, {"rank", "3"}};
    const tacit_kernel kernel = {TACIT_KERNEL_SPECTRAL, 1, 10, 1, 0.25, false};
    const tacit_protocol *protocol = tacit_protocol_find("chorus");
    tacit_error err = {0};
    memset(s, 0, sizeof *s);
    problem_init(&s->q, 3, loss, TACIT_F64);
    check_ok(tacit_graph_basis(&s->q.graph, &kernel, R, s->column, &err), &err);
    check_ok(tacit_options_defaults(&protocol->options, s->options, &err), &err);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        set(s, protocol, settings[k][0], settings[k][1]);
    tacit_world world = world_defaults(&s->q.graph, protocol);
    world.data = s->q.data;
    world.model = s->q.model;
    world.protocol_options = s->options;
    world.privacy.mechanism = TACIT_MECHANISM_GAUSSIAN;
    world.privacy.epsilon = 20;
    world.privacy.delta = 1e-3;
    world.privacy.clip = clip;
    tacit_trace *trace = tacit_trace_create();
    tacit_trace_watch(trace, watch, &s->heard);
    s->rt = world_create(&tacit_simulator, &world);
    s->rt->trace = trace;
    world_run(s->rt, ROUNDS + 0.5);
    s->rt->trace = NULL;
    tacit_trace_free(trace);
    assert_int_equal(s->heard.sums, ROUNDS);
}

/* Of agent i. */
typedef struct belief {
    double prior[P], doubt, spread;
} belief;

/* Steps by what each sum says: the first longer for the logistic loss, the others Newton's. */
static void listen(const stage *s, belief out[N])
{
    double q[R * R] = {0};
    for (uint32_t j = 0; j < N; j++)
        for (int k = 0; k < R * R; k++)
            q[k] += s->q.m[j] * s->column[j * R + k / R] * s->column[j * R + k % R];
    memset(out, 0, N * sizeof *out);
    for (int round = 0; round < ROUNDS; round++) {
        tacit_error err = {0};
        chorus_smoothed smoothed;
        const chorus_heard sum = {.rank = R,
                                  .features = P,
                                  .y = s->heard.y[round],
                                  .q = q,
                                  .variance = clip * clip / P,
                                  .noise = s->heard.noise[round],
                                  .modes = true};
        check_ok(chorus_smoothed_init(&smoothed, R, P, &err), &err);
        check_ok(chorus_smooth(&sum, &smoothed, &err), &err);
        assert_true(smoothed.spread > 0 && sum.noise > 0);
        const double curvature = (s->q.loss ? 2 : 0.25) * radius * radius / P;
        const double scale = (round == 0 && !s->q.loss ? 1.5 : 1) / curvature;
        for (uint32_t i = 0; i < N; i++) {
            const double *c = s->column + i * R;
            for (int k = 0; k < R * P; k++)
                out[i].prior[k % P] += scale * c[k / P] * smoothed.h[k];
            out[i].doubt = chorus_doubt(&smoothed, R, c) * scale * scale;
            out[i].spread = round ? out[i].spread : smoothed.spread * scale * scale;
        }
        chorus_smoothed_end(&smoothed);
    }
}

/* The gradient of sum of losses + weight |theta - prior|^2, its largest number. */
static double gradient(const problem *q, uint32_t i, const double *theta, const double *prior,
                       double weight)
{
    double worst = 0;
    for (int k = 0; k < P; k++) {
        double g = 2 * weight * (theta[k] - prior[k]);
        for (uint32_t r = 0; r < q->m[i]; r++) {
            double z = 0;
            for (int f = 0; f < P; f++)
                z += theta[f] * q->x[i][r][f];
            const double y = q->y[i][r];
            g += (q->loss ? 2 * (z - y) : -y / (1 + exp(y * z))) * q->x[i][r][k];
        }
        worst = fmax(worst, fabs(g));
    }
    return worst;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * fabs(b);
}

static void test_priors_doubts_and_strengths(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++) {
        stage s;
        belief want[N];
        models prior, theta;
        tacit_error err = {0};
        perform(&s, loss);
        listen(&s, want);
        problem_models(&s.q, s.rt, prior);
        for (uint32_t i = 0; i < N; i++) {
            const chorus_agent *agent = s.rt->ops->agent_state(s.rt, i);
            for (int k = 0; k < P; k++)
                assert_true(fabs(prior[i][k] - want[i].prior[k]) < 1e-5);
            assert_true(near(agent->doubt, want[i].doubt) && want[i].doubt > 0);
            assert_true(near(agent->spread, want[i].spread));
        }
        check_ok(s.rt->ops->finish(s.rt, &err), &err);
        problem_models(&s.q, s.rt, theta);
        for (uint32_t i = 0; i < N; i++) {
            /* a residual's variance over the prior's, times the multiple that was set */
            const double residual = loss ? clip * clip / (4 * radius * radius) : 0.5;
            const double weight = strength * residual / (want[i].doubt + misfit * want[i].spread);
            assert_true(gradient(&s.q, i, theta[i], prior[i], weight) < 1e-4 * (1 + weight));
            assert_true(gradient(&s.q, i, theta[i], prior[i], 1.1 * weight) >
                        1e-3 * weight * fabs(theta[i][0] - prior[i][0]));
        }
        s.rt->ops->destroy(s.rt);
        problem_clear(&s.q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_priors_doubts_and_strengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
