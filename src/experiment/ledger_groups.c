/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/ledger_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Twice as many slots if need be, all free; false without memory. */
static bool widen(uint32_t **slot, size_t *slots, size_t count, bool *fresh)
{
    *fresh = 2 * (count + 1) > *slots;
    if (!*fresh)
        return true;
    const size_t more = *slots ? *slots * 2 : 64;
    uint32_t *grown = calloc(more, sizeof *grown);
    if (!grown)
        return false;
    free(*slot);
    *slot = grown;
    *slots = more;
    return true;
}

/* ---- kinds ---- */

static size_t kind_slot(const tacit_kinds *k, const tacit_cost *cost)
{
    size_t at = mix(0, (uintptr_t)cost) & (k->slots - 1);
    while (k->slot[at] && k->all[k->slot[at] - 1].cost != cost)
        at = (at + 1) & (k->slots - 1);
    return at;
}

uint32_t tacit_kinds_find(tacit_kinds *k, const tacit_cost *cost)
{
    bool fresh;
    tacit_kind *all = tacit_array_grow(k->all, &k->capacity, k->count + 1, sizeof *all);
    if (!all)
        return UINT32_MAX;
    k->all = all;
    if (!widen(&k->slot, &k->slots, k->count, &fresh))
        return UINT32_MAX;
    for (size_t i = 0; fresh && i < k->count; i++)
        k->slot[kind_slot(k, k->all[i].cost)] = (uint32_t)i + 1;
    const size_t at = kind_slot(k, cost);
    if (!k->slot[at]) {
        k->all[k->count++] = (tacit_kind){cost, NAN};
        k->slot[at] = (uint32_t)k->count;
    }
    return k->slot[at] - 1;
}

void tacit_kinds_clear(tacit_kinds *kinds)
{
    free(kinds->all);
    free(kinds->slot);
    *kinds = (tacit_kinds){0};
}

/* ---- groups ---- */

static int by_kind(const void *left, const void *right)
{
    const tacit_group_part *a = left, *b = right;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* The ledger as one part a kind, in groups->row; their number, or SIZE_MAX without memory. */
static size_t sum_up(tacit_groups *g, const tacit_ledger *ledger)
{
    size_t n = 0, kept = 0;
    tacit_group_part *row =
        tacit_array_grow(g->row, &g->row_capacity, (size_t)ledger->count + 1, sizeof *row);
    if (!row)
        return SIZE_MAX;
    g->row = row;
    for (uint32_t k = 0; k < ledger->count; k++) {
        const tacit_ledger_entry *e = &ledger->entries[k];
        if (e->releases == 0)
            continue; /* handed back */
        const uint32_t kind = tacit_kinds_find(&g->kinds, e->cost);
        if (kind == UINT32_MAX)
            return SIZE_MAX;
        row[n++] = (tacit_group_part){kind, e->releases, e->first, e->last};
    }
    if (n > 1)
        qsort(row, n, sizeof *row, by_kind);
    for (size_t k = 0; k < n; k++) {
        if (kept == 0 || row[kept - 1].kind != row[k].kind) {
            row[kept++] = row[k];
            continue;
        }
        row[kept - 1].releases += row[k].releases;
        row[kept - 1].first = fmin(row[kept - 1].first, row[k].first);
        row[kept - 1].last = fmax(row[kept - 1].last, row[k].last);
    }
    return kept;
}

static bool same(const tacit_group_part *a, const tacit_group_part *b, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (a[k].kind != b[k].kind || a[k].releases != b[k].releases)
            return false;
    return true;
}

static size_t group_slot(const tacit_groups *g, const tacit_group_part *row, size_t count)
{
    uint64_t hash = count;
    for (size_t k = 0; k < count; k++)
        hash = mix(mix(hash, row[k].kind), row[k].releases);
    size_t at = hash & (g->slots - 1);
    for (; g->slot[at]; at = (at + 1) & (g->slots - 1)) {
        const tacit_group *found = &g->all[g->slot[at] - 1];
        if (found->count == count && same(&g->part[found->at], row, count))
            break;
    }
    return at;
}

static bool make_room(tacit_groups *g, size_t parts)
{
    bool fresh;
    tacit_group *all = tacit_array_grow(g->all, &g->capacity, g->count + 1, sizeof *all);
    if (all)
        g->all = all;
    tacit_group_part *part =
        tacit_array_grow(g->part, &g->part_capacity, g->parts + parts, sizeof *part);
    if (part)
        g->part = part;
    if (!all || !part || !widen(&g->slot, &g->slots, g->count, &fresh))
        return false;
    for (size_t i = 0; fresh && i < g->count; i++)
        g->slot[group_slot(g, &g->part[g->all[i].at], g->all[i].count)] = (uint32_t)i + 1;
    return true;
}

bool tacit_groups_add(tacit_groups *g, uint32_t agent, const tacit_ledger *ledger)
{
    const size_t n = sum_up(g, ledger);
    if (n == 0)
        return true;
    if (n == SIZE_MAX || !make_room(g, n))
        return false;
    const size_t at = group_slot(g, g->row, n);
    if (!g->slot[at]) {
        memcpy(&g->part[g->parts], g->row, n * sizeof *g->row);
        g->all[g->count++] = (tacit_group){agent, 1, g->parts, n};
        g->parts += n;
        g->slot[at] = (uint32_t)g->count;
        return true;
    }
    tacit_group *found = &g->all[g->slot[at] - 1];
    found->agents++;
    for (size_t k = 0; k < n; k++) {
        tacit_group_part *part = &g->part[found->at + k];
        part->first = fmin(part->first, g->row[k].first);
        part->last = fmax(part->last, g->row[k].last);
    }
    return true;
}

void tacit_groups_clear(tacit_groups *g)
{
    tacit_kinds_clear(&g->kinds);
    free(g->all);
    free(g->part);
    free(g->slot);
    free(g->row);
    *g = (tacit_groups){0};
}
