/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that agents learn: columns are those of what was released and of nothing else, the
 * release is charged with the sums within one budget, who has other words than most learns alone,
 * and nobody waits for ever.
 */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/chorus.h"
#include "stage.h"

enum { P = PROBLEM_FEATURES, N = PROBLEM_AGENTS, R = 3 };

static void learned(stage *s, double epsilon)
{
    stage_init(s, "chorus", 3, 0);
    stage_noise(s, epsilon);
    stage_set(s, "kernel", "learned");
    stage_set(s, "kernel-neighbours", "3");
}

static const chorus_agent *agent_of(const stage *s, uint32_t i)
{
    return s->rt->ops->agent_state(s->rt, i);
}

static const chorus_learning *learning(const stage *s, uint32_t i)
{
    return chorus_learning_of(s->rt->ops->shared(s->rt), agent_of(s, i));
}

static bool sings(const stage *s, uint32_t i)
{
    return agent_of(s, i)->phase == CHORUS_SETTLED;
}

static uint64_t charged(const stage *s, uint32_t i)
{
    return tacit_ledger_releases(s->rt->ops->agent_ledger(s->rt, i));
}

/* ---- what columns are made of ---- */

typedef struct heard {
    int words, sums;
    double word[N][P];
} heard;

static void watch(void *ctx, tacit_agent agent, const tacit_cost *cost,
                  const tacit_public *released)
{
    heard *h = ctx;
    if (agent == TACIT_NOBODY) {
        assert_string_equal(cost->what, "voice");
        h->sums++;
        return;
    }
    assert_string_equal(cost->what, "likeness");
    assert_int_equal(h->sums, 0);
    h->words++;
    for (size_t k = 0; k < P; k++)
        h->word[agent][k] = tacit_public_get(released, 0, k);
}

static double cosine(const double *a, const double *b)
{
    double ab = 0, aa = 0, bb = 0;
    for (int k = 0; k < P; k++)
        ab += a[k] * b[k], aa += a[k] * a[k], bb += b[k] * b[k];
    return ab / sqrt(aa * bb);
}

/* Columns of the graph of the three nearest, the slow way. */
static void columns_of(double rows[N][P], double *column)
{
    bool near[N][N] = {0};
    tacit_edge edge[N * N];
    size_t edges = 0;
    tacit_graph graph;
    tacit_error err = {0};
    for (size_t i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) {
            size_t best = N;
            for (size_t j = 0; j < N; j++)
                if (j != i && !near[i][j] &&
                    (best == N || cosine(rows[i], rows[j]) > cosine(rows[i], rows[best])))
                    best = j;
            near[i][best] = true;
        }
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = i + 1; j < N; j++)
            if (near[i][j] || near[j][i])
                edge[edges++] = (tacit_edge){i, j, 1};
    check_ok(tacit_graph_from_edges(&graph, N, edge, edges, &err), &err);
    const tacit_kernel kernel = {TACIT_KERNEL_SPECTRAL, 1, 10, 1, 0.25, false};
    check_ok(tacit_graph_basis(&graph, &kernel, R, column, &err), &err);
    tacit_graph_clear(&graph);
}

/* Up to the signs of modes. */
static double apart(const stage *s, const double *want)
{
    double most = 0;
    for (size_t k = 0; k < R; k++) {
        double same = 0, turned = 0;
        for (uint32_t i = 0; i < N; i++) {
            const double *c = chorus_column(s->rt->ops->shared(s->rt), i);
            assert_non_null(c);
            same = fmax(same, fabs(c[k] - want[i * R + k]));
            turned = fmax(turned, fabs(c[k] + want[i * R + k]));
        }
        most = fmax(most, fmin(same, turned));
    }
    return most;
}

/* What a watcher hears is all it takes to know everybody's column. Noise is such that those of the
 * records themselves are others: it matters which of the two are taken. */
static void test_columns_are_of_what_was_released(void **state)
{
    (void)state;
    stage s;
    heard h = {0};
    double released[N * R], bare[N * R], mean[N][P] = {0};
    learned(&s, 4);
    stage_set(&s, "rounds", "2");
    tacit_trace *trace = tacit_trace_create();
    tacit_trace_watch(trace, watch, &h);
    s.rt = world_create(&tacit_simulator, &s.world);
    s.rt->trace = trace;
    stage_run(&s, 4);
    assert_int_equal(h.words, N);
    assert_int_equal(h.sums, 2);
    columns_of(h.word, released);
    assert_true(apart(&s, released) < 1e-9);
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t r = 0; r < s.q.m[i]; r++) {
            double length = 0;
            for (int k = 0; k < P; k++)
                length += s.q.x[i][r][k] * s.q.x[i][r][k] / 4;
            for (int k = 0; k < P; k++) /* clipped to 0.5 */
                mean[i][k] -= s.q.y[i][r] * s.q.x[i][r][k] / 2 * fmin(1, 0.5 / sqrt(length));
        }
    columns_of(mean, bare);
    assert_true(apart(&s, bare) > 0.1);
    s.rt->trace = NULL;
    tacit_trace_free(trace);
    stage_clear(&s);
}

/* With next to no noise the words are the clipped sums: the road does not bend them. */
static void test_words_without_much_noise(void **state)
{
    (void)state;
    stage s;
    learned(&s, 1);
    s.world.privacy.noise = 1e-5;
    s.world.privacy.epsilon = INFINITY;
    for (uint32_t i = 0; i < N; i++) /* within the clip */
        for (uint32_t r = 0; r < s.q.m[i]; r++)
            for (int k = 0; k < P; k++)
                s.q.x[i][r][k] /= 16;
    stage_rebuild(&s);
    stage_run(&s, 3);
    const double step = ldexp(1, ((const chorus_shared *)s.rt->ops->shared(s.rt))->likeness.grid);
    for (uint32_t i = 0; i < N; i++)
        for (size_t k = 0; k < P; k++) {
            double sum = 0; /* of gradients at zero: -y x / 2 */
            for (uint32_t r = 0; r < s.q.m[i]; r++)
                sum -= s.q.y[i][r] * s.q.x[i][r][k] / 2;
            const tacit_public *word = learning(&s, 0)->word[i];
            const double got = (double)tacit_public_get_int(word, 0, k) * step;
            assert_true(fabs(got - sum) < 1e-4);
        }
    stage_clear(&s);
}

/* ---- what it costs ---- */

/* What a Gaussian release tells is (sensitivity / noise)^2, which adds up. */
static double told(const tacit_cost *cost)
{
    return pow(cost->sensitivity / cost->noise, 2);
}

static void check_ledger(const stage *s, uint32_t i, double share, uint64_t rounds)
{
    const tacit_budget budget = {s->world.privacy.epsilon, s->world.privacy.delta,
                                 TACIT_TRUST_SECURE, (tacit_accountant)s->world.privacy.accountant};
    const tacit_ledger *ledger = s->rt->ops->agent_ledger(s->rt, i);
    const tacit_cost *first = ledger->entries[0].cost;
    assert_string_equal(first->what, "likeness");
    assert_int_equal(ledger->entries[0].releases, 1);
    assert_int_equal(first->coordinates, P);
    assert_true(fabs(first->sensitivity - 2 * 0.5) < 1e-6);
    double sums = 0;
    for (uint32_t k = 1; k < ledger->count; k++) {
        assert_string_equal(ledger->entries[k].cost->what, "voice");
        sums += told(ledger->entries[k].cost) * (double)ledger->entries[k].releases;
    }
    assert_true(fabs(told(first) / (told(first) + sums) - share) < 1e-3);
    const double epsilon = tacit_ledger_epsilon(ledger, &budget);
    assert_true(epsilon <= budget.epsilon && epsilon > 0.999 * budget.epsilon);
    assert_int_equal(tacit_ledger_releases(ledger), 1 + rounds);
}

/* One word and all sums together cost what the budget is, by every accountant and policy. */
static void test_charges(void **state)
{
    (void)state;
    static const double shares[] = {0.2, 0.5, 0.9};
    for (int by = TACIT_BY_ZCDP; by < TACIT_ACCOUNTANTS; by++)
        for (int policy = 0; policy < TACIT_POLICIES; policy++)
            for (int rounds = 1; rounds <= 3; rounds += 2) {
                stage s;
                const double share = shares[(by + policy + rounds) % 3];
                char text[32];
                learned(&s, 1.5);
                s.world.privacy.accountant = by;
                s.world.privacy.policy = policy;
                s.world.privacy.ratio = 0.8;
                snprintf(text, sizeof text, "%g", share);
                stage_set(&s, "kernel-share", text);
                stage_set(&s, "rounds", rounds == 1 ? "1" : "3");
                stage_run(&s, 5);
                for (uint32_t i = 0; i < N; i++)
                    check_ledger(&s, i, share, (uint64_t)rounds);
                assert_int_equal(s.rt->ops->traffic(s.rt).releases, (1 + rounds) * N);
                stage_clear(&s);
            }
}

/* Those who may not speak are charged nothing, say that they do not, and learn alone: without
 * records, without budget, gone before the first round. Others need not wait for them. */
static void test_silent_agents(void **state)
{
    (void)state;
    enum { EMPTY = 4, POOR = 7, GONE = 9 };
    stage s;
    models theta;
    double budget[N], own[P];
    char path[] = "/tmp/tacit_chorus_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, "9,1\n", 4) == 4);
    close(fd);
    learned(&s, 4);
    s.q.m[EMPTY] = 0;
    stage_rebuild(&s);
    for (uint32_t i = 0; i < N; i++)
        budget[i] = i == POOR ? 0.01 : 4;
    s.world.epsilon = budget;
    stage_set(&s, "opt-out", path);
    stage_run(&s, 0); /* no time goes by: nobody is waited for */
    for (uint32_t i = 0; i < N; i++)
        assert_true(sings(&s, i));
    stage_run(&s, 3);
    stage_finish(&s);
    problem_models(&s.q, s.rt, theta);
    for (uint32_t i = 0; i < N; i++) {
        const bool silent = i == EMPTY || i == POOR || i == GONE;
        const double *c = chorus_column(s.rt->ops->shared(s.rt), i);
        assert_int_equal(charged(&s, i), silent ? 0 : 2);
        assert_true(silent == (c[0] == 0 && c[1] == 0 && c[2] == 0));
        if (!silent || i == EMPTY)
            continue;
        problem_solve_local(&s.q, i, own);
        for (int k = 0; k < P; k++)
            assert_true(fabs(theta[i][k] - own[k]) < 1e-6);
    }
    unlink(path);
    stage_clear(&s);
}

/* ---- bad weather ---- */

/* All who sing have the same words, to the last number, and all others learn alone. */
static uint32_t check_agreement(const stage *s)
{
    uint32_t singing = 0, first = 0;
    models theta;
    problem_models(&s->q, s->rt, theta);
    for (uint32_t i = 0; i < N; i++) {
        if (!sings(s, i)) {
            double own[P];
            problem_solve_local(&s->q, i, own);
            assert_int_equal(charged(s, i), 1);
            for (int k = 0; k < P; k++)
                assert_true(fabs(theta[i][k] - own[k]) < 1e-6);
            continue;
        }
        first = singing++ == 0 ? i : first;
        const chorus_learning *one = learning(s, first), *two = learning(s, i);
        for (uint32_t j = 0; j < N; j++)
            assert_ptr_equal(one->word[j], two->word[j]); /* by reference, in a simulation */
    }
    return singing;
}

/* Words that get lost are asked for. With one message of ten lost nearly all sing, with three some
 * do, with nearly all lost nobody does; in no case two kinds of columns are sung in, and nobody
 * waits. (Seeds are fixed.) */
static void test_lost_words(void **state)
{
    (void)state;
    static const double losses[] = {0.1, 0.2, 0.3, 0.95};
    uint32_t singing[4] = {0}, some = 0;
    for (size_t k = 0; k < 4; k++)
        for (uint64_t seed = 1; seed <= 12; seed++) {
            stage s;
            learned(&s, 4);
            s.world.seed = seed;
            s.world.network.loss = losses[k];
            stage_run(&s, 3);
            stage_finish(&s);
            const uint32_t now = check_agreement(&s);
            singing[k] += now;
            some += now > 0 && now < N;
            for (uint32_t i = 0; i < N; i++)
                assert_true(agent_of(&s, i)->phase >= CHORUS_SETTLED);
            stage_clear(&s);
        }
    print_message("of %d: %u, %u, %u, %u sing; %u times some do and some do not\n", 12 * N,
                  singing[0], singing[1], singing[2], singing[3], some);
    assert_true(singing[0] > 11 * N && singing[3] == 0);
    assert_true(some >= 3);
}

/* Words that come when prints were told are too late: nobody's print is of other words than it has.
 */
static void test_late_words(void **state)
{
    (void)state;
    uint32_t singing = 0, missing = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        stage s;
        learned(&s, 4);
        s.world.seed = seed;
        s.world.network.latency = TACIT_LATENCY_EXPONENTIAL;
        s.world.network.latency_mean = 0.12;
        stage_run(&s, 3);
        stage_finish(&s);
        singing += check_agreement(&s);
        for (uint32_t i = 0; i < N; i++)
            missing += learning(&s, i)->words < N;
        stage_clear(&s);
    }
    print_message("of %d: %u sing, %u missed words\n", 12 * N, singing, missing);
    assert_true(singing > 3 * N && missing > 0);
}

/* All are gone right after they spoke: charged once, alone, and the end comes. */
static void test_all_offline(void **state)
{
    (void)state;
    stage s;
    learned(&s, 4);
    s.world.network.mean_up = 1e-6, s.world.network.mean_down = 1e9;
    s.world.network.latency = TACIT_LATENCY_CONSTANT;
    s.world.network.latency_floor = 0.01;
    stage_run(&s, 50);
    stage_finish(&s);
    assert_int_equal(check_agreement(&s), 0);
    stage_clear(&s);
}

/* ---- runtimes ---- */

static void finished(stage *s, double cut, uint32_t threads, models out)
{
    tacit_error err = {0};
    s->world.threads = threads;
    s->rt = world_create(&tacit_simulator, &s->world);
    if (cut > 0) {
        tacit_saver *saver;
        size_t len;
        world_run(s->rt, cut);
        const uint8_t *bytes = save_bytes(s->rt, &saver, &len);
        stage_again(s);
        s->rt = world_create(&tacit_simulator, &s->world);
        check_ok(load_bytes(s->rt, bytes, len, &err), &err);
        tacit_saver_free(saver);
    }
    stage_run(s, 100);
    stage_finish(s);
    problem_models(&s->q, s->rt, out);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(charged(s, i), 3);
    stage_again(s);
}

/* Cut while words are under way, while prints are, and between sums. */
static void test_cut_and_resumed(void **state)
{
    (void)state;
    static const double cuts[] = {0.05, 0.12, 0.25, 1.5, 2.5, 30};
    for (int masks = 0; masks < 2; masks++) {
        stage s;
        models one, two;
        learned(&s, 40);
        stage_set(&s, "rounds", "2");
        stage_set(&s, "finish-choice", "first");
        stage_set(&s, "sum", masks ? "masks" : "ideal");
        s.world.network.latency = TACIT_LATENCY_EXPONENTIAL;
        s.world.network.latency_floor = 0.05;
        s.world.network.latency_mean = 0.02;
        finished(&s, 0, 1, one);
        for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
            finished(&s, cuts[k], 1, two);
            assert_memory_equal(one, two, sizeof one);
        }
        finished(&s, 0, 3, two);
        assert_memory_equal(one, two, sizeof one);
        stage_clear(&s);
    }
}

/* Whoever adds up, words and columns are the same, and next to no noise makes the same priors. */
static void test_masks(void **state)
{
    (void)state;
    stage s;
    models prior[2];
    double column[2][N * R];
    for (int masks = 0; masks < 2; masks++) {
        learned(&s, INFINITY);
        s.world.privacy.noise = 1e-4;
        stage_set(&s, "finish", "none");
        stage_set(&s, "sum", masks ? "masks" : "ideal");
        stage_run(&s, 100);
        problem_models(&s.q, s.rt, prior[masks]);
        memcpy(column[masks], chorus_column(s.rt->ops->shared(s.rt), 0), sizeof *column);
        for (uint32_t i = 0; i < N; i++) {
            assert_int_equal(charged(&s, i), 2);
            assert_int_equal(agent_of(&s, i)->heard, 1);
        }
        stage_clear(&s);
    }
    assert_memory_equal(column[0], column[1], sizeof *column);
    for (uint32_t i = 0; i < N; i++)
        for (int k = 0; k < P; k++)
            assert_true(fabs(prior[0][i][k] - prior[1][i][k]) < 1e-3);
}

/* Partners of masks meet while words are said: whether that is over sooner or later, nobody waits
 * for it again (patience is 5, and twice that is what an agent waits for partners). */
static void test_partners_met_before(void **state)
{
    (void)state;
    stage s;
    learned(&s, 4);
    stage_set(&s, "sum", "masks");
    s.world.network.latency = TACIT_LATENCY_EXPONENTIAL;
    s.world.network.latency_mean = 0.02;
    stage_run(&s, 9);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(agent_of(&s, i)->heard, 1);
    stage_clear(&s);
}

/* ---- words for a reader ---- */

static void refused(const char *key, const char *value, tacit_status status, const char *word)
{
    stage s;
    tacit_error err = {0};
    learned(&s, 1);
    if (strcmp(key, "mechanism") == 0)
        s.world.privacy.mechanism = TACIT_MECHANISM_NONE;
    else if (strcmp(key, "until") == 0)
        s.world.until = 1;
    else if (strcmp(key, "tiny") == 0) { /* hardly anything, and then hardly any of that */
        s.world.privacy.epsilon = 1e-5;
        s.world.privacy.delta = 1e-14;
        stage_set(&s, "kernel-share", value);
    } else if (strcmp(key, "epsilon") == 0)
        s.world.privacy.epsilon = INFINITY;
    else
        stage_set(&s, key, value);
    check_fails(tacit_simulator.create(&s.rt, &s.world, &err), status, &err, word);
    s.rt = NULL;
    stage_clear(&s);
}

static void test_refusals(void **state)
{
    (void)state;
    refused("mechanism", "", TACIT_EINPUT, "set \"privacy.mechanism: gaussian\"");
    refused("kernel-share", "0", TACIT_EINPUT, "leaves nothing for the kernel");
    refused("kernel-share", "1", TACIT_EINPUT, "leaves nothing for the sums");
    refused("tiny", "0.9999", TACIT_EBUDGET, "after \"protocol.kernel-share: 0.9999\"");
    refused("kernel-neighbours", "12", TACIT_EINPUT, "lower it to 11 or less");
    refused("kernel-file", "some.npy", TACIT_EINPUT, "is for \"protocol.kernel: given\"");
    refused("rank", "13", TACIT_EINPUT, "\"protocol.rank: 13\"");
    refused("until", "", TACIT_EINPUT, "raise \"run.time\" to 2");
    refused("epsilon", "", TACIT_EINPUT, "\"privacy.epsilon\"");
    for (int k = 0; k < 2; k++) { /* options themselves are refused beyond 0 and 1 */
        tacit_error err = {0};
        chorus_options o;
        const tacit_section *section = &tacit_protocol_find("chorus")->options;
        const tacit_option *option = tacit_section_find(section, "kernel-share", 12);
        assert_non_null(option);
        check_fails(tacit_option_set(option, &o, k ? "1.5" : "-0.1", &err), TACIT_EINPUT, &err,
                    "kernel-share");
    }
}

/* Who reads a claim is told that words are seen, and by whom. */
static void test_what_is_seen(void **state)
{
    (void)state;
    stage s;
    learned(&s, 1);
    for (int masks = 0; masks < 2; masks++) {
        stage_set(&s, "sum", masks ? "masks" : "ideal");
        char sees[TACIT_SEES];
        tacit_protocol_sees(s.world.protocol, s.options, sees);
        assert_non_null(strstr(sees, "one vector of every agent, on every link"));
        assert_non_null(strstr(sees, "only sums over all"));
        stage_set(&s, "kernel", "spectral");
        tacit_protocol_sees(s.world.protocol, s.options, sees);
        assert_null(strstr(sees, "one vector"));
        stage_set(&s, "kernel", "learned");
    }
    stage_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_of_what_was_released),
        cmocka_unit_test(test_words_without_much_noise),
        cmocka_unit_test(test_charges),
        cmocka_unit_test(test_silent_agents),
        cmocka_unit_test(test_lost_words),
        cmocka_unit_test(test_late_words),
        cmocka_unit_test(test_all_offline),
        cmocka_unit_test(test_cut_and_resumed),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_partners_met_before),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_what_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
