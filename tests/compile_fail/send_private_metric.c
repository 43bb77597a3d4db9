/* SPDX-License-Identifier: Apache-2.0 */
/* A training loss is for the owner's eyes. */
#include "tacit/tacit.h"

tacit_status speak(tacit_env *env, tacit_agent to, tacit_private_metric loss);
tacit_status speak(tacit_env *env, tacit_agent to, tacit_private_metric loss)
{
    return tacit_send(env, to, 1, loss); /* refused */
}
