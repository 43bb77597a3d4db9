/* SPDX-License-Identifier: Apache-2.0 */
/* Public records: who has them, what is made of them, and that it depends on nobody else's. */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/shard.h"

enum { ROWS = 60, PUBLIC = 20, FEATURES = 4 };

static void check_near(double got, double want, double by)
{
    if (!(fabs(got - want) <= by))
        fail_msg("%.17g instead of %.17g", got, want);
}

static tacit_data_options plain(void)
{
    tacit_data_options o;
    tacit_error err = {0};
    check_ok(tacit_options_defaults(&tacit_data_section, &o, &err), &err);
    o.source = TACIT_SOURCE_CSV;
    o.partition = TACIT_PARTITION_IID;
    o.agents = 4;
    o.test_fraction = 0;
    o.public_records = PUBLIC;
    return o;
}

/* Records with correlated features of different size; feature 0 tells which record it is. */
static void make_records(double x[ROWS][FEATURES], double y[ROWS])
{
    dice d = {.state = 5};
    for (int k = 0; k < ROWS; k++) {
        double common = dice_normal(&d);
        x[k][0] = k;
        x[k][1] = 100 + 20 * common + dice_normal(&d);
        x[k][2] = -3 - 2 * common + 0.3 * dice_normal(&d);
        x[k][3] = 0.01 * dice_normal(&d);
        y[k] = 1000 + 30 * common + dice_normal(&d);
    }
}

static size_t write_text(char *text, size_t size, double x[ROWS][FEATURES], const double y[ROWS])
{
    size_t used = (size_t)snprintf(text, size, "a,b,c,d,label\n");
    for (int k = 0; k < ROWS; k++)
        used += (size_t)snprintf(text + used, size - used, "%.17g,%.17g,%.17g,%.17g,%.17g\n",
                                 x[k][0], x[k][1], x[k][2], x[k][3], y[k]);
    assert_true(used < size);
    return used;
}

static tacit_source load(const tacit_data_options *o, double x[ROWS][FEATURES],
                         const double y[ROWS], uint64_t seed)
{
    static char text[1 << 16];
    size_t len = write_text(text, sizeof text, x, y);
    tacit_source s;
    tacit_error err = {0};
    check_ok(tacit_data_csv_text(&s, o, "p.csv", text, len, TACIT_F64, seed, &err), &err);
    return s;
}

static void refuse(const tacit_data_options *o, const char *text, const char *word)
{
    tacit_source s;
    tacit_error err = {0};
    tacit_status status =
        tacit_data_csv_text(&s, o, "p.csv", text, strlen(text), TACIT_F64, 1, &err);
    check_fails(status, TACIT_EINPUT, &err, word);
    assert_null(s.data);
}

/* All training rows of all agents: row-major x, then labels; returns how many. */
static size_t all_rows(const tacit_source *s, double *x, double *y)
{
    const tacit_shard *shard = tacit_dataset_pooled(s->data, TACIT_TRAIN);
    size_t features = tacit_shard_features(shard), cursor = 0, rows = 0;
    tacit_batch b;
    while (tacit_shard_next(shard, &cursor, &b)) {
        memcpy(x + rows * features, b.x, b.rows * features * sizeof *x);
        memcpy(y + rows, b.y, b.rows * sizeof *y);
        rows += b.rows;
    }
    return rows;
}

/* ---- who has what ---- */

static void test_nobody_owns_public_records(void **state)
{
    (void)state;
    double x[ROWS][FEATURES], y[ROWS], got[ROWS * FEATURES], label[ROWS];
    make_records(x, y);
    tacit_data_options o = plain();
    tacit_source s = load(&o, x, y, 3);
    size_t rows = all_rows(&s, got, label);
    bool seen[ROWS] = {false};
    assert_int_equal(rows, ROWS - PUBLIC);
    assert_int_equal(s.public_records, PUBLIC);
    assert_int_equal(s.leaks, 0);
    for (size_t k = 0; k < rows; k++) {
        int which = (int)got[k * FEATURES];
        assert_in_range(which, 0, ROWS - PUBLIC - 1); /* the last ones are public */
        assert_false(seen[which]);
        seen[which] = true;
    }
    tacit_source_clear(&s);
}

static void test_only_so_many_are_used(void **state)
{
    (void)state;
    double x[ROWS][FEATURES], y[ROWS], got[ROWS * FEATURES], label[ROWS];
    make_records(x, y);
    tacit_data_options o = plain();
    o.records = 24;
    tacit_source s = load(&o, x, y, 3);
    assert_int_equal(all_rows(&s, got, label), 24);
    for (size_t k = 0; k < 24; k++)
        assert_in_range((int)got[k * FEATURES], 0, 23); /* the first ones */
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(tacit_dataset_rows(s.data, i, TACIT_TRAIN), 6);
    tacit_source_clear(&s);
}

/* Shuffled: some of the last records are private; the seed decides, and nothing is lost. */
static void test_a_shuffled_table(void **state)
{
    (void)state;
    double x[ROWS][FEATURES], y[ROWS], got[2][ROWS * FEATURES], label[ROWS];
    make_records(x, y);
    tacit_data_options o = plain();
    o.shuffle = true;
    int late = 0, other = 0;
    for (int run = 0; run < 2; run++) {
        tacit_source s = load(&o, x, y, 3 + (uint64_t)run);
        assert_int_equal(all_rows(&s, got[run], label), ROWS - PUBLIC);
        tacit_source_clear(&s);
    }
    bool seen[ROWS] = {false};
    for (size_t k = 0; k < ROWS - PUBLIC; k++) {
        int which = (int)got[0][k * FEATURES];
        assert_false(seen[which]);
        seen[which] = true;
        late += which >= ROWS - PUBLIC;
    }
    for (size_t k = 0; k < ROWS - PUBLIC; k++)
        other += !seen[(int)got[1][k * FEATURES]];
    assert_in_range(late, 5, 20);
    assert_in_range(other, 1, PUBLIC);
}

/* ---- what is made of them ---- */

static void mean_and_deviation(double x[ROWS][FEATURES], int f, double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    for (int k = ROWS - PUBLIC; k < ROWS; k++)
        sum += x[k][f] / PUBLIC;
    for (int k = ROWS - PUBLIC; k < ROWS; k++)
        squares += (x[k][f] - sum) * (x[k][f] - sum) / PUBLIC;
    *mean = sum;
    *deviation = sqrt(squares);
}

static void test_scales_are_those_of_public_records(void **state)
{
    (void)state;
    double x[ROWS][FEATURES], y[ROWS], got[ROWS * FEATURES], label[ROWS];
    double mean[FEATURES], deviation[FEATURES];
    make_records(x, y);
    tacit_data_options o = plain();
    o.agents = 1;
    o.standardise = TACIT_STANDARDISE_PUBLIC;
    o.standardise_labels = true;
    tacit_source s = load(&o, x, y, 3);
    for (int f = 0; f < FEATURES; f++)
        mean_and_deviation(x, f, &mean[f], &deviation[f]);
    double label_mean = 0, label_squares = 0;
    for (int k = ROWS - PUBLIC; k < ROWS; k++)
        label_mean += y[k] / PUBLIC;
    for (int k = ROWS - PUBLIC; k < ROWS; k++)
        label_squares += (y[k] - label_mean) * (y[k] - label_mean) / PUBLIC;
    assert_int_equal(all_rows(&s, got, label), ROWS - PUBLIC);
    for (size_t k = 0; k < ROWS - PUBLIC; k++) { /* one agent: the order of the file */
        for (size_t f = 0; f < FEATURES; f++)
            check_near(got[k * FEATURES + f], (x[k][f] - mean[f]) / deviation[f], 1e-10);
        check_near(label[k], (y[k] - label_mean) / sqrt(label_squares), 1e-10);
    }
    assert_int_equal(s.leaks, 0);
    tacit_source_clear(&s);
}

/* Second moments of what the public records become, by making them an agent's as well: the file
 * twice, of which the last records are public and the first ones equal to them. */
static void moments_of_public(const tacit_data_options *given, double x[ROWS][FEATURES],
                              const double y[ROWS], size_t p, double *mean, double *second)
{
    static double xx[ROWS][FEATURES], yy[ROWS], got[ROWS * FEATURES], label[ROWS];
    tacit_data_options o = *given;
    o.agents = 1;
    o.public_records = ROWS / 2;
    for (int k = 0; k < ROWS; k++) {
        memcpy(xx[k], x[k % (ROWS / 2)], sizeof xx[k]);
        yy[k] = y[k % (ROWS / 2)];
    }
    tacit_source s = load(&o, xx, yy, 3);
    assert_int_equal(tacit_dataset_features(s.data), p);
    size_t rows = all_rows(&s, got, label);
    assert_int_equal(rows, ROWS / 2);
    memset(mean, 0, p * sizeof *mean);
    memset(second, 0, p * p * sizeof *second);
    for (size_t k = 0; k < rows; k++) {
        for (size_t a = 0; a < p; a++) {
            mean[a] += got[k * p + a] / (double)rows;
            for (size_t b = 0; b < p; b++)
                second[a * p + b] += got[k * p + a] * got[k * p + b] / (double)rows;
        }
    }
    tacit_source_clear(&s);
}

/* Components of public records have mean 0, are uncorrelated and descend; all of them together keep
 * the total variance; whitened ones have variance 1. */
static void test_components(void **state)
{
    (void)state;
    double x[ROWS][FEATURES], y[ROWS], mean[FEATURES], second[FEATURES * FEATURES];
    make_records(x, y);
    tacit_data_options o = plain();
    o.standardise = TACIT_STANDARDISE_PUBLIC;
    o.components = FEATURES;
    moments_of_public(&o, x, y, FEATURES, mean, second);
    double total = 0;
    for (size_t a = 0; a < FEATURES; a++) {
        check_near(mean[a], 0, 1e-10);
        total += second[a * FEATURES + a];
        assert_true(a == 0 ||
                    second[a * FEATURES + a] <= second[(a - 1) * FEATURES + a - 1] + 1e-12);
        for (size_t b = 0; b < a; b++)
            check_near(second[a * FEATURES + b], 0, 1e-10);
    }
    check_near(total, FEATURES, 1e-10); /* of standardised features */
    assert_true(second[0] > 1.8);       /* b and c go together */
    double first = second[0];
    o.components = 2;
    moments_of_public(&o, x, y, 2, mean, second);
    check_near(second[0], first, 1e-10);
    o.whiten = true;
    moments_of_public(&o, x, y, 2, mean, second);
    check_near(second[0], 1, 1e-10);
    check_near(second[1], 0, 1e-10);
    check_near(second[3], 1, 1e-10);
}

/* A direction that is known without any eigenvector: features that vary one at a time. */
static void test_directions(void **state)
{
    (void)state;
    static const char text[] = "a,b,c,label\n"
                               "1,2,7,1\n5,-1,7,2\n3,3,7,3\n" /* private */
                               "4,20,7,0\n4,0,7,0\n5,10,7,0\n3,10,7,0\n";
    tacit_data_options o = plain();
    o.agents = 1;
    o.public_records = 4;
    o.components = 2;
    tacit_source s;
    tacit_error err = {0};
    double got[6], label[3];
    check_ok(tacit_data_csv_text(&s, &o, "p.csv", text, sizeof text - 1, TACIT_F64, 1, &err), &err);
    assert_int_equal(all_rows(&s, got, label), 3);
    /* b first: it varies more; then a; less their public means 10 and 4 */
    static const double want[] = {-8, -3, -11, 1, -7, -1};
    for (size_t k = 0; k < 6; k++)
        check_near(got[k], want[k], 1e-12);
    tacit_source_clear(&s);
    o.components = 3; /* c is constant */
    refuse(&o, text, "vary in 2 directions only");
}

/* Component k goes along with the feature that it has most of: E[z_k s_f] is the eigenvalue times
 * entry f of the vector. Without the rule about a half of these would be negative. */
static void test_largest_entries_are_positive(void **state)
{
    (void)state;
    static double x[ROWS][FEATURES], y[ROWS], z[ROWS * FEATURES], plain_x[ROWS * FEATURES];
    for (uint64_t draw = 1; draw <= 5; draw++) {
        dice d = {.state = draw};
        for (int k = 0; k < ROWS; k++)
            for (int f = 0; f < FEATURES; f++)
                x[k][f] = k < ROWS / 2 ? dice_normal(&d) + (f > 0 ? -0.7 * x[k][f - 1] : 0)
                                       : x[k - ROWS / 2][f];
        tacit_data_options o = plain();
        o.agents = 1;
        o.public_records = ROWS / 2;
        o.standardise = TACIT_STANDARDISE_PUBLIC;
        tacit_source s = load(&o, x, y, 3);
        assert_int_equal(all_rows(&s, plain_x, y), ROWS / 2);
        tacit_source_clear(&s);
        o.components = FEATURES;
        s = load(&o, x, y, 3);
        assert_int_equal(all_rows(&s, z, y), ROWS / 2);
        tacit_source_clear(&s);
        for (int k = 0; k < FEATURES; k++) {
            double top = 0;
            for (int f = 0; f < FEATURES; f++) {
                double entry = 0;
                for (int r = 0; r < ROWS / 2; r++)
                    entry += z[r * FEATURES + k] * plain_x[r * FEATURES + f];
                top = fabs(entry) > fabs(top) ? entry : top;
            }
            assert_true(top > 0);
        }
    }
}

/* When a private record changes, that record changes and not a bit of any other. */
static void test_a_private_record_moves_itself_only(void **state)
{
    (void)state;
    double x[ROWS][FEATURES], y[ROWS], before[ROWS * FEATURES], after[ROWS * FEATURES];
    double label[2][ROWS];
    make_records(x, y);
    tacit_data_options o = plain();
    o.standardise = TACIT_STANDARDISE_PUBLIC;
    o.standardise_labels = true;
    o.components = 3;
    o.bias = true;
    for (int changed = 0; changed < ROWS; changed += 7) {
        double kept[FEATURES], kept_label = y[changed];
        memcpy(kept, x[changed], sizeof kept);
        tacit_source s = load(&o, x, y, 3);
        size_t rows = all_rows(&s, before, label[0]), moved = 0;
        tacit_source_clear(&s);
        x[changed][1] = -1e6;
        x[changed][2] = 1e5;
        y[changed] = 1e7;
        s = load(&o, x, y, 3);
        assert_int_equal(all_rows(&s, after, label[1]), rows);
        tacit_source_clear(&s);
        for (size_t k = 0; k < rows; k++)
            moved += memcmp(before + k * 4, after + k * 4, 4 * sizeof *after) != 0 ||
                     label[0][k] != label[1][k];
        assert_int_equal(moved, changed < ROWS - PUBLIC ? 1 : rows);
        memcpy(x[changed], kept, sizeof kept);
        y[changed] = kept_label;
    }
}

static void test_public_means_stand_in(void **state)
{
    (void)state;
    static const char text[] = "a,b,label\n?,1,1\n2,?,2\n" /* private */
                               "10,?,0\n20,?,0\n?,?,0\n";
    tacit_data_options o = plain();
    o.agents = 1;
    o.public_records = 3;
    o.missing_rule = TACIT_MISSING_PUBLIC;
    tacit_source s;
    tacit_error err = {0};
    double got[4], label[2];
    check_ok(tacit_data_csv_text(&s, &o, "p.csv", text, sizeof text - 1, TACIT_F64, 1, &err), &err);
    assert_int_equal(all_rows(&s, got, label), 2);
    static const double want[] = {15, 1, 2, 0}; /* nothing is known of b in public: 0 */
    for (size_t k = 0; k < 4; k++)
        check_near(got[k], want[k], 1e-12);
    /* A record without a label would be left out, and the number of records tell of it. */
    assert_int_equal(s.leaks, TACIT_LEAK_COUNT);
    tacit_source_clear(&s);
    o.keep_count = true;
    check_ok(tacit_data_csv_text(&s, &o, "p.csv", text, sizeof text - 1, TACIT_F64, 1, &err), &err);
    assert_int_equal(all_rows(&s, got, label), 2);
    for (size_t k = 0; k < 4; k++)
        check_near(got[k], want[k], 1e-12);
    assert_int_equal(s.leaks, 0);
    tacit_source_clear(&s);
}

/* ---- words as numbers, and a first column without a name ---- */

static void test_words_as_places(void **state)
{
    (void)state;
    static const char text[] = "\"\",size,colour,label\n7,m,red,1\n8,?,blue,2\n9,s,red,3\n";
    tacit_data_options o = plain();
    o.agents = 1;
    o.public_records = 0;
    o.missing_rule = TACIT_MISSING_ZERO;
    snprintf(o.ordinal, sizeof o.ordinal, "size=xs|s|m|l");
    snprintf(o.categories, sizeof o.categories, "colour=red|blue");
    tacit_source s;
    tacit_error err = {0};
    double got[9], label[3];
    check_ok(tacit_data_csv_text(&s, &o, "p.csv", text, sizeof text - 1, TACIT_F64, 1, &err), &err);
    assert_int_equal(tacit_dataset_features(s.data), 3); /* the row's number is none */
    assert_int_equal(all_rows(&s, got, label), 3);
    static const double want[] = {2, 1, 0, 0, 0, 1, 1, 1, 0};
    for (size_t k = 0; k < 9; k++)
        check_near(got[k], want[k], 0);
    tacit_source_clear(&s);
    snprintf(o.ordinal, sizeof o.ordinal, "size=xs|s");
    refuse(&o, text, "column \"size\" is \"m\"; expected one of xs, s");
    snprintf(o.ordinal, sizeof o.ordinal, "size");
    refuse(&o, text, "data.ordinal has \"size\"; expected columns and their words");
    snprintf(o.ordinal, sizeof o.ordinal, "size=s|m|s");
    refuse(&o, text, "data.ordinal has \"s\" twice");
    snprintf(o.ordinal, sizeof o.ordinal, "colour=red|blue");
    refuse(&o, text, "data.ordinal has column \"colour\", which is in data.categories");
    snprintf(o.ordinal, sizeof o.ordinal, "label=1|2|3");
    refuse(&o, text, "which is the label or the agent");
}

/* What is far out is cut, for components too, and nothing else changes. */
static void test_far_values_are_cut(void **state)
{
    (void)state;
    double x[ROWS][FEATURES], y[ROWS], label[ROWS], whole[ROWS * FEATURES], cut[ROWS * FEATURES];
    make_records(x, y);
    tacit_data_options o = plain();
    o.agents = 1;
    o.standardise = TACIT_STANDARDISE_PUBLIC;
    tacit_source s = load(&o, x, y, 3);
    size_t rows = all_rows(&s, whole, label), far = 0;
    tacit_source_clear(&s);
    o.cut = 1.5;
    s = load(&o, x, y, 3);
    assert_int_equal(all_rows(&s, cut, label), rows);
    tacit_source_clear(&s);
    for (size_t k = 0; k < rows * FEATURES; k++) {
        check_near(cut[k], fmax(-1.5, fmin(1.5, whole[k])), 0);
        far += cut[k] != whole[k];
    }
    assert_in_range(far, 5, rows * FEATURES - 5);
    o.components = 1;
    o.cut = 1e-3; /* all public features are cut to that: one step along each */
    double mean[FEATURES], second[FEATURES * FEATURES];
    moments_of_public(&o, x, y, 1, mean, second);
    assert_true(second[0] <= FEATURES * 1e-6);
    o.standardise = TACIT_STANDARDISE_NONE;
    refuse(&o, "a,label\n1,1\n2,1\n", "data.cut counts deviations");
}

/* ---- what cannot be had ---- */

static void test_what_is_refused(void **state)
{
    (void)state;
    static const char text[] = "a,b,label\n1,2,1\n3,1,2\n4,4,3\n0,1,4\n";
    static const struct {
        int64_t public, records, components;
        int standardise, rule;
        bool labels;
        const char *threshold, *word;
    } bad[] = {
        {4, 0, 0, 0, 0, false, "", "data.public is \"4\", but there are 4 records"},
        {4000, 0, 0, 0, 0, false, "", "data.public is \"4000\", but there are 4 records"},
        {1, 4, 0, 0, 0, false, "", "data.records is \"4\", but 3 records are there to deal"},
        {2, 0, 3, 0, 0, false, "", "data.components is \"3\", but records have 2 features"},
        {2, 0, 2, 0, 0, false, "", "vary in 1 directions only"},
        {1, 0, 1, 0, 0, false, "", "vary in 0 directions only"},
        {0, 0, 1, 0, 0, false, "", "data.components is made of public records"},
        {0, 0, 0, 0, 0, true, "", "data.standardise-labels is made of public records"},
        {0, 0, 0, 0, TACIT_MISSING_PUBLIC, false, "", "data.missing-rule \"public\" is made of"},
        {2, 0, 1, TACIT_STANDARDISE_AGENT, 0, false, "", "set data.standardise to \"public\""},
        {2, 0, 1, TACIT_STANDARDISE_POOLED, 0, false, "", "set data.standardise to \"public\""},
        {2, 0, 0, 0, 0, true, "2", "data.standardise-labels is for numbers"},
        {-1, 0, 0, 0, 0, false, "", "expected 0 or more"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tacit_data_options o = plain();
        o.agents = 1;
        o.public_records = bad[k].public;
        o.records = bad[k].records;
        o.components = bad[k].components;
        o.standardise = bad[k].standardise;
        o.missing_rule = bad[k].rule;
        o.standardise_labels = bad[k].labels;
        snprintf(o.threshold, sizeof o.threshold, "%s", bad[k].threshold);
        refuse(&o, text, bad[k].word);
    }
}

static void test_numbers_too_large(void **state)
{
    (void)state;
    static const char text[] = "a,b,label\n1,2,1\n3e200,1,2\n-4e200,4,-3\n0,1,4\n";
    tacit_data_options o = plain();
    o.agents = 1;
    o.public_records = 3;
    o.components = 1;
    refuse(&o, text, "features are too large for data.components");
    o.components = 0;
    o.public_records = 2;
    o.standardise_labels = true;
    refuse(&o, "a,label\n1,1\n1,1e200\n1,-1e200\n", "public labels are too large");
}

/* Elsewhere these keys would be ignored: they are refused. */
static void test_sources_without_a_table(void **state)
{
    (void)state;
    tacit_data_options o;
    tacit_error err = {0};
    tacit_source s;
    check_ok(tacit_options_defaults(&tacit_data_section, &o, &err), &err);
    o.public_records = 5;
    check_fails(tacit_data_load(&s, &o, TACIT_F64, 1, &err), TACIT_EINPUT, &err,
                "data.public is for tables");
    o.public_records = 0;
    o.whiten = true;
    check_fails(tacit_data_load(&s, &o, TACIT_F64, 1, &err), TACIT_EINPUT, &err, "data.whiten");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_owns_public_records),
        cmocka_unit_test(test_only_so_many_are_used),
        cmocka_unit_test(test_a_shuffled_table),
        cmocka_unit_test(test_scales_are_those_of_public_records),
        cmocka_unit_test(test_components),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_largest_entries_are_positive),
        cmocka_unit_test(test_a_private_record_moves_itself_only),
        cmocka_unit_test(test_public_means_stand_in),
        cmocka_unit_test(test_words_as_places),
        cmocka_unit_test(test_far_values_are_cut),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_numbers_too_large),
        cmocka_unit_test(test_sources_without_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
