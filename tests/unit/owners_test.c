/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of paper 002: runs keep to budgets and caps, and the words follow from the numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reproduce/owners.h"
#include "testing.h"

static tacit_reproduced *quick(const char *name)
{
    tacit_error err = {0};
    tacit_reproduced *result = NULL;
    const tacit_reproduction *figure = tacit_reproduction_find(name);
    assert_non_null(figure);
    tacit_reproduce_request request = {.seed = 1, .threads = 2, .quick = true, .seeds = 4};
    check_ok(tacit_reproduce(&result, figure, &request, &err), &err);
    return result;
}

static double row_of(const tacit_reproduced *result, const char *what)
{
    const tacit_reproduced_row *rows;
    size_t count = tacit_reproduced_rows(result, &rows);
    for (size_t k = 0; k < count; k++)
        if (strcmp(rows[k].what, what) == 0)
            return rows[k].ours;
    fail_msg("no row \"%s\"", what);
    return NAN;
}

/* The smallest k with P(Bin(t, 1/n) > k) <= beta, by Pascal's rule: no logarithm is shared with
 * the protocol. */
static double cap_of(int t, int n, double beta)
{
    double mass[201] = {1}, tail = 0;
    assert_true(t <= 200);
    for (int k = 1; k <= t; k++)
        for (int j = k; j >= 0; j--)
            mass[j] = mass[j] * (1 - 1.0 / n) + (j > 0 ? mass[j - 1] / n : 0);
    int k = t;
    while (k > 0 && tail + mass[k] <= beta)
        tail += mass[k--];
    return k;
}

/* ---- pieces ---- */

static void test_pieces(void **state)
{
    (void)state;
    double value[] = {5, 1, 4, 2, 3}, at[40];
    assert_true(owners_percentile(value, 5, 0.5) == 3);
    assert_true(owners_percentile(value, 5, 0.25) == 2);
    assert_true(owners_percentile(value, 5, 1) == 5);
    assert_true(owners_percentile(value, 1, 0.5) == 1);
    size_t count = owners_times(at, 40, 1000);
    assert_true(count > 25 && count <= 40 && at[0] == 1 && at[count - 1] == 1000);
    for (size_t k = 1; k < count; k++)
        assert_true(at[k] > at[k - 1] && at[k] == floor(at[k]));
    assert_true(cap_of(60, 3, 1e-3) > 20 && cap_of(60, 3, 1e-3) < 45);
    tacit_reproduce_request request = {.data = "/nowhere/at/all"};
    assert_false(owners_has(&request, OWNERS_LENDING));
    assert_true(owners_has(&request, OWNERS_DRAWN));
}

/* A table as California's is: no header, eight features of very different size, one of them
 * constant times another plus a little, and a value; a few wild numbers. */
static void write_table(const char *path, int rows)
{
    dice d = {.state = 3};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int k = 0; k < rows; k++) {
        double x[8], y = 200000;
        for (int f = 0; f < 8; f++) {
            x[f] = dice_normal(&d) * pow(10, f - 3) + f;
            y += 20000 * (f % 3 - 1) * (x[f] - f) / pow(10, f - 3);
        }
        if (k % 100 == 7)
            x[5] = 1e9;
        y += 50000 * dice_normal(&d);
        for (int f = 0; f < 8; f++)
            fprintf(file, "%.6f,", x[f]);
        fprintf(file, "%.6f\n", y);
    }
    assert_int_equal(fclose(file), 0);
}

/* From a file of its kind to a model: without noise near the optimum, within the budget, noise by
 * the cap, answers within it. */
static void test_a_table(void **state)
{
    (void)state;
    char folder[] = "owners_test_XXXXXX", inside[60], path[100];
    assert_non_null(mkdtemp(folder));
    snprintf(inside, sizeof inside, "%s/california-housing", folder);
    assert_int_equal(mkdir(inside, 0700), 0);
    snprintf(path, sizeof path, "%s/cal_housing.data", inside);
    write_table(path, 2200);
    tacit_error err = {0};
    tacit_reproduce_request request = {.data = folder, .threads = 2};
    assert_true(owners_has(&request, OWNERS_HOUSING));
    owners_run runs[4];
    double at[] = {1, 50, 150}, psi[4][3];
    for (int k = 0; k < 4; k++)
        runs[k] = (owners_run){.set = OWNERS_HOUSING,
                               .split = k == 1 ? OWNERS_PRINTED : OWNERS_CAP,
                               .owners = 3,
                               .records = 400,
                               .iterations = 150,
                               .epsilon = k < 2    ? 2
                                          : k == 2 ? 200
                                                   : 1e6,
                               .seed = 1,
                               .at = at,
                               .points = 3,
                               .psi = psi[k]};
    check_ok(owners_perform(runs, 4, &request, &err), &err);
    const double cap = cap_of(150, 3, 1e-3);
    for (int k = 0; k < 4; k++) {
        const owners_run *r = &runs[k];
        assert_true(r->spent <= r->epsilon * (1 + 1e-9) && r->spent > 0);
        assert_true(r->answers <= (k == 1 ? 150 : cap) && r->answers >= 50);
        assert_true(r->made <= 150 && r->made >= 145);
        assert_true(fabs(psi[k][0] - r->zero) < 1e-9); /* the first answer moves a copy only */
        assert_true(psi[k][2] == r->last || r->made == 150);
        assert_true(r->alone > 0 && r->alone < r->zero);
        /* Labels were standardised by public ones: the zero model loses about 1. */
        assert_true(fabs(r->least * (1 + r->zero) - 1) < 0.15);
        /* 2 C T_i / (n_i epsilon) and a hair for the grid. */
        const double answers = k == 1 ? 150 : cap;
        const double scale =
            2 * owners_clip(&owners_sets[OWNERS_HOUSING]) * answers / (400 * r->epsilon);
        assert_true(r->scale >= scale * (1 - 1e-9) && r->scale < scale * 1.01);
    }
    assert_true(runs[3].last < 0.05 && runs[3].last <= runs[2].last * 1.5);
    assert_true(runs[0].last > 10 * runs[3].last && runs[1].scale > runs[0].scale);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(inside), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* ---- figures, on drawn records ---- */

static void test_figure_3(void **state)
{
    (void)state;
    tacit_reproduced *result = quick("002-fig3");
    double end[2][3];
    static const char *const splits[] = {"cap T_i", "the paper's split over T"};
    static const double epsilon[] = {0.1, 1, 10};
    for (int s = 0; s < 2; s++)
        for (int e = 0; e < 3; e++) {
            char what[100];
            snprintf(what, sizeof what, "drawn: median psi after 60, epsilon %g, %s", epsilon[e],
                     splits[s]);
            end[s][e] = row_of(result, what);
        }
    assert_true(end[0][1] > end[0][2] && end[0][0] > end[0][2]); /* budget helps */
    assert_non_null(strstr(tacit_reproduced_warning(result), "drawn records"));
    for (size_t k = 0; k < result->series_count; k++) {
        const figure_series *s = &result->series[k];
        assert_true(s->count > 10 && s->x[0] == 1 && s->x[s->count - 1] == 60 && !s->dashed);
        for (size_t i = 0; i < s->count; i++)
            assert_true(s->low[i] <= s->y[i] && s->y[i] <= s->high[i]);
    }
    const double scale = row_of(result, "drawn: scale of the noise on a gradient, epsilon 1, the "
                                        "paper's split over T") /
                         row_of(result, "drawn: scale of the noise on a gradient, epsilon 1, cap "
                                        "T_i");
    assert_true(fabs(scale - 60 / cap_of(60, 3, 1e-3)) < 0.01);
    tacit_reproduced_free(result);
}

/* The law of the paper: slope -2 in epsilon and in n; and what the cap is worth. Runs are few and
 * their psi spreads by factors, so the limits are wide; seeds are fixed. */
static void test_figure_6(void **state)
{
    (void)state;
    tacit_reproduced *result = quick("002-fig6");
    static const char *const slopes[] = {"drawn: slope by epsilon, cap T_i",
                                         "drawn: slope by records, cap T_i",
                                         "drawn: slope by epsilon, the paper's split over T",
                                         "drawn: slope by records, the paper's split over T"};
    for (int k = 0; k < 4; k++)
        assert_true(fabs(row_of(result, slopes[k]) + 2) < 0.35);
    const double ratio = row_of(result, "drawn: scale of the noise, the paper's split over ours");
    assert_true(fabs(ratio - 100 / cap_of(100, 3, 1e-3)) < 0.01);
    const double cost = row_of(result, "drawn: excess psi, the paper's split over ours");
    assert_true(cost > ratio && cost < ratio * ratio * 2);
    assert_true(row_of(result, "drawn: c2 of the law") > 0);
    assert_true(row_of(result, "drawn: psi without noise") < 0.02);
    const char *const *findings;
    assert_true(tacit_reproduced_findings(result, &findings) == 2);
    assert_non_null(strstr(findings[0], "It holds here"));
    tacit_reproduced_free(result);
}

static void test_figure_7(void **state)
{
    (void)state;
    tacit_reproduced *result = quick("002-fig7");
    double last = INFINITY;
    for (int n = 3; n <= 12; n *= 2) {
        char what[100];
        snprintf(what, sizeof what, "drawn: least epsilon at which joining pays, N = %d", n);
        const double least = row_of(result, what);
        assert_true(least > 5 && least < last); /* company helps */
        last = least;
        snprintf(what, sizeof what, "drawn: the same by the fitted law, N = %d", n);
        const double law = row_of(result, what);
        assert_true(law > least / 2.5 && law < least * 2.5);
        snprintf(what, sizeof what, "drawn: psi of an owner alone, N = %d", n);
        /* Six weights from sixty records: about p/m, less its own share of the pool. */
        const double alone = row_of(result, what);
        assert_true(alone > 0.03 && alone < 0.25);
    }
    const char *const *findings;
    assert_true(tacit_reproduced_findings(result, &findings) == 2);
    assert_non_null(strstr(findings[0], "the smaller the budget that is enough"));
    tacit_reproduced_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),   cmocka_unit_test(test_a_table),
        cmocka_unit_test(test_figure_3), cmocka_unit_test(test_figure_6),
        cmocka_unit_test(test_figure_7),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
