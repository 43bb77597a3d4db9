/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_SHELF_H
#define TACIT_DATA_SHELF_H
/*
 * Rows of the next few agents, fetched from a table that lies in a file. An agent's rows are all
 * over the table, and a page fetched for each would be gone before its next row is wanted; so the
 * table is read from front to back, once for every so many agents.
 */
#include "data/table.h"

typedef struct tacit_shelf {
    const tacit_table *table;
    const uint32_t *owner; /* of each row */
    const uint64_t *first; /* of each agent, when rows are sorted by agent; one more at the end */
    uint32_t agents;
    unsigned char *bytes; /* NULL: the table is in memory */
    uint64_t room;        /* rows */
    uint64_t *next;       /* of each agent: where its next row goes */
    uint32_t begin, end;  /* agents whose rows are there */
} tacit_shelf;

/* A table in memory needs none, and then nothing is ever fetched. */
tacit_status tacit_shelf_claim(tacit_shelf *shelf, const tacit_table *table, const uint32_t *owner,
                               const uint64_t *first, uint32_t agents, tacit_error *err);
/* Before an agent's rows are read: fetch them, and those of the agents behind it that fit. */
void tacit_shelf_fetch(tacit_shelf *shelf, uint32_t agent);
/* Row `at`, counted as in `first`, which is the agent's; NULL: read it from the table. */
const void *tacit_shelf_row(const tacit_shelf *shelf, uint32_t agent, uint64_t at);
void tacit_shelf_clear(tacit_shelf *shelf); /* {0} is fine */

#endif
