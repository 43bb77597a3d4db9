/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The database of a ledger file: three tables in a sealed_db.c that has one user, so that two
 * processes cannot spend the same budget.
 */
#include <unistd.h>

#include "privacy/ledger_store.h"
#include "privacy/sealed_db.h"

static const char head_table[] = "CREATE TABLE head("
                                 "id INTEGER PRIMARY KEY,"
                                 "agent INTEGER NOT NULL,name TEXT NOT NULL,"
                                 "epsilon REAL NOT NULL,delta REAL NOT NULL,"
                                 "adversary TEXT NOT NULL,accountant TEXT NOT NULL,"
                                 "entries INTEGER NOT NULL,next_release INTEGER NOT NULL,"
                                 "last_mac BLOB NOT NULL,outbox BLOB NOT NULL,"
                                 "key_check BLOB NOT NULL,seal BLOB NOT NULL)";
static const char entry_table[] =
    "CREATE TABLE entry("
    "id INTEGER PRIMARY KEY,"
    "release INTEGER NOT NULL,reserved REAL NOT NULL,committed REAL NOT NULL,"
    "forfeited INTEGER NOT NULL,what TEXT NOT NULL,mechanism TEXT NOT NULL,norm TEXT NOT NULL,"
    "unit TEXT NOT NULL,adjacency TEXT NOT NULL,adversary TEXT NOT NULL,"
    "sensitivity REAL NOT NULL,noise REAL NOT NULL,grid INTEGER NOT NULL,"
    "coordinates INTEGER NOT NULL,sampling REAL NOT NULL,categories INTEGER NOT NULL,"
    "bytes INTEGER NOT NULL,digest BLOB NOT NULL,mac BLOB NOT NULL)";
static const char outbox_table[] =
    "CREATE TABLE outbox(entry INTEGER PRIMARY KEY,bytes BLOB NOT NULL)";

static const tacit_db_table tables[] = {
    {"entry", entry_table}, {"head", head_table}, {"outbox", outbox_table}};
static const tacit_db_kind kind = {.magic = TACIT_LEDGER_MAGIC,
                                   .version = TACIT_LEDGER_VERSION,
                                   .tables = tables,
                                   .count = sizeof tables / sizeof *tables,
                                   .alone = true};

static const char *const sql[] = {
    [TACIT_SQL_BEGIN] = "BEGIN IMMEDIATE",
    [TACIT_SQL_COMMIT] = "COMMIT",
    [TACIT_SQL_ROLLBACK] = "ROLLBACK",
    [TACIT_SQL_ADD_ENTRY] = "INSERT INTO entry VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [TACIT_SQL_ADD_BYTES] = "INSERT INTO outbox VALUES(?,?)",
    [TACIT_SQL_DROP_BYTES] = "DELETE FROM outbox WHERE entry=?",
    [TACIT_SQL_GET_BYTES] = "SELECT bytes FROM outbox WHERE entry=?",
    [TACIT_SQL_SET_HEAD] = "INSERT OR REPLACE INTO head VALUES(1,?,?,?,?,?,?,?,?,?,?,?,?)",
    [TACIT_SQL_GET_HEAD] = "SELECT * FROM head ORDER BY id",
    [TACIT_SQL_ENTRIES] = "SELECT * FROM entry ORDER BY id",
    [TACIT_SQL_OUTBOX] = "SELECT entry,bytes FROM outbox ORDER BY entry",
};

static tacit_db db_of(const tacit_ledger_file *file)
{
    return (tacit_db){.kind = &kind, .path = file->path, .db = file->db};
}

tacit_status tacit_store_fail(const tacit_ledger_file *file, int code, const char *doing,
                              tacit_error *err)
{
    const tacit_db d = db_of(file);
    return tacit_db_fail(&d, code, doing, err);
}

static tacit_status prepare_all(tacit_ledger_file *file, tacit_error *err)
{
    for (int i = 0; i < TACIT_STATEMENTS; i++) {
        const int code = sqlite3_prepare_v3(file->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                            &file->statement[i], NULL);
        if (code)
            return tacit_store_fail(file, code, "read", err);
    }
    return TACIT_OK;
}

bool tacit_store_is_empty(tacit_ledger_file *file)
{
    const tacit_db d = db_of(file);
    return tacit_db_is_empty(&d);
}

tacit_status tacit_store_make_durable(tacit_ledger_file *file, tacit_error *err)
{
    const tacit_db d = db_of(file);
    return tacit_db_make_durable(&d, err);
}

tacit_status tacit_store_connect(tacit_ledger_file *file, tacit_error *err)
{
    tacit_db d = db_of(file);
    tacit_status status = tacit_db_connect(&d, file->looking, err);
    file->db = d.db;
    return status;
}

tacit_status tacit_store_open(tacit_ledger_file *file, bool fresh, tacit_error *err)
{
    tacit_status status = tacit_store_connect(file, err);
    if (status)
        return status;
    const tacit_db d = db_of(file);
    status = fresh ? tacit_db_make(&d, err) : tacit_db_check_looks(&d, err);
    return status ? status : prepare_all(file, err);
}

void tacit_store_close(tacit_ledger_file *file, bool tidy)
{
    for (int i = 0; i < TACIT_STATEMENTS; i++)
        sqlite3_finalize(file->statement[i]);
    if (file->db && tidy) /* so that the empty journal is removed */
        sqlite3_exec(file->db, "PRAGMA locking_mode=NORMAL;PRAGMA journal_mode=DELETE", NULL, NULL,
                     NULL);
    sqlite3_close(file->db);
    file->db = NULL;
}

/* ---- transactions ---- */

tacit_status tacit_store_run(tacit_ledger_file *file, tacit_statement which, const char *doing,
                             tacit_error *err)
{
    sqlite3_stmt *s = file->statement[which];
    const int code = sqlite3_step(s);
    tacit_status status = code == SQLITE_DONE ? TACIT_OK : tacit_store_fail(file, code, doing, err);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return status;
}

static tacit_status check_in_place(tacit_ledger_file *file, tacit_error *err)
{
    const tacit_db d = db_of(file);
    tacit_status status = tacit_db_check_in_place(&d, err);
    file->broken |= status != TACIT_OK;
    return status;
}

bool tacit_store_is_own(const tacit_ledger_file *file)
{
    return file->owner == tacit_random_process();
}

tacit_status tacit_store_may_write(tacit_ledger_file *file, tacit_error *err)
{
    if (!tacit_store_is_own(file))
        return tacit_fail(err, TACIT_EUSAGE,
                          "the ledger \"%.300s\" belongs to the process that opened it, not to its "
                          "child: both would spend the same budget",
                          file->path);
    if (file->looking)
        return tacit_fail(err, TACIT_EUSAGE, "the ledger \"%.300s\" was opened to look only",
                          file->path);
    if (file->broken)
        return tacit_fail(err, TACIT_EINPUT,
                          "the ledger \"%.300s\" takes no more since a write failed; close it and "
                          "open it again",
                          file->path);
    return check_in_place(file, err);
}

tacit_status tacit_store_begin(tacit_ledger_file *file, tacit_error *err)
{
    tacit_status status = tacit_store_may_write(file, err);
    if (status)
        return status;
    status = tacit_store_run(file, TACIT_SQL_BEGIN, "write to", err);
    file->broken = status != TACIT_OK;
    return status;
}

tacit_status tacit_store_end(tacit_ledger_file *file, tacit_status status, tacit_error *err)
{
    if (!status)
        status = tacit_store_run(file, TACIT_SQL_COMMIT, "write to", err);
    if (!status)
        return check_in_place(file, err);
    if (!sqlite3_get_autocommit(file->db))
        tacit_store_run(file, TACIT_SQL_ROLLBACK, "write to", NULL);
    file->broken = true;
    return status;
}
