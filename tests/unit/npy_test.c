/* SPDX-License-Identifier: Apache-2.0 */
/* NPY files: types, orders, versions, and headers that are not what they should be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/grid.h"
#include "data/side.h"
#include "tables.h"

typedef struct file {
    unsigned char bytes[1024];
    size_t len;
} file;

/* A file of a version, a header as written, and numbers. */
static file make(int version, const char *header, const void *numbers, size_t bytes)
{
    file f = {.bytes = "\x93NUMPY"};
    size_t len = strlen(header);
    f.bytes[6] = (unsigned char)version;
    f.bytes[8] = len & 0xff;
    f.bytes[9] = (unsigned char)(len >> 8);
    f.len = version == 1 ? 10 : 12;
    assert_true(f.len + len + bytes <= sizeof f.bytes);
    memcpy(f.bytes + f.len, header, len);
    memcpy(f.bytes + f.len + len, numbers, bytes);
    f.len += len + bytes;
    return f;
}

static const double six[] = {1, 2, 3, 4, 5, -6.5};

static void test_spellings(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }    \n",
        "{\"shape\":(2,3),\"descr\":\"<f8\",\"fortran_order\":False}",
        "{ 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , 'descr' : '<f8' , }\n",
    };
    tacit_data_options o = table_options(TACIT_SOURCE_NPY);
    for (int version = 1; version <= 3; version++) {
        for (size_t k = 0; k < sizeof headers / sizeof *headers; k++) {
            file f = make(version, headers[k], six, sizeof six);
            tacit_table t = table_good(tacit_read_npy, &o, f.bytes, f.len);
            assert_int_equal(t.rows, 2);
            assert_int_equal(t.features, 3);
            assert_memory_equal(t.x.bytes, six, sizeof six);
            tacit_table_clear(&t);
            table_cut_everywhere(tacit_read_npy, &o, f.bytes, f.len);
        }
    }
}

static void test_types(void **state)
{
    (void)state;
    static const struct {
        const char *descr;
        unsigned char bytes[16];
        size_t len;
        double first, second;
    } cases[] = {
        {"|b1", {1, 0}, 2, 1, 0},
        {"|i1", {0xff, 0x7f}, 2, -1, 127},
        {"|u1", {0xff, 0x7f}, 2, 255, 127},
        {"<i2", {0xfe, 0xff, 2, 1}, 4, -2, 258},
        {">i2", {0xff, 0xfe, 1, 2}, 4, -2, 258},
        {"<u2", {0xfe, 0xff, 2, 1}, 4, 65534, 258},
        {"<i4", {0xfd, 0xff, 0xff, 0xff, 1, 0, 0, 0}, 8, -3, 1},
        {">u4", {0xff, 0xff, 0xff, 0xff, 0, 0, 1, 0}, 8, 4294967295.0, 256},
        {"<f4", {0, 0, 0x80, 0xbf, 0, 0, 0, 0x40}, 8, -1, 2},
        {">f4", {0xbf, 0x80, 0, 0, 0x40, 0, 0, 0}, 8, -1, 2},
        {">f8", {0xc0, 0, 0, 0, 0, 0, 0, 0, 0x3f, 0xe0}, 16, -2, 0.5},
        {"<i8", {0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 9}, 16, -4, 9},
        {">u8",
         {0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0},
         16,
         9223372036854775808.0,
         256},
    };
    tacit_data_options o = table_options(TACIT_SOURCE_NPY);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char header[100];
        snprintf(header, sizeof header,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (1, 2), }", cases[k].descr);
        file f = make(1, header, cases[k].bytes, cases[k].len);
        tacit_table t = table_good(tacit_read_npy, &o, f.bytes, f.len);
        assert_true(table_at(&t, 0, 0) == cases[k].first);
        assert_true(table_at(&t, 0, 1) == cases[k].second);
        tacit_table_clear(&t);
    }
}

/* The same array of 2 x 3 x 4 in both orders: element (i, j, k) is 100 i + 10 j + k. */
static void test_orders(void **state)
{
    (void)state;
    unsigned char c_order[24], f_order[24];
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 3; j++)
            for (size_t k = 0; k < 4; k++) {
                unsigned char value = (unsigned char)(100 * i + 10 * j + k);
                c_order[(i * 3 + j) * 4 + k] = value;
                f_order[i + 2 * (j + 3 * k)] = value;
            }
    tacit_data_options o = table_options(TACIT_SOURCE_NPY);
    file c = make(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 4)}", c_order, 24);
    file f = make(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4)}", f_order, 24);
    tacit_table one = table_good(tacit_read_npy, &o, c.bytes, c.len);
    tacit_table two = table_good(tacit_read_npy, &o, f.bytes, f.len);
    assert_int_equal(one.features, 12);
    assert_memory_equal(one.x.bytes, two.x.bytes, 24); /* bytes stay bytes */
    assert_true(table_at(&one, 1, 7) == 113);
    tacit_table_clear(&one);
    tacit_table_clear(&two);
}

static void test_vector(void **state)
{
    (void)state;
    tacit_data_options o = table_options(TACIT_SOURCE_NPY);
    file f = make(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", six, sizeof six);
    tacit_table t = table_good(tacit_read_npy, &o, f.bytes, f.len);
    assert_int_equal(t.rows, 6);
    assert_int_equal(t.features, 1);
    /* The same file as labels. */
    tacit_error err = {0};
    assert_int_equal(tacit_side_bytes(&t, &o, false, "l", (const char *)f.bytes, f.len, -1, &err),
                     TACIT_OK);
    assert_memory_equal(t.y, six, sizeof six);
    /* -6.5 is no agent. */
    assert_int_equal(tacit_side_bytes(&t, &o, true, "a", (const char *)f.bytes, f.len, -1, &err),
                     TACIT_EINPUT);
    assert_string_equal(err.text, "a: record 6 is \"-6.5\"; expected a whole number for an agent");
    tacit_table_clear(&t);
}

static void test_bad_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header, *words;
    } cases[] = {
        {"", "header is damaged"},
        {"{}", "header is damaged"},
        {"{'descr': '<f8', 'fortran_order': False}", "header is damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'more': 1}", "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} x", "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)", "damaged"},
        {"{'descr': '<f8', 'fortran_order': No, 'shape': (2, 3)}", "damaged"},
        {"{'descr': '<f8' 'fortran_order': False, 'shape': (2, 3)}", "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (6)}", "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': 6}", "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2, 3)}", "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 3)}", "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,, 3)}", "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'shape': (2, 3)}", "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (36893488147419103232, 3)}", "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808, 2)}",
         "cut or damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 4)}",
         "promises 2 records of 4 numbers, but 48 bytes follow"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", "48 bytes follow"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': ()}", "a single number"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3)}", "48 bytes follow"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}",
         "an array of type \"|O\"; expected f4, f8"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (2, 3)}", "type \"<c16\""},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3)}", "type \"<f2\""},
        {"{'descr': '|f8', 'fortran_order': False, 'shape': (2, 3)}", "type \"|f8\""},
        {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (2, 3)}", "type \"<M8[ns]\""},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2, 3)}", "damaged"},
    };
    tacit_data_options o = table_options(TACIT_SOURCE_NPY);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        file f = make(1, cases[k].header, six, sizeof six);
        table_refused(tacit_read_npy, &o, f.bytes, f.len, cases[k].words);
    }
    file f = make(4, "{}", six, sizeof six);
    table_refused(tacit_read_npy, &o, f.bytes, f.len, "NPY version 4.0; expected 1.0, 2.0 or 3.0");
    f = make(2, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", six, sizeof six);
    f.bytes[11] = 0xff; /* a header of 4 GB */
    table_refused(tacit_read_npy, &o, f.bytes, f.len, "cut inside the NPY header");
    table_refused(tacit_read_npy, &o, "", 0, "empty; expected an NPY file");
    table_refused(tacit_read_npy, &o, "PK\x03\x04....", 8,
                  "looks like a zip archive, not an NPY file; unpack it");
    f = make(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", six, sizeof six);
    table_flip_everywhere(tacit_read_npy, &o, f.bytes, f.len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings),   cmocka_unit_test(test_types),
        cmocka_unit_test(test_orders),      cmocka_unit_test(test_vector),
        cmocka_unit_test(test_bad_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
