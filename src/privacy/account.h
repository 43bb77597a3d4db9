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

#endif
