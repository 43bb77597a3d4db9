/* SPDX-License-Identifier: Apache-2.0 */
/* Where peers are, and who comes uninvited: descriptors, strangers, open and closed consortia. */
#include <stdio.h>
#include <string.h>

#include "node_scene.h"

static const char *endpoint_of(const node_scene *s, uint32_t at, uint32_t whom)
{
    return node_peer_by_key(s->all.place[at].node, s->all.members[whom].key)->endpoint;
}

/* Node 2 has moved: it tells by a signed descriptor, and those it tells pass it on. */
static void test_a_peer_that_moved_is_found(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, 0);
    for (uint32_t k = 0; k < SCENE_NODES; k++)
        s.all.place[k].options.moved = true;
    check_ok(nodes_open(&s.all, 0, &err), &err);
    check_ok(nodes_open(&s.all, 1, &err), &err);
    snprintf(s.all.members[2].endpoint, sizeof s.all.members[2].endpoint, "tcp://10.0.0.9:7499");
    check_ok(nodes_open(&s.all, 2, &err), &err);
    snprintf(s.all.members[2].endpoint, sizeof s.all.members[2].endpoint, "tcp://127.0.0.1:7400");
    assert_string_equal(endpoint_of(&s, 0, 2), "tcp://127.0.0.1:7400");
    node_scene_run(&s, 120);
    assert_string_equal(endpoint_of(&s, 0, 2), "tcp://10.0.0.9:7499");
    assert_string_equal(endpoint_of(&s, 1, 2), "tcp://10.0.0.9:7499");
    assert_true(nodes_logged(&s.all, 0, "peer_moved", "10.0.0.9"));
    for (uint32_t k = 0; k < SCENE_NODES; k++)
        assert_true(tacit_members_count(s.all.place[k].node->members) >= 1);
    /* Who starts again looks for it there first, and not where the list says, */
    node_checkpoint(s.all.place[0].node);
    nodes_crash(&s.all, 0);
    check_ok(nodes_open(&s.all, 0, &err), &err);
    assert_string_equal(endpoint_of(&s, 0, 2), "tcp://10.0.0.9:7499");
    /* unless somebody has changed the list. */
    nodes_crash(&s.all, 0);
    snprintf(s.all.members[2].endpoint, sizeof s.all.members[2].endpoint, "tcp://127.0.0.1:7444");
    check_ok(nodes_open(&s.all, 0, &err), &err);
    assert_string_equal(endpoint_of(&s, 0, 2), "tcp://127.0.0.1:7444");
    node_scene_clear(&s);
}

/* A descriptor of node 1 with this endpoint, signed by node 1, told to node 0. */
static void tell_endpoint(node_scene *s, const char *endpoint, uint64_t stamp)
{
    tacit_error err = {0};
    static tacit_exchange x;
    static uint8_t frame[TACIT_WIRE_HEADER + TACIT_EXCHANGE_BYTES];
    const tacit_identity *member = &s->all.place[1].identity;
    x = (tacit_exchange){.count = 1};
    check_ok(tacit_descriptor_make(&x.item[0], member->secret, member->curve_public, endpoint,
                                   stamp, &err),
             &err);
    const size_t len = tacit_exchange_encode(frame + TACIT_WIRE_HEADER, &x);
    tacit_wire_header h = {.kind = TACIT_WIRE_MEMBERSHIP,
                           .protocol = s->protocol.wire_id,
                           .from = TACIT_NOBODY,
                           .to = TACIT_NOBODY,
                           .incarnation = 1,
                           .payload = (uint32_t)len};
    memcpy(h.run, s->all.run, sizeof h.run);
    tacit_wire_write(frame, &h);
    nodes_inject(&s->all, 1, 0, frame, TACIT_WIRE_HEADER + len);
}

static char dialled[64]; /* where node 0 was told to connect to last */
static void note_dial(void *ctx, const uint8_t key[TACIT_NODE_KEY], const char *endpoint)
{
    (void)ctx, (void)key;
    snprintf(dialled, sizeof dialled, "%s", endpoint);
}

/* A member says that it is somewhere else: nobody is made to connect to a place that is not on the
 * list, not even by a right signature, and not after a restart. */
static void test_nobody_is_sent_elsewhere(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, 0);
    node_scene_open(&s);
    node_scene_run(&s, 0.1);
    tacit_node *n = s.all.place[0].node;
    n->io.connect = note_dial;
    const uint64_t late = UINT64_C(1) << 46; /* later than what node 1 has told by itself */
    for (uint64_t k = 0; k < 5; k++)
        tell_endpoint(&s, "tcp://192.0.2.1:22", late + k);
    assert_string_equal(endpoint_of(&s, 0, 1), "tcp://127.0.0.1:7400");
    assert_string_equal(dialled, "");
    assert_true(nodes_logged(&s.all, 0, "endpoint_ignored", "192.0.2.1"));
    uint64_t told = 0;
    for (size_t k = 0; k < sizeof s.all.place[0].log / sizeof *s.all.place[0].log; k++)
        told += strcmp(s.all.place[0].log[k].event, "endpoint_ignored") == 0;
    assert_int_equal(told, 1);
    /* Whoever allows it does. */
    s.all.place[0].options.moved = true;
    tell_endpoint(&s, "tcp://192.0.2.1:22", late + 10);
    assert_string_equal(endpoint_of(&s, 0, 1), "tcp://192.0.2.1:22");
    assert_string_equal(dialled, "tcp://192.0.2.1:22");
    /* Where it was then is not dialled in a later life that does not allow it. */
    node_checkpoint(n);
    nodes_crash(&s.all, 0);
    s.all.place[0].options.moved = false;
    check_ok(nodes_open(&s.all, 0, &err), &err);
    assert_string_equal(endpoint_of(&s, 0, 1), "tcp://127.0.0.1:7400");
    node_scene_clear(&s);
}

/* Of a member without an endpoint in the list only gossip tells where it is. */
static void test_a_member_without_a_listed_endpoint(void **state)
{
    (void)state;
    node_scene s;
    node_scene_init(&s, 0);
    memset(s.all.members[1].endpoint, 0, sizeof s.all.members[1].endpoint);
    tacit_error err = {0};
    check_ok(nodes_open(&s.all, 0, &err), &err);
    tell_endpoint(&s, "tcp://192.0.2.1:7400", UINT64_C(1) << 46);
    assert_string_equal(endpoint_of(&s, 0, 1), "tcp://192.0.2.1:7400");
    node_scene_clear(&s);
}

/* ---- strangers ---- */

static size_t frame_of(const node_scene *s, uint8_t *out, tacit_wire_kind kind, const void *payload,
                       size_t len)
{
    tacit_wire_header h = {.kind = kind,
                           .protocol = s->protocol.wire_id,
                           .from = TACIT_NOBODY,
                           .to = TACIT_NOBODY,
                           .incarnation = 1,
                           .payload = (uint32_t)len};
    memcpy(h.run, s->all.run, sizeof h.run);
    tacit_wire_write(out, &h);
    memcpy(out + TACIT_WIRE_HEADER, payload, len);
    return TACIT_WIRE_HEADER + len;
}

/* `who` introduces itself to node 0 over a link that proves the key of `link`. */
static void introduce(node_scene *s, const tacit_identity *who, const tacit_identity *link)
{
    tacit_error err = {0};
    static tacit_exchange x;
    static uint8_t bytes[TACIT_EXCHANGE_BYTES], frame[TACIT_WIRE_HEADER + TACIT_EXCHANGE_BYTES];
    x = (tacit_exchange){.count = 1};
    check_ok(tacit_descriptor_make(&x.item[0], who->secret, who->curve_public,
                                   "tcp://192.0.2.7:7400", 5, &err),
             &err);
    size_t len = tacit_exchange_encode(bytes, &x);
    len = frame_of(s, frame, TACIT_WIRE_MEMBERSHIP, bytes, len);
    node_receive(s->all.place[0].node, link->curve_public, false, frame, len, s->all.clock);
}

static void claim(node_scene *s, const tacit_identity *who, uint32_t agent)
{
    const tacit_greeting g = {.agents = 1, .agent = &agent};
    uint8_t bytes[64], frame[TACIT_WIRE_HEADER + 64];
    tacit_greeting_encode(bytes, &g);
    size_t len = frame_of(s, frame, TACIT_WIRE_HELLO, bytes, tacit_greeting_bytes(&g));
    node_receive(s->all.place[0].node, who->public_key, true, frame, len, s->all.clock);
}

static void speak(node_scene *s, const tacit_identity *who, uint32_t from)
{
    uint8_t frame[256];
    const size_t len = node_scene_frame(s, frame, node_scene_header(s, from, 0), 7);
    node_receive(s->all.place[0].node, who->public_key, true, frame, len, s->all.clock);
}

static uint64_t heard(const node_scene *s)
{
    return node_scene_agent(s, 0)->of_type[TACIT_MESSAGE];
}

static void open_scene(node_scene *s, bool open)
{
    node_scene_init(s, TACIT_CHATTY);
    for (uint32_t k = 0; k < SCENE_NODES; k++)
        s->all.place[k].options.open = open;
    node_scene_open(s);
    node_scene_run(s, 0.1);
}

static void test_a_stranger_in_an_open_consortium(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_identity who, other;
    node_scene s;
    check_ok(tacit_identity_fresh(&who, &err), &err);
    check_ok(tacit_identity_fresh(&other, &err), &err);
    open_scene(&s, true);
    tacit_node *n = s.all.place[0].node;
    introduce(&s, &other, &who); /* somebody else's descriptor: stolen */
    assert_null(node_peer_by_key(n, other.public_key));
    introduce(&s, &who, &who);
    const node_peer *peer = node_peer_by_key(n, who.public_key);
    assert_non_null(peer);
    assert_string_equal(peer->endpoint, "tcp://192.0.2.7:7400");
    speak(&s, &who, 77);
    assert_int_equal(heard(&s), 0); /* nobody has said that it hosts 77 */
    claim(&s, &who, 77);
    speak(&s, &who, 77);
    assert_int_equal(heard(&s), 1);
    assert_int_equal(node_scene_agent(&s, 0)->log[1].slot, TACIT_NO_SLOT);
    claim(&s, &who, 1); /* a member's agent stays a member's */
    assert_int_equal(n->refusals[TACIT_REFUSED_SENDER], 2);
    speak(&s, &who, 1);
    assert_int_equal(heard(&s), 1);
    node_scene_clear(&s);
}

static void test_a_stranger_in_a_closed_consortium(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_identity who;
    node_scene s;
    check_ok(tacit_identity_fresh(&who, &err), &err);
    open_scene(&s, false);
    introduce(&s, &who, &who);
    claim(&s, &who, 77);
    speak(&s, &who, 77);
    assert_null(node_peer_by_key(s.all.place[0].node, who.public_key));
    assert_int_equal(heard(&s), 0);
    node_scene_clear(&s);
}

/* A member passes on descriptors of strangers: they do not enter a closed view. */
static void test_descriptors_of_strangers_are_not_kept(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_identity who;
    static tacit_exchange x;
    static uint8_t bytes[TACIT_EXCHANGE_BYTES], frame[TACIT_WIRE_HEADER + TACIT_EXCHANGE_BYTES];
    node_scene s;
    check_ok(tacit_identity_fresh(&who, &err), &err);
    open_scene(&s, false);
    const tacit_identity *member = &s.all.place[1].identity;
    x = (tacit_exchange){.count = 2};
    check_ok(tacit_descriptor_make(&x.item[0], member->secret, member->curve_public,
                                   "tcp://127.0.0.1:1", 5, &err),
             &err);
    check_ok(tacit_descriptor_make(&x.item[1], who.secret, who.curve_public, "tcp://127.0.0.1:2", 5,
                                   &err),
             &err);
    size_t len = tacit_exchange_encode(bytes, &x);
    nodes_inject(&s.all, 1, 0, frame, frame_of(&s, frame, TACIT_WIRE_MEMBERSHIP, bytes, len));
    const tacit_members *view = s.all.place[0].node->members;
    bool found = false;
    for (size_t k = 0; k < tacit_members_count(view); k++) {
        const uint8_t *key = tacit_members_at(view, k)->identity;
        assert_memory_not_equal(key, who.public_key, TACIT_NODE_KEY);
        found = found || memcmp(key, member->public_key, TACIT_NODE_KEY) == 0;
    }
    assert_true(found); /* the exchange itself was good */
    node_scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_peer_that_moved_is_found),
        cmocka_unit_test(test_nobody_is_sent_elsewhere),
        cmocka_unit_test(test_a_member_without_a_listed_endpoint),
        cmocka_unit_test(test_a_stranger_in_an_open_consortium),
        cmocka_unit_test(test_a_stranger_in_a_closed_consortium),
        cmocka_unit_test(test_descriptors_of_strangers_are_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
