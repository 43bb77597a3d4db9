/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about things as numbers: which columns become what, and what is refused in which words. */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/attributes.h"

static tacit_status read_text(tacit_attributes *out, const char *known, const char *text,
                              tacit_error *err)
{
    tacit_names names = {0};
    size_t len = strlen(text);
    char *copy = malloc(len ? len : 1); /* of exactly its size, for sanitizers */
    assert_non_null(copy);
    memcpy(copy, text, len);
    for (const char *at = known; *at;) {
        size_t n = strcspn(at, " ");
        uint32_t number;
        bool added;
        check_ok(tacit_names_intern(&names, at, n, &number, &added, err), err);
        at += n + (at[n] != '\0');
    }
    tacit_status status = tacit_attributes_read(out, &names, "item", "i.txt", copy, len, err);
    tacit_names_clear(&names);
    free(copy);
    return status;
}

static tacit_attributes read_good(const char *known, const char *text)
{
    tacit_attributes a;
    tacit_error err = {0};
    check_ok(read_text(&a, known, text, &err), &err);
    return a;
}

static void check_row(const tacit_attributes *a, const char *name, const double *want)
{
    const double *row = tacit_attributes_find(a, name);
    assert_non_null(row);
    for (size_t f = 0; f < a->features; f++)
        if (fabs(row[f] - want[f]) > 1e-12)
            fail_msg("feature %zu of \"%s\": %g, expected %g", f, name, row[f], want[f]);
}

static void test_flags_stay_and_titles_go(void **state)
{
    (void)state;
    /* As u.item is written: a title, dates, a column that is empty, flags; one is always 0. */
    tacit_attributes a =
        read_good("1 2 3", "1|Un caf\xe9 \"noir\"|01-Jan-1990||http://a|0|1|1\n2|Die Br\xfc"
                           "cke|02-Feb-1990||http://b|0|0|1\n3|M, a film|||http://c|0|1|0\n");
    /* Three titles and three addresses are few words here, so each is a feature. */
    assert_int_equal(a.features, 3 + 3 + 2);
    const double one[] = {1, 0, 0, 1, 0, 0, 1, 1}, three[] = {0, 0, 1, 0, 0, 1, 1, 0};
    check_row(&a, "1", one);
    check_row(&a, "3", three);
    assert_null(tacit_attributes_find(&a, "4"));
    tacit_attributes_clear(&a);
}

static void test_many_words_become_nothing(void **state)
{
    (void)state;
    char text[4000];
    size_t used = 0;
    for (int k = 0; k < TACIT_ATTRIBUTE_WORDS_MAX + 1; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,name %d,0%d,%s\n", k, k, k,
                                 k % 3 ? "b" : "a");
    tacit_attributes a = read_good("1", text);
    assert_int_equal(a.features, 2);
    const double zero[] = {1, 0}, one[] = {0, 1};
    check_row(&a, "0", zero);
    check_row(&a, "1", one);
    tacit_attributes_clear(&a);
    /* One fewer, and every word is a feature; "00", "01", ... are words, too. */
    used = 0;
    for (int k = 0; k < TACIT_ATTRIBUTE_WORDS_MAX; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,0%d\n", k, k);
    a = read_good("1", text);
    assert_int_equal(a.features, TACIT_ATTRIBUTE_WORDS_MAX);
    tacit_attributes_clear(&a);
}

/* Values -2, 0, 2: mean 0, deviation sqrt(8/3), so z = -1.2247, 0, 1.2247. */
static void test_numbers_are_scaled_and_bent(void **state)
{
    (void)state;
    static const char *const spellings[] = {
        "a,-2\nb,0\nc,2\nd,\n",
        "item;score\na;-2\nb;0\nc;2\nd;\n",
        "a\t1988-01-02\r\nb\t1990-12-31\r\nc\t1992-1-1\r\nd\t\r\n",
        "a|31.12.1988\nb|01/Jan/1990\nc|1-1-1992\nd|",
        "\xef\xbb\xbf\"a\",\"-2\"\n\n\"b\",0\n\"c\",2\nd,\n",
    };
    double z = 2 / sqrt(8.0 / 3);
    const double a[] = {-z, z, z - 1, 0}, b[] = {0, 0, 0, 0}, c[] = {z, 0, 0, z - 1};
    for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++) {
        tacit_attributes t = read_good("a b c d", spellings[k]);
        assert_int_equal(t.names.count, 4);
        assert_int_equal(t.features, 4);
        check_row(&t, "a", a);
        check_row(&t, "b", b);
        check_row(&t, "c", c);
        check_row(&t, "d", b); /* what is missing is average */
        tacit_attributes_clear(&t);
    }
}

static void test_numbers_far_off_are_cut(void **state)
{
    (void)state;
    char text[4000];
    size_t used = 0;
    for (int k = 0; k < 100; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,%s\n", k,
                                 k == 0   ? "1e6"
                                 : k == 1 ? "1"
                                          : "0");
    tacit_attributes a = read_good("1", text);
    assert_int_equal(a.features, 3); /* nobody is a deviation below the mean */
    const double *row = tacit_attributes_find(&a, "0");
    assert_true(row[0] == 3 && row[1] == 0 && row[2] == 2);
    tacit_attributes_clear(&a);
    /* No deviation can be told where squares overflow: nothing, rather than infinity. */
    a = read_good("1", "1,1e200,0\n2,-1e200,1\n");
    assert_int_equal(a.features, 1);
    tacit_attributes_clear(&a);
}

static void test_a_header_is_known_by_what_is_no_thing(void **state)
{
    (void)state;
    tacit_attributes a = read_good("ann bob", "name,sex,work\nann,F,baker\nbob,M,smith\n");
    assert_int_equal(a.names.count, 2);
    assert_int_equal(a.features, 4);
    tacit_attributes_clear(&a);
    a = read_good("ann bob", "ann,F,baker\nbob,M,smith\n"); /* ann is a user: no header */
    assert_int_equal(a.names.count, 2);
    tacit_attributes_clear(&a);
    a = read_good("7", "5,1\n6,0\n7,1\n"); /* numbers: no header, although nobody rated 5 */
    assert_int_equal(a.names.count, 3);
    tacit_attributes_clear(&a);
}

static void test_what_is_refused_and_in_which_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
    } bad[] = {
        {"", "describes no item"},
        {"\n\r\n", "describes no item"},
        {"item,year\n", "describes no item"},
        {"1\n2\n", "i.txt:1: one field; expected \"item,value"},
        {"1|a|0\n2|b\n", "i.txt:2: 2 fields, but 3 in the first line; is the file cut?"},
        {"1|a|0\n2|b|1|7\n", "i.txt:2: 4 fields, but 3"},
        {"1,0\n\n3,1\n1,1\n", "i.txt:4: item \"1\" stands there twice"},
        {"1,0\n,1\n", "i.txt:2: the first field, \"\", names no item"},
        {"1,5\n2,5\n", "says nothing that tells one item from another"},
        {"1,\n2,\n", "says nothing"},
        {"1,\"a\n2,b\n", "i.txt:1: a quote is opened"},
        {"\x1f\x8b", "i.txt"},
        {"1,nan\n2,\n", "says nothing"}, /* one word, the same everywhere */
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tacit_attributes a;
        tacit_error err = {0};
        tacit_status status = read_text(&a, "1 2", bad[k].text, &err);
        if (status != TACIT_EINPUT || !strstr(err.text, bad[k].word))
            fail_msg("case %zu: %d \"%s\"", k, status, err.text);
        assert_null(a.value);
        assert_int_equal(a.names.count, 0);
    }
    tacit_names none = {0};
    tacit_attributes a;
    tacit_error err = {0};
    check_fails(tacit_attributes_read(&a, &none, "item", "i.txt", "1|a\0b|0\n", 8, &err),
                TACIT_EINPUT, &err, "i.txt:1: a NUL byte");
}

static void test_absurd_widths_are_refused(void **state)
{
    (void)state;
    size_t room = 2 * TACIT_ATTRIBUTE_COLUMNS_MAX + 64;
    char *text = malloc(room + 1);
    assert_non_null(text);
    tacit_attributes a;
    tacit_error err = {0};
    memset(text, ',', room);
    text[room] = '\0';
    text[0] = '1';
    check_fails(read_text(&a, "1", text, &err), TACIT_EINPUT, &err, "i.txt:1: more than 1000");
    memset(text, 'x', room);
    memcpy(text + 300, ",1\n", 4);
    check_fails(read_text(&a, "1", text, &err), TACIT_EINPUT, &err, "1 to 255 bytes");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags_stay_and_titles_go),
        cmocka_unit_test(test_many_words_become_nothing),
        cmocka_unit_test(test_numbers_are_scaled_and_bent),
        cmocka_unit_test(test_numbers_far_off_are_cut),
        cmocka_unit_test(test_a_header_is_known_by_what_is_no_thing),
        cmocka_unit_test(test_what_is_refused_and_in_which_words),
        cmocka_unit_test(test_absurd_widths_are_refused),
    };
    return cmocka_run_group_tests_name("attributes", tests, NULL, NULL);
}
