/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The database of a ledger file: three tables, no index, no trigger. Exclusive locks, so that two
 * processes cannot spend the same budget.
 *
 * A rollback journal, not a write-ahead log. With a log the last entries are in the log alone, and
 * where a log is damaged, cut or gone SQLite takes it to end there and goes on with what came
 * before: an older state, whole and well sealed, that has forgotten what was told. With a journal,
 * what was committed is in the file itself, under its seals. The journal holds what a transaction
 * under way replaces, and its loss leaves pages of two states side by side: either nothing was
 * lost, or the seals do not fit. Nobody has been told anything yet at that point.
 * A transaction ends when the journal is cut to nothing and that is on the disk
 * (synchronous=EXTRA): before that, a power cut would take back what was told.
 *
 * The file may come from an enemy. The schema must be ours letter by letter before anything else
 * is asked of it, so that no trigger or view runs; SQLite's own defences are on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "privacy/ledger_store.h"

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

/* In the order of their names. */
static const struct {
    const char *name, *sql;
} tables[] = {{"entry", entry_table}, {"head", head_table}, {"outbox", outbox_table}};
enum { TABLES = sizeof tables / sizeof *tables };

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
    [TACIT_SQL_SCHEMA] = "SELECT name,sql FROM sqlite_schema ORDER BY name",
};

/* ---- errors ---- */

static tacit_status fail_on_disk(const tacit_ledger_file *file, int code, const char *doing,
                                 tacit_error *err)
{
    const int number = file->db ? sqlite3_system_errno(file->db) : 0;
    /* SQLite does not always hand on why a write failed; mostly there is no room. */
    const bool full = (code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_WRITE ||
                      number == ENOSPC || number == EDQUOT || number == EFBIG;
    return tacit_fail(err, TACIT_EINPUT, "cannot %s the ledger \"%.250s\": %s%s%s%s%s", doing,
                      file->path, sqlite3_errstr(code), number ? " (" : "",
                      number ? strerror(number) : "", number ? ")" : "",
                      full ? "; is there room on the disk?" : "");
}

tacit_status tacit_store_fail(const tacit_ledger_file *file, int code, const char *doing,
                              tacit_error *err)
{
    if (code == SQLITE_IOERR_SHORT_READ)
        code = SQLITE_CORRUPT;
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return tacit_out_of_memory(err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return tacit_fail(err, TACIT_EINPUT,
                          "the ledger \"%.300s\" is in use by another process; a ledger has one "
                          "user at a time",
                          file->path);
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return tacit_fail(err, TACIT_EVERIFY,
                          "\"%.300s\" is no ledger, or was cut or damaged (%s); it is left as it "
                          "is",
                          file->path, sqlite3_errstr(code));
    default:
        return fail_on_disk(file, code, doing, err);
    }
}

/* ---- opening ---- */

static tacit_status run_text(tacit_ledger_file *file, const char *text, const char *doing,
                             tacit_error *err)
{
    const int code = sqlite3_exec(file->db, text, NULL, NULL, NULL);
    return code ? tacit_store_fail(file, code, doing, err) : TACIT_OK;
}

/* The number a pragma answers. */
static int pragma_number(tacit_ledger_file *file, const char *text, int64_t *number)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(file->db, text, -1, &s, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        *number = sqlite3_column_int64(s, 0);
        code = SQLITE_OK;
    }
    sqlite3_finalize(s);
    return code;
}

/* Whether a pragma answers `word`. */
static int pragma_says(tacit_ledger_file *file, const char *text, const char *word, bool *same)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(file->db, text, -1, &s, NULL);
    *same = false;
    if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *answer = (const char *)sqlite3_column_text(s, 0);
        *same = answer && strcmp(answer, word) == 0;
        code = SQLITE_OK;
    }
    sqlite3_finalize(s);
    return code;
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

static tacit_status not_ours(const tacit_ledger_file *file, const char *why, tacit_error *err)
{
    return tacit_fail(err, TACIT_EVERIFY, "\"%.300s\" %s; it is left as it is", file->path, why);
}

static tacit_status check_schema(tacit_ledger_file *file, tacit_error *err)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(file->db, sql[TACIT_SQL_SCHEMA], -1, &s, NULL);
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
        return tacit_store_fail(file, code, "read", err);
    return same && seen == TABLES ? TACIT_OK
                                  : not_ours(file, "is no ledger, or its tables were changed", err);
}

static tacit_status check_looks(tacit_ledger_file *file, tacit_error *err)
{
    int64_t magic = 0, version = 0;
    bool logs = false;
    int code = pragma_number(file, "PRAGMA application_id", &magic);
    if (!code)
        code = pragma_number(file, "PRAGMA user_version", &version);
    if (!code)
        code = pragma_says(file, "PRAGMA journal_mode", "wal", &logs);
    if (code)
        return tacit_store_fail(file, code, "read", err);
    if (magic != TACIT_LEDGER_MAGIC)
        return not_ours(file, "is no ledger, or its beginning was lost", err);
    if (version != TACIT_LEDGER_VERSION)
        return not_ours(file, "is a ledger of another version", err);
    if (logs)
        return not_ours(file,
                        "has a log (\"-wal\") or was changed into one with a log, which can lose "
                        "entries unnoticed",
                        err);
    return check_schema(file, err);
}

static tacit_status make_tables(tacit_ledger_file *file, tacit_error *err)
{
    tacit_status status = run_text(file, "BEGIN IMMEDIATE", "make", err);
    for (int i = 0; i < TABLES && !status; i++)
        status = run_text(file, tables[i].sql, "make", err);
    if (!status)
        status =
            run_text(file, "PRAGMA application_id=0x5443544c;PRAGMA user_version=1", "make", err);
    return status; /* committed together with the head */
}

/* Names that mean something else to SQLite: "", ":memory:", "file:...". */
static char *plain_path(const char *path)
{
    const size_t len = strlen(path), extra = path[0] == '/' ? 0 : 2;
    char *out = malloc(len + extra + 1);
    if (!out)
        return NULL;
    memcpy(out, "./", extra);
    memcpy(out + extra, path, len + 1);
    return out;
}

/* Nothing can be written there, so there is no journal either: "file:PATH?immutable=1". */
static char *immutable_name(const char *path)
{
    static const char digits[] = "0123456789abcdef", before[] = "file:", after[] = "?immutable=1";
    char *out = malloc(3 * strlen(path) + sizeof before + sizeof after), *at = out;
    if (!out)
        return NULL;
    memcpy(at, before, sizeof before - 1);
    at += sizeof before - 1;
    for (; *path; path++) {
        const unsigned char c = (unsigned char)*path;
        *at++ = '%';
        *at++ = digits[c >> 4];
        *at++ = digits[c & 15];
    }
    memcpy(at, after, sizeof after);
    return out;
}

/* On a read-only medium, or of somebody else, and complete: without a journal beside it. */
static bool is_archived(const tacit_ledger_file *file, const char *path)
{
    if (!file->looking || access(path, W_OK) == 0)
        return false;
    struct stat info;
    char *journal = tacit_path_with(path, "-journal");
    const bool alone = journal && (stat(journal, &info) != 0 || info.st_size == 0);
    free(journal);
    return alone;
}

static int open_database(tacit_ledger_file *file)
{
    char *path = plain_path(file->path), *name = NULL;
    if (!path)
        return SQLITE_NOMEM;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE;
    if (is_archived(file, path)) {
        flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE;
        name = immutable_name(path);
        if (!name) {
            free(path);
            return SQLITE_NOMEM;
        }
    }
    const int code = sqlite3_open_v2(name ? name : path, &file->db, flags, NULL);
    free(name);
    free(path);
    return code;
}

static int connect_to(tacit_ledger_file *file)
{
    const int code = open_database(file);
    if (code)
        return code;
    sqlite3_extended_result_codes(file->db, 1);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    /* A file that was turned into one with a log must not take the log in when it is closed. */
    sqlite3_db_config(file->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    /* A commit touches a handful of pages, however long the ledger is; but one with a large model
     * in it must not be written in two halves for want of cache. */
    return sqlite3_exec(file->db,
                        "PRAGMA locking_mode=EXCLUSIVE;PRAGMA cell_size_check=ON;"
                        "PRAGMA mmap_size=0;PRAGMA temp_store=MEMORY;"
                        "PRAGMA cache_size=-256;PRAGMA cache_spill=OFF",
                        NULL, NULL, NULL);
}

bool tacit_store_is_empty(tacit_ledger_file *file)
{
    int64_t things = 1;
    return pragma_number(file, "SELECT count(*) FROM sqlite_schema", &things) == SQLITE_OK &&
           things == 0;
}

tacit_status tacit_store_make_durable(tacit_ledger_file *file, tacit_error *err)
{
    bool same = false;
    const int code = pragma_says(file, "PRAGMA journal_mode=TRUNCATE", "truncate", &same);
    if (code || !same)
        return tacit_store_fail(file, code ? code : SQLITE_IOERR, "write to", err);
    return run_text(file, "PRAGMA synchronous=EXTRA", "write to", err);
}

tacit_status tacit_store_connect(tacit_ledger_file *file, tacit_error *err)
{
    const int code = connect_to(file);
    return code ? tacit_store_fail(file, code, "open", err) : TACIT_OK;
}

tacit_status tacit_store_open(tacit_ledger_file *file, bool fresh, tacit_error *err)
{
    tacit_status status = tacit_store_connect(file, err);
    if (status)
        return status;
    if (!fresh)
        status = check_looks(file, err);
    else if (!tacit_store_is_empty(file))
        status = not_ours(file, "is there already and holds something", err);
    else if (!(status = tacit_store_make_durable(file, err)))
        status = make_tables(file, err);
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

/* What is written to a file that has lost its name is told and forgotten. */
static tacit_status check_in_place(tacit_ledger_file *file, tacit_error *err)
{
    int moved = 0;
    const int code = sqlite3_file_control(file->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (code == SQLITE_OK && !moved)
        return TACIT_OK;
    file->broken = true;
    return tacit_fail(err, TACIT_EVERIFY,
                      "the ledger \"%.300s\" was moved, removed or replaced while it was in use; "
                      "it takes no more, bring it back and open it again",
                      file->path);
}

bool tacit_store_is_own(const tacit_ledger_file *file)
{
    return file->owner == getpid();
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
