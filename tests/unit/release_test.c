/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The step between data and words: a permit is charged first, is good for one release, and
 * comes back only untouched; a clipped gradient is as sensitive as it says, no more.
 */
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "base/scratch.h"
#include "privacy/release.h"
#include "testing.h"

static const tacit_budget no_limit = {INFINITY, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_SUM};
static const tacit_cost gradient_cost = {.what = "gradient"};
static const tacit_cost other_cost = {.what = "smoothness"};

/* ---- ledger and permits ---- */

static tacit_costs *kept;

static void reserve(tacit_ledger *ledger, const tacit_cost *cost, double now, tacit_permit *permit)
{
    tacit_error err = {0};
    check_ok(tacit_ledger_reserve(ledger, kept, &no_limit, cost, now, permit, &err), &err);
}

static void test_ledger_counts_in_runs(void **state)
{
    (void)state;
    tacit_ledger ledger = {0};
    tacit_permit permit;
    assert_int_equal(tacit_ledger_releases(&ledger), 0);
    assert_true(tacit_ledger_epsilon(&ledger, &no_limit) == 0);
    for (int k = 0; k < 1000; k++)
        reserve(&ledger, &gradient_cost, k, &permit);
    assert_int_equal(ledger.count, 1); /* a thousand equal releases, one entry */
    assert_true(ledger.entries[0].first == 0 && ledger.entries[0].last == 999);
    assert_int_equal(ledger.entries[0].releases, 1000);
    reserve(&ledger, &other_cost, 1000, &permit);
    reserve(&ledger, &gradient_cost, 1001, &permit);
    assert_int_equal(ledger.count, 3); /* order is kept: runs do not merge across others */
    assert_int_equal(tacit_ledger_releases(&ledger), 1002);
    assert_true(isinf(tacit_ledger_epsilon(&ledger, &no_limit)));
    tacit_ledger_clear(&ledger);
    assert_int_equal(tacit_ledger_releases(&ledger), 0);
}

static void test_every_difference_starts_an_entry(void **state)
{
    (void)state;
    tacit_ledger ledger = {0};
    tacit_permit permit;
    const tacit_cost costs[] = {
        {.what = "gradient"},
        {.what = "gradient", .norm = TACIT_L2},
        {.what = "gradient", .norm = TACIT_L2, .unit = TACIT_UNIT_USER},
        {.what = "gradient", .norm = TACIT_L2, .adjacency = TACIT_ADD_REMOVE},
        {.what = "gradient", .norm = TACIT_L2, .sensitivity = 1},
        {.what = "gradient", .norm = TACIT_L2, .sensitivity = 1, .noise = 1},
    };
    char copy[] = "gradient"; /* another place in memory, the same words */
    tacit_cost again = costs[5];
    again.what = copy;
    for (int k = 0; k < 6; k++)
        reserve(&ledger, &costs[k], k, &permit);
    reserve(&ledger, &again, 6, &permit);
    assert_int_equal(ledger.count, 6);
    assert_int_equal(ledger.entries[5].releases, 2);
    /* Another agent's equal entry shares the cost; words of ours may go. */
    tacit_ledger other = {0};
    reserve(&other, &again, 0, &permit);
    memset(copy, 'x', sizeof copy - 1);
    assert_ptr_equal(other.entries[0].cost, ledger.entries[5].cost);
    assert_string_equal(other.entries[0].cost->what, "gradient");
    tacit_ledger_clear(&other);
    tacit_ledger_clear(&ledger);
}

/* More distinct costs than the table starts with: none is lost, none is mixed up. */
static void test_many_costs_are_kept_apart(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    tacit_ledger ledger = {0};
    tacit_permit permit;
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < MANY; k++) {
            tacit_cost cost = {.what = "gradient", .noise = k};
            reserve(&ledger, &cost, k, &permit);
        }
    assert_int_equal(ledger.count, 2 * MANY);
    for (int k = 0; k < MANY; k++) {
        assert_true(ledger.entries[k].cost->noise == k);
        assert_ptr_equal(ledger.entries[k].cost, ledger.entries[MANY + k].cost);
    }
    tacit_ledger_clear(&ledger);
}

static void test_finite_budget_refuses_bare_release(void **state)
{
    (void)state;
    const double limits[] = {0, 1, 1e300};
    for (int k = 0; k < 3; k++) {
        tacit_ledger ledger = {0};
        tacit_permit permit = {.state = TACIT_PERMIT_SPENT};
        tacit_budget budget = {limits[k], 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_SUM};
        tacit_error err = {0};
        check_fails(tacit_ledger_reserve(&ledger, kept, &budget, &gradient_cost, 0, &permit, &err),
                    TACIT_EBUDGET, &err, "\"gradient\"");
        assert_non_null(strstr(err.text, "privacy.epsilon"));
        assert_int_equal(tacit_ledger_releases(&ledger), 0); /* nothing was charged */
        assert_int_equal(permit.state, TACIT_PERMIT_SPENT);  /* and no permit given */
        tacit_ledger_clear(&ledger);
    }
}

static void test_untouched_permit_comes_back(void **state)
{
    (void)state;
    tacit_ledger ledger = {0};
    tacit_permit first, second, third;
    tacit_error err = {0};
    reserve(&ledger, &gradient_cost, 1, &first);
    reserve(&ledger, &other_cost, 2, &second);
    reserve(&ledger, &gradient_cost, 3, &third);
    check_ok(tacit_ledger_give_back(&ledger, &second, &err), &err);
    assert_int_equal(tacit_ledger_releases(&ledger), 2);
    check_fails(tacit_ledger_give_back(&ledger, &second, &err), TACIT_EUSAGE, &err, "smoothness");
    assert_int_equal(tacit_ledger_releases(&ledger), 2); /* not twice */
    check_ok(tacit_ledger_give_back(&ledger, &third, &err), &err);
    check_ok(tacit_ledger_give_back(&ledger, &first, &err), &err);
    assert_int_equal(tacit_ledger_releases(&ledger), 0);
    assert_true(tacit_ledger_epsilon(&ledger, &no_limit) == 0);
    tacit_ledger_clear(&ledger);
}

/* A value made under `permit`, with memory of its own. */
typedef struct making {
    tacit_scratch *scratch;
    tacit_shape shape;
    tacit_bounded *bounded;
} making;

static making make(void)
{
    static const tacit_segment segment = {"value", TACIT_F64, 4};
    making m = {.scratch = tacit_scratch_create()};
    tacit_error err = {0};
    check_ok(tacit_shape_init(&m.shape, &segment, 1, &err), &err);
    return m;
}

static void touch(making *m, tacit_permit *permit)
{
    tacit_error err = {0};
    check_ok(
        tacit_bounded_create(&m->bounded, permit, TACIT_L2, INFINITY, &m->shape, m->scratch, &err),
        &err);
    tacit_vector_set(m->bounded->value, 0, 1, 0.5);
}

static void test_touched_permit_stays_charged(void **state)
{
    (void)state;
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_error err = {0};
    making m = make();
    reserve(&ledger, &gradient_cost, 0, &permit);
    touch(&m, &permit);
    check_fails(tacit_ledger_give_back(&ledger, &permit, &err), TACIT_EUSAGE, &err, "touched");
    assert_int_equal(tacit_ledger_releases(&ledger), 1);
    tacit_bounded *more; /* nor can it be used for a second value */
    check_fails(tacit_bounded_create(&more, &permit, TACIT_L2, 1, &m.shape, m.scratch, &err),
                TACIT_EUSAGE, &err, "one release");
    tacit_ledger_clear(&ledger);
    tacit_scratch_free(m.scratch);
}

static void test_permit_is_good_for_one_release(void **state)
{
    (void)state;
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_error err = {0};
    tacit_public *out = NULL;
    making m = make();
    reserve(&ledger, &gradient_cost, 0, &permit);
    tacit_bounded none = {0};
    assert_int_equal(tacit_mechanism_apply(&permit, &none, NULL, &out, &err), TACIT_EUSAGE);
    touch(&m, &permit);
    check_ok(tacit_mechanism_apply(&permit, m.bounded, NULL, &out, &err), &err);
    assert_true(tacit_public_get(out, 0, 1) == 0.5); /* `none` adds nothing */
    assert_false(tacit_vector_of_public(out)->flags & TACIT_VECTOR_SECRET);
    assert_null(m.bounded->value);
    tacit_public *second = NULL;
    check_fails(tacit_mechanism_apply(&permit, m.bounded, NULL, &second, &err), TACIT_EUSAGE, &err,
                "\"gradient\"");
    assert_null(second);
    assert_int_equal(tacit_ledger_give_back(&ledger, &permit, &err), TACIT_EUSAGE);
    assert_int_equal(tacit_ledger_releases(&ledger), 1);
    tacit_ledger_clear(&ledger);
    tacit_scratch_free(m.scratch);
}

static void test_value_of_another_permit_is_refused(void **state)
{
    (void)state;
    tacit_ledger ledger = {0};
    tacit_permit mine, other;
    tacit_error err = {0};
    tacit_public *out = NULL;
    making a = make(), b = make();
    reserve(&ledger, &gradient_cost, 0, &mine);
    reserve(&ledger, &gradient_cost, 0, &other);
    touch(&a, &mine);
    touch(&b, &other);
    check_fails(tacit_mechanism_apply(&mine, b.bounded, NULL, &out, &err), TACIT_EUSAGE, &err,
                "this permit");
    assert_null(out);
    assert_true(b.bounded->value->flags & TACIT_VECTOR_SECRET);
    check_ok(tacit_mechanism_apply(&mine, a.bounded, NULL, &out, &err), &err);
    tacit_ledger_clear(&ledger);
    tacit_scratch_free(a.scratch);
    tacit_scratch_free(b.scratch);
}

/* ---- clipped gradients ---- */

enum { ROWS = 7, FEATURES = 5 };

typedef struct learner {
    tacit_dataset *data;
    tacit_model *model;
    tacit_scratch *scratch;
    tacit_pool *pool;
    tacit_public *at;
    double x[ROWS][FEATURES], y[ROWS];
} learner;

static void put_row(learner *l, uint32_t row)
{
    tacit_error err = {0};
    check_ok(tacit_dataset_put(l->data, 0, TACIT_TRAIN, row, l->x[row], l->y[row], &err), &err);
}

static void roll_row(learner *l, uint32_t row, int loss, dice *d)
{
    double size = pow(10, dice_between(d, -1, 3));
    for (int k = 0; k < FEATURES; k++)
        l->x[row][k] = size * dice_between(d, -1, 1);
    l->y[row] = loss ? size * dice_between(d, -1, 1) : (dice_unit(d) < 0.5 ? -1 : 1);
    put_row(l, row);
}

static learner learner_make(int loss, tacit_scalar scalar, dice *d)
{
    learner l = {.scratch = tacit_scratch_create(), .pool = tacit_pool_create(false)};
    tacit_error err = {0};
    const uint32_t rows = ROWS, *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    tacit_model_options options = {.loss = loss, .scalar = scalar};
    check_ok(tacit_dataset_create(&l.data, 1, FEATURES, scalar, counts, &err), &err);
    check_ok(tacit_model_create(&l.model, &options, FEATURES, &err), &err);
    l.at = tacit_vector_public(tacit_pool_vector(l.pool, tacit_model_shape(l.model), 0));
    for (int k = 0; k < FEATURES; k++)
        tacit_public_set(l.at, 0, (size_t)k, dice_normal(d));
    for (uint32_t r = 0; r < ROWS; r++)
        roll_row(&l, r, loss, d);
    return l;
}

static void learner_free(learner *l)
{
    tacit_dataset_free(l->data);
    tacit_model_free(l->model);
    tacit_scratch_free(l->scratch);
    tacit_pool_free(l->pool);
}

/* The mean clipped gradient under `cost`; returns the sensitivity it claims. */
static double clipped_for(learner *l, const tacit_cost *cost, tacit_clip clip, double out[FEATURES])
{
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_error err = {0};
    tacit_scratch_mark mark = tacit_scratch_now(l->scratch);
    reserve(&ledger, cost, 0, &permit);
    check_ok(tacit_model_gradient(l->model, &permit, tacit_dataset_shard(l->data, 0, TACIT_TRAIN),
                                  l->at, clip, l->scratch, &bounded, &err),
             &err);
    assert_int_equal(permit.state, TACIT_PERMIT_TOUCHED);
    assert_int_equal(bounded->norm, clip.norm);
    assert_true(bounded->value->flags & TACIT_VECTOR_SECRET);
    for (size_t k = 0; k < FEATURES; k++)
        out[k] = tacit_vector_get(bounded->value, 0, k);
    double sensitivity = bounded->sensitivity;
    tacit_scratch_rewind(l->scratch, mark);
    tacit_ledger_clear(&ledger);
    return sensitivity;
}

static double clipped(learner *l, tacit_clip clip, double out[FEATURES])
{
    return clipped_for(l, &gradient_cost, clip, out);
}

static double norm_of_difference(tacit_norm norm, const double *a, const double *b)
{
    double sum = 0;
    for (int k = 0; k < FEATURES; k++)
        sum += norm == TACIT_L1 ? fabs(a[k] - b[k]) : (a[k] - b[k]) * (a[k] - b[k]);
    return norm == TACIT_L1 ? sum : sqrt(sum);
}

/* Replacing one record moves the mean by at most 2 C / m, whatever the record. */
static void check_trials(int loss, tacit_scalar scalar, tacit_norm norm, dice *d)
{
    double slack = scalar == TACIT_F32 ? 1e-5 : 1e-12;
    learner l = learner_make(loss, scalar, d);
    for (int trial = 0; trial < 300; trial++) {
        double before[FEATURES], after[FEATURES];
        tacit_clip clip = {norm, pow(10, dice_between(d, -3, 3))};
        double sensitivity = clipped(&l, clip, before);
        assert_true(fabs(sensitivity - 2 * clip.radius / ROWS) <= 1e-15 * clip.radius);
        roll_row(&l, (uint32_t)dice_below(d, ROWS), loss, d);
        clipped(&l, clip, after);
        double moved = norm_of_difference(norm, before, after);
        if (moved > sensitivity * (1 + slack))
            fail_msg("moved by %.17g, the sensitivity is %.17g", moved, sensitivity);
    }
    learner_free(&l);
}

/* All records of an agent move the mean m times as far; a mean under add-remove shows m. */
static void test_sensitivity_follows_unit_and_adjacency(void **state)
{
    (void)state;
    dice d = {77};
    learner l = learner_make(0, TACIT_F64, &d);
    double before[FEATURES], after[FEATURES];
    const tacit_clip clip = {TACIT_L2, 0.5};
    tacit_cost user = gradient_cost, loose = gradient_cost;
    user.unit = TACIT_UNIT_USER;
    loose.adjacency = TACIT_ADD_REMOVE;
    assert_true(clipped_for(&l, &user, clip, before) == 2 * clip.radius);
    for (uint32_t r = 0; r < ROWS; r++)
        roll_row(&l, r, 0, &d);
    clipped_for(&l, &user, clip, after);
    assert_true(norm_of_difference(TACIT_L2, before, after) <= 2 * clip.radius);
    assert_true(isinf(clipped_for(&l, &loose, clip, after)));
    learner_free(&l);
}

static void test_one_record_moves_a_clipped_mean_by_its_sensitivity(void **state)
{
    (void)state;
    dice d = {13};
    for (int loss = 0; loss < 2; loss++)
        for (int norm = 0; norm < 2; norm++) {
            check_trials(loss, TACIT_F64, (tacit_norm)norm, &d);
            check_trials(loss, TACIT_F32, (tacit_norm)norm, &d);
        }
}

/* And the bound is not generous: two records that pull in opposite ways reach it. */
static void test_bound_is_attained(void **state)
{
    (void)state;
    dice d = {14};
    for (int norm = 0; norm < 2; norm++) {
        learner l = learner_make(0, TACIT_F64, &d);
        tacit_clip clip = {(tacit_norm)norm, 0.25};
        double before[FEATURES], after[FEATURES];
        tacit_public_zero(l.at);
        for (int k = 0; k < FEATURES; k++)
            l.x[3][k] = 100;
        l.y[3] = 1;
        put_row(&l, 3);
        double sensitivity = clipped(&l, clip, before);
        l.y[3] = -1;
        put_row(&l, 3);
        clipped(&l, clip, after);
        double moved = norm_of_difference(clip.norm, before, after);
        assert_true(moved > 0.9999 * sensitivity);
        assert_true(moved <= sensitivity * (1 + 1e-12));
        learner_free(&l);
    }
}

/* Clipping is done a record at a time: the mean of clipped gradients, by hand. */
static void test_clipping_by_hand(void **state)
{
    (void)state;
    dice d = {15};
    for (int norm = 0; norm < 2; norm++) {
        learner l = learner_make(0, TACIT_F64, &d);
        const double radius = 0.8;
        double want[FEATURES] = {0}, found[FEATURES];
        for (int r = 0; r < ROWS; r++) {
            double z = 0, size = 0, g[FEATURES];
            for (int k = 0; k < FEATURES; k++)
                z += l.x[r][k] * tacit_public_get(l.at, 0, (size_t)k);
            for (int k = 0; k < FEATURES; k++) {
                g[k] = -l.y[r] / (1 + exp(l.y[r] * z)) * l.x[r][k];
                size += norm == TACIT_L1 ? fabs(g[k]) : g[k] * g[k];
            }
            size = norm == TACIT_L1 ? size : sqrt(size);
            for (int k = 0; k < FEATURES; k++)
                want[k] += g[k] * (size > radius ? radius / size : 1) / ROWS;
        }
        clipped(&l, (tacit_clip){(tacit_norm)norm, radius}, found);
        for (int k = 0; k < FEATURES; k++)
            assert_true(fabs(found[k] - want[k]) < 1e-12);
        learner_free(&l);
    }
}

static void test_no_clipping_has_no_bound(void **state)
{
    (void)state;
    dice d = {16};
    learner l = learner_make(0, TACIT_F64, &d);
    double bare[FEATURES], wide[FEATURES];
    assert_true(isinf(clipped(&l, (tacit_clip){TACIT_L2, INFINITY}, bare)));
    clipped(&l, (tacit_clip){TACIT_L2, 1e12}, wide); /* so wide that nothing is clipped */
    for (int k = 0; k < FEATURES; k++)
        assert_true(fabs(bare[k] - wide[k]) <= 1e-12 * (1 + fabs(bare[k])));
    learner_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ledger_counts_in_runs),
        cmocka_unit_test(test_every_difference_starts_an_entry),
        cmocka_unit_test(test_many_costs_are_kept_apart),
        cmocka_unit_test(test_finite_budget_refuses_bare_release),
        cmocka_unit_test(test_untouched_permit_comes_back),
        cmocka_unit_test(test_touched_permit_stays_charged),
        cmocka_unit_test(test_permit_is_good_for_one_release),
        cmocka_unit_test(test_value_of_another_permit_is_refused),
        cmocka_unit_test(test_sensitivity_follows_unit_and_adjacency),
        cmocka_unit_test(test_one_record_moves_a_clipped_mean_by_its_sensitivity),
        cmocka_unit_test(test_bound_is_attained),
        cmocka_unit_test(test_clipping_by_hand),
        cmocka_unit_test(test_no_clipping_has_no_bound),
    };
    kept = tacit_costs_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tacit_costs_free(kept);
    return failed;
}
