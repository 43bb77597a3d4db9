/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_SEALED_DB_H
#define TACIT_PRIVACY_SEALED_DB_H
/*
 * An SQLite database for what must not be forgotten: opened with all defences on, its tables
 * compared letter by letter, written with a rollback journal and everything synchronised. What the
 * rows say, and their seals, are the caller's (rows.h, seal.h).
 */
#include <sqlite3.h>

#include "tacit/base.h"

typedef struct tacit_db_table {
    const char *name, *sql;
} tacit_db_table;

typedef struct tacit_db_kind {
    int magic; /* the application id of the database */
    int version;
    const tacit_db_table *tables; /* in the order of their names; without indices */
    int count;
    bool alone;  /* one process at a time has it; else they take turns */
    int wait_ms; /* for another's turn */
} tacit_db_kind;

typedef struct tacit_db {
    const tacit_db_kind *kind;
    const char *path;
    sqlite3 *db;
} tacit_db;

tacit_status tacit_db_fail(const tacit_db *d, int code, const char *doing, tacit_error *err);
/* Only the connection, nothing is looked at. `looking`: a medium that cannot be written is fine. */
tacit_status tacit_db_connect(tacit_db *d, bool looking, tacit_error *err);
/* Is there nothing in it at all? */
bool tacit_db_is_empty(const tacit_db *d);
/* It is of this kind by its looks: application id, version, no log, the very same tables. */
tacit_status tacit_db_check_looks(const tacit_db *d, tacit_error *err);
/* A rollback journal, everything synchronised: from here on it is written to. */
tacit_status tacit_db_make_durable(const tacit_db *d, tacit_error *err);
/* Durable, and its tables are there, in a transaction that the caller commits with their first
 * rows. Refuses one that holds something. */
tacit_status tacit_db_make(const tacit_db *d, tacit_error *err);
/* What is written to a file that has lost its name is told and forgotten. */
tacit_status tacit_db_check_in_place(const tacit_db *d, tacit_error *err);
/* Text of SQL that gives no rows. */
tacit_status tacit_db_run(const tacit_db *d, const char *text, const char *doing, tacit_error *err);

#endif
