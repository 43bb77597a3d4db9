/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.jsonl: one line an entry, agent by agent. Beyond MOST_AGENTS that file would outgrow
 * everything else, so equal entries (same cost, same number of releases) of different agents
 * share a line, which says how many there are, who is the first, and the earliest and latest
 * times among them. What each agent spent can still be read off exactly; when, only for all.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "experiment/run.h"

#define MOST_AGENTS 10000

/* Entries that look alike. */
typedef struct group {
    tacit_ledger_entry entry; /* of the first agent; times widened to all */
    uint32_t agent;           /* the first */
    uint32_t agents;
} group;

typedef struct groups {
    group *all; /* in order of first appearance */
    size_t count, capacity;
    uint32_t *slot; /* index + 1 into `all`; 0 is free */
    size_t slots;   /* a power of two, at least twice `count` */
} groups;

static void line(tacit_writer *out, const tacit_session *s, const group *g, bool shared)
{
    const tacit_budget budget = tacit_session_budget(s);
    tacit_ledger_entry entry = g->entry;
    const tacit_cost *cost = entry.cost;
    const tacit_ledger alone = {.entries = &entry, .count = 1, .capacity = 1};
    const double epsilon = tacit_ledger_epsilon(&alone, &budget);
    const bool noisy = cost->mechanism != TACIT_MECHANISM_NONE;
    char number[TACIT_NUMBER_MAX];
    tacit_json json = {.out = out, .compact = true};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_count(&json, "agent", g->agent);
    if (shared)
        tacit_json_count(&json, "agents", g->agents);
    else
        tacit_json_text(&json, "name", tacit_dataset_name(s->source.data, g->agent, number));
    tacit_json_text(&json, "what", cost->what);
    tacit_json_text(&json, "mechanism", tacit_mechanism_name(cost->mechanism));
    tacit_json_text(&json, "adversary", tacit_trust_name(budget.trust));
    tacit_json_text(&json, "unit", tacit_unit_name(cost->unit));
    tacit_json_text(&json, "adjacency", tacit_adjacency_name(cost->adjacency));
    tacit_json_real(&json, "sensitivity", noisy ? cost->sensitivity : NAN);
    tacit_json_real(&json, "noise", noisy ? cost->noise : NAN);
    tacit_json_count(&json, "releases", entry.releases);
    tacit_json_real(&json, "first", entry.first);
    tacit_json_real(&json, "last", entry.last);
    tacit_json_real(&json, "epsilon", epsilon);
    tacit_json_bool(&json, "unbounded", isinf(epsilon));
    tacit_json_end(&json, '}');
}

/* ---- grouping: costs are kept once a run, so that equal ones are equal pointers ---- */

static uint64_t hash_of(const tacit_ledger_entry *entry)
{
    uint64_t x = (uint64_t)(uintptr_t)entry->cost ^ entry->releases * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

/* The slot of `entry`'s group, or the free one where it belongs. */
static size_t slot_of(const groups *g, const tacit_ledger_entry *entry)
{
    size_t at = hash_of(entry) & (g->slots - 1);
    for (; g->slot[at]; at = (at + 1) & (g->slots - 1)) {
        const tacit_ledger_entry *e = &g->all[g->slot[at] - 1].entry;
        if (e->cost == entry->cost && e->releases == entry->releases)
            break;
    }
    return at;
}

static bool make_room(groups *g)
{
    group *all = tacit_array_grow(g->all, &g->capacity, g->count + 1, sizeof *all);
    if (!all)
        return false;
    g->all = all;
    if (2 * (g->count + 1) <= g->slots)
        return true;
    size_t slots = g->slots ? g->slots * 2 : 64;
    uint32_t *slot = calloc(slots, sizeof *slot);
    if (!slot)
        return false;
    free(g->slot);
    g->slot = slot;
    g->slots = slots;
    for (size_t k = 0; k < g->count; k++)
        g->slot[slot_of(g, &g->all[k].entry)] = (uint32_t)k + 1;
    return true;
}

static bool count_entry(groups *g, uint32_t agent, const tacit_ledger_entry *entry)
{
    if (!make_room(g))
        return false;
    size_t at = slot_of(g, entry);
    if (!g->slot[at]) {
        g->all[g->count++] = (group){*entry, agent, 1};
        g->slot[at] = (uint32_t)g->count;
        return true;
    }
    group *found = &g->all[g->slot[at] - 1];
    found->agents++;
    found->entry.first = fmin(found->entry.first, entry->first);
    found->entry.last = fmax(found->entry.last, entry->last);
    return true;
}

static tacit_status group_all(groups *g, const tacit_session *s, tacit_error *err)
{
    for (uint32_t i = 0; i < s->graph.agents; i++) {
        const tacit_ledger *ledger = s->runtime->ops->agent_ledger(s->runtime, i);
        for (uint32_t k = 0; ledger && k < ledger->count; k++)
            if (!count_entry(g, i, &ledger->entries[k]))
                return tacit_out_of_memory(err);
    }
    return TACIT_OK;
}

static tacit_status write_groups(tacit_outfile *file, const tacit_session *s, tacit_error *err)
{
    groups g = {0};
    tacit_status status = group_all(&g, s, err);
    for (size_t k = 0; k < g.count && !status; k++) {
        line(&file->text, s, &g.all[k], true);
        status = tacit_outfile_flush(file, err);
    }
    free(g.all);
    free(g.slot);
    return status;
}

static tacit_status write_each(tacit_outfile *file, const tacit_session *s, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (uint32_t i = 0; i < s->graph.agents && !status; i++) {
        const tacit_ledger *ledger = s->runtime->ops->agent_ledger(s->runtime, i);
        for (uint32_t k = 0; ledger && k < ledger->count; k++)
            line(&file->text, s, &(group){ledger->entries[k], i, 1}, false);
        status = tacit_outfile_flush(file, err);
    }
    return status;
}

tacit_status tacit_run_stage_ledgers(tacit_run *r, tacit_error *err)
{
    const tacit_session *s = r->session;
    tacit_outfile file;
    tacit_status status = tacit_outfile_open(&file, &r->folder, "ledger.jsonl", err);
    if (status)
        return status;
    status =
        s->graph.agents > MOST_AGENTS ? write_groups(&file, s, err) : write_each(&file, s, err);
    if (!status)
        return tacit_outfile_stage(&file, err);
    tacit_outfile_drop(&file);
    return status;
}
