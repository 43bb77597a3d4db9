/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_LIFETIME_H
#define TACIT_LIFETIME_H
/*
 * The lifetime ledger: what was spent on a data set by all runs of its owner, and a budget that
 * belongs to the records, not to one run. docs/lifetime.md has promises, limits and proofs.
 *
 *   reserve(ledger, request)    before the run starts: its whole plan is charged, or refused
 *   ...the run releases under its own ledger (tacit/ledger.h), never more than the plan...
 *   settle(ledger, id, actual)  at a clean end: what was not used returns
 *
 * Without a clean end the plan stays charged for ever. One file per owner, shared by processes of
 * one machine: every call is one short transaction that reads and verifies everything again, waits
 * a bounded time for others, and writes all of its changes or none. A handle is for one thread
 * and for the process that opened it.
 *
 * Costs of a later run may be chosen by what earlier runs said, so budgets here are enforced by
 * privacy filters, which are sound under such choices for lists of costs and for blocks that stay
 * charged, but not proved for blocks that are settled by their releases (docs/lifetime.md); pld and
 * kov only show.
 */
#include "tacit/account.h"
#include "tacit/base.h"
#include "tacit/ledger.h"
#include "tacit/privacy.h"

/* ---- filters ---- */
/* How a budget (epsilon, delta) is enforced when costs are chosen by earlier outputs. */
typedef enum tacit_filter {
    TACIT_FILTER_ANY,  /* pure losses added up, or gdp, or rdp, whichever holds; the default */
    TACIT_FILTER_SUM,  /* epsilons and deltas add up: pure losses and (epsilon, delta) blocks */
    TACIT_FILTER_ZCDP, /* rho adds up: no sampling */
    TACIT_FILTER_GDP,  /* mu^2 adds up: no sampling; exact for Gaussians */
    TACIT_FILTER_RDP,  /* Renyi divergences at a few fixed orders; sampling included */
    TACIT_FILTERS
} tacit_filter;
extern const char *const tacit_filter_names[]; /* "any", "sum", ... and NULL */

/* What a data set may spend in all, for what an epsilon of it holds, and how it is enforced.
 * Fixed before the first release under it. */
typedef struct tacit_lifetime_terms {
    double epsilon; /* infinity: no limit, everything is written down; bare releases too */
    double delta;
    double aside; /* this share of delta is for deltas of blocks, risks and samplers; the rest for
                     what the filter proves. 0: TACIT_LIFETIME_ASIDE. TACIT_FILTER_SUM needs none:
                     there all of delta is for them */
    tacit_unit unit;
    tacit_adjacency adjacency;
    tacit_filter filter;
} tacit_lifetime_terms;
#define TACIT_LIFETIME_ASIDE 0.5

/* The least epsilon for which the filter of `terms` allows `loss` (its orders are those that fit
 * terms->epsilon): a budget holds as long as this is at most terms->epsilon. INFINITY if nothing
 * finite can be proven, or the losses' own deltas are more than was put aside; NAN if the filter
 * has nothing to say about such a loss. */
tacit_status tacit_filter_epsilon(const tacit_lifetime_terms *terms, const tacit_loss *loss,
                                  size_t count, double *epsilon, tacit_error *err);

/* ---- what a run wants to spend ---- */
typedef struct tacit_lifetime_plan {
    const tacit_ledger_entry *items; /* costs and how many releases of each; times are ignored */
    size_t count;
    bool block;  /* instead of items (epsilon, delta) is charged: nothing more is known. (What is
                    shown of a run that exceeded its block has both.) */
    double risk; /* added to delta once: that a graph splits, that shares are missing. Of events
                    that do not depend on records */
    /* The run's own budget. Of a block this is what is charged. With items it only matters for the
     * first run on a data set whose owner has set no budget. */
    double epsilon, delta;
    tacit_unit unit; /* of a block, and of a new data set; items say their own */
    tacit_adjacency adjacency;
} tacit_lifetime_plan;

/* What a plan means to a data set under `terms`, as losses (room for plan->count + 2; how many are
 * written goes to `*count`): converted if it was planned for another unit or adjacency, refused in
 * words (TACIT_EINPUT) where no conversion is sound:
 *   add-remove in a replace set    one removal and one addition: sensitivity or epsilon doubled
 *   replace in an add-remove set   refused
 *   user in a record set           covered by it; add-remove of users again doubled
 *   record in a user set           refused */
tacit_status tacit_lifetime_losses(const tacit_lifetime_terms *terms,
                                   const tacit_lifetime_plan *plan, tacit_loss *loss, size_t *count,
                                   tacit_error *err);

/* ---- the file ---- */
typedef struct tacit_lifetime tacit_lifetime;

/* The ledger at `path` with its key at PATH.key, made if neither is there. One of the two alone,
 * damage and edits are TACIT_EVERIFY. */
tacit_status tacit_lifetime_open(tacit_lifetime **out, const char *path, tacit_error *err);
/* Only to look: makes and changes nothing (what a crash left half-written is rolled back). A ledger
 * that is not there is TACIT_EINPUT. */
tacit_status tacit_lifetime_look(tacit_lifetime **out, const char *path, tacit_error *err);
void tacit_lifetime_close(tacit_lifetime *ledger); /* NULL is fine */

/* ---- records ---- */
/* Keyed fingerprints of a run's records, so that an overlap with another data set is noticed.
 * Nothing can be told from them without the ledger's key. */
typedef struct tacit_lifetime_records tacit_lifetime_records;
tacit_status tacit_lifetime_records_new(tacit_lifetime_records **out, const tacit_lifetime *ledger,
                                        tacit_error *err);
/* One record as bytes that are the same in every run: say, its numbers as little-endian doubles
 * as they stand in the file (before any scaling that depends on options), label included. */
tacit_status tacit_lifetime_records_add(tacit_lifetime_records *records, const void *bytes,
                                        size_t len, tacit_error *err);
void tacit_lifetime_records_free(tacit_lifetime_records *records); /* NULL is fine */

/* ---- data sets ---- */
#define TACIT_LIFETIME_NAME 200 /* bytes of a name at most */
#define TACIT_LIFETIME_NONCE 16

/* The owner sets the lifetime budget of `name`, before or after its first run, once: a data set
 * that is not there is made, without records. A budget that the first run set is replaced, even
 * if more than that has been spent (then nothing is left). One that the owner has set does not
 * change: TACIT_EINPUT (the same terms again are fine). */
tacit_status tacit_lifetime_set(tacit_lifetime *ledger, const char *name,
                                const tacit_lifetime_terms *terms, double now, tacit_error *err);
/* Make one of two data sets that share records: the records and entries of both count, the smaller
 * epsilon and delta hold, the name `from` means `into` from then on. Refused if unit or adjacency
 * differ. What was spent may be over the budget afterwards: then nothing is left. */
tacit_status tacit_lifetime_join(tacit_lifetime *ledger, const char *into, const char *from,
                                 double now, tacit_error *err);

/* ---- reservations ---- */
typedef struct tacit_lifetime_request {
    const char *name; /* of the data set: "patients", or a file's name */
    bool given;       /* the owner chose the name. If not, records that are known decide which data
                         set it is, and a new one gets another name if this one is taken */
    const tacit_lifetime_records *records; /* may be NULL or empty if the owner chose the name */
    const char *run;                       /* the run's id, as text */
    const char *protocol;                  /* "cd", "average": to show */
    const char *agent_name;                /* to show */
    tacit_agent agent;
    tacit_trust trust;                   /* against whom the run counts: to show */
    uint8_t nonce[TACIT_LIFETIME_NONCE]; /* of the run's own ledger: tacit_ledger_file_nonce */
    tacit_lifetime_plan plan;
} tacit_lifetime_request;

/* Charges the whole plan. `*reservation` is for settle.
 * TACIT_EBUDGET: more than the data set's budget allows; nothing was written.
 * TACIT_EINPUT: records of another data set (its name is in the words), or of two; neither a name
 * by its owner nor a record; another plan
 * than was reserved before for the same run, agent and nonce; no sound conversion.
 * The same run, agent and nonce again, as after a crash: the same reservation, charged once (one
 * that was settled is opened again: its whole plan counts, if it fits). Another nonce is another
 * reservation: a run whose ledger was lost counts again.
 * Records that are new are added to the data set. If nobody has set a budget, the first plan does:
 * it gets the plan's epsilon or what its filter needs for the plan if that is more, and delta. */
tacit_status tacit_lifetime_reserve(tacit_lifetime *ledger, const tacit_lifetime_request *request,
                                    double now, uint64_t *reservation, tacit_error *err);

/* At a clean end, when nothing more will be released: `actual` (say, the entries of
 * tacit_ledger_file_ledger; none: nothing was released) takes the place of the plan. `risk` is what
 * of plan.risk was really taken. If the plan does not cover it, plan and actual are both charged,
 * and TACIT_EBUDGET says so. Of a block, actual entries take its place if they are within
 * (epsilon, delta) and need no more room under the filter; else the block stays.
 * Settling again with the same entries is fine. With others, or after the run was opened again
 * with entries that lack some that were settled before, another copy of the run's folder was in
 * use: plan and actual are both charged, and TACIT_EBUDGET says so. */
tacit_status tacit_lifetime_settle(tacit_lifetime *ledger, uint64_t reservation,
                                   const tacit_ledger_entry *actual, size_t count, double risk,
                                   double now, tacit_error *err);

/* ---- looking ---- */
typedef enum tacit_lifetime_state {
    TACIT_LIFETIME_RESERVED, /* the plan counts: running, or ended without a clean end */
    TACIT_LIFETIME_SETTLED,  /* what was released counts */
    TACIT_LIFETIME_OVERRUN   /* more was released than reserved: both count */
} tacit_lifetime_state;

typedef struct tacit_lifetime_entry {
    uint64_t reservation;
    tacit_lifetime_state state;
    const char *run, *protocol, *agent_name;
    tacit_agent agent;
    tacit_trust trust;
    double reserved, settled; /* when; settled is NAN unless it is */
    tacit_lifetime_plan plan; /* what counts now: the plan, what was released, or both */
} tacit_lifetime_entry;

typedef struct tacit_lifetime_dataset {
    const char *name;
    tacit_lifetime_terms terms;
    bool has_terms; /* false: nobody has set a budget yet */
    bool by_owner;  /* else the terms were set by its first run */
    double created;
    uint64_t records; /* that are known */
    const tacit_lifetime_entry *entries;
    size_t count;
} tacit_lifetime_dataset;

/* A copy of all that the ledger says; data sets that were joined to another are not listed. */
typedef struct tacit_lifetime_view {
    const tacit_lifetime_dataset *sets;
    size_t count;
} tacit_lifetime_view;
tacit_status tacit_lifetime_read(tacit_lifetime *ledger, tacit_lifetime_view **out,
                                 tacit_error *err);
void tacit_lifetime_view_free(tacit_lifetime_view *view); /* NULL is fine */
/* By its name, or by one that was joined to it; NULL if there is none. */
const tacit_lifetime_dataset *tacit_lifetime_find(const tacit_lifetime_view *view,
                                                  const char *name);

/* Epsilon of all entries, and of `more` if that is not NULL, by the data set's filter: what is left
 * is terms.epsilon less this, and `more` would be refused if it is above terms.epsilon. */
tacit_status tacit_lifetime_spent(const tacit_lifetime_dataset *set,
                                  const tacit_lifetime_plan *more, double *epsilon,
                                  tacit_error *err);
/* The odometer: the same by any accountant at any delta; true if costs were not chosen by earlier
 * outputs. NAN where the accountant has nothing to say. */
tacit_status tacit_lifetime_epsilon(const tacit_lifetime_dataset *set,
                                    const tacit_lifetime_plan *more, tacit_accountant by,
                                    double delta, double *epsilon, tacit_error *err);
/* One plan or entry alone (entry->plan), at `delta`, by the accountant. */
tacit_status tacit_lifetime_alone(const tacit_lifetime_terms *terms,
                                  const tacit_lifetime_plan *plan, tacit_accountant by,
                                  double delta, double *epsilon, tacit_error *err);
/* Under which terms the plan would be the first on a data set without a budget. */
tacit_status tacit_lifetime_first_terms(const tacit_lifetime_plan *plan,
                                        tacit_lifetime_terms *terms, tacit_error *err);

#endif
