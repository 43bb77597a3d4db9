/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that describe real peers: consortium.yaml and the name of a run, members.csv, node.yaml
 * with its paths, and which records are whose.
 */
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment/consortium.h"
#include "net/keys.h"
#include "testing.h"

/* ---- a place to write in ---- */

static char place[] = "/tmp/tacit-consortium-XXXXXX";

static int enter(void **state)
{
    (void)state;
    return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", place);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* ---- members.csv ---- */

/* Of three members. */
enum { KEYS = 3 };
static char key[KEYS][TACIT_IDENTITY_TEXT];

static int make_keys(void **state)
{
    (void)state;
    for (int k = 0; k < KEYS; k++) {
        tacit_identity identity;
        if (tacit_identity_fresh(&identity, NULL))
            return -1;
        tacit_identity_format(key[k], identity.public_key);
    }
    return enter(state);
}

#define HEADER "name,key,endpoint,agents\n"

/* "$0" to "$2" become keys. */
static tacit_status parse(tacit_roster *roster, const char *pattern, tacit_error *err)
{
    char text[2000];
    size_t used = 0;
    for (const char *at = pattern; *at; at++) {
        if (*at == '$') {
            at++;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s", key[*at - '0']);
        } else
            text[used++] = *at;
    }
    return tacit_roster_parse(roster, "m.csv", text, used, err);
}

static void test_good_members(void **state)
{
    (void)state;
    tacit_roster r;
    tacit_error err = {0};
    check_ok(parse(&r,
                   "\xEF\xBB\xBF"
                   "# a comment\n\nname, key ,endpoint,agents\r\n"
                   "ward-b,$0,tcp://ward-b.example:7400,7 0-4\r\n"
                   " _x.Y9\t,$1,,\t6   5 \n"
                   "c,$2,tcp://[fe80::1]:1,9",
                   &err),
             &err);
    assert_int_equal(r.count, 3);
    assert_int_equal(r.agents, 10);
    assert_string_equal(r.members[0].name, "ward-b");
    assert_string_equal(r.members[0].endpoint, "tcp://ward-b.example:7400");
    static const uint32_t first[] = {0, 1, 2, 3, 4, 7}, second[] = {5, 6}, third[] = {9};
    assert_int_equal(r.members[0].count, 6);
    assert_memory_equal(r.members[0].agents, first, sizeof first);
    assert_string_equal(r.members[1].name, "_x.Y9");
    assert_string_equal(r.members[1].endpoint, "");
    assert_int_equal(r.members[1].count, 2);
    assert_memory_equal(r.members[1].agents, second, sizeof second);
    assert_memory_equal(r.members[2].agents, third, sizeof third);
    static const uint32_t hosts[] = {0, 0, 0, 0, 0, 1, 1, 0, TACIT_ROSTER_MEMBERS, 2};
    assert_memory_equal(r.host, hosts, sizeof hosts);
    char text[TACIT_IDENTITY_TEXT];
    tacit_identity_format(text, r.members[2].key);
    assert_string_equal(text, key[2]);

    /* And back. */
    char *written = tacit_roster_text(r.members, r.count), want[400];
    snprintf(want, sizeof want,
             HEADER "ward-b,%s,tcp://ward-b.example:7400,0-4 7\n_x.Y9,%s,,5-6\n"
                    "c,%s,tcp://[fe80::1]:1,9\n",
             key[0], key[1], key[2]);
    assert_string_equal(written, want);
    free(written);
    tacit_roster_clear(&r);
}

static void test_bad_members(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "no member"},
        {HEADER, "no member"},
        {"# nothing\n", "no member"},
        {"a,$0,,0\n", "m.csv:1: the first line is"},
        {"name,key,agents,endpoint\na,$0,0,\n", "expected the header"},
        {"Name,key,endpoint,agents\na,$0,,0\n", "expected the header"},
        {HEADER "a,$0,,0\nb,$1,\n", "m.csv:3: line"},
        {HEADER "a,$0,,0,\n", "m.csv:2: line"},
        {HEADER "a,$0,,0,1\n", "expected \"name,key,endpoint,agents\""},
        {HEADER "\"a\",$0,,0\n", "m.csv:2: name"},
        {HEADER ",$0,,0\n", "m.csv:2: name \"\""},
        {HEADER "-a,$0,,0\n", "m.csv:2: name"},
        {HEADER "..,$0,,0\n", "m.csv:2: name"},
        {HEADER "a/b,$0,,0\n", "m.csv:2: name"},
        {HEADER "a b,$0,,0\n", "m.csv:2: name"},
        {HEADER "\xC3\xA4,$0,,0\n", "m.csv:2: name"},
        {HEADER "a0123456789012345678901234567890123456789012345678901234567890123,$0,,0\n",
         "m.csv:2: name"},
        {HEADER "a,$0,,0\na,$1,,1\n", "m.csv:3: name \"a\"; another member"},
        {HEADER "a,,,0\n", "m.csv:2: key"},
        {HEADER "a,$00,,0\n", "m.csv:2: key"},
        {HEADER "a,zz11111111111111111111111111111111111111111111111111111111111111,,0\n",
         "m.csv:2: key \"zz111111\""},
        /* y = 2 is on the curve of no point; y = 1 is the neutral element, of small order */
        {HEADER "a,0200000000000000000000000000000000000000000000000000000000000000,,0\n",
         "m.csv:2: key"},
        {HEADER "a,0100000000000000000000000000000000000000000000000000000000000000,,0\n",
         "m.csv:2: key"},
        {HEADER "a,$0,,0\nb,$0,,1\n", "m.csv:3: key"},
        {HEADER "a,$0,host:7400,0\n", "m.csv:2: endpoint"},
        {HEADER "a,$0,tcp://host,0\n", "m.csv:2: endpoint"},
        {HEADER "a,$0,tcp://:7400,0\n", "m.csv:2: endpoint"},
        {HEADER "a,$0,tcp://*:7400,0\n", "m.csv:2: endpoint"},
        {HEADER "a,$0,tcp://host:*,0\n", "m.csv:2: endpoint"},
        {HEADER "a,$0,tcp://host:0,0\n", "m.csv:2: endpoint"},
        {HEADER "a,$0,tcp://host:65536,0\n", "m.csv:2: endpoint"},
        {HEADER "a,$0,tcp://host:99999999999999,0\n", "m.csv:2: endpoint"},
        {HEADER "a,$0,tcp://host:74 0,0\n", "m.csv:2: endpoint"},
        {HEADER "a,$0,tcp://ho st:7400,0\n", "m.csv:2: endpoint"},
        {HEADER "a,$0,tcp://[::1:7400,0\n", "m.csv:2: endpoint"},
        {HEADER "a,$0,ipc:///tmp/x:7400,0\n", "m.csv:2: endpoint"},
        {HEADER "a,$0,tcp://h01234567890123456789012345678901234567890123456789012345:7400,0\n",
         "m.csv:2: endpoint"},
        {HEADER "a,$0,tcp://h:1,0\nb,$1,tcp://h:1,1\n", "m.csv:3: endpoint"},
        {HEADER "a,$0,,\n", "m.csv:2: agents \"\"; a member hosts at least one"},
        {HEADER "a,$0,,x\n", "m.csv:2: agents"},
        {HEADER "a,$0,,-1\n", "m.csv:2: agents"},
        {HEADER "a,$0,,1-\n", "m.csv:2: agents"},
        {HEADER "a,$0,,4-2\n", "m.csv:2: agents"},
        {HEADER "a,$0,,1-2-3\n", "m.csv:2: agents"},
        {HEADER "a,$0,,1;2\n", "m.csv:2: agents"},
        {HEADER "a,$0,,01\n", "m.csv:2: agents"},
        {HEADER "a,$0,,1.5\n", "m.csv:2: agents"},
        {HEADER "a,$0,,1048576\n", "m.csv:2: agents"},
        {HEADER "a,$0,,0-4000000000\n", "m.csv:2: agents"},
        {HEADER "a,$0,,0-99999999999999999999999\n", "m.csv:2: agents"},
        {HEADER "a,$0,,3 3\n", "agent 3 is hosted on line 2 already"},
        {HEADER "a,$0,,0-4\n#\nb,$1,,9 4-6\n", "m.csv:4: agents \"9 4-6\"; agent 4 is hosted on "
                                               "line 2 already"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tacit_roster r;
        tacit_error err = {0};
        tacit_status status = parse(&r, cases[k].text, &err);
        if (status != TACIT_EINPUT || !strstr(err.text, cases[k].words))
            print_error("case %zu: %s\n", k, cases[k].text);
        check_fails(status, TACIT_EINPUT, &err, cases[k].words);
        assert_null(r.members);
        assert_null(r.host);
    }
    tacit_roster r;
    tacit_error err = {0};
    assert_int_equal(tacit_roster_parse(&r, "m.csv", HEADER "a\0b", sizeof HEADER "a\0b" - 1, &err),
                     TACIT_EINPUT);
}

/* The same key in capitals is the same member; a secret one is not shown in an error. */
static void test_keys_by_value(void **state)
{
    (void)state;
    char text[600], upper[TACIT_IDENTITY_TEXT];
    tacit_roster r;
    tacit_error err = {0};
    for (size_t k = 0; k < sizeof upper; k++)
        upper[k] = (char)(key[0][k] >= 'a' ? key[0][k] - 'a' + 'A' : key[0][k]);
    snprintf(text, sizeof text, HEADER "a,%s,,0\nb,%s,,1\n", key[0], upper);
    check_fails(tacit_roster_parse(&r, "m.csv", text, strlen(text), &err), TACIT_EINPUT, &err,
                "m.csv:3: key");
    snprintf(text, sizeof text, HEADER "a,tacit-identity-1 %s,,0\n", key[1]);
    check_fails(tacit_roster_parse(&r, "m.csv", text, strlen(text), &err), TACIT_EINPUT, &err,
                "m.csv:2: key");
    assert_null(strstr(err.text, key[1] + 48));
}

/* ---- consortium.yaml ---- */

static const char agreed[] = "run:\n  name: trial\n  time: 50\n"
                             "protocol:\n  name: cd\n  mu: 0.3\n  full-confidence: 20\n";

static void check_run(const char *text, uint8_t run[TACIT_NODE_RUN])
{
    tacit_agreement a;
    tacit_error err = {0};
    write_file("c.yaml", text);
    check_ok(tacit_agreement_read(&a, "c.yaml", &err), &err);
    memcpy(run, a.run, sizeof a.run);
    tacit_agreement_clear(&a);
}

static void test_what_names_a_run(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool same;
    } cases[] = {
        /* in other words */
        {"protocol: {full-confidence: 2e1, mu: .3}\nrun: {time: 50.0, name: trial, seed: 1}\n",
         true},
        {"run:\n  name: trial\n  time: 50\n  every: 3\n  checkpoint: 1\n  sample: 0\n"
         "protocol:\n  mu: 0.3\n  full-confidence: 20\n",
         true},
        {"run: {name: trial, time: 50}\nprotocol: {mu: 0.3, full-confidence: 20}\n"
         "consortium: {members: who.csv, edges: ../g.txt, unit: 1, end: time}\n"
         "privacy: {budgets: b.csv, mechanism: none}\n",
         true},
        /* something else */
        {"run: {name: other, time: 50}\nprotocol: {mu: 0.3, full-confidence: 20}\n", false},
        {"run: {name: trial, time: 51}\nprotocol: {mu: 0.3, full-confidence: 20}\n", false},
        {"run: {name: trial, time: 50, seed: 2}\nprotocol: {mu: 0.3, full-confidence: 20}\n",
         false},
        {"run: {name: trial, time: 50}\nprotocol: {mu: 0.31, full-confidence: 20}\n", false},
        {"run: {name: trial, time: 50}\nprotocol: {mu: 0.3, full-confidence: 21}\n", false},
        {"run: {name: trial, time: 50}\nprotocol: {name: model-propagation, mu: 0.3, "
         "full-confidence: 20}\n",
         false},
        {"run: {name: trial, time: 50}\nprotocol: {name: admm, mu: 0.3, full-confidence: 20}\n",
         false},
        {"run: {name: trial, time: 50}\nprotocol: {mu: 0.3, full-confidence: 20}\n"
         "model: {loss: squared}\n",
         false},
        {"run: {name: trial, time: 50}\nprotocol: {mu: 0.3, full-confidence: 20}\n"
         "model: {scalar: f32}\n",
         false},
        {"run: {name: trial, time: 50}\nprotocol: {mu: 0.3, full-confidence: 20}\n"
         "privacy: {epsilon: 1}\n",
         false},
        {"run: {name: trial, time: 50}\nprotocol: {mu: 0.3, full-confidence: 20}\n"
         "privacy: {unit: user}\n",
         false},
        {"run: {name: trial, time: 50}\nprotocol: {mu: 0.3, full-confidence: 20}\n"
         "consortium: {unit: 2}\n",
         false},
        {"run: {name: trial, time: 50}\nprotocol: {mu: 0.3, full-confidence: 20}\n"
         "consortium: {end: agreement}\n",
         false},
        {"run: {name: trial, time: 50}\nprotocol: {mu: 0.3, full-confidence: 20}\n"
         "consortium: {tolerance: 1e-7}\n",
         false},
        {"run: {name: trial, time: 50}\nprotocol: {mu: 0.3, full-confidence: 20}\n"
         "consortium: {hops: 9}\n",
         false},
        {"run: {name: trial, time: 50}\nprotocol: {mu: 0.3, full-confidence: 20}\n"
         "consortium: {largest: 2e6}\n",
         false},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    uint8_t first[TACIT_NODE_RUN], run[CASES][TACIT_NODE_RUN];
    check_run(agreed, first);
    for (size_t k = 0; k < CASES; k++) {
        check_run(cases[k].text, run[k]);
        if ((memcmp(run[k], first, sizeof first) == 0) != cases[k].same)
            fail_msg("case %zu: %s", k, cases[k].text);
        for (size_t j = 0; j < k; j++)
            if (!cases[j].same && memcmp(run[k], run[j], sizeof first) == 0)
                fail_msg("cases %zu and %zu have one name", j, k);
    }
}

/* Of a kernel in a file its contents count, not its name; who leaves when is each peer's own. */
static void test_files_of_protocols(void **state)
{
    (void)state;
    static const struct {
        const char *kernel, *opt_out;
        bool same;
    } cases[] = {{"k1.csv", "", true},
                 {"k2.csv", "", true},
                 {"k1.csv", "who.csv", true},
                 {"k3.csv", "", false},
                 {"", "", false}};
    tacit_agreement a;
    tacit_error err = {0};
    uint8_t first[TACIT_NODE_RUN];
    write_file("c.yaml", agreed);
    write_file("k1.csv", "1,0.5\n0.5,1\n");
    write_file("k2.csv", "1,0.5\n0.5,1\n");
    write_file("k3.csv", "1,0.6\n0.6,1\n");
    check_ok(tacit_agreement_read(&a, "c.yaml", &err), &err);
    free(a.experiment.protocol_options);
    const tacit_protocol *chorus = a.experiment.protocol = tacit_protocol_find("chorus");
    a.experiment.protocol_options = calloc(1, chorus->options.size);
    check_ok(tacit_options_defaults(&chorus->options, a.experiment.protocol_options, &err), &err);
    char *kernel = tacit_protocol_file(&a.experiment, "kernel-file");
    char *opt_out = tacit_protocol_file(&a.experiment, "opt-out");
    assert_true(kernel && opt_out && !tacit_protocol_file(&a.experiment, "rank"));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(kernel, TACIT_TEXT_MAX, "%s", cases[k].kernel);
        snprintf(opt_out, TACIT_TEXT_MAX, "%s", cases[k].opt_out);
        check_ok(tacit_agreement_name(&a, &err), &err);
        if (k == 0)
            memcpy(first, a.run, sizeof first);
        if ((memcmp(a.run, first, sizeof first) == 0) != cases[k].same)
            fail_msg("case %zu", k);
    }
    snprintf(kernel, TACIT_TEXT_MAX, "nowhere.csv");
    assert_int_not_equal(tacit_agreement_name(&a, &err), TACIT_OK);
    assert_non_null(strstr(err.text, "nowhere.csv"));
    tacit_agreement_clear(&a);
}

static void test_agreement_round_trip(void **state)
{
    (void)state;
    tacit_agreement a, b;
    tacit_error err = {0};
    write_file("c.yaml", agreed);
    check_ok(tacit_agreement_read(&a, "c.yaml", &err), &err);
    assert_string_equal(a.consortium.members, "members.csv");
    assert_true(a.consortium.unit == 1 && a.consortium.hops == 8 && a.consortium.largest == 1e6);
    char *text = tacit_agreement_yaml(&a);
    assert_non_null(text);
    assert_null(strstr(text, "\ndata:"));
    assert_null(strstr(text, "\ngraph:"));
    write_file("c2.yaml", text);
    free(text);
    check_ok(tacit_agreement_read(&b, "c2.yaml", &err), &err);
    assert_memory_equal(a.run, b.run, sizeof a.run);
    assert_true(b.experiment.run.time == 50);
    tacit_agreement_clear(&a);
    tacit_agreement_clear(&b);
}

static void test_bad_agreements(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"data: {source: csv}\n", "c.yaml:1:8: \"data.source\" is nothing that a consortium"},
        {"run: {time: 3}\ngraph: {kind: ring}\n", "\"consortium.edges\""},
        {"network: {loss: 0.5}\n", "only a simulated network"},
        {"node: {log: debug}\n", "node.yaml"},
        {"consortium: {unti: 1}\n", "did you mean \"consortium.unit\"?"},
        {"consortium: {unit: 0}\n", "\"consortium.unit\" is \"0\""},
        {"consortium: {end: never}\n", "expected one of time, ticks, agreement"},
        {"consortium: {members: \"\"}\n", "\"consortium.members\" is empty"},
        {"consortium: {edges: \"\"}\n", "\"consortium.edges\" is empty"},
        {"protocol: {name: global}\n", "everybody's records in one place"},
        {"protocol: {name: chorus}\n", "adds up over all agents"},
        {"privacy: {mechanism: gaussian, clip: 1, claimed: true, epsilon: 1}\n", "mere claim"},
        {"protocol: {name: cd, reach: all}\n", "belongs to"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tacit_agreement a;
        tacit_error err = {0};
        write_file("c.yaml", cases[k].text);
        check_fails(tacit_agreement_read(&a, "c.yaml", &err), TACIT_EINPUT, &err, cases[k].words);
        assert_null(a.experiment.protocol_options);
    }
}

/* ---- node.yaml ---- */

/* here/agreed/: consortium.yaml, members.csv, graph.edges; here/site/: node.yaml, key, records. */
static tacit_identity ours;

static void write_site(const char *agents, const char *node, const char *records)
{
    char text[700];
    tacit_error err = {0};
    mkdir("agreed", 0700);
    mkdir("site", 0700);
    mkdir("site/raw", 0700);
    if (access("site/id.key", F_OK) != 0)
        check_ok(tacit_identity_create(&ours, "site/id.key", &err), &err);
    char own[TACIT_IDENTITY_TEXT];
    tacit_identity_format(own, ours.public_key);
    write_file("agreed/consortium.yaml", agreed);
    snprintf(text, sizeof text, HEADER "far,%s,tcp://127.0.0.1:7401,0-1 6\nhere,%s,,%s\n", key[0],
             own, agents);
    write_file("agreed/members.csv", text);
    write_file("agreed/graph.edges", "2 0 0.5\n2 4\n4 5 2\n");
    write_file("site/node.yaml", node);
    write_file("site/raw/records.csv", records);
}

static const char good_node[] = "node:\n  consortium: ../agreed/consortium.yaml\n  key: id.key\n"
                                "  listen: tcp://127.0.0.1:7400\n"
                                "data:\n  source: csv\n  path: raw/records.csv\n"
                                "  test-fraction: 0\n";
static const char by_words[] = "agent,a,b,label\nx,1,2,1\ny,3,4,-1\nx,5,6,1\nz,7,8,1\n";

static void test_plan(void **state)
{
    (void)state;
    tacit_peer *peer = NULL;
    tacit_error err = {0};
    write_site("2 4-5", good_node, by_words);
    check_ok(tacit_peer_open(&peer, "site/node.yaml", NULL, 0, &err), &err);
    const tacit_node_plan *plan = tacit_peer_plan(peer);
    assert_int_equal(plan->member_count, 2);
    assert_int_equal(plan->self, 1);
    assert_int_equal(plan->agents, 7);
    assert_int_equal(plan->hosted_count, 3);
    assert_string_equal(plan->options->name, "here");
    assert_string_equal(plan->options->folder, "site/state");
    assert_string_equal(plan->options->key, "site/id.key");
    assert_string_equal(plan->consortium->members, "site/../agreed/members.csv");
    assert_true(plan->until == 50);
    assert_string_equal(plan->protocol->name, "cd");
    /* What was agreed on, and how wide records are: the last byte of the width is part of the name.
     */
    uint8_t width[8] = {(uint8_t)tacit_dataset_features(plan->data)}, name[TACIT_NODE_RUN];
    crypto_generichash(name, sizeof name, width, sizeof width, tacit_peer_agreement(peer)->run,
                       TACIT_NODE_RUN);
    assert_memory_equal(plan->run, name, sizeof name);
    assert_memory_equal(plan->identity->public_key, ours.public_key, sizeof ours.public_key);
    static const struct {
        uint32_t agent, shard, neighbours, neighbour[2];
        double weight[2];
        const char *name;
        uint32_t rows;
    } want[] = {{2, 0, 2, {0, 4}, {0.5, 1}, "x", 2},
                {4, 1, 2, {2, 5}, {1, 2}, "y", 1},
                {5, 2, 1, {4}, {2}, "z", 1}};
    for (uint32_t k = 0; k < 3; k++) {
        const tacit_node_agent *a = &plan->hosted[k];
        assert_int_equal(a->agent, want[k].agent);
        assert_int_equal(a->shard, want[k].shard);
        assert_string_equal(a->name, want[k].name);
        assert_true(isinf(a->epsilon));
        assert_int_equal(a->neighbours, want[k].neighbours);
        assert_memory_equal(a->neighbour, want[k].neighbour, a->neighbours * sizeof(uint32_t));
        assert_memory_equal(a->weight, want[k].weight, a->neighbours * sizeof(double));
        assert_int_equal(tacit_dataset_rows(plan->data, a->shard, TACIT_TRAIN), want[k].rows);
    }
    tacit_peer_close(peer);

    /* From elsewhere, by an absolute path: the same files. */
    char path[200];
    snprintf(path, sizeof path, "%s/site/node.yaml", place);
    assert_int_equal(chdir("/"), 0);
    check_ok(tacit_peer_open(&peer, path, NULL, 0, &err), &err);
    tacit_peer_close(peer);
    assert_int_equal(chdir(place), 0);
}

/* A file of the same name in the current folder is not the one that is meant. */
static void test_paths_are_beside_their_file(void **state)
{
    (void)state;
    tacit_peer *peer = NULL;
    tacit_error err = {0};
    write_site("2 4-5", good_node, by_words);
    mkdir("raw", 0700);
    write_file("raw/records.csv", "agent,a,b,label\nwrong,1,2,1\n");
    check_ok(tacit_peer_open(&peer, "site/node.yaml", NULL, 0, &err), &err);
    tacit_peer_close(peer);
    /* ... but what is typed in a shell is. */
    static const char *const sets[] = {"data.path=raw/records.csv"};
    check_fails(tacit_peer_open(&peer, "site/node.yaml", sets, 1, &err), TACIT_EINPUT, &err,
                "its records are of 1");
    assert_null(peer);
    /* Lists, data.folder, and columns. */
    write_site("2 4-5",
               "node: {consortium: ../agreed/consortium.yaml, key: id.key, listen: 'tcp://h:1'}\n"
               "data: {source: csv, folder: raw, path: 'records.csv, raw/more.csv',"
               " test-fraction: 0}\n",
               by_words);
    write_file("site/raw/more.csv", "agent,a,b,label\nz,9,9,-1\n");
    check_ok(tacit_peer_open(&peer, "site/node.yaml", NULL, 0, &err), &err);
    assert_int_equal(tacit_dataset_rows(tacit_peer_plan(peer)->data, 2, TACIT_TRAIN), 2);
    tacit_peer_close(peer);
    unlink("raw/records.csv");
    rmdir("raw");
}

/* Records that say by numbers whose they are go there, whatever the order of lines. */
static void test_records_by_number(void **state)
{
    (void)state;
    tacit_peer *peer = NULL;
    tacit_error err = {0};
    write_site("2 4-5", good_node,
               "agent,a,b,label\n5,1,2,1\n5,3,4,-1\n2,5,6,1\n4,7,8,1\n5,1,1,1\n"
               "4,7,8,1\n");
    check_ok(tacit_peer_open(&peer, "site/node.yaml", NULL, 0, &err), &err);
    const tacit_node_plan *plan = tacit_peer_plan(peer);
    static const uint32_t rows[] = {1, 2, 3};
    static const char *const names[] = {"2", "4", "5"};
    for (uint32_t k = 0; k < 3; k++) {
        assert_int_equal(tacit_dataset_rows(plan->data, plan->hosted[k].shard, TACIT_TRAIN),
                         rows[k]);
        assert_string_equal(plan->hosted[k].name, names[k]);
    }
    tacit_peer_close(peer);
    static const struct {
        const char *records, *words;
    } bad[] = {
        {"agent,a,b,label\n0,1,2,1\n2,3,4,-1\n4,1,1,1\n", "records of agent \"0\", whom \"here\""},
        {"agent,a,b,label\n2,1,2,1\n04,3,4,-1\n5,1,1,1\n", "records of agent \"04\""},
        {"agent,a,b,label\n2,1,2,1\nx,3,4,-1\n5,1,1,1\n", "some by words"},
        {"agent,a,b,label\n2,1,2,1\n4,3,4,-1\n", "hosts 3 agents"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        write_site("2 4-5", good_node, bad[k].records);
        check_fails(tacit_peer_open(&peer, "site/node.yaml", NULL, 0, &err), TACIT_EINPUT, &err,
                    bad[k].words);
    }
    /* Dealt records have no names: the numbers are the consortium's. */
    static const char *const deal[] = {"data.partition=iid"};
    write_site("2 4-5", good_node, by_words);
    check_ok(tacit_peer_open(&peer, "site/node.yaml", deal, 1, &err), &err);
    assert_string_equal(tacit_peer_plan(peer)->hosted[1].name, "4");
    tacit_peer_close(peer);
}

static void test_budgets_of_agents(void **state)
{
    (void)state;
    tacit_peer *peer = NULL;
    tacit_error err = {0};
    char text[400];
    write_site("2 4-5", good_node, by_words);
    snprintf(text, sizeof text, "%sprivacy: {budgets: b.csv, epsilon: 3}\n", agreed);
    write_file("agreed/consortium.yaml", text);
    write_file("agreed/b.csv", "agent,epsilon\n4,0.5\n0,9\n");
    check_ok(tacit_peer_open(&peer, "site/node.yaml", NULL, 0, &err), &err);
    const tacit_node_agent *hosted = tacit_peer_plan(peer)->hosted;
    assert_true(hosted[0].epsilon == 3 && hosted[1].epsilon == 0.5 && hosted[2].epsilon == 3);
    tacit_peer_close(peer);
    write_file("agreed/b.csv", "x,0.5\n");
    check_fails(tacit_peer_open(&peer, "site/node.yaml", NULL, 0, &err), TACIT_EINPUT, &err,
                "unknown agent \"x\"");
}

static void test_bad_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *node, *words;
    } cases[] = {
        {"node: {consortium: c.yaml}\n", "\"data.source\" is missing"},
        {"node: {kye: x}\n", "did you mean \"node.key\"?"},
        {"run: {time: 3}\n", "\"run.time\" is no setting of one peer"},
        {"privacy: {epsilon: 3}\n", "no setting of one peer"},
        {"node: {key: \"\"}\ndata: {source: csv}\n", "\"node.key\" is empty"},
        {"node: {log: loud}\n", "expected one of debug, info, warn, error"},
        {"node: {key: id.key}\ndata: {source: csv}\n", "site/consortium.yaml"},
        {"node: {consortium: ../agreed/consortium.yaml}\ndata: {source: csv}\n",
         "site/identity.key"},
        {"node: {consortium: ../agreed/consortium.yaml, key: id.key}\ndata: {source: csv}\n",
         "has no endpoint"},
        {"node: {consortium: ../agreed/consortium.yaml, key: id.key, name: far}\n"
         "data: {source: csv}\n",
         "is the key of \"here\""},
        {"node: {consortium: ../agreed/consortium.yaml, key: other.key, listen: 'tcp://h:1'}\n"
         "data: {source: csv}\n",
         "is not in site/../agreed/members.csv; add the line"},
        {"node: {consortium: ../agreed/consortium.yaml, key: id.key, listen: 'tcp://h:1'}\n"
         "data: {source: csv, path: none.csv}\n",
         "site/none.csv"},
    };
    tacit_identity other;
    tacit_error err = {0};
    tacit_peer *peer = NULL;
    write_site("2 4-5", good_node, by_words);
    check_ok(tacit_identity_create(&other, "site/other.key", &err), &err);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        write_site("2 4-5", cases[k].node, by_words);
        check_fails(tacit_peer_open(&peer, "site/node.yaml", NULL, 0, &err), TACIT_EINPUT, &err,
                    cases[k].words);
        assert_null(peer);
    }
    write_site("2 4-5", good_node, by_words);
    write_file("agreed/graph.edges", "2 4\n3 0\n");
    check_fails(tacit_peer_open(&peer, "site/node.yaml", NULL, 0, &err), TACIT_EINPUT, &err,
                "edges of agent 3, whom nobody hosts");
    write_file("agreed/graph.edges", "2 4\n7 0\n");
    assert_int_equal(tacit_peer_open(&peer, "site/node.yaml", NULL, 0, &err), TACIT_EINPUT);
    assert_int_equal(chmod("site/id.key", 0640), 0);
    check_fails(tacit_peer_open(&peer, "site/node.yaml", NULL, 0, &err), TACIT_EINPUT, &err,
                "open to others");
    assert_int_equal(chmod("site/id.key", 0600), 0);
}

/* ---- what a protocol cannot know on a node ---- */

static void test_protocols_on_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *name, *sets, *words; /* words NULL: fine */
    } cases[] = {
        {"alone", NULL, NULL},
        {"cd", NULL, "set \"protocol.full-confidence\""},
        {"cd", "full-confidence", NULL},
        {"model-propagation", NULL, "set \"protocol.full-confidence\""},
        {"model-propagation", "full-confidence", NULL},
        {"admm", NULL, "set \"protocol.full-confidence\""},
        {"admm", "full-confidence", NULL},
        {"perturbed", NULL, "set \"protocol.full-confidence\""},
        {"perturbed", "full-confidence", "set \"protocol.most-records\""},
        {"one-shot", NULL, "set \"protocol.likeness\""},
        {"one-shot", "likeness", NULL},
    };
    tacit_model_options options;
    tacit_privacy_options privacy;
    tacit_model *model = NULL;
    tacit_error err = {0};
    check_ok(tacit_options_defaults(&tacit_model_section, &options, &err), &err);
    check_ok(tacit_options_defaults(&tacit_privacy_section, &privacy, &err), &err);
    check_ok(tacit_model_create(&model, &options, 5, &err), &err);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const tacit_protocol *p = tacit_protocol_find(cases[k].name);
        assert_non_null(p);
        void *own = calloc(1, p->options.size + 1), *shared = calloc(1, p->shared_size + 1);
        assert_true(own && shared);
        check_ok(tacit_options_defaults(&p->options, own, &err), &err);
        if (cases[k].sets) {
            const tacit_option *o =
                tacit_section_find(&p->options, cases[k].sets, strlen(cases[k].sets));
            assert_non_null(o);
            check_ok(tacit_option_set(o, own, "1", &err), &err);
        }
        const tacit_setup setup = {.agents = 4, .model = model, .privacy = &privacy, .until = 9};
        tacit_status status = p->setup ? p->setup(shared, own, &setup, &err) : TACIT_OK;
        if (cases[k].words)
            check_fails(status, TACIT_EINPUT, &err, cases[k].words);
        else
            check_ok(status, &err);
        if (p->teardown)
            p->teardown(shared);
        free(own);
        free(shared);
    }
    tacit_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_members),
        cmocka_unit_test(test_bad_members),
        cmocka_unit_test(test_keys_by_value),
        cmocka_unit_test(test_what_names_a_run),
        cmocka_unit_test(test_files_of_protocols),
        cmocka_unit_test(test_agreement_round_trip),
        cmocka_unit_test(test_bad_agreements),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_paths_are_beside_their_file),
        cmocka_unit_test(test_records_by_number),
        cmocka_unit_test(test_budgets_of_agents),
        cmocka_unit_test(test_bad_nodes),
        cmocka_unit_test(test_protocols_on_nodes),
    };
    return cmocka_run_group_tests(tests, make_keys, leave);
}
