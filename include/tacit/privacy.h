/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_H
#define TACIT_PRIVACY_H
/*
 * The step between an agent's data and its words.
 *
 *   permit  = reserve(ledger, cost)    charged before data is touched; may be refused
 *   bounded = a kernel of model.h      needs the permit; says norm and sensitivity
 *   public  = release(permit, bounded) consumes both; noise by the cost's mechanism
 *
 * A value with noise lives on a public grid from clipping on: whole numbers of steps, a step
 * being a power of two. Records are clipped, rounded towards zero and checked again as integers,
 * then summed as integers; the noise is an integer (noise.h). So what a record can change is a
 * fact about integers, whatever floating point did before. docs/release.md has the argument.
 *
 * The `none` mechanism adds nothing, and the ledger writes it down as epsilon = infinity.
 * Nothing is public by accident, and nothing is free by accident.
 */
#include "tacit/base.h"
#include "tacit/config.h"
#include "tacit/random.h"
#include "tacit/vector.h"

/* What the adversary sees. */
typedef enum tacit_trust {
    TACIT_TRUST_LOCAL,   /* every message on every link */
    TACIT_TRUST_SECURE,  /* only sums over groups, and what is released with all its noise */
    TACIT_TRUST_NETWORK, /* one agent's own view */
    TACIT_TRUST_LEARNER, /* the learner and all other owners */
    TACIT_TRUST_CENTRAL, /* only the final output; a curator holds all data */
    TACIT_TRUST_SILENT   /* nothing: no agent ever speaks */
} tacit_trust;
const char *tacit_trust_name(tacit_trust trust);
const char *tacit_trust_words(tacit_trust trust); /* one line for a reader */

typedef enum tacit_mechanism {
    TACIT_MECHANISM_NONE,
    TACIT_MECHANISM_LAPLACE,  /* discrete Laplace on the grid, l1 */
    TACIT_MECHANISM_GAUSSIAN, /* discrete Gaussian on the grid, l2 */
    TACIT_MECHANISM_RESPONSE, /* k-ary randomized response */
    TACIT_MECHANISMS
} tacit_mechanism;
/* Who adds up what was spent; account.h says how they differ. */
typedef enum tacit_accountant {
    TACIT_BY_SUM,
    TACIT_BY_KOV,
    TACIT_BY_ZCDP,
    TACIT_BY_GDP,
    TACIT_BY_RDP,
    TACIT_BY_PLD,
    TACIT_ACCOUNTANTS
} tacit_accountant;
extern const char *const tacit_accountant_names[]; /* "sum", ... and NULL */
typedef enum tacit_norm { TACIT_L1, TACIT_L2 } tacit_norm;
typedef enum tacit_unit { TACIT_UNIT_RECORD, TACIT_UNIT_USER } tacit_unit;
typedef enum tacit_adjacency { TACIT_REPLACE, TACIT_ADD_REMOVE } tacit_adjacency;
const char *tacit_mechanism_name(tacit_mechanism mechanism);
const char *tacit_unit_name(tacit_unit unit);
const char *tacit_adjacency_name(tacit_adjacency adjacency);

/* Per-record clipping; radius infinity means that nothing is clipped, and then the
 * sensitivity is infinite too. */
typedef struct tacit_clip {
    tacit_norm norm;
    double radius;
} tacit_clip;

/*
 * What one release will cost. Values leave as integers times 2^grid; `sensitivity` and `noise`
 * are in the unit of the value, so `sensitivity` is a whole number of grid steps, rounding
 * included. Without noise only mechanism, norm, unit, adjacency and what matter.
 */
typedef struct tacit_cost {
    tacit_mechanism mechanism;
    tacit_norm norm;
    tacit_unit unit;
    tacit_adjacency adjacency;
    int grid;             /* log2 of the step */
    uint32_t categories;  /* response: k */
    uint64_t coordinates; /* of the vector; 1: a scalar or a count */
    double sensitivity;   /* how far neighbouring data can be apart, in `norm` */
    double noise;         /* laplace: scale; gaussian: sigma; response: epsilon */
    double sampling;      /* a record takes part with this probability; 0 or 1: always */
    bool claimed;         /* nothing enforces the sensitivity: a claim of a paper, no guarantee */
    const char *what;     /* "gradient", "smoothness": a literal, for the ledger */
} tacit_cost;

typedef struct tacit_permit tacit_permit;   /* the right to one release */
typedef struct tacit_bounded tacit_bounded; /* a secret with a stated sensitivity */

/* Options of the YAML section "privacy". */
typedef struct tacit_privacy_options {
    int mechanism; /* tacit_mechanism */
    double epsilon, delta;
    bool allow_large_delta; /* 0.5 and more */
    int unit, adjacency;
    double clip;      /* C; 0: nothing is clipped, and nothing with noise released */
    double noise;     /* scale or sigma, divided by C; 0: found from epsilon, delta, releases */
    int64_t releases; /* planned for each agent, when noise is 0 */
    double sampling;  /* each record takes part in a release with this probability; 0 or 1: all */
    int accountant;   /* tacit_accountant */
    int policy;       /* tacit_policy: how the budget is spread over the releases */
    double ratio;     /* r of the policy: what is left of an error after one of an agent's ticks */
    bool claimed;     /* noise as if records were clipped, but nothing is: a paper's literal way */
    char budgets[TACIT_TEXT_MAX]; /* file "agent,epsilon": budgets that differ; "": epsilon */
} tacit_privacy_options;
extern const tacit_section tacit_privacy_section;

/* ---- planning a cost ---- */
/* The cost of a vector of `coordinates` numbers under a run's options. Unit record: a sum over
 * records of vectors clipped to C; unit user: one vector clipped to C. Chooses the grid, finds
 * the noise if need be, and rounds it up to whole steps. */
tacit_status tacit_cost_plan(tacit_cost *cost, const tacit_privacy_options *options,
                             uint64_t coordinates, const char *what, tacit_error *err);
/* The same for any radius: `noise` is sigma or scale in the unit of the value. `cost` says
 * mechanism, unit, adjacency, sampling, coordinates and what; the rest is filled in. */
tacit_status tacit_cost_on_grid(tacit_cost *cost, double radius, double noise, tacit_error *err);
/* A count, changed by one at most by one record, on the grid of whole numbers. */
tacit_status tacit_cost_count(tacit_cost *cost, double noise, tacit_error *err);
/* Randomized response among `categories` >= 2. */
tacit_status tacit_cost_choice(tacit_cost *cost, uint32_t categories, double epsilon,
                               tacit_error *err);
/* What a release of `cost` costs whose noise was made of shares for `parts` members
 * (tacit_conceal), when those of `honest` members are in the sum, and the adversary does not know
 * them: fewer than planned cost more, more cost less. 0: a bare release. */
tacit_status tacit_cost_of_shares(tacit_cost *out, const tacit_cost *cost, uint32_t parts,
                                  uint32_t honest, tacit_error *err);
/* What records (or the whole) are clipped to under a cost with noise. */
tacit_clip tacit_cost_clip(const tacit_cost *cost);

/* ---- a budget over time ---- */
/* Release k of T gets a share of the budget. With r the contraction over one of an agent's own
 * ticks, the noise of release k is still there at the end r^(T-k)-fold. */
typedef enum tacit_policy {
    TACIT_POLICY_UNIFORM, /* all alike */
    TACIT_POLICY_PAPER,   /* paper 000, proposition 2 as printed: more budget early (slip S1) */
    TACIT_POLICY_OPTIMAL, /* the least noise at the end: more budget late */
    TACIT_POLICIES
} tacit_policy;
extern const char *const tacit_policy_names[]; /* "uniform", ... and NULL */
/* Parts of the budget for releases 1..T, the largest being 1: laplace epsilon_k, gaussian mu_k
 * (GDP). The noise of a release is inversely proportional to its part. */
void tacit_policy_parts(tacit_policy policy, tacit_mechanism mechanism, double ratio,
                        uint64_t releases, double *part);
/* The costs of releases 1..T of vectors, by the options' policy and clip (their `noise` must be 0),
 * so that all of them together, after `spent`, cost at most (epsilon, options->delta) by the
 * options' accountant, rounding included. `cost` has room for `releases`, at most
 * TACIT_SCHEDULE_MOST unless the policy is uniform, when cost[0] alone is filled and meant for all.
 */
#define TACIT_SCHEDULE_MOST 10000
tacit_status tacit_schedule_plan(tacit_cost *cost, uint64_t releases,
                                 const tacit_privacy_options *options, double epsilon,
                                 const tacit_cost *spent, size_t spent_count, uint64_t coordinates,
                                 const char *what, tacit_error *err);

/* ---- ledger: append-only, run-length compact, one for each agent ---- */
/* The distinct costs of a run, shared by all its ledgers and outliving them. */
typedef struct tacit_costs tacit_costs;
tacit_costs *tacit_costs_create(void); /* NULL when memory ran out */
void tacit_costs_free(tacit_costs *costs);

typedef struct tacit_ledger_entry {
    const tacit_cost *cost;
    double first, last; /* when */
    uint64_t releases;  /* consecutive, equal in cost */
} tacit_ledger_entry;

typedef struct tacit_ledger {
    tacit_ledger_entry *entries;
    uint32_t count;
    uint32_t capacity : 31;
    uint32_t lent : 1; /* entries are somebody else's memory */
    uint64_t next;     /* id of the next release; none is ever given twice */
} tacit_ledger;

/* The budget all agents of a run have, and against whom it is counted. */
typedef struct tacit_budget {
    double epsilon, delta; /* epsilon infinity: no limit, but everything is written down */
    tacit_trust trust;
    tacit_accountant accountant;
} tacit_budget;

/* Put releases that are to come, in this order, to the accountant, and remember if all of them
 * together fit `budget` (TACIT_EBUDGET if not): ledgers that follow them need not ask any more. */
tacit_status tacit_costs_vouch(tacit_costs *costs, const tacit_budget *budget,
                               const tacit_cost *list, size_t count, tacit_error *err);

void tacit_ledger_clear(tacit_ledger *ledger);
/* Start an empty ledger in memory that outlives it; it moves out when it outgrows it. */
void tacit_ledger_lend(tacit_ledger *ledger, tacit_ledger_entry *room, uint32_t capacity);
/* Refuses (TACIT_EBUDGET) what would exceed `budget`, before anything is computed from
 * data; on success the entry is in the ledger and `permit` (caller's memory of
 * tacit_permit_size() bytes) is good for one release. */
tacit_status tacit_ledger_reserve(tacit_ledger *ledger, tacit_costs *costs,
                                  const tacit_budget *budget, const tacit_cost *cost, double now,
                                  tacit_permit *permit, tacit_error *err);
/* Where lots are drawn from, for a cost with sampling; the same keys as for the noise. */
void tacit_permit_draw_from(tacit_permit *permit, const tacit_random *random, tacit_agent agent);
/* Hand a permit back, uncharged; refused once anything was computed under it. */
tacit_status tacit_ledger_give_back(tacit_ledger *ledger, tacit_permit *permit, tacit_error *err);
size_t tacit_permit_size(void);
/* Epsilon spent so far at budget->delta; infinity when anything was released bare. */
double tacit_ledger_epsilon(const tacit_ledger *ledger, const tacit_budget *budget);
uint64_t tacit_ledger_releases(const tacit_ledger *ledger);

/* ---- kernels that bound what is not a gradient (those are in model.h) ---- */
typedef struct tacit_scratch tacit_scratch; /* a thread's memory for one event */
/* A whole vector, clipped to the cost's radius. */
tacit_status tacit_bound_vector(tacit_permit *permit, const tacit_secret *vector,
                                tacit_scratch *scratch, tacit_bounded **out, tacit_error *err);
/* A number between `least` and `most` (what lies outside is moved to the border); the cost was
 * planned for radius (most - least) / 2. */
tacit_status tacit_bound_number(tacit_permit *permit, tacit_private_metric value, double least,
                                double most, tacit_scratch *scratch, tacit_bounded **out,
                                tacit_error *err);
/* How many: one record more or less changes it by one; the cost was planned by
 * tacit_cost_count. */
tacit_status tacit_bound_count(tacit_permit *permit, tacit_private_metric count,
                               tacit_scratch *scratch, tacit_bounded **out, tacit_error *err);
/* One of 0 .. categories-1, for randomized response. */
tacit_status tacit_bound_choice(tacit_permit *permit, tacit_private_metric choice,
                                tacit_scratch *scratch, tacit_bounded **out, tacit_error *err);

/* `bounded`, of p coordinates, becomes its tensor product with `column` (rank numbers, of l2 norm
 * at most 1, which is enforced): rank * p coordinates, row after row, shape as given. Products are
 * rounded to the grid, so the cost must have been planned by tacit_cost_widen. */
tacit_status tacit_bounded_spread(tacit_bounded *bounded, const double *column, size_t rank,
                                  const tacit_shape *shape, tacit_scratch *scratch,
                                  tacit_error *err);
/* What tacit_bounded_spread needs: `rank` times the coordinates, and a sensitivity that covers
 * the rounding; the noise grows with it, so that the cost stays what it was. */
tacit_status tacit_cost_widen(tacit_cost *cost, size_t rank, tacit_error *err);

/* ---- the mechanism itself ---- */
/* Where noise comes from: streams for noise of (random, agent), one for each release and piece
 * of 4096 coordinates or more, so that a large release may be shared by threads. */
typedef struct tacit_noise_source {
    const tacit_random *random;
    tacit_agent agent;
    struct tacit_threads *threads; /* or NULL */
} tacit_noise_source;
/* Consumes the permit, checks that `bounded` was made under it and is no more sensitive than was
 * paid for, adds the noise, and turns it into a public vector (scratch memory: good until the
 * event ends): grid integers where the shape is of integers, else those times the step and a
 * public factor (1/m for a mean). */
tacit_status tacit_mechanism_apply(tacit_permit *permit, tacit_bounded *bounded,
                                   const tacit_noise_source *source, tacit_public **out,
                                   tacit_error *err);

#endif
