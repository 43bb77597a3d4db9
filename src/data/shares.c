/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dirichlet(alpha, ..., alpha) is a row of Gamma(alpha) draws divided by their sum. Gamma is
 * drawn by the method of Marsaglia and Tsang (2000) for a shape of at least 1; below, by
 * Gamma(a) = Gamma(a + 1) U^(1/a). For alpha = 0.001 most draws are below the least double, so
 * we keep logarithms and divide by the largest: one share is then at least 1/n, none is NaN,
 * and what is too small to matter becomes 0.
 *
 * Paper 004, equation 8, deals class j to N agents by
 *
 *     a_ij = (1 - t)/N                    i != j mod N
 *     a_ij = 1 - sum over k != i of a_kj  i  = j mod N,  which is (1 - t)/N + t.
 *
 * With more agents than classes, agents i >= C would own no class and have nothing at t = 1. We
 * share a class's part t equally among the agents i = j mod C then; for N <= C this is the
 * paper's matrix. Every column sums to 1 either way.
 */
#include "data/shares.h"

#include <math.h>
#include <stdlib.h>

#define SHUFFLE_DRAWS ((uint32_t)1 << 24) /* of 8 bytes: 128 MiB of a stream's 1 GiB */
#define SHARE_DRAWS ((uint32_t)1 << 20)

void tacit_deal_stream(tacit_stream *s, const tacit_random *random, tacit_deal_draw kind,
                       uint32_t index)
{
    tacit_stream_open(s, random, TACIT_NOBODY, TACIT_FOR_SPLIT, (uint64_t)kind << 32 | index);
}

void tacit_deal_shuffle(uint32_t *item, uint32_t n, const tacit_random *random,
                        tacit_deal_draw kind)
{
    tacit_stream s = {0};
    for (uint32_t done = 0, k = n; k > 1; done++) {
        if (done % SHUFFLE_DRAWS == 0)
            tacit_deal_stream(&s, random, kind, done / SHUFFLE_DRAWS);
        uint32_t j = (uint32_t)tacit_stream_below(&s, k--);
        uint32_t swap = item[k];
        item[k] = item[j];
        item[j] = swap;
    }
    tacit_stream_clear(&s);
}

double tacit_draw_log_gamma(tacit_stream *s, double alpha)
{
    if (alpha < 1) {
        double log_u = log(1 - tacit_stream_unit(s)); /* 1 - U is in (0, 1] */
        return tacit_draw_log_gamma(s, alpha + 1) + log_u / alpha;
    }
    double d = alpha - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = tacit_stream_normal(s), v = 1 + c * x;
        double log_u = log(1 - tacit_stream_unit(s));
        if (v <= 0)
            continue;
        double log_v = 3 * log(v);
        if (log_u < 0.5 * x * x + d * (1 - v * v * v + log_v))
            return log(d) + log_v;
    }
}

void tacit_draw_dirichlet(double *share, uint32_t n, double alpha, const tacit_random *random,
                          uint32_t number)
{
    double largest = -INFINITY, sum = 0;
    tacit_stream s = {0};
    for (uint32_t k = 0; k < n; k++) {
        if (k % SHARE_DRAWS == 0)
            tacit_deal_stream(&s, random, TACIT_DRAW_DIRICHLET, number << 12 | k / SHARE_DRAWS);
        share[k] = tacit_draw_log_gamma(&s, alpha);
        largest = fmax(largest, share[k]);
    }
    tacit_stream_clear(&s);
    for (uint32_t k = 0; k < n; k++) {
        share[k] = exp(share[k] - largest);
        sum += share[k];
    }
    for (uint32_t k = 0; k < n; k++)
        share[k] /= sum;
}

/* ---- from shares to counts ---- */

typedef struct leftover {
    double left;
    uint32_t at, turn; /* turn: place among equals */
} leftover;

static int by_remainder(const void *a, const void *b)
{
    const leftover *x = a, *y = b;
    if (x->left != y->left)
        return x->left > y->left ? -1 : 1;
    return (x->turn > y->turn) - (x->turn < y->turn);
}

tacit_status tacit_round_shares(uint32_t *counts, const double *share, uint32_t n, uint32_t total,
                                uint32_t *start, tacit_error *err)
{
    leftover *rest = calloc(n, sizeof *rest);
    uint32_t left = total;
    if (!rest)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < n; k++) {
        double exact = share[k] * (double)total, whole = floor(exact);
        /* Rounded shares may sum to a hair more than 1: never give more than there is. */
        counts[k] = whole < (double)left ? (uint32_t)whole : left;
        left -= counts[k];
        rest[k] = (leftover){
            .left = exact - whole, .at = k, .turn = k >= *start ? k - *start : n - *start + k};
    }
    if (left > 0)
        qsort(rest, n, sizeof *rest, by_remainder);
    for (uint32_t k = 0; left > 0; k = k + 1 < n ? k + 1 : 0, left--) {
        counts[rest[k].at]++;
        *start = rest[k].at + 1 < n ? rest[k].at + 1 : 0;
    }
    free(rest);
    return TACIT_OK;
}

double tacit_class_share(uint32_t agent, uint32_t agents, uint32_t class, uint32_t classes,
                         double t)
{
    double equal = (1 - t) / (double)agents;
    if (agents <= classes)
        return agent == class % agents ? equal + t : equal;
    uint32_t owners = (agents - 1 - class) / classes + 1;
    return agent % classes == class ? equal + t / (double)owners : equal;
}
