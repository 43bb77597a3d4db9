/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_CHARGED_H
#define TACIT_TEST_CHARGED_H
/* Costs on the grid and permits for them, for tests of releases with noise. */
#include "privacy/release.h"
#include "testing.h"

extern tacit_costs *charged_costs;  /* made by charged_setup */
extern tacit_random charged_random; /* of a seed */
extern const tacit_budget charged_no_limit;
int charged_setup(void **state);
int charged_teardown(void **state);
/* A cost of mechanism laplace or gaussian, unit record, adjacency replace. */
tacit_cost charged_plan(tacit_mechanism mechanism, double radius, double noise, size_t count);
void charged_reserve(tacit_ledger *ledger, const tacit_cost *cost, tacit_permit *permit);

#endif
