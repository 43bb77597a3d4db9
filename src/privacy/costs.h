/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_COSTS_H
#define TACIT_PRIVACY_COSTS_H
#include "tacit/noise.h"
#include "tacit/privacy.h"

/* plan.c: refuses a cost that no kernel could keep to. */
tacit_status tacit_cost_check(const tacit_cost *cost, tacit_error *err);
bool tacit_cost_same(const tacit_cost *a, const tacit_cost *b);
/* The kept copy of a cost; NULL when memory ran out. From any thread. */
const tacit_cost *tacit_costs_keep(tacit_costs *costs, const tacit_cost *cost);
/* What draws the noise of a kept cost, prepared once; NULL in `*noise` if it needs none. */
tacit_status tacit_costs_noise(tacit_costs *costs, const tacit_cost *cost,
                               const tacit_noise **noise, tacit_error *err);
/* How many releases of the kept `cost` fit into `budget` after those of `before`: budget.c. */
tacit_status tacit_costs_most(tacit_costs *costs, const tacit_ledger_entry *before, uint32_t count,
                              const tacit_cost *cost, const tacit_budget *budget, uint64_t *most,
                              tacit_error *err);
/* Epsilon of entries as they are, plus `more` releases of `cost` (NULL: none). */
tacit_status tacit_entries_epsilon(const tacit_ledger_entry *entries, uint32_t count,
                                   const tacit_cost *cost, uint64_t more,
                                   const tacit_budget *budget, double *epsilon, tacit_error *err);
/* Answers of tacit_costs_most that were worked out before; opaque. */
typedef struct tacit_answers tacit_answers;
tacit_answers *tacit_answers_create(void);
void tacit_answers_free(tacit_answers *answers);
tacit_answers *tacit_costs_answers(tacit_costs *costs);
/* Schedules that are known to fit: vouch.c. */
typedef struct tacit_vouches tacit_vouches;
tacit_vouches *tacit_vouches_create(void);
void tacit_vouches_free(tacit_vouches *vouches);
tacit_vouches *tacit_costs_vouches(tacit_costs *costs);
/* Whether `ledger` and one more release, of the kept cost `next`, are part of such a schedule. */
bool tacit_costs_vouched(tacit_costs *costs, const tacit_ledger *ledger, const tacit_cost *next,
                         const tacit_budget *budget);
/* ledger.c: room for `entries` in all, for who restores a ledger; false without memory. */
bool tacit_ledger_room(tacit_ledger *ledger, uint64_t entries);

#endif
