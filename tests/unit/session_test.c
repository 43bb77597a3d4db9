/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session makes of an experiment beside running it: graphs of models and of mean records,
 * what leaks, and a ledger file that does not grow with the agents.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

static tacit_status try_to_make(tacit_session **out, tacit_experiment *x, const char *yaml,
                                uint32_t threads, tacit_error *err)
{
    tacit_config config;
    tacit_config_init(&config);
    check_ok(tacit_config_parse(&config, "test", yaml, strlen(yaml), err), err);
    check_ok(tacit_experiment_init(x, &config, err), err);
    tacit_config_clear(&config);
    return tacit_session_create(out, x, threads, err);
}

static tacit_session *make(tacit_experiment *x, const char *yaml, uint32_t threads)
{
    tacit_error err = {0};
    tacit_session *session = NULL;
    check_ok(try_to_make(&session, x, yaml, threads, &err), &err);
    return session;
}

static void end(tacit_session *session, tacit_experiment *x)
{
    tacit_session_free(session);
    tacit_experiment_clear(x);
}

#define TASK \
    "data: {agents: 40, dimension: 2, min-records: 1000, max-records: 1000, label-noise: 0}\n"

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* With many records in two dimensions a model learned alone points where the target points, so
 * the graph of the models has nearly the weights of the graph of the targets. */
static void test_models_tell_nearly_what_targets_tell(void **state)
{
    (void)state;
    tacit_experiment a, b;
    tacit_session *targets = make(&a, TASK "graph: {kind: similarity, cutoff: 0, gamma: 1}\n", 1);
    tacit_session *models =
        make(&b, TASK "graph: {kind: similarity, cutoff: 0, gamma: 1, compare: models}\n", 2);
    const tacit_graph *g = tacit_session_graph(targets), *h = tacit_session_graph(models);
    assert_int_equal(g->entries, 40 * 39);
    assert_int_equal(h->entries, 40 * 39);
    double worst = 0;
    for (size_t e = 0; e < g->entries; e++) {
        assert_int_equal(g->neighbour[e], h->neighbour[e]);
        worst = fmax(worst, fabs(g->weight[e] - h->weight[e]));
    }
    assert_true(worst > 1e-6); /* it is not the graph of the targets */
    assert_true(worst < 0.1);
    end(targets, &a);
    end(models, &b);
}

/* Labels do not show in mean records, which are noise here: no likeness to the targets is left. */
static void test_means_know_nothing_of_labels(void **state)
{
    (void)state;
    tacit_experiment a, b;
    tacit_session *one =
        make(&a, TASK "graph: {kind: nearest, k: 3, compare: means}\nrun: {seed: 4}\n", 1);
    tacit_session *two = make(
        &b,
        TASK "graph: {kind: nearest, k: 3, compare: means}\nrun: {seed: 4}\nmodel: {lambda: 9}\n",
        2);
    const tacit_graph *g = tacit_session_graph(one), *h = tacit_session_graph(two);
    assert_int_equal(g->entries, h->entries);
    assert_memory_equal(g->neighbour, h->neighbour, g->entries * sizeof *g->neighbour);
    for (uint32_t i = 0; i < g->agents; i++)
        assert_true(g->row[i + 1] - g->row[i] >= 3);
    end(one, &a);
    end(two, &b);
}

static size_t leaks_of(const char *yaml)
{
    tacit_experiment x;
    const char *words[TACIT_LEAKS];
    tacit_session *session = make(&x, yaml, 1);
    size_t count = tacit_session_leaks(session, words);
    char *summary = tacit_session_summary(session, false);
    assert_non_null(summary);
    for (size_t i = 0; i < count; i++)
        assert_non_null(strstr(summary, words[i]));
    assert_true(count > 0 || strstr(summary, "\"leaks\": []"));
    free(summary);
    end(session, &x);
    return count;
}

static void test_leaks_are_named(void **state)
{
    (void)state;
    assert_int_equal(leaks_of(TASK), 0);
    assert_int_equal(leaks_of(TASK "graph: {compare: models}\n"), 1);
    assert_int_equal(leaks_of(TASK "graph: {kind: nearest, compare: means}\n"), 1);
    /* What is not compared does not leak. */
    assert_int_equal(leaks_of(TASK "graph: {kind: k-out, compare: models}\n"), 0);
}

/* ---- ledger.jsonl ---- */

typedef struct totals {
    uint64_t lines, entries, releases;
} totals;

static uint64_t number_after(const char *line, const char *key, uint64_t otherwise)
{
    const char *at = strstr(line, key);
    return at ? strtoull(at + strlen(key), NULL, 10) : otherwise;
}

static totals read_ledger(const char *folder)
{
    char path[300], line[2000];
    totals t = {0};
    snprintf(path, sizeof path, "%s/ledger.jsonl", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "{\"agent\":", 9) != 0) /* the first line and the seal */
            continue;
        uint64_t agents = number_after(line, "\"agents\":", 1);
        t.lines++;
        t.entries += agents;
        t.releases += agents * number_after(line, "\"releases\":", 0);
    }
    fclose(file);
    return t;
}

static totals ledger_of(uint32_t agents, uint64_t *releases)
{
    char folder[] = "ledger-XXXXXX", yaml[400]; /* the scratch folder goes with the test */
    tacit_error err = {0};
    tacit_experiment x;
    assert_non_null(mkdtemp(folder));
    snprintf(yaml, sizeof yaml,
             "run: {time: 2, every: 0}\n"
             "data: {agents: %u, dimension: 2, min-records: 1, max-records: 1, test-records: 0, "
             "validation-records: 0}\n"
             "graph: {kind: ring}\n",
             agents);
    tacit_session *session = make(&x, yaml, 2);
    check_ok(tacit_session_run(session, &(tacit_run_request){.folder = folder}, &err), &err);
    tacit_runtime *rt = tacit_session_runtime(session);
    *releases = rt->ops->traffic(rt).releases;
    totals t = read_ledger(folder);
    end(session, &x);
    return t;
}

/* A line an entry up to 10,000 agents; above, few lines that still add up to every release. */
static void test_ledgers_of_many_agents_share_lines(void **state)
{
    (void)state;
    uint64_t releases;
    totals each = ledger_of(300, &releases);
    assert_int_equal(each.lines, each.entries);
    assert_int_equal(each.releases, releases);
    totals shared = ledger_of(10001, &releases);
    assert_true(shared.lines < 40);
    assert_int_equal(shared.releases, releases);
    assert_in_range(shared.entries, 10001, 2 * 10001);
}

/* Counts, widths and lists that one record can change are named with every run, unless they were
 * declared. */
static void test_numbers_made_of_records_are_named(void **state)
{
    (void)state;
#define CSV "data: {source: csv, path: leak.csv, agent-column: a, label-column: y, test-fraction: "
#define SVM "data: {source: libsvm, path: leak.svm, partition: iid, agents: 2, test-fraction: 0.3"
#define FEW \
    "graph: {kind: complete}\nprivacy: {mechanism: gaussian, clip: 1, epsilon: 9, releases: 1"
#define REPLACE "}\n" FEW "}\n"
#define REMOVE "}\n" FEW ", adjacency: add-remove}\nprotocol: {name: alone}\n"
    static const struct {
        const char *yaml, *words[3];
    } cases[] = {
        {CSV "0.3" REPLACE, {NULL}},
        {CSV "0.3, missing-rule: drop" REPLACE, {"numbers of records"}},
        {CSV "0.3, missing-rule: zero" REPLACE, {"numbers of records"}}, /* without a label */
        {CSV "0.3, missing-rule: drop, keep-count: true" REPLACE, {NULL}},
        {CSV "0.3, missing-rule: drop" REMOVE, {"which agents", "which records are for training"}},
        {CSV "0" REMOVE, {"which agents"}},
        {SVM REPLACE, {"the number of features"}},
        {SVM ", width: 9" REPLACE, {NULL}},
        {SVM ", width: 9" REMOVE, {NULL}},
        {SVM ", width: 9}\nmodel: {loss: softmax" REPLACE, {"the number of classes"}},
        {SVM ", width: 9}\nmodel: {loss: softmax, classes: 2" REPLACE, {NULL}},
    };
    write_file("leak.csv", "a,x,y\n1,1,1\n1,2,-1\n1,3,1\n2,1,1\n2,2,-1\n2,4,1\n");
    write_file("leak.svm", "1 1:1\n1 2:1\n1 1:1 2:1\n1 1:1\n1 2:1\n1 1:1\n");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *words[TACIT_LEAKS];
        tacit_experiment x;
        tacit_session *session = make(&x, cases[k].yaml, 1);
        const size_t count = tacit_session_leaks(session, words);
        size_t expected = 0;
        while (expected < 3 && cases[k].words[expected])
            expected++;
        if (count != expected)
            fail_msg("case %zu: %zu leaks named, not %zu: %s", k, count, expected,
                     count ? words[0] : "");
        for (size_t i = 0; i < count; i++)
            assert_int_equal(strncmp(words[i], cases[k].words[i], strlen(cases[k].words[i])), 0);
        end(session, &x);
    }
    unlink("leak.csv");
    unlink("leak.svm");
}

/* The delta beside an epsilon is that of the noise and the chance that partners were drawn badly:
 * over masks, unless all share masks with all; not over an ideal sum. */
static void test_delta_has_all_chances(void **state)
{
    (void)state;
#define SUM(agents, name)                                                                        \
    "data: {agents: " agents ", dimension: 2, min-records: 5, max-records: 5, test-records: 0, " \
    "validation-records: 0}\ngraph: {kind: k-out, k: 3}\n"                                       \
    "privacy: {mechanism: gaussian, clip: 1, epsilon: 1, delta: 1e-6, releases: 5}\n"            \
    "protocol: {name: " name "}\n"
    static const struct {
        const char *yaml;
        bool chance;
    } cases[] = {{SUM("100", "gopa"), true},
                 {SUM("30", "gopa"), false},
                 {SUM("100", "gopa, adders: curious, partners: 3"), true},
                 {SUM("100", "gopa, masks: gaussian, adders: curious, absent: 0"), true},
                 {SUM("30", "gopa, masks: gaussian, adders: curious, absent: 0"), false},
                 {SUM("100", "chorus, sum: masks, rounds: 2"), true},
                 {SUM("100", "chorus, rounds: 2"), false},
                 {SUM("100", "cd"), false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tacit_experiment x;
        tacit_session *session = make(&x, cases[k].yaml, 1);
        const double delta = tacit_session_delta(session);
        char *summary = tacit_session_summary(session, false);
        if (cases[k].chance) {
            assert_true(delta > 1e-6 && delta <= 1e-6 * (1 + 1.0 / 200) + 1e-20);
            assert_non_null(strstr(summary, "\"delta\": 1.000000"));
            assert_non_null(strstr(summary, "\"delta_of_noise\": 1e-06"));
        } else {
            assert_true(delta == 1e-6);
            assert_non_null(strstr(summary, "\"delta\": 1e-06"));
        }
        free(summary);
        end(session, &x);
    }
    static const char *const refused[][2] = {
        {SUM("300", "gopa, adders: curious, partners: 6, quorum: 0.6, colluders: 60"),
         "\"privacy.delta\""},
        {SUM("100", "gopa, masks: gaussian, adders: curious, partners: 24, absent: 0.3, quorum: "
                    "0.7"),
         "nothing proves that pair noise"},
    };
    for (size_t k = 0; k < 2; k++) {
        tacit_experiment x;
        tacit_session *session;
        tacit_error err = {0};
        check_fails(try_to_make(&session, &x, refused[k][0], 1, &err), TACIT_EINPUT, &err,
                    refused[k][1]);
        tacit_experiment_clear(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_tell_nearly_what_targets_tell),
        cmocka_unit_test(test_means_know_nothing_of_labels),
        cmocka_unit_test(test_leaks_are_named),
        cmocka_unit_test(test_numbers_made_of_records_are_named),
        cmocka_unit_test(test_delta_has_all_chances),
        cmocka_unit_test(test_ledgers_of_many_agents_share_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
