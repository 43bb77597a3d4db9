/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.db: what a node needs to go on where it was, and nothing that privacy depends on.
 *
 * Why an older copy of it, or none, tells nobody more than was paid for: what was told and what it
 * cost is in the ledgers, which are not asked for permission here. From an older state an agent
 * computes other words than it would have, and pays for each of them. That a state is older shows,
 * since it says after which release it was kept and the ledger knows the last one; the other
 * way round, a ledger that knows less than node.db was rolled back, and that is refused (store.c).
 * Noise is drawn by the ids of the ledger, which never come again. The incarnation follows the wall
 * clock where that is ahead, and peers say so if it is not enough (node_store_rise).
 *
 * A rollback journal as for ledgers, not a log: it is written every few seconds at most, so there
 * is no hurry, what was committed is in the one file, and a backup of that file is complete.
 * synchronous=FULL waits for the file and for the journal's end, which in journal_mode=TRUNCATE is
 * a change of the journal itself; EXTRA would add nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/node/store_inside.h"

enum { MAGIC = 0x5443544e, VERSION = 2 }; /* "TCTN" */

/* In the order of their names. */
static const struct {
    const char *name, *sql;
} tables[] = {
    {"head", "CREATE TABLE head(id INTEGER PRIMARY KEY,run BLOB NOT NULL,identity BLOB NOT NULL,"
             "incarnation INTEGER NOT NULL,elapsed REAL NOT NULL,wall REAL NOT NULL,"
             "boot REAL NOT NULL,boot_id TEXT NOT NULL,digest BLOB NOT NULL)"},
    {"peer", "CREATE TABLE peer(identity BLOB PRIMARY KEY,bytes BLOB NOT NULL) WITHOUT ROWID"},
    {"state", "CREATE TABLE state(agent INTEGER PRIMARY KEY,after INTEGER NOT NULL,bytes BLOB,"
              "digest BLOB NOT NULL)"},
};
enum { TABLES = sizeof tables / sizeof *tables };

static const char *const sql[STORE_STATEMENTS] = {
    [STORE_BEGIN] = "BEGIN IMMEDIATE",
    [STORE_COMMIT] = "COMMIT",
    [STORE_ROLLBACK] = "ROLLBACK",
    [STORE_SET_HEAD] = "INSERT OR REPLACE INTO head VALUES(1,?,?,?,?,?,?,?,?)",
    [STORE_GET_HEAD] = "SELECT run,identity,incarnation,elapsed,wall,boot,boot_id,digest FROM head",
    [STORE_ADD_STATE] = "INSERT INTO state VALUES(?1,?2,?3,?4)",
    [STORE_SET_STATE] = "UPDATE state SET after=?2,bytes=?3,digest=?4 WHERE agent=?1",
    [STORE_GET_STATE] = "SELECT after,bytes,digest FROM state WHERE agent=?1",
    [STORE_COUNT_STATES] = "SELECT count(*) FROM state",
    [STORE_SET_PEER] = "UPDATE peer SET bytes=?2 WHERE identity=?1",
    [STORE_ADD_PEER] = "INSERT INTO peer VALUES(?1,?2)",
    [STORE_PEERS] = "SELECT identity,bytes FROM peer ORDER BY identity",
    [STORE_COUNT_PEERS] = "SELECT count(*) FROM peer",
};

/* ---- errors ---- */

tacit_status store_db_fail(const node_store *store, int code, const char *doing, tacit_error *err)
{
    const int primary = code & 0xff;
    if (primary == SQLITE_NOMEM)
        return tacit_out_of_memory(err);
    if (primary == SQLITE_NOTADB || primary == SQLITE_CORRUPT || code == SQLITE_IOERR_SHORT_READ)
        return tacit_fail(err, TACIT_EVERIFY,
                          "\"%.300s\" is no node's database, or was cut or damaged (%s); it is "
                          "left as it is. Without it a node goes on from its last releases",
                          store->path, sqlite3_errstr(code));
    const int number = store->db ? sqlite3_system_errno(store->db) : 0;
    const bool full = primary == SQLITE_FULL || code == SQLITE_IOERR_WRITE || number == ENOSPC ||
                      number == EDQUOT || number == EFBIG;
    return tacit_fail(err, TACIT_EINPUT, "cannot %s \"%.250s\": %s%s%s%s%s", doing, store->path,
                      sqlite3_errstr(code), number ? " (" : "", number ? strerror(number) : "",
                      number ? ")" : "", full ? "; is there room on the disk?" : "");
}

tacit_status store_db_not_ours(const node_store *store, const char *why, tacit_error *err)
{
    return tacit_fail(err, TACIT_EVERIFY, "\"%.300s\" %s; it is left as it is", store->path, why);
}

/* ---- statements ---- */

tacit_status store_db_run(node_store *store, store_statement which, tacit_error *err)
{
    sqlite3_stmt *s = store->statement[which];
    const int code = sqlite3_step(s);
    tacit_status status =
        code == SQLITE_DONE ? TACIT_OK : store_db_fail(store, code, "write to", err);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return status;
}

static tacit_status run_text(node_store *store, const char *text, tacit_error *err)
{
    const int code = sqlite3_exec(store->db, text, NULL, NULL, NULL);
    return code ? store_db_fail(store, code, "write to", err) : TACIT_OK;
}

/* The first value of the first row: a number, or whether it is `word`. */
static int ask(node_store *store, const char *text, const char *word, int64_t *number)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(store->db, text, -1, &s, NULL);
    *number = 0;
    if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *said = (const char *)sqlite3_column_text(s, 0);
        *number = word ? said && strcmp(said, word) == 0 : sqlite3_column_int64(s, 0);
        code = SQLITE_OK;
    }
    sqlite3_finalize(s);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static tacit_status prepare_all(node_store *store, tacit_error *err)
{
    for (int i = 0; i < STORE_STATEMENTS; i++) {
        const int code = sqlite3_prepare_v3(store->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                            &store->statement[i], NULL);
        if (code)
            return store_db_fail(store, code, "read", err);
    }
    return TACIT_OK;
}

/* ---- opening ---- */

/* Each of the plan's agents has a row, and nobody else. */
static tacit_status check_agents(node_store *store, tacit_error *err)
{
    int64_t rows = 0;
    uint64_t release;
    for (uint32_t i = 0; i < store->count; i++) {
        tacit_status status = store_db_get_state(store, i, &release, NULL, NULL, err);
        if (status)
            return status;
    }
    const int code = ask(store, sql[STORE_COUNT_STATES], NULL, &rows);
    if (code)
        return store_db_fail(store, code, "read", err);
    return rows == store->count
               ? TACIT_OK
               : tacit_fail(err, TACIT_EINPUT,
                            "\"%.300s\" was made for %lld agents, not for %u; give each set of "
                            "agents its own folder",
                            store->path, (long long)rows, store->count);
}

static tacit_status check_schema(node_store *store, tacit_error *err)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(store->db, "SELECT name,sql FROM sqlite_schema ORDER BY name", -1,
                                  &s, NULL);
    int seen = 0;
    bool same = true;
    while (!code && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        const char *text = (const char *)sqlite3_column_text(s, 1);
        same = same && seen < TABLES && name && text && !strcmp(name, tables[seen].name) &&
               !strcmp(text, tables[seen].sql);
        seen++;
        code = SQLITE_OK;
    }
    sqlite3_finalize(s);
    if (code != SQLITE_DONE)
        return store_db_fail(store, code, "read", err);
    return same && seen == TABLES ? TACIT_OK
                                  : store_db_not_ours(store, "is no node's database", err);
}

/* Ours, whole, and of this version. */
static tacit_status check_looks(node_store *store, int64_t magic, tacit_error *err)
{
    int64_t version = 0, whole = 0, logs = 0, peers = 0;
    if (magic != MAGIC)
        return store_db_not_ours(store, "is no node's database, or its beginning was lost", err);
    int code = ask(store, "PRAGMA user_version", NULL, &version);
    if (!code)
        code = ask(store, "PRAGMA journal_mode", "wal", &logs);
    if (!code && version == VERSION && !logs)
        code = ask(store, "PRAGMA quick_check(1)", "ok", &whole);
    if (code)
        return store_db_fail(store, code, "read", err);
    if (version != VERSION)
        return store_db_not_ours(store, "was written by another version of this program", err);
    if (logs || !whole)
        return store_db_not_ours(store, "was damaged or changed", err);
    tacit_status status = check_schema(store, err);
    if (status)
        return status;
    code = ask(store, sql[STORE_COUNT_PEERS], NULL, &peers);
    store->peers = (uint64_t)peers;
    return code ? store_db_fail(store, code, "read", err) : TACIT_OK;
}

/* SQLite would make it by the umask. */
static tacit_status make_file(const node_store *store, bool may_make, tacit_error *err)
{
    const int fd =
        open(store->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (may_make ? O_CREAT : 0), 0600);
    if (fd < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot open \"%.300s\": %s", store->path,
                          strerror(errno));
    close(fd);
    return TACIT_OK;
}

static int connect_to(node_store *store)
{
    const int code = sqlite3_open_v2(store->path, &store->db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE, NULL);
    if (code)
        return code;
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    return sqlite3_exec(store->db,
                        "PRAGMA locking_mode=EXCLUSIVE;PRAGMA cell_size_check=ON;"
                        "PRAGMA mmap_size=0;PRAGMA temp_store=MEMORY;PRAGMA cache_size=-256",
                        NULL, NULL, NULL);
}

static tacit_status make_durable(node_store *store, tacit_error *err)
{
    int64_t same = 0;
    const int code = ask(store, "PRAGMA journal_mode=TRUNCATE", "truncate", &same);
    if (code || !same)
        return store_db_fail(store, code ? code : SQLITE_IOERR, "write to", err);
    return run_text(store, "PRAGMA synchronous=FULL", err);
}

static tacit_status look_inside(node_store *store, bool *fresh, tacit_error *err)
{
    int64_t things = 0, magic = 0;
    int code = ask(store, "SELECT count(*) FROM sqlite_schema", NULL, &things);
    if (!code)
        code = ask(store, "PRAGMA application_id", NULL, &magic);
    if (code)
        return store_db_fail(store, code, "read", err);
    *fresh = things == 0 && magic == 0;
    tacit_status status = *fresh ? TACIT_OK : check_looks(store, magic, err);
    if (!status)
        status = make_durable(store, err);
    if (status || *fresh)
        return status;
    status = prepare_all(store, err);
    if (!status)
        status = store_db_read_head(store, err);
    return status ? status : check_agents(store, err);
}

tacit_status store_db_open(node_store *store, bool may_make, bool *fresh, tacit_error *err)
{
    *fresh = false;
    tacit_status status = make_file(store, may_make, err);
    if (status)
        return status;
    const int code = connect_to(store);
    status = code ? store_db_fail(store, code, "open", err) : look_inside(store, fresh, err);
    if (status)
        store_db_close(store);
    return status;
}

tacit_status store_db_fill(node_store *store, tacit_error *err)
{
    tacit_status status = run_text(store, "BEGIN IMMEDIATE", err);
    for (int i = 0; i < TABLES && !status; i++)
        status = run_text(store, tables[i].sql, err);
    if (!status)
        status = run_text(store, "PRAGMA application_id=0x5443544e;PRAGMA user_version=2", err);
    if (!status)
        status = prepare_all(store, err);
    if (!status)
        status = store_db_write_head(store, err);
    for (uint32_t i = 0; i < store->count && !status; i++)
        status = store_db_write_state(store, STORE_ADD_STATE, i, NULL, 0, err);
    if (!status)
        status = run_text(store, "COMMIT", err);
    if (!status && !tacit_sync_folder_of(store->path))
        status = tacit_fail(err, TACIT_EINPUT, "cannot make \"%.300s\" durable: %s", store->path,
                            strerror(errno));
    return status;
}

void store_db_close(node_store *store)
{
    for (int i = 0; i < STORE_STATEMENTS; i++) {
        sqlite3_finalize(store->statement[i]);
        store->statement[i] = NULL;
    }
    if (store->db && !store->db_broken) /* so that the empty journal is removed */
        sqlite3_exec(store->db, "PRAGMA locking_mode=NORMAL;PRAGMA journal_mode=DELETE", NULL, NULL,
                     NULL);
    sqlite3_close(store->db);
    store->db = NULL;
}

/* ---- transactions ---- */

static tacit_status check_in_place(const node_store *store, tacit_error *err)
{
    int moved = 0;
    const int code = sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (code == SQLITE_OK && !moved)
        return TACIT_OK;
    return tacit_fail(
        err, TACIT_EVERIFY,
        "\"%.300s\" was moved, removed or replaced while it was in use; bring it back",
        store->path);
}

tacit_status store_db_begin(node_store *store, tacit_error *err)
{
    tacit_status status = check_in_place(store, err);
    return status ? status : store_db_run(store, STORE_BEGIN, err);
}

tacit_status store_db_end(node_store *store, tacit_status status, tacit_error *err)
{
    if (!status)
        status = store_db_run(store, STORE_COMMIT, err);
    if (!status)
        return check_in_place(store, err);
    if (!sqlite3_get_autocommit(store->db))
        store_db_run(store, STORE_ROLLBACK, NULL);
    return status;
}
