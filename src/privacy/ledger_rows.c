/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a row says, as bytes that are the same everywhere: numbers little-endian, texts with their
 * length in front, names instead of the numbers of enums. These bytes are what is sealed.
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

/* ---- bytes ---- */

typedef struct canon {
    uint8_t bytes[2048]; /* more than any row needs: texts are bounded */
    size_t len;
} canon;

static void put_bytes(canon *c, const void *bytes, size_t len)
{
    memcpy(c->bytes + c->len, bytes, len);
    c->len += len;
}

static void put_count(canon *c, uint64_t n)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(n >> 8 * i);
    put_bytes(c, bytes, sizeof bytes);
}

static void put_real(canon *c, double x)
{
    uint64_t bits;
    x = x == 0 ? 0 : x; /* the database does not keep the sign of zero */
    memcpy(&bits, &x, sizeof bits);
    put_count(c, bits);
}

static void put_text(canon *c, const char *text)
{
    const size_t len = strlen(text);
    put_count(c, len);
    put_bytes(c, text, len);
}

/* ---- names ---- */

static const char *const norms[] = {"l1", "l2"};

static const char *norm_name(int i)
{
    return norms[i];
}
static const char *mechanism_name(int i)
{
    return tacit_mechanism_name((tacit_mechanism)i);
}
static const char *unit_name(int i)
{
    return tacit_unit_name((tacit_unit)i);
}
static const char *adjacency_name(int i)
{
    return tacit_adjacency_name((tacit_adjacency)i);
}
static const char *trust_name(int i)
{
    return tacit_trust_name((tacit_trust)i);
}
static const char *accountant_name(int i)
{
    return tacit_accountant_names[i];
}

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
    canon c = {.len = 0};
    put_count(&c, TACIT_LEDGER_VERSION);
    put_count(&c, file->holder.agent);
    put_text(&c, file->holder.name);
    tacit_chain_add(&file->entries, c.bytes, c.len);
}

void tacit_seal_row(tacit_chain *chain, const tacit_row *row)
{
    const tacit_cost *cost = &row->cost;
    canon c = {.len = 0};
    put_count(&c, row->entry);
    put_count(&c, row->release);
    put_real(&c, row->reserved);
    put_real(&c, row->committed);
    put_count(&c, row->forfeited);
    put_text(&c, cost->what);
    put_text(&c, mechanism_name((int)cost->mechanism));
    put_text(&c, norm_name((int)cost->norm));
    put_text(&c, unit_name((int)cost->unit));
    put_text(&c, adjacency_name((int)cost->adjacency));
    put_text(&c, trust_name((int)row->trust));
    put_real(&c, cost->sensitivity);
    put_real(&c, cost->noise);
    put_count(&c, (uint64_t)(int64_t)cost->grid);
    put_count(&c, cost->coordinates);
    put_real(&c, cost->sampling);
    put_count(&c, cost->categories);
    put_count(&c, row->bytes);
    put_bytes(&c, row->digest, sizeof row->digest);
    tacit_chain_add(chain, c.bytes, c.len);
}

void tacit_seal_outbox(const tacit_ledger_file *file, uint64_t release,
                       uint8_t sum[TACIT_MAC_BYTES])
{
    tacit_chain one = file->outbox;
    canon c = {.len = 0};
    put_count(&c, release);
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
    canon c = {.len = 0};
    put_count(&c, TACIT_LEDGER_VERSION);
    put_count(&c, h->agent);
    put_text(&c, h->name);
    put_real(&c, h->budget.epsilon);
    put_real(&c, h->budget.delta);
    put_text(&c, trust_name((int)h->budget.trust));
    put_text(&c, accountant_name((int)h->budget.accountant));
    put_count(&c, entries);
    put_count(&c, file->bound);
    put_bytes(&c, last, TACIT_MAC_BYTES);
    put_bytes(&c, file->outbox_sum, TACIT_MAC_BYTES);
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

/* Binds columns one after the other; remembers the first failure. */
typedef struct binder {
    sqlite3_stmt *s;
    int column, code;
} binder;

static void note(binder *b, int code)
{
    if (!b->code)
        b->code = code;
}
static void bind_count(binder *b, uint64_t n)
{
    note(b, sqlite3_bind_int64(b->s, ++b->column, (sqlite3_int64)n));
}
static void bind_real(binder *b, double x)
{
    note(b, sqlite3_bind_double(b->s, ++b->column, x));
}
static void bind_text(binder *b, const char *text)
{
    note(b, sqlite3_bind_text(b->s, ++b->column, text, -1, SQLITE_TRANSIENT));
}
static void bind_mac(binder *b, const uint8_t *mac)
{
    note(b, sqlite3_bind_blob(b->s, ++b->column, mac, TACIT_MAC_BYTES, SQLITE_TRANSIENT));
}

tacit_status tacit_row_insert(tacit_ledger_file *file, const tacit_row *row, tacit_error *err)
{
    const tacit_cost *cost = &row->cost;
    binder b = {.s = file->statement[TACIT_SQL_ADD_ENTRY]};
    bind_count(&b, row->entry);
    bind_count(&b, row->release);
    bind_real(&b, row->reserved);
    bind_real(&b, row->committed);
    bind_count(&b, row->forfeited);
    bind_text(&b, cost->what);
    bind_text(&b, mechanism_name((int)cost->mechanism));
    bind_text(&b, norm_name((int)cost->norm));
    bind_text(&b, unit_name((int)cost->unit));
    bind_text(&b, adjacency_name((int)cost->adjacency));
    bind_text(&b, trust_name((int)row->trust));
    bind_real(&b, cost->sensitivity);
    bind_real(&b, cost->noise);
    bind_count(&b, (uint64_t)(int64_t)cost->grid);
    bind_count(&b, cost->coordinates);
    bind_real(&b, cost->sampling);
    bind_count(&b, cost->categories);
    bind_count(&b, row->bytes);
    bind_mac(&b, row->digest);
    bind_mac(&b, row->mac);
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
    binder b = {.s = file->statement[TACIT_SQL_SET_HEAD]};
    bind_count(&b, h->agent);
    bind_text(&b, h->name);
    bind_real(&b, h->budget.epsilon);
    bind_real(&b, h->budget.delta);
    bind_text(&b, trust_name((int)h->budget.trust));
    bind_text(&b, accountant_name((int)h->budget.accountant));
    bind_count(&b, entries);
    bind_count(&b, file->bound);
    bind_mac(&b, file->entries.mac);
    bind_mac(&b, file->outbox_sum);
    bind_mac(&b, check);
    bind_mac(&b, seal);
    if (b.code)
        return tacit_store_fail(file, b.code, "write to", err);
    return tacit_store_run(file, TACIT_SQL_SET_HEAD, "write to", err);
}

/* ---- from the database ---- */

/* Reads columns one after the other; `good` falls once one is not of its kind. */
typedef struct columns {
    sqlite3_stmt *s;
    int at;
    bool good;
} columns;

static int next_column(columns *c, int type)
{
    c->good = c->good && sqlite3_column_type(c->s, c->at) == type;
    return c->at++;
}

static uint64_t take_count(columns *c)
{
    return (uint64_t)sqlite3_column_int64(c->s, next_column(c, SQLITE_INTEGER));
}

static double take_real(columns *c)
{
    return sqlite3_column_double(c->s, next_column(c, SQLITE_FLOAT));
}

static void take_text(columns *c, char *out, size_t size)
{
    const int at = next_column(c, SQLITE_TEXT);
    const char *text = c->good ? (const char *)sqlite3_column_text(c->s, at) : NULL;
    const size_t len = text ? (size_t)sqlite3_column_bytes(c->s, at) : 0;
    c->good = c->good && text && len < size && strlen(text) == len;
    memcpy(out, c->good ? text : "", c->good ? len + 1 : 1);
}

static int take_name(columns *c, const char *(*name)(int), int count)
{
    char text[32];
    take_text(c, text, sizeof text);
    for (int i = 0; i < count && c->good; i++)
        if (strcmp(text, name(i)) == 0)
            return i;
    c->good = false;
    return 0;
}

static void take_mac(columns *c, uint8_t *mac)
{
    const int at = next_column(c, SQLITE_BLOB);
    const void *bytes = c->good ? sqlite3_column_blob(c->s, at) : NULL;
    c->good = c->good && bytes && sqlite3_column_bytes(c->s, at) == TACIT_MAC_BYTES;
    if (c->good)
        memcpy(mac, bytes, TACIT_MAC_BYTES);
}

bool tacit_row_read(tacit_row *row, sqlite3_stmt *from)
{
    columns c = {.s = from, .good = true};
    *row = (tacit_row){0};
    tacit_cost *cost = &row->cost;
    row->entry = take_count(&c);
    row->release = take_count(&c);
    row->reserved = take_real(&c);
    row->committed = take_real(&c);
    const uint64_t forfeited = take_count(&c);
    row->forfeited = forfeited != 0;
    take_text(&c, row->text, sizeof row->text);
    cost->what = row->text;
    cost->mechanism = (tacit_mechanism)take_name(&c, mechanism_name, TACIT_MECHANISMS);
    cost->norm = (tacit_norm)take_name(&c, norm_name, TACIT_L2 + 1);
    cost->unit = (tacit_unit)take_name(&c, unit_name, TACIT_UNIT_USER + 1);
    cost->adjacency = (tacit_adjacency)take_name(&c, adjacency_name, TACIT_ADD_REMOVE + 1);
    row->trust = (tacit_trust)take_name(&c, trust_name, TACIT_TRUST_SILENT + 1);
    cost->sensitivity = take_real(&c);
    cost->noise = take_real(&c);
    const int64_t grid = (int64_t)take_count(&c);
    cost->grid = (int)grid;
    cost->coordinates = take_count(&c);
    cost->sampling = take_real(&c);
    const uint64_t categories = take_count(&c);
    cost->categories = (uint32_t)categories;
    row->bytes = take_count(&c);
    take_mac(&c, row->digest);
    take_mac(&c, row->mac);
    return c.good && forfeited <= 1 && categories <= UINT32_MAX && grid == cost->grid;
}

static tacit_status head_wrong(const tacit_ledger_file *file, const char *why, tacit_error *err)
{
    return tacit_fail(err, TACIT_EVERIFY, "the head of the ledger \"%.300s\" %s", file->path, why);
}

/* True if every column is what it must be; `check` and `seal` are as read. */
static bool read_columns(tacit_ledger_file *file, sqlite3_stmt *from, uint64_t *entries,
                         uint8_t *last, uint8_t *check, uint8_t *seal)
{
    columns c = {.s = from, .at = 1, .good = true};
    tacit_ledger_holder *h = &file->holder;
    h->agent = take_count(&c);
    take_text(&c, h->name, sizeof h->name);
    h->budget.epsilon = take_real(&c);
    h->budget.delta = take_real(&c);
    h->budget.trust = (tacit_trust)take_name(&c, trust_name, TACIT_TRUST_SILENT + 1);
    h->budget.accountant = (tacit_accountant)take_name(&c, accountant_name, TACIT_ACCOUNTANTS);
    *entries = take_count(&c);
    file->bound = take_count(&c);
    take_mac(&c, last);
    take_mac(&c, file->outbox_sum);
    take_mac(&c, check);
    take_mac(&c, seal);
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
