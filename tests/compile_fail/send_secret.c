/* SPDX-License-Identifier: Apache-2.0 */
/* What was computed from data cannot be sent. */
#include "tacit/tacit.h"

tacit_status speak(tacit_env *env, tacit_agent to, tacit_secret *model);
tacit_status speak(tacit_env *env, tacit_agent to, tacit_secret *model)
{
    return tacit_send(env, to, 1, model); /* refused */
}
