/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_PRINTS_H
#define TACIT_DATA_PRINTS_H
/*
 * Records in a form by which they are known again, whatever a run makes of them: a lifetime ledger
 * keeps keyed hashes of it to notice that two runs are about the same records.
 *
 * A line of a text table (csv, libsvm, ratings) is its words in order, without quotes and whatever
 * separates them, numbers written in one way. So other separators, quotes, blanks, ways to write
 * a number, columns that are used or ignored, labels, scales, partitions and packing change
 * nothing, nor does the order of lines. A record of another table (idx, npy, mat) is the numbers
 * of its row as the file has them, without its label. Shards have no file as it was: what counts
 * is the row as it was dealt.
 *
 * A line of one or two words says too little to be known again: all such lines of a file are known
 * as a whole, in any order, so that two surveys in which somebody is 42 are not one data set.
 *
 * Not known again: some lines of such a narrow file; a record with another number or word in it,
 * were it only an added column; a
 * table whose columns changed places; a table turned into another kind of file; a number that was
 * rounded. Two people with the same record in all columns are one to it, so tables with few
 * columns of few values look alike that have nothing to do with each other. Public records are
 * given like all others of the file.
 */
#include "tacit/data.h"

#define TACIT_PRINT_WORDS 3 /* a line of fewer is not known by itself */

typedef tacit_status tacit_print_visit(void *ctx, const void *bytes, size_t len, tacit_error *err);

/* Every record of data.path, test records of other files not included; `data` was loaded by the
 * same options. Records that are drawn are nobody's: no visits. */
tacit_status tacit_data_each_print(const tacit_data_options *options, const tacit_dataset *data,
                                   tacit_print_visit *visit, void *ctx, tacit_error *err);

/* Likewise of a file of text. */
tacit_status tacit_file_each_print(const char *path, tacit_print_visit *visit, void *ctx,
                                   tacit_error *err);
/* The same for the text of one table. `header`: its first line is none of the records; a line
 * without any number in its place is taken for a header in any case. */
tacit_status tacit_text_each_print(const char *text, size_t len, bool header,
                                   tacit_print_visit *visit, void *ctx, tacit_error *err);

/* False: the records came through a pipe, which was read to its end when they were loaded. Then
 * their rows as dealt are taken, which other runs, with other options, have otherwise. */
bool tacit_data_can_read_again(const tacit_data_options *o);

#endif
