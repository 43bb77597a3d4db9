/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that parses whatever is put in, numbers that read back, NPY that numpy can load. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/writer.h"

/* ---- a strict little JSON reader: position after the value, NULL if it is none ---- */

static const char *value(const char *s, int depth);

static const char *blank(const char *s)
{
    return s + strspn(s, " \n\t\r");
}

static const char *string(const char *s)
{
    if (*s++ != '"')
        return NULL;
    for (; *s != '"'; s++) {
        if ((unsigned char)*s < 0x20)
            return NULL;
        if (*s != '\\')
            continue;
        s++;
        if (*s == 'u') {
            if (strspn(s + 1, "0123456789abcdefABCDEF") < 4)
                return NULL;
            s += 4;
        } else if (!*s || !strchr("\"\\/bfnrt", *s))
            return NULL;
    }
    return s + 1;
}

static const char *members(const char *s, char end, int depth)
{
    s = blank(s + 1);
    if (*s == end)
        return s + 1;
    for (;;) {
        if (end == '}') {
            s = string(blank(s));
            if (!s)
                return NULL;
            s = blank(s);
            if (*s++ != ':')
                return NULL;
        }
        s = value(blank(s), depth + 1);
        if (!s)
            return NULL;
        s = blank(s);
        if (*s == end)
            return s + 1;
        if (*s++ != ',')
            return NULL;
    }
}

static const char *value(const char *s, int depth)
{
    if (depth > 20)
        return NULL;
    if (*s == '{')
        return members(s, '}', depth);
    if (*s == '[')
        return members(s, ']', depth);
    if (*s == '"')
        return string(s);
    const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++)
        if (!strncmp(s, words[i], strlen(words[i])))
            return s + strlen(words[i]);
    if (*s != '-' && (*s < '0' || *s > '9'))
        return NULL;
    char *end;
    strtod(s, &end);
    return end;
}

static bool parses(const char *text)
{
    const char *end = value(blank(text), 0);
    return end && *blank(end) == '\0';
}

static void test_json_nests_and_parses(void **state)
{
    (void)state;
    for (int compact = 0; compact < 2; compact++) {
        tacit_writer out = {0};
        tacit_json json = {.out = &out, .compact = compact};
        tacit_json_begin(&json, NULL, '{');
        tacit_json_text(&json, "schema", "tacit.run/1");
        tacit_json_begin(&json, "empty", '{');
        tacit_json_end(&json, '}');
        tacit_json_begin(&json, "rows", '[');
        for (int i = 0; i < 3; i++) {
            tacit_json_begin(&json, NULL, '{');
            tacit_json_count(&json, "n", UINT64_MAX);
            tacit_json_bool(&json, "b", i == 1);
            tacit_json_null(&json, "nothing");
            tacit_json_end(&json, '}');
        }
        tacit_json_end(&json, ']');
        tacit_json_real(&json, "nan", NAN);
        tacit_json_real(&json, "infinite", -INFINITY);
        tacit_json_real(&json, "third", 1.0 / 3);
        tacit_json_end(&json, '}');
        assert_true(parses(out.text));
        assert_non_null(strstr(out.text, compact ? "\"nan\":null" : "\"nan\": null"));
        assert_non_null(strstr(out.text, compact ? "\"infinite\":null" : "\"infinite\": null"));
        assert_non_null(strstr(out.text, "18446744073709551615"));
        if (compact)
            assert_ptr_equal(strchr(out.text, '\n'), out.text + out.len - 1);
        tacit_writer_clear(&out);
    }
    assert_false(parses("{\"a\":1,}"));
    assert_false(parses("{\"a\" 1}"));
    assert_false(parses("{\"a\":\"\n\"}"));
}

static void test_json_survives_any_text(void **state)
{
    (void)state;
    const char *const hostile[] = {"quote \" back \\ slash",
                                   "line\nbreak\ttab\rreturn\x01\x1f\x7f",
                                   "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\x8d",
                                   "cut \xe2\x82",
                                   "overlong \xc0\xaf \xe0\x80\xaf",
                                   "surrogate \xed\xa0\x80",
                                   "beyond \xf4\x90\x80\x80 \xff\xfe",
                                   ""};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        tacit_writer out = {0};
        tacit_json json = {.out = &out};
        tacit_json_begin(&json, NULL, '{');
        tacit_json_text(&json, hostile[i], hostile[i]);
        tacit_json_end(&json, '}');
        assert_true(parses(out.text));
        /* what is left is UTF-8: no byte that can never stand there */
        assert_null(strpbrk(out.text, "\xc0\xc1\xed\xf5\xfe\xff"));
        tacit_writer_clear(&out);
    }
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_text(&json, NULL, "caf\xc3\xa9 \"\n");
    assert_string_equal(out.text, "\"caf\xc3\xa9 \\\"\\n\"");
    tacit_writer_clear(&out);
}

static void test_reals_read_back(void **state)
{
    (void)state;
    const double numbers[] = {0,
                              1,
                              -1,
                              0.1,
                              1.0 / 3,
                              1e300,
                              5e-324,
                              1e-7,
                              123456.7,
                              1e15,
                              1e16,
                              M_PI,
                              0.25,
                              2.0 / 3 * 1e-9,
                              1e100,
                              -0.0,
                              9007199254740993.0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        tacit_writer out = {0};
        tacit_write_real(&out, numbers[i]);
        double back = strtod(out.text, NULL);
        assert_memory_equal(&back, &numbers[i], sizeof back);
        tacit_writer_clear(&out);
    }
    uint64_t word = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        double number;
        memcpy(&number, &word, sizeof number);
        if (!isfinite(number))
            continue;
        tacit_writer out = {0};
        tacit_write_real(&out, number);
        double back = strtod(out.text, NULL);
        assert_memory_equal(&back, &number, sizeof back);
        tacit_writer_clear(&out);
    }
    tacit_writer out = {0};
    tacit_write_real(&out, 0.1);
    tacit_write_text(&out, " ");
    tacit_write_real(&out, 100);
    tacit_write_text(&out, " ");
    tacit_write_real(&out, -NAN);
    assert_string_equal(out.text, "0.1 100 nan");
    tacit_writer_clear(&out);
}

static void test_csv_rows(void **state)
{
    (void)state;
    tacit_writer out = {0};
    tacit_csv_row(&out, 0.5, TACIT_NOBODY, "objective", 12.25);
    tacit_csv_row(&out, 0.5, 7, "odd, \"name\"", -1);
    tacit_csv_row(&out, 0.5, 7, "nothing", NAN);
    assert_string_equal(out.text, "0.5,all,objective,12.25\n0.5,7,\"odd, \"\"name\"\"\",-1\n");
    tacit_writer_clear(&out);
}

static void test_npy_header(void **state)
{
    (void)state;
    const uint64_t rows[] = {0, 1, 100, 123456789, UINT64_MAX};
    for (size_t i = 0; i < 5; i++) {
        tacit_writer out = {0};
        tacit_npy_header(&out, i % 2 ? TACIT_F64 : TACIT_F32, rows[i], 100);
        assert_int_equal(out.len % 64, 0);
        assert_memory_equal(out.text, "\x93NUMPY\x01\x00", 8);
        size_t inner = (unsigned char)out.text[8] + 256u * (unsigned char)out.text[9];
        assert_int_equal(inner + 10, out.len);
        assert_int_equal(out.text[out.len - 1], '\n');
        char shape[80];
        snprintf(shape, sizeof shape, "'shape': (%llu, 100)", (unsigned long long)rows[i]);
        assert_non_null(strstr(out.text + 10, shape));
        assert_non_null(strstr(out.text + 10, i % 2 ? "f8'" : "f4'"));
        tacit_writer_clear(&out);
    }
}

static void test_writer_grows_and_is_taken(void **state)
{
    (void)state;
    tacit_writer out = {0};
    for (int i = 0; i < 10000; i++)
        tacit_write_format(&out, "%d,", i % 10);
    assert_int_equal(out.len, 20000);
    char *text = tacit_writer_take(&out);
    assert_int_equal(strlen(text), 20000);
    assert_null(out.text);
    free(text);
    assert_null(tacit_writer_take(&out));
    out.failed = true;
    tacit_write_text(&out, "lost");
    assert_null(tacit_writer_take(&out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_nests_and_parses),
        cmocka_unit_test(test_json_survives_any_text),
        cmocka_unit_test(test_reals_read_back),
        cmocka_unit_test(test_csv_rows),
        cmocka_unit_test(test_npy_header),
        cmocka_unit_test(test_writer_grows_and_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
