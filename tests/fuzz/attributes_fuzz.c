/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a table of facts: an error with words, or rows of bounded numbers, one a name. The
 * first byte chooses the names that matter.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/attributes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void check(const tacit_attributes *a)
{
    demand(a->names.count > 0 && a->features > 0);
    demand(a->features <= TACIT_ATTRIBUTE_COLUMNS_MAX);
    for (uint32_t k = 0; k < a->names.count; k++) {
        const double *row = tacit_attributes_find(a, tacit_names_get(&a->names, k));
        demand(row == a->value + k * a->features);
        for (size_t f = 0; f < a->features; f++)
            demand(fabs(row[f]) <= TACIT_ATTRIBUTE_CUT);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const char *const words[] = {"1", "2", "a", "item"};
    if (len == 0)
        return 0;
    tacit_names known = {0};
    tacit_attributes a;
    tacit_error err = {0};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        uint32_t number;
        bool added;
        if (bytes[0] >> k & 1)
            demand(!tacit_names_intern(&known, words[k], strlen(words[k]), &number, &added, &err));
    }
    tacit_status status =
        tacit_attributes_read(&a, &known, "item", "fuzz", (const char *)bytes + 1, len - 1, &err);
    demand(status ? err.text[0] && !a.value : a.value != NULL);
    if (!status)
        check(&a);
    tacit_attributes_clear(&a);
    tacit_names_clear(&known);
    return 0;
}
