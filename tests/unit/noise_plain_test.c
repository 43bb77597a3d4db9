/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler reads words 64 at a time, in vectors, and decides by a glance where it can. Here the
 * same draws are made the plain way: word by word, without the guide, the sure parts or a glance.
 * Integers and words used must be the same; on random words, and on words whose heights lie about
 * the graph of the law, at all distances at which one way or the other begins to decide.
 */
#include <math.h>
#include <string.h>

#include "random/layers.h"
#include "testing.h"

enum { WORDS = 6000 };

/* ---- the plain way ---- */

typedef struct plain {
    const tacit_layers *layers;
    uint64_t distance;
    bool minus;
    size_t greedy; /* draws that took more than a word of their own */
} plain;

static void exact_at(const void *ctx, tacit_big *f)
{
    const plain *p = ctx;
    p->layers->law.exact(&p->layers->law, p->distance, p->minus, f);
}

static bool below(plain *p, uint64_t height, uint32_t blocks, tacit_words *words)
{
    tacit_question q = {
        .scale = p->layers->scale, .height = height, .blocks = blocks, .exact = exact_at, .ctx = p};
    q.guessed = p->layers->law.guess(&p->layers->law, p->distance, p->minus, &q.f);
    return tacit_below(&q, words);
}

static bool plain_tail(plain *p, uint64_t rest, tacit_words *words)
{
    const uint64_t width = UINT64_C(1) << p->layers->tail_log2;
    const uint64_t area = p->layers->tail_height * width;
    uint32_t block = 0;
    if (rest >= 2 * area)
        return false;
    if (rest >= area) {
        rest -= area;
        uint64_t bits = 0;
        for (block = 1; (bits = tacit_words_next(words)) == 0;)
            block += 64;
        for (; bits % 2 == 0; bits /= 2)
            block++;
    }
    p->distance = p->layers->tail_left + block * width + rest % width;
    return below(p, rest / width, block, words);
}

static uint32_t plain_slot(const tacit_layers *layers, uint64_t word)
{
    uint32_t slot = 0;
    while (slot + 1 < layers->slots && layers->boxes.slot[slot + 1].start <= word / 2)
        slot++;
    return slot;
}

static bool plain_word(plain *p, uint64_t word, tacit_words *words)
{
    const uint32_t k = plain_slot(p->layers, word);
    const tacit_slot *slot = &p->layers->boxes.slot[k];
    const uint64_t rest = word / 2 - slot->start, width = slot->mask + 1;
    p->minus = word % 2;
    p->distance = slot->left + rest % width;
    if (k + 1 < p->layers->slots)
        return below(p, rest / width, 0, words);
    const uint64_t zero = p->layers->scale / 2;
    return rest < zero || plain_tail(p, rest - zero, words);
}

static size_t plain_draw(plain *p, tacit_words *words, int64_t *out)
{
    size_t done = 0;
    while (words->at < words->end) {
        const uint64_t *after = words->at + 1;
        if (plain_word(p, *words->at++, words)) {
            out[done] = (int64_t)p->distance;
            out[done] = p->minus ? -out[done] : out[done];
            done++;
        }
        p->greedy += words->at != after;
    }
    return done;
}

/* ---- words ---- */

/* A height so and so far from the graph of some integer of some box. */
static uint64_t word_about_the_graph(const tacit_layers *layers, dice *d)
{
    const uint64_t k = dice_below(d, layers->slots - 1);
    const tacit_slot *slot = &layers->boxes.slot[k];
    const uint64_t width = slot->mask + 1, most = (slot[1].start - slot->start) / width;
    const uint64_t column = dice_below(d, width), minus = dice_below(d, 2);
    tacit_big f = {.n = 8};
    layers->law.exact(&layers->law, slot->left + column, minus, &f);
    tacit_big_mul(&f, layers->scale);
    const uint64_t limit = f.limb[f.n], away = limit >> (8 + dice_below(d, 50));
    uint64_t height = dice_below(d, 2) ? limit + away : limit - away;
    height += dice_below(d, 3);
    height -= height > 0;
    height = height < most ? height : most - 1;
    return (slot->start + height * width + column) << 1 | minus;
}

static void fill(const tacit_layers *layers, dice *d, size_t n, uint64_t *word)
{
    for (size_t k = 0; k < n; k++)
        word[k] = layers->slots > 1 && dice_below(d, 8) == 0
                      ? word_about_the_graph(layers, d)
                      : dice_below(d, UINT64_C(1) << 32) << 32 | dice_below(d, UINT64_C(1) << 32);
}

static tacit_stream stream(void)
{
    tacit_random keys;
    tacit_stream s;
    tacit_random_init(&keys, 5);
    tacit_stream_open(&s, &keys, 1, TACIT_FOR_TEST, 1);
    return s;
}

/* ---- tests ---- */

static void check_draws(const tacit_layers *layers, dice *d, size_t *greedy)
{
    static uint64_t word[WORDS];
    static int64_t found[WORDS + 1], want[WORDS + 1];
    tacit_stream s = stream(), t = stream();
    plain p = {.layers = layers};
    for (size_t n = WORDS; n > 0; n = n > 200 ? n / 2 : n - 1) {
        fill(layers, d, n, word);
        memset(found, 0x5a, sizeof found);
        memset(want, 0x5a, sizeof want);
        tacit_words fast = {.at = word, .end = word + n, .stream = &s};
        tacit_words slow = {.at = word, .end = word + n, .stream = &t};
        const size_t made = tacit_layers_draw(layers, &fast, found);
        assert_int_equal(made, plain_draw(&p, &slow, want));
        assert_memory_equal(found, want, made * sizeof *found);
        assert_true(fast.at == word + n && slow.at == fast.at);
        for (size_t k = n; k <= WORDS; k++)
            assert_true(found[k] == want[k]); /* nothing is written beyond the words' number */
    }
    assert_true(tacit_stream_u64(&s) == tacit_stream_u64(&t));
    *greedy += p.greedy;
}

/* Every table's candidates: any number of them, and nothing beside. */
static void check_candidates(const tacit_layers *layers, dice *d)
{
    static const char *const names[] = {"base", "avx2", "avx512"};
    for (size_t t = 0; t < 3; t++) {
        const tacit_kernels *table = tacit_kernels_named(names[t]);
        for (size_t n = 0; table && n <= 64; n++) {
            uint64_t word[64], doubtful;
            int64_t z[65];
            fill(layers, d, n, word);
            z[n] = 17;
            doubtful = table->box_candidates(&layers->boxes, n, word, z);
            for (size_t k = 0; k < n; k++) {
                const tacit_slot *slot = &layers->boxes.slot[plain_slot(layers, word[k])];
                const uint64_t rest = word[k] / 2 - slot->start;
                const int64_t distance = (int64_t)(slot->left + rest % (slot->mask + 1));
                assert_true(z[k] == (word[k] % 2 ? -distance : distance));
                assert_int_equal(doubtful >> k & 1, rest >= slot->sure);
            }
            assert_true(z[n] == 17 && (n == 64 || doubtful >> n == 0));
        }
    }
}

static void check(tacit_layers *layers, double half, dice *d, size_t *greedy)
{
    assert_true(tacit_layers_build(layers, (uint64_t)half + 1));
    check_draws(layers, d, greedy);
    check_candidates(layers, d);
}

static void test_plain_draws(void **state)
{
    (void)state;
    static tacit_layers layers;
    static const double sigmas[] = {1e-3, 0.3, 1, 3.3, 10, 1000, 1.37 * 0x1p20, 0x1.fffffp31};
    dice d = {6};
    for (size_t k = 0; k < sizeof sigmas / sizeof *sigmas; k++) {
        size_t greedy = 0;
        tacit_law_gaussian(&layers.law, tacit_ratio_below(sigmas[k] * sigmas[k]));
        check(&layers, sigmas[k], &d, &greedy);
        tacit_law_laplace(&layers.law, tacit_ratio_below(sigmas[k]));
        check(&layers, sigmas[k], &d, &greedy);
        assert_true(greedy > 100 || layers.slots == 1); /* the hard case was there */
    }
}

static void test_plain_poisson(void **state)
{
    (void)state;
    static tacit_layers layers;
    static const tacit_ratio twice_means[] = {{1, 2}, {20, 1}, {8192, 1}, {60000, 7}};
    dice d = {7};
    for (size_t k = 0; k < sizeof twice_means / sizeof *twice_means; k++) {
        size_t greedy = 0;
        const tacit_ratio v = twice_means[k];
        assert_true(tacit_law_poisson(&layers.law, v));
        check(&layers, sqrt((double)v.num / (double)v.den / 2), &d, &greedy);
        assert_true(greedy > 100);
        tacit_law_clear(&layers.law);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain_draws),
                                       cmocka_unit_test(test_plain_poisson)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
