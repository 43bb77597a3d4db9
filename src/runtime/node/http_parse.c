/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request of RFC 9112, and nothing that servers read in two ways: lines end in CR LF, names are
 * tokens right before their colon, no line is continued, no byte of a header is a control
 * character, there is one Host (in 1.1), and there is no body. The target is a path.
 *
 * What is wrong is so from the first wrong byte on: garbage is closed at once and not waited for.
 */
#include <string.h>
#include <strings.h>

#include "runtime/node/http.h"

typedef struct cursor {
    const char *at, *end;
} cursor;

typedef struct found {
    unsigned hosts;
    bool other, old, body;
} found;

static bool is_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

/* HTTP_GET: the words are there, and behind them. HTTP_MORE: so far they are. */
static http_verdict expect(cursor *c, const char *words)
{
    for (; *words; words++, c->at++) {
        if (c->at == c->end)
            return HTTP_MORE;
        if (*c->at != *words)
            return HTTP_WRONG;
    }
    return HTTP_GET;
}

/* The method and a blank. The longest of the registered ones has 17 letters. */
static http_verdict read_method(cursor *c, http_request *r, found *f)
{
    const char *start = c->at;
    while (c->at < c->end && *c->at >= 'A' && *c->at <= 'Z' && c->at - start < 20)
        c->at++;
    const size_t len = (size_t)(c->at - start);
    if (c->at == c->end)
        return HTTP_MORE;
    if (*c->at != ' ' || len == 0)
        return HTTP_WRONG;
    c->at++;
    r->head = len == 4 && memcmp(start, "HEAD", 4) == 0;
    f->other = !r->head && !(len == 3 && memcmp(start, "GET", 3) == 0);
    return HTTP_GET;
}

static http_verdict read_target(cursor *c, http_request *r)
{
    const char *start = c->at;
    size_t len = 0;
    bool query = false;
    for (; c->at < c->end && *c->at != ' '; c->at++) {
        if (*c->at < 0x21 || *c->at > 0x7e || *c->at == '#' || *start != '/')
            return HTTP_WRONG;
        query = query || *c->at == '?';
        len += !query;
    }
    if (c->at == c->end)
        return HTTP_MORE;
    if (len == 0)
        return HTTP_WRONG;
    c->at++;
    if (len < sizeof r->path) {
        memcpy(r->path, start, len);
        r->path[len] = '\0';
    }
    return HTTP_GET;
}

static http_verdict read_version(cursor *c, found *f)
{
    http_verdict v = expect(c, "HTTP/1.");
    if (v != HTTP_GET)
        return v;
    if (c->at == c->end)
        return HTTP_MORE;
    if (*c->at != '0' && *c->at != '1')
        return HTTP_WRONG;
    f->old = *c->at == '0';
    c->at++;
    return expect(c, "\r\n");
}

/* Whether a host, with or without port, is an address or localhost. */
static bool is_address(const char *host, size_t len)
{
    static const char local[] = "localhost";
    if (len > 0 && host[0] == '[')
        return true;
    const char *colon = memchr(host, ':', len);
    const size_t name = colon ? (size_t)(colon - host) : len;
    if (name == sizeof local - 1 && strncasecmp(host, local, name) == 0)
        return true;
    for (size_t i = 0; i < name; i++)
        if (host[i] != '.' && (host[i] < '0' || host[i] > '9'))
            return false;
    return true;
}

static bool is_name(const char *name, size_t len, const char *wanted)
{
    return len == strlen(wanted) && strncasecmp(name, wanted, len) == 0;
}

/* A whole line of the header, checked: what it means to us. */
static void take_field(http_request *r, found *f, const char *name, size_t name_len,
                       const char *value, size_t len)
{
    for (; len > 0 && (*value == ' ' || *value == '\t'); value++)
        len--;
    while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
        len--;
    if (is_name(name, name_len, "host")) {
        f->hosts++;
        r->named = !is_address(value, len);
    } else if (is_name(name, name_len, "transfer-encoding"))
        f->body = true;
    else if (is_name(name, name_len, "content-length"))
        f->body = f->body || len != 1 || *value != '0';
}

static http_verdict read_field(cursor *c, http_request *r, found *f)
{
    const char *name = c->at;
    while (c->at < c->end && is_token(*c->at))
        c->at++;
    if (c->at == c->end)
        return HTTP_MORE;
    const size_t name_len = (size_t)(c->at - name);
    if (*c->at != ':' || name_len == 0)
        return HTTP_WRONG;
    const char *value = ++c->at;
    while (c->at < c->end &&
           (*c->at == '\t' || ((unsigned char)*c->at >= 0x20 && (unsigned char)*c->at != 0x7f)))
        c->at++;
    const size_t len = (size_t)(c->at - value);
    http_verdict v = expect(c, "\r\n");
    if (v == HTTP_GET)
        take_field(r, f, name, name_len, value, len);
    return v;
}

static http_verdict read_request(cursor *c, http_request *r)
{
    found f = {0};
    http_verdict v = read_method(c, r, &f);
    if (v == HTTP_GET)
        v = read_target(c, r);
    if (v == HTTP_GET)
        v = read_version(c, &f);
    while (v == HTTP_GET && c->at < c->end && *c->at != '\r') {
        v = read_field(c, r, &f);
        if (f.hosts > 1)
            return HTTP_WRONG;
    }
    if (v == HTTP_GET)
        v = expect(c, "\r\n");
    if (v != HTTP_GET)
        return v;
    if (f.other)
        return HTTP_OTHER;
    return f.body || (f.hosts == 0 && !f.old) ? HTTP_WRONG : HTTP_GET;
}

http_verdict http_parse(http_request *request, const char *bytes, size_t len)
{
    *request = (http_request){0};
    const bool full = len >= HTTP_REQUEST;
    cursor c = {.at = bytes, .end = bytes + (full ? HTTP_REQUEST : len)};
    const http_verdict v = read_request(&c, request);
    return v == HTTP_MORE && full ? HTTP_LARGE : v;
}
