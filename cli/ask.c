/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small HTTP client. Every question has a connection of its own, which the server closes after
 * its answer; at most TOGETHER are open at a time, so that two hundred nodes can be asked without
 * two hundred descriptors.
 */
#include "ask.h"
#include "verbs.h"

#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TOGETHER 32
#define MOST ((size_t)4 << 20) /* bytes of an answer, head and body */
#define PIECE 16384

/* A question on its way. */
typedef struct call {
    cli_ask *ask;
    int fd; /* -1: free */
    char request[256];
    size_t asked, sent;
    char *text;
    size_t len, room;
} call;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_ask_clear(cli_ask *ask)
{
    free(ask->body);
    ask->body = NULL;
    ask->len = 0;
    ask->code = 0;
    ask->problem[0] = '\0';
}

static void end_call(call *c, const char *problem)
{
    if (problem)
        snprintf(c->ask->problem, sizeof c->ask->problem, "%.100s", problem);
    if (c->fd >= 0)
        close(c->fd);
    free(c->text);
    *c = (call){.fd = -1};
}

/* ---- the answer ---- */

/* Where the value of a header begins, or NULL; the head ends in an empty line. */
static const char *find_header(const char *head, const char *end, const char *name)
{
    const size_t len = strlen(name);
    for (const char *line = head; line < end;) {
        if ((size_t)(end - line) > len && strncasecmp(line, name, len) == 0 && line[len] == ':') {
            for (line += len + 1; *line == ' ' || *line == '\t'; line++)
                ;
            return line;
        }
        const char *next = memchr(line, '\n', (size_t)(end - line));
        line = next ? next + 1 : end;
    }
    return NULL;
}

/* All of it has come: the connection was closed. What is wrong with it, or NULL. */
static const char *take_answer(call *c)
{
    if (c->len < 12 || memcmp(c->text, "HTTP/1.", 7) != 0 || c->text[8] != ' ' ||
        !isdigit((unsigned char)c->text[9]) || !isdigit((unsigned char)c->text[10]) ||
        !isdigit((unsigned char)c->text[11]))
        return "its answer is not HTTP";
    const char *gap = memmem(c->text, c->len, "\r\n\r\n", 4);
    if (!gap)
        return "its answer was cut";
    const size_t begin = (size_t)(gap - c->text) + 4, len = c->len - begin;
    if (find_header(c->text, gap, "transfer-encoding"))
        return "its answer comes in pieces, which no node sends";
    const char *value = find_header(c->text, gap, "content-length");
    if (value) {
        char *end;
        errno = 0;
        const unsigned long long told = strtoull(value, &end, 10);
        if (!isdigit((unsigned char)*value) || errno || *end != '\r' || told != len)
            return "its answer was cut";
    }
    c->ask->code = (c->text[9] - '0') * 100 + (c->text[10] - '0') * 10 + (c->text[11] - '0');
    memmove(c->text, c->text + begin, len);
    c->text[len] = '\0';
    c->ask->body = c->text;
    c->ask->len = len;
    c->text = NULL;
    return NULL;
}

static void hear(call *c)
{
    for (;;) {
        if (c->len + PIECE + 1 > c->room) {
            const size_t room = 2 * (c->len + PIECE + 1);
            char *text = room <= 2 * MOST ? realloc(c->text, room) : NULL;
            if (!text) {
                end_call(c, "its answer is too long");
                return;
            }
            c->text = text;
            c->room = room;
        }
        const ssize_t n = recv(c->fd, c->text + c->len, PIECE, 0);
        if (n > 0)
            c->len += (size_t)n;
        else if (n < 0 && errno == EINTR)
            continue;
        else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        else {
            end_call(c, n < 0 ? strerror(errno) : take_answer(c));
            return;
        }
    }
}

/* ---- the question ---- */

static void speak(call *c)
{
    while (c->sent < c->asked) {
        const ssize_t n = send(c->fd, c->request + c->sent, c->asked - c->sent, MSG_NOSIGNAL);
        if (n > 0)
            c->sent += (size_t)n;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return;
        else if (errno != EINTR) {
            end_call(c, strerror(errno));
            return;
        }
    }
}

/* IPv4 first: "localhost" is both, and nodes listen on 127.0.0.1 unless told otherwise. */
static int find_host(const cli_ask *ask, struct addrinfo **found)
{
    char port[8];
    snprintf(port, sizeof port, "%u", ask->port);
    struct addrinfo hints = {
        .ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    const int problem = getaddrinfo(ask->host, port, &hints, found);
    if (problem == 0)
        return 0;
    hints.ai_family = AF_UNSPEC;
    return getaddrinfo(ask->host, port, &hints, found);
}

/* A connection on its way to the first address where one can be begun; -1 and errno if none. */
static int begin_connection(const struct addrinfo *found)
{
    int reason = EHOSTUNREACH;
    for (const struct addrinfo *a = found; a; a = a->ai_next) {
        const int fd =
            socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0 && (connect(fd, a->ai_addr, a->ai_addrlen) == 0 || errno == EINPROGRESS))
            return fd;
        reason = errno;
        if (fd >= 0)
            close(fd);
    }
    errno = reason;
    return -1;
}

static void begin_call(call *c, cli_ask *ask)
{
    *c = (call){.ask = ask, .fd = -1};
    cli_ask_clear(ask);
    const bool bare = strchr(ask->host, ':') != NULL; /* IPv6 */
    const int asked = snprintf(c->request, sizeof c->request,
                               "GET %s HTTP/1.1\r\nHost: %s%s%s:%u\r\nConnection: close\r\n\r\n",
                               ask->path, bare ? "[" : "", ask->host, bare ? "]" : "", ask->port);
    c->asked = (size_t)asked;
    if (asked < 0 || c->asked >= sizeof c->request) {
        end_call(c, "the question is too long");
        return;
    }
    struct addrinfo *found = NULL;
    const int problem = find_host(ask, &found);
    if (problem) {
        end_call(c, gai_strerror(problem));
        return;
    }
    c->fd = begin_connection(found);
    const int reason = errno;
    freeaddrinfo(found);
    if (c->fd < 0)
        end_call(c, strerror(reason));
}

static void step(call *c, short events)
{
    int problem = 0;
    socklen_t len = sizeof problem;
    if ((events & (POLLERR | POLLHUP)) && c->sent == 0 &&
        getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &problem, &len) == 0 && problem) {
        end_call(c, strerror(problem));
        return;
    }
    if (c->sent < c->asked)
        speak(c);
    if (c->fd >= 0 && c->sent == c->asked)
        hear(c);
}

/* Wait for any of the calls; how many are open. */
static size_t wait_for(call *calls, double left)
{
    struct pollfd polls[TOGETHER];
    call *of[TOGETHER];
    nfds_t open = 0;
    for (size_t i = 0; i < TOGETHER; i++) {
        if (calls[i].fd < 0)
            continue;
        of[open] = &calls[i];
        polls[open++] = (struct pollfd){
            .fd = calls[i].fd, .events = calls[i].sent < calls[i].asked ? POLLOUT : POLLIN};
    }
    if (open == 0 || poll(polls, open, left > 0 ? (int)(1000 * left) + 1 : 0) <= 0)
        return open;
    for (nfds_t i = 0; i < open; i++) {
        if (polls[i].revents)
            step(of[i], polls[i].revents);
    }
    return open;
}

void cli_ask_all(cli_ask *asks, size_t count, double patience)
{
    call calls[TOGETHER];
    for (size_t i = 0; i < TOGETHER; i++)
        calls[i].fd = -1;
    const double deadline = seconds() + patience;
    size_t next = 0, open = 0;
    do {
        for (size_t i = 0; i < TOGETHER && next < count; i++) {
            if (calls[i].fd < 0)
                begin_call(&calls[i], &asks[next++]);
        }
        double left = deadline - seconds();
        open = wait_for(calls, left < 0.2 ? left : 0.2); /* looks at the stop flag, too */
    } while ((open > 0 || next < count) && seconds() < deadline && !*cli_stop());
    for (size_t i = 0; i < TOGETHER; i++) {
        if (calls[i].fd >= 0)
            end_call(&calls[i], "no answer in time");
    }
    for (; next < count; next++) {
        cli_ask_clear(&asks[next]);
        snprintf(asks[next].problem, sizeof asks[next].problem, "not asked in time");
    }
}

/* ---- where ---- */

tacit_status cli_ask_where(cli_ask *ask, const char *text, tacit_error *err)
{
    const char *colon = strrchr(text, ':'), *host = text, *digits = colon ? colon + 1 : text;
    size_t len = colon ? (size_t)(colon - text) : 0;
    if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
        host++;
        len -= 2;
    } else if (len > 0 && memchr(host, ':', len)) {
        len = CLI_ASK_HOST; /* an IPv6 address without brackets: which colon is the port's? */
    }
    char *end;
    errno = 0;
    const unsigned long port = strtoul(digits, &end, 10);
    if (!isdigit((unsigned char)*digits) || *end || errno || port < 1 || port > 65535 ||
        len >= CLI_ASK_HOST || (colon && len == 0))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.100s\" is not where a node shows its status; expected HOST:PORT, "
                          "as in \"127.0.0.1:7401\" or \"[::1]:7401\"",
                          text);
    if (colon)
        snprintf(ask->host, sizeof ask->host, "%.*s", (int)len, host);
    else
        snprintf(ask->host, sizeof ask->host, "127.0.0.1");
    ask->port = (uint16_t)port;
    return TACIT_OK;
}

tacit_status cli_ask_folder(cli_ask *ask, const char *folder, tacit_error *err)
{
    char path[CLI_PATH_MAX], *text = NULL;
    size_t len;
    const int n = snprintf(path, sizeof path, "%s/" CLI_STATUS_FILE, folder);
    if (n < 0 || (size_t)n >= sizeof path)
        return tacit_fail(err, TACIT_EINPUT, "the path \"%.100s...\" is too long", folder);
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return tacit_fail(err, TACIT_NO, "no node runs in \"%.300s\"", folder);
    tacit_status status = tacit_file_read(&text, &len, path, 200, err);
    if (status != TACIT_OK)
        return status;
    text[strcspn(text, "\n")] = '\0';
    status = cli_ask_where(ask, text, err);
    free(text);
    return status;
}
