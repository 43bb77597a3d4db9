/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/warm.h"

const char *const warm_perturbations[] = {"output", "objective", NULL};

typedef struct wish {
    const tacit_local *how;
    bool found; /* noise from epsilon, whatever "privacy.noise" says of other releases */
} wish;

static tacit_status cost_of(const void *ctx, const tacit_setup *setup, double epsilon,
                            tacit_cost *cost, tacit_error *err)
{
    const wish *w = ctx;
    tacit_privacy_options privacy = *setup->privacy;
    if (w->found)
        privacy.noise = 0;
    return tacit_model_local_cost(setup->model, cost, &privacy, epsilon, w->how, err);
}

/* What is released is a multiple of a number that depends on how many records there are. */
static tacit_status check_unit(const tacit_privacy_options *privacy, tacit_error *err)
{
    if (privacy->mechanism == TACIT_MECHANISM_NONE || privacy->unit == TACIT_UNIT_RECORD)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "a local model tells how many records its agent has, which for "
                      "\"privacy.unit: user\" is a secret; use \"privacy.unit: record\"");
}

tacit_status warm_prepare(warm_plan *plan, const warm_options *options, double radius,
                          double epsilon, const tacit_setup *setup, tacit_error *err)
{
    *plan = (warm_plan){.how = {options->perturbation, options->lambda, options->records, radius},
                        .noisy = setup->privacy->mechanism != TACIT_MECHANISM_NONE};
    const wish w = {&plan->how, epsilon > 0};
    tacit_status status = check_unit(setup->privacy, err);
    if (status != TACIT_OK)
        return status;
    return plan->noisy ? spending_once(&plan->costs, setup, epsilon, cost_of, &w, err) : TACIT_OK;
}

void warm_end(warm_plan *plan)
{
    spending_end(&plan->costs);
}

tacit_status warm_publish(tacit_env *env, const personal_shared *shared, const warm_plan *plan,
                          tacit_public **out)
{
    if (!plan->noisy)
        return personal_publish_local(env, shared, out);
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_public *released;
    const tacit_cost *cost = spending_next(&plan->costs, tacit_facts_of(env)->epsilon, 0);
    if (!cost)
        return tacit_fail(tacit_own_error(env), TACIT_EBUDGET,
                          "the budget of agent \"%llu\" was never planned for",
                          (unsigned long long)tacit_facts_of(env)->self);
    tacit_status status = tacit_reserve(env, cost, &permit);
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
