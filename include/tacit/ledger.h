/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_LEDGER_H
#define TACIT_LEDGER_H
/*
 * The ledger that survives: what one agent has told, in a file that a crash cannot make forget
 * and an editor cannot change unnoticed. docs/ledger.md says what is promised and what is not.
 *
 *   permit = reserve(file, cost)             checked against the budget; nothing touched yet
 *   ...compute, release under the permit...
 *   id     = commit(file, permit, bytes)     charge and bytes durable in one transaction
 *   send(bytes); mark_sent(file, id)         only now may they leave
 *
 * The budget is enforced online, and holds for costs that do not depend on earlier outputs: under
 * TACIT_BY_KOV, TACIT_BY_RDP and TACIT_BY_PLD, which have no filter theorem, who chooses the next
 * cost by what earlier releases said can exceed it, though each release was allowed. Fix costs at
 * set-up, as the protocols here do. docs/ledger.md has an example.
 *
 * After a crash the bytes that were committed and not marked as sent are pending: they are sent
 * again as they are, never computed anew.
 *
 * A file has one user at a time, other processes are refused (PATH.lock); and one thread at a
 * time; a forked child can only close it. If it is moved, removed or replaced meanwhile, nothing
 * more is committed.
 */
#include "tacit/base.h"
#include "tacit/privacy.h"

/* ---- keys ---- */
#define TACIT_KEY_BYTES 32
typedef struct tacit_key {
    uint8_t bytes[TACIT_KEY_BYTES];
} tacit_key;

/* A fresh key in a new file that only its owner can read (0600), on the disk before this
 * returns. Refuses a path that exists. */
tacit_status tacit_key_create(tacit_key *key, const char *path, tacit_error *err);
/* Refuses a file that group or others can read, and what is not 32 bytes. */
tacit_status tacit_key_read(tacit_key *key, const char *path, tacit_error *err);
void tacit_key_wipe(tacit_key *key);

/* How a ledger of JSON lines is sealed. */
typedef enum tacit_seal {
    TACIT_SEAL_NONE, /* not at all */
    TACIT_SEAL_RUN,  /* by a key anyone can derive: shows accidents, not forgery */
    TACIT_SEAL_KEY   /* by a secret key */
} tacit_seal;

/* ---- the file ---- */
typedef struct tacit_ledger_file tacit_ledger_file;

/* Whose ledger it is and what may be spent; sealed like everything else. */
typedef struct tacit_ledger_holder {
    tacit_agent agent;
    char name[256];
    tacit_budget budget;
} tacit_ledger_holder;

/* A new file; refuses a path that exists. */
tacit_status tacit_ledger_file_create(tacit_ledger_file **out, const char *path,
                                      const tacit_key *key, const tacit_ledger_holder *holder,
                                      tacit_error *err);
/* Verifies everything: what was edited, cut or reordered, or belongs to another agent than
 * `holder` (NULL: whoever it is), is TACIT_EVERIFY, with words that say which entry. */
tacit_status tacit_ledger_file_open(tacit_ledger_file **out, const char *path, const tacit_key *key,
                                    const tacit_ledger_holder *holder, tacit_error *err);
/* The ledger at `path` with its key at PATH.key: opened, or both made if neither is there. One
 * of the two alone is TACIT_EVERIFY: a ledger that is gone must not come back empty. */
tacit_status tacit_ledger_file_at(tacit_ledger_file **out, const char *path,
                                  const tacit_ledger_holder *holder, tacit_error *err);
/* Only to look: as open, but nothing can be added. (What a crash left half-written is rolled
 * back.) */
tacit_status tacit_ledger_file_look(tacit_ledger_file **out, const char *path, const tacit_key *key,
                                    tacit_error *err);
/* Charges permits under which something was computed and nothing committed, then closes. If they
 * cannot be charged, as after a failed write, that is an error, and their values must not be
 * used. The file is closed and freed whatever is returned. NULL is fine. */
tacit_status tacit_ledger_file_close(tacit_ledger_file *file, double now, tacit_error *err);

const tacit_ledger_holder *tacit_ledger_file_holder(const tacit_ledger_file *file);
/* Another for every ledger that was ever made (with a key of its own, as tacit_ledger_file_at
 * does), the same as long as it lives; no secret. */
#define TACIT_LEDGER_NONCE 16
void tacit_ledger_file_nonce(const tacit_ledger_file *file, uint8_t nonce[TACIT_LEDGER_NONCE]);
/* Everything charged, outstanding permits included, equal neighbours in one entry. */
const tacit_ledger *tacit_ledger_file_ledger(const tacit_ledger_file *file);

/* TACIT_EBUDGET if the budget does not allow it: then nothing has changed. TACIT_EUSAGE if the
 * unit or the adjacency is not that of the entries before, for those do not add up. The permit is
 * the file's and good for one release. */
tacit_status tacit_ledger_file_reserve(tacit_ledger_file *file, const tacit_cost *cost, double now,
                                       tacit_permit **permit, tacit_error *err);
/* Hand back a permit under which nothing was computed; it is gone afterwards. */
tacit_status tacit_ledger_file_give_back(tacit_ledger_file *file, tacit_permit *permit,
                                         tacit_error *err);
/* Charge and bytes in one transaction. On success the permit is gone, and the bytes may be sent;
 * `release` is larger than that of any release before. After a failure nothing may be sent, and
 * the file takes no more: close it and open it again. */
tacit_status tacit_ledger_file_commit(tacit_ledger_file *file, tacit_permit *permit,
                                      const void *bytes, size_t len, double now, uint64_t *release,
                                      tacit_error *err);
/* Releases that are committed and not marked as sent: how many; the oldest go to `release`. */
size_t tacit_ledger_file_pending(const tacit_ledger_file *file, uint64_t *release, size_t room);
/* The bytes of a pending release, which the caller frees. */
tacit_status tacit_ledger_file_fetch(tacit_ledger_file *file, uint64_t release, void **bytes,
                                     size_t *len, tacit_error *err);
/* They were sent, and need not be kept any longer. Written with the next commit or when the file
 * is closed: after a crash they may be pending again. */
tacit_status tacit_ledger_file_mark_sent(tacit_ledger_file *file, uint64_t release,
                                         tacit_error *err);

/* ---- entries, one a release ---- */
typedef struct tacit_ledger_record {
    uint64_t entry;             /* 1, 2, ... */
    uint64_t release;           /* its id */
    double reserved, committed; /* when */
    bool forfeited;             /* computed, never sent: charged when the file was closed */
    const tacit_cost *cost;
    uint64_t bytes; /* how many were released */
} tacit_ledger_record;
typedef tacit_status tacit_ledger_visit(void *context, const tacit_ledger_record *record,
                                        tacit_error *err);
/* All entries in order, until one visit fails. */
tacit_status tacit_ledger_file_each(tacit_ledger_file *file, tacit_ledger_visit *visit,
                                    void *context, tacit_error *err);

/* The odometer: epsilon so far at any `delta` by any accountant; NAN where it has nothing to
 * say, INFINITY once anything was released bare. */
tacit_status tacit_ledger_file_epsilon(const tacit_ledger_file *file, tacit_accountant by,
                                       double delta, double *epsilon, tacit_error *err);

#endif
