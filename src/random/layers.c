/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact rejection from boxes.
 *
 * One word gives a sign and a number u of 63 bits. The numbers below 2^63 are divided among
 * slots; slot j is a box of 2^a columns (integers) and h whole units of height: u - start has
 * the column in its low a bits and the height in the others. The draw is the column's integer z,
 * accepted if the height, with a uniform fraction added, lies below scale f(z). As long as every
 * box covers the graph of scale f above its columns (h >= scale f(left), f falls), all points
 * (z, height) under the graph are equally likely to be the one accepted, so
 *
 *     P(z) = P(-z) = f(z) / sum of f     exactly,
 *
 * whatever the boxes are. How they were chosen only decides how often a word is refused: about
 * 3 times in 100. Nothing is rounded: the height is an integer and its fraction is drawn when it
 * is needed (real.c). Below `sure` <= scale f(right end) no f is computed at all: 95 of 100 words.
 *
 * The last slot holds what is left of the numbers: first scale / 2 of them for z = 0, which has
 * two signs and must not count twice; then the tail beyond the boxes; then nothing (refused). The
 * tail is cut into blocks of 2^b integers in which f falls by half or more, so block k is covered
 * by height h 2^-k: the blocks have areas A, A/2, A/4, ... and k is geometric. Log-concavity
 * makes the halving true for all blocks once it is true for the first.
 *
 * A guide of 256 cells finds the slot: every slot but the last is at least as long as a cell, so
 * a cell meets at most two slots and one comparison decides. Words are read 64 at a time and
 * without a branch, as if all were sure (math/kernels_boxes.h); the few that are not are decided
 * afterwards. What comes out is what comes out word by word.
 *
 * Time: the number of words and the time of a draw depend on the words, that is, on the noise
 * (refusals, the tail, undecided comparisons) and on the public parameter. They cannot depend on
 * the data: no datum ever comes near this file.
 *
 * After von Neumann's rejection; boxes with one word for everything as in ziggurats; the laws are
 * those of Canonne, Kamath, Steinke 2020, whose own sampler (their Algorithms 1 to 3) needs about
 * 8 Bernoulli trials a draw.
 */
#include "random/layers.h"

#include <assert.h>
#include <string.h>

#define SPACE (UINT64_C(1) << 63)
enum { CELL_LOG2 = 63 - TACIT_CELLS_LOG2 };
#define CELL (UINT64_C(1) << CELL_LOG2)
#define SCALE_MOST (UINT64_MAX - (1 << 14))

/* ---- bounds of scale f(distance), whole numbers ---- */

static bool guess_of(const tacit_layers *layers, uint64_t distance, bool minus, u128 *product,
                     uint32_t *down)
{
    tacit_guess f;
    if (!layers->law.guess(&layers->law, distance, minus, &f))
        return false;
    *product = (u128)layers->scale * f.m;
    *down = 64 + f.down;
    return true;
}

static uint64_t above_on(const tacit_layers *layers, uint64_t distance, bool minus)
{
    u128 product;
    uint32_t down;
    if (!guess_of(layers, distance, minus, &product, &down) || down >= 128)
        return 1;
    return (uint64_t)((product + (product >> 51) + 2) >> down) + 1;
}

static uint64_t above(const tacit_layers *layers, uint64_t distance)
{
    uint64_t plus = above_on(layers, distance, false);
    uint64_t minus = layers->law.even ? plus : above_on(layers, distance, true);
    return plus > minus ? plus : minus;
}

static uint64_t under_on(const tacit_layers *layers, uint64_t distance, bool minus)
{
    u128 product;
    uint32_t down;
    if (!guess_of(layers, distance, minus, &product, &down) || down >= 128)
        return 0;
    u128 error = (product >> 51) + 2;
    return product > error ? (uint64_t)((product - error) >> down) : 0;
}

static uint64_t under(const tacit_layers *layers, uint64_t distance)
{
    uint64_t plus = under_on(layers, distance, false);
    uint64_t minus = layers->law.even ? plus : under_on(layers, distance, true);
    return plus < minus ? plus : minus;
}

/* ---- the layout ---- */

/* Least a with value 2^a >= floor; value > 0. */
static int widening(uint64_t value, uint64_t floor)
{
    if (value >= floor)
        return 0;
    int a = __builtin_clzll(value) - __builtin_clzll(floor);
    return (value << a) < floor ? a + 1 : a;
}

/* Lay boxes for this scale, as many as there is room for; how much of SPACE they would need. */
static u128 lay(tacit_layers *layers, uint64_t scale)
{
    layers->scale = scale;
    u128 at = 0;
    uint64_t left = 1;
    uint32_t count = 0;
    for (;; count++) {
        uint64_t height = above(layers, left);
        int log2 = widening(height, CELL);
        int block = widening(1, layers->law.halving(&layers->law, left));
        if (log2 > block || count > 8 * TACIT_CELLS) {
            layers->tail_left = left;
            layers->tail_height = height;
            layers->tail_log2 = block;
            at += scale / 2 + ((u128)height << (block + 1));
            break;
        }
        if (count + 1 < TACIT_SLOTS && at < SPACE) {
            layers->boxes.slot[count].start = (uint64_t)at;
            layers->boxes.slot[count].left = left;
            layers->boxes.slot[count].mask = (UINT64_C(1) << log2) - 1;
            layers->boxes.slot[count + 1].start = (uint64_t)(at + ((u128)height << log2));
        }
        at += (u128)height << log2;
        left += UINT64_C(1) << log2;
    }
    layers->slots = count + 1;
    return at;
}

/* What is the same for every layout: where boxes are sure, the last slot, the guide. */
static void finish(tacit_layers *layers)
{
    uint32_t last = layers->slots - 1;
    if (last == 0)
        layers->boxes.slot[0].start = 0;
    for (uint32_t k = 0; k < last; k++) {
        uint64_t width = layers->boxes.slot[k].mask + 1;
        layers->boxes.slot[k].sure = under(layers, layers->boxes.slot[k].left + width - 1) * width;
    }
    layers->boxes.slot[last].left = 0;
    layers->boxes.slot[last].mask = 0;
    layers->boxes.slot[last].sure = layers->scale / 2;
    uint32_t slot = 0;
    for (uint32_t k = 0; k < TACIT_CELLS; k++) {
        uint64_t from = (uint64_t)k << CELL_LOG2;
        while (slot < last && layers->boxes.slot[slot + 1].start <= from)
            slot++;
        layers->boxes.first[k] = (uint16_t)slot;
        layers->boxes.last[k] =
            slot < last ? 2 * (layers->boxes.slot[slot + 1].start - 1) + 1 : UINT64_MAX;
        assert(slot + 1 >= last || layers->boxes.slot[slot + 2].start - from >= CELL);
    }
}

bool tacit_layers_build(tacit_layers *layers, uint64_t half)
{
    u128 scale = SPACE / 2 / (half > 0 ? half : 1), need = 0, least = SPACE - SPACE / 64;
    for (int tries = 0; tries < 64; tries++) {
        if (scale > SCALE_MOST)
            scale = SCALE_MOST;
        if (scale < 2)
            return false;
        need = lay(layers, (uint64_t)scale & ~UINT64_C(1));
        bool fits = need <= SPACE;
        if (fits && (need >= least || tries > 10 || scale == SCALE_MOST)) {
            finish(layers);
            return true;
        }
        /* aim a little lower than what would just fit; lower still when that fails again */
        u128 aim = SPACE - SPACE / 512 * (u128)(1 + tries);
        scale = (u128)((uint64_t)scale) * (aim >> 16) / (need >> 16);
    }
    return false;
}

/* ---- drawing ---- */

typedef struct point {
    const tacit_law *law;
    uint64_t distance;
    bool minus;
} point;

static void exact_at(const void *ctx, tacit_big *f)
{
    const point *at = ctx;
    at->law->exact(at->law, at->distance, at->minus, f);
}

/* A glance decides nearly always, and never otherwise than the guess would. */
static bool accepted(const tacit_layers *layers, uint64_t distance, bool minus, uint64_t height,
                     uint32_t blocks, tacit_words *words)
{
    point at = {.law = &layers->law, .distance = distance, .minus = minus};
    tacit_question question = {
        .scale = layers->scale, .height = height, .blocks = blocks, .exact = exact_at, .ctx = &at};
    if (layers->law.glance && layers->law.glance(&layers->law, distance, &question.f)) {
        int answer = tacit_glance_below(&question);
        if (answer >= 0)
            return answer;
    }
    question.guessed = layers->law.guess(&layers->law, distance, minus, &question.f);
    return tacit_below(&question, words);
}

/* Zero bits before the first one, at most 4096 (more: with probability 2^-4096). */
static uint32_t zero_bits(tacit_words *words)
{
    for (uint32_t zeros = 0; zeros < 4096; zeros += 64) {
        uint64_t word = tacit_words_next(words);
        if (word)
            return zeros + (uint32_t)__builtin_ctzll(word);
    }
    return 4096;
}

static bool tail(const tacit_layers *layers, uint64_t rest, bool minus, tacit_words *words,
                 uint64_t *distance)
{
    uint64_t area = layers->tail_height << layers->tail_log2;
    if (rest / 2 >= area)
        return false;
    uint32_t block = 0;
    if (rest >= area) {
        rest -= area;
        block = 1 + zero_bits(words);
    }
    uint64_t width = UINT64_C(1) << layers->tail_log2;
    *distance = layers->tail_left + block * width + (rest & (width - 1));
    return accepted(layers, *distance, minus, rest >> layers->tail_log2, block, words);
}

/* Whether a word that is not sure is accepted, and its integer. */
static bool look_closer(const tacit_layers *layers, uint64_t word, tacit_words *words, int64_t *z)
{
    const tacit_slot *slot = tacit_slot_of(&layers->boxes, word);
    const uint64_t minus = word & 1, rest = (word >> 1) - slot->start;
    uint64_t distance = slot->left + (rest & slot->mask);
    bool yes;
    if (slot == &layers->boxes.slot[layers->slots - 1])
        yes = tail(layers, rest - layers->scale / 2, minus != 0, words, &distance);
    else
        yes = accepted(layers, distance, minus != 0, rest >> __builtin_ctzll(slot->mask + 1), 0,
                       words);
    *z = (int64_t)((distance ^ -minus) + minus);
    return yes;
}

/* Draws of the next n <= 64 words, or of fewer: how many there are. Candidates of all are made
 * first, then the doubtful ones are looked at in turn; who took more than a word of its own is the
 * last, because the words behind it were read as what they are not. */
static size_t draw_some(const tacit_layers *layers, tacit_words *words, size_t n, int64_t *z)
{
    const uint64_t *word = words->at, *after = word + n;
    uint64_t refused = 0;
    uint64_t doubtful = tacit_kernels_get()->box_candidates(&layers->boxes, n, word, z);
    for (; doubtful; doubtful &= doubtful - 1) {
        const size_t k = (size_t)__builtin_ctzll(doubtful);
        words->at = word + k + 1;
        refused |= (uint64_t)!look_closer(layers, word[k], words, &z[k]) << k;
        if (words->at != word + k + 1) {
            n = k + 1;
            after = words->at;
            break;
        }
    }
    words->at = after;
    for (; refused; n--) { /* from behind: what follows it closes up */
        const size_t k = 63 - (size_t)__builtin_clzll(refused);
        memmove(z + k, z + k + 1, (n - k - 1) * sizeof *z);
        refused ^= UINT64_C(1) << k;
    }
    return n;
}

size_t tacit_layers_draw(const tacit_layers *layers, tacit_words *words, int64_t *out)
{
    size_t done = 0;
    while (words->at < words->end) {
        const size_t left = (size_t)(words->end - words->at);
        done += draw_some(layers, words, left < 64 ? left : 64, out + done);
    }
    return done;
}
