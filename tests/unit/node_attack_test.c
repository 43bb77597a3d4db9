/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a peer that holds a right key can do to a node: lie about who speaks, repeat, garble, send
 * numbers that are none, ask without end, doubt its ledger. Frames go through the test's hands;
 * what links keep out (wrong keys, changed bytes on the wire) is in link_test.c.
 */
#include <math.h>
#include <string.h>

#include "node_scene.h"

static uint64_t refused(const node_scene *s, uint32_t k, tacit_node_refusal why)
{
    return s->all.place[k].node->refusals[why];
}

static uint64_t heard(const node_scene *s, tacit_agent agent)
{
    return node_scene_agent(s, agent)->of_type[TACIT_MESSAGE];
}

/* Everybody is met and nothing is under way. */
static void open_quiet(node_scene *s, uint32_t flags)
{
    node_scene_init(s, flags);
    node_scene_open(s);
    node_scene_run(s, 0.1);
}

static void test_a_right_frame_is_heard(void **state)
{
    (void)state;
    node_scene s;
    uint8_t frame[256];
    open_quiet(&s, 0);
    size_t len = node_scene_frame(&s, frame, node_scene_header(&s, 1, 0), 42);
    nodes_inject(&s.all, 1, 0, frame, len);
    assert_int_equal(heard(&s, 0), 1);
    assert_true(node_scene_agent(&s, 0)->log[1].value == 42);
    assert_int_equal(node_scene_agent(&s, 0)->log[1].from, 1);
    node_scene_clear(&s);
}

static void test_speaking_for_others(void **state)
{
    (void)state;
    node_scene s;
    uint8_t frame[256];
    open_quiet(&s, 0);
    /* Node 2 has a right key, but agent 1 is node 1's. */
    size_t len = node_scene_frame(&s, frame, node_scene_header(&s, 1, 0), 42);
    nodes_inject(&s.all, 2, 0, frame, len);
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_SENDER), 1);
    /* An agent nobody has. */
    len = node_scene_frame(&s, frame, node_scene_header(&s, 77, 0), 42);
    nodes_inject(&s.all, 2, 0, frame, len);
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_SENDER), 2);
    /* The node's own agent, told from outside. */
    len = node_scene_frame(&s, frame, node_scene_header(&s, 3, 0), 42);
    nodes_inject(&s.all, 1, 0, frame, len);
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_SENDER), 3);
    assert_int_equal(heard(&s, 0), 0);
    node_scene_clear(&s);
}

static void test_wrong_receivers(void **state)
{
    (void)state;
    node_scene s;
    uint8_t frame[256];
    open_quiet(&s, 0);
    tacit_wire_header h = node_scene_header(&s, 1, 0);
    h.to = 2; /* lives elsewhere */
    nodes_inject(&s.all, 1, 0, frame, node_scene_frame(&s, frame, h, 1));
    h = node_scene_header(&s, 1, 3); /* here, but no neighbour of 1 in the ring */
    nodes_inject(&s.all, 1, 0, frame, node_scene_frame(&s, frame, h, 1));
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_RECEIVER), 2);
    assert_int_equal(heard(&s, 0) + heard(&s, 3), 0);
    node_scene_clear(&s);
}

/* Everything twice, and everything again at the end: nothing is heard twice. */
typedef struct tape {
    uint8_t bytes[4000][256];
    size_t len[4000];
    uint32_t from[4000], to[4000];
    size_t count;
} tape;

static bool record(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len)
{
    tape *t = all->ctx;
    if (len <= 256 && t->count < 4000) {
        memcpy(t->bytes[t->count], bytes, len);
        t->len[t->count] = len;
        t->from[t->count] = from;
        t->to[t->count++] = to;
    }
    nodes_inject(all, from, to, bytes, len); /* and once more by the caller */
    return true;
}

static void test_replays(void **state)
{
    (void)state;
    static tape t;
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.all.hand = record;
    s.all.ctx = &t;
    t.count = 0;
    node_scene_open(&s);
    node_scene_run(&s, 12);
    uint64_t before[SCENE_AGENTS], all = 0;
    for (uint32_t a = 0; a < SCENE_AGENTS; a++)
        before[a] = heard(&s, a), all += before[a];
    assert_true(all > 100);
    assert_int_equal(all, s.all.place[0].node->traffic.messages +
                              s.all.place[1].node->traffic.messages +
                              s.all.place[2].node->traffic.messages);
    for (size_t k = 0; k < t.count; k++)
        nodes_inject(&s.all, t.from[k], t.to[k], t.bytes[k], t.len[k]);
    for (uint32_t a = 0; a < SCENE_AGENTS; a++) {
        assert_int_equal(heard(&s, a), before[a]);
        double last[SCENE_AGENTS] = {0};
        const probe_agent *p = node_scene_agent(&s, a);
        for (uint64_t k = 0; k < p->count && k < PROBE_LOG; k++) {
            if (p->log[k].type != TACIT_MESSAGE)
                continue;
            assert_true(p->log[k].value > last[p->log[k].from]);
            last[p->log[k].from] = p->log[k].value;
        }
    }
    assert_true(refused(&s, 0, TACIT_REFUSED_REPLAY) > 30);
    node_scene_clear(&s);
}

static uint64_t byes;
static bool count_byes(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len)
{
    uint8_t version, kind;
    (void)all, (void)to;
    byes += from == 0 && tacit_wire_peek(bytes, len, &version, &kind) && kind == TACIT_WIRE_BYE;
    return true;
}

static void test_another_run_or_version(void **state)
{
    (void)state;
    node_scene s;
    uint8_t frame[256];
    open_quiet(&s, 0);
    s.all.hand = count_byes;
    byes = 0;
    tacit_wire_header h = node_scene_header(&s, 1, 0);
    h.run[3] ^= 1;
    size_t len = node_scene_frame(&s, frame, h, 1);
    for (int k = 0; k < 5; k++)
        nodes_inject(&s.all, 1, 0, frame, len);
    nodes_settle(&s.all);
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_RUN), 5);
    assert_int_equal(byes, 1); /* politely, once */
    h = node_scene_header(&s, 1, 0);
    h.protocol++;
    nodes_inject(&s.all, 1, 0, frame, node_scene_frame(&s, frame, h, 1));
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_RUN), 6);
    len = node_scene_frame(&s, frame, node_scene_header(&s, 1, 0), 1);
    frame[4]++; /* the version: wire_test.c knows the layout */
    for (int k = 0; k < 3; k++)
        nodes_inject(&s.all, 1, 0, frame, len);
    nodes_settle(&s.all);
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_VERSION), 3);
    assert_int_equal(byes, 2);
    assert_int_equal(heard(&s, 0), 0);
    node_scene_clear(&s);
}

/* A frame that differs from a right one in one byte, any byte, any value of eight: the node lives,
 * and what it hears is a finite number of the agreed size. */
static void test_mutated_frames(void **state)
{
    (void)state;
    node_scene s;
    uint8_t good[256], bad[256];
    open_quiet(&s, TACIT_CHATTY);
    size_t len = node_scene_frame(&s, good, node_scene_header(&s, 1, 0), 0.123456789);
    for (size_t at = 0; at < len; at++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(bad, good, len);
            bad[at] ^= (uint8_t)(1 << bit);
            nodes_inject(&s.all, 1, 0, bad, len);
            nodes_settle(&s.all);
        }
    for (size_t cut = 0; cut < len; cut++)
        nodes_inject(&s.all, 1, 0, good, cut);
    const probe_agent *p = node_scene_agent(&s, 0);
    for (uint64_t k = 0; k < p->count && k < PROBE_LOG; k++)
        assert_true(fabs(p->log[k].value) <= s.all.consortium.largest);
    assert_int_equal(s.all.place[0].node->status, TACIT_OK);
    assert_true(refused(&s, 0, TACIT_REFUSED_GARBAGE) >= len);
    node_scene_clear(&s);
}

static void test_numbers_that_are_none(void **state)
{
    (void)state;
    static const uint64_t bits[] = {UINT64_C(0x7ff8000000000000), UINT64_C(0x7ff0000000000000),
                                    UINT64_C(0xfff0000000000000), UINT64_C(0x7ff0000000000001),
                                    UINT64_C(0x7fefffffffffffff), UINT64_C(0x42d0000000000000)};
    node_scene s;
    uint8_t frame[256];
    open_quiet(&s, 0);
    /* Find where a number of our choice stands in the payload, and write others over it. */
    const double mark = 1.0 / 3;
    const tacit_wire_header right = node_scene_header(&s, 1, 0);
    size_t len = node_scene_frame(&s, frame, right, mark), at = 0;
    for (size_t k = TACIT_WIRE_HEADER; k + 8 <= len; k++)
        if (memcmp(frame + k, &mark, 8) == 0)
            at = k;
    assert_true(at > 0);
    for (size_t k = 0; k < sizeof bits / sizeof *bits; k++) {
        memcpy(frame + at, &bits[k], 8);
        nodes_inject(&s.all, 1, 0, frame, len);
        assert_int_equal(refused(&s, 0, TACIT_REFUSED_PAYLOAD), k + 1);
    }
    assert_int_equal(heard(&s, 0), 0);
    tacit_wire_header h = right;
    h.at.kind = PROBE_OTHER; /* no such message */
    nodes_inject(&s.all, 1, 0, frame, node_scene_frame(&s, frame, h, 1));
    assert_int_equal(heard(&s, 0), 0);
    /* None of it counts as heard: a right frame of the same number is. */
    nodes_inject(&s.all, 1, 0, frame, node_scene_frame(&s, frame, right, 1));
    assert_int_equal(heard(&s, 0), 1);
    node_scene_clear(&s);
}

static void test_a_peer_with_an_old_ledger(void **state)
{
    (void)state;
    node_scene s;
    uint8_t frame[256];
    open_quiet(&s, 0);
    tacit_wire_header h = node_scene_header(&s, 1, 0);
    h.releases = 10;
    nodes_inject(&s.all, 1, 0, frame, node_scene_frame(&s, frame, h, 1));
    h.incarnation++;
    h.releases = 9;
    nodes_inject(&s.all, 1, 0, frame, node_scene_frame(&s, frame, h, 2));
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_ROLLBACK), 1);
    assert_int_equal(heard(&s, 0), 1);
    assert_true(nodes_logged(&s.all, 0, "frame_refused", "rollback"));
    h.incarnation++;
    h.releases = 11;
    size_t len = node_scene_frame(&s, frame, h, 3); /* which signs a mark of 11 */
    frame[64] = 12;                                 /* releases, as the header tells them */
    nodes_inject(&s.all, 1, 0, frame, len);
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_ROLLBACK), 2);
    assert_int_equal(heard(&s, 0), 1);
    node_scene_clear(&s);
}

/* ---- doubts about our own ledger ---- */

/* An answer to a ping that node 0 has just sent to `witness`. */
static void answer(node_scene *s, uint32_t witness, tacit_greeting g)
{
    tacit_node *n = s->all.place[0].node;
    node_peer *peer = node_peer_by_key(n, s->all.members[witness].key);
    peer->ping = g.stamp = ++n->stamps;
    uint8_t frame[512];
    tacit_wire_header header = {.kind = TACIT_WIRE_PONG,
                                .protocol = s->protocol.wire_id,
                                .from = TACIT_NOBODY,
                                .to = TACIT_NOBODY,
                                .incarnation = 1,
                                .payload = (uint32_t)tacit_greeting_bytes(&g)};
    memcpy(header.run, s->all.run, sizeof header.run);
    tacit_wire_write(frame, &header);
    tacit_greeting_encode(frame + TACIT_WIRE_HEADER, &g);
    nodes_inject(&s->all, witness, 0, frame, TACIT_WIRE_HEADER + header.payload);
    /* Again, and for a ping that was never sent: neither is an answer. */
    nodes_inject(&s->all, witness, 0, frame, TACIT_WIRE_HEADER + header.payload);
}

static void tell(node_scene *s, uint32_t witness, tacit_heard h)
{
    answer(s, witness, (tacit_greeting){.heard_count = 1, .heard = &h});
}

static void show(node_scene *s, uint32_t witness, uint32_t agent, tacit_mark mark)
{
    const tacit_marked m = {agent, mark};
    answer(s, witness, (tacit_greeting){.mark_count = 1, .mark = &m});
}

/* So many releases of an agent, in a ledger nobody has, signed by a node for a run. */
static tacit_mark made_up(const node_scene *s, uint32_t signer, const uint8_t *run, uint32_t agent,
                          uint64_t releases)
{
    tacit_mark mark = {.releases = releases, .head = {1, 2, 3}};
    tacit_mark_sign(&mark, &s->all.place[signer].identity, run, agent);
    return mark;
}

/* A peer that remembers a later life than we do: we begin one that is later still, but not one
 * beyond all reason, after which no other could come. */
static void test_claims_of_later_lives(void **state)
{
    (void)state;
    node_scene s;
    open_quiet(&s, TACIT_WAKES);
    tacit_node *n = s.all.place[0].node;
    const uint64_t before = n->incarnation;
    tell(&s, 1, (tacit_heard){0, 1, before + 1000, 5});
    assert_int_equal(n->incarnation, before + 1001);
    tell(&s, 1, (tacit_heard){0, 1, before + 2000, 5});
    assert_int_equal(n->incarnation, before + 1001); /* that was a moment ago */
    node_scene_run(&s, 3);
    tell(&s, 1, (tacit_heard){0, 1, before + 2000, 5});
    assert_int_equal(n->incarnation, before + 2001);
    const uint64_t far = UINT64_C(1) << 45; /* one alone is not believed so far ahead */
    node_scene_run(&s, 5);
    tell(&s, 1, (tacit_heard){0, 1, far, 5});
    tell(&s, 1, (tacit_heard){0, 1, UINT64_MAX, 5});
    tell(&s, 1, (tacit_heard){0, 1, UINT64_C(1) << 60, 5});
    assert_int_equal(n->incarnation, before + 2001);
    tell(&s, 2, (tacit_heard){0, 5, far, 5}); /* two are */
    assert_int_equal(n->incarnation, far + 1);
    assert_int_equal(n->status, TACIT_OK);
    node_scene_run(&s, 10);
    assert_true(heard(&s, 1) > 0);                          /* and it is understood */
    tell(&s, 1, (tacit_heard){0, 1, UINT64_C(1) << 60, 5}); /* beyond all reason not even two are */
    tell(&s, 2, (tacit_heard){0, 5, UINT64_C(1) << 60, 5});
    assert_int_equal(n->incarnation, far + 1);
    node_scene_clear(&s);
}

/* Liars, however many they are, do not have our signature, and it does not fit elsewhere. */
static void test_liars_cannot_silence_a_node(void **state)
{
    (void)state;
    static const uint8_t other_run[TACIT_NODE_RUN] = "another run....";
    node_scene s;
    open_quiet(&s, TACIT_WAKES);
    for (uint32_t liar = 1; liar <= 2; liar++) {
        show(&s, liar, 0, (tacit_mark){.releases = 1000});
        show(&s, liar, 0, made_up(&s, liar, s.all.run, 0, 1000));
        show(&s, liar, 0, made_up(&s, 0, other_run, 0, 1000));
        show(&s, liar, 0, made_up(&s, 0, s.all.run, 3, 1000)); /* its other agent's */
        tacit_mark raised = made_up(&s, 0, s.all.run, 0, 1);
        raised.releases = 1000;
        show(&s, liar, 0, raised);
        show(&s, liar, 0, (tacit_mark){.releases = UINT64_MAX});
    }
    assert_true(nodes_logged(&s.all, 0, "false_mark", "1000"));
    node_scene_run(&s, 5);
    assert_int_equal(s.all.place[0].node->status, TACIT_OK);
    assert_true(node_scene_releases(&s, 0) > 0);
    show(&s, 1, 0, made_up(&s, 1, s.all.run, 0, 1)); /* nor below what it has */
    assert_int_equal(s.all.place[0].node->status, TACIT_OK);
    node_scene_clear(&s);
}

/* One's own signature is proof, whoever shows it: a neighbour or, in the ring, somebody who is
 * none; under more releases than the ledger has, or under others. */
static void test_one_witness_is_enough(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < 3; turn++) {
        node_scene s;
        tacit_error err = {0};
        node_scene_init_on(&s, TACIT_WAKES, SCENE_AGENTS);
        node_scene_open(&s);
        node_scene_run(&s, 5);
        const uint64_t releases = node_scene_releases(&s, 0);
        assert_true(releases > 1);
        show(&s, turn == 1 ? 3 : 1, 0,
             made_up(&s, 0, s.all.run, 0, turn == 2 ? releases - 1 : releases + 1));
        check_fails(nodes_run(&s.all, 5, &err), TACIT_EVERIFY, &err,
                    turn == 2 ? "another past" : "knows fewer");
        node_scene_clear(&s);
    }
}

/* A peer that says goodbye a thousand times has left once. */
static void test_goodbyes_without_end(void **state)
{
    (void)state;
    node_scene s;
    uint8_t frame[TACIT_WIRE_HEADER];
    open_quiet(&s, TACIT_WAKES);
    tacit_wire_header h = {.kind = TACIT_WIRE_BYE,
                           .protocol = s.protocol.wire_id,
                           .from = TACIT_NOBODY,
                           .to = TACIT_NOBODY};
    memcpy(h.run, s.all.run, sizeof h.run);
    tacit_wire_write(frame, &h);
    const uint64_t lines = s.all.place[0].lines;
    for (int k = 0; k < 1000; k++)
        nodes_inject(&s.all, 1, 0, frame, sizeof frame);
    const probe_agent *p = node_scene_agent(&s, 0);
    assert_int_equal(p->of_type[TACIT_PEER_DOWN], 1);
    assert_int_equal(p->of_type[TACIT_PEER_UP], 0);
    assert_true(s.all.place[0].lines - lines < 3);
    node_scene_clear(&s);
}

/* The largest greeting follows from pairs of agents that talk: 0-1 and 3-4, or 0-5 and 3-2. */
static void test_room_for_greetings(void **state)
{
    (void)state;
    node_scene s;
    open_quiet(&s, TACIT_WAKES);
    assert_int_equal(node_pairs(s.all.place[0].node), 2);
    assert_int_equal(node_greeting_room(s.all.place[0].node),
                     TACIT_WIRE_HEADER + 32 + 2 * 4 + 2 * 24 + 8 * 92);
    node_scene_clear(&s);
    open_quiet(&s, TACIT_CHATTY);
    assert_int_equal(node_pairs(s.all.place[0].node), 4); /* anybody with anybody */
    node_scene_clear(&s);
}

/* Who says that it has heard nothing is told again, once for each time it was asked. */
static void test_answers_count_once(void **state)
{
    (void)state;
    node_scene s;
    open_quiet(&s, TACIT_WAKES);
    node_scene_run(&s, 10);
    const node_peer *peer =
        node_peer_by_key(s.all.place[0].node, s.all.members[1].key); /* hosts 1 and 4 */
    const uint64_t before = peer->resent;
    tell(&s, 1, (tacit_heard){0, 1, 1, 1});     /* which gives the same answer twice */
    assert_int_equal(peer->resent - before, 2); /* 0 to 1, and 3 to 4 */
    node_scene_clear(&s);
}

static void test_what_was_heard_is_no_doubt(void **state)
{
    (void)state;
    node_scene s;
    open_quiet(&s, TACIT_WAKES);
    node_scene_run(&s, 5);
    tacit_node *n = s.all.place[0].node;
    const tacit_mark first = *node_mark(n, node_hosted(n, 0));
    assert_int_equal(first.releases, node_scene_releases(&s, 0));
    show(&s, 1, 0, first);
    node_scene_run(&s, 10);
    show(&s, 2, 0, first);
    show(&s, 2, 0, *node_mark(n, node_hosted(n, 0)));
    assert_int_equal(s.all.place[0].node->status, TACIT_OK);
    node_scene_clear(&s);
}

/* ---- draining a budget ---- */

/* Every request costs a release. */
static tacit_status sell(tacit_env *env, const probe *p, probe_agent *self,
                         const tacit_event *event)
{
    tacit_permit *permit;
    const tacit_cost cost = {.what = "answer"};
    (void)self;
    if (event->type != TACIT_REQUEST)
        return TACIT_OK;
    tacit_status status = tacit_reserve(env, &cost, &permit);
    if (status != TACIT_OK)
        return status;
    tacit_public *word = probe_word(env, p, 1);
    status = tacit_reply(env, event, PROBE_ANSWER, word);
    tacit_drop(env, word);
    return status;
}

static void test_asking_without_end(void **state)
{
    (void)state;
    node_scene s;
    uint8_t frame[256];
    node_scene_init(&s, TACIT_CHATTY);
    s.probe.on = sell;
    for (uint32_t k = 0; k < SCENE_NODES; k++)
        s.all.place[k].options.asked = 7;
    node_scene_open(&s);
    node_scene_run(&s, 0.1);
    for (uint32_t round = 0; round < 50; round++)
        for (uint32_t asker = 1; asker <= 2; asker++) {
            tacit_wire_header h = node_scene_header(&s, asker, 0);
            h.kind = TACIT_WIRE_REQUEST;
            h.request = round + 1;
            nodes_inject(&s.all, asker, 0, frame, node_scene_frame(&s, frame, h, 1));
        }
    assert_int_equal(node_scene_releases(&s, 0), 14); /* seven each */
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_REQUEST), 2 * 43);
    /* Replies nobody asked for. */
    tacit_wire_header h = node_scene_header(&s, 1, 0);
    h.kind = TACIT_WIRE_REPLY;
    h.request = 5;
    nodes_inject(&s.all, 1, 0, frame, node_scene_frame(&s, frame, h, 1));
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_REQUEST), 2 * 43 + 1);
    assert_int_equal(node_scene_agent(&s, 0)->of_type[TACIT_REPLY], 0);
    node_scene_clear(&s);
    /* Nor does it help to ask before the start. */
    node_scene_init(&s, TACIT_CHATTY);
    s.probe.on = sell;
    for (uint32_t k = 0; k < SCENE_NODES; k++)
        s.all.place[k].options.asked = 7;
    tacit_error err = {0};
    check_ok(nodes_open(&s.all, 0, &err), &err);
    for (uint32_t k = 1; k <= 50; k++) {
        h = node_scene_header(&s, 1, 0);
        h.kind = TACIT_WIRE_REQUEST;
        h.sequence = h.request = k;
        nodes_inject(&s.all, 1, 0, frame, node_scene_frame(&s, frame, h, 1));
    }
    assert_int_equal(nodes_agent(&s.all, 0)->heard_count, 0); /* nothing was heard yet */
    node_scene_run(&s, 20);
    assert_int_equal(node_scene_releases(&s, 0), 7);
    node_scene_clear(&s);
    open_quiet(&s, TACIT_WAKES); /* and a protocol without requests hears none */
    h = node_scene_header(&s, 1, 0);
    h.kind = TACIT_WIRE_REQUEST;
    h.request = 1;
    nodes_inject(&s.all, 1, 0, frame, node_scene_frame(&s, frame, h, 1));
    assert_int_equal(node_scene_agent(&s, 0)->of_type[TACIT_REQUEST], 0);
    node_scene_clear(&s);
}

/* ---- clocks ---- */

static void test_clock_jumps(void **state)
{
    (void)state;
    node_scene s;
    open_quiet(&s, TACIT_WAKES);
    node_scene_run(&s, 20);
    tacit_node *n = s.all.place[0].node;
    const double time = n->time;
    const uint64_t ticks = n->traffic.ticks;
    node_advance(n, 3); /* back */
    assert_true(n->time >= time && n->traffic.ticks == ticks);
    node_advance(n, 100000); /* the machine slept: no burst of ticks */
    assert_true(n->traffic.ticks - ticks < 60);
    assert_int_equal(n->status, TACIT_OK);
    for (double t = 100000; t < 100020; t += 0.25)
        node_advance(n, t);
    assert_true(n->traffic.ticks - ticks > 15); /* and it goes on at its pace: 40 expected */
    assert_true(n->traffic.ticks - ticks < 140);
    node_scene_clear(&s);
}

/* A node that is late hears a message before the ticks that were due: no agent sees time go back.
 */
static void test_time_never_goes_back(void **state)
{
    (void)state;
    node_scene s;
    uint8_t frame[256];
    open_quiet(&s, TACIT_WAKES);
    const probe_agent *p = node_scene_agent(&s, 0);
    uint64_t said = 0;
    for (int k = 0; k < 20; k++) { /* late by less than a period: such ticks are not shed */
        s.all.clock += 0.9;
        nodes_inject(&s.all, 1, 0, frame,
                     node_scene_frame(&s, frame, node_scene_header(&s, 1, 0), (double)++said));
        node_advance(s.all.place[0].node, s.all.clock);
    }
    assert_true(p->of_type[TACIT_MESSAGE] == said && p->of_type[TACIT_WAKE] > 5);
    for (uint64_t k = 1; k < p->count && k < PROBE_LOG; k++)
        assert_true(p->log[k].time >= p->log[k - 1].time);
    node_scene_clear(&s);
}

static void test_greetings_that_make_no_sense(void **state)
{
    (void)state;
    node_scene s;
    uint8_t frame[TACIT_WIRE_HEADER + 64];
    dice d = {5};
    open_quiet(&s, 0);
    tacit_wire_header h = {
        .protocol = s.protocol.wire_id, .from = TACIT_NOBODY, .to = TACIT_NOBODY};
    memcpy(h.run, s.all.run, sizeof h.run);
    for (int k = 0; k < 4000; k++) {
        h.kind = (tacit_wire_kind)(TACIT_WIRE_HELLO + dice_below(&d, 7));
        h.payload = (uint32_t)dice_below(&d, 65);
        tacit_wire_write(frame, &h);
        for (uint32_t j = 0; j < h.payload; j++)
            frame[TACIT_WIRE_HEADER + j] = (uint8_t)(dice_below(&d, 4) ? 0 : dice_below(&d, 256));
        nodes_inject(&s.all, 1, 0, frame, TACIT_WIRE_HEADER + h.payload);
        nodes_settle(&s.all);
    }
    assert_int_equal(s.all.place[0].node->status, TACIT_OK);
    assert_true(refused(&s, 0, TACIT_REFUSED_GARBAGE) > 1000);
    node_scene_run(&s, 5);
    node_scene_clear(&s);
}

/* A greeting that says its sender hosts so many agents, from node 1 to node 0. */
static void claim_many(node_scene *s, tacit_wire_kind kind, uint32_t count)
{
    static uint32_t agent[TACIT_GREETING_AGENTS];
    static uint8_t frame[TACIT_WIRE_HEADER + 64 + 4 * TACIT_GREETING_AGENTS];
    for (uint32_t k = 0; k < count; k++)
        agent[k] = 1 + 3 * k; /* its own, then others */
    const tacit_greeting g = {.stamp = 1, .agents = count, .agent = agent};
    tacit_wire_header h = {.kind = kind,
                           .protocol = s->protocol.wire_id,
                           .from = TACIT_NOBODY,
                           .to = TACIT_NOBODY,
                           .incarnation = 1,
                           .payload = (uint32_t)tacit_greeting_bytes(&g)};
    memcpy(h.run, s->all.run, sizeof h.run);
    tacit_wire_write(frame, &h);
    tacit_greeting_encode(frame + TACIT_WIRE_HEADER, &g);
    nodes_inject(&s->all, 1, 0, frame, TACIT_WIRE_HEADER + h.payload);
}

/* Thousands of claims in each greeting: one refusal and no answer each, one line in the log. */
static void test_hellos_with_many_claims(void **state)
{
    (void)state;
    enum { HELLOS = 50, CLAIMS = 16000 };
    node_scene s;
    open_quiet(&s, 0);
    tacit_node *n = s.all.place[0].node;
    n->plan.options = &s.all.place[0].options;
    s.all.place[0].options.log = TACIT_LOG_DEBUG; /* no line each either, but a count */
    const size_t places = n->place_count;
    const uint64_t lines = s.all.place[0].lines;
    for (int k = 0; k < HELLOS; k++)
        claim_many(&s, k % 2 ? TACIT_WIRE_HELLO : TACIT_WIRE_PING, CLAIMS);
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_SENDER), HELLOS);
    assert_true(nodes_logged(&s.all, 0, "frame_refused", "16000 agents"));
    assert_int_equal(s.all.place[0].lines - lines, HELLOS);
    assert_int_equal(n->place_count, places);
    assert_int_equal(s.all.frame_count, 0); /* no answer */
    claim_many(&s, TACIT_WIRE_HELLO, 3);    /* one too many, and one that is somebody else's */
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_SENDER), HELLOS + 1);
    claim_many(&s, TACIT_WIRE_HELLO, 2); /* its own */
    assert_int_equal(refused(&s, 0, TACIT_REFUSED_SENDER), HELLOS + 1);
    assert_int_equal(s.all.frame_count, 1);
    node_scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_right_frame_is_heard),
        cmocka_unit_test(test_speaking_for_others),
        cmocka_unit_test(test_wrong_receivers),
        cmocka_unit_test(test_replays),
        cmocka_unit_test(test_another_run_or_version),
        cmocka_unit_test(test_mutated_frames),
        cmocka_unit_test(test_numbers_that_are_none),
        cmocka_unit_test(test_a_peer_with_an_old_ledger),
        cmocka_unit_test(test_claims_of_later_lives),
        cmocka_unit_test(test_liars_cannot_silence_a_node),
        cmocka_unit_test(test_one_witness_is_enough),
        cmocka_unit_test(test_goodbyes_without_end),
        cmocka_unit_test(test_room_for_greetings),
        cmocka_unit_test(test_answers_count_once),
        cmocka_unit_test(test_what_was_heard_is_no_doubt),
        cmocka_unit_test(test_asking_without_end),
        cmocka_unit_test(test_clock_jumps),
        cmocka_unit_test(test_time_never_goes_back),
        cmocka_unit_test(test_greetings_that_make_no_sense),
        cmocka_unit_test(test_hellos_with_many_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
