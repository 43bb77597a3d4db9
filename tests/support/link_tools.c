/* SPDX-License-Identifier: Apache-2.0 */
#include "link_tools.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SIDES = 16, PIECE = 1 << 16, RECORD = 1 << 20 };
static side *sides[SIDES];
static proxy *the_proxy;

int link_tools_begin(void **state)
{
    (void)state;
    memset(sides, 0, sizeof sides);
    the_proxy = NULL;
    return 0;
}

double real_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tacit_link_options wide_options(void)
{
    tacit_link_options o;
    tacit_link_defaults(&o);
    o.rate = o.burst = 1e9;
    o.queue = 1000;
    return o;
}

void side_open(side *s, const tacit_link_options *o)
{
    static const tacit_identity none;
    tacit_error err;
    if (memcmp(&s->id, &none, sizeof none) == 0)
        check_ok(tacit_identity_fresh(&s->id, &err), &err);
    check_ok(tacit_link_create(&s->link, &s->id, o, &err), &err);
    int i = 0;
    while (sides[i])
        assert_true(++i < SIDES);
    sides[i] = s;
}

void side_close(side *s)
{
    for (int i = 0; i < SIDES; i++)
        if (sides[i] == s)
            sides[i] = NULL;
    tacit_link_free(s->link);
    s->link = NULL;
}

void side_connect(side *a, side *b)
{
    tacit_error err;
    check_ok(tacit_link_connect(a->link, b->id.public_key, tacit_link_endpoint(b->link), &err),
             &err);
    check_ok(tacit_link_allow(b->link, a->id.public_key, &err), &err);
}

void side_send(side *from, const side *to, const void *bytes, size_t len)
{
    tacit_error err;
    tacit_status status;
    size_t half = len / 2;
    WAIT_UNTIL((status = tacit_link_send(from->link, to->id.public_key, bytes, half,
                                         (const char *)bytes + half, len - half, &err)) !=
               TACIT_NO);
    check_ok(status, &err);
}

uint64_t side_sum(const side *s, const side *of, size_t offset)
{
    uint64_t sum = 0;
    tacit_link_peer_counts c;
    for (size_t i = 0; tacit_link_peer(s->link, i, &c); i++) {
        uint64_t value;
        memcpy(&value, (const char *)&c + offset, sizeof value);
        if (memcmp(c.key, of->id.public_key, sizeof c.key) == 0)
            sum += value;
    }
    return sum;
}

void move_on(void)
{
    if (the_proxy)
        proxy_step(the_proxy);
    for (int i = 0; i < SIDES; i++)
        if (sides[i])
            tacit_link_wait(sides[i]->link, 0.0, NULL, 0, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 200 * 1000}, NULL);
}

void move_on_until(double end)
{
    assert_true(real_time() < end);
    move_on();
}

bool take_if_any(side *to, double now, tacit_frame *frame)
{
    tacit_error err;
    tacit_status status = tacit_link_receive(to->link, now, frame, &err);
    if (status != TACIT_NO)
        check_ok(status, &err);
    return status == TACIT_OK;
}

void take(side *to, double now, tacit_frame *frame)
{
    WAIT_UNTIL(take_if_any(to, now, frame));
}

void expect_frame(side *to, const side *from, const void *bytes, size_t len)
{
    tacit_frame f;
    take(to, real_time(), &f);
    assert_true(f.known);
    assert_memory_equal(f.from, from->id.public_key, sizeof f.from);
    assert_int_equal(f.len, len);
    if (len > 0)
        assert_memory_equal(f.bytes, bytes, len);
    tacit_frame_free(&f);
}

/* ---- the proxy ---- */

static int loopback(int port, struct sockaddr_in *a)
{
    *a = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    return fd;
}

int port_of(const side *server)
{
    const char *colon = strrchr(tacit_link_endpoint(server->link), ':');
    assert_non_null(colon);
    return (int)strtol(colon + 1, NULL, 10);
}

static int connect_from(int host, int port)
{
    struct sockaddr_in a, from = {.sin_family = AF_INET};
    int fd = loopback(port, &a);
    from.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffu) | (uint32_t)host);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return fd;
}

static int connect_to(int port)
{
    return connect_from(1, port);
}

int raw_connect(const side *server)
{
    return connect_to(port_of(server));
}

int raw_connect_from(const side *server, int host)
{
    return connect_from(host, port_of(server));
}

bool raw_closed(int fd)
{
    char lost[4096];
    ssize_t n;
    while ((n = recv(fd, lost, sizeof lost, MSG_DONTWAIT)) > 0)
        ;
    return n == 0 || (errno != EAGAIN && errno != EINTR);
}

static void proxy_listen(proxy *p)
{
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    p->listener = loopback(0, &a);
    assert_int_equal(bind(p->listener, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(p->listener, 16), 0);
    fcntl(p->listener, F_SETFL, O_NONBLOCK);
    assert_int_equal(getsockname(p->listener, (struct sockaddr *)&a, &len), 0);
    snprintf(p->endpoint, sizeof p->endpoint, "tcp://127.0.0.1:%d", ntohs(a.sin_port));
}

void proxy_open(proxy *p, const side *server)
{
    *p = (proxy){.socket = {-1, -1},
                 .server_port = port_of(server),
                 .flip_at = {SIZE_MAX, SIZE_MAX},
                 .hold_after = {SIZE_MAX, SIZE_MAX}};
    proxy_listen(p);
    for (int d = 0; d < 2; d++) {
        p->record[d] = malloc(RECORD);
        assert_non_null(p->record[d]);
    }
    the_proxy = p;
}

void proxy_move(proxy *p)
{
    proxy_hang_up(p);
    close(p->listener);
    proxy_listen(p);
}

void proxy_hang_up(proxy *p)
{
    if (p->socket[0] < 0)
        return;
    for (int d = 0; d < 2; d++) {
        close(p->socket[d]);
        p->socket[d] = -1;
    }
    p->closed++;
}

void proxy_close(proxy *p)
{
    proxy_hang_up(p);
    close(p->listener);
    for (int d = 0; d < 2; d++)
        free(p->record[d]);
    the_proxy = NULL;
}

static void write_all(int fd, const uint8_t *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = send(fd, bytes + done, len - done, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return; /* closed: the other direction will notice */
        done += n > 0 ? (size_t)n : 0;
    }
}

/* What came from the one end goes to the other; false when the end is closed. */
static bool forward(proxy *p, int direction)
{
    static uint8_t piece[PIECE];
    size_t room = p->hold_after[direction] - p->passed[direction];
    if (room == 0)
        return true;
    ssize_t n = recv(p->socket[!direction], piece, room < PIECE ? room : PIECE, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return false;
    size_t len = (size_t)n, at = p->flip_at[direction] - p->passed[direction];
    if (p->flip_at[direction] >= p->passed[direction] && at < len)
        piece[at] ^= p->flip_by;
    if (p->recording && p->recorded[direction] + len <= RECORD) {
        memcpy(p->record[direction] + p->recorded[direction], piece, len);
        p->recorded[direction] += len;
    }
    p->passed[direction] += len;
    p->last = real_time();
    write_all(p->socket[direction], piece, len);
    return true;
}

void proxy_step(proxy *p)
{
    if (p->socket[0] < 0) {
        int fd = accept(p->listener, NULL, NULL);
        if (fd < 0)
            return;
        fcntl(fd, F_SETFL, O_NONBLOCK);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        p->socket[TO_CLIENT] = fd;
        p->socket[TO_SERVER] = connect_to(p->server_port);
        p->passed[0] = p->passed[1] = p->recorded[0] = p->recorded[1] = 0;
        p->accepted++;
        p->last = real_time();
    }
    for (int d = 0; d < 2 && p->socket[0] >= 0; d++)
        if (!forward(p, d))
            proxy_hang_up(p);
}
