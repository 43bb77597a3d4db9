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
 *  2. Noise is a function of (key of the release, agent, id of the permit, coordinate). With keys
 * of a seed the key is the same for all releases, and a ledger never gives an id twice; with keys
 *     of the system every release has a key of its own (tacit_draws), whatever ledgers there are
 *     and however often this memory goes on from here, and a forked child is refused.
 *  3. No error and no length depends on the data: steps are below 2^61 by construction, and a
 *     noise beyond 2^61 (which would fail) is drawn without looking at them.
 *  4. Secret integers and noise are wiped before the public vector is handed out.
 */
#include <math.h>
#include <sodium.h>
#include <stdatomic.h>
#include <string.h>

#include "base/threads.h"
#include "math/kernels.h"
#include "privacy/release.h"

#define PIECE 4096 /* coordinates, at least */
#define PIECES_LOG2 TACIT_PIECES_LOG2
#define FAR (UINT64_C(1) << 61)

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
    if (!b->steps)
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
    if (!source || !source->random)
        return tacit_fail(err, TACIT_EINTERNAL, "there is no noise for \"%s\"", permit->cost.what);
    if (!tacit_random_is_own(source->random))
        return tacit_fail(err, TACIT_EINTERNAL,
                          "this process was forked from the one that drew the keys of its noise; "
                          "nothing was released, draw keys of its own");
    return TACIT_OK;
}

/* ---- noise ---- */

tacit_status tacit_release_draws(tacit_draws *draws, const tacit_permit *permit,
                                 const tacit_noise_source *source, tacit_error *err)
{
    if (permit->id >> (64 - PIECES_LOG2))
        return tacit_fail(err, TACIT_EINTERNAL, "there is no noise left for \"%s\"",
                          permit->cost.what);
    return tacit_draws_open(draws, source->random, source->agent, TACIT_FOR_NOISE,
                            permit->id << PIECES_LOG2, err);
}

typedef struct release {
    const tacit_permit *permit;
    tacit_draws draws; /* a stream for each piece */
    tacit_bounded *bounded;
    size_t piece; /* coordinates of one */
    double step;
    _Atomic bool far;
} release;

/* The probability of the truth is rounded down, so that epsilon is no larger than claimed. */
static void respond(const release *r, int64_t *choice)
{
    const tacit_cost *cost = &r->permit->cost;
    const double others = cost->categories - 1.0;
    tacit_stream stream;
    tacit_draws_stream(&stream, &r->draws, 0);
    const double truth = 1 / (1 + others * exp(-cost->noise));
    bool lie = !tacit_bernoulli(&stream, tacit_ratio_below(truth * (1 - 0x1p-48)));
    int64_t other = (int64_t)tacit_stream_below(&stream, cost->categories - 1);
    *choice = lie ? other + (other >= *choice) : *choice;
    tacit_stream_clear(&stream);
}

/* ---- out ---- */

/* Coordinates at .. at+count of segment `s`, whose first one is `first` among all. */
static void put_part(tacit_bounded *b, double step, uint32_t s, size_t first, size_t at,
                     size_t count)
{
    const int64_t *steps = b->steps + at;
    const double scale = step * b->factor; /* the step is a power of two: no rounding */
    void *to = tacit_vector_segment(b->value, s);
    const tacit_scalar scalar = b->value->shape->segment[s].scalar;
    at -= first;
    if (scalar != TACIT_I64 && b->offset == 0) {
        tacit_kernels_for(scalar)->from_grid(count, scale, steps,
                                             (char *)to + at * tacit_scalar_size(scalar));
        return;
    }
    switch (scalar) {
    case TACIT_F32:
        for (size_t k = 0; k < count; k++)
            ((float *)to)[at + k] = (float)((double)steps[k] * scale + b->offset);
        break;
    case TACIT_F64:
        for (size_t k = 0; k < count; k++)
            ((double *)to)[at + k] = (double)steps[k] * scale + b->offset;
        break;
    default:
        memcpy((int64_t *)to + at, steps, count * sizeof *steps);
    }
}

static void put(tacit_bounded *b, double step, size_t begin, size_t end)
{
    const tacit_shape *shape = b->value->shape;
    size_t first = 0;
    for (uint32_t s = 0; s < shape->segments; first += shape->segment[s++].count) {
        size_t last = first + shape->segment[s].count;
        size_t from = begin > first ? begin : first, to = end < last ? end : last;
        if (from < to)
            put_part(b, step, s, first, from, to - from);
    }
}

/* Draw, add, hand out and wipe, a few thousand coordinates at a time while they are in cache. */
static void release_piece(release *r, size_t piece, int64_t noise[PIECE])
{
    tacit_bounded *b = r->bounded;
    tacit_stream stream;
    size_t at = piece * r->piece;
    size_t end = b->coordinates - at < r->piece ? b->coordinates : at + r->piece;
    uint64_t far = 0;
    tacit_draws_stream(&stream, &r->draws, piece);
    while (at < end) {
        size_t count = end - at < PIECE ? end - at : PIECE;
        tacit_noise_draw(r->permit->noise, &stream, count, noise);
        for (size_t k = 0; k < count; k++) {
            far |= ((uint64_t)noise[k] + FAR) >> 62; /* beyond +-FAR */
            b->steps[at + k] = (int64_t)((uint64_t)b->steps[at + k] + (uint64_t)noise[k]);
        }
        put(b, r->step, at, at + count);
        sodium_memzero(b->steps + at, count * sizeof *b->steps);
        at += count;
    }
    if (far)
        atomic_store(&r->far, true);
    tacit_stream_clear(&stream);
}

static void release_pieces(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    (void)worker;
    int64_t noise[PIECE];
    size_t most = ((release *)ctx)->bounded->coordinates;
    for (size_t k = begin; k < end; k++)
        release_piece(ctx, k, noise);
    sodium_memzero(noise, (most < PIECE ? most : PIECE) * sizeof *noise);
}

static void add_all(release *r, struct tacit_threads *threads)
{
    tacit_bounded *b = r->bounded;
    if (r->permit->cost.mechanism == TACIT_MECHANISM_RESPONSE) {
        respond(r, b->steps);
        put(b, 1, 0, 1);
        return;
    }
    size_t pieces = (b->coordinates + r->piece - 1) / r->piece;
    if (threads && pieces > 1)
        tacit_threads_run(threads, pieces, 1, release_pieces, r);
    else
        release_pieces(r, 0, 0, pieces);
}

static tacit_status add_noise(const tacit_permit *permit, tacit_bounded *b,
                              const tacit_noise_source *source, tacit_error *err)
{
    size_t least = (b->coordinates + (1 << PIECES_LOG2) - 1) >> PIECES_LOG2;
    release r = {.permit = permit,
                 .bounded = b,
                 .piece = least > PIECE ? least : PIECE,
                 .step = ldexp(1, permit->cost.grid)};
    const tacit_status status = tacit_release_draws(&r.draws, permit, source, err);
    if (status != TACIT_OK)
        return status;
    add_all(&r, source->threads);
    tacit_draws_clear(&r.draws);
    if (!atomic_load(&r.far))
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINTERNAL, "the noise left the grid; nothing was released");
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
