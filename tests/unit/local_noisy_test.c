/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Local models with noise: the solver keeps its promise by both of its ways, one record moves the
 * released integers by no more than was paid for, and what objective perturbation tells is below
 * what its theorem says, integrated from densities written here.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "charged.h"
#include "model/linear.h"
#include "model/logit.h"

enum { P = 7, MOST_ROWS = 40 };

/* ---- the solver ---- */

typedef struct problem {
    double u[MOST_ROWS * P], b[P];
    tacit_logit f;
} problem;

static double length(size_t n, const double *x)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += x[k] * x[k];
    return sqrt(sum);
}

static void problem_make(problem *q, size_t rows, double radius, double ridge, double tilt, dice *d)
{
    for (size_t r = 0; r < rows; r++) {
        double size = 0;
        for (int k = 0; k < P; k++)
            q->u[r * P + k] = dice_normal(d);
        size = length(P, q->u + r * P);
        for (int k = 0; k < P; k++)
            q->u[r * P + k] *= radius / size * (dice_unit(d) < 0.5 ? 1 : dice_unit(d));
    }
    for (int k = 0; k < P; k++)
        q->b[k] = tilt * dice_normal(d);
    q->f = (tacit_logit){.rows = rows,
                         .p = P,
                         .u = q->u,
                         .tilt = q->b,
                         .ridge = ridge,
                         .radius = radius * (1 + 1e-9),
                         .tilt_most = length(P, q->b) * (1 + 1e-9)};
}

/* Over the ridge, the gradient bounds the distance: in long doubles, from the definition. */
static double distance_bound(const problem *q, const double *theta)
{
    long double g[P], sum = 0;
    for (int k = 0; k < P; k++)
        g[k] = (long double)q->f.ridge * theta[k] + q->b[k];
    for (size_t r = 0; r < q->f.rows; r++) {
        long double z = 0;
        for (int k = 0; k < P; k++)
            z += (long double)q->u[r * P + k] * theta[k];
        for (int k = 0; k < P; k++)
            g[k] += (long double)q->u[r * P + k] / (1 + expl(-z));
    }
    for (int k = 0; k < P; k++)
        sum += g[k] * g[k];
    return (double)(sqrtl(sum) / q->f.ridge);
}

static void test_both_ways_keep_the_promise(void **state)
{
    (void)state;
    dice d = {5};
    problem q;
    size_t room;
    for (int k = 0; k < 60; k++) {
        const double radius = pow(10, dice_between(&d, -2, 1.3));
        const size_t rows = 1 + (size_t)(dice_unit(&d) * (MOST_ROWS - 1));
        /* gradient descent takes rows R^2 / (4 ridge) steps, so that may not be much */
        const double ridge = (double)rows * radius * radius / pow(10, dice_between(&d, -1, 2));
        problem_make(&q, rows, radius, ridge, k % 3 ? 0 : radius * 20, &d);
        const double gap = tacit_logit_gap(&q.f, tacit_logit_span(&q.f) * 1e-8);
        assert_true(tacit_logit_room(&q.f, &room));
        double *work = calloc(room, sizeof *work), newton[P], descent[P], apart[P];
        assert_true(tacit_logit_newton(&q.f, gap, newton, work));
        tacit_logit_descend(&q.f, gap, descent, work);
        for (int i = 0; i < P; i++)
            apart[i] = newton[i] - descent[i];
        assert_true(distance_bound(&q, newton) <= gap);
        assert_true(length(P, apart) <= 2 * gap); /* neither is further than a gap from the truth */
        assert_true(length(P, newton) <= tacit_logit_span(&q.f) / 2 + gap);
        free(work);
    }
}

/* A gap of nothing is beyond doubles: it is made as large as they need. */
static void test_the_gap_is_one_that_can_be_kept(void **state)
{
    (void)state;
    dice d = {6};
    problem q;
    double theta[P];
    tacit_error err = {0};
    for (int k = 0; k < 20; k++) {
        problem_make(&q, 30, 1, pow(10, dice_between(&d, -3, 3)), 10, &d);
        const double gap = tacit_logit_gap(&q.f, 0);
        assert_true(gap > 0 && gap < 1e-3 * tacit_logit_span(&q.f));
        check_ok(tacit_logit_solve(&q.f, gap, theta, &err), &err);
        assert_true(distance_bound(&q, theta) <= gap);
    }
}

/* ---- kernels ---- */

typedef struct learner {
    tacit_dataset *data;
    tacit_model *model;
    tacit_scratch *scratch;
    uint32_t rows;
} learner;

static learner learner_make(int loss, uint32_t rows)
{
    learner l = {.scratch = tacit_scratch_create(), .rows = rows};
    tacit_error err = {0};
    const uint32_t *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    const tacit_model_options options = {.loss = loss, .scalar = TACIT_F64};
    check_ok(tacit_dataset_create(&l.data, 1, P, TACIT_F64, counts, &err), &err);
    check_ok(tacit_model_create(&l.model, &options, P, &err), &err);
    return l;
}

static void learner_free(learner *l)
{
    tacit_dataset_free(l->data);
    tacit_model_free(l->model);
    tacit_scratch_free(l->scratch);
}

static void put_row(learner *l, uint32_t row, const double *x, double y)
{
    tacit_error err = {0};
    check_ok(tacit_dataset_put(l->data, 0, TACIT_TRAIN, row, x, y, &err), &err);
}

static void roll_row(learner *l, uint32_t row, dice *d)
{
    double x[P], size = pow(10, dice_between(d, -2, 3));
    const int bad = (int)(dice_unit(d) * 20);
    for (int k = 0; k < P; k++)
        x[k] = size * (dice_unit(d) < 0.3 ? 1 : dice_normal(d));
    if (bad < 4)
        x[1] = (const double[]){1e308, -1.7e308, 1e200, -1e-320}[bad];
    /* labels that no check of a model lets through, too */
    put_row(l, row, x, bad == 4 ? 1e300 : bad == 5 ? 0 : dice_unit(d) < 0.5 ? -1 : 1);
}

static tacit_privacy_options wishes(tacit_mechanism mechanism, tacit_unit unit)
{
    return (tacit_privacy_options){
        .mechanism = mechanism,
        .unit = unit,
        .delta = 1e-3,
        .accountant = mechanism == TACIT_MECHANISM_LAPLACE ? TACIT_BY_PLD : TACIT_BY_GDP};
}

static tacit_cost plan(const learner *l, const tacit_privacy_options *o, double epsilon,
                       const tacit_local *how)
{
    tacit_cost cost;
    tacit_error err = {0};
    check_ok(tacit_model_local_cost(l->model, &cost, o, epsilon, how, &err), &err);
    return cost;
}

/* Steps before the noise of the mechanism, and if wanted what comes out. */
static tacit_status run(learner *l, const tacit_cost *cost, const tacit_local *how, uint64_t agent,
                        int64_t steps[P], double *out, tacit_error *err)
{
    tacit_ledger ledger = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_public *released;
    const tacit_scratch_mark mark = tacit_scratch_now(l->scratch);
    charged_reserve(&ledger, cost, &permit);
    tacit_permit_draw_from(&permit, &charged_random, agent);
    tacit_status status =
        tacit_model_local_noisy(l->model, &permit, tacit_dataset_shard(l->data, 0, TACIT_TRAIN),
                                how, l->scratch, &bounded, err);
    if (status == TACIT_OK && steps)
        memcpy(steps, bounded->steps, P * sizeof *steps);
    if (status == TACIT_OK && out) {
        const tacit_noise_source source = {&charged_random, agent, NULL};
        check_ok(tacit_mechanism_apply(&permit, bounded, &source, &released, err), err);
        for (size_t k = 0; k < P; k++)
            out[k] = tacit_public_get(released, 0, k);
    }
    tacit_scratch_rewind(l->scratch, mark);
    tacit_ledger_clear(&ledger);
    return status;
}

static double apart(tacit_norm norm, const int64_t *a, const int64_t *b)
{
    double sum = 0;
    for (int k = 0; k < P; k++) {
        const double gap = (double)(a[k] - b[k]);
        sum += norm == TACIT_L1 ? fabs(gap) : gap * gap;
    }
    return norm == TACIT_L1 ? sum : sqrt(sum);
}

static void check_one_record(tacit_mechanism mechanism, tacit_unit unit, dice *d)
{
    tacit_error err = {0};
    const tacit_privacy_options o = wishes(mechanism, unit);
    for (int k = 0; k < 60; k++) {
        learner l = learner_make(0, 1 + (uint32_t)(dice_unit(d) * 30));
        const tacit_local how = {.lambda = k % 4 ? pow(10, dice_between(d, -2, 2)) : 0,
                                 .lambda_records = k % 8 ? 1 : 100,
                                 .radius = pow(10, dice_between(d, -2, 1))};
        const tacit_cost cost = plan(&l, &o, pow(10, dice_between(d, -2, 1)), &how);
        int64_t before[P], after[P];
        for (uint32_t r = 0; r < l.rows; r++)
            roll_row(&l, r, d);
        check_ok(run(&l, &cost, &how, 1, before, NULL, &err), &err);
        for (uint32_t r = 0; r < (unit == TACIT_UNIT_USER ? l.rows : 1); r++)
            roll_row(&l, r, d);
        check_ok(run(&l, &cost, &how, 1, after, NULL, &err), &err);
        assert_true(apart(cost.norm, before, after) <= cost.sensitivity / tacit_cost_step(&cost));
        learner_free(&l);
    }
}

static void test_one_record_moves_it_no_further_than_paid_for(void **state)
{
    (void)state;
    dice d = {7};
    check_one_record(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_RECORD, &d);
    check_one_record(TACIT_MECHANISM_LAPLACE, TACIT_UNIT_RECORD, &d);
    check_one_record(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_USER, &d);
}

/* One record turned round, with a strong regulariser: nothing is left of the bound. */
static void test_the_bound_is_reached(void **state)
{
    (void)state;
    tacit_error err = {0};
    learner l = learner_make(0, 3);
    const double x[P] = {50}; /* is cut to the radius */
    const tacit_local how = {.lambda = 1000, .radius = 2};
    const tacit_privacy_options o = wishes(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_RECORD);
    const tacit_cost cost = plan(&l, &o, 1, &how);
    int64_t before[P], after[P];
    for (uint32_t r = 0; r < 3; r++)
        put_row(&l, r, x, 1);
    check_ok(run(&l, &cost, &how, 1, before, NULL, &err), &err);
    put_row(&l, 1, x, -1);
    check_ok(run(&l, &cost, &how, 1, after, NULL, &err), &err);
    const double part =
        apart(TACIT_L2, before, after) / (cost.sensitivity / tacit_cost_step(&cost));
    assert_true(part > 0.99 && part <= 1);
    learner_free(&l);
}

/* Agents of any size have one cost; what comes out is the model in its own unit. */
static void test_output_is_the_model_plus_noise(void **state)
{
    (void)state;
    tacit_error err = {0};
    dice d = {9};
    learner l = learner_make(0, 20);
    const tacit_local how = {.lambda = 0.1, .radius = 1};
    const tacit_privacy_options o = wishes(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_RECORD);
    const tacit_cost cost = plan(&l, &o, 1, &how);
    for (uint32_t r = 0; r < l.rows; r++) {
        double x[P];
        for (int k = 0; k < P; k++)
            x[k] = dice_between(&d, -0.3, 0.3);
        put_row(&l, r, x, x[0] > 0 ? 1 : -1);
    }
    const tacit_model_options options = {.loss = 0, .lambda = 0.1, .scalar = TACIT_F64};
    tacit_model *model;
    tacit_pool *pool = tacit_pool_create(false);
    check_ok(tacit_model_create(&model, &options, P, &err), &err);
    tacit_secret *exact = tacit_vector_secret(tacit_pool_vector(pool, tacit_model_shape(model), 0));
    check_ok(tacit_model_solve(model, tacit_dataset_shard(l.data, 0, TACIT_TRAIN), exact, &err),
             &err);
    /* 700 draws of deviation s: the mean of squares is off by 5 deviations once in 10^6 */
    enum { DRAWS = 100 };
    const double s = cost.noise / cost.sensitivity * 1 / (20 * 0.1); /* slopes here are near 1 */
    double sum = 0, out[P];
    for (uint64_t k = 0; k < DRAWS; k++) {
        check_ok(run(&l, &cost, &how, 100 + k, NULL, out, &err), &err);
        for (int i = 0; i < P; i++) {
            const double off =
                out[i] - tacit_vector_get(tacit_vector_of_secret(exact), 0, (size_t)i);
            sum += off * off / (DRAWS * P);
        }
    }
    assert_true(fabs(sum / (s * s) - 1) < 5 * sqrt(2. / (DRAWS * P)) + 0.05);
    tacit_model_free(model);
    tacit_pool_free(pool);
    learner_free(&l);
}

/* ---- objective perturbation ---- */

static double phi(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

static double gaussian_delta(double mu, double epsilon)
{
    if (mu == 0)
        return 0;
    return phi(mu / 2 - epsilon / mu) - exp(epsilon) * phi(-mu / 2 - epsilon / mu);
}

/* Density at theta of the minimiser of sum log(1 + exp(u theta)) + b theta + ridge theta^2 / 2 over
 * one coordinate, b normal. */
static double density(const double *u, int rows, double ridge, double sigma, double theta)
{
    double b = -ridge * theta, slope = ridge;
    for (int r = 0; r < rows; r++) {
        const double a = 1 / (1 + exp(-u[r] * theta));
        b -= a * u[r];
        slope += a * (1 - a) * u[r] * u[r];
    }
    return exp(-b * b / (2 * sigma * sigma)) / (sigma * sqrt(2 * acos(-1))) * slope;
}

static double hockey_stick(const double *u, const double *v, int rows, double ridge, double sigma,
                           double epsilon)
{
    enum { POINTS = 6000 };
    const double span = (rows + 10 * sigma) / ridge;
    double sum = 0;
    for (int k = 0; k < POINTS; k++) {
        const double theta = span * ((k + 0.5) / POINTS * 2 - 1);
        const double gap = density(u, rows, ridge, sigma, theta) -
                           exp(epsilon) * density(v, rows, ridge, sigma, theta);
        sum += fmax(0, gap) * 2 * span / POINTS;
    }
    return sum;
}

/* Radius 1. The theorem for any two data sets that differ in a record, by integration; and it is
 * not far from what can be: the best of these pairs uses up 60 % of it. */
static void test_objective_tells_no_more_than_the_theorem(void **state)
{
    (void)state;
    dice d = {13};
    double most = 0;
    for (int k = 0; k < 200; k++) {
        const double ridge = pow(10, dice_between(&d, -0.5, 2));
        const double told = pow(10, dice_between(&d, -0.7, 0.7));
        const double mu = tacit_objective_mu(told, 1 / (4 * ridge));
        if (!(mu > 0))
            continue;
        double u[3], v[3];
        for (int r = 0; r < 3; r++)
            u[r] = v[r] = dice_between(&d, -1, 1);
        u[0] = k % 2 ? 1 : dice_between(&d, -1, 1);
        v[0] = k % 2 ? -1 : dice_between(&d, -1, 1);
        for (double epsilon = 0; epsilon < 3; epsilon += 0.25) {
            const double may = gaussian_delta(told, epsilon);
            const double does = hockey_stick(u, v, 3, ridge, 1 / mu, epsilon);
            assert_true(does <= may + 1e-7);
            if (epsilon == 0)
                most = fmax(most, does / may);
        }
    }
    assert_true(most > 0.6);
}

static void test_curvature_has_its_price(void **state)
{
    (void)state;
    assert_true(fabs(tacit_objective_mu(1, 1e-9) - 0.5) < 1e-6); /* 2R over sigma is mu */
    for (double told = 0.01; told < 10; told *= 2)
        for (double curve = 1e-4; curve < 10; curve *= 2) {
            const double mu = tacit_objective_mu(told, curve);
            assert_true(mu >= 0 && mu <= told / 2);
            assert_true(tacit_objective_mu(told, 2 * curve) <= mu);
            assert_true(tacit_objective_mu(2 * told, curve) >= mu);
            /* what the theorem asks for, and no less than it allows */
            const double may = gaussian_delta(told / 2, log1p(curve));
            assert_true(gaussian_delta(mu, 0) <= may);
            assert_true(may < 1e-5 || gaussian_delta(mu, 0) > may * (1 - 1e-6));
        }
    assert_true(tacit_objective_mu(0.01, 10) == 0);
}

/* Where the regulariser is all there is, theta = -b / ridge: its variance is known, and what is
 * added to the output is a thousandth of it. 7000 draws: 5 deviations are 8.5 %, once in 10^6. */
static void test_objective_noise_is_as_large_as_it_must_be(void **state)
{
    (void)state;
    enum { DRAWS = 1000 };
    tacit_error err = {0};
    learner l = learner_make(0, 4);
    const double zero[P] = {0};
    for (uint32_t r = 0; r < 4; r++)
        put_row(&l, r, zero, 1);
    const tacit_local how = {TACIT_PERTURB_OBJECTIVE, 2, 0, 1};
    const tacit_privacy_options o = wishes(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_RECORD);
    const tacit_cost cost = plan(&l, &o, 1, &how);
    const double ridge = 2 * 4 * 2.0;
    const double sigma = 1 / tacit_objective_mu(cost.sensitivity / cost.noise * sqrt(1 - 1. / 1024),
                                                1 / (4 * ridge));
    double sum = 0, out[P], first = 0;
    for (uint64_t k = 0; k < DRAWS; k++) {
        check_ok(run(&l, &cost, &how, 100 + k, NULL, out, &err), &err);
        for (int i = 0; i < P; i++)
            sum += out[i] * out[i] / (DRAWS * P);
        if (k == 0)
            first = out[0];
    }
    assert_true(fabs(sum * ridge * ridge / (sigma * sigma) - 1) < 5 * sqrt(2. / (DRAWS * P)));
    check_ok(run(&l, &cost, &how, 100, NULL, out, &err), &err); /* the same keys, the same noise */
    assert_true(out[0] == first);
    learner_free(&l);
}

/* The noise that is put into the objective is known to the bit: integers of a stream that no other
 * release has, in steps as large as the theorem asks for after the output's thousandth of the
 * budget. Without records that say anything the model is that noise over the regulariser. */
static void test_objective_noise_is_drawn_anew_and_in_its_unit(void **state)
{
    (void)state;
    tacit_error err = {0};
    learner l = learner_make(0, 4);
    const double zero[P] = {0};
    for (uint32_t r = 0; r < 4; r++)
        put_row(&l, r, zero, 1);
    const tacit_local how = {TACIT_PERTURB_OBJECTIVE, 2, 0, 1};
    const tacit_privacy_options o = wishes(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_RECORD);
    const tacit_cost cost = plan(&l, &o, 1, &how);
    const double ridge = 2 * 4 * 2.0, noise = cost.noise / tacit_cost_step(&cost);
    const double told = cost.sensitivity / cost.noise * sqrt(1 - 1. / 1024);
    const double unit = 1 / tacit_objective_mu(told, 1 / (4 * ridge)) / sqrt(noise * noise - 4);
    tacit_ledger ledger = {0};
    for (int release = 0; release < 3; release++) {
        tacit_permit permit;
        tacit_bounded *bounded;
        tacit_stream stream;
        charged_reserve(&ledger, &cost, &permit);
        tacit_permit_draw_from(&permit, &charged_random, 9);
        check_ok(tacit_model_local_noisy(l.model, &permit,
                                         tacit_dataset_shard(l.data, 0, TACIT_TRAIN), &how,
                                         l.scratch, &bounded, &err),
                 &err);
        assert_int_equal(permit.id, release);
        tacit_stream_open(&stream, &charged_random, 9, TACIT_FOR_LOTS, permit.id);
        for (size_t k = 0; k < P; k++) {
            int64_t z;
            tacit_noise_draw(permit.noise, &stream, 1, &z);
            const double theta =
                (double)bounded->steps[k] * bounded->factor * tacit_cost_step(&cost);
            assert_true(fabs(theta + unit * (double)z / ridge) < 1e-4 * unit * noise / ridge);
        }
    }
    tacit_ledger_clear(&ledger);
    learner_free(&l);
}

/* ---- refusals ---- */

static void test_what_is_not_proven_is_refused(void **state)
{
    (void)state;
    const tacit_local output = {TACIT_PERTURB_OUTPUT, 1, 0, 1};
    const tacit_local objective = {TACIT_PERTURB_OBJECTIVE, 1, 0, 1};
    const tacit_local faint = {TACIT_PERTURB_OBJECTIVE, 1e-6, 0, 1};
    tacit_privacy_options o = wishes(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_USER);
    tacit_cost cost;
    tacit_error err = {0};
    learner squared = learner_make(1, 3), l = learner_make(0, 3), empty = learner_make(0, 0);
    check_fails(tacit_model_local_cost(squared.model, &cost, &o, 1, &output, &err), TACIT_EINPUT,
                &err, "statistics");
    check_fails(tacit_model_local_cost(l.model, &cost, &o, 1, &objective, &err), TACIT_EINPUT, &err,
                "privacy.unit: record");
    o = wishes(TACIT_MECHANISM_LAPLACE, TACIT_UNIT_RECORD);
    check_fails(tacit_model_local_cost(l.model, &cost, &o, 1, &objective, &err), TACIT_EINPUT, &err,
                "gaussian");
    o.adjacency = TACIT_ADD_REMOVE;
    check_fails(tacit_model_local_cost(l.model, &cost, &o, 1, &output, &err), TACIT_EINPUT, &err,
                "replace");
    o = wishes(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_RECORD);
    o.sampling = 0.5;
    check_fails(tacit_model_local_cost(l.model, &cost, &o, 1, &output, &err), TACIT_EINPUT, &err,
                "sampling");
    o.sampling = 0;
    cost = plan(&l, &o, 0.1, &faint);
    check_fails(run(&l, &cost, &faint, 1, NULL, NULL, &err), TACIT_EINPUT, &err, "warm-lambda");
    cost = charged_plan(TACIT_MECHANISM_GAUSSIAN, 0.25, 1, P); /* less than a unit */
    check_fails(run(&l, &cost, &output, 1, NULL, NULL, &err), TACIT_EUSAGE, &err, "not planned");
    cost = plan(&l, &o, 1, &output);
    check_fails(run(&empty, &cost, &output, 1, NULL, NULL, &err), TACIT_EUSAGE, &err, "records");
    learner_free(&squared);
    learner_free(&l);
    learner_free(&empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways_keep_the_promise),
        cmocka_unit_test(test_the_gap_is_one_that_can_be_kept),
        cmocka_unit_test(test_one_record_moves_it_no_further_than_paid_for),
        cmocka_unit_test(test_the_bound_is_reached),
        cmocka_unit_test(test_output_is_the_model_plus_noise),
        cmocka_unit_test(test_objective_tells_no_more_than_the_theorem),
        cmocka_unit_test(test_curvature_has_its_price),
        cmocka_unit_test(test_objective_noise_is_as_large_as_it_must_be),
        cmocka_unit_test(test_objective_noise_is_drawn_anew_and_in_its_unit),
        cmocka_unit_test(test_what_is_not_proven_is_refused),
    };
    return cmocka_run_group_tests(tests, charged_setup, charged_teardown);
}
