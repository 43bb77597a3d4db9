/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NODE_HTTP_H
#define TACIT_NODE_HTTP_H
/*
 * The status port of a node: as much of HTTP/1.1 as a scraper, a probe and a browser need. No
 * thread and no waiting: the node's loop waits for http_fds together with its links and then
 * calls http_serve, which takes and gives what the sockets have and want at that moment. It may
 * be called at any time, and should be once a second even if nothing is ready, so that who is
 * silent is put out.
 *
 * Strangers can reach it, so everything is bounded: connections, bytes of a request, bytes of an
 * answer, seconds. One answer a connection, GET and HEAD only; anything else is refused and
 * closed. A connection that is one too many takes the place of the oldest, so that idle ones
 * cannot keep others out.
 */
#include "base/writer.h"

enum {
    HTTP_CONNECTIONS = 8,
    HTTP_REQUEST = 4096,   /* bytes of a request with its header */
    HTTP_ANSWER = 1 << 20, /* bytes of a body; more is 500 */
    HTTP_FDS = 1
};
#define HTTP_PATIENCE 5.0 /* seconds a connection may last */

typedef struct http_server http_server;

/* `where`: "127.0.0.1:7401", "[::1]:7401", "0.0.0.0:7401", or "7401" and "localhost:7401" for
 * this machine only; port 0: any free one. Other names are refused: nothing here waits for a name
 * server. */
tacit_status http_create(http_server **out, const char *where, tacit_error *err);
void http_free(http_server *http); /* NULL is fine */
uint16_t http_port(const http_server *http);

/* The descriptors that can be read when there is something to do; at most `room`, HTTP_FDS is
 * enough. They stay the same. */
size_t http_fds(const http_server *http, int *fds, size_t room);

/* Somebody asks for `path` ("/metrics", without what stands behind '?'). Write the body and its
 * type ("application/json"; else it is "text/plain; charset=utf-8") and return 200, 503, ...; 404
 * with an empty body: there is nothing there. */
typedef int http_answer(void *ctx, const char *path, tacit_writer *body, const char **type);
/* `now`: seconds of a clock that never goes back. Never waits. */
void http_serve(http_server *http, double now, http_answer *answer, void *ctx);

/* ---- the parser, alone: http_parse.c ---- */
typedef enum http_verdict {
    HTTP_MORE,  /* the request is not complete */
    HTTP_GET,   /* or HEAD, if `head` */
    HTTP_WRONG, /* 400 */
    HTTP_OTHER, /* a method that is not here: 405 */
    HTTP_LARGE  /* too long: 431 */
} http_verdict;
typedef struct http_request {
    bool head;
    bool named;    /* the host it was sent to has a name other than localhost */
    char path[64]; /* "" if it is longer: nothing here is */
} http_request;
/* What the `len` bytes that came so far are. A verdict other than HTTP_MORE stays when more bytes
 * come. */
http_verdict http_parse(http_request *request, const char *bytes, size_t len);

#endif
