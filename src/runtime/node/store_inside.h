/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NODE_STORE_INSIDE_H
#define TACIT_NODE_STORE_INSIDE_H
/*
 * Inside of a node's store: opened, closed, checkpoints (store.c); releases and what comes back of
 * them (store_release.c); why it is mute and what is owed (store_debt.c); node.db (store_db.c) and
 * its rows (store_rows.c); states at rest (store_seal.c); how long it was away (store_time.c); what
 * its ledgers were, and what counts as spent because nobody knows (store_past.c).
 */
#include <sqlite3.h>

#include "privacy/ledger_store.h"
#include "runtime/node/store.h"

/* A moment by two clocks. The one since boot neither jumps nor is set, but ends with the boot. */
typedef struct node_moment {
    double wall, boot; /* seconds */
    char boot_id[40];  /* which boot; "": the machine does not say */
} node_moment;
typedef void node_clock(void *ctx, node_moment *now);

/* Computed, and not known to be on the disk. */
typedef struct store_debt {
    tacit_cost cost;
    char what[TACIT_WHAT_MAX + 1];
    uint64_t id; /* of the permit: if the ledger has it, it is paid */
} store_debt;

typedef struct store_ledger {
    char *path;
    tacit_ledger_holder holder;
    tacit_ledger_file *file; /* without its database: it could not be opened again yet */
    uint64_t told;           /* the last release that has frames; 0: none */
    bool broken;             /* to be opened again */
    bool barred;             /* owes more than its budget */
    store_debt *debts;       /* of a file that was shut; others are its permits in hand */
    size_t debt_count, debt_capacity;
} store_ledger;

/* The one row that all checkpoints share. */
typedef struct store_head {
    uint64_t incarnation;
    double elapsed; /* at the last checkpoint, which was then: */
    node_moment at;
} store_head;

typedef enum store_statement {
    STORE_BEGIN,
    STORE_COMMIT,
    STORE_ROLLBACK,
    STORE_SET_HEAD,
    STORE_GET_HEAD,
    STORE_ADD_STATE,
    STORE_SET_STATE,
    STORE_GET_STATE,
    STORE_COUNT_STATES,
    STORE_SET_PEER,
    STORE_ADD_PEER,
    STORE_PEERS,
    STORE_COUNT_PEERS,
    STORE_STATEMENTS
} store_statement;

struct node_store {
    char *path; /* of node.db */
    int lock;   /* node.db.lock, held */
    uint8_t run[16], identity[32];
    size_t state_max;
    store_ledger *agents;
    uint32_t count;

    sqlite3 *db;
    sqlite3_stmt *statement[STORE_STATEMENTS];
    bool db_broken;
    bool is_new; /* node.db was made by this opening */
    bool within; /* a checkpoint has begun */
    double next_elapsed;
    store_head head;
    uint64_t peers;

    node_clock *clock;
    void *clock_ctx;
    double away;   /* seconds from the last checkpoint to opening */
    double before; /* elapsed at that checkpoint */

    char why[600];       /* it is mute; "": it is not */
    tacit_key state_key; /* of states at rest, if there is one */
    bool state_keyed;
    bool last; /* states hold no secrets of the run any more */
    uint8_t *sealed;
    size_t sealed_capacity;
    uint8_t *blob; /* room to put frames and state together; states are private: wiped */
    size_t blob_capacity;
};

/* As node_store_open by another clock, for tests. */
tacit_status node_store_open_by(node_store **out, const node_store_plan *plan, node_clock *clock,
                                void *clock_ctx, tacit_error *err);

/* ---- store_release.c ---- */
/* What the ledger says was told last. After opening. */
tacit_status store_find_told(store_ledger *a, tacit_error *err);

/* ---- store_db.c ---- */
tacit_status store_db_fail(const node_store *store, int code, const char *doing, tacit_error *err);
tacit_status store_db_not_ours(const node_store *store, const char *why, tacit_error *err);
/* Run a statement that gives no rows, and reset it. */
tacit_status store_db_run(node_store *store, store_statement which, tacit_error *err);
/* *fresh: there is nothing in it yet. Otherwise it was checked, and the head is read. */
tacit_status store_db_open(node_store *store, bool may_make, bool *fresh, tacit_error *err);
/* Tables, head and a row for each agent in one transaction. */
tacit_status store_db_fill(node_store *store, tacit_error *err);
void store_db_close(node_store *store);
tacit_status store_db_begin(node_store *store, tacit_error *err);
/* Commits, or takes everything back if `status` says so or that fails. */
tacit_status store_db_end(node_store *store, tacit_status status, tacit_error *err);

/* ---- store_rows.c ---- */
tacit_status store_db_write_head(node_store *store, tacit_error *err);
/* Refuses that of another run or identity. */
tacit_status store_db_read_head(node_store *store, tacit_error *err);
/* By STORE_ADD_STATE or STORE_SET_STATE; NULL: none. */
tacit_status store_db_write_state(node_store *store, store_statement which, uint32_t index,
                                  const void *bytes, size_t len, tacit_error *err);
/* *release: what had been told when it was kept. *bytes is NULL if there is none; the caller
 * frees it. `bytes` may be NULL. */
tacit_status store_db_get_state(node_store *store, uint32_t index, uint64_t *release, void **bytes,
                                size_t *len, tacit_error *err);

/* ---- store_seal.c ---- */
/* The key in the folder, if there is one. */
tacit_status store_key_find(node_store *store, tacit_error *err);
void store_key_wipe(node_store *store);
/* *state, of *len bytes, as it is to be written: in the store's memory, until the next call. */
tacit_status store_seal(node_store *store, const void **state, size_t *len, tacit_error *err);
/* *state as it was, in new memory if that takes any; the old one is freed then. TACIT_NO: the key
 * it was written under is gone; nothing has changed. */
tacit_status store_unseal(const node_store *store, void **state, size_t *len, tacit_error *err);

/* ---- store_debt.c ---- */
/* Mute from now on; the first reason stays. Returns `status`. */
tacit_status store_fall_mute(node_store *store, tacit_status status, const tacit_error *why,
                             tacit_error *err);
/* Says why nothing can be written, if so. */
tacit_status store_may_write(const node_store *store, tacit_error *err);
/* These permits' values exist, and are owed. */
void store_owe(store_ledger *a, tacit_permit *const *permits, size_t count);

/* ---- store_time.c ---- */
void store_clock(void *ctx, node_moment *now);
/* Seconds from one moment to another: by the clock since boot if both are of the same, else by
 * the wall clock; never negative. */
double store_between(const node_moment *from, const node_moment *to);
/* The least incarnation that the wall clock allows. */
uint64_t store_wall_incarnation(const node_moment *now);

#endif
