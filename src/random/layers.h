/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_RANDOM_LAYERS_H
#define TACIT_RANDOM_LAYERS_H
/*
 * Exact rejection from boxes, for a law on the integers with its mode at 0 that falls off
 * log-concavely on both sides. layers.c has the method and the proof.
 */
#include "math/kernels.h"
#include "random/real.h"

/*
 * f(z) = P(z) / P(0) for z = distance (or -distance: minus). f(0) = 1, f falls on both sides and
 * is log-concave on each.
 */
typedef struct tacit_law tacit_law;
struct tacit_law {
    /* False: no guess, but then f is below 2^TACIT_GUESS_LEAST_LOG2. */
    bool (*guess)(const tacit_law *law, uint64_t distance, bool minus, tacit_guess *f);
    /* Like tacit_glance_exp, where guess() is true; NULL: there is none. */
    bool (*glance)(const tacit_law *law, uint64_t distance, tacit_guess *f);
    void (*exact)(const tacit_law *law, uint64_t distance, bool minus, tacit_big *f);
    /* A number of steps after which f has fallen by half or more, from `distance` >= 1 on. */
    uint64_t (*halving)(const tacit_law *law, uint64_t distance);
    bool even; /* f(-z) = f(z) */
    tacit_ratio ratio;
    /* Laplace, Gaussian: x = (distance or its square) times rate 2^-rate_down, rate normalised
     * to 64 bits and rounded down. */
    uint64_t rate;
    int rate_down;
    /* Poisson */
    uint64_t mode, epsilon; /* mean = mode + epsilon 2^-64 (rounded down) */
    tacit_guess *table[2];  /* small means: f(1), f(2), ... on the plus and the minus side */
    size_t known[2];
};

typedef struct tacit_layers {
    tacit_law law;
    uint64_t scale; /* heights are in units of 1 / scale; even */
    uint64_t tail_left, tail_height;
    int tail_log2;
    uint32_t slots;
    tacit_boxes boxes;
} tacit_layers;

/* `half` is about the sum of f(z), z >= 1, within a factor of 4. False: no layout was found. */
bool tacit_layers_build(tacit_layers *layers, uint64_t half);
/* Draws until the fetched words are used up; how many, at most as many as there were words. The
 * last draw may take words from the stream. */
size_t tacit_layers_draw(const tacit_layers *layers, tacit_words *words, int64_t *out);

/* noise.c, poisson.c */
void tacit_law_laplace(tacit_law *law, tacit_ratio scale);
void tacit_law_gaussian(tacit_law *law, tacit_ratio variance);
/* Poisson of mean num / (2 den), counted from its mode; false without memory. */
bool tacit_law_poisson(tacit_law *law, tacit_ratio twice_mean);
void tacit_law_clear(tacit_law *law);

#endif
