/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_LINK_TOOLS_H
#define TACIT_LINK_TOOLS_H
/*
 * Several links in one thread, and a TCP proxy between them that can record, change and hold back
 * what passes. All of them move on only while the test waits for something, so that there are no
 * threads but ZeroMQ's and no timing to get right.
 */
#include <stdbool.h>

#include "net/link.h"
#include "testing.h"

typedef struct side {
    tacit_identity id;
    tacit_link *link;
} side;

/* Setup of every test: what a failed one left open is forgotten. */
int link_tools_begin(void **state);

/* Options that limit nothing a test does by accident. */
tacit_link_options wide_options(void);
/* A fresh identity, if it has none yet, and its link. */
void side_open(side *s, const tacit_link_options *o);
void side_close(side *s);
/* a sends to b and may be heard there. */
void side_connect(side *a, side *b);
void side_send(side *from, const side *to, const void *bytes, size_t len);
uint64_t side_sum(const side *s, const side *of, size_t offset); /* a counter, by offsetof */
#define COUNT(s, of, member) side_sum(s, of, offsetof(tacit_link_peer_counts, member))

/* Everything open moves on a little. */
void move_on(void);
/* Repeat what follows, if anything, and move on until `condition`: fails after a minute. */
#define WAIT_UNTIL(condition) \
    for (double wait_end_ = real_time() + 60; !(condition); move_on_until(wait_end_))
void move_on_until(double end);
double real_time(void);

/* The next frame for `to`, which must come; `now` is the time that the rates see. */
void take(side *to, double now, tacit_frame *frame);
/* ... and is this one. */
void expect_frame(side *to, const side *from, const void *bytes, size_t len);
/* One if it is there already. */
bool take_if_any(side *to, double now, tacit_frame *frame);

/* ---- a proxy for one connection at a time ---- */

enum { TO_SERVER, TO_CLIENT };
typedef struct proxy {
    char endpoint[64];       /* where clients connect */
    int listener, socket[2]; /* socket[TO_SERVER] is connected to the server */
    int server_port;
    size_t passed[2];  /* bytes on this connection */
    size_t flip_at[2]; /* SIZE_MAX: nothing is changed */
    uint8_t flip_by;
    size_t hold_after[2]; /* nothing passes beyond so many bytes */
    uint8_t *record[2];   /* what came in, if `recording` */
    size_t recorded[2];
    bool recording;
    unsigned accepted, closed; /* connections so far */
    double last;               /* when something passed, by real_time */
} proxy;

void proxy_open(proxy *p, const side *server);
void proxy_close(proxy *p);
void proxy_step(proxy *p);    /* a little of what move_on does */
void proxy_hang_up(proxy *p); /* this connection */
void proxy_move(proxy *p);    /* to another port: whoever still knocks at the old one is lost */

/* A TCP connection to a link, by hand. */
int raw_connect(const side *server);
/* ... as if from another host: 127.0.0.HOST. */
int raw_connect_from(const side *server, int host);
int port_of(const side *server);
/* True if the other end has closed it (what it says is read and lost). */
bool raw_closed(int fd);

#endif
