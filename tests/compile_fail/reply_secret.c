/* SPDX-License-Identifier: Apache-2.0 */
/* Nor given as an answer. */
#include "tacit/tacit.h"

tacit_status answer(tacit_env *env, const tacit_event *request, tacit_secret *model);
tacit_status answer(tacit_env *env, const tacit_event *request, tacit_secret *model)
{
    return tacit_reply(env, request, 1, model); /* refused */
}
