/* SPDX-License-Identifier: Apache-2.0 */
/* From a table to agents: splits, missing values, scale, bias, bound, storage. */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/dataset.h"
#include "data/describe.h"
#include "data/shard.h"
#include "data/standardise.h"
#include "data/table.h"

static tacit_data_options plain(void)
{
    tacit_data_options o;
    tacit_error err = {0};
    check_ok(tacit_options_defaults(&tacit_data_section, &o, &err), &err);
    o.test_fraction = 0;
    o.missing_rule = TACIT_MISSING_ZERO;
    return o;
}

/* ---- tables ---- */

static tacit_table make_table(size_t rows, size_t features, tacit_scalar scalar)
{
    tacit_table t = {0};
    tacit_error err = {0};
    tacit_data_options o = plain();
    check_ok(tacit_table_create(&t, rows, features, scalar, &o, &err), &err);
    return t;
}

static void put(tacit_table *t, size_t row, const double *x, double y)
{
    tacit_error err = {0};
    check_ok(tacit_table_put(t, row, x, y, &err), &err);
}

/* Record k belongs to "agent-<k % agents>". */
static void own(tacit_table *t, uint32_t agents)
{
    tacit_error err = {0};
    t->owner = calloc(t->rows, sizeof *t->owner);
    assert_non_null(t->owner);
    for (size_t k = 0; k < t->rows; k++) {
        char name[40];
        bool added;
        int len = snprintf(name, sizeof name, "agent-%zu", k % agents);
        check_ok(tacit_names_intern(&t->owners, name, (size_t)len, &t->owner[k], &added, &err),
                 &err);
    }
}

/* Numbers drawn by the test, feature 0 counts the records; labels 0, 1, 2. */
static tacit_table random_table(size_t rows, size_t features, tacit_scalar scalar, uint64_t seed)
{
    tacit_table t = make_table(rows, features, scalar);
    double x[40];
    dice d = {.state = seed};
    assert_true(features <= 40);
    for (size_t k = 0; k < rows; k++) {
        for (size_t f = 0; f < features; f++)
            x[f] = 10 * (double)f + (double)(f + 1) * dice_normal(&d);
        x[0] = (double)k;
        put(&t, k, x, (double)dice_below(&d, 3));
    }
    return t;
}

static tacit_source deal(const tacit_table *t, const tacit_data_options *o, uint64_t seed)
{
    tacit_source s;
    tacit_error err = {0};
    check_ok(tacit_table_deal(&s, t, o, seed, &err), &err);
    return s;
}

/* Row r of an agent's split, as doubles; returns its label. */
static double get(const tacit_source *s, uint32_t agent, tacit_split split, size_t row, double *x)
{
    const tacit_shard *shard = tacit_dataset_shard(s->data, agent, split);
    size_t features = tacit_shard_features(shard), cursor = 0, before = 0;
    tacit_batch b;
    while (tacit_shard_next(shard, &cursor, &b)) {
        for (size_t r = 0; r < b.rows; r++, before++) {
            bool f32 = tacit_shard_scalar(shard) == TACIT_F32;
            if (before != row)
                continue;
            for (size_t k = 0; k < features; k++)
                x[k] = f32 ? (double)((const float *)b.x)[r * features + k]
                           : ((const double *)b.x)[r * features + k];
            return f32 ? (double)((const float *)b.y)[r] : ((const double *)b.y)[r];
        }
    }
    fail_msg("agent %u has no row %zu", agent, row);
    return NAN;
}

/* ---- splits ---- */

static void test_every_record_is_somewhere_once(void **state)
{
    (void)state;
    tacit_table t = random_table(1000, 3, TACIT_F64, 1);
    own(&t, 7);
    for (int p = TACIT_PARTITION_OWN; p <= TACIT_PARTITION_CLASSES; p++) {
        tacit_data_options o = plain();
        int seen[1000] = {0};
        o.partition = p;
        o.agents = 11;
        o.test_fraction = 0.3;
        o.validation_fraction = 0.2;
        tacit_source s = deal(&t, &o, 9);
        for (uint32_t i = 0; i < tacit_dataset_agents(s.data); i++) {
            uint32_t m = 0;
            for (int split = 0; split < TACIT_SPLITS; split++) {
                double last = -1, x[3];
                uint32_t rows = tacit_dataset_rows(s.data, i, (tacit_split)split);
                for (uint32_t r = 0; r < rows; r++) {
                    double y = get(&s, i, (tacit_split)split, r, x);
                    seen[(int)x[0]]++;
                    assert_true(y == t.y[(int)x[0]]);
                    assert_true(x[0] > last); /* in the file's order */
                    last = x[0];
                }
                m += rows;
            }
            if (m > 1)
                assert_int_equal(tacit_dataset_rows(s.data, i, TACIT_TEST),
                                 (uint32_t)floor(0.3 * m + 0.5));
        }
        for (int k = 0; k < 1000; k++)
            assert_int_equal(seen[k], 1);
        tacit_source_clear(&s);
    }
    tacit_table_clear(&t);
}

/* Which records of a seed are for test is part of every published result: keep it. */
static void test_the_split_of_a_seed_is_pinned(void **state)
{
    (void)state;
    const double expected[2][4] = {{0, 4, 6, 14}, {15, 19, 3, 13}};
    tacit_table t = random_table(20, 2, TACIT_F64, 1);
    own(&t, 2);
    tacit_data_options o = plain();
    o.test_fraction = 0.2;
    o.validation_fraction = 0.2;
    tacit_source s = deal(&t, &o, 1);
    for (uint32_t i = 0; i < 2; i++) {
        for (size_t r = 0; r < 4; r++) {
            double x[2];
            get(&s, i, r < 2 ? TACIT_TEST : TACIT_VALIDATION, r % 2, x);
            assert_true(x[0] == expected[i][r]);
        }
    }
    tacit_source_clear(&s);
    tacit_table_clear(&t);
}

static void test_names_are_kept_where_the_table_has_them(void **state)
{
    (void)state;
    char number[TACIT_NUMBER_MAX];
    tacit_table t = random_table(20, 2, TACIT_F32, 1);
    own(&t, 2);
    tacit_data_options o = plain();
    tacit_source s = deal(&t, &o, 1);
    assert_string_equal(tacit_dataset_name(s.data, 1, number), "agent-1");
    tacit_source_clear(&s);
    o.partition = TACIT_PARTITION_IID;
    o.agents = 3;
    s = deal(&t, &o, 1);
    assert_string_equal(tacit_dataset_name(s.data, 1, number), "1");
    tacit_source_clear(&s);
    tacit_table_clear(&t);
}

static void test_one_record_stays_to_train_on(void **state)
{
    (void)state;
    tacit_table t = random_table(6, 1, TACIT_F64, 1);
    own(&t, 3); /* two records each */
    tacit_data_options o = plain();
    o.test_fraction = 0.6;
    o.validation_fraction = 0.35;
    tacit_source s = deal(&t, &o, 1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(tacit_dataset_rows(s.data, i, TACIT_TRAIN), 1);
        assert_int_equal(tacit_dataset_rows(s.data, i, TACIT_TEST), 1);
    }
    tacit_source_clear(&s);
    tacit_error err = {0};
    o.validation_fraction = 0.4;
    check_fails(tacit_table_deal(&s, &t, &o, 1, &err), TACIT_EINPUT, &err,
                "leave nothing to train on");
    assert_null(s.data);
    tacit_table_clear(&t);
}

static void test_agents_without_records(void **state)
{
    (void)state;
    tacit_table t = random_table(300, 2, TACIT_F32, 2);
    tacit_data_options o = plain();
    o.partition = TACIT_PARTITION_DIRICHLET;
    o.agents = 50;
    o.alpha = 1e-6; /* three classes: at least 47 agents have nothing */
    o.test_fraction = 0.5;
    o.standardise = TACIT_STANDARDISE_AGENT;
    o.missing_rule = TACIT_MISSING_MEAN;
    tacit_source s = deal(&t, &o, 4);
    uint32_t empty = 0;
    assert_int_equal(tacit_dataset_agents(s.data), 50);
    for (uint32_t i = 0; i < 50; i++)
        empty += tacit_dataset_rows(s.data, i, TACIT_TRAIN) == 0;
    assert_in_range(empty, 47, 49);
    tacit_source_clear(&s);
    tacit_table_clear(&t);
}

/* ---- missing values ---- */

/* Agent 0: x = 1, ?, 3; agent 1: x = ?, ?; agent 2: 4 and a record without a label. */
static tacit_table holed_table(void)
{
    const double x[] = {1, NAN, 3, NAN, NAN, 4, 5};
    const uint32_t owner[] = {0, 0, 0, 1, 1, 2, 2};
    tacit_table t = make_table(7, 2, TACIT_F64);
    own(&t, 3);
    for (size_t k = 0; k < 7; k++) {
        double both[2] = {x[k], (double)k};
        put(&t, k, both, 1);
        t.owner[k] = owner[k];
    }
    assert_true(t.missing);
    t.y[6] = NAN;
    return t;
}

static void test_missing_values_become_zero_or_means(void **state)
{
    (void)state;
    double x[2];
    for (int rule = TACIT_MISSING_ZERO; rule <= TACIT_MISSING_MEAN; rule++) {
        tacit_table t = holed_table();
        tacit_data_options o = plain();
        o.missing_rule = rule;
        tacit_source s = deal(&t, &o, 1);
        assert_int_equal(s.dropped, 1); /* the one without a label */
        assert_int_equal(s.leaks, rule == TACIT_MISSING_MEAN ? TACIT_LEAK_FEATURES : 0);
        get(&s, 0, TACIT_TRAIN, 1, x);
        assert_true(x[0] == (rule == TACIT_MISSING_MEAN ? 2 : 0) && x[1] == 1);
        get(&s, 1, TACIT_TRAIN, 0, x);
        assert_true(x[0] == 0 && x[1] == 3); /* no training value to take a mean of */
        assert_int_equal(tacit_dataset_rows(s.data, 2, TACIT_TRAIN), 1);
        tacit_source_clear(&s);
        tacit_table_clear(&t);
    }
}

/* Twelve records of two agents; the one at `hole` lacks a feature, or its label. */
static tacit_table twelve(int hole, bool label)
{
    tacit_table t = make_table(12, 2, TACIT_F64);
    own(&t, 2);
    for (int k = 0; k < 12; k++) {
        const double x[2] = {k == hole && !label ? NAN : 3 + k, 1 + k};
        put(&t, (size_t)k, x, 2);
    }
    if (hole >= 0 && label) {
        t.missing = true;
        t.y[hole] = NAN;
    }
    return t;
}

/* With data.keep-count a hole in one record changes that record and nothing else: neither how many
 * there are for training, nor which, nor any other. It has become zeros, the bias too, and where
 * it would be scored on it is left out. */
static void test_holes_do_not_change_counts(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    o.missing_rule = TACIT_MISSING_DROP;
    o.keep_count = true;
    o.bias = true;
    o.test_fraction = 0.34;
    tacit_table whole = twelve(-1, false);
    tacit_source a = deal(&whole, &o, 1);
    uint32_t blanks = 0, left_out = 0;
    for (int hole = 0; hole < 24; hole++) {
        tacit_table t = twelve(hole % 12, hole >= 12);
        tacit_source b = deal(&t, &o, 1);
        assert_int_equal(b.leaks, 0);
        assert_int_equal(b.blank, 1);
        assert_int_equal(b.dropped, 0);
        for (uint32_t i = 0; i < 2; i++) {
            const uint32_t rows = tacit_dataset_rows(a.data, i, TACIT_TRAIN);
            assert_int_equal(tacit_dataset_rows(b.data, i, TACIT_TRAIN), rows);
            left_out += tacit_dataset_rows(a.data, i, TACIT_TEST) -
                        tacit_dataset_rows(b.data, i, TACIT_TEST);
            for (uint32_t r = 0; r < rows; r++) {
                double x[3], y[3];
                get(&a, i, TACIT_TRAIN, r, x);
                get(&b, i, TACIT_TRAIN, r, y);
                if ((int)x[0] - 3 != hole % 12) {
                    assert_memory_equal(x, y, sizeof x);
                    continue;
                }
                assert_true(y[0] == 0 && y[1] == 0 && y[2] == 0);
                blanks++;
            }
        }
        tacit_source_clear(&b);
        tacit_table_clear(&t);
    }
    assert_int_equal(blanks, 16);
    assert_int_equal(left_out, 8);
    tacit_source_clear(&a);
    tacit_table_clear(&whole);
    tacit_error err = {0};
    tacit_table t = twelve(3, false);
    o.partition = TACIT_PARTITION_DIRICHLET;
    check_fails(tacit_table_deal(&a, &t, &o, 1, &err), TACIT_EINPUT, &err, "data.keep-count");
    tacit_table_clear(&t);
}

static void test_records_with_holes_are_dropped(void **state)
{
    (void)state;
    tacit_table t = holed_table();
    tacit_data_options o = plain();
    tacit_error err = {0};
    o.missing_rule = TACIT_MISSING_DROP;
    tacit_source s = deal(&t, &o, 1);
    assert_int_equal(s.dropped, 4);
    assert_int_equal(s.leaks, TACIT_LEAK_COUNT); /* one hole more, and one record less */
    assert_int_equal(tacit_dataset_agents(s.data), 3);
    assert_int_equal(tacit_dataset_rows(s.data, 0, TACIT_TRAIN), 2);
    assert_int_equal(tacit_dataset_rows(s.data, 1, TACIT_TRAIN), 0);
    tacit_source_clear(&s);
    for (size_t k = 0; k < 7; k++) {
        const double nothing[2] = {NAN, 0};
        put(&t, k, nothing, 1);
    }
    check_fails(tacit_table_deal(&s, &t, &o, 1, &err), TACIT_EINPUT, &err, "no record is left");
    tacit_table_clear(&t);
}

/* Means come from training records only. */
static void test_held_out_records_do_not_count(void **state)
{
    (void)state;
    tacit_table t = random_table(40, 2, TACIT_F64, 3);
    own(&t, 1);
    const double hole[2] = {1000, NAN};
    put(&t, 39, hole, 0);
    tacit_data_options o = plain();
    o.missing_rule = TACIT_MISSING_MEAN;
    o.test_fraction = 0.5;
    tacit_source s = deal(&t, &o, 2);
    double sum = 0, n = 0, filled = NAN;
    for (int split = TACIT_TRAIN; split <= TACIT_TEST; split += TACIT_TEST) {
        for (size_t r = 0; r < 20; r++) {
            double x[2];
            get(&s, 0, (tacit_split)split, r, x);
            if (x[0] == 1000) {
                filled = x[1];
            } else if (split == TACIT_TRAIN) {
                sum += x[1];
                n++;
            }
        }
    }
    assert_true(fabs(filled - sum / n) < 1e-12);
    tacit_source_clear(&s);
    tacit_table_clear(&t);
}

/* ---- scale ---- */

/* Mean and deviation of a feature over an agent's training records (all agents: -1). */
static void moments(const tacit_source *s, int agent, size_t feature, double *mean, double *dev)
{
    double x[64], sum = 0, squares = 0, n = 0;
    for (uint32_t i = 0; i < tacit_dataset_agents(s->data); i++) {
        for (size_t r = 0; r < tacit_dataset_rows(s->data, i, TACIT_TRAIN); r++) {
            if (agent >= 0 && i != (uint32_t)agent)
                continue;
            get(s, i, TACIT_TRAIN, r, x);
            sum += x[feature];
            squares += x[feature] * x[feature];
            n++;
        }
    }
    *mean = sum / n;
    *dev = sqrt(squares / n - *mean * *mean);
}

static void test_each_agent_is_standardised(void **state)
{
    (void)state;
    tacit_table t = random_table(300, 4, TACIT_F64, 4);
    own(&t, 3);
    for (size_t k = 0; k < 300; k++)
        ((double *)t.x.bytes)[4 * k + 3] = 0.1 * 3; /* a constant with a rounded mean */
    tacit_data_options o = plain();
    o.standardise = TACIT_STANDARDISE_AGENT;
    o.test_fraction = 0.4;
    o.bias = true;
    tacit_source s = deal(&t, &o, 5);
    assert_int_equal(tacit_dataset_features(s.data), 5);
    assert_int_equal(s.leaks, TACIT_LEAK_SCALE);
    for (int i = 0; i < 3; i++) {
        double mean, dev, x[5];
        for (size_t f = 0; f < 3; f++) {
            moments(&s, i, f, &mean, &dev);
            assert_true(fabs(mean) < 1e-12 && fabs(dev - 1) < 1e-12);
        }
        get(&s, (uint32_t)i, TACIT_TRAIN, 7, x);
        assert_true(x[3] == 0); /* constant */
        assert_true(x[4] == 1); /* bias */
        get(&s, (uint32_t)i, TACIT_TEST, 3, x);
        assert_true(x[3] == 0 && x[4] == 1);
        /* Test records are scaled by the training records' numbers: not to mean 0. */
        double sum = 0;
        for (size_t r = 0; r < 40; r++) {
            get(&s, (uint32_t)i, TACIT_TEST, r, x);
            sum += x[1];
        }
        assert_true(fabs(sum / 40) > 1e-6 && fabs(sum / 40) < 1);
    }
    tacit_source_clear(&s);
    tacit_table_clear(&t);
}

static void test_pooled_scale_is_one_for_all(void **state)
{
    (void)state;
    double mean, dev;
    tacit_table t = random_table(300, 4, TACIT_F64, 5);
    own(&t, 3);
    tacit_data_options o = plain();
    o.standardise = TACIT_STANDARDISE_POOLED;
    o.test_fraction = 0.4;
    tacit_source s = deal(&t, &o, 5);
    assert_int_equal(s.leaks, TACIT_LEAK_SCALE);
    for (size_t f = 0; f < 4; f++) {
        moments(&s, -1, f, &mean, &dev);
        assert_true(fabs(mean) < 1e-12 && fabs(dev - 1) < 1e-12);
    }
    moments(&s, 0, 1, &mean, &dev);
    assert_true(fabs(mean) > 1e-6);
    tacit_source_clear(&s);
    tacit_table_clear(&t);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void test_public_constants(void **state)
{
    (void)state;
    tacit_table t = make_table(2, 2, TACIT_F64);
    const double rows[2][2] = {{1, 10}, {3, 30}};
    put(&t, 0, rows[0], 1);
    put(&t, 1, rows[1], 2);
    own(&t, 1);
    tacit_data_options o = plain();
    tacit_error err = {0};
    tacit_source s;
    double x[2];
    o.standardise = TACIT_STANDARDISE_PUBLIC;
    check_fails(tacit_table_deal(&s, &t, &o, 1, &err), TACIT_EINPUT, &err, "data.constants");
    snprintf(o.constants, sizeof o.constants, "deal_constants.csv");
    check_fails(tacit_table_deal(&s, &t, &o, 1, &err), TACIT_EINPUT, &err, "deal_constants.csv");
    write_file(o.constants, "1,2\n-10, 0.5\n");
    s = deal(&t, &o, 1);
    assert_int_equal(s.leaks, 0);
    assert_true(get(&s, 0, TACIT_TRAIN, 1, x) == 2);
    assert_true(x[0] == 1 && x[1] == 80);
    tacit_source_clear(&s);
    const struct {
        const char *text, *word;
    } bad[] = {
        {"1,2\n", "1 lines of constants for 2 features"},
        {"1,2\n1,2\n1,2\n", "more than 2 lines"},
        {"1,0\n1,1\n", "deviation \"0\"; expected a number above 0"},
        {"1,-1\n1,1\n", "deviation \"-1\""},
        {"1\n1,1\n", "two numbers"},
        {"1,1,1\n1,1\n", "two numbers"},
        {"mean,deviation\n1,1\n", "deal_constants.csv:1: \"mean\""},
        {"1,1\n1,inf\n", "deal_constants.csv:2: \"inf\""},
        {"", "0 lines"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        write_file(o.constants, bad[k].text);
        check_fails(tacit_table_deal(&s, &t, &o, 1, &err), TACIT_EINPUT, &err, bad[k].word);
    }
    unlink(o.constants);
    tacit_table_clear(&t);
}

static void test_numbers_too_large_to_scale(void **state)
{
    (void)state;
    tacit_table t = make_table(2, 1, TACIT_F64);
    const double large[] = {1e308, -1e308};
    tacit_data_options o = plain();
    tacit_error err = {0};
    tacit_source s;
    put(&t, 0, &large[0], 1);
    put(&t, 1, &large[1], 1);
    own(&t, 1);
    o.standardise = TACIT_STANDARDISE_AGENT;
    check_fails(tacit_table_deal(&s, &t, &o, 1, &err), TACIT_EINPUT, &err, "too large");
    tacit_table_clear(&t);
}

/* ---- bound, storage ---- */

static void test_rows_are_bounded_last(void **state)
{
    (void)state;
    double x[21];
    tacit_table t = random_table(200, 20, TACIT_F32, 6);
    own(&t, 4);
    tacit_data_options o = plain();
    o.standardise = TACIT_STANDARDISE_AGENT;
    o.bound = TACIT_BOUND_L2;
    o.bias = true;
    tacit_source s = deal(&t, &o, 5);
    for (uint32_t i = 0; i < 4; i++) {
        for (size_t r = 0; r < 50; r++) {
            long double sum = 0;
            get(&s, i, TACIT_TRAIN, r, x);
            for (size_t f = 0; f < 21; f++)
                sum += (long double)x[f] * x[f];
            assert_true(sum <= 1 && sum > 0.99999L);
            assert_true(x[20] > 0 && x[20] < 1); /* the bias shrinks with the row */
        }
    }
    tacit_source_clear(&s);
    tacit_table_clear(&t);
}

static void assert_same(const tacit_source *a, const tacit_source *b)
{
    assert_int_equal(tacit_dataset_agents(a->data), tacit_dataset_agents(b->data));
    for (int split = 0; split < TACIT_SPLITS; split++) {
        const tacit_shard *p = tacit_dataset_pooled(a->data, (tacit_split)split);
        const tacit_shard *q = tacit_dataset_pooled(b->data, (tacit_split)split);
        size_t size = tacit_scalar_size(tacit_shard_scalar(p)), cp = 0, cq = 0;
        tacit_batch x, y;
        assert_int_equal(tacit_shard_rows(p), tacit_shard_rows(q));
        while (tacit_shard_next(p, &cp, &x) && tacit_shard_next(q, &cq, &y)) {
            assert_memory_equal(x.x, y.x, x.rows * tacit_shard_features(p) * size);
            assert_memory_equal(x.y, y.y, x.rows * size);
        }
    }
}

/* A table of 5 MB in a file, so that it is read several times, in pieces; under pooled scale and
 * with holes twice as often. One agent of `quantity` has more than fits at once. */
static void test_a_file_holds_the_same_records(void **state)
{
    (void)state;
    tacit_table t = random_table(40000, 33, TACIT_F32, 7), on_disk = {0};
    tacit_data_options o = plain();
    tacit_error err = {0};
    tacit_source memory, file;
    for (size_t k = 0; k < 40000; k += 11)
        ((float *)t.x.bytes)[33 * k + k % 33] = NAN;
    t.missing = true;
    o.storage = 1;
    check_ok(tacit_table_create(&on_disk, 40000, 33, TACIT_F32, &o, &err), &err);
    assert_true(on_disk.x.in_file && on_disk.x.len == t.x.len);
    memcpy(on_disk.x.bytes, t.x.bytes, t.x.len);
    memcpy(on_disk.y, t.y, 40000 * sizeof *t.y);
    on_disk.missing = true;
    for (int scale = TACIT_STANDARDISE_AGENT; scale <= TACIT_STANDARDISE_POOLED;
         scale += TACIT_STANDARDISE_POOLED - TACIT_STANDARDISE_AGENT) {
        o = plain();
        o.partition =
            scale == TACIT_STANDARDISE_AGENT ? TACIT_PARTITION_DIRICHLET : TACIT_PARTITION_QUANTITY;
        o.agents = 40;
        o.alpha = 0.2;
        o.test_fraction = 0.25;
        o.missing_rule = TACIT_MISSING_MEAN;
        o.standardise = scale;
        memory = deal(&t, &o, 8);
        o.storage = 1;
        file = deal(&on_disk, &o, 8);
        assert_same(&memory, &file);
        uint32_t most = 0; /* 1 MiB holds 7943 rows */
        for (uint32_t i = 0; i < 40; i++) {
            uint32_t rows = tacit_dataset_rows(file.data, i, TACIT_TRAIN) +
                            tacit_dataset_rows(file.data, i, TACIT_TEST);
            most = rows > most ? rows : most;
        }
        assert_true(scale == TACIT_STANDARDISE_AGENT || most > 7943);
        tacit_source_clear(&memory);
        tacit_source_clear(&file);
    }
    tacit_table_clear(&on_disk);
    /* The synthetic source, too. */
    o = plain();
    check_ok(tacit_data_linear_separators(&memory, &o, TACIT_F64, 3, &err), &err);
    o.storage = 1;
    check_ok(tacit_data_linear_separators(&file, &o, TACIT_F64, 3, &err), &err);
    assert_same(&memory, &file);
    tacit_source_clear(&memory);
    tacit_source_clear(&file);
    snprintf(o.scratch, sizeof o.scratch, "no/such/folder");
    check_fails(tacit_data_linear_separators(&file, &o, TACIT_F64, 3, &err), TACIT_EINPUT, &err,
                "no/such/folder");
    tacit_table_clear(&t);
}

/* ---- what comes of it, in numbers ---- */

static void test_description(void **state)
{
    (void)state;
    tacit_table t = make_table(8, 2, TACIT_F64);
    for (size_t k = 0; k < 8; k++) {
        const double x[2] = {3 * (double)(k + 1), 4 * (double)(k + 1)}; /* norm 5 (k + 1) */
        put(&t, k, x, k < 6 ? -1 : 1);
    }
    own(&t, 3); /* 3, 3 and 2 records */
    tacit_data_options o = plain();
    tacit_error err = {0};
    tacit_description d;
    uint32_t counts[TACIT_DESCRIBED_CLASSES];
    o.test_fraction = 0.4;
    tacit_source s = deal(&t, &o, 1);
    check_ok(tacit_describe(&d, s.data, &err), &err);
    assert_int_equal(d.agents, 3);
    assert_int_equal(d.features, 2);
    assert_int_equal(d.all.rows, 8);
    assert_int_equal(d.all.least, 2);
    assert_int_equal(d.all.most, 3);
    assert_true(d.all.median == 3 && fabs(d.all.mean - 8.0 / 3) < 1e-15);
    assert_int_equal(d.split[TACIT_TEST].rows, 3);
    assert_int_equal(d.split[TACIT_TRAIN].rows, 5);
    assert_int_equal(d.empty, 0);
    assert_int_equal(d.classes, 2);
    assert_true(d.class[0] == -1 && d.class[1] == 1);
    assert_true(d.class_rows[0] == 6 && d.class_rows[1] == 2);
    assert_true(d.label_least == -1 && d.label_most == 1 && d.label_mean == -0.5);
    assert_true(fabs(d.norm_most - 40) < 1e-12 && fabs(d.norm_mean - 22.5) < 1e-12);
    tacit_describe_agent(&d, s.data, 0, counts); /* records 0, 3 and 6 */
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 1);
    tacit_source_clear(&s);
    for (size_t k = 0; k < 8; k++) /* all different: numbers, not classes */
        t.y[k] = (double)k / 7;
    s = deal(&t, &o, 1);
    check_ok(tacit_describe(&d, s.data, &err), &err);
    assert_int_equal(d.classes, 0);
    tacit_describe_agent(&d, s.data, 2, counts);
    assert_int_equal(counts[0], 2);
    tacit_source_clear(&s);
    tacit_table_clear(&t);
}

/* 100 different labels are classes, 101 are numbers. */
static void test_too_many_classes_to_describe(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    tacit_error err = {0};
    tacit_description d;
    for (size_t classes = 100; classes <= 101; classes++) {
        tacit_table t = make_table(1000, 1, TACIT_F32);
        for (size_t k = 0; k < 1000; k++) {
            const double x = 0;
            put(&t, k, &x, (double)(k % classes));
        }
        own(&t, 1);
        tacit_source s = deal(&t, &o, 1);
        check_ok(tacit_describe(&d, s.data, &err), &err);
        assert_int_equal(d.classes, classes == 100 ? 100 : 0);
        tacit_source_clear(&s);
        tacit_table_clear(&t);
    }
}

static void test_tables_without_records(void **state)
{
    (void)state;
    tacit_table t = {.features = 1, .scalar = TACIT_F64};
    tacit_data_options o = plain();
    tacit_source s;
    tacit_error err = {0};
    check_fails(tacit_table_deal(&s, &t, &o, 1, &err), TACIT_EINPUT, &err, "0 records");
    t.rows = (size_t)UINT32_MAX;
    check_fails(tacit_table_deal(&s, &t, &o, 1, &err), TACIT_EINPUT, &err, "4294967295 records");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_record_is_somewhere_once),
        cmocka_unit_test(test_the_split_of_a_seed_is_pinned),
        cmocka_unit_test(test_names_are_kept_where_the_table_has_them),
        cmocka_unit_test(test_one_record_stays_to_train_on),
        cmocka_unit_test(test_agents_without_records),
        cmocka_unit_test(test_missing_values_become_zero_or_means),
        cmocka_unit_test(test_records_with_holes_are_dropped),
        cmocka_unit_test(test_holes_do_not_change_counts),
        cmocka_unit_test(test_held_out_records_do_not_count),
        cmocka_unit_test(test_each_agent_is_standardised),
        cmocka_unit_test(test_pooled_scale_is_one_for_all),
        cmocka_unit_test(test_public_constants),
        cmocka_unit_test(test_numbers_too_large_to_scale),
        cmocka_unit_test(test_rows_are_bounded_last),
        cmocka_unit_test(test_a_file_holds_the_same_records),
        cmocka_unit_test(test_description),
        cmocka_unit_test(test_too_many_classes_to_describe),
        cmocka_unit_test(test_tables_without_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
