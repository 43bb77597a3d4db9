/* SPDX-License-Identifier: Apache-2.0 */
/* What peers have sent and nobody has taken yet: bounded for each key, over all its connections,
 * and for all of them together. */
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "link_tools.h"
#include "net/link_internal.h"

enum { LEN = 1 << 16, MEGABYTE = 1 << 20, ROUND = 8 * MEGABYTE, FRAMES = ROUND / LEN };

static void *rogue(void *context, const side *a, const side *b, const char *endpoint)
{
    void *s = zmq_socket(context, ZMQ_PUSH);
    assert_non_null(s);
    zmq_setsockopt(s, ZMQ_LINGER, &(int){0}, sizeof(int));
    zmq_setsockopt(s, ZMQ_RECONNECT_IVL, &(int){-1}, sizeof(int)); /* closed is closed */
    zmq_setsockopt(s, ZMQ_CURVE_PUBLICKEY, a->id.curve_public, 32);
    zmq_setsockopt(s, ZMQ_CURVE_SECRETKEY, a->id.curve_secret, 32);
    zmq_setsockopt(s, ZMQ_CURVE_SERVERKEY, b->id.curve_public, 32);
    assert_int_equal(zmq_connect(s, endpoint), 0);
    return s;
}

static void send_frames(void *s, int count)
{
    static uint8_t bytes[LEN];
    for (int k = 0; k < count; k++)
        assert_int_equal(zmq_send(s, bytes, LEN, ZMQ_DONTWAIT), LEN);
}

/* Until b has looked at its connections again. */
static void let_it_look(void)
{
    const double end = real_time() + 0.15;
    WAIT_UNTIL(real_time() > end);
}

static void open_server(side *b, uint64_t input)
{
    tacit_link_options o = wide_options();
    o.frame_max = LEN;
    o.queue = 20; /* 17.3 MiB for each peer */
    o.input = input;
    side_open(b, &o);
}

static void allow_fresh(side *b, side *a)
{
    tacit_error err;
    check_ok(tacit_identity_fresh(&a->id, &err), &err);
    check_ok(tacit_link_allow(b->link, a->id.public_key, &err), &err);
}

/* Eight megabytes over each of six connections, one after the other, while nobody takes anything:
 * what a closed one has brought counts as well. */
static void test_closed_connections_count(void **state)
{
    (void)state;
    enum { ROUNDS = 6 };
    side a = {0}, b = {0};
    proxy p;
    tacit_frame f;
    size_t through = 0;
    open_server(&b, 0);
    allow_fresh(&b, &a);
    proxy_open(&p, &b);
    void *context = zmq_ctx_new();
    for (int k = 0; k < ROUNDS; k++) {
        const unsigned closed = p.closed, accepted = p.accepted;
        void *s = rogue(context, &a, &b, p.endpoint);
        send_frames(s, FRAMES);
        WAIT_UNTIL(p.accepted > accepted && (p.passed[TO_SERVER] >= ROUND || p.closed > closed));
        through += p.passed[TO_SERVER];
        let_it_look();
        zmq_close(s);
        WAIT_UNTIL(p.closed > closed);
        let_it_look();
    }
    print_message("%zu MB got through\n", through / MEGABYTE);
    assert_in_range(through, 8 * MEGABYTE, 26 * MEGABYTE);
    assert_in_range(tacit_link_totals(b.link).waiting, 16 * MEGABYTE, 40 * MEGABYTE);
    uint64_t taken = 0;
    while (take_if_any(&b, real_time(), &f)) {
        taken++;
        tacit_frame_free(&f);
    }
    assert_in_range(taken, FRAMES, 26 * MEGABYTE / LEN);
    /* All of it was taken: it may come again. */
    void *s = rogue(context, &a, &b, tacit_link_endpoint(b.link));
    let_it_look();
    zmq_send(s, "again", 5, 0);
    expect_frame(&b, &a, "again", 5);
    zmq_close(s);
    zmq_ctx_term(context);
    proxy_close(&p);
    side_close(&b);
}

/* Several peers, each below its own bound, but not all together. */
static void test_all_together(void **state)
{
    (void)state;
    enum { PEERS = 3 };
    side a[PEERS] = {0}, b = {0}, c = {0};
    tacit_frame f;
    tacit_link_options o = wide_options();
    open_server(&b, 12 * MEGABYTE);
    side_open(&c, &o);
    void *context = zmq_ctx_new(), *s[PEERS];
    for (int k = 0; k < PEERS; k++)
        allow_fresh(&b, &a[k]);
    for (int k = 0; k < PEERS; k++) {
        const uint64_t before = tacit_link_totals(b.link).waiting;
        s[k] = rogue(context, &a[k], &b, tacit_link_endpoint(b.link));
        send_frames(s[k], 5 * FRAMES / 8); /* five megabytes */
        WAIT_UNTIL(tacit_link_totals(b.link).waiting >= before + 5 * MEGABYTE ||
                   tacit_link_totals(b.link).refused > 0);
    }
    WAIT_UNTIL(tacit_link_totals(b.link).refused >= 1); /* those above the mean */
    assert_int_equal(tacit_link_totals(b.link).accepted, PEERS);
    assert_true(tacit_link_totals(b.link).waiting > 12 * MEGABYTE);
    assert_true(tacit_link_totals(b.link).waiting < 24 * MEGABYTE);
    /* Who has something waiting is not let in again, who has nothing is. */
    const uint64_t accepted = tacit_link_totals(b.link).accepted,
                   refused = tacit_link_totals(b.link).refused;
    void *again = rogue(context, &a[0], &b, tacit_link_endpoint(b.link));
    WAIT_UNTIL(tacit_link_totals(b.link).refused > refused);
    assert_int_equal(tacit_link_totals(b.link).accepted, accepted);
    side_connect(&c, &b);
    side_send(&c, &b, "honest", 6);
    bool heard = false;
    WAIT_UNTIL(heard)
    while (take_if_any(&b, real_time(), &f)) {
        heard = heard || f.len == 6;
        tacit_frame_free(&f);
    }
    zmq_close(again);
    for (int k = 0; k < PEERS; k++)
        zmq_close(s[k]);
    zmq_ctx_term(context);
    side_close(&b);
    side_close(&c);
}

/* A peer comes and goes while another keeps the link busy, so that something always waits. What
 * may have come last over each of its connections does not keep it out for ever; but as long as
 * nobody takes frames, it stays in the count. */
static void test_tails_fade(void **state)
{
    (void)state;
    enum { ENDS = 6, LOOKS = 400 };
    tacit_error err;
    tacit_identity id;
    link_peer *p;
    double now = 1000;
    tacit_link *link = calloc(1, sizeof *link);
    assert_non_null(link);
    link->o.frame_max = LEN;
    link->o.queue = 20;
    check_ok(tacit_identity_fresh(&id, &err), &err);
    check_ok(link_table_init(&link->peers, &err), &err);
    check_ok(link_add(&link->peers, id.public_key, &p, &err), &err);
    link_connection c = {.number = 1, .passed = true, .named = true, .arrived = 600};
    memcpy(c.user, p->user, sizeof c.user);
    link_bytes_look(link, now);
    for (int k = 0; k < ENDS; k++)
        link_bytes_leave(link, &c, false);
    for (int k = 0; k < LOOKS; k++)
        link_bytes_look(link, now += LINK_LOOK);
    link_bytes_look(link, now += 3600);
    assert_false(link_bytes_room(link, p));
    link->received++; /* after such a pause, one frame does not make up for it */
    link_bytes_look(link, now += 3600);
    assert_false(link_bytes_room(link, p));
    for (int k = 0; k < LOOKS; k++) {
        link->received++;
        link_bytes_look(link, now += LINK_LOOK);
    }
    assert_true(link_bytes_room(link, p));
    assert_int_equal(link->counts.waiting, ENDS * c.arrived); /* what was counted stays */
    link_table_clear(&link->peers);
    free(link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_closed_connections_count, link_tools_begin),
        cmocka_unit_test_setup(test_all_together, link_tools_begin),
        cmocka_unit_test_setup(test_tails_fade, link_tools_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
