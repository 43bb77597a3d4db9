/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of nets, every table this CPU has, against plain loops in double precision. A sum of
 * n products, in any order, is off by at most (n + 2) u sum |x_k y_k| with u = 2^-24. Inputs that
 * need no padding end where their memory ends, for the sanitizers; outputs are followed by guards.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/net_kernels.h"
#include "testing.h"

enum { GUARDS = 40 };
static const float guard = 12345.0f;
static const tacit_net_kernels *kernels; /* under test */

static float *numbers(size_t n, dice *d)
{
    float *x = malloc((n + 1) * sizeof *x); /* of size 0, too */
    assert_non_null(x);
    for (size_t k = 0; k < n; k++)
        x[k] = (float)dice_normal(d);
    return x;
}

/* n numbers, and guards. */
static float *guarded(size_t n)
{
    float *x = malloc((n + GUARDS) * sizeof *x);
    assert_non_null(x);
    for (size_t k = 0; k < n + GUARDS; k++)
        x[k] = guard;
    return x;
}

static void check_guards(const float *x, size_t n)
{
    for (size_t k = n; k < n + GUARDS; k++)
        assert_true(x[k] == guard);
}

static void check_near(float got, double want, double slack)
{
    if (!(fabs((double)got - want) <= slack))
        fail_msg("%s: %.9g instead of %.9g, allowed %.3g", kernels->name, (double)got, want, slack);
}

/* ---- products ---- */

static void check_product(size_t m, size_t n, size_t k, bool by_columns, bool packed, bool add,
                          dice *d)
{
    const size_t c_row = n + dice_below(d, 5), a_step = (by_columns ? m : k) + dice_below(d, 3);
    const size_t panels = (n + 15) / 16;
    float *a = numbers((by_columns ? k : m) * a_step, d);
    float *b = numbers(k * n + TACIT_NET_PAD, d), *c = guarded(m * c_row),
          *was = guarded(m * c_row);
    float *pack = guarded(panels * 16 * k);
    for (size_t i = 0; i < m * c_row; i++)
        c[i] = was[i] = (float)dice_normal(d);
    kernels->pack(k, n, b, n, 1, pack);
    check_guards(pack, panels * 16 * k);
    tacit_product p = {.m = m,
                       .n = n,
                       .k = k,
                       .a = a,
                       .a_step = a_step,
                       .a_by_columns = by_columns,
                       .b = packed ? pack : b,
                       .b_row = packed ? 16 : n,
                       .b_panel = packed ? 16 * k : 16,
                       .c = c,
                       .c_row = c_row,
                       .add = add};
    kernels->product(&p);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < c_row; j++) {
            if (j >= n) {
                assert_true(c[i * c_row + j] == was[i * c_row + j]);
                continue;
            }
            double sum = add ? (double)was[i * c_row + j] : 0, size = fabs(sum);
            for (size_t l = 0; l < k; l++) {
                const float left = by_columns ? a[l * a_step + i] : a[i * a_step + l];
                sum += (double)left * (double)b[l * n + j];
                size += fabs((double)left * (double)b[l * n + j]);
            }
            check_near(c[i * c_row + j], sum, (double)(k + 2) * 0x1p-24 * size);
        }
    check_guards(c, m * c_row);
    free(a);
    free(b);
    free(c);
    free(was);
    free(pack);
}

static void test_products(void **state)
{
    (void)state;
    dice d = {21};
    for (int turn = 0; turn < (SLOW ? 60 : 600); turn++)
        check_product(1 + dice_below(&d, 33), 1 + dice_below(&d, 50), dice_below(&d, 70), turn & 1,
                      turn & 2, turn & 4, &d);
    for (int turn = 0; turn < 8; turn++) /* deeper than a piece, and many rows */
        check_product(1 + dice_below(&d, 70), 17, 400 + dice_below(&d, 700), turn & 1, turn & 2,
                      turn & 4, &d);
}

/* Panels of a matrix by columns are those of the same by rows. */
static void test_pack_turned(void **state)
{
    (void)state;
    dice d = {22};
    float *b = numbers(7 * 21, &d), turned[7 * 21], one[2 * 16 * 7], other[2 * 16 * 7];
    for (size_t l = 0; l < 7; l++)
        for (size_t j = 0; j < 21; j++)
            turned[j * 7 + l] = b[l * 21 + j];
    kernels->pack(7, 21, b, 21, 1, one);
    kernels->pack(7, 21, turned, 1, 7, other);
    assert_memory_equal(one, other, sizeof one);
    for (size_t l = 0; l < 7; l++)
        for (size_t j = 5; j < 16; j++)
            assert_true(one[16 * 7 + l * 16 + j] == 0);
    free(b);
}

/* A number of c is the same, to the bit, whichever block and table row it falls into. */
static void test_rows_alone(void **state)
{
    (void)state;
    dice d = {23};
    const size_t m = 31, n = 23, k = 45;
    float *a = numbers(m * k, &d), *b = numbers(k * n + TACIT_NET_PAD, &d);
    float *c = guarded(m * n), one[23];
    tacit_product p = {.m = m,
                       .n = n,
                       .k = k,
                       .a = a,
                       .a_step = k,
                       .b = b,
                       .b_row = n,
                       .b_panel = 16,
                       .c = c,
                       .c_row = n};
    kernels->product(&p);
    for (size_t i = 0; i < m; i++) {
        p.m = 1, p.a = a + i * k, p.c = one;
        kernels->product(&p);
        assert_memory_equal(one, c + i * n, sizeof one);
    }
    free(a);
    free(b);
    free(c);
}

static void test_sums(void **state)
{
    (void)state;
    const float extreme[3] = {3e38f, 1e-30f, 0};
    assert_true(fabs(kernels->square(1, extreme) / 9e76 - 1) < 1e-6);
    assert_true(fabs(kernels->square(1, extreme + 1) / 1e-60 - 1) < 1e-6);
    dice d = {24};
    for (size_t n = 0; n < 150; n++) {
        float *x = numbers(n, &d), *y = numbers(n, &d), *z = malloc((n + 1) * sizeof *z);
        double sum = 0, size = 0, square = 0;
        for (size_t k = 0; k < n; k++) {
            sum += (double)x[k];
            size += fabs((double)x[k]);
            square += (double)x[k] * (double)x[k];
        }
        check_near(kernels->sum(n, x), sum, (double)(n + 2) * 0x1p-24 * size);
        assert_true(fabs(kernels->square(n, x) - square) <= (double)(n + 2) * 0x1p-53 * square);
        memcpy(z, y, n * sizeof *z);
        kernels->axpy(n, 0.7f, x, z);
        for (size_t k = 0; k < n; k++)
            check_near(z[k], (double)y[k] + (double)0.7f * (double)x[k],
                       3 * 0x1p-24 * (fabs((double)y[k]) + fabs((double)x[k])));
        memcpy(z, y, n * sizeof *z);
        kernels->times(n, z, x);
        for (size_t k = 0; k < n; k++)
            assert_true(z[k] == x[k] * y[k]);
        free(x);
        free(y);
        free(z);
    }
}

/* ---- curves ---- */

static void test_exponentials(void **state)
{
    (void)state;
    double worst = 0;
    for (double t = -87; t <= 87; t += 0.0137) {
        float x[3] = {(float)t, (float)t, 0};
        const float sum = kernels->exponentials(2, 0, x);
        worst = fmax(worst, fabs((double)x[0] / exp((double)(float)t) - 1));
        assert_true(x[0] == x[1] && sum == x[0] + x[1] && x[2] == 0);
    }
    if (worst > 3e-7)
        fail_msg("%s: exp is off by %.3g", kernels->name, worst);
    float far[4] = {-1e30f, -INFINITY, 0, NAN};
    kernels->exponentials(3, 0, far);
    assert_true(far[0] < 1e-37f && far[1] < 1e-37f && far[2] == 1);
    assert_true(isnan(kernels->exponentials(4, 0, far)));
}

typedef void curve_kernel(size_t n, float *x, float *y);
typedef struct value_slope {
    double value, slope;
} value_slope;

static value_slope relu_exact(double x)
{
    return (value_slope){x > 0 ? x : 0, x > 0};
}

static value_slope tanh_exact(double x)
{
    return (value_slope){tanh(x), 1 - tanh(x) * tanh(x)};
}

static value_slope mish_exact(double x)
{
    const double t = tanh(log1p(exp(x)));
    return (value_slope){x * t, t + x * (1 - t * t) / (1 + exp(-x))};
}

/* Within 3e-7 of each value of size up to one, and relatively beyond; slopes within 1e-6. */
static void check_curve(curve_kernel *curve, value_slope (*exact)(double))
{
    for (double at = -100; at < 100; at += 0.0171) {
        const double x = fabs(at) < 20 ? at : at * at * at;
        float in[21], out[21];
        for (size_t k = 0; k < 21; k++)
            in[k] = (float)x;
        curve(21, in, out);
        const value_slope want = exact((double)(float)x);
        check_near(out[0], want.value, 3e-7 * fmax(1, fabs(want.value)));
        check_near(in[0], want.slope, 1e-6);
        for (size_t k = 1; k < 21; k++) /* in a vector or past the last whole one */
            assert_true(out[k] == out[0] && in[k] == in[0]);
    }
    float in[2] = {NAN, 0}, out[2];
    curve(2, in, out);
    assert_true(isnan(out[0]) && out[1] == 0);
}

static void test_curves(void **state)
{
    (void)state;
    check_curve(kernels->relu, relu_exact);
    check_curve(kernels->tanh, tanh_exact);
    check_curve(kernels->mish, mish_exact);
}

/* ---- planes ---- */

static double seen(const tacit_planes *p, const float *x, size_t i, size_t row, size_t column)
{
    return (double)x[(i * p->in_height + row) * p->in_width + column];
}

static void check_convolve(const tacit_planes *p, const float *w, const float *bias, const float *x)
{
    float *y = guarded(p->out * p->height * p->width);
    kernels->convolve(p, w, bias, x, y);
    for (size_t o = 0; o < p->out; o++)
        for (size_t at = 0; at < p->height * p->width; at++) {
            double sum = (double)bias[o], size = fabs(sum);
            for (size_t t = 0; t < p->in * p->high * p->wide; t++) {
                const double part =
                    (double)w[o * p->in * p->high * p->wide + t] *
                    seen(p, x, t / (p->high * p->wide), at / p->width + t / p->wide % p->high,
                         at % p->width + t % p->wide);
                sum += part;
                size += fabs(part);
            }
            check_near(y[o * p->height * p->width + at], sum,
                       (double)(p->in * p->high * p->wide + 2) * 0x1p-24 * size);
        }
    check_guards(y, p->out * p->height * p->width);
    free(y);
}

static void check_correlate(const tacit_planes *p, const float *x, const float *d)
{
    const size_t taps = p->in * p->high * p->wide, pixels = p->height * p->width;
    float *dw = guarded(p->out * taps);
    kernels->correlate(p, x, d, dw);
    for (size_t o = 0; o < p->out; o++)
        for (size_t t = 0; t < taps; t++) {
            double sum = 0, size = 0;
            for (size_t at = 0; at < pixels; at++) {
                const double part =
                    (double)d[o * pixels + at] * seen(p, x, t / (p->high * p->wide),
                                                      at / p->width + t / p->wide % p->high,
                                                      at % p->width + t % p->wide);
                sum += part;
                size += fabs(part);
            }
            check_near(dw[o * taps + t], sum, (double)(pixels + 2) * 0x1p-24 * size);
        }
    check_guards(dw, p->out * taps);
    free(dw);
}

static void test_convolutions(void **state)
{
    (void)state;
    dice d = {25};
    for (int turn = 0; turn < (SLOW ? 20 : 150); turn++) {
        tacit_planes p = {.in = 1 + dice_below(&d, 3),
                          .out = 1 + dice_below(&d, 5),
                          .height = 1 + dice_below(&d, 6),
                          .width = 16 + dice_below(&d, 55),
                          .high = 1 + dice_below(&d, 5),
                          .wide = 1 + dice_below(&d, 7)};
        p.in_height = p.height + p.high - 1;
        p.in_width = p.width + p.wide - 1;
        float *w = numbers(p.out * p.in * p.high * p.wide, &d), *bias = numbers(p.out, &d);
        float *x = numbers(p.in * p.in_height * p.in_width, &d);
        float *slopes = numbers(p.out * p.height * p.width, &d);
        check_convolve(&p, w, bias, x);
        check_correlate(&p, x, slopes);
        free(w);
        free(bias);
        free(x);
        free(slopes);
    }
}

static void test_pools(void **state)
{
    (void)state;
    dice d = {26};
    for (int turn = 0; turn < 300; turn++) {
        const size_t height = 1 + dice_below(&d, 7), width = 1 + dice_below(&d, 80);
        const size_t rows = height / 2, columns = width / 2;
        float *x = numbers(height * width, &d), *y = guarded(rows * columns);
        float *back = guarded(height * width);
        int32_t *which = calloc(rows * columns + 1, sizeof *which);
        for (size_t k = 0; k < height * width; k++)
            x[k] = (float)dice_below(&d, 4) - 1.5f; /* with equals */
        kernels->pool2(height, width, x, y, which);
        kernels->unpool2(height, width, y, which, back);
        double left = 0;
        for (size_t k = 0; k < rows * columns; k++) {
            const float *corner = x + k / columns * 2 * width + k % columns * 2;
            int32_t best = 0;
            for (int32_t q = 1; q < 4; q++)
                if (corner[(size_t)(q / 2) * width + (size_t)(q % 2)] >
                    corner[(size_t)(best / 2) * width + (size_t)(best % 2)])
                    best = q;
            assert_int_equal(which[k], best);
            const size_t at =
                (size_t)(corner - x) + (size_t)(best / 2) * width + (size_t)(best % 2);
            assert_true(y[k] == x[at] && back[at] == y[k]);
            left += fabs((double)y[k]);
        }
        for (size_t k = 0; k < height * width; k++)
            left -= fabs((double)back[k]); /* all else is zero */
        assert_true(left == 0);
        check_guards(y, rows * columns);
        check_guards(back, height * width);
        free(x);
        free(y);
        free(back);
        free(which);
    }
}

int main(void)
{
    static const char *const names[] = {"base", "avx2", "avx512"};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),     cmocka_unit_test(test_pack_turned),
        cmocka_unit_test(test_rows_alone),   cmocka_unit_test(test_sums),
        cmocka_unit_test(test_exponentials), cmocka_unit_test(test_curves),
        cmocka_unit_test(test_convolutions), cmocka_unit_test(test_pools),
    };
    int failed = 0;
    for (size_t k = 0; k < 3; k++)
        if ((kernels = tacit_net_kernels_named(names[k])))
            failed += cmocka_run_group_tests_name(names[k], tests, NULL, NULL);
    return failed;
}
