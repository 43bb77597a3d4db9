/* SPDX-License-Identifier: Apache-2.0 */
/* What a net tells under a permit: one record moves the integers by no more than was paid for, lots
 * are drawn as the cost says, and the sum is that of clipped gradients. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "charged.h"
#include "model/linear.h"
#include "model/net.h"

enum { ROWS = 700, SIDE = 6, FEATURES = SIDE * SIDE, CLASSES = 3 };

typedef struct learner {
    tacit_dataset *data;
    tacit_model *model;
    tacit_scratch *scratch;
    tacit_pool *pool;
    tacit_public *at;
    uint32_t rows;
    float x[ROWS][FEATURES];
    uint32_t y[ROWS];
} learner;

static void put_row(learner *l, uint32_t row)
{
    double x[FEATURES];
    tacit_error err = {0};
    for (int k = 0; k < FEATURES; k++)
        x[k] = (double)l->x[row][k];
    check_ok(tacit_dataset_put(l->data, 0, TACIT_TRAIN, row, x, l->y[row], &err), &err);
}

static void draw_row(learner *l, uint32_t row, double size, dice *d)
{
    for (int k = 0; k < FEATURES; k++)
        l->x[row][k] = (float)(size * dice_normal(d));
    l->y[row] = (uint32_t)dice_below(d, CLASSES);
    put_row(l, row);
}

static void roll_row(learner *l, uint32_t row, dice *d)
{
    draw_row(l, row, pow(10, dice_between(d, -2, 4)), d);
}

static learner *learner_make(uint32_t rows, const char *layers, dice *d)
{
    learner *l = calloc(1, sizeof *l);
    tacit_error err = {0};
    const uint32_t *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    tacit_model_options options = {0};
    snprintf(options.layers, sizeof options.layers, "%s", layers);
    snprintf(options.input, sizeof options.input, "1x%dx%d", SIDE, SIDE);
    l->scratch = tacit_scratch_create();
    l->pool = tacit_pool_create(false);
    l->rows = rows;
    check_ok(tacit_dataset_create(&l->data, 1, FEATURES, TACIT_F32, counts, &err), &err);
    check_ok(tacit_model_create(&l->model, &options, FEATURES, &err), &err);
    l->at = tacit_vector_public(tacit_pool_vector(l->pool, tacit_model_shape(l->model), 0));
    tacit_model_start(l->model, (const uint8_t *)"0123456789abcdef", l->at);
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

static int64_t *gradient(learner *l, const tacit_cost *cost, double *factor)
{
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_error err = {0};
    const size_t n = tacit_model_parameters(l->model);
    int64_t *steps = calloc(n, sizeof *steps);
    tacit_scratch_mark mark = tacit_scratch_now(l->scratch);
    charged_reserve(&ledger, cost, &permit);
    tacit_permit_draw_from(&permit, &charged_random, 1);
    check_ok(tacit_model_gradient(l->model, &permit, tacit_dataset_shard(l->data, 0, TACIT_TRAIN),
                                  l->at, tacit_cost_clip(cost), l->scratch, &bounded, &err),
             &err);
    assert_true(bounded->sensitivity == cost->sensitivity);
    memcpy(steps, bounded->steps, n * sizeof *steps);
    if (factor)
        *factor = bounded->factor;
    tacit_scratch_rewind(l->scratch, mark);
    tacit_ledger_clear(&ledger);
    return steps;
}

static double apart(size_t n, const int64_t *a, const int64_t *b)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += pow((double)(a[k] - (b ? b[k] : 0)), 2);
    return sqrt(sum);
}

static const char *const nets[] = {"dense 3", "conv 2 3x3, mish, pool 2, dense 3",
                                   "conv 40 3x3, tanh, conv 40 3x3, tanh, dense 3"};
static const uint32_t sizes[] = {ROWS, 300, 40};

static tacit_cost cost_for(const learner *l, double radius)
{
    return charged_plan(TACIT_MECHANISM_GAUSSIAN, radius, 10 * radius,
                        tacit_model_parameters(l->model));
}

/* One record replaced by another: at most twice the limit, as integers, whatever the records. */
static void test_one_record_moves_what_was_paid_for(void **state)
{
    (void)state;
    dice d = {3};
    double nearest = 0;
    for (size_t q = 0; q < 3; q++) {
        learner *l = learner_make(sizes[q], nets[q], &d);
        const size_t n = tacit_model_parameters(l->model);
        for (int round = 0; round < (SLOW ? 3 : 12); round++) {
            const tacit_cost cost = cost_for(l, pow(10, dice_between(&d, -4, 0)));
            const double limit = tacit_cost_limit(&cost);
            const uint32_t row = (uint32_t)dice_below(&d, l->rows);
            int64_t *a = gradient(l, &cost, NULL);
            roll_row(l, row, &d);
            int64_t *b = gradient(l, &cost, NULL);
            /* The other way round: slopes of the two point apart as far as they can. */
            for (int k = 0; k < FEATURES; k++)
                l->x[row][k] *= -1;
            put_row(l, row);
            int64_t *c = gradient(l, &cost, NULL);
            assert_true(apart(n, a, b) <= 2 * limit);
            assert_true(apart(n, b, c) <= 2 * limit);
            nearest = fmax(nearest, fmax(apart(n, a, b), apart(n, b, c)) / limit);
            free(a);
            free(b);
            free(c);
        }
        learner_free(l);
    }
    assert_true(nearest > 1); /* or the test shows nothing */
}

/* Alone in its lot a record is as long as the clip, less what sums of so many may lose. */
static void test_a_record_alone(void **state)
{
    (void)state;
    dice d = {4};
    for (size_t q = 0; q < 3; q++) {
        learner *l = learner_make(1, nets[q], &d);
        draw_row(l, 0, 0.5, &d); /* no score is so large that the gradient is zero */
        const size_t n = tacit_model_parameters(l->model);
        const tacit_cost cost = cost_for(l, 1e-4);
        double factor;
        int64_t *a = gradient(l, &cost, &factor);
        const double limit = tacit_cost_limit(&cost);
        assert_true(apart(n, a, NULL) <= limit && apart(n, a, NULL) > 0.999 * limit);
        assert_true(factor == 1);
        free(a);
        learner_free(l);
    }
}

/* Under add-remove every lot is planned for as many, and the sum is released. */
static void test_add_remove(void **state)
{
    (void)state;
    dice d = {5};
    learner *l = learner_make(1, nets[1], &d);
    const size_t n = tacit_model_parameters(l->model);
    learner_free(l);
    tacit_cost cost = {.mechanism = TACIT_MECHANISM_GAUSSIAN,
                       .adjacency = TACIT_ADD_REMOVE,
                       .coordinates = n,
                       .what = "test"};
    tacit_error err = {0};
    check_ok(tacit_cost_on_grid(&cost, 1e-3, 1e-2, &err), &err);
    double factor, before = 0;
    for (uint32_t rows = 1; rows <= 2; rows++) { /* the clip does not tell how many there are */
        learner *few = learner_make(rows, nets[1], &d);
        for (uint32_t r = 0; r < rows; r++)
            draw_row(few, r, 0.5, &(dice){6}); /* the same record twice */
        int64_t *a = gradient(few, &cost, &factor);
        assert_true(factor == 1);
        if (rows == 1)
            before = apart(n, a, NULL);
        assert_true(before <= tacit_cost_limit(&cost) && before > 0.96 * tacit_cost_limit(&cost));
        assert_true(fabs(apart(n, a, NULL) - rows * before) < 100); /* steps: of rounding */
        free(a);
        learner_free(few);
    }
    learner *many = learner_make(ROWS, nets[0], &d);
    cost.coordinates = tacit_model_parameters(many->model);
    int64_t *a = gradient(many, &cost, NULL); /* 700 is fine; 3,001 would not be */
    free(a);
    learner_free(many);
}

/* Who is in the lot, by a model whose gradient counts records: biases of a net of zeros. */
static void test_lots(void **state)
{
    (void)state;
    dice d = {8};
    learner *l = learner_make(ROWS, "dense 3", &d);
    for (uint32_t r = 0; r < ROWS; r++) {
        memset(l->x[r], 0, sizeof l->x[r]);
        l->y[r] = 0;
        put_row(l, r);
    }
    tacit_public_zero(l->at);
    tacit_cost cost = cost_for(l, 4); /* gradients are 0.8 long: nothing is clipped */
    cost.sampling = 0.25;
    double sum = 0, squares = 0, factor;
    enum { LOTS = 400 };
    tacit_random_init(&charged_random, 77);
    tacit_ledger ledger = {0};
    for (int k = 0; k < LOTS; k++) {
        tacit_permit permit;
        tacit_bounded *bounded;
        tacit_error err = {0};
        tacit_scratch_mark mark = tacit_scratch_now(l->scratch);
        charged_reserve(&ledger, &cost, &permit); /* another release: another lot */
        tacit_permit_draw_from(&permit, &charged_random, 1);
        check_ok(tacit_model_gradient(l->model, &permit,
                                      tacit_dataset_shard(l->data, 0, TACIT_TRAIN), l->at,
                                      tacit_cost_clip(&cost), l->scratch, &bounded, &err),
                 &err);
        const size_t bias = (size_t)3 * FEATURES; /* of class 0: -2/3 a record */
        const double count = -1.5 * (double)bounded->steps[bias] * tacit_cost_step(&cost);
        assert_true(fabs(count - round(count)) < 1e-3);
        factor = bounded->factor;
        sum += count;
        squares += count * count;
        tacit_scratch_rewind(l->scratch, mark);
    }
    tacit_ledger_clear(&ledger);
    assert_float_equal(factor, 1 / (0.25 * ROWS), 1e-9);
    /* Binomial(700, 1/4): mean 175, variance 131; false alarms below 1e-6 each. */
    const double mean = sum / LOTS, variance = squares / LOTS - mean * mean;
    assert_true(fabs(mean - 175) < 5 * sqrt(131.25 / LOTS));
    assert_true(fabs(variance / 131.25 - 1) < 5 * sqrt(2.0 / LOTS));
    learner_free(l);
}

/* Without noise: the mean of the lot's gradients, and lots here, too. */
static void test_bare(void **state)
{
    (void)state;
    dice d = {9};
    learner *l = learner_make(50, nets[1], &d);
    const size_t n = tacit_model_parameters(l->model);
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_error err = {0};
    const tacit_cost cost = {.norm = TACIT_L2, .what = "test"};
    charged_reserve(&ledger, &cost, &permit);
    check_ok(tacit_model_gradient(l->model, &permit, tacit_dataset_shard(l->data, 0, TACIT_TRAIN),
                                  l->at, (tacit_clip){TACIT_L2, 0.5}, l->scratch, &bounded, &err),
             &err);
    const float *row[50], *mean = tacit_vector_segment(bounded->value, 0);
    float *sum = calloc(n, sizeof *sum);
    for (int r = 0; r < 50; r++)
        row[r] = l->x[r];
    tacit_net_room *room;
    tacit_net_report report;
    check_ok(tacit_net_room_create(&room, l->model->net, &err), &err);
    check_ok(tacit_net_gradient(l->model->net, room,
                                tacit_vector_segment(tacit_vector_of_public(l->at), 0),
                                &(tacit_net_lot){50, row, l->y}, 0.5f, sum, &report, &err),
             &err);
    for (size_t k = 0; k < n; k++)
        assert_true(fabsf(mean[k] - sum[k] / 50) <= 1e-6f);
    assert_true(isinf(bounded->sensitivity)); /* nothing is claimed of it */
    tacit_net_room_free(room);
    free(sum);
    tacit_ledger_clear(&ledger);
    learner_free(l);
}

static void test_refused(void **state)
{
    (void)state;
    dice d = {10};
    learner *l = learner_make(20, nets[0], &d);
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_secret *out = tacit_vector_secret(
        tacit_pool_vector(l->pool, tacit_model_shape(l->model), TACIT_VECTOR_SECRET));
    tacit_error err = {0};
    const tacit_shard *shard = tacit_dataset_shard(l->data, 0, TACIT_TRAIN);
    tacit_cost user = cost_for(l, 1);
    user.unit = TACIT_UNIT_USER;
    charged_reserve(&ledger, &user, &permit);
    check_fails(tacit_model_gradient(l->model, &permit, shard, l->at, tacit_cost_clip(&user),
                                     l->scratch, &bounded, &err),
                TACIT_EINPUT, &err, "unit: record");
    check_fails(tacit_model_solve(l->model, shard, out, &err), TACIT_EINPUT, &err, "linear models");
    check_fails(tacit_model_smoothness(l->model, &permit, shard, l->scratch, &bounded, &err),
                TACIT_EINPUT, &err, "linear models");
    tacit_ledger_clear(&ledger);
    learner_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_record_moves_what_was_paid_for),
        cmocka_unit_test(test_a_record_alone),
        cmocka_unit_test(test_add_remove),
        cmocka_unit_test(test_lots),
        cmocka_unit_test(test_bare),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, charged_setup, charged_teardown);
}
