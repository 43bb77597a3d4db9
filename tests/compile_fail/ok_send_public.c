/* SPDX-License-Identifier: Apache-2.0 */
/* The twin of the others: what may be sent, asked, answered and released does compile. */
#include "tacit/tacit.h"

tacit_status speak(tacit_env *env, const tacit_event *request, tacit_public *payload);
tacit_status speak(tacit_env *env, const tacit_event *request, tacit_public *payload)
{
    uint64_t id;
    tacit_status status = tacit_send(env, request->from, 1, payload);
    if (!status)
        status = tacit_broadcast(env, 1, payload);
    if (!status)
        status = tacit_request(env, request->from, 1, payload, 10.0, &id);
    if (!status)
        status = tacit_reply(env, request, 1, payload);
    if (!status)
        status = tacit_broadcast(env, 1, request->payload); /* heard, so public */
    return status;
}

tacit_status release(tacit_env *env, tacit_permit *permit, tacit_bounded *bounded);
tacit_status release(tacit_env *env, tacit_permit *permit, tacit_bounded *bounded)
{
    tacit_public *out;
    tacit_status status = tacit_release(env, permit, bounded, &out);
    return status ? status : tacit_broadcast(env, 1, out);
}
