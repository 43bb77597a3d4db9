/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the samplers have the laws they promise? Each is drawn from 10^7 times (4 10^6 where
 * the law is wide, 500,000 under a sanitizer) and goes through a battery; then samplers that are
 * wrong on purpose go through the very same battery and must be caught, and a textbook sampler
 * that is right must not.
 *
 * The battery, each check with a false alarm of about 1e-6, seeds fixed:
 *   cells   chi-square: integer by integer where the law is narrow, 1000 equally likely cells
 *           where it is wide; rare integers are pooled
 *   tails   how many lie beyond points where 100, 20 and 1/100 are expected: Poisson bounds
 *   moments mean, variance and (wide laws) fourth moment
 *   bits    wide laws: remainders modulo 256 and 105 equally likely: chi-square
 *   curve   wide laws: Kolmogorov-Smirnov on the first 200,000 draws
 * There are some 150 checks in all: 2e-4 that a right sampler would have failed when this was
 * written. Expected probabilities come from sums and closed forms in double, sharing no code with
 * the samplers; for wide laws (2^18 and more) the continuous law at half-integers is exact to
 * 1e-10.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* There is one thread here and a lot of counting. */
#define UNWATCHED __attribute__((no_sanitize("thread")))

enum {
    DRAWS = SLOW ? 500000 : 10000000,
    WIDE_DRAWS = SLOW ? 500000 : 4000000,
    TWIN_DRAWS = 500000,
    PIECE = 50000,
    CURVE = 200000,
    REACH = 4096, /* a narrow law has all but 1e-18 of its weight within */
    CELLS = 1000
};
#define WIDE 1000.0 /* standard deviations from here on are wide */

typedef enum law { LAPLACE, GAUSSIAN, SKELLAM } law;

/* The law that is promised. */
typedef struct promise {
    law law;
    double num, den; /* scale or variance */
} promise;

static double parameter(const promise *p)
{
    return p->num / p->den;
}

static double deviation(const promise *p)
{
    return p->law == LAPLACE ? sqrt(2) * parameter(p) : sqrt(parameter(p));
}

/* ---- expected ---- */

static double pmf[REACH + 1]; /* of z >= 0 */

UNWATCHED static void poisson_difference(double variance)
{
    static double p[4 * REACH];
    double mean = variance / 2;
    for (int k = 0; k < 4 * REACH; k++)
        p[k] = exp(k * log(mean) - mean - lgamma(k + 1.0));
    for (int z = 0; z <= REACH; z++) {
        pmf[z] = 0;
        for (int k = 0; k + z < 4 * REACH; k++)
            pmf[z] += p[k] * p[k + z];
    }
}

UNWATCHED static void narrow_pmf(const promise *p)
{
    double a = parameter(p), total = 0;
    if (p->law == SKELLAM)
        poisson_difference(a);
    for (int z = 0; z <= REACH && p->law != SKELLAM; z++)
        pmf[z] = p->law == LAPLACE ? exp(-z / a) : exp(-z * (double)z / (2 * a));
    for (int z = 0; z <= REACH; z++)
        total += (z ? 2 : 1) * pmf[z];
    for (int z = 0; z <= REACH; z++)
        pmf[z] /= total;
}

/* P(Z <= z) of a wide law. */
UNWATCHED static double wide_cdf(const promise *p, double z)
{
    double x = (z + 0.5) / (p->law == LAPLACE ? parameter(p) : sqrt(2 * parameter(p)));
    if (p->law != LAPLACE)
        return 0.5 * erfc(-x);
    return x < 0 ? 0.5 * exp(x) : 1 - 0.5 * exp(-x);
}

/* P(|Z| >= k), k > 0. */
static double beyond(const promise *p, double k)
{
    if (deviation(p) > WIDE)
        return 2 * wide_cdf(p, -k);
    double sum = 0;
    for (int z = REACH; z >= k; z--)
        sum += 2 * pmf[z];
    return sum;
}

/* ---- seen ---- */

enum { TAILS = 3 };
static const double tail_expected[TAILS] = {100, 20, 0.01};

typedef struct tally {
    double count[2 * REACH + 1]; /* narrow: z + REACH */
    double cell[CELLS];          /* wide */
    double low[256], odd[105];
    double tail_from[TAILS], tail[TAILS];
    double sum[5]; /* of (z / deviation)^k */
    double curve[CURVE];
    size_t drawn;
    double unit; /* 1 / deviation */
    bool wide;
} tally;
static tally seen;

/* The least k beyond which fewer than `expected` of `draws` lie. */
static double tail_point(const promise *p, double expected, double draws)
{
    double low = 0, high = ceil(60 * deviation(p)) + 60;
    high = deviation(p) > WIDE || high < REACH ? high : REACH;
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        *(beyond(p, middle) * draws < expected ? &high : &low) = middle;
    }
    return high;
}

UNWATCHED static void look(const promise *p, int64_t z)
{
    double value = (double)z, x = value * seen.unit, power = x;
    for (int k = 1; k < 5; k++, power *= x)
        seen.sum[k] += power;
    for (int k = 0; k < TAILS; k++)
        seen.tail[k] += fabs(value) >= seen.tail_from[k];
    if (seen.wide) {
        double u = wide_cdf(p, value);
        seen.cell[(int)(fmin(u, 1 - 1e-16) * CELLS)]++;
        seen.low[(uint64_t)z & 255]++;
        seen.odd[(uint64_t)(z + INT64_C(105) * (INT64_C(1) << 55)) % 105]++;
        if (seen.drawn < CURVE)
            seen.curve[seen.drawn] = u;
    } else {
        seen.count[z < -REACH ? 0 : z > REACH ? 2 * REACH : z + REACH]++;
    }
    seen.drawn++;
}

/* ---- checks: NULL, or the name of what is wrong ---- */

typedef struct chi {
    double sum, freedom, pooled_seen, pooled_expected;
} chi;

static void chi_add(chi *c, double found, double expected)
{
    if (expected < 25) { /* pooled */
        c->pooled_seen += found;
        c->pooled_expected += expected;
        return;
    }
    c->sum += (found - expected) * (found - expected) / expected;
    c->freedom++;
}

/* Wilson and Hilferty's approximation at 4.75 normal deviations: 1e-6. */
static bool chi_fails(chi *c)
{
    if (c->pooled_expected >= 5) {
        double away = c->pooled_seen - c->pooled_expected;
        c->sum += away * away / c->pooled_expected;
        c->freedom++;
    }
    double f = c->freedom - 1, spread = 2 / (9 * f);
    return f > 0 && cbrt(c->sum / f) > 1 - spread + 4.75 * sqrt(spread);
}

static const char *check_cells(const promise *p)
{
    chi c = {0};
    double n = (double)seen.drawn;
    if (deviation(p) > WIDE)
        for (int k = 0; k < CELLS; k++)
            chi_add(&c, seen.cell[k], n / CELLS);
    else
        for (int z = -REACH; z <= REACH; z++)
            chi_add(&c, seen.count[z + REACH], n * pmf[abs(z)]);
    return chi_fails(&c) ? "cells" : NULL;
}

static const char *check_bits(void)
{
    chi low = {0}, odd = {0};
    for (int k = 0; k < 256; k++)
        chi_add(&low, seen.low[k], (double)seen.drawn / 256);
    for (int k = 0; k < 105; k++)
        chi_add(&odd, seen.odd[k], (double)seen.drawn / 105);
    return chi_fails(&low) ? "bits" : chi_fails(&odd) ? "remainders" : NULL;
}

/* P(X <= k) or P(X >= k) below 5e-7 for X ~ Poisson(mean). */
static bool poisson_fails(double k, double mean)
{
    double below = 0, above = 0;
    for (double j = 0; j <= k + 60 + 10 * mean; j++) {
        double term = exp(j * log(mean) - mean - lgamma(j + 1));
        below += j <= k ? term : 0;
        above += j >= k ? term : 0;
    }
    return below < 5e-7 || above < 5e-7;
}

static const char *check_tails(const promise *p)
{
    for (int k = 0; k < TAILS; k++)
        if (poisson_fails(seen.tail[k], beyond(p, seen.tail_from[k]) * (double)seen.drawn))
            return "tails";
    return NULL;
}

/* E z^k in units of the deviation. */
static double moment(const promise *p, int k)
{
    static const double laplace[] = {1, 0, 1, 0, 6, 0, 90, 0, 2520};
    static const double normal[] = {1, 0, 1, 0, 3, 0, 15, 0, 105};
    if (deviation(p) > WIDE)
        return p->law == LAPLACE ? laplace[k] : normal[k];
    double sum = 0;
    for (int z = 1; z <= REACH && k % 2 == 0; z++)
        sum += 2 * pmf[z] * pow(z / deviation(p), k);
    return sum;
}

static const char *check_moments(const promise *p)
{
    static const char *const names[] = {"", "mean", "variance", "skew", "fourth moment"};
    double n = (double)seen.drawn;
    /* mean and variance always; a power k is only asked for where its own law is nearly normal */
    int most = deviation(p) > WIDE && p->law != LAPLACE ? 4 : 2;
    for (int k = 1; k <= most; k++) {
        double want = moment(p, k), spread = sqrt((moment(p, 2 * k) - want * want) / n);
        if (fabs(seen.sum[k] / n - want) > 4.9 * spread)
            return names[k];
    }
    return NULL;
}

/* P(sqrt(n) D > 2.7) = 2 exp(-2 2.7^2) = 1e-6. */
static const char *check_curve(void)
{
    size_t n = seen.drawn < CURVE ? seen.drawn : CURVE;
    return kolmogorov(n, seen.curve) > 2.7 ? "curve" : NULL;
}

static const char *battery(const promise *p)
{
    const char *wrong = check_cells(p);
    wrong = wrong ? wrong : check_tails(p);
    wrong = wrong ? wrong : check_moments(p);
    if (deviation(p) > WIDE) {
        wrong = wrong ? wrong : check_bits();
        wrong = wrong ? wrong : check_curve();
    }
    return wrong;
}

typedef void sampler(const void *ctx, tacit_stream *s, size_t count, int64_t *out);

static const char *judge(const promise *p, sampler *draw, const void *ctx, uint64_t seed,
                         size_t draws)
{
    static int64_t z[PIECE];
    tacit_random random;
    tacit_stream s;
    tacit_random_init(&random, seed);
    tacit_stream_open(&s, &random, 3, TACIT_FOR_TEST, 0);
    memset(&seen, 0, sizeof seen);
    seen.unit = 1 / deviation(p);
    seen.wide = deviation(p) > WIDE;
    if (!seen.wide)
        narrow_pmf(p);
    for (int k = 0; k < TAILS; k++)
        seen.tail_from[k] = tail_point(p, tail_expected[k], (double)draws);
    for (size_t at = 0; at < draws; at += PIECE) {
        draw(ctx, &s, PIECE, z);
        for (int k = 0; k < PIECE; k++)
            look(p, z[k]);
    }
    return battery(p);
}

/* ---- ours ---- */

static tacit_noise *make(law which, uint64_t num, uint64_t den)
{
    tacit_noise *noise = NULL;
    tacit_error err = {0};
    tacit_ratio r = {num, den};
    check_ok(which == LAPLACE    ? tacit_noise_laplace(&noise, r, &err)
             : which == GAUSSIAN ? tacit_noise_gaussian(&noise, r, &err)
                                 : tacit_noise_skellam(&noise, r, &err),
             &err);
    return noise;
}

static void exact(const void *ctx, tacit_stream *s, size_t count, int64_t *out)
{
    tacit_noise_draw(ctx, s, count, out);
}

typedef struct subject {
    law law;
    uint64_t num, den;
} subject;

static const subject subjects[] = {
    {LAPLACE, 1, 4},
    {LAPLACE, 1, 1},
    {LAPLACE, 5, 2},
    {LAPLACE, 100, 3},
    {LAPLACE, 6018071155279463, UINT64_C(1) << 32},
    {LAPLACE, 6018071155279463, UINT64_C(1) << 19},
    {LAPLACE, UINT64_C(1) << 48, 1},
    {GAUSSIAN, 1, 4},
    {GAUSSIAN, 1, 1},
    {GAUSSIAN, 10, 1},
    {GAUSSIAN, 1000003, 100},
    {GAUSSIAN, UINT64_C(2063671298342913), UINT64_C(1) << 10},
    {GAUSSIAN, UINT64_C(2063671298342913) << 8, 1},
    {GAUSSIAN, UINT64_MAX, 1},
    {SKELLAM, 1, 2},
    {SKELLAM, 3, 1},
    {SKELLAM, 2000, 7},
    {SKELLAM, 20001, 1},
    {SKELLAM, UINT64_C(2063671298342913), UINT64_C(1) << 10},
};

static void test_the_laws_are_kept(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        const subject *it = &subjects[k];
        promise p = {it->law, (double)it->num, (double)it->den};
        tacit_noise *noise = make(it->law, it->num, it->den);
        size_t draws = deviation(&p) > WIDE ? WIDE_DRAWS : DRAWS;
        const char *wrong = judge(&p, exact, noise, 1000 + k, draws);
        tacit_noise_free(noise);
        if (wrong)
            fail_msg("law %d, %g / %g: %s", (int)p.law, p.num, p.den, wrong);
    }
}

/* ---- broken twins ---- */

static double open_unit(tacit_stream *s) /* (0, 1) */
{
    return ((double)(tacit_stream_u64(s) >> 11) + 0.5) * 0x1p-53;
}

static int64_t rounded_laplace(tacit_stream *s, double scale)
{
    double size = -scale * log(open_unit(s));
    return (int64_t)round(tacit_stream_u64(s) & 1 ? size : -size);
}

static double box_muller(tacit_stream *s)
{
    return sqrt(-2 * log(open_unit(s))) * cos(6.283185307179586 * open_unit(s));
}

typedef enum slip { NO_SLIP, MODULO_BIAS, MINUS_ZERO } slip;

/* Canonne, Kamath and Steinke's own sampler (their Algorithm 2, whole scales); or with 16 bits
 * modulo the scale, or without the refusal of -0. */
static int64_t textbook_laplace(tacit_stream *s, uint64_t scale, slip how)
{
    for (;;) {
        uint64_t v = 0, u = how == MODULO_BIAS ? (tacit_stream_u64(s) & 0xffff) % scale
                                               : tacit_stream_below(s, scale);
        if (!tacit_bernoulli_exp(s, (tacit_ratio){u, scale}))
            continue;
        while (tacit_bernoulli_exp(s, (tacit_ratio){1, 1}))
            v++;
        int64_t z = (int64_t)(u + scale * v);
        bool minus = tacit_stream_u64(s) & 1;
        if (!minus || z != 0 || how == MINUS_ZERO)
            return minus ? -z : z;
    }
}

typedef enum fault {
    NOTHING_WRONG,
    FLOAT_LAPLACE,
    FLOAT_GAUSSIAN,
    SINGLE_PRECISION,
    MODULO,
    OTHER_NOISE, /* a right sampler of another parameter */
    ZERO_TWICE,
    CUT_TAIL,
    STUCK_BIT,
    ONE_SIDE_MORE
} fault;

typedef struct twin {
    const char *name;
    fault fault;
    promise promise;
    subject other; /* what is drawn from instead, where the fault needs it */
    tacit_noise *noise;
} twin;

static int64_t draw_wrong(const twin *t, tacit_stream *s, int64_t z)
{
    double sigma = deviation(&t->promise);
    switch (t->fault) {
    case FLOAT_LAPLACE:
        return rounded_laplace(s, parameter(&t->promise));
    case FLOAT_GAUSSIAN:
        return (int64_t)round(sigma * box_muller(s));
    case SINGLE_PRECISION:
        return (int64_t)roundf((float)sigma * (float)box_muller(s));
    case NOTHING_WRONG:
        return textbook_laplace(s, (uint64_t)parameter(&t->promise), NO_SLIP);
    case MODULO:
        return textbook_laplace(s, (uint64_t)parameter(&t->promise), MODULO_BIAS);
    case ZERO_TWICE:
        return textbook_laplace(s, (uint64_t)parameter(&t->promise), MINUS_ZERO);
    case CUT_TAIL:
        return fabs((double)z) > 4 * sigma ? 0 : z;
    case STUCK_BIT:
        return z & ~INT64_C(1);
    case ONE_SIDE_MORE:
        return z < 0 && tacit_stream_below(s, 50) == 0 ? -z : z;
    case OTHER_NOISE:
        break;
    }
    return z;
}

static void wrong_sampler(const void *ctx, tacit_stream *s, size_t count, int64_t *out)
{
    const twin *t = ctx;
    if (t->noise)
        tacit_noise_draw(t->noise, s, count, out);
    for (size_t k = 0; k < count; k++)
        out[k] = draw_wrong(t, s, t->noise ? out[k] : 0);
}

#define BIG (UINT64_C(2063671298342913) << 8)
static twin twins[] = {
    {"textbook sampler", NOTHING_WRONG, {LAPLACE, 3, 1}, {0}, NULL},
    {"textbook sampler", NOTHING_WRONG, {LAPLACE, 40000, 1}, {0}, NULL},
    {"float Laplace", FLOAT_LAPLACE, {LAPLACE, 5, 2}, {0}, NULL},
    {"float Laplace", FLOAT_LAPLACE, {LAPLACE, 5, 1}, {0}, NULL},
    {"float Gaussian", FLOAT_GAUSSIAN, {GAUSSIAN, 1, 1}, {0}, NULL},
    {"float Gaussian", FLOAT_GAUSSIAN, {GAUSSIAN, 4, 1}, {0}, NULL},
    {"float Gaussian for Skellam", FLOAT_GAUSSIAN, {SKELLAM, 3, 1}, {0}, NULL},
    {"single precision", SINGLE_PRECISION, {GAUSSIAN, (double)BIG, 1}, {0}, NULL},
    {"modulo bias", MODULO, {LAPLACE, 40000, 1}, {0}, NULL},
    {"half the noise", OTHER_NOISE, {GAUSSIAN, 10, 1}, {GAUSSIAN, 10, 4}, NULL},
    {"half the noise", OTHER_NOISE, {GAUSSIAN, (double)BIG, 1}, {GAUSSIAN, BIG, 4}, NULL},
    {"half the noise", OTHER_NOISE, {LAPLACE, 5, 2}, {LAPLACE, 5, 4}, NULL},
    {"sigma 1 % off", OTHER_NOISE, {GAUSSIAN, 10, 1}, {GAUSSIAN, 1020, 100}, NULL},
    {"sigma 1 % off", OTHER_NOISE, {GAUSSIAN, (double)BIG, 1}, {GAUSSIAN, BIG / 100 * 98, 1}, NULL},
    {"scale 1 % off", OTHER_NOISE, {LAPLACE, 100000, 1}, {LAPLACE, 101000, 1}, NULL},
    {"one party too few", OTHER_NOISE, {SKELLAM, 200, 1}, {SKELLAM, 196, 1}, NULL},
    {"Gaussian for Skellam", OTHER_NOISE, {SKELLAM, 3, 1}, {GAUSSIAN, 3, 1}, NULL},
    {"Gaussian for Laplace",
     OTHER_NOISE,
     {LAPLACE, 1000000, 1},
     {GAUSSIAN, 2000000000000, 1},
     NULL},
    {"zero once for each sign", ZERO_TWICE, {LAPLACE, 3, 1}, {0}, NULL},
    {"zero once for each sign", ZERO_TWICE, {LAPLACE, 40, 1}, {0}, NULL},
    {"cut tail", CUT_TAIL, {GAUSSIAN, (double)BIG, 1}, {GAUSSIAN, BIG, 1}, NULL},
    {"cut tail", CUT_TAIL, {LAPLACE, 5, 2}, {LAPLACE, 5, 2}, NULL},
    {"stuck bit", STUCK_BIT, {GAUSSIAN, (double)BIG, 1}, {GAUSSIAN, BIG, 1}, NULL},
    {"one side more", ONE_SIDE_MORE, {LAPLACE, 1000000, 1}, {LAPLACE, 1000000, 1}, NULL},
};

static void test_broken_twins_are_caught(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof twins / sizeof *twins; k++) {
        twin *t = &twins[k];
        if (t->other.num > 0)
            t->noise = make(t->other.law, t->other.num, t->other.den);
        const char *wrong = judge(&t->promise, wrong_sampler, t, 2000 + k, TWIN_DRAWS);
        tacit_noise_free(t->noise);
        t->noise = NULL;
        print_message("%-28s %s %s\n", t->name, wrong ? "caught by" : "passes", wrong ? wrong : "");
        assert_int_equal(wrong == NULL, t->fault == NOTHING_WRONG);
    }
}

/* Bernoulli(exp(-x)) over DRAWS / 10 trials: within 4.9 deviations, 1e-6 each. */
static void test_bernoulli_exp(void **state)
{
    (void)state;
    static const tacit_ratio xs[] = {{1, 7}, {1, 1}, {7, 3}, {1, 1000000007}, {9, 1}};
    tacit_random random;
    tacit_stream s;
    tacit_random_init(&random, 77);
    tacit_stream_open(&s, &random, 3, TACIT_FOR_TEST, 0);
    for (size_t k = 0; k < sizeof xs / sizeof *xs; k++) {
        double p = exp(-(double)xs[k].num / (double)xs[k].den), n = DRAWS / 10, hits = 0;
        for (int i = 0; i < DRAWS / 10; i++)
            hits += tacit_bernoulli_exp(&s, xs[k]);
        assert_true(fabs(hits - n * p) <= 4.9 * sqrt(n * p * (1 - p)) + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_laws_are_kept),
        cmocka_unit_test(test_broken_twins_are_caught),
        cmocka_unit_test(test_bernoulli_exp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
