/* SPDX-License-Identifier: Apache-2.0 */
/* Who would join: lines "owner,records,epsilon". A file of people, so that line ends of any kind
 * and a missing last one will do; whatever else is not right is refused with its line. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "config/text.h"
#include "report/table_read.h"
#include "tacit/forecast.h"

#define MOST_BYTES (16 << 20)
#define HEADER "owner,records,epsilon"

typedef struct list {
    tacit_joiner *of;
    size_t count, capacity;
} list;

static tacit_joiner *grow(list *all)
{
    if (all->count == all->capacity) {
        const size_t capacity = all->capacity ? 2 * all->capacity : 16;
        tacit_joiner *of = realloc(all->of, capacity * sizeof *of);
        if (!of)
            return NULL;
        all->of = of;
        all->capacity = capacity;
    }
    return &all->of[all->count];
}

static tacit_status take_row(void *ctx, const tacit_table_reader *table, char *const *fields,
                             tacit_error *err)
{
    list *all = ctx;
    tacit_joiner *joiner = grow(all);
    if (!joiner)
        return tacit_out_of_memory(err);
    const size_t len = strlen(fields[0]);
    if (len == 0 || len >= sizeof joiner->name || !tacit_text_is_clean(fields[0], len))
        return tacit_table_fail(table, "expected a name of 1 to 63 bytes", fields[0], err);
    *joiner = (tacit_joiner){0};
    memcpy(joiner->name, fields[0], len);
    tacit_status status = tacit_table_real(table, fields[1], &joiner->records, err);
    if (!status)
        status = tacit_table_real(table, fields[2], &joiner->epsilon, err);
    if (status)
        return status;
    if (!(joiner->records >= 1 && joiner->records <= TACIT_JOIN_RECORDS))
        return tacit_table_fail(table, "expected a number of records from 1 to 1e15", fields[1],
                                err);
    if (!(joiner->epsilon >= TACIT_JOIN_EPSILON_LEAST &&
          joiner->epsilon <= TACIT_JOIN_EPSILON_MOST))
        return tacit_table_fail(table, "expected an epsilon from 1e-6 to 1e6", fields[2], err);
    all->count++;
    return TACIT_OK;
}

static int by_name(const void *a, const void *b)
{
    const tacit_joiner *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static tacit_status check_names(const list *all, const char *shown, tacit_error *err)
{
    const tacit_joiner **sorted = malloc((all->count + 1) * sizeof *sorted);
    tacit_status status = TACIT_OK;
    if (!sorted)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < all->count; k++)
        sorted[k] = &all->of[k];
    qsort(sorted, all->count, sizeof *sorted, by_name);
    for (size_t k = 1; k < all->count && !status; k++)
        if (strcmp(sorted[k - 1]->name, sorted[k]->name) == 0)
            status = tacit_fail(err, TACIT_EINPUT, "\"%.300s\" lists owner \"%s\" twice; keep one",
                                shown, sorted[k]->name);
    free(sorted);
    return status;
}

/* Piece by piece, without the carriage returns. */
static tacit_status feed(tacit_table_reader *table, const char *text, size_t len, tacit_error *err)
{
    const char *end = text + len;
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) /* a byte order mark */
        text += 3;
    while (end > text && (end[-1] == '\n' || end[-1] == '\r'))
        end--;
    tacit_status status = TACIT_OK;
    while (text < end && !status) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        const char *next = stop ? stop + 1 : end;
        if (!stop)
            stop = end;
        if (stop > text && stop[-1] == '\r')
            stop--;
        status = tacit_table_feed(table, text, (size_t)(stop - text), err);
        if (!status)
            status = tacit_table_feed(table, "\n", 1, err);
        text = next;
    }
    return status ? status : tacit_table_end(table, err);
}

tacit_status tacit_joiners_parse(tacit_joiner **out, size_t *count, const char *shown,
                                 const char *text, size_t len, tacit_error *err)
{
    list all = {0};
    tacit_table_reader table = {
        .shown = shown, .header = HEADER, .row = take_row, .ctx = &all, .most = TACIT_JOINERS};
    *out = NULL;
    *count = 0;
    tacit_status status = feed(&table, text, len, err);
    if (!status && all.count < 2)
        status = tacit_fail(err, TACIT_EINPUT,
                            "\"%.300s\" lists %zu owners; joining takes two at least, under the "
                            "line \"" HEADER "\"",
                            shown, all.count);
    if (!status)
        status = check_names(&all, shown, err);
    if (status) {
        free(all.of);
        return status;
    }
    *out = all.of;
    *count = all.count;
    return TACIT_OK;
}

tacit_status tacit_joiners_read(tacit_joiner **out, size_t *count, const char *path,
                                tacit_error *err)
{
    char *text = NULL;
    size_t len = 0;
    *out = NULL;
    *count = 0;
    tacit_status status = tacit_file_read(&text, &len, path, MOST_BYTES, err);
    if (!status)
        status = tacit_joiners_parse(out, count, path, text, len, err);
    free(text);
    return status;
}
