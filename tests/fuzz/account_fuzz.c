/* SPDX-License-Identifier: Apache-2.0 */
/* Any list of losses, any delta, any budget: an error, NAN, or a number of 0 or more. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tacit/account.h"

#define MOST_LOSSES 3

/* A double from 3 bytes: special ones, whole ones, and sizes from 1e-38 to 1e38. */
static double number(const uint8_t *b)
{
    static const double special[] = {0, 1, NAN, INFINITY, -1, 0.5, 5e-324, 1.7e308};
    const unsigned fine = b[1] | (unsigned)b[2] << 8;
    if (b[0] < 8)
        return special[b[0]];
    if (b[0] < 64)
        return fine;
    return ldexp(1 + fine / 65536.0, b[0] - 160);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t each = 20;
    if (size < 8)
        return 0;
    const double delta = number(data), budget = number(data + 3);
    const tacit_accountant by = (tacit_accountant)(data[6] % TACIT_BY_PLD);
    tacit_loss loss[MOST_LOSSES];
    size_t count = 0;
    for (const uint8_t *at = data + 8; at + each <= data + size && count < MOST_LOSSES; at += each)
        loss[count++] = (tacit_loss){.kind = (tacit_loss_kind)(at[0] % (TACIT_LOSS_KINDS + 1)),
                                     .adjacency = (tacit_adjacency)(at[1] % 3),
                                     .noise = number(at + 2),
                                     .shift = number(at + 5),
                                     .sampling = number(at + 8),
                                     .epsilon = number(at + 11),
                                     .delta = number(at + 14),
                                     .categories = at[17],
                                     .count = UINT64_C(1) << at[18] % 60 >> at[19] % 3};
    double found;
    if (tacit_account_epsilon(by, loss, count, delta, &found, NULL) == TACIT_OK &&
        (found < 0 || (isnan(found) && by == TACIT_BY_RDP))) /* which knows everything */
        abort();
    if (tacit_account_delta(by, loss, count, budget, &found, NULL) == TACIT_OK &&
        (found < 0 || found > 1))
        abort();
    if (count > 0 && data[7] % 4 == 0 &&
        tacit_account_calibrate(by, loss, loss + 1, count - 1, budget, delta, &found, NULL) ==
            TACIT_OK) {
        const bool inverse = loss->kind == TACIT_LOSS_PURE || loss->kind == TACIT_LOSS_RESPONSE;
        *(inverse ? &loss->epsilon : &loss->noise) = found;
        double epsilon;
        if (tacit_account_epsilon(by, loss, count, delta, &epsilon, NULL) != TACIT_OK ||
            !(epsilon <= budget))
            abort(); /* over budget */
    }
    if (data[7] % 4 == 1 &&
        tacit_account_shuffled(UINT64_C(1) << data[6] % 64, budget, delta, &found, NULL) ==
            TACIT_OK &&
        !(found >= 0 && found <= budget))
        abort();
    return 0;
}
