/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a MAT file. The first byte chooses: scalar, missing values, whether labels are in
 * the file, and whether the bytes are packed before they are read, so that what is inside a
 * compressed variable is met without a checksum in the way.
 */
#include <zlib.h>

#include "table_check.h"

#define HEADER 128

/* A file with one compressed element that holds `bytes`. */
static uint8_t *pack(const uint8_t *bytes, size_t len, size_t *out_len)
{
    uLongf room = compressBound((uLong)len);
    uint8_t *out = calloc(1, HEADER + 8 + room);
    if (!out)
        return NULL;
    memcpy(out + 124, "\x00\x01IM", 4);
    if (compress2(out + HEADER + 8, &room, bytes, (uLong)len, 1) != Z_OK)
        abort();
    const uint8_t tag[8] = {15,
                            0,
                            0,
                            0,
                            (uint8_t)room,
                            (uint8_t)(room >> 8),
                            (uint8_t)(room >> 16),
                            (uint8_t)(room >> 24)};
    memcpy(out + HEADER, tag, sizeof tag);
    *out_len = HEADER + 8 + room;
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    tacit_data_options o = {.source = TACIT_SOURCE_MAT, .x_name = "X", .y_name = "Y"};
    if (len == 0)
        return 0;
    uint8_t how = bytes[0];
    o.missing_rule = how & 2 ? TACIT_MISSING_MEAN : TACIT_MISSING_REFUSE;
    if (how & 4)
        memcpy(o.labels_path, "elsewhere", 10);
    if (how & 16)
        memcpy(o.y_name, "X", 2);
    tacit_scalar scalar = how & 1 ? TACIT_F32 : TACIT_F64;
    size_t packed_len = 0;
    uint8_t *packed = how & 8 ? pack(bytes + 1, len - 1, &packed_len) : NULL;
    if (packed)
        try_reader(tacit_read_mat, &o, packed, packed_len, scalar);
    else
        try_reader(tacit_read_mat, &o, bytes + 1, len - 1, scalar);
    free(packed);
    return 0;
}
