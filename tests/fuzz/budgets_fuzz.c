/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of budgets: an error with words, or a positive budget for every agent. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "experiment/session.h"

enum { AGENTS = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static tacit_dataset *make(void)
{
    static const uint32_t rows[AGENTS] = {1, 1, 1, 1, 1};
    static const char *const names[AGENTS] = {"north", "a,b", "0", NULL, "\xC3\xA4"};
    const uint32_t *const counts[TACIT_SPLITS] = {rows};
    tacit_dataset *data = NULL;
    tacit_error err = {0};
    if (tacit_dataset_create(&data, AGENTS, 1, TACIT_F64, counts, &err))
        abort();
    for (uint32_t k = 0; k < AGENTS; k++)
        if (names[k] && tacit_dataset_set_name(data, k, names[k], &err))
            abort();
    return data;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static tacit_dataset *data;
    double epsilon[AGENTS];
    tacit_error err = {0};
    if (!data)
        data = make();
    tacit_status status =
        tacit_budgets_parse(epsilon, data, 3, "budgets.csv", (const char *)bytes, len, &err);
    if (status != TACIT_OK && (status != TACIT_EINPUT || !err.text[0]))
        abort();
    for (int k = 0; k < AGENTS && status == TACIT_OK; k++)
        if (!(epsilon[k] > 0 && isfinite(epsilon[k])))
            abort();
    return 0;
}
