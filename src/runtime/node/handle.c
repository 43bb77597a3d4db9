/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event, one agent; then what it said goes out.
 *
 * Why nothing is ever told that was not charged, and nothing is told twice with other noise:
 *  1. What a handler says waits until it has returned.
 *  2. If it reserved anything, all its permits are charged first, in a transaction of the ledger
 *     that also holds the frames and, unless it is large, the agent's state (node_store_release).
 *     Only when that has come back are frames handed to the links.
 *  3. A crash before the transaction: nobody has heard anything, and the agent is the one before.
 *     A crash after it: the frames are in the ledger, and are sent again byte for byte; receivers
 *     know them by (incarnation, sequence) if they had them already.
 *  4. When the transaction fails nothing goes out, not even what costs nothing, until the store
 *     has charged its debts (node_store_revive): the state in memory knows what nobody paid for.
 *
 * What an agent tells all neighbours is encoded once, and its bytes are kept as its last word under
 * that address: a neighbour that was away or a frame that got lost is served from there (peers.c).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "runtime/node/log.h"
#include "runtime/node/node.h"

/* ---- bytes that frames share ---- */

/* Not filled in yet. */
static node_bytes *node_bytes_new(size_t len)
{
    node_bytes *b = malloc(sizeof *b + len);
    if (!b)
        return NULL;
    b->refs = 1;
    b->len = (uint32_t)len;
    return b;
}

/* Only `len` of them were needed; nobody else has them yet. */
static void node_bytes_cut(node_bytes **b, size_t len)
{
    node_bytes *less = len < (*b)->len ? realloc(*b, sizeof **b + len) : NULL;
    if (less)
        *b = less;
    (*b)->len = (uint32_t)len;
}

node_bytes *node_bytes_of(const uint8_t *from, size_t len)
{
    node_bytes *b = node_bytes_new(len);
    if (b)
        memcpy(b->bytes, from, len);
    return b;
}

void node_bytes_drop(node_bytes *b)
{
    if (b && --b->refs == 0)
        free(b);
}

/* ---- frames ---- */

static const tacit_wire_kind wire_kind[] = {[TACIT_MESSAGE] = TACIT_WIRE_MESSAGE,
                                            [TACIT_REQUEST] = TACIT_WIRE_REQUEST,
                                            [TACIT_REPLY] = TACIT_WIRE_REPLY};

static tacit_wire_header header_of(const tacit_node *n, const node_agent *a, const node_saying *s,
                                   size_t payload)
{
    tacit_ledger_file *ledger = node_store_ledger(n->store, a->index);
    tacit_wire_header h = {.kind = wire_kind[s->type],
                           .protocol = n->plan.protocol->wire_id,
                           .from = a->plan->agent,
                           .incarnation = n->incarnation,
                           .sequence = a->sequence,
                           .releases = tacit_ledger_releases(tacit_ledger_file_ledger(ledger)),
                           .request = s->id,
                           .at = s->at,
                           .payload = (uint32_t)payload};
    memcpy(h.run, n->plan.run, sizeof h.run);
    return h;
}

/* ---- last words ---- */

node_word *node_word_at(node_agent *a, tacit_address at)
{
    for (size_t k = 0; k < a->word_count; k++)
        if (a->words[k].at.channel == at.channel && a->words[k].at.kind == at.kind)
            return &a->words[k];
    node_word *all = tacit_array_grow(a->words, &a->word_capacity, a->word_count + 1, sizeof *all);
    if (!all)
        return NULL;
    a->words = all;
    a->words[a->word_count] = (node_word){.at = at};
    return &a->words[a->word_count++];
}

/* |new - old| / |new|; infinity where nothing can be said. */
static double relative_change(tacit_vector *new, tacit_vector *old)
{
    double moved = 0, size = 0;
    if (!old || old->shape != new->shape)
        return INFINITY;
    for (uint32_t s = 0; s < new->shape->segments; s++)
        for (size_t k = 0; k < new->shape->segment[s].count; k++) {
            const double x = tacit_vector_get(new, s, k), d = x - tacit_vector_get(old, s, k);
            size += x * x;
            moved += d * d;
        }
    return moved == 0 ? 0 : sqrt(moved / size);
}

/* How far this word is from the one before, for agreement: public numbers, both. */
static void note_change(tacit_node *n, node_agent *a, tacit_vector *said)
{
    if (n->plan.consortium->end != TACIT_END_AGREEMENT)
        return;
    a->change = relative_change(said, a->said);
    if (a->said)
        tacit_vector_drop(n->pool, a->said);
    tacit_vector_keep(said);
    a->said = said;
}

static tacit_status keep_word(tacit_node *n, node_agent *a, const tacit_wire_header *h,
                              node_bytes *payload)
{
    node_word *w = node_word_at(a, h->at);
    if (!w)
        return tacit_out_of_memory(&n->error);
    node_bytes_drop(w->payload);
    payload->refs++;
    *w = (node_word){.at = h->at,
                     .incarnation = h->incarnation,
                     .sequence = h->sequence,
                     .releases = h->releases,
                     .stamp = n->stamps,
                     .payload = payload};
    return TACIT_OK;
}

/* ---- what was said, as frames ---- */

/* A saying, numbered and encoded. */
typedef struct parcel {
    tacit_wire_header header; /* without `to` where it is for all neighbours */
    node_bytes *payload;
    const node_saying *said;
} parcel;

static tacit_status encode(tacit_node *n, node_agent *a, const node_saying *s, parcel *out)
{
    size_t bound, len = 0;
    tacit_status status = tacit_wire_bound(&bound, s->payload->shape, &n->error);
    if (status != TACIT_OK)
        return status;
    if (!(out->payload = node_bytes_new(bound)))
        return tacit_out_of_memory(&n->error);
    status = tacit_wire_encode(out->payload->bytes, bound, &len, tacit_vector_public(s->payload),
                               &n->error);
    if (status != TACIT_OK)
        return status; /* what there is of it is dropped by the caller */
    node_bytes_cut(&out->payload, len);
    a->sequence++;
    out->header = header_of(n, a, s, len);
    out->said = s;
    return s->type == TACIT_MESSAGE && s->to == TACIT_NOBODY
               ? keep_word(n, a, &out->header, out->payload)
               : TACIT_OK;
}

/* ---- into the ledger ---- */

/* All frames, one after the other; what is for all neighbours is written once, as if it were for
 * the agent itself, which never sends to itself. */
static tacit_status list_frames(tacit_node *n, const parcel *parcels, size_t count, uint8_t **bytes,
                                size_t *len)
{
    size_t room = 1;
    for (size_t k = 0; k < count; k++)
        room += TACIT_WIRE_HEADER + parcels[k].payload->len;
    uint8_t *at = *bytes = malloc(room);
    *len = 0;
    if (!at)
        return tacit_out_of_memory(&n->error);
    for (size_t k = 0; k < count; k++) {
        const node_bytes *payload = parcels[k].payload;
        tacit_wire_header h = parcels[k].header;
        h.to = parcels[k].said->to == TACIT_NOBODY ? h.from : parcels[k].said->to;
        tacit_wire_write(at, &h);
        memcpy(at + TACIT_WIRE_HEADER, payload->bytes, payload->len);
        at += TACIT_WIRE_HEADER + payload->len;
    }
    *len = (size_t)(at - *bytes);
    return TACIT_OK;
}

/* Charge the permits; frames and state go to the disk with them. */
static tacit_status charge(tacit_node *n, node_agent *a, const parcel *parcels, size_t count)
{
    uint8_t *frames = NULL;
    const uint8_t *state = NULL;
    size_t frames_len = 0, state_len = 0;
    tacit_saver *saver = NULL;
    tacit_status status = list_frames(n, parcels, count, &frames, &frames_len);
    if (status == TACIT_OK && !(saver = node_save_agent(n, a, &state, &state_len)))
        status = tacit_out_of_memory(&n->error);
    if (status == TACIT_OK) {
        tacit_error why = {0};
        const size_t permits = n->permit_count;
        n->permit_count = 0;
        status = node_store_release(n->store, a->index, n->permits, permits, frames, frames_len,
                                    state, state_len, n->time, &why);
        if (status != TACIT_OK)
            n->error = why;
    }
    tacit_saver_free(saver);
    free(frames);
    return status;
}

/* ---- sending ---- */

static void count_message(tacit_node *n, node_agent *a, const node_saying *s)
{
    n->traffic.messages++;
    n->traffic.bytes += s->payload->shape->bytes;
    a->messages_out++;
}

/* To an agent on this node: no wire, but the same rules of order (node_deliver writes down that it
 * was heard). */
static void hand_over(tacit_node *n, const node_agent *a, const parcel *p, uint32_t to)
{
    const node_saying *s = p->said;
    tacit_vector_keep(s->payload);
    const runtime_event event = {.time = n->time,
                                 .to = to,
                                 .from = a->plan->agent,
                                 .counter = p->header.sequence,
                                 .type = s->type,
                                 .at = s->at,
                                 .id = s->id,
                                 .payload = s->payload};
    if (node_post(n, &event) == TACIT_OK)
        return;
    tacit_vector_drop(n->pool, s->payload);
    node_fail(n, TACIT_EINTERNAL, "out of memory");
}

/* To a peer that is not there nothing is sent: last words wait for it, the rest is lost. Whom
 * nobody watches is simply tried. */
static void send_one(tacit_node *n, node_agent *a, const parcel *p, uint32_t to)
{
    count_message(n, a, p->said);
    if (node_hosted(n, to)) {
        hand_over(n, a, p, to);
        return;
    }
    node_peer *peer = node_peer_of(n, to);
    tacit_wire_header h = p->header;
    h.to = to;
    const bool away = peer && peer->watched &&
                      (!peer->met || !peer->known || peer->left ||
                       tacit_suspect_health(n->suspect, peer->slot) == TACIT_HEALTH_DOWN);
    if (!peer || away)
        n->traffic.lost++;
    else
        node_pack_frame(n, peer, &h, p->payload->bytes, true);
}

static void send_parcel(tacit_node *n, node_agent *a, const parcel *p)
{
    if (p->said->to == TACIT_NOBODY)
        note_change(n, a, p->said->payload);
    if (p->said->to != TACIT_NOBODY) {
        send_one(n, a, p, (uint32_t)p->said->to);
        return;
    }
    n->traffic.broadcasts++;
    for (uint32_t k = 0; k < a->plan->neighbours; k++)
        send_one(n, a, p, a->plan->neighbour[k]);
}

/* ---- after a handler ---- */

/* Charge, write down, send: in this order. */
static tacit_status speak(tacit_node *n, node_agent *a)
{
    if (n->said_count == 0 && n->permit_count == 0)
        return TACIT_OK;
    tacit_status status = TACIT_OK;
    parcel *parcels = calloc(n->said_count ? n->said_count : 1, sizeof *parcels);
    if (!parcels)
        return tacit_out_of_memory(&n->error);
    size_t count = 0;
    while (count < n->said_count && status == TACIT_OK)
        status = encode(n, a, &n->said[count], &parcels[count]), count++;
    if (status == TACIT_OK && n->permit_count > 0)
        status = charge(n, a, parcels, count);
    else if (status == TACIT_OK && n->flags & TACIT_CHATTY)
        status = node_save_first(n, a);
    const bool mute = node_is_silent(n, a) || node_store_mute(n->store) != NULL;
    for (size_t k = 0; k < count && status == TACIT_OK && !mute; k++)
        send_parcel(n, a, &parcels[k]);
    for (size_t k = 0; k < count; k++)
        node_bytes_drop(parcels[k].payload);
    free(parcels);
    return status;
}

/* A handler that failed has said nothing; what it reserved is charged all the same. */
static void take_back(tacit_node *n, node_agent *a)
{
    tacit_error why = {0};
    if (n->permit_count > 0)
        node_store_release(n->store, a->index, n->permits, n->permit_count, NULL, 0, NULL, 0,
                           n->time, &why);
    n->permit_count = 0;
}

static void drop_sayings(tacit_node *n)
{
    for (size_t k = 0; k < n->said_count; k++)
        tacit_vector_drop(n->pool, n->said[k].payload);
    n->said_count = 0;
}

/* A disk that takes no more mutes the node, a debt that cannot be paid the agent; anything else
 * ends the node. */
static void note_failure(tacit_node *n, node_agent *a, tacit_status status)
{
    const char *mute = node_store_mute(n->store);
    const bool silent = node_is_silent(n, a);
    if (!mute && !silent) {
        node_fail(n, status, n->error.code == status ? NULL : "a protocol's handler failed");
        return;
    }
    log_fields f;
    log_begin(&f);
    log_u64(&f, "agent", a->plan->agent);
    log_text(&f, "why", n->error.text);
    if (!mute) /* the other is told by node_advance */
        node_note(n, TACIT_LOG_ERROR, "agent_silent", &f);
}

bool node_handle(tacit_node *n, node_agent *a, double time, const tacit_event *event)
{
    if (n->status != TACIT_OK)
        return false;
    const tacit_scratch_mark mark = tacit_scratch_now(n->scratch);
    n->at = a;
    n->handling = event->type;
    n->time = time > n->time ? time : n->time;
    n->error = (tacit_error){0};
    tacit_status status = n->plan.protocol->on(&n->env, n->shared, a->state, event);
    if (status == TACIT_OK)
        status = n->status; /* the system had no random bytes for a draw: say nothing */
    if (status == TACIT_OK)
        status = speak(n, a);
    else
        take_back(n, a);
    drop_sayings(n);
    n->permit_count = 0;
    tacit_scratch_rewind(n->scratch, mark);
    if (status != TACIT_OK)
        note_failure(n, a, status);
    n->at = NULL;
    return status == TACIT_OK;
}
