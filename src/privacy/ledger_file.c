/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of one agent that survives: reserve, compute, commit, send.
 *
 * Why what is on the disk is never less than what was told, whenever the process or the machine
 * dies:
 *  1. Bytes may leave only after commit has returned them an id. Commit returns after one
 *     transaction with the charge, the bytes and the new seal is on the disk. So a crash before
 *     that leaves nothing told and nothing charged, a crash after it leaves it charged.
 *  2. A permit under which something was computed and nothing committed dies with the process:
 *     its value never left. When the file is closed instead, the process lives on and could still
 *     tell it, so it is charged ("forfeited"), though nothing was sent.
 *  3. After a failed write nobody knows what the disk holds, so the file takes no more until it
 *     was opened, and verified, again. If the entry is there after all, it counts, and its bytes
 *     are pending. A value in hand then cannot be charged: close says that it must not be used.
 *  4. Bytes that were committed are sent again as they are, so no crash makes a second draw of
 *     the noise.
 *
 * Ids are given out at reserve, since noise may be drawn by them. The head says below which
 * number all ids may have been used; it is moved ahead on the disk before ids above it are given
 * out, so that none is given twice, not even that of a permit that died.
 */
#include "tacit/ledger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "privacy/costs.h"
#include "privacy/ledger_store.h"
#include "tacit/account.h"

/* ---- transactions ---- */

/* What was sent goes out of the outbox. */
static tacit_status drop_sent(tacit_ledger_file *file, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < file->sent_count && !status; k++) {
        sqlite3_bind_int64(file->statement[TACIT_SQL_DROP_BYTES], 1, (sqlite3_int64)file->sent[k]);
        status = tacit_store_run(file, TACIT_SQL_DROP_BYTES, "write to", err);
    }
    return status;
}

/* The last words of every transaction that went well so far. */
static tacit_status end_with_head(tacit_ledger_file *file, tacit_status status, tacit_error *err)
{
    if (!status)
        status = drop_sent(file, err);
    if (!status)
        status = tacit_head_write(file, err);
    status = tacit_store_end(file, status, err);
    if (!status)
        file->sent_count = 0;
    return status;
}

/* ---- permits ---- */

/* Ids from here on are set aside. Inside a transaction. */
static tacit_status move_bound(tacit_ledger_file *file, uint64_t bound, tacit_error *err)
{
    const uint64_t before = file->bound;
    file->bound = bound;
    tacit_status status = tacit_store_begin(file, err);
    if (status)
        file->bound = before;
    else
        status = end_with_head(file, TACIT_OK, err);
    return status;
}

static tacit_status check_time(double now, tacit_error *err)
{
    return isfinite(now) ? TACIT_OK
                         : tacit_fail(err, TACIT_EUSAGE, "a ledger needs to know the time");
}

/* What does not matter is zero, so that equal costs are equal. */
static tacit_status settle(tacit_cost *cost, tacit_error *err)
{
    if (!cost->what || !cost->what[0] || strlen(cost->what) > TACIT_WHAT_MAX)
        return tacit_fail(err, TACIT_EUSAGE, "a release needs to say what it is, in %d bytes",
                          TACIT_WHAT_MAX);
    if (cost->mechanism == TACIT_MECHANISM_NONE) {
        *cost = (tacit_cost){.mechanism = cost->mechanism,
                             .norm = cost->norm,
                             .unit = cost->unit,
                             .adjacency = cost->adjacency,
                             .grid = cost->grid, /* of sums: kernels ask the permit for it */
                             .what = cost->what};
        return TACIT_OK;
    }
    tacit_loss loss;
    tacit_cost_loss(cost, 1, &loss);
    return tacit_loss_check(&loss, err);
}

/* The entry of this cost goes to the end, where the next release adds to it. */
static void bring_forward(tacit_ledger *ledger, const tacit_cost *cost)
{
    for (uint32_t k = 0; k + 1 < ledger->count; k++) {
        if (!tacit_cost_same(ledger->entries[k].cost, cost))
            continue;
        const tacit_ledger_entry entry = ledger->entries[k];
        memmove(&ledger->entries[k], &ledger->entries[k + 1],
                (ledger->count - k - 1) * sizeof entry);
        ledger->entries[ledger->count - 1] = entry;
        return;
    }
}

/* Epsilon for records and epsilon for users, or for neighbours of different kinds, are numbers of
 * different things: their sum means nothing. */
static tacit_status check_adds_up(const tacit_ledger_file *file, const tacit_cost *cost,
                                  tacit_error *err)
{
    const tacit_ledger *ledger = &file->ledger;
    for (uint32_t k = 0; k < ledger->count; k++) {
        const tacit_cost *have = ledger->entries[k].cost;
        if (ledger->entries[k].releases == 0 ||
            (have->unit == cost->unit && have->adjacency == cost->adjacency))
            continue;
        return tacit_fail(err, TACIT_EUSAGE,
                          "the ledger \"%.200s\" counts for unit \"%s\" and adjacency \"%s\"; "
                          "\"%.200s\" costs for \"%s\" and \"%s\", and these do not add up",
                          file->path, tacit_unit_name(have->unit),
                          tacit_adjacency_name(have->adjacency), cost->what,
                          tacit_unit_name(cost->unit), tacit_adjacency_name(cost->adjacency));
    }
    return TACIT_OK;
}

/* Whoever reads the refusal of one peer among many wants to know whose. */
static tacit_status name_refused(const tacit_ledger_file *file, tacit_error *err)
{
    const tacit_error why = err ? *err : (tacit_error){0};
    return tacit_fail(err, TACIT_EBUDGET, "agent %llu \"%.60s\", ledger \"%.150s\": %.350s",
                      (unsigned long long)file->holder.agent, file->holder.name, file->path,
                      why.text);
}

tacit_status tacit_ledger_file_reserve(tacit_ledger_file *file, const tacit_cost *cost, double now,
                                       tacit_permit **permit, tacit_error *err)
{
    tacit_cost settled = *cost;
    *permit = NULL;
    if (cost->claimed)
        return tacit_fail(err, TACIT_EINPUT,
                          "nothing enforces the sensitivity of \"%s\" (\"privacy.claimed\"): a "
                          "peer's ledger takes no claims, only simulations do",
                          cost->what);
    tacit_status status = check_time(now, err);
    if (!status)
        status = settle(&settled, err);
    if (!status)
        status = check_adds_up(file, &settled, err);
    if (!status)
        status = tacit_store_may_write(file, err);
    if (!status && file->ledger.next >= file->bound)
        status = move_bound(file, file->ledger.next + TACIT_IDS_AHEAD, err);
    if (status)
        return status;
    tacit_permit_node *node = calloc(1, sizeof *node);
    if (!node)
        return tacit_out_of_memory(err);
    bring_forward(&file->ledger, &settled);
    status = tacit_ledger_reserve(&file->ledger, file->costs, &file->holder.budget, &settled, now,
                                  &node->permit, err);
    if (status) {
        free(node);
        return status == TACIT_EBUDGET ? name_refused(file, err) : status;
    }
    node->reserved = now;
    node->next = file->permits;
    file->permits = node;
    *permit = &node->permit;
    return TACIT_OK;
}

/* Where the list points at this permit; NULL if it is none of ours, or gone. */
static tacit_permit_node **place_of(tacit_ledger_file *file, const tacit_permit *permit)
{
    for (tacit_permit_node **at = &file->permits; *at; at = &(*at)->next)
        if (&(*at)->permit == permit)
            return at;
    return NULL;
}

static void drop(tacit_permit_node **at)
{
    tacit_permit_node *node = *at;
    *at = node->next;
    free(node);
}

static tacit_status no_permit(const tacit_ledger_file *file, tacit_error *err)
{
    return tacit_fail(err, TACIT_EUSAGE,
                      "no such permit of the ledger \"%.300s\": a permit is good for one release",
                      file->path);
}

tacit_status tacit_ledger_file_give_back(tacit_ledger_file *file, tacit_permit *permit,
                                         tacit_error *err)
{
    tacit_permit_node **at = place_of(file, permit);
    if (!at)
        return no_permit(file, err);
    bring_forward(&file->ledger, &permit->cost);
    tacit_status status = tacit_ledger_give_back(&file->ledger, permit, err);
    if (!status)
        drop(at);
    return status;
}

/* ---- entries ---- */

static tacit_row row_of(const tacit_ledger_file *file, const tacit_permit_node *node, double now)
{
    return (tacit_row){.entry = file->entries.links,
                       .release = node->permit.id,
                       .reserved = node->reserved,
                       .committed = now,
                       .cost = node->permit.cost,
                       .trust = file->holder.budget.trust};
}

/* Seals the row and puts it in; the caller ends the transaction. */
static tacit_status add_row(tacit_ledger_file *file, tacit_row *row, tacit_error *err)
{
    tacit_seal_row(&file->entries, row);
    memcpy(row->mac, file->entries.mac, sizeof row->mac);
    return tacit_row_insert(file, row, err);
}

static tacit_status add_bytes(tacit_ledger_file *file, const tacit_row *row, const void *bytes,
                              size_t len, tacit_error *err)
{
    sqlite3_stmt *s = file->statement[TACIT_SQL_ADD_BYTES];
    int code = sqlite3_bind_int64(s, 1, (sqlite3_int64)row->entry);
    if (!code)
        code = len ? sqlite3_bind_blob64(s, 2, bytes, len, SQLITE_STATIC)
                   : sqlite3_bind_zeroblob(s, 2, 0);
    if (code)
        return tacit_store_fail(file, code, "write to", err);
    return tacit_store_run(file, TACIT_SQL_ADD_BYTES, "write to", err);
}

static tacit_status write_release(tacit_ledger_file *file, tacit_row *row, const void *bytes,
                                  size_t len, tacit_error *err)
{
    tacit_status status = tacit_store_begin(file, err);
    if (status)
        return status;
    status = add_row(file, row, err);
    if (!status)
        status = add_bytes(file, row, bytes, len, err);
    tacit_seal_outbox(file, row->release, file->outbox_sum);
    return end_with_head(file, status, err);
}

tacit_status tacit_ledger_file_commit(tacit_ledger_file *file, tacit_permit *permit,
                                      const void *bytes, size_t len, double now, uint64_t *release,
                                      tacit_error *err)
{
    *release = 0;
    tacit_permit_node **at = place_of(file, permit);
    tacit_status status = at ? check_time(now, err) : no_permit(file, err);
    if (!status && len > TACIT_RELEASE_MAX)
        status = tacit_fail(err, TACIT_EINPUT, "a release of %zu bytes is too large: at most %d",
                            len, TACIT_RELEASE_MAX);
    if (status)
        return status;
    /* All that can fail for want of memory comes before the transaction. */
    tacit_pending *all = tacit_array_grow(file->pending, &file->pending_capacity,
                                          file->pending_count + 1, sizeof *all);
    if (!all)
        return tacit_out_of_memory(err);
    file->pending = all;
    tacit_row row = row_of(file, *at, now);
    row.bytes = len;
    tacit_digest(row.digest, len ? bytes : "", len);
    status = write_release(file, &row, bytes, len, err);
    permit->state = TACIT_PERMIT_SPENT; /* whatever came of it, there is a value */
    if (status)
        return status;
    tacit_pending *p = &file->pending[file->pending_count++];
    *p = (tacit_pending){.entry = row.entry, .release = row.release};
    memcpy(p->digest, row.digest, sizeof p->digest);
    drop(at);
    *release = row.release;
    return TACIT_OK;
}

/* ---- what waits to be sent ---- */

size_t tacit_ledger_file_pending(const tacit_ledger_file *file, uint64_t *release, size_t room)
{
    for (size_t k = 0; k < file->pending_count && k < room; k++)
        release[k] = file->pending[k].release;
    return file->pending_count;
}

static tacit_status find_pending(const tacit_ledger_file *file, uint64_t release, size_t *index,
                                 tacit_error *err)
{
    for (size_t k = 0; k < file->pending_count; k++)
        if (file->pending[k].release == release) {
            *index = k;
            return TACIT_OK;
        }
    return tacit_fail(err, TACIT_EUSAGE, "release %llu of the ledger \"%.300s\" is not pending",
                      (unsigned long long)release, file->path);
}

tacit_status tacit_ledger_file_fetch(tacit_ledger_file *file, uint64_t release, void **bytes,
                                     size_t *len, tacit_error *err)
{
    size_t k = 0;
    uint8_t digest[TACIT_MAC_BYTES];
    *bytes = NULL;
    *len = 0;
    tacit_status status = find_pending(file, release, &k, err);
    if (status)
        return status;
    sqlite3_stmt *s = file->statement[TACIT_SQL_GET_BYTES];
    sqlite3_bind_int64(s, 1, (sqlite3_int64)file->pending[k].entry);
    const int code = sqlite3_step(s);
    const void *blob = code == SQLITE_ROW ? sqlite3_column_blob(s, 0) : NULL;
    const size_t size = code == SQLITE_ROW ? (size_t)sqlite3_column_bytes(s, 0) : 0;
    if (code == SQLITE_ROW)
        tacit_digest(digest, blob ? blob : "", size);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = tacit_store_fail(file, code, "read", err);
    else if (code == SQLITE_DONE || !tacit_mac_equal(digest, file->pending[k].digest))
        status = tacit_fail(err, TACIT_EVERIFY,
                            "the bytes of release %llu of the ledger \"%.300s\" are not those "
                            "that were charged for",
                            (unsigned long long)release, file->path);
    else if (!(*bytes = malloc(size + 1)))
        status = tacit_out_of_memory(err);
    else {
        memcpy(*bytes, blob ? blob : "", size);
        *len = size;
    }
    sqlite3_reset(s);
    return status;
}

tacit_status tacit_ledger_file_mark_sent(tacit_ledger_file *file, uint64_t release,
                                         tacit_error *err)
{
    size_t k = 0;
    tacit_status status = find_pending(file, release, &k, err);
    if (!status)
        status = tacit_store_may_write(file, err);
    if (status)
        return status;
    uint64_t *sent =
        tacit_array_grow(file->sent, &file->sent_capacity, file->sent_count + 1, sizeof *sent);
    if (!sent)
        return tacit_out_of_memory(err);
    file->sent = sent;
    sent[file->sent_count++] = file->pending[k].entry;
    tacit_seal_outbox(file, release, file->outbox_sum);
    memmove(&file->pending[k], &file->pending[k + 1],
            (--file->pending_count - k) * sizeof *file->pending);
    return TACIT_OK;
}

/* ---- closing ---- */

/* Computed, never committed: charged, since whoever computed it is alive and has it. */
static tacit_status forfeit(tacit_ledger_file *file, double now, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (const tacit_permit_node *n = file->permits; n && !status; n = n->next) {
        if (n->permit.state == TACIT_PERMIT_RESERVED)
            continue;
        tacit_row row = row_of(file, n, now);
        row.forfeited = true;
        status = add_row(file, &row, err);
    }
    return status;
}

static size_t values_in_hand(const tacit_ledger_file *file)
{
    size_t count = 0;
    for (const tacit_permit_node *n = file->permits; n; n = n->next)
        count += n->permit.state != TACIT_PERMIT_RESERVED;
    return count;
}

static tacit_status write_last(tacit_ledger_file *file, double now, tacit_error *err)
{
    tacit_status status = check_time(now, err);
    if (!status)
        status = tacit_store_begin(file, err);
    if (status)
        return status;
    file->bound = file->ledger.next; /* the rest of what was set aside was not used */
    return end_with_head(file, forfeit(file, now, err), err);
}

tacit_status tacit_ledger_file_close(tacit_ledger_file *file, double now, tacit_error *err)
{
    if (!file)
        return TACIT_OK;
    tacit_error why = {0};
    tacit_status status = TACIT_OK;
    const size_t in_hand = values_in_hand(file);
    const bool quiet = file->looking || file->broken || !tacit_store_is_own(file);
    const bool touched = file->permits || file->sent_count > 0 || file->bound != file->ledger.next;
    if (in_hand > 0 || (touched && !quiet))
        status = write_last(file, now, &why);
    if (status && in_hand > 0)
        tacit_fail(
            err, status,
            "%zu value%s computed for the ledger \"%.150s\" could not be charged and must not "
            "be used: %.250s",
            in_hand, in_hand == 1 ? "" : "s", file->path, why.text);
    else if (status && err)
        *err = why;
    tacit_ledger_file_let_go(file, !file->broken && !quiet);
    return status;
}
