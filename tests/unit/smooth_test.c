/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is made of a sum that everybody heard, against Gaussians conditioned by elimination: the
 * spread is the likeliest, the posterior is Bayes' at that spread, coordinates with spreads of
 * their own are found about as well as by somebody who knows them, and doubts are what errors are.
 * Problems are drawn from fixed seeds, so there is no false alarm.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/chorus_smooth.h"
#include "testing.h"

enum { R = 3, P = 500 };

typedef struct scene {
    double q[R * R], h[R * P], y[R * P];
    chorus_heard heard;
    chorus_smoothed found;
} scene;

/* ---- by elimination ---- */

/* The inverse of a, in place; returns log |det a|. */
static double invert(double a[R][R])
{
    double log_det = 0, inverse[R][R] = {{0}};
    for (int k = 0; k < R; k++)
        inverse[k][k] = 1;
    for (int k = 0; k < R; k++) {
        const double pivot = a[k][k]; /* positive definite: no need to look for one */
        log_det += log(pivot);
        for (int c = 0; c < R; c++) {
            a[k][c] /= pivot;
            inverse[k][c] /= pivot;
        }
        for (int r = 0; r < R; r++) {
            const double f = r == k ? 0 : a[r][k];
            for (int c = 0; c < R; c++) {
                a[r][c] -= f * a[k][c];
                inverse[r][c] -= f * inverse[k][c];
            }
        }
    }
    memcpy(a, inverse, sizeof inverse);
    return log_det;
}

/* Inverse of the covariance of a column, Q diag(spread) Q + v Q + sigma^2; returns its log det. */
static double covariance(const scene *s, const double *spread, double inverse[R][R])
{
    const chorus_heard *a = &s->heard;
    for (int k = 0; k < R; k++)
        for (int l = 0; l < R; l++) {
            inverse[k][l] = a->variance * a->q[k * R + l] + (k == l ? a->noise * a->noise : 0);
            for (int j = 0; j < R; j++)
                inverse[k][l] += a->q[k * R + j] * spread[j] * a->q[j * R + l];
        }
    return invert(inverse);
}

/* Mean of h_i given column i, if h has variances `spread`; and its covariance. */
static void posterior(const scene *s, const double *spread, size_t i, double *mean,
                      double cov[R][R])
{
    double inverse[R][R], gain[R][R] = {{0}};
    covariance(s, spread, inverse);
    for (int k = 0; k < R; k++)
        for (int l = 0; l < R; l++)
            for (int j = 0; j < R; j++)
                gain[k][l] += spread[k] * s->q[k * R + j] * inverse[j][l];
    for (int k = 0; k < R; k++) {
        mean[k] = 0;
        for (int l = 0; l < R; l++) {
            mean[k] += gain[k][l] * s->y[(size_t)l * P + i];
            cov[k][l] = k == l ? spread[k] : 0;
            for (int j = 0; j < R; j++)
                cov[k][l] -= gain[k][j] * s->q[j * R + l] * spread[l];
        }
    }
}

/* Of all columns, but for a constant. */
static double log_likelihood(const scene *s, double tau)
{
    const double spread[R] = {tau, tau, tau};
    double inverse[R][R], sum = 0;
    const double log_det = covariance(s, spread, inverse);
    for (size_t i = 0; i < P; i++) {
        sum -= log_det / 2;
        for (int k = 0; k < R; k++)
            for (int l = 0; l < R; l++)
                sum -= s->y[(size_t)k * P + i] * inverse[k][l] * s->y[(size_t)l * P + i] / 2;
    }
    return sum;
}

/* ---- a problem ---- */

/* y = Q h + e with h_ki of variance spread[k * P + i]. */
static scene *listen(uint64_t seed, double sigma, const double *spread, bool modes, bool sparse)
{
    dice d = {seed};
    tacit_error err = {0};
    scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->heard = (chorus_heard){.rank = R,
                              .features = P,
                              .y = s->y,
                              .q = s->q,
                              .variance = 0.4,
                              .noise = sigma,
                              .modes = modes,
                              .sparse = sparse};
    double lower[R][R] = {{0}}; /* noise of the sample: v Q = L L^T */
    for (int j = 0; j < 12; j++) {
        const double c[R] = {1, dice_normal(&d), dice_normal(&d)};
        for (int k = 0; k < R; k++)
            for (int l = 0; l < R; l++)
                s->q[k * R + l] += c[k] * c[l];
    }
    for (int k = 0; k < R; k++)
        for (int l = 0; l <= k; l++) {
            double sum = 0.4 * s->q[k * R + l];
            for (int j = 0; j < l; j++)
                sum -= lower[k][j] * lower[l][j];
            lower[k][l] = k == l ? sqrt(sum) : sum / lower[l][l];
        }
    for (size_t i = 0; i < P; i++) {
        double e[R];
        for (int k = 0; k < R; k++) {
            s->h[(size_t)k * P + i] = sqrt(spread[(size_t)k * P + i]) * dice_normal(&d);
            e[k] = dice_normal(&d);
        }
        for (int k = 0; k < R; k++) {
            double sum = sigma * dice_normal(&d);
            for (int l = 0; l < R; l++)
                sum += s->q[k * R + l] * s->h[(size_t)l * P + i] + lower[k][l] * e[l];
            s->y[(size_t)k * P + i] = sum;
        }
    }
    check_ok(chorus_smoothed_init(&s->found, R, P, &err), &err);
    check_ok(chorus_smooth(&s->heard, &s->found, &err), &err);
    return s;
}

static void forget(scene *s)
{
    chorus_smoothed_end(&s->found);
    free(s);
}

static const double *all_alike(double tau)
{
    static double spread[R * P];
    for (size_t k = 0; k < (size_t)R * P; k++)
        spread[k] = tau;
    return spread;
}

/* ---- one spread ---- */

static void test_the_likeliest_spread(void **state)
{
    (void)state;
    static const double taus[] = {0.001, 0.03, 1, 50}, sigmas[] = {0.2, 3, 30};
    const double next = pow(10, 0.25); /* the grid's, 24 steps to a millionth */
    int heard = 0;
    for (int t = 0; t < 4; t++)
        for (int n = 0; n < 3; n++) {
            scene *s = listen(1 + (uint64_t)t, sigmas[n], all_alike(taus[t]), false, false);
            const double tau = s->found.spread;
            if (tau > 0) {
                heard++;
                const double most = log_likelihood(s, tau);
                assert_true(most >= log_likelihood(s, tau * next) - 1e-6);
                assert_true(most >= log_likelihood(s, tau / next) - 1e-6);
                assert_true(most >= log_likelihood(s, 0) - 1e-6);
            }
            /* a spread that stands out of the noise is found, to a step and a half */
            if (taus[t] * s->q[0] > sigmas[n] / 5)
                assert_true(fabs(log(tau / taus[t])) < 1.5 * log(next));
            forget(s);
        }
    assert_true(heard >= 8);
}

static void test_the_posterior_is_bayes(void **state)
{
    (void)state;
    static const double sigmas[] = {0.2, 3, 30};
    for (int n = 0; n < 3; n++) {
        scene *s = listen(7, sigmas[n], all_alike(1), false, false);
        const double tau = s->found.spread, spread[R] = {tau, tau, tau};
        double mean[R], cov[R][R];
        assert_true(tau > 0);
        for (size_t i = 0; i < P; i++) {
            posterior(s, spread, i, mean, cov);
            for (int k = 0; k < R; k++)
                assert_true(fabs(mean[k] - s->found.h[(size_t)k * P + i]) < 1e-6);
        }
        const double c[R] = {0.3, -0.5, 0.8};
        double doubt = 0;
        for (int k = 0; k < R; k++)
            for (int l = 0; l < R; l++) {
                assert_true(fabs(cov[k][l] - s->found.cov[k * R + l]) < 1e-6);
                doubt += c[k] * cov[k][l] * c[l];
            }
        assert_true(fabs(chorus_doubt(&s->found, R, c) - doubt) < 1e-6);
        forget(s);
    }
}

/* Where there is nothing but noise, nothing is heard. */
static void test_noise_is_noise(void **state)
{
    (void)state;
    scene *s = listen(9, 5, all_alike(0), false, false);
    assert_true(s->found.spread < 1e-3);
    for (size_t k = 0; k < (size_t)R * P; k++)
        assert_true(fabs(s->found.h[k]) < 0.05);
    forget(s);
}

/* ---- spreads of their own ---- */

/* Mean over coordinates of the squared error of `h` along direction c. */
static double error_along(const scene *s, const double *h, const double *c)
{
    double sum = 0;
    for (size_t i = 0; i < P; i++) {
        double error = 0;
        for (int k = 0; k < R; k++)
            error += c[k] * (h[(size_t)k * P + i] - s->h[(size_t)k * P + i]);
        sum += error * error / P;
    }
    return sum;
}

/* The same of who knows all spreads. */
static double error_of_who_knows(const scene *s, const double *spread, const double *c)
{
    static double h[R * P];
    for (size_t i = 0; i < P; i++) {
        const double own[R] = {spread[i], spread[P + i], spread[2 * P + i]};
        double mean[R], cov[R][R];
        posterior(s, own, i, mean, cov);
        for (int k = 0; k < R; k++)
            h[(size_t)k * P + i] = mean[k];
    }
    return error_along(s, h, c);
}

static const double along[][R] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.3, -0.5, 0.8}};

/* No worse than who knows by more than `worse`, and doubts are errors up to that factor `off`. */
static void check_as_good(const scene *s, const double *spread, double worse, double off)
{
    for (int k = 0; k < 4; k++) {
        const double error = error_along(s, s->found.h, along[k]);
        const double doubt = chorus_doubt(&s->found, R, along[k]);
        assert_true(error < worse * error_of_who_knows(s, spread, along[k]));
        assert_true(doubt > error / off && doubt < error * off);
    }
}

static void test_modes_have_spreads_of_their_own(void **state)
{
    (void)state;
    static double spread[R * P];
    for (size_t i = 0; i < P; i++) {
        spread[i] = 0.03;
        spread[P + i] = 4;
        spread[2 * P + i] = 0.3;
    }
    for (uint64_t seed = 20; seed < 24; seed++) {
        scene *s = listen(seed, 6, spread, true, false);
        check_as_good(s, spread, 1.2, 2.5);
        const double error = error_along(s, s->found.h, along[0]);
        forget(s);
        /* it matters: one spread for all believes the weakest mode too much */
        s = listen(seed, 6, spread, false, false);
        assert_true(error_along(s, s->found.h, along[0]) > 1.05 * error);
        forget(s);
    }
}

/* Fifty coordinates of 500 say what there is: less is known of spreads. */
static void test_coordinates_have_spreads_of_their_own(void **state)
{
    (void)state;
    static double spread[R * P];
    for (size_t k = 0; k < (size_t)R * P; k++)
        spread[k] = k % P % 10 == 0 ? 5 : 0;
    for (uint64_t seed = 30; seed < 34; seed++) {
        scene *s = listen(seed, 6, spread, false, true);
        check_as_good(s, spread, 1.8, 2);
        assert_true(fabs(log(s->found.spread / 0.5)) < 0.3); /* a tenth of 5, on average */
        forget(s);
    }
}

static void test_refuses_what_is_no_number(void **state)
{
    (void)state;
    scene *s = listen(40, 1, all_alike(1), false, false);
    tacit_error err = {0};
    s->y[7] = NAN;
    check_fails(chorus_smooth(&s->heard, &s->found, &err), TACIT_EINPUT, &err, "finite");
    s->y[7] = 0;
    s->q[2] = INFINITY;
    check_fails(chorus_smooth(&s->heard, &s->found, &err), TACIT_EINPUT, &err, "finite");
    forget(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_likeliest_spread),
        cmocka_unit_test(test_the_posterior_is_bayes),
        cmocka_unit_test(test_noise_is_noise),
        cmocka_unit_test(test_modes_have_spreads_of_their_own),
        cmocka_unit_test(test_coordinates_have_spreads_of_their_own),
        cmocka_unit_test(test_refuses_what_is_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
