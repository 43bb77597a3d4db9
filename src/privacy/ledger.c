/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of one agent, in memory.
 *
 * Invariants:
 *  1. Entries are only added; the one exception is handing back a permit under which
 *     nothing was computed, which undoes exactly its own charge.
 *  2. A charge is in the ledger before tacit_ledger_reserve returns a permit, so before
 *     any data is touched.
 *  3. A release's id is never given twice, not even that of a permit that came back: noise is
 *     drawn by it.
 *  4. Consecutive releases of equal cost share one entry: a million agents with a thousand
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

double tacit_ledger_epsilon(const tacit_ledger *ledger, const tacit_budget *budget)
{
    double epsilon = 0;
    /* What cannot be added up is not claimed to be small. */
    if (tacit_entries_epsilon(ledger->entries, ledger->count, NULL, 0, budget, &epsilon, NULL))
        return INFINITY;
    return epsilon;
}

uint64_t tacit_ledger_releases(const tacit_ledger *ledger)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < ledger->count; k++)
        sum += ledger->entries[k].releases;
    return sum;
}

/* The entry that a release of `cost` would add to, or NULL. */
static tacit_ledger_entry *running(const tacit_ledger *ledger, const tacit_cost *cost)
{
    tacit_ledger_entry *last = ledger->count ? &ledger->entries[ledger->count - 1] : NULL;
    return last && tacit_cost_same(last->cost, cost) ? last : NULL;
}

/* Said for every tick of agents that have spent all: what epsilon would be is not worked out. */
static tacit_status refuse(const tacit_budget *budget, const tacit_cost *cost, uint64_t most,
                           tacit_error *err)
{
    return tacit_fail(err, TACIT_EBUDGET,
                      "releasing \"%s\" more than %llu times would exceed the budget of epsilon "
                      "%.6g at delta = %g; nothing was released",
                      cost->what, (unsigned long long)most, budget->epsilon, budget->delta);
}

/* What a ledger holds beside one cost, added up by cost. */
enum { OTHERS = 8 };
typedef struct others {
    tacit_ledger_entry entry[OTHERS];
    uint32_t count;
    uint64_t have; /* releases of the cost itself */
} others;

/* False if there are too many kinds to add up here. */
static bool gather(others *o, const tacit_ledger *ledger, const tacit_cost *kept)
{
    *o = (others){0};
    for (uint32_t k = 0; k < ledger->count; k++) {
        const tacit_ledger_entry *e = &ledger->entries[k];
        uint32_t at = 0;
        while (at < o->count && o->entry[at].cost != e->cost)
            at++;
        if (e->cost == kept) {
            o->have += e->releases;
        } else if (at < o->count) {
            o->entry[at].releases += e->releases;
        } else if (e->releases > 0) {
            if (o->count == OTHERS)
                return false;
            o->entry[o->count++] = (tacit_ledger_entry){.cost = e->cost, .releases = e->releases};
        }
    }
    return true;
}

/* The same with at most an eighth more of everything: what fits after that fits after less, and
 * ledgers that differ a little ask the same question. */
static others rounded_up(const others *o, bool *exact)
{
    others up = *o;
    *exact = true;
    for (uint32_t k = 0; k < up.count; k++) {
        uint64_t n = up.entry[k].releases, unit = 1;
        while (n / unit >= 16)
            unit *= 2;
        up.entry[k].releases = (n + unit - 1) / unit * unit;
        *exact = *exact && up.entry[k].releases == n;
    }
    return up;
}

/* `most` releases of `kept` fit in all, or at least more than there are. */
static tacit_status most_in_all(const tacit_ledger *ledger, tacit_costs *costs,
                                const tacit_budget *budget, const tacit_cost *kept, uint64_t *have,
                                uint64_t *most, tacit_error *err)
{
    if (ledger->count == 1 && ledger->entries[0].cost == kept) { /* nearly always: no others */
        *have = ledger->entries[0].releases;
        return tacit_costs_most(costs, NULL, 0, kept, budget, most, err);
    }
    others o;
    if (!gather(&o, ledger, kept)) { /* entry by entry then */
        const tacit_ledger_entry *last = running(ledger, kept);
        *have = last ? last->releases : 0;
        return tacit_costs_most(costs, ledger->entries, ledger->count - (last != NULL), kept,
                                budget, most, err);
    }
    *have = o.have;
    bool exact;
    const others up = rounded_up(&o, &exact);
    tacit_status status = tacit_costs_most(costs, up.entry, up.count, kept, budget, most, err);
    if (status != TACIT_OK || o.have < *most || exact)
        return status;
    return tacit_costs_most(costs, o.entry, o.count, kept, budget, most, err);
}

/* Before anything is computed from data. `kept` is the kept copy of the cost. */
static tacit_status check_budget(const tacit_ledger *ledger, tacit_costs *costs,
                                 const tacit_budget *budget, const tacit_cost *kept,
                                 tacit_error *err)
{
    if (isinf(budget->epsilon) && budget->epsilon > 0)
        return TACIT_OK;
    if (kept->mechanism == TACIT_MECHANISM_NONE)
        return tacit_fail(err, TACIT_EBUDGET,
                          "releasing \"%s\" with mechanism \"%s\" has no finite epsilon, but the "
                          "budget is \"privacy.epsilon\" %g; for noise that keeps to it set "
                          "\"privacy.mechanism\" (gaussian or laplace), \"privacy.clip\" (the norm "
                          "to which each record's gradient is clipped) and \"privacy.releases\" "
                          "(how often each agent will speak of its records)",
                          kept->what, tacit_mechanism_name(kept->mechanism), budget->epsilon);
    if (tacit_costs_vouched(costs, ledger, kept, budget))
        return TACIT_OK;
    uint64_t have = 0, most = 0;
    tacit_status status = most_in_all(ledger, costs, budget, kept, &have, &most, err);
    if (status != TACIT_OK)
        return status;
    return have < most ? TACIT_OK : refuse(budget, kept, most, err);
}

tacit_status tacit_ledger_reserve(tacit_ledger *ledger, tacit_costs *costs,
                                  const tacit_budget *budget, const tacit_cost *cost, double now,
                                  tacit_permit *permit, tacit_error *err)
{
    tacit_ledger_entry *last = running(ledger, cost);
    tacit_status status = last ? TACIT_OK : tacit_cost_check(cost, err);
    if (status != TACIT_OK)
        return status;
    const tacit_cost *kept = last ? last->cost : tacit_costs_keep(costs, cost);
    const tacit_noise *noise = NULL;
    if (!kept || (!last && ledger->count == ledger->capacity && !grow(ledger)))
        return tacit_out_of_memory(err);
    status = check_budget(ledger, costs, budget, kept, err);
    if (status == TACIT_OK)
        status = tacit_costs_noise(costs, kept, &noise, err);
    if (status != TACIT_OK)
        return status;
    *permit = (tacit_permit){.cost = *kept,
                             .state = TACIT_PERMIT_RESERVED,
                             .id = ledger->next++,
                             .noise = noise,
                             .before = last ? last->last : now};
    if (last) {
        last->releases++;
        last->last = now;
    } else {
        ledger->entries[ledger->count++] = (tacit_ledger_entry){kept, now, now, 1};
    }
    return TACIT_OK;
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
            entry->last = permit->before;
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
