/* SPDX-License-Identifier: Apache-2.0 */
/* The least Q of a session against the plain solver of the tests, which shares no code with it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/session.h"
#include "problem.h"
#include "testing.h"

/* A session around a problem, without data files or clocks. */
typedef struct stage {
    tacit_experiment experiment;
    tacit_session session;
    tacit_runtime *rt;
} stage;

static void stage_open(stage *s, const problem *q, const char *protocol, const char *option)
{
    memset(s, 0, sizeof *s);
    s->rt = problem_run(q, protocol, 0, 1, option, NULL);
    s->experiment.protocol = tacit_protocol_find(protocol);
    s->session = (tacit_session){.experiment = &s->experiment,
                                 .source = {.data = q->data},
                                 .graph = q->graph,
                                 .model = q->model,
                                 .runtime = s->rt};
}

static double optimum(const problem *q, const char *protocol, const char *option)
{
    stage s;
    double least = NAN;
    tacit_error err = {0};
    stage_open(&s, q, protocol, option);
    check_ok(tacit_session_optimum(&s.session, &least, &err), &err);
    s.rt->ops->destroy(s.rt);
    return least;
}

static double plain(const problem *q, double mu)
{
    models best;
    problem_solve(q, mu, best);
    return problem_objective(q, mu, best);
}

static void check_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * fabs(want)))
        fail_msg("%.17g, not %.17g", got, want);
}

static void test_agrees_with_the_plain_solver(void **state)
{
    (void)state;
    static const struct {
        double mu;
        const char *option;
    } trusts[] = {{2, "mu=2"}, {1e-3, "mu=1e-3"}, {1000, "mu=1000"}};
    for (uint64_t seed = 1; seed < 6; seed++)
        for (int loss = 0; loss < 2; loss++)
            for (int k = 0; k < 3; k++) {
                problem q;
                problem_init(&q, seed, loss, TACIT_F64);
                double want = plain(&q, trusts[k].mu);
                check_near(optimum(&q, "cd", trusts[k].option), want, 1e-10);
                check_near(optimum(&q, "admm", trusts[k].option), want, 1e-10);
                problem_clear(&q);
            }
}

static void test_single_precision_records(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 2, 0, TACIT_F32);
    for (uint32_t i = 0; i < q.n; i++) /* what the records are after rounding */
        for (uint32_t r = 0; r < q.m[i]; r++)
            for (int k = 0; k < PROBLEM_FEATURES; k++)
                q.x[i][r][k] = (float)q.x[i][r][k];
    check_near(optimum(&q, "cd", "mu=2"), plain(&q, 2), 1e-10);
    problem_clear(&q);
}

/* Agents without records, and one without neighbours, who has no part in Q. */
static void test_empty_and_lonely_agents(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 8, 0, TACIT_F64);
    q.m[3] = q.m[4] = 0;
    problem_build(&q, TACIT_F64);
    check_near(optimum(&q, "cd", "mu=2"), plain(&q, 2), 1e-10);
    double with = plain(&q, 2);
    for (uint32_t j = 0; j < q.n; j++)
        q.w[2][j] = q.w[j][2] = 0;
    problem_build(&q, TACIT_F64);
    double least = optimum(&q, "cd", "mu=2");
    assert_true(least < with);
    /* The plain solver cannot divide by a degree of zero: cd can be run to the end instead. */
    tacit_runtime *rt = problem_run(&q, "cd", 5000, 1, "mu=2", NULL);
    models found;
    problem_models(&q, rt, found);
    check_near(problem_objective(&q, 2, found), least, 1e-8);
    rt->ops->destroy(rt);
    problem_clear(&q);
}

static void test_refusals(void **state)
{
    (void)state;
    problem q;
    stage s;
    double least = NAN;
    tacit_error err = {0};
    problem_init(&q, 1, 0, TACIT_F64);
    stage_open(&s, &q, "alone", NULL);
    check_fails(tacit_session_optimum(&s.session, &least, &err), TACIT_EINPUT, &err, "\"alone\"");
    s.rt->ops->destroy(s.rt);
    stage_open(&s, &q, "cd", NULL);
    s.session.graph.agents = UINT32_MAX; /* never looked at: it is too many before that */
    check_fails(tacit_session_optimum(&s.session, &least, &err), TACIT_EINPUT, &err, "too many");
    s.rt->ops->destroy(s.rt);
    problem_clear(&q);
}

/* Through the front door, on the task of the demo made small. */
static void test_session_of_a_configuration(void **state)
{
    (void)state;
    static const char yaml[] = "run: {time: 200}\n"
                               "data: {agents: 20, dimension: 5, bound: l2}\n"
                               "protocol: {name: cd}\n";
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_session *session = NULL;
    tacit_error err = {0};
    double least = NAN, again = NAN;
    tacit_snapshot end;
    tacit_config_init(&config);
    check_ok(tacit_config_parse(&config, "t", yaml, sizeof yaml - 1, &err), &err);
    check_ok(tacit_experiment_init(&experiment, &config, &err), &err);
    check_ok(tacit_session_create(&session, &experiment, 1, &err), &err);
    check_ok(tacit_session_optimum(session, &least, &err), &err);
    check_ok(tacit_session_run(session, &(tacit_run_request){0}, &err), &err);
    check_ok(tacit_session_measure(session, &end, &err), &err);
    check_ok(tacit_session_optimum(session, &again, &err), &err);
    assert_true(least == again); /* a run changes nothing */
    check_near(end.objective, least, 1e-9);
    assert_true(end.objective > least * (1 - 1e-12));
    tacit_session_free(session);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees_with_the_plain_solver),
        cmocka_unit_test(test_single_precision_records),
        cmocka_unit_test(test_empty_and_lonely_agents),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_session_of_a_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
