/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An experiment as a folder of peers: every node gets the bits, the neighbours and the options that
 * a simulation gives its agents; and what they leave behind is measured as a simulation measures.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/shard.h"
#include "experiment/consortium.h"
#include "report/writer.h"
#include "testing.h"

static char place[] = "/tmp/tacit-up-XXXXXX";

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

static tacit_session *make(tacit_experiment *x, const char *yaml)
{
    tacit_error err = {0};
    tacit_config config;
    tacit_session *session = NULL;
    tacit_config_init(&config);
    check_ok(tacit_config_parse(&config, "test", yaml, strlen(yaml), &err), &err);
    check_ok(tacit_experiment_init(x, &config, &err), &err);
    tacit_config_clear(&config);
    check_ok(tacit_session_create(&session, x, 1, &err), &err);
    return session;
}

static void end(tacit_session *session, tacit_experiment *x)
{
    tacit_session_free(session);
    tacit_experiment_clear(x);
}

#define TASK                                                                             \
    "run: {name: t, time: 20, every: 0}\n"                                               \
    "data: {agents: 11, dimension: 4, min-records: 3, max-records: 9, test-records: 7, " \
    "validation-records: 0}\n"

static void same_rows(const tacit_dataset *a, uint32_t i, const tacit_dataset *b, uint32_t j)
{
    const size_t each = tacit_scalar_size(tacit_dataset_scalar(a));
    assert_int_equal(tacit_dataset_scalar(a), tacit_dataset_scalar(b));
    for (int split = 0; split < TACIT_SPLITS; split++) {
        const tacit_shard *x = tacit_dataset_shard(a, i, (tacit_split)split);
        const tacit_shard *y = tacit_dataset_shard(b, j, (tacit_split)split);
        assert_int_equal(tacit_shard_rows(x), tacit_shard_rows(y));
        tacit_batch p, q;
        size_t at = 0, to = 0;
        while (tacit_shard_next(x, &at, &p)) {
            assert_true(tacit_shard_next(y, &to, &q));
            assert_memory_equal(p.x, q.x, p.rows * tacit_shard_features(x) * each);
            assert_memory_equal(p.y, q.y, p.rows * each);
        }
    }
}

static void check_agent(const tacit_session *s, const tacit_node_plan *plan, uint32_t k)
{
    const tacit_graph *g = tacit_session_graph(s);
    const tacit_node_agent *a = &plan->hosted[k];
    const uint64_t first = g->row[a->agent];
    same_rows(tacit_session_data(s), a->agent, plan->data, a->shard);
    assert_int_equal(a->neighbours, g->row[a->agent + 1] - first);
    assert_memory_equal(a->neighbour, g->neighbour + first, a->neighbours * sizeof *a->neighbour);
    assert_memory_equal(a->weight, g->weight + first, a->neighbours * sizeof *a->weight);
}

/* The number of an option of a protocol, as text. */
static void option_of(const tacit_node_plan *plan, const char *key, char *out, size_t size)
{
    const tacit_option *o = tacit_section_find(&plan->protocol->options, key, strlen(key));
    assert_non_null(o);
    tacit_option_format(o, plan->protocol_options, out, size);
}

static void test_nodes_get_what_agents_have(void **state)
{
    (void)state;
    tacit_experiment x;
    tacit_error err = {0};
    tacit_session *s = make(&x, TASK "graph: {gamma: 1}\nmodel: {scalar: f32}\n");
    check_ok(tacit_up_prepare(
                 s, &(tacit_up_request){.folder = "deep/peers", .nodes = 4, .port = 7400}, &err),
             &err);
    static const uint32_t counts[] = {2, 3, 3, 3};
    uint32_t seen = 0;
    uint8_t run[TACIT_NODE_RUN];
    size_t most = 0;
    for (uint32_t i = 0; i < 11; i++) {
        const size_t rows = tacit_dataset_rows(tacit_session_data(s), i, TACIT_TRAIN);
        most = rows > most ? rows : most;
    }
    for (uint32_t k = 0; k < 4; k++) {
        char path[60], text[60], want[60];
        tacit_peer *peer = NULL;
        snprintf(path, sizeof path, "deep/peers/node-%03u/node.yaml", k);
        check_ok(tacit_peer_open(&peer, path, NULL, 0, &err), &err);
        const tacit_node_plan *plan = tacit_peer_plan(peer);
        assert_int_equal(plan->self, k);
        assert_int_equal(plan->agents, 11);
        assert_int_equal(plan->hosted_count, counts[k]);
        snprintf(want, sizeof want, "tcp://127.0.0.1:%u", 7400 + k);
        assert_string_equal(plan->members[k].endpoint, want);
        for (uint32_t i = 0; i < plan->hosted_count; i++, seen++) {
            assert_int_equal(plan->hosted[i].agent, seen);
            check_agent(s, plan, i);
        }
        option_of(plan, "full-confidence", text, sizeof text);
        snprintf(want, sizeof want, "%zu", most);
        assert_string_equal(text, want);
        if (k > 0)
            assert_memory_equal(plan->run, run, sizeof run);
        memcpy(run, plan->run, sizeof run);
        snprintf(want, sizeof want, "deep/peers/node-%03u/state", k);
        assert_string_equal(plan->options->folder, want);
        tacit_peer_close(peer);
    }
    assert_int_equal(seen, 11);
    struct stat about;
    assert_int_equal(stat("deep/peers/node-003/identity.key", &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    /* A folder that is not empty is left alone. */
    check_fails(tacit_up_prepare(s, &(tacit_up_request){.folder = "deep/peers", .nodes = 2}, &err),
                TACIT_EINPUT, &err, "already exists");
    assert_int_equal(stat("deep/peers/node-003/identity.key", &about), 0);
    end(s, &x);
}

static void test_explicit_options(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *key, *want;
    } cases[] = {
        {"protocol: {name: cd, full-confidence: 33}\n", "full-confidence", "33"},
        {"protocol: {name: one-shot}\ngraph: {kind: ring}\n", "likeness", "0.3"},
        {"protocol: {name: one-shot}\ngraph: {gamma: 1}\n", "likeness", "1"},
        {"protocol: {name: one-shot, likeness: 0.7}\ngraph: {kind: ring}\n", "likeness", "0.7"},
        {"protocol: {name: perturbed, most-records: 50}\n"
         "privacy: {mechanism: gaussian, epsilon: 9}\n",
         "most-records", "50"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char yaml[600], folder[20], path[60], text[40];
        tacit_experiment x;
        tacit_error err = {0};
        tacit_peer *peer = NULL;
        snprintf(yaml, sizeof yaml, TASK "%s", cases[k].yaml);
        snprintf(folder, sizeof folder, "option-%zu", k);
        tacit_session *s = make(&x, yaml);
        check_ok(tacit_up_prepare(s, &(tacit_up_request){.folder = folder, .nodes = 1}, &err),
                 &err);
        snprintf(path, sizeof path, "%s/node-000/node.yaml", folder);
        check_ok(tacit_peer_open(&peer, path, NULL, 0, &err), &err);
        option_of(tacit_peer_plan(peer), cases[k].key, text, sizeof text);
        assert_string_equal(text, cases[k].want);
        tacit_peer_close(peer);
        end(s, &x);
    }
}

static void test_budgets_and_settings(void **state)
{
    (void)state;
    tacit_experiment x;
    tacit_error err = {0};
    tacit_consortium_options c;
    tacit_node_options n;
    FILE *file = fopen("some.csv", "w");
    assert_non_null(file);
    fputs("agent,epsilon\n2,0.25\n10,0.1\n", file);
    fclose(file);
    tacit_session *s =
        make(&x, TASK "privacy: {mechanism: gaussian, clip: 1, noise: 2, epsilon: 7, "
                      "budgets: some.csv}\n");
    check_ok(tacit_options_defaults(&tacit_consortium_section, &c, &err), &err);
    check_ok(tacit_options_defaults(&tacit_node_section, &n, &err), &err);
    c.unit = 0.125;
    c.end = TACIT_END_AGREEMENT;
    n.queue = 99;
    n.status[0] = '\0';
    const tacit_up_request request = {
        .folder = "budgets", .nodes = 2, .consortium = &c, .node = &n};
    check_ok(tacit_up_prepare(s, &request, &err), &err);
    for (uint32_t k = 0; k < 2; k++) {
        char path[60];
        tacit_peer *peer = NULL;
        snprintf(path, sizeof path, "budgets/node-%03u/node.yaml", k);
        check_ok(tacit_peer_open(&peer, path, NULL, 0, &err), &err);
        const tacit_node_plan *plan = tacit_peer_plan(peer);
        assert_true(plan->consortium->unit == 0.125);
        assert_int_equal(plan->consortium->end, TACIT_END_AGREEMENT);
        assert_int_equal(plan->options->queue, 99);
        assert_string_equal(plan->options->status, "");
        for (uint32_t i = 0; i < plan->hosted_count; i++) {
            const uint32_t agent = plan->hosted[i].agent;
            const double want = agent == 2 ? 0.25 : agent == 10 ? 0.1 : 7;
            assert_true(plan->hosted[i].epsilon == want);
        }
        tacit_peer_close(peer);
    }
    end(s, &x);
}

/* Free ports are different ones, on which somebody can listen. */
static void test_free_ports(void **state)
{
    (void)state;
    tacit_experiment x;
    tacit_error err = {0};
    tacit_roster r;
    tacit_session *s = make(&x, TASK);
    check_ok(tacit_up_prepare(s, &(tacit_up_request){.folder = "ports", .nodes = 11}, &err), &err);
    check_ok(tacit_roster_read(&r, "ports/members.csv", &err), &err); /* endpoints differ */
    assert_int_equal(r.count, 11);
    for (uint32_t k = 0; k < r.count; k++) {
        const long port = strtol(strrchr(r.members[k].endpoint, ':') + 1, NULL, 10);
        assert_in_range(port, 10000, 32767);
    }
    tacit_roster_clear(&r);
    end(s, &x);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        uint32_t nodes;
        uint16_t port;
        const char *words;
    } cases[] = {
        {"", 0, 0, "0 nodes"},
        {"", 12, 0, "12 nodes for 11 agents"},
        {"", 20000, 0, "20000 nodes"},
        {"", 5, 65533, "too many"},
        {"protocol: {name: global}\n", 2, 0, "everybody's records"},
        {"protocol: {name: one-shot, reach: all}\n", 2, 0, "protocol.reach"},
        {"privacy: {mechanism: gaussian, claimed: true, clip: 1, epsilon: 5, releases: 5}\n", 2, 0,
         "mere claim"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char yaml[600];
        tacit_experiment x;
        tacit_error err = {0};
        snprintf(yaml, sizeof yaml, TASK "%s", cases[k].yaml);
        tacit_session *s = make(&x, yaml);
        const tacit_up_request request = {
            .folder = "refused/deep", .nodes = cases[k].nodes, .port = cases[k].port};
        check_fails(tacit_up_prepare(s, &request, &err), TACIT_EINPUT, &err, cases[k].words);
        assert_int_not_equal(access("refused", F_OK), 0);
        end(s, &x);
    }
    /* What fails half-way leaves nothing: here a name too long for paths to fit. */
    tacit_experiment x;
    tacit_error err = {0};
    tacit_session *s = make(&x, TASK);
    char folder[1200] = "long";
    for (size_t len = 4; len < 1008;) {
        folder[len++] = '/';
        for (int j = 0; j < 200 && len < 1008; j++)
            folder[len++] = 'a';
    }
    check_fails(tacit_up_prepare(s, &(tacit_up_request){.folder = folder, .nodes = 2}, &err),
                TACIT_EINPUT, &err, "too long");
    assert_int_not_equal(access("long", F_OK), 0);
    end(s, &x);
}

/* Keys and settings are written, then there is no room for records: nothing is left. */
static void test_fails_half_way(void **state)
{
    (void)state;
    tacit_experiment x;
    tacit_error err = {0};
    struct rlimit before, small;
    tacit_session *s = make(&x, TASK);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000;
    mkdir("empty", 0700);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const tacit_status made =
        tacit_up_prepare(s, &(tacit_up_request){.folder = "half/way", .nodes = 2}, &err);
    const tacit_status filled =
        tacit_up_prepare(s, &(tacit_up_request){.folder = "empty", .nodes = 2}, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(made, TACIT_EINPUT);
    check_fails(filled, TACIT_EINPUT, &err, "empty/node-000/data");
    assert_int_not_equal(access("half", F_OK), 0);
    assert_int_equal(rmdir("empty"), 0); /* it was there before, and is empty */
    end(s, &x);
}

/* ---- what they learned ---- */

/* As nodes would: each writes the models of its agents. */
static void save_models(const tacit_session *s, const tacit_secret *const model[11],
                        const char *folder, uint32_t nodes)
{
    tacit_error err = {0};
    for (uint32_t k = 0; k < nodes; k++) {
        char path[80];
        const uint32_t first = k * 11 / nodes, last = (k + 1) * 11 / nodes;
        snprintf(path, sizeof path, "%s/node-%03u/state", folder, k);
        mkdir(path, 0700);
        check_ok(tacit_models_save(path, tacit_session_model(s), model + first, last - first, &err),
                 &err);
    }
}

static void test_measured_like_a_simulation(void **state)
{
    (void)state;
    tacit_experiment x;
    tacit_error err = {0};
    tacit_session *s = make(&x, TASK "graph: {gamma: 1}\nmodel: {scalar: f32}\n");
    const tacit_up_request request = {.folder = "look", .nodes = 3};
    check_ok(tacit_up_prepare(s, &request, &err), &err);
    check_ok(tacit_session_run(s, &(tacit_run_request){0}, &err), &err);
    tacit_snapshot want, again;
    tacit_up_result got;
    check_ok(tacit_session_measure(s, &want, &err), &err);
    const tacit_secret *model[11];
    tacit_runtime *rt = tacit_session_runtime(s);
    for (uint32_t i = 0; i < 11; i++)
        model[i] = rt->ops->agent_model(rt, i);
    save_models(s, model, "look", 3);
    check_ok(tacit_up_measure(s, "look", &got, &err), &err);
    assert_int_equal(got.missing, 0);
    assert_true(got.now.objective == want.objective);
    assert_true(got.now.test == want.test && got.now.train_loss == want.train_loss);
    double least;
    check_ok(tacit_session_optimum(s, &least, &err), &err);
    assert_true(got.optimum == least);
    assert_true(least < got.now.objective);
    assert_true(got.distance > 1e-9 && got.distance < 0.5);

    /* Nobody's models count as zero. */
    assert_int_equal(unlink("look/node-001/state/models.npy"), 0);
    check_ok(tacit_up_measure(s, "look", &got, &err), &err);
    assert_int_equal(got.missing, 4);
    assert_true(got.distance >= 1); /* zero is as far from theta* as it is long */

    /* The session's own models are looked at again afterwards. */
    check_ok(tacit_session_measure(s, &again, &err), &err);
    assert_memory_equal(&again, &want, sizeof want);

    /* Models of others are refused. */
    check_ok(tacit_models_save("look/node-001/state", tacit_session_model(s), model, 3, &err),
             &err);
    check_fails(tacit_up_measure(s, "look", &got, &err), TACIT_EINPUT, &err, "expected 4 of 4");
    end(s, &x);
}

/* At the optimum the distance is nothing; a known step away it is that step. */
static void test_distance_to_the_optimum(void **state)
{
    (void)state;
    tacit_experiment x;
    tacit_error err = {0};
    tacit_session *s = make(&x, TASK "graph: {gamma: 1}\nmodel: {scalar: f64}\n");
    check_ok(tacit_up_prepare(s, &(tacit_up_request){.folder = "near", .nodes = 1}, &err), &err);
    double best[11][4], least;
    check_ok(tacit_session_optimum_models(s, &least, best[0], &err), &err);
    mkdir("near/node-000/state", 0700);
    for (int step = 0; step < 2; step++) {
        tacit_up_result got;
        if (step) { /* agent 5: 1 + 1e-3 times what it should be */
            for (int k = 0; k < 4; k++)
                best[5][k] *= 1.001;
        }
        FILE *file = fopen("near/node-000/state/models.npy", "wb");
        tacit_writer out = {0};
        assert_non_null(file);
        tacit_npy_header(&out, TACIT_F64, 11, 4);
        tacit_write_bytes(&out, best, sizeof best);
        assert_int_equal(fwrite(out.text, 1, out.len, file), out.len);
        fclose(file);
        tacit_writer_clear(&out);
        check_ok(tacit_up_measure(s, "near", &got, &err), &err);
        assert_true(fabs(got.distance - (step ? 1e-3 : 0)) < 1e-12);
        assert_true(step ? got.now.objective > least
                         : fabs(got.now.objective - least) < 1e-12 * least);
    }
    end(s, &x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_get_what_agents_have),
        cmocka_unit_test(test_explicit_options),
        cmocka_unit_test(test_budgets_and_settings),
        cmocka_unit_test(test_free_ports),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_fails_half_way),
        cmocka_unit_test(test_measured_like_a_simulation),
        cmocka_unit_test(test_distance_to_the_optimum),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
