/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_LIFETIME_TOOLS_H
#define TACIT_LIFETIME_TOOLS_H
/* What the tests of the lifetime ledger share. */
#include "tacit/lifetime.h"

/* Gaussian noise on a vector: mu = 1 / `noise`. */
tacit_cost gaussian_cost(const char *what, double noise);
/* No ledger, no key. */
void remove_lifetime(const char *path);
tacit_lifetime *opened_lifetime(const char *path);
/* Epsilon in all, delta 1e-5, one record replaced, filter any. */
tacit_lifetime_terms life_terms(double epsilon);
/* Whole numbers from `first` on as records. */
tacit_lifetime_records *some_records(const tacit_lifetime *l, uint64_t first, uint64_t count);
/* One run of agent 7 on the data set by that name, given, without records; the plan is `item`. */
tacit_lifetime_request life_request(const char *name, const char *run,
                                    const tacit_ledger_entry *item);
/* What was spent by the filter; the set must be there. */
double life_spent(tacit_lifetime *l, const char *name);
uint64_t life_reserve(tacit_lifetime *l, const tacit_lifetime_request *request);

#endif
