/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_SWEEP_H
#define TACIT_EXPERIMENT_SWEEP_H
/* Inside of a sweep, shared by its files. */
#include "experiment/files.h"
#include "tacit/sweep.h"

#define TACIT_SWEEP_FOREIGN UINT32_MAX

/* Values in the order they were given, as tacit_option_format writes them; no two are equal. */
typedef struct tacit_values {
    char **text;
    double *number; /* NaN for what is no number */
    size_t count, text_capacity, number_capacity;
} tacit_values;

/* A key that is varied. */
typedef struct tacit_sweep_axis {
    char *key; /* "protocol.mu" */
    tacit_values values;
    bool numeric;
} tacit_sweep_axis;

struct tacit_sweep {
    tacit_config base; /* without the varied keys and run.seed */
    char name[TACIT_TEXT_MAX];
    bool keep_runs;
    int secrecy; /* tacit_secrecy: the most of its points */
    tacit_sweep_axis *axes;
    size_t axis_count;
    size_t point_count;
    uint32_t *at; /* index of a value: point_count x axis_count, or TACIT_SWEEP_FOREIGN */
    int64_t *seeds;
    size_t seed_count;
    tacit_sweep_result *results; /* one a run */
    struct tacit_tuner *tuner;   /* tune.h; NULL: every point with every seed */
};

/* ---- sweep_values.c ---- */
/* Read a list of values for `option`; `label` is whose they are, for messages. */
tacit_status tacit_values_parse(tacit_values *out, const tacit_option *option, const char *label,
                                const char *list, tacit_error *err);
void tacit_values_clear(tacit_values *values);
/* The section of a key and its option among the protocols of `names` (NULL-terminated), or a
 * message in the words of --set. `own` is where a table of names is made for protocol.name. */
typedef struct tacit_swept {
    tacit_option option;
    const char *names[101];
} tacit_swept;
tacit_status tacit_key_find(tacit_swept *out, const char *key, const char *const *protocols,
                            tacit_error *err);
bool tacit_protocol_knows(const char *protocol, const char *key);

/* ---- sweep_text.c ---- */
/* sweep.yaml. */
char *tacit_sweep_text(const tacit_sweep *sweep);
/* "protocol.mu=0.1, graph.k=5" */
void tacit_sweep_describe(const tacit_sweep *sweep, size_t point, char *out, size_t size);

/* ---- sweep_rows.c ---- */
/* Back to waiting. */
void tacit_sweep_forget(tacit_sweep_result *result);
void tacit_sweep_header(const tacit_sweep *sweep, tacit_writer *out);
/* The row of a run that is over. */
void tacit_sweep_row(const tacit_sweep *sweep, size_t run, tacit_writer *out);
/* All complete rows of runs.csv into sweep->results; what failed counts as waiting, and what
 * stands behind the last line break is a row that was cut. */
tacit_status tacit_sweep_read_rows(tacit_sweep *sweep, const char *shown, char *text,
                                   tacit_error *err);
/* A field as CSV, in quotes if it needs them. */
void tacit_sweep_field(tacit_writer *out, const char *text);
/* A number as CSV: nothing for NaN. */
void tacit_sweep_number(tacit_writer *out, double value);

/* ---- sweep_files.c ---- */
#define TACIT_SWEEP_PLAN "sweep.yaml"
#define TACIT_SWEEP_ROWS "runs.csv"
extern const char *const tacit_sweep_last[]; /* what is there only when all is done; and NULL */
/* All rows of runs that are over, in the order of the plan. */
char *tacit_sweep_rows(const tacit_sweep *sweep);
/* Write a file under a temporary name; `text` is freed, NULL: memory ran out. */
tacit_status tacit_sweep_stage(const tacit_folder *folder, const char *name, char *text,
                               tacit_error *err);
/* Give staged files their names (NULL-terminated). */
tacit_status tacit_sweep_publish(const tacit_folder *folder, const char *const *names,
                                 tacit_error *err);
tacit_status tacit_sweep_finish(const tacit_folder *folder, const tacit_sweep *sweep, bool complete,
                                tacit_error *err);

/* ---- sweep_one.c ---- */
/* One run of the plan by the calling thread, written to `folder` (NULL: nowhere); if there is a
 * checkpoint in it, from there. TACIT_EINTERRUPTED or TACIT_OK: a run that failed is a result. */
typedef struct tacit_sweep_one {
    size_t run;
    bool open; /* of a search: look at the test records, too */
    const char *folder;
    const tacit_stop *stop;
    tacit_progress *progress;
    void *progress_ctx;
} tacit_sweep_one;
tacit_status tacit_sweep_do(const tacit_sweep *sweep, const tacit_sweep_one *one,
                            tacit_sweep_result *out);

/* ---- sweep_means.c, sweep_page.c ---- */
#define TACIT_SWEEP_COVERAGE 0.95
/* What does not depend on the seed: of the first run that is done, or of nobody. */
const tacit_sweep_result *tacit_sweep_sample(const tacit_sweep *sweep, size_t point);
char *tacit_sweep_means(const tacit_sweep *sweep);
char *tacit_sweep_page(const tacit_sweep *sweep);

#endif
