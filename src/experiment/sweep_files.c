/* SPDX-License-Identifier: Apache-2.0 */
/* What a sweep writes to its folder: each file complete or not at all. */
#include <stdlib.h>

#include "experiment/sweep.h"
#include "experiment/tune.h"

#define MEANS "means.csv"
#define PAGE "report.html"
#define SEARCH "search.csv"

const char *const tacit_sweep_last[] = {MEANS, PAGE, SEARCH, NULL};

tacit_status tacit_sweep_stage(const tacit_folder *folder, const char *name, char *text,
                               tacit_error *err)
{
    if (!text)
        return tacit_out_of_memory(err);
    tacit_outfile file;
    tacit_status status = tacit_outfile_open(&file, folder, name, err);
    if (!status) {
        tacit_write_text(&file.text, text);
        status = tacit_outfile_stage(&file, err);
    }
    free(text);
    return status;
}

char *tacit_sweep_rows(const tacit_sweep *sweep)
{
    tacit_writer out = {0};
    tacit_sweep_header(sweep, &out);
    for (size_t r = 0; r < tacit_sweep_runs(sweep); r++)
        if (sweep->results[r].state != TACIT_SWEEP_WAITING)
            tacit_sweep_row(sweep, r, &out);
    return tacit_writer_take(&out);
}

tacit_status tacit_sweep_publish(const tacit_folder *folder, const char *const *names,
                                 tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (; *names && !status; names++)
        status = tacit_outfile_publish(folder, *names, err);
    return status ? status : tacit_folder_sync(folder, err);
}

tacit_status tacit_sweep_finish(const tacit_folder *folder, const tacit_sweep *sweep, bool complete,
                                tacit_error *err)
{
    const bool search = complete && sweep->tuner;
    tacit_status status = tacit_sweep_stage(folder, TACIT_SWEEP_ROWS, tacit_sweep_rows(sweep), err);
    if (!status && complete)
        status = tacit_sweep_stage(folder, MEANS, tacit_sweep_means(sweep), err);
    if (!status && complete)
        status = tacit_sweep_stage(folder, PAGE, tacit_sweep_page(sweep), err);
    if (!status && search)
        status = tacit_sweep_stage(folder, SEARCH, tacit_tune_csv(sweep), err);
    const char *const all[] = {TACIT_SWEEP_ROWS, complete ? MEANS : NULL, PAGE,
                               search ? SEARCH : NULL, NULL};
    return status ? status : tacit_sweep_publish(folder, all, err);
}
