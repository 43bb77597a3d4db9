/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ratings without leaks: features, offsets and profiles from files and from public users. What
 * matters most is what does *not* change when an agent's rating does.
 */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/als.h"
#include "data/shard.h"
#include "data/table.h"

enum { USERS = 20, ITEMS = 25, LISTED = 30 }; /* nobody rates the last items */
enum { ALS, ITEMS_FILE, ALS_PUBLIC, BOTH };
enum { OF_USER, OF_ALL, OF_CONSTANT, OF_PUBLIC, OF_PUBLIC_ITEMS };
enum { BY_RATINGS, BY_CENTRED, BY_USERS, BY_NOTHING };

typedef double grid[USERS][LISTED]; /* NaN: not rated */

static char items_path[] = "/tmp/tacit-items-XXXXXX", users_path[] = "/tmp/tacit-people-XXXXXX";

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* Item k is written "k" in ratings with k from 1; facts are year and two flags. */
static void write_items(void)
{
    char text[4000];
    size_t used = 0;
    for (int k = 1; k <= LISTED; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d|Film %d|01-Jan-%d|%d|%d\n", k,
                                 k, 1950 + 3 * (k % 15), k % 2, k % 3 == 0);
    write_file(items_path, text);
}

static void write_users(void)
{
    char text[4000];
    size_t used = 0;
    for (int k = USERS; k >= 1; k--) /* in an order of its own */
        used += (size_t)snprintf(text + used, sizeof text - used, "%d|%d|%s|%s|0%d\n", k, 20 + k,
                                 k % 2 ? "M" : "F", k % 3 ? "writer" : "baker", k);
    write_file(users_path, text);
}

static int make_files(void **state)
{
    (void)state;
    int a = mkstemp(items_path), b = mkstemp(users_path);
    if (a < 0 || b < 0 || close(a) || close(b))
        return -1;
    write_items();
    write_users();
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    return remove(items_path) | remove(users_path);
}

static tacit_data_options options(int features, int offset, int profile)
{
    tacit_data_options o;
    tacit_error err = {0};
    check_ok(tacit_options_defaults(&tacit_data_section, &o, &err), &err);
    o.source = TACIT_SOURCE_RATINGS;
    o.factors = 3;
    o.als_sweeps = 4;
    o.bias = true;
    o.features = features;
    o.offset = offset;
    o.profile = profile;
    if (features == ITEMS_FILE || features == BOTH)
        snprintf(o.items, sizeof o.items, "%s", items_path);
    if (profile == BY_USERS)
        snprintf(o.users, sizeof o.users, "%s", users_path);
    bool public = features == ALS_PUBLIC || features == BOTH || offset >= OF_PUBLIC;
    o.public_users = public ? 0.3 : 0;
    return o;
}

static void some_ratings(grid g, uint64_t seed)
{
    dice d = {seed};
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < LISTED; i++)
            g[u][i] = i < ITEMS && dice_unit(&d) < 0.6 ? 1 + (double)dice_below(&d, 5) : NAN;
}

/* With words for names, items are numbered by first appearance, so that a change of one line
 * would renumber all of them. */
static char *spell(grid g, const char *prefix)
{
    size_t room = USERS * LISTED * 32, used = 0;
    char *text = calloc(1, room);
    assert_non_null(text);
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < LISTED; i++)
            if (!isnan(g[u][i]))
                used += (size_t)snprintf(text + used, room - used, "%d\t%s%d\t%g\n", u + 1, prefix,
                                         i + 1, g[u][i]);
    return text;
}

static tacit_status load(tacit_source *s, const tacit_data_options *o, const char *text,
                         tacit_error *err)
{
    return tacit_data_ratings(s, o, "r.data", text, strlen(text), TACIT_F64, 5, err);
}

static tacit_source from_grid(const tacit_data_options *o, grid g, const char *prefix)
{
    tacit_source s;
    tacit_error err = {0};
    char *text = spell(g, prefix);
    check_ok(load(&s, o, text, &err), &err);
    free(text);
    return s;
}

/* The rows of an agent's split that differ; UINT32_MAX if their number does. */
static uint32_t different_rows(const tacit_source *a, const tacit_source *b, uint32_t agent,
                               tacit_split split)
{
    size_t p = tacit_dataset_features(a->data), i = 0, j = 0;
    tacit_batch x, y;
    uint32_t rows = tacit_dataset_rows(a->data, agent, split), count = 0;
    if (tacit_dataset_features(b->data) != p || tacit_dataset_rows(b->data, agent, split) != rows)
        return UINT32_MAX;
    while (tacit_shard_next(tacit_dataset_shard(a->data, agent, split), &i, &x) &&
           tacit_shard_next(tacit_dataset_shard(b->data, agent, split), &j, &y))
        for (size_t r = 0; r < x.rows; r++)
            count += memcmp((const double *)x.x + r * p, (const double *)y.x + r * p, p * 8) ||
                     ((const double *)x.y)[r] != ((const double *)y.y)[r];
    return count;
}

static bool same_profiles(const tacit_source *a, const tacit_source *b)
{
    size_t n = tacit_dataset_agents(a->data) * a->targets.dimension;
    return a->targets.dimension == b->targets.dimension &&
           (n == 0 || memcmp(a->targets.dense, b->targets.dense, n * sizeof(double)) == 0);
}

static uint32_t agent_called(const tacit_source *s, int name)
{
    char number[TACIT_NUMBER_MAX], wanted[16];
    snprintf(wanted, sizeof wanted, "%d", name);
    for (uint32_t i = 0; i < tacit_dataset_agents(s->data); i++)
        if (strcmp(tacit_dataset_name(s->data, i, number), wanted) == 0)
            return i;
    return UINT32_MAX;
}

/* ---- nothing leaks ---- */

static const struct {
    int features, offset, profile;
} sound[] = {
    {ITEMS_FILE, OF_CONSTANT, BY_USERS},     {ITEMS_FILE, OF_PUBLIC, BY_NOTHING},
    {ALS_PUBLIC, OF_PUBLIC, BY_USERS},       {ALS_PUBLIC, OF_PUBLIC_ITEMS, BY_NOTHING},
    {BOTH, OF_PUBLIC_ITEMS, BY_USERS},       {BOTH, OF_CONSTANT, BY_USERS},
    {ITEMS_FILE, OF_PUBLIC_ITEMS, BY_USERS},
};

/* How many records differ, of all, when `g` becomes `h`. */
static uint32_t all_differences(const tacit_data_options *o, grid g, grid h, const char *prefix)
{
    tacit_source a = from_grid(o, g, prefix), b = from_grid(o, h, prefix);
    uint32_t count = 0;
    assert_int_equal(a.leaks, 0);
    assert_false(a.targets_leak);
    assert_true(same_profiles(&a, &b));
    for (uint32_t i = 0; i < tacit_dataset_agents(a.data); i++)
        for (int split = 0; split < TACIT_SPLITS; split++)
            count += different_rows(&a, &b, i, (tacit_split)split);
    tacit_source_clear(&a);
    tacit_source_clear(&b);
    return count;
}

/* One rating of an agent changes, to another value or to an item that nobody ever rated: one
 * record changes and nothing else, not a bit of anybody's features, offsets or profile. */
static void test_an_agents_rating_is_in_one_record_only(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof sound / sizeof *sound; k++) {
        tacit_data_options o = options(sound[k].features, sound[k].offset, sound[k].profile);
        grid g, h;
        some_ratings(g, 10 + k);
        tacit_source s = from_grid(&o, g, "");
        for (int u = 0, tried = 0; u < USERS && tried < 3; u++) {
            if (agent_called(&s, u + 1) == UINT32_MAX)
                continue;
            tried++;
            for (int i = 0; i < ITEMS; i++) {
                if (isnan(g[u][i]))
                    continue;
                memcpy(h, g, sizeof h);
                h[u][i] = 6 - h[u][i] + 0.5;
                assert_int_equal(all_differences(&o, g, h, ""), 1);
            }
            /* The last item it rated becomes item 30: rows keep their order. */
            int last = ITEMS - 1;
            while (isnan(g[u][last]))
                last--;
            memcpy(h, g, sizeof h);
            h[u][LISTED - 1] = h[u][last];
            h[u][last] = NAN;
            assert_true(all_differences(&o, g, h, "") <= 1); /* 0: the items look alike */
        }
        tacit_source_clear(&s);
    }
}

/* The same where a change renumbers all items: the first line of the file speaks of another. */
static void test_names_of_items_do_not_let_ratings_in(void **state)
{
    (void)state;
    tacit_data_options o = options(ALS_PUBLIC, OF_PUBLIC_ITEMS, BY_NOTHING);
    grid g, h;
    some_ratings(g, 3);
    tacit_source s = from_grid(&o, g, "film ");
    int u = 0;
    while (agent_called(&s, u + 1) == UINT32_MAX)
        u++;
    assert_int_equal(u, 0); /* else choose another seed for this test */
    for (int i = 0; i < ITEMS; i++)
        g[0][i] = NAN;
    g[0][0] = 4; /* one rating: its place among the agent's rows cannot move */
    memcpy(h, g, sizeof h);
    h[0][8] = 4; /* "film 9" is read before all others now, and numbered 0 */
    h[0][0] = NAN;
    tacit_source a = from_grid(&o, g, "film "), b = from_grid(&o, h, "film ");
    uint32_t count = 0;
    for (uint32_t i = 0; i < tacit_dataset_agents(a.data); i++) {
        /* Rows stand in the order of the items' numbers, so compare sums of squares. */
        double sum[2] = {0};
        const tacit_source *both[] = {&a, &b};
        for (int which = 0; which < 2; which++)
            for (int split = 0; split < TACIT_SPLITS; split++) {
                size_t cursor = 0;
                tacit_batch t;
                while (tacit_shard_next(
                    tacit_dataset_shard(both[which]->data, i, (tacit_split)split), &cursor, &t))
                    for (size_t r = 0; r < t.rows; r++)
                        sum[which] = fmax(sum[which], fabs(((const double *)t.x)[r * 4]));
            }
        count += sum[0] != sum[1];
    }
    assert_true(count <= 1); /* agent 0 itself */
    tacit_source_clear(&a);
    tacit_source_clear(&b);
    tacit_source_clear(&s);
}

static void test_public_ratings_do_matter(void **state)
{
    (void)state;
    tacit_data_options o = options(ALS_PUBLIC, OF_PUBLIC, BY_NOTHING);
    grid g, h;
    some_ratings(g, 4);
    tacit_source s = from_grid(&o, g, "");
    int u = 0, i = 0;
    while (agent_called(&s, u + 1) != UINT32_MAX)
        u++;
    while (isnan(g[u][i]))
        i++;
    memcpy(h, g, sizeof h);
    h[u][i] = 6 - h[u][i] + 0.5;
    assert_true(all_differences(&o, g, h, "") > 100);
    tacit_source_clear(&s);
}

static void test_what_leaks_says_so(void **state)
{
    (void)state;
    grid g;
    some_ratings(g, 5);
    static const struct {
        int features, offset, profile;
        unsigned leaks;
        bool graph;
    } cases[] = {
        {ALS, OF_USER, BY_RATINGS, TACIT_LEAK_FEATURES | TACIT_LEAK_OFFSET, true},
        {ALS, OF_CONSTANT, BY_USERS, TACIT_LEAK_FEATURES, false},
        {ITEMS_FILE, OF_USER, BY_NOTHING, TACIT_LEAK_OFFSET, false},
        {ITEMS_FILE, OF_ALL, BY_USERS, TACIT_LEAK_OFFSET, false},
        {ITEMS_FILE, OF_CONSTANT, BY_CENTRED, 0, true},
        {ALS_PUBLIC, OF_PUBLIC, BY_RATINGS, 0, true},
        {BOTH, OF_USER, BY_USERS, TACIT_LEAK_OFFSET, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tacit_data_options o = options(cases[k].features, cases[k].offset, cases[k].profile);
        tacit_source s = from_grid(&o, g, "");
        assert_int_equal(s.leaks, cases[k].leaks);
        assert_int_equal(s.targets_leak, cases[k].graph);
        tacit_source_clear(&s);
    }
}

/* ---- public users ---- */

static void test_public_users_are_no_agents(void **state)
{
    (void)state;
    grid g;
    some_ratings(g, 6);
    tacit_data_options o = options(ITEMS_FILE, OF_PUBLIC, BY_USERS);
    tacit_source s = from_grid(&o, g, "");
    assert_int_equal(tacit_dataset_agents(s.data), USERS - 6); /* 0.3 of 20 */
    o.offset = OF_CONSTANT;
    o.public_users = 0;
    tacit_source all = from_grid(&o, g, "");
    assert_int_equal(tacit_dataset_agents(all.data), USERS);
    /* Who stays has the same items in train and test as if nobody had left. */
    for (int name = 1; name <= USERS; name++) {
        uint32_t i = agent_called(&s, name), j = agent_called(&all, name);
        if (i == UINT32_MAX)
            continue;
        for (int split = 0; split < TACIT_SPLITS; split++) {
            size_t a = 0, b = 0, p = tacit_dataset_features(s.data);
            tacit_batch x, y;
            assert_int_equal(tacit_dataset_rows(s.data, i, (tacit_split)split),
                             tacit_dataset_rows(all.data, j, (tacit_split)split));
            while (tacit_shard_next(tacit_dataset_shard(s.data, i, (tacit_split)split), &a, &x) &&
                   tacit_shard_next(tacit_dataset_shard(all.data, j, (tacit_split)split), &b, &y))
                assert_memory_equal(x.x, y.x, x.rows * p * sizeof(double));
        }
        assert_memory_equal(s.targets.dense + i * s.targets.dimension,
                            all.targets.dense + j * all.targets.dimension,
                            s.targets.dimension * sizeof(double));
    }
    tacit_source_clear(&s);
    tacit_source_clear(&all);
}

/* Two of four users are public. Whoever they are: their ratings are the same. */
#define FOUR                                                                               \
    "1 1 5\n1 2 3\n1 3 1\n2 1 5\n2 2 3\n2 3 1\n3 1 5\n3 2 3\n3 3 1\n4 1 5\n4 2 3\n4 3 1\n" \
    "1 4 3\n2 4 3\n3 4 3\n4 4 3\n"

static void test_offsets_by_hand(void **state)
{
    (void)state;
    tacit_data_options o = options(ITEMS_FILE, OF_PUBLIC_ITEMS, BY_NOTHING);
    o.public_users = 0.5;
    o.shrinkage = 2;
    o.test_fraction = 0;
    tacit_source s;
    tacit_error err = {0};
    check_ok(load(&s, &o, FOUR, &err), &err);
    /* Mean 3; item 1 has two differences of 2, so effect 4 / (2 + 2) = 1. */
    const double want[] = {5 - 3 - 1, 0, 1 - 3 + 1, 0};
    size_t cursor = 0;
    tacit_batch b;
    assert_int_equal(tacit_dataset_agents(s.data), 2);
    assert_true(tacit_shard_next(tacit_dataset_shard(s.data, 1, TACIT_TRAIN), &cursor, &b));
    for (size_t r = 0; r < 4; r++)
        assert_true(fabs(((const double *)b.y)[r] - want[r]) < 1e-12);
    tacit_source_clear(&s);

    o = options(ITEMS_FILE, OF_CONSTANT, BY_NOTHING);
    o.offset_value = 2.5;
    o.test_fraction = 0;
    check_ok(load(&s, &o, FOUR, &err), &err);
    cursor = 0;
    assert_true(tacit_shard_next(tacit_dataset_shard(s.data, 0, TACIT_TRAIN), &cursor, &b));
    assert_true(((const double *)b.y)[0] == 2.5 && ((const double *)b.y)[2] == -1.5);
    tacit_source_clear(&s);
}

/* x_i . x_j = q_i^T P q_j, with q and p of als over the public users and P the mean of p p^T. Where
 * labels come without items' public effects, als does not see these either. */
static void check_factors(int offset)
{
    enum { P = 3 };
    grid g;
    some_ratings(g, 7);
    tacit_data_options o = options(ALS_PUBLIC, offset, BY_NOTHING);
    o.shrinkage = 2;
    o.bias = false;
    o.test_fraction = 0;
    tacit_source s = from_grid(&o, g, "");
    uint32_t user[USERS * ITEMS], item[USERS * ITEMS], at[ITEMS], n = 0, people = 0;
    double value[USERS * ITEMS];
    for (int i = 0; i < ITEMS; i++) { /* by name: "1" "10" "11" ... "2" "20" ... */
        char name[16], other[16];
        at[i] = 0;
        snprintf(name, sizeof name, "%d", i + 1);
        for (int j = 0; j < ITEMS; j++) {
            snprintf(other, sizeof other, "%d", j + 1);
            at[i] += strcmp(other, name) < 0;
        }
    }
    for (int u = 0; u < USERS; u++) {
        double sum = 0, count = 0;
        if (agent_called(&s, u + 1) != UINT32_MAX)
            continue;
        people++;
        for (int i = 0; i < ITEMS; i++)
            if (!isnan(g[u][i])) {
                sum += g[u][i];
                count++;
            }
        for (uint32_t rank = 0; rank < ITEMS; rank++)
            for (int i = 0; i < ITEMS; i++)
                if (at[i] == rank && !isnan(g[u][i])) {
                    user[n] = (uint32_t)u;
                    item[n] = rank;
                    value[n++] = g[u][i] - sum / count;
                }
    }
    double effect[ITEMS] = {0}, times[ITEMS] = {0};
    for (uint32_t k = 0; k < n && offset == OF_PUBLIC_ITEMS; k++) {
        effect[item[k]] += value[k];
        times[item[k]]++;
    }
    for (uint32_t k = 0; k < n && offset == OF_PUBLIC_ITEMS; k++)
        value[k] -= effect[item[k]] / (times[item[k]] + 2);
    tacit_als als;
    tacit_random random;
    tacit_error err = {0};
    tacit_random_init(&random, 5);
    check_ok(tacit_als_create(&als, USERS, ITEMS, P, o.als_lambda, n, user, item, value, &err),
             &err);
    tacit_als_start(&als, &random);
    for (int k = 0; k < o.als_sweeps; k++)
        check_ok(tacit_als_sweep(&als, &err), &err);
    double moment[P][P] = {{0}};
    for (size_t u = 0; u < USERS; u++)
        for (size_t i = 0; i < P; i++)
            for (size_t j = 0; j < P; j++)
                moment[i][j] +=
                    als.user.vector[u * P + i] * als.user.vector[u * P + j] / (double)people;
    /* The first agent's rows, in the order of its items. */
    uint32_t agent = 0, rows = 0;
    char number[TACIT_NUMBER_MAX];
    int who = (int)strtol(tacit_dataset_name(s.data, agent, number), NULL, 10) - 1;
    uint32_t rated[ITEMS];
    for (uint32_t i = 0; i < ITEMS; i++)
        if (!isnan(g[who][i]))
            rated[rows++] = i;
    size_t cursor = 0;
    tacit_batch b;
    assert_true(tacit_shard_next(tacit_dataset_shard(s.data, agent, TACIT_TRAIN), &cursor, &b));
    assert_int_equal(b.rows, rows);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t t = 0; t < rows; t++) {
            double want = 0, found = 0;
            for (size_t i = 0; i < P; i++) {
                found += ((const double *)b.x)[r * P + i] * ((const double *)b.x)[t * P + i];
                for (size_t j = 0; j < P; j++)
                    want += als.item.vector[at[rated[r]] * P + i] * moment[i][j] *
                            als.item.vector[at[rated[t]] * P + j];
            }
            assert_true(fabs(found - want) < 1e-4 * (1 + fabs(want)));
        }
    tacit_als_clear(&als);
    tacit_source_clear(&s);
}

static void test_public_factors_are_turned_by_tastes(void **state)
{
    (void)state;
    check_factors(OF_CONSTANT);
    check_factors(OF_PUBLIC_ITEMS);
}

/* ---- facts ---- */

static void test_facts_are_features_scaled(void **state)
{
    (void)state;
    tacit_data_options o = options(ITEMS_FILE, OF_CONSTANT, BY_USERS);
    o.facts_scale = 0.25;
    o.test_fraction = 0;
    tacit_source s;
    tacit_error err = {0};
    check_ok(load(&s, &o, "1 3 4\n2 2 4\n2 9 1\n", &err), &err);
    size_t p = tacit_dataset_features(s.data), cursor = 0;
    tacit_batch b;
    assert_true(p >= 4);
    assert_true(tacit_shard_next(tacit_dataset_shard(s.data, 0, TACIT_TRAIN), &cursor, &b));
    const double *x = b.x; /* item 3: both flags; then the bias, which is not scaled */
    assert_true(x[p - 1] == 1 && x[p - 2] == 0.25 && x[p - 3] == 0.25);
    assert_true(s.targets.dense && s.targets.dimension >= 5);
    tacit_source_clear(&s);
}

static void test_what_is_refused_and_in_which_words(void **state)
{
    (void)state;
    tacit_source s;
    tacit_error err = {0};
    tacit_data_options o = options(ITEMS_FILE, OF_CONSTANT, BY_USERS);
    check_fails(load(&s, &o, "1 3 4\n2 77 4\n2 99 1\n", &err), TACIT_EINPUT, &err,
                ":2: item \"77\" is not in data.items");
    assert_non_null(strstr(err.text, "nor 1 more"));
    check_fails(load(&s, &o, "1 3 4\n44 3 4\n", &err), TACIT_EINPUT, &err,
                "user \"44\" has ratings but is not in data.users");
    snprintf(o.items, sizeof o.items, "/nowhere/items");
    check_fails(load(&s, &o, FOUR, &err), TACIT_EINPUT, &err, "/nowhere/items");
    o.items[0] = '\0';
    check_fails(load(&s, &o, FOUR, &err), TACIT_EINPUT, &err, "data.items");
    o = options(ITEMS_FILE, OF_CONSTANT, BY_USERS);
    o.users[0] = '\0';
    check_fails(load(&s, &o, FOUR, &err), TACIT_EINPUT, &err, "data.users");
    o = options(ITEMS_FILE, OF_CONSTANT, BY_USERS);
    o.features = ALS;
    check_fails(load(&s, &o, FOUR, &err), TACIT_EINPUT, &err, "data.items is given but not used");
    o.features = ITEMS_FILE;
    o.profile = BY_NOTHING;
    check_fails(load(&s, &o, FOUR, &err), TACIT_EINPUT, &err, "data.users is given but not used");
    o = options(ALS_PUBLIC, OF_PUBLIC, BY_NOTHING);
    o.public_users = 0;
    check_fails(load(&s, &o, FOUR, &err), TACIT_EINPUT, &err, "data.public-users is 0");
    o.public_users = 0.01;
    check_fails(load(&s, &o, FOUR, &err), TACIT_EINPUT, &err, "of 4 users that makes 0 public");
    o.public_users = 1;
    check_fails(load(&s, &o, FOUR, &err), TACIT_EINPUT, &err, "of 4 users that makes 4 public");
    o = options(ALS, OF_USER, BY_RATINGS);
    o.public_users = 0.5;
    check_fails(load(&s, &o, FOUR, &err), TACIT_EINPUT, &err, "als-public");
    assert_null(s.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_agents_rating_is_in_one_record_only),
        cmocka_unit_test(test_names_of_items_do_not_let_ratings_in),
        cmocka_unit_test(test_public_ratings_do_matter),
        cmocka_unit_test(test_what_leaks_says_so),
        cmocka_unit_test(test_public_users_are_no_agents),
        cmocka_unit_test(test_offsets_by_hand),
        cmocka_unit_test(test_public_factors_are_turned_by_tastes),
        cmocka_unit_test(test_facts_are_features_scaled),
        cmocka_unit_test(test_what_is_refused_and_in_which_words),
    };
    return cmocka_run_group_tests_name("ratings_public", tests, make_files, remove_files);
}
