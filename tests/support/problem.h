/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_PROBLEM_H
#define TACIT_TEST_PROBLEM_H
/*
 * Small problems that tests know completely: records, labels and weights in plain arrays of
 * doubles, with an objective, a gradient and a solver written here from the definitions,
 * sharing no code with the library.
 */
#include "tacit/tacit.h"

enum { PROBLEM_AGENTS = 12, PROBLEM_FEATURES = 4, PROBLEM_RECORDS = 9 };

typedef struct problem {
    uint32_t n;
    int loss; /* 0 logistic, 1 squared */
    uint32_t m[PROBLEM_AGENTS];
    double x[PROBLEM_AGENTS][PROBLEM_RECORDS][PROBLEM_FEATURES];
    double y[PROBLEM_AGENTS][PROBLEM_RECORDS];
    double w[PROBLEM_AGENTS][PROBLEM_AGENTS];
    /* the same, as the library wants it */
    tacit_dataset *data;
    tacit_graph graph;
    tacit_model *model;
} problem;

typedef double models[PROBLEM_AGENTS][PROBLEM_FEATURES];

/* A connected random graph with uneven weights; records 1 to PROBLEM_RECORDS an agent. */
void problem_init(problem *q, uint64_t seed, int loss, tacit_scalar scalar);
/* Build data, graph and model from the arrays (after a test has changed them). */
void problem_build(problem *q, tacit_scalar scalar);
void problem_clear(problem *q);

double problem_degree(const problem *q, uint32_t i);
double problem_confidence(const problem *q, uint32_t i); /* m_i / max m */
double problem_lambda(const problem *q, uint32_t i);
double problem_local_loss(const problem *q, uint32_t i, const double *theta);
/* Q of equation 2. */
double problem_objective(const problem *q, double mu, models theta);
/* The minimiser of Q, by Newton on all models at once. */
void problem_solve(const problem *q, double mu, models theta);
/* The minimiser of one agent's local loss. */
void problem_solve_local(const problem *q, uint32_t i, double *theta);
/* Upper bound of agent i's smoothness constant, by power iteration with a margin of 1e-6. */
double problem_smoothness(const problem *q, uint32_t i);

/* A simulator for `protocol` on this problem; options are the protocol's defaults, changed
 * by "key=value" strings up to NULL. Fails the test on error. */
tacit_runtime *problem_run(const problem *q, const char *protocol, double time, uint64_t seed, ...);
void problem_models(const problem *q, const tacit_runtime *rt, models theta);

/* A world with defaults: zero latency, no loss, always online, no privacy, one thread. */
tacit_world world_defaults(const tacit_graph *graph, const tacit_protocol *protocol);
tacit_runtime *world_create(const tacit_runtime_ops *ops, const tacit_world *world);
void world_run(tacit_runtime *rt, double time);

#endif
