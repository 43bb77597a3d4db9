/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Releases with noise. What is bounded is bounded as integers, for any input; what comes out lies
 * on the public grid; noise is neither repeated nor borrowed. Each of the known attacks on
 * floating-point implementations has a test here.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/scratch.h"
#include "base/threads.h"
#include "privacy/release.h"
#include "testing.h"

static const tacit_budget no_limit = {INFINITY, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_PLD};
static tacit_costs *kept;
static tacit_random seeded;

static int group_setup(void **state)
{
    (void)state;
    tacit_random_init(&seeded, 11);
    return (kept = tacit_costs_create()) ? 0 : -1;
}

static int group_teardown(void **state)
{
    (void)state;
    tacit_costs_free(kept);
    return 0;
}

static tacit_cost planned(tacit_mechanism mechanism, double radius, double noise, size_t count)
{
    tacit_cost cost = {.mechanism = mechanism, .coordinates = count, .what = "test"};
    tacit_error err = {0};
    check_ok(tacit_cost_on_grid(&cost, radius, noise, &err), &err);
    return cost;
}

static void reserve(tacit_ledger *ledger, const tacit_cost *cost, tacit_permit *permit)
{
    tacit_error err = {0};
    check_ok(tacit_ledger_reserve(ledger, kept, &no_limit, cost, 0, permit, &err), &err);
}

/* ---- plans ---- */

static void test_plans_round_towards_privacy(void **state)
{
    (void)state;
    dice d = {3};
    for (int k = 0; k < 2000; k++) {
        double radius = pow(10, dice_between(&d, -8, 8));
        double noise = radius * pow(10, dice_between(&d, -3, 4));
        tacit_cost cost =
            planned(k % 2 ? TACIT_MECHANISM_LAPLACE : TACIT_MECHANISM_GAUSSIAN, radius, noise, 10);
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
    reserve(&ledger, cost, &permit);
    check_ok(tacit_model_gradient(l->model, &permit, tacit_dataset_shard(l->data, 0, TACIT_TRAIN),
                                  l->at, tacit_cost_clip(cost), l->scratch, &bounded, &err),
             &err);
    memcpy(steps, bounded->steps, FEATURES * sizeof *steps);
    assert_true(bounded->sensitivity == cost->sensitivity);
    if (out) {
        tacit_public *released;
        check_ok(tacit_mechanism_apply(&permit, bounded, &(tacit_noise_source){&seeded, 5, NULL},
                                       &released, &err),
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
        tacit_cost cost = planned(mechanism, pow(10, dice_between(d, -3, 3)), 1000, FEATURES);
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
        tacit_cost cost = planned(trial % 2 ? TACIT_MECHANISM_LAPLACE : TACIT_MECHANISM_GAUSSIAN, 1,
                                  10, FEATURES);
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
            tacit_cost whole = planned((tacit_mechanism)m, 1e9, 1e9, FEATURES);
            tacit_cost cut = planned((tacit_mechanism)m, 1e-3, 1e-3, FEATURES);
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
    tacit_cost cost = planned(TACIT_MECHANISM_GAUSSIAN, 1e6, 1e6, FEATURES);
    tacit_cost bare = {.what = "bare"};
    int64_t steps[FEATURES];
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_error err = {0};
    gradient(&l, &cost, steps, NULL);
    reserve(&ledger, &bare, &permit);
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
    tacit_cost cost = planned(TACIT_MECHANISM_GAUSSIAN, 1, 1, FEATURES);
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
        tacit_cost cost = planned((tacit_mechanism)m, 0.7, 2, FEATURES);
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
    tacit_cost cost = planned(TACIT_MECHANISM_GAUSSIAN, 1e-3, 1, FEATURES);
    cost.sampling = floor(q * 0x1p32) * 0x1p-32;
    double seen[RECORDS + 1] = {0}, binomial[RECORDS + 1];
    tacit_ledger ledger = {0};
    for (int k = 0; k < LOTS; k++) {
        tacit_permit permit;
        tacit_bounded *bounded;
        tacit_scratch_mark mark = tacit_scratch_now(l.scratch);
        reserve(&ledger, &cost, &permit);
        tacit_permit_draw_from(&permit, &seeded, 2);
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

/* ---- outputs lie on the grid ---- */

static bool on_grid(double value, int grid)
{
    double steps = ldexp(value, -grid);
    return steps == floor(steps) && fabs(steps) < 0x1p52;
}

static tacit_secret *secret_of(tacit_pool *pool, const tacit_shape *shape, const double *x)
{
    tacit_vector *v = tacit_pool_vector(pool, shape, TACIT_VECTOR_SECRET);
    for (size_t k = 0; k < shape->segment[0].count; k++)
        tacit_vector_set(v, 0, k, x[k]);
    return tacit_vector_secret(v);
}

typedef struct releasing {
    tacit_pool *pool;
    tacit_scratch *scratch;
    tacit_shape shape;
    tacit_ledger ledger;
} releasing;

static releasing releasing_make(size_t count)
{
    releasing r = {.pool = tacit_pool_create(false), .scratch = tacit_scratch_create()};
    tacit_error err = {0};
    check_ok(tacit_shape_init(&r.shape, &(tacit_segment){"value", TACIT_F64, count}, 1, &err),
             &err);
    return r;
}

static void releasing_free(releasing *r)
{
    tacit_ledger_clear(&r->ledger);
    tacit_scratch_free(r->scratch);
    tacit_pool_free(r->pool);
}

static void release_vector(releasing *r, const tacit_cost *cost, const double *x, double *out,
                           struct tacit_threads *threads)
{
    tacit_error err = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_public *released;
    tacit_scratch_mark mark = tacit_scratch_now(r->scratch);
    tacit_secret *secret = secret_of(r->pool, &r->shape, x);
    reserve(&r->ledger, cost, &permit);
    check_ok(tacit_bound_vector(&permit, secret, r->scratch, &bounded, &err), &err);
    check_ok(tacit_mechanism_apply(&permit, bounded, &(tacit_noise_source){&seeded, 1, threads},
                                   &released, &err),
             &err);
    for (size_t k = 0; k < r->shape.segment[0].count; k++)
        out[k] = tacit_public_get(released, 0, k);
    tacit_vector_drop(r->pool, tacit_vector_of_secret(secret));
    tacit_scratch_rewind(r->scratch, mark);
}

static const double nasty[] = {0,    1,        -1,        0.1, 1. / 3,  1e-300, -1e300, 5e-324,
                               1e17, INFINITY, -INFINITY, NAN, 0x1p-53, 1e-17,  -0.0,   2};
enum { NASTY = sizeof nasty / sizeof *nasty };

static void test_outputs_never_leave_the_grid(void **state)
{
    (void)state;
    dice d = {12};
    releasing r = releasing_make(NASTY);
    for (int trial = 0; trial < 400; trial++) {
        double radius = pow(10, dice_between(&d, -6, 6));
        tacit_cost cost = planned(trial % 2 ? TACIT_MECHANISM_LAPLACE : TACIT_MECHANISM_GAUSSIAN,
                                  radius, radius * pow(10, dice_between(&d, -3, 4)), NASTY);
        double x[NASTY], out[NASTY];
        for (int k = 0; k < NASTY; k++)
            x[k] = trial < 4 ? nasty[k] : nasty[dice_below(&d, NASTY)] * dice_between(&d, -1, 1);
        release_vector(&r, &cost, x, out, NULL);
        for (int k = 0; k < NASTY; k++)
            assert_true(on_grid(out[k], cost.grid));
    }
    releasing_free(&r);
}

/* The check above notices what it is for: textbook noise added to the value. */
static void test_float_noise_would_be_noticed(void **state)
{
    (void)state;
    dice d = {13};
    int off = 0;
    for (int k = 0; k < 1000; k++)
        off += !on_grid(0.1 - log(dice_unit(&d) + 1e-12), -30);
    assert_true(off > 900);
}

/* Gradients leave as integers times public numbers, also as a mean. */
static void test_means_are_functions_of_grid_integers(void **state)
{
    (void)state;
    dice d = {14};
    learner l = learner_make(0, TACIT_F64, ROWS, &d);
    tacit_cost cost = planned(TACIT_MECHANISM_LAPLACE, 1, 3, FEATURES);
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

/* ---- the noise is what was paid for ---- */

/* On zero data the mean square is sigma^2 (2 b^2 for Laplace): within 6 standard errors, which
 * a sound release misses once in 5e8 runs. Half the noise is off by hundreds of them. */
static void test_variance_on_zero_data(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    releasing r = releasing_make(COUNT);
    double *x = calloc(COUNT, sizeof *x), *out = calloc(COUNT, sizeof *out);
    for (int m = TACIT_MECHANISM_LAPLACE; m <= TACIT_MECHANISM_GAUSSIAN; m++) {
        tacit_cost cost = planned((tacit_mechanism)m, 1, 2.5, COUNT);
        release_vector(&r, &cost, x, out, NULL);
        double sum = 0;
        for (int k = 0; k < COUNT; k++)
            sum += out[k] * out[k];
        bool laplace = m == TACIT_MECHANISM_LAPLACE;
        double want = cost.noise * cost.noise * (laplace ? 2 : 1);
        double error = want * sqrt((laplace ? 5. : 2.) / COUNT);
        assert_true(fabs(sum / COUNT - want) < 6 * error);
        assert_false(fabs(sum / COUNT / 4 - want) < 6 * error);
    }
    free(x);
    free(out);
    releasing_free(&r);
}

static void test_noise_is_never_repeated(void **state)
{
    (void)state;
    enum { COUNT = 64, TURNS = 50 };
    releasing r = releasing_make(COUNT);
    tacit_cost cost = planned(TACIT_MECHANISM_GAUSSIAN, 1, 10, COUNT);
    double x[COUNT] = {0}, out[TURNS][COUNT];
    tacit_error err = {0};
    for (int t = 0; t < TURNS; t++) {
        if (t % 3 == 1) { /* a permit that comes back takes its id along */
            tacit_permit unused;
            reserve(&r.ledger, &cost, &unused);
            check_ok(tacit_ledger_give_back(&r.ledger, &unused, &err), &err);
        }
        release_vector(&r, &cost, x, out[t], NULL);
        for (int s = 0; s < t; s++)
            assert_memory_not_equal(out[s], out[t], sizeof out[t]);
    }
    releasing_free(&r);
}

/* Two permits out at once, one handed back: the next one must not draw the other's noise. */
static void test_ids_survive_permits_that_come_back(void **state)
{
    (void)state;
    tacit_ledger ledger = {0};
    tacit_cost cost = planned(TACIT_MECHANISM_GAUSSIAN, 1, 10, 3);
    tacit_permit a, b, c;
    tacit_error err = {0};
    reserve(&ledger, &cost, &a);
    reserve(&ledger, &cost, &b);
    check_ok(tacit_ledger_give_back(&ledger, &a, &err), &err);
    reserve(&ledger, &cost, &c);
    assert_true(c.id != b.id && c.id != a.id);
    tacit_ledger_clear(&ledger);
}

static void test_threads_do_not_change_the_noise(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    tacit_threads *threads = tacit_threads_create(3);
    releasing a = releasing_make(COUNT), b = releasing_make(COUNT);
    double *x = calloc(COUNT, sizeof *x), *one = calloc(COUNT, sizeof *x);
    double *three = calloc(COUNT, sizeof *x);
    tacit_cost cost = planned(TACIT_MECHANISM_LAPLACE, 1, 10, COUNT);
    release_vector(&a, &cost, x, one, NULL);
    release_vector(&b, &cost, x, three, threads);
    assert_memory_equal(one, three, COUNT * sizeof *x);
    int same = 0; /* pieces are not copies of each other */
    for (int k = 0; k < 4096; k++)
        same += one[k] == one[k + 4096];
    assert_true(same < 10);
    free(x);
    free(one);
    free(three);
    releasing_free(&a);
    releasing_free(&b);
    tacit_threads_free(threads);
}

/* ---- keys of the system ---- */

static tacit_status release_with(const tacit_random *random, int64_t *out)
{
    releasing r = releasing_make(1);
    tacit_cost cost = {.mechanism = TACIT_MECHANISM_GAUSSIAN, .what = "count"};
    tacit_error err = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_public *released = NULL;
    check_ok(tacit_cost_count(&cost, 1e6, &err), &err);
    reserve(&r.ledger, &cost, &permit);
    check_ok(tacit_bound_count(&permit, (tacit_private_metric){7}, r.scratch, &bounded, &err),
             &err);
    tacit_status status = tacit_mechanism_apply(
        &permit, bounded, &(tacit_noise_source){random, 0, NULL}, &released, &err);
    *out = status == TACIT_OK ? tacit_public_get_int(released, 0, 0) : 0;
    releasing_free(&r);
    return status;
}

static void test_a_forked_child_cannot_repeat_noise(void **state)
{
    (void)state;
    tacit_random system;
    tacit_error err = {0};
    int64_t mine, again;
    check_ok(tacit_random_system(&system, &err), &err);
    assert_int_equal(release_with(&system, &mine), TACIT_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(release_with(&system, &again) == TACIT_EINTERNAL ? 0 : 1);
    int status = 0;
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    /* As after a restart: new keys, so the same release is another draw (equal by chance once in
     * 3.5 million). */
    check_ok(tacit_random_system(&system, &err), &err);
    assert_int_equal(release_with(&system, &again), TACIT_OK);
    assert_true(mine != again);
}

/* Every ledger begins its ids again, so ids alone would give two ledgers the same noise. */
static void test_two_ledgers_share_no_noise(void **state)
{
    (void)state;
    tacit_random system;
    tacit_error err = {0};
    int64_t one, two;
    check_ok(tacit_random_system(&system, &err), &err);
    for (int k = 0; k < 3; k++) { /* each release is the first one of a new ledger */
        assert_int_equal(release_with(&system, &one), TACIT_OK);
        assert_int_equal(release_with(&system, &two), TACIT_OK);
        assert_true(one != two); /* equal by chance once in 3.5 million */
    }
    assert_int_equal(release_with(&seeded, &one), TACIT_OK);
    assert_int_equal(release_with(&seeded, &two), TACIT_OK);
    assert_true(one == two); /* a seed repeats itself: that is what simulations are for */
}

/* ---- costs that nobody could keep to ---- */

static void test_costs_are_checked_when_charged(void **state)
{
    (void)state;
    const tacit_cost good = planned(TACIT_MECHANISM_GAUSSIAN, 1, 1, 3);
    const double step = ldexp(1, good.grid);
    tacit_cost bad[12];
    for (size_t k = 0; k < 12; k++)
        bad[k] = good;
    bad[0].norm = TACIT_L1;
    bad[1].mechanism = TACIT_MECHANISM_LAPLACE; /* with an l2 norm */
    bad[2].sensitivity += step / 2;
    bad[3].sensitivity = 0x1p27 * step;
    bad[4].noise += step / 2;
    bad[5].noise = NAN;
    bad[6].noise = 63 * step;
    bad[7].sampling = 0.1; /* not a multiple of 2^-32 */
    bad[8].sampling = 0.5;
    bad[8].unit = TACIT_UNIT_USER;
    bad[9].sampling = NAN;
    bad[10].grid = 5000;
    bad[11] = (tacit_cost){
        .mechanism = TACIT_MECHANISM_RESPONSE, .categories = 2, .noise = 1e-16, .what = "x"};
    tacit_ledger ledger = {0};
    tacit_permit permit;
    for (size_t k = 0; k < 12; k++) {
        tacit_error err = {0};
        check_fails(tacit_ledger_reserve(&ledger, kept, &no_limit, &bad[k], 0, &permit, &err),
                    TACIT_EUSAGE, &err, "can keep to");
    }
    assert_int_equal(ledger.count, 0);
    tacit_ledger_clear(&ledger);
}

/* A whole value is not a sum of records' parts: what was planned for those does not cover it. */
static void test_whole_values_need_whole_costs(void **state)
{
    (void)state;
    releasing r = releasing_make(1);
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_error err = {0};
    const double x[1] = {0};
    tacit_secret *secret = secret_of(r.pool, &r.shape, x);
    const tacit_private_metric seven = {7};
    tacit_cost cost = {.mechanism = TACIT_MECHANISM_LAPLACE,
                       .adjacency = TACIT_ADD_REMOVE,
                       .coordinates = 1,
                       .what = "whole"};
    check_ok(tacit_cost_on_grid(&cost, 1, 1, &err), &err);
    reserve(&r.ledger, &cost, &permit);
    check_fails(tacit_bound_vector(&permit, secret, r.scratch, &bounded, &err), TACIT_EUSAGE, &err,
                "twice");
    check_fails(tacit_bound_number(&permit, seven, 0, 2, r.scratch, &bounded, &err), TACIT_EUSAGE,
                &err, "twice");
    cost = planned(TACIT_MECHANISM_LAPLACE, 1, 1, 1);
    cost.sampling = 0.5;
    reserve(&r.ledger, &cost, &permit);
    check_fails(tacit_bound_vector(&permit, secret, r.scratch, &bounded, &err), TACIT_EUSAGE, &err,
                "sample");
    check_fails(tacit_bound_number(&permit, seven, 0, 2, r.scratch, &bounded, &err), TACIT_EUSAGE,
                &err, "sample");
    cost = (tacit_cost){.mechanism = TACIT_MECHANISM_LAPLACE, .what = "count"};
    check_ok(tacit_cost_count(&cost, 1, &err), &err);
    cost.sampling = 0.5;
    reserve(&r.ledger, &cost, &permit);
    check_fails(tacit_bound_count(&permit, seven, r.scratch, &bounded, &err), TACIT_EUSAGE, &err,
                "count");
    cost.unit = TACIT_UNIT_USER;
    check_fails(tacit_cost_count(&cost, 1, &err), TACIT_EINPUT, &err, "user");
    tacit_vector_drop(r.pool, tacit_vector_of_secret(secret));
    releasing_free(&r);
}

/* ---- numbers, counts, choices ---- */

static void test_numbers_stay_in_their_range(void **state)
{
    (void)state;
    static const double values[] = {-1e9, 3, 5.5, 8, 1e9, NAN, INFINITY};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        releasing r = releasing_make(1);
        tacit_cost cost = planned(TACIT_MECHANISM_LAPLACE, 2.5, 1, 1);
        tacit_permit permit;
        tacit_bounded *bounded;
        tacit_error err = {0};
        reserve(&r.ledger, &cost, &permit);
        check_ok(tacit_bound_number(&permit, (tacit_private_metric){values[k]}, 3, 8, r.scratch,
                                    &bounded, &err),
                 &err);
        double at = bounded->offset + ldexp((double)bounded->steps[0], cost.grid);
        double want = isnan(values[k]) ? 5.5 : fmax(3, fmin(8, values[k]));
        assert_true(fabs(at - want) <= ldexp(1, cost.grid) && at >= 3 && at <= 8);
        tacit_bounded *second;
        reserve(&r.ledger, &cost, &permit);
        check_fails(
            tacit_bound_number(&permit, (tacit_private_metric){1}, 0, 4, r.scratch, &second, &err),
            TACIT_EUSAGE, &err, "range");
        releasing_free(&r);
    }
}

/* k-ary response: the truth with e^eps / (e^eps + k - 1), others alike. Chi-square with k - 1
 * degrees of freedom, bound at a false-alarm rate of 1e-6. */
static void test_choices_follow_their_law(void **state)
{
    (void)state;
    enum { K = 4, TURNS = 20000 };
    tacit_cost cost = {.what = "choice"};
    tacit_error err = {0};
    check_ok(tacit_cost_choice(&cost, K, 1.5, &err), &err);
    int seen[K] = {0};
    releasing r = releasing_make(1);
    for (int t = 0; t < TURNS; t++) {
        tacit_permit permit;
        tacit_bounded *bounded;
        tacit_public *out;
        tacit_scratch_mark mark = tacit_scratch_now(r.scratch);
        reserve(&r.ledger, &cost, &permit);
        check_ok(tacit_bound_choice(&permit, (tacit_private_metric){2}, r.scratch, &bounded, &err),
                 &err);
        check_ok(tacit_mechanism_apply(&permit, bounded, &(tacit_noise_source){&seeded, 3, NULL},
                                       &out, &err),
                 &err);
        seen[tacit_public_get_int(out, 0, 0)]++;
        tacit_scratch_rewind(r.scratch, mark);
    }
    double chi = 0;
    for (int k = 0; k < K; k++) {
        double want = TURNS * (k == 2 ? exp(1.5) : 1) / (exp(1.5) + K - 1);
        chi += (seen[k] - want) * (seen[k] - want) / want;
    }
    assert_true(chi < 30.7);
    releasing_free(&r);
}

static void test_wrong_roads_are_closed(void **state)
{
    (void)state;
    releasing r = releasing_make(3);
    tacit_cost noisy = planned(TACIT_MECHANISM_GAUSSIAN, 1, 1, 2), bare = {.what = "bare"};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_public *out;
    tacit_error err = {0};
    const double x[3] = {0};
    tacit_secret *secret = secret_of(r.pool, &r.shape, x);
    /* more coordinates than were paid for; a value without a bound; a count on a fine grid */
    reserve(&r.ledger, &noisy, &permit);
    check_fails(tacit_bound_vector(&permit, secret, r.scratch, &bounded, &err), TACIT_EUSAGE, &err,
                "coordinates");
    check_fails(tacit_bounded_create(&bounded, &permit, TACIT_L2, 1, &r.shape, r.scratch, &err),
                TACIT_EUSAGE, &err, "no bound");
    check_fails(tacit_bound_count(&permit, (tacit_private_metric){1}, r.scratch, &bounded, &err),
                TACIT_EUSAGE, &err, "count");
    check_fails(tacit_bound_choice(&permit, (tacit_private_metric){1}, r.scratch, &bounded, &err),
                TACIT_EUSAGE, &err, "randomized response");
    assert_int_equal(permit.state, TACIT_PERMIT_RESERVED); /* no data was touched */
    check_ok(tacit_ledger_give_back(&r.ledger, &permit, &err), &err);
    reserve(&r.ledger, &bare, &permit);
    check_fails(tacit_bound_vector(&permit, secret, r.scratch, &bounded, &err), TACIT_EUSAGE, &err,
                "with noise");
    /* a bound that claims more than was paid for, or no noise to draw from */
    noisy.coordinates = 3;
    reserve(&r.ledger, &noisy, &permit);
    check_ok(tacit_bound_vector(&permit, secret, r.scratch, &bounded, &err), &err);
    check_fails(tacit_mechanism_apply(&permit, bounded, NULL, &out, &err), TACIT_EINTERNAL, &err,
                "no noise");
    bounded->sensitivity *= 1.0001;
    check_fails(tacit_mechanism_apply(&permit, bounded, &(tacit_noise_source){&seeded, 0, NULL},
                                      &out, &err),
                TACIT_EBUDGET, &err, "paid for");
    tacit_vector_drop(r.pool, tacit_vector_of_secret(secret));
    releasing_free(&r);
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
        cmocka_unit_test(test_outputs_never_leave_the_grid),
        cmocka_unit_test(test_float_noise_would_be_noticed),
        cmocka_unit_test(test_means_are_functions_of_grid_integers),
        cmocka_unit_test(test_variance_on_zero_data),
        cmocka_unit_test(test_noise_is_never_repeated),
        cmocka_unit_test(test_ids_survive_permits_that_come_back),
        cmocka_unit_test(test_threads_do_not_change_the_noise),
        cmocka_unit_test(test_a_forked_child_cannot_repeat_noise),
        cmocka_unit_test(test_two_ledgers_share_no_noise),
        cmocka_unit_test(test_costs_are_checked_when_charged),
        cmocka_unit_test(test_whole_values_need_whole_costs),
        cmocka_unit_test(test_numbers_stay_in_their_range),
        cmocka_unit_test(test_choices_follow_their_law),
        cmocka_unit_test(test_wrong_roads_are_closed),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
