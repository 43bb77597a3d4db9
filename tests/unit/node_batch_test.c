/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for one peer that are made in one turn travel as one frame: none is lost to a queue that
 * counts frames, and inside of it every message is checked as if it had come alone. */
#include <math.h>
#include <string.h>

#include "node_scene.h"

enum { AGENTS = 40, NODES = 2, CHORDS = 300, QUEUE = 64 };

/* ---- a queue of so many frames, which is empty again every half a second ---- */

static struct {
    tacit_status (*send)(void *ctx, const uint8_t key[TACIT_NODE_KEY], const void *head,
                         size_t head_len, const void *body, size_t body_len);
    double emptied[NODES];
    int waiting[NODES];
    uint64_t sent, full;
    size_t longest;
} queue;

static tacit_status send_limited(void *ctx, const uint8_t key[TACIT_NODE_KEY], const void *head,
                                 size_t head_len, const void *body, size_t body_len)
{
    const nodes_place *p = ctx;
    if (p->all->clock >= queue.emptied[p->index] + 0.5) {
        queue.emptied[p->index] = p->all->clock;
        queue.waiting[p->index] = 0;
    }
    if (queue.waiting[p->index] >= QUEUE) {
        queue.full++;
        return TACIT_NO;
    }
    queue.waiting[p->index]++;
    queue.sent++;
    if (head_len + body_len > queue.longest)
        queue.longest = head_len + body_len;
    return queue.send(ctx, key, head, head_len, body, body_len);
}

static void test_many_agents_on_a_node(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    memset(&s, 0, sizeof s);
    memset(&queue, 0, sizeof queue);
    probe_init(&s.probe);
    s.protocol = probe_protocol(TACIT_WAKES);
    graph_ring(&s.graph, AGENTS, CHORDS, 7);
    s.world = world_defaults(&s.graph, &s.protocol);
    s.world.protocol_options = &s.probe;
    s.probe.on = node_scene_speak;
    check_ok(nodes_init(&s.all, &s.world, NODES, false, &err), &err);
    node_scene_open(&s);
    for (uint32_t k = 0; k < NODES; k++) {
        queue.send = s.all.place[k].node->io.send;
        s.all.place[k].node->io.send = send_limited;
    }
    node_scene_run(&s, 12);
    uint64_t lost = 0, messages = 0;
    for (uint32_t k = 0; k < NODES; k++) {
        lost += s.all.place[k].node->traffic.lost;
        messages += s.all.place[k].node->traffic.messages;
    }
    print_message("%llu of %llu messages lost, %llu frames sent, %llu not\n",
                  (unsigned long long)lost, (unsigned long long)messages,
                  (unsigned long long)queue.sent, (unsigned long long)queue.full);
    assert_true(messages > 3000);
    assert_int_equal(lost, 0);
    assert_int_equal(queue.full, 0);
    assert_true(queue.sent < messages / 4);
    assert_true(queue.longest > 1000 && queue.longest <= 65536);
    for (uint32_t k = 0; k < NODES; k++)
        for (int why = 0; why < TACIT_REFUSALS; why++)
            assert_int_equal(s.all.place[k].node->refusals[why], 0);
    node_scene_clear(&s);
}

/* ---- what is in it ---- */

enum { MOST = 8, ROOM = TACIT_WIRE_HEADER + MOST * 256 };

/* Frames one behind the other, as node 1 would send them to node 0. */
typedef struct row {
    uint8_t bytes[ROOM];
    size_t len;
} row;

static void put(const node_scene *s, row *r, tacit_wire_header h, double value)
{
    if (r->len == 0)
        r->len = TACIT_WIRE_HEADER;
    r->len += node_scene_frame(s, r->bytes + r->len, h, value);
}

static void inject(node_scene *s, row *r)
{
    tacit_wire_header h = {.kind = TACIT_WIRE_BATCH,
                           .protocol = s->protocol.wire_id,
                           .from = TACIT_NOBODY,
                           .to = TACIT_NOBODY,
                           .incarnation = 1,
                           .payload = (uint32_t)(r->len - TACIT_WIRE_HEADER)};
    memcpy(h.run, s->all.run, sizeof h.run);
    tacit_wire_write(r->bytes, &h);
    nodes_inject(&s->all, 1, 0, r->bytes, r->len);
}

static uint64_t heard(const node_scene *s, tacit_agent agent)
{
    return node_scene_agent(s, agent)->of_type[TACIT_MESSAGE];
}

static uint64_t refused(const node_scene *s, tacit_node_refusal why)
{
    return s->all.place[0].node->refusals[why];
}

static tacit_wire_header next(const node_scene *s, uint64_t sequence)
{
    tacit_wire_header h = node_scene_header(s, 1, 0);
    h.sequence = sequence;
    return h;
}

/* Every message of a batch is judged by itself. */
static void test_messages_are_judged_one_by_one(void **state)
{
    (void)state;
    node_scene s;
    row r = {.len = 0};
    node_scene_init(&s, 0);
    node_scene_open(&s);
    node_scene_run(&s, 0.1);
    put(&s, &r, next(&s, 1), 1);
    put(&s, &r, next(&s, 1), 2); /* a replay */
    tacit_wire_header h = next(&s, 2);
    h.from = 2; /* not an agent of node 1 */
    put(&s, &r, h, 3);
    h = next(&s, 3);
    h.to = 3; /* no neighbour of 1 */
    put(&s, &r, h, 4);
    put(&s, &r, next(&s, 4), 1e9); /* too large */
    put(&s, &r, next(&s, 5), 6);
    inject(&s, &r);
    assert_int_equal(heard(&s, 0), 2);
    assert_true(node_scene_agent(&s, 0)->heard[1] == 6);
    assert_int_equal(refused(&s, TACIT_REFUSED_REPLAY), 1);
    assert_int_equal(refused(&s, TACIT_REFUSED_SENDER), 1);
    assert_int_equal(refused(&s, TACIT_REFUSED_RECEIVER), 1);
    assert_int_equal(refused(&s, TACIT_REFUSED_PAYLOAD), 1);
    inject(&s, &r); /* all of it again */
    assert_int_equal(heard(&s, 0), 2);
    node_scene_clear(&s);
}

/* Of a batch that is none nothing is heard, wherever a byte of its frames' lengths is wrong. */
static void test_a_broken_batch(void **state)
{
    (void)state;
    node_scene s;
    row r = {.len = 0};
    node_scene_init(&s, 0);
    node_scene_open(&s);
    node_scene_run(&s, 0.1);
    put(&s, &r, next(&s, 1), 1);
    inject(&s, &r); /* one message is no batch */
    put(&s, &r, next(&s, 2), 2);
    r.len--;
    inject(&s, &r);
    r.len++;
    assert_int_equal(refused(&s, TACIT_REFUSED_GARBAGE), 2);
    assert_int_equal(heard(&s, 0), 0);
    for (size_t at = TACIT_WIRE_HEADER; at < r.len; at++)
        for (int bit = 0; bit < 8; bit++) { /* the node lives, whatever it makes of it */
            r.bytes[at] ^= (uint8_t)(1 << bit);
            inject(&s, &r);
            r.bytes[at] ^= (uint8_t)(1 << bit);
        }
    assert_int_equal(s.all.place[0].node->status, TACIT_OK);
    const probe_agent *p = node_scene_agent(&s, 0);
    for (uint64_t k = 0; k < p->count && k < PROBE_LOG; k++)
        assert_true(fabs(p->log[k].value) <= s.all.consortium.largest);
    node_scene_clear(&s);
}

/* What comes before the start is kept, message by message, and heard then. */
static void test_a_batch_before_the_start(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    row r = {.len = 0};
    node_scene_init(&s, 0);
    check_ok(nodes_open(&s.all, 0, &err), &err);
    for (uint64_t k = 1; k <= 4; k++)
        put(&s, &r, next(&s, k), (double)k);
    inject(&s, &r);
    assert_int_equal(s.all.place[0].node->early_count, 4);
    assert_int_equal(heard(&s, 0), 0);
    node_scene_run(&s, 15); /* out of patience with the others */
    assert_int_equal(heard(&s, 0), 4);
    node_scene_clear(&s);
}

/* A node that has failed says nothing any more, not even what is packed. */
static void test_nothing_leaves_after_a_failure(void **state)
{
    (void)state;
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    node_scene_open(&s);
    node_scene_run(&s, 5);
    tacit_node *n = s.all.place[0].node;
    tacit_wire_header h = next(&s, 1);
    h.from = 0;
    h.to = 1;
    h.payload = 0;
    node_pack_frame(n, node_peer_of(n, 1), &h, NULL, true);
    assert_true(node_next(n) <= s.all.clock);
    node_fail(n, TACIT_EVERIFY, "for a test");
    node_advance(n, s.all.clock + 1);
    node_leave(n);
    for (size_t k = 0; k < s.all.frame_count; k++) {
        uint8_t version, kind;
        tacit_wire_peek(s.all.frames[k].bytes, s.all.frames[k].len, &version, &kind);
        assert_true(kind != TACIT_WIRE_MESSAGE && kind != TACIT_WIRE_BATCH);
    }
    node_scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_agents_on_a_node),
        cmocka_unit_test(test_messages_are_judged_one_by_one),
        cmocka_unit_test(test_a_broken_batch),
        cmocka_unit_test(test_a_batch_before_the_start),
        cmocka_unit_test(test_nothing_leaves_after_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
