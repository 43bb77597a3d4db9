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

typedef struct line {
    tacit_writer text; /* its words */
    size_t words;
    bool numbers; /* one of them is a number */
} line;

static void write_words(line *l, const char *at, const char *end)
{
    tacit_writer *out = &l->text;
    out->len = l->words = 0;
    l->numbers = false;
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
            l->numbers = true;
        } else {
            tacit_write_bytes(out, at, (size_t)(stop - at));
        }
        l->words++;
        at = stop;
    }
}

/* All lines that are too short to be known by themselves, in any order: sums of their hashes. */
typedef struct narrow {
    uint64_t count, sum[4];
} narrow;

static void add_narrow(narrow *n, const line *l)
{
    uint64_t hash[4];
    crypto_generichash((uint8_t *)hash, sizeof hash, (const uint8_t *)l->text.text, l->text.len,
                       NULL, 0);
    for (size_t k = 0; k < 4; k++)
        n->sum[k] += hash[k];
    n->count++;
}

static tacit_status visit_narrow(const narrow *n, tacit_print_visit *visit, void *ctx,
                                 tacit_error *err)
{
    static const char mark[8] = "\x1etable";
    uint8_t bytes[sizeof mark + sizeof *n];
    if (n->count == 0)
        return TACIT_OK;
    memcpy(bytes, mark, sizeof mark);
    memcpy(bytes + sizeof mark, n, sizeof *n);
    return visit(ctx, bytes, sizeof bytes, err);
}

tacit_status tacit_text_each_print(const char *text, size_t len, bool header,
                                   tacit_print_visit *visit, void *ctx, tacit_error *err)
{
    static const char mark[] = "\xef\xbb\xbf"; /* UTF-8 byte order mark */
    const char *at = text, *end = text + len;
    bool first = true;
    line l = {.words = 0};
    narrow n = {.count = 0};
    tacit_status status = TACIT_OK;
    if (len >= 3 && memcmp(text, mark, 3) == 0)
        at += 3;
    while (at < end && !status) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        write_words(&l, at, stop ? stop : end);
        at = stop ? stop + 1 : end;
        if (l.text.failed)
            status = tacit_out_of_memory(err);
        else if (l.words > 0 && !(first && (header || !l.numbers))) {
            if (l.words < TACIT_PRINT_WORDS)
                add_narrow(&n, &l);
            else
                status = visit(ctx, l.text.text, l.text.len, err);
        }
        first = first && l.words == 0;
    }
    if (l.text.text)
        sodium_memzero(l.text.text, l.text.capacity);
    tacit_writer_clear(&l.text);
    return status ? status : visit_narrow(&n, visit, ctx, err);
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

tacit_status tacit_file_each_print(const char *path, tacit_print_visit *visit, void *ctx,
                                   tacit_error *err)
{
    tacit_bytes bytes;
    tacit_status status = tacit_bytes_load(&bytes, path, NULL, NULL, err);
    if (!status)
        status = tacit_text_each_print(tacit_bytes_at(&bytes), bytes.len, false, visit, ctx, err);
    tacit_bytes_clear(&bytes);
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

bool tacit_data_can_read_again(const tacit_data_options *o)
{
    tacit_paths paths;
    if (tacit_source_is_drawn(o->source) || o->source == TACIT_SOURCE_SHARDS)
        return true;
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
    if (o->source == TACIT_SOURCE_SHARDS || !tacit_data_can_read_again(o))
        return each_dealt_row(data, visit, ctx, err);
    if (o->source == TACIT_SOURCE_CSV || o->source == TACIT_SOURCE_LIBSVM ||
        o->source == TACIT_SOURCE_RATINGS)
        return each_line(o, visit, ctx, err);
    return each_table_row(o, visit, ctx, err);
}
