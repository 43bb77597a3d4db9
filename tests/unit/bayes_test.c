/* SPDX-License-Identifier: Apache-2.0 */
/* The most probable model under a prior: its gradient is zero, for more and fewer records than
 * features and precisions that differ by orders of magnitude; and what is refused. */
#include <math.h>
#include <stdlib.h>

#include "base/pool.h"
#include "base/vector_internal.h"
#include "testing.h"

typedef struct problem {
    size_t m, p;
    int loss;
    double *x, *y, *mean, *precision;
    tacit_dataset *data;
    tacit_model *model;
    tacit_pool *pool;
    tacit_vector *center, *precise, *out;
} problem;

static void put(tacit_vector *v, size_t p, const double *from)
{
    for (size_t k = 0; k < p; k++)
        tacit_vector_set(v, 0, k, from[k]);
}

/* Precisions between 10^-spread and 10^spread. */
static problem make(size_t m, size_t p, int loss, double spread, uint64_t seed)
{
    problem q = {.m = m, .p = p, .loss = loss};
    dice d = {seed};
    tacit_error err = {0};
    const uint32_t rows = (uint32_t)m, *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    const tacit_model_options options = {.loss = loss, .scalar = TACIT_F64};
    check_ok(tacit_dataset_create(&q.data, 1, p, TACIT_F64, counts, &err), &err);
    check_ok(tacit_model_create(&q.model, &options, p, &err), &err);
    q.pool = tacit_pool_create(false);
    q.x = calloc(m * p + 1, sizeof *q.x);
    q.y = calloc(m + 1, sizeof *q.y);
    q.mean = calloc(p, sizeof *q.mean);
    q.precision = calloc(p, sizeof *q.precision);
    for (size_t r = 0; r < m; r++) {
        for (size_t k = 0; k < p; k++)
            q.x[r * p + k] = dice_normal(&d) / sqrt((double)p);
        q.y[r] = loss ? dice_normal(&d) : dice_unit(&d) < 0.5 ? -1 : 1;
        check_ok(tacit_dataset_put(q.data, 0, TACIT_TRAIN, r, q.x + r * p, q.y[r], &err), &err);
    }
    for (size_t k = 0; k < p; k++) {
        q.mean[k] = 3 * dice_normal(&d);
        q.precision[k] = pow(10, dice_between(&d, -spread, spread));
    }
    tacit_vector **each[] = {&q.center, &q.precise, &q.out};
    for (size_t k = 0; k < 3; k++)
        *each[k] = tacit_pool_vector(q.pool, tacit_model_shape(q.model), 0);
    put(q.center, p, q.mean);
    put(q.precise, p, q.precision);
    return q;
}

static void clear(problem *q)
{
    tacit_dataset_free(q->data);
    tacit_model_free(q->model);
    tacit_pool_free(q->pool);
    free(q->x);
    free(q->y);
    free(q->mean);
    free(q->precision);
}

static tacit_status map(problem *q, tacit_error *err)
{
    return tacit_model_map(q->model, tacit_dataset_shard(q->data, 0, TACIT_TRAIN),
                           tacit_vector_secret(q->center), tacit_vector_secret(q->precise),
                           tacit_vector_secret(q->out), err);
}

/* The largest part of the gradient at the result, of the largest term in it. */
static double relative_gradient(const problem *q)
{
    double worst = 0, size = 0;
    double *g = calloc(q->p, sizeof *g);
    for (size_t r = 0; r < q->m; r++) {
        double z = 0;
        for (size_t k = 0; k < q->p; k++)
            z += q->x[r * q->p + k] * tacit_vector_get(q->out, 0, k);
        const double slope = q->loss ? 2 * (z - q->y[r]) : -q->y[r] / (1 + exp(q->y[r] * z));
        for (size_t k = 0; k < q->p; k++) {
            g[k] += slope * q->x[r * q->p + k];
            size = fmax(size, fabs(slope * q->x[r * q->p + k]));
        }
    }
    for (size_t k = 0; k < q->p; k++) {
        g[k] += q->precision[k] * (tacit_vector_get(q->out, 0, k) - q->mean[k]);
        worst = fmax(worst, fabs(g[k]));
    }
    free(g);
    return worst / size;
}

static void test_minimises(void **state)
{
    (void)state;
    const size_t sizes[][2] = {{1, 1}, {1, 7}, {9, 3}, {5, 40}, {60, 12}, {55, 100}, {20, 20}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int loss = 0; loss < 2; loss++)
            for (double spread = 0; spread < 4; spread += 1.5) {
                tacit_error err = {0};
                problem q = make(sizes[s][0], sizes[s][1], loss, spread, 7 * s + 1);
                check_ok(map(&q, &err), &err);
                assert_true(relative_gradient(&q) < 1e-8);
                clear(&q);
            }
}

static void test_without_records(void **state)
{
    (void)state;
    tacit_error err = {0};
    problem q = make(0, 5, 0, 1, 3);
    check_ok(map(&q, &err), &err);
    for (size_t k = 0; k < 5; k++)
        assert_true(tacit_vector_get(q.out, 0, k) == q.mean[k]);
    clear(&q);
}

/* Where a weight is certain it does not move; where nothing is known, records decide. */
static void test_certain_and_free(void **state)
{
    (void)state;
    tacit_error err = {0};
    problem q = make(30, 2, 1, 0, 5);
    q.precision[0] = 1e8;
    q.precision[1] = 1e-8;
    put(q.precise, 2, q.precision);
    check_ok(map(&q, &err), &err);
    double xx = 0, xr = 0;
    for (size_t r = 0; r < q.m; r++) {
        xx += q.x[2 * r + 1] * q.x[2 * r + 1];
        xr += q.x[2 * r + 1] * (q.y[r] - q.x[2 * r] * q.mean[0]);
    }
    assert_true(fabs(tacit_vector_get(q.out, 0, 0) - q.mean[0]) < 1e-5);
    assert_true(fabs(tacit_vector_get(q.out, 0, 1) - xr / xx) < 1e-5);
    clear(&q);
}

static void test_refuses(void **state)
{
    (void)state;
    const double bad[] = {0, -1, INFINITY, NAN};
    problem q = make(4, 3, 0, 0, 9);
    for (size_t k = 0; k < 4; k++) {
        tacit_error err = {0};
        tacit_vector_set(q.precise, 0, 1, bad[k]);
        check_fails(map(&q, &err), TACIT_EINPUT, &err, "precisions");
    }
    tacit_error err = {0};
    put(q.precise, 3, q.precision);
    tacit_vector_set(q.center, 0, 2, NAN);
    check_fails(map(&q, &err), TACIT_EINPUT, &err, "finite means");
    clear(&q);
}

/* A mean from somewhere absurd is answered, or refused with words; it never hangs. */
static void test_absurd_means(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++)
        for (double size = 1e10; size < 1e305; size *= 1e42) {
            tacit_error err = {0};
            problem q = make(8, 5, loss, 2, 11);
            for (size_t k = 0; k < q.p; k++)
                tacit_vector_set(q.center, 0, k, size * q.mean[k]);
            const tacit_status status = map(&q, &err);
            assert_true(status == TACIT_OK || status == TACIT_EINPUT);
            clear(&q);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minimises),        cmocka_unit_test(test_without_records),
        cmocka_unit_test(test_certain_and_free), cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_absurd_means),
    };
    return cmocka_run_group_tests_name("bayes", tests, NULL, NULL);
}
