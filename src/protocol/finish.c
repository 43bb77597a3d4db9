/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol/finish.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINISH_DRAW ((uint64_t)1 << 39) /* a counter of the agent's stream nobody else uses */

const char *const finish_choices[] = {"none", "private", NULL};
const char *const finish_ways[] = {"best", "mean", "first", NULL}; /* as tacit_finish_choice */

/* Numbers apart by commas or blanks. */
static tacit_status read_list(const char *key, const char *text, double least, double *value,
                              size_t *count, tacit_error *err)
{
    *count = 0;
    const char *at = text + strspn(text, ", ");
    while (*at) {
        char *end;
        const double number = strtod(at, &end);
        if (end == at || !strchr(", ", *end) || !isfinite(number) || number < least ||
            *count == FINISH_MOST)
            return tacit_fail(err, TACIT_EINPUT,
                              "\"protocol.%s: %s\" is no list of at most %d numbers of %g or more; "
                              "write it as in \"1,10,100\"",
                              key, text, FINISH_MOST, least);
        value[(*count)++] = number;
        at = end + strspn(end, ", ");
    }
    return *count > 0
               ? TACIT_OK
               : tacit_fail(err, TACIT_EINPUT,
                            "\"protocol.%s\" is empty; write numbers as in \"1,10,100\"", key);
}

tacit_status finish_prepare(finish_plan *plan, const finish_options *options, tacit_error *err)
{
    plan->wanted = options->finish == FINISH_PRIVATE;
    plan->how.folds = (uint32_t)options->folds;
    plan->how.choice = (tacit_finish_choice)options->choice;
    plan->how.sharpness = options->sharpness;
    plan->how.margin = options->margin;
    plan->how.last = options->bias;
    tacit_status status = read_list("finish-strengths", options->strengths, 1e-9, plan->strength,
                                    &plan->how.strengths, err);
    if (status == TACIT_OK)
        status =
            read_list("finish-scales", options->scales, 0, plan->scale, &plan->how.scales, err);
    return status;
}

tacit_status finish_privately(tacit_env *env, const finish_plan *plan, const tacit_public *prior,
                              const tacit_secret **out)
{
    const tacit_model *model = tacit_own_model(env);
    tacit_secret *theta = tacit_new_secret(env, tacit_model_shape(model));
    if (!theta)
        return tacit_out_of_memory(tacit_own_error(env));
    *out = theta;
    tacit_finish how = plan->how;
    how.scale = plan->scale;
    how.strength = plan->strength;
    tacit_draw(env, FINISH_DRAW, &how.seed, sizeof how.seed);
    tacit_finished chosen;
    tacit_status status = tacit_model_finish(model, tacit_own_data(env, TACIT_TRAIN), prior, &how,
                                             theta, &chosen, tacit_own_error(env));
    if (status != TACIT_OK)
        return status;
    tacit_metric(env, "finish_scale", chosen.scale);
    tacit_metric(env, "finish_strength", chosen.strength);
    return TACIT_OK;
}
