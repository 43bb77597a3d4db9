/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values with a bound: how far they can move is enforced here, on integers.
 *
 * A part (a record's vector, or a whole one) is brought to the grid by rounding towards zero,
 * which makes no norm larger; but what was to be rounded came from floating point, so the norm is
 * taken again, exactly, of the integers, and a part that is still too long is shrunk. NaN and
 * infinities end as some vector within the bound: what a broken record does is limited too.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "math/kernels.h"
#include "privacy/release.h"

static const tacit_shape one_real = {
    .segments = 1, .bytes = 8, .segment = {{"value", TACIT_F64, 1}}, .offset = {0}};
static const tacit_shape one_count = {
    .segments = 1, .bytes = 8, .segment = {{"count", TACIT_I64, 1}}, .offset = {0}};

double tacit_cost_step(const tacit_cost *cost)
{
    return ldexp(1, cost->grid);
}

int32_t tacit_cost_limit(const tacit_cost *cost)
{
    double steps = cost->sensitivity / tacit_cost_step(cost);
    if (cost->claimed)
        steps *= TACIT_CLAIM_ROOM;
    return (int32_t)(cost->adjacency == TACIT_REPLACE ? steps / 2 : steps);
}

tacit_clip tacit_cost_clip(const tacit_cost *cost)
{
    return (tacit_clip){cost->norm, tacit_cost_limit(cost) * tacit_cost_step(cost)};
}

/* ---- lots ---- */

void tacit_permit_draw_from(tacit_permit *permit, const tacit_random *random, tacit_agent agent)
{
    permit->random = random;
    permit->agent = agent;
}

#define LOT_MOST (UINT64_C(1) << 28) /* words in a stream */

void tacit_lot_close(tacit_lot *lot)
{
    sodium_memzero(lot, sizeof *lot);
}

tacit_status tacit_permit_stream(tacit_stream *stream, const tacit_permit *permit, tacit_error *err)
{
    tacit_draws draws;
    const tacit_status status =
        tacit_draws_open(&draws, permit->random, permit->agent, TACIT_FOR_LOTS, permit->id, err);
    if (status == TACIT_OK)
        tacit_draws_stream(stream, &draws, 0);
    tacit_draws_clear(&draws);
    return status;
}

tacit_status tacit_lot_open(tacit_lot *lot, const tacit_permit *permit, size_t records,
                            tacit_error *err)
{
    const double q = permit->cost.sampling;
    lot->below = q > 0 && q < 1 ? (uint64_t)(q * 0x1p32) : UINT64_C(1) << 32;
    if (lot->below >> 32)
        return TACIT_OK;
    if ((double)lot->below != q * 0x1p32 || lot->below == 0)
        return tacit_fail(err, TACIT_EUSAGE, "sampling %.17g is not a multiple of 2^-32", q);
    if (records >= LOT_MOST)
        return tacit_fail(err, TACIT_EINPUT, "lots of %zu records are more than can be drawn",
                          records);
    if (!permit->random || !tacit_random_is_own(permit->random))
        return tacit_fail(err, TACIT_EINTERNAL, "there is nothing to draw the lot of \"%s\" from",
                          permit->cost.what);
    return tacit_permit_stream(&lot->stream, permit, err);
}

/* ---- the norm of integers ---- */

/* Exact unless it exceeds 2^62, and then it says something as large. */
static uint64_t norm_of(tacit_norm norm, size_t count, const int32_t *row)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < count && sum < UINT64_C(1) << 62; k++) {
        uint64_t size = (uint64_t)llabs((long long)row[k]);
        sum += norm == TACIT_L1 ? size : size * size;
    }
    return sum;
}

void tacit_grid_shrink(tacit_norm norm, int32_t limit, size_t count, int32_t *row)
{
    const uint64_t most = norm == TACIT_L1 ? (uint64_t)limit : (uint64_t)limit * (uint64_t)limit;
    for (int tries = 0; tries < 8; tries++) {
        uint64_t sum = norm_of(norm, count, row);
        if (sum <= most)
            return;
        double length = norm == TACIT_L1 ? (double)sum : sqrt((double)sum);
        double factor = (double)limit / length * (1 - 0x1p-20);
        for (size_t k = 0; k < count; k++)
            row[k] = (int32_t)(factor * row[k]);
    }
    memset(row, 0, count * sizeof *row);
}

/* One number to the grid: towards zero, no further than `limit`; NaN is zero. */
static int32_t to_grid(double value, double step, int32_t limit)
{
    double steps = value / step;
    if (isnan(steps))
        return 0;
    return steps >= limit ? limit : steps <= -limit ? -limit : (int32_t)steps;
}

/* ---- kernels ---- */

/* About the norm; what is exact is taken of integers. */
static double length_of(tacit_norm norm, tacit_vector *v)
{
    double sum = 0;
    for (uint32_t s = 0; s < v->shape->segments; s++) {
        const tacit_segment *segment = &v->shape->segment[s];
        double length;
        tacit_kernels_for(segment->scalar)
            ->lengths(1, segment->count, norm == TACIT_L1, tacit_vector_segment(v, s), &length);
        sum += norm == TACIT_L1 ? length : length * length;
    }
    return norm == TACIT_L1 ? sum : sqrt(sum);
}

/* A whole value takes part always, and where one record is put in or left out it may move from
 * one end to the other: a cost that was planned for less does not cover it. */
static tacit_status check_whole(const tacit_cost *cost, tacit_error *err)
{
    if (cost->sampling > 0 && cost->sampling < 1)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"%s\" is released whole, its cost was planned for a sample",
                          cost->what);
    if (cost->unit == TACIT_UNIT_RECORD && cost->adjacency == TACIT_ADD_REMOVE)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"%s\" is released whole, and one record more or less may change it by "
                          "twice what was paid for; plan it for \"replace\"",
                          cost->what);
    return TACIT_OK;
}

static tacit_status check_reals(const tacit_permit *permit, const tacit_shape *shape,
                                tacit_error *err)
{
    for (uint32_t s = 0; s < shape->segments; s++)
        if (shape->segment[s].scalar == TACIT_I64)
            return tacit_fail(err, TACIT_EUSAGE, "\"%s\" has integers, which are not clipped",
                              permit->cost.what);
    return TACIT_OK;
}

tacit_status tacit_bound_vector(tacit_permit *permit, const tacit_secret *vector,
                                tacit_scratch *scratch, tacit_bounded **out, tacit_error *err)
{
    const tacit_cost *cost = &permit->cost;
    tacit_vector *from = tacit_vector_of_secret(vector);
    tacit_status status = check_whole(cost, err);
    if (status == TACIT_OK)
        status = check_reals(permit, from->shape, err);
    if (status == TACIT_OK)
        status = tacit_bounded_on_grid(out, permit, from->shape, scratch, err);
    if (status != TACIT_OK)
        return status;
    const size_t count = (*out)->coordinates;
    int32_t *row = tacit_scratch_alloc(scratch, count * sizeof *row);
    if (!row)
        return tacit_out_of_memory(err);
    const int32_t limit = tacit_cost_limit(cost);
    const bool l1 = cost->norm == TACIT_L1;
    const double radius = TACIT_GRID_AIM * limit;
    const double size = length_of(cost->norm, from) / tacit_cost_step(cost);
    const double a = (size <= radius ? 1 : radius / size) / tacit_cost_step(cost);
    memset(row, 0, count * sizeof *row);
    for (size_t s = 0, at = 0; s < from->shape->segments; at += from->shape->segment[s++].count)
        tacit_kernels_for(from->shape->segment[s].scalar)
            ->to_grid(from->shape->segment[s].count, isfinite(a) ? a : 0, limit, l1,
                      tacit_vector_segment(from, (uint32_t)s), row + at);
    tacit_grid_shrink(cost->norm, limit, count, row);
    for (size_t k = 0; k < count; k++)
        (*out)->steps[k] = row[k];
    sodium_memzero(row, count * sizeof *row);
    return TACIT_OK;
}

tacit_status tacit_bound_number(tacit_permit *permit, tacit_private_metric value, double least,
                                double most, tacit_scratch *scratch, tacit_bounded **out,
                                tacit_error *err)
{
    const tacit_clip clip = tacit_cost_clip(&permit->cost);
    if (!(least < most) || !(clip.radius <= (most - least) / 2))
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"%s\" was planned for a radius of %g, which is more than half of the "
                          "range from %g to %g",
                          permit->cost.what, clip.radius, least, most);
    tacit_status status = check_whole(&permit->cost, err);
    if (status == TACIT_OK)
        status = tacit_bounded_on_grid(out, permit, &one_real, scratch, err);
    if (status != TACIT_OK)
        return status;
    (*out)->offset = least + (most - least) / 2;
    (*out)->steps[0] = to_grid(value.owner_only - (*out)->offset, tacit_cost_step(&permit->cost),
                               tacit_cost_limit(&permit->cost));
    return TACIT_OK;
}

#define MOST_COUNTED 9007199254740992.0 /* 2^53 */

tacit_status tacit_bound_count(tacit_permit *permit, tacit_private_metric count,
                               tacit_scratch *scratch, tacit_bounded **out, tacit_error *err)
{
    const tacit_cost *cost = &permit->cost;
    if (cost->grid != 0 || cost->sensitivity != 1 || cost->unit != TACIT_UNIT_RECORD ||
        (cost->sampling > 0 && cost->sampling < 1))
        return tacit_fail(err, TACIT_EUSAGE, "the cost of \"%s\" was not planned for a count",
                          permit->cost.what);
    tacit_status status = tacit_bounded_on_grid(out, permit, &one_count, scratch, err);
    if (status != TACIT_OK)
        return status;
    double steps = count.owner_only;
    (*out)->steps[0] = steps >= MOST_COUNTED ? (int64_t)MOST_COUNTED
                       : steps > 0           ? (int64_t)steps
                                             : 0;
    return TACIT_OK;
}

tacit_status tacit_bound_choice(tacit_permit *permit, tacit_private_metric choice,
                                tacit_scratch *scratch, tacit_bounded **out, tacit_error *err)
{
    if (permit->cost.mechanism != TACIT_MECHANISM_RESPONSE)
        return tacit_fail(err, TACIT_EUSAGE,
                          "a choice is released by randomized response, not by "
                          "mechanism \"%s\"",
                          tacit_mechanism_name(permit->cost.mechanism));
    tacit_status status = tacit_bounded_on_grid(out, permit, &one_count, scratch, err);
    if (status != TACIT_OK)
        return status;
    double most = permit->cost.categories - 1.0, c = choice.owner_only;
    (*out)->steps[0] = c >= most ? (int64_t)most : c > 0 ? (int64_t)c : 0;
    return TACIT_OK;
}
