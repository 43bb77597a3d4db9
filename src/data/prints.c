/* SPDX-License-Identifier: Apache-2.0 */
/* See prints.h for what is known again and what is not. */
#include "data/prints.h"

#include "base/writer.h"
#include "data/bytes.h"
#include "data/csv_scan.h"
#include "data/shard.h"
#include "data/table.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BETWEEN "\x1f" /* words of a record */

/* ---- lines of text ---- */

/* All that ever separates, and quotes: how a table was written does not count. */
static bool is_between(char c)
{
    return c == ',' || c == ';' || c == '\t' || c == ' ' || c == '|' || c == ':' || c == '\r' ||
           c == '"' || c == '\'';
}

/* The words from `at` to `end`; whether one of them is a number. */
static bool write_words(tacit_writer *out, const char *at, const char *end)
{
    bool numbers = false;
    while (at < end) {
        if (is_between(*at)) {
            at++;
            continue;
        }
        const char *stop = at;
        while (stop < end && !is_between(*stop))
            stop++;
        double value;
        if (out->len > 0)
            tacit_write_text(out, BETWEEN);
        if (tacit_csv_number(at, (size_t)(stop - at), &value)) {
            tacit_write_real(out, value == 0 ? 0 : value); /* there are two zeros */
            numbers = true;
        } else {
            tacit_write_bytes(out, at, (size_t)(stop - at));
        }
        at = stop;
    }
    return numbers;
}

tacit_status tacit_text_each_print(const char *text, size_t len, bool header,
                                   tacit_print_visit *visit, void *ctx, tacit_error *err)
{
    static const char mark[] = "\xef\xbb\xbf"; /* UTF-8 byte order mark */
    const char *at = text, *end = text + len;
    bool first = true;
    tacit_writer words = {0};
    tacit_status status = TACIT_OK;
    if (len >= 3 && memcmp(text, mark, 3) == 0)
        at += 3;
    while (at < end && !status) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        words.len = 0;
        const bool numbers = write_words(&words, at, stop ? stop : end);
        at = stop ? stop + 1 : end;
        if (words.failed)
            status = tacit_out_of_memory(err);
        else if (words.len > 0 && !(first && (header || !numbers)))
            status = visit(ctx, words.text, words.len, err);
        first = first && words.len == 0;
    }
    if (words.text)
        sodium_memzero(words.text, words.capacity);
    tacit_writer_clear(&words);
    return status;
}

static tacit_status each_line(const tacit_data_options *o, tacit_print_visit *visit, void *ctx,
                              tacit_error *err)
{
    tacit_paths paths;
    tacit_status status = tacit_paths_split(&paths, o->path, o->folder, "path", err);
    for (size_t k = 0; !status && k < paths.count; k++) {
        tacit_bytes bytes;
        status = tacit_bytes_load(&bytes, paths.item[k], o->folder, o, err);
        if (!status)
            status =
                tacit_text_each_print(tacit_bytes_at(&bytes), bytes.len,
                                      o->source == TACIT_SOURCE_CSV && o->header, visit, ctx, err);
        tacit_bytes_clear(&bytes);
    }
    return status;
}

/* ---- rows of numbers ---- */

/* Numbers as doubles, byte by byte; there is one zero. */
static tacit_status visit_row(const double *row, size_t count, double *room,
                              tacit_print_visit *visit, void *ctx, tacit_error *err)
{
    for (size_t k = 0; k < count; k++)
        room[k] = row[k] == 0 ? 0 : row[k];
    return visit(ctx, room, count * sizeof *room, err);
}

/* As the file has them: neither moved nor scaled, and without labels, which rules may change. */
static tacit_status each_table_row(const tacit_data_options *o, tacit_print_visit *visit, void *ctx,
                                   tacit_error *err)
{
    tacit_table table = {0};
    tacit_data_options *plain = malloc(sizeof *plain);
    if (!plain)
        return tacit_out_of_memory(err);
    *plain = *o;
    plain->subtract = 0;
    plain->divide = 1;
    tacit_status status = tacit_data_table(&table, plain, TACIT_F64, err);
    free(plain);
    double *room = status ? NULL : calloc(table.features + 1, 2 * sizeof *room);
    if (!status && !room)
        status = tacit_out_of_memory(err);
    for (size_t r = 0; !status && r < table.rows; r++) {
        tacit_table_get(&table, r, room);
        status = visit_row(room, table.features, room + table.features, visit, ctx, err);
    }
    if (room)
        sodium_memzero(room, table.features * 2 * sizeof *room);
    free(room);
    tacit_table_clear(&table);
    return status;
}

static double number_at(const void *from, tacit_scalar scalar, size_t k)
{
    return scalar == TACIT_F32 ? (double)((const float *)from)[k] : ((const double *)from)[k];
}

/* As they were dealt: features, then the label. */
static tacit_status each_dealt_row(const tacit_dataset *data, tacit_print_visit *visit, void *ctx,
                                   tacit_error *err)
{
    const size_t features = tacit_dataset_features(data);
    const tacit_scalar scalar = tacit_dataset_scalar(data);
    double *room = calloc(features + 1, 2 * sizeof *room);
    tacit_status status = room ? TACIT_OK : tacit_out_of_memory(err);
    for (uint32_t a = 0; !status && a < tacit_dataset_agents(data); a++)
        for (int split = 0; !status && split < TACIT_SPLITS; split++) {
            size_t cursor = 0;
            tacit_batch batch;
            const tacit_shard *shard = tacit_dataset_shard(data, a, (tacit_split)split);
            while (!status && tacit_shard_next(shard, &cursor, &batch))
                for (size_t r = 0; !status && r < batch.rows; r++) {
                    for (size_t k = 0; k < features; k++)
                        room[k] = number_at(batch.x, scalar, r * features + k);
                    room[features] = number_at(batch.y, scalar, r);
                    status = visit_row(room, features + 1, room + features + 1, visit, ctx, err);
                }
        }
    if (room)
        sodium_memzero(room, (features + 1) * 2 * sizeof *room);
    free(room);
    return status;
}

/* ---- all sources ---- */

/* A pipe was read to its end when records were loaded. */
static bool can_read_again(const tacit_data_options *o)
{
    tacit_paths paths;
    bool regular = tacit_paths_split(&paths, o->path, o->folder, "path", NULL) == TACIT_OK;
    for (size_t k = 0; regular && k < paths.count; k++) {
        struct stat about;
        if (stat(paths.item[k], &about) == 0) /* else it lies in data.folder */
            regular = S_ISREG(about.st_mode);
    }
    return regular;
}

tacit_status tacit_data_each_print(const tacit_data_options *o, const tacit_dataset *data,
                                   tacit_print_visit *visit, void *ctx, tacit_error *err)
{
    if (tacit_source_is_drawn(o->source))
        return TACIT_OK;
    if (o->source == TACIT_SOURCE_SHARDS || !can_read_again(o))
        return each_dealt_row(data, visit, ctx, err);
    if (o->source == TACIT_SOURCE_CSV || o->source == TACIT_SOURCE_LIBSVM ||
        o->source == TACIT_SOURCE_RATINGS)
        return each_line(o, visit, ctx, err);
    return each_table_row(o, visit, ctx, err);
}
