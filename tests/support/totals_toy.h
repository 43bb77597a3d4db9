/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_TOTALS_TOY_H
#define TACIT_TEST_TOTALS_TOY_H
/*
 * A protocol that does nothing but sums over all agents, and checks each of them: what an agent
 * holds is a known function, and what it gives openly beside it names it, so whoever hears a total
 * can add up in the open over just those who are in it.
 */
#include "tacit/tacit.h"
#include "tacit/totals.h"

typedef struct totals_toy_options {
    tacit_totals_plan plan; /* as the caller fills it; beside = agents is filled in here */
    uint64_t rounds;
    uint32_t silent; /* an agent that never gives; UINT32_MAX: none */
    uint32_t liar;   /* one that gives nonsense */
} totals_toy_options;

typedef struct totals_toy_agent {
    uint64_t events; /* rounds that were over */
    uint64_t last;   /* the latest of them */
    uint64_t heard, refused, lost, spoiled;
    uint64_t members; /* of all sums heard together */
    uint64_t least;   /* members of the smallest */
    uint64_t in;      /* sums it was in itself */
    uint64_t wrong;   /* that were not the plain sum */
    uint64_t holds;   /* how often it was asked for its number */
    uint64_t expelled;
    tacit_totals *totals; /* where it is: not saved */
} totals_toy_agent;

extern const tacit_protocol totals_toy;
int64_t totals_toy_number(uint64_t agent, uint64_t round, size_t k);

#endif
