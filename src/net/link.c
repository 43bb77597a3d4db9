/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link's sockets: one that takes in, one a peer that sends, and the handler of handshakes.
 *
 * ZeroMQ lets everybody in who encrypts, if a CURVE socket is bound where no ZAP handler listens.
 * So ours is bound first and closed last, the domain is set and enforced, and a frame without a
 * User-Id is nobody's.
 */
#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/link_internal.h"

#define ZAP_ENDPOINT "inproc://zeromq.zap.01" /* ZeroMQ's RFC 27 */
#ifndef ZMQ_ZAP_ENFORCE_DOMAIN
#define ZMQ_ZAP_ENFORCE_DOMAIN 93 /* in the library since 4.3, in its header as a draft */
#endif

enum {
    COMMAND_MAX = 1024,    /* handshakes need about 500 bytes, whatever frames have */
    SOCKETS = 8192,        /* peers a link can have, nearly; 12 bytes each */
    LINGER = 500,          /* ms that queued frames have to leave */
    HANDSHAKE = 10000,     /* ms for a handshake; the default is 30 s */
    CONNECT = 5000,        /* ms for TCP to connect */
    AGAIN = 100,           /* ms before connecting again, doubled up to ... */
    AGAIN_MAX = 2000,      /* ... this */
    STUCK = 10,            /* seconds a full queue may stand still */
    PROBES = 5,            /* without an answer, a heartbeat apart: a connection is dead */
    FRAME_LIMIT = 1 << 30, /* ZeroMQ and the wire could do more, memory cannot */
    QUEUE_LIMIT = 1000 * 1000,
};

void tacit_link_defaults(tacit_link_options *o)
{
    *o = (tacit_link_options){
        .listen = "tcp://127.0.0.1:*",
        .frame_max = 1 << 20,
        .queue = 64,
        .rate = 1000,
        .burst = 2000,
        .heartbeat = 2,
    };
}

static tacit_status check_options(const tacit_link_options *o, tacit_error *err)
{
    if (!o->listen || strncmp(o->listen, "tcp://", 6) != 0 || strchr(o->listen, ';'))
        return tacit_fail(err, TACIT_EINPUT,
                          "cannot listen at \"%.100s\"; write \"tcp://ADDRESS:PORT\"",
                          o->listen ? o->listen : "");
    if (o->frame_max < 1 || o->frame_max > FRAME_LIMIT)
        return tacit_fail(err, TACIT_EINPUT, "a frame of \"%zu\" bytes; between 1 and %d",
                          o->frame_max, FRAME_LIMIT);
    if (o->queue < 1 || o->queue > QUEUE_LIMIT)
        return tacit_fail(err, TACIT_EINPUT, "a queue of \"%d\" frames; between 1 and %d", o->queue,
                          QUEUE_LIMIT);
    if (!(o->rate > 0) || !(o->burst >= 1) || !(o->byte_rate >= 0))
        return tacit_fail(err, TACIT_EINPUT,
                          "a rate of \"%g\" frames (%g at once, %g bytes) a second; rates are "
                          "positive, and one frame at once is the least",
                          o->rate, o->burst, o->byte_rate);
    if (!(o->heartbeat >= 0.01 && o->heartbeat <= 3600))
        return tacit_fail(err, TACIT_EINPUT,
                          "a heartbeat every \"%g\" seconds; between 0.01 and 3600", o->heartbeat);
    return TACIT_OK;
}

static bool set_int(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof value) == 0;
}

/*
 * What all TCP sockets of a link have in common. Silent connections are probed by TCP, not by
 * ZeroMQ's own heartbeat: the process would be ended by an assertion of the library (4.3.4,
 * out_event in stream_engine_base.cpp) when a connection whose queue is full breaks and a heartbeat
 * is due.
 */
static bool set_common(const tacit_link *link, void *s)
{
    int64_t most = (int64_t)link->o.frame_max + LINK_OVERHEAD;
    if (most < COMMAND_MAX)
        most = COMMAND_MAX;
    int beat = (int)ceil(link->o.heartbeat);
    return set_int(s, ZMQ_HANDSHAKE_IVL, HANDSHAKE) &&
           zmq_setsockopt(s, ZMQ_MAXMSGSIZE, &most, sizeof most) == 0 &&
           set_int(s, ZMQ_TCP_KEEPALIVE, 1) && set_int(s, ZMQ_TCP_KEEPALIVE_IDLE, 2 * beat) &&
           set_int(s, ZMQ_TCP_KEEPALIVE_INTVL, beat) && set_int(s, ZMQ_TCP_KEEPALIVE_CNT, PROBES) &&
           set_int(s, ZMQ_TCP_MAXRT, 1000 * (PROBES + 2) * beat) &&
           zmq_setsockopt(s, ZMQ_CURVE_SECRETKEY, link->curve_secret, TACIT_CURVE_BYTES) == 0;
}

static tacit_status no_socket(tacit_error *err)
{
    return tacit_fail(err, TACIT_EPEER,
                      "cannot make a socket: %s; a peer needs three descriptors (see \"ulimit "
                      "-n\")",
                      zmq_strerror(errno));
}

/* The handler of handshakes first: nobody may connect before it is there. */
static tacit_status open_zap(tacit_link *link, tacit_error *err)
{
    link->zap = zmq_socket(link->context, ZMQ_REP);
    if (!link->zap || !set_int(link->zap, ZMQ_LINGER, 0) || zmq_bind(link->zap, ZAP_ENDPOINT) != 0)
        return no_socket(err);
    return TACIT_OK;
}

static tacit_status open_pull(tacit_link *link, tacit_error *err)
{
    void *s = link->pull = zmq_socket(link->context, ZMQ_PULL);
    if (!s)
        return no_socket(err);
    /* "[" begins an IPv6 address. "tcp://[::]:7400" is for both versions; an IPv4 address would be
     * shown mapped to IPv6 if this were always on. */
    int v6 = strchr(link->o.listen, '[') != NULL;
    if (!set_common(link, s) || !set_int(s, ZMQ_IPV6, v6) || !set_int(s, ZMQ_CURVE_SERVER, 1) ||
        zmq_setsockopt(s, ZMQ_ZAP_DOMAIN, "tacit", 5) != 0 ||
        !set_int(s, ZMQ_ZAP_ENFORCE_DOMAIN, 1) ||
        !set_int(s, ZMQ_RCVHWM, 0) || /* see link_watch.c */
        !set_int(s, ZMQ_LINGER, 0))
        return tacit_fail(err, TACIT_EINTERNAL, "ZeroMQ refuses an option: %s",
                          zmq_strerror(errno));
    tacit_status status = link_watch_start(link, err);
    if (status)
        return status;
    if (zmq_bind(s, link->o.listen) != 0)
        return tacit_fail(err, TACIT_EPEER, "cannot listen at \"%.100s\": %s", link->o.listen,
                          zmq_strerror(errno));
    size_t len = sizeof link->endpoint;
    if (zmq_getsockopt(s, ZMQ_LAST_ENDPOINT, link->endpoint, &len) != 0)
        return tacit_fail(err, TACIT_EINTERNAL, "ZeroMQ does not say where it listens");
    return TACIT_OK;
}

tacit_status tacit_link_create(tacit_link **out, const tacit_identity *self,
                               const tacit_link_options *o, tacit_error *err)
{
    *out = NULL;
    tacit_status status = check_options(o, err);
    if (status)
        return status;
    tacit_link *link = calloc(1, sizeof *link);
    if (!link)
        return tacit_out_of_memory(err);
    link->o = *o;
    memcpy(link->curve_public, self->curve_public, sizeof link->curve_public);
    memcpy(link->curve_secret, self->curve_secret, sizeof link->curve_secret);
    status = link_table_init(&link->peers, err);
    if (!status && !(link->context = zmq_ctx_new()))
        status = tacit_out_of_memory(err);
    if (!status && zmq_ctx_set(link->context, ZMQ_MAX_SOCKETS, SOCKETS) != 0)
        status = tacit_fail(err, TACIT_EINTERNAL, "ZeroMQ refuses to have %d sockets", SOCKETS);
    if (!status)
        status = open_zap(link, err);
    if (!status)
        status = open_pull(link, err);
    if (status) {
        tacit_link_free(link);
        return status;
    }
    link->o.listen = link->endpoint;
    *out = link;
    return TACIT_OK;
}

void tacit_link_free(tacit_link *link)
{
    if (!link)
        return;
    for (size_t i = 0; i < link->peers.count; i++)
        if (link->peers.peer[i]->push)
            zmq_close(link->peers.peer[i]->push);
    link_watch_stop(link);
    if (link->pull)
        zmq_close(link->pull);
    if (link->zap)
        zmq_close(link->zap);
    while (link->context && zmq_ctx_term(link->context) != 0 && errno == EINTR)
        ;
    link_table_clear(&link->peers);
    free(link->items);
    sodium_memzero(link, sizeof *link);
    free(link);
}

const char *tacit_link_endpoint(const tacit_link *link)
{
    return link->endpoint;
}

tacit_status tacit_link_allow(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES],
                              tacit_error *err)
{
    link_peer *p;
    tacit_status status = link_add(&link->peers, key, &p, err);
    if (!status)
        p->standing = LINK_ALLOWED;
    return status;
}

void tacit_link_forbid(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES])
{
    link_peer *p = link_find(&link->peers, key);
    if (!p && link->o.open && link_add(&link->peers, key, &p, NULL) != TACIT_OK)
        p = NULL;
    if (p)
        p->standing = LINK_FORBIDDEN;
}

tacit_status tacit_link_meet(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES],
                             tacit_error *err)
{
    if (link_find(&link->peers, key))
        return TACIT_OK;
    uint8_t curve[TACIT_CURVE_BYTES];
    tacit_status status = tacit_identity_curve(curve, key, err);
    if (status)
        return status;
    char user[LINK_TEXT + 1];
    sodium_bin2hex(user, sizeof user, curve, sizeof curve);
    if (!link_find_user(&link->peers, user))
        return tacit_fail(err, TACIT_EPEER, "no connection proves the identity \"%.8s...\"", user);
    link_peer *p;
    return link_add(&link->peers, key, &p, err);
}

/* ---- out ---- */

static bool is_port(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits >= 1 && digits <= 5 && text[digits] == '\0' && text[0] != '0' &&
           strtol(text, NULL, 10) <= UINT16_MAX;
}

/* Endpoints come from others, and ZeroMQ knows more kinds of them than we want. */
static tacit_status check_endpoint(const char *endpoint, tacit_error *err)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-_:[]%";
    size_t len = strnlen(endpoint, TACIT_ENDPOINT_MAX + 1);
    const char *port = len <= TACIT_ENDPOINT_MAX ? strrchr(endpoint, ':') : NULL;
    if (port && strncmp(endpoint, "tcp://", 6) == 0 && port > endpoint + 6 && is_port(port + 1) &&
        strspn(endpoint + 6, letters) == len - 6)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "cannot connect to \"%.*s\"; an endpoint is \"tcp://HOST:PORT\" and has at "
                      "most %d bytes",
                      TACIT_ENDPOINT_MAX, endpoint, TACIT_ENDPOINT_MAX);
}

static bool set_push(const tacit_link *link, const link_peer *p, void *s)
{
    return set_common(link, s) && set_int(s, ZMQ_IPV6, 1) &&
           set_int(s, ZMQ_SNDHWM, link->o.queue) && set_int(s, ZMQ_RCVHWM, 1) &&
           set_int(s, ZMQ_LINGER, LINGER) && set_int(s, ZMQ_RECONNECT_IVL, AGAIN) &&
           set_int(s, ZMQ_RECONNECT_IVL_MAX, AGAIN_MAX) &&
           set_int(s, ZMQ_CONNECT_TIMEOUT, CONNECT) &&
           zmq_setsockopt(s, ZMQ_CURVE_PUBLICKEY, link->curve_public, TACIT_CURVE_BYTES) == 0 &&
           zmq_setsockopt(s, ZMQ_CURVE_SERVERKEY, p->curve, TACIT_CURVE_BYTES) == 0;
}

static void close_push(link_peer *p)
{
    if (!p->push)
        return;
    set_int(p->push, ZMQ_LINGER, 0);
    zmq_close(p->push);
    p->push = NULL;
}

/* A socket for this peer in place of the one it had, which stays if that fails. */
static tacit_status open_push(tacit_link *link, link_peer *p, const char *endpoint,
                              tacit_error *err)
{
    void *s = zmq_socket(link->context, ZMQ_PUSH);
    if (!s)
        return no_socket(err);
    tacit_status status = TACIT_OK;
    if (!set_push(link, p, s))
        status =
            tacit_fail(err, TACIT_EINTERNAL, "ZeroMQ refuses an option: %s", zmq_strerror(errno));
    else if (zmq_connect(s, endpoint) != 0)
        status = tacit_fail(err, TACIT_EINPUT, "cannot connect to \"%s\": %s", endpoint,
                            zmq_strerror(errno));
    if (status) {
        zmq_close(s);
        return status;
    }
    close_push(p);
    p->push = s;
    p->since = 0;
    p->writable = link_clock();
    return TACIT_OK;
}

tacit_status tacit_link_connect(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES],
                                const char *endpoint, tacit_error *err)
{
    link_peer *p;
    tacit_status status = check_endpoint(endpoint, err);
    if (!status)
        status = link_add(&link->peers, key, &p, err);
    if (status)
        return status;
    p->standing = LINK_ALLOWED;
    if (p->push && strcmp(p->endpoint, endpoint) == 0)
        return TACIT_OK;
    status = open_push(link, p, endpoint, err);
    if (!status)
        snprintf(p->endpoint, sizeof p->endpoint, "%s", endpoint);
    return status;
}

/*
 * ZeroMQ connects again after a connection breaks, but not after one on which the other end, or
 * somebody on the way, said something that is not ZMTP or not CURVE: then the socket takes nothing
 * for ever. It cannot be told from one whose queue is full, unless it was given less than that, or
 * it lasts.
 */
void link_revive(tacit_link *link, double now)
{
    const double most = fmax(STUCK, 5 * link->o.heartbeat);
    for (size_t i = 0; i < link->peers.count; i++) {
        link_peer *p = link->peers.peer[i];
        int events = 0;
        size_t len = sizeof events;
        if (!p->push || zmq_getsockopt(p->push, ZMQ_EVENTS, &events, &len) != 0)
            continue;
        if (events & ZMQ_POLLOUT)
            p->writable = now;
        else if (p->since < (uint64_t)link->o.queue || now - p->writable > most)
            (void)open_push(link, p, p->endpoint, NULL); /* or in a second */
    }
}

void tacit_link_disconnect(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES])
{
    link_peer *p = link_find(&link->peers, key);
    if (p)
        close_push(p);
}

tacit_status tacit_link_send(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES],
                             const void *head, size_t head_len, const void *body, size_t body_len,
                             tacit_error *err)
{
    size_t len;
    if (!tacit_add_size(head_len, body_len, &len) || len > link->o.frame_max)
        return tacit_fail(err, TACIT_EINPUT, "a frame of %zu and %zu bytes; %zu is the most",
                          head_len, body_len, link->o.frame_max);
    link_peer *p = link_find(&link->peers, key);
    if (!p || !p->push)
        return TACIT_NO;
    zmq_msg_t msg;
    if (zmq_msg_init_size(&msg, len) != 0)
        return tacit_out_of_memory(err);
    uint8_t *to = zmq_msg_data(&msg);
    if (head_len > 0)
        memcpy(to, head, head_len);
    if (body_len > 0)
        memcpy(to + head_len, body, body_len);
    int sent;
    do
        sent = zmq_msg_send(&msg, p->push, ZMQ_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0) {
        p->since++;
        p->counts.frames_out++;
        p->counts.bytes_out += len;
        return TACIT_OK;
    }
    int number = errno;
    zmq_msg_close(&msg);
    if (number != EAGAIN)
        return tacit_fail(err, TACIT_EPEER, "cannot send to \"%s\": %s", p->endpoint,
                          zmq_strerror(number));
    p->counts.queue_full++;
    return TACIT_NO;
}

/* ---- counters ---- */

tacit_link_counts tacit_link_totals(const tacit_link *link)
{
    return link->counts;
}

bool tacit_link_peer(const tacit_link *link, size_t index, tacit_link_peer_counts *out)
{
    if (index >= link->peers.count)
        return false;
    *out = link->peers.peer[index]->counts;
    return true;
}
