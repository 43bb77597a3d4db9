/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of labels or of owners: text, IDX or NPY, for a table of a few rows. */
#include "data/side.h"
#include "table_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    tacit_data_options o = {.missing = "?"};
    tacit_table t;
    tacit_error err = {0};
    if (len < 2)
        return 0;
    if (bytes[0] & 2)
        memcpy(o.positive, "1, a", 5);
    long column = (bytes[0] >> 2 & 3) - 1L;
    if (tacit_table_create(&t, bytes[1] % 8 + 1U, 1, TACIT_F32, &o, &err))
        abort();
    tacit_status status = tacit_side_bytes(&t, &o, bytes[0] & 1, "fuzz", (const char *)bytes + 2,
                                           len - 2, column, &err);
    if (!status)
        check_table(&t, &o);
    else if (err.text[0] == '\0')
        abort();
    tacit_table_clear(&t);
    return 0;
}
