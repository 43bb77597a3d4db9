/* SPDX-License-Identifier: Apache-2.0 */
/* Clipped gradients of the softmax loss: as integers they keep their bound for any input, and they
 * are what a plain implementation says. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "charged.h"
#include "model/softmax.h"

enum { ROWS = 23, FEATURES = 37, CLASSES = 5, NUMBERS = FEATURES * CLASSES };

typedef struct learner {
    tacit_dataset *data;
    tacit_model *model;
    tacit_scratch *scratch;
    tacit_pool *pool;
    tacit_public *at;
    tacit_scalar scalar;
    uint32_t rows;
    double x[ROWS][FEATURES], y[ROWS];
} learner;

static void put_row(learner *l, uint32_t row)
{
    tacit_error err = {0};
    check_ok(tacit_dataset_put(l->data, 0, TACIT_TRAIN, row, l->x[row], l->y[row], &err), &err);
}

static void roll_row(learner *l, uint32_t row, dice *d)
{
    const double size = pow(10, dice_between(d, -3, 4));
    /* Often on the border, where rounding after clipping could step over it. */
    for (int k = 0; k < FEATURES; k++)
        l->x[row][k] = (float)(size * (dice_unit(d) < 0.5 ? 1 : dice_between(d, -1, 1)));
    l->y[row] = (double)dice_below(d, CLASSES);
    put_row(l, row);
}

static learner *learner_make(tacit_scalar scalar, uint32_t rows, double size, dice *d)
{
    learner *l = calloc(1, sizeof *l);
    tacit_error err = {0};
    const uint32_t *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    const tacit_model_options options = {
        .loss = TACIT_SOFTMAX, .classes = CLASSES, .scalar = scalar};
    l->scratch = tacit_scratch_create();
    l->pool = tacit_pool_create(false);
    l->scalar = scalar;
    l->rows = rows;
    check_ok(tacit_dataset_create(&l->data, 1, FEATURES, scalar, counts, &err), &err);
    check_ok(tacit_model_create(&l->model, &options, FEATURES, &err), &err);
    l->at = tacit_vector_public(tacit_pool_vector(l->pool, tacit_model_shape(l->model), 0));
    for (size_t k = 0; k < NUMBERS; k++)
        tacit_public_set(l->at, 0, k, (float)(size * dice_normal(d)));
    for (uint32_t r = 0; r < rows; r++)
        roll_row(l, r, d);
    return l;
}

static void learner_free(learner *l)
{
    tacit_dataset_free(l->data);
    tacit_model_free(l->model);
    tacit_scratch_free(l->scratch);
    tacit_pool_free(l->pool);
    free(l);
}

/* The sum in steps, before noise. */
static void gradient(learner *l, const tacit_cost *cost, int64_t steps[NUMBERS])
{
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_error err = {0};
    tacit_scratch_mark mark = tacit_scratch_now(l->scratch);
    charged_reserve(&ledger, cost, &permit);
    check_ok(tacit_model_gradient(l->model, &permit, tacit_dataset_shard(l->data, 0, TACIT_TRAIN),
                                  l->at, tacit_cost_clip(cost), l->scratch, &bounded, &err),
             &err);
    memcpy(steps, bounded->steps, NUMBERS * sizeof *steps);
    assert_true(bounded->sensitivity == cost->sensitivity);
    tacit_scratch_rewind(l->scratch, mark);
    tacit_ledger_clear(&ledger);
}

/* Exact, since sums of squares of such numbers fit long double's 64 bits. */
static long double length(tacit_norm norm, const int64_t *v)
{
    long double sum = 0;
    for (int k = 0; k < NUMBERS; k++)
        sum += norm == TACIT_L1 ? fabsl((long double)v[k]) : (long double)v[k] * (long double)v[k];
    return norm == TACIT_L1 ? sum : sqrtl(sum);
}

/* ---- bounds on integers ---- */

static void check_bounds(tacit_scalar scalar, tacit_mechanism mechanism, tacit_unit unit,
                         double size, dice *d)
{
    learner *one = learner_make(scalar, 1, size, d), *many = learner_make(scalar, ROWS, size, d);
    int moved = 0, trials = SLOW ? 40 : 200;
    for (int trial = 0; trial < trials; trial++) {
        tacit_cost cost = charged_plan(mechanism, pow(10, dice_between(d, -3, 3)), 1000, NUMBERS);
        cost.unit = unit;
        const long double limit = tacit_cost_limit(&cost);
        int64_t a[NUMBERS], b[NUMBERS];
        roll_row(one, 0, d);
        gradient(one, &cost, a);
        assert_true(length(cost.norm, a) <= limit); /* clipped, and still so after rounding */
        gradient(many, &cost, a);
        roll_row(many, (uint32_t)dice_below(d, ROWS), d);
        gradient(many, &cost, b);
        for (int k = 0; k < NUMBERS; k++)
            b[k] -= a[k];
        assert_true(length(cost.norm, b) <= 2 * limit); /* one record replaced: no slack */
        moved += length(cost.norm, b) > limit / 1000;
    }
    assert_true(moved > trials / 4); /* the test could fail */
    learner_free(one);
    learner_free(many);
}

static void test_a_record_changes_integers_by_its_bound(void **state)
{
    (void)state;
    dice d = {7};
    for (int scalar = TACIT_F32; scalar <= TACIT_F64; scalar++)
        for (int m = TACIT_MECHANISM_LAPLACE; m <= TACIT_MECHANISM_GAUSSIAN; m++) {
            check_bounds((tacit_scalar)scalar, (tacit_mechanism)m, TACIT_UNIT_RECORD, 0, &d);
            check_bounds((tacit_scalar)scalar, (tacit_mechanism)m, TACIT_UNIT_RECORD, 0.1, &d);
            check_bounds((tacit_scalar)scalar, (tacit_mechanism)m, TACIT_UNIT_USER, 0.1, &d);
        }
}

/* Rows whose squares vanish or overflow in floats, weights that leave no margin finite: the way of
 * measured integers. Whatever comes out is within the limit. */
static void test_rows_and_weights_beyond_measure(void **state)
{
    (void)state;
    dice d = {8};
    static const double sizes[] = {1e-30, 1e-22, 1e18, 1e25, 1e37};
    for (int scalar = TACIT_F32; scalar <= TACIT_F64; scalar++)
        for (size_t s = 0; s < 5; s++)
            for (int huge = 0; huge < 2; huge++) {
                learner *l = learner_make((tacit_scalar)scalar, 1, huge ? 1e30 : 0, &d);
                for (int k = 0; k < FEATURES; k++)
                    l->x[0][k] = sizes[s] * dice_between(&d, 0.5, 1);
                put_row(l, 0);
                for (int m = TACIT_MECHANISM_LAPLACE; m <= TACIT_MECHANISM_GAUSSIAN; m++) {
                    tacit_cost cost = charged_plan((tacit_mechanism)m, 1, 10, NUMBERS);
                    int64_t steps[NUMBERS];
                    gradient(l, &cost, steps);
                    assert_true(length(cost.norm, steps) <= tacit_cost_limit(&cost));
                    /* Cut, not lost, unless squares overflow. */
                    if (!huge && sizes[s] > 1 && (scalar == TACIT_F64 || sizes[s] < 2e18))
                        assert_true(length(cost.norm, steps) > 0.9L * tacit_cost_limit(&cost));
                }
                learner_free(l);
            }
}

/* Squares of such features are zero in single precision, so floats believe the record to be short;
 * under so small a clip it is not. Only the check of integers sees that. */
static void test_what_floats_cannot_measure(void **state)
{
    (void)state;
    dice d = {12};
    learner *l = learner_make(TACIT_F32, 1, 0, &d);
    int shrunk = 0;
    for (int trial = 0; trial < 100; trial++) {
        const tacit_cost cost = charged_plan(
            trial % 2 ? TACIT_MECHANISM_LAPLACE : TACIT_MECHANISM_GAUSSIAN, 1e-26, 1e-25, NUMBERS);
        for (int k = 0; k < FEATURES; k++)
            l->x[0][k] = 1e-25 * dice_between(&d, 0.01, 1);
        put_row(l, 0);
        int64_t steps[NUMBERS];
        gradient(l, &cost, steps);
        const long double limit = tacit_cost_limit(&cost);
        assert_true(length(cost.norm, steps) <= limit);
        shrunk += length(cost.norm, steps) > 0.9L * limit;
    }
    assert_true(shrunk > 50);
    learner_free(l);
}

/* ---- against a plain implementation ---- */

/* Record r's gradient, class by class; returns its norm. */
static double plain_gradient(const learner *l, uint32_t r, tacit_norm norm, double out[NUMBERS])
{
    double z[CLASSES], all = 0, size = 0;
    for (int c = 0; c < CLASSES; c++) {
        z[c] = 0;
        for (int k = 0; k < FEATURES; k++)
            z[c] += l->x[r][k] * tacit_public_get(l->at, 0, (size_t)(c * FEATURES + k));
        all += exp(z[c]);
    }
    for (int c = 0; c < CLASSES; c++)
        for (int k = 0; k < FEATURES; k++) {
            const double g = (exp(z[c]) / all - (c == (int)l->y[r])) * l->x[r][k];
            out[c * FEATURES + k] = g;
            size += norm == TACIT_L1 ? fabs(g) : g * g;
        }
    return norm == TACIT_L1 ? size : sqrt(size);
}

static void roll_short_rows(learner *l, dice *d)
{
    for (uint32_t r = 0; r < l->rows; r++) {
        for (int k = 0; k < FEATURES; k++)
            l->x[r][k] = (float)(0.2 * dice_normal(d)); /* length about 1.2 */
        l->y[r] = (double)dice_below(d, CLASSES);
        put_row(l, r);
    }
}

static void test_sums_on_the_grid_are_the_plain_ones(void **state)
{
    (void)state;
    dice d = {9};
    for (int scalar = TACIT_F32; scalar <= TACIT_F64; scalar++)
        for (int m = TACIT_MECHANISM_LAPLACE; m <= TACIT_MECHANISM_GAUSSIAN; m++) {
            learner *l = learner_make((tacit_scalar)scalar, ROWS, 0.3, &d);
            roll_short_rows(l, &d);
            const double radius = m == TACIT_MECHANISM_LAPLACE ? 9.5 : 1.1; /* cuts some */
            tacit_cost cost = charged_plan((tacit_mechanism)m, radius, 50, NUMBERS);
            const double step = ldexp(1, cost.grid), limit = tacit_cost_limit(&cost);
            double want[NUMBERS] = {0}, g[NUMBERS];
            int cut = 0;
            for (uint32_t r = 0; r < ROWS; r++) {
                const double size = plain_gradient(l, r, cost.norm, g) / step;
                const double most = (1 - 0x1p-16) * limit, by = size > most ? most / size : 1;
                cut += size > most;
                for (int k = 0; k < NUMBERS; k++)
                    want[k] += trunc(by * g[k] / step);
            }
            assert_true(cut > 2 && cut < ROWS - 2);
            int64_t steps[NUMBERS];
            gradient(l, &cost, steps);
            /* Single precision is off by 2^-20 of the limit or so, truncation by a step. */
            const double room = 2 + (scalar == TACIT_F32 ? ROWS * limit * 0x1p-20 : 0);
            for (int k = 0; k < NUMBERS; k++)
                assert_true(fabs((double)steps[k] - want[k]) <= room);
            learner_free(l);
        }
}

/* Without noise: the mean of clipped gradients. */
static void test_clipped_means_are_the_plain_ones(void **state)
{
    (void)state;
    dice d = {10};
    for (int scalar = TACIT_F32; scalar <= TACIT_F64; scalar++)
        for (int norm = TACIT_L1; norm <= TACIT_L2; norm++) {
            learner *l = learner_make((tacit_scalar)scalar, ROWS, 0.3, &d);
            roll_short_rows(l, &d);
            const tacit_clip clip = {(tacit_norm)norm, norm == TACIT_L1 ? 9.5 : 1.1};
            double want[NUMBERS] = {0}, g[NUMBERS];
            for (uint32_t r = 0; r < ROWS; r++) {
                const double size = plain_gradient(l, r, clip.norm, g);
                const double by = size > clip.radius ? clip.radius / size : 1;
                for (int k = 0; k < NUMBERS; k++)
                    want[k] += by * g[k] / ROWS;
            }
            tacit_permit permit = {.cost = {.what = "x"}, .state = TACIT_PERMIT_RESERVED};
            tacit_bounded *bounded;
            tacit_error err = {0};
            check_ok(tacit_model_gradient(l->model, &permit,
                                          tacit_dataset_shard(l->data, 0, TACIT_TRAIN), l->at, clip,
                                          l->scratch, &bounded, &err),
                     &err);
            for (size_t k = 0; k < NUMBERS; k++)
                assert_true(fabs(tacit_vector_get(bounded->value, 0, k) - want[k]) <
                            (scalar == TACIT_F32 ? 1e-6 : 1e-14));
            learner_free(l);
        }
}

/* A lot has every record with probability 1/2, so along the sum of all records a lot is half of it
 * on average; its deviation is at most that of 23 records that all lie along the sum. False alarm:
 * 6 sigma, 2e-9. */
static void test_lots(void **state)
{
    (void)state;
    dice d = {11};
    learner *l = learner_make(TACIT_F64, ROWS, 0.3, &d);
    roll_short_rows(l, &d);
    tacit_cost cost = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 50, NUMBERS);
    int64_t all[NUMBERS], lot[NUMBERS];
    double part = 0, whole = 0;
    gradient(l, &cost, all);
    cost.sampling = 0.5;
    const int lots = SLOW ? 200 : 1000;
    tacit_ledger ledger = {0};
    for (int t = 0; t < lots; t++) {
        tacit_permit permit;
        tacit_bounded *bounded;
        tacit_error err = {0};
        tacit_scratch_mark mark = tacit_scratch_now(l->scratch);
        charged_reserve(&ledger, &cost, &permit);
        permit.id = (uint64_t)t;
        permit.random = &charged_random;
        check_ok(tacit_model_gradient(l->model, &permit,
                                      tacit_dataset_shard(l->data, 0, TACIT_TRAIN), l->at,
                                      tacit_cost_clip(&cost), l->scratch, &bounded, &err),
                 &err);
        memcpy(lot, bounded->steps, sizeof lot);
        for (int k = 0; k < NUMBERS; k++)
            part += (double)lot[k] * (double)all[k] / lots;
        tacit_scratch_rewind(l->scratch, mark);
    }
    tacit_ledger_clear(&ledger);
    for (int k = 0; k < NUMBERS; k++)
        whole += (double)all[k] * (double)all[k];
    const double sigma = 0.5 * tacit_cost_limit(&cost) * sqrt(ROWS / (double)lots) / sqrt(whole);
    assert_true(sigma < 0.05);
    assert_true(fabs(part / whole - 0.5) <= 6 * sigma);
    learner_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_record_changes_integers_by_its_bound),
        cmocka_unit_test(test_rows_and_weights_beyond_measure),
        cmocka_unit_test(test_what_floats_cannot_measure),
        cmocka_unit_test(test_sums_on_the_grid_are_the_plain_ones),
        cmocka_unit_test(test_clipped_means_are_the_plain_ones),
        cmocka_unit_test(test_lots),
    };
    return cmocka_run_group_tests(tests, charged_setup, charged_teardown);
}
