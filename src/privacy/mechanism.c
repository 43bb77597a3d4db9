/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From bounded to public.
 *
 *   none       nothing is added; the ledger has already written down epsilon = infinity.
 *   laplace    steps + discrete Laplace       (both on integers, drawn exactly: noise.h)
 *   gaussian   steps + discrete Gaussian
 *   response   the truth with probability e^eps / (e^eps + k - 1), else one of the others
 *
 * Invariants:
 *  1. What comes out is a function of the sum of integers `steps + noise` and of public numbers.
 *  2. Noise is a function of (random, agent, release id, coordinate): a permit's id is never
 *     given twice, so no noise is used twice; keys of the system are refused in a forked child.
 *  3. No error and no length depends on the data: steps are below 2^61 by construction, and a
 *     noise beyond 2^61 (which would fail) is drawn without looking at them.
 *  4. Secret integers and noise are wiped before the public vector is handed out.
 */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/threads.h"
#include "privacy/release.h"

#define PIECE 4096     /* coordinates, at least */
#define PIECES_LOG2 12 /* of a release, at most */
#define FAR (INT64_C(1) << 61)

/* ---- making bounded values ---- */

static tacit_status open_bounded(tacit_bounded **out, tacit_permit *permit,
                                 const tacit_shape *shape, tacit_scratch *scratch, tacit_error *err)
{
    if (permit->state != TACIT_PERMIT_RESERVED)
        return tacit_fail(err, TACIT_EUSAGE, "a permit is good for one release, \"%s\" was used",
                          permit->cost.what);
    tacit_bounded *bounded = tacit_scratch_alloc(scratch, sizeof *bounded);
    tacit_vector *value = tacit_scratch_vector(scratch, shape, TACIT_VECTOR_SECRET);
    if (!bounded || !value)
        return tacit_out_of_memory(err);
    memset(value->data, 0, shape->bytes);
    *bounded = (tacit_bounded){.value = value, .permit = permit, .factor = 1};
    *out = bounded;
    return TACIT_OK;
}

tacit_status tacit_bounded_create(tacit_bounded **out, tacit_permit *permit, tacit_norm norm,
                                  double sensitivity, const tacit_shape *shape,
                                  tacit_scratch *scratch, tacit_error *err)
{
    if (permit->cost.mechanism != TACIT_MECHANISM_NONE)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"%s\" has no bound that mechanism \"%s\" could cover with noise",
                          permit->cost.what, tacit_mechanism_name(permit->cost.mechanism));
    tacit_status status = open_bounded(out, permit, shape, scratch, err);
    if (status != TACIT_OK)
        return status;
    permit->state = TACIT_PERMIT_TOUCHED;
    (*out)->norm = norm;
    (*out)->sensitivity = sensitivity;
    return TACIT_OK;
}

tacit_status tacit_bounded_on_grid(tacit_bounded **out, tacit_permit *permit,
                                   const tacit_shape *shape, tacit_scratch *scratch,
                                   tacit_error *err)
{
    size_t count = 0;
    for (uint32_t s = 0; s < shape->segments; s++)
        count += shape->segment[s].count;
    if (permit->cost.mechanism == TACIT_MECHANISM_NONE || count > permit->cost.coordinates)
        return tacit_fail(err, TACIT_EUSAGE,
                          "the cost of \"%s\" was planned for %llu coordinates with noise, not %zu",
                          permit->cost.what, (unsigned long long)permit->cost.coordinates, count);
    tacit_status status = open_bounded(out, permit, shape, scratch, err);
    if (status != TACIT_OK)
        return status;
    tacit_bounded *b = *out;
    b->coordinates = count;
    b->steps = tacit_scratch_alloc(scratch, count * sizeof *b->steps);
    b->noise = tacit_scratch_alloc(scratch, count * sizeof *b->noise);
    if (!b->steps || !b->noise)
        return tacit_out_of_memory(err);
    memset(b->steps, 0, count * sizeof *b->steps);
    b->norm = permit->cost.norm;
    b->sensitivity = permit->cost.sensitivity;
    permit->state = TACIT_PERMIT_TOUCHED;
    return TACIT_OK;
}

/* ---- checks ---- */

static tacit_status check(const tacit_permit *permit, const tacit_bounded *bounded,
                          const tacit_noise_source *source, tacit_error *err)
{
    if (permit->state != TACIT_PERMIT_TOUCHED || bounded->permit != permit)
        return tacit_fail(err, TACIT_EUSAGE, "\"%s\" was not computed under this permit",
                          permit->cost.what);
    if (permit->cost.mechanism == TACIT_MECHANISM_NONE)
        return TACIT_OK;
    if (bounded->norm != permit->cost.norm || !(bounded->sensitivity <= permit->cost.sensitivity))
        return tacit_fail(err, TACIT_EBUDGET,
                          "\"%s\" has sensitivity %g, more than the %g that was paid for",
                          permit->cost.what, bounded->sensitivity, permit->cost.sensitivity);
    if (!source || !source->random || permit->id >= UINT64_C(1) << (40 - PIECES_LOG2))
        return tacit_fail(err, TACIT_EINTERNAL, "there is no noise for release %llu of \"%s\"",
                          (unsigned long long)permit->id, permit->cost.what);
    if (!tacit_random_is_own(source->random))
        return tacit_fail(err, TACIT_EINTERNAL,
                          "this process was forked from the one that drew the keys of its noise; "
                          "nothing was released, draw keys of its own");
    return TACIT_OK;
}

/* ---- noise ---- */

typedef struct drawing {
    const tacit_permit *permit;
    const tacit_noise_source *source;
    int64_t *out;
    size_t count, piece; /* coordinates in all, and of one piece */
} drawing;

static void open_stream(tacit_stream *stream, const drawing *d, size_t piece)
{
    tacit_stream_open(stream, d->source->random, d->source->agent, TACIT_FOR_NOISE,
                      d->permit->id << PIECES_LOG2 | piece);
}

static void draw_pieces(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    (void)worker;
    const drawing *d = ctx;
    tacit_stream stream;
    for (size_t k = begin; k < end; k++) {
        size_t at = k * d->piece;
        size_t count = d->count - at < d->piece ? d->count - at : d->piece;
        open_stream(&stream, d, k);
        tacit_noise_draw(d->permit->noise, &stream, count, d->out + at);
    }
    tacit_stream_clear(&stream);
}

static tacit_status draw_noise(const drawing *d, tacit_error *err)
{
    size_t pieces = (d->count + d->piece - 1) / d->piece;
    if (d->source->threads && pieces > 1)
        tacit_threads_run(d->source->threads, pieces, 1, draw_pieces, (void *)(uintptr_t)d);
    else
        draw_pieces((void *)(uintptr_t)d, 0, 0, pieces);
    uint64_t far = 0;
    for (size_t k = 0; k < d->count; k++)
        far |= (uint64_t)(d->out[k] >= FAR || d->out[k] <= -FAR);
    return far ? tacit_fail(err, TACIT_EINTERNAL, "the noise left the grid; nothing was released")
               : TACIT_OK;
}

/* The probability of the truth is rounded down, so that epsilon is no larger than claimed. */
static void respond(const drawing *d, int64_t *choice)
{
    const tacit_cost *cost = &d->permit->cost;
    const double others = cost->categories - 1.0;
    tacit_stream stream;
    open_stream(&stream, d, 0);
    const double truth = 1 / (1 + others * exp(-cost->noise));
    bool lie = !tacit_bernoulli(&stream, tacit_ratio_below(truth * (1 - 0x1p-48)));
    int64_t other = (int64_t)tacit_stream_below(&stream, cost->categories - 1);
    *choice = lie ? other + (other >= *choice) : *choice;
    tacit_stream_clear(&stream);
}

/* ---- release ---- */

static void put(tacit_bounded *b, double step)
{
    const tacit_shape *shape = b->value->shape;
    size_t at = 0;
    for (uint32_t s = 0; s < shape->segments; s++)
        for (size_t k = 0; k < shape->segment[s].count; k++, at++)
            if (shape->segment[s].scalar == TACIT_I64)
                ((int64_t *)tacit_vector_segment(b->value, s))[k] = b->steps[at];
            else
                tacit_vector_set(b->value, s, k,
                                 (double)b->steps[at] * step * b->factor + b->offset);
}

static tacit_status add_noise(const tacit_permit *permit, tacit_bounded *b,
                              const tacit_noise_source *source, tacit_error *err)
{
    size_t least = (b->coordinates + (1 << PIECES_LOG2) - 1) >> PIECES_LOG2;
    const drawing d = {permit, source, b->noise, b->coordinates, least > PIECE ? least : PIECE};
    tacit_status status = TACIT_OK;
    if (permit->cost.mechanism == TACIT_MECHANISM_RESPONSE) {
        respond(&d, b->steps);
    } else {
        status = draw_noise(&d, err);
        for (size_t k = 0; k < b->coordinates && status == TACIT_OK; k++)
            b->steps[k] += b->noise[k];
    }
    if (status == TACIT_OK)
        put(b, ldexp(1, permit->cost.grid));
    sodium_memzero(b->steps, b->coordinates * sizeof *b->steps);
    sodium_memzero(b->noise, b->coordinates * sizeof *b->noise);
    return status;
}

tacit_status tacit_mechanism_apply(tacit_permit *permit, tacit_bounded *bounded,
                                   const tacit_noise_source *source, tacit_public **out,
                                   tacit_error *err)
{
    tacit_status status = check(permit, bounded, source, err);
    if (status != TACIT_OK)
        return status;
    permit->state = TACIT_PERMIT_SPENT;
    if (permit->cost.mechanism != TACIT_MECHANISM_NONE)
        status = add_noise(permit, bounded, source, err);
    tacit_vector *value = bounded->value;
    bounded->value = NULL;
    if (status != TACIT_OK)
        return status;
    value->flags &= ~(uint32_t)TACIT_VECTOR_SECRET;
    *out = tacit_vector_public(value);
    return TACIT_OK;
}
