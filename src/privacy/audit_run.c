/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many trials on many threads. Trial k draws from a stream named by the plan's seed, its number
 * and whether the canary is there, so that no score depends on who computed it or when.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/threads.h"
#include "privacy/audit.h"

typedef struct crew {
    const tacit_audit_plan *plan;
    tacit_audit *audit;
    tacit_audit_score *score;
    void *ctx;
    tacit_random random;
    uint64_t total;
    _Atomic uint64_t done;
    _Atomic uint64_t failed; /* index + 1 of the first trial known to have failed; 0: none */
    tacit_error *error;      /* one a worker */
    uint64_t *error_at;      /* index + 1 */
    tacit_status *status;
} crew;

static bool stopped(const crew *c)
{
    return c->plan->stop && *c->plan->stop;
}

static void note_failure(crew *c, uint32_t worker, uint64_t k, tacit_status status)
{
    c->error_at[worker] = k + 1;
    c->status[worker] = status;
    uint64_t known = atomic_load(&c->failed);
    while ((known == 0 || k + 1 < known) &&
           !atomic_compare_exchange_weak(&c->failed, &known, k + 1))
        ;
}

static void one_trial(crew *c, uint32_t worker, uint64_t k)
{
    tacit_stream stream;
    tacit_audit_trial trial = {.number = k / 2, .with = k % 2, .worker = worker, .stream = &stream};
    double score = NAN;
    tacit_stream_open(&stream, &c->random, trial.number, TACIT_FOR_NOISE, trial.with);
    tacit_status status = c->score(c->ctx, &trial, &score, &c->error[worker]);
    tacit_stream_clear(&stream);
    if (status)
        note_failure(c, worker, k, status);
    (trial.with ? c->audit->with : c->audit->without)[trial.number] =
        isnan(score) ? -INFINITY : score;
}

/* A worker that failed goes on with nothing; the others finish what comes before the failure,
 * so that the error told is always that of the first trial that fails. */
static void work(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    crew *c = ctx;
    for (size_t k = begin; k < end; k++) {
        const uint64_t failed = atomic_load(&c->failed);
        if (stopped(c) || (failed && k + 1 >= failed) || c->status[worker])
            return;
        one_trial(c, worker, k);
        const uint64_t done = atomic_fetch_add(&c->done, 1) + 1;
        if (worker == 0 && c->plan->progress)
            c->plan->progress(c->plan->progress_ctx, (double)done, (double)c->total);
    }
}

static tacit_status check(const tacit_audit_plan *plan, tacit_error *err)
{
    if (plan->trials == 0)
        return tacit_fail(err, TACIT_EINPUT, "an audit needs at least one trial");
    if (plan->trials > TACIT_AUDIT_MAX_TRIALS || plan->pilot > TACIT_AUDIT_MAX_TRIALS)
        return tacit_fail(err, TACIT_EINPUT, "an audit has at most %llu trials",
                          (unsigned long long)TACIT_AUDIT_MAX_TRIALS);
    if (!(plan->confidence >= 0.8) || !(plan->confidence < 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "the confidence of an audit is at least 0.8 and below 1, not %g",
                          plan->confidence);
    if (!(plan->delta >= 0) || !(plan->delta < 1))
        return tacit_fail(err, TACIT_EINPUT, "delta is at least 0 and below 1, not %g",
                          plan->delta);
    return TACIT_OK;
}

static tacit_status run_crew(crew *c, uint32_t count, tacit_error *err)
{
    tacit_threads *threads = count > 1 ? tacit_threads_create(count) : NULL;
    if (count > 1 && !threads)
        return tacit_out_of_memory(err);
    if (threads)
        tacit_threads_run(threads, c->total, 1, work, c);
    else
        work(c, 0, 0, c->total);
    tacit_threads_free(threads);
    const uint64_t failed = atomic_load(&c->failed);
    for (uint32_t w = 0; failed && w < count; w++)
        if (c->error_at[w] == failed)
            return tacit_fail(err, c->status[w], "%s", c->error[w].text);
    return stopped(c) ? tacit_fail(err, TACIT_EINTERRUPTED, "interrupted") : TACIT_OK;
}

static tacit_status make_room(tacit_audit *out, crew *c, uint32_t workers, tacit_error *err)
{
    const size_t n = out->pilot + out->trials;
    out->with = calloc(n, sizeof *out->with);
    out->without = calloc(n, sizeof *out->without);
    c->error = calloc(workers, sizeof *c->error);
    c->error_at = calloc(workers, sizeof *c->error_at);
    c->status = calloc(workers, sizeof *c->status);
    return out->with && out->without && c->error && c->error_at && c->status
               ? TACIT_OK
               : tacit_out_of_memory(err);
}

tacit_status tacit_audit_run(tacit_audit *out, const tacit_audit_plan *plan,
                             tacit_audit_score *score, void *ctx, tacit_error *err)
{
    *out = (tacit_audit){.delta = plan->delta, .confidence = plan->confidence};
    tacit_status status = check(plan, err);
    if (status)
        return status;
    const uint32_t workers = plan->threads ? plan->threads : 1;
    out->trials = plan->trials;
    out->pilot = plan->pilot ? plan->pilot : (plan->trials + 1) / 2;
    crew c = {.plan = plan,
              .audit = out,
              .score = score,
              .ctx = ctx,
              .total = 2 * (out->pilot + out->trials)};
    tacit_random_init(&c.random, plan->seed);
    status = make_room(out, &c, workers, err);
    if (!status)
        status = run_crew(&c, workers, err);
    if (!status)
        status = tacit_audit_find(out, plan->curve, err);
    tacit_random_clear(&c.random);
    free(c.error);
    free(c.error_at);
    free(c.status);
    return status;
}

void tacit_audit_clear(tacit_audit *audit)
{
    free(audit->with);
    free(audit->without);
    *audit = (tacit_audit){0};
}
