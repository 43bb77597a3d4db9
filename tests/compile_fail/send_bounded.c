/* SPDX-License-Identifier: Apache-2.0 */
/* A clipped value is still a secret: it must pass through the release step. */
#include "tacit/tacit.h"

tacit_status speak(tacit_env *env, tacit_agent to, tacit_bounded *gradient);
tacit_status speak(tacit_env *env, tacit_agent to, tacit_bounded *gradient)
{
    return tacit_send(env, to, 1, gradient); /* refused */
}
