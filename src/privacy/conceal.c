/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that become public only as part of a sum that masks hide (tacit/masks.h): whole numbers,
 * with this member's share of the sum's noise in them, secret still.
 *
 * The cost says how much noise the sum has: sigma. Each of `parts` members draws sigma/sqrt(parts),
 * rounded up, so the honest ones of any set that has `parts` of them bring all of it. A sum of
 * discrete Gaussians is not quite one (tacit_noise_sum_tau), but shares of TACIT_SHARE_LEAST steps
 * and more are so within 1e-17000, less than what plan.c adds to delta for each coordinate anyway.
 * So the sum is accounted for as one release of the cost; if fewer than `parts` honest shares are
 * in it, as one of tacit_cost_of_shares.
 */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "privacy/release.h"

#define FAR (UINT64_C(1) << 61)

static tacit_status check(const tacit_permit *permit, const tacit_bounded *b, size_t count,
                          tacit_error *err)
{
    const tacit_cost *cost = &permit->cost;
    if (permit->state != TACIT_PERMIT_TOUCHED || b->permit != permit || !b->value)
        return tacit_fail(err, TACIT_EUSAGE, "\"%s\" was not computed under this permit",
                          cost->what);
    const tacit_shape *shape = b->value->shape;
    if (shape->segments != 1 || shape->segment[0].scalar != TACIT_I64 ||
        shape->segment[0].count != count)
        return tacit_fail(err, TACIT_EUSAGE, "\"%s\" is not %zu whole numbers", cost->what, count);
    if (cost->mechanism == TACIT_MECHANISM_NONE)
        return TACIT_OK;
    if (cost->mechanism != TACIT_MECHANISM_GAUSSIAN || cost->claimed || b->coordinates != count ||
        b->norm != cost->norm || !(b->sensitivity <= cost->sensitivity))
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"%s\" cannot be part of a sum with noise: that takes "
                          "\"privacy.mechanism: gaussian\" and a bound that was paid for",
                          cost->what);
    return TACIT_OK;
}

/* ---- shares ---- */

void tacit_share_law_clear(tacit_share_law *law)
{
    tacit_noise_free(law->noise);
    *law = (tacit_share_law){0};
}

static tacit_status prepare(tacit_share_law *law, double variance, tacit_error *err)
{
    if (law->noise && law->variance == variance)
        return TACIT_OK;
    tacit_share_law_clear(law);
    const tacit_status status = tacit_noise_gaussian(&law->noise, tacit_ratio_below(variance), err);
    law->variance = status == TACIT_OK ? variance : 0;
    return status;
}

/* False if the noise left the grid. */
static bool add_draws(const tacit_noise *noise, tacit_stream *stream, int64_t *number, size_t count)
{
    enum { PIECE = 256 };
    int64_t z[PIECE];
    uint64_t far = 0;
    for (size_t at = 0; at < count; at += PIECE) {
        const size_t now = count - at < PIECE ? count - at : PIECE;
        tacit_noise_draw(noise, stream, now, z);
        for (size_t k = 0; k < now; k++) {
            far |= ((uint64_t)z[k] + FAR) >> 62;
            number[at + k] = (int64_t)((uint64_t)number[at + k] + (uint64_t)z[k]);
        }
    }
    sodium_memzero(z, (count < PIECE ? count : PIECE) * sizeof *z);
    return far == 0;
}

/* The share's noise, added to `number`; not a word about what went wrong depends on it. */
static tacit_status add_share(const tacit_permit *permit, uint32_t parts,
                              const tacit_noise_source *source, int64_t *number, size_t count,
                              tacit_error *err)
{
    const double sigma = permit->cost.noise / tacit_cost_step(&permit->cost);
    const double variance = sigma * sigma / parts * (1 + 0x1p-40);
    if (!source || !source->random || !tacit_random_is_own(source->random))
        return tacit_fail(err, TACIT_EINTERNAL, "there is no noise for \"%s\"", permit->cost.what);
    if (!(variance >= TACIT_SHARE_LEAST * TACIT_SHARE_LEAST))
        return tacit_fail(err, TACIT_EINPUT,
                          "a share of the noise of \"%s\" is %.3g steps, too coarse to add up; "
                          "raise \"protocol.fraction\"",
                          permit->cost.what, sqrt(variance));
    tacit_share_law once = {0}, *law = permit->share ? permit->share : &once;
    tacit_status status = prepare(law, variance, err);
    if (status != TACIT_OK)
        return status;
    bool inside = false;
    tacit_draws draws;
    status = tacit_release_draws(&draws, permit, source, err);
    if (status == TACIT_OK) {
        tacit_stream stream;
        tacit_draws_stream(&stream, &draws, 0);
        inside = add_draws(law->noise, &stream, number, count);
        tacit_stream_clear(&stream);
        tacit_draws_clear(&draws);
    }
    tacit_share_law_clear(&once);
    if (status != TACIT_OK)
        return status;
    return inside ? TACIT_OK
                  : tacit_fail(err, TACIT_EINTERNAL, "the noise left the grid; nothing was told");
}

tacit_status tacit_mechanism_conceal(tacit_permit *permit, tacit_bounded *bounded, uint32_t parts,
                                     const tacit_noise_source *source, int64_t *number,
                                     size_t count, tacit_error *err)
{
    tacit_status status = check(permit, bounded, count, err);
    if (status == TACIT_OK && parts == 0)
        status = tacit_fail(err, TACIT_EUSAGE, "a sum of no members has no noise");
    if (status != TACIT_OK)
        return status;
    permit->state = TACIT_PERMIT_SPENT;
    const bool bare = permit->cost.mechanism == TACIT_MECHANISM_NONE;
    memcpy(number, bare ? tacit_vector_segment(bounded->value, 0) : (void *)bounded->steps,
           count * sizeof *number);
    if (!bare) {
        sodium_memzero(bounded->steps, count * sizeof *bounded->steps);
        status = add_share(permit, parts, source, number, count, err);
    }
    bounded->value = NULL;
    if (status != TACIT_OK)
        sodium_memzero(number, count * sizeof *number);
    return status;
}
