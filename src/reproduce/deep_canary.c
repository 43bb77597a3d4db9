/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two data sets that differ in the canary of table 5 alone: every agent keeps the records of its
 * own digit; agent 0 has a blank picture with the label 0 besides, or has not. Rows and labels are
 * zero when a data set is made, so the canary needs no writing.
 */
#include <stdlib.h>

#include "data/shard.h"
#include "model/linear.h"
#include "reproduce/deep.h"

#define AGENTS DEEP_AUDITED

/* An agent's records of its own digit: how many, and put into `out` if there is one. */
static tacit_status take(const tacit_dataset *data, uint32_t agent, double *row, uint32_t *count,
                         tacit_dataset *out, tacit_error *err)
{
    const tacit_shard *shard = tacit_dataset_shard(data, agent, TACIT_TRAIN);
    const size_t p = tacit_dataset_features(data);
    tacit_batch batch;
    tacit_status status = TACIT_OK;
    *count = 0;
    for (size_t cursor = 0; !status && tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows && !status; r++) {
            double y;
            tacit_row_doubles(&batch, tacit_shard_scalar(shard), p, r, row, &y);
            if (y != (double)agent)
                continue;
            if (out)
                status = tacit_dataset_put(out, agent, TACIT_TRAIN, *count, row, y, err);
            (*count)++;
        }
    return status;
}

tacit_status deep_canary(tacit_dataset **out, const tacit_dataset *data, bool with,
                         tacit_error *err)
{
    uint32_t counts[AGENTS];
    double *row = calloc(tacit_dataset_features(data), sizeof *row);
    tacit_status status = row ? TACIT_OK : tacit_out_of_memory(err);
    for (uint32_t i = 0; i < AGENTS && !status; i++)
        status = take(data, i, row, &counts[i], NULL, err);
    if (!status && (!counts[0] || !counts[1] || !counts[2]))
        status = tacit_fail(err, TACIT_EINPUT, "an agent of the audit has no record of its digit");
    if (!status) {
        counts[0] += with;
        status = tacit_dataset_create(out, AGENTS, tacit_dataset_features(data),
                                      tacit_dataset_scalar(data),
                                      (const uint32_t *const[TACIT_SPLITS]){counts}, err);
    }
    for (uint32_t i = 0; i < AGENTS && !status; i++)
        status = take(data, i, row, &counts[i], *out, err);
    free(row);
    return status;
}
