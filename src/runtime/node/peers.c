/* SPDX-License-Identifier: Apache-2.0 */
/* Peers: who hosts whom, and who is there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "runtime/node/node.h"

#define STRANGERS 1024 /* at most, in open mode */
#define EVERYBODY 256  /* members at most, for all of them to be watched: a link each, and pings */

/* ---- finding them ---- */

node_peer *node_peer_by_key(const tacit_node *n, const uint8_t key[TACIT_NODE_KEY])
{
    size_t low = 0, high = n->peer_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = memcmp(n->peers[n->by_key[middle]].key, key, TACIT_NODE_KEY);
        if (order == 0)
            return &n->peers[n->by_key[middle]];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* The first place at or behind `agent`. */
static size_t place_at(const tacit_node *n, tacit_agent agent)
{
    size_t low = 0, high = n->place_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (n->places[middle].agent < agent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

node_peer *node_peer_of(const tacit_node *n, tacit_agent agent)
{
    const size_t k = place_at(n, agent);
    return k < n->place_count && n->places[k].agent == agent ? &n->peers[n->places[k].peer] : NULL;
}

node_agent *node_hosted(const tacit_node *n, tacit_agent agent)
{
    uint32_t low = 0, high = n->plan.hosted_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (n->plan.hosted[middle].agent < agent)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n->plan.hosted_count && n->plan.hosted[low].agent == agent ? &n->agents[low]
                                                                            : NULL;
}

uint32_t node_watched(const tacit_node *n)
{
    uint32_t count = 0;
    for (size_t k = 0; k < n->peer_count; k++)
        count += n->peers[k].watched;
    return count;
}

uint32_t node_slot(const node_agent *a, tacit_agent neighbour)
{
    uint32_t low = 0, high = a->plan->neighbours;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (a->plan->neighbour[middle] < neighbour)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->plan->neighbours && a->plan->neighbour[low] == neighbour ? low : TACIT_NO_SLOT;
}

/* ---- making them ---- */

tacit_status node_add_place(tacit_node *n, uint32_t agent, uint32_t peer, tacit_error *err)
{
    const size_t at = place_at(n, agent);
    node_place *all =
        tacit_array_grow(n->places, &n->place_capacity, n->place_count + 1, sizeof *all);
    if (!all)
        return tacit_out_of_memory(err);
    n->places = all;
    memmove(&all[at + 1], &all[at], (n->place_count++ - at) * sizeof *all);
    all[at] = (node_place){agent, peer};
    return TACIT_OK;
}

static node_peer *add_peer(tacit_node *n, const uint8_t key[TACIT_NODE_KEY])
{
    if (n->peer_count == n->peer_capacity)
        return NULL;
    const uint32_t index = (uint32_t)n->peer_count;
    size_t at = n->peer_count;
    while (at > 0 && memcmp(n->peers[n->by_key[at - 1]].key, key, TACIT_NODE_KEY) > 0) {
        n->by_key[at] = n->by_key[at - 1];
        at--;
    }
    n->by_key[at] = index;
    n->peer_count++;
    n->peers[index] = (node_peer){.slot = UINT32_MAX, .round_trip = NAN};
    memcpy(n->peers[index].key, key, TACIT_NODE_KEY);
    return &n->peers[index];
}

node_peer *node_peer_add(tacit_node *n, const uint8_t key[TACIT_NODE_KEY])
{
    node_peer *peer = add_peer(n, key);
    if (!peer)
        return NULL;
    char text[TACIT_IDENTITY_TEXT];
    log_fields f;
    tacit_identity_format(text, key);
    memcpy(peer->name, text, 12); /* enough to tell them apart */
    log_begin(&f);
    log_text(&f, "peer", peer->name);
    log_text(&f, "key", text);
    node_note(n, TACIT_LOG_INFO, "stranger", &f);
    return peer;
}

static tacit_status add_member(tacit_node *n, uint32_t index, tacit_error *err)
{
    const tacit_node_member *m = &n->plan.members[index];
    if (node_peer_by_key(n, m->key))
        return tacit_fail(err, TACIT_EINPUT, "two members have the key of \"%s\"", m->name);
    node_peer *peer = add_peer(n, m->key);
    memcpy(peer->name, m->name, sizeof peer->name);
    memcpy(peer->endpoint, m->endpoint, sizeof peer->endpoint);
    peer->listed = true;
    peer->self = index == n->plan.self;
    for (uint32_t k = 0; k < m->count; k++) {
        if (node_peer_of(n, m->agents[k]))
            return tacit_fail(err, TACIT_EINPUT, "two members host agent %u", m->agents[k]);
        tacit_status status = node_add_place(n, m->agents[k], (uint32_t)(peer - n->peers), err);
        if (status != TACIT_OK)
            return status;
    }
    return TACIT_OK;
}

static tacit_status watch(tacit_node *n, node_peer *peer, tacit_error *err)
{
    if (peer->self || peer->watched)
        return TACIT_OK;
    peer->watched = true;
    return tacit_suspect_add(n->suspect, &peer->slot, n->now, err);
}

/* Where everybody talks to everybody all members are watched, unless there are too many: then
 * those beyond the neighbours are linked to when there is something to say, and whoever is late
 * misses what was said before. */
static tacit_status watch_everybody(tacit_node *n, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (!(n->flags & TACIT_EVERYBODY) || n->plan.member_count > EVERYBODY)
        return TACIT_OK;
    for (uint32_t k = 0; k < n->plan.member_count && status == TACIT_OK; k++)
        if (n->plan.members[k].count > 0)
            status = watch(n, &n->peers[k], err);
    return status;
}

/* Those who host neighbours of ours are watched, and linked to from the start. */
static tacit_status watch_neighbours(tacit_node *n, tacit_error *err)
{
    for (uint32_t k = 0; k < n->plan.hosted_count; k++)
        for (uint32_t j = 0; j < n->plan.hosted[k].neighbours; j++) {
            const uint32_t agent = n->plan.hosted[k].neighbour[j];
            node_peer *peer = node_peer_of(n, agent);
            if (!peer)
                return tacit_fail(err, TACIT_EINPUT, "nobody hosts agent %u, a neighbour of %u",
                                  agent, n->plan.hosted[k].agent);
            tacit_status status = watch(n, peer, err);
            if (status != TACIT_OK)
                return status;
        }
    return watch_everybody(n, err);
}

tacit_status node_peers_init(tacit_node *n, tacit_error *err)
{
    tacit_suspect_options watch;
    n->peer_capacity = n->plan.member_count + (n->plan.options->open ? STRANGERS : 0);
    n->peers = calloc(n->peer_capacity, sizeof *n->peers);
    n->by_key = calloc(n->peer_capacity, sizeof *n->by_key);
    if (!n->peers || !n->by_key)
        return tacit_out_of_memory(err);
    tacit_suspect_defaults(&watch);
    watch.interval = n->plan.options->heartbeat;
    tacit_status status = tacit_suspect_create(&n->suspect, &watch, n->now, err);
    for (uint32_t k = 0; k < n->plan.member_count && status == TACIT_OK; k++)
        status = add_member(n, k, err);
    return status == TACIT_OK ? watch_neighbours(n, err) : status;
}

void node_peers_clear(tacit_node *n)
{
    for (size_t k = 0; k < n->again_count; k++)
        node_bytes_drop(n->again[k].payload);
    for (size_t k = 0; k < n->early_count; k++)
        node_bytes_drop(n->early[k].frame);
    for (size_t k = 0; k < n->peer_count; k++)
        free(n->peers[k].pack.bytes);
    free(n->packing);
    free(n->again);
    free(n->early);
    free(n->peers);
    free(n->by_key);
    free(n->places);
    tacit_suspect_free(n->suspect);
}

/* ---- who is there ---- */

/* Tell our agents that the neighbours they have at this peer came or went. */
static void announce(tacit_node *n, const node_peer *peer, tacit_event_type type)
{
    if (n->phase == NODE_MEETING || n->phase == NODE_ENDED)
        return;
    for (uint32_t k = 0; k < n->plan.hosted_count; k++) {
        node_agent *a = &n->agents[k];
        for (uint32_t j = 0; j < a->plan->neighbours; j++)
            if (node_peer_of(n, a->plan->neighbour[j]) == peer)
                node_deliver(n, &(runtime_event){.time = node_time_at(n, n->now),
                                                 .to = a->plan->agent,
                                                 .from = a->plan->neighbour[j],
                                                 .type = type});
    }
}

/* Who comes and goes all the time does not fill the log. */
static void note_peer(const tacit_node *n, node_peer *peer, tacit_log_level level,
                      const char *event)
{
    log_fields f;
    if (peer->notes++ >= NODE_NOTES)
        level = TACIT_LOG_DEBUG;
    log_begin(&f);
    log_text(&f, "peer", peer->name);
    if (peer->watched)
        log_number(&f, "silence_seconds", tacit_suspect_silence(n->suspect, peer->slot));
    node_note(n, level, event, &f);
}

void node_hear(tacit_node *n, node_peer *peer)
{
    const bool first = !peer->met, back = peer->left;
    peer->met = true;
    peer->left = false;
    if (peer->watched)
        tacit_suspect_heard(n->suspect, peer->slot, n->now);
    if (peer->watched && !peer->known) /* on the disk before anything is said to it: begin.c */
        peer->known = node_store_put_peer(n->store, peer->key, "", 0, NULL) == TACIT_OK;
    if (first) {
        note_peer(n, peer, TACIT_LOG_INFO, "peer_met");
        node_start_late(n); /* those whom nobody could hear, before it says anything to them */
    }
    if (back) {
        note_peer(n, peer, TACIT_LOG_INFO, "peer_back");
        announce(n, peer, TACIT_PEER_UP);
    }
}

void node_on_bye(tacit_node *n, node_peer *peer)
{
    if (peer->left)
        return;
    peer->left = true;
    peer->greeted = false; /* whoever comes back tells anew what it heard */
    note_peer(n, peer, TACIT_LOG_INFO, "peer_left");
    if (peer->watched)
        announce(n, peer, TACIT_PEER_DOWN);
}

static void tell_changes(tacit_node *n)
{
    static const char *const event[] = {"peer_up", "peer_slow", "peer_down"};
    tacit_suspect_change c;
    tacit_suspect_tick(n->suspect, n->now);
    while (tacit_suspect_next(n->suspect, &c)) {
        node_peer *peer = NULL;
        for (size_t k = 0; k < n->peer_count && !peer; k++)
            if (n->peers[k].slot == c.slot)
                peer = &n->peers[k];
        if (!peer)
            continue;
        note_peer(n, peer, c.after == TACIT_HEALTH_DOWN ? TACIT_LOG_WARN : TACIT_LOG_INFO,
                  event[c.after]);
        if (peer->left)
            continue; /* that was told when it left */
        if (c.after == TACIT_HEALTH_DOWN)
            announce(n, peer, TACIT_PEER_DOWN);
        else if (c.before == TACIT_HEALTH_DOWN)
            announce(n, peer, TACIT_PEER_UP);
    }
}

static bool is_away(const tacit_node *n, const node_peer *peer)
{
    return peer->left || tacit_suspect_health(n->suspect, peer->slot) == TACIT_HEALTH_DOWN;
}

void node_beat(tacit_node *n)
{
    tell_changes(n);
    if (n->beats++ % 2 != 0) /* the detector wants to be asked twice as often as peers are */
        return;
    for (size_t k = 0; k < n->peer_count; k++) {
        node_peer *peer = &n->peers[k];
        if (peer->self || !(peer->watched || (peer->met && !peer->listed)))
            continue;
        peer->ping = ++n->stamps;
        peer->ping_sent = n->now;
        node_greet(n, peer, peer->greeted ? TACIT_WIRE_PING : TACIT_WIRE_HELLO, peer->ping);
    }
}

bool node_all_met(const tacit_node *n)
{
    for (size_t k = 0; k < n->peer_count; k++)
        if (n->peers[k].watched && !n->peers[k].greeted)
            return false;
    return true;
}

bool node_all_ended(const tacit_node *n)
{
    for (size_t k = 0; k < n->peer_count; k++)
        if (n->peers[k].watched && !n->peers[k].ended && !is_away(n, &n->peers[k]))
            return false;
    return true;
}

uint64_t node_quiet_around(const tacit_node *n)
{
    uint64_t least = UINT64_MAX - 1;
    for (size_t k = 0; k < n->peer_count; k++) {
        const node_peer *peer = &n->peers[k];
        if (peer->watched && !peer->ended && !is_away(n, peer) && peer->quiet < least)
            least = peer->quiet;
    }
    return least;
}
