/* SPDX-License-Identifier: Apache-2.0 */
/* Records that are known again (data/prints.h): what may change about a table and a run, and what
 * may not. */
#include "testing.h"

#include "data/prints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct prints {
    char *at[64];
    size_t len[64], count;
} prints;

static tacit_status keep(void *ctx, const void *bytes, size_t len, tacit_error *err)
{
    (void)err;
    prints *p = ctx;
    assert_true(p->count < 64);
    assert_non_null(p->at[p->count] = malloc(len));
    memcpy(p->at[p->count], bytes, len);
    p->len[p->count++] = len;
    return TACIT_OK;
}

static void clear(prints *p)
{
    for (size_t k = 0; k < p->count; k++)
        free(p->at[k]);
    *p = (prints){.count = 0};
}

static size_t shared(const prints *a, const prints *b)
{
    size_t found = 0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++)
            found += a->len[i] == b->len[k] && memcmp(a->at[i], b->at[k], a->len[i]) == 0;
    return found;
}

static void of_text(prints *p, const char *text, bool header)
{
    tacit_error err = {0};
    char *copy = malloc(strlen(text) + 1); /* of its size, for sanitizers */
    assert_non_null(copy);
    memcpy(copy, text, strlen(text) + 1);
    check_ok(tacit_text_each_print(copy, strlen(text), header, keep, p, &err), &err);
    free(copy);
}

static void test_text(void **state)
{
    (void)state;
    static const char plain[] = "ward,age,sick\na,31.5,1\nb,7,-1\nc,0,1\n";
    static const struct {
        const char *text;
        bool header;
        size_t records, same;
    } other[] = {
        {plain, true, 3, 3},
        {"ward,age,sick\nc,0,1\na,31.5,1\nb,7,-1\n", true, 3, 3},           /* another order */
        {"x;y;z\r\n\"a\"; 31.50 ;1\r\n\"b\";7.0;-1\r\nc;-0;1", true, 3, 3}, /* another hand */
        {"\xef\xbb\xbfward\tage\tsick\n\na\t3.15e1\t+1\n", true, 1, 1},
        {"a 31.5 1\nd 1 1\n", false, 2, 1},            /* one of them is enough */
        {"ward,age,sick\na,31.5,1\n", false, 1, 1},    /* nobody said that there is a header */
        {"ward,age,sick\nd,31.5,1\n", true, 1, 0},     /* a header is no record */
        {"age,ward,sick\n31.5,a,1\n", true, 1, 0},     /* columns changed places */
        {"ward,age,sick,x\na,31.5,1,0\n", true, 1, 0}, /* one more column */
        {"ward,age,sick\na,32,1\n", true, 1, 0},       /* rounded */
        {"", true, 0, 0},
        {"\n , \n", false, 0, 0},
    };
    prints first = {.count = 0}, next = {.count = 0};
    of_text(&first, plain, true);
    for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
        of_text(&next, other[k].text, other[k].header);
        if (next.count != other[k].records || shared(&first, &next) != other[k].same)
            fail_msg("text %zu: %zu records, %zu known", k, next.count, shared(&first, &next));
        clear(&next);
    }
    clear(&first);
}

/* Two surveys share a 42 and are two; the same survey is one, in any order. */
static void test_narrow(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t same;
    } other[] = {{"minutes\n1\n42.0\n42\n", 1},
                 {"42\n1\n42\n", 1},
                 {"42\n1\n", 0},
                 {"42\n1\n1\n", 0},
                 {"42\n", 0},
                 {"42,42\n1\n", 0}};
    prints first = {.count = 0}, next = {.count = 0};
    of_text(&first, "42\n42\n1\n", false);
    assert_int_equal(first.count, 1);
    for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
        of_text(&next, other[k].text, false);
        if (next.count != 1 || shared(&first, &next) != other[k].same)
            fail_msg("text %zu", k);
        clear(&next);
    }
    clear(&first);
}

static void write_file(const char *name, const void *bytes, size_t len)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void of_data(prints *p, const tacit_data_options *o)
{
    tacit_error err = {0};
    tacit_source source;
    check_ok(tacit_data_load(&source, o, TACIT_F32, 1, &err), &err);
    check_ok(tacit_data_each_print(o, source.data, keep, p, &err), &err);
    tacit_source_clear(&source);
}

static tacit_data_options options_of(int source, const char *path)
{
    tacit_data_options o;
    assert_int_equal(tacit_options_defaults(&tacit_data_section, &o, NULL), TACIT_OK);
    o.source = source;
    o.agents = 1;
    o.partition = TACIT_PARTITION_IID;
    snprintf(o.path, sizeof o.path, "%s", path);
    return o;
}

/* What a run makes of a table does not matter. */
static void test_csv_options(void **state)
{
    (void)state;
    static const char text[] = "a,b,label\n1,2,1\n3,4,-1\n5,6,1\n7,8,-1\n";
    write_file("t.csv", text, sizeof text - 1);
    tacit_data_options o = options_of(TACIT_SOURCE_CSV, "t.csv");
    snprintf(o.label_column, sizeof o.label_column, "label");
    prints first = {.count = 0}, next = {.count = 0};
    of_data(&first, &o);
    assert_int_equal(first.count, 4);
    o.standardise = TACIT_STANDARDISE_AGENT;
    o.divide = 10;
    o.test_fraction = 0.5;
    snprintf(o.ignore, sizeof o.ignore, "b");
    snprintf(o.threshold, sizeof o.threshold, "0");
    of_data(&next, &o);
    assert_int_equal(shared(&first, &next), 4);
    clear(&first);
    clear(&next);
}

/* Pixels: as the file has them, whatever they are divided by and called. */
static void test_idx(void **state)
{
    (void)state;
    static const uint8_t pictures[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0,
                                       1, 0, 0, 0, 3, 9, 0, 7, 1, 2, 3};
    static const uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 4, 5};
    write_file("x.idx", pictures, sizeof pictures);
    write_file("y.idx", labels, sizeof labels);
    tacit_data_options o = options_of(TACIT_SOURCE_IDX, "x.idx");
    snprintf(o.labels_path, sizeof o.labels_path, "y.idx");
    o.test_fraction = 0;
    prints first = {.count = 0}, next = {.count = 0};
    of_data(&first, &o);
    o.divide = 255;
    snprintf(o.positive, sizeof o.positive, "4");
    of_data(&next, &o);
    assert_int_equal(first.count, 2);
    assert_int_equal(shared(&first, &next), 2);
    clear(&first);
    clear(&next);
}

/* Records that are drawn are nobody's. */
static void test_drawn(void **state)
{
    (void)state;
    tacit_data_options o = options_of(TACIT_SOURCE_LINEAR_SEPARATORS, "");
    prints none = {.count = 0};
    of_data(&none, &o);
    assert_int_equal(none.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_csv_options), cmocka_unit_test(test_idx),
        cmocka_unit_test(test_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
