/* SPDX-License-Identifier: Apache-2.0 */
/* data.whiten: second moments by hand, and that nothing of agents' ratings gets into them. */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/shard.h"
#include "data/table.h"

enum { USERS = 12, ITEMS = 40, WIDEST = 16 };
enum { ALS, ITEMS_FILE, ALS_PUBLIC, BOTH };
enum { OF_CONSTANT = 2, OF_PUBLIC = 3, BY_NOTHING = 3 };

static char items_path[] = "/tmp/tacit-white-XXXXXX";

/* Year and three flags, of which the last is rare. */
static int make_file(void **state)
{
    (void)state;
    const int fd = mkstemp(items_path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f)
        return -1;
    for (int k = 1; k <= ITEMS; k++)
        fprintf(f, "%d|01-Jan-%d|%d|%d|%d\n", k, 1950 + 7 * k % 37, k % 2, k % 3 == 0, k == 5);
    return fclose(f);
}

static int remove_file(void **state)
{
    (void)state;
    return remove(items_path);
}

static tacit_data_options options(int features)
{
    tacit_data_options o;
    tacit_error err = {0};
    check_ok(tacit_options_defaults(&tacit_data_section, &o, &err), &err);
    o.source = TACIT_SOURCE_RATINGS;
    o.features = features;
    o.offset = features == ITEMS_FILE ? OF_CONSTANT : OF_PUBLIC;
    o.public_users = features == ITEMS_FILE ? 0 : 0.5;
    o.profile = BY_NOTHING;
    o.factors = 3;
    o.als_sweeps = 3;
    o.bias = true;
    o.test_fraction = 0;
    o.whiten = true;
    if (features != ALS_PUBLIC)
        snprintf(o.items, sizeof o.items, "%s", items_path);
    return o;
}

typedef bool table[USERS][ITEMS]; /* who rated what */

static tacit_source load(const tacit_data_options *o, table rated)
{
    char text[USERS * ITEMS * 16];
    size_t used = 0;
    tacit_source s;
    tacit_error err = {0};
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < ITEMS; i++)
            if (rated[u][i])
                used += (size_t)snprintf(text + used, sizeof text - used, "%d\t%d\t%d\n", u + 1,
                                         i + 1, 1 + (7 * u + 3 * i + u * i) % 5);
    check_ok(tacit_data_ratings(&s, o, "r.data", text, used, TACIT_F64, 5, &err), &err);
    return s;
}

static bool is_agent(const tacit_source *s, int user)
{
    char number[TACIT_NUMBER_MAX];
    for (uint32_t i = 0; i < tacit_dataset_agents(s->data); i++)
        if (strtol(tacit_dataset_name(s->data, i, number), NULL, 10) == user + 1)
            return true;
    return false;
}

/* Everybody rated everything; then public users, whoever they are, only some. */
static void some_ratings(const tacit_data_options *o, table rated)
{
    memset(rated, true, sizeof(table));
    tacit_source s = load(o, rated);
    for (int u = 0; u < USERS; u++)
        for (int i = 0; i < ITEMS && !is_agent(&s, u); i++)
            rated[u][i] = i < 30 && (u * i) % 3 < 2;
    tacit_source_clear(&s);
}

/* The rows of an agent that rated the first `items` items, which are these items' features. */
static const double *rows_of(const tacit_source *s, uint32_t agent, uint32_t items)
{
    static tacit_batch b;
    size_t cursor = 0;
    assert_true(tacit_shard_next(tacit_dataset_shard(s->data, agent, TACIT_TRAIN), &cursor, &b));
    assert_int_equal(b.rows, items);
    assert_true(tacit_dataset_features(s->data) <= WIDEST);
    return b.x;
}

/* sum_i w_i x_i x_i^T / sum_i w_i, w_i one more than public ratings; without a file of facts only
 * items that have such ratings count. */
static void moments(const tacit_source *s, table rated, bool file, double m[WIDEST][WIDEST])
{
    const size_t p = tacit_dataset_features(s->data);
    const double *x = rows_of(s, 0, ITEMS);
    double total = 0;
    memset(m, 0, WIDEST * sizeof *m);
    for (int i = 0; i < ITEMS; i++) {
        double w = 1;
        for (int u = 0; u < USERS; u++)
            w += rated[u][i] && !is_agent(s, u);
        w = file || w > 1 ? w : 0;
        total += w;
        for (size_t k = 0; k < p; k++)
            for (size_t l = 0; l < p; l++)
                m[k][l] += w * x[(size_t)i * p + k] * x[(size_t)i * p + l];
    }
    for (size_t k = 0; k < p * WIDEST; k++)
        m[k / WIDEST][k % WIDEST] /= total;
}

static void test_second_moments_are_alike(void **state)
{
    (void)state;
    static const int ways[] = {ITEMS_FILE, BOTH, ALS_PUBLIC};
    for (int way = 0; way < 3; way++) {
        tacit_data_options o = options(ways[way]);
        table rated;
        double m[WIDEST][WIDEST];
        some_ratings(&o, rated);
        o.whiten_ridge = 0;
        o.bias_scale = 3;
        tacit_source s = load(&o, rated);
        const size_t p = tacit_dataset_features(s.data);
        assert_int_equal(s.leaks, 0);
        assert_true(p >= (way == 2 ? 4 : 7));
        moments(&s, rated, way != 2, m);
        for (size_t k = 0; k < p; k++)
            for (size_t l = 0; l < p; l++) {
                const double want = k != l ? 0 : k + 1 < p ? 1 : 9;
                assert_true(fabs(m[k][l] * (double)p - want) < 1e-5);
            }
        tacit_source_clear(&s);
    }
}

/* With a ridge r: p M' (C + r tr(C)/f) = C, C the moments about the mean of what was before. */
static void test_a_ridge_holds_rare_features(void **state)
{
    (void)state;
    for (int bias = 0; bias < 2; bias++) {
        tacit_data_options o = options(BOTH);
        table rated;
        double m[WIDEST][WIDEST], c[WIDEST][WIDEST], trace = 0;
        some_ratings(&o, rated);
        o.bias = bias;
        o.whiten_ridge = 0.5;
        tacit_source after = load(&o, rated);
        moments(&after, rated, true, m);
        o.whiten = false;
        tacit_source before = load(&o, rated);
        moments(&before, rated, true, c);
        const size_t p = tacit_dataset_features(before.data), f = p - (size_t)bias;
        for (size_t k = 0; k < f; k++)
            for (size_t l = 0; l < f && bias; l++)
                c[k][l] -= c[k][f] * c[l][f];
        for (size_t k = 0; k < f; k++)
            trace += c[k][k];
        for (size_t k = 0; k < f; k++)
            for (size_t l = 0; l < f; l++) {
                double sum = 0.5 * trace / (double)f * m[k][l];
                for (size_t j = 0; j < f; j++)
                    sum += m[k][j] * c[j][l];
                assert_true(fabs(sum * (double)p - c[k][l]) < 1e-9 * (1 + trace));
            }
        tacit_source_clear(&after);
        tacit_source_clear(&before);
    }
}

/* The last item is rated by one agent only, who then speaks of another one instead: nobody else's
 * rows change by a bit, though the item is now rated by nobody, and known from its file alone. */
static void test_agents_have_no_part_in_it(void **state)
{
    (void)state;
    static const int ways[] = {ITEMS_FILE, BOTH, ALS_PUBLIC};
    for (int way = 0; way < 3; way++) {
        tacit_data_options o = options(ways[way]);
        table rated;
        some_ratings(&o, rated);
        tacit_source first = load(&o, rated);
        int one = USERS - 1;
        while (!is_agent(&first, one))
            one--;
        for (int u = 0; u < USERS; u++)
            rated[u][ITEMS - 1] = u == one;
        memset(rated[one], false, ITEMS - 1);
        tacit_source a = load(&o, rated);
        rated[one][ITEMS - 1] = false;
        rated[one][7] = true;
        tacit_source b = load(&o, rated);
        const size_t p = tacit_dataset_features(a.data), bytes = (ITEMS - 1) * p * sizeof(double);
        const double *x = rows_of(&a, 0, ITEMS - 1);
        assert_int_equal(tacit_dataset_features(b.data), p);
        assert_memory_equal(x, rows_of(&b, 0, ITEMS - 1), bytes);
        tacit_source_clear(&first);
        tacit_source_clear(&a);
        tacit_source_clear(&b);
    }
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const char text[] = "1 1 4\n2 2 3\n3 1 2\n4 2 2\n";
    tacit_source s;
    tacit_error err = {0};
    tacit_data_options o = options(ITEMS_FILE);
    o.features = ALS;
    o.items[0] = '\0';
    check_fails(tacit_data_ratings(&s, &o, "r", text, sizeof text - 1, TACIT_F64, 5, &err),
                TACIT_EINPUT, &err, "data.whiten takes moments of public features");
    o = options(ALS_PUBLIC);
    check_fails(tacit_data_ratings(&s, &o, "r", text, sizeof text - 1, TACIT_F64, 5, &err),
                TACIT_EINPUT, &err, "the features of all items are the same");
    o.source = TACIT_SOURCE_LINEAR_SEPARATORS;
    check_fails(tacit_data_load(&s, &o, TACIT_F64, 5, &err), TACIT_EINPUT, &err,
                "data.whiten is for ratings");
    o = options(ITEMS_FILE);
    o.bias = false;
    o.bias_scale = 2;
    check_fails(tacit_data_ratings(&s, &o, "r", text, sizeof text - 1, TACIT_F64, 5, &err),
                TACIT_EINPUT, &err, "data.bias-scale");
    assert_null(s.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_moments_are_alike),
        cmocka_unit_test(test_a_ridge_holds_rare_features),
        cmocka_unit_test(test_agents_have_no_part_in_it),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests_name("ratings_whiten", tests, make_file, remove_file);
}
