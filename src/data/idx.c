/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IDX, the format of MNIST: two zero bytes, a type, a rank, that many sizes of 32 bits, then the
 * numbers, all with the most significant byte first. The file must be exactly as long as its
 * header says.
 */
#include "data/bytes.h"
#include "data/grid.h"

#include <string.h>

typedef struct type {
    unsigned char code;
    tacit_kind kind;
} type;

static const type types[] = {
    {0x08, TACIT_KIND_U8},  {0x09, TACIT_KIND_I8},  {0x0b, TACIT_KIND_I16},
    {0x0c, TACIT_KIND_I32}, {0x0d, TACIT_KIND_F32}, {0x0e, TACIT_KIND_F64},
};

static bool find_type(unsigned char code, tacit_kind *kind)
{
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        if (types[k].code == code) {
            *kind = types[k].kind;
            return true;
        }
    }
    return false;
}

bool tacit_is_idx(const char *bytes, size_t len)
{
    tacit_kind kind;
    return len >= 4 && bytes[0] == 0 && bytes[1] == 0 && find_type((unsigned char)bytes[2], &kind);
}

static size_t read_size(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
}

tacit_status tacit_idx_open(tacit_grid *grid, const char *name, const char *bytes, size_t len,
                            tacit_error *err)
{
    *grid = (tacit_grid){.big = true};
    if (!tacit_is_idx(bytes, len))
        return tacit_not_a(name, "an IDX file", bytes, len, err);
    (void)find_type((unsigned char)bytes[2], &grid->kind);
    grid->rank = (unsigned char)bytes[3];
    if (grid->rank == 0 || grid->rank > TACIT_GRID_RANK)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: an IDX file of %u dimensions; expected 1 to %d", name,
                          grid->rank, TACIT_GRID_RANK);
    size_t header = 4 + 4 * (size_t)grid->rank, need;
    if (len < header)
        return tacit_fail(err, TACIT_EINPUT, "%.300s: cut inside the IDX header; get it again",
                          name);
    for (unsigned k = 0; k < grid->rank; k++)
        grid->dim[k] = read_size(bytes + 4 + 4 * (size_t)k);
    if (!tacit_grid_measure(grid, &need) || need != len - header)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: the IDX header promises %zu records of %zu numbers, but %zu "
                          "bytes follow; the file is cut or damaged",
                          name, grid->rows, grid->width, len - header);
    grid->bytes = (const unsigned char *)bytes + header;
    return TACIT_OK;
}

tacit_status tacit_read_idx(tacit_table *out, const tacit_data_options *options, const char *name,
                            const char *bytes, size_t len, tacit_scalar scalar, tacit_error *err)
{
    tacit_grid grid;
    *out = (tacit_table){0};
    tacit_status status = tacit_idx_open(&grid, name, bytes, len, err);
    if (!status && grid.rank < 2)
        status = tacit_fail(err, TACIT_EINPUT,
                            "%.300s: one number a record; are these labels? data.path names the "
                            "records, data.labels-path the labels",
                            name);
    return status ? status : tacit_grid_table(out, &grid, options, name, scalar, err);
}
