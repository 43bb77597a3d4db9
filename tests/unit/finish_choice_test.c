/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a private finish, where it can be written down: one feature and the squared loss,
 * so that every fit is a quotient and every held-out loss a square. Then in whole runs: with
 * threads, cut and resumed, and with agents who deal their records differently.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/vector_internal.h"
#include "problem.h"
#include "testing.h"

enum { M = 9, CHOICES = 3 };
static const double one = 1, strengths[CHOICES - 1] = {0.5, 6}, lambda = 0.3;

/* An agent with M records of one feature, told `prior`. */
typedef struct agent {
    double x[M], y[M], prior;
    tacit_dataset *data;
    tacit_model *model;
    tacit_pool *pool;
    tacit_public *told;
} agent;

static agent make(uint64_t seed)
{
    agent a = {.prior = 0};
    dice d = {seed};
    tacit_error err = {0};
    const uint32_t rows = M, *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    const tacit_model_options options = {
        .loss = 1 /* squared */, .lambda = lambda, .scalar = TACIT_F64};
    check_ok(tacit_dataset_create(&a.data, 1, 1, TACIT_F64, counts, &err), &err);
    check_ok(tacit_model_create(&a.model, &options, 1, &err), &err);
    a.pool = tacit_pool_create(false);
    a.told = tacit_vector_public(tacit_pool_vector(a.pool, tacit_model_shape(a.model), 0));
    a.prior = dice_normal(&d);
    const double truth = dice_unit(&d) < 0.5 ? a.prior : dice_normal(&d);
    tacit_public_set(a.told, 0, 0, a.prior);
    for (uint32_t r = 0; r < M; r++) {
        a.x[r] = dice_normal(&d);
        a.y[r] = truth * a.x[r] + dice_normal(&d);
        check_ok(tacit_dataset_put(a.data, 0, TACIT_TRAIN, r, &a.x[r], a.y[r], &err), &err);
    }
    return a;
}

static void forget(agent *a)
{
    tacit_dataset_free(a->data);
    tacit_model_free(a->model);
    tacit_pool_free(a->pool);
}

/* Candidate k without record `out` (M: with all of them). Learning alone is the last. */
static double fit(const agent *a, int k, int out, double *weight)
{
    double xx = 0, xy = 0;
    for (int r = 0; r < M; r++) {
        xx += r == out ? 0 : a->x[r] * a->x[r];
        xy += r == out ? 0 : a->x[r] * a->y[r];
    }
    *weight = k < CHOICES - 1 ? strengths[k] : lambda * (out < M ? M - 1 : M);
    return (xy + *weight * (k < CHOICES - 1 ? a->prior : 0)) / (xx + *weight);
}

static double held_out(const agent *a, int k, int r)
{
    double weight;
    const double off = fit(a, k, r, &weight) * a->x[r] - a->y[r];
    return off * off;
}

/* Leave one out, then the best, if it beats the first by `margin` standard errors. */
static int choose(const agent *a, double margin, double *loss)
{
    double sum[CHOICES] = {0};
    int best = 0;
    for (int k = 0; k < CHOICES; k++) {
        for (int r = 0; r < M; r++)
            sum[k] += held_out(a, k, r);
        best = sum[k] < sum[best] ? k : best;
    }
    double mean = 0, square = 0;
    for (int r = 0; r < M; r++) {
        const double gain = held_out(a, 0, r) - held_out(a, best, r);
        mean += gain / M;
        square += gain * gain / M;
    }
    const double error = sqrt((square - mean * mean) / (M - 1));
    best = margin > 0 && !(mean > margin * error) ? 0 : best;
    *loss = sum[best] / M;
    return best;
}

static void test_the_choice_by_hand(void **state)
{
    (void)state;
    static const double margins[] = {0, 0.5, 1, 2, 5};
    int chosen[5][CHOICES] = {{0}};
    for (uint64_t seed = 1; seed <= 200; seed++) {
        agent a = make(seed);
        for (int g = 0; g < 5; g++) {
            const tacit_finish how = {.folds = 1000,
                                      .scales = 1,
                                      .strengths = CHOICES - 1,
                                      .scale = &one,
                                      .strength = strengths,
                                      .choice = TACIT_FINISH_BEST,
                                      .margin = margins[g],
                                      .seed = seed};
            tacit_error err = {0};
            tacit_finished found;
            tacit_vector *out = tacit_pool_vector(a.pool, tacit_model_shape(a.model), 0);
            check_ok(tacit_model_finish(a.model, tacit_dataset_shard(a.data, 0, TACIT_TRAIN),
                                        a.told, &how, tacit_vector_secret(out), &found, &err),
                     &err);
            double loss, weight;
            const int k = choose(&a, margins[g], &loss);
            const double theta = fit(&a, k, M, &weight);
            assert_true(found.scale.owner_only == (k < CHOICES - 1));
            assert_true(fabs(found.strength.owner_only - weight) < 1e-12);
            assert_true(fabs(found.loss.owner_only - loss) < 1e-7 * loss);
            assert_true(fabs(tacit_vector_get(out, 0, 0) - theta) < 1e-10);
            chosen[g][k]++;
        }
        forget(&a);
    }
    for (int g = 0; g < 4; g++) { /* else this tested little */
        assert_true(chosen[g][0] < chosen[g + 1][0]);
        assert_true(chosen[g][1] > 0 && (g == 3 || chosen[g][2] > 0));
    }
}

/* ---- runs ---- */

typedef struct setting {
    const char *key, *value;
} setting;

/* cd or model-propagation to the end, cut at `cut` if that is positive; then once more, when it
 * has ended, if `late`. */
static void run(const problem *q, const char *name, const setting *settings, double cut, bool late,
                uint32_t threads, models out)
{
    static double options[1024];
    tacit_error err = {0};
    const tacit_protocol *protocol = tacit_protocol_find(name);
    assert_true(protocol->options.size <= sizeof options);
    check_ok(tacit_options_defaults(&protocol->options, options, &err), &err);
    for (; settings->key; settings++) {
        const tacit_option *option =
            tacit_section_find(&protocol->options, settings->key, strlen(settings->key));
        assert_non_null(option);
        check_ok(tacit_option_set(option, options, settings->value, &err), &err);
    }
    tacit_world world = world_defaults(&q->graph, protocol);
    world.data = q->data;
    world.model = q->model;
    world.protocol_options = options;
    world.threads = threads;
    tacit_runtime *rt = world_create(&tacit_simulator, &world);
    for (int k = 0; k < 2; k++) {
        if (k == 0 ? cut > 0 : late) {
            tacit_saver *saver;
            size_t len;
            if (k == 0)
                world_run(rt, cut);
            const uint8_t *bytes = save_bytes(rt, &saver, &len);
            rt->ops->destroy(rt);
            rt = world_create(&tacit_simulator, &world);
            check_ok(load_bytes(rt, bytes, len, &err), &err);
            tacit_saver_free(saver);
        }
        if (k == 0) {
            world_run(rt, 6);
            check_ok(rt->ops->finish(rt, &err), &err);
        }
    }
    problem_models(q, rt, out);
    rt->ops->destroy(rt);
}

static void test_threads_and_cuts_change_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"cd", "model-propagation", "chorus"};
    static const setting settings[] = {
        {"finish", "private"}, {"finish-choice", "best"}, {"finish-folds", "3"}, {0}};
    for (int k = 0; k < 3; k++) {
        problem q;
        models whole, cut, threads, late;
        problem_init(&q, 41, 0, TACIT_F64);
        run(&q, names[k], settings, 0, false, 1, whole);
        run(&q, names[k], settings, 2.5, false, 1, cut);
        run(&q, names[k], settings, 0, false, 3, threads);
        run(&q, names[k], settings, 0, true, 1, late);
        assert_memory_equal(whole, cut, sizeof whole);
        assert_memory_equal(whole, threads, sizeof whole);
        assert_memory_equal(whole, late, sizeof whole);
        problem_clear(&q);
    }
}

/* A margin that nothing beats is the first of the lists; none at all is not. */
static void test_the_margin_is_an_option(void **state)
{
    (void)state;
    static const setting first[] = {{"finish", "private"}, {"finish-choice", "first"}, {0}};
    static const setting strict[] = {
        {"finish", "private"}, {"finish-choice", "best"}, {"finish-margin", "100"}, {0}};
    static const setting loose[] = {
        {"finish", "private"}, {"finish-choice", "best"}, {"finish-margin", "0"}, {0}};
    problem q;
    models one_of_all, by_much, by_any;
    problem_init(&q, 42, 1, TACIT_F64);
    run(&q, "cd", first, 0, false, 1, one_of_all);
    run(&q, "cd", strict, 0, false, 1, by_much);
    run(&q, "cd", loose, 0, false, 1, by_any);
    assert_memory_equal(one_of_all, by_much, sizeof by_much);
    assert_memory_not_equal(one_of_all, by_any, sizeof by_any);
    problem_clear(&q);
}

/* All have the same records, and so the same local models: they differ in who is held out. */
static void test_agents_deal_for_themselves(void **state)
{
    (void)state;
    static const setting settings[] = {{"finish", "private"},
                                       {"finish-choice", "mean"},
                                       {"finish-sharpness", "1"},
                                       {"finish-folds", "2"},
                                       {0}};
    problem q;
    models theta;
    problem_init(&q, 43, 1, TACIT_F64);
    uint32_t most = 0;
    for (uint32_t i = 1; i < q.n; i++)
        most = q.m[i] > q.m[most] ? i : most;
    for (uint32_t i = 0; i < q.n; i++) {
        q.m[i] = q.m[most];
        memcpy(q.x[i], q.x[most], sizeof q.x[0]);
        memcpy(q.y[i], q.y[most], sizeof q.y[0]);
    }
    problem_clear(&q);
    problem_build(&q, TACIT_F64);
    run(&q, "model-propagation", settings, 0, false, 1, theta);
    uint32_t different = 0;
    for (uint32_t i = 1; i < q.n; i++)
        different += fabs(theta[i][0] - theta[0][0]) > 1e-6; /* more than rounding */
    assert_true(different > q.n / 2);
    problem_clear(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_choice_by_hand),
        cmocka_unit_test(test_threads_and_cuts_change_nothing),
        cmocka_unit_test(test_the_margin_is_an_option),
        cmocka_unit_test(test_agents_deal_for_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
