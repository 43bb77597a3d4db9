/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV reader: what it takes, what it refuses, and in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/csv_scan.h"
#include "data/shard.h"
#include "data/table.h"

static tacit_data_options plain(void)
{
    tacit_data_options o;
    assert_int_equal(tacit_options_defaults(&tacit_data_section, &o, NULL), TACIT_OK);
    o.test_fraction = 0;
    snprintf(o.agent_column, sizeof o.agent_column, "ward");
    snprintf(o.label_column, sizeof o.label_column, "sick");
    return o;
}

/* The text goes to memory of exactly its size, so that a sanitizer sees any read past it. */
static tacit_status read_bytes(tacit_source *s, const tacit_data_options *o, const char *text,
                               size_t len, tacit_error *err)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    tacit_status status = tacit_data_csv_text(s, o, "p.csv", copy, len, TACIT_F64, 1, err);
    free(copy);
    return status;
}

static tacit_source read_good(const tacit_data_options *o, const char *text)
{
    tacit_source s;
    tacit_error err = {0};
    if (read_bytes(&s, o, text, strlen(text), &err))
        fail_msg("%s", err.text);
    return s;
}

static double value(const tacit_source *s, uint32_t agent, tacit_split split, size_t row,
                    size_t column)
{
    tacit_batch b;
    size_t cursor = 0, features = tacit_dataset_features(s->data);
    assert_true(tacit_shard_next(tacit_dataset_shard(s->data, agent, split), &cursor, &b));
    assert_true(row < b.rows);
    return column == features ? ((const double *)b.y)[row]
                              : ((const double *)b.x)[row * features + column];
}

static const char *name(const tacit_source *s, uint32_t agent)
{
    static char buffer[TACIT_NUMBER_MAX];
    return tacit_dataset_name(s->data, agent, buffer);
}

static void assert_two_wards(const tacit_source *s)
{
    assert_int_equal(tacit_dataset_agents(s->data), 2);
    assert_int_equal(tacit_dataset_features(s->data), 2);
    assert_string_equal(name(s, 0), "north");
    assert_string_equal(name(s, 1), "south");
    assert_int_equal(tacit_dataset_rows(s->data, 0, TACIT_TRAIN), 2);
    assert_int_equal(tacit_dataset_rows(s->data, 1, TACIT_TRAIN), 1);
    assert_true(value(s, 0, TACIT_TRAIN, 0, 0) == 61.5);
    assert_true(value(s, 0, TACIT_TRAIN, 0, 1) == -2);
    assert_true(value(s, 0, TACIT_TRAIN, 0, 2) == 1);
    assert_true(value(s, 0, TACIT_TRAIN, 1, 0) == 47);
    assert_true(value(s, 0, TACIT_TRAIN, 1, 1) == 0.25);
    assert_true(value(s, 1, TACIT_TRAIN, 0, 0) == 30);
    assert_true(value(s, 1, TACIT_TRAIN, 0, 2) == -1);
}

static void test_all_spellings_of_a_file_read_alike(void **state)
{
    (void)state;
    const char *const spellings[] = {
        "age,ward,sick,dose\n61.5,north,1,-2\n30,south,-1,1e1\n47,north,1,.25\n",
        "age,ward,sick,dose\r\n61.5,north,1,-2\r\n30,south,-1,1e1\r\n47,north,1,.25\r\n",
        "age,ward,sick,dose\n61.5,north,1,-2\n30,south,-1,1e1\n47,north,1,.25",
        ("\xef\xbb\xbf\"age\",\"ward\",sick,dose\n61.5,\"north\",1,\"-2\"\n\n30,south,-1,10\n"
         "47,north,1,.25\n\n\r\n"),
        "age , ward,sick ,\tdose\n 61.5, north,+1,-2.0\n30,south ,-1,1E+1\n47,north,1,25e-2\n",
    };
    tacit_data_options o = plain();
    for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++) {
        tacit_source s = read_good(&o, spellings[k]);
        assert_two_wards(&s);
        assert_int_equal(s.targets.dimension, 0);
        tacit_source_clear(&s);
    }
}

static void test_quotes(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    snprintf(o.positive, sizeof o.positive, "yes, \"very\"");
    tacit_source s = read_good(&o, "ward,\"a \"\"b\"\"\",sick\n"
                                   "\"x, y\",1,\"yes, \"\"very\"\"\"\n"
                                   "\"x, y\",2,\"no\nno\"\n"
                                   "\" x\",\"3\",no\n");
    assert_int_equal(tacit_dataset_agents(s.data), 2);
    assert_string_equal(name(&s, 0), "x, y");
    assert_string_equal(name(&s, 1), " x");
    assert_true(value(&s, 0, TACIT_TRAIN, 0, 1) == 1);
    assert_true(value(&s, 0, TACIT_TRAIN, 1, 1) == -1);
    assert_true(value(&s, 1, TACIT_TRAIN, 0, 0) == 3);
    tacit_source_clear(&s);
}

static void test_bias_and_bound(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    o.bias = true;
    tacit_source s = read_good(&o, "ward,sick,a\n0,1,3\n1,2,0\n");
    assert_int_equal(tacit_dataset_features(s.data), 2);
    assert_string_equal(name(&s, 1), "1");
    assert_true(value(&s, 0, TACIT_TRAIN, 0, 1) == 1);
    assert_true(value(&s, 1, TACIT_TRAIN, 0, 2) == 2);
    tacit_source_clear(&s);
    o.bound = TACIT_BOUND_L1;
    s = read_good(&o, "ward,sick,a\n0,1,3\n1,1,-1e308\n2,1,0\n");
    assert_float_equal(value(&s, 0, TACIT_TRAIN, 0, 0), 0.75, 1e-9);
    assert_float_equal(value(&s, 0, TACIT_TRAIN, 0, 1), 0.25, 1e-9);
    assert_float_equal(value(&s, 1, TACIT_TRAIN, 0, 0), -1, 1e-9);
    tacit_source_clear(&s);
    o.bound = TACIT_BOUND_L2;
    s = read_good(&o, "ward,sick,a,b\n0,1,1.7e308,1.7e308\n");
    assert_float_equal(value(&s, 0, TACIT_TRAIN, 0, 0), 0.70710678, 1e-6);
    tacit_source_clear(&s);
}

/* A file of `rows` records dealt to `agents` in turn, with x = number of the record. */
static char *long_file(int rows, int agents)
{
    size_t size = 64 + 32 * (size_t)rows;
    char *text = malloc(size);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, size, "ward,sick,x\n");
    for (int k = 0; k < rows; k++)
        used += (size_t)snprintf(text + used, size - used, "w%d,1,%d\n", k % agents, k);
    return text;
}

static void test_split(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    o.test_fraction = 0.2;
    o.validation_fraction = 0.1;
    char *text = long_file(300, 3);
    tacit_source s = read_good(&o, text);
    for (uint32_t i = 0; i < 3; i++) {
        int seen[300] = {0};
        const uint32_t expected[TACIT_SPLITS] = {70, 10, 20};
        for (int split = 0; split < TACIT_SPLITS; split++) {
            double last = -1;
            assert_int_equal(tacit_dataset_rows(s.data, i, (tacit_split)split), expected[split]);
            for (uint32_t r = 0; r < expected[split]; r++) {
                double x = value(&s, i, (tacit_split)split, r, 0);
                assert_int_equal((int)x % 3, i);
                assert_true(x > last); /* the order of the file */
                last = x;
                seen[(int)x]++;
            }
        }
        for (int k = 0; k < 300; k++)
            assert_int_equal(seen[k], k % 3 == (int)i);
    }
    /* A shuffle, not the first or last twenty. */
    assert_true(value(&s, 0, TACIT_TEST, 19, 0) - value(&s, 0, TACIT_TEST, 0, 0) > 100);

    /* An agent's split does not change when there are more agents after it. */
    char *more = malloc(strlen(text) + 100);
    assert_non_null(more);
    snprintf(more, strlen(text) + 100, "%snew,1,0\nnew,1,1\nnew,1,2\n", text);
    tacit_source t = read_good(&o, more);
    for (uint32_t r = 0; r < 20; r++)
        assert_true(value(&s, 2, TACIT_TEST, r, 0) == value(&t, 2, TACIT_TEST, r, 0));
    free(more);
    free(text);
    tacit_source_clear(&s);
    tacit_source_clear(&t);

    /* One record always stays to train on. */
    o.test_fraction = 0.7;
    o.validation_fraction = 0.25;
    s = read_good(&o, "ward,sick,x\na,1,1\nb,1,1\nb,1,2\n");
    assert_int_equal(tacit_dataset_rows(s.data, 0, TACIT_TRAIN), 1);
    assert_int_equal(tacit_dataset_rows(s.data, 1, TACIT_TRAIN), 1);
    assert_int_equal(tacit_dataset_rows(s.data, 1, TACIT_TEST), 1);
    tacit_source_clear(&s);
}

typedef struct bad_file {
    const char *text;
    const char *message;
} bad_file;

static void test_errors_say_where_and_what(void **state)
{
    (void)state;
    const bad_file files[] = {
        {"", "p.csv: empty; expected a line with the column names"},
        {"\xef\xbb\xbf\n\n", "p.csv: empty; expected a line with the column names"},
        {"ward,sick,age\n", "p.csv: no records after the header"},
        {"ward,sick,age\na,1,n/a\n",
         "p.csv:2: column \"age\" is \"n/a\"; expected a finite number"},
        {"ward,sick,age\na,1,1\n\na,1,nan\n",
         "p.csv:4: column \"age\" is \"nan\"; expected a finite number"},
        {"ward,sick,age\na,1,inf\n",
         "p.csv:2: column \"age\" is \"inf\"; expected a finite number"},
        {"ward,sick,age\na,1,1e999\n",
         "p.csv:2: column \"age\" is \"1e999\"; expected a finite number"},
        {"ward,sick,age\na,1,0x10\n",
         "p.csv:2: column \"age\" is \"0x10\"; expected a finite number"},
        {"ward,sick,age\na,1,\n", "p.csv:2: column \"age\" is empty; expected a finite number"},
        {"ward,sick,age\na,yes,1\n",
         "p.csv:2: column \"sick\" is \"yes\"; expected a finite number"},
        {"ward,sick,age\n,1,1\n",
         "p.csv:2: column \"ward\" is empty; expected an agent's name, at most 255 bytes of UTF-8 "
         "without control characters"},
        {"ward,sick,age\n\"a\nb\",1,1\n",
         "p.csv:2: column \"ward\" is \"a?b\"; expected an agent's name, at most 255 bytes of "
         "UTF-8 without control characters"},
        {"ward,sick,age\na,1\n", "p.csv:2: 2 values; the header has 3 columns"},
        {"ward,sick,age\na,1,2,3\n", "p.csv:2: more than 3 values; the header has 3 columns"},
        {"ward,sick,age\na,1,2,\n", "p.csv:2: more than 3 values; the header has 3 columns"},
        {"ward,sick,\"a\nge\"\na,1,x\n",
         "p.csv:3: column \"a?ge\" is \"x\"; expected a finite number"},
        {"ward,sick\na,1\n", "p.csv:1: no feature columns beside \"ward\" and \"sick\""},
        {"ward,sikc,age\na,1,1\n",
         "p.csv:1: no column \"sick\" for data.label-column; did you mean \"sikc\"?"},
        {"x,y,z\na,1,1\n", "p.csv:1: no column \"ward\" for data.agent-column"},
        {"ward;sick;age\na;1;1\n", "p.csv:1: no column \"ward\" for data.agent-column; values must "
                                   "be separated by commas (or set data.separator)"},
        {"ward,sick,age,age\na,1,1,1\n",
         "p.csv:1: column \"age\" is there twice; give each its own name"},
        {"ward,sick,,age\n",
         "p.csv:1: column 3 has no name; the first line must name every column"},
        {"ward,sick,age\na,1,\"2\n", "p.csv:2: a quote is opened here and never closed"},
        {"ward,sick,age\na,1,\"2\"3\n",
         "p.csv:2: text after a closing quote; expected a comma or the end of the line"},
        {"ward,sick,age\na,1,2\"\n", "p.csv:2: a quote inside a field; put the whole field in "
                                     "quotes and double the quote"},
        {"ward,sick,age\na,1,2\rb,1,2\n",
         "p.csv:2: a carriage return that ends no line; use LF or CRLF"},
    };
    tacit_data_options o = plain();
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        tacit_source s;
        tacit_error err = {0};
        tacit_status status = read_bytes(&s, &o, files[k].text, strlen(files[k].text), &err);
        assert_int_equal(status, TACIT_EINPUT);
        assert_int_equal(err.code, TACIT_EINPUT);
        assert_string_equal(err.text, files[k].message);
        assert_null(s.data);
    }
}

static void expect(const tacit_data_options *o, const char *text, size_t len, const char *message)
{
    tacit_source s;
    tacit_error err = {0};
    assert_int_equal(read_bytes(&s, o, text, len, &err), TACIT_EINPUT);
    assert_string_equal(err.text, message);
}

static void test_errors_of_options_and_sizes(void **state)
{
    (void)state;
    static const char good[] = "ward,sick,age\na,1,2\n";
    static const char nul[] = "ward,sick,age\na,1,2\0\n", quoted_nul[] = "ward,sick,\"a\0ge\"\n";
    tacit_data_options o = plain();
    expect(&o, nul, sizeof nul - 1, "p.csv:2: a NUL byte; expected a text file");
    expect(&o, quoted_nul, sizeof quoted_nul - 1, "p.csv:1: a NUL byte; expected a text file");
    snprintf(o.positive, sizeof o.positive, "sick");
    expect(&o, good, sizeof good - 1,
           "p.csv: no label is \"sick\"; data.positive must be a value of column \"sick\"");
    expect(&o, "ward,sick,age\na,,2\n", 19, "p.csv:2: column \"sick\" is empty; expected a label");
    o = plain();
    o.test_fraction = 0.5;
    o.validation_fraction = 0.5;
    expect(&o, good, sizeof good - 1,
           "data.test-fraction \"0.5\" and data.validation-fraction \"0.5\" leave nothing to train "
           "on; their sum must be below 1");
    o = plain();
    o.label_column[0] = '\0';
    expect(&o, good, sizeof good - 1,
           "data.label-column is empty; name the column that holds the label");
    o = plain();
    memcpy(o.label_column, "ward", 5);
    expect(&o, good, sizeof good - 1,
           "data.agent-column and data.label-column are both \"ward\"; name two columns");

    tacit_source s;
    tacit_error err;
    o = plain();
    static const char large[] = "ward,sick,age\na,1,1e39\n";
    assert_int_equal(
        tacit_data_csv_text(&s, &o, "p.csv", large, sizeof large - 1, TACIT_F32, 1, &err),
        TACIT_EINPUT);
    assert_string_equal(err.text, "p.csv:2: column \"age\" is \"1e39\"; expected a number that "
                                  "fits in f32 (or set model.scalar to f64)");
}

static void test_long_fields_and_wide_headers(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    size_t size = 1 << 20, used = 0;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'a', size);
    expect(&o, text, size, "p.csv:1: a field is longer than 65536 bytes; is a quote missing?");
    text[0] = '"';
    expect(&o, text, size, "p.csv:1: a field is longer than 65536 bytes; is a quote missing?");
    for (int k = 0; k <= 100000; k++)
        used += (size_t)snprintf(text + used, size - used, "%d,", k);
    expect(&o, text, used, "p.csv:1: more than 100000 columns");

    /* A long value is cut in the message, not in the middle of a character. */
    used = (size_t)snprintf(text, size, "ward,sick,age\na,1,");
    for (int k = 0; k < 100; k++) {
        memcpy(text + used, "\xe2\x82\xac", 3);
        used += 3;
    }
    tacit_source s;
    tacit_error err;
    assert_int_equal(read_bytes(&s, &o, text, used, &err), TACIT_EINPUT);
    assert_non_null(strstr(err.text, "\xe2\x82\xac...\"; expected a finite number"));
    free(text);
}

/* However a file is cut, the answer is an error or fewer rows. */
static void test_truncation(void **state)
{
    (void)state;
    static const char text[] =
        "\xef\xbb\xbfward,\"si\"\"ck\",age,dose\r\n\"no\"\"rth\",1,2.5,-1e3\r\n"
        "south,-1,\"7\",1e-3\n\n\"a\nb\",1,3,4\nnorth,1,123456789012345678,0\n";
    tacit_data_options o = plain();
    snprintf(o.label_column, sizeof o.label_column, "si\"ck");
    o.test_fraction = 0.3;
    size_t good = 0;
    for (size_t len = 0; len < sizeof text; len++) {
        tacit_source s;
        tacit_error err = {0};
        tacit_status status = read_bytes(&s, &o, text, len, &err);
        if (status) {
            assert_int_equal(status, TACIT_EINPUT);
            assert_true(err.text[0] != '\0');
            assert_null(s.data);
        } else {
            size_t rows = 0;
            for (int split = 0; split < TACIT_SPLITS; split++)
                rows += tacit_shard_rows(tacit_dataset_pooled(s.data, (tacit_split)split));
            assert_in_range(rows, 1, 2); /* the third has an agent with a line break */
            good++;
        }
        tacit_source_clear(&s);
    }
    assert_true(good > 3);
}

static void test_numbers(void **state)
{
    (void)state;
    const char *const good[] = {"0",
                                "-0",
                                "1",
                                "+1",
                                "1.",
                                ".5",
                                "-.5e1",
                                "1e22",
                                "1e23",
                                "1e-22",
                                "1e-23",
                                "123456789012345",
                                "1234567890123456",
                                "0.1",
                                "9007199254740993",
                                "1e308",
                                "1e-308",
                                "4.9e-324",
                                "1e-400",
                                "2.2250738585072011e-308",
                                "0.000000000000000000000000001",
                                "00000000000000000000000001.5",
                                "1e+05",
                                "179769313486231570e291",
                                "3.141592653589793238462643383279502884197169399375105820974944"};
    const char *const bad[] = {"",    " ",  "+",    "-",     ".",      "e5",       "1e",   "1e+",
                               "1 ",  " 1", "1,5",  "--1",   "1.2.3",  "inf",      "nan",  "NaN",
                               "0x1", "1f", "1e5.", "1e999", "-1e999", "infinity", "1_000"};
    double out;
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        assert_true(tacit_csv_number(good[k], strlen(good[k]), &out));
        double expected = strtod(good[k], NULL);
        assert_memory_equal(&out, &expected, sizeof out);
    }
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_false(tacit_csv_number(bad[k], strlen(bad[k]), &out));

    /* Against strtod, digits and exponents all over the place. */
    uint64_t word = 88172645463325252U;
    for (int k = 0; k < 200000; k++) {
        char text[64];
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        int digits = (int)(word % 18);
        int len = snprintf(text, sizeof text, "%.*e", digits, (double)(int64_t)word * 1e-9);
        if (k % 2)
            len = snprintf(text, sizeof text, "%.*f", digits % 12, (double)(int32_t)word * 1e-4);
        assert_true(tacit_csv_number(text, (size_t)len, &out));
        double expected = strtod(text, NULL);
        assert_memory_equal(&out, &expected, sizeof out);
    }
    char *zeros = malloc(2000);
    assert_non_null(zeros);
    memset(zeros, '0', 2000);
    zeros[1] = '.';
    zeros[1999] = '1';
    assert_true(tacit_csv_number(zeros, 2000, &out));
    assert_true(out == 0);
    free(zeros);
}

static void test_many_agents(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    char *text = long_file(30000, 10000);
    tacit_source s = read_good(&o, text);
    assert_int_equal(tacit_dataset_agents(s.data), 10000);
    for (uint32_t i = 0; i < 10000; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "w%u", i);
        assert_string_equal(name(&s, i), expected);
        assert_true(value(&s, i, TACIT_TRAIN, 2, 0) == 20000 + i);
    }
    tacit_source_clear(&s);
    free(text);
}

static void test_load_reads_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/tacit-csv-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    fputs("age,ward,sick,dose\n61.5,north,1,-2\n30,south,-1,10\n47,north,1,.25\n", file);
    fclose(file);
    tacit_data_options o = plain();
    o.source = 1;
    snprintf(o.path, sizeof o.path, "%s", path);
    tacit_source s;
    tacit_error err = {0};
    assert_int_equal(tacit_data_load(&s, &o, TACIT_F64, 1, &err), TACIT_OK);
    remove(path);
    assert_two_wards(&s);
    tacit_source_clear(&s);
}

/* ---- options of the table ---- */

static tacit_status read_table(tacit_table *t, const tacit_data_options *o, const char *text,
                               tacit_error *err)
{
    size_t len = strlen(text);
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    *err = (tacit_error){0};
    tacit_status status = tacit_read_csv(t, o, "p.csv", copy, len, TACIT_F64, err);
    free(copy);
    return status;
}

static tacit_table good_table(const tacit_data_options *o, const char *text)
{
    tacit_table t;
    tacit_error err;
    if (read_table(&t, o, text, &err))
        fail_msg("%s", err.text);
    return t;
}

static void bad_table(const tacit_data_options *o, const char *text, const char *message)
{
    tacit_table t;
    tacit_error err;
    assert_int_equal(read_table(&t, o, text, &err), TACIT_EINPUT);
    assert_string_equal(err.text, message);
    assert_null(t.x.bytes);
    assert_null(t.y);
}

#define SET(field, text) snprintf(o.field, sizeof o.field, "%s", text)

static void test_separators(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "ward,sick,a,b\nn,1,2,-3\ns,2,1e-3,4\n",
        "ward\tsick\ta\tb\nn\t1\t2\t-3\ns\t2\t1e-3\t4\n",
        "ward;sick;a;b\nn;1;2;-3\ns;2;1e-3;4\n",
        "  ward sick\ta   b  \n \t \nn 1 2 -3\n\n   s   2\t\t1e-3 4  \r\n  ",
    };
    const double x[] = {2, -3, 1e-3, 4};
    for (int k = 0; k < 4; k++) {
        tacit_data_options o = plain();
        o.separator = k;
        tacit_table t = good_table(&o, texts[k]);
        assert_int_equal(t.rows, 2);
        assert_int_equal(t.features, 2);
        assert_memory_equal(t.x.bytes, x, sizeof x);
        assert_true(t.y[0] == 1 && t.y[1] == 2);
        assert_string_equal(tacit_names_get(&t.owners, t.owner[1]), "s");
        assert_string_equal(tacit_names_get(&t.columns, 1), "b");
        tacit_table_clear(&t);
    }
    tacit_data_options o = plain();
    o.separator = 1; /* an empty cell between tabs is a cell */
    bad_table(&o, "ward\tsick\ta\nn\t1\t\n",
              "p.csv:2: column \"a\" is empty; expected a finite number");
    o.separator = 2;
    bad_table(&o, "ward;sick;a\nn;1;\"2\"3\n",
              "p.csv:2: text after a closing quote; expected a semicolon or the end of the line");
    o.separator = 3;
    bad_table(&o, "ward sick a b\nn 1 2 \n", "p.csv:2: 3 values; the header has 4 columns");
    bad_table(&o, "ward sick a b\nn 1 2", "p.csv:2: 3 values; the header has 4 columns");
    bad_table(&o, "ward sick a b\nn 1 2 3 4 \n",
              "p.csv:2: more than 4 values; the header has 4 columns");
}

static void test_no_header(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    o.header = false;
    SET(agent_column, "4");
    SET(label_column, "1");
    SET(ignore, "2");
    tacit_table t = good_table(&o, "1,x,5,n\n-1,,6,s\n");
    assert_int_equal(t.rows, 2);
    assert_int_equal(t.features, 1);
    assert_true(((const double *)t.x.bytes)[1] == 6);
    assert_string_equal(tacit_names_get(&t.columns, 0), "3");
    tacit_table_clear(&t);
    bad_table(&o, "1,x,5,n\n-1,6,s\n", "p.csv:2: 3 values; the first line has 4 columns");
    bad_table(&o, "\n", "p.csv: empty; expected records");
    SET(label_column, "7");
    bad_table(&o, "1,x,5,n\n", "p.csv:1: no column \"7\" for data.label-column");
}

static void test_who_owns_is_optional(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    o.partition = TACIT_PARTITION_IID;
    SET(agent_column, "agent"); /* the default: nobody asked for it */
    tacit_table t = good_table(&o, "sick,a\n1,2\n");
    assert_null(t.owner);
    assert_int_equal(t.features, 1);
    tacit_table_clear(&t);
    t = good_table(&o, "sick,a,agent\n1,2,n\n"); /* but it is no feature */
    assert_int_equal(t.features, 1);
    assert_non_null(t.owner);
    tacit_table_clear(&t);
    SET(agent_column, "ward");
    bad_table(&o, "sick,a\n1,2\n", "p.csv:1: no column \"ward\" for data.agent-column");
    o.partition = TACIT_PARTITION_OWN;
    SET(agents_path, "elsewhere");
    SET(labels_path, "elsewhere");
    t = good_table(&o, "ward,sick,a\nn,yes,2\n"); /* both are left out */
    assert_null(t.owner);
    assert_int_equal(t.features, 1);
    tacit_table_clear(&t);
    t = good_table(&o, "a\n2\n");
    assert_int_equal(t.features, 1);
    tacit_table_clear(&t);
}

static void test_categories(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    SET(categories, " colour = red|green | blue ; front,back=flat|round;");
    static const char text[] = "ward,colour,sick,a,front,back\n"
                               "n,green,1,7,flat,round\ns,blue,2,8,round,round\n";
    const double x[] = {0, 1, 0, 7, 1, 0, 0, 1, 0, 0, 1, 8, 0, 1, 0, 1};
    tacit_table t = good_table(&o, text);
    assert_int_equal(t.features, 8);
    assert_memory_equal(t.x.bytes, x, sizeof x);
    assert_string_equal(tacit_names_get(&t.columns, 1), "colour=green");
    assert_string_equal(tacit_names_get(&t.columns, 3), "a");
    assert_string_equal(tacit_names_get(&t.columns, 7), "back=round");
    tacit_table_clear(&t);

    SET(categories, "colour=red|green");
    bad_table(&o, "ward,colour,sick\nn,green,1\ns,blue,2\n",
              "p.csv:3: column \"colour\" is \"blue\"; expected one of red, green");
    bad_table(&o, "ward,colour,sick\nn,?,1\n",
              "p.csv:2: column \"colour\" is \"?\"; expected one of red, green (or set "
              "data.missing-rule)");
    bad_table(&o, "ward,color,sick\nn,green,1\n",
              "p.csv:1: no column \"colour\" for data.categories; did you mean \"color\"?");
    bad_table(&o, "ward,colour,sick,colour=red\nn,green,1,5\n",
              "two features would be called \"colour=red\"; rename a column");
    static const char *const wrong[] = {"colour", "colour=", "colour=red||blue", "=red",
                                        "colour,=red"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        tacit_error err;
        SET(categories, wrong[k]);
        assert_int_equal(read_table(&t, &o, "ward,colour,sick\nn,green,1\n", &err), TACIT_EINPUT);
        assert_non_null(strstr(err.text, "expected columns and their words, as in"));
    }
    SET(categories, "colour=red|red");
    bad_table(&o, "ward,colour,sick\nn,green,1\n", "data.categories has \"red\" twice in one list");
    SET(categories, "colour=red;colour=green");
    bad_table(&o, "ward,colour,sick\nn,green,1\n",
              "data.categories has column \"colour\", which is there twice");
    SET(categories, "sick=red");
    bad_table(&o, "ward,colour,sick\nn,green,1\n",
              "data.categories has column \"sick\", which is the label or the agent");
}

static void test_ignore(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    SET(ignore, " id , note");
    tacit_table t = good_table(&o, "id,ward,sick,note,a\n1x,n,1,\"so, so\",4\n");
    assert_int_equal(t.features, 1);
    assert_true(((const double *)t.x.bytes)[0] == 4);
    tacit_table_clear(&t);
    bad_table(&o, "id,ward,sick,notes,a\n1,n,1,2,4\n",
              "p.csv:1: no column \"note\" for data.ignore; did you mean \"notes\"?");
    SET(ignore, "sick");
    bad_table(&o, "ward,sick,a\nn,1,4\n", "data.ignore has column \"sick\", which is the label");
    SET(ignore, "ward");
    bad_table(&o, "ward,sick,a\nn,1,4\n",
              "data.ignore has column \"ward\", which says whose record it is");
}

static void test_missing_values(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    static const char text[] = "ward,sick,a,colour\nn,1,?,red\nn,2,,?\ns,1,5,\n";
    SET(categories, "colour=red|green");
    bad_table(&o, text,
              "p.csv:2: column \"a\" is \"?\"; expected a finite number (or set "
              "data.missing-rule)");
    for (int rule = TACIT_MISSING_DROP; rule <= TACIT_MISSING_MEAN; rule++) {
        o.missing_rule = rule;
        tacit_table t = good_table(&o, text);
        const double *x = t.x.bytes;
        assert_true(t.missing);
        assert_true(isnan(x[0]) && x[1] == 1 && x[2] == 0);
        assert_true(isnan(x[3]) && isnan(x[4]) && isnan(x[5]));
        assert_true(x[6] == 5 && isnan(x[7]) && isnan(x[8]));
        tacit_table_clear(&t);
        /* Labels and owners are never missing. */
        bad_table(&o, "ward,sick,a,colour\nn,?,1,red\n",
                  "p.csv:2: column \"sick\" is \"?\"; expected a finite number");
        bad_table(&o, "ward,sick,a,colour\n?,1,1,red\n",
                  "p.csv:2: column \"ward\" is \"?\"; expected an agent's name, at most 255 bytes "
                  "of UTF-8 without control characters");
        SET(positive, "1");
        bad_table(&o, "ward,sick,a,colour\nn,?,1,red\n",
                  "p.csv:2: column \"sick\" is \"?\"; expected a label");
        SET(positive, "");
    }
    SET(missing, "NA");
    tacit_table t = good_table(&o, "ward,sick,a,colour\nn,1,NA,red\n");
    assert_true(isnan(((const double *)t.x.bytes)[0]));
    tacit_table_clear(&t);
    bad_table(&o, "ward,sick,a,colour\nn,1,?,red\n",
              "p.csv:2: column \"a\" is \"?\"; expected a finite number");
    SET(missing, "?"); /* a word may be declared that looks missing */
    SET(categories, "colour=red|?");
    t = good_table(&o, "ward,sick,a,colour\nn,1,1,?\n");
    assert_true(((const double *)t.x.bytes)[2] == 1 && !t.missing);
    tacit_table_clear(&t);
}

static void test_other_formats_are_named(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    expect(&o, "\0\0\x08\x03\0\0\0\x01", 8,
           "p.csv: looks like an IDX file, not CSV; set data.source to \"idx\"");
    expect(&o, "\x93NUMPY\x01\0", 8,
           "p.csv: looks like an NPY file, not CSV; set data.source to \"npy\"");
    expect(&o, "PK\x03\x04...", 7,
           "p.csv: looks like a zip archive, not CSV; unpack it and name the file inside");
    expect(&o, "\x1f\x8b\x08\0", 4,
           "p.csv: looks like a gzip file inside another, not CSV; unpack it by hand");
    expect(&o, "-1 3:0.5 7:1\n", 13,
           "p.csv:1: no column \"ward\" for data.agent-column; the file looks like libsvm: set "
           "data.source");
    char mat[200] = {0};
    memcpy(mat + 124, "\x00\x01IM", 4);
    expect(&o, mat, sizeof mat,
           "p.csv: looks like a MAT file, not CSV; set data.source to \"mat\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_spellings_of_a_file_read_alike),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_bias_and_bound),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_errors_say_where_and_what),
        cmocka_unit_test(test_errors_of_options_and_sizes),
        cmocka_unit_test(test_long_fields_and_wide_headers),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_many_agents),
        cmocka_unit_test(test_load_reads_a_file),
        cmocka_unit_test(test_separators),
        cmocka_unit_test(test_no_header),
        cmocka_unit_test(test_who_owns_is_optional),
        cmocka_unit_test(test_categories),
        cmocka_unit_test(test_ignore),
        cmocka_unit_test(test_missing_values),
        cmocka_unit_test(test_other_formats_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
