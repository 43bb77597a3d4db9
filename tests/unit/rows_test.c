/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of records for averages: one record (or one user) moves the integers by no more than was
 * paid for, whoever chose it, and by nearly as much if it was chosen well; a twin that trusts
 * floats is caught by the same test; sums are what they say; and they can be concealed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "charged.h"

enum { P = 5, ROWS = 3 };
static const double centre[P] = {0.25, -3, 0, 1e6, 0.1};
static const double radius = 0.8;

typedef struct agent {
    double x[ROWS][P];
    uint32_t rows;
} agent;

typedef struct sums {
    int64_t step[P];
} sums;

static tacit_shape shape;

static int setup(void **state)
{
    tacit_error err;
    check_ok(tacit_shape_init(&shape, &(tacit_segment){"numbers", TACIT_I64, P}, 1, &err), &err);
    return charged_setup(state);
}

static tacit_model *model_of(tacit_scalar scalar)
{
    tacit_model *model;
    tacit_error err = {0};
    const tacit_model_options options = {.loss = 1, .scalar = (int)scalar};
    check_ok(tacit_model_create(&model, &options, P, &err), &err);
    return model;
}

static tacit_dataset *data_of(const agent *a, tacit_scalar scalar)
{
    tacit_dataset *data;
    tacit_error err = {0};
    const uint32_t *counts[TACIT_SPLITS] = {&a->rows, NULL, NULL};
    check_ok(tacit_dataset_create(&data, 1, P, scalar, counts, &err), &err);
    for (uint32_t r = 0; r < a->rows; r++)
        check_ok(tacit_dataset_put(data, 0, TACIT_TRAIN, r, a->x[r], 1, &err), &err);
    return data;
}

static tacit_cost cost_of(tacit_mechanism mechanism, tacit_unit unit, tacit_adjacency adjacency,
                          double noise)
{
    tacit_error err;
    tacit_cost cost = {.mechanism = mechanism,
                       .unit = unit,
                       .adjacency = adjacency,
                       .coordinates = P,
                       .what = "average"};
    check_ok(tacit_cost_on_grid(&cost, radius, noise, &err), &err);
    return cost;
}

static tacit_status try_rows(const tacit_cost *cost, tacit_scalar scalar, const agent *a,
                             const tacit_rows_way *how, sums *out, tacit_error *err)
{
    tacit_permit permit = {.cost = *cost, .state = TACIT_PERMIT_RESERVED};
    tacit_bounded *bounded;
    tacit_scratch *scratch = tacit_scratch_create();
    const tacit_scratch_mark mark = tacit_scratch_now(scratch);
    memset(tacit_scratch_alloc(scratch, 4096), 0x55, 4096); /* an event before left something */
    tacit_scratch_rewind(scratch, mark);
    tacit_model *model = model_of(scalar);
    tacit_dataset *data = data_of(a, scalar);
    const tacit_status status = tacit_model_rows(
        model, &permit, tacit_dataset_shard(data, 0, TACIT_TRAIN), how, scratch, &bounded, err);
    const bool bare = cost->mechanism == TACIT_MECHANISM_NONE;
    if (status == TACIT_OK) {
        assert_ptr_equal(bounded->value->shape, &shape);
        assert_true(bare || bounded->sensitivity == cost->sensitivity);
        memcpy(out->step, bare ? tacit_vector_segment(bounded->value, 0) : bounded->steps,
               sizeof out->step);
    }
    tacit_dataset_free(data);
    tacit_model_free(model);
    tacit_scratch_free(scratch);
    return status;
}

static sums ask(const tacit_cost *cost, tacit_scalar scalar, const agent *a)
{
    sums out;
    tacit_error err = {0};
    const tacit_rows_way how = {.centre = centre, .shape = &shape};
    check_ok(try_rows(cost, scalar, a, &how, &out, &err), &err);
    return out;
}

/* Trusts floats: clips to the very radius, rounds to the nearest, and does not measure again. */
static sums twin(const tacit_cost *cost, tacit_scalar scalar, const agent *a)
{
    (void)scalar;
    sums out = {{0}};
    const double step = tacit_cost_step(cost), most = tacit_cost_limit(cost) * step;
    for (uint32_t r = 0; r < a->rows; r++) {
        double size = 0;
        for (int k = 0; k < P; k++)
            size += (a->x[r][k] - centre[k]) * (a->x[r][k] - centre[k]);
        const double by = sqrt(size) > most ? most / sqrt(size) : 1;
        for (int k = 0; k < P; k++)
            out.step[k] += (int64_t)rint(by * (a->x[r][k] - centre[k]) / step);
    }
    return out;
}

/* ---- sensitivity ---- */

/* Records that somebody would choose who wants to be seen, or to break something. */
static void choose(dice *d, const double *other, double *x)
{
    const uint64_t kind = dice_below(d, 8);
    const double size = kind == 0   ? 1e30 /* 1e300 does not fit a float */
                        : kind == 1 ? radius
                        : kind == 2 ? 1e-9
                                    : 10;
    const int one = (int)dice_below(d, P);
    for (int k = 0; k < P; k++)
        x[k] = kind == 3   ? 2 * centre[k] - other[k]
               : kind == 4 ? other[k]
               : kind == 5 ? centre[k] + (k == one ? radius : 0)
               : kind == 6 ? (k == one ? -3e38 : centre[k])
                           : centre[k] + size * dice_normal(d);
}

typedef sums asker(const tacit_cost *cost, tacit_scalar scalar, const agent *a);

/* The largest change over many pairs of neighbours, as a part of what was paid for. */
static double worst_change(const tacit_cost *cost, tacit_scalar scalar, asker *what)
{
    const double paid = cost->sensitivity / tacit_cost_step(cost);
    dice d = {17};
    double worst = 0;
    for (int trial = 0; trial < (SLOW ? 300 : 2000); trial++) {
        agent a = {.rows = ROWS}, b;
        for (int r = 0; r < ROWS; r++)
            choose(&d, a.x[0], a.x[r]);
        b = a;
        choose(&d, a.x[ROWS - 1], b.x[ROWS - 1]);
        if (cost->unit == TACIT_UNIT_USER)
            for (int r = 0; r + 1 < ROWS; r++)
                choose(&d, a.x[r], b.x[r]);
        if (cost->adjacency == TACIT_ADD_REMOVE)
            b.rows = cost->unit == TACIT_UNIT_USER ? 0 : ROWS - 1;
        const sums before = what(cost, scalar, &a), after = what(cost, scalar, &b);
        double sum = 0; /* integers below 2^53, so nothing is rounded but at the very end */
        for (int k = 0; k < P; k++) {
            const double change = (double)(before.step[k] - after.step[k]);
            sum += cost->norm == TACIT_L1 ? fabs(change) : change * change;
        }
        worst = fmax(worst, (cost->norm == TACIT_L1 ? sum : sqrt(sum)) / paid);
    }
    return worst;
}

/* noise 2^21 radii: a grid of 2^9 steps a radius, where rounding is coarse. */
static void test_one_unit_moves_what_was_paid_for(void **state)
{
    (void)state;
    static const double noises[] = {1, 0x1p21};
    for (int kind = 0; kind < 16; kind++) {
        const tacit_cost cost =
            cost_of(kind & 1 ? TACIT_MECHANISM_LAPLACE : TACIT_MECHANISM_GAUSSIAN,
                    kind & 2 ? TACIT_UNIT_USER : TACIT_UNIT_RECORD,
                    kind & 4 ? TACIT_ADD_REMOVE : TACIT_REPLACE, noises[kind >> 3]);
        const double worst = worst_change(&cost, kind & 2 ? TACIT_F32 : TACIT_F64, ask);
        assert_true(worst <= 1);
        assert_true(worst > (kind >> 3 ? 0.97 : 0.999));
    }
}

static void test_a_twin_that_trusts_floats_is_caught(void **state)
{
    (void)state;
    const tacit_cost coarse =
        cost_of(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_RECORD, TACIT_REPLACE, 0x1p21);
    const double worst = worst_change(&coarse, TACIT_F64, twin);
    assert_true(worst > 1 && worst < 1.1);
}

/* ---- what they say ---- */

static void test_sums(void **state)
{
    (void)state;
    const agent a = {.x = {{0.25 + 0.5, -3, 0, 1e6, 0.1},           /* within */
                           {0.25, -3 + 0.1, -0.2, 1e6 + 0.25, 0.1}, /* within */
                           {0.25, -3, 3e300, 1e6, 0.1 - 4e300}},    /* cut to 0.8 */
                     .rows = 3};
    const tacit_cost record =
        cost_of(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_RECORD, TACIT_REPLACE, 1);
    const double step = tacit_cost_step(&record);
    const double want[P] = {0.5, 0.1, 0.48 - 0.2, 0.25, -0.64};
    const sums s = ask(&record, TACIT_F64, &a);
    for (int k = 0; k < P; k++) /* the aim of clipping is 2^-16 short of the radius */
        assert_true(fabs((double)s.step[k] * step - want[k]) < 2e-5);

    agent two = a;
    two.rows = 2;
    const tacit_cost user = cost_of(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_USER, TACIT_REPLACE, 1);
    const double mean[P] = {0.25, 0.05, -0.1, 0.125, 0};
    const sums u = ask(&user, TACIT_F64, &two);
    for (int k = 0; k < P; k++)
        assert_true(fabs((double)u.step[k] * step - mean[k]) < 1e-6);
    const sums all = ask(&user, TACIT_F64, &a); /* one large record speaks for a user: cut once */
    assert_true(fabs((double)all.step[2] * step - 0.48) < 2e-5 && all.step[0] == 0);
    const agent nobody = {.rows = 0};
    const sums none = ask(&user, TACIT_F64, &nobody), zero = {{0}};
    assert_memory_equal(&none, &zero, sizeof zero);
}

static void test_bare(void **state)
{
    (void)state;
    tacit_error err = {0};
    sums s;
    agent a = {.x = {{1, 2, 3, 4, 5}, {0.5, -2, 0.25, 1e6, 0}}, .rows = 2};
    tacit_cost cost = {.grid = -10, .what = "average"};
    tacit_rows_way how = {.clip = {TACIT_L2, INFINITY}, .shape = &shape};
    check_ok(try_rows(&cost, TACIT_F64, &a, &how, &s, &err), &err);
    static const int64_t plain[P] = {1536, 0, 3328, 1024004096, 5120};
    assert_memory_equal(s.step, plain, sizeof plain);
    cost.unit = TACIT_UNIT_USER;
    check_ok(try_rows(&cost, TACIT_F64, &a, &how, &s, &err), &err);
    for (int k = 0; k < P; k++)
        assert_int_equal(s.step[k], plain[k] / 2);
    cost.unit = TACIT_UNIT_RECORD;
    how = (tacit_rows_way){.centre = a.x[1], .clip = {TACIT_L2, 1}, .shape = &shape};
    check_ok(try_rows(&cost, TACIT_F64, &a, &how, &s, &err), &err);
    assert_int_equal(s.step[3], -1024); /* cut to a unit, along the one feature that is far away */
    cost.unit = TACIT_UNIT_USER;
    check_ok(try_rows(&cost, TACIT_F64, &a, &how, &s, &err), &err);
    assert_int_equal(s.step[3], -1024);
    how = (tacit_rows_way){.clip = {TACIT_L2, INFINITY}, .shape = &shape};
    cost.grid = -40;
    check_fails(try_rows(&cost, TACIT_F64, &a, &how, &s, &err), TACIT_EINPUT, &err, "feature 3");
    how.clip.radius = 0;
    check_fails(try_rows(&cost, TACIT_F64, &a, &how, &s, &err), TACIT_EUSAGE, &err, "infinity");
}

static void test_refusals(void **state)
{
    (void)state;
    tacit_error err = {0};
    sums s;
    const agent a = {.rows = 2};
    tacit_cost cost = cost_of(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_RECORD, TACIT_REPLACE, 1);
    tacit_shape other;
    check_ok(tacit_shape_init(&other, &(tacit_segment){"n", TACIT_I64, P + 1}, 1, &err), &err);
    check_fails(try_rows(&cost, TACIT_F64, &a, &(tacit_rows_way){.shape = &other}, &s, &err),
                TACIT_EUSAGE, &err, "5 whole numbers");
    check_ok(tacit_shape_init(&other, &(tacit_segment){"n", TACIT_F64, P}, 1, &err), &err);
    check_fails(try_rows(&cost, TACIT_F64, &a, &(tacit_rows_way){.shape = &other}, &s, &err),
                TACIT_EUSAGE, &err, "5 whole numbers");
    const tacit_rows_way how = {.shape = &shape};
    cost.sampling = 0.5;
    check_fails(try_rows(&cost, TACIT_F64, &a, &how, &s, &err), TACIT_EINPUT, &err, "sampling");
    cost.sampling = 0;
    cost.sensitivity = 0x1p25 * tacit_cost_step(&cost);
    check_fails(try_rows(&cost, TACIT_F64, &a, &how, &s, &err), TACIT_EUSAGE, &err, "steps long");
    cost = cost_of(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_RECORD, TACIT_REPLACE, 1);
    cost.coordinates = P - 1;
    check_fails(try_rows(&cost, TACIT_F64, &a, &how, &s, &err), TACIT_EUSAGE, &err, "coordinates");
}

/* What comes out can be a share of a sum. The noise is 1e5 steps: six standard deviations. */
static void test_it_is_concealed(void **state)
{
    (void)state;
    tacit_error err = {0};
    const agent a = {.x = {{0.3, -3, 0, 1e6, 0}}, .rows = 1};
    const tacit_cost cost =
        cost_of(TACIT_MECHANISM_GAUSSIAN, TACIT_UNIT_RECORD, TACIT_REPLACE, 0.01);
    tacit_permit permit = {.cost = cost, .state = TACIT_PERMIT_RESERVED};
    tacit_bounded *bounded;
    tacit_scratch *scratch = tacit_scratch_create();
    tacit_model *model = model_of(TACIT_F64);
    tacit_dataset *data = data_of(&a, TACIT_F64);
    const tacit_rows_way how = {.centre = centre, .shape = &shape};
    check_ok(tacit_model_rows(model, &permit, tacit_dataset_shard(data, 0, TACIT_TRAIN), &how,
                              scratch, &bounded, &err),
             &err);
    int64_t number[P];
    const tacit_noise_source source = {.random = &charged_random, .agent = 3};
    check_ok(tacit_mechanism_conceal(&permit, bounded, 1, &source, number, P, &err), &err);
    for (int k = 0; k < P; k++) {
        const double value = (double)number[k] * tacit_cost_step(&cost);
        assert_true(fabs(value - (a.x[0][k] - centre[k])) < 0.06);
        assert_true(value != 0);
    }
    tacit_dataset_free(data);
    tacit_model_free(model);
    tacit_scratch_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_unit_moves_what_was_paid_for),
        cmocka_unit_test(test_a_twin_that_trusts_floats_is_caught),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_bare),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_it_is_concealed),
    };
    return cmocka_run_group_tests(tests, setup, charged_teardown);
}
