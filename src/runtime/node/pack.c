/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames on their way to the links. Links count frames: with many agents on a node, a tick makes a
 * message for each pair of neighbours, and a queue of 64 frames lost a third of them. So messages
 * for one peer that are made in one turn of the node are packed, one behind the other as they would
 * travel alone, and leave as one frame at its end, or when the next one would not fit.
 *
 * Nothing is packed that is not charged and written down: handle.c sends after its transaction. A
 * crash loses what was packed as it loses what waits in a link: last words are said again,
 * and the frames of the last release are in the ledger. What goes from node to node is not packed,
 * and does not overtake what is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "runtime/node/node.h"

static tacit_status send_bytes(tacit_node *n, node_peer *peer, const uint8_t *head,
                               const uint8_t *body, size_t len)
{
    if (!peer->connected) { /* whom nobody watches is linked to when there is something to say */
        if (peer->endpoint[0] == '\0')
            return TACIT_NO;
        n->io.connect(n->io.ctx, peer->key, peer->endpoint);
        peer->connected = true;
    }
    return n->io.send(n->io.ctx, peer->key, head, TACIT_WIRE_HEADER, body, len);
}

static tacit_status send_pack(tacit_node *n, node_peer *peer, const node_pack *p)
{
    if (n->status != TACIT_OK || p->count == 0)
        return n->status; /* a node that has failed says nothing any more */
    if (p->count == 1)
        return send_bytes(n, peer, p->bytes, p->bytes + TACIT_WIRE_HEADER,
                          p->len - TACIT_WIRE_HEADER);
    uint8_t head[TACIT_WIRE_HEADER];
    tacit_wire_header h = {.kind = TACIT_WIRE_BATCH,
                           .protocol = n->plan.protocol->wire_id,
                           .from = TACIT_NOBODY,
                           .to = TACIT_NOBODY,
                           .incarnation = n->incarnation,
                           .payload = (uint32_t)p->len};
    memcpy(h.run, n->plan.run, sizeof h.run);
    tacit_wire_write(head, &h);
    return send_bytes(n, peer, head, p->bytes, p->len);
}

void node_send_packed(tacit_node *n, node_peer *peer)
{
    node_pack *p = &peer->pack;
    if (send_pack(n, peer, p) != TACIT_OK) {
        n->traffic.lost += p->fresh;
        peer->unsent += p->count;
    }
    free(p->bytes);
    *p = (node_pack){.bytes = NULL};
}

void node_send_all_packed(tacit_node *n)
{
    for (size_t k = 0; k < n->packing_count; k++)
        node_send_packed(n, &n->peers[n->packing[k]]);
    n->packing_count = 0;
}

/* The peer is on the list of those with something packed. */
static bool enlist(tacit_node *n, const node_peer *peer)
{
    uint32_t *all =
        tacit_array_grow(n->packing, &n->packing_capacity, n->packing_count + 1, sizeof *all);
    if (!all)
        return false;
    n->packing = all;
    all[n->packing_count++] = (uint32_t)(peer - n->peers);
    return true;
}

static tacit_wire_header with_mark(tacit_node *n, const tacit_wire_header *header)
{
    tacit_wire_header h = *header;
    node_agent *from = h.kind <= TACIT_WIRE_REPLY ? node_hosted(n, h.from) : NULL;
    if (from)
        h.mark = *node_mark(n, from);
    return h;
}

void node_pack_frame(tacit_node *n, node_peer *peer, const tacit_wire_header *header,
                     const uint8_t *payload, bool fresh)
{
    node_pack *p = &peer->pack;
    const size_t len = TACIT_WIRE_HEADER + header->payload;
    const tacit_wire_header h = with_mark(n, header);
    if (p->count == TACIT_WIRE_TOGETHER ||
        (p->count > 0 && TACIT_WIRE_HEADER + p->len + len > NODE_BATCH))
        node_send_packed(n, peer);
    uint8_t *bytes = tacit_array_grow(p->bytes, &p->capacity, p->len + len, 1);
    if (bytes)
        p->bytes = bytes;
    if (!bytes || (p->count == 0 && !enlist(n, peer))) { /* without memory it is lost on the way */
        n->traffic.lost += fresh;
        peer->unsent++;
        return;
    }
    tacit_wire_write(p->bytes + p->len, &h);
    if (header->payload > 0)
        memcpy(p->bytes + p->len + TACIT_WIRE_HEADER, payload, header->payload);
    p->len += len;
    p->count++;
    p->fresh += fresh;
}

tacit_status node_transmit(tacit_node *n, node_peer *peer, const tacit_wire_header *header,
                           const uint8_t *payload)
{
    uint8_t head[TACIT_WIRE_HEADER];
    node_send_packed(n, peer);
    tacit_wire_write(head, header);
    return send_bytes(n, peer, head, payload, header->payload);
}
