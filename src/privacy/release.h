/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_RELEASE_H
#define TACIT_RELEASE_H
/*
 * Inside of permits and bounded values, for the kernels that make them (src/model, bound.c) and
 * the runtimes that hand them out. Protocols see only the opaque types of privacy.h.
 */
#include "base/scratch.h"
#include "tacit/noise.h"
#include "tacit/privacy.h"

typedef enum tacit_permit_state {
    TACIT_PERMIT_RESERVED, /* charged, nothing computed: may be handed back */
    TACIT_PERMIT_TOUCHED,  /* something was computed from data under it */
    TACIT_PERMIT_SPENT     /* released, or handed back */
} tacit_permit_state;

/* What draws a share of noise, prepared for the last share that was asked for: to prepare it takes
 * as long as a thousand draws, and all members of a sum have the same share. Zero at first; not for
 * two threads at once. */
typedef struct tacit_share_law {
    double variance; /* in steps; 0: nothing is prepared */
    tacit_noise *noise;
} tacit_share_law;
void tacit_share_law_clear(tacit_share_law *law);

struct tacit_permit {
    tacit_cost cost;
    tacit_permit_state state;
    uint64_t id;                /* of the release, among the agent's */
    const tacit_noise *noise;   /* NULL for a mechanism that draws none */
    double before;              /* `last` of the ledger's entry before this charge */
    const tacit_random *random; /* for lots */
    tacit_agent agent;
    tacit_share_law *share; /* the runtime's; NULL: prepared for this release alone */
};

struct tacit_bounded {
    tacit_vector *value;        /* what will come out; without noise, already in it */
    const tacit_permit *permit; /* under which it was computed */
    tacit_norm norm;
    double sensitivity; /* in `norm`, for the permit's unit and adjacency */
    /* with noise: */
    int64_t *steps; /* the value in grid steps, secret */
    size_t coordinates;
    double factor, offset; /* both public: out = steps * 2^grid * factor + offset */
};

/* The one door from data to a bounded value: marks the permit as touched, and refuses one
 * that was used before. The value, in scratch memory, is zero and for the caller to fill. */
tacit_status tacit_bounded_create(tacit_bounded **out, tacit_permit *permit, tacit_norm norm,
                                  double sensitivity, const tacit_shape *shape,
                                  tacit_scratch *scratch, tacit_error *err);
/* The same for a cost with noise: `steps` are zero and for the caller to fill with parts of at
 * most tacit_cost_limit steps each in the cost's norm, as the cost's unit asks, so that the
 * sensitivity is that of the cost. */
tacit_status tacit_bounded_on_grid(tacit_bounded **out, tacit_permit *permit,
                                   const tacit_shape *shape, tacit_scratch *scratch,
                                   tacit_error *err);

/* What clipping in floats aims at, of the limit: below it by more than floats get wrong, so that
 * the check of integers hardly ever has to shrink anything. */
#define TACIT_GRID_AIM (1 - 0x1p-16)
/* Poisson lots: whether each record takes part is drawn for itself, with exactly cost.sampling,
 * a multiple of 2^-32, so that the size of a lot is binomial. */
typedef struct tacit_lot {
    tacit_stream stream;
    uint64_t below; /* of 2^32; 2^32 itself: everyone */
} tacit_lot;
tacit_status tacit_lot_open(tacit_lot *lot, const tacit_permit *permit, size_t records,
                            tacit_error *err);
void tacit_lot_close(tacit_lot *lot);
/* The stream of one permit beside its noise: for its lot, or for what it draws itself. */
tacit_status tacit_permit_stream(tacit_stream *stream, const tacit_permit *permit,
                                 tacit_error *err);
static inline bool tacit_lot_is_all(const tacit_lot *lot)
{
    return lot->below >> 32 != 0;
}
static inline bool tacit_lot_takes(tacit_lot *lot)
{
    uint32_t word;
    if (lot->below >> 32)
        return true;
    tacit_stream_bytes(&lot->stream, &word, sizeof word);
    return word < lot->below;
}

/* Where a sensitivity is merely claimed, parts may be so many times as long as it says: that is no
 * clipping, but integers still fit their machine words. */
#define TACIT_CLAIM_ROOM 512
/* The radius of a part, in steps: what the cost's sensitivity was made from. */
int32_t tacit_cost_limit(const tacit_cost *cost);
double tacit_cost_step(const tacit_cost *cost);
/* A part of at most `limit` steps from any row: clipped, rounded towards zero, checked as
 * integers and shrunk until it holds. `row` holds numbers of at most `limit` in size. */
void tacit_grid_shrink(tacit_norm norm, int32_t limit, size_t count, int32_t *row);

/* What the noise of a release is drawn from: parts below 2^TACIT_PIECES_LOG2 are its own. */
#define TACIT_PIECES_LOG2 12
tacit_status tacit_release_draws(tacit_draws *draws, const tacit_permit *permit,
                                 const tacit_noise_source *source, tacit_error *err);

/* ---- sums over many: gift.c ---- */
/* An upper bound on the size of one agent's gift, in steps, from public numbers. */
tacit_status tacit_gift_most(const tacit_cost *cost, size_t records, uint64_t *most,
                             tacit_error *err);
/* Add a bounded value to `sum` (`count` numbers) instead of releasing it; consumes both. */
tacit_status tacit_mechanism_give(tacit_permit *permit, tacit_bounded *bounded, int64_t *sum,
                                  size_t count, tacit_error *err);
/* Steps of the smallest share that is made: any number of them adds up to a discrete Gaussian
 * within 1e-17000 (tacit_noise_sum_tau). */
#define TACIT_SHARE_LEAST 64.0
/* A bounded value as whole numbers with a share of the sum's noise, for masks to hide (conceal.c).
 * Consumes both; `number` has room for `count`, and is a secret. */
tacit_status tacit_mechanism_conceal(tacit_permit *permit, tacit_bounded *bounded, uint32_t parts,
                                     const tacit_noise_source *source, int64_t *number,
                                     size_t count, tacit_error *err);
/* What was given by many at one cost, before its one noise. */
typedef struct tacit_sum {
    const tacit_cost *cost;
    const tacit_noise *noise; /* that draws for the cost */
    const tacit_shape *shape;
    int64_t *steps; /* wiped */
    size_t count;
    uint64_t number; /* of its noise, among those of the source's agent: never twice */
} tacit_sum;
tacit_status tacit_mechanism_sum(const tacit_sum *sum, const tacit_noise_source *source,
                                 tacit_scratch *scratch, tacit_public **out, tacit_error *err);

#endif
