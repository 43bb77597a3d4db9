/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came and has not been taken yet: how much memory peers may fill.
 *
 * ZeroMQ reads whatever comes (link_watch.c says why), and keeps it until we take it, also when the
 * connection has ended. So bytes are counted for each peer over all its connections, those among
 * them that have ended: what came over each (the kernel tells) less the frames that were
 * taken. A peer with more than its share is cut off and not let in again before enough of it was
 * taken. If all together have more than the link may, those above the mean are cut off, and of
 * those who come only such are let in that have nothing waiting.
 *
 * Whose a connection is, its first frame proves. Until we take it, it is counted as that of the key
 * that passed the handshake last from its address: a guess, but only wrong between peers that
 * share an address, and corrected by the first frame. Of a connection that its peer closes we have
 * the count of the last look; so that nobody sends a lot between two looks and closes, over and
 * over, each such end counts TAIL bytes more. Most ends have no such tail, and while others keep
 * the link busy nobody can tell. So tails fade, one in FADE seconds for each peer, as long as
 * frames are taken: ZeroMQ takes them from all connections in turn, those that have ended among
 * them.
 *
 * Some bytes never become frames: those of handshakes, of a frame that was cut, of what the kernel
 * held when a connection was closed. They would add up. But as soon as nothing waits any more,
 * nothing is left of connections that have ended either, and their counts begin at zero.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "net/link_internal.h"

enum {
    BUFFERS = 16 << 20, /* bytes: kernels take in 6 MB before ZeroMQ reads, by default */
    PEERS = 4,          /* so many peers' shares are that of all, unless somebody says another */
    TAIL = 4 << 20,
    FADE = 5,                   /* seconds */
    INITIATED = 64 + 202 + 257, /* bytes of a client whose key can be judged, at least */
    TEXT = 64                   /* of an address */
};

static uint64_t share(const tacit_link *link)
{
    return (uint64_t)link->o.queue * (link->o.frame_max + 64) + BUFFERS;
}

static uint64_t share_of_all(const tacit_link *link)
{
    return link->o.input ? link->o.input : PEERS * share(link);
}

static uint64_t pending(const link_connection *c)
{
    return c->arrived > c->taken ? c->arrived - c->taken : 0;
}

static bool is_open(const link_connection *c)
{
    return c->number && !c->closing;
}

/* ---- whose it is ---- */

static bool source_of_text(const char *text, size_t len, uint8_t source[LINK_SOURCE])
{
    char address[TEXT];
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (len >= sizeof address)
        return false;
    memcpy(address, text, len);
    address[len] = '\0';
    address[strcspn(address, "%")] = '\0'; /* the interface, of a local one */
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1)
        link_source((struct sockaddr *)&v4, source);
    else if (inet_pton(AF_INET6, address, &v6.sin6_addr) == 1)
        link_source((struct sockaddr *)&v6, source);
    else
        return false;
    return true;
}

void link_bytes_name(tacit_link *link, const char user[LINK_TEXT], const char *address, size_t len)
{
    uint8_t source[LINK_SOURCE];
    link_watch *w = &link->watch;
    link_connection *oldest = NULL;
    link_watch_drain(link);
    if (!source_of_text(address, len, source))
        return;
    for (size_t fd = 0; fd < w->count; fd++) {
        link_connection *c = &w->item[fd];
        if (is_open(c) && !c->named && memcmp(c->source, source, LINK_SOURCE) == 0 &&
            link_look_at((int)fd, c) && c->arrived >= INITIATED &&
            (!oldest || c->number < oldest->number))
            oldest = c;
    }
    if (!oldest)
        return;
    oldest->named = true;
    memcpy(oldest->user, user, LINK_TEXT);
}

/* ---- counting ---- */

void link_bytes_leave(tacit_link *link, const link_connection *c, bool by_us)
{
    link_watch *w = &link->watch;
    link_peer *p = c->named ? link_find_user(&link->peers, c->user) : NULL;
    const uint64_t tail = by_us || !c->passed ? 0 : TAIL;
    if (!c->passed && !c->spoke)
        return; /* it was never more than a handshake */
    *(p ? &p->left : &w->left) += pending(c);
    *(p ? &p->tails : &w->tails) += tail;
    if (p)
        p->waiting += tail;
    w->owes = true;
}

static void less(uint64_t *bytes, uint64_t by)
{
    *bytes -= by < *bytes ? by : *bytes;
}

void link_bytes_take(tacit_link *link, int fd, link_connection *c, const char user[LINK_TEXT],
                     uint64_t len)
{
    link_watch *w = &link->watch;
    link_peer *p = link_find_user(&link->peers, user);
    const bool its = p && p->left + p->tails > 0;
    uint64_t *left = its ? &p->left : &w->left, *tails = its ? &p->tails : &w->tails;
    if (w->owes && c && *left + *tails > 0 && pending(c) < len) {
        link_look_at(fd, c); /* perhaps it has come since */
        if (pending(c) < len)
            c = NULL; /* no: it is of an earlier connection */
    }
    if (c) {
        c->taken += len;
        return;
    }
    const uint64_t beyond = len > *left ? len - *left : 0;
    less(left, len);
    less(tails, beyond);
}

void link_bytes_none(tacit_link *link)
{
    if (!link->watch.owes)
        return;
    for (size_t k = 0; k < link->peers.count; k++) {
        link_peer *p = link->peers.peer[k];
        p->left = p->tails = p->waiting = 0;
    }
    link->watch.left = link->watch.tails = link->counts.waiting = 0;
    link->watch.owes = false;
}

/* A pause between two looks, in which nobody took frames, does not count. */
static void fade_tails(tacit_link *link, double now)
{
    link_watch *w = &link->watch;
    const double passed = now - w->looked;
    const bool taking = link->received != w->received;
    w->looked = now;
    w->received = link->received;
    if (!taking || !(passed > 0))
        return;
    const double most = 2 * LINK_LOOK;
    const uint64_t by = (uint64_t)(TAIL * (passed < most ? passed : most) / FADE);
    less(&w->tails, by);
    for (size_t k = 0; k < link->peers.count; k++)
        less(&link->peers.peer[k]->tails, by);
}

/* ---- limits ---- */

/* What all have waiting, and how many have something. */
static uint64_t add_up(tacit_link *link, size_t *who)
{
    link_watch *w = &link->watch;
    uint64_t sum = w->left + w->tails;
    *who = sum > 0;
    for (size_t k = 0; k < link->peers.count; k++) {
        link_peer *p = link->peers.peer[k];
        p->waiting = p->left + p->tails;
    }
    for (size_t fd = 0; fd < w->count; fd++) {
        link_connection *c = &w->item[fd];
        if (!is_open(c) || !link_look_at((int)fd, c))
            continue;
        if (c->taken > c->arrived) /* frames of another that had this descriptor */
            c->taken = c->arrived;
        link_peer *p = c->named ? link_find_user(&link->peers, c->user) : NULL;
        if (p)
            p->waiting += pending(c);
        else
            sum += pending(c), *who += pending(c) > 0;
    }
    for (size_t k = 0; k < link->peers.count; k++) {
        sum += link->peers.peer[k]->waiting;
        *who += link->peers.peer[k]->waiting > 0;
    }
    return sum;
}

void link_bytes_look(tacit_link *link, double now)
{
    link_watch *w = &link->watch;
    size_t who;
    fade_tails(link, now);
    const uint64_t sum = add_up(link, &who);
    const uint64_t mean = who ? sum / who : 0;
    const bool full = sum > share_of_all(link);
    link->counts.waiting = sum;
    for (size_t fd = 0; fd < w->count; fd++) {
        const link_connection *c = &w->item[fd];
        const link_peer *p = c->named ? link_find_user(&link->peers, c->user) : NULL;
        const uint64_t waiting = p ? p->waiting : pending(c);
        if (is_open(c) && (waiting > share(link) || (full && waiting >= mean && waiting > 0)))
            link_close(link, (int)fd);
    }
}

bool link_bytes_room(const tacit_link *link, const link_peer *p)
{
    return p->waiting <= share(link) &&
           (p->waiting == 0 || link->counts.waiting <= share_of_all(link));
}
