/* SPDX-License-Identifier: Apache-2.0 */
// cmocka wants these first
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "problem.h"

enum { P = PROBLEM_FEATURES, N = PROBLEM_AGENTS };

/* A generator of its own: tests of random streams must not depend on random streams. */
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

void problem_init(problem *q, uint64_t seed, int loss, tacit_scalar scalar)
{
    uint64_t s = seed * 77 + 5;
    memset(q, 0, sizeof *q);
    q->n = N;
    q->loss = loss;
    for (uint32_t i = 0; i < q->n; i++) {
        q->m[i] = 1 + (uint32_t)(uniform(&s) * PROBLEM_RECORDS);
        for (uint32_t r = 0; r < q->m[i]; r++) {
            double z = 0;
            for (int k = 0; k < P; k++) {
                q->x[i][r][k] = 2 * uniform(&s) - 1;
                z += q->x[i][r][k] * (k + 1);
            }
            q->y[i][r] = loss ? z + uniform(&s) - 0.5 : (z + 2 * uniform(&s) - 1 > 0 ? 1 : -1);
        }
    }
    for (uint32_t i = 0; i < q->n; i++)
        for (uint32_t j = 0; j < i; j++)
            if (j + 1 == i || uniform(&s) < 0.2)
                q->w[i][j] = q->w[j][i] = 0.2 + uniform(&s);
    problem_build(q, scalar);
}

void problem_build(problem *q, tacit_scalar scalar)
{
    tacit_error err = {0};
    const uint32_t *counts[TACIT_SPLITS] = {q->m, NULL, NULL};
    problem_clear(q);
    assert_int_equal(tacit_dataset_create(&q->data, q->n, P, scalar, counts, &err), TACIT_OK);
    tacit_edge edges[N * N];
    size_t count = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        for (uint32_t r = 0; r < q->m[i]; r++)
            assert_int_equal(
                tacit_dataset_put(q->data, i, TACIT_TRAIN, r, q->x[i][r], q->y[i][r], &err),
                TACIT_OK);
        for (uint32_t j = 0; j < i; j++)
            if (q->w[i][j] > 0)
                edges[count++] = (tacit_edge){i, j, q->w[i][j]};
    }
    assert_int_equal(tacit_graph_from_edges(&q->graph, q->n, edges, count, &err), TACIT_OK);
    tacit_model_options options = {.loss = q->loss, .lambda = 0, .scalar = scalar};
    assert_int_equal(tacit_model_create(&q->model, &options, P, &err), TACIT_OK);
    assert_int_equal(tacit_model_check(q->model, q->data, &err), TACIT_OK);
}

void problem_clear(problem *q)
{
    if (!q->data)
        return;
    tacit_dataset_free(q->data);
    tacit_graph_clear(&q->graph);
    tacit_model_free(q->model);
    q->data = NULL;
}

double problem_degree(const problem *q, uint32_t i)
{
    double sum = 0;
    for (uint32_t j = 0; j < q->n; j++)
        sum += q->w[i][j];
    return sum;
}

double problem_confidence(const problem *q, uint32_t i)
{
    uint32_t most = 0;
    for (uint32_t j = 0; j < q->n; j++)
        most = q->m[j] > most ? q->m[j] : most;
    return (double)q->m[i] / most;
}

double problem_lambda(const problem *q, uint32_t i)
{
    return q->m[i] ? 1.0 / q->m[i] : 0;
}

static double dot(const double *a, const double *b)
{
    double sum = 0;
    for (int k = 0; k < P; k++)
        sum += a[k] * b[k];
    return sum;
}

double problem_local_loss(const problem *q, uint32_t i, const double *theta)
{
    double sum = 0;
    for (uint32_t r = 0; r < q->m[i]; r++) {
        double z = dot(q->x[i][r], theta), y = q->y[i][r];
        sum += q->loss ? (z - y) * (z - y) : log(1 + exp(-y * z));
    }
    return (q->m[i] ? sum / q->m[i] : 0) + problem_lambda(q, i) * dot(theta, theta);
}

double problem_objective(const problem *q, double mu, models theta)
{
    double sum = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        sum += mu * problem_degree(q, i) * problem_confidence(q, i) *
               problem_local_loss(q, i, theta[i]);
        for (uint32_t j = 0; j < i; j++)
            for (int k = 0; k < P; k++) {
                double d = theta[i][k] - theta[j][k];
                sum += 0.5 * q->w[i][j] * d * d;
            }
    }
    return sum;
}

/* Add `scale` times gradient and Hessian of agent i's local loss at theta. */
static void local_derivatives(const problem *q, uint32_t i, const double *theta, double scale,
                              double *g, double *h, size_t stride)
{
    for (int k = 0; k < P; k++) {
        g[k] += scale * 2 * problem_lambda(q, i) * theta[k];
        h[(size_t)k * stride + k] += scale * 2 * problem_lambda(q, i);
    }
    for (uint32_t r = 0; r < q->m[i]; r++) {
        double z = dot(q->x[i][r], theta), y = q->y[i][r], e = exp(-y * z);
        double slope = q->loss ? 2 * (z - y) : -y * e / (1 + e);
        double curve = q->loss ? 2 : e / (1 + e) / (1 + e);
        for (int k = 0; k < P; k++) {
            g[k] += scale * slope * q->x[i][r][k] / q->m[i];
            for (int l = 0; l < P; l++)
                h[(size_t)k * stride + l] +=
                    scale * curve * q->x[i][r][k] * q->x[i][r][l] / q->m[i];
        }
    }
}

/* Gauss with pivots: b becomes the solution. */
static void eliminate(size_t n, double *a, double *b)
{
    for (size_t c = 0; c < n; c++) {
        size_t pivot = c;
        for (size_t r = c; r < n; r++)
            if (fabs(a[r * n + c]) > fabs(a[pivot * n + c]))
                pivot = r;
        for (size_t k = 0; k < n; k++) {
            double t = a[c * n + k];
            a[c * n + k] = a[pivot * n + k];
            a[pivot * n + k] = t;
        }
        double t = b[c];
        b[c] = b[pivot];
        b[pivot] = t;
        assert_true(a[c * n + c] != 0);
        for (size_t r = 0; r < n; r++) {
            double f = a[r * n + c] / a[c * n + c];
            if (r == c || f == 0)
                continue;
            for (size_t k = c; k < n; k++)
                a[r * n + k] -= f * a[c * n + k];
            b[r] -= f * b[c];
        }
    }
    for (size_t c = 0; c < n; c++)
        b[c] /= a[c * n + c];
}

void problem_solve(const problem *q, double mu, models theta)
{
    size_t d = (size_t)q->n * P;
    double *h = malloc(d * d * sizeof *h), *g = malloc(d * sizeof *g);
    memset(theta, 0, sizeof(models));
    for (int step = 0; step < 60; step++) {
        memset(h, 0, d * d * sizeof *h);
        memset(g, 0, d * sizeof *g);
        for (uint32_t i = 0; i < q->n; i++) {
            double scale = mu * problem_degree(q, i) * problem_confidence(q, i);
            size_t at = (size_t)i * P;
            local_derivatives(q, i, theta[i], scale, g + at, h + at * d + at, d);
            for (uint32_t j = 0; j < q->n; j++)
                for (int k = 0; k < P; k++) {
                    g[at + k] += q->w[i][j] * (theta[i][k] - theta[j][k]);
                    h[(at + k) * d + at + k] += q->w[i][j];
                    h[(at + k) * d + (size_t)j * P + k] -= q->w[i][j];
                }
        }
        eliminate(d, h, g);
        for (uint32_t i = 0; i < q->n; i++)
            for (int k = 0; k < P; k++)
                theta[i][k] -= g[(size_t)i * P + k];
    }
    free(h);
    free(g);
}

void problem_solve_local(const problem *q, uint32_t i, double *theta)
{
    memset(theta, 0, P * sizeof *theta);
    for (int step = 0; step < 60; step++) {
        double h[P * P] = {0}, g[P] = {0};
        local_derivatives(q, i, theta, 1, g, h, P);
        eliminate(P, h, g);
        for (int k = 0; k < P; k++)
            theta[k] -= g[k];
    }
}

double problem_smoothness(const problem *q, uint32_t i)
{
    double v[P] = {1, 0.9, 1.1, 0.8}, value = 0;
    for (int step = 0; step < 5000; step++) {
        double next[P] = {0};
        for (uint32_t r = 0; r < q->m[i]; r++) {
            double z = dot(q->x[i][r], v);
            for (int k = 0; k < P; k++)
                next[k] += z * q->x[i][r][k];
        }
        value = sqrt(dot(next, next));
        for (int k = 0; k < P && value > 0; k++)
            v[k] = next[k] / value;
    }
    double mean = q->m[i] ? value / q->m[i] : 0;
    return (q->loss ? 2 * mean : mean / 4) * (1 + 1e-6) + 2 * problem_lambda(q, i);
}

/* ---- running ---- */

tacit_world world_defaults(const tacit_graph *graph, const tacit_protocol *protocol)
{
    tacit_error err = {0};
    tacit_world world = {.graph = graph, .protocol = protocol, .seed = 1, .threads = 1};
    assert_int_equal(tacit_options_defaults(&tacit_network_section, &world.network, &err), 0);
    assert_int_equal(tacit_options_defaults(&tacit_privacy_section, &world.privacy, &err), 0);
    return world;
}

tacit_runtime *world_create(const tacit_runtime_ops *ops, const tacit_world *world)
{
    tacit_error err = {0};
    tacit_runtime *rt = NULL;
    if (ops->create(&rt, world, &err) != TACIT_OK)
        fail_msg("create: %s", err.text);
    return rt;
}

void world_run(tacit_runtime *rt, double time)
{
    tacit_error err = {0};
    if (rt->ops->run(rt, time, NULL, &err) != TACIT_OK)
        fail_msg("run: %s", err.text);
}

static void set_option(const tacit_section *section, void *values, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    tacit_error err = {0};
    const tacit_option *o = tacit_section_find(section, assignment, (size_t)(equals - assignment));
    assert_non_null(o);
    if (tacit_option_set(o, values, equals + 1, &err) != TACIT_OK)
        fail_msg("%s: %s", assignment, err.text);
}

tacit_runtime *problem_run(const problem *q, const char *protocol, double time, uint64_t seed, ...)
{
    tacit_error err = {0};
    const tacit_protocol *p = tacit_protocol_find(protocol);
    assert_non_null(p);
    unsigned char options[4096] = {0};
    assert_int_equal(tacit_options_defaults(&p->options, options, &err), TACIT_OK);
    va_list args;
    va_start(args, seed);
    for (const char *a; (a = va_arg(args, const char *));)
        set_option(&p->options, options, a);
    va_end(args);
    tacit_world world = world_defaults(&q->graph, p);
    world.data = q->data;
    world.model = q->model;
    world.protocol_options = options;
    world.seed = seed;
    tacit_runtime *rt = world_create(&tacit_simulator, &world);
    world_run(rt, time);
    return rt;
}

void problem_models(const problem *q, const tacit_runtime *rt, models theta)
{
    for (uint32_t i = 0; i < q->n; i++) {
        const tacit_secret *model = rt->ops->agent_model(rt, i);
        for (uint32_t k = 0; k < P; k++)
            theta[i][k] = model ? tacit_vector_get(tacit_vector_of_secret(model), 0, k) : 0;
    }
}
