/* SPDX-License-Identifier: Apache-2.0 */
/* Only a value of stated sensitivity can be released: a bare secret cannot. */
#include "tacit/tacit.h"

tacit_status speak(tacit_env *env, tacit_permit *permit, tacit_secret *model);
tacit_status speak(tacit_env *env, tacit_permit *permit, tacit_secret *model)
{
    tacit_public *out;
    return tacit_release(env, permit, model, &out); /* refused */
}
