/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NPY, the format of numpy: magic bytes, version, length of a header, the header, the numbers.
 * The header is a Python dictionary with exactly three keys,
 *
 *     {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
 *
 * and is read as exactly that and nothing else: no expressions, no other keys, no objects. The
 * file must be exactly as long as the header says.
 */
#include "data/bytes.h"
#include "data/grid.h"

#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_LEN 6

typedef struct cursor {
    const char *at, *end;
} cursor;

typedef struct type {
    char letter, size;
    tacit_kind kind;
} type;

static const type types[] = {
    {'f', '4', TACIT_KIND_F32}, {'f', '8', TACIT_KIND_F64}, {'i', '1', TACIT_KIND_I8},
    {'i', '2', TACIT_KIND_I16}, {'i', '4', TACIT_KIND_I32}, {'i', '8', TACIT_KIND_I64},
    {'u', '1', TACIT_KIND_U8},  {'u', '2', TACIT_KIND_U16}, {'u', '4', TACIT_KIND_U32},
    {'u', '8', TACIT_KIND_U64}, {'b', '1', TACIT_KIND_U8},
};

/* ---- the grammar ---- */

static void blanks(cursor *c)
{
    while (c->at < c->end && *c->at == ' ')
        c->at++;
}

/* Step over `text` after blanks; false if it is not there. */
static bool take(cursor *c, const char *text)
{
    size_t len = strlen(text);
    blanks(c);
    if ((size_t)(c->end - c->at) < len || memcmp(c->at, text, len) != 0)
        return false;
    c->at += len;
    return true;
}

/* A string in either kind of quotes, without escapes, of at most size - 1 letters. */
static bool string(cursor *c, char *out, size_t size)
{
    blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    char quote = *c->at++;
    size_t len = 0;
    for (; c->at < c->end && *c->at != quote; c->at++) {
        if (*c->at == '\\' || len + 1 == size)
            return false;
        out[len++] = *c->at;
    }
    out[len] = '\0';
    return c->at < c->end && (c->at++, true);
}

static bool number(cursor *c, size_t *out)
{
    blanks(c);
    const char *first = c->at;
    *out = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (!tacit_mul_size(*out, 10, out) || !tacit_add_size(*out, (size_t)(*c->at - '0'), out))
            return false;
    }
    return c->at > first;
}

/* (3, 4) or (3,) */
static bool shape(cursor *c, tacit_grid *grid)
{
    if (!take(c, "("))
        return false;
    bool comma = true;
    while (!take(c, ")")) {
        if (!comma || grid->rank == TACIT_GRID_RANK || !number(c, &grid->dim[grid->rank]))
            return false;
        grid->rank++;
        comma = take(c, ",");
    }
    return grid->rank != 1 || comma; /* "(3)" is a number, not a shape */
}

static bool descr(const char *text, tacit_grid *grid)
{
    if (strlen(text) != 3 || !strchr("<>|", text[0]))
        return false;
    grid->big = text[0] == '>';
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        if (types[k].letter == text[1] && types[k].size == text[2]) {
            grid->kind = types[k].kind;
            return text[0] != '|' || text[2] == '1';
        }
    }
    return false;
}

/* The value of `key`. `type_text` keeps the type for a message. */
static bool value(cursor *c, const char *key, tacit_grid *grid, unsigned *seen, char type_text[16])
{
    if (strcmp(key, "descr") == 0) {
        *seen |= 1;
        return string(c, type_text, 16);
    }
    if (strcmp(key, "fortran_order") == 0) {
        *seen |= 2;
        grid->column_major = take(c, "True");
        return grid->column_major || take(c, "False");
    }
    if (strcmp(key, "shape") != 0 || *seen & 4)
        return false;
    *seen |= 4;
    return shape(c, grid);
}

static bool dictionary(cursor c, tacit_grid *grid, char type_text[16])
{
    unsigned seen = 0;
    char key[16];
    bool comma = true;
    if (!take(&c, "{"))
        return false;
    while (!take(&c, "}")) {
        if (!comma || !string(&c, key, sizeof key) || !take(&c, ":") ||
            !value(&c, key, grid, &seen, type_text))
            return false;
        comma = take(&c, ",");
    }
    blanks(&c);
    while (c.at < c.end && *c.at == '\n')
        c.at++;
    return seen == 7 && c.at == c.end;
}

/* ---- the file ---- */

bool tacit_is_npy(const char *bytes, size_t len)
{
    return len >= MAGIC_LEN && memcmp(bytes, MAGIC, MAGIC_LEN) == 0;
}

/* Where the header starts and ends; false if the file ends before that. */
static bool find_header(const char *bytes, size_t len, size_t *start, size_t *end)
{
    const unsigned char *b = (const unsigned char *)bytes;
    if (len < 12)
        return false;
    size_t length = b[8] | (size_t)b[9] << 8;
    *start = 10;
    if (b[6] > 1) {
        length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
        *start = 12;
    }
    *end = *start + length;
    return *end <= len;
}

static tacit_status read_header(tacit_grid *grid, const char *name, cursor header, tacit_error *err)
{
    char type_text[16] = "";
    if (!dictionary(header, grid, type_text))
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: the NPY header is damaged, or of an array that is not made of "
                          "plain numbers",
                          name);
    if (!descr(type_text, grid))
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: an array of type \"%s\"; expected f4, f8, i1 to i8, u1 to u8 or "
                          "b1; save it with astype(float)",
                          name, type_text);
    if (grid->rank == 0)
        return tacit_fail(err, TACIT_EINPUT, "%.300s: a single number; expected an array", name);
    return TACIT_OK;
}

tacit_status tacit_npy_open(tacit_grid *grid, const char *name, const char *bytes, size_t len,
                            tacit_error *err)
{
    size_t start, end, need;
    *grid = (tacit_grid){0};
    if (!tacit_is_npy(bytes, len))
        return tacit_not_a(name, "an NPY file", bytes, len, err);
    if (len > 7 && (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0))
        return tacit_fail(err, TACIT_EINPUT, "%.300s: NPY version %d.%d; expected 1.0, 2.0 or 3.0",
                          name, bytes[6], bytes[7]);
    if (!find_header(bytes, len, &start, &end))
        return tacit_fail(err, TACIT_EINPUT, "%.300s: cut inside the NPY header; get it again",
                          name);
    tacit_status status = read_header(grid, name, (cursor){bytes + start, bytes + end}, err);
    if (status)
        return status;
    if (!tacit_grid_measure(grid, &need) || need != len - end)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: the NPY header promises %zu records of %zu numbers, but %zu "
                          "bytes follow; the file is cut or damaged",
                          name, grid->rows, grid->width, len - end);
    grid->bytes = (const unsigned char *)bytes + end;
    return TACIT_OK;
}

tacit_status tacit_read_npy(tacit_table *out, const tacit_data_options *options, const char *name,
                            const char *bytes, size_t len, tacit_scalar scalar, tacit_error *err)
{
    tacit_grid grid;
    *out = (tacit_table){0};
    tacit_status status = tacit_npy_open(&grid, name, bytes, len, err);
    return status ? status : tacit_grid_table(out, &grid, options, name, scalar, err);
}
