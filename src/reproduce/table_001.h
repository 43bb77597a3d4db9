/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPRODUCE_TABLE_001_H
#define TACIT_REPRODUCE_TABLE_001_H
/*
 * What an adversary makes of a private sum with pair noise, by simulation: users draw noise as the
 * protocol says, some collude, some drop out and have their noise rolled back, and the audit asks
 * whether one user's number can be told from what is left.
 */
#include "reproduce/figure.h"
#include "tacit/graph.h"

typedef enum gossip_break {
    GOSSIP_SOUND,
    GOSSIP_NO_OWN,     /* nobody adds noise of its own */
    GOSSIP_HALF_OWN,   /* half of the users do not */
    GOSSIP_TENTH_PAIR, /* pair noise of a tenth */
    GOSSIP_BREAKS
} gossip_break;
extern const char *const gossip_breaks[GOSSIP_BREAKS];

typedef struct gossip {
    uint32_t users, partners, colluders, drops;
    double epsilon, delta; /* claimed */
    uint64_t trials;
    uint64_t seed;
    /* Filled in by gossip_plan: */
    tacit_graph graph;
    bool *honest; /* and there to the end */
    uint32_t survivors, victim;
    double own, pair, mu;
} gossip;

/* Draws the graph and finds the least pair noise for the claim, with own noise a quarter above what
 * the sum alone needs, and the worst user. gossip_clear in any case. */
tacit_status gossip_plan(gossip *g, tacit_error *err);
void gossip_clear(gossip *g);
/* The lower bound on epsilon that the audit shows, with confidence 0.95. */
tacit_status gossip_audit(double *shown, const gossip *g, gossip_break broken,
                          const tacit_stop *stop, tacit_error *err);

#endif
