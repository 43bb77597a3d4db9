/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_RANDOM_REAL_H
#define TACIT_RANDOM_REAL_H
/*
 * Real numbers in [0, 1] that a random number is compared with, in integer arithmetic.
 *
 * A guess is 64 bits with a proven error and decides nearly always; a big number has as many
 * bits as it takes and decides the rest. real.c has the error bounds.
 */
#include "random/words.h"
#include "tacit/noise.h"

/* m 2^-(64 + down), wrong by less than a part in 2^52 (a glance: 2^16); m = 0: exactly zero. */
typedef struct tacit_guess {
    uint64_t m;
    uint32_t down;
} tacit_guess;

/* Where no guess is made, the number is below 2^-150. */
#define TACIT_GUESS_LEAST_LOG2 (-150)

/* exp(-x) for x = fixed 2^-57; the true x may be off by 2^-54. */
tacit_guess tacit_guess_exp(uint64_t fixed);
/* The same in a third of the time: too large by less than a part in 2^16. */
tacit_guess tacit_glance_exp(uint64_t fixed);

/* sum of limb[k] 2^(64 (k - n)), k <= n; the true number is off by at most `error` 2^(-64 n). */
enum { TACIT_BIG_LIMBS = 32 };
typedef struct tacit_big {
    int n;
    uint64_t error;
    uint64_t limb[TACIT_BIG_LIMBS + 4];
} tacit_big;

/* exp(-factor num / (den 2^halvings)), halvings 0 or 1; big->n limbs. */
void tacit_big_exp(tacit_big *big, u128 factor, tacit_ratio x, int halvings);
/* big times u64, over u64: the result must fit below 2^64. The error is the caller's business. */
void tacit_big_mul(tacit_big *big, uint64_t by);
void tacit_big_div(tacit_big *big, uint64_t by);
/* Its leading 64 bits; false below 2^-160. */
bool tacit_big_guess(const tacit_big *big, tacit_guess *guess);

/* What decides whether a random height lies below scale f. */
typedef struct tacit_question {
    uint64_t scale;  /* below 2^64 - 2^14 */
    uint64_t height; /* the random number is (height + fraction) 2^-blocks, */
    uint32_t blocks; /* fraction uniform in [0, 1) and not yet drawn */
    bool guessed;
    tacit_guess f;
    /* More of f, in big->n limbs, when the guess does not decide. */
    void (*exact)(const void *ctx, tacit_big *big);
    const void *ctx;
} tacit_question;
bool tacit_below(const tacit_question *question, tacit_words *words);
/* The same without ever trusting a guess: for tests. */
bool tacit_below_exact(const tacit_question *question, uint64_t first, tacit_words *words);
/* With a glance for f: 1 or 0 if tacit_below would say so and take no word for it, or -1. */
int tacit_glance_below(const tacit_question *question);

#endif
