/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_FITNESS_H
#define TACIT_EXPERIMENT_FITNESS_H
/*
 * Relative fitness psi(theta) = f(theta)/f(theta*) - 1 (paper 002): f is the regularised mean loss
 * over the training records of all agents, theta* its minimiser. Only a simulation can know it.
 */
#include "tacit/experiment.h"

typedef struct tacit_fitness {
    tacit_session *session; /* borrowed */
    tacit_secret *scratch;  /* for models that nobody keeps */
    double least;           /* f(theta*) */
} tacit_fitness;

/* Finds theta*: TACIT_EINPUT where f(theta*) is 0 and nothing can be relative to it. */
tacit_status tacit_fitness_open(tacit_fitness *fitness, tacit_session *session, tacit_error *err);
void tacit_fitness_close(tacit_fitness *fitness);

/* psi of the agent's model as it is now (zero before it has one). Never below 0: what rounding
 * leaves there is cut. */
double tacit_fitness_now(const tacit_fitness *fitness, uint32_t agent);
/* psi of the minimiser over this agent's records alone. */
tacit_status tacit_fitness_alone(const tacit_fitness *fitness, uint32_t agent, double *psi,
                                 tacit_error *err);

#endif
