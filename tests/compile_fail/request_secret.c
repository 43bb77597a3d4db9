/* SPDX-License-Identifier: Apache-2.0 */
/* Nor sent along with a question. */
#include "tacit/tacit.h"

tacit_status ask(tacit_env *env, tacit_agent to, tacit_secret *model);
tacit_status ask(tacit_env *env, tacit_agent to, tacit_secret *model)
{
    uint64_t id;
    return tacit_request(env, to, 1, model, 10.0, &id); /* refused */
}
