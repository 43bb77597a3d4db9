/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SPINS 4000  /* some tens of microseconds: longer than the gap between two jobs */
#define POLITE 1000 /* after so many, let others have the core: there may be more threads */

struct tacit_threads {
    uint32_t count;
    pthread_t *thread; /* count - 1 */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic uint64_t generation; /* of the current job */
    _Atomic uint32_t busy;       /* workers still inside it */
    _Atomic bool quit;
    /* the job */
    tacit_job *job;
    void *ctx;
    size_t n, grain;
    _Atomic size_t next;
};

typedef struct worker {
    tacit_threads *threads;
    uint32_t index;
} worker;

static void pause_cpu(int spin)
{
    if (spin > POLITE) {
        sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void work(tacit_threads *t, uint32_t index)
{
    for (;;) {
        size_t begin = atomic_fetch_add_explicit(&t->next, t->grain, memory_order_relaxed);
        if (begin >= t->n)
            return;
        size_t end = t->n - begin < t->grain ? t->n : begin + t->grain;
        t->job(t->ctx, index, begin, end);
    }
}

/* Wait for a job newer than `seen`; false when the pool is closing. */
static bool await_job(tacit_threads *t, uint64_t seen)
{
    for (int spin = 0; spin < SPINS; spin++) {
        if (atomic_load_explicit(&t->generation, memory_order_acquire) != seen)
            return !atomic_load(&t->quit);
        pause_cpu(spin);
    }
    pthread_mutex_lock(&t->lock);
    while (atomic_load_explicit(&t->generation, memory_order_acquire) == seen)
        pthread_cond_wait(&t->wake, &t->lock);
    pthread_mutex_unlock(&t->lock);
    return !atomic_load(&t->quit);
}

static void *worker_main(void *arg)
{
    worker self = *(worker *)arg;
    free(arg);
    uint64_t seen = 0;
    while (await_job(self.threads, seen)) {
        seen++;
        work(self.threads, self.index);
        atomic_fetch_sub_explicit(&self.threads->busy, 1, memory_order_release);
    }
    return NULL;
}

/* Publish a new generation, so that spinning and sleeping workers both see it. */
static void announce(tacit_threads *t)
{
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add_explicit(&t->generation, 1, memory_order_release);
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

static bool start_worker(tacit_threads *t, uint32_t index)
{
    worker *w = malloc(sizeof *w);
    if (!w)
        return false;
    *w = (worker){t, index};
    if (pthread_create(&t->thread[index - 1], NULL, worker_main, w) != 0) {
        free(w);
        return false;
    }
    return true;
}

tacit_threads *tacit_threads_create(uint32_t count)
{
    tacit_threads *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->count = 1;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    t->thread = calloc(count ? count : 1, sizeof *t->thread);
    while (t->thread && t->count < count) {
        if (!start_worker(t, t->count))
            break;
        t->count++;
    }
    if (!t->thread || t->count < count) {
        tacit_threads_free(t);
        return NULL;
    }
    return t;
}

void tacit_threads_free(tacit_threads *t)
{
    if (!t)
        return;
    atomic_store(&t->quit, true);
    announce(t);
    for (uint32_t k = 1; k < t->count; k++)
        pthread_join(t->thread[k - 1], NULL);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    free(t->thread);
    free(t);
}

uint32_t tacit_threads_count(const tacit_threads *t)
{
    return t->count;
}

void tacit_threads_run(tacit_threads *t, size_t n, size_t grain, tacit_job *job, void *ctx)
{
    if (t->count == 1 || n <= grain) {
        if (n)
            job(ctx, 0, 0, n);
        return;
    }
    t->job = job;
    t->ctx = ctx;
    t->n = n;
    t->grain = grain;
    atomic_store_explicit(&t->next, 0, memory_order_relaxed);
    atomic_store_explicit(&t->busy, t->count - 1, memory_order_relaxed);
    announce(t);
    work(t, 0);
    for (int spin = 0; atomic_load_explicit(&t->busy, memory_order_acquire) != 0;)
        pause_cpu(spin <= POLITE ? spin++ : spin);
}
