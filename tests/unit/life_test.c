/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of what runs have spent: bars follow each other, the border stands at the budget,
 * and no name gets out of its text. */
#include "testing.h"

#include "report/life.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tacit_life_run runs[] = {
    {"2026-11-02 09:14", "average, alice", "average", 0.98, false},
    {"2026-11-09 17:40", "cd, alice", "cd", 1.71, false},
    {"2026-11-16 08:05", "average, alice <&>", "average", 2.02, false},
    {"2026-11-18 16:20", "cd, alice at a very long name", "cd", 2.81, true},
};
static const tacit_life_run bare[] = {{"2026-11-18 16:20", "cd, ward-b", "cd", INFINITY, false}};
static const tacit_life lives[] = {
    {"patients.csv", "epsilon 2.81 spent, 0.19 left, at delta 1e-05, for one record", 3, runs, 4},
    {"wards", "epsilon unbounded spent, at delta 1e-05, for one record", INFINITY, bare, 1},
    {"salaries", "", 2, NULL, 0},
};

static void rect_of(const char *svg, size_t run, double *from, double *width)
{
    const char *at = strstr(svg, "<g><title>");
    for (size_t k = 0; k < run && at; k++)
        at = strstr(at + 1, "<g><title>");
    assert_non_null(at);
    assert_non_null(at = strstr(at, " x=\""));
    *from = strtod(at + 4, NULL);
    assert_non_null(at = strstr(at, "width=\""));
    *width = strtod(at + 7, NULL);
}

static void test_bars(void **state)
{
    (void)state;
    double end = 0;
    tacit_writer out = {0};
    tacit_draw_lives(&out, "What was spent", lives, sizeof lives / sizeof *lives);
    assert_false(out.failed);
    for (size_t k = 0; k < 4; k++) {
        double from, width, zero;
        rect_of(out.text, k, &from, &width);
        rect_of(out.text, 0, &zero, &(double){0});
        if (k > 0)
            assert_true(fabs(from - end) < 0.02);
        end = from + width;
        /* 3 is the right border of this axis, 410 units from zero */
        assert_true(fabs(end - zero - 410 * runs[k].until / 3) < 0.05);
    }
    assert_non_null(strstr(out.text, "budget 3<"));
    assert_non_null(strstr(out.text, "budget 2<"));
    assert_non_null(strstr(out.text, "average, alice &lt;&amp;&gt;"));
    assert_null(strstr(out.text, "<&>"));
    assert_non_null(strstr(out.text, "unbounded<"));
    assert_non_null(strstr(out.text, "no run yet"));
    if (getenv("LIFE_SVG")) {
        FILE *file = fopen(getenv("LIFE_SVG"), "w");
        assert_non_null(file);
        fputs(out.text, file);
        fclose(file);
    }
    tacit_writer_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bars)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
