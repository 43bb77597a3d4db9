/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features by alternating least squares: closed forms, a gradient written from the objective,
 * and what they are good for: ratings of a low rank, where agents that ask their neighbours
 * predict better than agents on their own.
 */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/als.h"
#include "data/table.h"
#include "problem.h"

/* ---- closed forms ---- */

static tacit_als run(uint32_t users, uint32_t items, size_t factors, double lambda, size_t count,
                     const uint32_t *user, const uint32_t *item, const double *value, int sweeps)
{
    tacit_als als;
    tacit_error err = {0};
    tacit_random random;
    tacit_random_init(&random, 3);
    check_ok(tacit_als_create(&als, users, items, factors, lambda, count, user, item, value, &err),
             &err);
    tacit_als_start(&als, &random);
    double before = tacit_als_objective(&als);
    for (int k = 0; k < sweeps; k++) {
        check_ok(tacit_als_sweep(&als, &err), &err);
        double now = tacit_als_objective(&als);
        assert_true(now <= before * (1 + 1e-12) + 1e-12);
        before = now;
    }
    return als;
}

static double product(const tacit_als *als, uint32_t user, uint32_t item)
{
    double sum = 0;
    for (size_t f = 0; f < als->factors; f++)
        sum +=
            als->user.vector[user * als->factors + f] * als->item.vector[item * als->factors + f];
    return sum;
}

/* One rating r: min (r - pq)^2 + lambda (p^2 + q^2) has |p| = |q| and pq = r - lambda, or zero
 * if r <= lambda. The same for n items rated alike, if lambda is weighted by numbers of ratings:
 * unweighted it would be r - lambda / sqrt(n). */
static void test_one_user_by_hand(void **state)
{
    (void)state;
    const uint32_t user[] = {0, 0, 0, 0}, item[] = {0, 1, 2, 3};
    const double value[] = {2, 2, 2, 2}, small[] = {0.3};
    tacit_als als = run(1, 1, 1, 0.5, 1, user, item, value, 100);
    assert_true(fabs(product(&als, 0, 0) - 1.5) < 1e-9);
    assert_true(fabs(tacit_als_objective(&als) - (0.25 + 0.5 * 3)) < 1e-9);
    tacit_als_clear(&als);

    als = run(1, 1, 3, 0.5, 1, user, item, value, 100); /* more factors add nothing */
    assert_true(fabs(product(&als, 0, 0) - 1.5) < 1e-9);
    tacit_als_clear(&als);

    als = run(1, 4, 2, 0.5, 4, user, item, value, 200);
    for (uint32_t k = 0; k < 4; k++)
        assert_true(fabs(product(&als, 0, k) - 1.5) < 1e-9);
    tacit_als_clear(&als);

    als = run(1, 1, 1, 0.5, 1, user, item, small, 200);
    assert_true(fabs(product(&als, 0, 0)) < 1e-9);
    tacit_als_clear(&als);
}

static void test_who_has_no_ratings_has_a_zero_vector(void **state)
{
    (void)state;
    const uint32_t user[] = {0, 2}, item[] = {3, 1};
    const double value[] = {1, -1};
    tacit_als als = run(3, 5, 2, 0.1, 2, user, item, value, 5);
    for (size_t f = 0; f < 2; f++) {
        assert_true(als.user.vector[2 + f] == 0);
        assert_true(als.item.vector[f] == 0);
        assert_true(als.item.vector[8 + f] == 0);
        assert_true(als.item.vector[2 + f] != 0);
    }
    tacit_als_clear(&als);
    als = run(0, 0, 2, 0.1, 0, NULL, NULL, NULL, 2); /* nobody at all */
    assert_true(tacit_als_objective(&als) == 0);
    tacit_als_clear(&als);
}

static void test_broken_numbers_are_refused(void **state)
{
    (void)state;
    const uint32_t none[] = {0};
    const double value[] = {1};
    tacit_als als;
    tacit_error err = {0};
    check_fails(tacit_als_create(&als, 1, 1, 0, 1, 1, none, none, value, &err), TACIT_EINPUT, &err,
                "data.factors");
    check_fails(tacit_als_create(&als, 1, 1, 1, 0, 1, none, none, value, &err), TACIT_EINPUT, &err,
                "data.als-lambda");
    check_fails(tacit_als_create(&als, UINT32_MAX, 1, SIZE_MAX / 2, 1, 1, none, none, value, &err),
                TACIT_EINTERNAL, &err, "memory");
    /* 1e8 against 1e-9: the sum of the two is singular in doubles */
    const uint32_t same[] = {0, 0, 0}, three[] = {0, 1, 2};
    const double large[] = {1e9, 1e9, 1e9};
    tacit_random random;
    tacit_random_init(&random, 3);
    check_ok(tacit_als_create(&als, 1, 3, 8, 1e-9, 3, same, three, large, &err), &err);
    tacit_als_start(&als, &random);
    tacit_status status = TACIT_OK;
    for (int k = 0; k < 20 && !status; k++)
        status = tacit_als_sweep(&als, &err);
    check_fails(status, TACIT_EINPUT, &err, "data.als-lambda");
    tacit_als_clear(&als);
}

/* ---- the objective ---- */

typedef struct world_of_taste {
    uint32_t users, items;
    size_t rank, count;
    uint32_t *user, *item;
    double *value; /* less the user's mean */
} world_of_taste;

static void taste_clear(world_of_taste *w)
{
    free(w->user);
    free(w->item);
    free(w->value);
}

/* Six kinds of users; a user's taste is its kind's and a little of its own. It rates a share of
 * all items between `least` and `most`. */
static world_of_taste taste(uint32_t users, uint32_t items, double least, double most, double noise,
                            uint64_t seed)
{
    enum { KINDS = 6, RANK = 3 };
    world_of_taste w = {.users = users, .items = items, .rank = RANK};
    size_t pairs = (size_t)users * items;
    w.user = calloc(pairs, sizeof *w.user);
    w.item = calloc(pairs, sizeof *w.item);
    w.value = calloc(pairs, sizeof *w.value);
    double *q = calloc((size_t)items * RANK, sizeof *q), kind[KINDS][RANK];
    assert_true(w.user && w.item && w.value && q);
    dice d = {seed};
    for (size_t k = 0; k < (size_t)items * RANK; k++)
        q[k] = dice_normal(&d);
    for (size_t k = 0; k < (size_t)KINDS * RANK; k++)
        kind[k / RANK][k % RANK] = dice_normal(&d);
    for (uint32_t u = 0; u < users; u++) {
        double own[RANK], share = dice_between(&d, least, most);
        for (size_t f = 0; f < RANK; f++)
            own[f] = kind[u % KINDS][f] + 0.2 * dice_normal(&d);
        for (uint32_t i = 0; i < items; i++) {
            if (dice_unit(&d) >= share)
                continue;
            double z = noise * dice_normal(&d);
            for (size_t f = 0; f < RANK; f++)
                z += own[f] * q[(size_t)i * RANK + f];
            w.user[w.count] = u;
            w.item[w.count] = i;
            w.value[w.count++] = z;
        }
    }
    free(q);
    return w;
}

/* The gradient by one coordinate of an item, straight from the objective. */
static double slope_of_item(const tacit_als *als, const world_of_taste *w, uint32_t item, size_t f)
{
    double slope = 0;
    const double own = als->item.vector[item * als->factors + f];
    for (size_t k = 0; k < w->count; k++)
        if (w->item[k] == item)
            slope += -2 * (w->value[k] - product(als, w->user[k], item)) *
                         als->user.vector[w->user[k] * als->factors + f] +
                     2 * als->lambda * own;
    return slope;
}

static void test_a_sweep_ends_where_no_item_wants_to_move(void **state)
{
    (void)state;
    world_of_taste w = taste(40, 50, 0.1, 0.4, 0.5, 8);
    tacit_als als = run(w.users, w.items, 4, 0.1, w.count, w.user, w.item, w.value, 12);
    for (uint32_t i = 0; i < w.items; i++)
        for (size_t f = 0; f < 4; f++)
            assert_true(fabs(slope_of_item(&als, &w, i, f)) < 1e-8);
    tacit_als_clear(&als);
    taste_clear(&w);
}

static void test_a_low_rank_is_found(void **state)
{
    (void)state;
    world_of_taste w = taste(80, 60, 0.4, 0.6, 0, 9);
    /* Every tenth rating is held out. */
    size_t n = 0, held = 0;
    uint32_t *user = calloc(w.count, sizeof *user), *item = calloc(w.count, sizeof *item);
    double *value = calloc(w.count, sizeof *value), wrong = 0, all = 0;
    assert_true(user && item && value);
    for (size_t k = 0; k < w.count; k++)
        if (k % 10) {
            user[n] = w.user[k];
            item[n] = w.item[k];
            value[n++] = w.value[k];
        }
    tacit_als als = run(w.users, w.items, w.rank, 1e-3, n, user, item, value, 60);
    for (size_t k = 0; k < w.count; k += 10, held++) {
        wrong += pow(product(&als, w.user[k], w.item[k]) - w.value[k], 2);
        all += pow(w.value[k], 2);
    }
    assert_true(held > 60);
    assert_true(wrong < 1e-3 * all); /* seen: 2e-6 */
    free(user);
    free(item);
    free(value);
    tacit_als_clear(&als);
    taste_clear(&w);
}

/* ---- what it is for ---- */

static char *spell(const world_of_taste *w)
{
    size_t room = w->count * 48 + 1, used = 0;
    char *text = calloc(1, room);
    assert_non_null(text);
    for (size_t k = 0; k < w->count; k++)
        used += (size_t)snprintf(text + used, room - used, "%u\t%u\t%.17g\n", w->user[k] + 1,
                                 w->item[k] + 1, 3 + 0.01 * w->user[k] + w->value[k]);
    return text;
}

/* Mean over users of the test RMSE. */
static double score(const tacit_source *s, const tacit_graph *graph, const char *protocol,
                    double mu, double lambda_records)
{
    tacit_error err = {0};
    const tacit_protocol *p = tacit_protocol_find(protocol);
    assert_non_null(p);
    unsigned char options[4096] = {0};
    check_ok(tacit_options_defaults(&p->options, options, &err), &err);
    if (mu > 0) {
        char text[40];
        snprintf(text, sizeof text, "%g", mu);
        check_ok(tacit_option_set(tacit_section_find(&p->options, "mu", 2), options, text, &err),
                 &err);
    }
    tacit_model_options mo = {.loss = 1, .lambda_records = lambda_records, .scalar = TACIT_F64};
    tacit_model *model;
    check_ok(tacit_model_create(&model, &mo, tacit_dataset_features(s->data), &err), &err);
    tacit_world world = world_defaults(graph, p);
    world.data = s->data;
    world.model = model;
    world.protocol_options = options;
    tacit_runtime *rt = world_create(&tacit_simulator, &world);
    world_run(rt, 100);
    double sum = 0;
    uint32_t n = tacit_dataset_agents(s->data), scored = 0;
    for (uint32_t i = 0; i < n; i++) {
        const tacit_shard *test = tacit_dataset_shard(s->data, i, TACIT_TEST);
        if (tacit_shard_rows(test) == 0)
            continue;
        sum += tacit_model_score(model, test, rt->ops->agent_model(rt, i)).owner_only;
        scored++;
    }
    rt->ops->destroy(rt);
    tacit_model_free(model);
    return sum / scored;
}

/* Three data sets; alone may even choose its regulariser on the test set, cd has fixed ones. */
static void test_neighbours_help(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        world_of_taste w = taste(400, 120, 0.05, 0.2, 0.8, seed);
        char *text = spell(&w);
        tacit_data_options o;
        tacit_graph_options go;
        tacit_error err = {0};
        tacit_source s;
        tacit_graph graph;
        check_ok(tacit_options_defaults(&tacit_data_section, &o, &err), &err);
        check_ok(tacit_options_defaults(&tacit_graph_section, &go, &err), &err);
        o.factors = 4;
        o.profile = 1;
        go.kind = TACIT_GRAPH_NEAREST;
        go.k = 8;
        check_ok(tacit_data_ratings(&s, &o, "r", text, strlen(text), TACIT_F64, seed, &err), &err);
        assert_int_equal(tacit_dataset_agents(s.data), 400);
        check_ok(tacit_graph_make(&graph, &go, 400, &s.targets, seed, &err), &err);
        double alone = INFINITY;
        for (double c = 0.25; c <= 64; c *= 2)
            alone = fmin(alone, score(&s, &graph, "alone", 0, c));
        double together = score(&s, &graph, "cd", 4, 1);
        assert_true(together < 0.985 * alone); /* seen: 0.973 to 0.978 */
        tacit_graph_clear(&graph);
        tacit_source_clear(&s);
        free(text);
        taste_clear(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_user_by_hand),
        cmocka_unit_test(test_who_has_no_ratings_has_a_zero_vector),
        cmocka_unit_test(test_broken_numbers_are_refused),
        cmocka_unit_test(test_a_sweep_ends_where_no_item_wants_to_move),
        cmocka_unit_test(test_a_low_rank_is_found),
        cmocka_unit_test(test_neighbours_help),
    };
    return cmocka_run_group_tests_name("als", tests, NULL, NULL);
}
