/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_AUDIT_H
#define TACIT_PRIVACY_AUDIT_H
/* Inside of audits: what the choice of a threshold shares with the bounds. */
#include "tacit/audit.h"

typedef struct tacit_rates {
    double fp, fn;
} tacit_rates;

bool tacit_guesses_sensible(const tacit_guesses *guesses, double delta, double confidence);
/* Clopper-Pearson: above the true rate but with probability `miss`; counts may be fractions. */
double tacit_rate_above(double count, double trials, double miss);
double tacit_rates_epsilon(tacit_rates rates, double delta);
double tacit_rates_shift(tacit_audit_curve curve, tacit_rates rates);
double tacit_pooled_shift(tacit_audit_curve curve, double rate);
/* About what tacit_audit_ratio gives for these rates of `trials` trials each. */
double tacit_rates_ratio(tacit_rates rates, double trials, bool mirrored, double delta,
                         double confidence);
double tacit_shift_epsilon(tacit_audit_curve curve, double shift, double delta);

/* How much likelier `seen` is with noise around `with` than around `without`: the log-likelihood
 * ratio, the best score there is. Without noise: how much nearer it is. */
double tacit_audit_likelihood(tacit_mechanism mechanism, double noise, size_t count,
                              const double *seen, const double *with, const double *without);

#endif
