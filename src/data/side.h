/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_SIDE_H
#define TACIT_DATA_SIDE_H
/* Labels and owners in files of their own. */
#include "data/table.h"

/* Replace what the table has by what `labels_path` or `agents_path` say; there must be as many
 * as rows. `name` is the file of the records, for messages. */
tacit_status tacit_side_labels(tacit_table *table, const tacit_data_options *options,
                               const char *name, tacit_error *err);
tacit_status tacit_side_owners(tacit_table *table, const tacit_data_options *options,
                               const char *name, tacit_error *err);
/* The same from memory, for tests and fuzzers; `column` as in "file#2", -1 if none was given. */
tacit_status tacit_side_bytes(tacit_table *table, const tacit_data_options *options, bool owners,
                              const char *name, const char *bytes, size_t len, long column,
                              tacit_error *err);

#endif
