/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ledgers of a node were when they were shorter: an old copy that was spoken from has
 * another past than the one that was told, also once it is as long.
 */
#include <math.h>
#include <string.h>

#include "runtime/node/store_inside.h"

static const char accepted_as[] = "accepted as spent";

uint64_t node_store_entries(const node_store *store, uint32_t index, uint8_t head[NODE_STORE_HEAD])
{
    const store_ledger *a = &store->agents[index];
    const tacit_ledger_file *file = a->file;
    memset(head, 0, NODE_STORE_HEAD);
    /* For every frame: only this agent's ledger is looked at. Whose it is is the first link. */
    if (store->why[0] || a->broken || file->broken || file->entries.links < 2)
        return 0;
    memcpy(head, file->entries.mac, NODE_STORE_HEAD);
    return file->entries.links - 1;
}

tacit_status node_store_past(node_store *store, uint32_t index, uint64_t entries,
                             uint8_t head[NODE_STORE_HEAD], bool *accepted, tacit_error *err)
{
    const tacit_ledger_file *file = store->agents[index].file;
    sqlite3_stmt *s = NULL;
    tacit_status status = store_may_write(store, err); /* mute: files may be closed */
    if (status)
        return status;
    if (entries > INT64_MAX)
        return TACIT_NO;
    int code = sqlite3_prepare_v2(file->db, "SELECT mac,what FROM entry WHERE id=?", -1, &s, NULL);
    if (!code)
        code = sqlite3_bind_int64(s, 1, (sqlite3_int64)entries);
    if (!code)
        code = sqlite3_step(s);
    const bool found = code == SQLITE_ROW && sqlite3_column_bytes(s, 0) == TACIT_MAC_BYTES;
    if (found) {
        const char *what = (const char *)sqlite3_column_text(s, 1);
        memcpy(head, sqlite3_column_blob(s, 0), NODE_STORE_HEAD);
        *accepted = what && strcmp(what, accepted_as) == 0;
    }
    sqlite3_finalize(s);
    if (found || code == SQLITE_DONE)
        return found ? TACIT_OK : TACIT_NO;
    return tacit_store_fail(file, code, "read", err);
}

/* ---- what nobody knows ---- */

/* The costliest kind of release that a ledger knows, alone and by this budget, if it costs more
 * than *most; else `best`. */
static const tacit_cost *costliest(const store_ledger *a, const tacit_budget *budget,
                                   const tacit_cost *best, double *most)
{
    const tacit_ledger *ledger = tacit_ledger_file_ledger(a->file);
    for (uint32_t k = 0; k < ledger->count; k++) {
        tacit_ledger_entry entry = {.cost = ledger->entries[k].cost, .releases = 1};
        const tacit_ledger one = {.entries = &entry, .count = 1, .capacity = 1};
        const double epsilon = entry.cost == best ? -1 : tacit_ledger_epsilon(&one, budget);
        if (!(epsilon <= *most)) {
            *most = epsilon;
            best = entry.cost;
        }
    }
    return best;
}

/* What a release costs that the agent's ledger lacks; NULL: nobody knows. An agent that has
 * released nothing is taken for one of the node's others. Who has a smaller budget releases with
 * more noise and tells nothing about it, unless everything is charged anyway. */
static const tacit_cost *price(const node_store *store, uint32_t index, uint64_t entries)
{
    const tacit_budget *budget = &store->agents[index].holder.budget;
    double most = -1;
    const tacit_cost *best = costliest(&store->agents[index], budget, NULL, &most);
    if (best)
        return best;
    for (uint32_t i = 0; i < store->count; i++) {
        const store_ledger *other = &store->agents[i];
        if (entries == UINT64_MAX || other->holder.budget.epsilon >= budget->epsilon)
            best = costliest(other, budget, best, &most);
    }
    return best;
}

tacit_status node_store_may_accept(const node_store *store, uint64_t entries, tacit_error *err)
{
    tacit_status status = store_may_write(store, err);
    for (uint32_t i = 0; i < store->count && !status; i++) {
        const tacit_ledger_holder *holder = &store->agents[i].holder;
        if (!price(store, i, entries))
            return tacit_fail(
                err, TACIT_EINPUT,
                "agent %llu \"%.100s\" has released nothing by its ledger, so nobody knows "
                "what a release costs: nothing can be accepted as spent",
                (unsigned long long)holder->agent, holder->name);
        if (entries == UINT64_MAX && isinf(holder->budget.epsilon))
            return tacit_fail(
                err, TACIT_EINPUT,
                "agent %llu \"%.100s\" has no limit to spend: say how many releases count "
                "as spent",
                (unsigned long long)holder->agent, holder->name);
    }
    return status;
}

/* Unlike a release it is not in hand afterwards if it fails: nothing was computed. */
static tacit_status accept_one(store_ledger *a, const tacit_cost *cost, double now,
                               tacit_error *err)
{
    tacit_permit *permit;
    uint64_t id;
    tacit_status status = tacit_ledger_file_reserve(a->file, cost, now, &permit, err);
    if (!status)
        status = tacit_ledger_file_commit(a->file, permit, NULL, 0, now, &id, err);
    return status ? status : tacit_ledger_file_mark_sent(a->file, id, err);
}

tacit_status node_store_accept(node_store *store, uint32_t index, uint64_t entries, double now,
                               uint64_t *charged, tacit_error *err)
{
    store_ledger *a = &store->agents[index];
    uint8_t head[NODE_STORE_HEAD];
    *charged = 0;
    tacit_status status = node_store_may_accept(store, entries, err);
    if (status)
        return status;
    tacit_cost cost = *price(store, index, entries);
    cost.what = accepted_as;
    while (!status && node_store_entries(store, index, head) < entries) {
        status = accept_one(a, &cost, now, err);
        *charged += status == TACIT_OK;
    }
    return status == TACIT_EBUDGET ? TACIT_OK : status;
}
