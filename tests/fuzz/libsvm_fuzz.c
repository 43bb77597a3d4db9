/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as libsvm text: the first byte chooses the scalar and what missing values are. */
#include "table_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    tacit_data_options o = {.source = TACIT_SOURCE_LIBSVM};
    if (len == 0)
        return 0;
    o.missing_rule = bytes[0] & 2 ? TACIT_MISSING_MEAN : TACIT_MISSING_REFUSE;
    try_reader(tacit_read_libsvm, &o, bytes + 1, len - 1, bytes[0] & 1 ? TACIT_F32 : TACIT_F64);
    return 0;
}
