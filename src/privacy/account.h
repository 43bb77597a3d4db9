/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_ACCOUNT_H
#define TACIT_PRIVACY_ACCOUNT_H
/*
 * One accountant: two functions on a list of losses that tacit_loss_check has passed, counts
 * above zero, nothing bare (account.c sees to that before it asks).
 */
#include "tacit/account.h"

typedef tacit_status tacit_account_function(const tacit_loss *loss, size_t count, double given,
                                            double *found, tacit_error *err);

typedef struct tacit_account_ops {
    tacit_account_function *epsilon; /* given delta */
    tacit_account_function *delta;   /* given epsilon */
} tacit_account_ops;

extern const tacit_account_ops tacit_account_sum, tacit_account_kov, tacit_account_zcdp,
    tacit_account_gdp, tacit_account_rdp, tacit_account_pld, tacit_account_pld_optimistic;

/* The losses that matter, checked, in order, equal ones merged; *list is the caller's to free,
 * whatever is returned. `bare`: one of them has no noise at all. */
tacit_status tacit_losses_gather(tacit_loss **list, size_t *kept, bool *bare,
                                 const tacit_loss *loss, size_t count, tacit_error *err);
/* The divergences of all of them at one order above 1, rounded up. */
double tacit_losses_renyi(const tacit_loss *loss, size_t count, double alpha);
/* What they cost in zCDP, rounded up; NAN if that is not known of one of them. */
double tacit_losses_rho(const tacit_loss *loss, size_t count);

#endif
