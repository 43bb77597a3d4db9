/* SPDX-License-Identifier: Apache-2.0 */
/* Special functions against values computed elsewhere with 40 digits, and against slow sums. */
#include <math.h>

#include "math/special.h"
#include "math/total.h"
#include "testing.h"

static void close_to(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%.17g, not %.17g", got, want);
}

static void normal_tails(void **state)
{
    (void)state;
    static const struct {
        double x, log_cdf;
    } want[] = {
        {-10000.0, -50000010.129278915181}, {-40.0, -804.60844201375378817},
        {-12.5, -81.575967870743883217},    {-5.0, -15.064998393988725736},
        {-3.001, -6.6110097848909305489},   {-2.999, -6.6044435875705801746},
        {-1.0, -1.8410216450092635058},     {0.0, -0.69314718055994530942},
        {1.0, -0.17275377902344988953},     {2.5, -0.006229025485860002381},
        {5.0, -2.8665161296376359338e-7},   {12.0, -1.7764821120776789978e-33},
    };
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        close_to(tacit_log_normal_cdf(want[k].x), want[k].log_cdf, 5e-14);
        if (want[k].x > -30)
            close_to(tacit_normal_cdf(want[k].x), exp(want[k].log_cdf), 1e-12);
        if (want[k].x < 5 && want[k].x > -37)
            close_to(tacit_normal_quantile(exp(want[k].log_cdf)), want[k].x,
                     1e-13 * (1 + exp(want[k].x * want[k].x / 2)));
    }
    for (double p = 1e-300; p < 1; p = p < 1e-3 ? p * 37 : p + 0.013)
        close_to(tacit_log_normal_cdf(tacit_normal_quantile(p)), log(p), 1e-13);
    for (double x = 2.5; x < 3.5; x += 0.01) { /* where one way takes over from the other */
        const double gap = tacit_mills(x) - tacit_mills(x + 0.01);
        close_to(gap, 0.01 * (1 - (x + 0.005) * tacit_mills(x + 0.005)), 1e-4);
    }
    close_to(tacit_mills(1e9), 1e-9, 1e-15);
    assert_true(tacit_mills(-40) == INFINITY);
    assert_true(tacit_normal_quantile(0) == -INFINITY && tacit_normal_quantile(1) == INFINITY);
    assert_true(isnan(tacit_normal_quantile(-0.1)) && isnan(tacit_normal_quantile(NAN)));
    assert_true(tacit_normal_quantile(0.5) == 0);
    assert_true(tacit_log_normal_cdf(-INFINITY) == -INFINITY && tacit_log_normal_cdf(60) == 0);
}

static void binomials(void **state)
{
    (void)state;
    static const struct {
        double k, n, p, log_mass, log_tail;
    } want[] = {
        {3, 10, 0.25, -1.3851658477400923543, -0.74568926268490929765},
        {60, 100, 0.5, -4.524155638860027414, -3.5598192034469067433},
        {5, 1000, 0.001, -5.7930046081197558946, -5.6166296495523351168},
        {990, 1000, 0.9, -73.404764393300196856, -73.310539727164949537},
        {301000, 1000000, 0.3, -9.4267633380139126383, -4.2261421945851485462},
        {310000, 1000000, 0.3, -243.67180396543835195, -240.59655083629956412},
        {50, 100000, 0.0001, -43.35626410714026849, -43.139228147709570206},
        {299000, 1000000, 0.3, -9.4278820097709488159, -0.014593742328621458086},
    };
    for (size_t j = 0; j < sizeof want / sizeof *want; j++) {
        close_to(tacit_log_binomial(want[j].k, want[j].n, want[j].p), want[j].log_mass, 2e-13);
        close_to(tacit_log_binomial_tail(want[j].k, want[j].n, want[j].p), want[j].log_tail, 2e-12);
    }
    for (double n = 1; n < 90; n += 11)
        for (double p = 0.003; p < 1; p += 0.17) {
            double sum = 0;
            for (double k = n; k >= 0; k--) { /* Pascal, from above */
                sum += exp(tacit_log_binomial(k, n, p));
                close_to(exp(tacit_log_binomial_tail(k, n, p)), sum, 1e-12);
            }
            close_to(sum, 1, 1e-13);
        }
    close_to(tacit_log_choose(10, 3), log(120), 1e-15);
    close_to(tacit_log_choose(52, 5), log(2598960), 1e-14);
    assert_true(tacit_log_choose(7, 0) == 0 && tacit_log_choose(7, 7) == 0);
    assert_true(isnan(tacit_log_choose(3, 4)));
    assert_true(tacit_log_binomial(0, 5, 0) == 0 && tacit_log_binomial(5, 5, 1) == 0);
    assert_true(tacit_log_binomial(1, 5, 0) == -INFINITY);
    assert_true(tacit_log_binomial_tail(0, 5, 0.1) == 0);
    assert_true(tacit_log_binomial_tail(6, 5, 0.1) == -INFINITY);
    assert_true(isnan(tacit_log_binomial(1, 5, 1.5)) && isnan(tacit_log_binomial_tail(1, 5, NAN)));
}

static void betas(void **state)
{
    (void)state;
    static const struct {
        double x, a, b, cdf;
    } want[] = {
        {0.3, 2.5, 0.7, 0.029814024845250465541},    {0.999, 2.5, 0.7, 0.98406945242432575781},
        {1e-05, 0.01, 900.0, 0.9593404004905140427}, {0.5, 10.0, 10.0, 0.5},
        {0.01, 0.5, 0.5, 0.063768560858519848583},   {0.2, 30.0, 100.0, 0.20554301050621882212},
        {0.9, 3.0, 1.5, 0.87765938302223586192},
    };
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        close_to(tacit_beta_cdf(want[k].x, want[k].a, want[k].b), want[k].cdf, 1e-12);
        close_to(tacit_beta_cdf(1 - want[k].x, want[k].b, want[k].a), 1 - want[k].cdf, 1e-10);
    }
    static const double shapes[] = {0.3, 1, 2.5, 40, 9951, 1e6};
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            for (double p = 1e-9; p < 1; p = p < 0.01 ? p * 20 : p + 0.19) {
                const double x = tacit_beta_quantile(p, shapes[i], shapes[j]);
                if (x < 1 - 1e-9) /* there x has too few digits left */
                    close_to(tacit_beta_cdf(x, shapes[i], shapes[j]), p, 1e-6);
            }
    close_to(tacit_beta_quantile(1e-9, 1, 10000), 1.00000000049995e-13, 1e-12);
    assert_true(tacit_beta_quantile(0, 2, 3) == 0 && tacit_beta_quantile(1, 2, 3) == 1);
    assert_true(tacit_beta_cdf(0, 2, 3) == 0 && tacit_beta_cdf(1, 2, 3) == 1);
    assert_true(isnan(tacit_beta_cdf(0.5, 0, 1)) && isnan(tacit_beta_quantile(0.5, 1, -1)));
}

static void logarithms_of_sums(void **state)
{
    (void)state;
    close_to(tacit_log_add(1000, 1000), 1000 + log(2), 1e-15);
    close_to(tacit_log_add(-3, 2), log(exp(-3) + exp(2)), 1e-15);
    assert_true(tacit_log_add(-INFINITY, 4) == 4 && tacit_log_add(4, INFINITY) == INFINITY);
    assert_true(tacit_log_add(-INFINITY, -INFINITY) == -INFINITY);
    assert_true(isnan(tacit_log_add(NAN, INFINITY)));
    close_to(tacit_log_sub(800, 799), 800 + log1p(-exp(-1)), 1e-15);
    close_to(tacit_log_sub(1e-10, 0), log(1e-10), 1e-10);
    assert_true(tacit_log_sub(3, 3) == -INFINITY && isnan(tacit_log_sub(2, 3)));
    assert_true(tacit_log_sub(3, -INFINITY) == 3);
    const double values[] = {700, 710, -INFINITY, 709};
    close_to(tacit_log_sum(values, 4), 710 + log(1 + exp(-1) + exp(-10)), 1e-15);
    assert_true(tacit_log_sum(values, 0) == -INFINITY);
}

static void totals_are_never_short(void **state)
{
    (void)state;
    dice d = {9};
    for (int round = 0; round < 200; round++) {
        tacit_total total = {0};
        long double exact = 0;
        for (int k = 0; k < 50; k++) {
            const double a = floor(dice_between(&d, 0, 1e6)), b = dice_unit(&d) * 1e-5;
            tacit_total_add(&total, a, b);
            exact += (long double)a * b;
        }
        const double up = tacit_total_up(&total);
        assert_true(up >= exact * (1 - 1e-17L) && nextafter(up, 0) <= exact * (1 + 1e-17L));
    }
    tacit_total total = {0};
    tacit_total_add(&total, INFINITY, 1);
    assert_true(tacit_total_up(&total) == INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_tails),
        cmocka_unit_test(binomials),
        cmocka_unit_test(betas),
        cmocka_unit_test(logarithms_of_sums),
        cmocka_unit_test(totals_are_never_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
