/* SPDX-License-Identifier: Apache-2.0 */
/* data.without: the first agents have no records, and nothing changes for the others. */
#include "testing.h"

#include <stdio.h>
#include <string.h>

static tacit_data_options defaults(void)
{
    tacit_data_options o;
    tacit_error err = {0};
    check_ok(tacit_options_defaults(&tacit_data_section, &o, &err), &err);
    return o;
}

static const char *const csv = "agent,a,label\n"
                               "0,1,1\n0,2,1\n1,3,-1\n0,4,1\nwest,5,-1\nwest,6,1\n1,7,1\n0,8,-1\n";

static tacit_status load(tacit_source *out, const tacit_data_options *o, tacit_error *err)
{
    return tacit_data_csv_text(out, o, "x.csv", csv, strlen(csv), TACIT_F64, 3, err);
}

/* Records of all splits. */
static uint32_t rows(const tacit_source *s, uint32_t agent)
{
    uint32_t sum = 0;
    for (int split = 0; split < TACIT_SPLITS; split++)
        sum += tacit_dataset_rows(s->data, agent, (tacit_split)split);
    return sum;
}

static void test_agents_of_a_table_follow(void **state)
{
    (void)state;
    tacit_data_options o = defaults();
    tacit_error err = {0};
    tacit_source s;
    char number[TACIT_NUMBER_MAX];
    static const uint32_t want[] = {0, 0, 4, 2, 2};
    static const char *const names[] = {"without-0", "without-1", "0", "1", "west"};
    o.without = 2;
    check_ok(load(&s, &o, &err), &err);
    assert_int_equal(tacit_dataset_agents(s.data), 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(rows(&s, i), want[i]);
        assert_string_equal(tacit_dataset_name(s.data, i, number), names[i]);
    }
    tacit_source_clear(&s);
}

/* Dealt to the others as if there were only them. */
static void test_partitions_deal_to_the_others(void **state)
{
    (void)state;
    for (int p = TACIT_PARTITION_IID; p <= TACIT_PARTITION_CLASSES; p++) {
        tacit_data_options o = defaults();
        tacit_error err = {0};
        tacit_source all, some;
        o.partition = p;
        o.agents = 3;
        o.shards = 1;
        o.test_fraction = 0; /* lots for splits are an agent's own, and its number moves */
        check_ok(load(&all, &o, &err), &err);
        o.agents = 5;
        o.without = 2;
        check_ok(load(&some, &o, &err), &err);
        assert_int_equal(tacit_dataset_agents(some.data), 5);
        assert_int_equal(rows(&some, 0) + rows(&some, 1), 0);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(rows(&some, i + 2), rows(&all, i));
        tacit_source_clear(&all);
        tacit_source_clear(&some);
    }
}

static void test_separators_stay_as_they_are(void **state)
{
    (void)state;
    tacit_data_options o = defaults();
    tacit_error err = {0};
    tacit_source all, some;
    o.agents = 5;
    o.dimension = 3;
    check_ok(tacit_data_linear_separators(&all, &o, TACIT_F64, 7, &err), &err);
    o.without = 2;
    check_ok(tacit_data_linear_separators(&some, &o, TACIT_F64, 7, &err), &err);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(rows(&some, i), i < 2 ? 0 : rows(&all, i));
    tacit_source_clear(&all);
    tacit_source_clear(&some);
}

static void test_somebody_must_have_records(void **state)
{
    (void)state;
    tacit_data_options o = defaults();
    tacit_error err = {0};
    tacit_source s;
    o.partition = TACIT_PARTITION_IID;
    o.agents = o.without = 3;
    check_fails(load(&s, &o, &err), TACIT_EINPUT, &err, "data.without is \"3\" of 3 agents");
    o.without = -1;
    check_fails(load(&s, &o, &err), TACIT_EINPUT, &err, "data.without");
    o.partition = TACIT_PARTITION_OWN;
    o.without = TACIT_WITHOUT_MOST + 1;
    check_fails(load(&s, &o, &err), TACIT_EINPUT, &err, "data.without");
    o = defaults();
    o.agents = o.without = 4;
    check_fails(tacit_data_linear_separators(&s, &o, TACIT_F64, 7, &err), TACIT_EINPUT, &err,
                "somebody must have records");
    o = defaults();
    o.source = TACIT_SOURCE_SHARDS;
    o.without = 1;
    snprintf(o.path, sizeof o.path, "nowhere");
    check_fails(tacit_data_load(&s, &o, TACIT_F64, 7, &err), TACIT_EINPUT, &err, "data.without");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agents_of_a_table_follow),
        cmocka_unit_test(test_partitions_deal_to_the_others),
        cmocka_unit_test(test_separators_stay_as_they_are),
        cmocka_unit_test(test_somebody_must_have_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
