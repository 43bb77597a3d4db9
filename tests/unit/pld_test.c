/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pld accountant against closed forms that share no code with it, and for the properties
 * that any accountant must have: a law from above dominates and one from below is dominated,
 * answers are monotone, do not depend on the order of a list, and add up.
 */
#include <math.h>
#include <stdlib.h>

#include "privacy/account.h"
#include "privacy/pld.h"
#include "testing.h"

enum { TRIES = SLOW ? 4 : 30 };

static double upper(const tacit_loss *loss, size_t count, double delta)
{
    tacit_error err = {0};
    double epsilon;
    check_ok(tacit_account_pld.epsilon(loss, count, delta, &epsilon, &err), &err);
    return epsilon;
}

static double lower(const tacit_loss *loss, size_t count, double delta)
{
    tacit_error err = {0};
    double epsilon;
    check_ok(tacit_account_pld_optimistic.epsilon(loss, count, delta, &epsilon, &err), &err);
    return epsilon;
}

static double delta_above(const tacit_loss *loss, size_t count, double epsilon)
{
    tacit_error err = {0};
    double delta;
    check_ok(tacit_account_pld.delta(loss, count, epsilon, &delta, &err), &err);
    return delta;
}

static double delta_below(const tacit_loss *loss, size_t count, double epsilon)
{
    tacit_error err = {0};
    double delta;
    check_ok(tacit_account_pld_optimistic.delta(loss, count, epsilon, &delta, &err), &err);
    return delta;
}

/* low <= truth <= up, both within `tolerance`; truth itself is good to 1e-10. */
static void enclose(double low, double truth, double up, double tolerance, const char *what)
{
    const double rounding = 1e-10 * truth;
    if (!(low <= truth + rounding && truth <= up + rounding))
        fail_msg("%s: %.15g is not between %.15g and %.15g", what, truth, low, up);
    if (!(up - truth <= tolerance * truth && truth - low <= tolerance * truth))
        fail_msg("%s: %.15g and %.15g are far from %.15g", what, low, up, truth);
}

static double between(dice *d, double low, double high) /* evenly in the logarithm */
{
    return exp(dice_between(d, log(low), log(high)));
}

static tacit_loss gaussian(double noise, double sampling, uint64_t count)
{
    return (tacit_loss){.kind = TACIT_LOSS_GAUSSIAN,
                        .adjacency = TACIT_ADD_REMOVE,
                        .noise = noise,
                        .shift = 1,
                        .sampling = sampling,
                        .count = count};
}

/* ---- closed forms of one release ---- */

static double tail(double x) /* P(Z > x) */
{
    return 0.5 * erfc(x / sqrt(2));
}

/* The worse direction of one sampled Gaussian, shift 1. */
static double sampled_gaussian_delta(double s, double q, double eps)
{
    const double t = log1p(expm1(eps) / q), y = s * s * t + 0.5;
    double removed = (1 - q - exp(eps)) * tail(y / s) + q * tail((y - 1) / s), added = 0;
    const double x = expm1(-eps) / q;
    if (x > -1) {
        const double below = s * s * log1p(x) + 0.5;
        added = (1 - exp(eps) * (1 - q)) * tail(-below / s) - exp(eps) * q * tail((1 - below) / s);
    }
    return fmax(removed, added);
}

static void one_sampled_gaussian(void **state)
{
    (void)state;
    dice d = {11};
    for (int k = 0; k < TRIES; k++) {
        const double s = between(&d, 0.5, 5), q = between(&d, 1e-3, 0.9);
        const double eps = between(&d, 0.02, 2);
        const tacit_loss loss = gaussian(s, q, 1);
        const double truth = sampled_gaussian_delta(s, q, eps);
        if (truth < 1e-9)
            continue; /* the closed form has lost its digits */
        enclose(delta_below(&loss, 1, eps), truth, delta_above(&loss, 1, eps), 2e-3, "delta");
        enclose(lower(&loss, 1, truth), eps, upper(&loss, 1, truth), 1e-3, "epsilon");
    }
}

/* delta(eps) of one discrete Laplace: 1 - (r^(J+1) + r^(2x-J)) / (1 + r), 2x = shift - eps t,
 * J = floor(x), r = e^(-1/t). */
static double discrete_laplace_delta(double t, double shift, double eps)
{
    const double x = (shift - eps * t) / 2, j = floor(x);
    return -expm1(log(exp(-(j + 1) / t) + exp(-(2 * x - j) / t)) - log1p(exp(-1 / t)));
}

static void one_discrete_laplace(void **state)
{
    (void)state;
    static const double cases[][2] = {{1, 1},    {0.3, 1},        {2, 3},          {10, 7},
                                      {100, 50}, {5000, 1234567}, {0x1p30, 0x1p29}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const double t = cases[k][0], shift = cases[k][1];
        const tacit_loss loss = {.kind = TACIT_LOSS_DISCRETE_LAPLACE,
                                 .adjacency = TACIT_ADD_REMOVE,
                                 .noise = t,
                                 .shift = shift,
                                 .sampling = 1,
                                 .count = 1};
        for (int part = 1; part < 5; part++) {
            const double eps = shift / t * part / 5, truth = discrete_laplace_delta(t, shift, eps);
            enclose(delta_below(&loss, 1, eps), truth, delta_above(&loss, 1, eps), 1e-3,
                    "discrete laplace");
            if (truth < 0.9)
                enclose(lower(&loss, 1, truth), eps, upper(&loss, 1, truth), 1e-3, "its epsilon");
        }
    }
}

/* The sum that defines it. */
static double discrete_gaussian_delta(double s, double shift, double eps)
{
    double norm = 0, delta = 0;
    for (double k = -40 * s; k <= 40 * s; k++) {
        const double y = round(k);
        norm += exp(-y * y / (2 * s * s));
    }
    for (double k = -40 * s; k <= 40 * s + shift; k++) {
        const double y = round(k), gap = y - shift;
        const double p = exp(-gap * gap / (2 * s * s)), q = exp(eps - y * y / (2 * s * s));
        delta += fmax(p - q, 0) / norm;
    }
    return delta;
}

static void one_discrete_gaussian(void **state)
{
    (void)state;
    static const double cases[][2] = {{1, 1}, {0.7, 2}, {3, 1}, {20, 13}, {50, 1}, {400, 317}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const double s = cases[k][0], shift = cases[k][1];
        const tacit_loss loss = {.kind = TACIT_LOSS_DISCRETE_GAUSSIAN,
                                 .noise = s,
                                 .shift = shift,
                                 .sampling = 1,
                                 .count = 1};
        for (int part = 1; part < 4; part++) {
            const double eps = part * shift / s, truth = discrete_gaussian_delta(s, shift, eps);
            enclose(delta_below(&loss, 1, eps), truth, delta_above(&loss, 1, eps), 1e-3,
                    "discrete gaussian");
        }
    }
}

/* With 2^30 steps to a deviation the integers do not show. */
static void wide_discrete_gaussian(void **state)
{
    (void)state;
    tacit_error err = {0};
    for (int sampled = 0; sampled < 2; sampled++) {
        tacit_loss loss = gaussian(2, sampled ? 0.05 : 1, 300);
        tacit_loss whole = loss;
        whole.kind = TACIT_LOSS_DISCRETE_GAUSSIAN;
        whole.noise *= 0x1p30;
        whole.shift *= 0x1p30;
        double truth = (upper(&loss, 1, 1e-7) + lower(&loss, 1, 1e-7)) / 2;
        if (!sampled)
            check_ok(tacit_account_gdp.epsilon(&loss, 1, 1e-7, &truth, &err), &err);
        assert_true(upper(&whole, 1, 1e-7) >= truth * (1 - 1e-4));
        assert_true(upper(&whole, 1, 1e-7) <= truth * (1 + 1e-3));
        assert_true(lower(&whole, 1, 1e-7) <= truth * (1 + 1e-4));
        assert_true(lower(&whole, 1, 1e-7) >= truth * (1 - 1e-3));
    }
}

/* Gaussians among other things, when the other things say nothing. */
static void gaussians_by_the_grid(void **state)
{
    (void)state;
    tacit_error err = {0};
    dice d = {5};
    for (int k = 0; k < TRIES / 2; k++) {
        tacit_loss loss[2] = {
            gaussian(between(&d, 0.3, 30), 1, 1 + dice_below(&d, 100)),
            {.kind = TACIT_LOSS_PURE, .sampling = 1, .epsilon = 1e-9, .count = 1}};
        const double delta = between(&d, 1e-12, 1e-2);
        double truth;
        check_ok(tacit_account_gdp.epsilon(loss, 1, delta, &truth, &err), &err);
        if (truth < 1e-4)
            continue;
        enclose(lower(loss, 2, delta), truth, upper(loss, 2, delta) + 2e-9, 1e-3, "gaussian");
    }
}

/* n releases with two losses each: a binomial sum. */
static double binomial_delta(int n, double chance, double high, double low, double eps)
{
    double delta = 0;
    for (int k = 0; k <= n; k++) {
        const double loss = k * high + (n - k) * low;
        const double log_mass = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) +
                                k * log(chance) + (n - k) * log1p(-chance);
        delta += loss > eps ? -exp(log_mass) * expm1(eps - loss) : 0;
    }
    return delta;
}

/* Adding a record can be worse than removing one: here it is, by 2 % of delta. */
static void the_worse_direction(void **state)
{
    (void)state;
    const double q = 0.8930422336184867, e = 0.056382930296333886, eps = 1.597;
    const double with = log1p(q * expm1(e)), without = log1p(q * expm1(-e));
    const double less = 1 / (1 + exp(e)), more = 1 - less; /* Q's chances of log ratios e, -e */
    const double removed = binomial_delta(61, less * exp(with), with, without, eps);
    const double added = binomial_delta(61, more, -without, -with, eps);
    const tacit_loss loss = {.kind = TACIT_LOSS_PURE,
                             .adjacency = TACIT_ADD_REMOVE,
                             .sampling = q,
                             .epsilon = e,
                             .count = 61};
    assert_true(added > 1.01 * removed);
    enclose(delta_below(&loss, 1, eps), added, delta_above(&loss, 1, eps), 5e-3, "added");
}

/* ---- laws ---- */

static double law_delta(const pld_law *law, const pld_grid *grid, double eps)
{
    double delta = law->infinite;
    for (size_t k = 0; k < law->size; k++) {
        const double loss = (double)law->index[k] * grid->step;
        const double mass = law->mass[k] * exp(law->log_mgf - grid->tilt * loss);
        delta += loss > eps ? -mass * expm1(eps - loss) : 0;
    }
    return delta;
}

static double law_total(const pld_law *law, const pld_grid *grid, double power)
{
    double total = 0;
    for (size_t k = 0; k < law->size; k++) {
        const double loss = (double)law->index[k] * grid->step;
        total += law->mass[k] * exp(law->log_mgf - (grid->tilt + power) * loss);
    }
    return total;
}

/* From above: P-mass and Q-mass are kept, the curve is met at grid points (where cells are one
 * step wide) and never undercut; from below never exceeded. */
static void laws_enclose(void **state)
{
    (void)state;
    const tacit_loss loss = gaussian(0.9, 0.2, 1);
    const pld_grid grid = {.step = 0.05, .tilt = 1.5, .widest = 1};
    pld_pair pair[2];
    pld_shape shape;
    pld_law law[2];
    bool complete;
    for (int add = 0; add < 2; add++) {
        assert_int_equal(pld_pairs(pair, &loss, 1, add, false, &complete), 1);
        pld_shape_of(&shape, pair, 60);
        pld_law_build(&law[0], pair, &shape, &grid, 0, true);
        pld_law_build(&law[1], pair, &shape, &grid, 0, false);
        for (int k = 0; k < 2; k++) {
            assert_true(fabs(law_total(&law[k], &grid, 0) - 1) < 1e-11);
            assert_true(fabs(law_total(&law[k], &grid, 1) - 1) < 1e-11);
        }
        for (double eps = 0.0125; eps < (add ? 0.2 : 4); eps += 0.0125) {
            const double y = pld_place(pair, eps), q = 0.2, s = 0.9;
            const double truth =
                add ? (1 - exp(eps) * (1 - q)) * tail(y / s) - exp(eps) * q * tail((1 + y) / s)
                    : (1 - q - exp(eps)) * tail(y / s) + q * tail((y - 1) / s);
            const double up = law_delta(&law[1], &grid, eps), low = law_delta(&law[0], &grid, eps);
            assert_true(low <= truth + 1e-13 && truth <= up + 1e-13);
            if (fabs(remainder(eps, 0.05)) < 1e-9 && eps < 1)
                assert_true(fabs(up - truth) < 1e-12 + 1e-3 * truth);
        }
        pld_law_clear(&law[0]);
        pld_law_clear(&law[1]);
    }
}

/* Sums of polynomials over whole numbers are exact up to the fifth degree. */
static void integers_by_three_nodes(void **state)
{
    (void)state;
    const pld_pair pair = {.family = PLD_GAUSSIAN, .lattice = true, .noise = 1e6, .shift = 1};
    static const int counts[] = {1, 2, 3, 4, 5, 17, 1000};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        double at[PLD_MOST_NODES], weight[PLD_MOST_NODES];
        const int nodes = pld_nodes(&pair, -3, counts[k], false, at, weight);
        for (int degree = 0; degree <= 5; degree++) {
            double truth = 0, sum = 0, size = 0;
            for (int j = 0; j < counts[k]; j++)
                truth += pow(j - 3, degree);
            for (int j = 0; j < nodes; j++) {
                sum += weight[j] * pow(at[j], degree);
                size += weight[j] * pow(fabs(at[j]), degree);
            }
            assert_true(fabs(sum - truth) <= 1e-13 * size);
        }
    }
}

/* A window that lies above the answer says nothing from below, and its edge from above. */
static void window_too_high(void **state)
{
    (void)state;
    double mass[64] = {0}, slope = 0;
    mass[10] = 1e-9;
    const pld_curve curve = {.grid = {.step = 0.1}, .first = 1000, .length = 64, .mass = mass};
    assert_true(pld_curve_epsilon(&curve, 1e-3, true, &slope) == 0);
    assert_true(fabs(pld_curve_epsilon(&curve, 1e-3, false, &slope) - 100) < 1e-6);
    assert_true(pld_curve_delta(&curve, 3, true, &slope) <= 1e-9);
    assert_true(pld_curve_delta(&curve, 3, false, &slope) == 1);
}

/* ---- properties of answers ---- */

/* An answer is above the truth by up to 1e-5 or so, and by how much changes with the grid: so far
 * may what should grow go down. */
#define GRID 2e-5

static tacit_loss anything(dice *d)
{
    static const tacit_loss_kind kinds[] = {
        TACIT_LOSS_PURE,    TACIT_LOSS_APPROXIMATE,       TACIT_LOSS_GAUSSIAN,
        TACIT_LOSS_LAPLACE, TACIT_LOSS_DISCRETE_GAUSSIAN, TACIT_LOSS_DISCRETE_LAPLACE,
        TACIT_LOSS_RESPONSE};
    tacit_loss loss = {.kind = kinds[dice_below(d, 7)],
                       .adjacency = dice_below(d, 2) ? TACIT_ADD_REMOVE : TACIT_REPLACE,
                       .sampling = dice_below(d, 2) ? 1 : between(d, 1e-3, 1),
                       .epsilon = between(d, 1e-3, 1),
                       .categories = 2 + (uint32_t)dice_below(d, 10),
                       .count = 1 + dice_below(d, 200)};
    loss.shift = 2 * (double)(1 + dice_below(d, 20)); /* even: on the grid when halved */
    loss.noise = loss.shift * between(d, 0.8, 50);
    if (loss.kind == TACIT_LOSS_APPROXIMATE)
        loss.delta = 1e-9;
    return loss;
}

static void order_and_sums(void **state)
{
    (void)state;
    dice d = {77};
    for (int k = 0; k < TRIES / 2; k++) {
        tacit_loss loss[4], turned[4];
        for (int j = 0; j < 3; j++)
            turned[2 - j] = loss[j] = anything(&d);
        const double eps = upper(loss, 3, 1e-5), low = lower(loss, 3, 1e-5);
        assert_true(fabs(upper(turned, 3, 1e-5) - eps) <= 1e-9 * eps);
        assert_true(low <= eps);
        if (!(low >= 0.95 * eps))
            fail_msg("list %d: %.10g and %.10g are far apart", k, low, eps);
        /* Some releases now and the others later are all of them. */
        loss[3] = loss[0];
        loss[3].count = 1 + loss[0].count / 3;
        const tacit_loss one = loss[0];
        loss[0].count += loss[3].count;
        const double together = upper(loss, 3, 1e-5);
        loss[0] = one;
        assert_true(fabs(upper(loss, 4, 1e-5) - together) <= 1e-6 * together);
        if (!(together >= eps * (1 - GRID)))
            fail_msg("list %d: more releases made %.12g of %.12g", k, together, eps);
    }
}

static void monotone(void **state)
{
    (void)state;
    dice d = {4};
    for (int k = 0; k < TRIES; k++) {
        const tacit_loss loss = anything(&d);
        const double delta = between(&d, 1e-10, 1e-3), eps = upper(&loss, 1, delta);
        tacit_loss worse[4] = {loss, loss, loss, loss};
        worse[0].count += 1 + worse[0].count / 20;
        worse[1].noise *= 0.98;
        worse[1].epsilon *= 1.02;
        worse[2].sampling = fmin(1, 1.05 * loss.sampling);
        worse[3].shift += 2;
        for (int j = 0; j < 4; j++)
            if (!(upper(&worse[j], 1, delta) >= eps * (1 - GRID)))
                fail_msg("case %d, change %d: %.12g became %.12g", k, j, eps,
                         upper(&worse[j], 1, delta));
        assert_true(upper(&loss, 1, delta / 1.5) >= eps * (1 - GRID));
    }
}

/* delta at the epsilon found is the delta asked for. */
static void there_and_back(void **state)
{
    (void)state;
    dice d = {31};
    for (int k = 0; k < TRIES / 2; k++) {
        const tacit_loss loss[2] = {
            gaussian(between(&d, 0.5, 4), between(&d, 1e-3, 0.5), 1 + dice_below(&d, 3000)),
            gaussian(between(&d, 0.5, 4), between(&d, 1e-3, 0.5), 10)};
        const double delta = between(&d, 1e-12, 1e-3), eps = upper(loss, 2, delta);
        if (eps == 0)
            continue;
        const double up = delta_above(loss, 2, eps), low = delta_below(loss, 2, eps);
        assert_true(low <= up);
        if (!(fabs(up - delta) <= 2e-3 * delta && fabs(low - delta) <= 5e-3 * delta))
            fail_msg("delta %g became %g and %g at epsilon %g", delta, up, low, eps);
    }
}

/* ---- the ends of the range ---- */

/* The central limit: a billion tiny losses are one Gaussian, mu^2 = n q^2 (e^(1/s^2) - 1). */
static void many_releases(void **state)
{
    (void)state;
    tacit_error err = {0};
    const double s = 2, q = 1e-5, n = 1e9;
    const tacit_loss many = gaussian(s, q, (uint64_t)n);
    tacit_loss limit = gaussian(1, 1, 1);
    limit.shift = q * sqrt(n * expm1(1 / (s * s)));
    double truth;
    check_ok(tacit_account_gdp.epsilon(&limit, 1, 1e-6, &truth, &err), &err);
    const double up = upper(&many, 1, 1e-6), low = lower(&many, 1, 1e-6);
    if (!(low <= up && up < truth * 1.01 && low > truth * 0.99))
        fail_msg("%g and %g around %g", low, up, truth);
}

static void small_deltas(void **state)
{
    (void)state;
    const tacit_loss loss = gaussian(1, 0.1, 100);
    double before = 0;
    for (double delta = 1e-3; delta > 1e-200; delta *= delta > 1e-15 ? 1e-3 : 1e-40) {
        const double up = upper(&loss, 1, delta), low = lower(&loss, 1, delta);
        assert_true(up > before && low <= up && up - low < 2e-3 * up);
        before = up;
    }
    /* Pure losses have an end, and no delta takes them beyond. */
    const tacit_loss pure = {.kind = TACIT_LOSS_PURE, .sampling = 1, .epsilon = 0.25, .count = 40};
    assert_true(fabs(upper(&pure, 1, 0) - 10) < 1e-12);
    assert_true(upper(&pure, 1, 1e-300) <= 10 * (1 + 1e-14));
    assert_true(lower(&pure, 1, 1e-30) <= 10);
    assert_true(delta_above(&pure, 1, 10.5) == 0);
    assert_true(isinf(upper(&loss, 1, 0)));
}

static void failures_count(void **state)
{
    (void)state;
    tacit_loss loss = gaussian(1, 0.1, 100);
    const double plain = upper(&loss, 1, 1e-6);
    loss.delta = 5e-9;
    const double half = upper(&loss, 1, 1e-6), low = lower(&loss, 1, 1e-6);
    assert_true(fabs(half - upper(&(tacit_loss){.kind = TACIT_LOSS_GAUSSIAN,
                                                .adjacency = TACIT_ADD_REMOVE,
                                                .noise = 1,
                                                .shift = 1,
                                                .sampling = 0.1,
                                                .count = 100},
                                  1, 5e-7)) < 1e-4 * half);
    assert_true(low <= plain && plain < half); /* a lower bound does not rely on failures */
    loss.delta = 1e-8;
    assert_true(upper(&loss, 1, 1e-6) == INFINITY || upper(&loss, 1, 1e-6) > half);
    loss.delta = 2e-8;
    assert_true(isinf(upper(&loss, 1, 1e-6)));
    /* (eps, delta)-DP is exactly this: 1 - (1 - d)^n (1 - delta of the pure part). */
    const tacit_loss pure = {.kind = TACIT_LOSS_PURE, .sampling = 1, .epsilon = 0.3, .count = 50};
    tacit_loss both = pure;
    both.kind = TACIT_LOSS_APPROXIMATE;
    both.delta = 1e-4;
    const double kept = exp(50 * log1p(-1e-4));
    const double truth = 1 - kept * (1 - delta_below(&pure, 1, 4));
    enclose(delta_below(&both, 1, 4), truth, delta_above(&both, 1, 4), 1e-2, "approximate");
}

/* Corners where the grid or the tilt once went astray: never infinite, never far from the truth
 * (by closed forms; where there is none, rdp's answer is the limit). */
static void corners(void **state)
{
    (void)state;
    static const struct {
        double sigma, q;
        uint64_t steps;
        double delta, most;
    } case_[] = {
        {678.582, 0.999993, 1, 1.96e-14, 0.0098},
        {156.811059, 0.922025038, 1, 1.40563e-15, 0.0409987 * 1.005},
        {13.2513589, 0.999997852, 1, 2.18745e-15, 0.54942 * 1.005},
        {0.21326, 0.996579, 1, 1e-6, 34.4},
        {0.206282922, 0.201544046, 1, 4.7923e-6, 31.2},
        {1, 0.5, 10, 1e-200, 93},
    };
    for (size_t k = 0; k < sizeof case_ / sizeof *case_; k++) {
        const tacit_loss loss = gaussian(case_[k].sigma, case_[k].q, case_[k].steps);
        const double up = upper(&loss, 1, case_[k].delta);
        assert_true(up <= case_[k].most);
        assert_true(lower(&loss, 1, case_[k].delta) <= up);
    }
}

static void silence(void **state)
{
    (void)state;
    tacit_loss loss = {.kind = TACIT_LOSS_ZCDP, .sampling = 1, .epsilon = 0.1, .count = 1};
    assert_true(isnan(upper(&loss, 1, 1e-6)));
    loss = gaussian(1, 0.1, 10);
    loss.shift = 0;
    assert_true(upper(&loss, 1, 1e-6) == 0);
    assert_true(delta_above(&loss, 1, 0.5) == 0);
    /* Absurd numbers end, and on the right side. */
    loss = gaussian(1e-200, 0.5, 1000);
    assert_true(isinf(upper(&loss, 1, 1e-6)));
    loss.kind = TACIT_LOSS_LAPLACE;
    loss.noise = 1e-9;
    const double up = upper(&loss, 1, 1e-6);
    assert_true(up >= 1e9 && lower(&loss, 1, 1e-6) <= up);
    loss = gaussian(1e150, 0.5, UINT64_C(1) << 53);
    assert_true(upper(&loss, 1, 1e-6) >= 0);
    loss = gaussian(1, 1e-300, 1000);
    assert_true(upper(&loss, 1, 1e-6) == 0);
    loss = gaussian(1e15, 0.3, 1000);
    loss.kind = TACIT_LOSS_DISCRETE_GAUSSIAN; /* integers that doubles cannot count */
    assert_true(upper(&loss, 1, 1e-10) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sampled_gaussian),
        cmocka_unit_test(one_discrete_laplace),
        cmocka_unit_test(one_discrete_gaussian),
        cmocka_unit_test(wide_discrete_gaussian),
        cmocka_unit_test(gaussians_by_the_grid),
        cmocka_unit_test(laws_enclose),
        cmocka_unit_test(order_and_sums),
        cmocka_unit_test(monotone),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(many_releases),
        cmocka_unit_test(small_deltas),
        cmocka_unit_test(failures_count),
        cmocka_unit_test(corners),
        cmocka_unit_test(silence),
        cmocka_unit_test(integers_by_three_nodes),
        cmocka_unit_test(window_too_high),
        cmocka_unit_test(the_worse_direction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
