/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H
/* What the files of tacit sweep share. */
#include "tacit/tune.h"

typedef struct sweep_flags {
    int64_t threads;
    bool json, force, quiet, keep_runs;
    char seeds[TACIT_TEXT_MAX];
    char best[TACIT_TEXT_MAX];
    char out[TACIT_TEXT_MAX];
    char resume[TACIT_TEXT_MAX];
    /* a search: */
    char optimize[TACIT_TEXT_MAX];
    char tries[TACIT_TEXT_MAX]; /* texts: "0" is not the same as nothing */
    char choice_epsilon[TACIT_TEXT_MAX];
    char score_bound[TACIT_TEXT_MAX];
    int tuned_on; /* tacit_tuned_on */
} sweep_flags;

/* ---- sweep_words.c: a table of what was found ---- */
tacit_status sweep_say_words(const tacit_sweep *sweep, const sweep_flags *flags,
                             tacit_sweep_metric metric, const char *folder, tacit_error *err);
tacit_status sweep_say_json(const tacit_sweep *sweep, tacit_sweep_metric metric, tacit_error *err);

/* ---- sweep_tune.c ---- */
/* What --optimize and its flags say; `*out` is NULL without, otherwise `options`. */
tacit_status sweep_read_tuning(const sweep_flags *flags, tacit_tune_options *options,
                               const tacit_tune_options **out, tacit_error *err);
/* The winner, what it scored, and what its epsilon covers. */
tacit_status sweep_say_tuned(const tacit_sweep *sweep, tacit_error *err);
/* What must be heard whatever is printed: that nothing was charged. */
void sweep_warn_tuned(const tacit_sweep *sweep);

/* ---- sweep_folder.c ---- */
/* For --force: remove a sweep's folder if it is one and holds nothing else. */
tacit_status sweep_remove(const char *folder, tacit_error *err);

#endif
