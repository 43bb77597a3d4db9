/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_LEDGER_STORE_H
#define TACIT_PRIVACY_LEDGER_STORE_H
/*
 * Inside of a ledger file: the database (ledger_store.c), what a row says and how it is sealed
 * (ledger_rows.c), reading all of it back (ledger_verify.c), making and opening (ledger_open.c,
 * ledger_at.c) under a lock (ledger_lock.c), and what is done with it (ledger_file.c).
 */
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "privacy/release.h"
#include "privacy/rows.h"
#include "privacy/seal.h"

#define TACIT_LEDGER_MAGIC 0x5443544c /* "TCTL", the application id of the database */
#define TACIT_LEDGER_VERSION 1
#define TACIT_RELEASE_MAX (1 << 29) /* bytes; the database takes no more than 1e9 */
/* Ids are set aside on the disk so many at a time. */
#define TACIT_IDS_AHEAD 1024

typedef enum tacit_statement {
    TACIT_SQL_BEGIN,
    TACIT_SQL_COMMIT,
    TACIT_SQL_ROLLBACK,
    TACIT_SQL_ADD_ENTRY,
    TACIT_SQL_ADD_BYTES,
    TACIT_SQL_DROP_BYTES,
    TACIT_SQL_GET_BYTES,
    TACIT_SQL_SET_HEAD,
    TACIT_SQL_GET_HEAD,
    TACIT_SQL_ENTRIES,
    TACIT_SQL_OUTBOX,
    TACIT_STATEMENTS
} tacit_statement;

/* One row of the table of entries. */
typedef struct tacit_row {
    uint64_t entry, release;
    double reserved, committed;
    bool forfeited;
    tacit_cost cost; /* `what` points into `text` or is a kept one */
    tacit_trust trust;
    uint64_t bytes;
    uint8_t digest[TACIT_MAC_BYTES]; /* of the released bytes */
    uint8_t mac[TACIT_MAC_BYTES];
    char text[TACIT_WHAT_MAX + 1];
} tacit_row;

/* Committed and not sent. */
typedef struct tacit_pending {
    uint64_t entry, release;
    uint8_t digest[TACIT_MAC_BYTES];
} tacit_pending;

typedef struct tacit_permit_node {
    tacit_permit permit; /* first: what the caller holds */
    double reserved;
    struct tacit_permit_node *next;
} tacit_permit_node;

struct tacit_ledger_file {
    char *path;
    int lock;      /* PATH.lock, held; -1: none */
    int64_t owner; /* who opened it: a forked child must not spend the same budget */
    sqlite3 *db;
    sqlite3_stmt *statement[TACIT_STATEMENTS];
    tacit_ledger_holder holder;
    tacit_chain entries;                 /* links: the start, then the entries */
    tacit_chain head, outbox, check;     /* keys for seals of their own; their macs stay zero */
    uint64_t bound;                      /* ids below may have been given out */
    uint8_t outbox_sum[TACIT_MAC_BYTES]; /* of the macs of all that is pending, xor */
    tacit_pending *pending;              /* oldest first */
    size_t pending_count, pending_capacity;
    uint64_t *sent; /* entries whose bytes the next transaction takes out of the outbox */
    size_t sent_count, sent_capacity;
    tacit_ledger ledger;
    tacit_costs *costs;
    tacit_permit_node *permits;
    bool broken;  /* a write failed: what is on the disk is known again after opening */
    bool looking; /* nothing may be added */
};

/* ---- ledger_store.c ---- */
tacit_status tacit_store_fail(const tacit_ledger_file *file, int code, const char *doing,
                              tacit_error *err);
/* `fresh`: an empty database, to be filled; otherwise it must be a ledger by its looks. */
tacit_status tacit_store_open(tacit_ledger_file *file, bool fresh, tacit_error *err);
/* A rollback journal, everything synchronised: from here on it is written to. */
tacit_status tacit_store_make_durable(tacit_ledger_file *file, tacit_error *err);
void tacit_store_close(tacit_ledger_file *file, bool tidy);
bool tacit_store_is_own(const tacit_ledger_file *file);
/* Says why not. A file that is no longer where it was is broken from then on. */
tacit_status tacit_store_may_write(tacit_ledger_file *file, tacit_error *err);
tacit_status tacit_store_begin(tacit_ledger_file *file, tacit_error *err);
/* After any failure since begin, or of its own, takes everything back. */
tacit_status tacit_store_end(tacit_ledger_file *file, tacit_status status, tacit_error *err);
/* Run a statement that gives no rows, and reset it. */
tacit_status tacit_store_run(tacit_ledger_file *file, tacit_statement which, const char *doing,
                             tacit_error *err);
/* Only the connection, nothing is looked at; then: is there nothing in it at all? */
tacit_status tacit_store_connect(tacit_ledger_file *file, tacit_error *err);
bool tacit_store_is_empty(tacit_ledger_file *file);

/* ---- ledger_rows.c ---- */
void tacit_seals_begin(tacit_ledger_file *file, const tacit_key *key);
void tacit_seals_wipe(tacit_ledger_file *file);
/* The first link: whose ledger it is. */
void tacit_seal_start(tacit_ledger_file *file);
void tacit_seal_row(tacit_chain *chain, const tacit_row *row);
void tacit_seal_outbox(const tacit_ledger_file *file, uint64_t release,
                       uint8_t sum[TACIT_MAC_BYTES]);
void tacit_digest(uint8_t digest[TACIT_MAC_BYTES], const void *bytes, size_t len);
tacit_status tacit_row_insert(tacit_ledger_file *file, const tacit_row *row, tacit_error *err);
/* False if a column is not what it must be. */
bool tacit_row_read(tacit_row *row, sqlite3_stmt *from);
tacit_status tacit_head_write(tacit_ledger_file *file, tacit_error *err);
/* Fills the holder, the bound and the sum; `entries` and `last` are for the caller to compare. */
tacit_status tacit_head_read(tacit_ledger_file *file, uint64_t *entries,
                             uint8_t last[TACIT_MAC_BYTES], tacit_error *err);

/* ---- ledger_lock.c ---- */
/* The lock file itself, made if it may be: -1 with errno, EWOULDBLOCK if another has it. */
int tacit_lock_take(const char *name, bool make);
/* Refuses while another has it. Only to look: -1 and no error where there is no lock to take. */
tacit_status tacit_ledger_lock(const char *path, bool looking, int *lock, tacit_error *err);
void tacit_ledger_unlock(int lock);

/* ---- ledger_open.c ---- */
/* The caller holds the lock; from success on it is the file's. */
tacit_status tacit_ledger_create_under(tacit_ledger_file **out, const char *path,
                                       const tacit_key *key, const tacit_ledger_holder *holder,
                                       int lock, tacit_error *err);
tacit_status tacit_ledger_open_under(tacit_ledger_file **out, const char *path,
                                     const tacit_key *key, const tacit_ledger_holder *holder,
                                     int lock, tacit_error *err);
void tacit_ledger_file_let_go(tacit_ledger_file *file, bool tidy);
/* A file that a crash left before its tables were committed. Under the lock. */
bool tacit_ledger_file_is_unborn(const char *path);
/* With all that belongs to it. Under the lock. */
void tacit_ledger_file_remove(const char *path);

/* An empty file that only its owner can read: the database's other files get the same mode. */
tacit_status tacit_ledger_make_empty(const char *path, struct stat *made, tacit_error *err);

/* ---- ledger_at.c ---- */
/* What opens and what makes a ledger, once its key is there. */
typedef struct tacit_keyed {
    tacit_status (*open)(void *context, const tacit_key *key, tacit_error *err);
    tacit_status (*create)(void *context, const tacit_key *key, tacit_error *err);
    void *context;
} tacit_keyed;
/* The ledger at `path` with its key beside it. The caller holds the lock. */
tacit_status tacit_keyed_at(const char *path, const tacit_keyed *of, tacit_error *err);

/* ---- ledger_verify.c ---- */
tacit_status tacit_ledger_verify(tacit_ledger_file *file, tacit_error *err);

#endif
