/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes the samplers exact, part by part: the fixed-point exponential keeps its error bound,
 * ties are decided by the true digits, and the boxes of many parameters cover their law. No
 * statistics here: each check is a comparison of integers.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "random/layers.h"
#include "testing.h"

static double guess_value(tacit_guess f)
{
    return ldexp((double)f.m, -64 - (int)f.down);
}

/* ---- big numbers ---- */

typedef struct digits {
    tacit_ratio x;
    const char *hex; /* 2^512 exp(-x), rounded down, by mpmath */
} digits;

static const digits known[] = {
    {{1, 1},
     "5e2d58d8b3bcdf1abadec7829054f90dda9805aab56c77333024b9d0a507daed"
     "b16400bf472b4215b8245b669d90d27a5aea5550968dc39229f03c6276dcaa58"},
    {{7, 3},
     "18d327a69b3be5a89091f41b3ea83993a6784a0d55521f55e4040f7c78e7a663"
     "8adeba449e86ebfe9dc808caec391f59bf8b8c35122ec1acaa952978b81de4a6"},
    {{1, 7},
     "ddebb5c50d5cc2a474a4e07fbe243cd8afb0c5939a3e6b84a877f612e2f114d4"
     "3c15660d469b5b0964b160a4711454a71fa9549fa997de7d45202e27608badca"},
    {{1005, 10},
     "00000000000000000000000000000000000080d072b21b227a544ebdc2d8625f"
     "4ff7db6071bb195fce34cfa322c1ead14d1e260277775f92fd82040d62b97486"},
    {{1, 1000003},
     "ffffef390c3872c64591d95aa0a8ac632be800cbe5e742fed6de182a6f8bc493"
     "a3dd7fe486b52fb2d9625f032cd6371ffa2615ea970c0c73e71e39cdb26632b5"},
};

static void test_big_exponential_has_the_known_digits(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        tacit_big big = {.n = 8};
        tacit_big_exp(&big, 1, known[k].x, 0);
        assert_true(big.error < UINT64_C(1) << 16);
        for (int limb = 7; limb > 0; limb--) { /* the last one holds the error */
            uint64_t want;
            assert_int_equal(sscanf(known[k].hex + 16 * (7 - limb), "%16lx", &want), 1);
            assert_true(big.limb[limb] == want);
        }
        tacit_big half = {.n = 8}, longer = {.n = 32};
        tacit_big_exp(&half, 2, known[k].x, 1);
        assert_memory_equal(half.limb + 1, big.limb + 1, 7 * sizeof *half.limb);
        tacit_big_exp(&longer, 1, known[k].x, 0);
        assert_memory_equal(longer.limb + 25, big.limb + 1, 7 * sizeof *half.limb);
    }
}

/* |guess - f| as a part of f, from 256 bits of f. */
static double guess_error(tacit_guess guess, const tacit_big *f)
{
    tacit_guess best;
    assert_true(tacit_big_guess(f, &best));
    double ulps = (double)(int64_t)(guess.m - best.m);
    if (guess.down != best.down) /* a power of two in between */
        ulps = guess.down > best.down ? (double)((i128)(guess.m >> 1) - (i128)best.m)
                                      : (double)((i128)guess.m - (i128)(best.m >> 1));
    return fabs(ulps) / 0x1p63;
}

static void test_guess_keeps_its_bound(void **state)
{
    (void)state;
    dice d = {3};
    double most = 0;
    for (int k = 0; k < 3000; k++) {
        uint64_t fixed = dice_below(&d, UINT64_C(1) << 53) << (k % 12);
        if (k < 200)
            fixed =
                (uint64_t)k * UINT64_C(0x162e42fefa39ef35) / 16 + (uint64_t)(k % 3); /* k ln 2 */
        tacit_big f = {.n = 8};
        tacit_big_exp(&f, 1, (tacit_ratio){fixed, UINT64_C(1) << 57}, 0);
        tacit_guess guess = tacit_guess_exp(fixed);
        tacit_guess best;
        if (!tacit_big_guess(&f, &best))
            continue; /* below 2^-160 */
        most = fmax(most, guess_error(guess, &f));
    }
    assert_true(most < 0x1p-55); /* x is exact here: only the 186 + 7 units of real.c */
    assert_true(most > 0x1p-64);
}

/* A glance is too large by less than 2^-16, and hardly ever too small. */
static void test_glance_keeps_its_bound(void **state)
{
    (void)state;
    dice d = {4};
    double most = 0, least = 0;
    for (int k = 0; k < 6000; k++) {
        uint64_t fixed = dice_below(&d, UINT64_C(1) << 53) << (k % 12);
        if (k < 1000) /* on both sides of k (ln 2) / 16 */
            fixed = (uint64_t)k * (UINT64_C(0x162e42fefa39ef35) / 256) + (uint64_t)(k % 3) - 1;
        tacit_big f = {.n = 8};
        tacit_big_exp(&f, 1, (tacit_ratio){fixed, UINT64_C(1) << 57}, 0);
        tacit_guess glance = tacit_glance_exp(fixed), best;
        if (!tacit_big_guess(&f, &best))
            continue;                    /* below 2^-160 */
        assert_true(glance.m >> 62 > 0); /* as good as normalised */
        long double ratio =
            ldexpl((long double)glance.m / (long double)best.m, (int)best.down - (int)glance.down) -
            1;
        most = fmax(most, (double)ratio);
        least = fmin(least, (double)ratio);
    }
    assert_true(most < 0x1p-16 && most > 0x1p-17);
    assert_true(least > -0x1p-50);
}

/* ---- the laws' guesses ---- */

static void check_law(const tacit_law *law, uint64_t distance)
{
    for (int minus = 0; minus < 2; minus++) {
        tacit_guess guess;
        tacit_big f = {.n = 8};
        law->exact(law, distance, minus, &f);
        if (!law->guess(law, distance, minus, &guess)) {
            for (int k = f.n - 2; k <= f.n; k++) /* below 2^-128, and further down: */
                assert_true(f.limb[k] == 0);
            assert_true(f.limb[f.n - 3] < UINT64_C(1) << (64 - 22));
            continue;
        }
        if (guess.m == 0) {
            assert_true(f.error == 0 && f.limb[f.n - 1] == 0);
            continue;
        }
        tacit_guess best;
        if (tacit_big_guess(&f, &best))
            assert_true(guess_error(guess, &f) < 0x1p-52);
    }
}

static void test_guesses_of_the_laws(void **state)
{
    (void)state;
    dice d = {5};
    for (int k = 0; k < 600; k++) {
        double sigma = exp(dice_between(&d, -6, 31 * log(2)));
        tacit_law law;
        tacit_law_gaussian(&law, tacit_ratio_below(sigma * sigma));
        check_law(&law, (uint64_t)(sigma * dice_between(&d, 0, 17)) + 1);
        tacit_law_laplace(&law, tacit_ratio_below(sigma));
        check_law(&law, (uint64_t)(sigma * dice_between(&d, 0, 130)) + 1);
    }
    /* Poisson: the exact product is slow, so the mean stays below 2^23 */
    for (int k = 0; k < 60; k++) {
        double mean = exp(dice_between(&d, -3, 16)), reach = 17 * sqrt(mean) + 30;
        tacit_law law;
        assert_true(tacit_law_poisson(&law, tacit_ratio_below(2 * mean)));
        check_law(&law, (uint64_t)dice_between(&d, 1, reach));
        check_law(&law, 1);
        tacit_law_clear(&law);
    }
}

/* The series for large means against the product, where the series is at its worst. */
static void test_poisson_series_at_its_limits(void **state)
{
    (void)state;
    static const tacit_ratio twice_means[] = {{8192, 1}, {8193, 1}, {8193 * 7 + 6, 7}, {16384, 1}};
    for (size_t k = 0; k < 4; k++) {
        tacit_law law;
        assert_true(tacit_law_poisson(&law, twice_means[k]));
        assert_null(law.table[0]);
        for (uint64_t distance = 1; distance < 1100; distance += distance < 20 ? 1 : 31)
            check_law(&law, distance);
        tacit_law_clear(&law);
    }
}

/* ---- ties ---- */

typedef struct number {
    tacit_ratio x;
} number;

static void number_exact(const void *ctx, tacit_big *f)
{
    tacit_big_exp(f, 1, ((const number *)ctx)->x, 0);
}

/* A random number that agrees with scale f 2^blocks up to bit `bit` after the point and then
 * differs must be found below or above, as that bit says. */
static void check_tie(tacit_ratio x, uint64_t scale, uint32_t blocks, int bit, bool guessed)
{
    enum { LIMBS = 32 };
    number ctx = {x};
    tacit_big f = {.n = LIMBS};
    number_exact(&ctx, &f);
    tacit_big_mul(&f, scale);
    for (uint32_t k = 0; k < blocks; k++)
        tacit_big_mul(&f, 2);
    uint64_t word[LIMBS], flip = UINT64_C(1) << (63 - bit % 64);
    for (int k = 0; k < LIMBS; k++)
        word[k] = f.limb[LIMBS - 1 - k];
    bool below = (word[bit / 64] & flip) != 0;
    word[bit / 64] ^= flip;
    tacit_words words = {.at = word, .end = word + LIMBS};
    tacit_question question = {.scale = scale,
                               .height = f.limb[LIMBS],
                               .blocks = blocks,
                               .guessed = guessed,
                               .exact = number_exact,
                               .ctx = &ctx};
    question.f = tacit_guess_exp((uint64_t)(((u128)x.num << 57) / x.den));
    assert_int_equal(tacit_below(&question, &words), below);
    ptrdiff_t used = words.at - word;
    assert_true(used >= (bit + 63) / 64 || used == LIMBS || !guessed || bit < 64);
    if (bit < 40 && scale == 1 && guessed)
        assert_int_equal(used, 1);
    if (bit > 64)
        assert_true(used > 1);
}

static void test_ties_are_decided_by_the_true_digits(void **state)
{
    (void)state;
    static const tacit_ratio xs[] = {{1, 1}, {7, 3}, {1, 7}, {1005, 10}, {1, 1000003}, {62, 1}};
    for (size_t k = 0; k < sizeof xs / sizeof *xs; k++)
        for (int bit = 0; bit < 1850; bit += bit < 140 ? 5 : 169) {
            check_tie(xs[k], 1, 0, bit, bit % 2 > 0);
            check_tie(xs[k], 1234567, 0, bit, true);
            check_tie(xs[k], (UINT64_C(1) << 62) + 12345678, 0, bit, bit % 2 == 0);
        }
    /* far out in the tail, where a height counts 2^-blocks: scale f 2^blocks has 0 to 60 bits */
    for (int bit = 0; bit < 1500; bit += bit < 140 ? 9 : 331) {
        check_tie((tacit_ratio){62, 1}, UINT64_C(1) << 40, 43, bit, true);
        check_tie((tacit_ratio){62, 1}, UINT64_C(1) << 20, 100, bit, true);
        check_tie((tacit_ratio){90, 1}, UINT64_C(1) << 40, 100, bit, true);
        check_tie((tacit_ratio){90, 1}, UINT64_C(1) << 40, 129, bit, bit % 2 > 0);
        check_tie((tacit_ratio){120, 1}, 77777777777, 192, bit, true);
    }
}

/* ---- boxes ---- */

/* Bounds of scale f from 512 bits: low < scale f < high, whole numbers unless it is one. */
static void bounds(const tacit_layers *layers, uint64_t distance, bool minus, uint64_t *low,
                   uint64_t *high)
{
    tacit_big f = {.n = 8};
    layers->law.exact(&layers->law, distance, minus, &f);
    tacit_big_mul(&f, layers->scale);
    *low = f.limb[f.n] - (f.limb[f.n - 1] == 0 && f.limb[f.n] > 0 && f.error > 0);
    *high = f.limb[f.n] + 1 + (f.limb[f.n - 1] == UINT64_MAX);
}

static void check_covers(const tacit_layers *layers, uint64_t distance, uint64_t height)
{
    for (int minus = 0; minus < 2 - layers->law.even; minus++) {
        uint64_t low, high;
        bounds(layers, distance, minus, &low, &high);
        assert_true(high <= height);
    }
}

static void check_sure(const tacit_layers *layers, uint64_t distance, uint64_t height)
{
    for (int minus = 0; minus < 2 - layers->law.even && height > 0; minus++) {
        uint64_t low, high;
        bounds(layers, distance, minus, &low, &high);
        assert_true(height <= low);
    }
}

static void check_guide(const tacit_layers *layers)
{
    uint32_t last = layers->slots - 1;
    for (uint32_t k = 0; k < TACIT_CELLS; k++) {
        uint64_t from = (uint64_t)k << (63 - TACIT_CELLS_LOG2);
        uint64_t to = from + ((UINT64_C(1) << (63 - TACIT_CELLS_LOG2)) - 1);
        for (uint32_t slot = 0; slot <= last; slot++) {
            uint64_t begin = layers->boxes.slot[slot].start;
            uint64_t end = slot < last ? layers->boxes.slot[slot + 1].start : UINT64_C(1) << 63;
            uint64_t low = begin > from ? begin : from, high = end - 1 < to ? end - 1 : to;
            if (low > high)
                continue; /* they do not meet */
            assert_ptr_equal(tacit_slot_of(&layers->boxes, low << 1), &layers->boxes.slot[slot]);
            assert_ptr_equal(tacit_slot_of(&layers->boxes, high << 1 | 1),
                             &layers->boxes.slot[slot]);
        }
    }
}

/* The first and the last number of each slot, through the sampler itself. */
static void check_slot_ends(const tacit_layers *layers)
{
    for (uint32_t k = 0; k < layers->slots; k++) {
        uint64_t start = layers->boxes.slot[k].start, sure = layers->boxes.slot[k].sure;
        int64_t left = (int64_t)layers->boxes.slot[k].left,
                end = left + (int64_t)layers->boxes.slot[k].mask;
        if (sure == 0)
            continue;
        uint64_t word[4] = {start << 1, start << 1 | 1, (start + sure - 1) << 1, 0};
        int64_t z[4] = {0, 0, 0, 17};
        tacit_words words = {.at = word, .end = word + 3};
        assert_int_equal(tacit_layers_draw(layers, &words, z), 3);
        assert_true(z[0] == left && z[1] == -left && z[2] == end && z[3] == 17);
        assert_true(words.at == word + 3);
    }
}

static void check_tail(const tacit_layers *layers)
{
    uint64_t left = layers->tail_left, width = UINT64_C(1) << layers->tail_log2;
    uint64_t start = layers->boxes.slot[layers->slots - 1].start;
    u128 need = ((u128)layers->tail_height << (layers->tail_log2 + 1)) + layers->scale / 2;
    assert_true(layers->scale % 2 == 0);
    assert_true(start + need <= (u128)1 << 63);
    check_covers(layers, left, layers->tail_height);
    for (int minus = 0; minus < 2; minus++) { /* f(left + width) <= f(left) / 2 */
        tacit_big near = {.n = 16}, far = {.n = 16};
        layers->law.exact(&layers->law, left, minus, &near);
        layers->law.exact(&layers->law, left + width, minus, &far);
        tacit_big_mul(&far, 2);
        int k = 16;
        while (k > 0 && near.limb[k] == far.limb[k])
            k--;
        assert_true(far.limb[k] <= near.limb[k]);
    }
}

static void check_layers(const tacit_layers *layers)
{
    uint32_t last = layers->slots - 1;
    uint64_t left = 1;
    assert_true(layers->slots <= TACIT_SLOTS && layers->boxes.slot[0].start == 0);
    for (uint32_t k = 0; k < last; k++) {
        uint64_t width = layers->boxes.slot[k].mask + 1;
        uint64_t area = layers->boxes.slot[k + 1].start - layers->boxes.slot[k].start;
        assert_true(layers->boxes.slot[k].left == left);
        assert_true(area % width == 0 && layers->boxes.slot[k].sure % width == 0);
        check_covers(layers, left, area / width);
        left += width;
        check_sure(layers, left - 1, layers->boxes.slot[k].sure / width);
    }
    assert_true(left == layers->tail_left);
    assert_true(layers->boxes.slot[last].left == 0 && layers->boxes.slot[last].mask == 0);
    assert_true(layers->boxes.slot[last].sure ==
                layers->scale / 2); /* half of f(0) for each sign */
    check_tail(layers);
    check_guide(layers);
    check_slot_ends(layers);
}

static void build_and_check(tacit_layers *layers, double half, bool thrifty)
{
    assert_true(tacit_layers_build(layers, (uint64_t)half + 1));
    check_layers(layers);
    /* how much of the words is sure to be of use: not exactness, but speed */
    double sure = 0;
    for (uint32_t k = 0; k < layers->slots; k++)
        sure += (double)layers->boxes.slot[k].sure * 0x1p-63;
    if (thrifty && !(sure > 0.90))
        fail_msg("only %g of the words are sure", sure);
}

static void test_boxes_cover_their_law(void **state)
{
    (void)state;
    static tacit_layers layers;
    static const double sigmas[] = {1e-6, 1e-3, 0.05, 0.3,   1,      2.5,
                                    10,   77.7, 1000, 12345, 0x1p20, 0x1.fffffp31};
    dice d = {8};
    for (size_t k = 0; k < 30; k++) {
        double sigma = k < 12 ? sigmas[k] : exp(dice_between(&d, -3, 31 * log(2)));
        double twist = dice_between(&d, 0.4, 2);
        tacit_law_gaussian(&layers.law, tacit_ratio_below(sigma * sigma));
        build_and_check(&layers, sigma * twist, sigma > 100 || sigma < 0.3);
        tacit_law_laplace(&layers.law, tacit_ratio_below(sigma));
        build_and_check(&layers, sigma * twist, sigma > 100);
    }
    tacit_law_laplace(&layers.law, (tacit_ratio){UINT64_C(1) << 48, 1});
    build_and_check(&layers, 0x1p48, true);
    tacit_law_gaussian(&layers.law, (tacit_ratio){UINT64_MAX, 1});
    build_and_check(&layers, 0x1p32, true);
    tacit_law_gaussian(&layers.law, (tacit_ratio){UINT64_MAX, UINT64_MAX - 1});
    build_and_check(&layers, 1, true);
    tacit_law_gaussian(&layers.law, (tacit_ratio){1, UINT64_MAX});
    build_and_check(&layers, 0, true);
}

static void test_boxes_cover_poisson(void **state)
{
    (void)state;
    static tacit_layers layers;
    static const tacit_ratio twice_means[] = {
        {1, UINT64_MAX}, {1, 1000},  {1, 2},      {2, 1},
        {3, 1},          {20, 1},    {200, 3},    {8191, 1},
        {8192, 1},       {60000, 7}, {300001, 1}, {UINT64_MAX, UINT64_C(1) << 50}};
    for (size_t k = 0; k < sizeof twice_means / sizeof *twice_means; k++) {
        tacit_ratio v = twice_means[k];
        assert_true(tacit_law_poisson(&layers.law, v));
        build_and_check(&layers, sqrt((double)v.num / (double)v.den / 2), false);
        tacit_law_clear(&layers.law);
    }
}

/* guess_value is what other tests of the laws are written with: check it once. */
static void test_values(void **state)
{
    (void)state;
    assert_true(fabs(guess_value(tacit_guess_exp(UINT64_C(1) << 57)) / exp(-1) - 1) < 1e-15);
    assert_true(fabs(guess_value(tacit_guess_exp(0)) - 1) < 1e-15);
    assert_true(fabs(guess_value(tacit_guess_exp(UINT64_C(100) << 57)) / exp(-100) - 1) < 1e-13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_big_exponential_has_the_known_digits),
        cmocka_unit_test(test_guess_keeps_its_bound),
        cmocka_unit_test(test_glance_keeps_its_bound),
        cmocka_unit_test(test_guesses_of_the_laws),
        cmocka_unit_test(test_poisson_series_at_its_limits),
        cmocka_unit_test(test_ties_are_decided_by_the_true_digits),
        cmocka_unit_test(test_boxes_cover_their_law),
        cmocka_unit_test(test_boxes_cover_poisson),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
