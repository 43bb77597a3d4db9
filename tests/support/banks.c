/* SPDX-License-Identifier: Apache-2.0 */
#include "banks.h"

#include <math.h>
#include <string.h>

#include "base/vector_internal.h"

enum { P = BANK_FEATURES };

void banks_set(banks *b, const char *settings)
{
    const tacit_section *section = &tacit_protocol_find("learner")->options;
    tacit_error err = {0};
    char text[256];
    assert_true(strlen(settings) < sizeof text);
    memcpy(text, settings, strlen(settings) + 1);
    for (char *at = text, *next; *at; at = next) {
        next = at + strcspn(at, " ");
        next += *next ? (*next = 0, 1) : 0;
        const char *equals = strchr(at, '=');
        const tacit_option *option = tacit_section_find(section, at, (size_t)(equals - at));
        assert_non_null(option);
        check_ok(tacit_option_set(option, b->options, equals + 1, &err), &err);
    }
}

static void draw(banks *b)
{
    static const double truth[P] = {1, -0.6, 0.4, 0.2};
    dice d = {77};
    for (uint32_t i = 1; i < BANKS; i++)
        for (uint32_t r = 0; r < b->m[i]; r++) {
            double z = 0;
            for (int k = 0; k < P; k++) {
                b->x[i][r][k] = dice_between(&d, -0.5, 0.5) + (k == 0 ? 0.1 * i : 0);
                z += truth[k] * b->x[i][r][k];
            }
            z += 0.2 * dice_normal(&d);
            b->y[i][r] = b->loss ? z : z > 0 ? 1 : -1;
        }
}

void banks_init(banks *b, int loss, const char *settings)
{
    tacit_error err = {0};
    memset(b, 0, sizeof *b);
    b->loss = loss;
    b->lambda = 0.05;
    memcpy(b->m, (const uint32_t[BANKS]){0, 40, 20, 10}, sizeof b->m);
    draw(b);
    const uint32_t *const counts[TACIT_SPLITS] = {b->m, NULL, NULL};
    check_ok(tacit_dataset_create(&b->data, BANKS, P, TACIT_F64, counts, &err), &err);
    for (uint32_t i = 0; i < BANKS; i++)
        for (uint32_t r = 0; r < b->m[i]; r++)
            check_ok(tacit_dataset_put(b->data, i, TACIT_TRAIN, r, b->x[i][r], b->y[i][r], &err),
                     &err);
    check_ok(tacit_graph_star(&b->graph, BANKS, &err), &err);
    const tacit_model_options options = {.loss = loss, .lambda = b->lambda, .scalar = TACIT_F64};
    check_ok(tacit_model_create(&b->model, &options, P, &err), &err);
    const tacit_protocol *protocol = tacit_protocol_find("learner");
    assert_true(protocol->options.size <= sizeof b->options);
    check_ok(tacit_options_defaults(&protocol->options, b->options, &err), &err);
    banks_set(b, settings);
    b->world = world_defaults(&b->graph, protocol);
    b->world.data = b->data;
    b->world.model = b->model;
    b->world.protocol_options = b->options;
    b->world.seed = 5;
}

void banks_clear(banks *b)
{
    tacit_dataset_free(b->data);
    tacit_graph_clear(&b->graph);
    tacit_model_free(b->model);
}

void banks_gradient(const banks *b, uint32_t i, const double *theta, double *out)
{
    memset(out, 0, P * sizeof *out);
    for (uint32_t r = 0; r < b->m[i]; r++) {
        double z = 0;
        for (int k = 0; k < P; k++)
            z += theta[k] * b->x[i][r][k];
        const double y = b->y[i][r], slope = b->loss ? 2 * (z - y) : -y / (1 + exp(y * z));
        for (int k = 0; k < P; k++)
            out[k] += slope * b->x[i][r][k] / b->m[i];
    }
}

double banks_fitness(const banks *b, uint32_t first, const double *theta)
{
    double sum = 0, n = 0, size = 0;
    for (uint32_t i = first; i < BANKS; i++)
        for (uint32_t r = 0; r < b->m[i]; r++, n++) {
            double z = 0;
            for (int k = 0; k < P; k++)
                z += theta[k] * b->x[i][r][k];
            const double y = b->y[i][r];
            sum += b->loss ? (z - y) * (z - y) : log1p(exp(-y * z));
        }
    for (int k = 0; k < P; k++)
        size += theta[k] * theta[k];
    return sum / n + b->lambda * size;
}

/* Plain gradient descent: rows are short, so a step of 0.5 is safe. */
void banks_optimum(const banks *b, uint32_t first, double *theta)
{
    double n = 0;
    for (uint32_t i = first; i < BANKS; i++)
        n += b->m[i];
    memset(theta, 0, P * sizeof *theta);
    for (int step = 0; step < 4000; step++) {
        double g[P], all[P];
        for (int k = 0; k < P; k++)
            all[k] = 2 * b->lambda * theta[k];
        for (uint32_t i = first; i < BANKS; i++) {
            banks_gradient(b, i, theta, g);
            for (int k = 0; k < P; k++)
                all[k] += b->m[i] / n * g[k];
        }
        for (int k = 0; k < P; k++)
            theta[k] -= 0.5 * all[k];
    }
}

void banks_model(const tacit_runtime *rt, uint32_t agent, double *theta)
{
    const tacit_secret *model = rt->ops->agent_model(rt, agent);
    for (size_t k = 0; k < P; k++)
        theta[k] = model ? tacit_vector_get(tacit_vector_of_secret(model), 0, k) : 0;
}

double banks_apart(const double *a, const double *b)
{
    double sum = 0;
    for (int k = 0; k < P; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}
