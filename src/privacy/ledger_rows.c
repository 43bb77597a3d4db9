/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a row of a ledger says (rows.h has how), and how it is sealed.
 *
 *   entries  mac_k = MAC(mac_{k-1} || entry k); mac_0 covers whose ledger it is
 *   head     MAC(holder, budget, number of entries, last mac, next id, sum of the outbox)
 *   outbox   xor of MAC(release id) over what is pending; the bytes themselves are in the
 *            digest of their entry
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/ledger_store.h"
#include "privacy/rows.h"

/* ---- seals ---- */

void tacit_seals_begin(tacit_ledger_file *file, const tacit_key *key)
{
    tacit_chain_begin(&file->entries, key, "tacit.ledger.entries/1");
    tacit_chain_begin(&file->head, key, "tacit.ledger.head/1");
    tacit_chain_begin(&file->outbox, key, "tacit.ledger.outbox/1");
    tacit_chain_begin(&file->check, key, "tacit.ledger.check/1");
}

void tacit_seals_wipe(tacit_ledger_file *file)
{
    tacit_chain_wipe(&file->entries);
    tacit_chain_wipe(&file->head);
    tacit_chain_wipe(&file->outbox);
    tacit_chain_wipe(&file->check);
}

void tacit_seal_start(tacit_ledger_file *file)
{
    tacit_canon c = {.len = 0};
    tacit_canon_count(&c, TACIT_LEDGER_VERSION);
    tacit_canon_count(&c, file->holder.agent);
    tacit_canon_text(&c, file->holder.name);
    tacit_chain_add(&file->entries, c.bytes, c.len);
}

void tacit_seal_row(tacit_chain *chain, const tacit_row *row)
{
    const tacit_cost *cost = &row->cost;
    tacit_canon c = {.len = 0};
    tacit_canon_count(&c, row->entry);
    tacit_canon_count(&c, row->release);
    tacit_canon_real(&c, row->reserved);
    tacit_canon_real(&c, row->committed);
    tacit_canon_count(&c, row->forfeited);
    tacit_canon_cost(&c, cost);
    tacit_canon_text(&c, tacit_name_of_trust((int)row->trust));
    tacit_canon_amount(&c, cost);
    tacit_canon_count(&c, row->bytes);
    tacit_canon_bytes(&c, row->digest, sizeof row->digest);
    tacit_chain_add(chain, c.bytes, c.len);
}

void tacit_seal_outbox(const tacit_ledger_file *file, uint64_t release,
                       uint8_t sum[TACIT_MAC_BYTES])
{
    tacit_chain one = file->outbox;
    tacit_canon c = {.len = 0};
    tacit_canon_count(&c, release);
    tacit_chain_add(&one, c.bytes, c.len);
    for (int i = 0; i < TACIT_MAC_BYTES; i++)
        sum[i] ^= one.mac[i];
    tacit_chain_wipe(&one);
}

/* `last` and `entries` as the head says them; the rest from the file as it is in memory. */
static void seal_head(const tacit_ledger_file *file, uint64_t entries, const uint8_t *last,
                      uint8_t seal[TACIT_MAC_BYTES])
{
    const tacit_ledger_holder *h = &file->holder;
    tacit_chain one = file->head;
    tacit_canon c = {.len = 0};
    tacit_canon_count(&c, TACIT_LEDGER_VERSION);
    tacit_canon_count(&c, h->agent);
    tacit_canon_text(&c, h->name);
    tacit_canon_real(&c, h->budget.epsilon);
    tacit_canon_real(&c, h->budget.delta);
    tacit_canon_text(&c, tacit_name_of_trust((int)h->budget.trust));
    tacit_canon_text(&c, tacit_name_of_accountant((int)h->budget.accountant));
    tacit_canon_count(&c, entries);
    tacit_canon_count(&c, file->bound);
    tacit_canon_bytes(&c, last, TACIT_MAC_BYTES);
    tacit_canon_bytes(&c, file->outbox_sum, TACIT_MAC_BYTES);
    tacit_chain_add(&one, c.bytes, c.len);
    memcpy(seal, one.mac, TACIT_MAC_BYTES);
    tacit_chain_wipe(&one);
}

/* Tells another key from another text. */
static void seal_check(const tacit_ledger_file *file, uint8_t check[TACIT_MAC_BYTES])
{
    tacit_chain one = file->check;
    tacit_chain_add(&one, "key", 3);
    memcpy(check, one.mac, TACIT_MAC_BYTES);
    tacit_chain_wipe(&one);
}

void tacit_ledger_file_nonce(const tacit_ledger_file *file, uint8_t nonce[TACIT_LEDGER_NONCE])
{
    uint8_t check[TACIT_MAC_BYTES];
    seal_check(file, check); /* of its key alone */
    crypto_generichash(nonce, TACIT_LEDGER_NONCE, check, sizeof check, NULL, 0);
}

void tacit_digest(uint8_t digest[TACIT_MAC_BYTES], const void *bytes, size_t len)
{
    crypto_generichash(digest, TACIT_MAC_BYTES, bytes, len, NULL, 0);
}

/* ---- to the database ---- */

tacit_status tacit_row_insert(tacit_ledger_file *file, const tacit_row *row, tacit_error *err)
{
    const tacit_cost *cost = &row->cost;
    tacit_binder b = {.s = file->statement[TACIT_SQL_ADD_ENTRY]};
    tacit_bind_count(&b, row->entry);
    tacit_bind_count(&b, row->release);
    tacit_bind_real(&b, row->reserved);
    tacit_bind_real(&b, row->committed);
    tacit_bind_count(&b, row->forfeited);
    tacit_bind_cost(&b, cost);
    tacit_bind_text(&b, tacit_name_of_trust((int)row->trust));
    tacit_bind_amount(&b, cost);
    tacit_bind_count(&b, row->bytes);
    tacit_bind_bytes(&b, row->digest, TACIT_MAC_BYTES);
    tacit_bind_bytes(&b, row->mac, TACIT_MAC_BYTES);
    if (b.code)
        return tacit_store_fail(file, b.code, "write to", err);
    return tacit_store_run(file, TACIT_SQL_ADD_ENTRY, "write to", err);
}

tacit_status tacit_head_write(tacit_ledger_file *file, tacit_error *err)
{
    const tacit_ledger_holder *h = &file->holder;
    const uint64_t entries = file->entries.links - 1;
    uint8_t seal[TACIT_MAC_BYTES], check[TACIT_MAC_BYTES];
    seal_head(file, entries, file->entries.mac, seal);
    seal_check(file, check);
    tacit_binder b = {.s = file->statement[TACIT_SQL_SET_HEAD]};
    tacit_bind_count(&b, h->agent);
    tacit_bind_text(&b, h->name);
    tacit_bind_real(&b, h->budget.epsilon);
    tacit_bind_real(&b, h->budget.delta);
    tacit_bind_text(&b, tacit_name_of_trust((int)h->budget.trust));
    tacit_bind_text(&b, tacit_name_of_accountant((int)h->budget.accountant));
    tacit_bind_count(&b, entries);
    tacit_bind_count(&b, file->bound);
    tacit_bind_bytes(&b, file->entries.mac, TACIT_MAC_BYTES);
    tacit_bind_bytes(&b, file->outbox_sum, TACIT_MAC_BYTES);
    tacit_bind_bytes(&b, check, TACIT_MAC_BYTES);
    tacit_bind_bytes(&b, seal, TACIT_MAC_BYTES);
    if (b.code)
        return tacit_store_fail(file, b.code, "write to", err);
    return tacit_store_run(file, TACIT_SQL_SET_HEAD, "write to", err);
}

/* ---- from the database ---- */

bool tacit_row_read(tacit_row *row, sqlite3_stmt *from)
{
    tacit_columns c = {.s = from, .good = true};
    *row = (tacit_row){0};
    tacit_cost *cost = &row->cost;
    row->entry = tacit_take_count(&c);
    row->release = tacit_take_count(&c);
    row->reserved = tacit_take_real(&c);
    row->committed = tacit_take_real(&c);
    const uint64_t forfeited = tacit_take_count(&c);
    row->forfeited = forfeited != 0;
    tacit_take_cost(&c, cost, row->text);
    row->trust = (tacit_trust)tacit_take_name(&c, tacit_name_of_trust, TACIT_TRUST_SILENT + 1);
    tacit_take_amount(&c, cost);
    row->bytes = tacit_take_count(&c);
    tacit_take_bytes(&c, row->digest, TACIT_MAC_BYTES);
    tacit_take_bytes(&c, row->mac, TACIT_MAC_BYTES);
    return c.good && forfeited <= 1;
}

static tacit_status head_wrong(const tacit_ledger_file *file, const char *why, tacit_error *err)
{
    return tacit_fail(err, TACIT_EVERIFY, "the head of the ledger \"%.300s\" %s", file->path, why);
}

/* True if every column is what it must be; `check` and `seal` are as read. */
static bool read_columns(tacit_ledger_file *file, sqlite3_stmt *from, uint64_t *entries,
                         uint8_t *last, uint8_t *check, uint8_t *seal)
{
    tacit_columns c = {.s = from, .at = 1, .good = true};
    tacit_ledger_holder *h = &file->holder;
    h->agent = tacit_take_count(&c);
    tacit_take_text(&c, h->name, sizeof h->name);
    h->budget.epsilon = tacit_take_real(&c);
    h->budget.delta = tacit_take_real(&c);
    h->budget.trust = (tacit_trust)tacit_take_name(&c, tacit_name_of_trust, TACIT_TRUST_SILENT + 1);
    h->budget.accountant =
        (tacit_accountant)tacit_take_name(&c, tacit_name_of_accountant, TACIT_ACCOUNTANTS);
    *entries = tacit_take_count(&c);
    file->bound = tacit_take_count(&c);
    tacit_take_bytes(&c, last, TACIT_MAC_BYTES);
    tacit_take_bytes(&c, file->outbox_sum, TACIT_MAC_BYTES);
    tacit_take_bytes(&c, check, TACIT_MAC_BYTES);
    tacit_take_bytes(&c, seal, TACIT_MAC_BYTES);
    return c.good;
}

tacit_status tacit_head_read(tacit_ledger_file *file, uint64_t *entries,
                             uint8_t last[TACIT_MAC_BYTES], tacit_error *err)
{
    sqlite3_stmt *s = file->statement[TACIT_SQL_GET_HEAD];
    uint8_t check[TACIT_MAC_BYTES], seal[TACIT_MAC_BYTES], want[TACIT_MAC_BYTES];
    tacit_status status = TACIT_OK;
    int code = sqlite3_step(s);
    const bool found = code == SQLITE_ROW;
    const bool good = found && read_columns(file, s, entries, last, check, seal);
    if (found)
        code = sqlite3_step(s);
    if (code != SQLITE_DONE && code != SQLITE_ROW)
        status = tacit_store_fail(file, code, "read", err);
    else if (!found)
        status = head_wrong(file, "is missing", err);
    else if (!good || code == SQLITE_ROW)
        status = head_wrong(file, "was edited", err);
    sqlite3_reset(s);
    if (status)
        return status;
    seal_check(file, want);
    if (!tacit_mac_equal(check, want))
        return head_wrong(file, "was sealed with another key, or edited", err);
    seal_head(file, *entries, last, want);
    if (!tacit_mac_equal(seal, want))
        return head_wrong(file, "was edited (whose it is, its budget, or how much it holds)", err);
    return TACIT_OK;
}
