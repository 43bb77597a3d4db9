/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/threads.h"
#include "reproduce/figure.h"

typedef struct outcome {
    tacit_status status;
    tacit_error err;
} outcome;

typedef struct crew {
    figure_work *work;
    figure_piece *piece;
    void *ctx;
    outcome *of; /* one a piece */
} crew;

static bool stopped(const figure_work *work)
{
    return work->failed || (work->request->stop && *work->request->stop);
}

tacit_status figure_done(const figure_worker *worker, double amount)
{
    figure_work *work = worker->work;
    uint64_t more = (uint64_t)(1e6 * amount);
    uint64_t done = atomic_fetch_add(&work->millions, more) + more;
    if (worker->number == 0 && work->request->progress)
        work->request->progress(work->request->progress_ctx, 1e-6 * (double)done, work->total);
    return stopped(work) ? TACIT_EINTERRUPTED : TACIT_OK;
}

static void do_pieces(void *ctx, uint32_t number, size_t begin, size_t end)
{
    const crew *c = ctx;
    const figure_worker worker = {c->work, number};
    for (size_t k = begin; k < end; k++) {
        outcome *o = &c->of[k];
        o->status = stopped(c->work) ? TACIT_EINTERRUPTED : c->piece(c->ctx, k, &worker, &o->err);
        if (o->status != TACIT_OK)
            c->work->failed = true;
    }
}

/* A piece that was told to stop is no reason to stop. */
static tacit_status first_failure(const crew *c, size_t pieces, tacit_error *err)
{
    bool interrupted = false;
    for (size_t k = 0; k < pieces; k++) {
        if (c->of[k].status == TACIT_EINTERRUPTED)
            interrupted = true;
        else if (c->of[k].status != TACIT_OK)
            return tacit_fail(err, c->of[k].status, "%s", c->of[k].err.text);
    }
    return interrupted ? tacit_fail(err, TACIT_EINTERRUPTED, "interrupted") : TACIT_OK;
}

tacit_status figure_run(figure_work *work, size_t pieces, figure_piece *piece, void *ctx,
                        tacit_error *err)
{
    uint32_t count = work->request->threads < pieces ? work->request->threads : (uint32_t)pieces;
    crew c = {work, piece, ctx, calloc(pieces ? pieces : 1, sizeof *c.of)};
    tacit_threads *threads = tacit_threads_create(count ? count : 1);
    tacit_status status;
    if (!c.of || !threads) {
        status = tacit_out_of_memory(err);
    } else {
        tacit_threads_run(threads, pieces, 1, do_pieces, &c);
        status = first_failure(&c, pieces, err);
    }
    if (threads)
        tacit_threads_free(threads);
    free(c.of);
    return status;
}
