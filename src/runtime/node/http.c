/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection reads its request, writes its answer and then listens until the other side closes,
 * because closing a socket with unread bytes takes the answer back. All of it together lasts
 * HTTP_PATIENCE at most. An epoll descriptor stands for all sockets: it can be read when one of
 * them wants something, to be written included, and the node's loop need not know more.
 *
 * Invariants: every socket is non-blocking; a connection is watched for exactly what it waits
 * for, so that the loop never spins on something nobody takes.
 */
#include "runtime/node/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LISTENER = HTTP_CONNECTIONS, DRAIN = 1 << 16, SOCKET_BUFFER = 1 << 16 };
#define REST 1.0 /* seconds without accepting after the process ran out of descriptors */

typedef enum stage { FREE, READING, WRITING, DRAINING } stage;

typedef struct connection {
    stage stage;
    int fd;
    double since;
    size_t in_len, drained;
    char in[HTTP_REQUEST];
    char *out;
    size_t out_len, out_at;
} connection;

struct http_server {
    int listener, epoll;
    uint16_t port;
    bool local;      /* bound to loopback */
    bool resting;    /* not accepting */
    double rest_end; /* until then */
    connection all[HTTP_CONNECTIONS];
};

/* ---- where ---- */

typedef union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} address;

static tacit_status wrong_place(const char *where, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "\"%.100s\" is no place for a status port; expected ADDRESS:PORT, as in "
                      "\"127.0.0.1:7401\" or \"[::1]:7401\"",
                      where);
}

static bool read_port(const char *text, uint16_t *port)
{
    unsigned value = 0;
    size_t len = strlen(text);
    if (len == 0 || len > 5)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + (unsigned)(*text - '0');
    }
    *port = (uint16_t)value;
    return value <= UINT16_MAX;
}

static tacit_status parse_place(address *a, socklen_t *len, bool *local, const char *where,
                                tacit_error *err)
{
    char host[64] = "localhost";
    uint16_t port;
    const char *colon = strrchr(where, ':');
    if (colon) {
        const bool brackets = where[0] == '[' && colon > where + 1 && colon[-1] == ']';
        const int n = (int)(colon - where) - (brackets ? 2 : 0);
        if (n < 0 || n >= (int)sizeof host || (!brackets && memchr(where, ':', (size_t)n)))
            return wrong_place(where, err);
        if (n > 0 || brackets)
            snprintf(host, sizeof host, "%.*s", n, where + brackets);
    }
    if (!read_port(colon ? colon + 1 : where, &port))
        return wrong_place(where, err);
    *a = (address){0};
    if (strcmp(host, "localhost") == 0)
        snprintf(host, sizeof host, "127.0.0.1");
    if (inet_pton(AF_INET, host, &a->v4.sin_addr) == 1) {
        a->v4.sin_family = AF_INET;
        a->v4.sin_port = htons(port);
        *local = ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
        *len = sizeof a->v4;
    } else if (inet_pton(AF_INET6, host, &a->v6.sin6_addr) == 1) {
        a->v6.sin6_family = AF_INET6;
        a->v6.sin6_port = htons(port);
        *local = IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
        *len = sizeof a->v6;
    } else
        return wrong_place(where, err);
    return TACIT_OK;
}

static bool watch(http_server *h, int op, int fd, uint32_t events, uint32_t which)
{
    struct epoll_event event = {.events = events, .data.u32 = which};
    return epoll_ctl(h->epoll, op, fd, &event) == 0;
}

static tacit_status listen_at(http_server *h, const char *where, tacit_error *err)
{
    address a;
    socklen_t len;
    const int on = 1;
    tacit_status status = parse_place(&a, &len, &h->local, where, err);
    if (status)
        return status;
    h->epoll = epoll_create1(EPOLL_CLOEXEC);
    h->listener = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (h->epoll < 0 || h->listener < 0 ||
        setsockopt(h->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(h->listener, &a.any, len) != 0 || listen(h->listener, 2 * HTTP_CONNECTIONS) != 0 ||
        getsockname(h->listener, &a.any, &len) != 0 ||
        !watch(h, EPOLL_CTL_ADD, h->listener, EPOLLIN, LISTENER))
        return tacit_fail(
            err, TACIT_EINPUT, "cannot show the status at \"%.100s\": %s%s", where, strerror(errno),
            errno == EADDRINUSE ? "; choose another port, or 0 for any free one" : "");
    h->port = ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
    return TACIT_OK;
}

tacit_status http_create(http_server **out, const char *where, tacit_error *err)
{
    *out = NULL;
    http_server *h = calloc(1, sizeof *h);
    if (!h)
        return tacit_out_of_memory(err);
    h->listener = h->epoll = -1;
    tacit_status status = listen_at(h, where, err);
    if (status)
        http_free(h);
    else
        *out = h;
    return status;
}

uint16_t http_port(const http_server *http)
{
    return http->port;
}

size_t http_fds(const http_server *http, int *fds, size_t room)
{
    if (room == 0)
        return 0;
    fds[0] = http->epoll;
    return 1;
}

/* ---- a connection ---- */

static void end(connection *c)
{
    if (c->stage == FREE)
        return;
    close(c->fd); /* epoll forgets it by itself */
    free(c->out);
    c->out = NULL;
    c->stage = FREE;
}

void http_free(http_server *http)
{
    if (!http)
        return;
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
        end(&http->all[i]);
    if (http->listener >= 0)
        close(http->listener);
    if (http->epoll >= 0)
        close(http->epoll);
    free(http);
}

static void turn(http_server *h, connection *c, stage next, uint32_t events)
{
    c->stage = next;
    if (!watch(h, EPOLL_CTL_MOD, c->fd, events, (uint32_t)(c - h->all)))
        end(c);
}

static void drain(connection *c)
{
    char sink[4096];
    for (;;) {
        const ssize_t n = recv(c->fd, sink, sizeof sink, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        c->drained += n > 0 ? (size_t)n : 0;
        if (n <= 0 || c->drained > DRAIN) {
            end(c);
            return;
        }
    }
}

static void write_on(http_server *h, connection *c)
{
    while (c->out_at < c->out_len) {
        const ssize_t n = send(c->fd, c->out + c->out_at, c->out_len - c->out_at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n < 0) {
            end(c);
            return;
        }
        c->out_at += (size_t)n;
    }
    free(c->out);
    c->out = NULL;
    if (shutdown(c->fd, SHUT_WR) != 0) {
        end(c);
        return;
    }
    turn(h, c, DRAINING, EPOLLIN);
    if (c->stage == DRAINING)
        drain(c);
}

/* ---- answers ---- */

static const char *reason(int code)
{
    switch (code) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 431:
        return "Request Header Fields Too Large";
    case 500:
        return "Internal Server Error";
    case 503:
        return "Service Unavailable";
    default:
        return "Other";
    }
}

static void say(http_server *h, connection *c, int code, const char *type, tacit_writer *body,
                bool head)
{
    if (body->failed || body->len > HTTP_ANSWER) {
        tacit_writer_clear(body);
        code = 500;
    }
    if (body->len == 0) {
        tacit_write_format(body, "%d %s\n", code, reason(code));
        type = NULL;
    }
    tacit_writer out = {0};
    tacit_write_format(&out,
                       "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s"
                       "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                       "Connection: close\r\n\r\n",
                       code, reason(code), type ? type : "text/plain; charset=utf-8", body->len,
                       code == 405 ? "Allow: GET, HEAD\r\n" : "");
    if (!head)
        tacit_write_bytes(&out, body->text ? body->text : "", body->len);
    tacit_writer_clear(body);
    c->out_len = out.len;
    c->out_at = 0;
    c->out = tacit_writer_take(&out);
    if (!c->out) {
        end(c);
        return;
    }
    turn(h, c, WRITING, EPOLLOUT);
    if (c->stage == WRITING)
        write_on(h, c);
}

static void respond(http_server *h, connection *c, http_verdict verdict, const http_request *r,
                    http_answer *answer, void *ctx)
{
    tacit_writer body = {0};
    const char *type = NULL;
    int code = verdict == HTTP_OTHER ? 405 : verdict == HTTP_LARGE ? 431 : 400;
    if (verdict == HTTP_GET) {
        /* A page of the web whose name was made to point at this machine may not read on. */
        code = h->local && r->named ? 403 : *r->path ? answer(ctx, r->path, &body, &type) : 404;
    }
    say(h, c, code, type, &body, verdict == HTTP_GET && r->head);
}

static void read_on(http_server *h, connection *c, http_answer *answer, void *ctx)
{
    http_request request;
    http_verdict verdict = HTTP_MORE;
    while (verdict == HTTP_MORE) {
        const ssize_t n = recv(c->fd, c->in + c->in_len, sizeof c->in - c->in_len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0) {
            end(c);
            return;
        }
        c->in_len += (size_t)n;
        verdict = http_parse(&request, c->in, c->in_len);
    }
    respond(h, c, verdict, &request, answer, ctx);
}

/* ---- all of them ---- */

static connection *free_place(http_server *h)
{
    connection *oldest = &h->all[0];
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
        if (h->all[i].stage == FREE)
            return &h->all[i];
        if (h->all[i].since < oldest->since)
            oldest = &h->all[i];
    }
    end(oldest);
    return oldest;
}

static void rest(http_server *h, double now)
{
    h->resting = watch(h, EPOLL_CTL_MOD, h->listener, 0, LISTENER);
    h->rest_end = now + REST;
}

/* So many at a time that what is there already gets its turn. */
static void accept_some(http_server *h, double now, http_answer *answer, void *ctx)
{
    for (int i = 0; i < HTTP_CONNECTIONS; i++) {
        const int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                rest(h, now);
            return;
        }
        const int buffer = SOCKET_BUFFER;
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer); /* if not, not */
        connection *c = free_place(h);
        c->fd = fd;
        c->stage = READING;
        c->since = now;
        c->in_len = c->drained = 0;
        if (!watch(h, EPOLL_CTL_ADD, fd, EPOLLIN, (uint32_t)(c - h->all)))
            end(c);
        else
            read_on(h, c, answer, ctx);
    }
}

static void lose_patience(http_server *h, double now)
{
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
        if (h->all[i].stage != FREE && now - h->all[i].since > HTTP_PATIENCE)
            end(&h->all[i]);
    if (h->resting && now >= h->rest_end)
        h->resting = !watch(h, EPOLL_CTL_MOD, h->listener, EPOLLIN, LISTENER);
}

void http_serve(http_server *http, double now, http_answer *answer, void *ctx)
{
    struct epoll_event ready[HTTP_CONNECTIONS + 1];
    lose_patience(http, now);
    const int count = epoll_wait(http->epoll, ready, HTTP_CONNECTIONS + 1, 0);
    bool somebody = false;
    for (int i = 0; i < count; i++) {
        if (ready[i].data.u32 == LISTENER) {
            somebody = true; /* last, because a newcomer may need another's place */
            continue;
        }
        connection *c = &http->all[ready[i].data.u32];
        if (c->stage == READING)
            read_on(http, c, answer, ctx);
        else if (c->stage == WRITING)
            write_on(http, c);
        else if (c->stage == DRAINING)
            drain(c);
    }
    if (somebody)
        accept_some(http, now, answer, ctx);
}
