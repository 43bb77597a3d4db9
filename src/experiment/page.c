/* SPDX-License-Identifier: Apache-2.0 */
/* Pages from run folders: the one a run writes about itself, and those that compare several. */
#include <stdlib.h>
#include <sys/stat.h>

#include "experiment/report.h"

tacit_status tacit_run_stage_page(tacit_run *r, tacit_error *err)
{
    tacit_report *report = calloc(1, sizeof *report);
    if (!report)
        return tacit_out_of_memory(err);
    tacit_status status = tacit_report_load(&report->run[0], &r->folder, true, err);
    if (!status) {
        report->runs = 1;
        tacit_report_compare(report);
        status = tacit_run_stage_text(r, "report.html", tacit_report_render(report), err);
        tacit_report_run_clear(&report->run[0]);
    }
    free(report);
    return status;
}

/* Is this folder among those that came before? */
static bool is_again(const struct stat *seen, size_t count, const struct stat *info)
{
    for (size_t i = 0; i < count; i++)
        if (seen[i].st_dev == info->st_dev && seen[i].st_ino == info->st_ino)
            return true;
    return false;
}

static tacit_status load_all(tacit_report *report, const char *const *folders, size_t count,
                             tacit_error *err)
{
    struct stat seen[TACIT_REPORT_RUNS];
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < count && !status; i++) {
        tacit_folder folder;
        if ((status = tacit_folder_look(&folder, folders[i], err)))
            return status;
        if (fstat(folder.dir, &seen[i]) != 0 || is_again(seen, i, &seen[i]))
            status = tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is given twice; name every run once",
                                folders[i]);
        else
            status = tacit_report_load(&report->run[i], &folder, false, err);
        report->runs += status == TACIT_OK;
        tacit_folder_close(&folder);
    }
    return status;
}

tacit_status tacit_report_page(char **html, const char *const *folders, size_t count,
                               const char *title, tacit_error *err)
{
    *html = NULL;
    if (count == 0 || count > TACIT_REPORT_RUNS)
        return tacit_fail(err, TACIT_EUSAGE, "a report is of 1 to %d runs, not of %zu",
                          TACIT_REPORT_RUNS, count);
    tacit_report *report = calloc(1, sizeof *report);
    if (!report)
        return tacit_out_of_memory(err);
    report->title = title;
    tacit_status status = load_all(report, folders, count, err);
    if (!status) {
        tacit_report_compare(report);
        *html = tacit_report_render(report);
        if (!*html)
            status = tacit_out_of_memory(err);
    }
    for (size_t i = 0; i < report->runs; i++)
        tacit_report_run_clear(&report->run[i]);
    free(report);
    return status;
}
