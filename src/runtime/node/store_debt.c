/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the disk takes no more: silence, and debts.
 *
 * A release that could not be written has been computed, and lives on in the agent's memory. It
 * must be charged before the agent says anything that may depend on it. What is owed is kept where
 * it cannot be lost while the process lives: as permits in hand of the ledger's file, or, once
 * that is shut, in a list here. (When the process dies, the values die with it: mute stores keep no
 * states.)
 *
 * Reviving shuts such a ledger and opens it again, which verifies it. Nobody knows what became of
 * the last transaction, so each debt is looked up by the id of its permit: what is on the disk is
 * paid. The rest is reserved anew and committed without bytes. Should that fail, the new permit is
 * in hand and the debt is owed under its id.
 *
 * The lock on the ledger is kept meanwhile: nobody comes in between.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "runtime/node/store_inside.h"

/* ---- mute ---- */

static bool is_broken(const store_ledger *a)
{
    return a->broken || a->file->broken;
}

const char *node_store_mute(const node_store *store)
{
    if (store->why[0])
        return store->why;
    for (uint32_t i = 0; i < store->count; i++)
        if (is_broken(&store->agents[i])) /* by reserving, which we do not see */
            return "a ledger could not be written; is there room on the disk?";
    return NULL;
}

bool node_store_silent(const node_store *store, uint32_t index)
{
    return store->agents[index].barred;
}

tacit_status store_fall_mute(node_store *store, tacit_status status, const tacit_error *why,
                             tacit_error *err)
{
    if (!store->why[0])
        memcpy(store->why, why->text[0] ? why->text : "out of memory",
               why->text[0] ? sizeof why->text : sizeof "out of memory");
    if (err)
        *err = *why;
    return status;
}

tacit_status store_may_write(const node_store *store, tacit_error *err)
{
    const char *why = node_store_mute(store);
    return why ? tacit_fail(err, TACIT_EINPUT, "nothing is written before that is over: %.500s",
                            why)
               : TACIT_OK;
}

void store_owe(store_ledger *a, tacit_permit *const *permits, size_t count)
{
    for (size_t k = 0; k < count; k++)
        permits[k]->state = TACIT_PERMIT_SPENT;
    a->broken = true;
}

/* ---- debts ---- */

/* Permits in hand become debts: the file is about to be closed. */
static tacit_status collect(store_ledger *a, tacit_error *err)
{
    size_t more = 0;
    for (const tacit_permit_node *n = a->file->permits; n; n = n->next)
        more += n->permit.state != TACIT_PERMIT_RESERVED;
    if (more == 0)
        return TACIT_OK;
    store_debt *all =
        tacit_array_grow(a->debts, &a->debt_capacity, a->debt_count + more, sizeof *all);
    if (!all)
        return tacit_out_of_memory(err);
    a->debts = all;
    for (const tacit_permit_node *n = a->file->permits; n; n = n->next) {
        if (n->permit.state == TACIT_PERMIT_RESERVED)
            continue;
        store_debt *d = &all[a->debt_count++];
        *d = (store_debt){.cost = n->permit.cost, .id = n->permit.id};
        memcpy(d->what, n->permit.cost.what, strnlen(n->permit.cost.what, TACIT_WHAT_MAX));
        d->cost.what = NULL; /* the file's */
    }
    return TACIT_OK;
}

/* An entry that is on the disk is no debt. */
static tacit_status strike(void *context, const tacit_ledger_record *record, tacit_error *err)
{
    (void)err;
    store_ledger *a = context;
    for (size_t k = 0; k < a->debt_count; k++)
        if (a->debts[k].id == record->release) {
            a->debts[k] = a->debts[--a->debt_count];
            break;
        }
    return TACIT_OK;
}

static tacit_status pay_one(store_ledger *a, double now, tacit_error *err)
{
    const store_debt *d = &a->debts[a->debt_count - 1];
    tacit_cost cost = d->cost;
    tacit_permit *permit;
    uint64_t id;
    cost.what = d->what;
    tacit_status status = tacit_ledger_file_reserve(a->file, &cost, now, &permit, err);
    if (status)
        return status;
    permit->state = TACIT_PERMIT_SPENT; /* in hand from here on, whatever comes */
    a->debt_count--;
    status = tacit_ledger_file_commit(a->file, permit, NULL, 0, now, &id, err);
    return status ? status : tacit_ledger_file_mark_sent(a->file, id, err);
}

static tacit_status pay(store_ledger *a, double now, tacit_error *err)
{
    tacit_status status =
        a->debt_count > 0 ? tacit_ledger_file_each(a->file, strike, a, err) : TACIT_OK;
    while (!status && a->debt_count > 0)
        status = pay_one(a, now, err);
    if (status == TACIT_EBUDGET) {
        a->barred = true;
        a->debt_count = 0;
    }
    return status;
}

/* ---- reviving ---- */

/* The database goes; its lock stays, and the sum of what was spent, to be looked at meanwhile. */
static tacit_status shut(store_ledger *a, tacit_error *err)
{
    tacit_status status = collect(a, err);
    if (status)
        return status;
    tacit_store_close(a->file, false);
    memset(a->file->statement, 0, sizeof a->file->statement);
    a->file->broken = true;
    return TACIT_OK;
}

/* Under the lock of the shut one, which is gone if this succeeds. */
static tacit_status reopen(store_ledger *a, tacit_error *err)
{
    tacit_key key;
    tacit_ledger_file *file = NULL;
    char *name = tacit_path_with(a->path, ".key");
    if (!name)
        return tacit_out_of_memory(err);
    tacit_status status = tacit_key_read(&key, name, err);
    free(name);
    if (!status)
        status = tacit_ledger_open_under(&file, a->path, &key, &a->holder, a->file->lock, err);
    tacit_key_wipe(&key);
    if (status)
        return status;
    a->file->lock = -1; /* the new one's */
    tacit_ledger_file_let_go(a->file, false);
    a->file = file;
    return TACIT_OK;
}

static tacit_status revive_ledger(store_ledger *a, double now, tacit_error *err)
{
    tacit_status status = a->file->db ? shut(a, err) : TACIT_OK;
    if (!status)
        status = reopen(a, err);
    if (!status)
        status = pay(a, now, err);
    if (status && status != TACIT_EBUDGET)
        return status;
    const tacit_status found = store_find_told(a, err);
    if (found)
        return found;
    a->broken = false;
    return status;
}

static tacit_status revive_db(node_store *store, tacit_error *err)
{
    const store_head mine = store->head;
    bool fresh;
    store_db_close(store);
    tacit_status status = store_db_open(store, false, &fresh, err);
    if (!status && fresh) {
        store_db_close(store);
        status = tacit_fail(err, TACIT_EVERIFY, "\"%.300s\" was emptied; start the node again",
                            store->path);
    }
    const bool older = !status && store->head.incarnation < mine.incarnation;
    if (older)
        store->head.incarnation = mine.incarnation;
    if (older)
        status = store_db_write_head(store, err);
    store->head.incarnation = mine.incarnation;
    store->db_broken = status != TACIT_OK;
    return status;
}

tacit_status node_store_revive(node_store *store, double now, tacit_error *err)
{
    tacit_error why = {0}, refused = {0};
    tacit_status status = TACIT_OK, budget = TACIT_OK;
    if (!node_store_mute(store))
        return TACIT_OK;
    if (store->within) /* a checkpoint that was under way is no more */
        (void)store_db_end(store, TACIT_NO, NULL);
    store->within = false;
    for (uint32_t i = 0; i < store->count && !status; i++) {
        store_ledger *a = &store->agents[i];
        if (!is_broken(a))
            continue;
        status = revive_ledger(a, now, &why);
        if (status == TACIT_EBUDGET) {
            budget = status;
            refused = why;
            status = TACIT_OK;
        }
    }
    if (!status && store->db_broken)
        status = revive_db(store, &why);
    store->why[0] = '\0';
    if (status)
        return store_fall_mute(store, status, &why, err);
    if (budget && err)
        *err = refused;
    return budget;
}
