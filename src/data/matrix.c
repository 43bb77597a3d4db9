/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plain matrix of numbers from a file: NPY of two dimensions, or text with one row a line,
 * numbers between commas, blanks or tabs, and '#' before a comment. It is for public tables that
 * stand beside an experiment (a kernel over agents, who leaves when), not for records: nothing is
 * missing in it, nothing has a name, and every number is finite.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "config/text.h"
#include "data/bytes.h"
#include "data/csv_scan.h"
#include "data/grid.h"

typedef struct text_reader {
    tacit_matrix *out;
    const char *name, *header;
    size_t line, count, capacity; /* numbers so far */
    tacit_error *err;
} text_reader;

static bool is_gap(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == '\r';
}

static tacit_status no_number(const text_reader *r, const char *word, size_t len)
{
    char shown[80];
    tacit_show(word, len, shown, sizeof shown);
    return tacit_fail(r->err, TACIT_EINPUT, "%.300s:%zu: \"%s\" is not a finite number", r->name,
                      r->line, shown);
}

static tacit_status add(text_reader *r, const char *word, size_t len)
{
    double number;
    if (!tacit_csv_number(word, len, &number) || !isfinite(number))
        return no_number(r, word, len);
    double *value = tacit_array_grow(r->out->value, &r->capacity, r->count + 1, sizeof *value);
    if (!value)
        return tacit_out_of_memory(r->err);
    r->out->value = value;
    value[r->count++] = number;
    return TACIT_OK;
}

static const char *word_end(const char *at, const char *end)
{
    while (at < end && !is_gap(*at) && *at != '#')
        at++;
    return at;
}

/* Step over what separates two numbers: blanks, and a comma if a number follows it. */
static tacit_status skip_gap(const text_reader *r, const char **at, const char *end)
{
    const char *c = *at;
    int commas = 0;
    for (; c < end && is_gap(*c); c++)
        commas += *c == ',';
    *at = c;
    if (commas > 1 || (commas == 1 && (c == end || *c == '#')))
        return tacit_fail(r->err, TACIT_EINPUT,
                          "%.300s:%zu: there is a comma without a number behind it", r->name,
                          r->line);
    return TACIT_OK;
}

static tacit_status read_line(text_reader *r, const char *at, const char *end)
{
    const size_t before = r->count;
    while (at < end && is_gap(*at) && *at != ',')
        at++;
    while (at < end && *at != '#') {
        const char *stop = word_end(at, end);
        tacit_status status = add(r, at, (size_t)(stop - at));
        at = stop;
        if (status == TACIT_OK)
            status = skip_gap(r, &at, end);
        if (status != TACIT_OK)
            return status;
    }
    const size_t found = r->count - before;
    if (found == 0)
        return TACIT_OK;
    if (r->out->rows > 0 && found != r->out->columns)
        return tacit_fail(r->err, TACIT_EINPUT,
                          "%.300s:%zu: %zu numbers in this row, %zu in those before", r->name,
                          r->line, found, r->out->columns);
    r->out->columns = found;
    r->out->rows++;
    return TACIT_OK;
}

static bool is_header(const text_reader *r, const char *at, const char *end)
{
    while (end > at && (end[-1] == '\r' || end[-1] == ' '))
        end--;
    return r->header && r->out->rows == 0 && strlen(r->header) == (size_t)(end - at) &&
           memcmp(r->header, at, (size_t)(end - at)) == 0;
}

static tacit_status read_text(text_reader *r, const char *text, size_t len)
{
    const char *end = text + len;
    tacit_status status = tacit_refuse_binary(r->name, "a text table", text, len, r->err);
    if (status == TACIT_OK && len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3; /* a byte order mark */
    for (const char *at = text; at < end && status == TACIT_OK;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        r->line++;
        if (!is_header(r, at, stop ? stop : end))
            status = read_line(r, at, stop ? stop : end);
        at = stop ? stop + 1 : end;
    }
    return status;
}

static tacit_status read_npy(tacit_matrix *out, const char *name, const char *bytes, size_t len,
                             tacit_error *err)
{
    tacit_grid grid;
    size_t count, room;
    tacit_status status = tacit_npy_open(&grid, name, bytes, len, err);
    if (status != TACIT_OK)
        return status;
    if (grid.rank != 2)
        return tacit_fail(err, TACIT_EINPUT, "%.300s: an array of %u dimensions; expected two",
                          name, grid.rank);
    if (!tacit_mul_size(grid.rows, grid.width, &count) ||
        !tacit_mul_size(count, sizeof *out->value, &room) ||
        !(out->value = malloc(room ? room : 1)))
        return tacit_out_of_memory(err);
    out->rows = grid.rows;
    out->columns = grid.width;
    for (size_t i = 0; i < grid.rows; i++)
        for (size_t j = 0; j < grid.width; j++) {
            const double number = tacit_grid_at(&grid, i, j);
            if (!isfinite(number))
                return tacit_fail(err, TACIT_EINPUT,
                                  "%.300s: the number in row %zu, column %zu (from 0) is %g; all "
                                  "must be finite",
                                  name, i, j, number);
            out->value[i * grid.width + j] = number;
        }
    return TACIT_OK;
}

tacit_status tacit_matrix_parse(tacit_matrix *out, const char *name, const char *header,
                                const char *bytes, size_t len, tacit_error *err)
{
    *out = (tacit_matrix){0};
    text_reader r = {.out = out, .name = name, .header = header, .err = err};
    tacit_status status =
        tacit_is_npy(bytes, len) ? read_npy(out, name, bytes, len, err) : read_text(&r, bytes, len);
    if (status == TACIT_OK && (out->rows == 0 || out->columns == 0))
        status = tacit_fail(err, TACIT_EINPUT, "%.300s: there are no numbers in it", name);
    if (status != TACIT_OK)
        tacit_matrix_clear(out);
    return status;
}

tacit_status tacit_matrix_read(tacit_matrix *out, const char *path, const char *header,
                               tacit_error *err)
{
    tacit_bytes bytes = {0};
    *out = (tacit_matrix){0};
    tacit_status status = tacit_bytes_load(&bytes, path, "", NULL, err);
    if (status == TACIT_OK)
        status = tacit_matrix_parse(out, path, header, tacit_bytes_at(&bytes), bytes.len, err);
    tacit_bytes_clear(&bytes);
    return status;
}

void tacit_matrix_clear(tacit_matrix *matrix)
{
    free(matrix->value);
    *matrix = (tacit_matrix){0};
}
