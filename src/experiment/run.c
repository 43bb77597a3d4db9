/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run from start to end, or from a checkpoint to the end.
 *
 * Invariants:
 *  1. The rows of metrics.csv stand at times that follow from the configuration alone, so it
 *     does not matter where a run was cut and resumed.
 *  2. A checkpoint is on the disk only after the rows it counts.
 *  3. The final row is written after TACIT_FINISH: agents may improve their model then.
 *  4. Failing leaves what the last checkpoint needs, and otherwise nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "experiment/report.h"

#define SLICES 64 /* pieces of a run between which progress is told and *stop looked at */

static tacit_status start(tacit_run *r, tacit_error *err)
{
    tacit_status status = tacit_folder_create(&r->folder, r->request->folder, err);
    if (status)
        return status;
    if ((status = tacit_run_stage_text(r, "config.yaml",
                                       tacit_experiment_yaml(r->session->experiment), err)))
        return status;
    if ((status = tacit_run_publish(r, (const char *const[]){"config.yaml", NULL}, err)))
        return status;
    return tacit_rows_start(&r->rows, &r->folder, r->session, err);
}

/* The time of row k before the last. */
static double row_time(const tacit_run *r, uint64_t k)
{
    return k == 0 ? 0 : r->options->every > 0 ? (double)k * r->options->every : INFINITY;
}

static tacit_status measure_row(tacit_run *r, tacit_error *err)
{
    r->next_row++;
    if (!r->writes)
        return TACIT_OK;
    tacit_measure measure;
    tacit_status status = tacit_measure_take(&measure, r->session, err);
    if (!status)
        status = tacit_rows_measure(&r->rows, r->session, &measure, err);
    tacit_measure_clear(&measure);
    return status;
}

/* The first multiple of `step` after `now`. */
static double next_multiple(double now, double step)
{
    double k = floor(now / step) + 1;
    return k * step > now ? k * step : (k + 1) * step;
}

static bool stopped(const tacit_run *r)
{
    return r->request->stop && *r->request->stop;
}

static tacit_status loop(tacit_run *r, tacit_error *err)
{
    tacit_runtime *rt = r->session->runtime;
    const double end = r->options->time;
    const double save_every = r->writes ? r->options->checkpoint : 0;
    double next_save = save_every > 0 ? next_multiple(rt->ops->now(rt), save_every) : INFINITY;
    double now = rt->ops->now(rt);
    tacit_status status = TACIT_OK;
    for (;;) {
        /* Rows that are due; the last one, at the end, is not ours. */
        double due = row_time(r, r->next_row);
        double target = fmin(end, fmin(next_multiple(now, end / SLICES), fmin(due, next_save)));
        if (stopped(r))
            return TACIT_EINTERRUPTED;
        if ((status = rt->ops->run(rt, target, r->request->stop, err)))
            return status;
        now = target;
        if (r->writes && (status = tacit_rows_flush(&r->rows, err)))
            return status;
        if (r->request->progress)
            r->request->progress(r->request->progress_ctx, now, end);
        if (now >= end)
            return TACIT_OK;
        if (now >= due && (status = measure_row(r, err)))
            return status;
        if (now >= next_save) {
            if ((status = tacit_run_checkpoint(r, err)))
                return status;
            next_save = next_multiple(now, save_every);
        }
    }
}

/* Everything the folder is for. */
static tacit_status write_results(tacit_run *r, bool complete, tacit_error *err)
{
    tacit_measure measure;
    tacit_status status = tacit_measure_take(&measure, r->session, err);
    if (!status && complete)
        status = tacit_rows_measure(&r->rows, r->session, &measure, err);
    if (!status)
        status = tacit_rows_sync(&r->rows, err);
    if (!status && !complete)
        status = tacit_run_stage_checkpoint(r, err);
    if (!status)
        status = tacit_run_stage_models(r, err);
    bool net = false;
    if (!status)
        status = tacit_run_stage_model(r, &net, err);
    if (!status)
        status = tacit_run_stage_ledgers(r, err);
    if (!status)
        status = tacit_run_stage_text(r, "summary.json",
                                      tacit_summary_text(r->session, &measure.now, complete), err);
    if (!status)
        status = tacit_run_stage_tables(r, &measure, err);
    bool board = false;
    if (!status)
        status = tacit_run_stage_board(r, &board, err);
    tacit_measure_clear(&measure);
    if (!status)
        status = tacit_run_stage_page(r, err);
    /* All is on the disk; what follows needs no more room. */
    if (!status && !complete)
        status = tacit_run_publish(r, (const char *const[]){TACIT_CHECKPOINT, NULL}, err);
    if (!status)
        status = tacit_run_publish(r,
                                   (const char *const[]){"models.npy", "ledger.jsonl",
                                                         "summary.json", "report.html", NULL},
                                   err);
    if (!status)
        status = tacit_run_publish_tables(r, err);
    if (!status && net)
        status = tacit_run_publish(r, (const char *const[]){TACIT_MODEL_FILE, NULL}, err);
    if (!status && board)
        status = tacit_run_publish(r, (const char *const[]){TACIT_BOARD, NULL}, err);
    if (!status)
        status = tacit_rows_publish(&r->rows, err);
    if (!status && complete)
        unlinkat(r->folder.dir, TACIT_CHECKPOINT, 0);
    return status ? status : tacit_folder_sync(&r->folder, err);
}

tacit_status tacit_session_run(tacit_session *session, const tacit_run_request *request,
                               tacit_error *err)
{
    tacit_runtime *rt = session->runtime;
    if (session->ran)
        return tacit_fail(err, TACIT_EUSAGE, "a session runs once; create another");
    if (request->resume && !request->folder)
        return tacit_fail(err, TACIT_EUSAGE, "resuming needs the folder of the interrupted run");
    if (sodium_init() < 0)
        return tacit_fail(err, TACIT_EINTERNAL, "libsodium could not be started");
    session->ran = true;
    tacit_run r = {.session = session,
                   .request = request,
                   .options = &session->experiment->run,
                   .writes = request->folder != NULL,
                   .folder = {.dir = -1},
                   .rows = {.fd = -1}};
    tacit_status status = TACIT_OK;
    if (r.writes)
        status = tacit_run_identify(&r, err);
    if (!status && r.writes)
        status = request->resume ? tacit_run_resume(&r, err) : start(&r, err);
    if (status)
        goto out;
    if (r.writes) {
        rt->metric = tacit_rows_sink;
        rt->metric_ctx = &r.rows;
    }
    status = loop(&r, err);
    if (!status)
        status = rt->ops->finish(rt, err);
    if (!status && r.writes)
        status = tacit_rows_flush(&r.rows, err);
    if (status == TACIT_EINTERRUPTED) {
        tacit_fail(err, status, "interrupted at time %g of %g", rt->ops->now(rt), r.options->time);
        if (r.writes) {
            tacit_status written = write_results(&r, false, err);
            if (written)
                status = written;
        }
    } else if (!status && r.writes)
        status = write_results(&r, true, err);
    rt->metric = NULL;
    rt->metric_ctx = NULL;
out:
    if (status && status != TACIT_EINTERRUPTED)
        tacit_folder_abandon(&r.folder);
    tacit_rows_clear(&r.rows);
    tacit_folder_close(&r.folder);
    return status;
}

tacit_status tacit_folder_config(tacit_config *config, const char *folder, tacit_error *err)
{
    tacit_writer path = {0};
    tacit_write_format(&path, "%s/config.yaml", folder);
    char *text = tacit_writer_take(&path);
    if (!text)
        return tacit_out_of_memory(err);
    tacit_status status = tacit_config_read(config, text, err);
    free(text);
    return status;
}
