/* SPDX-License-Identifier: Apache-2.0 */
/* The softmax loss: derivatives against differences, the solver against its own gradient, two
 * classes against the logistic loss, the private finish against its definition; what it refuses.
 * What clipping promises is in softmax_grid_test.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/scratch.h"
#include "base/vector_internal.h"
#include "model/curvature.h"
#include "model/softmax.h"
#include "privacy/release.h"
#include "tacit/tracked.h"
#include "testing.h"

/* One agent with `m` records of `p` features in `classes` classes (0: the logistic loss). */
typedef struct lonely {
    size_t m, p, classes, n; /* n parameters */
    double *x, *y;
    tacit_dataset *data;
    tacit_model *model;
    tacit_scratch *scratch;
    tacit_pool *pool;
} lonely;

static const tacit_shard *shard(const lonely *l)
{
    return tacit_dataset_shard(l->data, 0, TACIT_TRAIN);
}

static void store(lonely *l)
{
    tacit_error err = {0};
    for (size_t r = 0; r < l->m; r++)
        check_ok(tacit_dataset_put(l->data, 0, TACIT_TRAIN, r, l->x + r * l->p, l->y[r], &err),
                 &err);
}

static lonely make(size_t m, size_t p, size_t classes, tacit_scalar scalar, double lambda, dice *d)
{
    lonely l = {.m = m, .p = p, .classes = classes, .n = p * (classes ? classes : 1)};
    tacit_error err = {0};
    const uint32_t rows = (uint32_t)m, *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    tacit_model_options options = {.loss = classes ? TACIT_SOFTMAX : TACIT_LOGISTIC,
                                   .classes = (int64_t)classes,
                                   .lambda = lambda,
                                   .scalar = scalar};
    check_ok(tacit_dataset_create(&l.data, 1, p, scalar, counts, &err), &err);
    check_ok(tacit_model_create(&l.model, &options, p, &err), &err);
    assert_int_equal(tacit_model_parameters(l.model), l.n);
    assert_int_equal(tacit_model_classes(l.model), classes);
    l.scratch = tacit_scratch_create();
    l.pool = tacit_pool_create(false);
    l.x = calloc(m * p + 1, sizeof *l.x);
    l.y = calloc(m + 1, sizeof *l.y);
    for (size_t r = 0; r < m; r++) {
        for (size_t k = 0; k < p; k++)
            l.x[r * p + k] = (float)dice_normal(d); /* exact in either scalar */
        l.y[r] = classes ? (double)dice_below(d, classes) : dice_unit(d) < 0.5 ? -1 : 1;
    }
    store(&l);
    check_ok(tacit_model_check(l.model, l.data, &err), &err);
    return l;
}

static void clear(lonely *l)
{
    tacit_dataset_free(l->data);
    tacit_model_free(l->model);
    tacit_scratch_free(l->scratch);
    tacit_pool_free(l->pool);
    free(l->x);
    free(l->y);
}

static tacit_public *vector(lonely *l)
{
    return tacit_vector_public(tacit_pool_vector(l->pool, tacit_model_shape(l->model), 0));
}

static tacit_public *roll(lonely *l, double size, dice *d)
{
    tacit_public *at = vector(l);
    for (size_t k = 0; k < l->n; k++)
        tacit_public_set(at, 0, k, (float)(size * dice_normal(d)));
    return at;
}

static tacit_secret *secret(tacit_public *v)
{
    return tacit_vector_secret(tacit_vector_of_public(v));
}

/* Gradient of the unregularised mean loss, bare. */
static tacit_public *gradient(lonely *l, const tacit_public *at)
{
    tacit_permit permit = {.cost = {.what = "gradient"}, .state = TACIT_PERMIT_RESERVED};
    tacit_bounded *bounded;
    tacit_public *out;
    tacit_error err = {0};
    check_ok(tacit_model_gradient(l->model, &permit, shard(l), at, (tacit_clip){TACIT_L2, INFINITY},
                                  l->scratch, &bounded, &err),
             &err);
    check_ok(tacit_mechanism_apply(&permit, bounded, NULL, &out, &err), &err);
    return out;
}

static double loss_at(const lonely *l, const tacit_public *at)
{
    return tacit_model_loss(l->model, shard(l), tacit_public_as_secret(at)).owner_only;
}

/* L_i and the share of records told right, written down from the definition. */
static double loss_by_hand(const lonely *l, const tacit_public *at, double lambda, double *right)
{
    double sum = 0, norm = 0, z[16];
    *right = 0;
    for (size_t r = 0; r < l->m; r++) {
        double all = 0, best = -INFINITY;
        for (size_t c = 0; c < l->classes; c++) {
            z[c] = 0;
            for (size_t k = 0; k < l->p; k++)
                z[c] += l->x[r * l->p + k] * tacit_public_get(at, 0, c * l->p + k);
            all += exp(z[c]);
            best = fmax(best, z[c]);
        }
        sum -= log(exp(z[(size_t)l->y[r]]) / all);
        *right += z[(size_t)l->y[r]] == best;
    }
    for (size_t k = 0; k < l->n; k++)
        norm += pow(tacit_public_get(at, 0, k), 2);
    *right /= (double)l->m;
    return sum / (double)l->m + lambda * norm;
}

static const struct {
    size_t m, p, classes;
} sizes[] = {{1, 1, 2}, {3, 2, 3}, {20, 7, 5}, {5, 33, 4}, {70, 12, 3}, {37, 70, 11}};
#define SIZES (sizeof sizes / sizeof *sizes)

static void test_loss_and_gradient(void **state)
{
    (void)state;
    dice d = {1};
    for (size_t s = 0; s < SIZES; s++) {
        lonely l = make(sizes[s].m, sizes[s].p, sizes[s].classes, TACIT_F64, 0.3, &d);
        tacit_public *at = roll(&l, 1 / sqrt((double)l.p), &d);
        double right, here = loss_at(&l, at), want = loss_by_hand(&l, at, 0.3, &right);
        assert_true(fabs(here - want) < 1e-12 * (1 + here));
        assert_true(tacit_model_score(l.model, shard(&l), tacit_public_as_secret(at)).owner_only ==
                    right);
        const tacit_public *g = gradient(&l, at);
        for (size_t k = 0; k < l.n; k++) {
            const double h = 1e-5, x = tacit_public_get(at, 0, k);
            tacit_public_set(at, 0, k, x + h);
            double up = loss_at(&l, at);
            tacit_public_set(at, 0, k, x - h);
            double down = loss_at(&l, at);
            tacit_public_set(at, 0, k, x);
            double slope = (up - down) / (2 * h) - 2 * 0.3 * x; /* g is unregularised */
            assert_true(fabs(slope - tacit_public_get(g, 0, k)) < 1e-8 * (1 + fabs(slope)));
        }
        clear(&l);
    }
}

/* The same records and weights in single precision. */
static void test_single_precision(void **state)
{
    (void)state;
    for (size_t s = 0; s < SIZES; s++) {
        dice d = {2 + s}, same = {2 + s};
        lonely a = make(sizes[s].m, sizes[s].p, sizes[s].classes, TACIT_F64, 0, &d);
        lonely b = make(sizes[s].m, sizes[s].p, sizes[s].classes, TACIT_F32, 0, &same);
        tacit_public *at = roll(&a, 0.3, &d), *there = roll(&b, 0.3, &same);
        const tacit_public *g = gradient(&a, at), *f = gradient(&b, there);
        for (size_t k = 0; k < a.n; k++)
            assert_true(fabs(tacit_public_get(g, 0, k) - tacit_public_get(f, 0, k)) < 2e-5);
        assert_true(fabs(loss_at(&a, at) - loss_at(&b, there)) < 1e-6);
        clear(&a);
        clear(&b);
    }
}

/* Margins in the hundreds: no overflow, and the loss is what the largest margin says. */
static void test_large_margins(void **state)
{
    (void)state;
    dice d = {3};
    lonely l = make(40, 6, 4, TACIT_F64, 1e-9, &d);
    tacit_public *at = roll(&l, 1000, &d);
    const tacit_public *g = gradient(&l, at);
    assert_true(isfinite(loss_at(&l, at)) && loss_at(&l, at) > 1);
    for (size_t k = 0; k < l.n; k++)
        assert_true(isfinite(tacit_public_get(g, 0, k)));
    assert_true(fabs(tacit_model_loss(l.model, shard(&l), NULL).owner_only - log(4)) < 1e-12);
    clear(&l);
}

/* ---- curvature ---- */

static void test_curvature(void **state)
{
    (void)state;
    dice d = {4};
    for (size_t s = 0; s < SIZES - 1; s++) {
        lonely l = make(sizes[s].m, sizes[s].p, sizes[s].classes, TACIT_F64, 0.2, &d);
        const size_t n = l.n;
        double *theta = calloc(6 * n, sizeof *theta), *g = theta + n, *v = g + n, *h = v + n;
        double *up = h + n, *diagonal = up + n;
        double *curve = calloc(l.m * tacit_linear_curves(l.model), sizeof *curve);
        for (size_t k = 0; k < n; k++) {
            theta[k] = dice_normal(&d) / sqrt((double)l.p);
            v[k] = dice_normal(&d);
        }
        const double e = 1e-6;
        for (size_t k = 0; k < n; k++)
            theta[k] += e * v[k];
        tacit_linear_derive(l.model, shard(&l), theta, up, curve);
        for (size_t k = 0; k < n; k++)
            theta[k] -= 2 * e * v[k];
        tacit_linear_derive(l.model, shard(&l), theta, g, curve);
        for (size_t k = 0; k < n; k++)
            theta[k] += e * v[k];
        for (size_t k = 0; k < n; k++)
            up[k] = (up[k] - g[k]) / (2 * e);
        tacit_linear_derive(l.model, shard(&l), theta, g, curve);
        tacit_linear_bend(l.model, shard(&l), curve, 1, v, h);
        for (size_t k = 0; k < n; k++)
            assert_true(fabs(h[k] - up[k]) < 1e-6 * (1 + fabs(h[k])));
        tacit_linear_diagonal(l.model, shard(&l), curve, 3, diagonal);
        for (size_t k = 0; k < n; k++) {
            memset(v, 0, 2 * n * sizeof *v); /* and h */
            v[k] = 1;
            tacit_linear_bend(l.model, shard(&l), curve, 3, v, h);
            assert_true(fabs(h[k] - diagonal[k]) < 1e-12 * (1 + fabs(h[k])));
        }
        free(theta);
        free(curve);
        clear(&l);
    }
}

/* ---- solver ---- */

static double gradient_norm_at_solution(lonely *l, double lambda)
{
    tacit_error err = {0};
    tacit_public *theta = vector(l);
    check_ok(tacit_model_solve(l->model, shard(l), secret(theta), &err), &err);
    const tacit_public *g = gradient(l, theta);
    double sum = 0;
    for (size_t k = 0; k < l->n; k++)
        sum += pow(tacit_public_get(g, 0, k) + 2 * lambda * tacit_public_get(theta, 0, k), 2);
    return sqrt(sum);
}

static void test_solution_has_no_gradient(void **state)
{
    (void)state;
    dice d = {5};
    for (size_t s = 0; s < SIZES; s++) {
        lonely l = make(sizes[s].m, sizes[s].p, sizes[s].classes, TACIT_F64, 0, &d);
        assert_true(gradient_norm_at_solution(&l, 1.0 / (double)l.m) < 1e-10);
        clear(&l);
        l = make(sizes[s].m, sizes[s].p, sizes[s].classes, TACIT_F64, 1e-3, &d);
        assert_true(gradient_norm_at_solution(&l, 1e-3) < 1e-10);
        clear(&l);
        l = make(sizes[s].m, sizes[s].p, sizes[s].classes, TACIT_F32, 0, &d);
        assert_true(gradient_norm_at_solution(&l, 1.0 / (double)l.m) < 1e-5);
        clear(&l);
    }
    lonely none = make(0, 3, 4, TACIT_F64, 0, &d);
    tacit_public *theta = roll(&none, 1, &d);
    tacit_error err = {0};
    check_ok(tacit_model_solve(none.model, shard(&none), secret(theta), &err), &err);
    for (size_t k = 0; k < none.n; k++)
        assert_true(tacit_public_get(theta, 0, k) == 0);
    clear(&none);
}

/* All labels right by far: only a tiny regulariser keeps the minimiser finite. */
static void test_separable_data(void **state)
{
    (void)state;
    dice d = {6};
    const double lambdas[] = {1e-2, 1e-4, 1e-7};
    for (int s = 0; s < 3; s++) {
        lonely l = make(30, 4, 3, TACIT_F64, lambdas[s], &d);
        for (size_t r = 0; r < l.m; r++) {
            l.y[r] = (double)(r % 3);
            l.x[r * l.p + r % 3] += 20;
        }
        store(&l);
        assert_true(gradient_norm_at_solution(&l, lambdas[s]) < 1e-10);
        clear(&l);
    }
}

/* ---- two classes are the logistic loss ---- */

/* Softmax with `lambda` and its twin: the logistic loss with half of it, labels -1 and +1. */
static lonely twin_of(const lonely *l, double lambda)
{
    dice d = {1};
    lonely twin = make(l->m, l->p, 0, TACIT_F64, lambda / 2, &d);
    memcpy(twin.x, l->x, l->m * l->p * sizeof *l->x);
    for (size_t r = 0; r < l->m; r++)
        twin.y[r] = l->y[r] > 0 ? 1 : -1;
    store(&twin);
    return twin;
}

/* theta_1 - theta_0 is the twin's model, and the two add up to zero. */
static void check_twins(const lonely *l, const tacit_public *theta, const tacit_public *w)
{
    for (size_t k = 0; k < l->p; k++) {
        const double low = tacit_public_get(theta, 0, k), up = tacit_public_get(theta, 0, l->p + k);
        assert_true(fabs(up - low - tacit_public_get(w, 0, k)) < 1e-9);
        assert_true(fabs(up + low) < 1e-9);
    }
}

static void test_two_classes_are_logistic(void **state)
{
    (void)state;
    dice d = {7};
    static const size_t shapes[][2] = {{30, 5}, {8, 20}, {100, 17}};
    for (size_t s = 0; s < 3; s++) {
        lonely l = make(shapes[s][0], shapes[s][1], 2, TACIT_F64, 0.02, &d);
        lonely twin = twin_of(&l, 0.02);
        tacit_public *theta = vector(&l), *w = vector(&twin);
        tacit_error err = {0};
        check_ok(tacit_model_solve(l.model, shard(&l), secret(theta), &err), &err);
        check_ok(tacit_model_solve(twin.model, shard(&twin), secret(w), &err), &err);
        check_twins(&l, theta, w);
        assert_true(fabs(loss_at(&l, theta) - loss_at(&twin, w)) < 1e-12);
        assert_true(tacit_model_score(l.model, shard(&l), secret(theta)).owner_only ==
                    tacit_model_score(twin.model, shard(&twin), secret(w)).owner_only);
        const tacit_public *g = gradient(&l, theta), *f = gradient(&twin, w);
        for (size_t k = 0; k < l.p; k++)
            assert_true(fabs(tacit_public_get(g, 0, l.p + k) - tacit_public_get(f, 0, k)) < 1e-9);
        clear(&l);
        clear(&twin);
    }
}

/* The finish chooses alike: strengths are halved for the twin, as its regulariser is. */
static void test_finish_of_two_classes(void **state)
{
    (void)state;
    dice d = {8};
    static const double scales[] = {1, 0.5}, strong[] = {40, 4, 0.4}, half[] = {20, 2, 0.2};
    static const size_t shapes[][2] = {{25, 6}, {9, 14}};
    for (size_t s = 0; s < 2; s++)
        for (int choice = TACIT_FINISH_BEST; choice <= TACIT_FINISH_FIRST; choice++) {
            lonely l = make(shapes[s][0], shapes[s][1], 2, TACIT_F64, 0.05, &d);
            lonely twin = twin_of(&l, 0.05);
            tacit_public *theta = vector(&l), *w = vector(&twin);
            tacit_public *prior = vector(&l), *hint = vector(&twin);
            for (size_t k = 0; k < l.p; k++) {
                const double v = dice_normal(&d);
                tacit_public_set(hint, 0, k, v);
                tacit_public_set(prior, 0, k, -v / 2);
                tacit_public_set(prior, 0, l.p + k, v / 2);
            }
            tacit_finish how = {.folds = 4,
                                .scales = 2,
                                .strengths = 3,
                                .scale = scales,
                                .strength = strong,
                                .choice = (tacit_finish_choice)choice,
                                .sharpness = 1,
                                .last = choice == TACIT_FINISH_BEST ? 0 : 3,
                                .seed = 11};
            tacit_finished a, b;
            tacit_error err = {0};
            check_ok(tacit_model_finish(l.model, shard(&l), prior, &how, secret(theta), &a, &err),
                     &err);
            how.strength = half;
            check_ok(tacit_model_finish(twin.model, shard(&twin), hint, &how, secret(w), &b, &err),
                     &err);
            check_twins(&l, theta, w);
            assert_true(a.scale.owner_only == b.scale.owner_only);
            assert_true(fabs(a.strength.owner_only - 2 * b.strength.owner_only) < 1e-12);
            if (choice != TACIT_FINISH_FIRST)
                assert_true(fabs(a.loss.owner_only - b.loss.owner_only) < 1e-7);
            clear(&l);
            clear(&twin);
        }
}

/* (1/m) sum loss + (v/m) |theta - a prior|^2 has no slope where the finish ends. */
static void test_finish_near_a_prior(void **state)
{
    (void)state;
    dice d = {9};
    for (size_t s = 0; s < SIZES; s++) {
        lonely l = make(sizes[s].m, sizes[s].p, sizes[s].classes, TACIT_F64, 0, &d);
        tacit_public *prior = roll(&l, 0.5, &d), *theta = vector(&l);
        const double scale = 0.7, strength = 1.3;
        const tacit_finish how = {.folds = 3,
                                  .scales = 1,
                                  .strengths = 1,
                                  .scale = &scale,
                                  .strength = &strength,
                                  .choice = TACIT_FINISH_FIRST,
                                  .seed = 1};
        tacit_finished chosen;
        tacit_error err = {0};
        check_ok(tacit_model_finish(l.model, shard(&l), prior, &how, secret(theta), &chosen, &err),
                 &err);
        const tacit_public *g = gradient(&l, theta);
        for (size_t k = 0; k < l.n; k++) {
            const double apart =
                tacit_public_get(theta, 0, k) - scale * tacit_public_get(prior, 0, k);
            const double slope = tacit_public_get(g, 0, k) + 2 * strength / (double)l.m * apart;
            assert_true(fabs(slope) < 1e-10);
        }
        clear(&l);
    }
}

/* ---- what is refused ---- */

static void test_classes_and_labels(void **state)
{
    (void)state;
    dice d = {10};
    tacit_error err = {0};
    tacit_model *model = NULL;
    tacit_model_options options = {.loss = TACIT_SOFTMAX, .scalar = TACIT_F64};
    check_fails(tacit_model_create(&model, &options, 3, &err), TACIT_EINPUT, &err, "model.classes");
    options.classes = 1;
    check_fails(tacit_model_create(&model, &options, 3, &err), TACIT_EINPUT, &err, "2 to 1000");
    options.classes = 3;
    options.loss = TACIT_LOGISTIC;
    check_fails(tacit_model_create(&model, &options, 3, &err), TACIT_EINPUT, &err, "softmax");
    assert_null(model);
    lonely l = make(12, 3, 3, TACIT_F64, 0, &d);
    l.y[4] = 2;
    const double bad[] = {3, -1, 0.5};
    for (size_t k = 0; k < 3; k++) {
        l.y[5] = bad[k];
        store(&l);
        check_fails(tacit_model_check(l.model, l.data, &err), TACIT_EINPUT, &err, "0 to 2");
    }
    options = (tacit_model_options){.loss = TACIT_SOFTMAX, .scalar = TACIT_F64};
    l.y[5] = 6; /* seven classes, as the largest label says */
    store(&l);
    check_ok(tacit_model_create_for(&model, &options, l.data, &err), &err);
    assert_int_equal(tacit_model_classes(model), 7);
    assert_string_equal(tacit_model_score_name(model), "accuracy");
    assert_true(tacit_model_smoothness_bound(model, 2) == 2);
    tacit_model_free(model);
    l.y[5] = 1e9;
    store(&l);
    check_fails(tacit_model_create_for(&model, &options, l.data, &err), TACIT_EINPUT, &err, "1001");
    clear(&l);
}

static void test_what_is_not_offered(void **state)
{
    (void)state;
    dice d = {11};
    lonely l = make(6, 3, 3, TACIT_F64, 0, &d);
    tacit_error err = {0};
    tacit_cost cost;
    tacit_privacy_options privacy;
    check_ok(tacit_options_defaults(&tacit_privacy_section, &privacy, &err), &err);
    privacy.mechanism = TACIT_MECHANISM_GAUSSIAN;
    const tacit_local how = {.lambda = 1, .radius = 1};
    check_fails(tacit_model_local_cost(l.model, &cost, &privacy, 1, &how, &err), TACIT_EINPUT, &err,
                "model.loss: softmax");
    check_fails(tacit_model_records_cost(l.model, &cost, &privacy, 1, 1, 9, &err), TACIT_EINPUT,
                &err, "model.loss: softmax");
    check_fails(tacit_model_statistics_cost(l.model, &cost, &privacy, 1, 1, 1, &err), TACIT_EINPUT,
                &err, "model.loss: softmax");
    assert_null(tacit_model_statistics_shape(l.model));
    tacit_secret *a = secret(vector(&l)), *b = secret(vector(&l)), *c = secret(vector(&l));
    const tacit_evidence evidence = {.radius = 1, .share = 1, .dense = 1};
    check_fails(tacit_model_krige(l.model, shard(&l), &evidence, a, b, &err), TACIT_EINPUT, &err,
                "model.loss: softmax");
    check_fails(tacit_model_map(l.model, shard(&l), a, b, c, &err), TACIT_EINPUT, &err,
                "model.loss: softmax");
    tacit_tracked tracked = {.value = a};
    const tacit_tracking track = {.clip = 1, .radius = 1, .reach = 1, .longest = 1};
    check_fails(tacit_tracked_descend(&tracked, &track, l.model, shard(&l),
                                      (tacit_some_records){0, 1}, 1, 0.1, l.scratch, &err),
                TACIT_EINPUT, &err, "model.loss: softmax");
    clear(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loss_and_gradient),
        cmocka_unit_test(test_single_precision),
        cmocka_unit_test(test_large_margins),
        cmocka_unit_test(test_curvature),
        cmocka_unit_test(test_solution_has_no_gradient),
        cmocka_unit_test(test_separable_data),
        cmocka_unit_test(test_two_classes_are_logistic),
        cmocka_unit_test(test_finish_of_two_classes),
        cmocka_unit_test(test_finish_near_a_prior),
        cmocka_unit_test(test_classes_and_labels),
        cmocka_unit_test(test_what_is_not_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
