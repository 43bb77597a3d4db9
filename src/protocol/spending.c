/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/spending.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COSTS 2000000 /* of all schedules */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Budgets only matter to noise that is found from them. */
static tacit_status list_budgets(spending *plan, const tacit_setup *setup, bool found,
                                 tacit_error *err)
{
    const bool differ = found && setup->epsilon && setup->agents > 0;
    const size_t count = differ ? (size_t)setup->agents : 1;
    plan->epsilon = calloc(count, sizeof *plan->epsilon);
    if (!plan->epsilon)
        return tacit_out_of_memory(err);
    plan->epsilon[0] = setup->privacy->epsilon;
    plan->groups = 1;
    if (!differ)
        return TACIT_OK;
    memcpy(plan->epsilon, setup->epsilon, count * sizeof *plan->epsilon);
    qsort(plan->epsilon, count, sizeof *plan->epsilon, by_size);
    for (size_t k = 1; k < count; k++)
        if (plan->epsilon[k] > plan->epsilon[plan->groups - 1])
            plan->epsilon[plan->groups++] = plan->epsilon[k];
    if (plan->groups > SPENDING_MOST_BUDGETS)
        return tacit_fail(err, TACIT_EINPUT,
                          "agents have %zu different budgets; at most %d are planned for",
                          plan->groups, SPENDING_MOST_BUDGETS);
    return TACIT_OK;
}

static tacit_status room(spending *plan, tacit_error *err)
{
    size_t count;
    if (!tacit_mul_size(plan->groups, plan->length, &count) || count > MOST_COSTS)
        return tacit_fail(err, TACIT_EINPUT,
                          "%zu different budgets over %zu releases each are too many to plan for; "
                          "round budgets, or set fewer \"privacy.releases\"",
                          plan->groups, plan->length);
    if (!(plan->cost = calloc(count, sizeof *plan->cost)))
        return tacit_out_of_memory(err);
    return TACIT_OK;
}

/* Who follows the schedule then never asks an accountant again. */
static tacit_status vouch(const spending *plan, size_t group, const tacit_setup *setup,
                          const tacit_cost *spent, size_t spent_count, tacit_error *err)
{
    if (!setup->costs || plan->length == 1)
        return TACIT_OK;
    const tacit_budget budget = {.epsilon = plan->epsilon[group],
                                 .delta = setup->privacy->delta,
                                 .accountant = (tacit_accountant)setup->privacy->accountant};
    tacit_cost *all = calloc(spent_count + plan->length, sizeof *all);
    if (!all)
        return tacit_out_of_memory(err);
    if (spent_count > 0)
        memcpy(all, spent, spent_count * sizeof *all);
    memcpy(all + spent_count, plan->cost + group * plan->length, plan->length * sizeof *all);
    tacit_status status =
        tacit_costs_vouch(setup->costs, &budget, all, spent_count + plan->length, err);
    free(all);
    return status;
}

static tacit_status check_length(const tacit_privacy_options *privacy, tacit_error *err)
{
    if (privacy->releases >= 1 && privacy->releases <= TACIT_SCHEDULE_MOST)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "\"privacy.policy: %s\" spreads a budget over a number of releases agreed "
                      "beforehand; set \"privacy.releases\" between 1 and %d, not %lld",
                      tacit_policy_names[privacy->policy], TACIT_SCHEDULE_MOST,
                      (long long)privacy->releases);
}

/* Names somebody whose own budget it is that cannot be planned for. */
static tacit_status blame(const spending *plan, size_t group, const tacit_setup *setup,
                          tacit_status status, tacit_error *err)
{
    if (!err || !setup->epsilon || (status != TACIT_EINPUT && status != TACIT_EBUDGET))
        return status;
    uint64_t agent = 0;
    while (agent < setup->agents && setup->epsilon[agent] != plan->epsilon[group])
        agent++;
    if (agent == setup->agents) /* it was no budget of an agent */
        return status;
    const tacit_error why = *err;
    return tacit_fail(err, status, "the budget of agent %llu (\"privacy.budgets\"): %.520s",
                      (unsigned long long)agent, why.text);
}

tacit_status spending_plan(spending *out, const tacit_setup *setup,
                           const tacit_privacy_options *privacy, uint64_t coordinates,
                           const char *what, const tacit_cost *spent, size_t spent_count,
                           tacit_error *err)
{
    const bool noisy = privacy->mechanism != TACIT_MECHANISM_NONE;
    const bool found = noisy && privacy->noise == 0;
    const bool over_time = noisy && privacy->policy != TACIT_POLICY_UNIFORM;
    *out = (spending){.length = over_time ? (size_t)privacy->releases : 1};
    tacit_status status = over_time ? check_length(privacy, err) : TACIT_OK;
    if (status == TACIT_OK)
        status = list_budgets(out, setup, found, err);
    if (status == TACIT_OK)
        status = room(out, err);
    for (size_t k = 0; k < out->groups && status == TACIT_OK; k++) {
        tacit_cost *cost = out->cost + k * out->length;
        if (over_time || (found && (setup->epsilon || spent_count > 0)))
            status =
                tacit_schedule_plan(cost, (uint64_t)privacy->releases, privacy, out->epsilon[k],
                                    spent, spent_count, coordinates, what, err);
        else
            status = tacit_cost_plan(cost, privacy, coordinates, what, err);
        if (status == TACIT_OK)
            status = vouch(out, k, setup, spent, spent_count, err);
        status = blame(out, k, setup, status, err);
    }
    if (status != TACIT_OK)
        spending_end(out);
    return status;
}

tacit_status spending_once(spending *out, const tacit_setup *setup, double epsilon,
                           spending_one *one, const void *ctx, tacit_error *err)
{
    const bool found = epsilon == 0 && setup->privacy->noise == 0;
    *out = (spending){.length = 1};
    tacit_status status = list_budgets(out, setup, found, err);
    if (status == TACIT_OK && epsilon > 0)
        out->epsilon[0] = epsilon;
    if (status == TACIT_OK)
        status = room(out, err);
    for (size_t k = 0; k < out->groups && status == TACIT_OK; k++)
        status = blame(out, k, setup, one(ctx, setup, out->epsilon[k], &out->cost[k], err), err);
    if (status != TACIT_OK)
        spending_end(out);
    return status;
}

void spending_end(spending *plan)
{
    free(plan->epsilon);
    free(plan->cost);
    *plan = (spending){0};
}

const tacit_cost *spending_next(const spending *plan, double epsilon, uint64_t made)
{
    size_t group = 0;
    if (plan->groups > 1) {
        const double *at = bsearch(&epsilon, plan->epsilon, plan->groups, sizeof epsilon, by_size);
        if (!at)
            return NULL; /* a budget that was never planned for */
        group = (size_t)(at - plan->epsilon);
    }
    const tacit_cost *cost = plan->cost + group * plan->length;
    if (plan->length == 1)
        return cost;
    return made < plan->length ? cost + made : NULL;
}
