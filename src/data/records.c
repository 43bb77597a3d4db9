/* SPDX-License-Identifier: Apache-2.0 */
#include "data/records.h"

#include <stdio.h>
#include <stdlib.h>

#include "data/bytes.h"
#include "data/grid.h"

static int source_of(const char *bytes, size_t len)
{
    if (tacit_is_npy(bytes, len))
        return TACIT_SOURCE_NPY;
    return tacit_is_idx(bytes, len) ? TACIT_SOURCE_IDX : TACIT_SOURCE_CSV;
}

static tacit_reader *reader_of(int source)
{
    return source == TACIT_SOURCE_NPY   ? tacit_read_npy
           : source == TACIT_SOURCE_IDX ? tacit_read_idx
           : source == TACIT_SOURCE_CSV ? tacit_read_csv
                                        : NULL;
}

static tacit_status read_one(tacit_table *out, tacit_data_options *o, bool any, const char *path,
                             tacit_error *err)
{
    tacit_bytes bytes;
    tacit_status status = tacit_bytes_load(&bytes, path, o->folder, o, err);
    if (status)
        return status;
    const char *at = tacit_bytes_at(&bytes);
    o->source = any ? source_of(at, bytes.len) : o->source;
    tacit_reader *read = reader_of(o->source);
    if (read)
        status = read(out, o, path, at, bytes.len, TACIT_F32, err);
    else
        status = tacit_fail(err, TACIT_EINPUT,
                            "%.300s: records to be predicted are read from csv, npy or idx files; "
                            "set data.source to one of them",
                            path);
    tacit_bytes_clear(&bytes);
    return status;
}

static tacit_status read_all(tacit_table *out, tacit_table *parts, tacit_data_options *o, bool any,
                             const char *const *paths, size_t count, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < count && !status; k++)
        status = read_one(&parts[k], o, any, paths[k], err);
    return status ? status : tacit_table_join(out, parts, paths, count, false, o, err);
}

tacit_status tacit_records_read(tacit_table *out, const tacit_data_options *options, bool any,
                                bool labels, const char *const *paths, size_t count,
                                tacit_error *err)
{
    tacit_data_options o = *options;
    *out = (tacit_table){0};
    o.partition = TACIT_PARTITION_IID; /* nobody has to own them */
    if (!labels) /* as if they came from elsewhere: a reader then leaves its own column out */
        snprintf(o.labels_path, sizeof o.labels_path, "elsewhere");
    tacit_table *parts = calloc(count, sizeof *parts);
    if (!parts)
        return tacit_out_of_memory(err);
    tacit_status status = read_all(out, parts, &o, any, paths, count, err);
    for (size_t k = 0; k < count; k++)
        tacit_table_clear(&parts[k]);
    free(parts);
    if (!status && labels)
        status = tacit_table_finish(out, &o, paths[0], err);
    if (status)
        tacit_table_clear(out);
    return status;
}
