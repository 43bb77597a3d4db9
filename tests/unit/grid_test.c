/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a record can change is bounded as integers, for any input: plans round towards privacy,
 * gradients are clipped and checked again after rounding, sums have no order, lots are binomial.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "charged.h"

/* ---- plans ---- */

static void test_plans_round_towards_privacy(void **state)
{
    (void)state;
    dice d = {3};
    for (int k = 0; k < 2000; k++) {
        double radius = pow(10, dice_between(&d, -8, 8));
        double noise = radius * pow(10, dice_between(&d, -3, 4));
        tacit_cost cost = charged_plan(k % 2 ? TACIT_MECHANISM_LAPLACE : TACIT_MECHANISM_GAUSSIAN,
                                       radius, noise, 10);
        double step = ldexp(1, cost.grid), limit = tacit_cost_limit(&cost);
        assert_true(cost.noise >= noise && cost.noise <= noise * (1 + 1e-3) + step);
        assert_true(limit * step <= radius && limit * step > radius * (1 - 1. / 200));
        assert_true(cost.sensitivity == 2 * limit * step); /* replace */
        assert_true(limit >= 256 && limit < 0x1p24 && cost.noise / step <= 0x1p30 + 1);
        assert_int_equal(cost.norm, k % 2 ? TACIT_L1 : TACIT_L2);
    }
}

static void test_senseless_plans_are_refused(void **state)
{
    (void)state;
    static const struct {
        double radius, noise;
        const char *word;
    } bad[] = {
        {0, 1, "privacy.clip"},        {-1, 1, "privacy.clip"}, {NAN, 1, "privacy.clip"},
        {INFINITY, 1, "privacy.clip"}, {1, 0, "positive"},      {1, -1, "positive"},
        {1, NAN, "positive"},          {1, INFINITY, "noise"},  {1, 1e9, "can hold"},
        {1, 1e-6, "nothing beside"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tacit_cost cost = {.mechanism = TACIT_MECHANISM_GAUSSIAN, .coordinates = 3, .what = "x"};
        tacit_error err = {0};
        check_fails(tacit_cost_on_grid(&cost, bad[k].radius, bad[k].noise, &err), TACIT_EINPUT,
                    &err, bad[k].word);
    }
    tacit_cost cost = {.what = "x"};
    tacit_error err = {0};
    check_fails(tacit_cost_choice(&cost, 1, 1, &err), TACIT_EINPUT, &err, "categories");
    check_fails(tacit_cost_choice(&cost, 3, NAN, &err), TACIT_EINPUT, &err, "epsilon");
}

/* ---- gradients: bounds on integers ---- */

enum { ROWS = 9, FEATURES = 37 };

typedef struct learner {
    tacit_dataset *data;
    tacit_model *model;
    tacit_scratch *scratch;
    tacit_pool *pool;
    tacit_public *at;
    int loss;
} learner;

static void roll_row(learner *l, uint32_t row, dice *d)
{
    tacit_error err = {0};
    double x[FEATURES], size = pow(10, dice_between(d, -3, 4));
    /* Often on the border, where rounding after clipping could step over it. */
    for (int k = 0; k < FEATURES; k++)
        x[k] = size * (dice_unit(d) < 0.5 ? 1 : dice_between(d, -1, 1));
    double y = l->loss ? size * dice_between(d, -1, 1) : (dice_unit(d) < 0.5 ? -1 : 1);
    check_ok(tacit_dataset_put(l->data, 0, TACIT_TRAIN, row, x, y, &err), &err);
}

static learner learner_make(int loss, tacit_scalar scalar, uint32_t rows, dice *d)
{
    learner l = {.scratch = tacit_scratch_create(), .pool = tacit_pool_create(false), .loss = loss};
    tacit_error err = {0};
    const uint32_t *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    tacit_model_options options = {.loss = loss, .scalar = scalar};
    check_ok(tacit_dataset_create(&l.data, 1, FEATURES, scalar, counts, &err), &err);
    check_ok(tacit_model_create(&l.model, &options, FEATURES, &err), &err);
    l.at = tacit_vector_public(tacit_pool_vector(l.pool, tacit_model_shape(l.model), 0));
    for (int k = 0; k < FEATURES; k++)
        tacit_public_set(l.at, 0, (size_t)k, dice_normal(d));
    for (uint32_t r = 0; r < rows; r++)
        roll_row(&l, r, d);
    return l;
}

static void learner_free(learner *l)
{
    tacit_dataset_free(l->data);
    tacit_model_free(l->model);
    tacit_scratch_free(l->scratch);
    tacit_pool_free(l->pool);
}

/* The sum in steps, before noise; and what comes out with it if `out` is wanted. */
static void gradient(learner *l, const tacit_cost *cost, int64_t steps[FEATURES], double *out)
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
    memcpy(steps, bounded->steps, FEATURES * sizeof *steps);
    assert_true(bounded->sensitivity == cost->sensitivity);
    if (out) {
        tacit_public *released;
        check_ok(tacit_mechanism_apply(&permit, bounded,
                                       &(tacit_noise_source){&charged_random, 5, NULL}, &released,
                                       &err),
                 &err);
        for (size_t k = 0; k < FEATURES; k++)
            out[k] = tacit_public_get(released, 0, k);
        for (size_t k = 0; k < FEATURES; k++) /* nothing secret is left behind */
            assert_true(bounded->steps[k] == 0);
    }
    tacit_scratch_rewind(l->scratch, mark);
    tacit_ledger_clear(&ledger);
}

/* Exact, since sums of squares of such numbers fit long double's 64 bits. */
static long double length(tacit_norm norm, const int64_t *v)
{
    long double sum = 0;
    for (int k = 0; k < FEATURES; k++)
        sum += norm == TACIT_L1 ? fabsl((long double)v[k]) : (long double)v[k] * (long double)v[k];
    return norm == TACIT_L1 ? sum : sqrtl(sum);
}

static void check_bounds(int loss, tacit_scalar scalar, tacit_mechanism mechanism, dice *d)
{
    learner one = learner_make(loss, scalar, 1, d), many = learner_make(loss, scalar, ROWS, d);
    int moved = 0;
    for (int trial = 0; trial < 200; trial++) {
        tacit_cost cost = charged_plan(mechanism, pow(10, dice_between(d, -3, 3)), 1000, FEATURES);
        const long double limit = tacit_cost_limit(&cost);
        int64_t a[FEATURES], b[FEATURES];
        roll_row(&one, 0, d);
        gradient(&one, &cost, a, NULL);
        assert_true(length(cost.norm, a) <= limit); /* clipped, and still so after rounding */
        gradient(&many, &cost, a, NULL);
        roll_row(&many, (uint32_t)dice_below(d, ROWS), d);
        gradient(&many, &cost, b, NULL);
        for (int k = 0; k < FEATURES; k++)
            b[k] -= a[k];
        assert_true(length(cost.norm, b) <= 2 * limit); /* one record replaced: no slack */
        moved += length(cost.norm, b) > limit / 1000;
    }
    assert_true(moved > 100); /* the test could fail */
    learner_free(&one);
    learner_free(&many);
}

static void test_a_record_changes_integers_by_its_bound(void **state)
{
    (void)state;
    dice d = {7};
    for (int loss = 0; loss < 2; loss++)
        for (int scalar = TACIT_F32; scalar <= TACIT_F64; scalar++)
            for (int m = TACIT_MECHANISM_LAPLACE; m <= TACIT_MECHANISM_GAUSSIAN; m++)
                check_bounds(loss, (tacit_scalar)scalar, (tacit_mechanism)m, &d);
}

/* Squares of such features are zero in single precision, so floats believe the record to be short;
 * times a huge slope it is not. Only the check of integers sees that. */
static void test_what_floats_cannot_measure(void **state)
{
    (void)state;
    dice d = {41};
    learner l = learner_make(1, TACIT_F32, 1, &d);
    tacit_error err = {0};
    for (int k = 0; k < FEATURES; k++)
        tacit_public_set(l.at, 0, (size_t)k, 0);
    int shrunk = 0;
    for (int trial = 0; trial < 300; trial++) {
        tacit_cost cost = charged_plan(
            trial % 2 ? TACIT_MECHANISM_LAPLACE : TACIT_MECHANISM_GAUSSIAN, 1, 10, FEATURES);
        double x[FEATURES], part = pow(10, dice_between(&d, -1.7, 0.3));
        for (int k = 0; k < FEATURES; k++)
            x[k] = 1e-25 * part;
        check_ok(tacit_dataset_put(l.data, 0, TACIT_TRAIN, 0, x, -0.5e25, &err), &err);
        int64_t steps[FEATURES];
        gradient(&l, &cost, steps, NULL);
        const long double limit = tacit_cost_limit(&cost);
        assert_true(length(cost.norm, steps) <= limit);
        shrunk += length(cost.norm, steps) > limit * 0.99L;
    }
    assert_true(shrunk > 100);
    learner_free(&l);
}

/* A long gradient is made shorter and keeps its direction. */
static void test_clipping_keeps_the_direction(void **state)
{
    (void)state;
    dice d = {42};
    int long_ones = 0;
    for (int m = TACIT_MECHANISM_LAPLACE; m <= TACIT_MECHANISM_GAUSSIAN; m++)
        for (int trial = 0; trial < 50; trial++) {
            learner l = learner_make(1, TACIT_F64, 1, &d);
            tacit_cost whole = charged_plan((tacit_mechanism)m, 1e9, 1e9, FEATURES);
            tacit_cost cut = charged_plan((tacit_mechanism)m, 1e-3, 1e-3, FEATURES);
            int64_t a[FEATURES], b[FEATURES];
            gradient(&l, &whole, a, NULL);
            gradient(&l, &cut, b, NULL);
            long double ab = 0, aa = 0, bb = 0;
            for (int k = 0; k < FEATURES; k++) {
                ab += (long double)a[k] * (long double)b[k];
                aa += (long double)a[k] * (long double)a[k];
                bb += (long double)b[k] * (long double)b[k];
            }
            if (aa > 1e8L) { /* enough steps to have a direction */
                assert_true(ab > 0.999L * sqrtl(aa * bb));
                assert_true(length(cut.norm, b) > 0.99L * (long double)tacit_cost_limit(&cut));
                long_ones++;
            }
            learner_free(&l);
        }
    assert_true(long_ones > 10);
}

/* The clip does not merely bound: a short gradient goes through as it is. */
static void test_short_gradients_are_kept(void **state)
{
    (void)state;
    dice d = {8};
    learner l = learner_make(0, TACIT_F64, 3, &d);
    tacit_cost cost = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1e6, 1e6, FEATURES);
    tacit_cost bare = {.what = "bare"};
    int64_t steps[FEATURES];
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_error err = {0};
    gradient(&l, &cost, steps, NULL);
    charged_reserve(&ledger, &bare, &permit);
    check_ok(tacit_model_gradient(l.model, &permit, tacit_dataset_shard(l.data, 0, TACIT_TRAIN),
                                  l.at, (tacit_clip){TACIT_L2, INFINITY}, l.scratch, &bounded,
                                  &err),
             &err);
    for (size_t k = 0; k < FEATURES; k++)
        assert_true(fabs(ldexp((double)steps[k], cost.grid) / 3 -
                         tacit_vector_get(bounded->value, 0, k)) <= ldexp(1.5, cost.grid));
    tacit_ledger_clear(&ledger);
    learner_free(&l);
}

/* Addition of integers has no order; a float sum of the same numbers has. */
static void test_order_of_records_does_not_show(void **state)
{
    (void)state;
    dice d = {9};
    const uint32_t rows = 300, *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    tacit_cost cost = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 1, FEATURES);
    learner l = learner_make(0, TACIT_F32, 1, &d);
    tacit_dataset_free(l.data);
    double(*x)[FEATURES] = calloc(rows, sizeof *x);
    for (uint32_t r = 0; r < rows; r++)
        for (int k = 0; k < FEATURES; k++)
            x[r][k] = pow(10, dice_between(&d, -4, 1)) * dice_between(&d, -1, 1);
    int64_t first[FEATURES], second[FEATURES];
    float forward = 0, backward = 0;
    for (int turn = 0; turn < 2; turn++) {
        tacit_error err = {0};
        check_ok(tacit_dataset_create(&l.data, 1, FEATURES, TACIT_F32, counts, &err), &err);
        for (uint32_t r = 0; r < rows; r++) {
            uint32_t from = turn ? rows - 1 - r : r;
            check_ok(tacit_dataset_put(l.data, 0, TACIT_TRAIN, r, x[from], from % 2 ? 1 : -1, &err),
                     &err);
            *(turn ? &backward : &forward) += (float)x[from][0];
        }
        gradient(&l, &cost, turn ? second : first, NULL);
        if (turn == 0)
            tacit_dataset_free(l.data);
    }
    assert_true(forward != backward); /* the test could fail */
    assert_memory_equal(first, second, sizeof first);
    free(x);
    learner_free(&l);
}

static void test_users_are_bounded_as_a_whole(void **state)
{
    (void)state;
    dice d = {10};
    for (int m = TACIT_MECHANISM_LAPLACE; m <= TACIT_MECHANISM_GAUSSIAN; m++) {
        learner a = learner_make(1, TACIT_F32, 3, &d), b = learner_make(1, TACIT_F32, 50, &d);
        tacit_cost cost = charged_plan((tacit_mechanism)m, 0.7, 2, FEATURES);
        cost.unit = TACIT_UNIT_USER;
        int64_t x[FEATURES], y[FEATURES];
        for (int trial = 0; trial < 100; trial++) {
            roll_row(&a, 0, &d);
            gradient(&a, &cost, x, NULL);
            gradient(&b, &cost, y, NULL);
            assert_true(length(cost.norm, x) <= tacit_cost_limit(&cost));
            for (int k = 0; k < FEATURES; k++)
                y[k] -= x[k]; /* all of an agent's records are others now */
            assert_true(length(cost.norm, y) * (long double)ldexp(1, cost.grid) <=
                        (long double)cost.sensitivity);
        }
        learner_free(&a);
        learner_free(&b);
    }
}

/* ---- lots ---- */

/* With records that are all alike the sum tells the size of the lot, which must be binomial:
 * chi-square over 4000 lots, bins of at least 50, bound at a false-alarm rate of 1e-6. A lot of a
 * fixed size, the usual shortcut, is off by thousands. */
static void test_lots_are_binomial(void **state)
{
    (void)state;
    enum { RECORDS = 40, LOTS = 4000, LOW = 6, HIGH = 18 };
    const double q = 0.3;
    dice d = {31};
    learner l = learner_make(0, TACIT_F64, RECORDS, &d);
    tacit_error err = {0};
    double x[FEATURES] = {1};
    for (uint32_t r = 0; r < RECORDS; r++)
        check_ok(tacit_dataset_put(l.data, 0, TACIT_TRAIN, r, x, 1, &err), &err);
    tacit_cost cost = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1e-3, 1, FEATURES);
    cost.sampling = floor(q * 0x1p32) * 0x1p-32;
    double seen[RECORDS + 1] = {0}, binomial[RECORDS + 1];
    tacit_ledger ledger = {0};
    for (int k = 0; k < LOTS; k++) {
        tacit_permit permit;
        tacit_bounded *bounded;
        tacit_scratch_mark mark = tacit_scratch_now(l.scratch);
        charged_reserve(&ledger, &cost, &permit);
        tacit_permit_draw_from(&permit, &charged_random, 2);
        check_ok(tacit_model_gradient(l.model, &permit, tacit_dataset_shard(l.data, 0, TACIT_TRAIN),
                                      l.at, tacit_cost_clip(&cost), l.scratch, &bounded, &err),
                 &err);
        /* every record adds the same; the public factor is that of the expected lot */
        assert_true(fabs(bounded->factor * cost.sampling * RECORDS - 1) < 1e-12);
        seen[lround(-(double)bounded->steps[0] / tacit_cost_limit(&cost))]++;
        tacit_scratch_rewind(l.scratch, mark);
    }
    double chi = 0, below = 0, above = 0, few = 0, many = 0;
    for (int k = 0; k <= RECORDS; k++) {
        binomial[k] = exp(lgamma(RECORDS + 1) - lgamma(k + 1) - lgamma(RECORDS - k + 1) +
                          k * log(q) + (RECORDS - k) * log1p(-q)) *
                      LOTS;
        if (k >= LOW && k <= HIGH)
            chi += (seen[k] - binomial[k]) * (seen[k] - binomial[k]) / binomial[k];
        *(k < LOW ? &below : &above) += k < LOW || k > HIGH ? binomial[k] : 0;
        *(k < LOW ? &few : &many) += k < LOW || k > HIGH ? seen[k] : 0;
    }
    chi += (few - below) * (few - below) / below + (many - above) * (many - above) / above;
    assert_true(chi < 54.6); /* 14 degrees of freedom */
    tacit_ledger_clear(&ledger);
    learner_free(&l);
}

/* Gradients leave as integers times public numbers, also as a mean. */
static void test_means_are_functions_of_grid_integers(void **state)
{
    (void)state;
    dice d = {14};
    learner l = learner_make(0, TACIT_F64, ROWS, &d);
    tacit_cost cost = charged_plan(TACIT_MECHANISM_LAPLACE, 1, 3, FEATURES);
    for (int trial = 0; trial < 50; trial++) {
        int64_t steps[FEATURES];
        double out[FEATURES];
        gradient(&l, &cost, steps, out);
        for (int k = 0; k < FEATURES; k++) {
            double sum = rint(ldexp(out[k] * ROWS, -cost.grid));
            assert_true(out[k] == ldexp(sum, cost.grid) * (1 / (double)ROWS));
        }
    }
    learner_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans_round_towards_privacy),
        cmocka_unit_test(test_senseless_plans_are_refused),
        cmocka_unit_test(test_a_record_changes_integers_by_its_bound),
        cmocka_unit_test(test_what_floats_cannot_measure),
        cmocka_unit_test(test_clipping_keeps_the_direction),
        cmocka_unit_test(test_short_gradients_are_kept),
        cmocka_unit_test(test_order_of_records_does_not_show),
        cmocka_unit_test(test_users_are_bounded_as_a_whole),
        cmocka_unit_test(test_lots_are_binomial),
        cmocka_unit_test(test_means_are_functions_of_grid_integers),
    };
    return cmocka_run_group_tests(tests, charged_setup, charged_teardown);
}
