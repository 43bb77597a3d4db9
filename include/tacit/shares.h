/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_SHARES_H
#define TACIT_SHARES_H
/*
 * Shares of a secret of 32 bytes: any `threshold` of them give it back, fewer say nothing (Shamir
 * 1979, byte by byte over GF(2^8)). Pure functions; time does not depend on secrets.
 */
#include "tacit/masks.h"

#define TACIT_SHARES_MOST 255 /* points are 1 .. 255: share k is for point k + 1 */

/* share[k] for k < count. `coins`: threshold - 1 times 32 secret random bytes, used up by this. */
tacit_status tacit_shares_split(uint8_t (*share)[TACIT_MASK_KEY], size_t count, size_t threshold,
                                const uint8_t secret[TACIT_MASK_KEY],
                                const uint8_t (*coins)[TACIT_MASK_KEY], tacit_error *err);
/* From `threshold` shares and their points, which must differ. Nothing tells a wrong share from a
 * right one: keep a hash of the secret. */
tacit_status tacit_shares_join(uint8_t secret[TACIT_MASK_KEY],
                               const uint8_t (*share)[TACIT_MASK_KEY], const uint8_t *point,
                               size_t threshold, tacit_error *err);

#endif
