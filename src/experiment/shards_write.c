/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of some agents as files that the source "shards" reads back, bit for bit: a float is a
 * double, and comes back as the same float. They are their owners' raw records: 0600.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/shard.h"
#include "data/shards.h"
#include "experiment/consortium.h"
#include "experiment/files.h"

static void write_rows(tacit_writer *out, tacit_scalar scalar, const tacit_batch *batch,
                       size_t features, uint32_t agent)
{
    for (size_t row = 0; row < batch->rows; row++) {
        double head[2] = {agent, 0};
        if (scalar == TACIT_F64) {
            head[1] = ((const double *)batch->y)[row];
            tacit_write_bytes(out, head, sizeof head);
            tacit_write_bytes(out, (const double *)batch->x + row * features,
                              features * sizeof(double));
            continue;
        }
        const float *x = (const float *)batch->x + row * features;
        head[1] = (double)((const float *)batch->y)[row];
        tacit_write_bytes(out, head, sizeof head);
        for (size_t k = 0; k < features; k++)
            tacit_write_bytes(out, &(double){(double)x[k]}, sizeof(double));
    }
}

static tacit_status write_split(const tacit_folder *folder, const tacit_dataset *data, int split,
                                const uint32_t *agents, uint32_t count, tacit_error *err)
{
    const size_t features = tacit_dataset_features(data);
    tacit_outfile file;
    tacit_status status = tacit_outfile_open(&file, folder, tacit_shards_files[split], err);
    if (status)
        return status;
    file.hasty = true;
    uint64_t rows = 0;
    for (uint32_t k = 0; k < count; k++)
        rows += tacit_dataset_rows(data, agents[k], (tacit_split)split);
    tacit_npy_header(&file.text, TACIT_F64, rows, features + 2);
    for (uint32_t k = 0; k < count && !status; k++) {
        const tacit_shard *shard = tacit_dataset_shard(data, agents[k], (tacit_split)split);
        tacit_batch batch;
        for (size_t cursor = 0; !status && tacit_shard_next(shard, &cursor, &batch);) {
            write_rows(&file.text, tacit_dataset_scalar(data), &batch, features, agents[k]);
            status = tacit_outfile_flush(&file, err);
        }
    }
    if (!status)
        return tacit_outfile_stage(&file, err);
    tacit_outfile_drop(&file);
    return status;
}

static tacit_status write_list(const tacit_folder *folder, const uint32_t *agents, uint32_t count,
                               tacit_error *err)
{
    tacit_outfile file;
    tacit_status status = tacit_outfile_open(&file, folder, TACIT_SHARDS_LIST, err);
    if (status)
        return status;
    file.hasty = true;
    for (uint32_t k = 0; k < count; k++)
        tacit_write_format(&file.text, "%" PRIu32 "\n", agents[k]);
    return tacit_outfile_stage(&file, err);
}

tacit_status tacit_shards_write(const char *path, const tacit_dataset *data, const uint32_t *agents,
                                uint32_t count, tacit_error *err)
{
    tacit_folder folder;
    tacit_status status = tacit_folder_create(&folder, path, err);
    if (status)
        return status;
    for (int split = 0; split < TACIT_SPLITS && !status; split++)
        status = write_split(&folder, data, split, agents, count, err);
    if (!status)
        status = write_list(&folder, agents, count, err);
    for (int split = 0; split < TACIT_SPLITS && !status; split++)
        status = tacit_outfile_publish(&folder, tacit_shards_files[split], err);
    if (!status)
        status = tacit_outfile_publish(&folder, TACIT_SHARDS_LIST, err);
    if (status)
        tacit_folder_abandon(&folder);
    tacit_folder_close(&folder);
    return status;
}
