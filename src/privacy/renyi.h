/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_RENYI_H
#define TACIT_PRIVACY_RENYI_H
/*
 * Parts of tacit_loss_renyi. All work with m = log(E_Q[(P/Q)^order] - 1), which keeps its digits
 * when two distributions are nearly equal; tacit_renyi_of turns it into a divergence.
 */
#include "tacit/base.h"

/* log(r^order - 1 - order (r - 1)) for a ratio r = 1 + u, where u > -1 is given: nonnegative
 * before the logarithm for order above 1 or below 0. log_ratio is log(1 + u), for u that overflow.
 */
double tacit_renyi_term(double order, double u, double log_ratio);
double tacit_renyi_of(double log_excess, double alpha);

/* A pair of Gaussians in units of sigma, sampled with rate q below 1. */
typedef struct tacit_renyi_pair {
    double q;
    double shift;  /* of one record's contribution */
    double step;   /* 0, or the distance of the grid the noise lives on */
    bool replace;  /* (1-q) N(0) + q N(-shift) against the one with +shift; else against N(0) */
    bool backward; /* add-remove: N(0) against the mixture */
} tacit_renyi_pair;

/* By quadrature at any real order above 1; NAN when it would take more than 3e4 points. */
double tacit_renyi_quadrature(const tacit_renyi_pair *pair, double alpha);
/* By the binomial sum at whole orders (add-remove, forward). */
double tacit_renyi_binomial(double q, double shift, double alpha);

/* The Laplace families: ratio e^(2x - s) between two plateaus, sampled, add-remove. `steps` is
 * the shift in grid steps, or 0 for the continuous one; s is shift over noise. */
double tacit_renyi_laplace(double q, double s, double steps, double alpha);
/* Two outcomes with ratios e^s and e^-s among `categories`. */
double tacit_renyi_response(double q, double s, double categories, double alpha);

#endif
