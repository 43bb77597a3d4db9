/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_SUMS_TOY_H
#define TACIT_TEST_SUMS_TOY_H
/*
 * A protocol that does nothing but masked sums, and checks each of them: what an agent holds for a
 * round and a receiver is a known function, so a receiver can add it up in the open over just the
 * neighbours that tacit_sums_has names.
 */
#include "tacit/sums.h"
#include "tacit/tacit.h"

typedef struct sums_toy_options {
    tacit_sums_plan plan; /* as the caller fills it */
    uint64_t rounds;
    uint32_t refuses; /* an agent that holds nothing in odd rounds; UINT32_MAX: none */
} sums_toy_options;

typedef struct sums_toy_agent {
    uint64_t events;  /* rounds that were over */
    uint64_t last;    /* the latest of them */
    uint64_t sums;    /* with a sum, */
    uint64_t members; /* of so many neighbours in all */
    uint64_t full;    /* over all neighbours */
    uint64_t wrong;   /* that were not the plain sum */
    uint64_t holds;   /* how often it was asked for its number, */
    uint64_t twice;   /* twice for one round and receiver */
    uint64_t asked[TACIT_SUMS_MOST];
    tacit_sums *sums_at; /* where it is: not saved */
} sums_toy_agent;

extern const tacit_protocol sums_toy;
/* The number `agent` holds. */
int64_t sums_toy_number(uint64_t agent, uint64_t round, uint64_t receiver, double weight, size_t k);

#endif
