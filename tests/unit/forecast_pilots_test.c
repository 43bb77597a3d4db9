/* SPDX-License-Identifier: Apache-2.0 */
/* Pilots: laws from small runs hold for larger ones, whatever the number of threads; experiments
 * that cannot be piloted are refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/fitness.h"
#include "experiment/forecast_pilots.h"
#include "testing.h"

static const char task[] =
    "run: {name: pilots}\n"
    "data: {source: regression, agents: 4, without: 1, dimension: 8, min-records: 400, "
    "max-records: 400, variance: 0.3, bound: l2}\n"
    "graph: {kind: star}\n"
    "model: {loss: squared, lambda: 0.02}\n"
    "protocol: {name: learner, iterations: 150, inertia: none, step: 0.01, range: 3}\n"
    "privacy: {mechanism: laplace, clip: 3, epsilon: 1, accountant: sum}\n";

static void configure(tacit_config *config, const char *more)
{
    tacit_error err = {0};
    tacit_config_init(config);
    check_ok(tacit_config_parse(config, "pilots", task, strlen(task), &err), &err);
    if (more)
        check_ok(tacit_config_set(config, more, &err), &err);
}

static tacit_status pilots_with(tacit_pilots *out, const char *more, uint32_t threads,
                                uint32_t repeats, const tacit_stop *stop, tacit_error *err)
{
    tacit_config config;
    configure(&config, more);
    const tacit_pilots_request request = {.experiment = &config,
                                          .owners = 3,
                                          .records = 9600,
                                          .epsilon = 100,
                                          .repeats = repeats,
                                          .threads = threads,
                                          .stop = stop};
    tacit_status status = tacit_pilots_run(out, &request, err);
    tacit_config_clear(&config);
    return status;
}

/* Fitted on at most 400 records an owner, asked about 3200. The interval of 99 % of the law holds
 * all of six runs with probability 0.94 or so; two outside would be an accident of probability
 * 0.0015. Seeds are fixed. */
static void test_predicts_larger_runs(void **state)
{
    (void)state;
    enum { RUNS = 6 };
    tacit_pilots pilots;
    tacit_fitness_law together, alone;
    tacit_error err = {0};
    check_ok(pilots_with(&pilots, NULL, 2, 3, NULL, &err), &err);
    check_ok(tacit_pilots_fit(&pilots, &together, &alone, &err), &err);
    assert_false(tacit_fitness_law_is_bad(&together));
    assert_false(tacit_fitness_law_is_bad(&alone));
    assert_true(together.c[2] > 0);
    /* A step is N times as long and its noise T_i times: N T_i grows like N^0.2 here, psi like
     * N^0.4, s^2 like N: an exponent of -0.3, to what ninety runs can tell. */
    assert_true(together.crowd_fitted && together.crowd > -0.7 && together.crowd < 0.1);
    tacit_config config;
    configure(&config, NULL);
    const tacit_pilot_base base = {.config = &config, .iterations = 150, .drawn = true};
    const double epsilons[] = {20, 100};
    for (int e = 0; e < 2; e++) {
        const tacit_pilot place = {
            .owners = 3,
            .records = 9600,
            .noise = 3 * tacit_epsilon_rate_noise(&together.exchange, epsilons[e])};
        const tacit_outlook out = tacit_fitness_law_at(&together, &place, 0.99);
        const tacit_outlook home = tacit_fitness_law_alone_at(&alone, 3200, 9600, 0.99);
        int outside = 0, lone_outside = 0;
        for (int k = 0; k < RUNS; k++) {
            tacit_one_pilot one = {.owners = 3,
                                   .records = 9600,
                                   .epsilon = epsilons[e],
                                   .seed = 1000 + k,
                                   .lone = true};
            check_ok(tacit_pilot_do(&one, &base, NULL, &err), &err);
            assert_int_equal(one.pooled, 9600);
            assert_int_equal(one.lone_count, 3);
            outside += !(one.psi >= out.low && one.psi <= out.high);
            lone_outside += !(one.alone[0].psi >= home.low && one.alone[0].psi <= home.high);
        }
        assert_true(outside <= 1);
        assert_true(lone_outside <= 1);
        assert_true(out.high / out.low < 100); /* it says something */
    }
    tacit_config_clear(&config);
    tacit_pilots_clear(&pilots);
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    tacit_pilots a, b;
    tacit_error err = {0};
    check_ok(pilots_with(&a, "protocol.iterations=40", 1, 1, NULL, &err), &err);
    check_ok(pilots_with(&b, "protocol.iterations=40", 2, 1, NULL, &err), &err);
    assert_int_equal(a.count, b.count);
    assert_int_equal(a.lone_count, b.lone_count);
    assert_memory_equal(a.run, b.run, a.count * sizeof *a.run);
    assert_memory_equal(a.lone, b.lone, a.lone_count * sizeof *a.lone);
    tacit_pilots_clear(&a);
    tacit_pilots_clear(&b);
}

/* What pilots are: as many settings as shapes and levels; n and N vary. */
static void test_what_is_run(void **state)
{
    (void)state;
    tacit_pilots pilots;
    tacit_error err = {0};
    check_ok(pilots_with(&pilots, NULL, 2, 1, NULL, &err), &err);
    assert_int_equal(pilots.count + pilots.hopeless, 30);
    double least = INFINITY, most = 0, fewest = INFINITY, largest = 0, level[30];
    size_t levels = 0;
    for (size_t k = 0; k < pilots.count; k++) {
        /* Every shape at the same levels of s. */
        const double s = sqrt(pilots.run[k].noise) / pilots.run[k].records;
        size_t j = 0;
        while (j < levels && fabs(level[j] - s) > 1e-6 * s)
            j++;
        level[j] = s;
        levels += j == levels;
        least = fmin(least, pilots.run[k].records);
        most = fmax(most, pilots.run[k].records);
        fewest = fmin(fewest, pilots.run[k].owners);
        largest = fmax(largest, pilots.run[k].owners);
    }
    assert_in_range(levels, 4, 6);
    assert_true(least == 300 && most == 1200 && fewest == 2 && largest == 6);
    assert_string_equal(pilots.name, "pilots");
    /* The sum's epsilon is worth itself. */
    assert_true(fabs(tacit_epsilon_rate_noise(&pilots.exchange, 0.5) - 4) < 1e-3);
    tacit_pilots_clear(&pilots);
}

/* Asked about an epsilon that does not pay, pilots still get to the one that does. */
static void test_reaches_the_border(void **state)
{
    (void)state;
    tacit_config config;
    tacit_pilots pilots;
    tacit_fitness_law together, alone;
    tacit_error err = {0};
    configure(&config, NULL);
    const tacit_pilots_request request = {.experiment = &config,
                                          .owners = 3,
                                          .records = 9600,
                                          .epsilon = 2,
                                          .repeats = 2,
                                          .threads = 2};
    check_ok(tacit_pilots_run(&pilots, &request, &err), &err);
    check_ok(tacit_pilots_fit(&pilots, &together, &alone, &err), &err);
    const double border = tacit_forecast_border(&together, &alone, 3, 3200, 9600);
    assert_true(border > 2 * request.epsilon && isfinite(border));
    assert_false(tacit_forecast_border_outside(&together, &alone, 3, 3200, 9600));
    tacit_pilots_clear(&pilots);
    tacit_config_clear(&config);
}

static void test_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *set, *words;
    } cases[] = {
        {"protocol.name=alone", "is about protocol \"learner\""},
        {"privacy.mechanism=none", "set \"privacy.mechanism\""},
        {"privacy.noise=3", "leave \"privacy.noise\" at 0"},
        {"privacy.budgets=budgets.csv", "list owners with --join"},
        {"data.source=shards", "which \"data.source\" of ratings or shards"},
        {"data.dimension=300", "are too few for pilots"},
        {"privacy.clip=0", "privacy.clip"},
        {"protocol.step=1e-9", "worse than a model of zeros"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tacit_config config;
        tacit_pilots pilots;
        tacit_error err = {0};
        configure(&config, NULL);
        if (k == 0) /* the keys of the learner would be unknown first */
            check_ok(tacit_config_parse(&config, "x", "protocol: {name: alone}", 23, &err), &err);
        else
            check_ok(tacit_config_set(&config, cases[k].set, &err), &err);
        const tacit_pilots_request request = {.experiment = &config,
                                              .owners = 3,
                                              .records = 9600,
                                              .epsilon = 10,
                                              .repeats = 1,
                                              .threads = 1};
        check_fails(tacit_pilots_run(&pilots, &request, &err), TACIT_EINPUT, &err, cases[k].words);
        assert_null(pilots.run);
        tacit_config_clear(&config);
    }
}

static void test_stops(void **state)
{
    (void)state;
    tacit_pilots pilots;
    tacit_error err = {0};
    tacit_stop stop = 1;
    assert_int_equal(pilots_with(&pilots, NULL, 2, 1, &stop, &err), TACIT_EINTERRUPTED);
    assert_null(pilots.run);
}

/* psi: 0 for the best model of all records, what a closed form says for a model of zeros. */
static void test_fitness(void **state)
{
    (void)state;
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_session *session;
    tacit_fitness fitness;
    tacit_error err = {0};
    tacit_config_init(&config);
    static const char yaml[] =
        "data: {source: regression, agents: 3, dimension: 2, min-records: 50, max-records: 50, "
        "variance: 1}\nmodel: {loss: squared, lambda: 0.1, scalar: f64}\n"
        "graph: {kind: complete}\nprotocol: {name: global}\n";
    check_ok(tacit_config_parse(&config, "x", yaml, strlen(yaml), &err), &err);
    check_ok(tacit_experiment_init(&experiment, &config, &err), &err);
    check_ok(tacit_session_create(&session, &experiment, 1, &err), &err);
    check_ok(tacit_fitness_open(&fitness, session, &err), &err);
    assert_true(fitness.least > 0);
    /* Every agent of "global" has the best model of all records. */
    assert_true(tacit_fitness_now(&fitness, 0) < 1e-12);
    double psi = 0, sum = 0;
    for (uint32_t i = 0; i < 3; i++) {
        check_ok(tacit_fitness_alone(&fitness, i, &psi, &err), &err);
        assert_true(psi > 1e-9);
        sum += psi;
    }
    assert_true(sum < 1);
    tacit_fitness_close(&fitness);
    tacit_session_free(session);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predicts_larger_runs),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_what_is_run),
        cmocka_unit_test(test_reaches_the_border),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_fitness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
