/* SPDX-License-Identifier: Apache-2.0 */
/* A bare number has no voice either. */
#include "tacit/tacit.h"

tacit_status speak(tacit_env *env, tacit_agent to, double loss);
tacit_status speak(tacit_env *env, tacit_agent to, double loss)
{
    return tacit_send(env, to, 1, loss); /* refused */
}
