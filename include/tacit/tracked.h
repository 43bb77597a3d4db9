/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TRACKED_H
#define TACIT_TRACKED_H
/*
 * A secret model that remembers how far the data could have moved it.
 *
 * Algorithms that keep what they learned (003: diffusion) tell a little of their memory in every
 * round, so one release does not say how much a record can change it: the whole way does. Here the
 * value carries that bound along. It can be changed by two functions only,
 *
 *     mix       w <- keep w + sum_k coef_k public_k        bound <- |keep| bound
 *     descend   w <- keep w - step (mean clipped gradient of some records at w + 2 lambda w)
 *               bound <- factor bound + what one record can add
 *
 * and each of them says what it does to the bound, in exact arithmetic and rounding counted
 * (docs/tracked.md has the proofs). `factor` is what the map can stretch a distance by: gradients
 * of linear models clipped record by record are gradients of a convex function, whose curvature is
 * bounded since rows are cut to a public radius. All numbers of a bound are public.
 */
#include "tacit/model.h"

/* Of a run, public. */
typedef struct tacit_tracking {
    tacit_unit unit;
    tacit_norm norm; /* of the clipping: l2 */
    double clip;     /* C; infinity: nothing is clipped, and no bound is known */
    double radius;   /* rows are cut to this l2 norm; infinity: none is */
    double reach;    /* the model is kept within this l2 distance of zero; infinity: it is not */
    double longest;  /* words of a larger l2 norm are no words */
} tacit_tracking;

typedef struct tacit_tracked {
    tacit_secret *value; /* of the model's shape, zero at first; written by functions below only */
    double moved;        /* l2: how far apart neighbouring data can have brought it */
} tacit_tracked;

/* A run of records of a shard: `count` from `first` on, going round. */
typedef struct tacit_some_records {
    size_t first, count;
} tacit_some_records;

/* Whether a public vector may be mixed in: finite, and no longer than `longest`. */
bool tacit_tracked_takes(const tacit_tracking *how, const tacit_public *term);
/* NULL terms stand for zero, and so do those that are too long. */
void tacit_tracked_mix(tacit_tracked *w, const tacit_tracking *how, double keep, size_t terms,
                       const double *coef, const tacit_public *const *term);
tacit_status tacit_tracked_descend(tacit_tracked *w, const tacit_tracking *how,
                                   const tacit_model *model, const tacit_shard *shard,
                                   tacit_some_records records, double keep, double step,
                                   tacit_scratch *scratch, tacit_error *err);
/* What `moved` becomes, without the value: for planning. It depends on public numbers that are
 * known beforehand, never on what was heard: so what a round costs can be fixed at the start. */
double tacit_tracked_mixed(const tacit_tracking *how, double moved, double keep, size_t terms);
double tacit_tracked_moved(const tacit_tracking *how, const tacit_model *model, double moved,
                           double keep, double step, size_t records, size_t all_records);

/* The cost of releasing a tracked value that can have moved by `moved`, with noise of `noise`
 * (sigma or scale, in the unit of the value): sensitivity and grid are filled in. */
tacit_status tacit_tracked_cost(tacit_cost *cost, const tacit_model *model,
                                const tacit_privacy_options *options, double moved, double noise,
                                tacit_error *err);
/* Bound it under such a permit. Without noise: as it is. */
tacit_status tacit_tracked_bound(const tacit_tracked *w, tacit_permit *permit,
                                 tacit_scratch *scratch, tacit_bounded **out, tacit_error *err);
/* weight * value in whole numbers of 2^-fraction, for a masked sum: `shape` is one TACIT_I64
 * segment. The cost was planned by tacit_tracked_cost_fixed, or has no noise. */
tacit_status tacit_tracked_cost_fixed(tacit_cost *cost, const tacit_model *model,
                                      const tacit_privacy_options *options, double moved,
                                      double noise, int32_t fraction, tacit_error *err);
tacit_status tacit_tracked_bound_fixed(const tacit_tracked *w, tacit_permit *permit, double weight,
                                       int32_t fraction, const tacit_shape *shape,
                                       tacit_scratch *scratch, tacit_bounded **out,
                                       tacit_error *err);

#endif
