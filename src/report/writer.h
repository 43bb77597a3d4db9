/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPORT_WRITER_H
#define TACIT_REPORT_WRITER_H
/* The tables a run is written in: CSV and NPY, beside the JSON of base/writer.h. */
#include "base/writer.h"

/* ---- CSV: metrics.csv, long form ---- */
#define TACIT_CSV_HEADER "time,agent,name,value\n"
/* `agent` is TACIT_NOBODY for an aggregate over all. NaN: no row. */
void tacit_csv_row(tacit_writer *writer, double time, tacit_agent agent, const char *name,
                   double value);

/* A field of any table, in quotes if it needs them; a number, nothing for NaN. */
void tacit_csv_text(tacit_writer *writer, const char *text);
void tacit_csv_cell(tacit_writer *writer, double value);

/* ---- NPY 1.0 ---- */
/* The header of a rows x columns array in C order; the numbers follow. */
void tacit_npy_header(tacit_writer *writer, tacit_scalar scalar, uint64_t rows, uint64_t columns);

#endif
