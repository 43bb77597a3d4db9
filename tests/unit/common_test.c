/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test records that are nobody's (data.test-path), scores on everybody's records (data.score-on),
 * and public constants for features (data.subtract, data.divide).
 */
#include "testing.h"

#include <math.h>

#include "data/describe.h"
#include "data/shard.h"
#include "experiment/session.h"
#include "tables.h"

static const char *const files[] = {"x", "y", "tx", "ty", NULL};

static tacit_data_options named(const folder *f, int source)
{
    tacit_data_options o = table_options(source);
    const bool text = source == TACIT_SOURCE_CSV || source == TACIT_SOURCE_LIBSVM;
    o.test_fraction = 0.2; /* as by default: not used where there is a test-path */
    snprintf(o.folder, sizeof o.folder, "%s", f->path);
    snprintf(o.path, sizeof o.path, "x");
    snprintf(o.test_path, sizeof o.test_path, "tx");
    snprintf(o.labels_path, sizeof o.labels_path, "%s", text ? "" : "y");
    snprintf(o.test_labels_path, sizeof o.test_labels_path, "%s", text ? "" : "ty");
    return o;
}

/* Rows of a shard as doubles; `x` has room for all. */
static size_t rows_of(const tacit_shard *shard, double *x, double *y)
{
    const size_t p = tacit_shard_features(shard);
    const bool f32 = tacit_shard_scalar(shard) == TACIT_F32;
    size_t cursor = 0, n = 0;
    tacit_batch b;
    while (tacit_shard_next(shard, &cursor, &b)) {
        for (size_t r = 0; r < b.rows; r++, n++) {
            y[n] = f32 ? (double)((const float *)b.y)[r] : ((const double *)b.y)[r];
            for (size_t k = 0; k < p; k++)
                x[n * p + k] = f32 ? (double)((const float *)b.x)[r * p + k]
                                   : ((const double *)b.x)[r * p + k];
        }
    }
    return n;
}

/* ---- pictures ---- */

enum { PIXELS = 4, DIGITS = 3, TRAIN = 30, TEST = 11 };

/* Pictures of 2 x 2 pixels from `first` on, and a label for each of them: 0, 1, 2, 0, ... */
static void write_pictures(const folder *f, const char *images, const char *labels, size_t count,
                           unsigned char first)
{
    unsigned char x[16 + PIXELS * TRAIN] = {0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2};
    unsigned char y[8 + TRAIN] = {0, 0, 8, 1};
    x[7] = y[7] = (unsigned char)count;
    for (size_t k = 0; k < count; k++) {
        memset(x + 16 + PIXELS * k, (int)(first + k), PIXELS);
        y[8 + k] = (unsigned char)(k % DIGITS);
    }
    folder_write(f, images, x, 16 + PIXELS * count);
    folder_write(f, labels, y, 8 + count);
}

static folder make_pictures(void)
{
    folder f = folder_make();
    write_pictures(&f, "x", "y", TRAIN, 1);    /* pixels 1 to 30 */
    write_pictures(&f, "tx", "ty", TEST, 100); /* 100 to 110 */
    return f;
}

static tacit_data_options by_digit(const folder *f)
{
    tacit_data_options o = named(f, TACIT_SOURCE_IDX);
    o.partition = TACIT_PARTITION_CLASSES;
    o.agents = DIGITS;
    o.t = 1;
    o.validation_fraction = 0.2;
    return o;
}

static void test_nobody_trains_on_them(void **state)
{
    (void)state;
    folder f = make_pictures();
    tacit_data_options o = by_digit(&f);
    for (int storage = 0; storage < 2; storage++) {
        tacit_source s;
        tacit_error err = {0};
        double x[PIXELS * TRAIN], y[TRAIN];
        o.storage = storage;
        snprintf(o.scratch, sizeof o.scratch, "%s", f.path);
        check_ok(tacit_data_load(&s, &o, TACIT_F32, 1, &err), &err);
        size_t seen = 0;
        for (uint32_t i = 0; i < DIGITS; i++) {
            assert_int_equal(tacit_dataset_rows(s.data, i, TACIT_TRAIN), 8);
            assert_int_equal(tacit_dataset_rows(s.data, i, TACIT_VALIDATION), 2);
            assert_int_equal(tacit_dataset_rows(s.data, i, TACIT_TEST), 0);
            for (int split = TACIT_TRAIN; split <= TACIT_VALIDATION; split++) {
                size_t n = rows_of(tacit_dataset_shard(s.data, i, (tacit_split)split), x, y);
                for (size_t k = 0; k < n; k++, seen++)
                    assert_true(x[PIXELS * k] <= TRAIN && y[k] == i);
            }
        }
        assert_int_equal(seen, TRAIN);
        assert_int_equal(tacit_dataset_common(s.data), TEST);
        assert_int_equal(rows_of(tacit_dataset_pooled(s.data, TACIT_TEST), x, y), TEST);
        for (size_t k = 0; k < TEST; k++) {
            assert_true(y[k] == (double)(k % DIGITS));
            for (size_t p = 0; p < PIXELS; p++)
                assert_true(x[PIXELS * k + p] == 100 + (double)k);
        }
        tacit_source_clear(&s);
    }
    folder_remove(&f, files);
}

static void test_they_are_described(void **state)
{
    (void)state;
    folder f = make_pictures();
    tacit_data_options o = by_digit(&f);
    tacit_source s;
    tacit_description d;
    tacit_error err = {0};
    check_ok(tacit_data_load(&s, &o, TACIT_F64, 1, &err), &err);
    check_ok(tacit_describe(&d, s.data, &err), &err);
    assert_int_equal(d.common, TEST);
    assert_int_equal(d.all.rows, TRAIN);
    assert_int_equal(d.split[TACIT_TEST].rows, 0);
    assert_int_equal(d.classes, DIGITS);
    assert_int_equal(d.class_rows[0] + d.class_rows[1] + d.class_rows[2], TRAIN + TEST);
    assert_true(d.norm_most == 2 * 110); /* four pixels of 110 */
    /* over all records: labels add up to 30 and 10, norms to 2 (1 + ... + 30) and 2 (100 + ...) */
    assert_true(fabs(d.label_mean - 40.0 / 41) < 1e-12);
    assert_true(fabs(d.norm_mean - (930.0 + 2310.0) / 41) < 1e-9);
    tacit_source_clear(&s);
    folder_remove(&f, files);
}

/* ---- the same steps for train and test ---- */

static void test_pixels_are_divided(void **state)
{
    (void)state;
    folder f = make_pictures();
    tacit_data_options o = by_digit(&f);
    tacit_source s;
    tacit_error err = {0};
    double x[PIXELS * TRAIN], y[TRAIN];
    o.subtract = 10;
    o.divide = 255;
    o.bias = true; /* stays 1 */
    o.validation_fraction = 0;
    check_ok(tacit_data_load(&s, &o, TACIT_F32, 1, &err), &err);
    assert_int_equal(s.leaks, 0);
    double wide[(PIXELS + 1) * TRAIN];
    size_t n = rows_of(tacit_dataset_shard(s.data, 1, TACIT_TRAIN), wide, y);
    for (size_t k = 0; k < n; k++) { /* digit 1: pixels 2, 5, 8, ... */
        assert_true(wide[5 * k] == (double)(float)((2 + 3 * (double)k - 10) / 255));
        assert_true(wide[5 * k + PIXELS] == 1);
    }
    n = rows_of(tacit_dataset_pooled(s.data, TACIT_TEST), wide, y);
    assert_int_equal(n, TEST);
    for (size_t k = 0; k < n; k++) {
        assert_true(wide[5 * k + 3] == (double)(float)((100 + (double)k - 10) / 255));
        assert_true(wide[5 * k + PIXELS] == 1);
    }
    tacit_source_clear(&s);
    o.bias = false;
    o.bound = TACIT_BOUND_L2;
    o.divide = 1;
    check_ok(tacit_data_load(&s, &o, TACIT_F64, 1, &err), &err);
    n = rows_of(tacit_dataset_pooled(s.data, TACIT_TEST), x, y);
    for (size_t k = 0; k < n; k++)
        assert_true(fabs(x[PIXELS * k] - 0.5) < 1e-9);
    tacit_source_clear(&s);
    folder_remove(&f, files);
}

/* Means and deviations are those of training records: 1, 3 (of two agents), by hand 2 and 1; the
 * owners' column of the test file is no feature, and need not be there. */
static void test_scales_come_from_training_records(void **state)
{
    (void)state;
    static const char *const tests[] = {"agent,a,label\n,7,no\nnew,2,yes\n",
                                        "a,label\n7,no\n2,yes\n"};
    for (size_t k = 0; k < 2; k++) {
        folder f = folder_make();
        tacit_data_options o = named(&f, TACIT_SOURCE_CSV);
        tacit_source s;
        tacit_error err = {0};
        double x[4], y[2];
        folder_text(&f, "x", "agent,a,label\nu,1,yes\nv,3,no\n");
        folder_text(&f, "tx", tests[k]);
        snprintf(o.positive, sizeof o.positive, "yes");
        o.standardise = TACIT_STANDARDISE_POOLED;
        o.bias = true;
        check_ok(tacit_data_load(&s, &o, TACIT_F64, 1, &err), &err);
        assert_int_equal(tacit_dataset_agents(s.data), 2);
        assert_int_equal(tacit_dataset_rows(s.data, 0, TACIT_TRAIN), 1);
        assert_int_equal(rows_of(tacit_dataset_pooled(s.data, TACIT_TEST), x, y), 2);
        assert_true(x[0] == 5 && x[1] == 1 && y[0] == -1);
        assert_true(x[2] == 0 && x[3] == 1 && y[1] == 1);
        tacit_source_clear(&s);
        folder_remove(&f, (const char *const[]){"x", "tx", NULL});
    }
}

/* A word of `positive` that no label has is mistyped in training files; a test file may lack it. */
static void test_labels_that_tests_lack(void **state)
{
    (void)state;
    folder f = folder_make();
    tacit_data_options o = named(&f, TACIT_SOURCE_CSV);
    tacit_source s;
    tacit_error err = {0};
    double x[2], y[2];
    folder_text(&f, "x", "agent,a,label\nu,1,red\nv,3,blue\nv,2,green\n");
    folder_text(&f, "tx", "a,label\n7,red\n2,green\n");
    snprintf(o.positive, sizeof o.positive, "red, blue");
    check_ok(tacit_data_load(&s, &o, TACIT_F64, 1, &err), &err);
    assert_int_equal(rows_of(tacit_dataset_pooled(s.data, TACIT_TEST), x, y), 2);
    assert_true(y[0] == 1 && y[1] == -1);
    tacit_source_clear(&s);
    snprintf(o.path, sizeof o.path, "tx");
    o.partition = TACIT_PARTITION_IID;
    o.agents = 1;
    check_fails(tacit_data_load(&s, &o, TACIT_F64, 1, &err), TACIT_EINPUT, &err, "\"blue\"");
    folder_remove(&f, (const char *const[]){"x", "tx", NULL});
}

static void test_missing_values(void **state)
{
    (void)state;
    folder f = folder_make();
    tacit_data_options o = named(&f, TACIT_SOURCE_CSV);
    tacit_source s;
    tacit_error err = {0};
    double x[4], y[2];
    folder_text(&f, "x", "agent,a,b,label\nu,1,2,1\nv,3,4,-1\nv,9,9,1\n");
    folder_text(&f, "tx", "a,b,label\n?,5,1\n6,7,1\n");
    check_fails(tacit_data_load(&s, &o, TACIT_F64, 1, &err), TACIT_EINPUT, &err, "tx:2");
    o.missing_rule = TACIT_MISSING_MEAN;
    check_fails(tacit_data_load(&s, &o, TACIT_F64, 1, &err), TACIT_EINPUT, &err, "nobody's");
    o.missing_rule = TACIT_MISSING_ZERO;
    check_ok(tacit_data_load(&s, &o, TACIT_F64, 1, &err), &err);
    assert_int_equal(rows_of(tacit_dataset_pooled(s.data, TACIT_TEST), x, y), 2);
    assert_true(x[0] == 0 && x[1] == 5 && x[2] == 6);
    tacit_source_clear(&s);
    o.missing_rule = TACIT_MISSING_DROP;
    check_ok(tacit_data_load(&s, &o, TACIT_F64, 1, &err), &err);
    assert_int_equal(s.dropped, 1);
    assert_int_equal(rows_of(tacit_dataset_pooled(s.data, TACIT_TEST), x, y), 1);
    assert_true(x[0] == 6 && x[1] == 7);
    tacit_source_clear(&s);
    o.missing_rule = TACIT_MISSING_PUBLIC; /* the last training record */
    o.public_records = 1;
    check_ok(tacit_data_load(&s, &o, TACIT_F64, 1, &err), &err);
    assert_int_equal(rows_of(tacit_dataset_pooled(s.data, TACIT_TEST), x, y), 2);
    assert_true(x[0] == 9 && x[1] == 5);
    tacit_source_clear(&s);
    folder_text(&f, "tx", "a,b,label\n?,5,1\n6,?,1\n");
    o.missing_rule = TACIT_MISSING_DROP;
    check_fails(tacit_data_load(&s, &o, TACIT_F64, 1, &err), TACIT_EINPUT, &err,
                "no test record is left");
    folder_remove(&f, (const char *const[]){"x", "tx", NULL});
}

/* A file of libsvm that lacks the last features has them, and they are 0: in either of the two. */
static void test_the_wider_file_counts(void **state)
{
    (void)state;
    static const char *const texts[] = {"1 1:5\n-1 1:6\n", "1 1:7 3:8\n"};
    for (size_t k = 0; k < 2; k++) {
        folder f = folder_make();
        tacit_data_options o = named(&f, TACIT_SOURCE_LIBSVM);
        tacit_source s;
        tacit_error err = {0};
        double x[12], y[4];
        o.partition = TACIT_PARTITION_IID;
        o.agents = 1;
        folder_text(&f, "x", texts[k]);
        folder_text(&f, "tx", texts[1 - k]);
        check_ok(tacit_data_load(&s, &o, TACIT_F32, 1, &err), &err);
        assert_int_equal(tacit_dataset_features(s.data), 3);
        assert_int_equal(rows_of(tacit_dataset_pooled(s.data, k ? TACIT_TEST : TACIT_TRAIN), x, y),
                         2);
        assert_true(x[0] == 5 && x[1] == 0 && x[2] == 0 && x[3] == 6 && x[4] == 0);
        assert_int_equal(rows_of(tacit_dataset_pooled(s.data, k ? TACIT_TRAIN : TACIT_TEST), x, y),
                         1);
        assert_true(x[0] == 7 && x[1] == 0 && x[2] == 8 && y[0] == 1);
        tacit_source_clear(&s);
        folder_remove(&f, (const char *const[]){"x", "tx", NULL});
    }
}

/* ---- what is refused ---- */

static void refused(const tacit_data_options *o, const char *word, const char *more)
{
    tacit_source s;
    tacit_error err = {0};
    check_fails(tacit_data_load(&s, o, TACIT_F64, 1, &err), TACIT_EINPUT, &err, word);
    check_fails(TACIT_EINPUT, TACIT_EINPUT, &err, more);
    assert_null(s.data);
}

static void test_options_that_do_not_fit(void **state)
{
    (void)state;
    folder f = make_pictures();
    const tacit_data_options good = by_digit(&f);
    tacit_data_options o = good;
    o.score_on = TACIT_SCORE_ON_OWN;
    refused(&o, "data.score-on", "nobody's own");
    o = good;
    o.standardise = TACIT_STANDARDISE_AGENT;
    refused(&o, "data.standardise", "nobody's scale");
    o = good;
    o.test_path[0] = '\0';
    refused(&o, "data.test-labels-path", "without data.test-path");
    o = good;
    o.test_labels_path[0] = '\0';
    refused(&o, "data.test-labels-path is empty", "idx");
    snprintf(o.test_labels_path, sizeof o.test_labels_path, "ty,,ty");
    refused(&o, "data.test-labels-path", "between commas");
    o = good;
    snprintf(o.test_path, sizeof o.test_path, "gone");
    refused(&o, "cannot open \"gone\"", "data.folder");
    static const int others[] = {TACIT_SOURCE_LINEAR_SEPARATORS, TACIT_SOURCE_RATINGS,
                                 TACIT_SOURCE_SHARDS};
    for (size_t k = 0; k < 3; k++) {
        o = table_options(others[k]);
        snprintf(o.test_path, sizeof o.test_path, "tx");
        refused(&o, "data.test-path", "tables");
        o.test_path[0] = '\0';
        o.divide = 255;
        refused(&o, "data.divide", "tables");
        o.divide = 1;
        o.subtract = 1;
        refused(&o, "data.subtract", "tables");
    }
    folder_remove(&f, files);
}

static void test_files_that_do_not_fit(void **state)
{
    (void)state;
    folder f = make_pictures();
    tacit_data_options o = by_digit(&f);
    write_pictures(&f, "tx", "ty2", 4, 100);
    refused(&o, "\"ty\" has 11 labels", "\"tx\" 4 records");
    static const unsigned char wide[] = {0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 5, 1, 2, 3, 4, 5};
    folder_write(&f, "tx", wide, sizeof wide);
    folder_text(&f, "ty", "1\n");
    refused(&o, "\"x\" has 4 features", "\"tx\" 5");
    folder_write(&f, "tx", wide, sizeof wide - 1);
    refused(&o, "tx", "cut or damaged");
    write_pictures(&f, "tx", "ty", TEST, 100);
    snprintf(o.classes, sizeof o.classes, "0,1");
    folder_text(&f, "y",
                "0\n1\n0\n1\n0\n1\n0\n1\n0\n1\n0\n1\n0\n1\n0\n"
                "1\n0\n1\n0\n1\n0\n1\n0\n1\n0\n1\n0\n1\n0\n1\n");
    refused(&o, "ty: record 3 is \"2\"", "data.classes lists");
    folder_remove(&f, (const char *const[]){"x", "y", "tx", "ty", "ty2", NULL});
    f = folder_make();
    o = named(&f, TACIT_SOURCE_CSV);
    folder_text(&f, "x", "agent,a,b,label\nu,1,2,1\nv,3,4,-1\n");
    folder_text(&f, "tx", "b,a,label\n1,2,1\n");
    refused(&o, "feature 1 is \"a\" in \"x\"", "\"b\" in \"tx\"");
    folder_text(&f, "tx", "a,b,label\n");
    refused(&o, "tx", "no records");
    folder_remove(&f, (const char *const[]){"x", "tx", NULL});
}

/* ---- scores ---- */

static tacit_session *open_session(tacit_experiment *x, const folder *f, const char *more,
                                   uint32_t threads)
{
    tacit_error err = {0};
    tacit_config config;
    tacit_session *session = NULL;
    char yaml[1000];
    snprintf(yaml, sizeof yaml,
             "data: {source: csv, folder: %s, path: x, test-fraction: 0.5, "
             "validation-fraction: 0.25%s}\nprotocol: {name: alone}\nprivacy: {mechanism: none}\n"
             "graph: {kind: complete}\n",
             f->path, more);
    tacit_config_init(&config);
    check_ok(tacit_config_parse(&config, "test", yaml, strlen(yaml), &err), &err);
    check_ok(tacit_experiment_init(x, &config, &err), &err);
    tacit_config_clear(&config);
    check_ok(tacit_session_create(&session, x, threads, &err), &err);
    return session;
}

enum { SITES = 3, EACH = 12, OUTSIDE = 7 };

/* Two features; labels by the first one's sign, turned round for site 2. */
static folder make_sites(void)
{
    folder f = folder_make();
    char text[2000];
    int used = snprintf(text, sizeof text, "agent,a,b,label\n");
    for (int k = 0; k < SITES * EACH; k++) {
        const int a = k * 7 % 11 - 5, site = k % SITES;
        used += snprintf(text + used, sizeof text - (size_t)used, "%d,%d.5,%d,%d\n", site, a,
                         k * 5 % 13 - 6, (a >= 0) == (site != 2) ? 1 : -1);
    }
    folder_text(&f, "x", text);
    used = snprintf(text, sizeof text, "a,b,label\n");
    for (int k = 0; k < OUTSIDE; k++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%d,%d,%d\n", k - 2, 3 - k,
                         k % 3 ? 1 : -1);
    folder_text(&f, "tx", text);
    return f;
}

static const double weights[SITES][2] = {{1, 0.25}, {-1, 0.5}, {0.125, -2}};

/* Share of a shard's records that the weights get right: counted here, without kernels. */
static double right(const tacit_shard *shard, const double *theta)
{
    double x[2 * SITES * EACH], y[SITES * EACH], sum = 0;
    size_t n = rows_of(shard, x, y);
    assert_int_equal(tacit_shard_features(shard), 2);
    for (size_t k = 0; k < n; k++)
        sum += (theta[0] * x[2 * k] + theta[1] * x[2 * k + 1]) * y[k] > 0;
    return n ? sum / (double)n : NAN;
}

/* Scores of all agents with the weights above; NULL `all`: expected on each one's own records. */
static void check_scores(tacit_session *s, tacit_split split, const tacit_shard *all,
                         double *scores)
{
    tacit_error err = {0};
    check_ok(tacit_session_adopt(s, &weights[0][0], &err), &err);
    tacit_session_scores(s, split, scores);
    for (uint32_t i = 0; i < SITES; i++) {
        const tacit_shard *own = tacit_dataset_shard(tacit_session_data(s), i, split);
        assert_true(fabs(scores[i] - right(all ? all : own, weights[i])) < 1e-12);
    }
    check_ok(tacit_session_adopt(s, NULL, &err), &err);
}

static void test_everybody_is_scored_on_all(void **state)
{
    (void)state;
    static const char *const more[] = {"", ", score-on: all", ", test-path: tx"};
    folder f = make_sites();
    double first[2][3][SITES];
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        for (size_t k = 0; k < 3; k++) {
            tacit_experiment x;
            double validation[SITES];
            double *test = first[threads > 1][k];
            tacit_session *s = open_session(&x, &f, more[k], threads);
            const tacit_dataset *data = tacit_session_data(s);
            const tacit_shard *tests = tacit_dataset_pooled(data, TACIT_TEST);
            assert_int_equal(tacit_shard_rows(tests), k == 2 ? OUTSIDE : SITES * EACH / 2);
            check_scores(s, TACIT_TEST, k > 0 ? tests : NULL, test);
            check_scores(s, TACIT_VALIDATION,
                         k > 0 ? tacit_dataset_pooled(data, TACIT_VALIDATION) : NULL, validation);
            char *summary = tacit_session_summary(s, true);
            assert_non_null(summary);
            assert_true(!strstr(summary, "\"scored_on\": \"all\"") == (k == 0));
            assert_true(!strstr(summary, "\"test_records\": 7") == (k != 2));
            free(summary);
            tacit_session_free(s);
            tacit_experiment_clear(&x);
        }
    }
    assert_memory_equal(first[0], first[1], sizeof first[0]);
    for (size_t k = 1; k < 3; k++) /* the three ways differ, or nothing was shown */
        assert_true(memcmp(first[0][0], first[0][k], sizeof first[0][k]) != 0);
    folder_remove(&f, (const char *const[]){"x", "tx", NULL});
}

/* Nobody trained on class 2; it is counted all the same, and nobody gets it right. */
static void test_a_class_nobody_trained_on(void **state)
{
    (void)state;
    folder f = folder_make();
    tacit_experiment x;
    tacit_error err = {0};
    double scores[2];
    folder_text(&f, "x",
                "agent,a,b,label\nu,1,0,0\nu,0,1,1\nv,2,0,0\nv,0,2,1\n"
                "u,1,0,0\nu,0,1,1\nv,2,0,0\nv,0,2,1\n");
    folder_text(&f, "tx", "a,b,label\n1,0,0\n0,1,1\n1,1,2\n3,0,0\n");
    tacit_session *s =
        open_session(&x, &f, ", test-path: tx, score-on: all}\nmodel: {loss: softmax", 1);
    assert_int_equal(tacit_model_classes(tacit_session_model(s)), 3);
    /* rows of classes 0, 1, 2 */
    static const double both[2][6] = {{1, 0, 0, 1, -9, -9}, {0, 1, 1, 0, 9, 9}};
    check_ok(tacit_session_adopt(s, &both[0][0], &err), &err);
    tacit_session_scores(s, TACIT_TEST, scores);
    assert_true(scores[0] == 0.75 && scores[1] == 0.25);
    tacit_session_free(s);
    tacit_experiment_clear(&x);
    folder_remove(&f, (const char *const[]){"x", "tx", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_trains_on_them),
        cmocka_unit_test(test_they_are_described),
        cmocka_unit_test(test_pixels_are_divided),
        cmocka_unit_test(test_scales_come_from_training_records),
        cmocka_unit_test(test_labels_that_tests_lack),
        cmocka_unit_test(test_missing_values),
        cmocka_unit_test(test_the_wider_file_counts),
        cmocka_unit_test(test_options_that_do_not_fit),
        cmocka_unit_test(test_files_that_do_not_fit),
        cmocka_unit_test(test_everybody_is_scored_on_all),
        cmocka_unit_test(test_a_class_nobody_trained_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
