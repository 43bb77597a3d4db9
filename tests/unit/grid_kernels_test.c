/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels that bring rows to the grid, of every table this CPU has: fused ones give the bits of
 * plain ones, and whatever clip() finds good keeps to the limit as integers, for any row and slope.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/kernels.h"
#include "privacy/release.h"
#include "testing.h"

enum { MOST = 2000, ROWS = 19, LONG_ROWS = TACIT_GRID_ROWS };

static const tacit_real_kernels *real;
static tacit_scalar scalar;
static bool l1;
static dice d;

static double get(const void *v, size_t k)
{
    return scalar == TACIT_F32 ? (double)((const float *)v)[k] : ((const double *)v)[k];
}

static void set(void *v, size_t k, double value)
{
    if (scalar == TACIT_F32)
        ((float *)v)[k] = (float)value;
    else
        ((double *)v)[k] = value;
}

/* Numbers that end where their memory ends, for sanitizers. */
static void *numbers(size_t n)
{
    void *v = malloc(n ? n * tacit_scalar_size(scalar) : 1);
    assert_non_null(v);
    return v;
}

static const void *row_of(const void *x, size_t p, size_t r)
{
    return (const char *)x + r * p * tacit_scalar_size(scalar);
}

/* ---- fused and plain ---- */

static void check_margins(size_t rows, size_t p)
{
    void *x = numbers(rows * p), *theta = numbers(p);
    double z[ROWS], size[ROWS + 1], plain[ROWS], length[ROWS], one_z, one_size;
    const size_t value = tacit_scalar_size(scalar);
    for (size_t k = 0; k < rows * p; k++)
        set(x, k, dice_normal(&d));
    for (size_t k = 0; k < p; k++)
        set(theta, k, dice_normal(&d));
    size[rows] = 77;
    real->margins(rows, p, l1, x, theta, row_of(x, p, rows), x, z, size);
    real->dots(rows, p, x, theta, plain);
    real->lengths(rows, p, l1, x, length);
    assert_memory_equal(z, plain, rows * value);
    assert_true(size[rows] == 77);
    for (size_t r = 0; r < rows; r++) {
        assert_true((l1 ? size[r] : sqrt(size[r])) == length[r]);
        real->margins(1, p, l1, row_of(x, p, r), theta, row_of(x, p, rows), x, &one_z, &one_size);
        assert_memory_equal(&one_z, (const char *)z + r * value, value);
        assert_true(one_size == size[r]); /* whoever its neighbours are */
    }
    free(x);
    free(theta);
}

/* Sums of rows are sums of each brought there alone. */
static void check_sums(size_t rows, size_t p)
{
    const double radius = 1e6;
    void *x = numbers(rows * p), *theta = numbers(p), *coef = numbers(rows);
    int32_t *sum = calloc(p + 1, sizeof *sum), *row = calloc(p + 1, sizeof *row);
    int32_t *want = calloc(p + 1, sizeof *want);
    double z[ROWS], size[ROWS], a[ROWS];
    for (size_t k = 0; k < rows * p; k++)
        set(x, k, dice_normal(&d));
    memset(theta, 0, p * tacit_scalar_size(scalar));
    for (size_t r = 0; r < rows; r++)
        set(coef, r, pow(10, dice_between(&d, -3, 3)) * (r % 2 ? 1 : -1));
    for (size_t k = 0; k <= p; k++)
        sum[k] = want[k] = (int32_t)(1000 * k);
    real->margins(rows, p, l1, x, theta, row_of(x, p, rows), x, z, size);
    assert_true(real->clip(rows, p, l1, radius, 0x1p10, coef, size, a));
    real->add_to_grid(rows, p, a, x, sum);
    for (size_t r = 0; r < rows; r++) {
        const double b = get(coef, r) * 0x1p10;
        const double longest = radius / (l1 ? size[r] : sqrt(size[r]));
        assert_true(a[r] == (fabs(b) <= longest ? b : copysign(longest, b)));
        real->to_grid(p, a[r], 1 << 23, l1, row_of(x, p, r), row);
        for (size_t k = 0; k < p; k++)
            want[k] += row[k];
    }
    assert_memory_equal(sum, want, (p + 1) * sizeof *sum);
    free(x);
    free(theta);
    free(coef);
    free(sum);
    free(row);
    free(want);
}

/* Widths, in full vectors, that all tables have a copy of the pass for (kernels_all.h). */
static bool has_copy(size_t full)
{
#ifdef TACIT_FEW_WIDTHS
    return full == 1 || full == 2 || full == 7;
#else
    return full >= 1 && full <= 7;
#endif
}

/* One pass is the steps one after the other, and leaves alone what it does not take. */
static void check_pass(size_t rows, size_t p, double bad, bool must)
{
    void *x = numbers(rows * p), *y = numbers(rows), *theta = numbers(p);
    int32_t *part = calloc(p + 1, sizeof *part);
    int64_t *sum = calloc(p + 1, sizeof *sum), *want = calloc(p + 1, sizeof *want);
    double z[LONG_ROWS], size[LONG_ROWS], coef[LONG_ROWS], a[LONG_ROWS];
    for (size_t k = 0; k < rows * p; k++)
        set(x, k, dice_normal(&d));
    for (size_t k = 0; k < p; k++)
        set(theta, k, 0.1 * dice_normal(&d));
    for (size_t r = 0; r < rows; r++)
        set(y, r, dice_unit(&d) < 0.5 ? 1 : -1);
    if (bad != 1)
        set(x, dice_below(&d, rows * p), bad);
    for (size_t k = 0; k <= p; k++)
        sum[k] = want[k] = (int64_t)k << 40;
    tacit_grid_rows in = {.rows = rows,
                          .p = p,
                          .x = x,
                          .y = y,
                          .next = x,
                          .l1 = l1,
                          .squared = dice_unit(&d) < 0.5,
                          .radius = l1 ? 3e5 * (double)p : 4e5 * sqrt((double)p),
                          .per_step = 0x1p20};
    const bool taken = real->gradient_on_grid(&in, theta, sum);
    real->margins(rows, p, l1, x, theta, row_of(x, p, rows), x, z, size);
    (in.squared ? real->squared : real->logistic)(rows, z, y, coef);
    const bool good = real->clip(rows, p, l1, in.radius, in.per_step, coef, size, a);
    assert_true(good || !taken);
    assert_true(!must || taken);
    if (taken)
        real->add_to_grid(rows, p, a, x, part);
    for (size_t k = 0; k < p; k++)
        want[k] += part[k];
    assert_memory_equal(sum, want, (p + 1) * sizeof *sum);
    free(x);
    free(y);
    free(theta);
    free(part);
    free(sum);
    free(want);
}

static void check_from_grid(size_t n)
{
    int64_t *steps = calloc(n + 1, sizeof *steps);
    void *out = numbers(n);
    const double scale = 0x1p-20 / 55;
    for (size_t k = 0; k < n; k++)
        steps[k] = (int64_t)(dice_normal(&d) * pow(2, dice_between(&d, 0, 60)));
    real->from_grid(n, scale, steps, out);
    for (size_t k = 0; k < n; k++) {
        const double want = (double)steps[k] * scale;
        assert_true(get(out, k) == (scalar == TACIT_F32 ? (double)(float)want : want));
    }
    free(steps);
    free(out);
}

/* ---- what is good is within the limit ---- */

typedef enum row_kind { BORDER, EQUAL, ONE_LARGE, WILD, BROKEN, ROW_KINDS } row_kind;

static double wild(void)
{
    static const double odd[] = {0,     -0.0,  1,        FLT_MIN, FLT_TRUE_MIN, 1e-20, 1e-30, 1e19,
                                 -1e19, 1e30,  -FLT_MAX, FLT_MAX, 3e-39,        1e-45, 2e-23, 1e-12,
                                 1e-14, 1e-13, DBL_MIN,  DBL_MAX, DBL_TRUE_MIN, 1e150, 1e-160};
    return odd[dice_below(&d, sizeof odd / sizeof *odd)] * dice_between(&d, -1, 1);
}

static bool fill(row_kind kind, size_t p, void *x)
{
    const double size = pow(10, dice_between(&d, kind == BORDER ? -3 : -9, 9));
    for (size_t k = 0; k < p; k++)
        set(x, k,
            kind == EQUAL       ? size
            : kind == ONE_LARGE ? (k ? 1e-7 * dice_unit(&d) : size)
            : kind == WILD      ? wild()
                                : size * dice_between(&d, -1, 1));
    if (kind == BROKEN)
        set(x, dice_below(&d, p), dice_unit(&d) < 0.5 ? NAN : INFINITY);
    bool finite = true;
    for (size_t k = 0; k < p; k++)
        finite = finite && isfinite(get(x, k));
    return finite;
}

static uint64_t norm_of(size_t p, const int32_t *row)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < p; k++)
        sum += l1 ? (uint64_t)llabs(row[k]) : (uint64_t)((int64_t)row[k] * row[k]);
    return sum;
}

/* 1 if this row was good, and then all is as promised. */
static int check_row(row_kind kind, size_t p, void *x, int32_t *sum, int32_t *row)
{
    const bool finite = fill(kind, p, x);
    const int32_t limit = (int32_t)dice_between(&d, 256, 0x1p24 - 1);
    const uint64_t most = l1 ? (uint64_t)limit : (uint64_t)limit * (uint64_t)limit;
    const double steep = kind == WILD && dice_unit(&d) < 0.5 ? wild()
                         : kind == BROKEN && dice_unit(&d) < 0.5
                             ? NAN
                             : pow(10, dice_between(&d, -3, 12)) * dice_between(&d, -1, 1);
    double coef[1], z[1], size, a;
    void *theta = numbers(p);
    memset(theta, 0, p * tacit_scalar_size(scalar));
    set(coef, 0, steep);
    real->margins(1, p, l1, x, theta, row_of(x, p, 1), x, z, &size);
    free(theta);
    const bool good = real->clip(1, p, l1, TACIT_GRID_AIM * limit, 0x1p20, coef, &size, &a);
    if (!good)
        return 0;
    assert_true(finite && isfinite(a));
    memset(sum, 0, p * sizeof *sum);
    real->add_to_grid(1, p, &a, x, sum);
    assert_true(norm_of(p, sum) <= most);
    real->to_grid(p, a, limit, l1, x, row);
    assert_memory_equal(sum, row, p * sizeof *sum); /* the other way says the same */
    return 1;
}

static void check_rows(size_t p, bool provable)
{
    enum { TRIES = 300 };
    void *x = numbers(p);
    int32_t *sum = calloc(p, sizeof *sum), *row = calloc(p, sizeof *row);
    int good[ROW_KINDS] = {0};
    for (int kind = 0; kind < ROW_KINDS; kind++)
        for (int k = 0; k < TRIES; k++)
            good[kind] += check_row((row_kind)kind, p, x, sum, row);
    /* Common rows are good, or the slow way would be the usual one; broken ones never are. */
    assert_int_equal(good[BORDER], provable ? TRIES : 0);
    assert_int_equal(good[BROKEN], 0);
    free(x);
    free(sum);
    free(row);
}

/* A row of length exactly one step too long for its limit must not be called good by luck: floats
 * that cannot see its length say so. */
static void check_unmeasured(size_t p)
{
    static const double size[] = {0, 0x1p-91, 0x1p91, INFINITY, NAN};
    double coef[1], a;
    set(coef, 0, 1);
    for (size_t k = 0; k < sizeof size / sizeof *size; k++)
        assert_false(real->clip(1, p, l1, 1e6, 1, coef, &size[k], &a));
    const double fine = 1, slope[] = {0, NAN, INFINITY, 0x1p-91};
    for (size_t k = 0; k < sizeof slope / sizeof *slope; k++) {
        set(coef, 0, slope[k]);
        assert_false(real->clip(1, p, l1, 1e6, 1, coef, &fine, &a));
    }
    set(coef, 0, 1);
    assert_true(real->clip(1, p, l1, 1e6, 1, coef, &fine, &a) && a == 1);
}

static void test_table(void **state)
{
    const tacit_kernels *table = tacit_kernels_named(*state);
    if (!table)
        skip();
    d = (dice){11};
    for (int turn = 0; turn < 4; turn++) {
        scalar = turn / 2 ? TACIT_F64 : TACIT_F32;
        real = turn / 2 ? &table->f64 : &table->f32;
        l1 = turn % 2;
        const size_t lanes = (table->name[0] == 'b'              ? 16
                              : strcmp(table->name, "avx2") == 0 ? 32
                                                                 : 64) /
                             tacit_scalar_size(scalar);
        for (size_t p = 1; p <= 240; p += p < 40 ? 1 : 13)
            for (size_t rows = 0; rows <= ROWS; rows += rows < 9 ? 1 : 5) {
                check_margins(rows, p);
                check_sums(rows, p);
            }
        for (size_t p = 1; p <= 240; p += p < 40 ? 1 : 5)
            for (size_t rows = 1; rows <= LONG_ROWS; rows += rows < 9 ? 1 : 17) {
                static const double bad[] = {NAN, INFINITY, -1e30, 1e300};
                check_pass(rows, p, 1, rows >= 4 && has_copy(p / lanes));
                check_pass(rows, p, bad[dice_below(&d, 4)], false);
            }
        static const size_t features[] = {1, 2, 3, 7, 16, 37, 57, 100, 101, 257, 440};
        for (size_t k = 0; k < sizeof features / sizeof *features; k++)
            check_rows(features[k], true);
        check_rows(MOST, scalar == TACIT_F64); /* in single precision too many to prove anything */
        check_from_grid(103);
        check_unmeasured(5);
    }
}

int main(void)
{
    static char base[] = "base", avx2[] = "avx2", avx512[] = "avx512";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_table, base),
        cmocka_unit_test_prestate(test_table, avx2),
        cmocka_unit_test_prestate(test_table, avx512),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
