/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's status as JSON and as metrics. JSON is read back by the project's strict reader,
 * metrics by a small checker here that knows the format's grammar and shares no code with the
 * writer.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_read.h"
#include "runtime/node/http.h"
#include "runtime/node/words.h"
#include "testing.h"

static tacit_node_peer_row peers[3];
static tacit_node_agent_row agents[3];

static tacit_node_status example(void)
{
    peers[0] = (tacit_node_peer_row){.name = "ward-b",
                                     .key = {0xab, 0xcd},
                                     .endpoint = "tcp://10.0.0.2:7400",
                                     .met = true,
                                     .silence = 0.5,
                                     .round_trip = 0.003,
                                     .frames_in = 11,
                                     .bytes_in = 2200,
                                     .frames_out = 12,
                                     .bytes_out = 2400,
                                     .over_rate = 13,
                                     .queue_full = 14,
                                     .resent = 15,
                                     .refused = 16};
    peers[1] = (tacit_node_peer_row){
        .name = "quo\"te\\back\nline", .key = {1}, .health = 1, .round_trip = NAN};
    peers[2] = (tacit_node_peer_row){
        .name = "ward-b", .key = {2}, .health = 2, .ended = true, .round_trip = NAN};
    agents[0] = (tacit_node_agent_row){.agent = 4,
                                       .name = "anna",
                                       .ticks = 21,
                                       .releases = 22,
                                       .messages_in = 23,
                                       .messages_out = 24,
                                       .epsilon = 0.25,
                                       .budget = 1,
                                       .delta = 1e-5};
    agents[1] = (tacit_node_agent_row){.agent = 7,
                                       .name = "\xff",
                                       .messages_in = 100,
                                       .messages_out = 200,
                                       .epsilon = 0.75,
                                       .budget = 0.8,
                                       .delta = 1e-6,
                                       .spent = true};
    agents[2] = (tacit_node_agent_row){.agent = 9, .budget = INFINITY, .delta = 1e-5};
    return (tacit_node_status){.name = "ward-a",
                               .protocol = "cd",
                               .phase = "running",
                               .adversary = "peers",
                               .unit = "record",
                               .adjacency = "replace",
                               .run = {0xde, 0xad},
                               .incarnation = 1800000000123,
                               .time = 12.5,
                               .until = 100,
                               .quiet = 3,
                               .traffic = {.ticks = 31,
                                           .broadcasts = 32,
                                           .messages = 33,
                                           .delivered = 34,
                                           .lost = 35,
                                           .bytes = 36,
                                           .releases = 37,
                                           .refused = 38},
                               .refused = {[TACIT_REFUSED_REPLAY] = 5, [TACIT_REFUSED_RUN] = 2},
                               .handshakes = 41,
                               .handshakes_refused = 42,
                               .checkpoints = 43,
                               .ticks_shed = 44,
                               .peers = peers,
                               .peer_count = 3,
                               .agents = agents,
                               .agent_count = 3};
}

/* ---- JSON ---- */

static void read_back(tacit_json_tree *tree, const tacit_node_status *s)
{
    tacit_error err = {0};
    tacit_writer out = {0};
    node_words_json(&out, s);
    assert_false(out.failed);
    assert_true(out.len <= HTTP_ANSWER && out.len <= TACIT_JSON_BYTES);
    check_ok(tacit_json_read(tree, "status", out.text, out.len, &err), &err);
    tacit_writer_clear(&out);
}

static const tacit_json_value *at(const tacit_json_tree *t, const char *a, const char *b)
{
    const tacit_json_value *v = tacit_json_member(t, t->values, a);
    return b ? tacit_json_member(t, v, b) : v;
}

static void test_json(void **state)
{
    (void)state;
    tacit_node_status s = example();
    tacit_json_tree t;
    read_back(&t, &s);
    assert_string_equal(tacit_json_to_text(at(&t, "schema", NULL), ""), "tacit.node/1");
    assert_string_equal(tacit_json_to_text(at(&t, "node", NULL), ""), "ward-a");
    assert_string_equal(tacit_json_to_text(at(&t, "run", NULL), ""),
                        "dead0000000000000000000000000000");
    assert_int_equal(at(&t, "mute", NULL)->kind, TACIT_JSON_NULL);
    assert_true(tacit_json_to_real(at(&t, "time_units", NULL), 0) == 12.5);
    assert_int_equal(tacit_json_to_count(at(&t, "incarnation", NULL), 0), 1800000000123);
    assert_string_equal(tacit_json_to_text(at(&t, "privacy", "adversary"), ""), "peers");
    assert_string_equal(tacit_json_to_text(at(&t, "privacy", "unit"), ""), "record");
    assert_string_equal(tacit_json_to_text(at(&t, "privacy", "adjacency"), ""), "replace");
    /* The agent that spent most, with its own budget and delta. */
    assert_true(tacit_json_to_real(at(&t, "privacy", "epsilon_spent"), 0) == 0.75);
    assert_true(tacit_json_to_real(at(&t, "privacy", "epsilon_budget"), 0) == 0.8);
    assert_true(tacit_json_to_real(at(&t, "privacy", "delta"), 0) == 1e-6);
    assert_false(tacit_json_to_bool(at(&t, "privacy", "unbounded"), true));
    assert_int_equal(tacit_json_to_count(at(&t, "privacy", "agents_out_of_budget"), 9), 1);
    assert_int_equal(tacit_json_to_count(at(&t, "traffic", "messages_in"), 0), 123);
    assert_int_equal(tacit_json_to_count(at(&t, "traffic", "messages_out"), 0), 224);
    assert_int_equal(tacit_json_to_count(at(&t, "traffic", "ticks_shed"), 0), 44);
    assert_int_equal(tacit_json_to_count(at(&t, "frames_refused", "all"), 0), 7);
    assert_int_equal(tacit_json_to_count(at(&t, "frames_refused", "replay"), 0), 5);
    assert_int_equal(tacit_json_to_count(at(&t, "peer_counts", "up"), 0), 1);
    assert_int_equal(tacit_json_to_count(at(&t, "peer_counts", "down"), 0), 1);
    const tacit_json_value *p = tacit_json_first(&t, at(&t, "peers", NULL));
    assert_string_equal(tacit_json_to_text(tacit_json_member(&t, p, "health"), ""), "up");
    assert_int_equal(tacit_json_to_count(tacit_json_member(&t, p, "frames_refused"), 0), 16);
    p = tacit_json_next(&t, p);
    assert_string_equal(tacit_json_to_text(tacit_json_member(&t, p, "name"), ""), peers[1].name);
    assert_int_equal(tacit_json_member(&t, p, "round_trip_seconds")->kind, TACIT_JSON_NULL);
    const tacit_json_value *a = tacit_json_first(&t, at(&t, "agents", NULL));
    assert_int_equal(tacit_json_to_count(tacit_json_member(&t, a, "agent"), 0), 4);
    a = tacit_json_next(&t, tacit_json_next(&t, a));
    assert_int_equal(tacit_json_member(&t, a, "epsilon_budget")->kind, TACIT_JSON_NULL);
    assert_null(tacit_json_next(&t, a));
    tacit_json_clear(&t);
}

static void test_unbounded_and_mute(void **state)
{
    (void)state;
    tacit_node_status s = example();
    agents[0].epsilon = INFINITY;
    s.mute = "the disk is full: \"node.db\"";
    tacit_json_tree t;
    read_back(&t, &s);
    assert_int_equal(at(&t, "privacy", "epsilon_spent")->kind, TACIT_JSON_NULL);
    assert_true(tacit_json_to_bool(at(&t, "privacy", "unbounded"), false));
    assert_string_equal(tacit_json_to_text(at(&t, "mute", NULL), ""), s.mute);
    tacit_json_clear(&t);
    tacit_writer out = {0};
    assert_int_equal(node_words_health(&out, &s), 503);
    assert_string_equal(out.text,
                        "{\"status\":\"mute\",\"why\":\"the disk is full: \\\"node.db\\\"\"}\n");
    tacit_writer_clear(&out);
    s.mute = NULL;
    assert_int_equal(node_words_health(&out, &s), 200);
    assert_string_equal(out.text, "{\"status\":\"ok\"}\n");
    tacit_writer_clear(&out);
}

/* ---- metrics ---- */

typedef struct checker {
    char family[100]; /* of the last TYPE */
    char seen[100][80];
    size_t families, series;
} checker;

static size_t name_length(const char *c)
{
    size_t n = 0;
    while (isalnum((unsigned char)c[n]) || c[n] == '_')
        n++;
    assert_true(n > 0 && !isdigit((unsigned char)c[0]));
    return n;
}

/* {name="value",...}; returns what is behind it. */
static const char *check_labels(const char *c)
{
    if (*c++ != '{')
        fail_msg("no labels: %.60s", c);
    for (;;) {
        c += name_length(c);
        assert_memory_equal(c, "=\"", 2);
        for (c += 2; *c != '"'; c++) {
            assert_true(*c != '\n' && *c != '\0');
            if (*c == '\\') {
                c++;
                assert_true(*c == '\\' || *c == '"' || *c == 'n');
            }
        }
        c++;
        if (*c == '}')
            return c + 1;
        assert_int_equal(*c++, ',');
    }
}

static void check_sample(checker *k, const char *line)
{
    size_t n = name_length(line);
    assert_memory_equal(line, "tacit_", 6);
    if (n != strlen(k->family) || memcmp(line, k->family, n) != 0)
        fail_msg("a series apart from its family \"%s\": %s", k->family, line);
    const char *c = line[n] == '{' ? check_labels(line + n) : line + n;
    assert_int_equal(*c++, ' ');
    char *end;
    double value = strtod(c, &end);
    if (*end != '\0' || isnan(value) || (isinf(value) && strcmp(c, "+Inf") != 0))
        fail_msg("no value: %s", line);
    k->series++;
}

static void check_family(checker *k, const char *help, const char *type)
{
    assert_memory_equal(help, "# HELP ", 7);
    assert_memory_equal(type, "# TYPE ", 7);
    size_t n = name_length(help + 7);
    assert_memory_equal(help + 7, type + 7, n + 1);
    assert_true(strlen(help + 7 + n) > 5);
    snprintf(k->family, sizeof k->family, "%.*s", (int)n, help + 7);
    bool total = n > 6 && strcmp(k->family + n - 6, "_total") == 0;
    assert_string_equal(type + 7 + n, total ? " counter" : " gauge");
    for (size_t i = 0; i < k->families; i++)
        assert_string_not_equal(k->seen[i], k->family);
    assert_true(k->families < 100);
    assert_true(n < sizeof k->seen[0]);
    memcpy(k->seen[k->families++], k->family, n + 1);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The grammar, each family once and together, and no two series with the same labels. */
static size_t check_metrics(const char *text)
{
    static char *lines[20000];
    checker k = {0};
    size_t count = 0;
    char *copy = strdup(text), *line = copy;
    assert_non_null(copy);
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        assert_true(count < 20000);
        lines[count++] = line;
    }
    for (size_t i = 0; i < count; i++) {
        if (lines[i][0] != '#') {
            check_sample(&k, lines[i]);
            continue;
        }
        assert_true(i + 1 < count);
        check_family(&k, lines[i], lines[i + 1]);
        i++;
    }
    for (size_t i = 0; i < count; i++) {
        char *blank = strrchr(lines[i], ' '); /* the value is not part of a series' name */
        if (lines[i][0] != '#')
            *blank = '\0';
    }
    qsort(lines, count, sizeof *lines, by_text);
    for (size_t i = 1; i < count; i++)
        if (lines[i][0] != '#')
            assert_string_not_equal(lines[i], lines[i - 1]);
    free(copy);
    return k.series;
}

static char *metrics_of(const tacit_node_status *s)
{
    tacit_writer out = {0};
    node_words_metrics(&out, s);
    assert_true(out.len <= HTTP_ANSWER);
    char *text = tacit_writer_take(&out);
    assert_non_null(text);
    return text;
}

static void has(const char *text, const char *line)
{
    char whole[400];
    snprintf(whole, sizeof whole, "\n%s\n", line);
    if (!strstr(text, whole))
        fail_msg("no line \"%s\" in:\n%s", line, text);
}

static void test_metrics(void **state)
{
    (void)state;
    tacit_node_status s = example();
    char *text = metrics_of(&s);
    check_metrics(text);
    has(text, "tacit_node_info{node=\"ward-a\",run=\"dead0000000000000000000000000000\","
              "protocol=\"cd\",version=\"" TACIT_VERSION "\"} 1");
    has(text, "tacit_node_phase{phase=\"meeting\"} 0");
    has(text, "tacit_node_phase{phase=\"running\"} 1");
    has(text, "tacit_node_mute 0");
    has(text, "tacit_node_time_units 12.5");
    has(text, "tacit_messages_lost_total 35");
    has(text, "tacit_payload_bytes_total 36");
    has(text, "tacit_releases_refused_total 38");
    has(text, "tacit_handshakes_refused_total 42");
    has(text, "tacit_frames_refused_total{reason=\"replay\"} 5");
    has(text, "tacit_frames_refused_total{reason=\"garbage\"} 0");
    has(text, "tacit_peers{health=\"slow\"} 1");
    has(text, "tacit_agents_out_of_budget 1");
    has(text, "tacit_epsilon_spent_max{adversary=\"peers\",unit=\"record\",adjacency=\"replace\","
              "delta=\"1e-06\"} 0.75");
    has(text, "tacit_peer_round_trip_seconds{peer=\"ward-b\","
              "key=\"abcd0000000000000000000000000000\"} 0.003");
    has(text, "tacit_peer_health{peer=\"quo\\\"te\\\\back\\nline\","
              "key=\"01000000000000000000000000000000\"} 1");
    has(text, "tacit_peer_received_bytes_total{peer=\"ward-b\","
              "key=\"abcd0000000000000000000000000000\"} 2200");
    has(text, "tacit_agent_epsilon_spent{agent=\"4\",name=\"anna\",adversary=\"peers\","
              "unit=\"record\",adjacency=\"replace\",delta=\"1e-05\"} 0.25");
    has(text, "tacit_agent_epsilon_budget{agent=\"9\",name=\"\",adversary=\"peers\","
              "unit=\"record\",adjacency=\"replace\",delta=\"1e-05\"} +Inf");
    has(text, "tacit_agent_out_of_budget{agent=\"7\",name=\"\xef\xbf\xbd\"} 1");
    free(text);
}

static void test_nothing_known(void **state)
{
    (void)state;
    const tacit_node_status s = {0};
    char *text = metrics_of(&s);
    check_metrics(text);
    assert_null(strstr(text, "epsilon"));
    free(text);
    tacit_json_tree t;
    read_back(&t, &s);
    tacit_json_clear(&t);
}

/* As many rows as there may ever be, with the longest and worst names: answers stay small. */
static void test_many_rows(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    char names[2][64];
    memset(names[0], '\x01', 63); /* the longest in JSON */
    memset(names[1], '"', 63);    /* and in a label */
    names[0][63] = names[1][63] = '\0';
    tacit_node_status s = example();
    s.peers = calloc(MANY, sizeof *s.peers);
    s.agents = calloc(MANY, sizeof *s.agents);
    assert_true(s.peers && s.agents);
    s.peer_count = s.agent_count = MANY;
    for (int kind = 0; kind < 2; kind++) {
        for (uint32_t i = 0; i < MANY; i++) {
            s.peers[i] = (tacit_node_peer_row){.name = names[kind],
                                               .frames_in = UINT64_MAX,
                                               .bytes_in = UINT64_MAX,
                                               .frames_out = UINT64_MAX,
                                               .bytes_out = UINT64_MAX,
                                               .silence = 1.0 / 3,
                                               .round_trip = -1e-300 / 3};
            memset(s.peers[i].endpoint, '\x01', 63);
            memcpy(s.peers[i].key, &i, sizeof i);
            s.agents[i] = (tacit_node_agent_row){.agent = i,
                                                 .name = names[kind],
                                                 .messages_in = 1,
                                                 .messages_out = UINT64_MAX / MANY,
                                                 .epsilon = i + 1.0 / 3,
                                                 .budget = 1e300 / 3,
                                                 .delta = 1e-10 / 3};
        }
        char *text = metrics_of(&s);
        assert_true(check_metrics(text) > 20 * NODE_WORDS_SERIES);
        assert_non_null(strstr(text, "\ntacit_agents 20000\n"));
        free(text);
        tacit_json_tree t;
        read_back(&t, &s);
        assert_int_equal(tacit_json_to_count(at(&t, "traffic", "messages_in"), 0), MANY);
        assert_int_equal(tacit_json_to_count(at(&t, "peer_counts", "all"), 0), MANY);
        assert_true(tacit_json_to_real(at(&t, "privacy", "epsilon_spent"), 0) > MANY - 1);
        tacit_json_clear(&t);
    }
    free(s.peers);
    free(s.agents);
}

static void test_pages(void **state)
{
    (void)state;
    tacit_node_status s = example();
    static const struct {
        const char *path, *type;
        int code;
    } rows[] = {
        {"/metrics", "text/plain; version=0.0.4; charset=utf-8", 200},
        {"/status", "application/json", 200},
        {"/health", "application/json", 200},
        {"/", NULL, 200},
        {"/statu", NULL, 404},
        {"/status/", NULL, 404},
        {"", NULL, 404},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tacit_writer body = {0};
        const char *type = NULL;
        assert_int_equal(node_words_page(&s, rows[i].path, &body, &type), rows[i].code);
        assert_int_equal(body.len > 0, rows[i].code == 200);
        if (rows[i].type)
            assert_string_equal(type, rows[i].type);
        tacit_writer_clear(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),      cmocka_unit_test(test_unbounded_and_mute),
        cmocka_unit_test(test_metrics),   cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_many_rows), cmocka_unit_test(test_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
