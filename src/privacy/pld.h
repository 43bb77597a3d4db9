/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_PLD_H
#define TACIT_PRIVACY_PLD_H
/*
 * What the files of the pld accountant tell each other; docs/accounting-pld.md has the argument.
 *
 *   pld_pairs.c    a list of losses -> pairs of distributions (P, Q), for one direction
 *   pld_shape.c    one pair: density and loss log(dP/dQ) along a line, and the inverse
 *   pld_walk.c     quadrature along that line, cut at the points of a grid of losses
 *   pld_losses.c   from there a law on the grid that dominates the pair, or is dominated by it
 *   pld_tilt.c     how to tilt, how fine and how wide the grid must be
 *   pld_compose.c  powers and products of laws by FFT, and what that cuts off
 *   pld.c          epsilon at delta, delta at epsilon
 */
#include "tacit/account.h"

typedef enum pld_family { PLD_POINTS, PLD_GAUSSIAN, PLD_LAPLACE } pld_family;
/* Without the record (Q) or with it (P) as the second distribution; or one record replaced. */
typedef enum pld_way { PLD_REMOVE, PLD_ADD, PLD_REPLACE } pld_way;

/* An atom: P-mass and loss. */
typedef struct pld_point {
    double mass, loss;
} pld_point;

enum { PLD_MOST_POINTS = 3, PLD_MOST_NODES = 6, PLD_MOST_SPANS = 2 };

/* One kind of release: N(0) with the noise's law, moved by `shift` with probability `rate`. */
typedef struct pld_pair {
    pld_family family;
    pld_way way;
    bool lattice; /* on the integers */
    double noise, shift, rate;
    double log_norm; /* log of what the density must be divided by */
    double times;    /* releases */
    uint64_t count;  /* the same */
    double step;     /* all losses are multiples of it; 0 if they are not */
    double anchor;   /* an atom that had better be a multiple of the grid's step, or 0 */
    int points;      /* PLD_POINTS: by increasing loss */
    pld_point point[PLD_MOST_POINTS];
} pld_pair;

/* Pairs for all of `loss`; `room` has count of them. Unsampled Gaussians become one. A pair
 * beyond what we can compute is left out, and *complete says so. */
size_t pld_pairs(pld_pair *room, const tacit_loss *loss, size_t count, bool add, bool optimistic,
                 bool *complete);

/* ---- one pair, along a line z on which the loss does not decrease ---- */
typedef struct pld_span {
    double from, to; /* lattice: the first and the last integer */
} pld_span;

typedef struct pld_shape {
    pld_point bottom, top; /* what lies beyond the spans: exact atoms, or bounds on tails */
    bool exact;            /* the former */
    int spans;
    pld_span span[PLD_MOST_SPANS];
} pld_shape;

/* Tails of at most e^-cut are cut off. */
void pld_shape_of(pld_shape *shape, const pld_pair *pair, double cut);
/* log of P's density and the loss at z. */
void pld_at(const pld_pair *pair, double z, double *log_mass, double *loss);
/* Where the loss reaches a value; infinite if it never does. */
double pld_place(const pld_pair *pair, double loss);
/* How fast the logarithms of density and ratio change around z, per unit of z. */
double pld_slope(const pld_pair *pair, double z);
/* log(1 - q + q e^t) */
double pld_mix(double q, double t);

/* ---- quadrature ---- */
/* Nodes and weights for the integral over [z, z + width], or the sum over `width` integers
 * from z on. `coarse`: a few digits suffice. */
int pld_nodes(const pld_pair *pair, double z, double width, bool coarse, double *at,
              double *weight);
/* How far a panel that starts at z may go. */
double pld_reach(const pld_pair *pair, double z, bool coarse);

typedef struct pld_grid {
    double step, tilt;
    double widest; /* of cells that hold hardly any mass, in losses */
    bool exact;    /* every loss is on the grid: one cell at a time, nothing to spread */
} pld_grid;

/* Mass between the grid points `cell` and `cell + width`: nodes with masses P e^(tilt cell step
 * - offset) and their losses above the lower point. */
typedef struct pld_panel {
    int64_t cell, width;
    int nodes;
    double mass[PLD_MOST_NODES], above[PLD_MOST_NODES];
} pld_panel;

typedef void pld_sink(void *state, const pld_panel *panel);
/* All of the pair's spans, by increasing loss. */
void pld_walk(const pld_pair *pair, const pld_shape *shape, const pld_grid *grid, double offset,
              pld_sink *sink, void *state);

/* ---- a law on the grid, tilted: mass[k] = P(index[k] step) e^(tilt index[k] step - log_mgf) */
typedef struct pld_law {
    size_t size, room, index_room;
    int64_t *index;
    double *mass;
    double log_mgf;
    double infinite; /* P-mass at infinite loss; not tilted */
    double spread;   /* variance that rounding to the grid added */
    bool out_of_memory;
} pld_law;

void pld_law_build(pld_law *law, const pld_pair *pair, const pld_shape *shape, const pld_grid *grid,
                   double offset, bool optimistic);
void pld_law_clear(pld_law *law);

/* ---- a few hundred nodes for each pair, to plan with ---- */
typedef struct pld_sketch {
    size_t size;
    double *loss, *log_mass;
    double times;
    double at_zero, at_minus_one; /* log E e^(sL) at s = 0 and -1: 0 but for quadrature */
    double apart; /* from below: what merging atoms that lie apart takes off the variance, per
                     unit of loss that they are off the grid */
} pld_sketch;

tacit_status pld_sketch_build(pld_sketch *sketch, const pld_pair *pair, const pld_shape *shape,
                              bool optimistic, tacit_error *err);
void pld_sketch_clear(pld_sketch *sketch);

/* Of the sum of all losses under the tilted law: log of E e^(tilt L), mean and deviation. */
typedef struct pld_tilt {
    double tilt, log_mgf, mean, deviation;
} pld_tilt;

/* The tilt at which epsilon for `log_delta` lies near the mean ... */
pld_tilt pld_tilt_for_delta(const pld_sketch *sketch, size_t count, double log_delta);
/* ... and the one with this epsilon for its mean. */
pld_tilt pld_tilt_for_epsilon(const pld_sketch *sketch, size_t count, double epsilon);
/* log of delta at the mean, roughly. */
double pld_tilt_log_delta(const pld_tilt *tilt);

/* Grid and window. */
typedef struct pld_plan {
    pld_grid grid;
    int64_t first;   /* of the window, in steps */
    size_t length;   /* a power of two */
    double up, down; /* the orders at which Chernoff bounds what lies outside */
} pld_plan;

/* What is wanted of a plan. */
typedef struct pld_wish {
    double error; /* of epsilon, absolute */
    double slope; /* of -log delta in epsilon, where the answer is: about the tilt */
} pld_wish;

/* False if no window of a size we allow will do. */
bool pld_plan_make(pld_plan *plan, const pld_tilt *tilt, const pld_wish *wish, const pld_pair *pair,
                   const pld_sketch *sketch, size_t count);
/* Windows beyond 2^18 points are costly: by what factor the wished error may be missed then. */
double pld_lenience(double length);
/* What a grid adds to epsilon, roughly. */
double pld_predicted_error(const pld_sketch *sketch, size_t count, double tilt, double slope,
                           double step);

/* ---- the law of the sum, in the window ---- */
typedef struct pld_curve {
    pld_grid grid;
    int64_t first;
    size_t length;
    size_t start;    /* where the window begins in `mass`, which is circular */
    double *mass;    /* tilted */
    double log_mgf;  /* of the sum */
    double above;    /* bounds on tilted mass above the window ... */
    double below;    /* ... and below it */
    double noise;    /* bound on the l2 norm of the rounding errors of `mass` */
    double slack;    /* relative error of all masses */
    double infinite; /* mass at infinity */
    double error;    /* what the grid has added to epsilon, roughly */
} pld_curve;

tacit_status pld_curve_build(pld_curve *curve, const pld_pair *pair, const pld_shape *shape,
                             const pld_sketch *sketch, size_t count, const pld_plan *plan,
                             bool optimistic, tacit_error *err);
void pld_curve_clear(pld_curve *curve);

/* Bounds: from above, or from below if `optimistic`. *slope, that of -log delta there, is only
 * written if it is known. */
double pld_curve_epsilon(const pld_curve *curve, double delta, bool optimistic, double *slope);
double pld_curve_delta(const pld_curve *curve, double epsilon, bool optimistic, double *slope);

#endif
