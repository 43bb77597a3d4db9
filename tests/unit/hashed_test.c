/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of words that are hashed into buckets: one 1 a column, the same for the same word
 * wherever it stands, spread evenly, and unlike in unlike columns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/csv_plan.h"
#include "data/shard.h"
#include "testing.h"

static tacit_data_options hashed(const char *columns, int64_t buckets)
{
    tacit_data_options o = {.source = TACIT_SOURCE_CSV,
                            .header = true,
                            .label_column = "y",
                            .missing = "?",
                            .partition = TACIT_PARTITION_IID,
                            .agents = 1,
                            .buckets = buckets};
    snprintf(o.hashed, sizeof o.hashed, "%s", columns);
    return o;
}

static const char table[] = "site,age,app,y\nabc,3,x,1\nde,4,x,-1\nabc,5,,1\n";

static void test_features(void **state)
{
    (void)state;
    tacit_data_options o = hashed(" app ,site", 8);
    tacit_error err = {0};
    tacit_source s;
    check_ok(tacit_data_csv_text(&s, &o, "t.csv", table, sizeof table - 1, TACIT_F64, 1, &err),
             &err);
    assert_int_equal(tacit_dataset_features(s.data), 17);
    size_t cursor = 0;
    tacit_batch b;
    assert_true(tacit_shard_next(tacit_dataset_shard(s.data, 0, TACIT_TRAIN), &cursor, &b));
    assert_int_equal(b.rows, 3);
    for (size_t r = 0; r < 3; r++) {
        const double *x = (const double *)b.x + r * 17;
        const double age = x[8];
        assert_true(age >= 3 && age <= 5);
        const char *site = age == 4 ? "de" : "abc", *app = age == 5 ? "" : "x";
        for (uint32_t k = 0; k < 8; k++) {
            assert_true(x[k] == (k == tacit_csv_bucket("site", site, strlen(site), 8)));
            assert_true(x[9 + k] == (k == tacit_csv_bucket("app", app, strlen(app), 8)));
        }
    }
    tacit_source_clear(&s);
}

/* 20,000 words in 32 buckets: 625 each, deviation 24.6; bounds of 5.5 deviations, a false alarm
 * once in 800,000 functions. These numbers are fixed. */
static void test_spread(void **state)
{
    (void)state;
    uint32_t count[32] = {0}, same = 0;
    for (uint32_t k = 0; k < 20000; k++) {
        char word[20];
        size_t len = (size_t)snprintf(word, sizeof word, "%08x", k * 7);
        count[tacit_csv_bucket("site", word, len, 32)]++;
        same += tacit_csv_bucket("site", word, len, 32) == tacit_csv_bucket("app", word, len, 32);
    }
    for (size_t k = 0; k < 32; k++)
        assert_in_range(count[k], 625 - 135, 625 + 135);
    assert_in_range(same, 625 - 135, 625 + 135);
    /* what is stored by one version must be read by the next */
    assert_int_equal(tacit_csv_bucket("site", "abc", 3, 4096), 2403);
}

static void test_refusals(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_source s;
    static const struct {
        const char *columns;
        int64_t buckets;
        const char *word;
    } bad[] = {{"nobody", 8, "no column \"nobody\" for data.hashed"},
               {"site, site", 8, "there twice"},
               {"y", 8, "which is the label"},
               {"site", 1, "data.buckets"},
               {"site", 100000, "data.buckets"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tacit_data_options o = hashed(bad[k].columns, bad[k].buckets);
        check_fails(
            tacit_data_csv_text(&s, &o, "t.csv", table, sizeof table - 1, TACIT_F64, 1, &err),
            TACIT_EINPUT, &err, bad[k].word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
