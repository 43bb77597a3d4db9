/* SPDX-License-Identifier: Apache-2.0 */
#include "tacit/env.h"

/* A channel is a path, four bits a level, outermost first: find the level below ours. */
uint32_t tacit_event_child(const tacit_env *env, const tacit_event *event)
{
    uint32_t channel = event->at.channel, child = 0;
    while (channel != env->channel) {
        if (channel == 0)
            return 0;
        child = channel & 15;
        channel >>= 4;
    }
    return child;
}

uint32_t tacit_address_child(tacit_address at, tacit_address *inner)
{
    uint32_t shift = 0;
    while (at.channel >> shift > 15)
        shift += 4;
    *inner = (tacit_address){at.channel & ((1u << shift) - 1), at.kind};
    return at.channel >> shift;
}
