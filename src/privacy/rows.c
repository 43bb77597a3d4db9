/* SPDX-License-Identifier: Apache-2.0 */
#include "privacy/rows.h"

#include <string.h>

/* ---- bytes ---- */

void tacit_canon_bytes(tacit_canon *c, const void *bytes, size_t len)
{
    memcpy(c->bytes + c->len, bytes, len);
    c->len += len;
}

void tacit_canon_count(tacit_canon *c, uint64_t n)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(n >> 8 * i);
    tacit_canon_bytes(c, bytes, sizeof bytes);
}

void tacit_canon_real(tacit_canon *c, double x)
{
    uint64_t bits;
    x = x == 0 ? 0 : x; /* the database does not keep the sign of zero */
    memcpy(&bits, &x, sizeof bits);
    tacit_canon_count(c, bits);
}

void tacit_canon_text(tacit_canon *c, const char *text)
{
    const size_t len = strlen(text);
    tacit_canon_count(c, len);
    tacit_canon_bytes(c, text, len);
}

/* ---- names ---- */

static const char *const norms[] = {"l1", "l2"};

static const char *norm_name(int i)
{
    return norms[i];
}
static const char *mechanism_name(int i)
{
    return tacit_mechanism_name((tacit_mechanism)i);
}
const char *tacit_name_of_unit(int i)
{
    return tacit_unit_name((tacit_unit)i);
}
const char *tacit_name_of_adjacency(int i)
{
    return tacit_adjacency_name((tacit_adjacency)i);
}
const char *tacit_name_of_trust(int i)
{
    return tacit_trust_name((tacit_trust)i);
}
const char *tacit_name_of_accountant(int i)
{
    return tacit_accountant_names[i];
}

/* ---- costs as bytes ---- */

void tacit_canon_cost(tacit_canon *c, const tacit_cost *cost)
{
    tacit_canon_text(c, cost->what);
    tacit_canon_text(c, mechanism_name((int)cost->mechanism));
    tacit_canon_text(c, norm_name((int)cost->norm));
    tacit_canon_text(c, tacit_name_of_unit((int)cost->unit));
    tacit_canon_text(c, tacit_name_of_adjacency((int)cost->adjacency));
}

void tacit_canon_amount(tacit_canon *c, const tacit_cost *cost)
{
    tacit_canon_real(c, cost->sensitivity);
    tacit_canon_real(c, cost->noise);
    tacit_canon_count(c, (uint64_t)(int64_t)cost->grid);
    tacit_canon_count(c, cost->coordinates);
    tacit_canon_real(c, cost->sampling);
    tacit_canon_count(c, cost->categories);
}

/* ---- to the database ---- */

static void note(tacit_binder *b, int code)
{
    if (!b->code)
        b->code = code;
}
void tacit_bind_count(tacit_binder *b, uint64_t n)
{
    note(b, sqlite3_bind_int64(b->s, ++b->column, (sqlite3_int64)n));
}
void tacit_bind_real(tacit_binder *b, double x)
{
    note(b, sqlite3_bind_double(b->s, ++b->column, x));
}
void tacit_bind_text(tacit_binder *b, const char *text)
{
    note(b, sqlite3_bind_text(b->s, ++b->column, text, -1, SQLITE_TRANSIENT));
}
void tacit_bind_bytes(tacit_binder *b, const void *bytes, int len)
{
    note(b, sqlite3_bind_blob(b->s, ++b->column, bytes, len, SQLITE_TRANSIENT));
}

void tacit_bind_cost(tacit_binder *b, const tacit_cost *cost)
{
    tacit_bind_text(b, cost->what);
    tacit_bind_text(b, mechanism_name((int)cost->mechanism));
    tacit_bind_text(b, norm_name((int)cost->norm));
    tacit_bind_text(b, tacit_name_of_unit((int)cost->unit));
    tacit_bind_text(b, tacit_name_of_adjacency((int)cost->adjacency));
}

void tacit_bind_amount(tacit_binder *b, const tacit_cost *cost)
{
    tacit_bind_real(b, cost->sensitivity);
    tacit_bind_real(b, cost->noise);
    tacit_bind_count(b, (uint64_t)(int64_t)cost->grid);
    tacit_bind_count(b, cost->coordinates);
    tacit_bind_real(b, cost->sampling);
    tacit_bind_count(b, cost->categories);
}

/* ---- from the database ---- */

static int next_column(tacit_columns *c, int type)
{
    c->good = c->good && sqlite3_column_type(c->s, c->at) == type;
    return c->at++;
}

uint64_t tacit_take_count(tacit_columns *c)
{
    return (uint64_t)sqlite3_column_int64(c->s, next_column(c, SQLITE_INTEGER));
}

double tacit_take_real(tacit_columns *c)
{
    return sqlite3_column_double(c->s, next_column(c, SQLITE_FLOAT));
}

void tacit_take_text(tacit_columns *c, char *out, size_t size)
{
    const int at = next_column(c, SQLITE_TEXT);
    const char *text = c->good ? (const char *)sqlite3_column_text(c->s, at) : NULL;
    const size_t len = text ? (size_t)sqlite3_column_bytes(c->s, at) : 0;
    c->good = c->good && text && len < size && strlen(text) == len;
    memcpy(out, c->good ? text : "", c->good ? len + 1 : 1);
}

int tacit_take_name(tacit_columns *c, const char *(*name)(int), int count)
{
    char text[32];
    tacit_take_text(c, text, sizeof text);
    for (int i = 0; i < count && c->good; i++)
        if (strcmp(text, name(i)) == 0)
            return i;
    c->good = false;
    return 0;
}

void tacit_take_bytes(tacit_columns *c, void *bytes, int len)
{
    const int at = next_column(c, SQLITE_BLOB);
    const void *have = c->good ? sqlite3_column_blob(c->s, at) : NULL;
    c->good = c->good && have && sqlite3_column_bytes(c->s, at) == len;
    if (c->good)
        memcpy(bytes, have, (size_t)len);
}

void tacit_take_cost(tacit_columns *c, tacit_cost *cost, char *text)
{
    tacit_take_text(c, text, TACIT_WHAT_MAX + 1);
    cost->what = text;
    cost->mechanism = (tacit_mechanism)tacit_take_name(c, mechanism_name, TACIT_MECHANISMS);
    cost->norm = (tacit_norm)tacit_take_name(c, norm_name, TACIT_L2 + 1);
    cost->unit = (tacit_unit)tacit_take_name(c, tacit_name_of_unit, TACIT_UNIT_USER + 1);
    cost->adjacency =
        (tacit_adjacency)tacit_take_name(c, tacit_name_of_adjacency, TACIT_ADD_REMOVE + 1);
}

void tacit_take_amount(tacit_columns *c, tacit_cost *cost)
{
    cost->sensitivity = tacit_take_real(c);
    cost->noise = tacit_take_real(c);
    const int64_t grid = (int64_t)tacit_take_count(c);
    cost->grid = (int)grid;
    cost->coordinates = tacit_take_count(c);
    cost->sampling = tacit_take_real(c);
    const uint64_t categories = tacit_take_count(c);
    cost->categories = (uint32_t)categories;
    c->good = c->good && categories <= UINT32_MAX && grid == cost->grid;
}
