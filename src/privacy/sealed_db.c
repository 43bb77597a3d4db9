/* SPDX-License-Identifier: Apache-2.0 */
/*
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
#include "privacy/sealed_db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* ---- errors ---- */

static tacit_status fail_on_disk(const tacit_db *d, int code, const char *doing, tacit_error *err)
{
    const int number = d->db ? sqlite3_system_errno(d->db) : 0;
    /* SQLite does not always hand on why a write failed; mostly there is no room. */
    const bool full = (code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_WRITE ||
                      number == ENOSPC || number == EDQUOT || number == EFBIG;
    return tacit_fail(err, TACIT_EINPUT, "cannot %s the ledger \"%.250s\": %s%s%s%s%s", doing,
                      d->path, sqlite3_errstr(code), number ? " (" : "",
                      number ? strerror(number) : "", number ? ")" : "",
                      full ? "; is there room on the disk?" : "");
}

tacit_status tacit_db_fail(const tacit_db *d, int code, const char *doing, tacit_error *err)
{
    if (code == SQLITE_IOERR_SHORT_READ)
        code = SQLITE_CORRUPT;
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return tacit_out_of_memory(err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return tacit_fail(err, TACIT_EINPUT,
                          "the ledger \"%.300s\" is in use by another process; %s", d->path,
                          d->kind->alone ? "a ledger has one user at a time"
                                         : "it did not become free in time, try again");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return tacit_fail(err, TACIT_EVERIFY,
                          "\"%.300s\" is no ledger, or was cut or damaged (%s); it is left as it "
                          "is",
                          d->path, sqlite3_errstr(code));
    default:
        return fail_on_disk(d, code, doing, err);
    }
}

/* ---- questions ---- */

tacit_status tacit_db_run(const tacit_db *d, const char *text, const char *doing, tacit_error *err)
{
    const int code = sqlite3_exec(d->db, text, NULL, NULL, NULL);
    return code ? tacit_db_fail(d, code, doing, err) : TACIT_OK;
}

/* The number a pragma answers. */
static int pragma_number(const tacit_db *d, const char *text, int64_t *number)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(d->db, text, -1, &s, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        *number = sqlite3_column_int64(s, 0);
        code = SQLITE_OK;
    }
    sqlite3_finalize(s);
    return code;
}

/* Whether a pragma answers `word`. */
static int pragma_says(const tacit_db *d, const char *text, const char *word, bool *same)
{
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(d->db, text, -1, &s, NULL);
    *same = false;
    if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *answer = (const char *)sqlite3_column_text(s, 0);
        *same = answer && strcmp(answer, word) == 0;
        code = SQLITE_OK;
    }
    sqlite3_finalize(s);
    return code;
}

static tacit_status not_ours(const tacit_db *d, const char *why, tacit_error *err)
{
    return tacit_fail(err, TACIT_EVERIFY, "\"%.300s\" %s; it is left as it is", d->path, why);
}

static tacit_status check_schema(const tacit_db *d, tacit_error *err)
{
    sqlite3_stmt *s = NULL;
    int code =
        sqlite3_prepare_v2(d->db, "SELECT name,sql FROM sqlite_schema ORDER BY name", -1, &s, NULL);
    const tacit_db_table *tables = d->kind->tables;
    int seen = 0;
    bool same = true;
    while (!code && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        const char *text = (const char *)sqlite3_column_text(s, 1);
        same = same && seen < d->kind->count && name && text && !strcmp(name, tables[seen].name) &&
               !strcmp(text, tables[seen].sql);
        seen++;
        code = SQLITE_OK;
    }
    sqlite3_finalize(s);
    if (code != SQLITE_DONE)
        return tacit_db_fail(d, code, "read", err);
    return same && seen == d->kind->count
               ? TACIT_OK
               : not_ours(d, "is no ledger, or its tables were changed", err);
}

tacit_status tacit_db_check_looks(const tacit_db *d, tacit_error *err)
{
    int64_t magic = 0, version = 0;
    bool logs = false;
    int code = pragma_number(d, "PRAGMA application_id", &magic);
    if (!code)
        code = pragma_number(d, "PRAGMA user_version", &version);
    if (!code)
        code = pragma_says(d, "PRAGMA journal_mode", "wal", &logs);
    if (code)
        return tacit_db_fail(d, code, "read", err);
    if (magic != d->kind->magic)
        return not_ours(d, "is no ledger, or its beginning was lost", err);
    if (version != d->kind->version)
        return not_ours(d, "is a ledger of another version", err);
    if (logs)
        return not_ours(d,
                        "has a log (\"-wal\") or was changed into one with a log, which can lose "
                        "entries unnoticed",
                        err);
    return check_schema(d, err);
}

static tacit_status make_tables(const tacit_db *d, tacit_error *err)
{
    char marks[100];
    tacit_status status = tacit_db_run(d, "BEGIN IMMEDIATE", "make", err);
    for (int i = 0; i < d->kind->count && !status; i++)
        status = tacit_db_run(d, d->kind->tables[i].sql, "make", err);
    snprintf(marks, sizeof marks, "PRAGMA application_id=%d;PRAGMA user_version=%d", d->kind->magic,
             d->kind->version);
    if (!status)
        status = tacit_db_run(d, marks, "make", err);
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
static bool is_archived(const char *path)
{
    if (access(path, W_OK) == 0)
        return false;
    struct stat info;
    char *journal = tacit_path_with(path, "-journal");
    const bool alone = journal && (stat(journal, &info) != 0 || info.st_size == 0);
    free(journal);
    return alone;
}

static int open_database(tacit_db *d, bool looking)
{
    char *path = plain_path(d->path), *name = NULL;
    if (!path)
        return SQLITE_NOMEM;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE;
    if (looking && is_archived(path)) {
        flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE;
        name = immutable_name(path);
        if (!name) {
            free(path);
            return SQLITE_NOMEM;
        }
    }
    const int code = sqlite3_open_v2(name ? name : path, &d->db, flags, NULL);
    free(name);
    free(path);
    return code;
}

static int connect_to(tacit_db *d, bool looking)
{
    const int code = open_database(d, looking);
    if (code)
        return code;
    sqlite3_extended_result_codes(d->db, 1);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    /* A file that was turned into one with a log must not take the log in when it is closed. */
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    /* A commit touches a handful of pages, however long the ledger is; but one with a large model
     * in it must not be written in two halves for want of cache. */
    sqlite3_busy_timeout(d->db, d->kind->wait_ms);
    if (d->kind->alone)
        sqlite3_exec(d->db, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);
    return sqlite3_exec(d->db,
                        "PRAGMA cell_size_check=ON;"
                        "PRAGMA mmap_size=0;PRAGMA temp_store=MEMORY;"
                        "PRAGMA cache_size=-256;PRAGMA cache_spill=OFF",
                        NULL, NULL, NULL);
}

tacit_status tacit_db_connect(tacit_db *d, bool looking, tacit_error *err)
{
    const int code = connect_to(d, looking);
    return code ? tacit_db_fail(d, code, "open", err) : TACIT_OK;
}

bool tacit_db_is_empty(const tacit_db *d)
{
    int64_t things = 1;
    return pragma_number(d, "SELECT count(*) FROM sqlite_schema", &things) == SQLITE_OK &&
           things == 0;
}

tacit_status tacit_db_make_durable(const tacit_db *d, tacit_error *err)
{
    bool same = false;
    const int code = pragma_says(d, "PRAGMA journal_mode=TRUNCATE", "truncate", &same);
    if (code || !same)
        return tacit_db_fail(d, code ? code : SQLITE_IOERR, "write to", err);
    return tacit_db_run(d, "PRAGMA synchronous=EXTRA", "write to", err);
}

tacit_status tacit_db_make(const tacit_db *d, tacit_error *err)
{
    if (!tacit_db_is_empty(d))
        return not_ours(d, "is there already and holds something", err);
    tacit_status status = tacit_db_make_durable(d, err);
    return status ? status : make_tables(d, err);
}

tacit_status tacit_db_check_in_place(const tacit_db *d, tacit_error *err)
{
    int moved = 0;
    const int code = sqlite3_file_control(d->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (code == SQLITE_OK && !moved)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EVERIFY,
                      "the ledger \"%.300s\" was moved, removed or replaced while it was in use; "
                      "it takes no more, bring it back and open it again",
                      d->path);
}
