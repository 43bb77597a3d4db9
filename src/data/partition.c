/* SPDX-License-Identifier: Apache-2.0 */
#include "data/partition.h"

#include <string.h>

static tacit_status keep_owners(uint32_t *owner, uint32_t *agents, const tacit_table *table,
                                tacit_error *err)
{
    if (!table->owner)
        return tacit_fail(err, TACIT_EINPUT,
                          "data.partition is \"own\", but nothing says whose record is whose; name "
                          "data.agent-column (csv) or data.agents-path, or choose another "
                          "data.partition, such as \"iid\"");
    *agents = table->owners.count;
    for (size_t row = 0; row < table->rows; row++) {
        if (owner[row] != TACIT_NOT_DEALT)
            owner[row] = table->owner[row];
    }
    return TACIT_OK;
}

tacit_status tacit_partition_deal(uint32_t *owner, uint32_t *agents, const tacit_table *table,
                                  const tacit_data_options *options, const tacit_random *random,
                                  tacit_error *err)
{
    (void)random;
    if (options->partition == TACIT_PARTITION_OWN)
        return keep_owners(owner, agents, table, err);
    return tacit_fail(err, TACIT_EINPUT, "unknown data.partition \"%d\"", options->partition);
}
