/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ledger with its key beside it, and what can be asked of it.
 *
 * The key gets its name, PATH.key, only once the ledger is complete; until then it is called
 * PATH.key.new. So a crash while both are made can be told from a ledger that somebody removed:
 *
 *   PATH.key  PATH      it is opened
 *   PATH.key  none      the ledger is gone: refused, for a new one would start at zero
 *   .key.new  PATH      making it was interrupted before anything could be told: it is finished
 *   .key.new  none      the same, sooner (so is a PATH with nothing in it): begun again with a new
 *                       key, for this one may be half-written, and has sealed nothing
 *   none      PATH      the key is gone: refused
 *   none      none      both are made
 *
 * All of it under PATH.lock, so that nobody takes for interrupted what another is about to finish.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "privacy/ledger_store.h"
#include "tacit/account.h"
#include "tacit/ledger.h"

typedef struct names {
    const char *ledger;
    char *key, *fresh;
} names;

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static tacit_status finish(const names *n, tacit_error *err)
{
    if (rename(n->fresh, n->key) != 0 || !tacit_sync_folder_of(n->key))
        return tacit_fail(err, TACIT_EINPUT, "cannot name the key file \"%.300s\": %s", n->key,
                          strerror(errno));
    return TACIT_OK;
}

static tacit_status make_both(const names *n, const tacit_keyed *of, tacit_error *err)
{
    tacit_key key;
    tacit_status status;
    if (tacit_ledger_file_is_unborn(n->ledger))
        tacit_ledger_file_remove(n->ledger);
    if (is_there(n->ledger)) {
        status = tacit_key_read(&key, n->fresh, err);
        if (!status)
            status = of->open(of->context, &key, err);
    } else {
        unlink(n->fresh);
        status = tacit_key_create(&key, n->fresh, err);
        if (!status)
            status = of->create(of->context, &key, err);
    }
    tacit_key_wipe(&key);
    return status;
}

static tacit_status open_both(const names *n, const tacit_keyed *of, tacit_error *err)
{
    tacit_key key;
    if (!is_there(n->ledger))
        return tacit_fail(
            err, TACIT_EVERIFY,
            "the ledger \"%.200s\" is gone, but its key \"%.200s\" is there; bring it "
            "back, for a new one would forget what was spent",
            n->ledger, n->key);
    tacit_status status = tacit_key_read(&key, n->key, err);
    if (!status)
        status = of->open(of->context, &key, err);
    tacit_key_wipe(&key);
    return status;
}

static tacit_status open_or_make(const names *n, const tacit_keyed *of, tacit_error *err)
{
    if (is_there(n->key))
        return open_both(n, of, err);
    if (is_there(n->ledger) && !is_there(n->fresh))
        return tacit_fail(err, TACIT_EVERIFY,
                          "the key \"%.200s\" of the ledger \"%.200s\" is gone, so nothing in it "
                          "can be verified; bring it back",
                          n->key, n->ledger);
    tacit_status status = make_both(n, of, err);
    return status ? status : finish(n, err);
}

tacit_status tacit_keyed_at(const char *path, const tacit_keyed *of, tacit_error *err)
{
    names n = {path, tacit_path_with(path, ".key"), tacit_path_with(path, ".key.new")};
    tacit_status status = n.key && n.fresh ? open_or_make(&n, of, err) : tacit_out_of_memory(err);
    free(n.key);
    free(n.fresh);
    return status;
}

/* ---- a run's ledger ---- */

typedef struct making {
    tacit_ledger_file **out;
    const char *path;
    const tacit_ledger_holder *holder;
    int lock;
} making;

static tacit_status open_ledger(void *context, const tacit_key *key, tacit_error *err)
{
    const making *m = context;
    return tacit_ledger_open_under(m->out, m->path, key, m->holder, m->lock, err);
}

static tacit_status create_ledger(void *context, const tacit_key *key, tacit_error *err)
{
    const making *m = context;
    return tacit_ledger_create_under(m->out, m->path, key, m->holder, m->lock, err);
}

tacit_status tacit_ledger_file_at(tacit_ledger_file **out, const char *path,
                                  const tacit_ledger_holder *holder, tacit_error *err)
{
    making m = {out, path, holder, -1};
    *out = NULL;
    tacit_status status = tacit_ledger_lock(path, false, &m.lock, err);
    if (status)
        return status;
    status = tacit_keyed_at(path, &(tacit_keyed){open_ledger, create_ledger, &m}, err);
    if (status && *out)
        tacit_ledger_file_let_go(*out, true); /* and of the lock */
    else if (status)
        tacit_ledger_unlock(m.lock);
    if (status)
        *out = NULL;
    return status;
}

/* ---- questions ---- */

const tacit_ledger_holder *tacit_ledger_file_holder(const tacit_ledger_file *file)
{
    return &file->holder;
}

const tacit_ledger *tacit_ledger_file_ledger(const tacit_ledger_file *file)
{
    return &file->ledger;
}

tacit_status tacit_ledger_file_epsilon(const tacit_ledger_file *file, tacit_accountant by,
                                       double delta, double *epsilon, tacit_error *err)
{
    const tacit_ledger *ledger = &file->ledger;
    size_t n = 0;
    *epsilon = NAN;
    if (!(delta >= 0 && delta <= 1))
        return tacit_fail(err, TACIT_EINPUT, "delta is %g; expected a number from 0 to 1", delta);
    tacit_loss *loss = calloc((size_t)ledger->count + 1, sizeof *loss);
    if (!loss)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < ledger->count; k++)
        if (ledger->entries[k].releases > 0)
            tacit_cost_loss(ledger->entries[k].cost, ledger->entries[k].releases, &loss[n++]);
    *epsilon = 0;
    tacit_status status = TACIT_OK;
    if (n > 0)
        status = tacit_account_epsilon(by, loss, n, delta, epsilon, err);
    free(loss);
    return status;
}

tacit_status tacit_ledger_file_each(tacit_ledger_file *file, tacit_ledger_visit *visit,
                                    void *context, tacit_error *err)
{
    sqlite3_stmt *s = file->statement[TACIT_SQL_ENTRIES];
    tacit_status status = TACIT_OK;
    tacit_row row;
    int code;
    while (!status && (code = sqlite3_step(s)) == SQLITE_ROW) {
        if (!tacit_row_read(&row, s)) {
            status =
                tacit_fail(err, TACIT_EVERIFY, "entry %llu of the ledger \"%.300s\" was edited",
                           (unsigned long long)row.entry, file->path);
            break;
        }
        const tacit_ledger_record record = {.entry = row.entry,
                                            .release = row.release,
                                            .reserved = row.reserved,
                                            .committed = row.committed,
                                            .forfeited = row.forfeited,
                                            .cost = &row.cost,
                                            .bytes = row.bytes};
        status = visit(context, &record, err);
    }
    if (!status && code != SQLITE_DONE)
        status = tacit_store_fail(file, code, "read", err);
    sqlite3_reset(s);
    return status;
}
