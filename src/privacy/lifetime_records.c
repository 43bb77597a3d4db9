/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fingerprints of records: keyed BLAKE2b of a record's bytes, so that who has the file but not its
 * key cannot try records on it. The table is sealed by the xor of a keyed mark of each row, which
 * the head has: without the key no row can be added, taken away or given to another data set.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "privacy/lifetime_inside.h"
#include "privacy/rows.h"

typedef struct print {
    uint8_t bytes[LIFETIME_PRINT];
} print;

struct tacit_lifetime_records {
    uint8_t key[TACIT_KEY_BYTES];
    print *prints;
    size_t count, room;
};

tacit_status tacit_lifetime_records_new(tacit_lifetime_records **out, const tacit_lifetime *ledger,
                                        tacit_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return tacit_out_of_memory(err);
    memcpy((*out)->key, ledger->prints.key, sizeof(*out)->key);
    return TACIT_OK;
}

tacit_status tacit_lifetime_records_add(tacit_lifetime_records *records, const void *bytes,
                                        size_t len, tacit_error *err)
{
    print *prints =
        tacit_array_grow(records->prints, &records->room, records->count + 1, sizeof *prints);
    if (!prints)
        return tacit_out_of_memory(err);
    records->prints = prints;
    crypto_generichash(prints[records->count++].bytes, LIFETIME_PRINT, bytes, len, records->key,
                       sizeof records->key);
    return TACIT_OK;
}

size_t lifetime_records_count(const tacit_lifetime_records *records)
{
    return records->count;
}

void tacit_lifetime_records_free(tacit_lifetime_records *records)
{
    if (!records)
        return;
    sodium_memzero(records->key, sizeof records->key);
    free(records->prints);
    free(records);
}

/* ---- the table ---- */

static void add_mark(const tacit_lifetime *l, const uint8_t *bytes, uint64_t dataset,
                     uint8_t sum[TACIT_MAC_BYTES])
{
    tacit_chain one = l->marks;
    tacit_canon c = {.len = 0};
    tacit_canon_bytes(&c, bytes, LIFETIME_PRINT);
    tacit_canon_count(&c, dataset);
    tacit_chain_add(&one, c.bytes, c.len);
    for (int i = 0; i < TACIT_MAC_BYTES; i++)
        sum[i] ^= one.mac[i];
    tacit_chain_wipe(&one);
}

static tacit_status edited(const tacit_lifetime *l, tacit_error *err)
{
    return tacit_fail(err, TACIT_EVERIFY,
                      "the records of the lifetime ledger \"%.300s\" were edited: some were added, "
                      "taken away, moved or given to another data set",
                      l->path);
}

tacit_status lifetime_verify_records(tacit_lifetime *l, tacit_error *err)
{
    sqlite3_stmt *s = l->statement[LIFETIME_SQL_RECORDS];
    uint8_t sum[TACIT_MAC_BYTES] = {0};
    print last = {{0}};
    uint64_t found = 0;
    bool good = true;
    int code;
    for (size_t k = 0; k < l->book.set_count; k++)
        l->book.sets[k].records = 0;
    while ((code = sqlite3_step(s)) == SQLITE_ROW && good) {
        tacit_columns c = {.s = s, .good = true};
        print p = {{0}};
        tacit_take_bytes(&c, p.bytes, LIFETIME_PRINT);
        const uint64_t dataset = tacit_take_count(&c);
        /* Rows out of order are not found by their key, however good each of them is. */
        const bool ordered = found == 0 || memcmp(last.bytes, p.bytes, LIFETIME_PRINT) < 0;
        good = c.good && ordered && dataset > 0 && dataset <= l->book.set_count;
        if (!good)
            break;
        last = p;
        add_mark(l, p.bytes, dataset, sum);
        l->book.sets[lifetime_resolve(&l->book, (size_t)dataset - 1)].records++;
        found++;
    }
    sqlite3_reset(s);
    if (good && code != SQLITE_DONE)
        return tacit_db_fail(&l->d, code, "read", err);
    return good && found == l->records && tacit_mac_equal(sum, l->records_sum) ? TACIT_OK
                                                                               : edited(l, err);
}

/* The data set of one record, resolved; SIZE_MAX: it is new. */
static tacit_status find(tacit_lifetime *l, const print *p, size_t *set, tacit_error *err)
{
    sqlite3_stmt *s = l->statement[LIFETIME_SQL_FIND_RECORD];
    *set = SIZE_MAX;
    sqlite3_bind_blob(s, 1, p->bytes, LIFETIME_PRINT, SQLITE_STATIC);
    const int code = sqlite3_step(s);
    const int64_t dataset = code == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    if (code != SQLITE_ROW)
        return code == SQLITE_DONE ? TACIT_OK : tacit_db_fail(&l->d, code, "read", err);
    if (dataset < 1 || (uint64_t)dataset > l->book.set_count)
        return edited(l, err);
    *set = lifetime_resolve(&l->book, (size_t)dataset - 1);
    return TACIT_OK;
}

tacit_status lifetime_find_records(tacit_lifetime *l, const tacit_lifetime_records *records,
                                   size_t *first, size_t *second, uint64_t *fresh, tacit_error *err)
{
    *first = *second = SIZE_MAX;
    *fresh = 0;
    if (!records)
        return TACIT_OK;
    tacit_status status = lifetime_verify_records(l, err);
    for (size_t k = 0; k < records->count && !status; k++) {
        size_t set;
        status = find(l, &records->prints[k], &set, err);
        if (set == SIZE_MAX)
            ++*fresh;
        else if (*first == SIZE_MAX)
            *first = set;
        else if (set != *first && *second == SIZE_MAX)
            *second = set;
    }
    return status;
}

tacit_status lifetime_add_records(tacit_lifetime *l, const tacit_lifetime_records *records,
                                  size_t set, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < records->count && !status; k++) {
        const print *p = &records->prints[k];
        size_t known;
        status = find(l, p, &known, err); /* two records of a run may be alike */
        if (status || known != SIZE_MAX)
            continue;
        tacit_binder b = {.s = l->statement[LIFETIME_SQL_ADD_RECORD]};
        tacit_bind_bytes(&b, p->bytes, LIFETIME_PRINT);
        tacit_bind_count(&b, set + 1);
        status = b.code ? tacit_db_fail(&l->d, b.code, "write to", err)
                        : lifetime_run(l, LIFETIME_SQL_ADD_RECORD, err);
        add_mark(l, p->bytes, set + 1, l->records_sum);
        l->records++;
    }
    return status;
}
