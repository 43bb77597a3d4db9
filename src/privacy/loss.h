/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_LOSS_H
#define TACIT_PRIVACY_LOSS_H
/* What the closed-form accountants read off one loss; counts are left to them. */
#include "tacit/account.h"

/* The least e such that one release is e-DP but for its delta; INFINITY if there is none (noise
 * with Gaussian tails), NAN if unknown (zCDP). */
double tacit_loss_pure(const tacit_loss *loss);
/* What one release adds to delta. */
double tacit_loss_failure(const tacit_loss *loss);
/* The sum of those over all releases, rounded up. */
double tacit_losses_failure(const tacit_loss *loss, size_t count);
/* Half the shift of sampled `replace`: the contribution of one record, on the grid. */
double tacit_loss_half_shift(const tacit_loss *loss);

#endif
