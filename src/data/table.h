/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_TABLE_H
#define TACIT_DATA_TABLE_H
/*
 * Records as a file gives them, before anybody owns them. Every reader fills a table; one
 * function deals a table to agents. So a format knows nothing of partitions, and a partition
 * nothing of formats.
 *
 * Invariants
 *  1. Every value of x and y is finite, or NaN where the file had none (`missing` says whether
 *     there is any; a reader under rule "refuse" never lets one through). Labels are never NaN.
 *  2. After tacit_table_finish labels are final: `positive` and `threshold` were applied.
 *  3. owner is NULL, or has a number below owners.count for every row.
 */
#include "data/block.h"
#include "data/names.h"
#include "tacit/data.h"

typedef struct tacit_table {
    size_t rows, features;
    tacit_scalar scalar;
    size_t stride;           /* numbers of a row in `x`; features beyond are 0 */
    tacit_block x;           /* rows x stride of `scalar`, row-major, as in the file */
    bool narrow;             /* x holds bytes: pixels, which would be eight times as large */
    double subtract, divide; /* a row is read as (x - subtract) / divide */
    double *y;
    uint32_t *owner;     /* whose record it is, or NULL */
    tacit_names owners;  /* their names */
    tacit_names columns; /* names of the features; count 0: they have none */
    bool missing;        /* there is a NaN somewhere */
    bool by_words;       /* labels were compared with `positive` as words and are +1 or -1 */
    uint64_t positives;  /* which words of `positive` were seen: bits of tacit_label_match */
} tacit_table;

/* Claims memory (or a nameless file) for rows x features, all zero; refuses absurd sizes. A
 * reader that does not know its rows claims as many as there can be and lowers `rows` later. */
tacit_status tacit_table_create(tacit_table *table, size_t rows, size_t features,
                                tacit_scalar scalar, const tacit_data_options *options,
                                tacit_error *err);
/* Likewise for whole numbers from 0 to 255. */
tacit_status tacit_table_create_narrow(tacit_table *table, size_t rows, size_t features,
                                       tacit_scalar scalar, const tacit_data_options *options,
                                       tacit_error *err);
void tacit_table_clear(tacit_table *table); /* {0} is an empty table */
/* Room for the owner of every row. */
tacit_status tacit_table_own(tacit_table *table, tacit_error *err);
/* Write a row; refuses infinity and what overflows the scalar; NaN sets `missing`. */
tacit_status tacit_table_put(tacit_table *table, size_t row, const double *x, double y,
                             tacit_error *err);
/* Read a row, NaN where a value is missing. */
void tacit_table_get(const tacit_table *table, size_t row, double *x);
/* The same from a copy of its bytes. */
size_t tacit_table_row_bytes(const tacit_table *table);
void tacit_table_unpack(const tacit_table *table, const void *bytes, double *x);
/* Have they the same columns? With `widen` both get as many features as the wider one. */
tacit_status tacit_table_match(tacit_table *a, const char *a_name, tacit_table *b,
                               const char *b_name, bool widen, tacit_error *err);
/* Put `count` tables behind each other; they are empty afterwards. Columns must be the same;
 * with `widen` a table may have fewer features than another, which are 0. `names` of the files
 * are for messages. */
tacit_status tacit_table_join(tacit_table *out, tacit_table *parts, const char *const *names,
                              size_t count, bool widen, const tacit_data_options *options,
                              tacit_error *err);
/* After all files were read: labels and owners that come from files of their own, then
 * `positive` and `threshold`. `name` of the file is for messages. */
tacit_status tacit_table_finish(tacit_table *table, const tacit_data_options *options,
                                const char *name, tacit_error *err);

/* All files of data.path as one finished table (source csv, libsvm, idx, npy, mat). */
tacit_status tacit_data_table(tacit_table *out, const tacit_data_options *options,
                              tacit_scalar scalar, tacit_error *err);
/* Likewise those of data.test-path, which must have the columns of `table`. */
tacit_status tacit_data_test_table(tacit_table *out, tacit_table *table,
                                   const tacit_data_options *options, tacit_scalar scalar,
                                   tacit_error *err);

/* ---- readers: from the bytes of one file to a table. `name` is the file for messages ---- */
typedef tacit_status tacit_reader(tacit_table *out, const tacit_data_options *options,
                                  const char *name, const char *bytes, size_t len,
                                  tacit_scalar scalar, tacit_error *err);
tacit_reader tacit_read_csv, tacit_read_libsvm, tacit_read_idx, tacit_read_npy, tacit_read_mat;

/* ---- deal.c: partition, split, standardise, bound. Sets out->leaks (TACIT_LEAK_SCALE). ---- */
tacit_status tacit_table_deal(tacit_source *out, const tacit_table *table,
                              const tacit_data_options *options, uint64_t seed, tacit_error *err);
/* The same with a table of test records that match it and are nobody's; agents keep none then. */
tacit_status tacit_table_deal_tested(tacit_source *out, const tacit_table *table,
                                     const tacit_table *test, const tacit_data_options *options,
                                     uint64_t seed, tacit_error *err);

/* ---- ratings.c: users, items, ratings, straight to agents (it needs the split before it can
 * make features) ---- */
tacit_status tacit_data_ratings(tacit_source *out, const tacit_data_options *options,
                                const char *name, const char *bytes, size_t len,
                                tacit_scalar scalar, uint64_t seed, tacit_error *err);

#endif
