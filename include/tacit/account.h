/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_ACCOUNT_H
#define TACIT_ACCOUNT_H
/*
 * How much was told, in the end: accountants.
 *
 * A tacit_loss says of one kind of release what an adversary can tell apart: two output
 * distributions (a dominating pair) and how often it was met. All accountants read the same
 * list of losses, in any order, with any mixture; what they know differs:
 *
 *   sum    epsilons add up (pure losses only; approximate ones add their deltas)
 *   kov    Kairouz, Oh, Viswanath 2015, theorem 3.5 (corrected print), for pure losses
 *   zcdp   concentrated DP: rho adds up (no sampling)
 *   gdp    Gaussian DP: exact for Gaussians without sampling, silent about all else
 *   rdp    Renyi divergences by order, sampling included
 *   pld    the distribution of the privacy loss itself, convolved by FFT, rounded up
 *
 * An accountant that has nothing to say about a list answers NAN; one for which no finite
 * epsilon exists answers INFINITY. Every other answer is an upper bound on epsilon at delta
 * (tacit_account_optimistic: a lower bound on what the pld accountant could reach).
 */
#include "tacit/base.h"
#include "tacit/privacy.h"

typedef enum tacit_loss_kind {
    TACIT_LOSS_BARE,              /* no noise: unbounded */
    TACIT_LOSS_PURE,              /* `epsilon`-DP, nothing more is known */
    TACIT_LOSS_APPROXIMATE,       /* (`epsilon`, `delta`)-DP, nothing more is known */
    TACIT_LOSS_ZCDP,              /* `epsilon` is rho, nothing more is known */
    TACIT_LOSS_GAUSSIAN,          /* N(0, noise^2) against N(shift, noise^2) */
    TACIT_LOSS_LAPLACE,           /* Lap(0, noise) against Lap(shift, noise) */
    TACIT_LOSS_DISCRETE_GAUSSIAN, /* on the integers; shift an integer; noise^2 the parameter */
    TACIT_LOSS_DISCRETE_LAPLACE,  /* on the integers; shift an integer; noise the scale */
    TACIT_LOSS_RESPONSE,          /* k-ary randomized response: `categories`, `epsilon` =
                                     log(P(truth) / P(one other)) */
    TACIT_LOSS_KINDS
} tacit_loss_kind;

/*
 * Sampling: each record takes part with probability `sampling` (Poisson); 1 means all do.
 * add-remove: `shift` is what one record can contribute, and both directions are accounted for.
 * replace: `shift` is the distance between the two contributions, so 2C for records clipped to
 * C; with sampling the pair is then the mixtures with -shift/2 and +shift/2.
 */
typedef struct tacit_loss {
    tacit_loss_kind kind;
    tacit_adjacency adjacency;
    double noise, shift;
    double sampling; /* in (0, 1] */
    double epsilon;
    double delta;        /* added to the total for each release: TV distances, failures */
    uint32_t categories; /* RESPONSE: at least 2 */
    uint64_t count;      /* releases of this kind */
} tacit_loss;

/* Refuses what makes no sense: NaN, negative numbers, sampling above 1, a shift off the grid. */
tacit_status tacit_loss_check(const tacit_loss *loss, tacit_error *err);

/* What `releases` of a ledger's cost mean to an accountant. */
void tacit_cost_loss(const tacit_cost *cost, uint64_t releases, tacit_loss *loss);

/* The least epsilon the accountant can prove at `delta` for all of `loss` together. */
tacit_status tacit_account_epsilon(tacit_accountant by, const tacit_loss *loss, size_t count,
                                   double delta, double *epsilon, tacit_error *err);
/* The least delta it can prove at `epsilon`. */
tacit_status tacit_account_delta(tacit_accountant by, const tacit_loss *loss, size_t count,
                                 double epsilon, double *delta, tacit_error *err);
/* The twin of pld that rounds down: no accountant can prove less than this. */
tacit_status tacit_account_optimistic(const tacit_loss *loss, size_t count, double delta,
                                      double *epsilon, tacit_error *err);

/* ---- noise from a budget ---- */
/* The least `noise` with which `loss` (its `count` releases; its own noise is ignored; kinds
 * with noise, or RESPONSE and PURE, whose `epsilon` is then found instead: the largest) stays
 * within (epsilon, delta): to a relative precision of 1e-6, and never over budget. `spent` are
 * losses that were met before, or none. */
tacit_status tacit_account_calibrate(tacit_accountant by, const tacit_loss *loss,
                                     const tacit_loss *spent, size_t spent_count, double epsilon,
                                     double delta, double *noise, tacit_error *err);

/* ---- amplification by shuffling (Feldman, McMillan, Talwar 2021, theorem 3.2) ---- */
/* Epsilon at `delta` of `agents` shuffled reports, each `local`-DP. */
tacit_status tacit_account_shuffled(uint64_t agents, double local, double delta, double *epsilon,
                                    tacit_error *err);

/* One Renyi divergence of a loss at order alpha > 1 (count ignored); NAN if unknown. */
double tacit_loss_renyi(const tacit_loss *loss, double alpha);

#endif
