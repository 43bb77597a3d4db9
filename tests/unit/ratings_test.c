/* SPDX-License-Identifier: Apache-2.0 */
/* Ratings: what the reader takes and refuses, what is made of them and from which of them. */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/ratings.h"
#include "data/shard.h"
#include "data/table.h"

static tacit_data_options plain(void)
{
    tacit_data_options o;
    tacit_error err = {0};
    check_ok(tacit_options_defaults(&tacit_data_section, &o, &err), &err);
    o.source = TACIT_SOURCE_RATINGS;
    o.factors = 2;
    o.als_sweeps = 3;
    return o;
}

/* Text in memory of exactly its size, so that a sanitizer sees any read past it. */
static char *exactly(const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    return copy;
}

static tacit_status load(tacit_source *s, const tacit_data_options *o, const char *text,
                         uint64_t seed, tacit_error *err)
{
    char *copy = exactly(text, strlen(text));
    tacit_status status =
        tacit_data_ratings(s, o, "r.data", copy, strlen(text), TACIT_F64, seed, err);
    free(copy);
    return status;
}

static tacit_source load_good(const tacit_data_options *o, const char *text, uint64_t seed)
{
    tacit_source s;
    tacit_error err = {0};
    check_ok(load(&s, o, text, seed, &err), &err);
    return s;
}

static tacit_ratings read_good(const char *text)
{
    tacit_ratings r;
    tacit_error err = {0};
    char *copy = exactly(text, strlen(text));
    check_ok(tacit_ratings_read(&r, NULL, "r.data", copy, strlen(text), &err), &err);
    free(copy);
    return r;
}

static const char *user_of(const tacit_ratings *r, size_t k)
{
    return tacit_names_get(&r->users, r->user_name[r->rating[k].user]);
}

static const char *item_of(const tacit_ratings *r, size_t k)
{
    return tacit_names_get(&r->items, r->item_name[r->rating[k].item]);
}

/* ---- the reader ---- */

static void test_all_spellings_read_alike(void **state)
{
    (void)state;
    static const char *const spellings[] = {
        "10\t7\t4\t881250949\n2\t30\t1.5\t881250950\n2\t7\t-3\t881250951\n",
        "10\t7\t4\n2\t30\t1.5\n2\t7\t-3",
        "10::7::4::881250949\r\n2::30::1.5::0\r\n2::7::-3::1\r\n",
        "userId,movieId,rating,timestamp\n10,7,4.0,1\n2,30,1.5,2\n2,7,-3,3\n",
        "\xef\xbb\xbfuser,item,rating\n\n10, 7 ,4\n2,30,15e-1\n\n2,7,-3\n\n",
        "10 7 4\n2   30 \t1.5\n 2 7 -3 \n",
        "user item stars\n2 7 -3\n10 7 4\n2 30 1.5\n",
    };
    for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++) {
        tacit_ratings r = read_good(spellings[k]);
        assert_int_equal(r.count, 3);
        assert_int_equal(r.users.count, 2);
        assert_int_equal(r.items.count, 2);
        assert_string_equal(user_of(&r, 0), "2"); /* by number, not by appearance or letter */
        assert_string_equal(item_of(&r, 0), "7");
        assert_true(r.rating[0].value == -3);
        assert_string_equal(item_of(&r, 1), "30");
        assert_true(r.rating[1].value == 1.5);
        assert_string_equal(user_of(&r, 2), "10");
        assert_true(r.rating[2].value == 4);
        tacit_ratings_clear(&r);
    }
}

static void test_words_are_names_in_order_of_appearance(void **state)
{
    (void)state;
    tacit_ratings r = read_good("zoe\tThe Third Man\t5\nanna\tM: a film\t3\nzoe\tM: a film\t4\n");
    assert_string_equal(user_of(&r, 0), "zoe");
    assert_string_equal(item_of(&r, 0), "The Third Man");
    assert_string_equal(user_of(&r, 2), "anna");
    assert_string_equal(item_of(&r, 2), "M: a film");
    tacit_ratings_clear(&r);
    r = read_good("7 b 1\n07 a 2\n"); /* two names */
    assert_int_equal(r.users.count, 2);
    assert_string_equal(user_of(&r, 0), "7");
    tacit_ratings_clear(&r);
}

static void test_what_is_refused_and_in_which_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
    } bad[] = {
        {"", "no rating"},
        {"\n \r\n\t\n", "no rating"},
        {"user item rating\n", "no rating"},
        {"1 2\n", "r.data:1: expected"},
        {"1 2 3 4 5\n", "r.data:1: expected"},
        {"1\t2\t3\t4\n1\t3\t3\t4\n2\t2\t5", "r.data:3: 3 fields, but 4"}, /* cut in the time */
        {"1\t2\t3\t4\n1\t3\n", "r.data:2: 2 fields"},
        {"1 2 3\n1 3 3 9 9 9\n", "r.data:2: 4 fields or more, but 3"},
        {"1\t2\t3\n1\t3\t\n", "r.data:2: 2 fields"}, /* cut before the rating */
        {"1,2,3\n1,3,\n", "r.data:2: rating \"\""},
        {"1 2 good\n", "r.data:1: rating \"good\""}, /* a number: no header */
        {"1 2 3\n1 3 nan\n", "r.data:2: rating \"nan\""},
        {"ann film inf\n", "rating \"inf\""},
        {"1 2 0x10\n", "rating \"0x10\""},
        {"1 2 1e400\n", "rating \"1e400\""},
        {"1 2 1e300\n", "at most 1e+09"},
        {"u i rating\nu i rating\n", "r.data:2: rating"}, /* one header is enough */
        {"1,,3\n", "r.data:1: item \"\" is no name"},
        {"1,2,3\n,2,3\n", "r.data:2: user \"\" is no name"},
        {"1,a\x01,3\n", "r.data:1: item"},
        {"1 \xff\xfe 3\n", "not UTF-8"},
        {"1 5 3\n2 5 3\n1 6 2\n1 5 4\n", "r.data:4: user \"1\" rated item \"5\" already in line 1"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tacit_data_options o = plain();
        tacit_source s;
        tacit_error err = {0};
        tacit_status status = load(&s, &o, bad[k].text, 1, &err);
        if (status != TACIT_EINPUT || !strstr(err.text, bad[k].word))
            fail_msg("case %zu: %d \"%s\"", k, status, err.text);
        assert_null(s.data);
        assert_null(s.targets.row);
    }
}

static void test_nul_bytes_and_long_names_are_refused(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    tacit_source s;
    tacit_error err = {0};
    static const char nul[] = "1 2 3\n1\0 3 3\n";
    check_fails(tacit_data_ratings(&s, &o, "r.data", nul, sizeof nul - 1, TACIT_F64, 1, &err),
                TACIT_EINPUT, &err, "r.data:2: user");
    char text[400];
    memset(text, 'x', sizeof text);
    memcpy(text + 300, " 1 1", 4);
    check_fails(tacit_data_ratings(&s, &o, "r.data", text, 304, TACIT_F64, 1, &err), TACIT_EINPUT,
                &err, "255 bytes");
}

static void test_options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    tacit_source s;
    tacit_error err = {0};
    tacit_data_options o = plain();
    snprintf(o.positive, sizeof o.positive, "5");
    check_fails(load(&s, &o, "1 2 3\n", 1, &err), TACIT_EINPUT, &err, "data.positive");
    o = plain();
    o.partition = TACIT_PARTITION_IID;
    check_fails(load(&s, &o, "1 2 3\n", 1, &err), TACIT_EINPUT, &err, "data.partition");
    o = plain();
    o.standardise = TACIT_STANDARDISE_POOLED;
    check_fails(load(&s, &o, "1 2 3\n", 1, &err), TACIT_EINPUT, &err, "data.standardise");
    o = plain();
    o.test_fraction = 1;
    check_fails(load(&s, &o, "1 2 3\n", 1, &err), TACIT_EINPUT, &err, "data.test-fraction");
    o = plain();
    o.factors = 0;
    check_fails(load(&s, &o, "1 2 3\n", 1, &err), TACIT_EINPUT, &err, "data.factors");
}

/* ---- known users ---- */

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void test_users_that_nobody_knows_are_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/tacit-users-XXXXXX", number[TACIT_NUMBER_MAX];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    tacit_data_options o = plain();
    snprintf(o.agents_path, sizeof o.agents_path, "%s", path);
    tacit_error err = {0};
    tacit_source s;

    write_file(path, "3|24|M|writer\n1|30|F|baker\n2\n");
    check_fails(load(&s, &o, "1 8 3\n4 8 2\n", 1, &err), TACIT_EINPUT, &err,
                "r.data:2: user \"4\" is not in data.agents-path");
    /* All who are known are agents, in the order of the list, ratings or not. */
    s = load_good(&o, "1 8 3\n3 8 2\n1 9 4\n", 1);
    assert_int_equal(tacit_dataset_agents(s.data), 3);
    assert_string_equal(tacit_dataset_name(s.data, 0, number), "3");
    assert_string_equal(tacit_dataset_name(s.data, 1, number), "1");
    assert_int_equal(tacit_dataset_rows(s.data, 1, TACIT_TRAIN), 2);
    assert_int_equal(tacit_dataset_rows(s.data, 2, TACIT_TRAIN), 0);
    assert_int_equal(s.targets.row[3], 3);
    tacit_source_clear(&s);

    write_file(path, "a\nb\na\n");
    check_fails(load(&s, &o, "a 8 3\n", 1, &err), TACIT_EINPUT, &err, ":3: user \"a\" stands");
    write_file(path, "\n\n");
    check_fails(load(&s, &o, "a 8 3\n", 1, &err), TACIT_EINPUT, &err, "names no user");
    assert_int_equal(remove(path), 0);
    check_fails(load(&s, &o, "a 8 3\n", 1, &err), TACIT_EINPUT, &err, "tacit-users");
}

/* ---- records ---- */

enum { USERS = 12, ITEMS = 30 };
typedef double grid[USERS][ITEMS]; /* NaN: not rated */

static void some_ratings(grid g, uint64_t seed)
{
    dice d = {seed};
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < ITEMS; i++)
            g[u][i] = dice_unit(&d) < 0.6 ? 1 + (double)dice_below(&d, 5) : NAN;
}

/* As text, in an order of its own for every `order`. */
static char *spell(grid g, uint64_t order)
{
    size_t room = USERS * ITEMS * 24, used = 0;
    char *text = calloc(1, room);
    assert_non_null(text);
    dice d = {order};
    uint64_t turn = order ? dice_below(&d, USERS * ITEMS) : 0;
    for (uint64_t k = 0; k < USERS * ITEMS; k++) {
        uint64_t at = (turn + (order ? 7 : 1) * k) % (USERS * ITEMS); /* 7 and 360 are coprime */
        double value = g[at / ITEMS][at % ITEMS];
        if (!isnan(value))
            used += (size_t)snprintf(text + used, room - used, "%d\t%d\t%g\n",
                                     (int)(at / ITEMS) + 1, (int)(at % ITEMS) + 1, value);
    }
    return text;
}

static tacit_source from_grid(const tacit_data_options *o, grid g, uint64_t order)
{
    char *text = spell(g, order);
    tacit_source s = load_good(o, text, 5);
    free(text);
    return s;
}

static bool same_split(const tacit_source *a, const tacit_source *b, tacit_split split)
{
    size_t features = tacit_dataset_features(a->data);
    bool same = true;
    for (uint32_t u = 0; u < tacit_dataset_agents(a->data); u++) {
        size_t i = 0, j = 0;
        tacit_batch x, y;
        if (tacit_dataset_rows(a->data, u, split) != tacit_dataset_rows(b->data, u, split))
            return false;
        while (tacit_shard_next(tacit_dataset_shard(a->data, u, split), &i, &x) &&
               tacit_shard_next(tacit_dataset_shard(b->data, u, split), &j, &y))
            same = same && memcmp(x.x, y.x, x.rows * features * sizeof(double)) == 0 &&
                   memcmp(x.y, y.y, x.rows * sizeof(double)) == 0;
    }
    return same;
}

static bool same_targets(const tacit_source *a, const tacit_source *b)
{
    const tacit_targets *s = &a->targets, *t = &b->targets;
    uint32_t n = tacit_dataset_agents(a->data);
    size_t entries = s->row[n];
    return s->dimension == t->dimension && t->row[n] == entries &&
           memcmp(s->row, t->row, (n + 1) * sizeof *s->row) == 0 &&
           memcmp(s->column, t->column, entries * sizeof *s->column) == 0 &&
           memcmp(s->value, t->value, entries * sizeof *s->value) == 0;
}

static void test_the_order_of_lines_does_not_matter(void **state)
{
    (void)state;
    grid g;
    some_ratings(g, 3);
    tacit_data_options o = plain();
    o.validation_fraction = 0.2;
    tacit_source a = from_grid(&o, g, 0), b = from_grid(&o, g, 77);
    for (int split = 0; split < TACIT_SPLITS; split++)
        assert_true(same_split(&a, &b, (tacit_split)split));
    assert_true(same_targets(&a, &b));
    char *text = spell(g, 0);
    tacit_source c = load_good(&o, text, 6); /* but the seed does */
    free(text);
    assert_false(same_split(&a, &c, TACIT_TEST));
    tacit_source_clear(&a);
    tacit_source_clear(&b);
    tacit_source_clear(&c);
}

/* Profiles are the training ratings; so they say which ratings were trained on. */
static bool trained_on(const tacit_source *s, uint32_t user, uint32_t item)
{
    for (uint64_t e = s->targets.row[user]; e < s->targets.row[user + 1]; e++)
        if (s->targets.column[e] == item)
            return true;
    return false;
}

static void test_labels_are_ratings_less_the_mean_of_the_trained_on(void **state)
{
    (void)state;
    grid g;
    some_ratings(g, 4);
    tacit_data_options o = plain();
    o.validation_fraction = 0.25;
    tacit_source s = from_grid(&o, g, 0);
    assert_int_equal(s.leaks, TACIT_LEAK_FEATURES | TACIT_LEAK_OFFSET);
    assert_true(s.targets_leak);
    assert_int_equal(s.targets.dimension, ITEMS);
    for (uint32_t u = 0; u < USERS; u++) {
        double sum = 0, found = 0;
        uint32_t rated = 0, trained = 0;
        for (uint32_t i = 0; i < ITEMS; i++) {
            rated += !isnan(g[u][i]);
            if (trained_on(&s, u, i)) {
                sum += g[u][i];
                trained++;
            }
        }
        uint32_t test = (uint32_t)floor(0.2 * rated + 0.5);
        uint32_t validation = (uint32_t)floor(0.2 * rated + 0.5); /* a quarter of the rest */
        assert_int_equal(tacit_dataset_rows(s.data, u, TACIT_TEST), test);
        assert_int_equal(tacit_dataset_rows(s.data, u, TACIT_VALIDATION), validation);
        assert_int_equal(tacit_dataset_rows(s.data, u, TACIT_TRAIN), trained);
        assert_int_equal(trained, rated - test - validation);
        size_t cursor = 0;
        tacit_batch b;
        assert_true(tacit_shard_next(tacit_dataset_shard(s.data, u, TACIT_TRAIN), &cursor, &b));
        uint64_t e = s.targets.row[u];
        for (size_t r = 0; r < b.rows; r++, e++) { /* in the order of items, like the profile */
            double y = ((const double *)b.y)[r];
            assert_true(s.targets.value[e] == g[u][s.targets.column[e]]);
            assert_true(fabs(y + sum / trained - s.targets.value[e]) < 1e-12);
            found += y;
        }
        assert_true(fabs(found) < 1e-12);
    }
    o.profile = 1;
    tacit_source t = from_grid(&o, g, 0);
    for (uint32_t u = 0; u < USERS; u++) {
        double sum = 0;
        for (uint64_t e = t.targets.row[u]; e < t.targets.row[u + 1]; e++)
            sum += t.targets.value[e];
        assert_true(fabs(sum) < 1e-12);
    }
    assert_true(same_split(&s, &t, TACIT_TRAIN));
    tacit_source_clear(&s);
    tacit_source_clear(&t);
}

/* Nothing that is trained on, nor any feature, may know a rating that is scored on. */
static void test_scored_ratings_change_nothing_that_is_trained_on(void **state)
{
    (void)state;
    grid g;
    some_ratings(g, 5);
    tacit_data_options o = plain();
    o.validation_fraction = 0.2;
    tacit_source s = from_grid(&o, g, 0);
    grid other;
    memcpy(other, g, sizeof other);
    size_t changed = 0;
    for (uint32_t u = 0; u < USERS; u++)
        for (uint32_t i = 0; i < ITEMS; i++)
            if (!isnan(g[u][i]) && !trained_on(&s, u, i)) {
                other[u][i] = 6 - g[u][i] + 0.5;
                changed++;
            }
    assert_true(changed > 50);
    tacit_source t = from_grid(&o, other, 0);
    assert_true(same_split(&s, &t, TACIT_TRAIN));
    assert_true(same_targets(&s, &t));
    assert_false(same_split(&s, &t, TACIT_TEST)); /* the labels did change */
    assert_false(same_split(&s, &t, TACIT_VALIDATION));
    tacit_source_clear(&t);
    /* A trained-on rating changes features, as the leak bits say. */
    uint32_t item = s.targets.column[0];
    other[0][item] = 6 - other[0][item] + 0.5;
    t = from_grid(&o, other, 0);
    assert_false(same_split(&s, &t, TACIT_TRAIN));
    tacit_source_clear(&t);
    tacit_source_clear(&s);
}

/* Which ratings are test does not depend on whether some are held out for validation. */
static void test_validation_leaves_the_test_set_alone(void **state)
{
    (void)state;
    grid g;
    some_ratings(g, 6);
    tacit_data_options o = plain();
    tacit_source whole = from_grid(&o, g, 0);
    o.validation_fraction = 0.3;
    tacit_source held = from_grid(&o, g, 0);
    for (uint32_t u = 0; u < USERS; u++) {
        uint32_t both = 0, rows = tacit_dataset_rows(held.data, u, TACIT_TRAIN);
        assert_int_equal(tacit_dataset_rows(whole.data, u, TACIT_TEST),
                         tacit_dataset_rows(held.data, u, TACIT_TEST));
        for (uint32_t i = 0; i < ITEMS; i++)
            both += trained_on(&held, u, i) && trained_on(&whole, u, i);
        assert_int_equal(both, rows); /* so what was added to train is what was validation */
    }
    tacit_source_clear(&whole);
    tacit_source_clear(&held);
}

static void test_an_item_nobody_trained_on_has_no_features(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    o.test_fraction = 0.5;
    o.bias = true;
    /* Items are rated once each: those of test and those of train are different ones. */
    tacit_source s = load_good(&o, "1 1 1\n1 2 5\n1 3 2\n1 4 4\n2 5 1\n2 6 3\n", 9);
    assert_int_equal(tacit_dataset_features(s.data), 3);
    for (int split = 0; split < TACIT_SPLITS; split++) {
        size_t cursor = 0;
        tacit_batch b;
        if (!tacit_shard_next(tacit_dataset_shard(s.data, 0, (tacit_split)split), &cursor, &b))
            continue;
        for (size_t r = 0; r < b.rows; r++) {
            const double *x = (const double *)b.x + 3 * r;
            assert_true((x[0] == 0 && x[1] == 0) == (split == TACIT_TEST));
            assert_true(x[2] == 1);
        }
    }
    tacit_source_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_spellings_read_alike),
        cmocka_unit_test(test_words_are_names_in_order_of_appearance),
        cmocka_unit_test(test_what_is_refused_and_in_which_words),
        cmocka_unit_test(test_nul_bytes_and_long_names_are_refused),
        cmocka_unit_test(test_options_that_make_no_sense_are_refused),
        cmocka_unit_test(test_users_that_nobody_knows_are_refused),
        cmocka_unit_test(test_the_order_of_lines_does_not_matter),
        cmocka_unit_test(test_labels_are_ratings_less_the_mean_of_the_trained_on),
        cmocka_unit_test(test_scored_ratings_change_nothing_that_is_trained_on),
        cmocka_unit_test(test_validation_leaves_the_test_set_alone),
        cmocka_unit_test(test_an_item_nobody_trained_on_has_no_features),
    };
    return cmocka_run_group_tests_name("ratings", tests, NULL, NULL);
}
