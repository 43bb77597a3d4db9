/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NODE_HTTP_H
#define TACIT_NODE_HTTP_H
/*
 * The status port of a node: as much of HTTP/1.1 as a scraper, a load balancer's probe and a
 * browser need. No thread and no waiting: the node's loop waits on http_fds together with its
 * link and then calls http_serve, which takes and gives what the sockets have and want at that
 * moment. It may be called at any time, also when nothing is ready.
 *
 * Strangers can reach it, so everything is bounded: connections, bytes of a request, bytes of an
 * answer, seconds. One answer a connection, GET and HEAD only, anything else is refused and
 * closed. A connection that is too many takes the place of the oldest.
 */
#include "base/writer.h"

enum {
    HTTP_CONNECTIONS = 8,
    HTTP_REQUEST = 4096,   /* bytes of a request with its header */
    HTTP_ANSWER = 4 << 20, /* bytes of a body; more is 500 */
    HTTP_FDS = 1 + HTTP_CONNECTIONS,
};
#define HTTP_PATIENCE 5.0 /* seconds from the first byte to the last */

typedef struct http_server http_server;

/* `where`: "127.0.0.1:7401", "[::1]:7401", ":7401" or "7401" (loopback); port 0: any free one. A
 * name other than localhost is refused, so that nothing waits for a name server. */
tacit_status http_create(http_server **out, const char *where, tacit_error *err);
void http_free(http_server *http); /* NULL is fine */
uint16_t http_port(const http_server *http);

/* The descriptors to wait for until they can be read; at most `room`, HTTP_FDS is enough. An
 * answer that a slow reader has not taken yet is not among them: call http_serve now and then
 * (ten times a second, say) while http_busy. */
size_t http_fds(const http_server *http, int *fds, size_t room);
bool http_busy(const http_server *http);

/* Somebody asks for `path` ("/metrics", without what stands behind '?'). Write the body and its
 * type ("application/json"; the default is "text/plain; charset=utf-8") and return 200, 503, ...;
 * 404 with an empty body: there is nothing there. */
typedef int http_answer(void *ctx, const char *path, tacit_writer *body, const char **type);
/* `now`: seconds of any clock that never goes back. Never waits. */
void http_serve(http_server *http, double now, http_answer *answer, void *ctx);

/* ---- the parser, alone ---- */
typedef enum http_verdict {
    HTTP_MORE,  /* the request is not complete */
    HTTP_GET,   /* and HEAD, if `head` */
    HTTP_WRONG, /* 400 */
    HTTP_OTHER, /* a method that is not here: 405 */
    HTTP_LARGE  /* too long: 431 */
} http_verdict;
typedef struct http_request {
    bool head;
    char path[64]; /* "" if it is longer: nothing here is */
} http_request;
/* What the `len` bytes that came so far are. A verdict other than HTTP_MORE stays when more bytes
 * come. */
http_verdict http_parse(http_request *request, const char *bytes, size_t len);

#endif
