/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over records that are worth publishing once (docs/protocols/one-shot.md):
 *
 *     logistic   sum_r y_r x_r                              y_r = +-1, |x_r| <= R
 *     squared    sum_r y_r x_r  and  sum_r x_r x_r^T        |y_r| <= Y, |x_r| <= R
 *
 * All of it is sums of integers. Logistic: y x is cut to the cost's limit on its grid, as
 * gradients are. Squared: x becomes integers a with |a| <= A, y an integer b with b^2 <= 2 A^2, and
 * the products a_c b, a_c a_d (c <= d) are exact.
 *
 * Theorem. One record replaced, (a, b) by (a', b'), moves that vector by at most 2 sqrt(2) A^2.
 * Proof. Let k = a . a', so |k| <= A^2. Of the products a_c a_d all p^2 change by
 *     |a a^T - a' a'^T|_F^2 = |a|^4 + |a'|^4 - 2 k^2 <= 2 A^4 - 2 k^2,
 * those with c <= d by no more. And |a b - a' b'|^2 = b^2 |a|^2 + b'^2 |a'|^2 - 2 b b' k
 * <= 4 A^4 + 4 A^2 |k|. The sum, 6 A^4 + 4 A^2 |k| - 2 k^2, grows with |k| up to A^2, where it
 * is 8 A^4. []
 *
 * The sum of y x alone can move by 2 sqrt(2) A^2, too: in these units the second block is free.
 * That is why y counts in units in which Y is sqrt(2) A, and why the unit is no option: more weight
 * on y x makes nothing better, less makes it worse by more than the other block gains.
 *
 * Invariants:
 *  1. A is the largest number with 8 A^4 at most the square of the cost's sensitivity in steps.
 *  2. No error depends on records: NaN is zero, what is too large is cut.
 */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "model/linear.h"
#include "privacy/release.h"

#define MOST_FEATURES 8000 /* of the squared loss: 32 million products */
#define MOST_RECORDS ((size_t)1 << 34)

void tacit_statistics_shape_init(tacit_model *model)
{
    const size_t p = model->features;
    tacit_error ignored;
    tacit_segment sums = {"statistics", model->shape.segment[0].scalar, p};
    if (model->loss == TACIT_SQUARED)
        sums.count = p <= MOST_FEATURES ? p + p * (p + 1) / 2 : 0;
    if (model->loss == TACIT_SOFTMAX)
        sums.count = 0;
    if (sums.count == 0 || tacit_shape_init(&model->statistics, &sums, 1, &ignored) != TACIT_OK)
        model->statistics = (tacit_shape){0};
}

const tacit_shape *tacit_model_statistics_shape(const tacit_model *model)
{
    return model->statistics.segments > 0 ? &model->statistics : NULL;
}

double tacit_model_statistics_unit(double radius, double most)
{
    return sqrt(2) * radius / most;
}

/* ---- plan ---- */

static tacit_status check_how(const tacit_model *model, const tacit_cost *cost, tacit_error *err)
{
    tacit_status status = tacit_refuse_softmax(model, "one vector of statistics", err);
    if (status != TACIT_OK)
        return status;
    if (model->statistics.segments == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "statistics of the squared loss have a number for each pair of features: "
                          "%zu features are too many, %d can be published",
                          model->features, MOST_FEATURES);
    if (cost->mechanism == TACIT_MECHANISM_NONE)
        return TACIT_OK;
    if (cost->mechanism == TACIT_MECHANISM_LAPLACE && model->loss == TACIT_SQUARED)
        return tacit_fail(err, TACIT_EINPUT,
                          "statistics of the squared loss are bounded in l2 and published with "
                          "\"privacy.mechanism: gaussian\"");
    if (cost->unit != TACIT_UNIT_RECORD || (cost->sampling > 0 && cost->sampling < 1) ||
        cost->claimed)
        return tacit_fail(
            err, TACIT_EINPUT,
            "\"%s\" are sums over all records: they need \"privacy.unit: record\", no "
            "sampling, and a bound that is kept",
            cost->what);
    return TACIT_OK;
}

static tacit_status check_bounds(double radius, double most, tacit_error *err)
{
    if (radius >= 1e-9 && radius <= 1e9 && most >= 1e-9 && most <= 1e9)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "records are cut to a radius and labels to a size between 1e-9 and 1e9, not "
                      "to %g and %g",
                      radius, most);
}

tacit_status tacit_model_statistics_cost(const tacit_model *model, tacit_cost *cost,
                                         const tacit_privacy_options *options, double epsilon,
                                         double radius, double most, tacit_error *err)
{
    tacit_privacy_options o = *options;
    const tacit_cost wish = {.mechanism = (tacit_mechanism)o.mechanism,
                             .unit = (tacit_unit)o.unit,
                             .sampling = o.sampling,
                             .claimed = o.claimed,
                             .what = "statistics"};
    const bool laplace = o.mechanism == TACIT_MECHANISM_LAPLACE;
    o.epsilon = epsilon;
    o.releases = 1;
    o.clip = model->loss == TACIT_SQUARED ? radius * most
             : laplace                    ? radius * sqrt((double)model->features)
                                          : radius;
    tacit_status status = check_bounds(radius, most, err);
    if (status == TACIT_OK)
        status = check_how(model, &wish, err);
    /* A product of a record that comes or goes moves by as much as one that is replaced. */
    if (status == TACIT_OK && model->loss == TACIT_SQUARED && o.adjacency != TACIT_REPLACE &&
        o.mechanism != TACIT_MECHANISM_NONE)
        status = tacit_fail(err, TACIT_EINPUT,
                            "statistics of the squared loss are planned for \"privacy.adjacency: "
                            "replace\"");
    if (status != TACIT_OK)
        return status;
    return tacit_cost_plan(cost, &o, model->statistics.segment[0].count, wish.what, err);
}

/* A of the theorem. */
static int32_t squared_limit(const tacit_cost *cost)
{
    const uint64_t moved = (uint64_t)(cost->sensitivity / tacit_cost_step(cost)); /* <= 2^26 */
    uint64_t a = (uint64_t)sqrt((double)moved / sqrt(8)) + 1;
    while (8 * a * a * a * a > moved * moved)
        a--;
    return (int32_t)a;
}

/* What one step of the sums of y x stands for, in steps of the cost. */
static double squared_factor(const tacit_cost *cost, double radius, double most)
{
    const double a = squared_limit(cost);
    return radius * most / (sqrt(2) * a * a) / tacit_cost_step(cost);
}

double tacit_model_statistics_noise(const tacit_model *model, const tacit_cost *cost, double radius,
                                    double most)
{
    if (cost->mechanism == TACIT_MECHANISM_NONE)
        return 0;
    const double scale = model->loss == TACIT_SQUARED
                             ? cost->noise * squared_factor(cost, radius, most)
                             : cost->noise;
    return cost->mechanism == TACIT_MECHANISM_LAPLACE ? sqrt(2) * scale : scale;
}

/* ---- sums ---- */

typedef struct sums {
    const tacit_model *model;
    tacit_bounded *out;
    const tacit_cost *cost;
    double radius, most;
    int32_t limit; /* of a row of integers */
    double *x;
    int32_t *a;
} sums;

/* To whole numbers, nearest; NaN is zero. */
static int32_t whole(double value, int32_t limit)
{
    const double near = rint(value);
    return near >= limit ? limit : near <= -limit ? -limit : near == near ? (int32_t)near : 0;
}

/* x times `scale`, cut to `limit`, as integers. */
static void to_integers(const sums *s, double scale)
{
    const size_t p = s->model->features;
    double square = 0;
    for (size_t k = 0; k < p; k++)
        square += s->x[k] * s->x[k];
    const double length = sqrt(square) * fabs(scale), aim = TACIT_GRID_AIM * s->limit;
    if (length > aim && isfinite(length))
        scale *= aim / length;
    for (size_t k = 0; k < p; k++)
        s->a[k] = whole(scale * s->x[k], s->limit);
    tacit_grid_shrink(TACIT_L2, s->limit, p, s->a);
}

static void add_logistic(const sums *s, double y)
{
    const size_t p = s->model->features;
    to_integers(s, (y < 0 ? -1 : 1) / tacit_cost_step(s->cost));
    if (s->cost->norm == TACIT_L1)
        tacit_grid_shrink(TACIT_L1, tacit_cost_limit(s->cost), p, s->a);
    for (size_t k = 0; k < p; k++)
        s->out->steps[k] += s->a[k];
}

static void add_squared(const sums *s, double y)
{
    const size_t p = s->model->features;
    const int64_t top = s->limit;
    int64_t b = whole(y / s->most * sqrt(2) * s->limit, 2 * s->limit);
    while (b * b > 2 * top * top) /* sqrt(2) is not exact, and y may be anything */
        b = b > 0 ? (int64_t)(sqrt(2) * s->limit) : -(int64_t)(sqrt(2) * s->limit);
    to_integers(s, s->limit / s->radius);
    int64_t *at = s->out->steps + p;
    for (size_t c = 0; c < p; c++) {
        const int64_t a = s->a[c];
        s->out->steps[c] += a * b;
        for (size_t d = c; d < p; d++)
            *at++ += a * s->a[d];
    }
}

/* Without noise: as they are, uncut. */
static void add_bare(const sums *s, double y)
{
    const size_t p = s->model->features;
    const double unit = tacit_model_statistics_unit(s->radius, s->most);
    tacit_vector *v = s->out->value;
    for (size_t c = 0, at = p; c < p; c++) {
        tacit_vector_set(v, 0, c, tacit_vector_get(v, 0, c) + y * s->x[c]);
        for (size_t d = c; s->model->loss == TACIT_SQUARED && d < p; d++, at++)
            tacit_vector_set(v, 0, at, tacit_vector_get(v, 0, at) + s->x[c] * s->x[d] / unit);
    }
}

static void add_records(const sums *s, const tacit_shard *shard)
{
    const bool bare = s->cost->mechanism == TACIT_MECHANISM_NONE;
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++) {
            double y;
            tacit_row_doubles(&batch, tacit_shard_scalar(shard), s->model->features, r, s->x, &y);
            if (bare)
                add_bare(s, y);
            else if (s->model->loss == TACIT_SQUARED)
                add_squared(s, y);
            else
                add_logistic(s, y);
        }
}

tacit_status tacit_model_statistics(const tacit_model *model, tacit_permit *permit,
                                    const tacit_shard *shard, double radius, double most,
                                    tacit_scratch *scratch, tacit_bounded **out, tacit_error *err)
{
    const tacit_cost *cost = &permit->cost;
    const size_t p = model->features;
    const bool bare = cost->mechanism == TACIT_MECHANISM_NONE;
    const bool squared = model->loss == TACIT_SQUARED;
    tacit_status status = check_bounds(radius, most, err);
    if (status == TACIT_OK)
        status = check_how(model, cost, err);
    if (status == TACIT_OK && tacit_shard_rows(shard) >= MOST_RECORDS)
        status = tacit_fail(err, TACIT_EINPUT, "\"%s\" of %zu records do not fit the grid",
                            cost->what, tacit_shard_rows(shard));
    if (status == TACIT_OK && squared && !bare && cost->adjacency != TACIT_REPLACE)
        status = tacit_fail(err, TACIT_EUSAGE,
                            "the cost of \"%s\" was not planned for it: "
                            "tacit_model_statistics_cost does",
                            cost->what);
    if (status == TACIT_OK)
        status = bare ? tacit_bounded_create(out, permit, TACIT_L2, INFINITY, &model->statistics,
                                             scratch, err)
                      : tacit_bounded_on_grid(out, permit, &model->statistics, scratch, err);
    if (status != TACIT_OK)
        return status;
    sums s = {.model = model,
              .out = *out,
              .cost = cost,
              .radius = radius,
              .most = most,
              .x = tacit_scratch_alloc(scratch, p * sizeof *s.x),
              .a = tacit_scratch_alloc(scratch, p * sizeof *s.a)};
    if (!s.x || !s.a)
        return tacit_out_of_memory(err);
    if (!bare) /* with l1 noise the cost's limit is that of a row's l1 norm */
        s.limit = squared                  ? squared_limit(cost)
                  : cost->norm == TACIT_L1 ? (int32_t)(radius / tacit_cost_step(cost))
                                           : tacit_cost_limit(cost);
    if (!bare && squared)
        (*out)->factor = squared_factor(cost, radius, most);
    add_records(&s, shard);
    sodium_memzero(s.x, p * sizeof *s.x);
    sodium_memzero(s.a, p * sizeof *s.a);
    return TACIT_OK;
}
