/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_LEDGER_GROUPS_H
#define TACIT_EXPERIMENT_LEDGER_GROUPS_H
/*
 * Agents that released the same, together: for every cost equally often, in whatever order. Costs
 * are kept once a run, so that equal ones are equal pointers.
 */
#include "tacit/privacy.h"

/* The costs of a run, numbered in order of appearance. */
typedef struct tacit_kind {
    const tacit_cost *cost;
    double each; /* epsilon of one release by itself; NAN: not asked yet */
} tacit_kind;

typedef struct tacit_kinds {
    tacit_kind *all;
    size_t count, capacity;
    uint32_t *slot; /* index + 1 into `all`; 0 is free */
    size_t slots;   /* a power of two, at least twice `count` */
} tacit_kinds;

/* The number of a cost; UINT32_MAX when memory ran out. */
uint32_t tacit_kinds_find(tacit_kinds *kinds, const tacit_cost *cost);
void tacit_kinds_clear(tacit_kinds *kinds);

/* What a group's agents released of one kind; times are the earliest and latest of all. */
typedef struct tacit_group_part {
    uint32_t kind;
    uint64_t releases;
    double first, last;
} tacit_group_part;

typedef struct tacit_group {
    uint32_t agent, agents; /* the first, and how many */
    size_t at, count;       /* of `part`, by kind */
} tacit_group;

typedef struct tacit_groups {
    tacit_kinds kinds;
    tacit_group *all; /* in order of first appearance */
    size_t count, capacity;
    tacit_group_part *part;
    size_t parts, part_capacity;
    uint32_t *slot; /* as above */
    size_t slots;
    tacit_group_part *row; /* of the agent at hand */
    size_t row_capacity;
} tacit_groups;

/* False when memory ran out. An agent that released nothing is in no group. */
bool tacit_groups_add(tacit_groups *groups, uint32_t agent, const tacit_ledger *ledger);
void tacit_groups_clear(tacit_groups *groups);

#endif
