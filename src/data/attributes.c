/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two passes: one over the bytes turns every cell into a number, a year and the number of its
 * word (whichever it can be); one over the columns decides what each is, and a last one writes
 * the features. A cell costs at least a byte of the file, so memory is in proportion to it.
 */
#include "data/attributes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "data/bytes.h"
#include "data/csv_scan.h"
#include "tacit/data.h"

#define NO_WORD UINT32_MAX

typedef struct cell {
    double number, year; /* NaN: it is none */
    uint32_t word;       /* NO_WORD: empty */
} cell;

typedef enum kind { KIND_NOTHING, KIND_FLAG, KIND_NUMBER, KIND_YEAR, KIND_WORDS } kind;

#define BENDS 4 /* features of a number: see bend */

typedef struct column {
    kind kind;
    double mean, deviation;
    bool bends[BENDS];      /* which of them are not zero for all things */
    size_t first, features; /* where they stand */
    uint32_t word[TACIT_ATTRIBUTE_WORDS_MAX];
} column;

typedef struct reading {
    const char *name, *what;
    const tacit_names *known;
    tacit_csv_scan scan;
    size_t columns; /* beside the name */
    tacit_names words;
    cell *cell; /* rows x columns */
    size_t capacity, used;
    column *column;
    tacit_attributes out;
} reading;

static void reading_clear(reading *r)
{
    tacit_csv_close(&r->scan);
    tacit_names_clear(&r->words);
    free(r->cell);
    free(r->column);
    tacit_attributes_clear(&r->out);
}

/* ---- cells ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Four digits, from 1000. */
static bool year_at(const char *text, double *year)
{
    int value = 0;
    for (int k = 0; k < 4; k++) {
        if (!is_digit(text[k]))
            return false;
        value = 10 * value + (text[k] - '0');
    }
    *year = value;
    return value >= 1000;
}

/* "01-Jan-1995", "31/12/1995", "1995-01-31": three parts, the first or the last of them a year. */
static double year_of(const char *text, size_t len)
{
    size_t marks = 0, from = 0, last = 0;
    double year;
    for (size_t k = 0; k < len; k++)
        if (text[k] == '-' || text[k] == '/' || text[k] == '.') {
            from = marks++ == 0 ? k : from;
            last = k;
        }
    if (marks != 2 || from == 0 || last == from + 1)
        return NAN;
    if (from == 4 && len > last + 1 && year_at(text, &year))
        return year;
    return len - last == 5 && year_at(text + last + 1, &year) ? year : NAN;
}

/* "007" and "06437" name something; they are no numbers. */
static double number_of(const char *text, size_t len)
{
    double value;
    bool name = len > 1 && text[0] == '0' && is_digit(text[1]);
    return !name && tacit_csv_number(text, len, &value) ? value : NAN;
}

static tacit_status make_cell(reading *r, const tacit_csv_field *f, cell *out, tacit_error *err)
{
    *out = (cell){NAN, NAN, NO_WORD};
    if (f->len == 0)
        return TACIT_OK;
    bool added;
    out->number = number_of(f->text, f->len);
    out->year = year_of(f->text, f->len);
    return tacit_names_intern(&r->words, f->text, f->len, &out->word, &added, err);
}

/* ---- lines ---- */

static char guess_separator(const char *bytes, size_t len)
{
    static const char choices[] = {'|', '\t', ';', ','};
    const char *end = len ? memchr(bytes, '\n', len) : NULL;
    size_t line = end ? (size_t)(end - bytes) : len;
    for (size_t k = 0; k < sizeof choices; k++)
        if (line && memchr(bytes, choices[k], line))
            return choices[k];
    return ',';
}

static tacit_status wrong_count(const reading *r, uint64_t line, size_t found, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "%.200s:%" PRIu64
                      ": %zu field%s, but %zu in the first line; is the file cut?",
                      r->name, line, found, found == 1 ? "" : "s", r->columns + 1);
}

static tacit_status add_name(reading *r, const tacit_csv_field *f, tacit_error *err)
{
    char room[TACIT_CSV_SHOWN_MAX + 4];
    uint32_t number;
    bool added = false;
    if (f->len == 0 || f->len >= TACIT_NAME_MAX)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.200s:%" PRIu64 ": the first field, \"%s\", names no %s: it takes 1 to "
                          "%d bytes",
                          r->name, f->line, tacit_csv_shown(f->text, f->len, room), r->what,
                          TACIT_NAME_MAX - 1);
    tacit_status status = tacit_names_intern(&r->out.names, f->text, f->len, &number, &added, err);
    if (!status && !added)
        return tacit_fail(err, TACIT_EINPUT, "%.200s:%" PRIu64 ": %s \"%s\" stands there twice",
                          r->name, f->line, r->what, tacit_csv_shown(f->text, f->len, room));
    return status;
}

static tacit_status add_cell(reading *r, const tacit_csv_field *f, tacit_error *err)
{
    cell *grown = tacit_array_grow(r->cell, &r->capacity, r->used + 1, sizeof *grown);
    if (!grown)
        return tacit_out_of_memory(err);
    r->cell = grown;
    return make_cell(r, f, &r->cell[r->used++], err);
}

/* One line, name first; in the first one the columns are counted. */
static tacit_status read_line(reading *r, bool first, bool *numbers, tacit_error *err)
{
    tacit_csv_field f = {0};
    size_t found = 0;
    uint64_t line = r->scan.line;
    tacit_status status = TACIT_OK;
    for (; !f.last && !status; found++) {
        if ((status = tacit_csv_next(&r->scan, &f, err)))
            return status;
        if (found > TACIT_ATTRIBUTE_COLUMNS_MAX)
            return tacit_fail(err, TACIT_EINPUT, "%.200s:%" PRIu64 ": more than %d fields", r->name,
                              line, TACIT_ATTRIBUTE_COLUMNS_MAX);
        if (!first && found > r->columns)
            return wrong_count(r, line, found + 1, err);
        status = found == 0 ? add_name(r, &f, err) : add_cell(r, &f, err);
        *numbers = *numbers || !isnan(number_of(f.text, f.len));
    }
    if (status)
        return status;
    if (!first && found != r->columns + 1)
        return wrong_count(r, line, found, err);
    r->columns = found - 1;
    if (r->columns == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.200s:%" PRIu64
                          ": one field; expected \"%s,value,...\", with '|', tabs, "
                          "semicolons or commas between",
                          r->name, line, r->what);
    return TACIT_OK;
}

/* Forget the line just read. */
static void drop_header(reading *r)
{
    tacit_names_clear(&r->out.names);
    tacit_names_clear(&r->words);
    r->used = 0;
}

static tacit_status read_lines(reading *r, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (bool first = true; !status && tacit_csv_more(&r->scan); first = false) {
        bool numbers = false;
        status = read_line(r, first, &numbers, err);
        if (status || !first || numbers)
            continue;
        const char *word = tacit_names_get(&r->out.names, 0);
        if (tacit_names_find(r->known, word, strlen(word)) == UINT32_MAX)
            drop_header(r);
    }
    if (!status && r->out.names.count == 0)
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" describes no %s", r->name, r->what);
    return status;
}

/* ---- columns ---- */

/* The value of a cell, scaled and cut; NaN if it has none. */
static double scaled(const column *c, const cell *v)
{
    double value = c->kind == KIND_YEAR ? v->year : v->number;
    double z = (value - c->mean) / c->deviation;
    return isnan(z) ? z : fmax(-TACIT_ATTRIBUTE_CUT, fmin(TACIT_ATTRIBUTE_CUT, z));
}

/* A broken line through weights of these: it may bend at the mean and a deviation either way. */
static double bend(int k, double z)
{
    switch (k) {
    case 0:
        return z;
    case 1:
        return fmax(0, -z);
    case 2:
        return fmax(0, -1 - z);
    default:
        return fmax(0, z - 1);
    }
}

/* Sum of (value - c->mean)^power over what is there. */
static double sum_of(const reading *r, size_t at, const column *c, int power, double *count)
{
    double sum = 0;
    *count = 0;
    for (size_t k = at; k < r->used; k += r->columns) {
        double v = (c->kind == KIND_YEAR ? r->cell[k].year : r->cell[k].number) - c->mean;
        if (!isnan(v)) {
            sum += power == 1 ? v : v * v;
            ++*count;
        }
    }
    return sum;
}

/* A column that is the same everywhere becomes nothing, and so do numbers near the largest
 * double, which have no deviation that could be told. */
static void scale_column(const reading *r, size_t at, column *c)
{
    double count;
    c->mean = sum_of(r, at, c, 1, &count) / count;
    c->deviation = sqrt(sum_of(r, at, c, 2, &count) / count);
    if (!(c->deviation > 0) || !isfinite(c->deviation) || !isfinite(c->mean)) {
        *c = (column){.kind = KIND_NOTHING};
    } else if (c->kind == KIND_FLAG) {
        c->mean = 0;
        c->deviation = 1;
        c->features = 1;
    }
    for (int b = 0; b < BENDS && c->kind > KIND_FLAG; b++) {
        for (size_t k = at; k < r->used && !c->bends[b]; k += r->columns) {
            double z = scaled(c, &r->cell[k]);
            c->bends[b] = !isnan(z) && bend(b, z) != 0;
        }
        c->features += c->bends[b];
    }
}

/* The different words, or nothing if there are too many. */
static void count_words(const reading *r, size_t at, column *c)
{
    for (size_t k = at; k < r->used; k += r->columns) {
        uint32_t word = r->cell[k].word;
        size_t j = 0;
        while (j < c->features && c->word[j] != word)
            j++;
        if (word == NO_WORD || j < c->features)
            continue;
        if (c->features == TACIT_ATTRIBUTE_WORDS_MAX) {
            c->features = 0;
            c->kind = KIND_NOTHING;
            return;
        }
        c->word[c->features++] = word;
    }
    if (c->features < 2)
        *c = (column){.kind = KIND_NOTHING};
}

static void look_at_column(const reading *r, size_t at, column *c)
{
    bool flags = true, numbers = true, years = true, any = false;
    for (size_t k = at; k < r->used; k += r->columns) {
        const cell *v = &r->cell[k];
        if (v->word == NO_WORD)
            continue;
        any = true;
        flags = flags && (v->number == 0 || v->number == 1);
        numbers = numbers && !isnan(v->number);
        years = years && !isnan(v->year);
    }
    *c = (column){.kind = !any      ? KIND_NOTHING
                          : flags   ? KIND_FLAG
                          : numbers ? KIND_NUMBER
                          : years   ? KIND_YEAR
                                    : KIND_WORDS};
    if (c->kind == KIND_WORDS)
        count_words(r, at, c);
    else if (c->kind != KIND_NOTHING)
        scale_column(r, at, c);
}

static tacit_status look_at_columns(reading *r, tacit_error *err)
{
    r->column = calloc(r->columns, sizeof *r->column);
    if (!r->column)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < r->columns; k++) {
        look_at_column(r, k, &r->column[k]);
        r->column[k].first = r->out.features;
        r->out.features += r->column[k].features;
    }
    if (r->out.features == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.200s\" says nothing that tells one %s from another: it takes a "
                          "column of numbers, dates, or at most %d different words",
                          r->name, r->what, TACIT_ATTRIBUTE_WORDS_MAX);
    if (r->out.features > TACIT_ATTRIBUTE_COLUMNS_MAX)
        return tacit_fail(err, TACIT_EINPUT, "\"%.200s\" makes %zu features; at most %d are taken",
                          r->name, r->out.features, TACIT_ATTRIBUTE_COLUMNS_MAX);
    return TACIT_OK;
}

static void write_cell(const column *c, const cell *v, double *out)
{
    double z;
    out += c->first;
    if (c->kind == KIND_WORDS) {
        for (size_t k = 0; k < c->features; k++)
            out[k] = v->word == c->word[k];
    } else if (c->kind != KIND_NOTHING && !isnan(z = scaled(c, v))) {
        if (c->kind == KIND_FLAG)
            *out = z;
        for (int b = 0; b < BENDS; b++)
            if (c->bends[b])
                *out++ = bend(b, z);
    }
}

static tacit_status write_features(reading *r, tacit_error *err)
{
    size_t numbers, rows = r->out.names.count;
    if (!tacit_mul_size(rows, r->out.features, &numbers) ||
        !(r->out.value = calloc(numbers, sizeof *r->out.value)))
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < r->used; k++)
        write_cell(&r->column[k % r->columns], &r->cell[k],
                   r->out.value + k / r->columns * r->out.features);
    return TACIT_OK;
}

tacit_status tacit_attributes_read(tacit_attributes *out, const tacit_names *known,
                                   const char *what, const char *name, const char *bytes,
                                   size_t len, tacit_error *err)
{
    reading r = {.name = name, .what = what, .known = known};
    tacit_status status;
    *out = (tacit_attributes){0};
    if ((status = tacit_refuse_binary(name, "a text table", bytes, len, err)) ||
        (status = tacit_csv_open(&r.scan, name, bytes, len, err)))
        goto out;
    r.scan.separator = guess_separator(bytes, len);
    r.scan.plain = r.scan.separator == '|' || r.scan.separator == '\t';
    if ((status = read_lines(&r, err)) || (status = look_at_columns(&r, err)) ||
        (status = write_features(&r, err)))
        goto out;
    *out = r.out;
    r.out = (tacit_attributes){0};
out:
    reading_clear(&r);
    return status;
}

void tacit_attributes_clear(tacit_attributes *attributes)
{
    tacit_names_clear(&attributes->names);
    free(attributes->value);
    *attributes = (tacit_attributes){0};
}

const double *tacit_attributes_find(const tacit_attributes *attributes, const char *name)
{
    uint32_t row = tacit_names_find(&attributes->names, name, strlen(name));
    return row == UINT32_MAX ? NULL : attributes->value + row * attributes->features;
}
