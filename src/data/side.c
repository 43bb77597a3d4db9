/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels and owners that come in files of their own, in the order of the records: text with one
 * word a line, or a column of an IDX or NPY file. Numbers are taken as the words they are
 * written as, so that a label "5" is the same thing in all three.
 */
#include "data/side.h"

#include "data/bytes.h"
#include "data/csv_scan.h"
#include "data/dataset.h"
#include "data/grid.h"
#include "data/label.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct side {
    tacit_table *table;
    const tacit_data_options *options;
    tacit_label_rule rule;
    bool owners;      /* not labels */
    size_t seen;      /* words so far */
    const char *name; /* of the file at hand */
    const char *unit; /* "line" or "record" */
} side;

static tacit_status bad_word(const side *s, size_t number, const char *word, size_t len,
                             const char *expected, tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4];
    return tacit_fail(err, TACIT_EINPUT, "%.300s: %s %zu is \"%s\"; expected %s", s->name, s->unit,
                      number, tacit_csv_shown(word, len, shown), expected);
}

static tacit_status take_label(side *s, size_t number, const char *word, size_t len,
                               tacit_error *err)
{
    double *y = &s->table->y[s->seen];
    const char *missing = s->options->missing;
    bool none = len == 0 || (missing[0] && strlen(missing) == len && !memcmp(missing, word, len));
    if (s->rule.words > 0) {
        uint64_t bits = tacit_label_match(&s->rule, word, len);
        s->table->positives |= bits;
        *y = tacit_label_of(&s->rule, bits);
        if (!bits && s->rule.classes)
            return bad_word(s, number, word, len, "a label that data.classes lists", err);
        return none && !bits ? bad_word(s, number, word, len, "a label", err) : TACIT_OK;
    }
    if (!tacit_csv_number(word, len, y))
        return bad_word(s, number, word, len,
                        "a finite number, or set data.positive or data.classes", err);
    if (s->table->scalar == TACIT_F32 && fabs(*y) > (double)FLT_MAX)
        return bad_word(s, number, word, len, "a number that fits in f32", err);
    return TACIT_OK;
}

static tacit_status take_owner(side *s, size_t number, const char *word, size_t len,
                               tacit_error *err)
{
    char name[TACIT_NAME_MAX];
    uint32_t *owner = &s->table->owner[s->seen];
    bool added, fits = len < sizeof name;
    *owner = tacit_names_find(&s->table->owners, word, len);
    if (*owner != UINT32_MAX)
        return TACIT_OK;
    memcpy(name, word, fits ? len : 0);
    name[fits ? len : 0] = '\0';
    if (memchr(word, '\0', len) || !tacit_name_is_good(name))
        return bad_word(s, number, word, len,
                        "an agent's name, at most 255 bytes of UTF-8 without control characters",
                        err);
    return tacit_names_intern(&s->table->owners, word, len, owner, &added, err);
}

/* One more word; more than there are records are only counted. */
static tacit_status take(side *s, size_t number, const char *word, size_t len, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (s->seen < s->table->rows)
        status = (s->owners ? take_owner : take_label)(s, number, word, len, err);
    s->seen++;
    return status;
}

/* ---- formats ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static tacit_status take_lines(side *s, const char *text, size_t len, tacit_error *err)
{
    const char *at = text, *end = text + len;
    tacit_status status = tacit_refuse_binary(s->name, "a word a line", text, len, err);
    while (end > at && (is_blank(end[-1]) || end[-1] == '\n'))
        end--; /* lines after the last word */
    if (end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    s->unit = "line";
    for (size_t line = 1; at < end && !status; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *from = at;
        const char *to = stop ? stop : end;
        at = stop ? stop + 1 : end;
        while (from < to && is_blank(*from))
            from++;
        while (to > from && is_blank(to[-1]))
            to--;
        status = take(s, line, from, (size_t)(to - from), err);
    }
    return status;
}

static tacit_status take_column(side *s, const tacit_grid *grid, long column, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (column < 0 && grid->width > 1 && s->owners)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: has %zu columns; say which, as in \"%.200s#2\" (from 0)",
                          s->name, grid->width, s->name);
    size_t at = column < 0 ? 0 : (size_t)column;
    if (at >= grid->width)
        return tacit_fail(err, TACIT_EINPUT, "%.300s: no column #%zu; it has %zu, from #0", s->name,
                          at, grid->width);
    s->unit = "record";
    for (size_t row = 0; row < grid->rows && !status; row++) {
        char word[40];
        double value = tacit_grid_at(grid, row, at);
        int len = snprintf(word, sizeof word, "%.17g", value);
        if (s->owners && !(fabs(value) <= 9007199254740992.0 && value == floor(value)))
            return bad_word(s, row + 1, word, (size_t)len, "a whole number for an agent", err);
        status = take(s, row + 1, word, (size_t)len, err);
    }
    return status;
}

static tacit_status take_bytes(side *s, const char *bytes, size_t len, long column,
                               tacit_error *err)
{
    tacit_grid grid;
    tacit_status status;
    if (tacit_is_npy(bytes, len))
        status = tacit_npy_open(&grid, s->name, bytes, len, err);
    else if (tacit_is_idx(bytes, len))
        status = tacit_idx_open(&grid, s->name, bytes, len, err);
    else if (column >= 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: is text; a column can be chosen of IDX and NPY files only",
                          s->name);
    else
        return take_lines(s, bytes, len, err);
    return status ? status : take_column(s, &grid, column, err);
}

/* ---- all files of an option ---- */

static tacit_status take_file(side *s, const char *item, tacit_error *err)
{
    char path[TACIT_TEXT_MAX];
    tacit_bytes bytes = {0};
    long column;
    snprintf(path, sizeof path, "%s", item);
    const char *folder = s->options->folder;
    tacit_status status = tacit_paths_column(path, folder, &column, err);
    s->name = path;
    if (!status)
        status = tacit_bytes_load(&bytes, path, folder, s->options, err);
    if (!status)
        status = take_bytes(s, tacit_bytes_at(&bytes), bytes.len, column, err);
    tacit_bytes_clear(&bytes);
    s->name = NULL;
    return status;
}

static tacit_status begin(side *s, tacit_error *err)
{
    if (s->owners)
        return tacit_table_own(s->table, err);
    s->table->positives = 0;
    s->table->by_words = s->options->positive[0] != '\0' || s->options->classes[0] != '\0';
    return tacit_label_rule_read(&s->rule, s->options, err);
}

static tacit_status end(const side *s, const char *files, const char *name, tacit_error *err)
{
    if (s->seen == s->table->rows)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "\"%.200s\" has %zu %s and \"%.200s\" %zu records; there must be as many",
                      files, s->seen, s->owners ? "agents' names" : "labels", name, s->table->rows);
}

static tacit_status read_option(side *s, const char *text, const char *key, const char *name,
                                tacit_error *err)
{
    tacit_paths paths;
    tacit_status status = tacit_paths_split(&paths, text, s->options->folder, key, err);
    if (!status)
        status = begin(s, err);
    for (size_t k = 0; k < paths.count && !status; k++)
        status = take_file(s, paths.item[k], err);
    return status ? status : end(s, text, name, err);
}

tacit_status tacit_side_labels(tacit_table *table, const tacit_data_options *options,
                               const char *name, tacit_error *err)
{
    side s = {.table = table, .options = options};
    return read_option(&s, options->labels_path,
                       options->nobodys ? "test-labels-path" : "labels-path", name, err);
}

tacit_status tacit_side_owners(tacit_table *table, const tacit_data_options *options,
                               const char *name, tacit_error *err)
{
    side s = {.table = table, .options = options, .owners = true};
    return read_option(&s, options->agents_path, "agents-path", name, err);
}

tacit_status tacit_side_bytes(tacit_table *table, const tacit_data_options *options, bool owners,
                              const char *name, const char *bytes, size_t len, long column,
                              tacit_error *err)
{
    side s = {.table = table, .options = options, .owners = owners, .name = name};
    tacit_status status = begin(&s, err);
    if (!status)
        status = take_bytes(&s, bytes, len, column, err);
    return status ? status : end(&s, name, "records", err);
}
