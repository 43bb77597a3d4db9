/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of owners: refused in words, or two and more sane owners whose forecast has no NaN. */
#include <math.h>
#include <stdlib.h>

#include "tacit/forecast.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(const tacit_joiner *owners, size_t count)
{
    const tacit_fitness_law together = tacit_fitness_law_given(1e-4, 0.5, 1e6),
                            alone = tacit_fitness_law_given(0, 10, 0);
    tacit_error err = {0};
    tacit_stake *stakes = calloc(count, sizeof *stakes);
    if (!stakes)
        return;
    if (tacit_forecast(stakes, owners, count, &together, &alone, 0.9, &err))
        abort();
    for (size_t i = 0; i < count; i++) {
        const tacit_stake *s = &stakes[i];
        if (!(s->alone.psi >= 0) || !(s->together.psi > 0) || !(s->chance >= 0 && s->chance <= 1) ||
            isnan(s->own) || isnan(s->everyone) || !(s->partners >= 1))
            abort();
    }
    free(stakes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    tacit_joiner *owners;
    size_t count;
    tacit_error err = {0};
    tacit_status status =
        tacit_joiners_parse(&owners, &count, "fuzz.csv", (const char *)bytes, len, &err);
    if (status ? owners != NULL || err.text[0] == '\0' : count < 2)
        abort();
    if (!status && count <= 1000)
        check(owners, count);
    free(owners);
    return 0;
}
