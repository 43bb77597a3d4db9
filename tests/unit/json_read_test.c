/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of what runs write: strict, bounded, and the same for any cut into pieces. */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_read.h"
#include "report/table_read.h"
#include "report/writer.h"

/* ---- JSON ---- */

static tacit_status read(tacit_json_tree *tree, const char *text, tacit_error *err)
{
    /* A copy without a NUL behind it: the reader must stop at the length. */
    size_t len = strlen(text);
    char *copy = malloc(len ? len : 1);
    memcpy(copy, text, len);
    tacit_status status = tacit_json_read(tree, "s.json", copy, len, err);
    free(copy);
    return status;
}

static void test_values(void **state)
{
    (void)state;
    tacit_json_tree t;
    tacit_error err = {0};
    check_ok(read(&t,
                  " {\"a\": 1.5e3, \"b\":[true,false , null,\"x\"],\"c\":{\"d\":-0},\"e\":\"\", "
                  "\"n\": 18446744073709551615, \"f\": 2.5}\n",
                  &err),
             &err);
    const tacit_json_value *top = &t.values[0];
    assert_true(tacit_json_to_real(tacit_json_member(&t, top, "a"), 0) == 1500);
    const tacit_json_value *b = tacit_json_member(&t, top, "b"), *v = tacit_json_first(&t, b);
    assert_true(tacit_json_to_bool(v, false));
    v = tacit_json_next(&t, v);
    assert_false(tacit_json_to_bool(v, true));
    v = tacit_json_next(&t, v);
    assert_int_equal(v->kind, TACIT_JSON_NULL);
    v = tacit_json_next(&t, v);
    assert_string_equal(tacit_json_to_text(v, "?"), "x");
    assert_null(tacit_json_next(&t, v));
    assert_null(tacit_json_member(&t, b, "x"));
    assert_null(tacit_json_member(&t, NULL, "x"));
    v = tacit_json_member(&t, tacit_json_member(&t, top, "c"), "d");
    assert_true(v && v->number == 0);
    assert_string_equal(tacit_json_to_text(tacit_json_member(&t, top, "e"), "?"), "");
    assert_true(tacit_json_to_count(tacit_json_member(&t, top, "n"), 0) == UINT64_MAX);
    assert_int_equal(tacit_json_to_count(tacit_json_member(&t, top, "f"), 7), 7);
    assert_true(isnan(tacit_json_to_real(tacit_json_member(&t, top, "e"), NAN)));
    tacit_json_clear(&t);
}

static void test_escapes(void **state)
{
    (void)state;
    tacit_json_tree t;
    tacit_error err = {0};
    check_ok(read(&t, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\ud83c\\udf0d\xc3\xa9\"", &err),
             &err);
    assert_string_equal(t.values[0].text,
                        "\"\\/\b\f\n\r\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8d\xc3\xa9");
    tacit_json_clear(&t);
}

static void test_what_the_writer_writes_reads_back(void **state)
{
    (void)state;
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "odd \"key\"\n", "caf\xc3\xa9 \x01 \xff");
    tacit_json_real(&json, "third", 1.0 / 3);
    tacit_json_real(&json, "none", NAN);
    tacit_json_end(&json, '}');
    tacit_json_tree t;
    tacit_error err = {0};
    check_ok(tacit_json_read(&t, "s.json", out.text, out.len, &err), &err);
    const tacit_json_value *top = &t.values[0];
    assert_string_equal(tacit_json_to_text(tacit_json_member(&t, top, "odd \"key\"\n"), "?"),
                        "caf\xc3\xa9 \x01 \xef\xbf\xbd");
    assert_true(tacit_json_to_real(tacit_json_member(&t, top, "third"), 0) == 1.0 / 3);
    tacit_json_clear(&t);
    tacit_writer_clear(&out);
}

static void test_wrong_json_is_refused(void **state)
{
    (void)state;
    const struct {
        const char *text, *says;
    } wrong[] = {
        {"", "expected a value"},
        {"  ", "expected a value"},
        {"{", "double quotes"},
        {"{\"a\"", "\":\""},
        {"{\"a\":1", "\",\" or \"}\""},
        {"{\"a\":1,}", "double quotes"},
        {"{\"a\":1 \"b\":2}", "\",\" or \"}\""},
        {"{a:1}", "double quotes"},
        {"{\"a\":1,\"a\":2}", "was there before"},
        {"{\"a\":1,\"\\u0061\":2}", "was there before"},
        {"[1,]", "expected a value"},
        {"[1 2]", "\",\" or \"]\""},
        {"[1]]", "follows the end"},
        {"nul", "expected a value"},
        {"truest", "follows the end"},
        {"01", "follows the end"},
        {"+1", "expected a value"},
        {".5", "expected a value"},
        {"1.", "expected a value"},
        {"1e", "expected a value"},
        {"-", "expected a value"},
        {"0x10", "follows the end"},
        {"NaN", "expected a value"},
        {"Infinity", "expected a value"},
        {"1e999", "beyond the range"},
        {"\"abc", "does not end"},
        {"\"a\nb\"", "control character"},
        {"\"\\x\"", "unknown escape"},
        {"\"\\u12\"", "names no character"},
        {"\"\\u0000\"", "names no character"},
        {"\"\\ud800\"", "names no character"},
        {"\"\\ud800\\u0041\"", "names no character"},
        {"\"\\udc00\"", "names no character"},
        {"\"\xc0\xaf\"", "not UTF-8"},
        {"\"\xed\xa0\x80\"", "not UTF-8"},
        {"\xef\xbb\xbf{}", "expected a value"},
        {"// no\n1", "expected a value"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tacit_json_tree t;
        tacit_error err = {0};
        tacit_status status = read(&t, wrong[i].text, &err);
        if (status != TACIT_EINPUT || !strstr(err.text, wrong[i].says))
            fail_msg("%s: status %d, %s", wrong[i].text, status, err.text);
        assert_null(t.values);
        assert_null(t.text);
    }
    tacit_json_tree t;
    tacit_error err = {0};
    check_fails(read(&t, "{\n  \"a\": 1,\n  \"b\": x}", &err), TACIT_EINPUT, &err,
                "line 3, column 8");
}

static void test_json_is_bounded(void **state)
{
    (void)state;
    tacit_json_tree t;
    tacit_error err = {0};
    tacit_writer out = {0};
    for (int i = 0; i < TACIT_JSON_DEPTH; i++)
        tacit_write_text(&out, "[");
    for (int i = 0; i < TACIT_JSON_DEPTH; i++)
        tacit_write_text(&out, "]");
    check_ok(tacit_json_read(&t, "s.json", out.text, out.len, &err), &err);
    tacit_json_clear(&t);
    tacit_writer_clear(&out);
    for (int i = 0; i < 100000; i++)
        tacit_write_text(&out, "[");
    check_fails(tacit_json_read(&t, "s.json", out.text, out.len, &err), TACIT_EINPUT, &err,
                "too deeply");
    tacit_writer_clear(&out);
    tacit_write_text(&out, "{");
    for (int i = 0; i <= TACIT_JSON_MEMBERS; i++)
        tacit_write_format(&out, "%s\"k%d\":0", i ? "," : "", i);
    tacit_write_text(&out, "}");
    check_fails(tacit_json_read(&t, "s.json", out.text, out.len, &err), TACIT_EINPUT, &err,
                "too many members");
    tacit_writer_clear(&out);
    char *large = malloc(TACIT_JSON_BYTES + 1);
    memset(large, ' ', TACIT_JSON_BYTES + 1);
    check_fails(tacit_json_read(&t, "s.json", large, TACIT_JSON_BYTES + 1, &err), TACIT_EINPUT,
                &err, "too large");
    free(large);
}

/* ---- tables ---- */

static tacit_status write_down(void *ctx, const tacit_metric_row *row, tacit_error *err)
{
    (void)err;
    tacit_write_format(ctx, "%g|%lld|%s|%g\n", row->time, (long long)row->agent, row->name,
                       row->value);
    return TACIT_OK;
}

/* Feed `text` in pieces of `size` bytes. */
static tacit_status scan(tacit_writer *found, const char *text, size_t size, tacit_error *err)
{
    tacit_metrics_reader m;
    tacit_metrics_open(&m, "metrics.csv", write_down, found);
    size_t len = strlen(text);
    tacit_status status = TACIT_OK;
    for (size_t at = 0; at < len && !status; at += size)
        status = tacit_table_feed(&m.table, text + at, len - at < size ? len - at : size, err);
    return status ? status : tacit_table_end(&m.table, err);
}

static void test_metrics_read_back_in_any_pieces(void **state)
{
    (void)state;
    tacit_writer csv = {0};
    tacit_write_text(&csv, TACIT_CSV_HEADER);
    tacit_csv_row(&csv, 0, TACIT_NOBODY, "objective", 12.5);
    tacit_csv_row(&csv, 0.5, 7, "odd, \"name\"\nin two lines", -1);
    tacit_csv_row(&csv, 0.5, TACIT_NOBODY, "endless", INFINITY);
    tacit_csv_row(&csv, 2, 0, "", 1e-300);
    const char *want = "0|-1|objective|12.5\n0.5|7|odd, \"name\"\nin two lines|-1\n"
                       "0.5|-1|endless|inf\n2|0||1e-300\n";
    for (size_t size = 1; size < 80; size++) {
        tacit_writer found = {0};
        tacit_error err = {0};
        check_ok(scan(&found, csv.text, size, &err), &err);
        assert_string_equal(found.text, want);
        tacit_writer_clear(&found);
    }
    tacit_writer_clear(&csv);
}

static void test_wrong_tables_are_refused(void **state)
{
    (void)state;
#define HEAD "time,agent,name,value\n"
    const struct {
        const char *text, *says;
    } wrong[] = {
        {"", "is empty"},
        {"time,agent,value\n", "another version"},
        {HEAD "1,all,x", "was cut"},
        {"time,agent,na", "was cut"},
        {HEAD "1,all,x\n", "line 2"},
        {HEAD "1,all,x,2,3\n", "wrong number"},
        {HEAD "\n", "wrong number"},
        {HEAD "1,all,x,2\r\n", "expected a number"},
        {HEAD "1,all,x,0x10\n", "expected a number"},
        {HEAD "1,all,x, 2\n", "expected a number"},
        {HEAD "1,all,x,nan\n", "expected a number"},
        {HEAD "1,all,x,infinity\n", "expected a number"},
        {HEAD "1,all,x,1e999\n", "expected a number"},
        {HEAD "1,all,x,1-2\n", "expected a number"},
        {HEAD "1,all,x,\n", "expected time"},
        {HEAD ",all,x,1\n", "expected time"},
        {HEAD "inf,all,x,1\n", "expected time"},
        {HEAD "1,everybody,x,1\n", "whole number"},
        {HEAD "1,-1,x,1\n", "whole number"},
        {HEAD "1,99999999999999999999,x,1\n", "whole number"},
        {HEAD "2,all,x,1\n1,all,x,1\n", "goes back"},
        {HEAD "1,all,\"x,1\n", "was cut"},
        {HEAD "1,all,\"x\"y,1\n", "wrong number"},
        {HEAD "1,all,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t\n", "wrong number"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (size_t size = 1; size < 50; size += 7) {
            tacit_writer found = {0};
            tacit_error err = {0};
            tacit_status status = scan(&found, wrong[i].text, size, &err);
            if (status != TACIT_EINPUT || !strstr(err.text, wrong[i].says))
                fail_msg("%s: status %d, %s", wrong[i].text, status, err.text);
            tacit_writer_clear(&found);
        }
    tacit_error err = {0};
    tacit_metrics_reader m;
    tacit_metrics_open(&m, "metrics.csv", write_down, NULL);
    check_ok(tacit_table_feed(&m.table, HEAD, strlen(HEAD), &err), &err);
    check_fails(tacit_table_feed(&m.table, "1,a\0l,x,1\n", 10, &err), TACIT_EINPUT, &err, "NUL");
    tacit_metrics_open(&m, "metrics.csv", write_down, NULL);
    char *endless = malloc(100000);
    memset(endless, 'x', 100000);
    check_fails(tacit_table_feed(&m.table, endless, 100000, &err), TACIT_EINPUT, &err, "too long");
    free(endless);
}

static tacit_status ignore(void *ctx, const tacit_table_reader *reader, char *const *fields,
                           tacit_error *err)
{
    (void)reader;
    (void)fields;
    (void)err;
    ++*(size_t *)ctx;
    return TACIT_OK;
}

static void test_rows_are_bounded(void **state)
{
    (void)state;
    size_t rows = 0;
    tacit_error err = {0};
    tacit_table_reader t = {
        .shown = "t.csv", .header = "a", .row = ignore, .ctx = &rows, .most = 3};
    check_ok(tacit_table_feed(&t, "a\n1\n2\n3\n", 8, &err), &err);
    check_fails(tacit_table_feed(&t, "4\n", 2, &err), TACIT_EINPUT, &err, "more than 3 rows");
    assert_int_equal(rows, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_what_the_writer_writes_reads_back),
        cmocka_unit_test(test_wrong_json_is_refused),
        cmocka_unit_test(test_json_is_bounded),
        cmocka_unit_test(test_metrics_read_back_in_any_pieces),
        cmocka_unit_test(test_wrong_tables_are_refused),
        cmocka_unit_test(test_rows_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
