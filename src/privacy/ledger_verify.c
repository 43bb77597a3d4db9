/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ledger file read back from the first entry to the last, with every seal checked on the way,
 * into the ledger in memory that budgets are checked against.
 *
 * Equal costs are gathered whatever their order: to an accountant it does not matter, and a peer
 * that says two kinds of words in turn for years still has two entries in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "privacy/costs.h"
#include "privacy/ledger_store.h"

static tacit_status wrong(const tacit_ledger_file *file, uint64_t entry, const char *what,
                          tacit_error *err)
{
    return tacit_fail(err, TACIT_EVERIFY, "entry %llu of the ledger \"%.300s\" %s",
                      (unsigned long long)entry, file->path, what);
}

/* ---- into memory ---- */

static tacit_status charge(tacit_ledger_file *file, const tacit_row *row, tacit_error *err)
{
    tacit_ledger *ledger = &file->ledger;
    const tacit_cost *kept = tacit_costs_keep(file->costs, &row->cost);
    if (!kept)
        return tacit_out_of_memory(err);
    for (uint32_t k = ledger->count; k-- > 0;) {
        if (ledger->entries[k].cost != kept)
            continue;
        ledger->entries[k].releases++;
        ledger->entries[k].last = row->reserved;
        return TACIT_OK;
    }
    if (ledger->count == ledger->capacity &&
        !tacit_ledger_room(ledger, 2 * (uint64_t)ledger->capacity + 2))
        return tacit_out_of_memory(err);
    ledger->entries[ledger->count++] = (tacit_ledger_entry){kept, row->reserved, row->reserved, 1};
    return TACIT_OK;
}

static tacit_status add_pending(tacit_ledger_file *file, const tacit_row *row, tacit_error *err)
{
    tacit_pending *all = tacit_array_grow(file->pending, &file->pending_capacity,
                                          file->pending_count + 1, sizeof *all);
    if (!all)
        return tacit_out_of_memory(err);
    file->pending = all;
    all[file->pending_count] = (tacit_pending){.entry = row->entry, .release = row->release};
    memcpy(all[file->pending_count++].digest, row->digest, TACIT_MAC_BYTES);
    return TACIT_OK;
}

/* ---- the outbox, in step with the entries ---- */

typedef struct outbox {
    sqlite3_stmt *s;
    int code;
    uint8_t sum[TACIT_MAC_BYTES];
} outbox;

static uint64_t outbox_entry(const outbox *o)
{
    return o->code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(o->s, 0) : UINT64_MAX;
}

/* If the entry has bytes waiting, they must be those it was charged for. */
static tacit_status check_bytes(tacit_ledger_file *file, outbox *o, const tacit_row *row,
                                tacit_error *err)
{
    if (outbox_entry(o) != row->entry)
        return TACIT_OK;
    uint8_t digest[TACIT_MAC_BYTES];
    const void *bytes = sqlite3_column_blob(o->s, 1);
    const size_t len = (size_t)sqlite3_column_bytes(o->s, 1);
    tacit_digest(digest, bytes ? bytes : "", len);
    if (row->forfeited || len != row->bytes || !tacit_mac_equal(digest, row->digest))
        return wrong(file, row->entry, "has other bytes waiting than it was charged for", err);
    tacit_seal_outbox(file, row->release, o->sum);
    tacit_status status = add_pending(file, row, err);
    o->code = sqlite3_step(o->s);
    return status;
}

static tacit_status check_outbox(const tacit_ledger_file *file, const outbox *o, tacit_error *err)
{
    if (o->code != SQLITE_DONE && o->code != SQLITE_ROW)
        return tacit_store_fail(file, o->code, "read", err);
    if (o->code == SQLITE_ROW || !tacit_mac_equal(o->sum, file->outbox_sum))
        return tacit_fail(err, TACIT_EVERIFY,
                          "what waits to be sent in the ledger \"%.300s\" was edited: something "
                          "was added or taken away",
                          file->path);
    return TACIT_OK;
}

/* ---- entries ---- */

static tacit_status check_row(tacit_ledger_file *file, sqlite3_stmt *s, tacit_row *row,
                              tacit_error *err)
{
    const uint64_t expected = file->entries.links; /* the start is a link, too */
    const bool good = tacit_row_read(row, s);
    if (row->entry != expected)
        return wrong(file, expected, "is missing", err);
    if (!good)
        return wrong(file, expected, "was edited", err);
    tacit_seal_row(&file->entries, row);
    if (!tacit_mac_equal(row->mac, file->entries.mac))
        return wrong(file, expected, "was edited or moved", err);
    if (row->release >= file->bound)
        return wrong(file, expected, "has an id that was never given out", err);
    return TACIT_OK;
}

static tacit_status check_entries(tacit_ledger_file *file, outbox *o, tacit_error *err)
{
    sqlite3_stmt *s = file->statement[TACIT_SQL_ENTRIES];
    tacit_status status = TACIT_OK;
    tacit_row row;
    int code;
    while (!status && (code = sqlite3_step(s)) == SQLITE_ROW) {
        status = check_row(file, s, &row, err);
        if (!status)
            status = check_bytes(file, o, &row, err);
        if (!status)
            status = charge(file, &row, err);
    }
    if (!status && code != SQLITE_DONE)
        status = tacit_store_fail(file, code, "read", err);
    sqlite3_reset(s);
    return status;
}

tacit_status tacit_ledger_verify(tacit_ledger_file *file, tacit_error *err)
{
    uint64_t entries;
    uint8_t last[TACIT_MAC_BYTES];
    outbox o = {.s = file->statement[TACIT_SQL_OUTBOX]};
    tacit_status status = tacit_head_read(file, &entries, last, err);
    if (status)
        return status;
    tacit_seal_start(file);
    o.code = sqlite3_step(o.s);
    status = check_entries(file, &o, err);
    const uint64_t found = file->entries.links - 1;
    if (!status && found != entries)
        status = wrong(file, (found < entries ? found : entries) + 1,
                       found < entries ? "is missing: the ledger was cut"
                                       : "is not counted in the head: the head is an older one",
                       err);
    if (!status && !tacit_mac_equal(last, file->entries.mac))
        status = wrong(file, entries, "is not the one the head was sealed with", err);
    if (!status)
        status = check_outbox(file, &o, err);
    sqlite3_reset(o.s);
    file->ledger.next = file->bound;
    return status;
}
