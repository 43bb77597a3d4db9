/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The regression task of paper 003: one target behind all labels, variances as asked for and
 * different by agent, and an agent's records its own. The target is not told: it is recovered
 * from test labels, which have no noise, by elimination.
 */
#include <math.h>
#include <string.h>

#include "data/shard.h"
#include "testing.h"

enum { AGENTS = 40, RECORDS = 400, FEATURES = 3 };

static tacit_data_options task(void)
{
    return (tacit_data_options){.source = TACIT_SOURCE_REGRESSION,
                                .agents = AGENTS,
                                .dimension = FEATURES,
                                .min_records = RECORDS,
                                .max_records = RECORDS,
                                .test_records = 20,
                                .validation_records = 10,
                                .variance = 0.5,
                                .noise_variance = 0.055,
                                .noise_spread = 0.8};
}

static tacit_source draw(const tacit_data_options *o, uint64_t seed)
{
    tacit_error err = {0};
    tacit_source s;
    check_ok(tacit_data_load(&s, o, TACIT_F64, seed, &err), &err);
    return s;
}

static tacit_batch rows_of(const tacit_source *s, uint32_t agent, tacit_split split)
{
    tacit_batch b = {0};
    size_t cursor = 0;
    assert_true(tacit_shard_next(tacit_dataset_shard(s->data, agent, split), &cursor, &b));
    return b;
}

static void recover(const tacit_source *s, uint32_t agent, double *target)
{
    tacit_batch b = rows_of(s, agent, TACIT_TEST);
    double a[FEATURES * FEATURES] = {0};
    memset(target, 0, FEATURES * sizeof *target);
    for (size_t r = 0; r < b.rows; r++) {
        const double *x = (const double *)b.x + r * FEATURES;
        for (size_t k = 0; k < FEATURES * FEATURES; k++)
            a[k] += x[k / FEATURES] * x[k % FEATURES];
        for (size_t k = 0; k < FEATURES; k++)
            target[k] += ((const double *)b.y)[r] * x[k];
    }
    eliminate(FEATURES, a, target);
}

static void test_one_target(void **state)
{
    (void)state;
    tacit_data_options o = task();
    tacit_source s = draw(&o, 7), other = draw(&o, 8);
    double target[FEATURES], next[FEATURES];
    recover(&s, 0, target);
    for (uint32_t i = 1; i < AGENTS; i++) {
        recover(&s, i, next);
        for (size_t k = 0; k < FEATURES; k++)
            assert_true(fabs(next[k] - target[k]) < 1e-10);
    }
    recover(&other, 0, next);
    assert_true(fabs(next[0] - target[0]) > 1e-3);
    assert_int_equal(s.targets.dimension, 0); /* nothing for graphs to compare */
    assert_int_equal(s.leaks, 0);
    tacit_source_clear(&s);
    tacit_source_clear(&other);
}

/* Mean square of label less target . x; of a feature, in *features. */
static double noise_of(const tacit_source *s, uint32_t agent, tacit_split split,
                       const double *target, double *features)
{
    tacit_batch b = rows_of(s, agent, split);
    double sum = 0;
    for (size_t r = 0; r < b.rows; r++) {
        double miss = ((const double *)b.y)[r];
        for (size_t k = 0; k < FEATURES; k++) {
            double x = ((const double *)b.x)[r * FEATURES + k];
            miss -= target[k] * x;
            *features += x * x / (double)(b.rows * FEATURES);
        }
        sum += miss * miss / (double)b.rows;
    }
    return sum;
}

/* A mean square of 400 normals has deviation 0.071 of itself, of 48,000 0.0065. Bounds are five
 * deviations: a false alarm once in a million seeds. */
static void test_variances(void **state)
{
    (void)state;
    tacit_data_options o = task();
    tacit_source s = draw(&o, 3);
    double target[FEATURES], features = 0, least = INFINITY, most = 0, validation = 0, unused = 0;
    recover(&s, 0, target);
    for (uint32_t i = 0; i < AGENTS; i++) {
        double noise = noise_of(&s, i, TACIT_TRAIN, target, &features);
        assert_true(noise > 0.011 * 0.65 && noise < 0.099 * 1.35);
        least = fmin(least, noise);
        most = fmax(most, noise);
        validation += noise_of(&s, i, TACIT_VALIDATION, target, &unused) / AGENTS;
    }
    assert_true(fabs(features / AGENTS - 0.5) < 0.5 * 0.033);
    assert_true(least < 0.03 && most > 0.08); /* they differ: each misses with probability 1e-5 */
    assert_true(validation > 0.03 && validation < 0.09);
    tacit_source_clear(&s);
}

static void test_an_agent_does_not_depend_on_others(void **state)
{
    (void)state;
    tacit_data_options o = task();
    tacit_source many = draw(&o, 5);
    o.agents = 4;
    tacit_source few = draw(&o, 5);
    o.without = 1;
    tacit_source fewer = draw(&o, 5);
    assert_int_equal(tacit_dataset_rows(fewer.data, 0, TACIT_TRAIN), 0);
    assert_int_equal(tacit_dataset_rows(fewer.data, 1, TACIT_TRAIN), RECORDS);
    tacit_source_clear(&fewer);
    for (uint32_t i = 0; i < 4; i++) {
        tacit_batch a = rows_of(&many, i, TACIT_TRAIN), b = rows_of(&few, i, TACIT_TRAIN);
        assert_int_equal(a.rows, b.rows);
        assert_memory_equal(a.x, b.x, a.rows * FEATURES * sizeof(double));
        assert_memory_equal(a.y, b.y, a.rows * sizeof(double));
    }
    tacit_source_clear(&many);
    tacit_source_clear(&few);
}

/* Bounded rows keep their labels on the line. */
static void test_bounded(void **state)
{
    (void)state;
    tacit_data_options o = task();
    o.variance = 4;
    o.bound = TACIT_BOUND_L2;
    tacit_source s = draw(&o, 5);
    double target[FEATURES], next[FEATURES];
    recover(&s, 0, target);
    recover(&s, 1, next);
    assert_true(fabs(next[0] - target[0]) < 1e-10);
    tacit_batch b = rows_of(&s, 0, TACIT_TRAIN);
    for (size_t r = 0; r < b.rows; r++) {
        double square = 0;
        for (size_t k = 0; k < FEATURES; k++)
            square += pow(((const double *)b.x)[r * FEATURES + k], 2);
        assert_true(square <= 1);
    }
    tacit_source_clear(&s);
}

static void test_refusals(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_source s;
    tacit_data_options o = task();
    o.max_records = 10;
    check_fails(tacit_data_load(&s, &o, TACIT_F64, 1, &err), TACIT_EINPUT, &err, "max-records");
    o = task();
    o.noise_spread = 1.5;
    check_fails(tacit_data_load(&s, &o, TACIT_F64, 1, &err), TACIT_EINPUT, &err, "noise-spread");
    o = task();
    o.without = AGENTS;
    check_fails(tacit_data_load(&s, &o, TACIT_F64, 1, &err), TACIT_EINPUT, &err, "data.without");
    o = task();
    o.variance = NAN;
    check_fails(tacit_data_load(&s, &o, TACIT_F64, 1, &err), TACIT_EINPUT, &err, "variance");
    o = task();
    o.agents = UINT32_MAX - 1;
    o.min_records = o.max_records = 1000000000;
    o.dimension = 1 << 20;
    assert_int_equal(tacit_data_load(&s, &o, TACIT_F64, 1, &err), TACIT_EINPUT);
    o.dimension = 0;
    check_fails(tacit_data_load(&s, &o, TACIT_F64, 1, &err), TACIT_EINPUT, &err, "data.dimension");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_target),
        cmocka_unit_test(test_variances),
        cmocka_unit_test(test_an_agent_does_not_depend_on_others),
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
