/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_COSTS_H
#define TACIT_PRIVACY_COSTS_H
#include "tacit/privacy.h"

bool tacit_cost_same(const tacit_cost *a, const tacit_cost *b);
/* The kept copy of a cost; NULL when memory ran out. From any thread. */
const tacit_cost *tacit_costs_keep(tacit_costs *costs, const tacit_cost *cost);
/* ledger.c: room for `entries` in all, for who restores a ledger; false without memory. */
bool tacit_ledger_room(tacit_ledger *ledger, uint64_t entries);

#endif
