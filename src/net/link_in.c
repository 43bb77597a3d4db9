/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes in over a link: handshakes that ask whether a key may (ZeroMQ's RFC 27), and frames.
 * Both are answered by the thread that uses the link.
 *
 * A frame is dropped, in this order, if it has several parts or is too long (ours never are), if
 * its sender may not (any more), or if the sender is above its rate. Many drops in a row end the
 * call as if nothing had come: who floods us must not keep us from other work.
 */
#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "net/link_internal.h"

link_peer *link_admit(tacit_link *link, const char user[LINK_TEXT])
{
    link_peer *p = link_find_user(&link->peers, user);
    if (!p && link->o.open)
        p = link_add_stranger(&link->peers, user);
    if (!p || p->standing == LINK_ALLOWED)
        return p;
    return link->o.open && p->standing == LINK_STRANGER ? p : NULL;
}

/* ---- handshakes ---- */

enum { ZAP_VERSION, ZAP_REQUEST, ZAP_DOMAIN, ZAP_ADDRESS, ZAP_ROUTING, ZAP_MECHANISM, ZAP_KEY };
enum { ZAP_PARTS = ZAP_KEY + 1 };

static bool is_text(zmq_msg_t *msg, const char *text)
{
    return zmq_msg_size(msg) == strlen(text) && memcmp(zmq_msg_data(msg), text, strlen(text)) == 0;
}

/* All parts of a request, so many of them; -1: none waits. */
static int take_request(void *zap, zmq_msg_t part[ZAP_PARTS])
{
    int count = 0, more = 1;
    while (more) {
        zmq_msg_t msg;
        zmq_msg_init(&msg);
        if (zmq_msg_recv(&msg, zap, ZMQ_DONTWAIT) < 0) {
            if (errno == EINTR)
                continue;
            break; /* parts come together, so that there is none */
        }
        more = zmq_msg_more(&msg);
        if (count < ZAP_PARTS)
            zmq_msg_move(&part[count], &msg);
        zmq_msg_close(&msg);
        count++;
    }
    return count > 0 ? count : -1;
}

static void send_part(void *zap, const void *bytes, size_t len, int flags)
{
    while (zmq_send(zap, bytes, len, flags | ZMQ_DONTWAIT) < 0 && errno == EINTR)
        ;
}

/* One request; false if none waits. */
static bool answer_one(tacit_link *link)
{
    zmq_msg_t part[ZAP_PARTS];
    for (int i = 0; i < ZAP_PARTS; i++)
        zmq_msg_init(&part[i]);
    int count = take_request(link->zap, part);
    if (count < 0)
        return false;
    char user[LINK_TEXT + 1] = "";
    bool good = count == ZAP_PARTS && is_text(&part[ZAP_VERSION], "1.0") &&
                is_text(&part[ZAP_MECHANISM], "CURVE") &&
                zmq_msg_size(&part[ZAP_KEY]) == TACIT_CURVE_BYTES;
    if (good) {
        sodium_bin2hex(user, sizeof user, zmq_msg_data(&part[ZAP_KEY]), TACIT_CURVE_BYTES);
        const link_peer *p = link_admit(link, user);
        good = p && link_bytes_room(link, p);
        if (good)
            link_bytes_name(link, user, zmq_msg_data(&part[ZAP_ADDRESS]),
                            zmq_msg_size(&part[ZAP_ADDRESS]));
    }
    /* ZeroMQ's client does not try again after 400, so that ours sees to it (link_revive): the
     * key may be put on the list later. 300 would leave the connection to time out. */
    const char *code = good ? "200" : "400",
               *text = good ? "OK" : "not on the list, or too much of it waits";
    send_part(link->zap, "1.0", 3, ZMQ_SNDMORE);
    send_part(link->zap, zmq_msg_data(&part[ZAP_REQUEST]), zmq_msg_size(&part[ZAP_REQUEST]),
              ZMQ_SNDMORE);
    send_part(link->zap, code, 3, ZMQ_SNDMORE);
    send_part(link->zap, text, strlen(text), ZMQ_SNDMORE);
    send_part(link->zap, user, good ? LINK_TEXT : 0, ZMQ_SNDMORE);
    send_part(link->zap, "", 0, 0);
    for (int i = 0; i < ZAP_PARTS; i++)
        zmq_msg_close(&part[i]);
    link->counts.accepted += good;
    link->counts.refused += !good;
    link->watch.refused_keys += !good;
    return true;
}

void link_answer(tacit_link *link)
{
    link->turns = 0;
    for (int i = 0; i < LINK_TURNS && answer_one(link); i++)
        ;
    double now = link_clock();
    if (now >= link->next_look) {
        link->next_look = now + LINK_LOOK;
        link_watch_drain(link);
        link_bytes_look(link, now);
    }
    if (now >= link->next_revival) {
        link->next_revival = now + LINK_REVIVAL;
        link_revive(link, now);
    }
}

/* ---- frames ---- */

/* The whole of what waits first; false if it is no frame of ours, -1 if nothing waits. */
static int take_message(tacit_link *link, zmq_msg_t *msg)
{
    bool single = true;
    for (;;) {
        zmq_msg_init(msg);
        if (zmq_msg_recv(msg, link->pull, ZMQ_DONTWAIT) < 0) {
            int number = errno;
            zmq_msg_close(msg);
            if (number == EINTR)
                continue;
            link_bytes_none(link);
            return -1;
        }
        link_watch_took(link, msg);
        if (!zmq_msg_more(msg))
            break;
        single = false;
        zmq_msg_close(msg);
    }
    if (!single)
        zmq_msg_close(msg);
    return single;
}

static bool within_rate(const tacit_link_options *o, link_peer *p, size_t len, double now)
{
    const double frames = tacit_rate_fill(&p->frames, o->rate, o->burst, now);
    const double burst = fmax(o->byte_rate * o->burst / o->rate, (double)o->frame_max);
    const bool bytes = o->byte_rate > 0;
    if (bytes && tacit_rate_fill(&p->bytes, o->byte_rate, burst, now) < (double)len)
        return false;
    if (frames < 1)
        return false;
    tacit_rate_take(&p->frames, 1);
    if (bytes)
        tacit_rate_take(&p->bytes, (double)len);
    return true;
}

/* Who sent it, if it is to be looked at; NULL otherwise. */
static link_peer *judge(tacit_link *link, zmq_msg_t *msg, double now)
{
    link->received++;
    const char *user = zmq_msg_gets(msg, "User-Id");
    link_peer *p =
        user && strnlen(user, LINK_TEXT + 1) == LINK_TEXT ? link_admit(link, user) : NULL;
    size_t len = zmq_msg_size(msg);
    if (!p || len > link->o.frame_max) {
        link->counts.strangers += !p;
        return NULL;
    }
    p->heard = link->received;
    if (!within_rate(&link->o, p, len, now)) {
        p->counts.over_rate++;
        return NULL;
    }
    p->counts.frames_in++;
    p->counts.bytes_in += len;
    return p;
}

tacit_status tacit_link_receive(tacit_link *link, double now, tacit_frame *frame, tacit_error *err)
{
    *frame = (tacit_frame){.len = 0};
    if (++link->turns >= LINK_TURNS)
        link_answer(link);
    zmq_msg_t *msg = malloc(sizeof *msg);
    if (!msg)
        return tacit_out_of_memory(err);
    for (int dropped = 0; dropped < LINK_FLOOD; dropped++) {
        int got = take_message(link, msg);
        if (got < 0) {
            link_answer(link);
            break;
        }
        if (!got)
            continue;
        const link_peer *p = judge(link, msg, now);
        if (p) {
            *frame = (tacit_frame){.known = p->counts.known,
                                   .bytes = zmq_msg_data(msg),
                                   .len = zmq_msg_size(msg),
                                   .keep = msg};
            memcpy(frame->from, p->counts.key, sizeof frame->from);
            return TACIT_OK;
        }
        zmq_msg_close(msg);
    }
    free(msg);
    return TACIT_NO;
}

void tacit_link_charge(tacit_link *link, const uint8_t key[TACIT_IDENTITY_BYTES], double frames)
{
    link_peer *p = link_find(&link->peers, key);
    if (p)
        tacit_rate_take(&p->frames, frames);
}

void tacit_frame_free(tacit_frame *frame)
{
    if (frame->keep) {
        zmq_msg_close(frame->keep);
        free(frame->keep);
    }
    *frame = (tacit_frame){.len = 0};
}

/* ---- waiting ---- */

/* At least a millisecond if there is something left, so that the last one is not spun away. */
static long milliseconds(double seconds)
{
    return seconds <= 0 ? 0 : (long)ceil(fmin(seconds, 1e6) * 1000);
}

static bool any_readable(const zmq_pollitem_t *items, size_t count, bool *readable)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        readable[i] = items[i].revents != 0;
        any = any || readable[i];
    }
    return any;
}

bool tacit_link_wait(tacit_link *link, double seconds, const int *fds, size_t count, bool *readable)
{
    if (!fds)
        count = 0;
    enum { FRAMES, HANDSHAKES, CONNECTIONS, OURS };
    void *items =
        tacit_array_grow(link->items, &link->items_capacity, OURS + count, sizeof *link->items);
    if (!items)
        count = 0; /* a wait without them is better than none: they are looked at next time */
    else
        link->items = items;
    zmq_pollitem_t ours[OURS] = {{.socket = link->pull, .events = ZMQ_POLLIN},
                                 {.socket = link->zap, .events = ZMQ_POLLIN},
                                 {.socket = link->watch.monitor, .events = ZMQ_POLLIN}};
    zmq_pollitem_t *item = items ? items : ours;
    memcpy(item, ours, sizeof ours);
    for (size_t i = 0; i < count; i++)
        item[OURS + i] = (zmq_pollitem_t){.fd = fds[i], .events = ZMQ_POLLIN};
    const double end = link_clock() + seconds;
    for (double left = seconds;; left = end - link_clock()) {
        int ready = zmq_poll(item, (int)(OURS + count), milliseconds(left));
        if (ready < 0)
            return errno != EINTR;
        if (item[CONNECTIONS].revents)
            link_watch_drain(link);
        link_answer(link);
        if (any_readable(item + OURS, count, readable) || item[FRAMES].revents || !(left > 0))
            return true;
    }
}
