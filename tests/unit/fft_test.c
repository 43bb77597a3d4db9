/* SPDX-License-Identifier: Apache-2.0 */
/* Properties that only the Fourier transform has, and the sum of its definition. */
#include <math.h>
#include <stdlib.h>

#include "math/fft.h"
#include "testing.h"

enum { MOST = 1 << 14 };
#define TWO_PI 6.283185307179586476925286766559

typedef struct spectrum {
    double re[MOST / 2 + 1], im[MOST / 2 + 1];
} spectrum;

static spectrum a, b, c;
static double x[MOST], y[MOST], z[MOST];

static tacit_fft *plan_of(size_t n)
{
    tacit_error err = {0};
    tacit_fft *plan = NULL;
    check_ok(tacit_fft_create(&plan, n, &err), &err);
    assert_int_equal(tacit_fft_length(plan), n);
    return plan;
}

static void fill(double *v, size_t n, uint64_t seed)
{
    dice d = {seed};
    for (size_t k = 0; k < n; k++)
        v[k] = dice_normal(&d);
}

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.17g instead of %.17g, further than %g", got, want, tolerance);
}

/* The definition, slowly. */
static void by_definition(void **state)
{
    (void)state;
    for (size_t n = 4; n <= 256; n *= 2) {
        tacit_fft *plan = plan_of(n);
        fill(x, n, n);
        tacit_fft_forward(plan, x, a.re, a.im);
        for (size_t k = 0; k <= n / 2; k++) {
            double re = 0, im = 0;
            for (size_t j = 0; j < n; j++) {
                const double angle = TWO_PI * (double)(j * k % n) / (double)n;
                re += x[j] * cos(angle);
                im -= x[j] * sin(angle);
            }
            near(a.re[k], re, 1e-13 * (double)n);
            near(a.im[k], im, 1e-13 * (double)n);
        }
        tacit_fft_free(plan);
    }
}

/* An impulse at j turns into a pure wave of frequency j. */
static void impulse(void **state)
{
    (void)state;
    for (size_t n = 4; n <= MOST; n *= 2) {
        tacit_fft *plan = plan_of(n);
        const size_t places[] = {0, 1, n / 2, n - 1, n / 3};
        for (size_t p = 0; p < 5; p++) {
            for (size_t j = 0; j < n; j++)
                x[j] = j == places[p];
            tacit_fft_forward(plan, x, a.re, a.im);
            for (size_t k = 0; k <= n / 2; k++) {
                const double angle = TWO_PI * (double)(places[p] * k % n) / (double)n;
                near(a.re[k], cos(angle), 1e-14);
                near(a.im[k], -sin(angle), 1e-14);
            }
        }
        tacit_fft_free(plan);
    }
}

static void linear(void **state)
{
    (void)state;
    const size_t n = 1024;
    tacit_fft *plan = plan_of(n);
    fill(x, n, 1);
    fill(y, n, 2);
    for (size_t j = 0; j < n; j++)
        z[j] = 3 * x[j] - 0.5 * y[j];
    tacit_fft_forward(plan, x, a.re, a.im);
    tacit_fft_forward(plan, y, b.re, b.im);
    tacit_fft_forward(plan, z, c.re, c.im);
    for (size_t k = 0; k <= n / 2; k++) {
        near(c.re[k], 3 * a.re[k] - 0.5 * b.re[k], 1e-11);
        near(c.im[k], 3 * a.im[k] - 0.5 * b.im[k], 1e-11);
    }
    tacit_fft_free(plan);
}

static void parseval_and_back(void **state)
{
    (void)state;
    for (size_t n = 4; n <= MOST; n *= 2) {
        tacit_fft *plan = plan_of(n);
        fill(x, n, 7 * n);
        double energy = 0, spectral = 0;
        for (size_t j = 0; j < n; j++)
            energy += x[j] * x[j];
        tacit_fft_forward(plan, x, a.re, a.im);
        for (size_t k = 0; k <= n / 2; k++)
            spectral += (k == 0 || k == n / 2 ? 1 : 2) * (a.re[k] * a.re[k] + a.im[k] * a.im[k]);
        near(spectral / (double)n, energy, 1e-13 * energy);
        tacit_fft_inverse(plan, a.re, a.im, y);
        for (size_t j = 0; j < n; j++)
            near(y[j], x[j], 1e-14 * (1 + sqrt(energy)));
        tacit_fft_free(plan);
    }
}

static void convolution(void **state)
{
    (void)state;
    for (size_t n = 4; n <= 512; n *= 2) {
        tacit_fft *plan = plan_of(n);
        fill(x, n, 3 * n);
        fill(y, n, 5 * n);
        tacit_fft_forward(plan, x, a.re, a.im);
        tacit_fft_forward(plan, y, b.re, b.im);
        for (size_t k = 0; k <= n / 2; k++) {
            c.re[k] = a.re[k] * b.re[k] - a.im[k] * b.im[k];
            c.im[k] = a.re[k] * b.im[k] + a.im[k] * b.re[k];
        }
        tacit_fft_inverse(plan, c.re, c.im, z);
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += x[i] * y[(j + n - i) % n];
            near(z[j], sum, 1e-13 * (double)n);
        }
        tacit_fft_free(plan);
    }
}

/* What accounting leans on: the error of a bin is a few roundings per level times sum |x|. */
static void error_of_a_bin(void **state)
{
    (void)state;
    const size_t n = MOST;
    tacit_fft *plan = plan_of(n);
    double sum = 0;
    dice d = {99};
    for (size_t j = 0; j < n; j++)
        sum += x[j] = dice_unit(&d) * exp(-(double)j / 500);
    tacit_fft_forward(plan, x, a.re, a.im);
    for (size_t k = 0; k <= n / 2; k += 97) {
        long double re = 0, im = 0;
        for (size_t j = 0; j < n; j++) {
            const long double angle = (long double)TWO_PI * (long double)(j * k % n) / n;
            re += x[j] * cosl(angle);
            im -= x[j] * sinl(angle);
        }
        near(a.re[k], (double)re, 14 * 0x1p-53 * sum);
        near(a.im[k], (double)im, 14 * 0x1p-53 * sum);
    }
    tacit_fft_free(plan);
}

static void refused_lengths(void **state)
{
    (void)state;
    const size_t bad[] = {0, 1, 2, 3, 6, 1000, TACIT_FFT_MOST * 2};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tacit_error err = {0};
        tacit_fft *plan = NULL;
        check_fails(tacit_fft_create(&plan, bad[k], &err), TACIT_EINTERNAL, &err, "power of two");
        assert_null(plan);
    }
    tacit_fft_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_definition),   cmocka_unit_test(impulse),
        cmocka_unit_test(linear),          cmocka_unit_test(parseval_and_back),
        cmocka_unit_test(convolution),     cmocka_unit_test(error_of_a_bin),
        cmocka_unit_test(refused_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
