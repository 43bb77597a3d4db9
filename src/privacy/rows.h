/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_ROWS_H
#define TACIT_PRIVACY_ROWS_H
/*
 * What a row says, as bytes that are the same everywhere, to be sealed: numbers little-endian,
 * texts with their length in front, names instead of the numbers of enums. And the same to and
 * from columns of a database.
 */
#include <sqlite3.h>

#include "tacit/ledger.h"
#include "tacit/privacy.h"

/* ---- bytes ---- */
typedef struct tacit_canon {
    uint8_t bytes[2048]; /* more than any row needs: texts are bounded */
    size_t len;
} tacit_canon;
void tacit_canon_bytes(tacit_canon *c, const void *bytes, size_t len);
void tacit_canon_count(tacit_canon *c, uint64_t n);
void tacit_canon_real(tacit_canon *c, double x);
void tacit_canon_text(tacit_canon *c, const char *text);
/* A cost in two parts: what it is, and how much. */
void tacit_canon_cost(tacit_canon *c, const tacit_cost *cost);
void tacit_canon_amount(tacit_canon *c, const tacit_cost *cost);

/* ---- to the database: columns one after the other; remembers the first failure ---- */
typedef struct tacit_binder {
    sqlite3_stmt *s;
    int column, code;
} tacit_binder;
void tacit_bind_count(tacit_binder *b, uint64_t n);
void tacit_bind_real(tacit_binder *b, double x);
void tacit_bind_text(tacit_binder *b, const char *text);
void tacit_bind_bytes(tacit_binder *b, const void *bytes, int len);
void tacit_bind_cost(tacit_binder *b, const tacit_cost *cost);
void tacit_bind_amount(tacit_binder *b, const tacit_cost *cost);

/* ---- from the database: `good` falls once a column is not of its kind ---- */
typedef struct tacit_columns {
    sqlite3_stmt *s;
    int at;
    bool good;
} tacit_columns;
uint64_t tacit_take_count(tacit_columns *c);
double tacit_take_real(tacit_columns *c);
void tacit_take_text(tacit_columns *c, char *out, size_t size);
void tacit_take_bytes(tacit_columns *c, void *bytes, int len);
/* Which of `count` names it is. */
int tacit_take_name(tacit_columns *c, const char *(*name)(int), int count);
/* `text` has room for TACIT_WHAT_MAX + 1 and outlives the cost. */
void tacit_take_cost(tacit_columns *c, tacit_cost *cost, char *text);
void tacit_take_amount(tacit_columns *c, tacit_cost *cost);
#define TACIT_WHAT_MAX 200

/* ---- names by number ---- */
const char *tacit_name_of_trust(int i);
const char *tacit_name_of_accountant(int i);
const char *tacit_name_of_unit(int i);
const char *tacit_name_of_adjacency(int i);

#endif
