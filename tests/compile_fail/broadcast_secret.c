/* SPDX-License-Identifier: Apache-2.0 */
/* Nor broadcast. */
#include "tacit/tacit.h"

tacit_status speak(tacit_env *env, tacit_secret *model);
tacit_status speak(tacit_env *env, tacit_secret *model)
{
    return tacit_broadcast(env, 1, model); /* refused */
}
