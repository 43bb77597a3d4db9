/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Membership: where peers are. The list of members says who belongs to the consortium, and for most
 * of them where they are. Every node passes on descriptors that their owners signed
 * (net/members.h). A descriptor of a member is followed only if the list does not say where that
 * member is, or if the owner of this node allows members to move ("node.moved"): otherwise any
 * member could make all others connect to any address and port it likes. In a closed consortium
 * nobody but members is in the view. In an open one strangers come in by such an exchange: the
 * first descriptor is the sender's own, and its link key must be the one that the link proved.
 */
#include <string.h>

#include "net/bits.h"
#include "runtime/node/node.h"

#define CYCLE_BEATS 10 /* half-heartbeats from one exchange to the next */

/* A descriptor is of use only if its link key is the one that goes with the identity. */
static bool verify(const tacit_descriptor *d, void *context)
{
    uint8_t curve[TACIT_CURVE_BYTES];
    (void)context;
    return tacit_identity_curve(curve, d->identity, NULL) == TACIT_OK &&
           memcmp(curve, d->curve, sizeof curve) == 0 && tacit_descriptor_verify(d);
}

static tacit_status describe(const tacit_node *n, tacit_descriptor *out, tacit_error *err)
{
    const node_peer *self = node_peer_by_key(n, n->plan.identity->public_key);
    /* Milliseconds of the monotonic clock would start anew after a reboot; the incarnation never
     * goes back, and in one life the time does not either. */
    const uint64_t stamp = n->incarnation + (uint64_t)(1e3 * (n->now - n->born));
    return tacit_descriptor_make(out, n->plan.identity->secret, n->plan.identity->curve_public,
                                 self->endpoint, stamp, err);
}

tacit_status node_gossip_init(tacit_node *n, tacit_error *err)
{
    tacit_members_options o;
    tacit_descriptor self;
    const node_peer *own = node_peer_by_key(n, n->plan.identity->public_key);
    if (own->endpoint[0] == '\0')
        return TACIT_OK; /* nobody can reach it, so there is nothing to pass on */
    tacit_members_defaults(&o);
    o.verify = verify;
    tacit_status status = describe(n, &self, err);
    if (status == TACIT_OK)
        status = tacit_members_create(&n->members, &o, &self, &n->chance, err);
    if (status != TACIT_OK || n->plan.options->open)
        return status;
    uint8_t *keys = tacit_scratch_alloc(n->scratch, (size_t)n->plan.member_count * TACIT_NODE_KEY);
    if (!keys)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < n->plan.member_count; k++)
        memcpy(keys + (size_t)k * TACIT_NODE_KEY, n->plan.members[k].key, TACIT_NODE_KEY);
    return tacit_members_allow(n->members, keys, n->plan.member_count, err);
}

static void send_exchange(tacit_node *n, node_peer *peer, const tacit_exchange *x)
{
    uint8_t bytes[TACIT_EXCHANGE_BYTES];
    node_send_plain(n, peer, TACIT_WIRE_MEMBERSHIP, bytes, tacit_exchange_encode(bytes, x));
}

/* ---- where members were, over restarts ---- */

/* A stamp, what the list said, and where it was then: a list that was changed since is right. */
static const char *listed_endpoint(const tacit_node *n, const node_peer *peer)
{
    return n->plan.members[peer - n->peers].endpoint; /* members are the first peers */
}

void node_keep_peers(tacit_node *n)
{
    for (size_t k = 0; k < n->plan.member_count; k++) {
        node_peer *peer = &n->peers[k];
        if (!peer->moved)
            continue;
        uint8_t bytes[8 + 2 * sizeof peer->endpoint];
        tacit_put_u64(bytes, peer->found);
        memcpy(bytes + 8, listed_endpoint(n, peer), sizeof peer->endpoint);
        memcpy(bytes + 8 + sizeof peer->endpoint, peer->endpoint, sizeof peer->endpoint);
        peer->moved =
            node_store_put_peer(n->store, peer->key, bytes, sizeof bytes, NULL) != TACIT_OK;
    }
}

static bool may_move(const tacit_node *n, const node_peer *peer)
{
    return !peer->listed || n->plan.options->moved || listed_endpoint(n, peer)[0] == '\0';
}

static tacit_status recall(void *ctx, const uint8_t key[TACIT_NODE_KEY], const void *bytes,
                           size_t len, tacit_error *err)
{
    const tacit_node *n = ctx;
    node_peer *peer = node_peer_by_key(n, key);
    const char *listed = (const char *)bytes + 8;
    (void)err;
    if (peer)
        peer->known = true; /* one that only moved was perhaps never met, and is waited for */
    if (!peer || peer->self || !may_move(n, peer) || len != 8 + 2 * sizeof peer->endpoint ||
        memcmp(listed, listed_endpoint(n, peer), sizeof peer->endpoint) != 0)
        return TACIT_OK;
    peer->found = tacit_get_u64(bytes);
    memcpy(peer->endpoint, listed + sizeof peer->endpoint, sizeof peer->endpoint);
    peer->endpoint[sizeof peer->endpoint - 1] = '\0';
    return TACIT_OK;
}

tacit_status node_recall_peers(tacit_node *n, tacit_error *err)
{
    return node_store_each_peer(n->store, recall, n, err);
}

/* Told once per peer. */
static void ignore_endpoint(const tacit_node *n, node_peer *peer, const tacit_descriptor *d)
{
    if (peer->strayed)
        return;
    peer->strayed = true;
    log_fields f;
    log_begin(&f);
    log_text(&f, "peer", peer->name);
    log_text(&f, "listed", peer->endpoint);
    log_text(&f, "endpoint", d->endpoint);
    log_text(&f, "why",
             "it says it is not where the list of members says; if it has moved, change "
             "the list, or set \"node.moved: true\"");
    node_note(n, TACIT_LOG_WARN, "endpoint_ignored", &f);
}

/* Somebody is not where we thought. */
static void take_endpoint(tacit_node *n, node_peer *peer, const tacit_descriptor *d)
{
    if (d->stamp <= peer->found || peer->self)
        return;
    peer->found = d->stamp;
    if (strcmp(peer->endpoint, d->endpoint) == 0)
        return;
    if (!may_move(n, peer)) {
        ignore_endpoint(n, peer, d);
        return;
    }
    log_fields f;
    log_begin(&f);
    log_text(&f, "peer", peer->name);
    log_text(&f, "before", peer->endpoint);
    log_text(&f, "endpoint", d->endpoint);
    node_note(n, peer->notes++ < NODE_NOTES ? TACIT_LOG_INFO : TACIT_LOG_DEBUG, "peer_moved", &f);
    memcpy(peer->endpoint, d->endpoint, sizeof peer->endpoint);
    peer->moved = peer->listed;
    if (peer->connected)
        n->io.connect(n->io.ctx, peer->key, peer->endpoint);
}

static void look_at_view(tacit_node *n)
{
    for (size_t k = 0; k < tacit_members_count(n->members); k++) {
        const tacit_descriptor *d = tacit_members_at(n->members, k);
        node_peer *peer = node_peer_by_key(n, d->identity);
        if (!peer && n->plan.options->open)
            peer = node_peer_add(n, d->identity);
        if (peer)
            take_endpoint(n, peer, d);
    }
}

void node_gossip_cycle(tacit_node *n)
{
    tacit_descriptor self, chosen;
    tacit_exchange request;
    if (!n->members || n->beats % CYCLE_BEATS != 1)
        return;
    if (describe(n, &self, NULL) == TACIT_OK)
        tacit_members_renew(n->members, &self, NULL);
    node_peer *peer = NULL;
    if (tacit_members_begin(n->members, &n->chance, &chosen, &request)) {
        peer = node_peer_by_key(n, chosen.identity);
    } else { /* nobody is known yet: a member at random, if it answers it is */
        peer = &n->peers[tacit_stream_below(&n->chance, n->peer_count)];
        request = (tacit_exchange){.count = 1, .item = {self}};
    }
    if (peer && !peer->self)
        send_exchange(n, peer, &request);
}

/* Who knew nobody asked without being able to say whom: any member's answer is welcome then. */
static tacit_status take_reply(tacit_node *n, const uint8_t curve[TACIT_CURVE_BYTES],
                               const tacit_exchange *x, tacit_error *err)
{
    if (tacit_members_count(n->members) > 0)
        return tacit_members_finish(n->members, &n->chance, curve, x, err);
    if (x->count == 0 || memcmp(x->item[0].curve, curve, TACIT_CURVE_BYTES) != 0)
        return tacit_fail(err, TACIT_EVERIFY, "an exchange came over the link of another peer");
    return tacit_members_introduce(n->members, &n->chance, x->item, x->count, err);
}

void node_on_membership(tacit_node *n, node_peer *peer, const uint8_t *payload, size_t len)
{
    tacit_exchange x, reply;
    tacit_error err = {0};
    uint8_t curve[TACIT_CURVE_BYTES];
    if (!n->members)
        return;
    if (tacit_exchange_decode(&x, payload, len, &err) != TACIT_OK) {
        node_refuse(n, peer, TACIT_REFUSED_GARBAGE, err.text);
        return;
    }
    tacit_status status = tacit_identity_curve(curve, peer->key, &err);
    if (status == TACIT_OK)
        status = x.reply ? take_reply(n, curve, &x, &err)
                         : tacit_members_answer(n->members, &n->chance, curve, &x, &reply, &err);
    if (status == TACIT_EVERIFY)
        node_refuse(n, peer, TACIT_REFUSED_GARBAGE, err.text);
    if (status != TACIT_OK)
        return;
    look_at_view(n);
    if (!x.reply)
        send_exchange(n, peer, &reply);
}

/* Who sent this, if it is a stranger's introduction; NULL if it is not. */
node_peer *node_introduction(tacit_node *n, const uint8_t link_key[TACIT_CURVE_BYTES],
                             const uint8_t *bytes, size_t len)
{
    tacit_wire_header h;
    const uint8_t *payload;
    tacit_exchange x;
    uint8_t curve[TACIT_CURVE_BYTES];
    if (!n->members || tacit_wire_open(&h, &payload, bytes, len, NULL) != TACIT_OK ||
        h.kind != TACIT_WIRE_MEMBERSHIP ||
        tacit_exchange_decode(&x, payload, h.payload, NULL) != TACIT_OK || x.count == 0 ||
        tacit_identity_curve(curve, x.item[0].identity, NULL) != TACIT_OK ||
        memcmp(curve, link_key, sizeof curve) != 0 || !verify(&x.item[0], NULL))
        return NULL;
    node_peer *peer = node_peer_by_key(n, x.item[0].identity);
    if (!peer && (peer = node_peer_add(n, x.item[0].identity)))
        take_endpoint(n, peer, &x.item[0]);
    if (peer)
        n->io.meet(n->io.ctx, peer->key);
    return peer;
}
