/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_RUN_H
#define TACIT_EXPERIMENT_RUN_H
/* One run while it goes on, shared by the loop, the results and the checkpoints. */
#include "experiment/rows.h"

#define TACIT_BOARD "board.jsonl"
#define TACIT_CHECKPOINT "checkpoint.bin"

typedef struct tacit_run {
    tacit_session *session;
    const tacit_run_request *request;
    const tacit_run_options *options;
    bool writes; /* there is a folder */
    tacit_folder folder;
    tacit_metric_rows rows;
    uint64_t next_row; /* rows with index below are written; row k stands at k * every */
    uint64_t identity[4];
} tacit_run;

/* results.c: staged files have all their bytes on the disk, under a temporary name. */
tacit_status tacit_run_stage_text(tacit_run *r, const char *name, char *text, tacit_error *err);
tacit_status tacit_run_stage_models(tacit_run *r, tacit_error *err);
/* model.tacit, the net that agent 0 holds; not for linear models, nor for one that has run away. */
tacit_status tacit_run_stage_model(tacit_run *r, bool *staged, tacit_error *err);
tacit_status tacit_run_stage_ledgers(tacit_run *r, tacit_error *err);
/* boards.c: what was published of the last sum, if the protocol has such; sets *staged. */
tacit_status tacit_run_stage_board(tacit_run *r, bool *staged, tacit_error *err);
/* page.c: report.html, from the staged files. */
tacit_status tacit_run_stage_page(tacit_run *r, tacit_error *err);
/* Give staged files (NULL-terminated) their names. */
tacit_status tacit_run_publish(tacit_run *r, const char *const *names, tacit_error *err);

/* checkpoint.c */
tacit_status tacit_run_identify(tacit_run *r, tacit_error *err);
tacit_status tacit_run_stage_checkpoint(tacit_run *r, tacit_error *err);
tacit_status tacit_run_checkpoint(tacit_run *r, tacit_error *err);
tacit_status tacit_run_resume(tacit_run *r, tacit_error *err);

#endif
