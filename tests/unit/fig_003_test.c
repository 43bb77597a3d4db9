/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of paper 003 in small: masks change nothing, homomorphic noise spares the centroid and
 * not single models, and words say what epsilon is worth. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/fig_003.h"
#include "testing.h"

static double row_of(const tacit_reproduced *result, const char *fmt, const char *one,
                     const char *two)
{
    char what[200];
    const tacit_reproduced_row *rows;
    size_t count = tacit_reproduced_rows(result, &rows);
    snprintf(what, sizeof what, "%s%s%s", one, fmt, two);
    for (size_t k = 0; k < count; k++)
        if (strcmp(rows[k].what, what) == 0)
            return rows[k].ours;
    fail_msg("no row \"%s\"", what);
    return NAN;
}

static void test_figure_4(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_reproduced *r = NULL;
    tacit_reproduce_request request = {.seed = 3, .seeds = 4, .threads = 2, .quick = true};
    check_ok(tacit_reproduce(&r, tacit_reproduction_find("003-fig4"), &request, &err), &err);
    static const char *const strategies[] = {"consensus", "cta", "atc"};
    static const char single[] = ": steady MSD of single models";
    static const char centroid[] = ": steady MSD of the centroid";
    for (int s = 0; s < 3; s++) {
        const char *who = strategies[s];
        double none = row_of(r, ", step 0.4, none", who, single);
        assert_true(row_of(r, ", step 0.4, homomorphic", who, single) > none);
        assert_true(row_of(r, ", step 0.4, independent", who, single) > none);
        assert_true(fabs(row_of(r, ", step 0.4, local-homomorphic", who, single) / none - 1) <
                    1e-6);
        assert_true(row_of(r, ", step 0.4, none", who, centroid) <= none);
    }
    double difference =
        row_of(r, "largest difference of any model, local-homomorphic less none", "", "");
    assert_true(difference > 0 && difference < 1e-7); /* rounded, and no more than that */
    assert_true(row_of(r, "epsilon of the atc run above, independent", "", "") > 1e3);
    assert_true(row_of(r, "epsilon of the atc run above, homomorphic", "", "") > 1e3);
    assert_non_null(strstr(tacit_reproduced_warning(r), "no guarantee"));
    assert_int_equal(r->panel_count, 10);
    for (size_t k = 0; k < r->series_count; k++)
        for (size_t i = 0; i < r->series[k].count; i++)
            assert_true(isfinite(r->series[k].y[i]) && r->series[k].low[i] <= r->series[k].y[i] &&
                        r->series[k].y[i] <= r->series[k].high[i]);
    char *text = tacit_reproduced_json(r);
    assert_non_null(strstr(text, "adjacency replace"));
    assert_non_null(strstr(text, "adversary"));
    free(text);
    tacit_reproduced_free(r);
}

/* What agents spend is what they may, and more of it helps. */
static void test_budgets(void **state)
{
    (void)state;
    static const double last = 20;
    tacit_error err = {0};
    enum { RUNS = 4 };
    spread_run *runs = calloc(RUNS, sizeof *runs);
    assert_non_null(runs);
    for (int k = 0; k < RUNS; k++)
        runs[k] = (spread_run){
            .task = "data: {source: regression, agents: 10, dimension: 2, min-records: 50, "
                    "max-records: 50, test-records: 0, validation-records: 0}\n"
                    "graph: {kind: k-out, k: 3}\n"
                    "model: {loss: squared, lambda: 0.01, scalar: f64}\n",
            .strategy = SPREAD_ATC,
            .noise = k < 2 ? SPREAD_INDEPENDENT : SPREAD_HOMOMORPHIC,
            .step = 0.1,
            .epsilon = k % 2 ? 1000 : 1,
            .clip = 1,
            .radius = 3,
            .reach = 5,
            .iterations = 20,
            .at = &last,
            .looks = 1,
            .seed = 1,
            .distances = true};
    tacit_reproduce_request request = {.threads = 1};
    check_ok(spread_perform(runs, RUNS, &request, &err), &err);
    for (int k = 0; k < RUNS; k++) {
        assert_true(runs[k].spent <= runs[k].epsilon);
        assert_true(runs[k].spent > 0.8 * runs[k].epsilon);
    }
    assert_true(runs[1].seen[SPREAD_SINGLE][0] < runs[0].seen[SPREAD_SINGLE][0]);
    assert_true(runs[3].seen[SPREAD_SINGLE][0] < runs[2].seen[SPREAD_SINGLE][0]);
    assert_true(runs[0].alone > 0 && runs[0].alone == runs[3].alone);
    spread_free(runs, RUNS);
}

static void test_figure_5_needs_data(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_reproduced *r = NULL;
    tacit_reproduce_request request = {.seed = 1, .threads = 1, .quick = true};
    const tacit_reproduction *figure = tacit_reproduction_find("003-fig5");
    assert_true(figure && figure->needs_data);
    check_fails(tacit_reproduce(&r, figure, &request, &err), TACIT_EINPUT, &err, "TACIT_DATA");
    request.data = "/nowhere/at/all";
    check_fails(tacit_reproduce(&r, figure, &request, &err), TACIT_EINPUT, &err, "avazu");
    assert_null(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure_4),
        cmocka_unit_test(test_budgets),
        cmocka_unit_test(test_figure_5_needs_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
