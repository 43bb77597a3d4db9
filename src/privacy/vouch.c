/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules that are known to fit a budget. A ledger whose releases all cost differently would ask
 * an accountant anew at each of them, with a longer list every time. But who follows a schedule
 * whose whole is within the budget is within it at every step, since fewer releases tell no more
 * than all of them. So the whole is put to the accountant once, and a ledger that is a part of it,
 * in its order, need only be compared.
 *
 * Nobody is believed: what the accountant does not confirm is not kept.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/costs.h"

#define BUCKETS 1024

typedef struct step {
    const tacit_cost *cost; /* kept */
    uint64_t releases;
} step;

typedef struct vouch {
    struct vouch *next;
    tacit_budget budget;
    size_t count;
    step step[];
} vouch;

struct tacit_vouches {
    pthread_mutex_t lock;
    vouch *bucket[BUCKETS];
};

tacit_vouches *tacit_vouches_create(void)
{
    tacit_vouches *vouches = calloc(1, sizeof *vouches);
    if (vouches && pthread_mutex_init(&vouches->lock, NULL) != 0) {
        free(vouches);
        return NULL;
    }
    return vouches;
}

void tacit_vouches_free(tacit_vouches *vouches)
{
    if (!vouches)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        for (vouch *v = vouches->bucket[i], *next; v; v = next) {
            next = v->next;
            free(v);
        }
    pthread_mutex_destroy(&vouches->lock);
    free(vouches);
}

static size_t bucket_of(double epsilon)
{
    uint64_t bits;
    memcpy(&bits, &epsilon, sizeof bits);
    return (bits * UINT64_C(0x9e3779b97f4a7c15)) >> 54;
}

static bool same_budget(const tacit_budget *a, const tacit_budget *b)
{
    return a->epsilon == b->epsilon && a->delta == b->delta && a->accountant == b->accountant;
}

/* ---- adding ---- */

static bool same_steps(const vouch *a, const vouch *b)
{
    if (a->count != b->count || !same_budget(&a->budget, &b->budget))
        return false;
    for (size_t k = 0; k < a->count; k++)
        if (a->step[k].cost != b->step[k].cost || a->step[k].releases != b->step[k].releases)
            return false;
    return true;
}

/* Runs that share their costs come with the same schedule again and again. */
static const vouch *find_same(const vouch *v, const vouch *among)
{
    while (among && !same_steps(v, among))
        among = among->next;
    return among;
}

static tacit_status confirm(const vouch *v, tacit_error *err)
{
    tacit_ledger_entry *entry = calloc(v->count, sizeof *entry);
    double epsilon = 0;
    if (!entry)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < v->count; k++)
        entry[k] = (tacit_ledger_entry){.cost = v->step[k].cost, .releases = v->step[k].releases};
    tacit_status status =
        tacit_entries_epsilon(entry, (uint32_t)v->count, NULL, 0, &v->budget, &epsilon, err);
    free(entry);
    if (status == TACIT_OK && !(epsilon <= v->budget.epsilon))
        return tacit_fail(err, TACIT_EBUDGET,
                          "the planned releases cost epsilon %.9g at delta %g, more than the "
                          "budget of %.9g",
                          epsilon, v->budget.delta, v->budget.epsilon);
    return status;
}

static tacit_status add(tacit_vouches *vouches, vouch *v, tacit_error *err)
{
    const size_t at = bucket_of(v->budget.epsilon);
    pthread_mutex_lock(&vouches->lock);
    const bool known = find_same(v, vouches->bucket[at]) != NULL;
    pthread_mutex_unlock(&vouches->lock);
    tacit_status status = known ? TACIT_OK : confirm(v, err);
    if (known || status != TACIT_OK) {
        free(v);
        return status;
    }
    pthread_mutex_lock(&vouches->lock);
    v->next = vouches->bucket[at];
    vouches->bucket[at] = v;
    pthread_mutex_unlock(&vouches->lock);
    return TACIT_OK;
}

tacit_status tacit_costs_vouch(tacit_costs *costs, const tacit_budget *budget,
                               const tacit_cost *list, size_t count, tacit_error *err)
{
    size_t bytes;
    vouch *v = NULL;
    if (count == 0)
        return TACIT_OK;
    if (count > INT32_MAX || !tacit_mul_size(count, sizeof v->step[0], &bytes) ||
        !tacit_add_size(bytes, sizeof *v, &bytes) || !(v = malloc(bytes)))
        return tacit_out_of_memory(err);
    *v = (vouch){.budget = *budget};
    for (size_t k = 0; k < count; k++) {
        tacit_status status = tacit_cost_check(&list[k], err);
        const tacit_cost *kept = status == TACIT_OK ? tacit_costs_keep(costs, &list[k]) : NULL;
        if (!kept) {
            free(v);
            return status == TACIT_OK ? tacit_out_of_memory(err) : status;
        }
        if (v->count > 0 && v->step[v->count - 1].cost == kept)
            v->step[v->count - 1].releases++;
        else
            v->step[v->count++] = (step){kept, 1};
    }
    return add(tacit_costs_vouches(costs), v, err);
}

/* ---- asking ---- */

/* Are `releases` of `cost` still to come from step *at on? Moves there. */
static bool still_to_come(const vouch *v, size_t *at, const tacit_cost *cost, uint64_t releases)
{
    while (*at < v->count && v->step[*at].cost != cost)
        ++*at;
    return *at < v->count && releases <= v->step[*at].releases;
}

static bool follows(const tacit_ledger *ledger, const vouch *v, const tacit_cost *next)
{
    size_t at = 0;
    uint64_t last = 0; /* releases at step `at` */
    for (uint32_t k = 0; k < ledger->count; k++) {
        const tacit_ledger_entry *e = &ledger->entries[k];
        const bool goes_on = at < v->count && v->step[at].cost == e->cost;
        last = (goes_on ? last : 0) + e->releases;
        if (!still_to_come(v, &at, e->cost, last))
            return false;
    }
    const bool goes_on = at < v->count && v->step[at].cost == next;
    return still_to_come(v, &at, next, (goes_on ? last : 0) + 1);
}

bool tacit_costs_vouched(tacit_costs *costs, const tacit_ledger *ledger, const tacit_cost *next,
                         const tacit_budget *budget)
{
    tacit_vouches *vouches = tacit_costs_vouches(costs);
    pthread_mutex_lock(&vouches->lock); /* only against adding: what is found never changes */
    const vouch *v = vouches->bucket[bucket_of(budget->epsilon)];
    pthread_mutex_unlock(&vouches->lock);
    while (v && !(same_budget(&v->budget, budget) && follows(ledger, v, next)))
        v = v->next;
    return v != NULL;
}
