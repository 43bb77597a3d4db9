/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent as bytes: the protocol's state, and what the node knows of it: what it heard and from
 * whom, its last words, timers and open requests. Heard and state are of the same moment, so that
 * a message is in both or in neither: after a crash it is asked for again, or not.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saver.h"
#include "runtime/node/node.h"

#define LAYOUT 4
#define HEARD_BYTES (5 * 8 + 2 * (8 + TACIT_MARK_BYTES))

/* ---- saving ---- */

static void save_kept(tacit_saver *s, const node_kept *kept)
{
    uint8_t mark[TACIT_MARK_BYTES];
    tacit_mark_write(mark, &kept->mark);
    tacit_save_u64(s, kept->life);
    tacit_save_bytes(s, mark, sizeof mark);
}

static void save_heard(tacit_saver *s, const node_agent *a)
{
    tacit_save_u64(s, a->heard_count);
    for (size_t k = 0; k < a->heard_count; k++) {
        const node_heard *h = &a->heard[k];
        tacit_save_u64(s, h->from);
        tacit_save_u64(s, h->incarnation);
        tacit_save_u64(s, h->sequence);
        tacit_save_u64(s, h->releases);
        tacit_save_u64(s, h->asked);
        save_kept(s, &h->latest);
        save_kept(s, &h->earlier);
    }
}

static void save_words(tacit_saver *s, const node_agent *a)
{
    tacit_save_u64(s, a->word_count);
    for (size_t k = 0; k < a->word_count; k++) {
        const node_word *w = &a->words[k];
        tacit_save_u64(s, w->at.channel);
        tacit_save_u64(s, w->at.kind);
        tacit_save_u64(s, w->incarnation);
        tacit_save_u64(s, w->sequence);
        tacit_save_u64(s, w->releases);
        tacit_save_u64(s, w->payload->len);
        tacit_save_bytes(s, w->payload->bytes, w->payload->len);
    }
}

static bool is_alarm(const runtime_event *e, const node_agent *a)
{
    return e->to == a->plan->agent && (e->type == TACIT_TIMER || e->type == TACIT_NO_REPLY);
}

static void save_alarms(tacit_saver *s, const tacit_node *n, const node_agent *a)
{
    uint64_t count = 0;
    for (size_t k = 0; k < n->queue.count; k++)
        count += is_alarm(&n->queue.heap[k], a);
    tacit_save_u64(s, count);
    for (size_t k = 0; k < n->queue.count; k++) {
        const runtime_event *e = &n->queue.heap[k];
        if (!is_alarm(e, a))
            continue;
        tacit_save_f64(s, e->time);
        tacit_save_u64(s, e->counter);
        tacit_save_u64(s, e->type);
        tacit_save_u64(s, e->at.channel);
        tacit_save_u64(s, e->at.kind);
        tacit_save_u64(s, e->id);
    }
    tacit_save_u64(s, a->request_count);
    for (size_t k = 0; k < a->request_count; k++) {
        tacit_save_u64(s, a->requests[k].id);
        tacit_save_u64(s, a->requests[k].to);
    }
}

tacit_saver *node_save_agent(const tacit_node *n, const node_agent *a, const uint8_t **bytes,
                             size_t *len)
{
    tacit_saver *s = tacit_saver_create();
    if (!s)
        return NULL;
    tacit_save_u64(s, LAYOUT);
    tacit_save_u64(s, a->plan->agent);
    tacit_save_u64(s, a->plan->neighbours);
    for (uint32_t k = 0; k < a->plan->neighbours; k++)
        tacit_save_u64(s, a->plan->neighbour[k]);
    tacit_save_u64(s, a->wakes);
    tacit_save_u64(s, n->phase == NODE_ENDED || n->resumed_end);
    tacit_save_f64(s, n->time);
    save_heard(s, a);
    save_words(s, a);
    save_alarms(s, n, a);
    n->plan.protocol->save(n->shared, a->state, a->plan->neighbours, s);
    if (tacit_saver_finish(s, bytes, len, NULL) == TACIT_OK)
        return s;
    tacit_saver_free(s);
    return NULL;
}

/* ---- loading: bytes of our own disk, and still nothing in them is trusted ---- */

/* So many items of at least `bytes` each can be there at all? */
static bool plausible(tacit_loader *l, uint64_t count, size_t bytes)
{
    if (count <= tacit_loader_left(l) / bytes)
        return true;
    tacit_loader_refuse(l, "a list is longer than the file");
    return false;
}

static bool load_start(tacit_loader *l, const node_agent *a)
{
    if (tacit_load_u64(l) != LAYOUT) {
        tacit_loader_refuse(l, "the agent was saved by another version of this program");
        return false;
    }
    bool same = tacit_load_u64(l) == a->plan->agent && tacit_load_u64(l) == a->plan->neighbours;
    for (uint32_t k = 0; same && k < a->plan->neighbours; k++)
        same = tacit_load_u64(l) == a->plan->neighbour[k];
    if (!same)
        tacit_loader_refuse(l, "the agent's neighbours are not those of before");
    return same;
}

static void load_kept(tacit_loader *l, node_kept *kept)
{
    uint8_t mark[TACIT_MARK_BYTES] = {0};
    kept->life = tacit_load_u64(l);
    tacit_load_bytes(l, mark, sizeof mark);
    if (!tacit_mark_read(&kept->mark, mark))
        tacit_loader_refuse(l, "the mark of an agent makes no sense");
}

static void load_heard(tacit_loader *l, node_agent *a)
{
    const uint64_t count = tacit_load_u64(l);
    if (!plausible(l, count, HEARD_BYTES))
        return;
    for (uint64_t k = 0; k < count; k++) {
        const uint64_t from = tacit_load_u64(l);
        node_heard *h = from <= UINT32_MAX ? node_heard_of(a, (uint32_t)from) : NULL;
        if (!h || h->sequence) {
            tacit_loader_refuse(l, "a list of what was heard makes no sense");
            return;
        }
        h->incarnation = tacit_load_u64(l);
        h->sequence = tacit_load_u64(l);
        h->releases = tacit_load_u64(l);
        h->asked = tacit_load_u64(l);
        load_kept(l, &h->latest);
        load_kept(l, &h->earlier);
    }
}

static void load_word(tacit_loader *l, node_agent *a)
{
    const uint64_t channel = tacit_load_u64(l), kind = tacit_load_u64(l);
    node_word w = {.at = {(uint32_t)channel, (uint32_t)kind}};
    w.incarnation = tacit_load_u64(l);
    w.sequence = tacit_load_u64(l);
    w.releases = tacit_load_u64(l);
    const uint64_t len = tacit_load_u64(l);
    if (!plausible(l, len, 1))
        return;
    node_word *at = node_word_at(a, w.at);
    uint8_t *room = malloc(len ? len : 1);
    if (room)
        tacit_load_bytes(l, room, len);
    w.payload = room ? node_bytes_of(room, len) : NULL;
    free(room);
    if (!at || at->payload || !w.payload) {
        node_bytes_drop(w.payload);
        tacit_loader_refuse(l, "a last word makes no sense, or memory ran out");
        return;
    }
    *at = w;
}

static void load_alarms(tacit_loader *l, tacit_node *n, node_agent *a)
{
    uint64_t count = tacit_load_u64(l);
    if (!plausible(l, count, 48)) /* once: fewer bytes are left after each of them */
        return;
    for (uint64_t k = 0; k < count; k++) {
        runtime_event e = {.to = a->plan->agent, .from = a->plan->agent};
        e.time = tacit_load_f64(l);
        e.counter = tacit_load_u64(l);
        e.type = (uint32_t)tacit_load_u64(l);
        e.at.channel = (uint32_t)tacit_load_u64(l);
        e.at.kind = (uint32_t)tacit_load_u64(l);
        e.id = tacit_load_u64(l);
        if (!is_alarm(&e, a) || !isfinite(e.time) || !runtime_queue_push(&n->queue, &e)) {
            tacit_loader_refuse(l, "a timer makes no sense");
            return;
        }
    }
    count = tacit_load_u64(l);
    if (!plausible(l, count, 16))
        return;
    a->requests =
        tacit_array_grow(a->requests, &a->request_capacity, count ? count : 1, sizeof *a->requests);
    for (uint64_t k = 0; a->requests && k < count; k++) {
        const uint64_t id = tacit_load_u64(l), to = tacit_load_u64(l);
        a->requests[a->request_count++] = (node_request){.id = id, .to = (uint32_t)to};
    }
}

tacit_status node_load_agent(tacit_node *n, node_agent *a, const uint8_t *bytes, size_t len,
                             tacit_error *err)
{
    tacit_loader *l;
    tacit_status status = tacit_loader_create(&l, bytes, len, err);
    if (status != TACIT_OK)
        return status;
    tacit_loader_use(l, n->pool);
    if (load_start(l, a)) {
        a->wakes = tacit_load_u64(l);
        n->resumed_end |= tacit_load_u64(l) != 0;
        n->time = fmax(n->time, tacit_load_f64(l));
        load_heard(l, a);
        const uint64_t words = tacit_load_u64(l);
        for (uint64_t k = 0; plausible(l, words, 48) && k < words; k++)
            load_word(l, a);
        load_alarms(l, n, a);
        if (tacit_loader_status(l, NULL) == TACIT_OK)
            n->plan.protocol->load(n->shared, a->state, a->plan->neighbours, l);
    }
    status = tacit_loader_status(l, err);
    tacit_loader_free(l);
    a->resumed = a->started = status == TACIT_OK;
    return status;
}

/* ---- frames of the last release ---- */

static bool is_newer(const tacit_wire_header *h, const node_word *w)
{
    return !w->payload || h->incarnation > w->incarnation ||
           (h->incarnation == w->incarnation && h->sequence > w->sequence);
}

static tacit_status take_frame(tacit_node *n, node_agent *a, const tacit_wire_header *h,
                               node_bytes *payload, tacit_error *err)
{
    if (h->to != h->from) {
        node_again *all =
            tacit_array_grow(n->again, &n->again_capacity, n->again_count + 1, sizeof *all);
        if (!all)
            return tacit_out_of_memory(err);
        n->again = all;
        payload->refs++;
        n->again[n->again_count++] = (node_again){*h, payload};
        return TACIT_OK;
    }
    node_word *w = node_word_at(a, h->at);
    if (!w)
        return tacit_out_of_memory(err);
    if (!is_newer(h, w))
        return TACIT_OK;
    node_bytes_drop(w->payload);
    payload->refs++;
    *w = (node_word){.at = h->at,
                     .incarnation = h->incarnation,
                     .sequence = h->sequence,
                     .releases = h->releases,
                     .payload = payload};
    return TACIT_OK;
}

tacit_status node_load_frames(tacit_node *n, node_agent *a, const uint8_t *bytes, size_t len,
                              tacit_error *err)
{
    tacit_status status = TACIT_OK;
    while (len > 0 && status == TACIT_OK) {
        tacit_wire_header h;
        /* The header says how much follows it; it is ours, and sealed by the ledger. */
        if (len < TACIT_WIRE_HEADER)
            return tacit_fail(err, TACIT_EVERIFY, "frames of agent %u are cut", a->plan->agent);
        size_t rest = tacit_wire_payload(bytes);
        if (rest > len - TACIT_WIRE_HEADER)
            return tacit_fail(err, TACIT_EVERIFY, "frames of agent %u are cut", a->plan->agent);
        status = tacit_wire_read(&h, bytes, TACIT_WIRE_HEADER, rest, err);
        if (status == TACIT_OK && h.from != a->plan->agent)
            status = tacit_fail(err, TACIT_EVERIFY, "frames of another agent");
        if (status != TACIT_OK)
            return status;
        node_bytes *payload = node_bytes_of(bytes + TACIT_WIRE_HEADER, rest);
        status = payload ? take_frame(n, a, &h, payload, err) : tacit_out_of_memory(err);
        node_bytes_drop(payload);
        bytes += TACIT_WIRE_HEADER + rest;
        len -= TACIT_WIRE_HEADER + rest;
    }
    return status;
}

/* ---- checkpoints ---- */

tacit_status node_save_first(tacit_node *n, const node_agent *a)
{
    const uint8_t *bytes;
    size_t len;
    if (node_store_mute(n->store) || n->phase == NODE_ENDED)
        return TACIT_OK;
    tacit_saver *saver = node_save_agent(n, a, &bytes, &len);
    if (!saver)
        return tacit_out_of_memory(&n->error);
    tacit_status status = node_store_begin(n->store, n->now - n->origin, &n->error);
    if (status == TACIT_OK)
        status = node_store_put(n->store, a->index, bytes, len, &n->error);
    if (status == TACIT_OK)
        status = node_store_end(n->store, &n->error);
    tacit_saver_free(saver);
    return status;
}

tacit_status node_checkpoint(tacit_node *n)
{
    tacit_error why = {0};
    if (node_store_mute(n->store))
        return TACIT_NO;
    tacit_status status = node_store_begin(n->store, n->now - n->origin, &why);
    for (uint32_t k = 0; k < n->plan.hosted_count && status == TACIT_OK; k++) {
        if (!n->agents[k].started)
            continue;
        const uint8_t *bytes;
        size_t len;
        tacit_saver *saver = node_save_agent(n, &n->agents[k], &bytes, &len);
        status = saver ? node_store_put(n->store, k, bytes, len, &why) : tacit_out_of_memory(&why);
        tacit_saver_free(saver);
    }
    if (status == TACIT_OK)
        status = node_store_end(n->store, &why);
    if (status == TACIT_OK) {
        n->checkpoints++;
        node_keep_peers(n);
        return TACIT_OK;
    }
    log_fields f;
    log_begin(&f);
    log_text(&f, "why", why.text);
    node_note(n, TACIT_LOG_ERROR, "checkpoint_failed", &f);
    return status;
}
