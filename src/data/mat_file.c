/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MAT format, versions 5 to 7, as far as numbers need it. A file is a header of 128 bytes
 * and elements; an element is a tag (type, length) and its bytes, padded to a multiple of 8.
 * A variable is an element of type "matrix", or "compressed": a zlib stream with a matrix in
 * it. Inside a matrix: flags (with the class), sizes, name, then the numbers, or one matrix a
 * cell. Numbers may be stored in a smaller type than their class; the tag says which.
 *
 * We read it ourselves and do not call libmatio, against the first plan: matio believes a
 * header before it has seen the bytes (sizes of cell arrays are allocated and walked), so a file
 * from a stranger would need a check of its whole structure first, and that check is this file.
 * tests/unit/mat_test.c compares with matio where it is installed.
 *
 * Invariant: an element never reaches past the bytes it is in; every grid has as many bytes as
 * its sizes ask for; there are no more cells than 8 bytes each.
 */
#include "data/mat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 128
#define PEEK 1024 /* bytes of a compressed variable that are looked at for its name */

enum {
    MI_INT8 = 1,
    MI_UINT8 = 2,
    MI_INT32 = 5,
    MI_UINT32 = 6,
    MI_MATRIX = 14,
    MI_COMPRESSED = 15,
    MI_UTF8 = 16
};
enum { MX_CELL = 1, MX_CHAR = 4, MX_SPARSE = 5, MX_DOUBLE = 6, MX_UINT64 = 15 };

typedef struct span {
    const unsigned char *at, *end;
    bool big;
} span;

typedef struct element {
    uint32_t type;
    const unsigned char *at;
    size_t len;
} element;

/* What comes before the numbers of a matrix. */
typedef struct matrix {
    uint32_t class;
    bool complex;
    uint32_t rank;
    size_t dim[2]; /* only if rank is 2 */
    const unsigned char *name;
    size_t name_len;
    span rest;
} matrix;

/* ---- elements ---- */

static uint32_t word_at(const unsigned char *b, bool big)
{
    return big ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
               : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

/* The next element of `s`; false if it does not fit. Up to four bytes may sit in the tag. */
static bool next_element(span *s, element *e)
{
    if (s->end - s->at < 8)
        return false;
    uint32_t first = word_at(s->at, s->big);
    if (first >> 16) {
        *e = (element){first & 0xffff, s->at + 4, first >> 16};
        s->at += 8;
        return e->len <= 4;
    }
    *e = (element){first, s->at + 8, word_at(s->at + 4, s->big)};
    size_t left = (size_t)(s->end - s->at) - 8;
    if (e->len > left)
        return false;
    size_t padded = e->type == MI_COMPRESSED ? e->len : (e->len + 7) / 8 * 8;
    s->at += 8 + (padded < left ? padded : left); /* the last one may lack its padding */
    return true;
}

/* Flags, sizes and name of the matrix in `e`; false if it is damaged. `e` may be cut after
 * them. */
static bool read_matrix(matrix *m, const element *e, bool big)
{
    element flags, sizes, name;
    *m = (matrix){.rest = {e->at, e->at + e->len, big}};
    if (!next_element(&m->rest, &flags) || flags.type != MI_UINT32 || flags.len != 8 ||
        !next_element(&m->rest, &sizes) || sizes.type != MI_INT32 || sizes.len % 4 != 0 ||
        sizes.len < 8 || !next_element(&m->rest, &name) ||
        (name.type != MI_INT8 && name.type != MI_UINT8 && name.type != MI_UTF8))
        return false;
    uint32_t word = word_at(flags.at, big);
    m->class = word & 0xff;
    m->complex = word & 0x800;
    m->rank = (uint32_t)(sizes.len / 4);
    for (uint32_t k = 0; k < 2; k++) {
        m->dim[k] = word_at(sizes.at + 4 * (size_t)k, big);
        if (m->dim[k] > INT32_MAX)
            return false;
    }
    m->name = name.at;
    m->name_len = name.len;
    return true;
}

/* ---- values ---- */

static bool find_kind(uint32_t type, tacit_kind *kind)
{
    static const struct {
        uint32_t type;
        tacit_kind kind;
    } kinds[] = {
        {1, TACIT_KIND_I8},   {2, TACIT_KIND_U8},   {3, TACIT_KIND_I16}, {4, TACIT_KIND_U16},
        {5, TACIT_KIND_I32},  {6, TACIT_KIND_U32},  {7, TACIT_KIND_F32}, {9, TACIT_KIND_F64},
        {12, TACIT_KIND_I64}, {13, TACIT_KIND_U64},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (kinds[k].type == type) {
            *kind = kinds[k].kind;
            return true;
        }
    }
    return false;
}

static tacit_status damaged(const char *name, const char *variable, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "%.300s: variable \"%.100s\" is cut or damaged; get the file again", name,
                      variable);
}

static tacit_status not_numbers(const char *name, const char *variable, const matrix *m,
                                tacit_error *err)
{
    const char *what = m->complex              ? "complex numbers"
                       : m->class == MX_CHAR   ? "text"
                       : m->class == MX_SPARSE ? "a sparse matrix; save full(...)"
                                               : "neither a matrix nor a cell array of matrices";
    if (!m->complex && m->class >= MX_DOUBLE && m->class <= MX_UINT64)
        what = "of more than two dimensions";
    return tacit_fail(err, TACIT_EINPUT,
                      "%.300s: \"%.100s\" is or contains %s; expected real matrices", name,
                      variable, what);
}

/* The numbers of a matrix whose beginning was read. */
static tacit_status read_numbers(tacit_grid *grid, matrix *m, const char *name,
                                 const char *variable, tacit_error *err)
{
    element numbers = {0};
    size_t need;
    *grid = (tacit_grid){.rank = 2, .column_major = true, .big = m->rest.big};
    if (m->complex || m->rank != 2 || m->class < MX_DOUBLE || m->class > MX_UINT64)
        return not_numbers(name, variable, m, err);
    grid->dim[0] = m->dim[0];
    grid->dim[1] = m->dim[1];
    bool empty = m->dim[0] == 0 || m->dim[1] == 0;
    if ((!next_element(&m->rest, &numbers) && !empty) ||
        (!empty && !find_kind(numbers.type, &grid->kind)) || !tacit_grid_measure(grid, &need) ||
        need != numbers.len)
        return damaged(name, variable, err);
    grid->bytes = numbers.at;
    return TACIT_OK;
}

static tacit_status read_cells(tacit_mat_array *out, matrix *m, const char *name,
                               const char *variable, tacit_error *err)
{
    size_t count;
    if (m->rank != 2)
        return not_numbers(name, variable, m, err);
    if (!tacit_mul_size(m->dim[0], m->dim[1], &count) ||
        count > (size_t)(m->rest.end - m->rest.at) / 8)
        return damaged(name, variable, err);
    out->is_cell = true;
    out->cell = calloc(count + 1, sizeof *out->cell);
    if (!out->cell)
        return tacit_out_of_memory(err);
    for (; out->count < count; out->count++) {
        element e;
        matrix inner;
        if (!next_element(&m->rest, &e) || e.type != MI_MATRIX)
            return damaged(name, variable, err);
        if (e.len == 0) { /* an empty cell may be written as nothing at all */
            out->cell[out->count] = (tacit_grid){.rank = 2, .column_major = true};
            continue;
        }
        if (!read_matrix(&inner, &e, m->rest.big))
            return damaged(name, variable, err);
        tacit_status status = read_numbers(&out->cell[out->count], &inner, name, variable, err);
        if (status)
            return status;
    }
    return TACIT_OK;
}

static tacit_status read_value(tacit_mat_array *out, matrix *m, const char *name,
                               const char *variable, tacit_error *err)
{
    if (m->class == MX_CELL)
        return read_cells(out, m, name, variable, err);
    out->cell = calloc(1, sizeof *out->cell);
    if (!out->cell)
        return tacit_out_of_memory(err);
    out->count = 1;
    return read_numbers(&out->cell[0], m, name, variable, err);
}

/* ---- variables ---- */

/* The matrix in a compressed element, as far as `unpacked` goes. */
static bool open_unpacked(matrix *m, const unsigned char *bytes, size_t len, bool big, bool whole)
{
    if (len < 8 || word_at(bytes, big) != MI_MATRIX)
        return false;
    size_t claimed = word_at(bytes + 4, big);
    if (whole && claimed > len - 8)
        return false;
    element e = {MI_MATRIX, bytes + 8, claimed < len - 8 ? claimed : len - 8};
    return read_matrix(m, &e, big);
}

/* Look at a top-level element: false if it is no variable, or damaged before its name. */
static bool peek(matrix *m, const element *e, bool big, unsigned char room[PEEK])
{
    if (e->type == MI_MATRIX)
        return read_matrix(m, e, big);
    if (e->type != MI_COMPRESSED)
        return false;
    size_t got = tacit_unpack_start(room, PEEK, (const char *)e->at, e->len);
    return open_unpacked(m, room, got, big, false);
}

static tacit_status read_variable(tacit_mat_array *out, const element *e, bool big,
                                  const char *name, const char *variable,
                                  const tacit_data_options *options, tacit_error *err)
{
    matrix m;
    if (e->type == MI_MATRIX)
        return read_matrix(&m, e, big) ? read_value(out, &m, name, variable, err)
                                       : damaged(name, variable, err);
    tacit_status status = tacit_unpack(&out->unpacked, TACIT_PACK_ZLIB, name, (const char *)e->at,
                                       e->len, options, err);
    if (status)
        return status;
    if (!open_unpacked(&m, out->unpacked.block.bytes, out->unpacked.len, big, true))
        return damaged(name, variable, err);
    return read_value(out, &m, name, variable, err);
}

/* Add a name to "a, b, c" for a message. */
static void list_name(char *list, size_t size, const matrix *m)
{
    size_t used = strlen(list);
    int len = (int)(m->name_len < 60 ? m->name_len : 60);
    if (used + (size_t)len + 8 < size)
        snprintf(list + used, size - used, "%s%.*s", used ? ", " : "", len, (const char *)m->name);
    for (char *c = list + used; *c; c++)
        *c = *c < 0x20 || *c > 0x7e ? '?' : *c;
}

static tacit_status check_header(const char *name, const char *bytes, size_t len, bool *big,
                                 tacit_error *err)
{
    bool little = len >= HEADER && memcmp(bytes + 124, "\x00\x01IM", 4) == 0;
    *big = len >= HEADER && memcmp(bytes + 124, "\x01\x00MI", 4) == 0;
    if (little || *big)
        return TACIT_OK;
    if (len < HEADER && len >= 6 && memcmp(bytes, "MATLAB", 6) == 0)
        return tacit_fail(err, TACIT_EINPUT, "%.300s: cut inside the MAT header; get it again",
                          name);
    return tacit_not_a(name, "a MAT file of version 5 to 7", bytes, len, err);
}

tacit_status tacit_mat_find(tacit_mat_array *out, const char *wanted, const char *name,
                            const char *bytes, size_t len, const tacit_data_options *options,
                            tacit_error *err)
{
    char known[200] = "";
    unsigned char room[PEEK];
    bool big;
    *out = (tacit_mat_array){0};
    tacit_status status = check_header(name, bytes, len, &big, err);
    if (status)
        return status;
    const unsigned char *start = (const unsigned char *)bytes;
    span s = {start + HEADER, start + len, big};
    element e;
    while (s.at < s.end) {
        matrix m;
        if (!next_element(&s, &e))
            return tacit_fail(err, TACIT_EINPUT,
                              "%.300s: cut or damaged before variable \"%.100s\"; get it again",
                              name, wanted);
        if (!peek(&m, &e, big, room))
            continue;
        if (m.name_len == strlen(wanted) && memcmp(m.name, wanted, m.name_len) == 0)
            return read_variable(out, &e, big, name, wanted, options, err);
        list_name(known, sizeof known, &m);
    }
    return tacit_fail(err, TACIT_EINPUT, "%.300s: no variable \"%.100s\"; %s%s", name, wanted,
                      known[0] ? "it has " : "it has none that can be read", known);
}

void tacit_mat_clear(tacit_mat_array *array)
{
    free(array->cell);
    tacit_bytes_clear(&array->unpacked);
    *array = (tacit_mat_array){0};
}
