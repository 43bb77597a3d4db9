/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Local models and records published once, with noise: what is spent is what was planned, what
 * comes after it costs nothing, and with hardly any noise the protocols are those without it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/vector_internal.h"
#include "charged.h"
#include "problem.h"

enum { P = PROBLEM_FEATURES, N = PROBLEM_AGENTS };

static double apart(const double *a, const double *b)
{
    double sum = 0;
    for (int k = 0; k < P; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}

static const tacit_privacy_options one_word = {
    .mechanism = TACIT_MECHANISM_GAUSSIAN, .epsilon = 2, .delta = 1e-5, .accountant = TACIT_BY_GDP};
static const tacit_privacy_options hardly_any = {.mechanism = TACIT_MECHANISM_GAUSSIAN,
                                                 .epsilon = INFINITY,
                                                 .delta = 1e-5,
                                                 .noise = 1e-4,
                                                 .clip = 100,
                                                 .accountant = TACIT_BY_GDP};

/* A runtime for `protocol` with options "key=value" apart by blanks. */
static tacit_status make(tacit_runtime **out, const problem *q, const char *protocol,
                         const tacit_privacy_options *privacy, const double *epsilon,
                         const char *settings, tacit_error *err)
{
    static double options[512];
    tacit_world world = world_defaults(&q->graph, tacit_protocol_find(protocol));
    assert_true(world.protocol->options.size <= sizeof options);
    check_ok(tacit_options_defaults(&world.protocol->options, options, err), err);
    char text[256];
    assert_true(strlen(settings) < sizeof text);
    memcpy(text, settings, strlen(settings) + 1);
    for (char *at = text, *next; *at; at = next) {
        next = at + strcspn(at, " ");
        next += *next ? (*next = 0, 1) : 0;
        const char *equals = strchr(at, '=');
        const tacit_option *option =
            tacit_section_find(&world.protocol->options, at, (size_t)(equals - at));
        assert_non_null(option);
        check_ok(tacit_option_set(option, options, equals + 1, err), err);
    }
    world.data = q->data;
    world.model = q->model;
    world.privacy = *privacy;
    world.epsilon = epsilon;
    world.protocol_options = options;
    world.seed = 3;
    return tacit_simulator.create(out, &world, err);
}

static tacit_runtime *run(const problem *q, const char *protocol,
                          const tacit_privacy_options *privacy, const double *epsilon, double time,
                          const char *settings)
{
    tacit_runtime *rt = NULL;
    tacit_error err = {0};
    check_ok(make(&rt, q, protocol, privacy, epsilon, settings, &err), &err);
    world_run(rt, time);
    return rt;
}

static double spent(const tacit_runtime *rt, uint32_t agent, double epsilon)
{
    const tacit_budget budget = {epsilon, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_GDP};
    return tacit_ledger_epsilon(rt->ops->agent_ledger(rt, agent), &budget);
}

/* ---- model-propagation ---- */

static void check_fixed_point(const char *settings, const tacit_privacy_options *privacy, double mu,
                              double tolerance)
{
    problem q;
    models found, local, want = {{0}};
    problem_init(&q, 10, 0, TACIT_F64);
    for (uint32_t i = 0; i < q.n; i++)
        problem_solve_local(&q, i, local[i]);
    for (int step = 0; step < 20000; step++)
        for (uint32_t i = 0; i < q.n; i++)
            for (int k = 0; k < P; k++) {
                double sum = 0, a = mu * problem_confidence(&q, i);
                for (uint32_t j = 0; j < q.n; j++)
                    sum += q.w[i][j] / problem_degree(&q, i) * want[j][k];
                want[i][k] = (sum + a * local[i][k]) / (1 + a);
            }
    tacit_runtime *rt = run(&q, "model-propagation", privacy, NULL, 3000, settings);
    problem_models(&q, rt, found);
    for (uint32_t i = 0; i < q.n; i++) {
        assert_true(apart(found[i], want[i]) < tolerance);
        assert_true(apart(found[i], want[i]) > 1e-9); /* there is noise */
    }
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* Radius 100 cuts nothing; a sensitivity of 100 / (m lambda) = 100 has noise 0.005 a coordinate,
 * and b as much. */
static void test_with_hardly_any_noise_it_is_the_one_without(void **state)
{
    (void)state;
    tacit_privacy_options little = hardly_any; /* with less nothing is proved of the objective */
    little.noise = 0.03;
    check_fixed_point("mu=0.7 warm-records=1 radius=100 perturbation=output", &hardly_any, 0.7,
                      0.1);
    check_fixed_point("mu=0.7 warm-records=1 radius=5 perturbation=objective", &little, 0.7, 0.5);
}

static void test_one_release_an_agent_within_its_own_budget(void **state)
{
    (void)state;
    problem q;
    double epsilon[N];
    problem_init(&q, 4, 0, TACIT_F64);
    for (int i = 0; i < N; i++)
        epsilon[i] = 0.3 * (1 + i % 4);
    for (int how = 0; how < 2; how++) {
        tacit_runtime *rt = run(&q, "model-propagation", &one_word, epsilon, 20,
                                how ? "warm-lambda=5 perturbation=objective" : "warm-lambda=2");
        for (uint32_t i = 0; i < q.n; i++) {
            const tacit_ledger *ledger = rt->ops->agent_ledger(rt, i);
            assert_int_equal(tacit_ledger_releases(ledger), 1);
            assert_true(spent(rt, i, epsilon[i]) <= epsilon[i]);
            assert_true(spent(rt, i, epsilon[i]) > 0.999 * epsilon[i]);
            /* agents of any size with one budget share one cost */
            assert_ptr_equal(ledger->entries[0].cost,
                             rt->ops->agent_ledger(rt, i % 4)->entries[0].cost);
        }
        rt->ops->destroy(rt);
    }
    problem_clear(&q);
}

/* Where nothing is cut, noise is as large as the radius says that a record might be: by the same
 * draws a hundred times the radius is off by a hundred times as much. */
static void test_noise_goes_with_the_radius(void **state)
{
    (void)state;
    static const char *const settings[] = {"warm-lambda=50 radius=5", "warm-lambda=50 radius=500"};
    double off[2] = {0};
    for (int k = 0; k < 2; k++) {
        problem q;
        models found;
        problem_init(&q, 4, 0, TACIT_F64);
        tacit_runtime *rt = run(&q, "model-propagation", &hardly_any, NULL, 0, settings[k]);
        problem_models(&q, rt, found);
        for (uint32_t i = 0; i < q.n; i++) {
            double local[P] = {0}; /* so strong a regulariser: one step from zero is the model */
            for (uint32_t r = 0; r < q.m[i]; r++)
                for (int c = 0; c < P; c++)
                    local[c] += q.y[i][r] * q.x[i][r][c] / (2 * 2 * 50.0 * q.m[i]);
            off[k] += apart(found[i], local) / q.n;
        }
        rt->ops->destroy(rt);
        problem_clear(&q);
    }
    assert_true(off[1] > 10 * off[0]);
}

/* ---- cd ---- */

static const tacit_privacy_options some_words = {.mechanism = TACIT_MECHANISM_GAUSSIAN,
                                                 .epsilon = 2,
                                                 .delta = 1e-5,
                                                 .clip = 0.5,
                                                 .releases = 6,
                                                 .accountant = TACIT_BY_GDP};

/* As long as it warms up, cd is model-propagation, to the last bit. */
static void test_a_warm_start_is_model_propagation(void **state)
{
    (void)state;
    problem q;
    models a, b;
    problem_init(&q, 6, 0, TACIT_F64);
    tacit_privacy_options less = one_word;
    less.epsilon = 0.5;
    tacit_runtime *rt = run(&q, "model-propagation", &less, NULL, 12, "mu=0.4 warm-lambda=3");
    problem_models(&q, rt, a);
    rt->ops->destroy(rt);
    rt = run(&q, "cd", &some_words, NULL, 12,
             "start=propagated warm-epsilon=0.5 warm-mu=0.4 warm-lambda=3 warm-ticks=1000000");
    problem_models(&q, rt, b);
    for (uint32_t i = 0; i < q.n; i++) {
        assert_true(apart(a[i], b[i]) == 0);
        assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, i)), 1);
    }
    rt->ops->destroy(rt);
    problem_clear(&q);
}

static void check_spending(int policy)
{
    problem q;
    problem_init(&q, 6, 0, TACIT_F64);
    tacit_privacy_options privacy = some_words;
    privacy.policy = policy;
    tacit_runtime *rt = run(&q, "cd", &privacy, NULL, 60,
                            "start=propagated warm-epsilon=0.5 warm-lambda=3 warm-ticks=4");
    for (uint32_t i = 0; i < q.n; i++) {
        const tacit_ledger *ledger = rt->ops->agent_ledger(rt, i);
        assert_int_equal(tacit_ledger_releases(ledger), 7);
        assert_string_equal(ledger->entries[0].cost->what, "local model");
        assert_int_equal(ledger->entries[0].releases, 1);
        assert_string_equal(ledger->entries[1].cost->what, "gradient");
        assert_true(ledger->entries[1].first > 0); /* after its first ticks */
        assert_true(spent(rt, i, 2) <= 2 && spent(rt, i, 2) > 1.99);
    }
    rt->ops->destroy(rt);
    problem_clear(&q);
}

static void test_the_warm_start_is_part_of_the_budget(void **state)
{
    (void)state;
    check_spending(TACIT_POLICY_UNIFORM);
    check_spending(TACIT_POLICY_OPTIMAL);
}

/* "privacy.noise" is that of gradients: the warm start has its own budget, and noise found for it.
 */
static void test_a_warm_start_finds_its_own_noise(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 6, 0, TACIT_F64);
    tacit_privacy_options privacy = some_words;
    privacy.noise = 30;
    tacit_runtime *rt = run(&q, "cd", &privacy, NULL, 0.1,
                            "start=propagated warm-epsilon=0.5 warm-lambda=3 warm-ticks=1000");
    for (uint32_t i = 0; i < q.n; i++) {
        assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, i)), 1);
        assert_true(spent(rt, i, 2) <= 0.5 && spent(rt, i, 2) > 0.4999);
    }
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* Saved while it warms up, loaded, and run on: the same models. */
static void test_warming_up_survives_a_checkpoint(void **state)
{
    (void)state;
    static const char *const protocols[][2] = {
        {"cd", "start=propagated warm-lambda=3 warm-ticks=4"},
        {"perturbed", "collaborate=true"},
    };
    for (int k = 0; k < 2; k++) {
        problem q;
        models a, b;
        tacit_saver *saver;
        size_t len;
        tacit_error err = {0};
        problem_init(&q, 6, 0, TACIT_F64);
        tacit_runtime *rt = run(&q, protocols[k][0], &some_words, NULL, 2, protocols[k][1]), *on;
        const uint8_t *bytes = save_bytes(rt, &saver, &len);
        check_ok(make(&on, &q, protocols[k][0], &some_words, NULL, protocols[k][1], &err), &err);
        check_ok(load_bytes(on, bytes, len, &err), &err);
        world_run(rt, 9);
        world_run(on, 9);
        problem_models(&q, rt, a);
        problem_models(&q, on, b);
        for (uint32_t i = 0; i < q.n; i++)
            assert_true(apart(a[i], b[i]) == 0);
        tacit_saver_free(saver);
        rt->ops->destroy(rt);
        on->ops->destroy(on);
        problem_clear(&q);
    }
}

/* ---- perturbed ---- */

static void test_bare_records_are_the_records(void **state)
{
    (void)state;
    problem q;
    models found, best;
    double alone[P];
    const tacit_privacy_options none = {.epsilon = INFINITY, .accountant = TACIT_BY_PLD};
    problem_init(&q, 8, 0, TACIT_F64);
    tacit_runtime *rt = run(&q, "perturbed", &none, NULL, 3, "");
    problem_models(&q, rt, found);
    for (uint32_t i = 0; i < q.n; i++) {
        problem_solve_local(&q, i, alone);
        assert_true(apart(found[i], alone) < 1e-6);
        assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, i)), 1);
    }
    assert_int_equal(rt->ops->traffic(rt).messages, 0);
    rt->ops->destroy(rt);
    rt = run(&q, "perturbed", &none, NULL, 3000, "collaborate=true mu=2");
    problem_models(&q, rt, found);
    problem_solve(&q, 2, best);
    const double least = problem_objective(&q, 2, best);
    assert_true(problem_objective(&q, 2, found) - least <= 1e-8 * least);
    rt->ops->destroy(rt);
    problem_clear(&q);
}

static void test_records_are_released_once(void **state)
{
    (void)state;
    problem q;
    double epsilon[N];
    problem_init(&q, 8, 0, TACIT_F64);
    for (int i = 0; i < N; i++)
        epsilon[i] = 0.3 * (1 + i % 4);
    tacit_runtime *rt = run(&q, "perturbed", &one_word, epsilon, 10, "collaborate=true");
    for (uint32_t i = 0; i < q.n; i++) {
        assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, i)), 1);
        assert_true(spent(rt, i, epsilon[i]) <= epsilon[i]);
        assert_true(spent(rt, i, epsilon[i]) > 0.999 * epsilon[i]);
    }
    rt->ops->destroy(rt);
    /* nor again where nothing would forbid it */
    rt = run(&q, "perturbed", &hardly_any, NULL, 10, "collaborate=true");
    for (uint32_t i = 0; i < q.n; i++)
        assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, i)), 1);
    rt->ops->destroy(rt);
    problem_clear(&q);
}

/* Rows along the axes: the largest eigenvalue of u u^T / 4m is that of the longest, for more and
 * for fewer rows than features. */
static void test_smoothness_of_records(void **state)
{
    (void)state;
    const tacit_model_options options = {.scalar = TACIT_F64};
    for (size_t rows = 1; rows <= 2 * P; rows++) {
        tacit_model *model;
        tacit_shape shape;
        tacit_error err = {0};
        double longest = 0, found, of_axis[P] = {0};
        tacit_pool *pool = tacit_pool_create(false);
        check_ok(tacit_model_create(&model, &options, P, &err), &err);
        check_ok(
            tacit_shape_init(&shape, &(tacit_segment){"records", TACIT_F64, rows * P}, 1, &err),
            &err);
        tacit_public *records = tacit_vector_public(tacit_pool_vector(pool, &shape, 0));
        for (size_t r = 0; r < rows; r++) {
            const double size = 0.5 + (double)(r * 5 % 7);
            tacit_public_set(records, 0, r * P + r % P, r % 2 ? size : -size);
            of_axis[r % P] += size * size;
            longest = fmax(longest, of_axis[r % P]);
        }
        check_ok(tacit_model_smoothness_of_records(model, records, rows, &found, &err), &err);
        const double exact = longest / (4 * (double)rows);
        assert_true(found >= exact * (1 - 1e-12) && found < 1.01 * exact);
        tacit_model_free(model);
        tacit_pool_free(pool);
    }
}

/* A record replaced changes its own block, within what was paid for, and no other. */
static void check_blocks(tacit_mechanism mechanism, dice *d)
{
    enum { ROWS = 5, ROOM = 7 };
    const uint32_t rows = ROWS, *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    const tacit_model_options options = {.scalar = TACIT_F64};
    const tacit_privacy_options privacy = {.mechanism = (int)mechanism, .noise = 3};
    tacit_scratch *scratch = tacit_scratch_create();
    tacit_dataset *data;
    tacit_model *model;
    tacit_shape shape;
    tacit_cost cost;
    tacit_error err = {0};
    check_ok(tacit_dataset_create(&data, 1, P, TACIT_F64, counts, &err), &err);
    check_ok(tacit_model_create(&model, &options, P, &err), &err);
    check_ok(tacit_shape_init(&shape, &(tacit_segment){"records", TACIT_F64, ROOM * P}, 1, &err),
             &err);
    check_ok(tacit_model_records_cost(model, &cost, &privacy, INFINITY, 0.7, ROOM, &err), &err);
    for (int k = 0; k < 200; k++) {
        int64_t steps[2][ROOM * P];
        for (uint32_t r = 0; r < ROWS; r++) {
            double x[P];
            for (int i = 0; i < P; i++)
                x[i] = pow(10, dice_between(d, -3, 3)) * (dice_unit(d) < 0.5 ? 1 : -1);
            check_ok(tacit_dataset_put(data, 0, TACIT_TRAIN, r, x, r % 2 ? 1 : -1, &err), &err);
        }
        for (int s = 0; s < 2; s++) {
            tacit_ledger ledger = {0};
            tacit_permit permit;
            tacit_bounded *bounded;
            const double x[P] = {dice_normal(d), 1e9, dice_normal(d)};
            charged_reserve(&ledger, &cost, &permit);
            check_ok(tacit_model_records(model, &permit, tacit_dataset_shard(data, 0, TACIT_TRAIN),
                                         0.7, &shape, scratch, &bounded, &err),
                     &err);
            memcpy(steps[s], bounded->steps, sizeof steps[s]);
            check_ok(tacit_dataset_put(data, 0, TACIT_TRAIN, 2, x, 1, &err), &err);
            tacit_ledger_clear(&ledger);
        }
        double sum = 0;
        for (int i = 0; i < ROOM * P; i++) {
            const double gap = (double)(steps[0][i] - steps[1][i]);
            sum += cost.norm == TACIT_L1 ? fabs(gap) : gap * gap;
            assert_true(gap == 0 || i / P == 2);
            assert_true(i / P < ROWS || steps[0][i] == 0);
        }
        const double size = cost.norm == TACIT_L1 ? sum : sqrt(sum);
        assert_true(size > 0 && size <= cost.sensitivity / tacit_cost_step(&cost));
    }
    tacit_scratch_free(scratch);
    tacit_dataset_free(data);
    tacit_model_free(model);
}

static void test_a_record_is_one_block(void **state)
{
    (void)state;
    dice d = {21};
    check_blocks(TACIT_MECHANISM_GAUSSIAN, &d);
    check_blocks(TACIT_MECHANISM_LAPLACE, &d);
}

/* ---- refusals ---- */

static void test_what_cannot_be_kept_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *protocol, *settings, *word;
        int loss, adjacency, unit;
        double sampling;
        tacit_status status;
    } bad[] = {
        {"model-propagation", "", "statistics", 1, 0, 0, 0, TACIT_EINPUT},
        {"model-propagation", "", "replace", 0, TACIT_ADD_REMOVE, 0, 0, TACIT_EINPUT},
        {"model-propagation", "", "sampling", 0, 0, 0, 0.5, TACIT_EINPUT},
        {"model-propagation", "perturbation=objective", "privacy.unit", 0, 0, TACIT_UNIT_USER, 0,
         TACIT_EINPUT},
        {"cd", "start=propagated warm-epsilon=5", "spent before", 0, 0, 0, 0, TACIT_EBUDGET},
        {"perturbed", "", "statistics", 1, 0, 0, 0, TACIT_EINPUT},
        {"perturbed", "", "replace", 0, TACIT_ADD_REMOVE, 0, 0, TACIT_EINPUT},
        {"perturbed", "", "privacy.unit", 0, 0, TACIT_UNIT_USER, 0, TACIT_EINPUT},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        problem q;
        tacit_runtime *rt = NULL;
        tacit_error err = {0};
        tacit_privacy_options privacy = some_words;
        privacy.adjacency = bad[k].adjacency;
        privacy.unit = bad[k].unit;
        privacy.sampling = bad[k].sampling;
        problem_init(&q, 8, bad[k].loss, TACIT_F64);
        check_fails(make(&rt, &q, bad[k].protocol, &privacy, NULL, bad[k].settings, &err),
                    bad[k].status, &err, bad[k].word);
        tacit_cost cost; /* whoever plans records is told, not only who runs the protocol */
        if (strcmp(bad[k].protocol, "perturbed") == 0)
            check_fails(tacit_model_records_cost(q.model, &cost, &privacy, 1, 1, 9, &err),
                        bad[k].status, &err, bad[k].word);
        problem_clear(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_with_hardly_any_noise_it_is_the_one_without),
        cmocka_unit_test(test_one_release_an_agent_within_its_own_budget),
        cmocka_unit_test(test_noise_goes_with_the_radius),
        cmocka_unit_test(test_a_warm_start_is_model_propagation),
        cmocka_unit_test(test_a_warm_start_finds_its_own_noise),
        cmocka_unit_test(test_the_warm_start_is_part_of_the_budget),
        cmocka_unit_test(test_warming_up_survives_a_checkpoint),
        cmocka_unit_test(test_bare_records_are_the_records),
        cmocka_unit_test(test_records_are_released_once),
        cmocka_unit_test(test_smoothness_of_records),
        cmocka_unit_test(test_a_record_is_one_block),
        cmocka_unit_test(test_what_cannot_be_kept_is_refused),
    };
    return cmocka_run_group_tests(tests, charged_setup, charged_teardown);
}
