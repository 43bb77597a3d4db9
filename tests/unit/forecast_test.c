/* SPDX-License-Identifier: Apache-2.0 */
/* The law of relative fitness: what the fit finds again, what its intervals hold, where joining
 * pays, and what it refuses. */
#include "tacit/forecast.h"

#include <math.h>
#include <stdlib.h>

#include "testing.h"

static bool near(double a, double b, double part)
{
    return fabs(a - b) <= part * fabs(b);
}

typedef struct truth {
    double floor, linear, square, crowd, spread;
} truth;

enum { SIZES = 4, BUDGETS = 5, REPEATS = 5, CROWDS = 3, ALL = SIZES * BUDGETS * REPEATS };

static double law_of(const truth *t, double owners, double records, double noise)
{
    const double s = pow(owners, t->crowd) * sqrt(noise) / records;
    return t->floor + t->linear * s + t->square * s * s;
}

/* Pilots of a grid of sizes and budgets, with numbers of owners in turn. */
static size_t make(tacit_pilot *out, const truth *t, bool crowds, dice *d)
{
    size_t count = 0;
    for (int size = 0; size < SIZES; size++)
        for (int budget = 0; budget < BUDGETS; budget++)
            for (int repeat = 0; repeat < REPEATS; repeat++) {
                tacit_pilot *p = &out[count++];
                p->owners = crowds ? 2 << ((size + budget) % CROWDS) : 3;
                p->records = 300 * pow(2, size) * p->owners;
                p->noise = p->owners * pow(4, 3 - budget);
                p->psi = law_of(t, p->owners, p->records, p->noise);
                p->psi *= exp(t->spread * dice_normal(d));
            }
    return count;
}

static tacit_fitness_law fitted(const truth *t, bool crowds, uint64_t seed)
{
    tacit_pilot pilots[ALL];
    tacit_fitness_law law;
    tacit_error err = {0};
    dice d = {seed};
    const tacit_fitness_law_options options = {.floor = true, .crowd = crowds};
    const size_t count = make(pilots, t, crowds, &d);
    check_ok(tacit_fitness_law_fit(&law, pilots, count, &options, &err), &err);
    return law;
}

static void test_finds_the_law(void **state)
{
    (void)state;
    const truth cases[] = {{0.01, 3, 700, 0, 0},    {0, 3, 700, 0, 0},   {0.01, 0, 2.1e9, 0, 0},
                           {0, 0, 2.1e9, 0, 0},     {0.02, 40, 0, 0, 0}, {0.01, 3, 700, 0.5, 0},
                           {0.003, 3, 700, -0.5, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const truth *t = &cases[k];
        const tacit_fitness_law law = fitted(t, t->crowd != 0, 1);
        const tacit_pilot place = {.owners = 5, .records = 2e4, .noise = 7};
        assert_true(near(law.crowd, t->crowd, 1e-4));
        if (t->crowd == 0)
            assert_true(
                near(tacit_fitness_law_at(&law, &place, 0.9).psi, law_of(t, 5, 2e4, 7), 1e-5));
        assert_true(law.worst < 1.0001);
        assert_false(tacit_fitness_law_is_bad(&law));
        assert_int_equal(law.settings, SIZES * BUDGETS);
        assert_true(near(law.repeats, REPEATS, 1e-12));
    }
    const tacit_fitness_law law = fitted(&cases[0], false, 1);
    assert_true(near(law.c[0], 0.01, 1e-5) && near(law.c[1], 3, 1e-4) && near(law.c[2], 700, 1e-4));
}

/* Constants are never negative, whatever the pilots say: here psi falls with the noise. */
static void test_never_negative(void **state)
{
    (void)state;
    tacit_pilot pilots[8];
    for (int k = 0; k < 8; k++)
        pilots[k] = (tacit_pilot){3, 1000, k + 1, 1.0 / (k + 1)};
    tacit_fitness_law law;
    tacit_error err = {0};
    const tacit_fitness_law_options options = {.floor = true};
    check_ok(tacit_fitness_law_fit(&law, pilots, 8, &options, &err), &err);
    for (int k = 0; k < TACIT_LAW_TERMS; k++)
        assert_true(law.c[k] >= 0);
    assert_true(law.c[1] == 0 && law.c[2] == 0);
    /* The best constant in logarithms is the geometric mean. */
    double sum = 0;
    for (int k = 0; k < 8; k++)
        sum += log(pilots[k].psi) / 8;
    assert_true(near(law.c[0], exp(sum), 1e-9));
    assert_true(tacit_fitness_law_is_bad(&law));
}

/* No constants near the fitted ones are better: a check that shares no code with the fit. */
static void test_is_a_minimum(void **state)
{
    (void)state;
    const truth t = {0.01, 3, 700, 0, 0.3};
    tacit_pilot pilots[ALL];
    dice d = {5};
    const size_t count = make(pilots, &t, false, &d);
    tacit_fitness_law law;
    tacit_error err = {0};
    const tacit_fitness_law_options options = {.floor = true};
    check_ok(tacit_fitness_law_fit(&law, pilots, count, &options, &err), &err);
    double best = 0;
    for (int trial = -1; trial < 2000; trial++) {
        double c[3], cost = 0;
        for (int k = 0; k < 3; k++)
            c[k] = law.c[k] * (trial < 0 ? 1 : exp(dice_between(&d, -0.05, 0.05)));
        for (size_t i = 0; i < count; i++) {
            const double s = sqrt(pilots[i].noise) / pilots[i].records;
            cost += pow(log(pilots[i].psi) - log(c[0] + c[1] * s + c[2] * s * s), 2);
        }
        if (trial < 0)
            best = cost;
        assert_true(cost >= best * (1 - 1e-9));
    }
}

/* An interval of 90 % holds a further run about 90 times of 100, inside the range of the pilots and
 * beyond it, while the law holds. 500 trials: hits are Bin(500, p), and p of a nonlinear fit with a
 * bound is not exactly 0.9. The test allows 0.86 to 0.97; below p = 0.9 a false alarm has
 * probability under 0.003. The seed is fixed. */
static void test_intervals(void **state)
{
    (void)state;
    const truth t = {0.01, 0, 700, 0, 0.25};
    const double places[][2] = {{3000, 12}, {30000, 3}, {300, 500}};
    enum { TRIALS = 500 };
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        int hits = 0;
        dice d = {77 + k};
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            const tacit_fitness_law law = fitted(&t, false, 1000 * k + trial);
            const tacit_pilot place = {3, places[k][0], places[k][1], 0};
            const tacit_outlook out = tacit_fitness_law_at(&law, &place, 0.9);
            const double psi =
                law_of(&t, 3, place.records, place.noise) * exp(t.spread * dice_normal(&d));
            hits += psi >= out.low && psi <= out.high;
            assert_true(out.low < out.psi && out.psi < out.high);
        }
        assert_in_range(hits, (int)(0.86 * TRIALS), (int)(0.97 * TRIALS));
    }
}

/* A misfit that all runs of a setting share widens the intervals as much as it should: runs that
 * agree with each other must not make the law look sure. */
static void test_misfit_counts(void **state)
{
    (void)state;
    tacit_pilot pilots[60];
    dice d = {3};
    for (int setting = 0; setting < 12; setting++) {
        const double off = exp(0.3 * dice_normal(&d));
        for (int repeat = 0; repeat < 5; repeat++)
            pilots[5 * setting + repeat] =
                (tacit_pilot){3, 1000, pow(2, setting),
                              0.001 * pow(2, setting) * off * exp(0.01 * dice_normal(&d))};
    }
    tacit_fitness_law law;
    tacit_error err = {0};
    const tacit_fitness_law_options options = {.floor = true};
    check_ok(tacit_fitness_law_fit(&law, pilots, 60, &options, &err), &err);
    assert_int_equal(law.freedom, 12 - 3);
    assert_true(law.within < 0.02);
    assert_true(law.between > 0.15);
    const tacit_pilot place = {3, 1000, 16, 0};
    const tacit_outlook out = tacit_fitness_law_at(&law, &place, 0.9);
    assert_true(log(out.high / out.low) > 2 * 0.25);
    assert_false(out.outside);
    const tacit_pilot far = {3, 1000, 1e5, 0};
    assert_true(tacit_fitness_law_at(&law, &far, 0.9).outside);
}

/* Pilots in saturation (the projection holds psi down) do not follow the law, and it shows. */
static void test_bad_law_is_told(void **state)
{
    (void)state;
    tacit_pilot pilots[10];
    for (int k = 0; k < 10; k++)
        pilots[k] = (tacit_pilot){3, 1000, pow(4, k), k % 2 ? 5 : 0.05};
    tacit_fitness_law law;
    tacit_error err = {0};
    const tacit_fitness_law_options options = {.floor = true};
    check_ok(tacit_fitness_law_fit(&law, pilots, 10, &options, &err), &err);
    assert_true(tacit_fitness_law_is_bad(&law));
    assert_true(law.worst > 3);
    assert_true(law.worst_at < 10);
    /* Off by 1.8 everywhere, and never by 3. */
    for (int k = 0; k < 10; k++)
        pilots[k].psi = 1e-3 * pow(4, k) * (k % 2 ? 1.8 : 1 / 1.8);
    check_ok(tacit_fitness_law_fit(&law, pilots, 10, &options, &err), &err);
    assert_true(law.worst < 3 && tacit_fitness_law_is_bad(&law));
    /* Off by 1.2: no reason to complain. */
    for (int k = 0; k < 10; k++)
        pilots[k].psi = 1e-3 * pow(4, k) * (k % 2 ? 1.2 : 1 / 1.2);
    check_ok(tacit_fitness_law_fit(&law, pilots, 10, &options, &err), &err);
    assert_false(tacit_fitness_law_is_bad(&law));
}

static void test_alone(void **state)
{
    (void)state;
    tacit_lone_pilot pilots[12];
    for (int k = 0; k < 12; k++) {
        const double own = 50 << (k % 6), pooled = own * (k < 6 ? 3 : 10);
        pilots[k] = (tacit_lone_pilot){own, pooled, 12 * (1 / own - 1 / pooled)};
    }
    tacit_fitness_law law;
    tacit_error err = {0};
    check_ok(tacit_fitness_law_fit_alone(&law, pilots, 12, &err), &err);
    assert_true(near(law.c[1], 12, 1e-6) && law.c[0] == 0 && law.c[2] == 0);
    assert_true(near(tacit_fitness_law_alone_at(&law, 500, 2000, 0.9).psi, 12 * 0.0015, 1e-6));
    /* One constant: in logarithms it is a mean over settings, and uncertain as a mean is. */
    for (int k = 0; k < 12; k++)
        pilots[k].psi *= k % 2 ? 1.3 : 1 / 1.3;
    check_ok(tacit_fitness_law_fit_alone(&law, pilots, 12, &err), &err);
    const double off = log(1.3) * sqrt(12.0 / 11);
    assert_true(near(law.between, off, 1e-9) && law.within == 0 && law.freedom == 11);
    const double deviation = tacit_fitness_law_alone_at(&law, 500, 2000, 0.9).deviation;
    assert_true(near(deviation, off * sqrt(1 + 1.0 / 12), 1e-9));
    pilots[3].pooled = pilots[3].own;
    check_fails(tacit_fitness_law_fit_alone(&law, pilots, 12, &err), TACIT_EINPUT, &err,
                "lone pilot 4");
}

static void test_reach(void **state)
{
    (void)state;
    const tacit_fitness_law full = tacit_fitness_law_given(0.01, 3, 700);
    for (double psi = 0.011; psi < 100; psi *= 3) {
        const double s = tacit_fitness_law_reach(&full, psi);
        assert_true(near(0.01 + 3 * s + 700 * s * s, psi, 1e-12));
    }
    assert_true(isnan(tacit_fitness_law_reach(&full, 0.009)));
    const tacit_fitness_law line = tacit_fitness_law_given(0, 4, 0),
                            flat = tacit_fitness_law_given(0.5, 0, 0);
    assert_true(tacit_fitness_law_reach(&line, 2) == 0.5);
    assert_true(isinf(tacit_fitness_law_reach(&flat, 1)));
    assert_true(isnan(tacit_fitness_law_reach(&flat, 0.4)));
}

/* ---- owners ---- */

static const tacit_joiner three[] = {
    {"small", 1000, 1}, {"middle", 5000, 0.5}, {"large", 50000, 2}};

static void forecast_with(tacit_stake *stakes, const tacit_joiner *owners, size_t count,
                          const tacit_fitness_law *together, const tacit_fitness_law *alone)
{
    tacit_error err = {0};
    check_ok(tacit_forecast(stakes, owners, count, together, alone, 0.9, &err), &err);
}

/* The least epsilons are borders: a little more pays, a little less does not. */
static void test_borders(void **state)
{
    (void)state;
    const tacit_fitness_law together = tacit_fitness_law_given(1e-5, 0.1, 2e5),
                            alone = tacit_fitness_law_given(0, 10, 0);
    tacit_stake stakes[3], other[3];
    forecast_with(stakes, three, 3, &together, &alone);
    int found = 0;
    for (int i = 0; i < 3; i++) {
        const double sum = three[0].records + three[1].records + three[2].records;
        assert_true(near(stakes[i].alone.psi, 10 / three[i].records - 10 / sum, 1e-12));
        for (int side = -1; side <= 1; side += 2) {
            tacit_joiner owners[3];
            for (int k = 0; k < 3; k++) {
                owners[k] = three[k];
                owners[k].epsilon = stakes[i].everyone * (1 + side * 1e-6);
            }
            forecast_with(other, owners, 3, &together, &alone);
            assert_int_equal(other[i].together.psi<other[i].alone.psi, side> 0);
            if (isinf(stakes[i].own))
                continue;
            for (int k = 0; k < 3; k++)
                owners[k] = three[k];
            owners[i].epsilon = stakes[i].own * (1 + side * 1e-6);
            forecast_with(other, owners, 3, &together, &alone);
            assert_int_equal(other[i].together.psi<other[i].alone.psi, side> 0);
            found++;
        }
    }
    assert_true(found >= 2);
    /* The others' noise alone is too much for the large one. */
    assert_true(isinf(stakes[2].own));
    assert_true(stakes[0].chance == 1 && stakes[2].chance == 0);
}

/* Where epsilon is not worth itself: borders are those of the worth, told as epsilon. */
static void test_exchange(void **state)
{
    (void)state;
    tacit_fitness_law together = tacit_fitness_law_given(1e-5, 0.1, 2e5);
    const tacit_fitness_law alone = tacit_fitness_law_given(0, 10, 0), plain = together;
    together.exchange = (tacit_epsilon_rate){
        .count = 3, .epsilon = {log(0.1), 0, log(10)}, .worth = {log(0.3), log(2), log(30)}};
    assert_true(near(tacit_epsilon_rate_noise(&together.exchange, 1), 0.25, 1e-12));
    assert_true(near(tacit_epsilon_rate_noise(&together.exchange, 0.1), 1 / 0.09, 1e-12));
    for (double epsilon = 1e-4; epsilon < 1e4; epsilon *= 1.9) {
        const double noise = tacit_epsilon_rate_noise(&together.exchange, epsilon);
        assert_true(near(tacit_epsilon_rate_epsilon(&together.exchange, noise), epsilon, 1e-9));
    }
    const double worth = tacit_forecast_border(&plain, &alone, 3, 1000, 56000);
    const double epsilon = tacit_forecast_border(&together, &alone, 3, 1000, 56000);
    assert_true(near(1 / sqrt(tacit_epsilon_rate_noise(&together.exchange, epsilon)), worth, 1e-9));
    tacit_stake stakes[2];
    const tacit_joiner owners[2] = {{"a", 1000, 1}, {"b", 1000, 1}};
    forecast_with(stakes, owners, 2, &together, &alone);
    const double s = sqrt(2 * 0.25) / 2000;
    assert_true(near(stakes[0].together.psi, 1e-5 + 0.1 * s + 2e5 * s * s, 1e-9));
}

static void test_partners(void **state)
{
    (void)state;
    const tacit_fitness_law together = tacit_fitness_law_given(0.0001, 0.1, 2e5),
                            alone = tacit_fitness_law_given(0, 10, 0);
    for (double epsilon = 0.001; epsilon < 10; epsilon *= 1.7) {
        tacit_joiner owners[2] = {{"a", 1000, epsilon}, {"b", 1000, epsilon}};
        tacit_stake stakes[2];
        forecast_with(stakes, owners, 2, &together, &alone);
        const double k = stakes[0].partners;
        assert_true(k >= 1 && k == floor(k) && k < 1e9);
        const double border = tacit_forecast_border(&together, &alone, k + 1, 1000, 1000 * (k + 1));
        assert_true(border <= epsilon * (1 + 1e-9));
        if (k > 1)
            assert_true(tacit_forecast_border(&together, &alone, k, 1000, 1000 * k) > epsilon);
    }
    /* A floor above what one has alone: nobody helps. */
    const tacit_fitness_law high = tacit_fitness_law_given(1, 0, 1);
    tacit_stake stakes[2];
    const tacit_joiner owners[2] = {{"a", 1000, 1}, {"b", 1000, 1}};
    forecast_with(stakes, owners, 2, &high, &alone);
    assert_true(isinf(stakes[0].partners) && isinf(stakes[0].own) && isinf(stakes[0].everyone));
}

/* What rests on a noise or a number of owners that no pilot had is marked. */
static void test_beyond(void **state)
{
    (void)state;
    tacit_fitness_law together = tacit_fitness_law_given(1e-5, 0, 1e5);
    const tacit_fitness_law alone = tacit_fitness_law_given(0, 10, 0);
    const tacit_joiner owners[2] = {{"a", 1000, 4}, {"b", 1000, 4}};
    tacit_stake stakes[2];
    forecast_with(stakes, owners, 2, &together, &alone); /* given: nothing is beyond it */
    assert_false(stakes[0].own_outside || stakes[0].everyone_outside || stakes[0].partners_outside);
    const double s = tacit_fitness_law_reach(&together, stakes[0].alone.psi);
    together.freedom = 10;
    together.repeats = 1;
    together.fewest = 2;
    together.largest = 4;
    together.least = s / 2;
    together.most = s * 100;
    forecast_with(stakes, owners, 2, &together, &alone);
    assert_false(stakes[0].own_outside || stakes[0].everyone_outside || stakes[0].partners_outside);
    together.least = s * 1.01; /* pilots had more noise than the border */
    forecast_with(stakes, owners, 2, &together, &alone);
    assert_true(stakes[0].everyone_outside && stakes[0].own_outside);
    together.least = s / 2;
    const tacit_joiner strict[2] = {{"a", 1000, 0.1}, {"b", 1000, 0.1}};
    forecast_with(stakes, strict, 2, &together, &alone); /* many partners, more than in pilots */
    assert_true(stakes[0].partners > 3 && stakes[0].partners_outside);
    assert_true(isinf(stakes[0].own) && !stakes[0].own_outside && !stakes[0].everyone_outside);
    together.least = s * 1.01; /* the noise of the others was seen, the border was not */
    forecast_with(stakes, strict, 2, &together, &alone);
    assert_true(isinf(stakes[0].own) && !stakes[0].own_outside && stakes[0].everyone_outside);
    together.least = s / 2;
    together.fewest = 3;
    forecast_with(stakes, owners, 2, &together, &alone);
    assert_true(stakes[0].everyone_outside && stakes[0].own_outside);
    /* A floor above what one has alone: known only where pilots were near it. */
    together.fewest = 2;
    together.c[0] = 1;
    forecast_with(stakes, owners, 2, &together, &alone);
    assert_true(tacit_fitness_law_floor_seen(&together) && isinf(stakes[0].everyone));
    assert_true(!stakes[0].everyone_outside && stakes[0].partners_outside);
    together.least = 0.01;
    together.most = 1;
    forecast_with(stakes, owners, 2, &together, &alone);
    assert_true(!tacit_fitness_law_floor_seen(&together) && isinf(stakes[0].everyone));
    assert_true(stakes[0].everyone_outside && stakes[0].own_outside);
    const tacit_forecast_view view = {.owners = owners,
                                      .stakes = stakes,
                                      .count = 2,
                                      .together = &together,
                                      .alone = &alone,
                                      .coverage = 0.9};
    together.c[0] = 1e-5;
    together.least = s / 1000;
    const tacit_forecast_map map = tacit_forecast_draw(&view);
    assert_true(!map.outside[0] && map.owners[0] == 2);
    assert_true(map.outside[TACIT_MAP_COLUMNS - 1]); /* a hundred owners */
}

/* Ctrl-C between two owners: a hundred thousand of them take their time. */
static void test_stops(void **state)
{
    (void)state;
    const tacit_fitness_law together = tacit_fitness_law_given(1e-5, 0.1, 2e5),
                            alone = tacit_fitness_law_given(0, 10, 0);
    tacit_stake stakes[3];
    tacit_error err = {0};
    tacit_stop stop = 1;
    check_fails(tacit_forecast_until(stakes, three, 3, &together, &alone, 0.9, &stop, &err),
                TACIT_EINTERRUPTED, &err, "interrupted");
    stop = 0;
    check_ok(tacit_forecast_until(stakes, three, 3, &together, &alone, 0.9, &stop, &err), &err);
}

static void test_chance(void **state)
{
    (void)state;
    const tacit_outlook a = {.psi = 1, .deviation = 0.3, .freedom = 1000000},
                        b = {.psi = exp(0.5), .deviation = 0.4, .freedom = 1000000}, c = {.psi = 1};
    assert_true(near(tacit_outlook_below(&a, &b), 0.8413447, 1e-5)); /* one deviation of 0.5 */
    assert_true(near(tacit_outlook_below(&b, &a), 0.1586553, 1e-4));
    assert_true(tacit_outlook_below(&a, &a) == 0.5);
    assert_true(tacit_outlook_below(&c, &c) == 0.5);
    assert_true(tacit_outlook_below(&c, &b) > 0.5 && tacit_outlook_below(&c, &b) < 1);
}

static void test_refuses(void **state)
{
    (void)state;
    const tacit_fitness_law together = tacit_fitness_law_given(0, 1, 1),
                            alone = tacit_fitness_law_given(0, 1, 0);
    tacit_stake stakes[3];
    tacit_error err = {0};
    const double bad[] = {0, -1, NAN, INFINITY, 1e300};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tacit_joiner owners[2] = {{"a", 10, 1}, {"bank", 10, bad[k]}};
        check_fails(tacit_forecast(stakes, owners, 2, &together, &alone, 0.9, &err), TACIT_EINPUT,
                    &err, "\"bank\" has an epsilon");
        owners[1] = (tacit_joiner){"bank", bad[k], 1};
        check_fails(tacit_forecast(stakes, owners, 2, &together, &alone, 0.9, &err), TACIT_EINPUT,
                    &err, "records; give from 1");
        tacit_pilot pilots[6];
        for (int field = 0; field < 4; field++) {
            for (int i = 0; i < 6; i++)
                pilots[i] = (tacit_pilot){3, 100, i + 1, i + 1};
            double *const at[] = {&pilots[5].owners, &pilots[5].records, &pilots[5].noise,
                                  &pilots[5].psi};
            *at[field] = bad[k];
            if ((field == 2 && bad[k] == 0) || bad[k] == 1e300)
                continue;
            tacit_fitness_law law;
            const tacit_fitness_law_options options = {.floor = true};
            check_fails(tacit_fitness_law_fit(&law, pilots, 6, &options, &err), TACIT_EINPUT, &err,
                        "pilot 6");
        }
    }
    check_fails(tacit_forecast(stakes, three, 1, &together, &alone, 0.9, &err), TACIT_EINPUT, &err,
                "it takes from 2");
    check_fails(tacit_forecast(stakes, three, 3, &together, &alone, 1, &err), TACIT_EINPUT, &err,
                "coverage");
}

static void test_too_few_pilots(void **state)
{
    (void)state;
    tacit_pilot pilots[6];
    for (int i = 0; i < 6; i++)
        pilots[i] = (tacit_pilot){3, 100, i % 3 + 1, 0.1 * (i + 1)};
    tacit_fitness_law law;
    tacit_error err = {0};
    tacit_fitness_law_options options = {.floor = true};
    check_fails(tacit_fitness_law_fit(&law, pilots, 6, &options, &err), TACIT_EINPUT, &err,
                "3 different settings");
    check_fails(tacit_fitness_law_fit(&law, pilots, 0, &options, &err), TACIT_EINPUT, &err,
                "no pilots");
    options.floor = false;
    check_ok(tacit_fitness_law_fit(&law, pilots, 6, &options, &err), &err);
    assert_true(law.c[0] == 0 && law.freedom == 1);
    options.crowd = true;
    check_fails(tacit_fitness_law_fit(&law, pilots, 6, &options, &err), TACIT_EINPUT, &err,
                "owners");
}

/* Numbers at the ends of the doubles give an error or a finite answer, not a hang or a NaN. */
static void test_extremes(void **state)
{
    (void)state;
    dice d = {9};
    for (int trial = 0; trial < 300; trial++) {
        tacit_pilot pilots[8];
        for (int i = 0; i < 8; i++)
            pilots[i] = (tacit_pilot){dice_between(&d, 1, 9), pow(10, dice_between(&d, 0, 15)),
                                      pow(10, dice_between(&d, -12, 12)),
                                      pow(10, dice_between(&d, -300, 300))};
        tacit_fitness_law law;
        tacit_error err = {0};
        const tacit_fitness_law_options options = {.floor = true, .crowd = trial % 8 == 0};
        if (tacit_fitness_law_fit(&law, pilots, 8, &options, &err))
            continue;
        for (int k = 0; k < TACIT_LAW_TERMS; k++)
            assert_true(law.c[k] >= 0 && isfinite(law.c[k]));
        const tacit_outlook out = tacit_fitness_law_at(&law, &pilots[0], 0.9);
        assert_false(isnan(out.psi) || isnan(out.low) || isnan(out.high));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_the_law), cmocka_unit_test(test_never_negative),
        cmocka_unit_test(test_is_a_minimum),  cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_misfit_counts), cmocka_unit_test(test_bad_law_is_told),
        cmocka_unit_test(test_alone),         cmocka_unit_test(test_reach),
        cmocka_unit_test(test_borders),       cmocka_unit_test(test_partners),
        cmocka_unit_test(test_exchange),      cmocka_unit_test(test_chance),
        cmocka_unit_test(test_refuses),       cmocka_unit_test(test_too_few_pilots),
        cmocka_unit_test(test_extremes),      cmocka_unit_test(test_stops),
        cmocka_unit_test(test_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
