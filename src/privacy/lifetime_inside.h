/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_LIFETIME_INSIDE_H
#define TACIT_PRIVACY_LIFETIME_INSIDE_H
/*
 * Inside of the lifetime ledger. Its file (lifetime_file.c) is a list of events that only grows,
 * sealed like a run's ledger, and a table of fingerprints (lifetime_records.c). What it says is
 * what comes out when the events are played back in order (lifetime_state.c), which every
 * transaction does anew. lifetime_plan.c has what plans mean and cost, lifetime.c the decisions,
 * lifetime_view.c what is shown.
 */
#include "privacy/costs.h"
#include "privacy/seal.h"
#include "privacy/sealed_db.h"
#include "tacit/lifetime.h"

#define LIFETIME_MAGIC 0x54434c46 /* "TCLF" */
#define LIFETIME_VERSION 1
#define LIFETIME_PRINT 16 /* bytes of a fingerprint */

typedef enum lifetime_kind {
    LIFETIME_MAKE,    /* a data set, by name */
    LIFETIME_BUDGET,  /* its owner sets its terms */
    LIFETIME_FIRST,   /* its first run does */
    LIFETIME_RESERVE, /* a plan is charged */
    LIFETIME_AGAIN,   /* the plan of a settled reservation counts again */
    LIFETIME_SETTLE,  /* the plan is replaced by what was released */
    LIFETIME_EXCEED,  /* more was released than reserved: charged beside the plan */
    LIFETIME_JOIN,    /* `dataset` takes in `other`, under new terms */
    LIFETIME_KINDS
} lifetime_kind;

typedef char lifetime_name[TACIT_LIFETIME_NAME + 1];

/* One row. What a kind does not need is zero. */
typedef struct lifetime_event {
    uint64_t id; /* 1, 2, ... */
    double at;
    lifetime_kind kind;
    uint64_t dataset;     /* 1, 2, ... in the order they were made */
    uint64_t other;       /* of a join */
    uint64_t reservation; /* the id of the event that reserved */
    lifetime_name name, run, agent_name, protocol;
    tacit_agent agent;
    tacit_trust trust;
    uint8_t nonce[TACIT_LIFETIME_NONCE];
    tacit_lifetime_terms terms; /* epsilon, delta, unit and adjacency are a plan's, too */
    bool block;
    double risk;
    const tacit_ledger_entry *items;
    size_t count;
} lifetime_event;

/* ---- the state: lifetime_state.c ---- */
typedef struct lifetime_charge {
    tacit_ledger_entry *items;
    size_t count;
    bool block;
    double risk, epsilon, delta;
    tacit_unit unit;
    tacit_adjacency adjacency;
} lifetime_charge;

typedef struct lifetime_entry {
    uint64_t id;
    size_t set; /* as reserved: lifetime_resolve says where it counts */
    lifetime_name run, agent_name, protocol;
    tacit_agent agent;
    tacit_trust trust;
    uint8_t nonce[TACIT_LIFETIME_NONCE];
    tacit_lifetime_state state;
    double reserved, settled;
    lifetime_charge plan, actual;
} lifetime_entry;

typedef struct lifetime_set {
    lifetime_name name;
    tacit_lifetime_terms terms;
    bool has_terms, by_owner, is_joined;
    size_t into; /* if joined */
    double created;
    uint64_t records; /* known once records were read */
} lifetime_set;

typedef struct lifetime_book {
    tacit_costs *costs;
    lifetime_set *sets;
    size_t set_count, set_room;
    lifetime_entry *entries;
    size_t entry_count, entry_room;
} lifetime_book;

tacit_status lifetime_book_begin(lifetime_book *book, tacit_error *err);
void lifetime_book_clear(lifetime_book *book);
/* TACIT_EVERIFY if it makes no sense after those before. */
tacit_status lifetime_book_play(lifetime_book *book, const lifetime_event *event, tacit_error *err);
size_t lifetime_resolve(const lifetime_book *book, size_t set);
/* Index of a data set by name, resolved; SIZE_MAX if there is none. */
size_t lifetime_by_name(const lifetime_book *book, const char *name);
/* The charge as a plan; what it points to is the book's. */
tacit_lifetime_plan lifetime_plan_of(const lifetime_charge *charge);
/* How many plans of an entry count now: its plan, what was released, or both. */
size_t lifetime_counted(const lifetime_entry *entry, tacit_lifetime_plan plan[2]);

/* ---- lifetime_plan.c ---- */
tacit_status lifetime_check_terms(const tacit_lifetime_terms *terms, tacit_error *err);
/* `aside` as it is written down. */
tacit_lifetime_terms lifetime_settled_terms(const tacit_lifetime_terms *terms);
bool lifetime_same_terms(const tacit_lifetime_terms *a, const tacit_lifetime_terms *b);
/* Refuses what no ledger could keep: no costs, claims, words without end. */
tacit_status lifetime_check_plan(const tacit_lifetime_plan *plan, tacit_error *err);
bool lifetime_same_plan(const tacit_lifetime_plan *a, const tacit_lifetime_plan *b);
/* A list of losses that grows. */
typedef struct lifetime_losses {
    tacit_loss *loss;
    size_t count, room;
} lifetime_losses;
tacit_status lifetime_losses_add(lifetime_losses *all, const tacit_lifetime_terms *terms,
                                 const tacit_lifetime_plan *plan, tacit_error *err);
/* All entries of a data set under `terms` but number `but` (SIZE_MAX: all). */
tacit_status lifetime_losses_of(lifetime_losses *all, const lifetime_book *book, size_t set,
                                size_t but, const tacit_lifetime_terms *terms, tacit_error *err);
/* Does the plan cover what was released? */
tacit_status lifetime_covers(const tacit_lifetime_terms *terms, const tacit_lifetime_plan *plan,
                             const tacit_lifetime_plan *actual, bool *covers, tacit_error *err);
/* filter.c: no quantity that a filter adds up is larger in `actual` than in `plan`. */
tacit_status lifetime_filter_covers(const tacit_lifetime_terms *terms, const lifetime_losses *plan,
                                    const lifetime_losses *actual, bool *covers, tacit_error *err);

/* ---- the file: lifetime_file.c ---- */
typedef enum lifetime_statement {
    LIFETIME_SQL_EVENTS,
    LIFETIME_SQL_COSTS,
    LIFETIME_SQL_GET_HEAD,
    LIFETIME_SQL_SET_HEAD,
    LIFETIME_SQL_ADD_EVENT,
    LIFETIME_SQL_ADD_COST,
    LIFETIME_SQL_RECORDS,
    LIFETIME_SQL_FIND_RECORD,
    LIFETIME_SQL_ADD_RECORD,
    LIFETIME_STATEMENTS
} lifetime_statement;

struct tacit_lifetime {
    tacit_db d;
    char *path;
    int64_t owner; /* the process that opened it */
    bool looking, broken;
    sqlite3_stmt *statement[LIFETIME_STATEMENTS];
    tacit_chain start;              /* of events: its key, nothing in it yet */
    tacit_chain head, check, marks; /* keys for seals of their own; their macs stay zero */
    tacit_chain prints;             /* the key of fingerprints */
    /* Within a transaction: */
    lifetime_book book;
    tacit_chain chain; /* all events so far */
    uint64_t events, costs, records;
    uint8_t records_sum[TACIT_MAC_BYTES]; /* of the marks of all records, xor */
};

/* A transaction: everything is read and verified. Ends with end, whatever happened: `changed`
 * and no failure so far: written; else nothing is. */
tacit_status lifetime_begin(tacit_lifetime *l, tacit_error *err);
tacit_status lifetime_end(tacit_lifetime *l, tacit_status status, bool changed, tacit_error *err);
/* Writes an event behind the others and plays it; `event->id` is filled in. */
tacit_status lifetime_append(tacit_lifetime *l, lifetime_event *event, tacit_error *err);
tacit_status lifetime_run(tacit_lifetime *l, lifetime_statement which, tacit_error *err);

/* ---- lifetime_rows.c ---- */
void lifetime_seal_event(tacit_chain *chain, const lifetime_event *event);
tacit_status lifetime_write_event(tacit_lifetime *l, const lifetime_event *event,
                                  const uint8_t mac[TACIT_MAC_BYTES], tacit_error *err);
tacit_status lifetime_write_head(tacit_lifetime *l, tacit_error *err);
tacit_status lifetime_read_head(tacit_lifetime *l, uint8_t last[TACIT_MAC_BYTES], tacit_error *err);
/* All events, verified, into the book. */
tacit_status lifetime_read_events(tacit_lifetime *l, const uint8_t last[TACIT_MAC_BYTES],
                                  tacit_error *err);

/* ---- lifetime_records.c ---- */
size_t lifetime_records_count(const tacit_lifetime_records *records);
/* Verifies the whole table, and counts records by data set. */
tacit_status lifetime_verify_records(tacit_lifetime *l, tacit_error *err);
/* To which data sets (resolved, `*first` and `*second`; SIZE_MAX: none) these records belong, and
 * how many are new. */
tacit_status lifetime_find_records(tacit_lifetime *l, const tacit_lifetime_records *records,
                                   size_t *first, size_t *second, uint64_t *fresh,
                                   tacit_error *err);
/* Those that are new become the data set's. */
tacit_status lifetime_add_records(tacit_lifetime *l, const tacit_lifetime_records *records,
                                  size_t set, tacit_error *err);

#endif
