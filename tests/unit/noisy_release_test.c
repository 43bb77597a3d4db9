/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes out of a release with noise: it lies on the public grid for any input, its noise is
 * what was paid for, and is neither repeated nor borrowed; costs that no kernel can keep to are
 * refused. Each of the known attacks on floating-point implementations has a test here or in
 * grid_test.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/threads.h"
#include "charged.h"

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
    charged_reserve(&r->ledger, cost, &permit);
    check_ok(tacit_bound_vector(&permit, secret, r->scratch, &bounded, &err), &err);
    check_ok(tacit_mechanism_apply(&permit, bounded,
                                   &(tacit_noise_source){&charged_random, 1, threads}, &released,
                                   &err),
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
        tacit_cost cost =
            charged_plan(trial % 2 ? TACIT_MECHANISM_LAPLACE : TACIT_MECHANISM_GAUSSIAN, radius,
                         radius * pow(10, dice_between(&d, -3, 4)), NASTY);
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
        tacit_cost cost = charged_plan((tacit_mechanism)m, 1, 2.5, COUNT);
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
    tacit_cost cost = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 10, COUNT);
    double x[COUNT] = {0}, out[TURNS][COUNT];
    tacit_error err = {0};
    for (int t = 0; t < TURNS; t++) {
        if (t % 3 == 1) { /* a permit that comes back takes its id along */
            tacit_permit unused;
            charged_reserve(&r.ledger, &cost, &unused);
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
    tacit_cost cost = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 10, 3);
    tacit_permit a, b, c;
    tacit_error err = {0};
    charged_reserve(&ledger, &cost, &a);
    charged_reserve(&ledger, &cost, &b);
    check_ok(tacit_ledger_give_back(&ledger, &a, &err), &err);
    charged_reserve(&ledger, &cost, &c);
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
    tacit_cost cost = charged_plan(TACIT_MECHANISM_LAPLACE, 1, 10, COUNT);
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
    charged_reserve(&r.ledger, &cost, &permit);
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
    assert_int_equal(release_with(&charged_random, &one), TACIT_OK);
    assert_int_equal(release_with(&charged_random, &two), TACIT_OK);
    assert_true(one == two); /* a seed repeats itself: that is what simulations are for */
}

/* ---- costs that nobody could keep to ---- */

static void test_costs_are_checked_when_charged(void **state)
{
    (void)state;
    const tacit_cost good = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 1, 3);
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
        check_fails(tacit_ledger_reserve(&ledger, charged_costs, &charged_no_limit, &bad[k], 0,
                                         &permit, &err),
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
    charged_reserve(&r.ledger, &cost, &permit);
    check_fails(tacit_bound_vector(&permit, secret, r.scratch, &bounded, &err), TACIT_EUSAGE, &err,
                "twice");
    check_fails(tacit_bound_number(&permit, seven, 0, 2, r.scratch, &bounded, &err), TACIT_EUSAGE,
                &err, "twice");
    cost = charged_plan(TACIT_MECHANISM_LAPLACE, 1, 1, 1);
    cost.sampling = 0.5;
    charged_reserve(&r.ledger, &cost, &permit);
    check_fails(tacit_bound_vector(&permit, secret, r.scratch, &bounded, &err), TACIT_EUSAGE, &err,
                "sample");
    check_fails(tacit_bound_number(&permit, seven, 0, 2, r.scratch, &bounded, &err), TACIT_EUSAGE,
                &err, "sample");
    cost = (tacit_cost){.mechanism = TACIT_MECHANISM_LAPLACE, .what = "count"};
    check_ok(tacit_cost_count(&cost, 1, &err), &err);
    cost.sampling = 0.5;
    charged_reserve(&r.ledger, &cost, &permit);
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
        tacit_cost cost = charged_plan(TACIT_MECHANISM_LAPLACE, 2.5, 1, 1);
        tacit_permit permit;
        tacit_bounded *bounded;
        tacit_error err = {0};
        charged_reserve(&r.ledger, &cost, &permit);
        check_ok(tacit_bound_number(&permit, (tacit_private_metric){values[k]}, 3, 8, r.scratch,
                                    &bounded, &err),
                 &err);
        double at = bounded->offset + ldexp((double)bounded->steps[0], cost.grid);
        double want = isnan(values[k]) ? 5.5 : fmax(3, fmin(8, values[k]));
        assert_true(fabs(at - want) <= ldexp(1, cost.grid) && at >= 3 && at <= 8);
        tacit_bounded *second;
        charged_reserve(&r.ledger, &cost, &permit);
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
        charged_reserve(&r.ledger, &cost, &permit);
        check_ok(tacit_bound_choice(&permit, (tacit_private_metric){2}, r.scratch, &bounded, &err),
                 &err);
        check_ok(tacit_mechanism_apply(&permit, bounded,
                                       &(tacit_noise_source){&charged_random, 3, NULL}, &out, &err),
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
    tacit_cost noisy = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 1, 2), bare = {.what = "bare"};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_public *out;
    tacit_error err = {0};
    const double x[3] = {0};
    tacit_secret *secret = secret_of(r.pool, &r.shape, x);
    /* more coordinates than were paid for; a value without a bound; a count on a fine grid */
    charged_reserve(&r.ledger, &noisy, &permit);
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
    charged_reserve(&r.ledger, &bare, &permit);
    check_fails(tacit_bound_vector(&permit, secret, r.scratch, &bounded, &err), TACIT_EUSAGE, &err,
                "with noise");
    /* a bound that claims more than was paid for, or no noise to draw from */
    noisy.coordinates = 3;
    charged_reserve(&r.ledger, &noisy, &permit);
    check_ok(tacit_bound_vector(&permit, secret, r.scratch, &bounded, &err), &err);
    check_fails(tacit_mechanism_apply(&permit, bounded, NULL, &out, &err), TACIT_EINTERNAL, &err,
                "no noise");
    bounded->sensitivity *= 1.0001;
    check_fails(tacit_mechanism_apply(&permit, bounded,
                                      &(tacit_noise_source){&charged_random, 0, NULL}, &out, &err),
                TACIT_EBUDGET, &err, "paid for");
    tacit_vector_drop(r.pool, tacit_vector_of_secret(secret));
    releasing_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outputs_never_leave_the_grid),
        cmocka_unit_test(test_float_noise_would_be_noticed),
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
    return cmocka_run_group_tests(tests, charged_setup, charged_teardown);
}
