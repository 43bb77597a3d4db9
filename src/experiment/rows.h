/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_ROWS_H
#define TACIT_EXPERIMENT_ROWS_H
/*
 * metrics.csv while it grows. It is metrics.csv.partial until the run ends or is interrupted.
 *
 * Protocols emit metrics from any thread; they wait here until the runtime has passed their
 * time, and are then written by (time, agent, order of emission), which no number of threads
 * and no interruption can change. Waiting rows are part of a checkpoint.
 */
#include <pthread.h>
#include <sodium.h>

#include "experiment/files.h"
#include "experiment/session.h"

#define TACIT_METRIC_NAME 48
#define TACIT_METRIC_PRIVATE " (private)" /* ends names that only an owner would see */
#define TACIT_ROWS_PARTIAL "metrics.csv.partial"

typedef struct tacit_row {
    double time, value;
    tacit_agent agent;
    uint64_t order;
    char name[TACIT_METRIC_NAME];
} tacit_row;

typedef struct tacit_metric_rows {
    const tacit_folder *folder;
    int fd;
    uint64_t len;                   /* bytes in the file */
    crypto_generichash_state *hash; /* of those bytes */
    uint32_t agents, sample;
    pthread_mutex_t lock;
    tacit_row *waiting;
    size_t count, capacity;
    bool failed; /* no memory for a row */
} tacit_metric_rows;

/* A new file with its header. */
tacit_status tacit_rows_start(tacit_metric_rows *rows, const tacit_folder *folder,
                              tacit_session *session, tacit_error *err);
/* The first `len` bytes of the file that is there; refuses (TACIT_EVERIFY) others than those
 * the hash was taken of, and forgets what stands behind them. */
tacit_status tacit_rows_continue(tacit_metric_rows *rows, const tacit_folder *folder,
                                 tacit_session *session, uint64_t len, const uint64_t hash[4],
                                 tacit_error *err);
void tacit_rows_hash(const tacit_metric_rows *rows, uint64_t hash[4]);
tacit_metric_sink tacit_rows_sink;
/* All that waits, when the runtime has passed it. */
tacit_status tacit_rows_flush(tacit_metric_rows *rows, tacit_error *err);
/* What the whole run and the sampled agents look like now. */
tacit_status tacit_rows_measure(tacit_metric_rows *rows, tacit_session *session,
                                const tacit_measure *measure, tacit_error *err);
tacit_status tacit_rows_sync(tacit_metric_rows *rows, tacit_error *err);
/* metrics.csv.partial becomes metrics.csv. */
tacit_status tacit_rows_publish(tacit_metric_rows *rows, tacit_error *err);
void tacit_rows_clear(tacit_metric_rows *rows);

void tacit_rows_save(const tacit_metric_rows *rows, tacit_saver *saver);
tacit_status tacit_rows_load(tacit_metric_rows *rows, tacit_loader *loader, tacit_error *err);

#endif
