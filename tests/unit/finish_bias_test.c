/* SPDX-License-Identifier: Apache-2.0 */
/* finish-bias: the last weight is held less, or more. By the gradient of what is minimised, written
 * from the definition. */
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "base/vector_internal.h"
#include "tacit/model.h"
#include "testing.h"

enum { MOST = 30 };

typedef struct world {
    size_t m, p;
    double x[MOST][MOST], y[MOST], prior[MOST], theta[MOST];
    int loss;
} world;

static void draw(world *w, size_t m, size_t p, int loss, dice *d)
{
    *w = (world){.m = m, .p = p, .loss = loss};
    for (size_t r = 0; r < m; r++) {
        for (size_t k = 0; k < p; k++)
            w->x[r][k] = k + 1 < p ? dice_normal(d) : 0.3;
        w->y[r] = loss ? dice_normal(d) : dice_unit(d) < 0.5 ? -1 : 1;
    }
    for (size_t k = 0; k < p; k++)
        w->prior[k] = dice_normal(d);
}

static tacit_status fit(world *w, const tacit_finish *how, tacit_error *err)
{
    const uint32_t rows = (uint32_t)w->m, *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    tacit_model_options options = {.loss = w->loss, .scalar = TACIT_F64};
    tacit_dataset *data;
    tacit_model *model;
    tacit_finished chosen;
    check_ok(tacit_dataset_create(&data, 1, w->p, TACIT_F64, counts, err), err);
    check_ok(tacit_model_create(&model, &options, w->p, err), err);
    tacit_pool *pool = tacit_pool_create(false);
    tacit_vector *told = tacit_pool_vector(pool, tacit_model_shape(model), 0);
    tacit_vector *out = tacit_pool_vector(pool, tacit_model_shape(model), 0);
    for (size_t r = 0; r < w->m; r++)
        check_ok(tacit_dataset_put(data, 0, TACIT_TRAIN, r, w->x[r], w->y[r], err), err);
    for (size_t k = 0; k < w->p; k++)
        tacit_vector_set(told, 0, k, w->prior[k]);
    tacit_status status =
        tacit_model_finish(model, tacit_dataset_shard(data, 0, TACIT_TRAIN),
                           tacit_vector_public(told), how, tacit_vector_secret(out), &chosen, err);
    for (size_t k = 0; k < w->p; k++)
        w->theta[k] = tacit_vector_get(out, 0, k);
    tacit_pool_free(pool);
    tacit_model_free(model);
    tacit_dataset_free(data);
    return status;
}

/* Largest number in the gradient of sum of losses + strength sum_k h_k (theta_k - prior_k)^2. */
static double gradient(const world *w, double strength, double last)
{
    double g[MOST] = {0}, largest = 0;
    for (size_t k = 0; k < w->p; k++)
        g[k] = 2 * strength * (k + 1 < w->p ? 1 : last) * (w->theta[k] - w->prior[k]);
    for (size_t r = 0; r < w->m; r++) {
        double z = 0;
        for (size_t k = 0; k < w->p; k++)
            z += w->theta[k] * w->x[r][k];
        const double slope = w->loss ? 2 * (z - w->y[r]) : -w->y[r] / (1 + exp(w->y[r] * z));
        for (size_t k = 0; k < w->p; k++)
            g[k] += slope * w->x[r][k];
    }
    for (size_t k = 0; k < w->p; k++)
        largest = fmax(largest, fabs(g[k]));
    return largest;
}

static void test_the_last_weight_is_held_as_said(void **state)
{
    (void)state;
    dice d = {7};
    tacit_error err = {0};
    static const double lasts[] = {0, 1, 0.01, 0.2, 30}, one = 1, two = 2;
    static const size_t sizes[][2] = {{1, 1}, {3, 8}, {25, 6}, {9, 9}};
    for (int k = 0; k < 40; k++) {
        world w;
        const double last = lasts[k % 5];
        draw(&w, sizes[k / 10][0], sizes[k / 10][1], k / 5 % 2, &d);
        tacit_finish how = {.folds = 5,
                            .scales = 1,
                            .strengths = 1,
                            .scale = &one,
                            .strength = &two,
                            .choice = TACIT_FINISH_FIRST,
                            .last = last};
        check_ok(fit(&w, &how, &err), &err);
        assert_true(gradient(&w, 2, last > 0 ? last : 1) < 1e-9);
    }
}

static void test_nonsense_is_refused(void **state)
{
    (void)state;
    dice d = {8};
    static const double lasts[] = {-1, NAN, INFINITY}, one = 1;
    for (int k = 0; k < 3; k++) {
        world w;
        tacit_error err = {0};
        draw(&w, 4, 3, 1, &d);
        tacit_finish how = {.folds = 5,
                            .scales = 1,
                            .strengths = 1,
                            .scale = &one,
                            .strength = &one,
                            .choice = TACIT_FINISH_FIRST,
                            .last = lasts[k]};
        check_fails(fit(&w, &how, &err), TACIT_EINPUT, &err, "a private finish needs");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_weight_is_held_as_said),
        cmocka_unit_test(test_nonsense_is_refused),
    };
    return cmocka_run_group_tests_name("finish_bias", tests, NULL, NULL);
}
