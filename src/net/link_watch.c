/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch over connections that others made to us: which there are.
 *
 * ZeroMQ could stop reading when its queue is full (RCVHWM). We do not let it. A connection that
 * breaks while it is stopped, with a PING among the bytes read already, ends the process by an
 * assertion of the library (4.3.4), so that any peer could end us. Nor would it be a bound: a
 * message in many parts counts as one, and only once its last part is there.
 *
 * Instead we count. A monitor tells which connections come and go, the kernel how many bytes came
 * over each (TCP_INFO), and every frame that we take says which connection it came by. What came
 * and was not taken is in the kernel's buffers and ZeroMQ's queue; above `queue` full frames and
 * the buffers a peer is cut off (link_bytes.c). Since we look while we wait or receive, a peer can
 * add what it sends between two looks.
 *
 * There are not too many connections either. Who proved a key keeps its CONNECTIONS_A_PEER latest
 * that sent a frame, whatever others have. Those whose key has passed and that never sent a frame
 * are as many as all peers could need and SPARE ones: then the oldest of them is closed. As many
 * may be without a key; link_guests.c says which of those go. None of the three kinds takes the
 * places of another. (In open mode this holds as long as there are no more keys than the link
 * remembers.)
 *
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

/*
 * Not ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL: who listens to that one makes the library (4.3.4) forget
 * why it failed, and a connection on which a frame was garbled is neither read nor closed any more
 * (errno, in decode of curve_mechanism_base.cpp). Instead a connection that ends without a frame
 * counts as refused, unless our own refusal was counted already.
 */
#define MONITOR "inproc://tacit.connections"

enum {
    EVENTS = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED,
    EVENT_BYTES = 6,         /* what happened and to which descriptor */
    DRAIN = 1000,            /* events in one call */
    SPARE = 64,              /* connections of a kind beyond ... */
    CONNECTIONS_A_PEER = 4,  /* ... so many a peer, of one key: old ones take a moment to end */
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

void link_close(tacit_link *link, int fd)
{
    link_connection *c = &link->watch.item[fd];
    shutdown(fd, SHUT_RDWR);
    link_look_at(fd, c); /* nothing comes behind this */
    link_bytes_leave(link, c, true);
    c->closing = true;
    link->counts.refused++;
}

bool link_look_at(int fd, link_connection *c)
{
    struct tcp_info info;
    socklen_t len = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
        return false;
    link_note_progress(c, info.tcpi_bytes_received, info.tcpi_bytes_sent - info.tcpi_bytes_retrans);
    return true;
}

/* The oldest whose key has passed and that never said anything, if they are too many; else -1. */
static int silent_to_go(const link_watch *w, size_t room)
{
    size_t count = 0;
    int oldest = -1;
    for (size_t fd = 0; fd < w->count; fd++) {
        const link_connection *c = &w->item[fd];
        if (!c->number || c->closing || c->spoke || !c->passed)
            continue;
        count++;
        if (oldest < 0 || c->number < w->item[oldest].number)
            oldest = (int)fd;
    }
    return count > room ? oldest : -1;
}

static void make_room(tacit_link *link)
{
    const size_t room = SPARE + CONNECTIONS_A_PEER * link->peers.count;
    const int guest = link_guest_to_go(link, room), silent = silent_to_go(&link->watch, room);
    if (guest >= 0)
        link_close(link, guest);
    if (silent >= 0)
        link_close(link, silent);
}

static void gone(tacit_link *link, int fd)
{
    link_watch *w = &link->watch;
    link_connection *c = connection(w, fd);
    if (!c)
        return;
    if (!c->spoke && !c->closing && w->refused_keys == 0)
        link->counts.refused++;
    else if (!c->spoke && !c->closing)
        w->refused_keys--;
    if (!c->closing)
        link_bytes_leave(link, c, false);
    *c = (link_connection){.number = 0};
}

static void came(tacit_link *link, int fd)
{
    link_watch *w = &link->watch;
    gone(link, fd);
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
    link_source_of(fd, w->item[fd].source);
    make_room(link);
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
        if (what == ZMQ_EVENT_ACCEPTED)
            came(link, value);
        else if (what == ZMQ_EVENT_DISCONNECTED)
            gone(link, value);
}

/* ---- connections of one key ---- */

/* The latest of this key stay. */
static void close_oldest_of(tacit_link *link, const char user[LINK_TEXT])
{
    const link_watch *w = &link->watch;
    size_t count = 0, oldest = 0;
    for (size_t fd = 0; fd < w->count; fd++) {
        const link_connection *c = &w->item[fd];
        if (!c->number || c->closing || !c->spoke || memcmp(c->user, user, LINK_TEXT) != 0)
            continue;
        if (count++ == 0 || c->number < w->item[oldest].number)
            oldest = fd;
    }
    if (count > CONNECTIONS_A_PEER)
        link_close(link, (int)oldest);
}

void link_watch_took(tacit_link *link, zmq_msg_t *msg)
{
    const int fd = zmq_msg_get(msg, ZMQ_SRCFD);
    link_connection *c = connection(&link->watch, fd);
    if (!c) { /* we may not have been told yet */
        link_watch_drain(link);
        c = connection(&link->watch, fd);
    }
    const char *user = zmq_msg_gets(msg, "User-Id");
    if (!user || strnlen(user, LINK_TEXT + 1) != LINK_TEXT)
        return;
    const size_t len = zmq_msg_size(msg) + LINK_OVERHEAD;
    link_bytes_take(link, fd, c && !c->closing ? c : NULL, user,
                    len + (len > UINT8_MAX ? 9 : 2)); /* ZMTP's own header */
    /* The key can change: frames of another that had this descriptor come first. */
    if (!c || c->closing || (c->spoke && memcmp(c->user, user, LINK_TEXT) == 0))
        return;
    c->spoke = c->named = true;
    memcpy(c->user, user, LINK_TEXT);
    close_oldest_of(link, user);
}
