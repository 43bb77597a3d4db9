/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded value times a public column: how far it can move, as integers and without slack. */
#include "charged.h"

#include <math.h>
#include <string.h>

enum { MOST = 4096 };

static tacit_scratch *scratch;

static tacit_shape shape_of(size_t count)
{
    const tacit_segment segment = {"numbers", TACIT_F64, count};
    tacit_shape shape;
    tacit_error err = {0};
    check_ok(tacit_shape_init(&shape, &segment, 1, &err), &err);
    return shape;
}

/* A cost on a coarse grid, where rounding matters: the radius is a few hundred steps. */
static tacit_cost coarse(size_t count, size_t rank)
{
    tacit_error err = {0};
    tacit_cost cost = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1.177, 0x1p30 / 602, count);
    assert_in_range(tacit_cost_limit(&cost), 256, 1024);
    const tacit_cost before = cost;
    check_ok(tacit_cost_widen(&cost, rank, &err), &err);
    assert_int_equal(cost.coordinates, rank * count);
    assert_true(cost.sensitivity == before.sensitivity && cost.noise == before.noise);
    return cost;
}

/* The product of `steps` (p) and `column` (rank), into `out`. */
static void spread(const tacit_cost *cost, const int64_t *steps, size_t p, const double *column,
                   size_t rank, int64_t *out)
{
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_error err = {0};
    const tacit_shape narrow = shape_of(p), wide = shape_of(rank * p);
    tacit_scratch_mark mark = tacit_scratch_now(scratch);
    charged_reserve(&ledger, cost, &permit);
    check_ok(tacit_bounded_on_grid(&bounded, &permit, &narrow, scratch, &err), &err);
    memcpy(bounded->steps, steps, p * sizeof *steps);
    bounded->factor = 0.125; /* as of a mean: what is spread is the sum */
    check_ok(tacit_bounded_spread(bounded, column, rank, &wide, scratch, &err), &err);
    assert_int_equal(bounded->coordinates, rank * p);
    assert_true(bounded->factor == 1);
    memcpy(out, bounded->steps, rank * p * sizeof *out);
    tacit_scratch_rewind(scratch, mark);
    tacit_ledger_clear(&ledger);
}

/* What it would be without room for the rounding. */
static void naive(const int64_t *steps, size_t p, const double *column, size_t rank, int64_t *out)
{
    for (size_t k = 0; k < rank; k++)
        for (size_t i = 0; i < p; i++)
            out[k * p + i] = (int64_t)floor(column[k] * (double)steps[i]);
}

static double squares(const int64_t *a, const int64_t *b, size_t count)
{
    double sum = 0; /* exact: far below 2^53 */
    for (size_t k = 0; k < count; k++)
        sum += (double)(a[k] - b[k]) * (double)(a[k] - b[k]);
    return sum;
}

/* A column of equal numbers, one coordinate, data at the worst place: floor moves every product by
 * the next whole number. */
static void test_worst_case(void **state)
{
    (void)state;
    enum { RANK = 64 };
    const tacit_cost cost = coarse(1, RANK);
    const int64_t limit = tacit_cost_limit(&cost);
    double column[RANK];
    int64_t a[RANK], b[RANK], naive_a[RANK], naive_b[RANK];
    for (size_t k = 0; k < RANK; k++)
        column[k] = 0.125;
    double worst = 0, naive_worst = 0;
    for (int64_t from = -3000; from < 3000; from++) {
        const int64_t to = from + 2 * limit;
        spread(&cost, &from, 1, column, RANK, a);
        spread(&cost, &to, 1, column, RANK, b);
        naive(&from, 1, column, RANK, naive_a);
        naive(&to, 1, column, RANK, naive_b);
        worst = fmax(worst, squares(a, b, RANK));
        naive_worst = fmax(naive_worst, squares(naive_a, naive_b, RANK));
    }
    const double most = 4 * (double)limit * (double)limit;
    assert_true(limit % 4 != 0);
    assert_true(naive_worst > most); /* the twin breaks its promise: this test can see it */
    assert_true(worst <= most);
    assert_true(worst > 0.8 * most); /* and the promise is not kept by giving nothing */
}

/* Anything a record may do, anything a column may be. */
static void test_never_further_than_paid_for(void **state)
{
    (void)state;
    dice d = {5};
    static int64_t a[MOST], b[MOST];
    for (int trial = 0; trial < 3000; trial++) {
        const size_t p = 1 + dice_below(&d, 12), rank = 1 + dice_below(&d, 12);
        const tacit_cost cost = coarse(p, rank);
        const int64_t limit = tacit_cost_limit(&cost);
        double column[12], length = 0;
        int64_t s[12], t[12];
        for (size_t k = 0; k < rank; k++)
            column[k] = trial % 3 ? dice_normal(&d) : 1 + 1e-9 * dice_normal(&d);
        for (size_t k = 0; k < rank; k++)
            length += column[k] * column[k];
        for (size_t k = 0; k < rank; k++) /* norm 1, or longer */
            column[k] *= (trial % 5 ? 1 : 7) / sqrt(length);
        int32_t part[2][12];
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < p; i++)
                part[side][i] = (int32_t)((side ? 1 : -1) * (double)limit *
                                          (trial % 2 ? dice_between(&d, 0.3, 1) : 1));
            tacit_grid_shrink(TACIT_L2, (int32_t)limit, p, part[side]);
        }
        for (size_t i = 0; i < p; i++) {
            const int64_t others = (int64_t)dice_below(&d, 1 << 20) - (1 << 19);
            s[i] = others + part[0][i];
            t[i] = others + part[1][i];
        }
        spread(&cost, s, p, column, rank, a);
        spread(&cost, t, p, column, rank, b);
        assert_true(squares(a, b, rank * p) <= 4 * (double)limit * (double)limit);
        for (size_t i = 0; i < p; i++) /* one record comes or goes */
            t[i] = s[i] - part[0][i];
        spread(&cost, t, p, column, rank, b);
        assert_true(squares(a, b, rank * p) <= (double)limit * (double)limit);
    }
}

/* On the usual grid next to nothing is lost, also where sums are beyond what doubles hold. */
static void test_products(void **state)
{
    (void)state;
    tacit_error err = {0};
    enum { P = 5, RANK = 3 };
    tacit_cost cost = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 4, P);
    check_ok(tacit_cost_widen(&cost, RANK, &err), &err);
    const double column[RANK] = {0.6, -0.8, 0};
    const int64_t steps[P] = {0, 1000003, -((INT64_C(1) << 59) + 12345), 7, INT64_C(1) << 55};
    int64_t out[RANK * P];
    spread(&cost, steps, P, column, RANK, out);
    for (size_t k = 0; k < RANK; k++)
        for (size_t i = 0; i < P; i++) {
            const long double want = (long double)column[k] * (long double)steps[i];
            const long double slack = 1 + 1.5e-6L * fabsl(want);
            assert_true(fabsl((long double)out[k * P + i] - want) <= slack);
        }
}

static void test_refusals(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    const tacit_shape narrow = shape_of(4), wide = shape_of(8), odd = shape_of(9);
    const double column[2] = {0.5, 0.5}, bad[2] = {0.5, NAN};
    tacit_cost laplace = charged_plan(TACIT_MECHANISM_LAPLACE, 1, 4, 4);
    check_fails(tacit_cost_widen(&laplace, 2, &err), TACIT_EUSAGE, &err, "gaussian");
    assert_int_equal(laplace.coordinates, 4);
    tacit_cost cost = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 4, 4);
    check_fails(tacit_cost_widen(&cost, 0, &err), TACIT_EINPUT, &err, "rank");
    check_fails(tacit_cost_widen(&cost, SIZE_MAX, &err), TACIT_EINPUT, &err, "rank");
    tacit_cost rough = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 0x1p30 / 600, 4);
    check_fails(tacit_cost_widen(&rough, 100000, &err), TACIT_EINPUT, &err, "rank");
    charged_reserve(&ledger, &cost, &permit); /* not widened */
    check_ok(tacit_bounded_on_grid(&bounded, &permit, &narrow, scratch, &err), &err);
    check_fails(tacit_bounded_spread(bounded, column, 2, &wide, scratch, &err), TACIT_EUSAGE, &err,
                "widen");
    check_ok(tacit_cost_widen(&cost, 2, &err), &err);
    charged_reserve(&ledger, &cost, &permit);
    check_ok(tacit_bounded_on_grid(&bounded, &permit, &narrow, scratch, &err), &err);
    check_fails(tacit_bounded_spread(bounded, column, 2, &odd, scratch, &err), TACIT_EUSAGE, &err,
                "9 numbers");
    check_fails(tacit_bounded_spread(bounded, bad, 2, &wide, scratch, &err), TACIT_EUSAGE, &err,
                "column");
    check_ok(tacit_bounded_spread(bounded, column, 2, &wide, scratch, &err), &err);
    tacit_ledger_clear(&ledger);
}

/* ---- gifts ---- */

static void test_gifts(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger ledger = {0};
    tacit_permit permit, other;
    tacit_bounded *bounded, *second;
    int64_t sum[4] = {10, 20, 30, 40};
    const tacit_shape shape = shape_of(4);
    const tacit_cost cost = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 4, 4);
    charged_reserve(&ledger, &cost, &permit);
    charged_reserve(&ledger, &cost, &other);
    check_ok(tacit_bounded_on_grid(&bounded, &permit, &shape, scratch, &err), &err);
    bounded->steps[2] = -5;
    /* another permit, that has not been used or that has */
    check_fails(tacit_mechanism_give(&other, bounded, sum, 4, &err), TACIT_EUSAGE, &err, "permit");
    check_ok(tacit_bounded_on_grid(&second, &other, &shape, scratch, &err), &err);
    check_fails(tacit_mechanism_give(&other, bounded, sum, 4, &err), TACIT_EUSAGE, &err, "permit");
    /* more than was paid for, or in another norm */
    bounded->sensitivity = cost.sensitivity * (1 + 1e-9);
    check_fails(tacit_mechanism_give(&permit, bounded, sum, 4, &err), TACIT_EBUDGET, &err, "paid");
    bounded->sensitivity = NAN;
    check_fails(tacit_mechanism_give(&permit, bounded, sum, 4, &err), TACIT_EBUDGET, &err, "paid");
    bounded->sensitivity = cost.sensitivity;
    bounded->norm = TACIT_L1;
    check_fails(tacit_mechanism_give(&permit, bounded, sum, 4, &err), TACIT_EBUDGET, &err, "paid");
    bounded->norm = TACIT_L2;
    check_fails(tacit_mechanism_give(&permit, bounded, sum, 3, &err), TACIT_EUSAGE, &err, "spread");
    bounded->factor = 0.5;
    check_fails(tacit_mechanism_give(&permit, bounded, sum, 4, &err), TACIT_EUSAGE, &err, "spread");
    bounded->factor = 1;
    check_ok(tacit_mechanism_give(&permit, bounded, sum, 4, &err), &err);
    assert_true(sum[0] == 10 && sum[1] == 20 && sum[2] == 25 && sum[3] == 40);
    assert_int_equal(bounded->steps[2], 0); /* wiped */
    check_fails(tacit_mechanism_give(&permit, bounded, sum, 4, &err), TACIT_EUSAGE, &err, "permit");
    assert_int_equal(sum[2], 25);
    tacit_public *out; /* what was given is not released as well */
    const tacit_noise_source source = {.random = &charged_random};
    check_fails(tacit_mechanism_apply(&permit, bounded, &source, &out, &err), TACIT_EUSAGE, &err,
                "permit");
    uint64_t most;
    check_ok(tacit_gift_most(&cost, 10, &most, &err), &err);
    assert_int_equal(most, 10 * (uint64_t)tacit_cost_limit(&cost) + 1);
    check_fails(tacit_gift_most(&cost, SIZE_MAX / 4, &most, &err), TACIT_EINPUT, &err, "records");
    tacit_ledger_clear(&ledger);
}

static int setup(void **state)
{
    scratch = tacit_scratch_create();
    return scratch ? charged_setup(state) : -1;
}

static int teardown(void **state)
{
    tacit_scratch_free(scratch);
    return charged_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worst_case), cmocka_unit_test(test_never_further_than_paid_for),
        cmocka_unit_test(test_products),   cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_gifts),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
