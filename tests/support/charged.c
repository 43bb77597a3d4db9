/* SPDX-License-Identifier: Apache-2.0 */
#include "charged.h"

#include <math.h>

const tacit_budget charged_no_limit = {INFINITY, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_PLD};
tacit_costs *charged_costs;
tacit_random charged_random;

int charged_setup(void **state)
{
    (void)state;
    tacit_random_init(&charged_random, 11);
    return (charged_costs = tacit_costs_create()) ? 0 : -1;
}

int charged_teardown(void **state)
{
    (void)state;
    tacit_costs_free(charged_costs);
    return 0;
}

tacit_cost charged_plan(tacit_mechanism mechanism, double radius, double noise, size_t count)
{
    tacit_cost cost = {.mechanism = mechanism, .coordinates = count, .what = "test"};
    tacit_error err = {0};
    check_ok(tacit_cost_on_grid(&cost, radius, noise, &err), &err);
    return cost;
}

void charged_reserve(tacit_ledger *ledger, const tacit_cost *cost, tacit_permit *permit)
{
    tacit_error err = {0};
    check_ok(tacit_ledger_reserve(ledger, charged_costs, &charged_no_limit, cost, 0, permit, &err),
             &err);
}
