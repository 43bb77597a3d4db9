/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that many add up before anything is released: the two halves of a release, taken apart.
 *
 *   give   one agent's bounded value is added to a sum of integers; permit and value are spent
 *   sum    the noise of one release is added to that sum, and it becomes public
 *
 * Between the two the sum is as secret as its parts. Who holds it decides the trust model: in the
 * simulator an ideal function, among real peers nobody (masks that cancel).
 *
 * A sum of integers has no order. Values of mechanism `none` are brought to steps of 2^-30 for
 * the same reason: the result is the same whoever came first.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>

#include "privacy/release.h"

#define BARE_GRID (-30)
#define FAR (INT64_C(1) << 61)

static tacit_status check(const tacit_permit *permit, const tacit_bounded *bounded, size_t count,
                          tacit_error *err)
{
    const tacit_cost *cost = &permit->cost;
    if (permit->state != TACIT_PERMIT_TOUCHED || bounded->permit != permit || !bounded->value)
        return tacit_fail(err, TACIT_EUSAGE, "\"%s\" was not computed under this permit",
                          cost->what);
    if (cost->mechanism == TACIT_MECHANISM_NONE)
        return TACIT_OK;
    if (cost->claimed || cost->mechanism == TACIT_MECHANISM_RESPONSE)
        return tacit_fail(err, TACIT_EUSAGE, "\"%s\" cannot be added up: nothing bounds its parts",
                          cost->what);
    if (bounded->norm != cost->norm || !(bounded->sensitivity <= cost->sensitivity))
        return tacit_fail(err, TACIT_EBUDGET,
                          "\"%s\" has sensitivity %g, more than the %g that was paid for",
                          cost->what, bounded->sensitivity, cost->sensitivity);
    if (bounded->coordinates != count || bounded->factor != 1 || bounded->offset != 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"%s\" is not a plain sum over records; spread it first", cost->what);
    return TACIT_OK;
}

tacit_status tacit_gift_most(const tacit_cost *cost, size_t records, uint64_t *most,
                             tacit_error *err)
{
    const uint64_t parts = cost->unit == TACIT_UNIT_USER || records == 0 ? 1 : records;
    *most = 1;
    if (cost->mechanism != TACIT_MECHANISM_NONE &&
        (__builtin_mul_overflow((uint64_t)tacit_cost_limit(cost), parts, most) ||
         __builtin_add_overflow(*most, UINT64_C(1), most) || *most > (uint64_t)FAR))
        return tacit_fail(err, TACIT_EINPUT, "\"%s\" of %zu records does not fit the grid",
                          cost->what, records);
    return TACIT_OK;
}

/* Nothing is private here, so an error may depend on the value. */
static tacit_status add_bare(tacit_vector *value, int64_t *sum, const tacit_cost *cost,
                             tacit_error *err)
{
    size_t at = 0;
    for (uint32_t s = 0; s < value->shape->segments; s++)
        for (size_t k = 0; k < value->shape->segment[s].count; k++, at++) {
            const double steps = ldexp(tacit_vector_get(value, s, k), -BARE_GRID);
            if (!(fabs(steps) < (double)FAR) ||
                __builtin_add_overflow(sum[at], (int64_t)nearbyint(steps), &sum[at]) ||
                llabs(sum[at]) >= FAR)
                return tacit_fail(err, TACIT_EINPUT,
                                  "\"%s\" is too large to be added up; set \"privacy.clip\", or "
                                  "bring the records to a common scale",
                                  cost->what);
        }
    return TACIT_OK;
}

tacit_status tacit_mechanism_give(tacit_permit *permit, tacit_bounded *bounded, int64_t *sum,
                                  size_t count, tacit_error *err)
{
    tacit_status status = check(permit, bounded, count, err);
    if (status != TACIT_OK)
        return status;
    permit->state = TACIT_PERMIT_SPENT;
    if (permit->cost.mechanism == TACIT_MECHANISM_NONE) {
        status = add_bare(bounded->value, sum, &permit->cost, err);
    } else {
        for (size_t k = 0; k < count; k++)
            sum[k] = (int64_t)((uint64_t)sum[k] + (uint64_t)bounded->steps[k]);
        sodium_memzero(bounded->steps, count * sizeof *bounded->steps);
    }
    bounded->value = NULL;
    return status;
}

tacit_status tacit_mechanism_sum(const tacit_sum *sum, const tacit_noise_source *source,
                                 tacit_scratch *scratch, tacit_public **out, tacit_error *err)
{
    tacit_permit permit = {
        .cost = *sum->cost, .state = TACIT_PERMIT_TOUCHED, .id = sum->number, .noise = sum->noise};
    tacit_bounded whole = {.value = tacit_scratch_vector(scratch, sum->shape, TACIT_VECTOR_SECRET),
                           .permit = &permit,
                           .norm = sum->cost->norm,
                           .sensitivity = sum->cost->sensitivity,
                           .steps = sum->steps,
                           .coordinates = sum->count,
                           .factor = 1};
    if (!whole.value)
        return tacit_out_of_memory(err);
    size_t at = 0;
    for (uint32_t s = 0; s < sum->shape->segments; s++)
        for (size_t k = 0; k < sum->shape->segment[s].count; k++, at++)
            tacit_vector_set(whole.value, s, k, ldexp((double)sum->steps[at], BARE_GRID));
    return tacit_mechanism_apply(&permit, &whole, source, out, err);
}
