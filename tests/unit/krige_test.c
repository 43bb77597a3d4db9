/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kriging against Gaussians that are written down whole and conditioned by elimination: nothing is
 * rotated, no feature stands for itself that is not drawn so, and thoughts about which features
 * matter are weighed one by one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/vector_internal.h"
#include "tacit/eigen.h"
#include "testing.h"

enum { OTHERS = 5, P = 4, ALL = OTHERS * P, ROWS = 12 };

/* An agent, number 0, with its records, and what OTHERS said: sums of y x of m records each, with
 * noise and chance of the variance d. */
typedef struct scene {
    uint32_t m;
    double x[ROWS][P], y[ROWS];
    double kernel[OTHERS + 1][OTHERS + 1];
    double records[OTHERS], d[OTHERS], s[OTHERS][P];
    double root[OTHERS], pull[OTHERS], seen[OTHERS * P];
    tacit_evidence evidence;
    tacit_dataset *data;
    tacit_model *model;
    tacit_pool *pool;
} scene;

/* ---- by elimination ---- */

/* log density of z ~ N(0, A), but for the constant; A is lost. */
static double log_density(size_t n, double *a, const double *z)
{
    double b[ALL], sum = 0;
    memcpy(b, z, n * sizeof *b);
    const double log_det = eliminate(n, a, b);
    for (size_t k = 0; k < n; k++)
        sum += b[k] * z[k];
    return -(log_det + sum) / 2;
}

/* ---- problems ---- */

/* The directions over others in which all is independent. */
static void rotate(scene *s)
{
    double u[OTHERS * OTHERS], q[OTHERS];
    for (int j = 0; j < OTHERS; j++)
        q[j] = s->records[j] / sqrt(s->d[j]);
    for (int a = 0; a < OTHERS; a++)
        for (int b = 0; b < OTHERS; b++)
            u[a * OTHERS + b] = q[a] * s->kernel[a + 1][b + 1] * q[b];
    assert_true(tacit_eigen_all(OTHERS, u, s->root));
    memset(s->seen, 0, sizeof s->seen);
    for (int l = 0; l < OTHERS; l++) {
        s->pull[l] = 0;
        for (int j = 0; j < OTHERS; j++) {
            s->pull[l] += u[l * OTHERS + j] * q[j] * s->kernel[0][j + 1];
            for (int c = 0; c < P; c++)
                s->seen[l * P + c] += u[l * OTHERS + j] * s->s[j][c] / sqrt(s->d[j]);
        }
    }
}

static scene *make(uint32_t m, int loss, uint64_t seed)
{
    scene *s = calloc(1, sizeof *s);
    dice d = {seed};
    tacit_error err = {0};
    const uint32_t *counts[TACIT_SPLITS] = {&m, NULL, NULL};
    const tacit_model_options options = {.loss = loss, .scalar = TACIT_F64};
    assert_non_null(s);
    s->m = m;
    check_ok(tacit_dataset_create(&s->data, 1, P, TACIT_F64, counts, &err), &err);
    check_ok(tacit_model_create(&s->model, &options, P, &err), &err);
    s->pool = tacit_pool_create(false);
    for (uint32_t r = 0; r < m; r++) {
        for (int c = 0; c < P; c++)
            s->x[r][c] = (1 + c) * dice_normal(&d) / 4 + (c ? 0.4 * s->x[r][c - 1] : 0);
        s->y[r] = loss ? 3 * dice_normal(&d) : dice_unit(&d) < 0.5 ? -1 : 1;
        check_ok(tacit_dataset_put(s->data, 0, TACIT_TRAIN, r, s->x[r], s->y[r], &err), &err);
    }
    double place[OTHERS + 1][3]; /* cosines of points on a sphere */
    for (int a = 0; a <= OTHERS; a++) {
        double length = 0;
        for (int k = 0; k < 3; k++) {
            place[a][k] = (k == 0) + 0.7 * dice_normal(&d);
            length += place[a][k] * place[a][k];
        }
        for (int b = 0; b <= a; b++) {
            s->kernel[a][b] = 0;
            for (int k = 0; k < 3; k++) {
                place[a][k] /= b ? 1 : sqrt(length);
                s->kernel[a][b] += place[a][k] * place[b][k];
            }
            s->kernel[b][a] = s->kernel[a][b];
        }
    }
    for (int j = 0; j < OTHERS; j++) {
        s->records[j] = 1 + (double)dice_below(&d, 12); /* too few for any floor */
        s->d[j] = s->records[j] * dice_between(&d, 0.2, 2);
        for (int c = 0; c < P; c++)
            s->s[j][c] = 0.1 * s->records[j] * dice_normal(&d) + sqrt(s->d[j]) * dice_normal(&d);
    }
    rotate(s);
    s->evidence = (tacit_evidence){.count = OTHERS,
                                   .root = s->root,
                                   .pull = s->pull,
                                   .seen = s->seen,
                                   .radius = 1.5,
                                   .share = 0.2,
                                   .dense = 1,
                                   .variance = 0.8};
    return s;
}

static void forget(scene *s)
{
    tacit_dataset_free(s->data);
    tacit_model_free(s->model);
    tacit_pool_free(s->pool);
    free(s);
}

static tacit_vector *room(const scene *s)
{
    return tacit_pool_vector(s->pool, tacit_model_shape(s->model), 0);
}

/* ---- logistic ---- */

typedef struct thought {
    double mean, left;       /* of E[y x_c], from what others said */
    double matters, nothing; /* log densities of what was seen, others' and own */
} thought;

/* One feature, whose variance beforehand is `a` if it matters. */
static thought think(const scene *s, int c, double a, double own, double noise)
{
    enum { N = OTHERS + 1 };
    double cov[N * N], none[N * N], z[N], k[OTHERS], mean[OTHERS], left[OTHERS];
    double one[OTHERS * OTHERS], two[OTHERS * OTHERS];
    for (int x = 0; x < N; x++) {
        const double mx = x ? s->records[x - 1] : 1;
        z[x] = x ? s->s[x - 1][c] : own;
        for (int y = 0; y < N; y++) {
            const double my = y ? s->records[y - 1] : 1;
            none[x * N + y] = x != y ? 0 : x ? s->d[x - 1] : noise;
            cov[x * N + y] = a * s->kernel[x][y] * mx * my + none[x * N + y];
            if (x && y)
                one[(x - 1) * OTHERS + y - 1] = two[(x - 1) * OTHERS + y - 1] = cov[x * N + y];
        }
        if (x) {
            k[x - 1] = left[x - 1] = a * s->kernel[0][x] * mx;
            mean[x - 1] = s->s[x - 1][c];
        }
    }
    thought t = {.left = a};
    eliminate(OTHERS, one, mean);
    eliminate(OTHERS, two, left);
    for (int j = 0; j < OTHERS; j++) {
        t.mean += k[j] * mean[j];
        t.left -= k[j] * left[j];
    }
    /* without records there is nothing of one's own to see */
    const int from = s->m == 0;
    const size_t n = (size_t)(N - from);
    for (int x = from; x < N && from; x++)
        for (int y = from; y < N; y++) {
            cov[(size_t)(x - 1) * n + (size_t)(y - 1)] = cov[x * N + y];
            none[(size_t)(x - 1) * n + (size_t)(y - 1)] = none[x * N + y];
        }
    t.matters = log_density(n, cov, z + from);
    t.nothing = log_density(n, none, z + from);
    return t;
}

/* The prior of the weights, if each thought about which part of the features matters counts for
 * what it is worth. */
static void prior_by_hand(const scene *s, double *mean, double *precision)
{
    static const double rhos[] = {1, .5, .25, .1, .05, .02};
    const tacit_evidence *e = &s->evidence;
    const int parts = e->dense < 1 ? 6 : 1;
    const double m = s->m, radius2 = e->radius * e->radius, a = e->share * radius2 / (P * P);
    const double beta = 1 / sqrt(2 * a); /* lambda is 1/m */
    double square[P] = {0}, own[P] = {0}, scale[P], all = 0, chance[6], sum = 0;
    thought t[P][6];
    for (uint32_t r = 0; r < s->m; r++)
        for (int c = 0; c < P; c++) {
            square[c] += s->x[r][c] * s->x[r][c];
            own[c] += s->y[r] * s->x[r][c] / m;
            all += s->x[r][c] * s->x[r][c] / m / P;
        }
    all = s->m ? all : radius2 / P;
    for (int q = 0; q < parts; q++) {
        chance[q] = parts == 1 ? 1 : q == 0 ? e->dense : (1 - e->dense) / 5;
        for (int c = 0; c < P; c++) {
            const double shrunk = (square[c] + 10 * all) / (m + 10);
            scale[c] = P * shrunk / radius2;
            t[c][q] = think(s, c, a * scale[c] * scale[c] / rhos[q], own[c], s->m ? shrunk / m : 1);
            chance[q] *= rhos[q] * exp(t[c][q].matters - t[c][q].nothing) + (1 - rhos[q]);
        }
        sum += chance[q];
    }
    for (int c = 0; c < P; c++) {
        double first = 0, second = 0;
        for (int q = 0; q < parts; q++) {
            const double odds = rhos[q] * exp(t[c][q].matters - t[c][q].nothing);
            const double w = chance[q] / sum * odds / (odds + 1 - rhos[q]);
            first += w * t[c][q].mean;
            second += w * (t[c][q].left + t[c][q].mean * t[c][q].mean);
        }
        mean[c] = beta * first / scale[c];
        const double left = fmax(second - first * first, 1e-4 * a * scale[c] * scale[c]);
        precision[c] = scale[c] * scale[c] / (beta * beta * left);
    }
}

static void check_prior(scene *s, double dense)
{
    tacit_error err = {0};
    tacit_vector *mean = room(s), *precision = room(s);
    double want[P], sure[P];
    s->evidence.dense = dense;
    check_ok(tacit_model_krige(s->model, tacit_dataset_shard(s->data, 0, TACIT_TRAIN), &s->evidence,
                               tacit_vector_secret(mean), tacit_vector_secret(precision), &err),
             &err);
    prior_by_hand(s, want, sure);
    for (size_t c = 0; c < P; c++) {
        assert_true(fabs(tacit_vector_get(mean, 0, c) - want[c]) < 1e-9 * (1 + fabs(want[c])));
        assert_true(fabs(tacit_vector_get(precision, 0, c) / sure[c] - 1) < 1e-9);
    }
}

static void test_a_prior_of_weights(void **state)
{
    (void)state;
    static const double dense[] = {1, 0.999, 0.5, 1e-3};
    static const uint32_t sizes[] = {0, 1, 3, ROWS};
    for (uint64_t seed = 1; seed < 20; seed++)
        for (int k = 0; k < 4; k++) {
            scene *s = make(sizes[seed % 4], 0, seed);
            check_prior(s, dense[k]);
            forget(s);
        }
}

/* However much was heard, a thousandth of the variance is left: others are not oneself. */
static void test_nobody_is_believed_fully(void **state)
{
    (void)state;
    tacit_error err = {0};
    scene *s = make(3, 0, 7);
    tacit_vector *mean = room(s), *precision = room(s);
    for (int j = 0; j < OTHERS; j++) {
        s->records[j] = 1e9;
        for (int c = 0; c < P; c++)
            s->s[j][c] *= 1e8;
    }
    rotate(s);
    check_ok(tacit_model_krige(s->model, tacit_dataset_shard(s->data, 0, TACIT_TRAIN), &s->evidence,
                               tacit_vector_secret(mean), tacit_vector_secret(precision), &err),
             &err);
    for (size_t c = 0; c < P; c++)
        assert_true(fabs(tacit_vector_get(precision, 0, c) / 2000 - 1) < 1e-6);
    forget(s);
}

/* ---- squared ---- */

/* Weights theta_j of all agents have the covariance variance K_ij, each number for itself, and
 * s_j = m_j C theta_j + noise: mean and covariance of theta_0. */
static void condition(const scene *s, double c[P][P], double *mean, double left[P][P])
{
    static double cov[ALL * ALL], copy[ALL * ALL];
    const double v = s->evidence.variance;
    double square[P][P] = {{0}}, b[ALL];
    for (int x = 0; x < P; x++)
        for (int y = 0; y < P; y++)
            for (int k = 0; k < P; k++)
                square[x][y] += c[x][k] * c[k][y];
    for (int i = 0; i < ALL; i++)
        for (int j = 0; j < ALL; j++)
            cov[i * ALL + j] = v * s->kernel[1 + i / P][1 + j / P] * s->records[i / P] *
                                   s->records[j / P] * square[i % P][j % P] +
                               (i == j ? s->d[i / P] : 0);
    for (int x = 0; x < P; x++) {
        /* row x of the gain is that of the covariances with all sums, through the inverse */
        for (int j = 0; j < ALL; j++)
            b[j] = v * s->kernel[0][1 + j / P] * s->records[j / P] * c[x][j % P];
        memcpy(copy, cov, sizeof cov);
        eliminate(ALL, copy, b);
        mean[x] = 0;
        for (int j = 0; j < ALL; j++)
            mean[x] += b[j] * s->s[j / P][j % P];
        for (int y = 0; y < P; y++) {
            left[x][y] = x == y ? v : 0;
            for (int j = 0; j < ALL; j++)
                left[x][y] -= b[j] * v * s->kernel[0][1 + j / P] * s->records[j / P] * c[y][j % P];
        }
    }
}

/* The most probable weights: sum (theta . x - y)^2 + m lambda v (theta - mean) left^-1 (..). */
static void weights_by_hand(const scene *s, double *theta)
{
    const double usual = s->evidence.radius * s->evidence.radius / P;
    double gram[P][P] = {{0}}, c[P][P], mean[P], left[P][P], normal[P * P];
    for (uint32_t r = 0; r < s->m; r++)
        for (int x = 0; x < P; x++)
            for (int y = 0; y < P; y++)
                gram[x][y] += s->x[r][x] * s->x[r][y];
    for (int x = 0; x < P; x++)
        for (int y = 0; y < P; y++) {
            const double other = s->evidence.products ? s->evidence.products[x * P + y]
                                 : x == y             ? usual
                                                      : 0;
            c[x][y] = (gram[x][y] + 20 * other) / (s->m + 20);
        }
    condition(s, c, mean, left);
    for (int x = 0; x < P; x++) {
        theta[x] = 0;
        for (uint32_t r = 0; r < s->m; r++)
            theta[x] += s->y[r] * s->x[r][x];
    }
    for (int x = 0; x < P; x++) { /* column x of left^-1 */
        double copy[P * P], e[P] = {0};
        memcpy(copy, left, sizeof left);
        e[x] = 1;
        eliminate(P, copy, e);
        for (int y = 0; y < P; y++) {
            const double weight = s->evidence.variance * e[y];
            normal[y * P + x] = gram[y][x] + weight;
            theta[y] += weight * mean[x];
        }
    }
    eliminate(P, normal, theta);
}

static void check_weights(const scene *s)
{
    tacit_error err = {0};
    tacit_vector *found = room(s);
    double want[P];
    check_ok(tacit_model_krige_squared(s->model, tacit_dataset_shard(s->data, 0, TACIT_TRAIN),
                                       &s->evidence, tacit_vector_secret(found), &err),
             &err);
    weights_by_hand(s, want);
    for (size_t c = 0; c < P; c++)
        assert_true(fabs(tacit_vector_get(found, 0, c) - want[c]) < 1e-8 * (1 + fabs(want[c])));
}

static void test_weights_for_numbers(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 3, ROWS};
    static const double variances[] = {1e-3, 0.05, 0.8, 5};
    for (uint64_t seed = 40; seed < 72; seed++) {
        scene *s = make(sizes[seed % 4], 1, seed);
        dice d = {seed + 1000};
        double products[P * P] = {0}, row[P];
        s->evidence.variance = variances[seed / 4 % 4];
        check_weights(s);
        for (int k = 0; k < 9; k++) {
            for (int c = 0; c < P; c++)
                row[c] = dice_normal(&d);
            for (int e = 0; e < P * P; e++)
                products[e] += row[e / P] * row[e % P] / 20;
        }
        s->evidence.products = products;
        check_weights(s);
        forget(s);
    }
}

/* Nothing heard, or nothing that counts: the agent learns alone. */
static void test_nothing_heard_is_learning_alone(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++)
        for (int much = 0; much < 2; much++) {
            tacit_error err = {0};
            scene *s = make(6, loss, 90);
            const tacit_shard *shard = tacit_dataset_shard(s->data, 0, TACIT_TRAIN);
            tacit_vector *alone = room(s), *found = room(s), *mean = room(s), *sure = room(s);
            s->evidence.count = much ? OTHERS : 0;
            for (int l = 0; l < OTHERS; l++) /* from agents that have nothing to do with it */
                s->pull[l] = 0;
            check_ok(tacit_model_solve(s->model, shard, tacit_vector_secret(alone), &err), &err);
            if (loss) {
                check_ok(tacit_model_krige_squared(s->model, shard, &s->evidence,
                                                   tacit_vector_secret(found), &err),
                         &err);
            } else {
                check_ok(tacit_model_krige(s->model, shard, &s->evidence, tacit_vector_secret(mean),
                                           tacit_vector_secret(sure), &err),
                         &err);
                check_ok(tacit_model_map(s->model, shard, tacit_vector_secret(mean),
                                         tacit_vector_secret(sure), tacit_vector_secret(found),
                                         &err),
                         &err);
            }
            for (size_t c = 0; c < P; c++)
                assert_true(fabs(tacit_vector_get(found, 0, c) - tacit_vector_get(alone, 0, c)) <
                            1e-8);
            forget(s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_prior_of_weights),
        cmocka_unit_test(test_nobody_is_believed_fully),
        cmocka_unit_test(test_weights_for_numbers),
        cmocka_unit_test(test_nothing_heard_is_learning_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
