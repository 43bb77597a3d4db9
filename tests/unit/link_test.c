/* SPDX-License-Identifier: Apache-2.0 */
/* Links: frames arrive whole, from who sent them, within the limits, and from nobody else. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "link_tools.h"
#include "net/link_internal.h"

static void fill(uint8_t *bytes, size_t len, uint64_t seed)
{
    dice d = {seed};
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)dice_below(&d, 256);
}

static void test_both_ways(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 33, 254, 255, 256, 8191, 8192, 8193, 300000, 1 << 20};
    enum { COUNT_OF_SIZES = sizeof sizes / sizeof *sizes };
    side a = {0}, b = {0};
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&b, &o);
    side_connect(&a, &b);
    side_connect(&b, &a);
    uint8_t *bytes = malloc(1 << 20);
    uint64_t sum = 0;
    for (size_t k = 0; k < COUNT_OF_SIZES; k++) {
        fill(bytes, sizes[k], k);
        side_send(&a, &b, bytes, sizes[k]);
        side_send(&b, &a, bytes, sizes[k]);
        expect_frame(&b, &a, bytes, sizes[k]);
        expect_frame(&a, &b, bytes, sizes[k]);
        sum += sizes[k];
    }
    assert_int_equal(COUNT(&a, &b, frames_in), COUNT_OF_SIZES);
    assert_int_equal(COUNT(&a, &b, frames_out), COUNT_OF_SIZES);
    assert_int_equal(COUNT(&b, &a, bytes_in), sum);
    assert_int_equal(COUNT(&b, &a, bytes_out), sum);
    assert_int_equal(tacit_link_totals(a.link).accepted, 1);
    assert_int_equal(tacit_link_totals(a.link).refused, 0);
    tacit_error err;
    check_fails(tacit_link_send(a.link, b.id.public_key, bytes, 1 << 20, bytes, 1, &err),
                TACIT_EINPUT, &err, "1048576");
    check_fails(tacit_link_send(a.link, b.id.public_key, bytes, SIZE_MAX, bytes, 2, &err),
                TACIT_EINPUT, &err, "most");
    free(bytes);
    side_close(&a);
    side_close(&b);
}

/* We expect another key than the peer has: no handshake, and the frames wait in vain. */
static void test_wrong_server_key(void **state)
{
    (void)state;
    side a = {0}, b = {0}, c = {0};
    tacit_error err;
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&b, &o);
    check_ok(tacit_identity_fresh(&c.id, &err), &err);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    check_ok(tacit_link_connect(a.link, c.id.public_key, tacit_link_endpoint(b.link), &err), &err);
    side_send(&a, &c, "for c", 5);
    WAIT_UNTIL(tacit_link_totals(b.link).refused >= 3);
    assert_int_equal(tacit_link_totals(b.link).accepted, 0);
    side_connect(&a, &b);
    side_send(&a, &b, "for b", 5);
    expect_frame(&b, &a, "for b", 5);
    uint64_t refused = tacit_link_totals(b.link).refused;
    WAIT_UNTIL(tacit_link_totals(b.link).refused >= refused + 2);
    tacit_frame f;
    assert_false(take_if_any(&b, 0, &f));
    side_close(&a);
    side_close(&b);
}

/* Frames may get lost while connections break. */
static void send_until_heard(side *a, side *b)
{
    tacit_frame f;
    tacit_error err;
    WAIT_UNTIL(take_if_any(b, 0, &f))
    tacit_link_send(a->link, b->id.public_key, "again", 5, NULL, 0, &err);
    assert_memory_equal(f.from, a->id.public_key, sizeof f.from);
    assert_int_equal(f.len, 5);
    assert_memory_equal(f.bytes, "again", 5);
    tacit_frame_free(&f);
}

static void test_unknown_client_key(void **state)
{
    (void)state;
    side a = {0}, b = {0};
    tacit_error err;
    tacit_frame f;
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&b, &o);
    check_ok(tacit_link_connect(a.link, b.id.public_key, tacit_link_endpoint(b.link), &err), &err);
    side_send(&a, &b, "hello", 5);
    WAIT_UNTIL(tacit_link_totals(b.link).refused >= 3);
    assert_int_equal(tacit_link_totals(b.link).accepted, 0);
    assert_false(take_if_any(&b, 0, &f));
    /* Nothing but the list kept it out. */
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    send_until_heard(&a, &b);
    assert_int_equal(tacit_link_totals(b.link).accepted, 1);
    side_close(&a);
    side_close(&b);
}

static void test_open_mode(void **state)
{
    (void)state;
    side a = {0}, b = {0}, c = {0};
    tacit_error err;
    tacit_frame f;
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&c, &o);
    o.open = true;
    side_open(&b, &o);
    check_ok(tacit_link_connect(a.link, b.id.public_key, tacit_link_endpoint(b.link), &err), &err);
    side_send(&a, &b, "one", 3);
    take(&b, 0, &f);
    assert_false(f.known);
    assert_memory_equal(f.from, a.id.curve_public, sizeof f.from);
    tacit_frame_free(&f);
    check_fails(tacit_link_meet(b.link, c.id.public_key, &err), TACIT_EPEER, &err, "proves");
    check_ok(tacit_link_meet(b.link, a.id.public_key, &err), &err);
    side_send(&a, &b, "two", 3);
    expect_frame(&b, &a, "two", 3);
    assert_int_equal(COUNT(&b, &a, frames_in), 2);
    /* The same key of a link has one name. */
    uint8_t negative[TACIT_IDENTITY_BYTES];
    memcpy(negative, a.id.public_key, sizeof negative);
    negative[31] ^= 0x80;
    assert_true(tacit_link_meet(b.link, negative, &err) != TACIT_OK);
    /* Who was told to leave stays out, even before it ever came. */
    tacit_link_forbid(b.link, a.id.public_key);
    tacit_link_forbid(b.link, c.id.public_key);
    check_ok(tacit_link_connect(c.link, b.id.public_key, tacit_link_endpoint(b.link), &err), &err);
    side_send(&c, &b, "no", 2);
    side_send(&a, &b, "no", 2);
    WAIT_UNTIL(tacit_link_totals(b.link).refused >= 1 && !take_if_any(&b, 0, &f) &&
               tacit_link_totals(b.link).strangers == 1);
    side_close(&a);
    side_close(&b);
    side_close(&c);
}

static void test_forbid_after_allow(void **state)
{
    (void)state;
    side a = {0}, b = {0};
    tacit_error err;
    tacit_frame f;
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&b, &o);
    side_connect(&a, &b);
    side_send(&a, &b, "before", 6);
    expect_frame(&b, &a, "before", 6);
    tacit_link_forbid(b.link, a.id.public_key);
    for (int k = 0; k < 5; k++)
        side_send(&a, &b, "during", 6);
    WAIT_UNTIL((assert_false(take_if_any(&b, 0, &f)), tacit_link_totals(b.link).strangers == 5));
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    side_send(&a, &b, "after", 5);
    expect_frame(&b, &a, "after", 5);
    side_close(&a);
    side_close(&b);
}

/* A frame above the limit ends the connection; the link lives, and so does the other peer's. */
static void check_oversize(size_t most)
{
    side a = {0}, b = {0}, c = {0};
    tacit_frame f;
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&c, &o);
    o.frame_max = most;
    side_open(&b, &o);
    side_connect(&a, &b);
    side_connect(&c, &b);
    uint8_t *bytes = calloc(most + 100000, 1);
    side_send(&a, &b, bytes, most);
    expect_frame(&b, &a, bytes, most);
    side_send(&c, &b, "c", 1);
    expect_frame(&b, &c, "c", 1);
    for (size_t over = 1; over < 100000; over *= 300) {
        uint64_t accepted = tacit_link_totals(b.link).accepted;
        side_send(&a, &b, bytes, most + over);
        WAIT_UNTIL(
            (assert_false(take_if_any(&b, 0, &f)), tacit_link_totals(b.link).accepted > accepted));
        side_send(&a, &b, "later", 5);
        expect_frame(&b, &a, "later", 5);
    }
    side_send(&c, &b, "c", 1);
    expect_frame(&b, &c, "c", 1);
    free(bytes);
    side_close(&a);
    side_close(&b);
    side_close(&c);
}

static void test_oversize(void **state)
{
    (void)state;
    check_oversize(5000);
    check_oversize(100000);
}

/* Below what handshakes need, ZeroMQ lets it pass and we do not. */
static void test_tiny_frames(void **state)
{
    (void)state;
    side a = {0}, b = {0};
    uint8_t bytes[200] = {0};
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    o.frame_max = 100;
    side_open(&b, &o);
    side_connect(&a, &b);
    side_send(&a, &b, bytes, 101);
    side_send(&a, &b, bytes, 200);
    side_send(&a, &b, bytes, 100);
    expect_frame(&b, &a, bytes, 100);
    side_close(&a);
    side_close(&b);
}

/* Take all that comes until so many frames of `from` were taken or dropped. */
static void drain(side *to, const side *from, double now, uint64_t until, unsigned *got)
{
    tacit_frame f;
    WAIT_UNTIL(COUNT(to, from, frames_in) + COUNT(to, from, over_rate) >= until)
    {
        while (take_if_any(to, now, &f)) {
            *got += memcmp(f.from, from->id.public_key, sizeof f.from) == 0;
            tacit_frame_free(&f);
        }
    }
}

static void test_rate(void **state)
{
    (void)state;
    side a = {0}, b = {0}, c = {0};
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&c, &o);
    o.rate = 10;
    o.burst = 20;
    side_open(&b, &o);
    side_connect(&a, &b);
    side_connect(&c, &b);
    for (int k = 0; k < 500; k++)
        side_send(&a, &b, "flood", 5);
    for (int k = 0; k < 20; k++)
        side_send(&c, &b, "calm", 4);
    unsigned from_a = 0, from_c = 0;
    tacit_frame f;
    WAIT_UNTIL(COUNT(&b, &a, frames_in) + COUNT(&b, &a, over_rate) == 500 &&
               COUNT(&b, &c, frames_in) == 20)
    while (take_if_any(&b, 1000, &f)) {
        from_a += memcmp(f.from, a.id.public_key, sizeof f.from) == 0;
        from_c += memcmp(f.from, c.id.public_key, sizeof f.from) == 0;
        tacit_frame_free(&f);
    }
    assert_int_equal(from_a, 20);
    assert_int_equal(from_c, 20);
    assert_int_equal(COUNT(&b, &a, over_rate), 480);
    assert_int_equal(COUNT(&b, &c, over_rate), 0);
    /* Half a second later there are five more. */
    from_a = 0;
    for (int k = 0; k < 50; k++)
        side_send(&a, &b, "flood", 5);
    drain(&b, &a, 1000.5, 550, &from_a);
    assert_int_equal(from_a, 5);
    side_close(&a);
    side_close(&b);
    side_close(&c);
}

static void test_byte_rate(void **state)
{
    (void)state;
    side a = {0}, b = {0};
    uint8_t bytes[1000] = {0};
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    o.frame_max = 2000;
    o.rate = o.burst = 1000;
    o.byte_rate = 10000; /* and as many at once */
    side_open(&b, &o);
    side_connect(&a, &b);
    unsigned got = 0;
    for (int k = 0; k < 50; k++)
        side_send(&a, &b, bytes, sizeof bytes);
    drain(&b, &a, 5, 50, &got);
    assert_int_equal(got, 10);
    for (int k = 0; k < 50; k++)
        side_send(&a, &b, bytes, sizeof bytes);
    drain(&b, &a, 5.35, 100, &got);
    assert_int_equal(got, 13);
    side_close(&a);
    side_close(&b);
}

static void test_bucket(void **state)
{
    (void)state;
    tacit_rate r;
    tacit_rate_start(&r);
    assert_true(tacit_rate_fill(&r, 2, 10, -50) == 10);
    tacit_rate_take(&r, 10);
    assert_true(tacit_rate_fill(&r, 2, 10, -49) == 2);
    assert_true(tacit_rate_fill(&r, 2, 10, -60) == 2); /* backwards */
    assert_true(tacit_rate_fill(&r, 2, 10, -59) == 4);
    assert_true(tacit_rate_fill(&r, 2, 10, NAN) == 4);
    assert_true(tacit_rate_fill(&r, 2, 10, -58) == 6);
    assert_true(tacit_rate_fill(&r, 2, 10, INFINITY) == 10);
}

static long anonymous_kilobytes(void)
{
    char line[200];
    long kb = -1;
    FILE *f = fopen("/proc/self/status", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "RssAnon:", 8) == 0)
            kb = strtol(line + 8, NULL, 10);
    fclose(f);
    return kb;
}

/* Nothing gets through: a queue, the kernel's buffers, and then no more. What was taken arrives. */
static void test_queue_full(void **state)
{
    (void)state;
    enum { LEN = 1 << 16, QUEUE = 20 };
    side a = {0}, b = {0};
    proxy p;
    tacit_error err;
    tacit_link_options o = wide_options();
    o.queue = QUEUE;
    side_open(&a, &o);
    side_open(&b, &o);
    proxy_open(&p, &b);
    check_ok(tacit_link_connect(a.link, b.id.public_key, p.endpoint, &err), &err);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    uint8_t *bytes = calloc(LEN, 1);
    side_send(&a, &b, "x", 1);
    expect_frame(&b, &a, "x", 1);
    p.hold_after[TO_SERVER] = p.passed[TO_SERVER];
    uint32_t sent = 0;
    double end = real_time() + 0.5; /* since it last took one */
    while (real_time() < end) {
        memcpy(bytes, &sent, sizeof sent);
        tacit_status status = tacit_link_send(a.link, b.id.public_key, bytes, LEN, NULL, 0, &err);
        if (status == TACIT_OK) {
            sent++;
            end = real_time() + 0.5;
        } else
            assert_int_equal(status, TACIT_NO);
    }
    assert_true(sent >= QUEUE);
    assert_true(sent < 400); /* 26 MB: a queue of 1.3 MB, the rest is the kernel's */
    long before = anonymous_kilobytes();
    for (int k = 0; k < 5000; k++)
        assert_int_equal(tacit_link_send(a.link, b.id.public_key, bytes, LEN, NULL, 0, &err),
                         TACIT_NO);
    if (!SLOW)
        assert_true(anonymous_kilobytes() - before < 4096);
    assert_true(COUNT(&a, &b, queue_full) >= 5000);
    assert_int_equal(COUNT(&a, &b, frames_out), sent + 1);
    p.hold_after[TO_SERVER] = SIZE_MAX;
    for (uint32_t k = 0; k < sent; k++) {
        memcpy(bytes, &k, sizeof k);
        expect_frame(&b, &a, bytes, LEN);
    }
    free(bytes);
    proxy_close(&p);
    side_close(&a);
    side_close(&b);
}

static void test_endpoint_change(void **state)
{
    (void)state;
    side a = {0}, b = {0}, b2 = {0};
    tacit_error err;
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&b, &o);
    b2.id = b.id;
    side_open(&b2, &o);
    side_connect(&a, &b);
    side_connect(&a, &b); /* the same again is nothing new */
    side_send(&a, &b, "here", 4);
    expect_frame(&b, &a, "here", 4);
    side_connect(&a, &b2);
    side_send(&a, &b, "there", 5);
    expect_frame(&b2, &a, "there", 5);
    /* An endpoint that is refused leaves the connection as it was. */
    static const char *const bad[] = {
        "",
        "tcp://",
        "tcp://host",
        "tcp://127.0.0.1:99999",
        "ipc:///tmp/x",
        "inproc://zeromq.zap.01",
        "udp://127.0.0.1:1",
        "tcp://127.0.0.1:1;127.0.0.1:2",
        "tcp://127.0.0.1:1/path",
        "tcp://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:7400"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_fails(tacit_link_connect(a.link, b.id.public_key, bad[i], &err), TACIT_EINPUT, &err,
                    "cannot connect");
    side_send(&a, &b, "still", 5);
    expect_frame(&b2, &a, "still", 5);
    tacit_link_disconnect(a.link, b.id.public_key);
    assert_int_equal(tacit_link_send(a.link, b.id.public_key, "x", 1, NULL, 0, &err), TACIT_NO);
    side_close(&a);
    side_close(&b);
    side_close(&b2);
}

/* What was sent before the other end exists arrives when it does, up to a queue of it. */
static void test_sent_before_it_is_up(void **state)
{
    (void)state;
    side a = {0}, b = {0};
    tacit_error err;
    tacit_link_options o = wide_options();
    side_open(&b, &o);
    char endpoint[64];
    snprintf(endpoint, sizeof endpoint, "%s", tacit_link_endpoint(b.link));
    side_close(&b);
    o.queue = 5;
    side_open(&a, &o);
    check_ok(tacit_link_connect(a.link, b.id.public_key, endpoint, &err), &err);
    int sent = 0;
    while (tacit_link_send(a.link, b.id.public_key, &sent, sizeof sent, NULL, 0, &err) == TACIT_OK)
        sent++;
    assert_int_equal(sent, 5);
    o.listen = endpoint;
    side_open(&b, &o);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    for (int k = 0; k < sent; k++)
        expect_frame(&b, &a, &k, sizeof k);
    /* And it comes back after it was away. */
    side_close(&b);
    side_open(&b, &o);
    check_ok(tacit_link_allow(b.link, a.id.public_key, &err), &err);
    send_until_heard(&a, &b);
    side_close(&a);
    side_close(&b);
}

/* Closing gives what is queued a moment: the last words of a node that ends. */
static void test_last_words(void **state)
{
    (void)state;
    enum { LEN = 100000, FRAMES = 20 };
    side a = {0}, b = {0};
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&b, &o);
    side_connect(&a, &b);
    side_send(&a, &b, "first", 5);
    expect_frame(&b, &a, "first", 5);
    uint8_t *bytes = calloc(LEN, 1);
    for (int k = 0; k < FRAMES; k++) {
        memcpy(bytes, &k, sizeof k);
        side_send(&a, &b, bytes, LEN);
    }
    side_close(&a);
    for (int k = 0; k < FRAMES; k++) {
        memcpy(bytes, &k, sizeof k);
        expect_frame(&b, &a, bytes, LEN);
    }
    free(bytes);
    side_close(&b);
}

/* More than may wait at once, but it does not wait: nothing of it is held against the sender. */
static void test_long_traffic(void **state)
{
    (void)state;
    enum { LEN = 100000, FRAMES = 300 }; /* 30 MB; 18 may wait */
    side a = {0}, b = {0};
    tacit_link_options o = wide_options();
    o.queue = 2;
    side_open(&a, &o);
    side_open(&b, &o);
    side_connect(&a, &b);
    uint8_t *bytes = calloc(LEN, 1);
    for (int k = 0; k < FRAMES; k++) {
        memcpy(bytes, &k, sizeof k);
        side_send(&a, &b, bytes, LEN);
        expect_frame(&b, &a, bytes, LEN);
    }
    for (double end = real_time() + 0.3; real_time() < end;)
        move_on(); /* it looks a few times more */
    assert_int_equal(tacit_link_totals(b.link).accepted, 1);
    assert_int_equal(tacit_link_totals(b.link).refused, 0);
    free(bytes);
    side_close(&a);
    side_close(&b);
}

static void on_alarm(int number)
{
    (void)number;
}

static void test_wait(void **state)
{
    (void)state;
    side a = {0};
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    int ends[2], other[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(other), 0);
    int fds[] = {other[0], ends[0]};
    bool readable[2] = {true, true};
    double begin = real_time();
    assert_true(tacit_link_wait(a.link, 0.05, fds, 2, readable));
    assert_true(real_time() - begin >= 0.05);
    assert_true(!readable[0] && !readable[1]);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_true(tacit_link_wait(a.link, 100, fds, 2, readable));
    assert_true(!readable[0] && readable[1]);
    close(ends[1]); /* the end of a file is something to read, too */
    assert_int_equal(read(ends[0], &(char){0}, 1), 1);
    assert_true(tacit_link_wait(a.link, 100, fds, 2, readable) && readable[1]);
    struct sigaction old, act = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &act, &old);
    setitimer(ITIMER_REAL,
              &(struct itimerval){.it_value.tv_usec = 20000, .it_interval.tv_usec = 20000}, NULL);
    assert_false(tacit_link_wait(a.link, 100, NULL, 0, NULL));
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 0}, NULL);
    sigaction(SIGALRM, &old, NULL);
    close(ends[0]);
    close(other[0]);
    close(other[1]);
    side_close(&a);
}

/* A frame wakes it. */
static void test_frame_ends_the_wait(void **state)
{
    (void)state;
    side a = {0}, b = {0};
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    side_open(&b, &o);
    side_connect(&a, &b);
    side_send(&a, &b, "x", 1);
    assert_true(tacit_link_wait(b.link, 1000, NULL, 0, NULL)); /* handshake and all */
    tacit_frame f;
    assert_true(take_if_any(&b, 0, &f));
    tacit_frame_free(&f);
    side_close(&a);
    side_close(&b);
}

static void test_bad_options(void **state)
{
    (void)state;
    static const struct {
        const char *listen;
        size_t frame_max;
        int queue;
        double rate, burst, heartbeat;
        const char *word;
    } bad[] = {
        {"ipc:///tmp/x", 100, 1, 1, 1, 1, "ipc"},
        {"tcp://127.0.0.1:1;127.0.0.1:2", 100, 1, 1, 1, 1, "listen"},
        {"tcp://nowhere", 100, 1, 1, 1, 1, "nowhere"},
        {"tcp://127.0.0.1:*", 0, 1, 1, 1, 1, "frame"},
        {"tcp://127.0.0.1:*", SIZE_MAX, 1, 1, 1, 1, "frame"},
        {"tcp://127.0.0.1:*", 100, 0, 1, 1, 1, "queue"},
        {"tcp://127.0.0.1:*", 100, 1, 0, 1, 1, "rate"},
        {"tcp://127.0.0.1:*", 100, 1, NAN, 1, 1, "rate"},
        {"tcp://127.0.0.1:*", 100, 1, 1, 0.5, 1, "rate"},
        {"tcp://127.0.0.1:*", 100, 1, 1, 1, 0, "heartbeat"},
        {"tcp://127.0.0.1:*", 100, 1, 1, 1, INFINITY, "heartbeat"},
    };
    tacit_error err;
    tacit_identity id;
    tacit_link *link;
    check_ok(tacit_identity_fresh(&id, &err), &err);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tacit_link_options o = {.listen = bad[i].listen,
                                .frame_max = bad[i].frame_max,
                                .queue = bad[i].queue,
                                .rate = bad[i].rate,
                                .burst = bad[i].burst,
                                .heartbeat = bad[i].heartbeat};
        tacit_status status = tacit_link_create(&link, &id, &o, &err);
        check_fails(status, status == TACIT_EPEER ? TACIT_EPEER : TACIT_EINPUT, &err, bad[i].word);
        assert_null(link);
    }
    side a = {.id = id}, b = {0};
    tacit_link_options o = wide_options();
    side_open(&a, &o);
    assert_memory_equal(tacit_link_endpoint(a.link), "tcp://127.0.0.1:", 16);
    o.listen = tacit_link_endpoint(a.link);
    check_fails(tacit_link_create(&b.link, &id, &o, &err), TACIT_EPEER, &err, "in use");
    side_close(&a);
}

/* The table: a thousand peers, each found, and as many strangers as it remembers. */
static void test_table(void **state)
{
    (void)state;
    enum { PEERS = SLOW ? 200 : 1000, PASSERS_BY = 3 * LINK_STRANGERS };
    tacit_error err;
    link_table t;
    check_ok(link_table_init(&t, &err), &err);
    static tacit_identity id[PEERS];
    link_peer *p;
    for (int i = 0; i < PEERS; i++) {
        check_ok(tacit_identity_fresh(&id[i], &err), &err);
        check_ok(link_add(&t, id[i].public_key, &p, &err), &err);
        p->standing = LINK_ALLOWED;
    }
    char user[LINK_TEXT + 1];
    for (int i = 0; i < PASSERS_BY; i++) {
        snprintf(user, sizeof user, "%064x", i);
        assert_non_null(p = link_add_stranger(&t, user));
        p->heard = (uint64_t)i;
        assert_ptr_equal(link_find_user(&t, user), p);
    }
    assert_int_equal(t.strangers, LINK_STRANGERS);
    assert_int_equal(t.count, PEERS + LINK_STRANGERS);
    for (int i = 0; i < PASSERS_BY; i++) { /* the last ones are known */
        snprintf(user, sizeof user, "%064x", i);
        assert_int_equal(link_find_user(&t, user) != NULL, i >= PASSERS_BY - LINK_STRANGERS);
    }
    for (int i = 0; i < PEERS; i++) {
        p = link_find(&t, id[i].public_key);
        assert_non_null(p);
        assert_memory_equal(p->counts.key, id[i].public_key, 32);
        tacit_identity_format(user, id[i].curve_public);
        assert_ptr_equal(link_find_user(&t, user), p);
        id[i].public_key[31] ^= 0x80;
        check_fails(link_add(&t, id[i].public_key, &p, &err), TACIT_EINPUT, &err, "negative");
    }
    link_table_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_both_ways, link_tools_begin),
        cmocka_unit_test_setup(test_wrong_server_key, link_tools_begin),
        cmocka_unit_test_setup(test_unknown_client_key, link_tools_begin),
        cmocka_unit_test_setup(test_open_mode, link_tools_begin),
        cmocka_unit_test_setup(test_forbid_after_allow, link_tools_begin),
        cmocka_unit_test_setup(test_oversize, link_tools_begin),
        cmocka_unit_test_setup(test_tiny_frames, link_tools_begin),
        cmocka_unit_test_setup(test_rate, link_tools_begin),
        cmocka_unit_test_setup(test_byte_rate, link_tools_begin),
        cmocka_unit_test_setup(test_bucket, link_tools_begin),
        cmocka_unit_test_setup(test_queue_full, link_tools_begin),
        cmocka_unit_test_setup(test_endpoint_change, link_tools_begin),
        cmocka_unit_test_setup(test_sent_before_it_is_up, link_tools_begin),
        cmocka_unit_test_setup(test_last_words, link_tools_begin),
        cmocka_unit_test_setup(test_long_traffic, link_tools_begin),
        cmocka_unit_test_setup(test_wait, link_tools_begin),
        cmocka_unit_test_setup(test_frame_ends_the_wait, link_tools_begin),
        cmocka_unit_test_setup(test_bad_options, link_tools_begin),
        cmocka_unit_test_setup(test_table, link_tools_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
