/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame of a peer, and everything that is checked before an agent hears of it. In this order:
 *
 *   1. bytes: a header of our version, and as much payload as it says;
 *   2. run and protocol: what was agreed on here;
 *   3. sender: the key that the link proved hosts the agent that the frame says it is from;
 *   4. receiver: an agent of this node, and unless the protocol talks to strangers, a neighbour;
 *   5. order: later than everything heard from that agent (incarnation, then sequence);
 *   6. ledger: at least as many releases as it had charged before;
 *   7. requests: within what one agent may ask for; replies: to what was asked, of who was asked;
 *   8. payload: of the shape the protocol declares, finite, no number above the agreed size.
 *
 * What fails is counted by why, logged once a peer and reason, and forgotten.
 */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "runtime/node/node.h"

#define EARLY_MOST 4096         /* frames kept for agents that have not started, */
#define EARLY_BYTES (16u << 20) /* and bytes of them */

const char *const tacit_node_refusal_names[TACIT_REFUSALS] = {
    "garbage", "version", "run", "sender", "receiver", "replay", "payload", "rollback", "request"};

void node_refuse(tacit_node *n, node_peer *peer, tacit_node_refusal why, const char *words)
{
    log_fields f;
    const bool first = !(peer->reported >> why & 1);
    n->refusals[why]++;
    peer->refused++;
    peer->reported |= UINT32_C(1) << why;
    if (!first && n->plan.options->log > TACIT_LOG_DEBUG)
        return; /* whoever floods us does not make us write lines that nobody reads */
    log_begin(&f);
    log_text(&f, "peer", peer->name);
    log_text(&f, "reason", tacit_node_refusal_names[why]);
    log_text(&f, "why", words);
    node_note(n, first ? TACIT_LOG_WARN : TACIT_LOG_DEBUG, "frame_refused", &f);
}

/* ---- order ---- */

node_heard *node_heard_of(node_agent *a, uint32_t from)
{
    size_t low = 0, high = a->heard_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (a->heard[middle].from < from)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < a->heard_count && a->heard[low].from == from)
        return &a->heard[low];
    if (a->heard_count >= TACIT_GREETING_AGENTS)
        return NULL;
    node_heard *all =
        tacit_array_grow(a->heard, &a->heard_capacity, a->heard_count + 1, sizeof *all);
    if (!all)
        return NULL;
    a->heard = all;
    memmove(&all[low + 1], &all[low], (a->heard_count++ - low) * sizeof *all);
    all[low] = (node_heard){.from = from};
    return &all[low];
}

static bool is_later(const tacit_wire_header *h, const node_heard *heard)
{
    return h->incarnation > heard->incarnation ||
           (h->incarnation == heard->incarnation && h->sequence > heard->sequence);
}

/* ---- frames between agents ---- */

static bool waits_for(const node_agent *a, uint64_t id, tacit_agent from)
{
    for (size_t k = 0; k < a->request_count; k++)
        if (a->requests[k].id == id && a->requests[k].to == from)
            return true;
    return false;
}

/* What is wrong with it, in words; NULL if nothing is. */
static const char *check_ask(const tacit_node *n, const tacit_wire_header *h, const node_agent *a,
                             const node_heard *heard)
{
    if (h->kind == TACIT_WIRE_REPLY)
        return waits_for(a, h->request, h->from) ? NULL : "nobody asked";
    if (h->kind != TACIT_WIRE_REQUEST)
        return NULL;
    if (!(n->flags & TACIT_CHATTY))
        return "this protocol answers no requests";
    return heard->asked < (uint64_t)n->plan.options->asked
               ? NULL
               : "it has asked for as many releases as one agent may (\"node.asked\")";
}

static const tacit_event_type event_type[] = {[TACIT_WIRE_MESSAGE] = TACIT_MESSAGE,
                                              [TACIT_WIRE_REQUEST] = TACIT_REQUEST,
                                              [TACIT_WIRE_REPLY] = TACIT_REPLY};

static tacit_vector *decode(tacit_node *n, node_peer *peer, const tacit_wire_header *h,
                            const uint8_t *payload)
{
    const tacit_protocol *p = n->plan.protocol;
    const tacit_shape *shape = p->payload ? p->payload(n->shared, h->at) : NULL;
    tacit_error err = {0};
    if (!shape) {
        node_refuse(n, peer, TACIT_REFUSED_PAYLOAD, "the protocol has no such message");
        return NULL;
    }
    tacit_vector *v = tacit_pool_vector_raw(n->pool, shape, 0);
    if (!v) {
        node_fail(n, TACIT_EINTERNAL, "out of memory");
        return NULL;
    }
    if (tacit_wire_decode(tacit_vector_public(v), payload, h->payload, n->plan.consortium->largest,
                          &err) != TACIT_OK) {
        node_refuse(n, peer, TACIT_REFUSED_PAYLOAD, err.text);
        tacit_vector_drop(n->pool, v);
        return NULL;
    }
    v->flags |= TACIT_VECTOR_FROZEN;
    return v;
}

static uint64_t charged(const tacit_node *n, const node_agent *a)
{
    return tacit_ledger_releases(tacit_ledger_file_ledger(node_store_ledger(n->store, a->index)));
}

static void log_accepted(const tacit_node *n, const tacit_wire_header *h)
{
    if (n->plan.options->log > TACIT_LOG_DEBUG)
        return;
    log_fields f;
    log_begin(&f);
    log_u64(&f, "from", h->from);
    log_u64(&f, "to", h->to);
    log_u64(&f, "incarnation", h->incarnation);
    log_u64(&f, "sequence", h->sequence);
    node_note(n, TACIT_LOG_DEBUG, "message_accepted", &f);
}

static void deliver(tacit_node *n, const tacit_wire_header *h, node_agent *a, tacit_vector *v)
{
    const runtime_event event = {.time = node_time_at(n, n->now),
                                 .to = a->plan->agent,
                                 .from = (uint32_t)h->from,
                                 .counter = a->counter++,
                                 .type = event_type[h->kind],
                                 .at = h->at,
                                 .id = h->request,
                                 .payload = v};
    n->traffic.delivered++;
    a->messages_in++;
    const uint64_t before = charged(n, a);
    node_deliver(n, &event);
    if (h->kind == TACIT_WIRE_REQUEST)
        node_heard_of(a, (uint32_t)h->from)->asked += charged(n, a) - before;
}

/* Can it be heard at all at the moment? What cannot is as if it had been lost on the way. */
static bool listens(const tacit_node *n, const node_agent *a)
{
    return a->started && n->phase != NODE_ENDED &&
           (!(n->flags & TACIT_CHATTY) || !node_store_mute(n->store));
}

/* Its ledger may be an old copy: whoever it is, and whether we watch it or not, it is shown what it
 * signed, at most once a heartbeat. */
static void show_marks(tacit_node *n, node_peer *peer)
{
    if (peer->ping > 0 && n->now - peer->ping_sent < n->plan.options->heartbeat)
        return;
    peer->ping = ++n->stamps;
    peer->ping_sent = n->now;
    node_greet(n, peer, TACIT_WIRE_HELLO, peer->ping);
}

static void on_agents(tacit_node *n, node_peer *peer, const tacit_wire_header *h,
                      const uint8_t *payload)
{
    node_agent *a = node_hosted(n, h->to);
    if (node_peer_of(n, h->from) != peer) {
        node_refuse(n, peer, TACIT_REFUSED_SENDER, "it does not host the agent it speaks for");
        return;
    }
    const bool stranger = a && node_slot(a, h->from) == TACIT_NO_SLOT;
    if (!a || (stranger && !(n->flags & TACIT_CHATTY))) {
        node_refuse(n, peer, TACIT_REFUSED_RECEIVER, a ? "no neighbour" : "no such agent here");
        return;
    }
    node_heard *heard = node_heard_of(a, (uint32_t)h->from);
    if (!heard)
        return;
    node_keep_mark(heard, h->incarnation, &h->mark);
    if (!listens(n, a))
        return;
    if (!is_later(h, heard)) {
        node_refuse(n, peer, TACIT_REFUSED_REPLAY, "heard before");
        return;
    }
    if (h->releases < heard->releases || h->releases > h->mark.releases) {
        node_refuse(n, peer, TACIT_REFUSED_ROLLBACK,
                    h->releases < heard->releases
                        ? "its ledger has fewer releases than it told of before"
                        : "it tells of releases that it has not signed for");
        show_marks(n, peer);
        return;
    }
    const char *wrong = check_ask(n, h, a, heard);
    if (wrong) {
        node_refuse(n, peer, TACIT_REFUSED_REQUEST, wrong);
        return;
    }
    tacit_vector *v = decode(n, peer, h, payload);
    if (!v)
        return;
    heard->incarnation = h->incarnation;
    heard->sequence = h->sequence;
    heard->releases = h->releases;
    log_accepted(n, h);
    deliver(n, h, a, v);
}

/* A last word of an earlier life, to one agent of this node, unless it has heard it or more. */
static void hear_word(tacit_node *n, const node_agent *from, const node_word *w, node_agent *to)
{
    const tacit_wire_header h = {.kind = TACIT_WIRE_MESSAGE,
                                 .from = from->plan->agent,
                                 .to = to->plan->agent,
                                 .incarnation = w->incarnation,
                                 .sequence = w->sequence,
                                 .at = w->at,
                                 .payload = w->payload->len};
    node_heard *heard = node_heard_of(to, from->plan->agent);
    if (!heard || !is_later(&h, heard))
        return;
    tacit_vector *v =
        decode(n, node_peer_by_key(n, n->plan.identity->public_key), &h, w->payload->bytes);
    if (!v)
        return;
    heard->incarnation = h.incarnation;
    heard->sequence = h.sequence;
    const tacit_event event = {.type = TACIT_MESSAGE,
                               .at = h.at,
                               .from = h.from,
                               .slot = node_slot(to, h.from),
                               .payload = tacit_vector_public(v)};
    node_handle(n, to, n->time, &event);
    tacit_vector_drop(n->pool, v);
}

void node_say_at_home(tacit_node *n, uint64_t before)
{
    for (uint32_t k = 0; k < n->plan.hosted_count; k++) {
        const node_agent *from = &n->agents[k];
        for (const node_word *w = NULL; (w = node_next_word(from, w, UINT64_MAX));)
            for (uint32_t j = 0; j < from->plan->neighbours && !node_is_silent(n, from); j++) {
                node_agent *to = node_hosted(n, from->plan->neighbour[j]);
                if (to && to->started && w->incarnation < before)
                    hear_word(n, from, w, to);
            }
    }
}

/* ---- all frames ---- */

static void on_foreign(tacit_node *n, node_peer *peer, const uint8_t *bytes, size_t len,
                       tacit_node_refusal why, const char *words)
{
    uint8_t version, kind;
    const bool first = !(peer->reported >> why & 1);
    node_refuse(n, peer, why, words);
    /* Politely, and once: two that do not understand each other must not talk for ever. */
    if (first && tacit_wire_peek(bytes, len, &version, &kind) && kind != TACIT_WIRE_BYE)
        node_bye(n, peer);
}

/* Our agents have not started: keep it as it came, unread, as far as there is room. Whatever is
 * not kept is lost on the way, and last words are said again. */
static void keep_early(tacit_node *n, const node_peer *peer, const uint8_t *bytes, size_t len)
{
    if (n->early_count >= EARLY_MOST || len > EARLY_BYTES - n->early_bytes)
        return;
    node_early *all =
        tacit_array_grow(n->early, &n->early_capacity, n->early_count + 1, sizeof *all);
    node_bytes *frame = all ? node_bytes_of(bytes, len) : NULL;
    if (all)
        n->early = all;
    if (!frame)
        return;
    n->early_bytes += len;
    n->early[n->early_count++] = (node_early){(uint32_t)(peer - n->peers), frame};
}

void node_hear_early(tacit_node *n)
{
    for (size_t k = 0; k < n->early_count; k++) {
        const node_early *e = &n->early[k];
        tacit_wire_header h;
        const uint8_t *payload;
        if (n->status == TACIT_OK &&
            tacit_wire_open(&h, &payload, e->frame->bytes, e->frame->len, NULL) == TACIT_OK)
            on_agents(n, &n->peers[e->peer], &h, payload);
        node_bytes_drop(e->frame);
    }
    n->early_count = n->early_bytes = 0;
}

/* Somebody has begun. Where everybody talks to everybody it is better to begin with it than to wait
 * for one more who may never come: the first who loses patience ends the waiting for all. */
static void follow(tacit_node *n)
{
    if (n->flags & TACIT_EVERYBODY)
        n->meet_by = fmin(n->meet_by, n->now + n->plan.options->heartbeat);
}

/* A frame between agents, now or when our agents start. */
static void on_frame(tacit_node *n, node_peer *peer, const uint8_t *bytes, size_t len)
{
    tacit_wire_header h;
    const uint8_t *payload;
    if (n->phase == NODE_MEETING) {
        keep_early(n, peer, bytes, len);
        follow(n);
    } else if (tacit_wire_open(&h, &payload, bytes, len, NULL) == TACIT_OK)
        on_agents(n, peer, &h, payload);
}

/* Each frame of it is checked as if it had come alone; but if the batch is no right batch, nothing
 * of it is looked at. */
static void on_batch(tacit_node *n, node_peer *peer, const tacit_wire_header *batch,
                     const uint8_t *payload)
{
    tacit_error err = {0};
    size_t at = 0, len;
    const uint8_t *frame;
    if (tacit_wire_check_batch(batch, payload, NULL, &err) != TACIT_OK) {
        node_refuse(n, peer, TACIT_REFUSED_GARBAGE, err.text);
        return;
    }
    while (n->status == TACIT_OK && tacit_wire_next(batch, payload, &at, &frame, &len))
        on_frame(n, peer, frame, len);
}

/* What goes from node to node. */
static void dispatch(tacit_node *n, node_peer *peer, const tacit_wire_header *h,
                     const uint8_t *payload)
{
    switch (h->kind) {
    case TACIT_WIRE_HELLO:
    case TACIT_WIRE_HELLO_ACK:
    case TACIT_WIRE_PING:
    case TACIT_WIRE_PONG:
        node_on_greeting(n, peer, h, payload);
        return;
    case TACIT_WIRE_MEMBERSHIP:
        node_on_membership(n, peer, payload, h->payload);
        return;
    case TACIT_WIRE_BYE:
        node_on_bye(n, peer);
        return;
    case TACIT_WIRE_BATCH:
        on_batch(n, peer, h, payload);
        return;
    default:
        return; /* between agents: on_frame */
    }
}

void node_receive(tacit_node *n, const uint8_t key[TACIT_NODE_KEY], bool known,
                  const uint8_t *bytes, size_t len, double now)
{
    tacit_wire_header h;
    const uint8_t *payload;
    tacit_error err = {0};
    n->now = now > n->now ? now : n->now;
    node_peer *peer = known ? node_peer_by_key(n, key) : NULL;
    if (!known && n->plan.options->open)
        peer = node_introduction(n, key, bytes, len);
    if (!peer || peer->self || n->status != TACIT_OK || n->phase == NODE_ENDED)
        return;
    tacit_status status = tacit_wire_open(&h, &payload, bytes, len, &err);
    if (status == TACIT_EPEER) {
        on_foreign(n, peer, bytes, len, TACIT_REFUSED_VERSION, err.text);
        return;
    }
    if (status != TACIT_OK) {
        node_refuse(n, peer, TACIT_REFUSED_GARBAGE, err.text);
        return;
    }
    if (memcmp(h.run, n->plan.run, sizeof h.run) != 0 || h.protocol != n->plan.protocol->wire_id) {
        on_foreign(n, peer, bytes, len, TACIT_REFUSED_RUN,
                   "it takes part in another run: compare the files of the consortium, and how "
                   "many features your records have");
        return;
    }
    if (h.kind != TACIT_WIRE_BYE)
        node_hear(n, peer);
    if (h.kind <= TACIT_WIRE_REPLY)
        on_frame(n, peer, bytes, len);
    else
        dispatch(n, peer, &h, payload);
}
