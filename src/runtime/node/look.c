/* SPDX-License-Identifier: Apache-2.0 */
/* What a node looks like from outside: figures about it, never anything of its models or records.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/node/node.h"

static void look_at_agent(const tacit_node *n, const node_agent *a, tacit_node_agent_row *row)
{
    const tacit_ledger_file *file = node_store_ledger(n->store, a->index);
    const tacit_ledger *ledger = tacit_ledger_file_ledger(file);
    *row = (tacit_node_agent_row){
        .agent = a->plan->agent,
        .name = a->plan->name,
        .ticks = a->wakes,
        .releases = tacit_ledger_releases(ledger),
        .messages_in = a->messages_in,
        .messages_out = a->messages_out,
        .epsilon = tacit_ledger_epsilon(ledger, &tacit_ledger_file_holder(file)->budget),
        .budget = a->plan->epsilon,
        .delta = n->plan.privacy.delta + tacit_protocol_more_delta(n->plan.protocol, n->shared),
        .spent = a->spent,
    };
}

static void look_at_peer(const tacit_node *n, const node_peer *peer, tacit_node_peer_row *row)
{
    const bool watched = peer->watched;
    *row = (tacit_node_peer_row){
        .name = peer->name,
        .health = watched ? (int)tacit_suspect_health(n->suspect, peer->slot) : TACIT_HEALTH_UP,
        .met = peer->met,
        .ended = peer->ended,
        .silence = watched ? tacit_suspect_silence(n->suspect, peer->slot) : NAN,
        .round_trip = peer->round_trip,
        .resent = peer->resent,
        .refused = peer->refused,
    };
    if (peer->left || !peer->met)
        row->health = TACIT_HEALTH_DOWN;
    memcpy(row->key, peer->key, sizeof row->key);
    memcpy(row->endpoint, peer->endpoint, sizeof row->endpoint);
}

/* Neighbours, and whoever else was met. */
static bool is_shown(const node_peer *peer)
{
    return !peer->self && (peer->watched || peer->met);
}

/* Why it only listens. */
static const char *why_mute(const tacit_node *n)
{
    if (n->status != TACIT_OK)
        return n->failure.text;
    const char *mute = node_store_mute(n->store);
    return mute || n->waits[0] == '\0' ? mute : n->waits;
}

tacit_status node_look(const tacit_node *n, tacit_node_status *out, tacit_error *err)
{
    static const char *const phases[] = {"meeting", "running", "waiting", "ended"};
    *out = (tacit_node_status){
        .name = n->plan.members[n->plan.self].name,
        .protocol = n->plan.protocol->name,
        .phase = phases[n->phase],
        .adversary =
            tacit_trust_name(tacit_protocol_trust(n->plan.protocol, n->plan.protocol_options)),
        .unit = tacit_unit_name((tacit_unit)n->plan.privacy.unit),
        .adjacency = tacit_adjacency_name((tacit_adjacency)n->plan.privacy.adjacency),
        .mute = why_mute(n),
        .incarnation = n->incarnation,
        .time = n->phase == NODE_RUNNING ? fmax(n->time, node_time_at(n, n->now)) : n->time,
        .until = n->plan.until,
        .quiet = n->quiet,
        .traffic = n->traffic,
        .checkpoints = n->checkpoints,
        .ticks_shed = n->shed,
        .lifetime = n->plan.lifetime,
    };
    memcpy(out->run, n->plan.run, sizeof out->run);
    memcpy(out->refused, n->refusals, sizeof out->refused);
    out->agents = calloc(n->plan.hosted_count, sizeof *out->agents);
    out->peers = calloc(n->peer_count, sizeof *out->peers);
    if (!out->agents || !out->peers) {
        tacit_node_status_clear(out);
        return tacit_out_of_memory(err);
    }
    for (uint32_t k = 0; k < n->plan.hosted_count; k++)
        look_at_agent(n, &n->agents[out->agent_count++], &out->agents[k]);
    for (size_t k = 0; k < n->peer_count; k++)
        if (is_shown(&n->peers[k]))
            look_at_peer(n, &n->peers[k], &out->peers[out->peer_count++]);
    return TACIT_OK;
}

void tacit_node_status_clear(tacit_node_status *status)
{
    free(status->agents);
    free(status->peers);
    *status = (tacit_node_status){0};
}
