/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/report_quantiles.h"

#define FINAL "metrics.csv"
#define PARTIAL TACIT_ROWS_PARTIAL
#define MAX_WAITING ((uint64_t)1 << 32)

static tacit_status prepare(tacit_metric_rows *rows, const tacit_folder *folder,
                            tacit_session *session, tacit_error *err)
{
    *rows = (tacit_metric_rows){.folder = folder, .fd = -1, .agents = session->graph.agents};
    const uint64_t sample = (uint64_t)session->experiment->run.sample;
    rows->sample = sample < rows->agents ? (uint32_t)sample : rows->agents;
    pthread_mutex_init(&rows->lock, NULL);
    /* libsodium wants 64-byte alignment. */
    rows->hash = aligned_alloc(64, (sizeof *rows->hash + 63) / 64 * 64);
    if (!rows->hash)
        return tacit_out_of_memory(err);
    crypto_generichash_init(rows->hash, NULL, 0, 32);
    return TACIT_OK;
}

static tacit_status append(tacit_metric_rows *rows, tacit_writer *text, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (text->failed)
        status = tacit_out_of_memory(err);
    else if (text->len > 0 && !tacit_write_all(rows->fd, text->text, text->len))
        status = tacit_folder_fail(rows->folder, FINAL, errno, err);
    else if (text->len > 0) {
        crypto_generichash_update(rows->hash, (const unsigned char *)text->text, text->len);
        rows->len += text->len;
    }
    tacit_writer_clear(text);
    return status;
}

tacit_status tacit_rows_start(tacit_metric_rows *rows, const tacit_folder *folder,
                              tacit_session *session, tacit_error *err)
{
    tacit_status status = prepare(rows, folder, session, err);
    if (status)
        return status;
    rows->fd =
        openat(folder->dir, PARTIAL, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, TACIT_SECRET_MODE);
    if (rows->fd < 0)
        return tacit_folder_fail(folder, PARTIAL, errno, err);
    tacit_writer text = {0};
    tacit_write_text(&text, TACIT_CSV_HEADER);
    return append(rows, &text, err);
}

static void words_of(const unsigned char bytes[32], uint64_t words[4])
{
    for (size_t i = 0; i < 4; i++) {
        words[i] = 0;
        for (size_t k = 0; k < 8; k++)
            words[i] |= (uint64_t)bytes[8 * i + k] << (8 * k);
    }
}

void tacit_rows_hash(const tacit_metric_rows *rows, uint64_t hash[4])
{
    crypto_generichash_state copy = *rows->hash;
    unsigned char bytes[32];
    crypto_generichash_final(&copy, bytes, sizeof bytes);
    words_of(bytes, hash);
}

/* Read `len` bytes of the file into the hash. */
static bool rehash(tacit_metric_rows *rows, uint64_t len)
{
    unsigned char buffer[65536];
    while (rows->len < len) {
        uint64_t left = len - rows->len;
        ssize_t n = read(rows->fd, buffer, left < sizeof buffer ? (size_t)left : sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        crypto_generichash_update(rows->hash, buffer, (size_t)n);
        rows->len += (uint64_t)n;
    }
    return true;
}

tacit_status tacit_rows_continue(tacit_metric_rows *rows, const tacit_folder *folder,
                                 tacit_session *session, uint64_t len, const uint64_t hash[4],
                                 tacit_error *err)
{
    tacit_status status = prepare(rows, folder, session, err);
    if (status)
        return status;
    /* An interrupted run left metrics.csv, a crash metrics.csv.partial. */
    if (renameat(folder->dir, FINAL, folder->dir, PARTIAL) != 0 && errno != ENOENT)
        return tacit_folder_fail(folder, PARTIAL, errno, err);
    rows->fd = openat(folder->dir, PARTIAL, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (rows->fd < 0)
        return tacit_fail(err, TACIT_EVERIFY,
                          "\"%.300s/" FINAL "\" is missing, so the run cannot go on; start anew",
                          folder->path);
    uint64_t found[4] = {0};
    if (rehash(rows, len))
        tacit_rows_hash(rows, found);
    if (memcmp(found, hash, sizeof found) != 0) {
        renameat(folder->dir, PARTIAL, folder->dir, FINAL);
        return tacit_fail(err, TACIT_EVERIFY,
                          "\"%.300s/" FINAL "\" was changed since the checkpoint; put the old "
                          "file back or start anew",
                          folder->path);
    }
    if (ftruncate(rows->fd, (off_t)len) != 0)
        return tacit_folder_fail(folder, FINAL, errno, err);
    return TACIT_OK;
}

/* ---- rows that wait ---- */

static bool is_sampled(const tacit_metric_rows *rows, tacit_agent agent)
{
    if (rows->sample == 0 || agent >= rows->agents)
        return false;
    uint64_t k = (agent * rows->sample + rows->agents - 1) / rows->agents;
    return k < rows->sample && tacit_sampled(rows->agents, rows->sample, (uint32_t)k) == agent;
}

static tacit_row *more(tacit_metric_rows *rows)
{
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? rows->capacity * 2 : 64, bytes;
        tacit_row *waiting = NULL;
        if (tacit_mul_size(capacity, sizeof *waiting, &bytes))
            waiting = realloc(rows->waiting, bytes);
        if (!waiting) {
            rows->failed = true;
            return NULL;
        }
        rows->waiting = waiting;
        rows->capacity = capacity;
    }
    tacit_row *row = &rows->waiting[rows->count];
    *row = (tacit_row){.order = rows->count++};
    return row;
}

void tacit_rows_sink(void *ctx, double time, tacit_agent agent, const char *name, double value,
                     bool is_private)
{
    tacit_metric_rows *rows = ctx;
    if (!is_sampled(rows, agent))
        return;
    pthread_mutex_lock(&rows->lock);
    tacit_row *row = more(rows);
    if (row) {
        row->time = time;
        row->agent = agent;
        row->value = value;
        /* The simulator sees all; a node would not. */
        const char *mark = is_private ? TACIT_METRIC_PRIVATE : "";
        snprintf(row->name, sizeof row->name, "%.*s%s", (int)(sizeof row->name - 1 - strlen(mark)),
                 name, mark);
    }
    pthread_mutex_unlock(&rows->lock);
}

static int by_time(const void *a, const void *b)
{
    const tacit_row *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->agent != y->agent)
        return x->agent < y->agent ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

tacit_status tacit_rows_flush(tacit_metric_rows *rows, tacit_error *err)
{
    if (rows->failed)
        return tacit_out_of_memory(err);
    if (rows->count == 0)
        return TACIT_OK;
    qsort(rows->waiting, rows->count, sizeof *rows->waiting, by_time);
    tacit_writer text = {0};
    for (size_t i = 0; i < rows->count; i++) {
        const tacit_row *row = &rows->waiting[i];
        tacit_csv_row(&text, row->time, row->agent, row->name, row->value);
    }
    rows->count = 0;
    return append(rows, &text, err);
}

/* test_<score>_q05 ...: the spread over all agents that have a score. */
static bool write_quantiles(tacit_writer *text, const tacit_measure *measure, size_t agents,
                            const char *test)
{
    double *scores = malloc((agents + 1) * sizeof *scores), q[TACIT_QUANTILES];
    if (!scores)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < agents; i++)
        if (!isnan(measure->test[i]))
            scores[count++] = measure->test[i];
    tacit_quantiles(scores, count, q);
    free(scores);
    for (size_t k = 0; k < TACIT_QUANTILES; k++) {
        char name[100];
        snprintf(name, sizeof name, "%s_%s", test, tacit_quantile_name[k]);
        tacit_csv_row(text, measure->now.time, TACIT_NOBODY, name, q[k]);
    }
    return true;
}

tacit_status tacit_rows_measure(tacit_metric_rows *rows, tacit_session *session,
                                const tacit_measure *measure, tacit_error *err)
{
    const tacit_snapshot *now = &measure->now;
    const tacit_traffic traffic = session->runtime->ops->traffic(session->runtime);
    const char *score = tacit_model_score_name(session->model);
    char test[80], deviation[80], validation[80];
    snprintf(test, sizeof test, "test_%s", score);
    snprintf(deviation, sizeof deviation, "test_%s_deviation", score);
    snprintf(validation, sizeof validation, "validation_%s", score);

    tacit_writer text = {0};
    tacit_csv_row(&text, now->time, TACIT_NOBODY, test, now->test);
    tacit_csv_row(&text, now->time, TACIT_NOBODY, deviation, now->test_deviation);
    if (!write_quantiles(&text, measure, rows->agents, test))
        text.failed = true;
    tacit_csv_row(&text, now->time, TACIT_NOBODY, validation, now->validation);
    tacit_csv_row(&text, now->time, TACIT_NOBODY, "train_loss", now->train_loss);
    tacit_csv_row(&text, now->time, TACIT_NOBODY, "objective", now->objective);
    tacit_csv_row(&text, now->time, TACIT_NOBODY, "messages", (double)traffic.messages);
    tacit_csv_row(&text, now->time, TACIT_NOBODY, "bytes", (double)traffic.bytes);
    for (uint32_t k = 0; k < rows->sample; k++) {
        uint32_t agent = tacit_sampled(rows->agents, rows->sample, k);
        tacit_csv_row(&text, now->time, agent, test, measure->test[agent]);
        tacit_csv_row(&text, now->time, agent, validation, measure->validation[agent]);
        tacit_csv_row(&text, now->time, agent, "train_loss", measure->loss[agent]);
    }
    return append(rows, &text, err);
}

tacit_status tacit_rows_sync(tacit_metric_rows *rows, tacit_error *err)
{
    return fsync(rows->fd) == 0 ? TACIT_OK : tacit_folder_fail(rows->folder, FINAL, errno, err);
}

tacit_status tacit_rows_publish(tacit_metric_rows *rows, tacit_error *err)
{
    if (renameat(rows->folder->dir, PARTIAL, rows->folder->dir, FINAL) != 0)
        return tacit_folder_fail(rows->folder, FINAL, errno, err);
    return TACIT_OK;
}

void tacit_rows_clear(tacit_metric_rows *rows)
{
    if (!rows->folder)
        return;
    if (rows->fd >= 0)
        close(rows->fd);
    free(rows->hash);
    free(rows->waiting);
    pthread_mutex_destroy(&rows->lock);
    *rows = (tacit_metric_rows){.fd = -1};
}

/* ---- in checkpoints ---- */

void tacit_rows_save(const tacit_metric_rows *rows, tacit_saver *saver)
{
    tacit_save_u64(saver, rows->count);
    for (size_t i = 0; i < rows->count; i++) {
        const tacit_row *row = &rows->waiting[i];
        tacit_save_f64(saver, row->time);
        tacit_save_f64(saver, row->value);
        tacit_save_u64(saver, row->agent);
        tacit_save_bytes(saver, row->name, TACIT_METRIC_NAME);
    }
}

tacit_status tacit_rows_load(tacit_metric_rows *rows, tacit_loader *loader, tacit_error *err)
{
    uint64_t count = tacit_load_u64(loader);
    if (count > MAX_WAITING)
        return tacit_fail(err, TACIT_EVERIFY, "the checkpoint holds an absurd number of rows");
    for (uint64_t i = 0; i < count; i++) {
        tacit_status status = tacit_loader_status(loader, err);
        if (status)
            return status;
        tacit_row *row = more(rows);
        if (!row)
            return tacit_out_of_memory(err);
        row->time = tacit_load_f64(loader);
        row->value = tacit_load_f64(loader);
        row->agent = tacit_load_u64(loader);
        tacit_load_bytes(loader, row->name, TACIT_METRIC_NAME);
        row->name[TACIT_METRIC_NAME - 1] = '\0';
    }
    return TACIT_OK;
}
