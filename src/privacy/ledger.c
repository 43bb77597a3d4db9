/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of one agent, in memory.
 *
 * Invariants:
 *  1. Entries are only added; the one exception is handing back a permit under which
 *     nothing was computed, which undoes exactly its own charge.
 *  2. A charge is in the ledger before tacit_ledger_reserve returns a permit, so before
 *     any data is touched.
 *  3. Consecutive releases of equal cost share one entry: a million agents with a thousand
 *     ticks each need a few entries an agent, of 32 bytes, since costs are kept elsewhere.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/costs.h"
#include "privacy/release.h"

void tacit_ledger_clear(tacit_ledger *ledger)
{
    if (!ledger->lent)
        free(ledger->entries);
    *ledger = (tacit_ledger){0};
}

void tacit_ledger_lend(tacit_ledger *ledger, tacit_ledger_entry *room, uint32_t capacity)
{
    tacit_ledger_clear(ledger);
    *ledger = (tacit_ledger){.entries = room, .capacity = capacity & 0x7fffffff, .lent = 1};
}

/* Memory of its own for so many. */
static bool move_to(tacit_ledger *ledger, uint32_t capacity)
{
    tacit_ledger_entry *old = ledger->lent ? NULL : ledger->entries;
    tacit_ledger_entry *entries = realloc(old, capacity * sizeof *entries);
    if (!entries)
        return false;
    if (ledger->lent)
        memcpy(entries, ledger->entries, ledger->count * sizeof *entries);
    ledger->entries = entries;
    ledger->capacity = capacity & 0x7fffffff;
    ledger->lent = 0;
    return true;
}

bool tacit_ledger_room(tacit_ledger *ledger, uint64_t entries)
{
    return entries <= ledger->capacity ||
           (entries <= INT32_MAX && move_to(ledger, (uint32_t)entries));
}

static bool grow(tacit_ledger *ledger)
{
    return tacit_ledger_room(ledger, ledger->capacity ? 2 * (uint64_t)ledger->capacity : 2);
}

/* Epsilon of one release. A bare release has no finite epsilon. */
static double release_epsilon(const tacit_cost *cost)
{
    (void)cost; /* TACIT_MECHANISM_NONE is the only one there is */
    return INFINITY;
}

double tacit_ledger_epsilon(const tacit_ledger *ledger, const tacit_budget *budget)
{
    (void)budget;
    double sum = 0;
    for (uint32_t k = 0; k < ledger->count; k++)
        if (ledger->entries[k].releases > 0)
            sum += (double)ledger->entries[k].releases * release_epsilon(ledger->entries[k].cost);
    return sum;
}

uint64_t tacit_ledger_releases(const tacit_ledger *ledger)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < ledger->count; k++)
        sum += ledger->entries[k].releases;
    return sum;
}

static tacit_status append(tacit_ledger *ledger, tacit_costs *costs, const tacit_cost *cost,
                           double now, tacit_error *err)
{
    if (ledger->count > 0) {
        tacit_ledger_entry *last = &ledger->entries[ledger->count - 1];
        if (tacit_cost_same(last->cost, cost)) {
            last->releases++;
            last->last = now;
            return TACIT_OK;
        }
    }
    const tacit_cost *kept = tacit_costs_keep(costs, cost);
    if (!kept || (ledger->count == ledger->capacity && !grow(ledger)))
        return tacit_out_of_memory(err);
    ledger->entries[ledger->count++] = (tacit_ledger_entry){kept, now, now, 1};
    return TACIT_OK;
}

tacit_status tacit_ledger_reserve(tacit_ledger *ledger, tacit_costs *costs,
                                  const tacit_budget *budget, const tacit_cost *cost, double now,
                                  tacit_permit *permit, tacit_error *err)
{
    double after = tacit_ledger_epsilon(ledger, budget) + release_epsilon(cost);
    if (after > budget->epsilon)
        return tacit_fail(err, TACIT_EBUDGET,
                          "releasing \"%s\" with mechanism \"%s\" has no finite epsilon, but the "
                          "budget is epsilon = %g; set \"privacy.epsilon: inf\" to release bare "
                          "values all the same",
                          cost->what, tacit_mechanism_name(cost->mechanism), budget->epsilon);
    tacit_status status = append(ledger, costs, cost, now, err);
    if (status == TACIT_OK)
        *permit = (tacit_permit){*cost, TACIT_PERMIT_RESERVED};
    return status;
}

tacit_status tacit_ledger_give_back(tacit_ledger *ledger, tacit_permit *permit, tacit_error *err)
{
    if (permit->state != TACIT_PERMIT_RESERVED)
        return tacit_fail(err, TACIT_EUSAGE,
                          "a permit for \"%s\" cannot be handed back: data was touched under it",
                          permit->cost.what);
    for (uint32_t k = ledger->count; k-- > 0;) {
        tacit_ledger_entry *entry = &ledger->entries[k];
        if (entry->releases > 0 && tacit_cost_same(entry->cost, &permit->cost)) {
            if (--entry->releases == 0 && k + 1 == ledger->count)
                ledger->count--;
            break;
        }
    }
    permit->state = TACIT_PERMIT_SPENT;
    return TACIT_OK;
}

size_t tacit_permit_size(void)
{
    return sizeof(tacit_permit);
}
