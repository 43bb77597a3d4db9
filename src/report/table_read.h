/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPORT_TABLE_READ_H
#define TACIT_REPORT_TABLE_READ_H
/*
 * The CSV tables that runs write, read back in pieces of any size: memory does not grow with
 * the file. Strict: the header must be the one expected, every line complete and with as many
 * fields. What this reads is what tacit_csv_row and tacit_csv_cell write, and nothing else.
 */
#include "tacit/base.h"

enum { TACIT_TABLE_COLUMNS = 16, TACIT_TABLE_LINE = 4096 };

typedef struct tacit_table_reader tacit_table_reader;
/* One row; `fields` are unquoted and last until the call returns. */
typedef tacit_status tacit_table_row(void *ctx, const tacit_table_reader *reader,
                                     char *const *fields, tacit_error *err);

struct tacit_table_reader {
    const char *shown;  /* file name for messages */
    const char *header; /* "time,agent,name,value" */
    tacit_table_row *row;
    void *ctx;
    uint64_t most; /* rows; beyond, the file is refused */
    /* inside */
    uint64_t lines; /* rows begun, header included; a field in quotes may hold line breaks */
    bool quoted;
    size_t len;
    char line[TACIT_TABLE_LINE];
};

tacit_status tacit_table_feed(tacit_table_reader *reader, const char *bytes, size_t len,
                              tacit_error *err);
/* After the last piece: a line without its end was cut. */
tacit_status tacit_table_end(tacit_table_reader *reader, tacit_error *err);
/* An error that names file and line. */
tacit_status tacit_table_fail(const tacit_table_reader *reader, const char *what, const char *field,
                              tacit_error *err);
/* A number, "inf" and "-inf" included; NaN for an empty field. */
tacit_status tacit_table_real(const tacit_table_reader *reader, const char *field, double *out,
                              tacit_error *err);
tacit_status tacit_table_count(const tacit_table_reader *reader, const char *field, uint64_t most,
                               uint64_t *out, tacit_error *err);

/* ---- metrics.csv ---- */
typedef struct tacit_metric_row {
    double time, value;
    tacit_agent agent; /* TACIT_NOBODY for an aggregate over all */
    const char *name;
} tacit_metric_row;
typedef tacit_status tacit_metric_take(void *ctx, const tacit_metric_row *row, tacit_error *err);

typedef struct tacit_metrics_reader {
    tacit_table_reader table;
    tacit_metric_take *take;
    void *ctx;
    double last; /* times never go back */
} tacit_metrics_reader;

/* Then feed and end reader->table. */
void tacit_metrics_open(tacit_metrics_reader *reader, const char *shown, tacit_metric_take *take,
                        void *ctx);

#endif
