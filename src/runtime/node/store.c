/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's folder, opened and closed, and its checkpoints.
 *
 * Why nothing is forgotten that was told, whatever happens to whichever file:
 *  1. What was told is in the ledgers (store_release.c). A ledger that is gone, damaged or older
 *     than what node.db knows is refused: node.db remembers which release was the last when a
 *     state was kept.
 *  2. A node.db that is gone is made anew, and nothing is lost but time (store_db.c).
 *  3. While mute nothing is written, so that no state on the disk has seen what nobody paid for
 *     (store_debt.c).
 *
 * Ledgers are made before node.db is filled: a crash in between leaves a node.db that is empty,
 * and the next opening goes on. Afterwards a missing ledger is a lost one.
 */
#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/node/store_inside.h"

/* No larger incarnation: room for four billion lives after whatever a peer remembers. */
#define INCARNATION_MOST ((uint64_t)INT64_MAX - UINT32_MAX)

/* ---- opening ---- */

static tacit_status make_folder(const char *folder, tacit_error *err)
{
    struct stat info;
    if (mkdir(folder, 0700) == 0) {
        if (tacit_sync_folder_of(folder))
            return TACIT_OK;
    } else if (errno == EEXIST && stat(folder, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return TACIT_OK;
        errno = ENOTDIR;
    }
    return tacit_fail(err, TACIT_EINPUT, "cannot make the node's folder \"%.300s\": %s", folder,
                      strerror(errno));
}

static tacit_status lock_folder(node_store *store, const char *folder, tacit_error *err)
{
    char *name = tacit_path_with(store->path, ".lock");
    if (!name)
        return tacit_out_of_memory(err);
    store->lock = tacit_lock_take(name, true);
    const int number = errno;
    free(name);
    if (store->lock >= 0)
        return TACIT_OK;
    if (number == EWOULDBLOCK)
        return tacit_fail(err, TACIT_EINPUT,
                          "the folder \"%.300s\" is in use by another node; a folder has one user "
                          "at a time",
                          folder);
    return tacit_fail(err, TACIT_EINPUT, "cannot lock the folder \"%.200s\" by \"%.200s.lock\": %s",
                      folder, store->path, strerror(number));
}

static tacit_status fill_agent(store_ledger *a, const char *folder, const node_store_agent *plan,
                               tacit_error *err)
{
    const size_t len = strlen(plan->name);
    if (len >= sizeof a->holder.name)
        return tacit_fail(err, TACIT_EINPUT, "the name \"%.60s\"... of agent %llu is too long",
                          plan->name, (unsigned long long)plan->agent);
    a->holder.agent = plan->agent;
    a->holder.budget = plan->budget;
    memcpy(a->holder.name, plan->name, len + 1);
    char name[48];
    snprintf(name, sizeof name, "/agent-%llu.ledger", (unsigned long long)plan->agent);
    a->path = tacit_path_with(folder, name);
    return a->path ? TACIT_OK : tacit_out_of_memory(err);
}

/* A ledger that is gone with its key must not come back empty; node.db knows that it was there. */
static tacit_status open_ledger(store_ledger *a, bool fresh, tacit_error *err)
{
    char *key = tacit_path_with(a->path, ".key");
    if (!key)
        return tacit_out_of_memory(err);
    const bool gone = access(a->path, F_OK) != 0 && access(key, F_OK) != 0;
    free(key);
    if (gone && !fresh)
        return tacit_fail(err, TACIT_EVERIFY,
                          "the ledger \"%.300s\" is gone, and its key; bring both back, for a new "
                          "one would forget what was spent",
                          a->path);
    tacit_status status = tacit_ledger_file_at(&a->file, a->path, &a->holder, err);
    return status ? status : store_find_told(a, err);
}

/* What was kept says what had been told by then. */
static tacit_status check_not_older(node_store *store, uint32_t index, tacit_error *err)
{
    const store_ledger *a = &store->agents[index];
    uint64_t after = 0;
    tacit_status status = store_db_get_state(store, index, &after, NULL, NULL, err);
    if (status || after <= a->told)
        return status;
    return tacit_fail(
        err, TACIT_EVERIFY,
        "the ledger \"%.250s\" ends with release %llu, but \"node.db\" beside it knows "
        "release %llu: the ledger is an older copy, which has forgotten what was "
        "spent; bring back the newest",
        a->path, (unsigned long long)a->told, (unsigned long long)after);
}

/* A new life begins. */
static tacit_status be_born(node_store *store, bool fresh, tacit_error *err)
{
    node_moment now;
    store->clock(store->clock_ctx, &now);
    const uint64_t before = fresh ? 0 : store->head.incarnation;
    const uint64_t wall = store_wall_incarnation(&now);
    if (before >= INT64_MAX)
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" has no larger incarnation left",
                          store->path);
    store->is_new = fresh;
    if (fresh)
        store->head = (store_head){.at = now};
    store->away = store_between(&store->head.at, &now);
    store->before = store->head.elapsed;
    store->head.incarnation = before + 1 > wall ? before + 1 : wall;
    if (fresh)
        return store_db_fill(store, err);
    tacit_status status = store_db_begin(store, err);
    return status ? status : store_db_end(store, store_db_write_head(store, err), err);
}

static tacit_status open_in(node_store *store, const node_store_plan *plan, tacit_error *err)
{
    bool fresh = false;
    tacit_status status = make_folder(plan->folder, err);
    if (!status)
        status = lock_folder(store, plan->folder, err);
    for (uint32_t i = 0; i < store->count && !status; i++)
        status = fill_agent(&store->agents[i], plan->folder, &plan->agents[i], err);
    if (!status)
        status = store_key_find(store, err);
    if (!status)
        status = store_db_open(store, true, &fresh, err);
    for (uint32_t i = 0; i < store->count && !status; i++)
        status = open_ledger(&store->agents[i], fresh, err);
    for (uint32_t i = 0; i < store->count && !status && !fresh; i++)
        status = check_not_older(store, i, err);
    return status ? status : be_born(store, fresh, err);
}

static void store_free(node_store *store)
{
    store_db_close(store);
    for (uint32_t i = 0; store->agents && i < store->count; i++) {
        store_ledger *a = &store->agents[i];
        free(a->path);
        free(a->debts);
    }
    tacit_ledger_unlock(store->lock);
    if (store->blob)
        sodium_memzero(store->blob, store->blob_capacity);
    free(store->blob);
    free(store->sealed);
    store_key_wipe(store);
    free(store->agents);
    free(store->path);
    free(store);
}

tacit_status node_store_open_by(node_store **out, const node_store_plan *plan, node_clock *clock,
                                void *clock_ctx, tacit_error *err)
{
    *out = NULL;
    node_store *store = calloc(1, sizeof *store);
    if (!store)
        return tacit_out_of_memory(err);
    store->lock = -1;
    store->clock = clock;
    store->clock_ctx = clock_ctx;
    store->count = plan->count;
    store->state_max = plan->state_max;
    memcpy(store->run, plan->run, sizeof store->run);
    memcpy(store->identity, plan->identity, sizeof store->identity);
    store->path = tacit_path_with(plan->folder, "/node.db");
    store->agents = calloc((size_t)plan->count + 1, sizeof *store->agents);
    tacit_status status =
        store->path && store->agents ? open_in(store, plan, err) : tacit_out_of_memory(err);
    if (status) {
        for (uint32_t i = 0; store->agents && i < store->count; i++)
            (void)tacit_ledger_file_close(store->agents[i].file, 0, NULL);
        store_free(store);
        return status;
    }
    *out = store;
    return TACIT_OK;
}

tacit_status node_store_open(node_store **out, const node_store_plan *plan, tacit_error *err)
{
    return node_store_open_by(out, plan, store_clock, NULL, err);
}

tacit_status node_store_close(node_store *store, double now, tacit_error *err)
{
    if (!store)
        return TACIT_OK;
    tacit_error why = {0};
    if (store->within)
        (void)store_db_end(store, TACIT_NO, NULL);
    tacit_status status = node_store_revive(store, now, err);
    for (uint32_t i = 0; i < store->count; i++) {
        const tacit_status closed = tacit_ledger_file_close(store->agents[i].file, now, &why);
        if (closed && !status) {
            status = closed;
            if (err)
                *err = why;
        }
    }
    store_free(store);
    return status;
}

bool node_store_is_new(const node_store *store)
{
    return store->is_new;
}

/* ---- incarnations ---- */

uint64_t node_store_incarnation(const node_store *store)
{
    return store->head.incarnation;
}

tacit_status node_store_rise(node_store *store, uint64_t above, tacit_error *err)
{
    tacit_error why = {0};
    if (above < store->head.incarnation)
        return TACIT_OK;
    if (above >= INCARNATION_MOST)
        return tacit_fail(err, TACIT_EINPUT, "nothing can rise above incarnation %llu",
                          (unsigned long long)above);
    tacit_status status = store_may_write(store, err);
    if (status)
        return status;
    const uint64_t before = store->head.incarnation;
    store->head.incarnation = above + 1;
    status = store_db_write_head(store, &why);
    if (!status)
        return TACIT_OK;
    store->head.incarnation = before;
    store->db_broken = true;
    return store_fall_mute(store, status, &why, err);
}

/* ---- checkpoints ---- */

tacit_status node_store_begin(node_store *store, double elapsed, tacit_error *err)
{
    tacit_error why = {0};
    if (store->within || !isfinite(elapsed))
        return tacit_fail(err, TACIT_EUSAGE, "a checkpoint begins once, at a time");
    tacit_status status = store_may_write(store, err);
    if (status)
        return status;
    status = store_db_begin(store, &why);
    if (status) {
        store->db_broken = true;
        return store_fall_mute(store, status, &why, err);
    }
    store->within = true;
    store->next_elapsed = elapsed;
    return TACIT_OK;
}

/* Nothing of a checkpoint stays if part of it cannot. */
static tacit_status give_up(node_store *store, tacit_status status, const tacit_error *why,
                            tacit_error *err)
{
    (void)store_db_end(store, status, NULL);
    store->within = false;
    store->db_broken = true;
    return store_fall_mute(store, status, why, err);
}

static tacit_status check_within(const node_store *store, tacit_error *err)
{
    if (!store->within)
        return tacit_fail(err, TACIT_EUSAGE, "no checkpoint has begun");
    return store_may_write(store, err);
}

tacit_status node_store_put(node_store *store, uint32_t index, const void *state, size_t len,
                            tacit_error *err)
{
    tacit_error why = {0};
    tacit_status status = check_within(store, err);
    const bool barred = store->agents[index].barred; /* its state has seen what nobody paid for */
    if (status || (barred && !store->last))
        return status;
    const void *bytes = state && !barred ? state : "";
    if (barred) /* what is there needs the key, which will be gone */
        len = 0;
    status = store_seal(store, &bytes, &len, &why);
    if (!status)
        status = store_db_write_state(store, STORE_SET_STATE, index, bytes, len, &why);
    return status ? give_up(store, status, &why, err) : TACIT_OK;
}

tacit_status node_store_end(node_store *store, tacit_error *err)
{
    tacit_error why = {0};
    tacit_status status = check_within(store, err);
    if (status) {
        if (store->within)
            (void)store_db_end(store, status, NULL);
        store->within = false;
        return status;
    }
    const store_head before = store->head;
    store->head.elapsed = store->next_elapsed;
    store->clock(store->clock_ctx, &store->head.at);
    status = store_db_write_head(store, &why);
    if (!status) {
        store->within = false;
        status = store_db_end(store, TACIT_OK, &why);
        if (!status)
            return TACIT_OK;
    }
    store->head = before;
    return give_up(store, status, &why, err);
}
