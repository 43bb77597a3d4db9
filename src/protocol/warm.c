/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/warm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const warm_perturbations[] = {"output", "objective", NULL};

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The distinct budgets, sorted. */
static tacit_status list_budgets(warm_plan *plan, double epsilon, const tacit_setup *setup,
                                 tacit_error *err)
{
    const bool differ = epsilon == 0 && setup->epsilon;
    const size_t count = differ ? (size_t)setup->agents : 1;
    plan->epsilon = calloc(count, sizeof *plan->epsilon);
    if (!plan->epsilon)
        return tacit_out_of_memory(err);
    plan->epsilon[0] = epsilon > 0 ? epsilon : setup->privacy->epsilon;
    plan->groups = 1;
    if (!differ)
        return TACIT_OK;
    memcpy(plan->epsilon, setup->epsilon, count * sizeof *plan->epsilon);
    qsort(plan->epsilon, count, sizeof *plan->epsilon, by_size);
    for (size_t k = 1; k < count; k++)
        if (plan->epsilon[k] > plan->epsilon[plan->groups - 1])
            plan->epsilon[plan->groups++] = plan->epsilon[k];
    return TACIT_OK;
}

tacit_status warm_prepare(warm_plan *plan, const warm_options *options, double radius,
                          double epsilon, const tacit_setup *setup, tacit_error *err)
{
    *plan = (warm_plan){.how = {options->perturbation, options->lambda, radius}};
    if (setup->privacy->mechanism == TACIT_MECHANISM_NONE)
        return TACIT_OK;
    tacit_status status = list_budgets(plan, epsilon, setup, err);
    if (status == TACIT_OK && !(plan->cost = calloc(plan->groups, sizeof *plan->cost)))
        status = tacit_out_of_memory(err);
    for (size_t k = 0; status == TACIT_OK && k < plan->groups; k++)
        status = tacit_model_local_cost(setup->model, &plan->cost[k], setup->privacy,
                                        plan->epsilon[k], &plan->how, err);
    if (status != TACIT_OK)
        warm_end(plan);
    return status;
}

void warm_end(warm_plan *plan)
{
    free(plan->epsilon);
    free(plan->cost);
    *plan = (warm_plan){0};
}

static const tacit_cost *cost_of(const warm_plan *plan, double epsilon)
{
    const double *found = bsearch(&epsilon, plan->epsilon, plan->groups, sizeof epsilon, by_size);
    return found ? &plan->cost[found - plan->epsilon] : &plan->cost[0];
}

tacit_status warm_publish(tacit_env *env, const personal_shared *shared, const warm_plan *plan,
                          tacit_public **out)
{
    if (plan->groups == 0)
        return personal_publish_local(env, shared, out);
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_public *released;
    tacit_status status = tacit_reserve(env, cost_of(plan, tacit_facts_of(env)->epsilon), &permit);
    if (status == TACIT_OK)
        status = tacit_model_local_noisy(tacit_own_model(env), permit,
                                         tacit_own_data(env, TACIT_TRAIN), &plan->how,
                                         tacit_own_scratch(env), &bounded, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_release(env, permit, bounded, &released);
    if (status != TACIT_OK)
        return status;
    if (!(*out = tacit_new_public(env, shared->shape)))
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_public_copy(*out, released);
    return TACIT_OK;
}
