/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger_tools.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

tacit_key test_key(uint8_t which)
{
    tacit_key key;
    for (uint8_t i = 0; i < TACIT_KEY_BYTES; i++)
        key.bytes[i] = (uint8_t)(which * 31 + i);
    return key;
}

tacit_ledger_holder test_holder(double epsilon)
{
    tacit_ledger_holder holder = {.agent = 7,
                                  .budget = {.epsilon = epsilon,
                                             .delta = 0,
                                             .trust = TACIT_TRUST_LOCAL,
                                             .accountant = TACIT_BY_SUM}};
    snprintf(holder.name, sizeof holder.name, "alice");
    return holder;
}

tacit_cost ledger_cost(const char *what, double epsilon)
{
    return (tacit_cost){.mechanism = TACIT_MECHANISM_LAPLACE,
                        .norm = TACIT_L1,
                        .coordinates = 1,
                        .sensitivity = 1,
                        .noise = 1 / epsilon,
                        .sampling = 1,
                        .what = what};
}

tacit_ledger_file *fresh_ledger(const char *name, double epsilon)
{
    tacit_error err = {0};
    tacit_ledger_file *file;
    const tacit_key key = test_key(1);
    const tacit_ledger_holder holder = test_holder(epsilon);
    unlink(name);
    check_ok(tacit_ledger_file_create(&file, name, &key, &holder, &err), &err);
    return file;
}

tacit_ledger_file *reopen_ledger(const char *name)
{
    tacit_error err = {0};
    tacit_ledger_file *file;
    const tacit_key key = test_key(1);
    check_ok(tacit_ledger_file_open(&file, name, &key, NULL, &err), &err);
    return file;
}

tacit_status commit_text(tacit_ledger_file *file, const tacit_cost *cost, double now,
                         const char *text, uint64_t *id, tacit_error *err)
{
    tacit_permit *permit;
    tacit_status status = tacit_ledger_file_reserve(file, cost, now, &permit, err);
    if (status)
        return status;
    return tacit_ledger_file_commit(file, permit, text, strlen(text), now + 0.5, id, err);
}

void check_bytes(tacit_ledger_file *file, uint64_t release, const char *text)
{
    tacit_error err = {0};
    void *bytes;
    size_t len;
    check_ok(tacit_ledger_file_fetch(file, release, &bytes, &len, &err), &err);
    assert_int_equal(len, strlen(text));
    assert_memory_equal(bytes, text, len);
    free(bytes);
}

void edit_ledger(const char *name, const char *sql)
{
    sqlite3 *db;
    char *words = NULL;
    assert_int_equal(sqlite3_open(name, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &words) != SQLITE_OK)
        fail_msg("%s: %s", sql, words);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

int ledger_rows(const char *name, const char *table)
{
    char sql[100];
    sqlite3 *db;
    sqlite3_stmt *s = NULL;
    int rows = -1;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    assert_int_equal(sqlite3_open(name, &db), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
        rows = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return rows;
}

char *read_all(const char *name, size_t *len)
{
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *len = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*len + 1);
    assert_int_equal(fread(bytes, 1, *len, file), *len);
    bytes[*len] = '\0';
    fclose(file);
    return bytes;
}

void write_all(const char *name, const void *bytes, size_t len)
{
    char journal[300];
    snprintf(journal, sizeof journal, "%s-journal", name);
    unlink(journal); /* what an earlier attempt left */
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
}

void check_same_bytes(const char *name, const void *bytes, size_t len)
{
    size_t now;
    char *have = read_all(name, &now);
    assert_int_equal(now, len);
    assert_memory_equal(have, bytes, len);
    free(have);
}
