/* SPDX-License-Identifier: Apache-2.0 */
/* Linear models: derivatives against differences, the solver against its own gradient, the
 * smoothness constant against power iteration, scores against counting by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/scratch.h"
#include "privacy/release.h"
#include "problem.h"
#include "testing.h"

/* One agent with `m` records of `p` features. */
typedef struct lonely {
    size_t m, p;
    int loss;
    double *x, *y;
    tacit_dataset *data;
    tacit_model *model;
    tacit_scratch *scratch;
    tacit_pool *pool;
} lonely;

static const tacit_shard *shard(const lonely *l)
{
    return tacit_dataset_shard(l->data, 0, TACIT_TRAIN);
}

static void store(lonely *l)
{
    tacit_error err = {0};
    for (size_t r = 0; r < l->m; r++)
        check_ok(tacit_dataset_put(l->data, 0, TACIT_TRAIN, r, l->x + r * l->p, l->y[r], &err),
                 &err);
}

static lonely make(size_t m, size_t p, int loss, tacit_scalar scalar, double lambda, dice *d)
{
    lonely l = {.m = m, .p = p, .loss = loss};
    tacit_error err = {0};
    const uint32_t rows = (uint32_t)m, *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    tacit_model_options options = {.loss = loss, .lambda = lambda, .scalar = scalar};
    check_ok(tacit_dataset_create(&l.data, 1, p, scalar, counts, &err), &err);
    check_ok(tacit_model_create(&l.model, &options, p, &err), &err);
    l.scratch = tacit_scratch_create();
    l.pool = tacit_pool_create(false);
    l.x = calloc(m * p + 1, sizeof *l.x);
    l.y = calloc(m + 1, sizeof *l.y);
    for (size_t r = 0; r < m; r++) {
        for (size_t k = 0; k < p; k++)
            l.x[r * p + k] = (float)dice_normal(d); /* exact in either scalar */
        l.y[r] = loss ? (float)dice_normal(d) : dice_unit(d) < 0.5 ? -1 : 1;
    }
    store(&l);
    return l;
}

static void clear(lonely *l)
{
    tacit_dataset_free(l->data);
    tacit_model_free(l->model);
    tacit_scratch_free(l->scratch);
    tacit_pool_free(l->pool);
    free(l->x);
    free(l->y);
}

static tacit_public *vector(lonely *l)
{
    return tacit_vector_public(tacit_pool_vector(l->pool, tacit_model_shape(l->model), 0));
}

static tacit_permit permit_of(const char *what)
{
    return (tacit_permit){.cost = {.what = what}, .state = TACIT_PERMIT_RESERVED};
}

/* Gradient of the unregularised mean loss, released bare. */
static tacit_public *gradient(lonely *l, const tacit_public *at)
{
    static const tacit_clip unclipped = {TACIT_L2, INFINITY};
    tacit_permit permit = permit_of("gradient");
    tacit_bounded *bounded;
    tacit_public *out;
    tacit_error err = {0};
    check_ok(tacit_model_gradient(l->model, &permit, shard(l), at, unclipped, l->scratch, &bounded,
                                  &err),
             &err);
    check_ok(tacit_mechanism_apply(&permit, bounded, NULL, &out, &err), &err);
    return out;
}

static double smoothness(lonely *l)
{
    tacit_permit permit = permit_of("smoothness");
    tacit_bounded *bounded;
    tacit_error err = {0};
    check_ok(tacit_model_smoothness(l->model, &permit, shard(l), l->scratch, &bounded, &err), &err);
    assert_true(isinf(bounded->sensitivity));
    return tacit_vector_get(bounded->value, 0, 0);
}

static double loss_at(const lonely *l, const tacit_public *at)
{
    return tacit_model_loss(l->model, shard(l), tacit_public_as_secret(at)).owner_only;
}

/* L_i written down from its definition. */
static double loss_by_hand(const lonely *l, const tacit_public *at, double lambda)
{
    double sum = 0, norm = 0;
    for (size_t r = 0; r < l->m; r++) {
        double z = 0;
        for (size_t k = 0; k < l->p; k++)
            z += l->x[r * l->p + k] * tacit_public_get(at, 0, k);
        sum += l->loss ? (z - l->y[r]) * (z - l->y[r]) : log(1 + exp(-l->y[r] * z));
    }
    for (size_t k = 0; k < l->p; k++)
        norm += pow(tacit_public_get(at, 0, k), 2);
    return sum / (double)l->m + lambda * norm;
}

static void test_loss_and_gradient(void **state)
{
    (void)state;
    dice d = {1};
    static const size_t sizes[][2] = {{1, 1}, {3, 2}, {20, 7}, {5, 33}, {70, 12}};
    for (int loss = 0; loss < 2; loss++)
        for (size_t s = 0; s < 5; s++) {
            lonely l = make(sizes[s][0], sizes[s][1], loss, TACIT_F64, 0.3, &d);
            tacit_public *at = vector(&l);
            for (size_t k = 0; k < l.p; k++)
                tacit_public_set(at, 0, k, dice_normal(&d));
            double here = loss_at(&l, at);
            assert_true(fabs(here - loss_by_hand(&l, at, 0.3)) < 1e-12 * (1 + here));
            const tacit_public *g = gradient(&l, at);
            for (size_t k = 0; k < l.p; k++) {
                const double h = 1e-5;
                double x = tacit_public_get(at, 0, k);
                tacit_public_set(at, 0, k, x + h);
                double up = loss_at(&l, at);
                tacit_public_set(at, 0, k, x - h);
                double down = loss_at(&l, at);
                tacit_public_set(at, 0, k, x);
                double slope = (up - down) / (2 * h) - 2 * 0.3 * x; /* g is unregularised */
                assert_true(fabs(slope - tacit_public_get(g, 0, k)) < 1e-7 * (1 + fabs(slope)));
            }
            clear(&l);
        }
}

/* A model that is not there stands for zero. */
static void test_no_model_is_the_zero_model(void **state)
{
    (void)state;
    dice d = {2};
    lonely l = make(9, 4, 0, TACIT_F64, 0, &d);
    assert_true(fabs(tacit_model_loss(l.model, shard(&l), NULL).owner_only - log(2)) < 1e-12);
    assert_true(
        tacit_model_score(l.model, shard(&l), NULL).owner_only ==
        tacit_model_score(l.model, shard(&l), tacit_public_as_secret(vector(&l))).owner_only);
    clear(&l);
}

/* ---- solver ---- */

static double gradient_norm_at_solution(lonely *l, double lambda)
{
    tacit_error err = {0};
    tacit_public *theta = vector(l);
    check_ok(tacit_model_solve(l->model, shard(l),
                               tacit_vector_secret(tacit_vector_of_public(theta)), &err),
             &err);
    const tacit_public *g = gradient(l, theta);
    double sum = 0;
    for (size_t k = 0; k < l->p; k++)
        sum += pow(tacit_public_get(g, 0, k) + 2 * lambda * tacit_public_get(theta, 0, k), 2);
    return sqrt(sum);
}

static void test_solution_has_no_gradient(void **state)
{
    (void)state;
    dice d = {3};
    static const size_t sizes[][2] = {{1, 1}, {1, 6}, {2, 1}, {10, 3}, {40, 10}, {6, 25}, {90, 40}};
    for (int loss = 0; loss < 2; loss++)
        for (size_t s = 0; s < 7; s++) {
            lonely l = make(sizes[s][0], sizes[s][1], loss, TACIT_F64, 0, &d);
            assert_true(gradient_norm_at_solution(&l, 1.0 / (double)l.m) < 1e-10);
            clear(&l);
            l = make(sizes[s][0], sizes[s][1], loss, TACIT_F64, 1e-3, &d);
            assert_true(gradient_norm_at_solution(&l, 1e-3) < 1e-10);
            clear(&l);
            l = make(sizes[s][0], sizes[s][1], loss, TACIT_F32, 0, &d);
            assert_true(gradient_norm_at_solution(&l, 1.0 / (double)l.m) < 1e-5);
            clear(&l);
        }
}

/* All labels right by far: only a tiny regulariser keeps the minimiser finite. */
static void test_separable_data(void **state)
{
    (void)state;
    dice d = {4};
    const double lambdas[] = {0, 1e-4, 1e-7};
    for (int s = 0; s < 3; s++) {
        lonely l = make(30, 4, 0, TACIT_F64, lambdas[s], &d);
        for (size_t r = 0; r < l.m; r++) {
            l.y[r] = r % 2 ? 1 : -1;
            l.x[r * l.p] = l.y[r] * (3 + dice_unit(&d));
        }
        store(&l);
        double lambda = lambdas[s] > 0 ? lambdas[s] : 1.0 / 30;
        assert_true(gradient_norm_at_solution(&l, lambda) < 1e-10);
        clear(&l);
    }
}

static void test_solver_agrees_with_the_plain_one(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++) {
        problem q;
        problem_init(&q, 20, loss, TACIT_F64);
        tacit_pool *pool = tacit_pool_create(false);
        tacit_vector *theta = tacit_pool_vector(pool, tacit_model_shape(q.model), 0);
        for (uint32_t i = 0; i < q.n; i++) {
            double want[PROBLEM_FEATURES];
            tacit_error err = {0};
            problem_solve_local(&q, i, want);
            check_ok(tacit_model_solve(q.model, tacit_dataset_shard(q.data, i, TACIT_TRAIN),
                                       tacit_vector_secret(theta), &err),
                     &err);
            for (size_t k = 0; k < PROBLEM_FEATURES; k++)
                assert_true(fabs(tacit_vector_get(theta, 0, k) - want[k]) < 1e-10);
        }
        tacit_pool_free(pool);
        problem_clear(&q);
    }
}

static void test_without_records_or_with_too_many_features(void **state)
{
    (void)state;
    dice d = {5};
    tacit_error err = {0};
    lonely l = make(0, 3, 0, TACIT_F64, 0, &d);
    tacit_public *theta = vector(&l);
    tacit_public_set(theta, 0, 1, 7);
    tacit_secret *out = tacit_vector_secret(tacit_vector_of_public(theta));
    check_ok(tacit_model_solve(l.model, shard(&l), out, &err), &err);
    assert_true(tacit_public_get(theta, 0, 1) == 0);
    assert_true(smoothness(&l) == 0);
    assert_true(isnan(tacit_model_score(l.model, shard(&l), NULL).owner_only));
    clear(&l);
    l = make(1, 5001, 0, TACIT_F64, 0, &d);
    out = tacit_vector_secret(tacit_vector_of_public(vector(&l)));
    check_fails(tacit_model_solve(l.model, shard(&l), out, &err), TACIT_EINPUT, &err, "5001");
    clear(&l);
    tacit_model *model = NULL;
    tacit_model_options options = {0};
    check_fails(tacit_model_create(&model, &options, 0, &err), TACIT_EINPUT, &err, "features");
    check_fails(tacit_model_create(&model, &options, SIZE_MAX / 2, &err), TACIT_EINPUT, &err,
                "weights");
    assert_null(model);
}

static void test_lambda_is_given_or_shrinks_with_records(void **state)
{
    (void)state;
    static const struct {
        double lambda, lambda_records, want;
    } cases[] = {{0, 0, 1.0 / 8}, {0, 1, 1.0 / 8}, {0, 3, 3.0 / 8}, {0.25, 3, 0.25}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tacit_model_options options = {.lambda = cases[k].lambda,
                                       .lambda_records = cases[k].lambda_records};
        tacit_model *model = NULL;
        tacit_error err = {0};
        check_ok(tacit_model_create(&model, &options, 2, &err), &err);
        assert_true(tacit_model_lambda(model, 8) == cases[k].want);
        assert_true(tacit_model_lambda(model, 0) == cases[k].lambda);
        tacit_model_free(model);
    }
}

/* ---- smoothness ---- */

static void test_smoothness_is_the_plain_one(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++) {
        problem q;
        problem_init(&q, 21, loss, TACIT_F64);
        for (uint32_t i = 0; i < q.n; i++) {
            lonely l = {.model = q.model, .data = q.data, .scratch = tacit_scratch_create()};
            tacit_permit permit = permit_of("smoothness");
            tacit_bounded *bounded;
            tacit_error err = {0};
            check_ok(tacit_model_smoothness(q.model, &permit,
                                            tacit_dataset_shard(q.data, i, TACIT_TRAIN), l.scratch,
                                            &bounded, &err),
                     &err);
            double found = tacit_vector_get(bounded->value, 0, 0);
            double want = (problem_smoothness(&q, i) - 2 * problem_lambda(&q, i)) / (1 + 1e-6);
            assert_true(fabs(found - want) < 1e-9 * want);
            tacit_scratch_free(l.scratch);
        }
        problem_clear(&q);
    }
}

/* Power iteration on x^T x, for shapes the small problems do not have. */
static double largest_by_power(const lonely *l)
{
    double *v = calloc(2 * l->p, sizeof *v), *next = v + l->p, value = 0;
    for (size_t k = 0; k < l->p; k++)
        v[k] = 1 + 0.1 * (double)(k % 7);
    for (int step = 0; step < 3000; step++) {
        memset(next, 0, l->p * sizeof *next);
        for (size_t r = 0; r < l->m; r++) {
            double z = 0;
            for (size_t k = 0; k < l->p; k++)
                z += l->x[r * l->p + k] * v[k];
            for (size_t k = 0; k < l->p; k++)
                next[k] += z * l->x[r * l->p + k];
        }
        value = 0;
        for (size_t k = 0; k < l->p; k++)
            value += next[k] * next[k];
        value = sqrt(value);
        for (size_t k = 0; k < l->p; k++)
            v[k] = next[k] / value;
    }
    free(v);
    return value;
}

static void test_smoothness_of_any_shape(void **state)
{
    (void)state;
    dice d = {6};
    static const size_t sizes[][2] = {{1, 1}, {1, 50}, {50, 1}, {30, 30}, {12, 40}, {60, 15}};
    for (int loss = 0; loss < 2; loss++)
        for (size_t s = 0; s < 6; s++) {
            lonely l = make(sizes[s][0], sizes[s][1], loss, s % 2 ? TACIT_F32 : TACIT_F64, 0, &d);
            double want = largest_by_power(&l) / (double)l.m * (loss ? 2 : 0.25);
            double found = smoothness(&l);
            assert_true(found > want * (1 - 1e-6)); /* the iteration may still be on its way up */
            assert_true(found < want * (1 + 1e-3));
            clear(&l);
        }
}

static void test_public_bound_holds(void **state)
{
    (void)state;
    dice d = {7};
    for (int loss = 0; loss < 2; loss++)
        for (int trial = 0; trial < 50; trial++) {
            lonely l = make(1 + dice_below(&d, 20), 1 + dice_below(&d, 10), loss, TACIT_F64, 0, &d);
            double radius = dice_between(&d, 0.1, 3);
            for (size_t r = 0; r < l.m; r++) {
                double norm = 0;
                for (size_t k = 0; k < l.p; k++)
                    norm += l.x[r * l.p + k] * l.x[r * l.p + k];
                for (size_t k = 0; k < l.p; k++)
                    l.x[r * l.p + k] *= fmin(1, radius / sqrt(norm));
            }
            store(&l);
            assert_true(smoothness(&l) <=
                        tacit_model_smoothness_bound(l.model, radius) * (1 + 1e-12));
            clear(&l);
        }
    lonely one = make(1, 1, 0, TACIT_F64, 0, &d); /* and one record of full norm attains it */
    one.x[0] = 2;
    store(&one);
    assert_true(fabs(smoothness(&one) - tacit_model_smoothness_bound(one.model, 2)) < 1e-12);
    clear(&one);
}

/* ---- scores, labels, lambda ---- */

static void test_scores(void **state)
{
    (void)state;
    dice d = {8};
    lonely l = make(4, 1, 0, TACIT_F64, 0, &d);
    const double x[4] = {1, -1, 2, 0}, y[4] = {1, 1, -1, 1}; /* right, wrong, wrong, right */
    memcpy(l.x, x, sizeof x);
    memcpy(l.y, y, sizeof y);
    store(&l);
    tacit_public *one = vector(&l);
    tacit_public_set(one, 0, 0, 1);
    assert_true(tacit_model_score(l.model, shard(&l), tacit_public_as_secret(one)).owner_only ==
                0.5);
    assert_string_equal(tacit_model_score_name(l.model), "accuracy");
    assert_true(tacit_model_score_up(l.model));
    clear(&l);
    l = make(4, 1, 1, TACIT_F64, 0, &d);
    memcpy(l.x, x, sizeof x);
    memcpy(l.y, y, sizeof y);
    store(&l);
    one = vector(&l);
    tacit_public_set(one, 0, 0, 1);
    double rmse = tacit_model_score(l.model, shard(&l), tacit_public_as_secret(one)).owner_only;
    assert_true(fabs(rmse - sqrt((0 + 4 + 9 + 1) / 4.0)) < 1e-12);
    assert_string_equal(tacit_model_score_name(l.model), "rmse");
    assert_false(tacit_model_score_up(l.model));
    clear(&l);
}

static void test_check_refuses_what_the_loss_cannot_use(void **state)
{
    (void)state;
    dice d = {9};
    tacit_error err = {0};
    lonely l = make(6, 3, 0, TACIT_F64, 0, &d), other = make(6, 4, 0, TACIT_F64, 0, &d);
    lonely single = make(6, 3, 0, TACIT_F32, 0, &d), squared = make(6, 3, 1, TACIT_F64, 0, &d);
    check_ok(tacit_model_check(l.model, l.data, &err), &err);
    check_fails(tacit_model_check(l.model, other.data, &err), TACIT_EINPUT, &err, "features");
    check_fails(tacit_model_check(l.model, single.data, &err), TACIT_EINPUT, &err, "scalar");
    l.y[4] = 0.5;
    store(&l);
    check_fails(tacit_model_check(l.model, l.data, &err), TACIT_EINPUT, &err, "label 0.5");
    check_ok(tacit_model_check(squared.model, l.data, &err), &err);
    clear(&l);
    clear(&other);
    clear(&single);
    clear(&squared);
}

static void test_lambda(void **state)
{
    (void)state;
    dice d = {10};
    lonely l = make(6, 3, 0, TACIT_F64, 0, &d), fixed = make(6, 3, 0, TACIT_F64, 0.2, &d);
    assert_true(tacit_model_lambda(l.model, 8) == 0.125);
    assert_true(tacit_model_lambda(l.model, 0) == 0);
    assert_true(tacit_model_lambda(fixed.model, 8) == 0.2);
    assert_int_equal(tacit_model_shape(l.model)->segment[0].count, 3);
    assert_int_equal(tacit_model_scalar_shape(l.model)->bytes, 8);
    clear(&l);
    clear(&fixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss_and_gradient),
        cmocka_unit_test(test_no_model_is_the_zero_model),
        cmocka_unit_test(test_solution_has_no_gradient),
        cmocka_unit_test(test_separable_data),
        cmocka_unit_test(test_solver_agrees_with_the_plain_one),
        cmocka_unit_test(test_without_records_or_with_too_many_features),
        cmocka_unit_test(test_lambda_is_given_or_shrinks_with_records),
        cmocka_unit_test(test_smoothness_is_the_plain_one),
        cmocka_unit_test(test_smoothness_of_any_shape),
        cmocka_unit_test(test_public_bound_holds),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_check_refuses_what_the_loss_cannot_use),
        cmocka_unit_test(test_lambda),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
