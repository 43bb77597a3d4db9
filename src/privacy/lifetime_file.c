/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of the lifetime ledger: opening, transactions. Processes share it: each transaction
 * takes SQLite's lock (waiting a bounded time), compares the tables, reads and verifies all events
 * and decides on what it has just read. So what two processes do is as if one came after the
 * other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "privacy/ledger_store.h"
#include "privacy/lifetime_inside.h"
#include "tacit/random.h"

enum { WAIT_MS = 20000, NAP_MS = 20 };

static const char cost_table[] =
    "CREATE TABLE cost("
    "id INTEGER PRIMARY KEY,event INTEGER NOT NULL,releases INTEGER NOT NULL,"
    "what TEXT NOT NULL,mechanism TEXT NOT NULL,norm TEXT NOT NULL,unit TEXT NOT NULL,"
    "adjacency TEXT NOT NULL,sensitivity REAL NOT NULL,noise REAL NOT NULL,grid INTEGER NOT NULL,"
    "coordinates INTEGER NOT NULL,sampling REAL NOT NULL,categories INTEGER NOT NULL)";
static const char event_table[] =
    "CREATE TABLE event("
    "id INTEGER PRIMARY KEY,at REAL NOT NULL,kind TEXT NOT NULL,dataset INTEGER NOT NULL,"
    "other INTEGER NOT NULL,reservation INTEGER NOT NULL,name TEXT NOT NULL,run TEXT NOT NULL,"
    "agent INTEGER NOT NULL,agent_name TEXT NOT NULL,protocol TEXT NOT NULL,"
    "adversary TEXT NOT NULL,nonce BLOB NOT NULL,epsilon REAL NOT NULL,delta REAL NOT NULL,"
    "aside REAL NOT NULL,unit TEXT NOT NULL,adjacency TEXT NOT NULL,filter TEXT NOT NULL,"
    "block INTEGER NOT NULL,risk REAL NOT NULL,costs INTEGER NOT NULL,mac BLOB NOT NULL)";
static const char head_table[] =
    "CREATE TABLE head("
    "id INTEGER PRIMARY KEY,events INTEGER NOT NULL,costs INTEGER NOT NULL,"
    "records INTEGER NOT NULL,last_mac BLOB NOT NULL,records_sum BLOB NOT NULL,"
    "key_check BLOB NOT NULL,seal BLOB NOT NULL)";
static const char record_table[] =
    "CREATE TABLE record(print BLOB PRIMARY KEY,dataset INTEGER NOT NULL) WITHOUT ROWID";

static const tacit_db_table tables[] = {
    {"cost", cost_table}, {"event", event_table}, {"head", head_table}, {"record", record_table}};
static const tacit_db_kind kind = {.magic = LIFETIME_MAGIC,
                                   .version = LIFETIME_VERSION,
                                   .tables = tables,
                                   .count = sizeof tables / sizeof *tables,
                                   .wait_ms = WAIT_MS};

static const char *const sql[] = {
    [LIFETIME_SQL_EVENTS] = "SELECT * FROM event ORDER BY id",
    [LIFETIME_SQL_COSTS] = "SELECT * FROM cost ORDER BY id",
    [LIFETIME_SQL_GET_HEAD] = "SELECT * FROM head ORDER BY id",
    [LIFETIME_SQL_SET_HEAD] = "INSERT OR REPLACE INTO head VALUES(1,?,?,?,?,?,?,?)",
    [LIFETIME_SQL_ADD_EVENT] =
        "INSERT INTO event VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [LIFETIME_SQL_ADD_COST] = "INSERT INTO cost VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [LIFETIME_SQL_RECORDS] = "SELECT print,dataset FROM record",
    [LIFETIME_SQL_FIND_RECORD] = "SELECT dataset FROM record WHERE print=?",
    [LIFETIME_SQL_ADD_RECORD] = "INSERT INTO record VALUES(?,?)",
};

/* ---- opening ---- */

void tacit_lifetime_close(tacit_lifetime *l)
{
    if (!l)
        return;
    for (int i = 0; i < LIFETIME_STATEMENTS; i++)
        sqlite3_finalize(l->statement[i]);
    if (l->d.db && !l->looking && !l->broken && l->owner == tacit_random_process())
        sqlite3_exec(l->d.db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL); /* tidy */
    sqlite3_close(l->d.db);
    lifetime_book_clear(&l->book);
    tacit_chain_wipe(&l->start);
    tacit_chain_wipe(&l->chain);
    tacit_chain_wipe(&l->head);
    tacit_chain_wipe(&l->check);
    tacit_chain_wipe(&l->marks);
    tacit_chain_wipe(&l->prints);
    free(l->path);
    free(l);
}

static tacit_lifetime *start(const char *path, const tacit_key *key, bool looking)
{
    tacit_lifetime *l = calloc(1, sizeof *l);
    if (!l || !(l->path = strdup(path))) {
        free(l);
        return NULL;
    }
    l->owner = tacit_random_process();
    l->looking = looking;
    l->d = (tacit_db){.kind = &kind, .path = l->path};
    tacit_chain_begin(&l->start, key, "tacit.lifetime.events/1");
    tacit_chain_begin(&l->head, key, "tacit.lifetime.head/1");
    tacit_chain_begin(&l->check, key, "tacit.lifetime.check/1");
    tacit_chain_begin(&l->marks, key, "tacit.lifetime.marks/1");
    tacit_chain_begin(&l->prints, key, "tacit.lifetime.prints/1");
    return l;
}

static tacit_status prepare_all(tacit_lifetime *l, tacit_error *err)
{
    for (int i = 0; i < LIFETIME_STATEMENTS; i++) {
        const int code = sqlite3_prepare_v3(l->d.db, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                            &l->statement[i], NULL);
        if (code)
            return tacit_db_fail(&l->d, code, "read", err);
    }
    return TACIT_OK;
}

/* Everything is verified once, records too. */
static tacit_status look_through(tacit_lifetime *l, tacit_error *err)
{
    tacit_status status = lifetime_begin(l, err);
    if (status)
        return status;
    status = lifetime_verify_records(l, err);
    return lifetime_end(l, status, false, err);
}

typedef struct making {
    tacit_lifetime **out;
    const char *path;
    bool looking;
} making;

static tacit_status finish(const making *m, tacit_lifetime *l, tacit_status status)
{
    if (status)
        tacit_lifetime_close(l);
    else
        *m->out = l;
    return status;
}

static tacit_status open_it(void *context, const tacit_key *key, tacit_error *err)
{
    const making *m = context;
    tacit_lifetime *l = start(m->path, key, m->looking);
    if (!l)
        return tacit_out_of_memory(err);
    tacit_status status = tacit_db_connect(&l->d, m->looking, err);
    if (!status)
        status = tacit_db_check_looks(&l->d, err);
    if (!status && !m->looking)
        status = tacit_db_make_durable(&l->d, err);
    if (!status)
        status = prepare_all(l, err);
    if (!status)
        status = look_through(l, err);
    return finish(m, l, status);
}

static tacit_status fill(tacit_lifetime *l, tacit_error *err)
{
    tacit_status status = tacit_db_connect(&l->d, false, err);
    if (!status)
        status = tacit_db_make(&l->d, err);
    if (!status)
        status = prepare_all(l, err);
    l->chain = l->start;
    if (!status)
        status = lifetime_write_head(l, err);
    if (!status)
        status = tacit_db_run(&l->d, "COMMIT", "write to", err);
    if (!status && !tacit_sync_folder_of(l->path))
        status = tacit_fail(err, TACIT_EINPUT, "cannot make \"%.300s\" durable: %s", l->path,
                            strerror(errno));
    return status;
}

/* Under the lock. */
static tacit_status create_it(void *context, const tacit_key *key, tacit_error *err)
{
    const making *m = context;
    struct stat made;
    tacit_status status = tacit_ledger_make_empty(m->path, &made, err);
    if (status)
        return status;
    tacit_lifetime *l = start(m->path, key, false);
    status = l ? fill(l, err) : tacit_out_of_memory(err);
    if (l && status)
        l->broken = true;
    status = finish(m, l, status);
    if (status)
        tacit_ledger_file_remove(m->path); /* it was made a moment ago, and nothing is in it */
    return status;
}

static bool is_there(const char *path, const char *end)
{
    char *name = tacit_path_with(path, end);
    const bool there = name && access(name, F_OK) == 0;
    free(name);
    return there;
}

/* While another makes it, wait. */
static tacit_status lock_to_make(const char *path, int *lock, tacit_error *err)
{
    char *name = tacit_path_with(path, ".lock");
    if (!name)
        return tacit_out_of_memory(err);
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
    for (int k = 0; k < WAIT_MS / NAP_MS; k++) {
        *lock = tacit_lock_take(name, true);
        if (*lock >= 0 || errno != EWOULDBLOCK)
            break;
        nanosleep(&nap, NULL);
    }
    const int number = errno;
    free(name);
    return *lock >= 0
               ? TACIT_OK
               : tacit_fail(err, TACIT_EINPUT, "cannot lock the lifetime ledger \"%.300s\": %s",
                            path, strerror(number));
}

tacit_status tacit_lifetime_open(tacit_lifetime **out, const char *path, tacit_error *err)
{
    making m = {.out = out, .path = path};
    const tacit_keyed of = {open_it, create_it, &m};
    int lock = -1;
    *out = NULL;
    /* The key gets its name last, so where it is the ledger is complete. */
    if (is_there(path, ".key") && is_there(path, ""))
        return tacit_keyed_at(path, &of, err);
    tacit_status status = lock_to_make(path, &lock, err);
    if (status)
        return status;
    status = tacit_keyed_at(path, &of, err);
    tacit_ledger_unlock(lock);
    if (status && *out) {
        tacit_lifetime_close(*out);
        *out = NULL;
    }
    return status;
}

tacit_status tacit_lifetime_look(tacit_lifetime **out, const char *path, tacit_error *err)
{
    making m = {.out = out, .path = path, .looking = true};
    *out = NULL;
    if (!is_there(path, "") && !is_there(path, ".key"))
        return tacit_fail(err, TACIT_EINPUT, "there is no lifetime ledger \"%.300s\"", path);
    if (!is_there(path, ".key"))
        return tacit_fail(err, TACIT_EVERIFY,
                          "the key \"%.250s.key\" of the lifetime ledger is gone, so nothing in "
                          "it can be verified; bring it back",
                          path);
    return tacit_keyed_at(path, &(tacit_keyed){open_it, create_it, &m}, err);
}

/* ---- transactions ---- */

tacit_status lifetime_run(tacit_lifetime *l, lifetime_statement which, tacit_error *err)
{
    sqlite3_stmt *s = l->statement[which];
    const int code = sqlite3_step(s);
    tacit_status status =
        code == SQLITE_DONE ? TACIT_OK : tacit_db_fail(&l->d, code, "write to", err);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return status;
}

static tacit_status may_begin(const tacit_lifetime *l, tacit_error *err)
{
    if (l->owner != tacit_random_process())
        return tacit_fail(err, TACIT_EUSAGE,
                          "the lifetime ledger \"%.300s\" was opened by another process; a child "
                          "opens it for itself",
                          l->path);
    if (l->broken)
        return tacit_fail(err, TACIT_EINPUT,
                          "the lifetime ledger \"%.300s\" takes no more since a write failed; "
                          "close it and open it again",
                          l->path);
    return tacit_db_check_in_place(&l->d, err);
}

tacit_status lifetime_begin(tacit_lifetime *l, tacit_error *err)
{
    uint8_t last[TACIT_MAC_BYTES] = {0};
    tacit_status status = may_begin(l, err);
    if (!status)
        status = tacit_db_run(&l->d, l->looking ? "BEGIN" : "BEGIN IMMEDIATE", "read", err);
    if (status)
        return status;
    status = tacit_db_check_looks(&l->d, err);
    if (!status)
        status = lifetime_read_head(l, last, err);
    if (!status)
        status = lifetime_read_events(l, last, err);
    return status ? lifetime_end(l, status, false, err) : TACIT_OK;
}

static tacit_status commit(tacit_lifetime *l, tacit_error *err)
{
    tacit_status status = lifetime_write_head(l, err);
    if (!status)
        status = tacit_db_run(&l->d, "COMMIT", "write to", err);
    l->broken = status != TACIT_OK;
    if (!status) /* else it may have been written to a file that nobody will find again */
        status = tacit_db_check_in_place(&l->d, err);
    return status;
}

tacit_status lifetime_end(tacit_lifetime *l, tacit_status status, bool changed, tacit_error *err)
{
    if (!status && changed)
        status = commit(l, err);
    if (!sqlite3_get_autocommit(l->d.db))
        sqlite3_exec(l->d.db, "ROLLBACK", NULL, NULL, NULL);
    lifetime_book_clear(&l->book);
    tacit_chain_wipe(&l->chain);
    return status;
}

tacit_status lifetime_append(tacit_lifetime *l, lifetime_event *event, tacit_error *err)
{
    if (l->looking)
        return tacit_fail(err, TACIT_EUSAGE,
                          "the lifetime ledger \"%.300s\" was opened to look only", l->path);
    event->id = ++l->events;
    lifetime_seal_event(&l->chain, event);
    tacit_status status = lifetime_write_event(l, event, l->chain.mac, err);
    return status ? status : lifetime_book_play(&l->book, event, err);
}
