/* SPDX-License-Identifier: Apache-2.0 */
/* Chorus with files beside it: a kernel over agents that is given, who leaves when, and files that
 * are refused. */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problem.h"
#include "protocol/chorus.h"

enum { P = PROBLEM_FEATURES, N = PROBLEM_AGENTS };

/* A run of chorus on a problem, as far as tests want to change it. */
typedef struct stage {
    problem q;
    unsigned char options[8192];
    tacit_world world;
    tacit_runtime *rt;
} stage;

static void stage_init(stage *s, uint64_t seed, int loss)
{
    tacit_error err = {0};
    memset(s, 0, sizeof *s);
    problem_init(&s->q, seed, loss, TACIT_F64);
    const tacit_protocol *p = tacit_protocol_find("chorus");
    assert_non_null(p);
    assert_true(p->options.size <= sizeof s->options);
    check_ok(tacit_options_defaults(&p->options, s->options, &err), &err);
    s->world = world_defaults(&s->q.graph, p);
    s->world.data = s->q.data;
    s->world.model = s->q.model;
    s->world.protocol_options = s->options;
}

static void stage_set(stage *s, const char *key, const char *value)
{
    tacit_error err = {0};
    const tacit_option *option = tacit_section_find(&s->world.protocol->options, key, strlen(key));
    assert_non_null(option);
    check_ok(tacit_option_set(option, s->options, value, &err), &err);
}

static void stage_noise(stage *s, double epsilon)
{
    s->world.privacy.mechanism = TACIT_MECHANISM_GAUSSIAN;
    s->world.privacy.epsilon = epsilon;
    s->world.privacy.delta = 1e-3;
    s->world.privacy.clip = 0.5;
}

static void stage_run(stage *s, double time)
{
    if (!s->rt)
        s->rt = world_create(&tacit_simulator, &s->world);
    world_run(s->rt, time);
}

static void stage_finish(stage *s)
{
    tacit_error err = {0};
    check_ok(s->rt->ops->finish(s->rt, &err), &err);
}

static void stage_clear(stage *s)
{
    if (s->rt)
        s->rt->ops->destroy(s->rt);
    problem_clear(&s->q);
}

static double apart(const problem *q, models a, models b)
{
    double most = 0, size = 0;
    for (uint32_t i = 0; i < q->n; i++)
        for (int k = 0; k < P; k++) {
            most = fmax(most, fabs(a[i][k] - b[i][k]));
            size = fmax(size, fabs(b[i][k]));
        }
    return most / size;
}

typedef struct paper {
    char path[64];
} paper;

static paper write_paper(const char *text)
{
    paper p = {"/tmp/tacit_chorus_XXXXXX"};
    int fd = mkstemp(p.path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    return p;
}

/* Who leaves before round k has paid for k - 1 rounds, everybody else for all of them; all go on
 * listening. */
static void test_leaving(void **state)
{
    (void)state;
    stage s;
    stage_init(&s, 3, 0);
    stage_noise(&s, 0.8);
    stage_set(&s, "rounds", "3");
    const paper p = write_paper("agent,round\n2,2\n5,1\n7,3\n8,9\n");
    stage_set(&s, "opt-out", p.path);
    stage_run(&s, 5);
    const tacit_budget budget = {0.8, 1e-3, TACIT_TRUST_SECURE,
                                 (tacit_accountant)s.world.privacy.accountant};
    double spent[N];
    for (uint32_t i = 0; i < N; i++) {
        const tacit_ledger *ledger = s.rt->ops->agent_ledger(s.rt, i);
        const chorus_agent *agent = s.rt->ops->agent_state(s.rt, i);
        const unsigned want = i == 2 ? 1 : i == 5 ? 0 : i == 7 ? 2 : 3;
        assert_int_equal(tacit_ledger_releases(ledger), want);
        assert_int_equal(agent->heard, 3);
        spent[i] = tacit_ledger_epsilon(ledger, &budget);
    }
    assert_true(spent[5] == 0 && spent[2] > 0 && spent[2] < spent[7] && spent[7] < spent[0]);
    assert_true(spent[0] <= 0.8 && spent[8] == spent[0]);
    assert_int_equal(s.rt->ops->traffic(s.rt).releases, 3 * N - 2 - 3 - 1);
    stage_finish(&s);
    unlink(p.path);
    stage_clear(&s);
}

static void refused_paper(const char *key, const char *text, const char *word)
{
    stage s;
    tacit_error err = {0};
    stage_init(&s, 3, 0);
    stage_noise(&s, 1);
    const paper p = write_paper(text);
    stage_set(&s, key, p.path);
    if (!strcmp(key, "kernel-file"))
        stage_set(&s, "kernel", "given");
    check_fails(tacit_simulator.create(&s.rt, &s.world, &err), TACIT_EINPUT, &err, word);
    assert_non_null(strstr(err.text, p.path)); /* the file is named */
    s.rt = NULL;
    unlink(p.path);
    stage_clear(&s);
}

static void test_papers_that_are_refused(void **state)
{
    (void)state;
    refused_paper("opt-out", "12,1\n", "agent 12 does not exist");
    refused_paper("opt-out", "-1,1\n", "agent -1 does not exist");
    refused_paper("opt-out", "1.5,1\n", "agent 1.5 does not exist");
    refused_paper("opt-out", "1,0\n", "rounds are counted from 1");
    refused_paper("opt-out", "1,1e99\n", "rounds are counted from 1");
    refused_paper("opt-out", "1,1\n1,2\n", "agent 1 is listed twice");
    refused_paper("opt-out", "1\n", "expected \"agent,round\"");
    refused_paper("opt-out", "", "no numbers");
    refused_paper("kernel-file", "1,0.5\n0.5,1\n", "the 12 agents");
    refused_paper("kernel-file", "1,x\n", "\"x\"");
}

/* The text of a kernel: a number on the diagonal, the graph's weights beside it; `at` is changed.
 */
static void kernel_text(const problem *q, double own, char *text, size_t size, size_t at,
                        double value)
{
    size_t used = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            used += (size_t)snprintf(text + used, size - used, "%.17g%c",
                                     i * N + j == at ? value
                                     : i == j        ? own
                                                     : q->w[i][j],
                                     j + 1 == N ? '\n' : ',');
    assert_true(used < size);
}

/* The kernel W + I from a file is the kernel "power" with kappa 1: the same models. */
static void test_given_kernel(void **state)
{
    (void)state;
    static char text[N * N * 32];
    stage s;
    models power, given;
    stage_init(&s, 3, 0);
    stage_set(&s, "finish", "none");
    stage_set(&s, "kernel", "power");
    stage_run(&s, 2);
    problem_models(&s.q, s.rt, power);
    s.rt->ops->destroy(s.rt);
    s.rt = NULL;
    kernel_text(&s.q, 1, text, sizeof text, SIZE_MAX, 0);
    const paper p = write_paper(text);
    stage_set(&s, "kernel", "given");
    stage_set(&s, "kernel-file", p.path);
    stage_run(&s, 2);
    problem_models(&s.q, s.rt, given);
    assert_true(apart(&s.q, given, power) < 1e-9);
    unlink(p.path);
    stage_clear(&s);
}

/* How far apart models by the two factorisations are. */
static double between_factors(stage *s)
{
    models all[2];
    for (int k = 0; k < 2; k++) {
        stage_set(s, "factor", k ? "optimal" : "svd");
        stage_run(s, 2);
        problem_models(&s->q, s->rt, all[k]);
        s->rt->ops->destroy(s->rt);
        s->rt = NULL;
    }
    return apart(&s->q, all[1], all[0]);
}

/* Mixing voices does not change what they can say: with as many as agents, of a kernel without
 * zeros in its spectrum, each agent hears itself by either factorisation. With fewer, columns are
 * others. */
static void test_factors(void **state)
{
    (void)state;
    static char text[N * N * 32];
    stage s;
    stage_init(&s, 3, 0);
    kernel_text(&s.q, 20, text, sizeof text, SIZE_MAX, 0);
    const paper p = write_paper(text);
    stage_set(&s, "finish", "none");
    stage_set(&s, "kernel", "given");
    stage_set(&s, "kernel-file", p.path);
    stage_set(&s, "variance", "1e-10");
    stage_set(&s, "rank", "12");
    assert_true(between_factors(&s) < 1e-3);
    stage_set(&s, "rank", "3");
    assert_true(between_factors(&s) > 1e-2);
    stage_set(&s, "kernel", "spectral");
    stage_set(&s, "kernel-file", "");
    assert_true(between_factors(&s) > 1e-2);
    unlink(p.path);
    stage_clear(&s);
}

static void test_bad_kernels(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        double value;
        const char *word;
    } bad[] = {{3, -1, "row 0, column 3"}, {3, 77, "not symmetric"}, {13, -0.5, "at least 0"}};
    static char text[N * N * 32];
    stage s;
    stage_init(&s, 3, 0);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        kernel_text(&s.q, 1, text, sizeof text, bad[k].at, bad[k].value);
        refused_paper("kernel-file", text, bad[k].word);
    }
    for (size_t i = 0; i < N; i++)
        s.q.w[4][i] = s.q.w[i][4] = 0;
    kernel_text(&s.q, 1, text, sizeof text, 4 * N + 4, 0);
    refused_paper("kernel-file", text, "row 4 of the kernel is nothing but zeros");
    tacit_error err = {0};
    stage_set(&s, "kernel", "given");
    check_fails(tacit_simulator.create(&s.rt, &s.world, &err), TACIT_EINPUT, &err,
                "needs \"protocol.kernel-file\"");
    stage_set(&s, "kernel", "heat");
    stage_set(&s, "kernel-file", "some.npy");
    check_fails(tacit_simulator.create(&s.rt, &s.world, &err), TACIT_EINPUT, &err,
                "is for \"protocol.kernel: given\"");
    stage_set(&s, "kernel", "given");
    assert_int_not_equal(tacit_simulator.create(&s.rt, &s.world, &err), TACIT_OK);
    assert_non_null(strstr(err.text, "some.npy"));
    s.rt = NULL;
    stage_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaving),      cmocka_unit_test(test_papers_that_are_refused),
        cmocka_unit_test(test_given_kernel), cmocka_unit_test(test_factors),
        cmocka_unit_test(test_bad_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
