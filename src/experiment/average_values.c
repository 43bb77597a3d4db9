/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked and what a peer holds (average.h). The range is public and everybody's; a number
 * outside of it is brought to its end by its owner, before anything else is done with it, so that
 * no number can count for more than was accounted for. A histogram asks for as many numbers as it
 * has bins, each 0 or 1; what is below the first or above the last edge counts in that bin.
 */
#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/writer.h"
#include "config/text.h"
#include "tacit/average.h"

#define VALUES_BYTES ((size_t)256 << 20)
enum { SHOWN = 60 };

/* ---- the section ---- */

static const char *const whats[] = {"mean", "sum", NULL};
#define AT(member) .offset = offsetof(tacit_average_options, member)

static const tacit_option options[] = {
    {.key = "range",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "LEAST:MOST",
     .help = "what a number may be, as in 0:100; what is outside is brought to the nearer end",
     AT(range)},
    {.key = "bins",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "EDGES",
     .help = "a histogram with these edges, as in 0,10,20,50",
     AT(bins)},
    {.key = "columns",
     .type = TACIT_OPT_INT,
     .fallback = "1",
     .min = 1,
     .max = TACIT_AVERAGE_COLUMNS,
     .help = "numbers in a row, each averaged for itself",
     AT(columns)},
    {.key = "what",
     .type = TACIT_OPT_CHOICE,
     .fallback = "mean",
     .choices = whats,
     .help = "what is asked for",
     AT(what)},
    {.key = "peers",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .help = "how many are asked; the list of members has all of them",
     AT(peers)},
};

const tacit_section tacit_average_section = {.name = "average",
                                             .options = options,
                                             .count = sizeof options / sizeof *options,
                                             .size = sizeof(tacit_average_options)};

/* ---- the question ---- */

#define MOST 1e15 /* as of "protocol.low" and "protocol.high" */

/* A finite number from *at; false if there is none. */
static bool read_number(const char **at, double *out)
{
    char *end;
    if ((**at < '0' || **at > '9') && **at != '-' && **at != '+' && **at != '.')
        return false; /* strtod would take "nan", "inf" and blanks */
    *out = strtod(*at, &end);
    if (end == *at || !isfinite(*out) || memchr(*at, 'x', (size_t)(end - *at)) ||
        memchr(*at, 'X', (size_t)(end - *at)))
        return false;
    *at = end;
    return true;
}

static tacit_status read_range(tacit_question *q, const char *text, tacit_error *err)
{
    const char *at = text;
    if (read_number(&at, &q->least) && *at == ':' && (at++, read_number(&at, &q->most)) && !*at &&
        q->least < q->most && q->least >= -MOST && q->most <= MOST)
        return TACIT_OK;
    return tacit_fail(
        err, TACIT_EINPUT,
        "the range \"%.100s\" is not LEAST:MOST; expected two numbers within 1e15, the first "
        "below the second, as in 0:100",
        text);
}

static tacit_status read_bins(tacit_question *q, const char *text, tacit_error *err)
{
    const char *at = text;
    size_t room = 0, count = 0;
    bool good;
    for (;; at++) {
        double *edge = tacit_array_grow(q->edge, &room, count + 1, sizeof *edge);
        if (!edge)
            return tacit_out_of_memory(err);
        q->edge = edge;
        good = read_number(&at, &edge[count]) && (count == 0 || edge[count - 1] < edge[count]);
        count++;
        if (!good || *at != ',')
            break;
    }
    if (!good || *at || count < 3 || count > TACIT_AVERAGE_COLUMNS + 1)
        return tacit_fail(err, TACIT_EINPUT,
                          "the bins \"%.100s\" are not 3 to %d rising edges, separated by commas, "
                          "as in 0,10,20,50",
                          text, TACIT_AVERAGE_COLUMNS + 1);
    q->numbers = (uint32_t)(count - 1);
    q->least = q->edge[0];
    q->most = q->edge[count - 1];
    return TACIT_OK;
}

tacit_status tacit_question_make(tacit_question *question, const tacit_average_options *o,
                                 tacit_error *err)
{
    *question = (tacit_question){.columns = (uint32_t)o->columns,
                                 .numbers = (uint32_t)o->columns,
                                 .sum = o->what == TACIT_AVERAGE_SUM};
    tacit_status status = TACIT_OK;
    if (o->bins[0] && o->range[0])
        status = tacit_fail(err, TACIT_EINPUT,
                            "\"%.60s\" and \"%.60s\": bins say the range themselves; leave it out",
                            o->bins, o->range);
    else if (o->bins[0] && o->columns != 1)
        status = tacit_fail(err, TACIT_EINPUT,
                            "a histogram is of one number a row, not of %" PRId64, o->columns);
    else if (o->bins[0])
        status = read_bins(question, o->bins, err);
    else if (o->range[0])
        status = read_range(question, o->range, err);
    else
        status = tacit_fail(err, TACIT_EINPUT,
                            "the range of a number is missing, and it is what noise is made for; "
                            "expected something like 0:100, known without looking at the data");
    if (status)
        tacit_question_clear(question);
    return status;
}

void tacit_question_clear(tacit_question *question)
{
    free(question->edge);
    *question = (tacit_question){.edge = NULL};
}

tacit_status tacit_question_options(tacit_average_options *out, const char *folder,
                                    tacit_error *err)
{
    static const tacit_section *const known[] = {&tacit_average_section};
    char *path = tacit_path_with(folder, "/question.yaml");
    tacit_config config;
    tacit_config_init(&config);
    tacit_status status = path ? tacit_config_read(&config, path, err) : tacit_out_of_memory(err);
    if (!status)
        status = tacit_config_apply(&config, &tacit_average_section, out, err);
    if (!status)
        status = tacit_config_unused(&config, known, 1, err);
    tacit_config_clear(&config);
    free(path);
    return status;
}

tacit_status tacit_question_read(tacit_question *question, const char *folder, tacit_error *err)
{
    tacit_average_options o;
    *question = (tacit_question){.edge = NULL};
    tacit_status status = tacit_question_options(&o, folder, err);
    return status ? status : tacit_question_make(question, &o, err);
}

/* ---- values ---- */

typedef struct reader {
    const tacit_question *question;
    tacit_held *values;
    const char *shown;
    uint64_t line;
    size_t room, given_room;
    tacit_error *err;
} reader;

static bool is_apart(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r';
}

static tacit_status refuse_word(const reader *r, const char *word)
{
    char shown[SHOWN];
    tacit_show(word, strcspn(word, " \t,;\r\n"), shown, sizeof shown);
    return tacit_fail(r->err, TACIT_EINPUT, "%.300s:%" PRIu64 ": \"%s\" is no finite number",
                      r->shown, r->line, shown);
}

/* Number `column` of the row that is being read. */
static tacit_status take_number(reader *r, uint32_t column, double value)
{
    tacit_held *v = r->values;
    const tacit_question *q = r->question;
    const size_t needed = (v->rows + 1) * v->columns;
    double *all = tacit_array_grow(v->number, &r->room, needed, sizeof *all);
    v->number = all ? all : v->number;
    double *given = tacit_array_grow(v->given, &r->given_room, needed, sizeof *given);
    v->given = given ? given : v->given;
    if (!all || !given)
        return tacit_out_of_memory(r->err);
    given[v->rows * v->columns + column] = value;
    const double kept = fmin(fmax(value, q->least), q->most);
    v->clipped += kept != value;
    all[v->rows * v->columns + column] = kept;
    return TACIT_OK;
}

/* Words only: no digit, and nothing that means a number ("nan"). */
static bool is_heading(const char *line)
{
    if (strpbrk(line, "0123456789"))
        return false;
    for (const char *at = line; *at;) {
        char *end;
        (void)strtod(at, &end);
        if (end != at)
            return false;
        at += strcspn(at, " \t,;\r");
        while (is_apart(*at))
            at++;
    }
    return true;
}

/* A line without its end; of words only, the first one is skipped. */
static tacit_status take_line(reader *r, const char *line)
{
    tacit_held *v = r->values;
    uint32_t count = 0;
    for (const char *at = line;; count++) {
        double value;
        while (is_apart(*at))
            at++;
        if (!*at || *at == '#')
            break;
        const char *word = at;
        if (!read_number(&at, &value) || (*at && !is_apart(*at)))
            return r->line == 1 && is_heading(line) ? TACIT_OK : refuse_word(r, word);
        if (count == v->columns)
            return tacit_fail(r->err, TACIT_EINPUT,
                              "%.300s:%" PRIu64 ": more than %" PRIu32 " number%s in a row",
                              r->shown, r->line, v->columns, v->columns == 1 ? "" : "s");
        tacit_status status = take_number(r, count, value);
        if (status)
            return status;
    }
    if (count > 0 && count < v->columns)
        return tacit_fail(r->err, TACIT_EINPUT,
                          "%.300s:%" PRIu64 ": %" PRIu32 " numbers in a row; %" PRIu32
                          " are asked for",
                          r->shown, r->line, count, v->columns);
    v->rows += count > 0;
    return v->rows <= TACIT_AVERAGE_ROWS
               ? TACIT_OK
               : tacit_fail(r->err, TACIT_EINPUT, "\"%.300s\" has more than %d rows", r->shown,
                            TACIT_AVERAGE_ROWS);
}

tacit_status tacit_held_parse(tacit_held *values, const tacit_question *question, const char *shown,
                              const char *text, size_t len, tacit_error *err)
{
    *values = (tacit_held){.columns = question->columns};
    reader r = {.question = question, .values = values, .shown = shown, .err = err};
    char *line = malloc(len + 1);
    tacit_status status = line ? TACIT_OK : tacit_out_of_memory(err);
    for (size_t at = 0; at < len && !status;) {
        const char *stop = memchr(text + at, '\n', len - at);
        const size_t size = stop ? (size_t)(stop - text) - at : len - at;
        memcpy(line, text + at, size);
        line[size] = '\0';
        r.line++;
        status = memchr(line, '\0', size) ? refuse_word(&r, "?") : take_line(&r, line);
        at += size + 1;
    }
    if (!status && values->rows == 0)
        status = tacit_fail(err, TACIT_EINPUT, "\"%.300s\" has no number", shown);
    if (line)
        sodium_memzero(line, len + 1);
    free(line);
    if (status)
        tacit_held_clear(values);
    return status;
}

tacit_status tacit_held_read(tacit_held *values, const tacit_question *question, const char *path,
                             tacit_error *err)
{
    char *text;
    size_t len;
    *values = (tacit_held){.number = NULL};
    tacit_status status = tacit_file_read(&text, &len, path, VALUES_BYTES, err);
    if (status)
        return status;
    status = tacit_held_parse(values, question, path, text, len, err);
    sodium_memzero(text, len);
    free(text);
    return status;
}

void tacit_held_clear(tacit_held *values)
{
    if (values->number)
        sodium_memzero(values->number, values->rows * values->columns * sizeof *values->number);
    if (values->given)
        sodium_memzero(values->given, values->rows * values->columns * sizeof *values->given);
    free(values->number);
    free(values->given);
    *values = (tacit_held){.number = NULL};
}

/* ---- records ---- */

/* Bins are closed below and open above, but for the last one. */
static uint32_t bin_of(const tacit_question *q, double value)
{
    uint32_t low = 0, high = q->numbers - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (value >= q->edge[middle])
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void write_row(tacit_writer *out, const tacit_question *q, const double *row)
{
    const uint32_t bin = q->edge ? bin_of(q, row[0]) : 0;
    for (uint32_t k = 0; k < q->numbers; k++) {
        tacit_write_text(out, ",");
        if (q->edge)
            tacit_write_text(out, k == bin ? "1" : "0");
        else
            tacit_write_real(out, row[k]);
    }
    tacit_write_text(out, "\n");
}

char *tacit_held_records(const tacit_held *values, const tacit_question *question, bool apart)
{
    tacit_writer out = {0};
    tacit_write_text(&out, apart ? "agent,label" : "label");
    for (uint32_t k = 0; k < question->numbers; k++)
        tacit_write_format(&out, ",v%" PRIu32, k);
    tacit_write_text(&out, "\n");
    for (size_t r = 0; r < values->rows; r++) {
        if (apart)
            tacit_write_format(&out, "%zu,", r);
        tacit_write_text(&out, "0");
        write_row(&out, question, values->number + r * values->columns);
    }
    return tacit_writer_take(&out);
}
