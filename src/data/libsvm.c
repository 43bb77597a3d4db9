/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsvm's text: a line a record, "label index:value index:value ...", indices from 1, ascending;
 * what is not there is 0; "#" starts a comment; "qid:7" is read over.
 *
 * The result is dense, and its width is the largest index, unless data.width says what it is: one
 * record with a larger index would change the width of everybody's model. Because indices ascend,
 * that is the last one of some line: a glance at the ends of lines finds it before anything is
 * claimed, and the one pass over the numbers checks that they did ascend.
 *
 * A few bytes can ask for any width. So beside the limit for all data sets there is one relative
 * to the file: past 64 MiB, no more than 1024 bytes of table for a byte of text. Real sparse
 * sets are below that (rcv1: about 400); for wider ones dense records are the wrong thing.
 */
#include "data/bytes.h"
#include "data/csv_scan.h"
#include "data/table.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL ((size_t)64 << 20)
#define MOST_TIMES 1024
#define MAX_INDEX 4294967295.0

typedef struct reader {
    const char *name;
    const char *at, *end;
    uint64_t line;
    size_t rows, features;
    uint64_t widest_line; /* where the largest index is */
    tacit_table *table;
} reader;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool ends_record(const reader *r, const char *at)
{
    return at == r->end || *at == '\n' || *at == '#';
}

static const char *skip_blanks(const reader *r, const char *at)
{
    while (at < r->end && is_blank(*at))
        at++;
    return at;
}

/* The word at hand, as `file:17: "a:b"; expected ...`. */
static tacit_status bad_word(const reader *r, const char *at, const char *expected,
                             tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4];
    const char *to = at;
    while (!ends_record(r, to) && !is_blank(*to) && to - at < 2 * TACIT_CSV_SHOWN_MAX)
        to++;
    return tacit_fail(err, TACIT_EINPUT, "%s:%" PRIu64 ": \"%s\"; expected %s", r->name, r->line,
                      tacit_csv_shown(at, (size_t)(to - at), shown), expected);
}

/* ---- before: rows and width ---- */

/* The index before the last colon of a line that has one, -1 if there is none. */
static double last_index(const char *from, const char *to)
{
    const char *colon;
    while ((colon = memrchr(from, ':', (size_t)(to - from))) != NULL) {
        const char *digit = colon;
        double index = 0, place = 1;
        for (; digit > from && digit[-1] >= '0' && digit[-1] <= '9'; digit--) {
            index += place * (digit[-1] - '0');
            place = place < 1e12 ? 10 * place : place;
        }
        if (digit < colon)
            return index;
        to = colon; /* "qid:" or the like */
    }
    return -1;
}

/* The pass over the numbers says what is wrong with a line; here it is only measured. */
static void measure(reader *r, double *widest)
{
    uint64_t line = 1;
    *widest = -1;
    for (const char *at = r->at; at < r->end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(r->end - at)), *to = stop ? stop : r->end;
        const char *comment = memchr(at, '#', (size_t)(to - at));
        double index = last_index(at, comment ? comment : to);
        if (index > *widest) {
            *widest = index;
            r->widest_line = line;
        }
        r->rows += skip_blanks(r, at) < (comment ? comment : to);
        at = stop ? stop + 1 : r->end;
    }
}

static tacit_status claim(reader *r, const tacit_data_options *options, size_t len,
                          tacit_scalar scalar, tacit_error *err)
{
    double widest;
    size_t bytes;
    measure(r, &widest);
    if (r->rows == 0)
        return tacit_fail(err, TACIT_EINPUT, "%s: no records; expected lines such as \"1 3:0.5\"",
                          r->name);
    if (widest < 0)
        return tacit_fail(err, TACIT_EINPUT, "%s: no index:value pair anywhere; is it libsvm text?",
                          r->name);
    if (options->width > 0 && widest > (double)options->width)
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:%" PRIu64 ": index %.0f is above data.width, which is \"%" PRId64
                          "\"; raise it, or leave that out",
                          r->name, r->widest_line, widest, options->width);
    r->features = options->width > 0    ? (size_t)options->width
                  : widest < 1          ? 1
                  : widest <= MAX_INDEX ? (size_t)widest
                                        : SIZE_MAX;
    if (!tacit_mul_size(r->rows, r->features, &bytes) ||
        !tacit_mul_size(bytes, tacit_scalar_size(scalar), &bytes) ||
        (bytes > SMALL && bytes / MOST_TIMES > len))
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:%" PRIu64 ": index %.0f would make %zu dense records of as many "
                          "features from %zu bytes of text; is it right?",
                          r->name, r->widest_line, widest, r->rows, len);
    return tacit_table_create(r->table, r->rows, r->features, scalar, options, err);
}

/* ---- the numbers ---- */

/* A number that ends at a blank, or at the end of the record. */
static const char *read_number(const reader *r, const char *at, double *out)
{
    const char *to = tacit_csv_quick_number(at, r->end, out);
    if (to && (ends_record(r, to) || is_blank(*to)))
        return to;
    for (to = at; !ends_record(r, to) && !is_blank(*to);)
        to++;
    return to - at <= TACIT_CSV_FIELD_MAX && tacit_csv_number(at, (size_t)(to - at), out) ? to
                                                                                          : NULL;
}

static bool fits(const reader *r, double value)
{
    return r->table->scalar == TACIT_F64 || fabs(value) <= (double)FLT_MAX;
}

/* The index before a colon, UINT64_MAX if there is none; *at moves past the colon. */
static uint64_t read_index(const reader *r, const char **at)
{
    const char *digit = *at;
    uint64_t index = 0;
    for (; digit < r->end && *digit >= '0' && *digit <= '9'; digit++)
        index = index < UINT32_MAX ? 10 * index + (uint64_t)(*digit - '0') : index;
    if (digit == *at || digit == r->end || *digit != ':')
        return UINT64_MAX;
    *at = digit + 1;
    return index;
}

static tacit_status bad_index(const reader *r, const char *at, uint64_t index, tacit_error *err)
{
    if (index == UINT64_MAX)
        return bad_word(r, at, "index:value, as in \"3:0.5\"", err);
    if (index == 0)
        return bad_word(r, at, "an index from 1", err);
    return bad_word(r, at, "indices in ascending order, each once", err);
}

static void store(const reader *r, size_t row, uint64_t index, double value)
{
    size_t at = row * r->features + (size_t)(index - 1);
    if (r->table->scalar == TACIT_F32)
        ((float *)r->table->x.bytes)[at] = (float)value;
    else
        ((double *)r->table->x.bytes)[at] = value;
}

/* A record's pairs; *at ends where the record does. */
static tacit_status read_pairs(const reader *r, size_t row, const char **at, tacit_error *err)
{
    uint64_t before = 0;
    for (;;) {
        const char *pair = skip_blanks(r, *at), *value = pair;
        double number;
        *at = pair;
        if (ends_record(r, pair))
            return TACIT_OK;
        if (r->end - pair >= 4 && memcmp(pair, "qid:", 4) == 0) {
            while (!ends_record(r, *at) && !is_blank(**at))
                ++*at;
            continue;
        }
        uint64_t index = read_index(r, &value);
        if (index <= before || index > r->features) /* a larger one is followed by a smaller */
            return bad_index(r, pair, index, err);
        if (!(*at = read_number(r, value, &number)))
            return bad_word(r, pair, "index:value with a finite number", err);
        if (!fits(r, number))
            return bad_word(r, pair, "a number that fits in f32 (or set model.scalar to f64)", err);
        store(r, row, index, number);
        before = index;
    }
}

static tacit_status read_record(reader *r, size_t row, const char **at, tacit_error *err)
{
    double *y = &r->table->y[row];
    const char *label = *at;
    if (!(*at = read_number(r, label, y)))
        return bad_word(r, label, "a finite number as the label", err);
    if (!fits(r, *y))
        return bad_word(r, label, "a label that fits in f32 (or set model.scalar to f64)", err);
    return read_pairs(r, row, at, err);
}

static tacit_status read_lines(reader *r, tacit_error *err)
{
    size_t row = 0;
    for (const char *at = r->at; at < r->end; r->line++) {
        at = skip_blanks(r, at);
        if (!ends_record(r, at)) {
            tacit_status status = read_record(r, row++, &at, err);
            if (status)
                return status;
        }
        if (at < r->end && *at == '#') {
            const char *stop = memchr(at, '\n', (size_t)(r->end - at));
            at = stop ? stop : r->end;
        }
        at += at < r->end; /* the line break */
    }
    return TACIT_OK;
}

tacit_status tacit_read_libsvm(tacit_table *out, const tacit_data_options *options,
                               const char *name, const char *bytes, size_t len, tacit_scalar scalar,
                               tacit_error *err)
{
    size_t mark = len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    reader r = {.name = name, .at = bytes + mark, .end = bytes + len, .line = 1, .table = out};
    *out = (tacit_table){0};
    tacit_status status = tacit_refuse_binary(name, "libsvm text", bytes, len, err);
    if (!status)
        status = claim(&r, options, len, scalar, err);
    if (!status)
        status = read_lines(&r, err);
    if (status)
        tacit_table_clear(out);
    return status;
}
