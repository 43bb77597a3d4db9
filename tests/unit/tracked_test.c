/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets that know how far data moved them: two worlds that differ in one record (or in all of
 * them) hear the same words and never drift further apart than they say; and where the bound can
 * be met, it is. */
#include "tacit/tracked.h"

#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "base/scratch.h"
#include "privacy/costs.h"
#include "privacy/release.h"
#include "testing.h"

enum { P = 4 };

static void check_near(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%.17g is not %.17g within %g", got, want, within);
}

/* One of two neighbouring worlds. */
typedef struct world {
    tacit_dataset *data;
    tacit_tracked w;
} world;

typedef struct scene {
    size_t records;
    tacit_model *model;
    tacit_pool *pool;
    tacit_scratch *scratch;
    world side[2];
    dice dice;
} scene;

static void open_scene(scene *s, size_t records, int loss, tacit_scalar scalar, double lambda,
                       uint64_t seed)
{
    tacit_error err = {0};
    *s = (scene){.records = records, .dice = {seed}};
    const tacit_model_options options = {.loss = loss, .lambda = lambda, .scalar = scalar};
    check_ok(tacit_model_create(&s->model, &options, P, &err), &err);
    s->pool = tacit_pool_create(false);
    s->scratch = tacit_scratch_create();
    const uint32_t rows = (uint32_t)records, *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    for (int k = 0; k < 2; k++) {
        check_ok(tacit_dataset_create(&s->side[k].data, 1, P, scalar, counts, &err), &err);
        s->side[k].w.value = tacit_vector_secret(
            tacit_pool_vector(s->pool, tacit_model_shape(s->model), TACIT_VECTOR_SECRET));
    }
}

static void close_scene(scene *s)
{
    for (int k = 0; k < 2; k++) {
        tacit_vector_drop(s->pool, tacit_vector_of_secret(s->side[k].w.value));
        tacit_dataset_free(s->side[k].data);
    }
    tacit_model_free(s->model);
    tacit_scratch_free(s->scratch);
    tacit_pool_free(s->pool);
}

static void put(scene *s, int side, size_t row, const double *x, double y)
{
    tacit_error err = {0};
    check_ok(tacit_dataset_put(s->side[side].data, 0, TACIT_TRAIN, row, x, y, &err), &err);
}

/* Records alike but for `different` of them; labels suit the loss. */
static void deal(scene *s, int loss, size_t different)
{
    for (size_t r = 0; r < s->records; r++)
        for (int side = 0; side < 2; side++) {
            double x[P], y;
            static double kept[P], label;
            for (int k = 0; k < P; k++)
                x[k] = 3 * dice_normal(&s->dice);
            y = loss ? 5 * dice_normal(&s->dice) : dice_unit(&s->dice) < 0.5 ? -1 : 1;
            if (side == 0) {
                memcpy(kept, x, sizeof kept);
                label = y;
            }
            put(s, side, r, r < different ? x : kept, r < different ? y : label);
        }
}

static const tacit_shard *shard_of(const scene *s, int side)
{
    return tacit_dataset_shard(s->side[side].data, 0, TACIT_TRAIN);
}

static double number(const scene *s, int side, size_t k)
{
    return tacit_vector_get(tacit_vector_of_secret(s->side[side].w.value), 0, k);
}

static double apart(const scene *s)
{
    double sum = 0;
    for (size_t k = 0; k < P; k++)
        sum += pow(number(s, 0, k) - number(s, 1, k), 2);
    return sqrt(sum);
}

static void descend(scene *s, const tacit_tracking *how, tacit_some_records some, double keep,
                    double step)
{
    tacit_error err = {0};
    for (int side = 0; side < 2; side++) {
        tacit_scratch_mark mark = tacit_scratch_now(s->scratch);
        check_ok(tacit_tracked_descend(&s->side[side].w, how, s->model, shard_of(s, side), some,
                                       keep, step, s->scratch, &err),
                 &err);
        tacit_scratch_rewind(s->scratch, mark);
    }
}

static void mix(scene *s, const tacit_tracking *how, double keep)
{
    tacit_public *word[2];
    double coef[2];
    for (int j = 0; j < 2; j++) {
        word[j] = tacit_vector_public(tacit_pool_vector(s->pool, tacit_model_shape(s->model), 0));
        coef[j] = dice_unit(&s->dice) - 0.5;
        for (size_t k = 0; k < P; k++)
            tacit_public_set(word[j], 0, k, 2 * dice_normal(&s->dice));
    }
    const tacit_public *terms[] = {word[0], word[1]};
    for (int side = 0; side < 2; side++)
        tacit_tracked_mix(&s->side[side].w, how, keep, 2, coef, terms);
    for (int j = 0; j < 2; j++)
        tacit_vector_drop(s->pool, tacit_vector_of_public(word[j]));
}

/* A random walk of both worlds; how near the bound they ever came. */
static double walk(uint64_t seed, int loss, tacit_unit unit, double step, size_t batch)
{
    scene s;
    double nearest = 0;
    const size_t records = 7;
    const tacit_tracking how = {
        .unit = unit, .norm = TACIT_L2, .clip = 0.5, .radius = 1.5, .reach = 4, .longest = 1e3};
    open_scene(&s, records, loss, TACIT_F64, 0.01, seed);
    deal(&s, loss, unit == TACIT_UNIT_USER ? records : 1);
    for (int t = 0; t < 60; t++) {
        const double keep = 0.3 + 0.7 * dice_unit(&s.dice);
        if (t % 3 == 2)
            mix(&s, &how, keep);
        else
            descend(&s, &how,
                    (tacit_some_records){.first = (size_t)t * batch % records, .count = batch}, 1,
                    step);
        assert_true(apart(&s) <= s.side[0].w.moved);
        assert_true(s.side[0].w.moved == s.side[1].w.moved); /* it does not depend on data */
        nearest = fmax(nearest, apart(&s) / s.side[0].w.moved);
    }
    close_scene(&s);
    return nearest;
}

static void test_never_further_than_it_says(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++)
        for (int loss = 0; loss < 2; loss++)
            for (int unit = 0; unit < 2; unit++) {
                const double step = seed % 3 == 0 ? 3 : 0.2; /* beyond 2/L, too */
                walk(seed, loss, (tacit_unit)unit, step, 1 + seed % 7);
            }
}

/* One record whose clipped gradient always points one way in one world, and the other way in the
 * other: the bound is met, step for step. */
static void test_bound_is_met(void **state)
{
    (void)state;
    for (int unit = 0; unit < 2; unit++) {
        scene s;
        const tacit_tracking how = {.unit = (tacit_unit)unit,
                                    .norm = TACIT_L2,
                                    .clip = 0.5,
                                    .radius = 1,
                                    .reach = 50,
                                    .longest = 1e3};
        open_scene(&s, 3, 1, TACIT_F64, 1e-12, 1);
        const double along[P] = {1}, none[P] = {0};
        for (size_t r = 0; r < 3; r++)
            for (int side = 0; side < 2; side++)
                put(&s, side, r, r == 0 || unit ? along : none, side ? 1e6 : -1e6);
        for (int t = 1; t <= 20; t++) {
            descend(&s, &how, (tacit_some_records){0, 3}, 1, 0.1);
            const double each = unit ? 2 * 0.1 * 0.5 : 2 * 0.1 * 0.5 / 3;
            check_near(apart(&s), t * each, 1e-6 * t * each);
            assert_true(apart(&s) <= s.side[0].w.moved);
            assert_true(s.side[0].w.moved <= t * each * (1 + 1e-4));
        }
        /* what is kept in part is forgotten in part; what is kept whole is not */
        const double before = s.side[0].w.moved;
        mix(&s, &how, 0.25);
        assert_true(s.side[0].w.moved <= 0.25 * before * (1 + 1e-4));
        assert_true(apart(&s) > 0.24 * before);
        close_scene(&s);
    }
}

/* Steps beyond 2/L stretch what data did before, and rows are cut where that counts. */
static void test_stretching(void **state)
{
    (void)state;
    enum { MANY = 400 };
    static const struct {
        double length, step; /* of rows, before they are cut to 1 */
    } cases[] = {{1, 3}, {1, 0.4}, {10, 0.5}, {10, 1.5}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        scene s;
        const tacit_tracking how = {.unit = TACIT_UNIT_RECORD,
                                    .norm = TACIT_L2,
                                    .clip = 1e6,
                                    .radius = 1,
                                    .reach = 1e8,
                                    .longest = 1e9};
        open_scene(&s, MANY, 1, TACIT_F64, 1e-12, 1);
        const double along[P] = {cases[c].length};
        for (size_t r = 0; r < MANY; r++)
            for (int side = 0; side < 2; side++)
                put(&s, side, r, along, r == 0 && side ? 4000 : 0);
        descend(&s, &how, (tacit_some_records){0, MANY}, 1, cases[c].step);
        for (int t = 0; t < 5; t++) { /* what differs is in the batch no more */
            const double before = apart(&s);
            descend(&s, &how, (tacit_some_records){1, MANY - 1}, 1, cases[c].step);
            check_near(apart(&s), before * fabs(1 - 2 * cases[c].step), 1e-6 * before);
            assert_true(apart(&s) <= s.side[0].w.moved);
        }
        close_scene(&s);
    }
}

/* Without bounds: plain gradient descent, in either precision, over any run of records. */
static void test_plain_descent(void **state)
{
    (void)state;
    const tacit_tracking how = {
        .clip = INFINITY, .radius = INFINITY, .reach = INFINITY, .longest = INFINITY};
    for (int scalar = 0; scalar < 2; scalar++)
        for (size_t first = 0; first < 5; first++)
            for (size_t count = 1; count <= 5; count++) {
                scene s;
                double w[P] = {0.3, -0.2, 0.1, 0}, goal[P], x[5][P], y[5];
                open_scene(&s, 5, 1, (tacit_scalar)scalar, 0.1, 7);
                for (size_t r = 0; r < 5; r++) {
                    for (size_t k = 0; k < P; k++)
                        x[r][k] = (float)dice_normal(&s.dice);
                    y[r] = (float)dice_normal(&s.dice);
                    put(&s, 0, r, x[r], y[r]);
                    put(&s, 1, r, x[r], y[r]);
                }
                for (size_t k = 0; k < P; k++) {
                    w[k] = (float)w[k];
                    tacit_vector_set(tacit_vector_of_secret(s.side[0].w.value), 0, k, w[k]);
                    goal[k] = (0.7 - 2 * 0.05 * 0.1) * w[k];
                }
                for (size_t j = 0; j < count; j++) {
                    const size_t r = (first + j) % 5;
                    double z = -y[r];
                    for (size_t k = 0; k < P; k++)
                        z += x[r][k] * w[k];
                    for (size_t k = 0; k < P; k++)
                        goal[k] -= 0.05 / (double)count * 2 * z * x[r][k];
                }
                descend(&s, &how, (tacit_some_records){first, count}, 0.7, 0.05);
                for (size_t k = 0; k < P; k++)
                    check_near(number(&s, 0, k), goal[k], scalar ? 1e-12 : 1e-6);
                close_scene(&s);
            }
}

static void test_broken_records_have_no_say(void **state)
{
    (void)state;
    scene s;
    const tacit_tracking how = {.clip = 1, .radius = 1, .reach = 4, .longest = 1e3};
    open_scene(&s, 2, 1, TACIT_F64, 0.1, 3);
    const double bad[2][P] = {{1e200, 1, 0, 0}, {-1e300, 0, 0, 1e300}}, fine[P] = {1, 0, 0, 0};
    for (int side = 0; side < 2; side++) {
        put(&s, side, 0, bad[side], 1);
        put(&s, side, 1, fine, 1);
    }
    descend(&s, &how, (tacit_some_records){0, 2}, 1, 0.1);
    assert_true(isfinite(apart(&s)) && apart(&s) <= s.side[0].w.moved);
    assert_true(number(&s, 0, 0) > 0);
    tacit_public *word =
        tacit_vector_public(tacit_pool_vector(s.pool, tacit_model_shape(s.model), 0));
    const tacit_public *term = word;
    const double one = 1, was = number(&s, 0, 0);
    tacit_public_set(word, 0, 0, NAN);
    assert_false(tacit_tracked_takes(&how, word));
    tacit_tracked_mix(&s.side[0].w, &how, 1, 1, &one, &term);
    assert_true(number(&s, 0, 0) == was);
    tacit_public_set(word, 0, 0, 1e4); /* longer than any honest word */
    assert_false(tacit_tracked_takes(&how, word));
    tacit_tracked_mix(&s.side[0].w, &how, 1, 1, &one, &term);
    assert_true(number(&s, 0, 0) == was);
    tacit_public_set(word, 0, 0, 100); /* within what is listened to, beyond reach */
    tacit_tracked_mix(&s.side[0].w, &how, 1, 1, &one, &term);
    check_near(number(&s, 0, 0), 4, 1e-12);
    tacit_vector_drop(s.pool, tacit_vector_of_public(word));
    close_scene(&s);
}

/* ---- telling ---- */

static double steps_apart(const tacit_bounded *a, const tacit_bounded *b, tacit_norm norm)
{
    double sum = 0;
    for (size_t k = 0; k < P; k++) {
        const double d = fabs((double)(a->steps[k] - b->steps[k]));
        sum += norm == TACIT_L1 ? d : d * d;
    }
    return norm == TACIT_L1 ? sum : sqrt(sum);
}

static void test_release_covers_what_moved(void **state)
{
    (void)state;
    for (int law = TACIT_MECHANISM_LAPLACE; law <= TACIT_MECHANISM_GAUSSIAN; law++) {
        scene s;
        tacit_error err = {0};
        tacit_cost cost, small;
        tacit_bounded *b[2];
        const tacit_privacy_options options = {.mechanism = law, .adjacency = TACIT_REPLACE};
        const tacit_tracking how = {.clip = 1, .radius = 1, .reach = 4, .longest = 1e3};
        open_scene(&s, 3, 0, TACIT_F64, 0.1, 11);
        deal(&s, 0, 1);
        for (int t = 0; t < 5; t++)
            descend(&s, &how, (tacit_some_records){0, 3}, 1, 0.3);
        const double moved = s.side[0].w.moved;
        check_ok(tacit_tracked_cost(&cost, s.model, &options, moved, 0.7, &err), &err);
        check_ok(tacit_tracked_cost(&small, s.model, &options, moved * 0.99, 0.7, &err), &err);
        const double norm = law == TACIT_MECHANISM_LAPLACE ? sqrt(P) : 1;
        assert_true(cost.sensitivity >= moved * norm && cost.sensitivity <= moved * norm * 1.001);
        assert_true(cost.noise >= 0.7 && cost.noise < 0.7 * 1.001);
        for (int side = 0; side < 2; side++) {
            tacit_permit permit = {.cost = cost, .state = TACIT_PERMIT_RESERVED};
            check_ok(tacit_tracked_bound(&s.side[side].w, &permit, s.scratch, &b[side], &err),
                     &err);
            tacit_permit less = {.cost = small, .state = TACIT_PERMIT_RESERVED};
            assert_int_equal(tacit_tracked_bound(&s.side[side].w, &less, s.scratch, &b[1], &err) ==
                                 TACIT_OK,
                             false);
            assert_int_equal(less.state, TACIT_PERMIT_RESERVED);
            check_ok(
                tacit_tracked_bound(&s.side[side].w,
                                    &(tacit_permit){.cost = cost, .state = TACIT_PERMIT_RESERVED},
                                    s.scratch, &b[side], &err),
                &err);
            for (size_t k = 0; k < P; k++)
                check_near(ldexp((double)b[side]->steps[k], cost.grid), number(&s, side, k),
                           ldexp(0.51, cost.grid));
        }
        assert_true(steps_apart(b[0], b[1], cost.norm) <= ldexp(cost.sensitivity, -cost.grid));
        close_scene(&s);
    }
}

static void test_fixed_point_for_masks(void **state)
{
    (void)state;
    scene s;
    tacit_error err = {0};
    tacit_cost cost;
    tacit_bounded *b;
    tacit_shape shape;
    const tacit_segment numbers = {"numbers", TACIT_I64, P};
    check_ok(tacit_shape_init(&shape, &numbers, 1, &err), &err);
    const tacit_privacy_options options = {.mechanism = TACIT_MECHANISM_GAUSSIAN,
                                           .adjacency = TACIT_REPLACE};
    const tacit_tracking how = {.clip = 1, .radius = 1, .reach = 4, .longest = 1e3};
    open_scene(&s, 3, 0, TACIT_F64, 0.1, 11);
    deal(&s, 0, 1);
    descend(&s, &how, (tacit_some_records){0, 3}, 1, 0.3);
    const double moved = s.side[0].w.moved * 0.25;
    check_ok(tacit_tracked_cost_fixed(&cost, s.model, &options, moved, 0.1, 24, &err), &err);
    assert_int_equal(cost.grid, -24);
    check_ok(tacit_cost_check(&cost, &err), &err);
    tacit_permit permit = {.cost = cost, .state = TACIT_PERMIT_RESERVED};
    check_ok(
        tacit_tracked_bound_fixed(&s.side[0].w, &permit, 0.25, 24, &shape, s.scratch, &b, &err),
        &err);
    for (size_t k = 0; k < P; k++)
        assert_int_equal(b->steps[k], llrint(ldexp(0.25 * number(&s, 0, k), 24)));
    /* a larger weight was not paid for */
    tacit_permit more = {.cost = cost, .state = TACIT_PERMIT_RESERVED};
    assert_int_equal(
        tacit_tracked_bound_fixed(&s.side[0].w, &more, 0.26, 24, &shape, s.scratch, &b, &err),
        TACIT_EBUDGET);
    assert_int_equal(
        tacit_tracked_bound_fixed(&s.side[0].w, &more, 0.25, 20, &shape, s.scratch, &b, &err),
        TACIT_EUSAGE);
    /* bare: the same numbers, whatever they tell */
    tacit_permit bare = {.cost = {.what = "model"}, .state = TACIT_PERMIT_RESERVED};
    check_ok(tacit_tracked_bound_fixed(&s.side[0].w, &bare, 0.25, 24, &shape, s.scratch, &b, &err),
             &err);
    const int64_t *told = tacit_vector_segment(b->value, 0);
    for (size_t k = 0; k < P; k++)
        assert_int_equal(told[k], llrint(ldexp(0.25 * number(&s, 0, k), 24)));
    assert_int_equal(tacit_tracked_cost_fixed(&cost, s.model, &options, moved, 0.1, 40, &err),
                     TACIT_EINPUT);
    close_scene(&s);
}

/* Shares of the noise add up to what the sum was planned with. */
static void test_shares_add_up(void **state)
{
    (void)state;
    enum { PARTS = 4, DRAWS = 20000 };
    tacit_error err = {0};
    tacit_shape shape;
    const tacit_segment numbers = {"numbers", TACIT_I64, DRAWS};
    check_ok(tacit_shape_init(&shape, &numbers, 1, &err), &err);
    tacit_scratch *scratch = tacit_scratch_create();
    tacit_random random;
    tacit_random_init(&random, 5);
    static int64_t sum[DRAWS], share[DRAWS];
    memset(sum, 0, sizeof sum);
    const tacit_cost cost = {.mechanism = TACIT_MECHANISM_GAUSSIAN,
                             .norm = TACIT_L2,
                             .grid = -10,
                             .coordinates = DRAWS,
                             .sensitivity = 1,
                             .noise = 1,
                             .what = "share"};
    for (uint64_t k = 0; k < PARTS; k++) {
        tacit_permit permit = {.cost = cost, .state = TACIT_PERMIT_RESERVED, .id = k};
        tacit_bounded *b;
        check_ok(tacit_bounded_on_grid(&b, &permit, &shape, scratch, &err), &err);
        const tacit_noise_source source = {.random = &random, .agent = k};
        check_ok(tacit_mechanism_conceal(&permit, b, PARTS, &source, share, DRAWS, &err), &err);
        assert_int_equal(permit.state, TACIT_PERMIT_SPENT);
        for (size_t i = 0; i < DRAWS; i++)
            sum[i] += share[i];
    }
    double mean = 0, square = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        mean += (double)sum[i] / DRAWS;
        square += (double)sum[i] * (double)sum[i] / DRAWS;
    }
    /* six standard deviations each: fails by chance once in 10^8 seeds */
    check_near(mean, 0, 6 * 1024 / sqrt(DRAWS));
    check_near(square / (1024. * 1024.), 1, 6 * sqrt(2. / DRAWS));
    /* too few steps to add up */
    tacit_cost coarse = cost;
    coarse.noise = 100. / 1024;
    tacit_permit permit = {.cost = coarse, .state = TACIT_PERMIT_RESERVED};
    tacit_bounded *b;
    check_ok(tacit_bounded_on_grid(&b, &permit, &shape, scratch, &err), &err);
    const tacit_noise_source source = {.random = &random};
    assert_int_equal(tacit_mechanism_conceal(&permit, b, PARTS, &source, share, DRAWS, &err),
                     TACIT_EINPUT);
    tacit_scratch_free(scratch);
}

/* For unit user the number of records is a secret: bounds, which costs are made of, must not tell
 * it. */
static void test_bounds_of_users_do_not_tell_records(void **state)
{
    (void)state;
    scene s;
    const tacit_tracking how = {.unit = TACIT_UNIT_USER,
                                .norm = TACIT_L2,
                                .clip = 0.5,
                                .radius = 1.5,
                                .reach = 4,
                                .longest = 1e3};
    open_scene(&s, 7, 0, TACIT_F64, 0.01, 1);
    const double one = tacit_tracked_moved(&how, s.model, 0.1, 0.7, 0.2, 1, 1);
    for (size_t records = 2; records <= 1 << 24; records *= 2)
        assert_true(tacit_tracked_moved(&how, s.model, 0.1, 0.7, 0.2, records, 2 * records) == one);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_further_than_it_says),
        cmocka_unit_test(test_bound_is_met),
        cmocka_unit_test(test_bounds_of_users_do_not_tell_records),
        cmocka_unit_test(test_stretching),
        cmocka_unit_test(test_plain_descent),
        cmocka_unit_test(test_broken_records_have_no_say),
        cmocka_unit_test(test_release_covers_what_moved),
        cmocka_unit_test(test_fixed_point_for_masks),
        cmocka_unit_test(test_shares_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
