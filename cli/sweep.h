/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H
/* What the files of tacit sweep share. */
#include "tacit/sweep.h"

typedef struct sweep_flags {
    int64_t threads;
    bool json, force, quiet, keep_runs;
    char seeds[TACIT_TEXT_MAX];
    char best[TACIT_TEXT_MAX];
    char out[TACIT_TEXT_MAX];
    char resume[TACIT_TEXT_MAX];
} sweep_flags;

/* ---- sweep_words.c: a table of what was found ---- */
tacit_status sweep_say_words(const tacit_sweep *sweep, const sweep_flags *flags,
                             tacit_sweep_metric metric, const char *folder, tacit_error *err);
tacit_status sweep_say_json(const tacit_sweep *sweep, tacit_sweep_metric metric, tacit_error *err);

/* ---- sweep_folder.c ---- */
/* For --force: remove a sweep's folder if it is one and holds nothing else. */
tacit_status sweep_remove(const char *folder, tacit_error *err);

#endif
