/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TESTING_H
#define TACIT_TESTING_H
/* What most tests need: cmocka, its headers in the order it wants, and a few small tools. */
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include "tacit/tacit.h"

/* 1 where a sanitizer makes everything slow: counts of trials are divided there; and where it is
 * the thread sanitizer, for tests with one thread that cost much and cannot show it anything. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define SLOW_THREADS 1
#else
#define SLOW_THREADS 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) || SLOW_THREADS
#define SLOW 1
#else
#define SLOW 0
#endif

/* A generator of the tests' own, so that tests of random streams do not depend on them. */
typedef struct dice {
    uint64_t state;
} dice;
double dice_unit(dice *d); /* uniform in [0, 1) */
double dice_between(dice *d, double low, double high);
uint64_t dice_below(dice *d, uint64_t n); /* biased by 2^-32 or so: fine for tests */
double dice_normal(dice *d);

/* Fail the test with the library's own words. */
void check_ok(tacit_status status, const tacit_error *err);
/* The status must be `want` and the error text must hold `word`. */
void check_fails(tacit_status status, tacit_status want, const tacit_error *err, const char *word);

/* Kolmogorov's statistic sqrt(n) sup|F_n - F| of `n` values (sorted in place) that should be
 * uniform on [0, 1). Above 1.95 with probability 0.001 for large n, above 2.23 with 1e-4. */
double kolmogorov(size_t n, double *value);

/* b = A^-1 b by elimination with pivots, A of `n` rows, which is lost; returns log |det A|. */
double eliminate(size_t n, double *a, double *b);

/* A ring of `n` agents with `chords` random chords, uneven weights. */
void graph_ring(tacit_graph *graph, uint32_t n, uint32_t chords, uint64_t seed);

/* A checkpoint of `rt`; the bytes belong to *saver. */
const uint8_t *save_bytes(const tacit_runtime *rt, tacit_saver **saver, size_t *len);
/* Load such bytes into a fresh runtime; returns its status. */
tacit_status load_bytes(tacit_runtime *rt, const uint8_t *bytes, size_t len, tacit_error *err);

#endif
