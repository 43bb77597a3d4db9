/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_ADMM_H
#define TACIT_ADMM_H
/* What an agent of `admm` remembers; in a header so that tests can look at both ends of an
 * edge. */
#include "tacit/protocol.h"

enum { ADMM_GREETING = 1, ADMM_ASK = 2, ADMM_ANSWER = 3 };

/* Of an edge's two quantities, the one about the agent itself and the one about the other end.
 * My own is the other's copy. */
enum { ADMM_OWN, ADMM_COPY, ADMM_SIDES };

typedef struct admm_edge {
    uint64_t version;             /* how often Z and Lambda of this edge were updated */
    tacit_public *z[ADMM_SIDES];  /* Z_e^i and Z_e^j */
    tacit_public *u[ADMM_SIDES];  /* Lambda_ei^i / rho and Lambda_ei^j / rho */
    const tacit_public *asked;    /* said and not answered yet: it is said again as it was */
    const tacit_public *answered; /* what the last update used, if the other end asked for it */
} admm_edge;

typedef struct admm_agent {
    double smooth;                /* smoothness of the unregularised local loss */
    uint64_t draws;               /* names the next random draw */
    tacit_public *theta;          /* theta_i^i; NULL without neighbours */
    const tacit_secret *solitary; /* the model of an agent without neighbours */
    admm_edge edge[];
} admm_agent;

#endif
