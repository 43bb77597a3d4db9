/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status port with real sockets: what is asked for, what is refused, and clients that drip,
 * flood, hang up, or do not read. Time is the test's own; the server never waits, so a client and
 * it take turns in one thread.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/node/http.h"
#include "testing.h"

typedef struct site {
    http_server *http;
    double now;
    size_t body; /* bytes of /large */
    unsigned asked;
} site;

static int answer(void *ctx, const char *path, tacit_writer *body, const char **type)
{
    site *s = ctx;
    s->asked++;
    if (strcmp(path, "/status") == 0) {
        *type = "application/json";
        tacit_write_text(body, "{\"fine\":true}\n");
        return 200;
    }
    if (strcmp(path, "/health") == 0) {
        tacit_write_text(body, "mute\n");
        return 503;
    }
    if (strcmp(path, "/large") == 0) {
        for (size_t i = 0; i < s->body; i++)
            tacit_write_text(body, "x");
        return 200;
    }
    return 404;
}

static void open_site(site *s)
{
    tacit_error err = {0};
    *s = (site){.now = 100};
    check_ok(http_create(&s->http, "127.0.0.1:0", &err), &err);
    assert_int_not_equal(http_port(s->http), 0);
}

static void serve(site *s)
{
    http_serve(s->http, s->now, answer, s);
}

/* Is there something to do, within a moment? Local sockets deliver at once, more or less. */
static bool ready(const site *s)
{
    struct pollfd p = {.events = POLLIN};
    assert_int_equal(http_fds(s->http, &p.fd, 1), 1);
    return poll(&p, 1, 50) == 1;
}

static int dial(const site *s)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(http_port(s->http))};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    const size_t len = strlen(text);
    assert_int_equal(send(fd, text, len, MSG_NOSIGNAL), len);
}

enum { OPEN, CLOSED, RESET };
/* What there is to hear now, and whether more may come. */
static int hear(int fd, char *text, size_t room)
{
    size_t len = 0;
    for (;;) {
        ssize_t n = recv(fd, text + len, room - 1 - len, MSG_DONTWAIT);
        if (n <= 0) {
            text[len] = '\0';
            return n == 0 ? CLOSED : errno == EAGAIN ? OPEN : RESET;
        }
        len += (size_t)n;
        assert_true(len < room - 1);
    }
}

/* Serve until the client's side is closed, and not torn down; false if that does not happen. */
static bool until_closed(site *s, int fd, char *text, size_t room)
{
    size_t len = 0;
    for (int i = 0; i < 40; i++) {
        ready(s);
        serve(s);
        int state = hear(fd, text + len, room - len);
        len += strlen(text + len);
        if (state != OPEN)
            return state == CLOSED;
    }
    return false;
}

static void ask(site *s, const char *request, const char *starts, const char *has)
{
    char text[4096];
    int fd = dial(s);
    say(fd, request);
    if (!until_closed(s, fd, text, sizeof text))
        fail_msg("not closed after: %s", request);
    if (strncmp(text, starts, strlen(starts)) != 0 || !strstr(text, has))
        fail_msg("asked: %s\nnot \"%s...%s\" but: %s", request, starts, has, text);
    assert_non_null(strstr(text, "\r\nConnection: close\r\n"));
    close(fd);
    while (ready(s))
        serve(s);
}

#define LOCAL "Host: 127.0.0.1\r\n"

static void test_answers(void **state)
{
    (void)state;
    site s;
    open_site(&s);
    ask(&s, "GET /status HTTP/1.1\r\n" LOCAL "\r\n", "HTTP/1.1 200 OK\r\n",
        "Content-Type: application/json\r\nContent-Length: 14\r\n");
    ask(&s, "GET /status?a=b HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n", "\r\n\r\n{\"fine\":true}\n");
    ask(&s, "GET /health HTTP/1.0\r\n\r\n", "HTTP/1.1 503 Service Unavailable\r\n",
        "Content-Type: text/plain; charset=utf-8\r\n");
    ask(&s, "GET /nothing HTTP/1.0\r\n\r\n", "HTTP/1.1 404 Not Found\r\n", "404 Not Found\n");
    ask(&s, "POST /status HTTP/1.0\r\n\r\n", "HTTP/1.1 405 ", "\r\nAllow: GET, HEAD\r\n");
    http_free(s.http);
}

static void test_head_has_no_body(void **state)
{
    (void)state;
    site s;
    open_site(&s);
    char text[2000];
    int fd = dial(&s);
    say(fd, "HEAD /status HTTP/1.0\r\n\r\n");
    assert_true(until_closed(&s, fd, text, sizeof text));
    assert_non_null(strstr(text, "Content-Length: 14\r\n"));
    assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n");
    close(fd);
    http_free(s.http);
}

/* A request may come in pieces of any size, and two of them get one answer. */
static void test_pieces(void **state)
{
    (void)state;
    site s;
    open_site(&s);
    char text[2000];
    int fd = dial(&s);
    for (const char *c = "GET /status HTTP/1.0\r\nA: b\r\n\r"; *c; c++) {
        say(fd, (char[]){*c, '\0'});
        assert_true(ready(&s));
        serve(&s);
        assert_int_equal(hear(fd, text, sizeof text), OPEN);
        assert_string_equal(text, "");
    }
    say(fd, "\nGET /health HTTP/1.0\r\n\r\n");
    assert_true(until_closed(&s, fd, text, sizeof text));
    assert_int_equal(s.asked, 1);
    assert_null(strstr(text + 1, "HTTP/1.1"));
    close(fd);
    http_free(s.http);
}

static void test_parser_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        http_verdict verdict;
    } rows[] = {
        {"", HTTP_MORE},
        {"GET", HTTP_MORE},
        {"GET / HTTP/1.1\r\n" LOCAL, HTTP_MORE},
        {"GET / HTTP/1.1\r\n" LOCAL "\r\n", HTTP_GET},
        {"GET / HTTP/1.1\r\nhOST:\tlocalhost \r\n\r\nmore", HTTP_GET},
        {"GET / HTTP/1.1\r\n" LOCAL "Content-Length: 0\r\n\r\n", HTTP_GET},
        {"GET / HTTP/1.1\r\n\r\n", HTTP_WRONG},
        {"GET / HTTP/1.1\r\n" LOCAL LOCAL "\r\n", HTTP_WRONG},
        {"GET / HTTP/1.1\n", HTTP_WRONG},
        {"GET / HTTP/1.1\r\nA: b\n", HTTP_WRONG},
        {"GET / HTTP/1.1\r\nA : b", HTTP_WRONG},
        {"GET / HTTP/1.1\r\n A: b", HTTP_WRONG},
        {"GET / HTTP/1.1\r\n: b", HTTP_WRONG},
        {"GET / HTTP/1.1\r\nA: b\x01", HTTP_WRONG},
        {"GET / HTTP/1.1\r\nA: b\x7f", HTTP_WRONG},
        {"GET / HTTP/1.0\r\nContent-Length: 00\r\n\r\n", HTTP_WRONG},
        {"GET / HTTP/1.0\r\nContent-Length: 7\r\nContent-Length: 0\r\n\r\n", HTTP_WRONG},
        {"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", HTTP_WRONG},
        {"GET / HTTP/2.0", HTTP_WRONG},
        {"GET / HTTP/1.2", HTTP_WRONG},
        {"GET /  ", HTTP_WRONG},
        {"GET  /", HTTP_WRONG},
        {"GET x", HTTP_WRONG},
        {"GET http://a/ HTTP/1.1", HTTP_WRONG},
        {"GET /\xc3\xa9", HTTP_WRONG},
        {"GET /#", HTTP_WRONG},
        {"get /", HTTP_WRONG},
        {" GET /", HTTP_WRONG},
        {"\r\nGET /", HTTP_WRONG},
        {"\x16\x03\x01", HTTP_WRONG}, /* a browser that was told https */
        {"AAAAAAAAAAAAAAAAAAAAA", HTTP_WRONG},
        {"DELETE / HTTP/1.0\r\n\r\n", HTTP_OTHER},
        {"HEADS / HTTP/1.0\r\n\r\n", HTTP_OTHER},
    };
    http_request r;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (http_parse(&r, rows[i].text, strlen(rows[i].text)) != rows[i].verdict)
            fail_msg("not %d: %s", rows[i].verdict, rows[i].text);
}

static void test_parser_limits(void **state)
{
    (void)state;
    static char text[2 * HTTP_REQUEST];
    http_request r;
    memset(text, 'a', sizeof text);
    memcpy(text, "GET /", 5);
    assert_int_equal(http_parse(&r, text, HTTP_REQUEST - 1), HTTP_MORE);
    assert_int_equal(http_parse(&r, text, HTTP_REQUEST), HTTP_LARGE);
    assert_int_equal(http_parse(&r, text, sizeof text), HTTP_LARGE);
    /* One that ends with the last byte is no byte too long. */
    memcpy(text, "GET /b HTTP/1.0\r\nA:", 19);
    memcpy(text + HTTP_REQUEST - 4, "\r\n\r\n", 4);
    assert_int_equal(http_parse(&r, text, sizeof text), HTTP_GET);
    assert_string_equal(r.path, "/b");
    /* A path that is too long to be one of ours. */
    memset(text, 'a', sizeof text);
    memcpy(text, "GET /", 5);
    memcpy(text + 5 + sizeof r.path - 2, " HTTP/1.0\r\n\r\n", 13);
    assert_int_equal(http_parse(&r, text, sizeof text), HTTP_GET);
    assert_int_equal(strlen(r.path), sizeof r.path - 1);
    memset(text, 'a', sizeof text);
    memcpy(text, "GET /", 5);
    memcpy(text + 5 + sizeof r.path - 1, " HTTP/1.0\r\n\r\n", 13);
    assert_int_equal(http_parse(&r, text, sizeof text), HTTP_GET);
    assert_string_equal(r.path, "");
}

static void test_garbage_is_closed(void **state)
{
    (void)state;
    site s;
    open_site(&s);
    ask(&s, "\x16\x03\x01\x02", "HTTP/1.1 400 Bad Request\r\n", "400");
    ask(&s, "GET /status HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n", "400");
    char *text = malloc(HTTP_REQUEST + 1);
    assert_non_null(text);
    memset(text, 'a', HTTP_REQUEST);
    memcpy(text, "GET /", 5);
    text[HTTP_REQUEST] = '\0';
    ask(&s, text, "HTTP/1.1 431 Request Header Fields Too Large\r\n", "431");
    free(text);
    assert_int_equal(s.asked, 0);
    http_free(s.http);
}

/* A page of the web can make a name of its own point at 127.0.0.1; the browser says which name. */
static void test_names_of_others(void **state)
{
    (void)state;
    site s;
    open_site(&s);
    ask(&s, "GET /status HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 403 ", "403");
    ask(&s, "GET /status HTTP/1.1\r\nHost: 127.0.0.1.evil:80\r\n\r\n", "HTTP/1.1 403 ", "403");
    assert_int_equal(s.asked, 0);
    ask(&s, "GET /status HTTP/1.1\r\nHost: LOCALHOST:7401\r\n\r\n", "HTTP/1.1 200 ", "fine");
    ask(&s, "GET /status HTTP/1.1\r\nHost: [::1]:7401\r\n\r\n", "HTTP/1.1 200 ", "fine");
    http_free(s.http);
    tacit_error err = {0};
    check_ok(http_create(&s.http, "0.0.0.0:0", &err), &err); /* for all: names are fine */
    ask(&s, "GET /status HTTP/1.1\r\nHost: ward-b.example\r\n\r\n", "HTTP/1.1 200 ", "fine");
    http_free(s.http);
}

/* A byte now and then does not keep a connection. */
static void test_drip(void **state)
{
    (void)state;
    site s;
    open_site(&s);
    char text[100];
    int fd = dial(&s);
    say(fd, "GET /");
    ready(&s);
    serve(&s);
    for (int i = 0; i < 4; i++) {
        s.now += HTTP_PATIENCE / 4;
        say(fd, "a");
        ready(&s);
        serve(&s);
        assert_int_equal(hear(fd, text, sizeof text), OPEN);
    }
    s.now += 0.1;
    serve(&s);
    assert_int_not_equal(hear(fd, text, sizeof text), OPEN);
    close(fd);
    http_free(s.http);
}

/* The answer does not fit into the socket's buffers and nobody reads it: others are served, the
 * loop has nothing to do, and in the end the reader is put out. */
static void test_reader_that_does_not_read(void **state)
{
    (void)state;
    site s;
    open_site(&s);
    s.body = HTTP_ANSWER;
    const int small = 4096;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(http_port(s.http))};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    say(fd, "GET /large HTTP/1.0\r\n\r\n");
    for (int i = 0; i < 20 && ready(&s); i++)
        serve(&s);
    say(fd, "and more that nobody wants to read");
    assert_false(ready(&s)); /* not spinning */
    ask(&s, "GET /status HTTP/1.0\r\n\r\n", "HTTP/1.1 200 ", "fine");
    assert_int_equal(s.asked, 2);
    s.now += HTTP_PATIENCE + 1;
    serve(&s);
    char *text = malloc(2 * HTTP_ANSWER);
    assert_non_null(text);
    until_closed(&s, fd, text, 2 * HTTP_ANSWER);
    assert_true(strlen(text) < HTTP_ANSWER);
    assert_int_not_equal(hear(fd, text, 2 * HTTP_ANSWER), OPEN);
    free(text);
    close(fd);
    http_free(s.http);
}

/* The same with one that reads slowly gets all of it. */
static void test_slow_reader_gets_all(void **state)
{
    (void)state;
    site s;
    open_site(&s);
    s.body = HTTP_ANSWER;
    char *text = malloc(2 * HTTP_ANSWER);
    assert_non_null(text);
    int fd = dial(&s);
    say(fd, "GET /large HTTP/1.0\r\n\r\n");
    size_t len = 0;
    for (int i = 0; i < 20000; i++) {
        struct pollfd p = {.events = POLLIN};
        http_fds(s.http, &p.fd, 1);
        if (poll(&p, 1, 0) == 1)
            serve(&s);
        ssize_t n = recv(fd, text + len, 1000, MSG_DONTWAIT);
        if (n == 0)
            break;
        len += n > 0 ? (size_t)n : 0;
    }
    text[len] = '\0';
    const char *body = strstr(text, "\r\n\r\n");
    assert_non_null(body);
    assert_int_equal(strspn(body + 4, "x"), HTTP_ANSWER);
    assert_int_equal(body + 4 + HTTP_ANSWER - text, len);
    free(text);
    close(fd);
    http_free(s.http);
}

static void test_answer_too_large(void **state)
{
    (void)state;
    site s;
    open_site(&s);
    s.body = HTTP_ANSWER + 1;
    ask(&s, "GET /large HTTP/1.0\r\n\r\n", "HTTP/1.1 500 ", "500 Internal Server Error\n");
    http_free(s.http);
}

/* Any number of idle connections: never more than the limit, and who asks is answered. */
static void test_crowd(void **state)
{
    (void)state;
    enum { CROWD = 5 * HTTP_CONNECTIONS };
    site s;
    open_site(&s);
    int fd[CROWD];
    char text[100];
    for (int i = 0; i < CROWD; i++) {
        s.now += 0.001;
        fd[i] = dial(&s);
        say(fd[i], "GET /stat");
        ready(&s);
        serve(&s);
    }
    ask(&s, "GET /status HTTP/1.0\r\n\r\n", "HTTP/1.1 200 ", "fine");
    int open = 0;
    for (int i = 0; i < CROWD; i++)
        open += hear(fd[i], text, sizeof text) == OPEN;
    assert_int_equal(open, HTTP_CONNECTIONS - 1); /* its place was that of the oldest */
    assert_int_equal(hear(fd[CROWD - 1], text, sizeof text), OPEN);
    for (int i = 0; i < CROWD; i++)
        close(fd[i]);
    for (int i = 0; i < 20 && ready(&s); i++)
        serve(&s);
    assert_false(ready(&s));
    http_free(s.http);
}

/* Hanging up at any point is no trouble. */
static void test_hang_up(void **state)
{
    (void)state;
    site s;
    open_site(&s);
    s.body = 400000;
    static const char request[] = "GET /large HTTP/1.0\r\n\r\n";
    for (size_t n = 0; n < sizeof request; n++) {
        int fd = dial(&s);
        assert_int_equal(send(fd, request, n, MSG_NOSIGNAL), n);
        ready(&s);
        serve(&s);
        const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
        if (n % 2)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once); /* a reset */
        close(fd);
        for (int i = 0; i < 20 && ready(&s); i++)
            serve(&s);
        assert_false(ready(&s));
    }
    ask(&s, "GET /status HTTP/1.0\r\n\r\n", "HTTP/1.1 200 ", "fine");
    http_free(s.http);
}

/* A body that nobody wants is taken all the same: to close on it would be a reset, which many
 * clients tell instead of the answer. */
static void test_unwanted_body(void **state)
{
    (void)state;
    site s;
    open_site(&s);
    char text[2000], body[10000];
    memset(body, 'a', sizeof body);
    int fd = dial(&s);
    say(fd, "POST /status HTTP/1.0\r\nContent-Length: 20000\r\n\r\n");
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 20 && ready(&s); i++)
            serve(&s);
        assert_int_equal(send(fd, body, sizeof body, MSG_NOSIGNAL), sizeof body);
    }
    for (int i = 0; i < 20 && ready(&s); i++)
        serve(&s);
    assert_int_equal(hear(fd, text, sizeof text), CLOSED);
    assert_non_null(strstr(text, "405 Method Not Allowed\n"));
    close(fd);
    http_free(s.http);
}

/* A sender without end after its request is not listened to for ever. */
static void test_flood_behind_a_request(void **state)
{
    (void)state;
    site s;
    open_site(&s);
    static char flood[1 << 16];
    int fd = dial(&s);
    say(fd, "GET /status HTTP/1.0\r\n\r\n");
    ssize_t sent = 0;
    for (int i = 0; i < 200 && sent >= 0; i++) {
        serve(&s);
        sent = send(fd, flood, sizeof flood, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EAGAIN)
            sent = 0;
    }
    assert_true(sent < 0);
    assert_int_equal(s.asked, 1);
    close(fd);
    http_free(s.http);
}

/* No descriptor left: the loop is not woken again and again, and later all is well. */
static void test_no_descriptors(void **state)
{
    (void)state;
    site s;
    open_site(&s);
    int fd = dial(&s);
    say(fd, "GET /status HTTP/1.0\r\n\r\n");
    assert_true(ready(&s));
    struct rlimit old, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = old;
    none.rlim_cur = 3; /* fewer than there are */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    serve(&s);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_false(ready(&s));
    s.now += 1.5;
    serve(&s);
    char text[2000];
    assert_true(until_closed(&s, fd, text, sizeof text));
    assert_non_null(strstr(text, "fine"));
    close(fd);
    http_free(s.http);
}

static void test_places(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        ":",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:-1",
        "127.0.0.1:+1",
        "127.0.0.1:1x",
        "example.org:80",
        "::1:80",
        "[::1]",
        "[]:80",
        "[::1:80",
        "127.1:80",
        "999999999999999999999",
        "1234567890.1234567890.1234567890.1234567890.1234567890.1234567890:80"};
    tacit_error err = {0};
    http_server *http, *again;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        check_fails(http_create(&http, wrong[i], &err), TACIT_EINPUT, &err,
                    "expected ADDRESS:PORT");
        assert_null(http);
    }
    static const char *const right[] = {"0", ":0", "localhost:0", "127.0.0.1:0"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        check_ok(http_create(&http, right[i], &err), &err);
        http_free(http);
    }
    check_ok(http_create(&http, "127.0.0.1:0", &err), &err);
    char taken[40];
    snprintf(taken, sizeof taken, "127.0.0.1:%u", http_port(http));
    check_fails(http_create(&again, taken, &err), TACIT_EINPUT, &err, "choose another port");
    http_free(http);
    http_free(NULL);
    if (http_create(&http, "[::1]:0", &err) == TACIT_OK) /* where there is IPv6 */
        http_free(http);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_head_has_no_body),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_parser_refuses),
        cmocka_unit_test(test_parser_limits),
        cmocka_unit_test(test_garbage_is_closed),
        cmocka_unit_test(test_names_of_others),
        cmocka_unit_test(test_drip),
        cmocka_unit_test(test_reader_that_does_not_read),
        cmocka_unit_test(test_slow_reader_gets_all),
        cmocka_unit_test(test_answer_too_large),
        cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_hang_up),
        cmocka_unit_test(test_unwanted_body),
        cmocka_unit_test(test_flood_behind_a_request),
        cmocka_unit_test(test_no_descriptors),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
