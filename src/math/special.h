/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_MATH_SPECIAL_H
#define TACIT_MATH_SPECIAL_H
/*
 * Special functions for accounting and auditing, good in the far tails. Logarithms are natural;
 * the logarithm of 0 is -INFINITY. Arguments outside a function's range give NAN.
 */
#include <stddef.h>
#include <stdint.h>

/* ---- logarithms of sums ---- */
double tacit_log_add(double a, double b); /* log(e^a + e^b) */
double tacit_log_sub(double a, double b); /* log(e^a - e^b); NAN if a < b */
/* log of a sum of `n` exponentials; -INFINITY for none. */
double tacit_log_sum(const double *value, size_t n);

/* ---- the normal distribution ---- */
double tacit_normal_cdf(double x);
double tacit_log_normal_cdf(double x);
double tacit_normal_quantile(double p); /* p = 0 and 1 give -INFINITY and INFINITY */
/* Mills' ratio P(Z > x) / density(x): overflows to INFINITY below -38. */
double tacit_mills(double x);

/* ---- the binomial and beta distributions ---- */
double tacit_log_choose(double n, double k); /* 0 <= k <= n */
/* log P(X = k), X ~ Bin(n, p); whole numbers up to 2^53. */
double tacit_log_binomial(double k, double n, double p);
/* log P(X >= k), X ~ Bin(n, p). For P(X <= k) ask for n - k of n at 1 - p. */
double tacit_log_binomial_tail(double k, double n, double p);
/* The regularised incomplete beta function I_x(a, b), a and b above 0. */
double tacit_beta_cdf(double x, double a, double b);
double tacit_log_beta_cdf(double x, double a, double b);
/* The x with I_x(a, b) = p. Clopper-Pearson for k of n at confidence 1 - c on one side:
 * below quantile(c, k, n - k + 1) (0 if k = 0), above quantile(1 - c, k + 1, n - k) (1 if k = n).
 */
double tacit_beta_quantile(double p, double a, double b);

#endif
