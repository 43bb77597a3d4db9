/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch over connections that others made to us, for the two ways in which ZeroMQ lets a peer
 * that passed the handshake fill our memory: a message in many parts counts as one in a queue
 * until its last part comes, and every connection has a queue of its own.
 *
 * A monitor tells which connections come and go. The kernel tells how many bytes came over each
 * (TCP_INFO). Frames are contiguous in a stream, so that all bytes before one that arrived are
 * accounted for; a connection that took in more since its last frame than queue and buffers can
 * hold is closed. So is the oldest connection that never sent a frame when there are too many.
 * Closing is by shutdown(2) of the descriptor: ZeroMQ notices and cleans up. Should the
 * descriptor be another connection's by then, that one connects again.
 */
#include <errno.h>
#include <linux/tcp.h> /* netinet/tcp.h does not know tcpi_bytes_received */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/array.h"
#include "net/link_internal.h"

#define MONITOR "inproc://tacit.connections"

enum {
    EVENTS = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
             ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL,
    EVENT_BYTES = 6,         /* what happened and to which descriptor */
    DRAIN = 1000,            /* events in one call */
    BUFFERS = 16 << 20,      /* bytes: kernels take in 6 MB before ZeroMQ reads, by default */
    SPARE = 64,              /* connections beyond ... */
    CONNECTIONS_A_PEER = 4,  /* ... so many a peer: old ones take a moment to end */
    DESCRIPTOR_MAX = 1 << 20 /* none is larger, or the monitor is wrong */
};

double link_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The monitor's queue has no bound, because ZeroMQ's thread would wait for us at one. */
tacit_status link_watch_start(tacit_link *link, tacit_error *err)
{
    const int none = 0;
    link_watch *w = &link->watch;
    if (zmq_socket_monitor(link->pull, MONITOR, EVENTS) == 0 &&
        (w->monitor = zmq_socket(link->context, ZMQ_PAIR)) &&
        zmq_setsockopt(w->monitor, ZMQ_LINGER, &none, sizeof none) == 0 &&
        zmq_setsockopt(w->monitor, ZMQ_RCVHWM, &none, sizeof none) == 0 &&
        zmq_connect(w->monitor, MONITOR) == 0)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EPEER, "cannot watch connections: %s", zmq_strerror(errno));
}

void link_watch_stop(tacit_link *link)
{
    if (link->pull)
        zmq_socket_monitor(link->pull, NULL, 0);
    if (link->watch.monitor)
        zmq_close(link->watch.monitor);
    free(link->watch.item);
    link->watch = (link_watch){.monitor = NULL};
}

/* ---- connections that come and go ---- */

static link_connection *connection(link_watch *w, int fd)
{
    return fd >= 0 && (size_t)fd < w->count && w->item[fd].number ? &w->item[fd] : NULL;
}

static void close_connection(link_watch *w, int fd)
{
    w->item[fd].closing = true;
    w->open--;
    shutdown(fd, SHUT_RDWR);
}

/* The oldest that never said anything, or `latest`. */
static int least_useful(const link_watch *w, int latest)
{
    int best = latest;
    for (size_t fd = 0; fd < w->count; fd++) {
        const link_connection *c = &w->item[fd];
        if (c->number && !c->closing && !c->ever && c->number < w->item[best].number)
            best = (int)fd;
    }
    return best;
}

static void gone(link_watch *w, int fd)
{
    link_connection *c = connection(w, fd);
    if (!c)
        return;
    w->open -= !c->closing;
    *c = (link_connection){.number = 0};
}

static void came(tacit_link *link, int fd)
{
    link_watch *w = &link->watch;
    gone(w, fd);
    if (fd < 0 || fd >= DESCRIPTOR_MAX)
        return;
    size_t needed = (size_t)fd + 1;
    if (needed > w->count) {
        void *bigger = tacit_array_grow(w->item, &w->capacity, needed, sizeof *w->item);
        if (!bigger) {
            shutdown(fd, SHUT_RDWR);
            return;
        }
        w->item = bigger;
        memset(w->item + w->count, 0, (needed - w->count) * sizeof *w->item);
        w->count = needed;
    }
    w->item[fd] = (link_connection){.number = ++w->numbers};
    w->open++;
    if (w->open > SPARE + CONNECTIONS_A_PEER * link->peers.count)
        close_connection(w, least_useful(w, fd));
}

/* One event has two parts: what, and where, of which we have only one. */
static bool take_event(void *monitor, uint16_t *what, int32_t *value)
{
    zmq_msg_t msg;
    zmq_msg_init(&msg);
    bool got = zmq_msg_recv(&msg, monitor, ZMQ_DONTWAIT) >= 0;
    *what = 0;
    if (got && zmq_msg_size(&msg) == EVENT_BYTES) {
        memcpy(what, zmq_msg_data(&msg), sizeof *what);
        memcpy(value, (const char *)zmq_msg_data(&msg) + sizeof *what, sizeof *value);
    }
    zmq_msg_close(&msg);
    return got;
}

void link_watch_drain(tacit_link *link)
{
    uint16_t what;
    int32_t value = -1;
    for (int i = 0; i < DRAIN && take_event(link->watch.monitor, &what, &value); i++)
        switch (what) {
        case ZMQ_EVENT_ACCEPTED:
            came(link, value);
            break;
        case ZMQ_EVENT_DISCONNECTED:
            gone(&link->watch, value);
            break;
        case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
            link->counts.refused++;
            break;
        default:
            break; /* the address */
        }
}

/* ---- connections that eat memory ---- */

static bool bytes_taken_in(int fd, uint64_t *bytes)
{
    struct tcp_info info;
    socklen_t len = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
        return false;
    *bytes = info.tcpi_bytes_received;
    return true;
}

void link_watch_look(tacit_link *link)
{
    link_watch *w = &link->watch;
    link_watch_drain(link);
    const uint64_t most = (uint64_t)link->o.queue * (link->o.frame_max + 64) + BUFFERS;
    for (size_t fd = 0; fd < w->count; fd++) {
        link_connection *c = &w->item[fd];
        uint64_t bytes;
        if (!c->number || c->closing || !bytes_taken_in((int)fd, &bytes))
            continue;
        if (c->spoke)
            c->marked = bytes;
        c->spoke = false;
        if (bytes > c->marked && bytes - c->marked > most) {
            link->counts.refused++;
            close_connection(w, (int)fd);
        }
    }
}

void link_watch_spoke(link_watch *w, int fd)
{
    link_connection *c = connection(w, fd);
    if (c)
        c->spoke = c->ever = true;
}
