/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact noise from outside: what is refused, that a seed always gives the same integers however
 * they are asked for, and the exact probabilities of tests/golden/sampler_vectors.csv (columns
 * law, num, den, statistic, x, value; computed in high precision elsewhere). The laws themselves
 * are tested by tests/stat/noise_law_test.c, their parts by noise_parts_test.c.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random/layers.h"
#include "testing.h"

typedef tacit_status maker(tacit_noise **, tacit_ratio, tacit_error *);
static maker *const makers[] = {tacit_noise_laplace, tacit_noise_gaussian, tacit_noise_skellam};

static tacit_noise *make(int law, tacit_ratio ratio)
{
    tacit_noise *noise = NULL;
    tacit_error err = {0};
    check_ok(makers[law](&noise, ratio, &err), &err);
    assert_non_null(noise);
    return noise;
}

static tacit_stream test_stream(uint64_t counter)
{
    tacit_random random;
    tacit_stream s;
    tacit_random_init(&random, 20);
    tacit_stream_open(&s, &random, 7, TACIT_FOR_NOISE, counter);
    tacit_random_clear(&random);
    return s;
}

/* ---- what is refused ---- */

static void test_bad_parameters(void **state)
{
    (void)state;
    static const char *const names[] = {"\"scale\"", "\"variance\"", "\"variance\""};
    static const double most[] = {0x1p48, 0x1p64, 0x1p60};
    for (int law = 0; law < 3; law++) {
        tacit_noise *noise = NULL;
        tacit_error err = {0};
        check_fails(makers[law](&noise, (tacit_ratio){1, 0}, &err), TACIT_EINPUT, &err,
                    "denominator 0");
        check_fails(makers[law](&noise, (tacit_ratio){0, 0}, &err), TACIT_EINPUT, &err, names[law]);
        check_fails(makers[law](&noise, (tacit_ratio){0, 5}, &err), TACIT_EINPUT, &err,
                    "must be positive");
        if (most[law] < 0x1p64) {
            tacit_ratio just = tacit_ratio_below(most[law]), above = just;
            above.num++;
            check_fails(makers[law](&noise, above, &err), TACIT_EINPUT, &err, "coarser grid");
            assert_int_equal(makers[law](&noise, (tacit_ratio){UINT64_MAX, 1}, NULL), TACIT_EINPUT);
            assert_null(noise);
            tacit_noise_free(make(law, just));
        }
        assert_null(noise);
    }
    tacit_noise_free(NULL);
}

static void test_extremes_are_drawn(void **state)
{
    (void)state;
    static const tacit_ratio extremes[] = {{UINT64_MAX, 1},
                                           {UINT64_MAX, UINT64_MAX},
                                           {UINT64_MAX, UINT64_MAX - 1},
                                           {1, UINT64_MAX},
                                           {1, 1000000},
                                           {UINT64_C(1) << 48, 1},
                                           {UINT64_C(1) << 63, 77},
                                           {UINT64_MAX - 58, UINT64_C(1) << 40}};
    tacit_stream s = test_stream(0);
    for (int law = 0; law < 3; law++)
        for (size_t k = 0; k < sizeof extremes / sizeof *extremes; k++) {
            tacit_noise *noise = NULL;
            tacit_error err = {0};
            tacit_ratio ratio = extremes[k];
            double value = (double)ratio.num / (double)ratio.den, sum = 0;
            tacit_status status = makers[law](&noise, ratio, &err);
            if (status != TACIT_OK) {
                check_fails(status, TACIT_EINPUT, &err, "coarser grid");
                continue;
            }
            static int64_t z[4000];
            tacit_noise_draw(noise, &s, 4000, z);
            for (int i = 0; i < 4000; i++)
                sum += (double)z[i] * (double)z[i] / 4000;
            double variance = law == 0 ? 2 * value * value : value;
            if (value < 1e-5)
                assert_true(sum == 0);
            else if (value > 2) /* Laplace has kurtosis 6: deviation 3.5 % */
                assert_true(sum > 0.8 * variance && sum < 1.2 * variance);
            assert_true(tacit_noise_distance(noise) == 0);
            tacit_noise_free(noise);
        }
}

/* Any two 64-bit numbers give noise or a clear refusal, never our own fault. */
static void test_any_ratio(void **state)
{
    (void)state;
    dice d = {31};
    tacit_stream s = test_stream(5);
    int made = 0;
    for (int k = 0; k < 3000; k++) {
        tacit_ratio ratio = {tacit_stream_u64(&s) >> dice_below(&d, 65) % 64,
                             tacit_stream_u64(&s) >> dice_below(&d, 65) % 64};
        tacit_noise *noise = NULL;
        tacit_status status = makers[k % 3](&noise, ratio, NULL);
        assert_true(status == TACIT_OK || status == TACIT_EINPUT);
        assert_true((status == TACIT_OK) == (noise != NULL));
        int64_t z[20];
        if (noise)
            tacit_noise_draw(noise, &s, 20, z);
        made += noise != NULL;
        tacit_noise_free(noise);
    }
    assert_in_range(made, 2000, 2990);
}

/* ---- the same seed, the same integers ---- */

static void test_pieces_make_the_whole(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    static const tacit_ratio ratios[] = {{1, 3}, {5, 2}, {1000, 1}, {UINT64_C(1) << 40, 3}};
    static int64_t all[COUNT], pieces[COUNT];
    dice d = {1};
    for (int law = 0; law < 3; law++)
        for (int k = 0; k < 4; k++) {
            tacit_noise *noise = make(law, ratios[k]);
            tacit_stream s = test_stream(1), t = test_stream(1);
            tacit_noise_draw(noise, &s, COUNT, all);
            for (size_t at = 0; at < COUNT;) {
                size_t n = dice_below(&d, at % 2 ? 1500 : 5);
                n = n > COUNT - at ? COUNT - at : n;
                tacit_noise_draw(noise, &t, n, pieces + at);
                at += n;
            }
            assert_memory_equal(all, pieces, sizeof all);
            assert_true(tacit_stream_u64(&s) == tacit_stream_u64(&t)); /* as many words */
            tacit_noise_free(noise);
        }
}

typedef struct part {
    const tacit_noise *noise;
    int64_t z[5000];
} part;

static void *draw_part(void *arg)
{
    part *p = arg;
    tacit_stream s = test_stream(9);
    tacit_noise_draw(p->noise, &s, 5000, p->z);
    return NULL;
}

/* One law, two threads, the same stream each: the same integers. */
static void test_threads_share_a_law(void **state)
{
    (void)state;
    static part parts[2];
    for (int law = 0; law < 3; law++) {
        tacit_noise *noise = make(law, (tacit_ratio){12345678, 1000});
        pthread_t thread;
        parts[0].noise = parts[1].noise = noise;
        assert_int_equal(pthread_create(&thread, NULL, draw_part, &parts[1]), 0);
        draw_part(&parts[0]);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_memory_equal(parts[0].z, parts[1].z, sizeof parts[0].z);
        tacit_noise_free(noise);
    }
}

static uint64_t fold(uint64_t hash, int64_t z)
{
    hash ^= (uint64_t)z;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

typedef struct pin {
    int law;
    tacit_ratio ratio;
    int64_t first[6];
    uint64_t hash; /* of 10000 draws */
} pin;

static const pin pins[] = {
    {0, {1u, 1u}, {1, -1, -1, -1, 0, -3}, 0x45190063b3a2a089u},
    {0, {5u, 2u}, {0, 0, -1, 1, 2, 1}, 0xf64d9d4e93b59982u},
    {0,
     {6018071155279462u, 4194304u},
     {1540832131, -1875655443, -161227978, 573115483, 376845275, 123322785},
     0x1ca332574941d3fdu},
    {1, {1u, 4u}, {0, 0, 0, 1, 0, 0}, 0xdd73f68cd8a3b687u},
    {1, {10u, 1u}, {5, 0, 0, -8, -4, 2}, 0x52fa36d003222648u},
    {1, {4411263u, 4096u}, {-1, -20, 25, -8, -36, 3}, 0x10edab0a864f62b0u},
    {1,
     {2063671298342912u, 1024u},
     {-221385, 641146, -1810918, 1762094, 1989902, -2104912},
     0x4ff2d9e394daaeedu},
    {1,
     {UINT64_MAX, 1u},
     {5063664704, 1775582597, 2022562665, -10996543896, 1587556950, 1492324509},
     0x6e220c358fae73ddu},
    {2, {3u, 1u}, {1, 0, 0, 0, -1, -2}, 0x4136ac98ae06116fu},
    {2,
     {2063671298342912u, 1024u},
     {-1355706, 1353818, 1617122, -381160, -129010, 1926884},
     0xa88bea63c29faca1u},
};

static void test_integers_are_pinned(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof pins / sizeof *pins; k++) {
        static int64_t z[10000];
        tacit_noise *noise = make(pins[k].law, pins[k].ratio);
        tacit_stream s = test_stream(100 + k);
        tacit_noise_draw(noise, &s, 10000, z);
        uint64_t hash = 0;
        for (int i = 0; i < 10000; i++)
            hash = fold(hash, z[i]);
        if (memcmp(z, pins[k].first, sizeof pins[k].first) != 0 || hash != pins[k].hash)
            fail_msg("{%d, {%luu, %luu}, {%ld, %ld, %ld, %ld, %ld, %ld}, 0x%lxu},", pins[k].law,
                     pins[k].ratio.num, pins[k].ratio.den, z[0], z[1], z[2], z[3], z[4], z[5],
                     hash);
        tacit_noise_free(noise);
    }
}

/* ---- trials and ratios ---- */

static void test_certain_trials(void **state)
{
    (void)state;
    tacit_stream s = test_stream(2);
    for (int k = 0; k < 200; k++) {
        assert_true(tacit_bernoulli_exp(&s, (tacit_ratio){0, 1}));
        assert_true(tacit_bernoulli_exp(&s, (tacit_ratio){0, UINT64_MAX}));
        assert_false(tacit_bernoulli_exp(&s, (tacit_ratio){UINT64_MAX, 1}));
        assert_false(tacit_bernoulli_exp(&s, (tacit_ratio){200, 1}));
        assert_false(tacit_bernoulli_exp(&s, (tacit_ratio){1, 0}));
        assert_true(tacit_bernoulli(&s, (tacit_ratio){1, 1}));
        assert_true(tacit_bernoulli(&s, (tacit_ratio){UINT64_MAX, UINT64_MAX}));
        assert_false(tacit_bernoulli(&s, (tacit_ratio){0, 3}));
        assert_false(tacit_bernoulli(&s, (tacit_ratio){0, 0}));
        assert_false(tacit_bernoulli(&s, (tacit_ratio){1, 0}));
        assert_true(tacit_bernoulli_exp(&s, (tacit_ratio){1, UINT64_MAX})); /* but for 2^-64 */
    }
}

static double ratio_value(tacit_ratio r)
{
    return (double)r.num / (double)r.den;
}

static void test_ratio_below(void **state)
{
    (void)state;
    dice d = {12};
    for (int k = 0; k < 20000; k++) {
        double value = ldexp(dice_between(&d, 0.5, 1), (int)dice_below(&d, 76) - 11);
        tacit_ratio r = tacit_ratio_below(value);
        assert_true(r.den > 0 && (r.den & (r.den - 1)) == 0);
        assert_true(ratio_value(r) <= value && ratio_value(r) >= value * (1 - 0x1p-51));
        assert_true(r.num >> __builtin_ctzll(r.num) < UINT64_C(1) << 52);
        assert_true((uint64_t)(double)r.num == r.num);
    }
    assert_true(ratio_value(tacit_ratio_below(0.75)) == 0.75);
    assert_true(ratio_value(tacit_ratio_below(0x1p63)) == 0x1p63);
    assert_true(ratio_value(tacit_ratio_below(0x1p-63)) == 0x1p-63);
    assert_true(ratio_value(tacit_ratio_below(0x1.8p-63)) == 0x1p-63);
    assert_true(tacit_ratio_below(0x1p-64).num == 0 && tacit_ratio_below(0x1p-64).den == 1);
    assert_true(tacit_ratio_below(5e-324).num == 0);
    assert_true(tacit_ratio_below(0).num == 0 && tacit_ratio_below(NAN).num == 0);
    assert_true(tacit_ratio_below(-1).num == 0);
    assert_true(tacit_ratio_below(1e300).den == 1 && tacit_ratio_below(INFINITY).den == 1);
    assert_true(tacit_ratio_below(1e300).num > UINT64_C(1) << 63);
}

/* ---- exact probabilities ---- */

typedef struct row {
    char law[32], statistic[32];
    unsigned long num, den;
    double x, value;
} row;

static bool next_row(FILE *file, row *r)
{
    char line[256], x[32];
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%31[^,],%lu,%lu,%31[^,],%31[^,],%lf", r->law, &r->num, &r->den,
                   r->statistic, x, &r->value) == 6) {
            r->x = strtod(x, NULL);
            return true;
        }
        r->x = 0;
        if (sscanf(line, "%31[^,],%lu,%lu,%31[^,],,%lf", r->law, &r->num, &r->den, r->statistic,
                   &r->value) == 5)
            return true;
    }
    return false;
}

static FILE *golden(void)
{
    char path[1024];
    const char *folder = getenv("TACIT_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/golden/sampler_vectors.csv", folder ? folder : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

static double weight(const tacit_law *law, uint64_t z)
{
    tacit_guess f;
    if (z == 0)
        return 1;
    return law->guess(law, z, false, &f) ? ldexp((double)f.m, -64 - (int)f.down) : 0;
}

static double statistic_of(const row *r, const tacit_law *law)
{
    uint64_t x = (uint64_t)r->x;
    double total = 0, found = 0;
    for (uint64_t z = 0; z < 20000; z++) {
        double p = (z ? 2 : 1) * weight(law, z), square = (double)z * (double)z;
        total += p;
        if (strcmp(r->statistic, "pmf") == 0)
            found += z == x ? weight(law, z) : 0;
        else if (strcmp(r->statistic, "tail") == 0)
            found += z >= x ? p : 0;
        else if (strcmp(r->statistic, "variance") == 0)
            found += p * square;
        else
            found += p * square * square;
    }
    return found / total;
}

/* The f that decides what is accepted, against the reference. */
static void test_weights_match_the_reference(void **state)
{
    (void)state;
    FILE *file = golden();
    row r;
    int rows = 0;
    while (next_row(file, &r)) {
        tacit_law law;
        tacit_ratio ratio = {r.num, r.den};
        if (strcmp(r.law, "bernoulli_exp") == 0)
            continue;
        if (strcmp(r.law, "laplace") == 0)
            tacit_law_laplace(&law, ratio);
        else
            tacit_law_gaussian(&law, ratio);
        double found = statistic_of(&r, &law);
        rows++;
        if (r.value > 1e-50 && !(fabs(found / r.value - 1) < 1e-12))
            fail_msg("%s %lu/%lu %s %g: %.17g, not %.17g", r.law, r.num, r.den, r.statistic, r.x,
                     found, r.value);
    }
    fclose(file);
    assert_true(rows > 200);
}

/* How far `hits` of `trials` is from probability p, in deviations; 0.5 for continuity. */
static double deviations(double hits, double trials, double p)
{
    double away = fabs(hits - trials * p) - 0.5;
    return away <= 0 ? 0 : away / sqrt(trials * p * (1 - p) + 1e-300);
}

/* Drawn frequencies against the reference, where 40 or more are expected: about 180 statistics
 * within 6.5 deviations, false alarm below 1e-6 (a Poisson count of 40 has a heavier tail than
 * the normal law: 4e-9 at 6.5). */
static void test_frequencies_match_the_reference(void **state)
{
    (void)state;
    enum { DRAWS = 200000 };
    static int64_t z[DRAWS];
    FILE *file = golden();
    row r, before = {.num = 0};
    int rows = 0;
    while (next_row(file, &r)) {
        bool trial = strcmp(r.law, "bernoulli_exp") == 0, tail = strcmp(r.statistic, "tail") == 0;
        tacit_ratio ratio = {r.num, r.den};
        tacit_stream s = test_stream(3);
        if (!trial && !tail && strcmp(r.statistic, "pmf") != 0)
            continue;
        if (strcmp(before.law, r.law) != 0 || before.num != r.num || before.den != r.den) {
            tacit_noise *noise = trial ? NULL : make(strcmp(r.law, "laplace") != 0, ratio);
            if (noise)
                tacit_noise_draw(noise, &s, DRAWS, z);
            for (int k = 0; k < DRAWS && trial; k++)
                z[k] = tacit_bernoulli_exp(&s, ratio);
            tacit_noise_free(noise);
            before = r;
        }
        double hits = 0, x = trial ? 1 : r.x;
        for (int k = 0; k < DRAWS; k++)
            hits += tail ? fabs((double)z[k]) >= x : (double)z[k] == x;
        if (r.value * DRAWS < 40)
            assert_true(hits < 120);
        else if (!(deviations(hits, DRAWS, r.value) < 6.5))
            fail_msg("%s %lu/%lu %s %g: %g of %d, not %g", r.law, r.num, r.den, r.statistic, r.x,
                     hits, DRAWS, r.value * DRAWS);
        rows += r.value * DRAWS >= 40;
    }
    fclose(file);
    assert_true(rows > 100);
}

/* A trial of probability num / den with an awkward denominator. */
static void test_bernoulli_frequency(void **state)
{
    (void)state;
    enum { TRIALS = 200000 };
    static const tacit_ratio ps[] = {{1, 3}, {2, 7}, {UINT64_C(1) << 63, (UINT64_C(3) << 62) + 1}};
    tacit_stream s = test_stream(4);
    for (int k = 0; k < 3; k++) {
        double hits = 0;
        for (int i = 0; i < TRIALS; i++)
            hits += tacit_bernoulli(&s, ps[k]);
        assert_true(deviations(hits, TRIALS, ratio_value(ps[k])) < 5.3); /* false alarm 1e-7 */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_parameters),
        cmocka_unit_test(test_extremes_are_drawn),
        cmocka_unit_test(test_any_ratio),
        cmocka_unit_test(test_pieces_make_the_whole),
        cmocka_unit_test(test_threads_share_a_law),
        cmocka_unit_test(test_integers_are_pinned),
        cmocka_unit_test(test_certain_trials),
        cmocka_unit_test(test_ratio_below),
        cmocka_unit_test(test_weights_match_the_reference),
        cmocka_unit_test(test_frequencies_match_the_reference),
        cmocka_unit_test(test_bernoulli_frequency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
