/* SPDX-License-Identifier: Apache-2.0 */
/* Storage of records and the linear-separator task. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/shard.h"

static tacit_data_options small_task(void)
{
    tacit_data_options o;
    tacit_error err;
    assert_int_equal(tacit_options_defaults(&tacit_data_section, &o, &err), TACIT_OK);
    o.agents = 20;
    o.dimension = 7;
    o.test_records = 30;
    o.validation_records = 15;
    return o;
}

static tacit_source draw(const tacit_data_options *o, tacit_scalar scalar, uint64_t seed)
{
    tacit_source s;
    tacit_error err = {0};
    if (tacit_data_linear_separators(&s, o, scalar, seed, &err))
        fail_msg("%s", err.text);
    return s;
}

/* Number k of a batch's x or y. */
static double number(tacit_scalar scalar, const void *values, size_t k)
{
    return scalar == TACIT_F32 ? (double)((const float *)values)[k] : ((const double *)values)[k];
}

/* ---- storage ---- */

static void test_rows_come_back_where_they_were_put(void **state)
{
    (void)state;
    const uint32_t train[] = {2, 0, 3}, test[] = {1, 1, 0};
    const uint32_t *const counts[TACIT_SPLITS] = {train, NULL, test};
    for (int scalar = TACIT_F32; scalar <= TACIT_F64; scalar++) {
        tacit_dataset *data = NULL;
        assert_int_equal(tacit_dataset_create(&data, 3, 2, (tacit_scalar)scalar, counts, NULL), 0);
        for (uint32_t i = 0; i < 3; i++) {
            for (size_t r = 0; r < train[i]; r++) {
                double x[2] = {i, (double)r};
                assert_int_equal(tacit_dataset_put(data, i, TACIT_TRAIN, r, x, 10 * i, NULL), 0);
            }
        }
        tacit_batch b;
        size_t cursor = 0;
        const tacit_shard *shard = tacit_dataset_shard(data, 2, TACIT_TRAIN);
        assert_int_equal(tacit_shard_rows(shard), 3);
        assert_int_equal(tacit_shard_features(shard), 2);
        assert_int_equal(tacit_shard_scalar(shard), scalar);
        assert_true(tacit_shard_next(shard, &cursor, &b));
        assert_int_equal(b.rows, 3);
        for (size_t r = 0; r < 3; r++) {
            assert_true(number((tacit_scalar)scalar, b.x, 2 * r) == 2);
            assert_true(number((tacit_scalar)scalar, b.x, 2 * r + 1) == (double)r);
            assert_true(number((tacit_scalar)scalar, b.y, r) == 20);
        }
        assert_false(tacit_shard_next(shard, &cursor, &b));

        /* Pooled: all agents' rows of the split, in order, as consecutive memory. */
        shard = tacit_dataset_pooled(data, TACIT_TRAIN);
        cursor = 0;
        assert_int_equal(tacit_shard_rows(shard), 5);
        assert_true(tacit_shard_next(shard, &cursor, &b));
        assert_true(number((tacit_scalar)scalar, b.x, 2) == 0 &&
                    number((tacit_scalar)scalar, b.x, 4) == 2);

        /* No rows: a shard that ends at once. */
        cursor = 0;
        shard = tacit_dataset_shard(data, 1, TACIT_VALIDATION);
        assert_int_equal(tacit_shard_rows(shard), 0);
        assert_int_equal(tacit_shard_features(shard), 2);
        assert_false(tacit_shard_next(shard, &cursor, &b));
        tacit_dataset_free(data);
    }
}

static void test_long_shards_come_in_batches(void **state)
{
    (void)state;
    const uint32_t train[] = {2 * TACIT_BATCH_ROWS + 5};
    const uint32_t *const counts[TACIT_SPLITS] = {train, NULL, NULL};
    tacit_dataset *data = NULL;
    assert_int_equal(tacit_dataset_create(&data, 1, 1, TACIT_F32, counts, NULL), 0);
    for (size_t r = 0; r < train[0]; r++) {
        double x = (double)r;
        assert_int_equal(tacit_dataset_put(data, 0, TACIT_TRAIN, r, &x, -x, NULL), 0);
    }
    tacit_batch b;
    size_t cursor = 0, seen = 0, batches = 0;
    while (tacit_shard_next(tacit_dataset_shard(data, 0, TACIT_TRAIN), &cursor, &b)) {
        assert_true(b.rows <= TACIT_BATCH_ROWS);
        for (size_t r = 0; r < b.rows; r++, seen++) {
            assert_true(((const float *)b.x)[r] == (float)seen);
            assert_true(((const float *)b.y)[r] == -(float)seen);
        }
        batches++;
    }
    assert_int_equal(seen, train[0]);
    assert_int_equal(batches, 3);
    tacit_dataset_free(data);
}

static void test_put_refuses_what_is_not_a_number(void **state)
{
    (void)state;
    const uint32_t train[] = {1};
    const uint32_t *const counts[TACIT_SPLITS] = {train, NULL, NULL};
    tacit_dataset *data = NULL;
    tacit_error err;
    tacit_batch b;
    size_t cursor = 0;
    assert_int_equal(tacit_dataset_create(&data, 1, 2, TACIT_F32, counts, NULL), 0);
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e39}; /* the last: too large for f32 */
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        double x[2] = {1, bad[k]};
        assert_int_equal(tacit_dataset_put(data, 0, TACIT_TRAIN, 0, x, 1, &err), TACIT_EINPUT);
        assert_non_null(strstr(err.text, "feature 1"));
        x[1] = 1;
        assert_int_equal(tacit_dataset_put(data, 0, TACIT_TRAIN, 0, x, bad[k], &err), TACIT_EINPUT);
        assert_non_null(strstr(err.text, "label"));
    }
    assert_true(tacit_shard_next(tacit_dataset_shard(data, 0, TACIT_TRAIN), &cursor, &b));
    assert_true(number(TACIT_F32, b.x, 0) == 0 && number(TACIT_F32, b.x, 1) == 0);

    double x[2] = {0};
    assert_int_equal(tacit_dataset_put(data, 0, TACIT_TRAIN, 1, x, 0, &err), TACIT_EINPUT);
    assert_int_equal(tacit_dataset_put(data, 1, TACIT_TRAIN, 0, x, 0, &err), TACIT_EINPUT);
    assert_int_equal(tacit_dataset_put(data, 0, TACIT_TEST, 0, x, 0, &err), TACIT_EINPUT);
    assert_int_equal(tacit_dataset_put(data, 0, TACIT_SPLITS, 0, x, 0, &err), TACIT_EINPUT);
    tacit_dataset_free(data);
}

static void test_absurd_sizes_are_refused(void **state)
{
    (void)state;
    const uint32_t train[] = {UINT32_MAX, UINT32_MAX};
    const uint32_t *const counts[TACIT_SPLITS] = {train, NULL, NULL};
    const uint32_t *const none[TACIT_SPLITS] = {NULL};
    tacit_dataset *data = NULL;
    tacit_error err;
    const size_t features[] = {1000000, SIZE_MAX / 4, SIZE_MAX, 0};
    for (size_t k = 0; k < sizeof features / sizeof *features; k++)
        assert_int_equal(tacit_dataset_create(&data, 2, features[k], TACIT_F64, counts, &err),
                         TACIT_EINPUT);
    assert_int_equal(tacit_dataset_create(&data, 0, 1, TACIT_F64, none, &err), TACIT_EINPUT);
    assert_int_equal(tacit_dataset_create(&data, UINT32_MAX, 1, TACIT_F64, none, &err),
                     TACIT_EINPUT);
    assert_int_equal(tacit_dataset_create(&data, 1, 1, TACIT_I64, none, &err), TACIT_EINPUT);
    assert_null(data);

    tacit_source s;
    tacit_data_options o = small_task();
    o.agents = (int64_t)UINT32_MAX - 1;
    o.dimension = 1 << 20;
    assert_int_equal(tacit_data_linear_separators(&s, &o, TACIT_F32, 1, &err), TACIT_EINPUT);
    assert_non_null(strstr(err.text, "1024 GiB"));
    o = small_task();
    o.agents = (int64_t)UINT32_MAX + 5;
    assert_int_equal(tacit_data_linear_separators(&s, &o, TACIT_F32, 1, &err), TACIT_EINPUT);
}

static void test_a_million_agents_cost_little_beside_their_records(void **state)
{
    (void)state;
    const uint32_t agents = 1000000;
    uint32_t *train = malloc(agents * sizeof *train);
    assert_non_null(train);
    for (uint32_t i = 0; i < agents; i++)
        train[i] = 8;
    const uint32_t *const counts[TACIT_SPLITS] = {train, NULL, NULL};
    tacit_dataset *data = NULL;
    assert_int_equal(tacit_dataset_create(&data, agents, 4, TACIT_F32, counts, NULL), 0);
    uint64_t records = (uint64_t)agents * 8 * 5 * sizeof(float);
    assert_true(tacit_dataset_bytes(data) - records <= 24 * (uint64_t)agents + 1024);
    tacit_dataset_free(data);
    free(train);
}

static void test_names(void **state)
{
    (void)state;
    const uint32_t train[] = {1, 1};
    const uint32_t *const counts[TACIT_SPLITS] = {train, NULL, NULL};
    tacit_dataset *data = NULL;
    char buffer[TACIT_NUMBER_MAX], longest[TACIT_NAME_MAX + 1];
    assert_int_equal(tacit_dataset_create(&data, 2, 1, TACIT_F32, counts, NULL), 0);
    assert_string_equal(tacit_dataset_name(data, 1, buffer), "1");
    assert_int_equal(tacit_dataset_set_name(data, 1, "ward-b", NULL), 0);
    assert_int_equal(tacit_dataset_set_name(data, 1, "station \xc3\xa9", NULL), 0);
    assert_string_equal(tacit_dataset_name(data, 1, buffer), "station \xc3\xa9");
    assert_string_equal(tacit_dataset_name(data, 0, buffer), "0");
    memset(longest, 'a', sizeof longest);
    longest[TACIT_NAME_MAX] = '\0';
    const char *const bad[] = {
        "",     "a\nb", "\x7f",     "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xff", "\x80", "\xe2\x82", longest};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_equal(tacit_dataset_set_name(data, 1, bad[k], NULL), TACIT_EINPUT);
    assert_int_equal(tacit_dataset_set_name(data, 2, "x", NULL), TACIT_EINPUT);
    assert_string_equal(tacit_dataset_name(data, 1, buffer), "station \xc3\xa9");
    tacit_dataset_free(data);
    tacit_dataset_free(NULL);
}

/* ---- linear separators ---- */

/* Are all rows of agent i the same in both? */
static void assert_same_agent(const tacit_source *a, const tacit_source *b, uint32_t i)
{
    size_t features = tacit_dataset_features(a->data);
    for (int split = 0; split < TACIT_SPLITS; split++) {
        const tacit_shard *x = tacit_dataset_shard(a->data, i, (tacit_split)split);
        const tacit_shard *y = tacit_dataset_shard(b->data, i, (tacit_split)split);
        assert_int_equal(tacit_shard_rows(x), tacit_shard_rows(y));
        size_t cx = 0, cy = 0;
        tacit_batch p, q;
        while (tacit_shard_next(x, &cx, &p) && tacit_shard_next(y, &cy, &q)) {
            assert_int_equal(p.rows, q.rows);
            assert_memory_equal(p.x, q.x, p.rows * features * sizeof(double));
            assert_memory_equal(p.y, q.y, p.rows * sizeof(double));
        }
    }
    assert_memory_equal(&a->targets.dense[2 * i], &b->targets.dense[2 * i], 2 * sizeof(double));
}

static void test_an_agent_does_not_depend_on_others(void **state)
{
    (void)state;
    tacit_data_options o = small_task();
    o.agents = 10;
    tacit_source few = draw(&o, TACIT_F64, 42);
    o.agents = 100;
    tacit_source many = draw(&o, TACIT_F64, 42);
    for (uint32_t i = 0; i < 10; i++)
        assert_same_agent(&few, &many, i);
    assert_memory_not_equal(&many.targets.dense[0], &many.targets.dense[2], sizeof(double));
    tacit_source other = draw(&o, TACIT_F64, 43);
    assert_memory_not_equal(many.targets.dense, other.targets.dense, sizeof(double));
    tacit_source_clear(&few);
    tacit_source_clear(&many);
    tacit_source_clear(&other);
    assert_null(other.data);
}

static void test_train_rows_are_in_the_range_asked_for(void **state)
{
    (void)state;
    tacit_data_options o = small_task();
    o.agents = 3000;
    o.dimension = 2;
    o.min_records = 3;
    o.max_records = 5;
    o.test_records = 0;
    o.validation_records = 1;
    tacit_source s = draw(&o, TACIT_F32, 5);
    int seen[6] = {0};
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t m = tacit_dataset_rows(s.data, i, TACIT_TRAIN);
        assert_in_range(m, 3, 5);
        seen[m]++;
        assert_int_equal(tacit_dataset_rows(s.data, i, TACIT_TEST), 0);
        assert_int_equal(tacit_dataset_rows(s.data, i, TACIT_VALIDATION), 1);
    }
    for (int m = 3; m <= 5; m++)
        assert_in_range(seen[m], 880, 1120); /* 1000 +- 4.6 deviations */
    tacit_source_clear(&s);
}

/* Share of labels that differ from sign(target . x). */
static double flip_rate(const tacit_source *s, tacit_split split)
{
    size_t features = tacit_dataset_features(s->data), wrong = 0, rows = 0;
    for (uint32_t i = 0; i < tacit_dataset_agents(s->data); i++) {
        const double *target = &s->targets.dense[2 * i];
        tacit_batch b;
        size_t cursor = 0;
        while (tacit_shard_next(tacit_dataset_shard(s->data, i, split), &cursor, &b)) {
            for (size_t r = 0; r < b.rows; r++, rows++) {
                const double *x = (const double *)b.x + r * features;
                double y = ((const double *)b.y)[r];
                assert_true(y == 1 || y == -1);
                wrong += (target[0] * x[0] + target[1] * x[1] >= 0 ? 1 : -1) != (int)y;
            }
        }
    }
    return (double)wrong / (double)rows;
}

static void test_labels_follow_the_target_but_for_the_noise(void **state)
{
    (void)state;
    tacit_data_options o = small_task();
    o.agents = 200;
    o.min_records = 150; /* several streams a split */
    o.max_records = 250;
    o.validation_records = 200;
    tacit_source s = draw(&o, TACIT_F64, 7);
    assert_float_equal(flip_rate(&s, TACIT_TRAIN), 0.05, 0.005); /* 40,000 rows: 4.6 deviations */
    assert_float_equal(flip_rate(&s, TACIT_VALIDATION), 0.05, 0.005);
    assert_true(flip_rate(&s, TACIT_TEST) == 0);
    tacit_source_clear(&s);
    o.label_noise = 1;
    s = draw(&o, TACIT_F64, 7);
    assert_true(flip_rate(&s, TACIT_TRAIN) == 1);
    tacit_source_clear(&s);
}

static void test_coordinates_are_uniform(void **state)
{
    (void)state;
    tacit_data_options o = small_task();
    o.agents = 100;
    tacit_source s = draw(&o, TACIT_F64, 3);
    tacit_batch b;
    size_t cursor = 0, n = 0;
    double sum = 0, squares = 0;
    while (tacit_shard_next(tacit_dataset_pooled(s.data, TACIT_TRAIN), &cursor, &b)) {
        for (size_t k = 0; k < b.rows * 7; k++, n++) {
            double x = ((const double *)b.x)[k];
            assert_true(x > -1 && x < 1);
            sum += x;
            squares += x * x;
        }
    }
    assert_true(fabs(sum / (double)n) < 5 / sqrt(3 * (double)n));
    assert_true(fabs(squares / (double)n - 1.0 / 3) < 5 * 0.3 / sqrt((double)n));
    tacit_source_clear(&s);
}

/* Which records a seed stands for is part of every published result: keep it. */
static void test_the_records_of_a_seed_are_pinned(void **state)
{
    (void)state;
    const double expected[TACIT_SPLITS][3] = {
        {-0.77258111233823001, 0.22887241677381098, -0.81871751486323774},
        {-0.67026880686171353, 0.37185511761344969, 0.24405081965960562},
        {0.77359151071868837, -0.82520936825312674, -0.90622533089481294},
    };
    const size_t row[TACIT_SPLITS] = {65, 1, 1}; /* 65: in the second stream of the split */
    tacit_data_options o = small_task();
    o.agents = 2;
    o.dimension = 3;
    o.min_records = 70;
    o.max_records = 80;
    tacit_source s = draw(&o, TACIT_F64, 1);
    assert_float_equal(s.targets.dense[2], -0.84501125070376992, 1e-14);
    assert_float_equal(s.targets.dense[3], -0.29298145491879907, 1e-14);
    assert_int_equal(tacit_dataset_rows(s.data, 1, TACIT_TRAIN), 76);
    for (int split = 0; split < TACIT_SPLITS; split++) {
        tacit_batch b;
        size_t cursor = 0;
        assert_true(
            tacit_shard_next(tacit_dataset_shard(s.data, 1, (tacit_split)split), &cursor, &b));
        for (size_t k = 0; k < 3; k++)
            assert_true(((const double *)b.x)[3 * row[split] + k] == expected[split][k]);
    }
    tacit_source_clear(&s);
}

/* Norms in long double: the bound must hold for the stored numbers themselves. */
static void test_rows_respect_the_bound(void **state)
{
    (void)state;
    for (int bound = TACIT_BOUND_L2; bound <= TACIT_BOUND_L1; bound++) {
        for (int scalar = TACIT_F32; scalar <= TACIT_F64; scalar++) {
            tacit_data_options o = small_task();
            o.bound = bound;
            o.dimension = 40;
            tacit_source s = draw(&o, (tacit_scalar)scalar, 9);
            tacit_batch b;
            size_t cursor = 0;
            long double largest = 0;
            while (tacit_shard_next(tacit_dataset_pooled(s.data, TACIT_TRAIN), &cursor, &b)) {
                for (size_t r = 0; r < b.rows; r++) {
                    long double sum = 0;
                    for (size_t k = 0; k < 40; k++) {
                        long double x = number((tacit_scalar)scalar, b.x, r * 40 + k);
                        sum += bound == TACIT_BOUND_L2 ? x * x : fabsl(x);
                    }
                    assert_true(sum <= 1);
                    largest = sum > largest ? sum : largest;
                }
            }
            assert_true(largest > 0.999999L); /* 40 uniform coordinates: always scaled to 1 */
            tacit_source_clear(&s);
        }
    }
}

static void test_task_options_are_checked(void **state)
{
    (void)state;
    tacit_source s;
    tacit_error err;
    tacit_data_options o = small_task();
    o.min_records = 11;
    o.max_records = 10;
    assert_int_equal(tacit_data_load(&s, &o, TACIT_F32, 1, &err), TACIT_EINPUT);
    assert_string_equal(err.text, "data.min-records \"11\" is above data.max-records \"10\"; swap "
                                  "them or raise max-records");
    o = small_task();
    o.dimension = 1;
    assert_int_equal(tacit_data_load(&s, &o, TACIT_F32, 1, &err), TACIT_EINPUT);
    o = small_task();
    o.label_noise = NAN;
    assert_int_equal(tacit_data_load(&s, &o, TACIT_F32, 1, &err), TACIT_EINPUT);
    o = small_task();
    o.min_records = 0;
    assert_int_equal(tacit_data_load(&s, &o, TACIT_F32, 1, &err), TACIT_EINPUT);
    o = small_task();
    assert_int_equal(tacit_data_load(&s, &o, TACIT_I64, 1, &err), TACIT_EINPUT);
    o.source = 1;
    assert_int_equal(tacit_data_load(&s, &o, TACIT_F32, 1, &err), TACIT_EINPUT);
    assert_string_equal(err.text, "data.path is empty; name the file to read");
    memcpy(o.path, "/", 2);
    assert_int_equal(tacit_data_load(&s, &o, TACIT_F32, 1, &err), TACIT_EINPUT);
    assert_string_equal(err.text, "\"/\" is a folder; expected a file");
    memcpy(o.path, "no-such-file.csv", 17);
    assert_int_equal(tacit_data_load(&s, &o, TACIT_F32, 1, &err), TACIT_EINPUT);
    assert_string_equal(err.text, "cannot open \"no-such-file.csv\": No such file or directory");
    assert_null(s.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_come_back_where_they_were_put),
        cmocka_unit_test(test_long_shards_come_in_batches),
        cmocka_unit_test(test_put_refuses_what_is_not_a_number),
        cmocka_unit_test(test_absurd_sizes_are_refused),
        cmocka_unit_test(test_a_million_agents_cost_little_beside_their_records),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_an_agent_does_not_depend_on_others),
        cmocka_unit_test(test_train_rows_are_in_the_range_asked_for),
        cmocka_unit_test(test_labels_follow_the_target_but_for_the_noise),
        cmocka_unit_test(test_coordinates_are_uniform),
        cmocka_unit_test(test_the_records_of_a_seed_are_pinned),
        cmocka_unit_test(test_rows_respect_the_bound),
        cmocka_unit_test(test_task_options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
