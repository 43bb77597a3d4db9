/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_SPENDING_H
#define TACIT_PROTOCOL_SPENDING_H
/*
 * What each release of an agent will cost, by its budget and the run's policy: one schedule for
 * each different budget, shared by all who have it. docs/budgets.md.
 */
#include "tacit/protocol.h"

#define SPENDING_MOST_BUDGETS 4096

typedef struct spending {
    size_t groups;    /* different budgets; 1 where they make no difference */
    double *epsilon;  /* of each group, rising */
    size_t length;    /* costs of one schedule; 1: one for all releases, as long as they fit */
    tacit_cost *cost; /* group after group */
} spending;

/* Plan releases of vectors of `coordinates` numbers for every budget of the run, after each agent
 * has released `spent`. */
tacit_status spending_plan(spending *out, const tacit_setup *setup,
                           const tacit_privacy_options *privacy, uint64_t coordinates,
                           const char *what, const tacit_cost *spent, size_t spent_count,
                           tacit_error *err);
/* The same for one release an agent, whose cost `one` works out: for every budget of the run, or
 * for `epsilon` alone if it is positive. */
typedef tacit_status spending_one(const void *ctx, const tacit_setup *setup, double epsilon,
                                  tacit_cost *cost, tacit_error *err);
tacit_status spending_once(spending *out, const tacit_setup *setup, double epsilon,
                           spending_one *one, const void *ctx, tacit_error *err);
void spending_end(spending *plan);
/* The cost of the release after `made`, for an agent with budget `epsilon`; NULL when its schedule
 * is used up. */
const tacit_cost *spending_next(const spending *plan, double epsilon, uint64_t made);

#endif
