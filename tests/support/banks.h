/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_BANKS_H
#define TACIT_TEST_BANKS_H
/*
 * A learner and three owners of uneven size that tests know completely: records in plain arrays,
 * with the fitness and its gradient written here from the definitions. Agent 0 is the learner.
 */
#include "problem.h"
#include "testing.h"

enum { BANKS = 4, BANK_FEATURES = 4, BANK_RECORDS = 40 };

typedef struct banks {
    int loss; /* 0 logistic, 1 squared */
    double lambda;
    uint32_t m[BANKS];
    double x[BANKS][BANK_RECORDS][BANK_FEATURES];
    double y[BANKS][BANK_RECORDS];
    tacit_dataset *data;
    tacit_graph graph;
    tacit_model *model;
    double options[64]; /* of the protocol */
    tacit_world world;
} banks;

/* A world without noise; "key=value" settings of the protocol, separated by blanks. */
void banks_init(banks *b, int loss, const char *settings);
void banks_set(banks *b, const char *settings);
void banks_clear(banks *b);
/* The mean gradient of the loss over agent i's records, without regulariser. */
void banks_gradient(const banks *b, uint32_t i, const double *theta, double *out);
/* f of paper 002, equation 2, over owners `first` to the last; and its minimiser. */
double banks_fitness(const banks *b, uint32_t first, const double *theta);
void banks_optimum(const banks *b, uint32_t first, double *theta);
void banks_model(const tacit_runtime *rt, uint32_t agent, double *theta);
double banks_apart(const double *a, const double *b);

#endif
