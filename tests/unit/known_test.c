/* SPDX-License-Identifier: Apache-2.0 */
/* Known data sets: the digest itself, the table, and the words for a missing file. */
#include "testing.h"

#include <string.h>

#include "data/known.h"

static void test_sha256(void **state)
{
    (void)state;
    char hex[TACIT_SHA256_HEX];
    tacit_sha256_hex("abc", 3, hex); /* FIPS 180-2, example B.1 */
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_null(tacit_known_recognise("abc", 3));
    assert_null(tacit_known_recognise(NULL, 0));
}

static void test_the_table_is_in_order(void **state)
{
    (void)state;
    assert_true(tacit_known_set_count >= 10 && tacit_known_file_count > tacit_known_set_count);
    for (size_t k = 0; k < tacit_known_set_count; k++) {
        const tacit_known_set *set = &tacit_known_sets[k];
        assert_true(set->name && set->what && set->terms && set->source);
    }
    for (size_t k = 0; k < tacit_known_file_count; k++) {
        const tacit_known_file *file = &tacit_known_files[k];
        assert_int_equal(strlen(file->sha256), 64);
        assert_int_equal(strspn(file->sha256, "0123456789abcdef"), 64);
        assert_ptr_equal(tacit_known_find_sha256(file->sha256), file); /* no digest twice */
        assert_non_null(tacit_known_named(file->name));
        assert_ptr_equal(tacit_known_named(file->name)->set, file->set); /* nor a name in two */
    }
    assert_null(tacit_known_find_sha256(""));
}

static void test_names(void **state)
{
    (void)state;
    const char *const good[] = {"u.data", "ml-100k/u.data", "/a/b/u.data", "u.data.gz",
                                "x/u.data.xz"};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        assert_non_null(tacit_known_named(good[k]));
        assert_string_equal(tacit_known_named(good[k])->set->name, "MovieLens 100K");
    }
    const char *const bad[] = {"", "/", ".gz", "u.dat", "u.data.zip", "u.data/", "my-u.data"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_null(tacit_known_named(bad[k]));
}

static void test_hints(void **state)
{
    (void)state;
    char hint[300], tiny[8];
    tacit_known_hint("somewhere/u.data", hint, sizeof hint);
    assert_string_equal(hint, "; u.data is of MovieLens 100K: get ml-100k.zip from "
                              "https://grouplens.org/datasets/movielens/100k/");
    tacit_known_hint("patients.csv", hint, sizeof hint);
    assert_string_equal(hint, "");
    tacit_known_hint("u.data", tiny, sizeof tiny); /* cut, and ended */
    assert_string_equal(tiny, "; u.dat");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_the_table_is_in_order),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_hints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
