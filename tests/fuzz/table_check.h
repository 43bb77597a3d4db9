/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TABLE_CHECK_H
#define TACIT_TABLE_CHECK_H
/* What must hold for any table that any reader makes of any bytes. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static inline double table_value(const tacit_table *t, size_t k)
{
    if (t->narrow)
        return ((const unsigned char *)t->x.bytes)[k];
    return t->scalar == TACIT_F32 ? (double)((const float *)t->x.bytes)[k]
                                  : ((const double *)t->x.bytes)[k];
}

/* Finite everywhere, or NaN where that is allowed and said. */
static inline void check_table(const tacit_table *t, const tacit_data_options *o)
{
    bool missing = false;
    if (t->rows == 0)
        abort();
    for (size_t k = 0; k < t->rows * t->features; k++) {
        double value = table_value(t, k);
        if (isinf(value))
            abort();
        missing |= isnan(value);
    }
    if ((missing && (!t->missing || o->missing_rule == TACIT_MISSING_REFUSE)) ||
        (t->columns.count > 0 && t->columns.count != t->features))
        abort();
    for (size_t row = 0; row < t->rows; row++) {
        if (!isfinite(t->y[row]) || (t->owner && t->owner[row] >= t->owners.count))
            abort();
    }
}

/* An error has words and leaves nothing; a table is a good one. */
static inline void try_reader(tacit_reader *read, const tacit_data_options *o, const uint8_t *bytes,
                              size_t len, tacit_scalar scalar)
{
    tacit_table t;
    tacit_error err = {0};
    if (read(&t, o, "fuzz", (const char *)bytes, len, scalar, &err)) {
        if (err.text[0] == '\0' || t.x.bytes || t.y || t.owner)
            abort();
    } else {
        check_table(&t, o);
    }
    tacit_table_clear(&t);
}

#endif
