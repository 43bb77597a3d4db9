/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node under frames of peers that hold right keys and mean ill. The input is a row of frames:
 *
 *     1 byte   who sends it (low 2 bits), raw bytes or a well-formed header (bit 2), time (bit 3),
 *              not yet: it is gathered for a batch (bit 4), the batch leaves behind it (bit 5)
 *     1 byte   length
 *     bytes    raw: the frame; else: kind, from, to, incarnation, sequence, releases, request,
 *              channel, address, a byte each, then the payload
 *
 * Whatever comes, the node lives, and what its agents hear is finite and of the agreed size.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/node/node.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { NODES = 3, AGENTS = 6, HOSTED = 2, FIELDS = 9 };
static tacit_shape shape;
static tacit_identity identity[NODES];
static uint32_t hosts[NODES][HOSTED] = {{0, 3}, {1, 4}, {2, 5}};
static tacit_node_member members[NODES];
static tacit_consortium_options consortium;
static tacit_node_options options;
static tacit_node *node;
static double now;

static void demand(bool holds)
{
    if (!holds)
        abort();
}

/* ---- a protocol that answers what it is asked ---- */

static const tacit_shape *payload(const void *shared, tacit_address at)
{
    (void)shared;
    return at.kind < 3 ? &shape : NULL;
}

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared, (void)neighbours;
    return 8;
}

static tacit_status on(tacit_env *env, const void *shared, void *self, const tacit_event *event)
{
    (void)shared, (void)self;
    for (size_t k = 0; event->payload && k < tacit_public_count(event->payload, 0); k++)
        demand(fabs(tacit_public_get(event->payload, 0, k)) <= consortium.largest);
    return event->type == TACIT_REQUEST ? tacit_reply(env, event, 1, event->payload) : TACIT_OK;
}

static void save(const void *shared, const void *self, uint32_t neighbours, tacit_saver *saver)
{
    (void)shared, (void)self, (void)neighbours, (void)saver;
}

static void load(const void *shared, void *self, uint32_t neighbours, tacit_loader *loader)
{
    (void)shared, (void)self, (void)neighbours, (void)loader;
}

static void end(tacit_env *env, const void *shared, void *self)
{
    (void)env, (void)shared, (void)self;
}

static const tacit_protocol protocol = {.name = "fuzzed",
                                        .wire_id = 900,
                                        .trust = TACIT_TRUST_LOCAL,
                                        .flags = TACIT_CHATTY,
                                        .payload = payload,
                                        .agent_size = agent_size,
                                        .on = on,
                                        .save = save,
                                        .load = load,
                                        .end = end};

/* ---- one node, made once ---- */

static tacit_status io_send(void *ctx, const uint8_t key[TACIT_NODE_KEY], const void *head,
                            size_t head_len, const void *body, size_t body_len)
{
    (void)ctx, (void)key, (void)body, (void)body_len;
    demand(head_len == TACIT_WIRE_HEADER && head);
    return TACIT_OK;
}

static void io_connect(void *ctx, const uint8_t key[TACIT_NODE_KEY], const char *endpoint)
{
    (void)ctx, (void)key, (void)endpoint;
}

static void io_meet(void *ctx, const uint8_t key[TACIT_NODE_KEY])
{
    (void)ctx, (void)key;
}

/* Agents begin when somebody can hear them. */
static void be_met(uint32_t k)
{
    const tacit_greeting g = {.stamp = 1};
    uint8_t frame[TACIT_WIRE_HEADER + 64];
    tacit_wire_header h = {.kind = TACIT_WIRE_PING,
                           .protocol = protocol.wire_id,
                           .from = TACIT_NOBODY,
                           .to = TACIT_NOBODY,
                           .payload = (uint32_t)tacit_greeting_bytes(&g)};
    tacit_wire_write(frame, &h);
    tacit_greeting_encode(frame + TACIT_WIRE_HEADER, &g);
    node_receive(node, members[k].key, true, frame, TACIT_WIRE_HEADER + h.payload, now);
}

static void make_node(void)
{
    static const tacit_segment segment[] = {{"x", TACIT_F64, 3}, {"n", TACIT_I64, 1}};
    static const uint32_t near0[] = {1, 5}, near3[] = {2, 4};
    static const double weight[] = {1, 1};
    static const tacit_node_agent hosted[HOSTED] = {{.agent = 0,
                                                     .name = "0",
                                                     .epsilon = 1,
                                                     .neighbours = 2,
                                                     .neighbour = near0,
                                                     .weight = weight},
                                                    {.agent = 3,
                                                     .name = "3",
                                                     .epsilon = 1,
                                                     .neighbours = 2,
                                                     .neighbour = near3,
                                                     .weight = weight}};
    static char folder[] = "/tmp/tacit-node-fuzz-XXXXXX";
    tacit_error err;
    demand(mkdtemp(folder) && !tacit_shape_init(&shape, segment, 2, &err));
    demand(!tacit_options_defaults(&tacit_consortium_section, &consortium, &err));
    demand(!tacit_options_defaults(&tacit_node_section, &options, &err));
    snprintf(options.folder, sizeof options.folder, "%s/state", folder);
    options.checkpoint = 0;
    for (uint32_t k = 0; k < NODES; k++) {
        demand(!tacit_identity_fresh(&identity[k], &err));
        members[k] = (tacit_node_member){.agents = hosts[k], .count = HOSTED};
        snprintf(members[k].name, sizeof members[k].name, "n%u", k);
        snprintf(members[k].endpoint, sizeof members[k].endpoint, "tcp://127.0.0.1:1");
        memcpy(members[k].key, identity[k].public_key, TACIT_NODE_KEY);
    }
    const tacit_node_plan plan = {.options = &options,
                                  .consortium = &consortium,
                                  .identity = &identity[0],
                                  .members = members,
                                  .member_count = NODES,
                                  .agents = AGENTS,
                                  .hosted = hosted,
                                  .hosted_count = HOSTED,
                                  .protocol = &protocol};
    const node_io io = {.send = io_send, .connect = io_connect, .meet = io_meet};
    demand(!node_create(&node, &plan, &io, 0, &err) && !node_gossip_init(node, &err));
    be_met(1);
    node_advance(node, now = 100);
    demand(node->phase == NODE_RUNNING);
}

/* ---- frames that leave together ---- */

enum { GATHERED = 8, FRAME = TACIT_WIRE_HEADER + 256 };
static uint8_t gathered[TACIT_WIRE_HEADER + GATHERED * FRAME];
static size_t gathered_len;

static void gather(const uint8_t *frame, size_t len)
{
    if (gathered_len + len > GATHERED * FRAME)
        return;
    memcpy(gathered + TACIT_WIRE_HEADER + gathered_len, frame, len);
    gathered_len += len;
}

static void send_gathered(const uint8_t key[TACIT_NODE_KEY])
{
    const tacit_wire_header h = {.kind = TACIT_WIRE_BATCH,
                                 .protocol = protocol.wire_id,
                                 .from = TACIT_NOBODY,
                                 .to = TACIT_NOBODY,
                                 .payload = (uint32_t)gathered_len};
    tacit_wire_write(gathered, &h);
    node_receive(node, key, true, gathered, TACIT_WIRE_HEADER + gathered_len, now);
    gathered_len = 0;
}

/* As if nothing had been heard yet, so that an input alone says what happens. */
static void forget(void)
{
    gathered_len = 0;
    node_send_all_packed(node);
    for (uint32_t k = 0; k < HOSTED; k++)
        node->agents[k].heard_count = 0;
    for (size_t k = 0; k < node->peer_count; k++) {
        node->peers[k].left = node->peers[k].greeted = false;
        node->peers[k].reported = 0;
    }
    demand(node->status == TACIT_OK); /* nobody here can make our signature */
}

static size_t well_formed(uint8_t *out, const uint8_t *in, size_t len)
{
    uint8_t field[FIELDS] = {0};
    memcpy(field, in, len < FIELDS ? len : FIELDS);
    const size_t rest = len > FIELDS ? len - FIELDS : 0;
    tacit_wire_header h = {.kind = (tacit_wire_kind)(1 + field[0] % TACIT_WIRE_BATCH),
                           .protocol = protocol.wire_id,
                           .from = field[1] % 8,
                           .to = field[2] % 8,
                           .incarnation = field[3],
                           .sequence = 1 + field[4],
                           .releases = field[5],
                           .request = field[6],
                           .at = {field[7] % 4, field[8] % 4},
                           .payload = (uint32_t)rest};
    if (h.kind == TACIT_WIRE_MESSAGE)
        h.request = 0;
    if (h.kind <= TACIT_WIRE_REPLY)
        h.mark.releases = field[5];
    tacit_wire_write(out, &h);
    if (rest)
        memcpy(out + TACIT_WIRE_HEADER, in + FIELDS, rest);
    return TACIT_WIRE_HEADER + rest;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (!node)
        make_node();
    forget();
    while (len >= 2) {
        uint8_t frame[FRAME];
        const uint8_t how = bytes[0];
        size_t size = bytes[1] < len - 2 ? bytes[1] : len - 2;
        const uint8_t *key = members[how & 3 ? (how & 3) % NODES : 1].key;
        if (how & 16)
            gather(frame, well_formed(frame, bytes + 2, size));
        else if (how & 4)
            node_receive(node, key, true, frame, well_formed(frame, bytes + 2, size), now);
        else
            node_receive(node, key, true, bytes + 2, size, now);
        if (how & 32)
            send_gathered(key);
        if (how & 8)
            node_advance(node, now += 0.5);
        bytes += 2 + size;
        len -= 2 + size;
    }
    return 0;
}
