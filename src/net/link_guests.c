/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests: connections that have not proved a key yet. Anybody who reaches the port can make them,
 * so there is room for a limited number, and whoever comes when it is used up costs a guest its
 * place. An honest peer far away needs several round trips until its key has passed. So that a
 * flood of others does not take its place in the meantime:
 *
 *  1. A connection whose key has passed is no guest any more, whether it has said something or not.
 *  2. One source address has at most half of the room, so a flood from elsewhere costs
 *     nobody here a place; and when all the room is used up, the address with the most guests
 *     loses one. (Of IPv6 the first 64 bits count: who has one address there has them all.)
 *  3. Of two guests of that address, chosen by chance, the one goes that has sent fewer bytes. A
 *     bare connection has sent none, so a peer at the same address (behind the same router) that
 *     goes on with its handshake stays. Who floods with the beginnings of handshakes sends away one
 *     of them by chance, not always the oldest, which would be the one that is nearly done.
 *  4. Addresses with equally many guests count as one address in rule 3. So who has many addresses
 *     and makes one bare connection from each does not send away a peer that has sent something.
 *
 * How far a handshake is the kernel tells (TCP_INFO): ZeroMQ's monitor does not say of which
 * connection a handshake has succeeded. Before a key has passed the other end gets our greeting,
 * our WELCOME and perhaps an ERROR; only behind that comes READY. So the key has passed if we have
 * sent more bytes than the former have, those not counted that TCP had to send again.
 */
#include <netinet/in.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "net/link_internal.h"

enum {
    GREETING = 64, /* ZMTP 3.1 */
    WELCOME = 170, /* CURVE, with the header of a command */
    ERROR = 12,    /* ... with a status of three digits, that of ZAP */
    WITHOUT_KEY = GREETING + WELCOME + ERROR
};

void link_source(const struct sockaddr *from, uint8_t source[LINK_SOURCE])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    memset(source, 0, LINK_SOURCE);
    if (from->sa_family == AF_INET) {
        memcpy(source, mapped, sizeof mapped);
        memcpy(source + sizeof mapped, &((const struct sockaddr_in *)from)->sin_addr, 4);
    } else if (from->sa_family == AF_INET6) {
        memcpy(source, &((const struct sockaddr_in6 *)from)->sin6_addr, LINK_SOURCE);
        if (memcmp(source, mapped, sizeof mapped) != 0)
            memset(source + 8, 0, LINK_SOURCE - 8);
    }
}

void link_source_of(int fd, uint8_t source[LINK_SOURCE])
{
    struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof from;
    if (getpeername(fd, (struct sockaddr *)&from, &len) != 0)
        from.ss_family = AF_UNSPEC; /* it has gone already */
    link_source((struct sockaddr *)&from, source);
}

static bool is_guest(const link_connection *c)
{
    return c->number && !c->closing && !c->spoke && !c->passed;
}

void link_note_progress(link_connection *c, uint64_t arrived, uint64_t sent)
{
    c->arrived = arrived;
    c->passed = c->passed || sent > WITHOUT_KEY;
}

typedef struct guest {
    uint8_t source[LINK_SOURCE];
    int fd;
} guest;

static int by_source(const void *a, const void *b)
{
    const guest *x = a, *y = b;
    const int order = memcmp(x->source, y->source, LINK_SOURCE);
    return order ? order : (x->fd > y->fd) - (x->fd < y->fd);
}

/* All guests, by source; NULL without memory, or if there are none. */
static guest *list_guests(const link_watch *w, size_t *count)
{
    guest *all = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t fd = 0; fd < w->count; fd++) {
        if (!is_guest(&w->item[fd]))
            continue;
        guest *more = tacit_array_grow(all, &capacity, *count + 1, sizeof *all);
        if (!more)
            break;
        all = more;
        all[*count].fd = (int)fd;
        memcpy(all[(*count)++].source, w->item[fd].source, LINK_SOURCE);
    }
    if (*count > 1)
        qsort(all, *count, sizeof *all, by_source);
    return all;
}

/* Keep the guests of those sources that have most of them, at the front; their number. */
static size_t keep_largest_sources(guest *all, size_t count, size_t *most)
{
    size_t kept = 0;
    *most = 0;
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count; next++)
            if (memcmp(all[next].source, all[first].source, LINK_SOURCE) != 0)
                break;
        const size_t size = next - first;
        if (size < *most)
            continue;
        if (size > *most)
            kept = 0;
        *most = size;
        memmove(all + kept, all + first, size * sizeof *all);
        kept += size;
    }
    return kept;
}

/* Of two of them, chosen by chance, the one that has sent less and has not passed by now. */
static int pick(link_watch *w, const guest *some, size_t count)
{
    if (count == 0)
        return -1;
    const size_t one = randombytes_uniform((uint32_t)count);
    const size_t gap = count > 1 ? 1 + randombytes_uniform((uint32_t)count - 1) : 0;
    const int fd[2] = {some[one].fd, some[(one + gap) % count].fd};
    int go = -1;
    for (int k = 0; k < 2; k++) {
        link_connection *c = &w->item[fd[k]];
        link_look_at(fd[k], c);
        if (!c->passed && (go < 0 || c->arrived < w->item[go].arrived))
            go = fd[k];
    }
    return go;
}

int link_guest_to_go(tacit_link *link, size_t room)
{
    link_watch *w = &link->watch;
    size_t guests = 0, count, most;
    for (size_t fd = 0; fd < w->count; fd++)
        guests += is_guest(&w->item[fd]);
    if (guests <= room / 2)
        return -1;
    guest *all = list_guests(w, &count);
    const size_t largest = keep_largest_sources(all, count, &most);
    const bool full = count > room || most > room / 2;
    const int go = full ? pick(w, all, largest) : -1;
    free(all);
    return go;
}
