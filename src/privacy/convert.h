/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_CONVERT_H
#define TACIT_PRIVACY_CONVERT_H
/*
 * From Renyi divergences to (epsilon, delta): Canonne, Kamath, Steinke 2020, proposition 12, at
 * the best real order. `curve` gives the divergence at any order above 1.
 */

typedef double tacit_renyi_curve(double alpha, const void *context);

/* delta above 0. */
double tacit_convert_epsilon(tacit_renyi_curve *curve, const void *context, double delta);
/* epsilon at least 0. */
double tacit_convert_delta(tacit_renyi_curve *curve, const void *context, double epsilon);

#endif
