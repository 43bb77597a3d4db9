/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_SCHEDULE_H
#define TACIT_PRIVACY_SCHEDULE_H
#include "tacit/privacy.h"

/* What "privacy.ratio: 0" stands for where nobody knows better: docs/budgets.md says why. */
#define TACIT_RATIO_USUAL 0.8
double tacit_policy_ratio(const tacit_privacy_options *options);

#endif
