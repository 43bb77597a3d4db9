/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sweep while it goes on. Each thread takes the next run that waits, does all of it by
 * itself, and appends its row to runs.csv.
 *
 * Invariants:
 *  1. A result is a function of the plan and the run's number; threads share nothing else.
 *  2. runs.csv is appended a row at a time, so a kill leaves complete rows and at most one that
 *     is cut. Whenever a sweep ends or goes on, it is rewritten in the order of the plan.
 *  3. means.csv and report.html are there only when nothing waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/settings.h"
#include "experiment/sweep.h"
#include "experiment/tune.h"

#define PLAN TACIT_SWEEP_PLAN
#define ROWS TACIT_SWEEP_ROWS

typedef struct sweeper sweeper;

typedef struct worker {
    sweeper *all;
    pthread_t thread;
    double share; /* of the run it does */
} worker;

struct sweeper {
    tacit_sweep *sweep;
    const tacit_sweep_request *request;
    tacit_folder folder;
    int rows; /* runs.csv, for appending; -1: none */
    pthread_mutex_t lock;
    /* under the lock */
    size_t next, finished;
    worker *workers;
    uint32_t worker_count;
    tacit_status status;
    tacit_error *err;
};

/* ---- the folder ---- */

/* A new runs.csv with what is known, open for more. */
static tacit_status open_rows(sweeper *s, tacit_error *err)
{
    tacit_status status = tacit_sweep_stage(&s->folder, ROWS, tacit_sweep_rows(s->sweep), err);
    if (!status)
        status = tacit_sweep_publish(&s->folder, (const char *const[]){ROWS, NULL}, err);
    if (status)
        return status;
    s->rows = openat(s->folder.dir, ROWS, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    return s->rows >= 0 ? TACIT_OK : tacit_folder_fail(&s->folder, ROWS, errno, err);
}

static tacit_status make_runs(const sweeper *s, tacit_error *err)
{
    if (s->sweep->keep_runs && mkdirat(s->folder.dir, "runs", TACIT_FOLDER_MODE) != 0 &&
        errno != EEXIST)
        return tacit_folder_fail(&s->folder, "runs", errno, err);
    return TACIT_OK;
}

/* What a failed start wrote goes away again. */
static void abandon(sweeper *s)
{
    static const char *const names[] = {PLAN, PLAN ".tmp", ROWS, ROWS ".tmp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlinkat(s->folder.dir, names[i], 0);
    unlinkat(s->folder.dir, "runs", AT_REMOVEDIR);
    tacit_folder_abandon(&s->folder);
}

static tacit_status start(sweeper *s, tacit_error *err)
{
    char *plan = tacit_sweep_text(s->sweep);
    if (!plan)
        return tacit_out_of_memory(err);
    if (strlen(plan) > TACIT_MAX_YAML) {
        free(plan);
        return tacit_fail(err, TACIT_EINPUT,
                          "the plan has more than %u bytes; vary fewer or shorter values",
                          TACIT_MAX_YAML);
    }
    tacit_status status = tacit_folder_create(&s->folder, s->request->folder, err);
    if (status) {
        free(plan);
        return status;
    }
    status = tacit_sweep_stage(&s->folder, PLAN, plan, err);
    if (!status)
        status = tacit_sweep_publish(&s->folder, (const char *const[]){PLAN, NULL}, err);
    if (!status)
        status = make_runs(s, err);
    if (!status)
        status = open_rows(s, err);
    if (status)
        abandon(s);
    return status;
}

/* ---- going on ---- */

static tacit_status open_folder(sweeper *s, tacit_error *err)
{
    const char *path = s->request->folder;
    if (!(s->folder.path = tacit_text_copy(path, strlen(path))))
        return tacit_out_of_memory(err);
    s->folder.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->folder.dir < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot open the folder \"%.300s\": %s", path,
                          strerror(errno));
    if (flock(s->folder.dir, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return tacit_fail(err, TACIT_EINPUT, "another sweep is writing to \"%.300s\"; wait for it",
                          path);
    return TACIT_OK;
}

static tacit_status check_plan(const sweeper *s, tacit_error *err)
{
    char *there = NULL, *here = tacit_sweep_text(s->sweep);
    size_t len;
    tacit_status status = here ? TACIT_OK : tacit_out_of_memory(err);
    if (!status)
        status = tacit_folder_read(&s->folder, PLAN, &there, &len, err);
    if (!status && strcmp(there, here) != 0)
        status = tacit_fail(err, TACIT_EVERIFY,
                            "\"%.300s/" PLAN "\" is another plan; go on with that one by --resume "
                            "alone, or start this one elsewhere",
                            s->folder.path);
    free(there);
    free(here);
    return status;
}

static tacit_status load_rows(sweeper *s, tacit_error *err)
{
    char *text = NULL;
    size_t len;
    tacit_writer shown = {0};
    if (faccessat(s->folder.dir, ROWS, F_OK, 0) != 0 && errno == ENOENT)
        return TACIT_OK; /* killed before the first */
    tacit_status status = tacit_folder_read(&s->folder, ROWS, &text, &len, err);
    tacit_write_format(&shown, "%s/%s", s->folder.path, ROWS);
    if (!status && shown.failed)
        status = tacit_out_of_memory(err);
    if (!status)
        status = tacit_sweep_read_rows(s->sweep, shown.text, text, err);
    tacit_writer_clear(&shown);
    free(text);
    return status;
}

static tacit_status resume(sweeper *s, tacit_error *err)
{
    tacit_status status = open_folder(s, err);
    if (!status)
        status = check_plan(s, err);
    if (!status)
        status = load_rows(s, err);
    if (status)
        return status;
    if (tacit_sweep_count(s->sweep, TACIT_SWEEP_WAITING) > 0)
        for (size_t i = 0; tacit_sweep_last[i]; i++)
            unlinkat(s->folder.dir, tacit_sweep_last[i], 0);
    status = make_runs(s, err);
    return status ? status : open_rows(s, err);
}

/* ---- threads ---- */

static bool stopped(const sweeper *s)
{
    return s->status || (s->request->stop && *s->request->stop);
}

static bool is_wanted(const tacit_sweep *sweep, size_t run)
{
    return sweep->tuner ? sweep->tuner->wanted[run]
                        : sweep->results[run].state == TACIT_SWEEP_WAITING;
}

/* Under the lock: the next run that waits, SIZE_MAX if there is none. */
static size_t take(sweeper *s)
{
    const size_t runs = tacit_sweep_runs(s->sweep);
    while (s->next < runs && !is_wanted(s->sweep, s->next))
        s->next++;
    return s->next < runs && !stopped(s) ? s->next++ : SIZE_MAX;
}

/* Under the lock. */
static void tell(const sweeper *s)
{
    const size_t runs = s->sweep->tuner ? tacit_tune_most(s->sweep) : tacit_sweep_runs(s->sweep);
    double parts = (double)s->finished;
    for (uint32_t k = 0; k < s->worker_count; k++)
        parts += s->workers[k].share;
    if (s->request->progress)
        s->request->progress(s->request->progress_ctx, s->finished, runs, parts / (double)runs);
}

static void on_progress(void *ctx, double time, double total)
{
    worker *w = ctx;
    pthread_mutex_lock(&w->all->lock);
    w->share = total > 0 ? time / total : 0;
    tell(w->all);
    pthread_mutex_unlock(&w->all->lock);
}

static void append_row(sweeper *s, size_t run)
{
    tacit_writer row = {0};
    tacit_sweep_row(s->sweep, run, &row);
    if (row.failed)
        s->status = tacit_out_of_memory(s->err);
    else if (!tacit_write_all(s->rows, row.text, row.len))
        s->status = tacit_folder_fail(&s->folder, ROWS, errno, s->err);
    tacit_writer_clear(&row);
}

/* Store, write and tell. Making the row durable takes long and needs no lock. */
static void hand_in(worker *w, size_t run, const tacit_sweep_result *result)
{
    sweeper *s = w->all;
    pthread_mutex_lock(&s->lock);
    if (s->sweep->tuner && !s->status)
        s->status = tacit_tune_accepts(s->sweep, result, s->err);
    tacit_sweep_forget(&s->sweep->results[run]); /* of a winner: it was there before */
    s->sweep->results[run] = *result;
    s->finished++;
    w->share = 0;
    if (s->rows >= 0 && !s->status)
        append_row(s, run);
    tell(s);
    pthread_mutex_unlock(&s->lock);
    if (s->rows < 0 || fdatasync(s->rows) == 0 || errno == EINVAL || errno == ENOSYS)
        return;
    int number = errno;
    pthread_mutex_lock(&s->lock);
    if (!s->status)
        s->status = tacit_folder_fail(&s->folder, ROWS, number, s->err);
    pthread_mutex_unlock(&s->lock);
}

static void *work(void *arg)
{
    worker *w = arg;
    sweeper *s = w->all;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        const size_t run = take(s);
        pthread_mutex_unlock(&s->lock);
        if (run == SIZE_MAX)
            return NULL;
        tacit_writer path = {0};
        if (s->folder.path && s->sweep->keep_runs)
            tacit_write_format(&path, "%s/runs/%06zu", s->folder.path, run + 1);
        const tacit_sweep_one one = {.run = run,
                                     .open = s->sweep->tuner && s->sweep->tuner->testing,
                                     .folder = path.text,
                                     .stop = s->request->stop,
                                     .progress = on_progress,
                                     .progress_ctx = w};
        tacit_sweep_result result;
        const tacit_status status = tacit_sweep_do(s->sweep, &one, &result);
        tacit_writer_clear(&path);
        if (status)
            return NULL; /* interrupted */
        hand_in(w, run, &result);
    }
}

/* The caller is a worker too; fewer threads than wanted are no error. */
static tacit_status work_all(sweeper *s, uint32_t threads, tacit_error *err)
{
    s->workers = calloc(threads, sizeof *s->workers);
    if (!s->workers)
        return tacit_out_of_memory(err);
    s->worker_count = threads;
    for (uint32_t k = 0; k < threads; k++)
        s->workers[k].all = s;
    uint32_t started = 1;
    while (started < threads &&
           pthread_create(&s->workers[started].thread, NULL, work, &s->workers[started]) == 0)
        started++;
    work(&s->workers[0]);
    for (uint32_t k = 1; k < started; k++)
        pthread_join(s->workers[k].thread, NULL);
    free(s->workers);
    s->worker_count = 0;
    return s->status;
}

/* So many runs that are wanted, by as many threads as there may be. */
static tacit_status work_some(sweeper *s, size_t runs, tacit_error *err)
{
    const uint32_t most = s->request->threads ? s->request->threads : 1;
    s->next = 0;
    return runs > 0 ? work_all(s, runs < most ? (uint32_t)runs : most, err) : TACIT_OK;
}

/* A search asks for runs, step by step, until it asks no more. */
static tacit_status work_search(sweeper *s, tacit_error *err)
{
    bool more = true;
    tacit_status status = TACIT_OK;
    while (!status && !(status = tacit_tune_next(s->sweep, &more, err)) && more && !stopped(s))
        status = work_some(s, s->sweep->tuner->wanted_count, err);
    return status;
}

static tacit_status go(sweeper *s, tacit_error *err)
{
    const tacit_sweep *sweep = s->sweep;
    const size_t waiting = tacit_sweep_count(sweep, TACIT_SWEEP_WAITING);
    s->finished = tacit_sweep_runs(sweep) - waiting;
    tell(s);
    tacit_status status = sweep->tuner ? work_search(s, err) : work_some(s, waiting, err);
    if (status)
        return status;
    const size_t left = tacit_sweep_count(sweep, TACIT_SWEEP_WAITING);
    const bool complete = sweep->tuner ? sweep->tuner->over : left == 0;
    if (s->folder.path)
        status = tacit_sweep_finish(&s->folder, sweep, complete, err);
    const size_t failed = tacit_sweep_count(sweep, TACIT_SWEEP_FAILED);
    const size_t runs = tacit_sweep_runs(sweep) - (sweep->tuner ? left : 0);
    if (!status && !complete && sweep->tuner)
        status = tacit_fail(err, TACIT_EINTERRUPTED, "interrupted after %zu runs", runs);
    else if (!status && !complete)
        status = tacit_fail(err, TACIT_EINTERRUPTED, "interrupted with %zu of %zu runs to do", left,
                            runs);
    else if (!status && failed > 0)
        status = tacit_fail(err, TACIT_NO, "%zu of %zu runs failed", failed, runs);
    return status;
}

tacit_status tacit_sweep_run(tacit_sweep *sweep, const tacit_sweep_request *request,
                             tacit_error *err)
{
    if (request->resume && !request->folder)
        return tacit_fail(err, TACIT_EUSAGE, "resuming needs the folder of the interrupted sweep");
    sweeper s = {.sweep = sweep, .request = request, .folder = {.dir = -1}, .rows = -1, .err = err};
    tacit_status status = TACIT_OK;
    for (size_t r = 0; r < tacit_sweep_runs(sweep); r++)
        tacit_sweep_forget(&sweep->results[r]);
    pthread_mutex_init(&s.lock, NULL);
    if (request->folder)
        status = request->resume ? resume(&s, err) : start(&s, err);
    if (!status)
        status = go(&s, err);
    if (s.rows >= 0)
        close(s.rows);
    tacit_folder_close(&s.folder);
    pthread_mutex_destroy(&s.lock);
    return status;
}
