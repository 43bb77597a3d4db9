/* SPDX-License-Identifier: Apache-2.0 */
/* IDX files, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "data/grid.h"
#include "data/side.h"
#include "tables.h"

/* Two pictures of 2 x 3 pixels. */
static const unsigned char pictures[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0,  2,  0,   0,
                                         0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 128, 255};

static void test_pictures(void **state)
{
    (void)state;
    tacit_data_options o = table_options(TACIT_SOURCE_IDX);
    const double expected[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 128, 255};
    tacit_table t = table_good(tacit_read_idx, &o, pictures, sizeof pictures);
    assert_int_equal(t.rows, 2);
    assert_int_equal(t.features, 6);
    for (size_t k = 0; k < 12; k++)
        assert_true(table_at(&t, k / 6, k % 6) == expected[k]);
    assert_true(t.narrow && t.x.len == 12); /* bytes stay bytes */
    assert_false(t.missing);
    tacit_table_clear(&t);
    tacit_error err;
    assert_int_equal(table_read(tacit_read_idx, &t, &o, pictures, sizeof pictures, TACIT_F32, &err),
                     TACIT_OK);
    double row[6];
    tacit_table_get(&t, 1, row);
    assert_memory_equal(row, expected + 6, sizeof row);
    tacit_table_clear(&t);
}

/* One row of two numbers of every type, most significant byte first. */
static void test_types(void **state)
{
    (void)state;
    static const struct {
        unsigned char type, len, bytes[16];
        double first, second;
    } cases[] = {
        {0x08, 2, {200, 7}, 200, 7},
        {0x09, 2, {0xff, 0x7f}, -1, 127},
        {0x0b, 4, {0xff, 0xfe, 0x01, 0x02}, -2, 258},
        {0x0c, 8, {0xff, 0xff, 0xff, 0xfd, 0x01, 0x02, 0x03, 0x04}, -3, 16909060},
        {0x0d, 8, {0xbf, 0x80, 0, 0, 0x40, 0x49, 0x0f, 0xdb}, -1, 3.1415927410125732},
        {0x0e, 16, {0xc0, 0, 0, 0, 0, 0, 0, 0, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0}, -2, 0.5},
    };
    tacit_data_options o = table_options(TACIT_SOURCE_IDX);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        unsigned char bytes[12 + 16] = {0, 0, cases[k].type, 2, 0, 0, 0, 1, 0, 0, 0, 2};
        memcpy(bytes + 12, cases[k].bytes, cases[k].len);
        tacit_table t = table_good(tacit_read_idx, &o, bytes, 12U + cases[k].len);
        assert_int_equal(t.rows, 1);
        assert_true(table_at(&t, 0, 0) == cases[k].first);
        assert_true(table_at(&t, 0, 1) == cases[k].second);
        tacit_table_clear(&t);
        table_cut_everywhere(tacit_read_idx, &o, bytes, 12U + cases[k].len);
    }
}

static void test_missing_and_infinite(void **state)
{
    (void)state;
    unsigned char bytes[] = {0, 0, 0x0d, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0x7f, 0xc0, 0, 0};
    tacit_data_options o = table_options(TACIT_SOURCE_IDX);
    table_refused(tacit_read_idx, &o, bytes, sizeof bytes,
                  "file: record 1, feature 2 is missing (NaN); set data.missing-rule");
    o.missing_rule = TACIT_MISSING_MEAN;
    tacit_table t = table_good(tacit_read_idx, &o, bytes, sizeof bytes);
    assert_true(t.missing);
    assert_true(isnan(table_at(&t, 0, 1)));
    tacit_table_clear(&t);
    bytes[17] = 0x80; /* infinity */
    table_refused(tacit_read_idx, &o, bytes, sizeof bytes, "infinite");
}

static void test_refused(void **state)
{
    (void)state;
    tacit_data_options o = table_options(TACIT_SOURCE_IDX);
    table_cut_everywhere(tacit_read_idx, &o, pictures, sizeof pictures);
    table_flip_everywhere(tacit_read_idx, &o, pictures, sizeof pictures);
    unsigned char bytes[sizeof pictures + 1] = {0};
    memcpy(bytes, pictures, sizeof pictures);
    table_refused(tacit_read_idx, &o, bytes, sizeof bytes,
                  "the IDX header promises 2 records of 6 numbers, but 13 bytes follow");
    table_refused(tacit_read_idx, &o, bytes, 10, "cut inside the IDX header");
    table_refused(tacit_read_idx, &o, bytes, 0, "empty; expected an IDX file");

    static const unsigned char huge[] = {0,    0,    8,    3,    0xff, 0xff, 0xff, 0xff, 0xff,
                                         0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    table_refused(tacit_read_idx, &o, huge, sizeof huge, "cut or damaged");
    /* 2^32 x 2^32: a product that wraps to 0, which would match the bytes that follow. */
    static const unsigned char wraps[] = {0, 0, 8, 4, 0x80, 0, 0, 0, 0x80, 0,
                                          0, 0, 0, 0, 0,    4, 0, 0, 0,    1};
    table_refused(tacit_read_idx, &o, wraps, sizeof wraps, "cut or damaged");
    static const unsigned char width_wraps[] = {0, 0, 0x08, 4, 0, 0, 0, 1, 0x80, 0,
                                                0, 0, 0x80, 0, 0, 0, 0, 0, 0,    4};
    table_refused(tacit_read_idx, &o, width_wraps, sizeof width_wraps, "cut or damaged");
    static const unsigned char none[] = {0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 5};
    table_refused(tacit_read_idx, &o, none, sizeof none, "no records: 0 rows of 5 features");
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 2};
    table_refused(tacit_read_idx, &o, labels, sizeof labels, "are these labels?");
    static const unsigned char flat[] = {0, 0, 8, 0, 1, 2, 3, 4};
    table_refused(tacit_read_idx, &o, flat, sizeof flat, "0 dimensions");
    static const unsigned char deep[] = {0, 0, 8, 200, 1, 2, 3, 4};
    table_refused(tacit_read_idx, &o, deep, sizeof deep, "200 dimensions");
    table_refused(
        tacit_read_idx, &o, "a,b\n1,2\n", 8,
        "file: looks like text, not an IDX file; set data.source to \"csv\" or \"libsvm\"");
    table_refused(tacit_read_idx, &o, "\x93NUMPY\x01\x00", 8, "looks like an NPY file");
    table_refused(tacit_read_idx, &o, "\x00\x00\x0a\x01", 4, "not an IDX file; check data.source");
}

/* Labels and owners from the columns of an IDX file, as QMNIST has them. */
static void test_columns(void **state)
{
    (void)state;
    unsigned char side[12 + 24] = {0, 0, 0x0c, 2, 0, 0, 0, 2, 0, 0, 0, 3};
    const unsigned char values[6] = {5, 9, 70, 4, 9, 71};
    for (size_t k = 0; k < 6; k++)
        side[12 + 4 * k + 3] = values[k];
    tacit_data_options o = table_options(TACIT_SOURCE_IDX);
    tacit_error err = {0};
    tacit_table t = table_good(tacit_read_idx, &o, pictures, sizeof pictures);
    const char *bytes = (const char *)side;
    assert_int_equal(tacit_side_bytes(&t, &o, false, "l", bytes, sizeof side, 0, &err), TACIT_OK);
    assert_int_equal(tacit_side_bytes(&t, &o, true, "a", bytes, sizeof side, 2, &err), TACIT_OK);
    assert_true(t.y[0] == 5 && t.y[1] == 4);
    assert_string_equal(table_owner(&t, 0), "70");
    assert_string_equal(table_owner(&t, 1), "71");
    assert_int_equal(tacit_side_bytes(&t, &o, false, "l", bytes, sizeof side, -1, &err), TACIT_OK);
    assert_true(t.y[0] == 5); /* labels: the first column unless told */
    assert_int_equal(tacit_side_bytes(&t, &o, true, "a", bytes, sizeof side, 3, &err),
                     TACIT_EINPUT);
    assert_string_equal(err.text, "a: no column #3; it has 3, from #0");
    assert_int_equal(tacit_side_bytes(&t, &o, true, "a", bytes, sizeof side, -1, &err),
                     TACIT_EINPUT);
    assert_string_equal(err.text, "a: has 3 columns; say which, as in \"a#2\" (from 0)");
    tacit_table_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_missing_and_infinite),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
