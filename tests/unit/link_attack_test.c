/* SPDX-License-Identifier: Apache-2.0 */
/* Links under attack: on the way (flipped, replayed, held back), by strangers at the port, and by
 * a peer that is allowed in and speaks ZeroMQ in ways we never do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include "link_tools.h"
#include "net/link_internal.h"

/* ---- on the way ---- */

enum { WORDS = 3, WORD = 40 };
static char words[WORDS][WORD];

static void prepare_words(void)
{
    dice d = {7};
    for (size_t k = 0; k < WORDS; k++)
        for (size_t i = 0; i < WORD; i++)
            words[k][i] = (char)dice_below(&d, 256);
}

static void connect_by(side *a, const side *b, const proxy *p)
{
    tacit_error err;
    tacit_link_disconnect(a->link, b->id.public_key);
    check_ok(tacit_link_connect(a->link, b->id.public_key, p->endpoint, &err), &err);
}

static unsigned hung; /* connections that were neither closed nor good for anything */

/* All words on one fresh connection through the proxy. Those that arrive must be right and in
 * order; their number. Ends when all are there, or an end gave up, or nothing moves any more. */
static int say_words(side *a, side *b, proxy *p)
{
    proxy_move(p);
    const unsigned closed = p->closed, accepted = p->accepted;
    connect_by(a, b, p);
    for (size_t k = 0; k < WORDS; k++)
        side_send(a, b, words[k], WORD);
    int heard = 0, next = 0;
    tacit_frame f;
    WAIT_UNTIL(heard == WORDS || p->closed > closed ||
               (p->accepted > accepted && real_time() - p->last > 0.1))
    while (take_if_any(b, 0, &f)) {
        while (next < WORDS && (f.len != WORD || memcmp(f.bytes, words[next], WORD) != 0))
            next++;
        assert_true(next++ < WORDS); /* else it is changed, repeated or out of order */
        assert_memory_equal(f.from, a->id.public_key, sizeof f.from);
        tacit_frame_free(&f);
        heard++;
    }
    hung += heard < WORDS && p->closed == closed;
    tacit_link_disconnect(a->link, b->id.public_key);
    while (take_if_any(b, 0, &f)) { /* what came in with the last bytes */
        assert_true(f.len == WORD && next < WORDS && memcmp(f.bytes, words[next], WORD) == 0);
        tacit_frame_free(&f);
        next++;
        heard++;
    }
    return heard;
}

static void test_every_byte_flipped(void **state)
{
    (void)state;
    prepare_words();
    side a = {0}, b = {0};
    proxy p;
    tacit_error err;
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&b, &o);
    proxy_open(&p, &b);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    assert_int_equal(say_words(&a, &b, &p), WORDS);
    const size_t stream[2] = {p.passed[TO_SERVER], p.passed[TO_CLIENT]};
    assert_true(stream[TO_SERVER] > 600 && stream[TO_CLIENT] > 250);
    dice d = {SLOW ? 2 : 1};
    size_t flips = 0, spoilt = 0;
    hung = 0;
    for (int direction = 0; direction < 2; direction++)
        for (size_t at = 0; at < stream[direction]; at += SLOW ? 1 + dice_below(&d, 12) : 1) {
            p.flip_at[direction] = at;
            p.flip_by = (uint8_t)(1 + dice_below(&d, 255));
            spoilt += say_words(&a, &b, &p) < WORDS;
            flips++;
            p.flip_at[direction] = SIZE_MAX;
        }
    /* What does no harm: padding of the greeting, and most of what comes after the handshake. */
    assert_true(spoilt > flips / 2);
    assert_true(hung < flips / 20); /* a length that is changed makes an end wait for more */
    assert_int_equal(say_words(&a, &b, &p), WORDS);
    proxy_close(&p);
    side_close(&a);
    side_close(&b);
}

static void send_until_heard(side *a, side *b)
{
    tacit_frame f;
    tacit_error err;
    WAIT_UNTIL(take_if_any(b, 0, &f))
    tacit_link_send(a->link, b->id.public_key, "again", 5, NULL, 0, &err);
    assert_int_equal(f.len, 5);
    assert_memory_equal(f.bytes, "again", 5);
    tacit_frame_free(&f);
}

/* One garbled answer makes ZeroMQ's client give up for good. Ours does not. */
static void test_comes_back_after_garbling(void **state)
{
    (void)state;
    side a = {0}, b = {0};
    proxy p;
    tacit_error err;
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&b, &o);
    proxy_open(&p, &b);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    p.flip_at[TO_CLIENT] = 150; /* within the server's WELCOME */
    p.flip_by = 1;
    connect_by(&a, &b, &p);
    WAIT_UNTIL(p.closed >= 2); /* it tried again */
    p.flip_at[TO_CLIENT] = SIZE_MAX;
    proxy_hang_up(&p);
    send_until_heard(&a, &b);
    proxy_close(&p);
    side_close(&a);
    side_close(&b);
}

/* What went over one connection says nothing on another: keys are made for each. */
static void test_replay(void **state)
{
    (void)state;
    prepare_words();
    side a = {0}, b = {0};
    proxy p;
    tacit_error err;
    tacit_frame f;
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&b, &o);
    proxy_open(&p, &b);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    p.recording = true;
    assert_int_equal(say_words(&a, &b, &p), WORDS);
    uint8_t *bytes = p.record[TO_SERVER];
    const size_t len = p.recorded[TO_SERVER];
    assert_true(len > 600);
    /* All at once, and with time for the server's answers in between. */
    for (size_t piece = len; piece >= 50; piece = piece / 3) {
        const uint64_t refused = tacit_link_totals(b.link).refused;
        int fd = raw_connect(&b);
        size_t sent = 0;
        WAIT_UNTIL((assert_false(take_if_any(&b, 0, &f)), raw_closed(fd)))
        {
            size_t n = len - sent < piece ? len - sent : piece;
            if (n > 0 && send(fd, bytes + sent, n, MSG_NOSIGNAL) == (ssize_t)n)
                sent += n;
            for (int k = 0; k < 20; k++)
                move_on();
        }
        close(fd);
        WAIT_UNTIL(tacit_link_totals(b.link).refused > refused);
    }
    assert_int_equal(tacit_link_totals(b.link).accepted, 1);
    p.recording = false;
    assert_int_equal(say_words(&a, &b, &p), WORDS);
    proxy_close(&p);
    side_close(&a);
    side_close(&b);
}

/* ---- at the port ---- */

static const uint8_t greeting[64] = {0xff, 0, 0, 0,   0,   0,   0,   0,  1,
                                     0x7f, 3, 0, 'C', 'U', 'R', 'V', 'E'};

static void test_garbage(void **state)
{
    (void)state;
    enum { GUESTS = 40 };
    side a = {0}, b = {0};
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&b, &o);
    side_connect(&a, &b);
    side_send(&a, &b, "first", 5);
    expect_frame(&b, &a, "first", 5);
    const uint64_t refused = tacit_link_totals(b.link).refused;
    dice d = {3};
    int guest[GUESTS];
    size_t dripped[GUESTS] = {0};
    for (int k = 0; k < GUESTS; k++) {
        guest[k] = raw_connect(&b);
        uint8_t bytes[600];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)dice_below(&d, 256);
        size_t len = dice_below(&d, sizeof bytes);
        if (k % 4 == 1) /* a greeting, then garbage */
            memcpy(bytes, greeting, sizeof greeting);
        if (k % 4 == 2) { /* a greeting, and the beginning of a long command */
            memcpy(bytes, greeting, sizeof greeting);
            memcpy(bytes + 64, "\x06\x00\x00\x00\x00\x7f\xff\xff\xff\x05HELLO", 15);
            len = 79;
        }
        if (k % 4 == 3) /* half a greeting, and it drips on below */
            len = 0;
        assert_int_equal(send(guest[k], bytes, len, MSG_NOSIGNAL), (ssize_t)len);
    }
    for (int k = 0; k < 200; k++) {
        for (int g = 3; g < GUESTS; g += 4)
            if (dripped[g] < 63 && k % 4 == 0)
                dripped[g] +=
                    send(guest[g], greeting + dripped[g], 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
        side_send(&a, &b, &k, sizeof k);
        expect_frame(&b, &a, &k, sizeof k);
    }
    WAIT_UNTIL(tacit_link_totals(b.link).refused >= refused + GUESTS / 8);
    for (int k = 0; k < GUESTS; k++)
        close(guest[k]);
    side_send(&a, &b, "last", 4);
    expect_frame(&b, &a, "last", 4);
    assert_int_equal(tacit_link_totals(b.link).accepted, 1);
    side_close(&a);
    side_close(&b);
}

/* So many connections without a key, as if from 127.0.0.HOST. They say nothing, or a greeting and
 * most of a command, which are more bytes than a right handshake has. */
enum { FLOOD = 100 };
static void flood(const side *b, int host, bool talk, int guest[FLOOD])
{
    static uint8_t bytes[64 + 9 + 800];
    const uint64_t refused = tacit_link_totals(b->link).refused;
    memcpy(bytes, greeting, sizeof greeting);
    memcpy(bytes + 64, "\x06\x00\x00\x00\x00\x00\x00\x03\xe8\x05HELLO", 15); /* of 1000 bytes */
    for (int k = 0; k < FLOOD; k++) {
        guest[k] = raw_connect_from(b, host);
        if (talk)
            assert_int_equal(send(guest[k], bytes, sizeof bytes, MSG_NOSIGNAL), sizeof bytes);
        move_on();
    }
    WAIT_UNTIL(tacit_link_totals(b->link).refused >= refused + 60);
}

static int still_open(const int guest[FLOOD])
{
    int open = 0;
    for (int k = 0; k < FLOOD; k++)
        open += !raw_closed(guest[k]);
    return open;
}

static void close_all(const int guest[FLOOD])
{
    for (int k = 0; k < FLOOD; k++)
        close(guest[k]);
}

/* A peer far away is in the middle of its handshake, or has passed it and not yet said anything,
 * while others who have no key connect as fast as they can: from another host, and from its own. */
static void test_a_slow_handshake_in_a_flood(void **state)
{
    (void)state;
    /* The peer's greeting, its HELLO, and all but the last byte of its INITIATE. */
    static const size_t stage[] = {64, 64 + 202, 64 + 202 + 280};
    side a = {0}, b = {0};
    proxy p;
    tacit_error err;
    int guest[FLOOD];
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&b, &o);
    proxy_open(&p, &b);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    for (int host = 1; host <= 2; host++)
        for (size_t k = 0; k < sizeof stage / sizeof *stage; k++) {
            const uint64_t accepted = tacit_link_totals(b.link).accepted;
            const unsigned closed = p.closed;
            p.hold_after[TO_SERVER] = stage[k];
            connect_by(&a, &b, &p);
            WAIT_UNTIL(p.passed[TO_SERVER] == stage[k]);
            flood(&b, host, false, guest);
            assert_int_equal(p.closed, closed); /* it was not sent away */
            p.hold_after[TO_SERVER] = SIZE_MAX;
            WAIT_UNTIL(tacit_link_totals(b.link).accepted > accepted &&
                       p.passed[TO_CLIENT] > 64 + 170 + 12); /* READY comes */
            close_all(guest);
            flood(&b, host, true, guest); /* its key has passed, and it has said nothing yet */
            assert_int_equal(p.closed, closed);
            side_send(&a, &b, "first", 5);
            expect_frame(&b, &a, "first", 5);
            assert_int_equal(tacit_link_totals(b.link).accepted, accepted + 1);
            close_all(guest);
            tacit_link_disconnect(a.link, b.id.public_key);
            WAIT_UNTIL(p.closed > closed);
            p.passed[TO_SERVER] = 0;
        }
    proxy_close(&p);
    side_close(&a);
    side_close(&b);
}

/* One address does not use up what is there for all. */
static void test_connections_of_a_source(void **state)
{
    (void)state;
    enum { FEW = 10 };
    side b = {0};
    int few[FEW], guest[FLOOD];
    tacit_link_options o = wide_options();
    side_open(&b, &o);
    for (int k = 0; k < FEW; k++) {
        few[k] = raw_connect_from(&b, 3);
        move_on();
    }
    flood(&b, 2, false, guest);
    const int open = still_open(guest);
    assert_in_range(open, 10, 40);
    for (int k = 0; k < FEW; k++) {
        assert_false(raw_closed(few[k]));
        close(few[k]);
    }
    close_all(guest);
    side_close(&b);
}

/* More connections than peers could need: some that said nothing go. */
static void test_too_many_connections(void **state)
{
    (void)state;
    enum { GUESTS = 200 };
    side a = {0}, b = {0};
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&b, &o);
    side_connect(&a, &b);
    side_send(&a, &b, "first", 5);
    expect_frame(&b, &a, "first", 5);
    int guest[GUESTS], closed = 0;
    for (int k = 0; k < GUESTS; k++) {
        guest[k] = raw_connect(&b);
        move_on();
    }
    /* Long before ZeroMQ's own limit of ten seconds. */
    double end = real_time() + 5;
    WAIT_UNTIL(closed >= GUESTS - 70 || real_time() > end)
    {
        closed = 0;
        for (int k = 0; k < GUESTS; k++)
            closed += raw_closed(guest[k]);
    }
    assert_true(closed >= GUESTS - 70 && closed < GUESTS);
    side_send(&a, &b, "last", 4);
    expect_frame(&b, &a, "last", 4);
    assert_int_equal(tacit_link_totals(b.link).accepted, 1); /* its connection was never cut */
    for (int k = 0; k < GUESTS; k++)
        close(guest[k]);
    side_close(&a);
    side_close(&b);
}

/* Somebody has many addresses and makes one bare connection from each. Whether the address of a
 * peer in the middle of its handshake is lower than those, among them or higher: it stays. */
static void test_a_handshake_among_many_sources(void **state)
{
    (void)state;
    enum { FIRST = 900, SILENT = 100, ROOM = 76, ALL = FIRST + SILENT + 1 };
    tacit_link *link = calloc(1, sizeof *link);
    link_connection *item = calloc(ALL, sizeof *item);
    assert_true(link && item);
    link->watch.item = item;
    link->watch.count = ALL;
    for (size_t k = 0; k <= SILENT; k++) { /* no such descriptors: the kernel knows none of them */
        item[FIRST + k].number = k + 1;
        item[FIRST + k].source[0] = 0x20;
        item[FIRST + k].source[7] = (uint8_t)(2 * k);
    }
    link_connection *honest = &item[FIRST + SILENT];
    honest->arrived = 500;
    static const uint8_t low[LINK_SOURCE] = {[10] = 0xff, [11] = 0xff, [12] = 10},
                         among[LINK_SOURCE] = {0x20, [7] = 101},
                         high[LINK_SOURCE] = {0x20, [7] = 255};
    const uint8_t *const place[] = {low, among, high};
    for (size_t k = 0; k < sizeof place / sizeof *place; k++) {
        memcpy(honest->source, place[k], LINK_SOURCE);
        for (int i = 0; i < 200; i++) {
            const int go = link_guest_to_go(link, ROOM);
            assert_true(go >= FIRST && go < FIRST + SILENT);
        }
    }
    item[FIRST].source[7] = 2; /* an address with two of them: it loses one, and no other does */
    for (int i = 0; i < 200; i++)
        assert_in_range(link_guest_to_go(link, ROOM), FIRST, FIRST + 1);
    free(item);
    free(link);
}

/* ---- ZeroMQ, but not as we speak it ---- */

static void test_plaintext(void **state)
{
    (void)state;
    side a = {0}, b = {0};
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    o.open = true; /* even then */
    side_open(&b, &o);
    side_connect(&a, &b);
    void *context = zmq_ctx_new(), *null = zmq_socket(context, ZMQ_PUSH),
         *plain = zmq_socket(context, ZMQ_PUSH);
    zmq_setsockopt(null, ZMQ_LINGER, &(int){0}, sizeof(int));
    zmq_setsockopt(plain, ZMQ_LINGER, &(int){0}, sizeof(int));
    zmq_setsockopt(plain, ZMQ_PLAIN_USERNAME, "a", 1);
    zmq_setsockopt(plain, ZMQ_PLAIN_PASSWORD, "b", 1);
    assert_int_equal(zmq_connect(null, tacit_link_endpoint(b.link)), 0);
    assert_int_equal(zmq_send(null, "null", 4, ZMQ_DONTWAIT), 4);
    WAIT_UNTIL(tacit_link_totals(b.link).refused >= 1);
    const uint64_t refused = tacit_link_totals(b.link).refused;
    assert_int_equal(zmq_connect(plain, tacit_link_endpoint(b.link)), 0);
    assert_int_equal(zmq_send(plain, "plain", 5, ZMQ_DONTWAIT), 5);
    WAIT_UNTIL(tacit_link_totals(b.link).refused >= refused + 1);
    side_send(&a, &b, "curve", 5);
    expect_frame(&b, &a, "curve", 5);
    tacit_frame f;
    assert_false(take_if_any(&b, 0, &f));
    assert_int_equal(tacit_link_totals(b.link).accepted, 1);
    zmq_close(null);
    zmq_close(plain);
    zmq_ctx_term(context);
    side_close(&a);
    side_close(&b);
}

/* A socket with the keys of `a` that does as it likes. */
static void disguise(void *s, const side *a, const side *b, const char *endpoint)
{
    zmq_setsockopt(s, ZMQ_LINGER, &(int){0}, sizeof(int));
    zmq_setsockopt(s, ZMQ_CURVE_PUBLICKEY, a->id.curve_public, 32);
    zmq_setsockopt(s, ZMQ_CURVE_SECRETKEY, a->id.curve_secret, 32);
    zmq_setsockopt(s, ZMQ_CURVE_SERVERKEY, b->id.curve_public, 32);
    assert_int_equal(zmq_connect(s, endpoint), 0);
}

static void *rogue(void *context, const side *a, const side *b, const char *endpoint)
{
    void *s = zmq_socket(context, ZMQ_PUSH);
    assert_non_null(s);
    disguise(s, a, b, endpoint);
    return s;
}

/* A peer that takes all connections there are: others still get theirs. */
static void test_hogging(void **state)
{
    (void)state;
    enum { HOGS = 64 + 2 * 4 }; /* all that a link with two peers lets in */
    side a = {0}, b = {0}, c = {0};
    tacit_error err;
    tacit_link_options o = wide_options();
    side_open(&b, &o);
    side_open(&c, &o);
    check_ok(tacit_identity_fresh(&a.id, &err), &err);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    check_ok(tacit_link_allow(b.link, c.id.public_key, &err), &err);
    void *context = zmq_ctx_new(), *s[HOGS];
    for (int k = 0; k < HOGS; k++) {
        s[k] = rogue(context, &a, &b, tacit_link_endpoint(b.link));
        assert_int_equal(zmq_send(s[k], &k, sizeof k, ZMQ_DONTWAIT), sizeof k);
        expect_frame(&b, &a, &k, sizeof k);
    }
    side_connect(&c, &b);
    side_send(&c, &b, "honest", 6);
    expect_frame(&b, &c, "honest", 6);
    for (int k = 0; k < HOGS; k++)
        zmq_close(s[k]);
    zmq_ctx_term(context);
    side_close(&b);
    side_close(&c);
}

/* The four latest connections of a key stay, and those of other keys, however old. */
static void test_connections_of_a_key(void **state)
{
    (void)state;
    enum { MADE = 7, KEPT = 4 };
    side a = {0}, b = {0}, c = {0};
    tacit_error err;
    tacit_link_options o = wide_options();
    side_open(&b, &o);
    side_open(&c, &o);
    side_connect(&c, &b);
    side_send(&c, &b, "first", 5);
    expect_frame(&b, &c, "first", 5);
    check_ok(tacit_identity_fresh(&a.id, &err), &err);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    void *context = zmq_ctx_new(), *s[MADE];
    for (int k = 0; k < MADE; k++) {
        s[k] = zmq_socket(context, ZMQ_PUSH);
        zmq_setsockopt(s[k], ZMQ_RECONNECT_IVL, &(int){-1}, sizeof(int)); /* closed is closed */
        disguise(s[k], &a, &b, tacit_link_endpoint(b.link));
        assert_int_equal(zmq_send(s[k], &k, sizeof k, ZMQ_DONTWAIT), sizeof k);
        expect_frame(&b, &a, &k, sizeof k);
        const int closed = k < KEPT ? 0 : k + 1 - KEPT;
        assert_int_equal(tacit_link_totals(b.link).refused, closed);
    }
    for (int k = MADE - KEPT; k < MADE; k++) {
        assert_int_equal(zmq_send(s[k], &k, sizeof k, ZMQ_DONTWAIT), sizeof k);
        expect_frame(&b, &a, &k, sizeof k);
    }
    side_send(&c, &b, "last", 4);
    expect_frame(&b, &c, "last", 4);
    assert_int_equal(tacit_link_totals(b.link).accepted, 1 + MADE); /* nobody came twice */
    for (int k = 0; k < MADE; k++)
        zmq_close(s[k]);
    zmq_ctx_term(context);
    side_close(&b);
    side_close(&c);
}

static void test_many_parts(void **state)
{
    (void)state;
    side a = {0}, b = {0};
    tacit_error err;
    tacit_link_options o = wide_options();
    side_open(&b, &o);
    check_ok(tacit_identity_fresh(&a.id, &err), &err);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    void *context = zmq_ctx_new(), *s = rogue(context, &a, &b, tacit_link_endpoint(b.link));
    for (int k = 0; k < 10; k++) {
        for (int part = 0; part < k; part++)
            zmq_send(s, "part", 4, ZMQ_SNDMORE);
        zmq_send(s, &k, sizeof k, 0);
    }
    zmq_send(s, "whole", 5, 0);
    int k = 0;
    expect_frame(&b, &a, &k, sizeof k); /* one part */
    expect_frame(&b, &a, "whole", 5);
    zmq_close(s);
    zmq_ctx_term(context);
    side_close(&b);
}

/* A message of many parts whose last one never comes would be kept for ever. The proxy holds it
 * back, since ZeroMQ itself sends all or nothing. */
static void test_endless_parts(void **state)
{
    (void)state;
    enum { PART = 1 << 20, PARTS = 40, HELD = 24 << 20 };
    side a = {0}, b = {0}, c = {0};
    proxy p;
    tacit_error err;
    tacit_frame f;
    tacit_link_options o = wide_options();
    o.queue = 2;
    side_open(&b, &o);
    side_open(&c, &o);
    side_connect(&c, &b);
    proxy_open(&p, &b);
    check_ok(tacit_identity_fresh(&a.id, &err), &err);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    void *context = zmq_ctx_new(), *s = rogue(context, &a, &b, p.endpoint);
    zmq_send(s, "first", 5, 0);
    expect_frame(&b, &a, "first", 5);
    p.hold_after[TO_SERVER] = HELD;
    void *part = calloc(PART, 1);
    for (int k = 0; k < PARTS; k++)
        assert_int_equal(zmq_send(s, part, PART, ZMQ_SNDMORE), PART);
    assert_int_equal(zmq_send(s, part, PART, 0), PART);
    free(part);
    WAIT_UNTIL((assert_false(take_if_any(&b, 0, &f)), p.closed >= 1)); /* by the server */
    assert_true(tacit_link_totals(b.link).refused >= 1);
    side_send(&c, &b, "other", 5);
    expect_frame(&b, &c, "other", 5);
    zmq_close(s);
    zmq_ctx_term(context);
    proxy_close(&p);
    side_close(&b);
    side_close(&c);
}

/* More than queue and buffers while we are away: cut off. Then it may connect again. */
static void test_backlog(void **state)
{
    (void)state;
    enum { LEN = 1 << 16, FRAMES = 600 }; /* 39 MB; 17.3 MiB are allowed */
    side a = {0}, b = {0};
    proxy p;
    tacit_frame f;
    tacit_error err;
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    o.frame_max = LEN;
    o.queue = 20;
    side_open(&b, &o);
    proxy_open(&p, &b);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    connect_by(&a, &b, &p);
    side_send(&a, &b, "x", 1);
    expect_frame(&b, &a, "x", 1);
    uint8_t *bytes = calloc(LEN, 1);
    for (uint32_t k = 1; k <= FRAMES; k++) {
        memcpy(bytes, &k, sizeof k);
        check_ok(tacit_link_send(a.link, b.id.public_key, bytes, LEN, NULL, 0, &err), &err);
    }
    free(bytes);
    /* ZeroMQ's thread takes it all in. */
    for (double end = real_time() + 60; p.passed[TO_SERVER] < (size_t)30 << 20; proxy_step(&p))
        assert_true(real_time() < end);
    usleep(200 * 1000); /* so that b looks as soon as it is back */
    uint32_t last = 0;
    bool again = false;
    WAIT_UNTIL(again)
    {
        if (tacit_link_totals(b.link).accepted >= 2)
            tacit_link_send(a.link, b.id.public_key, "again", 5, NULL, 0, &err);
        while (take_if_any(&b, 0, &f)) {
            uint32_t number;
            memcpy(&number, f.bytes, sizeof number);
            again = f.len == 5;
            assert_true(again || (f.len == LEN && number > last)); /* whole and in order */
            last = number;
            tacit_frame_free(&f);
            if (again)
                break;
        }
    }
    assert_true(tacit_link_totals(b.link).refused >= 1);
    assert_true(p.closed >= 1);
    assert_true(COUNT(&b, &a, frames_in) < FRAMES); /* something was lost */
    proxy_close(&p);
    side_close(&a);
    side_close(&b);
}

/* A peer with heartbeats that fills our queue and hangs up: ZeroMQ 4.3.4 would end the process if
 * it had stopped reading. Must be the last test, for what it looks like when it fails. */
static void test_heartbeats_and_hanging_up(void **state)
{
    (void)state;
    side a = {0}, b = {0};
    tacit_error err;
    tacit_link_options o = wide_options();
    o.queue = 2;
    side_open(&b, &o);
    check_ok(tacit_identity_fresh(&a.id, &err), &err);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    for (int k = 0; k < 5; k++) {
        void *context = zmq_ctx_new(), *s = zmq_socket(context, ZMQ_PUSH);
        zmq_setsockopt(s, ZMQ_HEARTBEAT_IVL, &(int){1}, sizeof(int));
        zmq_setsockopt(s, ZMQ_HEARTBEAT_TIMEOUT, &(int){60000}, sizeof(int));
        disguise(s, &a, &b, tacit_link_endpoint(b.link));
        zmq_send(s, "first", 5, 0);
        expect_frame(&b, &a, "first", 5);
        for (int i = 0; i < 8; i++) {
            zmq_send(s, &i, sizeof i, 0);
            usleep(1500);
        }
        usleep(20000);
        zmq_close(s);
        zmq_ctx_term(context);
        usleep(20000);
        for (int i = 0; i < 8; i++)
            expect_frame(&b, &a, &i, sizeof i);
    }
    side_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_every_byte_flipped, link_tools_begin),
        cmocka_unit_test_setup(test_comes_back_after_garbling, link_tools_begin),
        cmocka_unit_test_setup(test_replay, link_tools_begin),
        cmocka_unit_test_setup(test_garbage, link_tools_begin),
        cmocka_unit_test_setup(test_too_many_connections, link_tools_begin),
        cmocka_unit_test_setup(test_a_slow_handshake_in_a_flood, link_tools_begin),
        cmocka_unit_test_setup(test_connections_of_a_source, link_tools_begin),
        cmocka_unit_test(test_a_handshake_among_many_sources),
        cmocka_unit_test_setup(test_plaintext, link_tools_begin),
        cmocka_unit_test_setup(test_hogging, link_tools_begin),
        cmocka_unit_test_setup(test_connections_of_a_key, link_tools_begin),
        cmocka_unit_test_setup(test_many_parts, link_tools_begin),
        cmocka_unit_test_setup(test_endless_parts, link_tools_begin),
        cmocka_unit_test_setup(test_backlog, link_tools_begin),
        cmocka_unit_test_setup(test_heartbeats_and_hanging_up, link_tools_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
