/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who adds up in which try: a permutation of the agents that everybody can compute in both
 * directions without a table, from the run's name and the try's number. A Feistel network over the
 * next even number of bits; what falls outside is sent through again (it comes back inside in fewer
 * than four goes on average). It need not be unpredictable, only different from try to try: nobody
 * is trusted for the place it has.
 */
#include "protocol/totals_inside.h"

#define FEISTEL 4

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

totals_roles totals_roles_of(const tacit_totals_plan *plan, const uint8_t run[TACIT_RUN_ID],
                             uint64_t trial)
{
    totals_roles roles = {.agents = plan->agents, .blocks = plan->blocks};
    uint64_t half[2];
    memcpy(half, run, sizeof half);
    roles.key = mix(half[0] + mix(half[1] + mix(trial + UINT64_C(0x9e3779b97f4a7c15))));
    while (roles.half < 31 && UINT64_C(1) << 2 * roles.half < plan->agents)
        roles.half++;
    return roles;
}

static uint64_t scrambled(const totals_roles *r, uint64_t half, uint64_t turn)
{
    return mix(half + r->key + turn * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - r->half);
}

static uint64_t forwards(const totals_roles *r, uint64_t x)
{
    const uint64_t mask = (UINT64_C(1) << r->half) - 1;
    uint64_t left = x >> r->half, right = x & mask;
    for (uint64_t turn = 1; turn <= FEISTEL; turn++) {
        const uint64_t next = left ^ scrambled(r, right, turn);
        left = right;
        right = next;
    }
    return left << r->half | right;
}

static uint64_t backwards(const totals_roles *r, uint64_t x)
{
    const uint64_t mask = (UINT64_C(1) << r->half) - 1;
    uint64_t left = x >> r->half, right = x & mask;
    for (uint64_t turn = FEISTEL; turn >= 1; turn--) {
        const uint64_t before = right ^ scrambled(r, left, turn);
        right = left;
        left = before;
    }
    return left << r->half | right;
}

uint64_t totals_position(const totals_roles *roles, tacit_agent agent)
{
    uint64_t x = agent;
    do
        x = forwards(roles, x);
    while (x >= roles->agents);
    return x;
}

tacit_agent totals_agent_at(const totals_roles *roles, uint64_t position)
{
    uint64_t x = position;
    do
        x = backwards(roles, x);
    while (x >= roles->agents);
    return (tacit_agent)x;
}

uint32_t totals_block_size(const totals_roles *roles, uint32_t block)
{
    return (uint32_t)((roles->agents - block - 1) / roles->blocks + 1);
}
