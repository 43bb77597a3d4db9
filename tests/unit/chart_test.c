/* SPDX-License-Identifier: Apache-2.0 */
/* Charts: round axes, points where they belong, bounded size, text that cannot break out. */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/axis.h"
#include "report/page.h"

/* ---- axes ---- */

static tacit_axis axis_of(bool log, double low, double high)
{
    tacit_axis a;
    tacit_axis_init(&a, log, 0, 100);
    tacit_axis_widen(&a, low);
    tacit_axis_widen(&a, high);
    assert_true(tacit_axis_round(&a, 5));
    return a;
}

static void test_linear_axes_are_round(void **state)
{
    (void)state;
    const struct {
        double low, high, from, to;
        const char *first, *last;
    } cases[] = {{0, 100, 0, 100, "0", "100"},        {0.503, 0.884, 0.5, 0.9, "0.5", "0.9"},
                 {0, 324973, 0, 350000, "0", "350k"}, {-3, 7, -4, 8, "-4", "8"},
                 {0, 2.6e8, 0, 3e8, "0", "300M"},     {0, 4e-7, 0, 4e-7, "0", "4×10⁻⁷"},
                 {5, 5, 4.7, 5.3, "4.7", "5.3"},      {0, 0, -1, 1, "-1.0", "1.0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_axis a = axis_of(false, cases[i].low, cases[i].high);
        char label[TACIT_LABEL_MAX];
        assert_true(a.low <= cases[i].low && a.high >= cases[i].high);
        assert_true(a.ticks >= 3 && a.ticks <= 12);
        if (fabs(a.low - cases[i].from) > 0.05 * fabs(a.high - a.low) ||
            fabs(a.high - cases[i].to) > 0.05 * fabs(a.high - a.low))
            fail_msg("%g..%g became %g..%g", cases[i].low, cases[i].high, a.low, a.high);
        tacit_axis_label(&a, a.tick[0].value, label);
        if (i < 6)
            assert_string_equal(label, cases[i].first);
        tacit_axis_label(&a, a.tick[a.ticks - 1].value, label);
        if (i < 6)
            assert_string_equal(label, cases[i].last);
        assert_true(fabs(tacit_axis_place(&a, a.low)) < 1e-9);
        assert_true(fabs(tacit_axis_place(&a, a.high) - 100) < 1e-9);
    }
}

static void test_log_axes_have_decades(void **state)
{
    (void)state;
    tacit_axis a = axis_of(true, 3e-8, 70);
    char label[TACIT_LABEL_MAX];
    assert_true(fabs(a.low / 1e-8 - 1) < 1e-9 && fabs(a.high / 100 - 1) < 1e-9);
    tacit_axis_label(&a, 1e-6, label);
    assert_string_equal(label, "10⁻⁶");
    /* equal factors are equal distances */
    double step = tacit_axis_place(&a, 1e-3) - tacit_axis_place(&a, 1e-4);
    assert_true(fabs(step - 10) < 1e-9);
    size_t labels = 0;
    for (uint32_t i = 0; i < a.ticks; i++)
        labels += !a.tick[i].minor;
    assert_true(labels >= 4 && labels <= 11);

    a = axis_of(true, 0.03, 0.9);
    assert_true(fabs(a.low - 0.02) < 1e-12 && fabs(a.high - 1) < 1e-12);
    tacit_axis_label(&a, 0.05, label);
    assert_string_equal(label, "0.05");
    size_t minor = 0;
    for (uint32_t i = 0; i < a.ticks; i++)
        minor += a.tick[i].minor;
    assert_true(minor > 3);

    a = axis_of(true, 1e-200, 1e200);
    assert_true(a.ticks < TACIT_AXIS_TICKS);
    a = axis_of(true, 1, 1);
    assert_true(a.low < 1 && a.high > 1);
}

static void test_axes_refuse_what_cannot_stand_on_them(void **state)
{
    (void)state;
    tacit_axis a;
    tacit_axis_init(&a, false, 0, 1);
    tacit_axis_widen(&a, NAN);
    tacit_axis_widen(&a, INFINITY);
    tacit_axis_widen(&a, -1e305);
    assert_false(tacit_axis_round(&a, 5));
    tacit_axis_init(&a, true, 0, 1);
    tacit_axis_widen(&a, 0);
    tacit_axis_widen(&a, -2);
    assert_false(tacit_axis_round(&a, 5));
    assert_false(tacit_axis_takes(&a, 0));
    assert_true(tacit_axis_takes(&a, 1e-12));
}

static void test_numbers_in_words(void **state)
{
    (void)state;
    const struct {
        double value;
        const char *words;
    } cases[] = {{0, "0"},       {0.25, "0.25"},  {123456, "123456"},
                 {1e-6, "10⁻⁶"}, {NAN, "—"},      {-2.5e-9, "-2.5×10⁻⁹"},
                 {1e20, "10²⁰"}, {INFINITY, "∞"}, {0.8814, "0.8814"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[TACIT_LABEL_MAX];
        tacit_number_words(cases[i].value, 4, words);
        assert_string_equal(words, cases[i].words);
    }
}

/* ---- drawings ---- */

/* XML with matching tags? HTML of a page is not; a chart is. */
static bool is_balanced(const char *xml)
{
    char open[64][32];
    size_t depth = 0;
    for (const char *at = strchr(xml, '<'); at; at = strchr(at + 1, '<')) {
        char name[32] = "";
        const bool ends = at[1] == '/';
        sscanf(at + 1 + ends, "%31[a-zA-Z0-9]", name);
        const char *close = strchr(at, '>');
        if (!close || !name[0])
            return false;
        if (ends) {
            if (depth == 0 || strcmp(open[--depth], name) != 0)
                return false;
        } else if (close[-1] != '/') {
            if (depth == 64)
                return false;
            memcpy(open[depth++], name, sizeof name);
        }
        at = close - 1;
    }
    return depth == 0;
}

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

static char *draw(const tacit_chart *chart)
{
    tacit_writer out = {0};
    tacit_page_chart(&out, chart);
    assert_false(out.failed);
    char *text = tacit_writer_take(&out);
    return text ? text : calloc(1, 1);
}

/* How many points the first line of the chart has. */
static size_t points_of(const char *text)
{
    const char *line = strstr(text, "<polyline");
    assert_non_null(line);
    const char *end = strstr(line, "\">");
    size_t n = 0;
    for (const char *c = strstr(line, "points="); c < end; c++)
        n += *c == ',';
    return n;
}

static void test_points_stand_where_they_belong(void **state)
{
    (void)state;
    const double x[] = {0, 50, NAN, 100}, y[] = {0, 1, 5, 2};
    tacit_chart chart = {.title = "t",
                         .x_label = "x",
                         .y_label = "y",
                         .series = 1,
                         .of = {{.name = "one", .count = 4, .x = x, .y = y}}};
    char *text = draw(&chart);
    assert_true(is_balanced(text));
    /* 70 to 622 for 0 to 100; 284 to 12 for 0 to 2 */
    assert_non_null(strstr(text, "points=\"70,284 346,148 622,12 \""));
    assert_non_null(strstr(text, ">one<"));
    free(text);
    chart.log_y = true; /* the zero cannot stand there */
    text = draw(&chart);
    assert_int_equal(points_of(text), 2);
    free(text);
}

static void test_nothing_is_drawn_of_nothing(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -1};
    tacit_chart chart = {.title = "t", .x_label = "x", .y_label = "y", .log_y = true};
    char *text = draw(&chart);
    assert_string_equal(text, "");
    free(text);
    chart.series = 1;
    chart.of[0] = (tacit_series){.name = "none", .count = 3, .x = bad, .y = bad};
    text = draw(&chart);
    assert_string_equal(text, "");
    free(text);
    tacit_writer out = {0};
    tacit_chart_svg(&out, &chart);
    assert_true(is_balanced(out.text));
    assert_null(strstr(out.text, "polyline"));
    tacit_writer_clear(&out);
}

static void test_long_series_are_thinned_but_keep_extremes(void **state)
{
    (void)state;
    enum { N = 300000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = i % 7 * 0.01;
    }
    y[123457] = 1; /* one peak and one dip that must not get lost */
    y[200001] = -1;
    tacit_chart chart = {.title = "t",
                         .x_label = "x",
                         .y_label = "y",
                         .series = 1,
                         .of = {{.name = "long", .count = N, .x = x, .y = y}}};
    char *text = draw(&chart);
    assert_true(points_of(text) <= 2000 && points_of(text) > 500);
    assert_non_null(strstr(text, ",12 "));  /* the top */
    assert_non_null(strstr(text, ",284 ")); /* the bottom */
    assert_non_null(strstr(text, "points=\"70,"));
    assert_true(strlen(text) < 60000);
    free(text);
    chart.series = TACIT_CHART_SERIES;
    for (uint32_t k = 0; k < TACIT_CHART_SERIES; k++)
        chart.of[k] = (tacit_series){.name = "dots",
                                     .mark = k % 2 ? TACIT_MARK_DOTS : TACIT_MARK_BARS,
                                     .count = N,
                                     .x = x,
                                     .y = y};
    text = draw(&chart);
    assert_true(strlen(text) < 1000000);
    free(text);
    free(x);
    free(y);
}

static void test_bands_bars_and_dots(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3}, y[] = {1, 2, 1}, low[] = {0.5, 1, NAN}, high[] = {1.5, 4, NAN};
    tacit_chart chart = {
        .title = "t",
        .x_label = "x",
        .y_label = "y",
        .series = 4,
        .of = {{.name = "line", .count = 3, .x = x, .y = y, .low = low, .high = high},
               {.name = "dots", .mark = TACIT_MARK_DOTS, .count = 3, .x = x, .y = y},
               {.name = "bars", .mark = TACIT_MARK_BARS, .count = 3, .x = x, .y = y},
               {.name = "", .count = 3, .x = x, .y = y, .colour = 1}}};
    char *text = draw(&chart);
    assert_true(is_balanced(text));
    assert_int_equal(count_of(text, "<polygon"), 1);
    assert_int_equal(count_of(text, "<circle"), 3);
    assert_int_equal(count_of(text, "<rect"), 3);
    assert_int_equal(count_of(text, "<polyline"), 2);
    assert_int_equal(count_of(text, "<li"), 3); /* the nameless one is not listed */
    assert_non_null(strstr(text, "<title>bars: 2 at 2</title>"));
    const char *band = strstr(text, "<polygon"), *rect = strstr(text, "<rect");
    assert_true(band < rect && rect < strstr(text, "<polyline")); /* lines lie on top */
    /* the axis shows the whole band, and the ground of the bars */
    assert_non_null(strstr(text, ">4</text>"));
    assert_non_null(strstr(text, ">0</text>"));
    free(text);
}

static void test_text_cannot_break_out(void **state)
{
    (void)state;
    const double one[] = {1, 2};
    const char *evil = "</title></svg><script>alert('x')</script>&\"\xff\x01";
    tacit_chart chart = {.title = evil,
                         .x_label = evil,
                         .y_label = evil,
                         .note = evil,
                         .series = 1,
                         .of = {{.name = evil, .count = 2, .x = one, .y = one}}};
    char *text = draw(&chart);
    assert_true(is_balanced(text));
    assert_null(strstr(text, "<script"));
    assert_null(strchr(text, '\xff'));
    assert_null(strchr(text, '\x01'));
    assert_null(strchr(text, '\''));
    free(text);
    tacit_writer out = {0};
    tacit_chart_svg(&out, &chart);
    assert_true(is_balanced(out.text));
    assert_null(strstr(out.text, "<script"));
    tacit_writer_clear(&out);
    tacit_page_open(&out, evil, evil);
    tacit_page_heading(&out, evil);
    tacit_page_words(&out, evil, true);
    tacit_page_table(&out);
    tacit_page_figure(&out, evil, "%s", evil);
    tacit_page_table_end(&out);
    tacit_page_close(&out);
    assert_int_equal(count_of(out.text, "<script"), 1); /* ours */
    tacit_writer_clear(&out);
}

/* Nothing to fetch, and a policy that forbids it. */
static void test_page_asks_nothing_of_the_network(void **state)
{
    (void)state;
    const double one[] = {1, 2};
    tacit_writer out = {0};
    tacit_page_open(&out, "title", "subtitle");
    tacit_page_chart(&out, &(tacit_chart){.title = "t",
                                          .x_label = "x",
                                          .y_label = "y",
                                          .series = 1,
                                          .of = {{.name = "n", .count = 2, .x = one, .y = one}}});
    tacit_page_close(&out);
    assert_non_null(strstr(out.text, "default-src 'none'"));
    const char *const words[] = {"src=",   "href",    "url(",  "@import",
                                 "fetch(", "XMLHttp", "<link", "<img"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_null(strstr(out.text, words[i]));
    /* the only address is the name of the SVG vocabulary */
    assert_int_equal(count_of(out.text, "://"), count_of(out.text, "http://www.w3.org/2000/svg"));
    assert_non_null(strstr(out.text, "prefers-color-scheme:dark"));
    assert_non_null(strstr(out.text, "@media print"));
    tacit_writer_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_axes_are_round),
        cmocka_unit_test(test_log_axes_have_decades),
        cmocka_unit_test(test_axes_refuse_what_cannot_stand_on_them),
        cmocka_unit_test(test_numbers_in_words),
        cmocka_unit_test(test_points_stand_where_they_belong),
        cmocka_unit_test(test_nothing_is_drawn_of_nothing),
        cmocka_unit_test(test_long_series_are_thinned_but_keep_extremes),
        cmocka_unit_test(test_bands_bars_and_dots),
        cmocka_unit_test(test_text_cannot_break_out),
        cmocka_unit_test(test_page_asks_nothing_of_the_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
