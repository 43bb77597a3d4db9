/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/confidence.h"

tacit_status tacit_full_confidence(double option, const tacit_setup *setup, double *out,
                                   tacit_error *err)
{
    if (option > 0)
        *out = option;
    else if (setup->max_records > 0)
        *out = (double)setup->max_records;
    else
        return tacit_fail(err, TACIT_EINPUT,
                          "nobody knows the largest number of records here; set "
                          "\"protocol.full-confidence\"");
    return TACIT_OK;
}

double tacit_confidence(double full, size_t records)
{
    double c = (double)records / full;
    return c < 1 ? c : 1;
}

tacit_cost tacit_cost_of(const tacit_privacy_options *privacy, const char *what)
{
    return (tacit_cost){.mechanism = (tacit_mechanism)privacy->mechanism,
                        .norm = TACIT_L2,
                        .unit = (tacit_unit)privacy->unit,
                        .adjacency = (tacit_adjacency)privacy->adjacency,
                        .what = what};
}

tacit_status tacit_learn_alone(tacit_env *env, tacit_secret **out)
{
    const tacit_model *model = tacit_own_model(env);
    tacit_secret *theta = tacit_new_secret(env, tacit_model_shape(model));
    if (!theta)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_status status =
        tacit_model_solve(model, tacit_own_data(env, TACIT_TRAIN), theta, tacit_own_error(env));
    if (status == TACIT_OK)
        *out = theta;
    else
        tacit_drop(env, theta);
    return status;
}

tacit_status tacit_publish_local(tacit_env *env, const tacit_privacy_options *privacy,
                                 tacit_public **out)
{
    const tacit_model *model = tacit_own_model(env);
    tacit_cost cost = tacit_cost_of(privacy, "local model");
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_public *released;
    tacit_status status = tacit_reserve(env, &cost, &permit);
    if (status == TACIT_OK)
        status = tacit_model_local(model, permit, tacit_own_data(env, TACIT_TRAIN),
                                   tacit_own_scratch(env), &bounded, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_release(env, permit, bounded, &released);
    if (status != TACIT_OK)
        return status;
    tacit_public *theta = tacit_new_public(env, tacit_model_shape(model));
    if (!theta)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_public_copy(theta, released);
    *out = theta;
    return TACIT_OK;
}
