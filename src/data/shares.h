/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_SHARES_H
#define TACIT_DATA_SHARES_H
/* Random and fixed shares of a whole, and the way from shares to counts that add up. */
#include "tacit/random.h"

/* Streams of a partition: (seed, TACIT_NOBODY, TACIT_FOR_SPLIT, kind << 32 | index). Nobody
 * draws them but the one who deals, so they meet no agent's own split. */
typedef enum tacit_deal_draw {
    TACIT_DRAW_ROWS,      /* the shuffle of records, 2^24 draws a stream */
    TACIT_DRAW_SHARDS,    /* the shuffle of shards, likewise */
    TACIT_DRAW_DIRICHLET, /* index = number << 12 | share / 2^20 */
    TACIT_DRAW_PUBLIC,    /* ratings: the shuffle whose first users are public */
    TACIT_DRAW_SLICE,     /* tables: the shuffle before public records are told */
} tacit_deal_draw;
void tacit_deal_stream(tacit_stream *s, const tacit_random *random, tacit_deal_draw kind,
                       uint32_t index);

/* Fisher-Yates. */
void tacit_deal_shuffle(uint32_t *item, uint32_t n, const tacit_random *random,
                        tacit_deal_draw kind);

/* The logarithm of a draw of Gamma(alpha, 1), alpha > 0. */
double tacit_draw_log_gamma(tacit_stream *s, double alpha);

/* n shares that sum to 1: a draw of Dirichlet(alpha, ..., alpha). `number` (below 2^20) names
 * the draw; another number gives an independent one. */
void tacit_draw_dirichlet(double *share, uint32_t n, double alpha, const tacit_random *random,
                          uint32_t number);

/* counts[k] = total * share[k], rounded down or up so that they sum to `total`: what is left
 * after rounding down goes to the largest remainders, among equals to the first from *start on,
 * around the end. *start moves behind the last of them, so that a row of calls favours nobody. */
tacit_status tacit_round_shares(uint32_t *counts, const double *share, uint32_t n, uint32_t total,
                                uint32_t *start, tacit_error *err);

/* a_ij of paper 004, equation 8, for any number of agents and classes: the share of class j
 * that agent i gets. */
double tacit_class_share(uint32_t agent, uint32_t agents, uint32_t class, uint32_t classes,
                         double t);

#endif
