/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_GRAPH_PAIR_SET_H
#define TACIT_GRAPH_PAIR_SET_H
/* A set of unordered pairs of agents: 12 bytes for each pair it has room for. */
#include "tacit/base.h"

typedef struct tacit_pair_set {
    uint64_t *slot; /* smaller << 32 | larger; 0 is free, as 0-0 is no pair */
    size_t slots;
} tacit_pair_set;

tacit_status tacit_pair_set_init(tacit_pair_set *set, size_t room, tacit_error *err);
void tacit_pair_set_clear(tacit_pair_set *set);
bool tacit_pair_set_has(const tacit_pair_set *set, uint32_t a, uint32_t b);
/* false if it was there already, or a == b. At most `room` pairs at a time. */
bool tacit_pair_set_add(tacit_pair_set *set, uint32_t a, uint32_t b);
/* It must be there. */
void tacit_pair_set_remove(tacit_pair_set *set, uint32_t a, uint32_t b);

#endif
