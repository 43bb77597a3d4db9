/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The law of relative fitness, psi = c0 + c1 s + c2 s^2 with constants of at least 0, fitted to
 * pilot runs (tacit/forecast.h; paper 002, eq. 5-6).
 *
 * Errors are those of log psi. Noise makes psi a sum of squares, whose spread is in proportion to
 * its size, and pilots differ by decades: plain least squares would look at the worst pilot only.
 * Each Gauss-Newton step is linear least squares in c with weights 1/m for the current law m,
 *
 *     log psi - log m(c') ~ log psi - log m(c) - (m(c') - m(c)) / m(c),
 *
 * under c' >= 0, solved by trying every set of constants that are not 0: there are seven. A step
 * towards a c' >= 0 stays there. The law is not convex in logarithms, so that we start from several
 * places and keep the best. The exponent of N is found by golden section around the rest.
 *
 * Spread: equal runs give `within`, their means around the law `between` with as many degrees of
 * freedom as there are settings less constants; a misfit of the law shows in all runs of a setting
 * alike, so that runs must not be counted as if each were news.
 */
#include "experiment/forecast_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = TACIT_LAW_TERMS, PARAMETERS = TERMS + 1, STEPS = 200, GOLDEN_STEPS = 60 };
#define CROWD_MOST 3.0 /* |exponent of N| */
#define NEARLY 1e-13   /* relative change of the cost that ends a fit */

/* ---- small linear algebra ---- */

/* Solve a x = b for a symmetric positive definite matrix, in place. */
static bool cholesky(double a[PARAMETERS][PARAMETERS], double *b, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < j; k++)
            a[j][j] -= a[j][k] * a[j][k];
        if (!(a[j][j] > 1e-14))
            return false;
        a[j][j] = sqrt(a[j][j]);
        for (size_t i = j + 1; i < n; i++) {
            for (size_t k = 0; k < j; k++)
                a[i][j] -= a[i][k] * a[j][k];
            a[i][j] /= a[j][j];
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
    return true;
}

/* ---- the law at the pilots ---- */

static double at(const double c[TERMS], double s)
{
    return c[0] + s * (c[1] + s * c[2]);
}

/* Sum of squares of log psi - log m; infinite where the law says 0. */
static double cost(const double c[TERMS], const tacit_fit_points *points)
{
    double sum = 0;
    for (size_t i = 0; i < points->count; i++) {
        const double m = at(c, points->s[i]);
        if (!(m > 0) || isinf(m))
            return INFINITY;
        const double miss = points->log_psi[i] - log(m);
        sum += miss * miss;
    }
    return sum;
}

typedef struct normal {
    double a[TERMS][TERMS], b[TERMS], square;
} normal;

/* Normal equations of sum (x . c - y)^2 with rows x = (1, s, s^2)/m and y = 1 + log psi - log m. */
static normal equations(const double c[TERMS], const tacit_fit_points *points)
{
    normal sum = {0};
    for (size_t i = 0; i < points->count; i++) {
        const double s = points->s[i], m = at(c, s), y = 1 + points->log_psi[i] - log(m);
        const double x[TERMS] = {1 / m, s / m, s * s / m};
        for (size_t j = 0; j < TERMS; j++) {
            for (size_t k = 0; k < TERMS; k++)
                sum.a[j][k] += x[j] * x[k];
            sum.b[j] += x[j] * y;
        }
        sum.square += y * y;
    }
    return sum;
}

/* Least squares with the constants of `set` (bits) and zero for the others; the value reached, or
 * INFINITY if a constant came out below zero. */
static double solve_set(double c[TERMS], const normal *n, unsigned set)
{
    size_t index[TERMS] = {0}, count = 0;
    for (size_t k = 0; k < TERMS; k++)
        if (set & 1u << k)
            index[count++] = k;
    double a[PARAMETERS][PARAMETERS] = {{0}}, b[PARAMETERS] = {0}, scale[TERMS];
    for (size_t j = 0; j < count; j++) {
        scale[j] = sqrt(n->a[index[j]][index[j]]);
        if (!(scale[j] > 0))
            return INFINITY;
    }
    for (size_t j = 0; j < count; j++) {
        for (size_t k = 0; k < count; k++)
            a[j][k] = n->a[index[j]][index[k]] / (scale[j] * scale[k]);
        b[j] = n->b[index[j]] / scale[j];
    }
    if (!cholesky(a, b, count))
        return INFINITY;
    double value = n->square;
    memset(c, 0, TERMS * sizeof *c);
    for (size_t j = 0; j < count; j++) {
        if (!(b[j] >= 0))
            return INFINITY;
        c[index[j]] = b[j] / scale[j];
        value -= b[j] * n->b[index[j]] / scale[j];
    }
    return value;
}

/* Nonnegative least squares by trying every subset of the constants in `terms`. */
static bool nonnegative(double c[TERMS], const normal *n, unsigned terms)
{
    double best = INFINITY, trial[TERMS];
    for (unsigned set = 1; set < 1u << TERMS; set++) {
        if (set & ~terms)
            continue;
        const double value = solve_set(trial, n, set);
        if (value < best) {
            best = value;
            memcpy(c, trial, sizeof trial);
        }
    }
    return best < INFINITY;
}

/* From one start downhill. */
static double descend(double c[TERMS], const tacit_fit_points *points, unsigned terms)
{
    double now = cost(c, points);
    for (int step = 0; step < STEPS && now < INFINITY; step++) {
        const normal n = equations(c, points);
        double goal[TERMS] = {0}, trial[TERMS];
        if (!nonnegative(goal, &n, terms))
            break;
        double reached = INFINITY;
        for (double part = 1; part > 1e-6 && !(reached < now); part /= 2) {
            for (size_t k = 0; k < TERMS; k++)
                trial[k] = c[k] + part * (goal[k] - c[k]);
            reached = cost(trial, points);
        }
        if (!(reached < now))
            break;
        const bool done = now - reached <= NEARLY * now;
        memcpy(c, trial, sizeof trial);
        now = reached;
        if (done)
            break;
    }
    return now;
}

/* The constant of one term alone, or an equal share of each: where a descent starts. */
static void start(double c[TERMS], const tacit_fit_points *points, unsigned set)
{
    double share = 0;
    for (size_t k = 0; k < TERMS; k++)
        share += set >> k & 1u;
    memset(c, 0, TERMS * sizeof *c);
    for (size_t k = 0; k < TERMS; k++) {
        double sum = 0;
        size_t count = 0;
        for (size_t i = 0; i < points->count; i++) {
            if (k > 0 && !(points->s[i] > 0))
                continue;
            sum += points->log_psi[i] - (k ? (double)k * log(points->s[i]) : 0);
            count++;
        }
        if (set >> k & 1u && count)
            c[k] = exp(sum / (double)count) / share;
    }
}

static double fit_constants(double c[TERMS], const tacit_fit_points *points, unsigned terms)
{
    double best = INFINITY, trial[TERMS];
    for (unsigned set = 1; set < 1u << TERMS; set++) {
        if (set & ~terms)
            continue;
        start(trial, points, set);
        const double reached = descend(trial, points, terms);
        if (reached < best) {
            best = reached;
            memcpy(c, trial, sizeof trial);
        }
    }
    return best;
}

/* ---- the exponent of N ---- */

static void bend(tacit_fit_points *points, double crowd)
{
    for (size_t i = 0; i < points->count; i++)
        points->s[i] = points->plain[i] * exp(crowd * points->log_owners[i]);
}

static double cost_of_crowd(double c[TERMS], tacit_fit_points *points, unsigned terms, double crowd)
{
    bend(points, crowd);
    return fit_constants(c, points, terms);
}

/* Golden section; the coarse look before it keeps it out of a wrong valley. */
static double fit_crowd(tacit_fit_points *points, unsigned terms)
{
    const double golden = 0.6180339887498949, coarse = 0.25;
    double c[TERMS], middle = 0, least = INFINITY;
    for (double crowd = -CROWD_MOST; crowd <= CROWD_MOST; crowd += coarse) {
        const double value = cost_of_crowd(c, points, terms, crowd);
        if (value < least) {
            least = value;
            middle = crowd;
        }
    }
    double low = middle - coarse, high = middle + coarse;
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double at_left = cost_of_crowd(c, points, terms, left);
    double at_right = cost_of_crowd(c, points, terms, right);
    for (int k = 0; k < GOLDEN_STEPS; k++) {
        if (at_left <= at_right) {
            high = right, right = left, at_right = at_left;
            left = high - golden * (high - low);
            at_left = cost_of_crowd(c, points, terms, left);
        } else {
            low = left, left = right, at_left = at_right;
            right = low + golden * (high - low);
            at_right = cost_of_crowd(c, points, terms, right);
        }
    }
    return (low + high) / 2;
}

/* ---- spread ---- */

/* Derivatives of log m by the constants that are free; a constant at its bound of 0 is not. */
static void slopes(double x[PARAMETERS], const tacit_fitness_law *law, double s, double log_owners)
{
    const double m = at(law->c, s), power[TERMS] = {1, s, s * s};
    for (size_t k = 0; k < TERMS; k++)
        x[k] = law->c[k] > 0 ? power[k] / m : 0;
    x[TERMS] = law->crowd_fitted ? (law->c[1] * s + 2 * law->c[2] * s * s) * log_owners / m : 0;
}

/* The inverse of the information, over between^2; zero rows for what is not free. */
static void cover(tacit_fitness_law *law, const tacit_fit_points *points)
{
    double a[PARAMETERS][PARAMETERS] = {{0}}, scale[PARAMETERS] = {0};
    double each = 1; /* runs of a setting are one piece of news */
    if (points->count > 0)
        each = (double)law->settings / (double)points->count;
    for (size_t i = 0; i < points->count; i++) {
        double x[PARAMETERS];
        slopes(x, law, points->s[i], points->log_owners[i]);
        for (size_t j = 0; j < PARAMETERS; j++)
            for (size_t k = 0; k < PARAMETERS; k++)
                a[j][k] += each * x[j] * x[k];
    }
    for (size_t j = 0; j < PARAMETERS; j++)
        scale[j] = a[j][j] > 0 ? 1 / sqrt(a[j][j]) : 0;
    for (size_t j = 0; j < PARAMETERS; j++)
        for (size_t k = 0; k < PARAMETERS; k++)
            a[j][k] = j == k ? 1 : a[j][k] * scale[j] * scale[k];
    for (size_t k = 0; k < PARAMETERS; k++) {
        double factor[PARAMETERS][PARAMETERS], column[PARAMETERS] = {0};
        memcpy(factor, a, sizeof factor);
        column[k] = 1;
        if (!cholesky(factor, column, PARAMETERS))
            return; /* constants that cannot be told apart: leverage is left out */
        for (size_t j = 0; j < PARAMETERS; j++)
            law->cover[j][k] = scale[j] * column[j] * scale[k];
    }
}

static int by_setting(const void *a, const void *b)
{
    const tacit_fit_order *x = a, *y = b;
    for (size_t k = 0; k < sizeof x->setting / sizeof *x->setting; k++)
        if (x->setting[k] != y->setting[k])
            return x->setting[k] < y->setting[k] ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool same_setting(const tacit_fit_order *a, const tacit_fit_order *b)
{
    for (size_t k = 0; k < sizeof a->setting / sizeof *a->setting; k++)
        if (a->setting[k] != b->setting[k])
            return false;
    return true;
}

static double miss(const tacit_fitness_law *law, const tacit_fit_points *points, size_t order)
{
    const size_t i = points->order[order].index;
    return points->log_psi[i] - log(at(law->c, points->s[i]));
}

static void measure_spread(tacit_fitness_law *law, const tacit_fit_points *points, size_t constants)
{
    double inside = 0, means = 0, inverse = 0;
    law->worst = 1;
    for (size_t first = 0, end; first < points->count; first = end) {
        double sum = 0;
        for (end = first; end < points->count; end++) {
            if (!same_setting(&points->order[first], &points->order[end]))
                break;
            sum += miss(law, points, end);
        }
        const double runs = (double)(end - first), mean = sum / runs;
        for (size_t k = first; k < end; k++)
            inside += pow(miss(law, points, k) - mean, 2);
        means += mean * mean;
        inverse += 1 / runs;
        if (exp(fabs(mean)) > law->worst) {
            law->worst = exp(fabs(mean));
            law->worst_at = points->order[first].index;
        }
    }
    const double settings = (double)law->settings;
    law->repeats = settings / inverse;
    law->freedom = law->settings - constants;
    law->between = sqrt(means / (double)law->freedom);
    if (law->points > law->settings)
        law->within = sqrt(inside / (double)(law->points - law->settings));
}

/* ---- all of it ---- */

tacit_status tacit_fit_points_create(tacit_fit_points *points, size_t count, tacit_error *err)
{
    *points = (tacit_fit_points){.count = count};
    size_t bytes;
    if (count == 0)
        return tacit_fail(err, TACIT_EINPUT, "no pilots to fit a law to; give some");
    if (!tacit_mul_size(count, 4 * sizeof(double), &bytes))
        return tacit_out_of_memory(err);
    double *block = malloc(bytes);
    points->order = calloc(count, sizeof *points->order);
    points->plain = block;
    if (!block || !points->order) {
        tacit_fit_points_clear(points);
        return tacit_out_of_memory(err);
    }
    points->s = block + count;
    points->log_owners = block + 2 * count;
    points->log_psi = block + 3 * count;
    return TACIT_OK;
}

void tacit_fit_points_clear(tacit_fit_points *points)
{
    free(points->plain);
    free(points->order);
    *points = (tacit_fit_points){0};
}

static size_t count_settings(const tacit_fit_points *points)
{
    size_t settings = 0;
    for (size_t i = 0; i < points->count; i++)
        settings += i == 0 || !same_setting(&points->order[i - 1], &points->order[i]);
    return settings;
}

tacit_status tacit_fit(tacit_fitness_law *law, tacit_fit_points *points, unsigned terms, bool crowd,
                       tacit_error *err)
{
    *law = (tacit_fitness_law){.points = points->count, .crowd_fitted = crowd};
    for (size_t i = 0; i < points->count; i++)
        points->order[i].index = i;
    qsort(points->order, points->count, sizeof *points->order, by_setting);
    law->settings = count_settings(points);
    size_t constants = crowd;
    for (size_t k = 0; k < TERMS; k++)
        constants += terms >> k & 1u;
    if (law->settings <= constants)
        return tacit_fail(err, TACIT_EINPUT,
                          "%zu different settings of pilots cannot fix %zu constants; run pilots "
                          "of at least %zu sizes or budgets",
                          law->settings, constants, constants + 1);
    if (crowd)
        law->crowd = fit_crowd(points, terms);
    bend(points, law->crowd);
    if (fit_constants(law->c, points, terms) == INFINITY)
        return tacit_fail(err, TACIT_EINPUT,
                          "no law goes through these pilots; are sizes and budgets right?");
    law->least = INFINITY;
    for (size_t i = 0; i < points->count; i++) {
        law->least = fmin(law->least, points->s[i]);
        law->most = fmax(law->most, points->s[i]);
    }
    measure_spread(law, points, constants);
    cover(law, points);
    return TACIT_OK;
}

double tacit_fit_leverage(const tacit_fitness_law *law, double s, double log_owners)
{
    double x[PARAMETERS], sum = 0;
    slopes(x, law, s, log_owners);
    for (size_t j = 0; j < PARAMETERS; j++)
        for (size_t k = 0; k < PARAMETERS; k++)
            sum += x[j] * law->cover[j][k] * x[k];
    return fmax(sum, 0);
}
