/* SPDX-License-Identifier: Apache-2.0 */
/* A void pointer converts to anything in C; it still has no voice. */
#include "tacit/tacit.h"

tacit_status speak(tacit_env *env, tacit_agent to, void *anything);
tacit_status speak(tacit_env *env, tacit_agent to, void *anything)
{
    return tacit_send(env, to, 1, anything); /* refused */
}
