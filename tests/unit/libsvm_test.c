/* SPDX-License-Identifier: Apache-2.0 */
/* libsvm text: what it takes, what it refuses, and that a few bytes cannot ask for the world. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tables.h"

static tacit_table good(const char *text)
{
    tacit_data_options o = table_options(TACIT_SOURCE_LIBSVM);
    return table_good(tacit_read_libsvm, &o, text, strlen(text));
}

static void refused(const char *text, const char *words)
{
    tacit_data_options o = table_options(TACIT_SOURCE_LIBSVM);
    table_refused(tacit_read_libsvm, &o, text, strlen(text), words);
}

static void test_all_spellings_read_alike(void **state)
{
    (void)state;
    const char *const spellings[] = {
        "+1 1:0.5 3:-2\n-1 2:1e1\n3.5\n",
        "+1 1:0.5 3:-2\r\n-1 2:1e1\r\n3.5\r\n",
        "  1\t1:.5\t3:-2.0   \n\n-1 2:10\n3.5",
        "# a comment\n1 1:0.5 3:-2 # 7:8\n-1 2:10# 9\n# 1 99:1\n3.5#\n",
        "1 qid:4 1:0.5 3:-2\n-1 qid:5 2:10\n3.5 qid:6\n",
        "1 1:0.5 3:-2 qid:9\n-1 2:10\n3.5\n",
        "\xef\xbb\xbf+1 1:0.5 3:-2\n-1 2:10\n3.5\n",
    };
    const double expected[3][3] = {{0.5, 0, -2}, {0, 10, 0}, {0, 0, 0}};
    const double labels[3] = {1, -1, 3.5};
    for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++) {
        tacit_table t = good(spellings[k]);
        assert_int_equal(t.rows, 3);
        assert_int_equal(t.features, 3);
        assert_int_equal(t.columns.count, 0);
        assert_null(t.owner);
        for (size_t row = 0; row < 3; row++) {
            assert_true(t.y[row] == labels[row]);
            for (size_t c = 0; c < 3; c++)
                assert_true(table_at(&t, row, c) == expected[row][c]);
        }
        tacit_table_clear(&t);
    }
}

/* A width that was declared is that of every file, and no record can change it. */
static void test_the_width_can_be_declared(void **state)
{
    (void)state;
    tacit_data_options o = table_options(TACIT_SOURCE_LIBSVM);
    static const char narrow[] = "1 2:5\n-1 1:1\n", wide[] = "1 2:5\n-1 1:1 7:1\n";
    o.width = 6;
    tacit_table t = table_good(tacit_read_libsvm, &o, narrow, strlen(narrow));
    assert_int_equal(t.features, 6);
    assert_true(table_at(&t, 0, 1) == 5 && table_at(&t, 1, 5) == 0);
    tacit_table_clear(&t);
    table_refused(tacit_read_libsvm, &o, wide, strlen(wide),
                  "file:2: index 7 is above data.width, which is \"6\"");
}

static void test_errors_say_where_and_what(void **state)
{
    (void)state;
    refused("", "file: no records; expected lines such as \"1 3:0.5\"");
    refused("# nothing\n\n", "file: no records");
    refused("1\n2\n", "file: no index:value pair anywhere; is it libsvm text?");
    refused("1,2,3\n", "no index:value pair anywhere");
    refused("1 1:2\nx 1:2\n", "file:2: \"x\"; expected a finite number as the label");
    refused("1,2 1:2\n", "file:1: \"1,2\"; expected a finite number as the label");
    refused("1 1:2 0:3\n", "file:1: \"0:3\"; expected an index from 1");
    refused("1 2:1\n1 2:2 2:3\n", "file:2: \"2:3\"; expected indices in ascending order");
    refused("1 5:1 3:1\n", "file:1: \"5:1\"; expected indices in ascending order");
    refused("1 5:1 3:1\n1 7:1\n", "file:1: \"3:1\"; expected indices in ascending order");
    refused("1 1:2 3\n", "file:1: \"3\"; expected index:value, as in \"3:0.5\"");
    refused("1 1:2 a:3\n", "file:1: \"a:3\"; expected index:value");
    refused("1 -1:2 3:1\n", "file:1: \"-1:2\"; expected index:value");
    refused("1 1:\n", "file:1: \"1:\"; expected index:value with a finite number");
    refused("1 1:nan\n", "expected index:value with a finite number");
    refused("1 1:1e999\n", "expected index:value with a finite number");
    refused("1 1:0x10\n", "expected index:value with a finite number");
    refused("1 1:2:3\n", "expected index:value with a finite number");
    refused("nan 1:2\n", "\"nan\"; expected a finite number as the label");
    static const char nul[] = "1 1:2\n1 1:\0\n";
    tacit_data_options o = table_options(TACIT_SOURCE_LIBSVM);
    table_refused(tacit_read_libsvm, &o, nul, sizeof nul - 1, "file:2: ");

    tacit_table t;
    tacit_error err;
    static const char large[] = "1 1:1e39\n", label[] = "1e39 1:1\n";
    assert_int_equal(
        table_read(tacit_read_libsvm, &t, &o, large, sizeof large - 1, TACIT_F32, &err),
        TACIT_EINPUT);
    assert_non_null(strstr(err.text, "fits in f32"));
    assert_int_equal(
        table_read(tacit_read_libsvm, &t, &o, label, sizeof label - 1, TACIT_F32, &err),
        TACIT_EINPUT);
    assert_non_null(strstr(err.text, "fits in f32"));
}

static void test_hostile_sizes(void **state)
{
    (void)state;
    const char *const wide[] = {
        "1 1:1\n1 2147483648:1\n",           "1 1:1\n1 4294967295:1\n",
        "1 1:1\n1 4294967296:1\n",           "1 1:1\n1 18446744073709551617:1\n",
        "1 1:1\n1 99999999999999999999:1\n", "1 1:1\n1 10000000:1\n",
    };
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
        refused(wide[k], "file:2: index ");
    refused(wide[0],
            "index 2147483648 would make 2 dense records of as many features from 21 bytes "
            "of text; is it right?");
    /* What fits in 64 MiB is believed: 8 rows of a million features. */
    tacit_table t = good("1\n1\n1\n1\n1\n1\n1\n1 1000000:7\n");
    assert_int_equal(t.features, 1000000);
    assert_true(table_at(&t, 7, 999999) == 7);
    tacit_table_clear(&t);
    /* A thousand lines of two bytes and one wide one: 8 GB from 2 kB. */
    char many[2100] = "";
    for (int k = 0; k < 1000; k++)
        memcpy(many + 2 * (size_t)k, "1\n", 2);
    memcpy(many + 2000, "1 1000000:1\n", 13);
    refused(many, "would make 1001 dense records");
}

/* Cut anywhere: an error, or fewer records; what remains is right. */
static void test_truncation(void **state)
{
    (void)state;
    static const char text[] = "+1 1:0.5 3:-2 # x\r\n-1 qid:3 2:10\n\n3.5 1:123456789012345678\n";
    tacit_data_options o = table_options(TACIT_SOURCE_LIBSVM);
    size_t read = 0;
    for (size_t cut = 0; cut < sizeof text - 1; cut++) {
        tacit_table t;
        tacit_error err;
        if (table_read(tacit_read_libsvm, &t, &o, text, cut, TACIT_F64, &err))
            continue;
        read++;
        assert_in_range(t.rows, 1, 3);
        assert_true(table_at(&t, 0, 0) == 0.5 || t.rows == 1);
        tacit_table_clear(&t);
    }
    assert_in_range(read, 20, sizeof text);
}

static void test_long_and_odd_numbers(void **state)
{
    (void)state;
    char text[400] = "1 1:0.";
    size_t len = strlen(text);
    memset(text + len, '0', 300);
    memcpy(text + len + 300, "1e301 2:1.7976931348623157e308\n", 32);
    tacit_table t = good(text);
    assert_true(table_at(&t, 0, 0) == 1);
    assert_true(table_at(&t, 0, 1) == 1.7976931348623157e308);
    tacit_table_clear(&t);
}

static void test_labels(void **state)
{
    (void)state;
    static const char text[] = "+1 1:1\n1.0 1:2\n2 1:3\n-1 1:4\n";
    tacit_data_options o = table_options(TACIT_SOURCE_LIBSVM);
    snprintf(o.positive, sizeof o.positive, "1, 2");
    tacit_table t = table_good(tacit_read_libsvm, &o, text, sizeof text - 1);
    tacit_error err;
    assert_int_equal(tacit_table_finish(&t, &o, "file", &err), TACIT_OK);
    const double expected[] = {1, 1, 1, -1};
    assert_memory_equal(t.y, expected, sizeof expected);
    tacit_table_clear(&t);
    snprintf(o.positive, sizeof o.positive, "1,3");
    t = table_good(tacit_read_libsvm, &o, text, sizeof text - 1);
    assert_int_equal(tacit_table_finish(&t, &o, "file", &err), TACIT_EINPUT);
    assert_string_equal(err.text, "file: no label is \"3\"; data.positive must be a label");
    tacit_table_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_spellings_read_alike),
        cmocka_unit_test(test_the_width_can_be_declared),
        cmocka_unit_test(test_errors_say_where_and_what),
        cmocka_unit_test(test_hostile_sizes),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_long_and_odd_numbers),
        cmocka_unit_test(test_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
