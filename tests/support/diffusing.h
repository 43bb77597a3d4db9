/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_DIFFUSING_H
#define TACIT_TEST_DIFFUSING_H
/*
 * The recursions of paper 003 (eq. 21-26) as plain loops over dense matrices of doubles: nothing
 * of the library but what a test hands over. The protocol `diffusion` is compared with them.
 */
#include "testing.h"

enum { DIFFUSING_AGENTS = 30, DIFFUSING_RECORDS = 100, DIFFUSING_FEATURES = 4 };
enum { DIFFUSING_NONE, DIFFUSING_INDEPENDENT, DIFFUSING_HOMOMORPHIC };

typedef double diffusing_matrix[DIFFUSING_AGENTS][DIFFUSING_AGENTS]; /* [m][p] is a_mp */
typedef double diffusing_models[DIFFUSING_AGENTS][DIFFUSING_FEATURES];

typedef struct diffusing {
    uint32_t agents, records;
    size_t features;
    double x[DIFFUSING_AGENTS][DIFFUSING_RECORDS][DIFFUSING_FEATURES];
    double y[DIFFUSING_AGENTS][DIFFUSING_RECORDS];
    double lambda, step, sigma;
    int noise;
    const diffusing_matrix *mix[3]; /* A0, A1, A2; NULL: the identity */
    dice dice;
    diffusing_models w; /* where the run stands */
} diffusing;

/* The task of section IV-A: features N(0, variance I), one w* for all, N(0, 1), noise of labels of
 * a variance between 0.01 and 0.1 that differs by agent. */
void diffusing_task(diffusing *d, uint32_t agents, uint32_t records, double variance,
                    uint64_t seed);
/* Metropolis weights of a graph. */
void diffusing_metropolis(const tacit_graph *graph, diffusing_matrix a);
/* One iteration; agent p takes record pick[p], or all of them (NULL). */
void diffusing_step(diffusing *d, const uint32_t *pick);
/* argmin of sum_p q_p J_p; q NULL: the plain mean. */
void diffusing_optimum(const diffusing *d, const double *q, double *w);
/* Squared distances to `optimum`: of the centroid by q, and of the models on average. */
void diffusing_distance(const diffusing *d, const double *q, const double *optimum,
                        double *centroid, double *mean);

#endif
