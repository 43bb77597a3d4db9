/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noise in shares: the law of a sum of discrete Gaussians, by exact convolution, against the one of
 * the whole and the bound tau; what the bound promises about privacy, and that less would be wrong;
 * and what is accounted for when shares are missing, against the exact law of those that are left.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/release.h"
#include "tacit/account.h"
#include "testing.h"

/* Probabilities of -reach .. reach; mass beyond is below 1e-30 as they are made here. */
typedef struct law {
    int reach;
    double *p; /* p[z + reach] */
} law;

static law law_make(int reach)
{
    law l = {reach, calloc(2 * (size_t)reach + 1, sizeof(double))};
    assert_non_null(l.p);
    return l;
}

static double at(const law *l, int z)
{
    return abs(z) <= l->reach ? l->p[z + l->reach] : 0;
}

static law gaussian(double variance, int reach)
{
    law l = law_make(reach);
    double sum = 0;
    for (int z = reach; z > 0; z--) /* small ones first */
        sum += 2 * exp(-(double)z * z / (2 * variance));
    for (int z = -reach; z <= reach; z++)
        l.p[z + reach] = exp(-(double)z * z / (2 * variance)) / (sum + 1);
    return l;
}

/* Sums of positive numbers: right to about 1e-15 of each probability, the smallest included. */
static law convolve(const law *a, const law *b, int reach)
{
    law l = law_make(reach);
    for (int z = -reach; z <= reach; z++)
        for (int x = -b->reach; x <= b->reach; x++)
            l.p[z + reach] += at(a, z - x) * at(b, x);
    return l;
}

/* Of `n` shares of variance `one`, as far as `reach`. */
static law sum_of(int n, double one, int reach)
{
    const int narrow = (int)ceil(13 * sqrt(one)) + 2;
    const law share = gaussian(one, narrow);
    law sum = gaussian(one, reach < narrow ? narrow : reach);
    for (int k = 1; k < n; k++) {
        law next = convolve(&sum, &share, sum.reach);
        free(sum.p);
        sum = next;
    }
    free(share.p);
    return sum;
}

/* The largest |log| of the ratio of the two laws, where both have more than 1e-18. */
static double log_ratio(int n, double one)
{
    const int reach = (int)ceil(14 * sqrt(n * one)) + 14;
    const law sum = sum_of(n, one, reach), whole = gaussian(n * one, reach);
    double worst = 0;
    for (int z = -reach; z <= reach; z++)
        if (at(&whole, z) > 1e-18)
            worst = fmax(worst, fabs(log(at(&sum, z) / at(&whole, z))));
    free(sum.p);
    free(whole.p);
    return worst;
}

static void test_sum_of_shares_is_nearly_gaussian(void **state)
{
    (void)state;
    static const double sigmas[] = {0.5, 0.6, 0.75, 1, 1.2};
    static const int counts[] = {2, 3, 4, 10, 40};
    for (size_t s = 0; s < 5; s++)
        for (size_t c = 0; c < 5; c++) {
            const double sigma = sigmas[s];
            const int n = counts[c];
            const double worst = log_ratio(n, sigma * sigma);
            const double half = tacit_noise_sum_tau(sigma, (uint64_t)n) / 2;
            assert_true(worst <= half);
            /* Of two, it is 2 exp(-2 pi^2 sigma^2 / 2), by signs in turn; without k / (k + 1) there
             * would be no bound. */
            assert_true(n > 2 || worst > 0.39 * half);
            assert_true(n > 2 || worst > 5 * exp(-2 * M_PI * M_PI * sigma * sigma));
        }
    assert_true(log_ratio(4, 9) < 1e-13); /* nothing but rounding */
    assert_true(tacit_noise_sum_tau(3, 4) < 4e-38);
}

static void test_tau(void **state)
{
    (void)state;
    /* By a program in another language, with 40 digits. */
    static const struct {
        double sigma;
        uint64_t n;
        double tau;
    } known[] = {{0.5, 2, 8.480497247111e-01},   {1, 2, 5.172318620381e-04},
                 {1, 10, 5.435242581620e-04},    {1.5, 1000, 2.270201006512e-09},
                 {1, 20000, 1.083019679498e-03}, {2, 3, 7.157179628060e-17}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const double tau = tacit_noise_sum_tau(known[k].sigma, known[k].n);
        assert_true(tau >= known[k].tau && tau <= known[k].tau * 1.006);
    }
    assert_true(tacit_noise_sum_tau(1, 1) == 0 && tacit_noise_sum_tau(0, 1) == 0);
    assert_true(isinf(tacit_noise_sum_tau(0.49, 2)) && isinf(tacit_noise_sum_tau(NAN, 2)));
    assert_true(tacit_noise_sum_tau(TACIT_SHARE_LEAST, UINT64_MAX) == 0);
    assert_true(tacit_noise_sum_tau(4, UINT32_MAX) < 1e-55);
}

/* delta(epsilon) of a law against itself, `shift` steps further: exact up to rounding. */
static double delta_of(const law *l, int shift, double epsilon)
{
    double delta = 0;
    for (int z = -l->reach; z <= l->reach + shift; z++)
        delta += fmax(0, at(l, z) - exp(epsilon) * at(l, z - shift));
    return delta;
}

/* (epsilon + tau, e^(tau / 2) delta), and that tau is needed: at some epsilon the sum is less
 * private than the Gaussian of the whole. */
static void test_privacy_of_a_sum_with_tau(void **state)
{
    (void)state;
    bool needed = false;
    for (int n = 2; n <= 5; n++)
        for (int s = 0; s < 3; s++) {
            const double sigma = 0.6 + 0.2 * s;
            const int reach = (int)ceil(14 * sqrt(n) * sigma) + 14;
            const law sum = sum_of(n, sigma * sigma, reach);
            const law whole = gaussian(n * sigma * sigma, reach);
            const double tau = tacit_noise_sum_tau(sigma, (uint64_t)n);
            for (int shift = 1; shift <= 3; shift++)
                for (double epsilon = 0; epsilon < 6; epsilon += 0.05) {
                    const double delta = delta_of(&whole, shift, epsilon);
                    assert_true(delta_of(&sum, shift, epsilon + tau) <=
                                exp(tau / 2) * delta + 1e-15);
                    needed = needed || delta_of(&sum, shift, epsilon) > 1.001 * delta + 1e-12;
                }
            free(sum.p);
            free(whole.p);
        }
    assert_true(needed);
}

/* ---- missing and colluding shares ---- */

static tacit_cost cost_of(double sensitivity, double noise)
{
    return (tacit_cost){.mechanism = TACIT_MECHANISM_GAUSSIAN,
                        .norm = TACIT_L2,
                        .coordinates = 1,
                        .sensitivity = sensitivity,
                        .noise = noise,
                        .what = "sum"};
}

static double accounted(const tacit_cost *cost, double delta)
{
    tacit_error err;
    tacit_loss loss;
    double epsilon = 0;
    tacit_cost_loss(cost, 1, &loss);
    check_ok(tacit_account_epsilon(TACIT_BY_PLD, &loss, 1, delta, &epsilon, &err), &err);
    return epsilon;
}

/* Ten shares of 64.5 steps were planned, `honest` are in: the accountant's epsilon is no less than
 * that of the exact law of the sum, and hardly more. */
static void test_account_of_missing_shares(void **state)
{
    (void)state;
    enum { PARTS = 10, SHIFT = 100 };
    const double delta = 1e-5, share = 64.5;
    const tacit_cost cost = cost_of(SHIFT, ceil(share * sqrt(PARTS) * 1024) / 1024);
    const double one = cost.noise * cost.noise / PARTS;
    static const uint32_t honest[] = {1, 4, PARTS, 12};
    double before = INFINITY;
    for (size_t k = 0; k < (SLOW ? 2 : 4); k++) {
        tacit_error err;
        tacit_cost left;
        check_ok(tacit_cost_of_shares(&left, &cost, PARTS, honest[k], &err), &err);
        const double epsilon = accounted(&left, delta);
        const law sum = sum_of((int)honest[k], one, (int)(9 * sqrt(honest[k] * one)));
        assert_true(delta_of(&sum, SHIFT, epsilon) <= delta);
        assert_true(delta_of(&sum, SHIFT, epsilon * 0.999) > delta);
        assert_true(epsilon < before);
        before = epsilon;
        free(sum.p);
    }
}

static void test_costs_of_shares(void **state)
{
    (void)state;
    tacit_error err;
    tacit_cost left, cost = cost_of(1000, 0x1p20);
    check_ok(tacit_cost_of_shares(&left, &cost, 100, 100, &err), &err);
    assert_memory_equal(&left, &cost, sizeof cost);
    check_ok(tacit_cost_of_shares(&left, &cost, 100, 25, &err), &err);
    assert_true(left.noise <= 0x1p19 && left.noise >= 0x1p19 - 1);
    check_ok(tacit_cost_of_shares(&left, &cost, 100, 400, &err), &err);
    assert_true(left.noise <= 0x1p21 && left.noise >= 0x1p21 - 1);
    check_ok(tacit_cost_of_shares(&left, &cost, 1, UINT32_MAX, &err), &err);
    assert_true(left.noise == 0x1p31);
    check_ok(tacit_cost_of_shares(&left, &cost, 100, 0, &err), &err);
    assert_int_equal(left.mechanism, TACIT_MECHANISM_NONE);
    check_fails(tacit_cost_of_shares(&left, &cost, 0, 5, &err), TACIT_EUSAGE, &err, "no members");
    cost.noise = 64 * 10;
    check_ok(tacit_cost_of_shares(&left, &cost, 100, 1, &err), &err);
    cost.noise = 64 * 10 - 1;
    check_fails(tacit_cost_of_shares(&left, &cost, 100, 1, &err), TACIT_EINPUT, &err, "coarse");
    cost.claimed = true;
    check_fails(tacit_cost_of_shares(&left, &cost, 4, 1, &err), TACIT_EUSAGE, &err, "shares");
    cost = cost_of(1000, 0x1p20);
    cost.mechanism = TACIT_MECHANISM_LAPLACE;
    check_fails(tacit_cost_of_shares(&left, &cost, 4, 1, &err), TACIT_EUSAGE, &err, "shares");
}

/* What is drawn: n shares of conceal's variance add up to the cost's, within 5.5 standard
 * deviations of the sample variance (false alarm 4e-8). */
static void test_drawn_shares_add_up(void **state)
{
    (void)state;
    enum { PARTS = 9 };
    const size_t count = SLOW ? 2000 : 20000;
    tacit_error err;
    tacit_random random;
    tacit_random_init(&random, 5);
    int64_t *z = calloc(count, sizeof *z), *sum = calloc(count, sizeof *sum);
    assert_true(z && sum);
    tacit_cost cost = cost_of(1000, 3000);
    cost.coordinates = count;
    tacit_shape shape;
    check_ok(tacit_shape_init(&shape, &(tacit_segment){"n", TACIT_I64, count}, 1, &err), &err);
    for (uint32_t k = 0; k < PARTS; k++) {
        tacit_scratch *scratch = tacit_scratch_create();
        tacit_permit permit = {.cost = cost, .state = TACIT_PERMIT_RESERVED};
        tacit_bounded *bounded;
        check_ok(tacit_bounded_on_grid(&bounded, &permit, &shape, scratch, &err), &err);
        const tacit_noise_source source = {.random = &random, .agent = k};
        check_ok(tacit_mechanism_conceal(&permit, bounded, PARTS, &source, z, count, &err), &err);
        for (size_t i = 0; i < count; i++)
            sum[i] += z[i];
        tacit_scratch_free(scratch);
    }
    double square = 0;
    for (size_t i = 0; i < count; i++)
        square += (double)sum[i] * (double)sum[i] / (double)count;
    assert_true(fabs(square / (3000.0 * 3000.0) - 1) < 5.5 * sqrt(2.0 / (double)count));
    free(z);
    free(sum);
}

/* What is kept from one share to the next is the law, and only while it is the same one. */
static void test_kept_law_changes_nothing(void **state)
{
    (void)state;
    enum { COUNT = 700 };
    static const uint32_t parts[] = {9, 9, 4, 9};
    tacit_error err;
    tacit_random random;
    tacit_random_init(&random, 6);
    tacit_cost cost = cost_of(1000, 3000);
    cost.coordinates = COUNT;
    tacit_shape shape;
    check_ok(tacit_shape_init(&shape, &(tacit_segment){"n", TACIT_I64, COUNT}, 1, &err), &err);
    tacit_share_law keeper = {0};
    for (uint32_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        int64_t z[2][COUNT];
        for (int kept = 0; kept < 2; kept++) {
            tacit_scratch *scratch = tacit_scratch_create();
            tacit_permit permit = {.cost = cost, .state = TACIT_PERMIT_RESERVED};
            permit.share = kept ? &keeper : NULL;
            tacit_bounded *bounded;
            check_ok(tacit_bounded_on_grid(&bounded, &permit, &shape, scratch, &err), &err);
            const tacit_noise_source source = {.random = &random, .agent = k};
            check_ok(
                tacit_mechanism_conceal(&permit, bounded, parts[k], &source, z[kept], COUNT, &err),
                &err);
            tacit_scratch_free(scratch);
        }
        assert_memory_equal(z[0], z[1], sizeof z[0]);
    }
    tacit_share_law_clear(&keeper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum_of_shares_is_nearly_gaussian),
        cmocka_unit_test(test_tau),
        cmocka_unit_test(test_privacy_of_a_sum_with_tau),
        cmocka_unit_test(test_account_of_missing_shares),
        cmocka_unit_test(test_costs_of_shares),
        cmocka_unit_test(test_drawn_shares_add_up),
        cmocka_unit_test(test_kept_law_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
