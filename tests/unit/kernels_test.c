/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kernel of every table this CPU has, against plain loops in long double.
 *
 * Tolerances are bounds, not guesses: a sum of n products, in any order and with or without
 * fused multiply-add, is off by at most (n + 2) u sum |x_k y_k| with u half an ulp of 1.
 * Inputs end where their allocation ends, so that a sanitizer sees a read past it, and
 * outputs stand between guard bytes.
 */
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/kernels.h"
#include "testing.h"

enum { GUARD = 64, PATTERN = 0xA5 };

static const tacit_kernels *table; /* under test */
static const tacit_real_kernels *real;
static tacit_scalar scalar;

/* An array of either scalar, with its numbers as doubles beside it. */
typedef struct array {
    size_t n;
    char *memory;
    void *at; /* in `memory`, after a guard and `skew` numbers */
    size_t before;
    double *exact;
} array;

static double unit_roundoff(void)
{
    return scalar == TACIT_F32 ? 0x1p-24 : 0x1p-53;
}

static double array_get(const array *a, size_t k)
{
    return scalar == TACIT_F32 ? (double)((const float *)a->at)[k] : ((const double *)a->at)[k];
}

static void array_set(array *a, size_t k, double value)
{
    if (scalar == TACIT_F32)
        ((float *)a->at)[k] = (float)value;
    else
        ((double *)a->at)[k] = value;
    a->exact[k] = array_get(a, k);
}

/* `guard` 0: for inputs, which then end where the memory does. */
static array array_make(size_t n, size_t skew, size_t guard, dice *d, double low, double high)
{
    size_t value = tacit_scalar_size(scalar);
    array a = {.n = n, .before = guard + skew * value};
    a.memory = malloc(a.before + n * value + guard + 1);
    a.exact = malloc((n + 1) * sizeof *a.exact);
    assert_non_null(a.memory);
    assert_non_null(a.exact);
    if (guard == 0) { /* give back the byte that keeps malloc(0) away, if there is more */
        free(a.memory);
        a.memory = malloc(a.before + n * value ? a.before + n * value : 1);
        assert_non_null(a.memory);
    } else {
        memset(a.memory, PATTERN, a.before + n * value + guard);
    }
    a.at = a.memory + a.before;
    for (size_t k = 0; k < n; k++)
        array_set(&a, k, dice_between(d, low, high));
    return a;
}

static array input(size_t n, size_t skew, dice *d)
{
    return array_make(n, skew, 0, d, -1, 1);
}

static array output(size_t n, size_t skew, dice *d)
{
    return array_make(n, skew, GUARD, d, -1, 1);
}

static void array_free(array *a)
{
    free(a->memory);
    free(a->exact);
}

static void check_guards(const array *a)
{
    for (size_t k = 0; k < a->before; k++)
        assert_int_equal((unsigned char)a->memory[k], PATTERN);
    const char *after = (const char *)a->at + a->n * tacit_scalar_size(scalar);
    for (size_t k = 0; k < GUARD; k++)
        assert_int_equal((unsigned char)after[k], PATTERN);
}

static void check_near(const array *a, size_t k, long double want, double bound, const char *what)
{
    double found = array_get(a, k);
    if (!(fabsl(found - want) <= bound + 1e-300L))
        fail_msg("%s %s: [%zu] of %zu is %.17g, not %.17Lg (bound %g)", table->name, what, k, a->n,
                 found, want, bound);
}

/* ---- vectors ---- */

static void check_axpy_scale(size_t n, size_t skew, dice *d)
{
    array x = input(n, skew, d), y = output(n, (skew + 1) % 4, d);
    double a = dice_between(d, -2, 2), u = unit_roundoff();
    real->axpy(n, a, x.at, y.at);
    for (size_t k = 0; k < n; k++)
        check_near(&y, k, y.exact[k] + (long double)a * x.exact[k],
                   4 * u * (fabs(y.exact[k]) + fabs(a * x.exact[k])), "axpy");
    check_guards(&y);
    for (size_t k = 0; k < n; k++)
        y.exact[k] = array_get(&y, k);
    real->scale(n, a, y.at);
    for (size_t k = 0; k < n; k++)
        check_near(&y, k, (long double)a * y.exact[k], 3 * u * fabs(a * y.exact[k]), "scale");
    check_guards(&y);
    array_free(&x);
    array_free(&y);
}

static void check_combine(size_t n, size_t terms, size_t skew, dice *d)
{
    array x[10], out = output(n, skew, d);
    const void *rows[10];
    double coef[10];
    for (size_t j = 0; j < terms; j++) {
        x[j] = input(n, (skew + j) % 4, d);
        rows[j] = x[j].at;
        coef[j] = dice_between(d, -1, 1);
    }
    real->combine(n, terms, coef, rows, out.at);
    for (size_t k = 0; k < n; k++) {
        long double sum = 0, size = 0;
        for (size_t j = 0; j < terms; j++) {
            sum += (long double)coef[j] * x[j].exact[k];
            size += fabsl((long double)coef[j] * x[j].exact[k]);
        }
        check_near(&out, k, sum, (double)((terms + 3) * unit_roundoff() * size), "combine");
    }
    check_guards(&out);
    for (size_t j = 0; j < terms; j++)
        array_free(&x[j]);
    array_free(&out);
}

static void check_distance(size_t n, size_t skew, dice *d)
{
    array x = input(n, skew, d), y = input(n, (skew + 2) % 4, d);
    long double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += ((long double)x.exact[k] - y.exact[k]) * ((long double)x.exact[k] - y.exact[k]);
    double found = real->distance2(n, x.at, y.at);
    assert_true(fabsl(found - sum) <= (double)(n + 4) * 0x1p-53 * (double)sum);
    array_free(&x);
    array_free(&y);
}

static void each_length(void (*check)(size_t p, size_t skew, dice *d))
{
    static const size_t more[] = {100, 128, 129, 257};
    dice d = {3};
    for (size_t p = 1; p <= 70; p++)
        check(p, p % 4, &d);
    for (size_t k = 0; k < 4; k++)
        check(more[k], k % 4, &d);
}

static void all_vector_kernels(size_t n, size_t skew, dice *d)
{
    check_axpy_scale(n, skew, d);
    check_distance(n, skew, d);
    for (size_t terms = 0; terms <= 10; terms++)
        check_combine(n, terms, (skew + terms) % 4, d);
}

/* ---- rows ---- */

/* Margin of row r, and the bound on what a kernel may make of it. */
static long double margin(const array *x, const array *theta, size_t p, size_t r, double *bound)
{
    long double z = 0, size = 0;
    for (size_t k = 0; k < p; k++) {
        long double term = (long double)x->exact[r * p + k] * theta->exact[k];
        z += term;
        size += fabsl(term);
    }
    *bound = (double)((p + 2) * unit_roundoff() * size);
    return z;
}

static void check_dots(const array *x, const array *theta, size_t rows, size_t p, dice *d)
{
    array z = output(rows, rows % 4, d);
    real->dots(rows, p, x->at, theta->at, z.at);
    for (size_t r = 0; r < rows; r++) {
        double bound;
        long double want = margin(x, theta, p, r, &bound);
        check_near(&z, r, want, bound, "dots");
    }
    check_guards(&z);
    array_free(&z);
}

static void check_accumulate(const array *x, size_t rows, size_t p, dice *d)
{
    array coef = input(rows, 1, d), g = output(p, p % 4, d);
    real->accumulate(rows, p, x->at, coef.at, g.at);
    for (size_t k = 0; k < p; k++) {
        long double sum = g.exact[k], size = fabs(g.exact[k]);
        for (size_t r = 0; r < rows; r++) {
            long double term = (long double)coef.exact[r] * x->exact[r * p + k];
            sum += term;
            size += fabsl(term);
        }
        check_near(&g, k, sum, (double)((rows + 3) * unit_roundoff() * size), "accumulate");
    }
    check_guards(&g);
    array_free(&coef);
    array_free(&g);
}

static double slope_error(void)
{
    return scalar == TACIT_F32 ? 3e-7 : 1e-15;
}

static long double exact_slope(int loss, long double z, double y)
{
    return loss ? 2 * (z - y) : -y / (1 + expl(y * z));
}

/* The fused pass is dots, slopes and accumulate: with the errors of all three. */
static void check_gradient(int loss, const array *x, const array *theta, size_t rows, size_t p,
                           dice *d)
{
    array y = input(rows, 2, d), g = output(p, (p + 1) % 4, d);
    for (size_t r = 0; r < rows; r++)
        array_set(&y, r, dice_unit(d) < 0.5 ? -1 : 1);
    (loss ? real->gradient_squared : real->gradient_logistic)(rows, p, x->at, y.at, theta->at,
                                                              x->at, g.at);
    for (size_t k = 0; k < p; k++) {
        long double sum = g.exact[k], size = fabs(g.exact[k]), spread = 0;
        for (size_t r = 0; r < rows; r++) {
            double off;
            long double z = margin(x, theta, p, r, &off), s = exact_slope(loss, z, y.exact[r]);
            long double steep = loss ? 2 : 0.25;
            sum += s * x->exact[r * p + k];
            size += fabsl(s * x->exact[r * p + k]);
            spread += (steep * off + 2 * slope_error() * fabsl(s) + 2 * unit_roundoff()) *
                      fabs(x->exact[r * p + k]);
        }
        check_near(&g, k, sum, (double)((rows + 3) * unit_roundoff() * size + spread),
                   loss ? "gradient_squared" : "gradient_logistic");
    }
    check_guards(&g);
    array_free(&y);
    array_free(&g);
}

static void check_lengths(const array *x, size_t rows, size_t p)
{
    double found[65];
    assert_true(rows <= 65);
    for (int l1 = 0; l1 < 2; l1++) {
        real->lengths(rows, p, l1, x->at, found);
        for (size_t r = 0; r < rows; r++) {
            long double want = 0;
            for (size_t k = 0; k < p; k++) {
                long double v = x->exact[r * p + k];
                want += l1 ? fabsl(v) : v * v;
            }
            want = l1 ? want : sqrtl(want);
            assert_true(fabsl((long double)found[r] - want) <=
                        (long double)((double)(p + 4) * unit_roundoff()) * want);
        }
    }
}

/* Whole numbers, none larger than the limit or than what it came from; the sum is exact. */
static void check_to_grid(const array *x, size_t p, dice *d)
{
    const int32_t limit = 1 << 23;
    int32_t *row = malloc((p + 1) * sizeof *row);
    for (int turn = 0; turn < 4; turn++) {
        const double a = pow(10, dice_between(d, 0, 9)) * (turn % 2 ? 1 : -1);
        row[p] = 77;
        const double found = real->to_grid(p, a, limit, turn / 2, x->at, row);
        double want = 0;
        for (size_t k = 0; k < p; k++) {
            /* the product may be rounded to the scalar, so a step up or down at whole numbers */
            double exact = fmax(-limit, fmin(limit, a * x->exact[k]));
            assert_true(fabs(row[k] - exact) <= 1 + fabs(exact) * 4 * unit_roundoff());
            assert_true(abs(row[k]) <= limit && abs(row[k]) <= fabs(exact) * (1 + 0x1p-22));
            want += turn / 2 ? abs(row[k]) : (double)row[k] * row[k];
        }
        assert_true(found >= want && found <= want * (1 + (double)(p + 20) * 0x1p-21));
        assert_true(row[p] == 77);
    }
    const double broken[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        real->to_grid(p, broken[k], limit, false, x->at, row);
        for (size_t j = 0; j < p; j++)
            assert_true(row[j] >= -limit && row[j] <= limit);
    }
    free(row);
}

static void all_row_kernels(size_t p, size_t skew, dice *d)
{
    static const size_t counts[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 64, 65};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        size_t rows = counts[k];
        array x = input(rows * p, skew, d), theta = input(p, (skew + k) % 4, d);
        check_lengths(&x, rows, p);
        if (rows > 0)
            check_to_grid(&x, p, d);
        check_dots(&x, &theta, rows, p, d);
        check_accumulate(&x, rows, p, d);
        check_gradient(0, &x, &theta, rows, p, d);
        check_gradient(1, &x, &theta, rows, p, d);
        array_free(&x);
        array_free(&theta);
    }
}

/* ---- slopes ---- */

static void check_slopes(size_t rows, const double *margins, dice *d)
{
    array z = input(rows, rows % 4, d), y = input(rows, 1, d), coef = output(rows, 3, d);
    for (size_t r = 0; r < rows; r++) {
        array_set(&z, r, margins[r]);
        array_set(&y, r, dice_unit(d) < 0.5 ? -1 : 1);
    }
    real->logistic(rows, z.at, y.at, coef.at);
    for (size_t r = 0; r < rows; r++) {
        double want = -y.exact[r] / (1 + exp(y.exact[r] * z.exact[r]));
        /* beyond a margin of 87 single precision has nothing but 0 and 1 left */
        double tiny = scalar == TACIT_F32 ? 2e-38 : 0;
        check_near(&coef, r, want, slope_error() * fabs(want) + tiny, "logistic");
    }
    check_guards(&coef);
    real->squared(rows, z.at, y.at, coef.at);
    for (size_t r = 0; r < rows; r++)
        if (fabs(z.exact[r]) < 1e30)
            check_near(&coef, r, 2 * ((long double)z.exact[r] - y.exact[r]),
                       4 * unit_roundoff() * (fabs(z.exact[r]) + 1), "squared");
    check_guards(&coef);
    array_free(&z);
    array_free(&y);
    array_free(&coef);
}

static void all_slopes(void)
{
    static const double extreme[] = {0,    -0.0, 1e-30, -1e-30, 86.9,     -86.9,     87,
                                     -87,  88,   -88,   89,     -89,      200,       -200,
                                     1000, -1e3, 1e30,  -1e30,  INFINITY, -INFINITY, 0.5};
    dice d = {8};
    double margins[400];
    for (size_t rows = 0; rows <= 400; rows += rows < 12 ? 1 : 97) {
        for (size_t k = 0; k < rows; k++)
            margins[k] = dice_between(&d, -40, 40);
        check_slopes(rows, margins, &d);
    }
    for (int twice = 0; twice < 8; twice++) /* each with either label */
        check_slopes(sizeof extreme / sizeof *extreme, extreme, &d);
}

/* ---- ChaCha20 ---- */

static void check_chacha(void)
{
    dice d = {21};
    for (size_t n = 0; n <= 20; n++) {
        uint8_t key[32];
        uint32_t words[8];
        uint64_t nonce[20], block[20], found[22];
        for (size_t k = 0; k < 32; k++)
            key[k] = (uint8_t)dice_below(&d, 256);
        memcpy(words, key, sizeof key); /* little-endian machines only, like the library's file */
        for (size_t k = 0; k < n; k++) {
            nonce[k] = dice_below(&d, 1u << 31) << 33 | dice_below(&d, 1u << 31);
            block[k] = dice_below(&d, 1u << 31) << (k % 33);
        }
        found[n] = found[n + 1] = 0x5a5a5a5a5a5a5a5au;
        table->chacha_words(words, n, nonce, block, found);
        for (size_t k = 0; k < n; k++) {
            uint8_t bytes[8] = {0}, name[8];
            uint64_t want;
            memcpy(name, &nonce[k], 8);
            crypto_stream_chacha20_xor_ic(bytes, bytes, 8, name, block[k], key);
            memcpy(&want, bytes, 8);
            assert_true(found[k] == want);
        }
        assert_true(found[n] == 0x5a5a5a5a5a5a5a5au);
    }
}

/* Runs of blocks, on both sides of where the low half of the number turns over, to any address. */
static void check_chacha_blocks(void)
{
    enum { MOST = 70 };
    static uint8_t found[MOST * 64 + 80], want[MOST * 64 + 80];
    dice d = {22};
    for (size_t n = 0; n <= MOST; n++)
        for (int turn = 0; turn < 4; turn++) {
            uint8_t key[32], name[8], *at = found + dice_below(&d, 64);
            uint32_t words[8];
            uint64_t nonce = dice_below(&d, UINT64_C(1) << 63) << 1;
            uint64_t block = (UINT64_C(1) << (turn < 2 ? 32 : 40)) - dice_below(&d, MOST + 1);
            for (size_t k = 0; k < 32; k++)
                key[k] = (uint8_t)dice_below(&d, 256);
            memcpy(words, key, sizeof key);
            memcpy(name, &nonce, sizeof name);
            memset(found, 0x5a, sizeof found);
            memcpy(want, found, sizeof found);
            memset(want + (at - found), 0, n * 64);
            crypto_stream_chacha20_xor_ic(want + (at - found), want + (at - found), n * 64, name,
                                          block, key);
            table->chacha_blocks(words, nonce, block, n, at);
            assert_memory_equal(found, want, sizeof found);
        }
}

/* ---- one test a table ---- */

static void test_table(void **state)
{
    table = tacit_kernels_named(*state);
    if (!table)
        skip();
    assert_string_equal(table->name, *state);
    for (int s = 0; s < 2; s++) {
        scalar = s ? TACIT_F64 : TACIT_F32;
        real = s ? &table->f64 : &table->f32;
        each_length(all_vector_kernels);
        each_length(all_row_kernels);
        all_slopes();
    }
    check_chacha();
    check_chacha_blocks();
}

static void test_choice(void **state)
{
    (void)state;
    assert_non_null(tacit_kernels_named("base"));
    assert_null(tacit_kernels_named("abacus"));
    const tacit_kernels *best = tacit_kernels_get();
    assert_ptr_equal(tacit_kernels_named(best->name), best);
    assert_ptr_equal(tacit_kernels_for(TACIT_F32), &best->f32);
    assert_ptr_equal(tacit_kernels_for(TACIT_F64), &best->f64);
}

int main(void)
{
    static char base[] = "base", avx2[] = "avx2", avx512[] = "avx512";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_table, base),
        cmocka_unit_test_prestate(test_table, avx2),
        cmocka_unit_test_prestate(test_table, avx512),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
