/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_QUANTILES_H
#define TACIT_EXPERIMENT_QUANTILES_H
#include "tacit/base.h"

/* Which shares of the agents lie below: columns q05 ... q95 wherever a spread is written. */
enum { TACIT_QUANTILES = 5 };
extern const double tacit_quantile_share[TACIT_QUANTILES];
extern const char *const tacit_quantile_name[TACIT_QUANTILES]; /* "q05", ... */

/* Quantiles of values[0..n), none of them NaN, with linear interpolation between the two
 * nearest; NaN for n = 0. Reorders the values. Takes time in proportion to n. */
void tacit_quantiles(double *values, size_t n, double out[TACIT_QUANTILES]);

#endif
