/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/writer.h"

tacit_status tacit_table_fail(const tacit_table_reader *t, const char *what, const char *field,
                              tacit_error *err)
{
    char shown[60];
    size_t n = 0;
    for (const char *c = field; *c && n + 1 < sizeof shown; c++)
        shown[n++] = (unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e ? '?' : *c;
    shown[n] = '\0';
    return tacit_fail(err, TACIT_EINPUT, "\"%.300s\", line %llu: \"%s\": %s", t->shown,
                      (unsigned long long)t->lines, shown, what);
}

/* Cut `line` at its commas, in place; returns how many fields, 0 if a quote is wrong. */
static size_t split(char *line, char *fields[TACIT_TABLE_COLUMNS + 1])
{
    size_t count = 0;
    for (char *at = line;; at++) {
        if (count > TACIT_TABLE_COLUMNS)
            return 0;
        fields[count++] = at;
        if (*at == '"') {
            char *out = at++;
            while (*at != '"' || at[1] == '"') {
                if (*at == '\0')
                    return 0;
                at += *at == '"';
                *out++ = *at++;
            }
            at++;
            *out = '\0';
            if (*at != ',' && *at != '\0')
                return 0;
        } else
            at += strcspn(at, ",");
        if (*at == '\0')
            return count;
        *at = '\0';
    }
}

static size_t columns_of(const char *header)
{
    size_t count = 1;
    for (; *header; header++)
        count += *header == ',';
    return count;
}

static tacit_status take_line(tacit_table_reader *t, tacit_error *err)
{
    char *fields[TACIT_TABLE_COLUMNS + 1];
    t->line[t->len] = '\0';
    bool holed = strlen(t->line) != t->len;
    t->len = 0;
    t->lines++;
    if (holed)
        return tacit_table_fail(t, "a NUL byte", t->line, err);
    if (t->lines == 1)
        return strcmp(t->line, t->header) == 0
                   ? TACIT_OK
                   : tacit_fail(err, TACIT_EINPUT,
                                "\"%.300s\", line 1: expected \"%s\"; is it of another version?",
                                t->shown, t->header);
    if (t->lines - 1 > t->most)
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" has more than %llu rows", t->shown,
                          (unsigned long long)t->most);
    if (split(t->line, fields) != columns_of(t->header))
        return tacit_table_fail(t, "wrong number of fields, or a quote that does not end", t->line,
                                err);
    return t->row(t->ctx, t, fields, err);
}

tacit_status tacit_table_feed(tacit_table_reader *t, const char *bytes, size_t len,
                              tacit_error *err)
{
    tacit_status status;
    while (len > 0) {
        const char *stop = memchr(bytes, '\n', len);
        size_t n = stop ? (size_t)(stop - bytes) : len;
        if (t->len + n + 1 >= sizeof t->line) {
            t->lines++;
            return tacit_fail(err, TACIT_EINPUT, "\"%.300s\", line %llu: too long", t->shown,
                              (unsigned long long)t->lines);
        }
        for (size_t i = 0; i < n; i++)
            t->quoted ^= bytes[i] == '"';
        memcpy(t->line + t->len, bytes, n);
        t->len += n;
        if (!stop)
            return TACIT_OK;
        if (t->quoted)
            t->line[t->len++] = '\n';
        else if ((status = take_line(t, err)))
            return status;
        bytes += n + 1;
        len -= n + 1;
    }
    return TACIT_OK;
}

tacit_status tacit_table_end(tacit_table_reader *t, tacit_error *err)
{
    if (t->lines == 0 && t->len == 0)
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is empty; expected \"%s\"", t->shown,
                          t->header);
    if (t->len > 0)
        return tacit_fail(
            err, TACIT_EINPUT,
            "\"%.300s\", line %llu: the file ends in the middle of a line; it was cut", t->shown,
            (unsigned long long)t->lines + 1);
    return TACIT_OK;
}

/* strtod takes more than we write: blanks, hexadecimal, "infinity". */
static bool is_number(const char *field)
{
    if (strcmp(field, "inf") == 0 || strcmp(field, "-inf") == 0)
        return true;
    return *field && field[strspn(field, "0123456789+-.eE")] == '\0';
}

tacit_status tacit_table_real(const tacit_table_reader *t, const char *field, double *out,
                              tacit_error *err)
{
    *out = NAN;
    if (!*field)
        return TACIT_OK;
    char *end = NULL;
    double value = is_number(field) ? strtod(field, &end) : NAN;
    if (isnan(value) || *end || (isinf(value) && !strstr(field, "inf")))
        return tacit_table_fail(t, "expected a number", field, err);
    *out = value;
    return TACIT_OK;
}

tacit_status tacit_table_count(const tacit_table_reader *t, const char *field, uint64_t most,
                               uint64_t *out, tacit_error *err)
{
    errno = 0;
    unsigned long long value =
        *field && !field[strspn(field, "0123456789")] ? strtoull(field, NULL, 10) : 0;
    if (!*field || field[strspn(field, "0123456789")] || errno || value > most)
        return tacit_table_fail(
            t, "expected a whole number, and not a larger one than there can be", field, err);
    *out = value;
    return TACIT_OK;
}

/* ---- metrics.csv ---- */

static tacit_status metric_row(void *ctx, const tacit_table_reader *t, char *const *fields,
                               tacit_error *err)
{
    tacit_metrics_reader *m = ctx;
    tacit_metric_row row = {.agent = TACIT_NOBODY, .name = fields[2]};
    tacit_status status = tacit_table_real(t, fields[0], &row.time, err);
    if (!status && strcmp(fields[1], "all") != 0)
        status = tacit_table_count(t, fields[1], TACIT_NOBODY - 1, &row.agent, err);
    if (status)
        return status;
    if ((status = tacit_table_real(t, fields[3], &row.value, err)))
        return status;
    if (!isfinite(row.time) || isnan(row.value))
        return tacit_table_fail(t, "expected time, agent, name and value", fields[0], err);
    if (row.time < m->last)
        return tacit_table_fail(t, "the time goes back", fields[0], err);
    m->last = row.time;
    return m->take(m->ctx, &row, err);
}

void tacit_metrics_open(tacit_metrics_reader *m, const char *shown, tacit_metric_take *take,
                        void *ctx)
{
    *m = (tacit_metrics_reader){.table = {.shown = shown,
                                          .header = "time,agent,name,value",
                                          .row = metric_row,
                                          .ctx = m,
                                          .most = UINT64_MAX - 1},
                                .take = take,
                                .ctx = ctx,
                                .last = -INFINITY};
}
