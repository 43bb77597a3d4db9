/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Greetings between nodes, and what got lost on the way.
 *
 * Links lose frames when they break, and nobody is told. So every pong says what its sender has
 * heard of the asker's agents; the asker compares that with the last words of its agents that had
 * left before the ping, and says again what is missing. That one rule serves a frame lost on the
 * way, a peer that was away, and a crash of either side. It needs no memory beyond one word for
 * each address, and no acknowledgement for each frame.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "runtime/node/node.h"

/* Lives are numbered by milliseconds of a wall clock, or one after the other: beyond the year 6429
 * somebody lies. */
#define INCARNATIONS (UINT64_C(1) << 47)
#define A_DAY UINT64_C(86400000) /* how far ahead of us one peer's word is taken */
#define STRANGERS_AGENTS 256     /* that somebody who is on no list can have (open mode) */

/* ---- greetings out ---- */

void node_send_plain(tacit_node *n, node_peer *peer, tacit_wire_kind kind, const uint8_t *bytes,
                     size_t len)
{
    tacit_wire_header h = {.kind = kind,
                           .protocol = n->plan.protocol->wire_id,
                           .from = TACIT_NOBODY,
                           .to = TACIT_NOBODY,
                           .incarnation = n->incarnation,
                           .payload = (uint32_t)len};
    memcpy(h.run, n->plan.run, sizeof h.run);
    const tacit_status status = node_transmit(n, peer, &h, bytes);
    if (status == TACIT_OK || status == TACIT_NO || peer->notes++ > NODE_NOTES)
        return;
    log_fields f;
    log_begin(&f);
    log_text(&f, "peer", peer->name);
    log_u64(&f, "frame_bytes", TACIT_WIRE_HEADER + len);
    node_note(n, TACIT_LOG_ERROR, "greeting_failed", &f);
}

void node_bye(tacit_node *n, node_peer *peer)
{
    node_send_plain(n, peer, TACIT_WIRE_BYE, NULL, 0);
}

/* What our agents have heard of those of `peer`, in the order greetings want: by their agent,
 * then by ours. */
static int by_from_then_to(const void *a, const void *b)
{
    const tacit_heard *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static tacit_heard *list_heard(const tacit_node *n, const node_peer *peer, uint32_t *count)
{
    size_t capacity = 0;
    tacit_heard *list = NULL;
    *count = 0;
    for (uint32_t k = 0; k < n->plan.hosted_count; k++)
        for (size_t j = 0; j < n->agents[k].heard_count; j++) {
            const node_heard *h = &n->agents[k].heard[j];
            if (h->sequence == 0 || node_peer_of(n, h->from) != peer ||
                *count == TACIT_GREETING_AGENTS)
                continue;
            tacit_heard *all = tacit_array_grow(list, &capacity, *count + 1, sizeof *all);
            if (!all)
                break;
            list = all;
            list[(*count)++] =
                (tacit_heard){h->from, n->agents[k].plan->agent, h->incarnation, h->sequence};
        }
    if (*count)
        qsort(list, *count, sizeof *list, by_from_then_to);
    return list;
}

size_t node_pairs(const tacit_node *n)
{
    const bool chatty = n->flags & TACIT_CHATTY;
    size_t most = 0;
    for (uint32_t m = 0; m < n->plan.member_count; m++) {
        size_t pairs = 0;
        if (chatty) /* anybody may talk to anybody */
            pairs = (size_t)n->plan.members[m].count * n->plan.hosted_count;
        for (uint32_t k = 0; !chatty && k < n->plan.hosted_count; k++)
            for (uint32_t j = 0; j < n->plan.hosted[k].neighbours; j++)
                pairs += node_peer_of(n, n->plan.hosted[k].neighbour[j]) == &n->peers[m];
        if (m != n->plan.self && pairs > most)
            most = pairs;
    }
    return most;
}

size_t node_greeting_room(const tacit_node *n)
{
    const size_t pairs = node_pairs(n);
    size_t agents = 0;
    for (uint32_t m = 0; m < n->plan.member_count; m++)
        agents = n->plan.members[m].count > agents ? n->plan.members[m].count : agents;
    const size_t marks = 2 * (agents + n->plan.hosted_count); /* two of an agent at most */
    const tacit_greeting most = {
        .agents = (uint32_t)agents,
        .heard_count = (uint32_t)(pairs < TACIT_GREETING_AGENTS ? pairs : TACIT_GREETING_AGENTS),
        .mark_count = (uint32_t)(marks < TACIT_GREETING_AGENTS ? marks : TACIT_GREETING_AGENTS)};
    return TACIT_WIRE_HEADER + tacit_greeting_bytes(&most);
}

void node_greet(tacit_node *n, node_peer *peer, tacit_wire_kind kind, uint64_t stamp)
{
    const bool hello = kind == TACIT_WIRE_HELLO || kind == TACIT_WIRE_HELLO_ACK;
    const bool answer = kind == TACIT_WIRE_HELLO_ACK || kind == TACIT_WIRE_PONG;
    const tacit_node_member *self = &n->plan.members[n->plan.self];
    tacit_greeting g = {.stamp = stamp, .quiet = n->quiet};
    g.flags = (n->phase >= NODE_WAITING ? TACIT_GREETING_ENDED : 0) |
              (node_store_mute(n->store) ? TACIT_GREETING_MUTE : 0);
    if (hello) {
        g.agents = self->count;
        g.agent = self->agents;
    }
    tacit_heard *heard = answer ? list_heard(n, peer, &g.heard_count) : NULL;
    tacit_marked *marks = node_list_marks(n, peer, hello, hello || answer, &g.mark_count);
    g.heard = heard;
    g.mark = marks;
    const size_t len = tacit_greeting_bytes(&g);
    uint8_t *bytes = malloc(len);
    if (bytes) {
        tacit_greeting_encode(bytes, &g);
        node_send_plain(n, peer, kind, bytes, len);
    }
    free(bytes);
    free(heard);
    free(marks);
}

/* ---- what was lost is said again ---- */

static const tacit_heard *find_heard(const tacit_greeting *g, uint32_t from, uint32_t to)
{
    const tacit_heard key = {.from = from, .to = to};
    return g->heard_count ? bsearch(&key, g->heard, g->heard_count, sizeof key, by_from_then_to)
                          : NULL;
}

static bool has_heard(const tacit_greeting *g, uint32_t from, uint32_t to, uint64_t incarnation,
                      uint64_t sequence)
{
    const tacit_heard *h = find_heard(g, from, to);
    return h && (h->incarnation > incarnation ||
                 (h->incarnation == incarnation && h->sequence >= sequence));
}

const node_word *node_next_word(const node_agent *a, const node_word *after, uint64_t stamp)
{
    const node_word *best = NULL;
    for (size_t k = 0; k < a->word_count; k++) {
        const node_word *w = &a->words[k];
        const bool later = !after || w->incarnation > after->incarnation ||
                           (w->incarnation == after->incarnation && w->sequence > after->sequence);
        const bool first = !best || w->incarnation < best->incarnation ||
                           (w->incarnation == best->incarnation && w->sequence < best->sequence);
        if (w->payload && later && first && w->stamp < stamp)
            best = w;
    }
    return best;
}

static void say_words(tacit_node *n, node_agent *a, node_peer *peer, uint32_t to,
                      const tacit_greeting *g)
{
    for (const node_word *w = NULL; (w = node_next_word(a, w, g->stamp));) {
        if (has_heard(g, a->plan->agent, to, w->incarnation, w->sequence))
            continue;
        tacit_wire_header h = {.kind = TACIT_WIRE_MESSAGE,
                               .protocol = n->plan.protocol->wire_id,
                               .from = a->plan->agent,
                               .to = to,
                               .incarnation = w->incarnation,
                               .sequence = w->sequence,
                               .releases = w->releases,
                               .at = w->at,
                               .payload = w->payload->len};
        memcpy(h.run, n->plan.run, sizeof h.run);
        node_pack_frame(n, peer, &h, w->payload->bytes, false);
        peer->resent++;
    }
}

/* A frame of an earlier life for an agent of this peer, which has not heard it. */
static bool is_wanted(const node_again *f, const tacit_greeting *g)
{
    return !has_heard(g, (uint32_t)f->header.from, (uint32_t)f->header.to, f->header.incarnation,
                      f->header.sequence);
}

/* Of an earlier life: once its peer has told what it heard, it is sent or forgotten. If not all
 * could be sent, all are kept, and what has arrived is forgotten at the next answer. */
static void say_frames(tacit_node *n, node_peer *peer, const tacit_greeting *g)
{
    const uint64_t unsent = peer->unsent;
    size_t kept = 0;
    for (size_t k = 0; k < n->again_count; k++) {
        const node_again *f = &n->again[k];
        if (node_peer_of(n, f->header.to) != peer || !is_wanted(f, g))
            continue;
        node_pack_frame(n, peer, &f->header, f->payload->bytes, false);
        peer->resent++;
    }
    node_send_packed(n, peer);
    const bool sent = peer->unsent == unsent;
    for (size_t k = 0; k < n->again_count; k++) {
        const node_again *f = &n->again[k];
        const bool theirs = node_peer_of(n, f->header.to) == peer;
        if (!theirs || (!sent && is_wanted(f, g)))
            n->again[kept++] = *f;
        else
            node_bytes_drop(f->payload);
    }
    n->again_count = kept;
}

static void say_again(tacit_node *n, node_peer *peer, const tacit_greeting *g)
{
    if (node_store_mute(n->store))
        return;
    say_frames(n, peer, g);
    for (uint32_t k = 0; k < n->plan.hosted_count; k++) {
        node_agent *a = &n->agents[k];
        for (uint32_t j = 0; j < a->plan->neighbours && !node_is_silent(n, a); j++)
            if (node_peer_of(n, a->plan->neighbour[j]) == peer)
                say_words(n, a, peer, a->plan->neighbour[j], g);
    }
}

/* ---- greetings in ---- */

/* A later life of ours than we know of: one peer is believed a day ahead, two farther. A rise is
 * written to the disk, so it is rare. */
static void catch_up(tacit_node *n)
{
    uint64_t near = 0, most = 0, second = 0;
    for (size_t k = 0; k < n->peer_count; k++) {
        const uint64_t claim = n->peers[k].watched ? n->peers[k].claimed : 0;
        if (claim <= n->incarnation + A_DAY && claim > near)
            near = claim;
        if (claim > most) {
            second = most;
            most = claim;
        } else if (claim > second) {
            second = claim;
        }
    }
    const uint64_t believed = near > second ? near : second;
    if (believed <= n->incarnation || n->now < n->next_rise)
        return;
    n->next_rise = n->now + n->plan.options->heartbeat;
    node_rise(n, believed);
}

static void check_own_lives(tacit_node *n, node_peer *peer, const tacit_greeting *g)
{
    for (uint32_t k = 0; k < g->heard_count; k++) {
        const tacit_heard *h = &g->heard[k];
        if (node_hosted(n, h->from) && h->incarnation > peer->claimed &&
            h->incarnation < INCARNATIONS)
            peer->claimed = h->incarnation;
    }
    catch_up(n);
}

/* Agents that `peer` can have, at most. */
static uint32_t most_agents(const tacit_node *n, const node_peer *peer)
{
    return peer->listed ? n->plan.members[peer - n->peers].count : STRANGERS_AGENTS;
}

/* Before anything of it is read: no honest greeting of this peer is as large as that. */
static bool is_too_large(tacit_node *n, node_peer *peer, const tacit_wire_header *h,
                         const uint8_t *payload)
{
    uint32_t agents, heard, marks;
    char words[200];
    const uint32_t most = most_agents(n, peer);
    if (!tacit_greeting_peek(payload, h->payload, &agents, &heard, &marks))
        return false; /* decoding says what is wrong */
    if (agents <= most && heard <= (uint64_t)most * n->plan.hosted_count &&
        marks <= (uint64_t)most + UINT64_C(2) * n->plan.hosted_count)
        return false;
    snprintf(words, sizeof words,
             "its greeting tells of %u agents, %u pairs of agents and %u marks; it can have %u "
             "agents, each in a pair with the %u here",
             agents, heard, marks, most, n->plan.hosted_count);
    node_refuse(n, peer, TACIT_REFUSED_SENDER, words);
    return true;
}

/* A member has the agents that the list gives it, and no others. Open mode: whoever comes first has
 * an agent number that nobody on the list has. One refusal, however many claims are wrong. */
static bool claim_agents(tacit_node *n, node_peer *peer, const tacit_greeting *g)
{
    bool wrong = false;
    for (uint32_t k = 0; k < g->agents && !(wrong && peer->listed); k++) {
        const node_peer *owner = node_peer_of(n, g->agent[k]);
        if (owner == peer)
            continue;
        if (owner || peer->listed || n->place_count >= TACIT_GREETING_AGENTS)
            wrong = true;
        else if (node_add_place(n, g->agent[k], (uint32_t)(peer - n->peers), NULL) != TACIT_OK)
            break;
    }
    if (wrong)
        node_refuse(n, peer, TACIT_REFUSED_SENDER, "it says it hosts an agent that it does not");
    return !(wrong && peer->listed);
}

void node_on_greeting(tacit_node *n, node_peer *peer, const tacit_wire_header *h,
                      const uint8_t *payload)
{
    tacit_greeting g = {0};
    tacit_error err = {0};
    if (is_too_large(n, peer, h, payload))
        return;
    if (tacit_greeting_decode(&g, payload, h->payload, &err) != TACIT_OK) {
        node_refuse(n, peer, TACIT_REFUSED_GARBAGE, err.text);
        return;
    }
    if (!claim_agents(n, peer, &g)) {
        tacit_greeting_clear(&g);
        return;
    }
    peer->quiet = g.quiet;
    peer->ended = g.flags & TACIT_GREETING_ENDED;
    peer->mute = g.flags & TACIT_GREETING_MUTE;
    const bool compared = node_check_marks(n, peer, &g);
    if (n->status != TACIT_OK) { /* from an old copy nothing more is said */
        tacit_greeting_clear(&g);
        return;
    }
    if (h->kind == TACIT_WIRE_HELLO)
        node_greet(n, peer, TACIT_WIRE_HELLO_ACK, g.stamp);
    if (h->kind == TACIT_WIRE_PING)
        node_greet(n, peer, TACIT_WIRE_PONG, g.stamp);
    /* After the answer, which shows what it told before this life. */
    node_keep_marks(n, peer, h->incarnation, &g);
    const bool answer = h->kind == TACIT_WIRE_HELLO_ACK || h->kind == TACIT_WIRE_PONG;
    if (answer && g.stamp <= peer->ping && g.stamp > n->born_stamp &&
        g.stamp > peer->answered) { /* each once */
        if (g.stamp == peer->ping)
            peer->round_trip = n->now - peer->ping_sent;
        peer->answered = g.stamp;
        peer->greeted = true;
        peer->testified |= compared;
        check_own_lives(n, peer, &g);
        say_again(n, peer, &g);
    }
    tacit_greeting_clear(&g);
}
