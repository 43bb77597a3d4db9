/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_THREADS_H
#define TACIT_THREADS_H
/*
 * A small thread pool: the calling thread is worker 0, so one thread means no threads.
 * Workers spin for a moment between jobs, since the simulator hands out a job every few
 * microseconds, and then sleep.
 */
#include "tacit/base.h"

typedef struct tacit_threads tacit_threads;
typedef void tacit_job(void *ctx, uint32_t worker, size_t begin, size_t end);

/* NULL when threads or memory cannot be had. */
tacit_threads *tacit_threads_create(uint32_t count);
void tacit_threads_free(tacit_threads *threads);
uint32_t tacit_threads_count(const tacit_threads *threads);
/* Call job on pieces of [0, n), `grain` items each, on all workers; returns when done. */
void tacit_threads_run(tacit_threads *threads, size_t n, size_t grain, tacit_job *job, void *ctx);

#endif
